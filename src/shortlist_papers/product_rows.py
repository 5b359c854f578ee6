"""Rows measured for :cite:t:`Xue2018`, in the form in which tables and judges read them."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from shortlist.arrays import Points
from shortlist.pareto import hypervolume, nondominated_unique, spread
from shortlist_papers.claims import PaperRows, once
from shortlist_papers.comparison import margin
from shortlist_papers.front_quality import Box, Vectors, as_set, box_of, count_pair, in_box
from shortlist_papers.product_runs import BY_RANGE, CWMOIP, NAMES, System
from shortlist_papers.stored import of_older_versions, versions_of

if TYPE_CHECKING:
    import pandas as pd

N_OBJECTIVES = 4
SPLOT = ("jcs", "web-portal", "e-shop")
LVAT = ("ecos", "uclinux", "compact-linux")
"""Systems of the Linux variability analysis tools; all other systems are from SPLOT."""
COLUMNS = (
    "kind", "system", "number", "method", "seconds", "points", "said", "features", "same", "ended",
    "programs", "objectives", "part", "parts", "correctness", "reference_points", "unproved", "clock",
    "order", "optimal", "n_points", "low", "high", "hypervolume", "plane_s", "smallest", "largest",
    "smallest_free", "loops", "processor", "versions",
)  # fmt: skip
"""Columns that only some units fill; an extent may lack these units."""

OURS, PRINTED, PAPER = "here", "here, as printed", "the paper"
"""Origins of the figures in a row of a table."""

WORDS = ("order", "processor", "versions")
"""Columns of words, which stay columns of words if no unit fills them."""

_ORDER = {name: place for place, name in enumerate(NAMES)}

older_rows = partial(of_older_versions, "products")

Compared: TypeAlias = dict[str, Any]
"""Row of Tables 3 to 6; see :func:`compared`."""
Pairs: TypeAlias = dict[System, Compared]


@dataclass(frozen=True)
class TableSide:
    """Result of a method on one system, in one run or several."""

    runs: tuple[Points, ...]
    """Distinct points of each run."""
    correct: float
    """Percentage of valid products in the final population, averaged over the runs."""
    seconds: float
    """Seconds of all runs together."""

    @cached_property
    def points(self) -> Points:
        """Distinct points of all runs, including points that another run dominates."""
        return np.unique(np.vstack(self.runs), axis=0)

    @cached_property
    def vectors(self) -> Vectors:
        """Points as a set."""
        return as_set(self.points)


class ProductRows(PaperRows):
    """Rows by kind and system, and comparisons of SolRep with evolution; each comparison is computed once."""

    def __init__(self, rows: "pd.DataFrame") -> None:
        full = rows.reindex(columns=list(dict.fromkeys([*rows.columns, *COLUMNS])))
        full = full.astype(dict.fromkeys(WORDS, object))
        unordered = (full["method"] == CWMOIP) & (full["kind"] == "printed") & full["order"].isna()
        super().__init__(full.assign(order=full["order"].mask(unordered, BY_RANGE)))

    @once
    def by_system(self, kind: str, /, **wanted: Any) -> "dict[System, pd.DataFrame]":
        """Return the rows of a kind whose columns have the wanted values, by system."""
        groups = self.of_kind(kind, **wanted).groupby(["system", "number"], sort=False)
        found = {(str(name), int(number)): part for (name, number), part in groups}
        return {system: found[system] for system in sorted(found, key=lambda one: (_ORDER[one[0]], one[1]))}

    def evolved(self, method: str = "ibed") -> "dict[System, pd.DataFrame]":
        """Return the runs of an evolutionary method, by system."""
        return self.by_system("evolved", method=method)

    @once
    def side(self, system: System, method: str = "ibed") -> TableSide:
        """Return the result of an evolutionary method on a system."""
        return side_of(self.evolved(method)[system])

    @once
    def front(self, system: System) -> Vectors:
        """Return the complete front of a system."""
        return side_of(self.by_system("complete")[system].iloc[:1]).vectors

    @once
    def whole(self, system: System) -> "WholeBox | None":
        """Return the size and the box of the complete front of a system; None if it is unknown."""
        if system in self.by_system("complete"):
            points = self.points_of_front(system)
            box = box_of(points)
            assert box is not None, "each product line of the study has a product"
            return WholeBox(len(points), box, hypervolume(in_box(points, box), np.ones(len(box.low))))
        if system not in self.by_system("whole", ended=True):
            return None
        row = self.by_system("whole", ended=True)[system].iloc[0]
        box = Box(tuple(row["low"]), tuple(row["high"]))
        return WholeBox(int(row["n_points"]), box, float(row["hypervolume"]))

    @once
    def points_of_front(self, system: System) -> Points:
        """Return the points of the complete front of a small system."""
        return side_of(self.by_system("complete")[system].iloc[:1]).points

    def optimal(self, system: System, part: "pd.DataFrame") -> Vectors | None:
        """Return the points of some rows that are on the complete front; None if the front is unknown."""
        if system in self.by_system("complete"):
            return side_of(part).vectors & self.front(system)
        if self.whole(system) is None or part["optimal"].isna().any():
            return None
        return {
            tuple(points[place])
            for points, places in zip(part["points"], part["optimal"], strict=True)
            for place in places
        }

    @once
    def printed(self, system: System, order: str = BY_RANGE) -> dict[str, TableSide]:
        """Return the results of Algorithms 1 and 2 with all four objectives, if they finished.

        `order`: order of the objectives in Algorithm 2.
        """
        found = {}
        rows = self.of_kind("printed", system=system[0], number=system[1], objectives=4)
        for method, own in rows[rows["order"].fillna(order) == order].groupby("method"):
            if own["ended"].all() and len(own) == own["parts"].iloc[0]:
                points = np.array(sorted({tuple(point) for run in own["points"] for point in run}))
                front = points[nondominated_unique(points)]
                found[str(method)] = TableSide((front,), 100.0, float(own["seconds"].sum()))
        return found

    @once
    def beside(self, system: System, n_points: int, method: str = "ibed") -> Compared:
        """Return a comparison of SolRep with an evolutionary method's runs, with the numbers of both."""
        part = self.by_system("solrep")[system]
        part = part[part["reference_points"] == n_points]
        runs = self.evolved(method)[system]
        row = compared(side_of(part), self.side(system, method)) | {"runs": len(runs), "points": n_points}
        ours, theirs, whole = self.optimal(system, part), self.optimal(system, runs), self.whole(system)
        if ours is None or theirs is None or whole is None:
            return row | {"one origin": one_origin(part, runs)}
        return row | {
            "one origin": one_origin(part, runs), "A optimal": len(ours),
            "A unique optimal": len(ours - theirs),
            "B unique optimal": len(theirs - ours),
            "A HV of the front": side_volume(side_of(part), whole.box),
            "B HV of the front": side_volume(self.side(system, method), whole.box),
        }  # fmt: skip

    @once
    def pairs(self, method: str = "ibed") -> Pairs:
        """Return a comparison of each system as in Table 5.

        The comparison has the paper's number of reference points, or the nearest number measured.
        """
        evolved = self.evolved(method)
        nearest = {
            system: min(part["reference_points"].astype(int), key=lambda n: abs(n - points_of(system)))
            for system, part in self.by_system("solrep").items()
            if system in evolved
        }
        return {system: self.beside(system, int(n), method) for system, n in nearest.items()}

    def behind(self, pairs: Pairs, method: str = "ibed") -> "list[pd.DataFrame]":
        """Return the rows behind some comparisons."""
        found = []
        for system, row in pairs.items():
            part = self.by_system("solrep")[system]
            found += [part[part["reference_points"] == row["points"]], self.evolved(method)[system]]
        return found

    @once
    def fifty(self) -> Pairs:
        """Return a comparison of 50 reference points with the run of IBED of median size, by system."""
        found: Pairs = {}
        for system, part in self.by_system("solrep", reference_points=50).items():
            if system in self.evolved():
                runs = self.evolved()[system]
                sizes = runs["points"].map(len).to_numpy()
                middle = np.argsort(sizes, kind="stable")[(len(runs) - 1) // 2]
                row = compared(side_of(part), side_of(runs.iloc[[middle]]))
                found[system] = row | {
                    "runs": len(runs), "points": 50, "|N_B|": row["N_U(B)"] + row["|N_A ∩ N_B|"],
                    "one origin": one_origin(part, runs),
                }  # fmt: skip
        return found


@dataclass(frozen=True)
class WholeBox:
    """Extent of a complete front."""

    n_points: int
    box: Box
    hypervolume: float
    """Hypervolume of the front in its own box."""


def side_volume(side: TableSide, box: Box) -> float:
    """Return the hypervolume in a box, averaged over the runs with points."""
    corner = np.ones(len(box.low))
    return float(np.mean([hypervolume(in_box(run, box), corner) for run in side.runs if len(run)] or [0.0]))


def origin_of(part: "pd.DataFrame") -> set[tuple[str, str]]:
    """Return the processors and versions of rows; a row of today's run has no entry."""
    return set(zip(part["processor"].fillna("").astype(str), versions_of(part), strict=True))


def one_origin(*parts: "pd.DataFrame") -> bool:
    """Return whether seconds of rows can be compared: all rows are of one processor and version."""
    return len(set().union(*(origin_of(part) for part in parts))) <= 1


def points_of(system: System) -> int:
    """Return the number of reference points in the paper's Table 5."""
    return 1000 if system[0] in SPLOT else 1500


def compared(first: TableSide, second: TableSide) -> Compared:
    """Return a comparison of two methods, counted as in the paper.

    Indicators are scaled by the joint front.
    """
    pair = count_pair("A", "B", first.vectors, second.vectors)
    together = np.vstack([first.points, second.points])
    joint = together[nondominated_unique(together)] if len(together) else together
    (a_volume, a_spread, _), (b_volume, b_spread, b_margin) = (
        indicators(side, joint) for side in (first, second)
    )
    return {
        "A corr %": first.correct, "B corr %": second.correct, "A s": first.seconds, "B s": second.seconds,
        "A HV": a_volume, "B HV": b_volume, "A SP": a_spread, "B SP": b_spread,
        "|A|": pair.n_first, "|B|": pair.n_second, "|A ∩ B|": pair.n_common, "|N_A ∪ N_B|": pair.n_joint,
        "N_U(A)": pair.unique_first, "N_U(B)": pair.unique_second,
        "|N_A ∩ N_B|": pair.n_joint - pair.unique_first - pair.unique_second, "B HV ±": b_margin,
    }  # fmt: skip


def indicators(side: TableSide, joint: Points) -> tuple[float | None, float | None, float | None]:
    """Return mean hypervolume and mean spread over the runs with points, and the hypervolume's margin.

    The margin is at 95 %; None for one run.
    """
    box = box_of(joint)
    runs = [points for points in side.runs if len(points)]
    if box is None or not runs:
        return None, None, None
    reference, corner = in_box(joint, box), np.ones(len(box.low))
    inside = [in_box(points, box) for points in runs]
    found = np.array([(hypervolume(one, corner), spread(one, reference=reference)) for one in inside])
    volume, unevenness = found.mean(axis=0).tolist()
    return volume, unevenness, margin(found[:, 0]) if len(found) > 1 else None


def side_of(part: "pd.DataFrame") -> TableSide:
    """Return the runs of a method on a system; without evolution all results are products."""
    runs = [np.array(points, dtype=np.int64) for points in part["points"]]
    correct = part["correctness"].mean()
    return TableSide(
        tuple(run.reshape(-1, N_OBJECTIVES) for run in runs),
        100.0 if np.isnan(correct) else 100.0 * float(correct),
        float(part["seconds"].sum()),
    )


def label(system: System) -> str:
    """Return the name of a system as in the paper, such as ``JCS 1``."""
    return f"{NAMES[system[0]]} {system[1] + 1}"
