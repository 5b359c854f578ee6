"""What evolution finds for a question about a product line, every product checked."""

import dataclasses
from collections.abc import Callable

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.methods.program_methods import SearchOptions
from shortlist.products.clauses import to_clauses
from shortlist.products.configuration import front_search
from shortlist.products.configuration.feasibility import some_models
from shortlist.products.configuration.front_search import checked_front, padded_costs
from shortlist.products.configuration.question import ProductQuestion
from shortlist.products.model import with_constraints
from shortlist.results.front import Front
from shortlist.runs import Budget
from shortlist_papers.product_evolution.ibea import ibea, ibed
from shortlist_papers.product_evolution.variation import Evolution
from shortlist_papers.product_methods import POPULATION, EvolutionOptions, KeptEvolutionOptions


def find_front(question: ProductQuestion, method: str, options: SearchOptions, budget: Budget) -> Front:
    """Return what a method finds for a question whose requirements contradict nothing, every product checked.

    Raises SolverError if a product does not stand the check.
    """
    if not isinstance(options, EvolutionOptions):
        return front_search.find_front(question, method, options, budget).front
    found = front_by_evolution(question, method=method, options=options, budget=budget)
    return dataclasses.replace(checked_front(question, found, method), seconds=budget.elapsed)


REPAIR_SHARE = 0.02
"""Share of the offspring that SATIBEA repairs (Henard et al. 2015), and SMTIBEA in its authors' program."""
REPAIRED = ("satibea", "smtibea")
"""Methods that repair."""


def front_by_evolution(
    question: ProductQuestion, *, method: str, options: EvolutionOptions, budget: Budget
) -> Front:
    """Return what evolution finds; limits on objectives are not applied.

    Raises BadInputError if the model or a limit needs too many clauses.
    """
    clauses = _clauses(question, method)
    costs, offsets = padded_costs(question, clauses.n_variables)
    settings = Evolution(
        n_evaluations=options.n_evaluations,
        population_size=POPULATION,
        repair=REPAIR_SHARE if method in REPAIRED else 0.0,
        improve=method == "smtibea",
    )
    seeds = None
    if options.n_starts:
        seeds = some_models(clauses, n_models=options.n_starts, seed=budget.seed, budget=budget)
    kept = {"study": options.study} if isinstance(options, KeptEvolutionOptions) else {}
    return _evolutionary_method(method)(
        clauses,
        costs,
        [goal.objective for goal in question.objectives],
        [f"variable {i}" for i in range(clauses.n_variables)],
        offsets=offsets,
        settings=settings,
        seeds=seeds,
        budget=budget,
        **kept,
    )


def _clauses(question: ProductQuestion, method: str) -> Clauses:
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
    if name == "nsga2":
        from shortlist_papers.product_evolution.nsga2 import nsga2  # pymoo may be absent

        return nsga2
    return ibed if name == "ibed" else ibea
