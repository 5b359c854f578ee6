"""Solutions checked in integers, against adding up in fractions."""

import itertools

import numpy as np

from shortlist.milp.program import make_program
from shortlist.programs.exact_check import broken_limits
from shortlist.programs.named_program import NamedProgram
from tests.programs.made_programs import all_solutions, random_program


def test_what_is_broken_is_what_fractions_say() -> None:
    rng = np.random.default_rng(9)
    for _ in range(20):
        named = random_program(rng)
        low, high = named.program.column_lower.astype(int), named.program.column_upper.astype(int)
        ranges = [range(a - 1, b + 2) for a, b in zip(low, high, strict=True)]
        every = list(itertools.product(*ranges))[:600]
        kept = [x for x, said in zip(every, broken_limits(named, np.array(every)), strict=True) if not said]
        assert set(kept) == set(all_solutions(named)) & set(every)


def test_a_tenth_is_a_tenth_and_large_sums_are_added_up_in_fractions() -> None:
    program = make_program(
        [[0.1, 0.2], [2.0**52, 2.0**52]], row_lower=[0.3, -np.inf], row_upper=[0.3, 2.0**53],
        column_lower=0, column_upper=4, integer=True,
    )  # fmt: skip
    named = NamedProgram(program, ("x", "y"), ("tenths", "large"))
    said = broken_limits(named, np.array([[1, 1], [3, 0], [0, 2]]))
    assert said == ["", "row 'large'", "row 'tenths'"]
