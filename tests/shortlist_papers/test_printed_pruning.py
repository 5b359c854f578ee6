"""The program as printed finds what enumeration of its meaning finds, and what our pruning finds."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from shortlist.ensembles.goals.diversity import failure_credit
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.pruning.pruning import prune_exactly
from shortlist.ensembles.votes.hard_votes import merge_rows
from shortlist_papers.printed_pruning import PrintedProgram, printed_program


def _optimum(program: PrintedProgram) -> float:
    found = milp(
        -program.costs,
        integrality=program.integer.astype(int),
        bounds=Bounds(0, program.largest),
        constraints=LinearConstraint(program.rows, -np.inf, program.upper),
    )
    assert found.status == 0
    return float(-found.fun)


def _enumerated(
    votes: NDArray[np.int64],
    positive: NDArray[np.bool_],
    weights: tuple[float, ...],
    diversity: tuple[NDArray[np.float64], float, float],
) -> float:
    """The best of all selections and thresholds; none is among them, as in the paper."""
    (credit, tau, gamma), best = diversity, -np.inf
    for chosen in itertools.product([0, 1], repeat=votes.shape[1]):
        members = np.flatnonzero(chosen)
        pairs = [credit[pair] for pair in itertools.combinations(members, 2)]
        own = [
            sum(credit[a, b] for b in members if b != a) / (len(members) - 1)
            for a in members
            if len(members) > 1
        ]
        if pairs and (np.mean(pairs) < gamma - 1e-9 or min(own) < tau - 1e-9):
            continue
        sums = votes[:, members].sum(axis=1)
        for level in range(len(members) + 1):
            said = sums > level
            counts = (said & positive, ~said & positive, ~said & ~positive, said & ~positive)
            best = max(best, sum(w * int(c.sum()) for w, c in zip(weights, counts, strict=True)))
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weights", [(1, 0, 1, 0), (3, -1, 2, -2)])
def test_the_printed_program_means_what_the_text_says(
    seed: int, weights: tuple[float, float, float, float]
) -> None:
    rng = np.random.default_rng(seed)
    votes, positive = rng.integers(0, 2, (9, 4)), np.arange(9) < 4
    credit = failure_credit(merge_rows(votes, positive.astype(int))) / 1e9
    pairs = credit[np.triu_indices(4, 1)]
    for tau, gamma in (
        (0.0, 0.0),
        (0.0, float(np.median(pairs))),
        (float(pairs.min()), float(np.median(pairs))),
    ):
        program = printed_program(votes, positive, weights, diversity=(credit, tau, gamma))
        assert _optimum(program) == pytest.approx(_enumerated(votes, positive, weights, (credit, tau, gamma)))


@pytest.mark.parametrize("seed", range(4))
def test_ours_is_as_good_as_the_printed_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes, labels = rng.integers(0, 2, (14, 5)), np.arange(14) % 3 == 0
    merged = merge_rows(votes, labels.astype(int))
    ours = prune_exactly(merged, named_weights("accuracy", merged), selection_limits(5))
    assert ours.value * 14 == pytest.approx(_optimum(printed_program(votes, labels, (1, 0, 1, 0))))
    balanced = prune_exactly(merged, named_weights("theta-weighted", merged), selection_limits(5))
    theta = labels.mean()
    printed = _optimum(printed_program(votes, labels, (1 - theta, 0, theta, 0)))
    assert balanced.confusion.balanced_accuracy == pytest.approx(
        printed * 14 / (2 * labels.sum() * (~labels).sum())
    )


def test_equation_6_forbids_the_largest_threshold_unless_every_negative_row_has_a_vote() -> None:
    program = printed_program(np.array([[1, 1], [0, 0]]), np.array([True, False]), (1, 0, 1, 0))
    values = np.zeros(len(program.costs))
    values[[0, 1, 2]] = 1, 1, 2  # both, with L = K
    values[[4, 5]] = 1  # nothing is called positive: a false negative and a true negative
    assert not (program.rows @ values <= program.upper).all()
    values[2] = 1
    values[[3, 4]] = 1, 0
    assert (program.rows @ values <= program.upper).all()
