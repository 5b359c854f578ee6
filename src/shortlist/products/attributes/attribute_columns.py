"""Which columns of a table are attributes by default."""

import re

from shortlist.errors import BadFileError
from shortlist.exact import as_decimal
from shortlist.products.attributes.attribute import BUILT_IN, AttributeTable, as_number, place_of
from shortlist.products.feature_models.model import FeatureModel, Value

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

    Returns
    -------
    names : The attributes.
    left_out : Every other column, and the reason.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_model
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
        for feature, value in column.items():
            as_number(value, place_of(table, name, feature, model))
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
    )


def _check_reuse(table: AttributeTable, model: FeatureModel) -> None:
    """Raise if some values of ``used_before`` are not 0 or 1 while most are."""
    column = table.columns["used_before"]
    wrong = [feature for feature, value in column.items() if as_decimal(str(value)) not in {0, 1}]
    if wrong and 2 * len(wrong) <= len(column):
        place = place_of(table, "used_before", wrong[0], model)
        raise BadFileError(f"{place} must be 0 or 1, got {str(column[wrong[0]])!r}. Correct it.")
