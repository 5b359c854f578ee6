"""Evolution that is killed after a number of kept states, and gone on with."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from shortlist import BadInputError
from shortlist.ensembles.evolution.evolution import Evolved, evolve
from shortlist.ensembles.evolution.evolution_settings import EvolutionSettings
from shortlist.ensembles.evolution.spaces import SPACES, open_space
from shortlist.runs import NO_STUDY, Cancellation, Study, open_study
from shortlist.runs.budget import Budget
from shortlist.runs.studies.study import KeepSettings

EVERY_STATE = KeepSettings(every_s=0.0, share=np.inf)
"""Keeps the state of every generation, whatever the clock says."""
X, Y = make_classification(80, 4, n_informative=3, n_redundant=0, n_classes=3, flip_y=0.1, random_state=1)


class _KilledError(Exception):
    """Stands for a kill."""


def _evolve(
    study: Study = NO_STUDY, *, space: str = "linear", stop: Cancellation | None = None, **options: Any
) -> Evolved:
    settings = EvolutionSettings(**{"population_size": 12, "n_generations": 7, **options})
    rng = np.random.default_rng(5)
    return evolve(
        open_space(space, 4, 3),
        X,
        Y,
        settings,
        n_classes=3,
        rng=rng,
        study=study,
        budget=Budget(cancellation=stop or Cancellation()),
    )


def _killed_after(n_states: int, path: Path, **options: Any) -> None:
    """Evolve until so many states have been kept."""
    keep, calls = Study.keep, itertools.count(1)

    def counted(self: Study, *arguments: Any, **named: Any) -> None:
        keep(self, *arguments, **named)
        if next(calls) == n_states:
            raise _KilledError

    with pytest.MonkeyPatch.context() as patch, open_study(path, keeping=EVERY_STATE) as study:
        patch.setattr(Study, "keep", counted)
        with pytest.raises(_KilledError):
            _evolve(study, **options)
        assert study.kept("evolution") is not None


def _same(one: Evolved, other: Evolved) -> bool:
    return (
        one.members.tobytes() == other.members.tobytes()
        and one.population.tobytes() == other.population.tobytes()
        and (one.history, one.error, one.stopped) == (other.history, other.error, other.stopped)
    )


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(
    "options",
    [{}, {"mode": "online", "max_members": 9}, {"mode": "single", "survivors": "best", "patience": 2}],
    ids=["offline", "online", "single, best survive"],
)
def test_a_killed_evolution_ends_like_one_that_nobody_disturbed(
    space: str, options: dict[str, Any], tmp_path: Path
) -> None:
    whole = _evolve(space=space, **options)
    for n_states in (1, len(whole.history) // 2, len(whole.history)):
        path = tmp_path / f"{n_states}.db"
        _killed_after(n_states, path, space=space, **options)
        with open_study(path, keeping=EVERY_STATE) as study:
            assert _same(_evolve(study, space=space, **options), whole)
            assert study.n_finished == 1
            assert study.kept("evolution") is None
            assert _same(_evolve(study, space=space, **options), whole)  # from the state of its end


def test_a_killed_evolution_may_be_killed_again(tmp_path: Path) -> None:
    for n_states in (2, 1, 3):
        _killed_after(n_states, tmp_path / "s.db", mode="online")
    with open_study(tmp_path / "s.db", keeping=EVERY_STATE) as study:
        assert _same(_evolve(study, mode="online"), _evolve(mode="online"))


def test_an_interrupted_evolution_keeps_its_last_state_whatever_the_time(tmp_path: Path) -> None:
    stop = Cancellation()
    stop.cancel()
    with open_study(tmp_path / "s.db", keeping=EVERY_STATE) as study:
        for number in (1, 2, 3):
            part = _evolve(study, stop=stop)
            assert (part.stopped, len(part.history), study.n_finished) == ("interrupted", number, 0)
        assert _same(_evolve(study), _evolve())


def test_another_question_is_refused(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db", keeping=EVERY_STATE) as study:
        _evolve(study)
        with pytest.raises(BadInputError, match=r"gamma was 1\.0 there and is 2\.0 now"):
            _evolve(study, gamma=2.0)
        with pytest.raises(BadInputError, match="space was LinearClassifiers"):
            _evolve(study, space="rules")


class _Objects:
    """A space whose individuals are Python objects."""

    def sample(self, size: int, rng: np.random.Generator) -> Any:  # noqa: ARG002  # the protocol's
        return np.array([{"class": 0}] * size, dtype=object)

    def mutate(self, population: Any, rng: np.random.Generator) -> Any:  # noqa: ARG002  # the protocol's
        return population.copy()

    def recombine(self, first: Any, second: Any, rng: np.random.Generator) -> Any:  # noqa: ARG002  # the protocol's
        return first.copy()

    def predict(self, population: Any, X: Any) -> Any:
        return np.zeros((len(X), len(population)), dtype=np.uint8)


def test_individuals_that_are_objects_are_not_kept_and_it_is_said(tmp_path: Path) -> None:
    few = EvolutionSettings(population_size=4, n_generations=3)
    assert len(evolve(_Objects(), X, Y, few, n_classes=3).history) == 3
    with (
        open_study(tmp_path / "s.db", keeping=EVERY_STATE) as study,
        pytest.raises(BadInputError, match="got Python objects"),
    ):
        evolve(_Objects(), X, Y, few, n_classes=3, study=study)
