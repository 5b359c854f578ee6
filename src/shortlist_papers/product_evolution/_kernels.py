# kernels take their state as arguments and keep their loops flat
"""Kernels of the indicator-based evolutionary algorithms: evaluation on clauses, selection, and variation."""

import math
from typing import NamedTuple

import numpy as np

from shortlist._bits import State, draw_share
from shortlist._jit import kernel
from shortlist.arrays import Bytes, Floats, Longs, Shorts


class ClauseLists(NamedTuple):
    """Clauses in two arrays."""

    literals: Shorts
    """Signed numbers of variables, from 1, one clause after the other."""
    offsets: Longs
    """Index in `literals` of the beginning of each clause, and of the end of the last clause."""


@kernel("boolean(int64, uint8[::1], ClauseLists)")
def is_violated(clause: int, bits: Bytes, clauses: ClauseLists) -> bool:
    """Return whether no literal of a clause holds."""
    for place in range(clauses.offsets[clause], clauses.offsets[clause + 1]):
        literal = clauses.literals[place]
        if (literal > 0) == (bits[abs(literal) - 1] == 1):
            return False
    return True


@kernel("void(uint8[:, ::1], ClauseLists, int64[:, ::1], int64[:, ::1])")
def evaluate_selections(selections: Bytes, clauses: ClauseLists, costs: Longs, points: Longs) -> None:
    """Write for each selection the number of violated clauses, then its costs."""
    for row in range(len(selections)):
        bits = selections[row]
        points[row, :] = 0
        for clause in range(len(clauses.offsets) - 1):
            if is_violated(clause, bits, clauses):
                points[row, 0] += 1
        for variable in range(len(bits)):
            if bits[variable]:
                for objective in range(costs.shape[1]):
                    points[row, objective + 1] += costs[variable, objective]


@kernel("void(int64[:, ::1], float64, int64, int64[::1], float64[::1])", makes_arrays=True)
def select_by_indicator(points: Longs, kappa: float, n_kept: int, kept: Longs, fitness: Floats) -> None:
    """Keep the fittest by the binary additive ε-indicator (Zitzler & Künzli 2004, Algorithm 1).

    Objectives are scaled to [0, 1]. F(x) = -Σ exp(-I(y, x) / (c κ)) over all other rows y, with I(y, x) the
    least shift that makes y weakly dominate x and c the largest |I|. The row with the least F is removed (of
    ties, the last row), and F is corrected for its absence, until `n_kept` rows are left. The indices of
    these rows go to `kept`, ascending; `fitness` holds F of all rows, -inf for removed rows.
    """
    n, n_objectives = points.shape
    scaled = np.zeros((n, n_objectives))
    for objective in range(n_objectives):
        low, high = points[:, objective].min(), points[:, objective].max()
        if high > low:
            for i in range(n):
                scaled[i, objective] = (points[i, objective] - low) / (high - low)
    shifts = np.zeros((n, n))
    largest = 0.0
    for i in range(n):
        for j in range(n):
            if i != j:
                shift = scaled[i, 0] - scaled[j, 0]
                for objective in range(1, n_objectives):
                    shift = max(shift, scaled[i, objective] - scaled[j, objective])
                shifts[i, j] = shift
                largest = max(largest, abs(shift))
    factor = 1.0 / (largest * kappa) if largest > 0 else 0.0
    equal = np.zeros((n, n), dtype=np.bool_)
    for i in range(n):
        for j in range(n):
            equal[i, j] = i != j and shifts[i, j] == 0 and shifts[j, i] == 0
    # equal points first: they see the same others in the same order, so that their sums are equal too
    for j in range(n):
        fitness[j] = -float(np.count_nonzero(equal[j]))
    for i in range(n):
        for j in range(n):
            if i != j:
                shifts[i, j] = math.exp(-shifts[i, j] * factor)
                if not equal[i, j]:
                    fitness[j] -= shifts[i, j]
    for _ in range(n - n_kept):
        worst = -1
        for i in range(n):
            if fitness[i] > -math.inf and (worst < 0 or fitness[i] <= fitness[worst]):
                worst = i
        fitness[worst] = -math.inf
        for j in range(n):
            if fitness[j] > -math.inf:
                fitness[j] += shifts[worst, j]
    count = 0
    for i in range(n):
        if fitness[i] > -math.inf:
            kept[count] = i
            count += 1


