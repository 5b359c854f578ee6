"""Panels: ways of deciding and numbers of stages as engines, measured on the half that did not choose."""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.regret.engines import DEFAULT, NONE, Answer, Engine, Instance, Kind
from benchmarks.studies.panels import read_services
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import choose_panels
from shortlist.panels.figures import figures
from shortlist.panels.panel_options import PanelOptions
from shortlist.runs.budget import Budget

SHARES = (0.25, 0.5, 0.75, 1.0)
"""Largest price of a case where panels are compared, as a share of the most accurate judge's."""
MOST_CASES = 3000


class PanelQuestion(NamedTuple):
    """Task: find the best panels for some prices; one half chooses, and the other one measures."""

    train: AnswerLog
    test: AnswerLog
    prices: tuple[float, ...]


def panel_question(log: AnswerLog) -> PanelQuestion:
    """Divide a log, at most :data:`MOST_CASES` of its cases."""
    order = np.random.default_rng(0).permutation(len(log.truth))[:MOST_CASES]
    half = len(order) // 2
    train, test = log.at(np.sort(order[:half])), log.at(np.sort(order[half:]))
    best = int(np.argmax((train.answers == train.truth[:, None]).mean(axis=0)))
    price = float(train.prices[:, best].mean())
    return PanelQuestion(train, test, tuple(share * price for share in SHARES))


def _services(folder: Path, name: str) -> PanelQuestion:
    return panel_question(read_services(folder / "judges", name))


def _verdicts(folder: Path, n_judges: int) -> PanelQuestion:
    """Take some judges of LLMBar, evenly spread."""
    table = pd.read_csv(folder / "judges" / "llmbar.csv.gz")
    prices = dict(pd.read_csv(folder / "judges" / "llmbar-prices.csv").to_numpy().tolist())
    judges = [column for column in table.columns if column in prices]
    judges = judges[:: max(1, len(judges) // n_judges)]
    said, truth = table[judges].to_numpy(object), table[table.columns[-1]].to_numpy()
    measures = Measures(prices=[prices[judge] for judge in judges])
    return panel_question(make_log(judges, np.arange(len(table)).astype(str), said, truth, measures=measures))


def tiny_panels(rng: np.random.Generator) -> PanelQuestion:
    """Make answers of three judges on 200 cases."""
    truth = rng.integers(0, 2, 200)
    right = rng.random((200, 3)) < np.array([0.6, 0.7, 0.85])
    said = np.array(["no", "yes"], dtype=object)[np.where(right, truth[:, None], 1 - truth[:, None])]
    names = np.array(["no", "yes"], dtype=object)[truth]
    measures = Measures(prices=[1.0, 2.0, 8.0])
    return panel_question(make_log(list("abc"), np.arange(200).astype(str), said, names, measures=measures))


def chosen(question: PanelQuestion, budget: Budget, **options: Any) -> Answer:
    """Return the mean accuracy on the other half of the best panels for each price; a price too low counts 0."""
    choice = choose_panels(question.train, PanelOptions(**options), budget=budget)
    price = choice.front.values[:, choice.front.names.index("price")]
    accuracies = []
    for most in question.prices:
        within = np.flatnonzero(price <= most * (1 + 1e-9))
        does = figures(choice.panel(int(within[0])), question.test).accuracy if len(within) else 0.0
        accuracies.append(does)
    return Answer(float(np.mean(accuracies)), complete=False) if accuracies else NONE


def seen(question: PanelQuestion, budget: Budget) -> Answer:
    """Return the mean accuracy for each price on the cases that choose, which the search makes as large as it can."""
    front = choose_panels(question.train, budget=budget).front
    price, accuracy = front.values[:, front.names.index("price")], np.array(front.extras["on_training_cases"])
    return Answer(float(np.mean([_most(accuracy, price, most) for most in question.prices])), complete=False)


def best_judge(question: PanelQuestion, _budget: Budget) -> Answer:
    """Return the same of the best single judge for each price; the cases that choose are those of a search."""
    log = choose_panels(question.train, budget=Budget(1e-9)).chosen
    accuracy, price = (log.answers == log.truth[:, None]).mean(axis=0), log.prices.mean(axis=0)
    return Answer(float(np.mean([_most(accuracy, price, most) for most in question.prices])), complete=False)


def _most(accuracy: np.ndarray, price: np.ndarray, most: float) -> float:
    return float(accuracy[price <= most * (1 + 1e-9)].max(initial=0.0))


PANEL_ENGINES: dict[str, Engine] = {
    DEFAULT: chosen,
    **{
        decide: partial(chosen, decide=decide)
        for decide in ("votes", "weighted-votes", "logistic", "dawid-skene")
    },
    "one stage": partial(chosen, max_stages=1),
    "three stages": partial(chosen, max_stages=3),
}

PANELS = Kind(
    "panels",
    (
        *(Instance(name, partial(_services, name=name)) for name in ("rafdb", "digit", "command", "imdb", "ferplus")),
        Instance("llmbar, 8 judges", partial(_verdicts, n_judges=8)),
        Instance("llmbar, 22 judges", partial(_verdicts, n_judges=22)),
    ),
    PANEL_ENGINES,
    tiny_panels,
)  # fmt: skip
