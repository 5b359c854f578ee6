"""Exports of Label Studio and Argilla, and records of OpenAI evals, as public files have them."""

import json
from pathlib import Path
from typing import Any

import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns


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


def test_annotators_of_label_studio_are_judges_and_a_field_of_the_data_the_truth(tmp_path: Path) -> None:
    log = read(tmp_path, STUDIO, target="gold")
    assert log.judges == ("1", "2")
    assert log.cases.tolist() == ["1", "2", "3"]
    assert [[log.classes[code] if code >= 0 else "" for code in row] for row in log.answers] == [
        ["good", ""], ["", ""], ["", "good"],
    ]  # fmt: skip
    assert log.latency is not None
    assert any("read as an export of Label Studio, answers to 'sentiment'" in note for note in log.notes)


def test_models_that_predict_are_judges_and_the_ground_truth_is_none(tmp_path: Path) -> None:
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
    assert any("3 annotations that were cancelled are left out" in note for note in log.notes)


def test_several_questions_are_to_be_named(tmp_path: Path) -> None:
    tasks = [task(1, {1: "good"}), task(2, {1: "bad"})]
    tasks[0]["annotations"][0]["result"].append(choice(["b", "a"], "topics"))
    with pytest.raises(
        BadInputError, match="must have answers to one question, got 'sentiment' and 'topics'"
    ):
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


def evals(model: str, correct: list[bool]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"spec": {"completion_fns": [model], "eval_name": "test-match.s1", "base_eval": "test-match"}},
        {"final_report": {"accuracy": 0.5}},
    ]
    for number, is_right in enumerate(correct):
        sampled = f"{number}." if is_right else "no idea"
        base = {"run_id": "r", "sample_id": f"test-match.s1.{number}"}
        events += [
            base | {"type": "sampling", "data": {"prompt": f"{number}?", "sampled": sampled}},
            base | {"type": "match", "data": {"correct": is_right, "expected": str(number),
                                              "picked": None, "sampled": sampled, "options": [str(number)]}},
        ]  # fmt: skip
    return events


def test_openai_evals_say_what_is_right(tmp_path: Path) -> None:
    for model, correct in (("small", [True, False, False]), ("large", [True, True, False])):
        (tmp_path / f"{model}.jsonl").write_text("\n".join(map(json.dumps, evals(model, correct))))
    log = read_log([tmp_path / "small.jsonl", tmp_path / "large.jsonl"])
    assert log.judges == ("small", "large")
    assert log.is_right.tolist() == [[True, True], [False, True], [False, False]]
    assert any("differ from the comparison with the target in 3 of 6 answers" in note for note in log.notes)


def test_a_model_that_grades_gives_a_score(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [{"spec": {"completion_fns": ["m"], "eval_name": "t"}}]
    events += [
        {"sample_id": f"t.{n}", "type": "metrics", "data": {"sampled": f"text {n}", "score": score}}
        for n, score in enumerate([0.9, 0.2, None])
    ]
    log = read(tmp_path, events, lines=True)
    assert log.is_right.tolist()[:2] == [[True], [False]]
    assert any("1 sample have no score" in note for note in log.notes)
    with pytest.raises(BadFileError, match="must hold events of samples, got none"):
        read(tmp_path, [events[0], {"final_report": {}}], lines=True)


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
