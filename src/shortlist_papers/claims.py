"""Claims of a paper, and the finding of our rows on each claim: one list for each paper, and one rule.

A claim has one part or several, such as one per set for "on all sets", and each part is judged by one of the
functions here. No limit was chosen by looking at rows: limits are the paper's own figures, an interval at 95
%, or a sign test at 5 %.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, cast

import numpy as np

from shortlist._words import counted
from shortlist.results.intervals import CHANCE, wilson_interval
from shortlist_papers.comparison import margin

if TYPE_CHECKING:
    import pandas as pd

HOLDS, IN_PART, FAILS, UNMEASURED = "holds", "holds in part", "does not hold", "not measured"
"""Verdicts on a claim."""

TOO_FEW = "not at this scale"
"""Word in place of a verdict if rows lack the units of a claim."""

UNKNOWN = "We do not know why."
"""Reason for a claim that does not hold where no experiment explains the failure."""

UNSURE = "These rows are too few to leave out chance."
"""Reason for a claim where chance may explain each part that does not hold."""

OTHER = "Ours is another figure."
"""Reason for a claim whose parts all point the paper's way, where no experiment explains the smaller effect.
"""

RULE = (
    "A claim holds if all its parts point the way that the paper says and each is sure, holds in "
    "part if some "
    "point that way, and does not hold if none does. A comparison is sure where the 95 % interval of the "
    'paired differences leaves out 0, "most" where a sign test has p below .05, a figure where the 95 % '
    "interval of ours has the paper's figure and ends nowhere further from it than half of the way to the "
    "value that would mean nothing. One value alone has no interval. What is counted and not sampled is "
    "sure. A claim has no verdict without the units that it is about, such as all "
    "folds. Intervals over splits "
    "of one table are widened, as splits share rows (Nadeau and Bengio, 2003)."
)
"""Rule for verdicts, for people."""


@dataclass(frozen=True)
class Part:
    """Finding of rows on one part of a claim."""

    same: bool
    """Whether the rows point the paper's way."""
    sure: bool = True
    """Whether the direction is beyond chance, and the paper's figure is reached if the paper prints one."""
    chance: bool = False
    """Whether only chance may keep the part from holding."""


def facts(flags: Iterable[Any]) -> tuple[Part, ...]:
    """Return a part for each counted thing, such as a set; the things are all there are, not a sample."""
    return tuple(Part(bool(flag)) for flag in flags)


def above(values: Any, limit: float = 0.0, overlap: float = 0.0) -> Part:
    """Judge whether the mean of values, such as paired differences, is above a limit.

    `overlap`, here and below: see :func:`~shortlist_papers.comparison.margin`.

    >>> above([-1.0, 4.0]), above([2.0])
    (Part(same=True, sure=False, chance=True), Part(same=True, sure=False, chance=True))
    >>> above([1.0, 2.0, 3.0, 4.0]), above([-1.0, -2.0, -3.0, -4.0])
    (Part(same=True, sure=True, chance=False), Part(same=False, sure=False, chance=False))
    """
    over = np.round(np.asarray(values, dtype=float) - limit, 9)
    same, beyond = bool(over.mean() > 0), len(over) > 1 and bool(abs(over.mean()) > margin(over, overlap))
    return Part(same, same and beyond, not beyond)


def below(values: Any, limit: float = 0.0, overlap: float = 0.0) -> Part:
    """Judge whether the mean of values is below a limit."""
    return above(-np.asarray(values, dtype=float), -limit, overlap)


def figure(values: Any, printed: float, nothing: float, overlap: float = 0.0) -> Part:
    """Judge a printed mean; `nothing`: value without any effect, such as an equal share.

    A single value is sure if it has the printed digits.

    >>> figure([69, 71, 70], 70.1, 50), figure([20.0], 20, 100)
    (Part(same=True, sure=True, chance=False), Part(same=True, sure=True, chance=False))
    >>> figure([40, 90, 80], 70.1, 50), figure([69, 71, 70], 75, 50)
    (Part(same=True, sure=False, chance=True), Part(same=True, sure=False, chance=False))
    """
    numbers = np.asarray(values, dtype=float)
    mean, half = float(numbers.mean()), margin(numbers, overlap)
    if len(numbers) < 2:
        same = (mean - nothing) * (printed - nothing) > 0
        return Part(same, same and round(mean, len(f"{printed}".partition(".")[2])) == printed)
    return _within((mean - half, mean + half), mean, printed, nothing)


def share_figure(n: float, total: float, printed: float, nothing: float) -> Part:
    """Judge a printed share by Wilson's interval of our share, `n` of `total`."""
    return _within(wilson_interval(n, total), n / total, printed, nothing)


