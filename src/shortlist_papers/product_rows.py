"""Rows measured for :cite:t:`Xue2018`, as its tables and the judges of its claims read them."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from shortlist.arrays import Points
from shortlist.pareto import hypervolume, nondominated_unique, spread
from shortlist_papers.claims import PaperRows, once
from shortlist_papers.front_quality import Vectors, as_set, box_of, count_pair, in_box
from shortlist_papers.product_runs import NAMES, System

if TYPE_CHECKING:
    import pandas as pd

N_OBJECTIVES = 4
SPLOT = ("jcs", "web-portal", "e-shop")
LVAT = ("ecos", "uclinux", "compact-linux")
"""Systems of the Linux variability analysis tools; the others are of SPLOT."""
COLUMNS = (
    "kind", "system", "number", "method", "seconds", "points", "said", "features", "same", "ended",
    "programs", "objectives", "part", "parts", "correctness", "reference_points", "unproved", "clock",
)  # fmt: skip
"""Columns that some units fill; an extent may have none of these units."""

Compared: TypeAlias = dict[str, Any]
"""A row of Tables 3 to 6; see :func:`compared`."""
Pairs: TypeAlias = dict[System, Compared]


@dataclass(frozen=True)
class TableSide:
    """Result of a method on one system, in one run or several."""

    runs: tuple[Points, ...]
    """The distinct points of each run."""
    correct: float
    """Mean percentage of valid products in what a run ended with."""
    seconds: float
    """All runs together."""

    @cached_property
    def points(self) -> Points:
        """The distinct points of all runs, those that another run dominates included."""
        return np.unique(np.vstack(self.runs), axis=0)

    @cached_property
    def vectors(self) -> Vectors:
        """The same as a set."""
        return as_set(self.points)


class ProductRows(PaperRows):
    """Rows by kind and system, and what SolRep and evolution found side by side; each is made once."""

    def __init__(self, rows: "pd.DataFrame") -> None:
        super().__init__(rows.reindex(columns=list(dict.fromkeys([*rows.columns, *COLUMNS]))))

    @once
    def by_system(self, kind: str, /, **wanted: Any) -> "dict[System, pd.DataFrame]":
        """Return the rows of a kind whose columns have the wanted values, system by system."""
        groups = self.of_kind(kind, **wanted).groupby(["system", "number"], sort=False)
        return {(str(name), int(number)): part for (name, number), part in groups}

    def evolved(self, method: str = "ibed") -> "dict[System, pd.DataFrame]":
        """Return the runs of an evolutionary method on each system."""
        return self.by_system("evolved", method=method)

    @once
    def side(self, system: System, method: str = "ibed") -> TableSide:
        """Return the finds of an evolutionary method on a system."""
        return side_of(self.evolved(method)[system])

    @once
    def front(self, system: System) -> Vectors:
        """Return the complete front of a system."""
        return side_of(self.by_system("complete")[system].iloc[:1]).vectors

    @once
    def printed(self, system: System) -> dict[str, TableSide]:
        """Return the finds of Algorithms 1 and 2 with all four objectives, where they finished."""
        found = {}
        for method, own in self.of_kind("printed", system=system[0], number=system[1], objectives=4).groupby(
            "method"
        ):
            if own["ended"].all() and len(own) == own["parts"].iloc[0]:
                points = np.array(sorted({tuple(point) for run in own["points"] for point in run}))
                front = points[nondominated_unique(points)]
                found[str(method)] = TableSide((front,), 100.0, float(own["seconds"].sum()))
        return found

    @once
    def beside(self, system: System, n_points: int, method: str = "ibed") -> Compared:
        """Compare SolRep with the runs of an evolutionary method; also how many runs and reference points."""
        part = self.by_system("solrep")[system]
        row = compared(side_of(part[part["reference_points"] == n_points]), self.side(system, method))
        return row | {"runs": len(self.evolved(method)[system]), "points": n_points}

    @once
    def pairs(self, method: str = "ibed") -> Pairs:
        """Compare each system as in Table 5: with the paper's number of reference points, or the nearest."""
        evolved = self.evolved(method)
        nearest = {
            system: min(part["reference_points"].astype(int), key=lambda n: abs(n - points_of(system)))
            for system, part in self.by_system("solrep").items()
            if system in evolved
        }
        return {system: self.beside(system, int(n), method) for system, n in nearest.items()}

    @once
    def fifty(self) -> Pairs:
        """Compare 50 reference points with the run of IBED that has the middle number of points."""
        found: Pairs = {}
        for system, part in self.by_system("solrep", reference_points=50).items():
            if system in self.evolved():
                runs = self.evolved()[system]
                sizes = runs["points"].map(len).to_numpy()
                middle = np.argsort(sizes, kind="stable")[(len(runs) - 1) // 2]
                row = compared(side_of(part), side_of(runs.iloc[[middle]]))
                found[system] = row | {
                    "runs": len(runs), "|N_B|": row["N_U(B)"] + row["|N_A ∩ N_B|"]
                }  # fmt: skip
        return found


def points_of(system: System) -> int:
    """Return the reference points of the paper's Table 5."""
    return 1000 if system[0] in SPLOT else 1500


def compared(first: TableSide, second: TableSide) -> Compared:
    """Return a row as the paper counts two methods; indicators are scaled by the joint front."""
    pair = count_pair("A", "B", first.vectors, second.vectors)
    together = np.vstack([first.points, second.points])
    joint = together[nondominated_unique(together)] if len(together) else together
    (a_volume, a_spread), (b_volume, b_spread) = (indicators(side, joint) for side in (first, second))
    return {
        "A corr %": first.correct, "B corr %": second.correct, "A s": first.seconds, "B s": second.seconds,
        "A HV": a_volume, "B HV": b_volume, "A SP": a_spread, "B SP": b_spread,
        "|A|": pair.n_first, "|B|": pair.n_second, "|A ∩ B|": pair.n_common, "|N_A ∪ N_B|": pair.n_joint,
        "N_U(A)": pair.unique_first, "N_U(B)": pair.unique_second,
        "|N_A ∩ N_B|": pair.n_joint - pair.unique_first - pair.unique_second,
    }  # fmt: skip


def indicators(side: TableSide, joint: Points) -> tuple[float | None, float | None]:
    """Return the means of hypervolume and spread over the runs that found something."""
    box = box_of(joint)
    runs = [points for points in side.runs if len(points)]
    if box is None or not runs:
        return None, None
    reference, corner = in_box(joint, box), np.ones(len(box.low))
    inside = [in_box(points, box) for points in runs]
    found = [(hypervolume(one, corner), spread(one, reference=reference)) for one in inside]
    volume, unevenness = np.mean(found, axis=0).tolist()
    return volume, unevenness


def side_of(part: "pd.DataFrame") -> TableSide:
    """Return the runs of a method on a system; methods that are not evolution find products only."""
    runs = [np.array(points, dtype=np.int64) for points in part["points"]]
    correct = part["correctness"].mean()
    return TableSide(
        tuple(run.reshape(-1, N_OBJECTIVES) for run in runs),
        100.0 if np.isnan(correct) else 100.0 * float(correct),
        float(part["seconds"].sum()),
    )


def label(system: System) -> str:
    """Name a system as the paper does, such as ``JCS 1``."""
    return f"{NAMES[system[0]]} {system[1] + 1}"
