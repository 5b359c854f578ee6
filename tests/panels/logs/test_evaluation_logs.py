"""Logs that lm-evaluation-harness, alpaca_eval and OpenAI evals wrote.

samples/README.md says which version wrote which file.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.log_checks import SILENT
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from tests.stored import Stored

SAMPLES = Path(__file__).parent / "samples"


def _read(folder: Path, lines: list[Any], **columns: Any) -> AnswerLog:
    path = folder / "export.json"
    path.write_text("\n".join(map(json.dumps, lines)))
    return read_log(path, columns=LogColumns(**columns))


def _samples_of(judge: str, task: str) -> Path:
    return next((SAMPLES / "lm-eval" / judge).glob(f"samples_{task}_2*"))


def test_choices_of_the_harness_have_the_probabilities_of_their_likelihoods() -> None:
    paths = [_samples_of("small", "harmful"), _samples_of("large", "harmful")]
    log = read_log(paths)

    assert log.judges == ("small", "large")
    assert log.classes == ("no", "yes")
    assert log.probabilities is not None
    for column, path in enumerate(paths):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        by_case = {case: row for row, case in enumerate(log.cases)}
        for line in lines:
            row = by_case[line["doc_hash"][:16]]
            likelihoods = np.exp([float(response[0]) for response in line["filtered_resps"]])
            assert log.probabilities[row, column] == pytest.approx(likelihoods / likelihoods.sum())
            assert (log.answers[row, column] == log.truth[row]) == (line["acc"] == 1.0)
            assert log.classes[log.truth[row]] == ("yes" if line["doc"]["truth"] else "no")


def test_choices_without_texts_are_their_numbers_and_that_is_noted(tmp_path: Path, stored: Stored) -> None:
    lines = [json.loads(line) for line in _samples_of("small", "harmful").read_text().splitlines()]
    usual = _read(tmp_path, lines)
    for line in lines:
        line["arguments"]["gen_args_1"]["arg_1"] = None
    log = _read(tmp_path, lines)
    assert (usual.classes, log.classes) == (("no", "yes"), ("0", "1"))
    assert log.answers.tolist() == usual.answers.tolist()
    stored(*log.notes)
    lines[0]["arguments"]["gen_args_1"]["arg_1"] = " yes"
    assert any("the choices are not the same in all samples" in note for note in _read(tmp_path, lines).notes)


def test_texts_of_the_harness_that_are_no_class_are_unknown_words() -> None:
    log = read_log([_samples_of("small", "harmful_text"), _samples_of("large", "harmful_text")])

    assert log.judges == ("small", "large")
    assert dict(log.unknown_words) == {"lol": 8}
    assert (log.answers == SILENT).all()


def test_the_first_of_several_responses_counts_and_that_is_noted(tmp_path: Path, stored: Stored) -> None:
    line = {"doc_id": 1, "doc": {}, "target": "a", "filter": "none", "filtered_resps": ["a", "b", "b"]}
    log = _read(tmp_path, [line, line | {"doc_id": 2, "filtered_resps": ["b"]}])
    assert log.is_right.tolist() == [[True], [False]]
    stored(*log.notes)


def test_tasks_of_one_judge_are_other_cases_that_share_what_was_shown() -> None:
    log = read_log([_samples_of("small", "harmful"), _samples_of("small", "harmful_text")])

    assert log.answers.shape == (8, 1)
    assert log.cases[0].startswith("harmful/")
    assert log.groups is not None
    assert log.groups.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


def test_annotations_of_alpaca_eval_have_their_prices_and_a_truth_from_another_file(tmp_path: Path) -> None:
    people = json.loads((SAMPLES / "alpaca-small.json").read_text())
    said = [dict(one, annotator=person) for person in ("p", "q", "r") for one in people]
    said[0]["preference"] = 2.0  # two of three prefer the first
    truth = tmp_path / "people.json"
    truth.write_text(json.dumps(said))
    log = read_log([SAMPLES / "alpaca-small.json", SAMPLES / "alpaca-large.json"], truth=truth)

    assert log.judges == ("small", "large")
    assert log.classes == ("1", "2")
    assert log.answers.T.tolist() == [[0, 0, 1, 1, 0], [0, 1, 0, 1, SILENT]]
    assert log.truth.tolist() == [0, 0, 1, 1, 0]
    assert log.prices.tolist() == [[0.001, 0.03]] * 5
    assert log.latency is not None
    assert log.latency[0].tolist() == [0.5, 0.5]


def test_preferences_between_two_outputs_tell_probabilities(tmp_path: Path, stored: Stored) -> None:
    """As the weighted annotators write them, and with the names of prices before version 0.6."""
    said = [
        {"instruction": str(k), "output_1": "a", "output_2": "b", "annotator": "w", "preference": preference,
         "price_per_example": 0.5, "time_per_example": 2.0}
        for k, preference in enumerate([1.25, 1.5, 1.9, 1.0, None])
    ]  # fmt: skip
    file = tmp_path / "annotations.json"
    file.write_text(json.dumps(said))
    log = read_log(file)

    assert log.answers[:, 0].tolist() == [0, SILENT, 1, 0, SILENT]
    assert log.probabilities is not None
    assert log.probabilities[:3, 0] == pytest.approx(np.array([[0.75, 0.25], [0.5, 0.5], [0.1, 0.9]]))
    assert np.isnan(log.probabilities[3:]).all()
    assert (log.prices == 0.5).all()
    stored(*log.notes)


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


def test_openai_evals_say_what_is_right(tmp_path: Path, stored: Stored) -> None:
    for model, correct in (("small", [True, False, False]), ("large", [True, True, False])):
        (tmp_path / f"{model}.jsonl").write_text("\n".join(map(json.dumps, evals(model, correct))))
    log = read_log([tmp_path / "small.jsonl", tmp_path / "large.jsonl"])
    assert log.judges == ("small", "large")
    assert log.is_right.tolist() == [[True, True], [False, True], [False, False]]
    stored(*log.notes)


def test_a_model_that_grades_gives_a_score(tmp_path: Path, stored: Stored) -> None:
    events: list[dict[str, Any]] = [{"spec": {"completion_fns": ["m"], "eval_name": "t"}}]
    events += [
        {"sample_id": f"t.{n}", "type": "metrics", "data": {"sampled": f"text {n}", "score": score}}
        for n, score in enumerate([0.9, 0.2, None])
    ]
    log = _read(tmp_path, events)
    assert log.is_right.tolist()[:2] == [[True], [False]]
    stored(*log.notes)
    with pytest.raises(BadFileError, match="must hold events of samples, got none"):
        _read(tmp_path, [events[0], {"final_report": {}}])


def platform(number: int, said: str, *, passed: bool) -> dict[str, Any]:
    return {
        "run_id": "r", "data_source_idx": number, "item": {"text": f"t{number}", "label": str(number % 2)},
        "sample": {
            "outputs": [{"role": "assistant", "content": said}], "sampled_model_name": "large-1",
            "token_usage": {"prompt_tokens": 258, "completion_tokens": 2},
        },
        "grades": {"check": float(passed)}, "passes": {"check": passed},
    }  # fmt: skip


def test_runs_of_openai_evals_on_the_platform_are_read(tmp_path: Path, stored: Stored) -> None:
    lines = [platform(1, "1", passed=True), platform(2, "1", passed=False), platform(3, "one", passed=True)]
    log = _read(tmp_path, lines, target="label")
    assert (log.judges, log.cases.tolist()) == (("large-1",), ["1", "2", "3"])
    assert log.is_right.tolist() == [[True], [False], [True]]
    assert log.notes[0].endswith("read as a run of OpenAI evals.")
    log = _read(tmp_path, lines)
    assert log.is_right.tolist() == [[True], [False], [True]]
    stored(*log.notes)
    with pytest.raises(BadInputError, match="must have the field 'gold', got none in its item"):
        _read(tmp_path, lines, target="gold")


HARNESS: dict[str, Any] = {"doc_id": 1, "filtered_resps": [], "doc": {}, "filter": "none", "target": "a"}
ALPACA: dict[str, Any] = {"annotator": "a", "preference": 1, "output_1": "x", "output_2": "y"}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (HARNESS | {"filtered_resps": "x"}, "must have a list as 'filtered_resps'"),
        (HARNESS | {"filtered_resps": [["a", 1], ["b", 1]]}, "log likelihoods"),
        (HARNESS | {"doc_id": None}, "must have a text as 'doc_hash'"),
        (ALPACA | {"preference": 3}, "must have a preference from 1 to 2"),
        (ALPACA | {"annotator": None}, "must have a name as 'annotator'"),
        (ALPACA | {"price_per_example": -1}, "at least 0 as price"),
    ],
)
def test_records_of_wrong_kinds_are_refused_in_a_sentence(
    tmp_path: Path, record: dict[str, Any], message: str
) -> None:
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps([record]))
    with pytest.raises(BadInputError, match=message):
        read_log(file)


def test_a_truth_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="must have the field 'gold', got none in the annotation"):
        _read(tmp_path, [ALPACA, ALPACA], target="gold")
