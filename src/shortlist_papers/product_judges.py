"""Judges of the claims of :cite:t:`Xue2018` on SolRep against evolution."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shortlist._words import all_of, counted
from shortlist_papers.claims import ClaimFinding, Part, facts, figure, most, needed, shown_mean
from shortlist_papers.front_quality import Vectors, as_set
from shortlist_papers.product_rows import (
    LVAT,
    SPLOT,
    Compared,
    Pairs,
    ProductRows,
    compared,
    label,
    older_rows,
    points_of,
    side_of,
)
from shortlist_papers.product_runs import (
    LINUX,
    NAMES,
    PAPER_4,
    PAPER_5,
    PAPER_RQ_5,
    PAPER_SECONDS,
    SHORT,
    SHORT_LIMIT_S,
    System,
)
from shortlist_papers.product_times import clock_of

if TYPE_CHECKING:
    import pandas as pd

SMALL = SPLOT[:2]
SHOP_2: System = ("e-shop", 1)
SIMILAR = 1.2
"""Largest ratio of two times that count as similar."""


def _as_printed(pairs: Pairs) -> Pairs:
    """Return the rows with as many reference points as the paper's."""
    return {system: row for system, row in pairs.items() if row["points"] == points_of(system)}


def _runs_of(rows: ProductRows, pairs: Pairs, method: str = "ibed") -> str:
    """Return words on the extent of the rows behind some comparisons, and on the number of older rows."""
    runs, points = (sorted({row[key] for row in pairs.values()}) for key in ("runs", "points"))
    each = [f"{one[0]:,} to {one[-1]:,}" if len(one) > 1 else f"{one[0]:,}" for one in (runs, points)]
    older = older_rows(*rows.behind(pairs, method))
    return f"{counted(len(pairs), 'row')}; {each[0]} runs, {each[1]} reference points{older}"


def _beside_fronts(pairs: Pairs) -> str:
    """Return words on the systems whose sets are compared with the complete front instead of each other."""
    known = list(dict.fromkeys(NAMES[system[0]] for system, row in pairs.items() if "A optimal" in row))
    return f"; beside the complete front on {all_of(known)}" if known else ""


def _judged(
    rows: ProductRows, pairs: Pairs, test: Callable[[Compared], bool], told: str, why: str = "", *,
    method: str = "ibed", in_most: bool = True, beside: bool = False,
) -> ClaimFinding:  # fmt: skip
    """Judge whether a test holds in most rows, or in each, as the paper claims; name the failing rows.

    For a claim about most rows, rows with fewer reference points than the paper's are left out. For a claim
    about each row, such rows count, but are not sure. `beside`: whether the test uses the complete front
    where it is known.
    """
    fewer = [system for system in pairs if system not in _as_printed(pairs)]
    judged = needed(_as_printed(pairs) if in_most else pairs)
    fits = {system: bool(test(row)) for system, row in judged.items()}
    failing = [label(system) for system, fit in fits.items() if not fit]
    parts = (
        (most(list(fits.values())),)
        if in_most
        else tuple(Part(fit, fit and system not in fewer) for system, fit in fits.items())
    )
    systems = all_of([label(system) for system in fewer])
    if not in_most and not failing and fewer:
        why = f"The paper has 1,500 reference points and 30 runs on {systems}."
    return ClaimFinding(
        f"{told} in {len(fits) - len(failing)} of {counted(len(fits), 'row')}"
        + (f"; not on {all_of(failing)}" if failing else ""),
        parts,
        _runs_of(rows, judged, method)
        + (f"; without {systems}, where these rows have fewer reference points" if in_most and fewer else "")
        + ("; most: sign test" if in_most else "")
        + (_beside_fronts(judged) if beside else ""),
        why,
    )


def _richer(row: Compared) -> bool:
    """Return whether A has more points of a front that B lacks than B has points that A lacks.

    The front is the complete front if it is known, else the joint front.
    """
    kind = "unique optimal" if "A optimal" in row else ""
    a, b = (row[f"{side} {kind}" if kind else f"N_U({side})"] for side in "AB")
    return bool(a > b)


def _kept(row: Compared) -> bool:
    """Return whether every point of A is on the complete front if it is known, else on the joint front."""
    return bool(row["|A|"] == row.get("A optimal", row["N_U(A)"] + row["|N_A ∩ N_B|"]))


