"""What a search for stage assignments found, by whatever method."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.results.front import Front
from shortlist.results.proof import Proof


@dataclass(frozen=True, eq=False)
class StageResult:
    """What a search found, in the order of the front's points."""

    problem: StageProblem = field(repr=False)
    assignments: NDArray[np.int8]
    """Stage assignments, ``(n_points, n_features)``; none dominates another."""
    measures: NDArray[np.int64]
    """Their measures, ``(n_points, n_measures)``."""
    method: str
    """``"enumerate"``, ``"windows"`` or ``"emsco"``."""
    proof: Proof
    """What is proved of the front."""
    seconds: float
    """Wall-clock time; of an enumeration without fits."""
    facts: Mapping[str, Any]
    """What else the method tells, such as ``n_tied``, ``n_windows`` or ``n_generations``; the front has it
    under ``extras``.
    """

    @property
    def n_tied(self) -> NDArray[np.int64]:
        """How many assignments have the objectives of each point, as an enumeration counts them."""
        return np.array(self.facts["n_tied"], dtype=np.int64)

    @property
    def n_looked(self) -> int:
        """Chains that an enumeration looked at; the rest were accounted for by bounds."""
        return int(self.facts["n_looked"])

    def front(self) -> Front:
        """Return the answer as a front."""
        return self.problem.front(
            self.assignments, self.measures, self.proof, method=self.method, seconds=self.seconds,
            extras=dict(self.facts),
        )  # fmt: skip
