"""Question put to a multi-stage classifier: fitted and validation rows, problem, and settings of a study."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from shortlist._validation import as_count
from shortlist._words import all_of, any_of, did_you_mean
from shortlist.arrays import Labels
from shortlist.errors import BadInputError
from shortlist.guarantees.cells import label_text
from shortlist.guarantees.guarantee import Demand, as_demand
from shortlist.multistage.predict.stage_answers import LabelledCodes
from shortlist.multistage.problem.error_prices import ErrorPrices, error_prices
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.problem.stages import acquired
from shortlist.multistage.search.stage_objectives import (
    DEFAULT_OBJECTIVES,
    OF_PATHS,
    PRICED_OBJECTIVES,
    StageProblem,
    stage_problem,
    with_errors,
)
from shortlist.multistage.subclassifiers.encoding import Encoding, learn_encoding
from shortlist.multistage.subclassifiers.foreign_subclassifiers import (
    ForeignSubclassifiers,
    SharedSubclassifiers,
    counts_members,
)
from shortlist.multistage.subclassifiers.logistic_fits import LogisticSubclassifiers
from shortlist.multistage.subclassifiers.subclassifiers import (
    DecisionBits,
    StageRows,
    Subclassifiers,
    rows_in_folds,
)
from shortlist.results.error_costs import costs_as_text, costs_by_class
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Budget
from shortlist.runs.records import as_settings, digest_of_arrays
from shortlist.tables.fit_inputs import checked_rows, take_rows
from shortlist.tables.splits import (
    N_FOLDS,
    Cases,
    RowNumbers,
    cut_classes,
    deal_folds,
    keep_rows_apart,
    one_row_a_case,
    split_cases,
)

USUAL_STAGES = 4
USUAL_CONFIDENCE, USUAL_PRICED_CONFIDENCE = 0.75, 0.99
"""Usual least probability of an answer before the last stage: without costs of errors, and with them."""

CHOICES = {
    "pick", "limits", "reject_label", "answer_rejected", "time_limit_s", "n_jobs", "answer_accuracy",
    "confidence_level", "calibration_share",
}  # fmt: skip
"""Names of the parameters that leave a study's question the same: rules of choice, and limits on the search.