def _within(ends: tuple[float, float], value: float, printed: float, nothing: float) -> Part:
    low, high = ends
    same, near = (value - nothing) * (printed - nothing) > 0, abs(printed - nothing) / 2
    sure = same and printed - near <= low <= printed <= high <= printed + near
    return Part(bool(same), bool(sure), bool(not sure and low <= printed <= high))


def most(flags: Sequence[Any]) -> Part:
    """Judge whether most cases agree with a claim, by a two-sided sign test.

    >>> most([True] * 8), most([True] * 4)
    (Part(same=True, sure=True, chance=False), Part(same=True, sure=False, chance=True))
    """
    from scipy.stats import binomtest

    n = int(np.sum(flags))
    same, beyond = 2 * n > len(flags), bool(binomtest(n, len(flags)).pvalue < CHANCE)
    return Part(same, same and beyond, not beyond)


def trend(x: Any, y: Any, sign: int) -> Part:
    """Judge whether y rises with x (1) or falls (-1): Spearman's correlation, and its test at 5 %.

    >>> trend([1, 2, 3, 4, 5], [1, 2, 3, 5, 4], 1), trend([1, 2, 3], [3, 2, 1], 1)
    (Part(same=True, sure=True, chance=False), Part(same=False, sure=False, chance=False))
    """
    from scipy.stats import spearmanr

    if not (np.ptp(x) and np.ptp(y)):
        return Part(False, False)
    found = spearmanr(x, y)
    same, beyond = bool(sign * found.statistic > 0), bool(found.pvalue < CHANCE)
    return Part(same, same and beyond, not beyond)


def shown_mean(values: Any, unit: str, digits: int = 1, overlap: float = 0.0) -> str:
    """Return a mean of differences as text, with its margin at 95 % if it has one."""
    numbers = np.asarray(values, dtype=float)
    half = f" ± {margin(numbers, overlap):.{digits}f}" if len(numbers) > 1 else ""
    return f"{numbers.mean():.{digits}f}{half} {unit}"


def beside(values: Any, unit: str) -> str:
    """Return words for the distance by which one thing is ahead of another, or behind it.

    >>> beside([1.0, 3.0], "points"), beside([-2.0], "ranks")
    ('2.00 ± 12.71 points ahead of', '2.00 ranks behind')
    """
    behind = float(np.mean(values)) < 0
    told = shown_mean(-np.asarray(values) if behind else values, unit, 2)
    return f"{told} behind" if behind else f"{told} ahead of"


def sets_and_folds(rows: "pd.DataFrame") -> str:
    """Return the number of sets in rows, and the number of folds of each, in words.

    >>> import pandas as pd
    >>> sets_and_folds(pd.DataFrame({"dataset": list("aab"), "fold": [0, 1, 0]}))
    '2 sets of 1 to 2 folds'
    """
    folds = rows.groupby("dataset")["fold"].nunique()
    least, most_folds = int(folds.min()), int(folds.max())
    told = counted(least, "fold") if least == most_folds else f"{least} to {counted(most_folds, 'fold')}"
    return f"{counted(len(folds), 'set')} of {told}"


@dataclass(frozen=True)
class Need:
    """Extent of rows that a verdict needs: the number of values in a column, or the largest value."""

    least: float
    """Least number of different values, or least value where `largest`."""
    what: str
    """Name of the counted things, in the plural: ``folds of each set``."""
    column: str
    where: Mapping[str, Any] = field(default_factory=dict)
    """Filter of the rows that count: columns with their value, or a tuple of values."""
    each: str = ""
    """Column by whose values the counted rows are grouped, each group with the least number; empty: one
    group.
    """
    largest: bool = False
    """Whether the largest value of the column counts; false: the number of different values."""

    def found(self, rows: "pd.DataFrame") -> float:
        """Return the number, or the largest value, in the rows; 0 without such rows.

        >>> import pandas as pd
        >>> rows = pd.DataFrame({"set": ["a", "a", "b"], "fold": [0, 1, 0]})
        >>> Need(2, "folds of each set", "fold", each="set").found(rows)
        1.0
        """
        if not {self.column, *self.where, *([self.each] if self.each else [])} <= set(rows.columns):
            return 0.0
        part = rows
        for column, value in self.where.items():
            part = part[part[column].isin(value if isinstance(value, tuple) else (value,))]
        part = part.dropna(subset=[self.column])
        if part.empty:
            return 0.0
        if not self.each:
            return float(part[self.column].max() if self.largest else part[self.column].nunique())
        groups = part.groupby(self.each)[self.column]
        return float((groups.max() if self.largest else groups.nunique()).min())

    def lacking(self, rows: "pd.DataFrame") -> str:
        """Return the missing extent of rows in words that follow "it needs"; empty if nothing is missing."""
        found = self.found(rows)
        return "" if found >= self.least else f"{self.least:,g} {self.what}, here {found:,g}"


