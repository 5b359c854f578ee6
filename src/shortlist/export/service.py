"""Decisions about cases by a policy that asks sources, such as models behind an API."""

import asyncio
import json
import math
import os
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from shortlist.errors import BadInputError
from shortlist.export import reader
from shortlist.runs.budget import seconds_now

Source: TypeAlias = Callable[[], Awaitable[Any]]
"""Function without arguments that asks one judge, or measures one feature, and returns the answer."""

MOST_BYTES = 2**24
"""Largest size of a reply of an API, in bytes."""
BUSY = 429
"""HTTP status of an API after too many requests."""


async def decide(
    policy: dict[str, Any],
    known: Mapping[str, Any],
    sources: Mapping[str, Source],
    failed: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the decision about one case; sources are asked until they cannot answer anything further.

    Judges or features of one step are asked at the same time. A source has failed if it raises TimeoutError
    or another error, or the policy cannot use its answer. A failed source counts as silent, and the decision
    lists it under `failed` with the reason.

    Parameters
    ----------
    policy : dict
        Result of :func:`shortlist.export.reader.load`.
    known : mapping of str to value
        Known values: columns of a router, features, answers. Not modified.
    sources : mapping of str to Source
        Sources by judge or feature. A source returns the answer, for a panel perhaps with its confidence
        (``{"label": ..., "confidence": ...}``), and for a judge with one column per class a dict of the
        columns.
    failed : mapping of str to str, optional
        Judges or features that failed before, with the reason.

    Returns
    -------
    dict
        ``ask``: names without a source, for which the caller has to find answers; ``decision``: None while
        there are such names, otherwise the decision of :func:`shortlist.export.reader.answer`; ``known`` and
        ``failed``: all results so far, to be passed again together with the caller's answers.

    Raises
    ------
    shortlist.export.reader.ReaderError
        If a value of `known` cannot be used.
    """
    known, failed = dict(known), dict(failed or {})
    asked: set[str] = set()
    while True:
        step = reader.next_step(policy, known, failed)
        here = [name for name in step["ask"] if name in sources]
        if not here:
            return step | {"known": known, "failed": failed}
        results = await asyncio.gather(*(_result(sources[name]) for name in here if name not in asked))
        for name in here:
            if name in asked:  # it has no value, and the policy needs one
                failed[name] = "failed: no value"
        for name, result in zip((name for name in here if name not in asked), results, strict=True):
            asked.add(name)
            if isinstance(result, _Failure):
                failed[name] = result.reason
                continue
            told = _columns(policy, name, result)
            try:
                reader.answer(policy, known | told, failed)
            except reader.ReaderError as error:
                failed[name] = f"failed: {error}"
            else:
                known |= told


class _Failure(NamedTuple):
    reason: str


async def _result(source: Source) -> Any:
    try:
        return await source()
    except Exception as error:  # noqa: BLE001  # whatever a source raises, the others decide
        timed_out = isinstance(error, TimeoutError) or type(error).__name__.endswith("Timeout")
        return _Failure("timed out" if timed_out else f"failed: {error or type(error).__name__}")


def _columns(policy: dict[str, Any], name: str, told: Any) -> dict[str, Any]:
    if policy["kind"] != "judges":
        return {name: told}
    columns = next(judge["columns"] for judge in policy["judges"] if judge["name"] == name)
    if not isinstance(told, dict):
        return {columns[0]: told}
    return {columns[0]: told["label"]} if "label" in told else told


def label_of(reply: Any) -> Any:
    """Return the answer in a chat completion, with its confidence if the reply has one.

    A text that is a JSON object with a `label` is the answer with its other fields; any other text is the
    label. Log-probabilities of the tokens give the probability of the whole text as confidence. An empty text
    is no answer. Raises ValueError if the reply is no chat completion.

    >>> label_of({"choices": [{"message": {"content": " spam "}}]})
    'spam'
    """
    try:
        choice = reply["choices"][0]
        text = choice["message"]["content"]
        tokens = (choice.get("logprobs") or {}).get("content") or ()
        logs = [float(token["logprob"]) for token in tokens]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise ValueError("the reply is no chat completion") from None
    if not text:
        return None
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    except TypeError:
        raise ValueError("the reply is no chat completion") from None
    if isinstance(said, dict) and "label" in said:
        return {"label": said["label"], "confidence": said.get("confidence")}
    text = text.strip()
    return {"label": text, "confidence": min(math.exp(math.fsum(logs)), 1.0)} if text and logs else text


class Reply(NamedTuple):
    """Reply of an API: HTTP status, headers and body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def post(url: str, body: bytes, headers: Mapping[str, str], time_limit: float) -> Reply:
    """Send a request and return the reply; raise TimeoutError after twice `time_limit` seconds."""
    request = urllib.request.Request(url, body, dict(headers), method="POST")  # noqa: S310  # checked before
    try:
        with urllib.request.urlopen(request, timeout=time_limit) as reply:  # noqa: S310
            return Reply(reply.status, dict(reply.headers), _read(reply, time_limit))
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, dict(error.headers), b"")
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise TimeoutError from None
        raise ConnectionError(str(error.reason)) from None


