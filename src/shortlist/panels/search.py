"""Search for panels: loss and price of policies on the training cases, and the front of all policies."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist.arrays import Floats, Mask
from shortlist.panels.agreement import MOST_OF_CASCADES, agreement_cascades
from shortlist.panels.candidates import (
    ALL_PAIRS_UP_TO,
    ALL_SETS_UP_TO,
    CASCADES_OF_FOUR,
    CASCADES_OF_THREE,
    CHOSEN,
    COMMITTEES,
    CONFIDENT,
    CONSTANT,
    FALLBACKS,
    LEARNED,
    PAIRS,
    SINGLE,
    THREE_STAGES,
    UNLEARNED,
    VOTED,
    confident_triples,
    fallbacks_of,
    pairs_of,
    promising_judges,
    ranked_judges,
    ranked_sets,
    shape_of,
    stage_sets,
    triples_of,
)
from shortlist.panels.decisions import BY_CONFIDENCE, Decided
from shortlist.panels.learning import (
    AGREEMENT,
    POOLED,
    PRUNED,
    VOTES,
    VOTING,
    Judged,
    LimitPassedError,
    OutOfFold,
    learned_by,
)
from shortlist.panels.objectives import ACCURACY, PRICE, undominated
from shortlist.panels.policy import ANSWER, HAND_OVER
from shortlist.panels.pruned_committees import majority_first, pruned_committees
from shortlist.panels.recipes import Candidate, Cases, Judges, Recipe, threshold_front
from shortlist.panels.router import ALONE, Alone
from shortlist.panels.selection_bias import without_selection_bias
from shortlist.panels.words import COMBINED
from shortlist.runs.budget import Budget, Progress

WINDOWS = 12
"""Number of thresholds of the second stage, in chains of three, that are combined with all thresholds of the
first stage.
"""

MOST_FIRST = 3
"""Number of judges, the best of all, that are tried as a first stage before a committee."""

Job = Callable[[Cases], list[Candidate]]
"""Function that measures some policies on cases, such as all thresholds of a chain."""


class Searched(NamedTuple):
    """Result of a search for policies.

    `found`: non-dominated policies, with falling loss and rising price. `claims`: sentences on complete and
    incomplete searches. `of_two`: policies of at most two judges that no other such policy dominates.
    `tried`: all policies without learned decisions, dominated or not.
    """

    found: list[Candidate]
    claims: list[str]
    of_two: list[Candidate]
    tried: list[Candidate]


class SearchStep(NamedTuple):
    """Policies of one family, with the family's name, a claim of completeness, and jobs that measure them."""

    kind: str
    told: str
    jobs: list[Job]


def find_policies(
    cases: Cases,
    *,
    max_stages: int,
    objectives: Sequence[str] = (ACCURACY, PRICE),
    budget: Budget,
    families: Collection[str] | None = None,
) -> Searched:
    """Return the non-dominated policies of one stage or more, and claims of completeness.

    `max_stages`: from 1 to 3. `objectives`: objectives that decide dominance. `budget`: a limit or a
    cancellation ends the search with the policies found so far, at least with single judges. `families`: keys
    of :data:`FAMILIES` to try; by default the families that :data:`shortlist.panels.candidates.SHAPES` gives
    for the cases.
    """
    names = shape_of(cases).families if families is None else families
    front, of_two = PolicyFront(objectives), PolicyFront(objectives)
    claims = [] if families is not None else [shape_of(cases).sentence(cases)]
    tried, families = list[Candidate](), dict[Any, list[Candidate]]()
    for family in names:
        told = f"{family}."
        try:
            with _until(cases, budget):
                _check_limit(budget, family)
                for work in FAMILIES[family](cases, max_stages, front.kept, tried):
                    told = work.told
                    for number, job in enumerate(work.jobs, start=1):
                        _check_limit(budget, family)
                        found = job(cases)
                        front.add(found)
                        for one in found:
                            families.setdefault(_kind_of(cases, family, one), []).append(one)
                        of_two.add([one for one in found if len(one.recipe.sets[-1]) <= 2])
                        tried += found if family in UNLEARNED else []
                        budget.report(Progress(work.kind, number, len(work.jobs), more_follows=True))
                    claims.append(told)
        except LimitPassedError:
            claims.append(f"Not finished, as a limit came first: {told[0].lower()}{told[1:]}")
            return Searched(front.kept, claims, of_two.kept, tried)
    if cases.n_judges > ALL_SETS_UP_TO and cases.folds is not None and tuple(objectives[1:]) == (PRICE,):
        front = PolicyFront(objectives)
        front.add(without_selection_bias(cases, families))
        claims.append(BIASED)
    return Searched(front.kept, claims, of_two.kept, tried)


