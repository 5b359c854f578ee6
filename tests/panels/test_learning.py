"""Learned decisions against scikit-learn, a plain expectation maximisation, and all outcomes of votes."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from shortlist.panels.answer_log import Measures, make_log
from shortlist.panels.candidates import SINGLE, VOTED
from shortlist.panels.choice import choose_panels
from shortlist.panels.decisions import MISSING, TIES, VOTE_RULES, Heard, JudgeVotes
from shortlist.panels.facts import panel_report
from shortlist.panels.learning import (
    EM_ROUNDS,
    LEARNERS,
    MOST_VOTES,
    PENALTY,
    PSEUDO_COUNT,
    VOTES,
    WEIGHTED,
    OutOfFold,
    fit_dawid_skene,
    fit_logistic,
    fit_weighted_votes,
    folds_of,
)
from shortlist.panels.panel_choice import PanelChoice
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.policy import Final
from shortlist.panels.recipes import Candidate, Cases, Recipe
from shortlist.results.proof import ProofKind
from tests.panels.made import log_of, priced_log
from tests.panels.oracles import dawid_skene, heard_at_random, out_of_fold, thresholds_tried, undominated
from tests.panels.test_search import FINALS, cases_of, found_in, tried_in


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("sure", [True, False])
def test_logistic_regression_is_that_of_scikit_learn_on_the_same_columns(n_classes: int, sure: bool) -> None:
    rng = np.random.default_rng(n_classes)
    answers = heard_at_random(rng, 300, 3, n_classes, sure=sure)
    truth = np.where(rng.random(300) < 0.7, answers.words[:, 0] % n_classes, rng.integers(0, n_classes, 300))
    table = fit_logistic((0, 1, 2), answers, truth)
    labels = (answers.words[:, :, None] == np.arange(n_classes + 1)).astype(float)
    slopes = labels[:, :, :-1] * answers.confidence[:, :, None]
    ones = np.ones((300, 1))  # the bias is penalised as all weights are
    columns = np.hstack([ones, labels.reshape(300, -1), slopes.reshape(300, -1)])
    # with two classes scikit-learn has one vector of weights, the difference of ours: half the penalty
    strength = (2 if n_classes == 2 else 1) / PENALTY
    peer = LogisticRegression(C=strength, fit_intercept=False, tol=1e-8, max_iter=5000).fit(columns, truth)
    shares, theirs = table.probabilities(answers), peer.predict_proba(columns)
    assert shares == pytest.approx(theirs, abs=2e-2)
    weights = peer.coef_ if n_classes > 2 else np.vstack([-peer.coef_, peer.coef_]) / 2
    ours, least = (
        -np.log(told[np.arange(300), truth]).sum() + PENALTY / 2 * (squares**2).sum()
        for told, squares in ((shares, table.weights), (theirs, weights))
    )
    assert least * (1 - 1e-9) <= ours <= least * (1 + 1e-4)


@pytest.mark.parametrize("share_known", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_dawid_and_skene_are_those_of_a_plain_loop(share_known: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 40)
    answers = heard_at_random(rng, 40, 4, 3, sure=False)
    words = np.where(rng.random(answers.words.shape) < 0.6, truth[:, None], answers.words)
    answers = answers._replace(words=words)
    known = np.where(rng.random(40) < share_known, truth, -1)
    table = fit_dawid_skene((0, 1, 2, 3), answers, known)
    slow = dawid_skene(words, known, 3, EM_ROUNDS if (known < 0).any() else 0)
    assert table.probabilities(answers) == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_is_decided_about_a_case_does_not_depend_on_its_truth(learner: str) -> None:
    rng = np.random.default_rng(3)
    answers, truth = heard_at_random(rng, 60, 2, 2), rng.integers(0, 2, 60)
    folds = np.arange(60) % 5
    before = OutOfFold(answers, truth, folds, learner).of((0, 1))
    changed = np.where(folds == 2, 1 - truth, truth)
    after = OutOfFold(answers, changed, folds, learner).of((0, 1))
    assert (before.decided.codes == after.decided.codes)[folds == 2].all()
    assert (before.decided.sure == after.decided.sure)[folds == 2].all()
    if learner in {"logistic", "dawid-skene"}:
        assert before.decided.sure[folds != 2] != pytest.approx(after.decided.sure[folds != 2], abs=2e-2)


def test_sets_of_judges_are_fitted_once() -> None:
    rng = np.random.default_rng(0)
    judged = OutOfFold(heard_at_random(rng, 30, 3, 2), rng.integers(0, 2, 30), np.arange(30) % 3, "logistic")
    assert judged.of((2, 0)) is judged.of((0, 2))


def test_folds_keep_groups_together_and_spread_classes() -> None:
    from dataclasses import replace

    log = priced_log(n_cases=200)
    folds = folds_of(log, 5, 1)
    for code in range(3):
        counts = np.bincount(folds[log.truth == code], minlength=5)
        assert counts.max() - counts.min() <= 1
    groups = np.random.default_rng(0).integers(0, 40, 200)
    grouped = folds_of(replace(log, groups=groups), 5, 1)
    assert all(len(np.unique(grouped[groups == group])) == 1 for group in np.unique(groups))
    assert len(np.unique(grouped)) == 5
    assert (
        folds_of(log_of(np.random.default_rng(0), 2), 4, 0)
        == folds_of(log_of(np.random.default_rng(0), 2), 4, 0)
    ).all()


RULES = list(itertools.product(VOTE_RULES, MISSING, TIES))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_weights_are_the_log_odds_of_being_right_counted_one_by_one(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    truth = rng.integers(-1, n_classes, 300)
    answers = heard_at_random(rng, 300, 6, n_classes)
    for judge, share in enumerate([0.0, 0.1, 0.5, 0.9, 1.0]):
        is_right = (rng.random(300) < share) & (truth >= 0)
        answers.words[is_right, judge] = truth[is_right]
    answers.words[:, 5] = n_classes  # who never answers
    found = fit_weighted_votes(tuple(range(6)), answers, truth)
    for judge, votes in enumerate(found.votes):
        right = wrong = 0
        for word, true in zip(answers.words[:, judge].tolist(), truth.tolist(), strict=True):
            right += true >= 0 and word == true
            wrong += true >= 0 and word not in {true, n_classes}
        odds = math.log((n_classes - 1) * (right + 1) / (wrong + n_classes - 1))
        assert votes == min(MOST_VOTES, max(0, round(4 * odds)))
    assert found.votes[5] == 0
    assert found.votes[1] < found.votes[2] < found.votes[3] < found.votes[4] == MOST_VOTES


def tried(cases: Cases) -> list[tuple[int, ...]]:
    """Loss and price of every policy of at most two stages that votes decide, weighted or not."""
    n = cases.n_judges
    sets = [one for size in range(1, n + 1) for one in itertools.combinations(range(n), size)]
    points = [tuple(out_of_fold(cases, _of((one,)))[:2]) for one in sets]
    for name, (first, second) in itertools.product((VOTES, WEIGHTED), itertools.product(sets, sets)):
        if set(first) < set(second):
            points += _chain_tried(cases, name, first, second)
    points += [out_of_fold(cases, _of((one,), name))[:2] for name in (VOTES, WEIGHTED) for one in sets]
    return undominated([(int(loss), int(price)) for loss, price in points])


def _of(sets: Any, name: str = VOTES) -> Candidate:
    return Candidate(0, 0, 0.0, Recipe(sets, (0.0,) * len(sets), name))


def _chain_tried(
    cases: Cases, name: str, first: tuple[int, ...], second: tuple[int, ...]
) -> list[tuple[int, ...]]:
    one, two = (cases.decisions[name].of(judges) for judges in (first, second))
    ends, goes_on = (
        np.column_stack(
            [cases.losses[judged.decided.codes, cases.truth], cases.prices[:, judges].sum(axis=1)]
        )
        for judged, judges in ((one, list(first)), (two, list(second)))
    )
    return thresholds_tried(one.ordering, ends, goes_on)


@pytest.mark.parametrize(("rule", "missing", "ties"), RULES)
def test_the_front_by_votes_is_that_of_all_sets_orders_and_thresholds(
    rule: str, missing: str, ties: str
) -> None:
    for seed, n_judges, n_cases in ((0, 3, 30), (1, 3, 60), (2, 4, 24)):
        votes = JudgeVotes((), (), rule, missing, ties)
        cases = cases_of(seed, n_judges, Final(), n_cases=n_cases, learner=WEIGHTED, votes=votes)
        found = found_in(cases, 2, families=(SINGLE, VOTED))
        assert sorted((one.loss, one.price) for one in found) == tried(cases)


@pytest.mark.parametrize("final", FINALS, ids=lambda final: final.kind)
@pytest.mark.parametrize("max_stages", [1, 2, 3])
def test_policies_by_weighted_votes_cost_what_following_every_case_costs(
    final: Final, max_stages: int
) -> None:
    cases = cases_of(5, 3, final, learner=WEIGHTED, n_cases=90)
    every = tried_in(cases, max_stages)
    kinds = {(one.recipe.learner, len(one.recipe.sets)) for one in every}
    assert (WEIGHTED, max_stages) in kinds or final.kind != "answer"
    for one in every[:: 1 + len(every) // 300]:
        loss, price, seconds = out_of_fold(cases, one)
        assert (one.loss, one.price) == (loss, price)
        assert one.seconds == pytest.approx(seconds)


def unequal(seed: int, **options: Any) -> PanelChoice:
    """Panels over four judges of labels alone, some silent, of whom the dearer are right more often."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["no", "perhaps", "yes"], 400)
    said = np.where(
        rng.random((400, 4)) < [0.5, 0.62, 0.7, 0.88],
        truth[:, None],
        rng.choice(["no", "perhaps", "yes", "", "Error 429"], (400, 4)),
    )
    measures = Measures(prices=[1.0, 2.0, 4.0, 16.0])
    log = make_log(["a", "b", "c", "d"], np.arange(400), said, truth, measures=measures)
    return choose_panels(log, PanelOptions(decide=WEIGHTED, max_stages=2, **options))


