"""Exports of annotation tools in JSON, and records of OpenAI evals.

Label Studio: a list of tasks, each with `id`, `data`, and `annotations` or `predictions`. An annotation has
`completed_by`, `result`, `was_cancelled`, `ground_truth` and `lead_time`; a result has `from_name`, `type`
and `value`, in which the choices are called after the type.

Argilla: records in a list, or one in each line, with `id`, `fields`, `metadata`, `responses` and
`suggestions`. Version 2 has responses by question, with `value` and `user_id`; version 1 has a list, with
`user_id`, `status` and `values` by question. Datasets of Hugging Face have columns ``QUESTION.responses`` and
``QUESTION.responses.users``.

OpenAI evals: lines of JSON, the first one with `spec`, the others events with `sample_id`, `type` and `data`:
a `match` has `correct`, `expected`, `picked` and `sampled`, a `sampling` has `sampled`, `metrics` a `score`.
Of runs on the platform: lines with `data_source_idx`, `item`, `sample`, `grades` and `passes`.
"""

from collections.abc import Sequence
from typing import Any

from shortlist._words import all_of, counted
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.logs.json_content import field, fingerprint, number, objects, plain
from shortlist.panels.logs.records import COLUMNS, LogColumns, Records, as_score, features_of, records_of


def is_label_studio(document: Any) -> bool:
    """Whether JSON is a list of tasks of Label Studio."""
    first = document[0] if isinstance(document, list) and document else None
    if not isinstance(first, dict) or not isinstance(first.get("data"), dict):
        return False
    return any(isinstance(first.get(name), list) for name in ("annotations", "predictions"))


def is_argilla(lines: Any) -> bool:
    """Whether JSON is a list of records of Argilla, or such lines."""
    first = lines[0] if isinstance(lines, list) and lines else None
    if not isinstance(first, dict):
        return False
    flat = any(f"{name}.users" in first for name in first if name.endswith(".responses"))
    return flat or (isinstance(first.get("fields"), dict) and isinstance(first.get("responses"), dict | list))


def is_openai_evals(lines: Any) -> bool:
    """Whether lines of JSON are the record of a run of OpenAI evals."""
    first = lines[0] if isinstance(lines, list) and lines else None
    if not isinstance(first, dict):
        return False
    spec = first.get("spec")
    is_platform = {"data_source_idx", "item", "sample"} <= set(first)
    return is_platform or (isinstance(spec, dict) and "completion_fns" in spec)


def label_studio_records(
    source: str, document: Sequence[Any], columns: LogColumns, notes: list[str]
) -> Records:
    """Return the records of tasks; models that predict are judges too.

    The truth is the annotation that is marked as the ground truth, or a field of the data that is named.

    Raises BadFileError if a field that is needed is missing, or annotations answer several questions and none
    is named.
    """
    rows: list[dict[str, Any]] = []
    n_cancelled = 0
    questions: dict[str, None] = {}
    for place, task in objects(source, document):
        data = field(place, task, "data", dict) or {}
        if columns.target is not None and columns.target not in data:
            raise BadInputError(place, f"must have the field {columns.target!r}", "none in its data")
        case = task.get("id", fingerprint(data))
        truth = plain(data.get(columns.target)) if columns.target is not None else None
        own = []
        for kind in ("annotations", "predictions"):
            for at, one in objects(place, _told(place, task, kind)):
                if one.get("was_cancelled"):
                    n_cancelled += 1
                    continue
                answers = _results(at, one)
                questions |= dict.fromkeys(answers)
                if one.get("ground_truth") and columns.target is None:
                    truth = answers
                else:
                    own.append(
                        {"judge": _annotator(one), "answer": answers, "latency": number(one.get("lead_time"))}
                    )
        rows += [{**row, "case": case, "truth": truth, "features": data} for row in own]
    question = _one_question(source, questions, columns, "Label Studio", REGIONS if rows else "")
    for row in rows:
        row["answer"] = row["answer"].get(question)
        row["truth"] = row["truth"].get(question) if isinstance(row["truth"], dict) else row["truth"]
    if n_cancelled:
        notes.append(f"{source}: {counted(n_cancelled, 'annotation')} that were cancelled are left out.")
    return _of_rows(source, rows, columns, notes, f"an export of Label Studio, answers to {question!r}")


def _told(place: str, task: dict[str, Any], kind: str) -> list[Any]:
    """Return the annotations or predictions of a task; none where only their numbers were exported."""
    given: list[Any] = field(place, task, kind, list) or []
    return [] if given and all(isinstance(one, int) for one in given) else given


REGIONS = "annotations that only mark places, such as boxes or spans, which no panel can vote on"