def _check_limit(budget: Budget, family: str) -> None:
    """Raise LimitPassedError if a limit ends the search of a family."""
    if family not in ALWAYS and budget.stopped:
        raise LimitPassedError


@contextmanager
def _until(cases: Cases, budget: Budget) -> Iterator[None]:
    """Stop the learning of decisions within the block once a budget is used up."""
    with ExitStack() as stack:
        for one in cases.decisions.values():
            if isinstance(one, OutOfFold):
                stack.enter_context(one.until(lambda: budget.stopped))
        yield


ALWAYS = {CONSTANT, SINGLE}
"""Families that are measured completely despite any limit, as they take almost no time."""

BIASED = (
    "Losses of policies count what was learned without the fold of each case, and the bias of having been "
    "chosen among others of their kind."
)


def _kind_of(cases: Cases, family: str, found: Candidate) -> tuple[object, ...]:
    """Return the kind of a policy: its family, its learner and its number of stages.

    A policy was chosen among the policies of its kind. Committees of all judges are a kind of their own, as
    they were not chosen.
    """
    sets, learner = found.recipe.sets, found.recipe.learner
    everybody = len(sets) == 1 and len(sets[0]) == cases.n_judges
    return ("all judges" if everybody else family, learner, len(sets))


Family = Callable[[Cases, int, list[Candidate], list[Candidate]], Iterator[SearchStep]]
"""Function from the cases, the largest number of stages, a front and all tried policies to further search
steps.
"""


def _singles(
    cases: Cases, _stages: int, _front: list[Candidate], _tried: list[Candidate]
) -> Iterator[SearchStep]:
    n = cases.n_judges
    told = "The one judge, by its" if n == 1 else f"All {n:,} single judges, each by its"
    told += " own answers."
    yield SearchStep("single judges", told, [partial(_single, judge=judge) for judge in range(n)])


def _constant(
    cases: Cases, _stages: int, _front: list[Candidate], _tried: list[Candidate]
) -> Iterator[SearchStep]:
    if not cases.is_open:
        yield SearchStep(CONSTANT, "One answer to every case, without any call.", [_one_answer])


def _one_answer(cases: Cases) -> list[Candidate]:
    """Return the class with the least loss as the answer to every training case, at no price."""
    counts = np.bincount(cases.truth, minlength=cases.answers.n_classes)
    code = int((cases.losses[:-1] @ counts).argmin())
    shares = tuple((counts / counts.sum()).tolist())
    recipe = Recipe(((),), (0.0,), ALONE, alone=Alone(code, shares))
    seconds = 0.0 if np.isfinite(cases.latency).all() else float("nan")
    return [Candidate(int(cases.losses[code] @ counts), 0, seconds, recipe)]


def _fallbacks(
    cases: Cases, max_stages: int, _front: list[Candidate], _tried: list[Candidate]
) -> Iterator[SearchStep]:
    pairs = fallbacks_of(cases) if max_stages > 1 else []
    if pairs:
        of_all = (
            "All" if cases.n_judges <= ALL_PAIRS_UP_TO else f"Of the {ALL_PAIRS_UP_TO} most promising, the"
        )
        told = f"{of_all} {counted(len(pairs), 'judge')} with another one that is asked where it is silent."
        jobs = [partial(_fallback, sets=sets) for sets in pairs]
        yield SearchStep("judges with a fallback", told, list(jobs))


