"""Repair as in SMTIBEA: a product that is no worse, from a solver that decides clauses and sums together."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.logic.sat import SatSolver
from shortlist.methods.evolution.variation import EvolvedProblem, repaired
from shortlist.milp.program import LinearObjective, make_program
from shortlist.milp.session import open_solver
from shortlist.milp.solution import Limits
from shortlist.results.objective import Objective
from shortlist.runs.budget import Budget

N_NODES = 100
"""Branch-and-bound nodes that one question may take; the authors' program stops Z3 after six seconds."""


class Improvement:
    """Answers with products that are no worse than what is given, in every objective.

    Guo and others (2019) put the solver Z3, of satisfiability modulo theories, where SATIBEA has a solver of
    clauses, so that rules may hold sums; in the third version of their program it is asked for a product that
    costs no more and has no more defects than the child. Over 0/1 variables an integer program decides the
    same questions, clauses and linear inequalities together: here HiGHS takes the place of Z3.

    What their texts leave open was chosen: all objectives are bounded by the child's; where there is no such
    product, or none within :data:`N_NODES` nodes, the child is repaired as in SATIBEA, where their program
    takes random values.
    """

    def __init__(self, problem: EvolvedProblem, budget: Budget) -> None:
        clauses, costs = problem.presolved.clauses, problem.own_costs
        sizes, signs = np.diff(clauses.offsets), np.sign(clauses.literals)
        numbers = np.repeat(np.arange(clauses.n_clauses), sizes)
        n_negated = np.bincount(numbers[signs < 0], minlength=clauses.n_clauses)
        shape = (clauses.n_clauses, problem.n_variables)
        rows = sparse.coo_array((signs.astype(float), (numbers, np.abs(clauses.literals) - 1)), shape)
        n_objectives = costs.shape[1]
        program = make_program(
            sparse.vstack([rows, costs.T.astype(float)]),
            row_lower=np.concatenate([1.0 - n_negated, np.full(n_objectives, -np.inf)]),
            row_upper=np.inf,
            column_lower=0,
            column_upper=1,
            integer=True,
            objectives=[LinearObjective(Objective("any product"), np.zeros(problem.n_variables))],
        )
        self._clauses, self._costs = clauses, costs
        self._bounded = clauses.n_clauses + np.arange(n_objectives)
        self._session = open_solver("highs", short_programs=True).open(program)
        self._sat = SatSolver(clauses, budget)
        self._cancellation = budget.cancellation

    def __call__(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return a product that is no worse than `bits`, or the repaired bits where none is found."""
        most = (bits.astype(np.int64) @ self._costs).astype(float)
        self._session.set_row_bounds(self._bounded, -np.inf, most)
        values = self._session.solve(Limits(nodes=N_NODES), cancellation=self._cancellation).values
        if values is not None:
            found = np.rint(values).astype(np.uint8)
            is_better = (found.astype(np.int64) @ self._costs <= most).all()
            if is_better and self._clauses.satisfied(found[None].astype(bool)).all():
                return found
        return repaired(self._sat, bits)
