"""Fronts of stages, counted again from the rows of their table."""

import contextlib
import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shortlist._bits import unpack
from shortlist._differences import differences
from shortlist._validation import AUTO
from shortlist._words import all_of, counted, number_text
from shortlist.arrays import Labels
from shortlist.errors import ShortlistError, UnmetChoiceError
from shortlist.methods.front_check import ClaimCheck
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.holdout import REACHED, REPEATED, TESTED_APART, stage_table
from shortlist.multistage.predict.stage_answers import answers_as_chosen
from shortlist.multistage.problem.stages import REMOVED
from shortlist.multistage.search.replayed import ERROR_APART
from shortlist.multistage.search.stage_objectives import (
    DEFAULT_OBJECTIVES,
    ERROR_COST,
    OF_PATHS,
    StageProblem,
)
from shortlist.results.front import Front
from shortlist.results.measuring import PAPER, Measuring, TableRows
from shortlist.results.proof import ProofKind, proof_conflict
from shortlist.runs.budget import Budget
from shortlist.tables.splits import Cases

ANSWERED_BY = (
    "classes_", "reject_label_", "n_features_in_", "feature_names_in_", "costs_", "coverage_", "_encoding",
    "_rule", "_early", "errors_", "_models", "guarantee_", "point_", "assignment_", "model_", "notes_",
)  # fmt: skip
"""Attributes of a classifier that decide its answers and describe its points."""

MEASURED = (
    "held_out", "promised", "promises", "promised_instead", "answer_from", "without_promise",
    "n_searched_points", "largest_change",
)  # fmt: skip
"""Names of the facts in a front that come from measurements, not from a search alone."""

CLOSE = 1e-9
"""Relative tolerance for fitted numbers, which may be rounded differently."""

N_SAMPLED = 1000
"""Number of random stage assignments that a complete front is compared with."""

Outcome: TypeAlias = tuple[Fraction, Fraction, Fraction]
"""Coverage, conclusive accuracy and acquisition cost as exact fractions."""


@dataclass(frozen=True)
class StageCheck(ClaimCheck):
    """Findings of the recheck of a front of stages."""

    n_rows: int
    """Number of validation rows on which each point was counted."""
    uncounted: tuple[str, ...] = ()
    """Objectives that only the search's own code counted again."""
    is_found_again: bool = True
    """Whether the repeated search found the same front."""
    is_tested_apart: bool = False
    """Whether the points were measured on rows of another file."""
    n_sampled: int = 0
    """Number of random stage assignments that were compared with a complete front, without any better
    assignment.
    """
    seconds: float = 0.0
    """Wall-clock time of the recheck in seconds."""

    @property
    def status(self) -> str:
        """Status of the recheck: ``invalid``, ``rechecked`` or ``counted``.

        ``counted``: the repeated search found another front, or only its own code counted an objective again.
        """
        if self.failures:
            return "invalid"
        return "rechecked" if self.is_found_again and not self.uncounted else "counted"

    def sentences(self) -> list[str]:
        """Return sentences on the checks that were made and their evidence; no sentence if a claim failed."""
        if self.failures:
            return []
        points, rows = counted(self.n_points, "point"), counted(self.n_rows, "validation row")
        said = [f"All classifiers were fitted again, and {points} counted row by row on {rows}."]
        if self.uncounted:
            said.append(f"Only the search's own code counted {all_of(self.uncounted)} again.")
        if not self.is_found_again:
            said.append(
                "The repeated search found other points, so figures of held-out rows were not compared."
            )
        if self.is_tested_apart:
            said.append("Figures of the test rows were not checked, as these are no part of the table.")
        if self.claim is not ProofKind.COMPLETE:
            return [*said, "The front claims nothing about other stage assignments."]
        said.append("The search was repeated and found the same front, which rests on its own bounds.")
        if self.n_sampled:
            said.append(
                f"Of {self.n_sampled:,} random stage assignments, counted row by row, none is better than the"
                " front."
            )
        return said


