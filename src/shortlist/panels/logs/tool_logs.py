"""Logs of evaluation tools: which tool wrote a file, and what its records say.

Logs of alpaca_eval: ``annotations.json``, a list of preferences between two outputs.

An annotation has `instruction`, `output_1`, `output_2`, `annotator`, which is the judge, and `preference`: 1
or 2, or a number between, where the tokens' probabilities were used. What it cost is `price_per_example`, in
versions from 0.6 on `preference_price_per_example`.

Logs of lm-evaluation-harness: ``samples_TASK_DATE.jsonl`` in a folder that is called after the model.

A line has `doc_id`, `doc`, `target`, `arguments`, `resps`, `filtered_resps`, `filter`, `doc_hash` and a key
for each metric. Where choices were compared, a response is the log likelihood of a choice and whether it was
the likeliest text (lm-eval 0.4).
"""

import io
import math
import re
import zipfile
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from shortlist._words import all_of, any_of, counted
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import label_of
from shortlist.panels.logs.annotation_logs import (
    argilla_records,
    is_argilla,
    is_label_studio,
    is_openai_evals,
    label_studio_records,
    openai_evals_records,
)
from shortlist.panels.logs.inspect_logs import (
    archive_records,
    inspect_records,
    is_inspect,
    is_inspect_archive,
)
from shortlist.panels.logs.json_content import (
    field,
    fingerprint,
    is_json,
    json_lines,
    number,
    objects,
    parsed_json,
    plain,
)
from shortlist.panels.logs.promptfoo_logs import promptfoo_records, promptfoo_results
from shortlist.panels.logs.records import COLUMNS, LogColumns, Records, as_score, features_of, records_of
from shortlist.panels.logs.tables import most_probable
from shortlist.tables.files import ZIP, unpacked

TASK_IN_NAME = re.compile(r"samples_(.+?)(_\d{4}-\d\d-\d\dT[-0-9.:]+)?\.jsonl.*")


def is_harness(lines: Any) -> bool:
    """Whether lines of JSON are samples of lm-evaluation-harness."""
    first = lines[0] if isinstance(lines, list) and lines else None
    return isinstance(first, dict) and {"doc_id", "filtered_resps"} <= set(first)


def harness_records(source: str, lines: Sequence[Any], columns: LogColumns, notes: list[str]) -> Records:
    """Return the records of a file of samples; its folder, or else its name, is the judge.

    Log likelihoods of choices become probabilities that add up to 1. The answer is the most probable choice,
    and of a tie none. Choices that are the same in all samples are labels by their text, others by their
    number.

    Raises BadFileError if a field that is needed is missing or of another kind.
    """
    kept = _of_one_filter(source, list(objects(source, lines)), columns, notes)
    choices = [_choices(place, sample) for place, sample in kept]
    named = choices[0] if choices[0] and all(one == choices[0] for one in choices) else None
    path = PurePath(source)
    task = TASK_IN_NAME.fullmatch(path.name)
    about = {"judge": path.parent.name or path.stem, "task": task[1] if task else None}
    rows = [
        _record_of(place, sample, columns, len(one), named) | about
        for (place, sample), one in zip(kept, choices, strict=True)
    ]
    ties = sum(row["answer"] is None and bool(row["probabilities"]) for row in rows)
    if ties:
        notes.append(f"{source}: {counted(ties, 'sample')} with equally likely choices count as no answer.")
    features = features_of(source, [row.pop("features") for row in rows], columns.features, "the documents")
    return records_of(source, {name: [row[name] for row in rows] for name in rows[0]}, features)


def _of_one_filter(
    source: str, samples: list[tuple[str, dict[str, Any]]], columns: LogColumns, notes: list[str]
) -> list[tuple[str, dict[str, Any]]]:
    """Return the samples of one filter of responses: the one that is named, or the first."""
    filters = list(dict.fromkeys(str(sample.get("filter")) for _, sample in samples))
    if columns.answer is not None and columns.answer not in filters:
        advice = f"It has {any_of(map(repr, filters))}."
        raise BadInputError(source, f"must have the filter {columns.answer!r}", "none of that name", advice)
    chosen = columns.answer or filters[0]
    if len(filters) > 1:
        others = all_of(repr(one) for one in filters if one != chosen)
        notes.append(f"{source}: the responses of the filter {chosen!r} are read, and not of {others}.")
    return [(place, sample) for place, sample in samples if str(sample.get("filter")) == chosen]


def _choices(place: str, sample: dict[str, Any]) -> tuple[str, ...]:
    """Return the texts of the choices that have log likelihoods; none if the responses are texts."""
    responses = field(place, sample, "filtered_resps", list, needed=True)
    if len(responses) < 2 or not all(isinstance(one, list) and len(one) == 2 for one in responses):
        return ()
    given = field(place, sample, "arguments", dict) or {}
    texts = [
        str(one.get("arg_1")).strip()
        for name, one in given.items()
        if isinstance(one, dict) and str(name).startswith("gen_args_")
    ]
    if len(texts) < len(responses) or len(set(texts[: len(responses)])) < len(responses):
        return tuple(map(str, range(len(responses))))
    return tuple(texts[: len(responses)])


