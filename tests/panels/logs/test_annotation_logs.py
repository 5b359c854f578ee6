"""Exports of Label Studio and Argilla, and tables of crowd platforms, as public files have them."""

import json
from pathlib import Path
from typing import Any

import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from tests.stored import Stored


def read(folder: Path, value: Any, *, lines: bool = False, **columns: Any) -> AnswerLog:
    path = folder / "export.json"
    path.write_text("\n".join(map(json.dumps, value)) if lines else json.dumps(value))
    return read_log(path, columns=LogColumns(**columns))


def choice(label: str | list[str], name: str = "sentiment") -> dict[str, Any]:
    labels = [label] if isinstance(label, str) else label
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": labels}}


def task(number: int, said: dict[int, str], **more: Any) -> dict[str, Any]:
    annotations = [
        {"id": number * 10 + who, "completed_by": who, "result": [choice(label)], "was_cancelled": False,
         "ground_truth": False, "lead_time": 2.5}
        for who, label in said.items()
    ]  # fmt: skip
    return {"id": number, "data": {"text": f"t{number}", "gold": "good"}, "annotations": annotations, **more}


STUDIO = [task(1, {1: "good", 2: "bad"}), task(2, {1: "bad", 2: "bad"}), task(3, {2: "good"})]


def test_annotators_of_label_studio_are_judges_and_a_field_of_the_data_the_truth(
    tmp_path: Path, stored: Stored
) -> None:
    log = read(tmp_path, STUDIO, target="gold")
    assert log.judges == ("1", "2")
    assert log.cases.tolist() == ["1", "2", "3"]
    assert [[log.classes[code] if code >= 0 else "" for code in row] for row in log.answers] == [
        ["good", ""], ["", ""], ["", "good"],
    ]  # fmt: skip
    assert log.latency is not None
    stored(*log.notes)


def test_models_that_predict_are_judges_and_the_ground_truth_is_none(tmp_path: Path, stored: Stored) -> None:
    truth = {
        "completed_by": {"id": 9, "email": "boss@example.org"},
        "result": [choice("good")],
        "ground_truth": True,
    }
    cancelled = {"completed_by": 3, "result": [], "was_cancelled": True}
    guess = {"model_version": "small-1", "score": 0.9, "result": [choice(["good"])]}
    tasks = [
        {
            "id": number,
            "data": {"text": str(number)},
            "annotations": [truth, cancelled],
            "predictions": [guess],
        }
        for number in range(3)
    ]
    log = read(tmp_path, tasks)
    assert log.judges == ("small-1",)
    assert log.truth.tolist() == [0, 0, 0]
    stored(*log.notes)


def test_several_questions_are_to_be_named(tmp_path: Path) -> None:
    tasks = [task(1, {1: "good"}), task(2, {1: "bad"})]
    tasks[0]["annotations"][0]["result"].append(choice(["b", "a"], "topics"))
    with pytest.raises(BadInputError, match="got an export of Label Studio with 'sentiment' and 'topics'"):
        read(tmp_path, tasks)
    assert read(tmp_path, tasks, answer="topics").classes == ('["a", "b"]',)


RESPONSES_2 = {"label": [{"value": "yes", "user_id": "u1"}, {"value": "no", "user_id": "u2"}]}
RESPONSES_1 = [
    {"user_id": "u1", "status": "submitted", "values": {"label": {"value": "yes"}}},
    {"user_id": "u2", "status": "submitted", "values": {"label": {"value": "no"}}},
    {"user_id": "u3", "status": "draft", "values": {"label": {"value": "no"}}},
]


@pytest.mark.parametrize(
    "responses",
    [
        pytest.param(
            {"fields": {"text": "t"}, "metadata": {"gold": "yes"}, "responses": RESPONSES_2}, id="2"
        ),
        pytest.param(
            {"fields": {"text": "t"}, "metadata": {"gold": "yes"}, "responses": RESPONSES_1}, id="1"
        ),
        pytest.param(
            {
                "text": "t",
                "gold": "yes",
                "label.responses": ["yes", "no"],
                "label.responses.users": ["u1", "u2"],
            },
            id="Hugging Face",
        ),
    ],
)
@pytest.mark.parametrize("lines", [True, False])
def test_argilla_is_read_in_each_of_its_forms(responses: dict[str, Any], lines: bool, tmp_path: Path) -> None:
    records = [{"id": f"r{number}", **responses} for number in range(3)]
    log = read(tmp_path, records, lines=lines, target="gold")
    assert log.judges == ("u1", "u2")
    assert log.answers[:, 0].tolist() == [0, 0, 0]
    assert log.is_right.tolist() == [[True, False]] * 3


