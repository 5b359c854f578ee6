"""From the name of an objective to the members whose mean probability is best for it."""

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import AUTO
from shortlist.arrays import Mask
from shortlist.ensembles.averaging.mean_pruning import prune_means
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.goals.mean_goals import LOG_LOSS, MEAN_LOSSES, MeanGoal, mean_goal
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.pruning.pruning import ObjectiveName
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.runs.budget import Budget

FEW = 10
"""``auto`` takes one of so many classifiers."""

FEWEST = 5
"""But not fewer than these, nor more than half of a small pool."""

WHY_FEW = "the log loss of a tenth of the pool did best on other tables"


def prune_soft(
    votes: SoftVotes,
    objective: ObjectiveName,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    positive: int | None = None,
    max_copies: int = 1,
) -> tuple[PrunedSelection, MeanGoal, SelectionLimits]:
    """Return the selection whose mean probabilities are best, the goal, and the limits that it keeps.

    Parameters
    ----------
    votes : SoftVotes
        Validation rows.
    objective : str or mapping
        As of :func:`shortlist.ensembles.goals.mean_goals.mean_goal`; with ``+auto``, or ``auto``, the log
        loss of as many members as :func:`few_members` says, which decide for what gains most of the metric.
    limits : SelectionLimits
        Size and cost; a member that is taken twice counts twice.
    budget : Budget, optional
        For all of it; default no limit.
    positive : int, optional
        With two classes the index of the positive one.
    max_copies : int, default=1
        How often a classifier may be taken, which weighs it so. The selection is then of so many copies of
        the pool, one after the other, the first ones first; proof and certificate are of that pool.

    Raises
    ------
    BadInputError
        If the objective cannot be used.
    """
    budget = budget or Budget()
    if asks_for_choice(objective):
        limits = few_members(limits, votes.n_classifiers)
    goal = soft_goal(votes, objective, positive=positive)
    result = prune_means(votes.repeated(max_copies), goal, limits, budget)
    return _first_copies_first(result, max_copies), goal, limits


def taken_copies(mask: Mask, max_copies: int) -> NDArray[np.int64]:
    """Return how often each classifier is taken, from a selection of copies of the pool."""
    return np.asarray(mask.reshape(max_copies, -1).sum(axis=0), dtype=np.int64)


def _first_copies_first(result: PrunedSelection, max_copies: int) -> PrunedSelection:
    """Exchange copies, which are equal, for those that come first."""
    if max_copies == 1:
        return result
    mask = (taken_copies(result.mask, max_copies) > np.arange(max_copies)[:, None]).ravel()
    certificate = result.certificate
    if certificate is not None:
        certificate = certificate | {"members": np.flatnonzero(mask).tolist()}
    return dataclasses.replace(result, mask=mask, certificate=certificate)


def few_members(limits: SelectionLimits, n_classifiers: int) -> SelectionLimits:
    """Return limits for a tenth of a pool, at least five members, of a small pool half, within those given.

    The mean of few members that are best together is worse on new rows than that of some more, as the study
    of voting found; more than a tenth did no better. Where a budget allows fewer than twice as many of the
    cheapest, half of those are the least number, so that there is something to choose.

    Examples
    --------
    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> [few_members(selection_limits(n), n).max_size for n in (1, 4, 10, 40, 100)]
    [1, 2, 5, 5, 10]
    """
    if limits.conflict():
        return limits
    few = max(-(-n_classifiers // FEW), min(FEWEST, -(-n_classifiers // 2)))
    most = max(limits.min_size, min(few, limits.max_size))
    least = most
    if limits.costs is not None:
        affordable = int((np.cumsum(np.sort(limits.costs)) <= limits.budget).sum())
        least = max(limits.min_size, min(most, affordable // 2), 1)
    return dataclasses.replace(limits, min_size=min(least, most), max_size=most)


def soft_goal(votes: SoftVotes, objective: ObjectiveName, *, positive: int | None = None) -> MeanGoal:
    """Return the goal of an objective, which with ``auto`` is the log loss and decides by the metric.

    Raises
    ------
    BadInputError
        If the objective cannot be used.
    """
    if not asks_for_choice(objective):
        return mean_goal(objective, votes, positive=positive)
    metric = mean_goal(soft_metric(objective), votes, positive=positive)
    return dataclasses.replace(mean_goal(LOG_LOSS, votes), gains=metric.gains)


def asks_for_choice(objective: ObjectiveName) -> bool:
    """Whether an objective is ``auto``, or ends so."""
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
