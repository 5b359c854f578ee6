"""The complete front of made decisions in at most 4 stages, 173 rows, no fits: the size is the number of features."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.registry import Case, register
from shortlist.multistage.problem.costs import feature_costs
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.multistage.search.stage_objectives import stage_problem
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.logistic_fits import LogisticSubclassifiers
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits, StageRows


def build(size: int) -> Callable[[], Any]:
    """Fit every subset of made features, outside the clock."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(346, size))
    y = (X @ np.linspace(1, 0.2, size) + rng.normal(size=346) > 0).astype(np.int64)
    names = [str(i) for i in range(size)]
    rows = StageRows(learn_encoding(X, names), X[:173], y[:173], X[173:], y[173:], 2)
    decisions = DecisionBits(LogisticSubclassifiers(rows), reject_rule(0.75, np.array([0, 1])))
    problem = stage_problem(decisions, feature_costs(rng.integers(1, 50, size).tolist(), names), max_stages=4)
    decisions.every_subset()
    return lambda: enumerate_front(problem).front()


register(Case("multistage-front", build, sizes=(6, 12)))
