"""Finds of the search for a promise, and the rate of broken promises: whole searches, drawn again and again.

python -m benchmarks panel-promises --data FOLDER

FOLDER holds the answers of services, as for the study of panels; the other logs are made. A draw takes some cases of a population, searches, and counts what the panel that the command would write does on
the whole population. One of the made logs is hard: all panels are just too bad, and some look good by luck.
"""

import csv
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.rows import RESULTS
from benchmarks.studies.panels import read_services
from shortlist.cli.options.panel_options import PolicyOptions, picked
from shortlist.guarantees.guarantee import Demand
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import choose_panels
from shortlist.panels.figures import figures
from shortlist.panels.panel_options import PanelOptions

N_DRAWS = 300
N_CASES = 20_000
DEMAND = Demand(0.95, 0.95)
PICKS = ("one-se", "best")
MEASURES = ("answered", "price", "right", "low", "high")
DRAWS = "panel-promise-draws.csv"
"""Every draw, so that a study that was stopped goes on."""
COLUMNS = ("data", "draw", "pick", "seconds", *MEASURES)


class Population(NamedTuple):
    """A population, how many cases a draw takes, and what the step asks for: draws with a promise, and answered."""

    log: AnswerLog
    n_drawn: int
    demand: Demand = DEMAND
    promised: float | None = None
    answered: float | None = None


def made_log(n_judges: int, best: float, *, n_classes: int = 4, seed: int = 0) -> AnswerLog:
    """Return answers whose errors correlate: cases are hard for all, and judges of one family fail together.

    Wrong answers are the same in half of the cases. Prices rise from 0.2 to 12. `best`: how skilful the
    dearest judge is; 1.1 is right in about 82 %, and 1.5 in about 89 % of the cases.
    """
    rng = np.random.default_rng(seed)
    truth, hard = rng.integers(0, n_classes, N_CASES), rng.normal(0, 1, (N_CASES, 1))
    family = rng.normal(0, 1, (N_CASES, 3))[:, rng.integers(0, 3, n_judges)]
    skill = np.linspace(0.3, best, n_judges)
    margin = skill - 0.8 * hard + 0.6 * family + 0.7 * rng.normal(0, 1, (N_CASES, n_judges))
    common, own = rng.integers(1, n_classes, (N_CASES, 1)), rng.integers(1, n_classes, (N_CASES, n_judges))
    off = np.where(rng.random((N_CASES, n_judges)) < 0.5, common, own)
    said = np.where(margin > 0, truth[:, None], (truth[:, None] + off) % n_classes)
    return _made(truth, said, np.round(np.geomspace(0.2, 12, n_judges), 2))


