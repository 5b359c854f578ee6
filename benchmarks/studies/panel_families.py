"""Worth of each family of policies: panels of new cases with it and without it, on real answers.

python -m benchmarks panel-families --data FOLDER [--seeds 5]
python -m benchmarks panel-settings --data FOLDER: the regret of the default beside each way to decide alone

FOLDER holds the tables of judges, as for the study `panels`, and answers of language models (MMLU-Pro). One half of
a log chooses, and the other half measures: the most accurate policy for at most each of five budgets.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.studies.panels import halves_of, read_llmbar, read_services
from shortlist._validation import AUTO
from shortlist.panels.answer_log import AnswerLog, Measures, by_agreement, make_log
from shortlist.panels.candidates import SINGLE, shape_of
from shortlist.panels.decisions import confidence_scale
from shortlist.panels.learning import AGREEMENT, DAWID_SKENE, LOGISTIC, VOTES, WEIGHTED
from shortlist.panels.panel_options import PanelOptions, cases_of
from shortlist.panels.policy import Final, Panel
from shortlist.panels.recipes import Candidate, Cases, stages_of
from shortlist.panels.search import find_policies
from shortlist.runs.budget import Budget

SERVICES = ("rafdb", "ferplus", "digit", "audiomnist", "waimai", "yelp", "imdb", "command")
MOST_CASES = 4000
"""Longer logs are cut, so that all of it takes an hour."""
SHARES = (0.05, 0.15, 0.35, 0.6, 1.0)
"""Budgets: parts of the way, in logarithms, from the cheapest judge to the dearest."""


def panel_families(folder: Path, *, seeds: int = 5) -> Iterator[dict[str, Any]]:
    """Yield for each log, kind of end and family how much accuracy is lost at each budget without it."""
    for name, log in logs(folder):
        for final in ("answer", "hand-over"):
            yield from _without_each(name, log, final, seeds)


def logs(folder: Path) -> Iterator[tuple[str, AnswerLog]]:
    """Yield the logs, by name."""
    for name in SERVICES:
        yield name, _cut(read_services(folder, name))
    yield "llmbar", read_llmbar(folder)
    yield "mmlupro", read_mmlupro(folder)
    yield "mmlupro as free text", read_mmlupro(folder, is_open=True)
    yield "made, eight judges", eight_judges()


def _cut(log: AnswerLog) -> AnswerLog:
    n = len(log.truth)
    return log.at(np.sort(np.random.default_rng(0).permutation(n)[:MOST_CASES])) if n > MOST_CASES else log


def read_mmlupro(folder: Path, *, is_open: bool = False) -> AnswerLog:
    """Read the questions that all models were asked, with prices as paid, and the category and the length."""
    table = pd.read_csv(folder / "mmlupro.long.csv.gz")
    said, paid = (
        table.pivot(index="question_id", columns="model", values=name) for name in ("answer", "usd")
    )
    full = paid.notna().all(axis=1)
    about = table.drop_duplicates("question_id").set_index("question_id").loc[said.index][full]
    words = said[full].astype(object)
    return make_log(
        list(said.columns), said.index[full].astype(str), words.where(words.notna(), "").to_numpy(),
        about["target"].to_numpy(), measures=Measures(prices=paid[full].to_numpy()),
        features=about[["category", "length"]].reset_index(drop=True), classes=() if is_open else None,
    )  # fmt: skip


def eight_judges(n_cases: int = 4000) -> AnswerLog:
    """Make six cheap judges, of whom two are right apart from each other, and two dear ones, of four classes."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, n_cases)
    hard = rng.random(n_cases)
    shares = [0.55, 0.56, 0.57, 0.58, 0.6, 0.6, 0.8, 0.82]
    said = np.empty((n_cases, 8), dtype=np.int64)
    common = (truth + rng.integers(1, 4, n_cases)) % 4
    for judge, share in enumerate(shares):
        alike = judge < 4  # the first four judges make the same mistakes
        is_right = (hard if alike else rng.random(n_cases)) < share
        said[:, judge] = np.where(
            is_right, truth, common if alike else (truth + rng.integers(1, 4, n_cases)) % 4
        )
    prices = [0.1, 0.1, 0.12, 0.12, 0.15, 0.15, 1.5, 1.8]
    return make_log(
        [f"j{n}" for n in range(8)], np.arange(n_cases), said, truth, measures=Measures(prices=prices)
    )


def tickets(n_cases: int = 1400, seed: int = 0) -> AnswerLog:
    """Make nine models of rising price that sort tickets into six classes, hard ones wrongly together."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(6, n_cases, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
    skill = np.array([0.41, 0.52, 0.58, 0.67, 0.77, 0.84, 0.95, 1.08, 1.17])
    right = 0.8 * rng.normal(size=(n_cases, 9)) + 0.6 * rng.normal(size=(n_cases, 1)) < skill
    wrong = (truth[:, None] + rng.integers(1, 6, right.shape)) % 6
    prices = [0.0005, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.008, 0.015, 0.03]
    said, names = np.where(right, truth[:, None], wrong), [f"m{n}" for n in range(9)]
    return make_log(names, np.arange(n_cases), said, truth, measures=Measures(prices=prices))


def alike(n_cases: int = 2000, seed: int = 0) -> AnswerLog:
    """Make fifteen independent judges of three classes, each right about 60 % of the cases."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n_cases)
    wrong = (truth[:, None] + rng.integers(1, 3, (n_cases, 15))) % 3
    said = np.where(rng.random((n_cases, 15)) < 0.6, truth[:, None], wrong)
    names = [f"s{n}" for n in range(15)]
    return make_log(names, np.arange(n_cases), said, truth, measures=Measures(prices=[1.0] * 15))


