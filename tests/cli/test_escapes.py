"""Names that steer a terminal, or that a spreadsheet would run, at commands that print or write them."""

from pathlib import Path

import pandas as pd
import pytest

from shortlist.tables.spreadsheets import guarded, unguarded
from tests.cli.running import done, shortlist

ESCAPE = "\x1b]0;gotcha\x07"
FORMULA = "=cmd|' /C calc'!A0"

MODEL = f"""features
    "Phone{ESCAPE}"
        mandatory
            Screen {{cost 3}}
        optional
            "GPS{ESCAPE}" {{cost 4}}
            Camera {{cost 2}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("escapes")
    (folder / "m.uvl").write_text(MODEL, encoding="utf-8")
    (folder / "other.uvl").write_text(MODEL.replace("Camera", f'"Cam{ESCAPE}"'), encoding="utf-8")
    rows = pd.DataFrame(
        {f"a{ESCAPE}": [i + 0.5 for i in range(40)], f"judge{ESCAPE}": [i * 7 % 11 for i in range(40)]}
    )
    label = [FORMULA] * 20 + [f"yes{ESCAPE}"] * 20
    rows.assign(**{f"target{ESCAPE}": label}).to_csv(folder / "t.csv", index=False)
    rows = pd.DataFrame(
        {"one": label, f"two{ESCAPE}": [FORMULA] * 30 + label[30:], "three": label, "target": label}
    )
    rows.to_csv(folder / "judges.csv", index=False)
    configure = ["configure", "m.uvl", "--objectives", "min cost, max selected", "--set", "default=cost=0"]
    target = ["--target", f"target{ESCAPE}", "--workers", "1"]
    for words in (
        [*configure, "--out", "f.parquet"],
        ["prune", "t.csv", *target, "--classifiers", "3", "--method", "backfitting", "--out", "p.joblib"],
        ["prune", "judges.csv", "--answers", "--workers", "1", "--out", "j.joblib"],
        ["stage", "t.csv", *target, "--set", "max-stages=2", "--method", "enumerate", "--out", "s.joblib"],
        ["evolve", "t.csv", *target, "--set", "generations=2", "--set", "population=10", "--out", "e.joblib"],
    ):
        ran = done(*words, cwd=folder)
        assert "\x1b" not in ran.stdout + ran.stderr, words
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["front", "show", "f.parquet", "--pick", "knee"],
        ["front", "pick", "f.parquet"],
        ["model", "info", "m.uvl"],
        ["model", "analyse", "m.uvl"],
        ["model", "diff", "m.uvl", "other.uvl"],
        ["model", "sample", "m.uvl"],
        ["configure", "m.uvl", "--objectives", f"min {ESCAPE}"],
        ["configure", "m.uvl", "--objectives", "max selected", "--select", f"no{ESCAPE}"],
        ["predict", "p.joblib", "t.csv"],
        ["predict", "s.joblib", "t.csv", "--explain"],
        ["predict", "e.joblib", "t.csv"],
        ["predict", "j.joblib", "judges.csv", "--early-exit"],
        ["predict", "p.joblib", f"no{ESCAPE}.csv"],
        ["prune", "t.csv", "--target", f"no{ESCAPE}"],
        [f"no{ESCAPE}"],
        ["prune", f"--no{ESCAPE}"],
    ],
)
def test_no_command_prints_what_steers_a_terminal(words: list[str], folder: Path) -> None:
    ran = shortlist(*words, cwd=folder)
    assert "\x1b" not in ran.stdout + ran.stderr
    assert "\x07" not in ran.stdout + ran.stderr
    assert "gotcha" in ran.stdout + ran.stderr


@pytest.mark.parametrize(("model", "table"), [("p", "t"), ("s", "t"), ("e", "t"), ("j", "judges")])
def test_answers_in_csv_are_no_formulas(model: str, table: str, folder: Path) -> None:
    printed = shortlist("predict", f"{model}.joblib", f"{table}.csv", cwd=folder).stdout
    shortlist("predict", f"{model}.joblib", f"{table}.csv", "--out", "a.csv", cwd=folder)
    written = (folder / "a.csv").read_text(encoding="utf-8")
    assert ESCAPE in written
    for text in (printed, written):
        assert f"'{FORMULA}" in text
        assert not [cell for line in text.splitlines() for cell in line.split(",") if cell.startswith("=")]


@pytest.mark.parametrize(
    "text", [FORMULA, "'=1", "''@x", "-", "+", "-1.5e3", "-Xmx", "\tx", "plain", "'", ""]
)
def test_what_is_guarded_comes_back_and_signs_and_numbers_stay(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert (guarded(text) == text) == (text in {"-", "+", "-1.5e3", "plain", "'", ""})