def _more(row: Compared, indicator: str) -> float:
    """Return the indicator of A minus that of B, rounded so that equal points have equal indicators.

    The hypervolume is in the box of the complete front if this front is known.
    """
    name = f"{indicator} of the front" if f"A {indicator} of the front" in row else indicator
    return round(float((row[f"A {name}"] or 0) - (row[f"B {name}"] or 0)), 9)


def _dominated(row: Compared) -> int:
    """Return the number of dominated points of B."""
    return int(row["|B|"] - row["N_U(B)"] - row["|N_A ∩ N_B|"])


ROWS: dict[str, tuple[str, Callable[[Compared], bool]]] = {
    "richer": ("more unique points", _richer),
    "kept": ("no point is dominated", _kept),
    "dominates": ("more than half dominated", lambda row: 2 * _dominated(row) > row["|B|"]),
    "disjoint": ("no point in common", lambda row: row["|A ∩ B|"] == 0),
    "volume": ("larger hypervolume", lambda row: _more(row, "HV") > 0),
    "spread": ("larger spread", lambda row: _more(row, "SP") > 0),
    "better": (
        "all three larger",
        lambda row: _richer(row) and min(_more(row, "HV"), _more(row, "SP")) > 0,
    ),
    "wider": ("larger hypervolume and smaller spread", lambda row: _more(row, "HV") > 0 > _more(row, "SP")),
    "spread out": (
        "not gathered",
        lambda row: not _richer(row) or max(_more(row, "HV"), _more(row, "SP")) >= 0,
    ),
}
"""Statements of the paper on rows of its tables, with SolRep as A: the words, and the test of a row."""


def in_rows(
    rows: ProductRows,
    what: str,
    method: str = "ibed",
    *,
    in_most: bool = True,
    names: Sequence[str] = tuple(NAMES),
) -> ClaimFinding:
    """Judge a statement of :data:`ROWS`, in most rows of some systems or in each."""
    pairs = {one: row for one, row in rows.pairs(method).items() if one[0] in names}
    told, test = ROWS[what]
    why = _stronger(rows) if what == "richer" and set(names) & set(SMALL) else ""
    beside = what in {"richer", "kept", "volume", "better"}
    return _judged(rows, pairs, test, told, why, method=method, in_most=in_most, beside=beside)


def cheap(rows: ProductRows, *, names: Sequence[str] = tuple(NAMES), rich: bool = False) -> ClaimFinding:
    """Judge whether SolRep takes less time than all runs of IBED, with the paper's reference points.

    `rich`: judge two facts instead: in most rows SolRep takes similar or less time, and in most rows it has
    more unique points.
    """
    every = {one: row for one, row in _as_printed(rows.pairs()).items() if one[0] in names}
    pairs = {one: row for one, row in every.items() if row["one origin"]}
    why = " ".join(filter(None, (_cheap_runs(pairs), _by_the_text(rows, names))))
    most_times, told = (SIMILAR, "similar or less time") if rich else (1.0, "less time")
    found = _judged(rows, pairs, lambda row: row["A s"] <= most_times * row["B s"], told, why)
    clock = clock_of(*rows.behind(pairs))
    found = replace(found, sure=f"{found.sure}; {clock}, one processor and version a row")
    if not rich:
        return found
    richer = [_richer(row) for row in every.values()]
    return replace(
        found,
        here=f"more unique points in {sum(richer)} of {counted(len(every), 'row')}, {found.here}",
        parts=(most(richer), *found.parts),
        sure=f"{found.sure}; similar: up to {SIMILAR:g} times",
    )


def _cheap_runs(pairs: Pairs) -> str:
    """Return a sentence that IBED gained more time since the paper than SolRep on E-Shop.

    Empty if it did not.
    """
    shop, printed = pairs.get(("e-shop", 0)), PAPER_5[("e-shop", 0), 1000]["B s"] / 30
    most_s = PAPER_SECONDS["e-shop", 1000]
    if shop is None or not shop["B s"] / shop["runs"] / printed < shop["A s"] / most_s:
        return ""
    return (
        f"Our IBED gains more than our SolRep: on E-Shop 1 a run takes {shop['B s'] / shop['runs']:.2f} s, "
        f"the paper's {printed:.2f}, and SolRep {shop['A s']:.0f} s, the paper's at most {most_s:g}."
    )


