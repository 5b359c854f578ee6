"""Answers that the stages of a front's points give to rows, before the threshold of a promise is known."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._bits import pack
from shortlist.arrays import Mask
from shortlist.guarantees.cells import ANSWERED
from shortlist.guarantees.guarantee import Demand, promise_facts
from shortlist.guarantees.promise import (
    AnswerCounts,
    Trial,
    count_answers,
    most_that_holds,
    possible_thresholds,
    promise_each,
)
from shortlist.multistage.problem.costs import FeatureCosts
from shortlist.multistage.problem.reject_rules import RejectRule, confident_answers
from shortlist.multistage.problem.stages import acquired, stage_counts
from shortlist.multistage.search._evaluation import CONCLUSIVE, Taken, measure, nondominated_rows
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.multistage.subclassifiers.encoding import Encoding
from shortlist.pickles import saved_from
from shortlist.policies import Followed, Said, follow
from shortlist.results.class_shares import confusion_of
from shortlist.results.front import Front
from shortlist.results.intervals import Interval, interval_of_mean, wilson_interval
from shortlist.results.proof import Proof, ProofKind


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class Figures:
    """Counts, costs and confusion of stages on a set of rows."""

    n_rows: int
    n_answered: float
    n_right: float
    """Numbers of rows, of answered rows, and of right answers. By repeated choice the three are means over
    partitions, and may be fractions.
    """
    cost: float
    """Mean acquisition cost per row."""
    cost_interval: Interval
    """Interval of the mean cost, at 95 %; see :func:`shortlist.results.intervals.interval_of_mean`."""
    confusion: tuple[tuple[float, ...], ...]
    """Number of rows by true class and answer; see :data:`shortlist.results.class_shares.Confusion`."""

    @property
    def coverage(self) -> float:
        """Share of answered rows."""
        return self.n_answered / self.n_rows

    @property
    def coverage_interval(self) -> Interval:
        """Wilson's interval of the coverage, at 95 %."""
        return wilson_interval(self.n_answered, self.n_rows)

    @property
    def accuracy(self) -> float:
        """Share of right answers among the answered rows; 0 without any."""
        return self.n_right / self.n_answered if self.n_answered else 0.0

    @property
    def accuracy_interval(self) -> Interval | None:
        """Wilson's interval of the accuracy, at 95 %; None where no row is answered."""
        return wilson_interval(self.n_right, self.n_answered) if self.n_answered else None

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as a dictionary for JSON."""
        return {
            "n_rows": self.n_rows,
            "n_answered": self.n_answered,
            "n_right": self.n_right,
            "coverage": self.coverage,
            "coverage_interval": self.coverage_interval,
            "accuracy": self.accuracy,
            "accuracy_interval": self.accuracy_interval,
            "cost": self.cost,
            "cost_interval": self.cost_interval,
            "confusion": [list(row) for row in self.confusion],
        }


def figures(
    said: NDArray[np.int64],
    truth: NDArray[np.int64],
    costs: NDArray[np.float64],
    possible: Interval,
    *,
    n_classes: int,
    times: int = 1,
) -> Figures:
    """Return the figures of at least one row, from arrays of shape ``(times * n_rows,)``.

    `said`, `truth`: class indices. In `said`, -1 stands for no answer; in `truth`, -1 stands for an unknown
    class. `possible`: the least and the largest price of a row. `times`: how often each row is measured.
    """
    least, most = possible
    answered = said >= 0
    n_answered, n_right = int(answered.sum()), int((answered & (said == truth)).sum())
    return Figures(
        len(answered) // times,
        n_answered if times == 1 else n_answered / times,
        n_right if times == 1 else n_right / times,
        float(costs.mean()),
        interval_of_mean(costs, np.array([least]), np.array([most]), times=times),
        confusion_of(truth, said, n_classes, times=times),
    )


NOT_CONFIDENT = -1.0
"""Score of a row that a stage does not answer at any threshold."""


class LabelledCodes(NamedTuple):
    """Encoded rows and their class indices; -1 for a class that nothing was fitted on.

    `states`: state of each feature of each row, ``(n_rows, n_features)``; None: all features have values.
    """

    rows: NDArray[np.float64]
    labels: NDArray[np.int64]
    states: NDArray[np.int8] | None = None


class StageAnswers(NamedTuple):
    """Answers of one stage to a set of rows."""

    scores: NDArray[np.float64]
    """Probability of the answer, ``(n_rows,)``; :data:`NOT_CONFIDENT` where the stage is not confident, or
    lacks a value.
    """
    right: Mask
    """Whether the answer is right, ``(n_rows,)``."""
    enters: Mask
    """Mask of the rows whose features of all stages up to this stage are known, ``(n_rows,)``; other rows
    wait before the stage.
    """
    codes: NDArray[np.int64]
    """Class index of the answer, ``(n_rows,)``."""


def point_answers(
    decisions: NDArray[np.integer[Any]], ask: Callable[[Mask, bool], StageAnswers]
) -> list[list[StageAnswers]]:
    """Return the answers of the stages of each point.

    `ask` gets the features known at a stage, and whether the stage is the last stage of the point.
    """
    known: dict[tuple[bytes, bool], StageAnswers] = {}
    found = []
    for assignment in decisions:
        subsets = acquired(assignment[None, :], int(assignment.max()) + 1)[0]
        keys = [(subset.tobytes(), place == len(subsets)) for place, subset in enumerate(subsets, start=1)]
        for key, subset in zip(keys, subsets, strict=True):
            if key not in known:
                known[key] = ask(subset, key[1])
        stages = [known[key] for key in keys]
        enters = np.logical_and.accumulate([stage.enters for stage in stages])
        found.append(
            stages
            if enters.all()
            else [
                stage._replace(scores=np.where(own, stage.scores, NOT_CONFIDENT), enters=own)
                for stage, own in zip(stages, enters, strict=True)
            ]
        )
    return found


def answers_as_chosen(problem: StageProblem, subset: Mask) -> StageAnswers:
    """Return the answers that a subset's classifier gave about the selection rows in the search."""
    subclassifiers, rule = problem.decisions.subclassifiers, problem.decisions.rule
    rows = subclassifiers.rows
    there = np.asarray(~rows.encoding.gaps(rows.validation_rows)[:, subset].all(axis=1))
    return _answers(subclassifiers.validation_probabilities(subset), rows.validation_labels, rule, 0.0, there)


