"""Committees asked one member after the other answer as all their members together do."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification

from shortlist import ShortlistError
from shortlist.ensembles import BackfittingPruner, ExactPruner, GreedyMeansPruner, Pool, make_pool
from shortlist.ensembles.committees.asking import AnswerScores, Asking, ask_in_order, ask_record
from shortlist.ensembles.committees.ballots import Ballot, Mean, Plurality, Threshold
from shortlist.ensembles.committees.facts import exit_report
from shortlist.ensembles.votes.soft_votes import Calibration, whole_shares
from shortlist.guarantees.cells import ANSWERED, SILENT
from shortlist_papers import OrderedPruner
from tests.ensembles.committees.oracles import least_calls, least_on_record
from tests.ensembles.pools.test_judges import made

X, Y = make_classification(240, 6, n_informative=4, flip_y=0.15, random_state=3)
FLOWERS, KINDS = load_iris(return_X_y=True)
SOURCES = {"hard": "shares", "soft": "mean"}
QUICK: dict[str, Any] = {"node_limit": 200, "time_limit_s": None, "random_state": 0}


@pytest.fixture(scope="module")
def pools() -> dict[str, Any]:
    return {
        "two": make_pool(X[:120], Y[:120], n_classifiers=8, random_state=0),
        "three": make_pool(FLOWERS[::2], KINDS[::2], n_classifiers=8, random_state=0, plain=()),
    }


@pytest.mark.parametrize(
    "pruner",
    [
        pytest.param(ExactPruner(voting="hard", objective="accuracy", min_size=5, **QUICK), id="votes"),
        pytest.param(
            ExactPruner(voting="averaged", objective="balanced-accuracy", min_size=5, **QUICK), id="averaged"
        ),
        pytest.param(ExactPruner(voting="soft", objective="log-loss", min_size=5, **QUICK), id="soft"),
        pytest.param(OrderedPruner(rule="full"), id="rule"),
        pytest.param(BackfittingPruner(voting="averaged"), id="averaged rule"),
    ],
)
@pytest.mark.parametrize("kind", ["two", "three"])
def test_the_classes_are_those_of_all_members(pruner: Any, kind: str, pools: dict[str, Any]) -> None:
    rows, classes = (X[120:], Y[120:]) if kind == "two" else (FLOWERS[1::2], KINDS[1::2])
    fitted = pruner.set_params(pool=pools[kind]).fit(rows, classes)
    found = fitted.predict_early(rows)

    assert (found.labels == fitted.predict(rows)).all()
    assert found.costs is None
    assert found.calls.max() <= len(found.order) == fitted.selection_.sum()
    assert set(found.order) == {name for name in fitted.pool_.names if "again" not in name}
    report = exit_report(fitted.committee_)
    if not isinstance(fitted, ExactPruner):
        assert report is None  # rules keep no record of answers
        return
    assert report is not None
    assert report.mean_calls == pytest.approx(least_on_record(fitted.committee_))
    assert report.mean_calls == found.calls.mean()
    if len(fitted.pool_) > 3:
        assert found.calls.mean() < len(fitted.pool_)


GREEDY = GreedyMeansPruner(n_bags=4, random_state=0)


def several_times(pruner: Any) -> Any:
    """A committee of priced judges of whom some are taken several times."""
    answers, truth = made(60, 6, 2, absent=0, seed=2)
    shares = answers.apply(lambda column: column.map({"a": 0.2, "b": 0.7}))
    table = pd.concat([shares.add_suffix(":b"), (1 - shares).add_suffix(":a")], axis=1)
    pool = Pool.from_answers(table, truth, costs={name: 7.0 - k for k, name in enumerate(answers)})
    fitted = clone(pruner).set_params(pool=pool).fit(table, truth)
    assert fitted.copies_.max() > 2
    return fitted, table


def test_who_is_taken_several_times_is_asked_and_paid_once() -> None:
    fitted, table = several_times(GREEDY)
    found, report = fitted.predict_early(table), exit_report(fitted.committee_)
    members = [f"j{k}" for k in np.flatnonzero(fitted.selection_)]
    prices = {name: 7.0 - int(name[1:]) for name in members}
    copies = {f"j{k}": int(n) for k, n in enumerate(fitted.copies_) if n}

    assert sorted(found.order) == members
    assert (found.labels == fitted.predict(table)).all()
    weights = fitted.committee_.ballot.gains / fitted.committee_.ballot.gains.max()
    parts = {
        name: np.rint(np.rint(table[[f"{name}:a", f"{name}:b"]].to_numpy() * 32767) * weights)
        for name in members
    }
    most = np.rint(32767 * weights)
    spent = []
    for order in itertools.permutations(members):  # every order, each row by hand
        totals, n_left = np.zeros((len(table), 2)), len(fitted.pool_)
        calls = np.zeros(len(table), dtype=int)
        for place, name in enumerate(order):
            ahead = totals[:, 0] - totals[:, 1]  # of equals the first class wins
            calls[(ahead < n_left * most[1]) & (-ahead <= n_left * most[0])] = place + 1
            totals, n_left = totals + copies[name] * parts[name], n_left - copies[name]
        costs = np.concatenate([[0.0], np.cumsum([prices[name] for name in order])])[calls]
        spent.append(costs.mean())
        if order == found.order:
            assert (found.calls == calls).all()
            assert (found.costs == costs).all()
    assert report is None  # rules keep no record of answers: the cheapest come first
    assert list(found.order) == sorted(members, key=prices.__getitem__)


@pytest.mark.parametrize("probabilities", ["auto", "shares"])
def test_with_copies_the_answered_rows_are_those_of_all_members(probabilities: str) -> None:
    fitted, table = several_times(clone(GREEDY).set_params(probabilities=probabilities))
    labels = fitted.predict(table)
    own = fitted.predict_proba(table)[np.arange(len(table)), np.searchsorted(fitted.classes_, labels)]
    for least in every_threshold(fitted, table):
        found = fitted.predict_early(table, least=least)
        assert (found.answered == (own >= least)).all()
        assert (found.labels == labels)[found.answered].all()
        if probabilities == "calibrated-mean":
            report = exit_report(fitted.committee_, least=least)
            assert report is not None
            assert found.costs is not None
            assert report.mean_calls == found.calls.mean()
            assert report.mean_cost == pytest.approx(found.costs.mean())


@pytest.mark.parametrize("positive", ["a", "b"])
@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("absent", [0, 0.3])
def test_of_judges_too_on_every_tie_and_with_prices(positive: str, voting: str, absent: float) -> None:
    answers, truth = made(80, 6, 2, absent=absent, seed=5)
    if voting == "soft":
        shares = answers.apply(lambda column: column.map({"a": 0.25, "b": 0.75}))  # many means are one half
        answers = pd.concat([shares.add_suffix(":b"), (1 - shares).add_suffix(":a")], axis=1)
    pool = Pool.from_answers(answers, truth, costs={f"j{k}": k + 1 for k in range(6)})
    objective = "accuracy" if voting == "hard" else "log-loss"
    options: dict[str, Any] = {"voting": voting, "objective": objective, "min_size": 4}
    if not (absent and voting == "hard"):
        options["positive"] = positive
    fitted = ExactPruner(pool, **options, **QUICK).fit(answers, truth)
    found = fitted.predict_early(answers)

    assert (found.labels == fitted.predict(answers)).all()
    prices = dict(zip(fitted.pool_.names, np.asarray(fitted.pool_.costs), strict=True))
    spent = np.concatenate([[0], np.cumsum([prices[name] for name in found.order])])
    assert found.costs is not None
    assert (found.costs == spent[found.calls]).all()
    report = exit_report(fitted.committee_)
    assert report is not None
    assert report.is_best_order
    assert report.mean_cost == pytest.approx(found.costs.mean())
    assert report.cost == sum(prices.values()) >= report.mean_cost


def test_a_member_sees_no_row_that_is_settled() -> None:
    answers, truth = made(40, 5, 3, absent=0, seed=1)
    fitted = OrderedPruner(Pool.from_answers(answers, truth), rule="full").fit(answers, truth)
    found = fitted.predict_early(answers)
    later = answers.copy()
    for place, name in enumerate(found.order):
        later.loc[found.calls <= place, name] = "no answer at all"
    assert (fitted.predict_early(later).labels == found.labels).all()
    assert (fitted.predict(later) == found.labels).all()  # who does not matter may say what he likes


def test_nobody_answers_nothing_early_either() -> None:
    answers, truth = made(40, 3, 2, absent=0, seed=1)
    pool = Pool.from_answers(answers, truth, costs=dict.fromkeys(answers, 2.0))
    fitted = ExactPruner(pool, objective="accuracy", max_cost=1, **QUICK).fit(answers, truth)
    with pytest.raises(ShortlistError, match="nothing to predict with"):
        fitted.predict_early(answers)


def every_threshold(fitted: Any, rows: Any) -> list[float]:
    """Thresholds between and at the probabilities that answers are given, and beyond all."""
    given = np.unique(fitted.predict_proba(rows).max(axis=1))
    return [0.0, *given[:: max(1, len(given) // 4)], float(given.mean()), float(np.inf)]


@pytest.mark.parametrize("probabilities", ["auto", "mean", "shares"])
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"voting": "hard", "objective": "accuracy"}, id="votes"),
        pytest.param({"voting": "soft", "objective": "log-loss"}, id="soft"),
    ],
)
@pytest.mark.parametrize("kind", ["two", "three"])
def test_with_a_least_probability_the_answered_rows_are_those_of_all_members(
    options: dict[str, Any], probabilities: str, kind: str, pools: dict[str, Any]
) -> None:
    rows, classes = (X[120:], Y[120:]) if kind == "two" else (FLOWERS[1::2], KINDS[1::2])
    positive = 0 if kind == "two" and options["voting"] == "hard" else None
    pruner = ExactPruner(
        pools[kind], probabilities=probabilities, positive=positive, min_size=5, **options, **QUICK
    )
    fitted = pruner.fit(rows, classes)
    labels, shares = fitted.predict(rows), fitted.predict_proba(rows)
    own = shares[np.arange(len(rows)), np.searchsorted(fitted.classes_, labels)]
    free = fitted.predict_early(rows).calls
    for least in every_threshold(fitted, rows):
        found = fitted.predict_early(rows, least=least)
        assert found.answered is not None
        assert (found.answered == (own >= least)).all()
        assert (found.labels == labels)[found.answered].all()
        report = exit_report(fitted.committee_, least=least)
        assert (report is None) == (SOURCES[options["voting"]] not in fitted.probabilities_)
        if report is not None:
            assert report.mean_calls == pytest.approx(found.calls.mean(), abs=2 / len(rows))
            fewest = least_on_record(fitted.committee_, least)
            assert fewest <= report.mean_calls
            if fitted.probabilities_ != "calibrated-mean":  # where rows next to the least one wait
                assert fewest == pytest.approx(report.mean_calls)
        if least == 0:
            assert (found.calls == free).all()
        if least == np.inf:
            assert not found.calls.any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_exact_exit_asks_fewer_judges_for_an_answer_that_is_sure(n_classes: int) -> None:
    answers, truth = made(40, 5, n_classes, absent=0, seed=4)
    fitted = OrderedPruner(Pool.from_answers(answers, truth), rule="full").fit(answers, truth)
    possible = [*"abc"[:n_classes]]
    for least in (0.55, 0.7):
        found = fitted.predict_early(answers, least=least)
        everything = pd.DataFrame(list(itertools.product(possible, repeat=5)), columns=list(found.order))
        told = fitted.predict(everything)
        sure = fitted.predict_proba(everything).max(axis=1) >= least
        outcome = np.where(sure, told, "none")
        for row in range(len(answers)):
            same = np.ones(len(everything), dtype=bool)
            for n_asked in range(6):
                if len(set(outcome[same])) == 1:
                    assert found.calls[row] == n_asked
                    break
                same &= (everything[found.order[n_asked]] == answers[found.order[n_asked]][row]).to_numpy()


Answer = tuple[float, ...]
GRIDS: dict[int, list[Answer]] = {
    2: [(1.0, 0.0), (0.7, 0.3), (0.5, 0.5), (0.0, 1.0)],
    3: [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.2, 0.4, 0.4), (1 / 3, 1 / 3, 1 / 3)],
}
"""Possible answers of members in these tests; equal shares are an abstention where votes are counted."""

MET = [0.0, 0.3, 0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 1.0]
"""Least probabilities that means of such answers meet, some but for rounding."""

NEVER_MET = [0.313, 0.513, 0.613, 0.777, 0.913]


def vote_of(answer: Answer) -> int:
    """The class that an answer is a vote for; one more than there are for an abstention."""
    if len(set(answer)) == 1:
        return len(answer)
    return answer.index(max(answer))


def share_of_positive(votes: int, silent: int, threshold: int, n: int) -> float:
    """The share of positive votes, about the threshold, as if the silent were all against what wins."""
    middle, shares = threshold + 0.5, [0.5]
    for count in (votes, votes + silent):
        above = 0.5 + (count - middle) / (2 * max(0.5, n - middle))
        shares.append(above if count > threshold else count / (2 * middle))
    return sorted(shares)[1]


def outcome_of(
    answers: list[Answer], copies: list[int], rule: Any, *, source: str, least: float, fitted: Any = None
) -> int:
    """The class that all members decide, or -1 where it is not probable enough, in plain numbers."""
    every = [answer for answer, n in zip(answers, copies, strict=True) for _ in range(n)]
    ranks = range(len(every[0]))
    votes = [sum(vote_of(answer) == k for answer in every) for k in ranks]
    totals = votes
    if isinstance(rule, int):
        totals = [rule, votes[1]]
    elif rule:
        parts = [whole_shares(np.array([answer]))[0].tolist() for answer in every]
        totals = [round(sum(round(one[k] * (rule[k] / max(rule))) for one in parts)) for k in ranks]
    winner = totals.index(max(totals))
    n = len(every)
    scores = [0.0 for _ in ranks]
    if source == "mean":
        for k in ranks:
            for answer in every:
                scores[k] += answer[k]
            scores[k] /= n
    else:
        cast = sum(votes)
        scores = [(votes[k] + 1) / (cast + len(ranks)) for k in ranks]
        if isinstance(rule, int):
            positive = share_of_positive(votes[1], n - cast, rule, n)
            scores = [(share * n + 1) / (n + 2) for share in (1 - positive, positive)]
    if not sum(votes) or (isinstance(rule, int) and votes[1] <= rule < votes[1] + n - sum(votes)):
        return -1  # nobody has answered, or too few for the threshold
    if fitted is not None:
        scores = fitted.of(np.array(scores)).tolist()
    return winner if scores[winner] >= least else -1


@given(data=st.data())
def test_a_row_leaves_exactly_when_all_completions_have_one_outcome(data: st.DataObject) -> None:
    n_classes, n = data.draw(st.integers(2, 3)), data.draw(st.integers(1, 3))
    copies = data.draw(st.lists(st.integers(1, 2), min_size=n, max_size=n))
    gains = st.lists(st.integers(0, 3), min_size=n_classes, max_size=n_classes).filter(any)
    rules = [st.none(), gains, *([st.integers(0, sum(copies) - 1)] if n_classes == 2 else [])]
    rule = data.draw(st.one_of(rules))
    source = data.draw(st.sampled_from(["mean", "shares"]))
    least = data.draw(st.sampled_from([*MET, *NEVER_MET]))
    factors = st.tuples(*[st.sampled_from([0.25, 0.5, 1.0])] * n_classes)
    equal = (1.0,) * n_classes
    powers = st.sampled_from([0.4, 1.0, 1.7, 6.0])
    fitted = data.draw(
        st.none()
        | st.builds(Calibration, powers, st.just(equal))
        | st.builds(Calibration, st.just(1.0), factors)
    )
    answers = data.draw(st.lists(st.sampled_from(GRIDS[n_classes]), min_size=n, max_size=n))
    order = data.draw(st.permutations(range(n)))

    codes = np.array([[vote_of(answer) for answer in answers]], dtype=np.uint8)
    ballot: Ballot = Plurality(n_classes)
    added = ballot.added(codes)
    scored = added if source == "shares" else np.array([answers])
    if isinstance(rule, int):
        ballot = Threshold(rule, sum(copies))
        added = ballot.added(codes)
    elif rule:
        ballot = Mean(np.array(rule))
        added = ballot.added(whole_shares(np.array([answers])))
    added = added * np.array(copies)[:, None]
    scores = AnswerScores(sum(copies), source == "mean", ballot, fitted)
    asking = Asking(ballot, np.array(order), np.array(copies), scores, least)
    states = np.where(codes == n_classes, SILENT, ANSWERED)
    found = ask_in_order(asking, 1, ask_record(added, scored), states)

    for n_asked in range(n + 1):
        left = order[n_asked:]
        outcomes = set()
        for end in itertools.product(GRIDS[n_classes], repeat=len(left)):
            completed = list(answers)
            for place, answer in zip(left, end, strict=True):
                completed[place] = answer
            outcomes.add(outcome_of(completed, copies, rule, source=source, least=least, fitted=fitted))
        if len(outcomes) == 1:
            break
    assert found.calls[0] >= n_asked
    waits = fitted is not None and source == "mean" and least in MET
    if not waits and (fitted is None or fitted.power >= 1 or n_classes == 2):
        assert found.calls[0] == n_asked
    assert (found.codes[0] >= 0) == (outcomes != {-1})
    assert {-1, int(found.codes[0])} >= outcomes
    if (codes == n_classes).any() or (isinstance(rule, list) and 0 in rule):
        return  # records do not say who was silent, or might have been before all is lost to one class
    assert least_calls(asking, added, scored)[0] <= n_asked
    if least in NEVER_MET or source == "shares":
        assert least_calls(asking, added, scored)[0] == n_asked


def test_no_row_is_settled_before_somebody_has_answered() -> None:
    codes = np.array([[0, 0, 0], [1, 1, 0], [0, 1, 1]], dtype=np.uint8)
    for threshold, calls in [(0, [3, 1, 2]), (1, [2, 2, 3]), (2, [1, 3, 1]), (3, [1, 1, 1])]:
        ballot = Threshold(threshold, 3)
        added = ballot.added(codes)
        asking = Asking(ballot, np.arange(3), np.ones(3, dtype=np.int64))
        found = ask_in_order(asking, 3, ask_record(added))
        assert found.calls.tolist() == least_calls(asking, added).tolist() == calls
        assert (found.codes >= 0).all()


def test_means_at_the_least_probability_are_added_up_in_the_order_of_the_committee() -> None:
    shares = [0.6, 1.0, 0.8]
    least = (0.6 + 1.0 + 0.8) / 3
    assert least > (0.8 + 1.0 + 0.6) / 3
    scored = np.array([[(1 - share, share) for share in shares]])
    ballot = Mean(np.array([1, 1]))
    added = ballot.added(whole_shares(scored))
    for order in itertools.permutations(range(3)):
        asking = Asking(
            ballot,
            np.array(order),
            np.ones(3, dtype=np.int64),
            AnswerScores(3, by_mean=True, ballot=ballot),
            least,
        )
        found = ask_in_order(asking, 1, ask_record(added, scored))
        assert (found.codes >= 0).all()
        assert found.calls[0] == 3
