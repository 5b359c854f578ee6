"""What the steps of one run of the engine share: the incumbent, the budget, and what was said so far."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from shortlist.ensembles.proofs.cuts import CutSettings
from shortlist.ensembles.proofs.incumbent import Incumbent, KeptBest
from shortlist.ensembles.proofs.pair_cuts import PairSettings
from shortlist.ensembles.pruning.engines import VOTES, Turn
from shortlist.milp import Solver
from shortlist.runs.budget import Budget


@dataclass(frozen=True, kw_only=True)
class SearchEffort:
    """How long the search for good selections goes on."""

    first_steps: int = 5_000
    """Moves of the search before anything is bounded."""
    steps: int = 60_000
    """Moves of the search after that."""
    more_steps: int = 200_000
    """Moves of the search of two classes before a solver only proves; five times as many where the gap is
    large and a clock ends the run.
    """
    patient_steps: int = 200_000
    """Moves of the longer search by plurality where the clock ends it."""
    n_starts: int = 8
    """How many of the rules' selections the search starts from."""


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """How the engine shares its time between its steps; decisions 8 and 17 have the measurements."""

    turns: tuple[Turn, ...] = VOTES
    """The engines, in order."""
    effort: SearchEffort = field(default_factory=SearchEffort)
    """How many moves the search makes."""
    near: int = 8
    """How many usual rows lie between value and bound where the solver may end the proof; it is then called
    early, and however large the program is.
    """
    close: int = 4
    """The same where SCIP is done so soon that neither a further search nor a full search comes before it."""
    far_cells: int = 200_000
    """Forms times classifiers up to which the solver lowers a bound further away within seconds; beyond, the
    cuts lower it more, as long as they find any.
    """
    pairs: PairSettings = field(default_factory=PairSettings)
    """How pair cuts are looked for."""
    node_effort: int = 5
    """Thousandths of CP-SAT's deterministic time that count as a node of SCIP."""
    cuts: CutSettings = field(default_factory=CutSettings)
    """How cuts are looked for."""
    cut_rounds: int = 60
    """Rounds of cuts where no clock ends them."""
    most_pairs: int = 200_000
    """Most conflicts that the integer program gets as rows."""
    program_cells: int = 20_000_000
    """Forms times classifiers beyond which no integer program is built: solvers would need minutes to read
    it.
    """
    short_walk_nodes: int = 1_000_000
    """Nodes after which the first walk gives up: a tenth of a second, or two."""
    short_nodes: int = 500
    """Thousandths of deterministic time for which CP-SAT is asked between the walks: half a second."""
    walk_classifiers: int = 36
    """Most classifiers for which a full search is begun: with more it hardly ever ends."""
    walk_nodes: int = 8_000_000
    """Nodes after which a full search gives up: a few seconds."""
    few_selections: int = 2**16
    """Number of selections within the sizes up to which the full search comes first and is the proof: a
    recheck looks at every selection again.
    """
    least_solve_s: float = 0.1
    """Seconds below which CP-SAT is not asked: it has ended the whole process under limits of milliseconds.
    """


Step: TypeAlias = Callable[[Budget], None]
"""Goes on with the search or the proof until its part of the budget ends."""


@dataclass(eq=False)
class Run:
    """One run of the engine."""

    best: Incumbent
    """The best selection and the bound."""
    budget: Budget
    """Of the whole run."""
    settings: EngineSettings
    """How the steps share it."""
    solver: Solver | None
    """The one that was asked for alone."""
    solver_name: str
    """What it is called."""
    infeasible: bool = False
    """Whether no selection keeps the limits, as `infeasible_by` claims, if that is not empty."""
    infeasible_by: str = ""
    last_limit: str = ""
    """What ended the last step that was ended by something else than the budget."""
    turn: Turn | None = None
    """The last turn that lowered the bound; None where every row is right that can be."""

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

    def tell(self, stage: str, *, total: float = math.nan) -> None:
        """Note and report value and bound; `total` is a weighted sum that a solver claims."""
        best, value = self.best, self.best.problem.value
        KeptBest(self.best, self.budget).keep()
        best.record(self.budget.elapsed)
        claimed = None if math.isnan(total) else value(round(total))
        known = [one for one in (claimed, best.value) if one is not None]
        self.budget.tell(stage, value=max(known, default=None), bound=value(best.bound))
