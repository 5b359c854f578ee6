"""Numbers on features, kept exactly: decimals become integers with one scale per attribute."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist.errors import BadFileError, BadInputError
from shortlist.exact import LARGEST_INTEGER, MOST_DECIMALS, as_decimal, n_decimals
from shortlist.pickles import saved_from
from shortlist.products.model import FeatureModel, Value, suggestion
from shortlist.tables.numbers import misfit, readings

BUILT_IN = ("selected", "deselected")
"""Objectives of every model: the numbers of selected and of deselected features."""


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class Attribute:
    """Attribute with one number per feature."""

    name: str
    """Name of the attribute."""
    values: NDArray[np.int64]
    """The numbers times `scale`, in feature order, ``(n_features,)``."""
    scale: int = 1
    """The smallest power of ten that makes every number an integer."""
    unit: str = ""
    """Unit of the numbers, for people."""


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class AttributeTable:
    """Attributes of a file, before some of them are chosen."""

    source: str
    """Name of the file, for messages."""
    columns: Mapping[str, Mapping[int, Value]]
    """Values by attribute and feature; gaps of the file are left out."""
    lines: Mapping[int, int] = field(default_factory=dict)
    """Line of each feature in the file, if known."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Units by attribute, if known."""


def model_attributes(model: FeatureModel, source: str = "") -> AttributeTable:
    """Return the attributes that came with the model itself.

    `source`: name of the model in messages, such as its file.
    """
    lines = dict(enumerate(model.lines)) if source else {}
    return AttributeTable(source or model.name or "the model", model.attributes, lines)


def exact_attribute(
    table: AttributeTable,
    name: str,
    model: FeatureModel,
    *,
    default: Decimal | float | str | None = None,
    decimals: int | None = None,
    unit: str | None = None,
    notes: list[str] | None = None,
) -> Attribute:
    """Return one attribute of a table as exact integers.

    Raises BadInputError if there is no such attribute, a feature lacks a value, or a value is not finite.
    Numbers with more than :data:`~shortlist.exact.MOST_DECIMALS` decimals, or beyond 53 bits, are errors
    too.

    `name`: name of the attribute. Without an exact match, a name that differs in case only counts, if there
    is just one. `model`: gives the order of the features. `default`: value of each feature that the table
    gives no value. Without a default, such a feature counts 0 if it has children, as it merely groups them;
    otherwise it is an error. `decimals`: number of decimals to round to, half to even; by default nothing is
    rounded. `unit`: unit, instead of the table's. `notes`: receives a sentence about the features that count
    0.

    >>> from shortlist.products.model import make_model
    >>> model = make_model(["A", "B"])
    >>> table = AttributeTable("prices.csv", {"cost": {0: "1.25", 1: "3"}})
    >>> cost = exact_attribute(table, "cost", model)
    >>> cost.values.tolist(), cost.scale
    ([125, 300], 100)
    """
    found = attribute_name(table, name)
    column = table.columns[found]
    absent = [i for i in range(model.n_features) if i not in column]
    if absent and default is None:
        _check_absent(table, name, absent, model, notes)
    rest = Decimal(0) if default is None else as_number(default, f"the default of {found!r}")
    told = _column_numbers(table, found, model)
    numbers = [told.get(i, rest) for i in range(model.n_features)]
    return scaled_attribute(found, numbers, decimals=decimals, unit=unit or table.units.get(found, ""))


def _check_absent(
    table: AttributeTable, name: str, absent: Sequence[int], model: FeatureModel, notes: list[str] | None
) -> None:
    """Refuse features without children that lack a value; note the number of other features that lack one."""
    grouping = {group.parent for group in model.groups}
    missing = [i for i in absent if i not in grouping]
    if missing:
        lack = "lacks" if len(missing) == 1 else "lack"
        which, n_asked = " without children" if grouping else "", model.n_features - len(grouping)
        some = all_of((model.labels[i] for i in missing), most=3)
        raise BadInputError(
            f"{table.source} must give {name!r} for every feature{which}, but {len(missing)} of {n_asked} "
            f"{lack} it: {some}. Add them, or pass `defaults={{{name!r}: 0}}` if that is their value."
        )
    if notes is not None:
        notes.append(
            f"{counted(len(absent), 'feature')} with children and without {name!r} in {table.source} "
            f"count 0: {all_of((model.labels[i] for i in absent), most=3)}."
        )