def _fallback(cases: Cases, sets: tuple[Judges, Judges]) -> list[Candidate]:
    """Return the loss and the price of a judge, and of a second judge for the cases of its silence."""
    first, second = sets
    own, other = (cases.decisions[VOTES].of(judges).decided.codes for judges in sets)
    goes_on, left = own < 0, (own < 0) & (other < 0)
    loss = np.where(goes_on, cases.losses_of(other), cases.losses_of(own))
    price = np.where(goes_on, cases.price_of(second), cases.price_of(first))
    seconds = cases.seconds_of(first) + np.where(goes_on, _added_seconds(cases, sets), 0.0)
    if cases.final.kind != ANSWER:
        price = price + cases.final_price * left
        loss = np.where(left & (cases.final.kind == HAND_OVER), 0, loss)
    recipe = Recipe(sets, (0.0, 0.0), VOTES)
    return [Candidate(int(loss.sum()), int(price.sum()), float(seconds.mean()), recipe)]


def _cascades(size: int) -> Family:

    def works(
        cases: Cases, max_stages: int, _front: list[Candidate], _tried: list[Candidate]
    ) -> Iterator[SearchStep]:
        is_open = cases.final.kind != ANSWER
        if (
            AGREEMENT not in cases.decisions
            or size > cases.n_judges
            or size > max_stages + 1
            or (size == 2 and not is_open)
        ):
            return
        judges = promising_judges(cases, MOST_OF_CASCADES[size])
        n, kind = len(judges), f"agreement cascades of {size} judges"
        of = f"among all {n}" if n == cases.n_judges else f"among the {n} most promising"
        told = f"All {kind}." if n == size else f"All {kind} {of}."
        jobs = [partial(agreement_cascades, first=one, judges=judges, size=size) for one in judges[:-1]]
        yield SearchStep(kind, told, list(jobs))

    return works


def _learned(
    cases: Cases, max_stages: int, _front: list[Candidate], tried: list[Candidate]
) -> Iterator[SearchStep]:
    for name in learned_by(cases.decisions):
        yield from _by(cases, name, max_stages, tried)


def _voted(
    cases: Cases, max_stages: int, _front: list[Candidate], tried: list[Candidate]
) -> Iterator[SearchStep]:
    for name in cases.decisions:
        if name in VOTING:
            yield from _by(cases, name, max_stages, tried)


def _committees(
    cases: Cases, max_stages: int, _front: list[Candidate], _tried: list[Candidate]
) -> Iterator[SearchStep]:
    """Yield committees of any size, up to all judges, and chains of a committee and a larger one.

    In a chain, a case that the first judges do not decide goes to the other judges.
    """
    sets, n = ranked_sets(cases), cases.n_judges
    names = [name for name in POOLED if name in cases.decisions]
    if n < 2:
        return
    for name in names:
        of = f"all {counted(len(sets), 'set')} of judges"
        if n > ALL_SETS_UP_TO:
            of = f"{counted(len(sets), 'set')}: the best judges, more and more of them, up to all"
        yield SearchStep(
            f"committees by {COMBINED.get(name, name)}",
            f"Committees{_combined_by(name)}: {of}.",
            [partial(_at_once, name=name, judges=one) for one in sets],
        )
    if max_stages < 2 or n <= ALL_SETS_UP_TO:
        return
    for name in names:
        firsts = [one for one in sets if len(one) < n]
        if name not in VOTING:  # one vote is always sure
            firsts = [(judge,) for judge in ranked_judges(cases)[:MOST_FIRST]] + firsts
        pairs = [(one, two) for one in firsts for two in sets if set(one) < set(two)]
        told = f"Two stages of committees{_combined_by(name)}: {counted(len(pairs), 'chain')}, not all."
        jobs = [partial(_chain, name=name, first=one, second=two) for one, two in pairs]
        yield SearchStep(f"chains of committees by {COMBINED.get(name, name)}", told, list(jobs))


def _pruned(
    cases: Cases, max_stages: int, _front: list[Candidate], _tried: list[Candidate]
) -> Iterator[SearchStep]:
    """Yield committees that exact pruning chooses.

    The cheapest majority of a committee is asked before its other judges.
    """
    if not isinstance(cases.decisions.get(PRUNED), OutOfFold):
        return
    chosen = pruned_committees(cases)
    sizes = sorted({len(one) for one in chosen})
    told = (
        f"{counted(len(chosen), 'committee')} of {all_of(map(str, sizes))} judges that exact pruning "
        "chooses, chosen again without each fold to count what they lose."
    )
    jobs: list[Job] = [partial(_at_once, name=PRUNED, judges=one) for one in chosen]
    if max_stages > 1:
        jobs = [
            partial(_chain, name=PRUNED, first=majority_first(cases.prices.mean(axis=0), one), second=one)
            for one in chosen
        ]
    yield SearchStep(CHOSEN, told, jobs)


