"""`shortlist model check`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from shortlist.tables.files import read_table_file
from tests.cli.refusals import refusals
from tests.cli.running import shortlist
from tests.stored import Stored

MODEL = """features
    Phone {cost 1}
        mandatory
            Screen {cost 2.5}
                alternative
                    Small {cost 0}
                    Big {cost 4}
        optional
            GPS {cost 3}
constraints
    GPS => Big
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.uvl").write_text(MODEL, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_front_in_a_spreadsheet_is_as_it_was_found(ending: str, folder: Path) -> None:
    asked = ["--objectives", "min cost, max selected", "--out", f"f.{ending}"]
    assert shortlist("configure", "m.uvl", *asked, cwd=folder).returncode == 0
    run = shortlist("model", "check", "m.uvl", f"f.{ending}", "--json", cwd=folder)
    facts = json.loads(run.stdout)
    assert (run.returncode, facts["status"], facts["n_wrong"]) == (0, "valid", 0)
    assert facts["rows"][0]["values"] == {"min cost": 3.5, "max selected": 3.0}


def test_rows_that_are_no_products_are_told_with_the_rules(folder: Path, stored: Stored) -> None:
    (folder / "p.csv").write_text(
        "objective: min cost,Phone,Screen,Small,Big,GPS\n3.5,1,1,1,0,0\n6.5,1,1,1,0,1\n7,1,1,0,1,0\n",
        encoding="utf-8",
    )
    run = shortlist("model", "check", "m.uvl", "p.csv", "--out", "w.xlsx", cwd=folder)
    stored(run)
    told = read_table_file(folder / "w.xlsx")
    assert told["row"].tolist() == [2, 3, 4]
    assert told["objective: min cost"].tolist() == [3.5, 6.5, 7.5]

    limits = ["--limit", "cost<=7", "--deselect", "GPS"]
    facts = json.loads(shortlist("model", "check", "m.uvl", "p.csv", *limits, "--json", cwd=folder).stdout)
    assert [len(row["broken"]) for row in facts["rows"]] == [0, 2, 1]
    assert facts["rows"][1]["broken"][-1] == "required: !GPS"


@refusals("model-check")
def test_what_makes_no_sense_is_refused_in_a_sentence(folder: Path, refused: Callable[[Path], None]) -> None:
    (folder / "p.csv").write_text("Phone,Screen,Small,Big,GPS\n1,1,1,0,0\n", encoding="utf-8")
    (folder / "a.csv").write_text("feature,weight2\nPhone,1\n", encoding="utf-8")
    refused(folder)
