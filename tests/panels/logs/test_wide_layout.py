"""The truth of a wide table is named, one judge's table is called by its file, and right and wrong are scores."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.errors import BadFileError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.logs.reading import read_log
from shortlist.panels.logs.records import KNOWN_COLUMNS, MAYBE_TRUTHS, LogColumns
from tests.panels.logs.advice import followed, refusal, written


def rates(log: AnswerLog) -> dict[str, float]:
    return {
        judge: round(float(right), 4)
        for judge, right in zip(log.judges, log.is_right.mean(axis=0), strict=True)
    }


def answers(n_cases: int = 40, words: Sequence[str] = ("ham", "spam"), seed: int = 0) -> pd.DataFrame:
    """Return truths and the answers of two judges, small and big."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(list(words), n_cases)
    other = rng.choice(list(words), (n_cases, 2))
    right = rng.random((n_cases, 2)) < [0.4, 0.8]
    said = np.where(right, truth[:, None], other)
    return pd.DataFrame(
        {"id": [f"q{n}" for n in range(n_cases)], "true": truth, "small": said[:, 0], "big": said[:, 1]}
    )


def shares(frame: pd.DataFrame) -> dict[str, float]:
    return {name: round(float((frame[name] == frame["true"]).mean()), 4) for name in ("small", "big")}


def saved(frame: pd.DataFrame, folder: Path, name: str = "log.csv") -> Path:
    path = folder / name
    frame.to_csv(path, index=False)
    return path


NAMES = [
    "label", "human", "human_label", "y_true", "answer", "Ground Truth", "class", "correct_answer", "GoldLabel",
    "Expected output", "ground-truth", "true label", "correct", "reference_answer",
]  # fmt: skip


@pytest.mark.parametrize("place", ["first", "second", "last"])
@pytest.mark.parametrize("name", NAMES)
def test_a_truth_of_a_usual_name_is_the_truth_wherever_it_stands(
    name: str, place: str, tmp_path: Path
) -> None:
    frame = answers()
    columns = ["id", "small", "big"]
    columns.insert({"first": 0, "second": 1, "last": 3}[place], "true")
    log = read_log(saved(frame[columns].rename(columns={"true": name}), tmp_path))
    assert rates(log) == shares(frame)
    assert f"truth = {name!r}" in log.notes[0]


@pytest.mark.parametrize("name", [*KNOWN_COLUMNS["target"], *MAYBE_TRUTHS])
def test_every_known_name_of_a_truth_is_known(name: str, tmp_path: Path) -> None:
    frame = answers(20)
    assert rates(read_log(saved(frame.rename(columns={"true": name}), tmp_path))) == shares(frame)


@pytest.mark.parametrize("words", [("ham", "spam"), ("0", "1"), ("True", "False"), ("1", "2", "3", "4")])
def test_a_truth_of_another_name_is_asked_for_and_never_the_last_column(
    words: Sequence[str], tmp_path: Path
) -> None:
    frame = answers(words=words).rename(columns={"true": "is_annotated", "small": "gpt", "big": "claude"})
    path = saved(frame[["id", "is_annotated", "gpt", "claude"]], tmp_path)
    error = refusal(path)
    assert "must have a column of the truth, with a usual name" in str(error)
    assert "'is_annotated', 'gpt' and 'claude', which may be it" in str(error)
    told = {options["target"]: log for options, log in followed(path, error) if "target" in options}
    assert [*told] == ["is_annotated", "gpt", "claude"]
    expected = shares(frame.rename(columns={"is_annotated": "true", "gpt": "small", "claude": "big"}))
    assert rates(told["is_annotated"]) == {"gpt": expected["small"], "claude": expected["big"]}


@pytest.mark.parametrize("name", ["human", "target", "label"])
def test_a_priced_column_is_a_judge_whatever_its_name_and_place(name: str, tmp_path: Path) -> None:
    frame = answers().rename(columns={"small": name, "true": "annotated"})
    path = saved(frame[["id", "big", "annotated", name]], tmp_path)
    costs = {"big": 1.0, name: 5.0}
    error = refusal(path, costs=costs)
    assert "got 'annotated', which may be it. Pass the right one: `target=NAME`." in str(error)
    ((_, log),) = followed(path, error, costs=costs)
    expected = shares(frame.rename(columns={"annotated": "true", name: "small"}))
    assert rates(log) == {"big": expected["big"], name: expected["small"]}
    assert log.prices[0].tolist() == [1.0, 5.0]


