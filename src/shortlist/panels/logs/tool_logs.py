"""Logs of evaluation tools: which tool wrote a file, and what its records say.

Logs of alpaca_eval: ``annotations.json``, a list of preferences between two outputs.

An annotation has `instruction`, `output_1`, `output_2`, `annotator`, which is the judge, and `preference`: 1
or 2, or a number between, where the tokens' probabilities were used. What it cost is `price_per_example`, in
versions from 0.6 on `preference_price_per_example`.
"""

import io
import zipfile
from collections.abc import Sequence
from typing import Any, NamedTuple

from shortlist._words import counted
from shortlist.errors import BadFileError
from shortlist.panels.logs.harness_logs import harness_records, is_harness
from shortlist.panels.logs.inspect_logs import (
    archive_records,
    inspect_records,
    is_inspect,
    is_inspect_archive,
)
from shortlist.panels.logs.json_content import fingerprint, is_json, json_lines, number, objects, parsed_json
from shortlist.panels.logs.promptfoo_logs import promptfoo_records, promptfoo_results
from shortlist.panels.logs.records import COLUMNS, LogColumns, Records, features_of, records_of
from shortlist.tables.files import ZIP, unpacked

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


TOOL_FORMS = ("inspect-ai", "lm-eval", "promptfoo", "alpaca-eval")
"""Tools whose logs are read, in the order in which a file is compared with their forms."""


class Content(NamedTuple):
    """A file whose form is known.

    Attributes
    ----------
    form : One of :data:`TOOL_FORMS`, ``inspect-ai archive``, ``rows`` for other JSON, or ``other``.
    value : The JSON in it; of an archive, or of what is no JSON, the bytes.
    """

    form: str
    value: Any


def content_of(name: str, content: bytes) -> Content:
    """Return which form the content of a file has.

    Raises BadFileError if it begins as JSON and is none, or is compressed and damaged.
    """
    if is_inspect_archive(content):
        return Content("inspect-ai archive", content)
    if content.startswith(ZIP) and not zipfile.is_zipfile(io.BytesIO(content)):
        raise BadFileError(f"{name} is a damaged archive: its end is missing. Write or copy the log again.")
    content = unpacked(name, content)
    if not is_json(content):
        return Content("other", content)
    value = json_lines(name, content)
    if value is None or len(value) == 1:
        value = parsed_json(name, content) if value is None else value[0]
    return _of_json(value)


def _of_json(value: Any) -> Content:
    lines = [value] if isinstance(value, dict) else value
    results = promptfoo_results(value) or promptfoo_results(lines)
    if is_inspect(value):
        found = Content("inspect-ai", value)
    elif is_harness(lines):
        found = Content("lm-eval", lines)
    elif results is not None:
        found = Content("promptfoo", results)
    else:
        found = Content("alpaca-eval" if is_alpaca_eval(value) else "rows", value)
    return found


def tool_records(source: str, content: Content, columns: LogColumns, notes: list[str]) -> Records | None:
    """Return the records of a tool's log; None where the content is of no tool."""
    reader = {
        "inspect-ai archive": archive_records, "inspect-ai": inspect_records, "lm-eval": harness_records,
        "promptfoo": promptfoo_records, "alpaca-eval": alpaca_eval_records,
    }.get(content.form)  # fmt: skip
    return None if reader is None else reader(source, content.value, columns, notes)
