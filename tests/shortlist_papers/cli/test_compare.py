"""The command compare, as a user runs it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shortlist.results.front import Front
from tests.cli.refusals import refusals
from tests.cli.running import shortlist

MODELS = Path(__file__).parents[2] / "products" / "models"
COST = ("--objectives", "min deselected, min cost", "--set", "default=cost=0")
FEW = ("--set", "seeds=2", "--set", "evaluations=300", "--set", "points=5")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the model of a phone."""
    for path in MODELS.iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "other.db").write_text('{"another": "file"}\n', encoding="utf-8")
    return tmp_path


def without_times(facts: Any) -> Any:
    """Leave out what the clock decides."""
    if isinstance(facts, dict):
        return {key: without_times(value) for key, value in facts.items() if "seconds" not in key}
    return [without_times(value) for value in facts] if isinstance(facts, list) else facts


def test_tables_are_printed_aligned_with_box_proof_and_next_steps(folder: Path) -> None:
    run = shortlist(
        "compare", "phone.uvl", *COST, *FEW, "--methods", "solrep,ibed,diagram", "--out", "r.html",
        "--out", "joint.parquet", "--details", cwd=folder,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    first, rest = run.stdout.split("\n\n", 1)
    assert first.startswith("First by hypervolume")
    lines = rest.splitlines()
    start = lines.index("Methods, all runs together")
    table = lines[start + 1 : start + 5]
    assert table[0].split() == [
        "method", "runs", "points", "valid", "joint", "unique", "dominated", "complete", "HV", "SP", "IGD+", "epsilon",
        "seconds",
    ]  # fmt: skip
    assert [row.split()[0] for row in table[1:]] == ["solrep", "ibed", "diagram"]
    assert len({len(row) for row in table}) == 1
    assert any(line.startswith("solrep, ibed ") for line in lines)
    front = Front.load(folder / "joint.parquet")
    assert f"Joint front: {len(front)} points" in lines[1]
    assert {"diagram"} <= set(front.extras["found_by"][0])
    shown = shortlist("front", "show", "joint.parquet", cwd=folder)
    assert shown.returncode == 0
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "Methods, all runs together" in page
    assert 'class="explorer"' in page


def test_json_has_everything(folder: Path) -> None:
    run = shortlist(
        "compare",
        "phone.uvl",
        *COST,
        *FEW,
        "--methods",
        "solrep, ibea, exact",
        "--seed",
        "4",
        "--json",
        cwd=folder,
    )
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    assert (facts["command"], facts["method"], facts["status"]) == ("compare", "comparison", "optimal")
    assert (facts["n_runs"], facts["n_runs_wanted"], facts["interrupted"]) == (4, 4, False)
    assert facts["box"] == facts["ranges"]  # both are minimised
    assert [(run["method"], run["seed"]) for run in facts["runs"]] == [
        ("solrep", 4), ("ibea", 4), ("ibea", 5), ("exact", 4),
    ]  # fmt: skip
    exact = next(row for row in facts["methods"] if row["method"] == "exact")
    assert (exact["share"], exact["union"]["n_points"]) == (1.0, facts["n_points"])
    assert len(facts["pairs"]) == 3
    assert facts["out"] is facts["report"] is facts["study"] is None
    assert facts["seconds"] > 0


def test_what_is_proved_of_a_mixed_joint_front_is_told(folder: Path) -> None:
    command = ["compare", "phone.uvl", *COST, *FEW, "--methods", "solrep,ibed", "--set", "points=0"]
    run = shortlist(*command, cwd=folder)
    facts = json.loads(shortlist(*command, "--json", cwd=folder).stdout)
    assert 0 < facts["n_proved"] < facts["n_points"]
    assert facts["proof"] == "approximate"
    assert f"{facts['n_proved']} of them proved non-dominated, of the others nothing proved." in run.stdout


def test_what_is_found_does_not_depend_on_the_number_of_workers(folder: Path) -> None:
    command = ["compare", "phone.uvl", *COST, *FEW, "--methods", "solrep,ibed,ibea,satibea", "--json"]
    one, two = (json.loads(shortlist(*command, "--workers", jobs, cwd=folder).stdout) for jobs in ("1", "2"))
    assert (one.pop("options")["workers"], two.pop("options")["workers"]) == (1, 2)
    assert without_times(one) == without_times(two)


def test_a_contradiction_is_an_answer_and_writes_nothing(folder: Path) -> None:
    before = sorted(folder.iterdir())
    arguments = [
        "phone.uvl", *COST, "--select", "Basic", "--select", "GPS", "--out", "x.parquet", "--out", "x.html",
    ]  # fmt: skip
    run = shortlist("compare", *arguments, cwd=folder)
    assert run.returncode == 0, run.stderr
    assert "Status infeasible" in run.stdout
    assert "GPS is required" in run.stdout
    facts = json.loads(shortlist("compare", *arguments, "--json", cwd=folder).stdout)
    assert (facts["status"], facts["n_runs"], len(facts["conflict"]), facts["out"]) == (
        "infeasible",
        0,
        3,
        None,
    )
    assert sorted(folder.iterdir()) == before


def test_limits_that_no_product_meets_are_an_answer(folder: Path) -> None:
    for methods, status in (("ibea", "unknown"), ("ibea,exact", "infeasible")):
        command = ["compare", "phone.uvl", *COST, *FEW[:4], "--methods", methods, "--limit", "cost<=1"]
        run = shortlist(*command, "--out", "x.html", cwd=folder)
        assert run.returncode == 0, run.stderr
        assert f"Status {status}: no method found a product." in run.stdout
        facts = json.loads(shortlist(*command, "--json", cwd=folder).stdout)
        assert (facts["status"], facts["n_points"], facts["box"]) == (status, 0, {})
        assert not (folder / "x.html").exists()


def test_objectives_attributes_and_fixed_features_are_those_of_configure(folder: Path) -> None:
    (folder / "phone.dimacs.augment").write_text(
        "#FEATURE_INDEX COST USED_BEFORE DEFECTS\n"
        + "".join(f"{i} {i}.5 {i % 2} {i % 3}\n" for i in range(1, 11))
    )
    (folder / "wish.txt").write_text("GPS\n-Camera\n")
    run = shortlist(
        "compare",
        "phone.dimacs",
        "--decisions",
        "wish.txt",
        *FEW[:4],
        "--methods",
        "diagram,ibea",
        "--json",
        cwd=folder,
    )
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    assert [o["name"] for o in facts["objectives"]] == ["deselected", "not_used_before", "defects", "cost"]
    assert "phone.dimacs.augment" in facts["notes"][0]
    assert facts["attributes"]["cost"] == "phone.dimacs.augment"


@refusals("compare")
def test_bad_input_is_one_sentence_and_exit_2(folder: Path, refused: Callable[[Path], None]) -> None:
    refused(folder)


@pytest.mark.slow
def test_the_chat_system_has_its_published_front_and_indicators(data_folder: Path, tmp_path: Path) -> None:
    folder = data_folder / "feature-models"
    prices = (folder / "paper-instances" / "attributes" / "ChatSystem_PREDEFINE_ONE.csv").read_text()
    (tmp_path / "attributes.csv").write_text(prices.replace("Enrcyption", "Encryption"))
    run = shortlist(
        "compare", folder / "splot" / "jcs.sxfm.xml",
        "--attributes", "attributes.csv", "--methods", "diagram,ibed,solrep", "--set", "seeds=3",
        "--set", "evaluations=3000", "--set", "points=30", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    rows = {row["method"]: row for row in facts["methods"]}
    assert facts["n_points"] == 39
    assert rows["diagram"]["union"]["hypervolume"] == pytest.approx(0.288548753, abs=1e-9)
    assert rows["diagram"]["union"]["spread"] == pytest.approx(0.691011983, abs=1e-9)
    assert rows["ibed"]["share"] >= 0.7
    assert rows["solrep"]["union"]["n_dominated"] == 0
