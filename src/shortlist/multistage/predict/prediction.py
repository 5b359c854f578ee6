"""Deciding rows stage by stage, on rows at hand or on features bought when they are needed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist._words import all_of
from shortlist.arrays import Labels, Mask
from shortlist.errors import BadInputError
from shortlist.guarantees.cells import ANSWERED, empty_rows
from shortlist.multistage.problem.costs import FeatureCosts
from shortlist.multistage.problem.reject_rules import RejectRule, confident_answers
from shortlist.multistage.subclassifiers._logistic import Confidence, decide_rows
from shortlist.multistage.subclassifiers.decision_bits import DecisionBits
from shortlist.multistage.subclassifiers.encoding import Encoding
from shortlist.multistage.subclassifiers.subclassifiers import LogisticModel
from shortlist.pickles import saved_from

REJECTED = -1
"""Class number of a row that no stage was confident about."""

Acquire: TypeAlias = Callable[[NDArray[np.int64], tuple[Any, ...]], Any]
"""Called with row numbers and features, returns their values, ``(len(rows), len(features))``."""


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class FittedStage:
    """One stage: what it buys, what it knows by then, and what predicts."""

    bought: NDArray[np.int64]
    """Features that this stage acquires."""
    subset: Mask
    """Features known by then, ``(n_features,)``."""
    model: Any
    """What predicts from them."""
    least: float
    """Least probability that the reject rule raised this subset's threshold to, or 0."""
    price: int
    """What a row has paid by then, in units."""


def fitted_stages(
    subsets: Iterable[Mask], fit: Callable[[Mask], tuple[Any, float]], costs: FeatureCosts
) -> tuple[FittedStage, ...]:
    """Return stages by what is known after each; `fit` returns the model of a subset, and its least."""
    stages: list[FittedStage] = []
    for subset in subsets:
        bought = subset & ~stages[-1].subset if stages else subset
        stages.append(
            FittedStage(np.flatnonzero(bought), subset, *fit(subset), price=int(costs.price(subset)))
        )
    return tuple(stages)


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class StagedModel:
    """Everything that decides rows: encoding, stages in order, reject rule and prices."""

    encoding: Encoding
    stages: tuple[FittedStage, ...]
    rule: RejectRule
    costs: FeatureCosts


def stage_amounts(model: StagedModel) -> list[dict[str, float]]:
    """Return what each stage takes of every attribute of the prices, such as its hours."""
    attributes = model.costs.attributes
    taken = model.costs.taken(np.array([stage.subset for stage in model.stages]), attributes)
    return [
        {one.name: int(units) / one.scale for one, units in zip(attributes, row, strict=True)}
        for row in taken
    ]


@dataclass(frozen=True, eq=False)
class Decisions:
    """What was decided for each row."""

    labels: NDArray[np.int64]
    """Class numbers, ``(n_rows,)``; -1 where nothing was confident."""
    stages: NDArray[np.int64]
    """Last stage whose features were bought, from 1, ``(n_rows,)``; 0 where none was."""
    costs: NDArray[np.float64]
    """What each row paid, in the user's money, ``(n_rows,)``."""
    finished: Mask
    """Whether the row was decided or rejected, ``(n_rows,)``. Rows are left unfinished by a failed
    acquisition, and where what the next stage needs is not known.
    """
    guesses: NDArray[np.int64]
    """Class numbers again, but for rejected rows the most probable class at the last stage where that was
    asked for, ``(n_rows,)``.
    """


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class OnDemand:
    """Labels of rows whose features were bought on demand."""

    labels: Labels
    """Classes, or the reject label, ``(n_rows,)``; the reject label also where `decisions.finished` is False.
    """
    decisions: Decisions
    """Stage and cost of each row."""


