"""Sets of judges that a search tries: all sets if there are few judges, and some sets if there are many."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist.arrays import Floats
from shortlist.panels.decisions import BY_CONFIDENCE, Heard, JudgeVotes
from shortlist.panels.learning import PRUNED, UNSCORED, VOTES, VOTING, OutOfFold
from shortlist.panels.recipes import Candidate, Cases, Judges

ALL_SETS_UP_TO, ALL_PAIRS_UP_TO = 5, 30
"""Largest number of judges of which every set becomes a stage, and largest number of judges of which every
chain of two is tried.
"""
LARGEST_GROWN, MOST_VOTERS = 5, 15
"""Size of the largest set that grows judge by judge, and largest number of voting judges."""
MOST_TRIPLES, MOST_PAIRS_AT_ONCE = 60, 40
"""Largest number of chains of three stages, and of chains that ask two judges at once before a third."""
CASES_A_JUDGE = 5
"""Number of cases per judge needed to choose policies of several judges."""
NEAR_SLOPES = 16
"""Number of trade-offs of loss and price; at each of them policies are compared with the best policy."""


def committees_of(cases: Cases) -> list[Judges]:
    """Return committees of many judges: the most accurate judges, grown committees, and all judges."""
    n = cases.n_judges
    ranked = ranked_judges(cases)
    grown = _grown_by_votes(cases, ranked)
    tried = itertools.chain(
        (tuple(ranked[:size]) for size in range(2, min(n, MOST_VOTERS) + 1)),
        (grown[:size] for size in range(2, len(grown) + 1)),
        [tuple(range(n))],
    )
    return list(dict.fromkeys(tuple(sorted(members)) for members in tried))


SIZES = (2, 3, 4, 5, 7, 9, 11, 13, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000)
"""Sizes of committees of the best judges; sizes above the number of judges are left out."""


def ranked_sets(cases: Cases) -> list[Judges]:
    """Return all sets of two or more judges; of many judges, sets of the best judges and the set of all."""
    n = cases.n_judges
    if n <= ALL_SETS_UP_TO:
        return [one for size in range(2, n + 1) for one in itertools.combinations(range(n), size)]
    ranked = ranked_judges(cases)
    return [tuple(sorted(ranked[:size])) for size in (*(one for one in SIZES if one < n), n)]


def ranked_judges(cases: Cases) -> list[int]:
    """Return the indices of the judges, sorted by the loss of a judge that answers alone, the best first."""
    losses = [int(cases.losses_of(column).sum()) for column in _columns(cases)]
    return sorted(range(cases.n_judges), key=lambda judge: (losses[judge], judge))


def _columns(cases: Cases) -> Iterator[NDArray[np.int64]]:
    """Yield the answers of each judge as class indices, ``(n_cases,)``; -1 for silence."""
    for judge in range(cases.n_judges):
        words = cases.answers.words[:, judge]
        yield np.where(words == cases.answers.n_classes, -1, words)


def _grown_by_votes(cases: Cases, ranked: list[int]) -> Judges:
    """Return a committee grown by votes.

    Each step adds the judge that gives the plurality of all members the least loss.
    """
    members = [ranked[0]]
    judged = cases.decisions[VOTES]
    no_judge = judged.of(()).decision
    assert isinstance(no_judge, JudgeVotes)
    while len(members) < min(MOST_VOTERS, cases.n_judges):
        if isinstance(judged, OutOfFold):
            judged.check_limit()
        rest = [judge for judge in ranked if judge not in members]
        votes = replace(no_judge, votes=(1,) * (len(members) + 1))
        losses = [
            cases.losses_of(votes.decide(cases.answers.of([*members, judge])).codes).sum() for judge in rest
        ]
        members.append(rest[int(np.argmin(losses))])
    return tuple(members)


def stage_sets(cases: Cases, name: str) -> list[Judges]:
    """Return the sets of judges whose answers decide a stage; the rule of confidence uses single judges."""
    n = cases.n_judges
    if name == BY_CONFIDENCE:
        return [(judge,) for judge in np.flatnonzero(cases.answers.confidence.any(axis=0)).tolist()]
    if n <= ALL_SETS_UP_TO:
        return [one for size in range(1, n + 1) for one in itertools.combinations(range(n), size)]
    larger = committees_of(cases) if name in VOTING else _grown_sets(cases, name)
    return [(judge,) for judge in range(n)] + larger


def _grown_sets(cases: Cases, name: str) -> list[Judges]:
    """Return sets grown by the most helpful judge, from the best judge and from a good and cheap judge."""
    n, losses = cases.n_judges, _losses_alone(cases, name)
    mean = cases.prices.mean(axis=0)
    starts = {int(np.argmin(losses)), int(np.argmin(losses + np.max(losses) * mean / max(mean.max(), 1)))}
    likely = sorted(range(n), key=lambda judge: losses[judge])[: min(ALL_PAIRS_UP_TO, told_apart(cases))]
    grown: dict[Judges, None] = {}
    for start in sorted(starts):
        members: Judges = (start,)
        while len(members) < min(LARGEST_GROWN, n):
            tried = [tuple(sorted((*members, judge))) for judge in likely if judge not in members]
            members = min(tried, key=lambda one: _loss_of_set(cases, name, one))
            grown[members] = None
    return list(grown)


def _loss_of_set(cases: Cases, name: str, judges: Judges) -> int:
    return int(cases.losses_of(cases.decisions[name].of(judges).decided.codes).sum())


def _losses_alone(cases: Cases, name: str) -> NDArray[np.int64]:
    return np.array([_loss_of_set(cases, name, (judge,)) for judge in range(cases.n_judges)])


def pairs_of(
    cases: Cases, name: str, sets: list[Judges], tried: list[Candidate]
) -> list[tuple[Judges, Judges]]:
    """Return chains of two stages: a set, then a set that contains it; by confidence, then any other judge.

    Of many judges, stages with votes of two judges are left out, as two votes rarely decide differently from
    one judge alone. Chains that ask two judges at once before a third come from agreement cascades: the
    cascades in `tried` near the front of `tried`.

    `tried`: agreement cascades of three judges.
    """
    n = cases.n_judges
    if name == BY_CONFIDENCE:
        follow = promising_judges(cases, ALL_PAIRS_UP_TO)
        return [(one, (*one, judge)) for one in sets for judge in follow if judge not in one]
    containing = [(two, {*two}) for two in sets if len(two) > 1]
    nested = [(one, two) for one in sets for two, judges in containing if {*one} < judges]
    if n <= ALL_SETS_UP_TO or (name in VOTING and n > ALL_PAIRS_UP_TO):
        return nested
    judges = promising_judges(cases, ALL_PAIRS_UP_TO)
    couples: list[tuple[Judges, Judges]] = [
        ((a,), tuple(sorted((a, b)))) for a, b in itertools.permutations(judges, 2)
    ]
    larger = [one for one in sets if len(one) > 2]
    added: list[tuple[Judges, Judges]] = [
        ((a,), tuple(sorted({a, *one}))) for a in judges for one in larger if a not in one
    ]
    three = near_front([one for one in tried if len(one.recipe.sets[-1]) == 3], MOST_PAIRS_AT_ONCE)
    at_once = [(tuple(sorted(one.recipe.sets[0])), one.recipe.judges) for one in three]
    return list(dict.fromkeys(at_once + couples + nested + added))


def told_apart(cases: Cases) -> int:
    """Return the number of judges that the cases can tell apart; at least :data:`ALL_SETS_UP_TO`."""
    return max(ALL_SETS_UP_TO, len(cases.truth) // CASES_A_JUDGE)


def promising_judges(cases: Cases, most: int) -> Judges:
    """Return at most `most` judges: first judges that no cheaper judge beats, then judges of least loss.

    The number is also limited by :func:`told_apart`.
    """
    most = min(most, told_apart(cases))
    if cases.n_judges <= most:
        return tuple(range(cases.n_judges))
    losses = np.array([int(cases.losses_of(column).sum()) for column in _columns(cases)])
    mean = cases.prices.mean(axis=0)
    order = np.lexsort((losses, mean))
    best = np.minimum.accumulate(losses[order])
    bargains = order[losses[order] == best]
    ranked = [*bargains.tolist(), *np.argsort(losses, kind="stable").tolist()]
    return tuple(sorted(list(dict.fromkeys(ranked))[:most]))


def near_front(found: Sequence[Candidate], most: int) -> list[Candidate]:
    """Return at most `most` policies, those nearest to the best policy at some trade-off of loss and price.

    At each trade-off a policy costs some share more than the best policy. The least of its shares ranks a
    policy.
    """
    if len(found) <= most:
        return list(found)
    points = np.array([(one.loss, one.price) for one in found], dtype=np.float64)
    costs = points[:, :1] + points[:, 1:] * np.array(trade_offs(points, NEAR_SLOPES))
    away = (costs / np.maximum(costs.min(axis=0), 1e-300)).min(axis=1)
    return [found[place] for place in np.argsort(away, kind="stable")[:most].tolist()]


def trade_offs(points: Floats, most: int) -> list[float]:
    """Return at most `most` trade-offs: values of one unit of price, in units of loss.

    The trade-offs are slopes of the convex hull of loss and price, taken evenly from all slopes. `points`:
    loss and price, ``(n_points, 2)``.
    """
    order = points[np.lexsort((points[:, 1], points[:, 0]))]
    front = order[np.concatenate([[True], order[1:, 1] < np.minimum.accumulate(order[:, 1])[:-1]])]
    corners: list[Floats] = []
    for point in front:
        while len(corners) > 1 and _slope(corners[-2], corners[-1]) >= _slope(corners[-1], point):
            corners.pop()
        corners.append(point)
    slopes = [_slope(a, b) for a, b in itertools.pairwise(corners)]
    if not slopes:
        return [0.0]
    places = np.unique(np.linspace(0, len(slopes) - 1, most).astype(np.intp))
    return [slopes[place] for place in places.tolist()]


def _slope(lossless: Floats, cheap: Floats) -> float:
    return float((cheap[0] - lossless[0]) / (lossless[1] - cheap[1]))


def confident_triples(cases: Cases, found: list[Candidate]) -> list[tuple[Judges, Judges, Judges]]:
    """Return cascades of three judges by confidence.

    With few judges all cascades are returned. With many judges, each cascade of two in `found` gets a third
    judge.

    `found`: policies, among them cascades of two judges.
    """
    tells = {judge for (judge,) in stage_sets(cases, BY_CONFIDENCE)}
    orders: Iterator[Judges] = itertools.permutations(range(cases.n_judges), 3)
    if cases.n_judges > ALL_SETS_UP_TO:
        chains = [one.recipe.sets[-1] for one in found if one.recipe.learner == BY_CONFIDENCE]
        pairs = [one for one in dict.fromkeys(chains) if len(one) == 2]
        judges = promising_judges(cases, ALL_PAIRS_UP_TO)
        grown = ((a, b, c) for a, b in pairs for c in judges if c not in {a, b})
        orders = itertools.chain.from_iterable(((a, b, c), (a, c, b), (c, a, b)) for a, b, c in grown)
    every = list(dict.fromkeys(one for one in orders if one[0] in tells and one[1] in tells))
    spread = np.unique(np.linspace(0, max(0, len(every) - 1), MOST_TRIPLES).astype(np.intp))
    kept = [every[place] for place in spread.tolist()] if every else []
    return [((a,), (a, b), (a, b, c)) for a, b, c in kept]


def triples_of(found: list[Candidate], name: str, sets: list[Judges]) -> list[tuple[Judges, Judges, Judges]]:
    """Return chains of three stages: a chain of two on the front, with a set before, between or behind."""
    known = list(dict.fromkeys(one.recipe.sets for one in found if one.recipe.learner == name))
    triples: dict[tuple[Judges, ...], None] = {}
    for chain in (one for one in known if len(one) == 2):
        for middle in sets:
            three = sorted({*chain, middle}, key=lambda one: (len(one), one))
            if len(three) == 3 and set(three[0]) < set(three[1]) < set(three[2]):
                triples[tuple(three)] = None
    return [(one[0], one[1], one[2]) for one in list(triples)[:MOST_TRIPLES]]


def fallbacks_of(cases: Cases) -> list[tuple[Judges, Judges]]:
    """Return pairs: a judge that is silent in some case, and a judge that can replace it in this case.

    With many judges, only the most promising judges are paired.
    """
    judges = promising_judges(cases, ALL_PAIRS_UP_TO)
    is_silent = (cases.answers.words == cases.answers.n_classes).any(axis=0)
    return [((a,), (a, b)) for a, b in itertools.permutations(judges, 2) if is_silent[a]]


CONSTANT, FALLBACKS = "one answer to every case", "judges with another one where they are silent"
COMMITTEES = "committees of any size"
CHOSEN = "committees chosen by exact pruning"
SINGLE, PAIRS, LEARNED, VOTED = "single judges", "pairs that agree", "learned scores", "votes"
CASCADES_OF_THREE, CASCADES_OF_FOUR = "agreement cascades of three", "agreement cascades of four"
THREE_STAGES, CONFIDENT = "chains of three stages", "cascades by confidence"
UNLEARNED = {SINGLE, FALLBACKS, PAIRS, CASCADES_OF_THREE, CASCADES_OF_FOUR, CONFIDENT}
"""Families whose decisions are not learned, so that their policies cost almost nothing to measure."""


class Shape(NamedTuple):
    """Shape of cases, with the families of policies tried for cases of this shape, and the reason.

    Cheap and promising families come first.
    """

    name: str
    holds: Callable[[Cases], bool]
    families: tuple[str, ...]
    why: str

    def sentence(self, cases: Cases) -> str:
        """Return a sentence on the searched families and the reason."""
        return (
            f"For {self.name} ({counted(cases.n_judges, 'judge')}), these are searched: "
            f"{all_of(self.families)}. {self.why}."
        )


def _all_differ(answers: Heard) -> bool:
    """Return whether all judges' answers to a case differ, in every case."""
    own = answers.words == np.arange(answers.words.shape[1])
    return bool((own | (answers.words == answers.n_classes)).all())


