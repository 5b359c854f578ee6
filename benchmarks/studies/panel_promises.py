"""What the search for a promise finds, and how often a promise is broken: whole searches, drawn again and again.

python -m benchmarks panel-promises --data FOLDER

FOLDER holds the answers of services, as for the study of panels; the other logs are made. A draw takes some cases of a population, searches, and counts what the panel that the command would write does on
the whole population. One of the made logs is hard: all panels are just too bad, and some look good by luck.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.studies.panels import read_services
from shortlist.cli.options.panel_options import PolicyOptions, picked
from shortlist.guarantees.guarantee import Demand
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import choose_panels
from shortlist.panels.panel_options import PanelOptions

N_DRAWS = 300
N_CASES = 20_000
DEMAND = Demand(0.95, 0.95)


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
    """Yield for each population and way to pick the share of the draws with a promise, and what that is worth."""
    for name, one in populations(folder).items():
        rows = [drawn(one, draw) for draw in range(n_draws)]
        for pick in ("one-se", "best"):
            told = [row[pick] for row in rows]
            kept = [row for row in told if row is not None]
            yield {
                "data": name, "n_cases": one.n_drawn, "pick": pick, "n_draws": n_draws,
                "promised": len(kept) / n_draws, "reach_promised": one.promised,
                "answered": sum(row["answered"] for row in kept) / n_draws, "reach_answered": one.answered,
                "price": float(np.mean([row["price"] for row in kept])) if kept else None,
                "broken": sum(row["right"] < one.demand.accuracy for row in kept) / n_draws,
                "allowed": one.demand.error,
            }  # fmt: skip


def drawn(one: Population, draw: int) -> dict[str, dict[str, float] | None]:
    """Return what the panels of one draw do on the whole population, by the way to pick; None without a promise."""
    rows = np.random.default_rng(draw).permutation(len(one.log.truth))[: one.n_drawn]
    choice = choose_panels(one.log.at(np.sort(rows)), PanelOptions(seed=draw, demand=one.demand))
    found: dict[str, dict[str, float] | None] = {}
    for pick in ("one-se", "best"):
        if not choice.guarantees[0].promised:
            found[pick] = None
            continue
        outcome = choice.panel(picked(choice, PolicyOptions(pick=pick))).run(one.log)
        answered = outcome.codes >= 0
        found[pick] = {
            "answered": float(answered.mean()), "price": float(outcome.price.mean()),
            "right": float((outcome.codes == one.log.truth)[answered].mean()),
        }  # fmt: skip
    return found
