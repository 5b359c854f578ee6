"""Which public sets there are, and how the file of each is read; `sets.toml` says it, in plain data."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from shortlist._words import any_of, did_you_mean
from shortlist.errors import BadInputError

TARGET = "target"
"""The last column of every set."""

IDENTIFIER = "id_"
"""How the names of columns begin that are names and numbers of rows, and no features."""


@dataclass(frozen=True)
class SetSource:
    """Where the file of a set is, and how its rows are written."""

    url: str
    """What is downloaded."""
    sha256: str
    """Of the file that is read, in hexadecimal."""
    size: int
    """Of the same file, in bytes."""
    separator: str = ","
    """Between the cells of a row."""
    header: bool = False
    """Whether the first line names the columns."""
    missing: str = ""
    """What is written where a value is not known."""
    order: tuple[str, ...] = ()
    """The columns that the file begins with; those after them are in the order of the set."""
    classes: Mapping[str, str] = field(default_factory=dict)
    """The class of the set for each word of the file; without an entry the word is the class."""
    members: tuple[str, ...] = ()
    """Names of files in archives: the first in the download, each other one in the one before."""
    most_bytes: int = 0
    """Limit of the download."""

    @property
    def file(self) -> str:
        """What the download is called."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class DataSet:
    """One public set.

    Attributes
    ----------
    name : str
        What users call it.
    title, page, licence, note : str
        What it is, where that is explained, who may use it, and what one should know before.
    rows : int
        Number of rows.
    columns : tuple of str
        Names of the columns; the last one is ``target``.
    classes : mapping of str to int
        Rows of each class; empty where the target is a number.
    source : SetSource or None
        None where no hash of the original is known, so that it is read from a folder only.
    """

    name: str
    title: str
    page: str
    licence: str
    rows: int
    columns: tuple[str, ...]
    note: str = ""
    classes: Mapping[str, int] = field(default_factory=dict)
    source: SetSource | None = None

    @property
    def features(self) -> tuple[str, ...]:
        """The columns to learn from."""
        return tuple(name for name in self.columns[:-1] if not name.startswith(IDENTIFIER))

    @property
    def stem(self) -> str:
        """What the file of a folder that holds it is called, without its ending."""
        return self.name.replace("-", "_")


@functools.cache
def public_sets() -> Mapping[str, DataSet]:
    """Return every public set by its name."""
    entries = tomllib.loads(files("shortlist.datasets").joinpath("sets.toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: _data_set(name, entry) for name, entry in entries.items()})


def public_set(name: str) -> DataSet:
    """Return a public set; underscores in the name are as good as hyphens.

    Raises BadInputError if there is none of that name.
    """
    sets = public_sets()
    wanted = name.replace("_", "-")
    if wanted not in sets:
        raise BadInputError(
            f"a public data set must be one of {any_of(sets)}, got {name!r}.{did_you_mean(wanted, sets)}"
        )
    return sets[wanted]


def _data_set(name: str, entry: Mapping[str, Any]) -> DataSet:
    source = entry.get("source")
    return DataSet(name, **{**_frozen(entry), "source": SetSource(**_frozen(source)) if source else None})


def _frozen(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
