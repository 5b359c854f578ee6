"""Exports of annotation tools in JSON.

Label Studio: a list of tasks, each with `id`, `data`, and `annotations` or `predictions`. An annotation has
`completed_by`, `result`, `was_cancelled`, `ground_truth` and `lead_time`. A result has `from_name`, `type`
and `value`; the field of the choices in it is named after the type, or as in :data:`NAMES_OF_ANSWERS`.

Argilla: records in a list, or one in each line, with `id`, `fields`, `metadata`, `responses` and
`suggestions`. Version 2 has responses by question, with `value` and `user_id`; version 1 has a list, with
`user_id`, `status` and `values` by question. Datasets of Hugging Face have columns ``QUESTION.responses``,
``QUESTION.responses.users`` and ``QUESTION.responses.status``, and ``QUESTION.suggestion`` with its `score`
and `agent`.

Prodigy: one annotation in each line, with `_task_hash`, `_annotator_id` or `_session_id`, and `answer`, which
is ``accept``, ``reject`` or ``ignore``. With `options`, the identifiers of the chosen options are in
`accept`.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from shortlist._words import all_of, counted, did_you_mean
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.logs.json_content import (
    Row,
    field,
    fingerprint,
    listed,
    name_of,
    number,
    objects,
    plain,
    records_of_rows,
    truth_of,
    unordered,
)
from shortlist.panels.logs.records import LogColumns, Records

UNNAMED = "unnamed"
"""Name of the judge of annotations without an annotator."""


def label_studio_records(
    source: str, document: Sequence[Any], columns: LogColumns, notes: list[str]
) -> Records:
    """Return the records of Label Studio's tasks; models that predict are judges too.

    The truth is the annotation that is marked as the ground truth, or the named field of the data.

    Raises BadFileError if a needed field is missing, an annotation answers the question twice, or ground
    truths of a task differ. Raises BadInputError if annotations answer several questions and `columns` names
    none of them.
    """
    rows, seen = list[Row](), Counter[str]()
    questions: dict[str, None] = {}
    for place, task in objects(source, document):
        data = field(place, task, "data", dict) or {}
        truth = unordered(truth_of(place, data, columns, None, "its data"))
        marked, own = list[dict[str, list[Any]]](), list[Row]()
        for kind in ("annotations", "predictions"):
            for at, one in objects(place, _told(place, task, kind)):
                if one.get("was_cancelled"):
                    seen["cancelled"] += 1
                    continue
                answers = _results(at, one)
                questions |= dict.fromkeys(answers)
                if one.get("ground_truth") and columns.target is None:
                    marked.append(answers)
                else:
                    latency = number(one.get("lead_time"))
                    own.append({"judge": _annotator(at, one), "answer": answers, "latency": latency})
                    seen["unnamed"] += own[-1]["judge"] == UNNAMED
        about = {
            "case": _case(place, task, ("id",), data, seen),
            "truth": truth,
            "marked": marked,
            "features": data,
            "place": place,
        }
        rows += [row | about for row in own]
    question = _one_question(source, questions, columns, "Label Studio", REGIONS if rows else "")
    for row in rows:
        row["answer"] = _one_answer(row["place"], row["answer"].get(question, []))
        if columns.target is None:
            row["truth"] = _one_truth(row["place"], [one.get(question, []) for one in row["marked"]])
    if seen["cancelled"]:
        cancelled = counted(seen["cancelled"], "annotation")
        notes.append(f"{source}: {cancelled} that were cancelled are left out.")
    _note(source, seen, "annotation", "task", notes)
    notes.append(f"{source}: read as an export of Label Studio, answers to {question!r}.")
    return records_of_rows(source, rows, columns, notes, where="the records")


def _told(place: str, task: dict[str, Any], kind: str) -> list[Any]:
    """Return the annotations or predictions of a task; empty if the export has only their number."""
    given: list[Any] = field(place, task, kind, list) or []
    return [] if given and all(isinstance(one, int) for one in given) else given


REGIONS = "annotations that only mark places, such as boxes or spans, which no panel can vote on"

NAMES_OF_ANSWERS = {"pairwise": "selected", "textarea": "text"}
"""Name of the field that holds the answer in a value, by type, where the field is not named after the type.
"""


def _results(place: str, annotation: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the answers of an annotation by question; each question should have one."""
    told: dict[str, list[Any]] = {}
    for at, result in objects(place, field(place, annotation, "result", list) or []):
        value = field(at, result, "value", dict) or {}
        kind = result.get("type")
        said = value.get(NAMES_OF_ANSWERS.get(kind, kind)) if isinstance(kind, str) else None
        if isinstance(said, str | int | float | list) and "start" not in value and "x" not in value:
            answer = plain(said if kind == "textarea" else unordered(said))
            told.setdefault(str(result.get("from_name")), []).append(answer)
    return told


