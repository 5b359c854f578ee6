from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.arrays import Values
from shortlist.errors import FitsStoppedError
from shortlist.multistage.problem.stages import REMOVED, compress, has_gaps
from shortlist.multistage.search.stage_objectives import worths
from shortlist.multistage.search.window import kicked, mended, single_moves
from shortlist.multistage.search.window_search import WindowClimber, WindowOptions
from shortlist.runs import Budget, Cancellation
from tests.examples import examples
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of

WEIGHTS = np.array([1.0, 2.0, 3.0])


@given(
    stages=st.lists(st.integers(0, 3), min_size=1, max_size=8), n_changed=st.integers(1, 9),
    seed=st.integers(0, 9), removal=st.booleans(),
)  # fmt: skip
def test_a_kick_changes_few_features_and_something_is_bought(
    stages: list[int], n_changed: int, seed: int, removal: bool
) -> None:
    before = compress(stages)
    after, again = (
        kicked(before, n_changed, 4, np.random.default_rng(seed), removal=removal) for _ in range(2)
    )

    assert after.tolist() == again.tolist()
    assert after.max() >= 0
    assert after.max() < 4
    assert not has_gaps(after)
    assert removal or (after != REMOVED).all()
    # who was not drawn keeps its place among the others that were not
    drawn = np.random.default_rng(seed).choice(len(before), size=min(n_changed, len(before)), replace=False)
    kept = np.setdiff1d(np.arange(len(before)), drawn)
    order_before, order_after = (np.sign(np.subtract.outer(q[kept], q[kept])) for q in (before, after))
    assert (order_before == order_after).all()


@examples(25)
@given(known=facts(max_features=4), k=st.integers(2, 4), removal=st.booleans(), seed=st.integers(0, 5))
def test_no_move_of_one_feature_betters_what_is_mended(
    known: oracles.Facts, k: int, removal: bool, seed: int
) -> None:
    problem = problem_of(known, min(k, known.n_features), removal=removal)

    def rate(assignments: NDArray[np.int8]) -> tuple[NDArray[np.int8], Values]:
        return assignments, worths(problem, problem.measures(assignments), WEIGHTS)

    start = np.zeros(known.n_features, dtype=np.int8)
    found, worth = mended(start, rate, problem.max_stages, np.random.default_rng(seed), removal=removal)

    assert worth == rate(found[None, :])[1][0] >= rate(start[None, :])[1][0]
    moves, _ = single_moves(found, problem.max_stages, removal=removal)
    assert not len(moves) or rate(moves)[1].max() <= worth


@examples(25)
@given(known=facts(max_features=4), removal=st.booleans(), seed=st.integers(0, 9))
def test_a_kick_never_loses_the_best_and_tells_of_gains(
    known: oracles.Facts, removal: bool, seed: int
) -> None:
    problem = problem_of(known, min(3, known.n_features), removal=removal)
    climber = WindowClimber(problem, WindowOptions(), Budget())
    climber.measure(np.zeros((1, known.n_features), dtype=np.int8))
    before, _ = climber.archive.best(WEIGHTS)

    here, gained = climber.kick(WEIGHTS, climber.top(WEIGHTS), np.random.default_rng(seed))

    after, _ = climber.archive.best(WEIGHTS)
    assert gained == (after > before)
    worth = float((worths(problem, problem.measures(here[None, :]), WEIGHTS))[0])
    assert before - 0.001 * WEIGHTS.sum() <= worth <= after
    assert worth == after or not gained


def test_kicks_get_out_of_a_local_optimum() -> None:
    # only features 0 and 1 together tell anything: no move of one feature gains, a kick of two does
    everything: dict[frozenset[int], tuple[Any, Any]] = {
        frozenset(i for i in range(4) if m >> i & 1): ((m & 3 == 3, m & 3 == 3),) * 2 for m in range(1, 16)
    }
    problem = problem_of(oracles.Facts(4, (0, 1), everything, (1, 1, 9, 9)), 2)
    climber = WindowClimber(problem, WindowOptions(changed=2), Budget())
    _, (start,) = climber.measure(np.zeros((1, 4), dtype=np.int8))
    moves, _ = single_moves(np.zeros(4, dtype=np.int8), 2, removal=False)
    weights = np.ones(3)
    best = float(worths(problem, start[None, :], weights)[0])
    assert (worths(problem, problem.measures(moves), weights)).max() <= best + 9 / 20

    here, rng = np.zeros(4, dtype=np.int8), np.random.default_rng(0)
    for _ in range(30):
        here, _ = climber.kick(weights, here, rng)

    assert [0, 0, 1, 1] in climber.archive.assignments.tolist()


def test_whoever_is_stopped_kicks_no_more() -> None:
    answers = {frozenset(s): ((True, True), (False, False)) for s in ((0,), (1,), (0, 1))}
    problem = problem_of(oracles.Facts(2, (1, 0), answers, (1, 2)), 2)
    stop = Cancellation()
    climber = WindowClimber(problem, WindowOptions(), Budget(cancellation=stop))
    climber.measure(np.zeros((1, 2), dtype=np.int8))
    stop.cancel()

    with pytest.raises(FitsStoppedError):
        climber.kick(np.ones(3), np.zeros(2, dtype=np.int8), np.random.default_rng(0))
