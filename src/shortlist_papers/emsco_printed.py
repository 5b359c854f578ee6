"""Figures printed in the text of :cite:t:`Hamilton2022`, and our figures with the interval of one split."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shortlist_papers.comparison import margin
from shortlist_papers.emsco_fronts import held_shares
from shortlist_papers.emsco_judges import mean_over_sets
from shortlist_papers.emsco_rows import ALL, ONE_SPLIT, EmscoRows
from shortlist_papers.emsco_tables import PAPER_SHARES
from shortlist_papers.paper import PaperLine, PaperPicture, ResultTable, Rows
from shortlist_papers.stage_opponents import (
    PAPER_ACCURACIES,
    PAPER_COSTS,
    PAPER_COVERAGES,
    PAPER_LOSS_OF_ACCURACY,
    PAPER_MEAN_COVERAGES,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PrintedFigure:
    """Figure printed in the text, and our values on single splits."""

    panel: str
    """Measure with its unit."""
    name: str
    """Method and set."""
    printed: float
    values: "pd.Series[float]"
    """Our values, one per split."""

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of one further split, clipped to 0 to 100 for shares."""
        mean, half = float(self.values.mean()), margin(self.values, ONE_SPLIT)
        if self.panel.endswith("points"):
            return mean - half, mean + half
        return max(0.0, mean - half), min(100.0, mean + half)


def figures_of_text(rows: EmscoRows) -> Iterator[PrintedFigure]:
    """Yield every printed figure that rows cover: methods on new rows, and shares of fronts."""
    measured = rows.measured()
    for panel, measure, printed in (
        ("conclusive accuracy, %", "accuracy", PAPER_ACCURACIES),
        ("cost, % of all features", "cost", PAPER_COSTS),
        ("rows answered, %", "coverage", PAPER_COVERAGES),
    ):
        for (name, method), value in printed.items():
            if name in measured:
                values = measured[name][method][measure].dropna()
                if len(values):
                    yield PrintedFigure(panel, f"{method}, {name}", value, values)
    if len(measured) == len(ALL):
        for method, value in PAPER_MEAN_COVERAGES.items():
            values = mean_over_sets(measured, "coverage", method)
            yield PrintedFigure("rows answered, %", f"{method}, mean", value, values)
        for method, value in PAPER_LOSS_OF_ACCURACY.items():
            values = mean_over_sets(measured, "accuracy", method)
            yield PrintedFigure("accuracy beside Single-Stage, points", f"{method}, mean", value, -values)
    for (name, stages), share in PAPER_SHARES.items():
        plain = rows.of_kind("split", set=name, stages=stages)
        if len(plain) > 1:
            found = float(share.removeprefix("over "))
            yield PrintedFigure(
                "share of the front held, %", f"{name}, k = {stages}", found, held_shares(plain)
            )


def printed_figures(rows: "pd.DataFrame") -> list[ResultTable]:
    """Return a table and a picture of the printed figures; empty without enough splits."""
    found: Rows = []
    panels: dict[str, list[PrintedFigure]] = {}
    for one in figures_of_text(EmscoRows.of(rows)):
        mean, (low, high) = float(one.values.mean()), one.interval
        panels.setdefault(one.panel, []).append(one)
        found.append(
            {
                "figure": one.panel, "of": one.name, "paper": one.printed, "here": round(mean, 1),
                "one split": f"{low:.1f} to {high:.1f}", "splits": len(one.values),
                "the paper's within": "yes" if low <= one.printed <= high else "no",
            }
        )  # fmt: skip
    if not found:
        return []
    lines = [line for panel, figures in panels.items() for line in _lines(panel, figures)]
    return [
        ResultTable(
            "printed", "Figures that the text prints, beside ours", found,
            "The interval is that of one split more at 95 %, as the paper's figures are of one split each. "
            '"Over 20 %" of Credit\'s front stands as 20.',
            "The paper's splits are not public.",
            PaperPicture(
                "Printed figures beside ours, with the interval of one split.", "figure", "value",
                tuple(lines),
            ),
        )
    ]  # fmt: skip


def _lines(panel: str, figures: list[PrintedFigure]) -> tuple[PaperLine, PaperLine]:
    """Return the paper's points, and our points with their intervals, at the positions 0, 1 and so on."""
    names = tuple(one.name for one in figures)
    theirs = tuple((float(place), one.printed) for place, one in enumerate(figures))
    ours, band = [], []
    for place, one in enumerate(figures):
        ours.append((float(place), round(float(one.values.mean()), 2)))
        band.append(one.interval)
    return (
        PaperLine("here, and the interval of one split", tuple(ours), tuple(band), False, panel, names),
        PaperLine("paper", theirs, (), False, panel, names),
    )
