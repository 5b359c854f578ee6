"""One picture for the headline of a paper: its printed values beside ours with their intervals, as SVG."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist_papers.comparison import FOLD, complete, margin, ranks
from shortlist_papers.evolution import NAMES
from shortlist_papers.pruning_tables import RANKED, RANKS, by_repeat, whole_pools

if TYPE_CHECKING:
    import pandas as pd

WIDTH, LEFT, RIGHT, TOP, STEP = 640, 190, 24, 48, 26
OURS, THEIRS, GREY = "#0b5fa5", "#d1495b", "#8a8f98"


@dataclass(frozen=True)
class HeadlineValue:
    """A value of ours with its interval, and the paper's."""

    name: str
    ours: float
    half: float
    """Half of the 95 % interval; 0 for none."""
    paper: float | None = None


def headline_svg(title: str, axis: str, values: Sequence[HeadlineValue], zero: float | None = None) -> str:
    """Draw a line for each value: a dot with its interval, and a diamond where the paper has a value.

    `zero`: a value that is marked by a line, such as no difference.
    """
    shown = [end for one in values for end in (one.ours - one.half, one.ours + one.half)]
    shown += [one.paper for one in values if one.paper is not None] + ([] if zero is None else [zero])
    low, high = min(shown), max(shown)
    pad = 0.04 * (high - low or 1.0)
    low, high = low - pad, high + pad
    bottom = TOP + STEP * len(values)

    def x(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT), 1)

    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 46}" role="img" '
            f'font-family="sans-serif" font-size="12">'
        ),
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{bottom + 46}" fill="#fff"/>',
        f'<text x="12" y="20" font-size="14">{escape(title)}</text>',
    ]
    for tick in _ticks(low, high):
        lines += [
            f'<line x1="{x(tick)}" y1="{TOP - 10}" x2="{x(tick)}" y2="{bottom - 8}" stroke="#e3e5e8"/>',
            f'<text x="{x(tick)}" y="{bottom + 8}" text-anchor="middle" fill="{GREY}">{tick:g}</text>',
        ]
    if zero is not None:
        lines.append(
            f'<line x1="{x(zero)}" y1="{TOP - 10}" x2="{x(zero)}" y2="{bottom - 8}" stroke="{GREY}"/>'
        )
    for place, one in enumerate(values):
        y = TOP + STEP * place + 4
        lines += [
            f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(one.name)}</text>',
            (
                f'<line x1="{x(one.ours - one.half)}" y1="{y}" x2="{x(one.ours + one.half)}" y2="{y}" '
                f'stroke="{OURS}" stroke-width="2"/>'
            ),
            f'<circle cx="{x(one.ours)}" cy="{y}" r="4" fill="{OURS}"/>',
        ]
        if one.paper is not None:
            at = x(one.paper)
            lines.append(
                f'<path d="M{at} {y - 6}l6 6l-6 6l-6 -6z" fill="none" stroke="{THEIRS}" stroke-width="2"/>'
            )
    told = "dot: here, with its 95 % interval"
    told += "; diamond: the paper" if any(one.paper is not None for one in values) else ""
    lines.append(f'<text x="12" y="{bottom + 34}" fill="{GREY}">{escape(axis)}; {told}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _ticks(low: float, high: float) -> list[float]:
    """Return three to eight round values between two ends."""
    power = 10.0 ** np.floor(np.log10(high - low))
    step = next(one * power for one in (0.2, 0.25, 0.5, 1.0, 2.0) if (high - low) / (one * power) <= 8)
    return [round(float(one), 10) for one in np.arange(np.ceil(low / step) * step, high, step)]


def pruning_headline(rows: "pd.DataFrame") -> str:
    """Draw the mean ranks of Table 4, over sets and the numbers of classifiers that have all folds."""
    methods = RANKED["accuracy"]
    runs = whole_pools(complete(rows[rows["kind"] == "run"], methods, units=(*FOLD, "classifiers")))
    cases = ranks(by_repeat(runs.astype({"classifiers": int}), "accuracy"))
    of_sets = cases.groupby(level=["dataset", "classifiers"]).mean().groupby(level="dataset").mean()
    pools = sorted(set(runs["classifiers"].astype(int)))
    printed = [RANKS["accuracy"][n] for n in pools if n in RANKS["accuracy"]]
    theirs = dict(zip(methods, np.mean(printed, axis=0), strict=True))
    values = [
        HeadlineValue(one, float(of_sets[one].mean()), margin(of_sets[one]), float(theirs[one]))
        for one in methods
    ]
    return headline_svg(
        "Mean ranks of seven methods by accuracy on new rows",
        f"mean rank over {len(of_sets)} sets, pools of {', '.join(map(str, pools))}; 1 is best",
        values,
    )


def evolution_headline(rows: "pd.DataFrame") -> str:
    """Draw the points of test error that Off-EEL has less than each other method, paired by set."""
    errors = 100 * (1 - rows.pivot_table(index="dataset", columns="method", values="accuracy"))
    others = ("single", "adaboost-stumps", "least-squares", "online", "online-smoothed")
    values = []
    for one in others:
        gained = (errors[one] - errors["offline"]).dropna()
        values.append(HeadlineValue(NAMES[one], float(gained.mean()), margin(gained)))
    return headline_svg(
        "Test error of five methods less that of Off-EEL", f"points, mean of {len(errors)} sets; right of 0 Off-EEL is better",
        values, zero=0.0,
    )  # fmt: skip


HEADLINES: dict[str, Callable[[Any], str]] = {"pruning": pruning_headline, "evolution": evolution_headline}
"""Makers of pictures by paper, from stored rows."""