def _read(reply: Any, time_limit: float) -> bytes:
    end = seconds_now() + time_limit
    parts, size = [], 0
    while part := reply.read1(2**16):
        parts.append(part)
        size += len(part)
        if size > MOST_BYTES:
            raise ConnectionError(f"the reply has more than {MOST_BYTES:,} bytes")
        if seconds_now() > end:
            raise TimeoutError
    return b"".join(parts)


@dataclass(frozen=True)
class ApiJudge:
    """Model behind an OpenAI-compatible API, with the prompt that makes it a judge.

    Attributes
    ----------
    url : str
        Address of the API, such as ``http://localhost:11434/v1``.
    model : str
    prompt : str, default=""
        System message before the messages of a case; none if empty.
    key : str, default=""
        Name of the environment variable that holds the key of the API; none if empty.
    time_limit : float, default=30
        Time limit of one try in seconds.
    tries : int, default=3
        Number of tries. A busy API, an error of the server, a time-out and an unreadable reply are tried
        again; a final refusal, such as for a wrong key, is not tried again.
    first_pause : float, default=0.5
        Seconds before the second try; each further pause is twice as long, or as long as a busy API asks for.
        No pause is longer than `time_limit`.
    body : dict, default={}
        Further fields of the request, such as ``{"temperature": 0, "logprobs": true}``.
    """

    url: str
    model: str
    prompt: str = ""
    key: str = ""
    time_limit: float = 30.0
    tries: int = 3
    first_pause: float = 0.5
    body: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not str(self.url).startswith(("http://", "https://")):
            raise BadInputError("url", "must begin with http:// or https://", repr(self.url))
        if self.tries < 1:
            raise BadInputError("tries", "must be at least 1", self.tries)

    async def ask(
        self,
        messages: list[dict[str, Any]],
        *,
        send: Callable[[str, bytes, Mapping[str, str], float], Reply] = post,
        pause: Callable[[float], Awaitable[Any]] = asyncio.sleep,
    ) -> Any:
        """Ask about a case, and return :func:`label_of` of the reply.

        Raises TimeoutError, or ConnectionError with the reason, after the last try. `send`: function that
        sends a request in a thread. `pause`: function that waits some seconds.
        """
        told = [{"role": "system", "content": self.prompt}] if self.prompt else []
        body = {"model": self.model, "messages": [*told, *messages]} | dict(self.body)
        headers = {"Content-Type": "application/json"}
        if self.key:
            if self.key not in os.environ:
                raise ConnectionError(f"the environment has no {self.key}")
            headers["Authorization"] = f"Bearer {os.environ[self.key]}"
        url, content = f"{self.url.rstrip('/')}/chat/completions", json.dumps(body).encode()
        for number in range(self.tries):
            wait = self.first_pause * 2**number
            try:
                reply = await asyncio.to_thread(send, url, content, headers, self.time_limit)
                if reply.status == 200:
                    return label_of(json.loads(reply.body))
                error: Exception = ConnectionError(f"HTTP status {reply.status}")
                if reply.status != BUSY and reply.status < 500:
                    break
                wait = _asked_to_wait(reply, wait)
            except (OSError, ValueError, RecursionError) as found:  # ValueError: no JSON, or no completion
                error = found
            if number + 1 < self.tries:
                await pause(min(wait, self.time_limit))
        raise error


def _asked_to_wait(reply: Reply, otherwise: float) -> float:
    headers = {name.casefold(): value for name, value in reply.headers.items()}
    try:
        wait = float(headers.get("retry-after", otherwise))
    except ValueError:  # a date
        return otherwise
    return wait if 0 <= wait < math.inf else otherwise
