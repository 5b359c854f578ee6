"""Stages on one table: fit, choose a point, and measure it by repeated choice or on held-out rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.arrays import Labels, Mask
from shortlist.errors import BadInputError, UnmetChoiceError
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.predict.point_choice import choose_point
from shortlist.multistage.predict.prediction import Decisions, decide_validation_rows
from shortlist.multistage.predict.stage_answers import Figures, figures
from shortlist.multistage.problem.costs import FeatureCosts
from shortlist.multistage.problem.reject_rules import RejectRule, answers_by
from shortlist.multistage.question import calibration_rows
from shortlist.multistage.repeated_stages import repeat_stages
from shortlist.multistage.search.stage_objectives import OF_PATHS
from shortlist.pickles import saved_from
from shortlist.policies import UNDECIDED
from shortlist.results.class_shares import Confusion, class_shares, cost_of_errors, shown_positive
from shortlist.results.front import without_promises
from shortlist.results.intervals import MARGIN, Difference, difference_of, difference_of_losses
from shortlist.results.measured_again import (
    ACCURACY,
    ANSWERED,
    ERROR_COST,
    PRICE,
    RIGHT_OF_ANSWERS,
    Figure,
    share,
)
from shortlist.results.measuring import PAPER, Measuring, TableRows
from shortlist.results.repeated_choice import N_PARTS
from shortlist.results.verdicts import RuleVerdict, Word, decide, sentence
from shortlist.runs import Budget
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import (
    PAPER_STAGE_SHARES,
    Cases,
    RowNumbers,
    cases_of_rows,
    classes_of_cases,
    cut_classes,
    split_cases,
)

REPEATED = "repeated"
"""Name of a front's fact: the figures of repeated choice, with the number of the point that predicts."""

REACHED = "reached"
"""Name of a front's fact: for each stage of the point that predicts, the share of rows that buy it."""

TESTED_APART = "tested_apart"
"""Name of a front's fact: whether the front was measured on rows of another table."""


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class StagedMeasure(Figures):
    """Measures of stages on a set of rows; coverage, accuracy and cost are the paper's g1, g2, g3*."""

    aggregate: float
    """g1 + g2 + (1 - g3* / ΣC), the paper's overall figure."""
    only_answer: str | None
    """Class of every answered row; None where the answers have several classes or there are none, and by
    repeated choice.
    """

    def as_dict(self) -> dict[str, Any]:
        """Return the measures as a dictionary for JSON."""
        return super().as_dict() | {"aggregate": self.aggregate, "only_answer": self.only_answer}


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class StagedTable:
    """Fitted classifier with its measures on the selection rows and on the rows that measure.

    A single stage that buys everything and rejects nothing is measured on the same rows. With test rows every
    point of the front is measured too; the front's extras hold the figures as plain data under ``held_out``.
    """

    classifier: MultiStageClassifier
    n_rows: dict[str, int]
    judged: StagedMeasure
    test: StagedMeasure
    single_stage: StagedMeasure
    difference: Difference
    """Difference in right answers per row, the stages minus the single stage. A row that the stages do not
    answer counts for neither side.
    """
    verdict: RuleVerdict
    sentence: str
    """Sentence that recommends the stages or one stage with all features, and the reason."""
    reached: list[float]
    """Share of the rows that buy each stage."""


class _Measured(NamedTuple):
    """Figures of the stages and of a single stage on the rows that measure."""

    test: StagedMeasure
    single: StagedMeasure
    difference: Difference
    stages: NDArray[np.int64]
    """Number of stages that each row buys, ``(n_rows,)``."""


NAMES = ("these stages", "all features at once")
"""Names in sentences: the stages, and the single stage that buys everything."""


