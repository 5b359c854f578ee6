"""JSON from untrusted files: its values are checked before use, and become records of calls."""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import MOST_IN_MESSAGE, all_of, counted
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.logs.records import COLUMNS, LogColumns, Records, records_of
from shortlist.tables.text import decoded

if TYPE_CHECKING:
    import pandas as pd


def is_json(content: bytes) -> bool:
    """Return whether a file begins like an object or a list of JSON."""
    return content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"{", b"["}


ESCAPES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""Pattern of JSON's escapes; the first group is half a surrogate pair, as in an output cut within an
emoji.
"""
HALF = re.compile(r"\\u[dD][89a-fA-F]")

ODDITIES = {
    "halves": "half a character, as in an output that was cut within an emoji; it is read as U+FFFD",
    "digits": "a number of thousands of digits; it is taken as text",
    "names": "an object with a name twice, and two values; the last one counts",
}
"""Oddities of JSON, and their handling, in words."""


def parsed_json(name: str, content: bytes | str, odd: Counter[str]) -> Any:
    """Return the content of a JSON text; NaN and infinity count as numbers, as some tools write them.

    Raises BadFileError if the text is no JSON, or is nested too deeply.

    `odd`: gets the counts of :data:`ODDITIES`, for :func:`oddity_notes`.
    """
    text = decoded(name, content) if isinstance(content, bytes) else content
    try:
        return _loaded(text, odd)
    except json.JSONDecodeError as error:
        reason = f"{error.msg} in line {error.lineno}, column {error.colno}"
    except RecursionError:
        reason = "it is nested too deeply"
    raise BadFileError(f"{name} must be JSON, but reading it failed: {reason}. Write the log again.")


@contextmanager
def refusing_depth(name: str) -> Iterator[None]:
    """Raise BadFileError for a file whose values are nested too deeply to be written again."""
    try:
        yield
    except RecursionError:
        raise BadFileError(f"{name} is nested too deeply. Write the log again.") from None


def _loaded(text: str, odd: Counter[str]) -> Any:
    found = Counter[str]()

    def whole(escape: re.Match[str]) -> str:
        found["halves"] += escape[1] is not None
        return escape[0] if escape[1] is None else "\\ufffd"

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            found["names"] += any(made[name] != value for name, value in pairs)
        return made

    def digits(number: str) -> int | str:
        is_long = len(number) > MOST_DIGITS
        found["digits"] += is_long
        return number if is_long else int(number)

    if HALF.search(text):
        text = ESCAPES.sub(whole, text)
    try:
        value = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError:
        raise
    except ValueError:  # Python refuses to read an integer of thousands of digits
        found["names"] = 0
        value = json.loads(text, object_pairs_hook=once, parse_int=digits)
    odd.update(found)
    return value


MOST_DIGITS = 4000
"""Largest number of digits of an integer; longer integers stay texts. Python by default refuses more than
4,300.
"""


def oddity_notes(name: str, odd: Mapping[str, int]) -> list[str]:
    """Return a sentence on each kind of oddity in a file."""
    return [
        f"{name}: in {counted(odd[kind], 'place')} there is {what}."
        for kind, what in ODDITIES.items()
        if odd[kind]
    ]


def json_lines(name: str, content: bytes, odd: Counter[str]) -> list[Any] | None:
    """Return the value of every line that is not blank.

    None if there is only one line, or if the first line is no complete value.

    Raises BadFileError if another line is no JSON.
    """
    lines = [
        (number, line) for number, line in enumerate(decoded(name, content).split("\n"), 1) if line.strip()
    ]
    found = Counter[str]()
    try:
        first = _loaded(lines[0][1], found)
    except (ValueError, RecursionError):
        return None
    if not isinstance(first, dict):
        return None
    odd.update(found)
    return [first, *(parsed_json(f"{name}, line {number}", line, odd) for number, line in lines[1:])]


def field(source: str, owner: Mapping[str, Any], name: str, kind: type, *, needed: bool = False) -> Any:
    """Return a field of an object that must be of a kind; None if not `needed` and missing or null.

    Raises BadFileError if the field is of another kind, or is missing or null though needed.
    """
    value = owner.get(name)
    if value is None and not needed:
        return None
    if not isinstance(value, kind):
        raise BadFileError(
            source,
            f"must have {JSON_KINDS[kind]} as {name!r}",
            "none" if value is None else f"{JSON_KINDS.get(type(value), type(value).__name__)}",
            "Write the log again with the tool that made it.",
        )
    return value


JSON_KINDS = {
    dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number",
    bool: "true or false",
}  # fmt: skip
"""Names of the kinds of JSON values for messages."""


def objects(source: str, values: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a list, each with its name for messages.

    Raises BadFileError if a value is no object.
    """
    for number, value in enumerate(values, 1):
        place = f"{source}, record {number:,}"
        if not isinstance(value, dict):
            kind = JSON_KINDS.get(type(value), "null")
            raise BadFileError(place, "must be an object", kind, "Write the log again.")
        yield place, value


def short(value: Any) -> str:
    """Return a value as text for messages; a long value is cut."""
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def listed(values: Iterable[Any], *, most: int = MOST_IN_MESSAGE) -> str:
    """Return a list of values for messages."""
    return all_of(map(short, values), most=most)


MOST_SHOWN = 60
"""Largest number of letters of a value in a message."""


def plain(value: Any) -> Any:
    """Return a value as a label: a list of one label as this label, other lists and objects as text.

    >>> plain("yes"), plain(["yes"]), plain(["a", 1]), plain({"b": None})
    ('yes', 'yes', '["a", 1]', '{"b": null}')
    """
    if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], list | dict):
        return value[0]
    if not isinstance(value, list | dict):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=_as_json)