def _one_answer(place: str, answers: Sequence[Any]) -> Any:
    if len(set(answers)) > 1:
        raise BadFileError(
            place,
            "must have one answer of each annotation to the question",
            listed(answers, most=4),
            "Keep one of them.",
        )
    return answers[0] if answers else None


def _one_truth(place: str, marked: Sequence[Sequence[Any]]) -> Any:
    """Return the answer in the annotations that are marked as ground truths of a task; otherwise None."""
    told = dict.fromkeys(_one_answer(place, answers) for answers in marked if answers)
    if len(told) > 1:
        raise BadFileError(
            place,
            "must have one ground truth",
            listed(told, most=4),
            "Unmark all but one.",
        )
    return next(iter(told), None)


def _annotator(place: str, annotation: dict[str, Any]) -> str:
    """Return the author of an annotation: an address, a number, or the version of a model."""
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        return _judge(place, who, ("email", "id"))
    return _judge(place, annotation, ("completed_by", "model_version"))


def _judge(place: str, record: Row, names: Sequence[str]) -> str:
    """Return the value of the first field of a record that names a judge."""
    found = [name_of(place, record, name) for name in names]
    return next((str(one) for one in found if one is not None), UNNAMED)


def _case(place: str, record: Row, names: Sequence[str], known: Any, seen: Counter[str]) -> Any:
    """Return the value of the first field that names a case, or otherwise a fingerprint of its content."""
    found = [name_of(place, record, name) for name in names]
    case = next((one for one in found if one is not None), None)
    seen["nameless"] += case is None
    return fingerprint(known) if case is None else case


def _note(source: str, seen: Counter[str], what: str, case: str, notes: list[str]) -> None:
    if seen["nameless"]:
        notes.append(
            f"{source}: {counted(seen['nameless'], case)} without a name are named by their content."
        )
    if seen["unnamed"]:
        notes.append(
            f"{source}: {counted(seen['unnamed'], what)} without an annotator count as answers of one judge, "
            f"{UNNAMED!r}."
        )


def argilla_records(source: str, document: Sequence[Any], columns: LogColumns, notes: list[str]) -> Records:
    """Return the records of Argilla's answers to one question; models that suggest answers are judges too.

    The truth is the named field of the metadata or of the record. Drafts and discarded responses are no
    answers.

    Raises BadFileError if a needed field is missing. Raises BadInputError if several questions are answered
    and `columns` names none of them.
    """
    rows, seen = list[Row](), Counter[str]()
    questions: dict[str, None] = {}
    for place, record in objects(source, document):
        metadata = record.get("metadata")
        known = {**(field(place, record, "fields", dict) or {})}
        known |= metadata if isinstance(metadata, dict) else {}
        known |= {name: value for name, value in record.items() if not isinstance(value, dict | list)}
        truth = unordered(truth_of(place, known, columns, None, "the record or its metadata"))
        case = _case(place, record, ("id", "external_id"), known, seen)
        about = {"case": case, "truth": truth, "features": known}
        told = [*_people(place, record, seen), *_models(place, record, seen)]
        questions |= dict.fromkeys(question for question, _ in told)
        rows += [row | about | {"question": question} for question, row in told]
    question = _one_question(source, questions, columns, "Argilla")
    rows = [row for row in rows if row["question"] == question]
    seen["unnamed"] = sum(row["judge"] == UNNAMED for row in rows)
    if unsent := sum(seen[state] for state in UNSENT):
        notes.append(f"{source}: {counted(unsent, 'response')} are left out, as drafts or as discarded.")
    if seen["empty"]:
        notes.append(f"{source}: {counted(seen['empty'], 'response')} have no values and are left out.")
    if seen["agentless"]:
        suggestions = counted(seen["agentless"], "suggestion")
        notes.append(f"{source}: {suggestions} without an agent are left out.")
    _note(source, seen, "response", "record", notes)
    notes.append(f"{source}: read as an export of Argilla, answers to {question!r}.")
    return records_of_rows(source, rows, columns, notes, where="the records")


