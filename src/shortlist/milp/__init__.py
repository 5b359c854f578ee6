"""Mixed-integer linear programs, and solvers behind one protocol."""

from shortlist.milp.program import LinearObjective, Program, program
from shortlist.milp.session import SOLVERS, Session, Solver, open_solver
from shortlist.milp.solution import Limits, Solution

__all__ = ["SOLVERS", "LinearObjective", "Limits", "Program", "Session", "Solution", "Solver", "open_solver", "program"]
