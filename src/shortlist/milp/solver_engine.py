"""What a backend implements."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Costs
from shortlist.milp.current import Change
from shortlist.milp.solution import Claim, Limits
from shortlist.milp.watch import Post


class SolverEngine(Protocol):
    """One program in a solver's memory, fed with checked arrays; it may be changed only between runs."""

    def change_costs(self, costs: Costs) -> None:
        """Minimise ``costs @ x`` from now on."""

    def change_column_bounds(self, change: Change) -> None:
        """Replace bounds of columns; none is empty."""

    def change_row_bounds(self, change: Change) -> None:
        """Replace limits of rows; none is empty."""

    def change_cutoff(self, cutoff: float) -> None:
        """Admit only solutions that cost at most `cutoff`, inf for all."""

    def offer_start(self, values: NDArray[np.float64]) -> None:
        """Start the next run from `values`, which are a solution."""

    def run(self, limits: Limits, post: Post, *, size: float) -> Claim:
        """Solve, in a thread that is not the caller's, posting objectives and bounds on the way.

        `size` is the largest sum of integers to be told from the next.
        """

    def stop(self) -> None:
        """Make the run end soon; called from another thread, perhaps early, late or more than once."""