UNSENT = ("draft", "discarded")
"""States of responses that are no answers."""


def _people(place: str, record: Row, seen: Counter[str]) -> Iterator[tuple[str, Row]]:
    """Yield the question and the record of each response that was submitted."""
    for question, user, state, said in _responses(place, record, seen):
        if state in UNSENT:
            seen[state] += 1
        else:
            judge = _judge(place, {"user_id": user}, ("user_id",))
            yield question, {"judge": judge, "answer": unordered(said)}


def _responses(place: str, record: Row, seen: Counter[str]) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield the question, the user, the state and the value of each response."""
    responses = record.get("responses")
    if isinstance(responses, dict):
        for question in responses:
            for _, one in objects(place, field(place, responses, question, list) or []):
                yield question, one.get("user_id"), one.get("status"), one.get("value")
    else:
        for at, one in objects(place, field(place, record, "responses", list) or []):
            values = field(at, one, "values", dict) or {}
            seen["empty"] += not values and one.get("status") not in UNSENT
            for question, given in values.items():
                said = given.get("value") if isinstance(given, dict) else given
                yield question, one.get("user_id"), one.get("status"), said
    for name in record:
        if name.endswith(RESPONSES) and f"{name}.users" in record:
            said = field(place, record, name, list) or []
            users = field(place, record, f"{name}.users", list) or []
            states = field(place, record, f"{name}.status", list) or [None] * len(said)
            if not len(said) == len(users) == len(states):
                raise BadFileError(
                    place,
                    f"must have a user and a state for each of {name!r}",
                    f"{counted(len(said), 'response')}, {counted(len(users), 'user')} and "
                    f"{counted(len(states), 'state')}",
                    "Write the log again with the tool that made it.",
                )
            question = name.removesuffix(RESPONSES)
            yield from ((question, *one) for one in zip(users, states, said, strict=True))


RESPONSES, SUGGESTION = ".responses", ".suggestion"
"""Suffixes of the names of columns in datasets of Hugging Face."""


def _models(place: str, record: Row, seen: Counter[str]) -> Iterator[tuple[str, Row]]:
    """Yield the question and the record of each suggestion that names its agent."""
    for question, agent, value, score in _suggestions(place, record):
        judge = _judge(place, {"agent": agent}, ("agent",))
        if agent is None or agent == "":
            seen["agentless"] += value is not None
            continue
        sure = number(score) if _is_number(score) else None
        yield question, {"judge": judge, "answer": unordered(value), "confidence": sure}


def _suggestions(place: str, record: Row) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield the question, the agent, the value and the score of each suggestion."""
    suggestions = record.get("suggestions")
    if isinstance(suggestions, dict):
        for question in suggestions:
            one = field(place, suggestions, question, dict) or {}
            yield question, one.get("agent"), one.get("value"), one.get("score")
    else:
        for _, one in objects(place, field(place, record, "suggestions", list) or []):
            yield str(one.get("question_name")), one.get("agent"), one.get("value"), one.get("score")
    for name, value in record.items():
        if name.endswith(SUGGESTION):
            agent, score = record.get(f"{name}.agent"), record.get(f"{name}.score")
            yield name.removesuffix(SUGGESTION), agent, value, score


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _one_question(
    source: str, questions: Collection[str], columns: LogColumns, tool: str, without: str = ""
) -> str:
    """Return the question whose answers are read: the named question, or the only question.

    `without`: content of an export without any question, for the message.

    Raises BadInputError if no question is named and the export has several or none.
    """
    if columns.answer is not None and columns.answer in questions:
        return columns.answer
    if columns.answer is None and len(questions) == 1:
        return next(iter(questions))
    got = listed(questions, most=8) if questions else without or "no answer"
    advice = (
        "Pass one of them: `answer=NAME`."
        if questions
        else "Export a project whose tasks were answered by a choice."
    )
    raise BadInputError(
        source, "must have answers to one question", f"an export of {tool} with {got}", advice
    )