The choice of calibration rows is part of the question by the rows that remain.
"""


def _unused(asked: Any) -> set[str]:
    """Return the parameters without any effect under the chosen method, classifier and objectives.

    A study does not depend on these parameters, so a new default in a later version does not make a study
    unusable.
    """
    found = set()
    if asked.method != "auto":
        found.add("enumeration_budget")
    if asked.method != "emsco":
        found.add("emsco_options")
    if asked.subclassifier is not None:
        found |= {"C", "scale"}
    if "evaluation_cost" not in asked.objectives:
        found |= {"call_cost", "call_cost_per_feature"}
    return found


def state_problem(asked: Any, rows: StageRows, budget: Budget) -> StageProblem:
    """Return the problem of stages; nothing is fitted yet."""
    n = rows.n_features
    k = min(USUAL_STAGES, n) if asked.max_stages is None else as_count(asked.max_stages, "max_stages")
    subclassifiers = fits_of(asked, rows, budget)
    if asked.share_fits:
        if asked.subclassifier is None:
            raise BadInputError("share_fits", "needs a subclassifier", "none", "Pass one, or leave it out.")
        subclassifiers = SharedSubclassifiers(subclassifiers, seed=budget.seed)
    labels = asked.classes_.tolist()
    for argument, given in (("penalties", list(asked.penalties or {})), ("positive", [asked.positive])):
        unknown = [label for label in given if label is not None and label not in labels]
        if unknown:
            raise BadInputError(
                argument,
                f"must name a class, {any_of(labels)}",
                repr(unknown[0]),
                did_you_mean(unknown[0], labels),
            )
    errors = asked.errors_
    if errors is None:
        rule = reject_rule(confidence_asked(asked), asked.classes_)
        decisions = DecisionBits(subclassifiers, rule)
    else:
        decisions = DecisionBits(subclassifiers, errors.early_rule(confidence_asked(asked)), errors.last_rule)
    problem = stage_problem(
        decisions,
        asked.costs_,
        max_stages=k,
        objectives=asked.objectives_,
        penalties={labels.index(label): value for label, value in (asked.penalties or {}).items()},
        positive=len(labels) - 1 if asked.positive is None else labels.index(asked.positive),
        call_cost=asked.call_cost,
        call_cost_per_feature=asked.call_cost_per_feature,
        removal=asked.removal,
    )
    return with_errors(problem, errors)


def errors_asked(asked: Any, n_rows: int) -> ErrorPrices | None:
    """Return the prices of errors, if given; raise BadInputError for options that contradict them."""
    if asked.error_costs is None and asked.hand_over is None:
        return None
    for name, usual, why in (
        ("answer_accuracy", None, "a promise is about right answers"),
        ("answer_rejected", False, "what no stage answers has a price"),
        ("penalties", None, "they say another thing of errors"),
    ):
        if getattr(asked, name) != usual:
            raise BadInputError(
                name, f"must be left out where errors have costs, as {why}", repr(getattr(asked, name))
            )
    level = USUAL_PRICED_CONFIDENCE if asked.confidence is None else asked.confidence
    if isinstance(level, bool) or not isinstance(level, int | float | np.number) or not 0 < level <= 1:
        raise BadInputError("confidence", "must be one number in (0, 1] where errors have costs", repr(level))
    labels = [label_text(label) for label in asked.classes_.tolist()]
    return error_prices(
        costs_by_class(costs_as_text(asked.error_costs, label_text), labels), asked.hand_over, n_rows
    )


def confidence_asked(asked: Any) -> Any:
    """Return the least probability of an answer before the last stage: the given value, or the default."""
    if asked.confidence is not None:
        return asked.confidence
    return USUAL_CONFIDENCE if asked.errors_ is None else USUAL_PRICED_CONFIDENCE


def objectives_asked(asked: Any) -> tuple[str, ...]:
    """Return the objectives; with costs of errors the default is the cost of errors and the price.

    A limited amount of every row becomes an objective too, so that the front has the best points within any
    limit.
    """
    names = tuple(asked.objectives)
    if asked.errors_ is not None and names == DEFAULT_OBJECTIVES:
        names = PRICED_OBJECTIVES
    limits = asked.limits or ()
    limited = limits if isinstance(limits, Mapping) else [limit.name for limit in limits]
    return (*names, *(one for one in limited if one.startswith(OF_PATHS) and one not in names))


def fits_of(asked: Any, rows: StageRows, budget: Budget, **places: Any) -> Any:
    """Return the object that fits and validates the classifier of any set of features."""
    common: dict[str, Any] = {"n_jobs": asked.n_jobs or 1, "budget": budget} | places
    if asked.subclassifier is None:
        return LogisticSubclassifiers(rows, C=asked.C, scale=asked.scale, **common)
    return ForeignSubclassifiers(rows, asked.subclassifier, **common)


def question_of(asked: Any, rows: StageRows, seed: int) -> dict[str, Any]:
    """Return the parts of a question that decide a search's result: rows, seed, and the parameters in use."""
    arrays = (rows.fit_rows, rows.fit_labels, rows.validation_rows, rows.validation_labels)
    folds = () if rows.fold_of is None else (rows.fold_of,)
    passed_over = CHOICES | _unused(asked) | {"error_costs", "hand_over"}
    given = {name: value for name, value in asked.get_params(deep=False).items() if name not in passed_over}
    settings = given | {"random_state": seed, "feature_costs": asked.costs_.as_settings()}
    settings["confidence"] = confidence_asked(asked)
    if "evaluation_cost" in asked.objectives and counts_members(asked.subclassifier):
        settings["objectives"] = [
            "evaluation_cost of members" if name == "evaluation_cost" else name for name in asked.objectives
        ]
    if asked.errors_ is not None:
        settings |= {"error_costs": dataclasses.asdict(asked.errors_), "objectives": asked.objectives_}
    return as_settings(settings) | {"the rows": digest_of_arrays((*arrays, *folds))}


def demand_of(asked: Any, calibration: Any) -> Demand | None:
    """Return the requested promise, or None."""
    if asked.answer_accuracy is None:
        if calibration is not None:
            raise BadInputError(
                "calibration", "needs `answer_accuracy`", "none", "Pass it, or leave these rows out."
            )
        return None
    if asked.answer_rejected:
        raise BadInputError(
            "answer_rejected",
            "must be False with `answer_accuracy`",
            "True",
            "A promise is about the rows that are answered with confidence.",
        )
    return as_demand(asked.answer_accuracy, asked.confidence_level)


