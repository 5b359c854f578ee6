"""The paper on product lines: every row of every table, at every scale."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.studies.paper_results import rows_of
from shortlist.runs import Budget, Work, open_study
from shortlist_papers.claims import UNMEASURED, ClaimFinding
from shortlist_papers.paper import SCALES, Extent, ResultTable, check_extent, claims_table, reproduce
from shortlist_papers.product_lines import SEEDS, SYSTEMS, prepared_question, seed_products
from shortlist_papers.product_rows import ProductRows
from shortlist_papers.product_runs import (
    BY_TEXT,
    LINUX,
    NAMES,
    PAPER_3,
    PAPER_4,
    PAPER_RQ_2,
    PAPER_SIZES,
    REPEATED_S,
    SHORT,
    measure_complete,
    measure_evolved,
    measure_model,
    measure_solrep,
)
from shortlist_papers.product_tables import CONTENTS, product_tables
from shortlist_papers.products import JCS, PORTAL, PRODUCTS, SIZES, TABLE_5

EVERY = (*JCS, *PORTAL)
LABELS = {system: f"{NAMES[system[0]]} {system[1] + 1}" for system in (*EVERY, *TABLE_5)}
TWELVE = (
    "jcs 1", "jcs 2", "web-portal 1", "web-portal 2", "e-shop 1", "e-shop 2", "ecos 1", "ecos 2",
    "uclinux 1", "uclinux 2", "compact-linux 1", "compact-linux 2",
)  # fmt: skip
"""The rows of the paper's Table 5."""


@pytest.fixture
def made_folder(tmp_path: Path) -> Path:
    """Return a folder where each file of the study is there, and empty."""
    place = tmp_path / "feature-models"
    for system in SYSTEMS.values():
        for name in system.attributes:
            (place / "paper-instances" / "attributes").mkdir(parents=True, exist_ok=True)
            (place / "paper-instances" / "attributes" / name).touch()
        (place / system.model).parent.mkdir(parents=True, exist_ok=True)
        (place / system.model).touch()
    return tmp_path


def _keys(folder: Path | None, extent: Extent) -> list[str]:
    return [unit.key for unit in PRODUCTS.plan(folder, extent).units]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", TWELVE)
def test_each_row_of_table_5_is_measured_at_every_scale(made_folder: Path, name: str, scale: str) -> None:
    keys = _keys(made_folder, Extent(scale, ("table-5",), tuple(SYSTEMS)))
    assert any(key.startswith(f"{name}/solrep") for key in keys)
    assert f"{name}/ibed 0" in keys


def test_at_the_size_of_the_paper_runs_have_its_seeds_and_reference_points(made_folder: Path) -> None:
    keys = _keys(made_folder, Extent("paper"))
    for name in TWELVE:
        splot = name.startswith(("jcs", "web", "e-shop"))
        assert f"{name}/solrep {1000 if splot else 1500}" in keys
        assert f"{name}/ibed 29" in keys
        assert f"{name}/ibed 30" not in keys
    assert {"e-shop 2/solrep 1500", "ecos 3/solrep 1500", "ecos 1/ibea 29", "ecos 2/ibea 29"} <= set(keys)
    assert sum(key.startswith("compact-linux 1/solrep") for key in keys) >= 3, "Figure 4 has a curve"


@pytest.mark.parametrize("scale", SCALES)
def test_both_complete_methods_are_run_on_jcs_and_web_portal(made_folder: Path, scale: str) -> None:
    keys = _keys(made_folder, Extent(scale, ("table-3",)))
    for name in ("jcs 1", "jcs 4", "web-portal 1"):
        assert {f"{name}/cwmoip", f"{name}/epsilon-constraint"} <= set(keys)
    for name, number in EVERY:
        assert f"{name} {number + 1}/diagram" in keys
    parts = [key for key in keys if key.startswith("web-portal 1/epsilon-constraint as printed, 4")]
    assert len(parts) == (0 if scale == "small" else 44)


@pytest.mark.parametrize("scale", SCALES)
def test_every_product_line_is_counted_for_table_2(made_folder: Path, scale: str) -> None:
    assert _keys(made_folder, Extent(scale, ("table-2",))) == [f"{name}/model" for name in SYSTEMS]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", CONTENTS)
def test_every_table_has_units_at_every_scale(made_folder: Path, name: str, scale: str) -> None:
    keys = _keys(made_folder, Extent(scale, (name,)))
    assert keys
    assert set(keys) <= set(_keys(made_folder, Extent(scale)))


