"""Algorithms 1 and 2 as printed, against enumeration; and the library's methods against them, their slow twins."""

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.methods.integer.bound_sweep import cwmoip, epsilon_constraint
from shortlist.methods.integer.bounded_solves import LimitReachedError
from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.objective import Objective
from shortlist.runs import Budget, Cancellation, open_study
from shortlist_papers.front_quality import box_of
from shortlist_papers.product_fronts import beside_whole, measure_whole
from shortlist_papers.product_lemmas import RELATIONS, lemma_holds
from shortlist_papers.product_lines import complete_points, prepared_question
from shortlist_papers.product_runs import (
    BY_RANGE,
    BY_TEXT,
    PAPER_3,
    BintPro,
    Minimise,
    Point,
    Printed,
    PrintedRun,
    System,
    cwmoip_as_printed,
    epsilon_constraint_as_printed,
    largest_values,
    measure_model,
    measure_printed,
    measure_solrep,
    timed,
)
from tests.examples import examples
from tests.methods import oracles
from tests.methods.strategies import multiobjective_programs


def by_enumeration(points: Sequence[Point]) -> Minimise:
    def minimise(weights: Sequence[float], upper: Sequence[float]) -> Point | None:
        within = [point for point in points if all(x <= u for x, u in zip(point, upper, strict=True))]
        return min(
            within,
            key=lambda point: sum(Fraction(w) * x for w, x in zip(weights, point, strict=True)),
            default=None,
        )

    return minimise


def front_of(points: Sequence[Point]) -> set[Point]:
    return {
        one
        for one in points
        if not any(other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in points)
    }


@st.composite
def clouds(draw: st.DrawFn) -> list[Point]:
    """Points of two to four objectives from 0 to 4, many of them equal in some objective."""
    n = draw(st.integers(2, 4))
    point = st.tuples(*[st.integers(0, 4)] * n)
    return draw(st.lists(point, min_size=1, max_size=12, unique=True))


@given(points=clouds())
def test_algorithm_1_finds_the_whole_front_with_one_program_for_each_bound(points: list[Point]) -> None:
    largest, found = [4] * (len(points[0]) - 2), Printed()
    epsilon_constraint_as_printed(by_enumeration(points), range(5), largest, found)

    assert front_of(points) <= found.points <= set(points)
    assert found.n_programs == 5 ** (len(points[0]) - 1)


@given(points=clouds())
def test_the_parts_of_algorithm_1_find_together_what_it_finds(points: list[Point]) -> None:
    largest, whole, parts = [4] * (len(points[0]) - 2), Printed(), Printed()
    epsilon_constraint_as_printed(by_enumeration(points), range(5), largest, whole)
    for bound in range(5):
        epsilon_constraint_as_printed(by_enumeration(points), (bound,), largest, parts)

    assert parts == whole


@given(points=clouds())
def test_algorithm_2_finds_the_front_and_nothing_else(points: list[Point]) -> None:
    found = Printed()
    cwmoip_as_printed(by_enumeration(points), len(points[0]), found)

    assert found.points == front_of(points)
    assert found.n_programs > 2 * (len(points[0]) - 1)


def test_without_a_solution_algorithm_2_finds_nothing() -> None:
    found = Printed()
    cwmoip_as_printed(by_enumeration([]), 3, found)

    assert found == Printed(set(), 2)


class _StoppedError(Exception):
    """Stands for a kill."""


@given(points=clouds(), n_loops=st.integers(1, 4))
def test_algorithm_2_goes_on_from_its_last_outermost_loop(points: list[Point], n_loops: int) -> None:
    whole, found, calls = Printed(), Printed(), list[Printed]()

    def stop() -> None:
        calls.append(Printed(set(found.points), found.n_programs, found.bound))
        if len(calls) == n_loops:
            raise _StoppedError

    cwmoip_as_printed(by_enumeration(points), len(points[0]), whole)
    try:
        cwmoip_as_printed(by_enumeration(points), len(points[0]), found, reached=stop)
    except _StoppedError:
        found = calls[-1]
        cwmoip_as_printed(by_enumeration(points), len(points[0]), found)

    assert found == whole


