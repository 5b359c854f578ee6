"""Numbers as people write them: decimal commas, thousands separators, currencies, and gaps.

Every table follows one rule. A column holds numbers if all of its cells are numbers or gaps, in one notation.
An empty cell is a gap everywhere. ``NA``, ``None`` and similar words are gaps in a column of numbers or truth
values. In any other column these words stay words, so that they can be answers and classes.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from shortlist._words import all_of
from shortlist.errors import BadFileError

POINT, COMMA = "point", "comma"
DECIMALS = (POINT, COMMA)
"""Possible decimal signs."""

AGREED = "decimal"
"""Key of a table's attribute with the notation of its numbers, if the table is read from text and the
notation is known.
"""

GAP_WORDS = frozenset(
    {"na", "n/a", "nan", "-nan", "none", "null", "<na>", "#na", "#n/a", "#n/a n/a", "1.#ind", "-1.#ind"}
)
"""Words for a gap among numbers, in lower case."""

TRUTHS = frozenset({"true", "false"})

_SPACES = " \u00a0\u202f'\u2019"
_CURRENCY = r"(?:(?:US|CA|A)?\$|[€£¥₹]|EUR|USD|GBP|CHF|JPY|CNY)"
_PRICE = re.compile(rf"([-+\u2212]?)\s*({_CURRENCY}?)\s*([-+\u2212]?)(.*?)\s*({_CURRENCY}?)", re.DOTALL)
_EXPONENT = r"(?:[eE][-+]?\d+)?"
_WRITTEN = {
    POINT: re.compile(
        rf"(?:\d+|[1-9]\d{{0,2}}(?:([,{_SPACES}])\d{{3}})(?:\1\d{{3}})*)?(?:\.\d*)?{_EXPONENT}"
    ),
    COMMA: re.compile(rf"(?:\d+|[1-9]\d{{0,2}}(?:([.{_SPACES}])\d{{3}})(?:\1\d{{3}})*)?(?:,\d*)?{_EXPONENT}"),
}


class CellRules(NamedTuple):
    """Rules of a user for reading cells of a table.

    `gaps`: words that are gaps in every column, in place of :data:`GAP_WORDS` among numbers; None: the usual
    rule. `decimal`: decimal sign, ``"point"`` or ``"comma"``, for columns that fit both signs.
    """

    gaps: tuple[str, ...] | None = None
    decimal: str | None = None

    def is_gap(self, text: str) -> bool:
        """Whether a cell among numbers is a gap."""
        text = text.strip()
        known = text.casefold() in GAP_WORDS if self.gaps is None else text in self.gaps
        return known or not text


USUAL = CellRules()


class Written(NamedTuple):
    """Notation of a column of numbers.

    `plain`: for each notation that fits all cells, the plain number of each different cell, with a point; ""
    for a gap. `currency`: the currency sign, which plain numbers do not have. `is_plain`: whether every cell
    is a plain number already. `agrees`: whether every cell is the same number in both notations; then `plain`
    has only one notation.
    """

    plain: Mapping[str, dict[str, str]]
    currency: str = ""
    is_plain: bool = False
    agrees: bool = False


def as_plain(text: str, notation: str) -> tuple[str, str] | None:
    """Return a number as plain text and its currency; None if it is no number in that notation.

    >>> as_plain("1.202,34 €", COMMA), as_plain("$0.05", POINT), as_plain("1,5", POINT)
    (('1202.34', '€'), ('0.05', '$'), None)
    """
    parts = _PRICE.fullmatch(text.strip())
    if parts is None:
        return None
    sign, before, other_sign, digits, after = parts.groups()
    if (sign and other_sign) or (before and after):
        return None
    found = _WRITTEN[notation].fullmatch(digits)
    if found is None or not any(one.isdigit() for one in digits.casefold().partition("e")[0]):
        return None
    marks = found[1] or ""
    number = digits.replace(marks, "") if marks else digits
    number = number.replace(",", ".") if notation == COMMA else number
    return ("-" if (sign or other_sign) in {"-", "\u2212"} else "") + number, before or after


def readings(text: str) -> list[str]:
    """Return the plain numbers that a text may mean: none, one, or two if notations disagree.

    >>> readings("1,5"), readings("1,234"), readings("five")
    (['1.5'], ['1234', '1.234'], [])
    """
    return [*dict.fromkeys(one[0] for notation in DECIMALS if (one := as_plain(text, notation)))]


def is_plain_number(text: str) -> bool:
    """Whether a text is a number with a point, without thousands separators or a currency."""
    return as_plain(text, POINT) == (text.strip(), "")


def agreed_by_cells(cells: Iterable[str]) -> str | None:
    """Return the notation of cells with two signs, such as ``1.300,50``.

    None if no cell has two signs, or such cells disagree.
    """
    told = {
        notation
        for one in cells
        for notation in DECIMALS
        if "." in one and "," in one and as_plain(one, notation)
    }
    return told.pop() if len(told) == 1 else None


def number_in_table(name: str, column: str, cell: str, agreed: str | None) -> str | None:
    """Return a cell as a plain number in the notation of its table; None for any other cell.

    `agreed`: the notation; None if the notation is unknown. Raises BadFileError if the notation is unknown
    and both notations fit with different numbers.
    """
    by_point, by_comma = as_plain(cell, POINT), as_plain(cell, COMMA)
    if agreed is None and by_point and by_comma and by_point[0] not in {by_comma[0], cell.strip()}:
        raise _ambiguous(name, column, cell, (by_point[0], by_comma[0]))
    is_plain = by_point is not None and by_point[0] == cell.strip()
    found = by_comma or (by_point if is_plain else None) if agreed == COMMA else by_point
    return None if found is None else found[0]


def as_written(texts: Iterable[str], rules: CellRules = USUAL) -> Written | None:
    """Return the notation of the different cells of a column; None if some cells are words.

    A column of gaps only is no column of numbers.
    """
    plain: dict[str, dict[str, str]] = {notation: {} for notation in DECIMALS}
    currencies: set[str] = set()
    gaps = []
    for text in texts:
        if rules.is_gap(text):
            gaps.append(text)
            continue
        for notation in [*plain]:
            one = as_plain(text, notation)
            if one is None:
                del plain[notation]
            else:
                plain[notation][text] = one[0]
                currencies |= {one[1]} - {""}
        if not plain or len(currencies) > 1:
            return None
    if not all(plain.values()):
        return None
    agrees = len(plain) == 2 and plain[POINT] == plain[COMMA]
    if agrees:
        del plain[COMMA]
    is_plain = POINT in plain and all(text.strip() == one for text, one in plain[POINT].items())
    of_gaps = dict.fromkeys(gaps, "")
    return Written(
        {notation: cells | of_gaps for notation, cells in plain.items()},
        next(iter(currencies), ""),
        is_plain,
        agrees,
    )


def misfit(texts: Iterable[str], rules: CellRules = USUAL) -> tuple[str, str] | None:
    """Return the first cell that keeps a column from being numbers, and a cell that fits.

    A cell fits if it has the notation of most cells, and the currency of most cells in this notation. Returns
    None if no cell is a number, or all cells fit.

    >>> misfit(["1.202,34", "2.500,00", "350.00 EUR ca."]), misfit(["5 €", "$ 5", "6 €"])
    (('350.00 EUR ca.', '1.202,34'), ('$ 5', '5 €'))
    """
    cells = [text for text in texts if not rules.is_gap(text)]
    read = {notation: [as_plain(text, notation) for text in cells] for notation in DECIMALS}
    most = max(DECIMALS, key=lambda notation: sum(one is not None for one in read[notation]))
    signs = Counter(one[1] for one in read[most] if one and one[1])
    sign = next((found for found, _ in signs.most_common(1)), "")
    fits = [one is not None and one[1] in {"", sign} for one in read[most]]
    if all(fits) or not any(fits):
        return None
    alike = [text for text, fit in zip(cells, fits, strict=True) if fit]
    example = next((text for text in alike if as_plain(text, POINT) != (text.strip(), "")), alike[0])
    return cells[fits.index(False)], example


def told_numbers(
    name: str,
    columns: Mapping[str, Sequence[str]],
    notes: list[str],
    *,
    rules: CellRules = USUAL,
    separator: str = ",",
    has_points: bool = False,
) -> dict[str, dict[str, str]]:
    """Return the columns of numbers among columns of text, with each different cell as a plain number.

    `columns`: the different cells of each column. `separator`: separator of the columns. A single comma, as
    in ``1,5``, is a decimal comma if the separator is not a comma; else such a cell is a word. `has_points`:
    whether other columns have decimal points. `notes`: receives a sentence on the notation of numbers.

    Raises BadFileError if a column is ambiguous, such as a column of ``1,234``, and no other column of the
    file shows the notation.
    """
    written = {column: one for column, texts in columns.items() if (one := as_written(texts, rules))}
    certain = _certain(written, has_points)
    found: dict[str, dict[str, str]] = {}
    told: dict[str, list[str]] = {}
    for column, one in written.items():
        notation = _notation(one, certain, rules, separator)
        if notation == "":
            cell = next(text for text, plain in one.plain[POINT].items() if plain != one.plain[COMMA][text])
            raise _ambiguous(name, column, cell, (one.plain[POINT][cell], one.plain[COMMA][cell]))
        if notation is None:
            continue
        cells = found[column] = one.plain[notation]
        if one.is_plain and notation == POINT:
            continue
        if one.currency:
            told.setdefault(f"the sign {one.currency!r} in {{}} is left out", []).append(column)
        if notation == COMMA and any("," in text for text in cells):
            told.setdefault("decimal commas in {} were read as decimal points", []).append(column)
        elif any(_is_grouped(text) for text in cells):
            told.setdefault("marks between thousands in {} are left out", []).append(column)
    notes += [f"{name}: {what.format(all_of(map(repr, where), most=8))}." for what, where in told.items()]
    return found


def agreed_notation(
    columns: Mapping[str, Sequence[str]],
    *,
    rules: CellRules = USUAL,
    separator: str = ",",
    has_points: bool = False,
) -> str | None:
    """Return the notation of a table's numbers; None if it is unknown. See `told_numbers`."""
    if rules.decimal is not None:
        return rules.decimal
    written = {column: one for column, texts in columns.items() if (one := as_written(texts, rules))}
    certain = _certain(written, has_points)
    if len(certain) == 1:
        return next(iter(certain))
    return COMMA if separator == ";" else None


