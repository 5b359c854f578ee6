"""Text of `shortlist compare`: the subject, the joint front, and a row per method."""

import dataclasses
import html
import json
from pathlib import Path

import numpy as np
import pytest

from shortlist.cli.options.product_questions import AskedQuestion
from shortlist.products.attributes import Attribute
from shortlist.products.configuration.feasibility import NO_REQUIREMENTS
from shortlist.products.model import make_group, make_model
from shortlist_papers.cli.compared_products import (
    answer_text,
    box_ranges,
    comparison_tables,
    print_product_comparison,
    product_comparison_facts,
    summary_lines,
    write_report,
)
from shortlist_papers.product_comparison import Comparison, compare_products

LINE = make_model(
    ["phone", "screen", "gps", "camera"],
    root=0,
    groups=[make_group(0, [1], "mandatory"), make_group(0, [2, 3], "optional")],
)
COST = {"cost": Attribute("cost", np.array([0, 30, 42, 20]), scale=10)}
GOALS = "min cost, max selected"
ASKED = AskedQuestion(LINE, GOALS, (), COST, {"cost": "prices.csv"}, NO_REQUIREMENTS, {}, ("A note.",))
FILES: dict[str, Path | None] = {"study": None, "report": None, "out": None}


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return compare_products(
        LINE, GOALS, ["diagram", "ibea"], attributes=COST, seeds=range(2), n_evaluations=200
    )


def test_the_summary_says_what_was_compared_what_is_proved_and_the_box(compared: Comparison) -> None:
    lines = summary_lines(Path("m.uvl"), compared, ASKED)
    assert lines[0] == "m.uvl: 4 features; min cost, max selected."
    assert lines[1] == "Joint front: 3 points, complete: every best trade-off is listed."
    assert box_ranges(compared) == {"cost": (3.0, 9.2), "selected": (4.0, 2.0)}
    assert lines[2].endswith("from best to worst: cost 3 to 9.2; selected 4 to 2.")
    stopped = summary_lines(Path("m.uvl"), dataclasses.replace(compared, n_wanted=9), ASKED)
    assert "Stopped after 3 of 9 runs." in stopped


def test_tables_have_a_row_per_method_medians_where_there_are_several_runs_and_pairs(
    compared: Comparison,
) -> None:
    methods, middle, pairs = comparison_tables(compared)
    assert [row[:3] for row in methods.rows] == [("diagram", "1", "3"), ("ibea", "2", "3")]
    assert methods.columns[7] == "complete"
    assert methods.rows[0][7] == "100.0 %"
    assert [row[0] for row in middle.rows] == ["ibea"]
    assert pairs.rows[0][:4] == ("diagram, ibea", "3", "3", "3")


def test_people_read_every_table_and_where_files_are(
    compared: Comparison, capsys: pytest.CaptureFixture[str]
) -> None:
    files = FILES | {"study": Path("s.db"), "report": Path("r.html"), "out": Path("j.parquet")}
    unfinished = dataclasses.replace(compared, n_wanted=9)
    print_product_comparison(Path("m.uvl"), unfinished, ASKED, files, details=True)
    said = capsys.readouterr().out
    for table in comparison_tables(compared):
        assert table.title in said
        assert "\n".join(table.lines()) in said
    assert "The runs that have ended are in s.db; the same command goes on from there." in said
    assert "Charts in r.html." in said
    assert "Joint front in j.parquet" in said
    print_product_comparison(Path("m.uvl"), unfinished, ASKED, files)
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("First by hypervolume")
    start = next(number for number, line in enumerate(lines) if line.startswith("method "))
    ordered = sorted(compared.rows, key=lambda row: (-row.union.hypervolume, row.seconds))
    assert [line.split()[0] for line in lines[start + 1 :]][: len(ordered)] == [row.method for row in ordered]
    assert "The runs that have ended are in s.db; the same command goes on from there." in lines


def test_facts_are_json_and_hold_every_run(compared: Comparison) -> None:
    facts = json.loads(json.dumps(product_comparison_facts(compared, ASKED)))
    assert (facts["status"], facts["n_points"], facts["interrupted"]) == ("optimal", 3, False)
    assert [(run["method"], run["seed"]) for run in facts["runs"]] == [
        ("diagram", 0),
        ("ibea", 0),
        ("ibea", 1),
    ]
    assert facts["notes"] == ["A note."]


def test_contradictions_are_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    none = compare_products(LINE, GOALS, ["diagram"], attributes=COST, limits=["cost<=1"], seeds=[0])
    facts = product_comparison_facts(none, ASKED)
    assert facts["status"] == "infeasible"
    print_product_comparison(Path("m.uvl"), none, ASKED, FILES)
    assert "infeasible" in capsys.readouterr().out


def test_the_page_has_the_same_sentences(compared: Comparison, tmp_path: Path) -> None:
    write_report(tmp_path / "r.html", Path("m.uvl"), compared, ASKED)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h1>Methods on m.uvl</h1>" in text
    assert f"<p>{html.escape(answer_text(compared))}</p>" in text.partition("<h2>What to do</h2>")[2]
    for line in ("A note.", *summary_lines(Path("m.uvl"), compared, ASKED)):
        assert f"<p>{html.escape(line)}</p>" in text
