"""Recheck of fronts of products against the model as read."""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from shortlist._words import number_text
from shortlist.errors import BadInputError
from shortlist.methods.front_check import FrontCheck, check_claims, finder_of, other_objectives
from shortlist.products.configuration.front_search import program_of, two_linears
from shortlist.products.configuration.question import ProductQuestion
from shortlist.products.model import with_constraints
from shortlist.products.rules import are_valid
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.runs.budget import Budget

if TYPE_CHECKING:
    from numpy.typing import NDArray


def recheck_products(question: ProductQuestion, front: Front, *, budget: Budget | None = None) -> FrontCheck:
    """Check every product of a front, and the claim of the front about other products.

    Products are checked by the rules of the model as read, with the limits and requirements. Their objectives
    are recomputed in integers. Then a product is sought that no point dominates: by sums of integers first,
    then by integer programs in a solver that did not find the front. Raises BadInputError if the front is of
    another model, or of other objectives.
    """
    budget = budget or Budget()
    goals = [goal.objective for goal in question.objectives]
    if question.model.labels != front.candidates:
        raise BadInputError(
            "the front must be of this model, and its features differ. Name the model it was made from."
        )
    if [(one.name, one.sense) for one in goals] != [(one.name, one.sense) for one in front.objectives]:
        raise BadInputError("the question must have the objectives of the front, in its order.")
    failures = other_objectives(front, goals) or _wrong_products(question, front)
    if failures:
        return FrontCheck(failures, len(front), front.proof.kind, None, finder_of(front), budget.elapsed)
    program = program_of(question, two_linears(question))
    return check_claims(program, _of_two(front, len(program.objectives)), budget=budget)


def _of_two(front: Front, n: int) -> Front:
    """Add a second objective that is always 0 to a front of one objective, as methods need two."""
    if len(front.objectives) == n:
        return front
    proof = front.proof
    if proof.missing is not None:
        proof = dataclasses.replace(proof, missing=(*proof.missing, 0.0))
    ideal = front.extras.get("ideal")
    return dataclasses.replace(
        front,
        objectives=(*front.objectives, Objective("nothing")),
        values=np.column_stack([front.values, np.zeros(len(front))]),
        proof=proof,
        extras={**front.extras, "ideal": [*ideal, None]} if ideal else front.extras,
    )


def _wrong_products(question: ProductQuestion, front: Front) -> tuple[str, ...]:
    """Return sentences on products that break a rule, and on points that do not match their products."""
    selections: NDArray[np.uint8] = front.decisions.astype(np.uint8)
    if not len(front):
        return ()
    model = with_constraints(question.model, question.limits)
    strange = ~np.isin(front.decisions, (0, 1)).all(axis=1)
    broken = strange | ~are_valid(model, selections) | ~question.meets_requirements(selections)
    said = [
        f"the product of point {number} breaks a rule of the model, a limit or a requirement"
        for number in np.flatnonzero(broken).tolist()
    ]
    factors = np.array([one.objective.sign * (one.objective.scale or 1) for one in question.objectives])
    values = question.points(selections) / factors
    for number in np.flatnonzero((values != front.values).any(axis=1) & ~broken).tolist():
        told = ", ".join(
            f"{name} {number_text(value)}"
            for name, value in zip(front.names, values[number].tolist(), strict=True)
        )
        said.append(f"point {number} has other values than its product: {told}")
    return tuple(said)
