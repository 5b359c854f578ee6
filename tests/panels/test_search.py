"""Policies of a search, each counted anew case by case, and the thresholds of a stage."""

import functools
import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shortlist.panels.candidates import committees_of, shape_of
from shortlist.panels.decisions import BY_CONFIDENCE, FIRST, Decided, Heard, JudgeVotes
from shortlist.panels.learning import LimitPassedError, OutOfFold
from shortlist.panels.objectives import right_or_wrong
from shortlist.panels.policy import Final, run_stages
from shortlist.panels.recipes import Candidate, Cases, bound_at, stages_of, threshold_front
from shortlist.panels.search import FAMILIES, find_policies
from shortlist.runs.budget import Budget
from tests.panels.oracles import best_of_oracle, out_of_fold, thresholds_tried, undominated

FINALS = (Final(), Final("hand-over", 7.0), Final("reject"))
NOBODY = JudgeVotes((), ())
TIMED = ("accuracy", "price", "latency")


def cases_of(
    seed: int,
    n_judges: int,
    final: Final,
    *,
    sure: bool = False,
    n_cases: int = 60,
    learner: str = "logistic",
    votes: JudgeVotes = NOBODY,
) -> Cases:
    """Cases with silence, a price for each call, and latencies; the later judges are better and dearer.

    `votes` say how votes are counted, by which and by `learner` cases are decided.
    """
    drawn = _drawn(seed, n_judges, sure, n_cases, learner, votes=votes)
    return replace(drawn, final=final, final_price=round(final.price))


