"""Files of public sets: in the user's cache, or in a folder that the user names."""

import csv
import hashlib
import http.client
import io
import ssl
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from shortlist._words import counted
from shortlist.datasets.registry import TARGET, DataSet, SetSource
from shortlist.errors import BadFileError, BadInputError, FetchError
from shortlist.files import cache_folder, read_bytes, whole_file

TellBytes: TypeAlias = Callable[[int, int | None], None]
"""Callback that receives the number of bytes so far, and the total if the server gives it."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names of this machine; http is accepted from these names only."""

SILENCE_S = 30.0
"""Seconds without data after which a download times out."""

BLOCK_BYTES = 1 << 16

NETWORK_ERRORS = (OSError, http.client.HTTPException, ssl.SSLError)
"""Exceptions of reading from a server; a timeout is an OSError."""


def download(
    url: str, *, most_bytes: int, silence_s: float = SILENCE_S, tell: TellBytes = lambda _done, _total: None
) -> bytes:
    """Return the content of a file on a server.

    Raises FetchError if the server cannot be reached, refuses, is silent, or sends too much or too little.
    Raises BadInputError if the address is not accepted.

    `url`: address, with https. On this machine http is accepted too, so that tests need no certificate.
    Redirects must obey the same rule, and must not lead from https to http. `most_bytes`: largest accepted
    size. `silence_s`: seconds without a byte after which the download ends.
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
    """Handler that follows redirects to accepted addresses."""

    def redirect_request(  # noqa: PLR0917  # as urllib calls it
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        _check_address(newurl, req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Return the opener of an address: only http and https, and proxies only for other machines."""
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
    """Raise BadInputError for an address that is not accepted.

    Accepted are https, and http on this machine; no redirect may leave https.
    """
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
    reason = getattr(error, "reason", None)
    inner = reason if isinstance(reason, BaseException) else error
    if isinstance(inner, TimeoutError):
        return "the server is silent"
    return str(getattr(inner, "strerror", None) or inner or type(inner).__name__).rstrip(".")


FOLDERS = ("", "uci")
"""Folders, within a user's folder, that are searched."""

TABLE_ENDINGS = (".csv", ".csv.gz")
"""Endings of tables with the columns of a set, and a header."""


def cached_file(data_set: DataSet) -> Path | None:
    """Return the path of a set's original in the cache, fetched or not; None if it has no source."""
    if data_set.source is None:
        return None
    return cache_folder("datasets") / f"{data_set.name}-{data_set.source.file}"


def is_cached(data_set: DataSet) -> bool:
    """Return whether a set was fetched."""
    path = cached_file(data_set)
    return path is not None and path.is_file()


def fetch(
    data_set: DataSet,
    folder: str | Path | None = None,
    *,
    silence_s: float = SILENCE_S,
    tell: TellBytes = lambda _done, _total: None,
) -> Path:
    """Return the path of a set's original in the cache, copied or downloaded, if its hash is right.

    `folder`: folder with the original, under the name of its source, in place of a download. `silence_s`,
    `tell`: as in :func:`shortlist.datasets.store.download`.

    Raises BadInputError if no original with a known hash exists. Raises BadFileError if the file in the
    folder is missing or differs, or the cache cannot be written. Raises FetchError if the original cannot be
    downloaded; the message gives advice without a network.

    A right file in the cache stays unchanged.
    """
    source, target = data_set.source, cached_file(data_set)
    if source is None or target is None:
        raise BadInputError(
            f"{data_set.name} cannot be fetched, since no hash of its original is known. Get it from "
            f"{data_set.page}, and write it as {data_set.stem}.csv, with a header and the class in the last "
            "column, 'target'."
        )
    if target.is_file() and _is_right(source, target):
        return target
    content = _from_server(source, silence_s, tell) if folder is None else _from_folder(source, Path(folder))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise BadFileError(
            f"{target} cannot be written: {error.strerror}. "
            "Set XDG_CACHE_HOME to a folder that can be written."
        ) from None
    return target


def table_file(data_set: DataSet, folder: str | Path | None = None) -> Path | None:
    """Return the path of a set's file; None without a file.

    The folder, if given, is searched first, both itself and its part ``uci``: for ``NAME.csv`` or
    ``NAME.csv.gz``, a table with the columns of the set, with underscores for hyphens, and for the original.
    The cache is next.
    """
    source, cached = data_set.source, cached_file(data_set)
    names = [f"{data_set.stem}{ending}" for ending in TABLE_ENDINGS] + ([source.file] if source else [])
    places = [] if folder is None else [Path(folder) / part for part in FOLDERS]
    files = [place / name for place in places for name in names] + ([cached] if cached else [])
    return next((file for file in files if file.is_file()), None)


