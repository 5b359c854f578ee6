"""Policies over judges, their loss and price on the cases that choose, and the front of all of them."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted
from shortlist.arrays import Floats, Mask
from shortlist.panels.chains import threshold_front
from shortlist.panels.decisions import IGNORED, PLURALITY, Decided, Heard, Votes
from shortlist.panels.learning import OutOfFold
from shortlist.panels.policy import ANSWER, HAND_OVER, NEVER, Final, Stage, run_stages
from shortlist.runs.budget import Budget

ALL_SETS_UP_TO, ALL_PAIRS_UP_TO = 5, 30
"""Up to so many judges all sets of judges are stages; up to so many, all chains of one judge and a second."""
LARGEST_GROWN, MOST_VOTERS = 5, 15
"""How large sets of judges grow one by one, and how many vote at most."""
WINDOWS = 12
"""So many thresholds of a second stage are tried with all those of the first, where more follows."""
MOST_TRIPLES = 60
"""So many chains of three stages are tried at most."""


@dataclass(frozen=True)
class Recipe:
    """How a policy is made: sets of judges asked one after the other, and what each is sure enough from.

    Attributes
    ----------
    sets : tuple of tuple of int
        The judges asked so far, after each stage.
    thresholds : tuple of tuple of float
        For each stage the least that ends a case, by class; empty where the last stage answers all.
    learner : str
        Who decides: a key of the decisions out of fold, or ``"votes"``.
    settled : bool, default=False
        With votes: judges are asked one after the other until the class is settled.
    rule, missing : str
        With votes: as :class:`shortlist.panels.decisions.Votes` has them.
    """

    sets: tuple[tuple[int, ...], ...]
    thresholds: tuple[tuple[float, ...], ...]
    learner: str
    settled: bool = False
    rule: str = PLURALITY
    missing: str = IGNORED


class Found(NamedTuple):
    """A policy with its loss and its price, summed over the cases that choose.

    Attributes
    ----------
    loss, price : int
        In steps.
    seconds : float
        Mean latency; NaN where not known.
    recipe : Recipe
    """

    loss: int
    price: int
    seconds: float
    recipe: Recipe


@dataclass(frozen=True, eq=False)
class Cases:
    """The cases that choose: answers, the truth, and what answers and mistakes cost, in whole steps.

    Attributes
    ----------
    answers : Heard
    truth : ndarray of int64, shape (n_cases,)
        All known.
    prices : ndarray of int64, shape (n_cases, n_judges)
    latency : ndarray of float, shape (n_cases, n_judges)
        In seconds; NaN where not known.
    losses : ndarray of int64, shape (n_classes + 1, n_classes)
        Of deciding a class, or nothing, the last row, where the second is the truth.
    final : Final
    final_price : int
        What a person costs, in steps.
    decisions : mapping of str to OutOfFold
        By the name of the learner.
    rule, missing : str
        How votes decide.
    """

    answers: Heard
    truth: NDArray[np.int64]
    prices: NDArray[np.int64]
    latency: Floats
    losses: NDArray[np.int64]
    final: Final
    final_price: int
    decisions: dict[str, OutOfFold] = field(default_factory=dict)
    rule: str = PLURALITY
    missing: str = IGNORED

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return int(self.prices.shape[1])

    def losses_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what deciding these classes loses on each case."""
        return np.asarray(self.losses[codes, self.truth])

    def price_of(self, judges: tuple[int, ...]) -> NDArray[np.int64]:
        """Return what asking some judges about each case costs."""
        return np.asarray(self.prices[:, list(judges)].sum(axis=1))

    def seconds_of(self, judges: tuple[int, ...]) -> Floats:
        """Return how long judges who are asked side by side take about each case."""
        return np.asarray(self.latency[:, list(judges)].max(axis=1))


