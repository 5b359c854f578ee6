"""Plain and slow twins of what panels compute, case by case."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.panels.decisions import Decided, Heard, JudgeVotes, ScoreTable
from shortlist.panels.policy import HAND_OVER
from shortlist.panels.recipes import Candidate, Cases


def undominated(points: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the different points that no other one dominates, sorted."""
    every = set(points)
    return sorted(
        one for one in every
        if not any(other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in every)
    )  # fmt: skip


def thresholds_tried(
    decided: Decided, stopped: NDArray[np.int64], going_on: NDArray[np.int64], written: Decided | None = None
) -> list[tuple[int, ...]]:
    """Return the front of loss and price over all thresholds of a stage, which pays as it is written."""
    both = (decided, written or decided)
    points = []
    for least in (math.inf, *np.unique(np.concatenate([one.sure[one.codes >= 0] for one in both]))):
        point = [0, 0]
        for column, one in enumerate(both):
            for case, code in enumerate(one.codes):
                ends = code >= 0 and one.sure[case] >= least
                point[column] += int((stopped if ends else going_on)[case, column])
        points.append((point[0], point[1]))
    return undominated(points)


def voted(votes: JudgeVotes, words: Sequence[int], n_classes: int) -> tuple[int, float]:
    """Return the class that one case gets by votes, and how sure it is."""
    tally = [0] * n_classes
    for word, own in zip(words, votes.votes, strict=False):
        if word < n_classes:
            tally[word] += own
    every = sum(votes.votes) if votes.missing == "counted" else sum(tally)
    most = max(tally)
    tied = tally.count(most) > 1 and votes.ties == "unanswered"
    if most == 0 or tied or (votes.rule == "majority" and 2 * most <= every):
        return -1, 0.0
    winners = [code for code in range(n_classes) if tally[code] == most]
    if votes.ties == "latest":
        last = {word: place for place, word in enumerate(words)}
        winners.sort(key=lambda code: -last.get(code, -1))
    return winners[0], most / every


def scored(table: ScoreTable, words: Sequence[int], confidence: Sequence[float]) -> list[float]:
    """Return how probable each class of one case is, with the weights by their names."""
    plain = table.plain()
    scores = list(plain["bias"])
    for judge, (word, sure) in enumerate(zip(words, confidence, strict=True)):
        for code in range(table.n_classes):
            scores[code] += plain["labels"][judge][word][code]
            if word < table.n_classes:
                scores[code] += sure * plain["slopes"][judge][word][code]
    powers = [math.exp(one - max(scores)) for one in scores]
    return [one / sum(powers) for one in powers]


def dawid_skene(words: NDArray[np.int64], truth: NDArray[np.int64], n_classes: int, n_rounds: int) -> Floats:
    """Return how probable each class of each case is, by expectation maximisation in plain loops."""
    n_cases, n_judges = words.shape
    shares = np.zeros((n_cases, n_classes))
    for case in range(n_cases):
        tally = [1e-6 + sum(word == code for word in words[case]) for code in range(n_classes)]
        for code in range(n_classes):
            known = float(truth[case] == code)
            shares[case, code] = known if truth[case] >= 0 else tally[code] / sum(tally)
    for _ in range(n_rounds + 1):
        prior = [0.5 + shares[:, true].sum() for true in range(n_classes)]
        said = np.array([0.5 * (1 + np.eye(n_classes))] * n_judges)
        for case, judge, true in itertools.product(range(n_cases), range(n_judges), range(n_classes)):
            if words[case, judge] < n_classes:
                said[judge, words[case, judge], true] += shares[case, true]
        told = np.zeros((n_cases, n_classes))
        for case, true in itertools.product(range(n_cases), range(n_classes)):
            product = prior[true] / sum(prior)
            for judge in range(n_judges):
                if words[case, judge] < n_classes:
                    product *= said[judge, words[case, judge], true] / said[judge, :, true].sum()
            told[case, true] = product
        told /= told.sum(axis=1, keepdims=True)
        shares[truth < 0] = told[truth < 0]
    return told


def out_of_fold(cases: Cases, found: Candidate) -> tuple[int, int, float]:
    """Return loss, price and mean seconds of a policy by following every case through its stages.

    For the loss a stage decides out of fold, and what ends a case is what its thresholds tell cases apart by.
    Price and seconds are those of the stages as they are written.
    """
    told = _through_stages(cases, found, as_written=False)
    if found.recipe.learner in {"votes", "agreement"}:  # nothing is learned
        return told
    return told[0], *_through_stages(cases, found, as_written=True)[1:]


def _through_stages(cases: Cases, found: Candidate, *, as_written: bool) -> tuple[int, int, float]:
    recipe, n = found.recipe, len(cases.truth)
    loss = price = 0
    seconds = 0.0
    for case in range(n):
        asked: tuple[int, ...] = ()
        said, ended = -1, cases.final.kind == "answer"
        for number, judges in enumerate(recipe.sets):
            new = [judge for judge in judges if judge not in asked]
            asked = judges
            price += int(cases.prices[case, new].sum())
            seconds += float(cases.latency[case, new].max(initial=0.0))
            is_last = number == len(recipe.sets) - 1
            code, ends = _stage_of(cases, found, number, case, as_written=as_written)
            if ends or (is_last and cases.final.kind == "answer"):
                said, ended = code, True
                break
        if not ended:
            price += cases.final_price
        if ended or cases.final.kind != HAND_OVER:
            loss += int(cases.losses[said, cases.truth[case]])
    return loss, price, seconds / n


def _stage_of(
    cases: Cases, found: Candidate, number: int, case: int, *, as_written: bool
) -> tuple[int, bool]:
    """Return the decision of a stage about a case, and whether it ends the case."""
    recipe = found.recipe
    if recipe.alone is not None:
        return recipe.alone.code, True
    judged = cases.decisions[recipe.learner].of(recipe.sets[number])
    decided, order = judged.decided, judged.ordering
    if as_written:
        decided = order = judged.decision.decide(cases.answers.of(judged.decision.judges))
    is_sure = order.codes[case] >= 0 and order.sure[case] >= recipe.thresholds[number]
    return int(decided.codes[case]), bool(is_sure)


def best_of_oracle(cases: Cases, total: int) -> int:
    """Return how many cases somebody is right about, at most, who asks one judge about each for this sum."""
    n, most = len(cases.truth), 0
    for asked in itertools.product(range(cases.n_judges), repeat=n):
        price = sum(int(cases.prices[case, judge]) for case, judge in enumerate(asked))
        if price <= total:
            right = sum(
                cases.answers.words[case, judge] == cases.truth[case] for case, judge in enumerate(asked)
            )
            most = max(most, int(right))
    return most


def heard_at_random(
    rng: np.random.Generator, n_cases: int, n_judges: int, n_classes: int, *, sure: bool = True
) -> Heard:
    """Answers, some of them silent, with confidence or without."""
    words = rng.integers(0, n_classes + 1, (n_cases, n_judges))
    return Heard(words, np.round(rng.random(words.shape), 2) * sure, n_classes)
