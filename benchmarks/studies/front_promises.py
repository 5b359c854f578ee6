"""Promises about all points of a front: how often one is broken, and how many rows are answered by which order of tests.

python -m benchmarks front-promises
python -m benchmarks front-promises-answered --data FOLDER [--seeds 6]
"""

import itertools
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import make_classification

from benchmarks.data.uci import read_uci
from shortlist.errors import LowCoverageWarning
from shortlist.guarantees.guarantee import Demand, Guarantee, tail
from shortlist.guarantees.promise import Trial, chances_to_pass, possible_thresholds, promise, promise_each
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.predict.stage_answers import (
    StageAnswers,
    answers_of_model,
    count_staged,
    outcomes,
    point_answers,
)
from shortlist.multistage.problem.stages import acquired
from shortlist.multistage.question import encoded_rows
from shortlist.multistage.search.emsco import EmscoOptions

N_DRAWS, N_CHOOSE, N_CALIBRATE, N_ROWS = 2000, 150, 150, 20_000
N_POINTS, N_LEVELS = 12, 20
MADE = ("just too bad", "just too bad, alike", "surer is better", "the surest are the worst", "some are good")
TABLES = {
    0.8: ("pima_diabetes", "contraceptive_method_choice", "heart_failure_clinical_records"),
    0.9: ("australian_credit", "breast_cancer_wisconsin_original", "qsar_biodegradation"),
}
N_SPLITS = 12


class Point(NamedTuple):
    """Answers of a point's stages to some rows, and the price paid by each stage."""

    stages: list[StageAnswers]
    prices: NDArray[np.float64]

    def on(self, rows: Any) -> "Point":
        """Return the same of some of the rows."""
        return Point([StageAnswers(*(each[rows] for each in stage)) for stage in self.stages], self.prices)

    def does(self, threshold: float) -> tuple[int, int, float]:
        """Count answered rows and right answers, and tell the mean price."""
        told = outcomes(self.stages, threshold)
        mean_price = float(self.prices[told.reached - 1].mean())
        return int((told.codes >= 0).sum()), int((told.codes == 1).sum()), mean_price


def made_points(name: str) -> list[Point]:
    """Return points of one stage each, on rows that are as hard for all of them as `name` says."""
    levels = np.arange(N_LEVELS) / (N_LEVELS - 1)
    points = np.arange(N_POINTS)[:, None] / (N_POINTS - 1)
    accuracy, alike = {
        "just too bad": (np.full(N_LEVELS, 0.89), 0.0),
        "just too bad, alike": (np.full(N_LEVELS, 0.89), 0.8),
        "surer is better": (0.6 + 0.35 * levels + 0.04 * points, 0.5),
        "the surest are the worst": (np.where(levels > 0.8, 0.86, 0.92) - 0.02 * points, 0.3),
        "some are good": (np.where(points > 0.7, 0.95, 0.86) + 0.03 * levels, 0.0),
    }[name]
    rng = np.random.default_rng(0)
    common, found = rng.random((2, N_ROWS)), []
    for number, own in enumerate(np.broadcast_to(accuracy, (N_POINTS, N_LEVELS)).clip(0, 1)):
        of_level, of_right = np.where(rng.random(N_ROWS) < alike, common, rng.random((2, N_ROWS)))
        level = (of_level * N_LEVELS).astype(np.int64)
        right = of_right < own[level]
        answers = StageAnswers(
            (level + 1) / N_LEVELS, right, np.ones(N_ROWS, dtype=bool), right.astype(np.int64)
        )
        found.append(Point([answers], np.array([1.0 + number])))
    return found


def fitted_points(
    X: pd.DataFrame, y: Any, fit: Any, chose: Any, others: Any, **options: Any
) -> list[list[Point]]:
    """Find a front, and return what its points answer on the selection rows and on others."""
    stages = MultiStageClassifier(
        confidence=0.6, max_stages=3, method="enumerate" if X.shape[1] <= 8 else "emsco",
        emsco_options=EmscoOptions(population=80, generations=40), **options,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowCoverageWarning)
        stages.fit(X.iloc[fit], y[fit], validation=(X.iloc[chose], y[chose]))
    return [_points(stages, X.iloc[rows], y[rows]) for rows in (chose, others)]


