"""Values of continuous columns, as they come back, beside the file and all of its integer solutions."""

import csv
import io
import itertools
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog

from shortlist.files import Source
from shortlist.milp.solution import FEASIBILITY_TOLERANCE
from shortlist.programs.lp_format import read_lp
from shortlist.programs.named_program import NamedProgram, chosen_objectives
from shortlist.programs.recheck import recheck_front
from shortlist.programs.solve import solve_program
from shortlist.results.front import Front, values_at
from tests.cli.running import done, facts_of

STEP = Fraction(1, 2)
"""Step of every objective with a continuous column."""


@dataclass(frozen=True)
class Mixed:
    """A small program of integer columns i0, i1, ... and continuous ones c0, c1, ..., in tenths.

    `columns`: least and largest value by name. `rows`: terms and limits, the second one not below the first.
    `goals`: terms and sense, 1 to minimise.
    """

    columns: dict[str, tuple[Fraction, Fraction]]
    rows: list[tuple[dict[str, Fraction], Fraction | None, Fraction | None]] = field(default_factory=list)
    goals: list[tuple[dict[str, Fraction], int]] = field(default_factory=list)

    @property
    def whole(self) -> list[str]:
        return [name for name in self.columns if name.startswith("i")]

    @property
    def steps(self) -> dict[str, float]:
        return {
            f"o{number}": float(STEP)
            for number, (terms, _) in enumerate(self.goals)
            if any(name.startswith("c") for name in terms)
        }

    def text(self) -> str:
        """Return the program as an LP file; objectives that are maximised are rows without limits."""
        lines = ["Minimize multi-objectives"]
        lines += [f" o{number}: {_sum_text(terms)}" for number, (terms, _) in enumerate(self.goals)]
        lines += ["Subject To", " all: " + " + ".join(self.columns) + " >= -1000"]
        for number, (terms, low, high) in enumerate(self.rows):
            lines += [f" a{number}: {_sum_text(terms)} >= {float(low)}"] if low is not None else []
            lines += [f" b{number}: {_sum_text(terms)} <= {float(high)}"] if high is not None else []
        lines += ["Bounds"]
        lines += [f" {float(low)} <= {name} <= {float(high)}" for name, (low, high) in self.columns.items()]
        return "\n".join([*lines, "General", " " + " ".join(self.whole), "End", ""])

    def objectives(self) -> str:
        return ", ".join(f"{'min' if sign > 0 else 'max'} o{n}" for n, (_, sign) in enumerate(self.goals))

    def misses(self, values: dict[str, Fraction]) -> list[Fraction]:
        """Return by how much a solution misses each bound and row, relative to the size of its sum."""
        found = []
        terms = [({name: Fraction(1)}, *ends) for name, ends in self.columns.items()]
        for row, low, high in [*terms, *self.rows]:
            parts = [factor * values[name] for name, factor in row.items()]
            size = max(Fraction(1), sum(map(abs, parts), Fraction(0)))
            found.append(Fraction(0) if low is None else (low - sum(parts)) / size)
            found.append(Fraction(0) if high is None else (sum(parts) - high) / size)
        return found

    def extremes(self, decision: dict[str, Fraction]) -> list[list[float]]:
        """Return objectives of some vertices of the continuous columns beside an integer solution, by SciPy."""
        names = [name for name in self.columns if name not in decision]
        limits, ends = [], []
        for terms, low, high in self.rows:
            known, own = _apart(terms, decision, names)
            for limit, sign in ((high, 1), (low, -1)):
                if limit is not None:
                    limits.append([sign * one for one in own])
                    ends.append(float(sign * (limit - known)))
        goals = [_apart(terms, decision, names) for terms, _ in self.goals]
        bounds = [tuple(map(float, self.columns[name])) for name in names]
        found = []
        for weights in ((1, 0), (0, 1), (1, 1)):
            costs = sum(
                weight * sign * np.array(own)
                for weight, (_, sign), (_, own) in zip(weights, self.goals, goals, strict=True)
            )
            solved = linprog(costs, A_ub=limits, b_ub=ends, bounds=bounds)
            if not solved.success:
                return []
            found.append([float(known) + float(np.dot(own, solved.x)) for known, own in goals])
        return found


def _apart(
    terms: dict[str, Fraction], decision: dict[str, Fraction], names: list[str]
) -> tuple[Fraction, list[float]]:
    """Return the sum of the decided columns, and the coefficients of the others."""
    known = sum((factor * decision[name] for name, factor in terms.items() if name in decision), Fraction(0))
    return known, [float(terms.get(name, 0)) for name in names]


def _sum_text(terms: dict[str, Fraction]) -> str:
    return " ".join(
        f"{'-' if factor < 0 else '+'} {float(abs(factor))} {name}" for name, factor in terms.items()
    )