def table_bytes(data_set: DataSet, folder: str | Path | None = None) -> tuple[str, bytes] | None:
    """Return the name of a set's table for messages, and its bytes as CSV, perhaps packed; otherwise None.

    The file is found by :func:`table_file`; None if there is no file. Raises BadFileError if the file cannot
    be read, or is an original with another hash.
    """
    path = table_file(data_set, folder)
    if path is None:
        return None
    content = read_bytes(path)
    if data_set.source is None or path.name in {f"{data_set.stem}{ending}" for ending in TABLE_ENDINGS}:
        return str(path), content
    original = checked_original(data_set.source, content, str(path))
    return str(path), as_table_text(data_set, original).encode()


def _is_right(source: SetSource, path: Path) -> bool:
    try:
        checked_original(source, read_bytes(path), str(path))
    except BadFileError:
        return False
    return True


def _from_folder(source: SetSource, folder: Path) -> bytes:
    paths = [folder / part / source.file for part in FOLDERS]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise BadFileError(
            f"{folder} must hold the file {source.file}, got a folder without it. Get the file from "
            f"{source.url}."
        )
    content = read_bytes(path)
    checked_original(source, content, str(path))
    return content


def _from_server(source: SetSource, silence_s: float, tell: TellBytes) -> bytes:
    most = source.most_bytes or source.size
    try:
        content = download(source.url, most_bytes=most, silence_s=silence_s, tell=tell)
    except FetchError as error:
        raise FetchError(
            f"{error} Or download it elsewhere, put {source.file} into a folder, and fetch it with "
            "`folder='FOLDER'`."
        ) from None
    checked_original(source, content, source.url)
    return content


def checked_original(source: SetSource, content: bytes, name: str) -> bytes:
    """Return the data file, out of its archives, if its hash is right.

    Raises BadFileError if the hash is wrong, or an archive lacks the file. At most the known size is
    unpacked.
    """
    for depth, member in enumerate(source.members, start=1):
        most = source.size if depth == len(source.members) else source.most_bytes
        content = _member(content, member, most, name)
    digest = hashlib.sha256(content).hexdigest()
    if digest != source.sha256:
        inside = f" in its member {source.members[-1]}" if source.members else ""
        raise BadFileError(
            f"{name} must hold{inside} {source.size:,} bytes with the SHA-256 {source.sha256}, got "
            f"{len(content):,} bytes with {digest}. It was changed, or damaged on its way: fetch it again."
        )
    return content


def as_table_text(data_set: DataSet, content: bytes) -> str:
    """Return the rows of an original as a CSV table with a header, whose last column is ``target``.

    Cells stay as in the file; classes get the words of the set, and unknown values become empty. Raises
    BadFileError if a row has more or fewer cells than the set has columns.
    """
    source = data_set.source
    assert source is not None
    order = [*source.order, *(name for name in data_set.columns if name not in source.order)]
    places = [order.index(name) for name in data_set.columns]
    lines = io.StringIO(content.decode("utf-8"), newline="")
    rows = csv.reader(lines, delimiter=source.separator)
    if source.header:
        next(rows, None)
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(data_set.columns)
    for row in rows:
        if not row:
            continue
        if len(row) != len(order):
            raise BadFileError(
                f"line {rows.line_num} of {source.file} must have {counted(len(order), 'cell')}, got "
                f"{len(row)}. Fetch {data_set.name} again."
            )
        table.writerow(_cells(source, data_set.columns, [row[place] for place in places]))
    return written.getvalue()


def _cells(source: SetSource, columns: Sequence[str], row: Sequence[str]) -> list[str]:
    known = ["" if source.missing and cell == source.missing else cell for cell in row]
    return [
        source.classes.get(cell, cell) if column == TARGET else cell
        for column, cell in zip(columns, known, strict=True)
    ]


def _member(content: bytes, member: str, most: int, name: str) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open(member) as file:
            found = file.read(most + 1)
    # zipfile raises RuntimeError for a password and NotImplementedError for a compression it does not know
    except (KeyError, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error, zipfile.BadZipFile):
        raise BadFileError(
            f"{name} must be a zip archive with a file {member}, got another one. Fetch it again."
        ) from None
    if len(found) > most:
        raise BadFileError(
            f"the file {member} in {name} must have at most {most:,} bytes, got more. Fetch it again."
        )
    return found
