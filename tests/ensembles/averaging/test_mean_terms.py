"""Sums over rows as whole numbers."""

from fractions import Fraction

import numpy as np
import pytest

from shortlist.ensembles.averaging.mean_terms import (
    float_error_of,
    mean_terms,
    reach_of,
    scale_of,
    step_of,
    total_of,
)
from shortlist.ensembles.goals.mean_goals import mean_goal
from shortlist.ensembles.votes.soft_votes import SoftVotes, soft_votes
from tests.ensembles import mean_oracles


@pytest.mark.parametrize("gain", [1, 1_000_003, 2**40 + 1])
@pytest.mark.parametrize("kind", ["right", "slope"])
def test_a_total_is_the_sum_of_the_gains_whatever_their_digits(kind: str, gain: int) -> None:
    votes = mean_oracles.random_pool(20, 4, 2)
    objective = "accuracy" if kind == "right" else "accuracy+slope-8"
    plain = mean_terms(votes, mean_goal(objective, votes))
    dear = plain._replace(worth=gain * plain.worth)
    reach = reach_of(plain, mean_oracles.as_mask([0, 2], 4))

    assert total_of(dear, reach, 2) == gain * total_of(plain, reach, 2)
    assert scale_of(dear) == scale_of(plain)


def test_totals_of_right_rows_differ_by_multiples_of_a_step() -> None:
    votes = SoftVotes(mean_oracles.random_pool(12, 3, 2).shares, np.array([0] * 4 + [1] * 8, np.uint8))

    assert step_of(mean_terms(votes, mean_goal("balanced-accuracy", votes))) == 4


def test_the_error_of_sums_grows_with_gains_and_rows() -> None:
    votes = soft_votes(np.full((64, 1, 2), 0.5), [0, 1] * 32)
    plain = mean_terms(votes, mean_goal("accuracy", votes))
    dear = plain._replace(worth=2.0**40 * plain.worth)

    in_floats = float(np.cumsum(dear.worth * (1 / 3))[-1])
    exactly = sum(Fraction(worth) * Fraction(1 / 3) for worth in dear.worth.tolist())

    assert float_error_of(plain) == 1e-6
    assert abs(Fraction(in_floats) - exactly) <= Fraction(float_error_of(dear))