def prodigy_records(source: str, document: Sequence[Any], columns: LogColumns, notes: list[str]) -> Records:
    """Return the records of Prodigy's annotations: the chosen options, or the acceptance of a suggestion.

    Ignored tasks, and rejected tasks with options, are no answers. The truth is the named field of the task,
    or of its `meta`.

    Raises BadFileError if the annotations only mark passages, or a needed field is missing.
    """
    told = list(objects(source, document))
    for name in (columns.case, columns.judge, columns.answer):
        if name is not None and not any(name in one for _, one in told):
            known = dict.fromkeys(key for _, one in told for key in one)
            advice = did_you_mean(name, known) or "Name one of them."
            raise BadInputError(source, f"must have the field {name!r}", listed(known), advice)
    seen = Counter[str]()
    has_options = any(isinstance(one.get("options"), list) for _, one in told)
    marks = all(str(one.get("_view_id")).endswith("_manual") or "relations" in one for _, one in told)
    if marks and columns.answer is None:
        raise BadFileError(
            source,
            "must hold the answers of judges to cases",
            "annotations of Prodigy that mark places, which no panel can vote on",
            "Export a dataset with options, or with suggestions to accept.",
        )
    rows = []
    for place, one in told:
        meta = one.get("meta")
        known = {**(meta if isinstance(meta, dict) else {}), **one}
        truth = truth_of(place, known, columns, None, "the task or its metadata")
        row = {
            "case": name_of(place, one, columns.case or "_task_hash", needed=True),
            "judge": _judge(place, one, (columns.judge,) if columns.judge else ANNOTATOR),
            "answer": _decided(place, one, columns, seen, has_options=has_options),
            "truth": unordered(truth), "features": known,
        }  # fmt: skip
        rows.append(row)
    seen["unnamed"] = sum(row["judge"] == UNNAMED for row in rows)
    if seen["passed over"]:
        passed = counted(seen["passed over"], "annotation")
        what = "ignore or reject" if has_options else "ignore"
        notes.append(f"{source}: {passed} that {what} the task count as no answer.")
    _note(source, seen, "annotation", "task", notes)
    what = "the options that were taken" if has_options else "what was accepted and rejected"
    what = what if columns.answer is None else f"the field {columns.answer!r}"
    notes.append(f"{source}: read as annotations of Prodigy, answers are {what}.")
    return records_of_rows(source, rows, columns, notes, where="the tasks")


ANNOTATOR = ("_annotator_id", "_session_id")
DECISIONS = ("accept", "reject", "ignore")


def _decided(place: str, one: Row, columns: LogColumns, seen: Counter[str], *, has_options: bool) -> Any:
    decision = one.get("answer")
    if columns.answer not in {None, "answer"}:
        return unordered(one.get(columns.answer))
    if decision not in DECISIONS:
        raise BadFileError(
            place, f"must have one of {all_of(DECISIONS)} as 'answer'", repr(decision)[:40], "Mend it."
        )
    takes_options = has_options and columns.answer is None
    if decision == "ignore" or (takes_options and decision == "reject"):
        seen["passed over"] += 1
        return None
    if not takes_options:
        return decision
    taken = field(place, one, "accept", list) or []
    return unordered(taken) or None
