"""Check of all files of a command before its work begins."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from shortlist._words import all_of, any_of
from shortlist.errors import BadFileError, BadInputError
from shortlist.files import EXAMPLE_PREFIX, STDIN, check_writable

Named: TypeAlias = str | Path | Sequence[str | Path] | None

RESUMED = ("--study",)
"""Options of output files that are added to, and not written anew."""

MODEL_FILE = (".joblib",)
FRONT_FILE = (".parquet", ".csv", ".xlsx")
SPREADSHEET_FILE = (".csv", ".xlsx")
RESULTS_FILE = (".parquet",)
TABLE_FILE = (".csv",)
STUDY_FILE = (".db", ".sqlite")
PAGE_FILE = (".html", ".htm")
PICTURE_FILE = (".svg", ".png", ".pdf", *PAGE_FILE)
PANEL_FILE = (".json",)
POLICY_FILE = (".json", ".onnx")
PROTOCOL_FILE = (*PAGE_FILE, ".md", ".svg")
CODE_FILE = (".py",)
PRODUCT_FILE = (".uvl", ".csv", ".config")


def check_files(
    *,
    inputs: Mapping[str, Named],
    outputs: Mapping[str, Named],
    endings: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Refuse files that cannot be read or written, or that would overwrite one another.

    Every command calls this function once, before any work, with every file that it may read or write,
    including files that it finds by itself. Two files are the same if they lead to the same place on the
    disk, through links of both kinds, ``./`` and ``..`` too. Raises BadFileError if an input cannot be read
    or an output cannot be written. Raises BadInputError if an output is an input or another output, or has a
    wrong ending.

    `inputs`: files that are read, by the name of their argument or option, such as ``TABLE`` or ``--costs``.
    ``-`` and ``example:NAME`` are no files. `outputs`: files that are written, by the same kind of name.
    `endings`: endings that an output may have, such as ``(".parquet",)``; an output without an entry may have
    any ending.
    """
    given = list(_files(inputs))
    written = [
        (name, Path(path))
        for name, value in outputs.items()
        for path in ([value] if isinstance(value, str | Path) else value or ())
    ]
    taken = [(name, path) for name, path in given if path.exists()]
    for name, path in written:
        for other, file in taken:
            if _same(path, file):
                what = f"the same file as {other}" + ("" if str(path) == str(file) else f", {file}")
                raise BadInputError(f"{name} {path} is {what}, and would overwrite it. Name another file.")
        taken.append((name, path))
    for name, path in given:
        _check_readable(name, path)
    for name, path in written:
        _check_output(name, path, tuple((endings or {}).get(name, ())))


def files_by_kind(out: Sequence[Path] | None, **kinds: Sequence[str]) -> tuple[Path | None, ...]:
    """Return the file of each kind, recognised by its ending; None for a kind without a file.

    Raises BadInputError if two files are of one kind. `kinds`: endings of each kind.

    >>> files_by_kind([Path("a.html"), Path("b.joblib")], model=MODEL_FILE, page=PAGE_FILE)
    (PosixPath('b.joblib'), PosixPath('a.html'))
    """
    found = []
    for endings in kinds.values():
        alike = [path for path in out or () if path.name.casefold().endswith(tuple(endings))]
        if len(alike) > 1:
            each = all_of([f"one {other}" for other in kinds])
            raise BadInputError("--out", f"must name {each} at most", all_of(map(str, alike)))
        found.append(next(iter(alike), None))
    return tuple(found)


def check_folder(folder: str | None, name: str) -> str | None:
    """Return a folder to read from; None stays None.

    Raises BadFileError if the path does not exist or is no folder.
    """
    if folder is not None and not Path(folder).is_dir():
        raise BadFileError(f"{name} must be a folder, got {folder!r}, which is none. Check the path.")
    return folder


def _files(inputs: Mapping[str, Named]) -> Iterator[tuple[str, Path]]:
    for name, value in inputs.items():
        paths = [value] if isinstance(value, str | Path) else value or ()
        for path in paths:
            if str(path) != STDIN and not str(path).startswith(EXAMPLE_PREFIX):
                yield name, Path(path)


def _same(one: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file; the file may not exist yet."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    try:
        return one.samefile(other)
    except OSError:
        return False


def _check_readable(name: str, path: Path) -> None:
    if path.is_dir():
        raise BadFileError(f"{name} {path} must be a file, got a folder. Name a file in it.")
    try:
        os.stat(path)  # noqa: PTH116  # the error says why, which Path.exists does not
    except OSError as error:
        raise BadFileError(f"{path} cannot be read: {error.strerror}. Check the path.") from None
    if not os.access(path, os.R_OK):
        raise BadFileError(f"{path} cannot be read: Permission denied. Check the path.")


def _check_output(name: str, path: Path, endings: tuple[str, ...]) -> None:
    """Refuse a file that cannot be written, or has a wrong ending."""
    if str(path) == STDIN:
        raise BadInputError(name, "must be a file", "'-'", "Name a file.")
    if name in RESUMED and path.is_file() and os.access(path, os.W_OK):
        pass  # a line can be added, whatever the folder allows
    else:
        check_writable(path, name)
    if endings and not path.name.casefold().endswith(endings):
        raise BadInputError(name, f"must end in {any_of(endings)}", repr(str(path)))
