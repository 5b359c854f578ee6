"""One file per solver; only that file imports it. What is called by name is opened here."""

from typing import TYPE_CHECKING

from shortlist import solvers
from shortlist._validation import as_choice

if TYPE_CHECKING:
    from shortlist.milp.solution import Solver

SOLVERS = tuple(solvers.SOLVERS)
"""Names of the solvers; the first is the default."""


def open_solver(name: str = "highs", *, short_programs: bool = False, presolve: bool = False) -> "Solver":
    """Return the backend called `name`, importing its solver only now.

    `short_programs` says that each session solves programs that take fractions of a second; only HiGHS and
    CP-SAT heed it. `presolve` lets HiGHS reduce short programs all the same.

    Raises
    ------
    BadInputError
        If there is no such solver.
    MissingDependencyError
        If the solver is an extra that is not installed; the message says how to install it.
    """
    as_choice(name, "solver", SOLVERS)
    if name == "highs":
        from shortlist.milp.backends.highs import Highs

        return Highs(short_programs=short_programs, presolve=presolve)
    if name == "cpsat":
        from shortlist.milp.backends.cpsat import CpSat

        return CpSat(short_programs=short_programs)
    if name == "scip":
        from shortlist.milp.backends.scip import Scip

        return Scip()
    if name == "gurobi":
        from shortlist.milp.backends.gurobi import Gurobi

        return Gurobi()
    from shortlist.milp.backends.cplex import Cplex

    return Cplex()