def _confident(
    cases: Cases, max_stages: int, _front: list[Candidate], tried: list[Candidate]
) -> Iterator[SearchStep]:
    """Yield judges whose answers are taken by their confidence.

    Later steps are chains of such a judge and further judges.
    """
    if BY_CONFIDENCE not in cases.decisions:
        return
    sets = stage_sets(cases, BY_CONFIDENCE)
    always = cases.final.kind == ANSWER
    if not always:  # otherwise single judges, who answer all they can, are complete
        told = f"The surest answers of {counted(len(sets), 'judge')}, with every threshold."
        yield SearchStep(
            "surest answers", told, [partial(_at_once, name=BY_CONFIDENCE, judges=one) for one in sets]
        )
    if max_stages > 1 and cases.n_judges > 1:
        pairs = pairs_of(cases, BY_CONFIDENCE, sets, [])
        of_all = ("All ", "") if cases.n_judges <= ALL_PAIRS_UP_TO else ("", "not all, ")
        later = "" if always else f" of the first judge and {WINDOWS} of the second"
        told = (
            f"{of_all[0]}{counted(len(pairs), 'cascade')} of two judges by confidence, {of_all[1]}with every "
            f"threshold{later}."
        )
        jobs = [partial(_chain, name=BY_CONFIDENCE, first=one, second=two) for one, two in pairs]
        yield SearchStep("cascades of two judges by confidence", told, list(jobs))
    if max_stages > 2 and cases.n_judges > 2 and always:
        best = PolicyFront((ACCURACY, PRICE))
        best.add(tried)  # the cascades of two judges among them
        triples = confident_triples(cases, best.kept)
        told = f"{counted(len(triples), 'cascade')} of three judges by confidence"
        told += f", with {WINDOWS} thresholds of the second judge each and all of the first."
        jobs = [partial(_three, name=BY_CONFIDENCE, first=a, second=b, third=c) for a, b, c in triples]
        yield SearchStep("cascades of three judges by confidence", told, list(jobs))


def _by(cases: Cases, name: str, max_stages: int, tried: list[Candidate]) -> Iterator[SearchStep]:
    sets = stage_sets(cases, name)
    yield SearchStep(
        f"one stage by {COMBINED.get(name, name)}",
        f"One stage{_combined_by(name)}: {_told_sets(cases, name, len(sets))}.",
        [partial(_at_once, name=name, judges=one) for one in sets],
    )
    if max_stages > 1 and cases.n_judges > 1:
        pairs = pairs_of(cases, name, sets, tried)
        yield SearchStep(
            f"two stages by {COMBINED.get(name, name)}",
            _told_pairs(cases, name, len(pairs)),
            [partial(_chain, name=name, first=first, second=second) for first, second in pairs],
        )


def _three_stages(
    cases: Cases, max_stages: int, front: list[Candidate], _tried: list[Candidate]
) -> Iterator[SearchStep]:
    if max_stages < 3 or cases.n_judges < 2:
        return
    if cases.final.kind != ANSWER:
        told = "Chains of three stages are searched only where the last stage always answers."
        yield SearchStep("chains of three stages", told, [])
        return
    for name in learned_by(cases.decisions) or cases.decisions:
        if name not in {AGREEMENT, PRUNED}:
            triples = triples_of(front, name, stage_sets(cases, name))
            told = f"{counted(len(triples), 'chain')}, not all, each with {WINDOWS} thresholds of the second"
            told = told if triples else "no chain, as none was found to extend"
            yield SearchStep(
                f"three stages by {COMBINED.get(name, name)}",
                f"Three stages{_combined_by(name)}: {told}.",
                [partial(_three, name=name, first=a, second=b, third=c) for a, b, c in triples],
            )


FAMILIES: dict[str, Family] = {
    CONSTANT: _constant,
    SINGLE: _singles,
    FALLBACKS: _fallbacks,
    PAIRS: _cascades(2),
    CASCADES_OF_THREE: _cascades(3),
    CASCADES_OF_FOUR: _cascades(4),
    LEARNED: _learned,
    VOTED: _voted,
    COMMITTEES: _committees,
    CHOSEN: _pruned,
    THREE_STAGES: _three_stages,
    CONFIDENT: _confident,
}
"""Functions that yield the policies of each family, by name."""


