"""Every command answers on one screen, 24 lines of 100 columns, unless ``--details`` asks for more."""

from pathlib import Path

import pytest

from tests.cli.command_lines import commands
from tests.cli.made import ADDING, ANSWERED, FRONT, PRINTING, PRUNE, WRITING, fill
from tests.cli.running import shortlist

LINES, WIDTH = 24, 100
"""What a terminal shows when nobody has changed it."""

NOT_YET = {
    "compare", "datasets fetch", "datasets list", "datasets show", "panel compare", "reproduce", "study resume", "study show",
}  # fmt: skip
"""Commands that still print more, or of which no line is tried here."""

ROWS = {"predict", "model sample"}
"""Commands that print a table of the user's rows for other programs."""

MORE = {
    "prune with a promise": [*PRUNE, "--answer-accuracy", "0.7", "--set", "confidence-level=0.6"],
    "prune with a promise that nothing keeps": [*PRUNE, "--answer-accuracy", "0.999"],
    "prune of means": [*PRUNE[:4], "--workers", "1"],
    "prune by recall": [*PRUNE[:4], "--workers", "1", "--objective", "recall"],
    "prune within limits that nothing keeps": [
        *PRUNE[:4], "--workers", "1", "--objective", "accuracy", "--set", "diversity=mean=0.999", "--set", "min-size=3",
    ],
    "prune --pick smallest": [*PRUNE[:4], "--workers", "1", "--pick", "smallest"],
    "prune --answers": ["prune", *ANSWERED, "--answers"],
    "prune --answers --costs": ["prune", *ANSWERED, "--answers", "--costs", "prices.csv", "--max-cost", "3"],
    "prune --answers --objectives": [
        "prune", *ANSWERED, "--answers", "--costs", "prices.csv", "--objectives", "max accuracy, min price-paid",
        "--out", "paid.parquet", "--out", "paid.joblib", "--report", "paid.html",
    ],
    "prune of long names": ["prune", "named.csv", "--target", "truth", "--answers", "--method", "full"],
    "verify": ["verify", "exact.joblib", "table.csv"],
    "verify of a rule": ["verify", "model.joblib", "table.csv"],
    "verify of products": ["verify", "front.parquet", "m.uvl"],
    "verify of stages": ["verify", "stages.joblib", "table.csv"],
    "verify of committees": ["verify", "committees.parquet", "table.csv", "--pruned", "committee.joblib"],
    "verify of another table": ["verify", "exact.joblib", "turned.csv"],
    "export as ONNX": ["export", "exact.joblib", "table.csv", "--out", "exact.onnx"],
    "export as a protocol": ["export", "stages.joblib", "--out", "protocol.md"],
    "predict --early-exit": ["predict", "exact.joblib", "table.csv", "--early-exit", "--out", "early.csv"],
    "report": ["report", "front.parquet", "--out", "again.html"],
    "front pick": ["front", "pick", "front.parquet"],
    "front show of committees": ["front", "show", "committees.parquet", "--pick", "0"],
}  # fmt: skip
"""Command lines beside those that write, add and print."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("screen")
    fill(folder)
    (folder / "prices.csv").write_text("name,cost\none,1\ntwo,2.5\nthree,3\n")
    rows = (folder / "answers.csv").read_text().splitlines()
    names = [f"answers of the judge with a very long name indeed, number {n}" for n in range(60)]
    told = [f"{','.join([row.split(',')[n % 3] for n in range(60)])},{row.split(',')[3]}" for row in rows[1:]]
    header = ",".join([*(f'"{name}"' for name in names), "truth"])
    (folder / "named.csv").write_text("\n".join([header, *told]) + "\n")
    table = (folder / "table.csv").read_text()
    turned = table.replace(",no", ",maybe").replace(",yes", ",no").replace(",maybe", ",yes")
    (folder / "turned.csv").write_text(turned)
    run = shortlist(*FRONT, "--out", "committees.parquet", "--out", "committee.joblib", cwd=folder)
    assert run.returncode == 0, run.stderr
    return folder


def _command(words: list[str]) -> str:
    return next(name for n in (2, 1) if (name := " ".join(words[:n])) in commands())


TRIED = {
    what: [word.replace("w.db", f"{number}.db") for word in words]
    for number, (what, words) in enumerate((WRITING | ADDING | PRINTING | MORE).items())
    if _command(words) not in NOT_YET and {"--json", "--help"}.isdisjoint(words) and what not in ROWS
}


@pytest.mark.slow
@pytest.mark.parametrize("what", TRIED)
def test_an_answer_fits_on_one_screen(folder: Path, what: str) -> None:
    run = shortlist(*TRIED[what], cwd=folder)
    lines = run.stdout.splitlines()
    assert run.returncode in {0, 1, 3}, run.stderr
    assert lines
    assert len(lines) <= LINES, run.stdout
    assert [line for line in lines if len(line) > WIDTH] == []


def test_every_command_is_tried_here_or_named_as_not_yet_fitting() -> None:
    tried = {_command(words) for words in TRIED.values()}
    assert tried.isdisjoint(NOT_YET)
    assert tried | NOT_YET | ROWS == {*commands()}