@functools.cache
def _drawn(seed: int, n_judges: int, sure: bool, n_cases: int, learner: str, *, votes: JudgeVotes) -> Cases:
    """The same cases whatever the final decision is, with the fits of their decisions, which take longest."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n_cases)
    is_right = rng.random((n_cases, n_judges)) < np.linspace(0.45, 0.85, n_judges)
    words = np.where(is_right, truth[:, None], rng.integers(0, 4, is_right.shape))
    confidence = np.where(is_right, rng.random(words.shape), 0.5 * rng.random(words.shape)) * sure
    answers = Heard(words, confidence, 3)
    prices = rng.integers(1, 4, words.shape) * np.arange(1, n_judges + 1)
    latency = rng.integers(1, 9, words.shape) / 4.0
    folds = np.arange(n_cases) % 3
    names = dict.fromkeys(("agreement", "votes", learner))
    decisions = {name: OutOfFold(answers, truth, folds, name, counting=votes) for name in names}
    for array in (truth, words, confidence, prices, latency):
        array.setflags(write=False)
    return Cases(answers, truth, prices, latency, right_or_wrong(3), Final(), 0, decisions)


def tried_in(cases: Cases, max_stages: int) -> list[Candidate]:
    """All policies that a search measures."""
    front, tried = find_policies(cases, max_stages=max_stages, budget=Budget()).found, list[Candidate]()
    for family in shape_of(cases).families:
        for work in FAMILIES[family](cases, max_stages, front, tried):
            tried += [one for job in work.jobs for one in job(cases)]
    return tried


def found_in(cases: Cases, max_stages: int, **options: Any) -> list[Candidate]:
    return find_policies(cases, max_stages=max_stages, budget=Budget(), **options).found


@pytest.mark.parametrize("final", FINALS, ids=lambda final: final.kind)
@pytest.mark.parametrize("max_stages", [1, 2, 3])
@pytest.mark.parametrize("sure", [False, True], ids=["labels alone", "with confidence"])
def test_every_policy_has_the_loss_price_and_seconds_of_its_cases(
    final: Final, max_stages: int, sure: bool
) -> None:
    for seed, n_judges in ((0, 3), (1, 4)):
        cases = cases_of(seed, n_judges, final, sure=sure)
        found = found_in(cases, max_stages, objectives=TIMED[: 2 + (n_judges == 3)])
        for one in found:
            loss, price, seconds = out_of_fold(cases, one)
            assert (one.loss, one.price) == (loss, price)
            assert one.seconds == pytest.approx(seconds)


@pytest.mark.parametrize("final", FINALS, ids=lambda final: final.kind)
@pytest.mark.parametrize("learner", ["votes", "logistic", "dawid-skene"])
def test_the_stages_that_are_built_pay_what_the_front_says(final: Final, learner: str) -> None:
    cases = cases_of(1, 4, final, learner=learner)
    for one in found_in(cases, 3):
        stages = stages_of(one.recipe, cases.decisions)
        outcome = run_stages(stages, cases.answers, cases.prices.astype(float), cases.latency, final)
        assert outcome.price.sum() == pytest.approx(one.price)
        if one.recipe.learner in {"agreement", "votes"}:
            kept = ~outcome.handed_over
            assert cases.losses_of(outcome.codes)[kept].sum() == one.loss


@pytest.mark.parametrize("with_latency", [False, True])
def test_no_point_of_a_front_dominates_another_and_none_is_there_twice(with_latency: bool) -> None:
    cases = cases_of(1, 4, Final(), sure=True)
    found = found_in(cases, 3, objectives=TIMED[: 2 + with_latency])
    points: list[Any] = [(one.loss, one.price, *((one.seconds,) * with_latency)) for one in found]
    assert sorted(points) == undominated(points)
    assert len(points) > 3


@pytest.mark.parametrize("n_judges", [2, 3, 5])
def test_all_committees_by_votes_of_up_to_five_judges_are_on_the_front_or_dominated(n_judges: int) -> None:
    cases = cases_of(5, n_judges, Final(), learner="votes")
    front = [(one.loss, one.price) for one in found_in(cases, 1)]
    for size in range(1, n_judges + 1):
        for judges in itertools.combinations(range(n_judges), size):
            tally = (cases.answers.words[:, list(judges), None] == np.arange(3)).sum(axis=1)
            top = tally.max(axis=1)
            alone = (tally == top[:, None]).sum(axis=1) == 1
            loss = int((~alone | (tally.argmax(axis=1) != cases.truth)).sum())
            price = int(cases.prices[:, list(judges)].sum())
            assert any(a <= loss and b <= price for a, b in front)


@pytest.mark.parametrize("missing", ["ignored", "counted"])
@pytest.mark.parametrize("final", FINALS, ids=lambda final: final.kind)
def test_committees_by_majority_are_counted_as_they_decide(final: Final, missing: str) -> None:
    votes = replace(NOBODY, rule="majority", missing=missing)
    cases = cases_of(8, 5, final, n_cases=200, learner="votes", votes=votes)
    found = tried_in(cases, 3)
    assert any(len(one.recipe.sets[-1]) > 1 for one in found)
    for one in found:
        assert (one.loss, one.price) == out_of_fold(cases, one)[:2]


def test_losses_by_kind_of_mistake_are_those_that_are_minimised() -> None:
    cases = cases_of(0, 3, Final(), sure=True)
    losses = np.array([[0, 9, 1], [2, 0, 5], [4, 1, 0], [3, 3, 3]])
    dear = replace(cases, losses=losses)
    for one in found_in(dear, 2):
        assert (one.loss, one.price) == out_of_fold(dear, one)[:2]


def test_claims_say_what_is_complete_and_what_is_not() -> None:
    told = [find_policies(cases_of(0, 3, final), max_stages=3, budget=Budget())[1] for final in FINALS]
    assert any("chains of sets of judges, with every threshold." in claim for claim in told[0])
    assert any("Three stages, answers combined by logistic regression: " in claim for claim in told[0])
    for claims in told[1:]:
        assert any("every threshold of the first stage and 12 of the second" in one for one in claims)
        assert "Chains of three stages are searched only where the last stage always answers." in claims


def test_a_limit_ends_a_search_with_what_it_has_and_says_so() -> None:
    ticks = itertools.count()
    budget = Budget(3, clock=lambda: float(next(ticks)))
    found, claims, *_ = find_policies(cases_of(0, 4, Final()), max_stages=2, budget=budget)
    assert found
    assert claims[-1].startswith("Not finished, as a limit came first: ")


@pytest.mark.parametrize("seed", range(12))
def test_nobody_who_asks_one_judge_about_each_case_is_right_more_often_than_the_bound(seed: int) -> None:
    cases = cases_of(seed, 3, Final(), n_cases=6, learner="votes")
    for total in (0, 4, 7, 10, 14, 20, 60):
        most = best_of_oracle(cases, total)
        bound = bound_at(cases, total / 6) * 6
        assert bound == pytest.approx(most)


@pytest.mark.parametrize("final", FINALS, ids=lambda final: final.kind)
def test_no_single_judge_or_committee_is_right_more_often_than_the_bound(final: Final) -> None:
    cases = cases_of(7, 5, final, learner="votes")
    n = len(cases.truth)
    for one in found_in(cases, 1):
        if one.recipe.alone is not None:  # which asks no judge
            continue
        assert 1 - one.loss / n <= bound_at(cases, one.price / n) + 1e-12


def test_each_shape_of_cases_says_what_is_searched_and_why() -> None:
    plain, wide = cases_of(0, 3, Final(), sure=True), cases_of(0, 7, Final(), sure=True)
    voting = cases_of(0, 3, Final(), sure=True, learner="votes")
    words = np.tile(np.arange(3), (len(plain.truth), 1))
    alone = replace(plain, answers=plain.answers._replace(words=words), is_open=True)
    sure = replace(alone, decisions={**alone.decisions, BY_CONFIDENCE: alone.decisions["votes"]})
    alone_or_two = "single judges, judges with another one where they are silent"
    cascades = f"one answer to every case, {alone_or_two}, pairs that agree, agreement cascades of three, agreement cascades of four"
    for cases, name, families, why in (
        (alone, "answers of which no two are equal, as scores alone (3", "single judges and", "nothing to vote on"),
        (sure, "answers of which no two are equal, with confidences (3", "single judges and cascades by confidence", "nothing to vote on"),
        (voting, "answers from which nothing is learned (3", f"{cascades}, votes and", "only be voted on"),
        (plain, "a few judges (3", f"{cascades}, committees of any size, learned scores and", "gain nothing over learned scores"),
        (wide, "many judges (7", f"{cascades}, committees of any size, learned scores and", "airs are learned where they agree well"),
    ):  # fmt: skip
        told = shape_of(cases).sentence(cases)
        assert told.startswith(f"For {name} judges), these are searched: {families}")
        assert told.endswith(f"{why}.")


@pytest.mark.parametrize("seed", range(3))
def test_committees_that_break_ties_are_counted_as_they_decide(seed: int) -> None:
    cases = cases_of(seed, 4, Final(), learner="votes", votes=replace(NOBODY, ties=FIRST))
    found = tried_in(cases, 1)
    for one in found:
        assert (one.loss, one.price) == out_of_fold(cases, one)[:2]
    committees = [one for one in found if len(one.recipe.judges) > 1]
    assert committees
    for one in committees:
        assert stages_of(one.recipe, cases.decisions)[-1].decision.plain()["ties"] == FIRST


@pytest.mark.parametrize("seed", range(60))
def test_the_front_of_a_stage_is_that_of_all_its_thresholds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for most_loss in (1, 1, 5):
        n_cases, n_classes = rng.integers(1, 9), int(rng.integers(1, 4))
        codes = rng.integers(-1, n_classes, n_cases)
        decided = Decided(codes, np.where(codes < 0, 0.0, rng.integers(1, 4, n_cases) / 4))
        stopped = np.column_stack([rng.integers(0, most_loss + 1, n_cases), rng.integers(0, 4, n_cases)])
        going_on = np.column_stack(
            [rng.integers(0, most_loss + 1, n_cases), stopped[:, 1] + rng.integers(0, 4, n_cases)]
        )
        front = threshold_front(decided, stopped, going_on)
        assert [tuple(point) for point in front.points.tolist()] == thresholds_tried(
            decided, stopped, going_on
        )
        for point, least in zip(front.points, front.thresholds, strict=True):
            ends = (codes >= 0) & (decided.sure >= least)
            assert np.where(ends[:, None], stopped, going_on).sum(axis=0).tolist() == point.tolist()


@pytest.mark.parametrize("seed", range(60))
def test_a_threshold_pays_by_the_stage_that_is_written_and_loses_out_of_fold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_cases = int(rng.integers(1, 9))
    both = []
    for _ in range(2):
        codes = rng.integers(-1, 2, n_cases)
        both.append(Decided(codes, np.where(codes < 0, 0.0, rng.integers(0, 5, n_cases) / 4)))
    decided, written = both
    stopped = np.column_stack([rng.integers(0, 3, n_cases), rng.integers(0, 4, n_cases)])
    going_on = stopped + np.column_stack([rng.integers(-1, 2, n_cases), rng.integers(0, 4, n_cases)])
    front = threshold_front(decided, stopped, going_on, written)
    slow = thresholds_tried(decided, stopped, going_on, written)
    assert [tuple(point) for point in front.points.tolist()] == slow
    for point, least in zip(front.points.tolist(), front.thresholds, strict=True):
        for column, one in enumerate(both):
            ends = (one.codes >= 0) & (one.sure >= least)
            assert np.where(ends, stopped[:, column], going_on[:, column]).sum() == point[column]
    alike = threshold_front(decided, stopped, going_on, Decided(decided.codes.copy(), decided.sure.copy()))
    assert alike.points.tolist() == threshold_front(decided, stopped, going_on).points.tolist()


def test_a_stage_that_decides_nothing_sends_all_cases_on() -> None:
    nothing = Decided(np.full(3, -1), np.zeros(3))
    front = threshold_front(nothing, np.zeros((3, 2), dtype=np.int64), np.full((3, 2), 2))
    assert front.points.tolist() == [[6, 6]]
    assert front.thresholds.tolist() == [np.inf]


class Looks:
    """A clock that counts how often somebody looks at it, and goes on by a second each time."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self) -> float:
        """Return the time."""
        self.n += 1
        return float(self.n)


