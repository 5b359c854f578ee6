"""Downloads over https that are bounded in length and in silence."""

import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from shortlist.errors import BadInputError, FetchError

TellBytes: TypeAlias = Callable[[int, int | None], None]
"""Receives how many bytes are there, and how many there will be, if the server says so."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Hosts that http is accepted from, since nobody can listen on the way."""

SILENCE_S = 30.0
"""A server that sends nothing for so many seconds is given up."""

BLOCK_BYTES = 1 << 16

NETWORK_ERRORS = (OSError, http.client.HTTPException, ssl.SSLError)
"""What reading from a server may raise; a timeout is an OSError."""


def download(
    url: str,
    *,
    most_bytes: int,
    silence_s: float = SILENCE_S,
    tell: TellBytes = lambda _done, _total: None,
) -> bytes:
    """Return the content of a file on a server.

    Parameters
    ----------
    url : str
        Where it is, with https. From the own machine http is accepted too, so that tests need no certificate.
        Redirects must obey the same rule, and none leads from https to http.
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
    BadInputError
        If the address is not accepted.
    """
    _check_address(url, url)
    request = urllib.request.Request(url, headers={"User-Agent": "shortlist"})  # noqa: S310  # checked above
    try:
        with _opener(url).open(request, timeout=silence_s) as answer:
            return _content(answer, most_bytes, tell)
    except FetchError:
        raise
    except urllib.error.HTTPError as error:
        with error:
            raise FetchError(
                f"{url} cannot be fetched: the server answers {error.code} {error.reason}. It may have moved."
            ) from None
    except NETWORK_ERRORS as error:
        raise FetchError(f"{url} cannot be fetched: {_reason(error)}. Is this machine online?") from None


def _content(answer: Any, most_bytes: int, tell: TellBytes) -> bytes:
    """Return what a server sends, block by block."""
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise FetchError(
            f"{answer.url} cannot be fetched: the server compresses it unasked. Fetch it by other means."
        )
    length = answer.headers.get("Content-Length", "")
    total = int(length) if length.isdecimal() else None
    content = bytearray()
    while max(len(content), total or 0) <= most_bytes and (block := answer.read(BLOCK_BYTES)):
        content += block
        tell(len(content), total)
    if max(len(content), total or 0) > most_bytes:
        raise FetchError(f"{answer.url} must have at most {most_bytes:,} bytes, but the server sends more.")
    if total is not None and len(content) < total:
        raise FetchError(
            f"{answer.url} was cut off: {len(content):,} of {total:,} bytes came. Try again later."
        )
    return bytes(content)


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
