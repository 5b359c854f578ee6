"""The paper's protocol on one table: split 50 : 25 : 25, fit, choose, and measure on new rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shortlist.arrays import Labels, Mask
from shortlist.errors import BadInputError, UnmetChoiceError
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.predict.point_choice import choose_point
from shortlist.multistage.predict.prediction import Decisions, decide_validation_rows
from shortlist.multistage.predict.stage_answers import Figures, figures
from shortlist.multistage.problem.costs import FeatureCosts
from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.multistage.question import calibration_rows
from shortlist.pickles import saved_from
from shortlist.policies import UNDECIDED
from shortlist.results.front import without_promises
from shortlist.results.intervals import Difference, difference_of
from shortlist.runs import NO_STUDY, Cancellation, Report, Study, silent
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import (
    Cases,
    RowNumbers,
    cases_of_rows,
    classes_of_cases,
    cut_classes,
    split_cases,
)

SHARES = (0.5, 0.25, 0.25)
"""Shares of the rows that fit subclassifiers, choose stage assignments, and measure them (Sec. 4.3.1)."""


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class StagedMeasure(Figures):
    """What a stage assignment does on some rows; coverage, accuracy and cost are the paper's g1, g2, g3*."""

    aggregate: float
    """g1 + g2 + (1 - g3* / ΣC), the paper's overall figure."""
    only_answer: str | None
    """The class that every answered row gets; None where there are several, or none."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return super().as_dict() | {"aggregate": self.aggregate, "only_answer": self.only_answer}


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class StagedTable:
    """A fitted classifier, and how it does on the selection rows and on the test rows.

    On the test rows, one stage without reject is measured beside it, and every point of the front, as plain
    data in its extras under ``held_out``.
    """

    classifier: MultiStageClassifier
    n_rows: dict[str, int]
    judged: StagedMeasure
    test: StagedMeasure
    single_stage: StagedMeasure
    all_at_once: Difference
    """By how much the single stage is right about more test rows; a row without an answer is not right."""
    reached: list[float]
    """Share of the test rows for which each stage buys."""


def stage_table(
    X: Any,
    y: Labels,
    classifier: MultiStageClassifier,
    *,
    seed: int = 0,
    cases: Cases | None = None,
    anyway: bool = False,
    report: Report = silent,
    cancellation: Cancellation | None = None,
    study: Study = NO_STUDY,
) -> StagedTable:
    """Split the rows 50 : 25 : 25, by class, fit and choose on the first two parts, measure on the third.

    Where the classifier validates out of fold, the first two parts together fit and validate; else the first
    fits and the second validates, as in the paper. Where something is to be promised, the calibration set is
    drawn before, from all classes together. Raises BadInputError if a class has too few rows to be in every
    part. Raises UnmetChoiceError if no point is as the classifier's `pick` and `limits` ask for, or none
    keeps the promise; the classifier has its front.

    `classifier`: unfitted; fitted afterwards. `cases`: of which case each row is, ``(n_samples,)``. All rows
    of a case are in one part, and one row of each case calibrates. `anyway`: take a point by the classifier's
    `pick` where nothing can be promised about any, too; it answers no row. `study`: where the search keeps
    what it has done, to go on from there.
    """
    y = np.asarray(y)
    n_rows: dict[str, int] = {}
    calibration = None
    if classifier.answer_accuracy is not None:
        rest, held = calibration_rows(y, classifier.calibration_share, seed, cases)
        calibration = (take_rows(X, held), y[held])
        X, y, cases = take_rows(X, rest), y[rest], cases_of_rows(cases, rest)
        n_rows["calibration"] = len(held)
    fit, held, test = split_three(y, seed=seed, cases=cases)
    validation = None
    if classifier.validates_out_of_fold(len(fit) + len(held)):
        fit = np.sort(np.concatenate([fit, held]))
    else:
        validation = (take_rows(X, held), y[held])
    X_test, y_test = take_rows(X, test), y[test]
    try:
        classifier.fit(
            take_rows(X, fit),
            y[fit],
            validation=validation,
            calibration=calibration,
            cases=cases_of_rows(cases, fit),
            report=report,
            cancellation=cancellation,
            study=study,
        )
    except UnmetChoiceError:
        _measure_front(classifier, X_test, y_test)
        if not anyway:
            raise
        whole = without_promises(classifier.front_)
        classifier.use(choose_point(whole, classifier.pick, classifier.limits))
    else:
        _measure_front(classifier, X_test, y_test)
    rows = classifier.problem_.decisions.subclassifiers.rows
    if rows.fold_of is not None:
        n_rows["folds"] = int(rows.fold_of.max()) + 1
    staged, single = classifier.decisions(X_test), _single_stage(classifier, X_test)
    return StagedTable(
        classifier,
        {"train": len(fit), "validation": len(rows.validation_labels), "test": len(test)} | n_rows,
        measure_validation_rows(classifier),
        summarize(staged, classifier.classes_, classifier.costs_, y_test),
        summarize(single, classifier.classes_, classifier.costs_, y_test),
        difference_of(
            right_rows(single, classifier.classes_, y_test), right_rows(staged, classifier.classes_, y_test)
        ),
        [float((staged.stages > stage).mean()) for stage in range(int(classifier.assignment_.max()) + 1)],
    )


def split_three(
    y: Labels, *, seed: int = 0, cases: Cases | None = None
) -> tuple[RowNumbers, RowNumbers, RowNumbers]:
    """Return row numbers of the three parts, each class split alike; no case is in two of them.

    Raises BadInputError if a class has fewer than 4 rows, or cases, or there is one class only.
    """
    labels, counts = np.unique(classes_of_cases(y, cases), return_counts=True)
    few = counts < (4 if len(labels) > 1 else len(y) + 1)
    if few.any():
        what = "rows" if cases is None else "cases"
        raise BadInputError(
            f"every part of a 50 : 25 : 25 split needs two classes, so 4 {what} of each, got "
            f"{counts[few][0]} of {labels[few].tolist()[0]!r} and {len(labels)} classes. "
            f"Add {what} or join classes."
        )
    ends = SHARES[0], SHARES[0] + SHARES[1]
    fit, held, test = split_cases(
        y,
        cases,
        lambda labels: cut_classes(
            labels, lambda n: [round(n * end) for end in ends], np.random.default_rng(seed)
        ),
    )
    return fit, held, test


def measure_on(classifier: Any, X: Any, y: Labels) -> StagedMeasure:
    """Measure a fitted classifier that buys features on some rows; labels it does not know count as wrong."""
    return summarize(classifier.decisions(X), classifier.classes_, classifier.costs_, y)


def validation_decisions(classifier: MultiStageClassifier, rule: RejectRule | None = None) -> Decisions:
    """Return what the point of a classifier that was just fitted decided about the validation rows."""
    promise = classifier.guarantee_
    promised = 0.0 if promise is None else promise.threshold
    return decide_validation_rows(
        classifier.model_, classifier.problem_.decisions, rule=rule, promised=promised
    )


def measure_validation_rows(classifier: MultiStageClassifier) -> StagedMeasure:
    """Measure what :func:`validation_decisions` returns."""
    truth = classifier.classes_[classifier.problem_.labels]
    return summarize(validation_decisions(classifier), classifier.classes_, classifier.costs_, truth)


def aggregate(coverage: float, accuracy: float, share_paid: float) -> float:
    """Return g1 + g2 + (1 - g3* / ΣC), the sum in Figure 12 of :cite:t:`Hamilton2022`.

    `coverage`, `accuracy`: share of rows that are answered, and share of the answers that are right.
    `share_paid`: mean cost of a row over the price of all features; 0 where all features are free.

    >>> aggregate(0.75, 0.5, 0.25)
    2.0
    """
    return coverage + accuracy + 1.0 - share_paid


def summarize(decisions: Decisions, classes: Labels, costs: FeatureCosts, y: Labels) -> StagedMeasure:
    """Summarise decisions as the paper's three objectives and their sum."""
    total = costs.total / costs.scale
    conclusive = decisions.labels != UNDECIDED
    right = right_rows(decisions, classes, y)
    answers = classes[np.unique(decisions.labels[conclusive])]
    found = figures(conclusive, right, decisions.costs, decisions.possible_costs)
    return StagedMeasure(
        **vars(found),
        aggregate=aggregate(found.coverage, found.accuracy, found.cost / total if total else 0.0),
        only_answer=str(answers[0]) if len(answers) == 1 else None,
    )


