"""Papers run again: units, studies, and what is missing."""

from pathlib import Path

import pandas as pd
import pytest

from shortlist.errors import BadInputError, ShortlistError
from shortlist.runs import Budget, Cancellation, Unit, Work, open_study
from shortlist_papers.paper import (
    Extent,
    Paper,
    PaperPlan,
    Reproduction,
    ResultTable,
    beside,
    check_extent,
    dots,
    fingerprints,
    how_to_get,
    reproduce,
    sets_of,
)
from tests.shortlist_papers.made_sets import write_made_set, write_wdbc

CALLS: list[int] = []
STOP: list[Cancellation] = []


def _squared(number: int, *, budget: Budget) -> list[dict[str, int]]:
    assert budget.seconds == float("inf")
    CALLS.append(number)
    return [{"number": number, "square": number**2}]


def _summed(rows: pd.DataFrame) -> list[ResultTable]:
    return [ResultTable("sum", "Sum", [{"sum": int(rows["square"].sum())}])]


def _failing(number: int, *, budget: Budget) -> list[dict[str, int]]:
    if number == 2:
        raise RuntimeError("killed")
    return _squared(number, budget=budget)


def _plan(n_units: int, missing: tuple[str, ...] = ()) -> PaperPlan:
    return PaperPlan(tuple(Unit(str(i), _squared, (i,)) for i in range(n_units)), {"units": n_units}, missing)


PAPER = Paper(
    "squares",
    "Squares",
    lambda _folder, extent: _plan(2 if extent.scale == "small" else 4),
    _summed,
    {"sum": "the sum", "table-5": "the squares"},
    ("even", "odd"),
    frozenset({"folds"}),
)


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    CALLS.clear()


def test_tables_are_made_of_all_units() -> None:
    found = reproduce(PAPER, PAPER.plan(None, Extent("paper")))
    assert found.tables[0].rows == [{"sum": 14}]
    assert (found.n_done, found.n_wanted) == (4, 4)
    assert found.unit_seconds > 0


def _with(study: Path, plan: PaperPlan, cancellation: Cancellation | None = None) -> Reproduction:
    with open_study(study) as opened:
        return reproduce(PAPER, plan, Work(study=opened, cancellation=cancellation or Cancellation()))


def test_a_run_that_fails_is_gone_on_from(tmp_path: Path) -> None:
    failing = PaperPlan(tuple(Unit(str(i), _failing, (i,)) for i in range(4)), {"units": 4})
    with pytest.raises(RuntimeError, match="killed"):
        _with(tmp_path / "study.db", failing)
    assert CALLS == [0, 1]
    found = _with(tmp_path / "study.db", _plan(4))
    assert CALLS == [0, 1, 2, 3]
    assert found.tables[0].rows == [{"sum": 14}]
    again = _with(tmp_path / "study.db", _plan(4))
    assert len(CALLS) == 4
    assert again.rows.equals(found.rows)
    assert again.unit_seconds == found.unit_seconds


def _until_stopped(number: int, *, budget: Budget) -> list[dict[str, int]]:
    """Come to a half of the answer if it is stopped."""
    if number == 2:
        STOP[0].cancel()
        assert budget.stopped
        return _squared(number, budget=budget) * 2
    return _squared(number, budget=budget)


def test_a_unit_that_was_stopped_in_the_middle_is_run_again_and_the_tables_are_those_of_a_whole_run(
    tmp_path: Path,
) -> None:
    STOP[:] = [Cancellation()]
    stopped = PaperPlan(tuple(Unit(str(i), _until_stopped, (i,)) for i in range(4)), {"units": 4})
    part = _with(tmp_path / "study.db", stopped, STOP[0])
    assert (part.n_done, part.tables[0].rows) == (2, [{"sum": 1}])
    again = _with(tmp_path / "study.db", _plan(4))
    whole = reproduce(PAPER, _plan(4))
    assert (again.n_done, again.tables) == (4, whole.tables)
    assert again.rows.equals(whole.rows)


def test_a_study_of_another_size_is_refused(tmp_path: Path) -> None:
    _with(tmp_path / "study.db", _plan(2))
    with pytest.raises(BadInputError, match="units"):
        _with(tmp_path / "study.db", _plan(4))


def test_what_was_finished_before_a_stop_is_tabulated(tmp_path: Path) -> None:
    _with(tmp_path / "study.db", PaperPlan(_plan(4).units[:2], {"units": 4}))
    cancellation = Cancellation()
    cancellation.cancel()
    found = _with(tmp_path / "study.db", _plan(4), cancellation)
    assert (found.n_done, found.n_wanted, found.tables[0].rows) == (2, 4, [{"sum": 1}])
    with pytest.raises(ShortlistError, match="stopped before a unit was finished"):
        reproduce(PAPER, _plan(4), Work(cancellation=cancellation))