def test_agents_that_suggest_are_judges_of_argilla(tmp_path: Path) -> None:
    suggestions = {"label": {"value": "no", "agent": "mini", "score": 0.75}}
    one = {"id": "r", "fields": {"text": "t"}, "responses": RESPONSES_2, "suggestions": suggestions}
    log = read(tmp_path, [one, {**one, "id": "s"}])
    assert log.judges == ("u1", "u2", "mini")
    assert log.confidence is not None
    assert log.confidence[0, 2] == 0.75


def test_the_shared_case_of_argilla_is_read_as_what_it_is(data_folder: Path) -> None:
    log = read_log(data_folder / "judges" / "cases" / "argilla.json")
    assert log.judges == ("u0", "u1", "u2")
    assert log.classes == ("bad", "good")


STATES = ("submitted", None, "draft", "discarded")
DRAFTS: dict[str, dict[str, Any]] = {
    "2": {"responses": {"q": [{"user_id": f"u{n}", "value": "x", "status": one} for n, one in enumerate(STATES)]}},
    "1": {
        "responses": [
            {"user_id": f"u{n}", "values": {"q": {"value": "x"}}, "status": one} for n, one in enumerate(STATES)
        ]
    },
    "Hugging Face": {
        "q.responses": ["x"] * 4, "q.responses.users": ["u0", "u1", "u2", "u3"], "q.responses.status": STATES,
    },
}  # fmt: skip


@pytest.mark.parametrize("form", DRAFTS)
def test_drafts_and_discarded_responses_are_no_answers(form: str, tmp_path: Path, stored: Stored) -> None:
    records = [{"id": n, "fields": {}, "gold": "x", **DRAFTS[form]} for n in range(3)]
    log = read(tmp_path, records, target="gold")
    assert log.judges == ("u0", "u1")
    assert log.is_right.all()
    stored(*log.notes)
    log = read(tmp_path, [one | {"q.suggestion": "y", "q.suggestion.agent": "m"} for one in records])
    assert log.judges == ("u0", "u1", "m")


def test_columns_of_argilla_of_unequal_lengths_are_refused(tmp_path: Path) -> None:
    one = {"id": 1, "q.responses": ["x", "y"], "q.responses.users": ["u0"]}
    with pytest.raises(BadFileError, match=r"a user and a state for each of.*got 2 responses, 1"):
        read(tmp_path, [one])


def test_choices_are_the_same_in_any_order(tmp_path: Path) -> None:
    said = [["b", "a"], ["a", "b"]]
    records = [
        {
            "id": n,
            "fields": {},
            "responses": {"q": [{"user_id": f"u{who}", "value": one} for who, one in enumerate(said)]},
        }
        for n in range(2)
    ]
    log = read(tmp_path, records)
    assert log.classes == ('["a", "b"]',)


def test_records_that_are_called_0_keep_their_name(tmp_path: Path, stored: Stored) -> None:
    log = read(tmp_path, [{"id": n, "fields": {}, "responses": RESPONSES_2} for n in range(2)])
    assert log.cases.tolist() == ["0", "1"]
    log = read(tmp_path, [{"fields": {"a": n}, "responses": RESPONSES_2} for n in range(2)])
    stored(*log.notes)


@pytest.mark.parametrize(
    ("kind", "value", "label"),
    [
        ("pairwise", {"selected": "left"}, "left"),
        ("rating", {"rating": 4}, "4"),
        ("textarea", {"text": ["some words"]}, "some words"),
        ("taxonomy", {"taxonomy": [["b", "c"], ["a"]]}, '[["a"], ["b", "c"]]'),
    ],
)
def test_answers_of_label_studio_are_called_after_their_type_or_not(
    kind: str, value: dict[str, Any], label: str, tmp_path: Path
) -> None:
    result = {"from_name": "q", "to_name": "t", "type": kind, "value": value}
    tasks = [
        {"id": n, "data": {"gold": "left"}, "annotations": [{"completed_by": 1, "result": [result]}]}
        for n in range(2)
    ]
    log = read(tmp_path, tasks)
    assert log.classes == (label,)


