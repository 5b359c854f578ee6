"""Reproduction of a paper: units that measure, and tables of its figures beside ours."""

import csv
import dataclasses
import functools
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from shortlist._words import any_of, counted, did_you_mean
from shortlist.datasets.registry import public_set
from shortlist.errors import BadInputError, ShortlistError
from shortlist.runs import Budget, Unit, Work, run_units
from shortlist.runs.budget import processor_seconds, seconds_now
from shortlist.tables.files import read_set
from shortlist_papers.claims import FAILS, HOLDS, IN_PART, RULE, TOO_FEW, UNMEASURED, PaperClaim

if TYPE_CHECKING:
    import pandas as pd


Rows: TypeAlias = list[dict[str, Any]]
"""Measurements of a unit: numbers and words by column, as JSON holds them."""


SCALES = ("small", "medium", "paper")
"""Names of the scales: two minutes, up to three hours of one processor for each paper, and the paper's own
extent.
"""


@dataclass(frozen=True)
class Extent:
    """Extent of a reproduction: the measured tables, sets, folds and seeds of a paper.

    Empty and None mean the extent of the scale.
    """

    scale: str = "small"
    """One of :data:`SCALES`."""
    tables: tuple[str, ...] = ()
    """Names of tables and figures in :attr:`Paper.contents`; empty: all of them."""
    sets: tuple[str, ...] = ()
    """Names of data sets or systems in :attr:`Paper.sets`; empty: the sets of the scale."""
    classifiers: tuple[int, ...] = ()
    """Numbers of classifiers in a pool, K."""
    folds: int | None = None
    seeds: int | None = None
    """Number of folds of each set, and number of runs with different seeds."""
    time_limit_s: float | None = None
    """Time limit of each exact method or program, in seconds."""

    def wants(self, *tables: str) -> bool:
        """Return whether one of these tables and figures is requested, by name or by the table of claims."""
        return not self.tables or not {"claims", *tables}.isdisjoint(self.tables)

    def of(self, sets: Sequence[str]) -> tuple[str, ...]:
        """Return the requested sets; without a request, the given sets."""
        return self.sets or tuple(sets)

    def folds_of(self, most: int) -> int | None:
        """Return the requested number of folds, at most `most`; None if none is requested.

        Raises BadInputError for a larger number.
        """
        if self.folds is not None and self.folds > most:
            raise BadInputError("folds", f"must be at most {most}", self.folds)
        return self.folds


@dataclass(frozen=True)
class PaperPlan:
    """Plan of the measurements."""

    units: tuple[Unit, ...]
    """Units of work.

    Each takes a keyword `budget`, whose cancellation stops it, and returns :data:`Rows`, which count only if
    the unit was not stopped. The key names the set, the fold, the size of the pool and all else that an
    extent can leave out, so one study serves several extents of one scale.
    """
    settings: Mapping[str, Any]
    """Settings on which a study depends, as JSON holds them: every setting that changes the rows of a unit.
    """
    missing: tuple[str, ...] = ()
    """Sentences on missing sets, one each."""


@dataclass(frozen=True)
class PaperLine:
    """Line of a picture, or points of one kind."""

    name: str
    """Name in the legend."""
    points: tuple[tuple[float, float], ...]
    """Coordinates x and y of the points."""
    band: tuple[tuple[float, float], ...] = ()
    """Lower and upper end of an interval for each point; empty without intervals."""
    joined: bool = True
    """Whether lines join the points."""
    panel: str = ""
    """Title of the panel in which the line is drawn. All lines of a picture have a panel, or none has one."""
    names: tuple[str, ...] = ()
    """Names of the positions 0, 1 and so on of x, if x is no number."""


def dots(name: str, x: Iterable[float], y: Iterable[float]) -> PaperLine:
    """Return points that no line joins."""
    return PaperLine(name, tuple((float(a), float(b)) for a, b in zip(x, y, strict=True)), joined=False)


@dataclass(frozen=True)
class PaperPicture:
    """Contents of a figure."""

    text: str
    """Text alternative: the figure in a sentence."""
    x: str
    y: str
    """Labels of both axes, with units."""
    lines: tuple[PaperLine, ...]
    """Lines of the figure."""
    places: tuple[str, ...] = ()
    """Names of the positions 0, 1, ... on the x axis, if it has no numbers."""
    by_powers: bool = False
    """Whether the y axis is logarithmic."""


@dataclass(frozen=True)
class ResultTable:
    """One table of results, in the layout of the paper."""

    name: str
    """Name of its files, without their ending: ``table-5`` or ``figure-7``."""
    title: str
    """Title in one line."""
    rows: Rows
    """Rows with the same columns; None in empty cells."""
    note: str = ""
    """Note for readers beside the table."""
    differs: str = ""
    """Sentence on the reason why our figures differ from the paper's; empty if they agree."""
    picture: PaperPicture | None = None
    """Picture of the table, if the paper has a figure."""