def decide_known(
    model: StagedModel,
    rows: NDArray[np.float64],
    states: NDArray[np.int8] | None = None,
    *,
    guess: bool = False,
) -> Decisions:
    """Decide encoded rows, ``(n_rows, n_columns)``; only undecided rows enter a later stage.

    `states` says which features of which rows have a value, ``(n_rows, n_features)``; None: all. A row whose
    next stage lacks a feature stays where it is, unfinished: see :meth:`Encoding.lacking`. A row of which no
    value is known, as all have failed, is answered by no stage. With `guess`, rows that are not answered
    get a class as well, in ``guesses``, from the last stage that they reached, if they reached one.

    See :class:`shortlist.multistage.MultiStageClassifier`.
    """
    labels = np.full(len(rows), REJECTED, dtype=np.int64)
    reached = np.zeros(len(rows), dtype=np.int64)
    finished = np.ones(len(rows), dtype=bool)
    active = np.arange(len(rows))
    there = None if states is None else states == ANSWERED
    if there is None and model.encoding.allows_missing.any():
        there = ~model.encoding.gaps(rows)
    for number, stage in enumerate(model.stages, start=1):
        if states is not None:
            ready = ~model.encoding.lacking(states[active], stage.bought).any(axis=1)
            finished[active[~ready]] = False
            active = active[ready]
        reached[active] = number
        has_value = None if there is None else there[:, stage.subset].any(axis=1)
        active = _decide(model, stage, rows, active, labels, has_value=has_value)
        if not len(active):
            break
    guesses = labels
    if guess:
        guesses = _guesses(model, rows, active, labels)
        for number in range(1, len(model.stages)):
            waiting = np.flatnonzero(~finished & (reached == number))
            if len(waiting):
                guesses[waiting] = model.stages[number - 1].model.probabilities(rows[waiting]).argmax(axis=1)
    return Decisions(labels, reached, _paid(model, reached), finished, guesses)


def decide_validation_rows(
    model: StagedModel, decisions: DecisionBits, *, rule: RejectRule | None = None, promised: float = 0.0
) -> Decisions:
    """Decide the validation rows, by the very answers that measured them: out of fold not those of the model.

    `model`: whose stages are taken. `decisions`: what was searched, with the validation rows. `rule`: which
    answers are confident; by default as in the search. Thresholds that it raised stay raised. `promised`:
    least probability of an answer besides, as a promise asks for it.
    """
    asked = decisions.subclassifiers
    there = ~asked.rows.encoding.gaps(asked.rows.validation_rows)
    n_rows = len(there)
    labels = np.full(n_rows, REJECTED, dtype=np.int64)
    reached = np.zeros(n_rows, dtype=np.int64)
    active = np.ones(n_rows, dtype=bool)
    for number, stage in enumerate(model.stages, start=1):
        reached[active] = number
        least = np.maximum(asked.validation_least(stage.subset, decisions.rule), promised)
        probabilities = asked.validation_probabilities(stage.subset)
        found, confident = confident_answers(probabilities, rule or decisions.rule, least)
        answered = active & confident & there[:, stage.subset].any(axis=1)
        labels[answered] = found[answered]
        active &= ~answered
    return Decisions(labels, reached, _paid(model, reached), np.ones(n_rows, dtype=bool), labels)


def decide_on_demand(
    model: StagedModel, acquire: Acquire, n_rows: int, features: Sequence[Any], *, guess: bool = False
) -> tuple[Decisions, str, BaseException | None]:
    """Decide rows, buying for each stage only what its undecided rows need.

    `acquire`: gets row numbers and features, returns their values. `features`: what `acquire` calls each
    feature. `guess`: whether rejected rows get a class as well, in ``guesses``. `failure`, which it returns:
    why it ended early; empty if it did not. `cause`, which it returns: what `acquire` raised.
    """
    n_rows = as_count(n_rows, "n_rows", at_least=0)
    starts = model.encoding.starts
    rows = np.zeros((n_rows, int(starts[-1])))
    labels = np.full(n_rows, REJECTED, dtype=np.int64)
    reached = np.zeros(n_rows, dtype=np.int64)
    active = np.arange(n_rows)
    has_value = np.zeros(n_rows, dtype=bool)
    for number, stage in enumerate(model.stages, start=1):
        if not len(active):
            break
        wanted = tuple(features[feature] for feature in stage.bought)
        try:
            values = acquire(active.copy(), wanted)
        except Exception as error:  # noqa: BLE001  # the user's function; what it paid for is kept
            return _unfinished(model, labels, reached, active), _failure(number, wanted, error), error
        reached[active] = number
        try:
            values = _shaped(values, len(active), wanted)
            encoded = model.encoding.encode(stage.bought.tolist(), values)
            model.encoding.refuse_unknown(values, stage.bought.tolist())
            has_value[active] |= ~empty_rows(values)
        except BadInputError as error:
            return _unfinished(model, labels, reached, active), f"acquire for stage {number}: {error}", None
        except Exception as error:  # noqa: BLE001  # what cannot be read was paid for all the same
            return _unfinished(model, labels, reached, active), _unreadable(number, wanted, error), error
        place = 0
        for feature in stage.bought:
            width = int(starts[feature + 1] - starts[feature])
            rows[active, starts[feature] : starts[feature + 1]] = encoded[:, place : place + width]
            place += width
        active = _decide(model, stage, rows, active, labels, has_value=has_value)
    guesses = _guesses(model, rows, active, labels) if guess else labels
    return Decisions(labels, reached, _paid(model, reached), np.ones(n_rows, dtype=bool), guesses), "", None


