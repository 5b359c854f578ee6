"""Whatever is said of a value says of which selections."""

import functools
from typing import Any

import numpy as np
import pytest

from shortlist.ensembles import ExactPruner, Pool, make_pool
from shortlist.ensembles.committees.evidence import Evidence
from shortlist.ensembles.pruning.pruning import evidence_of, selections_meant
from shortlist.report.ensembles import pruned_parts
from shortlist.report.page import Facts

RNG = np.random.default_rng(2)
X = RNG.normal(size=(120, 3))
Y = (X[:, 0] + RNG.normal(size=120) > 0).astype(int)


@functools.cache
def pool() -> Pool:
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
        ({"objective": "brier", "min_size": 2, "max_size": 3, "max_copies": 2}, "of 2 to 3 members"),
        (
            {"objective": "accuracy", "max_cost": 5.0, "member_costs": [1.0] * 20, "diversity": "average"},
            "within the limits on cost and diversity",
        ),
    ],
    ids=["default", "exactly", "any", "at most", "at least", "copies", "limits"],
)
def test_a_claim_names_the_selections_that_it_is_about(options: dict[str, Any], among: str) -> None:
    pruner = fitted(**options)
    assert selections_meant(pruner) == among
    said = evidence_of(pruner.result_, pruner.solver, among).sentence()
    assert f"best of all selections{f' {among}' if among else ''} (" in said
    told = str([part.facts for part in pruned_parts(pruner.chosen_) if isinstance(part, Facts)])
    assert among in told


def test_without_a_certificate_the_solver_speaks_of_the_same_selections() -> None:
    known = Evidence(
        objective="accuracy", value=0.9, certified_bound=None, certified_by="", no_certificate="of this",
        bound=0.9, bound_by="CP-SAT", among="of exactly 10 members",
    )  # fmt: skip
    assert known.claim() == (
        "best of all selections of exactly 10 members (CP-SAT); no certificate, because of this"
    )


def test_selections_that_were_all_looked_at_are_named_too() -> None:
    known = Evidence(
        objective="accuracy", value=0.9, certified_bound=0.9, certified_by="selections", no_certificate="",
        bound=0.9, bound_by="selections", among="of at most 2 members",
    )  # fmt: skip
    assert known.claim() == "best of all selections of at most 2 members (full search)"