def right_or_wrong(n_classes: int) -> NDArray[np.int64]:
    """Return losses of 1 for every decision that is not right; nothing decided is not right."""
    return np.vstack([1 - np.eye(n_classes, dtype=np.int64), np.ones((1, n_classes), dtype=np.int64)])


def find_policies(
    cases: Cases, *, max_stages: int, with_latency: bool = False, budget: Budget
) -> tuple[list[Found], list[str]]:
    """Search policies of one stage and more, and return those that none dominates, with what is complete.

    Parameters
    ----------
    cases : Cases
    max_stages : int
        From 1 to 3.
    with_latency : bool, default=False
        Whether latency is an objective besides loss and price.
    budget : Budget
        A limit or a cancellation ends the search with what was found.

    Returns
    -------
    found : list of Found
        With falling loss and rising price.
    claims : list of str
        What was searched completely, and what was not.
    """
    front = _Front(with_latency)
    claims: list[str] = []
    for told, policies in _families(cases, max_stages, front):
        finished = True
        for found in policies:
            front.add(found)
            if budget.stopped:
                finished = False
                break
        claims.append(
            told if finished else f"Not finished, as a limit came first: {told[0].lower()}{told[1:]}"
        )
        budget.tell("panel", value=float(len(front.kept)))
        if not finished:
            break
    return front.kept, claims


Family = tuple[str, Iterator[list[Found]]]
Pair = tuple[tuple[int, ...], tuple[int, ...]]


def _families(cases: Cases, max_stages: int, front: "_Front") -> Iterator[Family]:
    n = cases.n_judges
    yield f"All {counted(n, 'single judge')} as they answer.", _singles(cases)
    yield (
        "Committees by votes, of all sets of judges."
        if n <= ALL_SETS_UP_TO
        else "Committees by votes: windows, the most accurate judges and those that grow best.",
        _committees(cases),
    )
    learned = [name for name in cases.decisions if name != "votes"]
    for name in learned:
        sets = _stage_sets(cases, name)
        yield (
            f"Decisions by {name} of {counted(len(sets), 'set')} of judges, asked at once.",
            (_at_once(cases, name, one) for one in sets),
        )
        if max_stages > 1:
            pairs = _pairs_of(cases, name, sets)
            yield (
                _told_pairs(cases, name, len(pairs)),
                (_chain(cases, name, first, second) for first, second in pairs),
            )
        if max_stages > 2 and cases.final.kind != ANSWER:
            yield "Chains of three stages are searched only where the last stage always answers.", iter(())
        elif max_stages > 2:
            triples = _triples_of(front.kept, name, sets)
            told = f"{counted(len(triples), 'chain')} with {WINDOWS} thresholds of the second stage each"
            yield (
                f"Chains of three stages by {name}: windows, {told}.",
                (_three(cases, name, *triple) for triple in triples),
            )


def _told_pairs(cases: Cases, name: str, n_chains: int) -> str:
    """Say how complete the chains of two stages are."""
    n = cases.n_judges
    what = (
        "over all sets of judges"
        if n <= ALL_SETS_UP_TO
        else "of one judge and a second one, and windows of sets that grow"
        if n <= ALL_PAIRS_UP_TO
        else f"of {ALL_PAIRS_UP_TO} of {n} judges, a window"
    )
    thresholds = (
        "every threshold included"
        if cases.final.kind == ANSWER
        else f"every threshold of the first stage included, with {WINDOWS} thresholds of the second"
    )
    return f"Complete, {thresholds}: {counted(n_chains, 'chain')} of two stages {what}, by {name}."


def _singles(cases: Cases) -> Iterator[list[Found]]:
    for judge in range(cases.n_judges):
        votes = Votes((judge,), (1,))
        recipe = Recipe(((judge,),), ((),), "votes")
        yield [_measured(cases, recipe, votes.decide(cases.answers.of((judge,))))]