def _results(place: str, annotation: dict[str, Any]) -> dict[str, Any]:
    """Return what an annotation says, by the name of what was asked."""
    told: dict[str, Any] = {}
    for at, result in objects(place, field(place, annotation, "result", list) or []):
        value = field(at, result, "value", dict) or {}
        kind = result.get("type")
        said = value.get(kind) if isinstance(kind, str) else None
        if isinstance(said, str | int | float | list) and "start" not in value and "x" not in value:
            told[str(result.get("from_name"))] = plain(
                sorted(map(str, said)) if isinstance(said, list) else said
            )
    return told


def _annotator(annotation: dict[str, Any]) -> str:
    """Return who annotated: an address, a number, or the version of a model."""
    who = annotation.get("completed_by", annotation.get("model_version"))
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    return "unnamed" if who is None or who == "" else str(who)


def argilla_records(source: str, document: Sequence[Any], columns: LogColumns, notes: list[str]) -> Records:
    """Return the records of answers to one question; models that suggest answers are judges too.

    The truth is a field of the metadata or of the record that is named.

    Raises BadFileError if a field that is needed is missing, or several questions are answered and none is
    named.
    """
    told = [(place, record, _argilla_answers(place, record)) for place, record in objects(source, document)]
    questions = dict.fromkeys(question for _, _, answers in told for question, _, _, _ in answers)
    question = _one_question(source, questions, columns, "Argilla")
    rows = []
    for place, record, answers in told:
        known = {**(field(place, record, "fields", dict) or {}), **_metadata(record)}
        known |= {name: value for name, value in record.items() if not isinstance(value, dict | list)}
        if columns.target is not None and columns.target not in known:
            raise BadInputError(
                place, f"must have the field {columns.target!r}", "none in the record or its metadata"
            )
        truth = plain(known.get(columns.target)) if columns.target is not None else None
        case = record.get("id", record.get("external_id")) or fingerprint(known)
        rows += [
            {
                "case": case,
                "judge": judge,
                "answer": answer,
                "confidence": sure,
                "truth": truth,
                "features": known,
            }
            for asked, judge, answer, sure in answers
            if asked == question
        ]
    return _of_rows(source, rows, columns, notes, f"an export of Argilla, answers to {question!r}")


def _metadata(record: dict[str, Any]) -> dict[str, Any]:
    told = record.get("metadata")
    return told if isinstance(told, dict) else {}


def _argilla_answers(place: str, record: dict[str, Any]) -> list[tuple[str, str, Any, float | None]]:
    """Return question, judge, answer and confidence of all answers to a record."""
    found: list[tuple[str, str, Any, float | None]] = []
    responses, suggestions = record.get("responses"), record.get("suggestions")
    by_question = responses.items() if isinstance(responses, dict) else ()
    for question, given in by_question:
        for _, one in objects(place, given if isinstance(given, list) else []):
            found.append((question, _user(one), plain(one.get("value")), None))
    for _, one in objects(place, responses if isinstance(responses, list) else []):
        values = one.get("values") if one.get("status") not in UNSENT else None
        for question, given in (values if isinstance(values, dict) else {}).items():
            said = given.get("value") if isinstance(given, dict) else given
            found.append((question, _user(one), plain(said), None))
    suggested = [*suggestions.items()] if isinstance(suggestions, dict) else []
    for _, one in objects(place, suggestions if isinstance(suggestions, list) else []):
        suggested.append((one.get("question_name"), one))
    found += [
        (str(question), str(one["agent"]), plain(one.get("value")), _sure(one.get("score")))
        for question, one in suggested
        if isinstance(one, dict) and one.get("agent")
    ]
    for name, given in record.items():
        users = record.get(f"{name}.users")
        if name.endswith(".responses") and isinstance(given, list) and isinstance(users, list):
            question = name.removesuffix(".responses")
            found += [
                (question, str(user), plain(said), None) for user, said in zip(users, given, strict=False)
            ]
    return found


UNSENT = ("draft", "discarded")
"""States of responses that are no answers."""


def _user(response: dict[str, Any]) -> str:
    return str(response.get("user_id") or "unnamed")


def _sure(score: Any) -> float | None:
    return number(score) if isinstance(score, int | float) and not isinstance(score, bool) else None


def _one_question(
    source: str, questions: dict[str, None], columns: LogColumns, tool: str, without: str = ""
) -> str:
    """Return the question whose answers are read: the one that is named, or the only one.

    `without`: what an export without any question holds.

    Raises BadInputError if there are several or none.
    """
    if columns.answer is not None and columns.answer in questions:
        return columns.answer
    if columns.answer is None and len(questions) == 1:
        return next(iter(questions))
    got = all_of(map(repr, questions), most=8) if questions else without or "no answer"
    advice = (
        "Name it by `answer`." if questions else "Export a project whose tasks were answered by a choice."
    )
    raise BadInputError(
        source, "must have answers to one question", f"an export of {tool} with {got}", advice
    )