def _by_the_text(rows: ProductRows, names: Sequence[str]) -> str:
    """Return words on the seconds of SolRep with the cost minimised, as in the text.

    Empty if SolRep is slower in this form.
    """
    told = []
    for system, part in rows.by_system("solrep by the text").items():
        own = rows.of_kind("solrep", system=system[0], number=system[1]).set_index("reference_points")
        for n, seconds in zip(part["reference_points"], part["seconds"], strict=True):
            if system[0] in names and seconds < own["seconds"].get(n, 0.0):
                told.append(f"{label(system)} with {int(n):,} points {seconds:.0f} s")
    return f"Minimising the cost, as in the text, takes less time: {'; '.join(told)}." if told else ""


def true_optima(rows: ProductRows) -> ClaimFinding:
    """Judge whether each point of SolRep is on the complete front, in our runs and in the authors' sets."""
    told, flags, theirs, judged = [], [], [], []
    for kind, named in (("solrep", "ours"), ("stored", "the authors' set")):
        for system, part in rows.by_system(kind).items():
            optimal = rows.optimal(system, part)
            if optimal is None:
                continue
            n = len(side_of(part).vectors)
            flags.append(len(optimal) == n)
            judged.append(part)
            if kind == "stored" and len(optimal) < n:
                theirs.append(label(system))
            told.append(f"{label(system)} {named} {len(optimal):,} of {n:,}")
    needed(flags)
    why, within = "", []
    for system, part in rows.by_system(SHORT).items():
        optimal = rows.optimal(system, part)
        if optimal is not None and label(system) in theirs:
            within.append(f"{len(optimal):,} of {len(side_of(part).vectors):,} on {label(system)}")
    if within:
        why = f"The paper stops each program after 0.1 s; so stopped, ours has {all_of(within)}."
    return ClaimFinding(
        "; ".join(told),
        facts(flags),
        f"{counted(len(flags), 'set')}, point by point beside complete fronts{older_rows(*judged)}",
        why,
    )


def beside_ibea(rows: ProductRows) -> ClaimFinding:
    """Judge whether IBEA has more unique non-dominated points than IBED on eCos, and fewer elsewhere."""
    unique = {}
    for system in rows.evolved("ibea"):
        if system in rows.evolved():
            pair = compared(rows.side(system, "ibea"), rows.side(system))
            unique[system] = pair["N_U(A)"], pair["N_U(B)"]
    needed(unique)
    return ClaimFinding(
        ", ".join(f"{label(system)} {a:,} and {b:,}" for system, (a, b) in unique.items()),
        facts((a > b) == (system[0] == "ecos") for system, (a, b) in unique.items()),
        f"{counted(len(unique), 'set')} of attributes, points that the other one has not, each counted"
        + older_rows(*_runs(rows, unique), *_runs(rows, unique, "ibea")),
    )


def coverage(rows: ProductRows, name: str, printed: float) -> ClaimFinding:
    """Judge the share of the complete fronts that all runs of IBED find together."""
    missed = {system: n for system, n in _missed(rows).items() if system[0] == name}
    n_points = {system: len(rows.front(system)) for system in missed}
    shares = needed([100 * (n_points[system] - n) / n_points[system] for system, n in missed.items()])
    runs = sorted({len(rows.evolved()[system]) for system in missed})
    return ClaimFinding(
        f"{shown_mean(shares, '%', 0)} ({min(shares):.0f} to {max(shares):.0f})",
        (figure(shares, printed, 100.0),),
        f"{counted(len(shares), 'set')}, {all_of(runs)} runs together{older_rows(*_runs(rows, missed))}",
        _stronger(rows),
    )


def whole(rows: ProductRows) -> ClaimFinding:
    """Judge whether runs of IBED miss points of every complete front except that of JCS 2."""
    missed = needed(_missed(rows))
    return ClaimFinding(
        ", ".join(f"{label(system)} {n}" for system, n in missed.items()) + " points missed",
        facts((n == 0) == (system == ("jcs", 1)) for system, n in missed.items()),
        f"{counted(len(missed), 'complete front')}, each counted{older_rows(*_runs(rows, missed))}",
        _stronger(rows),
    )


