"""Committees that average probabilities: estimators, saved models and verification."""

import dataclasses
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import confusion_matrix, log_loss
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError, Status
from shortlist.ensembles import BackfittingPruner, ExactPruner, Pool, make_pool, verify
from shortlist.ensembles.pools.answers import class_probabilities
from shortlist.ensembles.votes.soft_votes import whole_shares
from shortlist_papers import OrderedPruner
from tests.contract import keeps_contract
from tests.stored import Stored

X, Y = make_classification(240, 6, n_informative=4, flip_y=0.15, random_state=3)
FLOWERS, KINDS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def pool() -> Any:
    return make_pool(X[:120], Y[:120], n_classifiers=10, random_state=0)


@pytest.fixture(scope="module")
def kinds_pool() -> Any:
    return make_pool(FLOWERS[::2], KINDS[::2], n_classifiers=10, random_state=0)


@pytest.mark.slow
@keeps_contract(
    ExactPruner(
        n_classifiers=3, node_limit=200, random_state=0, objective="log-loss", pruning_rows="held-out"
    ),
    ExactPruner(n_classifiers=5, node_limit=200, random_state=0, voting="averaged", pruning_rows="held-out"),
    OrderedPruner(n_classifiers=5, random_state=0, voting="averaged"),
    tables=False,
)
def test_averaging_keeps_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_averaged_members_are_those_of_votes(pool: Any) -> None:
    by_votes, averaged = (
        ExactPruner(pool, voting=voting, random_state=0).fit(X[120:], Y[120:])
        for voting in ("hard", "averaged")
    )

    assert averaged.selection_.tolist() == by_votes.selection_.tolist()
    assert averaged.objective_value_ == by_votes.objective_value_
    assert averaged.threshold_ is None


def test_soft_voting_finds_the_best_log_loss(pool: Any) -> None:
    few = pool.subset([*range(7)])
    pruned = ExactPruner(few, voting="soft", objective="log-loss", probabilities="mean").fit(X[120:], Y[120:])

    table = class_probabilities(few, X[120:])
    masks = [np.array([k >> i & 1 for i in range(7)], dtype=bool) for k in range(1, 2**7)]
    least = min(log_loss(Y[120:], table[:, mask].mean(axis=1)) for mask in masks)
    assert pruned.status_ is Status.OPTIMAL
    assert pruned.objective_value_ == pytest.approx(least, abs=1e-3)
    assert pruned.gap_ == 0
    assert log_loss(Y[120:], pruned.predict_proba(X[120:])) == pytest.approx(
        pruned.objective_value_, abs=1e-3
    )


def test_calls_that_must_pay_are_made_later(pool: Any) -> None:
    even, careful = (
        ExactPruner(pool, voting="averaged", objective=objective, probabilities="mean").fit(X[120:], Y[120:])
        for objective in ({"tp": 1, "tn": 1}, {"tp": 1, "fp": -9})
    )

    assert even.gains_.tolist() == [1, 1]
    assert careful.gains_.tolist() == [9, 1]
    probable = careful.predict_proba(X)[:, 1]
    called = careful.predict(X) == 1
    assert probable[called].min(initial=1) > 0.89
    assert (probable[~called] < 0.91).all()


@pytest.mark.parametrize("objective", ["auto", "balanced-accuracy+auto"])
def test_auto_of_means_is_the_log_loss_of_few_members_that_decide_by_the_metric(
    objective: str, pool: Any
) -> None:
    uneven = np.flatnonzero((Y == 1) | (np.arange(240) % 3 == 0))[40:]
    given: dict[str, Any] = {
        "voting": "soft",
        "objective": objective,
        "probabilities": "mean",
        "random_state": 0,
    }
    pruned = ExactPruner(pool, **given).fit(X[uneven], Y[uneven])

    table, (no, yes) = class_probabilities(pool, X[uneven]), np.bincount(Y[uneven])
    fives = [list(chosen) for chosen in itertools.combinations(range(10), 5)]
    least = min(log_loss(Y[uneven], table[:, chosen].mean(axis=1)) for chosen in fives)
    assert pruned.status_ is Status.OPTIMAL
    assert (pruned.result_.objective.name, int(pruned.selection_.sum())) == ("log-loss", 5)
    assert pruned.objective_value_ == pytest.approx(least, abs=1e-3)
    assert pruned.sizes_ == (5, 5)
    assert pruned.why_sizes_
    even = objective == "auto"
    assert pruned.gains_[0] * (1 if even else no) == pruned.gains_[1] * (1 if even else yes)
    assert verify(pruned, X[uneven], Y[uneven]).failures == ()
    shifted = clone(pruned).set_params(probabilities="auto").fit(X[uneven], Y[uneven])
    weighed = shifted.predict_proba(X) * pruned.gains_
    apart = np.abs(weighed[:, 0] - weighed[:, 1]) > 1e-3 * pruned.gains_.max()
    assert (shifted.predict(X) == weighed.argmax(axis=1))[apart].all()


