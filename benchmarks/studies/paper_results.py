"""Rows, page and pictures of `shortlist reproduce`, from a study or from the rows that are stored.

python -m benchmarks.studies.paper_results emsco STUDY.db --scale medium --pictures figure-7,figure-8
python -m benchmarks.studies.paper_results emsco
"""

import argparse
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.rows import RESULTS, row_facts
from shortlist.runs import open_study
from shortlist_papers.paper import SCALES, PaperLine, ResultTable, all_tables
from shortlist_papers.stored import part_of, stored_rows
from shortlist_papers.tables import PAPERS, as_markdown, whole_numbers

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
PAGES = Path(__file__).parents[2] / "docs" / "results"
BLOCK = re.compile(r"(<!-- table: ([\w-]+) -->)\n.*?(<!-- end -->)", re.DOTALL)
KEYS = (
    "case", "kind", "dataset", "set", "system", "number", "repeat", "fold", "classifiers", "method", "split",
    "reference_points", "seed", "objectives", "part", "stages", "rules", "trial", "feature", "level", "place",
)  # fmt: skip
"""Columns that tell which row is which."""
COLOURS = ("#0b5fa5", "#d1495b", "#6a994e", "#e08e45", "#7b4fa3", "#5c677d", "#2a9d8f", "#8d5524")
MARKS = "osD^vPX*"


def draw(table: ResultTable, path: Path) -> None:
    """Draw what a table shows, a panel for each word that its lines name."""
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
        panel.grid(alpha=0.3)
    for panel in panels[len(names) :]:
        panel.axis("off")
    panels[0].legend(fontsize=8)
    figure.supxlabel(picture.x, fontsize=10)
    figure.supylabel(picture.y, fontsize=10)
    figure.savefig(path, dpi=90)


def _lines(panel: Any, lines: Sequence[PaperLine]) -> None:
    for place, line in enumerate(lines):
        x, y = zip(*line.points, strict=True)
        colour, mark = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
        panel.plot(x, y, "-" if line.joined else mark, color=colour, lw=1.6, ms=5, label=line.name)
        if line.band:
            panel.fill_between(x, *zip(*line.band, strict=True), color=colour, alpha=0.2, lw=0)


def rows_of(paper: str) -> pd.DataFrame:
    """Return the stored rows of the largest scale that is stored of a paper."""
    rows = stored_rows(RESULTS / f"reproduce-{paper}.csv")
    scales = set(rows["case"])
    case = next(
        f"reproduce-{paper} {scale}" for scale in reversed(SCALES) if f"reproduce-{paper} {scale}" in scales
    )
    return rows[rows["case"] == case].reset_index(drop=True)


def page_of(paper: str, text: str) -> str:
    """Return a page of results whose tables and deviations are made again of the stored rows.

    A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``, and the deviations are one.
    """
    made = {table.name: table for table in all_tables(PAPERS[paper], rows_of(paper))}
    blocks = {
        name: as_markdown(table).replace("## ", "**", 1).replace("\n", "**\n", 1)
        for name, table in made.items()
    }
    blocks["measured"] = as_markdown(measured(rows_of(paper), PAPERS[paper].code)).split("\n", 2)[2]
    blocks["deviations"] = "".join(f"- {one}\n" for one in PAPERS[paper].deviations)
    return BLOCK.sub(
        lambda match: (
            f"{match[1]}\n{blocks.get(match[2], 'The stored rows do not have this table.').strip()}\n{match[3]}"
        ),
        text,
    )


def measured(rows: pd.DataFrame, code: Mapping[str, tuple[str, ...]]) -> ResultTable:
    """Return when, where and by which version the rows of each part of the code were measured."""
    parts = [part_of(row, code) or "data, and methods of others" for row in rows.to_dict("records")]
    versions = rows["versions"].str.extract(r"shortlist ([\w.]+)")[0].rename("version")
    days, machines = rows["day"].rename("day"), rows["processor"].rename("processor")
    sizes = rows.groupby(
        [pd.Series(parts, index=rows.index, name="rows of"), versions, days, machines]
    ).size()
    return ResultTable(
        "measured", "", [dict(row) for row in sizes.rename("rows").reset_index().to_dict("records")]
    )


def merged(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Return stored rows, those that were measured again in their new form."""
    keys = [name for name in KEYS if name in old and name in new]
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
    parser.add_argument("--add", action="store_true", help="keep stored rows that were not measured again")
    given = parser.parse_args()
    if given.study is not None:
        with open_study(given.study) as study:
            finished = list(study.results().values())
        facts = {"case": f"reproduce-{given.paper} {given.scale}", **row_facts()}
        rows = whole_numbers(pd.DataFrame([facts | row for one in finished for row in one["rows"]]))
        path = RESULTS / f"reproduce-{given.paper}.csv"
        if given.add:
            sources = (path, io.StringIO(rows.to_csv(index=False)))
            rows = merged(*(pd.read_csv(one, low_memory=False, dtype={"code": str}) for one in sources))
        rows.to_csv(path, index=False)
        print(f"{len(finished):,} units, {sum(one['seconds'] for one in finished):,.0f} s")
    page = PAGES / f"{given.paper}.md"
    page.write_text(page_of(given.paper, page.read_text()))
    for table in all_tables(PAPERS[given.paper], rows_of(given.paper)):
        if table.name in given.pictures.split(",") and table.picture is not None:
            draw(table, PICTURES / f"{given.paper}-{table.name}.png")


if __name__ == "__main__":
    main()
