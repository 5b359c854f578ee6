"""Decisions about rows stage by stage, with known features or with features bought on demand."""

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
from shortlist.multistage.subclassifiers.encoding import Encoding
from shortlist.multistage.subclassifiers.logistic_fits import LogisticModel
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits
from shortlist.pickles import saved_from
from shortlist.policies import UNDECIDED, Followed, Places, Said, follow

Acquire: TypeAlias = Callable[[NDArray[np.int64], tuple[Any, ...]], Any]
"""Callback that takes row numbers and features, and returns their values, ``(len(rows), len(features))``."""


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class FittedStage:
    """Stage with the features that it buys, the features known after it, and its classifier."""

    bought: NDArray[np.int64]
    """Features that this stage acquires."""
    subset: Mask
    """Mask of the features known after this stage, ``(n_features,)``."""
    model: Any
    """Fitted classifier that predicts from the known features."""
    least: float
    """Least probability of an answer, such as the threshold of a promise; the reject rule holds as well."""
    price: int
    """Price of all stages up to and including this stage for a row, in units."""


def fitted_stages(
    subsets: Iterable[Mask], fit: Callable[[Mask], tuple[Any, float]], costs: FeatureCosts
) -> tuple[FittedStage, ...]:
    """Return one stage per feature set; `fit` returns the model of a subset, and its least probability."""
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
    """Encoding, stages in order, reject rule and prices: everything that a decision about a row needs."""

    encoding: Encoding
    stages: tuple[FittedStage, ...]
    rule: RejectRule
    costs: FeatureCosts


def stage_amounts(model: StagedModel) -> list[dict[str, float]]:
    """Return the amount of every attribute, such as hours, by stage."""
    attributes = model.costs.attributes
    taken = model.costs.taken(np.array([stage.subset for stage in model.stages]), attributes)
    return [
        {one.name: int(units) / one.scale for one, units in zip(attributes, row, strict=True)}
        for row in taken
    ]


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decisions on the rows."""

    labels: NDArray[np.int64]
    """Class indices, ``(n_rows,)``; -1 where no stage was confident."""
    stages: NDArray[np.int64]
    """Last stage whose features were bought, from 1, ``(n_rows,)``; 0 where no features were bought."""
    costs: NDArray[np.float64]
    """Price that each row paid, in the user's money, ``(n_rows,)``."""
    possible_costs: tuple[float, float]
    """Least and largest price of a row, in the user's money."""
    finished: Mask
    """Mask of the rows that were decided or rejected, ``(n_rows,)``. A row stays unfinished after a failed
    acquisition, and where a feature of its next stage is not known.
    """
    guesses: NDArray[np.int64]
    """Class indices, ``(n_rows,)``. If guesses were requested, a rejected row has the most probable class at
    its last stage.
    """


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class OnDemand:
    """Labels of rows whose features were bought on demand."""

    labels: Labels
    """Classes or the reject label, ``(n_rows,)``. A row where `decisions.finished` is false has the reject
    label too.
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
    """Return the decisions about encoded rows, ``(n_rows, n_columns)``.

    Only undecided rows enter a later stage.

    `states`: state of each feature of each row, ``(n_rows, n_features)``; None: all features have values. A
    row whose next stage lacks a feature stays there, unfinished: see :meth:`Encoding.lacking`. No stage
    answers a row without any value, such as a row whose features all failed. `guess`: also give a row without
    an answer a class, in ``guesses``, from the last stage that the row reached, if any.

    See :class:`shortlist.multistage.MultiStageClassifier`.
    """
    there = None if states is None else states == ANSWERED
    if there is None and model.encoding.allows_missing.any():
        there = ~model.encoding.gaps(rows)

    def ask(number: int, places: Places) -> Mask:
        assert states is not None, "a feature may be missing"
        lacking = model.encoding.lacking(states[places], model.stages[number].bought)
        return np.asarray(~lacking.any(axis=1))

    def decide(number: int, places: Places) -> Said:
        subset = model.stages[number].subset
        has_value = None if there is None else there[places][:, subset].any(axis=1)
        return said(number, places, has_value)

    said = _Said(model, rows)
    found = follow(len(rows), len(model.stages), decide, None if states is None else ask)
    return _decisions(model, found, rows if guess else None)


def decide_validation_rows(
    model: StagedModel, decisions: DecisionBits, *, rule: RejectRule | None = None, promised: float = 0.0
) -> Decisions:
    """Return the decisions about the validation rows by the same answers as in the search.

    With folds these are the out-of-fold answers. `model`: gives the stages. `decisions`: the searched
    decision bits, with the validation rows. `rule`: decides which answers are confident; by default the rule
    of the search. `promised`: least probability of an answer for a promise; `rule` holds as well.
    """
    asked = decisions.subclassifiers
    there = ~asked.rows.encoding.gaps(asked.rows.validation_rows)

    def decide(number: int, places: Places) -> Said:
        subset = model.stages[number].subset
        probabilities = asked.validation_probabilities(subset)
        own = rule or decisions.rule
        if number == len(model.stages) - 1 and decisions.last_rule is not None:
            own = decisions.last_rule
        codes, confident = confident_answers(probabilities, own, promised)
        return Said(codes[places], (confident & there[:, subset].any(axis=1))[places])

    return _decisions(model, follow(len(there), len(model.stages), decide))


def decide_on_demand(
    model: StagedModel, acquire: Acquire, n_rows: int, features: Sequence[Any], *, guess: bool = False
) -> tuple[Decisions, str, BaseException | None]:
    """Return the decisions about rows whose stages buy features only for undecided rows.

    `acquire`: gets row numbers and features, and returns their values. `features`: the name of each feature
    in calls of `acquire`. `guess`: whether rejected rows get a class as well, in ``guesses``. `failure`,
    which it returns: reason of an early end; empty otherwise. `cause`, which it returns: the exception of
    `acquire`.
    """
    n_rows = as_count(n_rows, "n_rows", at_least=0)
    starts = model.encoding.starts
    rows, has_value = np.zeros((n_rows, int(starts[-1]))), np.zeros(n_rows, dtype=bool)
    failure, cause, paid = "", None, 0

    def ask(number: int, places: Places) -> Mask:
        nonlocal failure, cause, paid
        bought, active = model.stages[number].bought, np.arange(n_rows)[places]
        wanted = tuple(features[feature] for feature in bought)
        paid = 0
        try:
            values = acquire(active.copy(), wanted)
            paid = 1  # whether or not it can be read
            values = _shaped(values, len(active), wanted)
            encoded = model.encoding.encode(bought.tolist(), values)
            model.encoding.refuse_unknown(values, bought.tolist())
            has_value[active] |= ~empty_rows(values)
        except Exception as error:  # noqa: BLE001  # the user's function; what it paid for is kept
            failure = f"acquire for stage {number + 1}: {error}"
            if not (paid and isinstance(error, BadInputError)):
                failure, cause = _failure(number + 1, wanted, error, is_paid=bool(paid)), error
            return np.zeros(len(active), dtype=bool)
        columns = [np.arange(starts[feature], starts[feature + 1]) for feature in bought]
        rows[np.ix_(active, np.concatenate(columns))] = encoded
        return np.ones(len(active), dtype=bool)

    def decide(number: int, places: Places) -> Said:
        return said(number, places, has_value[places])

    said = _Said(model, rows)
    found = follow(n_rows, len(model.stages), decide, ask)
    if failure:
        found = found._replace(reached=found.reached + paid * found.waits)
    return _decisions(model, found, rows if guess and not failure else None), failure, cause


def stage_probabilities(
    model: StagedModel, rows: NDArray[np.float64], reached: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the class probabilities of each row at the stage it reached, ``(n_rows, n_classes)``.

    NaN for a row that reached no stage.
    """
    found = np.full((len(rows), len(model.rule.thresholds)), np.nan)
    for number in set(reached.tolist()) - {0}:
        here = np.flatnonzero(reached == number)
        found[here] = model.stages[number - 1].model.probabilities(rows[here])
    return found


