"""Bounds from any multipliers hold for every solution."""

import numpy as np

from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.methods.recheck.plane_bounds import BoundRows
from tests.programs.made_programs import all_solutions, random_program


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