def beside(head: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any] | None) -> Rows:
    """Return our row, then the paper's row if there is one; the column ``whose`` gives a row's origin."""
    rows = [{**head, "whose": "here", **ours}]
    return rows if theirs is None else [*rows, {**head, "whose": "paper", **theirs}]


@dataclass(frozen=True)
class Paper:
    """Paper whose experiments can be run again."""

    name: str
    """Name of the paper in the command."""
    title: str
    """Authors, year, and subject."""
    plan: Callable[[Path | None, Extent], PaperPlan]
    """Function from the folder with data, or None, and an :class:`Extent` to a :class:`PaperPlan`."""
    make_tables: Callable[["pd.DataFrame"], list[ResultTable]]
    """Function from the rows of finished units to tables and figures, for any extent."""
    contents: Mapping[str, str]
    """Tables and figures of the paper's results by name, ``table-5`` or ``figure-7``, with their subject."""
    sets: tuple[str, ...]
    """Names of the paper's data sets or systems."""
    takes: frozenset[str] = frozenset()
    """Fields of :class:`Extent`, besides scale, tables and sets, that change the measurements."""
    deviations: tuple[str, ...] = ()
    """Sentences on deviations from the paper, with reasons; the paper's deviations are listed here only."""
    claims: tuple[PaperClaim, ...] = ()
    """Claims of the paper; the table of claims is the first table."""


def check_extent(paper: Paper, extent: Extent) -> Extent:
    """Return an extent that is possible for a paper, with tables by their full names.

    A bare number names a table: ``5`` is ``table-5``. Repeated names count once. Raises BadInputError if the
    scale, a table or a set is unknown, a number is too small, or the paper has no such limit.
    """
    if extent.scale not in SCALES:
        raise BadInputError(
            "scale", f"must be {any_of(SCALES)}", repr(extent.scale), did_you_mean(extent.scale, SCALES)
        )
    tables = tuple(f"table-{name}" if name.isdecimal() else name for name in extent.tables)
    for what, given, known in (
        ("tables", tables, ("claims", *paper.contents)),
        ("sets", extent.sets, paper.sets),
    ):
        for name in given:
            if name not in known:
                raise BadInputError(
                    what,
                    f"must be among {any_of(known)} in {paper.name}",
                    repr(name),
                    did_you_mean(name, known),
                )
    for field_name in ("classifiers", "folds", "seeds", "time_limit_s"):
        value = getattr(extent, field_name)
        if value in {None, ()}:
            continue
        if field_name not in paper.takes:
            raise BadInputError(f"`{field_name}` has no use in {paper.name}. Leave it out.")
        least = min(value if isinstance(value, tuple) else (value,))
        if least <= 0:
            raise BadInputError(field_name, "must be above 0", least)
    return dataclasses.replace(
        extent,
        tables=tuple(dict.fromkeys(tables)),
        sets=tuple(dict.fromkeys(extent.sets)),
        classifiers=tuple(dict.fromkeys(extent.classifiers)),
    )


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Result of a reproduction."""

    tables: tuple[ResultTable, ...]
    """Tables of the finished units."""
    rows: "pd.DataFrame"
    """Rows of all measurements."""
    n_done: int
    n_wanted: int
    """Number of finished units, and number of all units."""
    unit_seconds: float
    """Seconds of all finished units, including units finished in earlier runs."""
    missing: tuple[str, ...] = field(default=())
    """Sentences on missing sets, and on requested tables that could not be made."""


def reproduce(
    paper: Paper, plan: PaperPlan, work: Work | None = None, *, tables: Sequence[str] = ()
) -> Reproduction:
    """Run the missing units of a plan, and return the tables of the paper.

    Raises BadInputError if the requested tables do not belong to the requested sets, there is no data, or the
    study belongs to other settings. Raises ShortlistError if the run was stopped before a unit was finished.

    `plan`: units to measure; see :attr:`Paper.plan`. `work`: workers, the study for a later call to continue,
    progress of units, and a way to stop with the finished units. `tables`: names of the tables and figures to
    make, in :attr:`Paper.contents`; empty: all of them.
    """
    import pandas as pd

    if not plan.units and not plan.missing:
        raise BadInputError(
            "tables",
            "must name what is measured of the sets at this scale",
            "nothing to measure",
            "Name other tables, other sets or a larger scale.",
        )
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
    made = tuple(table for table in all_tables(paper, rows) if not tables or table.name in tables)
    names = {table.name for table in made}
    unmade = tuple(f"{name} cannot be made of what was measured." for name in tables if name not in names)
    return Reproduction(made, rows, len(finished), len(plan.units), seconds, plan.missing + unmade)


SCALE_SECONDS = Path(__file__).parent / "scale_seconds.csv"
"""File with the recorded seconds of all units together, by paper and scale."""


@functools.cache
def scale_seconds(paper: str) -> dict[str, float]:
    """Return the recorded seconds of all units of each scale of a paper."""
    with SCALE_SECONDS.open(encoding="utf-8", newline="") as file:
        return {row["scale"]: float(row["seconds"]) for row in csv.DictReader(file) if row["paper"] == paper}


def claims_table(
    claims: Sequence[PaperClaim], rows: "pd.DataFrame", seconds: Mapping[str, float] | None = None
) -> ResultTable:
    """Return every claim with our verdict, which depends only on the rows.

    `seconds`: seconds of each scale, reported with a claim whose units the rows lack.
    """
    found: Rows = []
    read = {make: make(rows) for make in dict.fromkeys(claim.read for claim in claims)}
    for claim in claims:
        lacking = claim.lacking(rows) if len(rows) else ""
        finding = None if lacking else claim.finding(read[claim.read])
        here, verdict, sure, why = None, UNMEASURED, None, claim.missing or "These rows do not have it."
        if lacking:
            verdict, why = TOO_FEW, f"It takes {lacking}. {_how_to_measure(claim.scale, seconds or {})}"
        if finding is not None:
            here, verdict, sure, why = finding.here, finding.verdict, finding.sure, finding.reason
        found.append(
            {
                "claim": claim.what, "place": claim.where, "paper": claim.paper or None, "here": here,
                "verdict": verdict, "how sure": sure, "why": why or None,
            }
        )  # fmt: skip
    counts = [row["verdict"] for row in found]
    told = ", ".join(
        f"{counts.count(one)} {one}" for one in (HOLDS, IN_PART, FAILS, UNMEASURED, TOO_FEW) if one in counts
    )
    return ResultTable("claims", f"What the paper claims: {told}", found, RULE)


def _how_to_measure(scale: str, seconds: Mapping[str, float]) -> str:
    """Return words on the scale whose units measure a claim, and on the scale's time if recorded."""
    if scale not in seconds:
        return f"--scale {scale} has them."
    return f"--scale {scale} has them, and took {shown_time(seconds[scale])} here."


