"""Fronts that were found by cheaper means, measured with what is meant.

A search may ask one classifier for all feature subsets, or look at some of the rows alone. What it finds is
then fitted and measured as it will be used.
"""

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.multistage.problem.stages import acquired
from shortlist.multistage.search._evaluation import nondominated_rows
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.multistage.subclassifiers.decision_bits import DecisionBits
from shortlist.multistage.subclassifiers.subclassifiers import StageRows, Subclassifiers, rows_in_folds
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.tables.splits import cut_classes


def sampled_rows(rows: StageRows, most: int | None, seed: int) -> StageRows:
    """Return a random part of the rows that fit and of those that judge, so many of each, by class."""
    if most is None or max(len(rows.fit_labels), len(rows.validation_labels)) <= most:
        return rows
    rng = np.random.default_rng(seed)
    if rows.fold_of is not None:
        some = _sample(rows.fit_labels, most, rng)
        given = rows.fit_rows[some], rows.fit_labels[some], rows.fold_of[some]
        return rows_in_folds(rows.encoding, *given, rows.n_classes)
    fit, judge = (_sample(labels, most, rng) for labels in (rows.fit_labels, rows.validation_labels))
    return dataclasses.replace(
        rows,
        fit_rows=rows.fit_rows[fit],
        fit_labels=rows.fit_labels[fit],
        validation_rows=rows.validation_rows[judge],
        validation_labels=rows.validation_labels[judge],
    )


def _sample(labels: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return numbers of at most so many rows, of each class its share, and one at least."""
    share = min(1.0, most / len(labels))
    taken, _ = cut_classes(labels, lambda n: [max(1, math.floor(share * n))], rng)
    return taken


def n_subsets(assignments: NDArray[np.int8]) -> int:
    """Count the feature subsets that some assignments use."""
    masks = acquired(assignments, int(assignments.max(initial=0)) + 1)
    return len(np.unique(masks.reshape(-1, masks.shape[2]), axis=0))


def refined_front(
    problem: StageProblem, own: Subclassifiers, found: Front
) -> tuple[StageProblem, Front, str]:
    """Fit the classifier of every subset that the points of a front use, and measure these anew.

    Parameters
    ----------
    problem : StageProblem
        What was searched.
    own : Subclassifiers
        What fits and judges as it is meant: on all rows, a classifier for each subset.
    found : Front
        What was found; its method, its seconds, its limit and its extras are taken over, without ``n_tied``.

    Returns
    -------
    problem : StageProblem
        The same with `own`.
    front : Front
        Those points that no other of them dominates, the first of equals. Nothing is proved about it: what
        the search thought little of was not measured. ``extras["n_searched_points"]`` counts the points that
        were found, and ``extras["largest_change"]`` says by how much each objective of one of them changed.
    changed : str
        The latter, for people.
    """
    refined = dataclasses.replace(problem, decisions=DecisionBits(own, problem.decisions.rule))
    assignments = found.decisions.astype(np.int8)
    measures = refined.measures(assignments)
    changes = np.abs(refined.values(measures) - found.values).max(axis=0)
    _, first = np.unique(refined.vectors(measures), axis=0, return_index=True)
    first = np.sort(first)
    best = first[nondominated_rows(*refined.comparable(measures[first]))]
    largest = dict(zip(refined.names, changes.tolist(), strict=True))
    # ties are of all that were found
    how = {name: fact for name, fact in found.extras.items() if name != "n_tied"}
    facts = how | {"n_searched_points": len(assignments), "largest_change": largest}
    front = refined.front(
        assignments[best], measures[best], Proof(ProofKind.APPROXIMATE, limit=found.proof.limit),
        method=found.method, seconds=found.seconds, extras=facts,
    )  # fmt: skip
    words = [f"{name} by up to {change:.2g}" for name, change in largest.items()]
    return refined, front, all_of(words)
