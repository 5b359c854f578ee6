"""Tables and figures of :cite:t:`Xue2018`, in the paper's layout, with the paper's figures beside ours."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import all_of
from shortlist.arrays import Points
from shortlist.pareto import hypervolume, nondominated_unique
from shortlist_papers.front_quality import box_of, in_box, quality_of
from shortlist_papers.paper import PaperLine, PaperPicture, ResultTable, Rows
from shortlist_papers.product_pictures import covered_shares, optimal_shares, seconds_of_fronts, volumes
from shortlist_papers.product_rows import (
    LVAT,
    OURS,
    PAPER,
    PRINTED,
    ProductRows,
    TableSide,
    compared,
    indicators,
    label,
    one_origin,
    side_of,
)
from shortlist_papers.product_runs import (
    BY_RANGE,
    BY_TEXT,
    CWMOIP,
    EPSILON,
    MINIMISED,
    NAMES,
    PAPER_3,
    PAPER_4,
    PAPER_5,
    PAPER_RQ_2,
    PAPER_RQ_5,
    PAPER_SECONDS,
    PAPER_SIZES,
    Published,
    System,
)

if TYPE_CHECKING:
    import pandas as pd

CONTENTS = {
    "table-1": "the rules of JCS",
    "table-2": "the product lines",
    "table-3": "complete fronts by the ε-constraint method and CWMOIP",
    "table-4": "CWMOIP beside IBED",
    "table-5": "SolRep against IBED",
    "table-6": "SolRep against IBEA on eCos",
    "figure-4": "seconds of SolRep by reference points",
    "figure-4-points": "points that SolRep finds by reference points",
    "whole": "sets of every method beside the complete fronts",
    "rq-2": "how the cost of complete fronts grows",
    "rq-5": "SolRep with 50 reference points against the median run of IBED",
    "solrep": "runs of SolRep against the sets that the authors stored",
    "constraint-solving": "SolRep against evolution with constraint solving",
}
"""Names and contents: the paper's tables and figures, sets against complete fronts, figures in its text, and
our own.
"""

BY_THE_TEXT = "here, as printed, the cost outermost"

COLUMNS = (
    "A corr %", "B corr %", "A s", "B s", "A HV", "B HV", "A SP", "B SP", "|A|", "|B|", "|A ∩ B|",
    "|N_A ∪ N_B|", "N_U(A)", "N_U(B)",
)  # fmt: skip
"""Columns of the paper's Tables 3 to 6: A is the first method, B the second."""


def product_tables(rows: "pd.DataFrame") -> list[ResultTable]:
    """Return every table and figure with measured rows, with the paper's figures beside ours."""
    makers: list[Callable[[ProductRows], ResultTable]] = [
        _rules, _systems, _complete_fronts, _evolution_beside_complete, _solrep_beside_ibed,
        _solrep_beside_ibea, partial(_figure_4, column="seconds"), partial(_figure_4, column="points"),
        _beside_whole_fronts, _growth, _fifty_points, _solrep_runs,
        _constraint_solving,
    ]  # fmt: skip
    read = ProductRows.of(rows)
    return [table for table in (make(read) for make in makers) if table.rows]


def _rules(rows: ProductRows) -> ResultTable:
    said = [text for part in rows.of_kind("model", system="jcs")["said"] for text in part]
    return _table(
        "table-1",
        "Table 1: the rules of JCS",
        [{"": f"c{number}", "clause": text} for number, text in enumerate(said, 1)],
        "The paper's formulas are listed as clauses.",
    )


