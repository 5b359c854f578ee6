"""Worth of verdicts and reported figures on other cases: one part of a log chooses, the rest measures.

python -m benchmarks panel-verdicts --data FOLDER

FOLDER holds the answers of services and of LLMBar, as for the study of panels. A verdict is wrong where it
says better, or as good, and the panel is worse than the single judge beyond chance on the other cases. A told
figure is outside where the panel's figure on the other cases is not in its interval by more than these cases
leave open themselves, and not counting that as well.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.studies.panels import read_services
from shortlist.cli.options.panel_options import PolicyOptions, picked
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import choose_panels
from shortlist.panels.figures import figures
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.verdict import measured_panel, verdict
from shortlist.results.intervals import Z

SERVICES = ("rafdb", "ferplus", "digit", "waimai", "yelp", "imdb", "audiomnist")
MOST_CASES = 12_000
"""Most cases of a log that are halved, to keep the study short."""
FEW = tuple(range(160, 460, 20))
"""Numbers of cases that choose where they are few; of LLMBar it is half."""
N_SEEDS = 5


def read_llmbar(folder: Path) -> AnswerLog:
    """Read the verdicts of language models on pairs of answers, with their prices."""
    table = pd.read_csv(folder / "llmbar.csv.gz")
    prices = dict(pd.read_csv(folder / "llmbar-prices.csv").to_numpy().tolist())
    judges = [column for column in table.columns if column in prices]
    measures = Measures(prices=[prices[judge] for judge in judges])
    said, truth = table[judges].to_numpy(object), table[table.columns[-1]].to_numpy()
    return make_log(judges, np.arange(len(table)).astype(str), said, truth, measures=measures)


def logs(folder: Path) -> Mapping[str, AnswerLog]:
    """Return the logs by name."""
    return {"llmbar": read_llmbar(folder)} | {name: read_services(folder, name) for name in SERVICES}


def panel_verdicts(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each half: of many cases for every log and seed, and of few cases."""
    known = logs(folder)
    for seed in range(N_SEEDS):
        for name, log in known.items():
            yield half(name, log, seed, min(len(log.truth), MOST_CASES) // 2)
    for seed, n_cases in enumerate(FEW):
        for name in ("rafdb", "ferplus", "digit", "waimai", "yelp"):
            yield half(name, known[name], 100 + seed, n_cases)


def half(name: str, log: AnswerLog, seed: int, n_cases: int) -> dict[str, Any]:
    """Return the facts about the panel that some cases choose by default, and its figures on the others."""
    order = np.random.default_rng(seed).permutation(len(log.truth))
    chosen, others = (
        log.at(np.sort(rows)) for rows in (order[:n_cases], order[n_cases : n_cases + MOST_CASES])
    )
    choice = choose_panels(chosen, PanelOptions(seed=seed, test_share=None))
    point = picked(choice, PolicyOptions())
    panel = choice.panel(point)
    told, real = verdict(choice, measured_panel(choice, point)), verdict(choice, panel, others)
    own, does = told.panel_figures, figures(panel, others)
    is_worse = not real.within_chance and real.gain < 0
    row: dict[str, Any] = {
        "data": name, "seed": seed, "n_cases": n_cases, "n_others": len(others.truth), "is_few": bool(choice.parts),
        "kind": told.rule.word.value, "recommended": told.recommended, "is_worse": is_worse,
        "wrong": is_worse and told.recommended, "difference": real.difference,
        "accuracy": does.accuracy, "single": real.single_figures.accuracy,
        "written": does.accuracy if told.recommended or not choice.parts else real.single_figures.accuracy,
        "price": does.price, "told_price": own.price,
    }  # fmt: skip
    spread = {
        "accuracy": math.sqrt(does.accuracy * (1 - does.accuracy) / does.n_cases),
        "price": float(panel.run(others).price.std()) / math.sqrt(does.n_cases),
    }
    for figure, value in (("accuracy", does.accuracy), ("price", does.price)):
        low, high = getattr(own, f"{figure}_interval")
        apart = max(low - value, value - high, 0.0)
        middle = (high - low) / 2
        row[f"{figure}_outside"] = apart > 1e-9 * max(1.0, value)
        room = math.hypot(middle, Z * spread[figure]) - middle
        row[f"{figure}_outside_both"] = apart > room + 1e-9 * max(1.0, value)
    return row
