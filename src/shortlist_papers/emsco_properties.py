"""Theorem 1 and Properties 2 and 3 of :cite:t:`Hamilton2022`, by brute force."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted
from shortlist.multistage.problem.stages import has_gaps, space_size
from shortlist.multistage.search.emsco import EmscoGeneration, EmscoOptions, emsco, score
from shortlist.runs import Budget
from shortlist_papers.claims import ClaimFinding, facts, needed
from shortlist_papers.emsco_rows import EmscoRows
from shortlist_papers.landscapes import paper_problem
from shortlist_papers.paper import ResultTable, Rows

if TYPE_CHECKING:
    import pandas as pd

LISTED_FEATURES = (4, 5, 6, 7)
"""Numbers of features whose assignments are listed one by one."""

GROWN_FEATURES = (10, 20, 40, 80)
"""Numbers of features at which the ratio of Theorem 1 is computed."""

STAGES = (2, 3, 4)

WHOLE_SPACES = (("pima", 2), ("pima", 3), ("heart", 2), ("credit", 2))
"""Sets and numbers of stages whose assignments are all measured for Property 3."""

EVERY = 5
"""Distance of the generations of a run that are compared pair by pair."""


def every_assignment(n_features: int, max_stages: int) -> NDArray[np.int8]:
    """Return all stage assignments without gaps, ``(n_assignments, n_features)``.

    >>> len(every_assignment(3, 2)), space_size(3, 2)
    (7, 7)
    """
    lists = itertools.product(range(max_stages), repeat=n_features)
    return np.array([one for one in lists if not has_gaps(one)], dtype=np.int8)


def measure_growth(*, budget: Budget) -> Rows:
    """Return rows with the number of stage assignments, counted from a list and by the formula.

    The formula is that of Eqs. 1 and 2. The rows also have the ratio of the number to k^n (Theorem 1).
    """
    del budget  # a second of work
    found: Rows = []
    for k in STAGES:
        for n in LISTED_FEATURES:
            listed = len(every_assignment(n, k))
            found.append(
                {"kind": "growth", "stages": k, "number": n, "listed": listed, "formula": space_size(n, k)}
            )
        for n in GROWN_FEATURES:
            found.append({"kind": "growth", "stages": k, "number": n, "ratio": space_size(n, k) / k**n})
    return found


def brute_force_ranks(merits: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return Pareto ranks by repeated removal of the non-dominated rows (Sec. 3.3.1), ``(n_rows,)``."""
    better = np.asarray((merits[:, None, :] >= merits[None, :, :]).all(axis=2))
    dominates = better & ~better.T
    levels, left, level = np.full(len(merits), -1, dtype=np.int64), np.ones(len(merits), dtype=bool), 0
    while left.any():
        front = left & ~dominates[left].any(axis=0)
        levels[front], level = level, level + 1
        left &= ~front
    return np.asarray(levels.max() - levels)


def broken_pairs(ranks: NDArray[np.int64], norms: NDArray[np.float64], fitness: NDArray[np.float64]) -> int:
    """Return the number of pairs that break Property 2.

    In a pair with different ranks, the higher rank must have the larger fitness; within a rank, the larger
    norm must have the larger fitness. Norms that differ by less than rounding are equal.
    """
    higher = ranks[:, None] > ranks[None, :]
    larger = (ranks[:, None] == ranks[None, :]) & (norms[:, None] > norms[None, :] * (1 + 1e-12))
    return int(((higher | larger) & ~(fitness[:, None] > fitness[None, :])).sum())


def measure_selection(folder: Path | None, name: str, options: EmscoOptions, *, budget: Budget) -> Rows:
    """Return a row on all pairs of chromosomes in generations of evolution (Property 2)."""
    problem = paper_problem(folder, name, max_stages=max(STAGES)).problem
    counts = {"generations": 0, "pairs": 0, "broken": 0, "ranks_off": 0}

    def look(generation: EmscoGeneration) -> None:
        if generation.number % EVERY:
            return
        ranks = brute_force_ranks(problem.merits(generation.measures))
        scores = generation.scores
        counts["generations"] += 1
        counts["pairs"] += len(ranks) * (len(ranks) - 1) // 2
        counts["broken"] += broken_pairs(ranks, scores.norms, scores.log_fitness)
        counts["ranks_off"] += int((ranks != scores.ranks).sum())

    emsco(problem, options, observe=look, budget=budget)
    return [{"kind": "selection", "set": name, **counts}]


