"""Construction of routers: the best policy for each value of a column.

The policies are found in a table of the loss and the price of each policy for each value.

A few policies near the front are candidates. Each group of cases gets the candidate with the least loss plus
price times a trade-off. The means of a group are drawn towards the means of all cases (shrinkage). The price
of a policy in a group is mostly drawn towards the price of all policies in the group, as a price that is low
by luck in a small group breaks limits on new cases. The column of the groups, and the strength of the
shrinkage, are chosen out of fold. The loss of every point is out of fold too; the price of a point is by the
final table. A router is offered if it gains by its loss and price so measured.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist.arrays import Floats
from shortlist.errors import BadInputError
from shortlist.panels.answer_log import label_of
from shortlist.panels.candidates import near_front, trade_offs
from shortlist.panels.objectives import ACCURACY, PRICE, no_worse, undominated
from shortlist.panels.recipes import (
    Candidate,
    Cases,
    Recipe,
    followed,
    measured_cases,
)
from shortlist.panels.router import ALONE, MOST_WORDS, Alone, Fork, forked_by_numbers, forked_by_words
from shortlist.panels.search import Searched
from shortlist.results.intervals import clustered_error
from shortlist.runs.budget import Progress

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.runs.budget import Budget

MOST_CANDIDATES = 20
"""Number of policies that a router chooses from; these policies are near the front, without learned
decisions.
"""
PRIOR_CASES = (30, 100, 300)
"""Strengths of the shrinkage: numbers of average cases that are added to each group."""
PRICE_PRIOR = 1000
"""Strength of the shrinkage of a policy's price in a group towards the price of all policies in the group
(decision 151).
"""
MOST_PARTS = 8
"""Largest number of parts into which a column of numbers is cut."""
FEWEST_IN_CELL = 30
"""Least mean number of cases in groups by two columns."""
PRICE_SLACK = 0.05
"""Largest relative excess of a router's price on cases that did not choose the router; with a larger excess
the router is no point.
"""
NO_ROUTER, UNFINISHED_ROUTER = "No router", "Not finished, as a limit came first: a router"
"""Beginnings of the sentences on a router that does not exist, or that a limit left unfinished."""
TRADE_OFFS, TINY = 40, 1e-12
"""Number of trade-offs of loss and price, each with a router as a point; least slope that counts as a
trade-off.
"""
N_FOLDS, MOST_PLAIN = 5, 100
"""Number of parts of the cases; largest number of policies without a router that measure the optimism of the
best policy.
"""


class Grouping(NamedTuple):
    """Groups of cases by the value of one column, or of two.

    `codes`: group of each case, -1 for a missing value, ``(n_cases,)``. `words`, `cuts`: for each column its
    words, or the cuts of its numbers.
    """

    columns: tuple[str, ...]
    codes: NDArray[np.int64]
    words: tuple[tuple[str, ...], ...]
    cuts: tuple[tuple[float, ...], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of groups by each column."""
        return tuple(len(words) or len(cuts) + 1 for words, cuts in zip(self.words, self.cuts, strict=True))

    @property
    def n_groups(self) -> int:
        """Number of groups, some perhaps empty."""
        return math.prod(self.sizes)

    @property
    def of_group(self) -> NDArray[np.int64]:
        """Group of each case, ``(n_cases,)``; for a missing value, the index after the last group."""
        return np.where(self.codes < 0, self.n_groups, self.codes)

    def fork(self, ways: Sequence[int]) -> Fork | int:
        """Return the questions that lead each group to its way."""
        return self._fork(list(ways), 0)

    def _fork(self, ways: list[int], place: int) -> Fork | int:
        if place == len(self.columns):
            return ways[0]
        each = len(ways) // self.sizes[place]
        ends = [self._fork(ways[start : start + each], place + 1) for start in range(0, len(ways), each)]
        if self.words[place]:
            return forked_by_words(self.columns[place], self.words[place], ends)
        return forked_by_numbers(self.columns[place], self.cuts[place], ends)


