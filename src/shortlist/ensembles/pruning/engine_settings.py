"""How the engine of exact pruning shares its time: every number that was chosen by measurement."""

from dataclasses import dataclass, field

from shortlist.ensembles.proofs.cuts.cut_settings import CutSettings


@dataclass(frozen=True, kw_only=True)
class SearchEffort:
    """How long the search for good selections goes on.

    Parameters
    ----------
    steps : int
        Moves of the search where nothing but a count ends it; it usually stalls before.
    patient_steps : int
        Moves of the search by plurality where the clock ends it.
    n_starts : int
        How many of the rules' selections the search by plurality starts from.
    """

    steps: int = 20_000
    patient_steps: int = 200_000
    n_starts: int = 8


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """How the engine shares its time between its steps; decisions 8 and 17 have the measurements.

    Parameters
    ----------
    search_share : float
        Part of the time limit after which the search gives way; it usually ends sooner.
    long_search_share : float
        The same where no integer program follows.
    effort : SearchEffort
        How many moves the search makes.
    turns : tuple of float
        Parts of the time limit at which the solver, cuts, the solver, cuts and the solver end where the gap
        is small; quick cuts come first.
    near : int
        How many usual rows lie between value and bound where the solver may end the proof; it is then called
        early, and however large the program is.
    far_cells : int
        Forms times classifiers up to which the solver lowers a bound further away within seconds; beyond,
        the cuts lower it more, as long as they find any.
    cuts : CutSettings
        How cuts are looked for.
    cut_rounds : int
        Rounds of cuts where no clock ends them.
    most_pairs : int
        Most conflicts that the integer program gets as rows.
    program_cells : int
        Forms times classifiers beyond which no integer program is built: solvers would need minutes to read
        it.
    walk_classifiers : int
        Most classifiers for which a walk over all selections is begun: with more it hardly ever ends.
    walk_nodes : int
        Nodes after which a walk gives up: a few seconds.
    walk_share : float
        Part of the time limit after which it gives up.
    few_selections : int
        Up to so many selections within the sizes the walk comes first and is written down as the proof:
        whoever rechecks it looks at every selection again.
    least_solve_s : float
        Seconds below which CP-SAT is not asked: it has ended the whole process under limits of milliseconds.
    """

    search_share: float = 0.1
    long_search_share: float = 0.3
    effort: SearchEffort = field(default_factory=SearchEffort)
    turns: tuple[float, float, float, float, float] = (0.1, 0.25, 0.6, 0.8, 1.0)
    near: int = 8
    far_cells: int = 200_000
    cuts: CutSettings = field(default_factory=CutSettings)
    cut_rounds: int = 60
    most_pairs: int = 200_000
    program_cells: int = 20_000_000
    walk_classifiers: int = 36
    walk_nodes: int = 8_000_000
    walk_share: float = 0.4
    few_selections: int = 2**16
    least_solve_s: float = 0.1