@pytest.mark.parametrize(
    ("options", "voting"),
    [
        ({}, "soft"),
        ({"objective": "log-loss"}, "soft"),
        ({"objective": "accuracy"}, "hard"),
        ({"objective": {"tp": 1, "fp": -5}}, "hard"),
        ({"objective": "balanced-accuracy+auto"}, "soft"),
        ({"diversity": "average"}, "hard"),
        ({"solver": "highs"}, "hard"),
        ({"min_size": 0}, "hard"),
        ({"voting": "averaged"}, "averaged"),
    ],
)
def test_auto_votes_softly_where_nothing_asks_for_votes(options: Any, voting: str, pool: Any) -> None:
    assert ExactPruner(pool, **options).meant_voting == voting


def test_auto_votes_where_a_classifier_has_no_probabilities() -> None:
    members = [DecisionTreeClassifier(max_depth=2).fit(X, Y), LinearSVC().fit(X, Y)]

    assert ExactPruner(members).fit(X, Y).voting_ == "hard"


@pytest.mark.parametrize("voting", ["hard", "averaged"])
@pytest.mark.parametrize("kind", ["exact", "order", "backfitting"])
def test_probabilities_come_from_whom_the_user_names(kind: str, voting: str, pool: Any) -> None:
    kinds = {"order": OrderedPruner, "backfitting": BackfittingPruner}
    made: Any = ExactPruner(objective="accuracy", node_limit=20) if kind == "exact" else kinds[kind]()
    made.set_params(pool=pool, voting=voting, random_state=0)
    fitted = {
        name: clone(made).set_params(probabilities=name).fit(X[120:], Y[120:])
        for name in ("auto", "mean", "shares")
    }
    found = {name: pruned.predict_proba(X) for name, pruned in fitted.items()}

    members = class_probabilities(fitted["mean"].pool_, X)
    assert np.allclose(found["mean"], members.mean(axis=1))
    if kind != "exact":
        votes = (members[:, :, 1] > 0.5).sum(axis=1)
        assert np.allclose(found["shares"][:, 1], (votes + 1) / (members.shape[1] + 2))
    usual = "shares" if voting == "hard" else "mean"
    assert fitted["auto"].probabilities_ == f"calibrated-{usual}"
    calibration = fitted["auto"].calibration_
    raised = found[usual] ** calibration.power * calibration.factors
    assert np.allclose(found["auto"], raised / raised.sum(axis=1, keepdims=True))
    if voting == "hard":  # whatever makes probabilities, votes decide
        decided = fitted["auto"].predict(X)
        assert all(np.array_equal(pruned.predict(X), decided) for pruned in fitted.values())
        assert all((found[name].argmax(axis=1) == decided).all() for name in ("shares", "auto"))
    else:  # the mean that answers decides
        for name in ("mean", "auto"):
            apart = np.abs(found[name][:, 1] - 0.5) > 1e-4
            assert (found[name].argmax(axis=1) == fitted[name].predict(X))[apart].all()


def test_where_a_loss_is_proved_the_calibrated_mean_decides_and_its_decisions_are_told(pool: Any) -> None:
    pruned = ExactPruner(pool, voting="soft", objective="log-loss", node_limit=20, random_state=0).fit(
        X[120:], Y[120:]
    )
    plain = clone(pruned).set_params(probabilities="mean").fit(X[120:], Y[120:])
    assert pruned.probabilities_ == "calibrated-mean"
    assert (pruned.objective_value_, pruned.bound_) == (plain.objective_value_, plain.bound_)
    for each in (pruned, plain):
        counted = confusion_matrix(Y[120:], each.predict(X[120:]))
        assert (each.result_.decisions == counted).all()


@pytest.mark.parametrize("objective", ["auto", "accuracy"])
def test_members_are_fitted_again_on_all_rows(objective: str, stored: Stored) -> None:
    once, again = (
        ExactPruner(
            objective=objective,
            pruning_rows="held-out",
            n_classifiers=6,
            node_limit=50,
            random_state=0,
            refit=refit,
        ).fit(X, Y)
        for refit in (False, True)
    )

    assert again.selection_.tolist() == once.selection_.tolist()
    assert again.result_.value == once.result_.value
    assert np.array_equal(class_probabilities(again.chosen_pool_, X), class_probabilities(once.pool_, X))
    assert not np.array_equal(class_probabilities(again.pool_, X), class_probabilities(once.pool_, X))
    found = verify(again, X, Y)
    assert found.failures == ()
    stored(*found.notes)
    assert not any("fitted again" in note for note in verify(once, X, Y).notes)


