"""Numbers of any length: rows split into digits, costs exact or rounded, beside trying everything in fractions."""

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from shortlist import solve_front
from shortlist.errors import BadInputError
from shortlist.files import Source
from shortlist.milp.current import CurrentProgram
from shortlist.milp.program import make_program
from shortlist.milp.whole_rows import FINEST_TOLERANCE, tells_apart, whole_rows
from shortlist.programs.integer_form import integer_form
from shortlist.programs.lp_format import read_lp
from shortlist.programs.mps_format import read_program
from shortlist.programs.named_program import NamedProgram
from shortlist.programs.recheck import recheck_front
from shortlist.programs.solve import solve_program
from shortlist.results.front import Front
from shortlist.results.proof import ProofKind
from tests.programs.long_numbers import LongProgram, front_of, long_program

HEAD = "Minimize multi-objectives\n a: 0.1 x + 0.70807257779604549 y\n b: - x - 3 y\nSubject To\n"
TAIL = "Bounds\n x <= 4\n y <= 4\nGeneral\n x y\nEnd\n"


def read(text: str) -> NamedProgram:
    return read_lp(Source("made.lp", text))


def check(made: LongProgram, named: NamedProgram, front: Front) -> bool:
    """Check a front against all solutions; return whether costs were rounded."""
    values = made.values()
    decisions = front.decisions[:, [front.candidates.index(f"x{i}") for i in range(len(made.lower))]]
    found = [values[tuple(row)] for row in decisions.tolist()]  # which are solutions
    assert front.values.tolist() == [[float(one) for one in row] for row in found]
    most = [Fraction(one) for one in front.proof.tolerances] or [Fraction(0)] * len(made.goals)
    for best in front_of(values):
        assert any(all(a <= b + off for a, b, off in zip(one, best, most, strict=True)) for one in found)
    if not any(most):
        assert set(found) == front_of(values)
    assert front.proof.kind is ProofKind.COMPLETE
    assert recheck_front(named, front).failures == ()
    return any(map(bool, most))


@pytest.mark.parametrize(
    ("solver", "seeds"), [("highs", range(50)), ("cpsat", range(50, 65)), ("scip", range(65, 80))]
)
def test_fronts_of_numbers_of_any_length_are_those_of_all_solutions(solver: str, seeds: range) -> None:
    rounded = []
    for seed in seeds:
        made = long_program(seed)
        named = read(made.text())
        rounded.append(check(made, named, solve_program(named, solver=solver)))
    assert any(rounded)
    assert not all(rounded)


@pytest.mark.parametrize("method", ["cwmoip", "epsilon-constraint"])
def test_every_complete_method_takes_them(method: str) -> None:
    for seed in range(80, 86):
        made = long_program(seed)
        named = read(made.text())
        check(made, named, solve_program(named, method=method))


def test_beside_continuous_columns_rows_of_integer_ones_stay_exact() -> None:
    for seed in range(100, 130):
        made = long_program(seed, mixed=True)
        named = read(made.text())
        check(made, named, solve_program(named))


def test_a_split_row_holds_where_some_values_of_its_columns_keep_the_new_rows() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        n = int(rng.integers(1, 4))
        lower = rng.integers(-3, 2, n)
        upper = lower + rng.integers(0, 4, n)
        row = rng.integers(-(10**16), 10**16, n).astype(np.float64)
        inside = rng.integers(lower, upper + 1)
        limit = float(row @ inside)
        low, high = [(-np.inf, limit), (limit, np.inf), (limit, limit), (limit - 1e15, limit)][
            rng.integers(4)
        ]
        named = NamedProgram(
            make_program(
                row[None, :],
                row_lower=low,
                row_upper=high,
                column_lower=lower,
                column_upper=upper,
                integer=True,
            ),
            tuple(f"x{i}" for i in range(n)),
            ("row",),
        )
        form = integer_form(named)
        assert whole_rows(form.program).whole.all()
        assert tells_apart(CurrentProgram(form.program).size, FINEST_TOLERANCE)
        for x in itertools.product(*(range(a, b + 1) for a, b in zip(lower, upper, strict=True))):
            total = sum(int(factor) * value for factor, value in zip(row.tolist(), x, strict=True))
            assert (low <= total <= high) == _is_extended(form.program, x)


def _is_extended(program: Any, x: tuple[int, ...]) -> bool:
    """Whether some values of the further columns keep every row."""
    ends = zip(program.column_lower[len(x) :], program.column_upper[len(x) :], strict=True)
    ways = itertools.product(*(range(int(low), int(high) + 1) for low, high in ends))
    return any(
        bool(((total := program.rows @ np.array(x + way)) >= program.row_lower).all())
        and bool((total <= program.row_upper).all())
        for way in ways
    )


@pytest.mark.parametrize("solver", ["highs", "cpsat", "scip"])
def test_weights_as_full_doubles_and_costs_in_cents_are_solved_by_every_solver(solver: str) -> None:
    rng = np.random.default_rng(0)
    cost, value = rng.uniform(100, 2500, 12).round(2), rng.integers(1, 30, 12)
    weight = np.sqrt(rng.uniform(1, 50, 12))
    rows = LinearConstraint(np.vstack([weight, np.ones(12)]), [-np.inf, 2], [20.5, np.inf])
    front = solve_front(
        [cost, value], rows, bounds=(0, 1), integrality=1, objectives="min cost, max value", solver=solver
    )
    assert (len(front), str(front.proof.kind), front.proof.tolerances) == (14, "complete", ())
    exact = [Fraction(repr(one)) for one in weight.tolist()]
    assert all(
        sum(w * x for w, x in zip(exact, row, strict=True)) <= Fraction("20.5")
        for row in front.decisions.tolist()
    )
    assert "rows_within_tolerance" not in front.extras["program"]