@dataclass(frozen=True)
class ClaimFinding:
    """Finding of rows on a claim."""

    here: str
    """Our figure, in the form of the paper's."""
    parts: tuple[Part, ...]
    sure: str
    """Evidence of the finding: the number of sets, folds or runs, a test or an interval."""
    why: str = ""
    """Sentence on the experiment that explains our different figure; empty without one, and unused if all
    parts hold.
    """

    @property
    def verdict(self) -> str:
        """Verdict that follows from the parts: see :data:`RULE`."""
        if not self._lacking:
            return HOLDS
        return IN_PART if any(part.same for part in self.parts) else FAILS

    @property
    def reason(self) -> str:
        """Reason why not all parts hold: an experiment, or chance; empty if all parts hold."""
        if not self._lacking:
            return ""
        silent = OTHER if all(part.same for part in self._lacking) else UNKNOWN
        return self.why or (UNSURE if all(part.chance for part in self._lacking) else silent)

    @property
    def _lacking(self) -> list[Part]:
        return [part for part in self.parts if not (part.same and part.sure)]


Made = TypeVar("Made")
Arguments = ParamSpec("Arguments")


class PaperRows:
    """Rows of a paper by kind, with the results of all methods marked :func:`once`."""

    def __init__(self, rows: "pd.DataFrame") -> None:
        self._kinds = {str(kind): part for kind, part in rows.groupby("kind")} if "kind" in rows else {}
        self._none = rows.iloc[:0]
        self.made: dict[tuple[Any, ...], Any] = {}

    @classmethod
    def of(cls, rows: "pd.DataFrame | Self") -> Self:
        """Return rows as :class:`PaperRows`; rows of this class are returned unchanged."""
        return rows if isinstance(rows, cls) else cls(cast("pd.DataFrame", rows))

    def of_kind(self, kind: str, **wanted: Any) -> "pd.DataFrame":
        """Return the rows of a kind whose columns have the wanted values."""
        part = self._kinds.get(kind, self._none)
        for column, value in wanted.items() if len(part) else ():
            part = part[part[column] == value]
        return part


def once(
    make: Callable[Concatenate[Any, Arguments], Made],
) -> Callable[Concatenate[Any, Arguments], Made]:
    """Return a method of :class:`PaperRows` that computes each result once, and keeps it with the rows."""

    @functools.wraps(make)
    def kept(rows: Any, /, *given: Arguments.args, **named: Arguments.kwargs) -> Made:
        key = (make.__name__, given, *named.items())
        if key not in rows.made:
            rows.made[key] = make(rows, *given, **named)
        found: Made = rows.made[key]
        return found

    return kept


def _as_they_are(rows: Any) -> Any:
    return rows


@dataclass(frozen=True)
class PaperClaim:
    """Claim of a paper."""

    what: str
    """Claim in a few words."""
    where: str
    """Place of the claim in the paper."""
    paper: str
    """Figure of the paper; empty without one."""
    judge: Callable[[Any], ClaimFinding]
    """Function from rows to the finding; raises :class:`UnmeasuredError` if the rows lack a quantity."""
    missing: str = ""
    """Reason why the claim is never measured; empty: the only possible reason is that the rows lack a
    quantity.
    """
    read: Callable[[Any], Any] = _as_they_are
    """Function from rows to the judge's input. Converted input is returned unchanged, so that claims share
    it.
    """
    needs: tuple[Need, ...] = ()
    """Extents of rows that a verdict needs."""
    scale: str = "medium"
    """Name of the smallest scale whose rows have the needed extent."""

    def lacking(self, rows: "pd.DataFrame") -> str:
        """Return the first missing extent of rows in words; empty if none is missing."""
        return next(filter(None, (need.lacking(rows) for need in self.needs)), "")

    def finding(self, rows: Any) -> ClaimFinding | None:
        """Return the finding on the rows, after :attr:`read`; None if the rows lack a quantity."""
        try:
            return self.judge(self.read(rows))
        except UnmeasuredError:
            return None


class UnmeasuredError(LookupError):
    """Error for rows without the input of a judge."""


Found = TypeVar("Found")


def needed(found: Found | None) -> Found:
    """Return a judge's input from rows; raises UnmeasuredError if it is None, False or empty.

    >>> needed([1])
    [1]
    """
    if found is None or found is False or (hasattr(found, "__len__") and not len(found)):
        raise UnmeasuredError
    return found


def unmeasured(_rows: "pd.DataFrame") -> ClaimFinding:
    """Raise UnmeasuredError, for a claim that no unit measures."""
    raise UnmeasuredError