@examples(25)
@given(program=multiobjective_programs(), data=st.data())
def test_one_program_is_solved_as_by_enumeration(program: Program, data: st.DataObject) -> None:
    integers = integer_objectives(program)
    solutions = [
        columns
        for columns in np.ndindex(*[int(high - low) + 1 for low, high in _ends(program)])
        if oracles.is_feasible(program, _shifted(program, columns))
    ]
    vectors = [integers.vector(np.array(_shifted(program, columns), dtype=float)) for columns in solutions]
    points = [tuple(map(int, vector * integers.steps + integers.offsets)) for vector in vectors]
    n = len(program.objectives)
    upper = data.draw(st.lists(st.sampled_from([-3, 0, 4, math.inf]), min_size=n, max_size=n))
    weights = data.draw(st.lists(st.integers(0, 2).map(float), min_size=n, max_size=n))

    found = BintPro(program, Budget()).minimise(weights, upper)
    expected = by_enumeration(points)(weights, upper)

    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found in points
        assert all(x <= u for x, u in zip(found, upper, strict=True))
        assert np.dot(weights, found) == np.dot(weights, expected)


def _ends(program: Program) -> list[tuple[float, float]]:
    return list(zip(program.column_lower, program.column_upper, strict=True))


def _shifted(program: Program, columns: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(low) + x for low, x in zip(program.column_lower, columns, strict=True))


@st.composite
def covers(draw: st.DrawFn) -> Program:
    """At least one of each of two groups of items, three or four prices from 0 to 3 to minimise."""
    n, n_objectives = draw(st.integers(3, 5)), draw(st.integers(3, 4))
    prices = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    groups = [draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(any)) for _ in range(2)]
    return make_program(
        np.array(groups, dtype=float), row_lower=1, row_upper=np.inf, column_lower=0, column_upper=1,
        integer=True,
        objectives=[
            LinearObjective(Objective(f"price {i}"), np.array(draw(prices), dtype=float))
            for i in range(n_objectives)
        ],
    )  # fmt: skip


@pytest.mark.slow
@examples(5)
@given(program=covers())
def test_our_methods_find_what_the_algorithms_find_as_printed(program: Program) -> None:
    largest = [int(linear.costs.sum()) for linear in program.objectives]
    first, second = Printed(), Printed()
    solver = BintPro(program, Budget())
    epsilon_constraint_as_printed(solver.minimise, range(largest[0] + 1), largest[1:-1], first)
    cwmoip_as_printed(solver.minimise, len(largest), second)
    expected = {tuple(map(int, point)) for point in oracles.front(program)}

    assert front_of(sorted(first.points)) == front_of(sorted(second.points)) == expected
    for method in (epsilon_constraint, cwmoip):
        front = method(program)
        assert set(map(tuple, front.points.tolist())) == expected
        assert front.extras["n_programs"] <= first.n_programs + 2 * len(largest)