def test_costs_of_17_digits_are_rounded_and_that_is_told() -> None:
    named = read(f"{HEAD} c1: x + y <= 5\n{TAIL}")
    assert named.goal(0) == ({0: Fraction("0.1"), 1: Fraction("0.70807257779604549")}, Fraction(0))
    front = solve_program(named)
    assert len(front) == 14
    (most, none) = front.proof.tolerances
    assert 0 < most < 1e-12
    assert none == 0
    assert list(front.extras["program"]["rounded"]) == ["a"]
    exact = [
        float(x * Fraction("0.1") + y * Fraction("0.70807257779604549")) for x, y in front.decisions.tolist()
    ]
    assert front.values[:, 0].tolist() == exact


def test_costs_of_up_to_14_decimals_stay_exact() -> None:
    front = solve_front(
        [[2.2360679775, 3.16227766016838, 1.4142135623731], [4, 9, 2]], [[1, 1, 1]], (1, 2), bounds=(0, 1),
        integrality=1, objectives="min cost, max value",
    )  # fmt: skip
    assert front.proof.tolerances == ()
    assert front.objectives[0].scale == 10**14
    assert front.values[:, 0].tolist() == [1.4142135623731, 2.2360679775, 3.16227766016838, 4.57649122254148,
                                           5.39834563766838]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "points"),
    [
        ("0.10000000000000001 x <= 0.29999999999999999", 3),
        ("0.1 x <= 0.3", 4),
        ("9007199254740993 x <= 27021597764222978", 3),
        ("9007199254740993 x <= 27021597764222979", 4),
        ("x + 0 y <= 2.9999999999999999999", 3),
    ],
)  # fmt: skip
def test_limits_of_rows_and_columns_count_to_the_last_digit(row: str, points: int) -> None:
    text = f"Minimize multi-objectives\n a: x + y\n b: - x\nSubject To\n c: {row}\nBounds\n x <= 3\n y <= 1\n"
    named = read(f"{text}General\n x y\nEnd\n")
    front = solve_program(named)
    assert len(front) == points
    assert recheck_front(named, front).failures == ()
    full = np.vstack([front.decisions, [[points, 0]]])
    wrong = Front.from_values(
        front.objectives,
        np.array([[x + y, -x] for x, y in full.tolist()], dtype=np.float64),
        full,
        ["x", "y"],
        front.proof,
    )
    assert recheck_front(named, wrong).failures != ()


def test_a_long_number_at_a_column_without_bounds_is_refused() -> None:
    text = "Minimize multi-objectives\n a: 0.1234567890123456 x + y\n b: - x\nSubject To\n c: x - y <= 2\n"
    with pytest.raises(BadInputError, match=r"objective 'a' has costs of too many digits .* and 'x' has no"):
        solve_program(read(f"{text}General\n x y\nEnd\n"))
    text = "Minimize multi-objectives\n a: x\n b: y\nSubject To\n c: 0.12345678901234567 x - 7.1 y >= 2\n"
    with pytest.raises(BadInputError, match="row 'c' has numbers of more than 15 digits, and 'x' has too"):
        solve_program(read(f"{text}General\n x y\nEnd\n"))


def test_values_that_only_an_exact_solver_tells_apart_are_rounded_beside_continuous_columns() -> None:
    """Costs in cents of up to 10^8, with a continuous column that takes no part in them."""
    rng = np.random.default_rng(1)
    n = 8
    cost, value = rng.integers(10**7, 10**8, n) / 100, rng.integers(1, 30, n)
    rows = np.append(rng.integers(1, 9, n), -1.0)[None, :]
    columns = np.column_stack([np.vstack([cost, value]), np.zeros(2)])
    front = solve_front(
        columns, rows, (-np.inf, 12), bounds=(0, [1] * n + [2.5]), integrality=[1] * n + [0],
        objectives="min cost, max value",
    )  # fmt: skip
    most = front.proof.tolerances[0]
    assert 0 < most < cost.sum() / 10**5
    cents = [sum(round(100 * c) for c, x in zip(cost, row, strict=True) if x) for row in front.decisions]
    assert front.values[:, 0].tolist() == [one / 100 for one in cents]
    every = np.array(list(itertools.product((0, 1), repeat=n)))
    kept = every[every @ rows[0, :n] <= 14.5]
    for one in kept:
        reached = (front.values[:, 0] <= one @ cost + most) & (front.values[:, 1] >= one @ value)
        assert reached.any()


@pytest.mark.parametrize(("name", "points"), [("pyomo17.lp", 14), ("pulp_weight_decimals.lp", None)])
def test_files_of_real_tools_are_read(name: str, points: int | None, data_folder: Path) -> None:
    named = read_program(data_folder / "cases" / name)
    front = solve_program(named)
    assert front.proof.kind is ProofKind.COMPLETE
    assert points in {None, len(front)}
    assert recheck_front(named, front).failures == ()
