"""Judges of the claims of :cite:t:`Xue2018` on complete fronts and on time."""

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist_papers.claims import ClaimFinding, Part, above, facts, needed
from shortlist_papers.product_rows import SPLOT, ProductRows, label, points_of
from shortlist_papers.product_runs import CWMOIP, EPSILON, LINUX, NAMES

if TYPE_CHECKING:
    import pandas as pd

COMPLETE = (EPSILON, CWMOIP)


def clock_of(rows: ProductRows, *kinds: str, names: Collection[str] = tuple(NAMES)) -> str:
    """Say the clock behind the seconds of rows of some kinds and systems."""
    parts = [rows.of_kind(kind) for kind in kinds]
    return _clock(*(part[part["system"].isin(names)] for part in parts))


def _clock(*parts: "pd.DataFrame") -> str:
    own = [part["clock"].notna() for part in parts]
    if all(one.all() for one in own):
        return "processor time"
    return "old rows by the wall clock" if any(one.any() for one in own) else "wall clock"


def complete_fronts(rows: ProductRows) -> ClaimFinding:
    """Judge whether both complete methods find what enumeration finds, ours and as printed."""
    part = rows.of_kind("complete")
    part = needed(part[part["method"].isin(COMPLETE)])
    right = part["same"].astype(bool) & part["ended"].astype(bool)
    printed = [
        side.vectors == rows.front(system)
        for system in rows.by_system("complete")
        for side in rows.printed(system).values()
    ]
    return ClaimFinding(
        f"{int(right.sum())} of {len(part)} fronts, as printed {sum(printed)} of {len(printed)}",
        facts([right.all(), all(printed)]),
        "point by point what enumeration of all products finds, "
        f"{counted(len(part.groupby(['system', 'number'])), 'set')}",
    )


def _seconds(rows: ProductRows, kind: str, name: str) -> dict[str, NDArray[np.float64]]:
    """Return the seconds of both complete methods on each set where both finished."""
    found = []
    for system in sorted(rows.by_system(kind)):
        seconds = {method: side.seconds for method, side in rows.printed(system).items()}
        if kind != "printed":
            part = rows.by_system(kind)[system]
            seconds = part[part["ended"].astype(bool)].groupby("method")["seconds"].sum().to_dict()
        if system[0] == name and set(COMPLETE) <= set(seconds):
            found.append(seconds)
    return {method: np.array([one[method] for one in found]) for method in COMPLETE} if found else {}


def faster(rows: ProductRows, kind: str) -> ClaimFinding:
    """Judge whether CWMOIP takes less time than the ε-constraint method, system by system."""
    told, parts, n_sets = [], [], []
    for name in SPLOT[:2]:
        seconds = _seconds(rows, kind, name)
        if seconds:
            told.append(f"{NAMES[name]} {seconds[EPSILON].mean():.3g} and {seconds[CWMOIP].mean():.3g} s")
            parts.append(above(np.log(seconds[EPSILON] / seconds[CWMOIP])))
            n_sets.append(f"{NAMES[name]} {counted(len(seconds[EPSILON]), 'set')}")
    needed(parts)
    why = "" if all(part.same for part in parts) else _programs(rows, kind)
    sure = f"{', '.join(n_sets)}, where both finished; {clock_of(rows, kind)}"
    return ClaimFinding("; ".join(told), tuple(parts), sure, why)


def _programs(rows: ProductRows, kind: str) -> str:
    """Say that CWMOIP takes more programs than the ε-constraint method somewhere; empty where it does not."""
    told = []
    for system, own in rows.by_system(kind).items():
        part = own[own["objectives"] == 4] if kind == "printed" else own
        n = part.groupby("method")["programs"].sum()
        ended = rows.printed(system) if kind == "printed" else n
        if set(COMPLETE) <= set(ended) and n[CWMOIP] > n[EPSILON]:
            told.append(f"{label(system)} {int(n[CWMOIP]):,} against {int(n[EPSILON]):,}")
    return f"CWMOIP takes more programs: {all_of(told)}." if told else ""


