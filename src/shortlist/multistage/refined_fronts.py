"""Fronts that were found with one classifier for all subsets, measured with the subsets' own ones."""

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from shortlist.multistage.search._evaluation import nondominated_rows
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.multistage.subclassifiers.decision_bits import DecisionBits
from shortlist.multistage.subclassifiers.shared_subclassifiers import SharedSubclassifiers
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind


def refined_front(
    problem: StageProblem, assignments: NDArray[np.int8], found: Front
) -> tuple[StageProblem, Front]:
    """Fit the classifier of every subset that some assignments use, and measure these anew.

    Parameters
    ----------
    problem : StageProblem
        With :class:`SharedSubclassifiers`.
    assignments : ndarray of int8, shape (n_points, n_features)
        What was found with it.
    found : Front
        The front that they were; its method, its seconds and its limit are taken over.

    Returns
    -------
    problem : StageProblem
        The same with the subsets' own classifiers.
    front : Front
        Those assignments that no other of them dominates, the first of equals. Nothing is proved about it:
        assignments that the one classifier thought little of were not measured.
    """
    shared = problem.decisions.subclassifiers
    assert isinstance(shared, SharedSubclassifiers), "there is nothing to refine"
    # what was found has to be fitted, whatever the time
    shared.own.budget = dataclasses.replace(shared.own.budget, seconds=math.inf)
    refined = dataclasses.replace(problem, decisions=DecisionBits(shared.own, problem.decisions.rule))
    measures = refined.measures(assignments)
    _, first = np.unique(refined.vectors(measures), axis=0, return_index=True)
    first = np.sort(first)
    best = first[nondominated_rows(*refined.comparable(measures[first]))]
    proof = Proof(ProofKind.APPROXIMATE, limit=found.proof.limit)
    facts = {"n_shared_points": len(assignments)}
    front = refined.front(
        assignments[best], measures[best], proof, method=found.method, seconds=found.seconds, extras=facts
    )
    return refined, front
