"""Policies behind a router: groups of cases that free columns tell apart, each with a policy of its own.

Loss and price of all cases are sums over the groups. So the front over all assignments of policies to groups
is the front of all sums of one point of each group, as that of the thresholds of a chain is. On the cases
that choose it is never worse than the front without a router, whatever the columns hold. So a router is
offered only where groups and policies that one half of the cases chose cost less on the other half.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist.arrays import Floats
from shortlist.panels.chains import merged
from shortlist.panels.losses import clustered_error
from shortlist.panels.recipes import Cases, Found, Recipe, followed
from shortlist.panels.router import ALONE, Alone, Column, Fork, columns_for_trees, columns_of, grown
from shortlist.panels.search import PolicyFront, Searched
from shortlist.runs.budget import Progress

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.runs.budget import Budget

GROUPS = (2, 3, 4, 6)
"""So many groups a router is tried with."""
FEWEST_IN_GROUP, LEAST_SHARE = 20, 0.05
"""A group has at least so many cases, and at least this share of all."""
MOST_CLASSES_AIMED = 20
"""Of more classes groups do not aim at telling them apart."""
TRADE_OFFS = 8
"""At so many prices of a mistake a router is compared with none."""
BEYOND_CHANCE = 2.5
"""A router, the best of four sizes, is offered if it gains more than so many of its standard errors.

