"""Exports of annotation tools in JSON.

Label Studio: a list of tasks, each with `id`, `data`, and `annotations` or `predictions`. An annotation has
`completed_by`, `result`, `was_cancelled`, `ground_truth` and `lead_time`; a result has `from_name`, `type`
and `value`, in which the choices are called after the type.

Argilla: records in a list, or one in each line, with `id`, `fields`, `metadata`, `responses` and
`suggestions`. Version 2 has responses by question, with `value` and `user_id`; version 1 has a list, with
`user_id`, `status` and `values` by question. Datasets of Hugging Face have columns ``QUESTION.responses`` and
``QUESTION.responses.users``.
"""

from collections.abc import Collection, Sequence
from typing import Any

from shortlist._words import all_of, counted
from shortlist.errors import BadInputError
from shortlist.panels.logs.json_content import (
    Row,
    field,
    fingerprint,
    number,
    objects,
    plain,
    records_of_rows,
    truth_of,
)
from shortlist.panels.logs.records import LogColumns, Records


def label_studio_records(
    source: str, document: Sequence[Any], columns: LogColumns, notes: list[str]
) -> Records:
    """Return the records of tasks; models that predict are judges too.

    The truth is the annotation that is marked as the ground truth, or a field of the data that is named.

    Raises BadFileError if a field that is needed is missing, or annotations answer several questions and none
    is named.
    """
    rows, n_cancelled = list[Row](), 0
    questions: dict[str, None] = {}
    for place, task in objects(source, document):
        data = field(place, task, "data", dict) or {}
        truth = plain(truth_of(place, data, columns, None, "its data"))
        case, own = plain(task.get("id", fingerprint(data))), list[Row]()
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
                    latency = number(one.get("lead_time"))
                    own.append({"judge": _annotator(one), "answer": answers, "latency": latency})
        rows += [row | {"case": case, "truth": truth, "features": data} for row in own]
    question = _one_question(source, questions, columns, "Label Studio", REGIONS if rows else "")
    for row in rows:
        row["answer"] = row["answer"].get(question)
        row["truth"] = row["truth"].get(question) if isinstance(row["truth"], dict) else row["truth"]
    if n_cancelled:
        notes.append(f"{source}: {counted(n_cancelled, 'annotation')} that were cancelled are left out.")
    notes.append(f"{source}: read as an export of Label Studio, answers to {question!r}.")
    return records_of_rows(source, rows, columns, notes, where="the records")


def _told(place: str, task: dict[str, Any], kind: str) -> list[Any]:
    """Return the annotations or predictions of a task; none where only their numbers were exported."""
    given: list[Any] = field(place, task, kind, list) or []
    return [] if given and all(isinstance(one, int) for one in given) else given


REGIONS = "annotations that only mark places, such as boxes or spans, which no panel can vote on"


def _results(place: str, annotation: dict[str, Any]) -> dict[str, Any]:
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
    questions = dict.fromkeys(question for _, _, answers in told for question, _ in answers)
    question = _one_question(source, questions, columns, "Argilla")
    rows = list[Row]()
    for place, record, answers in told:
        metadata = record.get("metadata")
        known = {**(field(place, record, "fields", dict) or {})}
        known |= metadata if isinstance(metadata, dict) else {}
        known |= {name: value for name, value in record.items() if not isinstance(value, dict | list)}
        truth = plain(truth_of(place, known, columns, None, "the record or its metadata"))
        case = plain(record.get("id", record.get("external_id")) or fingerprint(known))
        about = {"case": case, "truth": truth, "features": known}
        rows += [row | about for asked, row in answers if asked == question]
    notes.append(f"{source}: read as an export of Argilla, answers to {question!r}.")
    return records_of_rows(source, rows, columns, notes, where="the records")


def _argilla_answers(place: str, record: Row) -> list[tuple[str, Row]]:
    found: list[tuple[str, Any, Any]] = []
    responses, suggestions = record.get("responses"), record.get("suggestions")
    for question, given in responses.items() if isinstance(responses, dict) else ():
        for _, one in objects(place, given if isinstance(given, list) else []):
            found.append((question, one.get("user_id"), one.get("value")))
    for _, one in objects(place, responses if isinstance(responses, list) else []):
        values = one.get("values") if one.get("status") not in UNSENT else None
        for question, given in values.items() if isinstance(values, dict) else ():
            said = given.get("value") if isinstance(given, dict) else given
            found.append((question, one.get("user_id"), said))
    for name, given in record.items():
        users = record.get(f"{name}.users")
        if name.endswith(".responses") and isinstance(given, list) and isinstance(users, list):
            question = name.removesuffix(".responses")
            found += [(question, str(user), said) for user, said in zip(users, given, strict=False)]
    people = [
        (question, {"judge": str(user or "unnamed"), "answer": plain(said)}) for question, user, said in found
    ]
    suggested = [*suggestions.items()] if isinstance(suggestions, dict) else []
    for _, one in objects(place, suggestions if isinstance(suggestions, list) else []):
        suggested.append((one.get("question_name"), one))
    models = [
        (str(question), {"judge": str(one["agent"]), "answer": plain(one.get("value")), "confidence": sure})
        for question, one in suggested
        if isinstance(one, dict) and one.get("agent")
        for sure in [number(one["score"]) if _is_number(one.get("score")) else None]
    ]
    return people + models


UNSENT = ("draft", "discarded")
"""States of responses that are no answers."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _one_question(
    source: str, questions: Collection[str], columns: LogColumns, tool: str, without: str = ""
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
