"""The best selection so far, kept in a study, so that a run that was killed does not lose it."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.proofs.incumbent import Incumbent
from shortlist.runs.budget import Budget
from shortlist.runs.studies.study import StageNote

PROOF = "proof"
"""The unit of a study that a run is; the best members so far are its state."""


@dataclass(frozen=True, eq=False)
class KeptBest:
    """The best selection of a run, and that of an earlier one, in the study of its budget.

    Attributes
    ----------
    best : Incumbent
        The best selection and the bound of this run.
    budget : Budget
        Of the run, with its study.
    """

    best: Incumbent
    budget: Budget

    def take(self) -> None:
        """Take the best selection of an earlier run that was killed, where the clock ended this one.

        It is looked at last, so that a proof that ends by itself gives the answer of an undisturbed run.
        """
        kept = self.budget.study.kept(PROOF)
        if kept is not None and not self.best.proved and not self.budget.is_counted:
            self.best.offer(self._members(kept))

    def keep(self) -> None:
        """Keep the best selection, if it is time to."""
        self.budget.study.keep(PROOF, self._best_known, stage=self._note)

    def note_end(self) -> None:
        """Note that nothing is left to prove, so that the study does not promise to go on."""
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
        side = "at least" if best.problem.objective.sense == "min" else "at most"
        bound = f"{side} {best.problem.value(best.bound):g}"
        return StageNote(PROOF, 1, 0, 1, bound if best.value is None else f"{best.value:g}, {bound}")
