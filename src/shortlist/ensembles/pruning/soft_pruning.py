"""From the name of an objective to the members whose mean probability is best for it."""

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.averaging.mean_pruning import find_means, prune_means
from shortlist.ensembles.averaging.mean_search import MeanEffort
from shortlist.ensembles.goals.mean_goals import BRIER, LOG_LOSS, MEAN_LOSSES, MeanGoal, mean_goal
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs.incumbent import PrunedSelection
from shortlist.ensembles.pruning.evidence import AUTO
from shortlist.ensembles.pruning.objective_choice import (
    ENOUGH_ROWS,
    MOST_REPEATS,
    Choice,
    Setting,
    best_setting,
)
from shortlist.ensembles.pruning.pruning import CHOICE_SHARE, ObjectiveName
from shortlist.ensembles.votes.soft_votes import SoftVotes, mean_decisions
from shortlist.runs import Progress
from shortlist.runs.budget import Budget
from shortlist.tables.splits import deal_classes

MEAN_OBJECTIVES = (LOG_LOSS, BRIER, "+slope-8", "")
"""What is compared: losses, and what may follow the metric; the last is the metric alone."""


def prune_soft(
    votes: SoftVotes,
    objective: ObjectiveName,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    positive: int | None = None,
) -> tuple[PrunedSelection, MeanGoal, Choice | None]:
    """Return the selection whose mean probabilities are best, the goal, and the choice where there was one.

    Parameters
    ----------
    votes : SoftVotes
        Validation rows.
    objective : str or mapping
        As of :func:`shortlist.ensembles.goals.mean_goals.mean_goal`; with ``+auto``, or ``auto``, log loss,
        Brier score, the metric or its slope, whichever does best on rows that are held out.
    limits : SelectionLimits
        Size and cost.
    budget : Budget, optional
        For all of it; default no limit.
    positive : int, optional
        With two classes the index of the positive one.

    Raises
    ------
    BadInputError
        If the objective cannot be used.
    """
    budget = budget or Budget()
    metric = soft_metric(objective)
    choice = None
    if asks_for_choice(objective):
        goal = mean_goal(metric, votes, positive=positive)
        choice = _choose(votes, metric, goal, limits, budget.until(CHOICE_SHARE), positive=positive)
        objective = named_objective(metric, choice.setting.second)
    goal = mean_goal(objective, votes, positive=positive)
    return prune_means(votes, goal, limits, budget), goal, choice


def asks_for_choice(objective: ObjectiveName) -> bool:
    """Whether an objective is to be chosen by cross-validation."""
    return isinstance(objective, str) and (objective == AUTO or objective.endswith(f"+{AUTO}"))


def soft_metric(objective: ObjectiveName) -> ObjectiveName:
    """Return what decisions are judged by: the part before ``+``, and accuracy for ``auto`` and for losses.

    Examples
    --------
    >>> soft_metric("balanced-accuracy+slope-8"), soft_metric("log-loss")
    ('balanced-accuracy', 'accuracy')
    """
    if isinstance(objective, Mapping):
        return objective
    first = objective.replace("_", "-").partition("+")[0]
    return "accuracy" if first == AUTO or first in MEAN_LOSSES else first


def named_objective(metric: ObjectiveName, second: str) -> ObjectiveName:
    """Return the objective that a setting stands for."""
    return second if second in MEAN_LOSSES or not isinstance(metric, str) else f"{metric}{second}"


def _choose(
    votes: SoftVotes,
    metric: ObjectiveName,
    of: MeanGoal,
    limits: SelectionLimits,
    budget: Budget,
    *,
    positive: int | None,
) -> Choice:
    """Choose the objective whose members do best on rows that are held out, the first within one error."""
    options = [
        Setting(second, limits.min_size, limits.max_size)
        for second in MEAN_OBJECTIVES
        if second in MEAN_LOSSES or isinstance(metric, str)
    ]
    sizes = np.bincount(votes.labels)
    n_folds = min(5, int(sizes[sizes > 0].min()))
    if n_folds < 2:
        return Choice(options[0], (), "a class has a single row, too few to hold any out")
    n_repeats = min(MOST_REPEATS, -(-ENOUGH_ROWS // votes.n_samples))
    scores: list[list[float]] = []
    for number, (kept, held) in enumerate(_folds(votes, n_folds, n_repeats, budget.seed), start=1):
        budget.report(Progress("choosing the objective", number - 1, n_folds * n_repeats))
        learned = votes.of_rows(kept)
        goals = [
            mean_goal(named_objective(metric, one.second), learned, positive=positive) for one in options
        ]
        found = [find_means(learned, goal, limits, budget, MeanEffort(kicks=1)) for goal in goals]
        if budget.stopped:
            break
        scores.append([_score(votes.of_rows(held), of, one) for one in found])
    return best_setting(options, np.array(scores).reshape(len(scores), len(options)))


def _folds(
    votes: SoftVotes, n_folds: int, n_repeats: int, seed: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the rows of all folds but one, and of that one; each class is dealt out evenly."""
    rng = np.random.default_rng(seed)
    for _ in range(n_repeats):
        fold_of = deal_classes(votes.labels, n_folds, rng)
        for fold in range(n_folds):
            yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)


def _score(held: SoftVotes, of: MeanGoal, found: Mask | None) -> float:
    """Return what the metric would be if all rows were like those held out, NaN without a selection."""
    if found is None:
        return math.nan
    right = np.diag(mean_decisions(held, found, of.gains))
    sizes = np.bincount(held.labels, minlength=held.n_classes)
    return float((of.gains * right).sum() / max(1, int((of.gains * sizes).sum())))
