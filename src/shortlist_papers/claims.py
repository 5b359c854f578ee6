"""What a paper claims, and what our rows say about it: one list for each paper."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

HOLDS, IN_PART, FAILS, UNMEASURED = "holds", "holds in part", "does not hold", "not measured"
"""The verdicts."""

UNKNOWN = "We do not know why."
"""What stands where a claim does not hold and no experiment says why."""


@dataclass(frozen=True)
class Finding:
    """What rows say about a claim."""

    here: str
    """Our figure, as the paper has its own."""
    parts: tuple[bool, ...]
    """Whether each part of the claim holds; one part for most, and one for each set of "on all sets"."""
    sure: str
    """What it rests on: how many sets, folds or runs, a test or an interval."""
    why: str = ""
    """The experiment that says why our figure differs, empty where there is none; left out if all holds."""

    @property
    def verdict(self) -> str:
        """One of the verdicts, by the parts."""
        return HOLDS if all(self.parts) else IN_PART if any(self.parts) else FAILS


@dataclass(frozen=True)
class Claim:
    """One claim of a paper."""

    what: str
    """The claim, in a few words."""
    where: str
    """Its place in the paper."""
    paper: str
    """The paper's figure; empty where it has none."""
    judge: Callable[["pd.DataFrame"], Finding | None]
    """What rows say about it; None if they do not have what is needed."""
    missing: str = ""
    """Why it is not measured, where no extent measures it; otherwise that the rows do not have it."""


def unmeasured(_rows: "pd.DataFrame") -> None:
    """Judge a claim that no unit measures."""


def signs(differences: Sequence[float]) -> str:
    """Say how many differences are above 0, and how probable as one-sided a count is by chance.

    >>> signs([1, 2, -1, 3])
    '3 of 4, sign test p = 0.62'
    """
    from scipy.stats import binomtest

    n_above, n_both = sum(one > 0 for one in differences), sum(one != 0 for one in differences)
    told = f"{n_above} of {len(differences)}"
    return f"{told}, sign test p = {binomtest(n_above, n_both).pvalue:.2g}" if n_both else told
