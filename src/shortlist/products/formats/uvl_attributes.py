"""The attributes of a UVL feature: ``{abstract, cost 5, unit 'ms', constraint A => B}``."""

import re
from collections.abc import Callable

from shortlist.errors import BadFileError
from shortlist.exact import as_decimal
from shortlist.products.feature_models.model import Value

_KEY = re.compile(r"""\s*+(?:"([^"\n]*+)"|([^\s"'{}\[\],()]++))\s*+""")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_MOST_LEVELS = 100
"""Lists of attributes within each other."""
_TEXT = re.compile(r""""([^"\n]*)"|'([^'\n]*)'""")


def read_attribute_list(text: str, fail: Callable[[str], BadFileError]) -> tuple[dict[str, Value], list[str]]:
    """Read the list between braces.

    Nested lists get names joined by a dot; a key without a value is true; vectors are kept as text. Double
    and single quotes both enclose texts: FeatureIDE writes the one, the language asks for the other.

    Returns
    -------
    values : dict of str to value
        Values by name.
    constraints : list of str
        The texts behind ``constraint`` and in the brackets behind ``constraints``.

    Examples
    --------
    >>> read_attribute_list("{abstract, cost 2.50, unit 'ms', constraint A => B}", ValueError)
    ({'abstract': True, 'cost': Decimal('2.50'), 'unit': 'ms'}, ['A => B'])
    """
    values: dict[str, Value] = {}
    constraints: list[str] = []
    todo = [("", text.strip()[1:-1], 1)]
    while todo:
        prefix, inner, level = todo.pop()
        if level > _MOST_LEVELS:
            raise fail(f"attributes may be nested {_MOST_LEVELS} levels deep, got more.")
        for part in _split(inner, fail):
            key = _KEY.match(part)
            if key is None:
                raise fail(f"an attribute must start with its name, got {part.strip()[:40]!r}.")
            name, rest = prefix + (key[1] or key[2]), part[key.end() :].strip()
            if name == "constraint" and rest:
                constraints.append(rest)
            elif name == "constraints" and rest.startswith("["):
                constraints += [item.strip() for item in _split(rest[1:-1], fail)]
            elif rest.startswith("{"):
                todo.append((f"{name}.", rest[1:-1], level + 1))
            elif name in values:
                raise fail(f"attribute {name!r} is given twice. Keep one.")
            else:
                values[name] = _value(name, rest, fail)
    return values, constraints


def _value(name: str, text: str, fail: Callable[[str], BadFileError]) -> Value:
    if text in {"", "true"}:
        return True
    if text == "false":
        return False
    if _NUMBER.fullmatch(text):
        number = as_decimal(text)
        return text if number is None else number
    quoted = _TEXT.fullmatch(text)
    if quoted:
        return quoted[1] if quoted[1] is not None else quoted[2]
    if text.startswith("["):
        return text
    raise fail(f"the value of {name!r} must be true, false, a number or a quoted text, got {text[:40]!r}.")


def _split(text: str, fail: Callable[[str], BadFileError]) -> list[str]:
    """Split at the commas that stand in no quotes and brackets."""
    parts, depth, start = [], 0, 0
    for found in re.finditer(r""""[^"\n]*"|'[^'\n]*'|[\[\](){},]""", text):
        sign = found[0]
        if sign in "[({":
            depth += 1
        elif sign in "])}":
            depth -= 1
        elif sign == "," and not depth:
            parts.append(text[start : found.start()])
            start = found.end()
        if depth < 0:
            raise fail("a bracket was never opened.")
    if depth:
        raise fail("a bracket is never closed.")
    if text[start:].strip() or parts:
        parts.append(text[start:])
    return parts