@pytest.mark.parametrize("scale", SCALES)
def test_no_two_units_have_one_key(made_folder: Path, scale: str) -> None:
    keys = _keys(made_folder, Extent(scale))
    assert len(set(keys)) == len(keys)


def test_a_part_is_measured_first_and_the_rest_in_the_same_study(made_folder: Path) -> None:
    extent = check_extent(PRODUCTS, Extent("medium", ("5", "6"), ("e-shop", "ecos")))
    part, whole = PRODUCTS.plan(made_folder, extent), PRODUCTS.plan(made_folder, Extent("medium"))
    keys = {unit.key: unit.arguments for unit in whole.units}
    assert {unit.key.partition(" ")[0] for unit in part.units} == {"e-shop", "ecos"}
    assert all(keys[unit.key] == unit.arguments for unit in part.units)
    assert part.settings.items() <= whole.settings.items()
    assert whole.settings == PRODUCTS.plan(made_folder, Extent("paper")).settings
    assert PRODUCTS.plan(made_folder, Extent("small")).settings != whole.settings
    assert PRODUCTS.plan(made_folder, Extent("medium", time_limit_s=3)).settings != whole.settings


def test_a_study_is_bound_to_every_file_of_the_product_lines_that_it_measures(made_folder: Path) -> None:
    place = made_folder / "feature-models" / "paper-instances"
    more = [
        "fixed-features/Yes_LinuxX86.txt", "fixed-features/No_LinuxX86.txt", "reference-fronts/LinuxX86_RAND1.csv",
        "fixed-features/Seed_LinuxX86.txt.gz", "results/solrep_python_parameter_linuxx861.txt.gz",
    ]  # fmt: skip
    for name in more:
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).touch()
    extent = Extent("medium", ("table-5",), (LINUX,))
    settings = PRODUCTS.plan(made_folder, extent).settings
    ours = [SYSTEMS[LINUX].model, *(f"paper-instances/attributes/{one}" for one in SYSTEMS[LINUX].attributes)]
    for file in [place / name for name in more] + [made_folder / "feature-models" / name for name in ours]:
        before = file.read_bytes()
        file.write_bytes(b"other")
        other = PRODUCTS.plan(made_folder, extent).settings
        assert {name for name in settings if other[name] != settings[name]} == {f"the file {file.name}"}
        file.write_bytes(before)
    assert PRODUCTS.plan(made_folder, extent).settings == settings
    assert not any("JCS" in name or "jcs" in name for name in settings)


def test_linux_is_measured_at_the_small_scale_when_it_is_named(made_folder: Path) -> None:
    keys = _keys(made_folder, Extent("small"))
    assert [key for key in keys if key.startswith(LINUX)] == [f"{LINUX}/model"]
    assert f"{LINUX} 1/solrep 5" in _keys(made_folder, Extent("small", sets=(LINUX,)))


def test_fewer_seeds_can_be_asked_for(made_folder: Path) -> None:
    keys = _keys(made_folder, Extent("paper", ("table-6",), seeds=3))
    assert [key for key in keys if "ibea" in key] == [
        f"ecos {number}/ibea {seed}" for number in (1, 2, 3) for seed in range(3)
    ]


def test_without_models_it_is_said_where_they_go(tmp_path: Path) -> None:
    plan = PRODUCTS.plan(tmp_path, Extent())
    assert plan.units == ()
    assert plan.missing[0].startswith("jcs 1 is missing")
    assert "as feature-models/" in plan.missing[0]


def test_every_published_set_of_attributes_is_used() -> None:
    assert sum(len(system.attributes) for system in SYSTEMS.values()) == 17
    assert {name: len(system.attributes) for name, system in SYSTEMS.items()} == {
        "jcs": 4, "web-portal": 4, "e-shop": 2, "ecos": 3, "uclinux": 2, "compact-linux": 2,
    }  # fmt: skip
    assert {name: system.n_features for name, system in SYSTEMS.items()} == {
        name: size for name, (size, _) in PAPER_SIZES.items()
    }


def test_deviations_are_told_from_the_settings() -> None:
    told = " ".join(PRODUCTS.deviations)
    medium, paper = SIZES["medium"], SIZES["paper"]
    assert f"runs with {medium.n_linux_seeds} seeds at scale medium, elsewhere with {medium.n_seeds}." in told
    most = {scale.n_linux_seeds: max(dict(scale.solrep)[LINUX, 0]) for scale in (medium, paper)}
    assert f"at most {most[medium.n_linux_seeds]} reference points on Linux" in told
    assert "valid first" not in told
    assert all(sentence.endswith(".") for sentence in PRODUCTS.deviations)


