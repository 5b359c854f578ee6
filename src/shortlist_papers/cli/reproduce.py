"""Command `shortlist reproduce`: a paper's experiments run again, beside the published values."""

import dataclasses
import functools
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.settings import grouped
from shortlist.cli.options.shared import Data, Details, Json, StudyOptions, WorkersOrAddress, check_shared
from shortlist.cli.text.output import WIDTH, first_screen, print_fitted, print_json, print_notes, run_facts

if TYPE_CHECKING:
    from shortlist_papers.paper import Extent, Paper, PaperPlan, Reproduction, ResultTable

STOPPED, OTHER_ROWS = 3, 1
"""Exit codes for unfinished units, and for stored rows that differ."""


@dataclass(frozen=True)
class ExtentOptions:
    """Part of the paper."""

    scale: Annotated[
        str,
        typer.Option(
            help="Size of the experiments: small (two minutes), medium (up to three hours of one "
            "processor) or paper (everything as printed, which takes hours to months)."
        ),
    ] = "small"
    tables: Annotated[str, "Tables and figures to make, such as 5,6,figure-7; by default all."] = ""
    sets: Annotated[
        str, "Data sets or systems to measure, such as e-shop,ecos; by default those of the scale."
    ] = ""
    classifiers: Annotated[str, "Numbers of classifiers in a pool, such as 40,100."] = ""
    folds: Annotated[int | None, "Number of folds of each set."] = None
    seeds: Annotated[int | None, "Number of runs with different seeds."] = None
    time_limit: Annotated[float | None, "Time limit of each exact method or program, in seconds."] = None

    def read(self) -> "Extent":
        """Return the extent of the options."""
        from shortlist.errors import BadInputError
        from shortlist_papers.paper import Extent

        sizes = _listed(self.classifiers)
        if not all(size.isdecimal() for size in sizes):
            raise BadInputError(
                f"--set classifiers must be whole numbers with commas between them, got {self.classifiers!r}."
            )
        return Extent(
            self.scale, _listed(self.tables), _listed(self.sets), tuple(map(int, sizes)),
            self.folds, self.seeds, self.time_limit,
        )  # fmt: skip


