"""Panels beside what everybody can do by hand: majority, Dawid and Skene's model, and the best single judge.

python -m benchmarks panel-rivals --data FOLDER

FOLDER holds the tables of judges, as for the study `panels`. Each of five parts of a log measures the most accurate
policies that the other four chose, for at most the price of each rival. All answers of all cases, without any truth, fit
Dawid and Skene's model; the best single judge is chosen on the same four parts as the policies.
"""

import csv
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.rows import RESULTS
from benchmarks.studies.panel_families import SERVICES, read_mmlupro
from benchmarks.studies.panels import Chosen, crowd_log, read_llmbar, read_services
from shortlist.arrays import Floats
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.decisions import confidence_scale, heard
from shortlist.panels.learning import fit_dawid_skene, folds_of
from shortlist.panels.panel_options import PanelOptions, cases_of, fully_asked
from shortlist.panels.search import find_policies
from shortlist.runs.budget import Budget

CROWDS = ("bluebird", "dog", "product", "rte", "sentiment", "web")
N_PARTS = 5
MAJORITY, MODEL, SINGLE = "majority", "dawid-skene", "best single judge"
ROWS = "panel-rivals.csv"


def panel_rivals(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield for each log and rival by how much the policies are more accurate for its price; a log that is done stays."""
    path = RESULTS / ROWS
    done: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(path.open()) if path.exists() else ():
        done.setdefault(row["data"], []).append(row)
    for name, log in logs(folder):
        yield from done.get(name) or beside_rivals(name, log)


def logs(folder: Path) -> Iterator[tuple[str, AnswerLog]]:
    """Yield the logs, by name, the small ones first."""
    yield "fifteen", read_fifteen(folder)
    yield "llmbar", read_llmbar(folder)
    for name in ("bluebird", "dog", "rte", "sentiment", "web"):
        yield f"crowd-{name}", crowd_log(folder, name)
    yield "mmlupro", read_mmlupro(folder)
    for name in sorted(SERVICES):
        yield name, read_services(folder, name)
    yield "crowd-product", crowd_log(folder, "product")


def read_fifteen(folder: Path) -> AnswerLog:
    """Read fifteen independent judges, each right in 60 % of the cases."""
    table = pd.read_csv(folder / "cases" / "fifteen.csv")
    prices = dict(pd.read_csv(folder / "cases" / "fifteen-prices.csv").to_numpy().tolist())
    said, measures = table[list(prices)].to_numpy(object), Measures(prices=[*prices.values()])
    return make_log(
        list(prices), table["id"].astype(str), said, table["target"].to_numpy(), measures=measures
    )


def beside_rivals(name: str, log: AnswerLog) -> Iterator[dict[str, Any]]:
    """Yield by how much policies are more accurate than each rival, for at most its price."""
    known, _ = fully_asked(log)
    part_of, n = folds_of(known, N_PARTS, 0), len(known.truth)
    judges = tuple(range(len(known.judges)))
    answers = heard(known, confidence_scale(known))
    model = fit_dawid_skene(judges, answers, np.full(n, -1)).decide(answers)
    right = {MAJORITY: _majority_right(known), MODEL: (model.codes == known.truth).astype(np.float64)}
    right[SINGLE] = np.empty(n)
    own = {rival: np.empty(n) for rival in right}
    paid = {rival: np.empty(n) for rival in right}
    start = time.process_time()
    for part in range(N_PARTS):
        rows, rest = np.flatnonzero(part_of == part), np.flatnonzero(part_of != part)
        chosen = _chosen(known.at(rest), known.at(rows))
        best = int((chosen.train.answers == chosen.train.truth[:, None]).mean(axis=0).argmax())
        right[SINGLE][rows] = known.answers[rows, best] == known.truth[rows]
        every = float(chosen.train.paid.sum(axis=1).mean())
        budgets = {MAJORITY: every, MODEL: every, SINGLE: float(chosen.train.paid[:, best].mean())}
        for rival, budget in budgets.items():
            outcome = chosen.panel(chosen.within(budget)).run(chosen.test)
            own[rival][rows], paid[rival][rows] = outcome.right(chosen.test), outcome.price
    seconds = (time.process_time() - start) / N_PARTS
    for rival, theirs in right.items():
        gains = own[rival] - theirs
        yield {
            "data": name, "n_cases": n, "n_judges": len(judges), "rival": rival,
            "accuracy_of_rival": float(theirs.mean()), "accuracy": float(own[rival].mean()),
            "difference": float(gains.mean()), "error": float(gains.std(ddof=1) / np.sqrt(n)),
            "price": float(paid[rival].mean()), "seconds": seconds,
            "reach": -0.005, "reached": bool(gains.mean() >= -0.005),
        }  # fmt: skip


def _majority_right(log: AnswerLog) -> Floats:
    """Return the chance that the majority of all is right about each case, ties decided at random."""
    counts: NDArray[np.int64] = (log.answers[:, :, None] == np.arange(len(log.classes))).sum(axis=1)
    most = counts.max(axis=1)
    wins = (counts == most[:, None]) & (most[:, None] > 0)
    own = wins[np.arange(len(wins)), log.truth]
    return np.asarray(own / np.maximum(1, wins.sum(axis=1)))


def _chosen(train: AnswerLog, test: AnswerLog) -> Chosen:
    scale = confidence_scale(train)
    cases, steps = cases_of(train, scale, PanelOptions())
    return Chosen(train, test, scale, cases, steps, find_policies(cases, max_stages=3, budget=Budget()).found)
