"""Logs of tools that run models: lm-evaluation-harness, alpaca_eval and OpenAI evals.

lm-evaluation-harness: ``samples_TASK_DATE.jsonl`` in a folder named after the model. A line has `doc_id`,
`doc`, `target`, `arguments`, `resps`, `filtered_resps`, `filter`, `doc_hash` and a key for each metric. If
choices were compared, a response is a pair: the log likelihood of a choice, and whether the choice was the
most likely text (lm-eval 0.4).

alpaca_eval: ``annotations.json``, a list of preferences between two outputs, with `instruction`, `output_1`,
`output_2`, `annotator` and `preference`: 1 or 2, or a number between 1 and 2 from the probabilities of the
tokens. The price is `price_per_example`, in versions from 0.6 on `preference_price_per_example`.

OpenAI evals: lines of JSON. The first line has `spec`; the other lines are events with `sample_id`, `type`
and `data`: a `match` has `correct`, `expected`, `picked` and `sampled`, a `sampling` has `sampled`, `metrics`
a `score`. Of runs on the platform: lines with `data_source_idx`, `item`, `sample`, `grades` and `passes`.
"""

import math
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from shortlist._words import all_of, counted
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import label_of
from shortlist.panels.logs.json_content import (
    Row,
    field,
    fingerprint,
    listed,
    name_of,
    number,
    numbers_at,
    objects,
    plain,
    records_of_rows,
    truth_of,
)
from shortlist.panels.logs.records import LogColumns, Records, as_score
from shortlist.panels.logs.wide_tables import most_probable

TASK_IN_NAME = re.compile(r"samples_(.+?)(_\d{4}-\d\d-\d\dT[-0-9.:]+)?\.jsonl.*")


def harness_records(source: str, lines: Sequence[Any], columns: LogColumns, notes: list[str]) -> Records:
    """Return the records of a file of samples; the folder, or else the file, gives the judge its name.

    Log likelihoods of choices become probabilities that add up to 1. The answer is the most probable choice;
    a tie has no answer. If all samples have the same choices, the label of a choice is its text; otherwise it
    is its number.

    Raises BadFileError if a needed field is missing or of another kind.
    """
    kept = _of_one_filter(source, list(objects(source, lines)), columns, notes)
    choices = [_choices(place, sample) for place, sample in kept]
    named = choices[0] if choices[0] and all(one == choices[0] for one in choices) else None
    if any(choices) and named is None:
        notes.append(f"{source}: the choices are not the same in all samples, so answers are their numbers.")
    elif named == tuple(map(str, range(len(named or ())))):
        notes.append(f"{source}: the choices have no texts, so answers are the numbers of the choices.")
    n_called = sum(not isinstance(sample.get("doc_hash"), str) for _, sample in kept)
    if 0 < n_called < len(kept):
        notes.append(
            f"{source}: {counted(n_called, 'sample')} without a 'doc_hash' are named by their 'doc_id', "
            "which may differ between logs."
        )
    path = PurePath(source)
    task = TASK_IN_NAME.fullmatch(path.name)
    about = {"judge": path.parent.name or path.stem, "task": task[1] if task else None}
    rows = [
        _sample(place, sample, columns, len(one), named) | about
        for (place, sample), one in zip(kept, choices, strict=True)
    ]
    ties = ("tied", "sample", "with equally likely choices, taken for no answer.")
    several = ("several", "sample", "with several responses are read by the first of them.")
    return records_of_rows(source, rows, columns, notes, where="the documents", counts=[ties, several])


def _of_one_filter(
    source: str, samples: list[tuple[str, Row]], columns: LogColumns, notes: list[str]
) -> list[tuple[str, Row]]:
    filters = list(dict.fromkeys(str(sample.get("filter")) for _, sample in samples))
    if columns.answer is not None and columns.answer not in filters:
        got, advice = listed(filters), "Pass one of them: `answer=NAME`."
        raise BadInputError(source, f"must have the filter {columns.answer!r}", got, advice)
    chosen = columns.answer or filters[0]
    if len(filters) > 1:
        others = all_of(repr(one) for one in filters if one != chosen)
        notes.append(f"{source}: the responses of the filter {chosen!r} are read, and not of {others}.")
    return [(place, sample) for place, sample in samples if str(sample.get("filter")) == chosen]


