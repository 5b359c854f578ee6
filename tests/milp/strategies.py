"""Small programs with small integers, so that ties, empty programs and tight rows are common."""

import math

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.milp import LinearObjective, Program, make_program
from shortlist.results.objective import Objective

SMALL = st.integers(-3, 3)


@st.composite
def programs(draw: st.DrawFn, *, continuous: bool = False) -> Program:
    """Draw a bounded program: booleans or general integers, some rows clauses, some equations."""
    n_columns = draw(st.integers(1, 5))
    n_rows = draw(st.integers(0, 5))
    boolean = draw(st.booleans())
    rows, lower, upper = [], [], []
    for _ in range(n_rows):
        entries = draw(st.sampled_from([st.integers(-1, 1), SMALL]))
        rows.append(draw(st.lists(entries, min_size=n_columns, max_size=n_columns)))
        low, high = draw(limits())
        lower.append(low)
        upper.append(high)
    column_lower = [0 if boolean else draw(st.integers(-2, 1)) for _ in range(n_columns)]
    column_upper = [low + (1 if boolean else draw(st.integers(0, 3))) for low in column_lower]
    integer = [not continuous or draw(st.booleans()) for _ in range(n_columns)]
    return make_program(
        np.array(rows, dtype=np.float64).reshape(n_rows, n_columns),
        row_lower=np.array(lower, dtype=np.float64),
        row_upper=np.array(upper, dtype=np.float64),
        column_lower=column_lower,
        column_upper=column_upper,
        integer=integer,
        objectives=[LinearObjective(Objective("cost"), draw(cost_vectors(n_columns)))],
    )


@st.composite
def limits(draw: st.DrawFn) -> tuple[float, float]:
    """Draw limits of a row: one side, both, equal, none, or now and then impossible ones."""
    low = draw(st.integers(-4, 4))
    return draw(
        st.sampled_from(
            [
                (low, math.inf),
                (-math.inf, low),
                (low, low),
                (low, low + 2),
                (-math.inf, math.inf),
                (low, low - 1),
            ]
        )
    )


def cost_vectors(n_columns: int) -> st.SearchStrategy[NDArray[np.float64]]:
    """Draw costs: small integers, or the same in tenths."""
    vectors = st.lists(SMALL, min_size=n_columns, max_size=n_columns)
    return st.builds(
        lambda costs, scale: np.array(costs, dtype=np.float64) / scale, vectors, st.sampled_from([1, 10])
    )
