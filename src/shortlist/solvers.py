"""Solvers of integer programs, listed once; nothing is loaded, so that a wrong name is refused at once."""

from collections.abc import Mapping
from typing import NamedTuple


class ListedSolver(NamedTuple):
    """Title of a solver, its class, and the package of the extra of its name, if it needs one.

    The class is that of the file of its name in :mod:`shortlist.milp.backends`.
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
"""Solvers by name; the first is the default. :func:`shortlist.milp.backends.open_solver` opens each."""

TITLES: Mapping[str, str] = {name: one.title for name, one in SOLVERS.items()}
"""Titles of the solvers for people."""