def test_votes_and_their_chains_are_complete_for_a_few_judges_and_told() -> None:
    choice = unequal(3)
    assert choice.front.proof.kind is ProofKind.COMPLETE
    claims = " ".join(choice.claims)
    assert ": all 50 chains of sets of judges, with every threshold." in claims
    assert "Two stages, answers combined by weighted-votes: " in claims
    facts = panel_report(choice, 0).facts
    told = {name: votes for stage in facts["stages"] for name, votes in (stage["votes"] or {}).items()}
    assert told
    assert told["d"] > told["c"]
    assert f"d {told['d']}" in " ".join(facts["in_words"])


def test_equal_votes_are_asked_for_alone() -> None:
    log_choice = unequal(3)
    equal = choose_panels(log_choice.chosen, PanelOptions(decide=VOTES, max_stages=2))
    for point in range(len(equal.found)):
        for stage in equal.panel(point).stages:
            assert {*stage.decision.plain().get("votes", [1])} == {1}
    assert equal.front.proof.kind is ProofKind.COMPLETE


def test_a_chain_ends_where_many_agree_and_goes_on_where_they_do_not() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(["no", "yes"], 400)
    other = np.where(truth == "no", "yes", "no")
    said = np.where(rng.random((400, 5)) < 0.75, truth[:, None], other[:, None])
    log = make_log(list("abcde"), np.arange(400), said, truth, measures=Measures(prices=[1.0] * 5))
    choice = choose_panels(log, PanelOptions(decide=VOTES))
    assert any(2 <= len(one.recipe.sets[0]) < len(one.recipe.sets[-1]) for one in choice.found)


def test_dawid_and_skenes_counts_of_known_truths_are_those_of_shares_that_are_certain() -> None:
    rng = np.random.default_rng(7)
    truth, words = rng.integers(0, 40, 500), rng.integers(0, 41, (500, 3))
    answers = Heard(words, np.zeros(words.shape), 40)
    table = fit_dawid_skene((0, 1, 2), answers, truth)
    shares = np.eye(40)[truth]
    for judge in range(3):
        counts = np.eye(41)[words[:, judge]][:, :40].T @ shares + PSEUDO_COUNT * (1 + np.eye(40))
        labels = table.weights[40 : 40 + 3 * 41 * 40].reshape(3, 41, 40)[judge]
        assert labels[:-1].tolist() == np.log(counts / counts.sum(axis=0)).tolist()
        assert not labels[-1].any()
