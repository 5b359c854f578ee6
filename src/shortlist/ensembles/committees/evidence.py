"""What was found and what is proved: a selection, and what is known of its value, said in one order.

The value that was counted comes first, then the bound that anyone can recheck, then who says more.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.votes.binary_votes import Confusion
from shortlist.pickles import saved_from
from shortlist.results.proof import Selection, shortfall

History: TypeAlias = tuple[tuple[float, float | None, float], ...]
"""Seconds, best value (None before the first) and bound, in the user's unit, as they got better.
"""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PrunedSelection(Selection):
    """The members of a pruned ensemble, and what is proved of them."""

    reason: str = ""
    """Why there is no selection, for people; empty when there is one."""
    history: History = ()
    """Seconds, value and bound as they got better, see :data:`History`; value None before a selection was
    found.
    """
    certificate: dict[str, Any] | None = None
    """What proves the bound as far as cuts prove it, as plain data that
    :func:`shortlist.ensembles.audit.cut_check.check_certificate` rechecks.
    """
    certified_bound: float | None = None
    """The bound that the certificate proves, in the user's unit; `bound` may be lower, by the word of
    `proved_by`.
    """
    proved_by: str = ""
    """Who claims `bound`: ``"cuts"``, ``"branch and bound"``, ``"a walk over all selections"`` or the name of
    a solver; empty where nothing was bounded.
    """
    counted_from: str = "votes"
    """What the value is counted from: ``"votes"`` or ``"probabilities"``."""
    found_by: str = ""
    """What found the members: a rule by name, ``"tabu search"``, ``"exchanges"``, a walk or a solver."""
    why: str = ""
    """Why the engine was asked that bounded last, to go after "because"; empty where none had to be."""
    measured: str = ""
    """What measured that: a file of benchmarks/results, or a decision."""
    threshold: int | None = None
    """Above how many votes the positive class wins; None where no threshold decides."""


@saved_from("shortlist")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EnsembleSelection(PrunedSelection):
    """The members of an ensemble for two classes, and what they decide on the validation rows."""

    threshold: int
    """L: positive where more than this many members vote so."""
    confusion: Confusion
    """Decisions on the validation rows, counted from the votes."""


@saved_from("shortlist")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClassSelection(PrunedSelection):
    """The members of an ensemble, and what their plurality vote, or their mean probability, decides."""

    decisions: NDArray[np.int64]
    """Samples of the validation rows by true class and decision, counted from the votes, ``(n_classes,
    n_classes)``; right ones stand on the diagonal. All zero when there is no selection.
    """

    @property
    def right(self) -> NDArray[np.int64]:
        """Right decisions by true class, ``(n_classes,)``."""
        return np.diag(self.decisions)


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What is known of a value, and by whom."""

    objective: str
    """Of what."""
    value: float
    """Counted from the votes."""
    certified_bound: float | None
    """What the certificate proves: no selection is worth more. None without a certificate."""
    certified_by: str
    """``"cuts"``, ``"tangents"`` or ``"selections"``; empty without a certificate."""
    no_certificate: str
    """Why there is none, to go after "because"; empty where there is one."""
    bound: float | None
    """The lowest bound that anybody claims; None where nobody does."""
    bound_by: str
    """Who claims it: the same as `certified_by`, or a solver or ``"branch and bound"``; empty where nobody
    does.
    """
    rows: str = "validation rows"
    """What the rows are called that the value is counted on."""
    within_tolerance: bool = False
    """Whether value and bound, though they differ, are equal to whoever claims the bound."""
    sense: str = "max"
    """``"max"``, or ``"min"`` of a loss."""
    counted_from: str = "votes"
    """What the value is counted from."""
    among: str = ""
    """Of which selections the bounds are, to go after "selection", such as "of exactly 10 members"; empty: of
    all of the pool.
    """

    def sentence(self) -> str:
        """Return one sentence without its full stop, the same for every command.

        >>> known = Evidence(objective="accuracy", value=0.9, certified_bound=0.95, certified_by="cuts",
        ...                  no_certificate="", bound=0.9, bound_by="CP-SAT")
        >>> print(known.sentence())  # doctest: +NORMALIZE_WHITESPACE
        accuracy 0.9 on the validation rows, counted from the votes; the cuts of the certificate prove that no
        selection exceeds 0.95, so it is at most 0.05 (5.26 %) below the best there is; CP-SAT says that none
        exceeds 0.9, and then this is the best there is
        """
        which = f"selection {self.among}" if self.among else "selection"
        parts = [
            f"{self.objective} {self.value:.6g} on the {self.rows}, counted from the {self.counted_from}"
        ]
        if self.certified_bound is None:
            parts.append(f"no bound can be rechecked, because {self.no_certificate}")
        else:
            beats = "exceeds" if self.sense == "max" else "is below"
            proof = f"the {self.certified_by} of the certificate prove that no {which} {beats}"
            if self.certified_by == "selections":
                proof = f"looking at every {which} proves that none exceeds"
            meets = self.within_tolerance and self.bound == self.certified_bound
            standing = self._standing(self.value if meets else self.certified_bound)
            parts.append(f"{proof} {self.certified_bound:.6g}, so it is {standing}")
        if self.bound is not None and self._says_more(self.bound):
            beats = "exceeds" if self.sense == "max" else "is below"
            standing = self._standing(self.value if self.within_tolerance else self.bound)
            none = f"no {which}" if self.certified_bound is None and self.among else "none"
            parts.append(
                f"{self.bound_by} says that {none} {beats} {self.bound:.6g}, and then this is {standing}"
            )
        return "; ".join(parts)

    def _says_more(self, bound: float) -> bool:
        if self.certified_bound is None:
            return True
        return bound < self.certified_bound if self.sense == "max" else bound > self.certified_bound

    def _standing(self, bound: float) -> str:
        """Say how far from the best the value is."""
        met = self.value >= bound if self.sense == "max" else self.value <= bound
        best = best_of(self.among)
        return best if met else shortfall(self.value, bound, best)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it for JSON, with the sentence."""
        plain = dataclasses.asdict(self) | {"sentence": self.sentence()}
        return {
            name: None if isinstance(fact, float) and not math.isfinite(fact) else fact
            for name, fact in plain.items()
        }


def best_of(among: str) -> str:
    """Return what the best is called among such selections."""
    return "the best of those" if among else "the best there is"


def evidence_of_rule(value: float, rows: str = "validation rows", *, counted_from: str = "votes") -> Evidence:
    """Return what is known of an ensemble that a rule or evolution chose: its accuracy alone."""
    return Evidence(
        objective="accuracy",
        value=value,
        certified_bound=None,
        certified_by="",
        no_certificate="a rule proves none" if rows == "validation rows" else "evolution proves none",
        bound=None,
        bound_by="",
        rows=rows,
        counted_from=counted_from,
    )


def certified_by(certificate: Mapping[str, Any]) -> str:
    """Return what proves the bound of a certificate: one of its fields, empty where none does.

    >>> certified_by({"value": 3, "cuts": []})
    'cuts'
    """
    known = ("tangents", "selections", "cuts")
    return next((part for part in known if part in certificate), "")