def groupings(features: "pd.DataFrame") -> list[Grouping]:
    """Return the groups by each column, and by each pair of columns with enough cases per group.

    Raises BadInputError if a column has hundreds of different words.
    """
    single = [_grouping(name, features[name]) for name in map(str, features.columns)]
    single = [one for one in single if one.sizes[0] > 1]
    double = []
    for a, b in combinations(single, 2):
        if a.sizes[0] * b.sizes[0] * FEWEST_IN_CELL <= len(features):
            codes = np.where((a.codes < 0) | (b.codes < 0), -1, a.codes * b.sizes[0] + b.codes)
            double.append(Grouping(a.columns + b.columns, codes, a.words + b.words, a.cuts + b.cuts))
    return single + double


def _grouping(name: str, values: "pd.Series[object]") -> Grouping:
    if values.dtype.kind in "iuf":
        numbers = values.to_numpy(dtype=np.float64)
        known = np.isfinite(numbers)
        levels = np.unique(numbers[known])
        shares = np.arange(1, MOST_PARTS) / MOST_PARTS
        edges = np.unique(np.quantile(numbers[known], shares)) if len(levels) > 1 else levels[:0]
        below = levels[np.maximum(np.searchsorted(levels, edges, side="right") - 1, 0)]
        above = levels[np.minimum(np.searchsorted(levels, below, side="right"), len(levels) - 1)]
        cuts = np.unique((below + above)[above > below] / 2)
        codes = np.where(known, np.searchsorted(cuts, numbers, side="left"), -1)
        return Grouping((name,), codes, ((),), (tuple(cuts.tolist()),))
    texts = [label_of(value) for value in values.tolist()]
    words = tuple(sorted({*texts} - {""}))
    if len(words) > MOST_WORDS:
        raise BadInputError(
            "router",
            f"must name columns of numbers, or of at most {MOST_WORDS} different words",
            f"{name!r} with {counted(len(words), 'word')}",
            "Leave it out.",
        )
    places = {"": -1} | {word: place for place, word in enumerate(words)}
    return Grouping((name,), np.array([places[text] for text in texts], dtype=np.int64), (words,), ((),))


