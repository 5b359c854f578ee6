"""Policies as recipes, and the training cases: what each costs there, out of fold, at every threshold."""

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
"""Judges who are asked side by side, or all who have been asked so far."""


@dataclass(frozen=True)
class Recipe:
    """Recipe of a policy: sets of judges asked one after the other, and the threshold of each.

    `sets`: the judges asked so far, after each stage. `thresholds`: how sure each stage has to be to end a
    case. `learner`: who decides: a key of the decisions out of fold. `alone`: what decides if no judge is
    asked; the learner is ``"alone"`` then. `router`: what tells which branch a case goes to; the recipe
    itself is for cases that it cannot tell.
    """

    sets: tuple[Judges, ...]
    thresholds: tuple[float, ...]
    learner: str
    alone: Alone | None = None
    router: Fork | None = None
    branches: tuple["Recipe", ...] = ()

    @property
    def ways(self) -> tuple["Recipe", ...]:
        """The recipe itself, and those of the branches behind it."""
        return (self, *self.branches)

    @property
    def judges(self) -> Judges:
        """All who are asked about some case, sorted."""
        return tuple(sorted(set().union(*(one for way in self.ways for one in way.sets))))


class Candidate(NamedTuple):
    """A policy with its loss and its price, summed over the training cases.

    `loss`: in steps, out of fold where something is learned. `price`: in steps, as the panel that would be
    written pays on these cases. `seconds`: its mean latency; NaN where not known. `errors`: of the classes
    of which objectives are shares, as missed positives and false alarms.
    """

    loss: int
    price: int
    seconds: float
    recipe: Recipe
    errors: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Cases:
    """The training cases: answers, the truth, and what answers and mistakes cost, in whole steps.

    `truth`: all known, ``(n_cases,)``. `prices`, ``(n_cases, n_judges)``. `latency`: in seconds, ``(n_cases,
    n_judges)``; NaN where not known. `losses`: of deciding a class, or nothing, the last row, where the
    second is the truth, ``(n_classes + 1, n_classes)``. `final_price`: what a person costs, in steps.
    `decisions`: by the name of the learner; votes are among them. `positive`: the place of the positive
    class, where there are two. `folds`: that of each case, without which what is decided about it was
    learned, ``(n_cases,)``. `is_open`: whether classes are who gave an answer first. `right`: which
    answers are right by the log's own scores, ``(n_cases, n_judges)``; None where the truth decides.
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
        """Whether each answer is right, ``(n_cases, n_judges)``."""
        return answers_right(self.answers.words, self.truth, self.right)

    def scored(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the scored class of these decisions, by the log's scores."""
        return scored_codes(codes, self.answers.words, self.truth, self.right)

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return int(self.prices.shape[1])

    def losses_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the loss by deciding these classes on each case."""
        return np.asarray(self.losses[self.scored(codes), self.truth])

    def loss_of(self, outcome: Outcome) -> NDArray[np.int64]:
        """Return the loss of an outcome on each case; a person is always right."""
        return np.where(outcome.handed_over, 0, self.losses_of(outcome.codes))

    def price_of(self, judges: Judges) -> NDArray[np.int64]:
        """Return the price of asking some judges about each case."""
        return np.asarray(self.prices[:, list(judges)].sum(axis=1))

    def seconds_of(self, judges: Judges) -> Floats:
        """Return the seconds that judges who are asked side by side take about each case."""
        return np.asarray(self.latency[:, list(judges)].max(axis=1, initial=0.0))

    def at(self, rows: NDArray[np.intp]) -> "Cases":
        """Return some of the cases; what is decided about them stays what it is among all."""

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
    """Decisions of sets of judges that are told of other cases, or otherwise, each once.

    `again`: what becomes of each decision.
    """

    whole: "OutOfFold | Redecided"
    again: Callable[[Judged], Judged]
    known: dict[Judges, Judged] = field(default_factory=dict)

    def of(self, judges: Iterable[int]) -> Judged:
        """Return the decision of a set of judges."""
        chosen = tuple(judges)
        if chosen not in self.known:
            self.known[chosen] = self.again(self.whole.of(chosen))
        return self.known[chosen]


def fitted_on_others(whole: OutOfFold | Redecided, answers: Heard) -> Redecided:
    """Return decisions that are fitted on the training cases, about other cases with these answers."""

    def again(judged: Judged) -> Judged:
        decided = judged.decision.decide(answers.of(judged.decision.judges))
        return Judged(judged.decision, decided, decided, decided)

    return Redecided(whole, again)


def measured_cases(cases: Cases) -> Cases:
    """Return the training cases as they measure: thresholds are reached by what was fitted without each fold.

    Where judges give labels alone, thresholds come from what was fitted on all cases, and answers that are
    sure by that are right more often there than elsewhere.
    """

    def as_decided(judged: Judged) -> Judged:
        return judged._replace(ordering=judged.decided)

    return replace(
        cases, decisions={name: Redecided(one, as_decided) for name, one in cases.decisions.items()}
    )


def written_cases(cases: Cases) -> Cases:
    """Return the training cases as panels that are written decide them: nothing is out of fold."""

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
    """Return the stages of a recipe, without those of its branches, its decisions fitted on all cases.

    `places`: new places of the judges, in the same order.
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
    """Follow a recipe on each case, out of fold wherever something is learned; prices are in steps.

    `features`: the columns of the cases, of which a router takes its own.
    """
    if recipe.router is None:
        return _followed(cases, recipe)
    way = recipe.router.branches(features)
    return by_ways(way, len(recipe.ways), lambda one, rows: _followed(cases.at(rows), recipe.ways[one]))


