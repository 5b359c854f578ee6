"""Methods that find fronts by integer programs, by name, and their options."""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Annotated, Any

from shortlist._validation import as_choice, as_options, as_seed
from shortlist._words import any_of
from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.logic.clauses import Clauses
from shortlist.methods.solrep.settings import ReferenceSettings
from shortlist.results.front import Front
from shortlist.runs import NO_STUDY, Study
from shortlist.runs.workers import Where, as_where
from shortlist.solvers import SOLVERS

EXACT_METHODS = ("exact", "cwmoip", "epsilon-constraint")
"""Names of the methods that solve integer programs until the front is complete; ``exact`` searches zones."""

_EXTRAS = {"nsga2": ("NSGA-II", "pymoo")} | {name: (one.title, one.package) for name, one in SOLVERS.items()}
"""Names and packages of methods and solvers that need an extra of the same name."""


@dataclass(frozen=True)
class SearchOptions:
    """Options of every method."""

    seed: int = 0

    def __post_init__(self) -> None:
        as_seed(self.seed)


@dataclass(frozen=True)
class ProgramOptions(SearchOptions):
    """Options of ``exact``, ``cwmoip`` and ``epsilon-constraint``.

    `study`: file with the finished programs.
    """

    solver: Annotated[str, f"Solver of integer programs: {any_of(SOLVERS)}."] = "highs"
    study: Study = field(default=NO_STUDY, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_choice(self.solver, "solver", list(SOLVERS))
        check_installed(self.solver)


@dataclass(frozen=True)
class SolRepOptions(ReferenceSettings, ProgramOptions):
    """Options of ``solrep``."""

    workers: Where = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        ProgramOptions.__post_init__(self)
        as_where(self.workers, "workers")
        if self.rule == "adaptive" and self.workers != 1:
            raise BadInputError(
                "workers", "must be 1 with rule 'adaptive'", self.workers, "Its points depend on each other."
            )


def integer_method(
    name: str, options: SearchOptions, clauses: Callable[[], Clauses | None] = lambda: None
) -> Callable[..., Front]:
    """Return the method of a name, a function of a program; ``auto`` searches zones.

    `name`: one of :data:`EXACT_METHODS`, ``solrep`` or ``auto``. `options`: options of that method.
    `clauses`: returns clauses that every solution satisfies, or None; called for ``solrep`` only.
    """
    if isinstance(options, SolRepOptions):
        from shortlist.methods.solrep.solrep import SolRepSettings, solrep

        return partial(
            solrep,
            settings=SolRepSettings(
                **{one.name: getattr(options, one.name) for one in fields(ReferenceSettings)}
            ),
            clauses=clauses(),
            study=options.study,
            workers=options.workers,
        )
    if name in {"cwmoip", "epsilon-constraint"}:
        from shortlist.methods.integer.bound_sweep import cwmoip, epsilon_constraint

        return partial(_recorded, cwmoip if name == "cwmoip" else epsilon_constraint, options)
    from shortlist.methods.integer.search_zones import search_zones

    return partial(_recorded, search_zones, options)


def _recorded(find: Callable[..., Front], options: SearchOptions, *given: Any, **named: Any) -> Front:
    """Call a method with a budget that has the study of its options."""
    study = options.study if isinstance(options, ProgramOptions) else NO_STUDY
    return find(*given, **named | {"budget": replace(named["budget"], study=study)})


def check_installed(name: str) -> None:
    """Raise an error now if loading a method or a solver would raise it later."""
    title, package = _EXTRAS.get(name, ("", ""))
    if package and importlib.util.find_spec(package) is None:
        raise MissingDependencyError(
            f"{title} needs the {package} package. Install it: pip install 'shortlist[{name}]'."
        )


METHODS: Mapping[str, type[ProgramOptions]] = {
    "auto": ProgramOptions,
    **dict.fromkeys(EXACT_METHODS, ProgramOptions),
    "solrep": SolRepOptions,
}
"""Options by method; ``auto`` is ``exact``, with engines from methods/integer/engines.py."""


def method_options(method: str, **given: Any) -> ProgramOptions:
    """Return the options of a method; missing options, and None, mean the default.

    Raises BadInputError if the method is unknown or has no such option, or a value is out of range.
    """
    as_choice(method, "method", list(METHODS))
    return as_options(METHODS[method], given, f"`method={method!r}`")
