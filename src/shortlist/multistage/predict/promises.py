"""What can be promised about the answers of each point of a front, and what the front is with that."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._bits import pack
from shortlist.guarantees.tails import Demand
from shortlist.guarantees.thresholds import Trial, most_that_holds, possible_thresholds, promise_each
from shortlist.multistage.predict.stage_answers import (
    LabelledCodes,
    StageAnswers,
    answers_as_chosen,
    answers_of_model,
    count_staged,
    point_answers,
)
from shortlist.multistage.problem.stages import acquired, stage_counts
from shortlist.multistage.search._evaluation import CONCLUSIVE, measure, nondominated_rows
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind


def promised_front(
    front: Front,
    problem: StageProblem,
    models: Mapping[bytes, tuple[Any, float]],
    calibration: LabelledCodes,
    demand: Demand,
) -> tuple[Front, NDArray[np.float64]]:
    """Return a front with what can be promised about its points, all of them together.

    Every stage of a point gets the same threshold besides those of its classes: raising it lets rows go on to
    the next stage, and in the end be rejected. Which thresholds are tested in which order, the rows that
    chose say; see :func:`shortlist.guarantees.thresholds.promise_each`.

    Parameters
    ----------
    front : Front
        As it was found, without a promise.
    problem : StageProblem
        What was searched.
    models : mapping from the bytes of a feature subset to its model and least probability
    calibration : LabelledCodes
        Rows that fitted and chose nothing.
    demand : Demand

    Returns
    -------
    front : Front
        Each point with what it does on the rows that chose from its threshold on; of a point about which
        nothing can be promised, from the threshold on that most was to be expected of. A point is left out
        where another dominates it; one that is promised, where another one that is. The extras are those of
        the front given, without ``n_tied``. ``promised`` is a bool for each point, ``promises`` its
        guarantee as plain data, and ``answer_from`` the score from which on it is told.
        ``promised_instead`` is the most that could have been promised where nothing is, and
        ``without_promise`` what the points were taken from.
    coverage : ndarray of float, shape (n_points,)
        Share of the rows that chose which each point answers.
    """
    rule, encoding = problem.decisions.rule, problem.decisions.subclassifiers.rows.encoding
    assignments = front.decisions.astype(np.int8)
    chose = point_answers(assignments, lambda subset: answers_as_chosen(problem, subset))
    tested = point_answers(
        assignments,
        lambda subset: answers_of_model(models[subset.tobytes()], rule, encoding, calibration, subset),
    )
    trials = []
    for as_chosen, held in zip(chose, tested, strict=True):
        best = np.max([stage.scores for stage in as_chosen], axis=0)
        thresholds = possible_thresholds(best[best >= 0])
        trials.append(Trial(thresholds, count_staged(as_chosen, thresholds), count_staged(held, thresholds)))
    guarantees, thresholds = promise_each(trials, demand)
    promised = np.array([one.promised for one in guarantees])
    measures = measures_from(problem, assignments, chose, thresholds)
    kept = _kept(problem, measures, promised)
    instead = None if promised.any() else most_that_holds(trials, demand)
    extras = {name: fact for name, fact in front.extras.items() if name != "n_tied"}
    facts = extras | {
        "without_promise": {"n_points": len(front), "proof": str(front.proof.kind)},
        "promised_instead": None if instead is None else asdict(instead),
    }
    found = problem.front(
        assignments[kept], measures[kept], Proof(ProofKind.APPROXIMATE, limit=front.proof.limit),
        method=front.method, seconds=front.seconds, extras=facts,
    )  # fmt: skip
    place = {assignment.tobytes(): number for number, assignment in enumerate(assignments)}
    order = [place[assignment.astype(np.int8).tobytes()] for assignment in found.decisions]
    facts |= {
        "promised": promised[order].tolist(),
        "promises": [asdict(guarantees[number]) for number in order],
        "answer_from": thresholds[order].tolist(),
    }
    return replace(found, extras=facts), measures[order, CONCLUSIVE] / problem.n_rows


def measures_from(
    problem: StageProblem,
    assignments: NDArray[np.int8],
    chose: Sequence[Sequence[StageAnswers]],
    thresholds: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return :meth:`StageProblem.measures` where each point answers from its own threshold on.

    Parameters
    ----------
    problem : StageProblem
    assignments : ndarray of int8, shape (n_points, n_features)
    chose : sequence of sequences of StageAnswers
        Those of the stages of each point to the rows that chose.
    thresholds : ndarray of float, shape (n_points,)
    """
    measures = np.empty((len(assignments), problem.n_measures), dtype=np.int64)
    words = problem.decisions.subclassifiers.rows.n_words
    for number, (assignment, stages, threshold) in enumerate(
        zip(assignments, chose, thresholds.tolist(), strict=True)
    ):
        masks = acquired(assignment[None, :], int(stage_counts(assignment[None, :])[0]))
        answered = np.array([stage.scores >= threshold for stage in stages])
        right = np.array([stage.right for stage in stages])
        bits = np.stack([pack(answered, words), pack(answered & right, words)], axis=1)
        calls = problem.call_prices(masks[0], problem.decisions.slots(masks[0]))
        taken = problem.costs.taken(masks, problem.attributes)
        measure(
            np.arange(len(stages))[None, :], problem.costs.price(masks), calls[None, :], taken,
            np.ascontiguousarray(bits), problem.everyone, problem.scoring, measures[number : number + 1],
        )  # fmt: skip
    return measures


def _kept(
    problem: StageProblem, measures: NDArray[np.int64], promised: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the points that stay: being promised counts as one more objective, and the first of equals."""
    order = np.argsort(~promised, kind="stable")
    _, first = np.unique(problem.vectors(measures[order]), axis=0, return_index=True)
    kept = order[np.sort(first)]
    points, credits_, conclusive = problem.comparable(measures[kept])
    with_promise = np.column_stack([points, ~promised[kept]]).astype(np.int64)
    return np.asarray(kept[nondominated_rows(np.ascontiguousarray(with_promise), credits_, conclusive)])
