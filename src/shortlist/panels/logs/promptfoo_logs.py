"""Logs of promptfoo: results in JSON, and tables of outputs in CSV.

``results.json``, or its results one per line. A result has `provider` with `id` and `label`, `prompt`,
`promptIdx`, `testIdx`, `vars`, `response` with `output`, `tokenUsage` and `cached`, `error`, `cost` and
`latencyMs`. The file holds them in `results.results` (version 3 of the summary) or in `results` alone.

A table has a row for each test: its variables, and for each output a column ``[PROVIDER] PROMPT``. Further
columns follow each output: ``Status``, ``Score`` and ``Grader Reason``, in older versions ``Grader Reason``,
``Comment`` and ``Latency (ms)``, and before that none. In older versions an output begins with ``[PASS]``,
``[FAIL]`` or ``[ERROR]``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shortlist._words import any_of
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.logs.json_content import (
    Row,
    field,
    fingerprint,
    listed,
    numbers_at,
    objects,
    plain,
    records_of_rows,
    short,
    truth_of,
)
from shortlist.panels.logs.records import KNOWN_COLUMNS, LogColumns, Records, as_score
from shortlist.tables.text import decoded, parted, text_records

PROMPTFOO = {
    "price": "cost", "latency": "latencyMs", "input_tokens": "response.tokenUsage.prompt",
    "output_tokens": "response.tokenUsage.completion",
}  # fmt: skip
"""Paths of numbers in a result of promptfoo, by column of the records."""


def promptfoo_results(document: Any) -> list[Any] | None:
    """Return the results in JSON of promptfoo; None for other JSON.

    >>> promptfoo_results({"results": {"version": 3, "results": [{"provider": {}, "vars": {}}]}})
    [{'provider': {}, 'vars': {}}]
    """
    found = document
    while isinstance(found, dict) and "results" in found:
        found = found["results"]
    first = found[0] if isinstance(found, list) and found else None
    is_result = isinstance(first, dict) and "provider" in first and {"vars", "testCase"} & set(first)
    return found if isinstance(found, list) and is_result else None


def promptfoo_records(source: str, results: Sequence[Any], columns: LogColumns, notes: list[str]) -> Records:
    """Return the records of results; tests with equal variables are one case.

    The truth is the named variable or field of the test's metadata. Otherwise it is the value that a test's
    only assertion requires of the output, perhaps a variable such as ``{{expected}}``. An answer is right if
    its test passes. An answer from promptfoo's cache has no price.

    Raises BadFileError if a needed field is missing or of another kind.
    """
    rows = [_result(place, result, columns) for place, result in objects(source, results)]
    variables = [one for row in rows for one in row["variables"] if one]
    if columns.target is None and variables:
        name = variables[0]
        notes.append(
            f"{source}: the assertions compare with the variable {name!r}, as `target={name!r}` would."
        )
    is_one_prompt = len({row["prompt"] for row in rows}) < 2
    repeats: dict[tuple[str, str], int] = {}
    for row in rows:
        row["judge"] += "" if is_one_prompt else f" {row['prompt']}"
        key = (row["judge"], row["case"])
        repeats[key] = row["epoch"] = repeats.get(key, 0) + 1
    counts = [
        ("failed", "result", "with an error, taken for no answer."),
        ("cached", "result", "came from a cache, so the price is not known."),
    ]
    return records_of_rows(source, rows, columns, notes, where="the variables", counts=counts)


def _result(place: str, result: Row, columns: LogColumns) -> Row:
    test = field(place, result, "testCase", dict) or {}
    known = field(place, result, "vars", dict) or field(place, test, "vars", dict) or {}
    response = field(place, result, "response", dict) or {}
    failed = bool(response.get("error") or (result.get("error") and "output" not in response))
    judge, model = _provider(place, result)
    prompt, grading = result.get("prompt"), result.get("gradingResult")
    label = prompt.get("label") if isinstance(prompt, dict) else None
    is_short = isinstance(label, str) and 0 < len(label) <= 30
    passed = result.get("success", grading.get("pass") if isinstance(grading, dict) else None)
    asserted = [one for one in field(place, test, "assert", list) or [] if isinstance(one, dict)]
    row: Row = numbers_at(place, result, PROMPTFOO)
    row["latency"] = _seconds(row["latency"])
    if cached := bool(response.get("cached")):
        row = {}
    return row | {
        "case": _case(place, result, known), "judge": judge, "model": model,
        "prompt": label if is_short else f"prompt {result.get('promptIdx', 0)}",
        "answer": None if failed else _output(place, response.get("output"), columns.answer),
        "truth": _wanted(place, test, known, asserted, columns),
        "score": None if failed else as_score(passed), "failed": failed, "cached": cached,
        "features": known, "variables": [_variable(one.get("value")) for one in asserted],
    }  # fmt: skip


def _seconds(milliseconds: Any) -> Any:
    """Return milliseconds as seconds, also from text; other values stay unchanged for a later error."""
    if milliseconds is None or isinstance(milliseconds, bool):
        return milliseconds
    try:
        return float(milliseconds) / 1000
    except (TypeError, ValueError):
        return milliseconds  # to be refused


def _provider(place: str, result: Row) -> tuple[str, str]:
    """Return the label of the provider (without a label, its name), and the name of the provider."""
    provider = result.get("provider")
    parts = provider if isinstance(provider, dict) else {"id": provider}
    name = parts.get("id") or parts.get("label")
    label = parts.get("label") or name
    if not (name and isinstance(name, str) and isinstance(label, str)):
        raise BadFileError(place, "must name its provider", "none", "Write the results again with promptfoo.")
    return label, name


def _case(place: str, result: Row, known: Row) -> str | int:
    if known:
        return fingerprint(known) or ""
    test = result.get("testIdx")
    if not isinstance(test, int) or isinstance(test, bool):
        raise BadFileError(
            place,
            "must have variables or a number as 'testIdx'",
            "neither",
            "Write the results again with promptfoo.",
        )
    return test


def _output(place: str, output: Any, name: str | None) -> Any:
    if name is None:
        return plain(output)
    if isinstance(output, str) or output is None:
        return None  # what a judge said outside the form it was asked for is no answer
    if not isinstance(output, dict) or name not in output:
        known = listed(output, most=8) if isinstance(output, dict) else "no object"
        advice = "Pass one of them: `answer=NAME`." if isinstance(output, dict) else "Leave it out."
        raise BadInputError(place, f"must have the field {name!r} in its output", known, advice)
    return plain(output[name])


def _wanted(place: str, test: Row, known: Row, asserted: list[Row], columns: LogColumns) -> Any:
    """Return the truth of a test: the named field, or the value in its only assertion."""
    metadata = field(place, test, "metadata", dict) or {}
    wanted = [one.get("value") for one in asserted if one.get("type") in ("equals", "iequals")]
    usual = wanted[0] if len(wanted) == 1 else None
    usual = known.get(name) if (name := _variable(usual)) else usual
    return truth_of(place, metadata | known, columns, usual, "the test or its metadata")


def _variable(text: Any) -> str:
    """Return the variable of a template such as ``{{expected}}``; "" for other texts."""
    found = re.fullmatch(r"\s*\{\{\s*(\w+)\s*\}\}\s*", str(text))
    return found[1] if found else ""


OF_OUTPUT = ("Reasoning", "Status", "Score", "Named Scores", "Grader Reason", "Comment", "Latency (ms)")
"""Names of the columns that follow an output; columns of single metrics begin with :data:`METRIC`."""
METRIC = "Metric: "

OUTPUT = re.compile(r"\[([^\]]+)\] (.*)", re.DOTALL)
"""Pattern of the name of a column of outputs: the provider and the prompt."""
JUDGED = re.compile(r"\[(PASS|FAIL|ERROR)\](?: \(-?\d+\.\d\d\))?(?: (.*))?", re.DOTALL)
"""Pattern of an output in tables of older versions: the verdict, the score, and the text."""


def promptfoo_table(name: str, content: bytes, notes: list[str]) -> list[Row] | None:
    """Return a table of outputs as results; None for other content.

    Raises BadFileError if a row has more or fewer cells than the header, or no verdict on an output.
    """
    if not any(mark in content for mark in (b"Grader Reason", b"[PASS]", b"[FAIL]", b"[ERROR]")):
        return None
    try:
        told: list[str] = []
        text, separator = parted(name, decoded(name, content), told)
    except BadFileError:  # it may be a workbook, or another table
        return None
    (_, header), *rows = text_records(text, separator)
    outputs = _outputs(header, [cells for _, cells in rows])
    if not outputs:
        return None
    notes += told
    for line, cells in rows:
        if len(cells) != len(header):
            raise BadFileError(
                f"{name}, line {line}",
                f"must have {len(header)} cells, as the header has",
                len(cells),
                "Export the table again.",
            )
    return [
        result
        for number, (line, cells) in enumerate(rows)
        for result in _results_of_row(f"{name}, line {line}", header, outputs, cells, number)
    ]


def _outputs(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the indices of the columns of outputs; empty if it is open which columns are outputs."""
    found, is_sure = [], False
    for place, title in enumerate(header):
        names = _parts(header, place)
        is_judged = any(JUDGED.fullmatch(row[place]) for row in rows if place < len(row))
        is_called = OUTPUT.fullmatch(title) is not None
        is_followed = "Status" in names or "Grader Reason" in names
        if not _is_part(title) and (is_called or is_judged or is_followed):
            found.append(place)
            is_sure |= "Grader Reason" in names or (is_called and is_judged)
    return found if is_sure else []


