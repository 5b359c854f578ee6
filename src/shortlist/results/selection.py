"""One answer to a problem with one objective."""

from dataclasses import dataclass

import numpy as np

from shortlist.arrays import Mask
from shortlist.pickles import saved_from
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, Status, relative_gap


@saved_from("shortlist")
@dataclass(frozen=True, eq=False)
class Selection:
    """One answer to a problem with one objective.

    Parameters
    ----------
    mask : ndarray of bool, shape (n_candidates,)
        What is chosen; all False when there is no answer.
    objective : Objective
        What was optimised.
    value, bound : float
        Objective value of the choice, and the value that no choice can beat, in the user's sign; NaN when
        unknown.
    status : Status
        What is known of it.
    proof : Proof
        The claim, its tolerance, and the limit that was hit.
    seconds : float
        Wall-clock time spent.
    """

    mask: Mask
    objective: Objective
    value: float
    bound: float
    status: Status
    proof: Proof
    seconds: float

    def __repr__(self) -> str:
        size = f"{int(np.sum(self.mask)):,} of {len(self.mask):,} candidates"
        value = f"{self.objective.name} {self.value:.6g}, bound {self.bound:.6g}"
        return f"{type(self).__name__}({size}; {value}; {self.status})"

    def _repr_html_(self) -> str:
        from shortlist.results.notebook import html_table

        limit = [("stopped by", self.proof.limit)] if self.proof.limit else []
        facts = [
            ("status", self.status),
            (self.objective.name, float(self.value)),
            ("bound", float(self.bound)),
            *limit,
            ("chosen", f"{int(np.sum(self.mask)):,} of {len(self.mask):,} candidates"),
            ("seconds", float(self.seconds)),
        ]
        return html_table(type(self).__name__, [], facts, n_rows=len(facts))

    @property
    def gap(self) -> float:
        """Relative distance of the value to the bound; 0 when proved, NaN without an answer."""
        return 0.0 if self.status is Status.OPTIMAL else relative_gap(self.value, self.bound)
