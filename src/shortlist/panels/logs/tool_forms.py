"""Forms of logs of tools, each with its reader, and forms of files of tools that contain no answers."""

import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from shortlist._words import all_of, any_of
from shortlist.errors import BadFileError
from shortlist.panels.logs.annotation_logs import (
    argilla_records,
    label_studio_records,
    prodigy_records,
)
from shortlist.panels.logs.evaluation_logs import (
    alpaca_eval_records,
    harness_records,
    openai_evals_records,
)
from shortlist.panels.logs.inspect_logs import archive_records, inspect_records, is_inspect_archive
from shortlist.panels.logs.json_content import is_json, json_lines, oddity_notes, parsed_json
from shortlist.panels.logs.long_roles import LONG_ROLES
from shortlist.panels.logs.promptfoo_logs import (
    promptfoo_records,
    promptfoo_results,
    promptfoo_table,
    promptfoo_table_records,
)
from shortlist.panels.logs.records import LogColumns, Records
from shortlist.tables.files import ZIP, unpacked

Reader = Callable[[str, Any, LogColumns, list[str]], Records]
"""Function that reads records: from the name of a file, its content, columns, and a list that gets notes."""


USUAL_ROLES = ("answer", "target")
ROLES = (*LONG_ROLES, "content")


class _Form(NamedTuple):
    """Form of JSON: its test on the first record of a file, and its reader.

    `title`: name of the tool for people. `in_lines`: whether a file may be a single record in one line.
    `is_export`: whether people label with the tool, which runs no models. `roles`: roles of
    :class:`LogColumns` that the reader uses.
    """

    is_one: Callable[[dict[str, Any]], bool]
    read: Reader
    title: str
    in_lines: bool = True
    is_export: bool = False
    roles: tuple[str, ...] = USUAL_ROLES


def _is_label_studio(first: dict[str, Any]) -> bool:
    lists = [first.get(name) for name in ("annotations", "predictions")]
    return isinstance(first.get("data"), dict) and any(isinstance(one, list) for one in lists)


def _is_argilla(first: dict[str, Any]) -> bool:
    is_flat = any(f"{name}.users" in first for name in first if name.endswith(".responses"))
    return is_flat or (
        isinstance(first.get("fields"), dict) and isinstance(first.get("responses"), dict | list)
    )


def _is_prodigy(first: dict[str, Any]) -> bool:
    return {"_input_hash", "_task_hash", "answer"} <= set(first)


def _is_openai_evals(first: dict[str, Any]) -> bool:
    spec = first.get("spec")
    is_platform = {"data_source_idx", "item", "sample"} <= set(first)
    return is_platform or (isinstance(spec, dict) and "completion_fns" in spec)


FORMS_OF_LISTS = {
    "lm-eval": _Form(
        lambda first: {"doc_id", "filtered_resps"} <= set(first), harness_records, "lm-evaluation-harness"
    ),
    "openai-evals": _Form(_is_openai_evals, openai_evals_records, "OpenAI evals"),
    "promptfoo": _Form(lambda first: promptfoo_results([first]) is not None, promptfoo_records, "promptfoo"),
    "label-studio": _Form(
        _is_label_studio, label_studio_records, "Label Studio", in_lines=False, is_export=True
    ),
    "argilla": _Form(_is_argilla, argilla_records, "Argilla", is_export=True),
    "prodigy": _Form(
        _is_prodigy,
        prodigy_records,
        "Prodigy",
        is_export=True,
        roles=("case", "judge", "answer", "target"),
    ),
    "alpaca-eval": _Form(
        lambda first: {"annotator", "preference", "output_1", "output_2"} <= set(first),
        alpaca_eval_records,
        "alpaca_eval",
        in_lines=False,
        roles=("target",),
    ),
}
"""Forms of lists of records, in the order in which a file is compared with them."""

TOOL_FORMS = ("inspect-ai", *FORMS_OF_LISTS)
"""Names of the tools whose logs can be read."""

LOOKED_FOR = (
    "a table (CSV, TSV, Parquet, workbook, JSON lines), a log of "
    f"{any_of(['inspect-ai', *(one.title for one in FORMS_OF_LISTS.values() if not one.is_export)])}, "
    f"or an export of {any_of(one.title for one in FORMS_OF_LISTS.values() if one.is_export)}"
)


class Content(NamedTuple):
    """File of a known form.

    `form`: one of :data:`TOOL_FORMS`, ``inspect-ai archive``, ``promptfoo table``, ``rows`` for other JSON,
    or ``other``. `value`: parsed JSON; for an archive or other content, the bytes.
    """

    form: str
    value: Any


def content_of(name: str, content: bytes, notes: list[str]) -> Content:
    """Return the form of a file's content; `notes` gets a sentence on each kind of oddity.

    Raises BadFileError if the content begins like JSON but is no JSON, or is compressed and damaged.
    """
    if is_inspect_archive(content):
        return Content("inspect-ai archive", content)
    if content.startswith(ZIP) and not zipfile.is_zipfile(io.BytesIO(content)):
        raise BadFileError(f"{name} is a damaged archive: its end is missing. Write or copy the log again.")
    content = unpacked(name, content)
    if not is_json(content):
        _refuse_markup(name, content)
        results = promptfoo_table(name, content, notes)
        return Content("other", content) if results is None else Content("promptfoo table", results)
    odd = Counter[str]()
    value = json_lines(name, content, odd)
    if value is None:
        value = parsed_json(name, content, odd)
    elif len(value) == 1:
        value = value[0]
    notes += oddity_notes(name, odd)
    return _of_json(value)


