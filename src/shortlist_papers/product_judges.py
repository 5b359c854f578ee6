"""Judges of the claims of :cite:t:`Xue2018`: what rows of its methods say about it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import all_of, counted
from shortlist_papers.claims import Claim, Finding
from shortlist_papers.front_quality import as_set
from shortlist_papers.product_runs import CWMOIP, EPSILON, LINUX, NAMES, System
from shortlist_papers.product_tables import (
    LVAT,
    MEASURED,
    by_system,
    compared,
    label,
    of_kind,
    printed_sides,
    side_of,
)

if TYPE_CHECKING:
    import pandas as pd

SMALL = ("jcs", "web-portal")
SPLOT = ("jcs", "web-portal", "e-shop")
SHOP_2: System = ("e-shop", 1)

Judge = Callable[["pd.DataFrame"], Finding | None]


def _with_columns(judge: Judge) -> Judge:
    """Let a judge see every column, as tables do; rows of an extent may lack some."""

    def judged(rows: "pd.DataFrame") -> Finding | None:
        if "kind" not in rows:
            return None
        return judge(
            rows.reindex(columns=list(dict.fromkeys([*rows.columns, *MEASURED, "loops", "dominated"])))
        )

    return judged


def _evolved(rows: "pd.DataFrame", method: str = "ibed") -> "dict[System, pd.DataFrame]":
    return dict(by_system(of_kind(rows, "evolved", method=method), "evolved"))


def _largest(rows: "pd.DataFrame", most: int | None = None) -> "dict[System, pd.DataFrame]":
    """Return the run of SolRep with the most reference points on each system, up to so many."""
    found = {}
    for system, part in by_system(rows, "solrep"):
        few = part if most is None else part[part["reference_points"] <= most]
        if len(few):
            found[system] = few.loc[[few["reference_points"].astype(int).idxmax()]]
    return found


def _pairs(rows: "pd.DataFrame", method: str = "ibed") -> dict[System, dict[str, Any]]:
    """Return what SolRep and the runs of an evolutionary method find, system by system, as in Table 5."""
    evolved = _evolved(rows, method)
    return {
        system: compared(side_of(own), side_of(evolved[system]))
        | {"runs": len(evolved[system]), "points": int(own["reference_points"].iloc[0])}
        for system, own in _largest(rows).items()
        if system in evolved
    }


def _listed(systems: Sequence[System]) -> str:
    return all_of([label(system) for system in systems]) if systems else "none"


def _runs_of(pairs: dict[System, dict[str, Any]]) -> str:
    runs, points = ([row[key] for row in pairs.values()] for key in ("runs", "points"))
    return (
        f"{counted(len(pairs), 'row')}; {min(runs)} to {max(runs)} runs, {min(points):,} to {max(points):,} "
        "reference points"
    )


def _judged(
    pairs: dict[System, dict[str, Any]],
    test: Callable[[dict[str, Any]], bool],
    told: str,
    why: str = "",
    *,
    most: bool = True,
) -> Finding | None:
    """Judge whether a test holds in most rows, as the paper says, or in each; name those where it fails."""
    if not pairs:
        return None
    parts = {system: bool(test(row)) for system, row in pairs.items()}
    failing = [system for system, fits in parts.items() if not fits]
    holds = 2 * len(failing) < len(parts)
    return Finding(
        f"{told} in {len(parts) - len(failing)} of {len(parts)} rows; not on {_listed(failing)}",
        (holds,) if most else tuple(parts.values()), _runs_of(pairs), "" if holds and most else why,
    )  # fmt: skip


def complete_fronts(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether both complete methods find what enumeration finds, ours and as printed."""
    part = of_kind(rows, "complete")
    part = part[part["method"].isin((EPSILON, CWMOIP))]
    if part.empty:
        return None
    same, ended = part["same"].astype(bool), part["ended"].astype(bool)
    printed = [
        as_set(side.points) == as_set(np.array(own["points"].iloc[0], dtype=np.int64))
        for system, own in by_system(rows, "complete")
        for side in printed_sides(rows, system).values()
    ]
    return Finding(
        f"{int((same & ended).sum())} of {len(part)} fronts, as printed {sum(printed)} of {len(printed)}",
        (bool((same & ended).all()), all(printed)),
        "point by point what enumeration of all products finds, "
        f"{counted(len(part.groupby(['system', 'number'])), 'set')}",
    )


