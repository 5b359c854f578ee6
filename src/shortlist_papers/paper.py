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
"""Two minutes, up to three hours of one processor for each paper, and what the paper printed."""


@dataclass(frozen=True)
class Extent:
    """Extent of a reproduction: the measured tables, sets, folds and seeds of a paper.

    What is left empty or None is as the scale has it.
    """

    scale: str = "small"
    """One of :data:`SCALES`."""
    tables: tuple[str, ...] = ()
    """Names of tables and figures, of :attr:`Paper.contents`; all of them if empty."""
    sets: tuple[str, ...] = ()
    """Data sets or systems, of :attr:`Paper.sets`; those of the scale if empty."""
    classifiers: tuple[int, ...] = ()
    """Numbers of classifiers in a pool, K."""
    folds: int | None = None
    seeds: int | None = None
    """Numbers of folds of each set, and of runs with different seeds."""
    time_limit_s: float | None = None
    """Time limit of each exact method or program, in seconds."""

    def wants(self, *tables: str) -> bool:
        """Whether at least one of these tables and figures is requested, or what is claimed of them all."""
        return not self.tables or not {"claims", *tables}.isdisjoint(self.tables)

    def of(self, sets: Sequence[str]) -> tuple[str, ...]:
        """Return the sets that are requested, or else these."""
        return self.sets or tuple(sets)

    def folds_of(self, most: int) -> int | None:
        """Return the number of requested folds, of `most`.

        Raises BadInputError if it is more.
        """
        if self.folds is not None and self.folds > most:
            raise BadInputError("folds", f"must be at most {most}", self.folds)
        return self.folds


@dataclass(frozen=True)
class PaperPlan:
    """Plan of the measurements."""

    units: tuple[Unit, ...]
    """Each takes a keyword `budget`, whose cancellation stops it, and returns :data:`Rows`, which count only
    if it was not stopped. The key says the set, the fold, the size of the pool and whatever else an extent
    can leave out, so that one study serves several extents of one scale.
    """
    settings: Mapping[str, Any]
    """Settings that a study is bound to, as JSON holds them: all that change the measurement of a unit."""
    missing: tuple[str, ...] = ()
    """A sentence for each set that is not there."""


@dataclass(frozen=True)
class PaperLine:
    """One line of a picture, or points of one kind."""

    name: str
    """Name in the legend."""
    points: tuple[tuple[float, float], ...]
    """x and y."""
    band: tuple[tuple[float, float], ...] = ()
    """Lower and upper end of an interval for each point; empty for none."""
    joined: bool = True
    """Whether the points are joined."""
    panel: str = ""
    """Lines with another word here are drawn in another panel, which is called so; all of a picture have one,
    or none.
    """
    names: tuple[str, ...] = ()
    """Names of the places 0, 1 and so on of x, where x is no number."""


def dots(name: str, x: Iterable[float], y: Iterable[float]) -> PaperLine:
    """Return points that nothing joins."""
    return PaperLine(name, tuple((float(a), float(b)) for a, b in zip(x, y, strict=True)), joined=False)


@dataclass(frozen=True)
class PaperPicture:
    """Contents of a figure."""

    text: str
    """Text alternative: the figure in a sentence."""
    x: str
    y: str
    """Labels of the axes, with units."""
    lines: tuple[PaperLine, ...]
    """Lines of the figure."""
    places: tuple[str, ...] = ()
    """Names of the places 0, 1, ... on the axis of x, where it has no numbers."""
    by_powers: bool = False
    """Whether y grows by powers of ten."""


@dataclass(frozen=True)
class ResultTable:
    """One table of results, in the layout of the paper."""

    name: str
    """Name of its files, without their ending: ``table-5`` or ``figure-7``."""
    title: str
    """Title, in a line."""
    rows: Rows
    """The same columns in every row; None where there is nothing."""
    note: str = ""
    """Note for readers beside the table."""
    differs: str = ""
    """One sentence that says why our figures differ from the paper's; empty where they agree."""
    picture: PaperPicture | None = None
    """The same as a picture, where the paper has a figure."""