def _record_of(
    place: str, sample: dict[str, Any], columns: LogColumns, n_choices: int, named: Sequence[str] | None
) -> dict[str, Any]:
    doc = field(place, sample, "doc", dict) or {}
    digest = sample.get("doc_hash")
    case = digest[:16] if isinstance(digest, str) else sample.get("doc_id")
    if not isinstance(case, int | str) or isinstance(case, bool):
        raise BadFileError(place, "must have a text as 'doc_hash'", "none", "Write the log with lm-eval 0.4.")
    shares = _shares(place, sample["filtered_resps"], named) if n_choices else None
    said = sample["filtered_resps"]
    answer = most_probable(shares) if shares else (plain(said[0]) if said else None)
    return {
        "case": case, "content": digest if isinstance(digest, str) else None,
        "answer": answer, "probabilities": shares,
        "confidence": max(shares.values()) if shares else None,
        "truth": _truth(place, sample, columns.target, named),
        "score": _metric(sample, is_choice=n_choices > 0),
        "features": doc,
    }  # fmt: skip


METRICS = ("exact_match", "acc", "em", "f1", "contains", "pass@1")
"""Metrics that tell whether an answer is right, in the order in which they are looked for."""


def _metric(sample: dict[str, Any], *, is_choice: bool) -> float | None:
    """Return the metric of a sample that tells whether its answer is right.

    Of choices only the accuracy does, as other metrics compare other likelihoods.
    """
    told = sample.get("metrics")
    names = [*METRICS, *(one for one in told if isinstance(one, str))] if isinstance(told, list) else METRICS
    scores = (as_score(sample.get(name)) for name in (("acc",) if is_choice else names))
    return next((score for score in scores if score is not None), None)


def _shares(place: str, responses: list[Any], named: Sequence[str] | None) -> dict[str, float]:
    """Return the probability of each choice: its likelihood's share of all choices'."""
    try:
        logs = [float(one[0]) for one in responses]
    except (TypeError, ValueError, OverflowError):
        logs = [math.nan]
    if any(math.isnan(one) or one == math.inf for one in logs) or max(logs) == -math.inf:
        raise BadFileError(place, "must have log likelihoods as responses", repr(responses)[:40])
    weights = [math.exp(one - max(logs)) for one in logs]
    labels = named or [str(place) for place in range(len(logs))]
    return {label_of(label): weight / sum(weights) for label, weight in zip(labels, weights, strict=True)}


def _truth(place: str, sample: dict[str, Any], name: str | None, named: Sequence[str] | None) -> Any:
    """Return the right label; of choices that have names it may be told by number."""
    doc = sample.get("doc") or {}
    if name is not None and name not in sample and name not in doc:
        raise BadInputError(place, f"must have the field {name!r}", "none in the sample or its document")
    told = plain(sample.get(name or "target", doc.get(name or "target")))
    text = label_of(told)
    if not named or text in map(label_of, named):
        return told
    return named[int(text)] if text.isdecimal() and int(text) < len(named) else told


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


TOOL_FORMS = (
    "inspect-ai", "lm-eval", "promptfoo", "alpaca-eval", "openai-evals", "label-studio", "argilla"
)  # fmt: skip
"""Tools with logs that are read, in the order in which a file is compared with their forms."""


class Content(NamedTuple):
    """A file whose form is known.

    `form`: one of :data:`TOOL_FORMS`, ``inspect-ai archive``, ``rows`` for other JSON, or ``other``. `value`:
    the JSON in it; of an archive, or of what is no JSON, the bytes.
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
    elif is_openai_evals(lines):
        found = Content("openai-evals", lines)
    elif results is not None:
        found = Content("promptfoo", results)
    elif is_label_studio(value):
        found = Content("label-studio", value)
    elif is_argilla(lines):
        found = Content("argilla", lines)
    else:
        found = Content("alpaca-eval" if is_alpaca_eval(value) else "rows", value)
    return found


def tool_records(source: str, content: Content, columns: LogColumns, notes: list[str]) -> Records | None:
    """Return the records of a tool's log; None where the content is of no tool."""
    reader = {
        "inspect-ai archive": archive_records, "inspect-ai": inspect_records, "lm-eval": harness_records,
        "promptfoo": promptfoo_records, "alpaca-eval": alpaca_eval_records,
        "openai-evals": openai_evals_records, "label-studio": label_studio_records,
        "argilla": argilla_records,
    }.get(content.form)  # fmt: skip
    return None if reader is None else reader(source, content.value, columns, notes)
