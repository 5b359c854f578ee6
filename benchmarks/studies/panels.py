"""Panels on real answers: FrugalML's protocol, judges of LLMBar, crowds, and how long a front takes.

python -m benchmarks panels --data FOLDER [--seeds 20]

FOLDER holds the tables of judges: NAME.csv.gz and NAME-prices.csv of the services that FrugalML (Chen, Zaharia
and Zou, NeurIPS 2020) was measured on, of LLMBar (Zeng et al., ICLR 2024), and answers of crowds.
"""

import math
import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from shortlist._validation import AUTO
from shortlist.guarantees.cells import NOT_ASKED
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import choose_panels
from shortlist.panels.decisions import ConfidenceScale, Decided, Heard, confidence_scale, heard
from shortlist.panels.figures import figures
from shortlist.panels.learning import fit_dawid_skene
from shortlist.panels.panel_choice import PanelChoice
from shortlist.panels.panel_options import PanelOptions, cases_of
from shortlist.panels.policy import Panel
from shortlist.panels.recipes import Candidate, Cases, stages_of
from shortlist.panels.search import find_policies
from shortlist.panels.verdict import measured_panel, verdict
from shortlist.results.verdicts import Word
from shortlist.runs.budget import Budget

SEEDS = (1, 5, 10, 50, 100)
PUBLISHED = {2: 0.6795, 4: 0.7123, 6: 0.7323, 8: 0.7440, 10: 0.7610, 12: 0.7676, 14: 0.7763, 16: 0.7771}
"""FrugalML's mean accuracy on RAFDB for each budget, as its authors' repository stores it."""
AS_ACCURATE = {
    "ferplus": 3.06, "digit": 9.0, "audiomnist": 3.9, "waimai": 1.33, "yelp": 2.0, "imdb": 2.0,
}  # fmt: skip
"""The price at which a plain sketch was as accurate as the best single service, on one split each."""
PLAIN_EM = {
    "bluebird": 0.898, "rte": 0.9275, "web": 0.822, "dog": 0.843, "product": 0.940, "sentiment": 0.960,
}  # fmt: skip
"""Accuracy of Dawid and Skene's model on all tasks of each crowd, without any truth."""
SIZES = ((20, 800, 20.0), (100, 10_000, 120.0), (4, 30_000, 20.0))
N_BUDGETS = 200
N_FOLDS = 5
PLANNED_SHARE = 0.47
"""Share of the answers of a crowd: a little less than half, as other tasks need other numbers of answers."""
MOST_CENTS = 3.5


def panels(folder: Path, *, seeds: int = 20) -> Iterator[dict[str, Any]]:
    """Measure all of it; `seeds` is the number of halves of LLMBar."""
    yield from times()
    yield from services(folder)
    yield from llmbar(folder, seeds)
    yield from crowds(folder)


class Chosen(NamedTuple):
    """Policies that one half of a log chose, and the other half."""

    train: AnswerLog
    test: AnswerLog
    scale: ConfidenceScale
    cases: Cases
    steps: int
    found: list[Candidate]

    def panel(self, found: Candidate) -> Panel:
        """Return the panel of a policy over all judges."""
        stages = stages_of(found.recipe, self.cases.decisions)
        prices, unknown = tuple(self.train.prices.mean(axis=0)), (math.nan,) * len(self.train.judges)
        log = self.train
        return Panel(log.judges, log.classes, stages, prices, self.scale, unknown, self.cases.final)

    def within(self, budget: float) -> Candidate:
        """Return the policy that loses least on the selection half, for at most this mean price."""
        most = budget * self.steps * len(self.train.truth) * (1 + 1e-12)
        return next(one for one in self.found if one.price <= most)


def halves_of(log: AnswerLog, seed: int) -> tuple[AnswerLog, AnswerLog]:
    """Return the half of a log that chooses, and the half that measures."""
    order = np.random.default_rng(seed).permutation(len(log.truth))
    half = len(order) // 2
    return log.at(np.sort(order[:half])), log.at(np.sort(order[half:]))