def _points(stages: MultiStageClassifier, X: pd.DataFrame, y: Any) -> list[Point]:
    encoding, rule, models = stages._encoding, stages._rule, stages._models
    given = encoded_rows(stages, encoding, X, y)
    decisions = stages.front_.decisions.astype(np.int8)
    asked = point_answers(
        decisions,
        lambda subset, _: answers_of_model((models[subset.tobytes()], 0.0), rule, encoding, given, subset),
    )
    bought = [acquired(one[None, :], len(own))[0] for one, own in zip(decisions, asked, strict=True)]
    costs = stages.costs_
    return [Point(own, costs.price(sets) / costs.scale) for own, sets in zip(asked, bought, strict=True)]


def staged_points() -> list[Point]:
    """Return the points of a front of stages on made rows, which it was not found on."""
    X, y = make_classification(
        N_ROWS + 350, 6, n_informative=4, n_redundant=1, flip_y=0.1, class_sep=1.2, random_state=3
    )
    rows = np.arange(len(y))
    parts = rows[:200], rows[200:350], rows[350:]
    return fitted_points(pd.DataFrame(X), y, *parts, feature_costs=[1, 2, 5, 9, 20, 40], random_state=0)[1]


def given_promises(
    chose: Sequence[Point], calibration: Sequence[Point], demand: Demand, *, by_price: bool = True
) -> dict[str, tuple[list[Guarantee], list[float]]]:
    """Return the promises of each order of tests, and the threshold from which each point is reported."""
    trials = []
    for one, held in zip(chose, calibration, strict=True):
        best = np.max([stage.scores for stage in one.stages], axis=0)
        thresholds = possible_thresholds(best[best >= 0])
        counts = count_staged(one.stages, thresholds), count_staged(held.stages, thresholds)
        trials.append(Trial(thresholds, *counts))
    together, told = promise_each(trials, demand)
    alone = [promise(*trial, demand) for trial in trials]
    found = {
        "all thresholds, most expected first": (list(together), told.tolist()),
        "each point alone": (alone, [one.threshold for one in alone]),
    }
    if not by_price:
        return found
    n_rows = trials[0].calibration.n_rows
    places = [
        int((chances_to_pass(trial.chosen, n_rows, demand) * trial.chosen.right).argmax()) for trial in trials
    ]
    planned = [float(trial.thresholds[place]) for trial, place in zip(trials, places, strict=True)]
    price = np.array([point.does(threshold)[2] for point, threshold in zip(chose, planned, strict=True)])
    for name, order in (
        ("cheapest point first", np.argsort(price)),
        ("dearest point first", np.argsort(-price)),
    ):
        kept, going = [Guarantee(*demand, np.inf, n_rows, 0, 0)] * len(trials), True
        for point in order:
            counts, place = trials[point].calibration, places[point]
            answered, right = int(counts.answered[place]), int(counts.right[place])
            going = going and bool(tail(answered, answered - right, demand) <= demand.error)
            if going:
                kept[point] = Guarantee(*demand, planned[point], n_rows, answered, right)
        found[name] = kept, planned
    return found


def one_se(chose: Sequence[Point], promised: Sequence[int], told: Sequence[float]) -> int:
    """Return the point that the usual rule picks among those that are promised."""
    n_rows = len(chose[0].stages[0].scores)
    does = np.array([chose[point].does(told[point])[1:] for point in promised])
    share = does[:, 0] / n_rows
    enough = np.flatnonzero(share >= share.max() - np.sqrt(share.max() * (1 - share.max()) / n_rows))
    return promised[int(enough[np.lexsort((-share[enough], does[enough, 1]))[0]])]


