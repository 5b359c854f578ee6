"""`shortlist reproduce`."""

import csv
import dataclasses
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.studies.kills import timeless
from shortlist.runs import Budget, Unit, open_study
from shortlist_papers.evolution import EVOLUTION, EvolutionSize, plan_evolution
from shortlist_papers.paper import PaperPlan, ResultTable, Rows
from shortlist_papers.papers import PAPERS
from tests.cli.killed import kill_after
from tests.cli.refusals import refusals
from tests.cli.running import shortlist
from tests.shortlist_papers.made_sets import write_made_set
from tests.shortlist_papers.small_emsco import SMALL_EMSCO

SMALLEST = EvolutionSize(("bld", "pid"), 1, 1, 20, 2, 5)


def _make_small() -> None:
    PAPERS["emsco"] = SMALL_EMSCO


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    smallest = dataclasses.replace(EVOLUTION, plan=lambda folder, _extent: plan_evolution(folder, SMALLEST))
    monkeypatch.setitem(PAPERS, "evolution", smallest)
    (tmp_path / "sets").mkdir()
    write_made_set(tmp_path / "sets", "bupa-liver-disorders")
    return tmp_path


@pytest.mark.slow
def test_tables_are_printed_and_written_and_a_study_is_gone_on_from(sets: Path) -> None:
    line = [
        "reproduce", "evolution", "--data", "sets", "--study", "s.db", "--out", "new/results",
    ]  # fmt: skip
    run = shortlist(*line, "--details", cwd=sets)
    assert run.returncode == 0, run.stderr
    assert "Test errors" in run.stdout
    assert "Where this is not what the paper did:" in run.stdout
    assert "pima-diabetes is missing: shortlist datasets fetch pima-diabetes." in run.stderr
    written = sets / "new" / "results"
    assert "Test errors" in (written / "evolution.html").read_text()
    assert {path.name for path in written.iterdir()} == {
        "evolution.md", "evolution.html", "evolution-claims.csv", "evolution-errors.csv", "evolution-rows.csv",
    }  # fmt: skip
    rows = list(csv.DictReader((written / "evolution-errors.csv").read_text().splitlines()))
    assert [row["method"] for row in rows][:3] == ["Off-EEL", "On-EEL, as printed", "On-EEL, smoothed"]
    assert "| bld | Off-EEL |" in (written / "evolution.md").read_text()
    short = shortlist(*line, cwd=sets).stdout.splitlines()
    assert short[0].startswith("Scale small. What the paper claims: ")
    assert any(line.startswith("--scale medium measures ") for line in short)
    assert len(short) <= 24
    failed = list(csv.DictReader((written / "evolution-claims.csv").read_text().splitlines()))
    n_failed = sum(row["verdict"] == "does not hold" for row in failed)
    assert sum(line.startswith("- ") for line in short) == n_failed
    again = shortlist(*line, "--json", cwd=sets)
    facts = json.loads(again.stdout)
    assert (facts["status"], facts["units"], facts["units_wanted"]) == ("complete", 8, 8)
    assert [row["error %"] for row in facts["tables"][1]["rows"]] == [float(row["error %"]) for row in rows]
    assert facts["unit_seconds"] > 0


@pytest.mark.slow
def test_a_killed_reproduction_and_one_with_two_workers_give_the_tables_of_an_undisturbed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PAPERS, "emsco", SMALL_EMSCO)
    line = ["reproduce", "emsco", "--json"]
    study = tmp_path / "s.db"
    assert kill_after(3, *line, "--study", str(study), cwd=tmp_path, first=_make_small), "it ended before"
    with open_study(study) as opened:
        kept = opened.results()
    assert len(kept) == 3
    resumed = shortlist(*line, "--study", study, cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    with open_study(study) as opened:
        assert kept.items() <= opened.results().items()
    shared = shortlist(*line, "--workers", "2", cwd=tmp_path)
    fresh = shortlist(*line, cwd=tmp_path)
    facts = timeless(json.loads(fresh.stdout))
    assert (facts["status"], facts["units"], facts["units_wanted"]) == ("complete", 6, 6)
    assert timeless(json.loads(resumed.stdout)) == facts
    assert timeless(json.loads(shared.stdout)) == facts


def _count(number: int, stops: int, before: bool, *, budget: Budget) -> Rows:
    """Count; the unit of number `stops` is interrupted, before it looks at its cancellation or afterwards."""
    if number != stops or before:
        if number == stops:
            os.kill(os.getpid(), signal.SIGINT)
        if budget.stopped:
            return []
    if number == stops and not before:
        os.kill(os.getpid(), signal.SIGINT)
    return [{"kind": "count", "number": number}]


@pytest.mark.parametrize(
    ("stop", "then"),
    [
        ((0, True), (0, 130)), ((0, False), (1, 3)), ((1, True), (1, 3)), ((1, False), (2, 3)),
        ((2, True), (2, 3)), ((2, False), (3, 0)), ((9, True), (3, 0)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("more", [[], ["--json"], ["--out", "results"], ["--study", "s.db"]])
def test_a_stopped_reproduction_says_so_by_its_exit_code(
    stop: tuple[int, bool],
    then: tuple[int, int],
    more: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (finished, code) = then

    def tables(rows: Any) -> list[ResultTable]:
        return [ResultTable("errors", "Counts", [{"number": int(one)} for one in rows["number"]])]

    units = tuple(Unit(f"{number}", _count, (number, *stop)) for number in range(3))
    paper = dataclasses.replace(
        EVOLUTION, plan=lambda _folder, _extent: PaperPlan(units, {}), make_tables=tables, claims=()
    )
    monkeypatch.setitem(PAPERS, "evolution", paper)
    run = shortlist("reproduce", "evolution", *more, cwd=tmp_path)
    assert run.returncode == code, run.stderr
    if more == ["--json"] and finished:
        facts = json.loads(run.stdout)
        assert (facts["units"], facts["units_wanted"]) == (finished, 3)
        assert facts["status"] == ("complete" if finished == 3 else "stopped")
    if more == ["--out", "results"] and finished:
        assert len((tmp_path / "results" / "evolution-rows.csv").read_text().splitlines()) == finished + 1
    if more == ["--study", "s.db"]:
        went_on = dataclasses.replace(
            paper,
            plan=lambda _folder, _extent: PaperPlan(
                tuple(Unit(f"{number}", _count, (number, 9, True)) for number in range(3)), {}
            ),
        )
        monkeypatch.setitem(PAPERS, "evolution", went_on)
        assert shortlist("reproduce", "evolution", *more, cwd=tmp_path).returncode == 0


def test_a_machine_without_any_of_the_data_is_told_how_to_get_it(sets: Path) -> None:
    run = shortlist("reproduce", "evolution", cwd=sets)
    assert (run.returncode, run.stdout) == (2, "")
    assert "bupa-liver-disorders is missing: write bupa_liver_disorders.csv into a folder" in run.stderr
    assert "--data FOLDER" in run.stderr
    assert "shortlist datasets fetch pima-diabetes" in run.stderr


@refusals("reproduce")
def test_what_cannot_be_is_refused_before_the_work(sets: Path, refused: Callable[[Path], None]) -> None:
    refused(sets)
