"""Exact pruning for several classes, against brute force."""

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

from shortlist import BadInputError, ensembles
from shortlist.ensembles import ExactPruner
from shortlist.ensembles.committees.evidence import Evidence
from shortlist.ensembles.goals.diversity import DiversityLimits, diversity_limits
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import (
    LARGEST_DENOMINATOR,
    class_weights,
)
from shortlist.ensembles.pools.answers import class_answers
from shortlist.ensembles.pools.fitting import make_pool
from shortlist.ensembles.pruning.pruning import evidence_of
from shortlist.ensembles.verification.recheck_vote_certificate import check_certificate
from shortlist.ensembles.votes.hard_votes import class_votes, merge_class_rows, n_right
from shortlist.report.ensembles import pruned_parts
from shortlist.report.page import Facts
from shortlist.results.proof import ProofKind, Status
from shortlist.runs import Progress
from shortlist.runs.budget import Budget
from tests.ensembles import oracles
from tests.ensembles.plurality_oracles import (
    Pool,
    as_votes,
    class_pools,
    made_votes,
    prune_classes,
)
from tests.stored import Stored


def _failures(pool: Pool) -> oracles.Rows:
    """Every sample as votes "right" or "wrong" on a positive row."""
    return [(tuple(int(vote == label) for vote in votes), 1) for votes, label in pool[0]]


def test_a_selection_that_is_right_everywhere_has_a_certificate() -> None:
    votes = class_votes([[0, 1], [1, 0], [2, 1]], [0, 1, 2])
    result = prune_classes(votes, "accuracy", selection_limits(2))

    assert result.value == result.bound == result.certified_bound == 1
    assert result.certificate is not None
    assert check_certificate(result.certificate, votes.codes.tolist(), [0, 1, 2], 3).valid


@given(pool=class_pools(max_classifiers=5))
def test_failure_credit_of_classes_is_that_of_right_and_wrong(pool: Pool) -> None:
    limits = diversity_limits({}, as_votes(pool, merged=True))

    assert isinstance(limits, DiversityLimits)
    for k, m in itertools.combinations(range(pool[1]), 2):
        expected = oracles.failure_credit(_failures(pool), k, m)
        assert abs(Fraction(int(limits.credit[k, m]), 10**9) - expected) <= Fraction(1, 10**9)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_a_short_limit_lowers_the_claim_and_not_the_truth(threads: int) -> None:
    votes = made_votes(300, 40, 3, seed=2, skill=0.15)
    events: list[Progress] = []

    result = prune_classes(
        votes, "balanced-accuracy", selection_limits(40), Budget(0.7, threads=threads, report=events.append)
    )

    assert result.status is Status.FEASIBLE
    assert result.proof.kind is ProofKind.APPROXIMATE
    assert result.proof.limit == "0.7 s"
    shares = result.right / result.decisions.sum(axis=1)
    assert result.value == pytest.approx(shares.mean())
    assert result.value < result.bound <= 1
    assert result.proof.missing == pytest.approx((result.bound - result.value,))
    values = [value for _, value, _ in result.history if value is not None]
    bounds = [bound for _, _, bound in result.history]
    assert values == sorted(values)
    assert bounds == sorted(bounds, reverse=True)
    assert events
    for event in events:
        assert event.total == 0.7
        assert event.bound is not None
        assert event.value is None or event.value <= result.value <= event.bound


def test_contradicting_limits_say_so() -> None:
    votes = made_votes(20, 4, 3, seed=1)
    sizes = selection_limits(4, min_size=5)
    costs = selection_limits(4, member_costs=[3] * 4, max_cost=2)

    assert "at least 5 members" in prune_classes(votes, "accuracy", sizes).reason
    assert "max_cost" in prune_classes(votes, "accuracy", costs).reason


def test_unknown_names_are_refused() -> None:
    votes = made_votes(20, 4, 3, seed=1)
    with pytest.raises(BadInputError, match="objective must be auto"):
        prune_classes(votes, "recall", selection_limits(4))
    with pytest.raises(BadInputError, match="solver must be one of"):
        prune_classes(votes, "accuracy", selection_limits(4), solver="higs")