MOST_FIELDS = 100
"""Largest number of different fields of objects that become columns; with more fields, objects stay texts."""


def with_fields(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table with a column for each field of its objects, such as ``result.score``.

    In a column with other values too, objects become labels or texts. Lists always do.
    """
    import pandas as pd

    columns = {str(name): table[name] for name in table.columns}
    parted: dict[str, Any] = {}
    while columns:
        name = next(iter(columns))
        column = columns.pop(name)
        if column.dtype.kind != "O":
            parted[name] = column
            continue
        cells = [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in column.tolist()]
        known = [cell for cell in cells if isinstance(cell, dict) or not _is_gap(cell)]
        fields = dict.fromkeys(key for cell in known if isinstance(cell, dict) for key in cell)
        if 0 < len(fields) <= MOST_FIELDS and all(isinstance(cell, dict) and cell for cell in known):
            inner = {
                f"{name}.{key}": pd.Series(
                    [cell.get(key) if isinstance(cell, dict) else None for cell in cells], dtype=object
                )
                for key in fields
                if f"{name}.{key}" not in table.columns
            }
            columns = inner | columns
        else:
            parted[name] = pd.Series([plain(cell) for cell in cells], dtype=object, index=column.index)
    return pd.DataFrame(parted).infer_objects()


def _as_json(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else str(value)


def _is_gap(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def unordered(value: Any) -> Any:
    """Return a list in sorted order, as for several choices; other values stay.

    >>> unordered(["b", "a"]), unordered("b")
    (['a', 'b'], 'b')
    """
    return (
        sorted(value, key=lambda one: json.dumps(one, sort_keys=True)) if isinstance(value, list) else value
    )


def fingerprint(value: Any) -> str | None:
    """Return a short key of a value, equal for equal values only; None for None and ""."""
    if value is None or value == "":
        return None
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def name_of(
    place: str, owner: Mapping[str, Any], name: str, *, needed: bool = False
) -> str | int | float | None:
    """Return a name or number of an object; None if not `needed` and missing.

    A null or an empty text counts as missing. Raises BadFileError if the value is of another kind, or is
    missing though needed.
    """
    value = owner.get(name)
    if (value is None or value == "") and not needed:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        advice = "Write the log again with the tool that made it."
        raise BadFileError(place, f"must have a name or number as {name!r}", repr(value)[:40], advice)
    return value


def number(value: Any) -> float | None:
    """Return a number of JSON as a float and null as None; other values stay unchanged for a later error."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf


def at(source: str, owner: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path such as ``response.tokenUsage.prompt``; None where a part is missing.

    Raises BadFileError if a part is no object.
    """
    *parts, last = path.split(".")
    for part in parts:
        owner = field(source, owner, part, dict) or {}
    return owner.get(last)


def numbers_at(source: str, owner: Mapping[str, Any], paths: Mapping[str, str]) -> dict[str, float | None]:
    """Return the numbers at some paths, by name."""
    return {name: number(at(source, owner, path)) for name, path in paths.items()}


def truth_of(place: str, known: Mapping[str, Any], columns: LogColumns, usual: Any, where: str) -> Any:
    """Return the truth of a case: the named field, or otherwise the usual truth.

    Raises BadInputError if the case has no such field; `where` names the place of its fields.
    """
    if columns.target is None:
        return usual
    if columns.target not in known:
        there = f"; it has {listed(known, most=8)}" if known else ""
        advice = "Pass one of them: `target=NAME`." if known else "Leave it out."
        raise BadInputError(
            place, f"must have the field {columns.target!r}", f"none in {where}{there}", advice
        )
    return known[columns.target]


Row = dict[str, Any]
"""Record of one call, by the columns of records; `features` are the fields of its case."""


def records_of_rows(
    source: str,
    rows: Sequence[Row],
    columns: LogColumns,
    notes: list[str],
    *,
    where: str,
    counts: Sequence[tuple[str, str, str]] = (),
) -> Records:
    """Return the records of calls; named fields of the case become `features`.

    `where`: place of these fields, for messages. `counts`: triples of a flag of the rows, the words for
    flagged rows, and the rest of the note on their number.

    Raises BadFileError if there is no row, and BadInputError if no row has one of the features.
    """
    if not rows:
        raise BadFileError(source, "must hold answers", "none", "Let the tool that made it finish its work.")
    for flag, what, told in counts:
        if n_flagged := sum(bool(row[flag]) for row in rows):
            notes.append(f"{source}: {counted(n_flagged, what)} {told}")
    features = _features_of(source, [row["features"] for row in rows], columns.features, where)
    given = {name: [row.get(name) for row in rows] for name in COLUMNS}
    for name in ("answer", "truth"):
        texts = [plain(value) for value in given[name]]
        is_made = [text is not value for text, value in zip(texts, given[name], strict=True)]
        n_made = sum(one and text[:1] in "[{" for one, text in zip(is_made, map(str, texts), strict=True))
        if n_made:
            notes.append(f"{source}: lists and objects in {counted(n_made, name)} are compared as text.")
        given[name] = texts
    return records_of(source, given, features, repeats=columns.repeats)


def _features_of(
    source: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str], where: str
) -> "pd.DataFrame":
    """Return the features of cases; lists and objects are left out."""
    import pandas as pd

    scalar = (str, int, float, bool)
    table = {
        name: [one if isinstance(one := row.get(name), scalar) else None for row in rows] for name in names
    }
    for name, values in table.items():
        if all(value is None for value in values):
            known = dict.fromkeys(key for row in rows for key, one in row.items() if isinstance(one, scalar))
            raise BadInputError(
                source,
                f"must have the feature {name!r} in {where}",
                listed(known, most=8),
                "Pass some of them as `router`.",
            )
    return pd.DataFrame(table, index=range(len(rows)))
