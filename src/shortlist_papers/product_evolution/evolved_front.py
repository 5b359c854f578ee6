"""Fronts found by evolution for a question about a product line, every product checked."""

import dataclasses

from numpy.typing import ArrayLike

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
from shortlist.runs import NO_STUDY, Budget
from shortlist_papers.product_evolution.ibea import Ibea, Ibed
from shortlist_papers.product_evolution.variation import Evolution, StartRun, evolve
from shortlist_papers.product_methods import POPULATION, EvolutionOptions, KeptEvolutionOptions


def find_front(question: ProductQuestion, method: str, options: SearchOptions, budget: Budget) -> Front:
    """Return the front of a method for a question without contradiction, every product checked.

    Raises SolverError if a product fails the check.
    """
    if not isinstance(options, EvolutionOptions):
        return front_search.find_front(question, method, options, budget)[0]
    found = front_by_evolution(question, method=method, options=options, budget=budget)
    return dataclasses.replace(checked_front(question, found, method), seconds=budget.elapsed)


REPAIR_SHARE = 0.02
"""Share of the offspring that SATIBEA repairs (Henard et al. 2015), and that SMTIBEA repairs in its authors'
program.
"""
REPAIRED = ("satibea", "smtibea")
"""Names of the methods that repair."""


def front_by_evolution(
    question: ProductQuestion, *, method: str, options: EvolutionOptions, budget: Budget
) -> Front:
    """Return the front that evolution finds; limits on objectives are not applied.

    Raises BadInputError if the model or a limit needs too many clauses.
    """
    clauses, starts = _clauses(question, method), None
    if options.n_starts:
        starts = some_models(clauses, n_models=options.n_starts, seed=budget.seed, budget=budget)
    study = options.study if isinstance(options, KeptEvolutionOptions) else NO_STUDY
    settings = Evolution(n_evaluations=options.n_evaluations, population_size=POPULATION)
    budget = dataclasses.replace(budget, study=study)
    return evolved_products(question, clauses, method, settings, starts=starts, budget=budget)


def evolved_products(
    question: ProductQuestion, clauses: Clauses, method: str, settings: Evolution, *,
    starts: ArrayLike | None, budget: Budget,
) -> Front:  # fmt: skip
    """Return the final products of a method, which sets the options of repair in `settings`."""
    costs, offsets = padded_costs(question, clauses.n_variables)
    share = REPAIR_SHARE if method in REPAIRED else 0.0
    return evolve(
        _start(method), clauses, costs, [goal.objective for goal in question.objectives],
        [f"variable {i}" for i in range(clauses.n_variables)], offsets=offsets,
        settings=dataclasses.replace(settings, repair=share, improve=method == "smtibea"),
        seeds=starts, budget=budget,
    )  # fmt: skip


def _start(method: str) -> StartRun:
    if method == "nsga2":
        from shortlist_papers.product_evolution.nsga2 import Nsga2  # pymoo may be absent

        return Nsga2
    return Ibed if method == "ibed" else Ibea


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
