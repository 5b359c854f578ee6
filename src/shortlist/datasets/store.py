"""Where the files of public sets are: in the user's cache, or in a folder that the user names."""

from pathlib import Path

from shortlist.datasets.download import SILENCE_S, TellBytes, download
from shortlist.datasets.original import as_table_text, checked_original
from shortlist.datasets.registry import DataSet, SetSource
from shortlist.errors import BadFileError, BadInputError, FetchError
from shortlist.files import cache_folder, read_bytes, whole_file

FOLDERS = ("", "uci")
"""Parts of a user's folder that are looked into."""

TABLE_ENDINGS = (".csv", ".csv.gz")
"""Of tables that have the columns of a set, with their names in the first line."""


def cached_file(data_set: DataSet) -> Path | None:
    """Return where the original of a set is in the cache, whether or not it was fetched; None without one."""
    if data_set.source is None:
        return None
    return cache_folder("datasets") / f"{data_set.name}-{data_set.source.file}"


def is_cached(data_set: DataSet) -> bool:
    """Whether a set was fetched."""
    path = cached_file(data_set)
    return path is not None and path.is_file()


def fetch(
    data_set: DataSet,
    folder: str | Path | None = None,
    *,
    silence_s: float = SILENCE_S,
    tell: TellBytes = lambda _done, _total: None,
) -> Path:
    """Put the original of a set into the cache, from a folder or else by download, if its hash is right.

    Parameters
    ----------
    data_set : DataSet
        What to fetch.
    folder : str or Path, optional
        Where the original lies, under the name that it has at its source, in place of a download.
    silence_s, tell
        As for :func:`shortlist.datasets.download.download`.

    Returns
    -------
    Path
        Where it is in the cache. A right file that is there already is left as it is.

    Raises
    ------
    BadInputError
        If no original with a known hash exists.
    BadFileError
        If the file in the folder is missing or another one, or the cache cannot be written.
    FetchError
        If it cannot be downloaded; the message says what to do without a network.
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
            f"{target} cannot be written: {error.strerror}. Set XDG_CACHE_HOME to a folder that can."
        ) from None
    return target


def table_file(data_set: DataSet, folder: str | Path | None = None) -> Path | None:
    """Return the file that a set is read from, None where there is none.

    A folder is looked into first: for ``NAME.csv`` or ``NAME.csv.gz``, a table with the columns of the set,
    where hyphens of the name are underscores, and for the original; in itself, and in its part ``uci``. Then
    comes the cache.
    """
    source, cached = data_set.source, cached_file(data_set)
    names = [f"{data_set.stem}{ending}" for ending in TABLE_ENDINGS] + ([source.file] if source else [])
    places = [] if folder is None else [Path(folder) / part for part in FOLDERS]
    files = [place / name for place in places for name in names] + ([cached] if cached else [])
    return next((file for file in files if file.is_file()), None)


def table_bytes(data_set: DataSet, folder: str | Path | None = None) -> tuple[str, bytes] | None:
    """Return what messages call the table of a set, and its bytes as CSV, perhaps packed; None without one.

    See :func:`table_file` for where it is looked for.

    Raises
    ------
    BadFileError
        If the file cannot be read, or is an original but not the one whose hash is known.
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
            f"{folder} must hold the file {source.file}, got a folder without it. It is what {source.url} "
            "has."
        )
    content = read_bytes(path)
    checked_original(source, content, str(path))
    return content


def _from_server(source: SetSource, silence_s: float, tell: TellBytes) -> bytes:
    """Download the original, or say what to do where that fails."""
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
