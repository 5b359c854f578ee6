"""Programs with limits of their own, and the second program that checks an answer."""

import dataclasses
import itertools

import numpy as np
import pytest

from shortlist.errors import SolverError
from shortlist.methods.solrep.limited_solves import LimitedSolves
from shortlist.milp.backends import open_solver
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.milp.solution import NO_LIMITS, Limits, OnBound, Session, Solution
from shortlist.results.objective import Objective
from shortlist.results.proof import Status
from shortlist.runs import Budget
from shortlist.runs.cancellation import Cancellation
from tests.methods.solrep.test_solrep import knapsack

ONES = np.ones(3, dtype=np.int64)


class Claiming:
    """A session that calls its answer optimal although one element fewer is chosen than in the best."""

    def __init__(self, session: Session, program: Program) -> None:
        self._session, self._program = session, program

    def __getattr__(self, name: str) -> object:
        return getattr(self._session, name)

    def solve(
        self,
        limits: Limits = NO_LIMITS,
        *,
        on_bound: OnBound | None = None,
        cancellation: Cancellation | None = None,
    ) -> Solution:
        found = self._session.solve(limits, on_bound=on_bound, cancellation=cancellation)
        if found.values is None:
            return found
        worse = found.values.copy()
        worse[np.flatnonzero(worse)[0]] = 0.0
        return dataclasses.replace(found, values=worse)


class SometimesWrong:
    """HiGHS, whose sessions with some seeds claim too much."""

    name, handles_continuous, tolerance = "highs", True, 1e-7

    def __init__(self, wrong_seeds: set[int]) -> None:
        self._wrong_seeds = wrong_seeds

    def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> Session:
        session = open_solver("highs").open(program, seed=seed, threads=threads)
        return Claiming(session, program) if seed in self._wrong_seeds else session  # type: ignore[return-value]


def solves(wrong_seeds: set[int], *, checks: bool) -> LimitedSolves:
    made = LimitedSolves(knapsack(), solver=SometimesWrong(wrong_seeds), budget=Budget(seed=0), stage="x")
    made.checks = checks
    return made


def best() -> int:
    """Return the least sum of the objectives, by trying every selection."""
    program = knapsack()
    chosen = np.array(list(itertools.product([0, 1], repeat=program.n_columns)))
    within = (chosen @ program.rows.toarray().T <= program.row_upper).all(axis=1)
    return int((chosen[within] @ program.minimised_costs().sum(axis=0)).min())


def test_an_answer_is_checked_by_a_second_program() -> None:
    outcome = solves(set(), checks=True).attempt(ONES, solves(set(), checks=True).integers.upper)
    assert (outcome.status, outcome.value, outcome.checked) == (Status.OPTIMAL, best(), True)


def test_a_false_claim_is_found_out_and_asked_again() -> None:
    believed = solves({0}, checks=False)
    assert believed.attempt(ONES, believed.integers.upper).value > best()
    doubted = solves({0}, checks=True)
    outcome = doubted.attempt(ONES, doubted.integers.upper)
    assert (outcome.value, outcome.checked) == (best(), True)


def test_a_solver_that_is_always_wrong_gets_no_answer_in() -> None:
    doubted = solves({0, 1, 2}, checks=True)
    with pytest.raises(SolverError, match="no exact answer in 3 attempts"):
        doubted.attempt(ONES, doubted.integers.upper)


class Counting:
    """HiGHS that counts the programs it is given."""

    name, handles_continuous, tolerance = "highs", True, 1e-7

    def __init__(self) -> None:
        self.n_columns: list[int] = []

    def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> Session:
        self.n_columns.append(program.n_columns)
        return open_solver("highs").open(program, seed=seed, threads=threads)


def checked_by(program: Program) -> tuple[LimitedSolves, list[int]]:
    """Return solves that check, and how many columns each program they open has."""
    solver = Counting()
    made = LimitedSolves(program, solver=solver, budget=Budget(seed=0), stage="x")
    made.checks = True
    return made, solver.n_columns


def test_what_the_relaxation_proves_needs_no_second_program() -> None:
    costs = [[4, 1, 3, 2, 0, 5, 3, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8, 9]]
    each, once = np.eye(3), np.ones((1, 3))
    rows = np.vstack([np.kron(each, once), np.kron(once, each)])
    goals = [LinearObjective(Objective(f"cost {i}"), np.array(row, float)) for i, row in enumerate(costs)]
    assignment = make_program(
        rows, row_lower=1, row_upper=1, column_lower=0, column_upper=1, integer=True, objectives=goals
    )
    made, opened = checked_by(assignment)
    outcome = made.attempt(np.array([1, 1]), made.integers.upper)
    choices = itertools.permutations(range(3))
    sums = np.sum(costs, axis=0).reshape(3, 3)
    assert outcome.value == min(sum(sums[i, j] for i, j in enumerate(choice)) for choice in choices)
    assert outcome.checked
    assert opened == [9]


def test_the_second_program_has_only_the_columns_that_reduced_costs_leave() -> None:
    made, opened = checked_by(knapsack())
    outcome = made.attempt(ONES, made.integers.upper)
    assert (outcome.value, outcome.checked) == (best(), True)
    assert opened[0] == 12
    assert all(0 < n < 12 for n in opened[1:])


def test_a_check_that_a_limit_ends_leaves_the_answer_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    made = solves(set(), checks=True)
    monkeypatch.setattr(made, "_better", lambda *_: None)
    outcome = made.attempt(ONES, made.integers.upper)
    assert (outcome.status, outcome.value, outcome.checked) == (Status.OPTIMAL, best(), False)
