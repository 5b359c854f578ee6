"""Saved stages as a protocol for pen and paper: the tests to order, the numbers to add, and the answers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted, number_text
from shortlist.errors import BadInputError
from shortlist.export.protocol_scores import (
    PrintedNumbers,
    linear_score,
    plain,
    printed_score,
)
from shortlist.guarantees.cells import ANSWERED
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.holdout import REACHED, fact_of_point, point_figures
from shortlist.multistage.predict.prediction import FittedStage, decide_known, stage_amounts
from shortlist.results.class_shares import class_shares
from shortlist.results.measured_again import Figure
from shortlist.saved_models import SavedModel, made_by

if TYPE_CHECKING:
    import pandas as pd

DIGITS = (3, 12)
"""Least and largest number of significant digits of a printed number."""
UNCHECKED_DIGITS = 6
"""Number of significant digits if there are no rows to check them on."""


class Line(NamedTuple):
    """Line of a score: a feature, its value, and the increment of each sum."""

    feature: str
    value: str
    adds: tuple[str, ...]


class Amount(NamedTuple):
    """Price of a step or its amount of an attribute, and the sum of this amount and of all earlier steps."""

    name: str
    here: str
    by_then: str


class Rule(NamedTuple):
    """Rule of a step for answering a class: a condition, and the class's least probability if known.

    A rule without a condition never answers.
    """

    answer: str
    condition: str
    probability: str


@dataclass(frozen=True)
class Step:
    """One step of a protocol."""

    number: int
    """Number of the step, from 1."""
    orders: tuple[str, ...]
    """Orders of the step, all at once."""
    amounts: tuple[Amount, ...]
    """Amounts of the step, the price first."""
    sums: tuple[str, ...]
    """Names of the sums: one score with two classes, otherwise one per class; empty if the classifier is not
    linear.
    """
    lines: tuple[Line, ...]
    """Lines of the score to add."""
    classifier: str
    """Name of the classifier that answers if nothing can be added."""
    rules: tuple[Rule, ...]
    """Rules of the step, one per class."""
    share: float | None = None
    """Share of all cases on record that this step answers."""


class Route(NamedTuple):
    """Steps of the cases that meet a condition known before the first step."""

    when: str
    """Condition of the route."""
    first: int
    last: int
    """Numbers of the first step (`first`) and of the last step (`last`)."""
    share: float | None
    """Share of all cases on record that take the route."""


class Wording(NamedTuple):
    """Words of a protocol for a step's requests and for its end."""

    order: str = "order"
    beginning: str = (
        "Begin with step 1. Order all that a step lists at once; when the values are there, add up its "
        "score, and answer or go on as it says."
    )
    last: str = "A person decides"
    end: str = "A person decides about a case that no step answers. Nothing is guessed for it."
    gaps: str = (
        "A person also decides where a value cannot be had and its table has no line for that, and where a "
        "word is in no line. A step that knows no value at all answers nothing: go on to the next one."
    )
    file: str = "model file"


OF_STAGES = Wording()
"""Wording of stages that buy features."""


@dataclass(frozen=True)
class Protocol:
    """Protocol: steps in order, in words and numbers as they are printed."""

    target: str
    """Name of the column that is answered."""
    steps: tuple[Step, ...]
    promise: str
    """Promise about the answers, or the sentence that there is none."""
    checked: str
    """Sentence on the agreement of the printed numbers with the model, on the rows of the check."""
    digits: int
    """Significant digits of the printed numbers."""
    n_rows: int
    n_changed: int
    """Number of checked rows, and number of these rows for which the printed numbers give another answer or
    step.
    """
    wording: Wording = OF_STAGES
    """Words for the steps."""
    routes: tuple[Route, ...] = ()
    """Routes of the cases; empty if every case begins with step 1."""
    measured: tuple[str, ...] = ()
    """Sentences on the shares of rows that steps ask, answer and miss; empty if they are not on record."""

    @property
    def lasts(self) -> set[int]:
        """Numbers of the steps that no other step follows."""
        return {route.last for route in self.routes} or {len(self.steps)}