def recheck_stages(
    classifier: MultiStageClassifier,
    X: Any,
    y: Labels,
    *,
    cases: Cases | None = None,
    n_sampled: int = N_SAMPLED,
    budget: Budget | None = None,
) -> StageCheck:
    """Fit and search again as :func:`~shortlist.multistage.holdout.stage_table` did, and count every point.

    Coverage, conclusive accuracy and acquisition cost are counted row by row in fractions, without the
    search's kernels. A complete front must be found again, and random stage assignments must not be better.
    Raises ShortlistError if the recheck was stopped.

    `classifier`: fitted by ``stage_table``, or read from a file of ``shortlist stage``. `X`, `y`, `cases`:
    the table that it was fitted on. `n_sampled`: number of random stage assignments.
    """
    budget = budget or Budget()
    again, extras = clone(classifier), classifier.front_.extras
    apart = TESTED_APART in extras
    with contextlib.suppress(UnmetChoiceError):  # it has its front then, which is what is looked at
        stage_table(
            X, y, again, seed=int(classifier.random_state), cases=cases, anyway=True,
            measuring=Measuring(PAPER if "held_out" in extras else AUTO, TableRows(X, y) if apart else None),
            budget=Budget(report=budget.report, cancellation=budget.cancellation),
        )  # fmt: skip
    if budget.cancellation.cancelled:
        raise ShortlistError("the front was not searched again to its end, so nothing was compared.")
    front, problem = classifier.front_, again.problem_
    promises = "promises" in front.extras
    counted_here = {*DEFAULT_OBJECTIVES, ERROR_COST}
    uncounted = tuple(one for one in problem.names if not (one in counted_here or one.startswith(OF_PATHS)))
    facts = StageCheck((), len(front), front.proof.kind, len(problem.labels), uncounted)
    failures = tuple(filter(None, [proof_conflict(front)])) or _other_values(problem, front)
    if (front.proof.kind is ProofKind.COMPLETE or promises) and not failures:
        failures = _other_points(front, again.front_)
    sampled = front.proof.kind is ProofKind.COMPLETE and not uncounted
    if sampled and not failures:
        failures = better_samples(problem, front, n_sampled)
        facts = dataclasses.replace(facts, n_sampled=n_sampled)
    same = _other_points(front, again.front_) == ()
    if not failures:
        failures = tuple(_other_parts(classifier, again, same=same))
    facts = dataclasses.replace(facts, is_found_again=same, is_tested_apart=apart)
    return dataclasses.replace(facts, failures=failures, seconds=budget.elapsed)


def _other_parts(
    classifier: MultiStageClassifier, again: MultiStageClassifier, *, same: bool
) -> Iterator[str]:
    """Yield the names of answers and facts that differ after fitting and searching again.

    `same`: whether both searches found the same front. If not, the models behind the points are fitted again,
    and measurements on other rows are not compared.
    """
    front = classifier.front_
    if not same:
        again.front_ = front
        again.keep_models()
    if hasattr(classifier, "point_"):
        again.use(int(classifier.point_))
    for name in ANSWERED_BY:
        kept, meant = (getattr(one, name, None) for one in (classifier, again))
        for part in differences(kept, meant, name, within=CLOSE):
            yield f"`{part}` is not what fitting and searching again gives"
    apart = {"held_out", REACHED} if TESTED_APART in front.extras else set()
    told = [*MEASURED, *(name for name in (REPEATED, REACHED, ERROR_APART) if name in front.extras)]
    measured = [name for name in told if name not in apart]
    kept, meant = ({name: one.front_.extras.get(name) for name in measured} for one in (classifier, again))
    for part in differences(kept, meant, "front_.extras", within=CLOSE):
        yield f"`{part}` is not what measuring again gives"
    for part in differences(front.objectives, again.front_.objectives, "front_.objectives"):
        yield f"`{part}` is not what the options say"
    yield from _other_claims(front, again)


