"""Random programs with numbers of many digits as LP files, and their fronts by trying everything in fractions."""

import itertools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

NEAR = ("0.30000000000000004", "0.29999999999999999", "0.10000000000000001", "0.3", "0.1", "0.2")
"""Decimals that a double tells apart badly, or not at all."""


@dataclass(frozen=True)
class LongProgram:
    """Minimise `goals`; terms are a column and a number as it is written.

    `rows`: terms, a comparison or ``range``, and two limits, of which the second one is for a range. `slack`:
    the largest value of a continuous column z that helps the sum of all columns to reach `need`; None without.
    """

    lower: list[int]
    upper: list[int]
    rows: list[tuple[list[tuple[int, str]], str, Fraction, Fraction]]
    goals: list[list[tuple[int, str]]]
    slack: Fraction | None = None
    need: Fraction = Fraction(0)

    def text(self) -> str:
        """Return the program as an LP file, its columns x0, x1, ... first named in this order."""
        names = [f"x{column}" for column in range(len(self.lower))]
        nothing = " + ".join(f"0 {name}" for name in names)
        lines = ["Minimize multi-objectives"]
        lines += [f" o{number}: {nothing} {_expression(goal)}" for number, goal in enumerate(self.goals)]
        lines.append("Subject To")
        for number, (terms, kind, low, high) in enumerate(self.rows):
            sides = ("", f"{kind} {decimal_text(low)}")
            if kind == "range":
                sides = (f"{decimal_text(low)} <= ", f"<= {decimal_text(high)}")
            lines.append(f" r{number}: {sides[0]}{_expression(terms)} {sides[1]}")
        if self.slack is not None:
            lines.append(f" help: {' + '.join(names)} + z >= {decimal_text(self.need)}")
        lines.append("Bounds")
        ends = enumerate(zip(self.lower, self.upper, strict=True))
        lines += [f" {low} <= x{column} <= {high}" for column, (low, high) in ends]
        lines += [] if self.slack is None else [f" z <= {decimal_text(self.slack)}"]
        return "\n".join([*lines, "General", f" {' '.join(names)}", "End", ""])

    def values(self) -> dict[tuple[int, ...], tuple[Fraction, ...]]:
        """Return the objectives of every solution."""
        every = itertools.product(
            *(range(low, high + 1) for low, high in zip(self.lower, self.upper, strict=True))
        )
        return {x: tuple(_sum(goal, x) for goal in self.goals) for x in every if self._is_solution(x)}

    def _is_solution(self, x: tuple[int, ...]) -> bool:
        if self.slack is not None and sum(x) + self.slack < self.need:
            return False
        for terms, kind, low, high in self.rows:
            total = _sum(terms, x)
            if kind in {">=", "=", "range"} and total < low:
                return False
            if kind in {"<=", "="} and total > low:
                return False
            if kind == "range" and total > high:
                return False
        return True


def decimal_text(number: Fraction) -> str:
    """Return a decimal fraction as it is written.

    >>> decimal_text(Fraction(-1, 8)), decimal_text(Fraction(3))
    ('-0.125', '3')
    """
    places = next(k for k in itertools.count() if (number * 10**k).denominator == 1)
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    whole, decimals = (digits[:-places], digits[-places:]) if places else (digits, "")
    return ("-" if number < 0 else "") + whole + (f".{decimals}" if decimals else "")


def _sum(terms: list[tuple[int, str]], x: tuple[int, ...]) -> Fraction:
    return sum((Fraction(factor) * x[column] for column, factor in terms), Fraction(0))


def _expression(terms: list[tuple[int, str]]) -> str:
    return " ".join(
        f"{'-' if factor.startswith('-') else '+'} {factor.lstrip('-')} x{column}" for column, factor in terms
    )


def front_of(values: dict[tuple[int, ...], tuple[Fraction, ...]]) -> set[tuple[Fraction, ...]]:
    """Return the non-dominated vectors."""
    every = set(values.values())
    return {
        one
        for one in every
        if not any(other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in every)
    }


def long_program(seed: int, *, mixed: bool = False) -> LongProgram:
    """Return a random program; limits are sums that are reached, or off by a unit of the 16th decimal or so."""
    draw = random.Random(seed)
    n = draw.randrange(2, 6)
    lower = [draw.choice([0, 0, 0, -2]) for _ in range(n)]
    upper = [low + draw.randrange(1, 4) for low in lower]
    rows = []
    for _ in range(draw.randrange(1, 4)):
        terms = [(column, _signed(draw, _number(draw))) for column in range(n) if draw.random() < 0.8]
        terms = terms or [(0, _number(draw))]
        inside = tuple(draw.randrange(low, high + 1) for low, high in zip(lower, upper, strict=True))
        limit = _sum(terms, inside) + Fraction(draw.choice([0, 0, 1, -1]), 10 ** draw.choice([16, 17, 20]))
        kind = draw.choice(["<=", ">=", "=", "<=", ">=", "range"])
        rows.append((terms, kind, limit, limit + Fraction(_number(draw))))
    goals = []
    for _ in range(draw.choice([2, 2, 3])):
        costs: list[Callable[[random.Random], str]] = [
            _number,
            lambda one: f"{one.randrange(10**12) / 10**11:.11f}",
            lambda one: str(one.randrange(8)),
        ]
        cost = draw.choice(costs)
        terms = [(column, _signed(draw, cost(draw))) for column in range(n) if draw.random() < 0.9]
        goals.append(terms or [(0, "1")])
    slack = Fraction(1, 2) if mixed else None
    return LongProgram(lower, upper, rows, goals, slack, sum(lower) + Fraction(5, 4))


def _number(draw: random.Random) -> str:
    ways: list[Callable[[], str]] = [
        lambda: draw.choice(NEAR),
        lambda: repr(draw.uniform(0, 5)),
        lambda: f"{draw.uniform(0, 5):.17g}",
        lambda: str(draw.randrange(10**17)),
        lambda: f"{draw.randrange(10**6)}.{draw.randrange(10**12):012d}",
        lambda: str(draw.randrange(6)),
        lambda: f"{draw.randrange(100) / 10}",
        lambda: f"{draw.randrange(10)}.{draw.randrange(10**20):020d}",
        lambda: repr(math.sqrt(draw.randrange(1, 50))),
    ]
    return draw.choice(ways)()


def _signed(draw: random.Random, number: str) -> str:
    return draw.choice(["", "", "-"]) + number
