"""Stages where a miss costs ten, beside logistic regression on all tests, on generated patients.

python -m benchmarks hospital
"""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from shortlist.errors import LowCoverageWarning
from shortlist.multistage import MultiStageClassifier, feature_costs

SHARE_ILL = 0.14
TESTS: Mapping[str, tuple[float, float, float]] = {
    "age": (0, 0, 0.5), "pulse": (1, 0.1, 0.8), "temperature": (1, 0.1, 0.9), "pressure": (2, 0.2, 0.7),
    "crp": (8, 2, 1.6), "leukocytes": (8, 2, 1.4), "ultrasound": (40, 4, 1.9), "scan": (120, 24, 2.4),
}  # fmt: skip
"""Price and hours of each test, and by how many standard deviations it is higher where somebody is ill."""
COMMON = 0.2
"""Part of a deviation that all tests of a patient have in common."""
MISS = 10
"""Cost of telling somebody ill that they are healthy; a false alarm costs 1."""
PERSON = 0.5


def patients(n_rows: int, seed: int) -> pd.DataFrame:
    """Return generated patients with their tests and their status, ``ill`` or ``healthy``."""
    rng = np.random.default_rng(seed)
    ill, common = rng.random(n_rows) < SHARE_ILL, rng.normal(size=n_rows)
    tests = {
        name: shift * ill + COMMON * common + rng.normal(size=n_rows) for name, (_, _, shift) in TESTS.items()
    }
    return pd.DataFrame(tests).round(3).assign(status=np.where(ill, "ill", "healthy"))


def hospital(*, seeds: int = 4, n_rows: int = 2000, n_new: int = 30_000) -> Iterator[dict[str, Any]]:
    """Yield what each way does on new patients: the cost of errors, misses, the price of tests, and hours."""
    new = patients(n_new, 1)
    prices = feature_costs(
        {name: told[0] for name, told in TESTS.items()}, list(TESTS),
        attributes={"hours": {name: told[1] for name, told in TESTS.items()}},
    )  # fmt: skip
    ways: dict[str, dict[str, Any]] = {
        "stages, errors counted": {},
        "stages, a miss costs ten": {"error_costs": {"ill": MISS}},
        "stages, a person for 0.5": {"error_costs": {"ill": MISS}, "hand_over": PERSON},
    }
    for seed in range(10, 10 + seeds):
        table = patients(n_rows, seed)
        X, y = table[list(TESTS)], table["status"].to_numpy()
        regression = LogisticRegression().fit(X, y == "ill")
        said = np.where(regression.predict_proba(new[list(TESTS)])[:, 1] >= 1 / (1 + MISS), "ill", "healthy")
        total = sum(told[0] for told in TESTS.values())
        yield _row("logistic regression on all tests", seed, said, new, np.full(n_new, total))
        for name, options in ways.items():
            stages = MultiStageClassifier(feature_costs=prices, random_state=0, **options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LowCoverageWarning)
                stages.fit(X, y)
            report = stages.decision_report(new[list(TESTS)])
            yield _row(name, seed, report["label"].to_numpy(), new, report["cost"].to_numpy())


def _row(name: str, seed: int, said: Any, new: pd.DataFrame, paid: Any) -> dict[str, Any]:
    truth = new["status"].to_numpy()
    ill, left = truth == "ill", said == "REJECT"
    wrong = (said != truth) & ~left
    return {
        "case": "hospital", "method": name, "seed": seed,
        "error_cost": float(np.where(left, PERSON, wrong * np.where(ill, MISS, 1.0)).mean()),
        "missed": float((wrong & ill).sum() / ill.sum()), "handed_over": float(left.mean()),
        "price": float(np.mean(paid)),
    }  # fmt: skip