def chosen_attributes(
    names: Iterable[str],
    tables: Sequence[AttributeTable],
    model: FeatureModel,
    *,
    defaults: Mapping[str, Decimal | float | str] | None = None,
    decimals: int | None = None,
    notes: list[str] | None = None,
) -> dict[str, Attribute]:
    """Return the attributes `names`, each from the first table that has the attribute.

    Built-in names are passed over.

    `defaults`: default value by attribute name. `decimals`, `notes`: as of ``exact_attribute``, which raises
    the errors.
    """
    chosen = {}
    for name in dict.fromkeys(names):
        if name in BUILT_IN:
            continue
        having = [t for t in tables if name.casefold() in map(str.casefold, t.columns)]
        every = AttributeTable(
            " and ".join(t.source for t in tables) or "the model", {c: {} for t in tables for c in t.columns}
        )
        table = having[0] if having else every
        chosen[name] = exact_attribute(
            table,
            name,
            model,
            default=(defaults or {}).get(name),
            decimals=decimals,
            notes=notes,
        )
    return chosen


def scaled_attribute(
    name: str, numbers: list[Decimal], *, decimals: int | None = None, unit: str = ""
) -> Attribute:
    """Scale decimals to integers by the smallest power of ten that loses nothing.

    For the options see ``exact_attribute``.
    """
    if decimals is not None:
        numbers = [round(number, decimals) for number in numbers]
    digits = n_decimals(numbers)
    if digits > MOST_DECIMALS:
        raise BadInputError(
            repr(name),
            f"must have at most {MOST_DECIMALS} decimals to be exact",
            digits,
            "Round it: give decimals, for instance 2.",
        )
    integers = [int(number.scaleb(digits)) for number in numbers]
    if sum(map(abs, integers)) >= LARGEST_INTEGER:
        raise BadInputError(
            f"{name!r} must sum to less than 2^53 after scaling by 10^{digits}. Give fewer decimals."
        )
    return Attribute(name, np.array(integers, dtype=np.int64), 10**digits, unit)


def needs_rounding(table: AttributeTable, name: str) -> bool:
    """Whether an attribute has a number with more than :data:`~shortlist.exact.MOST_DECIMALS` decimals."""
    column = table.columns.get(name, {})
    numbers = (as_decimal(str(value)) for value in column.values())
    return n_decimals(number for number in numbers if number is not None) > MOST_DECIMALS


def attribute_name(table: AttributeTable, name: str) -> str:
    """Return the name as the table spells it."""
    if name in table.columns:
        return name
    alike = [other for other in table.columns if other.casefold() == name.casefold()]
    if len(alike) == 1:
        return alike[0]
    known = ", ".join([*BUILT_IN, *table.columns])
    hint = suggestion(name, [*BUILT_IN, *table.columns], f"Known are {known}.")
    raise BadInputError(f"{table.source} has no attribute {name!r}. {hint}")


def as_number(value: Value | float, place: str) -> Decimal:
    """Return a value as a number; true and false count 1 and 0.

    `place`: location of the value, for the error about a value that is no number.
    """
    if isinstance(value, bool):
        return Decimal(int(value))
    number = as_decimal(str(value))
    if number is None:
        raise BadFileError(
            f"{place} must be a number below 10^19, written like 12.50, got {str(value)[:40]!r}. Correct it, "
            "or leave it empty and give a default."
        )
    return number


def _column_numbers(table: AttributeTable, name: str, model: FeatureModel) -> dict[int, Decimal]:
    """Return the values of a column as numbers; refuse the first text in a column of numbers."""
    column = table.columns[name]
    texts = [value for value in column.values() if isinstance(value, str)]
    wrong = misfit(texts) if any(as_decimal(text) is None for text in texts) else None
    if wrong is not None:
        feature = next(i for i, value in column.items() if value == wrong[0])
        place = place_of(table, name, feature, model)
        if as_decimal(wrong[1]) is None:
            raise BadFileError(
                f"{place} must be a number like the others, such as {wrong[1]!r}, got {wrong[0][:40]!r}. "
                "Correct it, or leave it empty and give a default."
            )
        as_number(wrong[0], place)
    return {i: as_number(value, place_of(table, name, i, model)) for i, value in column.items()}


def place_of(table: AttributeTable, name: str, feature: int, model: FeatureModel) -> str:
    """Return the location of a value in words: file, line if known, column and feature."""
    line = f":{table.lines[feature]}" if feature in table.lines else ""
    return f"{table.source}{line}: {name!r} of {model.labels[feature]!r}"