YAML = re.compile(rb"(---\s*\n)?[\w.-]+:[ \t]*[^\n,;\t]*\n([ \t]*- |[ \t]+[\w.-]+:|[\w.-]+:)")
"""Pattern of the beginning of a YAML file: a name and a colon, then an item of a list or another name."""


def _refuse_markup(name: str, content: bytes) -> None:
    what = "a page of HTML or XML" if content.lstrip()[:1] == b"<" else "YAML" if YAML.match(content) else ""
    if what:
        advice = "Let the tool that made it write JSON, as promptfoo does by --output results.json."
        raise BadFileError(name, f"must be {LOOKED_FOR}", what, advice)


def _of_json(value: Any) -> Content:
    if isinstance(value, dict) and isinstance(value.get("eval"), dict) and "status" in value:
        return Content("inspect-ai", value)
    if isinstance(value, dict) and (results := promptfoo_results(value)) is not None:
        return Content("promptfoo", results)
    lines = [value] if isinstance(value, dict) else value
    first = lines[0] if isinstance(lines, list) and lines else None
    if isinstance(first, dict):
        for name, form in FORMS_OF_LISTS.items():
            if (form.in_lines or lines is value) and form.is_one(first):
                return Content(name, lines)
    return Content("rows", value)


def tool_records(source: str, content: Content, columns: LogColumns, notes: list[str]) -> Records | None:
    """Return the records of a tool's log; None for other content."""
    readers: dict[str, Reader] = {name: form.read for name, form in FORMS_OF_LISTS.items()}
    readers |= {"inspect-ai archive": archive_records, "inspect-ai": inspect_records}
    readers["promptfoo table"] = promptfoo_table_records
    reader = readers.get(content.form)
    if reader is None:
        return None
    form = FORMS_OF_LISTS.get(content.form.removesuffix(" table"))
    title, used = ("inspect-ai", ("judge", *USUAL_ROLES)) if form is None else (form.title, form.roles)
    unused = [role for role in ROLES if getattr(columns, role) is not None and role not in used]
    if unused:
        what = all_of(map(repr, unused))
        notes.append(f"{source}: as a log of {title}, it is read without the columns named for {what}.")
    return reader(source, content.value, columns, notes)


class _Other(NamedTuple):
    """Form of files without answers: the fields of the records, the name of the form, and advice."""

    needs: frozenset[str]
    name: str
    advice: str


LONG = "Write a table with the columns case, judge, answer and target."
SCORED = "Write a table with the columns case, judge and score, from 0 to 1."

OTHERS = (
    _Other(
        frozenset({"question_id", "model", "judge", "user_prompt", "judgment", "turn"}),
        "judgments of MT-bench, with scores from 1 to 10",
        SCORED,
    ),
    _Other(
        frozenset({"question_id", "model_1", "model_2", "g1_winner"}),
        "judgments of MT-bench on pairs of models",
        LONG,
    ),
    _Other(
        frozenset({"conversation_a", "conversation_b", "winner"}),
        "votes of Chatbot Arena on pairs of models, each by one person",
        LONG,
    ),
    _Other(
        frozenset({"_input_hash", "_task_hash"}),
        "tasks of Prodigy without an answer",
        "Export the annotations by `prodigy db-out`.",
    ),
    _Other(frozenset({"custom_id", "response", "error"}), "answers of OpenAI's batch API", LONG),
    _Other(frozenset({"run_type", "inputs", "outputs"}), "runs of LangSmith", LONG),
    _Other(frozenset({"text", "annotations", "annotation_approver"}), "an export of doccano", LONG),
    _Other(frozenset({"user_input", "response", "retrieved_contexts"}), "results of ragas", SCORED),
    _Other(frozenset({"question", "answer", "contexts", "ground_truth"}), "results of ragas", SCORED),
    _Other(frozenset({"testCases", "metricsScores"}), "a test run of DeepEval", SCORED),
    _Other(frozenset({"testRunData"}), "a test run of DeepEval", SCORED),
    _Other(frozenset({"testRunLink"}), "the address of a test run of DeepEval", SCORED),
    _Other(frozenset({"test_cases_lookup_map"}), "the cache of DeepEval", SCORED),
    _Other(frozenset({"adapter_spec", "request_states"}), "a scenario of HELM", LONG),
    _Other(frozenset({"instance_id", "predicted_text", "stats"}), "predictions of HELM", SCORED),
    _Other(
        frozenset({"id", "completions"}),
        "an export of Label Studio before version 1.0",
        "Export the project again with a later version.",
    ),
    _Other(
        frozenset({"evalId", "results", "config"}),
        "a file of promptfoo without the result of any test",
        "Run the evaluation again, and write its results by --output results.json.",
    ),
    _Other(
        frozenset({"result", "completed_by", "task", "was_cancelled"}),
        "one annotation of Label Studio, as it stores them",
        "Export the project as JSON.",
    ),
)
"""Forms of files without answers, in the order in which a file is compared with them."""


def refuse_others(source: str, fields: Iterable[str]) -> None:
    """Raise BadFileError if the fields are those of a tool's file without answers."""
    found = set(fields)
    for other in OTHERS:
        if other.needs <= found:
            raise BadFileError(source, "must hold the answers of judges to cases", other.name, other.advice)
