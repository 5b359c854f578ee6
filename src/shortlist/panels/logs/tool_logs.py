"""Logs of evaluation tools: which tool wrote a file, and what its records say."""

from typing import Any, NamedTuple

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

TOOL_FORMS = ("inspect-ai", "lm-eval", "promptfoo", "alpaca-eval")
"""Tools whose logs are read, in the order in which a file is compared with their forms."""


class Content(NamedTuple):
    """A file whose form is known.

    Attributes
    ----------
    form : str
        One of :data:`TOOL_FORMS`, ``rows`` for JSON that is a table, or ``other``.
    value : object
        The JSON in it; the bytes of an archive or a table.
    """

    form: str
    value: Any


def content_of(name: str, content: bytes) -> Content:
    """Return which form the content of a file has.

    Raises
    ------
    BadFileError
        If it begins as JSON and is none.
    """
    if is_inspect_archive(content):
        return Content("inspect-ai archive", content)
    if not is_json(content):
        return Content("other", content)
    value = json_lines(name, content)
    if value is None or len(value) == 1:
        value = parsed_json(name, content) if value is None else value[0]
    if is_inspect(value):
        return Content("inspect-ai", value)
    one_line = [value] if isinstance(value, dict) else value
    if is_harness(one_line):
        return Content("lm-eval", one_line)
    results = promptfoo_results(value)
    if results is None and isinstance(value, dict):
        results = promptfoo_results([value])
    if results is not None:
        return Content("promptfoo", results)
    if is_alpaca_eval(value):
        return Content("alpaca-eval", value)
    return Content("rows", value)


def tool_records(source: str, content: Content, columns: LogColumns, notes: list[str]) -> Records | None:
    """Return the records of a tool's log; None where the content is of no tool."""
    reader = {
        "inspect-ai archive": archive_records, "inspect-ai": inspect_records, "lm-eval": harness_records,
        "promptfoo": promptfoo_records, "alpaca-eval": alpaca_eval_records,
    }.get(content.form)  # fmt: skip
    return None if reader is None else reader(source, content.value, columns, notes)
