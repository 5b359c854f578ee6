"""EMSCO: fronts, recall, the authors' example and the opponents, as :cite:t:`Hamilton2022` measured."""

import dataclasses
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shortlist.multistage.baselines.budgeted_classifier import aggregate
from shortlist.multistage.presets import PRESETS
from shortlist.multistage.recall import recall
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.reproduce.paper import Extent, Paper, Plan, ResultTable, Rows, fingerprints, sets_of
from shortlist.reproduce.stage_opponents import (
    ALL_METHODS,
    SYNTHETIC30,
    OpponentsSize,
    opponent_units,
    stage_means,
    sums_of_measures,
)
from shortlist.reproduce.stage_problems import (
    PAPER_EXAMPLE,
    SETS,
    example_is_there,
    measure_example,
    paper_problem,
)
from shortlist.runs import NO_STUDY, Budget, Unit

if TYPE_CHECKING:
    import pandas as pd

PAPER_FRONTS = {
    ("heart", 2): 24, ("heart", 3): 28, ("heart", 4): 33,
    ("credit", 2): 47, ("credit", 3): 141, ("credit", 4): 171,
    ("pima", 2): 18, ("pima", 3): 42, ("pima", 4): 65,
}  # fmt: skip
"""Solutions on the paper's complete fronts, by set and number of stages."""

STEPS = 10
"""Parts of the generations after which recall is told."""


@dataclass(frozen=True)
class EmscoSize:
    """How much is measured.

    Attributes
    ----------
    sets : tuple of str
        Of :data:`SETS`.
    stages : tuple of int
        k.
    splits : int
        Splits of every set, by seed.
    recall_seeds, population, generations : int
        Runs of evolution beside the complete front of the most stages.
    levels : tuple of float
        Confidences of the authors' example.
    example_seeds, example_generations : int
        Runs of it.
    opponents : OpponentsSize
        What is compared on new rows.
    """

    sets: tuple[str, ...]
    stages: tuple[int, ...]
    splits: int
    recall_seeds: int
    population: int
    generations: int
    levels: tuple[float, ...]
    example_seeds: int
    example_generations: int
    opponents: OpponentsSize


PAPER_SIZE = EmscoSize(
    tuple(SETS), (2, 3, 4), 5, 100, 300, 500, tuple(PAPER_EXAMPLE), 10, 150,
    OpponentsSize((*SETS, SYNTHETIC30), ALL_METHODS, 50),
)  # fmt: skip
SMALL_SIZE = EmscoSize(
    ("pima", "heart"), (2, 3), 1, 3, 300, 100, (0.6, 0.8, 0.95), 1, 60,
    OpponentsSize(
        ("pima", "heart", SYNTHETIC30), ("emsco", "greedy-miser", "astc", "co-t", "single"), 3, 50, 15
    ),
)  # fmt: skip


SIZES = {
    "small": SMALL_SIZE,
    "medium": dataclasses.replace(
        PAPER_SIZE,
        splits=2,
        recall_seeds=10,
        opponents=dataclasses.replace(PAPER_SIZE.opponents, seeds=5),
    ),
    "paper": PAPER_SIZE,
}
"""How much each scale measures."""


def size_of(extent: Extent) -> EmscoSize:
    """Return how much an extent measures."""
    size = SIZES[extent.scale]
    return dataclasses.replace(
        size, sets=extent.of(size.sets), recall_seeds=extent.seeds or size.recall_seeds
    )


def plan_emsco(folder: Path | None, size: EmscoSize) -> Plan:
    """Return units for fronts and recall of every set that is there, the example and the opponents."""
    wanted = dict.fromkeys((*size.sets, *(name for name in size.opponents.tables if name != SYNTHETIC30)))
    tables, missing = sets_of([SETS[name] for name in wanted], folder)
    there = [name for name in wanted if SETS[name] in tables]
    units = []
    for name in [name for name in there if name in size.sets]:
        for split in range(size.splits):
            units += [
                Unit(
                    f"front/{name}/{stages}/{split}", measure_front, (folder, name, stages, split),
                    kind=f"front/{name}/{stages}",
                )
                for stages in size.stages
            ]  # fmt: skip
            units.append(
                Unit(
                    f"recall/{name}/{split}", measure_recall, (folder, name, split, size),
                    kind=f"recall/{name}", size=size.recall_seeds,
                )
            )  # fmt: skip
    notes = list(missing)
    if folder is not None and example_is_there(folder):
        units += [
            Unit(
                f"example/{level:g}", measure_level, (folder, level, size),
                kind="example", size=size.example_seeds,
            )
            for level in size.levels
        ]  # fmt: skip
    else:
        notes.append(
            "emsco-example is missing: the authors' splits go into a folder, which folder='FOLDER' names, as "
            "emsco-example/."
        )
    compared, left_out = opponent_units(folder, there, size.opponents)
    units += compared
    notes += left_out
    settings = dataclasses.asdict(size) | fingerprints(tables)
    return Plan(tuple(units), settings, tuple(notes))


def measure_front(folder: Path | None, name: str, stages: int, split: int, *, budget: Budget) -> Rows:
    """Enumerate every stage assignment."""
    _compile(folder, name)
    problem = paper_problem(folder, name, max_stages=stages, split=split, n_jobs=1)
    found = enumerate_front(problem, workers=1, budget=dataclasses.replace(budget.begun(), study=NO_STUDY))
    return [
        {
            "kind": "front", "set": name, "stages": stages, "split": split, "points": len(found.measures),
            "assignments": int(found.n_tied.sum()), "looked": int(found.n_looked),
            "seconds": float(found.seconds),
        }
    ]  # fmt: skip