def chosen_on_half(log: AnswerLog, seed: int, learner: str = AUTO) -> Chosen:
    """Choose policies of up to two stages on one half, all of which chooses."""
    train, test = halves_of(log, seed)
    scale = confidence_scale(train)
    cases, steps = cases_of(train, scale, PanelOptions(decide=learner, seed=seed))
    found = find_policies(cases, max_stages=2, budget=Budget()).found
    return Chosen(train, test, scale, cases, steps, found)


def read_services(folder: Path, name: str) -> AnswerLog:
    """Read the answers of prediction services, with their confidence and their prices."""
    table = pd.read_csv(folder / f"{name}.csv.gz")
    prices = dict(pd.read_csv(folder / f"{name}-prices.csv").to_numpy().tolist())
    judges = [column.removesuffix(".label") for column in table.columns if column.endswith(".label")]
    confidence = table[[f"{judge}.confidence" for judge in judges]].to_numpy()
    measures = Measures(confidence=confidence, prices=[prices[judge] for judge in judges])
    said = table[[f"{judge}.label" for judge in judges]].to_numpy(object)
    return make_log(
        judges, np.arange(len(table)).astype(str), said, table["target"].to_numpy(), measures=measures
    )


def services(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield accuracy for each budget on RAFDB, and the price of the best single service's accuracy elsewhere."""
    for name in ("rafdb", *AS_ACCURATE):
        log = read_services(folder, name)
        start = time.process_time()
        halves = [chosen_on_half(log, seed) for seed in SEEDS]
        seconds = (time.process_time() - start) / len(SEEDS)
        budgets = PUBLISHED if name == "rafdb" else ()
        for budget in budgets:
            accuracy, price = np.mean([_does(one, one.within(budget)) for one in halves], axis=0)
            least = 0.010 if budget >= 12 else 0.003 if budget >= 4 else 0.0
            yield {
                "part": "services", "data": name, "budget": budget, "accuracy": accuracy, "price": price,
                "published": PUBLISHED[budget], "reach": PUBLISHED[budget] + least,
                "reached": bool(accuracy >= PUBLISHED[budget] + least), "seconds": seconds,
            }  # fmt: skip
        if name in AS_ACCURATE:
            yield from _as_accurate(name, halves, seconds)


def _does(one: Chosen, found: Candidate) -> tuple[float, float]:
    outcome = one.panel(found).run(one.test)
    return float(outcome.right(one.test).mean()), float(outcome.price.mean())


def _as_accurate(name: str, halves: Sequence[Chosen], seconds: float) -> Iterator[dict[str, Any]]:
    """Yield the difference to the best single service, chosen on the same half, for each budget."""
    singles = [_best_single(one) for one in halves]
    top = max(price for _, price in singles)
    least_paid = max(one.found[-1].price / (one.steps * len(one.train.truth)) for one in halves)
    budgets = np.linspace(least_paid, top, N_BUDGETS + 1)
    gains = np.zeros((len(halves), len(budgets)))
    paid = np.zeros_like(gains)
    for place, (one, (accuracy, own_price)) in enumerate(zip(halves, singles, strict=True)):
        known: dict[int, tuple[float, float]] = {}
        for column, budget in enumerate(np.minimum(budgets, max(own_price, least_paid))):
            found = one.within(budget)
            if id(found) not in known:
                known[id(found)] = _does(one, found)
            gains[place, column], paid[place, column] = known[id(found)]
        gains[place] -= accuracy
    mean = gains.mean(axis=0)
    enough = np.flatnonzero(mean >= 0)
    least = float(paid.mean(axis=0)[enough[0]]) if len(enough) else math.nan
    yield {
        "part": "services", "data": name, "what": "as accurate as the best single service",
        "budget": float(budgets[enough[0]]) if len(enough) else math.nan, "price": least,
        "reach": 0.9 * AS_ACCURATE[name], "reached": bool(least <= 0.9 * AS_ACCURATE[name]),
        "single_price": top, "seconds": seconds,
    }  # fmt: skip
    yield {
        "part": "services", "data": name, "what": "for the price of the best single service", "budget": top,
        "difference": float(mean[-1]), "reach": 0.0, "reached": bool(mean[-1] >= 0),
    }  # fmt: skip
    for column in range(N_BUDGETS // 20, N_BUDGETS, N_BUDGETS // 20):
        yield {
            "part": "services", "data": name, "what": "difference to the best single service",
            "budget": float(budgets[column]), "difference": float(mean[column]),
        }  # fmt: skip


def _best_single(one: Chosen) -> tuple[float, float]:
    right = (one.train.answers == one.train.truth[:, None]).mean(axis=0)
    judge = int(np.argmax(right))
    return float((one.test.answers[:, judge] == one.test.truth).mean()), float(one.test.prices[0, judge])


def read_llmbar(folder: Path) -> AnswerLog:
    """Read the verdicts of the judges of LLMBar, with their prices."""
    table = pd.read_csv(folder / "llmbar.csv.gz")
    prices = dict(pd.read_csv(folder / "llmbar-prices.csv").to_numpy().tolist())
    judges = [column for column in table.columns if column in prices]
    measures = Measures(prices=[prices[judge] for judge in judges])
    said, truth = table[judges].to_numpy(object), table[table.columns[-1]].to_numpy()
    return make_log(judges, np.arange(len(table)).astype(str), said, truth, measures=measures)


def llmbar(folder: Path, seeds: int) -> Iterator[dict[str, Any]]:
    """Yield the results of the panel for at most 3.5 cents on the other half, and the rate of wrong verdicts.

    A verdict is wrong where it recommends a panel that is worse than the single judge beyond chance on the
    other half, and where it says that the panel is no better although it is better beyond chance there. Where
    it says that too few cases tell, it is undecided; `missed` are all halves in which a panel that is better
    beyond chance is not recommended.
    """
    log = read_llmbar(folder)
    for learner in ("auto", "votes"):
        halves = (chosen_on_half(log, seed, learner) for seed in range(seeds))
        accuracy, price = np.mean([_does(one, one.within(MOST_CENTS)) for one in halves], axis=0)
        yield {
            "part": "llmbar", "data": "llmbar", "what": f"decide {learner}, all of a half choosing",
            "n_halves": seeds, "accuracy": accuracy, "price": price, "reach": 0.861,
            "reached": bool(accuracy >= 0.861 and price <= MOST_CENTS),
        }  # fmt: skip
        rows = [_on_other_half(log, seed, learner) for seed in range(seeds)]
        accuracy, price, single, wrong, undecided, missed, seconds = np.mean(rows, axis=0)
        yield {
            "part": "llmbar", "data": "llmbar", "what": f"decide {learner}, as the command chooses", "n_halves": seeds,
            "accuracy": accuracy, "price": price, "single": single, "reach": 0.861, "seconds": seconds,
            "reached": bool(accuracy >= 0.861 and price <= MOST_CENTS), "wrong_verdicts": wrong,
            "undecided_verdicts": undecided, "missed": missed,
        }  # fmt: skip


def _on_other_half(log: AnswerLog, seed: int, learner: str) -> tuple[float, ...]:
    train, test = halves_of(log, seed)
    start = time.process_time()
    choice = choose_panels(train, PanelOptions(decide=learner, seed=seed, test_share=None))
    seconds = time.process_time() - start
    point = _best_for_cents(choice)
    panel = choice.panel(point)
    told = verdict(choice, measured_panel(choice, point))
    real, does = verdict(choice, panel, test), figures(panel, test)
    beyond = not real.within_chance
    missed = beyond and real.difference > 0 and not told.recommended
    is_open = told.rule.word is Word.UNDECIDED
    wrong = (missed and not is_open) or (beyond and real.difference < 0 and told.recommended)
    said = (float(wrong), float(is_open), float(missed))
    return does.accuracy, does.price, real.single_figures.accuracy, *said, seconds


def _best_for_cents(choice: PanelChoice) -> int:
    price = choice.front.values[:, choice.front.names.index("price")]
    return int(np.flatnonzero(price <= MOST_CENTS)[0])  # the most accurate comes first


def crowds(folder: Path, *, n_halves: int = 10) -> Iterator[dict[str, Any]]:
    """Yield the accuracy on tasks without truth, the other half having one: all answers, and half of them."""
    for name, plain in PLAIN_EM.items():
        answers, truth = read_crowd(folder, name)
        rows = []
        for seed in range(n_halves):
            unknown = np.random.default_rng(seed).permutation(len(truth)) < len(truth) // 2
            rows.append((*_crowd_half(answers, truth, unknown), *_until_sure(answers, truth, unknown)))
        without, every, part, asked = np.mean(rows, axis=0)
        shared = {"part": "crowds", "data": name, "n_halves": n_halves, "published": plain, "plain": without}
        yield shared | {
            "what": "all answers", "accuracy": every, "reach": plain, "reached": bool(every >= plain),
            "reached_on_same_tasks": bool(every >= without),
        }  # fmt: skip
        yield shared | {
            "what": "half of the answers", "accuracy": part, "share_of_answers": asked,
            "reach": plain - 0.005, "reached": bool(part >= plain - 0.005 and asked <= 0.5),
            "reached_on_same_tasks": bool(part >= without - 0.005 and asked <= 0.5),
        }  # fmt: skip


def read_crowd(folder: Path, name: str) -> tuple[Heard, NDArray[np.int64]]:
    """Read the answers of the workers of a crowd on its tasks, and the truth."""
    log = crowd_log(folder, name)
    return heard(log, confidence_scale(log)), log.truth


def crowd_log(folder: Path, name: str) -> AnswerLog:
    """Read the log of the answers of the workers of a crowd, each paid alike."""
    long = pd.read_csv(folder / f"crowd-{name}.long.csv.gz", dtype=str)
    truth = pd.read_csv(folder / f"crowd-{name}.truth.csv", dtype=str).set_index("task")["truth"]
    long = long[long["task"].isin(truth.index)].drop_duplicates(["task", "worker"])
    said = long.pivot(index="task", columns="worker", values="label").reindex(truth.index)
    said = said.astype(object).where(said.notna(), NOT_ASKED)
    return make_log(list(said.columns), list(said.index), said.to_numpy(object), truth.to_numpy())


def _crowd_half(answers: Heard, truth: NDArray[np.int64], unknown: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the accuracy on the tasks without truth: of the model without any truth, and with the others'."""
    judges = tuple(range(answers.words.shape[1]))
    nothing = np.full_like(truth, -1)
    found = []
    for known in (nothing, np.where(unknown, -1, truth)):
        decided = fit_dawid_skene(judges, answers, known).decide(answers.at(unknown))
        found.append(float((decided.codes == truth[unknown]).mean()))
    return found[0], found[1]


def _until_sure(answers: Heard, truth: NDArray[np.int64], unknown: NDArray[np.bool_]) -> tuple[float, float]:
    """Ask the workers of each task, the best first, until it is sure; return accuracy and share of answers.

    How sure is chosen on the tasks with truth, so that half of their answers are requested. In the end the
    model is fitted again to all that was heard.
    """
    judges = tuple(range(answers.words.shape[1]))
    folds = np.arange(len(truth)) % N_FOLDS
    right = (answers.words[~unknown] == truth[~unknown, None]).sum(axis=0)
    n_said = (answers.words[~unknown] < answers.n_classes).sum(axis=0)
    order = np.argsort(-(right + 1) / (n_said + 2), kind="stable")
    surest = np.empty((len(truth), int((answers.words < answers.n_classes).sum(axis=1).max())))
    for fold in range(N_FOLDS):  # a task never tells how sure it is by its own truth
        known, out = ~unknown & (folds != fold), folds == fold
        table = fit_dawid_skene(judges, answers.at(known), truth[known])
        surest[out] = _surest_by_count(table.decide, answers, order, surest.shape[1])[out]
    n_answers = (answers.words < answers.n_classes).sum(axis=1)
    levels = np.unique(np.r_[0, 1 - np.logspace(-6, -0.3, 200)])
    asked = np.array([_asked_until(surest, n_answers, level) for level in levels])
    share = asked[:, ~unknown].sum(axis=1) / n_answers[~unknown].sum()
    within = np.flatnonzero(share <= PLANNED_SHARE)
    level = int(within[-1]) if len(within) else 0
    heard_now = _first_answers(answers, order, np.where(unknown, asked[level], n_answers))
    final = fit_dawid_skene(judges, heard_now, np.where(unknown, -1, truth))
    codes = final.decide(heard_now.at(unknown)).codes
    return float((codes == truth[unknown]).mean()), float(
        asked[level][unknown].sum() / n_answers[unknown].sum()
    )


def _first_answers(answers: Heard, order: NDArray[np.intp], counts: NDArray[np.int64]) -> Heard:
    """Return the first answers of each task in an order of the workers; the others are silent."""
    words = answers.words[:, order]
    place = np.cumsum(words < answers.n_classes, axis=1)
    kept = np.where(place <= counts[:, None], words, answers.n_classes)
    back = np.empty(kept.shape, dtype=np.int64)
    back[:, order] = kept
    return answers._replace(words=np.ascontiguousarray(back))


def _surest_by_count(decide: Any, answers: Heard, order: NDArray[np.intp], most: int) -> NDArray[np.float64]:
    """Return the confidence in each task after each number of answers, from one on."""
    n = len(answers.words)
    told: list[Decided] = [
        decide(_first_answers(answers, order, np.full(n, count))) for count in range(1, most + 1)
    ]
    return np.column_stack([one.sure for one in told])


def _asked_until(
    surest: NDArray[np.float64], n_answers: NDArray[np.int64], level: float
) -> NDArray[np.int64]:
    sure = surest >= level
    first = np.where(sure.any(axis=1), sure.argmax(axis=1) + 1, surest.shape[1])
    return np.asarray(np.minimum(first, n_answers))


def times() -> Iterator[dict[str, Any]]:
    """Yield the processor time and the largest memory of a front over made judges."""
    for n_judges, n_cases, reach in SIZES:
        log = made_log(n_judges, n_cases)
        start = time.process_time()
        choice = choose_panels(log)
        seconds = time.process_time() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        yield {
            "part": "times", "data": f"{n_judges} judges, {n_cases} cases", "n_points": len(choice.found),
            "seconds": seconds, "gigabytes": memory, "reach": reach, "reached": bool(seconds <= reach),
        }  # fmt: skip


def made_log(n_judges: int, n_cases: int) -> AnswerLog:
    """Return answers to cases that are as hard for all judges; the dearer are better, and those of few judges
    tell how sure they are.
    """
    rng = np.random.default_rng(0)
    truth, hard = rng.integers(0, 3, n_cases), rng.normal(0, 1, (n_cases, 1))
    skill = np.sort(rng.uniform(0, 1.5, n_judges))
    margin = skill - hard + rng.normal(0, 1, (n_cases, n_judges))
    said = np.where(margin > 0, truth[:, None], rng.integers(0, 3, margin.shape))
    sure = 1 / (1 + np.exp(-np.abs(margin)))
    prices = np.round(np.sort(rng.lognormal(0, 1.5, n_judges)), 2) + 0.01
    measures = Measures(confidence=sure if n_judges <= 5 else None, prices=prices)
    return make_log(
        [f"j{one}" for one in range(n_judges)], np.arange(n_cases), said, truth, measures=measures
    )
