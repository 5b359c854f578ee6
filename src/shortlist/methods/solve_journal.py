"""Finished programs in an append-only file of JSON lines, so that a killed run loses none of them."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadFileError, BadInputError
from shortlist.files import read_bytes
from shortlist.front import Status
from shortlist.methods.integer_objectives import Vector
from shortlist.methods.limited_solves import Outcome
from shortlist.milp.program import Program


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
            _append(self.path, _as_dict(record))


def open_journal(
    path: str | Path | None, program: Program, settings: Mapping[str, Any]
) -> tuple[Journal, dict[str, Record]]:
    """Open or start a journal, and return the records it already has.

    A last line that a kill cut off is dropped.

    Raises
    ------
    BadInputError
        If the file belongs to another program or other settings, or is no journal.
    """
    if path is None:
        return Journal(None), {}
    header = {"shortlist_journal": 1, "program": fingerprint(program), "settings": dict(settings)}
    target = str(path)
    if not Path(target).exists() or not Path(target).stat().st_size:
        _append(target, header)
        return Journal(target), {}
    content = read_bytes(target)
    lines = [line for line in map(_parsed, content.splitlines()) if line is not None]
    if not lines or lines[0].get("shortlist_journal") != 1:
        raise BadFileError(
            f"{target} must be a journal of an earlier run, got something else. Name another file."
        )
    if lines[0] != header:
        raise BadInputError(
            f"checkpoint {target} belongs to another problem or to other settings. Name another file, or delete it."
        )
    if not content.endswith(b"\n"):
        _write(target, b"\n")  # the last line was cut off
    records: dict[str, Record] = {}
    for line in lines[1:]:
        records.setdefault(line["key"], _as_record(line))
    return Journal(target), records


def fingerprint(program: Program) -> str:
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


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return a line, or None for one that was cut off."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _append(path: str, line: Mapping[str, Any]) -> None:
    """Add one line to a file."""
    _write(path, (json.dumps(line, separators=(",", ":")) + "\n").encode())


def _write(path: str, content: bytes) -> None:
    """Append bytes in one call and leave them with the system, so that killing the process loses nothing."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError as error:
        raise BadFileError(
            f"{path} cannot be written: {error.strerror}. Choose a folder that exists."
        ) from None
    try:
        os.write(handle, content)
    finally:
        os.close(handle)
