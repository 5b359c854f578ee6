"""Methods on one product line: runs, their file, and the tables."""

import contextlib
import itertools
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config

from shortlist.errors import BadInputError, SolverError
from shortlist.products import chosen_attributes, read_attributes, read_model
from shortlist.products.attributes import Attribute
from shortlist.products.configuration.requirements import make_requirements
from shortlist.products.model import make_group, make_model
from shortlist.products.rules import are_valid
from shortlist.results.proof import ProofKind
from shortlist.runs import Budget, Cancellation, Progress, Work, open_study
from shortlist.runs.study_file import checksum
from shortlist_papers import product_comparison
from shortlist_papers.front_quality import quality_of
from shortlist_papers.product_comparison import (
    Comparison,
    compare_products,
    tabulated,
    unions,
)

N = 14
LINE = make_model(
    [f"F{i}" for i in range(N)],
    root=0,
    groups=[
        make_group(0, [1, 2, 3], "or"),
        make_group(0, [4, 5], "alternative"),
        make_group(1, [6, 7], "or"),
        *(make_group(2, [i], "optional") for i in range(8, N)),
    ],
)
RNG = np.random.default_rng(0)
COSTS = {name: Attribute(name, RNG.integers(0, 30, N)) for name in ("cost", "risk")}
GOALS = "min deselected, min cost, min risk"
EVOLUTION: dict[str, Any] = {"n_evaluations": 400, "seeds": range(3)}


def compared(methods: list[str], **options: Any) -> Comparison:
    return compare_products(LINE, GOALS, methods, attributes=COSTS, **{**EVOLUTION, **options})


def content(comparison: Comparison) -> list[tuple[Any, ...]]:
    """Everything but seconds."""
    return [
        (run.method, run.seed, run.front.points.tolist(), run.front.decisions.tolist(), run.front.proof)
        for run in comparison.runs
    ]


@pytest.fixture(scope="module")
def whole() -> Comparison:
    return compared(["diagram", "solrep", "ibed", "ibea", "satibea"], n_points=10)


def test_the_complete_front_tells_what_the_others_find(whole: Comparison) -> None:
    assert [(row.method, row.n_runs) for row in whole.rows] == [
        ("diagram", 1), ("solrep", 1), ("ibed", 3), ("ibea", 3), ("satibea", 3),
    ]  # fmt: skip
    assert whole.tables is not None
    assert whole.tables.joint.proof.kind is ProofKind.COMPLETE
    by_name = {row.method: row for row in whole.rows}
    assert by_name["diagram"].share == 1
    assert by_name["diagram"].union.epsilon == 0
    assert 0 < (by_name["solrep"].share or 0) <= 1
    assert by_name["solrep"].union.n_dominated == 0
    assert 0 < (by_name["ibed"].share or 0) <= 1
    assert all(0 < row.valid_share <= 1 for row in whole.rows)
    for run in whole.runs:
        assert are_valid(LINE, run.front.decisions).all()


def test_medians_and_unions_are_those_of_the_runs(whole: Comparison) -> None:
    assert whole.tables is not None
    runs = [run for run in whole.runs if run.method == "ibed"]
    row = next(row for row in whole.rows if row.method == "ibed")
    each = [quality_of(run.front.points, whole.tables.joint.points, whole.tables.box) for run in runs]
    assert row.middle.hypervolume == sorted(quality.hypervolume for quality in each)[1]
    assert row.middle.n_points == sorted(len(run.front) for run in runs)[1]
    assert row.seconds == pytest.approx(sum(run.front.seconds for run in runs))
    points = {tuple(point) for run in runs for point in run.front.points.tolist()}
    best = {
        p
        for p in points
        if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in points)
    }
    assert {tuple(point) for point in unions(whole.runs)["ibed"].points.tolist()} == best
    assert [run.seed for run in runs] == [0, 1, 2]
    assert len({str(run.front.points.tolist()) for run in runs}) > 1


@pytest.mark.slow
def test_results_are_the_same_for_one_and_two_workers(whole: Comparison) -> None:
    two = compared(["diagram", "solrep", "ibed", "ibea", "satibea"], n_points=10, work=Work(2))
    assert content(two) == content(whole)


def test_runs_side_by_side_are_told_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Cancellation()

    def interrupted(_question: Any, _method: str, _options: Any, budget: Budget) -> None:
        budget.cancellation.cancel()

    monkeypatch.setattr(product_comparison, "find_front", interrupted)
    with parallel_config(backend="threading"):
        assert not compared(["solrep", "ibed"], n_points=5, work=Work(2, cancellation=stop)).runs
    assert stop.cancelled


