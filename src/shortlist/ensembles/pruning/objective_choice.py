"""Which objective generalises: a choice by cross-validation within the validation rows."""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.arrays import Counts, Mask
from shortlist.ensembles.goals.class_weights import weights_of
from shortlist.ensembles.goals.margin_worth import MarginUtility, split_objective
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.pruning.problems import PluralityProblem, ThresholdProblem, problem_of
from shortlist.ensembles.search.tabu_search import search_selection
from shortlist.ensembles.votes.binary_votes import Votes, confusion
from shortlist.ensembles.votes.class_votes import ClassVotes
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from
from shortlist.runs import Finished, Progress
from shortlist.runs.budget import Budget
from shortlist.tables.splits import deal_classes

CLASS_STEP_COST = 10
"""A move by margins of several classes looks at all rows, and counts as so many others."""

SECOND_PARTS = ("+slope-8", "+margin", "+slope-16", "+slope-4", "")
"""What may follow the metric, in the order in which they did best on five tables; the last is the metric
alone.
"""

ENOUGH_ROWS = 600
"""Rows that are held out in all, over the repeats, for small tables."""

MOST_REPEATS = 4
"""How often the rows are dealt anew at most."""

_STAGE = "choosing the objective"


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class Setting:
    """An objective and limits on the number of members, as tried or chosen.

    Attributes
    ----------
    second : str
        What follows the metric, such as ``"+margin"``; empty for the metric alone.
    min_size, max_size : int
        Least and most members.
    """

    second: str
    min_size: int
    max_size: int

    @property
    def utility(self) -> MarginUtility | None:
        """The margin utility, None for the metric alone."""
        return split_objective(f"metric{self.second}" if self.second else "metric")[1]


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class Tried:
    """A setting and how it did on held-out rows.

    Attributes
    ----------
    setting : Setting
    score : float
        The metric on rows that the selections were not made on, in the user's unit.
    error : float
        Standard error of the mean over folds; NaN for a single one.
    """

    setting: Setting
    score: float
    error: float


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class Choice:
    """The setting that was chosen, and all that were tried.

    Attributes
    ----------
    setting : Setting
    tried : tuple of Tried
        Best first; empty when nothing could be compared.
    reason : str
        Why nothing could be compared; empty otherwise.
    """

    setting: Setting
    tried: tuple[Tried, ...]
    reason: str = ""


