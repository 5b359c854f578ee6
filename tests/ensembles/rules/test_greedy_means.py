"""Greedy selection with replacement."""

from typing import Any

import numpy as np
import pytest

from shortlist import BadInputError
from shortlist.ensembles.rules.greedy_means import greedy_means
from shortlist.ensembles.votes.soft_votes import SoftVotes, soft_votes


def made(seed: int, n_rows: int = 30, n_classifiers: int = 6, n_classes: int = 3) -> SoftVotes:
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(n_classes), (n_rows, n_classifiers))
    return soft_votes(table, rng.integers(0, n_classes, n_rows))


def log_loss_of(votes: SoftVotes, copies: list[int]) -> float:
    """Write the definition out, row by row."""
    losses = []
    for row, label in zip(votes.shares, votes.labels, strict=True):
        mean = sum(n * max(1, int(one[label])) for n, one in zip(copies, row, strict=True)) / sum(copies)
        losses.append(-np.log(mean / (2**15 - 1)))
    return float(np.mean(losses))


@pytest.mark.parametrize("seed", range(4))
def test_every_step_takes_who_makes_the_loss_least_and_the_best_step_is_kept(seed: int) -> None:
    votes, n_steps = made(seed), 5
    copies, best, least = [0] * 6, [0] * 6, np.inf
    for _ in range(n_steps):
        losses = [log_loss_of(votes, [n + (k == j) for k, n in enumerate(copies)]) for j in range(6)]
        copies[int(np.argmin(losses))] += 1
        if min(losses) < least:
            best, least = copies.copy(), min(losses)

    assert greedy_means(votes, n_steps=n_steps).tolist() == best


def test_bags_add_up_what_is_taken_among_a_share_of_the_classifiers() -> None:
    votes = made(7)

    bagged = greedy_means(votes, n_steps=4, n_bags=9, share=0.5, seed=2)

    assert 9 <= bagged.sum() <= 36
    assert (bagged > 0).sum() > (greedy_means(votes, n_steps=4) > 0).sum()
    assert bagged.tolist() == greedy_means(votes, n_steps=4, n_bags=9, share=0.5, seed=2).tolist()
    whole = greedy_means(votes, n_steps=4, n_bags=3, share=1.0)
    assert whole.tolist() == (3 * greedy_means(votes, n_steps=4)).tolist()


@pytest.mark.parametrize("options", [{"n_steps": 0}, {"n_bags": -1}, {"share": 0.0}, {"share": 1.1}])
def test_numbers_out_of_range_are_refused(options: Any) -> None:
    with pytest.raises(BadInputError, match=next(iter(options))):
        greedy_means(made(0), **options)


def test_of_classifiers_whose_loss_differs_by_rounding_alone_the_first_is_taken() -> None:
    rng = np.random.default_rng(0)
    for n_rows in range(3, 60):
        right = rng.uniform(0.2, 1, n_rows)
        own = np.stack([rng.permutation(right) for _ in range(6)], axis=1)  # the same losses on other rows
        votes = soft_votes(np.stack([own, 1 - own], axis=2), np.zeros(n_rows, dtype=int))
        assert greedy_means(votes, n_steps=1).tolist() == [1, 0, 0, 0, 0, 0]