def _systems(rows: ProductRows) -> ResultTable:
    found = []
    for row in rows.of_kind("model").to_dict("records"):
        n_features, n_rules = PAPER_SIZES[row["system"]]
        found.append(
            {
                "repository": "LVAT" if row["system"] in LVAT else "SPLOT",
                "system": NAMES[row["system"]], "features": int(row["features"]),
                "paper's features": n_features, "clauses": int(row["clauses"]),
                "paper's constraints": n_rules,
                "inequalities": int(row["inequalities"]),
            }
        )  # fmt: skip
    differs = (
        "Linux is the compact form of its clauses, as the file with 343,944 of them is too large to be "
        "stored."
        if any(row["system"] == NAMES["compact-linux"] for row in found)
        else ""
    )
    return _table("table-2", "Table 2: the product lines", found, differs=differs)


def _complete_fronts(rows: ProductRows) -> ResultTable:
    """Return Table 3: A is the ε-constraint method, B is CWMOIP."""
    found: Rows = []
    for system, part in rows.by_system("complete").items():
        sides = {method: side_of(group) for method, group in part.groupby("method")}
        methods = [sides[name] for name in ("epsilon-constraint", "cwmoip") if name in sides]
        found.append(_named(system, OURS, compared(*methods) if len(methods) == 2 else _alone(sides)))
        found[-1]["as enumerated"] = "yes" if part["same"].all() else "NO"
        for whose, order in ((PRINTED, BY_RANGE), (BY_THE_TEXT, BY_TEXT)):
            printed = rows.printed(system, order)
            if len(printed) == 2:
                found.append(_named(system, whose, compared(printed[EPSILON], printed[CWMOIP])))
                same = printed[CWMOIP].vectors == next(iter(sides.values())).vectors
                found[-1]["as enumerated"] = "yes" if same and part["same"].all() else "NO"
        found += _published(PAPER_3, system)
    return _table(
        "table-3",
        "Table 3: complete fronts by the ε-constraint method (A) and CWMOIP (B)",
        found,
        "As printed: all loops of Algorithms 1 and 2. Here: programs whose answer is known are left out, and "
        "answers are checked in integers. Where a method was not run, the front is the diagram's.",
        differs="Only seconds differ: another machine, HiGHS for CPLEX, and Algorithm 2 with its objectives "
        "sorted by range."
        if _agrees(found, ("|A|", "|B|", "A HV", "A SP"))
        else "NOT EVERY FRONT IS THE PAPER'S: see the columns of counts.",
    )


def _evolution_beside_complete(rows: ProductRows) -> ResultTable:
    """Return Table 4: A is CWMOIP, B is IBED."""
    complete, found = rows.by_system("complete"), Rows()
    for system, part in rows.evolved().items():
        if system not in complete:
            continue
        own = complete[system]
        chosen = own[own["method"] == "cwmoip"] if (own["method"] == "cwmoip").any() else own
        row = compared(side_of(chosen.iloc[:1]), rows.side(system))
        share = 100 * row["|A ∩ B|"] / row["|A|"] if row["|A|"] else None
        found += [_named(system, OURS, row, len(part)) | {"share %": share}, *_published(PAPER_4, system, 30)]
    return _table(
        "table-4",
        "Table 4: CWMOIP (A) against the runs of IBED together (B)",
        found,
        f"{_EVOLVED} Where CWMOIP was not run, A is the diagram's front.",
        differs=_finds_more(found, "share %"),
        picture=covered_shares(rows, found),
    )


def _solrep_beside_ibed(rows: ProductRows) -> ResultTable:
    """Return Table 5: A is SolRep, B is IBED."""
    found = _solrep_beside(rows, "ibed", rows.evolved(), PAPER_5)
    return _table(
        "table-5",
        "Table 5: SolRep (A) against the runs of IBED together (B)",
        found,
        f"{_EVOLVED} Of the paper's figures those are shown whose digits are known; those of IBED "
        "on E-Shop 1 and eCos 2 are in tables that the authors stored. eCos 3 is in their data and in no "
        f"table.{_by_the_wall(rows, 'solrep', 'evolved', methods=('solrep', 'ibed'))}",
        differs=" ".join(filter(None, (_finds_more(found, "|B|"), _all_proved(rows)))),
        picture=volumes(rows),
    )


