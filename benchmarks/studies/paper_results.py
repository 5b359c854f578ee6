"""Rows, page and pictures of `shortlist reproduce`, from a study or from the rows that are stored.

python -m benchmarks.studies.paper_results emsco STUDY.db --scale medium --pictures figure-7,figure-8
python -m benchmarks.studies.paper_results emsco
"""

import argparse
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.rows import RESULTS, row_facts
from benchmarks.studies.headline_pictures import HEADLINES
from shortlist.runs import Cancellation, open_study
from shortlist_papers.paper import SCALES, Extent, PaperLine, ResultTable, all_tables
from shortlist_papers.papers import PAPERS
from shortlist_papers.stored import (
    KEYS,
    ROWS_HOLD_SINCE,
    VERDICTS,
    checked_rows,
    drawn_units,
    of_older_versions,
    stored_rows,
    versions_of,
)
from shortlist_papers.tables import as_markdown, whole_numbers

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
CHECKS = RESULTS / "reproduce-checks.csv"
PAGES = Path(__file__).parents[2] / "docs" / "results"
BLOCK = re.compile(r"(<!-- table: ([\w-]+) -->)\n.*?(<!-- end -->)", re.DOTALL)
COLOURS = ("#0b5fa5", "#d1495b", "#6a994e", "#e08e45", "#7b4fa3", "#5c677d", "#2a9d8f", "#8d5524", "#222222")
MARKS = "osD^vPX*p"


def draw(table: ResultTable, path: Path) -> None:
    """Draw what a table shows, a panel for each word that its lines name."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    picture = table.picture
    assert picture is not None
    names = list(dict.fromkeys(line.panel for line in picture.lines))
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(
        figsize=(3.7 * columns if len(names) > 1 else 7.5, 2.7 * rows + 1.5), layout="constrained"
    )
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, name in zip(panels, names, strict=False):
        _lines(panel, [line for line in picture.lines if line.panel == name])
        panel.set_title(name, fontsize=10)
        if picture.by_powers:
            panel.set_yscale("log")
        if picture.places:
            panel.set_xticks(range(len(picture.places)), picture.places, rotation=30, ha="right", fontsize=8)
        panel.grid(alpha=0.3)
    for panel in panels[len(names) :]:
        panel.axis("off")
    panels[0].legend(fontsize=8)
    figure.supxlabel(picture.x, fontsize=10)
    figure.supylabel(picture.y, fontsize=10)
    if path.suffix == ".svg":  # the same bytes for the same rows
        with mpl.rc_context({"svg.hashsalt": path.stem, "svg.fonttype": "none"}):
            figure.savefig(path, metadata={"Date": None, "Creator": None})
    else:
        figure.savefig(path, dpi=90)


def _lines(panel: Any, lines: Sequence[PaperLine]) -> None:
    for place, line in enumerate(lines):
        x, y = zip(*line.points, strict=True)
        colour, mark = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
        panel.plot(x, y, "-" if line.joined else mark, color=colour, lw=1.6, ms=5, label=line.name)
        if line.names:
            panel.set_xticks(range(len(line.names)), line.names, fontsize=7, rotation=20, ha="right")
            panel.set_xlim(-0.5, len(line.names) - 0.5)
        if line.band and not line.joined:
            panel.vlines(x, *zip(*line.band, strict=True), color=colour, lw=1.4)
        elif line.band:
            panel.fill_between(x, *zip(*line.band, strict=True), color=colour, alpha=0.2, lw=0)


def rows_of(paper: str) -> pd.DataFrame:
    """Return the stored rows of the largest scale that is stored of a paper."""
    rows = stored_rows(RESULTS / f"reproduce-{paper}.csv")
    scales = set(rows["case"])
    case = next(
        f"reproduce-{paper} {scale}" for scale in reversed(SCALES) if f"reproduce-{paper} {scale}" in scales
    )
    return rows[rows["case"] == case].reset_index(drop=True)


def page_of(paper: str, text: str, tables: Sequence[ResultTable] | None = None) -> str:
    """Return a page of results whose tables and deviations are made again of the stored rows.

    A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``, and the deviations are one.
    """
    tables = all_tables(PAPERS[paper], rows_of(paper)) if tables is None else tables
    made = {table.name: table for table in tables}
    blocks = {
        name: as_markdown(table).replace("## ", "**", 1).replace("\n", "**\n", 1)
        for name, table in made.items()
    }
    blocks["measured"] = as_markdown(measured(paper, rows_of(paper))).split("\n", 2)[2]
    blocks["checked"] = checked(paper)
    blocks["deviations"] = "".join(f"- {one}\n" for one in PAPERS[paper].deviations)
    return BLOCK.sub(
        lambda match: (
            f"{match[1]}\n{blocks.get(match[2], 'The stored rows do not have this table.').strip()}\n{match[3]}"
        ),
        text,
    )


def measured(paper: str, rows: pd.DataFrame) -> ResultTable:
    """Return when, where and by which version the rows of each method were measured, and how many hold."""
    versions = pd.Series(versions_of(rows), rows.index, name="version")
    names = (rows["method"] if "method" in rows else rows["kind"]).fillna("data").rename("method")
    found = []
    for (version, day, processor), part in names.groupby([versions, rows["day"], rows["processor"]]):
        found.append(
            {
                "version": version, "day": day, "processor": processor, "rows": len(part),
                "methods": ", ".join(part.unique()),
            }
        )  # fmt: skip
    older = of_older_versions(paper, rows).removeprefix("; ") or "there are no others"
    note = f"Rows of version {ROWS_HOLD_SINCE[paper]} and later are those of today's code; {older}."
    return ResultTable("measured", "", found, note)


def checked(paper: str) -> str:
    """Say the number of rows of a paper that came again when some of its units were last run again."""
    rows = pd.read_csv(CHECKS)
    part = rows[rows["paper"] == paper]
    counts = part.reindex(columns=list(VERDICTS)).fillna(0).astype(int).sum()
    told = ", ".join(f"{n} {name}" for name, n in counts.items() if n)
    version, day = part["versions"].str.extract(r"shortlist ([\w.]+)")[0].iloc[0], str(part["day"].iloc[0])
    newer = rows_of(paper)["day"].astype(str) > day
    later = (
        f" Of the rows stored now {newer.sum():,} of {len(newer):,} are newer than that."
        if newer.any()
        else ""
    )
    return (
        f"On {day}, version {version} ran {part['units'].iloc[0]} units again, drawn at random "
        f"among the short ones. Their rows: {told}.{later}"
    )


def check(paper: str, folder: Path) -> None:
    """Run some units of a paper again, and store how many rows came again."""
    rows = rows_of(paper)
    extent = Extent(rows["case"].iloc[0].split()[-1])
    units = drawn_units(PAPERS[paper].plan(folder, extent).units)
    found = checked_rows(paper, rows, units, Cancellation())
    new = pd.DataFrame(
        [{"paper": paper, **row_facts(), "units": found.n_units, **row} for row in found.counts]
    )
    old = pd.read_csv(CHECKS) if CHECKS.exists() else new.iloc[:0]
    pd.concat([old[old["paper"] != paper], new]).sort_values("paper", kind="stable").to_csv(
        CHECKS, index=False
    )
    print(new.to_string())


def merged(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Return stored rows, those that were measured again in their new form."""
    keys = [name for name in ("case", *KEYS) if name in old and name in new]
    named = [list(zip(*(_words(rows[name]) for name in keys), strict=True)) for rows in (old, new)]
    again = set(named[1])
    kept = [key not in again for key in named[0]]
    return pd.concat([old[kept], new], ignore_index=True)


