"""One paper: units that measure, and tables that put what it reports beside what they measured."""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from shortlist.datasets.registry import public_set
from shortlist.errors import BadInputError, ShortlistError
from shortlist.runs import Budget, Unit, Work, run_units
from shortlist.runs.clock import seconds_now
from shortlist.tables.sets import read_set

if TYPE_CHECKING:
    import pandas as pd

Rows: TypeAlias = list[dict[str, Any]]
"""What a unit measured: numbers and words by column, as JSON holds them."""


@dataclass(frozen=True)
class Plan:
    """What is to be measured.

    Attributes
    ----------
    units : tuple of Unit
        Each takes a keyword `budget`, whose cancellation stops it, and returns :data:`Rows`, which count
        only if it was not stopped.
    settings : mapping
        What a study is bound to, as JSON holds it.
    missing : tuple of str
        A sentence for each set that is not there.
    """

    units: tuple[Unit, ...]
    settings: Mapping[str, Any]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class ResultTable:
    """One table of results.

    Attributes
    ----------
    name : str
        What its files are called, without their ending.
    title : str
        What it shows, in a line.
    rows : list of dict
        The same columns in every row; None where there is nothing.
    note : str
        What a reader should know beside it.
    """

    name: str
    title: str
    rows: Rows
    note: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments can be run again.

    Attributes
    ----------
    name : str
        What the command calls it.
    title : str
        Authors, year, and what it is about.
    plan : callable
        Receives the folder with data, or None, and whether minutes are all there is; returns a :class:`Plan`.
    tables : callable
        Makes tables of the rows of finished units.
    differs : tuple of str
        Sentences: where this is not what the paper did, and why.
    """

    name: str
    title: str
    plan: Callable[[Path | None, bool], Plan]
    tables: Callable[["pd.DataFrame"], list[ResultTable]]
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What came out.

    Attributes
    ----------
    tables : tuple of ResultTable
        Of the units that are finished.
    rows : DataFrame
        Everything that was measured.
    n_done, n_wanted : int
        Units.
    unit_seconds : float
        Seconds that all finished units took, those of earlier runs included.
    missing : tuple of str
        A sentence for each set that is not there.
    """

    tables: tuple[ResultTable, ...]
    rows: "pd.DataFrame"
    n_done: int
    n_wanted: int
    unit_seconds: float
    missing: tuple[str, ...] = field(default=())


def reproduce(paper: Paper, plan: Plan, work: Work | None = None) -> Reproduction:
    """Run what is missing of a plan, and make the tables of the paper.

    Parameters
    ----------
    paper : Paper
        Whose tables are made.
    plan : Plan
        What is measured; see :attr:`Paper.plan`.
    work : Work, optional
        Who works, the study that a later call goes on from, who is told of every unit, and a way to stop with
        the units that are finished.

    Raises
    ------
    BadInputError
        If none of the data is there, or the study belongs to other settings.
    ShortlistError
        If it was stopped before a unit was finished.
    """
    import pandas as pd

    if not plan.units:
        raise BadInputError(
            f"the data sets of {paper.name} must be there, at least one of them, got none. "
            f"{' '.join(plan.missing)}"
        )
    work = Work() if work is None else work
    work.study.bind({"the paper": paper.name, **plan.settings})
    units = [
        dataclasses.replace(unit, call=_timed, arguments=(unit.call, *unit.arguments), whole=True)
        for unit in plan.units
    ]
    finished = [result for _, result in run_units(units, work, stage="measuring") if result is not None]
    rows = pd.DataFrame([row for one in finished for row in one["rows"]])
    if rows.empty:
        raise ShortlistError("the work was stopped before a unit was finished, so there is no table.")
    seconds = float(sum(one["seconds"] for one in finished))
    tables = tuple(paper.tables(rows))
    return Reproduction(tables, rows, len(finished), len(plan.units), seconds, plan.missing)


def _timed(call: Callable[..., Rows], *arguments: Any, budget: Budget) -> dict[str, Any]:
    """Run a unit, and say how long it took."""
    start = seconds_now()
    rows = call(*arguments, budget=budget)
    return {"seconds": seconds_now() - start, "rows": rows}


def sets_of(names: Sequence[str], folder: Path | None) -> tuple[dict[str, "pd.DataFrame"], tuple[str, ...]]:
    """Return the public sets that are there, and a sentence for each of the others."""
    found: dict[str, pd.DataFrame] = {}
    missing = []
    for name in names:
        table = read_set(name, folder)
        if table is None:
            missing.append(how_to_get(name))
        else:
            found[name] = table
    return found, tuple(missing)


def fingerprints(tables: Mapping[str, "pd.DataFrame"]) -> dict[str, str]:
    """Return a word for each set that differs for other values, so that a study is bound to its data."""
    import pandas as pd

    return {
        f"the set {name}": hashlib.sha256(
            pd.util.hash_pandas_object(table, index=False).to_numpy().tobytes()
        ).hexdigest()
        for name, table in tables.items()
    }


def how_to_get(name: str) -> str:
    """Say how a set that is not there can be had."""
    data_set = public_set(name)
    if data_set.source is not None:
        return f"{data_set.name} is missing: shortlist datasets fetch {data_set.name}."
    return (
        f"{data_set.name} is missing: write {data_set.stem}.csv into a folder, and name it with "
        "folder='FOLDER'."
    )
