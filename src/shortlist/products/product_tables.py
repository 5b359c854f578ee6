"""Tables of products, one per row or one per file, and checks of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np

from shortlist._words import all_of
from shortlist.arrays import Mask
from shortlist.errors import BadFileError
from shortlist.exact import as_decimal
from shortlist.pickles import saved_from
from shortlist.products.configuration.question import FeatureObjective
from shortlist.products.model import FeatureModel, FeatureNames, feature_names
from shortlist.products.rules import broken_rules, rule_text
from shortlist.results.front import POINT
from shortlist.results.objective import objective_names
from shortlist.tables.files import cells_of, read_content
from shortlist.tables.spreadsheets import unguarded

FEATURE, OBJECTIVE = "feature: ", "objective: "
"""Prefixes of headings in the table of a front."""

_TRUTHS = {"1": True, "true": True, "0": False, "false": False}
_BLOCK = 256  # number of products that are checked for broken rules at a time


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class ProductTable:
    """Configurations read from a table."""

    selections: Mask
    """Mask of the selected features in each row, ``(n_rows, n_features)``."""
    lines: tuple[int, ...]
    """Line or row of the file for each configuration."""
    values: Mapping[str, tuple[Decimal | None, ...]]
    """Values by name of the objective, such as ``min cost``; one value per row, None if it is missing."""


def read_products(
    path: str | Path, model: FeatureModel, *, drop: Collection[str] = (), notes: list[str] | None = None
) -> ProductTable:
    """Read configurations from a table: CSV, Excel, Parquet, or ``-`` for standard input.

    In the first form each row is a configuration. It has a column for every feature, called by its name or
    ``feature: NAME``, with 1, 0, true or false. A column such as ``objective: min cost`` holds values. A
    column ``point`` holds the numbers of points, unless ``point`` is a feature. Fronts and samples are
    written in this form. In the second form the columns are ``feature`` and ``selected``, and the file is one
    configuration. Raises BadFileError if a column has any other name, a feature has no column or two columns,
    or a cell cannot be read.

    `model`: the model of the features. `drop`: columns to leave out. `notes`: receives notes on the file, for
    instance on a separator other than the comma.
    """
    name, content = read_content(path)
    if not content.strip():
        raise BadFileError(f"{name} is empty. Is it the right file?")
    rows = cells_of(name, content, [] if notes is None else notes)
    header = [unguarded(cell.strip()) for cell in rows[0][1]]
    body = [(line, row) for line, row in rows[1:] if any(cell.strip() for cell in row)]
    for line, row in body:
        if len(row) != len(header):
            raise BadFileError(f"{name}:{line}: the row must have {len(header)} cells, got {len(row)}.")
    if sorted(header) == ["feature", "selected"]:
        places = [header.index("feature"), header.index("selected")]
        columns = [unguarded(row[places[0]].strip()) for _, row in body]
        body = [(rows[0][0], [row[places[1]] for _, row in body])]
        header = columns
    if not body:
        raise BadFileError(f"{name} has a header and no rows. A table of products needs one at least.")
    where = _columns(name, header, model, drop)
    selections = np.zeros((len(body), model.n_features), dtype=bool)
    for number, (line, row) in enumerate(body):
        for feature, place in where.items():
            truth = _TRUTHS.get(row[place].strip().casefold())
            if truth is None:
                raise BadFileError(
                    f"{name}:{line}: the cell of {model.labels[feature]!r} must be 1, 0, true or false, got "
                    f"{row[place]!r}."
                )
            selections[number, feature] = truth
    values = {
        _called(name, title): tuple(_value(name, line, title, row[place]) for line, row in body)
        for place, title in enumerate(header)
        if title.startswith(OBJECTIVE) and title not in drop
    }
    return ProductTable(selections, tuple(line for line, _ in body), values)


def _columns(name: str, header: Sequence[str], model: FeatureModel, drop: Collection[str]) -> dict[int, int]:
    names = feature_names(model)
    missing = [one for one in drop if one not in header]
    if missing:
        raise BadFileError(
            f"{name} has no column {missing[0]!r} to leave out. It has {all_of(header, most=6)}."
        )
    where: dict[int, int] = {}
    for place, title in enumerate(header):
        if title in drop or title.startswith(OBJECTIVE):
            continue
        feature = _found(names, title)
        if title == POINT and (feature is None or FEATURE + POINT in header):
            continue
        if feature is None:
            raise BadFileError(
                f"{name}: the column {title!r} is no feature. {names.close_to(title.removeprefix(FEATURE))} "
                "Correct it, or drop the column."
            )
        if feature in where:
            raise BadFileError(f"{name} has feature {model.labels[feature]!r} twice. Keep one of them.")
        where[feature] = place
    absent = [label for i, label in enumerate(model.labels) if i not in where]
    if absent:
        raise BadFileError(
            f"{name} must have every feature of the model, but has none for {all_of(absent, most=6)}. Add "
            "them, with 0 where they are not selected."
        )
    return where


def _found(names: FeatureNames, title: str) -> int | None:
    found = names.exact.get(title)
    return found if found is not None else names.find(title.removeprefix(FEATURE))


def _called(name: str, title: str) -> str:
    """Return the standard name of an objective, such as ``min cost``."""
    try:
        ((sense, objective),) = objective_names(title.removeprefix(OBJECTIVE))
    except ValueError:
        raise BadFileError(
            f"{name}: a column of values must be called like '{OBJECTIVE}min cost', got {title!r}. Rename "
            "it, or drop the column."
        ) from None
    return f"{sense} {objective}"


def _value(name: str, line: int, title: str, cell: str) -> Decimal | None:
    """Return the number in a cell; None for an empty cell."""
    if not cell.strip():
        return None
    value = as_decimal(cell.strip())
    if value is None:
        raise BadFileError(f"{name}:{line}: the cell of {title!r} must be a number, got {cell!r}.")
    return value


@saved_from("shortlist.products")
@dataclass(frozen=True)
class ProductCheck:
    """Errors of one configuration of a table, if any."""

    line: int
    """Line of the configuration in its file."""
    broken: tuple[str, ...]
    """Sentences of the broken rules; empty for a product."""
    values: Mapping[str, Decimal]
    """Values of the objectives, recomputed."""
    wrong: Mapping[str, Decimal]
    """Wrong values, by objective, as the table states the values."""

    @property
    def is_right(self) -> bool:
        """Whether this is a product, and the table states its values correctly."""
        return not self.broken and not self.wrong


def check_products(
    table: ProductTable, model: FeatureModel, objectives: Sequence[FeatureObjective] = ()
) -> list[ProductCheck]:
    """Check every configuration of a table against the rules of a model, and recompute its objectives.

    >>> from shortlist.products.model import make_group, make_model
    >>> pair = make_model(["A", "B"], root=0, groups=[make_group(0, [1], "mandatory")])
    >>> rows = ProductTable(np.array([[True, True], [True, False]]), (2, 3), {})
    >>> [one.broken for one in check_products(rows, pair)]
    [(), ('B is mandatory below A',)]
    """
    counted: dict[str, list[Decimal]] = {}
    for goal in objectives:
        scale, sign = goal.objective.scale or 1, goal.objective.sign
        points = goal.points(table.selections).tolist()
        counted[f"{goal.objective.sense} {goal.objective.name}"] = [Decimal(p * sign) / scale for p in points]
    checks = []
    for start in range(0, len(table.lines), _BLOCK):
        broken = broken_rules(model, table.selections[start : start + _BLOCK])
        for number, row in enumerate(broken, start=start):
            values = {name: column[number] for name, column in counted.items()}
            told = {name: column[number] for name, column in table.values.items()}
            wrong = {
                name: value
                for name, value in told.items()
                if value is not None and name in values and value != values[name]
            }
            rules = tuple(rule_text(model, rule) for rule in np.flatnonzero(row).tolist())
            checks.append(ProductCheck(table.lines[number], rules, values, wrong))
    return checks
