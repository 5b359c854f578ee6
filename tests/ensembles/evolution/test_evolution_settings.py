"""Settings of evolution."""

from typing import Any

import pytest

from shortlist.ensembles.evolution.evolution_settings import EvolutionSettings
from shortlist.errors import BadInputError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"mode": "on"}, "mode must be one of", id="mode"),
        pytest.param({"survivors": "all"}, "survivors must be one of", id="survivors"),
        pytest.param({"population_size": 0}, "population_size must be at least 1", id="nobody"),
        pytest.param({"n_generations": 0}, "n_generations must be at least 1", id="never"),
        pytest.param({"gamma": -1}, "gamma must be a number of at least 0", id="gamma"),
        pytest.param({"crossover_rate": 2}, "crossover_rate must be between 0 and 1", id="rate"),
        pytest.param({"n_elites": 31}, "n_elites must be at least 0 and at most 30", id="elites"),
        pytest.param({"tournament": 0}, "tournament must be at least 1", id="tournament"),
        pytest.param({"patience": 0}, "patience must be at least 1", id="patience"),
        pytest.param({"criterion": "mean"}, "criterion must be one of", id="criterion"),
    ],
)
def test_bad_options_are_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        EvolutionSettings(**{"population_size": 30, **options})