@functools.cache
def _compile(folder: Path | None, name: str) -> None:
    """Compile the kernels outside the clock, on assignments of one stage."""
    enumerate_front(paper_problem(folder, name, max_stages=1, n_jobs=1), workers=1)


def measure_recall(folder: Path | None, name: str, split: int, size: EmscoSize, *, budget: Budget) -> Rows:
    """Compare evolution with the complete front, a row per tenth of its generations."""
    truth = enumerate_front(
        paper_problem(folder, name, max_stages=max(size.stages), split=split, n_jobs=1),
        workers=1,
        budget=dataclasses.replace(budget, study=NO_STUDY),
    )
    options = dataclasses.replace(
        PRESETS[name].options, population=size.population, generations=size.generations, patience=None
    )
    found = recall(truth, options, seeds=range(size.recall_seeds), budget=budget)
    if budget.stopped:
        return []
    return [
        {
            "kind": "recall", "set": name, "split": split, "stages": max(size.stages),
            "generation": step * size.generations // STEPS, "seeds": size.recall_seeds,
            "points": float(found.points[:, step * size.generations // STEPS].mean()),
            "assignments": float(found.assignments[:, step * size.generations // STEPS].mean()),
        }
        for step in range(STEPS + 1)
    ]  # fmt: skip


def measure_level(folder: Path, level: float, size: EmscoSize, *, budget: Budget) -> Rows:
    """Run the authors' example at one confidence."""
    measured = measure_example(
        folder,
        level,
        seeds=size.example_seeds,
        population=size.population,
        generations=size.example_generations,
        budget=budget,
    )
    return [{"kind": "example", "level": level, "seeds": size.example_seeds, **measured}]


def emsco_tables(rows: "pd.DataFrame") -> list[ResultTable]:
    """Return fronts, recall and the example beside published figures, and the opponents."""
    kinds = dict(list(rows.groupby("kind", sort=False)))
    tables = []
    if "front" in kinds:
        tables.append(_fronts(kinds["front"]))
    if "recall" in kinds:
        tables.append(_recall(kinds["recall"]))
    if "example" in kinds:
        tables.append(_example(kinds["example"]))
    if "opponents" in kinds:
        tables.append(sums_of_measures(kinds["opponents"]))
    if "feature" in kinds:
        tables.append(stage_means(kinds["feature"]))
    return tables


def _fronts(rows: "pd.DataFrame") -> ResultTable:
    found: Rows = []
    for (name, stages), part in rows.groupby(["set", "stages"], sort=False):
        found.append(
            {
                "set": name, "stages": int(stages), "splits": len(part),
                "points": _range(part["points"]), "assignments": _range(part["assignments"]),
                "paper's solutions": PAPER_FRONTS.get((str(name), int(stages))),
                "seconds": round(float(part["seconds"].median()), 3),
            }
        )  # fmt: skip
    note = "Points are different vectors of objectives; assignments count those that share one."
    return ResultTable("fronts", "Complete fronts, as in Figure 7", found, note)


def _recall(rows: "pd.DataFrame") -> ResultTable:
    found: Rows = []
    for (name, generation), part in rows.groupby(["set", "generation"], sort=False):
        found.append(
            {
                "set": name, "generation": int(generation), "runs": int(part["seeds"].sum()),
                "points %": round(100 * float(part["points"].mean()), 1),
                "assignments %": round(100 * float(part["assignments"].mean()), 1),
            }
        )  # fmt: skip
    return ResultTable("recall", "What evolution finds of the complete front, by generation", found)


def _example(rows: "pd.DataFrame") -> ResultTable:
    found: Rows = []
    for row in rows.sort_values("level", kind="stable").to_dict("records"):
        accuracy, coverage, cost = PAPER_EXAMPLE[float(row["level"])]
        theirs = {"accuracy": accuracy, "coverage": coverage, "cost": cost}
        theirs["aggregate"] = round(aggregate(coverage, accuracy, cost / float(row["total"])), 4)
        ours = {name: round(float(row[name]), 4) for name in theirs}
        found.append({"confidence": float(row["level"]), "whose": "here", **ours})
        found.append({"confidence": float(row["level"]), "whose": "authors", **theirs})
    note = "The aggregate is accuracy + coverage + 1 - cost / sum of all costs."
    return ResultTable("example", "The authors' example, on its test rows", found, note)


def _range(values: "pd.Series[int]") -> str:
    """Say the least and the most of some numbers."""
    low, high = int(values.min()), int(values.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


EMSCO = Paper(
    "emsco",
    "Hamilton and Fulp (2022): multi-stage classifiers by evolution",
    lambda folder, extent: plan_emsco(folder, size_of(extent)),
    emsco_tables,
    {"fronts": "complete fronts", "recall": "Figure 7"},
    tuple(SETS),
    frozenset({"seeds"}),
    (
        "The paper's splits are not public, so sizes of fronts need not be its own.",
        "The costs of Heart and Credit are 10^T here, where the paper prints 10Ti.",
        (
            "The opponents are compared on splits of several seeds, where the paper ran EMSCO 50 times "
            "on one; LightGBM, L1 paths and the exact front are not in the paper."
        ),
        (
            "The authors' program differs from the paper in its draws of mutations and in rounding; here the "
            "paper is followed."
        ),
    ),
)
