"""Figures on new rows beside those that were reported."""

import numpy as np
import pytest

from shortlist.results.intervals import wilson_interval
from shortlist.results.measured_again import (
    ACCURACY,
    ANSWERED,
    PRICE,
    RIGHT_OF_ANSWERS,
    MeasuredAgain,
    NewRows,
    figures_of,
    holds,
    mean,
    share,
)
from tests.stored import Stored

ROWS = NewRows(
    np.array([0, 1, -1, 1]), np.array([0, 1, 1, 0]), np.array(["no", "yes"]), prices=np.array([1.0, 2, 3, 2])
)


def test_figures_are_counted_by_hand() -> None:
    found = figures_of(ROWS)
    assert found[ACCURACY] == (0.5, *wilson_interval(2, 4))
    assert found[ANSWERED] == (0.75, *wilson_interval(3, 4))
    assert found[RIGHT_OF_ANSWERS] == (2 / 3, *wilson_interval(2, 3))
    assert found["recall of yes"] == (0.5, *wilson_interval(1, 2))
    assert found[PRICE][0] == 2
    assert "asked a row" not in found


def test_figures_of_the_same_model_hold_in_nineteen_of_twenty_draws() -> None:
    rng = np.random.default_rng(0)
    held = [
        holds(share(rng.binomial(300, 0.8), 300), share(rng.binomial(500, 0.8), 500)) for _ in range(2000)
    ]
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(
    ("n_right", "promised", "sentence"),
    [
        (180, None, "As reported: 90.0% of 200 rows are right."),
        (150, None, "Choose anew: 75.0% of 200 rows are right, 90.0% were reported."),
        (199, None, "Better than reported: 99.5% of 200 rows are right."),
        (180, 0.85, "As reported: 90.0% of 200 rows are right."),
        (180, 0.99, "Choose anew: 90.0% of the answers are right, where 99.0% are promised."),
    ],
)
def test_the_first_line_says_whether_to_choose_anew(
    n_right: int, promised: float | None, sentence: str
) -> None:
    found = MeasuredAgain({ACCURACY: share(n_right, 200)}, {ACCURACY: share(900, 1000)}, 200, promised)
    assert found.sentence() == sentence
    assert found.is_worse == sentence.startswith("Choose anew")
    assert found.as_dict()["choose_anew"] == found.is_worse


def test_a_price_that_changed_is_said_beside_an_accuracy_that_holds(stored: Stored) -> None:
    now = {ACCURACY: share(90, 100), PRICE: mean(np.full(100, 3.0) + np.arange(100) % 2)}
    told = {ACCURACY: share(900, 1000), PRICE: (2.0, 1.9, 2.1)}
    stored(MeasuredAgain(now, told, 100).sentence())