def beside(head: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any] | None) -> Rows:
    """Return our row, and below it the paper's if there is one; ``whose`` names the author."""
    rows = [{**head, "whose": "here", **ours}]
    return rows if theirs is None else [*rows, {**head, "whose": "paper", **theirs}]


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments can be run again."""

    name: str
    """Name in the command."""
    title: str
    """Authors, year, and what it is about."""
    plan: Callable[[Path | None, Extent], PaperPlan]
    """Receives the folder with data, or None, and an :class:`Extent`; returns a :class:`PaperPlan`."""
    make_tables: Callable[["pd.DataFrame"], list[ResultTable]]
    """Makes the tables and figures, whatever the extent, of the rows of finished units."""
    contents: Mapping[str, str]
    """Every table and figure of the paper's results by its name, ``table-5`` or ``figure-7``, and what it
    shows.
    """
    sets: tuple[str, ...]
    """The names of its data sets or systems."""
    takes: frozenset[str] = frozenset()
    """The fields of :class:`Extent` beyond scale, tables and sets that change what is measured."""
    deviations: tuple[str, ...] = ()
    """Sentences: where this is not what the paper did, and why. The only such list of this paper."""
    claims: tuple[PaperClaim, ...] = ()
    """Claims of the paper; their table is the first."""


def check_extent(paper: Paper, extent: Extent) -> Extent:
    """Return an extent that a paper can be measured in, with tables by their full names.

    A bare number names a table: ``5`` is ``table-5``. What is named twice counts once. Raises BadInputError
    if the scale, a table or a set is unknown, a number is too small, or the paper has no such limit.
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
    """Units."""
    unit_seconds: float
    """Seconds that all finished units took, those of earlier runs included."""
    missing: tuple[str, ...] = field(default=())
    """A sentence for each set that is not there, and for each table that was requested and could not be made.
    """


def reproduce(
    paper: Paper, plan: PaperPlan, work: Work | None = None, *, tables: Sequence[str] = ()
) -> Reproduction:
    """Run what is missing of a plan, and make the tables of the paper.

    Raises BadInputError if the tables that are requested are not of the sets that are requested, none of the
    data is there, or the study belongs to other settings. Raises ShortlistError if it was stopped before a
    unit was finished.

    `plan`: what is measured; see :attr:`Paper.plan`. `work`: who works, the study that a later call goes on
    from, who is told of every unit, and a way to stop with the units that are finished. `tables`: names of
    the tables and figures to make, of :attr:`Paper.contents`; all of them if empty.
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
"""Sums of the seconds that all units of a scale took once, by paper and scale, where all were recorded."""


@functools.cache
def scale_seconds(paper: str) -> dict[str, float]:
    """Return the seconds that the units of each scale of a paper took once, where all were recorded."""
    with SCALE_SECONDS.open(encoding="utf-8", newline="") as file:
        return {row["scale"]: float(row["seconds"]) for row in csv.DictReader(file) if row["paper"] == paper}


def claims_table(
    claims: Sequence[PaperClaim], rows: "pd.DataFrame", seconds: Mapping[str, float] | None = None
) -> ResultTable:
    """Return every claim with our verdict, which the rows alone decide.

    `seconds`: of each scale, so that a claim whose units the rows lack says how long they take.
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
    """Name the scale that has the units of a claim, with its time if that was recorded."""
    if scale not in seconds:
        return f"--scale {scale} has them."
    return f"--scale {scale} has them, and took {shown_time(seconds[scale])} here."


def shown_time(seconds: float) -> str:
    """Show a long time in minutes, or from two hours on in hours.

    >>> shown_time(50.0), shown_time(3100.0), shown_time(9000.0)
    ('1 minute', '52 minutes', '2.5 hours')
    """
    if seconds < 7200:
        return counted(max(1, round(seconds / 60)), "minute")
    return f"{seconds / 3600:.2g} hours"


def all_tables(paper: Paper, rows: "pd.DataFrame") -> list[ResultTable]:
    """Return the claims of a paper, then every table and figure of its rows."""
    claims = claims_table(paper.claims, rows, scale_seconds(paper.name))
    judged = any(row["here"] is not None or row["verdict"] == TOO_FEW for row in claims.rows)
    return [*([claims] if judged else []), *paper.make_tables(rows)]


def _timed(call: Callable[..., Rows], *arguments: Any, budget: Budget) -> dict[str, Any]:
    """Run a unit, and say how long it took."""
    start, worked = seconds_now(), processor_seconds()
    rows = call(*arguments, budget=budget)
    return {"seconds": seconds_now() - start, "processor_s": processor_seconds() - worked, "rows": rows}


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


def file_fingerprints(paths: Iterable[Path]) -> dict[str, str]:
    """Return a word for each file that differs for other content, so that a study is bound to its data."""
    return {f"the file {path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def how_to_get(name: str) -> str:
    """Advise how to get a set that is not there."""
    data_set = public_set(name)
    if data_set.source is not None:
        return f"{data_set.name} is missing: shortlist datasets fetch {data_set.name}."
    return (
        f"{data_set.name} is missing: write {data_set.stem}.csv into a folder, and name it with "
        "`folder='FOLDER'`."
    )
