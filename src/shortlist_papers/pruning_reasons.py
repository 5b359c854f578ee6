"""Reasons why claims of :cite:t:`Bastos2022` do not hold; each reason's condition is computed from rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shortlist._words import all_of, counted
from shortlist_papers.claims import above, beside, most, shown_mean
from shortlist_papers.comparison import FOLD, complete, margin
from shortlist_papers.pruning_tables import CLIMBERS, WITH_FLOOR, by_fold, ranks_gained, runs_with

if TYPE_CHECKING:
    import pandas as pd


def overfitting(runs: "pd.DataFrame", one: str, other: str) -> str:
    """Return a sentence that `one` loses more from pruning rows to new rows than `other`; else empty.

    Lost points are paired by set, and must differ by more than their 95 % margin.
    """
    lost = (
        runs.assign(lost=100 * (runs["validation_accuracy"] - runs["accuracy"]))
        .pivot_table(index=[*FOLD, "classifiers"], columns="method", values="lost")
        .dropna(subset=[one, other])
        .groupby(level="dataset")
        .mean()
    )
    more = lost[one] - lost[other]
    if len(more) < 2 or not more.mean() > margin(more):
        return ""
    return (
        f"{one} fits the pruning rows more closely: it loses {lost[one].mean():.1f} points on new rows, "
        f"{other} {lost[other].mean():.1f} (difference {more.mean():.1f} ± {margin(more):.1f}, "
        f"{counted(len(more), 'set')})."
    )


def other_stop(rows: "pd.DataFrame", metric: str, climbers: Sequence[str] = CLIMBERS) -> str:
    """Return a sentence that hill climbing ranks better if it stops by accuracy.

    Empty unless beyond chance.
    """
    told = []
    for climber in CLIMBERS:
        if climber not in climbers:
            continue
        gained = ranks_gained(rows, climber, metric)
        if gained is not None and (part := above(gained)).same and part.sure:
            told.append(f"{climber} by {shown_mean(gained, 'ranks', 2)}")
    if not told:
        return ""
    return (
        "Hill climbing that keeps the most accurate prefix, and not the fittest as Section 5.2 says, ranks "
        f"better here: {all_of(told)}."
    )


def no_floor(rows: "pd.DataFrame", metric: str) -> str:
    """Return a sentence that F1 gains on new rows from backfitting's least size.

    Empty unless beyond chance.
    """
    runs = complete(rows, ("F1", WITH_FLOOR, "BFT"), units=(*FOLD, "classifiers"))
    if runs.empty:
        return ""
    of_sets = by_fold(runs, metric).groupby(level="dataset").mean()
    gained = of_sets[WITH_FLOOR] - of_sets["F1"]
    if not above(gained).sure:
        return ""
    left = of_sets[WITH_FLOOR] - of_sets["BFT"]
    points = f"points of {metric.replace('_', ' ')}"
    return (
        "Backfitting has at least 20 % of the pool, F1 a single member: with that floor F1 gains "
        f"{shown_mean(gained, points, 2)} on new rows, and is {beside(left, 'points')} backfitting "
        f"({counted(len(of_sets), 'set')})."
    )


def hardly_binds(rows: "pd.DataFrame", lacking: Sequence[str] = ("F2",)) -> str:
    """Return a sentence that F1 already is as diverse as F2 must be; else empty.

    F1 must be as diverse in most runs, beyond chance. Of several repeats of a set the first counts. If F3 is
    in `lacking` too, the sentence is empty, as rows do not have the limit of F3 on each member.
    """
    if list(lacking) != ["F2"] or not {"pfc", "gamma"} <= set(rows.columns):
        return ""
    runs = rows[(rows["method"] == "F1") & (rows["repeat"] == 0)].dropna(subset=["pfc", "gamma"])
    if runs.empty:
        return ""
    free = runs["pfc"] >= runs["gamma"] - 1e-6
    if not most(free.tolist()).sure:
        return ""
    sizes = [f"{size:g}" for size in sorted(runs["classifiers"].unique())]
    return (
        f"F1's members already have the mean diversity that F2 asks for in {int(free.sum()):,} of "
        f"{counted(len(free), 'program')} of pools of {all_of(sizes)}, so that the limit hardly binds."
    )


def behind_backfitting(
    rows: "pd.DataFrame", _lacking: Sequence[str] = (), metric: str = "balanced_accuracy"
) -> str:
    """Return the reasons for F1's lag behind backfitting that these rows show, as sentences."""
    return " ".join(
        filter(None, (no_floor(rows, metric), overfitting(runs_with(rows, ("F1", "BFT")), "F1", "BFT")))
    )
