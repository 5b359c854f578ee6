# ruff: noqa: PLR0917  # kernels take their state as arguments and keep their loops flat
"""Kernels of EMSCO's mutation and recombination.

The caller passes every random number as a uniform draw from [0, 1).
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Floats, FloatTable, Longs

Chromosomes: TypeAlias = NDArray[np.int8]


class Mutation(NamedTuple):
    """Probabilities of the mutation of assignments."""

    max_stages: int
    """Largest number of stages."""
    rate: float
    """Probability that a feature gets another stage."""
    cumulative: FloatTable
    """``cumulative[m]`` is the distribution function of BB(m, 1, β)."""
    removal: float
    """Probability that a feature is removed when its stage changes."""


@kernel("int64(int8[::1])", makes_arrays=True)
def compress_row(assignment: Chromosomes) -> int:
    """Renumber the stages of one assignment densely, in place; return the number of stages."""
    used = np.zeros(129, dtype=np.int64)
    for i in range(len(assignment)):
        if assignment[i] >= 0:
            used[assignment[i]] = 1
    count = 0
    for stage in range(129):
        if used[stage]:
            used[stage] = count
            count += 1
    for i in range(len(assignment)):
        if assignment[i] >= 0:
            assignment[i] = used[assignment[i]]
    return count


@kernel("void(int8[::1], Mutation, float64[::1], float64[::1])", makes_arrays=True)
def mutate_row(assignment: Chromosomes, mutation: Mutation, gates: Floats, draws: Floats) -> None:
    """Mutate one assignment in place (Algorithm 1).

    A draw below the probability of removal removes the feature, and the rest of [0, 1) is stretched over the
    distribution of stages. A removed feature may return to a stage.
    """
    max_stages, rate, removal = mutation.max_stages, mutation.rate, mutation.removal
    cumulative = mutation.cumulative
    n = len(assignment)
    counts = np.zeros(max_stages + 1, dtype=np.int64)
    stages = 0
    for i in range(n):
        if assignment[i] >= 0:
            counts[assignment[i]] += 1
            stages = max(stages, assignment[i] + 1)
    for i in range(n):
        before = assignment[i]
        if gates[i] > rate or (before >= 0 and counts[before] <= 1):
            continue
        if before >= 0:
            counts[before] -= 1
        if draws[i] < removal:
            assignment[i] = -1
            continue
        draw = (draws[i] - removal) / (1.0 - removal)
        last = min(stages, max_stages - 1)
        stage = 0
        while stage < last and draw >= cumulative[last, stage]:
            stage += 1
        assignment[i] = stage
        counts[stage] += 1
        stages = max(stages, stage + 1)


@kernel("int64(int64, int64, int64)")
def normalized_stage(stage: int, own: int, child: int) -> int:
    """Return the stage of a child that corresponds to `stage` of a parent with `own` stages (Algorithm 2).

    Halves are rounded up.
    """
    return max(0, (2 * (stage + 1) * child + own) // (2 * own) - 1)


@kernel("void(int8[::1], int8[::1], int64, int64, int64, float64[::1], int8[::1])")
def recombine_rows(
    first: Chromosomes,
    second: Chromosomes,
    n_first: int,
    n_second: int,
    n_child: int,
    picks: Floats,
    child: Chromosomes,
) -> None:
    """Write the child of two assignments (Algorithm 2).

    A pick below ½ takes the stage of a feature from `first`, any other pick from `second`.
    """
    for i in range(len(child)):
        parent = first[i] if picks[i] < 0.5 else second[i]
        own = n_first if picks[i] < 0.5 else n_second
        child[i] = -1 if parent < 0 else normalized_stage(parent, own, n_child)


@kernel("void(int8[:, ::1], int64[::1], float64[::1], float64[:, ::1], float64, Mutation, int8[:, ::1])")
def breed_assignments(
    population: Chromosomes,
    stages: Longs,
    wheel: Floats,
    uniforms: Floats,
    recombination: float,
    mutation: Mutation,
    children: Chromosomes,
) -> None:
    """Fill `children`: select two parents, recombine, close gaps, mutate (the loop of Algorithm 3).

    `wheel` is the running sum of fitness over the population, ending in 1; a row of `uniforms` holds 4 + 3n
    draws.
    """
    n = population.shape[1]
    for c in range(len(children)):
        draws = uniforms[c]
        a = min(np.searchsorted(wheel, draws[0], side="right"), len(wheel) - 1)
        b = min(np.searchsorted(wheel, draws[1], side="right"), len(wheel) - 1)
        child = children[c]
        if draws[2] < recombination:
            if draws[3] < 1 / 3:
                count = (stages[a] + stages[b]) // 2
            elif draws[3] < 2 / 3:
                count = stages[a]
            else:
                count = stages[b]
            recombine_rows(population[a], population[b], stages[a], stages[b], count, draws[4 : 4 + n], child)
            if compress_row(child) == 0:
                for i in range(n):
                    child[i] = population[a, i]
        else:
            parent = a if draws[3] < 0.5 else b
            for i in range(n):
                child[i] = population[parent, i]
        mutate_row(child, mutation, draws[4 + n : 4 + 2 * n], draws[4 + 2 * n :])


@kernel("void(int8[:, ::1], int64[::1], Mutation, float64[:, ::1])")
def mutate_again(children: Chromosomes, chosen: Longs, mutation: Mutation, uniforms: Floats) -> None:
    """Mutate the rows `chosen` of `children` once more; a row of `uniforms` holds 2n draws."""
    n = children.shape[1]
    for i in range(len(chosen)):
        mutate_row(children[chosen[i]], mutation, uniforms[i, :n], uniforms[i, n:])