def stage_table(
    X: Any,
    y: Labels,
    classifier: MultiStageClassifier,
    *,
    seed: int = 0,
    cases: Cases | None = None,
    measuring: Measuring | None = None,
    anyway: bool = False,
    budget: Budget | None = None,
) -> StagedTable:
    """Fit a classifier on a table, and measure it beside buying everything at once.

    Where the classifier validates out of fold and promises nothing, all rows fit, choose, and measure by
    repeated choice: see :func:`shortlist.multistage.repeated_stages.repeat_stages`. Else the rows are split
    50 : 25 : 25 by class, and the third part measures. As in the paper, the first part fits and the second
    part validates; out of fold, the first two parts together fit and validate. For a promise the calibration
    set is drawn before the split, from all classes together. Test rows replace both measurements, and no part
    is held out. Raises BadInputError if a class has too few rows to be in every part. Raises UnmetChoiceError
    if no point meets the classifier's `pick` and `limits`, or no point keeps the promise; the classifier has
    its front then.

    `classifier`: unfitted; fitted afterwards. `cases`: case of each row, ``(n_samples,)``. All rows of a case
    are in one part, and one row of each case calibrates. `measuring`: test rows, and the margin in right
    answers; by the paper's protocol a part is always held out. `anyway`: take a point by the classifier's
    `pick` even where no point keeps a promise; the point then answers no row. `budget`: receives progress,
    stops the search, and keeps its state.
    """
    y = np.asarray(y)
    n_rows: dict[str, int] = {}
    how, work = measuring or Measuring(), budget or Budget()
    test, calibration = how.test, None
    repeats = classifier.answer_accuracy is None and classifier.validates_out_of_fold(len(y))
    if classifier.answer_accuracy is not None:
        rest, held = calibration_rows(y, classifier.calibration_share, seed, cases)
        calibration = (take_rows(X, held), y[held])
        X, y, cases = take_rows(X, rest), y[rest], cases_of_rows(cases, rest)
        n_rows["calibration"] = len(held)
    validation = None
    if test is None and (how.protocol == PAPER or not repeats):
        fit, held, tested = split_three(y, seed=seed, cases=cases)
        test = TableRows(take_rows(X, tested), y[tested])
        if classifier.validates_out_of_fold(len(fit) + len(held)):
            fit = np.sort(np.concatenate([fit, held]))
        else:
            validation = (take_rows(X, held), y[held])
        X, y, cases = take_rows(X, fit), y[fit], cases_of_rows(cases, fit)
    try:
        classifier.fit(
            X, y, validation=validation, calibration=calibration, cases=cases, report=work.report,
            cancellation=work.cancellation, study=work.study,
        )  # fmt: skip
    except UnmetChoiceError:
        _measure_front(classifier, test, apart=how.test is not None)
        if not anyway:
            raise
        whole = without_promises(classifier.front_)
        classifier.use(choose_point(whole, classifier.pick, classifier.limits))
    else:
        _measure_front(classifier, test, apart=how.test is not None)
    rows = classifier.problem_.decisions.subclassifiers.rows
    if rows.fold_of is not None:
        n_rows["folds"] = int(rows.fold_of.max()) + 1
    if test is None:
        n_rows["parts"] = N_PARTS
        measured = _repeated(classifier, seed, cases)
        _tell(classifier, REPEATED, measured.test.as_dict())
    else:
        measured = _on_test_rows(classifier, *test)
    n_stages = int(classifier.assignment_.max()) + 1
    reached = [float((measured.stages > stage).mean()) for stage in range(n_stages)]
    _tell(classifier, REACHED, {"shares": reached})
    n_fit = len(rows.fit_labels) if rows.fold_of is not None or validation is not None else len(y)
    verdict, told = _verdict(classifier, measured, how.margin)
    return StagedTable(
        classifier,
        {"train": n_fit, "validation": len(rows.validation_labels), "test": measured.test.n_rows} | n_rows,
        measure_validation_rows(classifier),
        measured.test,
        measured.single,
        measured.difference,
        verdict,
        told,
        reached,
    )


def _tell(classifier: MultiStageClassifier, name: str, facts: dict[str, Any]) -> None:
    """Record measured facts of the point that predicts in the classifier's front, under `name`."""
    told = {name: {"point": classifier.point_} | facts}
    classifier.front_ = replace(classifier.front_, extras={**classifier.front_.extras, **told})


def fact_of_point(classifier: MultiStageClassifier, name: str) -> dict[str, Any] | None:
    """Return a fact of the point that predicts; None without it, or if another point was chosen since."""
    told = classifier.front_.extras.get(name)
    return None if told is None or told["point"] != classifier.point_ else dict(told)


