"""What `shortlist evolve` breeds."""

import inspect

from shortlist.cli.options.evolve_options import BreedingOptions
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier


def test_the_defaults_of_the_command_are_those_of_the_classifier() -> None:
    made = BreedingOptions().classifier(0).get_params()
    parameters = inspect.signature(EvolutionaryEnsembleClassifier).parameters
    named = {name for name in made if name != "random_state"}
    assert {name: made[name] for name in named} == {name: parameters[name].default for name in named}


def test_every_option_reaches_the_classifier() -> None:
    made = BreedingOptions(
        mode="online", space="rules", generations=3, population=7, max_members=5
    ).classifier(9)
    told = (
        made.mode,
        made.space,
        made.n_generations,
        made.population_size,
        made.max_members,
        made.random_state,
    )
    assert told == ("online", "rules", 3, 7, 5, 9)