def _listed(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


@grouped
def reproduce(
    context: typer.Context,
    paper: Annotated[str, typer.Argument(help="The paper: pruning, emsco, products or evolution.")],
    *,
    data: Data = None,
    extent: ExtentOptions,
    kept: StudyOptions,
    out_folder: Annotated[
        str | None,
        typer.Option(
            "--out", help="Folder for the tables as CSV and Markdown, and their page; created if missing."
        ),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", help="Run a minute of these rows (CSV) again, and say which differ."),
    ] = None,
    workers: WorkersOrAddress = 1,
    details: Details = False,
    json: Json = False,
) -> None:
    """Run a paper's experiments again.

    Printed are the claims that do not hold; the tables have the published and the new values.
    """
    from shortlist.cli.files import STUDY_FILE, check_files, check_folder
    from shortlist.cli.work import long_work

    folder = check_folder(data, "--data")
    check_files(
        inputs={"--check": check},
        outputs={"--study": kept.study},
        endings={"--study": STUDY_FILE},
    )
    check_shared({**context.params, "time_limit": None})  # an extent checks its own, by its name here
    chosen = _paper(paper)
    from shortlist.runs import Work
    from shortlist_papers.paper import check_extent
    from shortlist_papers.paper import reproduce as run

    wanted = check_extent(chosen, extent.read())
    plan = chosen.plan(None if folder is None else Path(folder), wanted)
    if check is not None:
        _check(chosen.name, plan, check, details=details, json=json)
        return
    out = _made(out_folder)
    with kept.opened(context) as study, long_work(kept.study) as (cancellation, progress):
        found = run(chosen, plan, Work(workers, study, progress, cancellation), tables=wanted.tables)
    print_notes(found.missing)
    facts = _facts(chosen, found, wanted) | run_facts(context)
    if out is not None:
        facts["files"] = _written(out, chosen, found, facts)
    if json:
        print_json(facts)
    else:
        _print(chosen, found, facts, details=details)
    if found.n_done < found.n_wanted:
        raise typer.Exit(STOPPED)


def _check(paper: str, plan: "PaperPlan", path: Path, *, details: bool, json: bool) -> None:
    """Run some units of a plan again, and print the stored rows that differ; exit with 1 if there are any."""
    from shortlist.cli.work import long_work
    from shortlist_papers.paper import ResultTable
    from shortlist_papers.stored import OTHERWISE, checked_rows, drawn_units, stored_rows
    from shortlist_papers.tables import as_text, shown

    rows, units = stored_rows(path), drawn_units(plan.units)
    with long_work() as (cancellation, _):
        found = checked_rows(paper, rows, units, cancellation)
    if json:
        print_json(
            {
                "command": "reproduce",
                "units": found.n_units,
                "units_wanted": len(plan.units),
                "checked": found.counts,
                "differing": found.differing,
            }
        )
    else:
        print_notes(plan.missing)
        title = f"Rows of {found.n_units} of {len(plan.units):,} units, drawn at random and run again"
        with first_screen(details=details):
            print(as_text(ResultTable("check", title, found.counts)))
            for row in found.differing:
                told = ", ".join(
                    f"{name} {shown(stored)} stored, {shown(now)} now"
                    for name, (stored, now) in row["differs"].items()
                )
                print(f"- {row['row']}: {told}")
    if any(row[OTHERWISE] for row in found.counts):
        raise typer.Exit(OTHER_ROWS)


def _paper(name: str) -> "Paper":
    from shortlist._words import any_of, did_you_mean
    from shortlist.errors import BadInputError
    from shortlist_papers.papers import PAPERS

    if name not in PAPERS:
        raise BadInputError(
            f"PAPER must be one of {any_of(PAPERS)}, got {name!r}.{did_you_mean(name, PAPERS)}"
        )
    return PAPERS[name]


def _made(folder: str | None) -> Path | None:
    """Return the folder for results, created if needed, before any work."""
    from shortlist.errors import UnwritableFileError

    if folder is None:
        return None
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableFileError(
            f"--out must be a folder that can be made, got {folder!r}: {error.strerror}. Name another one."
        ) from None
    return Path(folder)


def _facts(paper: "Paper", found: "Reproduction", extent: "Extent") -> dict[str, Any]:
    from shortlist.cli.text.output import finite
    from shortlist_papers.tables import listed_versions, processor

    def plain(value: Any) -> Any:
        return finite(value) if isinstance(value, float) else value

    return {
        "command": "reproduce",
        "paper": paper.name,
        "title": paper.title,
        "extent": dataclasses.asdict(extent),
        "status": "complete" if found.n_done == found.n_wanted else "stopped",
        "units": found.n_done,
        "units_wanted": found.n_wanted,
        "unit_seconds": found.unit_seconds,
        "processor": processor(),
        "versions": listed_versions(),
        "tables": [
            {
                "name": table.name,
                "title": table.title,
                "rows": [{key: plain(value) for key, value in row.items()} for row in table.rows],
                "note": table.note,
                "differs": table.differs,
            }
            for table in found.tables
        ],
        "deviations": list(paper.deviations),
        "notes": list(found.missing),
    }


def _print(paper: "Paper", found: "Reproduction", facts: dict[str, Any], *, details: bool) -> None:
    """Print the number of claims that hold, the other claims, and the files; with details all tables."""
    from shortlist._words import counted
    from shortlist_papers.tables import as_text

    is_done = found.n_done == found.n_wanted
    goes_on = "" if is_done else f" of {found.n_wanted:,}; the same command goes on"
    done = counted(found.n_done, "unit")
    last = ["", f"{done}{goes_on}, {found.unit_seconds:,.0f} s of work, on {facts['processor']}."]
    if "files" in facts:
        last.append("Written: " + ", ".join(facts["files"]))
    claims = next((table for table in found.tables if table.name == "claims"), None)
    scale = f"Scale {facts['extent']['scale']}"
    first = [f"{scale}. {paper.title}"] if claims is None else [f"{scale}. {claims.title}.", paper.title]
    tables = [line for table in found.tables for line in ("", *as_text(table).splitlines())]
    if details:
        differs = ["", "Where this is not what the paper did:", *(f"- {one}" for one in paper.deviations)]
        print_fitted(first, [*tables, *differs], last, details=True)
        return
    every = counted(len(found.tables), "table")
    ways = counted(len(paper.deviations), "deviation")
    last.append(f"Next: --details prints {every} and {ways} from the paper; --out FOLDER keeps them.")
    if claims is not None:
        last += _larger(paper, claims)
    print_fitted(first, tables if claims is None else _failed(claims), last)


def _larger(paper: "Paper", claims: "ResultTable") -> list[str]:
    """Return a line on the scale that measures the missing claims, with its time if known."""
    from shortlist._words import counted
    from shortlist_papers.claims import TOO_FEW
    from shortlist_papers.paper import SCALES, scale_seconds, shown_time

    scales = {claim.what: claim.scale for claim in paper.claims}
    left = [scales[row["claim"]] for row in claims.rows if row["verdict"] == TOO_FEW]
    if not left:
        return []
    least = min(left, key=SCALES.index)
    seconds = scale_seconds(paper.name).get(least)
    time = "" if seconds is None else f" ({shown_time(seconds)} here)"
    return [f"--scale {least}{time} measures {counted(left.count(least), 'claim')} that this run does not."]


def _failed(claims: "ResultTable") -> list[str]:
    """Return the claims that do not hold, a line each with the paper's figure and ours."""
    from shortlist_papers.claims import FAILS

    lines = [
        f"- {row['claim']}: paper {row['paper'] or 'no figure'}, here {row['here']}"
        for row in claims.rows
        if row["verdict"] == FAILS
    ]
    head = ["", "Claims that do not hold:"] if lines else []
    return [*head, *(shorten(line, WIDTH, placeholder=" ...") for line in lines)]


def _written(out: Path, paper: "Paper", found: "Reproduction", facts: dict[str, Any]) -> list[str]:
    """Write each table as CSV, all tables as a page and as Markdown, and the rows behind the tables."""
    from shortlist.cli.text.output import save
    from shortlist.files import write_text
    from shortlist.report.page import page
    from shortlist.tables.spreadsheets import guarded_csv
    from shortlist_papers.tables import as_csv, as_markdown, paper_parts, whole_numbers

    files = {f"{paper.name}-{table.name}.csv": as_csv(table.rows) for table in found.tables}
    files[f"{paper.name}-rows.csv"] = guarded_csv(whole_numbers(found.rows))
    how = f"{found.n_done:,} of {found.n_wanted:,} units, {facts['processor']}, {facts['versions']}."
    head = f"# {paper.title}\n\n{how}\n"
    differs = "## Where this is not what the paper did\n\n" + "".join(
        f"- {one}\n" for one in paper.deviations
    )
    files[f"{paper.name}.md"] = "\n".join([head, *map(as_markdown, found.tables), differs])
    files[f"{paper.name}.html"] = page(paper.title, paper_parts(paper, found))
    return [str(save(out / name, functools.partial(write_text, text=text))) for name, text in files.items()]
