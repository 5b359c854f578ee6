"""What `shortlist compare` tells of pruning methods, as JSON and for people."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist._words import all_of
from shortlist.cli.text.output import json_records

if TYPE_CHECKING:
    import pandas as pd

MEANING = (
    "mean rank over the folds of one table, 1 is best, ties share ranks; folds share rows, so ranks over "
    "them show no significant difference: that takes several tables"
)


@dataclass(frozen=True)
class PruningComparison:
    """Methods that were measured in the folds of one table.

    Attributes
    ----------
    table : str
        What the table is called.
    results, ranked : DataFrame
        A row per fold and method, and a row per method.
    n_wanted : int
        Folds that were asked for.
    n_classifiers : int
        Size of the pools, which were fitted in every fold.
    n_judges : int
        Judges that were chosen from instead; 0 where pools were fitted.
    seconds : float
        What the comparison took.
    """

    table: str
    results: "pd.DataFrame"
    ranked: "pd.DataFrame"
    n_wanted: int
    n_classifiers: int
    n_judges: int
    seconds: float

    @property
    def n_done(self) -> int:
        """Folds in which every method was measured."""
        return int(self.ranked["n_folds"].iloc[0])


def pruning_comparison_facts(
    found: PruningComparison, out: Path | None, study: Path | None
) -> dict[str, Any]:
    """Return the contract of every command, and what only a comparison has."""
    from shortlist.papers.pruning_comparison import best_singles

    return {
        "command": "compare",
        "method": "comparison",
        "status": "feasible",
        "seconds": found.seconds,
        "limit": "interrupted" if found.n_done < found.n_wanted else "",
        "table": found.table,
        "n_folds": found.n_done,
        "n_folds_wanted": found.n_wanted,
        "ranks": MEANING,
        "methods": json_records(found.ranked),
        "best_single": best_singles(found.results),
        "folds": json_records(found.results),
        "out": None if out is None else str(out),
        "study": None if study is None else str(study),
    }


def limit_notes(results: "pd.DataFrame") -> list[str]:
    """Say which methods have no rank because their committees cost too much, if there are such."""
    from shortlist.papers.ranks import over_limit

    over = over_limit(results)
    if not over:
        return []
    told = (
        f"{all_of(over)} cost more than `max_cost` in some fold: they have no rank, and stand last. "
        "best-single is the best of those within the limit."
    )
    return [told]


def print_pruning_comparison(found: PruningComparison, out: Path | None) -> None:
    """Print the table for people."""
    from shortlist.papers.pruning_comparison import best_singles_text

    if found.n_done < found.n_wanted:
        print(f"Stopped after {found.n_done} of {found.n_wanted} folds.")
    pools = f"pools of {found.n_classifiers} classifiers; the same pool for every method of a fold"
    if found.n_judges:
        pools = f"{found.n_judges} judges; the same rows choose for every method of a fold"
    print(f"{found.table}: {found.n_done} folds, {pools}.")
    print()
    priced = "cost" in found.ranked
    cost = f"{'cost':>10}" if priced else ""
    print(f"{'method':<20}{'rank':>6}{'accuracy':>10}{'±':>8}{'balanced':>10}{'size':>7}{cost}{'seconds':>9}")
    for row in found.ranked.fillna({"accuracy_deviation": 0.0, "size": 0.0}).itertuples():
        rank = "-" if math.isnan(row.rank) else f"{row.rank:.2f}"
        cost = f"{row.cost:>10.4g}" if priced else ""
        print(
            f"{row.method:<20}{rank:>6}{row.accuracy:>10.4f}{row.accuracy_deviation:>8.4f}"
            f"{row.balanced_accuracy:>10.4f}{row.size:>7.1f}{cost}{row.seconds:>9.3f}"
        )
    print()
    if single := best_singles_text(found.results):
        print(single)
    print(f"Rank: {MEANING}.")
    print("±: standard deviation over the folds. Seconds: choosing alone, without the pool.")
    if out is not None:
        print(f"Every fold in {out}.")