def _seconds(rows: "pd.DataFrame", kind: str, name: str) -> dict[str, float]:
    """Return the mean seconds of both complete methods, over the sets where both came to an end."""
    found: dict[str, dict[System, float]] = {EPSILON: {}, CWMOIP: {}}
    systems = {system for system, _ in by_system(rows, kind) if system[0] == name}
    for system in systems:
        if kind == "printed":
            for method, side in printed_sides(rows, system).items():
                found[method][system] = side.seconds
        else:
            part = of_kind(rows, kind, system=system[0], number=system[1])
            for method, seconds in found.items():
                own = part[(part["method"] == method) & part["ended"].astype(bool)]
                if len(own):
                    seconds[system] = float(own["seconds"].sum())
    both = set(found[EPSILON]) & set(found[CWMOIP])
    return (
        {method: float(np.mean([each[one] for one in both])) for method, each in found.items()}
        if both
        else {}
    )


def faster(rows: "pd.DataFrame", kind: str) -> Finding | None:
    """Judge whether CWMOIP takes less time than the ε-constraint method, system by system."""
    told, parts = [], []
    for name in SMALL:
        seconds = _seconds(rows, kind, name)
        if seconds:
            told.append(f"{NAMES[name]} {seconds[EPSILON]:.3g} and {seconds[CWMOIP]:.3g} s")
            parts.append(seconds[CWMOIP] < seconds[EPSILON])
    if not parts:
        return None
    why = ""
    if kind == "printed" and not all(parts):
        why = _programs(rows)
    return Finding(
        "; ".join(told), tuple(parts), "means over the sets where both came to an end, wall clock", why
    )


def _programs(rows: "pd.DataFrame") -> str:
    """Say that Algorithm 2 takes more programs than Algorithm 1 somewhere; empty where it does not."""
    told = []
    part = of_kind(rows, "printed")
    part = part[part["objectives"] == 4]
    for (name, number), own in part.groupby(["system", "number"], sort=False):
        n = own.groupby("method")["programs"].sum()
        ended = printed_sides(rows, (str(name), int(number)))
        if {EPSILON, CWMOIP} <= set(ended) and n[CWMOIP] > n[EPSILON]:
            told.append(
                f"{label((str(name), int(number)))} {int(n[CWMOIP]):,} programs against {int(n[EPSILON]):,}"
            )
    if not told:
        return ""
    return f"Algorithm 2 takes more programs: {all_of(told)}."


def grows(rows: "pd.DataFrame", kind: str) -> Finding | None:
    """Judge whether time grows a hundredfold from the smaller to the larger system."""
    told, parts = [], []
    small, large = (_seconds(rows, kind, name) for name in SMALL)
    if not small or not large:
        return None
    for method, printed in ((EPSILON, 613 / 5), (CWMOIP, 100.0)):
        times = large[method] / max(small[method], 1e-9)
        told.append(f"{method} {times:,.0f} times")
        parts.append(times >= min(printed, 100))
    return Finding(", ".join(told), tuple(parts), "means over the sets where both came to an end, wall clock")


def coverage(rows: "pd.DataFrame", name: str, printed: float) -> Finding | None:
    """Judge what share of the complete fronts the runs of IBED find together."""
    evolved = _evolved(rows)
    shares = []
    runs = set()
    for system, part in by_system(rows, "complete"):
        if system[0] == name and system in evolved:
            front = as_set(np.array(part["points"].iloc[0], dtype=np.int64))
            shares.append(100 * len(front & as_set(side_of(evolved[system]).points)) / len(front))
            runs.add(len(evolved[system]))
    if not shares:
        return None
    mean = float(np.mean(shares))
    parts = (min(shares) < 100, abs(mean - printed) <= 10)
    return Finding(
        f"{mean:.0f} % ({min(shares):.0f} to {max(shares):.0f})", parts,
        f"{counted(len(shares), 'set')}, {all_of(sorted(runs))} runs together; within 10 points holds",
    )  # fmt: skip


def richer(rows: "pd.DataFrame", method: str = "ibed") -> Finding | None:
    """Judge whether SolRep has more unique non-dominated points than an evolutionary method."""
    return _judged(_pairs(rows, method), lambda row: row["N_U(A)"] > row["N_U(B)"], "more unique points")


