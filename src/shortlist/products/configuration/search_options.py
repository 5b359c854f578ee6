"""The methods that answer a question about a product line, and which options each of them takes."""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from shortlist._validation import as_choice, as_count, as_options, as_positive_seconds, as_seed
from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.runs import NO_STUDY, Study
from shortlist.runs.workers import Where, as_where

EXACT_METHODS = ("exact", "cwmoip", "epsilon-constraint")
"""Integer programs until nothing is left; ``exact`` is the search of zones."""

EVOLUTIONARY_METHODS = ("ibea", "satibea", "smtibea", "ibed", "nsga2")
"""Methods that prove nothing."""

METHODS = ("auto", "diagram", *EXACT_METHODS, "solrep", *EVOLUTIONARY_METHODS)
"""Names of the methods."""

SOLVER_NAMES = ("highs", "cpsat", "scip")
"""The solvers, named here so that a question answered by the diagram loads none."""

SOLREP_RULES = ("hit-and-run", "adaptive")
"""Where reference points lie, named here so that a wrong name is told before anything is loaded."""

POPULATION = 100
"""Members of a population, as in the study of :cite:t:`Xue2018`."""

_EXTRAS: Mapping[str, tuple[str, str]] = {"nsga2": ("NSGA-II", "pymoo"), "scip": ("SCIP", "pyscipopt")}
"""Methods and solvers that need a package of their own; the extra that brings it has the same name."""


@dataclass(frozen=True)
class SearchOptions:
    """What every method has.

    Parameters
    ----------
    seed : int
        Seed of all randomness.
    """

    seed: int = 0

    def __post_init__(self) -> None:
        as_seed(self.seed)


@dataclass(frozen=True)
class ProgramOptions(SearchOptions):
    """Options of ``exact``, ``cwmoip`` and ``epsilon-constraint``.

    Parameters
    ----------
    solver : str
        Backend of integer programs.
    """

    solver: Annotated[str, "Solver of integer programs: highs, cpsat or scip."] = "highs"

    def __post_init__(self) -> None:
        super().__post_init__()
        as_choice(self.solver, "solver", SOLVER_NAMES)
        _check_installed(self.solver)


@dataclass(frozen=True)
class DiagramOptions(SearchOptions):
    """Options of ``diagram``.

    Parameters
    ----------
    tolerance : mapping of str to float
        By objective, in its unit: what a missing point may be better by.
    max_nodes, max_bytes : int
        Budget of the diagram in nodes, and of its sets of vectors.
    """

    tolerance: Annotated[
        Mapping[str, float], "By how much a missing point may be better, such as cost=5,defects=1."
    ] = field(default_factory=dict)
    max_nodes: Annotated[int, "Most nodes of the diagram."] = 500_000
    max_bytes: Annotated[int, "Most bytes for the diagram's sets of points."] = 2_000_000_000

    def __post_init__(self) -> None:
        super().__post_init__()
        as_count(self.max_nodes, "max_nodes", at_least=16)
        as_count(self.max_bytes, "max_bytes")


@dataclass(frozen=True)
class AutoOptions(DiagramOptions, ProgramOptions):
    """Options of ``auto``, which takes the diagram or integer programs."""


@dataclass(frozen=True)
class SolRepOptions(ProgramOptions):
    """Options of ``solrep``.

    Parameters
    ----------
    n_points : int
        Reference points; 0 for the ends of the front only.
    rule : {"hit-and-run", "adaptive"}
        Where they lie.
    objective : str or None
        The objective that the programs minimise; None: that of the widest range.
    solve_limit_s : float or None
        Limit of each program; None: each is proved.
    study : Study
        Where finished programs are recorded.
    workers : int or str
        What solves programs; see :func:`shortlist.runs.workers.open_workers`.
    """

    n_points: Annotated[int, "Number of reference points; 0 for the ends of the front only."] = 1000
    rule: Annotated[str, "Where the reference points lie: hit-and-run or adaptive."] = "hit-and-run"
    objective: Annotated[str | None, "Objective that each program minimises; default the widest."] = None
    solve_limit_s: Annotated[float | None, "Time limit of each program, in seconds; default none."] = None
    study: Study = NO_STUDY
    workers: Where = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        as_choice(self.rule, "rule", SOLREP_RULES)
        as_count(self.n_points, "n_points", at_least=0)
        as_positive_seconds(self.solve_limit_s, "solve_limit_s")
        as_where(self.workers, "workers")
        if self.rule == "adaptive" and self.workers != 1:
            raise BadInputError(
                "workers", "must be 1 with rule 'adaptive'", self.workers, "Its points depend on each other."
            )


@dataclass(frozen=True)
class EvolutionOptions(SearchOptions):
    """Options of ``nsga2``.

    Parameters
    ----------
    n_evaluations : int
        Configurations that evolution evaluates.
    n_starts : int
        Products found by satisfiability that evolution starts with.
    """

    n_evaluations: Annotated[int, "Configurations to try in a run; 100000 in a comparison."] = 25_000
    n_starts: Annotated[int, "Products found by satisfiability to start with."] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        as_count(self.n_evaluations, "n_evaluations", at_least=POPULATION)
        as_count(self.n_starts, "n_starts", at_least=0, at_most=POPULATION)


@dataclass(frozen=True)
class KeptEvolutionOptions(EvolutionOptions):
    """Options of ``ibea``, ``satibea``, ``smtibea`` and ``ibed``.

    Parameters
    ----------
    study : Study
        Where the state of the last generation is kept, to go on from there.
    """

    study: Study = NO_STUDY


OPTIONS: Mapping[str, type[SearchOptions]] = {
    "auto": AutoOptions,
    "diagram": DiagramOptions,
    **dict.fromkeys(EXACT_METHODS, ProgramOptions),
    "solrep": SolRepOptions,
    **dict.fromkeys(EVOLUTIONARY_METHODS, KeptEvolutionOptions),
    "nsga2": EvolutionOptions,
}
"""The options of each method."""


def takes(method: str, option: str) -> bool:
    """Tell whether a method uses an option.

    Examples
    --------
    >>> takes("solrep", "n_points"), takes("ibea", "n_points")
    (True, False)
    """
    return option in {each.name for each in fields(OPTIONS[method])}


def search_options(method: str, **given: Any) -> SearchOptions:
    """Return the options of a method; what is None or not given has its default.

    Raises
    ------
    BadInputError
        If the method is unknown, has no such option, or a value is out of range.
    MissingDependencyError
        If the method or the solver needs a package that is not installed.

    Examples
    --------
    >>> search_options("exact", seed=3, solver=None)
    ProgramOptions(seed=3, solver='highs')
    """
    as_choice(method, "method", METHODS)
    options = as_options(OPTIONS[method], given, f"`method={method!r}`")
    _check_installed(method)
    return options


def _check_installed(name: str) -> None:
    """Raise now what loading a method or a solver would raise later."""
    title, package = _EXTRAS.get(name, ("", ""))
    if package and importlib.util.find_spec(package) is None:
        raise MissingDependencyError(
            f"{title} needs the {package} package. Install it: pip install 'shortlist[{name}]'."
        )
