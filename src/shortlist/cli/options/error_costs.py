"""Costs of errors, as typed in every command: by class, or for pairs of classes in a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

if TYPE_CHECKING:
    from shortlist.results.error_costs import ErrorCosts

FINAL = "What happens to a case if the last stage is not sure"

ErrorCostsText: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Cost of errors: with ill=10 a wrong answer about a row of class ill costs 10, any other 1; "
        "or a CSV file with columns said,truth,cost."
    ),
]


def read_error_costs(text: str | None) -> "ErrorCosts":
    """Read the costs of errors, in whole numbers; in a file, an empty cell stands for no answer.

    >>> read_error_costs("ill=10,hurt=3")
    {(None, 'ill'): 10, (None, 'hurt'): 3}
    """
    if text is None:
        return {}
    from shortlist.cli.options.settings import read_numbers
    from shortlist.errors import BadInputError
    from shortlist.results.error_costs import LARGEST_COST

    if "=" not in text or Path(text).exists():
        return _of_file(text)
    found: dict[tuple[str | None, str], int] = {}
    for label, cost in read_numbers(text, "error-costs").items():
        if not 0 <= cost <= LARGEST_COST or cost != int(cost):
            what = f"must be whole numbers from 0 to {LARGEST_COST:,}"
            raise BadInputError("--error-costs", what, f"{cost:g} for {label!r}", "Take a smaller unit.")
        found[None, label] = int(cost)
    return found


def costs_of_labels(text: str | None, y: Any) -> "dict[Any, int]":
    """Return the cost of a wrong answer about each class, by label; empty if errors are only counted.

    `y`: the classes of all rows, ``(n_rows,)``.
    """
    if text is None:
        return {}
    import numpy as np

    from shortlist.guarantees.cells import label_text
    from shortlist.results.error_costs import costs_by_class

    labels = np.unique(np.asarray(y)).tolist()
    costs = costs_by_class(read_error_costs(text), [label_text(one) for one in labels])
    return dict(zip(labels, costs, strict=True))


def _of_file(path: str) -> "ErrorCosts":
    import pandas as pd

    from shortlist.errors import BadInputError
    from shortlist.panels.answer_log import label_of
    from shortlist.results.error_costs import LARGEST_COST
    from shortlist.tables.learning import read_table

    table = read_table(path, [])
    if not {"said", "truth", "cost"} <= set(table.columns):
        raise BadInputError(path, "must have the columns said, truth and cost", ", ".join(table.columns))
    costs = pd.to_numeric(table["cost"], errors="coerce")
    if costs.isna().any() or (costs < 0).any() or (costs % 1 != 0).any() or costs.max() > LARGEST_COST:
        raise BadInputError(
            path, f"must have whole numbers from 0 to {LARGEST_COST:,} as costs", "other ones"
        )
    return {
        (label_of(said), label_of(true)): int(cost)
        for said, true, cost in zip(table["said"], table["truth"], costs, strict=True)
    }
