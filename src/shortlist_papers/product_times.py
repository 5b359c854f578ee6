"""Judges of the claims of :cite:t:`Xue2018` on complete fronts and on time."""

import dataclasses
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist_papers.claims import ClaimFinding, Part, above, facts, needed
from shortlist_papers.product_rows import (
    SPLOT,
    ProductRows,
    label,
    older_rows,
    one_origin,
    origin_of,
    points_of,
)
from shortlist_papers.product_runs import BY_RANGE, BY_TEXT, CWMOIP, EPSILON, LINUX, NAMES, System

if TYPE_CHECKING:
    import pandas as pd

COMPLETE = (EPSILON, CWMOIP)
HOUR_S = 3600.0
EXAMPLE_FEATURES = 3
"""Number of features of the product of JCS that the paper shows: chat, output and gui."""


def clock_of(*parts: "pd.DataFrame") -> str:
    """Return the name of the clock behind the seconds of some rows."""
    own = [part["clock"].notna() for part in parts]
    if all(one.all() for one in own):
        return "processor time"
    return "old rows by the wall clock" if any(one.any() for one in own) else "wall clock"


def complete_fronts(rows: ProductRows) -> ClaimFinding:
    """Judge whether both complete methods find the points of enumeration, in our form and as printed."""
    part = rows.of_kind("complete")
    part = needed(part[part["method"].isin(COMPLETE)])
    older = older_rows(part, _four(rows, "printed", SPLOT[:2]))
    right = part["same"].astype(bool) & part["ended"].astype(bool)
    printed = [
        side.vectors == rows.front(system)
        for system in rows.by_system("complete")
        for order in (BY_RANGE, BY_TEXT)
        for method, side in rows.printed(system, order).items()
        if (method, order) != (EPSILON, BY_TEXT)
    ]
    return ClaimFinding(
        f"{int(right.sum())} of {len(part)} fronts, as printed {sum(printed)} of {len(printed)}",
        facts([right.all(), all(printed)]),
        "point by point what enumeration of all products finds, "
        f"{counted(len(part.groupby(['system', 'number'])), 'set')}{older}",
    )


def _seconds(rows: ProductRows, kind: str, name: str, order: str) -> dict[str, NDArray[np.float64]]:
    """Return the seconds of both complete methods on each set on which both finished.

    Rows of another processor or version than those of the first set are left out.
    """
    found = []
    origins: set[tuple[str, str]] = set()
    for system in sorted(rows.by_system(kind)):
        part = _of_order(rows.by_system(kind)[system], order)
        if kind == "printed":
            part = part[part["objectives"] == 4]
            seconds = {method: side.seconds for method, side in rows.printed(system, order).items()}
        else:
            ended = part[part["ended"].astype(bool) & part["method"].isin(COMPLETE)]
            seconds, part = ended.groupby("method")["seconds"].sum().to_dict(), ended
        if system[0] != name or not set(COMPLETE) <= set(seconds):
            continue
        origin = origin_of(part[part["method"].isin(COMPLETE)])
        if len(origins | origin) == 1:
            origins |= origin
            found.append(seconds)
    return {method: np.array([one[method] for one in found]) for method in COMPLETE} if found else {}


def _of_order(part: "pd.DataFrame", order: str) -> "pd.DataFrame":
    """Return the rows of Algorithm 2 with its objectives in an order, and all rows of other methods."""
    return part[part["order"].fillna(order) == order]


def faster(rows: ProductRows, kind: str, order: str = BY_RANGE) -> ClaimFinding:
    """Judge whether CWMOIP takes less time than the ε-constraint method, system by system."""
    told, parts, n_sets, missing = [], [], [], []
    for name in SPLOT[:2]:
        seconds = _seconds(rows, kind, name, order)
        if not seconds:
            missing.append(name)
            continue
        told.append(f"{NAMES[name]} {seconds[EPSILON].mean():.3g} and {seconds[CWMOIP].mean():.3g} s")
        parts.append(above(np.log(seconds[EPSILON] / seconds[CWMOIP])))
        n_sets.append(f"{NAMES[name]} {counted(len(seconds[EPSILON]), 'set')}")
    needed(parts)
    why = "" if all(part.same for part in parts) else _programs(rows, kind, order)
    if missing:
        parts = [dataclasses.replace(part, sure=False) for part in parts]
        why = f"{all_of([NAMES[name] for name in missing])} is not measured so by one processor and version."
    part = _four(rows, kind, set(SPLOT[:2]) - set(missing))
    sure = f"{', '.join(n_sets)}, where both finished; {_clock_and_version(part)}"
    return ClaimFinding("; ".join(told), tuple(parts), sure, why)


def _four(rows: ProductRows, kind: str, names: Collection[str]) -> "pd.DataFrame":
    """Return the rows of both complete methods with four objectives on some systems."""
    part = rows.of_kind(kind, **({"objectives": 4} if kind == "printed" else {}))
    return part[part["system"].isin(names) & part["method"].isin(COMPLETE)]


