"""The command configure, as a user runs it."""

import json
import shutil
from pathlib import Path

import pytest

from shortlist.front import Front, ProofKind
from tests.cli.running import shortlist

MODELS = Path(__file__).parent.parent / "products" / "models"
COST = ("--objectives", "min deselected, min cost", "--default", "cost=0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the model of a phone and a table of defects."""
    for path in MODELS.iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "defects.csv").write_text(
        "feature,defects\nScreen,2\nGPS,5\nCam,1\nMP3,3\n", encoding="utf-8"
    )
    return tmp_path


def test_a_front_is_found_proved_saved_and_described_as_json(folder: Path) -> None:
    run = shortlist("configure", "phone.uvl", *COST, "--out", "front.parquet", "--json", cwd=folder)
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    front = Front.load(folder / "front.parquet")

    assert (facts["command"], facts["method"], facts["status"]) == ("configure", "diagram", "optimal")
    assert (facts["proof"], facts["missing"]) == ("complete", [0.0, 0.0])
    assert facts["objectives"] == [{"name": "deselected", "sense": "min"}, {"name": "cost", "sense": "min"}]
    assert facts["n_points"] == len(front) > 1
    assert facts["seconds"] > 0
    assert facts["out"] == "front.parquet"
    assert front.proof.kind is ProofKind.COMPLETE
    assert front.decisions[:, front.candidates.index("Phone")].all()
    assert set(front.decisions.ravel().tolist()) == {0, 1}


def test_people_read_the_proof_the_choice_of_method_and_the_next_step(folder: Path) -> None:
    run = shortlist("configure", "phone.uvl", *COST, "--select", "GPS", "--out", "front.parquet", cwd=folder)
    assert run.returncode == 0, run.stderr
    for words in ("complete", "diagram has", "min cost", "shortlist front show", "imply 1 more out: Basic"):
        assert words in run.stdout


def test_attributes_are_read_renamed_defaulted_and_rounded(folder: Path) -> None:
    run = shortlist(
        "configure", "phone.sxfm.xml", "--objectives", "max selected, min defects", "--attributes", "defects.csv",
        "--rename", "Cam=Camera", "--default", "defects=0.26", "--decimals", "1", "--json", cwd=folder,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    low, _ = facts["ranges"]["defects"]
    assert low == pytest.approx(2 + 3 * 0.3)  # Screen, and three features at the rounded default


def test_random_attributes_come_from_a_seed(folder: Path) -> None:
    command = ["configure", "phone.dimacs", "--objectives", "min cost, min defects", "--json"]
    ranges = [
        json.loads(shortlist(*command, "--random-attributes", seed, cwd=folder).stdout)["ranges"]
        for seed in ("1", "1", "2")
    ]
    assert ranges[0] == ranges[1] != ranges[2]


def test_a_contradiction_is_an_answer_with_its_reasons(folder: Path) -> None:
    arguments = ["--select", "Basic", "--select", "GPS", "--out", "front.parquet"]
    run = shortlist("configure", "phone.uvl", *COST, *arguments, "--json", cwd=folder)
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    assert (facts["status"], facts["n_points"], facts["out"]) == ("infeasible", 0, None)
    assert len(facts["conflict"]) == 3
    assert not (folder / "front.parquet").exists()
    people = shortlist("configure", "phone.uvl", *COST, *arguments, cwd=folder)
    assert "Status infeasible" in people.stdout
    assert "GPS is required" in people.stdout


def test_a_limit_that_no_product_meets_is_an_answer(folder: Path) -> None:
    run = shortlist(
        "configure", "phone.uvl", *COST, "--limit", "cost<=1", "--limit", "selected<=9", "--json", cwd=folder
    )
    facts = json.loads(run.stdout)
    assert (run.returncode, facts["status"], facts["conflict"]) == (0, "infeasible", ["limit cost<=1"])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["diagram", "exact", "cwmoip", "epsilon-constraint"])