def test_a_stop_is_felt_between_two_programs() -> None:
    cancellation = Cancellation()
    shop = make_program(
        [[1.0, 1.0]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True,
        objectives=[
            LinearObjective(Objective(name), np.array(costs))
            for name, costs in (("price", [2.0, 3.0]), ("defects", [3.0, 1.0]))
        ],
    )  # fmt: skip
    solver = BintPro(shop, Budget(cancellation=cancellation))
    assert solver.minimise([1.0, 0.0], [math.inf, math.inf]) == (2, 3)
    cancellation.cancel()
    with pytest.raises(LimitReachedError, match="interrupted"):
        solver.minimise([1.0, 0.0], [math.inf, math.inf])


@pytest.mark.slow
def test_as_printed_the_published_fronts_of_jcs_are_found(data_folder: Path, tmp_path: Path) -> None:
    question, _ = prepared_question(data_folder, "jcs", 1, fixed=True)
    assert largest_values(question)[0] == 12, "13 bounds of the outermost loop, as in the paper's example"
    (row,) = measure_printed(data_folder, ("jcs", 1), PrintedRun("cwmoip", 4), budget=Budget())
    assert row["objectives"] == 4
    assert (len(row["points"]), row["dominated"], row["ended"]) == (9, 0, True)
    assert sorted(map(tuple, row["points"])) == sorted(
        map(tuple, complete_points(data_folder, "jcs", 1).tolist())
    )
    parts = [
        measure_printed(data_folder, ("jcs", 1), PrintedRun("epsilon-constraint", 3, part), budget=Budget())[
            0
        ]
        for part in range(13)
    ]
    (whole,) = measure_printed(data_folder, ("jcs", 1), PrintedRun("epsilon-constraint", 3), budget=Budget())
    assert sum(part["programs"] for part in parts) == whole["programs"] == whole["loops"]
    assert {tuple(point) for part in parts for point in part["points"]} >= set(map(tuple, whole["points"]))
    with open_study(tmp_path / "study.db") as study:
        (kept,) = measure_printed(
            data_folder, ("jcs", 1), PrintedRun("cwmoip", 4), budget=Budget(study=study)
        )
    assert (kept["points"], kept["programs"]) == (row["points"], row["programs"])
    (stopped,) = measure_printed(data_folder, ("jcs", 1), PrintedRun("cwmoip", 4), 1e-6, budget=Budget())
    assert not stopped["ended"]


def test_the_first_of_four_runs_is_left_out_and_the_median_of_three_is_stored(tmp_path: Path) -> None:
    seconds = iter([4.0, 0.3, 9.0, 0.1])
    runs = list[str]()

    def run(budget: Budget) -> tuple[str, float]:
        runs.append("with a study" if budget.study.keeps else "without")
        return f"run {len(runs)}", next(seconds)

    with open_study(tmp_path / "study.db") as study:
        assert timed(run, Budget(study=study)) == ("run 1", {"seconds": 0.3, "timings": 3})
    assert runs == ["with a study", "without", "without", "without"]


def test_long_and_stopped_runs_are_timed_once() -> None:
    assert timed(lambda _budget: ("", 10.5), Budget())[1] == {"seconds": 10.5, "timings": 1}
    cancellation = Cancellation()
    cancellation.cancel()
    assert timed(lambda _budget: ("", 0.5), Budget(cancellation=cancellation))[1]["timings"] == 1


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_inequalities_of_the_lemmas_have_the_products_of_their_formulas(relation: str) -> None:
    assert all(lemma_holds(relation, n) for n in range(1, 5))


@pytest.mark.slow
def test_points_on_a_complete_front_are_numbered(data_folder: Path) -> None:
    worst, system = [99, 99, 999, 99_999], ("jcs", 0)
    best = complete_points(data_folder, *system).tolist()

    def measure(_folder: Path, _system: System, *, budget: Budget) -> list[dict[str, Any]]:
        del budget
        return [{"points": [worst, *best[:2], worst]}, {"points": []}]

    first, second = beside_whole(measure, data_folder, system, budget=Budget())
    assert (first["optimal"], second["optimal"]) == ([1, 2], [])
    (whole,) = measure_whole(data_folder, system, budget=Budget())
    box = box_of(np.array(best))
    assert box is not None
    assert (whole["n_points"], whole["ended"], whole["low"]) == (39, True, list(box.low))
    assert whole["hypervolume"] == pytest.approx(PAPER_3[system]["A HV"], abs=1e-7)


@pytest.mark.slow
def test_jcs_has_products_of_3_to_10_features_and_ecos_only_by_its_lists_no_empty_one(
    data_folder: Path,
) -> None:
    (jcs,) = measure_model(data_folder, ("jcs", 0), budget=Budget())
    (ecos,) = measure_model(data_folder, ("ecos", 0), budget=Budget())
    assert (jcs["smallest"], jcs["largest"], jcs["smallest_free"]) == (3, 10, 3)
    assert (ecos["smallest"], ecos["smallest_free"]) == (29, 0)


@pytest.mark.slow
def test_with_the_cost_outermost_the_same_front_takes_more_programs(data_folder: Path) -> None:
    rows = [
        measure_printed(data_folder, ("jcs", 1), PrintedRun("cwmoip", 4, order=order), budget=Budget())[0]
        for order in (BY_RANGE, BY_TEXT)
    ]
    assert [len(row["points"]) for row in rows] == [9, 9]
    assert rows[0]["points"] == rows[1]["points"]
    assert rows[0]["programs"] < rows[1]["programs"]


@pytest.mark.slow
def test_solrep_times_its_plane_and_goes_on_with_its_seconds(data_folder: Path, tmp_path: Path) -> None:
    with open_study(tmp_path / "study.db") as study:
        (first,) = measure_solrep(data_folder, ("jcs", 0), 30, budget=Budget(study=study))
        (again,) = measure_solrep(data_folder, ("jcs", 0), 30, budget=Budget(study=study))
    assert 0 < first["plane_s"] < first["seconds"]
    assert again["points"] == first["points"]