def _clock_and_version(part: "pd.DataFrame") -> str:
    return f"{clock_of(part)}, one processor and version{older_rows(part)}"


def _programs(rows: ProductRows, kind: str, order: str) -> str:
    """Return words on the sets where CWMOIP needs more programs than the ε-constraint method.

    Empty if there are no such sets.
    """
    told = []
    for system, own in rows.by_system(kind).items():
        part = _of_order(own[own["objectives"] == 4] if kind == "printed" else own, order)
        n = part.groupby("method")["programs"].sum()
        ended = rows.printed(system, order) if kind == "printed" else n
        if set(COMPLETE) <= set(ended) and n[CWMOIP] > n[EPSILON]:
            told.append(f"{label(system)} {int(n[CWMOIP]):,} against {int(n[EPSILON]):,}")
    return f"CWMOIP takes more programs: {all_of(told)}." if told else ""


def grows(rows: ProductRows, kind: str, order: str = BY_RANGE) -> ClaimFinding:
    """Judge whether time grows a hundredfold from the smaller to the larger system."""
    told, parts = [], []
    small, large = (needed(_seconds(rows, kind, name, order)) for name in SPLOT[:2])
    part = _of_order(_four(rows, kind, SPLOT[:2]), order)
    for method in COMPLETE:
        if not one_origin(part[part["method"] == method]):
            continue  # seconds of two machines have no ratio
        times = float(large[method].mean() / max(small[method].mean(), 1e-9))
        told.append(f"{method} {times:,.0f} times")
        parts.append(Part(times > 1, times >= 100))
    return ClaimFinding(
        ", ".join(told),
        tuple(needed(parts)),
        f"means over the sets where both finished, {_clock_and_version(part)}",
    )


def unfinished(rows: ProductRows, name: str, method: str) -> ClaimFinding:
    """Judge whether a method fails to finish on a system within an hour, by a run of an hour.

    For a run that was stopped earlier, the time is estimated: at least one program for each point of the
    complete front, each as long as the mean of the solved programs. The estimate is reported, and is not
    sure.
    """
    part = needed(rows.of_kind("printed", system=name, method=method, objectives=4))
    longest, ended = float(part["seconds"].max()), part["ended"].astype(bool)
    n_programs, whole = int(part["programs"].sum()), rows.whole((name, int(part["number"].iloc[0])))
    told = f"{'ended' if ended.any() else 'no end'} after {longest:,.0f} s and {n_programs:,} programs"
    sure = f"{counted(len(part), 'run')}, {clock_of(part)}; sure from a run of an hour on{older_rows(part)}"
    if whole is not None and n_programs and longest < HOUR_S and not ended.any():
        hours = float(part["seconds"].sum()) / n_programs * whole.n_points / HOUR_S
        told += (
            f"; a program for each of the {whole.n_points:,} points would take at least {hours:.1f} h at the "
            f"rate of its first {'minute' if round(longest) == 60 else f'{longest:,.0f} s'}"
        )
    why = "" if ended.any() else f"These rows have no run of an hour: it was stopped after {longest:,.0f} s."
    return ClaimFinding(told, (Part(not ended.any(), longest >= HOUR_S),), sure, why)


def lemmas(rows: ProductRows) -> ClaimFinding:
    """Judge whether the inequalities of each relation have the selections of its formula."""
    part = needed(rows.of_kind("lemma"))
    right = part["same"].astype(bool)
    return ClaimFinding(
        f"{int(right.sum())} of {counted(len(part), 'relation')}",
        facts(right),
        f"all selections of a parent and up to {int(part['level'].max())} children",
    )


def bounds(rows: ProductRows) -> ClaimFinding:
    """Judge the bounds of JCS's deselected features, [2, 10], and 9 outermost loops in place of 13."""
    row = needed(rows.of_kind("model", system="jcs").dropna(subset=["smallest"])).iloc[0]
    n, low, high = (
        int(row["features"]),
        int(row["features"] - row["largest"]),
        int(row["features"] - row["smallest"]),
    )
    return ClaimFinding(
        f"[{low}, {high}], {high - low + 1} loops for {n + 1}",
        facts([low == 2, high == 10, high - low + 1 == 9, n + 1 == 13]),
        "the smallest and the largest product, by two programs",
        f"The smallest product has {int(row['smallest'])} features, as the paper's own example of a product."
        if int(row["smallest"]) == EXAMPLE_FEATURES
        else "",
    )


def not_empty(rows: ProductRows) -> ClaimFinding:
    """Judge whether each product has a feature, as the paper's definition requires."""
    part = needed(rows.of_kind("model").dropna(subset=["smallest"]))
    empty = [
        NAMES[name] for name, least in zip(part["system"], part["smallest_free"], strict=True) if not least
    ]
    return ClaimFinding(
        "the smallest product has "
        + all_of(
            [
                f"{int(n)} features on {NAMES[name]}"
                for name, n in zip(part["system"], part["smallest"], strict=True)
            ]
        )
        + (f"; by its clauses alone it is empty on {all_of(empty)}" if empty else ""),
        facts(part["smallest"] > 0),
        f"{counted(len(part), 'system')}, by a program, with the features that the authors' lists fix",
    )


