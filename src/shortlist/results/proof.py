"""Status and proof of answers, and the distance of an answer from the bound in words."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

from shortlist._words import counted, number_text
from shortlist.arrays import Mask, Values
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from
from shortlist.results.objective import Objective, Sense


@saved_from("shortlist")
class Status(StrEnum):
    """Status of a single answer."""

    OPTIMAL = "optimal"  # the answer is proved best
    FEASIBLE = "feasible"  # an answer, with a bound on how much better another could be
    INFEASIBLE = "infeasible"  # proved: nothing satisfies the limits
    UNBOUNDED = "unbounded"  # the objective has no best value
    UNKNOWN = "unknown"  # stopped before an answer was found


@saved_from("shortlist")
class ProofKind(StrEnum):
    """Strength of the proof of a front; the members are in descending order."""

    COMPLETE = "complete"  # every non-dominated point is here
    NONDOMINATED = "nondominated"  # each point is proved non-dominated, some may be missing
    APPROXIMATE = "approximate"  # found, nothing proved


@saved_from("shortlist")
@dataclass(frozen=True)
class Proof:
    """Claims proved about a front or a selection.

    Parameters
    ----------
    kind : ProofKind
        Claim of the proof.
    tolerances : tuple of float, default=()
        For each objective, in its unit: the difference up to which values count as equal in the claim. Empty:
        exact.
    missing : tuple of float or None, default=None
        Bound on the loss by missing points, one number per objective: for every feasible point some point of
        the front is worse by at most this number in each objective. None: not known. All zero for a complete
        front.
    n_unresolved : int, default=0
        Number of subproblems without a known answer; must be 0 for a complete front.
    limit : str, default=""
        Limit of the search, for people (``"60 s"``, ``"1000 solves"``, ``"interrupted"``); empty if none.
    """

    kind: ProofKind
    tolerances: tuple[float, ...] = ()
    missing: tuple[float, ...] | None = None
    n_unresolved: int = 0
    limit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", ProofKind(self.kind))
        if self.kind is ProofKind.COMPLETE and self.n_unresolved:
            raise BadInputError(
                f"a complete front has no unresolved subproblems, got {self.n_unresolved}. Claim less."
            )


def relative_gap(value: float, bound: float) -> float:
    """Distance from `value` to `bound` relative to `value`: 0 when equal, infinite when only `value` is 0."""
    if value == bound:
        return 0.0
    return abs(bound - value) / abs(value) if value else math.inf


@saved_from("shortlist")
@dataclass(frozen=True, eq=False)
class Selection:
    """Answer to a problem with one objective."""

    mask: Mask
    """Mask of the chosen candidates, ``(n_candidates,)``; all False without an answer."""
    objective: Objective
    """Optimised objective."""
    value: float
    bound: float
    """Objective value of the choice, and the bound that no choice can pass, in the user's sign; NaN if
    unknown.
    """
    status: Status
    """Status of the answer."""
    proof: Proof
    """Claim, its tolerance, and the limit that ended the search."""
    seconds: float
    """Wall-clock seconds of the search."""

    def __repr__(self) -> str:
        size = f"{int(np.sum(self.mask)):,} of {len(self.mask):,} candidates"
        value = f"{self.objective.name} {self.value:.6g}, bound {self.bound:.6g}"
        return f"{type(self).__name__}({size}; {value}; {self.status})"

    def _repr_html_(self) -> str:
        from shortlist._words import html_table

        limit = [("stopped by", self.proof.limit)] if self.proof.limit else []
        facts = [
            ("status", self.status),
            (self.objective.name, float(self.value)),
            ("bound", float(self.bound)),
            *limit,
            ("chosen", f"{int(np.sum(self.mask)):,} of {len(self.mask):,} candidates"),
            ("seconds", float(self.seconds)),
        ]
        return html_table(type(self).__name__, [], facts, n_rows=len(facts))

    @property
    def gap(self) -> float:
        """Relative distance of the value to the bound; 0 when proved, NaN without an answer."""
        return 0.0 if self.status is Status.OPTIMAL else relative_gap(self.value, self.bound)


NOT_TOLD = 1e-8
"""Share of the best value below which a gap is not reported."""


def shortfall(value: float, bound: float, best: str = "the best there is") -> str:
    """Return the largest distance of a value from the best in words, given the bound.

    The distance is also reported as a share of the bound. If value and bound have different signs, only the
    difference is reported. A value to maximise lies below the best value, a value to minimise above it. A
    share below :data:`NOT_TOLD` is not reported, as sums of logarithms have rounding errors of this size.

    `value`, `bound`: in the user's sign; they differ. `best`: noun phrase for the bounded quantity.

    >>> print(shortfall(0.594, 0.752))
    at most 0.158 (21.0 %) below the best there is
    >>> print(shortfall(120, 100), "|", shortfall(-3, 1))
    at most 20 (20.0 %) above the best there is | at most 4 below the best there is
    >>> print(shortfall(-8, -5))
    at most 3 (60.0 %) below the best there is
    >>> print(shortfall(0.06, 0.06 - 1e-12))
    the best there is to eight digits
    """
    side = "below" if value < bound else "above"
    difference = abs(bound - value)
    if difference <= NOT_TOLD * abs(bound) < math.inf:
        return f"{best} to eight digits"
    if not math.isfinite(difference):
        return f"an unknown amount {side} {best}"
    amount, off = _amount(difference), share_off(value, bound)
    return f"at most {amount}{'' if off == amount else f' ({off})'} {side} {best}"


def share_off(value: float, bound: float) -> str:
    """Return the gap between value and bound as a share of the bound; as a number if signs differ.

    >>> share_off(0.594, 0.752), share_off(-3, 1)
    ('21.0 %', '4')
    """
    difference = abs(bound - value)
    one_sign = bound != 0 and (min(value, bound) >= 0 or max(value, bound) <= 0)
    return f"{_three_digits(100 * difference / abs(bound))} %" if one_sign else _amount(difference)


def _amount(difference: float) -> str:
    return f"{difference:.3g}" if difference < 1000 else f"{difference:,.0f}"


def _three_digits(number: float) -> str:
    """Return a number as text: three significant digits, from 1,000 on all digits before the point."""
    return f"{number:#.3g}".rstrip(".") if number < 999.5 else f"{number:,.0f}"


def stopped_by(limit: str) -> str:
    """Return the reason for the end of a search in words.

    >>> stopped_by("60 s"), stopped_by("interrupted")
    ('stopped by the limit of 60 s', 'interrupted')
    """
    return limit if limit == "interrupted" else f"stopped by the limit of {limit}"


class FrontPoints(Protocol):
    """Interface of a front for proof sentences, pick rules and pictures."""

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """Objectives of the columns of `values`."""

    @property
    def names(self) -> list[str]:
        """Names of the objectives."""

    @property
    def values(self) -> Values:
        """Objectives of each point, in the user's signs."""

    @property
    def proof(self) -> Proof:
        """Proof about the points."""

    @property
    def extras(self) -> Mapping[str, Any]:
        """Facts about the search."""

    def __len__(self) -> int: ...


