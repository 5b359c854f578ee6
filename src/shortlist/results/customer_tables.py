"""Tables of customers: a row for each customer, with wanted and unwanted features and limits."""

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from shortlist._words import all_of, any_of, counted, did_you_mean
from shortlist.errors import BadFileError
from shortlist.exact import LARGEST_INTEGER, MOST_PLACES, as_decimal
from shortlist.results.customers import Customer
from shortlist.results.objective import Limit
from shortlist.tables.files import cells_of, read_content
from shortlist.tables.numbers import readings
from shortlist.tables.spreadsheets import unguarded

YES = frozenset(
    {"yes", "y", "ja", "j", "x", "✓", "✔", "1", "true", "wahr", "wanted", "must", "oui", "si", "sí"}
)
"""Words for a wanted feature, in lower case."""

NO = frozenset({"no", "n", "nein", "0", "false", "falsch", "unwanted", "never", "non"})
"""Words for an unwanted feature."""

EITHER = frozenset({"", "egal", "any", "either"})
"""Words for a feature that does not matter."""

_DIRECTIONS = {
    "<=": (
        "most",
        "at most",
        "max",
        "max.",
        "maximum",
        "maximal",
        "up to",
        "höchstens",
        "bis",
        "<=",
        "≤",
        "=<",
    ),
    ">=": ("least", "at least", "min", "min.", "minimum", "minimal", "mindestens", "ab", ">=", "≥", "=>"),
    "<": ("<", "below", "under", "less than", "unter"),
    ">": (">", "above", "over", "more than", "über"),
    "==": ("=", "==", "exactly", "genau"),
}
_WEIGHTS = ("weight of", "weight", "weights", "importance of", "importance", "gewicht von", "gewicht")
_WANTED = frozenset({"wanted", "wants", "must have", "with", "gewünscht", "mit"})
_UNWANTED = frozenset({"unwanted", "not wanted", "must not have", "without", "unerwünscht", "ohne"})
_NAMES = frozenset({"customer", "name", "kunde", "client", "id", "segment"})


class _Column(NamedTuple):
    """Column of the table and its meaning."""

    role: str
    """``name``, ``feature``, ``limit``, ``signed`` for limits with their signs in the cells, ``weight``,
    ``wanted`` or ``unwanted`` for lists of features, ``limits`` for lists of limits, or ``other``.
    """
    what: Any = None
    """Feature index, or quantity; for a limit its quantity and operator, for lists of limits the operator."""


def read_customers(
    path: str | Path, features: Sequence[str], quantities: Sequence[str], notes: list[str] | None = None
) -> tuple[Customer, ...]:
    """Read a table of customers from a file, or from standard input for ``-``.

    Each row is a customer, and the first column has the names, whatever its heading. In a column named like a
    feature, yes means wanted, no means unwanted, and an empty cell means neither. A column such as ``most
    cost``, ``cost at most``, ``cost <=``, ``least hours`` or ``hours >=`` has numbers that are limits. In a
    column named like an objective, without an operator in the heading, each cell has an operator and a
    number, as in ``<= 100``. ``weight of cost`` has weights. Columns ``wanted``, ``unwanted``, ``most`` and
    ``least`` hold lists, such as ``GPS, MP3`` and ``cost 100, grams 80``. Tables with one column per customer
    are transposed.

    Names are found as written, then without case, spaces and signs. Formats are those of
    :func:`shortlist.tables.files.read_table_file`; ``ja``, ``nein``, ``x``, ``true``, 1 and 0 are words for
    yes and no.

    Of repeated limits the tighter one counts. Raises BadFileError if a cell cannot be read, a number is 2^53
    or more in size, or a column is ambiguous. BadFileError is raised too if a column of unknown name holds
    wishes, or its name is close to a known name.

    `features`: names, in order. `quantities`: names of objectives and attributes for limits. `notes`:
    receives a sentence about the reading.
    """
    name, content = read_content(path)
    told: list[str] = []
    rows = [(line, [cell.strip() for cell in cells]) for line, cells in cells_of(name, content, told)]
    rows = [row for row in rows if any(row[1])]
    if len(rows) < 2:
        raise BadFileError(f"{name} has no customers. A table needs a line of names and at least one row.")
    width = max(len(cells) for _, cells in rows)
    table = [(line, cells + [""] * (width - len(cells))) for line, cells in rows]
    reader = _Reader(name, list(features), list(quantities))
    if reader.is_turned([cells for _, cells in table]):
        turned = zip(*[cells for _, cells in table], strict=True)
        table = [(number, list(cells)) for number, cells in enumerate(turned, start=1)]
        table = [row for row in table if any(row[1])]
        reader.place = "column"
    customers = reader.customers(table)
    if notes is not None:
        notes += [*told, reader.sentence(len(customers))]
        if repeated := [one for one, n in Counter(one.name for one in customers).items() if n > 1]:
            notes.append(f"{name}: several customers are called {all_of(repeated, most=4)}.")
    return customers


