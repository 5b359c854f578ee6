"""Logs of evaluation tools: which tool wrote a file, and what its records say."""

import io
import zipfile
from typing import Any, NamedTuple

from shortlist.errors import BadFileError
from shortlist.panels.logs.alpaca_eval_logs import alpaca_eval_records, is_alpaca_eval
from shortlist.panels.logs.harness_logs import harness_records, is_harness
from shortlist.panels.logs.inspect_logs import (
    archive_records,
    inspect_records,
    is_inspect,
    is_inspect_archive,
)
from shortlist.panels.logs.json_content import is_json, json_lines, parsed_json
from shortlist.panels.logs.log_columns import LogColumns
from shortlist.panels.logs.promptfoo_logs import promptfoo_records, promptfoo_results
from shortlist.panels.logs.records import Records
from shortlist.tables.files import ZIP, unpacked

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