That is 5 % for all four sizes together.
"""


class Grouped(NamedTuple):
    """The front over all assignments of policies to groups.

    `points`: loss and price, summed over the groups, with rising loss, ``(n_points, 2)``. `places`: which
    policy of each group a point takes, ``(n_points, n_groups)``.
    """

    points: NDArray[np.int64]
    places: NDArray[np.int64]


def grouped(fronts: Sequence[Sequence[Found]]) -> Grouped:
    """Return the front over all assignments of policies to groups, from the front of each group."""
    points = np.zeros((1, 2), dtype=np.int64)
    places = np.zeros((1, 0), dtype=np.int64)
    for front in fronts:
        own = np.array([(one.loss, one.price) for one in front], dtype=np.int64)
        points, parts = merged(points, own)
        places = np.column_stack([places[parts[:, 0]], parts[:, 1]])
    return Grouped(points, places)


def alone_policies(cases: Cases) -> list[Found]:
    """Return the policy that asks nobody: the class that loses least on all of these cases.

    Its loss is out of fold: each case counts what the class loses that is best of the others. There is none
    where two classes lose equally little.
    """
    counts = np.bincount(cases.truth, minlength=cases.answers.n_classes)
    code = _least_loss(cases, counts)
    if code < 0:
        return []
    loss = 0
    for true in np.flatnonzero(counts).tolist():
        others = counts - (np.arange(len(counts)) == true)
        loss += int(counts[true] * cases.losses[_least_loss(cases, others), true])
    alone = Alone(code, tuple((counts / counts.sum()).tolist()))
    return [Found(loss, 0, 0.0, Recipe(((),), (0.0,), ALONE, alone=alone))]


def _least_loss(cases: Cases, counts: NDArray[np.int64]) -> int:
    """Return the class that loses least on so many cases of each class; -1 for none alone."""
    lost = cases.losses[:-1] @ counts
    return int(lost.argmin()) if (lost == lost.min()).sum() == 1 else -1


def routed_policies(
    searched: Searched,
    cases: Cases,
    features: "pd.DataFrame",
    halves: NDArray[np.int64],
    *,
    groups: NDArray[np.int64] | None = None,
    with_latency: bool = False,
    budget: "Budget",
) -> tuple[list[Found], list[str]]:
    """Return the front of a search with policies behind a router, if one is worth it, and what is to be said.

    `searched`: without a router. `features`: columns that cost nothing. `halves`: 0 or 1, equal for cases
    that must not be parted, ``(n_cases,)``. `groups`: equal for cases that are the same one, which count as
    one sample, ``(n_cases,)``. `with_latency`: whether latency is an objective besides loss and price.
    """
    names = all_of(features.columns)
    unfinished = f"Not finished, as a limit came first: a router by {names}."
    search = _Search(searched, cases, features, columns_for_trees(features), budget)
    gains = search.gains(halves, groups)
    if budget.stopped:
        return searched.found, [unfinished]
    best = max(gains, key=lambda n: gains[n][0])
    if gains[best][0] <= BEYOND_CHANCE * gains[best][1]:
        sizes = f"{GROUPS[0]} to {GROUPS[-1]}"
        told = f"{sizes} groups that half of the cases chose gain nothing beyond chance on the other half."
        return searched.found, [f"No router by {names}: {told}"]
    router = search.router(np.arange(len(cases.truth)), best)
    if router is None:
        return searched.found, [f"No router by {names}: it tells no groups apart."]
    front = PolicyFront(with_latency)
    front.add([*searched.found, *search.routed(router)])
    if budget.stopped:
        return searched.found, [unfinished]
    return front.kept, [_told(router, gains[best], with_latency=with_latency)]


def _told(router: Fork, gain: tuple[float, float], *, with_latency: bool) -> str:
    """Say what was searched behind a router, and why it is offered."""
    by = ", by loss and price" if with_latency else ""
    less, error = (f"{100 * one:.2g} %" for one in gain)
    return (
        f"A router by {all_of(columns_of(router))} with {counted(len(router.conditions()), 'group')}: "
        f"complete for these groups{by}, of all assignments of the policies above and of answers without "
        f"asking. Groups that half of the cases chose cost {less} less on the other half "
        f"(standard error {error})."
    )


@dataclass(frozen=True, eq=False)
class _Search:
    """A search for a router: what was found without one, and the columns that may tell groups apart."""

    searched: Searched
    cases: Cases
    features: "pd.DataFrame"
    columns: list[Column]
    budget: "Budget"

    def router(self, rows: NDArray[np.intp], n_groups: int) -> Fork | None:
        cases = self.cases.at(rows)
        aims = cases.is_right.astype(np.float64)
        if cases.answers.n_classes <= MOST_CLASSES_AIMED and not cases.is_open:
            classes = cases.truth[:, None] == np.arange(cases.answers.n_classes)
            aims = np.column_stack([aims, classes])
        columns = [one._replace(numbers=one.numbers[rows]) for one in self.columns]
        fewest = max(FEWEST_IN_GROUP, int(LEAST_SHARE * len(rows)))
        return grown(columns, aims, n_groups, fewest)

    def front_of(self, rows: NDArray[np.intp], *, alone: bool = False) -> list[Found]:
        """Return the front on some of the cases, of what was searched on all; a limit ends it early."""
        cases, front = self.cases.at(rows), PolicyFront(with_latency=False)
        if alone and not cases.is_open:
            front.add(alone_policies(cases))
        for job in self.searched.jobs:
            front.add(job(cases))
            if self.budget.stopped:
                break
        return front.kept

    def group_fronts(self, router: Fork, rows: NDArray[np.intp]) -> list[list[Found]]:
        way = router.branches(self.features.iloc[rows])
        return [self.front_of(rows[way == branch], alone=True) for branch in router.conditions()]

    def routed(self, router: Fork) -> list[Found]:
        """Return the policies of the front behind a router, on all cases.

        A case that the router cannot tell goes the way of the best policy without a router that costs no
        more.
        """
        n_cases = len(self.cases.truth)
        fronts = self.group_fronts(router, np.arange(n_cases))
        way = router.branches(self.features)
        sizes = np.bincount(way, minlength=len(fronts) + 1)
        lost = np.flatnonzero(way == 0)
        costs = [followed(self.cases.at(lost), one.recipe) for one in self.searched.found]
        whole = grouped(fronts)
        found = []
        for point, places in zip(whole.points.tolist(), whole.places.tolist(), strict=True):
            parts = [front[place] for front, place in zip(fronts, places, strict=True)]
            usual = _within(self.searched.found, point[1] / max(1, n_cases - len(lost)) * n_cases)
            recipe = _behind(router, [one.recipe for one in parts], sizes, self.searched.found[usual].recipe)
            seconds = [*(one.seconds for one in parts), self.searched.found[usual].seconds]
            of_size = [*sizes[1:].tolist(), int(sizes[0])]
            found.append(
                Found(
                    point[0] + int(costs[usual].loss.sum()),
                    point[1] + int(costs[usual].price.sum()),
                    sum(n * one for n, one in zip(of_size, seconds, strict=True) if n) / n_cases,
                    recipe,
                )
            )
        return found

    def gains(
        self, halves: NDArray[np.int64], groups: NDArray[np.int64] | None
    ) -> dict[int, tuple[float, float]]:
        """Return by number of groups what a router gains on cases that did not choose it, and its error.

        A gain is a share of loss and price together, the mean over several prices of a mistake.
        """
        prices = trade_offs(self.searched.found)
        gained = {n: np.zeros(len(halves)) for n in GROUPS}
        for half in (0, 1):
            rows, rest = np.flatnonzero(halves != half), np.flatnonzero(halves == half)
            plain = self.front_of(rows)
            for place, n in enumerate(GROUPS, start=1):
                router = self.router(rows, n)
                if router is not None:
                    gained[n][rest] = self._gained(router, plain, rows, rest, prices)
                self.budget.report(Progress("routers", place + half * len(GROUPS), 2 * len(GROUPS)))
        return {
            n: (float(one.mean()), clustered_error(one - one.mean(), groups)) for n, one in gained.items()
        }

    def _gained(
        self,
        router: Fork,
        plain: list[Found],
        rows: NDArray[np.intp],
        rest: NDArray[np.intp],
        prices: list[float],
    ) -> Floats:
        """Return what a router gains on each of the other cases, with policies that `rows` choose."""
        fronts = self.group_fronts(router, rows)
        whole = grouped(fronts)
        points = np.array([(one.loss, one.price) for one in plain])
        way = router.branches(self.features.iloc[rest])
        gained = np.zeros(len(rest))
        for price in prices:
            usual = plain[_cheapest(points, price)].recipe
            before = _cost(self.cases.at(rest), usual, price)
            after = before.copy()
            chosen = whole.places[_cheapest(whole.points, price)]
            for branch, (front, place) in enumerate(zip(fronts, chosen.tolist(), strict=True), start=1):
                here = np.flatnonzero(way == branch)
                after[here] = _cost(self.cases.at(rest[here]), front[place].recipe, price)
            gained += (before - after) / max(before.mean(), 1e-300)
        return gained / len(prices)


def _behind(router: Fork, branches: list[Recipe], sizes: NDArray[np.int64], usual: Recipe) -> Recipe:
    """Return the recipe of a router; branches of equal policies are one.

    A question that makes no difference is left out where every case had an answer to it.
    """
    pooled = _pooled(branches, sizes)
    different = list(dict.fromkeys(pooled))
    numbers = [different.index(one) + 1 for one in pooled]
    root = _renumbered(router, numbers, shorten=not sizes[0])
    if not isinstance(root, Fork):
        return different[0]
    return replace(usual, router=root, branches=tuple(different))


def _pooled(branches: list[Recipe], sizes: NDArray[np.int64]) -> list[Recipe]:
    """Return the policies of groups; groups that are answered alike without asking are taken together."""
    pooled = list(branches)
    for code in {one.alone.code for one in branches if one.alone is not None}:
        alike = [place for place, one in enumerate(branches) if one.alone and one.alone.code == code]
        shares = np.average(
            [one.alone.shares for one in branches if one.alone and one.alone.code == code],
            axis=0,
            weights=sizes[1:][alike],
        )
        for place in alike:
            pooled[place] = replace(branches[place], alone=Alone(code, tuple(shares.tolist())))
    return pooled


def _renumbered(way: Fork | int, numbers: list[int], *, shorten: bool) -> Fork | int:
    """Return a router whose branches have other numbers, perhaps without questions of one end."""
    if not isinstance(way, Fork):
        return numbers[way - 1]
    yes, no = (_renumbered(one, numbers, shorten=shorten) for one in (way.yes, way.no))
    return yes if shorten and yes == no else replace(way, yes=yes, no=no)


def _within(found: Sequence[Found], price: float) -> int:
    """Return the policy that loses least of those within a price, or the cheapest."""
    within = [place for place, one in enumerate(found) if one.price <= price]
    return within[0] if within else min(range(len(found)), key=lambda place: found[place].price)


def _cost(cases: Cases, recipe: Recipe, price: float) -> Floats:
    told = followed(cases, recipe)
    return np.asarray(told.loss + price * told.price)


def _cheapest(points: NDArray[np.int64], price: float) -> int:
    return int(np.argmin(points[:, 0] + price * points[:, 1]))


def trade_offs(found: Sequence[Found]) -> list[float]:
    """Return what one step of price is worth in steps of loss: at most eight values, from corner to corner.

    They are the slopes of the convex hull of a front, evenly spread, at each of which another corner is best.
    """
    corners = [found[0]]
    while corners[-1] is not found[-1]:
        here = corners[-1]
        rest = [one for one in found if one.loss > here.loss and one.price < here.price]
        if not rest:
            break
        corners.append(min(rest, key=lambda one: (one.loss - here.loss) / (here.price - one.price)))
    slopes = [(b.loss - a.loss) / (a.price - b.price) for a, b in pairwise(corners)]
    if not slopes:
        return [0.0]
    places = np.unique(np.linspace(0, len(slopes) - 1, TRADE_OFFS).astype(np.intp))
    return [slopes[place] for place in places.tolist()]
