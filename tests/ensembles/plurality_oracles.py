"""Small pools for several classes, with ties and duplicates, and their plurality votes, counted slowly."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from shortlist.arrays import Mask
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import (
    class_weights,
)
from shortlist.ensembles.proofs.row_forms import RightRows, class_rows
from shortlist.ensembles.pruning.pruning import prune_for
from shortlist.ensembles.votes.hard_votes import ClassVotes, class_votes, merge_class_rows
from shortlist.runs.budget import Budget
from tests.ensembles import oracles, rule_oracles
from tests.ensembles.rule_oracles import Samples
from tests.examples import examples

EXAMPLES = examples(25)

Pool = tuple[Samples, int, int]
"""Samples, number of classifiers, number of classes."""


sizes = st.tuples(st.integers(0, 4), st.integers(0, 8))


def value_of(pool: Pool, members: Sequence[int], objective: str) -> Fraction:
    """Accuracy, or the mean over occurring classes of the share of right rows, by the words of the definition."""
    samples, _, n_classes = pool
    right = rule_oracles.right(samples, list(members), n_classes)
    if objective == "accuracy":
        return Fraction(sum(right), len(samples))
    shares = []
    for c in {label for _, label in samples}:
        of_class = [r for r, (_, label) in zip(right, samples, strict=True) if label == c]
        shares.append(Fraction(sum(of_class), len(of_class)))
    return sum(shares, Fraction(0)) / len(shares)


def best_value(pool: Pool, objective: str, allowed: Sequence[tuple[int, ...]]) -> Fraction | None:
    """The best value over subsets."""
    return max((value_of(pool, members, objective) for members in allowed), default=None)


def subsets(pool: Pool, least: int, most: int) -> list[tuple[int, ...]]:
    return [members for members in oracles.subsets(pool[1]) if least <= len(members) <= most]


def members_of(mask: Mask) -> tuple[int, ...]:
    return tuple(np.flatnonzero(mask).tolist())


def rows_of(votes: ClassVotes, **limits: Any) -> RightRows:
    return class_rows(
        votes, class_weights("accuracy", votes), selection_limits(votes.n_classifiers, **limits)
    )


def decision_rows(votes: ClassVotes, members: tuple[int, ...]) -> Mask:
    """Mask of the right rows, by the plain rule."""
    samples = [
        (tuple(row), label) for row, label in zip(votes.codes.tolist(), votes.labels.tolist(), strict=True)
    ]
    return np.array(rule_oracles.right(samples, list(members), votes.n_classes), dtype=bool)


def made_votes(n_rows: int, n_classifiers: int, n_classes: int, seed: int, skill: float = 0.5) -> ClassVotes:
    """Random votes, right with some probability."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows)
    others = rng.integers(0, n_classes, (n_rows, n_classifiers))
    codes = np.where(rng.random((n_rows, n_classifiers)) < skill, labels[:, None], others)
    return merge_class_rows(class_votes(codes, labels, n_classes=n_classes))


CODES, LABELS = [[1, 0, 2], [2, 1, 2], [0, 2, 1], [0, 0, 2]], [1, 1, 2, 0]


def prune_classes(
    votes: ClassVotes, objective: Any, limits: SelectionLimits, *budget: Budget, **more: Any
) -> Any:
    """Return what exact pruning finds for several classes."""
    return prune_for(votes, objective, limits, *budget, **more)


@st.composite
def class_pools(
    draw: st.DrawFn, max_classifiers: int = 8, max_rows: int = 10, *, all_vote: bool = False
) -> Pool:
    """Two to four classes; many rows and columns are equal, and in every other pool some votes are abstentions."""
    n_classes = draw(st.integers(2, 4))
    k = draw(st.integers(1, max_classifiers))
    label = st.integers(0, n_classes - 1)
    row = st.tuples(*[st.integers(0, n_classes) if draw(st.booleans()) and not all_vote else label] * k)
    samples = draw(st.lists(st.tuples(row, label), min_size=1, max_size=max_rows))
    if draw(st.booleans()):
        samples += samples[: draw(st.integers(0, 3))]
    return samples, k, n_classes


def as_votes(pool: Pool, *, merged: bool = False) -> ClassVotes:
    samples, _, n_classes = pool
    votes = class_votes(
        np.array([votes for votes, _ in samples]),
        np.array([label for _, label in samples]),
        n_classes=n_classes,
    )
    return merge_class_rows(votes) if merged else votes