def _verdict(classifier: MultiStageClassifier, measured: _Measured, margin: float) -> tuple[RuleVerdict, str]:
    """Return the verdict between the stages and buying everything at once, and its sentence."""
    if broken := _limits_broken(classifier):
        told = f"Use these stages: all features at once do not keep the limit on {all_of(broken)}."
        return RuleVerdict(Word.UNRIVALLED, takes_first=True), told
    costs, errors = (measured.test.cost, measured.single.cost), classifier.errors_
    if errors is None:
        verdict = decide(measured.difference, spent=costs, priced=True, margin=margin)
        return verdict, _sentence(verdict, measured, margin)
    margin *= min(errors.losses) / errors.scale  # a point of right answers is worth the cheapest error
    verdict = decide(measured.difference, spent=costs, priced=True, margin=margin)
    return verdict, _sentence_of_costs(verdict, measured, margin)


def _limits_broken(classifier: MultiStageClassifier) -> list[str]:
    """Return the names of the limits on every row that buying everything at once exceeds."""
    costs, limits = classifier.costs_, classifier.limits or ()
    most = {one.name: int(one.values.max(initial=0)) / one.scale for one in costs.attributes}
    most["acquisition_cost"] = costs.total / costs.scale
    if isinstance(limits, Mapping):
        kept = {name: most.get(name.removeprefix(OF_PATHS), 0.0) <= value for name, value in limits.items()}
    else:
        kept = {
            one.name: bool(one.met_by(np.array([most.get(one.name.removeprefix(OF_PATHS), 0.0)]), None).all())
            for one in limits
        }
    return [name for name, is_kept in kept.items() if name.startswith(OF_PATHS) and not is_kept]


def _sentence(verdict: RuleVerdict, measured: _Measured, margin: float) -> str:
    """Return the sentence that recommends the stages or buying everything at once, with the reason."""
    costs, difference = (measured.test.cost, measured.single.cost), measured.difference
    shown = difference if verdict.takes_first else difference.turned()
    use, other = costs if verdict.takes_first else costs[::-1]
    n_more = difference.n_more
    told = sentence(
        verdict, NAMES, shown.in_points("right answers"),
        margin="a point" if margin == MARGIN else f"{100 * margin:g} points",
        costs=f", which cost {other:.4g} in place of {use:.4g}" if other < use else "",
        more="" if n_more is None else f"; about {n_more:,} more rows would decide",
    )  # fmt: skip
    share = 100 * measured.test.coverage
    return told if share == 100 else f"{told[:-1]}; on the {share:.3g} % of rows that the stages answer."


def _sentence_of_costs(verdict: RuleVerdict, measured: _Measured, margin: float) -> str:
    """Return the sentence that recommends the stages or buying everything at once, by the costs of errors."""
    costs, difference = (measured.test.cost, measured.single.cost), measured.difference
    shown = difference.turned() if verdict.takes_first else difference  # of costs, of which less is better
    use, other = costs if verdict.takes_first else costs[::-1]
    n_more = difference.n_more
    return sentence(
        verdict, NAMES, shown.in_words("in the cost of errors a row"),
        margin=f"{margin:g} in the cost of errors",
        costs=f", which cost {other:.4g} in place of {use:.4g}" if other < use else "",
        more="" if n_more is None else f"; about {n_more:,} more rows would decide",
    )  # fmt: skip


def _on_test_rows(classifier: MultiStageClassifier, X: Any, y: Labels) -> _Measured:
    staged, single = classifier.decisions(X), _single_stage(classifier, X)
    classes, costs = classifier.classes_, classifier.costs_
    truth, answered = _codes(classes, y), staged.labels != UNDECIDED
    return _Measured(
        summarize(staged, classes, costs, y),
        summarize(single, classes, costs, y),
        _difference(classifier, (staged.labels, single.labels), truth)
        if classifier.errors_ is not None
        else difference_of(right_rows(staged, classes, y), right_rows(single, classes, y) & answered),
        staged.stages,
    )