def confidences(
    model: StagedModel, rows: NDArray[np.float64], reached: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the largest class probability of each row at the stage it reached."""
    best = np.full(len(rows), np.nan)
    for number, stage in enumerate(model.stages, start=1):
        here = np.flatnonzero(reached == number)
        if len(here):
            best[here] = stage.model.probabilities(rows[here]).max(axis=1)
    return best


def _decide(
    model: StagedModel,
    stage: FittedStage,
    rows: NDArray[np.float64],
    active: NDArray[np.int64],
    labels: NDArray[np.int64],
    *,
    has_value: Mask | None,
) -> NDArray[np.int64]:
    """Decide the active rows at one stage that have a value; return those that go on."""
    if has_value is not None and not has_value[active].all():
        nothing = active[~has_value[active]]
        others = _decide(model, stage, rows, active[has_value[active]], labels, has_value=None)
        return np.sort(np.concatenate([others, nothing]))
    if isinstance(stage.model, LogisticModel):
        # a model read from a memory map cannot be written, and kernels take only arrays that can
        coefficients = np.require(stage.model.coefficients, requirements="W")
        columns = np.require(stage.model.columns, requirements="W")
        left = decide_rows(
            rows, active, coefficients, columns,
            Confidence(np.array(model.rule.thresholds), model.rule.scores), stage.least, labels,
        )  # fmt: skip
        return active[:left]
    found, confident = confident_answers(stage.model.probabilities(rows[active]), model.rule, stage.least)
    labels[active[confident]] = found[confident]
    return active[~confident]


def _guesses(
    model: StagedModel, rows: NDArray[np.float64], rejected: NDArray[np.int64], labels: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give rejected rows the most probable class at the last stage."""
    guesses = labels.copy()
    if len(rejected):
        guesses[rejected] = model.stages[-1].model.probabilities(rows[rejected]).argmax(axis=1)
    return guesses


def _paid(model: StagedModel, reached: NDArray[np.int64]) -> NDArray[np.float64]:
    prices = np.array([0, *(stage.price for stage in model.stages)], dtype=np.float64) / model.costs.scale
    return np.asarray(prices[reached])


def _unfinished(
    model: StagedModel, labels: NDArray[np.int64], reached: NDArray[np.int64], active: NDArray[np.int64]
) -> Decisions:
    finished = np.ones(len(labels), dtype=bool)
    finished[active] = False
    return Decisions(labels, reached, _paid(model, reached), finished, labels)


def _failure(number: int, wanted: tuple[Any, ...], error: BaseException) -> str:
    return (
        f"acquire must return the features {all_of(wanted)} of stage {number}, "
        f"but it raised {type(error).__name__}: {error}. The rows decided before are in the error's partial."
    )


def _unreadable(number: int, wanted: tuple[Any, ...], error: BaseException) -> str:
    return (
        f"acquire must return a table of the features {all_of(wanted)} of stage {number}, "
        f"but what it returned cannot be read: {error}. The rows decided before are in the error's partial."
    )


def _shaped(values: Any, n_rows: int, wanted: tuple[Any, ...]) -> Any:
    """Check the shape of what `acquire` returned; a frame is read by its names where it has them."""
    if hasattr(values, "iloc") and hasattr(values, "columns"):
        if all(name in values.columns for name in wanted):
            values = values[list(wanted)]
    else:
        values = np.asarray(values)
    if values.shape != (n_rows, len(wanted)):
        raise BadInputError(
            "acquire",
            f"must return values of shape {(n_rows, len(wanted))} for the features {all_of(wanted)}",
            values.shape,
            "Return one row per row number and one column per feature.",
        )
    return values
