"""Small pools for several classes, with ties and duplicates, and the same as arrays."""

import numpy as np
from hypothesis import strategies as st

from shortlist.ensembles.votes.class_votes import ClassVotes, class_votes, merge_class_rows
from tests.ensembles.rule_oracles import Samples

Pool = tuple[Samples, int, int]
"""Samples, number of classifiers, number of classes."""


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
