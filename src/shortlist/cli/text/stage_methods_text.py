"""What `shortlist stage` tells of opponents: one alone, and several methods side by side."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.text.output import json_records

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.multistage.holdout import StagedMeasure
    from shortlist.papers.opponents.budgeted_classifier import BudgetedClassifier

SUM = "coverage + accuracy + 1 - cost / price of all features, as in Figure 12 of the paper"
MARGINS = (
    "95 % margins over the splits, which share rows: they tell how much the split matters on this table, "
    "and not what another table would show"
)


@dataclass(frozen=True)
class StageComparison:
    """Methods that were measured on several splits of one table.

    Attributes
    ----------
    table : str
        What the table is called.
    results, means : DataFrame
        A row per split and method, and a row per method.
    n_wanted : int
        Splits that were asked for.
    seconds : float
        What the comparison took.
    """

    table: str
    results: "pd.DataFrame"
    means: "pd.DataFrame"
    n_wanted: int
    seconds: float

    @property
    def n_done(self) -> int:
        """Splits on which every method was measured."""
        return int(self.means["n_seeds"].iloc[0])


def opponent_facts(
    name: str,
    opponent: "BudgetedClassifier",
    test: "StagedMeasure",
    counts: dict[str, int],
    seconds: float,
) -> dict[str, Any]:
    """Return the contract of every command, and what is known of one opponent."""
    import numpy as np

    costs = opponent.costs_
    alone = costs.price(np.eye(len(costs.names), dtype=bool)) / costs.scale
    judged = max(opponent.tuning_, key=lambda each: each["aggregate"])
    return {
        "command": "stage",
        "method": name,
        "status": "feasible",
        "seconds": seconds,
        "settings": opponent.settings_,
        "n_settings": len(opponent.tuning_),
        "validation": {measure: judged[measure] for measure in ("coverage", "accuracy", "cost", "aggregate")},
        "costs": dict(zip(costs.names, alone.tolist(), strict=True)),
        "total_cost": costs.total / costs.scale,
        "rows": counts,
        "test": {name: test.as_dict()},
        "out": None,
    }


def print_opponent(facts: dict[str, Any], out: Path | None) -> None:
    """Print the answer for people."""
    name, counts = facts["method"], facts["rows"]
    print(
        f"{counts['train']} rows to fit, {counts['validation']} to choose settings, {counts['test']} to test."
    )
    settings = ", ".join(f"{key} {value:g}" for key, value in facts["settings"].items())
    print(f"{name}: {facts['n_settings']} settings tried" + (f", kept: {settings}." if settings else "."))
    print()
    print(f"{'on the rows of':<18}{'coverage':>10}{'accuracy':>10}{'cost':>12}{'sum':>8}")
    for rows, measured in (("validation", facts["validation"]), ("test", facts["test"][name])):
        print(
            f"{rows:<18}{measured['coverage']:>10.4f}{measured['accuracy']:>10.4f}"
            f"{measured['cost']:>12.4g}{measured['aggregate']:>8.3f}"
        )
    print(f"\nSum: {SUM}. Price of all features: {facts['total_cost']:g}.")
    if out is not None:
        print(f"Model saved to {out}; use it with: shortlist predict {out} NEW.csv --explain")


def compared_facts(found: StageComparison, out: Path | None, study: Path | None) -> dict[str, Any]:
    """Return the contract of every command, and what only a comparison has."""
    return {
        "command": "compare",
        "method": "comparison",
        "status": "feasible",
        "seconds": found.seconds,
        "limit": "interrupted" if found.n_done < found.n_wanted else "",
        "table": found.table,
        "n_seeds": found.n_done,
        "n_seeds_wanted": found.n_wanted,
        "sum": SUM,
        "margins": MARGINS,
        "methods": json_records(found.means),
        "splits": json_records(found.results),
        "out": None if out is None else str(out),
        "study": None if study is None else str(study),
    }


def print_compared(found: StageComparison, out: Path | None) -> None:
    """Print the table for people."""
    if found.n_done < found.n_wanted:
        print(f"Stopped after {found.n_done} of {found.n_wanted} splits.")
    print(f"{found.table}: {found.n_done} splits 50 : 25 : 25; the same for every method.")
    print()
    print(
        f"{'on the test rows':<18}{'sum':>7}{'±':>7}{'coverage':>10}{'accuracy':>10}"
        f"{'cost':>11}{'±':>9}{'seconds':>9}"
    )
    for row in found.means.itertuples():
        print(
            f"{row.method:<18}{row.aggregate:>7.3f}{_margin(row.aggregate_margin, 3):>7}{row.coverage:>10.4f}"
            f"{row.accuracy:>10.4f}{row.cost:>11.4g}{_margin(row.cost_margin, 2):>9}{row.seconds:>9.3f}"
        )
    print()
    print(f"Sum: {SUM}.")
    print(f"±: {MARGINS}.")
    print("Seconds: of the processor, for fitting and choosing.")
    if out is not None:
        print(f"Every split in {out}.")


def _margin(value: float, places: int) -> str:
    return "" if math.isnan(value) else f"{value:.{places}f}"