def _by_the_wall(rows: ProductRows, *kinds: str, methods: Collection[str] = ()) -> str:
    """Return words, after a space, on the rows with wall-clock seconds; empty if all have one clock."""
    parts = [rows.of_kind(kind) for kind in kinds]
    every = [row for part in parts for row in part.to_dict("records")]
    chosen = [row for row in every if not methods or row["method"] in methods]
    wall = [row for row in chosen if not isinstance(row["clock"], str)]
    if len(wall) in {0, len(chosen)}:
        return ""
    found: dict[str, set[int]] = {}
    for row in wall:
        numbers = found.setdefault(f"{row['method']} on {label((row['system'], int(row['number'])))}", set())
        numbers |= {int(n) for n in [row["reference_points"]] if not np.isnan(n)}
    told = [
        name + (f" with {all_of([f'{n:,}' for n in sorted(numbers)])} reference points" if numbers else "")
        for name, numbers in found.items()
    ]
    return f" Seconds by the wall clock: {'; '.join(told)}."


def _finds_more(found: Rows, column: str) -> str:
    """Return a sentence that our IBED finds more than the paper's.

    Empty unless our IBED finds more in every row with equally many runs.
    """
    paper = {row["system"]: row for row in found if row["whose"] == PAPER and row.get(column) is not None}
    beside = [
        (row, paper[row["system"]])
        for row in found
        if row["whose"] == OURS and row["system"] in paper and row.get(column) is not None
    ]
    if not beside or any(a["runs of B"] < b["runs of B"] or a[column] < b[column] for a, b in beside):
        return ""
    return (
        "Our IBED, whose rules of exchange and replacement are ours, finds as much or more with as many runs."
    )


def _all_proved(rows: ProductRows) -> str:
    """Return a sentence that SolRep's programs are proved here; empty if a program is not proved."""
    part = rows.of_kind("solrep")
    if part.empty or part["unproved"].astype(float).sum():
        return ""
    return "SolRep's programs are proved, where the paper takes what CPLEX has found after 0.1 s."


def _solrep_beside_ibea(rows: ProductRows) -> ResultTable:
    """Return Table 6: A is SolRep, B is IBEA, on eCos."""
    return _table(
        "table-6",
        "Table 6: SolRep (A) against the runs of IBEA together (B) on eCos",
        _solrep_beside(rows, "ibea", [system for system in rows.evolved("ibea") if system[0] == "ecos"]),
        f"{_EVOLVED} The digits of the paper's two rows are lost.",
    )


_EVOLVED = (
    "Of evolution, correctness, hypervolume and spread are means of the runs, as in the tables that the "
    "authors stored, seconds their sum, and |B| counts what at least one run ended with. Indicators are "
    "scaled by N_A ∪ N_B."
)


def _solrep_beside(
    rows: ProductRows,
    method: str,
    systems: Collection[System],
    published: Mapping[tuple[System, int], Mapping[str, Any]] = MappingProxyType({}),
) -> Rows:
    """Return the rows that compare SolRep with an evolutionary method on some systems."""
    found: Rows = []
    for system, part in rows.by_system("solrep").items():
        numbers = sorted({int(n) for n in part["reference_points"]})
        for n_points in numbers if system in systems else ():
            if n_points >= min(1000, numbers[-1]):
                row, more = rows.beside(system, n_points, method), {"reference points": n_points}
                found.append(_named(system, OURS, row, row["runs"]) | more)
                paper = published.get((system, n_points))
                found += [] if paper is None else [_named(system, PAPER, paper, 30) | more]
    return found


