"""What a page is made of, as plain data: headings, text, facts, tables, charts, drawings and trees."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from shortlist.guarantees.guarantee import Guarantee, assumption


@dataclass(frozen=True)
class Heading:
    """The beginning of a section."""

    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph; a `note` is smaller, and explains a picture or a table."""

    text: str
    note: bool = False


@dataclass(frozen=True)
class Facts:
    """Words and what they are, a line each."""

    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """A table for people."""

    title: str
    """What it is about."""
    columns: tuple[str, ...]
    """Headings."""
    rows: tuple[tuple[str, ...], ...]
    """Cells; the first column is aligned to the left, the others to the right."""
    notes: tuple[str, ...] = ()
    """What the columns mean, a sentence each."""

    def lines(self, left: Sequence[bool] = ()) -> list[str]:
        """Return the table as aligned lines of text, without title and notes.

        `left` says which columns are aligned to the left, by default the first one alone.

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
    """A picture, its text alternative, and its numbers as a table."""

    title: str
    """What it shows."""
    text: str
    """What one sees in it, in a sentence, for readers who do not see it."""
    data: Mapping[str, Any]
    """``kind`` is ``line``, ``bar``, ``box``, ``counts`` or ``ranks``; the rest is what the script draws."""
    numbers: Table | None = None
    """What is drawn, folded away below it."""
    notes: tuple[str, ...] = ()
    """How to read it, a sentence each."""


def line_data(x: str, y: str, series: Sequence[Any], *, whole: bool = False, **more: Any) -> dict[str, Any]:
    """Return the data of a chart of lines; `x` and `y` label its axes, and `whole` is of the first."""
    across = {"label": x, "whole": True} if whole else {"label": x}
    return {"kind": "line", "x": across, "y": {"label": y}, "series": series, **more}


@dataclass(frozen=True)
class Picture:
    """A drawing of our own in SVG, which needs no script, and what one sees in it."""

    title: str
    text: str
    svg: str = field(repr=False)
    folded: str = ""
    """Words behind which the drawing is folded away; empty: it is open."""


@dataclass(frozen=True)
class Branch:
    """A branch of a tree: its text, whether it is chosen, and what is below it."""

    text: str
    chosen: bool = True
    below: "tuple[Branch, ...]" = ()


@dataclass(frozen=True)
class Tree:
    """A tree whose branches open and close."""

    title: str
    branches: tuple[Branch, ...]


@dataclass(frozen=True)
class Explorer:
    """Points of fronts with pictures that brush each other; `data` is what the script reads."""

    data: Mapping[str, Any] = field(repr=False)


Part: TypeAlias = Heading | Text | Facts | Table | Chart | Picture | Tree | Explorer
Parts: TypeAlias = Sequence[Part]


def answered_from(threshold: float) -> str:
    """Say from which confidence on an answer is given.

    >>> answered_from(0.9), answered_from(0.0), answered_from(float("inf"))
    ('0.9000', 'any', 'never')
    """
    if not math.isfinite(threshold):
        return "never"
    return f"{threshold:.4f}" if threshold > 0 else "any"


def guarantee_parts(found: Guarantee, rows: str = "rows") -> Parts:
    """Return a guarantee as a sentence, its numbers, and what it rests on. `rows`: what is answered."""
    facts = (
        ("promised", "yes" if found.promised else "nothing"),
        ("right answers, at least", f"{100 * found.accuracy:g} %"),
        ("confidence", f"{100 * found.confidence_level:g} %"),
        ("answered from confidence", answered_from(found.threshold)),
        (f"calibration {rows} answered", f"{found.n_answered:,} of {found.n_rows:,}"),
    )
    rests_on = Text(assumption(rows), note=True)
    return [Heading("What is promised"), Text(found.sentence(rows)), Facts(facts), rests_on]