ROW: dict[str, Any] = {"seconds": 2.0}


def _row(
    system: tuple[str, int], kind: str, method: str, points: list[list[int]], **more: Any
) -> dict[str, Any]:
    name, number = system
    return {"kind": kind, "system": name, "number": number, "method": method, "points": points} | ROW | more


FRONT = [[0, 3, 0, 0], [1, 2, 0, 0], [3, 0, 0, 0]]


def _made_rows() -> pd.DataFrame:
    """Rows of every kind for every system, as units return them."""
    rows = [
        _row((name, 0), "model", "model", [], features=5, clauses=7, inequalities=6, said=["A or not B"])
        for name in SYSTEMS
    ]
    for system in EVERY:
        for method in ("cwmoip", "epsilon-constraint", "diagram"):
            n_programs = None if method == "diagram" else 8
            rows.append(_row(system, "complete", method, FRONT, same=True, ended=True, programs=n_programs))
            if method == "diagram":
                continue
            parts = [None] if method == "cwmoip" else [0, 1]
            rows += [
                _row(
                    system, "printed", method, [FRONT[0], FRONT[2]] if part == 0 else FRONT, objectives=4,
                    part=part, parts=len(parts), ended=True, programs=9, loops=12, dominated=0,
                )
                for part in parts
            ]  # fmt: skip
    for system in dict.fromkeys((*EVERY, *TABLE_5)):
        rows += [
            _row(system, "evolved", "ibed", [FRONT[0], [4, 4, 0, 0]], seed=0, correctness=1.0),
            _row(system, "evolved", "ibed", [FRONT[1]], seed=1, correctness=0.5),
            _row(system, "evolved", "ibed", [], seed=2, correctness=0.0),
        ]
    for system in TABLE_5:
        numbers = (50, 1000, 1500) if system[0] == "e-shop" else (50, 1500)
        rows += [
            _row(
                system, "solrep", "solrep", [FRONT[2], FRONT[0]], reference_points=n_points,
                solve_limit_s=None, programs=7, unproved=1,
            )
            for n_points in numbers
        ]  # fmt: skip
        rows += [
            _row(system, "evolved", method, [FRONT[1]], seed=0, correctness=1.0)
            for method in ("ibea", "satibea", "smtibea")
        ]
        rows.append(_row(system, "stored", "stored", FRONT))
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def tables() -> dict[str, ResultTable]:
    return {table.name: table for table in product_tables(_made_rows())}


def test_every_table_and_figure_is_made(tables: dict[str, ResultTable]) -> None:
    assert list(tables) == list(CONTENTS)
    assert all(table.rows for table in tables.values())


def test_table_2_has_every_product_line(tables: dict[str, ResultTable]) -> None:
    assert [row["system"] for row in tables["table-2"].rows] == list(NAMES.values())
    assert "compact form" in tables["table-2"].differs


@pytest.mark.parametrize("system", EVERY, ids=[LABELS[system] for system in EVERY])
def test_table_3_has_ours_the_printed_and_the_published_row(
    tables: dict[str, ResultTable], system: tuple[str, int]
) -> None:
    rows = [row for row in tables["table-3"].rows if row["system"] == LABELS[system]]
    assert [row["whose"] for row in rows] == ["here", "here, as printed", "the paper"]
    ours, printed, paper = rows
    for row in (ours, printed):
        assert (row["|A|"], row["|B|"], row["|A ∩ B|"], row["|N_A ∪ N_B|"]) == (3, 3, 3, 3)
        assert (row["N_U(A)"], row["N_U(B)"]) == (0, 0)
        assert row["A HV"] == row["B HV"] > 0
    assert (ours["A s"], printed["A s"], printed["B s"]) == (2.0, 4.0, 2.0)
    assert (ours["as enumerated"], printed["as enumerated"]) == ("yes", "yes")
    assert paper["|A|"] == PAPER_3[system]["|A|"]


def test_a_front_that_is_not_the_papers_is_told(tables: dict[str, ResultTable]) -> None:
    assert tables["table-3"].differs.startswith("NOT EVERY FRONT")


@pytest.mark.parametrize("system", EVERY, ids=[LABELS[system] for system in EVERY])
def test_table_4_counts_what_ibed_finds(tables: dict[str, ResultTable], system: tuple[str, int]) -> None:
    ours, *paper = [row for row in tables["table-4"].rows if row["system"] == LABELS[system]]
    assert [ours[key] for key in ("|A|", "|B|", "|A ∩ B|", "|N_A ∪ N_B|", "N_U(A)", "N_U(B)")] == [
        3, 3, 2, 3, 1, 0,
    ]  # fmt: skip
    assert (ours["runs of B"], ours["A corr %"], ours["B corr %"], ours["B s"]) == (3, 100, 50, 6)
    assert ours["share %"] == pytest.approx(200 / 3)
    assert len(paper) == (system[1] < 2)


