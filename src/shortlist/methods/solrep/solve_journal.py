"""Finished programs in an append-only file of JSON lines, so that a killed run loses none of them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.methods.integer.integer_objectives import Vector
from shortlist.methods.solrep.limited_solves import Outcome
from shortlist.milp.program import Program
from shortlist.results.proof import Status
from shortlist.runs.journal import append_line, open_lines


@dataclass(frozen=True, eq=False)
class Record:
    """One finished step of a search: its key, what came out, and how many programs it took."""

    key: str
    outcome: Outcome
    n_programs: int


@dataclass(frozen=True)
class Journal:
    """Where records go; None as path keeps nothing. Pickles, so that workers append by themselves."""

    path: str | None

    def append(self, record: Record) -> None:
        """Write one record in a single system call, so that lines of several workers do not mix."""
        if self.path is not None:
            append_line(self.path, _as_dict(record))


def open_journal(
    path: str | Path | None, program: Program, settings: Mapping[str, Any]
) -> tuple[Journal, dict[str, Record]]:
    """Open or start a journal, and return the records it already has.

    Raises
    ------
    BadInputError
        As :func:`shortlist.runs.journal.open_lines` does.
    """
    if path is None:
        return Journal(None), {}
    header = {"program": program_fingerprint(program), "settings": dict(settings)}
    lines = open_lines(str(path), header, mark="shortlist_journal", argument="checkpoint")
    records: dict[str, Record] = {}
    for line in lines:
        records.setdefault(line["key"], _as_record(line))
    return Journal(str(path)), records


def program_fingerprint(program: Program) -> str:
    """Return a SHA-256 of everything that decides a program's answers."""
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


def _as_dict(record: Record) -> dict[str, Any]:
    """Return a record as JSON would have it; a column of 0 and 1 takes a quarter of a character."""
    outcome = record.outcome
    columns: Any = None
    if outcome.columns is not None:
        binary = bool(np.isin(outcome.columns, (0, 1)).all())
        packed = np.packbits(outcome.columns.astype(np.uint8)).tobytes().hex() if binary else ""
        columns = [len(outcome.columns), packed] if binary else outcome.columns.tolist()
    return {
        "key": record.key,
        "status": str(outcome.status),
        "vector": None if outcome.vector is None else outcome.vector.tolist(),
        "bound": outcome.bound,
        "value": outcome.value,
        "columns": columns,
        "programs": record.n_programs,
    }


def _as_record(line: Mapping[str, Any]) -> Record:
    """Undo :func:`_as_dict`."""
    columns = line["columns"]
    if columns is not None and len(columns) == 2 and isinstance(columns[1], str):
        bits = np.frombuffer(bytes.fromhex(columns[1]), dtype=np.uint8)
        columns = np.unpackbits(bits, count=columns[0])
    vector: Vector | None = None if line["vector"] is None else np.array(line["vector"], dtype=np.int64)
    outcome = Outcome(
        Status(line["status"]),
        vector,
        line["bound"],
        None if columns is None else np.array(columns, dtype=np.int64),
        line["value"],
    )
    return Record(line["key"], outcome, line["programs"])
