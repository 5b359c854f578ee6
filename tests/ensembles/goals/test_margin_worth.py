"""Margin utilities: their definition, their bound, and their names."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.margin_worth import (
    MarginUtility,
    split_objective,
    utility_scale,
    utility_table,
    utility_total,
)
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.votes.binary_votes import merge_rows, tally
from shortlist.errors import BadInputError
from tests.ensembles import oracles, strategies
from tests.ensembles.rule_oracles import histogram_better
from tests.ensembles.slope_oracles import sigmoid

UTILITIES = st.builds(
    MarginUtility, st.sampled_from(["concave", "sigmoid"]), st.sampled_from([0.5, 4.0, 10.0]), st.booleans()
)


@pytest.mark.parametrize("shape", ["concave", "sigmoid"])
def test_the_table_rises_with_the_margin_from_0_to_the_scale(shape: str) -> None:
    table = utility_table(MarginUtility(shape, 4.0), 6, 2**20)
    assert (np.diff(table, axis=1) >= 0).all()
    assert (np.diff(table[6, 2:-2]) > 0).all()
    assert table.min() >= 0
    assert table.max() <= 2**20
    margin = (2 - 0.5) / 6  # two votes above the threshold, of six
    share = 1 / (1 + math.exp(-4 * margin))
    if shape == "concave":
        share = (math.exp(6) - math.exp(-4 * margin)) / (math.exp(6) - math.exp(-6))
    assert table[6, 8 + 2] == round(2**20 * share)


@given(rows=strategies.labelled_votes(max_classifiers=3, max_rows=3), threshold=st.integers(0, 2))
def test_a_steep_concave_utility_orders_selections_of_a_size_by_their_margin_histograms(
    rows: oracles.Rows, threshold: int
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights, steep = (
        named_weights("accuracy", votes),
        MarginUtility("concave", 6.0),
    )  # e^2 per level, above 5 rows
    n = votes.n_classifiers
    for one, other in itertools.combinations(oracles.subsets(n), 2):
        if len(one) == len(other) >= threshold:
            masks = [np.isin(np.arange(n), members) for members in (one, other)]
            worths = [utility_total(votes, weights, steep, mask, threshold) for mask in masks]
            distances = [2 * (tally(votes.votes, mask) - threshold) - 1 for mask in masks]
            first, second = (
                np.repeat(np.where(votes.labels == 1, distance, -distance), votes.counts).tolist()
                for distance in distances
            )
            assert (worths[0] > worths[1]) == histogram_better(first, second)
            assert (worths[0] < worths[1]) == histogram_better(second, first)


def test_sums_stay_below_the_integers_of_kernels() -> None:
    votes = merge_rows([[1], [0]], [1, 0])
    for tp in (1, 10**9, 2**50):
        weights = named_weights({"tp": tp, "fp": -tp}, votes)
        assert utility_scale(votes, weights) * 2 * tp * 9 < 2**62  # three classifiers and thresholds, thrice
        assert utility_scale(votes, weights) >= 2**6


def test_names_say_what_comes_second() -> None:
    assert split_objective("accuracy") == ("accuracy", None)
    assert split_objective({"tp": 1}) == ({"tp": 1}, None)
    assert split_objective("recall+margin") == ("recall", MarginUtility("concave", 4.0))
    assert split_objective("accuracy+slope-2.5") == ("accuracy", MarginUtility("sigmoid", 2.5, leads=True))
    with pytest.raises(BadInputError, match="must end in"):
        split_objective("accuracy+slope")
    with pytest.raises(BadInputError, match="slope must be above 0"):
        split_objective("accuracy+slope-0")
    with pytest.raises(BadInputError, match="at most 10"):
        MarginUtility("concave", 11.0)
    with pytest.raises(BadInputError, match="shape must be one of"):
        MarginUtility("round", 1.0)


def test_opposite_margins_are_worth_1_together() -> None:
    table = utility_table(sigmoid(7.3), 9, 2**30)
    for size, d in itertools.product(range(10), range(-9, 11)):
        assert table[size, 11 + d] + table[size, 11 + 1 - d] == 2**30