def test_truths_that_differ_are_named_and_copies_are_one(tmp_path: Path) -> None:
    frame = answers().assign(gold=lambda one: one["true"]).rename(columns={"true": "target"})
    assert read_log(saved(frame, tmp_path)).judges == ("small", "big")
    frame.loc[0, "gold"] = {"ham": "spam", "spam": "ham"}[str(frame.loc[0, "gold"])]
    path = saved(frame, tmp_path)
    error = refusal(path)
    assert "one column of the truth, got 'target' and 'gold', which differ" in str(error)
    for options, log in followed(path, error):
        assert log.judges == ("small", "big"), options
    frame = frame.rename(columns={"gold": "label"})
    assert read_log(saved(frame, tmp_path)).judges == ("small", "big", "label")  # who is an annotator
    path = saved(frame.rename(columns={"target": "human"}), tmp_path)
    told = {options["target"]: log for options, log in followed(path, refusal(path))}
    assert told["human"].judges == ("small", "big", "label")
    assert told["label"].judges == ("human", "small", "big")


def one_each(
    folder: Path, answer: str, truth: str, write: Callable[[pd.DataFrame, Path], None]
) -> list[Path]:
    frame = answers(60)
    paths = []
    for name in ("small", "big"):
        own = pd.DataFrame({"id": frame["id"], answer: frame[name], truth: frame["true"]})
        write(own.assign(latency_ms=7, topic="t", confidence=0.5), folder / f"{name}.of-a-kind")
        paths.append(folder / f"{name}.of-a-kind")
    return paths


WRITTEN: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "CSV": lambda frame, path: frame.to_csv(path, index=False),
    "JSON lines": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "Parquet": lambda frame, path: frame.to_parquet(path),
}


@pytest.mark.parametrize("written_as", WRITTEN)
@pytest.mark.parametrize(
    ("answer", "truth"),
    [
        ("prediction", "label"),
        ("prediction", "target"),
        ("pred", "answer"),
        ("answer", "gold"),
        ("label", "y_true"),
    ],
)
def test_a_file_for_each_model_is_a_judge_for_each_file(
    answer: str, truth: str, written_as: str, tmp_path: Path
) -> None:
    paths = one_each(tmp_path, answer, truth, WRITTEN[written_as])
    paths = [path.rename(path.with_suffix(".json")) for path in paths]
    log = read_log(paths)
    assert rates(log) == shares(answers(60))
    assert log.confidence is not None
    assert log.latency is not None
    assert log.latency[0].tolist() == [0.007, 0.007]
    assert "judge 'small', as the file is called" in log.notes[0]


def test_files_of_one_name_are_called_by_their_folders(tmp_path: Path) -> None:
    frame = answers(30)
    paths = [
        written(tmp_path, f"{name}/log.csv", frame[["id", name, "true"]].to_csv(index=False))
        for name in ("small", "big")
    ]
    for path in paths:
        text = path.read_text().splitlines()
        path.write_text("\n".join(["id,prediction,label", *text[1:]]))
    assert read_log(paths).judges == ("small", "big")
    assert read_log(paths, costs={"small": 1, "big": 2}).prices[0].tolist() == [1, 2]


def test_columns_of_one_name_in_several_files_are_not_one_judge(tmp_path: Path) -> None:
    frame = answers(30).assign(other=lambda one: one["small"])
    paths = [
        saved(frame[["id", name, "other", "true"]].set_axis(["id", "prediction", "gpt", "target"], axis=1), tmp_path, f"{name}.csv")
        for name in ("small", "big")
    ]  # fmt: skip
    error = refusal(paths)
    assert "must name the judge of its answers, got answers of 'prediction' to cases that" in str(error)
    for options, log in followed(paths, error):
        assert log.judges == ("prediction", "gpt"), options
        assert len(log.cases) == 30


def test_a_table_of_one_judge_may_have_a_row_for_each_answer_of_several(tmp_path: Path) -> None:
    rows = [f"q{n},{who},{'xy'[n % 2]},x" for n in range(5) for who in ("gpt", "claude")]
    for case in ("conversation", "question_id"):
        path = written(tmp_path, "log.csv", "\n".join([f"{case},who,verdict,gold", *rows]))
        error = refusal(path)
        assert "a row for each answer, of the judge in 'who'" in str(error)
        first, _ = followed(path, error)
        assert rates(first[1]) == {"gpt": 0.6, "claude": 0.6}


@pytest.mark.parametrize("form", ["words", "numbers"])
def test_columns_of_right_and_wrong_are_scores(form: str, tmp_path: Path) -> None:
    frame = answers()
    right = pd.DataFrame({f"lab/{name}": frame[name] == frame["true"] for name in ("small", "big")})
    right = right.astype(int) if form == "numbers" else right
    expected = {f"lab/{name}": share for name, share in shares(frame).items()}
    table = pd.DataFrame({"prompt": [f"question {n}" for n in range(40)], "eval_name": "mmlu"}).join(right)
    priced = table.assign(**{f"lab/{name}|total_cost": price for name, price in (("small", 0.1), ("big", 2))})
    log = read_log(saved(priced, tmp_path))
    assert rates(log) == expected
    assert log.prices[0].tolist() == [0.1, 2.0]
    assert rates(read_log(saved(table, tmp_path), costs={"lab/small": 1, "lab/big": 2})) == expected
    if form == "words":
        assert rates(read_log(saved(table, tmp_path))) == expected
        return
    error = refusal(saved(table, tmp_path))  # or 0 and 1 are classes, and one column is the truth
    told = {next(iter(options.values())): log for options, log in followed(saved(table, tmp_path), error)}
    assert [*told] == ["lab/small", "lab/big", "scores"]
    assert rates(told["scores"]) == expected


