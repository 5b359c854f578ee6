"""The protocol of solvers: open a program once, change it a little, solve again."""

from typing import Protocol

from numpy.typing import ArrayLike

from shortlist.milp.program import Program
from shortlist.milp.solution import NO_LIMITS, Limits, Solution
from shortlist.milp.watch import OnBound
from shortlist.runs.cancellation import Cancellation


class Session(Protocol):
    """One program in a solver's memory.

    Rows and columns are numbered as in the program; costs are to minimise.
    """

    def set_costs(self, costs: ArrayLike) -> None:
        """Minimise ``costs @ x`` from now on, shape (n_columns,)."""

    def set_column_bounds(self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Replace the bounds of `columns`."""

    def set_row_bounds(self, rows: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Replace the limits of `rows`."""

    def set_cutoff(self, cutoff: float | None) -> None:
        """Look only for solutions that cost at most `cutoff`; None lifts it."""

    def set_start(self, values: ArrayLike | None) -> None:
        """Offer a solution to start the next solve from; an infeasible one does no harm."""

    def solve(
        self,
        limits: Limits = NO_LIMITS,
        *,
        on_bound: OnBound | None = None,
        cancellation: Cancellation | None = None,
    ) -> Solution:
        """Solve as the model now stands.

        A cancellation stops it within about a second, with the best found. `on_bound` is called in the
        caller's thread whenever objective or bound got better, and once more at the end. Ctrl-C is felt in
        the main thread.

        Raises
        ------
        SolverError
            If the solver fails, or contradicts itself.
        """


class Solver(Protocol):
    """A backend. `seed` and `threads` are fixed per session; one thread is deterministic under node limits.

    `tolerance` is by how much it may miss an integer or a limit; 0 if its arithmetic is exact.
    """

    name: str
    handles_continuous: bool
    tolerance: float

    def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> Session:
        """Load `program`; its first objective, if any, gives the costs."""