@kernel("void(uint8[::1], ClauseLists, uint8[::1], float64, float64, uint64[::1])")
def mutate_with_feedback(
    bits: Bytes, clauses: ClauseLists, marks: Bytes, error_rate: float, rate: float, state: State
) -> None:
    """Draw variables of violated clauses anew with `error_rate`, and flip other variables with `rate`.

    `marks` is scratch memory, all 0 before and after.
    """
    for clause in range(len(clauses.offsets) - 1):
        if is_violated(clause, bits, clauses):
            for place in range(clauses.offsets[clause], clauses.offsets[clause + 1]):
                marks[abs(clauses.literals[place]) - 1] = 1
    for variable in range(len(bits)):
        if marks[variable]:
            marks[variable] = 0
            if draw_share(state) < error_rate:
                bits[variable] = 1 if draw_share(state) < 0.5 else 0
        elif rate > 0 and draw_share(state) < rate:
            bits[variable] ^= 1


@kernel(
    "void(uint8[:, ::1], float64[::1], ClauseLists, float64, float64, float64, uint64[::1], uint8[:, ::1])",
    makes_arrays=True,
)
def breed(
    parents: Bytes,
    fitness: Floats,
    clauses: ClauseLists,
    crossover: float,
    error_rate: float,
    rate: float,
    state: State,
    children: Bytes,
) -> None:
    """Fill `children` two by two, by binary tournaments, one-point crossover and mutation."""
    n, n_variables = parents.shape
    marks = np.zeros(n_variables, dtype=np.uint8)
    for first in range(0, len(children), 2):
        last = min(first + 2, len(children))
        for row in range(first, last):
            one, other = int(draw_share(state) * n), int(draw_share(state) * n)
            winner = one if fitness[one] >= fitness[other] else other
            children[row, :] = parents[winner]
        if last - first == 2 and draw_share(state) < crossover:
            for variable in range(int(draw_share(state) * n_variables), n_variables):
                kept = children[first, variable]
                children[first, variable] = children[first + 1, variable]
                children[first + 1, variable] = kept
        for row in range(first, last):
            mutate_with_feedback(children[row], clauses, marks, error_rate, rate, state)


@kernel(
    "void(uint8[:, ::1], ClauseLists, float64, float64, float64, float64, uint64[::1], uint8[:, ::1])",
    makes_arrays=True,
)
def breed_by_differences(
    population: Bytes,
    clauses: ClauseLists,
    weight: float,
    crossover: float,
    error_rate: float,
    rate: float,
    state: State,
    trials: Bytes,
) -> None:
    """Fill `trials`, one per target: DE/rand/1/bin on bits, then mutation.

    The mutant is a random row in which each bit where two other random rows differ is flipped with
    probability `weight`. Each bit of the target is replaced by the mutant's with probability `crossover`, and
    one random bit always.
    """
    n, n_variables = population.shape
    marks = np.zeros(n_variables, dtype=np.uint8)
    for row in range(n):
        base, one, other = int(draw_share(state) * n), int(draw_share(state) * n), int(draw_share(state) * n)
        forced = int(draw_share(state) * n_variables)
        for variable in range(n_variables):
            bit = population[row, variable]
            if variable == forced or draw_share(state) < crossover:
                bit = population[base, variable]
                if population[one, variable] != population[other, variable] and draw_share(state) < weight:
                    bit ^= 1
            trials[row, variable] = bit
        mutate_with_feedback(trials[row], clauses, marks, error_rate, rate, state)
