"""Policy as a provider of LiteLLM: a model name that answers by a panel or a committee of judges."""

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.export import reader
from shortlist.export.service import decide, label_of

USAGE = ("prompt_tokens", "completion_tokens", "total_tokens")


def litellm_provider(
    policy: str | Path,
    models: Mapping[str, Mapping[str, Any]],
    *,
    columns: Callable[[list[dict[str, Any]]], Mapping[str, Any]] | None = None,
    complete: Callable[..., Awaitable[Any]] | None = None,
) -> Any:
    """Return a handler for ``custom_provider_map`` of LiteLLM that answers by a policy.

    The text of a completion is the label, or empty if the policy gives no answer. The whole decision is in
    ``choices[0].message.provider_specific_fields["decision"]``, and `usage` is the sum over the judges. A
    judge whose call fails, times out or returns no completion counts as silent.

    Parameters
    ----------
    policy : str or Path
        File of a panel, or of a committee of judges.
    models : mapping of str to mapping
        Arguments of ``litellm.acompletion`` for each judge besides the messages, such as ``{"model":
        "openai/gpt-4o-mini", "timeout": 10, "num_retries": 2}``; a `prompt` precedes the messages as the
        system message.
    columns : callable, optional
        Function from the messages of a case to the free columns of a router.
    complete : callable, default=litellm.acompletion
        Function that asks a model, such as ``acompletion`` of a ``litellm.Router``.

    Raises
    ------
    BadInputError
        If `models` lacks a judge of the policy, or a judge has no `model`.
    MissingDependencyError
        If litellm is not installed.
    shortlist.export.reader.ReaderError
        If the file holds no policy.
    """
    plain = reader.load(str(policy))
    names = [judge["name"] for judge in plain.get("judges", ())]
    if not names:
        raise BadInputError(
            "policy", "must ask judges", f"one of kind {plain['kind']!r}", "Use shortlist.export.service."
        )
    for name in names:
        if "model" not in models.get(name, ()):
            raise BadInputError("models", f"must have a model for the judge {name!r}", sorted(models))
    litellm = _litellm()
    ask = litellm.acompletion if complete is None else complete

    class PolicyLLM(litellm.CustomLLM):  # type: ignore[name-defined]  # of an extra
        """LiteLLM handler of one policy."""

        async def acompletion(self, model: str, messages: list[dict[str, Any]], **_: Any) -> Any:
            free = {} if columns is None else columns(messages)
            known = {name: free.get(name) for name in reader.routed_by(plain)}
            usage = dict.fromkeys(USAGE, 0)
            sources = {name: _source(ask, models[name], messages, usage) for name in names}
            decision = (await decide(plain, known, sources))["decision"]
            message = {
                "role": "assistant",
                "content": str(decision["label"]) if decision["answered"] else "",
                "provider_specific_fields": {"decision": decision},
            }
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            return litellm.ModelResponse(model=model, choices=[choice], usage=litellm.Usage(**usage))

        def completion(self, model: str, messages: list[dict[str, Any]], **_: Any) -> Any:
            with ThreadPoolExecutor(1) as thread:  # this thread may have a loop that runs
                return thread.submit(asyncio.run, self.acompletion(model, messages)).result()

        async def astreaming(
            self, model: str, messages: list[dict[str, Any]], **_: Any
        ) -> AsyncIterator[dict[str, Any]]:
            yield _chunk(await self.acompletion(model, messages))

        def streaming(self, model: str, messages: list[dict[str, Any]], **_: Any) -> Iterator[dict[str, Any]]:
            yield _chunk(self.completion(model, messages))

    return PolicyLLM()


def _litellm() -> Any:
    try:
        return importlib.import_module("litellm")
    except ImportError:
        raise MissingDependencyError(
            "A provider of LiteLLM needs the litellm package. Install it: pip install litellm."
        ) from None


def _source(
    ask: Callable[..., Awaitable[Any]],
    model: Mapping[str, Any],
    messages: list[dict[str, Any]],
    usage: dict[str, int],
) -> Callable[[], Awaitable[Any]]:
    async def source() -> Any:
        options = dict(model)
        prompt = options.pop("prompt", None)
        told = [] if prompt is None else [{"role": "system", "content": prompt}]
        reply = await ask(messages=[*told, *messages], **options)
        plain = reply.model_dump() if hasattr(reply, "model_dump") else reply
        for field in usage:
            usage[field] += (plain.get("usage") or {}).get(field) or 0
        return label_of(plain)

    return source


def _chunk(response: Any) -> dict[str, Any]:
    message = response.choices[0].message
    return {
        "text": message.content,
        "is_finished": True,
        "finish_reason": "stop",
        "index": 0,
        "tool_use": None,
        "usage": {name: getattr(response.usage, name) for name in USAGE},
        "provider_specific_fields": message.provider_specific_fields,
    }