def _figure_4(rows: ProductRows, column: str) -> ResultTable:
    """Return one axis of Figure 4, for each system with several numbers of reference points."""
    name, title = "figure-4", "Figure 4: seconds of SolRep by reference points"
    if column == "points":
        name, title = (
            "figure-4-points", "Figure 4, second axis: non-dominated points by reference points"
        )  # fmt: skip
    found: Rows = []
    lines = []
    for system, part in rows.by_system("solrep").items():
        if len(part) < 2:
            continue
        own = [
            (
                int(row["reference_points"]),
                len(row["points"]) if column == "points" else float(row["seconds"]),
            )
            for row in part.sort_values("reference_points").to_dict("records")
        ]
        found += [{"system": label(system), "reference points": n, column: value} for n, value in own]
        lines.append(PaperLine(label(system), tuple((float(n), float(value)) for n, value in own)))
    if column == "seconds" and any(row["system"] == "Linux X86 1" for row in found):
        paper = [(n, PAPER_SECONDS["compact-linux", n]) for n in (50, 1500)]
        found += [
            {"system": "Linux X86, the paper", "reference points": n, "seconds": seconds}
            for n, seconds in paper
        ]
    text = f"Number of reference points against {'seconds' if column == 'seconds' else 'points found'}."
    y = "seconds" if column == "seconds" else "non-dominated points"
    return ResultTable(
        name,
        title,
        found,
        "The paper draws Linux X86 only, with up to 1,500 reference points."
        + (_by_the_wall(rows, "solrep") if column == "seconds" else ""),
        picture=PaperPicture(text, "reference points", y, tuple(lines)) if lines else None,
    )


def _beside_whole_fronts(rows: ProductRows) -> ResultTable:
    """Return every set of every method against the complete front of its system."""
    found: Rows = []
    kinds = (*MINIMISED, "evolved", "stored")
    systems = dict.fromkeys(system for kind in ("complete", "whole") for system in rows.by_system(kind))
    for system in systems:
        whole = rows.whole(system)
        for kind in kinds if whole is not None else ():
            part = rows.by_system(kind).get(system)
            for (method, n_points), own in (
                () if part is None else part.groupby(["method", "reference_points"], dropna=False, sort=False)
            ):
                row = _beside_whole(rows, system, own)
                name = kind if kind in MINIMISED else "the authors' set" if kind == "stored" else str(method)
                n = None if np.isnan(n_points) else int(n_points)
                found += (
                    []
                    if row is None
                    else [{"system": label(system), "set": name, "reference points": n} | row]
                )
    return _table(
        "whole",
        "Every set beside the complete front of its system",
        found,
        "Of several runs their points together, with those that another run dominates. The hypervolume of a "
        "set is in the box of the complete front; both are exact.",
        picture=optimal_shares(found),
    )


def _beside_whole(rows: ProductRows, system: System, own: "pd.DataFrame") -> dict[str, Any] | None:
    """Return counts and hypervolume of a set against a complete front; None if the front is unknown."""
    optimal, whole, side = rows.optimal(system, own), rows.whole(system), side_of(own)
    if optimal is None or whole is None:
        return None
    corner = np.ones(len(whole.box.low))
    volume = hypervolume(in_box(side.points, whole.box), corner) if len(side.points) else 0.0
    n = len(side.points)
    return {
        "runs": len(own), "points": n, "on the front": len(optimal),
        "% of them": 100 * len(optimal) / n if n else None, "front": whole.n_points,
        "coverage %": 100 * len(optimal) / whole.n_points, "HV": volume, "HV of the front": whole.hypervolume,
    }  # fmt: skip


