"""Judges of the claims of :cite:t:`Xue2018`: what rows of its methods say about it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist_papers.claims import (
    ClaimFinding,
    PaperClaim,
    Part,
    above,
    facts,
    figure,
    most,
    needed,
    shown_mean,
)
from shortlist_papers.front_quality import as_set
from shortlist_papers.product_runs import (
    CWMOIP,
    EPSILON,
    LINUX,
    NAMES,
    PAPER_4,
    PAPER_5,
    PAPER_RQ_5,
    PAPER_SECONDS,
    System,
)
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
SIMILAR = 1.2
"""Times as long as another one is a similar time."""

Judge = Callable[["pd.DataFrame"], ClaimFinding]


def _with_columns(judge: Judge) -> Judge:
    """Let a judge see every column, as tables do; rows of an extent may lack some."""

    def judged(rows: "pd.DataFrame") -> ClaimFinding:
        needed("kind" in rows)
        return judge(
            rows.reindex(
                columns=list(dict.fromkeys([*rows.columns, *MEASURED, "loops", "dominated", "clock"]))
            )
        )

    return judged


def _evolved(rows: "pd.DataFrame", method: str = "ibed") -> "dict[System, pd.DataFrame]":
    return dict(by_system(of_kind(rows, "evolved", method=method), "evolved"))


def _points_of(system: System) -> int:
    """Return the reference points of the paper's Table 5."""
    return 1000 if system[0] in SPLOT else 1500


def _as_in_table_5(rows: "pd.DataFrame") -> "dict[System, pd.DataFrame]":
    """Return the run of SolRep on each system with the paper's number of reference points, or the nearest."""
    return {
        system: part.loc[[(part["reference_points"].astype(int) - _points_of(system)).abs().idxmin()]]
        for system, part in by_system(rows, "solrep")
    }


def _pairs(rows: "pd.DataFrame", method: str = "ibed") -> dict[System, dict[str, Any]]:
    """Return what SolRep and the runs of an evolutionary method find, system by system, as in Table 5."""
    evolved = _evolved(rows, method)
    return {
        system: compared(side_of(own), side_of(evolved[system]))
        | {"runs": len(evolved[system]), "points": int(own["reference_points"].iloc[0])}
        for system, own in _as_in_table_5(rows).items()
        if system in evolved
    }


def _as_printed(pairs: dict[System, dict[str, Any]]) -> dict[System, dict[str, Any]]:
    """Return the rows with as many reference points as the paper's."""
    return {system: row for system, row in pairs.items() if row["points"] == _points_of(system)}


def _listed(systems: Sequence[System]) -> str:
    return all_of([label(system) for system in systems]) if systems else "none"


def _runs_of(pairs: dict[System, dict[str, Any]]) -> str:
    runs, points = (sorted({row[key] for row in pairs.values()}) for key in ("runs", "points"))
    each = [f"{one[0]:,} to {one[-1]:,}" if len(one) > 1 else f"{one[0]:,}" for one in (runs, points)]
    return f"{counted(len(pairs), 'row')}; {each[0]} runs, {each[1]} reference points"


def _judged(
    pairs: dict[System, dict[str, Any]],
    test: Callable[[dict[str, Any]], bool],
    told: str,
    why: str = "",
    *,
    in_most: bool = True,
) -> ClaimFinding:
    """Judge whether a test holds in most rows, as the paper says, or in each; name those where it fails."""
    needed(pairs)
    fits = {system: bool(test(row)) for system, row in pairs.items()}
    failing = [system for system, fit in fits.items() if not fit]
    fewer = [system for system in pairs if system not in _as_printed(pairs)]
    parts = (
        (most(list(fits.values())),)
        if in_most
        else tuple(Part(fit, fit and system not in fewer) for system, fit in fits.items())
    )
    except_on = f"; not on {_listed(failing)}" if failing else ""
    if not failing and fewer:
        why = f"The paper has 1,500 reference points and 30 runs on {_listed(fewer)}."
    return ClaimFinding(
        f"{told} in {len(fits) - len(failing)} of {counted(len(fits), 'row')}{except_on}",
        parts,
        _runs_of(pairs) + ("; most: sign test" if in_most else ""),
        why,
    )


