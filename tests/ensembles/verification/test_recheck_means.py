"""Whether a certificate is about the problem that a model's options mean."""

import copy
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from shortlist.ensembles import ExactPruner, make_pool
from shortlist.ensembles.verification.recheck_claims import other_problem
from shortlist.ensembles.verification.recheck_model import verify

LIMITS = {"min_size": 1, "max_size": 3, "costs": [1, 2, 3], "budget": 6}

OTHER = ["the certificate is about other limits than the model"]


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