def _growth(rows: ProductRows) -> ResultTable:
    """Return the table for the paper's second question: growth of time from one system to the next."""
    found: Rows = []
    first: dict[tuple[Any, ...], tuple[float, pd.DataFrame]] = {}
    for whose, kind in ((PRINTED, "printed"), (OURS, "complete")):
        part = rows.of_kind(kind)
        if part.empty:
            continue
        part = part.assign(
            objectives=part["objectives"] if kind == "printed" else 4, order=part["order"].fillna("")
        )
        groups = list(part.groupby(["method", "order", "objectives", "system"]))
        groups.sort(key=lambda one: (*one[0][:3], PAPER_SIZES[one[0][3]][0]))
        for (method, order, n, name), own in groups:
            sums = own.groupby("number")[["programs", "seconds"]].sum()
            n_parts = own.groupby("number")["part"].nunique() if kind == "printed" else None
            whole = own["parts"].iloc[0] if kind == "printed" else 1
            ended = bool(own["ended"].all()) and (n_parts is None or whole == 1 or (n_parts == whole).all())
            seconds, n_programs = float(sums["seconds"].mean()), float(sums["programs"].mean())
            before = first.setdefault((whose, method, order, n), (seconds, own)) if ended else None
            ratio = (
                seconds / max(before[0], 1e-9) if before is not None and one_origin(before[1], own) else None
            )
            found.append(
                {
                    "whose": whose, "method": method, "order": order or None, "objectives": int(n),
                    "system": NAMES[name],
                    "features": PAPER_SIZES[name][0], "sets": len(sums), "ended": "yes" if ended else "NO",
                    "programs": n_programs if n_programs > 0 else None, "seconds": seconds,
                    "ms a program": 1000 * seconds / n_programs if n_programs > 0 else None,
                    "times the first": ratio,
                    "paper's seconds": PAPER_RQ_2.get((name, method)) if n == 4 else None,
                }
            )  # fmt: skip
    return _table(
        "rq-2",
        "RQ2: how the cost of complete fronts grows with features and objectives, means over sets",
        found,
        "Algorithm 1 solves one program for each combination of bounds: the product of the ranges of all "
        "objectives but one. Ranges grow with the features, so that with four objectives programs grow with "
        "their cube, and each further objective multiplies them by its range. The first is the system with "
        "the fewest features; seconds of several processors or versions are in no ratio."
        + _by_the_wall(rows, "printed", "complete"),
        differs="Seconds are another machine's and another solver's. The paper calls the cost exponential; "
        "the programs of Algorithm 1 are a power of the number of features for a given number of "
        "objectives, and exponential in the number of objectives."
        if found
        else "",
        picture=seconds_of_fronts(found),
    )


def _fifty_points(rows: ProductRows) -> ResultTable:
    """Return the comparison in the paper's text on its fifth question."""
    found: Rows = []
    for system, row in rows.fifty().items():
        picked = {key: row[key] for key in ("A s", "B s", "|A|", "|B|", "|A ∩ B|", "N_U(A)", "|N_B|")}
        found += [_named(system, OURS, picked, row["runs"]), *_published(PAPER_RQ_5, system, 30)]
    return _table(
        "rq-5",
        "RQ5: SolRep with 50 reference points (A) against the median run of IBED (B)",
        found,
        "The median run is the one with the middle number of correct solutions."
        + _by_the_wall(rows, "solrep", "evolved", methods=("solrep", "ibed")),
        differs="Seconds are another machine's and another solver's." if found else "",
    )


def _solrep_runs(rows: ProductRows) -> ResultTable:
    stored = {system: np.array(part["points"].iloc[0]) for system, part in rows.by_system("stored").items()}
    found: Rows = []
    runs = [(*one, kind) for kind in MINIMISED for one in rows.by_system(kind).items()]
    for system, part, kind in runs:
        for row in part.sort_values("reference_points").to_dict("records"):
            n_points, points = int(row["reference_points"]), np.array(row["points"], dtype=np.int64)
            found.append(
                {
                    "system": label(system), "minimised": MINIMISED[kind], "reference points": n_points,
                    "points": len(points),
                    "stored points": len(stored[system]) if system in stored else None,
                    "programs": int(row["programs"]), "without proof": int(row["unproved"]),
                    "seconds": float(row["seconds"]),
                    "paper's seconds": PAPER_SECONDS.get((system[0], n_points)),
                    **beside_stored(points, stored.get(system)),
                }
            )  # fmt: skip
    return _table(
        "solrep",
        "How long SolRep takes, and its points against the set that the authors stored",
        found,
        "Indicators of both sets are scaled by their joint front; the authors stored one set a row, "
        f"whatever the number of reference points here.{_by_the_wall(rows, *MINIMISED)}",
    )


