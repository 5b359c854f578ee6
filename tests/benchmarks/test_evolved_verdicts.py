"""The told lead of an evolved ensemble, beside what the library tells of the same parts."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from benchmarks.rows import RESULTS
from benchmarks.studies.evolved_verdicts import DRAWS, PARTITIONS, EvolvedDraw, told_of_draws
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.evolved_table import evolve_part
from shortlist.results.intervals import Z, difference_of
from shortlist.results.repeated_choice import choices_again, joined
from shortlist.runs import Budget
from shortlist.tables.splits import deal_folds


def test_a_lead_and_its_error_are_those_of_the_library() -> None:
    X, y = make_classification(120, 4, flip_y=0.2, random_state=3)
    draw = EvolvedDraw((pd.DataFrame(X), y), "offline", 7)
    told, _, error = draw.told()["5 parts x 2"]
    assert PARTITIONS["5 parts x 2"] == (5, 2)
    parts = np.stack([deal_folds(y, 5, 1000 + deal) for deal in range(2)])
    one = EvolutionaryEnsembleClassifier("offline", random_state=7, population_size=100, n_generations=50)
    again = choices_again(parts)
    found = [
        {
            name: np.array(codes)
            for name, codes in evolve_part(
                one, pd.DataFrame(X), y, each.kept, each.held, budget=Budget()
            ).items()
        }
        for each in again
    ]
    decided = joined(again, found)
    rights = (decided[name] == np.tile(y, 2) for name in ("evolved", "best_single"))
    difference = difference_of(*rights, times=2, parts=parts.ravel())
    assert told == pytest.approx(difference.gain)
    assert Z * error == pytest.approx(difference.gain - difference.interval[0], rel=0.01)


def test_the_stored_draws_give_the_stored_rows() -> None:
    draws = pd.read_csv(RESULTS / DRAWS)
    stored = pd.read_csv(RESULTS / "evolved-verdicts.csv")
    rows = pd.DataFrame(told_of_draws(draws))
    assert rows["covered"].tolist() == pytest.approx(stored["covered"].tolist())
    assert rows["rmse"].tolist() == pytest.approx(stored["rmse"].tolist())
