"""Whether a box of objective space holds a solution, against trying everything."""

import numpy as np
import pytest

from shortlist.methods.boxes import BoundRows, search_boxes
from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.runs.budget import Budget
from tests.programs.made_programs import all_solutions, random_program


@pytest.mark.parametrize("solver", ["highs", "cpsat"])
def test_a_box_is_called_empty_if_and_only_if_no_solution_is_in_it(solver: str) -> None:
    rng = np.random.default_rng(3)
    outcomes = set()
    for _ in range(25):
        named = random_program(rng)
        integers = integer_objectives(named.program)
        solutions = np.array(all_solutions(named), dtype=np.int64).reshape(-1, named.program.n_columns)
        vectors = (integers.costs @ solutions.T).T
        corners = rng.integers(integers.lower - 1, integers.upper + 1, (3, len(integers)))
        full = any((vectors <= corner).all(axis=1).any() for corner in corners)
        found = search_boxes(named.program, integers, corners, solver=solver, budget=Budget())
        assert (found.found is not None) == full
        if found.found is not None:
            assert any((found.found <= corner).all() for corner in corners)
            assert found.found.tolist() in vectors.tolist()
        else:
            assert found.n_by_sums + found.n_by_solver == found.n_boxes
        outcomes.add((full, found.n_by_sums > 0, found.n_by_solver > 0))
    assert len(outcomes) > 2


def test_a_limit_leaves_boxes_open_and_says_so() -> None:
    named = random_program(np.random.default_rng(4))
    integers = integer_objectives(named.program)
    corners = integers.upper[None, :].copy()
    found = search_boxes(named.program, integers, corners, solver="highs", budget=Budget(1e-9))
    assert (found.n_open, found.limit) == (1, "1e-09 s")


def test_whatever_the_multipliers_no_solution_is_below_the_bound() -> None:
    rng = np.random.default_rng(0)
    n_bounds = 0
    for _ in range(60):
        named = random_program(rng)
        integers = integer_objectives(named.program)
        rows = BoundRows(named.program, integers)
        solutions = np.array(all_solutions(named), dtype=np.int64).reshape(-1, named.program.n_columns)
        for _ in range(5):
            multipliers = rng.normal(size=len(rows.lower)) * 10.0 ** rng.integers(-6, 7)
            plane = rows.bound(multipliers, rng.random(len(integers)) * 10.0 ** rng.integers(-3, 4))
            if plane is None:
                continue
            n_bounds += 1
            for vector in (integers.costs @ solutions.T).T.tolist():
                assert sum(w * v for w, v in zip(plane.weights, vector, strict=True)) >= plane.least
            vectors = (integers.costs @ solutions.T).T
            assert not plane.excludes(vectors).any()
    assert n_bounds > 200


def test_without_weights_and_multipliers_there_is_no_bound() -> None:
    named = random_program(np.random.default_rng(1))
    integers = integer_objectives(named.program)
    rows = BoundRows(named.program, integers)
    assert rows.bound(np.zeros(len(rows.lower)), np.zeros(len(integers))) is None
