"""Choice of the engine by shape, and the same front from every engine."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.methods.integer import search_zones as search
from shortlist.methods.integer.bound_sweep import Lexicographic, bounds_by_solves, sweep_all, sweep_order
from shortlist.methods.integer.bounded_solves import BoundedSolves
from shortlist.methods.integer.engines import ENGINES, PARTS, PHASES, WHOLE, ProgramShape, engine_for
from shortlist.methods.integer.integer_objectives import Archive
from shortlist.methods.integer.relaxed_zones import RelaxedZones
from shortlist.methods.integer.search_zones import search_zones
from shortlist.methods.integer.two_phases import TwoPhases
from shortlist.methods.integer.zone_parts import N_BY_SOLVER, ZoneParts
from shortlist.milp.program import LinearObjective, make_program
from shortlist.programs.named_program import NamedProgram
from shortlist.programs.solve import solve_program
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget
from tests.programs.made_programs import front_by_trying, random_program

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results"


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        pytest.param(ProgramShape(n_objectives=2, n_columns=9, n_rows=9), PHASES, id="two objectives"),
        pytest.param(ProgramShape(n_objectives=2, n_columns=9, n_rows=9, solver="scip"), PHASES, id="SCIP"),
        pytest.param(ProgramShape(n_objectives=3, n_columns=300, n_rows=900), PARTS, id="few columns"),
        pytest.param(ProgramShape(n_objectives=3, n_columns=29, n_rows=1), WHOLE, id="tiny"),
        pytest.param(ProgramShape(n_objectives=3, n_columns=29, n_rows=1, large_sums=True), PARTS, id="tiny, large sums"),
        pytest.param(ProgramShape(n_objectives=4, n_columns=9, n_rows=1), PARTS, id="tiny, four objectives"),
        pytest.param(ProgramShape(n_objectives=3, n_columns=900, n_rows=300), PARTS, id="more columns than rows"),
        pytest.param(ProgramShape(n_objectives=3, n_columns=900, n_rows=900), WHOLE, id="many rows"),
        pytest.param(ProgramShape(n_objectives=3, n_columns=9, n_rows=9, solver="cpsat"), WHOLE, id="CP-SAT"),
        pytest.param(ProgramShape(n_objectives=3, n_columns=9, n_rows=9, has_diagram=True), "diagram", id="diagram"),
    ],
)  # fmt: skip
def test_the_shape_decides(shape: ProgramShape, name: str) -> None:
    assert engine_for(shape).name == name


def test_every_engine_names_the_file_that_measured_it() -> None:
    missing = [engine.measured for engine in ENGINES if not (RESULTS / engine.measured).exists()]

    assert not missing


@settings(max_examples=60)
@given(number=st.integers(0, 10**6), n_by_solver=st.sampled_from([0, N_BY_SOLVER]))
def test_every_engine_finds_the_front_of_brute_force(number: int, n_by_solver: int) -> None:
    named = random_program(np.random.default_rng([82, number]))
    engines = (PHASES, PARTS, WHOLE) if len(named.program.objectives) == 2 else (PARTS, WHOLE)

    for engine in engines:
        with patch.object(search, "N_BY_SOLVER", n_by_solver):  # 0: parts are searched in integers at once
            front = search_zones(named.program, engine=engine)
        assert front.proof.kind is ProofKind.COMPLETE
        assert set(map(tuple, front.values.tolist())) == points_of(named)


def test_a_tiny_program_with_sums_too_large_for_highs_is_searched_by_parts() -> None:
    costs = np.random.default_rng(5).integers(10**9, 10**10, (3, 9)).astype(float)
    program = make_program(
        np.ones((1, 9)), row_lower=4, row_upper=np.inf, column_lower=0, column_upper=1, integer=True,
        objectives=[LinearObjective(Objective(name, scale=1), row) for name, row in zip("uvw", costs, strict=True)],
    )  # fmt: skip
    front = search_zones(program)
    assert front.extras["why"].startswith(PARTS)
    assert front.proof.kind is ProofKind.COMPLETE
    assert set(map(tuple, front.values.tolist())) == points_of(
        NamedProgram(program, tuple("abcdefghi"), ("four",))
    )


@settings(max_examples=100)
@given(number=st.integers(0, 10**6))
def test_phases_and_sweeps_that_search_in_integers_from_the_start_find_it_too(number: int) -> None:
    named = random_program(np.random.default_rng([83, number]))
    program = named.program
    solves = BoundedSolves(program, solver="highs", budget=Budget(), stage="test")
    relaxed = RelaxedZones(program, solves.integers, Budget())
    parts = ZoneParts(solves, relaxed, n_by_solver=0)
    found = []
    if len(program.objectives) == 2:
        phases = TwoPhases(solves, relaxed, parts)
        phases.run()
        found.append(phases.found.vectors)
    numbers = sweep_order(solves.integers, None)
    best = Lexicographic(solves, relaxed, parts, numbers[0])
    found.append(sweep_all(numbers, lambda: bounds_by_solves(solves, numbers[1:]), best).answers)

    for vectors in found:
        front = solves.front(list(vectors), Proof(ProofKind.COMPLETE), method="test", candidates=None)
        assert set(map(tuple, front.values.tolist())) == points_of(named)


def points_of(named: NamedProgram) -> set[tuple[float, ...]]:
    return set(map(tuple, front_by_trying(named).tolist()))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=60))
def test_an_archive_keeps_each_vector_once_with_its_first_solution(pairs: list[tuple[int, int]]) -> None:
    archive = Archive(2)
    numbers = [archive.add(np.array(pair), np.array([place])) for place, pair in enumerate(pairs)]

    first = list(dict.fromkeys(pairs))
    assert archive.vectors.tolist() == [list(pair) for pair in first]
    assert numbers == [first.index(pair) for pair in pairs]
    for pair in first:
        assert np.array(pair) in archive
        assert archive.columns_of(np.array(pair)).tolist() == [pairs.index(pair)]


def test_a_vector_without_a_solution_has_none() -> None:
    archive = Archive(1)
    archive.add(np.array([3]))

    with pytest.raises(KeyError):
        archive.columns_of(np.array([3]))


def test_a_front_says_which_engine_found_it_and_why() -> None:
    named = random_program(np.random.default_rng(1))

    assert (
        solve_program(named).extras["why"]
        == engine_for(
            ProgramShape(
                n_objectives=len(named.program.objectives),
                n_columns=named.program.n_columns,
                n_rows=named.program.n_rows,
            )
        ).reason
    )
    assert solve_program(named, method="cwmoip").extras["why"] == "asked for cwmoip"


def test_an_engine_that_is_none_or_for_other_programs_is_refused() -> None:
    made = [random_program(np.random.default_rng(number)).program for number in range(40)]
    two, three = (next(one for one in made if len(one.objectives) == n) for n in (2, 3))
    for program, engine in ((two, "diagram"), (two, "any"), (three, PHASES)):
        with pytest.raises(BadInputError, match="engine must be one of"):
            search_zones(program, engine=engine)