class _Said:
    """Decision of one stage about some rows; a row without a value is not answered."""

    def __init__(self, model: StagedModel, rows: NDArray[np.float64]) -> None:
        self.model, self.rows = model, rows
        self.confidence = Confidence(np.array(model.rule.thresholds), model.rule.scores)

    def __call__(self, number: int, places: Places, has_value: Mask | None) -> Said:
        stage, rows = self.model.stages[number], self.rows
        if isinstance(stage.model, LogisticModel):
            # a model read from a memory map cannot be written, and kernels take only arrays that can
            coefficients = np.require(stage.model.coefficients, requirements="W")
            columns = np.require(stage.model.columns, requirements="W")
            active = np.arange(len(rows)) if isinstance(places, slice) else places
            codes = np.empty(len(active), dtype=np.int64)
            decide_rows(rows, active, coefficients, columns, self.confidence, stage.least, codes)
            ends = codes >= 0
        else:
            probabilities = stage.model.probabilities(rows[places])
            codes, ends = confident_answers(probabilities, self.model.rule, stage.least)
        return Said(codes, ends if has_value is None else ends & has_value)


def _decisions(model: StagedModel, found: Followed, rows: NDArray[np.float64] | None = None) -> Decisions:
    """Return the decisions of the stages; with `rows`, each row without an answer gets a guess."""
    guesses = found.codes
    if rows is not None:
        guesses, here = guesses.copy(), np.flatnonzero((guesses == UNDECIDED) & (found.reached > 0))
        guesses[here] = stage_probabilities(model, rows[here], found.reached[here]).argmax(axis=1)
    paid = _paid(model, found.reached)
    possible = float(paid.min(initial=model.stages[0].price / model.costs.scale)), float(_prices(model)[-1])
    return Decisions(found.codes, found.reached, paid, possible, ~found.waits, guesses)


def _prices(model: StagedModel) -> NDArray[np.float64]:
    """Return the price of a row up to each stage, ``(n_stages + 1,)``; the first entry is 0, for no stage."""
    return np.array([0, *(stage.price for stage in model.stages)], dtype=np.float64) / model.costs.scale


def _paid(model: StagedModel, reached: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(_prices(model)[reached])


def _failure(number: int, wanted: tuple[Any, ...], error: BaseException, *, is_paid: bool) -> str:
    if is_paid:
        what, why = "a table of the features", f"what it returned cannot be read: {error}"
    else:
        what, why = "the features", f"it raised {type(error).__name__}: {error}"
    return (
        f"acquire must return {what} {all_of(wanted)} of stage {number}, but {why}. The rows decided before "
        "are in the error's partial."
    )


def _shaped(values: Any, n_rows: int, wanted: tuple[Any, ...]) -> Any:
    """Return the values of `acquire` after a check of their shape.

    Columns of a frame are taken by name if the frame has the names.
    """
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
