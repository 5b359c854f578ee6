"""Recorded answers of a search's programs in a study, so that a killed search can resume.

The order of a search's questions depends on its answers alone. On resuming, recorded questions are answered
without a solver, and the search continues with the first unrecorded one. The key of an answer is the question
itself, so that answers are never mixed up. A solution is checked again before it counts. The file's claims
that no solution is better, or that there is none, are taken without a check.
"""

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.errors import BadFileError, SolverError
from shortlist.exact import LARGEST_INTEGER
from shortlist.methods.integer.integer_objectives import IntegerObjectives, Vector
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import WholeRows, whole_rows
from shortlist.runs.budget import seconds_now
from shortlist.runs.records import digest_of_arrays
from shortlist.runs.study import Finished, Study

TOLERANCE = 1e-5
"""Tolerance on the limits of rows and columns that are not integer, as a share of their terms."""


@dataclass(frozen=True, eq=False)
class Solved:
    """Answer to a question.

    `values`, ``(n_columns,)``: best solution, None if there is none. `n_programs`: number of programs solved
    for the answer. `n_handed_over`: number of these programs that CP-SAT solved. `finished`: whether the
    search for the answer was complete; otherwise nothing is proved.
    """

    values: NDArray[Any] | None
    n_programs: int = 0
    n_handed_over: int = 0
    finished: bool = True


class RecordedSolves:
    """Recorded answers of one search in a study; without a file there are none.

    Raises BadInputError if the study belongs to another program or other settings.
    """

    def __init__(
        self, study: Study, program: Program, integers: IntegerObjectives, settings: Mapping[str, Any]
    ) -> None:
        self._study, self._program, self._integers = study, program, integers
        if study.keeps:
            study.bind({"the program": program_fingerprint(program), **settings})
        self._known: dict[str, Any] = study.results()
        self._fresh: list[Finished] = []
        self._written = self._asked = seconds_now()

    @property
    def keeps(self) -> bool:
        """Whether there is a file."""
        return self._study.keeps

    def known(
        self, weights: Vector, box: tuple[Vector, Vector], *further: NDArray[Any]
    ) -> tuple[str, Solved | None]:
        """Return the key of a question, and its answer if there is one; an empty key without a file.

        `weights`: weights of the minimised sum. `box`: least and largest objectives. `further`: other parts
        of the question.

        Raises BadFileError if the answer is malformed, or its solution is outside the program or the box.
        """
        if not self.keeps:
            return "", None
        key = digest_of_arrays([weights, *box, *further])
        self._asked = seconds_now()
        return key, self._opened(self._known[key], box) if key in self._known else None

    def add(self, key: str, solved: Solved) -> None:
        """Add the answer to the last question; write the file if the last write was long enough ago."""
        if not self.keeps:
            return
        now = seconds_now()
        values = None if solved.values is None else self._rounded(solved.values)
        result = [
            solved.n_programs,
            solved.n_handed_over,
            solved.finished,
            None if values is None else packed_columns(values),
        ]
        self._known[key] = result
        self._fresh.append(Finished(key, result, now - self._asked))
        if now - self._written >= self._study.keeping.every_s:
            self.write()

    def write(self) -> None:
        """Write the new records."""
        if self._fresh:
            self._study.record(*self._fresh)
            self._fresh.clear()
        self._written = seconds_now()

    def _opened(self, result: Any, box: tuple[Vector, Vector]) -> Solved:
        with contextlib.suppress(SolverError, TypeError, ValueError):
            n_programs, n_handed_over, finished, packed = result
            values = None if packed is None else opened_columns(packed).astype(np.float64)
            if values is None or self._is_solution(values, box):
                return Solved(values, int(n_programs), int(n_handed_over), bool(finished))
        raise BadFileError(
            f"the study {self._study.path} holds a solution that the program does not have. Name another "
            "file, or delete it."
        )

    def _rounded(self, values: NDArray[Any]) -> NDArray[Any]:
        integer = self._program.integer
        rounded = np.where(integer, np.rint(values), values)
        return rounded.astype(np.int64) if integer.all() else rounded

    @cached_property
    def _rows(self) -> WholeRows:
        return whole_rows(self._program)

    def _is_solution(self, values: Floats, box: tuple[Vector, Vector]) -> bool:
        """Whether columns meet the program and the box; integer rows exactly if no sum exceeds 2^53."""
        program, rows = self._program, self._rows.program
        if values.shape != (program.n_columns,) or not np.isfinite(values).all():
            return False
        if (values != np.rint(values))[program.integer].any():
            return False
        vector = self._integers.vector(values)
        if (vector < box[0]).any() or (vector > box[1]).any():
            return False
        sizes = abs(rows.rows) @ np.abs(values)
        exact = self._rows.whole & (sizes < LARGEST_INTEGER)
        return _within(values, program.column_lower, program.column_upper, program.integer) and _within(
            rows.rows @ values, rows.row_lower, rows.row_upper, exact, sizes
        )


def _within(sums: Floats, lower: Floats, upper: Floats, exact: Mask, sizes: Floats | float = 0.0) -> bool:
    limits = np.where(np.isfinite(lower), np.abs(lower), 0.0) + np.where(np.isfinite(upper), np.abs(upper), 0)
    slack = np.where(exact, 0.0, TOLERANCE * (1.0 + sizes + limits))
    return bool(((sums >= lower - slack) & (sums <= upper + slack)).all())


def packed_columns(columns: NDArray[Any]) -> list[Any]:
    """Return columns as JSON values; 0/1 columns take a quarter of a character each.

    >>> packed_columns(np.array([1, 0, 1])), opened_columns([3, "a0"]).tolist()
    ([3, 'a0'], [1, 0, 1])
    """
    if np.isin(columns, (0, 1)).all():
        return [len(columns), np.packbits(columns.astype(np.uint8)).tobytes().hex()]
    return list(columns.tolist())


def opened_columns(packed: list[Any]) -> NDArray[Any]:
    """Undo :func:`packed_columns`; raises ValueError or TypeError for malformed data."""
    if len(packed) == 2 and isinstance(packed[1], str):
        bits = np.frombuffer(bytes.fromhex(packed[1]), dtype=np.uint8)
        return np.unpackbits(bits, count=packed[0])
    return np.array(packed, dtype=np.float64)


def program_fingerprint(program: Program) -> str:
    """Return a SHA-256 of all parts of a program that decide its answers."""
    digest = hashlib.sha256()
    rows = program.rows
    arrays: list[NDArray[Any]] = [
        rows.indptr.astype(np.int64),
        rows.indices.astype(np.int64),
        rows.data,
        program.row_lower,
        program.row_upper,
        program.column_lower,
        program.column_upper,
        program.integer,
    ]
    for linear in program.objectives:
        digest.update(repr((linear.objective, float(linear.offset))).encode())
        arrays.append(linear.costs)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
