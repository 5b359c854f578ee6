"""Choice of the engines for a question of pruning: their order, their time, and the measurement behind it.

The turns of a table are gone through from the first to the last. An engine is asked where its condition holds
at that moment, and gets its share of the time that is left then: who overruns takes nothing from later
turns, and the search always comes before the bounds. Where no clock ends a run, or a number of nodes does,
shares do not count.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from shortlist.ensembles.proofs.pair_cuts import PairSettings
from shortlist.ensembles.proofs.row_by_row import CutSettings

RULES = "a pruning rule"
SEARCH = "tabu search"
LONG_SEARCH = "a longer tabu search"
CONFLICTS = "conflicts"
PAIRS = "pairs of rows"
PATIENT_SEARCH = "a patient tabu search"
SCIP = "SCIP"
WALK = "full search"
SHORT_WALK = "a short full search"
QUICK_CUTS = "quick cuts"
CUTS = "cuts"
COUNT = "counting the rows that can be right"
"""Name of the bound on every selection before any engine's."""
NOTHING_LOWER = "no engine lowered the bound in the time"
"""Reason for the bound where no engine gave another."""
CP_SAT = "CP-SAT"
SHORT_CP_SAT = "CP-SAT for a moment"


@dataclass(frozen=True, kw_only=True)
class PruningShape:
    """Sizes and properties of a question at the moment when an engine may be asked."""

    is_few: bool
    """Whether the selections within the sizes are few enough to be written down as the proof."""
    is_walkable: bool
    """Whether a full search may end."""
    has_program: bool
    """Whether an integer program is small enough to be built."""
    is_large: bool
    """Whether a solver takes long to bound it."""
    is_timed: bool
    """Whether a clock ends the run."""
    by_plurality: bool
    """Whether the class with most votes wins, and not more votes than a threshold."""
    has_selection: bool
    """Whether a selection within the limits is known."""
    is_near: bool
    """Whether few rows lie between value and bound."""
    is_close: bool
    """Whether so few that a solver with pair cuts is done within a second or two."""
    no_more_cuts: bool
    """Whether cuts are no longer found."""

    @property
    def needs_solver(self) -> bool:
        """Whether a solver may end the proof soon, or find the first selection."""
        return self.is_near or not self.has_selection


@dataclass(frozen=True)
class Turn:
    """An engine that is asked, and when."""

    engine: str
    fits: Callable[[PruningShape], bool]
    """Whether it is asked about a question of this shape."""
    share: float
    """Part of the time that is left after which it gives way."""
    why: str
    """Reason for the turn, to go after "because"."""
    measured: str
    """Measurement that supports it: a file of benchmarks/results, or a decision."""


VOTES = (
    Turn(WALK, lambda q: q.is_few, 0.5, "few selections are within the sizes", "decision 17"),
    Turn(RULES, lambda _: True, 0.4, "rules take little time", "pruning-anytime.csv"),
    Turn(SEARCH, lambda _: True, 0.3, "it finds the best selections of large pools", "pruning-anytime.csv"),
    Turn(CONFLICTS, lambda _: True, 0.5, "they bound every selection at once", "decision 8"),
    Turn(
        SHORT_WALK,
        lambda q: q.is_walkable,
        0.2,
        "all selections of few classifiers are often searched at once",
        "pruning-few.csv",
    ),
    Turn(
        PAIRS,
        lambda q: q.has_program and not q.is_large,
        0.2,
        "pairs of rows bound closely within seconds",
        "decision 81",
    ),
    Turn(
        PATIENT_SEARCH,
        lambda q: q.has_selection and not (q.is_close or q.is_walkable or q.is_large or q.by_plurality),
        0.06,
        "a solver that only proves needs the best selection",
        "decision 81",
    ),
    Turn(
        SCIP,
        lambda q: q.has_program and not q.is_large and (q.is_close or (q.is_near and not q.is_walkable)),
        0.35,
        "with the pairs it closes small gaps first",
        "decision 81",
    ),
    Turn(
        SHORT_CP_SAT,
        lambda q: q.is_walkable and q.has_program,
        0.2,
        "with few classifiers it may end the proof before a longer full search",
        "pruning-few.csv",
    ),
    Turn(WALK, lambda q: q.is_walkable, 0.4, "there are few classifiers or sizes", "pruning-few.csv"),
    Turn(LONG_SEARCH, lambda _: True, 0.3, "a larger value ends every proof sooner", "decision 78"),
    Turn(
        QUICK_CUTS,
        lambda q: q.is_timed and q.has_program,
        0.25,
        "the first cuts are found fast",
        "pruning-engine.csv",
    ),
    Turn(
        CP_SAT,
        lambda q: q.is_timed and q.has_program and q.needs_solver,
        0.1,
        "the gap is small",
        "decision 8",
    ),
    Turn(
        CUTS,
        lambda q: q.is_timed and q.has_program and q.needs_solver,
        0.15,
        "the gap is small",
        "decision 8",
    ),
    Turn(
        CP_SAT,
        lambda q: q.is_timed and q.has_program and q.needs_solver,
        0.5,
        "the gap is small",
        "decision 8",
    ),
    Turn(
        CUTS, lambda q: not q.has_program, 1.0, "the integer program would be too large", "pruning-large.csv"
    ),
    Turn(CUTS, lambda q: q.has_program and q.is_large, 0.75, "they lower a large gap most", "decision 8"),
    Turn(
        CUTS,
        lambda q: q.has_program and not q.is_large,
        0.25,
        "a solver needs some beside the pairs",
        "decision 81",
    ),
    Turn(
        CUTS,
        lambda q: q.is_timed and q.has_program and q.is_large and not (q.needs_solver or q.no_more_cuts),
        1.0,
        "they lower the bound of a large table more than a solver",
        "decision 8",
    ),
    Turn(CP_SAT, lambda q: q.has_program, 1.0, "cuts alone hardly end a proof", "decision 8"),
)
"""The engines for the weighted sum of votes, with two classes and with several."""

SEARCH_ALONE = tuple(turn for turn in VOTES if turn.engine in {RULES, SEARCH})
"""The engines that find a selection and bound none, for a choice that is repeated (decision 134)."""


@dataclass(frozen=True, kw_only=True)
class SearchEffort:
    """Steps of the search for good selections."""

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
    """Number of the rules' selections that the search starts from."""


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """Shares of the engine's time for its steps; decisions 8 and 17 have the measurements."""

    turns: tuple[Turn, ...] = VOTES
    """The engines, in order."""
    effort: SearchEffort = field(default_factory=SearchEffort)
    """Numbers of moves of the search."""
    near: int = 8
    """Number of usual rows between value and bound within which the solver may end the proof; it is then
    called early, and however large the program is.
    """
    close: int = 4
    """The same where SCIP is done so soon that neither a further search nor a full search comes before it."""
    far_cells: int = 200_000
    """Forms times classifiers up to which the solver lowers a bound further away within seconds; beyond, the
    cuts lower it more, as long as they find any.
    """
    pairs: PairSettings = field(default_factory=PairSettings)
    """Settings of the search for pair cuts."""
    node_effort: int = 5
    """Thousandths of CP-SAT's deterministic time that count as a node of SCIP."""
    cuts: CutSettings = field(default_factory=CutSettings)
    """Settings of the search for cuts."""
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
