"""Certificates of tangents, rechecked by code that shares nothing with what made them."""

import json
import math
from typing import Any

import pytest
from hypothesis import given

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.pruning.mean_problem import decision_gains, mean_goal
from shortlist.ensembles.pruning.mean_pruning import prune_means
from shortlist.ensembles.verification.recheck_mean_certificate import (
    check_mean_certificate,
    count_mean_selection,
)
from shortlist.ensembles.votes.soft_votes import SoftVotes, decided_by_mean, soft_votes
from shortlist.errors import BadInputError
from shortlist.results.objective import Sense
from shortlist.runs.budget import Budget
from tests.ensembles import mean_oracles
from tests.examples import examples


def _certified(votes: SoftVotes, objective: str, **limited: Any) -> Any:
    limits = selection_limits(votes.n_classifiers, **limited)
    result = prune_means(votes, mean_goal(objective, votes), limits)
    return json.loads(json.dumps(result.certificate)), result


def _check(certificate: Any, votes: SoftVotes) -> Any:
    return check_mean_certificate(certificate, votes.shares.tolist(), votes.labels.tolist())


@pytest.mark.parametrize("objective", mean_oracles.OBJECTIVES)
@examples(15)
@given(votes=mean_oracles.soft_pools())
def test_a_certificate_is_valid_and_its_bound_holds(objective: str, votes: SoftVotes) -> None:
    certificate, _ = _certified(votes, objective)

    verdict = _check(certificate, votes)

    assert verdict.failures == ()
    goal = mean_goal(objective, votes)
    best = mean_oracles.best_worth(votes, goal, selection_limits(votes.n_classifiers))
    assert verdict.bound is not None
    assert best is not None
    assert verdict.bound / 2**32 / goal.denominator >= -best - 1e-9


@pytest.mark.parametrize("objective", mean_oracles.OBJECTIVES)
def test_a_certificate_under_limits_is_valid(objective: str) -> None:
    votes = mean_oracles.random_pool(25, 8, 2)
    certificate, result = _certified(
        votes, objective, min_size=2, max_size=4, member_costs=[1, 2, 3, 4, 5, 6, 7, 8], max_cost=7
    )

    verdict = _check(certificate, votes)

    assert verdict.valid
    assert verdict.value is not None
    assert result.certified_bound is not None


def _tilted(certificate: Any, tilt: float) -> Any:
    """Make all tilts but those of the first part this one."""
    first, *others = certificate["tangents"]
    return certificate | {"tangents": [first, *(p | {"tilts": [tilt] * len(p["tilts"])} for p in others)]}


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda c: c | {"value": c["value"] + 2**20}, "is worth"),
        (lambda c: c | {"bound": c["bound"] - 2**28}, "prove the bound"),
        (lambda c: c | {"tangents": c["tangents"][1:]}, "have no tangents"),
        (lambda c: c | {"data": "0"}, "not what the certificate was made for"),
        (lambda c: c | {"members": [0, 0]}, "not readable"),
        (lambda c: c | {"members": [-1]}, "not readable"),
        (lambda c: _tilted(c, math.nan), "finite"),
        (lambda c: _tilted(c, math.inf), "finite"),
        (lambda c: _tilted(c, 1e305), "not readable"),
        (lambda c: c | {"limits": c["limits"] | {"max_size": 0}}, "not"),
        (lambda c: {name: field for name, field in c.items() if name != "goal"}, "not readable"),
    ],
    ids=["value", "bound", "sizes", "data", "members", "alias", "no-number", "infinity", "overflow", "limits", "fields"],
)  # fmt: skip
def test_a_false_certificate_is_refused(spoil: Any, why: str) -> None:
    votes = mean_oracles.random_pool(25, 8, 3)
    certificate, _ = _certified(votes, "log-loss")

    verdict = _check(spoil(certificate), votes)

    assert not verdict.valid
    assert any(why in failure for failure in verdict.failures)


@pytest.mark.parametrize("n_nodes", [0, 1, 3, 6])
@pytest.mark.parametrize("objective", mean_oracles.OBJECTIVES)
def test_sizes_that_a_limit_leaves_open_are_certified_too(objective: str, n_nodes: int) -> None:
    votes = mean_oracles.random_pool(25, 8, 3)
    goal, limits = mean_goal(objective, votes), selection_limits(8)

    result = prune_means(votes, goal, limits, Budget(nodes=n_nodes))

    assert result.certificate is not None
    assert _check(result.certificate, votes).failures == ()
    best = mean_oracles.best_worth(votes, goal, limits)
    assert best is not None
    assert result.certified_bound is not None
    assert result.certified_bound <= best + 1e-9