@pytest.mark.parametrize("learner", ["logistic", "dawid-skene", "weighted-votes"])
@pytest.mark.parametrize("most", [1, 9, 30, 120, 400])
def test_a_search_ends_at_the_first_look_at_the_clock_after_its_limit(learner: str, most: int) -> None:
    n_judges, clock = 6, Looks()
    cases = cases_of(1000 + most, n_judges, Final(), learner=learner)
    searched = find_policies(cases, max_stages=3, budget=Budget(most, clock=clock))
    always = n_judges + 1  # single judges, and one answer to every case
    assert clock.n <= 1 + most + always + 1
    if clock.n > most:
        assert searched.claims[-1].startswith("Not finished, as a limit came first: ")
    asked = {one.recipe.sets for one in searched.tried}
    assert {((judge,),) for judge in range(n_judges)} <= asked


def test_what_is_learned_looks_at_the_clock_in_every_step_and_nothing_is_learned_after_the_limit() -> None:
    n_judges, clock = 4, Looks()
    cases = cases_of(2000, n_judges, Final())
    find_policies(cases, max_stages=1, budget=Budget(10**9, clock=clock), families=["learned scores"])
    n_fits = (2**n_judges - 1) * 4  # of each set of judges all cases, and those without each of three folds
    assert clock.n > 5 * n_fits
    again = cases_of(2001, n_judges, Final())
    budget = Budget(clock.n // 2, clock=Looks())
    find_policies(again, max_stages=1, budget=budget, families=["learned scores"])
    judged = again.decisions["logistic"]
    assert isinstance(judged, OutOfFold)
    known = len(judged._known)
    assert 0 < known < 2**n_judges - 1
    with pytest.raises(LimitPassedError), judged.until(lambda: True):
        judged.of(range(n_judges))
    judged.of(range(n_judges))  # outside a search there is no limit
    assert len(judged._known) == known + 1


def test_growing_a_committee_looks_at_the_clock() -> None:
    cases = cases_of(2002, 8, Final(), learner="votes")
    votes = cases.decisions["votes"]
    assert isinstance(votes, OutOfFold)
    with pytest.raises(LimitPassedError), votes.until(lambda: True):
        committees_of(cases)
