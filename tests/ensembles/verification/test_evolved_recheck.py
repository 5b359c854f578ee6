"""What an exact step claims of an evolved ensemble is recomputed from its candidates, and forgeries are told."""

import dataclasses
from typing import Any

import pytest
from sklearn.datasets import make_classification

from shortlist.ensembles import EvolutionaryEnsembleClassifier, verify
from shortlist.ensembles.evolution.reference_rows import ExactStep

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
    assert found.evidence.sentence().endswith(
        "so it is the best of those" if model.max_members else "so it is the best there is"
    )


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
        "the certificate is about other limits than the model's options mean" in verify(model, X, Y).failures
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
    assert "no bound can be rechecked, because the model keeps no certificate" in found.evidence.sentence()


def test_margins_claim_no_bound() -> None:
    found = verify(evolved(selection="margins"), X, Y)
    assert (found.status, found.bound, found.claimed_bound) == ("valid", None, None)
