"""The solvers of integer programs, listed once; nothing is loaded, so that a wrong name is told at once."""

from collections.abc import Mapping
from typing import NamedTuple


class ListedSolver(NamedTuple):
    """What people call a solver, and the package of the extra of its name, if it needs one."""

    title: str
    package: str = ""


SOLVERS: Mapping[str, ListedSolver] = {
    "highs": ListedSolver("HiGHS"),
    "cpsat": ListedSolver("CP-SAT"),
    "scip": ListedSolver("SCIP"),
    "gurobi": ListedSolver("Gurobi", "gurobipy"),
    "cplex": ListedSolver("CPLEX", "cplex"),
}
"""By name; the first is the default. :func:`shortlist.milp.backends.open_solver` opens each."""

TITLES: Mapping[str, str] = {name: one.title for name, one in SOLVERS.items()}
"""What people call the solvers."""
