"""What is known of a pruned ensemble, said in one order.

The value that was counted comes first, then the bound that anyone can recheck, then who says more.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shortlist._words import all_of, counted
from shortlist.ensembles.goals.mean_goals import MEAN_LOSSES
from shortlist.ensembles.proofs.incumbent import PrunedSelection
from shortlist.milp import Solver
from shortlist.results.objective import Sense
from shortlist.results.proof import Status, shortfall

COMMITTEE_WALK = "a walk over all committees"
"""Whose a bound is where a front is complete."""

CHEAPER_WALK = "a walk over the committees that come to no more"
"""Whose a bound is of a point of a front that is below the best at any price, and told by its own."""

BEFORE_WALK = "exact pruning before the walk"
"""Whose a bound is where a front is not complete."""


def bound_of_front(proved_by: str) -> str:
    """Return whose a bound of a front is, in words that fit where no certificate was kept."""
    return COMMITTEE_WALK if proved_by == COMMITTEE_WALK else BEFORE_WALK


AUTO = "auto"
"""The engine of :mod:`shortlist.ensembles.pruning.engine`, which takes solvers to its last step only."""

SOLVER_TITLES = {"cpsat": "CP-SAT", "highs": "HiGHS", "scip": "SCIP"}
"""What solvers call themselves."""


def solver_name(solver: str | Solver) -> str:
    """Return what a solver calls itself; nothing for the engine, which names its steps."""
    if solver == AUTO:
        return ""
    name = solver if isinstance(solver, str) else solver.name
    return SOLVER_TITLES.get(name, name)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What is known of a value, and by whom.

    Attributes
    ----------
    objective : str
        Of what.
    value : float
        Counted from the votes.
    certified_bound : float or None
        What the certificate proves: no selection is worth more. None without a certificate.
    certified_by : str
        ``"cuts"``, ``"lines"``, ``"tangents"`` or ``"selections"``; empty without a certificate.
    no_certificate : str
        Why there is none, to go after "because"; empty where there is one.
    bound : float or None
        The lowest bound that anybody claims; None where nobody does.
    bound_by : str
        Who claims it: the same as `certified_by`, or a solver or ``"branch and bound"``; empty where nobody
        does.
    rows : str
        What the rows are called that the value is counted on.
    within_tolerance : bool
        Whether value and bound, though they differ, are equal to whoever claims the bound.
    sense : str
        ``"max"``, or ``"min"`` of a loss.
    counted_from : str
        What the value is counted from.
    among : str
        Of which selections the bounds are, to go after "selection", such as "of exactly 10 members"; empty:
        of all of the pool.
    """

    objective: str
    value: float
    certified_bound: float | None
    certified_by: str
    no_certificate: str
    bound: float | None
    bound_by: str
    rows: str = "validation rows"
    within_tolerance: bool = False
    sense: str = "max"
    counted_from: str = "votes"
    among: str = ""

    def sentence(self) -> str:
        """Return one sentence without its full stop, the same for every command.

        Examples
        --------
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
        """Whether a bound is tighter than that of the certificate."""
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


def sizes_in_words(least: int, most: int, n_classifiers: int) -> str:
    """Say which sizes selections have; nothing where it is any of the pool.

    Examples
    --------
    >>> sizes_in_words(10, 10, 100), sizes_in_words(1, 10, 100), sizes_in_words(3, 10, 100)
    ('of exactly 10 members', 'of at most 10 members', 'of 3 to 10 members')
    >>> sizes_in_words(3, 100, 100), sizes_in_words(1, 100, 100)
    ('of at least 3 members', '')
    """
    if least == most:
        return f"of exactly {counted(most, 'member')}"
    if most < n_classifiers:
        return f"of at most {counted(most, 'member')}" if least <= 1 else f"of {least} to {most} members"
    return f"of at least {least} members" if least > 1 else ""


def selections_meant(pruner: Any) -> str:
    """Say among which selections a fitted exact pruner chose, to go after "selection"; empty: among all.

    Parameters
    ----------
    pruner : ExactPruner
        Fitted.
    """
    sizes = pruner if pruner.choice_ is None else pruner.choice_.setting
    n_classifiers = len(pruner.selection_) * pruner.max_copies
    most = n_classifiers if sizes.max_size is None else min(sizes.max_size, n_classifiers)
    if hasattr(pruner, "front_"):  # the price that is paid is known of committees of few members
        most = min(most, pruner.front_.extras.get("max_size", most))
    limits = ["cost"] if pruner.max_cost is not None else []
    limits += ["diversity"] if pruner.diversity != "none" else []
    within = f"within the limits on {all_of(limits)}" if limits else ""
    cheaper = ""
    if pruner.result_.proved_by == CHEAPER_WALK:
        objectives = pruner.front_.objectives
        prices = [one.name for one in objectives if one.sense is Sense.MIN and one.name not in MEAN_LOSSES]
        cheaper = f"within its own {all_of(prices)}"
    return " ".join(filter(None, [sizes_in_words(sizes.min_size, most, n_classifiers), within, cheaper]))


def evidence_of(
    result: PrunedSelection, solver: str, among: str = "", rows: str = "validation rows"
) -> Evidence:
    """Return what a result of exact pruning says of itself.

    Parameters
    ----------
    result : PrunedSelection
        With a selection.
    solver : str
        The option `solver` that it was found with.
    among : str
        What :func:`selections_meant` says.
    rows : str, default="validation rows"
        What its value is counted on.
    """
    certified = getattr(result, "certified_bound", None)
    parts, why = "", ""
    if certified is None:
        why = _why_none(solver) if result.counted_from == "votes" else "its tangents are too many to recheck"
        if result.proved_by in {COMMITTEE_WALK, CHEAPER_WALK, BEFORE_WALK}:
            why = "a walk over committees leaves no certificate"
    else:
        parts = certified_by(result.certificate or {})
    largest = result.objective.sense is Sense.MAX
    beyond = certified is None or (result.bound < certified if largest else result.bound > certified)
    return Evidence(
        objective=result.objective.name,
        value=result.value,
        certified_bound=certified,
        certified_by=parts,
        no_certificate=why,
        bound=result.bound,
        bound_by=result.proved_by if beyond else parts,
        rows=rows,
        within_tolerance=result.status is Status.OPTIMAL,
        sense=str(result.objective.sense),
        counted_from=result.counted_from,
        among=among,
    )


def certified_by(certificate: Mapping[str, Any]) -> str:
    """Return what proves the bound of a certificate: one of its fields, empty where none does.

    Examples
    --------
    >>> certified_by({"value": 3, "cuts": []})
    'cuts'
    """
    known = ("tangents", "lines", "selections", "cuts")
    return next((part for part in known if part in certificate), "")


def evidence_of_step(step: PrunedSelection | None, error: float, error_bound: float | None) -> Evidence:
    """Return what is known of an evolved ensemble, by its errors and the exact step that chose it, if any.

    Shares are of one minus the errors. A bound without a step is one of a model from before steps were kept.
    """
    value, rows = 1 - error, "rows that it was evolved on"
    if error_bound is None:
        return evidence_of_rule(value, rows)
    bound = 1 - error_bound
    if step is None or step.certified_bound is None:
        none = dataclasses.replace(evidence_of_rule(value, rows), bound=bound, bound_by="the exact step")
        return dataclasses.replace(none, no_certificate="the model keeps no certificate")
    sizes = (step.certificate or {})["limits"]
    among = sizes_in_words(sizes["min_size"], sizes["max_size"], len(step.mask))
    known = dataclasses.replace(evidence_of(step, AUTO, among), value=value, bound=bound, rows=rows)
    same = step.certified_bound == step.bound
    return dataclasses.replace(known, certified_bound=bound if same else step.certified_bound)


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


def _why_none(solver: str) -> str:
    """Say why there is no certificate."""
    if solver != AUTO:
        return f"{solver_name(solver)} alone leaves no certificate"
    return "the proof of the slope was stopped early or has too many lines to write down"
