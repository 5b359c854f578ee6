"""The dialogue of `shortlist configure --interactive`, as scripts."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shortlist.cli import dialogue as module
from shortlist.cli.deciding_lines import Deciding, act
from tests.cli.refusals import refusals
from tests.cli.running import Ran, shortlist
from tests.stored import Stored

MODEL = """features
    Phone {cost 10}
        mandatory
            Screen
                alternative
                    Basic {cost 2}
                    HD {cost 5.5}
        optional
            GPS {cost 4}
            Camera {cost 3}
constraints
    Camera => HD
"""
ASKED = [
    "configure", "m.uvl", "--objectives", "min cost, max selected", "--set", "default=cost=0", "--interactive",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.uvl").write_text(MODEL)
    return tmp_path


def typed(
    monkeypatch: pytest.MonkeyPatch, folder: Path, lines: str, *options: str, asked: list[str] = ASKED
) -> Ran:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
        return shortlist(*asked, *options, cwd=folder)


def test_a_configuration_from_the_first_line_to_the_last(
    monkeypatch: pytest.MonkeyPatch, folder: Path, stored: Stored
) -> None:
    lines = """open
cost gps
stage design
by Anna
select GPS
# a comment
why Camera
cost Camera
select HD
deselect Basic
decided
undo 2
left
finish by min cost
save phone.config
save phone.json
quit
open
"""
    run = typed(monkeypatch, folder, lines, "--limit", "cost<=18")
    assert (run.returncode, run.stderr) == (0, "")
    stored(run.stdout)
    assert (folder / "phone.config").read_text().count('manual="selected"') == 4
    kept = json.loads((folder / "phone.json").read_text())
    assert [stage["name"] for stage in kept["stages"]] == ["design"]
    assert kept["stages"][0]["decisions"][0] == {"feature": "GPS", "decision": "selected", "by": "Anna"}
    assert kept["stages"][0]["decisions"][-1]["by"] == "shortlist, min cost"


@pytest.mark.parametrize(
    "line",
    [
        "slect GPS", "zzzzzz", "select", "select GPX", "why GPS", "undo", "undo two", "undo 0", "save", "save d.txt",
        "save no/d.csv", "save m.uvl", "save d.config", "load", "load gone.json", "load m.uvl", "finish", "finish by cost",
        "finish by min cost, max selected", "finish by min price", "select GPS\nselect GPS", "open xyz", "decided", "stage",
        "by", "stage x\x1b[2Ky", "by x\u2028y", "help",
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_followed_is_one_sentence_and_the_dialogue_goes_on(
    monkeypatch: pytest.MonkeyPatch, folder: Path, line: str, stored: Stored
) -> None:
    run = typed(monkeypatch, folder, f"{line}\nopen\n")
    assert run.returncode == 0, run.stderr
    stored(run.stdout.replace(f"{folder}/", ""))
    assert any(text.startswith("Basic, HD") for text in run.stdout.splitlines())
    assert sorted(path.name for path in folder.iterdir()) == ["m.uvl"]


def test_what_was_decided_and_not_saved_is_said_as_lines_that_can_be_typed_again(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    first = typed(monkeypatch, folder, "select GPS\ndeselect HD\n")
    said = first.stdout.partition("Decided and not saved:\n")[2]
    assert said == "  select GPS\n  deselect HD\n"
    again = typed(monkeypatch, folder, f"{said}save d.csv\nquit\n")
    assert "not saved" not in again.stdout
    assert (folder / "d.csv").read_text() == ("feature,decision,stage,by\nGPS,selected,,\nHD,deselected,,\n")
    loaded = typed(monkeypatch, folder, "load d.csv\nload d.csv\nundo\n")
    assert "follow" in loaded.stdout
    assert "The file decides nothing new." in loaded.stdout
    assert loaded.stdout.splitlines()[-1].startswith("4 of 6 features are open")


@pytest.mark.parametrize("name", ["d.json", "d.csv", "d.uvl", "d.config"])
def test_nothing_is_left_to_save_after_either_kind_of_file(
    monkeypatch: pytest.MonkeyPatch, folder: Path, name: str
) -> None:
    run = typed(monkeypatch, folder, f"select GPS\nfinish by min cost\nsave {name}\nquit\n")
    assert "not saved" not in run.stdout
    assert (folder / name).exists()


@pytest.mark.parametrize(
    ("lines", "code", "said"),
    [
        pytest.param("select GPS\n", 0, "Decided and not saved:\n  select GPS\n", id="what was decided is said"),
        pytest.param("open\n", 130, "", id="nothing was decided"),
    ],
)  # fmt: skip
def test_an_interruption_ends_the_dialogue(
    monkeypatch: pytest.MonkeyPatch, folder: Path, lines: str, code: int, said: str
) -> None:
    def interrupted() -> Iterator[str]:
        yield from lines.splitlines()
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "typed_lines", interrupted)
    run = shortlist(*ASKED, cwd=folder)
    assert run.returncode == code
    assert run.stdout.endswith(said)
    assert run.stderr == ("shortlist: interrupted; nothing was decided.\n" if code else "")


def test_an_error_that_nobody_foresaw_loses_no_decision(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    def fails(deciding: Deciding, line: str) -> Deciding:
        if line == "fail":
            raise ArithmeticError
        return act(deciding, line)

    monkeypatch.setattr(module, "act", fails)
    run = typed(monkeypatch, folder, "select GPS\ndeselect HD\nfail\n")
    assert run.returncode == 70
    said = "Decided and not saved:\n  select GPS\n  deselect HD\nshortlist: something went wrong"
    assert run.stderr.startswith(said)


def test_json_is_one_object_with_the_state_and_what_was_answered(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    run = typed(
        monkeypatch, folder, "stage design\nselect GPS\nselect GPX\n", "--json", "--limit", "cost<=18"
    )
    facts = json.loads(run.stdout)
    assert run.returncode == 0
    assert (facts["command"], facts["method"], facts["status"]) == ("configure", "interactive", "feasible")
    assert facts["decisions"] == [{"feature": "GPS", "decision": "selected", "stage": "design", "by": ""}]
    assert (facts["selected"], facts["open"]) == (["Phone", "Screen", "Basic", "GPS"], [])
    assert (facts["n_products"], facts["complete"], facts["saved"]) == ("1", True, False)
    assert facts["values_left"][1] == {
        "name": "selected", "sense": "max", "ideal": 4, "ideal_bound": 4, "worst": 4, "worst_bound": 4,
    }  # fmt: skip
    assert [one["line"] for one in facts["dialogue"]] == ["stage design", "select GPS", "select GPX"]
    assert facts["dialogue"][2]["answer"][0].startswith("the line names no feature: 'GPX'.")
    assert "GPS is selected (stage design)." in run.stderr


def test_what_the_command_line_decides_is_decided_first(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    (folder / "first.csv").write_text("feature,decision\nHD,deselected\n")
    run = typed(monkeypatch, folder, "decided\n", "--decisions", "first.csv", "--select", "GPS")
    assert run.stdout.splitlines()[0] == "2 features follow: in: Basic; out: Camera"
    assert "HD is deselected (stage first)\nGPS is selected\n" in run.stdout
    none = typed(monkeypatch, folder, "", "--limit", "cost<=1")
    assert none.returncode == 2
    assert "no product is left: limit cost<=1: the least cost of a product is " in none.stderr


def test_a_model_without_attributes_is_configured_too(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "plain.uvl").write_text("features\n    Shop\n        optional\n            Card\n")
    run = typed(monkeypatch, folder, "select Card\n", asked=["configure", "plain.uvl", "--interactive"])
    assert run.returncode == 0
    assert "  min selected: 1 feature to 2 features" in run.stdout
    assert "note: Objectives by default: min selected." in run.stderr


@refusals("dialogue")
def test_options_of_a_search_do_not_go_with_a_dialogue(folder: Path, refused: Callable[[Path], None]) -> None:
    refused(folder)


def test_stages_in_files_are_part_of_the_question_of_a_front(folder: Path) -> None:
    (folder / "design.csv").write_text("feature,decision,by\nGPS,selected,Anna\n")
    (folder / "sales.json").write_text(
        '{"format": "shortlist decisions", "version": 1, "stages": [{"name": "sales", "decisions": '
        '[{"feature": "Basic", "decision": "selected"}]}]}'
    )
    asked = [*ASKED[:-1], "--decisions", "design.csv", "--json"]
    facts = json.loads(shortlist(*asked, "--decisions", "sales.json", cwd=folder).stdout)
    assert facts["ranges"]["cost"] == [16, 16]
    assert facts["decisions"] == [
        {"feature": "GPS", "decision": "selected", "stage": "design", "by": "Anna"},
        {"feature": "Basic", "decision": "selected", "stage": "sales", "by": ""},
    ]
    (folder / "late.csv").write_text("feature,decision\nPhone,selected\nCamera,selected\n")
    run = shortlist(*asked, "--decisions", "sales.json", "--decisions", "late.csv", cwd=folder)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "shortlist: late.csv: Camera cannot be selected: Basic is selected (stage sales); exactly one of Basic, "
        "HD below Screen; Camera => HD (line 12) contradict this.\n"
    )
