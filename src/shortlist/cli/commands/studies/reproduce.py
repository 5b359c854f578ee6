"""`shortlist reproduce`: a paper's experiments run again, beside what it reports."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.groups import grouped
from shortlist.cli.options.shared import Data, Json, WorkersOrAddress, check_shared
from shortlist.cli.options.study_options import StudyOptions
from shortlist.cli.text.output import print_json, print_notes, run_facts

if TYPE_CHECKING:
    from shortlist.reproduce.paper import Paper, Reproduction

NAMES = ("pruning", "emsco", "products", "evolution")
"""Papers, as the user names them."""


@grouped
def reproduce(
    context: typer.Context,
    paper: Annotated[str, typer.Argument(help="pruning, emsco, products or evolution.")],
    *,
    data: Data = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A part that takes minutes; the whole takes hours to months.")
    ] = False,
    kept: StudyOptions,
    out_folder: Annotated[
        str | None, typer.Option("--out", help="Folder for the tables as CSV and Markdown; made if need be.")
    ] = None,
    workers: WorkersOrAddress = 1,
    json: Json = False,
) -> None:
    """Run a paper's experiments again, and print its tables with what it reports beside what came out."""
    from shortlist.cli.files import STUDY_FILE, check_files, check_folder
    from shortlist.cli.work import long_work

    folder = check_folder(data, "--data")
    check_files(inputs={}, outputs={"--study": kept.study}, endings={"--study": STUDY_FILE})
    check_shared(context.params)
    chosen = _paper(paper)
    out = _made(out_folder)
    from shortlist.reproduce.paper import reproduce as run
    from shortlist.runs import Work

    plan = chosen.plan(None if folder is None else Path(folder), quick)
    place = kept.place(context, data="")  # the folder is among the parameters
    with place.opened(context) as study, long_work(place.path) as (cancellation, report):
        found = run(chosen, plan, Work(workers, study, report, cancellation))
    print_notes(found.missing)
    facts = _facts(chosen, found, quick=quick) | run_facts(context)
    if out is not None:
        facts["files"] = _written(out, chosen, found, facts)
    if json:
        print_json(facts)
    else:
        _print(chosen, found, facts)


def _paper(name: str) -> "Paper":
    """Return a paper by its name."""
    from shortlist._words import any_of, did_you_mean
    from shortlist.errors import BadInputError

    if name not in NAMES:
        raise BadInputError(f"PAPER must be one of {any_of(NAMES)}, got {name!r}.{did_you_mean(name, NAMES)}")
    from shortlist.reproduce.papers import PAPERS

    return PAPERS[name]


def _made(folder: str | None) -> Path | None:
    """Return the folder for results, made if need be, before any work."""
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


def _facts(paper: "Paper", found: "Reproduction", *, quick: bool) -> dict[str, Any]:
    """Return what the JSON says."""
    from shortlist.cli.text.output import finite
    from shortlist.reproduce.machine import listed_versions, processor

    def plain(value: Any) -> Any:
        return finite(value) if isinstance(value, float) else value

    return {
        "command": "reproduce",
        "paper": paper.name,
        "title": paper.title,
        "quick": quick,
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
            }
            for table in found.tables
        ],
        "differs": list(paper.differs),
        "notes": list(found.missing),
    }


def _print(paper: "Paper", found: "Reproduction", facts: dict[str, Any]) -> None:
    """Print the tables, what differs and where."""
    from shortlist.reproduce.tables import as_text

    print(paper.title)
    for table in found.tables:
        print(f"\n{as_text(table)}")
    print("\nWhere this is not what the paper did:")
    for sentence in paper.differs:
        print(f"- {sentence}")
    stopped = "" if found.n_done == found.n_wanted else f" of {found.n_wanted:,}; the same command goes on"
    print(f"\n{found.n_done:,} units{stopped}, {found.unit_seconds:,.0f} s of work, on {facts['processor']}.")
    if "files" in facts:
        print("written " + ", ".join(facts["files"]))


def _written(out: Path, paper: "Paper", found: "Reproduction", facts: dict[str, Any]) -> list[str]:
    """Write every table as CSV, all of them as one page of Markdown, and the rows that they are made of."""
    from shortlist.cli.text.delivery import save
    from shortlist.files import write_text
    from shortlist.reproduce.tables import as_csv, as_markdown
    from shortlist.tables.csv_cells import guarded_csv

    files = {f"{paper.name}-{table.name}.csv": as_csv(table.rows) for table in found.tables}
    files[f"{paper.name}-rows.csv"] = guarded_csv(found.rows)
    how = f"{found.n_done:,} of {found.n_wanted:,} units, {facts['processor']}, {facts['versions']}."
    head = f"# {paper.title}\n\n{how}\n"
    differs = "## Where this is not what the paper did\n\n" + "".join(f"- {one}\n" for one in paper.differs)
    files[f"{paper.name}.md"] = "\n".join([head, *map(as_markdown, found.tables), differs])
    return [str(save(out / name, functools.partial(write_text, text=text))) for name, text in files.items()]
