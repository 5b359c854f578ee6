"""Self-contained HTML page, which loads nothing and connects to nothing."""

import base64
import functools
import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from shortlist.files import write_text
from shortlist.guarantees.guarantee import Guarantee, assumption


@dataclass(frozen=True)
class Heading:
    """Heading, which begins a section."""

    text: str


@dataclass(frozen=True)
class Text:
    """Paragraph; a `note` is smaller, and explains a picture or a table."""

    text: str
    note: bool = False


@dataclass(frozen=True)
class Facts:
    """Pairs of a name and a value, one pair per line."""

    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """Table for people."""

    title: str
    """Title of the table."""
    columns: tuple[str, ...]
    """Headings of the columns."""
    rows: tuple[tuple[str, ...], ...]
    """Cells; the first column is aligned to the left, the other columns to the right."""
    notes: tuple[str, ...] = ()
    """Notes on the meaning of the columns, one sentence each."""

    def lines(self, left: Sequence[bool] = ()) -> list[str]:
        """Return the table as aligned lines of text, without title and notes.

        `left`: whether each column is aligned to the left, by default the first column only.

        >>> Table("Fruit", ("name", "price"), (("fig", "1.5"), ("apple", "12"))).lines()
        ['name   price', 'fig      1.5', 'apple     12']
        """
        cells = [self.columns, *self.rows]
        left = left or [not place for place in range(len(self.columns))]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        return [
            "  ".join(
                cell.ljust(width) if is_left else cell.rjust(width)
                for cell, width, is_left in zip(row, widths, left, strict=True)
            ).rstrip()
            for row in cells
        ]


@dataclass(frozen=True)
class Chart:
    """Picture, its text alternative, and its numbers as a table."""

    title: str
    """Title of the chart."""
    text: str
    """Text alternative: the chart in a sentence, for readers who do not see it."""
    data: Mapping[str, Any]
    """Data for the page's script, with ``kind``: ``line``, ``bar``, ``box``, ``counts`` or ``ranks``."""
    numbers: Table | None = None
    """Table of the drawn numbers, folded away below the chart."""
    notes: tuple[str, ...] = ()
    """Notes on reading the chart, a sentence each."""


def line_data(x: str, y: str, series: Sequence[Any], *, whole: bool = False, **more: Any) -> dict[str, Any]:
    """Return the data of a line chart.

    `x`, `y`: labels of the axes. `whole`: whether the x axis has whole numbers only.
    """
    across = {"label": x, "whole": True} if whole else {"label": x}
    return {"kind": "line", "x": across, "y": {"label": y}, "series": series, **more}


@dataclass(frozen=True)
class Picture:
    """Drawing in SVG, which needs no script, with a text alternative."""

    title: str
    text: str
    svg: str = field(repr=False)
    folded: str = ""
    """Words that open the folded drawing; empty: the drawing is always open."""


@dataclass(frozen=True)
class Branch:
    """Branch of a tree: its text, a mark if it is chosen, and the branches below it."""

    text: str
    chosen: bool = True
    below: "tuple[Branch, ...]" = ()


@dataclass(frozen=True)
class Tree:
    """Tree whose branches a reader can open and close."""

    title: str
    branches: tuple[Branch, ...]


@dataclass(frozen=True)
class Explorer:
    """Points of fronts in linked pictures; `data` is for the page's script."""

    data: Mapping[str, Any] = field(repr=False)


Part: TypeAlias = Heading | Text | Facts | Table | Chart | Picture | Tree | Explorer
Parts: TypeAlias = Sequence[Part]


def answered_from(threshold: float) -> str:
    """Return the least confidence of an answer in words.

    >>> answered_from(0.9), answered_from(0.0), answered_from(float("inf"))
    ('0.9000', 'any', 'never')
    """
    if not math.isfinite(threshold):
        return "never"
    return f"{threshold:.4f}" if threshold > 0 else "any"


def guarantee_parts(found: Guarantee, rows: str = "rows") -> Parts:
    """Return a guarantee as a sentence, its numbers, and its assumption.

    `rows`: word for the answered rows.
    """
    facts = (
        ("promised", "yes" if found.promised else "nothing"),
        ("right answers, at least", f"{100 * found.accuracy:g} %"),
        ("confidence", f"{100 * found.confidence_level:g} %"),
        ("answered from confidence", answered_from(found.threshold)),
        (f"calibration {rows} answered", f"{found.n_answered:,} of {found.n_rows:,}"),
    )
    rests_on = Text(assumption(rows), note=True)
    return [Heading("What is promised"), Text(found.sentence(rows)), Facts(facts), rests_on]


SCRIPTS = ("dom", "shapes", "view", "planes", "parallel", "points", "explorer", "charts", "page")
"""Names of the parts of the page's script, in their order."""


LONG = 60
"""Number of letters above which cells are broken into lines."""
WORD = 12
"""Largest number of letters of the words in a text column that are never broken."""
COUNTED = re.compile(r"\d+[:.] ")
"""Pattern of a text with a leading number, such as "2: Google" or "1. small"."""
MOST_OPEN_ROWS = 50
"""Number of rows above which a table opens on demand."""