def test_scores_between_0_and_1_of_priced_judges_are_scores(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sample_id": range(6), "a": [0, 0.25, 1, 1, 0.75, 0], "b": [1, 1, 1, 0.5, 1, 1.0]})
    assert rates(read_log(saved(frame, tmp_path), costs={"a": 1, "b": 1})) == {"a": 0.5, "b": 0.8333}


@pytest.mark.parametrize("words", [("ham", "spam"), ("A", "B", "C", "D")])
def test_right_and_wrong_beside_answers_are_their_scores(words: Sequence[str], tmp_path: Path) -> None:
    frame = answers(words=words)
    for name in ("small", "big"):
        frame[f"{name}_correct"] = frame[name] == frame["true"]
        frame[f"{name}_cost"] = {"small": 0.1, "big": 2.0}[name]
    path = saved(frame.rename(columns={"true": "label"}), tmp_path)
    log = read_log(path)
    assert rates(log) == shares(frame)
    assert log.prices[0].tolist() == [0.1, 2.0]
    log = read_log(saved(frame.drop(columns="true"), tmp_path))  # the scores alone tell
    assert rates(log) == shares(frame)


def test_right_and_wrong_beside_a_truth_of_words(tmp_path: Path) -> None:
    frame = answers(words="ABCD")
    right = pd.DataFrame({name: frame[name] == frame["true"] for name in ("small", "big")})
    table = pd.DataFrame({"id": frame["id"], "target": frame["true"]}).join(right)
    assert rates(read_log(saved(table, tmp_path))) == shares(frame)
    two = answers()
    table = pd.DataFrame({"id": two["id"], "target": two["true"]}).join(
        (two[["small", "big"]] == "spam").astype(int)
    )
    error = refusal(saved(table, tmp_path))  # codes of the two classes, or right and wrong
    assert "If they say whether judges are right, pass `form='scores'`" in str(error)
    assert [options["form"] for options, _ in followed(saved(table, tmp_path), error)] == ["scores", "wide"]
    numbers = answers(words="0123").assign(small=lambda one: (one["small"] == one["true"]).astype(int))
    numbers["big"] = (numbers["big"] == numbers["true"]).astype(int)
    path = saved(numbers.rename(columns={"true": "target"}), tmp_path)
    assert [options["form"] for options, _ in followed(path, refusal(path))] == ["scores", "wide"]


def test_what_follows_a_judge_with_words_of_the_truth_is_refused_unless_it_is_a_score(tmp_path: Path) -> None:
    frame = answers(words="01").rename(columns={"true": "target"})
    frame["big_score"] = (frame["big"] == frame["target"]).astype(int)
    assert rates(read_log(saved(frame, tmp_path))) == shares(frame.rename(columns={"target": "true"}))
    frame["big_score"] = frame["small"]
    error = refusal(saved(frame, tmp_path))
    assert "must tell what 'big_score' holds" in str(error)
    judges = [log.judges for _, log in followed(saved(frame, tmp_path), error)]
    assert judges == [("small", "big"), ("small", "big", "big_score")]


def test_fields_of_objects_are_columns(tmp_path: Path) -> None:
    frame = answers()
    rows = [
        {
            "id": one.id, "target": one.true,
            "small": {"label": one.small, "confidence": 0.5, "price": 1},
            "big": {"label": one.big, "confidence": 0.9, "price": 2},
        }
        for one in frame.itertuples()
    ]  # fmt: skip
    path = written(tmp_path, "log.json", json.dumps(rows))
    log = read_log(path)
    assert rates(log) == shares(frame)
    assert log.prices[0].tolist() == [1.0, 2.0]
    pd.DataFrame(rows).to_parquet(tmp_path / "log.parquet")
    assert rates(read_log(tmp_path / "log.parquet")) == shares(frame)


def test_the_last_column_is_no_truth_even_where_it_is_the_only_one_left(tmp_path: Path) -> None:
    path = written(tmp_path, "wide.csv", "a,b,when\nx,y,2026-01-01\ny,y,2026-01-02\n")
    with pytest.raises(BadFileError, match="got 'a', which may be it"):
        read_log(path)
    assert read_log(path, columns=LogColumns(target="b")).judges == ("a", "when")


def test_a_table_of_too_many_columns_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = [f"j{place}" for place in range(4_000)]
    path.write_text("\n".join([",".join([*names, "truth"]), ",".join(["a"] * 4_001)]), encoding="utf-8")
    with pytest.raises(BadFileError, match="must have at most 4,000 columns, got 4,001"):
        read_log(path, columns=LogColumns(target="truth"))
