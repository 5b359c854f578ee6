"""Whether a certificate is about the problem that a model's options mean."""

import copy
import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from shortlist.ensembles import EvolutionaryEnsembleClassifier, ExactPruner, make_pool
from shortlist.ensembles.evolution.training_rows import ExactStep
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.verification.recheck_claims import other_problem
from shortlist.ensembles.verification.recheck_model import verify
from shortlist.ensembles.verification.recorded_rows import unusable_answers
from shortlist.tables.fingerprints import table_fingerprint
from shortlist_papers import OrderedPruner

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
    assert "the certificate is about other limits than the model" in verify(model, X, Y).failures


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


Y = np.random.default_rng(0).permutation(np.resize(["no", "yes"], 60))

OTHERS = np.where(Y == "no", "yes", "no")


ANSWERS = pd.DataFrame({f"j{k}": np.where(np.arange(60) % (k + 3), Y, OTHERS) for k in range(3)})

PART = np.random.default_rng(1).permutation(60)[:50]
"""The rows that prune, in another order than that of the table."""


def pruned(kind: str) -> Any:
    pool = Pool.from_answers(ANSWERS, Y)
    unfitted: dict[str, Any] = {
        "exact": ExactPruner(pool, objective="accuracy", min_size=3, time_limit_s=None, random_state=0),
        "rule": OrderedPruner(pool, rule="reduced-error"),
    }
    model = unfitted[kind].fit(ANSWERS.iloc[PART], Y[PART])
    table = table_fingerprint(ANSWERS, Y)
    model.validation_ = dataclasses.replace(model.validation_, rows=PART, table=table)
    return model


def changed(row: int, judge: str = "j1") -> pd.DataFrame:
    answers = ANSWERS.copy()
    answers.loc[row, judge] = "maybe"
    return answers


@pytest.mark.parametrize("kind", ["exact", "rule"])
def test_the_rows_that_differ_come_first_and_the_answer_has_its_row_of_the_table(kind: str) -> None:
    model, row = pruned(kind), int(PART[7])

    judge = model.pool_.names[0]

    found = verify(model, changed(row, judge), Y)

    assert row != 7
    rows, answer = found.failures
    assert rows.startswith("these are not the rows that the model was made from: 1 of the 50 selection rows")
    assert f"(row {row + 1}, counted from 1)" in rows
    assert answer == f"judge {judge!r} must answer no or yes, got 'maybe' in row {row + 1}"


@pytest.mark.parametrize("kind", ["exact", "rule"])
def test_rows_that_took_no_part_may_hold_any_answer(kind: str) -> None:
    row = int(np.setdiff1d(np.arange(60), PART)[0])

    model = pruned(kind)

    found = verify(model, changed(row, model.pool_.names[0]), Y)

    assert found.failures == ()
    assert f"1 row has other values in this table (row {row + 1}, counted from 1)" in found.notes[0]


def test_what_is_no_judge_or_lacks_columns_is_passed_over() -> None:
    judges = Pool.from_answers(ANSWERS, Y).classifiers

    assert unusable_answers(judges, changed(4)) == ["judge 'j1' must answer no or yes, got 'maybe' in row 5"]
    assert unusable_answers(judges, ANSWERS) == []
    assert unusable_answers((*judges, object()), changed(4)) == []
    assert unusable_answers(judges, changed(4).drop(columns="j2")) == []
    assert unusable_answers(judges, changed(4).to_numpy()) == []
