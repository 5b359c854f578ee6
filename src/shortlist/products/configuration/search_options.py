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
)
from shortlist.papers import refuse_opponent

METHODS = ("auto", "diagram", *EXACT_METHODS, "solrep")
"""Names of the methods."""

EVOLUTIONARY_METHODS = ("ibea", "satibea", "smtibea", "ibed", "nsga2")
"""Opponents, which only a comparison asks."""


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


OPTIONS: Mapping[str, type[SearchOptions]] = {
    "auto": AutoOptions,
    "diagram": DiagramOptions,
    **dict.fromkeys(EXACT_METHODS, ProgramOptions),
    "solrep": SolRepOptions,
}
"""The options of each method."""


def takes(method: str, option: str) -> bool:
    """Tell whether a method uses an option.

    >>> takes("solrep", "n_points"), takes("exact", "n_points")
    (True, False)
    """
    return option in {each.name for each in fields(OPTIONS[method])}


def search_options(method: str, **given: Any) -> SearchOptions:
    """Return the options of a method; what is None or not given has its default.

    Raises BadInputError if the method is unknown, has no such option, or a value is out of range. Raises
    MissingDependencyError if the solver needs a package that is not installed.

    >>> search_options("exact", seed=3, solver=None)
    ProgramOptions(seed=3, solver='highs')
    """
    refuse_opponent(method, "method", EVOLUTIONARY_METHODS)
    as_choice(method, "method", METHODS)
    return as_options(OPTIONS[method], given, f"`method={method!r}`")