CASCADES = (CONSTANT, SINGLE, FALLBACKS, PAIRS, CASCADES_OF_THREE, CASCADES_OF_FOUR)
SHAPES = (
    Shape(
        "answers of which no two are equal, with confidences",
        lambda cases: BY_CONFIDENCE in cases.decisions,
        (SINGLE, CONFIDENT),
        "There is nothing to vote on",
    ),
    Shape(
        "answers of which no two are equal, as scores alone",
        lambda cases: cases.is_open and _all_differ(cases.answers),
        (SINGLE, FALLBACKS),
        "There is nothing to vote on",
    ),
    Shape(
        "answers of many judges from which nothing is learned",
        lambda cases: PRUNED in cases.decisions,
        (*CASCADES, VOTED, CHOSEN, THREE_STAGES),
        "Exact pruning leaves out judges who err together",
    ),
    Shape(
        "answers from which nothing is learned",
        lambda cases: all(name in UNSCORED for name in cases.decisions),
        (*CASCADES, VOTED, THREE_STAGES),
        "Such answers can only be voted on",
    ),
    Shape(
        "a few judges",
        lambda cases: cases.n_judges <= ALL_SETS_UP_TO,
        (*CASCADES, COMMITTEES, LEARNED, THREE_STAGES),
        "Chains by votes are not, as they gain nothing over learned scores",
    ),
    Shape(
        "many judges",
        lambda _cases: True,
        (*CASCADES, COMMITTEES, LEARNED, THREE_STAGES),
        "Pairs are learned where they agree well",
    ),
)
"""Shapes in the order of testing; the first shape that holds for the cases is taken."""


def shape_of(cases: Cases) -> Shape:
    """Return the first shape that holds for the cases."""
    return next(shape for shape in SHAPES if shape.holds(cases))