def _words(column: pd.Series) -> list[str]:
    """Return a column as words, in which 0 and 0.0 are one."""
    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    return list(column.astype(str).where(numbers.isna() & column.notna(), numbers.astype(str)))


def main() -> None:
    """Store the rows of finished units, then make the page and pictures again."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paper", choices=PAPERS)
    parser.add_argument("study", type=Path, nargs="?")
    parser.add_argument("--scale", default="medium")
    parser.add_argument("--pictures", default="", help="names of figures")
    parser.add_argument("--format", default="png", choices=("png", "svg"), help="of the pictures")
    parser.add_argument("--add", action="store_true", help="keep stored rows that were not measured again")
    parser.add_argument("--check", type=Path, help="folder with data: run some stored rows again")
    given = parser.parse_args()
    if given.check is not None:
        check(given.paper, given.check)
    if given.study is not None:
        with open_study(given.study) as study:
            finished = list(study.results().values())
        facts = {"case": f"reproduce-{given.paper} {given.scale}", **row_facts()}
        rows = whole_numbers(pd.DataFrame([facts | row for one in finished for row in one["rows"]]))
        path = RESULTS / f"reproduce-{given.paper}.csv"
        if given.add:
            sources = (path, io.StringIO(rows.to_csv(index=False)))
            rows = merged(*(pd.read_csv(one, low_memory=False) for one in sources))
        rows.to_csv(path, index=False)
        print(f"{len(finished):,} units, {sum(one['seconds'] for one in finished):,.0f} s")
    page = PAGES / f"{given.paper}.md"
    tables = all_tables(PAPERS[given.paper], rows_of(given.paper))
    page.write_text(page_of(given.paper, page.read_text(), tables))
    if given.paper in HEADLINES:
        (PICTURES / f"{given.paper}-headline.svg").write_text(HEADLINES[given.paper](rows_of(given.paper)))
    for table in tables:
        if table.name in given.pictures.split(",") and table.picture is not None:
            draw(table, PICTURES / f"{given.paper}-{table.name}.{given.format}")


if __name__ == "__main__":
    main()
