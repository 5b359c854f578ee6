"""Counts and least sums of a diagram's models in which literals hold, against all models."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.compilation import compile_diagram
from shortlist.logic.restriction import least_sums, n_models_with
from tests.examples import examples


@st.composite
def questions(draw: st.DrawFn) -> tuple[Clauses, list[int], list[list[int]]]:
    n = draw(st.integers(1, 6))
    literal = st.integers(1, n).flatmap(lambda v: st.sampled_from([v, -v]))
    listed = draw(st.lists(st.lists(literal, min_size=1, max_size=3), max_size=7))
    literals = draw(st.lists(literal, max_size=3))
    costs = draw(st.lists(st.lists(st.integers(-9, 9), min_size=n, max_size=n), max_size=2))
    return Clauses.from_clauses(n, listed), literals, costs


@given(question=questions())
@examples(80)
def test_counts_and_sums_are_those_of_all_models_with_the_literals(
    question: tuple[Clauses, list[int], list[list[int]]],
) -> None:
    clauses, literals, costs = question
    every = np.array(list(product((False, True), repeat=clauses.n_variables)))
    kept = every[clauses.satisfied(every)]
    for literal in literals:
        kept = kept[kept[:, abs(literal) - 1] == (literal > 0)]
    diagram = compile_diagram(clauses)
    assert diagram is not None
    assert n_models_with(diagram, literals) == len(kept)
    rows = np.array(costs, dtype=np.int64).reshape(-1, clauses.n_variables)
    expected = tuple((kept @ rows.T).min(axis=0).tolist()) if len(kept) else None
    assert least_sums(diagram, rows, literals) == expected


def test_numbers_near_two_to_the_53_stay_exact() -> None:
    diagram = compile_diagram(Clauses.from_clauses(3, [(1, 2)]))
    assert diagram is not None
    large = 2**52 - 5
    assert least_sums(diagram, np.array([[large, large + 1, -3], [-large, 1, 3]]), [1]) == (large - 3, -large)


def test_bad_arguments_are_told() -> None:
    diagram = compile_diagram(Clauses.from_clauses(2, [(1, 2)]))
    assert diagram is not None
    with pytest.raises(BadInputError, match="literals must name variables 1 to 2, got 3"):
        n_models_with(diagram, [3])
    with pytest.raises(BadInputError, match=r"costs must have shape \(n_rows, 2\), got \(1, 3\)"):
        least_sums(diagram, np.zeros((1, 3), dtype=np.int64))