def test_an_annotation_that_answers_twice_is_refused(tmp_path: Path) -> None:
    twice = {"completed_by": 1, "result": [choice("a"), choice("b")]}
    with pytest.raises(BadFileError, match="one answer of each annotation to the question, got 'a' and 'b'"):
        read(tmp_path, [{"id": 1, "data": {}, "annotations": [twice]}])
    same = {"completed_by": 1, "result": [choice("a"), choice("a")]}
    assert read(tmp_path, [{"id": 1, "data": {}, "annotations": [same]}]).classes == ("a",)


def test_ground_truths_that_differ_are_refused(tmp_path: Path) -> None:
    truths = [
        {"completed_by": n, "result": [choice(one)], "ground_truth": True} for n, one in enumerate("ab")
    ]
    one = {"completed_by": 3, "result": [choice("a")]}
    with pytest.raises(BadFileError, match="must have one ground truth, got 'a' and 'b'"):
        read(tmp_path, [{"id": 1, "data": {}, "annotations": [*truths, one]}])
    log = read(tmp_path, [{"id": 1, "data": {}, "annotations": [truths[0], truths[0], one]}])
    assert log.is_right.tolist() == [[True]]


def test_annotations_without_an_annotator_are_said_to_be_of_one(tmp_path: Path, stored: Stored) -> None:
    log = read(
        tmp_path, [{"id": n, "data": {}, "annotations": [{"result": [choice("a")]}]} for n in range(2)]
    )
    assert log.judges == ("unnamed",)
    stored(*log.notes)


WHO: dict[str, Any] = {"name": "u"}
NESTED: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "Label Studio": ("completed_by", [
        {"id": 1, "data": {}, "annotations": [{"completed_by": [1], "result": [choice("a")]}]}
    ]),
    "Argilla": ("user_id", [
        {"id": 1, "fields": {}, "responses": {"q": [{"user_id": WHO, "value": "a"}]}}
    ]),
    "Argilla's models": ("agent", [
        {"id": 1, "fields": {}, "responses": [], "suggestions": {"q": {"agent": WHO, "value": "a"}}}
    ]),
    "Prodigy": ("_annotator_id", [
        {"_input_hash": 1, "_task_hash": 1, "answer": "accept", "_annotator_id": WHO}
    ]),
}  # fmt: skip


@pytest.mark.parametrize("tool", NESTED)
def test_a_judge_that_is_no_name_is_refused(tool: str, tmp_path: Path) -> None:
    name, records = NESTED[tool]
    with pytest.raises(BadFileError, match=f"must have a name or number as '{name}'"):
        read(tmp_path, records)


def test_responses_without_values_are_counted(tmp_path: Path, stored: Stored) -> None:
    told = {"user_id": "u1", "values": {"q": {"value": "x"}}}
    records = [{"id": n, "fields": {}, "responses": [told, {"user_id": "u2"}]} for n in range(2)]
    log = read(tmp_path, records)
    assert log.judges == ("u1",)
    stored(*log.notes)


def prodigy(task: int, who: str | None, taken: list[str], answer: str = "accept") -> dict[str, Any]:
    return {
        "text": f"t{task}", "_input_hash": task, "_task_hash": -task, "_view_id": "choice",
        "options": [{"id": one, "text": one.upper()} for one in "abc"], "accept": taken, "answer": answer,
        "_annotator_id": who, "_session_id": None, "meta": {"gold": "a"},
    }  # fmt: skip