def page(title: str, parts: Parts, *, notes: Sequence[str] = ()) -> str:
    """Return an HTML page.

    The page contains its style and its script, whose SHA-256 browsers check; browsers run nothing else, load
    nothing and send nothing for the page. Every text is escaped, and data are JSON in which no tag can end.

    `parts`: content of the page, in order. `notes`: paragraphs below the heading.
    """
    style = asset("page.css")
    script = page_script()
    body = list(_sections(parts))
    head = f"<h1>{escape(title)}</h1>"
    theme = '<button type="button" id="theme" hidden>Dark or light</button>'
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        f'content="{escape(policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<header class="page">{head}{theme}</header>\n<main>\n'
        + "\n".join([*(f"<p>{escape(note)}</p>" for note in notes), *body])
        + "\n<noscript><p>The pictures need scripts, which are off here. The tables do not.</p></noscript>\n"
        f"</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )


def write_page(path: str | Path, text: str) -> None:
    """Write a page completely or not at all."""
    write_text(path, text)


def policy() -> str:
    """Return the rights of a page in a browser: run its own script, load nothing, send nothing."""
    return (
        f"default-src 'none'; script-src '{_digest(page_script())}'; "
        f"style-src '{_digest(asset('page.css'))}'; form-action 'none'; base-uri 'none'"
    )


@functools.cache
def asset(name: str) -> str:
    """Return the text of a file among the page's assets."""
    return (files("shortlist.report") / "assets" / name).read_text(encoding="utf-8")


@functools.cache
def page_script() -> str:
    """Return the script of a page: all parts in one function, so that the script defines no global name."""
    return '(() => {\n"use strict";\n' + "\n".join(asset(f"{name}.js") for name in SCRIPTS) + "})();\n"


