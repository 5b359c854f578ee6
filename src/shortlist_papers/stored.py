"""Rows that were stored, and whether today's code would give them."""

import ast
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.errors import BadInputError

if TYPE_CHECKING:
    import pandas as pd

OWN = Path(__file__).parent
LIBRARY = OWN.parent / "shortlist"


@functools.cache
def code_word(parts: tuple[str, ...]) -> str:
    """Return a word that differs if the code of these modules or packages does.

    `parts`: such as ``ensembles/rules`` of the library, or ``opponents`` of this package. Comments,
    docstrings, imports and layout do not count, nor where a file is.

    >>> code_word(("_words.py",)) == code_word(("_words.py",)) != code_word(("errors.py",))
    True
    """
    found = []
    for part in parts:
        home = OWN if (OWN / part).exists() else LIBRARY
        place = home / part
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                body = getattr(node, "body", None)
                if isinstance(body, list):
                    body[:] = [one for one in body if not _does_nothing(one)]
            found.append(ast.dump(tree))
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()[:8]


def _does_nothing(node: ast.AST) -> bool:
    """Whether a statement is a docstring or an import: what is imported is a part of its own."""
    return isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def part_of(row: Mapping[str, Any], code: Mapping[str, tuple[str, ...]]) -> str:
    """Return which part of a paper's code a row depends on: that of its kind, or else of its method."""
    for column in ("kind", "method"):
        if row.get(column) in code:
            return str(row[column])
    return ""


def with_code(row: dict[str, Any], code: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return a row with the word of the code that it depends on, where its paper names that."""
    part = part_of(row, code)
    return {**row, "code": code_word(code[part])} if part else row


def stored_rows(path: Path) -> "pd.DataFrame":
    """Read rows as CSV, as units returned them.

    Raises BadInputError if it is no file of rows.
    """
    import pandas as pd

    try:
        rows = pd.read_csv(path, low_memory=False, dtype={"code": str})  # some words are all digits
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path} must be rows of a reproduction as CSV: {error}.") from None
    for column in rows.select_dtypes(["object", "string"]):
        values = rows[column].dropna().astype(str)
        if values.isin(["True", "False"]).all():
            rows[column] = (
                rows[column].astype(object).map({True: True, "True": True, False: False, "False": False})
            )
        elif values.str.startswith("[").all():
            read = [ast.literal_eval(one) if isinstance(one, str) else None for one in rows[column]]
            rows[column] = pd.Series(read, index=rows.index, dtype=object)
    return rows


def checked_rows(rows: "pd.DataFrame", code: Mapping[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    """Count, for each part of the code, rows that today's code gives, and others.

    Rows without a word were stored before rows named their code.
    """
    parts = [
        part_of(row, code) for row in rows[[c for c in ("method", "kind") if c in rows]].to_dict("records")
    ]
    words = rows["code"] if "code" in rows else [None] * len(rows)
    found: dict[str, dict[str, Any]] = {}
    for part, word in zip(parts, words, strict=True):
        name = part or "data, and methods of others"
        counts = found.setdefault(
            name, {"rows of": name, "as today": 0, "other code": 0, "code not named": 0}
        )
        if not part:
            counts["as today"] += 1
        elif not isinstance(word, str):
            counts["code not named"] += 1
        else:
            counts["as today" if word == code_word(code[part]) else "other code"] += 1
    return list(found.values())