def test_options_of_prodigy_that_were_taken_are_answers(tmp_path: Path, stored: Stored) -> None:
    said = [
        prodigy(1, "x", ["a"]), prodigy(1, "y", ["b"]), prodigy(2, "x", [], "ignore"), prodigy(2, "y", ["a"]),
        prodigy(3, "x", ["c", "a"]), prodigy(3, "y", ["a"], "reject"),
    ]  # fmt: skip
    log = read(tmp_path, said, lines=True, target="gold")
    assert log.judges == ("x", "y")
    assert log.cases.tolist() == ["-1", "-2", "-3"]
    assert log.is_right.tolist() == [[True, False], [False, True], [False, False]]
    assert dict(log.unknown_words) == {"b": 1, '["a", "c"]': 1}
    stored(*log.notes)


def test_suggestions_of_prodigy_are_accepted_or_rejected(tmp_path: Path) -> None:
    said = [
        {"text": "t", "label": "BAD", "_input_hash": task, "_task_hash": task, "_session_id": f"d-{who}",
         "answer": answer}
        for task, answers in enumerate([("accept", "reject"), ("reject", "ignore")])
        for who, answer in zip("xy", answers, strict=True)
    ]  # fmt: skip
    log = read(tmp_path, said, lines=True)
    assert log.judges == ("d-x", "d-y")
    assert log.classes == ("accept", "reject")
    assert log.answers.tolist() == [[0, 1], [1, -1]]
    assert read(tmp_path, said, lines=True, answer="label").classes == ("BAD",)
    with pytest.raises(BadInputError, match=r"must have the field 'labl', got .* Did you mean 'label'"):
        read(tmp_path, said, lines=True, answer="labl")
    with pytest.raises(BadFileError, match=r"must have one of accept, reject and ignore as.*got 'yes'"):
        read(tmp_path, [said[0], said[1] | {"answer": "yes"}], lines=True)


def test_annotations_of_prodigy_that_mark_places_are_refused_by_name(tmp_path: Path) -> None:
    one = {"_input_hash": 1, "_task_hash": 1, "_view_id": "ner_manual", "spans": [], "answer": "accept"}
    with pytest.raises(BadFileError, match="annotations of Prodigy that mark places"):
        read(tmp_path, [one])