def _of_rows(
    source: str, rows: list[dict[str, Any]], columns: LogColumns, notes: list[str], what: str
) -> Records:
    if not rows:
        raise BadFileError(source, "must hold answers", "none", "Export the project again.")
    notes.append(f"{source}: read as {what}.")
    features = features_of(source, [row.pop("features") for row in rows], columns.features, "the records")
    given = {name: [row.get(name) for row in rows] for name in COLUMNS}
    given["case"] = [plain(case) for case in given["case"]]
    return records_of(source, given, features, repeats=columns.repeats)


def openai_evals_records(source: str, lines: Sequence[Any], columns: LogColumns, notes: list[str]) -> Records:
    """Return the records of a run; its completion function is the judge, and `correct` or the score decides.

    The answer is what was picked, or else what was sampled.

    Of a run on the platform the model that was sampled is the judge, its output the answer, and it is right
    if it passed all graders; the truth is a field of the item that is named.

    Raises BadFileError if a field that is needed is missing or of another kind.
    """
    if not isinstance(lines[0].get("spec"), dict):
        return _platform_records(source, lines, columns, notes)
    spec = lines[0]["spec"]
    judges = [str(one) for one in field(source, spec, "completion_fns", list, needed=True)]
    samples: dict[str, dict[str, Any]] = {}
    for place, event in objects(source, lines):
        if "sample_id" not in event:
            continue
        data = field(place, event, "data", dict) or {}
        row = samples.setdefault(str(event["sample_id"]), {"features": {}})
        _take_event(row, str(event.get("type")), data, columns)
    rows = [{"case": case, "judge": all_of(judges, most=8), **row} for case, row in samples.items()]
    if not rows:
        raise BadFileError(source, "must hold events of samples", "none", "Run the evaluation to its end.")
    notes.append(f"{source}: read as a run of OpenAI evals.")
    n_unscored = sum(row.get("score") is None for row in rows)
    if n_unscored:
        notes.append(f"{source}: {counted(n_unscored, 'sample')} have no score.")
    task = field(source, spec, "eval_name", str)
    given = {name: [task if name == "task" else row.get(name) for row in rows] for name in COLUMNS}
    features = features_of(source, [row["features"] for row in rows], columns.features, "the events")
    return records_of(source, given, features, repeats=columns.repeats)


def _platform_records(source: str, lines: Sequence[Any], columns: LogColumns, notes: list[str]) -> Records:
    rows = []
    for place, line in objects(source, lines):
        item = field(place, line, "item", dict) or {}
        sample = field(place, line, "sample", dict, needed=True)
        if columns.target is not None and columns.target not in item:
            raise BadInputError(place, f"must have the field {columns.target!r}", "none in its item")
        said = [one.get("content") for _, one in objects(place, field(place, sample, "outputs", list) or [])]
        passes = [as_score(one) for one in (field(place, line, "passes", dict) or {}).values()]
        usage = field(place, sample, "token_usage", dict) or {}
        rows.append(
            {
                "case": line.get("data_source_idx"),
                "judge": field(place, sample, "sampled_model_name", str, needed=True),
                "answer": plain(said[0]) if said else None,
                "truth": plain(item.get(columns.target)) if columns.target is not None else None,
                "score": min((one for one in passes if one is not None), default=None),
                "input_tokens": number(usage.get("prompt_tokens")),
                "output_tokens": number(usage.get("completion_tokens")),
                "model": sample["sampled_model_name"],
                "content": fingerprint(item),
                "features": item,
            }
        )
    if columns.target is None:
        notes.append(f"{source}: the items have {all_of(map(repr, rows[0]['features']), most=8)}; name the "
                     "truth by `target` if it is one of them.")  # fmt: skip
    return _of_rows(source, rows, columns, notes, "a run of OpenAI evals")


def _take_event(row: dict[str, Any], kind: str, data: dict[str, Any], columns: LogColumns) -> None:
    """Add what an event tells of a sample; the first that tells something counts."""
    row["features"] |= {name: value for name, value in data.items() if name not in row["features"]}
    answer = columns.answer or ("picked" if data.get("picked") is not None else "sampled")
    if data.get(answer) is not None and (kind != "sampling" or row.get("answer") is None):
        row["answer"] = plain(data[answer])
    if kind == "sampling":
        row.setdefault("content", fingerprint(data.get("prompt")))
        return
    wanted = data.get(columns.target or "expected")
    if isinstance(wanted, list) and wanted:
        wanted = wanted[0]
    if wanted is not None and row.get("truth") is None:
        row["truth"] = plain(wanted)
    scores = (as_score(data.get(name)) for name in ("correct", "score", "accuracy"))
    if row.get("score") is None:
        row["score"] = next((one for one in scores if one is not None), None)