def as_json(data: Mapping[str, Any]) -> str:
    """Return data as JSON for a script element: no tag can begin or end in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


NARROW_COLUMNS = 4
"""Largest number of columns at which a picture of counts is drawn beside other blocks."""

NARROW_TABLE = 60
"""Largest number of letters in a row of a table that stands beside other sections."""

MANY_NOTES = 4
"""Number of consecutive notes from which notes are set in two columns on wide screens."""


def _sections(parts: Parts) -> Iterator[str]:
    """Yield a section for every heading; on wide screens, brief blocks and sections are side by side."""
    sections: list[tuple[str, list[tuple[int, Part]]]] = [("", [])]
    for number, part in enumerate(parts):
        if isinstance(part, Heading):
            sections.append((part.text, []))
        else:
            sections[-1][1].append((number, part))
    for heading, own in sections:
        if heading or own:
            yield '<section class="brief">' if _is_brief([part for _, part in own]) else "<section>"
            yield from [f"<h2>{escape(heading)}</h2>"] if heading else []
            yield from _blocks(own, heading)
            yield "</section>"


def _blocks(numbered: Sequence[tuple[int, Part]], heading: str) -> Iterator[str]:
    for kind, group in itertools.groupby(numbered, key=lambda one: _kind(one[1])):
        if kind == "texts":
            texts = [part for _, part in group if isinstance(part, Text)]
            many = " many" * (len(texts) >= MANY_NOTES and all(one.note for one in texts))
            several = " several" * (len(texts) > 2 and not many)
            told = "".join(_paragraph(one.text, note=one.note) for one in texts)
            yield f'<div class="block texts{many}{several}">{told}</div>'
            continue
        for number, part in group:
            yield f'<div class="block {kind}">'
            yield from _html(part, f"part-{number}", heading)
            yield "</div>"


def _is_brief(parts: Parts) -> bool:
    """Return whether a section is narrow enough to stand beside another one."""
    kinds = [_kind(part) for part in parts if not isinstance(part, Text)]
    widths = [
        sum(max(map(len, cells)) for cells in zip(part.columns, *part.rows, strict=True))
        for part in parts
        if isinstance(part, Table)
    ]
    narrow = len(kinds) == 1 or (kinds == ["picture small"] * 2)
    return narrow and "whole" not in kinds and max(widths, default=0) <= NARROW_TABLE


def _kind(part: Part) -> str:
    """Return the CSS class of a block, which determines its width."""
    if isinstance(part, Chart):
        counts = part.data["kind"] == "counts" and len(part.data["columns"]) <= NARROW_COLUMNS
        return "picture small" if counts else "picture"
    known = {Text: "texts", Facts: "words", Table: "table", Picture: "picture"}
    return known.get(type(part), "whole")


def _html(part: Part, name: str, heading: str) -> Iterator[str]:
    if isinstance(part, Text):
        yield _paragraph(part.text, note=part.note)
    elif isinstance(part, Facts):
        lines = (f"<dt>{escape(word)}</dt><dd>{escape(text)}</dd>" for word, text in part.facts)
        yield f'<dl class="facts">{"".join(lines)}</dl>'
    elif isinstance(part, Table):
        yield from _folded(part, heading)
    elif isinstance(part, Chart):
        yield from _chart(part, name, heading)
    elif isinstance(part, Picture):
        yield from _picture(part, heading)
    elif isinstance(part, Tree):
        yield f"<h3>{escape(part.title)}</h3>"
        yield f'<ul class="tree">{"".join(map(_branch, part.branches))}</ul>'
    elif isinstance(part, Explorer):
        yield f'<script type="application/json" id="{name}">{as_json(part.data)}</script>'
        yield f'<div class="explorer" data-part="{name}"></div>'


def _picture(part: Picture, heading: str) -> Iterator[str]:
    if part.folded:
        yield f"<details><summary>{escape(part.folded)}</summary>"
    yield f'<figure class="chart"><h3{_hidden(part.title, heading)}>{escape(part.title)}</h3>'
    yield f"<div{_scrolling(f'{part.title}: a picture')}>{part.svg}</div>"
    yield f"<figcaption>{escape(part.text)}</figcaption></figure>"
    if part.folded:
        yield "</details>"


def _paragraph(text: str, *, note: bool) -> str:
    return f'<p class="note">{escape(text)}</p>' if note else f"<p>{escape(text)}</p>"


def _hidden(title: str, heading: str) -> str:
    return ' class="visually-hidden"' if title == heading else ""


def _folded(table: Table, heading: str) -> Iterator[str]:
    if len(table.rows) <= MOST_OPEN_ROWS:
        yield from _table(table, heading)
        return
    yield f"<details><summary>{escape(table.title)}: {len(table.rows):,} rows</summary>"
    yield from _table(table, heading)
    yield "</details>"


def _table(table: Table, heading: str) -> Iterator[str]:
    """Yield a table that scrolls by itself, also by keyboard, if it is too wide."""
    classes = [_class_of(cells) for cells in zip(*table.rows, strict=True)] or [""] * len(table.columns)
    heads = zip(classes, table.columns, strict=True)
    head = "".join(f'<th scope="col"{one}>{escape(cell)}</th>' for one, cell in heads)
    yield f"<div{_scrolling(f'{table.title}: a table')}><table>"
    yield f"<caption{_hidden(table.title, heading)}>{escape(table.title)}</caption>"
    yield f"<thead><tr>{head}</tr></thead>\n<tbody>"
    first_class = classes[0] if "long" in classes[0] else _whole_words([row[0] for row in table.rows])
    for first, *others in table.rows:
        cells = "".join(
            f"<td{one}>{_parted(cell)}</td>" for one, cell in zip(classes[1:], others, strict=True)
        )
        yield f'<tr><th scope="row"{first_class}>{_parted(first)}</th>{cells}</tr>'
    yield "</tbody>\n</table></div>"
    for note in table.notes:
        yield _paragraph(note, note=True)


def _scrolling(what: str) -> str:
    """Return the attributes of an element that scrolls by itself, also by keyboard, if it is too wide."""
    return f' class="wide" tabindex="0" role="region" aria-label="{escape(what)} that scrolls"'


def _class_of(cells: Sequence[str]) -> str:
    """Return the CSS classes of a column: text if no cell is a number, text and long if a cell is long."""
    is_number = any(
        (cell[:1].isdigit() and not COUNTED.match(cell)) or cell[:1] in {"-", "+", "−"}
        for cell in cells
        if cell
    )
    is_long = max(map(len, cells)) > LONG
    names = ["text"] * (is_long or not is_number) + ["long"] * is_long
    return f' class="{" ".join(names)}"' if names else ""


def _whole_words(cells: Sequence[str]) -> str:
    """Return the CSS class of a text column whose words are short enough to stay whole on a telephone."""
    longest = max((len(word) for cell in cells for word in re.split(r"[\s_/-]", cell)), default=0)
    return ' class="words"' if longest <= WORD else ""


def _parted(cell: str) -> str:
    """Return a cell as HTML in which a line may break after an underscore or a slash."""
    return "<wbr>".join(map(escape, re.split(r"(?<=[_/])", cell)))


def _chart(chart: Chart, name: str, heading: str) -> Iterator[str]:
    data = as_json({**chart.data, "text": chart.text})
    yield f'<script type="application/json" id="{name}">{data}</script>'
    yield f'<figure class="chart"><h3{_hidden(chart.title, heading)}>{escape(chart.title)}</h3>'
    yield f'<div class="drawing {escape(str(chart.data["kind"]))}" data-part="{name}"></div>'
    yield f"<figcaption>{escape(' '.join([chart.text, *chart.notes]))}</figcaption></figure>"
    if chart.numbers is not None:
        yield "<details><summary>The numbers of this picture</summary>"
        yield from _table(chart.numbers, chart.title)
        yield "</details>"


def _branch(branch: Branch) -> str:
    text = escape(branch.text)
    shown = text if branch.chosen else f'<span class="out">{text}</span><span class="soft"> (out)</span>'
    if not branch.below:
        return f"<li>{shown}</li>"
    below = "".join(map(_branch, branch.below))
    is_open = " open" if branch.chosen else ""
    return f"<li><details{is_open}><summary>{shown}</summary><ul>{below}</ul></details></li>"