def answers_of_model(
    asked: tuple[Any, float], rule: RejectRule, encoding: Encoding, given: LabelledCodes, subset: Mask
) -> StageAnswers:
    """Return the answers of the fitted classifier of a subset about rows, treated as new rows.

    `asked`: the classifier, and the least probability of an answer.
    """
    (model, least), states = asked, given.states
    has_value = ~encoding.gaps(given.rows) if states is None else states == ANSWERED
    there = np.asarray(has_value[:, subset].any(axis=1))
    answers = _answers(model.probabilities(given.rows), given.labels, rule, least, there)
    if states is None:
        return answers
    enters = np.asarray(~encoding.lacking(states, np.flatnonzero(subset)).any(axis=1))
    return answers._replace(enters=enters)


def count_staged(stages: Sequence[StageAnswers], thresholds: NDArray[np.float64]) -> AnswerCounts:
    """Return the number of answered rows, and the number of right answers, at each threshold."""
    return count_answers([one.scores for one in stages], [one.right for one in stages], thresholds)


def outcomes(stages: Sequence[StageAnswers], threshold: float = 0.0) -> Followed:
    """Return the outcomes of the rows where a stage answers only with a score of at least `threshold`."""
    return follow(
        len(stages[0].scores),
        len(stages),
        lambda number, rows: Said(stages[number].codes[rows], stages[number].scores[rows] >= threshold),
        lambda number, rows: stages[number].enters[rows],
    )


def models_behind(problem: StageProblem, front: Front) -> dict[bytes, Any]:
    """Return the model of every feature set of a front, by the bytes of the set's mask."""
    models: dict[bytes, Any] = {}
    for assignment in front.decisions:
        for subset in acquired(assignment[None, :], int(assignment.max()) + 1)[0]:
            key = subset.tobytes()
            if key not in models:
                models[key] = problem.decisions.subclassifiers.model(subset)
    return models


def measured_points(
    front: Front,
    answers: Callable[[Mask, bool], StageAnswers],
    costs: FeatureCosts,
    truth: NDArray[np.int64],
    n_classes: int,
) -> tuple[Figures, ...]:
    """Return the figures of each point of a front.

    `answers`: returns the answers of a stage to the rows that are measured. `truth`: class indices of these
    rows.
    """
    assignments = front.decisions.astype(np.int8)
    asked = point_answers(assignments, answers)
    thresholds = front.extras.get("answer_from") or [0.0] * len(asked)
    found = []
    for assignment, stages, threshold in zip(assignments, asked, thresholds, strict=True):
        bought = acquired(assignment[None, :], len(stages))[0]
        prices = np.append(0, costs.price(bought)) / costs.scale
        told = outcomes(stages, threshold)
        paid = prices[told.reached]
        possible = float(paid.min(initial=prices[1])), float(prices[-1])
        found.append(figures(told.codes, truth, paid, possible, n_classes=n_classes))
    return tuple(found)