def _runs(rows: ProductRows, systems: Iterable[System], method: str = "ibed") -> "list[pd.DataFrame]":
    """Return the rows of an evolutionary method on some systems."""
    return [rows.evolved(method)[system] for system in systems]


def _missed(rows: ProductRows) -> dict[System, int]:
    """Return the number of points of each complete front that no run of IBED finds."""
    both = [system for system in rows.by_system("complete") if system in rows.evolved()]
    return {system: len(rows.front(system) - rows.side(system).vectors) for system in both}


def shared(rows: ProductRows, name: str, most_times: float | None = None) -> ClaimFinding:
    """Judge whether runs of IBED together find fewer points than equally many runs without common points.

    The judgement is made on each set. `most_times`: largest ratio to the points of the median run; by default
    the number of runs.
    """
    n_runs = {system: len(runs) for system, runs in rows.evolved().items() if system[0] == name}
    found = needed({system: _found_by_runs(rows, system) for system, n in n_runs.items() if n > 1})
    return ClaimFinding(
        ", ".join(f"{label(system)} {one:,} and {n:,}" for system, (one, n) in found.items()),
        facts(n < (most_times or n_runs[system]) * one for system, (one, n) in found.items()),
        f"median run and {all_of(sorted({n_runs[system] for system in found}))} runs together, each counted"
        + older_rows(*_runs(rows, found)),
    )


