"""Evidence for a selection: its value, the bound and the proof, with one sentence on them."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.votes.hard_votes import Confusion
from shortlist.pickles import saved_from
from shortlist.results.proof import Selection, share_off, shortfall

History: TypeAlias = tuple[tuple[float, float | None, float], ...]
"""Sequence of seconds, best value and bound in the user's unit, as they improved; the value is None at
first.
"""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PrunedSelection(Selection):
    """Members of a pruned ensemble, with the proof of their value."""

    reason: str = ""
    """Reason for having no selection, as text for people; empty when there is one."""
    history: History = ()
    """Seconds, value and bound as they improved, see :data:`History`; the value is None before the first
    selection.
    """
    certificate: dict[str, Any] | None = None
    """Certificate of `certified_bound`, as plain data that
    :func:`shortlist.ensembles.verification.recheck_vote_certificate.check_certificate` rechecks.
    """
    certified_bound: float | None = None
    """Bound that the certificate proves, in the user's unit; `bound`, which `proved_by` claims, may be
    lower.
    """
    proved_by: str = ""
    """Prover of `bound`: ``"cuts"``, ``"branch and bound"``, ``"full search"`` or the name of a solver; empty
    where nothing was bounded.
    """
    counted_from: str = "votes"
    """Answers that the value is counted from: ``"votes"`` or ``"probabilities"``."""
    found_by: str = ""
    """Method that found the members: a rule by name, ``"tabu search"``, ``"exchanges"``, full search or a
    solver.
    """
    why: str = ""
    """Reason for the choice of the engine that computed the last bound, to follow "because"; empty where no
    engine was chosen.
    """
    measured: str = ""
    """Measurement that supports the reason: a file of benchmarks/results, or a decision."""
    threshold: int | None = None
    """Number of votes above which the positive class wins; None where no threshold decides."""


@saved_from("shortlist")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EnsembleSelection(PrunedSelection):
    """Members of an ensemble for two classes, with their decisions on the selection rows."""

    threshold: int
    """Threshold L: the answer is positive where more than L members vote so."""
    confusion: Confusion
    """Decisions on the selection rows, counted from the votes."""


@saved_from("shortlist")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClassSelection(PrunedSelection):
    """Members of an ensemble, with the decisions of their plurality vote, or of their mean probability."""

    decisions: NDArray[np.int64]
    """Number of samples of the selection rows by true class and decision, ``(n_classes, n_classes)``, counted
    from the votes. Right decisions are on the diagonal. All zero when there is no selection.
    """

    @property
    def right(self) -> NDArray[np.int64]:
        """Number of right decisions by true class, ``(n_classes,)``."""
        return np.diag(self.decisions)


CERTIFIED = {
    "cuts": "proved by its certificate",
    "rows": "no more rows can be right",
    "tangents": "proved by its certificate",
    "selections": "full search",
    "": "proved by its certificate",
}
"""Name of the proof of a certificate's bound, by the part of the certificate that proves it."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Evidence for the value of a selection: bounds, with their provers."""

    objective: str
    """Name of the objective."""
    value: float
    """Value of the selection, counted from the votes or probabilities."""
    certified_bound: float | None
    """Bound that the certificate proves: no selection has a better value. None without a certificate."""
    certified_by: str
    """Part of the certificate that proves the bound: ``"cuts"``, ``"rows"`` without a cut, ``"tangents"`` or
    ``"selections"``; empty without a certificate.
    """
    no_certificate: str
    """Reason for having no certificate, to follow "because"; empty where there is one."""
    bound: float | None
    """Closest bound that is claimed; None without a bound."""
    bound_by: str
    """Prover of the bound: the same as `certified_by`, or a solver or ``"branch and bound"``; empty without a
    bound.
    """
    rows: str = "selection rows"
    """Name of the rows that the value is counted on."""
    within_tolerance: bool = False
    """Whether value and bound are different numbers, but equal within the tolerance of the claim."""
    sense: str = "max"
    """Sense of the objective: ``"max"``, or ``"min"`` for a loss."""
    counted_from: str = "votes"
    """Answers that the value is counted from: ``"votes"`` or ``"probabilities"``."""
    among: str = ""
    """Selections that the bounds are valid for, to follow "selection", such as "of exactly 10 members"; empty
    for all selections from the pool.
    """

    def sentence(self) -> str:
        """Return one sentence on the evidence, without its full stop; it is the same for every command.

        >>> known = Evidence(objective="accuracy", value=0.9, certified_bound=0.95, certified_by="cuts",
        ...                  no_certificate="", bound=0.9, bound_by="CP-SAT")
        >>> print(known.sentence())  # doctest: +NORMALIZE_WHITESPACE
        accuracy 0.9 on the selection rows, counted from the votes: best of all selections (CP-SAT); the
        certificate alone proves it within 5.26 %
        """
        counted = (
            f"{self.objective} {self.value:.6g} on the {self.rows}, counted from the {self.counted_from}"
        )
        return f"{counted}: {self.claim()}"

    def claim(self) -> str:
        """Return the text on the largest distance of the value from the best, with its proof.

        >>> known = Evidence(objective="accuracy", value=0.9, certified_bound=0.95, certified_by="cuts",
        ...                  no_certificate="", bound=0.95, bound_by="cuts", among="of at most 3 members")
        >>> print(known.claim())  # doctest: +NORMALIZE_WHITESPACE
        at most 0.05 (5.26 %) below the best of all selections of at most 3 members (proved by its
        certificate)
        """
        says_more = self.bound is not None and self._says_more(self.bound)
        bound = self.bound if says_more else self.certified_bound
        if bound is None:
            return f"nothing is proved, because {self.no_certificate}"
        best = f"best of all selections{f' {self.among}' if self.among else ''}"
        by = self.bound_by if says_more else CERTIFIED[self.certified_by]
        met = self.within_tolerance or (self.value >= bound if self.sense == "max" else self.value <= bound)
        told = f"{best if met else shortfall(self.value, bound, f'the {best}')} ({by})"
        if self.certified_bound is None:
            return f"{told}; no certificate, because {self.no_certificate}"
        if not says_more:
            return told
        return f"{told}; the certificate alone proves it within {share_off(self.value, self.certified_bound)}"

    def _says_more(self, bound: float) -> bool:
        if self.certified_bound is None:
            return True
        return bound < self.certified_bound if self.sense == "max" else bound > self.certified_bound

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as a dict for JSON, with the sentence."""
        plain = dataclasses.asdict(self) | {"claim": self.claim(), "sentence": self.sentence()}
        return {
            name: None if isinstance(fact, float) and not math.isfinite(fact) else fact
            for name, fact in plain.items()
        }


def evidence_of_rule(value: float, rows: str = "selection rows", *, counted_from: str = "votes") -> Evidence:
    """Return the evidence for an ensemble chosen by a rule or by evolution: its accuracy alone."""
    return Evidence(
        objective="accuracy",
        value=value,
        certified_bound=None,
        certified_by="",
        no_certificate="rules prove nothing" if rows == "selection rows" else "evolution proves nothing",
        bound=None,
        bound_by="",
        rows=rows,
        counted_from=counted_from,
    )


def cost_evidence(
    value: float, rows: str = "rows that it was evolved on", *, counted_from: str = "votes"
) -> Evidence:
    """Return the evidence for an ensemble chosen by a rule or by evolution: its mean cost of errors alone."""
    known = evidence_of_rule(value, rows, counted_from=counted_from)
    return dataclasses.replace(known, objective="mean cost of errors", sense="min")


def certified_by(certificate: Mapping[str, Any]) -> str:
    """Return the name of the part of a certificate that proves its bound; empty where no part does.

    >>> certified_by({"value": 3, "cuts": [{"rows": [0, 4]}]}), certified_by({"value": 3, "cuts": []})
    ('cuts', 'rows')
    """
    if certificate.get("cuts") == []:
        return "rows"
    known = ("tangents", "selections", "cuts")
    return next((part for part in known if part in certificate), "")