def _measured(cases: Cases, recipe: Recipe, decided: Decided) -> Found:
    """Return the loss and the price of asking one set of judges, whose last word counts."""
    judges = recipe.sets[-1]
    loss = int(cases.losses_of(decided.codes).sum())
    price = int(cases.price_of(judges).sum())
    if cases.final.kind != ANSWER:  # what is not decided goes to a person, or to nobody
        open_cases = decided.codes < 0
        price += cases.final_price * int(open_cases.sum())
        loss -= int(cases.losses_of(decided.codes)[open_cases].sum()) if cases.final.kind == HAND_OVER else 0
    return Found(loss, price, float(cases.seconds_of(judges).mean()), recipe)


def _committees(cases: Cases) -> Iterator[list[Found]]:
    """Yield committees by votes: all, or the most accurate judges and those that are added one by one."""
    n = cases.n_judges
    if n <= ALL_SETS_UP_TO:
        for size in range(2, n + 1):
            yield from (_votes_of(cases, one) for one in itertools.combinations(range(n), size))
        return
    losses = [int(cases.losses_of(column).sum()) for column in _columns(cases)]
    ranked = sorted(range(n), key=lambda judge: (losses[judge], judge))
    grown = _grown_by_votes(cases, ranked)
    seen = set()
    for members in itertools.chain(
        (tuple(ranked[:size]) for size in range(2, min(n, MOST_VOTERS) + 1)),
        (grown[:size] for size in range(2, len(grown) + 1)),
        [tuple(range(n))] if n > 1 else [],
    ):
        chosen = tuple(sorted(members))
        if chosen not in seen:
            seen.add(chosen)
            yield _votes_of(cases, chosen)


def _columns(cases: Cases) -> Iterator[NDArray[np.int64]]:
    """Yield what each judge answers; -1 for silence."""
    for judge in range(cases.n_judges):
        words = cases.answers.words[:, judge]
        yield np.where(words == cases.answers.n_classes, -1, words)


def _grown_by_votes(cases: Cases, ranked: list[int]) -> tuple[int, ...]:
    """Add the judge that makes the plurality of all so far lose least, one after the other."""
    members = [ranked[0]]
    while len(members) < min(MOST_VOTERS, cases.n_judges):
        rest = [judge for judge in ranked if judge not in members]
        votes = Votes((), (1,) * (len(members) + 1), cases.rule, cases.missing)
        losses = [
            cases.losses_of(votes.decide(cases.answers.of([*members, judge])).codes).sum() for judge in rest
        ]
        members.append(rest[int(np.argmin(losses))])
    return tuple(members)


