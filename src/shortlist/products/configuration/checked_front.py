"""Products that a method found, checked against the model as read, as a front over the features."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Points
from shortlist.errors import SolverError
from shortlist.products.configuration.front_search import Question
from shortlist.products.feature_models.evaluation import are_valid
from shortlist.products.feature_models.model import with_constraints
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind


def checked_front(question: Question, found: Front, method: str) -> Front:
    """Return the front of the products that `method` found, each checked and its points added up again.

    Judged are the rules of the model as read; neither clauses nor inequalities made from it take part.
    Products outside the soft limits are dropped: the diagram and evolution leave those to this check.

    Raises
    ------
    SolverError
        If a product breaks a rule, or its objectives are not those of its point.
    """
    model = with_constraints(question.model, question.hard_limits)
    selections: NDArray[np.uint8] = found.decisions[:, : model.n_features].astype(np.uint8)
    if not are_valid(model, selections).all() or not question.meets_requirements(selections).all():
        raise SolverError(
            f"method {method!r} found a configuration that breaks a rule of the model. "
            "Use another method or solver."
        )
    points: Points = question.points(selections)
    if not np.array_equal(points, found.points):
        raise SolverError(
            f"method {method!r} found a configuration whose objectives are not those of its point. "
            "Use another method or solver."
        )
    within = np.ones(len(found), dtype=bool)
    proof = found.proof
    if proof.kind is ProofKind.COMPLETE:
        proof = dataclasses.replace(proof, missing=(0.0,) * len(question.objectives))
    if soft := question.soft_limits:
        within = are_valid(with_constraints(model, soft), selections)
        if (
            proof.kind is ProofKind.APPROXIMATE
        ):  # what stands in for a missing point may be outside the limits
            proof = dataclasses.replace(proof, missing=None)
    return products_front(
        question, points[within], selections[within], proof, method=method, extras=dict(found.extras)
    )


def products_front(
    question: Question, points: Points, selections: NDArray[np.uint8], proof: Proof, **facts: Any
) -> Front:
    """Return a front over the features of the model."""
    kinds = [goal.objective for goal in question.objectives]
    return Front.from_points(kinds, points, selections, question.model.labels, proof, **facts)
