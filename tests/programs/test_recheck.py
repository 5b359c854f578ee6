"""Fronts of programs that are as they claim, and fronts that somebody has changed."""

import dataclasses
import itertools
import os

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.files import Source
from shortlist.methods.front_check import check_claims, finder_of, other_solver
from shortlist.milp.program import LinearObjective, make_program
from shortlist.milp.whole_rows import exact_program
from shortlist.programs.lp_format import read_lp
from shortlist.programs.named_program import NamedProgram, chosen_objectives
from shortlist.programs.recheck import broken_limits, recheck_front
from shortlist.programs.solve import solve_program
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget
from tests.programs.made_programs import all_solutions, random_program, steps_of, strange_program

N_FORGED = int(os.environ.get("SHORTLIST_FORGED", "60"))
"""Changed fronts that are checked; 500 with SHORTLIST_FORGED=500."""


def _solved(rng: np.random.Generator, solver: str = "highs") -> tuple[NamedProgram, Front]:
    """Return a program with two points or more, and its front."""
    while True:
        named = random_program(rng)
        front = solve_program(named, solver=solver)
        if len(front) > 1:
            return named, front


def _without(front: Front, number: int) -> Front:
    kept = np.arange(len(front)) != number
    return dataclasses.replace(front, values=front.values[kept], decisions=front.decisions[kept])


def _changed(front: Front, number: int, rng: np.random.Generator) -> Front:
    """Return the front with one value of a point off by one unit of its objective."""
    values = front.values.copy()
    objective = int(rng.integers(values.shape[1]))
    values[number, objective] += float(rng.choice([-1, 1])) / (front.objectives[objective].scale or 1)
    return dataclasses.replace(front, values=values)


def _other_solution(named: NamedProgram, front: Front, number: int, rng: np.random.Generator) -> Front:
    """Return the front with one number of a solution off by one, in a column that costs something."""
    charged = np.flatnonzero(named.program.minimised_costs().any(axis=0))
    decisions = front.decisions.copy()
    decisions[number, rng.choice(charged)] += rng.choice([-1, 1])
    return dataclasses.replace(front, decisions=decisions)


def _with_dominated(named: NamedProgram, front: Front) -> Front | None:
    """Return the front with a point more, of a solution that is dominated; None where there is none."""
    costs = np.array([linear.costs for linear in named.program.objectives])
    offsets = np.array([linear.offset for linear in named.program.objectives])
    known = {tuple(row) for row in front.values.tolist()}
    for x in all_solutions(named):
        values = np.round(costs @ np.array(x, dtype=np.float64) + offsets, 9)
        if tuple(values.tolist()) not in known:
            return dataclasses.replace(
                front,
                values=np.vstack([front.values, values]),
                decisions=np.vstack([front.decisions, np.array(x)]),
            )
    return None