def hard_log(*, seed: int = 0) -> AnswerLog:
    """Return answers of ten judges who say the same if they say anything, and are right in 94.5 % of the cases.

    Each is silent in 30 % of the cases, so that every panel answers other cases, and all are just too bad.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, N_CASES)
    same = np.where(rng.random(N_CASES) < 0.945, truth, 1 - truth)
    said = np.repeat(same[:, None].astype(object), 10, axis=1)
    said[rng.random((N_CASES, 10)) >= 0.7] = None
    return _made(truth, said, np.arange(1.0, 11.0))


def _made(truth: Any, said: Any, prices: Any) -> AnswerLog:
    names = [f"j{judge}" for judge in range(said.shape[1])]
    return make_log(names, np.arange(len(truth)), said, truth, measures=Measures(prices=prices))


def populations(folder: Path) -> Mapping[str, Population]:
    """Return the populations by name."""
    return {
        "made, 14 judges": Population(made_log(14, 1.5, seed=1), 900, DEMAND, 0.967, 0.88),
        "made, 30 judges": Population(made_log(30, 1.6, seed=3), 3000, DEMAND, 0.99, 0.92),
        "made, 8 judges": Population(made_log(8, 1.1, seed=2), 600, DEMAND, 0.593, 0.39),
        "made, just too bad": Population(hard_log(), 900),
        "rafdb": Population(read_services(folder, "rafdb"), 2000, DEMAND, 0.953, 0.40),
        "ferplus": Population(read_services(folder, "ferplus"), 2000, DEMAND, 0.94, 0.46),
    }


def panel_promises(folder: Path, *, n_draws: int = N_DRAWS) -> Iterator[dict[str, Any]]:
    """Yield for each population and way to pick the share of the draws with a promise, and what that is worth.

    Draws that are in the file of draws already are taken from there, and the others are added to it.
    """
    start_draws()
    for name, one in populations(folder).items():
        for pick, rows in _picks(draws_of(name, one, range(n_draws))).items():
            yield summary(name, one, pick, rows)


def draws_of(name: str, one: Population, draws: Iterable[int]) -> list[dict[str, Any]]:
    """Return the rows of some draws of a population, and keep those that were not drawn before."""
    with (RESULTS / DRAWS).open(newline="") as file:
        known = [row for row in csv.DictReader(file) if row["data"] == name]
    found = [row for row in known if int(row["draw"]) in set(draws)]
    done = {int(row["draw"]) for row in found}
    for draw in draws:
        if draw not in done:
            new = [{"data": name, "draw": draw, **row} for row in drawn(one, draw)]
            with (RESULTS / DRAWS).open("a", newline="") as file:
                csv.DictWriter(file, COLUMNS).writerows(new)
            found += new
    return found


def _picks(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {pick: [row for row in rows if row["pick"] == pick] for pick in PICKS}


def summary(name: str, one: Population, pick: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the summary of the draws of a population."""
    kept = [{key: float(row[key]) for key in MEASURES} for row in rows if row["answered"] not in {None, ""}]
    outside = [not row["low"] <= row["right"] <= row["high"] for row in kept]
    seconds = [float(row["seconds"]) for row in rows]
    return {
        "data": name, "n_cases": one.n_drawn, "pick": pick, "n_draws": len(rows),
        "promised": len(kept) / len(rows), "reach_promised": one.promised,
        "answered": sum(row["answered"] for row in kept) / len(rows), "reach_answered": one.answered,
        "price": float(np.mean([row["price"] for row in kept])) if kept else None,
        "broken": sum(row["right"] < one.demand.accuracy for row in kept) / len(rows),
        "allowed": one.demand.error,
        "right_outside": float(np.mean(outside)) if kept else None,
        "seconds": float(np.median(seconds)), "most_seconds": max(seconds),
    }  # fmt: skip


def drawn(one: Population, draw: int) -> list[dict[str, Any]]:
    """Return the figures of one draw's panels on the whole population, by the way to pick; None without a
    promise.

    `seconds`: of the processor, for the search. `low`, `high`: the interval that is told of the share of
    right answers.
    """
    rows = np.random.default_rng(draw).permutation(len(one.log.truth))[: one.n_drawn]
    start = time.process_time()
    choice = choose_panels(one.log.at(np.sort(rows)), PanelOptions(seed=draw, demand=one.demand))
    seconds = round(time.process_time() - start, 3)
    found, points = list[dict[str, Any]](), list[int | None]()
    for pick in PICKS:
        row: dict[str, Any] = {"pick": pick, "seconds": seconds} | dict.fromkeys(MEASURES)
        point = picked(choice, PolicyOptions(pick=pick)) if choice.guarantees[0].promised else None
        if found and point == points[-1]:
            row |= {key: found[-1][key] for key in MEASURES}
        elif point is not None:
            panel = choice.panel(point)
            outcome, told = panel.run(one.log), figures(panel, choice.test, promised=one.demand.accuracy)
            answered = outcome.codes >= 0
            row |= {
                "answered": float(answered.mean()), "price": float(outcome.price.mean()),
                "right": float((outcome.codes == one.log.truth)[answered].mean()),
                "low": told.accuracy_interval[0], "high": told.accuracy_interval[1],
            }  # fmt: skip
        points.append(point)
        found.append(row)
    return found


def start_draws() -> None:
    """Make the file of draws, if there is none."""
    if not (RESULTS / DRAWS).exists():
        with (RESULTS / DRAWS).open("w", newline="") as file:
            csv.DictWriter(file, COLUMNS).writeheader()
