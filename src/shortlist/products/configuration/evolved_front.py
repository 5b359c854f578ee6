"""The front of a question about a product line by evolution."""

import dataclasses
import functools
from collections.abc import Callable

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.products.configuration.feasibility import some_models
from shortlist.products.configuration.front_search import Question, padded_costs
from shortlist.products.configuration.search_options import POPULATION, SearchOptions
from shortlist.products.encodings.clauses import to_clauses
from shortlist.products.feature_models.model import with_constraints
from shortlist.results.front import Front
from shortlist.runs import Cancellation, Report
from shortlist.runs.cancellation import Until

REPAIR_SHARE = 0.02
"""Share of the offspring that SATIBEA repairs (Henard et al. 2015)."""


def front_by_evolution(
    question: Question,
    *,
    method: str,
    options: SearchOptions,
    time_limit_s: float | None,
    report: Report,
    cancellation: Cancellation | None,
) -> Front:
    """Return what evolution finds; limits on objectives are not applied.

    Raises
    ------
    BadInputError
        If the model or a limit needs too many clauses.
    """
    from shortlist.methods.evolution.variation import Evolution

    clauses = _clauses(question, method)
    costs, offsets = padded_costs(question, clauses.n_variables)
    until = Until(time_limit_s, cancellation)
    front = _evolutionary_method(method)(
        clauses,
        costs,
        [goal.objective for goal in question.objectives],
        [f"variable {i}" for i in range(clauses.n_variables)],
        offsets=offsets,
        settings=Evolution(n_evaluations=options.n_evaluations, population_size=POPULATION),
        seeds=some_models(clauses, n_models=options.n_starts, seed=options.seed)
        if options.n_starts
        else None,
        seed=options.seed,
        report=report,
        cancellation=until,
    )
    if not until.passed:
        return front
    proof = dataclasses.replace(front.proof, limit=f"{time_limit_s:g} s")
    return dataclasses.replace(front, proof=proof)


def _clauses(question: Question, method: str) -> Clauses:
    """Return the clauses of the model, the limits that are not on objectives, and the requirements."""
    limits = question.hard_limits
    try:
        clauses = to_clauses(with_constraints(question.model, limits))
    except BadInputError:
        what = f"limit {limits[0].name.removeprefix('limit ')!r}" if limits else "a linear constraint"
        raise BadInputError(
            f"method {method!r} needs clauses, but {what} needs too many. Take 'solrep' or 'exact'."
        ) from None
    return clauses.with_units(question.requirements.literals)


def _evolutionary_method(name: str) -> Callable[..., Front]:
    """Return the method called `name`."""
    if name == "nsga2":
        from shortlist.methods.evolution.nsga2 import nsga2

        return nsga2
    if name == "ibed":
        from shortlist.methods.evolution.ibed import ibed

        return ibed
    from shortlist.methods.evolution.ibea import ibea

    return functools.partial(ibea, repair=REPAIR_SHARE) if name == "satibea" else ibea
