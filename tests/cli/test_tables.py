"""Tables, at every command that reads one."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.command_lines import commands, line
from tests.cli.refusals import refusals, refuse
from tests.cli.running import done, shortlist

COMMANDS = {
    words: command for words, command in commands().items() if any(p.name == "table" for p in command.params)
}
LEARNING = [
    words
    for words, command in COMMANDS.items()
    if any(p.name == "target" for p in command.params) and words != "measure"
]
SMALL = {
    "prune": ["--classifiers", "3", "--method", "backfitting"],
    "evolve": ["--set", "generations=2", "--set", "population=10"],
    "stage": ["--set", "max-stages=2"],
}
"""Options that make a command that learns end soon."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((60, 3)).round(3), columns=["a", "b", "c"])
    table["target"] = np.where(table["a"] + 0.1 * rng.random(60) > 0.5, "ill", "well")
    table.to_csv(folder / "t.csv", index=False)
    table.to_csv(folder / "t.tsv", index=False, sep="\t")
    table.assign(patient=[f"p{k}" for k in range(60)], nothing=np.nan).to_csv(folder / "ids.csv", index=False)
    done("evolve", "t.csv", "--out", "m.joblib", *SMALL["evolve"], cwd=folder)
    pruned = ["--classifiers", "6", "--workers", "1"]
    done("prune", "t.csv", "--out", "pruned.joblib", *pruned, cwd=folder)
    for name, numbers in {
        "halves": rng.choice([0.5, 1.5], 60),
        "price": 1000 * rng.random(60),
        "age": rng.integers(20, 90, 60),
    }.items():
        table.assign(target=numbers).to_csv(folder / f"{name}.csv", index=False)
    (folder / "ragged.csv").write_text("a,b,c,target\n1,2,3,ill\n1,2,3\n")
    (folder / "twice.csv").write_text("a,b,c,target,a\n1,2,3,ill,4\n")
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("a,b,c,target\n")
    (folder / "latin.csv").write_bytes("a,b,c,target\n1,2,3,é\n".encode("latin-1"))
    return folder


def _line(words: str, table: str) -> list[str]:
    model = "pruned.joblib" if words == "export" else "m.joblib"
    given = {"model": model, "table": table} | ({"files_out": "policy.json"} if words == "export" else {})
    return [*line(words, COMMANDS[words], given), *SMALL.get(words, [])]


def test_every_command_that_reads_a_table_is_known() -> None:
    assert set(COMMANDS) == {"prune", "evolve", "stage", "predict", "measure", "verify", "export"}
    assert set(LEARNING) == set(SMALL)


BAD = {
    "ragged": "line 3: expected 4 cells", "twice": "'a' more than once, as columns 1 and 5", "empty": "is empty",
    "header": "no rows", "latin": "byte 0xe9 in line 2", "halves": "fractions, such as ", "price": "fractions, such as ",
    "age": "different numbers in 60 rows",
}  # fmt: skip
"""Tables that commands refuse, the last three those that learn, with what names the fault."""


@pytest.mark.parametrize("words", COMMANDS)
def test_a_bad_table_and_a_number_to_predict_are_refused(folder: Path, words: str) -> None:
    for table, message in list(BAD.items())[: None if words in LEARNING else -3]:
        assert f"{table}.csv" in refuse(*_line(words, f"{table}.csv"), message=message, cwd=folder)


@pytest.mark.parametrize("words", [*LEARNING, "measure"])
def test_a_missing_target_is_met_with_a_guess(folder: Path, words: str) -> None:
    guess = "got 'a', 'b', 'c', 'target'. Did you mean 'target'?"
    refuse(*_line(words, "t.csv"), "--target", "Targte", message=guess, cwd=folder)


def test_a_missing_feature_is_met_with_a_guess(folder: Path) -> None:
    (folder / "capital.csv").write_text("A,b,c,target\n1,2,3,ill\n")
    refuse("predict", "m.joblib", "capital.csv", message="missing: 'a'. Did you mean 'A'?", cwd=folder)


@pytest.mark.parametrize("words", COMMANDS)
def test_notes_on_the_table_are_on_stderr_and_in_the_json(
    folder: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((folder / "t.tsv").read_bytes())))
    out = ["--out", "answers.csv"] if words == "predict" else []
    run = shortlist(*_line(words, "-"), *out, "--json", cwd=folder)
    expected = "standard input: its columns are separated by tabs."
    assert run.returncode in {0, 3}, run.stderr
    assert f"shortlist: note: {expected}\n" in run.stderr
    assert expected in json.loads(run.stdout)["notes"]


@pytest.mark.parametrize("words", LEARNING)
def test_columns_that_tell_nothing_about_new_rows_are_named(folder: Path, words: str) -> None:
    run = done(*_line(words, "ids.csv"), "--json", cwd=folder)
    notes = json.loads(run.stdout)["notes"]
    assert "column 'nothing' is empty in every row." in notes
    left_out = [note for note in notes if "left out" in note]
    assert len(left_out) == 1
    assert "'patient'" in left_out[0]
    assert "--set keep=patient" in left_out[0]
    assert f"shortlist: note: {left_out[0]}" in run.stderr


def _numbered(folder: Path) -> Path:
    """Write a table of 60 rows with a number of the patient, which sorts the classes, and without prices."""
    table = pd.read_csv(folder / "t.csv").sort_values("target", ignore_index=True)
    table.insert(0, "patient", np.arange(1000, 1060))
    table.to_csv(folder / "numbered.csv", index=False)
    return folder / "numbered.csv"


