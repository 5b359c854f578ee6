"""What a paper claims, and what our rows say about it: one list for each paper, and one table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shortlist_papers.paper import ResultTable, Rows

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


def claims_table(claims: Sequence[Claim], rows: "pd.DataFrame") -> ResultTable:
    """Return every claim with our verdict, which the rows alone decide."""
    found: Rows = []
    for claim in claims:
        finding = claim.judge(rows)
        here, verdict, sure, why = None, UNMEASURED, None, claim.missing or "These rows do not have it."
        if finding is not None:
            here, verdict, sure = finding.here, finding.verdict, finding.sure
            why = "" if verdict == HOLDS else finding.why or UNKNOWN
        found.append(
            {
                "claim": claim.what, "place": claim.where, "paper": claim.paper or None, "here": here,
                "verdict": verdict, "how sure": sure, "why": why or None,
            }
        )  # fmt: skip
    counts = [row["verdict"] for row in found]
    told = ", ".join(
        f"{counts.count(one)} {one}" for one in (HOLDS, IN_PART, FAILS, UNMEASURED) if one in counts
    )
    return ResultTable("claims", f"What the paper claims: {told}", found)


def share_of(n: int, total: int) -> tuple[float, float]:
    """Return the ends of Wilson's 95 % interval of a share.

    >>> [round(end, 3) for end in share_of(2, 16)]
    [0.035, 0.36]
    """
    z = 1.959964
    middle, spread = (
        n / total + z * z / (2 * total),
        z * ((n * (total - n) / total + z * z / 4) ** 0.5) / total,
    )
    scale = 1 + z * z / total
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def signs(differences: Sequence[float]) -> str:
    """Say how many differences are above 0, and how probable as one-sided a count is by chance.

    >>> signs([1, 2, -1, 3])
    '3 of 4, sign test p = 0.62'
    """
    from scipy.stats import binomtest

    n_above, n_both = sum(one > 0 for one in differences), sum(one != 0 for one in differences)
    told = f"{n_above} of {len(differences)}"
    return f"{told}, sign test p = {binomtest(n_above, n_both).pvalue:.2g}" if n_both else told
