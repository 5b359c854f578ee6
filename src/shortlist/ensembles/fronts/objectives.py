"""Objectives of a committee: their names, and the increments by members, as integers."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, any_of, did_you_mean
from shortlist.ensembles.goals.selection_limits import exact_cost
from shortlist.ensembles.pruning.mean_problem import MEAN_LOSSES, SCALE
from shortlist.errors import BadInputError
from shortlist.exact import as_integers
from shortlist.results.front import LARGEST_POINT
from shortlist.results.objective import Objective, Sense

VALUE_OBJECTIVES = {
    "accuracy": "share of right decisions",
    "balanced-accuracy": "mean of the shares of right decisions in each class",
    "true-positives": "rows of the positive class that are found",
    "true-negatives": "rows of the negative class that are left alone",
    "recall": "share of the positive rows that are found; recall:CLASS of the rows of any class",
    "specificity": "share of the negative rows that are left alone",
}
"""Objectives that may be maximised."""

SIZE = "size"

MEMBER_OBJECTIVES = {
    "cost": "sum of the prices of the members",
    SIZE: "number of members",
}
"""Objectives that may be minimised."""

VALUE_UNITS = {
    "true-positives": "rows",
    "true-negatives": "rows",
}
"""Units of the values in text; values without an entry are shares."""

BY_CLASS = "recall:"


def read_objectives(objectives: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Return the names of objectives without their directions, after a check of each direction.

    `objectives`: texts such as ``max accuracy``; ``_`` and ``-`` are the same. `labels`: names of the
    classes.

    Raises BadInputError as :func:`committee_problem` does.

    >>> read_objectives(["max accuracy", "min size"], ["no", "yes"])
    ['accuracy', 'size']
    """
    names: list[str] = []
    for text in objectives:
        sense, _, name = " ".join(text.split()).partition(" ")
        known = [f"max {value}" for value in (*VALUE_OBJECTIVES, f"{BY_CLASS}CLASS")] + [
            f"min {price}" for price in (*MEMBER_OBJECTIVES, *MEAN_LOSSES)
        ]
        if sense not in {"max", "min"} or not name:
            raise BadInputError(
                f"an objective must begin with max or min, such as 'max accuracy' or 'min cost', "
                f"got {text!r}."
            )
        plain = name if name.startswith(BY_CLASS) else name.replace("_", "-")
        minimised = plain in MEMBER_OBJECTIVES or plain in MEAN_LOSSES
        if not minimised and plain not in VALUE_OBJECTIVES and not plain.startswith(BY_CLASS):
            raise BadInputError(
                f"an objective must be {any_of(known, most=20)}, got {text!r}.{did_you_mean(text, known)}"
            )
        wanted = "min" if minimised else "max"
        if sense != wanted:
            raise BadInputError(
                f"{plain} is better if it is {'lower' if wanted == 'min' else 'higher'}, "
                f"got {text!r}. Write '{wanted} {plain}'."
            )
        plain = _of_class(plain, labels)
        if plain in names:
            raise BadInputError(f"the objectives must all differ, got {plain} twice. Leave one of them out.")
        names.append(plain)
    losses = [name for name in names if name in MEAN_LOSSES]
    others = [name for name in names if name not in MEAN_LOSSES and name not in MEMBER_OBJECTIVES]
    if losses and others:
        raise BadInputError(
            f"{all_of(losses)} goes with objectives of members only: it averages probabilities, "
            f"and {all_of(others)} counts votes. Leave one of them out."
        )
    if len(names) < 2:
        raise BadInputError(
            f"a front needs at least two objectives, got {all_of(names)}. Add one, such as 'min size'."
        )
    return names


def _of_class(name: str, labels: Sequence[str]) -> str:
    if name.startswith(BY_CLASS):
        label = name.removeprefix(BY_CLASS)
        if label not in labels:
            raise BadInputError(
                "recall",
                f"must be of one of the classes {any_of(labels)}",
                repr(label),
                did_you_mean(label, labels),
            )
        if len(labels) == 2:
            return "recall" if label == labels[1] else "specificity"
    elif name in {"true-positives", "true-negatives", "recall", "specificity"} and len(labels) > 2:
        raise BadInputError(
            f"{name} needs a positive class, but there are {len(labels)} classes. Name one of them, as in "
            f"'max {BY_CLASS}{labels[-1]}'."
        )
    return name


def price_objective(
    name: str, n_classifiers: int, given: Mapping[str, Sequence[float] | NDArray[Any]], max_cost: float | None
) -> tuple[Objective, NDArray[np.int64], int]:
    """Return an objective of members, the increment by each classifier, and the largest allowed sum."""
    prices = [1.0] * n_classifiers if name == SIZE else given.get(name)
    if prices is None:
        raise BadInputError(
            f"min {name} needs the {name} of every member, got none. Pass it as costs[{name!r}]."
        )
    if len(prices) != n_classifiers:
        raise BadInputError(
            f"costs[{name!r}] must have one entry per classifier, {n_classifiers}, got {len(prices)}."
        )
    exact = [exact_cost(name, price) for price in np.asarray(prices).tolist()]
    limit = (
        sum(exact, Fraction(0)) if name != "cost" or max_cost is None else exact_cost("max_cost", max_cost)
    )
    (*whole, budget), scale = as_integers([*exact, limit])
    if max(sum(whole), budget) >= LARGEST_POINT:
        raise BadInputError(f"{name} must have fewer digits to stay exact. Round it.")
    return (
        Objective(name, Sense.MIN, scale, VALUE_UNITS.get(name, "")),
        np.array(whole, dtype=np.int64),
        budget,
    )


MOST_ROWS_OF_LOSSES = (LARGEST_POINT - 1) // (11 * SCALE)
"""Largest number of rows whose loss stays below :data:`LARGEST_POINT`: a logarithm of a probability is above
-11.
"""


def check_rows_of_losses(n_rows: int) -> None:
    """Refuse more rows than losses can be compared on exactly.

    Raises BadInputError if there are more than :data:`MOST_ROWS_OF_LOSSES` rows.
    """
    if n_rows > MOST_ROWS_OF_LOSSES:
        raise BadInputError(
            f"a front of losses must have at most {MOST_ROWS_OF_LOSSES:,} pruning rows, to be compared "
            f"exactly, got {n_rows:,}. Prune on fewer rows, or leave the losses out."
        )
