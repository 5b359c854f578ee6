"""Saved stages as a protocol that people follow with pen and paper: what to order, add up and answer."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.export.member_numbers import numbers_of
from shortlist.guarantees.cells import ANSWERED, label_text
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.predict.prediction import FittedStage, decide_known, stage_amounts
from shortlist.multistage.subclassifiers.encoding import Encoding
from shortlist.multistage.subclassifiers.subclassifiers import LogisticModel
from shortlist.saved_models import SavedModel, made_by

if TYPE_CHECKING:
    import pandas as pd

DIGITS = (3, 12)
"""Least and most significant digits of a printed number."""
UNCHECKED_DIGITS = 6
"""Significant digits where there are no rows to check them on."""

ITS_NUMBER, NO_VALUE, START = "its number ×", "(no value)", "start"
"""What a line of a score is about besides words: the value of a feature, a gap, and what every case has."""


class Line(NamedTuple):
    """One line of a score: a feature, the value that it has, and what that adds to each sum."""

    feature: str
    value: str
    adds: tuple[str, ...]


class Amount(NamedTuple):
    """The price of a step, or what it takes of an attribute, and the same with all steps before."""

    name: str
    here: str
    by_then: str


class Rule(NamedTuple):
    """When a step answers a class: a condition, and the least probability behind it, if there is one.

    Without a condition it never does.
    """

    answer: str
    condition: str
    probability: str


@dataclass(frozen=True)
class Step:
    """One step of a protocol."""

    number: int
    """From 1."""
    orders: tuple[str, ...]
    """What is ordered, all at once."""
    amounts: tuple[Amount, ...]
    """The price first."""
    sums: tuple[str, ...]
    """What is added up: one score with two classes, otherwise one sum per class; empty where the classifier
    is not linear.
    """
    lines: tuple[Line, ...]
    """What is added up."""
    classifier: str
    """What answers where nothing can be added up."""
    rules: tuple[Rule, ...]
    """One per class."""
    share: float | None = None
    """Of all cases that are on record, those that this step answers."""


class Route(NamedTuple):
    """The steps of the cases for which something holds that is known before the first step."""

    when: str
    """What holds."""
    first: int
    last: int
    """The numbers of the steps."""
    share: float | None
    """Of all cases that are on record."""


class Wording(NamedTuple):
    """What a protocol calls things: whom or what a step asks for, and what happens at the end."""

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
"""Of stages that buy features."""


@dataclass(frozen=True)
class Protocol:
    """What to do, step by step, in words and numbers as they are printed."""

    target: str
    """What is answered."""
    steps: tuple[Step, ...]
    promise: str
    """What is promised about the answers, or that nothing is."""
    checked: str
    """How the printed numbers answer the rows that they were checked on."""
    digits: int
    """Significant digits of the printed numbers."""
    n_rows: int
    n_changed: int
    """Rows that were checked, and those that the printed numbers answer otherwise, or at another step."""
    wording: Wording = OF_STAGES
    """What things are called."""
    routes: tuple[Route, ...] = ()
    """Empty where every case begins with step 1."""

    @property
    def lasts(self) -> set[int]:
        """The numbers of the steps after which no other follows."""
        return {route.last for route in self.routes} or {len(self.steps)}


def protocol_of(
    saved: SavedModel, rows: "pd.DataFrame | None" = None, *, digits: tuple[int, int] = DIGITS
) -> Protocol:
    """Return saved stages as a protocol.

    Scores are in the units of the table: a number is multiplied by its weight as it is, and a word adds its
    own. Numbers have the fewest digits with which they answer all rows as the model does. Raises
    BadInputError if the model is not one of stages.

    `rows`, ``(n_rows, n_features)``: rows on which the printed numbers are compared with the model. `digits`:
    significant digits at least and at most.
    """
    classifier = saved.estimator
    if not isinstance(classifier, MultiStageClassifier):
        raise BadInputError(
            f"a protocol is made of a model of stages, got one of {made_by(classifier)}. Write a policy, "
            "ending in .json, or fit stages with shortlist stage."
        )
    scores = [_linear(stage, classifier) for stage in classifier.model_.stages]
    met = None if rows is None else _Met.of(classifier, rows)
    found: list[tuple[int, int, tuple[_PrintedNumbers | None, ...]]] = []
    fewest, most = digits
    for n_digits in [UNCHECKED_DIGITS] if met is None else range(fewest, most + 1):
        printed = tuple(None if one is None else _printed(one, n_digits) for one in scores)
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
    )


def plain(text: Any) -> str:
    r"""Return a name with every character written out that cannot be printed.

    >>> print(plain("two\nlines"))
    two\nlines
    """
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in str(text)
    )


class _Part(NamedTuple):
    """A line of a score before it is printed: the column that it is about, None for none, and its numbers.

    The first one is the start.
    """

    feature: str
    value: str
    column: int | None
    adds: NDArray[np.float64]
    fill: tuple[int, float] | None = None
    """Of a gap in a number: the column of the number, and what stands there in its place."""


class _PrintedScore(NamedTuple):
    """A linear score, and from which number on it answers each class."""

    parts: tuple[_Part, ...]
    limits: tuple[float, ...]
    """With two classes log-odds, otherwise probabilities; infinite where a class is never answered."""
    probabilities: tuple[float, ...]


class _PrintedNumbers(NamedTuple):
    parts: tuple[_Part, ...]
    adds: tuple[tuple[str, ...], ...]
    limits: tuple[str, ...]

    def answers(self, rows: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class of each encoded row by the printed numbers, -1 for none."""
        start, *adds = [np.array([float(text) for text in texts]) for texts in self.adds]
        weights = np.zeros((rows.shape[1], len(start)))
        for part, numbers in zip(self.parts[1:], adds, strict=True):
            if part.column is not None:
                weights[part.column] = numbers
        for part in self.parts:  # the number of a gap stands in place of that of its filling
            if part.fill is not None and part.column is not None:
                column, fill = part.fill
                weights[part.column] -= fill * weights[column]
        sums = rows @ weights + start
        limits = np.array([math.inf if text == "" else float(text) for text in self.limits])
        if len(start) == 1:
            labels = (sums[:, 0] > 0).astype(np.int64)
            sure = np.where(labels == 1, sums[:, 0], -sums[:, 0]) >= limits[labels]
        else:
            labels = sums.argmax(axis=1)
            totals = np.exp(sums - sums.max(axis=1, keepdims=True)).sum(axis=1)
            sure = totals <= np.where(np.isinf(limits), 0.0, limits)[labels]
        return np.where(sure, labels, -1)


