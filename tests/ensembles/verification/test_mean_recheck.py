"""Whether a certificate is about the problem that a model's options mean."""

import copy
import dataclasses
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from shortlist.ensembles import EvolutionaryEnsembleClassifier, ExactPruner, make_pool, verify
from shortlist.ensembles.evolution.training_rows import ExactStep
from shortlist.ensembles.verification.mean_recheck import other_problem

LIMITS = {"min_size": 1, "max_size": 3, "costs": [1, 2, 3], "budget": 6}
OTHER = ["the certificate is about other limits than the options of the model"]


@pytest.mark.parametrize(
    ("found", "failures"),
    [
        (LIMITS, []),
        (LIMITS | {"budget": 100}, []),
        (LIMITS | {"budget": 5}, OTHER),
        (LIMITS | {"budget": 100, "costs": [1, 2, 4]}, OTHER),
        (LIMITS | {"budget": 100, "max_size": 2}, OTHER),
        (LIMITS | {"budget": "100"}, OTHER),
        ({"min_size": 1, "max_size": 3}, OTHER),
        (None, OTHER),
    ],
)
def test_budgets_from_the_sum_of_all_costs_on_are_one_limit(found: Any, failures: list[str]) -> None:
    assert other_problem({"limits": found}, {"limits": LIMITS}) == failures


def test_a_budget_that_limits_is_no_other_one() -> None:
    meant = LIMITS | {"budget": 5}

    assert other_problem({"limits": LIMITS | {"budget": 100}}, {"limits": meant}) == OTHER
    assert other_problem({"limits": meant}, {"limits": meant}) == []


@pytest.mark.parametrize(
    ("n_classes", "options"),
    [(2, {}), (3, {}), (2, {"voting": "soft", "objective": "log-loss"})],
    ids=["two classes", "three classes", "means"],
)
def test_certificates_that_hold_a_budget_as_it_was_given_stand_the_check(
    n_classes: int, options: dict[str, Any]
) -> None:
    X, y = make_classification(90, 5, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=1)
    pool = make_pool(X[:40], y[:40], n_classifiers=5, random_state=0)
    model = ExactPruner(
        pool, **{"objective": "accuracy"} | options, member_costs=[1, 2, 3, 4, 5], max_cost=100,
        node_limit=50, time_limit_s=None, random_state=0,
    ).fit(X[40:], y[40:])  # fmt: skip
    certificate = model.result_.certificate
    kept = copy.deepcopy(certificate["limits"])

    def failures(budget: int) -> tuple[str, ...]:
        certificate["limits"] = kept | {"budget": budget}
        return verify(model, X[40:], y[40:]).failures

    assert kept["budget"] == np.sum(kept["costs"]) == 15
    assert failures(100) == failures(15) == ()
    assert OTHER[0] in failures(14)


X, Y = make_classification(
    60, 4, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=1
)


def evolved(**options: Any) -> EvolutionaryEnsembleClassifier:
    given = {"population_size": 9, "n_generations": 6, "selection": "exact", "max_members": 3, **options}
    return EvolutionaryEnsembleClassifier(random_state=0, **given).fit(X, Y)


def step_of(model: EvolutionaryEnsembleClassifier) -> ExactStep:
    assert model.result_.exact_step is not None
    return model.result_.exact_step


def with_result(model: EvolutionaryEnsembleClassifier, **changes: Any) -> EvolutionaryEnsembleClassifier:
    model.result_ = dataclasses.replace(model.result_, **changes)
    return model


@pytest.mark.parametrize("options", [{}, {"mode": "online", "exact_every": 2}, {"max_members": None}])
def test_the_bound_is_recomputed_from_the_answers_of_all_candidates(options: dict[str, Any]) -> None:
    model = evolved(**options)
    found = verify(model, X, Y)
    assert (found.status, found.failures) == ("valid", ())
    assert found.value == found.bound == found.claimed_bound == 1 - (model.result_.error_bound or 0)
    assert found.all_votes
    assert found.n_classifiers == len(step_of(model).candidates)
    assert found.evidence is not None
    among = f" of at most {model.max_members} members" if model.max_members else ""
    assert found.evidence.claim().startswith(f"best of all selections{among} (")


def test_a_bound_below_what_the_certificate_proves_is_told() -> None:
    model = with_result(evolved(), error_bound=0.5)
    found = verify(model, X, Y)
    assert found.status == "invalid"
    assert found.failures == ("the model claims another bound than its exact step",)


def test_candidates_that_answer_otherwise_are_told() -> None:
    model = evolved()
    step = step_of(model)
    found = verify(
        with_result(model, exact_step=dataclasses.replace(step, candidates=step.candidates[::-1])), X, Y
    )
    assert "the data is not what the certificate was made for" in found.failures


def test_a_certificate_of_other_limits_is_told() -> None:
    model = evolved()
    model.max_members = 2
    assert (
        "the certificate is about other limits than the options of the model" in verify(model, X, Y).failures
    )


def test_members_that_beat_their_bound_are_told() -> None:
    model = evolved()
    weak = evolved(population_size=4, n_generations=1).result_
    assert weak.error > model.result_.error
    found = verify(with_result(model, exact_step=weak.exact_step, error_bound=weak.error_bound), X, Y)
    assert "the members are right on more rows than the certificate allows any choice" in found.failures


def test_of_a_model_without_the_step_the_value_alone_is_counted() -> None:
    found = verify(with_result(evolved(), exact_step=None), X, Y)
    assert (found.status, found.bound) == ("counted", None)
    assert found.claimed_bound is not None
    assert found.evidence is not None
    assert found.evidence.claim().endswith("no certificate, because the model keeps no certificate")


def test_margins_claim_no_bound() -> None:
    found = verify(evolved(selection="margins"), X, Y)
    assert (found.status, found.bound, found.claimed_bound) == ("valid", None, None)
