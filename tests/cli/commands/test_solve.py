"""`shortlist solve` and the recheck of its fronts, as a user runs them."""

import dataclasses
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shortlist.methods.program_methods import METHODS
from shortlist.programs import solve
from shortlist.programs.named_program import NamedProgram
from shortlist.results.front import Front
from shortlist.runs import Progress, Report, open_study
from tests.cli.made import PROGRAM
from tests.cli.refusals import refusals, refuse
from tests.cli.running import done, facts_of, shortlist
from tests.stored import Stored

SOLVE = ("solve", "p.lp", "--objectives", "min cost, max value")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.lp").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program and `f.parquet`, its whole front."""
    folder = tmp_path_factory.mktemp("solved")
    (folder / "p.lp").write_text(PROGRAM, encoding="utf-8")
    done(*SOLVE, "--out", "f.parquet", cwd=folder)
    return folder


@pytest.mark.parametrize("method", ["auto", "exact", "cwmoip", "epsilon-constraint", "solrep"])
def test_every_method_writes_a_front_that_can_be_shown_picked_and_rechecked(
    folder: Path, method: str
) -> None:
    done(*SOLVE, "--method", method, "--out", "f.parquet", "--out", "f.html", cwd=folder)
    assert Front.load(folder / "f.parquet").candidates == ("x", "y")
    shown = shortlist("front", "show", "f.parquet", "--pick", "knee", cwd=folder)
    chosen = Front.load(folder / "f.parquet").pick("knee").decision.tolist()
    columns = ", ".join(f"{name} = {value}" for name, value in zip("xy", chosen, strict=True) if value)
    assert f"\n  {columns}\n" in shown.stdout
    done("front", "pick", "f.parquet", "--pick", "0", "--out", "p.csv", cwd=folder)
    assert (folder / "p.csv").read_text().splitlines()[0] == "column,value"
    again = shortlist("verify", "f.parquet", "p.lp", cwd=folder)
    assert (again.returncode, again.stdout[:11]) == (0, "As claimed:")
    page = (folder / "f.html").read_text()
    assert "Its columns that are not 0" in page


def test_general_integers_are_told_with_their_numbers(solved: Path) -> None:
    facts = facts_of("front", "show", "f.parquet", "--pick", "3", cwd=solved)
    chosen = Front.load(solved / "f.parquet").decisions[3].tolist()
    assert facts["pick"]["selection"] == [
        name if value == 1 else f"{name} = {value}" for name, value in zip("xy", chosen, strict=True) if value
    ]


def test_large_numbers_survive_the_file(folder: Path) -> None:
    text = PROGRAM.replace("y <= 3", "y <= 90000").replace("x + y >= 1", "x + y >= 80000")
    (folder / "p.lp").write_text(text, encoding="utf-8")
    done(*SOLVE, "--out", "f.parquet", "--method", "solrep", "--set", "points=2", cwd=folder)
    assert Front.load(folder / "f.parquet").decisions[:, 1].min() >= 79999


def test_json_is_the_contract_with_what_programs_have(folder: Path) -> None:
    facts = facts_of(*SOLVE, cwd=folder)
    assert (facts["command"], facts["method"], facts["status"]) == ("solve", "exact", "optimal")
    assert (facts["n_columns"], facts["n_rows"], facts["proof"]) == (2, 1, "complete")
    assert len(facts["notes"]) == 1
    assert facts["options"]["set solver" if "set solver" in facts["options"] else "solver"] == "highs"


@refusals("solve")
def test_what_cannot_be_used_is_one_sentence(solved: Path, refused: Callable[[Path], None]) -> None:
    refused(solved)