def test_the_papers_shares_are_those_of_its_text(tables: dict[str, ResultTable]) -> None:
    shares = [round(row["share %"]) for row in tables["table-4"].rows if row["whose"] == "the paper"]
    assert shares == [49, 100, 22, 15]


@pytest.mark.parametrize("system", TABLE_5, ids=[LABELS[system] for system in TABLE_5])
def test_table_5_has_every_row(tables: dict[str, ResultTable], system: tuple[str, int]) -> None:
    rows = [row for row in tables["table-5"].rows if row["system"] == LABELS[system]]
    ours = [row for row in rows if row["whose"] == "here"]
    assert [row["reference points"] for row in ours] == [1000, 1500][system[0] != "e-shop" :]
    for row in ours:
        assert [row[key] for key in ("|A|", "|B|", "|A ∩ B|", "|N_A ∪ N_B|", "N_U(A)", "N_U(B)")] == [
            2, 3, 1, 3, 1, 1,
        ]  # fmt: skip
    if system == ("e-shop", 1):
        assert [row["|A|"] for row in rows if row["whose"] == "the paper"] == [742, 1099]


def test_table_6_is_solrep_beside_ibea_on_ecos(tables: dict[str, ResultTable]) -> None:
    rows = tables["table-6"].rows
    assert [row["system"] for row in rows] == ["eCos 1", "eCos 2", "eCos 3"]
    assert [(row["|A|"], row["|B|"], row["runs of B"]) for row in rows] == [(2, 1, 1)] * 3


def test_figure_4_is_drawn_for_linux_with_the_papers_points(tables: dict[str, ResultTable]) -> None:
    figure = tables["figure-4"]
    assert figure.picture is not None
    lines = {line.name: line.points for line in figure.picture.lines}
    assert lines["Linux X86 1"] == ((50.0, 2.0), (1500.0, 2.0))
    seconds = [row["seconds"] for row in figure.rows if row["system"] == "Linux X86, the paper"]
    assert seconds == [2150, 50_414]
    points = tables["figure-4-points"].picture
    assert points is not None
    assert {line.points for line in points.lines if not line.name.startswith("E-Shop")} == {
        ((50.0, 2.0), (1500.0, 2.0))
    }


def test_growth_is_told_for_each_method_and_number_of_objectives(tables: dict[str, ResultTable]) -> None:
    rows = {(row["whose"], row["method"], row["system"]): row for row in tables["rq-2"].rows}
    printed = rows["here, as printed", "epsilon-constraint", "Web Portal"]
    assert (printed["sets"], printed["programs"], printed["seconds"], printed["ended"]) == (4, 18, 4, "yes")
    assert printed["paper's seconds"] == 613
    assert printed["times the first"] == 1
    assert rows["here", "diagram", "JCS"]["programs"] is None


def test_a_part_that_is_not_there_is_no_end() -> None:
    rows = _made_rows()
    less = rows[~((rows["kind"] == "printed") & (rows["part"] == 1))]
    made = {table.name: table for table in product_tables(less)}
    assert "here, as printed" not in {row["whose"] for row in made["table-3"].rows}
    ended = {row["method"]: row["ended"] for row in made["rq-2"].rows if row["whose"] == "here, as printed"}
    assert ended == {"cwmoip": "yes", "epsilon-constraint": "NO"}


def test_fifty_points_stand_beside_the_median_run(tables: dict[str, ResultTable]) -> None:
    rows = [row for row in tables["rq-5"].rows if row["system"] == "uClinux 1"]
    assert [row["whose"] for row in rows] == ["here", "the paper"]
    assert (rows[0]["|A|"], rows[0]["|B|"], rows[0]["|N_B|"], rows[0]["B s"]) == (2, 1, 1, 2.0)


def test_runs_of_solrep_stand_beside_the_stored_sets(tables: dict[str, ResultTable]) -> None:
    row = next(row for row in tables["solrep"].rows if row["system"] == "uClinux 1")
    assert (row["points"], row["stored points"], row["stored IGD+"]) == (2, 3, 0)
    assert row["IGD+"] > 0
    assert row["HV"] < row["stored HV"]