class _Reader:
    """Reader of one table, with the meanings of its columns."""

    def __init__(self, name: str, features: list[str], quantities: list[str]) -> None:
        self.name, self.features, self.quantities = name, features, quantities
        self.place = "line"
        self.header: list[str] = []
        self.columns: list[_Column] = []

    def is_turned(self, rows: Sequence[Sequence[str]]) -> bool:
        """Whether the names of features and limits are in the first column, and not in the first row."""
        across, down = rows[0][1:], [row[0] for row in rows[1:]]
        return not any(map(self._readings, across)) and any(
            {"feature", "limit"} & {one.role for one in self._readings(cell)} for cell in down
        )

    def customers(self, table: Sequence[tuple[int, list[str]]]) -> tuple[Customer, ...]:
        """Return the customers of a table; the first of its rows is the header."""
        self.header = table[0][1]
        cells = [[row[place] for _, row in table[1:]] for place in range(len(self.header))]
        for place, title in enumerate(self.header):
            self.columns.append(self._column(place, title, cells[place]))
        if not any(one.role not in {"name", "other", "weight"} for one in self.columns):
            raise BadFileError(
                f"{self.name} has no column of a feature or a limit: it has {all_of(self.header)}. "
                f"Name columns as features, such as {any_of(self.features, most=3)}, or limits, such as "
                f"'most {next(iter(self.quantities), 'cost')}'."
            )
        self._refuse_repeated()
        self._refuse_zeros(cells)
        return tuple(self._customer(line, row) for line, row in table[1:])

    def sentence(self, n_customers: int) -> str:
        """Return a sentence about the meanings of the columns."""
        by: dict[str, list[str]] = {}
        for title, one in zip(self.header, self.columns, strict=True):
            by.setdefault(one.role, []).append(title or "without a name")
        parts = [counted(n_customers, "customer")]
        parts[0] += f" named by {by['name'][0]!r}" if "name" in by else ", numbered by rows"
        for role, words in (
            ("feature", "wanted and unwanted features in {}"),
            ("wanted", "wanted features in {}"),
            ("unwanted", "unwanted features in {}"),
            ("weight", "weights in {}"),
        ):
            parts += [words.format(all_of(by[role], most=4))] if role in by else []
        limits = [title for role in ("limit", "signed", "limits") for title in by.get(role, ())]
        parts += [f"limits in {all_of(limits, most=4)}"] if limits else []
        parts += [f"left out, as no feature or limit: {all_of(by['other'], most=4)}"] if "other" in by else []
        turned = " (customers in columns)" if self.place == "column" else ""
        return f"{self.name}{turned}: {'; '.join(parts)}."

    def _column(self, place: int, title: str, cells: Sequence[str]) -> _Column:
        filled = [cell for cell in cells if cell]
        is_answers = bool(filled) and all(_is_answer(cell) for cell in filled)
        readings = self._readings(title)
        if not readings:
            return self._unread(place, title, filled, is_answers=is_answers)
        if place == 0 and {one.role for one in readings} == {"feature"} and not is_answers and filled:
            return _Column("name")  # a customer may have the name of a feature
        is_numbers = all(_number(cell) is not None for cell in filled)
        is_signed = bool(filled) and all(_signed(cell) is not None for cell in filled)
        fits = {"feature": is_answers or not filled, "quantity": is_signed or is_numbers}
        fitting = [one for one in readings if len(readings) == 1 or fits.get(one.role, is_numbers)]
        if not filled:
            fitting = fitting[:1]
        if len(fitting) != 1:
            raise self._two_readings(title, readings)
        (only,) = fitting
        if only.role != "quantity":
            return only
        if is_signed:
            return _Column("signed", only.what)
        if len(readings) > 1:
            raise self._two_readings(title, readings)
        raise BadFileError(
            f"{self.name}: column {title!r} may hold the most or the least that a customer "
            f"takes, or how much it weighs. Call it 'most {only.what}', 'least {only.what}' or "
            f"'weight of {only.what}', or write signs before the numbers, such as <= 100."
        )

    def _unread(self, place: int, title: str, filled: Sequence[str], *, is_answers: bool) -> _Column:
        """Return the meaning of a column with an unknown heading: names of customers, or left out."""
        if title.casefold() in _NAMES:
            return _Column("other" if self._is_named else "name")
        is_number = all(cell.isdigit() for cell in filled) and len(set(filled)) == len(filled)
        has_answers = any(_is_answer(cell) and not cell.isdigit() for cell in filled)
        if place == 0 and (is_number or not (is_answers or (has_answers and self._meant(title)))):
            return _Column("name")
        self._refuse_wishes(title, filled, has_answers=has_answers or is_answers)
        return _Column("other")

    @property
    def _is_named(self) -> bool:
        return any(one.role == "name" for one in self.columns)

    def _readings(self, title: str) -> list[_Column]:
        """Return the possible meanings of a heading."""
        found: list[_Column] = []
        feature = _found(title, self.features)
        if feature is not None:
            found.append(_Column("feature", feature))
        word = title.casefold().strip(" :")
        quantity = _found(title, self.quantities)
        if quantity is not None and not re.search("[<>=≤≥]", title):
            found.append(_Column("quantity", self.quantities[quantity]))
        for form in dict.fromkeys((re.sub(r"[()\[\]:]", " ", word), re.sub(r"[(\[].*?[)\]]", " ", word))):
            found += self._directed(" ".join(form.split()))[:1]
            for rest in _without(" ".join(form.split()), _WEIGHTS, before=True, behind=True):
                place = _found(rest, self.quantities)
                found += [] if place is None else [_Column("weight", self.quantities[place])]
        if not found and word in _WANTED | _UNWANTED:
            found.append(_Column("wanted" if word in _WANTED else "unwanted"))
        if not found and word in {*_DIRECTIONS["<="][:2], *_DIRECTIONS[">="][:2]}:
            found.append(_Column("limits", "<=" if "most" in word else ">="))
        return list(dict.fromkeys(found))

    def _directed(self, text: str) -> list[_Column]:
        """Return the possible limits meant by a heading without brackets, the most likely limit first."""
        return [
            _Column("limit", (self.quantities[place], sign))
            for sign, words in _DIRECTIONS.items()
            for rest in _without(text, words, before=True, behind=True)
            if (place := _found(rest, self.quantities)) is not None
        ]

    def _refuse_wishes(self, title: str, filled: Sequence[str], *, has_answers: bool) -> None:
        """Refuse an unknown column whose cells or heading look like wishes."""
        where, known = f"{self.name}: column {title!r}", f" Known are {all_of(self.quantities, most=6)}."
        if not filled:
            return
        if has_answers:
            named = " Correct its name, or remove it; call it 'customer' if it names customers."
            raise BadFileError(
                f"{where} says yes and no, but there is no such feature."
                + (did_you_mean(title, self.features) or named)
            )
        rest = [
            one
            for words in (*_DIRECTIONS.values(), _WEIGHTS)
            for one in _without(title.casefold(), words, before=True, behind=True)
        ]
        if rest:
            raise BadFileError(
                f"{where} is called as a limit or a weight, but there is no {rest[0]!r}."
                + (did_you_mean(rest[0], self.quantities) or known)
            )
        if any(_signed(cell) is not None for cell in filled):
            raise BadFileError(
                f"{where} holds limits, but there is no {title!r}."
                + (did_you_mean(title, self.quantities) or known)
            )
        if meant := self._meant(title):
            raise BadFileError(
                f"{where} is no feature and no limit.{meant} Correct its name, or call it otherwise."
            )

    def _meant(self, title: str) -> str:
        return did_you_mean(title, [*self.features, *self.quantities])

    def _two_readings(self, title: str, readings: Sequence[_Column]) -> BadFileError:
        forms = {
            "feature": "whether a feature is wanted",
            "quantity": "a limit on an objective",
            "limit": "a limit on an objective",
            "weight": "the weight of an objective",
        }
        each = any_of(dict.fromkeys(forms[one.role] for one in readings))
        return BadFileError(
            f"{self.name}: column {title!r} may say {each}. Fill a column of a feature with yes and no, "
            "and call others 'most NAME', 'least NAME' or 'weight of NAME', or write signs, such as <= 100."
        )

    def _refuse_repeated(self) -> None:
        seen: dict[Any, str] = {}
        for title, one in zip(self.header, self.columns, strict=True):
            if one.role in {"name", "signed", "other"}:
                continue
            if one in seen:
                raise BadFileError(
                    f"{self.name}: columns {seen[one]!r} and {title!r} say the same thing. "
                    "Remove one of them."
                )
            seen[one] = title

    def _refuse_zeros(self, cells: Sequence[Sequence[str]]) -> None:
        """Refuse columns of features that contain 1 and 0 only, as 0 may mean unwanted or indifferent."""
        answers = {
            cell
            for one, column in zip(self.columns, cells, strict=True)
            if one.role == "feature"
            for cell in column
        }
        if answers == {"0", "1"}:
            raise BadFileError(
                f"{self.name} has 1 and 0 for every feature, so that 0 may say that a feature is unwanted, "
                "or that it does not matter. Write no where it is unwanted, and nothing where it does "
                "not matter."
            )

    def _customer(self, line: int, row: Sequence[str]) -> Customer:
        where = f"{self.name}:{line}" if self.place == "line" else f"{self.name}, column {line}"
        name = f"{'row' if self.place == 'line' else 'column'} {line}"
        features: dict[int, None] = {}
        limits: list[Limit] = []
        weights: dict[str, Decimal] = {}
        for title, one, cell in zip(self.header, self.columns, row, strict=True):
            if not cell:
                continue
            what = f"{where}: {title!r}"
            if one.role == "name":
                name = unguarded(cell)
            elif one.role == "weight":
                weights[one.what] = _weight(cell, what)
            for literal in self._literals(one, cell, what):
                if -literal in features:
                    both = self.features[abs(literal) - 1]
                    raise BadFileError(f"{where} wants {both!r} and does not. Remove one of both.")
                features[literal] = None
            limits += self._limits(one, cell, what)
        if weights and not any(weights.values()):
            raise BadFileError(f"{where} has no weight above 0. Leave all empty, or give one.")
        return Customer(name, tuple(features), _tightest(limits), weights)

    def _literals(self, column: _Column, cell: str, what: str) -> list[int]:
        """Return the wishes of a cell: i + 1 if feature i is wanted, -(i + 1) if it is unwanted."""
        if column.role == "feature":
            return _answer(cell, column.what, what)
        if column.role not in {"wanted", "unwanted"}:
            return []
        sign = 1 if column.role == "wanted" else -1
        return [sign * (1 + self._feature(part, what)) for part in self._names(cell)]

    def _limits(self, column: _Column, cell: str, what: str) -> list[Limit]:
        if column.role == "limit":
            quantity, operator = column.what
            return [Limit(quantity, operator, _needed(cell, what))]
        if column.role == "signed":
            signed = _signed(cell)
            return [] if signed is None else [Limit(column.what, signed[0], _within(signed[1], cell, what))]
        if column.role == "limits":
            return [self._limit(part, column.what, what) for part in _parts(cell)]
        return []

    def _names(self, cell: str) -> list[str]:
        """Return the features of a list; names may contain commas."""
        return [cell] if _found(cell, self.features) is not None else _parts(cell)

    def _feature(self, name: str, what: str) -> int:
        found = _found(name, self.features)
        if found is None:
            hint = did_you_mean(name, self.features) or " Correct it, or remove it."
            raise BadFileError(f"{what} must name features, got {name!r}.{hint}")
        return found

    def _limit(self, part: str, operator: str, what: str) -> Limit:
        """Read one limit of a list, such as ``cost 100``, ``cost: 100`` or ``cost <= 100``."""
        found = re.fullmatch(r"(.*?[^\s:=<>≤≥])\s*(?:[:=<>≤≥]+\s*|\s)([-+]?[\d.,]+\D*)", part)
        place = _found(found[1], self.quantities) if found else None
        number = _number(found[2]) if found else None
        if place is None or number is None:
            known = all_of(self.quantities, most=6)
            raise BadFileError(
                f"{what} must read like 'cost 100, grams 80', got {part!r}. Known are {known}."
            )
        return Limit(self.quantities[place], operator, _within(number, part, what))


