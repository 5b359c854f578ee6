"""Published multi-objective integer programs and their known fronts."""

import ast
import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.arrays import Points
from shortlist.errors import BadFileError
from shortlist.files import read_bytes
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.objective import Objective, Sense

_ROW = re.compile(
    r"(?:(?P<label>\w+)\s*:)?(?P<terms>[^<>=:]*)(?P<relation><=|>=|=|<|>)\s*(?P<limit>[-+]?[\d.]+)$"
)
_TERM = re.compile(r"\s*(?P<sign>[-+]?)\s*(?P<number>\d+(?:\.\d+)?)?\s*(?P<name>[A-Za-z_]\w*)\s*")
_PROGRAMS = re.compile(r"(\d+)\s+IPs solved")
_POINTS = re.compile(r"(\d+)\s+Solutions found")


@dataclass(frozen=True, eq=False)
class KnownFront:
    """A published front.

    Attributes
    ----------
    points : ndarray of int, shape (n_points, n_objectives)
        Every non-dominated point, minimised, in lexicographic order.
    n_programs : int
        Integer programs that the publishers' method solved to find them.
    """

    points: Points
    n_programs: int


def read_moip(path: str | Path) -> Program:
    """Read a benchmark program; the format is recognised by content, and ``.gz`` is unpacked.

    Known are the LP files of Kirlik and Sayın (2014), whose objectives are written as rows below the constraints and
    limited by ``< 1``, ``< 2`` and so on, all to be minimised, over binary columns; and the knapsack files of Tamby and
    Vanderpooten (2021): number of objectives, number of items, capacity, profits to be maximised, weights. Objectives
    are called ``f1``, ``f2``, ....

    Raises
    ------
    BadFileError
        If the file cannot be read or is neither; the message names file and line.
    """
    lines = _text(path).splitlines()
    if any(line.strip().lower() == "subject to" for line in lines):
        return _read_lp(path, lines)
    return _read_knapsack(path, lines)


def read_known_front(path: str | Path) -> KnownFront:
    """Read a ``.sol`` file of the defining point method (Dächert, Fleuren, Klamroth 2024): points, then two counts.

    Raises
    ------
    BadFileError
        If the file cannot be read, is no such file, or holds another number of points than it says.
    """
    head, line, tail = _text(path).partition("---")
    n_programs, n_points = _PROGRAMS.search(tail), _POINTS.search(tail)
    try:
        rows = [[int(number) for number in row.split()] for row in head.splitlines() if row.strip()]
        points = np.array(rows, dtype=np.int64)
    except ValueError:
        points = np.empty(0, dtype=np.int64)
    if not line or n_programs is None or n_points is None or points.ndim != 2:
        raise BadFileError(
            f"{path} must hold rows of integers, a line '---' and two counts. Give a .sol file of the benchmark."
        )
    if len(points) != int(n_points[1]):
        raise BadFileError(
            f"{path} must hold {n_points[1]} points as it says, got {len(points)}. Fetch it again."
        )
    return KnownFront(points[np.lexsort(points.T[::-1])], int(n_programs[1]))


def _text(path: str | Path) -> str:
    content = read_bytes(path)
    try:
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        return content.decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError):
        raise BadFileError(f"{path} must be text, plain or gzip, but it cannot be unpacked.") from None


def _read_lp(path: str | Path, lines: list[str]) -> Program:
    """Read the subset of the LP format that the benchmark uses: one row a line, then the binary columns."""
    sections = [line.strip().lower() for line in lines]
    if "binary" not in sections or sections.index("binary") < sections.index("subject to"):
        raise BadFileError(f"{path} must list its columns after a line 'BINARY', got none.")
    begin, end = sections.index("subject to"), sections.index("binary")
    names = " ".join(lines[end + 1 :]).split()
    if names and names[-1].lower() == "end":
        names.pop()
    numbers = {name: number for number, name in enumerate(names)}
    rows, lower, upper, costs = [], [], [], []
    for at in range(begin + 1, end):
        if not sections[at] or sections[at].startswith("\\"):
            continue
        match = _ROW.match(lines[at].strip())
        if match is None:
            raise BadFileError(
                f"{path}, line {at + 1} must be a row 'terms <= number', got {lines[at].strip()[:60]!r}."
            )
        row = _terms(f"{path}, line {at + 1}", match["terms"], numbers)
        if match["relation"] in {"<", ">"}:
            costs.append(row)
            continue
        limit = float(match["limit"])
        rows.append(row)
        lower.append(limit if match["relation"] in {"=", ">="} else -np.inf)
        upper.append(limit if match["relation"] in {"=", "<="} else np.inf)
    return make_program(
        np.array(rows).reshape(-1, len(names)),
        row_lower=lower,
        row_upper=upper,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=_objectives(costs, Sense.MIN),
    )


def _terms(place: str, text: str, numbers: dict[str, int]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the coefficients of a sum like ``+ 3 x0 - x1``."""
    row, position = np.zeros(len(numbers)), 0
    while position < len(text.rstrip()):
        match = _TERM.match(text, position)
        if match is None or match["name"] not in numbers:
            raise BadFileError(
                f"{place}, column {position + 1} must be a term with a listed column, got {text[position:].strip()[:30]!r}."
            )
        row[numbers[match["name"]]] += float(f"{match['sign']}{match['number'] or 1}")
        position = match.end()
    return row


def _read_knapsack(path: str | Path, lines: list[str]) -> Program:
    """Read number of objectives, number of items, capacity, profits and weights, one a line."""
    try:
        n_objectives, n_items, capacity, profits, weights = (
            ast.literal_eval(line) for line in lines if line.strip()
        )
        profits, weights = np.array(profits, dtype=np.float64), np.array(weights, dtype=np.float64)
        fits = profits.shape == (n_objectives, n_items) and weights.shape == (n_items,)
        capacity = float(capacity)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        fits = False
    if not fits:
        raise BadFileError(
            f"{path} must be an LP file with 'Subject To', or five lines: objectives, items, capacity, profits, weights."
        )
    return make_program(
        weights[None, :],
        row_lower=-np.inf,
        row_upper=capacity,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=_objectives(list(profits), Sense.MAX),
    )


def _objectives(costs: "list[np.ndarray[Any, np.dtype[np.float64]]]", sense: Sense) -> list[LinearObjective]:
    return [
        LinearObjective(Objective(f"f{number}", sense, scale=None), row)
        for number, row in enumerate(costs, start=1)
    ]