def random_attributes(model: FeatureModel, *, rng: np.random.Generator) -> dict[str, Attribute]:
    """Draw cost, defects and not_used_before for every feature (Sec. 5.1.5 of :cite:t:`Xue2018`).

    The cost is normal within [5, 15] with two decimals, defects are an integer normal within [0, 10], and
    not_used_before is 0 or 1 with equal probability. The paper states neither mean nor standard deviation. We
    take the middle of the range as the mean, and a sixth of the range's width as the deviation. A value
    outside the range is drawn again.

    `model`: the model of the features; each gets one draw, in order. `rng`: source of randomness; the same
    seed gives the same attributes.

    >>> from shortlist.products.model import make_model
    >>> drawn = random_attributes(make_model(["A", "B"]), rng=np.random.default_rng(1))
    >>> sorted(drawn), drawn["cost"].scale
    (['cost', 'defects', 'not_used_before'], 100)
    """
    n = model.n_features
    cost, defects = _normal_within(500, 1500, n, rng), _normal_within(0, 10, n, rng)
    return {
        "cost": Attribute("cost", cost, 100),
        "defects": Attribute("defects", defects),
        "not_used_before": Attribute("not_used_before", rng.integers(0, 2, size=n)),
    }


def _normal_within(low: int, high: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    drawn: NDArray[np.float64] = np.full(n, low - 1.0)
    while (outside := (drawn < low) | (drawn > high)).any():
        drawn[outside] = rng.normal((low + high) / 2, (high - low) / 6, size=int(outside.sum()))
    return np.rint(drawn).astype(np.int64)


_LIKE_A_NUMBER = re.compile(
    r"[^\w\s.,]?\s?[+-]?(\d{1,3}([.,'\s]\d{3})+|\d*)([.,]?\d+)([eE][+-]?\d+)?\s?[^\w\s.,]?"
)
"""Pattern of a number with a sign of currency or percent, a decimal comma, groups of thousands, or an
unusual size.
"""

_LONGEST = 60
"""Number of leading characters of a value that are compared with the pattern of a number."""


def numeric_attributes(table: AttributeTable, model: FeatureModel) -> tuple[list[str], dict[str, str]]:
    """Return the names of the attributes of a table, in its order, and a reason for each other column.

    A column is an attribute if at least half of its values are numbers, or are written like numbers:
    ``12,50``, ``€5``, ``5 %``, ``1e300``. Then every value must be a number, since dropping the column would
    change the question. Other columns are texts. ``used_before`` is left out beside ``not_used_before``, its
    complement. Columns with names that cannot be written in a list of objectives are left out too. Raises
    BadFileError if an attribute has a value that is no number, or a column has no values; the message names
    the location.

    Returned are `names`, the attributes, and `left_out`, the reason for each other column.

    >>> from shortlist.products.model import make_model
    >>> table = AttributeTable("a.csv", {"cost": {0: "1.5"}, "note": {0: "new"}})
    >>> numeric_attributes(table, make_model(["A"]))
    (['cost'], {'note': 'its values are texts'})
    """
    names: list[str] = []
    left_out: dict[str, str] = {}
    for name, column in table.columns.items():
        if not column:
            raise BadFileError(
                f"{table.source}: the column {name!r} has no values. Fill it in, remove it, or name the "
                "objectives."
            )
        reason = _reason(table, name)
        if reason:
            left_out[name] = reason
            continue
        _column_numbers(table, name, model)
        if name == "used_before":
            _check_reuse(table, model)
            left_out[name] = "more of it is better, and it is no 0 or 1 that could be reversed"
        else:
            names.append(name)
    return names, left_out


def _reason(table: AttributeTable, name: str) -> str:
    column = table.columns[name]
    alike = sum(map(_is_like_a_number, column.values()))
    if 2 * alike < len(column):
        return "its values are texts"
    if name == "used_before" and "not_used_before" in table.columns:
        return "not_used_before says the same"
    if name in BUILT_IN:
        return f"{name} counts features already"
    if "," in name or name.strip() != name:
        return "its name cannot be written in a list of objectives"
    return ""


def _is_like_a_number(value: Value) -> bool:
    text = str(value).strip()
    return (
        isinstance(value, bool)
        or as_decimal(text) is not None
        or bool(_LIKE_A_NUMBER.fullmatch(text[:_LONGEST]))
        or bool(readings(text[:_LONGEST]))
    )


def _check_reuse(table: AttributeTable, model: FeatureModel) -> None:
    """Raise an error if most values of ``used_before`` are 0 or 1 but some are not."""
    column = table.columns["used_before"]
    wrong = [feature for feature, value in column.items() if as_decimal(str(value)) not in {0, 1}]
    if wrong and 2 * len(wrong) <= len(column):
        place = place_of(table, "used_before", wrong[0], model)
        raise BadFileError(f"{place} must be 0 or 1, got {str(column[wrong[0]])!r}. Correct it.")
