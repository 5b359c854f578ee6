"""Logs of lm-evaluation-harness: ``samples_TASK_DATE.jsonl`` in a folder that is called after the model.

A line has `doc_id`, `doc`, `target`, `arguments`, `resps`, `filtered_resps`, `filter`, `doc_hash` and a key
for each metric. Where choices were compared, a response is the log likelihood of a choice and whether it was
the likeliest text (lm-eval 0.4).
"""

import math
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from shortlist._words import all_of, any_of, counted
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import label_of
from shortlist.panels.logs.json_content import field, objects, plain
from shortlist.panels.logs.records import LogColumns, Records, features_of, records_of
from shortlist.panels.logs.tables import most_probable

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
        _record(place, sample, columns, len(one), named) | about
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
    """Return the texts of the choices whose log likelihoods the responses are; none if they are texts."""
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


def _record(
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
        "features": doc,
    }  # fmt: skip


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