def _found_by_runs(rows: ProductRows, system: System) -> tuple[int, int]:
    """Return the median number of points of IBED's runs, and the number that all runs find together."""
    side = rows.side(system)
    sizes = sorted(len(points) for points in side.runs)
    return sizes[(len(sizes) - 1) // 2], len(side.vectors)


def _stronger(rows: ProductRows) -> str:
    """Return a sentence that our runs of IBED find more products than the paper's; empty if they do not.

    The sentence has the share of the front that equally many products cover.
    """
    told, cover = [], []
    for system in ((name, 0) for name in SMALL):
        n = _found_by_runs(rows, system)[1] if system in rows.evolved() else 0
        printed = PAPER_4[system]
        if n > printed["|B|"]:
            told.append(f"{n:,} products for the paper's {printed['|B|']} on {label(system)}")
        if n > printed["|B|"] and system in rows.by_system("complete"):
            n_runs, share = _first_runs(rows, system, printed["|B|"])
            cover.append(
                f"{100 * share:.0f} % on {label(system)} after {counted(n_runs, 'run')}, the paper's "
                f"{printed['share %']:.0f} %"
            )
    beside = f" With as many products as the paper's they cover {all_of(cover)}." if cover else ""
    return f"Our IBED finds more: its runs have {all_of(told)}.{beside}" if told else ""


def _first_runs(rows: ProductRows, system: System, n_products: int) -> tuple[int, float]:
    """Return the number of first runs of IBED that together find `n_products`.

    Also return the share of the front that they find.
    """
    front, found, n_runs = rows.front(system), Vectors(), 0
    for points in rows.side(system).runs:
        if len(found) < n_products:
            found, n_runs = found | as_set(points), n_runs + 1
    return n_runs, len(found & front) / len(front)


def small_front(rows: ProductRows) -> ClaimFinding:
    """Judge whether IBED finds the whole front of JCS 2 and SolRep does not."""
    pair = needed(rows.pairs().get(("jcs", 1)))
    return ClaimFinding(
        f"IBED {pair['N_U(B)'] + pair['|N_A ∩ N_B|']}, SolRep {pair['N_U(A)'] + pair['|N_A ∩ N_B|']} of "
        f"{pair['|N_A ∪ N_B|']}",
        facts([not pair["N_U(A)"], pair["N_U(B)"] > 0]),
        _runs_of(rows, {("jcs", 1): pair}),
    )


def alike(rows: ProductRows) -> ClaimFinding:
    """Judge whether the same method has more unique points on all sets of attributes of a system."""
    ahead: dict[str, list[bool]] = {}
    pairs = rows.pairs()
    for (name, _), row in pairs.items():
        ahead.setdefault(name, []).append(_richer(row))
    fewer = {system[0] for system in pairs if system not in _as_printed(pairs)}
    several = needed({name: one for name, one in ahead.items() if len(one) > 1})
    return ClaimFinding(
        ", ".join(f"{NAMES[name]} {sum(one)} of {len(one)}" for name, one in several.items())
        + " sets with more of SolRep",
        tuple(
            Part(len(set(one)) == 1, len(set(one)) == 1 and name not in fewer)
            for name, one in several.items()
        ),
        f"{counted(len(several), 'system')}, each counted{older_rows(*rows.behind(pairs))}",
    )


def dominated(rows: ProductRows) -> ClaimFinding:
    """Judge whether most of IBED's points on Linux are dominated by our points and by the authors' set."""
    pairs = needed({system: row for system, row in rows.pairs().items() if system[0] == LINUX})
    few, theirs = all(row["points"] < 1500 for row in pairs.values()), []
    for system, part in rows.by_system("stored").items():
        if system in pairs:
            row = compared(side_of(part), rows.side(system))
            theirs.append(
                f"the authors' {row['|A|']:,} points dominate {_dominated(row)} of {row['|B|']} "
                f"on {label(system)}"
            )
    lost = [2 * _dominated(row) > row["|B|"] for row in pairs.values()]
    return ClaimFinding(
        ", ".join(f"{label(system)} {_dominated(row)} of {row['|B|']}" for system, row in pairs.items()),
        tuple(Part(one, one and not few) for one in lost),
        _runs_of(rows, pairs),
        f"The paper has 1,500 reference points; {all_of(theirs)}." if few and theirs else "",
    )


def found_of(rows: ProductRows, n_points: int, printed: int) -> ClaimFinding:
    """Judge the number of points from `n_points` reference points on E-Shop 2, against IBED's number."""
    part = needed(rows.of_kind("solrep", system=SHOP_2[0], number=SHOP_2[1], reference_points=n_points))
    n = len(part["points"].iloc[0])
    told, parts = f"{n:,} of {n_points:,}", [figure([n], printed, n_points)]
    if SHOP_2 in rows.evolved():
        row = rows.beside(SHOP_2, n_points)
        told += f"; of IBED {row['N_U(B)']:,} stay non-dominated beside them"
        if "A optimal" in row:
            told += (
                f", and {row['B unique optimal']:,} are on the complete front, of SolRep {row['A optimal']:,}"
            )
        parts += facts([_richer(row) == (n_points == 1500)])
    short = rows.of_kind(SHORT, system=SHOP_2[0], number=SHOP_2[1], reference_points=n_points)
    why = ""
    if len(short):
        m = len(short["points"].iloc[0])
        why = f"With the paper's {SHORT_LIMIT_S:g} s a program ours finds {m:,}"
        why += "." if abs(m - printed) < abs(n - printed) else ", which is no nearer."
    return ClaimFinding(told, tuple(parts), f"one run of SolRep{older_rows(part)}", why)


def fifty(rows: ProductRows) -> ClaimFinding:
    """Judge 50 reference points against the median run of IBED, on the larger systems."""
    fifty = rows.fifty()
    pairs = needed({system: row for system, row in fifty.items() if system[0] in LVAT and row["one origin"]})
    more = {system: row["|A|"] > row["|N_B|"] for system, row in pairs.items()}
    quick = {system: row["A s"] <= SIMILAR * row["B s"] for system, row in pairs.items()}
    why = []
    for system, row in pairs.items():
        paper: Any = PAPER_RQ_5.get(system, {})
        if not (more[system] and quick[system]) and row["|N_B|"] > paper.get("|N_B|", row["|N_B|"]):
            why.append(
                f"Our median run on {label(system)} has {row['|N_B|']} points after {row['B s']:.1f} s, the "
                f"paper's {paper['|N_B|']} after {paper['B s']:g} s."
            )
    return ClaimFinding(
        "; ".join(
            f"{label(system)} {row['|A|']} for {row['|N_B|']} points, {row['A s']:.1f} for {row['B s']:.1f} s"
            for system, row in pairs.items()
        ),
        facts((*more.values(), *quick.values())),
        f"{counted(len(pairs), 'row')}, the median run each; similar: up to {SIMILAR:g} times; "
        + clock_of(*rows.behind(pairs))
        + older_rows(*rows.behind(pairs)),
        " ".join(why),
    )
