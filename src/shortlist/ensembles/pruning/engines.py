"""Choice of the engines for a question of pruning: their order, their time, and the measurement behind each.

The turns of a table are taken from the first to the last. An engine is called if its condition holds when its
turn comes, and gets its share of the time that is left then. So shares of later turns are never negative
after an overrun, and the search always comes before the bounds. Shares are ignored if no time limit is set,
or if a limit in nodes is set.
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
"""Name of the first bound, which is valid for every selection before any engine runs."""
NOTHING_LOWER = "no engine lowered the bound in the time"
"""Text on the bound in place of a reason, if no engine lowered it."""
CP_SAT = "CP-SAT"
SHORT_CP_SAT = "CP-SAT for a moment"


@dataclass(frozen=True, kw_only=True)
class PruningShape:
    """Size and properties of a question at the moment when an engine may be called."""

    is_few: bool
    """Whether there are so few selections within the sizes that a list of all selections is the proof."""
    is_walkable: bool
    """Whether a full search is likely to end in time."""
    has_program: bool
    """Whether the integer program is small enough to be built."""
    is_large: bool
    """Whether a solver takes long to compute a bound."""
    is_timed: bool
    """Whether a time limit ends the run."""
    by_plurality: bool
    """Whether the class with most votes wins; otherwise a threshold decides."""
    has_selection: bool
    """Whether a selection within the limits is known."""
    is_near: bool
    """Whether the difference of value and bound is a few rows."""
    is_close: bool
    """Whether the difference of value and bound is so few rows that a solver with pair cuts takes a second or
    two.
    """
    no_more_cuts: bool
    """Whether the search for cuts no longer finds any."""

    @property
    def needs_solver(self) -> bool:
        """Whether a solver may soon end the proof, or find the first selection."""
        return self.is_near or not self.has_selection


@dataclass(frozen=True)
class Turn:
    """Engine with the condition under which it is called."""

    engine: str
    fits: Callable[[PruningShape], bool]
    """Condition: whether the engine is called for a question of this shape."""
    share: float
    """Share of the time left, from 0 to 1, that the engine gets."""
    why: str
    """Reason for the turn, to follow "because"."""
    measured: str
    """Measurement that supports the turn: a file of benchmarks/results, or a decision."""


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
"""Turns for the weighted sum of votes, with two classes and with several."""

SEARCH_ALONE = tuple(turn for turn in VOTES if turn.engine in {RULES, SEARCH})
"""Turns that find a selection and prove no bound, for repeated choice (decision 134)."""


@dataclass(frozen=True, kw_only=True)
class SearchEffort:
    """Numbers of steps of the search for good selections."""

    first_steps: int = 5_000
    """Number of moves of the search before the first bound."""
    steps: int = 60_000
    """Number of moves of the search after the first bound."""
    more_steps: int = 200_000
    """Number of moves of the search with two classes before a solver only proves; five times this number if
    the gap is large and a time limit ends the run.
    """
    patient_steps: int = 200_000
    """Number of moves of the longer search by plurality, if a time limit ends it."""
    n_starts: int = 8
    """Number of selections by rules from which the search starts."""


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """Settings of the engines; decisions 8 and 17 have the measurements."""

    turns: tuple[Turn, ...] = VOTES
    """Turns of the engines, in order."""
    effort: SearchEffort = field(default_factory=SearchEffort)
    """Numbers of moves of the search."""
    near: int = 8
    """Largest difference of value and bound, in usual rows, at which the solver may end the proof. The solver
    is then called early, whatever the size of the program.
    """
    close: int = 4
    """Largest difference of value and bound, in usual rows, at which SCIP is called before any further search
    and any full search, as it then ends soon.
    """
    far_cells: int = 200_000
    """Largest product of forms and classifiers for which the solver lowers a large gap within seconds. Beyond
    it, cuts lower the bound more, as long as cuts are found.
    """
    pairs: PairSettings = field(default_factory=PairSettings)
    """Settings of the search for pair cuts."""
    node_effort: int = 5
    """Thousandths of CP-SAT's deterministic time that count as one node of SCIP."""
    cuts: CutSettings = field(default_factory=CutSettings)
    """Settings of the search for cuts."""
    cut_rounds: int = 60
    """Number of rounds of cuts if no time limit ends them."""
    most_pairs: int = 200_000
    """Largest number of conflicts that become rows of the integer program."""
    program_cells: int = 20_000_000
    """Largest product of forms and classifiers for which an integer program is built; solvers would take
    minutes to read a larger one.
    """
    short_walk_nodes: int = 1_000_000
    """Number of nodes after which the first walk ends; they take one or two tenths of a second."""
    short_nodes: int = 500
    """Thousandths of deterministic time for a call of CP-SAT between the walks; they take half a second."""
    walk_classifiers: int = 36
    """Largest number of classifiers for which a full search is started; with more it hardly ever ends."""
    walk_nodes: int = 8_000_000
    """Number of nodes after which a full search ends; they take a few seconds."""
    few_selections: int = 2**16
    """Largest number of selections within the sizes for which a full search comes first and is the proof. A
    recheck then evaluates every selection again.
    """
    least_solve_s: float = 0.1
    """Least time in seconds for a call of CP-SAT; with limits of milliseconds it has ended the whole process.
    """