def test_a_comparison_that_is_stopped_does_not_look_for_a_product_without_end(tmp_path: Path) -> None:
    pigeons = list(itertools.product(range(12), range(11)))
    number = {pair: i for i, pair in enumerate(pigeons, start=1)}
    clauses = [[number[p, h] for h in range(11)] for p in range(12)]
    clauses += [[-number[p, h], -number[q, h]] for h in range(11) for p in range(12) for q in range(p)]
    lines = [f"p cnf {len(number)} {len(clauses)}", *(" ".join(map(str, [*one, 0])) for one in clauses)]
    (tmp_path / "pigeons.dimacs").write_text("\n".join(lines))
    stop = Cancellation()
    stop.cancel()
    model = read_model(tmp_path / "pigeons.dimacs")

    assert not compare_products(model, "min deselected", ["ibed"], work=Work(1, cancellation=stop)).runs


def test_a_comparison_goes_on_from_its_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    methods = ["solrep", "ibed", "ibea"]
    stop, events = Cancellation(), list[Progress]()

    def report(event: Progress) -> None:
        if event.stage == "runs" and event.done == 3:
            stop.cancel()

    with open_study(tmp_path / "study.db") as study:
        part = compared(methods, n_points=5, work=Work(1, study, report, stop))
        assert (len(part.runs), part.n_wanted) == (3, 7)
        again = compared(methods, n_points=5, work=Work(1, study, events.append))
        steps = [(event.done, event.total) for event in events if event.stage == "runs"]
        assert steps == [(n, 7) for n in range(3, 8)]
        monkeypatch.setattr(product_comparison, "find_front", None)
        third = compared(methods, n_points=5, work=Work(1, study))
    monkeypatch.undo()
    assert content(again) == content(compared(methods, n_points=5))
    assert content(third) == content(again)
    assert [run.front.seconds for run in third.runs] == [run.front.seconds for run in again.runs]
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


def test_a_comparison_that_stops_within_solrep_keeps_its_programs(tmp_path: Path) -> None:
    def stop(event: Progress) -> None:
        if event.stage.endswith("reference points") and event.done == 3:
            raise KeyboardInterrupt

    with open_study(tmp_path / "study.db") as study:
        with pytest.raises(KeyboardInterrupt):
            compared(["solrep", "ibea"], n_points=5, work=Work(1, study, stop))
        programs = study.part("solrep 0").results()
        assert sum(key.startswith("point") for key in programs) == 3
        again = compared(["solrep", "ibea"], n_points=5, work=Work(1, study))
        assert programs.items() < study.part("solrep 0").results().items()
    assert content(again) == content(compared(["solrep", "ibea"], n_points=5))


def test_a_comparison_that_stops_within_evolution_goes_on_from_its_last_state(tmp_path: Path) -> None:
    begun = list[float]()

    def stop(event: Progress) -> None:
        if event.stage.startswith("ibed 1, generations") and event.done > 250:
            raise KeyboardInterrupt

    def note(event: Progress) -> None:
        if event.stage.startswith("ibed 1, generations"):
            begun.append(event.done)

    with open_study(tmp_path / "study.db") as study:
        with pytest.raises(KeyboardInterrupt):
            compared(["ibed"], work=Work(1, study, stop))
        assert set(study.results()) == {"ibed 0"}
        assert study.part("ibed 1").kept("generations") is not None
        again = compared(["ibed"], work=Work(1, study, note))
    assert begun[0] > 100  # the first population is not evaluated again
    assert content(again) == content(compared(["ibed"]))


