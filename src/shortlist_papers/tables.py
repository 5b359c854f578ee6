"""Tables of results as text for people, as Markdown, and as CSV."""

import csv
import dataclasses
import io
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.report.page import Chart, Heading, Parts, Table, Text
from shortlist.runs.records import versions
from shortlist_papers.paper import Paper, PaperLine, Reproduction, ResultTable, Rows

if TYPE_CHECKING:
    import pandas as pd


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def listed_versions() -> str:
    """Return the versions of all software on which figures depend, in one line."""
    return "; ".join(f"{name} {version}" for name, version in versions().items())


NOTHING = "-"
"""Mark of a missing figure."""


def columns_of(rows: Rows) -> list[str]:
    """Return the columns of all rows, in the order of their first occurrence."""
    return list(dict.fromkeys(column for row in rows for column in row))


def as_csv(rows: Rows) -> str:
    """Return rows as CSV, with every digit."""
    written = io.StringIO()
    writer = csv.DictWriter(written, columns_of(rows), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def whole_numbers(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return rows with columns of whole numbers as integers, even if rows of other kinds lack values."""
    floats = rows.select_dtypes("float")
    known = floats.notna()
    numbers = floats.where(known, 0.0)
    whole = ((numbers % 1 == 0) & (numbers.abs() < 2**53)).all() & known.any()
    return rows.astype(dict.fromkeys(floats.columns[whole], "Int64"))


def as_markdown(table: ResultTable) -> str:
    """Return a table as Markdown, with its title before it and its note after it."""
    plain = _table(table)
    sides = ["---" if _is_text(table.rows, column) else "---:" for column in plain.columns]
    rows = [[cell.replace("|", "\\|") for cell in row] for row in plain.rows]
    lines = ["| " + " | ".join(cells) + " |" for cells in (plain.columns, sides, *rows)]
    below = [line for text in plain.notes for line in ("", text)]
    return "\n".join([f"## {table.title}", "", *lines, *below]) + "\n"


def as_text(table: ResultTable) -> str:
    """Return a table for the terminal."""
    plain = _table(table)
    left = [_is_text(table.rows, column) for column in plain.columns]
    return "\n".join([table.title, *plain.lines(left), *plain.notes])


def _is_text(rows: Rows, column: str) -> bool:
    return any(isinstance(row.get(column), str) for row in rows)


def shown(value: Any) -> str:
    """Return a figure as text with four digits."""
    if value is None or value != value:  # noqa: PLR0124  # NaN
        return NOTHING
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def paper_parts(paper: Paper, found: Reproduction) -> Parts:
    """Return the parts of a page with every table and figure, and the deviations from the paper."""
    parts: list[Any] = [
        Text(
            f"{found.n_done:,} of {found.n_wanted:,} units are finished, which took "
            f"{found.unit_seconds:,.0f} s of work."
        )
    ]
    for table in found.tables:
        shown_as = [_chart(table)] if table.picture else [_table(table)]
        parts += [Heading(table.title), *(_claims(table) if table.name == "claims" else shown_as)]
    parts.append(Heading("Where this is not what the paper did"))
    return [*parts, *(Text(sentence) for sentence in paper.deviations)]


def _table(table: ResultTable) -> Table:
    columns = tuple(columns_of(table.rows))
    rows = tuple(tuple(shown(row.get(column)) for column in columns) for row in table.rows)
    return Table(table.title, columns, rows, tuple(text for text in (table.differs, table.note) if text))


def _claims(table: ResultTable) -> Parts:
    """Return the claims as two narrower tables: verdicts with the figures, and the evidence."""
    verdicts: Rows = [
        {"claim": f"{row['claim']} ({row['place']})"}
        | {name: row[name] for name in ("verdict", "paper", "here")}
        for row in table.rows
    ]
    behind: Rows = [
        {"claim": row["claim"], "how sure": row["how sure"], "why": row["why"]} for row in table.rows
    ]
    plain, rest = (_table(dataclasses.replace(table, rows=rows)) for rows in (verdicts, behind))
    rest = dataclasses.replace(rest, title="What each verdict rests on", notes=())
    return [plain, rest]


def _chart(table: ResultTable) -> Chart:
    picture = table.picture
    assert picture is not None
    return Chart(
        table.title,
        picture.text,
        {"kind": "line", "x": {"label": picture.x}, "y": {"label": picture.y}, **_drawn(picture.lines)},
        _table(table),
    )


def _drawn(lines: tuple[PaperLine, ...]) -> dict[str, Any]:
    panels: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        band = {"band": [[*ends] for ends in line.band]} if line.band else {}
        points = [[*point] for point in line.points]
        panels.setdefault(line.panel, []).append(
            {"name": line.name, "points": points, "line": line.joined, **band}
        )
    if len(panels) == 1:
        return {"series": next(iter(panels.values()))}
    return {"panels": [{"name": name, "series": series} for name, series in panels.items()]}