def right_rows(decisions: Decisions, classes: Labels, y: Labels) -> Mask:
    """Mark the rows that got the right answer."""
    marks: Mask = (decisions.labels != UNDECIDED) & (
        classes[np.maximum(decisions.labels, 0)] == np.asarray(y)
    )
    return marks


def _measure_front(classifier: MultiStageClassifier, X: Any, y: Labels) -> None:
    """Say in the classifier's front what each point does on test rows."""
    measured = [one.as_dict() for one in classifier.measure_points(X, y)]
    front = classifier.front_
    classifier.front_ = replace(front, extras={**front.extras, "held_out": measured})


def _single_stage(classifier: MultiStageClassifier, X: Any) -> Decisions:
    """Return what one stage that buys everything, and rejects nothing, decides about rows."""
    everything = np.ones(classifier.n_features_in_, dtype=bool)
    model = classifier.problem_.decisions.subclassifiers.model(everything)
    rows, _ = classifier.model_.encoding.encode_known(X)
    n = len(rows)
    total = classifier.costs_.total / classifier.costs_.scale
    labels = model.probabilities(rows).argmax(axis=1)
    return Decisions(
        labels, np.ones(n, dtype=np.int64), np.full(n, total), (total, total), np.ones(n, dtype=bool), labels
    )