SETTINGS = (AUTO, AGREEMENT, VOTES, WEIGHTED, DAWID_SKENE, LOGISTIC)
"""The ways to decide that an option asks for, the default first."""


def panel_settings(folder: Path, *, seeds: int = 4) -> Iterator[dict[str, Any]]:
    """Yield the gain in accuracy of each way to decide alone over the default, at each budget.

    Both choose on one half, and are measured on the other.
    """
    cases = [(f"made, nine models, seed {seed}", tickets(seed=seed)) for seed in range(7)]
    cases += [("made, fifteen judges alike", alike()), ("made, eight judges", eight_judges())]
    cases += [("digit", _cut(read_services(folder, "digit"))), ("llmbar", read_llmbar(folder))]
    for name, log in cases:
        budgets = _budgets(log)
        told = {
            setting: np.array([_at_budgets(log, seed, setting, budgets) for seed in range(seeds)])
            for setting in SETTINGS
        }
        for setting, rows in told.items():
            regret = rows - told[AUTO]
            error = regret.std(axis=0, ddof=1) / np.sqrt(seeds)
            for place, budget in enumerate(budgets.tolist()):
                yield {
                    "data": name, "setting": setting, "budget": budget, "n_halves": seeds,
                    "accuracy": float(rows.mean(axis=0)[place]),
                    "regret": float(regret.mean(axis=0)[place]), "error": float(error[place]),
                }  # fmt: skip


def _at_budgets(log: AnswerLog, seed: int, setting: str, budgets: NDArray[np.float64]) -> NDArray[np.float64]:
    train, test = halves_of(log, seed)
    cases, steps = cases_of(train, confidence_scale(train), PanelOptions(decide=setting, seed=seed))
    half, found = Half(train, test, cases, steps), find_policies(cases, max_stages=3, budget=Budget()).found
    most = budgets * steps * len(train.truth) * (1 + 1e-12)
    return np.array([half.right(next(one for one in found if one.price <= each)) for each in most])


def _budgets(log: AnswerLog) -> NDArray[np.float64]:
    price = log.prices.mean(axis=0)
    ends = np.log([max(price.min(), price.max() / 1e3), max(price.max(), price.sum() / 2)])
    return np.asarray(np.exp(ends[0] * (1 - np.array(SHARES)) + ends[1] * np.array(SHARES)))


class Half(NamedTuple):
    """A half of a log that chooses, with its cases, and the half that measures."""

    train: AnswerLog
    test: AnswerLog
    cases: Cases
    steps: int

    def right(self, found: Candidate) -> float:
        """Return the share of the other half about which a policy is right, or hands over."""
        stages = stages_of(found.recipe, self.cases.decisions)
        prices, unknown = tuple(self.train.prices.mean(axis=0)), (float("nan"),) * len(self.train.judges)
        classes = () if self.test.is_open else self.train.classes
        scale = confidence_scale(self.train)
        panel = Panel(self.train.judges, classes, stages, prices, scale, unknown, self.cases.final)
        return float(panel.run(self.test).right(self.test).mean())


def _without_each(name: str, log: AnswerLog, final: str, seeds: int) -> Iterator[dict[str, Any]]:
    price = log.prices.mean(axis=0)
    budgets = np.exp(
        np.log(max(price.min(), price.max() / 1e3)) * (1 - np.array(SHARES))
        + np.log(price.max()) * np.array(SHARES)
    )
    reached: dict[str, list[NDArray[np.float64]]] = {}
    seconds: dict[str, float] = {}
    for seed in range(seeds):
        train, test = halves_of(log, seed)
        known = by_agreement(train) if train.is_open else train
        options = PanelOptions(
            seed=seed, final=Final(final, 0.0 if final == "answer" else 2 * float(price.max()))
        )
        cases, steps = cases_of(known, confidence_scale(known), options)
        half = Half(known, test, cases, steps)
        families = shape_of(cases).families
        variants = {"": (cases, families)}
        variants |= {
            one: (cases, tuple(two for two in families if two != one)) for one in families if one != SINGLE
        }
        without = {key: one for key, one in cases.decisions.items() if key != WEIGHTED}
        variants[WEIGHTED] = (replace(cases, decisions=without), families)
        for variant, (own, tried) in variants.items():
            start = time.process_time()
            found = find_policies(own, max_stages=3, budget=Budget(), families=tried).found
            seconds[variant] = seconds.get(variant, 0.0) + time.process_time() - start
            known_of: dict[int, float] = {}
            row = []
            for budget in budgets:
                most = budget * steps * len(known.truth) * (1 + 1e-12)
                one = next((one for one in found if one.price <= most), found[-1])
                if id(one) not in known_of:
                    known_of[id(one)] = half.right(one)
                row.append(known_of[id(one)])
            reached.setdefault(variant, []).append(np.array(row))
    whole = np.array(reached[""])
    for variant, rows in reached.items():
        lost = whole - np.array(rows)
        error = lost.std(axis=0, ddof=1) / np.sqrt(len(lost))
        for place, budget in enumerate(budgets.tolist()):
            yield {
                "data": name, "final": final, "without": variant or "nothing", "budget": budget,
                "accuracy": float(np.mean(rows, axis=0)[place]), "lost": float(lost.mean(axis=0)[place]),
                "error": float(error[place]), "seconds": seconds[variant] / seeds, "n_halves": seeds,
            }  # fmt: skip