def test_a_number_of_the_row_is_no_test_and_needs_no_price_and_stays_beside_the_answer(folder: Path) -> None:
    _numbered(folder)
    (folder / "costs.csv").write_text("feature,cost\na,3\nb,2\nc,1\n")
    run = done(
        "stage",
        "numbered.csv",
        "--costs",
        "costs.csv",
        "--set",
        "max-stages=2",
        "--out",
        "s.joblib",
        cwd=folder,
    )
    assert "'patient'" in run.stderr
    told = done("predict", "s.joblib", "numbered.csv", "--explain", "--out", "s.csv", cwd=folder)
    answers = pd.read_csv(folder / "s.csv")
    assert answers.columns[:2].tolist() == ["patient", "prediction"]
    assert answers["patient"].tolist() == list(range(1000, 1060))
    assert not answers["features"].fillna("").str.contains("patient").any()
    pd.read_csv(folder / "numbered.csv").drop(columns="patient").to_csv(folder / "nameless.csv", index=False)
    told = shortlist("predict", "s.joblib", "nameless.csv", cwd=folder)
    assert told.stdout.startswith("prediction\n")


def test_keep_learns_from_a_column_that_looks_like_a_number_of_the_row(folder: Path) -> None:
    _numbered(folder)
    run = done(*_line("prune", "numbered.csv"), "--set", "keep=patient", "--out", "k.joblib", cwd=folder)
    assert "patient" not in run.stderr
    refuse("predict", "k.joblib", "t.csv", message="missing: 'patient'", cwd=folder)


def _with_cases(folder: Path) -> None:
    """Write a table of 30 cases with ten rows each, whose class is that of the case."""
    rng = np.random.default_rng(1)
    case = rng.permutation(np.repeat(np.arange(30), 10))
    table = pd.DataFrame(rng.random((300, 3)).round(3), columns=["a", "b", "c"])
    table["target"] = np.where(case % 2 == 0, "ill", "well")
    table.assign(ward=[f"w{k}" for k in case]).to_csv(folder / "wards.csv", index=False)
    table.assign(case=case).to_csv(folder / "cases.csv", index=False)


@pytest.mark.parametrize("words", LEARNING)
def test_cases_of_several_rows_are_named_and_kept_together_on_request(folder: Path, words: str) -> None:
    _with_cases(folder)
    for column, file in (("case", "cases.csv"), ("ward", "wards.csv")):
        run = shortlist(*_line(words, file), cwd=folder)
        assert f"column '{column}' seems to name cases: 30 in 300 rows." in run.stderr
    run = shortlist(*_line(words, "cases.csv"), "--group", "case", "--out", "g.joblib", "--json", cwd=folder)
    assert run.returncode in {0, 3}, run.stderr
    assert "seems to name cases" not in run.stderr
    facts = json.loads(run.stdout)
    assert facts["options"]["group"] == "case"
    rows = facts["rows"]
    assert all(n % 10 == 0 for part, n in rows.items() if part not in {"folds", "parts", "partitions"}), rows
    done("predict", "g.joblib", "cases.csv", "--out", "g.csv", cwd=folder)
    answers = pd.read_csv(folder / "g.csv")
    assert answers.columns[:2].tolist() == ["case", "prediction"]


@refusals("groups")
def test_a_group_that_cannot_be_one_is_refused(folder: Path, refused: Callable[[Path], None]) -> None:
    _with_cases(folder)
    refused(folder)


def test_methods_are_compared_on_other_cases(folder: Path) -> None:
    _with_cases(folder)
    done(
        "compare", "cases.csv", "--methods", "full,best-single", "--set", "folds=3", "--set", "classifiers=3",
        "--group", "case", "--workers", "1", cwd=folder,
    )  # fmt: skip
    done(
        "compare", "cases.csv", "--methods", "single,co-t", "--set", "seeds=2", "--group", "case", "--workers", "1", cwd=folder,
    )  # fmt: skip


def _long_log(folder: Path) -> pd.DataFrame:
    """Write a row for each answer of five judges on 60 cases."""
    rng = np.random.default_rng(2)
    truth = rng.choice(["ill", "well"], 60)
    rows = [
        {"case": case, "target": truth[case], "model": f"m{judge}",
         "label": truth[case] if rng.random() < 0.6 + judge / 20 else rng.choice(["ill", "well"])}
        for case in range(60)
        for judge in range(5)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    table.to_csv(folder / "long.csv", index=False)
    return table


def test_a_long_log_of_judges_is_told_how_to_become_a_table_and_the_advice_works(folder: Path) -> None:
    table = _long_log(folder)
    run = shortlist("prune", "long.csv", "--answers", cwd=folder)
    advice = "table.pivot(index=['case', 'target'], columns='model', values='label').reset_index()"
    assert (run.returncode, "long.csv is a long log" in run.stderr) == (2, True)
    assert run.stderr.rstrip(".\n").endswith(advice)
    wide = table.pivot(index=["case", "target"], columns="model", values="label").reset_index()
    wide.to_csv(folder / "wide.csv", index=False)
    run = done("prune", "wide.csv", "--answers", "--method", "backfitting", cwd=folder)
    assert "long log" not in run.stderr


@pytest.mark.parametrize("words", LEARNING)
def test_a_long_log_of_tests_is_told_in_a_note(folder: Path, words: str) -> None:
    _long_log(folder)
    run = shortlist(*_line(words, "long.csv"), cwd=folder)
    assert "long.csv is a long log" in run.stderr
    assert "seems to name cases" not in run.stderr
