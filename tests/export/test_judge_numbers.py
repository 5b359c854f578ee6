"""Policies of judges: the same labels, probabilities and questions as the model, with and without gaps."""

import functools
import gzip
import io
import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from shortlist import BadInputError, ExactPruner, GreedyMeansPruner, SelectiveClassifier
from shortlist.ensembles import Pool
from shortlist.export import reader
from shortlist.export.onnx_graph import onnx_of
from shortlist.export.policies import asked_columns, check_policy, policy_of, readable, write_policy
from shortlist.saved_models import SavedModel
from shortlist_papers import OrderedPruner

N_ROWS = 90
CLASSES = {"two": ["no", "yes"], "three": [1, 2, 3]}


def answers(kind: str, *, gaps: bool, shares: bool) -> tuple[pd.DataFrame, Any]:
    """A table of eight judges' answers, and the truth."""
    rng = np.random.default_rng(5)
    classes = np.array(CLASSES[kind], dtype=object)
    codes = rng.integers(0, len(classes), N_ROWS)
    table = pd.DataFrame(index=range(N_ROWS))
    for judge in range(8):
        said = np.where(rng.random(N_ROWS) < 0.65, codes, rng.integers(0, len(classes), N_ROWS))
        gap = gaps & (rng.random(N_ROWS) < 0.2)
        if shares:
            drawn = np.round(rng.dirichlet(np.ones(len(classes)), N_ROWS), 2)
            drawn[np.arange(N_ROWS), said] += 1
            drawn = np.round(drawn / drawn.sum(axis=1, keepdims=True), 3)
            for place, label in enumerate(classes):
                table[f"j{judge}:{label}"] = np.where(gap, np.nan, drawn[:, place])
        else:
            table[f"j{judge}"] = pd.Series(classes[said]).where(~gap, None)
    return table, classes[codes].astype(str if kind == "two" else int)


def fitted(kind: str, *, gaps: bool, shares: bool, **options: Any) -> tuple[SavedModel, pd.DataFrame]:
    table, truth = answers(kind, gaps=gaps, shares=shares)
    names = [f"j{judge}" for judge in range(8)]
    pool = Pool.from_answers(table, truth, costs={name: place + 1.0 for place, name in enumerate(names)})
    pruner = ExactPruner(pool, node_limit=50, min_size=3, random_state=0, **options).fit(table, truth)
    return SavedModel(pruner, tuple(table.columns), "truth"), table


CASES = {
    "threshold": ("two", {"gaps": False, "shares": False}),
    "first class positive": ("two", {"gaps": False, "shares": False, "positive": "no"}),
    "abstentions": ("two", {"gaps": True, "shares": False}),
    "plurality": ("three", {"gaps": True, "shares": False}),
    "votes of probabilities": ("two", {"gaps": True, "shares": True, "voting": "hard"}),
    "mean": ("two", {"gaps": True, "shares": True, "objective": "brier"}),
    "gains": (
        "three",
        {"gaps": True, "shares": True, "voting": "soft", "objective": "balanced-accuracy+auto"},
    ),
    "shares": (
        "three",
        {"gaps": False, "shares": True, "voting": "soft", "objective": "log-loss", "probabilities": "shares"},
    ),
}


