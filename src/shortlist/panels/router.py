"""Router: free columns of a case decide, before the first call, the way of the case through a panel."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, any_of
from shortlist.arrays import Floats
from shortlist.errors import BadInputError
from shortlist.export import reader
from shortlist.panels.decisions import Decided, Heard
from shortlist.policies import UNDECIDED

if TYPE_CHECKING:
    import pandas as pd

MOST_WORDS = 100
"""Largest number of different words in a column of a router."""

ALONE = "alone"
"""Name of the rule of a stage that asks no judge."""


@dataclass(frozen=True)
class Fork:
    """Question about a column: whether its value is small, or is among some words; with a next step each.

    `at_most`: largest number that means yes; None for a column of words. `words`: words that mean yes.
    `known`: all words of the column; any other word is unknown. `yes`, `no`: the next question for this
    answer, or the number of the branch, from 1.
    """

    column: str
    at_most: float | None
    words: tuple[str, ...]
    known: tuple[str, ...]
    yes: "Fork | int"
    no: "Fork | int"

    def plain(self) -> dict[str, Any]:
        """Return the question as plain data for an exported policy."""
        ends = [one.plain() if isinstance(one, Fork) else {"branch": one} for one in (self.yes, self.no)]
        asked: dict[str, Any] = {"at_most": self.at_most}
        if self.at_most is None:
            asked = {"words": list(self.words), "known": list(self.known)}
        return {"column": self.column, **asked, "yes": ends[0], "no": ends[1]}

    def branches(self, features: "pd.DataFrame") -> NDArray[np.int64]:
        """Return the branch of each case, ``(n_cases,)``; 0 if a needed value is missing or unknown.

        Raises BadInputError if a column is missing.
        """
        missing = [name for name in columns_of(self) if name not in features.columns]
        if missing:
            raise BadInputError(
                f"the log must have the columns of the router; missing: {', '.join(missing)}."
            )
        found = np.zeros(len(features), dtype=np.int64)
        read = {name: _Read.of(features[name]) for name in columns_of(self)}
        _walk(self, read, np.arange(len(features)), found)
        return found

    def conditions(self) -> dict[int, str]:
        """Return the condition for each branch in words, by its number."""
        told: dict[int, list[str]] = {}
        for branch, condition in _conditions(self, {}):
            told.setdefault(branch, []).append(condition)
        return {branch: ", or ".join(told[branch]) for branch in sorted(told)}


class _Read(NamedTuple):
    """Column of cases as numbers, or as codes of its different values, -1 without a value."""

    numbers: Floats | None
    codes: NDArray[np.int64]
    values: list[Any]

    @classmethod
    def of(cls, column: "pd.Series[Any]") -> "_Read":
        import pandas as pd

        if column.dtype.kind in "iuf":
            return cls(column.to_numpy(dtype=np.float64), np.empty(0, dtype=np.int64), [])
        if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "string":
            column = pd.Series([_plain_value(value) for value in column.tolist()], dtype=object)
        codes, uniques = pd.factorize(column)
        return cls(None, codes.astype(np.int64), [_plain_value(value) for value in uniques.tolist()])

    def says(self, fork: Fork) -> NDArray[np.int64]:
        """Return 1 for yes, 0 for no, and -1 for a missing or unknown value, ``(n_cases,)``."""
        if self.numbers is not None and fork.at_most is not None:
            return np.asarray(np.where(np.isfinite(self.numbers), self.numbers <= fork.at_most, -1))
        codes, values = self.codes, self.values
        if self.numbers is not None:
            different, codes = np.unique(self.numbers, return_inverse=True)
            values = different.tolist()
        plain = fork.plain()
        told = [reader.fork_says(plain, value) for value in values]
        answers = np.array([*(-1 if one is None else int(one) for one in told), -1], dtype=np.int64)
        return np.asarray(answers[codes])


def _walk(fork: Fork, read: dict[str, _Read], rows: NDArray[np.intp], found: NDArray[np.int64]) -> None:
    says = read[fork.column].says(fork)[rows]
    for wanted, way in ((1, fork.yes), (0, fork.no)):
        here = rows[says == wanted]
        if isinstance(way, Fork):
            _walk(way, read, here, found)
        else:
            found[here] = way


class _Known(NamedTuple):
    """Values of a column that lead to a branch: the remaining words, or bounds."""

    words: tuple[str, ...] = ()
    above: float = -math.inf
    at_most: float = math.inf

    def __str__(self) -> str:
        if self.words:
            return any_of(self.words, most=5)
        ends = [("above", self.above), ("at most", self.at_most)]
        return all_of(f"{word} {end:.6g}" for word, end in ends if math.isfinite(end))


def _conditions(fork: Fork, so_far: dict[str, _Known]) -> Iterator[tuple[int, str]]:
    """Yield each branch of the router with the conditions that lead to it, in words."""
    own = so_far.get(fork.column, _Known(fork.known))
    if fork.at_most is not None:
        yes, no = own._replace(at_most=fork.at_most), own._replace(above=fork.at_most)
    else:
        yes = _Known(tuple(word for word in own.words if word in fork.words))
        no = _Known(tuple(word for word in own.words if word not in fork.words))
    for way, what in ((fork.yes, yes), (fork.no, no)):
        told = so_far | {fork.column: what}
        if isinstance(way, Fork):
            yield from _conditions(way, told)
        else:
            yield way, all_of(f"{name} is {known}" for name, known in told.items())


def columns_of(router: Fork) -> list[str]:
    """Return the names of the columns that a router reads, each once."""
    rest = [way for way in (router.yes, router.no) if isinstance(way, Fork)]
    return list(dict.fromkeys([router.column, *(name for way in rest for name in columns_of(way))]))


def router_of(plain: dict[str, Any]) -> Fork:
    """Return the router of a policy that :func:`shortlist.export.reader.check` accepts."""
    yes, no = (one["branch"] if "branch" in one else router_of(one) for one in (plain["yes"], plain["no"]))
    words, known = (tuple(plain.get(name, ())) for name in ("words", "known"))
    return Fork(plain["column"], plain.get("at_most"), words, known, yes, no)


def _plain_value(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return str(plain) if isinstance(plain, bool) else plain  # True and 1 would be one value


def forked_by_words(column: str, words: tuple[str, ...], ends: Sequence[Fork | int]) -> Fork | int:
    """Return the questions that lead each word of a column to its end; equal ends are joined."""
    different = list(dict.fromkeys(ends))
    way = different[-1]
    for end in reversed(different[:-1]):
        own = tuple(word for word, one in zip(words, ends, strict=True) if one == end)
        way = Fork(column, None, own, words, end, way)
    return way


def forked_by_numbers(column: str, cuts: tuple[float, ...], ends: Sequence[Fork | int]) -> Fork | int:
    """Return the questions that lead each interval of a numeric column to its end.

    Equal neighbours are joined.
    """
    way = ends[-1]
    for cut, end in zip(reversed(cuts), reversed(ends[:-1]), strict=True):
        below = way.yes if isinstance(way, Fork) and way.column == column else way
        if end != below:
            way = Fork(column, cut, (), (), end, way)
    return way


@dataclass(frozen=True)
class Alone:
    """Constant answer to a group of cases without a call.

    The answer is the class with the least loss.

    `code`: class index; -1 if two classes share the least loss. `shares`: share of the cases of each class.
    """

    code: int
    shares: tuple[float, ...]
    judges: tuple[int, ...] = ()

    def decide(self, answers: Heard) -> Decided:
        """Return the same decision for every case."""
        n_cases = len(answers.words)
        sure = 0.0 if self.code == UNDECIDED else self.shares[self.code]
        return Decided(np.full(n_cases, self.code), np.full(n_cases, sure))

    def plain(self) -> dict[str, Any]:
        """Return the answer as plain data."""
        return {"rule": ALONE, "label": self.code, "shares": list(self.shares)}
