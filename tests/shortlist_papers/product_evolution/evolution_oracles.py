"""Slow and plain: the kernels of the evolutionary algorithms, one selection and one objective at a time."""

import math
from collections.abc import Iterator, Sequence

MASK = 2**64 - 1


def uniforms(seed: int) -> Iterator[float]:
    """SplitMix64 in Python's integers."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        yield (z >> 11) / 2**53


def violated(bits: Sequence[int], clauses: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """The clauses without a true literal."""
    return [clause for clause in clauses if not any((v > 0) == bool(bits[abs(v) - 1]) for v in clause)]


def point(bits: Sequence[int], clauses: Sequence[Sequence[int]], costs: Sequence[Sequence[int]]) -> list[int]:
    """Violated clauses, then the costs of one selection."""
    return [
        len(violated(bits, clauses)),
        *(sum(c * b for c, b in zip(row, bits, strict=True)) for row in costs),
    ]


def mutated(
    bits: Sequence[int],
    clauses: Sequence[Sequence[int]],
    error_rate: float,
    rate: float,
    draws: Iterator[float],
) -> list[int]:
    """Feedback-directed mutation of one selection."""
    errors = {abs(v) for clause in violated(bits, clauses) for v in clause}
    result = list(bits)
    for variable, bit in enumerate(bits, start=1):
        if variable in errors:
            if next(draws) < error_rate:
                result[variable - 1] = int(next(draws) < 0.5)
        elif rate > 0 and next(draws) < rate:
            result[variable - 1] = 1 - bit
    return result


def losses(points: Sequence[Sequence[int]], kappa: float) -> dict[tuple[int, int], float]:
    """Loss of the fitness of point j by the presence of point i, for all pairs, from the definition."""
    ranges = [(min(column), max(column)) for column in zip(*points, strict=True)]
    scaled = [
        [(x - low) / (high - low) if high > low else 0.0 for x, (low, high) in zip(row, ranges, strict=True)]
        for row in points
    ]
    indicator = {
        (i, j): max(a - b for a, b in zip(scaled[i], scaled[j], strict=True))
        for i in range(len(points))
        for j in range(len(points))
        if i != j
    }
    largest = max((abs(value) for value in indicator.values()), default=0.0)
    factor = 1 / (largest * kappa) if largest else 0.0
    return {pair: math.exp(-value * factor) for pair, value in indicator.items()}


def rounding(loss: dict[tuple[int, int], float], n: int) -> float:
    """Error bound on sums of up to n losses in doubles."""
    return 1e-14 * n * max(loss.values(), default=0.0)


def fitness_among(members: frozenset[int], loss: dict[tuple[int, int], float]) -> dict[int, float]:
    """The fitness of each member when only `members` are there."""
    return {j: -sum(loss[i, j] for i in members if i != j) for j in members}


def selections(points: Sequence[Sequence[int]], kappa: float, n_kept: int) -> set[frozenset[int]]:
    """Every outcome of environmental selection: the least fit goes, any one of them where rounding hides which."""
    loss = losses(points, kappa)
    outcomes = {frozenset(range(len(points)))}
    for _ in range(len(points) - n_kept):
        smaller = set()
        for members in outcomes:
            fitness = fitness_among(members, loss)
            limit = min(fitness.values()) + 2 * rounding(loss, len(points))
            smaller |= {members - {i} for i, value in fitness.items() if value <= limit}
        outcomes = smaller
    return outcomes