def protocol_of(
    saved: SavedModel,
    rows: "pd.DataFrame | None" = None,
    *,
    digits: tuple[int, int] = DIGITS,
) -> Protocol:
    """Return saved stages as a protocol.

    Scores are in the units of the table: a number is multiplied by a weight, and a word adds a number of its
    own. Numbers have the fewest digits with which they answer all rows like the model. Raises BadInputError
    if the model has no stages.

    `rows`, ``(n_rows, n_features)``: rows on which the printed numbers are compared with the model. `digits`:
    least and largest number of significant digits.
    """
    classifier = saved.estimator
    if not isinstance(classifier, MultiStageClassifier):
        raise BadInputError(
            f"a protocol is made of a model of stages, got one of {made_by(classifier)}. Write a policy, "
            "ending in .json, or fit stages with shortlist stage."
        )
    scores = [linear_score(stage, classifier) for stage in classifier.model_.stages]
    met = None if rows is None else _Met.of(classifier, rows)
    found: list[tuple[int, int, tuple[PrintedNumbers | None, ...]]] = []
    fewest, most = digits
    for n_digits in [UNCHECKED_DIGITS] if met is None else range(fewest, most + 1):
        printed = tuple(None if one is None else printed_score(one, n_digits) for one in scores)
        changed = 0 if met is None else met.n_changed(printed)
        found.append((changed, n_digits, printed))
        if not changed:
            break
    changed, n_digits, printed = min(found, key=lambda one: one[:2])
    n_rows = 0 if met is None else len(met.rows)
    guarantee = classifier.guarantee_
    return Protocol(
        plain(saved.target),
        _steps(classifier, printed),
        "Nothing is promised about new cases." if guarantee is None else guarantee.sentence(),
        _checked(printed, n_digits, n_rows, changed),
        n_digits,
        n_rows,
        changed,
        measured=_measured(classifier),
    )


def _measured(classifier: MultiStageClassifier) -> tuple[str, ...]:
    """Return sentences on the shares of rows that the steps ask, answer and miss.

    The shares are of the rows that measured the stages.
    """
    told = point_figures(classifier)
    if told is None or "confusion" not in told:
        return ()
    repeated = "held_out" not in classifier.front_.extras
    how = "each by a choice made without it" if repeated else "on which nothing was fitted or chosen"
    answered = told["coverage"], *told["coverage_interval"]
    cases = f"Measured on {counted(told['n_rows'], 'case')}, {how}; in brackets 95 % intervals."
    said = [f"{cases} Answered: {_share(answered)} of the cases."]
    shares = (fact_of_point(classifier, REACHED) or {"shares": []})["shares"]
    if len(shares) > 1:
        steps = [f"step {place} {100 * one:.3g} %" for place, one in enumerate(shares[1:], start=2)]
        said.append(f"Share of the cases that go on to a later step: {all_of(steps, most=20)}.")
    labels = [plain(label) for label in classifier.classes_.tolist()]
    for one in class_shares(told["confusion"], labels):
        other = next(label for label in labels if label != one.label) if len(labels) == 2 else "another class"
        said.append(
            f"Of those that are {one.label}: answered {one.label} {_share(one.right)}, "
            f"{other} {_share(one.wrong)}, not answered {_share(one.unanswered)}."
        )
    return tuple(said)


def _share(figure: Figure) -> str:
    own, low, high = (f"{100 * one:.1f}" for one in figure)
    return f"{own} % ({low} to {high})"