def test_balanced_accuracy_over_unwieldy_class_sizes_says_its_tolerance() -> None:
    class_sizes = [101, 103, 107, 109, 113, 127, 131, 137]
    labels = np.repeat(np.arange(8), class_sizes)
    votes = class_votes(np.where(np.arange(len(labels)) % 10, labels, 0)[:, None], labels)

    weights = class_weights("balanced-accuracy", votes)
    result = prune_classes(votes, "balanced-accuracy", selection_limits(1))

    assert math.lcm(*class_sizes) * 8 > LARGEST_DENOMINATOR
    assert weights.denominator == weights.total(class_votes(labels[:, None], labels), np.array([True]))
    assert 0 < weights.tolerance < 1e-8
    truth = (result.right / np.array(class_sizes)).mean()
    assert abs(result.value - truth) <= weights.tolerance
    assert result.status is Status.OPTIMAL
    assert result.proof.tolerances == (weights.tolerance,)


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_a_pool_on_real_data_is_pruned_from_end_to_end(load: object) -> None:
    assert callable(load)
    X, y = load(return_X_y=True)
    X_fit, X_prune, y_fit, y_prune = train_test_split(X[:900], y[:900], stratify=y[:900], random_state=0)
    pool = make_pool(X_fit, y_fit, n_classifiers=10)
    votes = class_votes(
        class_answers(pool, X_prune),
        np.searchsorted(pool.classes, y_prune),
        n_classes=len(pool.classes),
    )

    result = prune_classes(votes, "accuracy", selection_limits(10))

    assert result.status is Status.OPTIMAL
    merged = merge_class_rows(votes)
    subsets = [list(members) for members in oracles.subsets(10) if members]
    assert result.right.sum() == max(n_right(merged, members) for members in subsets)
    assert result.value == result.right.sum() / len(y_prune)


RNG = np.random.default_rng(2)
X = RNG.normal(size=(120, 3))
Y = (X[:, 0] + RNG.normal(size=120) > 0).astype(int)


@functools.cache
def pool() -> ensembles.Pool:
    return make_pool(X[:60], Y[:60], n_classifiers=20, random_state=0)


def fitted(**options: Any) -> ExactPruner:
    return ExactPruner(pool(), node_limit=200, random_state=0, **options).fit(X[60:], Y[60:])


@pytest.mark.parametrize(
    ("options", "among"),
    [
        ({}, "of 5 members, a size that auto chose"),
        ({"max_size": 4}, "of exactly 4 members"),
        ({"objective": "accuracy"}, ""),
        ({"objective": "accuracy", "max_size": 3}, "of at most 3 members"),
        ({"objective": "brier", "min_size": 3}, "of at least 3 members"),
        ({"objective": "brier", "min_size": 2, "max_size": 3}, "of 2 to 3 members"),
        (
            {"objective": "accuracy", "max_cost": 5.0, "member_costs": [1.0] * 20, "diversity": "average"},
            "within the limits on cost and diversity",
        ),
    ],
    ids=["default", "exactly", "any", "at most", "at least", "both", "limits"],
)
def test_a_claim_names_the_selections_that_it_is_about(options: dict[str, Any], among: str) -> None:
    pruner = fitted(**options)
    evidence = pruner.chosen_.evidence
    assert evidence is not None
    assert evidence.among == among
    said = evidence_of(pruner.result_, pruner.solver, among).sentence()
    assert f"best of all selections{f' {among}' if among else ''} (" in said
    told = str([part.facts for part in pruned_parts(pruner.chosen_) if isinstance(part, Facts)])
    assert among in told


def test_a_claim_names_the_selections_that_were_proved_and_by_what(stored: Stored) -> None:
    solved = Evidence(
        objective="accuracy", value=0.9, certified_bound=None, certified_by="", no_certificate="of this",
        bound=0.9, bound_by="CP-SAT", among="of exactly 10 members",
    )  # fmt: skip
    searched = Evidence(
        objective="accuracy", value=0.9, certified_bound=0.9, certified_by="selections", no_certificate="",
        bound=0.9, bound_by="selections", among="of at most 2 members",
    )  # fmt: skip
    stored(solved.claim(), searched.claim())
