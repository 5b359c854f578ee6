"""Logs of promptfoo: ``results.json`` or its results one in a line.

A result has `provider` with `id` and `label`, which is the judge, `prompt`, `promptIdx`, `testIdx`, `vars`,
`response` with `output`, `tokenUsage` and `cached`, `error`, `cost` and `latencyMs`; the file holds them in
`results.results` (version 3 of the summary) or in `results` alone.
"""

import re
from collections.abc import Sequence
from typing import Any

from shortlist._words import counted
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.logs.json_content import field, fingerprint, number, objects, plain
from shortlist.panels.logs.records import COLUMNS, LogColumns, Records, as_score, features_of, records_of


def promptfoo_results(document: Any) -> list[Any] | None:
    """Return the results in JSON of promptfoo; None if it is something else.

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

    The truth is the variable or the field of the test's metadata that is named, or else what a test's only
    assertion says that the output must equal, be it a variable such as ``{{expected}}``. A test that passes
    is right. An answer that came from promptfoo's cache has no price.

    Raises BadFileError if a field that is needed is missing or of another kind.
    """
    rows = [_record(place, result, columns) for place, result in objects(source, results)]
    named = dict.fromkeys(
        _variable(one.get("value"))
        for _, result in objects(source, results)
        for one in (result.get("testCase") or {}).get("assert") or []
        if isinstance(one, dict)
    )
    if columns.target is None and (name := next(filter(None, named), "")):
        notes.append(
            f"{source}: the assertions compare with the variable {name!r}, as `target={name!r}` would."
        )
    prompts = {row["prompt"] for row in rows}
    repeats: dict[tuple[str, str], int] = {}
    for row in rows:
        if len(prompts) > 1:
            row["judge"] = f"{row['judge']} {row['prompt']}"
        key = (row["judge"], row["case"])
        repeats[key] = row["epoch"] = repeats.get(key, 0) + 1
    for what, sentence in (
        ("failed", "{} ended in an error and count as no answer."),
        ("cached", "{} came from a cache, so the price is not known."),
    ):
        count = sum(row[what] for row in rows)
        if count:
            notes.append(f"{source}: {sentence.format(counted(count, 'result'))}")
    features = features_of(source, [row.pop("features") for row in rows], columns.features, "the variables")
    return records_of(source, {name: [row.get(name) for row in rows] for name in COLUMNS}, features)


def _record(place: str, result: dict[str, Any], columns: LogColumns) -> dict[str, Any]:
    test = field(place, result, "testCase", dict) or {}
    known = field(place, result, "vars", dict) or field(place, test, "vars", dict) or {}
    response = field(place, result, "response", dict) or {}
    usage = field(place, response, "tokenUsage", dict) or {}
    judge, model = _judge(place, result)
    failed = bool(response.get("error")) or (result.get("error") and "output" not in response)
    cached = bool(response.get("cached"))
    latency = number(result.get("latencyMs"))
    return {
        "case": _case(place, result, known), "judge": judge, "model": model, "prompt": _prompt(result),
        "answer": None if failed else _answer(place, response, columns.answer),
        "truth": _truth(place, test, known, columns), "score": None if failed else as_score(_success(result)),
        "price": None if cached else number(result.get("cost")),
        "latency": None if cached else latency / 1000 if isinstance(latency, float) else latency,
        "input_tokens": None if cached else number(usage.get("prompt")),
        "output_tokens": None if cached else number(usage.get("completion")),
        "failed": bool(failed), "cached": cached,
        "features": known,
    }  # fmt: skip


def _success(result: dict[str, Any]) -> Any:
    """Return whether all assertions of a test hold."""
    grading = result.get("gradingResult")
    return result.get("success", grading.get("pass") if isinstance(grading, dict) else None)


def _judge(place: str, result: dict[str, Any]) -> tuple[str, str]:
    """Return the label of the provider, or else its name, and its name."""
    provider = result.get("provider")
    if isinstance(provider, dict):
        name = provider.get("id") or provider.get("label")
        label = provider.get("label") or name
        if isinstance(name, str) and isinstance(label, str):
            return label, name
    elif isinstance(provider, str) and provider:
        return provider, provider
    raise BadFileError(place, "must name its provider", "none", "Write the results again with promptfoo.")


def _prompt(result: dict[str, Any]) -> str:
    """Return what tells a prompt from others: its label where it is short, or else its number."""
    prompt = result.get("prompt")
    label = prompt.get("label") if isinstance(prompt, dict) else None
    number_of = f"prompt {result.get('promptIdx', 0)}"
    return label if isinstance(label, str) and 0 < len(label) <= 30 else number_of


def _case(place: str, result: dict[str, Any], known: dict[str, Any]) -> str | int:
    if known:
        return fingerprint(known) or ""
    test = result.get("testIdx")
    if not isinstance(test, int) or isinstance(test, bool):
        raise BadFileError(
            place, "must have variables or a number as 'testIdx'", "neither", "Write it again."
        )
    return test


def _answer(place: str, response: dict[str, Any], name: str | None) -> Any:
    output = response.get("output")
    if name is None:
        return plain(output)
    if not isinstance(output, dict) or name not in output:
        if isinstance(output, str) or output is None:
            return None  # what a judge said outside the form it was asked for is no answer
        raise BadInputError(place, f"must have the field {name!r} in its output", "none")
    return plain(output[name])


def _truth(place: str, test: dict[str, Any], known: dict[str, Any], columns: LogColumns) -> Any:
    metadata = field(place, test, "metadata", dict) or {}
    if columns.target is not None:
        if columns.target not in known and columns.target not in metadata:
            raise BadInputError(
                place, f"must have the variable {columns.target!r}", "none in the test or its metadata"
            )
        return plain(known.get(columns.target, metadata.get(columns.target)))
    wanted = [
        one.get("value")
        for one in field(place, test, "assert", list) or []
        if isinstance(one, dict) and one.get("type") in ("equals", "iequals")
    ]
    if len(wanted) != 1:
        return None
    variable = _variable(wanted[0])
    return plain(known.get(variable)) if variable else plain(wanted[0])


def _variable(text: Any) -> str:
    """Return the variable that a template such as ``{{expected}}`` stands for; "" for another text."""
    found = re.fullmatch(r"\s*\{\{\s*(\w+)\s*\}\}\s*", str(text))
    return found[1] if found else ""