def test_methods_and_seeds_may_be_added_to_a_study_but_settings_stay(tmp_path: Path) -> None:
    events = list[Progress]()
    with open_study(tmp_path / "study.db") as study:
        work = Work(1, study)
        compared(["ibea"], seeds=[0], work=work)
        more = compared(["ibea", "ibed"], seeds=[0, 1], work=Work(1, study, events.append))
        assert len(more.runs) == 4
        assert next((event.done, event.total) for event in events if event.stage == "runs") == (1, 4)
        for change, told in (
            ({"n_evaluations": 500}, "n_evaluations was 400 there and is 500 now"),
            ({"time_limit_s": 9.0}, "time_limit_s was null there and is 9.0 now"),
            ({"limits": ["cost<=200"]}, "the question was"),
        ):
            with pytest.raises(BadInputError, match=told):
                compared(["ibea"], work=work, **change)
        with pytest.raises(BadInputError, match="another question"):
            compare_products(
                LINE, "min deselected, min cost", ["ibea"], attributes=COSTS, work=work, **EVOLUTION
            )


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"points": 1}, SolverError, "are not those of its point"),
        ({"products": "none"}, BadInputError, "holds a run of ibea that cannot be read"),
    ],
)
def test_a_study_that_was_changed_is_found_out(
    change: dict[str, Any], error: type[Exception], told: str, tmp_path: Path
) -> None:
    with open_study(tmp_path / "study.db") as study:
        compared(["ibea"], seeds=[0], work=Work(1, study))
        record = study.results()["ibea 0"]
    if "points" in change:
        record["points"][0][1] -= 1
    else:
        record |= change
    with contextlib.closing(sqlite3.connect(tmp_path / "study.db")) as file:
        file.create_function("checksum", -1, checksum)
        file.execute("UPDATE rows SET value = ? WHERE kind = 'done'", (json.dumps(record),))
        file.execute("UPDATE rows SET checksum = checksum(kind, part, key, value)")
        file.commit()
    with open_study(tmp_path / "study.db") as study, pytest.raises(error, match=told):
        compared(["ibea"], seeds=[0], work=Work(1, study))


def test_requirements_hold_in_every_run() -> None:
    wanted = make_requirements(LINE, select=["F2"], deselect=["F5"])
    found = compare_products(
        LINE, GOALS, ["solrep", "ibea"], attributes=COSTS, requirements=wanted, n_points=3, **EVOLUTION
    )
    for run in found.runs:
        assert run.front.decisions[:, 2].all()
        assert not run.front.decisions[:, 5].any()


def test_a_contradiction_is_an_answer() -> None:
    wanted = make_requirements(LINE, select=["F4", "F5"])
    found = compare_products(LINE, GOALS, ["ibea"], attributes=COSTS, requirements=wanted, **EVOLUTION)
    assert len(found.conflict) == 3
    assert (found.runs, found.tables, found.fronts) == ((), None, {})


def test_no_finished_run_gives_no_tables() -> None:
    assert tabulated((), 4).tables is None


@pytest.mark.parametrize(
    ("methods", "options", "message"),
    [
        pytest.param([], {}, "method must be one of", id="no method"),
        pytest.param(["auto"], {}, "method must be one of", id="auto"),
        pytest.param(["ibea"], {"n_points": 5}, "`n_points` is an option of none of the methods ibea", id="not used"),
        pytest.param(["solrep"], {"n_evaluations": 5}, "`n_evaluations` is an option of none of the methods solrep", id="evolution only"),
        pytest.param(["ibea"], {"seed": 5}, "`seed` is an option of none", id="own option"),
        pytest.param(["ibea"], {"wings": 5}, "`wings` is an option of none", id="unknown"),
        pytest.param(["ibea"], {"seeds": []}, "the number of seeds must be at least 1", id="no seeds"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(methods: list[str], options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        compare_products(LINE, GOALS, methods, attributes=COSTS, **options)


@pytest.mark.slow
def test_the_chat_system_reproduces_the_published_counts(data_folder: Path) -> None:
    folder = data_folder / "feature-models"
    model = read_model(folder / "splot" / "jcs.sxfm.xml")
    path = folder / "paper-instances" / "attributes" / "ChatSystem_PREDEFINE_ONE.csv"
    table = read_attributes(path, model, renames={"Enrcyption": "Encryption"})
    attributes = chosen_attributes(["cost", "defects", "not_used_before"], [table], model)
    found = compare_products(
        model, "min deselected, min not_used_before, min defects, min cost",
        ["cwmoip", "epsilon-constraint", "ibed", "solrep"],
        attributes=attributes, seeds=range(5), n_evaluations=5_000, n_points=100,
    )  # fmt: skip
    assert found.tables is not None
    rows = {row.method: row for row in found.rows}
    for name in ("cwmoip", "epsilon-constraint"):  # Table 3: 39 points each, and the same ones
        assert (rows[name].union.n_points, rows[name].share, rows[name].unique) == (39, 1.0, 0)
        assert rows[name].union.hypervolume == pytest.approx(0.288548753, abs=1e-9)
        assert rows[name].union.spread == pytest.approx(0.691011983, abs=1e-9)
    assert found.tables.pairs[0].n_common == found.tables.pairs[0].n_joint == 39
    assert (rows["ibed"].share or 0) >= 0.7
    assert rows["ibed"].valid_share >= 0.9
    assert rows["solrep"].union.n_dominated == 0