def beside_stored(points: Points, stored: Points | None) -> dict[str, float | None]:
    """Return IGD+ and hypervolume of a set and of the authors' set, against their joint front."""
    names = ("IGD+", "stored IGD+", "HV", "stored HV")
    if stored is None or not len(points):
        return dict.fromkeys(names)
    together = np.vstack([points, stored])
    joint = together[nondominated_unique(together)]
    ours, theirs = (quality_of(one, joint, box_of(joint)) for one in (points, stored))
    values = (ours.igd_plus, theirs.igd_plus, ours.hypervolume, theirs.hypervolume)
    return dict(zip(names, values, strict=True))


def _constraint_solving(rows: ProductRows) -> ResultTable:
    """Return SolRep against IBEA with and without constraint solving.

    The paper leaves this question open.
    """
    found: Rows = []
    methods = ("ibea", "satibea", "smtibea")
    solved = {system for name in methods[1:] for system in rows.evolved(name)}
    for method in methods:
        both = [system for system in rows.evolved(method) if system in solved]
        found += [{"B is": method} | row for row in _solrep_beside(rows, method, both)]
    return _table(
        "constraint-solving",
        "SolRep (A) against evolution with constraint solving (B)",
        sorted(found, key=lambda row: str(row["system"])),
        f"The paper names this comparison as its next step and reports no figures. {_EVOLVED}"
        + _by_the_wall(rows, "evolved", methods=methods),
    )


def _alone(sides: Mapping[str, TableSide]) -> dict[str, Any]:
    """Return a row of Table 3 with the front only, by either method."""
    side = next(iter(sides.values()))
    points = side.points
    volume, unevenness, _ = indicators(side, points)
    return {
        "A corr %": side.correct, "A HV": volume, "A SP": unevenness, "|A|": len(points),
        "|N_A ∪ N_B|": len(points),
    }  # fmt: skip


def _named(system: System, whose: str, row: Mapping[str, Any], n_runs: int | None = None) -> dict[str, Any]:
    runs = {} if n_runs is None else {"runs of B": n_runs}
    hidden = {*COLUMNS, "|N_A ∩ N_B|", "runs", "points", "one origin", "B HV ±"}
    hidden |= {key for key in row if key.endswith(("optimal", "of the front"))}
    rest = {key: value for key, value in row.items() if key not in hidden}
    own = {key: row[key] for key in COLUMNS if key in row}
    return {"system": label(system), "whose": whose, **runs, **own, **rest}


def _published(published: Published, system: System, n_runs: int | None = None) -> Rows:
    row = published.get(system)
    return [] if row is None else [_named(system, PAPER, row, n_runs)]


def _agrees(rows: Rows, columns: tuple[str, ...]) -> bool:
    """Return whether our figures equal the paper's figures in some columns, to seven digits.

    Only figures known on both sides are compared.
    """
    paper = {row["system"]: row for row in rows if row["whose"] == PAPER}
    return all(
        abs(row[column] - paper[row["system"]][column]) <= 1e-7
        for row in rows
        if row["whose"] != PAPER and row["system"] in paper
        for column in columns
        if row.get(column) is not None and paper[row["system"]].get(column) is not None
    )


def _table(
    name: str, title: str, rows: Rows, note: str = "", *, differs: str = "",
    picture: PaperPicture | None = None,
) -> ResultTable:  # fmt: skip
    """Return a table; the sentence about differences is kept only if a row of the paper is in it."""
    beside = any(row.get("whose", PAPER) == PAPER for row in rows)
    return ResultTable(name, title, rows, note, differs if beside or name == "rq-2" else "", picture)