def _is_answer(cell: str) -> bool:
    return cell.casefold() in YES | NO | EITHER


def _tightest(limits: Sequence[Limit]) -> tuple[Limit, ...]:
    """Return the tightest limits, one for each quantity and direction."""
    kept: dict[object, Limit] = {}
    for limit in limits:
        key = (limit.name, limit.sign, None if limit.sign else limit.value)
        known = kept.setdefault(key, limit)
        off = (known.value - limit.value) * limit.sign
        if off > 0 or (off == 0 and "=" not in limit.operator):
            kept[key] = limit
    return tuple(kept.values())


def _without(text: str, words: Sequence[str], *, before: bool, behind: bool) -> list[str]:
    """Return the forms of a text without a word at its beginning or end, one form for each matching word."""
    found = []
    for word in words:
        gap = "" if not word[-1].isalpha() and not word.endswith(".") else " "
        if before and text.startswith(word + gap):
            found.append(text[len(word) :].strip())
        if behind and text.endswith(gap + word):
            found.append(text[: -len(word)].strip())
    return [one for one in dict.fromkeys(found) if one]


def _plain(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _found(name: str, known: Sequence[str]) -> int | None:
    """Return the index of a name in `known`; None if there is none.

    A name is found as written, else as the only known name that is equal without case, spaces and signs.
    """
    if name in known:
        return known.index(name)
    plain = _plain(name)
    alike = [place for place, one in enumerate(known) if plain and _plain(one) == plain]
    return alike[0] if len(alike) == 1 else None


def _parts(cell: str) -> list[str]:
    """Return the parts of a list.

    The list is split at semicolons, bars or line ends; without such signs, at commas that no digit follows.
    """
    parts = re.split(r"[;|\n]", cell)
    if len(parts) == 1:
        parts = re.split(r",(?!\d)", cell)
    return [part.strip() for part in parts if part.strip()]


def _answer(cell: str, feature: int, what: str) -> list[int]:
    word = cell.casefold()
    if word in EITHER:
        return []
    if word not in YES | NO:
        raise BadFileError(
            f"{what} must be yes where the feature is wanted, no where it is unwanted, or empty, "
            f"got {cell!r}."
        )
    return [feature + 1 if word in YES else -feature - 1]


def _number(text: str) -> Decimal | None:
    """Return a number in people's notation; None if the text is no number or ambiguous.

    A number that is too large becomes infinity.
    """
    plain = readings(text)
    if len(plain) != 1:
        return None
    number = as_decimal(plain[0])
    return Decimal("Infinity") if number is None else number


def _needed(cell: str, what: str) -> Decimal:
    number = _number(cell)
    if number is None:
        both = readings(cell)
        why = f", which is {' or '.join(both)}. Write one of these" if both else ". Correct it, or empty it"
        raise BadFileError(f"{what} must be a number, got {cell!r}{why}.")
    return _within(number, cell, what)


def _within(number: Decimal, cell: str, what: str) -> Decimal:
    """Return a number that a double represents exactly; refuse any other number."""
    if abs(number) >= LARGEST_INTEGER:
        raise BadFileError(
            f"{what} must be a number below {LARGEST_INTEGER:,} in size, with at most {MOST_PLACES:,} "
            f"decimals, got {cell!r}, which is too large or too long. Correct it, or empty it."
        )
    return number


def _weight(cell: str, what: str) -> Decimal:
    weight = _needed(cell, what)
    if weight < 0:
        raise BadFileError(f"{what} must be a weight of at least 0, got {cell!r}.")
    return weight


def _signed(cell: str) -> tuple[str, Decimal] | None:
    """Return the operator and the number of a cell such as ``<= 100`` or ``at most 100``."""
    for sign, words in _DIRECTIONS.items():
        for rest in _without(cell.casefold(), words, before=True, behind=False):
            if (number := _number(rest)) is not None:
                return sign, number
    return None