def _other_claims(front: Front, again: MultiStageClassifier) -> Iterator[str]:
    """Yield the names of claims in a front that a search with the same options cannot give."""
    if front.candidates != tuple(again.costs_.names):
        yield "the features of the front are called otherwise than those of the table"
    if ((front.decisions < REMOVED) | (front.decisions >= again.problem_.max_stages)).any():
        yield "a feature of a point is bought at a stage that there is not"
    if front.proof.kind not in {ProofKind.APPROXIMATE, again.front_.proof.kind}:
        yield f"the front is called {front.proof.kind}, which the same search does not claim"
    if not (front.proof.kind is ProofKind.COMPLETE or front.proof.missing is None):
        yield "the front says what may be missing, which no search of stages knows"


def outcome(problem: StageProblem, assignment: NDArray[np.int8], threshold: float | None = None) -> Outcome:
    """Return the outcome of a stage assignment, row by row from the definitions (Eqs. 3 to 5).

    `threshold`: least probability of an answer for a promise, in addition to the thresholds of the classes.
    None: no promise.
    """
    conclusive, credit, paid = 0, 0, 0
    stages = list(_stages(problem, assignment, threshold))
    for row, label in enumerate(problem.labels.tolist()):
        confident, right, price = next((stage for stage in stages if stage[0][row]), stages[-1])
        paid += price
        if confident[row]:
            conclusive += 1
            credit += problem.unit if right[row] else problem.unit - int(problem.penalties[label])
    n_rows = len(problem.labels)
    return (
        Fraction(conclusive, n_rows),
        Fraction(credit, problem.unit * conclusive) if conclusive else Fraction(0),
        Fraction(paid, n_rows * problem.costs.scale),
    )


def error_cost(problem: StageProblem, assignment: NDArray[np.int8]) -> Fraction:
    """Return the mean cost of errors, row by row from probabilities and thresholds."""
    assert problem.errors is not None
    decisions, errors = problem.decisions, problem.errors
    stages: list[tuple[Any, Any, tuple[float, ...]]] = []
    gaps = decisions.subclassifiers.rows.encoding.gaps(decisions.subclassifiers.rows.validation_rows)
    last = int(assignment.max())
    for stage in range(last + 1):
        known = (assignment >= 0) & (assignment <= stage)
        rule = errors.last_rule if stage == last else decisions.rule
        probabilities = decisions.subclassifiers.validation_probabilities(known).tolist()
        stages.append((probabilities, (~gaps[:, known].all(axis=1)).tolist(), rule.thresholds))
    total = 0
    for row, label in enumerate(problem.labels.tolist()):
        cost = errors.unanswered
        for probabilities, has_value, thresholds in stages:
            own = probabilities[row]
            said = own.index(max(own))
            if has_value[row] and own[said] >= thresholds[said]:
                cost = 0 if said == label else errors.losses[label]
                break
        total += cost
    return Fraction(total, len(problem.labels) * errors.scale)


def _stages(
    problem: StageProblem, assignment: NDArray[np.int8], threshold: float | None
) -> Iterator[tuple[list[bool], list[bool], int]]:
    """Yield for each stage the confident rows, the right rows, and the price up to the stage."""
    for stage in range(int(assignment.max()) + 1):
        known = (assignment >= 0) & (assignment <= stage)
        price = int(problem.costs.price(known))
        if threshold is None:
            slot = int(problem.decisions.slots(known[None, :])[0])
            confident, right = problem.decisions.bits[slot][:2]
            n = len(problem.labels)
            yield unpack(confident, n).tolist(), unpack(right, n).tolist(), price
        else:
            answers = answers_as_chosen(problem, known)
            yield (answers.scores >= threshold).tolist(), answers.right.tolist(), price


def _exact(
    problem: StageProblem, assignment: NDArray[np.int8], threshold: float | None = None
) -> dict[str, Fraction]:
    """Return the objectives that are counted in fractions, by name."""
    found = dict(zip(DEFAULT_OBJECTIVES, outcome(problem, assignment, threshold), strict=True))
    found |= {
        name: _of_path(problem, assignment, name) for name in problem.names if name.startswith(OF_PATHS)
    }
    return found if problem.errors is None else found | {ERROR_COST: error_cost(problem, assignment)}