def choose_objective(
    votes: Votes | ClassVotes,
    metric: str | Mapping[str, float],
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    settings: Sequence[Setting] | None = None,
    n_folds: int = 5,
    n_repeats: int | None = None,
    max_steps: int = 600,
) -> Choice:
    """Choose the objective and size whose selections do best on rows held out of the validation rows.

    Stratified folds: a search on all but one, the metric on that one, in turn, for every setting on the same
    folds. The first setting in order wins whose mean is within one standard error of the best: taking the
    best itself follows the noise of small folds, and did worse on five tables.

    Parameters
    ----------
    votes : Votes or ClassVotes
        Validation rows.
    metric : str or mapping
        What the user is after: a name in :data:`shortlist.ensembles.goals.weights.PRUNING_OBJECTIVES` or
        :data:`shortlist.ensembles.goals.class_weights.CLASS_OBJECTIVES`, such as ``"accuracy"``, or weights.
    limits : SelectionLimits
        Size, cost and diversity; the latter two stay as they are.
    budget : Budget, optional
        Its seed is that of the folds and the searches. Once it is over no fold is begun, and whole folds
        count only. Progress is told in folds, and its study keeps each. Default no limit.
    settings : sequence of Setting, optional
        What to compare; default :func:`usual_settings`.
    n_folds : int, default=5
        Folds, at most as many as the smallest class has rows; of several, classes with a single row do not
        count.
    n_repeats : int, optional
        How often the rows are dealt anew; default so often that 600 rows are held out, at most 4 times.
    max_steps : int, default=600
        Of each search.

    Returns
    -------
    Choice
        With a reason and the first setting where a class has a single row, of several all but one class, no
        fold was finished in time, or
        no selection keeps the limits.

    Raises
    ------
    BadInputError
        If the metric is unknown, or a number is out of range.

    Examples
    --------
    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.binary_votes import merge_rows
    >>> votes = merge_rows([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1]], [1, 1, 1, 0, 0])
    >>> choice = choose_objective(votes, "accuracy", selection_limits(3), max_steps=20)
    >>> choice.setting, len(choice.tried)
    (Setting(second='+slope-8', min_size=1, max_size=3), 5)
    """
    budget = budget or Budget()
    as_count(n_folds, "n_folds", at_least=2)
    problem = problem_of(votes, weights_of(metric, votes), limits)
    options = usual_settings(limits) if settings is None else tuple(settings)
    if not options:
        raise BadInputError("settings", "must hold at least one setting", "none")
    n_folds = min(n_folds, _smallest_class(votes))
    if n_folds < 2:
        return Choice(options[0], (), "a class has a single row, too few to hold any out")
    if n_repeats is None:
        n_repeats = min(MOST_REPEATS, -(-ENOUGH_ROWS // votes.n_samples))
    n_repeats = as_count(n_repeats, "n_repeats")
    scores: list[list[float]] = []
    budget.report(Progress(_STAGE, 0, n_folds * n_repeats))
    folds = _folds(votes, n_folds, n_repeats, np.random.default_rng(budget.seed))
    study = budget.study.part("folds of the choice")
    known = study.results()
    for number, (kept, held) in enumerate(folds, start=1):
        if str(number) in known:
            scores.append(known[str(number)])
            continue
        of_fold = dataclasses.replace(budget, seed=(budget.seed + number) % 2**32)
        learned = _Searches(problem_of(kept, weights_of(metric, kept), limits), max_steps, of_fold)
        masks = [learned.select(setting) for setting in options]
        if budget.stopped:
            break
        per_row = votes.n_samples / held.n_samples
        scores.append([_held_out_value(held, problem, found) * per_row for found in masks])
        study.record(Finished(str(number), scores[-1]))
        budget.report(Progress(_STAGE, number, n_folds * n_repeats))
    return best_setting(options, np.array(scores).reshape(len(scores), len(options)))


def usual_settings(limits: SelectionLimits) -> tuple[Setting, ...]:
    """Return every one of :data:`SECOND_PARTS`, with the sizes as they are and with a quarter of the most.

    Examples
    --------
    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> len(usual_settings(selection_limits(100))), usual_settings(selection_limits(100))[5].max_size
    (10, 25)
    """
    sizes = [limits.max_size]
    if max(limits.min_size, 1) < limits.max_size // 4:
        sizes.append(limits.max_size // 4)
    return tuple(Setting(second, limits.min_size, size) for size in sizes for second in SECOND_PARTS)


def _smallest_class(votes: Votes | ClassVotes) -> int:
    """Return the samples of the smallest class; of several those with a single one are passed over."""
    if isinstance(votes, Votes):
        return min(votes.n_positive, votes.n_negative)
    sizes = np.bincount(votes.labels, votes.counts)
    return int(sizes[sizes > 1].min(initial=votes.n_samples)) if (sizes > 1).sum() > 1 else 1


def _folds(votes: Any, n_folds: int, n_repeats: int, rng: np.random.Generator) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of all folds but one, and of that one; each class is dealt out evenly."""
    samples = np.repeat(np.arange(len(votes.labels)), votes.counts)
    for _ in range(n_repeats):
        fold_of = deal_classes(votes.labels[samples], n_folds, rng)
        for fold in range(n_folds):
            held = np.bincount(samples[fold_of == fold], minlength=len(votes.labels)).astype(np.int64)
            yield _with_counts(votes, votes.counts - held), _with_counts(votes, held)


def _with_counts(votes: Votes | ClassVotes, counts: Counts) -> Votes | ClassVotes:
    """Return the rows that stand for at least one sample."""
    there = counts > 0
    if isinstance(votes, Votes):
        return Votes(votes.votes[there], votes.labels[there], counts[there])
    codes = np.ascontiguousarray(votes.codes[there])
    return ClassVotes(codes, votes.labels[there], counts[there], votes.n_classes)


@dataclass(frozen=True, eq=False)
class _Searches:
    """How selections are made on the rows of a fold."""

    problem: ThresholdProblem | PluralityProblem
    max_steps: int
    budget: Budget

    def select(self, setting: Setting) -> tuple[Mask, int] | None:
        """Search on these rows under a setting; return members and threshold, 0 where there is none."""
        of, utility = self.problem, setting.utility
        limits = dataclasses.replace(
            of.limits,
            min_size=max(of.limits.min_size, setting.min_size),
            max_size=min(of.limits.max_size, setting.max_size),
        )
        steps, starts = self.max_steps, None
        if isinstance(of, PluralityProblem):
            starts = [np.ones(of.n_classifiers, dtype=bool)]
            steps = steps if utility is None else -(-steps // CLASS_STEP_COST)
        found = search_selection(
            of.votes, of.weights, limits, self.budget, starts=starts, utility=utility, max_steps=steps
        )
        return None if found is None else (found.mask, found.threshold)


def _held_out_value(
    held: Votes | ClassVotes,
    of: ThresholdProblem | PluralityProblem,
    found: tuple[Mask, int] | None,
) -> float:
    """Return the metric's sum over the rows held out, NaN without a selection."""
    if found is None:
        return math.nan
    if isinstance(of, ThresholdProblem):
        assert isinstance(held, Votes), "folds are of the votes"
        return of.value(of.weights.total(confusion(held, *found)))
    assert isinstance(held, ClassVotes), "folds are of the votes"
    return of.value(of.weights.total(held, found[0]))


def best_setting(options: Sequence[Setting], scores: NDArray[np.float64]) -> Choice:
    """Return the first setting within an error of the best mean.

    Those without a selection in some fold are out.
    """
    if not len(scores):
        return Choice(options[0], (), "no fold was finished in time")
    n_folds = len(scores)
    errors = scores.std(axis=0, ddof=1) / math.sqrt(n_folds) if n_folds > 1 else np.full(len(options), np.nan)
    tried = [
        Tried(setting, float(score), float(error))
        for setting, score, error in zip(options, scores.mean(axis=0), errors, strict=True)
        if not math.isnan(score)
    ]
    if not tried:
        plain = next((one for one in options if not one.second), options[0])  # which proves that best
        return Choice(plain, (), "no selection was found that keeps the limits")
    best = max(tried, key=lambda each: each.score)
    least = best.score - (0.0 if math.isnan(best.error) else best.error) - 1e-12
    chosen = next(each.setting for each in tried if each.score >= least)
    return Choice(chosen, tuple(sorted(tried, key=lambda each: -each.score)))