def _is_part(title: str) -> bool:
    return title in OF_OUTPUT or title.startswith(METRIC)


def _parts(header: Sequence[str], place: int) -> dict[str, int]:
    """Return the indices of the columns that belong to an output, by name."""
    parts: dict[str, int] = {}
    for at in range(place + 1, len(header)):
        if header[at] in parts or not _is_part(header[at]):
            break
        parts[header[at]] = at
    return parts


def _results_of_row(
    place: str, header: Sequence[str], outputs: Sequence[int], cells: Sequence[str], number: int
) -> Iterator[Row]:
    known = {
        title: cells[at] for at, title in enumerate(header[: outputs[0]]) if (at, title) != (0, "Description")
    }
    prompts = list(dict.fromkeys(_named(header[column])[1] for column in outputs))
    for column in outputs:
        provider, prompt = _named(header[column])
        parts = {name: cells[at] for name, at in _parts(header, column).items()}
        verdict, said = _judged(place, header[column], cells[column], parts)
        if not verdict:
            continue
        yield {
            "provider": provider, "prompt": {"label": prompt}, "promptIdx": prompts.index(prompt),
            "vars": known, "testIdx": number, "success": SUCCESS.get(verdict),
            "response": {"error": said} if verdict == "ERROR" else {"output": said or None},
            "latencyMs": parts.get("Latency (ms)") or None,
        }  # fmt: skip