def test_a_study_is_bound_to_its_data() -> None:
    table = pd.DataFrame({"a": [1, 2]})
    other = fingerprints({"it": table + 1})
    assert fingerprints({"it": table}) == fingerprints({"it": table.copy()}) != other
    assert list(other) == ["the set it"]


def test_without_any_data_it_is_said_how_to_get_it() -> None:
    with pytest.raises(BadInputError, match=r"at least one of them, got none\. musk is missing\."):
        reproduce(PAPER, _plan(0, ("musk is missing.",)))


def test_an_extent_without_anything_to_measure_does_not_say_that_data_are_missing() -> None:
    with pytest.raises(BadInputError, match=r"^tables must name what is measured .* got nothing to measure"):
        reproduce(PAPER, _plan(0))


def test_sets_that_are_there_are_found_and_the_others_named(tmp_path: Path) -> None:
    write_wdbc(tmp_path)
    write_made_set(tmp_path, "bupa-liver-disorders")
    found, missing = sets_of(["wdbc", "spambase", "bupa-liver-disorders", "musk-v1"], tmp_path)
    assert {name: table.shape for name, table in found.items()} == {
        "wdbc": (569, 31), "bupa-liver-disorders": (345, 7),
    }  # fmt: skip
    assert missing == (how_to_get("spambase"), how_to_get("musk-v1"))
    assert "shortlist datasets fetch spambase" in missing[0]
    assert "write musk_v1.csv into a folder" in missing[1]


def test_only_the_tables_that_are_asked_for_are_made() -> None:
    plan = PAPER.plan(None, Extent())
    nothing = reproduce(PAPER, plan, tables=("table-5",))
    assert nothing.tables == ()
    assert nothing.missing == ("table-5 cannot be made of what was measured.",)
    assert [table.name for table in reproduce(PAPER, plan, tables=("sum",)).tables] == ["sum"]


def test_a_bare_number_names_a_table() -> None:
    extent = check_extent(PAPER, Extent("medium", ("5", "sum"), ("odd",), folds=2))
    assert extent.tables == ("table-5", "sum")
    assert extent.wants("table-5", "table-6")
    assert not extent.wants("table-6")
    assert (extent.of(("even",)), Extent().of(("even",))) == (("odd",), ("even",))


def test_what_is_named_twice_counts_once() -> None:
    extent = check_extent(PAPER, Extent(tables=("5", "table-5"), sets=("odd", "odd")))
    assert (extent.tables, extent.sets) == (("table-5",), ("odd",))


def test_more_folds_than_there_are_are_refused() -> None:
    assert (Extent(folds=10).folds_of(10), Extent().folds_of(10)) == (10, None)
    with pytest.raises(BadInputError, match="folds must be at most 10, got 11"):
        Extent(folds=11).folds_of(10)


@pytest.mark.parametrize(
    ("extent", "said"),
    [
        (Extent("smal"), r"scale must be small, medium or paper, got 'smal'\. Did you mean 'small'\?"),
        (Extent(tables=("6",)), "tables must be among claims, sum or table-5 in squares, got 'table-6'"),
        (Extent(sets=("even", "ood")), r"sets must be among .* in squares, got 'ood'\. Did you mean 'odd'\?"),
        (Extent(folds=0), "folds must be above 0, got 0"),
        (Extent(seeds=3), r"`seeds` has no use in squares\. Leave it out\."),
        (Extent(classifiers=(40,)), "`classifiers` has no use in squares"),
    ],
)
def test_an_extent_that_a_paper_does_not_have_is_refused(extent: Extent, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        check_extent(PAPER, extent)


def test_the_papers_row_stands_below_ours_where_it_has_one() -> None:
    ours = {"set": "a", "whose": "here", "n": 1}
    assert beside({"set": "a"}, {"n": 1}, None) == [ours]
    assert beside({"set": "a"}, {"n": 1}, {"n": 2}) == [ours, {"set": "a", "whose": "paper", "n": 2}]


def test_dots_are_not_joined_and_each_has_both_coordinates() -> None:
    line = dots("here", pd.Series([1, 2]), [0.5, 0.25])
    assert (line.name, line.points, line.joined) == ("here", ((1.0, 0.5), (2.0, 0.25)), False)
    with pytest.raises(ValueError, match="shorter"):
        dots("here", [1], [])