def _combined_by(name: str) -> str:
    return f", answers combined by {COMBINED.get(name, name)}"


def _told_sets(cases: Cases, name: str, n_sets: int) -> str:
    if cases.n_judges <= ALL_SETS_UP_TO:
        return "the one judge" if n_sets == 1 else f"all {n_sets:,} sets of judges"
    some = f"{counted(n_sets, 'set')} of judges, not all"
    if name not in VOTING:
        return some
    return (
        f"{some}: each judge, the most accurate judges together, all judges, and sets grown by the judge "
        "that helps most"
    )


def _told_pairs(cases: Cases, name: str, n_chains: int) -> str:
    n, begin = cases.n_judges, f"Two stages{_combined_by(name)}"
    thresholds = (
        "with every threshold"
        if cases.final.kind == ANSWER
        else f"with every threshold of the first stage and {WINDOWS} of the second"
    )
    if n <= ALL_SETS_UP_TO:
        return f"{begin}: all {n_chains:,} chains of sets of judges, {thresholds}."
    if n <= ALL_PAIRS_UP_TO:
        of_pairs = "all of one judge and a second one, and some of larger sets of judges"
        return f"{begin}: {n_chains:,} chains, {of_pairs}, {thresholds}."
    some = (
        "the same sets of judges"
        if name in VOTING
        else f"{len(promising_judges(cases, ALL_PAIRS_UP_TO))} of the {n:,} judges"
    )
    return f"{begin}: {n_chains:,} chains of {some}, not all, {thresholds}."


def _single(cases: Cases, judge: int) -> list[Candidate]:
    words = cases.answers.words[:, judge]
    silent = words == cases.answers.n_classes
    said = Decided(np.where(silent, -1, words), np.where(silent, 0.0, 1.0))  # as one vote decides
    return [_measured(cases, Recipe(((judge,),), (0.0,), VOTES), said, said)]


def _measured(cases: Cases, recipe: Recipe, decided: Decided, written: Decided) -> Candidate:
    """Return the loss and the price of asking one set of judges whose decision is final.

    `written`: decision of the final panel, which determines the price.
    """
    judges = recipe.sets[-1]
    loss = int(cases.losses_of(decided.codes).sum())
    price = int(cases.price_of(judges).sum())
    if cases.final.kind != ANSWER:  # what is not decided goes to a person, or stays without an answer
        open_cases = decided.codes < 0
        price += cases.final_price * int((written.codes < 0).sum())
        loss -= int(cases.losses_of(decided.codes)[open_cases].sum()) if cases.final.kind == HAND_OVER else 0
    return Candidate(loss, price, float(cases.seconds_of(judges).mean()), recipe)


def _at_once(cases: Cases, name: str, judges: Judges) -> list[Candidate]:
    judged = cases.decisions[name].of(judges)
    if cases.final.kind == ANSWER:
        return [_measured(cases, Recipe((judges,), (0.0,), name), judged.decided, judged.written)]
    own = _last_word(cases, judged.decided, judges)
    return _first_thresholds(cases, name, (judges,), own, _after_the_last(cases, judges))


def _last_word(cases: Cases, decided: Decided, judges: Judges) -> NDArray[np.int64]:
    """Return loss and price of each case that a stage decides, at any confidence, ``(n_cases, 2)``."""
    return np.column_stack([cases.losses_of(decided.codes), cases.price_of(judges)])


def _after_the_last(cases: Cases, judges: Judges) -> NDArray[np.int64]:
    """Return loss and price of each case that the last stage does not end, ``(n_cases, 2)``."""
    no_class = np.full(len(cases.truth), -1)
    loss = cases.losses_of(no_class) if cases.final.kind != HAND_OVER else np.zeros_like(no_class)
    return np.column_stack([loss, cases.price_of(judges) + cases.final_price])


def _added_seconds(cases: Cases, sets: tuple[Judges, ...]) -> Floats:
    return cases.seconds_of(tuple(judge for judge in sets[-1] if judge not in sets[-2]))