def broken_promises(population: Sequence[Point], demand: Demand, seeds: Sequence[int]) -> pd.DataFrame:
    """Draw rows that choose and rows that calibrate, and count the draws in which a promise is broken.

    A row for each draw and order of tests: points that are promised, whether any of them is right too seldom
    on the population, whether the one is that is picked by the usual rule, and the one of the best test.
    """
    rows = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        drawn = rng.integers(0, N_ROWS, N_CHOOSE), rng.integers(0, N_ROWS, N_CALIBRATE)
        chose, calibration = ([point.on(part) for point in population] for part in drawn)
        orders = given_promises(chose, calibration, demand, by_price=False)
        for order, (given, told) in orders.items():
            promised = [point for point, one in enumerate(given) if one.promised]
            broken = set()
            for point in promised:
                answered, right, _ = population[point].does(given[point].threshold)
                if right < demand.accuracy * answered:
                    broken.add(point)
            picks = []
            if promised:
                looks = [
                    tail(given[p].n_answered, given[p].n_answered - given[p].n_right, demand)
                    for p in promised
                ]
                picks = [one_se(chose, promised, told), promised[int(np.argmin(looks))]]
            bad = [pick in broken for pick in picks] or [False, False]
            rows.append((order, len(promised), bool(broken), *bad))
    return pd.DataFrame(rows, columns=["order", "promised", "any", "one-se", "best looking"])


def front_promises(*, n_draws: int = N_DRAWS) -> Iterator[dict[str, Any]]:
    """Count broken promises of 90 % at a confidence of 95 %, on made points and on a front of stages."""
    demand = Demand(0.9, 0.95)
    for name in (*MADE, "a front of stages"):
        population = staged_points() if name == "a front of stages" else made_points(name)
        found = broken_promises(population, demand, range(n_draws))
        for order, own in found.groupby("order", sort=False):
            yield {
                "population": name, "order": order, "n_points": len(population), "n_draws": n_draws,
                "n_with_promises": int((own["promised"] > 0).sum()),
                "mean_promised": float(own["promised"].mean()), "n_broken": int(own["any"].sum()),
                "n_broken_one_se": int(own["one-se"].sum()),
                "n_broken_best_looking": int(own["best looking"].sum()),
            }  # fmt: skip


def front_promises_answered(folder: Path, *, seeds: int = 6) -> Iterator[dict[str, Any]]:
    """Measure what the point does on new rows that the usual rule picks, by each order of tests."""
    for accuracy, tables in TABLES.items():
        for name, seed in itertools.product(tables, range(seeds)):
            X, y = read_uci(folder, name)
            rng = np.random.default_rng(seed)
            rows = rng.permutation(len(y))
            fit, chose, others = np.split(rows, [int(0.35 * len(y)), int(0.6 * len(y))])
            costs = (10 ** rng.uniform(0, 2, X.shape[1])).round(1).tolist()
            as_chosen, rest = fitted_points(X, y, fit, chose, others, feature_costs=costs, random_state=seed)
            found = []
            for split in range(N_SPLITS):
                mixed = np.random.default_rng(split).permutation(len(others))
                held, test = np.split(mixed, [len(others) // 2])
                orders = given_promises(as_chosen, [point.on(held) for point in rest], Demand(accuracy, 0.95))
                for order, (given, told) in orders.items():
                    promised = [point for point, one in enumerate(given) if one.promised]
                    does = (0, 0, 0.0)
                    if promised:
                        pick = one_se(as_chosen, promised, told)
                        does = rest[pick].on(test).does(given[pick].threshold)
                    found.append((order, len(promised) > 0, len(promised), len(test), *does[:2]))
            names = ["order", "n_with_promises", "n_promised", "n_test", "n_answered", "n_right"]
            for order, sums in (
                pd.DataFrame(found, columns=names).groupby("order", sort=False).sum().iterrows()
            ):
                case = {
                    "data": name,
                    "accuracy": accuracy,
                    "seed": seed,
                    "order": order,
                    "n_splits": N_SPLITS,
                }
                yield case | {"n_points": len(rest)} | {what: int(count) for what, count in sums.items()}
