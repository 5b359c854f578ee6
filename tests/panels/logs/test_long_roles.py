"""Cells tell which of several columns of a long table holds the case, the answer, the truth and the score."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import KNOWN_COLUMNS, LogColumns
from tests.panels.logs.advice import followed, refusal, written
from tests.stored import Stored


def calls(
    n_cases: int = 40,
    words: Sequence[str] = ("yes", "no"),
    seed: int = 0,
    judges: Sequence[str] = ("small", "big"),
) -> pd.DataFrame:
    """Return a row for each answer: case, judge, said, true and right."""
    rng = np.random.default_rng(seed)
    rows = []
    for case in range(n_cases):
        truth = rng.choice(list(words))
        for place, judge in enumerate(judges):
            said = truth if rng.random() < [0.5, 0.85][place % 2] else rng.choice(list(words))
            rows.append((f"q{case}", judge, said, truth, said == truth))
    return pd.DataFrame(rows, columns=["question_id", "model", "said", "true", "right"])


def shares(frame: pd.DataFrame) -> dict[str, float]:
    return {
        str(name): round(float(own.mean()), 4) for name, own in frame.groupby("model", sort=False)["right"]
    }


def rates(log: AnswerLog) -> dict[str, float]:
    return {
        judge: round(float(right), 4)
        for judge, right in zip(log.judges, log.is_right.mean(axis=0), strict=True)
    }


def saved(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_csv(folder / "log.csv", index=False)
    return folder / "log.csv"


WORDS = {"yes and no": ("yes", "no"), "0 and 1": ("0", "1"), "letters": "ABCD", "digits": "0123456789"}
MARKS = {"yes and no": ("no", "yes"), "0 and 1": (0, 1), "letters": (False, True), "digits": (0, 1)}


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("answer", ["answer", "prediction", "label"])
@pytest.mark.parametrize("seed", range(3))
def test_correct_is_the_truth_where_it_is_the_same_in_each_case_and_a_score_otherwise(
    answer: str, kind: str, seed: int, tmp_path: Path
) -> None:
    frame = calls(words=WORDS[kind], seed=seed)
    asked = frame.rename(columns={"said": answer, "true": "correct"}).drop(columns="right")
    log = read_log(saved(asked, tmp_path))
    assert rates(log) == shares(frame)
    assert "truth = 'correct'" in log.notes[0]
    scored = frame.assign(correct=frame["right"].map(dict(enumerate(MARKS[kind])).get)).rename(
        columns={"said": answer}
    )
    log = read_log(saved(scored.drop(columns=["true", "right"]), tmp_path))
    assert rates(log) == shares(frame)
    assert "score = 'correct'" in log.notes[0]
    both = scored.drop(columns="right").rename(columns={"true": "gold"})
    assert rates(read_log(saved(both, tmp_path))) == shares(frame)


def test_what_may_be_truth_or_score_is_refused_and_either_can_be_named(tmp_path: Path) -> None:
    frame = calls(words=("0", "1")).assign(said="1", correct=lambda one: (one["true"] == "1").astype(int))
    frame = frame.drop(columns=["true", "right"]).rename(columns={"said": "answer"})
    path = saved(frame, tmp_path)
    error = refusal(path)
    assert "must tell what 'correct' holds" in str(error)
    told = [(options, rates(log)) for options, log in followed(path, error)]
    share = round(float((frame["correct"] == 1).mean()), 4)
    assert told == [({way: "correct"}, {"small": share, "big": share}) for way in ("score", "target")]


@pytest.mark.parametrize("kind", ["yes and no", "0 and 1"])
def test_a_truth_with_one_cell_that_differs_is_no_score(kind: str, tmp_path: Path) -> None:
    frame = calls(words=WORDS[kind]).rename(columns={"said": "answer", "true": "correct"})
    first, second = WORDS[kind]
    frame.loc[0, "correct"] = second if frame.loc[0, "correct"] == first else first
    error = refusal(saved(frame.drop(columns="right"), tmp_path))
    assert "must tell what 'correct' holds" in str(error)


def test_a_column_that_is_the_same_in_each_case_is_no_score_of_other_words(tmp_path: Path) -> None:
    frame = calls().assign(correct=lambda one: (one["true"] == "yes").astype(int))
    path = saved(
        frame.rename(columns={"said": "answer"})[["question_id", "model", "answer", "correct"]], tmp_path
    )
    error = refusal(path)
    advice = followed(path, error)  # as the truth no answer would be one of its classes
    assert [options for options, _ in advice] == [{"score": "correct"}]
    assert all((log.answers >= 0).any() for _, log in advice)
    assert (read_log(path, columns=LogColumns(target="correct")).answers < 0).all()


@pytest.mark.parametrize("truth", ["label", "answer", "class", "human"])
@pytest.mark.parametrize("answer", ["prediction", "response", "label", "pred"])
@pytest.mark.parametrize("first", ["answer", "truth"])
def test_of_columns_called_like_answers_the_one_that_differs_within_cases_is(
    answer: str, truth: str, first: str, tmp_path: Path
) -> None:
    if answer == truth:
        return
    frame = calls(words="ABCD")
    order = ["said", "true"] if first == "answer" else ["true", "said"]
    table = frame[["question_id", "model", *order]].rename(columns={"said": answer, "true": truth})
    known = truth in {*KNOWN_COLUMNS["answer"]}
    log = read_log(saved(table, tmp_path), columns=LogColumns(target=None if known else truth))
    assert rates(log) == shares(frame)


def test_several_columns_of_answers_are_asked_for(tmp_path: Path) -> None:
    frame = calls(words="ABCD").assign(response=lambda one: one["said"].str.lower())
    table = frame.rename(columns={"said": "answer"})[["question_id", "model", "answer", "response"]]
    path = saved(table, tmp_path)
    error = refusal(path)
    assert "must tell which column holds the answers, got 'answer' or 'response'" in str(error)
    assert [options["answer"] for options, _ in followed(path, error)] == ["answer", "response"]
    table["target"] = frame["true"]  # only one of them has its words
    assert rates(read_log(saved(table, tmp_path))) == shares(frame)


def test_truths_that_differ_are_asked_for_unless_one_has_the_words(tmp_path: Path) -> None:
    frame = calls(words="ABCD").assign(gold=lambda one: one["true"] + ". because")
    table = frame.rename(columns={"said": "answer", "true": "target"}).drop(columns="right")
    assert rates(read_log(saved(table, tmp_path))) == shares(frame)
    table["gold"] = "A"
    path = saved(table, tmp_path)
    error = refusal(path)
    assert "got 'target' and 'gold', which differ" in str(error)
    assert [options["target"] for options, _ in followed(path, error)] == ["target", "gold"]


def test_a_number_of_each_row_is_no_case_and_the_judge_of_all_answers_no_judge(tmp_path: Path) -> None:
    frame = calls().rename(columns={"said": "answer", "true": "target"}).drop(columns="right")
    frame.insert(0, "id", range(len(frame)))
    frame["judge"] = "grader"
    log = read_log(saved(frame, tmp_path))
    assert "case = 'question_id', judge = 'model'" in log.notes[0]
    assert len(log.cases) == 40


OTHERS: list[dict[str, Any]] = [{"error": None}, {"status": "ok"}, {"result": "x"}, {"exception": ""}]


@pytest.mark.parametrize("beside", OTHERS, ids=[next(iter(one)) for one in OTHERS])
def test_success_is_no_score_where_it_may_say_that_the_call_worked(
    beside: dict[str, Any], tmp_path: Path, stored: Stored
) -> None:
    frame = calls().assign(success=True, **beside).rename(columns={"said": "output"})
    frame.loc[::7, ["success", "output"]] = [False, None]
    frame["right"] &= frame["success"]
    log = read_log(saved(frame.rename(columns={"true": "target"}).drop(columns="right"), tmp_path))
    assert rates(log) == shares(frame)
    stored(*log.notes)
    scored = (
        frame.assign(success=frame["right"])
        .rename(columns={"true": "target"})
        .drop(columns=["right", *beside])
    )
    named = read_log(saved(scored, tmp_path), columns=LogColumns(score="success"))
    assert rates(named) == shares(frame)


def test_success_alone_is_a_score(tmp_path: Path) -> None:
    frame = calls()
    table = frame[["question_id", "model", "said", "right"]].set_axis(
        ["id", "model", "output", "success"], axis=1
    )
    assert rates(read_log(saved(table, tmp_path))) == shares(frame)


def test_fields_of_objects_can_be_named_and_are_found_by_their_last_names(tmp_path: Path) -> None:
    frame = calls()
    rows = [
        {"id": one.question_id, "model": one.model, "success": True, "error": None,
         "said": {"text": one.said, "length": 3},
         "evaluation": {"ground_truth": one.true, "score": float(one.right), "passed": not one.right}}
        for one in frame.itertuples()
    ]  # fmt: skip
    path = written(tmp_path, "log.jsonl", "\n".join(map(json.dumps, rows)))
    assert rates(read_log(path)) == shares(frame)
    named = LogColumns(answer="said.text", score="evaluation.passed")
    assert rates(read_log(path, columns=named)) == {
        name: round(1 - share, 4) for name, share in shares(frame).items()
    }
    rows[3]["said"] = "no object"  # then the others are texts, as they are
    path.write_text("\n".join(map(json.dumps, rows)))
    assert rates(read_log(path)) == shares(frame)


def harness(folder: Path, names: Sequence[str], answers: Sequence[str]) -> list[Path]:
    """Write samples of lm-evaluation-harness."""
    paths = []
    for name, said in zip(names, answers, strict=True):
        lines = [
            {"doc_id": place, "doc": {}, "target": "x", "doc_hash": f"{place:016}{0:048}", "filter": "none",
             "arguments": {}, "resps": [[one]], "filtered_resps": [one], "exact_match": float(one == "x")}
            for place, one in enumerate(said)
        ]  # fmt: skip
        paths.append(written(folder, name, "\n".join(map(json.dumps, lines))))
    return paths


def test_samples_of_several_models_in_one_folder_are_judges_by_file_or_refused(tmp_path: Path) -> None:
    paths = harness(tmp_path, ["runs/small.jsonl", "runs/big.jsonl"], ["xyxy" * 6, "xxxy" * 6])
    assert rates(read_log(paths)) == {"small": 0.5, "big": 0.75}
    dates = ["2026-01-05T10-00-00.1", "2026-01-06T10-00-00.1"]
    names = [f"runs/samples_sums_{date}.jsonl" for date in dates]
    paths = harness(tmp_path, names, ["xyxy" * 6, "xxxy" * 6])
    error = refusal(paths)
    assert "Put the samples of each model into a folder that is called after it" in str(error)
    logs = [log for _, log in followed(paths, error)]
    assert [rates(log) for log in logs] == [{"runs": 0.5}, {"runs": 0.5}]
    assert all(len(log.cases) == 24 for log in logs)
    names = [
        f"{model}/samples_sums_{date}.jsonl" for model, date in zip(("small", "big"), dates, strict=True)
    ]
    assert rates(read_log(harness(tmp_path, names, ["xyxy" * 6, "xxxy" * 6]))) == {"small": 0.5, "big": 0.75}


@pytest.mark.parametrize("seed", range(20))
def test_no_order_of_columns_or_rows_changes_what_a_long_table_says(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    frame = calls(words=[("yes", "no"), "ABC"][seed % 2], seed=seed, judges=("small", "big", "mid"))
    names = [
        ("id", "model", "answer", "correct"),
        ("task", "worker", "prediction", "label"),
        ("item", "rater", "vote", "gold"),
    ]
    table = frame.drop(columns="right").set_axis(list(names[seed % 3]), axis=1)
    table["usd"] = frame["model"].map({"small": 1, "big": 5, "mid": 2})
    table["note"] = [f"t{n}" for n in range(len(table))]
    shuffled = table.sample(frac=1, random_state=seed)[list(rng.permutation(table.columns))]
    log = read_log(saved(shuffled, tmp_path))
    assert dict(sorted(rates(log).items())) == dict(sorted(shares(frame).items()))
    prices = dict(zip(log.judges, log.prices[0].tolist(), strict=True))
    assert prices == {"small": 1, "big": 5, "mid": 2}


def test_columns_of_one_role_that_only_capitals_tell_apart_are_asked_for(tmp_path: Path) -> None:
    frame = (
        calls(words="ABCD")
        .assign(Answer=lambda one: one["said"].str.lower())
        .rename(columns={"said": "answer"})
    )
    path = saved(frame.drop(columns=["right", "true"]), tmp_path)
    assert "'answer' or 'Answer'" in str(refusal(path))
    for pair in itertools.permutations(["Target", "target"]):
        table = (
            frame.drop(columns=["right", "Answer"]).rename(columns={"true": pair[0]}).assign(**{pair[1]: "A"})
        )
        assert "which differ" in str(refusal(saved(table, tmp_path)))
