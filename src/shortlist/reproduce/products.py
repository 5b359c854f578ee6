"""Product lines: Tables 3 to 6 of :cite:t:`Xue2018`, and Linux."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.arrays import Points
from shortlist.methods.comparison import box_of, quality_of
from shortlist.pareto.dominance import nondominated_unique
from shortlist.products.configuration.found_front import find_front
from shortlist.products.configuration.search_options import search_options
from shortlist.reproduce.paper import Extent, Paper, Plan, ResultTable, Rows
from shortlist.reproduce.product_lines import (
    SYSTEMS,
    complete_points,
    evolve_once,
    is_there,
    prepared_question,
    published_product,
    stored_points,
)
from shortlist.runs import Budget, Unit

if TYPE_CHECKING:
    import pandas as pd

System = tuple[str, int]
"""A product line and the number of its set of attributes, from 0."""

PAPER_COMPLETE: dict[System, dict[str, float]] = {
    ("jcs", 0): {"points": 39, "epsilon-constraint": 5.3, "cwmoip": 5.7, "ibed share %": 49},
    ("jcs", 1): {"points": 9, "epsilon-constraint": 7.5, "cwmoip": 0.7, "ibed share %": 100},
    ("jcs", 2): {"points": 22},
    ("jcs", 3): {"points": 31},
    ("web-portal", 0): {"points": 451, "epsilon-constraint": 586, "cwmoip": 220, "ibed share %": 22},
    ("web-portal", 1): {"points": 768, "epsilon-constraint": 703, "cwmoip": 260, "ibed share %": 15},
    ("web-portal", 2): {"points": 859},
    ("web-portal", 3): {"points": 713},
}
"""Tables 3 and 4: points of the complete front, seconds of two methods, and what 30 runs of IBED find."""

PAPER_SECONDS: dict[tuple[System, int], float] = {
    (("e-shop", 0), 1500): 123, (("uclinux", 0), 1500): 131, (("ecos", 0), 1500): 310,
    (("compact-linux", 0), 1500): 550 + 49_864, (("ecos", 0), 50): 11, (("uclinux", 0), 50): 6,
    (("compact-linux", 0), 50): 2150,
}  # fmt: skip
"""Table 6: seconds of SolRep, by number of reference points; Linux with its anchors."""

LINUX = "compact-linux"


@dataclass(frozen=True)
class ProductsSize:
    """How much is measured.

    Attributes
    ----------
    complete : mapping of system to methods, as pairs
        Complete methods that are timed.
    solrep : tuple of (system, reference points, seconds per program or None)
        Runs of SolRep.
    n_seeds : int
        Runs of IBED on every system.
    n_evaluations : int or None
        Of each run; None for those of the study.
    """

    complete: tuple[tuple[System, tuple[str, ...]], ...]
    solrep: tuple[tuple[System, int, float | None], ...]
    n_seeds: int
    n_evaluations: int | None = None


_JCS = ("diagram", "exact", "cwmoip", "epsilon-constraint")
_PORTAL = ("diagram", "exact", "cwmoip")
PAPER_SIZE = ProductsSize(
    (
        *((("jcs", number), _JCS) for number in range(4)),
        *((("web-portal", number), _PORTAL) for number in range(4)),
    ),
    (
        *(((name, number), 1500, None) for name in ("e-shop", "ecos") for number in (0, 1)),
        (("uclinux", 0), 1500, None),
        ((LINUX, 0), 50, 10.0),
    ),
    30,
)
"""All systems; IBED with 30 seeds and the study's evaluations."""

SMALL_SIZE = ProductsSize(
    (
        *((("jcs", number), _JCS) for number in range(4)),
        *((("web-portal", number), ("diagram",)) for number in range(4)),
    ),
    ((("e-shop", 0), 50, 0.1), (("uclinux", 0), 50, 0.1)),
    2,
    5_000,
)
SIZES = {
    "small": SMALL_SIZE,
    "medium": dataclasses.replace(PAPER_SIZE, n_seeds=5),
    "paper": PAPER_SIZE,
}
"""How much each scale measures."""


def size_of(extent: Extent) -> ProductsSize:
    """Return how much an extent measures."""
    size = SIZES[extent.scale]
    names = extent.of(tuple(SYSTEMS))
    return dataclasses.replace(
        size,
        complete=tuple(one for one in size.complete if one[0][0] in names),
        solrep=tuple(one for one in size.solrep if one[0][0] in names),
        n_seeds=extent.seeds or size.n_seeds,
    )