def test_ctrl_c_keeps_what_was_found(folder: Path, solved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = solve.solve_program

    def interrupted(named: NamedProgram, *, report: Report, **options: Any) -> Front:
        def tell(event: Progress) -> None:
            report(event)
            if event.done == 4:  # the ends of the front are known then, and the search is not over
                signal.raise_signal(signal.SIGINT)

        return whole(named, report=tell, **options)

    monkeypatch.setattr(solve, "solve_program", interrupted)
    run = shortlist(*SOLVE, "--method", "cwmoip", "--out", "f.parquet", "--json", cwd=folder)
    facts = json.loads(run.stdout)
    assert (run.returncode, facts["proof"], facts["limit"]) == (0, "nondominated", "interrupted"), run.stderr
    kept = Front.load(folder / "f.parquet")
    points = {tuple(point) for point in Front.load(solved / "f.parquet").values.tolist()}
    assert 0 < len(kept) < len(points)
    assert {tuple(point) for point in kept.values.tolist()} < points


def test_ctrl_c_before_anything_is_found_writes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = solve.solve_program

    def interrupted(named: NamedProgram, **options: Any) -> Front:
        signal.raise_signal(signal.SIGINT)
        return whole(named, **options)

    monkeypatch.setattr(solve, "solve_program", interrupted)
    run = shortlist(*SOLVE, "--out", "f.parquet", cwd=folder)
    assert (run.returncode, run.stdout) == (130, "")
    assert "nothing had been found yet, so nothing was written" in run.stderr
    assert not (folder / "f.parquet").exists()


def test_an_infeasible_program_is_a_status(folder: Path, stored: Stored) -> None:
    (folder / "p.lp").write_text(PROGRAM.replace("x + y >= 1", "x + y >= 9"), encoding="utf-8")
    stored(done(*SOLVE, "--out", "f.parquet", cwd=folder))
    assert not (folder / "f.parquet").exists()


def test_a_damaged_program_names_the_line_and_nothing_is_written(folder: Path) -> None:
    (folder / "p.lp").write_text(PROGRAM.replace("room: x + y >= 1", "room: x + y >="), encoding="utf-8")
    refuse(*SOLVE, "--out", "f.parquet", message="p.lp:", cwd=folder)


def test_a_changed_front_is_not_as_claimed_and_exits_with_1(solved: Path) -> None:
    front = Front.load(solved / "f.parquet")
    less = dataclasses.replace(front, values=front.values[1:], decisions=front.decisions[1:])
    less.save(solved / "g.parquet")
    run = shortlist("verify", "g.parquet", "p.lp", cwd=solved)
    assert run.returncode == 1
    assert run.stdout.startswith("NOT AS CLAIMED: there is a solution with cost ")
    facts = json.loads(shortlist("verify", "g.parquet", "p.lp", "--json", cwd=solved).stdout)
    assert (facts["status"], len(facts["failures"])) == ("invalid", 1)


@refusals("verify-fronts")
def test_options_of_models_are_refused_for_fronts_and_the_other_way(
    solved: Path, refused: Callable[[Path], None]
) -> None:
    (solved / "m.joblib").write_text("")
    refused(solved)


def test_a_front_of_products_says_what_was_asked_and_is_rechecked(folder: Path) -> None:
    (folder / "m.uvl").write_text(
        "features\n    Phone\n        optional\n            GPS {cost 4}\n            Camera {cost 2}\n",
        encoding="utf-8",
    )
    asked = ["configure", "m.uvl", "--objectives", "min cost, max selected", "--set", "default=cost=0"]
    done(*asked, "--limit", "cost<=4", "--select", "GPS", "--out", "f.parquet", cwd=folder)
    assert facts_of("verify", "f.parquet", "m.uvl", cwd=folder)["status"] == "rechecked"
    front = Front.load(folder / "f.parquet")
    dataclasses.replace(front, extras={}).save(folder / "old.parquet")
    refuse("verify", "old.parquet", "m.uvl", message="within which limits", cwd=folder)


def test_the_help_names_the_methods_that_take_a_study_and_each_does(folder: Path) -> None:
    said = " ".join(shortlist("solve", "--help", cwd=folder).stdout.split())
    assert "Every method takes --study: auto, exact, cwmoip, epsilon-constraint and solrep." in said
    for method in METHODS:
        asked = [*SOLVE, "--method", method, "--study", f"{method}.db"]
        first, again = (facts_of(*asked, cwd=folder) for _ in range(2))
        assert first["n_points"] == again["n_points"] == 5
        with open_study(folder / f"{method}.db") as study:
            assert study.n_finished


def test_rounded_costs_are_no_reason_to_call_a_front_complete(folder: Path, stored: Stored) -> None:
    (folder / "long.lp").write_text(
        "minimize\n o1: 4503599627370497 x0 + 3 x1 + 1125899906842623 x2\nsubject to\n o0: - x1 >= -inf\n"
        " r0: x1 + x0 <= 9\nbounds\n -3 <= x2 <= 3\n 0 <= x0 <= 1\n 0 <= x1 <= 8\ngeneral\n x0 x1 x2\nend\n"
    )  # of the nine trade-offs of x1 all but one differ by less than the rounding
    asked = ["long.lp", "--objectives", "min o0, min o1", "--out", "long.parquet"]
    stored(done("solve", *asked, cwd=folder), done("verify", "long.parquet", "long.lp", cwd=folder))
