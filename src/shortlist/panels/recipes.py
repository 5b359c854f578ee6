"""Policies as recipes, and the training cases, which give each policy its loss and its price.

Losses are out of fold, at every threshold.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.panels._kernels import group_steps
from shortlist.panels.decisions import Decided, Heard
from shortlist.panels.learning import Judged, OutOfFold
from shortlist.panels.log_checks import answers_right, scored_codes
from shortlist.panels.objectives import classes_of
from shortlist.panels.policy import HAND_OVER, NEVER, Final, Outcome, Stage, ask_judges, by_ways
from shortlist.panels.router import ALONE, Alone, Fork
from shortlist.policies import Said

Judges = tuple[int, ...]
"""Indices of judges asked side by side, or of all judges asked so far."""


@dataclass(frozen=True)
class Recipe:
    """Recipe of a policy: sets of judges asked one after the other, and the threshold of each.

    `sets`: judges asked so far, after each stage. `thresholds`: least confidence with which each stage ends a
    case. `learner`: key of the decisions out of fold. `alone`: decision without any judge; the learner is
    ``"alone"`` then. `router`: assigns cases to branches; the sets of the recipe itself are for cases that
    the router cannot assign.
    """

    sets: tuple[Judges, ...]
    thresholds: tuple[float, ...]
    learner: str
    alone: Alone | None = None
    router: Fork | None = None
    branches: tuple["Recipe", ...] = ()

    @property
    def ways(self) -> tuple["Recipe", ...]:
        """The recipe itself, followed by the recipes of its branches."""
        return (self, *self.branches)

    @property
    def judges(self) -> Judges:
        """Indices of all judges that are asked about some case, sorted."""
        return tuple(sorted(set().union(*(one for way in self.ways for one in way.sets))))


class Candidate(NamedTuple):
    """Policy with its loss and its price, summed over the training cases.

    `loss`: in steps, out of fold for learned decisions. `price`: in steps, as paid by the final panel on
    these cases. `seconds`: mean latency; NaN if unknown. `errors`: number of errors in each class whose share
    of right answers is an objective, such as missed positives.
    """

    loss: int
    price: int
    seconds: float
    recipe: Recipe
    errors: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Cases:
    """Training cases: answers, truth, and costs of answers and mistakes, in whole steps.

    `truth`: class index of every case, ``(n_cases,)``. `prices`, ``(n_cases, n_judges)``. `latency`: in
    seconds, ``(n_cases, n_judges)``; NaN where unknown. `losses`: loss of each decision (rows; the last row
    is no decision) in each true class (columns), ``(n_classes + 1, n_classes)``. `final_price`: price of a
    person, in steps. `decisions`: decisions of sets of judges by the name of the learner; votes are always
    included. `positive`: index of the positive class of two. `folds`: fold without which the decision about
    each case was learned, ``(n_cases,)``. `is_open`: whether a class stands for the judge that gave an answer
    first. `right`: mask of the right answers by the log's own scores, ``(n_cases, n_judges)``; None where the
    truth decides.
    """

    answers: Heard
    truth: NDArray[np.int64]
    prices: NDArray[np.int64]
    latency: Floats
    losses: NDArray[np.int64]
    final: Final
    final_price: int
    decisions: "Mapping[str, OutOfFold | Redecided]"
    positive: int = 1
    is_open: bool = False
    right: Mask | None = None
    folds: NDArray[np.int64] | None = None

    @property
    def is_right(self) -> Mask:
        """Mask of the right answers, ``(n_cases, n_judges)``."""
        return answers_right(self.answers.words, self.truth, self.right)

    def scored(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the scored class of each decision, ``(n_cases,)``, by the log's scores."""
        return scored_codes(codes, self.answers.words, self.truth, self.right)

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return int(self.prices.shape[1])

    def losses_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the loss on each case if it is decided for these classes, ``(n_cases,)``."""
        return np.asarray(self.losses[self.scored(codes), self.truth])

    def loss_of(self, outcome: Outcome) -> NDArray[np.int64]:
        """Return the loss of an outcome, ``(n_cases,)``; 0 where a person decides."""
        return np.where(outcome.handed_over, 0, self.losses_of(outcome.codes))

    def price_of(self, judges: Judges) -> NDArray[np.int64]:
        """Return the price in steps of asking some judges, ``(n_cases,)``."""
        return np.asarray(self.prices[:, list(judges)].sum(axis=1))

    def seconds_of(self, judges: Judges) -> Floats:
        """Return the seconds of judges asked side by side, ``(n_cases,)``."""
        return np.asarray(self.latency[:, list(judges)].max(axis=1, initial=0.0))

    def at(self, rows: NDArray[np.intp]) -> "Cases":
        """Return some of the cases with their decisions unchanged."""

        def part(judged: Judged) -> Judged:
            return Judged(judged.decision, *(Decided(one.codes[rows], one.sure[rows]) for one in judged[1:]))

        return replace(
            self,
            answers=self.answers.at(rows), truth=self.truth[rows], prices=self.prices[rows],
            latency=self.latency[rows], right=None if self.right is None else self.right[rows],
            folds=None if self.folds is None else self.folds[rows],
            decisions={name: Redecided(one, part) for name, one in self.decisions.items()},
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Redecided:
    """Decisions of sets of judges, converted for other cases or another purpose, and kept.

    `again`: function that converts a decision.
    """

    whole: "OutOfFold | Redecided"
    again: Callable[[Judged], Judged]
    known: dict[Judges, Judged] = field(default_factory=dict)

    def of(self, judges: Iterable[int]) -> Judged:
        """Return the converted decision of a set of judges."""
        chosen = tuple(judges)
        if chosen not in self.known:
            self.known[chosen] = self.again(self.whole.of(chosen))
        return self.known[chosen]


def fitted_on_others(whole: OutOfFold | Redecided, answers: Heard) -> Redecided:
    """Return the decisions that fits on the training cases make about other cases, from `answers`."""

    def again(judged: Judged) -> Judged:
        decided = judged.decision.decide(answers.of(judged.decision.judges))
        return Judged(judged.decision, decided, decided, decided)

    return Redecided(whole, again)


def measured_cases(cases: Cases) -> Cases:
    """Return the training cases for measuring: thresholds compare confidences of fits without each fold.

    In the given cases thresholds come from fits on all cases, if judges give labels alone. Answers that are
    sure by such a fit are right more often on the fitted cases than on new cases.
    """

    def as_decided(judged: Judged) -> Judged:
        return judged._replace(ordering=judged.decided)

    return replace(
        cases, decisions={name: Redecided(one, as_decided) for name, one in cases.decisions.items()}
    )


def written_cases(cases: Cases) -> Cases:
    """Return the training cases with decisions of the final panels: nothing is out of fold."""

    def as_written(judged: Judged) -> Judged:
        return judged._replace(decided=judged.written, ordering=judged.written)

    return replace(
        cases, decisions={name: Redecided(one, as_written) for name, one in cases.decisions.items()}
    )


def stages_of(
    recipe: Recipe,
    decisions: Mapping[str, OutOfFold | Redecided],
    places: dict[int, int] | None = None,
) -> tuple[Stage, ...]:
    """Return the stages of a recipe with decisions fitted on all cases; branches are left out.

    `places`: new index of each judge, in the same order.
    """
    moved = places or {judge: judge for one in recipe.sets for judge in one}
    stages: list[Stage] = []
    asked: set[int] = set()
    for judges, least in zip(recipe.sets, recipe.thresholds, strict=True):
        asks = tuple(moved[judge] for judge in judges if judge not in asked)
        asked.update(judges)
        decision: Any = recipe.alone
        if recipe.learner != ALONE:
            decision = decisions[recipe.learner].of(judges).decision
            decision = replace(decision, judges=tuple(moved[judge] for judge in decision.judges))
        stages.append(Stage(asks, decision, least))
    return tuple(stages)


def followed(cases: Cases, recipe: Recipe, features: Any = None) -> Outcome:
    """Return the outcome of a recipe on each case, out of fold for learned decisions; prices are in steps.

    `features`: columns of the cases, which include the columns of a router.
    """
    if recipe.router is None:
        return _followed(cases, recipe)
    way = recipe.router.branches(features)
    return by_ways(way, len(recipe.ways), lambda one, rows: _followed(cases.at(rows), recipe.ways[one]))


def candidate_of(cases: Cases, recipe: Recipe, objectives: Sequence[str], features: Any = None) -> Candidate:
    """Return a recipe with its loss out of fold, and the errors of the classes of its objectives.

    Price and latency are those of the final panel. A case without an answer counts as an error; a case that a
    person decides does not. `features`: as in :func:`followed`.
    """
    told, paid = followed(cases, recipe, features), followed(written_cases(cases), recipe, features)
    wrong = (cases.scored(told.codes) != cases.truth) & ~told.handed_over
    errors = [wrong & ((cases.truth == cases.positive) == one) for one in classes_of(objectives)]
    return Candidate(
        int(cases.loss_of(told).sum()), int(paid.price.sum()), float(paid.latency.mean()), recipe,
        tuple(int(one.sum()) for one in errors),
    )  # fmt: skip


def _followed(cases: Cases, recipe: Recipe) -> Outcome:
    def says(number: int, places: NDArray[np.int64]) -> Said:
        codes, _, ends = stage_says(cases, recipe, number)
        return Said(codes[places], ends[places])

    asks = [
        [judge for judge in judges if number == 0 or judge not in recipe.sets[number - 1]]
        for number, judges in enumerate(recipe.sets)
    ]
    return ask_judges(asks, says, cases.prices, cases.latency, (cases.final.kind, cases.final_price))


def stage_says(cases: Cases, recipe: Recipe, number: int) -> tuple[NDArray[np.int64], Floats, Mask]:
    """Return the decision of a stage about each case, its confidence, and the mask of ended cases."""
    if recipe.alone is not None:
        codes, sure = recipe.alone.decide(cases.answers)
        return codes, sure, np.asarray((codes >= 0) & (sure >= recipe.thresholds[number]))
    judged = cases.decisions[recipe.learner].of(recipe.sets[number])
    ordering = judged.ordering
    ends = (ordering.codes >= 0) & (ordering.sure >= recipe.thresholds[number])
    return judged.decided.codes, ordering.sure, np.asarray(ends)


def bound_at(cases: Cases, budget: float) -> float:
    """Return an upper bound on the share of right cases of any panel that answers as one of its judges.

    Such a panel asks at least one judge about every case. The panel is right about a case only if it paid for
    a judge that is right, or for a person. The bound is the share of an oracle. The oracle asks the cheapest
    judge about every case, and instead the cheapest right judge about the cases where this gains most per
    price. For the same price the oracle is right at least as often as the panel.

    The share is 0 if no judge can be asked about every case for the budget.

    A learned decision may differ from the answers of all its judges; the bound does not hold for it.

    `budget`: mean price of a case, in the steps of `cases`.
    """
    least = cases.prices.min(axis=1)
    more = np.where(cases.is_right, cases.prices - least[:, None], np.inf).min(axis=1)
    if cases.final.kind == HAND_OVER:
        more = np.minimum(more, cases.final_price)
    left = budget * len(cases.truth) * (1 + 1e-12) - least.sum()
    return float((np.cumsum(np.sort(more)) <= left).sum() / len(more)) if left >= 0 else 0.0


SAME = 1e-9
"""Difference in confidence below which no threshold lies between two cases."""


class ChainFront(NamedTuple):
    """Non-dominated loss and price of a chain over all thresholds of a stage, and these thresholds.

    `points`: loss and price summed over all cases, with rising loss and falling price, ``(n_points, 2)``.
    `thresholds`: least confidence of the stage, ``(n_points,)``.
    """

    points: NDArray[np.int64]
    thresholds: Floats


def threshold_front(
    decided: Decided,
    stopped: NDArray[np.int64],
    going_on: NDArray[np.int64],
    written: Decided | None = None,
) -> ChainFront:
    """Return the complete front of the threshold of one stage, in integers.

    Takes the time of sorting the cases.

    `decided`: decision of the stage about each case. Cases without a decision continue. `stopped`,
    `going_on`: loss and price of each case if it ends here, and if it continues, ``(n_cases, 2)``. Continuing
    must cost at least as much as ending. `written`: decision of the final panel's stage, which determines the
    price; by default `decided`.

    >>> sure = Decided(np.array([0, 0, 1]), np.array([0.9, 0.6, 0.7]))
    >>> stopped = np.array([[0, 1], [1, 1], [0, 1]])
    >>> front = threshold_front(sure, stopped, np.array([[0, 5], [0, 5], [0, 5]]))
    >>> front.points.tolist(), front.thresholds.round(6).tolist()
    ([[0, 7], [1, 3]], [0.65, 0.0])
    """
    if written is not None and written is not decided:
        return _front_of_two(decided, written, stopped, going_on)
    cases = np.flatnonzero(decided.codes >= 0)
    rest = going_on[decided.codes < 0].sum(axis=0, dtype=np.int64)
    order = cases[np.argsort(-decided.sure[cases], kind="stable")]
    values = decided.sure[order]
    breaks = np.ones(len(order) + 1, dtype=np.int64)
    breaks[1:-1] = values[:-1] - values[1:] > SAME
    between = np.concatenate([[NEVER], (values[:-1] + values[1:]) / 2, [0.0] if len(order) else []])
    cuts, points = np.empty(len(order) + 1, dtype=np.int64), np.empty((len(order) + 1, 2), dtype=np.int64)
    count = group_steps(order, breaks, stopped, going_on, cuts, points)
    return ChainFront((points[:count] + rest)[::-1], between[cuts[:count]][::-1])


def _front_of_two(
    decided: Decided, written: Decided, stopped: NDArray[np.int64], going_on: NDArray[np.int64]
) -> ChainFront:
    """Return the front of a threshold if one decision determines the loss and another the price."""
    kept = [-np.sort(-one.sure[one.codes >= 0]) for one in (decided, written)]
    values = -np.sort(-np.concatenate(kept))
    between = (values[:-1] + values[1:]) / 2
    between = between[values[:-1] - values[1:] > SAME]
    thresholds = np.concatenate([[NEVER], between, [0.0] if len(values) else []])
    sums = []
    for column, (one, sure) in enumerate(zip((decided, written), kept, strict=True)):
        order = np.argsort(-np.where(one.codes >= 0, one.sure, -np.inf), kind="stable")[: len(sure)]
        change = np.cumsum(stopped[order, column] - going_on[order, column], dtype=np.int64)
        n_ended = np.searchsorted(-sure, -thresholds, side="right")
        sums.append(going_on[:, column].sum(dtype=np.int64) + np.append(0, change)[n_ended])
    loss, price = (one[::-1] for one in sums)  # the cheapest first
    least = np.minimum.accumulate(loss)
    kept_points = np.flatnonzero(np.append(True, loss[1:] < least[:-1]))
    dearer = np.append(price[kept_points[1:]] > price[kept_points[:-1]], True)
    places = kept_points[dearer][::-1]
    return ChainFront(np.column_stack([loss, price])[places], thresholds[::-1][places])