def _choices(place: str, sample: Row) -> tuple[str, ...]:
    """Return the texts of the choices with log likelihoods; empty if the responses are texts."""
    responses = field(place, sample, "filtered_resps", list, needed=True)
    if len(responses) < 2 or not all(isinstance(one, list) and len(one) == 2 for one in responses):
        return ()
    given = field(place, sample, "arguments", dict) or {}
    texts = [
        one["arg_1"].strip()
        for name, one in given.items()
        if str(name).startswith("gen_args_") and isinstance(one, dict) and isinstance(one.get("arg_1"), str)
    ][: len(responses)]
    is_told = len(texts) == len(responses) == len(set(texts))
    return tuple(texts) if is_told else tuple(map(str, range(len(responses))))


def _sample(place: str, sample: Row, columns: LogColumns, n_choices: int, named: Sequence[str] | None) -> Row:
    doc, digest = field(place, sample, "doc", dict) or {}, sample.get("doc_hash")
    case = digest[:16] if isinstance(digest, str) else sample.get("doc_id")
    if not isinstance(case, int | str) or isinstance(case, bool):
        raise BadFileError(
            place, "must have a text as 'doc_hash'", "none", "Write the log again with lm-eval 0.4."
        )
    said = sample["filtered_resps"]
    shares = _shares(place, said, named) if n_choices else None
    answer = most_probable(shares) if shares else (said[0] if said else None)
    usual = sample.get("target", doc.get("target"))
    truth = truth_of(place, doc | sample, columns, usual, "the sample or its document")
    text = label_of(plain(truth))
    if named and text not in map(label_of, named):  # the number of a choice, if any
        truth = dict(zip(map(str, range(len(named))), named, strict=True)).get(text, truth)
    return {
        "case": case, "content": digest if isinstance(digest, str) else None, "answer": answer,
        "probabilities": shares, "confidence": max(shares.values()) if shares else None, "truth": truth,
        "score": _metric(sample, is_choice=n_choices > 0), "features": doc,
        "tied": shares is not None and answer is None, "several": shares is None and len(said) > 1,
    }  # fmt: skip


METRICS = ("exact_match", "acc", "em", "f1", "contains", "pass@1")
"""Names of the metrics of right answers, in the order of preference."""


def _metric(sample: Row, *, is_choice: bool) -> float | None:
    """Return the metric that says whether the answer of a sample is right; otherwise None.

    For choices only the accuracy counts, as other metrics compare other likelihoods.
    """
    told = sample.get("metrics")
    names = [*METRICS, *(one for one in told if isinstance(one, str))] if isinstance(told, list) else METRICS
    return _first_score([sample.get(name) for name in (("acc",) if is_choice else names)])


def _first_score(values: Sequence[Any]) -> float | None:
    return next((score for score in map(as_score, values) if score is not None), None)


def _shares(place: str, responses: list[Any], named: Sequence[str] | None) -> dict[str, float]:
    """Return the probability of each choice: its share of the likelihoods of all choices."""
    try:
        logs = [math.nan if isinstance(one[0], bool) else float(one[0]) for one in responses]
    except (TypeError, ValueError, OverflowError):
        logs = [math.nan]
    if any(math.isnan(one) or one == math.inf for one in logs) or max(logs) == -math.inf:
        advice = "Write the log again with lm-eval 0.4."
        raise BadFileError(place, "must have log likelihoods as responses", repr(responses)[:40], advice)
    weights = [math.exp(one - max(logs)) for one in logs]
    labels = named or list(map(str, range(len(logs))))
    return {label_of(label): weight / sum(weights) for label, weight in zip(labels, weights, strict=True)}


SHOWN = ("instruction", "input", "output_1", "output_2")
"""Fields that an annotator sees, which define a case."""


def alpaca_eval_records(
    source: str, document: Sequence[Any], columns: LogColumns, notes: list[str]
) -> Records:
    """Return the records of annotations; the answers are ``1`` and ``2``.

    A preference between 1 and 2 stands for the nearer output, and gives the probabilities of both outputs. A
    preference of 1.5 is a draw, which counts as no answer.

    Raises BadFileError if a preference is no number from 1 to 2, or a needed field is missing.
    """
    rows = [_preference(place, annotation, columns) for place, annotation in objects(source, document)]
    draws = ("draw", "draw", "count as no answer.")
    return records_of_rows(source, rows, columns, notes, where="annotations", counts=[draws])


