"""What the steps of one run of the engine share: the incumbent, the budget, and what was said so far."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.proofs.incumbent import Incumbent
from shortlist.ensembles.pruning.engine_settings import EngineSettings
from shortlist.milp import Solver
from shortlist.runs.budget import Budget
from shortlist.runs.studies.study import StageNote

Step: TypeAlias = Callable[[Budget], None]
"""Goes on with the search or the proof until its part of the budget ends."""

PROOF = "proof"
"""The unit of a study that a run is; the best members so far are its state."""


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
        """Take the best selection of an earlier run that was killed, where the clock ended this one.

        It is looked at last, so that a proof that ends by itself gives the answer of an undisturbed run.
        """
        kept = self.budget.study.kept(PROOF)
        if kept is not None and self.is_open and not self.budget.is_counted:
            self.best.offer(self._members(kept))

    def note_end(self) -> None:
        """Note that nothing is left to prove, so that the study does not promise to go on."""
        if not self.is_open:
            self.budget.study.drop([PROOF])
            self.budget.study.tell(dataclasses.replace(self._note(), done=1, running=0))

    def _best_known(self) -> list[int]:
        """Return the best members of this run and of an earlier one, by number."""
        best, kept = self.best, self.budget.study.kept(PROOF)
        if best.mask is None:
            return kept or []
        if kept is not None and best.rate(self._members(kept))[0] > best.total:
            return list(kept)
        return [int(number) for number in np.flatnonzero(best.mask)]

    def _members(self, numbers: Sequence[int]) -> Mask:
        mask = np.zeros(self.best.problem.n_classifiers, dtype=bool)
        mask[list(numbers)] = True
        return mask

    def _note(self) -> StageNote:
        """Say how good the best selection is, and how good any can be."""
        best = self.best
        bound = f"at most {best.problem.value(best.bound):g}"
        return StageNote(PROOF, 1, 0, 1, bound if best.value is None else f"{best.value:g}, {bound}")

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
        self.budget.study.keep(PROOF, self._best_known, stage=self._note)
        if not best.record(self.budget.elapsed, every=every) and every:
            return
        claimed = None if math.isnan(total) else value(round(total))
        known = [one for one in (claimed, best.value) if one is not None]
        self.budget.tell(stage, value=max(known, default=None), bound=value(best.bound))