def _linear(stage: FittedStage, classifier: MultiStageClassifier) -> _PrintedScore | None:
    model, encoding = stage.model, classifier.model_.encoding
    n_classes = len(classifier.classes_)
    columns = np.asarray(model.columns)
    if isinstance(model, LogisticModel):
        chosen, intercepts = model.coefficients[:, columns], model.coefficients[:, -1]
    else:
        numbers = numbers_of(model.estimator) or {"kind": ""}
        if numbers["kind"] != "linear" or len(model.estimator.classes_) < n_classes:
            return None
        chosen, intercepts = np.array(numbers["weights"]), np.array(numbers["intercepts"])
    weights = np.zeros((len(chosen), int(encoding.starts[-1])))
    weights[:, columns] = chosen
    parts = [_Part(START, "", None, intercepts)]
    for feature in np.flatnonzero(stage.subset):
        parts += _parts(encoding, int(feature), weights)
    probabilities = tuple(max(one, stage.least) for one in classifier.model_.rule.thresholds)
    limits = tuple(score_limit(one, n_classes) for one in probabilities)
    return _PrintedScore(tuple(parts), limits, probabilities)


def score_limit(probability: float, n_classes: int) -> float:
    """Return from which log-odds on a class is answered, or up to which total; infinite for never."""
    if probability > 1 or (n_classes == 2 and probability == 1):
        return math.inf
    if n_classes > 2:
        return 1 / probability
    return max(0.0, math.log(probability) - math.log1p(-probability))