def test_solrep_is_run_as_the_text_has_it_too_and_named_where_that_is_faster(made_folder: Path) -> None:
    keys = _keys(made_folder, Extent("medium", ("solrep",), ("e-shop", "ecos", "uclinux")))
    assert {f"e-shop {n}/solrep by the text 1000" for n in (1, 2)} <= set(keys)
    rows = _made_rows()
    rows.loc[rows["kind"] == "solrep", "seconds"] = 1e3
    for seconds, told in ((0.1, True), (1e4, False)):
        more = rows[(rows["kind"] == "solrep") & (rows["system"] == "e-shop")]
        both = pd.concat([rows, more.assign(kind="solrep by the text", seconds=seconds)])
        assert [row["minimised"] for row in _table(both, "solrep")].count("cost") == len(more)
        claims = {claim.what: claim.finding(both) for claim in PRODUCTS.claims}
        finding = claims["SolRep takes less time than thirty runs of IBED"]
        assert finding is not None
        assert ("Minimising the cost, as in the text" in finding.why) == told


def _table(rows: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    return list(next(table.rows for table in product_tables(rows) if table.name == name))


def test_constraint_solving_has_every_method_for_each_system(tables: dict[str, ResultTable]) -> None:
    rows = [row["B is"] for row in tables["constraint-solving"].rows if row["system"] == "eCos 1"]
    assert rows == ["ibea", "satibea", "smtibea"]


def _alone(rows: pd.DataFrame, kind: str) -> pd.DataFrame:
    return rows[rows["kind"] == kind].dropna(axis=1, how="all")


def test_tables_of_a_part_are_made_of_its_rows() -> None:
    rows = _made_rows()
    for kind in rows["kind"].unique():
        names = [table.name for table in product_tables(_alone(rows, kind))]
        assert set(names) <= set(CONTENTS)
    assert [table.name for table in product_tables(_alone(rows, "model"))] == ["table-1", "table-2"]


@pytest.mark.slow
def test_a_part_of_the_paper_prints_the_same_from_its_study(data_folder: Path, tmp_path: Path) -> None:
    extent = Extent("small", ("table-4", "table-5"), ("jcs",), seeds=1)
    plan = PRODUCTS.plan(data_folder, extent)
    with open_study(tmp_path / "study.db") as study:
        first = reproduce(PRODUCTS, plan, Work(study=study), tables=extent.tables).tables
    with open_study(tmp_path / "study.db") as study:
        again = reproduce(PRODUCTS, plan, Work(study=study), tables=extent.tables).tables
    assert again == first
    shares, beside = first
    assert [row["|A|"] for row in shares.rows if row["whose"] == "here"] == [39, 9, 22, 31]
    assert [row["system"] for row in beside.rows] == ["JCS 1", "JCS 2"]


@pytest.mark.slow
def test_complete_fronts_have_the_published_hypervolume_and_spread(data_folder: Path) -> None:
    rows = [
        row
        for system in (*JCS, PORTAL[0])
        for method in ("diagram", "epsilon-constraint", "cwmoip")
        if system[0] == "jcs" or method == "diagram"
        for row in measure_complete(data_folder, system, method, budget=Budget())
    ]
    (table,) = [one for one in product_tables(pd.DataFrame(rows)) if one.name == "table-3"]
    assert table.differs.startswith("Only seconds differ")
    changed = pd.DataFrame([row | {"points": row["points"][1:]} for row in rows])
    (table,) = [one for one in product_tables(changed) if one.name == "table-3"]
    assert table.differs.startswith("NOT EVERY FRONT")


@pytest.mark.slow
def test_units_stop_when_their_budget_ends(data_folder: Path) -> None:
    budget = Budget(1e-9)
    (complete,) = measure_complete(data_folder, ("web-portal", 0), "cwmoip", budget=budget)
    assert not complete["ended"]
    assert not complete["same"]
    (solrep,) = measure_solrep(data_folder, ("jcs", 0), 5, budget=budget)
    assert len(solrep["points"]) < 9
    (evolved,) = measure_evolved(data_folder, ("jcs", 0), "ibed", 0, 10**9, budget=budget)
    assert evolved["seconds"] < math.inf


@pytest.mark.slow
def test_jcs_is_the_model_of_the_paper(data_folder: Path) -> None:
    (row,) = measure_model(data_folder, ("jcs", 0), budget=Budget())
    assert row["features"] == 12
    assert "Encryption_OR or not Caesar" in row["said"]
    assert len(row["said"]) == row["clauses"]


@pytest.mark.slow
def test_evolution_on_linux_starts_from_the_three_published_products(data_folder: Path) -> None:
    question, _ = prepared_question(data_folder, LINUX, 1, fixed=True)
    products = seed_products(data_folder, question)
    assert len(products) == len(SEEDS) == 3
    assert question.meets_requirements(products).all()
    (row,) = measure_evolved(data_folder, (LINUX, 1), "ibed", 0, 200, budget=Budget())
    assert row["correctness"] > 0, "only the three products are valid so early"
    assert np.array(row["points"]).shape[1] == 4


@pytest.mark.slow
@pytest.mark.parametrize("system", [("ecos", 2), ("uclinux", 1)])
def test_sets_that_no_table_had_are_read(data_folder: Path, system: tuple[str, int]) -> None:
    question, _ = prepared_question(data_folder, *system, fixed=True)
    assert all(np.abs(goal.coefficients).sum() > 0 for goal in question.objectives)


def test_stored_seconds_are_near_those_of_their_like() -> None:
    rows = rows_of("products")
    timed = rows[(rows["seconds"] > 0) & rows["clock"].notna() & (rows["kind"] != "model")].copy()
    # parts of Algorithm 1 and numbers of points are each of another size
    like = ["kind", "system", "method", "objectives", "order", "reference_points"]
    middle = timed.fillna({"order": ""}).groupby(like, dropna=False)["seconds"].transform("median")
    off = timed[(timed["seconds"] > 10 * middle) | (timed["seconds"] < middle / 10)]
    assert off[["kind", "system", "number", "method", "seconds"]].to_dict("records") == []
    short = timed[timed["kind"].isin(["complete", "printed"]) & (timed["seconds"] < REPEATED_S)]
    assert set(short.loc[short["system"] == "jcs", "timings"]) == {3}


def test_the_page_shows_each_headline_before_its_tables_in_few_words() -> None:
    page = (Path(__file__).parents[2] / "docs" / "results" / "products.md").read_text(encoding="utf-8")
    before, _, _ = page.partition("<!-- table:")
    assert len(before.split()) <= 1200
    headlines = re.findall(r"^\*\*(.+?)\*\*", before, re.MULTILINE)
    assert len(headlines) == len(re.findall(r"^!\[", before, re.MULTILINE)) == 5


def test_a_set_is_counted_beside_the_complete_front_of_its_system() -> None:
    rows = _made_rows()
    shop = {"system": "e-shop", "number": 0}
    box = {"low": [0, 0, 0, 0], "high": [4, 4, 0, 0], "hypervolume": 0.5, "n_points": 8, "ended": True}
    whole = shop | {"kind": "whole", "method": "diagram", "points": [], "seconds": 1.0} | box
    optimal = [[0] if row.kind == "solrep" else [] for row in rows.itertuples()]
    both = pd.concat([rows.assign(optimal=optimal), pd.DataFrame([whole])])
    found = [row for row in _table(both, "whole") if row["system"] == "E-Shop 1"]
    counted = {(row["set"], row["reference points"]): row["on the front"] for row in found}
    assert counted == {
        ("solrep", 50): 1, ("solrep", 1000): 1, ("solrep", 1500): 1, ("ibed", None): 0, ("ibea", None): 0,
        ("satibea", None): 0, ("smtibea", None): 0, ("the authors' set", None): 0,
    }  # fmt: skip
    assert {(row["front"], row["HV of the front"]) for row in found} == {(8, 0.5)}
    one = next(row for row in found if row["set"] == "solrep")
    assert (one["points"], one["coverage %"], one["% of them"]) == (2, 12.5, 50.0)
    small = next(row for row in _table(both, "whole") if row["system"] == "JCS 1" and row["set"] == "ibed")
    assert (small["runs"], small["points"], small["on the front"], small["front"]) == (3, 3, 2, 3)
    claims = {claim.what: claim.finding(both) for claim in PRODUCTS.claims}
    true = claims["Each point of SolRep is a true optimum"]
    assert true is not None
    assert "E-Shop 1 ours 1 of 2" in true.here
    assert "E-Shop 1 the authors' set 0 of 3" in true.here


def test_times_of_two_machines_are_not_compared() -> None:
    rows = _made_rows().assign(processor="one", versions="shortlist 1; python 3")
    claims = {claim.what: claim for claim in PRODUCTS.claims}
    less = claims["SolRep takes less time than thirty runs of IBED"]
    ours = less.finding(rows)
    assert ours is not None
    solrep = (rows["kind"] == "solrep") & (rows["system"] != "e-shop")
    mixed = less.finding(rows.assign(processor=rows["processor"].mask(solrep, "another")))
    assert mixed is not None
    assert "of 2 rows" in mixed.here
    assert "of 2 rows" not in ours.here
    assert (
        less.finding(rows.assign(processor=rows["processor"].mask(rows["kind"] == "solrep", "two"))) is None
    )


def test_what_does_not_end_is_sure_from_a_run_of_an_hour_on_and_by_no_rate() -> None:
    shop = {"system": "e-shop", "number": 0, "seconds": 60.0}
    run = shop | {
        "kind": "printed", "method": "cwmoip", "objectives": 4, "part": None, "parts": 1, "ended": False,
        "programs": 600, "points": [[1, 2, 3, 4]], "order": "widest range minimised",
    }  # fmt: skip
    whole = shop | {
        "kind": "whole", "method": "diagram", "points": [], "low": [0] * 4, "high": [9] * 4,
        "hypervolume": 0.5, "ended": True,
    }  # fmt: skip
    claim = next(one for one in PRODUCTS.claims if one.what.startswith("CWMOIP does not end"))
    for seconds, verdict, told in (
        (60.0, "holds in part", "would take at least 2.0 h at the rate of its first minute"),
        (900.0, "holds in part", "would take at least 30.0 h at the rate of its first 900 s"),
        (3600.0, "holds", "no end after 3,600 s and 600 programs"),
    ):
        finding = claim.finding(pd.DataFrame([run | {"seconds": seconds}, whole | {"n_points": 72_000}]))
        assert finding is not None
        assert (finding.verdict, told in finding.here) == (verdict, True)
        assert (f"stopped after {seconds:.0f} s." in finding.reason) == (verdict != "holds")
    ended = claim.finding(pd.DataFrame([run | {"ended": True}, whole | {"n_points": 72_000}]))
    assert ended is not None
    assert ended.verdict == "does not hold"


def test_a_comparison_of_times_without_one_of_its_systems_holds_in_part_at_most() -> None:
    rows = _made_rows()
    quick = (rows["kind"] == "complete") & (rows["method"] == "cwmoip")
    numbers = rows["number"].fillna(0) / 10
    rows = rows.assign(seconds=rows["seconds"].mask(quick, 0.1 + numbers))
    claim = next(one for one in PRODUCTS.claims if one.what.endswith("our methods") and "faster" in one.what)
    portal = (rows["kind"] == "complete") & (rows["system"] == "web-portal")
    both, one = claim.finding(rows), claim.finding(rows[~portal])
    assert both is not None
    assert one is not None
    assert (both.verdict, one.verdict) == ("holds", "holds in part")
    assert one.reason == "Web Portal is not measured so by one processor and version."
    assert "Web Portal" not in one.here


def _claim(rows: pd.DataFrame, what: str) -> ClaimFinding:
    finding = next(one for one in PRODUCTS.claims if one.what.startswith(what)).finding(rows)
    assert finding is not None
    return finding


def test_most_rows_are_those_with_as_many_reference_points_as_the_papers() -> None:
    rows = rows_of("products")
    linux = rows["system"] == LINUX
    found, without = (
        _claim(one, "SolRep's hypervolume is larger than IBED's") for one in (rows, rows[~linux])
    )
    assert (found.here, found.verdict, found.parts) == (without.here, without.verdict, without.parts)
    assert "without Linux X86 1 and Linux X86 2, where these rows have fewer reference points" in found.sure
    assert "without" not in without.sure
    needs = next(one for one in PRODUCTS.claims if one.what.startswith("SolRep's hypervolume")).needs
    assert not any("Linux" in need.what for need in needs)


def test_a_line_that_the_paper_draws_of_linux_is_not_sure_by_other_systems() -> None:
    rows = _made_rows()
    runs = rows["kind"] == "solrep"
    more = rows[runs].assign(reference_points=rows["reference_points"] / 2)
    more = pd.concat([rows, more]).reset_index(drop=True)
    rows = more.assign(seconds=more["reference_points"].fillna(1.0))
    what = "Time is linear in the reference points"
    assert _claim(rows, what).verdict == "holds"
    other = _claim(rows[rows["system"] != LINUX], what)
    assert other.verdict == "holds in part"
    assert other.reason.startswith("The paper draws Linux X86, of which")


def test_rows_of_an_older_version_are_counted_where_a_claim_rests_on_them() -> None:
    rows = _made_rows().assign(versions="shortlist 0.10.0; python 3")
    what = "No point of SolRep is dominated"
    assert "version" not in _claim(rows, what).sure
    old = (rows["kind"] == "evolved") & (rows["method"] == "ibed") & (rows["system"] == "jcs")
    rows = rows.assign(versions=rows["versions"].mask(old, "shortlist 0.2.0; python 3"))
    assert "; 6 of 52 rows are of version 0.2.0" in _claim(rows, what).sure
    assert "version" not in _claim(rows, "On Linux SolRep has the larger").sure


def test_growth_begins_with_the_fewest_features_and_divides_seconds_of_one_version_alone() -> None:
    rows = _made_rows().assign(processor="one", versions="shortlist 1; python 3")
    rows = rows.assign(seconds=rows["seconds"].mask(rows["system"] == "web-portal", 20.0))
    portal = rows["system"] == "web-portal"
    for own in (rows, rows.iloc[::-1]):
        found = [row for row in _table(own, "rq-2") if row["method"] == "cwmoip"]
        assert [(row["system"], row["times the first"]) for row in found] == [
            ("JCS", 1), ("Web Portal", 10), ("JCS", 1), ("Web Portal", 10),
        ]  # fmt: skip
    for column, other in (("processor", "two"), ("versions", "shortlist 2; python 3")):
        mixed = rows.assign(**{column: rows[column].mask(portal, other)})
        found = [row for row in _table(mixed, "rq-2") if row["method"] == "cwmoip"]
        assert [row["times the first"] for row in found] == [1, None, 1, None]


def test_sentences_on_the_page_and_among_deviations_are_what_the_rows_say() -> None:
    page = (Path(__file__).parents[2] / "docs" / "results" / "products.md").read_text(encoding="utf-8")
    rows = rows_of("products")
    read = ProductRows.of(rows)
    assert "Thirty runs of our IBED find more than the paper's thirty" in page
    for system in ((name, number) for name in ("jcs", "web-portal") for number in range(2)):
        assert len(read.side(system).vectors) >= PAPER_4[system]["|B|"]
    assert "CWMOIP, its objectives ordered by their ranges, takes about a thirtieth on Web Portal." in page
    printed = read.printed(PORTAL[0])
    assert 25 <= PAPER_RQ_2["web-portal", "cwmoip"] / printed["cwmoip"].seconds <= 35
    assert 0.5 <= PAPER_RQ_2["web-portal", "epsilon-constraint"] / printed["epsilon-constraint"].seconds <= 2
    told = " ".join(PRODUCTS.deviations)
    assert ("whose rows are not stored" in told) == (not len(read.of_kind(SHORT)))
    by_text = read.of_kind("printed", order=BY_TEXT)
    assert ("the cost outermost are stored of JCS alone" in told) == (set(by_text["system"]) == {"jcs"})


def test_the_page_says_before_its_tables_what_is_not_measured() -> None:
    page = (Path(__file__).parents[2] / "docs" / "results" / "products.md").read_text(encoding="utf-8")
    before, _, after = page.partition("<!-- table:")
    (told,) = re.findall(r"^Not measured: .+$", before, re.MULTILINE)
    claims = claims_table(PRODUCTS.claims, rows_of("products")).rows
    missing = [row["claim"] for row in claims if row["verdict"] == UNMEASURED]
    words = {
        "hundredfold": "how they grow from JCS on", "utopia plane": "utopia plane",
        "1,500 reference points": "fifteen hundred reference points",
    }  # fmt: skip
    for claim in missing:
        assert any(word in claim and words[word] in told for word in words), claim
    assert f"{len(missing)} not measured" in after


def test_a_clock_is_that_of_the_rows_which_a_claim_takes_and_named_where_a_table_has_two() -> None:
    rows = _made_rows().assign(clock="processor")
    wall = rows.assign(clock=rows["clock"].mask(rows["system"] == LINUX))
    for other in (
        rows,
        rows.assign(clock=rows["clock"].mask(rows["method"] == "smtibea")),
        wall[(wall["system"] != LINUX) | (wall["reference_points"] != 1500)],
    ):
        assert "; processor time, one" in _claim(other, "SolRep takes less time than thirty").sure
    assert "; old rows by the wall clock, one" in _claim(wall, "SolRep takes less time than thirty").sure
    names = {"table-5", "rq-5", "solrep", "figure-4"}
    told = {
        table.name: table.note for table in product_tables(wall) if "Seconds by the wall clock" in table.note
    }
    assert names <= set(told) <= {*names, "constraint-solving"}
    assert told["figure-4"].endswith(
        "solrep on Linux X86 1 with 50 and 1,500 reference points; "
        "solrep on Linux X86 2 with 50 and 1,500 reference points."
    )
    assert not any("by the wall clock" in table.note for table in product_tables(rows))