def sampled_rows(rows: StageRows, most: int | None, seed: int) -> StageRows:
    """Return at most `most` of the rows that fit and of the validation rows, drawn at random by class."""
    if most is None or max(len(rows.fit_labels), len(rows.validation_labels)) <= most:
        return rows
    rng = np.random.default_rng(seed)
    if rows.fold_of is not None:
        some = _sample(rows.fit_labels, most, rng)
        given = rows.fit_rows[some], rows.fit_labels[some], rows.fold_of[some]
        return rows_in_folds(rows.encoding, *given, rows.n_classes)
    fit, held = (_sample(labels, most, rng) for labels in (rows.fit_labels, rows.validation_labels))
    return dataclasses.replace(
        rows,
        fit_rows=rows.fit_rows[fit],
        fit_labels=rows.fit_labels[fit],
        validation_rows=rows.validation_rows[held],
        validation_labels=rows.validation_labels[held],
    )


def _sample(labels: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the numbers of at most `most` rows: a proportional number from each class, and at least one."""
    share = min(1.0, most / len(labels))
    taken, _ = cut_classes(labels, lambda n: [max(1, math.floor(share * n))], rng)
    return taken


def n_subsets(assignments: NDArray[np.int8]) -> int:
    """Return the number of feature subsets in the stages of some assignments."""
    masks = acquired(assignments, int(assignments.max(initial=0)) + 1)
    return len(np.unique(masks.reshape(-1, masks.shape[2]), axis=0))


def refined_front(
    problem: StageProblem, own: Subclassifiers, found: Front
) -> tuple[StageProblem, Front, str]:
    """Fit the classifier of every subset in a front, and measure its points anew.

    `own`: fits a classifier for each subset on all rows. `found`: the searched front; its method, seconds,
    limit and extras are kept, without ``n_tied``. `problem`, which it returns: the same problem with `own`.
    `front`, which it returns: the non-dominated points, the first point of equal ones. Nothing is proved
    about this front, as other assignments were not measured anew. ``extras["n_searched_points"]`` is the
    number of points in `found`. ``extras["largest_change"]`` is the largest change of each objective at any
    point of `found`. `changed`, which it returns: the largest changes in words.
    """
    refined = dataclasses.replace(
        problem, decisions=DecisionBits(own, problem.decisions.rule, problem.decisions.last_rule)
    )
    assignments = found.decisions.astype(np.int8)
    measures = refined.measures(assignments)
    changes = np.abs(refined.values(measures) - found.values).max(axis=0)
    best = refined.best(measures)
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


def rows_to_fit_and_validate(
    estimator: Any,
    X: Any,
    y: Labels,
    names: Sequence[str],
    *,
    validation: tuple[Any, Any] | None,
    share: float,
    seed: int,
    cases: Cases | None = None,
) -> StageRows:
    """Split checked rows into a part that fits and a part that validates, and encode both parts.

    With given validation rows nothing is split. With cases, whole cases are split. The encoding is learned
    from the rows that fit; gaps of features are looked for in both parts. The classes are the estimator's
    ``classes_``.
    """
    classes = estimator.classes_
    if validation is None:
        X, X_validation, y, y_validation = split_rows(X, y, share, seed, cases)
    else:
        X_validation = checked_rows(estimator, validation[0])
        y_validation = checked_labels(validation[1], classes, len(X_validation))
    encoding = learn_encoding(X, names, X_validation)
    everything = range(len(names))
    return StageRows(
        encoding,
        encoding.encode(everything, X),
        np.searchsorted(classes, y).astype(np.int64),
        encoding.encode(everything, X_validation),
        np.searchsorted(classes, y_validation).astype(np.int64),
        len(classes),
    )


def numbered_cases(cases: Any, n_rows: int) -> Cases | None:
    """Return the case of each row as a number, ``(n_rows,)``, from any names; None without cases."""
    if cases is None:
        return None
    numbers: Cases = np.unique(column_or_1d(cases), return_inverse=True)[1]
    if len(numbers) != n_rows:
        raise BadInputError(
            "cases", "must have one entry per row", f"{len(numbers)} and {n_rows} rows", "Pass those of X."
        )
    return numbers


def folded_rows(
    estimator: Any, X: Any, y: Labels, names: Sequence[str], *, cases: Cases | None, seed: int
) -> StageRows:
    """Deal checked rows to folds and encode them; the rows of a case go to the same fold.

    The encoding is learned from all rows, without their classes.
    """
    classes = estimator.classes_
    encoding = learn_encoding(X, names)
    return rows_in_folds(
        encoding,
        encoding.encode(range(len(names)), X),
        np.searchsorted(classes, y).astype(np.int64),
        deal_folds(y, N_FOLDS, seed, cases),
        len(classes),
    )


def checked_labels(y: Any, classes: Labels, n_rows: int) -> Labels:
    """Return validation labels as an array; raise BadInputError for a label that is no fitted class."""
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows or not n_rows:
        raise BadInputError("validation", "must have one label per row", f"{n_rows} rows and {len(y)} labels")
    unknown = sorted(set(y.tolist()) - set(classes.tolist()), key=str)
    if unknown:
        raise BadInputError(
            "validation",
            f"must hold the classes of y, {any_of(classes)}",
            f"{unknown[0]!r} besides",
            "Drop those rows.",
        )
    if len(np.unique(y)) < 2:
        raise BadInputError(
            "validation",
            "must hold at least two classes to validate on",
            f"{y.tolist()[0]!r} only",
            "Add rows of another class.",
        )
    return np.asarray(y)


def split_rows(
    X: Any, y: Labels, share: float, seed: int, cases: Cases | None = None
) -> tuple[Any, Any, Labels, Labels]:
    """Split rows by class into a part that fits and a part held out; with cases, split whole cases.

    At least one row of each class fits.
    """
    if not isinstance(share, int | float) or not 0 < share < 1:
        raise BadInputError("validation_share", "must be in (0, 1)", repr(share))

    fit, held = split_cases(
        y,
        cases,
        lambda labels: cut_classes(
            labels, lambda n: [min(n - 1, max(1, round(share * n)))], np.random.default_rng(seed)
        )[::-1],
    )
    if not len(held):
        raise BadInputError(
            f"some class needs 2 rows, one to fit and one to validate, got {len(y)} rows of {len(y)} "
            "classes. Add rows, or pass validation rows."
        )
    return take_rows(X, fit), take_rows(X, held), y[fit], y[held]


def calibration_rows(
    y: Labels, share: float, seed: int, cases: Cases | None = None
) -> tuple[RowNumbers, RowNumbers]:
    """Return the numbers of the rows that fit, and the numbers of the calibration rows.

    Calibration rows are drawn without regard to class. With cases of several rows, whole cases are split, and
    one row of each case in the second part calibrates.
    """
    if not isinstance(share, int | float) or not 0 < share < 1:
        raise BadInputError("calibration_share", "must be in (0, 1)", repr(share))
    rest, held = split_cases(y, cases, lambda labels: keep_rows_apart(len(labels), share, seed))
    lost = set(y[held].tolist()) - set(y[rest].tolist())
    if lost or not len(held):
        kind = f"all rows of class {min(lost, key=str)!r}" if lost else "no row"
        raise BadInputError(
            f"the calibration rows must be some rows, and not all rows of a class, got {kind}. Add rows, or "
            "join classes."
        )
    return rest, one_row_a_case(held, cases, seed)


def encoded_rows(estimator: Any, encoding: Encoding, X: Any, y: Any) -> LabelledCodes:
    """Return checked and encoded calibration rows, with -1 for a class that the estimator does not know."""
    X = checked_rows(estimator, X)
    y = column_or_1d(y, warn=True)
    if len(y) != len(X) or not len(y):
        raise BadInputError(
            "calibration", "must have one label per row", f"{len(X)} rows and {len(y)} labels"
        )
    places = {label: place for place, label in enumerate(estimator.classes_.tolist())}
    codes = np.array([places.get(label, -1) for label in y.tolist()], dtype=np.int64)
    rows, states = encoding.encode_known(X)
    return LabelledCodes(rows, codes, states)