def _parts(encoding: Encoding, feature: int, weights: NDArray[np.float64]) -> Iterator[_Part]:
    code, first = encoding.codes[feature], int(encoding.starts[feature])
    if code.categories is None:
        yield _Part(code.name, ITS_NUMBER, first, weights[:, first])
        if code.allows_missing:
            gap = weights[:, first + 1] + code.fill * weights[:, first]
            yield _Part(code.name, NO_VALUE, first + 1, gap, (first, code.fill))
        return
    places = {word: first + place for place, word in enumerate(code.categories)}
    for word in code.categories if code.words is None else code.words:
        column = places.get(word)
        adds = np.zeros(len(weights)) if column is None else weights[:, column]
        yield _Part(code.name, label_text(word), column, adds)
    if code.allows_missing:
        last = first + len(code.categories)
        yield _Part(code.name, NO_VALUE, last, weights[:, last])


def _printed(score: _PrintedScore, digits: int) -> _PrintedNumbers:
    adds = tuple(tuple(_text(number, digits) for number in part.adds.tolist()) for part in score.parts)
    limits = tuple("" if math.isinf(limit) else _text(limit, digits) for limit in score.limits)
    return _PrintedNumbers(score.parts, adds, limits)


def _text(number: float, digits: int) -> str:
    """Return a number with some significant digits, without an exponent where that is readable."""
    if number == 0 or 1e-6 <= abs(number) < 10**9:
        return np.format_float_positional(number, precision=digits, unique=False, fractional=False, trim="-")
    return f"{number:.{digits}g}"


class _Met(NamedTuple):
    """Encoded rows, which of them each stage decides, and how."""

    rows: NDArray[np.float64]
    decided: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]
    """Of each stage the rows that it decides about, and the class that it answers, -1 for none."""

    @classmethod
    def of(cls, classifier: MultiStageClassifier, table: "pd.DataFrame") -> "_Met":
        model = classifier.model_
        rows, states = model.encoding.encode_known(table)
        decisions = decide_known(model, rows, states)
        there = ~model.encoding.gaps(rows) if states is None else states == ANSWERED
        decided = []
        for number, stage in enumerate(model.stages, start=1):
            here = np.flatnonzero((decisions.stages >= number) & there[:, stage.subset].any(axis=1))
            ends = (decisions.stages[here] == number) & decisions.finished[here]
            decided.append((here, np.where(ends, decisions.labels[here], -1)))
        return cls(rows, tuple(decided))

    def n_changed(self, printed: tuple[_PrintedNumbers | None, ...]) -> int:
        changed = np.zeros(len(self.rows), dtype=bool)
        for numbers, (here, labels) in zip(printed, self.decided, strict=True):
            if numbers is not None:
                changed[here] |= numbers.answers(self.rows[here]) != labels
        return int(changed.sum())


def _steps(classifier: MultiStageClassifier, printed: tuple[_PrintedNumbers | None, ...]) -> tuple[Step, ...]:
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
                    Amount("price", f"{paid - before:.10g}", f"{paid:.10g}"),
                    *(
                        Amount(plain(one), f"{here:.10g}", f"{totals[one]:.10g}")
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
    classes: list[str], stage: FittedStage, numbers: _PrintedNumbers | None, thresholds: tuple[float, ...]
) -> tuple[Rule, ...]:
    rules = []
    for place, (name, threshold) in enumerate(zip(classes, thresholds, strict=True)):
        probability = max(threshold, stage.least)
        limit = "" if probability > 1 else f"{probability:.4g}"
        if numbers is None:
            condition = limit and f"the model finds it most probable, with {limit} at least"
        elif not (text := numbers.limits[place]):
            condition = limit = ""
        elif len(classes) > 2:
            condition = f"its sum is the largest and the total is at most {text}"
        elif place == 1:
            condition = f"the score is at least {text}" if float(text) else "the score is above 0"
        else:
            condition = f"the score is at most {'-' if float(text) else ''}{text}"
        rules.append(Rule(name, condition, limit))
    return tuple(rules)


def _checked(printed: tuple[_PrintedNumbers | None, ...], digits: int, n_rows: int, changed: int) -> str:
    if all(one is None for one in printed):
        return "No score can be added up by hand; the model file answers."
    numbers = f"The numbers have {digits} significant digits"
    if not n_rows:
        return f"{numbers} and were not compared with the model on any rows."
    if not changed:
        return f"{numbers}; with them all {n_rows:,} rows that were checked are answered as by the model."
    return f"{numbers}; with them {changed:,} of {n_rows:,} rows that were checked are answered otherwise."
