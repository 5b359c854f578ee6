"""The methods that answer a question about a product line, and which options each of them takes."""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from shortlist._validation import as_choice, as_count, as_positive_seconds, as_seed
from shortlist._words import any_of, did_you_mean
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

_PROGRAMS = ("solver", "seed")
_DIAGRAM = ("tolerance", "max_nodes", "max_bytes", "seed")
_TAKEN: Mapping[str, tuple[str, ...]] = {
    "auto": (*_DIAGRAM, *_PROGRAMS),
    "diagram": _DIAGRAM,
    **dict.fromkeys(EXACT_METHODS, _PROGRAMS),
    "solrep": (*_PROGRAMS, "n_points", "rule", "objective", "solve_limit_s", "study", "workers"),
    **dict.fromkeys(EVOLUTIONARY_METHODS, ("n_evaluations", "n_starts", "seed", "study")),
    "nsga2": ("n_evaluations", "n_starts", "seed"),
}

_EXTRAS: Mapping[str, tuple[str, str]] = {"nsga2": ("NSGA-II", "pymoo"), "scip": ("SCIP", "pyscipopt")}
"""Methods and solvers that need a package of their own; the extra that brings it has the same name."""


@dataclass(frozen=True)
class SearchOptions:
    """Options of one method or another, made by :func:`search_options`.

    Parameters
    ----------
    tolerance : mapping of str to float
        By objective, in its unit: what a missing point may be better by, with the diagram.
    max_nodes, max_bytes : int
        Budget of the diagram in nodes, and of its sets of vectors.
    solver : str
        Backend of integer programs.
    seed : int
        Seed of all randomness.
    n_points : int
        Reference points of ``solrep``; 0 for the ends of the front only.
    rule : {"hit-and-run", "adaptive"}
        Where they lie.
    objective : str or None
        The objective that the programs of ``solrep`` minimise; None: that of the widest range.
    solve_limit_s : float or None
        Limit of each program of ``solrep``; None: each is proved.
    study : Study
        Where ``solrep`` records finished programs, and ``ibea``, ``satibea``, ``smtibea`` and ``ibed`` keep
        the state of the last generation, to go on from there.
    workers : int or str
        What solves programs of ``solrep``; see :func:`shortlist.runs.workers.open_workers`.
    n_evaluations : int
        Configurations that evolution evaluates.
    n_starts : int
        Products found by satisfiability that evolution starts with.
    """

    tolerance: Mapping[str, float] = field(default_factory=dict)
    max_nodes: int = 500_000
    max_bytes: int = 2_000_000_000
    solver: str = "highs"
    seed: int = 0
    n_points: int = 1000
    rule: str = "hit-and-run"
    objective: str | None = None
    solve_limit_s: float | None = None
    study: Study = NO_STUDY
    workers: Where = 1
    n_evaluations: int = 25_000
    n_starts: int = 0


def takes(method: str, option: str) -> bool:
    """Tell whether a method uses an option.

    Examples
    --------
    >>> takes("solrep", "n_points"), takes("ibea", "n_points")
    (True, False)
    """
    return option in _TAKEN[method]


def search_options(method: str, **given: Any) -> SearchOptions:
    """Return the options of a method; what is None or not given has its default.

    Raises
    ------
    BadInputError
        If the method is unknown, an option was given that it does not use, or a value is out of range.
    MissingDependencyError
        If the method or the solver needs a package that is not installed.

    Examples
    --------
    >>> search_options("solrep", n_points=50, solver=None).solver
    'highs'
    """
    as_choice(method, "method", METHODS)
    wanted = {name: value for name, value in given.items() if value is not None}
    known = [each.name for each in fields(SearchOptions)]
    for name in wanted:
        if name not in known:
            raise BadInputError(
                "options", f"must be among {any_of(known)}", repr(name), did_you_mean(name, known)
            )
        if not takes(method, name):
            having = any_of([f"`method={other!r}`" for other in METHODS if takes(other, name)])
            raise BadInputError(name, f"belongs to {having}", f"`method={method!r}`", "Leave it out.")
    options = SearchOptions(**wanted)
    as_choice(options.solver, "solver", SOLVER_NAMES)
    as_choice(options.rule, "rule", SOLREP_RULES)
    as_seed(options.seed)
    as_count(options.n_points, "n_points", at_least=0)
    as_count(options.n_evaluations, "n_evaluations", at_least=POPULATION)
    as_count(options.n_starts, "n_starts", at_least=0, at_most=POPULATION)
    as_count(options.max_nodes, "max_nodes", at_least=16)
    as_count(options.max_bytes, "max_bytes")
    as_positive_seconds(options.solve_limit_s, "solve_limit_s")
    as_where(options.workers, "workers")
    if options.rule == "adaptive" and options.workers != 1:
        raise BadInputError(
            "workers", "must be 1 with rule 'adaptive'", options.workers, "Its points depend on each other."
        )
    for name in (method, options.solver):
        _check_installed(name)
    return options


def _check_installed(name: str) -> None:
    """Raise now what loading a method or a solver would raise later."""
    title, package = _EXTRAS.get(name, ("", ""))
    if package and importlib.util.find_spec(package) is None:
        raise MissingDependencyError(
            f"{title} needs the {package} package. Install it: pip install 'shortlist[{name}]'."
        )
