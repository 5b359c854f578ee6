"""Mixed-integer linear programs, and solvers with a common protocol."""

from shortlist.milp.backends import SOLVERS, open_solver
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.milp.solution import Limits, Session, Solution, Solver

__all__ = [
    "SOLVERS",
    "Limits",
    "LinearObjective",
    "Program",
    "Session",
    "Solution",
    "Solver",
    "make_program",
    "open_solver",
]
