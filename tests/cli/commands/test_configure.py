"""The command configure, as a user runs it."""

import gzip
import io
import json
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shortlist import __version__
from shortlist.results.front import Front
from shortlist.results.objective import OPERATORS
from shortlist.results.proof import ProofKind
from shortlist.runs import open_study
from tests.cli.refusals import is_refused, refusals, refuse
from tests.cli.running import done, facts_of, shortlist
from tests.stored import Stored

MODELS = Path(__file__).parents[2] / "products" / "models"
PHONE = ("Phone", "Calls", "Screen", "Basic", "Colour", "High resolution", "GPS", "Media", "Camera", "MP3")
COST = ("--objectives", "min deselected, min cost", "--set", "default=cost=0")
PRICED = ["configure", "phone.uvl", *COST]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model of a phone, tables of attributes and files that are wrong; tests add to it."""
    folder = tmp_path_factory.mktemp("phone")
    for path in MODELS.iterdir():
        shutil.copy(path, folder)
    (folder / "defects.csv").write_text("feature,defects\nScreen,2\nGPS,5\nCam,1\nMP3,3\n")
    (folder / "named.csv").write_text("feature,defects\nScreen,2\nGPS,5\nCamera,1\nMP3,3\n")
    rows = [f"{name},{i}.5,{i % 2},{i % 3}" for i, name in enumerate(PHONE)]
    (folder / "all.csv").write_text("\n".join(["feature,cost,not_used_before,defects", *rows]) + "\n")
    bad = [f'{name},"12,50",{i}' if name == "Screen" else f"{name},{i},{i}" for i, name in enumerate(PHONE)]
    (folder / "bad.csv").write_text("\n".join(["feature,cost,risk", *bad]) + "\n")
    empty = [f"{name},,{i}" for i, name in enumerate(PHONE)]
    (folder / "empty.csv").write_text("\n".join(["feature,cost,risk", *empty]) + "\n")
    (folder / "bad.uvl").write_text(
        "features\n\tA {cost 1, risk 2}\n\t\toptional\n\t\t\tC {cost 3, risk 1}\n\t\t\tB {cost 'n/a', risk 1}\n"
    )
    (folder / "bad.xml").write_text(
        '<featureModel><struct><and name="A"><attribute name="cost" type="long" value="1"/>\n'
        '<feature name="C"><attribute name="cost" type="long" value="3"/></feature>\n'
        '<feature name="B"><attribute name="cost" type="long" value="€5"/></feature></and></struct></featureModel>\n',
        encoding="utf-8",
    )
    shutil.copy(folder / "phone.dimacs", folder / "beside.dimacs")
    augment = [f"{i} {'1e300' if i == 3 else i} {i % 2} 1" for i in range(1, 11)]
    (folder / "beside.dimacs.augment").write_text(
        "\n".join(["#FEATURE_INDEX COST USED_BEFORE DEFECTS", *augment]) + "\n"
    )
    (folder / "screens.csv").write_text("feature,worth\nScreen,2\n", encoding="utf-8")
    (folder / "other.db").write_text('{"another": "file"}\n', encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def found(folder: Path) -> Any:
    """JSON on the cheapest phones with most features; `found.parquet` has their front."""
    return facts_of(*PRICED, "--out", "found.parquet", cwd=folder)


def test_the_empty_product_is_told_where_the_model_allows_it(folder: Path, stored: Stored) -> None:
    (folder / "free.dimacs").write_text("p cnf 2 1\n-1 2 0\n")
    facts = facts_of("configure", "free.dimacs", "--objectives", "min selected", cwd=folder)
    said = "the product without any feature"
    assert [note for note in facts["notes"] if said in note]
    stored(done("configure", "free.dimacs", "--objectives", "min selected", cwd=folder))
    assert said not in done(*PRICED, cwd=folder).stdout


def test_a_spreadsheet_is_read_as_it_is_and_advice_works_as_typed(folder: Path) -> None:
    priced = [name for name in PHONE if name not in {"Screen", "GPS"}]
    rows = [f"{name},{i}.5" for i, name in enumerate(priced)] + ["Sum,99", "VAT,19"]
    (folder / "sheet.csv").write_text("\n".join(["FEATURE,Cost (EUR)", *rows]) + "\n")
    asked = ["configure", "phone.uvl", "--attributes", "sheet.csv"]
    asked += ["--objectives", "min cost (eur), max selected"]
    refuse(*asked, "--json", message="--set ignore-unknown=yes", cwd=folder)
    asked += ["--set", "ignore-unknown=yes"]
    advice = "pass --set 'default=cost (eur)=0'"
    refuse(*asked, message=advice, cwd=folder)
    as_headed = facts_of(*asked, "--set", "default=Cost (EUR)=0", cwd=folder)
    facts = facts_of(*asked, *shlex.split(advice)[1:], cwd=folder)
    assert as_headed["ranges"] == facts["ranges"]
    assert any("passed over 2 rows" in note and "Sum and VAT" in note for note in facts["notes"])


def test_a_front_is_found_proved_saved_and_described_as_json(folder: Path, found: Any) -> None:
    front = Front.load(folder / "found.parquet")

    assert (found["command"], found["method"], found["status"]) == ("configure", "diagram", "optimal")
    assert (found["seed"], found["version"]) == (0, __version__)
    assert found["options"]["default"] == "cost=0"
    assert (found["proof"], found["missing"]) == ("complete", [0.0, 0.0])
    assert found["objectives"] == [{"name": "deselected", "sense": "min"}, {"name": "cost", "sense": "min"}]
    assert found["n_points"] == len(front) > 1
    assert found["seconds"] > 0
    assert found["out"] == "found.parquet"
    assert front.proof.kind is ProofKind.COMPLETE
    assert front.decisions[:, front.candidates.index("Phone")].all()
    assert set(front.decisions.ravel().tolist()) == {0, 1}


@pytest.mark.usefixtures("found")
def test_attributes_come_from_standard_input_in_any_format(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Front.load(folder / "found.parquet").candidates
    rows = "".join(f"{name}\t{place}.50\n" for place, name in enumerate(names))
    content = io.BytesIO(("feature\tprice\n" + rows).encode("utf-16"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    facts = facts_of(
        "configure", "phone.uvl", "--attributes", "-", "--objectives", "min deselected, min price",
        cwd=folder,
    )  # fmt: skip
    assert facts["attributes"] == {"price": "standard input"}
    assert "standard input: its columns are separated by tabs." in facts["notes"]


@pytest.mark.parametrize("operator", OPERATORS)
def test_limits_have_the_operators_of_every_command(operator: str, folder: Path) -> None:
    command = ["configure", "phone.dimacs", "--attributes", "bad.csv"]
    command += ["--objectives", "min deselected, min risk"]
    facts = facts_of(*command, "--limit", f"Selected {operator} 6", cwd=folder)

    low, high = facts["ranges"]["deselected"]
    compare = {"<=": low >= 4, "<": low > 4, ">=": high <= 4, ">": high < 4, "==": low == high == 4}
    assert compare[operator]


def test_a_front_is_written_as_a_table_where_the_name_says_so(folder: Path) -> None:
    people = done(*PRICED, "--out", "front.csv", cwd=folder)
    assert "shortlist front show" not in people.stdout  # which cannot read it
    header = (folder / "front.csv").read_text(encoding="utf-8").split("\n")[0]
    assert header.startswith("point,objective: min deselected,objective: min cost,feature: Phone,")


def test_people_read_the_proof_the_choice_of_method_and_the_next_step(folder: Path) -> None:
    command = [*PRICED, "--select", "GPS", "--out", "front.parquet"]
    run = done(*command, cwd=folder)
    front = Front.load(folder / "front.parquet")
    assert run.stdout.startswith(f"Take point {front.pick('knee').index} of {len(front)}, the knee: ")
    assert "imply 1 more out: Basic" in run.stdout
    assert "diagram has" not in run.stdout
    assert "diagram has" in shortlist(*command, "--details", cwd=folder).stdout


def test_attributes_are_read_and_defaulted(folder: Path) -> None:
    facts = facts_of(
        "configure", "phone.sxfm.xml", "--objectives", "max selected, min defects", "--attributes",
        "named.csv", "--set", "default=defects=0.26", cwd=folder,
    )  # fmt: skip
    low, _ = facts["ranges"]["defects"]
    assert low == pytest.approx(2 + 3 * 0.26)  # Screen, and three features at the default


def test_random_attributes_come_from_a_seed(folder: Path) -> None:
    command = ["configure", "phone.dimacs", "--objectives", "min cost, min defects", "--attributes"]
    ranges = [facts_of(*command, f"random:{seed}", cwd=folder)["ranges"] for seed in (1, 1, 2)]
    assert ranges[0] == ranges[1] != ranges[2]


def test_a_contradiction_is_an_answer_with_its_reasons(folder: Path) -> None:
    arguments = ["--select", "Basic", "--select", "GPS", "--out", "never.parquet"]
    facts = facts_of(*PRICED, *arguments, cwd=folder)
    assert (facts["status"], facts["n_points"], facts["out"]) == ("infeasible", 0, None)
    assert len(facts["conflict"]) == 3
    assert not (folder / "never.parquet").exists()


def test_a_limit_that_no_product_meets_is_an_answer(folder: Path, stored: Stored) -> None:
    facts = facts_of(*PRICED, "--limit", "cost<=1", "--limit", "selected<=9", cwd=folder)
    assert facts["status"] == "infeasible"
    (sentence,) = facts["conflict"]
    assert sentence.startswith("limit cost<=1: ")
    stored(shortlist(*PRICED, "--limit", "cost<=1", cwd=folder))


def test_advice_on_a_contradiction_can_be_followed(folder: Path) -> None:
    asked = ["--limit", "cost<=14", "--limit", "deselected<=2", "--select", "GPS"]
    facts = facts_of(*PRICED, *asked, cwd=folder)
    people = shortlist(*PRICED, *asked, "--out", "never.html", cwd=folder).stdout
    assert facts["enough"]
    for changes in facts["enough"]:
        words = list(asked)
        for text in changes:
            assert f"\n  {text}\n" in people
            if text.startswith("limit "):
                after, before = text.removeprefix("limit ").split(" in place of ")
                words[words.index(before)] = after
            else:
                place = words.index(text.removesuffix(" is no longer required"))
                del words[place - 1 : place + 1]
        assert facts_of(*PRICED, *words, cwd=folder)["status"] == "optimal"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["diagram", "exact", "cwmoip", "epsilon-constraint"])
def test_every_method_can_be_asked_for(method: str, folder: Path) -> None:
    facts = facts_of(*PRICED, "--method", method, "--limit", "cost<=30", cwd=folder)
    assert facts["status"] == "optimal"
    assert facts["ranges"]["cost"][1] <= 30
    assert facts["n_points"] > 2


def test_a_tolerance_is_stated_in_the_proof(folder: Path) -> None:
    facts = facts_of(*PRICED, "--set", "tolerance=cost=5", cwd=folder)
    assert facts["missing"][1] <= 5
    assert facts["missing"][0] == 0


@pytest.mark.parametrize(
    ("options", "proof"),
    [
        (["--set", "rule=adaptive", "--set", "solve-limit=9", "--seed", "2"], "complete"),
        (["--set", "rule=hit-and-run", "--workers", "2"], "nondominated"),
    ],
)
def test_methods_that_find_a_part_of_the_front_say_what_is_proved(
    options: list[str], proof: str, folder: Path
) -> None:
    command = [*PRICED, "--method", "solrep", "--set", "points=6", *options]
    facts = facts_of(*command, "--out", "front.parquet", cwd=folder)
    assert (facts["method"], facts["proof"]) == ("solrep", proof)
    assert facts["status"] == ("optimal" if proof == "complete" else "feasible")
    assert len(Front.load(folder / "front.parquet")) == facts["n_points"] > 0
    people = shortlist(*command, "--details", cwd=folder).stdout
    assert facts["work"]["n_unproved"] == 0
    assert ("best found" in people) == (proof != "complete")


def test_a_study_is_named_and_gone_on_from(folder: Path) -> None:
    command = [*PRICED, "--method", "solrep", "--set", "points=5", "--study", "study.db"]
    first = facts_of(*command, cwd=folder)
    with open_study(folder / "study.db") as study:
        before = study.results()
    again = shortlist(*command, "--json", cwd=folder)
    assert f"note: {len(before)} finished units came from study.db" in again.stderr
    second = json.loads(again.stdout)
    assert (first["study"], first["n_points"]) == ("study.db", second["n_points"])
    assert len(before) > 3
    is_refused(shortlist(*command, "--seed", "7", cwd=folder), "seed was 0 there and is 7 now.")
    with open_study(folder / "study.db") as study:
        assert study.results() == before


def test_a_method_that_keeps_nothing_in_a_study_says_so(folder: Path) -> None:
    for _ in range(2):
        assert "nothing is kept in empty.db" in done(*PRICED, "--study", "empty.db", cwd=folder).stderr


def test_objectives_are_every_attribute_if_none_is_named(folder: Path, stored: Stored) -> None:
    rows = "".join(f"{name},1.5,2,x\n" for name in PHONE)
    (folder / "more.csv").write_text("feature,cost,risk,label\n" + rows, encoding="utf-8")
    run = done("configure", "phone.uvl", "--attributes", "more.csv", "--json", cwd=folder)
    facts = json.loads(run.stdout)
    assert [(o["sense"], o["name"]) for o in facts["objectives"]] == [
        ("min", "deselected"), ("min", "cost"), ("min", "risk"),
    ]  # fmt: skip
    assert facts["attributes"] == {"cost": "more.csv", "risk": "more.csv"}
    assert facts["left_out"] == {"label": "its values are texts", "note": "its values are texts"}
    told = [line for line in run.stderr.splitlines() if "note:" in line]
    assert told == [f"shortlist: note: {note}" for note in facts["notes"]]
    stored("\n".join(told), shortlist("configure", "phone.dimacs", "--attributes", "random:1", cwd=folder))


@pytest.mark.parametrize("model", ["phone.dimacs", "phone.dimacs.gz"])
def test_an_attribute_file_beside_the_model_is_taken_and_named(
    model: str, folder: Path, tmp_path: Path, stored: Stored
) -> None:
    plain = (folder / "phone.dimacs").read_bytes()
    (tmp_path / model).write_bytes(gzip.compress(plain) if model.endswith(".gz") else plain)
    rows = "".join(f"{i} {i}.123456789012 {i % 2} {i % 3}\n" for i in range(1, 11))
    (tmp_path / "phone.dimacs.augment").write_text("#FEATURE_INDEX COST USED_BEFORE DEFECTS\n" + rows)
    run = done("configure", model, cwd=tmp_path)
    stored(run)
    exact = shortlist("configure", model, "--objectives", "min defects, min selected", cwd=tmp_path)
    assert "rounded" not in exact.stderr
    other = shortlist("configure", model, "--attributes", "random:1", cwd=tmp_path)
    assert "beside the model" not in other.stderr


def test_customers_of_a_model_get_the_best_of_all_products(folder: Path, stored: Stored) -> None:
    (folder / "wishes.csv").write_text("Kunde;GPS;most cost\nAnn;ja;20\nBob;nein;0,5\nEve;;\n")
    command = ["configure", "phone.uvl", "--objectives", "min cost", "--set", "default=cost=0"]
    served = [*command, "--customers", "wishes.csv"]
    facts = facts_of(*served, "--out", "served.csv", "--out", "served.html", cwd=folder)
    assert (facts["method"], facts["status"]) == ("customers", "optimal")
    found = {one["name"]: one for one in facts["service"]["customers"]}
    values = {one["index"]: one["values"]["cost"] for one in facts["service"]["products"]}
    assert values[found["Eve"]["index"]] == facts_of(*command, cwd=folder)["ranges"]["cost"][0]
    assert "cost<=0.5 (has " in found["Bob"]["gives_up"][0]
    assert (folder / "served.csv").read_text().startswith("customer,product,objective: min cost,wishes,")
    assert "Who gets what" in (folder / "served.html").read_text()
    told = done(*served, cwd=folder)
    stored(told)


@refusals("configure")
def test_bad_input_is_one_sentence_and_exit_2(folder: Path, refused: Callable[[Path], None]) -> None:
    refused(folder)


@pytest.mark.parametrize("case", [("jcs", "ChatSystem_RAND2", 9), ("web-portal", "WebPortal_RAND1", 451)])
def test_real_product_lines_have_their_known_fronts(
    case: tuple[str, str, int], data_folder: Path, tmp_path: Path
) -> None:
    name, table, n_points = case
    folder = data_folder / "feature-models"
    prices = (folder / "paper-instances" / "attributes" / f"{table}.csv").read_text()
    (tmp_path / "attributes.csv").write_text(prices.replace("Enrcyption", "Encryption"))
    facts = facts_of(
        "configure", folder / "splot" / f"{name}.sxfm.xml", "--attributes", "attributes.csv", "--objectives",
        "min deselected, min not_used_before, min defects, min cost", cwd=tmp_path,
    )  # fmt: skip
    assert (facts["n_points"], facts["proof"]) == (n_points, "complete")


def test_where_nothing_is_found_in_time_the_method_is_the_one_asked_for(folder: Path) -> None:
    run = shortlist(*PRICED, "--time-limit", "1e-9", "--json", cwd=folder)
    assert json.loads(run.stdout)["method"] == "auto"
