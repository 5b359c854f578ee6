"""Logs of promptfoo: results in JSON, and tables of outputs in CSV of three ages.

samples/README.md says which version wrote which file.
"""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.log_checks import SILENT, UNASKED
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns
from tests.stored import Stored

SAMPLES = Path(__file__).parent / "samples"


def test_results_of_promptfoo_have_a_price_each_and_agree_with_its_own_verdicts(stored: Stored) -> None:
    columns = LogColumns(features=("topic",))
    log = read_log(SAMPLES / "promptfoo.json", columns=columns)

    assert log.judges == ("mini", "large")
    results = json.loads((SAMPLES / "promptfoo.json").read_text())["results"]["results"]
    assert len(results) == log.answers.size
    for result in results:
        column = log.judges.index(result["provider"]["label"])
        row = result["testIdx"]
        assert (log.answers[row, column] == log.truth[row]) == result["success"]
        assert log.prices[row, column] == result["cost"]
        assert log.features["topic"][row] == result["vars"]["topic"]
    assert log.answers[4].tolist() == [SILENT, SILENT]
    assert dict(log.unknown_words) == {"I cannot say": 1}
    stored(*log.notes)
    named = read_log(SAMPLES / "promptfoo.json", columns=LogColumns(target="truth"))
    assert named.truth.tolist() == log.truth.tolist()


def test_results_of_promptfoo_may_stand_one_in_a_line() -> None:
    log = read_log(SAMPLES / "promptfoo.jsonl")

    assert log.answers.size - int((log.answers == UNASKED).sum()) == 3


def test_answers_from_a_cache_have_no_price_of_their_own(tmp_path: Path, stored: Stored) -> None:
    document = json.loads((SAMPLES / "promptfoo.json").read_text())
    cached = document["results"]["results"][0]
    cached["response"]["cached"], cached["cost"] = True, 0
    file = tmp_path / "cached.json"
    file.write_text(json.dumps(document))
    log = read_log(file)

    assert log.prices[0, 0] == pytest.approx(0.001)
    stored(*log.notes)


PROMPTFOO: dict[str, Any] = {"provider": {"id": "p"}, "vars": {"a": 1}, "response": {"output": "x"}}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (PROMPTFOO | {"provider": {}}, "must name its provider"),
        (PROMPTFOO | {"vars": {}}, "variables or a number as 'testIdx'"),
        (PROMPTFOO | {"response": [1]}, "must have an object as 'response'"),
        (PROMPTFOO | {"cost": "free"}, "finite numbers of at least 0 as price"),
    ],
)
def test_results_of_wrong_kinds_are_refused_in_a_sentence(
    tmp_path: Path, record: dict[str, Any], message: str
) -> None:
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps([record]))
    with pytest.raises(BadInputError, match=message):
        read_log(file)


SAID = [("bad", "bad", "bad"), ("good", "bad", "good"), ("bad", "", "good"), ("good", "good", "good")]
"""The truth, and what two models say; nothing where the call failed."""
AGES = ("new", "older", "old")


def table_of(age: str, said: Sequence[tuple[str, ...]] = SAID, prompts: tuple[str, str] = ("p", "p")) -> str:
    """Write a table as promptfoo did at that time."""
    after = {
        "new": ["Status", "Score", "Named Scores", "Metric: tone", "Grader Reason", "Comment"],
        "older": ["Grader Reason", "Comment", "Latency (ms)"],
        "old": [],
    }[age]
    header = ["text", "expected"]
    for judge, prompt in zip(("lab:mini", "lab:big"), prompts, strict=True):
        header += [f"[{judge}] {prompt}", *after]
    rows: list[list[Any]] = [header]
    for number, (truth, *answers) in enumerate(said):
        row: list[Any] = [f"text {number}", truth]
        for answer in answers:
            status = "ERROR" if not answer else "PASS" if answer == truth else "FAIL"
            if age == "new":
                row += [answer or "429", status, "1.00", "", "", "why, and how", ""]
            elif age == "older":
                row += [f"[{status}] {answer or '429'}", "why", "", 1500]
            else:
                why = f"(0.00) Expected this\n---\n{answer}" if status == "FAIL" else answer or "429"
                row += [f"[{status}] {why}"]
        rows.append(row)
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()


def read_table(folder: Path, text: str, **columns: Any) -> AnswerLog:
    (folder / "results.csv").write_text(text)
    return read_log(folder / "results.csv", columns=LogColumns(**columns))


@pytest.mark.parametrize("age", AGES)
def test_a_table_of_outputs_says_which_of_them_passed(age: str, tmp_path: Path, stored: Stored) -> None:
    log = read_table(tmp_path, table_of(age))
    assert log.judges == ("lab:mini", "lab:big")
    said = [[log.classes[code] if code >= 0 else "" for code in row] for row in log.answers]
    assert said == [list(row[1:]) for row in SAID]
    assert [log.classes[code] for code in log.truth] == [row[0] for row in SAID]
    assert log.is_right.tolist() == [[True, True], [False, True], [False, False], [True, True]]
    stored(*log.notes)
    assert (log.latency is not None) == (age == "older")
    assert log.latency is None or (log.latency == 1.5).all()


@pytest.mark.parametrize("age", AGES)
def test_outputs_of_several_prompts_are_judges_of_their_own(age: str, tmp_path: Path) -> None:
    log = read_table(tmp_path, table_of(age, prompts=("short", "x" * 40)))
    assert log.judges == ("lab:mini short", "lab:big prompt 1")


@pytest.mark.parametrize("age", AGES)
def test_the_verdict_counts_and_not_the_text(age: str, tmp_path: Path) -> None:
    text = table_of(age).replace("expected", "wanted")
    log = read_table(tmp_path, text)
    assert log.is_right.tolist() == [[True, True], [False, True], [False, False], [True, True]]
    assert read_table(tmp_path, text, target="wanted").is_right.tolist() == log.is_right.tolist()
    with pytest.raises(BadInputError, match="must have the field 'gold'"):
        read_table(tmp_path, text, target="gold")


def test_tables_are_told_by_their_columns_whatever_parts_them(tmp_path: Path) -> None:
    rows = list(csv.reader(io.StringIO(table_of("new"))))
    file = io.StringIO()
    csv.writer(file, delimiter=";").writerows([["Description", *rows[0]], *(["d", *row] for row in rows[1:])])
    log = read_table(tmp_path, file.getvalue(), features=("text",))
    assert log.features["text"].tolist() == [f"text {at}" for at in range(4)]
    assert log.is_right.tolist() == read_table(tmp_path, table_of("new")).is_right.tolist()
    with pytest.raises(BadFileError, match="must have 16 cells, as the header has, got 3"):
        read_table(tmp_path, table_of("new") + "a,b,c\n")


def test_a_table_whose_cells_begin_like_verdicts_is_not_taken_for_one(tmp_path: Path) -> None:
    rows = "".join(f"{at},[PASS] x,[FAIL] y,[PASS] x\n" for at in range(3))
    log = read_table(tmp_path, f"id,a,b,target\n{rows}")
    assert log.judges == ("a", "b")


@pytest.mark.parametrize(("name", "right"), [("results.csv", [32, 38]), ("results-old.csv", [32, 37])])
def test_the_shared_tables_have_their_accuracies(data_folder: Path, name: str, right: list[int]) -> None:
    log = read_log(data_folder / "judges" / "cases" / "promptfoo-csv" / name)
    assert log.judges == ("lab:mini", "lab:big")
    assert log.is_right.sum(axis=0).tolist() == right
    assert np.all(log.truth >= 0)
