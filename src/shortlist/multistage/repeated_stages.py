"""Repeated choice of stages: a point of the front is chosen on half of the rows, and answers the other half.

For every set of features each row has an out-of-fold answer, so nothing is fitted again.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import UnmetChoiceError
from shortlist.multistage.predict.point_choice import choose_point
from shortlist.multistage.problem.reject_rules import answers_by
from shortlist.multistage.search.replayed import decided
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.results.repeated_choice import choose_again, deal_parts, measured_rows
from shortlist.tables.splits import Cases, RowNumbers

if TYPE_CHECKING:
    from shortlist.multistage.estimators import MultiStageClassifier


@dataclass(frozen=True, eq=False)
class RepeatedStages:
    """Decisions about each row by points chosen without it, ``(times * n_rows,)``."""

    said: NDArray[np.int64]
    """Class indices of the answers, ``(times * n_rows,)``; -1 for no answer."""
    truth: NDArray[np.int64]
    costs: NDArray[np.float64]
    all_said: NDArray[np.int64]
    """Answers of a single stage that buys every feature, as class indices."""
    times: int
    """Number of times that each row is measured."""
    possible: tuple[float, float]
    """Least and largest price of a row."""


def repeat_stages(
    classifier: "MultiStageClassifier", seed: int, *, cases: Cases | None = None
) -> RepeatedStages:
    """Choose a point on each half of the rows, and measure it on the other half.

    The point is chosen among the points of the front, without a new search (decision 136 measures this).
    Where `pick` is the number of a point, the nearest point to the predicting point is taken from the half's
    front. The nearest point is also taken where no point keeps the limits on a half.

    `classifier`: fitted, with a chosen point. `seed`: seed of the parts. `cases`: cases of the rows that fit.
    """
    problem = classifier.problem_
    whole, chosen = classifier.front_, classifier.assignment_
    truth = problem.labels
    parts = deal_parts(truth, seed, _validation_cases(problem, cases), n_candidates=len(whole))
    everything = np.ones(problem.n_features, dtype=bool)
    probabilities = problem.decisions.subclassifiers.validation_probabilities(everything)
    guesses = answers_by(probabilities, problem.decisions.last_rule)

    def answer(kept: RowNumbers, held: RowNumbers) -> dict[str, NDArray[Any]]:
        half = problem.counting(kept)
        front = front_on(half, whole)
        point = _chosen(front, classifier, chosen, half)
        said, paid = decided(problem, front.decisions[point].astype(np.int8))
        return {"said": said[held], "truth": truth[held], "paid": paid[held], "all": guesses[held]}

    found = choose_again(parts, answer)
    prices = problem.costs.price(np.eye(problem.n_features, dtype=bool)) / problem.costs.scale
    return RepeatedStages(
        found["said"], found["truth"], found["paid"], found["all"],
        len(found["all"]) // len(measured_rows(parts)),
        (float(prices.min()), problem.costs.total / problem.costs.scale),
    )  # fmt: skip


def front_on(half: StageProblem, whole: Front) -> Front:
    """Return the points of a front that are non-dominated on the rows that count in `half`.

    The objectives are taken from the whole front, as a standard error refers to all rows.
    """
    assignments = whole.decisions.astype(np.int8)
    measures = half.measures(assignments)
    best = half.best(measures)
    front = half.front(assignments[best], measures[best], Proof(ProofKind.APPROXIMATE))
    return replace(front, objectives=whole.objectives)


def _chosen(
    front: Front, classifier: "MultiStageClassifier", chosen: NDArray[np.int8], half: StageProblem
) -> int:
    if isinstance(classifier.pick, str):
        try:
            return choose_point(front, classifier.pick, classifier.limits)
        except UnmetChoiceError:
            pass
    own = half.values(half.measures(chosen[None, :]))[0]
    spread = np.ptp(np.vstack([front.values, own]), axis=0)
    apart = (front.values - own) / np.where(spread > 0, spread, 1.0)
    return int((apart**2).sum(axis=1).argmin())


def _validation_cases(problem: StageProblem, cases: Cases | None) -> Cases | None:
    fold_of = problem.decisions.subclassifiers.rows.fold_of
    if cases is None or fold_of is None:
        return None
    order = np.argsort(fold_of, kind="stable")
    return np.asarray(cases)[order[fold_of[order] >= 0]]