def shown_time(seconds: float) -> str:
    """Return a long time in words: in minutes, or from two hours on in hours.

    >>> shown_time(50.0), shown_time(3100.0), shown_time(9000.0)
    ('1 minute', '52 minutes', '2.5 hours')
    """
    if seconds < 7200:
        return counted(max(1, round(seconds / 60)), "minute")
    return f"{seconds / 3600:.2g} hours"


def all_tables(paper: Paper, rows: "pd.DataFrame") -> list[ResultTable]:
    """Return the claims of a paper, followed by every table and figure of its rows."""
    claims = claims_table(paper.claims, rows, scale_seconds(paper.name))
    judged = any(row["here"] is not None or row["verdict"] == TOO_FEW for row in claims.rows)
    return [*([claims] if judged else []), *paper.make_tables(rows)]


def _timed(call: Callable[..., Rows], *arguments: Any, budget: Budget) -> dict[str, Any]:
    """Run a unit, and return its rows with its seconds."""
    start, worked = seconds_now(), processor_seconds()
    rows = call(*arguments, budget=budget)
    return {"seconds": seconds_now() - start, "processor_s": processor_seconds() - worked, "rows": rows}


def sets_of(names: Sequence[str], folder: Path | None) -> tuple[dict[str, "pd.DataFrame"], tuple[str, ...]]:
    """Return the public sets that exist, and a sentence on each missing one."""
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
    """Return a digest of each set's values, by which a study recognises its data."""
    import pandas as pd

    return {
        f"the set {name}": hashlib.sha256(
            pd.util.hash_pandas_object(table, index=False).to_numpy().tobytes()
        ).hexdigest()
        for name, table in tables.items()
    }


def file_fingerprints(paths: Iterable[Path]) -> dict[str, str]:
    """Return a digest of each file's content, by which a study recognises its data."""
    return {f"the file {path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def how_to_get(name: str) -> str:
    """Return advice on getting a missing set."""
    data_set = public_set(name)
    if data_set.source is not None:
        return f"{data_set.name} is missing: shortlist datasets fetch {data_set.name}."
    return (
        f"{data_set.name} is missing: write {data_set.stem}.csv into a folder, and name it with "
        "`folder='FOLDER'`."
    )
