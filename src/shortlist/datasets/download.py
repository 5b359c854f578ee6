"""Downloads that are whole and right or not there, and that go on where they were cut off."""

import contextlib
import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any, TypeAlias
from urllib.parse import urlsplit

from shortlist.errors import BadFileError, BadInputError, FetchError

TellBytes: TypeAlias = Callable[[int, int | None], None]
"""Receives how many bytes are there, and how many there will be, if the server says so."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Hosts that http is accepted from, since nobody can listen on the way."""

SILENCE_S = 30.0
"""A server that sends nothing for so many seconds is given up."""

ATTEMPTS = 5
"""How often one run goes on after a download was cut off; one that brings nothing new is the last."""

BLOCK_BYTES = 1 << 16

NETWORK_ERRORS = (OSError, http.client.HTTPException, ssl.SSLError)
"""What reading from a server may raise; a timeout is an OSError."""


class _CutError(Exception):
    """The connection ended before the file did; the message says how."""


def download(
    url: str,
    target: Path,
    *,
    accept: Callable[[bytes], object],
    most_bytes: int,
    silence_s: float = SILENCE_S,
    tell: TellBytes = lambda _done, _total: None,
) -> None:
    """Fetch a file, and leave it at `target` only if it is whole and right.

    What has arrived is kept in a file beside it, ending in ``.part``. When the connection ends too early, the
    rest is asked for by an HTTP range, in this run and in later ones.

    Parameters
    ----------
    url : str
        Where it is, with https. From the own machine http is accepted too, so that tests need no certificate.
        Redirects must obey the same rule, and none leads from https to http.
    target : Path
        Where the file is put, by renaming it, so that nobody sees half of it.
    accept : callable
        Receives the content, and raises BadFileError unless it is right. A file that was put together from
        several parts gets a second try, as one.
    most_bytes : int
        Nothing longer is accepted, whatever the server says.
    silence_s : float, default=30
        Seconds without a byte after which the server is given up.
    tell : callable, optional
        Receives progress.

    Raises
    ------
    FetchError
        If the server cannot be reached, refuses, is silent, or sends too much or too little.
    BadFileError
        If what came is not accepted.
    BadInputError
        If another process fetches the same file, or the address is not accepted.
    """
    _check_address(url, url)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    with _alone(target.with_name(f"{target.name}.lock"), target.name):
        for is_last in (False, True):
            in_parts = _receive_all(url, part, most_bytes, silence_s, tell)
            try:
                accept(part.read_bytes())
            except BadFileError:
                part.unlink()
                if is_last or not in_parts:
                    raise
            else:
                part.replace(target)
                return


def _receive_all(url: str, part: Path, most_bytes: int, silence_s: float, tell: TellBytes) -> bool:
    """Fetch until the file is whole, and return whether it came in several parts."""
    in_parts = _size(part) > 0
    for attempt in range(1, ATTEMPTS + 1):
        before = _size(part)
        try:
            _receive(url, part, most_bytes, silence_s, tell)
        except _CutError as error:
            got = _size(part)
            if attempt == ATTEMPTS or got == before:
                kept = f" {got:,} bytes are kept: fetch it again to go on from there." if got else ""
                raise FetchError(f"{url} was cut off: {error}.{kept or ' Try again later.'}") from None
            in_parts = True
        else:
            break
    return in_parts


def _receive(url: str, part: Path, most_bytes: int, silence_s: float, tell: TellBytes) -> None:
    """Ask for what is missing, and add it to the part that is there."""
    start = _size(part)
    request = urllib.request.Request(url, headers={"User-Agent": "shortlist"})  # noqa: S310  # checked above
    if start:
        request.add_header("Range", f"bytes={start}-")
    try:
        answer = _opener(url).open(request, timeout=silence_s)
    except urllib.error.HTTPError as error:
        with error:
            if start and error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                if error.headers.get("Content-Range", "") == f"bytes */{start}":
                    return  # all of it had come
                part.unlink()
                raise _CutError("what was kept is longer than the file") from None
            raise FetchError(
                f"{url} cannot be fetched: the server answers {error.code} {error.reason}. It may have moved."
            ) from None
    except NETWORK_ERRORS as error:
        raise FetchError(f"{url} cannot be fetched: {_reason(error)}. Is this machine online?") from None
    with answer:
        _add(answer, part, start, most_bytes=most_bytes, tell=tell)


def _add(answer: Any, part: Path, start: int, *, most_bytes: int, tell: TellBytes) -> None:
    """Write what a server sends behind the part that is there, or anew if it sends all of the file."""
    url = answer.url
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise FetchError(f"{url} cannot be fetched: the server packs it unasked. Fetch it by other means.")
    if answer.status == HTTPStatus.PARTIAL_CONTENT:
        if not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            part.unlink(missing_ok=True)
            raise _CutError("the server sent another part than it was asked for")
    elif start:
        part.unlink()
        start = 0
    length = answer.headers.get("Content-Length", "")
    total = start + int(length) if length.isdecimal() else None
    done = start
    with part.open("ab") as file:
        for block in _blocks(answer):
            done += len(block)
            if done > most_bytes:
                break
            file.write(block)
            tell(done, total)
    if done > most_bytes or (total or 0) > most_bytes:
        part.unlink()
        raise FetchError(f"{url} must have at most {most_bytes:,} bytes, but the server sends more.")
    if total is not None and done < total:
        raise _CutError(f"{done:,} of {total:,} bytes came")


def _blocks(answer: IO[bytes]) -> Iterator[bytes]:
    """Yield what comes, block by block."""
    while True:
        try:
            block = answer.read(BLOCK_BYTES)
        except http.client.IncompleteRead as error:
            yield error.partial
            raise _CutError("the last block did not come whole") from None
        except NETWORK_ERRORS as error:
            raise _CutError(_reason(error)) from None
        if not block:
            return
        yield block


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects whose address is accepted."""

    def redirect_request(  # noqa: PLR0917  # as urllib calls it
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        _check_address(newurl, req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Return what opens an address: nothing but http and https, and proxies for other machines only."""
    opener = urllib.request.OpenerDirector()
    proxies = urllib.request.ProxyHandler({} if _is_loopback(url) else None)
    for handler in (
        proxies,
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=ssl.create_default_context()),
        _Redirects(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _check_address(url: str, origin: str) -> None:
    """Refuse an address that is neither https nor on this machine, or where a redirect leaves https."""
    parts = urlsplit(url)
    from_here = _is_loopback(origin) and urlsplit(origin).scheme == "http"
    if parts.hostname and (parts.scheme == "https" or (_is_loopback(url) and from_here)):
        return
    led = "" if url == origin else f"{origin} leads to {url}: "
    raise BadInputError(f"{led}an address to fetch from must begin with https://, got {url!r}.")


def _is_loopback(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"http", "https"} and parts.hostname in LOOPBACK


def _reason(error: BaseException) -> str:
    """Say in a few words why a server could not be read."""
    reason = getattr(error, "reason", None)
    inner = reason if isinstance(reason, BaseException) else error
    if isinstance(inner, TimeoutError):
        return "the server is silent"
    return str(getattr(inner, "strerror", None) or inner or type(inner).__name__).rstrip(".")


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


@contextlib.contextmanager
def _alone(lock: Path, name: str) -> Iterator[None]:
    """Let one process at a time fetch a file; the lock goes with the process, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows: two at once spoil each other's part, whose hash is then wrong
        yield
        return
    with lock.open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInputError(f"another process fetches {name}. Wait until it has ended.") from None
        yield