def measure_fittest(folder: Path | None, name: str, stages: int, *, budget: Budget) -> Rows:
    """Return a row on the fittest of all assignments (Property 3).

    The row has the number of assignments that dominate the fittest one.
    """
    problem = paper_problem(folder, name, max_stages=stages).problem
    problem.decisions.subclassifiers.budget = budget
    measures = problem.measures(every_assignment(problem.n_features, stages))
    merits, fitness = problem.merits(measures), score(problem, measures).log_fitness
    fittest = np.unique(merits[fitness == fitness.max()], axis=0)
    dominating = sum(int(((merits >= one).all(axis=1) & (merits > one).any(axis=1)).sum()) for one in fittest)
    return [
        {
            "kind": "fittest", "set": name, "stages": stages, "assignments": len(measures),
            "vectors": len(fittest), "dominating": dominating,
        }
    ]  # fmt: skip


def property_table(rows: "pd.DataFrame") -> list[ResultTable]:
    """Return the counts for Theorem 1 and Properties 2 and 3 as a table; empty without their rows."""
    made = EmscoRows.of(rows)
    found: Rows = []
    for k, part in made.of_kind("growth").groupby("stages") if len(made.of_kind("growth")) else ():
        listed, ratios = part[part["listed"].notna()], part[part["ratio"].notna()]
        found.append(
            {
                "property": "Theorem 1", "of": f"k = {int(k)}", "compared": len(listed),
                "broken": int((listed["listed"] != listed["formula"]).sum()),
                "ratio to k^n": f"{ratios['ratio'].min():.4f} to {ratios['ratio'].max():.8f}",
            }
        )  # fmt: skip
    for row in made.of_kind("selection").to_dict("records"):
        found.append(
            {"property": "Property 2", "of": f"{row['set']}, k = {max(STAGES)}, pairs",
             "compared": int(row["pairs"]), "broken": int(row["broken"])}
        )  # fmt: skip
    for row in made.of_kind("fittest").to_dict("records"):
        found.append(
            {"property": "Property 3", "of": f"{row['set']}, k = {int(row['stages'])}, assignments",
             "compared": int(row["assignments"]), "broken": int(row["dominating"])}
        )  # fmt: skip
    if not found:
        return []
    columns = ("property", "of", "compared", "broken", "ratio to k^n")
    return [
        ResultTable(
            "properties", "Theorem 1, Properties 2 and 3, by brute force",
            [{column: row.get(column) for column in columns} for row in found],
            "Spaces are listed assignment by assignment; ranks are made by taking non-dominated chromosomes "
            "away again and again.",
        )
    ]  # fmt: skip


def growth(rows: EmscoRows) -> ClaimFinding:
    """Judge whether the count equals the formula, and its ratio to k^n approaches 1."""
    part = needed(rows.of_kind("growth"))
    listed = part[part["listed"].notna()]
    ratios = {
        int(k): one["ratio"].to_numpy(float) for k, one in part[part["ratio"].notna()].groupby("stages")
    }
    nearer = [
        bool((np.diff(np.abs(one - 1)) < 0).all() and abs(one[-1] - 1) < 0.01) for one in ratios.values()
    ]
    return ClaimFinding(
        f"ratio {min(one[0] for one in ratios.values()):.3f} at {min(GROWN_FEATURES)} features, "
        f"{min(one[-1] for one in ratios.values()):.6f} at {max(GROWN_FEATURES)}",
        facts([(listed["listed"] == listed["formula"]).all(), *nearer]),
        f"k of 2 to 4; {counted(len(listed), 'space')} listed one by one have the number of Eqs. 1 and 2",
    )


def selection(rows: EmscoRows) -> ClaimFinding:
    """Judge whether no pair of chromosomes breaks Property 2."""
    part = needed(rows.of_kind("selection"))
    return ClaimFinding(
        f"{part['broken'].sum():,.0f} of {part['pairs'].sum():,.0f} pairs break it",
        facts((part["broken"] == 0) & (part["ranks_off"] == 0)),
        f"all pairs of {counted(int(part['generations'].sum()), 'generation')} of "
        f"{counted(len(part), 'set')}, "
        "ranks by brute force",
    )


def fittest(rows: EmscoRows) -> ClaimFinding:
    """Judge whether no assignment dominates the fittest one."""
    part = needed(rows.of_kind("fittest"))
    return ClaimFinding(
        f"{part['dominating'].sum():,.0f} of {part['assignments'].sum():,.0f} assignments dominate it",
        facts(part["dominating"] == 0),
        f"{counted(len(part), 'complete space')}, measured one by one",
    )
