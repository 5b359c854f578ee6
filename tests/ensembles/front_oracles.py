"""Fronts of committees by brute force: every subset, every threshold, every pair of points."""

from collections.abc import Sequence
from fractions import Fraction

from tests.ensembles import oracles, rule_oracles
from tests.ensembles.class_pools import Pool
from tests.ensembles.oracles import Rows

Point = tuple[Fraction, ...]


def committees(rows: Rows, members: tuple[int, ...]) -> list[tuple[dict[str, Fraction], int]]:
    """What a committee of two classes is worth with each threshold."""
    found = []
    for threshold in range(len(members) + 1):
        tp, fn, tn, fp = map(Fraction, oracles.confusion(rows, members, threshold))
        found.append(
            (
                {
                    "accuracy": (tp + tn) / (tp + fn + tn + fp),
                    "balanced-accuracy": (tp / (tp + fn) + tn / (tn + fp)) / 2,
                    "true-positives": tp,
                    "true-negatives": tn,
                    "recall": tp / (tp + fn),
                    "specificity": tn / (tn + fp),
                },
                threshold,
            )
        )
    return found


def plural(pool: Pool, members: tuple[int, ...]) -> dict[str, Fraction]:
    """What a committee of several classes is worth."""
    samples, _, n_classes = pool
    right = rule_oracles.right(samples, list(members), n_classes)
    worth = {"accuracy": Fraction(sum(right), len(samples))}
    for label in range(n_classes):
        of_class = [r for r, (_, truth) in zip(right, samples, strict=True) if truth == label]
        worth[f"recall:{label}"] = Fraction(sum(of_class), max(1, len(of_class)))
    return worth


def best_points(points: Sequence[Point], senses: Sequence[int]) -> set[Point]:
    """Points that no other dominates; senses are 1 for less and −1 for more."""
    minimised = {tuple(sign * value for sign, value in zip(senses, point, strict=True)) for point in points}
    kept = {
        one
        for one in minimised
        if not any(
            other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in minimised
        )
    }
    return {tuple(sign * value for sign, value in zip(senses, point, strict=True)) for point in kept}
