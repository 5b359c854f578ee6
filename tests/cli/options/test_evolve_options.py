"""What `shortlist evolve` breeds."""

import inspect
from typing import Any

import pytest

from shortlist.cli.options.evolve_options import MODES, evolution
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier


@pytest.mark.parametrize("mode", MODES)
def test_the_defaults_of_the_command_are_those_of_the_classifier(mode: str) -> None:
    made = evolution(mode, {}).classifier(mode, 0).get_params()
    parameters = inspect.signature(EvolutionaryEnsembleClassifier).parameters
    named = {name for name in made if name not in {"random_state", "mode"}}
    assert {name: made[name] for name in named} == {name: parameters[name].default for name in named}


def test_every_option_reaches_the_classifier() -> None:
    given: dict[str, Any] = {"space": "rules", "n_generations": 3, "population_size": 7, "max_members": 5}
    made = evolution("online", given).classifier("online", 9)
    assert made.get_params() == EvolutionaryEnsembleClassifier("online", random_state=9, **given).get_params()