def _chain(cases: Cases, name: str, first: Judges, second: Judges) -> list[Candidate]:
    decisions = cases.decisions[name]
    one, two = decisions.of(first).decided, decisions.of(second).decided
    stopped = _last_word(cases, one, first)
    if cases.final.kind == ANSWER:
        return _first_thresholds(cases, name, (first, second), stopped, _last_word(cases, two, second))
    going_on, last = _last_word(cases, two, second), _after_the_last(cases, second)
    found = []
    for least, ends in _windows(decisions.of(second), going_on, last):
        rest = np.where(ends, going_on, last)
        found += _first_thresholds(cases, name, (first, second), stopped, rest, later=(least,))
    return found


def _first_thresholds(
    cases: Cases,
    name: str,
    sets: tuple[Judges, ...],
    stopped: NDArray[np.int64],
    going_on: NDArray[np.int64],
    *,
    waits: Floats | None = None,
    later: tuple[float, ...] | None = None,
) -> list[Candidate]:
    """Return the front of the thresholds of a first stage before given later stages.

    `waits`: seconds of continuing; by default the seconds of the second stage, if there is one. `later`:
    thresholds of the stages after the first; by default these stages answer every case that they can.
    """
    judged = cases.decisions[name].of(sets[0])
    written = judged.written
    front = threshold_front(judged.ordering, stopped, going_on, written)
    begun = cases.seconds_of(sets[0])
    added = np.zeros_like(begun)
    if len(sets) > 1:
        added = _added_seconds(cases, sets[:2]) if waits is None else waits
    told = bool(np.isfinite(begun).all())
    later = (0.0,) * (len(sets) - 1) if later is None else later
    found = []
    for point, least in zip(front.points, front.thresholds.tolist(), strict=True):
        seconds = float("nan")
        if told:
            ends = (written.codes >= 0) & (written.sure >= least)
            seconds = float((begun + np.where(ends, 0.0, added)).mean())
        found.append(Candidate(int(point[0]), int(point[1]), seconds, Recipe(sets, (least, *later), name)))
    return found


def _windows(
    judged: Judged, stopped: NDArray[np.int64], going_on: NDArray[np.int64]
) -> Iterator[tuple[float, Mask]]:
    """Yield thresholds of a stage, evenly spread over its front, with masks of the cases that the stage ends.

    The masks have the shape ``(n_cases, 2)``. The first column is out of fold, for losses. The second column
    is by the stage of the final panel, for prices.
    """
    front = threshold_front(judged.ordering, stopped, going_on, judged.written)
    places = np.unique(np.linspace(0, len(front.points) - 1, WINDOWS).astype(np.intp))
    for least in front.thresholds[places].tolist():
        both = [(one.codes >= 0) & (one.sure >= least) for one in (judged.ordering, judged.written)]
        yield least, np.column_stack(both)


def _three(cases: Cases, name: str, first: Judges, second: Judges, third: Judges) -> list[Candidate]:
    """Return policies of a chain of three stages.

    A few thresholds of the second stage are combined with all thresholds of the first stage.
    """
    decisions = cases.decisions[name]
    one, two, three = (decisions.of(judges).decided for judges in (first, second, third))
    last = _last_word(cases, three, third)
    middle = _last_word(cases, two, second)
    stopped = _last_word(cases, one, first)
    found = []
    for least, ends in _windows(decisions.of(second), middle, last):
        rest = np.where(ends, middle, last)
        waits = _added_seconds(cases, (first, second))
        waits = waits + np.where(ends[:, 1], 0.0, _added_seconds(cases, (second, third)))
        sets = first, second, third
        found += _first_thresholds(cases, name, sets, stopped, rest, waits=waits, later=(least, 0.0))
    return found


class PolicyFront:
    """Policies in which no policy dominates another."""

    def __init__(self, objectives: Sequence[str]) -> None:
        self._kept, self._new = list[Candidate](), list[Candidate]()
        self._objectives = objectives

    def add(self, found: list[Candidate]) -> None:
        """Add policies; of equal policies the earlier, simpler policy stays."""
        self._new += found

    @property
    def kept(self) -> list[Candidate]:
        """Return the non-dominated policies, with rising loss."""
        if self._new:
            self._kept = undominated([*self._kept, *self._new], self._objectives)
            self._new = []
        return self._kept