@pytest.mark.parametrize("solver", ["highs", "cpsat"])
def test_fronts_as_they_were_found_stand_the_check_by_another_solver(solver: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(8):
        named, front = _solved(rng, solver)
        found = recheck_front(named, front)
        assert (found.status, found.failures, found.n_states > 0) == ("rechecked", (), True)
        assert found.sentences() == ["An independent exact count found no other point."]
        program = exact_program(named.program)
        found = check_claims(program, front, budget=Budget(), solver=other_solver(finder_of(front), program))
        assert (found.status, found.failures) == ("rechecked", ())
        assert found.search is not None
        assert found.search.solver != solver
        assert found.search.n_by_sums + found.search.n_by_solver == found.search.n_boxes


def test_every_changed_front_is_found_out() -> None:
    rng = np.random.default_rng(6)
    n_forged = 0
    while n_forged < N_FORGED:
        named, front = _solved(rng)
        number = int(rng.integers(len(front)))
        forged = [
            _without(front, number),
            _changed(front, number, rng),
            _other_solution(named, front, number, rng),
        ]
        more = _with_dominated(named, front)
        for each in [*forged, *([] if more is None else [more])]:
            found = recheck_front(named, each)
            assert found.status == "invalid", each.to_frame(decisions=True)
            assert found.failures
            n_forged += 1


def test_a_solution_that_the_front_lacks_is_told() -> None:
    named, front = _solved(np.random.default_rng(1))
    found = recheck_front(named, _without(front, 0))
    assert found.failures[0].startswith("there is a solution with f0 ")
    assert found.failures[0].endswith("which no point of the front dominates")


def test_a_dominated_point_of_an_incomplete_front_is_found_with_what_dominates_it() -> None:
    rng = np.random.default_rng(11)
    while True:
        named, front = _solved(rng)
        more = _with_dominated(named, front)
        if more is not None:
            break
    proof = Proof(ProofKind.NONDOMINATED)
    alone = dataclasses.replace(more, values=more.values[-1:], decisions=more.decisions[-1:], proof=proof)
    found = recheck_front(named, alone)
    assert found.status == "invalid"
    assert "which dominates point 0" in found.failures[0]
    good = dataclasses.replace(_without(front, 0), proof=proof)
    assert recheck_front(named, good).status == "rechecked"


def test_an_empty_front_says_that_there_is_no_solution() -> None:
    rng = np.random.default_rng(2)
    while True:
        named = random_program(rng)
        front = solve_program(named)
        if not len(front):
            break
    assert recheck_front(named, front).status == "rechecked"
    solvable, full = _solved(rng)
    emptied = dataclasses.replace(full, values=full.values[:0], decisions=full.decisions[:0])
    assert recheck_front(solvable, emptied).status == "invalid"


def test_a_front_of_another_program_is_refused() -> None:
    rng = np.random.default_rng(4)
    named, front = _solved(rng)
    other = dataclasses.replace(named, columns=tuple(f"y{i}" for i in range(len(named.columns))))
    with pytest.raises(BadInputError, match="must be of this program"):
        recheck_front(other, front)
    renamed = [dataclasses.replace(one, name=f"no {one.name}") for one in front.objectives]
    strange = dataclasses.replace(front, objectives=tuple(renamed))
    with pytest.raises(BadInputError, match="must be of this program, which lacks its objectives no f0"):
        recheck_front(named, strange)


CONTINUOUS = """min multi-objectives
 a(1,2): x + 2 y
 b(1,2): - x + y {}
st
 c: x + y + z <= 9
 d: x + y + z >= 1.5
bounds
 x <= 2
 y <= 2
 z <= 1
general
 x y
end
"""


@pytest.mark.parametrize("kind", [ProofKind.APPROXIMATE, ProofKind.NONDOMINATED])
def test_values_of_integer_columns_are_counted_where_others_are_continuous(kind: ProofKind) -> None:
    """Worse values than those of a solution are no less wrong than better ones."""
    named = read_lp(Source("p.lp", CONTINUOUS.format("")))
    front = dataclasses.replace(solve_program(named), proof=Proof(kind))
    assert recheck_front(named, front).failures == ()
    for step in (1.0, -1.0):
        forged = dataclasses.replace(front, values=front.values + np.array([step, 0.0]))
        assert "point 0 has other values than its solution" in recheck_front(named, forged).failures[0]


def test_values_that_no_continuous_column_can_attain_are_wrong() -> None:
    named = read_lp(Source("p.lp", CONTINUOUS.format("+ z")))
    front = solve_program(named, tolerance={"b(1,2)": 0.25})
    assert recheck_front(named, front).status == "rechecked"
    for change in (2.0, -2.0):  # z is from 0 to 1
        proof = Proof(ProofKind.APPROXIMATE, tolerances=front.proof.tolerances)
        forged = dataclasses.replace(front, values=front.values + np.array([0.0, change]), proof=proof)
        assert "no continuous part with these values" in recheck_front(named, forged).failures[0]


def test_names_of_objectives_may_have_commas() -> None:
    named = read_lp(Source("p.lp", CONTINUOUS.format("")))
    front = solve_program(named)
    assert front.names == ["a(1,2)", "b(1,2)"]
    assert recheck_front(named, front).status == "rechecked"


def test_only_continuous_columns_that_miss_a_row_in_fractions_rest_on_the_tolerance_of_highs() -> None:
    for factor, n_near in ((2.0, 0), (1.0000001, 3)):
        costs = [LinearObjective(Objective("price", scale=None), np.array([20.0, 1.5])),
                 LinearObjective(Objective("weight", scale=None), np.array([-1.0, 0.0]))]  # fmt: skip
        program = make_program(
            [[3, factor]], row_lower=6.5, row_upper=6.5, column_lower=0, column_upper=[5, 7.5],
            integer=[True, False], objectives=costs,
        )  # fmt: skip
        named = NamedProgram(program, ("x", "y"), ("row",))
        front = solve_program(named, tolerance={"price": 0.5})
        found = recheck_front(named, front)
        assert (found.status, found.failures, found.n_completed) == ("rechecked", (), n_near)
        said = found.sentences()[0]
        kept = f"The continuous columns of {n_near} of {len(front)} points keep rows within the tolerance of HiGHS"
        assert said.startswith(kept) == bool(n_near)
        older = dataclasses.replace(front, columns=(), continuous=None)
        assert recheck_front(named, older).n_completed == n_near


def test_every_changed_value_of_a_continuous_column_is_found_where_it_breaks_something() -> None:
    named = read_lp(Source("p.lp", CONTINUOUS.format("+ z")))
    front = solve_program(named, tolerance={"b(1,2)": 0.25})
    assert front.continuous is not None
    for point, off in itertools.product(range(len(front)), (0.5, -0.5, np.nan, np.inf)):
        values = front.continuous.copy()
        values[point] += off
        found = recheck_front(named, dataclasses.replace(front, continuous=values))
        assert found.failures == (f"the solution of point {point} has no continuous part with these values",)
    names = dataclasses.replace(front, columns=front.columns[::-1])
    assert recheck_front(named, names).failures == ("the columns of the front are not those of the program",)


LARGE = """min
 none:
st
 o0: - 4 x1 - 5 x3 >= -inf
 o1: 4503599627370497 x0 + 8 x1 + 1125899906842623 x2 + 9 x3 - 5 x4 >= -inf
 r0: 0 <= x0 <= 1
bounds
 x0 free
 x1 <= 4
 -2 <= x2 <= 1
 x3 <= 1
 -9 <= x4 <= -7
general
 x0 x1 x2 x3 x4
end
"""


def test_a_program_that_highs_refuses_is_rechecked_by_another_solver() -> None:
    named = chosen_objectives(read_lp(Source("large.lp", LARGE)), "max o0, min o1")
    found = recheck_front(named, solve_program(named))
    assert (found.status, found.failures) == ("rechecked", ())


def test_a_box_that_every_solver_refuses_stays_open() -> None:
    named = read_lp(
        Source("large.lp", LARGE.replace("r0: 0 <= x0 <= 1", "r0: 0 <= x0 <= 1\n r1: x1 + y >= 1"))
    )
    named = chosen_objectives(named, "max o0, min o1")
    point = np.array([[0, 0, -2, 0, -9]])
    values = point @ np.array([[0, -4, 0, -5, 0], [4503599627370497, 8, 1125899906842623, 9, -5]]).T
    objectives = [linear.objective for linear in named.program.objectives]
    front = Front.from_values(objectives, values, point, named.candidates, Proof(ProofKind.COMPLETE))
    found = check_claims(exact_program(named.program), front, budget=Budget())
    assert (found.status, found.failures) == ("counted", ())
    assert (
        "left without an answer by the limit of the size of numbers that highs takes" in found.sentences()[-1]
    )


def test_fronts_of_strange_programs_stand_the_check() -> None:
    rng = np.random.default_rng(21)
    n_continuous = 0
    for _ in range(40):
        named = strange_program(rng)
        front = solve_program(named, tolerance=steps_of(named))
        found = recheck_front(named, front)
        assert (found.status, found.failures, found.n_completed) == ("rechecked", (), 0)
        n_continuous += len(front) > 0 and not named.program.integer.all()
    assert n_continuous >= 3


def test_what_is_broken_is_what_fractions_say() -> None:
    rng = np.random.default_rng(9)
    for _ in range(20):
        named = random_program(rng)
        low, high = named.program.column_lower.astype(int), named.program.column_upper.astype(int)
        ranges = [range(a - 1, b + 2) for a, b in zip(low, high, strict=True)]
        every = list(itertools.product(*ranges))[:600]
        kept = [x for x, said in zip(every, broken_limits(named, np.array(every)), strict=True) if not said]
        assert set(kept) == set(all_solutions(named)) & set(every)


def test_a_tenth_is_a_tenth_and_large_sums_are_added_up_in_fractions() -> None:
    program = make_program(
        [[0.1, 0.2], [2.0**52, 2.0**52]], row_lower=[0.3, -np.inf], row_upper=[0.3, 2.0**53],
        column_lower=0, column_upper=4, integer=True,
    )  # fmt: skip
    named = NamedProgram(program, ("x", "y"), ("tenths", "large"))
    said = broken_limits(named, np.array([[1, 1], [3, 0], [0, 2]]))
    assert said == ["", "row 'large'", "row 'tenths'"]