def kept(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether no point of SolRep is dominated by one of IBED's."""
    return _judged(
        _pairs(rows),
        lambda row: row["|A|"] == row["N_U(A)"] + row["|N_A ∩ N_B|"],
        "no point is dominated",
        most=False,
    )


def dominated(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether most of IBED's points on Linux are dominated."""
    pairs = {system: row for system, row in _pairs(rows).items() if system[0] == LINUX}
    if not pairs:
        return None
    lost = {system: row["|B|"] - row["N_U(B)"] - row["|N_A ∩ N_B|"] for system, row in pairs.items()}
    return Finding(
        ", ".join(f"{label(system)} {lost[system]} of {row['|B|']}" for system, row in pairs.items()),
        tuple(lost[system] > row["|B|"] / 2 for system, row in pairs.items()), _runs_of(pairs),
    )  # fmt: skip


def volumes(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether the hypervolume of SolRep is larger."""
    return _judged(_pairs(rows), lambda row: (row["A HV"] or 0) > (row["B HV"] or 0), "larger hypervolume")


def spreads(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether the spread of SolRep is larger."""
    return _judged(_pairs(rows), lambda row: (row["A SP"] or 0) > (row["B SP"] or 0), "larger spread")


def less_time(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether SolRep takes at most as long as all runs of IBED together, or 1.2 times as long."""
    pairs = _pairs(rows)
    pairs = {system: row for system, row in pairs.items() if system[0] not in SMALL}
    if not pairs:
        return None
    fast = [row["A s"] <= 1.2 * row["B s"] for row in pairs.values()]
    told = [f"{label(system)} {row['A s']:.0f} for {row['B s']:.0f} s" for system, row in pairs.items()]
    holds = 2 * sum(fast) > len(fast)
    return Finding(
        f"in {sum(fast)} of {len(fast)} rows: {'; '.join(told)}", (holds,),
        f"{_runs_of(pairs)}; similar: up to 1.2 times; wall clock", "" if holds else _cheap_runs(pairs),
    )  # fmt: skip


def _cheap_runs(pairs: dict[System, dict[str, Any]]) -> str:
    """Say how much faster our runs of IBED are than the paper's on E-Shop; empty where they are not."""
    shop = pairs.get(("e-shop", 0))
    if shop is None or not shop["B s"] / shop["runs"] < 6.7747:
        return ""
    return (
        f"A run of our IBED on E-Shop takes {shop['B s'] / shop['runs']:.2f} s, where the paper's took 6.77: "
        "compiled code makes evolution faster than it makes integer programs."
    )


def abstract(rows: "pd.DataFrame") -> Finding | None:
    """Judge "significantly more non-dominated solutions in similar or less time", row by row."""
    pairs = _pairs(rows)
    pairs = {system: row for system, row in pairs.items() if system[0] not in SMALL}
    return _judged(
        pairs,
        lambda row: row["N_U(A)"] > row["N_U(B)"] and row["A s"] <= 1.2 * row["B s"],
        "more points in similar or less time",
        _cheap_runs(pairs) if pairs else "",
    )


def found_of(rows: "pd.DataFrame", n_points: int, printed: int) -> Finding | None:
    """Judge how many points so many reference points find on E-Shop 2, and whether IBED has more."""
    part = of_kind(rows, "solrep", system=SHOP_2[0], number=SHOP_2[1])
    part = part[part["reference_points"] == n_points]
    if part.empty:
        return None
    n, evolved = len(part["points"].iloc[0]), _evolved(rows).get(SHOP_2)
    told, beside = f"{n:,} of {n_points:,}", None
    if evolved is not None:
        beside = compared(side_of(part), side_of(evolved))
        told += f"; of IBED {beside['N_U(B)']:,} stay non-dominated"
    more = n_points == 1500
    parts = [abs(n - printed) <= 0.1 * printed]
    if beside is not None:
        parts.append((beside["N_U(A)"] > beside["N_U(B)"]) == more)
    unproved = int(part["unproved"].iloc[0])
    why = "" if all(parts) or unproved else (
        "Every program is solved to the end here, where the paper stops each after 0.1 s and leaves out "
        "those without a solution."
    )  # fmt: skip
    return Finding(told, tuple(parts), "one run; within a tenth holds", why)


def at_most(rows: "pd.DataFrame", names: Sequence[str], n_points: int, seconds: float) -> Finding | None:
    """Judge whether runs with so many reference points take at most so many seconds."""
    part = of_kind(rows, "solrep")
    part = part[part["system"].isin(names) & (part["reference_points"] == n_points)]
    if part.empty:
        return None
    worst = part.loc[part["seconds"].astype(float).idxmax()]
    within = part["seconds"].astype(float) <= seconds
    return Finding(
        f"{worst['seconds']:.0f} s on {label((worst['system'], int(worst['number'])))}",
        tuple(map(bool, within)),
        f"{counted(len(part), 'run')} with {n_points:,} reference points, wall clock on a busy machine",
    )  # fmt: skip


def linear(rows: "pd.DataFrame", column: str) -> Finding | None:
    """Judge whether a straight line through the first and the last number of points passes the others."""
    told, parts = [], []
    for system, unsorted in by_system(rows, "solrep"):
        part = unsorted.sort_values("reference_points")
        n = part["reference_points"].to_numpy(float)
        if len(n) < 3:
            continue
        y = (
            part["seconds"].to_numpy(float)
            if column == "seconds"
            else np.array([len(one) for one in part["points"]], float)
        )
        line = y[0] + (y[-1] - y[0]) * (n - n[0]) / (n[-1] - n[0])
        off = float(np.abs(y - line)[1:-1].max() / y[-1])
        told.append(f"{label(system)} {100 * off:.0f} %")
        parts.append(off <= 0.1)
    if not parts:
        return None
    return Finding(
        f"off a straight line by {', '.join(told)} of the last value",
        tuple(parts),
        "three or more numbers of points; within 10 % holds",
    )


def fifty(rows: "pd.DataFrame") -> Finding | None:
    """Judge 50 reference points beside the median run of IBED, on the larger systems."""
    evolved, told, points, times = _evolved(rows), [], [], []
    for system, part in by_system(rows, "solrep"):
        own = part[part["reference_points"] == 50]
        if own.empty or system not in evolved or system[0] not in LVAT:
            continue
        runs = evolved[system]
        middle = runs.loc[[runs["points"].map(len).sort_values(kind="stable").index[(len(runs) - 1) // 2]]]
        row = compared(side_of(own), side_of(middle))
        n_other = row["N_U(B)"] + row["|N_A ∩ N_B|"]
        told.append(
            f"{label(system)} {row['|A|']} for {n_other} points, {row['A s']:.1f} for {row['B s']:.1f} s"
        )
        points.append(row["|A|"] > n_other)
        times.append(row["A s"] <= 1.2 * row["B s"])
    if not told:
        return None
    return Finding(
        "; ".join(told),
        (*points, *times),
        f"{counted(len(told), 'row')}, the median run each; similar: up to 1.2 times; wall clock",
    )


def linux(rows: "pd.DataFrame", n_points: int, most_s: float) -> Finding | None:
    """Judge how long so many reference points take on Linux."""
    part = of_kind(rows, "solrep", system=LINUX)
    part = part[part["reference_points"] == n_points]
    if part.empty:
        return None
    seconds, sizes = part["seconds"].astype(float), [len(one) for one in part["points"]]
    return Finding(
        f"{min(sizes)} to {max(sizes)} points in {seconds.min():.0f} to {seconds.max():.0f} s",
        tuple(map(bool, seconds <= most_s)), f"{counted(len(part), 'set')} of attributes, compact clauses",
    )  # fmt: skip


def nearer(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether our points are nearer to the joint front than the stored ones, up to 1,000 of ours."""
    from shortlist_papers.product_tables import beside_stored

    stored = {system: np.array(part["points"].iloc[0]) for system, part in by_system(rows, "stored")}
    told, parts, numbers = [], [], []
    for system, own in _largest(rows, 1000).items():
        if system not in stored:
            continue
        row = beside_stored(np.array(own["points"].iloc[0], dtype=np.int64), stored[system])
        ours, theirs = row["IGD+"], row["stored IGD+"]
        if ours is None or theirs is None:
            continue
        told.append(f"{label(system)} {ours:.4f} and {theirs:.4f}")
        parts.append(ours <= theirs)
        numbers.append(int(own["reference_points"].iloc[0]))
    if not told:
        return None
    return Finding(
        f"IGD+ {', '.join(told)}",
        tuple(parts),
        f"{min(numbers)} to {max(numbers):,} reference points of ours, theirs from their data",
    )


def claim(what: str, where: str, paper: str, judge: Judge, missing: str = "") -> Claim:
    """Return a claim whose judge sees every column."""
    return Claim(what, where, paper, _with_columns(judge), missing)
