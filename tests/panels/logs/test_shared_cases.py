"""Tables of the shared folder that were misread: each gives what is right, or is refused with advice that works."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import LogColumns

TRUTHS = {
    "a.csv": (0.5, 0.9167), "b.csv": (0.5667, 0.9), "d.csv": (0.5167, 0.8833), "f.csv": (0.6167, 0.95),
    "answer.csv": (0.55, 0.9167),
}  # fmt: skip


def rates(log: AnswerLog) -> tuple[float, ...]:
    return tuple(round(float(share), 4) for share in log.is_right.mean(axis=0))


@pytest.mark.parametrize("name", TRUTHS)
def test_the_truth_by_another_name(name: str, data_folder: Path) -> None:
    path = data_folder / "judges" / "cases" / "truth-by-another-name" / name
    assert rates(read_log(path)) == TRUTHS[name]


def test_the_truth_in_the_third_column(data_folder: Path) -> None:
    path = data_folder / "judges" / "cases" / "truth-by-another-name" / "comments.csv"
    assert rates(read_log(path, columns=LogColumns(drop=["comment_text"]))) == (0.75, 0.8375, 0.95)


OTHERS: dict[str, tuple[Sequence[str], tuple[float, ...]]] = {
    "correct holds yes and no": (["correct-is-the-answer/boolq.csv"], (0.6, 0.95)),
    "correct holds 0 and 1": (["correct-is-the-answer/correct-01.csv"], (0.65, 0.9667)),
    "right and wrong": (["routellm-wide-scores/scores.csv"], (0.6833, 0.8333)),
    "right and wrong beside answers": (["routellm-wide-scores/answers-and-correct.csv"], (0.5667, 0.9)),
    "a file for each model": (["file-per-model/small.csv", "file-per-model/big.csv"], (0.55, 1.0)),
    "with a target": (["file-per-model/small-target.csv", "file-per-model/big-target.csv"], (0.55, 1.0)),
    "in JSON lines": (["file-per-model/small.jsonl", "file-per-model/big.jsonl"], (0.55, 1.0)),
    "success of the call": (["call-success/calls.csv"], (0.6333, 0.8)),
    "success in lines": (["call-success/lab-small.jsonl", "call-success/lab-big.jsonl"], (0.6333, 0.8)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_other_tables(name: str, data_folder: Path) -> None:
    files, expected = OTHERS[name]
    log = read_log([data_folder / "judges" / "cases" / file for file in files])
    assert rates(log) == expected
    assert len(log.judges) == 2


def test_a_nested_field_is_named(data_folder: Path) -> None:
    folder = data_folder / "judges" / "cases" / "call-success"
    columns = LogColumns(
        judge="llm_selected", score="evaluation_result.score", answer="evaluation_result.extracted_answer"
    )
    log = read_log([folder / "lab-small.jsonl", folder / "lab-big.jsonl"], columns=columns)
    assert log.judges == ("lab/small", "lab/big")
    assert rates(log) == (0.6333, 0.8)
