"""Small programs with several objectives, many ties and sometimes no solution."""

import numpy as np
from hypothesis import strategies as st

from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.objective import Objective, Sense


@st.composite
def multiobjective_programs(draw: st.DrawFn, *, max_columns: int = 5, max_objectives: int = 4) -> Program:
    """Programs over few bounded integer columns; objectives of both senses, some in tenths, some with an offset."""
    n_columns = draw(st.integers(1, max_columns))
    n_rows = draw(st.integers(0, 3))
    n_objectives = draw(st.integers(2, max_objectives))
    small = st.integers(-4, 4)
    row = st.lists(small, min_size=n_columns, max_size=n_columns)
    rows = np.array([draw(row) for _ in range(n_rows)], dtype=float).reshape(n_rows, n_columns)
    upper = [draw(st.integers(-3, 6)) for _ in range(n_rows)]
    is_equation = [draw(st.integers(0, 4)) == 0 for _ in range(n_rows)]
    least = draw(st.integers(-1, 0))
    objectives = []
    for number in range(n_objectives):
        divisor = draw(st.sampled_from([1, 1, 10, 4]))
        costs = np.array(draw(row)) / divisor
        sense = draw(st.sampled_from(list(Sense)))
        offset = draw(st.integers(-2, 2)) / divisor
        objectives.append(LinearObjective(Objective(f"f{number}", sense, scale=None), costs, offset))
    return make_program(
        rows,
        row_lower=[u if equal else -np.inf for u, equal in zip(upper, is_equation, strict=True)],
        row_upper=upper,
        column_lower=least,
        column_upper=draw(st.integers(least + 1, 1)),
        integer=True,
        objectives=objectives,
    )