def test_one_annotation_of_prodigy_may_be_the_truth_of_models(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("task,judge,answer\n" + "".join(f"{-n},m,a\n" for n in range(3)))
    truth = [prodigy(n, None, ["a" if n else "b"]) for n in range(3)]
    (tmp_path / "truth.jsonl").write_text("\n".join(map(json.dumps, truth)))
    log = read_log(tmp_path / "log.csv", truth=tmp_path / "truth.jsonl")
    assert log.is_right.tolist() == [[False], [True], [True]]


def test_roles_that_a_tool_does_not_go_by_are_noted(tmp_path: Path, stored: Stored) -> None:
    log = read(tmp_path, STUDIO, target="gold", case="name", price="cost")
    stored(*log.notes)


SHARED: dict[str, tuple[str | None, dict[str, tuple[int, int]]]] = {
    "argilla-draft/records.jsonl": ("gold", {"u1": (33, 40), "u2": (20, 20)}),
    "labelstudio-pairwise/export.json": ("gold", {"1": (38, 40), "2": (30, 40)}),
    "prodigy-choice/annotations.jsonl": (None, {"ann-a": (37, 40), "ann-b": (18, 40)}),
}


@pytest.mark.parametrize("name", SHARED)
def test_the_shared_exports_have_their_accuracies(data_folder: Path, name: str) -> None:
    folder = data_folder / "judges" / "cases"
    target, right = SHARED[name]
    truth = folder / "prodigy-choice" / "truth.csv" if "prodigy" in name else None
    log = read_log(folder / name, columns=LogColumns(target=target), truth=truth)
    told = zip(log.is_right.sum(axis=0).tolist(), (log.answers >= 0).sum(axis=0).tolist(), strict=True)
    assert dict(zip(log.judges, told, strict=True)) == right


def test_toloka_without_numbers_of_tasks_goes_by_what_was_shown(tmp_path: Path) -> None:
    path = tmp_path / "toloka.tsv"
    path.write_text(
        "INPUT:url\tOUTPUT:code\tGOLDEN:code\tHINT:text\tASSIGNMENT:link\tASSIGNMENT:assignment_id\t"
        "ASSIGNMENT:worker_id\tASSIGNMENT:status\tASSIGNMENT:started\n"
        "u1\tx\tx\t\tl\ta1\tw1\tACCEPTED\t2026\nu1\ty\tx\t\tl\ta2\tw2\tACCEPTED\t2026\n"
        "u2\ty\ty\t\tl\ta1\tw1\tACCEPTED\t2026\nu2\ty\ty\t\tl\ta2\tw2\tACCEPTED\t2026\n"
    )
    log = read_log(path)
    assert log.judges == ("w1", "w2")
    assert log.is_right.tolist() == [[True, False], [True, True]]


def test_toloka_has_empty_rows_between_pages_and_names_who_answered(tmp_path: Path, stored: Stored) -> None:
    path = tmp_path / "toloka.tsv"
    header = "INPUT:url\tOUTPUT:result\tOUTPUT:comments\tGOLDEN:result\tASSIGNMENT:worker_id\n"
    rows = [f"u{n}\tyes\t\tyes\tw{who}\n\t\t\t\t\n" for n in range(3) for who in (1, 2)]
    path.write_text(header + "".join(rows))
    with pytest.raises(BadFileError, match="a table of Toloka, got 'OUTPUT:result' and 'OUTPUT:comments'"):
        read_log(path)
    log = read_log(path, columns=LogColumns(answer="OUTPUT:result"))
    assert (log.judges, len(log.cases)) == (("w1", "w2"), 3)
    stored(*log.notes)
    path.write_text("INPUT:url\tOUTPUT:result\tGOLDEN:result\nu1\tyes\t\nu1\tno\t\n")
    with pytest.raises(BadFileError, match="got a table of Toloka without it"):
        read_log(path)


def test_predictions_of_label_studio_may_be_their_numbers_alone(tmp_path: Path) -> None:
    log = read(tmp_path, [one | {"predictions": [1164]} for one in STUDIO], target="gold")
    assert log.judges == ("1", "2")


def test_annotations_that_only_mark_places_are_said_to_do_so(tmp_path: Path) -> None:
    box = {"from_name": "label", "type": "rectanglelabels", "value": {"x": 1.0, "rectanglelabels": ["car"]}}
    tasks = [{"id": 1, "data": {}, "annotations": [{"completed_by": 1, "result": [box]}]}]
    with pytest.raises(BadInputError, match="Label Studio with annotations that only mark places"):
        read(tmp_path, tasks)


def test_one_annotator_alone_is_told_which_columns_may_be_answers(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text(
        "annotation_id,annotator,id,lead_time,sentiment,text\n1,1,7,2.0,good,t\n2,1,8,2.0,bad,u\n"
    )
    with pytest.raises(BadFileError, match="its other columns are 'sentiment' and 'text'"):
        read_log(path)
    assert read_log(path, columns=LogColumns(answer="sentiment")).classes == ("bad", "good")


OTHERS = {
    "judgments of MT-bench": [
        {"question_id": n, "model": "m", "judge": ["g", "single-v1"], "user_prompt": "p", "judgment": "j",
         "score": 10, "turn": 1} for n in range(3)
    ],
    "tasks of Prodigy without an answer": [
        {"text": "t", "label": "BAD", "_input_hash": n, "_task_hash": -n} for n in range(3)
    ],
    "an export of doccano": [
        {"id": n, "text": "t", "annotations": [{"label": 1, "user": 1}], "annotation_approver": None}
        for n in range(3)
    ],
    "results of ragas": [
        {"user_input": "q", "retrieved_contexts": ["c"], "response": "a", "reference": "b", "faithfulness": 1.0}
    ] * 3,
    "a test run of DeepEval": {"testFile": "t.py", "testCases": [], "metricsScores": []},
    "Label Studio before version 1.0": [{"id": n, "completions": []} for n in range(3)],
    "one annotation of Label Studio": {"id": 4, "result": [], "completed_by": {}, "task": {},
                                       "was_cancelled": False},
    "promptfoo without the result of any test": {"evalId": "e", "results": {"results": []}, "config": {}},
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_files_of_other_tools_are_refused_by_their_names(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match=f"must hold the answers of judges to cases, got .*{name}"):
        read(tmp_path, OTHERS[name])


def test_columns_that_are_named_are_read_whatever_tool_wrote_them(tmp_path: Path) -> None:
    rows = [
        {"_input_hash": n, "_task_hash": n, "_annotator_id": who, "answer": "accept", "gold": "accept"}
        for n in range(3)
        for who in ("a", "b")
    ]
    log = read(tmp_path, rows, case="_task_hash", judge="_annotator_id", answer="answer", target="gold")
    assert (log.judges, len(log.cases)) == (("a", "b"), 3)
    (tmp_path / "ragas.csv").write_text("user_input,retrieved_contexts,response,faithfulness\nq,c,a,1.0\n")
    with pytest.raises(BadFileError, match="got results of ragas"):
        read_log(tmp_path / "ragas.csv")


def test_rows_of_mechanical_turk_end_before_the_columns_to_fill_in(tmp_path: Path) -> None:
    path = tmp_path / "batch.csv"
    header = '"HITId","Reward","WorkerId","Answer.label","Approve","Reject"\n'
    path.write_text(header + "".join(f'"h{n}","$0.50","w{who}","yes"\n' for n in range(3) for who in (1, 2)))
    log = read_log(path)
    assert (log.judges, len(log.cases), log.classes) == (("w1", "w2"), 3, ("yes",))
    assert log.prices is not None
    assert log.prices[0].tolist() == [0.5, 0.5]
    path.write_text(header + '"h1","$0.50","w1"\n')
    with pytest.raises(BadFileError, match="expected 6 cells as in the header, got 3"):
        read_log(path)


@pytest.mark.parametrize(
    ("header", "state"),
    [
        ("HITId,WorkerId,AssignmentStatus,Answer.label,gold", "AssignmentStatus"),
        (
            "ASSIGNMENT:task_id,ASSIGNMENT:worker_id,ASSIGNMENT:status,OUTPUT:label,GOLDEN:label",
            "ASSIGNMENT:status",
        ),
    ],
)  # fmt: skip
def test_rejected_answers_of_crowds_are_left_out_and_said(
    header: str, state: str, tmp_path: Path, stored: Stored
) -> None:
    path = tmp_path / "batch.csv"
    rows = "h1,w1,Approved,yes,yes\nh1,w2,REJECTED,no,yes\nh2,w1,Submitted,no,no\nh2,w2,Approved,no,no\n"
    path.write_text(f"{header}\n{rows}")
    target = "gold" if "gold" in header else None
    log = read_log(path, columns=LogColumns(target=target))
    assert log.answers.tolist() == [[1, -2], [0, 0]]
    stored(*log.notes)
    log = read_log(path, columns=LogColumns(target=target, drop=(state,)))
    assert log.answers.tolist() == [[1, 0], [0, 0]]
    path.write_text(f"{header}\nh1,w1,rejected,yes,yes\n")
    with pytest.raises(BadFileError, match=f"must hold answers that were accepted, got none by '{state}'"):
        read_log(path, columns=LogColumns(target=target))


def test_a_score_of_argilla_beyond_every_number_is_refused(tmp_path: Path) -> None:
    suggestions = {"label": {"value": "no", "agent": "mini", "score": 10**400}}
    one = {"id": "r", "fields": {"text": "t"}, "responses": RESPONSES_2, "suggestions": suggestions}
    with pytest.raises(BadFileError, match="must have finite numbers as confidence"):
        read(tmp_path, [one])


def test_radio_buttons_of_mechanical_turk_are_one_answer(tmp_path: Path) -> None:
    path = tmp_path / "batch.csv"
    header = "HITId,WorkerId,Answer.size.big,Answer.size.small,Answer.sure.on\n"
    path.write_text(header + "h1,w1,true,false,true\nh1,w2,false,true,false\nh2,w1,false,false,true\n")
    log = read_log(path, columns=LogColumns(answer="Answer.size"))
    assert log.classes == ("big", "small")
    assert log.answers.tolist() == [[0, 1], [-1, -2]]
    with pytest.raises(BadFileError, match=r"got 'Answer\.sure\.on' and 'Answer\.size'"):
        read_log(path)
    path.write_text(header + "h1,w1,true,true,true\nh1,w2,false,true,false\n")
    with pytest.raises(BadFileError, match=r"got 'Answer\.size\.big', 'Answer\.size\.small' and"):
        read_log(path)