def plan_products(folder: Path | None, size: ProductsSize) -> Plan:
    """Return a unit for every run on every system that is there."""
    wanted = dict.fromkeys(
        [*(system for system, _ in size.complete), *(system for system, *_ in size.solrep)]
    )
    there = [system for system in wanted if is_there(folder, *system)]
    units = []
    for system, methods in size.complete:
        units += [
            Unit(
                _key(system, method), measure_complete, (folder, system, method), kind=f"{system[0]} {method}"
            )
            for method in methods
            if system in there
        ]
    for system, n_points, limit_s in size.solrep:
        if system in there:
            units.append(
                Unit(
                    _key(system, f"solrep {n_points}"), measure_solrep, (folder, system, n_points, limit_s),
                    kind=f"{system[0]} solrep", size=n_points,
                )
            )  # fmt: skip
    for system in there:
        n_evaluations = size.n_evaluations or SYSTEMS[system[0]].n_evaluations
        units += [
            Unit(
                _key(system, f"ibed {seed}"), measure_ibed, (folder, system, seed, n_evaluations),
                kind=f"{system[0]} ibed", size=n_evaluations / 1000,
            )
            for seed in range(size.n_seeds)
        ]  # fmt: skip
    missing = [
        f"{name} {number + 1} is missing: the feature models of the study go into a folder, which "
        "folder='FOLDER' names, as feature-models/."
        for name, number in wanted
        if (name, number) not in there
    ]
    return Plan(tuple(units), dataclasses.asdict(size), tuple(missing[:1]))


def measure_complete(folder: Path, system: System, method: str, *, budget: Budget) -> Rows:
    """Find a complete front, and say whether it is the one that enumeration found."""
    question, _ = prepared_question(folder, *system, fixed=True)
    front = find_front(question, method, search_options(method), budget).front
    points = front.points[np.lexsort(front.points.T[::-1])]
    same = np.array_equal(points, complete_points(folder, *system))
    return [_row(system, method, front.seconds, points) | {"kind": "complete", "same": bool(same)}]


def measure_solrep(
    folder: Path, system: System, n_points: int, solve_limit_s: float | None, *, budget: Budget
) -> Rows:
    """Run SolRep."""
    question, _ = prepared_question(folder, *system, fixed=True)
    options = search_options("solrep", n_points=n_points, solve_limit_s=solve_limit_s)
    front = find_front(question, "solrep", options, budget).front
    facts = {
        "kind": "solrep", "reference_points": n_points, "solve_limit_s": solve_limit_s,
        "programs": front.extras["n_programs"], "unproved": front.extras["n_unproved"],
    }  # fmt: skip
    return [_row(system, "solrep", front.seconds, front.points) | facts]


def measure_ibed(folder: Path, system: System, seed: int, n_evaluations: int, *, budget: Budget) -> Rows:
    """Run IBED once; on Linux from the product that the study's data come with."""
    question, _ = prepared_question(folder, *system, fixed=True)
    starts = published_product(folder, question) if system[0] == LINUX else None
    front = evolve_once(question, "ibed", seed, n_evaluations=n_evaluations, starts=starts, budget=budget)
    facts = {"kind": "ibed", "seed": seed, "correctness": float(front.extras["correctness"])}
    facts["stored"] = len(stored_points(folder, *system)) if SYSTEMS[system[0]].stored else None
    return [_row(system, "ibed", front.seconds, front.points) | facts]


def product_tables(rows: "pd.DataFrame") -> list[ResultTable]:
    """Return the paper's Tables 3 to 6 with our figures beside them."""
    makers: list[Callable[[pd.DataFrame], ResultTable]] = [
        _complete_table,
        _share_table,
        _side_by_side,
        _seconds_table,
    ]
    return [table for table in (make(rows) for make in makers) if table.rows]


def _complete_table(rows: "pd.DataFrame") -> ResultTable:
    """Return Table 3: complete fronts, and how long each method takes."""
    found: Rows = []
    for (name, number), part in _by_system(rows, "complete"):
        published = PAPER_COMPLETE.get((name, number), {})
        for row in part.to_dict("records"):
            found.append(
                {
                    "system": f"{name} {number + 1}", "method": row["method"], "points": len(row["points"]),
                    "paper's points": published.get("points"),
                    "as enumerated": "yes" if row["same"] else "NO",
                    "seconds": round(row["seconds"], 3), "paper's seconds": published.get(row["method"]),
                }
            )  # fmt: skip
    return ResultTable("table-3", "Table 3: complete fronts", found)


def _share_table(rows: "pd.DataFrame") -> ResultTable:
    """Return Table 4: what the union of the runs of IBED finds of the complete front."""
    complete = dict(_by_system(rows, "complete"))
    found: Rows = []
    for system, part in _by_system(rows, "ibed"):
        if system not in complete:
            continue
        whole = _vectors(np.array(complete[system].iloc[0]["points"]))
        union = _vectors(_union(part))
        found.append(
            {
                "system": f"{system[0]} {system[1] + 1}", "runs": len(part), "complete": len(whole),
                "found": len(whole & union), "share %": round(100 * len(whole & union) / len(whole), 1),
                "paper's share %, 30 runs": PAPER_COMPLETE.get(system, {}).get("ibed share %"),
                "correct %": round(100 * float(part["correctness"].mean()), 1),
                "seconds a run": round(float(part["seconds"].median()), 2),
            }
        )  # fmt: skip
    return ResultTable("table-4", "Table 4: what runs of IBED find together of the complete front", found)


