"""Methods that are compared on product lines: the library's methods, and evolution, which proves nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from shortlist._validation import as_choice, as_count, as_options
from shortlist.methods.program_methods import SearchOptions, check_installed
from shortlist.products.configuration import question
from shortlist.products.configuration.question import EVOLUTIONARY_METHODS
from shortlist.runs import NO_STUDY, Study

METHODS = (*(name for name in question.METHODS if name != "auto"), *EVOLUTIONARY_METHODS)
"""Names of the methods."""

POPULATION = 100
"""Number of members of a population, as in the study of :cite:t:`Xue2018`."""


@dataclass(frozen=True)
class EvolutionOptions(SearchOptions):
    """Options of ``nsga2``."""

    n_evaluations: Annotated[int, "Number of configurations to try in a run."] = 100_000
    """Number of configurations that evolution evaluates, by default that of :cite:t:`Xue2018` on larger
    models.
    """
    n_starts: Annotated[int, "Number of products, found by a satisfiability solver, to start with."] = 0
    """Number of first products from a satisfiability solver."""

    def __post_init__(self) -> None:
        super().__post_init__()
        as_count(self.n_evaluations, "n_evaluations", at_least=POPULATION)
        as_count(self.n_starts, "n_starts", at_least=0, at_most=POPULATION)


@dataclass(frozen=True)
class KeptEvolutionOptions(EvolutionOptions):
    """Options of ``ibea``, ``satibea``, ``smtibea`` and ``ibed``."""

    study: Study = NO_STUDY
    """Study that keeps the state of the last generation, from which a run continues."""


OPTIONS: Mapping[str, type[SearchOptions]] = {
    **{method: question.OPTIONS.get(method, KeptEvolutionOptions) for method in METHODS},
    "nsga2": EvolutionOptions,
}
"""Class of the options of each method."""


def method_options(method: str, **given: Any) -> SearchOptions:
    """Return the options of a method, with defaults for missing ones and None.

    Raises BadInputError if the method is unknown, has no such option, or a value is out of range. Raises
    MissingDependencyError if the method or the solver needs a package that is not installed.
    """
    as_choice(method, "method", METHODS)
    options = as_options(OPTIONS[method], given, f"`method={method!r}`")
    check_installed(method)
    return options


def takes(method: str, option: str) -> bool:
    """Return whether a method has an option."""
    return option in {each.name for each in fields(OPTIONS[method])}