def test_members_of_a_given_pool_stay_as_they_are(pool: Any) -> None:
    pruned = ExactPruner(pool).fit(X[120:], Y[120:])

    assert pruned.pool_ is pruned.chosen_pool_


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"voting": "loud"}, "voting must be one of"),
        ({"voting": "soft", "diversity": "each"}, "diversity must be 'none'"),
        ({"voting": "soft", "solver": "highs"}, "solver must be 'auto'"),
        ({"voting": "soft", "min_size": 0}, "min_size must be at least 1"),
        ({"voting": "soft", "objective": "accuracy"}, "must be auto, log-loss"),
        ({"voting": "hard", "objective": "log-loss"}, "log-loss"),
        ({"voting": "averaged", "objective": {"tp": -1}}, "worth at least as much"),
        ({"probabilities": "loud"}, "probabilities must be one of"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: Any, why: str, pool: Any) -> None:
    with pytest.raises(BadInputError, match=why):
        ExactPruner(pool, **options).fit(X[120:], Y[120:])


def test_rules_choose_by_votes() -> None:
    with pytest.raises(BadInputError, match="voting must be one of"):
        OrderedPruner(voting="soft").fit(X, Y)


def test_a_member_without_probabilities_is_named_before_any_work() -> None:
    members = [DecisionTreeClassifier(max_depth=2).fit(X, Y), LinearSVC().fit(X, Y)]

    with pytest.raises(BadInputError, match="got none of LinearSVC"):
        ExactPruner(members, voting="averaged").fit(X, Y)


@pytest.mark.parametrize(
    ("voting", "objective"),
    [
        ("soft", "log-loss"),
        ("soft", "brier"),
        ("soft", "auto"),
        ("averaged", "accuracy"),
    ],
)
@pytest.mark.parametrize("several", [False, True])
def test_verify_finds_what_is_claimed(
    voting: str, objective: str, several: bool, pool: Any, kinds_pool: Any
) -> None:
    rows, classes, of = (FLOWERS[1::2], KINDS[1::2], kinds_pool) if several else (X[120:], Y[120:], pool)
    pruned = ExactPruner(of, voting=voting, objective=objective, max_size=4).fit(rows, classes)

    found = verify(pruned, rows, classes)
    with_pool = verify(pruned, rows, classes, pool=of)

    assert found.failures == ()
    assert found.status in {"valid", "partly"}
    assert found.value == pruned.objective_value_
    assert with_pool.failures == ()
    assert found.evidence is not None
    assert found.evidence.sentence()


def test_verify_notices_other_values_bounds_and_probabilities(pool: Any) -> None:
    pruned = ExactPruner(pool, voting="soft", objective="log-loss").fit(X[120:], Y[120:])
    result, record = pruned.result_, pruned.validation_

    pruned.result_ = dataclasses.replace(result, value=result.value / 2)
    assert any("claims the value" in said for said in verify(pruned, X[120:], Y[120:]).failures)
    pruned.result_ = result
    assert record.shares is not None
    changed = record.shares.copy()
    changed[3] = whole_shares(np.full((10, 2), 0.5))
    pruned.validation_ = dataclasses.replace(record, shares=changed)
    assert verify(pruned, X[120:], Y[120:]).failures == (
        "on 1 of 120 selection rows the classifiers find other probabilities",
    )


def test_verify_notices_a_certificate_that_is_said_to_prove_more(kinds_pool: Any) -> None:
    pruned = ExactPruner(kinds_pool, voting="soft", objective="brier", node_limit=0)
    pruned.fit(FLOWERS[1::2], KINDS[1::2])
    assert pruned.result_.certified_bound is not None
    assert verify(pruned, FLOWERS[1::2], KINDS[1::2]).failures == ()

    pruned.result_ = dataclasses.replace(pruned.result_, certified_bound=pruned.result_.value)

    found = verify(pruned, FLOWERS[1::2], KINDS[1::2])
    assert any("the model says that the certificate proves" in said for said in found.failures)


@pytest.mark.parametrize(("voting", "what"), [("hard", "votes"), ("averaged", "probabilities")])
def test_what_a_rule_reaches_is_said_to_be_counted_from_what_decides(
    voting: str, what: str, pool: Any
) -> None:
    pruned = OrderedPruner(pool, voting=voting).fit(X[120:], Y[120:])

    found = verify(pruned, X[120:], Y[120:])

    assert found.evidence is not None
    assert f"counted from the {what}:" in found.evidence.sentence()


def test_a_committee_of_nobody_keeps_no_calibration_of_another_fit() -> None:
    rows = pd.DataFrame({"a": [1, 0, 1, 0] * 5, "b": [0, 1, 1, 0] * 5})
    truth = rows["a"].to_numpy()
    pruner = ExactPruner(
        Pool.from_answers(rows, truth), objective={"tp": 1, "fp": -9}, min_size=0, node_limit=50
    )
    pruner.fit(rows, truth)
    assert pruner.calibration_ is not None
    pruner.fit(rows, np.array([1, 0, 0, 0, 0] * 4))
    assert not len(pruner.pool_)
    assert pruner.probabilities_ == "shares"
    assert pruner.calibration_ is None
    assert verify(pruner, rows, np.array([1, 0, 0, 0, 0] * 4)).failures == ()