def _codes(classes: Labels, y: Labels) -> NDArray[np.int64]:
    """Return the class index of each label, -1 for an unknown class."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([places.get(label, -1) for label in np.asarray(y).tolist()], dtype=np.int64)


def _difference(
    classifier: MultiStageClassifier,
    said: tuple[NDArray[np.int64], NDArray[np.int64]],
    truth: NDArray[np.int64],
    *,
    times: int = 1,
) -> Difference:
    """Return the difference in the cost of errors per row between two lists of answers.

    `said`: both lists, as class indices.
    """
    errors = classifier.errors_
    assert errors is not None
    first, second = (errors.of_rows(one, truth) for one in said)
    return difference_of_losses(first, second, float(errors.table.max()), times=times)


def _repeated(classifier: MultiStageClassifier, seed: int, cases: Cases | None) -> _Measured:
    found, costs, n_classes = (
        repeat_stages(classifier, seed, cases=cases),
        classifier.costs_,
        len(classifier.classes_),
    )
    times, total, truth = found.times, costs.total / costs.scale, found.truth
    paid = np.full(len(truth), total)
    staged = figures(found.said, truth, found.costs, found.possible, n_classes=n_classes, times=times)
    single = figures(found.all_said, truth, paid, (total, total), n_classes=n_classes, times=times)
    answered = found.said != UNDECIDED
    return _Measured(
        _staged_measure(staged, total, None),
        _staged_measure(single, total, None),
        _difference(classifier, (found.said, found.all_said), truth, times=times)
        if classifier.errors_ is not None
        else difference_of(found.said == truth, (found.all_said == truth) & answered, times=times),
        validation_decisions(classifier).stages,
    )


def split_three(
    y: Labels, *, seed: int = 0, cases: Cases | None = None
) -> tuple[RowNumbers, RowNumbers, RowNumbers]:
    """Return the row numbers of three parts, each class split in the same shares and each case in one part.

    Raises BadInputError if there is only one class, or a class has fewer than 4 rows (with cases, fewer than
    4 cases).
    """
    labels, counts = np.unique(classes_of_cases(y, cases), return_counts=True)
    few = counts < (4 if len(labels) > 1 else len(y) + 1)
    if few.any():
        what = "rows" if cases is None else "cases"
        parts = " : ".join(f"{100 * share:g}" for share in PAPER_STAGE_SHARES)
        raise BadInputError(
            f"every part of a {parts} split needs two classes, so 4 {what} of each, got "
            f"{counts[few][0]} of {labels[few].tolist()[0]!r} and {len(labels)} classes. "
            f"Add {what} or join classes."
        )
    ends = np.cumsum(PAPER_STAGE_SHARES[:-1]).tolist()
    fit, held, test = split_cases(
        y,
        cases,
        lambda labels: cut_classes(
            labels, lambda n: [round(n * end) for end in ends], np.random.default_rng(seed)
        ),
    )
    return fit, held, test


def measure_on(classifier: Any, X: Any, y: Labels) -> StagedMeasure:
    """Return the measures of a fitted classifier on the given rows.

    A label in `y` that the classifier does not know makes the answer wrong.
    """
    return summarize(classifier.decisions(X), classifier.classes_, classifier.costs_, y)


def validation_decisions(classifier: MultiStageClassifier, rule: RejectRule | None = None) -> Decisions:
    """Return the decisions about the validation rows at the chosen point of a classifier just fitted."""
    promise = classifier.guarantee_
    promised = 0.0 if promise is None else promise.threshold
    return decide_validation_rows(
        classifier.model_, classifier.problem_.decisions, rule=rule, promised=promised
    )


def measure_validation_rows(classifier: MultiStageClassifier) -> StagedMeasure:
    """Return the measures of the decisions of :func:`validation_decisions`."""
    truth = classifier.classes_[classifier.problem_.labels]
    return summarize(validation_decisions(classifier), classifier.classes_, classifier.costs_, truth)


def point_figures(classifier: MultiStageClassifier) -> dict[str, Any] | None:
    """Return the figures of the point that predicts, as :meth:`Figures.as_dict` does.

    The figures come from the test rows, or from repeated choice. None without test rows and repeated choice,
    and where the point answers no row. Figures of repeated choice are also None if another point was chosen
    since.
    """
    front, promise = classifier.front_, classifier.guarantee_
    if promise is not None and not promise.promised:
        return None
    if (held := front.extras.get("held_out")) is not None:
        return dict(held[classifier.point_])
    return fact_of_point(classifier, REPEATED)


def shown_class(classifier: MultiStageClassifier, confusion: Confusion) -> int | None:
    """Return the index of the class whose recall is shown.

    See :func:`shortlist.results.class_shares.shown_positive`.
    """
    labels = classifier.classes_.tolist()
    return shown_positive(
        confusion, labels.index(classifier.positive) if classifier.positive in labels else None
    )


def reported_figures(classifier: MultiStageClassifier) -> dict[str, Figure]:
    """Return the reported figures of the point that predicts, by name; empty where none were measured."""
    told = point_figures(classifier)
    if told is None:
        return {}
    found = {
        ACCURACY: share(told["n_right"], told["n_rows"]),
        ANSWERED: share(told["n_answered"], told["n_rows"]),
        RIGHT_OF_ANSWERS: share(told["n_right"], told["n_answered"]),
        PRICE: (told["cost"], *told["cost_interval"]),
    }
    labels = classifier.classes_.tolist()
    if classifier.errors_ is not None:
        found[ERROR_COST] = cost_of_errors(told["confusion"], classifier.errors_.table)
    return found | {f"recall of {one.label}": one.right for one in class_shares(told["confusion"], labels)}


def aggregate(coverage: float, accuracy: float, share_paid: float) -> float:
    """Return g1 + g2 + (1 - g3* / ΣC), the sum in Figure 12 of :cite:t:`Hamilton2022`.

    `coverage`: share of answered rows. `accuracy`: share of right answers among the answered rows.
    `share_paid`: mean cost of a row over the price of all features; 0 where all features are free.

    >>> aggregate(0.75, 0.5, 0.25)
    2.0
    """
    return coverage + accuracy + 1.0 - share_paid


def summarize(decisions: Decisions, classes: Labels, costs: FeatureCosts, y: Labels) -> StagedMeasure:
    """Return the measures of decisions: the paper's three objectives and their sum."""
    answers = classes[np.unique(decisions.labels[decisions.labels != UNDECIDED])]
    truth = _codes(classes, y)
    return _staged_measure(
        figures(decisions.labels, truth, decisions.costs, decisions.possible_costs, n_classes=len(classes)),
        costs.total / costs.scale,
        str(answers[0]) if len(answers) == 1 else None,
    )