def test_lines_that_are_tilted_otherwise_prove_a_weaker_bound() -> None:
    votes = mean_oracles.random_pool(25, 8, 2)
    certificate, _ = _certified(votes, "log-loss")
    tangents = [part | {"tilts": [3 * tilt for tilt in part["tilts"]]} for part in certificate["tangents"]]

    verdict = _check(certificate | {"tangents": tangents}, votes)

    assert verdict.bound > certificate["bound"]


def test_a_selection_is_counted_where_nothing_proves_a_bound() -> None:
    votes = mean_oracles.random_pool(25, 8, 2)
    certificate, result = _certified(votes, "brier")
    claim = {name: certificate[name] for name in ("goal", "limits", "members")}

    counted = count_mean_selection(claim, votes.shares.tolist(), votes.labels.tolist())

    assert counted.valid
    assert counted.value is not None
    assert -counted.value / 2**32 / 25 == pytest.approx(result.value, abs=1e-9)


TWO = soft_votes([[[0.5, 0.5]]] * 5, [0, 0, 0, 1, 1])
THREE = soft_votes([[[0.2, 0.3, 0.5]]] * 5, [0, 0, 1, 1, 2])


@pytest.mark.parametrize(
    ("objective", "loss", "gains"),
    [
        ("log_loss", "log-loss", [1, 1]),
        ("brier", "brier", [1, 1]),
        ("auto", "log-loss", [1, 1]),
        ("recall+auto", "log-loss", [0, 1]),
    ],
)
def test_a_goal_is_a_loss_and_the_gains_that_decide(objective: str, loss: str, gains: list[int]) -> None:
    goal = mean_goal(objective, TWO)

    assert (goal.kind, goal.gains.tolist(), goal.denominator) == (loss, gains, 5)
    assert (goal.objective.name, goal.objective.sense) == (loss, Sense.MIN)


@pytest.mark.parametrize(
    ("objective", "positive", "gains"),
    [
        ("accuracy", 1, [1, 1]),
        ("balanced-accuracy", 1, [2, 3]),
        ("recall", 0, [1, 0]),
        ({"tp": 1, "fp": -2}, 1, [2, 1]),
        ({"tp": 1, "fn": -4, "tn": 2}, 1, [2, 5]),
    ],
)
def test_gains_are_those_of_right_decisions_by_class(objective: Any, positive: int, gains: list[int]) -> None:
    assert decision_gains(objective, TWO, positive=positive).tolist() == gains


def test_several_classes_gain_what_class_weights_say() -> None:
    assert decision_gains("balanced-accuracy", THREE).tolist() == [1, 1, 2]
    assert decision_gains({0: 1, 2: 3}, THREE).tolist() == [1, 0, 3]


@pytest.mark.parametrize(
    ("objective", "gains"),
    [("accuracy", [1, 1, 1, 1]), ("balanced-accuracy", [1, 2, 2, 2]), ({0: 1, 3: 5}, [1, 0, 0, 5])],
)
def test_a_class_without_rows_may_be_decided_as_the_rarest_is(objective: Any, gains: list[int]) -> None:
    lacking = soft_votes([[[0.1, 0.2, 0.6, 0.1]]] * 4, [0, 0, 1, 3])

    found = decision_gains(objective, lacking)

    assert found.tolist() == gains
    if not isinstance(objective, dict):
        assert decided_by_mean(lacking.shares, found).tolist() == [2] * 4


@pytest.mark.parametrize(
    ("objective", "why"),
    [
        ("accuracy", "must be auto, log-loss, brier or METRIC.auto .* got 'accuracy'.*voting='averaged'"),
        ("accuracy+slope-8", "must be auto, log-loss"),
        ({"tp": 1}, "must be auto, log-loss"),
        ("logloss", "Did you mean .log-loss."),
        ("luck+auto", "objective must be accuracy, balanced-accuracy"),
    ],
)
def test_what_is_no_loss_is_refused(objective: Any, why: str) -> None:
    with pytest.raises(BadInputError, match=why):
        mean_goal(objective, TWO)


@pytest.mark.parametrize(
    ("weights", "why"),
    [({"tp": -1, "fn": 0}, "worth at least as much"), ({"tp": 1, "fn": 1}, "some worth more")],
)
def test_weights_that_reward_wrong_decisions_are_refused(weights: Any, why: str) -> None:
    with pytest.raises(BadInputError, match=why):
        decision_gains(weights, TWO)