def plane(rows: ProductRows, most_s: float) -> ClaimFinding:
    """Judge the seconds of the utopia plane of Linux."""
    part = needed(rows.of_kind("solrep", system=LINUX).dropna(subset=["plane_s"]))
    seconds = part["plane_s"].astype(float)
    return ClaimFinding(
        f"{seconds.min():.0f} to {seconds.max():.0f} s",
        facts(seconds <= most_s),
        f"{counted(len(part), 'run')}, compact clauses, {clock_of(part)}{older_rows(part)}",
    )


def slower(rows: ProductRows) -> ClaimFinding:
    """Judge whether eCos takes longer than uClinux with equally many reference points."""
    part = rows.of_kind("solrep", number=0)
    part = part[part["system"].isin(["ecos", "uclinux"])]
    needed(one_origin(part))
    means = part.groupby(["reference_points", "system"])["seconds"].mean().unstack().dropna()
    needed(means.shape[1] == 2 and len(means) > 0)
    return ClaimFinding(
        ", ".join(
            f"{int(n):,} points: {ecos:.3g} and {uclinux:.3g} s"
            for n, ecos, uclinux in means[["ecos", "uclinux"]].itertuples()
        ),
        facts(means["ecos"] > means["uclinux"]),
        f"the first set of attributes, {clock_of(part)}{older_rows(part)}",
    )


def at_most(rows: ProductRows, names: Collection[str], n_points: int, seconds: float) -> ClaimFinding:
    """Judge whether runs with `n_points` reference points take at most `seconds` seconds."""
    part = rows.of_kind("solrep", reference_points=n_points)
    part = needed(part[part["system"].isin(names)])
    worst = part.iloc[int(part["seconds"].argmax())]
    within, timed = part["seconds"] <= seconds, part["clock"].notna()
    return ClaimFinding(
        f"{worst['seconds']:.0f} s on {label((worst['system'], int(worst['number'])))}",
        facts(within),
        f"{counted(len(part), 'run')} with {n_points:,} reference points, {clock_of(part)}{older_rows(part)}",
        "" if timed[~within].any() or not timed.any() else "Only rows by the wall clock take longer.",
    )


def linear(rows: ProductRows, column: str) -> ClaimFinding:
    """Judge whether the straight line through the first and the last number of points fits all others.

    The paper's line is of Linux: without rows of Linux no part is sure.
    """
    told, parts, fewer, judged = [], [], [], dict[System, "pd.DataFrame"]()
    for system, unsorted in rows.by_system("solrep").items():
        part = unsorted.sort_values("reference_points")
        if column == "seconds":  # of the largest number's processor and version
            same = [origin_of(part.iloc[[place]]) == origin_of(part.iloc[[-1]]) for place in range(len(part))]
            part = part[same]
        n = part["reference_points"].to_numpy(float)
        if len(n) < 3:
            continue
        y = part[column].map(len if column == "points" else float).to_numpy(float)
        line = y[0] + (y[-1] - y[0]) * (n - n[0]) / (n[-1] - n[0])
        off = float(np.abs(y - line)[1:-1].max() / y[-1])
        told.append(f"{label(system)} {100 * off:.0f} %")
        judged[system] = part
        grows, few = bool((np.diff(y) > 0).all()), system[0] == LINUX and n[-1] < points_of(system)
        parts.append(Part(grows, grows and off <= 0.1 and not few))
        if few:
            fewer.append(f"{n[-1]:.0f} on {label(system)}")
    needed(parts)
    why = f"The paper has up to 1,500 reference points, these rows up to {all_of(fewer)}." if fewer else ""
    if not any(name == LINUX for name, _ in judged):
        parts = [dataclasses.replace(part, sure=False) for part in parts]
        measured = "three numbers of points" + (
            " timed by one processor and version" if column == "seconds" else ""
        )
        why = f"The paper draws {NAMES[LINUX]}, of which these rows do not have {measured}."
    return ClaimFinding(
        f"off a straight line by {', '.join(told)} of the last value",
        tuple(parts),
        "three or more numbers of points; same way: it grows; linear: off by at most a tenth"
        + older_rows(*judged.values()),
        why,
    )


def linux(rows: ProductRows, n_points: int, most_s: float) -> ClaimFinding:
    """Judge the seconds of `n_points` reference points on Linux."""
    part = needed(rows.of_kind("solrep", system=LINUX, reference_points=n_points))
    seconds, sizes = part["seconds"].astype(float), [len(one) for one in part["points"]]
    return ClaimFinding(
        f"{all_of(sorted(set(sizes)))} points in {seconds.min():.0f} to {seconds.max():.0f} s",
        facts(seconds <= most_s),
        f"{counted(len(part), 'set')} of attributes, compact clauses, {clock_of(part)}{older_rows(part)}",
    )
