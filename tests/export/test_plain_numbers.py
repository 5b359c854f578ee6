"""Evolved ensembles answer by policies as by their models, whatever space they are of."""

from typing import Any

import numpy as np
import pytest

from shortlist import BadInputError
from shortlist.ensembles import EvolutionaryEnsembleClassifier
from shortlist.ensembles.evolution.scored_spaces import GeneticPrograms
from shortlist.ensembles.evolution.spaces import SPACES
from shortlist.export import reader
from shortlist.export.onnx_graph import onnx_of
from shortlist.export.policies import check_policy, policy_of
from tests.export.test_policies import TABLE, TARGETS, saved


def evolved(target: str, **options: Any) -> EvolutionaryEnsembleClassifier:
    given = {"population_size": 30, "n_generations": 4, "max_members": 7, **options}
    return EvolutionaryEnsembleClassifier(random_state=0, **given).fit(TABLE[:150], TARGETS[target][:150])


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("target", TARGETS)
def test_every_space_is_written(space: str, target: str) -> None:
    model = saved(evolved(target, space=space))
    policy = policy_of(model)
    assert len(policy["members"]) == len(model.estimator.members_)
    assert check_policy(policy, model, TABLE[100:200]) == 100


def test_expressions_that_overflow_or_divide_by_nothing_have_the_values_of_the_space() -> None:
    space, rng = GeneticPrograms(3, 3, depth=4), np.random.default_rng(0)
    members = space.sample(40, rng)
    members["constants"] *= 1e200
    rows = np.array([[0.0, 1e-7, -1e150], [1e160, -1e160, 1e-3], [2.0, 2.0, 2.0], [1e-18, 0.0, 0.0]])
    ensemble = evolved("three classes", space="genetic-programs")
    ensemble.space_, ensemble.members_ = space, members
    wanted = space.predict(members, rows)
    for member, codes in zip(policy_of(saved(ensemble))["members"], wanted.T, strict=True):
        found = [reader._score(member["model"], row) for row in rows.tolist()]
        assert [one.index(max(one)) for one in found] == codes.tolist()


def test_a_space_of_ones_own_and_onnx_are_refused() -> None:
    ensemble = evolved("two classes")
    with pytest.raises(BadInputError, match="got an evolved ensemble"):
        onnx_of(policy_of(saved(ensemble)))
    ensemble.space_ = object()  # type: ignore[assignment]
    with pytest.raises(BadInputError, match="a policy is made of members of the spaces that ship, got those"):
        policy_of(saved(ensemble))