def mixed_program(rng: np.random.Generator) -> Mixed:
    """Return a random program whose rows hold at a solution drawn first."""

    def tenths(low: int, high: int) -> Fraction:
        return Fraction(int(rng.integers(low, high)), 10)

    def terms(share: float) -> dict[str, Fraction]:
        found = {name: tenths(-40, 41) for name in columns if rng.random() < share}
        return {name: factor for name, factor in found.items() if factor} or {"i0": Fraction(1)}

    columns: dict[str, tuple[Fraction, Fraction]] = {}
    for number in range(int(rng.integers(2, 4))):
        low = Fraction(int(rng.integers(-2, 1)))
        columns[f"i{number}"] = low, low + int(rng.integers(1, 4))
    for number in range(int(rng.integers(1, 4))):
        low = tenths(-20, 11)
        columns[f"c{number}"] = low, low + tenths(0, 60)
    inside = {
        name: low + (high - low) * Fraction(int(rng.integers(0, 4)), 3)
        for name, (low, high) in columns.items()
    }
    inside |= {name: Fraction(round(value)) for name, value in inside.items() if name.startswith("i")}
    rows = []
    for _ in range(int(rng.integers(1, 5))):
        row = terms(0.7)
        total = sum((factor * inside[name] for name, factor in row.items()), Fraction(0))
        below, above = (
            Fraction(int(total * 10 // 1), 10) - tenths(0, 20),
            Fraction(-int(-total * 10 // 1), 10) + tenths(0, 20),
        )
        kind = int(rng.integers(3))
        rows.append((row, below if kind != 1 else None, above if kind != 0 else None))
    goals = []
    for _ in range(2):
        goal = {name: factor for name, factor in terms(0.8).items() if rng.random() < 0.7 or name[0] == "i"}
        goals.append((goal or {"i0": Fraction(1)}, int(rng.choice([1, -1]))))
    return Mixed(columns, rows, goals)


def check_values(made: Mixed, values: dict[str, Any], point: list[float]) -> None:
    """Check that values keep every row and bound, and give the objectives of their point."""
    written = {name: Fraction(value) for name, value in values.items()}
    assert set(written) == set(made.columns)
    assert all(written[name].denominator == 1 for name in made.whole)
    assert max(made.misses(written)) <= Fraction(FEASIBILITY_TOLERANCE)
    for number, (terms, sign) in enumerate(made.goals):
        parts = [factor * written[name] for name, factor in terms.items()]
        off = Fraction(FEASIBILITY_TOLERANCE) * max(Fraction(1), sum(map(abs, parts), Fraction(0)))
        short = sign * (Fraction(point[number]) - sum(parts))
        assert -off <= short <= (STEP if f"o{number}" in made.steps else 0) + off


def solved(rng: np.random.Generator) -> tuple[Mixed, NamedProgram, Front]:
    """Make a mixed program, read it, and solve it."""
    made = mixed_program(rng)
    named = chosen_objectives(read_lp(Source("made.lp", made.text())), made.objectives())
    return made, named, solve_program(named, tolerance=made.steps)


def test_values_of_continuous_columns_keep_every_row_and_give_the_objectives() -> None:
    rng = np.random.default_rng(19)
    n_points = 0
    for _ in range(60):
        made, named, front = solved(rng)
        n_points += len(front)
        assert (front.columns, set(front.columns)) == (named.columns, set(made.columns))
        frame = front.solutions
        for point in range(len(front)):
            values = values_at(front, point)
            check_values(made, values, front.values[point].tolist())
            assert {name: frame[name][point] for name in frame} == values
        assert recheck_front(named, front).failures == ()
    assert n_points > 100


def test_no_values_of_the_columns_are_better_than_the_front() -> None:
    rng = np.random.default_rng(20)
    n_tried = 0
    for _ in range(20):
        made, _named, front = solved(rng)
        signs = np.array([sign for _, sign in made.goals])
        steps = np.array([made.steps.get(name, 0.0) for name in front.names])
        ranges = [range(int(low), int(high) + 1) for low, high in (made.columns[name] for name in made.whole)]
        for decided in itertools.product(*ranges):
            decision = dict(zip(made.whole, map(Fraction, decided), strict=True))
            for values in made.extremes(decision):
                n_tried += 1
                assert (signs * front.values <= signs * np.array(values) + steps + 1e-5).all(axis=1).any()
    assert n_tried > 300


def test_the_command_writes_the_value_of_every_column(tmp_path: Path) -> None:
    rng = np.random.default_rng(21)
    for _ in range(6):
        made = mixed_program(rng)
        (tmp_path / "p.lp").write_text(made.text())
        steps = [f"tolerance={name}={step}" for name, step in made.steps.items()]
        sets = [word for one in steps for word in ("--set", one)]
        asked = ("solve", "p.lp", "--objectives", made.objectives(), *sets)
        done(*asked, "--out", "f.parquet", cwd=tmp_path)
        done(*asked, "--out", "f.csv", cwd=tmp_path)
        front = Front.load(tmp_path / "f.parquet")
        lines = list(csv.DictReader(io.StringIO((tmp_path / "f.csv").read_text())))
        for point in range(len(front)):
            done("front", "pick", "f.parquet", "--pick", str(point), "--out", "p.csv", cwd=tmp_path)
            rows = csv.DictReader(io.StringIO((tmp_path / "p.csv").read_text()))
            picked = {row["column"]: row["value"] for row in rows}
            check_values(made, picked, front.values[point].tolist())
            values = values_at(front, point)
            assert {name: float(value) for name, value in picked.items()} == values
            told = {
                name: value
                for column, value in lines[point].items()
                if (name := column.split(": ")[-1]) in values
            }
            assert {name: float(value) for name, value in told.items()} == values
        shown = facts_of("front", "show", "f.parquet", "--pick", "0", cwd=tmp_path)["pick"]["selection"]
        assert len(shown) == sum(bool(value) for value in values_at(front, 0).values())
        assert done("verify", "f.parquet", "p.lp", cwd=tmp_path).stdout.startswith("As claimed:")