def _certain(written: Mapping[str, Written], has_points: bool) -> set[str]:
    """Return the notations of columns that fit one notation only.

    A column with the same numbers in both notations does not count.
    """
    return ({POINT} if has_points else set()) | {
        next(iter(one.plain))
        for one in written.values()
        if len(one.plain) == 1 and not one.agrees and _has_marks(one)
    }


def _has_marks(one: Written) -> bool:
    """Whether a column shows its notation, by decimals or by thousands separators."""
    return any(
        "." in plain or plain != text.strip()
        for cells in one.plain.values()
        for text, plain in cells.items()
        if plain
    )


def _notation(one: Written, certain: set[str], rules: CellRules, separator: str) -> str | None:
    """Return the notation of a column; None if it is taken for words, "" if it is ambiguous."""
    if len(one.plain) == 1:
        (only,) = one.plain
        is_bare = only == COMMA and separator == "," and not one.currency
        if is_bare and rules.decimal != COMMA and not any(map(_is_grouped, one.plain[only])):
            return None
        return only
    if rules.decimal is not None:
        return rules.decimal
    if len(certain) == 1:
        return next(iter(certain))
    if separator == ";":
        return COMMA
    return POINT if one.is_plain else ""


def _ambiguous(name: str, column: str, cell: str, either: tuple[str, str]) -> BadFileError:
    return BadFileError(
        f"{name} has numbers such as {cell!r} in column {column!r}, which is {either[0]} or {either[1]}. Say "
        "which by `decimal='point'` or `decimal='comma'`, or write numbers without marks between thousands."
    )


def _is_grouped(text: str) -> bool:
    return bool(re.search(rf"\d[.,{_SPACES}]\d{{3}}(?!\d)", text))
