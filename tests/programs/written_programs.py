"""Random programs as LP and MPS files of many layouts, with names that hold the formats' own words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Terms = dict[str, float]

WORDS = [
    *("subject", "st", "bound", "bounds", "general", "generals", "gen", "integer", "integers", "int"),
    *("binary", "binaries", "bin", "end", "semi", "semis", "sos", "sos1", "sos2", "pwlobj", "free", "inf"),
    *("infinity", "min", "max", "minimize", "maximum", "such", "user", "lazy", "rhs", "rows", "columns"),
    *("ranges", "endata", "name", "objsense", "marker", "obj", "e", "e1"),
]
FORMS = ["{}_1", "{}1", "x_{}", "x{}", "{}_{}", "{}.a", "{}_on", "b{}", "{}(1)"]


@dataclass(frozen=True)
class Stated:
    """A program as it is meant.

    `columns`: least value, largest value and kind, ``C``, ``I`` or ``B``, by name. `rows`: name, least and
    largest value, and terms; those without limits are objectives.
    """

    sense: str
    name: str
    terms: Terms
    offset: float
    columns: dict[str, tuple[float, float, str]]
    rows: list[tuple[str, float, float, Terms]]


def stated_program(rng: np.random.Generator, *, n_free: int | None = None) -> Stated:
    """Return a small random program, each column of which is in a row or an objective."""
    n, n_rows = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    free = int(rng.integers(0, 3)) if n_free is None else n_free
    names = _names(rng, n + n_rows + free + 1)
    columns = {name: _column(rng) for name in names[:n]}
    rows = []
    for place, name in enumerate(names[n : n + n_rows + free]):
        terms = _terms(rng, names[:n])
        low = float(rng.integers(-9, 9)) * float(rng.choice([1, 0.5, 100]))
        high = low + float(rng.integers(0, 9)) * float(rng.choice([0, 1, 0.25]))
        kind = int(rng.choice([0, 0, 0, 1, 1, 1, 2, 2, 3]))
        limits = (-math.inf, math.inf) if place >= n_rows else _limits(kind, low, high)
        rows.append((name, *limits, terms))
    rng.shuffle(rows)
    terms = _terms(rng, names[:n]) if n_free is None or rng.random() < 0.8 else {}
    for name in names[:n]:
        if not any(name in row[3] for row in rows):
            terms[name] = 1.0
    offset = float(rng.integers(-4, 5)) if terms and rng.random() < 0.12 else 0.0
    return Stated(str(rng.choice(["min", "max"])), names[-1], terms, offset, columns, rows)


def _limits(kind: int, low: float, high: float) -> tuple[float, float]:
    return [(low, math.inf), (-math.inf, high), (low, low), (low, high)][kind]


def _names(rng: np.random.Generator, count: int) -> list[str]:
    """Return names of which no two are alike; few are a word of the formats, as a whole."""
    names: dict[str, None] = {}
    while len(names) < count:
        word = str(rng.choice(WORDS))
        word = str(rng.choice(np.array([word, word.upper(), word.capitalize()])))
        kind = rng.random()
        if kind < 0.6:
            name = str(rng.choice(FORMS)).replace("{}", word)
        elif kind < 0.65:
            name = word
        else:
            name = str(rng.choice(list("abxyzw"))) + str(rng.integers(0, 30))
        if name.lower() not in {other.lower() for other in names}:
            names[name] = None
    return list(names)


def _terms(rng: np.random.Generator, names: Sequence[str]) -> Terms:
    marked = [name for name in names if rng.random() < 0.7] or [names[0]]
    factors = [float(rng.choice([1, 1, 2, 3, 7, -1, -4, 0.5, -2.25, 1000])) for _ in marked]
    return dict(zip(marked, factors, strict=True))


def _column(rng: np.random.Generator) -> tuple[float, float, str]:
    kind = str(rng.choice(list("CIIB")))
    if kind == "B":
        return 0.0, 1.0, "B"
    low = float(rng.choice([0, 0, 0, 1, -3, -math.inf]))
    high = float(rng.choice([math.inf, math.inf, 4, 9, 2.5 if kind == "C" else 2]))
    return (low, low, kind) if rng.random() < 0.1 and math.isfinite(low) else (low, high, kind)


class _Layout:
    """Choices of one file."""

    def __init__(self, rng: np.random.Generator, *, labels: bool = False) -> None:
        self.rng = rng
        self.labels = labels
        self.plain = rng.random() < 0.5
        self.wrap = rng.random() < 0.4
        self.tight = rng.random() < 0.06

    def one_of(self, *choices: str) -> str:
        return choices[0] if self.plain else str(self.rng.choice(np.array(choices)))

    def number(self, value: float) -> str:
        if math.isinf(value):
            sign = "-" if value < 0 else self.one_of("", "+")
            return sign + self.one_of("1e30", "inf", "infinity", "1e+20", "Inf", "INFINITY")
        text = f"{value:g}"
        if self.plain:
            return text
        spelt = [text, f"{value:.1f}" if value * 10 == int(value * 10) else text, f"{value:e}"]
        return str(self.rng.choice(np.array(spelt)))

    def rarely(self, share: float = 0.1) -> bool:
        return not self.plain and bool(self.rng.random() < share)


def lp_text(program: Stated, rng: np.random.Generator, *, labels: bool = False) -> str:
    """Return a program as an LP file; `labels`: whether every row and the objective have theirs."""
    layout = _Layout(rng, labels=labels)
    heading = {
        "min": layout.one_of("Minimize", "minimize", "MINIMIZE", "min", "Min", "Minimize", "minimize"),
        "max": layout.one_of("Maximize", "maximize", "MAXIMIZE", "max", "Max", "Maximize", "maximize"),
    }[program.sense]
    lines = [f"\\ a program\n{heading}" if layout.one_of("", "\\") else heading]
    label = f"{program.name}:" if layout.plain or labels or rng.random() < 0.8 else ""
    offset = f" {_signed(layout, program.offset)}" if program.offset else ""
    lines.append(f" {label} {_lp_sum(layout, program.terms)}{offset}".rstrip())
    lines.append(layout.one_of("Subject To", "subject to", "SUBJECT TO", "st", "such that", "s.t."))
    for name, low, high, terms in program.rows:
        labelled = "" if not labels and layout.rarely(0.2) else f"{name}:" + layout.one_of(" ", " ", "\n  ")
        lines.append(f" {labelled}{_lp_row(layout, low, high, _lp_sum(layout, terms))}")
    bounds = [f" {line}" for line in _lp_bounds(layout, program)]
    lists = _lp_lists(layout, program)
    sections = [[layout.one_of("Bounds", "bounds", "BOUNDS", "bound"), *bounds]] if bounds else []
    sections += lists
    for section in sections:
        lines += section
        if layout.rarely():
            lines.append("")
        if layout.rarely():
            lines.append("\\ a comment: end")
    lines.append(layout.one_of("End", "end", "END"))
    return "\n".join(lines) + "\n"


def _signed(layout: _Layout, value: float) -> str:
    return f"{'-' if value < 0 else '+'} {layout.number(abs(value))}"


def _lp_sum(layout: _Layout, terms: Terms) -> str:
    text = ""
    for name, factor in terms.items():
        sign = "-" if factor < 0 else "+" if text or layout.rarely(0.3) else ""
        number = "" if abs(factor) == 1 and not layout.rarely(0.3) else layout.number(abs(factor))
        glue = "" if layout.tight and number and name[0].lower() != "e" else " "
        broken = layout.wrap and text and layout.rng.random() < 0.3
        before = ("\n  " if broken else "" if layout.tight else " ") if text else ""
        behind = "\n  " if layout.wrap and layout.rarely(0.1) and sign else "" if layout.tight else " "
        text += f"{before}{sign}{behind if sign else ''}{number}{glue if number else ''}{name}"
    return text


def _lp_row(layout: _Layout, low: float, high: float, total: str) -> str:
    less, more = layout.one_of("<=", "<=", "<", "=<"), layout.one_of(">=", ">=", ">", "=>")
    gap = "" if layout.tight else " "
    if low == high:
        return f"{total}{gap}={gap}{layout.number(low)}"
    if math.isfinite(low) and math.isfinite(high):
        return f"{layout.number(low)}{gap}{less}{gap}{total}{gap}{less}{gap}{layout.number(high)}"
    if math.isfinite(high):
        return f"{total}{gap}{less}{gap}{layout.number(high)}"
    if math.isfinite(low) or layout.one_of("more", "less") == "more":
        return f"{total}{gap}{more}{gap}{layout.number(low)}"
    return f"{total}{gap}{less}{gap}{layout.number(high)}"


def _lp_bounds(layout: _Layout, program: Stated) -> list[str]:
    lines = []
    less, more = layout.one_of("<=", "<"), layout.one_of(">=", ">")
    for name, (low, high, kind) in program.columns.items():
        if kind == "B":
            continue
        if low == high:
            lines.append(f"{name} = {layout.number(low)}")
        elif low == -math.inf and high == math.inf:
            lines.append(f"{name} {layout.one_of('free', 'Free', 'FREE')}")
        elif layout.one_of("both", "apart") == "both" and (low or high < math.inf):
            lines.append(f"{layout.number(low)} {less} {name} {less} {layout.number(high)}")
        else:
            if low:
                at_least = f"{layout.number(low)} {less} {name}", f"{name} {more} {layout.number(low)}"
                lines.append(layout.one_of(*at_least))
            if high < math.inf:
                at_most = f"{name} {less} {layout.number(high)}", f"{layout.number(high)} {more} {name}"
                lines.append(layout.one_of(*at_most))
    return lines


def _lp_lists(layout: _Layout, program: Stated) -> list[list[str]]:
    general = [name for name, column in program.columns.items() if column[2] == "I"]
    binary = [name for name, column in program.columns.items() if column[2] == "B"]
    headings = [
        (layout.one_of("General", "Generals", "gen", "GENERAL", "Integers", "integer"), general),
        (layout.one_of("Binary", "Binaries", "bin", "BINARY"), binary),
    ]
    between = layout.one_of("\n ", " ")
    return [[heading, " " + between.join(names)] for heading, names in headings if names]


def mps_text(program: Stated, rng: np.random.Generator, *, labels: bool = True) -> str:
    """Return a program as a free MPS file, where every row has its name."""
    layout = _Layout(rng, labels=labels)
    ways = [_mps_row(layout, low, high) for _, low, high, _ in program.rows]
    lines = [layout.one_of("NAME          prog", "NAME", "* a comment\nNAME prog")]
    if program.sense == "max":
        lines.append(layout.one_of("OBJSENSE\n    MAX", "OBJSENSE MAX", "OBJSENSE\n  MAXIMIZE"))
    lines += ["ROWS", f" N  {program.name}"]
    lines += [f" {way[0]}  {row[0]}" for row, way in zip(program.rows, ways, strict=True)]
    lines.append("COLUMNS")
    whole = False
    for number, (name, (_, _, kind)) in enumerate(program.columns.items()):
        if (kind != "C") != whole:
            whole = not whole
            lines.append(f"    M{number}  'MARKER'  {chr(39)}{'INTORG' if whole else 'INTEND'}{chr(39)}")
        entries = [(program.name, program.terms), *((row[0], row[3]) for row in program.rows)]
        pairs = [f"{row}  {layout.number(terms[name])}" for row, terms in entries if name in terms]
        lines += [f"    {name}  {line}" for line in _in_pairs(layout, pairs)]
    if whole:
        lines.append("    M  'MARKER'  'INTEND'")
    limits = [
        f"{row[0]}  {layout.number(way[1])}"
        for row, way in zip(program.rows, ways, strict=True)
        if way[1] and way[0] != "N"
    ]
    if program.offset:
        limits.append(f"{program.name}  {layout.number(-program.offset)}")
    lines += ["RHS", *(f"    RHS  {line}" for line in _in_pairs(layout, limits))]
    ranges = [
        f"{row[0]}  {layout.number(way[2])}" for row, way in zip(program.rows, ways, strict=True) if way[2]
    ]
    if ranges:
        lines += ["RANGES", *(f"    RNG  {line}" for line in _in_pairs(layout, ranges))]
    bounds = [line for name, column in program.columns.items() for line in _mps_bounds(layout, name, *column)]
    if bounds:
        lines += ["BOUNDS", *(f" {line}" for line in bounds)]
    return "\n".join([*lines, "ENDATA"]) + "\n"


def _in_pairs(layout: _Layout, pairs: list[str]) -> list[str]:
    step = 1 if layout.one_of("1", "2") == "1" else 2
    return ["  ".join(pairs[place : place + step]) for place in range(0, len(pairs), step)]


def _mps_row(layout: _Layout, low: float, high: float) -> tuple[str, float, float]:
    """Return the kind of a row, its right-hand side and its range, 0 for none."""
    if low == high:
        return "E", low, 0.0
    if low == -math.inf and high == math.inf:
        kind = layout.one_of("N", "G", "L")
        return kind, 0.0 if kind == "N" else -math.inf if kind == "G" else math.inf, 0.0
    if high == math.inf:
        return "G", low, 0.0
    if low == -math.inf:
        return "L", high, 0.0
    kind = layout.one_of("L", "G", "E", "e")
    if kind == "e":
        return "E", high, low - high
    return kind, high if kind == "L" else low, high - low


def _mps_bounds(layout: _Layout, name: str, low: float, high: float, kind: str) -> list[str]:
    number = layout.number
    if kind == "B":
        unbounded = [] if layout.rarely(0.3) else [f"BV BND  {name}"]
        return unbounded if layout.one_of("BV", "UP") == "BV" else [f"UP BND  {name}  1"]
    if low == high:
        return [f"FX BND  {name}  {number(low)}"]
    if low == -math.inf and high == math.inf:
        return [f"FR BND  {name}"]
    lines = []
    if low:
        least = [f"MI BND  {name}"] if low == -math.inf else [f"LO BND  {name}  {number(low)}"]
        lines += (
            [f"LI BND  {name}  {low:g}"] if kind == "I" and low > -math.inf and layout.rarely() else least
        )
    if high < math.inf:
        most = (
            f"UI BND  {name}  {high:g}"
            if kind == "I" and layout.rarely()
            else f"UP BND  {name}  {number(high)}"
        )
        lines.append(most)
    elif kind == "I":
        lines.append(f"PL BND  {name}")
    return lines