def _judged(place: str, title: str, said: str, parts: Mapping[str, str]) -> tuple[str, str]:
    """Return the verdict on an output ("" without a verdict), and the text of the output."""
    if "Status" in parts:
        verdict = parts["Status"]
    else:
        found = JUDGED.fullmatch(said)
        verdict, said = (found[1], found[2] or "") if found else ("", said)
        # the text of what failed comes after the reason
        said = said.partition("\n---\n")[2] or said if verdict == "FAIL" else said
    if verdict not in VERDICTS and (verdict or said):
        raise BadFileError(
            place,
            f"must say {any_of(VERDICTS)} of the output {short(title)}",
            repr(verdict or said)[:40],
            "Export the table again.",
        )
    return verdict, said


VERDICTS = ("PASS", "FAIL", "ERROR")
SUCCESS = {"PASS": True, "FAIL": False}


def _named(title: str) -> tuple[str, str]:
    """Return the provider and the prompt in a column's title; a title without provider stands for both."""
    found = OUTPUT.fullmatch(title)
    return (found[1], found[2]) if found else (title, title)


def promptfoo_table_records(
    source: str, results: Sequence[Any], columns: LogColumns, notes: list[str]
) -> Records:
    """Return the records of a table's results, which have no assertions.

    The truth is the named variable, or a variable with a usual name of truths.
    """
    if columns.target is None:
        small = {name.strip().casefold(): name for name in results[0]["vars"]}
        found = next((small[one] for one in KNOWN_COLUMNS["target"] if one in small), None)
        if found is not None:
            columns = replace(columns, target=found)
            notes.append(f"{source}: the variable {found!r} is taken for the truth.")
    notes.append(f"{source}: read as a table of promptfoo, by whether each output passed.")
    return promptfoo_records(source, results, columns, notes)
