"""Solvers of integer programs, listed without loading any, so that a wrong name is refused at once."""

from collections.abc import Mapping
from typing import NamedTuple


class ListedSolver(NamedTuple):
    """Title and class of a solver, and the package of its extra, if it needs one.

    The class is in the file of the solver's name in :mod:`shortlist.milp.backends`.
    """

    title: str
    backend: str
    package: str = ""


SOLVERS: Mapping[str, ListedSolver] = {
    "highs": ListedSolver("HiGHS", "Highs"),
    "cpsat": ListedSolver("CP-SAT", "CpSat"),
    "scip": ListedSolver("SCIP", "Scip"),
    "gurobi": ListedSolver("Gurobi", "Gurobi", "gurobipy"),
    "cplex": ListedSolver("CPLEX", "Cplex", "cplex"),
}
"""Solvers by name; the first one is the default. :func:`shortlist.milp.backends.open_solver` opens each."""

TITLES: Mapping[str, str] = {name: one.title for name, one in SOLVERS.items()}
"""Titles of the solvers for people."""