@dataclass(frozen=True, eq=False)
class _Tables:
    """Costs of candidates on each case, and the trade-offs at which the best candidate is chosen.

    `loss`, `price`, `seconds`, ``(n_cases, n_candidates)``. `trade_offs`: value of one step of price, in
    steps of loss. `folds`: equal for cases that stay together, ``(n_cases,)``.
    """

    cases: Cases
    found: list[Candidate]
    loss: Floats
    price: Floats
    seconds: Floats
    trade_offs: list[float]
    folds: NDArray[np.int64]

    def held_out(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the indices of the cases of each fold, and the indices of all other cases."""
        for fold in np.unique(self.folds):
            yield np.flatnonzero(self.folds == fold), np.flatnonzero(self.folds != fold)


def _tables(cases: Cases, found: list[Candidate], folds: NDArray[np.int64]) -> _Tables:
    told = [followed(cases, one.recipe) for one in found]
    loss, price, seconds = (
        np.column_stack(columns).astype(np.float64)
        for columns in zip(*((cases.loss_of(one), one.price, one.latency) for one in told), strict=True)
    )
    slopes = trade_offs(np.column_stack([loss.sum(axis=0), price.sum(axis=0)]), TRADE_OFFS)
    between = np.geomspace(max(min(slopes), TINY) / 2, 2 * max(*slopes, TINY), TRADE_OFFS)
    return _Tables(cases, found, loss, price, seconds, [0.0, *between.tolist()], folds)


def routed_policies(
    searched: Searched,
    cases: Cases,
    features: "pd.DataFrame",
    folds: NDArray[np.int64],
    *,
    groups: NDArray[np.int64] | None = None,
    objectives: Sequence[str] = (ACCURACY, PRICE),
    budget: "Budget",
) -> tuple[list[Candidate], list[str]]:
    """Return the front of a search, with routers added if a router gains, and notes about routers.

    A policy without a router is the best of many on these cases, so its loss there is too low. The policy
    also leaves the front if a router costs no more, and loses no more than the policy does out of fold.

    `searched`: result without a router. `features`: free columns. `folds`: equal for cases that stay
    together, ``(n_cases,)``. `groups`: equal for rows of the same case, which count as one sample,
    ``(n_cases,)``. `objectives`: objectives that decide dominance.
    """
    names = all_of(features.columns)
    unfinished = f"{UNFINISHED_ROUTER} by {names}."
    if budget.stopped:
        return searched.found, [unfinished]
    tables = _tables(cases, near_front(searched.tried, MOST_CANDIDATES), folds)
    tried: list[_OutOfFold] = []
    for place, grouping in enumerate(groupings(features), start=1):
        tried += [_out_of_fold(tables, grouping, prior) for prior in PRIOR_CASES]
        budget.report(Progress("routers", place))
        if budget.stopped:
            return searched.found, [unfinished]
    if not tried:
        return searched.found, [f"{NO_ROUTER} by {names}: these columns form no groups."]
    usual = _usual(tables)
    gains = [_gain(tables, one, usual) for one in tried]
    best = max(range(len(tried)), key=lambda place: float(gains[place].mean()))
    gain, error = float(gains[best].mean()), clustered_error(gains[best] - gains[best].mean(), groups)
    if gain <= error:
        less = "less" if gain > 0 else "more"
        told = f"learned on a part of the cases, the best costs {100 * abs(gain):.2g} % {less} on the others"
        chance = f" (standard error {100 * error:.2g} %), which may be chance" if gain > 0 else ""
        return searched.found, [f"{NO_ROUTER} by {names}: {told}{chance}."]
    behind = undominated(_routed(tables, tried[best]), objectives)
    if not behind:
        told = f"tables made without a part of the cases cost over {100 * PRICE_SLACK:g} % more on that part"
        return searched.found, [f"{NO_ROUTER} by {names}: {told} than the whole one on all cases."]
    optimism = _optimism(_tables(cases, near_front(searched.found, MOST_PLAIN), folds))
    held_out = measured_cases(cases)
    losses = [int(held_out.loss_of(followed(held_out, one.recipe)).sum()) for one in searched.found]
    plain = [
        one
        for one, loss in zip(searched.found, losses, strict=True)
        if not any(
            no_worse(other, one._replace(loss=math.floor(max(loss, one.loss) + optimism)), objectives)
            for other in behind
        )
    ]
    kept = tried[best].grouping
    told = (
        f"A router by {all_of(kept.columns)}: the best of {counted(len(tables.found), 'policy')} for each of "
        f"{counted(kept.n_groups, 'group')}, or an answer without asking. On cases not used to choose them, "
        f"they cost {100 * gain:.2g} % less (standard error {100 * error:.2g} %)."
    )
    return undominated([*behind, *plain], objectives), [told]


def _usual(tables: _Tables) -> Floats:
    """Return the costs on each case of the best candidate of all other folds, ``(n_cases, n_trade_offs)``."""
    costs = np.empty((len(tables.folds), len(tables.trade_offs)))
    for place, price in enumerate(tables.trade_offs):
        each = tables.loss + price * tables.price
        for rows, rest in tables.held_out():
            costs[rows, place] = each[rows, each[rest].sum(axis=0).argmin()]
    return costs


def _optimism(tables: _Tables) -> float:
    """Return the loss of policies best on all other folds, minus the loss of policies best on all cases."""
    best = [(tables.loss + price * tables.price).sum(axis=0).min() for price in tables.trade_offs]
    return float(np.mean(_usual(tables).sum(axis=0) - best))


class _Choice(NamedTuple):
    """Best candidate of each group at some trade-offs, and of all cases together.

    `places`: index of the candidate, ``(n_trade_offs, n_groups + 1)``; the index after the candidates is an
    answer without asking, and the last group holds missing values. `alone`: class with the least loss in each
    group, ``(n_groups + 1,)``; -1 without such a class.
    """

    places: NDArray[np.int64]
    alone: NDArray[np.int64]


def _chosen(tables: _Tables, grouping: Grouping, rows: NDArray[np.intp], prior: int) -> _Choice:
    """Return the best candidate for each group, chosen on some of the cases."""
    own = grouping.of_group[rows]
    sizes = np.bincount(own, minlength=grouping.n_groups + 1)[:, None]
    loss = _means(tables.loss[rows], own, sizes, prior)
    price = _prices(tables.price[rows], own, sizes, prior)
    alone, alone_loss = _alone_in_groups(tables.cases, own, rows, grouping.n_groups, prior)
    loss, price = np.column_stack([loss, alone_loss]), np.column_stack([price, np.zeros(len(sizes))])
    return _Choice(np.array([(loss + one * price).argmin(axis=1) for one in tables.trade_offs]), alone)


def _means(values: Floats, groups: NDArray[np.int64], sizes: NDArray[np.int64], prior: int) -> Floats:
    """Return the means of groups, drawn towards the means of all cases; the last group has these means."""
    sums = np.stack([np.bincount(groups, weights=one, minlength=len(sizes)) for one in values.T], axis=1)
    whole = values.mean(axis=0)
    means: Floats = (sums + prior * whole) / (sizes + prior)
    means[-1] = whole
    return means


def _prices(values: Floats, groups: NDArray[np.int64], sizes: NDArray[np.int64], prior: int) -> Floats:
    """Return the mean price of each candidate in each group, ``(n_groups + 1, n_candidates)``.

    The price is the price level of all candidates in the group, plus a part of the candidate's deviation from
    this level. So a candidate that is cheap in a small group by luck is not chosen for the group, and the
    table costs about as much on new cases.
    """
    whole = values.mean(axis=0)
    ratios = np.divide(values, whole, where=whole > 0, out=np.ones_like(values))
    dearer = ratios.mean(axis=1, keepdims=True)
    as_all = _means(dearer, groups, sizes, prior) * whole
    usual = as_all.take(groups, axis=0)
    own = _means(values - usual, groups, sizes, PRICE_PRIOR)
    own[-1] = 0.0
    return np.asarray(as_all + own)


def _alone_in_groups(
    cases: Cases, groups: NDArray[np.int64], rows: NDArray[np.intp], n_groups: int, prior: int
) -> tuple[NDArray[np.int64], Floats]:
    """Return the class with the least loss in each group, and its loss out of fold."""
    codes, means = np.full(n_groups + 1, -1), np.full(n_groups + 1, np.inf)
    if cases.is_open:
        return codes, means
    n_classes, truth = cases.answers.n_classes, cases.truth[rows]
    counts = np.bincount(groups * n_classes + truth, minlength=(n_groups + 1) * n_classes)
    counts = counts.reshape(n_groups + 1, n_classes)
    _, whole = alone_class(cases, counts.sum(axis=0))
    for group, own in enumerate(counts[:-1]):
        code, lost = alone_class(cases, own)
        if code >= 0:
            codes[group], means[group] = code, (lost + prior * whole / len(rows)) / (own.sum() + prior)
    return codes, means


def alone_class(cases: Cases, counts: NDArray[np.int64]) -> tuple[int, int]:
    """Return the class with the least loss, by the number of cases of each class, and its loss out of fold.

    The class is -1 if two classes share the least loss. Out of fold, a case has the loss of the class that is
    best on all other cases.
    """
    loss = 0
    for true in np.flatnonzero(counts).tolist():
        others = counts - (np.arange(len(counts)) == true)
        loss += int(counts[true] * cases.losses[_least_loss(cases, others), true])
    return _least_loss(cases, counts), loss


def _least_loss(cases: Cases, counts: NDArray[np.int64]) -> int:
    lost = cases.losses[:-1] @ counts
    return int(lost.argmin()) if counts.any() and (lost == lost.min()).sum() == 1 else -1


class _OutOfFold(NamedTuple):
    """Costs on the cases of each fold, of routers made without the fold, ``(n_cases, n_trade_offs)``."""

    grouping: Grouping
    prior: int
    loss: Floats
    price: Floats


def _out_of_fold(tables: _Tables, grouping: Grouping, prior: int) -> _OutOfFold:
    shape = (len(tables.folds), len(tables.trade_offs))
    told = _OutOfFold(grouping, prior, np.empty(shape), np.empty(shape))
    for rows, rest in tables.held_out():
        choice, own = _chosen(tables, grouping, rest, prior), grouping.of_group[rows]
        lost = tables.cases.losses[choice.alone[own], tables.cases.truth[rows]]
        nothing, places = np.zeros(len(rows)), choice.places[:, own].T
        for whole, each, alone in (
            (told.loss, tables.loss, lost),
            (told.price, tables.price, nothing),
        ):
            whole[rows] = np.take_along_axis(np.column_stack([each[rows], alone]), places, axis=1)
    return told


def _gain(tables: _Tables, told: _OutOfFold, usual: Floats) -> Floats:
    """Return for each case the saved share of the usual cost, averaged over trade-offs, ``(n_cases,)``."""
    less = usual - (told.loss + told.price * np.array(tables.trade_offs))
    return np.asarray((less / np.maximum(usual.mean(axis=0), 1e-300)).mean(axis=1))


def _routed(tables: _Tables, told: _OutOfFold) -> list[Candidate]:
    """Return the router of each trade-off; equal routers become one, with the mean of their losses.

    The loss on a case is by the table made without the fold of the case; the price is by the router itself.
    """
    rows = np.arange(len(tables.folds))
    choice = _chosen(tables, told.grouping, rows, told.prior)
    price, seconds = (np.column_stack([one, np.zeros(len(rows))]) for one in (tables.price, tables.seconds))
    found, losses = dict[Recipe, Candidate](), dict[Recipe, list[float]]()
    for place, places in enumerate(choice.places):
        recipe = _behind(tables, told.grouping, places.tolist(), choice.alone)
        if recipe is None:
            continue
        way = places[told.grouping.of_group]
        if float(told.price[:, place].sum()) > (1 + PRICE_SLACK) * float(price[rows, way].sum()):
            continue  # it would break limits that it keeps on these cases
        losses.setdefault(recipe, []).append(float(told.loss[:, place].sum()))
        paid, took = round(float(price[rows, way].sum())), float(seconds[rows, way].mean())
        found[recipe] = Candidate(round(float(np.mean(losses[recipe]))), paid, took, recipe)
    return list(found.values())


def _behind(
    tables: _Tables, grouping: Grouping, places: list[int], alone: NDArray[np.int64]
) -> Recipe | None:
    """Return the recipe of a router; None if all groups get the same policy.

    Groups with the same answer without asking become one branch, with the shares of classes over all these
    groups.
    """
    n_classes, recipes = tables.cases.answers.n_classes, [one.recipe for one in tables.found]
    asks_none = np.array(places[:-1]) == len(recipes)
    named = []
    for group, place in enumerate(places[:-1]):
        if place < len(recipes):
            named.append(recipes[place])
            continue
        alike = np.flatnonzero(asks_none & (alone[:-1] == alone[group]))
        counts = np.bincount(tables.cases.truth[np.isin(grouping.codes, alike)], minlength=n_classes)
        decided = Alone(int(alone[group]), tuple((counts / max(1, counts.sum())).tolist()))
        named.append(Recipe(((),), (0.0,), ALONE, alone=decided))
    different = list(dict.fromkeys(named))
    router = grouping.fork([different.index(one) + 1 for one in named])
    if not isinstance(router, Fork):
        return None
    return replace(recipes[places[-1]], router=router, branches=tuple(different))