class _Met(NamedTuple):
    """Encoded rows, with the rows that each stage decides and its answers."""

    rows: NDArray[np.float64]
    decided: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]
    """For each stage, the indices of the rows that it decides, and the class index of each row, -1 without an
    answer.
    """
    known: tuple[NDArray[np.bool_], ...]
    """For each stage, the mask of the rows with a known value for the stage and all values that steps need.
    """

    @classmethod
    def of(cls, classifier: MultiStageClassifier, table: "pd.DataFrame") -> "_Met":
        model = classifier.model_
        rows, states = model.encoding.encode_known(table)
        decisions = decide_known(model, rows, states)
        there = ~model.encoding.gaps(rows) if states is None else states == ANSWERED
        decided = []
        known = tuple(there[:, stage.subset].any(axis=1) & decisions.finished for stage in model.stages)
        for number, stage in enumerate(model.stages, start=1):
            here = np.flatnonzero((decisions.stages >= number) & there[:, stage.subset].any(axis=1))
            ends = (decisions.stages[here] == number) & decisions.finished[here]
            decided.append((here, np.where(ends, decisions.labels[here], -1)))
        return cls(rows, tuple(decided), known)

    def n_changed(self, printed: tuple[PrintedNumbers | None, ...]) -> int:
        changed = np.zeros(len(self.rows), dtype=bool)
        for numbers, (here, labels) in zip(printed, self.decided, strict=True):
            if numbers is not None:
                changed[here] |= numbers.answers(self.rows[here]) != labels
        return int(changed.sum())


def _steps(
    classifier: MultiStageClassifier,
    printed: tuple[PrintedNumbers | None, ...],
) -> tuple[Step, ...]:
    model = classifier.model_
    classes = [plain(label) for label in classifier.classes_.tolist()]
    totals: dict[str, float] = {}
    steps = []
    before = 0.0
    for number, (stage, numbers, amounts) in enumerate(
        zip(model.stages, printed, stage_amounts(model), strict=True), start=1
    ):
        paid = stage.price / model.costs.scale
        totals = {name: totals.get(name, 0.0) + amount for name, amount in amounts.items()}
        lines: tuple[Line, ...] = ()
        if numbers is not None:
            lines = tuple(
                Line(plain(part.feature), plain(part.value), texts)
                for part, texts in zip(numbers.parts, numbers.adds, strict=True)
            )
        estimator = getattr(stage.model, "estimator", stage.model)
        steps.append(
            Step(
                number,
                tuple(plain(model.costs.names[feature]) for feature in stage.bought),
                (
                    Amount("price", number_text(paid - before), number_text(paid)),
                    *(
                        Amount(plain(one), number_text(here), number_text(totals[one]))
                        for one, here in amounts.items()
                    ),
                ),
                () if numbers is None else ("score",) if len(classes) == 2 else tuple(classes),
                lines,
                type(estimator).__name__ if numbers is None else "",
                _rules(classes, stage, numbers, model.rule.thresholds),
            )
        )
        before = paid
    return tuple(steps)


def _rules(
    classes: list[str], stage: FittedStage, numbers: PrintedNumbers | None, thresholds: tuple[float, ...]
) -> tuple[Rule, ...]:
    rules = []
    for place, (name, threshold) in enumerate(zip(classes, thresholds, strict=True)):
        probability = max(threshold, stage.least)
        has_threshold = 1 / len(classes) < probability <= 1  # the most probable class is so in any case
        limit = f"{probability:.4g}" if has_threshold else ""
        if numbers is None:
            least = limit and f", with {limit} at least"
            condition = "" if probability > 1 else f"the model finds it most probable{least}"
        elif not (text := numbers.limits[place]):
            condition = limit = ""
        elif len(classes) > 2:
            total = limit and f" and the total is at most {text}"
            condition = f"its sum is the largest{total}"
        elif place == 1:
            condition = f"the score is at least {text}" if float(text) else "the score is above 0"
        else:
            condition = f"the score is at most {'-' if float(text) else ''}{text}"
        rules.append(Rule(name, condition, limit))
    return tuple(rules)


def _checked(printed: tuple[PrintedNumbers | None, ...], digits: int, n_rows: int, changed: int) -> str:
    if all(one is None for one in printed):
        return "No score can be added up by hand; the model file answers."
    numbers = f"The numbers have {digits} significant digits"
    if not n_rows:
        return f"{numbers} and were not compared with the model on any rows."
    if not changed:
        return f"{numbers}; with them all {n_rows:,} rows that were checked are answered as by the model."
    return f"{numbers}; with them {changed:,} of {n_rows:,} rows that were checked are answered otherwise."
