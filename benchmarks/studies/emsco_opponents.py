"""EMSCO against its opponents on the paper's four tables (Figures 8 to 13), a split per seed.

python -m benchmarks emsco-opponents --data FOLDER [--seeds 50]

Every seed of every table and method is a unit of the study `out/emsco-opponents.db`, so that a run that was killed goes
on from there. Ctrl-C ends it with the splits that are finished. A fit of EMSCO on Synthetic30, the last table, takes a
minute of the processor, and most others a second.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from shortlist.multistage.stage_comparison import with_margins
from shortlist.reproduce.paper import Plan, fingerprints, reproduce, sets_of
from shortlist.reproduce.papers import PAPERS
from shortlist.reproduce.stage_opponents import ALL_METHODS, SYNTHETIC30, OpponentsSize, opponent_units
from shortlist.reproduce.stage_problems import SETS
from shortlist.runs import Work, open_study
from shortlist.runs.cancellation import cancel_on_interrupt

TABLES = (*SETS, SYNTHETIC30)
OUT = Path(__file__).parents[2] / "out"


def emsco_opponents(
    folder: Path, *, seeds: int = 50, tables: tuple[str, ...] = TABLES, out: Path = OUT
) -> Iterator[dict[str, Any]]:
    """Yield the mean of every method on every table, then the stages of EMSCO's features by cost class."""
    out.mkdir(exist_ok=True)
    found, missing = sets_of([SETS[name] for name in tables if name != SYNTHETIC30], folder)
    if missing:
        raise FileNotFoundError(" ".join(missing))
    units, _ = opponent_units(folder, tables, OpponentsSize(tables, ALL_METHODS, seeds))
    plan = Plan(tuple(units), fingerprints(found))
    with open_study(out / "emsco-opponents.db") as study, cancel_on_interrupt() as cancellation:
        measured = reproduce(PAPERS["emsco"], plan, Work(study=study, cancellation=cancellation)).rows
    for name, rows in measured.groupby("set", sort=False):
        whole = _whole_splits(rows)
        yield from _means(str(name), whole[whole["kind"] == "opponents"])
        yield from _stages(str(name), whole[(whole["kind"] == "feature") & (whole["method"] == "emsco")])


def _whole_splits(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the splits on which every method was measured."""
    methods = rows.groupby("seed")["method"].nunique()
    return rows[rows["seed"].isin(methods.index[methods == methods.max()])]


def _means(name: str, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the mean of every method on one table."""
    for row in with_margins(rows).to_dict("records"):
        yield {"case": "emsco-opponents", "data": name, "total_cost": int(rows["total"].iloc[0])} | row


def _stages(name: str, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the mean stage of each feature in EMSCO's fittest chromosomes (Figure 13), cheapest first."""
    for (price, feature), part in rows.groupby(["price", "feature"], sort=True):
        yield {"case": "emsco-stages", "data": name, "method": feature, "cost": int(price),
               "stage": round(float(part["stage"].mean()), 3), "n_seeds": len(part)}  # fmt: skip