def _staged_measure(found: Figures, total: float, only_answer: str | None) -> StagedMeasure:
    """Add the paper's sum of objectives to figures; `total` is the price of all features."""
    share_paid = found.cost / total if total else 0.0
    overall = aggregate(found.coverage, found.accuracy, share_paid)
    return StagedMeasure(**vars(found), aggregate=overall, only_answer=only_answer)


def right_rows(decisions: Decisions, classes: Labels, y: Labels) -> Mask:
    """Return a mask of the rows with the right answer."""
    marks: Mask = (decisions.labels != UNDECIDED) & (
        classes[np.maximum(decisions.labels, 0)] == np.asarray(y)
    )
    return marks


def _measure_front(classifier: MultiStageClassifier, test: TableRows | None, *, apart: bool) -> None:
    """Record the figures of each point on the test rows, if any, in the classifier's front.

    `apart`: whether the test rows come from a file of their own.
    """
    if test is None:
        return
    measured = [one.as_dict() for one in classifier.measure_points(*test)]
    front = classifier.front_
    facts = {"held_out": measured} | ({TESTED_APART: True} if apart else {})
    classifier.front_ = replace(front, extras={**front.extras, **facts})


def _single_stage(classifier: MultiStageClassifier, X: Any) -> Decisions:
    """Return the decisions about rows by a single stage that buys everything and rejects nothing."""
    everything = np.ones(classifier.n_features_in_, dtype=bool)
    model = classifier.problem_.decisions.subclassifiers.model(everything)
    rows, _ = classifier.model_.encoding.encode_known(X)
    n = len(rows)
    total = classifier.costs_.total / classifier.costs_.scale
    labels = answers_by(model.probabilities(rows), classifier.problem_.decisions.last_rule)
    return Decisions(
        labels, np.ones(n, dtype=np.int64), np.full(n, total), (total, total), np.ones(n, dtype=bool), labels
    )
