"""Sweeps of bounds: what they ask, what they meet, and how they end."""

import numpy as np

from shortlist.methods.integer.bound_sweep import BoundSweep, sweep_all
from shortlist.methods.integer.bounded_solves import LimitReachedError
from shortlist.methods.integer.integer_objectives import Vector
from shortlist.pareto import nondominated
from shortlist.results.proof import ProofKind


def test_a_sweep_asks_nothing_twice_and_meets_every_minimum() -> None:
    points = np.array([[5, 0, 3], [4, 1, 1], [3, 3, 0], [4, 0, 2], [2, 2, 2]])
    asked: list[tuple[int, ...]] = []

    def solve(_: Vector, bounds: Vector) -> Vector | None:
        asked.append(tuple(bounds.tolist()))
        within = points[(points <= bounds).all(axis=1)]
        return within[np.argmin(within[:, 0])] if len(within) else None

    sweep = BoundSweep(solve, [0, 1, 2], points.min(axis=0), points.max(axis=0))
    sweep.run()

    found = {tuple(answer) for answer in np.array(sweep.answers)[nondominated(sweep.answers)].tolist()}
    assert found == {(4, 1, 1), (3, 3, 0), (4, 0, 2), (2, 2, 2)}
    assert len(asked) == len(set(asked))
    assert sweep.n_skipped > 0
    assert sweep.n_open == 0


def test_a_sweep_that_a_limit_ends_keeps_its_answers_and_says_how_many_loops_are_open() -> None:
    points = np.array([[3, 0], [2, 1], [1, 2]])
    asked: list[Vector] = []

    def solve(_: Vector, bounds: Vector) -> Vector:
        if len(asked) == 2:
            raise LimitReachedError("60 s")
        asked.append(bounds)
        within = points[(points <= bounds).all(axis=1)]
        return np.asarray(within[np.argmin(within[:, 0])])

    swept = sweep_all([0, 1], lambda: (points.min(axis=0), points.max(axis=0)), solve)
    proof = swept.proof(ProofKind.APPROXIMATE)

    assert [answer.tolist() for answer in swept.answers] == [[1, 2], [2, 1]]
    assert (proof.kind, proof.n_unresolved, proof.limit) == (ProofKind.APPROXIMATE, 1, "60 s")


def test_without_a_solution_there_is_nothing_to_sweep() -> None:
    swept = sweep_all([0, 1], lambda: None, lambda *_: None)

    assert (swept.answers, swept.proof(ProofKind.APPROXIMATE).kind) == ([], ProofKind.COMPLETE)
