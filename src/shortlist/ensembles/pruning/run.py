"""What the steps of one run of the engine share: the incumbent, the budget, and what was said so far."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from shortlist.ensembles.proofs.incumbent import Incumbent
from shortlist.ensembles.proofs.kept_best import KeptBest
from shortlist.ensembles.pruning.engine_settings import EngineSettings
from shortlist.milp import Solver
from shortlist.runs.budget import Budget

Step: TypeAlias = Callable[[Budget], None]
"""Goes on with the search or the proof until its part of the budget ends."""


@dataclass(eq=False)
class Run:
    """One run of the engine.

    Attributes
    ----------
    best : Incumbent
        The best selection and the bound.
    budget : Budget
        Of the whole run.
    settings : EngineSettings
        How the steps share it.
    solver : Solver or None
        The one that was asked for alone.
    solver_name : str
        What it is called.
    infeasible : bool
        Whether no selection keeps the limits, by the word of `infeasible_by`, if that is not empty.
    last_limit : str
        What ended the last step that was ended by something else than the budget.
    """

    best: Incumbent
    budget: Budget
    settings: EngineSettings
    solver: Solver | None
    solver_name: str
    infeasible: bool = False
    infeasible_by: str = ""
    last_limit: str = ""

    def goes_on(self, budget: Budget) -> bool:
        """Whether there is something left to prove, and time for it."""
        return self.is_open and not budget.stopped

    @property
    def is_open(self) -> bool:
        """Whether there is something left to prove."""
        return not (self.best.proved or self.infeasible)

    def take_kept(self) -> None:
        """Take the best selection of an earlier run that was killed, where the clock ended this one."""
        if self.is_open:
            KeptBest(self.best, self.budget).take()

    def note_end(self) -> None:
        """Note that nothing is left to prove."""
        if not self.is_open:
            KeptBest(self.best, self.budget).note_end()

    def tell(self, stage: str, *, total: float = math.nan, every: float = 0.0) -> None:
        """Note and report value and bound.

        Parameters
        ----------
        stage : str
            What is done.
        total : float
            A weighted sum that a solver claims.
        every : float
            Seconds between two reports of the same value.
        """
        best, value = self.best, self.best.problem.value
        KeptBest(self.best, self.budget).keep()
        if not best.record(self.budget.elapsed, every=every) and every:
            return
        claimed = None if math.isnan(total) else value(round(total))
        known = [one for one in (claimed, best.value) if one is not None]
        self.budget.tell(stage, value=max(known, default=None), bound=value(best.bound))