def _votes_of(cases: Cases, members: tuple[int, ...]) -> list[Found]:
    """Return a committee asked at once, and one asked until it is settled.

    More than half of its votes are needed to settle a class, so the cheaper half is asked side by side.
    """
    found = [_asked_at_once(cases, members)]
    if len(members) < 3:
        return found
    mean = cases.prices.mean(axis=0)
    order = tuple(sorted(members, key=lambda judge: (mean[judge], judge)))
    sets = tuple(order[: size + 1] for size in range(len(order) // 2, len(order)))
    recipe = Recipe(sets, ((),) * len(sets), "votes", settled=True, rule=cases.rule, missing=cases.missing)
    stages = stages_of(recipe, cases.decisions, cases.answers.n_classes)
    return [*found, _measured_stages(cases, recipe, stages)]


def _asked_at_once(cases: Cases, members: tuple[int, ...]) -> Found:
    votes = Votes(members, (1,) * len(members), cases.rule, cases.missing)
    recipe = Recipe((members,), ((),), "votes", rule=cases.rule, missing=cases.missing)
    return _measured(cases, recipe, votes.decide(cases.answers.of(members)))


def _measured_stages(cases: Cases, recipe: Recipe, stages: tuple[Stage, ...]) -> Found:
    outcome = run_stages(stages, cases.answers, cases.prices.astype(float), cases.latency, cases.final)
    kept = ~outcome.handed_over
    loss = int(cases.losses_of(outcome.codes)[kept].sum())
    person = (cases.final_price - cases.final.price) * int(outcome.handed_over.sum())  # in steps
    price = round(float(outcome.price.sum() + person))
    return Found(loss, price, float(outcome.latency.mean()), recipe)


def _stage_sets(cases: Cases, name: str) -> list[tuple[int, ...]]:
    """Return the sets of judges whose answers are decided together."""
    n = cases.n_judges
    if n <= ALL_SETS_UP_TO:
        return [one for size in range(1, n + 1) for one in itertools.combinations(range(n), size)]
    return [(judge,) for judge in range(n)] + _grown_sets(cases, name)


def _grown_sets(cases: Cases, name: str) -> list[tuple[int, ...]]:
    """Return sets that grow by the judge who helps most, from the best judge and the best bargain."""
    decisions, n = cases.decisions[name], cases.n_judges
    losses = [int(cases.losses_of(decisions.of((judge,)).decided.codes).sum()) for judge in range(n)]
    mean = cases.prices.mean(axis=0)
    starts = {int(np.argmin(losses)), int(np.argmin(losses + np.max(losses) * mean / max(mean.max(), 1)))}
    likely = sorted(range(n), key=lambda judge: losses[judge])[:ALL_PAIRS_UP_TO]
    grown: dict[tuple[int, ...], None] = {}
    for start in sorted(starts):
        members: tuple[int, ...] = (start,)
        while len(members) < min(LARGEST_GROWN, n):
            tried = [tuple(sorted((*members, judge))) for judge in likely if judge not in members]
            members = min(tried, key=lambda one: int(cases.losses_of(decisions.of(one).decided.codes).sum()))
            grown[members] = None
    return list(grown)


def _pairs_of(cases: Cases, name: str, sets: list[tuple[int, ...]]) -> list[Pair]:
    """Return the chains of two stages: each set, and one that contains it."""
    n = cases.n_judges
    nested: list[Pair] = [(one, two) for one in sets for two in sets if set(one) < set(two)]
    if n <= ALL_SETS_UP_TO:
        return nested
    judges = range(n) if n <= ALL_PAIRS_UP_TO else _promising(cases, name)
    couples: list[Pair] = [((a,), tuple(sorted((a, b)))) for a, b in itertools.permutations(judges, 2)]
    larger = [one for one in sets if len(one) > 2]
    added: list[Pair] = [((a,), tuple(sorted({a, *one}))) for a in judges for one in larger if a not in one]
    return list(dict.fromkeys(couples + nested + added))


def _promising(cases: Cases, name: str) -> list[int]:
    """Return the judges that lose least, and those that no cheaper one beats."""
    decisions = cases.decisions[name]
    losses = np.array(
        [cases.losses_of(decisions.of((j,)).decided.codes).sum() for j in range(cases.n_judges)]
    )
    mean = cases.prices.mean(axis=0)
    order = np.lexsort((losses, mean))
    best = np.minimum.accumulate(losses[order])
    bargains = order[losses[order] == best]
    ranked = [*bargains.tolist(), *np.argsort(losses, kind="stable").tolist()]
    return list(dict.fromkeys(ranked))[:ALL_PAIRS_UP_TO]


def _at_once(cases: Cases, name: str, judges: tuple[int, ...]) -> list[Found]:
    decided = cases.decisions[name].of(judges).decided
    if cases.final.kind == ANSWER:
        return [_measured(cases, Recipe((judges,), ((),), name), decided)]
    own = _last_word(cases, decided, judges)
    return _first_thresholds(cases, name, (judges,), own, _after_the_last(cases, judges))


def _last_word(cases: Cases, decided: Decided, judges: tuple[int, ...]) -> NDArray[np.int64]:
    """Return loss and price of each case that a stage decides, whatever it is sure of."""
    return np.column_stack([cases.losses_of(decided.codes), cases.price_of(judges)])


def _after_the_last(cases: Cases, judges: tuple[int, ...]) -> NDArray[np.int64]:
    """Return loss and price of each case that the last stage does not end."""
    nobody = np.full(len(cases.truth), -1)
    loss = cases.losses_of(nobody) if cases.final.kind != HAND_OVER else np.zeros_like(nobody)
    return np.column_stack([loss, cases.price_of(judges) + cases.final_price])


def _added_seconds(cases: Cases, sets: tuple[tuple[int, ...], ...]) -> Floats:
    return cases.seconds_of(tuple(judge for judge in sets[-1] if judge not in sets[-2]))


def _chain(cases: Cases, name: str, first: tuple[int, ...], second: tuple[int, ...]) -> list[Found]:
    """Return the front of the thresholds of a chain of two stages."""
    decisions = cases.decisions[name]
    one, two = decisions.of(first).decided, decisions.of(second).decided
    between = decisions.of(second).ordering
    stopped = _last_word(cases, one, first)
    if cases.final.kind == ANSWER:
        return _first_thresholds(cases, name, (first, second), stopped, _last_word(cases, two, second))
    going_on, last = _last_word(cases, two, second), _after_the_last(cases, second)
    found = []
    for thresholds, ends in _windows(cases, between, going_on, last):
        rest = np.where(ends[:, None], going_on, last)
        found += _with_later(_first_thresholds(cases, name, (first, second), stopped, rest), (thresholds,))
    return found


def _with_later(found: list[Found], later: tuple[tuple[float, ...], ...]) -> list[Found]:
    """Return policies with other thresholds of the stages after the first."""
    return [
        one._replace(recipe=replace(one.recipe, thresholds=(one.recipe.thresholds[0], *later)))
        for one in found
    ]


def _first_thresholds(
    cases: Cases,
    name: str,
    sets: tuple[tuple[int, ...], ...],
    stopped: NDArray[np.int64],
    going_on: NDArray[np.int64],
    *,
    waits: Floats | None = None,
) -> list[Found]:
    """Return the front of the thresholds of a first stage, whatever follows.

    `waits` are the seconds that going on takes; by default those of the second stage, if there is one.
    """
    decided = cases.decisions[name].of(sets[0]).ordering
    front = threshold_front(decided, stopped, going_on, cases.answers.n_classes)
    begun = cases.seconds_of(sets[0])
    added = np.zeros_like(begun)
    if len(sets) > 1:
        added = _added_seconds(cases, sets[:2]) if waits is None else waits
    told = bool(np.isfinite(begun).all())
    found = []
    for point, thresholds in zip(front.points, front.thresholds.tolist(), strict=True):
        seconds = float("nan")
        if told:
            least = np.array([*thresholds, NEVER])
            seconds = float((begun + np.where(decided.sure >= least[decided.codes], 0.0, added)).mean())
        own = (tuple(thresholds), *((),) * (len(sets) - 1))
        found.append(Found(int(point[0]), int(point[1]), seconds, Recipe(sets, own, name)))
    return found


def _windows(
    cases: Cases, decided: Decided, stopped: NDArray[np.int64], going_on: NDArray[np.int64]
) -> Iterator[tuple[tuple[float, ...], Mask]]:
    """Yield thresholds of a stage, evenly spread over its own front, and which cases it ends with them."""
    front = threshold_front(decided, stopped, going_on, cases.answers.n_classes)
    places = np.unique(np.linspace(0, len(front.points) - 1, WINDOWS).astype(np.intp))
    for thresholds in front.thresholds[places].tolist():
        least = np.array([*thresholds, NEVER])
        yield tuple(thresholds), np.asarray(decided.sure >= least[decided.codes])


def _triples_of(
    found: list[Found], name: str, sets: list[tuple[int, ...]]
) -> list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    """Return chains of three stages: those of two on the front, with a set between, before or behind."""
    known = list(dict.fromkeys(one.recipe.sets for one in found if one.recipe.learner == name))
    triples: dict[tuple[tuple[int, ...], ...], None] = {}
    for chain in (one for one in known if len(one) == 2):
        for middle in sets:
            three = sorted({*chain, middle}, key=lambda one: (len(one), one))
            if len(three) == 3 and set(three[0]) < set(three[1]) < set(three[2]):
                triples[tuple(three)] = None
    return [(one[0], one[1], one[2]) for one in list(triples)[:MOST_TRIPLES]]


def _three(
    cases: Cases, name: str, first: tuple[int, ...], second: tuple[int, ...], third: tuple[int, ...]
) -> list[Found]:
    """Return thresholds of a chain of three stages: windows of the second, and all of the first for each."""
    decisions = cases.decisions[name]
    one, two, three = (decisions.of(judges).decided for judges in (first, second, third))
    last = _last_word(cases, three, third)
    middle = _last_word(cases, two, second)
    stopped = _last_word(cases, one, first)
    found = []
    for thresholds, ends in _windows(cases, decisions.of(second).ordering, middle, last):
        rest = np.where(ends[:, None], middle, last)
        waits = _added_seconds(cases, (first, second))
        waits = waits + np.where(ends, 0.0, _added_seconds(cases, (second, third)))
        chain = _first_thresholds(cases, name, (first, second, third), stopped, rest, waits=waits)
        found += _with_later(chain, (thresholds, ()))
    return found


def stages_of(
    recipe: Recipe, decisions: dict[str, OutOfFold], n_classes: int, places: dict[int, int] | None = None
) -> tuple[Stage, ...]:
    """Return the stages of a recipe, its decisions fitted on all cases.

    Parameters
    ----------
    recipe : Recipe
    decisions : mapping of str to OutOfFold
    n_classes : int
    places : mapping of int to int, optional
        New places of the judges, in the same order.
    """
    moved = places or {judge: judge for one in recipe.sets for judge in one}
    every = recipe.sets[-1]
    stages: list[Stage] = []
    asked: set[int] = set()
    for judges, thresholds in zip(recipe.sets, recipe.thresholds, strict=True):
        asks = tuple(moved[judge] for judge in judges if judge not in asked)
        asked.update(judges)
        if recipe.learner == "votes":
            known = tuple(moved[judge] for judge in judges)
            votes = (1,) * (len(every) if recipe.settled else len(judges))
            decision: Any = Votes(known, votes, recipe.rule, recipe.missing)
        else:
            fitted = decisions[recipe.learner].of(judges).decision
            renamed = tuple(moved[judge] for judge in sorted(judges))
            decision = replace(fitted, judges=renamed)  # type: ignore[type-var]  # all are dataclasses
        least = thresholds or (0.0,) * n_classes
        stages.append(Stage(asks, decision, tuple(least), settled=recipe.settled))
    return tuple(stages)


class _Front:
    """Policies that none dominates, by loss and price, and by latency where it is known."""

    def __init__(self, with_latency: bool) -> None:
        self.kept: list[Found] = []
        self._latency = with_latency

    def add(self, found: list[Found]) -> None:
        """Add policies; of equal ones the earlier stays, which is the simpler."""
        every = sorted([*self.kept, *found], key=lambda one: (one.loss, one.price, self._seconds(one)))
        kept: list[Found] = []
        least: list[tuple[int, float]] = []  # price and seconds that no kept one beats
        for one in every:
            seconds = self._seconds(one)
            if any(price <= one.price and time <= seconds for price, time in least):
                continue
            kept.append(one)
            least = [pair for pair in least if not (pair[0] >= one.price and pair[1] >= seconds)]
            least.append((one.price, seconds))
        self.kept = kept

    def _seconds(self, found: Found) -> float:
        return found.seconds if self._latency else 0.0