def candidate_of(cases: Cases, recipe: Recipe, objectives: Sequence[str], features: Any = None) -> Candidate:
    """Return a recipe with its loss out of fold, and the errors of the classes of its objectives.

    Price and latency are those of the panel that would be written. A case without an answer is
    an error, and a person makes none. `features`: as in :func:`followed`.
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
    """Return the decision of a stage about each case, how sure it is, and the mask of ended cases."""
    if recipe.alone is not None:
        codes, sure = recipe.alone.decide(cases.answers)
        return codes, sure, np.asarray((codes >= 0) & (sure >= recipe.thresholds[number]))
    judged = cases.decisions[recipe.learner].of(recipe.sets[number])
    ordering = judged.ordering
    ends = (ordering.codes >= 0) & (ordering.sure >= recipe.thresholds[number])
    return judged.decided.codes, ordering.sure, np.asarray(ends)


def bound_at(cases: Cases, budget: float) -> float:
    """Return an upper bound on the share of right cases of a panel that answers what a judge it asks says.

    Such a panel asks somebody about every case, and is right only where it paid for a judge that is right,
    or for a person. An oracle that asks the cheapest judge about every case, and in its place the cheapest
    that is right wherever that costs least more, is right at least as often for the same price.

    `share`, which it returns: 0 where no judge can be asked about every case for that price.

    A decision that is learned may say what none of its judges says; the bound does not hold for it then.

    `budget`: the mean price of a case, in the steps of `cases`.
    """
    least = cases.prices.min(axis=1)
    more = np.where(cases.is_right, cases.prices - least[:, None], np.inf).min(axis=1)
    if cases.final.kind == HAND_OVER:
        more = np.minimum(more, cases.final_price)
    left = budget * len(cases.truth) * (1 + 1e-12) - least.sum()
    return float((np.cumsum(np.sort(more)) <= left).sum() / len(more)) if left >= 0 else 0.0


SAME = 1e-9
"""No threshold lies between cases that differ by less in how sure a stage is."""


class ChainFront(NamedTuple):
    """Loss and price that no other threshold of the same chain dominates, and the thresholds.

    `points`: loss and price of all cases, with rising loss and falling price, ``(n_points, 2)``.
    `thresholds`: how sure the stage has to be, ``(n_points,)``.
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

    `decided`: what the stage decides about each case. Cases without a decision go on. `stopped`, `going_on`:
    loss and price of each case if it ends here, and if it goes on, ``(n_cases, 2)``. Going on is no cheaper.
    `written`: what the stage that would be written decides, by which it pays; by default the same.

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
    """Return the front of a threshold where one decision counts for the loss, another for the price."""
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
