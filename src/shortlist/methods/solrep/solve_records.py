"""Finished programs as a study keeps them, so that a killed run loses none of them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.methods.integer.integer_objectives import Vector
from shortlist.methods.solrep.limited_solves import Outcome
from shortlist.milp.program import Program
from shortlist.results.proof import Status
from shortlist.runs import Finished, Study


@dataclass(frozen=True, eq=False)
class Record:
    """One finished step of a search: its key, what came out, and how many programs it took."""

    key: str
    outcome: Outcome
    n_programs: int


def known_records(study: Study, program: Program, settings: Mapping[str, Any]) -> dict[str, Record]:
    """Bind a study to a program and the settings of its search, and return the records that it has.

    Raises
    ------
    BadInputError
        If the study belongs to another program or other settings.
    """
    if not study.keeps:
        return {}
    study.bind({"the program": program_fingerprint(program), **settings})
    return {key: _as_record(key, result) for key, result in study.results().items()}


def finished(record: Record, seconds: float = 0.0) -> Finished:
    """Return a record as a study keeps it."""
    return Finished(record.key, _as_dict(record), seconds)


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
        "status": str(outcome.status),
        "vector": None if outcome.vector is None else outcome.vector.tolist(),
        "bound": outcome.bound,
        "value": outcome.value,
        "columns": columns,
        "programs": record.n_programs,
        "checked": outcome.checked,
    }


def _as_record(key: str, line: Mapping[str, Any]) -> Record:
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
        line.get("checked", False),
    )
    return Record(key, outcome, line["programs"])
