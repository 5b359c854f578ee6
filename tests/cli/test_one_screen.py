"""Every command answers on one screen, 24 lines of 100 columns, unless ``--details`` asks for more."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shortlist.datasets.registry import public_set
from shortlist_papers.papers import PAPERS
from tests.cli.command_lines import commands
from tests.cli.made import ADDING, ANSWERED, CONFIGURE, FRONT, PRINTING, PRUNE, WRITING, fill
from tests.cli.running import done, shortlist
from tests.datasets.originals import original_of, table_rows
from tests.shortlist_papers.small_emsco import SMALL_EMSCO

LINES, WIDTH = 24, 100
"""Lines and columns of a terminal by default."""

FETCHED = {"datasets fetch"}
"""Commands that need an original file of a public set."""

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
    "prune --answers --costs": ["prune", *ANSWERED, "--answers", "--costs", "prices.csv", "--set", "max-cost=3"],
    "prune --answers --objectives": [
        "prune", *ANSWERED, "--answers", "--costs", "prices.csv", "--objectives", "max accuracy, min price-paid",
        "--out", "paid.parquet", "--out", "paid.joblib", "--out", "paid.html",
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
    "measure": ["measure", "exact.joblib", "table.csv"],
    "predict --early-exit": ["predict", "exact.joblib", "table.csv", "--early-exit", "--out", "early.csv"],
    "report": ["report", "front.parquet", "--out", "again.html"],
    "front pick": ["front", "pick", "front.parquet"],
    "front pick --few": ["front", "pick", "front.parquet", "--few", "30"],
    "reproduce": ["reproduce", "emsco"],
    "reproduce --check": ["reproduce", "emsco", "--check", "made/emsco-rows.csv"],
    "example": ["example", "clinic"],
    "datasets list": ["datasets", "list"],
    "datasets show": ["datasets", "show", "bank-additional-full"],
    "study show": ["study", "show", "asked.db"],
    "study resume": ["study", "resume", "asked.db"],
    "front show of committees": ["front", "show", "committees.parquet", "--pick", "0"],
}  # fmt: skip
"""Command lines beside those that write, add and print."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
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
    for words in (
        [*FRONT, "--out", "committees.parquet", "--out", "committee.joblib"],
        [*CONFIGURE, "--method", "solrep", "--set", "points=3", "--study", "asked.db"],
    ):
        done(*words, cwd=folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(PAPERS, "emsco", SMALL_EMSCO)
        done("reproduce", "emsco", "--out", "made", cwd=folder)
        yield folder


def _command(words: list[str]) -> str:
    return next(name for n in (2, 1) if (name := " ".join(words[:n])) in commands())


TRIED = {
    what: [word.replace("w.db", f"{number}.db") for word in words]
    for number, (what, words) in enumerate((WRITING | ADDING | PRINTING | MORE).items())
    if {"--json", "--help"}.isdisjoint(words) and what not in ROWS
}


@pytest.mark.slow
@pytest.mark.parametrize("what", TRIED)
def test_an_answer_fits_on_one_screen(folder: Path, what: str) -> None:
    _fits(shortlist(*TRIED[what], cwd=folder))


def _fits(run: Any) -> None:
    """Assert that an answer fits; an address or a path alone in its line may be longer."""
    lines = run.stdout.splitlines()
    assert run.returncode in {0, 1, 3}, run.stderr
    assert lines
    assert len(lines) <= LINES, run.stdout
    assert [line for line in lines if len(line) > WIDTH and " " in line.strip()] == []


def test_a_fetched_set_is_told_on_one_screen(
    data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    data_set = public_set("heart-failure-clinical-records")
    assert data_set.source is not None
    (tmp_path / data_set.source.file).write_bytes(original_of(data_set, table_rows(data_set, data_folder)))
    _fits(shortlist("datasets", "fetch", data_set.name, "--data", ".", cwd=tmp_path))
    _fits(shortlist("datasets", "show", data_set.name, cwd=tmp_path))


def test_every_command_is_tried_here() -> None:
    tried = {_command(words) for words in TRIED.values()}
    assert tried | FETCHED | ROWS == {*commands()}