ROWS: dict[str, tuple[str, Callable[[dict[str, Any]], bool]]] = {
    "richer": ("more unique points", lambda row: row["N_U(A)"] > row["N_U(B)"]),
    "kept": ("no point is dominated", lambda row: row["|A|"] == row["N_U(A)"] + row["|N_A ∩ N_B|"]),
    "dominates": (
        "more than half dominated",
        lambda row: 2 * (row["N_U(B)"] + row["|N_A ∩ N_B|"]) < row["|B|"],
    ),
    "disjoint": ("no point in common", lambda row: row["|A ∩ B|"] == 0),
    "volume": ("larger hypervolume", lambda row: _more(row, "HV") > 0),
    "spread": ("larger spread", lambda row: _more(row, "SP") > 0),
    "better": (
        "all three larger",
        lambda row: row["N_U(A)"] > row["N_U(B)"] and min(_more(row, "HV"), _more(row, "SP")) > 0,
    ),
    "wider": ("larger hypervolume and smaller spread", lambda row: _more(row, "HV") > 0 > _more(row, "SP")),
    "spread out": (
        "not gathered",
        lambda row: row["N_U(A)"] <= row["N_U(B)"] or max(_more(row, "HV"), _more(row, "SP")) >= 0,
    ),
}  # fmt: skip
"""What the paper says of rows of its tables, SolRep being A: the words for it, and whether a row fits."""


def _more(row: dict[str, Any], indicator: str) -> float:
    """Return how much more of an indicator A has, rounded so that equal points have equal indicators."""
    return round(float((row[f"A {indicator}"] or 0) - (row[f"B {indicator}"] or 0)), 9)


def in_rows(
    rows: "pd.DataFrame",
    what: str,
    method: str = "ibed",
    *,
    in_most: bool = True,
    names: Sequence[str] = tuple(NAMES),
) -> ClaimFinding:
    """Judge what :data:`ROWS` says, in most rows of some systems or in each."""
    pairs = {one: row for one, row in _pairs(rows, method).items() if one[0] in names}
    told, test = ROWS[what]
    why = _stronger(rows) if what == "richer" and set(names) & set(SMALL) else ""
    return _judged(pairs, test, told, why, in_most=in_most)


def cheap(rows: "pd.DataFrame", *, names: Sequence[str] = tuple(NAMES), rich: bool = False) -> ClaimFinding:
    """Judge whether SolRep takes less time than all runs of IBED, with the paper's reference points.

    `rich`: whether it has more unique points in most rows, and similar or less time in most.
    """
    pairs = {one: row for one, row in _as_printed(_pairs(rows)).items() if one[0] in names}
    why = " ".join(filter(None, (_cheap_runs(pairs), _by_the_text(rows, names))))
    most_times, told = (SIMILAR, "similar or less time") if rich else (1.0, "less time")
    found = needed(_judged(pairs, lambda row: row["A s"] <= most_times * row["B s"], told, why))
    clock = _clock(rows[rows["kind"].isin(["solrep", "evolved"]) & rows["system"].isin(names)])
    found = replace(found, sure=f"{found.sure}; {clock}")
    if not rich:
        return found
    n = sum(row["N_U(A)"] > row["N_U(B)"] for row in pairs.values())
    return replace(
        found,
        here=f"more unique points in {n} of {counted(len(pairs), 'row')}, {found.here}",
        parts=(most([row["N_U(A)"] > row["N_U(B)"] for row in pairs.values()]), *found.parts),
        sure=f"{found.sure}; similar: up to {SIMILAR:g} times",
    )