def proof_text(front: FrontPoints) -> str:
    """Return the proof of a front in words."""
    proof = front.proof
    limit = f", {stopped_by(proof.limit)}" if proof.limit else ""
    if "without_promise" in front.extras:
        return _promised_text(front, limit)
    within = front.extras.get("program", {}).get("rows_within_tolerance", 0)
    kept = f", with {counted(within, 'row')} kept to one part in a million" if within else ""
    if proof.kind is ProofKind.COMPLETE and front.extras.get("program", {}).get("rounded"):
        most = zip(front.names, proof.tolerances, strict=False)
        gaps = ", ".join(f"{name} {off:.2g}" for name, off in most if off)
        return f"complete up to rounding: a solution may be better by {gaps} at most{kept}"
    if proof.kind is ProofKind.COMPLETE:
        return f"complete: every best trade-off is listed{kept}"
    if proof.kind is ProofKind.NONDOMINATED:
        return f"each proved non-dominated, some may be missing{kept}{limit}"
    if proof.missing is None or not all(math.isfinite(value) for value in proof.missing):
        return f"approximate, nothing proved{limit}"
    gaps = ", ".join(
        f"{name} {number_text(gap, 6)}" for name, gap in zip(front.names, proof.missing, strict=True) if gap
    )
    worse = f"worse by at most {gaps}" if gaps else "no worse"
    return f"approximate: for every possible solution there is a point here that is {worse}{limit}"


def proof_conflict(front: FrontPoints, *, may_round: bool = False) -> str:
    """Return a claim that the proof of a front cannot make, without a full stop; empty if there is none.

    `may_round`: whether values of the front may be rounded, so that a proof may have tolerances.
    """
    proof, n = front.proof, len(front.objectives)
    if len(proof.tolerances) not in {0, n} or (any(proof.tolerances) and not may_round):
        return "the front has tolerances, and each of its values is a sum of whole numbers"
    if proof.missing is not None and len(proof.missing) != n:
        return f"the front says of {len(proof.missing)} objectives what may be missing, and has {n}"
    if proof.kind is ProofKind.COMPLETE and (proof.limit or any(proof.missing or ())):
        return "the front is called complete, and says that something may be missing"
    return ""


def rounding(front: FrontPoints) -> str:
    """Return sentences about rounded values or costs of a front; empty if there are none."""
    costs = front.extras.get("program", {}).get("rounded", {})
    most = list(zip(front.objectives, front.proof.tolerances, strict=False))
    said = [
        f"Costs of {one.name} are rounded to multiples of {costs[one.name]:g} in the search, as solvers need "
        f"whole numbers. Values are of the exact costs; a solution may be better by {off:.2g} at most."
        for one, off in most
        if one.name in costs
    ]
    gaps = [
        f"{one.name} {'up' if one.sense is Sense.MIN else 'down'} to multiples of {step:g}"
        for one, step in most
        if step and one.name not in costs
    ]
    if gaps:
        said.append(f"Values are rounded: {', '.join(gaps)}; a solution may be better by less than one.")
    return " ".join(said)


def counted_proof(front: FrontPoints, behind: str = "") -> str:
    """Return the number of points and the proof in words; `behind`: text after the points."""
    told = proof_text(front)
    if "without_promise" in front.extras:  # the promise includes the number
        return f"{told[0].upper()}{told[1:]}{behind}"
    return f"{counted(len(front), 'point')}{behind}, {told}"


def _promised_text(front: FrontPoints, limit: str) -> str:
    before = front.extras["without_promise"]
    n_points, n_promised = len(front), sum(front.extras["promised"])
    n_left = n_points - n_promised
    found = "all " if before["proof"] == ProofKind.COMPLETE else ""
    trade_offs = counted(before["n_points"], "trade-off")
    told = f"of {found}{trade_offs} {n_points:,} differ once thresholds are set for the promise{limit}"
    if n_promised == n_points:
        return told
    if not n_promised:
        return f"{told}; none of them keeps it"
    keep, answer = ("keeps" if n_promised == 1 else "keep"), ("answers" if n_left == 1 else "answer")
    return f"{told}; {n_promised:,} of them {keep} it, {n_left:,} {answer} nothing"