def _of_path(problem: StageProblem, assignment: NDArray[np.int8], name: str) -> Fraction:
    """Return the price, or an attribute, of a row that goes through all stages, summed item by item."""
    costs, wanted = problem.costs, name.removeprefix(OF_PATHS)
    stage_of = {place: int(stage) for place, stage in enumerate(assignment) if stage >= 0}
    opened: dict[
        int, int
    ] = {}  # each group, by its place after the features, in the first stage that needs it
    for feature, stage in stage_of.items():
        for group in np.flatnonzero(costs.opens[feature]).tolist():
            opened[group] = min(stage, opened.get(group, stage))
    if wanted == "acquisition_cost":
        total = sum(int(costs.prices[one]) for one in stage_of) + sum(
            int(costs.first_prices[one]) for one in opened
        )
        return Fraction(total, costs.scale)
    attribute = next(one for one in costs.attributes if one.name == wanted)
    items = stage_of | {len(costs.names) + group: stage for group, stage in opened.items()}
    longest: dict[int, int] = {}
    for item, stage in items.items():
        longest[stage] = max(longest.get(stage, 0), int(attribute.values[item]))
    return Fraction(sum(longest.values()), attribute.scale)


def _other_values(problem: StageProblem, front: Front) -> tuple[str, ...]:
    said = []
    thresholds = front.extras.get("answer_from") or [None] * len(front)
    for number, assignment in enumerate(front.decisions.astype(np.int8)):
        exact = _exact(problem, assignment, thresholds[number])
        for name, value in zip(front.names, front.values[number].tolist(), strict=True):
            if name in exact and not math.isclose(exact[name], value, rel_tol=1e-12, abs_tol=1e-12):
                counted_value = number_text(float(exact[name]))
                said.append(f"point {number} has {name} {number_text(value)}, counted {counted_value}")
    return tuple(said)


def _other_points(front: Front, again: Front) -> tuple[str, ...]:
    claimed, found = ({tuple(row) for row in each.values.tolist()} for each in (front, again))
    said = [
        f"the repeated search found a point with {_text(front, point)}, which the front lacks"
        for point in sorted(found - claimed)
    ]
    said += [
        f"the repeated search did not find the point with {_text(front, point)}"
        for point in sorted(claimed - found)
    ]
    return tuple(said)


def better_samples(problem: StageProblem, front: Front, n_sampled: int) -> tuple[str, ...]:
    """Return findings about random stage assignments that are better than every point of the front.

    The draw has a fixed seed, so that another recheck draws the same assignments.
    """
    signs = [objective.sign for objective in front.objectives]

    def minimised(assignment: NDArray[np.int8]) -> list[Fraction]:
        exact = _exact(problem, assignment)
        return [sign * exact[name] for sign, name in zip(signs, front.names, strict=True)]

    points = [minimised(assignment) for assignment in front.decisions.astype(np.int8)]
    rng = np.random.default_rng(0)
    for _ in range(n_sampled):
        drawn = _drawn(problem, rng)
        mine = minimised(drawn)
        if not any(all(p <= m for p, m in zip(point, mine, strict=True)) for point in points):
            values = [float(sign * value) for sign, value in zip(signs, mine, strict=True)]
            return (f"stages {drawn.tolist()} have {_text(front, values)}, which the front lacks",)
    return ()


def _drawn(problem: StageProblem, rng: np.random.Generator) -> NDArray[np.int8]:
    """Return a random assignment without empty stages, ``(n_features,)``."""
    n = len(problem.costs.names)
    drawn = rng.integers(REMOVED if problem.removal else 0, problem.max_stages, n)
    drawn[rng.integers(n)] = 0  # somebody is bought
    used = np.unique(drawn[drawn != REMOVED])
    return np.where(drawn == REMOVED, REMOVED, np.searchsorted(used, drawn)).astype(np.int8)


def _text(front: Front, values: Any) -> str:
    return ", ".join(f"{name} {number_text(value)}" for name, value in zip(front.names, values, strict=True))