def _answers(
    probabilities: NDArray[np.float64],
    labels: NDArray[np.int64],
    rule: RejectRule,
    least: float | NDArray[np.float64],
    there: Mask,
) -> StageAnswers:
    """Return the answers of one stage; a row that has no value in any known feature is not answered."""
    codes, confident = confident_answers(probabilities, rule, least)
    scores = np.where(confident & there, probabilities.max(axis=1, initial=0.0), NOT_CONFIDENT)
    return StageAnswers(scores, np.asarray(codes == labels), np.ones(len(labels), dtype=bool), codes)


def promised_front(
    front: Front,
    problem: StageProblem,
    models: Mapping[bytes, Any],
    calibration: LabelledCodes,
    demand: Demand,
) -> tuple[Front, NDArray[np.float64]]:
    """Return a front with the promise of each point, at a confidence level for all points together.

    Every stage of a point gets the same threshold, in addition to the thresholds of the classes. A higher
    threshold sends more rows on to the next stage, and rejects more rows at the last stage. The selection
    rows decide which thresholds are tested, and in which order; see
    :func:`shortlist.guarantees.promise.promise_each`.

    `front`, which it returns: each point with its values on the selection rows at its threshold. A point
    without a promise has the most promising threshold instead. A dominated point is left out; a promised
    point is left out only if another promised point dominates it. The extras are those of the given front,
    without ``n_tied``. ``promised`` is a bool for each point, ``promises`` its guarantee as plain data, and
    ``answer_from`` its least score of an answer. ``promised_instead`` is the largest share that could have
    been promised where no promise holds. ``without_promise`` holds the points of the given front. `coverage`,
    which it returns: share of answered selection rows of each point, ``(n_points,)``.
    """
    rule, encoding = problem.decisions.rule, problem.decisions.subclassifiers.rows.encoding
    assignments = front.decisions.astype(np.int8)
    chose = point_answers(assignments, lambda subset, _: answers_as_chosen(problem, subset))
    tested = point_answers(
        assignments,
        lambda subset, _: answers_of_model(
            (models[subset.tobytes()], 0.0), rule, encoding, calibration, subset
        ),
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
    instead = None if promised.any() else most_that_holds(lambda one: promise_each(trials, one)[0], demand)
    extras = {name: fact for name, fact in front.extras.items() if name != "n_tied"}
    facts = extras | {"without_promise": {"n_points": len(front), "proof": str(front.proof.kind)}}
    found = problem.front(
        assignments[kept], measures[kept], Proof(ProofKind.APPROXIMATE, limit=front.proof.limit),
        method=front.method, seconds=front.seconds, extras=facts,
    )  # fmt: skip
    place = {assignment.tobytes(): number for number, assignment in enumerate(assignments)}
    order = [place[assignment.astype(np.int8).tobytes()] for assignment in found.decisions]
    facts |= promise_facts([guarantees[number] for number in order], instead)
    facts |= {"answer_from": thresholds[order].tolist()}
    return replace(found, extras=facts), measures[order, CONCLUSIVE] / problem.n_rows


def measures_from(
    problem: StageProblem,
    assignments: NDArray[np.int8],
    chose: Sequence[Sequence[StageAnswers]],
    thresholds: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return :meth:`StageProblem.measures`, with a least probability of an answer for each point.

    `assignments`, ``(n_points, n_features)``. `chose`: answers of the stages of each point on the selection
    rows. `thresholds`, ``(n_points,)``: the least probabilities.
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
        taken = Taken(problem.costs.taken(masks, problem.attributes), problem.of_paths)
        measure(
            np.arange(len(stages))[None, :], problem.costs.price(masks), calls[None, :], taken,
            np.ascontiguousarray(bits), problem.everyone, problem.scoring, measures[number : number + 1],
        )  # fmt: skip
    return measures


def _kept(
    problem: StageProblem, measures: NDArray[np.int64], promised: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the indices of the points that stay: a kept promise counts as one more objective.

    Of equal points the first stays.
    """
    order = np.argsort(~promised, kind="stable")
    _, first = np.unique(problem.vectors(measures[order]), axis=0, return_index=True)
    kept = order[np.sort(first)]
    points, credits_, conclusive = problem.comparable(measures[kept])
    with_promise = np.column_stack([points, ~promised[kept]]).astype(np.int64)
    return np.asarray(kept[nondominated_rows(np.ascontiguousarray(with_promise), credits_, conclusive)])