def test_every_method_can_be_asked_for(method: str, folder: Path) -> None:
    run = shortlist(
        "configure", "phone.uvl", *COST, "--method", method, "--limit", "cost<=30", "--json", cwd=folder
    )
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    assert facts["status"] == "optimal"
    assert facts["ranges"]["cost"][1] <= 30
    assert facts["n_points"] > 2


def test_a_tolerance_is_stated_in_the_proof(folder: Path) -> None:
    run = shortlist("configure", "phone.uvl", *COST, "--tolerance", "cost=5", "--json", cwd=folder)
    facts = json.loads(run.stdout)
    assert facts["missing"][1] <= 5
    assert facts["missing"][0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["none.uvl", *COST], "cannot be read: No such file", id="missing model"),
        pytest.param(["defects.csv", *COST], "must be SXFM, UVL, FeatureIDE XML or DIMACS", id="not a model"),
        pytest.param(["phone.uvl", "--objectives", "cost"], "min cost, max selected", id="no sense"),
        pytest.param(
            ["phone.uvl", "--objectives", "min costs"], "Did you mean 'cost'?", id="unknown attribute"
        ),
        pytest.param(["phone.uvl", "--objectives", "min cost"], "Add them or give a default", id="gaps"),
        pytest.param(
            ["phone.uvl", "--objectives", "min note", "--default", "note=1"],
            "must be a number, got 'new'",
            id="text",
        ),
        pytest.param(["phone.uvl", *COST, "--limit", "cost about 3"], "must read like", id="limit"),
        pytest.param(["phone.uvl", *COST, "--select", "Radio"], "names no feature: 'Radio'", id="feature"),
        pytest.param(
            ["phone.uvl", *COST, "--select", "GPS", "--deselect", "GPS"], "at once", id="both in and out"
        ),
        pytest.param(["phone.uvl", *COST, "--fixed", "none.csv"], "cannot be read", id="missing wishes"),
        pytest.param(["phone.uvl", *COST, "--method", "guess"], "method must be one of", id="method"),
        pytest.param(["phone.uvl", *COST, "--tolerance", "price=1"], "tolerance names", id="tolerance"),
        pytest.param(["phone.uvl", *COST, "--tolerance", "cost"], "must read NAME=VALUE", id="no number"),
        pytest.param(
            ["phone.uvl", *COST, "--tolerance", "cost=x"], "must read NAME=NUMBER", id="not a number"
        ),
        pytest.param(
            ["phone.uvl", *COST, "--tolerance", "cost=1", "--method", "exact"], "diagram only", id="exact"
        ),
        pytest.param(["phone.uvl", *COST, "--time-limit", "0"], "seconds above 0", id="no time"),
        pytest.param(["phone.uvl", *COST, "--max-memory", "0"], "gigabytes above 0", id="no memory"),
        pytest.param(
            ["phone.uvl", *COST, "--solver", "abacus", "--method", "exact"], "solver must be one", id="solver"
        ),
        pytest.param(["phone.uvl", *COST, "--out", "no/x.parquet"], "folder does not exist", id="no folder"),
        pytest.param(["phone.uvl", *COST, "--attributes", "phone.uvl"], "column 'feature'", id="not a table"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(arguments: list[str], message: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    run = shortlist("configure", *arguments, cwd=folder)
    assert run.returncode == 2, run.stderr
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("shortlist: ")
    assert message in last
    assert run.stdout == ""
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("case", [("jcs", "ChatSystem_RAND2", 9), ("web-portal", "WebPortal_RAND1", 451)])
def test_real_product_lines_have_their_known_fronts(
    case: tuple[str, str, int], data_folder: Path, tmp_path: Path
) -> None:
    name, table, n_points = case
    folder = data_folder / "feature-models"
    run = shortlist(
        "configure", folder / "splot" / f"{name}.sxfm.xml",
        "--attributes", folder / "paper-instances" / "attributes" / f"{table}.csv", "--rename", "Enrcyption=Encryption",
        "--objectives", "min deselected, min not_used_before, min defects, min cost", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    assert (facts["n_points"], facts["proof"]) == (n_points, "complete")