def beside_ibea(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge whether IBEA has more unique non-dominated points than IBED on eCos, and fewer elsewhere."""
    ibea, ibed = _evolved(rows, "ibea"), _evolved(rows)
    unique = {
        system: (pair["N_U(A)"], pair["N_U(B)"])
        for system in ibea
        if system in ibed
        for pair in [compared(side_of(ibea[system]), side_of(ibed[system]))]
    }
    needed(unique)
    return ClaimFinding(
        ", ".join(f"{label(system)} {a:,} and {b:,}" for system, (a, b) in unique.items()),
        facts((a > b) == (system[0] == "ecos") for system, (a, b) in unique.items()),
        f"{counted(len(unique), 'set')} of attributes, points that the other one has not, each counted",
    )


def _clock(rows: "pd.DataFrame") -> str:
    """Say what the seconds of rows are of."""
    own = rows["clock"].notna()
    return "processor time" if own.all() else "wall clock" if not own.any() else "old rows by the wall clock"


def complete_fronts(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge whether both complete methods find what enumeration finds, ours and as printed."""
    part = of_kind(rows, "complete")
    part = needed(part[part["method"].isin((EPSILON, CWMOIP))])
    same, ended = part["same"].astype(bool), part["ended"].astype(bool)
    printed = [
        as_set(side.points) == as_set(np.array(own["points"].iloc[0], dtype=np.int64))
        for system, own in by_system(rows, "complete")
        for side in printed_sides(rows, system).values()
    ]
    return ClaimFinding(
        f"{int((same & ended).sum())} of {len(part)} fronts, as printed {sum(printed)} of {len(printed)}",
        facts([(same & ended).all(), all(printed)]),
        "point by point what enumeration of all products finds, "
        f"{counted(len(part.groupby(['system', 'number'])), 'set')}",
    )


def _seconds(rows: "pd.DataFrame", kind: str, name: str) -> "dict[str, NDArray[np.float64]]":
    """Return the seconds of both complete methods on each set where both finished."""
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
    both = sorted(set(found[EPSILON]) & set(found[CWMOIP]))
    return {method: np.array([each[one] for one in both]) for method, each in found.items()} if both else {}


def faster(rows: "pd.DataFrame", kind: str) -> ClaimFinding:
    """Judge whether CWMOIP takes less time than the ε-constraint method, system by system."""
    told, parts, n_sets = [], [], []
    for name in SMALL:
        seconds = _seconds(rows, kind, name)
        if seconds:
            told.append(f"{NAMES[name]} {seconds[EPSILON].mean():.3g} and {seconds[CWMOIP].mean():.3g} s")
            parts.append(above(np.log(seconds[EPSILON] / seconds[CWMOIP])))
            n_sets.append(f"{NAMES[name]} {counted(len(seconds[EPSILON]), 'set')}")
    needed(parts)
    why = "" if all(part.same for part in parts) else _programs(rows, kind)
    sure = f"{', '.join(n_sets)}, where both finished; {_clock(of_kind(rows, kind))}"
    return ClaimFinding("; ".join(told), tuple(parts), sure, why)


def _programs(rows: "pd.DataFrame", kind: str) -> str:
    """Say that CWMOIP takes more programs than the ε-constraint method somewhere; empty where it does not."""
    told = []
    for system, own in by_system(rows, kind):
        part = own[own["objectives"] == 4] if kind == "printed" else own
        n = part.groupby("method")["programs"].sum()
        ended = printed_sides(rows, system) if kind == "printed" else n
        if {EPSILON, CWMOIP} <= set(ended) and n.get(CWMOIP, 0) > n.get(EPSILON, 0):
            told.append(f"{label(system)} {int(n[CWMOIP]):,} against {int(n[EPSILON]):,}")
    return f"CWMOIP takes more programs: {all_of(told)}." if told else ""


def grows(rows: "pd.DataFrame", kind: str) -> ClaimFinding:
    """Judge whether time grows a hundredfold from the smaller to the larger system."""
    told, parts = [], []
    small, large = (_seconds(rows, kind, name) for name in SMALL)
    needed(bool(small and large))
    part = of_kind(rows, kind)
    part = part[part["system"].isin(SMALL) & ((kind != "printed") | (part["objectives"] == 4))]
    for method in (EPSILON, CWMOIP):
        if part.loc[part["method"] == method, "clock"].notna().nunique() > 1:
            continue  # seconds of two clocks have no ratio
        times = float(large[method].mean() / max(small[method].mean(), 1e-9))
        told.append(f"{method} {times:,.0f} times")
        parts.append(Part(times > 1, times >= 100))
    needed(parts)
    return ClaimFinding(
        ", ".join(told),
        tuple(parts),
        f"means over the sets where both finished, {_clock(of_kind(rows, kind))}",
    )


def coverage(rows: "pd.DataFrame", name: str, printed: float) -> ClaimFinding:
    """Judge what share of the complete fronts the runs of IBED find together."""
    evolved = _evolved(rows)
    shares = []
    runs = set()
    for system, part in by_system(rows, "complete"):
        if system[0] == name and system in evolved:
            front = as_set(np.array(part["points"].iloc[0], dtype=np.int64))
            shares.append(100 * len(front & as_set(side_of(evolved[system]).points)) / len(front))
            runs.add(len(evolved[system]))
    needed(shares)
    return ClaimFinding(
        f"{shown_mean(shares, '%', 0)} ({min(shares):.0f} to {max(shares):.0f})",
        (figure(shares, printed, 100.0),),
        f"{counted(len(shares), 'set')}, {all_of(sorted(runs))} runs together",
        _stronger(rows),
    )


def _stronger(rows: "pd.DataFrame") -> str:
    """Say that runs of our IBED find more products together than as many of the paper's; empty if not so."""
    told = []
    for system in (("jcs", 0), ("web-portal", 0)):
        found, printed = _median_run(rows, system), PAPER_4[system]["|B|"]
        if found is not None and found[1] > printed:
            told.append(f"{found[1]:,} products for the paper's {printed} on {label(system)}")
    return f"Our IBED finds more: its runs have {all_of(told)}." if told else ""


def _median_run(rows: "pd.DataFrame", system: System) -> tuple[int, int, int] | None:
    """Return the median size of runs of IBED, how many points they find together, and the number of runs."""
    runs = _evolved(rows).get(system)
    if runs is None:
        return None
    sizes = sorted(len(points) for points in runs["points"])
    return sizes[(len(sizes) - 1) // 2], len(as_set(side_of(runs).points)), len(runs)


def shared(rows: "pd.DataFrame", name: str, most_times: float | None = None) -> ClaimFinding:
    """Judge whether runs of IBED find less together than as many different runs would, on each set.

    `most_times`: how many times the points of the median run they may have; by default the number of runs.
    """
    runs = {system: _median_run(rows, system) for system in _evolved(rows) if system[0] == name}
    found = needed({system: one for system, one in runs.items() if one is not None and one[2] > 1})
    return ClaimFinding(
        ", ".join(f"{label(system)} {one:,} and {n:,}" for system, (one, n, _) in found.items()),
        facts(n < (most_times or n_runs) * one for one, n, n_runs in found.values()),
        f"median run and {all_of(sorted({n for _, _, n in found.values()}))} runs together, each counted",
    )


def whole(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge whether runs of IBED miss points of every complete front but that of JCS 2."""
    evolved, missed = _evolved(rows), {}
    for system, part in by_system(rows, "complete"):
        if system in evolved:
            front = as_set(np.array(part["points"].iloc[0], dtype=np.int64))
            missed[system] = len(front - as_set(side_of(evolved[system]).points))
    needed(missed)
    return ClaimFinding(
        ", ".join(f"{label(system)} {n}" for system, n in missed.items()) + " points missed",
        facts((n == 0) == (system == ("jcs", 1)) for system, n in missed.items()),
        f"{counted(len(missed), 'complete front')}, each counted", _stronger(rows),
    )  # fmt: skip


def small_front(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge whether IBED finds the whole front of JCS 2 and SolRep does not."""
    pair = needed(_pairs(rows).get(("jcs", 1)))
    return ClaimFinding(
        f"IBED {pair['N_U(B)'] + pair['|N_A ∩ N_B|']}, SolRep {pair['N_U(A)'] + pair['|N_A ∩ N_B|']} of "
        f"{pair['|N_A ∪ N_B|']}",
        facts([not pair["N_U(A)"], pair["N_U(B)"] > 0]), _runs_of({("jcs", 1): pair}),
    )  # fmt: skip


def slower(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge whether eCos takes longer than uClinux with as many reference points."""
    part = of_kind(rows, "solrep", number=0)
    part = part[part["system"].isin(["ecos", "uclinux"])]
    seconds = {
        n: {name: float(own["seconds"].mean()) for name, own in of_n.groupby("system")}
        for n, of_n in (part.groupby("reference_points") if len(part) else ())
    }
    both = needed({int(n): one for n, one in seconds.items() if len(one) == 2})
    return ClaimFinding(
        ", ".join(f"{n:,} points: {one['ecos']:.3g} and {one['uclinux']:.3g} s" for n, one in both.items()),
        facts(one["ecos"] > one["uclinux"] for one in both.values()),
        f"the first set of attributes, {_clock(part)}",
    )


def alike(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge whether the same method has more unique points on all sets of attributes of a system."""
    ahead: dict[str, list[bool]] = {}
    for (name, _), row in _pairs(rows).items():
        ahead.setdefault(name, []).append(row["N_U(A)"] > row["N_U(B)"])
    several = needed({name: one for name, one in ahead.items() if len(one) > 1})
    return ClaimFinding(
        ", ".join(f"{NAMES[name]} {sum(one)} of {len(one)}" for name, one in several.items())
        + " sets with more of SolRep",
        facts(len(set(one)) == 1 for one in several.values()),
        f"{counted(len(several), 'system')}, each counted",
    )


def unfinished(rows: "pd.DataFrame", name: str, method: str) -> ClaimFinding:
    """Judge whether a method does not finish on a system, within the limit that it had."""
    part = of_kind(rows, "printed")
    part = needed(part[(part["system"] == name) & (part["method"] == method) & (part["objectives"] == 4)])
    hours, ended = float(part["seconds"].max()) / 3600, part["ended"].astype(bool)
    return ClaimFinding(
        f"{'ended' if ended.any() else 'no end'} after {60 * hours:.0f} min and "
        f"{int(part['programs'].sum()):,} programs",
        (Part(not ended.any(), hours >= 1),),
        f"{counted(len(part), 'run')}; sure from an hour on",
    )


def dominated(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge whether most of IBED's points on Linux are dominated, by our points and by the authors' set."""
    pairs = needed({system: row for system, row in _pairs(rows).items() if system[0] == LINUX})
    by = {
        f"{label(system)} {_lost(row)} of {row['|B|']}": 2 * _lost(row) > row["|B|"]
        for system, row in pairs.items()
    }
    evolved, theirs = _evolved(rows), []
    for system, part in by_system(rows, "stored"):
        if system in pairs:
            row = compared(side_of(part), side_of(evolved[system]))
            theirs.append(
                f"the authors' {row['|A|']:,} points dominate {_lost(row)} of {row['|B|']} on {label(system)}"
            )
    few = all(row["points"] < 1500 for row in pairs.values())
    return ClaimFinding(
        ", ".join(by), tuple(Part(lost, lost and not few) for lost in by.values()), _runs_of(pairs),
        f"The paper has 1,500 reference points; {all_of(theirs)}." if few and theirs else "",
    )  # fmt: skip


def _lost(row: dict[str, Any]) -> int:
    """Return how many points of B are dominated."""
    return int(row["|B|"] - row["N_U(B)"] - row["|N_A ∩ N_B|"])


def _cheap_runs(pairs: dict[System, dict[str, Any]]) -> str:
    """Say that IBED gains more time than SolRep beside the paper's on E-Shop; empty where it does not."""
    shop, printed = pairs.get(("e-shop", 0)), PAPER_5[("e-shop", 0), 1000]["B s"] / 30
    most_s = PAPER_SECONDS["e-shop", 1000]
    if shop is None or not shop["B s"] / shop["runs"] / printed < shop["A s"] / most_s:
        return ""
    return (
        f"Our IBED gains more than our SolRep: on E-Shop 1 a run takes {shop['B s'] / shop['runs']:.2f} s, "
        f"the paper's {printed:.2f}, and SolRep {shop['A s']:.0f} s, the paper's at most {most_s:g}."
    )


def _by_the_text(rows: "pd.DataFrame", names: Sequence[str]) -> str:
    """Say how long SolRep takes where it minimises the cost, as in the text; empty if it takes longer."""
    told = []
    for system, part in by_system(rows[rows["system"].isin(names)], "solrep by the text"):
        own = of_kind(rows, "solrep", system=system[0], number=system[1]).set_index("reference_points")
        for row in part.to_dict("records"):
            beside = own["seconds"].get(row["reference_points"])
            if beside is not None and row["seconds"] < beside:
                told.append(
                    f"{label(system)} with {int(row['reference_points']):,} points {row['seconds']:.0f} s"
                )
    return f"Minimising the cost, as in the text, takes less time: {'; '.join(told)}." if told else ""


def found_of(rows: "pd.DataFrame", n_points: int, printed: int) -> ClaimFinding:
    """Judge how many points `n_points` reference points find on E-Shop 2, and whether IBED has more."""
    part = of_kind(rows, "solrep", system=SHOP_2[0], number=SHOP_2[1])
    part = needed(part[part["reference_points"] == n_points])
    n, evolved = len(part["points"].iloc[0]), _evolved(rows).get(SHOP_2)
    told, beside = f"{n:,} of {n_points:,}", None
    if evolved is not None:
        beside = compared(side_of(part), side_of(evolved))
        told += f"; of IBED {beside['N_U(B)']:,} stay non-dominated"
    more = n_points == 1500
    parts = [figure([n], printed, n_points)]
    if beside is not None:
        parts += facts([(beside["N_U(A)"] > beside["N_U(B)"]) == more])
    why = "" if int(part["unproved"].iloc[0]) else (
        "Every program is solved to the end here. The paper stops each after 0.1 s and leaves out those "
        "without a solution, which no row tries."
    )  # fmt: skip
    return ClaimFinding(told, tuple(parts), "one run of SolRep", why)


def at_most(rows: "pd.DataFrame", names: Sequence[str], n_points: int, seconds: float) -> ClaimFinding:
    """Judge whether runs with `n_points` reference points take at most `seconds` seconds."""
    part = of_kind(rows, "solrep")
    part = needed(part[part["system"].isin(names) & (part["reference_points"] == n_points)])
    worst = part.loc[part["seconds"].astype(float).idxmax()]
    within = part["seconds"].astype(float) <= seconds
    return ClaimFinding(
        f"{worst['seconds']:.0f} s on {label((worst['system'], int(worst['number'])))}",
        facts(within),
        f"{counted(len(part), 'run')} with {n_points:,} reference points, {_clock(part)}",
        "Only rows by the wall clock take longer."
        if part.loc[~within, "clock"].isna().all() and part["clock"].notna().any()
        else "",
    )  # fmt: skip


def linear(rows: "pd.DataFrame", column: str) -> ClaimFinding:
    """Judge whether a straight line through the first and the last number of points passes the others."""
    told, parts, fewer = [], [], []
    for system, unsorted in by_system(rows, "solrep"):
        part = unsorted.sort_values("reference_points")
        part = part[part["clock"].notna() == part["clock"].notna().iloc[-1]]  # seconds of one clock
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
        grows = bool((np.diff(y) > 0).all())
        parts.append(
            Part(grows, grows and off <= 0.1 and (system[0] != LINUX or n[-1] >= _points_of(system)))
        )
        if system[0] == LINUX and n[-1] < _points_of(system):
            fewer.append(f"{n[-1]:.0f} on {label(system)}")
    needed(parts)
    return ClaimFinding(
        f"off a straight line by {', '.join(told)} of the last value",
        tuple(parts),
        "three or more numbers of points; same way: it grows; linear: off by at most a tenth",
        f"The paper has up to 1,500 reference points, these rows up to {all_of(fewer)}." if fewer else "",
    )


def fifty(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge 50 reference points beside the median run of IBED, on the larger systems."""
    evolved, told, points, times, why = _evolved(rows), [], [], [], []
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
        times.append(row["A s"] <= SIMILAR * row["B s"])
        paper = PAPER_RQ_5.get(system, {})
        if not (points[-1] and times[-1]) and n_other > paper.get("|N_B|", n_other):
            why.append(
                f"Our median run on {label(system)} has {n_other} points after {row['B s']:.1f} s, the "
                f"paper's {paper['|N_B|']} after {paper['B s']:g} s."
            )
    needed(told)
    return ClaimFinding(
        "; ".join(told),
        facts((*points, *times)),
        f"{counted(len(told), 'row')}, the median run each; similar: up to {SIMILAR:g} times; "
        f"{_clock(rows[rows['kind'].isin(['solrep', 'evolved']) & rows['system'].isin(LVAT)])}",
        " ".join(why),
    )


def linux(rows: "pd.DataFrame", n_points: int, most_s: float) -> ClaimFinding:
    """Judge how long `n_points` reference points take on Linux."""
    part = of_kind(rows, "solrep", system=LINUX)
    part = needed(part[part["reference_points"] == n_points])
    seconds, sizes = part["seconds"].astype(float), [len(one) for one in part["points"]]
    return ClaimFinding(
        f"{all_of(sorted(set(sizes)))} points in {seconds.min():.0f} to {seconds.max():.0f} s",
        facts(seconds <= most_s), f"{counted(len(part), 'set')} of attributes, compact clauses",
    )  # fmt: skip


def claim(what: str, where: str, paper: str, judge: Judge, missing: str = "") -> PaperClaim:
    """Return a claim whose judge sees every column."""
    return PaperClaim(what, where, paper, _with_columns(judge), missing)
