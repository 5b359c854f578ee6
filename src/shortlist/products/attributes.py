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
"""Objectives that every model has: how many features are selected and deselected."""


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class Attribute:
    """One number per feature."""

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
    """Attributes as a file has them, before a choice is made."""

    source: str
    """The file, for messages."""
    columns: Mapping[str, Mapping[int, Value]]
    """Values by attribute and feature; gaps of the file are left out."""
    lines: Mapping[int, int] = field(default_factory=dict)
    """Line of each feature in the file, where known."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Units by attribute, where known."""


def model_attributes(model: FeatureModel, source: str = "") -> AttributeTable:
    """Return the attributes that came with the model itself.

    `source` is what messages call it, such as its file.
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

    Raises BadInputError if there is no such attribute, features lack a value, a value is no finite number, or
    one has more than :data:`~shortlist.exact.MOST_DECIMALS` decimals or does not fit into 53 bits.

    `name`: the attribute; one that differs in case only is found too, if there is just one. `model`: gives
    the order of the features. `default`: stands for features without a value. Without a default, those with
    children count 0, as they merely group others, and the rest are an error. `decimals`: round to this many
    decimals, half to even; by default nothing is rounded. `unit`: unit, instead of the table's. `notes`: gets
    a sentence about features that count 0 because they group others.

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
    """Refuse features without a value, unless they only group others; of these tell how many there are."""
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
    """Return the attributes called `names`, each from the first table with it.

    Built-in names are passed over.

    Options are by the name asked for; errors are those of ``exact_attribute``.
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

    See ``exact_attribute``.
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

    `place` is named in the error where it is none.
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
    """Return the values of a column as numbers; refuse the first that does not fit the others."""
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
    """Say the location of a value: file, line if known, column and feature."""
    line = f":{table.lines[feature]}" if feature in table.lines else ""
    return f"{table.source}{line}: {name!r} of {model.labels[feature]!r}"


def random_attributes(model: FeatureModel, *, rng: np.random.Generator) -> dict[str, Attribute]:
    """Draw cost, defects and not_used_before for every feature, as Sec. 5.1.5 of :cite:t:`Xue2018`.

    The cost is normal within [5, 15] with two decimals, defects are an integer normal within [0, 10], and
    not_used_before is 0 or 1 with equal probability. The paper states neither mean nor deviation: the middle
    of the range and a sixth of its width are our choice, values outside are drawn again.

    `model`: the model that the features belong to; one draw for each, in order. `rng`: source of randomness:
    the same seed gives the same attributes.

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
"""A number with a sign of currency or percent, a decimal comma, groups of thousands, or an unusual size."""

_LONGEST = 60
"""Characters of a value that are looked at for this."""


def numeric_attributes(table: AttributeTable, model: FeatureModel) -> tuple[list[str], dict[str, str]]:
    """Return the names of the attributes of a table, in its order, and why its other columns are none.

    A column is an attribute if at least half of its values are numbers, or are written like numbers:
    ``12,50``, ``€5``, ``5 %``, ``1e300``. Then every one of them must be a number, as a column that is
    dropped for one bad value would make the answer one to another question. Other columns are texts.
    ``used_before`` is left out if there is ``not_used_before``, which says the same with the sense reversed.
    Names that cannot be written in a list of objectives are left out too. Raises BadFileError if an attribute
    has a value that is no number, or a column has no values at all; says where.

    `names`, which it returns: the attributes. `left_out`, which it returns: every other column, and the
    reason.

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
    """Raise if some values of ``used_before`` are not 0 or 1 while most are."""
    column = table.columns["used_before"]
    wrong = [feature for feature, value in column.items() if as_decimal(str(value)) not in {0, 1}]
    if wrong and 2 * len(wrong) <= len(column):
        place = place_of(table, "used_before", wrong[0], model)
        raise BadFileError(f"{place} must be 0 or 1, got {str(column[wrong[0]])!r}. Correct it.")
