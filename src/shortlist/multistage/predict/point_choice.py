"""Choice of the point that predicts from a front of stage assignments, and notes on the chosen point."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice, as_count
from shortlist._words import any_of, did_you_mean
from shortlist.arrays import Mask
from shortlist.errors import BadInputError, OutOfReachError, UnmetChoiceError
from shortlist.multistage.search.replayed import ERROR_APART
from shortlist.multistage.search.stage_objectives import ERROR_COST, StageProblem, merits
from shortlist.results.front import Front
from shortlist.results.picking import (
    PICK_RULES,
    LimitsAsked,
    cheapest_near_best,
    numbered_point,
    pick_index,
    within_limits,
)

USUAL = "one-se"
PICKS = (USUAL, "norm", *PICK_RULES)
"""Names of the rules that pick a point."""

SAVED_ON = ("acquisition_cost", "worst_case_cost", "evaluation_cost", "stages", "false_positive_rate")
"""Objectives that ``one-se`` saves on: the first objective of this list that is in use, otherwise the first
attribute in use.
"""

LEAST_COVERAGE = 0.5
"""Least share of answered rows; a sentence points out a choice with a smaller share."""


def choose_point(front: Front, pick: str | int, limits: LimitsAsked = None) -> int:
    """Return the index of the point that a rule picks among the points within the limits.

    ``one-se`` is the one-standard-error rule (Section 3.4.3 of :cite:t:`Breiman1984`). It takes the cheapest
    of the points whose share of right answers is at most one standard error below the largest share. The
    share of right answers is coverage times conclusive accuracy, so a rejected row is not right. Where one of
    these two objectives is missing, ``one-se`` is the rule ``ideal``. Where errors have costs, ``one-se``
    takes the cheapest of the points whose cost of errors is at most one standard error of the difference
    above the least cost. ``norm`` is the paper's fitness, the largest ℓ2 norm of coverage, accuracy and
    inverse cost: this rule may choose a point that answers nearly nothing, at nearly no cost. The other rules
    are those of ``Front.pick``. Raises UnmetChoiceError if there is no point of the given index, or no point
    is within the limits.

    `front`: front of stage assignments, with at least one point. `pick`: one of :data:`PICKS`, or the index
    of a point, from 0.
    """
    try:
        within = within_limits(front, limits)
    except BadInputError as error:
        raise UnmetChoiceError(str(error)) from None
    if not isinstance(pick, str):
        return numbered_point(front, pick, within)
    if pick == USUAL:
        order = _one_standard_error(front, within)
        if order is not None:
            return order
        pick = "ideal"
    if pick == "norm":
        norms = np.linalg.norm(merits(front.names, front.values), axis=1)
        return int(np.argmax(np.where(within, norms, -1.0)))
    return pick_index(front, pick, limits=limits)


def check_choice(problem: StageProblem, pick: str | int, limits: LimitsAsked) -> None:
    """Raise an error, before any search, if no front of the problem can meet `pick` and `limits`.

    Raises BadInputError if the rule is unknown, or a limit names no objective. Raises OutOfReachError if a
    limit is out of its objective's reach.
    """
    if isinstance(pick, str):
        as_choice(pick, "pick", PICKS)
    else:
        as_count(pick, "pick", at_least=0)
    names = list(limits) if isinstance(limits, Mapping) else [limit.name for limit in limits or ()]
    for name in names:
        if name not in problem.names:
            raise BadInputError(
                f"`limits` names {name!r}, but the objectives are "
                f"{any_of(problem.names)}.{did_you_mean(name, problem.names)}"
            )
    ends = _reach(problem)
    for limit in [] if isinstance(limits, Mapping) else limits or ():
        low, high = ends[limit.name]
        reached = limit.met_by(np.array([low, high]), None).any()
        if not (reached if limit.sign else low <= limit.value <= high):
            raise OutOfReachError(
                f"no stage assignment can have {limit.name} {limit.operator} {limit.value}: it is between "
                f"{low:g} and {high:g}. Relax the limit."
            )


def low_coverage(share: float, *, promised: bool = False) -> str:
    """Return a sentence about a choice that answers less than half of the rows; empty for other choices.

    `share`: coverage on the selection rows. `promised`: whether the choice keeps a promise.

    >>> low_coverage(0.8)
    ''
    """
    if share >= LEAST_COVERAGE:
        return ""
    advice = (
        "To answer more, promise a smaller accuracy, or bring more rows"
        if promised
        else "Take a lower confidence, another pick, or a limit such as coverage>=0.5"
    )
    return (
        f"the chosen point answers {100 * share:.3g} % of the selection rows, and rejects the others. "
        f"{advice}."
    )


def _one_standard_error(front: Front, within: Mask) -> int | None:
    """Return the index of the cheapest point with about as many right answers as the best point.

    None where the front lacks the objectives that count right answers.
    """
    if ERROR_COST in front.names and ERROR_APART in front.extras:
        return _cheapest_of_few_errors(front, within)
    if not {"coverage", "conclusive_accuracy"} <= set(front.names):
        return None
    coverage, accuracy = (
        front.values[:, front.names.index(name)] for name in ("coverage", "conclusive_accuracy")
    )
    right = np.where(within, coverage * accuracy, -1.0)
    n_rows = front.objectives[front.names.index("coverage")].scale or 1
    error = np.sqrt(right.max() * (1 - right.max()) / n_rows)
    return cheapest_near_best(-right, _prices(front, {"coverage", "conclusive_accuracy"}), error)


def _cheapest_of_few_errors(front: Front, within: Mask) -> int:
    errors = np.where(within, front.values[:, front.names.index(ERROR_COST)], np.inf)
    return cheapest_near_best(errors, _prices(front, {ERROR_COST}), np.array(front.extras[ERROR_APART]))


def _prices(front: Front, told: set[str]) -> NDArray[np.float64]:
    """Return each point's value of the objective to save on, where less is better.

    The value is 0 without such an objective. `told`: objectives of quality, on which the rule does not save.
    """
    for name in dict.fromkeys((*SAVED_ON, *front.names)):
        for one in front.objectives:
            if one.name == name not in told:
                return front.values[:, front.names.index(name)] * (1 if one.sense == "min" else -1)
    return np.zeros(len(front))


def _reach(problem: StageProblem) -> dict[str, tuple[float, float]]:
    """Return the least and the largest possible value of each objective."""
    return {
        name: (
            0 if one.least is None else one.least(problem),
            1 if one.most is None else one.most(problem),
        )
        for name, one in problem.table.items()
    }