def _preference(place: str, annotation: Row, columns: LogColumns) -> Row:
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
    price, latency = (
        annotation.get(name)
        if annotation.get(f"preference_{name}") is None
        else annotation[f"preference_{name}"]
        for name in ("price_per_example", "time_per_example")
    )
    return {
        "case": fingerprint([annotation.get(name) for name in SHOWN]), "judge": judge, "answer": said,
        "draw": preference == 1.5 or told == 0.0, "probabilities": shares,
        "confidence": max(shares.values()) if shares else None,
        "truth": truth_of(place, annotation, columns, None, "the annotation"),
        "price": number(price), "latency": number(latency), "features": annotation,
    }  # fmt: skip


PLATFORM = {"input_tokens": "sample.token_usage.prompt_tokens",
            "output_tokens": "sample.token_usage.completion_tokens"}  # fmt: skip
"""Paths of numbers in a line of a run of OpenAI evals on the platform, by column of the records."""


def openai_evals_records(source: str, lines: Sequence[Any], columns: LogColumns, notes: list[str]) -> Records:
    """Return the records of a run, whose judge is the completion function.

    The answer is the picked text, or else the sampled text. `correct`, or else the score, says whether the
    answer is right.

    For a run on the platform the sampled model is the judge, and its output is the answer. The answer is
    right if it passed all graders; the truth is the named field of the item.

    Raises BadFileError if a needed field is missing or of another kind.
    """
    notes.append(f"{source}: read as a run of OpenAI evals.")
    if not isinstance(lines[0].get("spec"), dict):
        rows = [_on_platform(place, line, columns) for place, line in objects(source, lines)]
        if columns.target is None:
            items = listed(rows[0]["features"], most=8)
            notes.append(
                f"{source}: the items have {items}; name the truth by `target` if it is one of them."
            )
        return records_of_rows(source, rows, columns, notes, where="the records")
    spec = lines[0]["spec"]
    functions = field(source, spec, "completion_fns", list, needed=True)
    if not functions or not all(isinstance(one, str) and one for one in functions):
        got = repr(functions)[:40]
        raise BadFileError(source, "must have names as 'completion_fns'", got, "Write the log again.")
    judge = all_of(functions, most=8)
    samples: dict[str, Row] = {}
    for place, event in objects(source, lines):
        case = name_of(place, event, "sample_id")
        if case is not None:
            case = str(case)
            row = samples.setdefault(case, {"case": case, "judge": judge, "features": {}})
            _take_event(row, str(event.get("type")), field(place, event, "data", dict) or {}, columns)
    if not samples:
        raise BadFileError(source, "must hold events of samples", "none", "Run the evaluation to its end.")
    task = field(source, spec, "eval_name", str)
    rows = [row | {"task": task, "unscored": row.get("score") is None} for row in samples.values()]
    unscored = ("unscored", "sample", "without a score.")
    return records_of_rows(source, rows, columns, notes, where="the events", counts=[unscored])


def _on_platform(place: str, line: Row, columns: LogColumns) -> Row:
    item = field(place, line, "item", dict) or {}
    sample = field(place, line, "sample", dict, needed=True)
    model = field(place, sample, "sampled_model_name", str, needed=True)
    said = [one.get("content") for _, one in objects(place, field(place, sample, "outputs", list) or [])]
    passes = [as_score(one) for one in (field(place, line, "passes", dict) or {}).values()]
    return numbers_at(place, line, PLATFORM) | {
        "case": name_of(place, line, "data_source_idx", needed=True), "judge": model, "model": model,
        "answer": said[0] if said else None,
        "truth": truth_of(place, item, columns, None, "its item"),
        "score": min((one for one in passes if one is not None), default=None),
        "content": fingerprint(item), "features": item,
    }  # fmt: skip


def _take_event(row: Row, kind: str, data: Row, columns: LogColumns) -> None:
    """Add the facts of an event to a sample; a fact that is known already stays."""
    row["features"] = data | row["features"]
    answer = columns.answer or ("picked" if data.get("picked") is not None else "sampled")
    if data.get(answer) is not None and (kind != "sampling" or row.get("answer") is None):
        row["answer"] = data[answer]
    if kind == "sampling":
        row.setdefault("content", fingerprint(data.get("prompt")))
        return
    wanted = data.get(columns.target or "expected")
    wanted = wanted[0] if isinstance(wanted, list) and wanted else wanted
    if row.get("truth") is None:
        row["truth"] = wanted
    if row.get("score") is None:
        row["score"] = _first_score([data.get(name) for name in ("correct", "score", "accuracy")])
