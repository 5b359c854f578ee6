"""Members chosen by exact pruning, from the last population and while an ensemble grows."""

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from shortlist.ensembles.evolution.ensemble_choice import EnsembleChoice
from shortlist.ensembles.evolution.evolution import Evolved, evolve
from shortlist.ensembles.evolution.evolution_settings import EvolutionSettings
from shortlist.ensembles.evolution.reference_rows import ReferenceRows
from shortlist.ensembles.evolution.spaces import LinearClassifiers
from shortlist.ensembles.votes.class_votes import class_tally, plurality
from shortlist.errors import BadInputError
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget

X, Y = make_classification(
    60, 4, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=1
)
SPACE = LinearClassifiers(4, 3)


def run(**options: Any) -> Evolved:
    budget = options.pop("budget", None)
    settings = EvolutionSettings(
        **{"population_size": 9, "n_generations": 6, "selection": "exact", **options}
    )
    return evolve(SPACE, X, Y, settings, n_classes=3, budget=budget)


def error(codes: Any, members: tuple[int, ...]) -> float:
    return float((plurality(class_tally(codes[:, list(members)], 3)) != Y).mean())


def least_error(codes: Any, most: int) -> float:
    """The least error of any subset, by trying all."""
    subsets = itertools.chain.from_iterable(
        itertools.combinations(range(codes.shape[1]), n) for n in range(1, most + 1)
    )
    return min(error(codes, members) for members in subsets)


@pytest.mark.parametrize("most", [2, 9])
def test_the_members_of_the_last_population_are_the_best_of_all_subsets(most: int) -> None:
    exact = run(max_members=most)
    greedy = run(max_members=most, selection="margins")

    codes = SPACE.predict(exact.population, X).astype(np.uint8)
    assert (exact.population == greedy.population).all()
    assert exact.error == exact.error_bound == least_error(codes, most) <= greedy.error
    assert len(exact.members) <= most
    assert greedy.error_bound is None


def test_an_exact_step_chooses_among_the_members_and_the_population() -> None:
    rows = ReferenceRows(SPACE, X, Y, 3, "histogram")
    settings = EvolutionSettings(
        mode="online", selection="exact", exact_every=2, max_members=4, n_generations=4
    )
    rng = np.random.default_rng(3)
    first, second = SPACE.sample(5, rng), SPACE.sample(6, rng)
    ensemble = rows.grown(rows.single_best(first, rows.codes(first)), first, rows.codes(first), 3)

    chosen = EnsembleChoice(rows, settings, Budget()).after(4, ensemble, second, rows.codes(second))

    both = rows.codes(np.concatenate([ensemble.genomes, second]))
    assert rows.error(chosen) == least_error(both, 4)
    assert len(chosen) <= 4


def test_an_online_ensemble_ends_with_an_exact_step_within_its_members() -> None:
    found = run(mode="online", exact_every=2, max_members=5)

    assert found.error == found.error_bound
    assert len(found.members) <= 5


def test_a_single_classifier_stays_one() -> None:
    assert len(run(mode="single").members) == 1


def test_whoever_stops_evolution_gets_the_ensemble_by_margins() -> None:
    cancellation = Cancellation()
    cancellation.cancel()

    stopped = run(budget=Budget(cancellation=cancellation))

    assert stopped.error_bound is None
    assert stopped.stopped == "interrupted"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"selection": "greedy"}, "selection must be one of"),
        ({"exact_every": 0}, "exact_every must be at least 1"),
        ({"exact_time_limit_s": 0}, "exact_time_limit_s must be"),
        ({"mode": "online"}, "`max_members` must be given where an online ensemble is chosen exactly"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        run(**options)