@functools.cache
def of_case(case: str) -> tuple[SavedModel, pd.DataFrame]:
    kind, options = CASES[case]
    return fitted(kind, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", CASES)
def test_judges_decide_and_are_asked_as_by_the_model(case: str) -> None:
    model, table = of_case(case)
    policy = policy_of(model)
    rows = table[list(asked_columns(model))]
    assert check_policy(policy, model, rows) == N_ROWS
    early = model.estimator.predict_early(rows)
    given = rows.astype(object).where(rows.notna(), None).to_dict("records")
    told = [reader.answer(policy, row) for row in given]
    assert [one["cost"] for one in told] == early.costs.tolist()
    assert [policy["judges"][place]["name"] for place in policy["order"]] == list(early.order)
    assert min(len(one["asked"]) for one in told) < len(policy["judges"])
    for row, one in zip(given, told, strict=True):  # asked one after the other, the same judges are asked
        assert (
            list(dict.fromkeys(column.split(":")[0] for column in asked_one_by_one(policy, row)))
            == one["asked"]
        )


@pytest.mark.parametrize("kind", ["two", "three"])
def test_who_is_taken_several_times_is_asked_once(kind: str) -> None:
    table, truth = answers(kind, gaps=True, shares=True)
    pool = Pool.from_answers(table, truth, costs={f"j{judge}": judge + 1.0 for judge in range(8)})
    pruner = GreedyMeansPruner(pool, n_bags=3, random_state=0).fit(table, truth)
    assert pruner.copies_.max() > 2
    model = SavedModel(pruner, tuple(table.columns), "truth")
    policy, rows = policy_of(model), table[list(asked_columns(model))]
    assert check_policy(policy, model, rows) == N_ROWS
    early = pruner.predict_early(rows)
    assert early.costs is not None
    given = rows.astype(object).where(rows.notna(), None).to_dict("records")
    told = [reader.answer(policy, row) for row in given]
    assert [one["cost"] for one in told] == early.costs.tolist()
    assert [one["asked"] for one in told] == [list(early.order[:n]) for n in early.calls]
    known = asked_one_by_one(policy, given[0])
    assert list(dict.fromkeys(column.split(":")[0] for column in known)) == told[0]["asked"]


def asked_one_by_one(policy: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """The columns of a row that are requested, one judge after the other."""
    known: dict[str, Any] = {}
    while asks := reader.next_step(policy, known)["ask"]:
        judge = next(judge for judge in policy["judges"] if [judge["name"]] == asks)
        known |= {column: row[column] for column in judge["columns"]}
    return known


def test_without_prices_nothing_is_said_of_costs_and_where_nothing_is_promised_nobody_is_asked() -> None:
    table, truth = answers("two", gaps=False, shares=True)
    pruner = OrderedPruner(Pool.from_answers(table, truth), voting="averaged").fit(table[:50], truth[:50])
    selective = SelectiveClassifier(pruner, answer_accuracy=0.999).calibrate(table[50:], truth[50:])
    assert not selective.guarantee_.promised
    model = SavedModel(selective, tuple(table.columns), "truth")
    policy, rows = policy_of(model), table[list(asked_columns(model))]
    assert check_policy(policy, model, rows) == N_ROWS
    assert reader.next_step(policy, {}) == {"ask": [], "decision": reader.answer(policy, {})}
    told = reader.answer(policy, {})
    assert told["asked"] == []
    assert not told["answered"]
    assert "cost" not in told


POSSIBLE: dict[str, list[dict[str, Any]]] = {
    "class": [{"": "no"}, {"": "yes"}, {"": None}],
    "probabilities": [
        {":no": 1.0, ":yes": 0.0}, {":no": 0.7, ":yes": 0.3}, {":no": 0.5, ":yes": 0.5}, {":no": 0.0, ":yes": 1.0},
    ],
}  # fmt: skip
"""Possible answers of a judge of two classes, by the end of the column's name."""


@pytest.mark.parametrize("answer_from", [0.0, 0.551, 0.6, 0.713, 2.0])
@pytest.mark.parametrize(
    ("decision", "kind"),
    [
        pytest.param({"rule": "plurality"}, "class", id="plurality"),
        pytest.param({"rule": "threshold", "positive": 0, "threshold": 2}, "class", id="threshold"),
        pytest.param({"rule": "mean", "whole": 32767, "gains": [1, 1]}, "probabilities", id="mean"),
        pytest.param({"rule": "mean", "whole": 32767, "gains": [3, 1]}, "probabilities", id="gains"),
    ],
)
@pytest.mark.parametrize(
    ("source", "calibration"),
    [
        ("mean", None),
        ("shares", None),
        ("mean", {"power": 1.0, "factors": [1.0, 0.3]}),
        ("shares", {"power": 1.8, "factors": [1.0, 1.0]}),
        ("shares", {"power": 0.4, "factors": [1.0, 1.0]}),
    ],
)
def test_nobody_is_asked_further_exactly_when_no_answers_could_change_the_outcome(
    decision: dict[str, Any], kind: str, *, source: str, calibration: Any, answer_from: float
) -> None:
    ends = POSSIBLE[kind]
    policy: dict[str, Any] = {
        "kind": "judges", "classes": ["no", "yes"], "order": [3, 0, 1, 2], "decision": decision,
        "probabilities": source, "calibration": calibration, "answer_from": answer_from, "reject_label": "?",
        "judges": [
            {"name": name, "columns": [name + end for end in ends[0]], "may_abstain": True, "price": 1.0}
            for name in "abbc"
        ],
    }  # fmt: skip
    said = [
        {name + end: value for name, one in zip("cab", every, strict=True) for end, value in one.items()}
        for every in itertools.product(ends, repeat=3)
    ]  # in the order in which they are asked
    told = [reader.answer(policy, row) for row in said]
    for n_asked in range(4):
        outcomes: dict[str, set[Any]] = {}
        for row, one in zip(said, told, strict=True):
            known = {column: value for column, value in row.items() if column[0] in "cab"[:n_asked]}
            outcomes.setdefault(str(known), set()).add(one["label"])
            assert one["answered"] == (one["label"] != "?")
        for row in said:
            known = {column: value for column, value in row.items() if column[0] in "cab"[:n_asked]}
            is_over = len(outcomes[str(known)]) == 1
            assert (reader.next_step(policy, known)["ask"] == []) == is_over


def of_means(n_judges: int, classes: list[str], order: list[int], answer_from: float) -> dict[str, Any]:
    """A policy of judges whose means decide, and are the probabilities."""
    return {
        "kind": "judges", "classes": classes, "order": order, "answer_from": answer_from, "reject_label": "?",
        "decision": {"rule": "mean", "whole": 32767, "gains": [1] * len(classes)}, "probabilities": "mean",
        "judges": [
            {"name": name, "columns": [f"{name}:{label}" for label in classes], "may_abstain": False, "price": 1}
            for name in (f"j{place}" for place in range(n_judges))
        ],
    }  # fmt: skip


@pytest.mark.parametrize(("said", "asks"), [([0.7, 0.8, 0.9], ["j3"]), ([0.9, 0.8, 0.7], [])])
def test_next_to_the_least_probability_means_are_added_up_in_the_order_of_the_judges(
    said: list[float], asks: str | None
) -> None:
    least = (0.9 + 0.8 + 0.7) / 4
    assert least > (0.7 + 0.8 + 0.9) / 4  # by a bit
    policy = of_means(4, ["no", "yes"], [2, 1, 0, 3], least)
    row = {f"j{place}:no": share for place, share in enumerate(said)}
    row |= {f"j{place}:yes": 1 - share for place, share in enumerate(said)}
    assert reader.next_step(policy, row)["ask"] == asks
    told = reader.answer(policy, row | {"j3:no": 0.0, "j3:yes": 1.0})
    assert told["answered"] == (not asks)


@pytest.mark.parametrize("answer_from", [0.0, 0.6])
def test_what_a_row_costs_grows_with_judges_and_classes_alone(
    answer_from: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_judges, classes = 30, list("abcdefgh")
    policy = of_means(n_judges, classes, list(range(n_judges)), answer_from)
    drawn = np.random.default_rng(0).dirichlet(np.ones(len(classes)), n_judges)
    drawn[:, 0] += 1.0
    columns = [column for judge in policy["judges"] for column in judge["columns"]]
    row = dict(zip(columns, (drawn / drawn.sum(axis=1, keepdims=True)).ravel().tolist(), strict=True))
    count = Mock(wraps=reader._counted)
    monkeypatch.setattr(reader, "_counted", count)
    assert len(reader.answer(policy, row)["asked"]) > n_judges // 3
    assert count.call_count <= 4 * n_judges + len(classes)  # two ends a place, and each answer twice


def test_answers_that_cannot_be_are_refused() -> None:
    model, table = fitted("three", gaps=True, shares=False)
    policy = policy_of(model)
    row = dict.fromkeys(table, "1")
    assert (
        reader.answer(policy, row)["label"] == reader.answer(policy, dict.fromkeys(table, 1.0))["label"] == 1
    )
    first = policy["judges"][0]
    asked_first = policy["judges"][policy["order"][0]]["name"]
    told = reader.answer(policy, row | {asked_first: "7"})
    assert (told["answered"], told["unknown"]) == (False, {asked_first: "7"})
    step = reader.next_step(policy, row | {asked_first: "7"})
    assert (step["ask"], step["decision"]["unknown"]) == ([], {asked_first: "7"})
    first["may_abstain"] = False
    with pytest.raises(ValueError, match="must answer every row, got an empty cell"):
        reader.answer(policy, row | {first["name"]: ""})
    policy = policy_of(fitted("two", gaps=True, shares=True, voting="hard")[0])
    column = policy["judges"][0]["columns"][0]
    halves = {name: 0.5 for judge in policy["judges"] for name in judge["columns"]}
    assert reader.answer(policy, halves)["answered"]
    with pytest.raises(ValueError, match="must give probabilities that add up to 1"):
        reader.answer(policy, halves | {column: "0.9"})


def test_an_order_of_asking_that_is_another_is_refused() -> None:
    model, table = fitted("two", gaps=False, shares=False)
    policy = policy_of(model)
    policy["order"].reverse()
    with pytest.raises(BadInputError, match="must ask as many judges by the policy as by the model"):
        check_policy(policy, model, table[list(asked_columns(model))])


def test_onnx_refuses_judges_in_one_sentence() -> None:
    with pytest.raises(BadInputError, match=r"got a committee of judges.*Write a policy, ending in \.json"):
        onnx_of(policy_of(fitted("two", gaps=False, shares=False)[0]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy of judges, and their answers in several formats."""
    folder = tmp_path_factory.mktemp("judges")
    model, table = fitted("two", gaps=True, shares=False)
    write_policy(policy_of(model), folder / "policy.json")
    text = table.to_csv(index=False)
    (folder / "rows.csv").write_text(text)
    (folder / "rows.csv.gz").write_bytes(gzip.compress(text.encode()))
    table.to_csv(folder / "semicolons.csv", index=False, sep=";", na_rep="NA")
    table.to_parquet(folder / "rows.parquet")
    (folder / "other.csv").write_text("a,b\n1,2\n")
    (folder / "wide.csv").write_text(text.splitlines()[0] + "\n" + "no," * 9 + "\n")
    (folder / "half.csv.gz").write_bytes(gzip.compress(text.encode())[:-40])
    return folder


def test_the_reader_takes_text_packed_or_not_and_standard_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert reader.main(["policy.json", "rows.csv"]) == 0
    told = capsys.readouterr().out
    assert len(told.splitlines()) == N_ROWS
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((folder / "rows.csv").read_bytes())))
    for table in ("rows.csv.gz", "semicolons.csv", "-"):
        assert reader.main(["policy.json", table]) == 0
        assert capsys.readouterr().out == told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["policy.json"], "name a policy and a table"),
        (["policy.json", "absent.csv"], "absent.csv cannot be read: No such file or directory."),
        (["rows.csv", "rows.csv"], "rows.csv must be a policy of Shortlist, version 1."),
        (["policy.json", "rows.parquet"], "rows.parquet must be a CSV file, got Parquet, a workbook or zip."),
        (["policy.json", "other.csv"], "other.csv must have the columns of the policy; missing: ['j"),
        (["policy.json", "wide.csv"], "wide.csv, line 2, must have as many cells as the header, got more."),
        (["policy.json", "half.csv.gz"], "reader: "),
    ],
)
def test_the_reader_says_in_one_sentence_what_is_wrong(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(folder)
    assert reader.main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1


def test_the_reader_is_silent_where_nobody_reads_on(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        [sys.executable, "-I", "-S", reader.__file__, "policy.json", "rows.csv"],
        cwd=folder, stdout=writing, stderr=subprocess.PIPE, check=True,
    )  # fmt: skip
    os.close(writing)
    assert run.stderr == b""


def test_only_files_that_the_reader_answers_are_advised(folder: Path) -> None:
    policy = reader.load(str(folder / "policy.json"))
    assert readable(policy, str(folder / "rows.csv.gz"))
    for table in ("-", "example:breast-cancer", str(folder / "rows.parquet"), str(folder / "other.csv")):
        assert not readable(policy, table)