def grows(rows: ProductRows, kind: str) -> ClaimFinding:
    """Judge whether time grows a hundredfold from the smaller to the larger system."""
    told, parts = [], []
    small, large = (needed(_seconds(rows, kind, name)) for name in SPLOT[:2])
    part = rows.of_kind(kind, **({"objectives": 4} if kind == "printed" else {}))
    part = part[part["system"].isin(SPLOT[:2])]
    for method in COMPLETE:
        if part.loc[part["method"] == method, "clock"].notna().nunique() > 1:
            continue  # seconds of two clocks have no ratio
        times = float(large[method].mean() / max(small[method].mean(), 1e-9))
        told.append(f"{method} {times:,.0f} times")
        parts.append(Part(times > 1, times >= 100))
    return ClaimFinding(
        ", ".join(told),
        tuple(needed(parts)),
        f"means over the sets where both finished, {clock_of(rows, kind)}",
    )


def unfinished(rows: ProductRows, name: str, method: str) -> ClaimFinding:
    """Judge whether a method does not finish on a system, within its limit."""
    part = needed(rows.of_kind("printed", system=name, method=method, objectives=4))
    hours, ended = float(part["seconds"].max()) / 3600, part["ended"].astype(bool)
    return ClaimFinding(
        f"{'ended' if ended.any() else 'no end'} after {60 * hours:.0f} min and "
        f"{int(part['programs'].sum()):,} programs",
        (Part(not ended.any(), hours >= 1),),
        f"{counted(len(part), 'run')}; sure from an hour on",
    )


def slower(rows: ProductRows) -> ClaimFinding:
    """Judge whether eCos takes longer than uClinux with as many reference points."""
    part = rows.of_kind("solrep", number=0)
    part = part[part["system"].isin(["ecos", "uclinux"])]
    means = part.groupby(["reference_points", "system"])["seconds"].mean().unstack().dropna()
    needed(means.shape[1] == 2 and len(means) > 0)
    return ClaimFinding(
        ", ".join(
            f"{int(n):,} points: {ecos:.3g} and {uclinux:.3g} s"
            for n, ecos, uclinux in means[["ecos", "uclinux"]].itertuples()
        ),
        facts(means["ecos"] > means["uclinux"]),
        f"the first set of attributes, {_clock(part)}",
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
        f"{counted(len(part), 'run')} with {n_points:,} reference points, {_clock(part)}",
        "" if timed[~within].any() or not timed.any() else "Only rows by the wall clock take longer.",
    )


def linear(rows: ProductRows, column: str) -> ClaimFinding:
    """Judge whether a straight line through the first and the last number of points passes the others."""
    told, parts, fewer = [], [], []
    for system, unsorted in rows.by_system("solrep").items():
        part = unsorted.sort_values("reference_points")
        part = part[part["clock"].notna() == part["clock"].notna().iloc[-1]]  # seconds of one clock
        n = part["reference_points"].to_numpy(float)
        if len(n) < 3:
            continue
        y = part[column].map(len if column == "points" else float).to_numpy(float)
        line = y[0] + (y[-1] - y[0]) * (n - n[0]) / (n[-1] - n[0])
        off = float(np.abs(y - line)[1:-1].max() / y[-1])
        told.append(f"{label(system)} {100 * off:.0f} %")
        grows, few = bool((np.diff(y) > 0).all()), system[0] == LINUX and n[-1] < points_of(system)
        parts.append(Part(grows, grows and off <= 0.1 and not few))
        if few:
            fewer.append(f"{n[-1]:.0f} on {label(system)}")
    needed(parts)
    return ClaimFinding(
        f"off a straight line by {', '.join(told)} of the last value",
        tuple(parts),
        "three or more numbers of points; same way: it grows; linear: off by at most a tenth",
        f"The paper has up to 1,500 reference points, these rows up to {all_of(fewer)}." if fewer else "",
    )


def linux(rows: ProductRows, n_points: int, most_s: float) -> ClaimFinding:
    """Judge the seconds that `n_points` reference points take on Linux."""
    part = needed(rows.of_kind("solrep", system=LINUX, reference_points=n_points))
    seconds, sizes = part["seconds"].astype(float), [len(one) for one in part["points"]]
    return ClaimFinding(
        f"{all_of(sorted(set(sizes)))} points in {seconds.min():.0f} to {seconds.max():.0f} s",
        facts(seconds <= most_s),
        f"{counted(len(part), 'set')} of attributes, compact clauses",
    )
