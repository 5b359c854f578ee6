"""Integer program of :cite:t:`Bastos2022` exactly as printed: Equations 1 to 20, for comparison in tests.

Our versions are: Equations 2 to 7 with the least constants in ``ensembles/proofs/pruning_program.py``, 13 in
``ensembles/votes/hard_votes.py``, PFC and FC in ``ensembles/goals/diversity.py``, θ and Theorem 1 in
``ensembles/goals/weights.py``.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PrintedProgram:
    """Program that maximises ``costs @ v`` with ``rows @ v <= upper``.

    The vector v holds x, L, t⁺, f⁻, t⁻, f⁺ and y, in this order.
    """

    costs: NDArray[np.float64]
    rows: NDArray[np.float64]
    upper: NDArray[np.float64]
    largest: NDArray[np.float64]
    """Upper bounds of the columns; the lower bounds are 0."""
    integer: NDArray[np.bool_]
    """Mask of the integer columns: all but y (Equation 17)."""


def printed_program(
    votes: NDArray[np.integer],
    positive: NDArray[np.bool_],
    weights: tuple[float, float, float, float],
    *,
    diversity: tuple[NDArray[np.float64], float, float] | None = None,
) -> PrintedProgram:
    """Return the program of Equations 1 to 12, and with diversity also 14 to 18 and 20.

    `votes`: 1 if classifier k votes positive on row i, ``(n_rows, n_classifiers)``. `positive`: mask of the
    rows of class 1. `weights`: of true positives, false negatives, true negatives and false positives.
    `diversity`: failure credits FC of all pairs, τ and γ.

    >>> program = printed_program(np.array([[1, 0], [0, 0]]), np.array([True, False]), (1, 0, 1, 0))
    >>> program.rows.shape
    (8, 7)
    """
    beta, alpha = votes[positive], votes[~positive]
    (n_1, k), n_0 = beta.shape, len(alpha)
    pairs = list(itertools.combinations(range(k), 2)) if diversity is not None else []
    at = np.cumsum([0, k, 1, n_1, n_1, n_0, n_0])  # where x, L, t+, f-, t-, f+ and y begin
    n_columns = int(at[-1]) + len(pairs)
    rows: list[NDArray[np.float64]] = []
    upper: list[float] = []

    def add(bound: float, *terms: tuple[int, float]) -> None:
        row = np.zeros(n_columns)
        for column, factor in terms:
            row[column] += factor
        rows.append(row)
        upper.append(bound)

    def voted(row: NDArray[np.integer], sign: int) -> list[tuple[int, float]]:
        return [(j, sign * int(one)) for j, one in enumerate(row)]

    level = int(at[1])
    for i, row in enumerate(beta):
        t, f = int(at[2]) + i, int(at[3]) + i
        add(k, (level, 1), *voted(row, -1), (t, k + 1))  # 2: (L + 1) - Σ xβ <= (K + 1)(1 - t)
        add(0, (level, -1), *voted(row, 1), (t, -(k + 1)))  # 3: Σ xβ - L <= (K + 1) t
        add(1, (t, 1), (f, 1))  # 4: t + f = 1
        add(-1, (t, -1), (f, -1))
    for j, row in enumerate(alpha):
        t, f = int(at[4]) + j, int(at[5]) + j
        add(k, (level, -1), *voted(row, 1), (t, k))  # 5: Σ xα - L <= K (1 - t)
        add(-1, (level, 1), *voted(row, -1), (t, -k))  # 6: (L + 1) - Σ xα <= K t
        add(1, (t, 1), (f, 1))  # 7: f + t = 1
        add(-1, (t, -1), (f, -1))
    if diversity is not None:
        credit, tau, gamma = diversity
        y = {pair: int(at[-1]) + place for place, pair in enumerate(pairs)}
        for (a, b), column in y.items():
            add(1, (a, 1), (b, 1), (column, -1))  # 14: y >= x_k + x_l - 1
            add(0, (column, 1), (a, -1))  # 15: y <= x_k
            add(0, (column, 1), (b, -1))  # 16: y <= x_l
        for one in range(k):  # 18: Σ FC y >= τ (Σ x - 1) - K τ (1 - x_k)
            own = [(column, -float(credit[pair])) for pair, column in y.items() if one in pair]
            add(tau + k * tau, *own, *((j, tau) for j in range(k)), (one, k * tau))
        add(0, *((column, gamma - float(credit[pair])) for pair, column in y.items()))  # 20: Σ FC y >= γ Σ y
    costs = np.concatenate(
        [
            np.zeros(k + 1),
            *(np.full(n, w) for n, w in zip((n_1, n_1, n_0, n_0), weights, strict=True)),
            np.zeros(len(pairs)),
        ]
    )
    largest = np.ones(n_columns)
    largest[level] = k  # 11
    return PrintedProgram(costs, np.array(rows), np.array(upper), largest, np.arange(n_columns) < at[-1])