def _side_by_side(rows: "pd.DataFrame") -> ResultTable:
    """Return Table 5: SolRep beside the union of the runs of IBED, under the box of their joint front."""
    evolved = dict(_by_system(rows, "ibed"))
    found: Rows = []
    for system, part in _by_system(rows, "solrep"):
        sets = {"solrep": np.array(part.iloc[0]["points"])}
        if system in evolved:
            sets[f"ibed, {len(evolved[system])} runs"] = _union(evolved[system])
        together = np.vstack(list(sets.values()))
        joint = together[nondominated_unique(together)]
        box = box_of(joint)
        for name, points in sets.items():
            others = [_vectors(other) for key, other in sets.items() if key != name]
            quality = quality_of(points, joint, box) if box is not None else None
            found.append(
                {
                    "system": f"{system[0]} {system[1] + 1}", "set": name, "points": len(points),
                    "in the joint front": len(_vectors(points) & _vectors(joint)),
                    "only here": len((_vectors(points) & _vectors(joint)).difference(*others)),
                    "hypervolume": None if quality is None else quality.hypervolume,
                    "spread": None if quality is None else quality.spread,
                }
            )  # fmt: skip
    note = "One box per system, the joint front's; the paper scales each pair by another."
    return ResultTable("table-5", "Table 5: SolRep beside IBED", found, note)


def _seconds_table(rows: "pd.DataFrame") -> ResultTable:
    """Return Table 6: seconds of SolRep."""
    evolved = dict(_by_system(rows, "ibed"))
    found: Rows = []
    for system, part in _by_system(rows, "solrep"):
        for row in part.to_dict("records"):
            n_points = int(row["reference_points"])
            stored = evolved[system]["stored"].iloc[0] if system in evolved else None
            n_stored = None if stored is None or stored != stored else int(stored)  # noqa: PLR0124  # NaN
            found.append(
                {
                    "system": f"{system[0]} {system[1] + 1}", "reference points": n_points,
                    "points": len(row["points"]), "points that the authors stored": n_stored,
                    "programs": int(row["programs"]), "without proof": int(row["unproved"]),
                    "seconds": round(row["seconds"], 1),
                    "paper's seconds": PAPER_SECONDS.get((system, n_points)),
                }
            )  # fmt: skip
    return ResultTable(
        "table-6",
        "Table 6: how long SolRep takes",
        found,
        "The paper's Linux has 343,944 clauses, ours is its compact form.",
    )


def _by_system(rows: "pd.DataFrame", kind: str) -> "list[tuple[System, pd.DataFrame]]":
    part = rows[rows["kind"] == kind]
    groups = part.groupby(["system", "number"], sort=False)
    return [((str(name), int(number)), group) for (name, number), group in groups]


def _union(part: "pd.DataFrame") -> Points:
    """Return the non-dominated points of several runs."""
    points = np.vstack([np.array(one, dtype=np.int64) for one in part["points"]])
    return np.asarray(points[nondominated_unique(points)])


def _vectors(points: Points) -> set[tuple[int, ...]]:
    return {tuple(point) for point in points.tolist()}


def _row(system: System, method: str, seconds: float, points: Points) -> dict[str, Any]:
    name, number = system
    return {
        "system": name,
        "number": number,
        "method": method,
        "seconds": float(seconds),
        "points": points.tolist(),
    }


def _key(system: System, what: str) -> str:
    return f"{system[0]} {system[1] + 1}/{what}"


PRODUCTS = Paper(
    "products",
    "Xue and Li (2018): optimal products of software product lines, by integer programming",
    lambda folder, extent: plan_products(folder, size_of(extent)),
    product_tables,
    {
        "table-3": "complete fronts",
        "table-4": "IBED beside the complete fronts",
        "table-5": "SolRep beside IBED",
        "table-6": "seconds of SolRep",
    },
    tuple(SYSTEMS),
    frozenset({"seeds"}),
    (
        (
            "The digits of the paper's tables are lost in the text at hand; figures of it are those that its "
            "data and code confirm."
        ),
        (
            "Programs are solved by HiGHS where the paper had CPLEX, and without a limit each but on Linux, "
            "so that points are proved."
        ),
        (
            "IBED judges products by whether they are valid first; the paper counts violated clauses as one "
            "objective more."
        ),
        "Linux is the compact form of its clauses; they are very likely equivalent, which is not proved.",
    ),
)
