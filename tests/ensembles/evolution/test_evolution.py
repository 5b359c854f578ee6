"""Evolutionary ensemble learning."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import make_classification

from shortlist.ensembles.evolution.evolution import (
    Evolved,
    Generation,
    evolve,
    room_for_members,
)
from shortlist.ensembles.evolution.scored_spaces import LinearClassifiers
from shortlist.ensembles.evolution.settings import EvolutionSettings
from shortlist.ensembles.evolution.spaces import SPACES, open_space
from shortlist.ensembles.evolution.training_rows import TrainingRows, row_weights
from shortlist.errors import BadInputError
from shortlist.runs import NO_STUDY, Cancellation, Progress, Study, open_study
from shortlist.runs.budget import Budget
from shortlist.runs.study import KeepSettings

X, Y = make_classification(120, 5, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.1, random_state=1)
BINARY = (Y > 0).astype(int)
SPACE, BINARY_SPACE = LinearClassifiers(5, 3), LinearClassifiers(5, 2)


def _evolve(**options: Any) -> Evolved:
    runs = {"rng", "callback", "budget"} & options.keys()
    run = {name: options.pop(name) for name in runs}
    settings = EvolutionSettings(**{"population_size": 30, "n_generations": 12, **options})
    return evolve(SPACE, X, Y, settings, n_classes=3, **run)


def _error(members: Any, labels: NDArray[np.int64] = Y) -> float:
    codes = SPACE.predict(members, X)
    votes = np.array([[(row == c).sum() for c in range(3)] for row in codes])
    return float((votes.argmax(axis=1) != labels).mean())


@given(
    n_wrong=st.lists(st.integers(0, 4), min_size=1, max_size=8),
    gamma=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
)
def test_weights_are_powers_of_the_wrong_answers(n_wrong: list[int], gamma: float) -> None:
    weights = row_weights(n_wrong, gamma)
    if any(n_wrong):
        assert weights.tolist() == pytest.approx([n**gamma for n in n_wrong])  # Python's 0.0 ** 0.0 is 1
    else:
        assert (weights == 1).all()
    assert (weights.dtype.kind == "i") == (gamma.is_integer() or not any(n_wrong))


def test_powers_that_do_not_fit_are_not_whole() -> None:
    assert row_weights([10**6, 3], 4).dtype.kind == "f"
    assert row_weights([10**6, 3], 3).tolist() == [10**18, 27]


def test_fitness_of_equal_shares_is_equal() -> None:
    """3/5 + 14/5 and 17/5 differ as floating point."""
    labels = np.ones(3, dtype=np.int64)
    rows = TrainingRows(LinearClassifiers(1, 2), np.zeros((3, 1)), labels, 2, "histogram")
    codes = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.uint8)
    assert rows.fitness(codes, row_weights([3, 14, 17])).tolist() == [17, 17]


def test_smoothing_lets_an_ensemble_of_one_member_grow() -> None:
    """As printed, every row counts 0 or 1 with one member, and nothing that is bred may join it."""
    X, y = make_classification(300, 6, n_informative=3, n_redundant=0, flip_y=0.5, random_state=3)
    sizes = {
        smoothing: evolve(
            LinearClassifiers(6, 2), X, y,
            EvolutionSettings(mode="online", population_size=30, n_generations=30, smoothing=smoothing),
            n_classes=2,
        ).history[-1].ensemble_size
        for smoothing in (0, 1)
    }  # fmt: skip
    assert sizes[0] == 1 < sizes[1]


class _Recorded:
    """A space whose individuals are numbers, and whose answers are a table."""

    def __init__(self, answers: NDArray[np.int64]) -> None:
        self.answers = answers
        self.chosen: list[int] = []

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:  # noqa: ARG002  # the protocol's
        return np.asarray(np.arange(size) % self.answers.shape[1])

    def mutate(
        self,
        population: NDArray[np.int64],
        rng: np.random.Generator,  # noqa: ARG002  # the protocol's
    ) -> NDArray[np.int64]:
        self.chosen += population.tolist()
        return population.copy()

    def recombine(
        self,
        first: NDArray[np.int64],
        second: NDArray[np.int64],  # noqa: ARG002  # the protocol's
        rng: np.random.Generator,  # noqa: ARG002  # the protocol's
    ) -> NDArray[np.int64]:
        return first.copy()

    def predict(self, population: NDArray[np.int64], X: NDArray[np.float64]) -> Any:  # noqa: ARG002  # the protocol's
        return self.answers[:, population]


ROWS = np.zeros((4, 1))


@pytest.mark.parametrize(
    ("answers", "fittest", "options"),
    [
        # 0, 1, 2 are right on the easy rows; 3 alone is right on the hard one, of weight 3/4 against 1/4 each
        pytest.param([[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 0, 1]], 3, {}, id="hard rows count more"),
        # the ensemble is 0, wrong on the last row only: whoever is right there wins, however wrong elsewhere
        pytest.param(
            [[1, 0, 1], [1, 0, 0], [1, 0, 1], [0, 1, 0]], 1, {"mode": "online", "smoothing": 0},
            id="relative to the ensemble",
        ),
        pytest.param(
            [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1]], 0, {"gamma": 0},
            id="an exponent of zero makes it the accuracy",
        ),
    ],
)  # fmt: skip
def test_who_is_fittest(answers: list[list[int]], fittest: int, options: dict[str, Any]) -> None:
    space = _Recorded(np.array(answers))
    settings = EvolutionSettings(
        population_size=len(answers[0]),
        n_generations=2,
        n_elites=0,
        tournament=40,
        crossover_rate=0,
        **options,
    )
    evolve(space, ROWS, [1] * 4, settings, n_classes=2)
    assert set(space.chosen) == {fittest}


@pytest.mark.parametrize("mode", ["offline", "online", "single"])
@pytest.mark.parametrize("survivors", ["children", "best"])
def test_the_reported_error_is_that_of_the_members_vote(mode: str, survivors: str) -> None:
    evolved = _evolve(mode=mode, survivors=survivors)
    assert evolved.error == pytest.approx(_error(evolved.members))
    assert [g.number for g in evolved.history] == list(range(1, 13))
    assert len(evolved.population) == 30


def test_onlines_ensemble_starts_with_one_and_never_shrinks_or_gets_worse() -> None:
    seen: list[Generation] = []
    evolved = _evolve(mode="online", callback=seen.append)
    assert tuple(seen) == evolved.history
    assert seen[0].ensemble_size == 1
    assert seen[0].ensemble_error == seen[0].best_error
    for before, after in itertools.pairwise(seen):
        assert after.ensemble_size >= before.ensemble_size
        assert after.ensemble_error <= before.ensemble_error
        if after.ensemble_size > before.ensemble_size:
            assert after.ensemble_error < before.ensemble_error
    assert seen[-1].ensemble_size > 1


@pytest.mark.parametrize("mode", ["offline", "online"])
@pytest.mark.parametrize("most", [1, 2, 3, 7, 40])
def test_the_ensemble_never_has_more_than_the_most_members(mode: str, most: int) -> None:
    seen: list[Generation] = []
    found = _evolve(mode=mode, max_members=most, callback=seen.append)
    assert 1 <= len(found.members) <= most
    for each in seen:
        room = room_for_members(most, each.number, len(seen))
        assert room is not None
        assert each.ensemble_size <= max(1, room)
    assert _error(found.members) == pytest.approx(found.error)


def test_room_for_members_that_is_never_needed_changes_nothing() -> None:
    free, roomy = _evolve(mode="online"), _evolve(mode="online", max_members=10**9)
    assert len(free.members) > 1
    assert np.array_equal(free.members, roomy.members)


@pytest.mark.parametrize("mode", ["offline", "online"])
def test_no_two_members_answer_alike(mode: str) -> None:
    codes = SPACE.predict(_evolve(mode=mode).members, X)
    assert len(np.unique(codes, axis=1).T) == codes.shape[1]


def test_offline_is_no_worse_than_its_best_individual_and_single_is_it() -> None:
    offline, single = _evolve(), _evolve(mode="single")
    assert offline.error <= offline.history[-1].best_error
    assert len(single.members) == 1
    assert single.error == single.history[-1].best_error


def test_an_elite_keeps_a_plain_genetic_algorithm_from_getting_worse() -> None:
    errors = [generation.best_error for generation in _evolve(mode="single").history]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0]


@pytest.mark.parametrize("mode", ["offline", "online", "single"])
def test_the_same_seed_gives_the_same_run(mode: str) -> None:
    first, second, other = (_evolve(mode=mode, rng=np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert first.history == second.history != other.history
    assert np.array_equal(first.members, second.members)


@pytest.mark.parametrize("mode", ["offline", "online", "single"])
def test_a_population_that_is_perfect_divides_by_nothing(mode: str) -> None:
    rows = np.array([[-1.0], [1.0]] * 5)
    evolved = evolve(
        LinearClassifiers(1, 2),
        rows,
        [0, 1] * 5,
        EvolutionSettings(mode=mode, population_size=40, n_generations=15),
        n_classes=2,
    )
    assert evolved.error == 0
    assert np.isfinite([generation.mean_error for generation in evolved.history]).all()


def test_patience_ends_a_run_that_stands_still() -> None:
    rows = np.array([[-1.0], [1.0]] * 5)
    evolved = evolve(
        LinearClassifiers(1, 2),
        rows,
        [0, 1] * 5,
        EvolutionSettings(population_size=40, n_generations=99, patience=4),
        n_classes=2,
    )
    assert evolved.stopped == "patience"
    assert len(evolved.history) < 99
    assert len({generation.ensemble_error for generation in evolved.history[-5:]}) == 1


@pytest.mark.parametrize("mode", ["offline", "online"])
def test_cancelling_keeps_the_ensemble_of_the_generations_so_far(mode: str) -> None:
    cancellation = Cancellation()
    events: list[Progress] = []

    def stop_at_three(generation: Generation) -> None:
        if generation.number == 3:
            cancellation.cancel()

    evolved = _evolve(
        mode=mode, callback=stop_at_three, budget=Budget(cancellation=cancellation, report=events.append)
    )
    assert evolved.stopped == "interrupted"
    assert len(evolved.history) == 3
    assert evolved.error == pytest.approx(_error(evolved.members))
    assert [(event.done, event.total) for event in events] == [(0, 12), (1, 12), (2, 12), (3, 12)]


def test_rows_are_not_changed() -> None:
    rows, labels = X.copy(), BINARY.copy()
    rows.setflags(write=False)
    labels.setflags(write=False)
    evolve(BINARY_SPACE, rows, labels, EvolutionSettings(population_size=10, n_generations=3), n_classes=2)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        pytest.param(np.full((4, 3), 2), "classes from 0 to 1, got 2", id="unknown class"),
        pytest.param(np.full((4, 3), 0.5), "must return class indices", id="scores"),
        pytest.param(np.zeros((3, 3), int), "must return class indices of shape", id="rows missing"),
    ],
)
def test_a_space_that_answers_nonsense_is_told_so(answers: Any, message: str) -> None:
    few = EvolutionSettings(population_size=3, n_generations=2)
    with pytest.raises(BadInputError, match=message):
        evolve(_Recorded(answers), ROWS, [1] * 4, few, n_classes=2)


@pytest.mark.parametrize("mode", ["offline", "online", "single"])
def test_a_population_of_elites_alone_stays_as_it_is(mode: str) -> None:
    evolved = _evolve(mode=mode, population_size=5, n_elites=5, n_generations=4)

    first = evolved.history[0]
    for generation in evolved.history:
        assert generation.best_error == first.best_error
        assert generation.mean_error == pytest.approx(first.mean_error)


class _Losing(LinearClassifiers):
    """Loses an individual where it is told to."""

    where: str

    def __init__(self, where: str) -> None:
        super().__init__(X.shape[1], 2)
        object.__setattr__(self, "where", where)

    def sample(self, size: int, rng: np.random.Generator) -> Any:
        return super().sample(size - (self.where == "sample"), rng)

    def mutate(self, population: Any, rng: np.random.Generator) -> Any:
        mutants = super().mutate(population, rng)
        return mutants[1:] if self.where == "mutate" else mutants


@pytest.mark.parametrize("where", ["sample", "mutate"])
def test_a_space_that_loses_individuals_is_told_so(where: str) -> None:
    with pytest.raises(BadInputError, match=f"{where} of the space must return"):
        evolve(_Losing(where), X, BINARY, EvolutionSettings(population_size=8, n_generations=3), n_classes=2)


def test_fitness_adds_up_counts_so_that_individuals_right_on_equal_weights_are_equal() -> None:
    rng = np.random.default_rng(0)
    for n_rows in (7, 40, 1500):
        labels = rng.integers(0, 2, n_rows)
        rows = TrainingRows(LinearClassifiers(1, 2), np.zeros((n_rows, 1)), labels, 2, "histogram")
        weights = row_weights(rng.integers(0, 6, n_rows), 1.3)
        first = (labels ^ (rng.random(n_rows) < 0.4)).astype(np.uint8)
        codes = np.empty((n_rows, 33), dtype=np.uint8)
        for column in codes.T:  # each is right on as many rows of each weight
            right = first == labels
            for level in np.unique(weights):
                right[weights == level] = rng.permutation(right[weights == level])
            column[:] = np.where(right, labels, 1 - labels)

        found = rows.fitness(codes, weights)

        assert len(set(found.tolist())) == 1
        assert found[0] == pytest.approx(sum(weights[first == labels].tolist()), rel=n_rows * 2**-52)
        assert rows.fitness(codes[:, :1], weights)[0] == found[0]


EVERY_STATE = KeepSettings(every_s=0.0, share=np.inf)
"""Keeps the state of every generation, whatever the clock says."""
KEPT_X, KEPT_Y = make_classification(
    80, 4, n_informative=3, n_redundant=0, n_classes=3, flip_y=0.1, random_state=1
)


class _KilledError(Exception):
    """Stands for a kill."""


def _kept_evolve(
    study: Study = NO_STUDY, *, space: str = "linear", stop: Cancellation | None = None, **options: Any
) -> Evolved:
    settings = EvolutionSettings(**{"population_size": 12, "n_generations": 7, **options})
    rng = np.random.default_rng(5)
    return evolve(
        open_space(space, 4, 3),
        KEPT_X,
        KEPT_Y,
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
            _kept_evolve(study, **options)
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
    whole = _kept_evolve(space=space, **options)
    for n_states in (1, len(whole.history) // 2, len(whole.history)):
        path = tmp_path / f"{n_states}.db"
        _killed_after(n_states, path, space=space, **options)
        with open_study(path, keeping=EVERY_STATE) as study:
            assert _same(_kept_evolve(study, space=space, **options), whole)
            assert study.n_finished == 1
            assert study.kept("evolution") is None
            assert _same(_kept_evolve(study, space=space, **options), whole)  # from the state of its end


def test_a_killed_evolution_may_be_killed_again(tmp_path: Path) -> None:
    for n_states in (2, 1, 3):
        _killed_after(n_states, tmp_path / "s.db", mode="online")
    with open_study(tmp_path / "s.db", keeping=EVERY_STATE) as study:
        assert _same(_kept_evolve(study, mode="online"), _kept_evolve(mode="online"))


def test_an_interrupted_evolution_keeps_its_last_state_whatever_the_time(tmp_path: Path) -> None:
    stop = Cancellation()
    stop.cancel()
    with open_study(tmp_path / "s.db", keeping=EVERY_STATE) as study:
        for number in (1, 2, 3):
            part = _kept_evolve(study, stop=stop)
            assert (part.stopped, len(part.history), study.n_finished) == ("interrupted", number, 0)
        assert _same(_kept_evolve(study), _kept_evolve())


def test_another_question_is_refused(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db", keeping=EVERY_STATE) as study:
        _kept_evolve(study)
        with pytest.raises(BadInputError, match=r"gamma was 1\.0 there and is 2\.0 now"):
            _kept_evolve(study, gamma=2.0)
        with pytest.raises(BadInputError, match="space was LinearClassifiers"):
            _kept_evolve(study, space="rules")


class _Objects:
    """A space whose individuals are Python objects."""

    def sample(self, size: int, rng: np.random.Generator) -> Any:  # noqa: ARG002  # the protocol's
        return np.array([{"class": 0}] * size, dtype=object)

    def mutate(self, population: Any, rng: np.random.Generator) -> Any:  # noqa: ARG002  # the protocol's
        return population.copy()

    def recombine(self, first: Any, second: Any, rng: np.random.Generator) -> Any:  # noqa: ARG002  # the protocol's
        return first.copy()

    def predict(self, population: Any, KEPT_X: Any) -> Any:
        return np.zeros((len(KEPT_X), len(population)), dtype=np.uint8)


def test_individuals_that_are_objects_are_not_kept_and_it_is_said(tmp_path: Path) -> None:
    few = EvolutionSettings(population_size=4, n_generations=3)
    assert len(evolve(_Objects(), KEPT_X, KEPT_Y, few, n_classes=3).history) == 3
    with (
        open_study(tmp_path / "s.db", keeping=EVERY_STATE) as study,
        pytest.raises(BadInputError, match="got Python objects"),
    ):
        evolve(_Objects(), KEPT_X, KEPT_Y, few, n_classes=3, study=study)


def test_a_single_classifier_stays_one() -> None:
    few = EvolutionSettings(mode="single", population_size=9, n_generations=6)
    assert len(evolve(LinearClassifiers(KEPT_X.shape[1], 3), KEPT_X, KEPT_Y, few, n_classes=3).members) == 1


def test_whoever_stops_evolution_gets_the_ensemble_so_far() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    few, space = EvolutionSettings(population_size=9, n_generations=6), LinearClassifiers(KEPT_X.shape[1], 3)

    stopped = evolve(space, KEPT_X, KEPT_Y, few, n_classes=3, budget=Budget(cancellation=cancellation))

    assert len(stopped.members)
    assert (stopped.stopped, len(stopped.history)) == ("interrupted", 1)


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
        EvolutionSettings(**{"population_size": 30, **options}).check()


@pytest.mark.parametrize("mode", ["offline", "online", "single"])
@pytest.mark.parametrize(
    ("gamma", "criterion", "survivors"), [(1.0, "histogram", "children"), (0.5, "minimum", "best")]
)
def test_costs_of_errors_are_rows_that_are_there_as_often(
    mode: str, gamma: float, criterion: str, survivors: str
) -> None:
    costs = (1, 3, 5)
    more: dict[str, Any] = {} if mode == "single" else {"gamma": gamma, "criterion": criterion}
    options: dict[str, Any] = {
        "mode": mode,
        "survivors": survivors,
        "population_size": 30,
        "n_generations": 8,
    }
    weighed = evolve(SPACE, X, Y, EvolutionSettings(**options, **more, error_costs=costs), n_classes=3)
    often = np.repeat(np.arange(len(Y)), np.array(costs)[Y])
    repeated = evolve(SPACE, X[often], Y[often], EvolutionSettings(**options, **more), n_classes=3)
    assert weighed.members.tolist() == repeated.members.tolist()
    assert weighed.population.tolist() == repeated.population.tolist()
    per_row = len(often) / len(Y)
    assert weighed.error == pytest.approx(repeated.error * per_row)
    for own, other in zip(weighed.history, repeated.history, strict=True):
        assert own.ensemble_size == other.ensemble_size
        assert own.mean_error == pytest.approx(other.mean_error * per_row)
    codes = SPACE.predict(weighed.members, X)
    votes = np.array([[(row == c).sum() for c in range(3)] for row in codes])
    by_hand = sum(costs[true] for true, said in zip(Y, votes.argmax(axis=1), strict=True) if true != said)
    assert weighed.error == pytest.approx(by_hand / len(Y))


def test_weights_times_costs_that_do_not_fit_are_not_whole() -> None:
    rows = TrainingRows(SPACE, X, Y, 3, "histogram", error_costs=(10**6, 1, 1))
    codes = np.zeros((len(Y), 300), dtype=np.uint8)
    alone = rows.single_best(SPACE.sample(300, np.random.default_rng(0)), codes)
    weights = rows.weights("offline", codes, alone, gamma=6.0, smoothing=1)
    assert weights.dtype.kind == "f"
    assert (weights >= 0).all()
