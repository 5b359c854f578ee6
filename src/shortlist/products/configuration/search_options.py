"""The methods that answer a question about a product line, and which options each of them takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from shortlist._validation import as_choice, as_count, as_options
from shortlist.methods.program_methods import (
    EXACT_METHODS,
    ProgramOptions,
    SearchOptions,
    SolRepOptions,
    check_installed,
)
from shortlist.runs import NO_STUDY, Study

EVOLUTIONARY_METHODS = ("ibea", "satibea", "smtibea", "ibed", "nsga2")
"""Methods that prove nothing."""

METHODS = ("auto", "diagram", *EXACT_METHODS, "solrep", *EVOLUTIONARY_METHODS)
"""Names of the methods."""

POPULATION = 100
"""Members of a population, as in the study of :cite:t:`Xue2018`."""


@dataclass(frozen=True)
class DiagramOptions(SearchOptions):
    """Options of ``diagram``."""

    tolerance: Annotated[
        Mapping[str, float], "By how much a missing point may be better, such as cost=5,defects=1."
    ] = field(default_factory=dict)
    """By objective, in its unit: what a missing point may be better by."""
    max_nodes: Annotated[int, "Most nodes of the diagram."] = 500_000
    max_bytes: Annotated[int, "Most bytes for the diagram's sets of points."] = 2_000_000_000
    """Budget of the diagram in nodes, and of its sets of vectors."""

    def __post_init__(self) -> None:
        super().__post_init__()
        as_count(self.max_nodes, "max_nodes", at_least=16)
        as_count(self.max_bytes, "max_bytes")


@dataclass(frozen=True)
class AutoOptions(DiagramOptions, ProgramOptions):
    """Options of ``auto``, which takes the diagram or integer programs."""


@dataclass(frozen=True)
class EvolutionOptions(SearchOptions):
    """Options of ``nsga2``."""

    n_evaluations: Annotated[
        int, "Number of configurations to try in a run; in a comparison 100000 by default."
    ] = 25_000
    """Configurations that evolution evaluates."""
    n_starts: Annotated[int, "Number of products, found by a satisfiability solver, to start with."] = 0
    """Products found by satisfiability that evolution starts with."""

    def __post_init__(self) -> None:
        super().__post_init__()
        as_count(self.n_evaluations, "n_evaluations", at_least=POPULATION)
        as_count(self.n_starts, "n_starts", at_least=0, at_most=POPULATION)


@dataclass(frozen=True)
class KeptEvolutionOptions(EvolutionOptions):
    """Options of ``ibea``, ``satibea``, ``smtibea`` and ``ibed``."""

    study: Study = NO_STUDY
    """Where the state of the last generation is kept, to go on from there."""


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

    >>> takes("solrep", "n_points"), takes("ibea", "n_points")
    (True, False)
    """
    return option in {each.name for each in fields(OPTIONS[method])}


def search_options(method: str, **given: Any) -> SearchOptions:
    """Return the options of a method; what is None or not given has its default.

    Raises BadInputError if the method is unknown, has no such option, or a value is out of range. Raises
    MissingDependencyError if the method or the solver needs a package that is not installed.

    >>> search_options("exact", seed=3, solver=None)
    ProgramOptions(seed=3, solver='highs')
    """
    as_choice(method, "method", METHODS)
    options = as_options(OPTIONS[method], given, f"`method={method!r}`")
    check_installed(method)
    return options
