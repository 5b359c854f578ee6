"""Means of probabilities by their definitions, and the best of all selections: slow and plain."""

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from shortlist.arrays import Mask
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.pruning.mean_problem import MeanGoal
from shortlist.ensembles.votes.soft_votes import WHOLE, SoftVotes, soft_votes
from tests.ensembles import oracles, rule_oracles
from tests.ensembles.oracles import Rows
from tests.ensembles.plurality_oracles import Pool

OBJECTIVES = ("log-loss", "brier")


@st.composite
def soft_pools(draw: st.DrawFn, max_classifiers: int = 6, max_rows: int = 10) -> SoftVotes:
    """Small pools with ties and certainties, every class on some row."""
    n_classes = draw(st.integers(2, 4))
    n_classifiers = draw(st.integers(1, max_classifiers))
    n_rows = draw(st.integers(n_classes, max_rows))
    tenths = st.lists(st.integers(0, 10), min_size=n_classes, max_size=n_classes).filter(any)
    answers = [[draw(tenths) for _ in range(n_classifiers)] for _ in range(n_rows)]
    table = np.array(answers, dtype=float)
    labels = list(range(n_classes)) + [draw(st.integers(0, n_classes - 1)) for _ in range(n_rows - n_classes)]
    return soft_votes(table / table.sum(axis=2, keepdims=True), labels)


def random_pool(n_rows: int, n_classifiers: int, n_classes: int, seed: int = 0) -> SoftVotes:
    """Weak classifiers that lean towards the true class."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) % n_classes
    leaning = 1 + 1.5 * np.eye(n_classes)[labels][:, None, :]
    table = rng.gamma(np.broadcast_to(leaning, (n_rows, n_classifiers, n_classes)))
    return soft_votes(table / table.sum(axis=2, keepdims=True), labels)


def worth(votes: SoftVotes, goal: MeanGoal, members: list[int]) -> float:
    """Return the objective of some members, row by row, in the user's sign."""
    total = 0.0
    for row, label in zip(votes.shares.tolist(), votes.labels.tolist(), strict=True):
        total += _row_worth(row, label, goal, members, votes.n_classes)
    return total / goal.denominator


def _row_worth(row: Any, label: int, goal: MeanGoal, members: list[int], n_classes: int) -> float:
    mean = [sum(row[k][c] for k in members) / len(members) / WHOLE for c in range(n_classes)]
    if goal.kind == "log-loss":
        return -math.log(sum(max(1, row[k][label]) for k in members) / len(members) / WHOLE)
    errors = [(mean[c] - (c == label)) ** 2 for c in range(n_classes)]
    return float(sum(errors)) / (2 if n_classes == 2 else 1)


def selections(n_classifiers: int, limits: SelectionLimits) -> Iterator[list[int]]:
    """Yield every selection of at least one member that keeps the limits."""
    for size in range(1, n_classifiers + 1):
        for members in itertools.combinations(range(n_classifiers), size):
            if limits.satisfied_by(as_mask(members, n_classifiers)):
                yield list(members)


def as_mask(members: Any, n_classifiers: int) -> Mask:
    return np.isin(np.arange(n_classifiers), list(members))


def best_worth(votes: SoftVotes, goal: MeanGoal, limits: SelectionLimits) -> float | None:
    """Return the least loss of all selections, None where there is none."""
    worths = [worth(votes, goal, members) for members in selections(votes.n_classifiers, limits)]
    return min(worths) if worths else None


Point = tuple[Fraction, ...]


def committees(rows: Rows, members: tuple[int, ...]) -> list[tuple[dict[str, Fraction], int]]:
    """Measures of a committee of two classes with each threshold."""
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
    """Measures of a committee of several classes."""
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
