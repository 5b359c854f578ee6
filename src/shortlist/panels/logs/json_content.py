"""JSON from strangers: what stands in it is checked before it is used."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from shortlist.errors import BadFileError
from shortlist.tables.text import decoded


def is_json(content: bytes) -> bool:
    """Whether a file begins as an object or a list of JSON does."""
    return content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"{", b"["}


def parsed_json(name: str, content: bytes | str) -> Any:
    """Return what a JSON text holds; NaN and infinity are numbers in it, as some tools write them.

    Raises BadFileError if it is no JSON, is nested too deeply, or has an integer of thousands of digits.
    """
    text = decoded(name, content) if isinstance(content, bytes) else content
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        reason = f"{error.msg} in line {error.lineno}, column {error.colno}"
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError:  # Python refuses to read them
        reason = "it has a number of thousands of digits"
    raise BadFileError(f"{name} must be JSON, but reading it failed: {reason}. Write the log again.")


def json_lines(name: str, content: bytes) -> list[Any] | None:
    """Return the value of every line that is not blank; None unless the first of several is a whole value.

    Raises BadFileError if another line is no JSON.
    """
    lines = [
        (number, line) for number, line in enumerate(decoded(name, content).split("\n"), 1) if line.strip()
    ]
    try:
        first = json.loads(lines[0][1])
    except (ValueError, RecursionError):
        return None
    if not isinstance(first, dict):
        return None
    return [first, *(parsed_json(f"{name}, line {number}", line) for number, line in lines[1:])]


def field(source: str, owner: Mapping[str, Any], name: str, kind: type, *, needed: bool = False) -> Any:
    """Return a field of an object if it is of a kind; None where it is missing or null and not needed.

    Raises BadFileError if it is something else, or missing though needed.
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
"""What messages call the kinds of values of JSON."""


def objects(source: str, values: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a list, each with what messages call it.

    Raises BadFileError if one is no object.
    """
    for number, value in enumerate(values, 1):
        place = f"{source}, record {number:,}"
        if not isinstance(value, dict):
            kind = JSON_KINDS.get(type(value), "null")
            raise BadFileError(place, "must be an object", kind, "Write the log again.")
        yield place, value


def plain(value: Any) -> Any:
    """Return a value that can be a label: a list of one label as that label, other lists and objects as text.

    >>> plain("yes"), plain(["yes"]), plain(["a", 1]), plain({"b": None})
    ('yes', 'yes', '["a", 1]', '{"b": null}')
    """
    if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], list | dict):
        return value[0]
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, list | dict) else value


def fingerprint(value: Any) -> str | None:
    """Return a short name of a value, the same for equal values and no others; None for None and ""."""
    if value is None or value == "":
        return None
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def number(value: Any) -> float | None:
    """Return a number of JSON as a float, None for null; whatever is no number as it is, to be refused."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf
