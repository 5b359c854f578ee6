"""Logs of alpaca_eval: ``annotations.json``, a list of preferences between two outputs.

An annotation has `instruction`, `output_1`, `output_2`, `annotator`, which is the judge, and `preference`: 1
or 2, or a number between, where the tokens' probabilities were used. What it cost is `price_per_example`, in
versions from 0.6 on `preference_price_per_example`.
"""

from collections.abc import Sequence
from typing import Any

from shortlist._words import counted
from shortlist.errors import BadFileError
from shortlist.panels.logs.json_content import fingerprint, number, objects
from shortlist.panels.logs.log_columns import LogColumns
from shortlist.panels.logs.records import COLUMNS, Records, features_of, records_of

SHOWN = ("instruction", "input", "output_1", "output_2")
"""What an annotator sees, which is what makes a case."""


def is_alpaca_eval(document: Any) -> bool:
    """Whether JSON is a list of annotations of alpaca_eval."""
    first = document[0] if isinstance(document, list) and document else None
    return isinstance(first, dict) and {"annotator", "preference", "output_1", "output_2"} <= set(first)


def alpaca_eval_records(
    source: str, document: Sequence[Any], columns: LogColumns, notes: list[str]
) -> Records:
    """Return the records of annotations; the answers are ``1`` and ``2``.

    A preference between 1 and 2 is for the nearer one, and tells the probabilities of both; one just between
    them is a draw, and no answer.

    Raises BadFileError if a preference is no number from 1 to 2, or a field that is needed is missing.
    """
    rows = [_record(place, annotation, columns) for place, annotation in objects(source, document)]
    draws = sum(row["draw"] for row in rows)
    if draws:
        notes.append(f"{source}: {counted(draws, 'draw')} count as no answer.")
    features = features_of(source, [row.pop("features") for row in rows], columns.features, "annotations")
    return records_of(source, {name: [row.get(name) for row in rows] for name in COLUMNS}, features)


def _record(place: str, annotation: dict[str, Any], columns: LogColumns) -> dict[str, Any]:
    told = number(annotation.get("preference"))
    # missing ones are kept as -1
    preference = None if told is None or told in (-1.0, 0.0) else told
    if preference is not None and not (isinstance(preference, float) and 1 <= preference <= 2):
        raise BadFileError(place, "must have a preference from 1 to 2", repr(preference)[:40], "Mend it.")
    judge = annotation.get("annotator")
    if not isinstance(judge, str | int) or isinstance(judge, bool):
        raise BadFileError(place, "must have a name as 'annotator'", repr(judge)[:40], "Fill it in.")
    shares = None
    if preference is not None and preference not in {1.0, 2.0}:
        shares = {"1": 2 - preference, "2": preference - 1}
    said = None if preference is None or preference == 1.5 else "1" if preference < 1.5 else "2"
    return {
        "case": fingerprint([annotation.get(name) for name in SHOWN]), "judge": judge, "answer": said,
        "draw": preference == 1.5 or told == 0.0, "probabilities": shares,
        "confidence": max(shares.values()) if shares else None,
        "truth": annotation.get(columns.target) if columns.target else None,
        "price": number(_either(annotation, "price_per_example")),
        "latency": number(_either(annotation, "time_per_example")),
        "features": annotation,
    }  # fmt: skip


def _either(annotation: dict[str, Any], name: str) -> Any:
    value = annotation.get(f"preference_{name}")
    return annotation.get(name) if value is None else value
