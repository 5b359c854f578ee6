"""Questions of the regret table: instances of each kind of question, and every engine that can answer it."""

import contextlib
import importlib.util
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from shortlist.runs.budget import LEAST_SECONDS, Budget, processor_seconds, seconds_now

DEFAULT = "default"
"""The engine that users get who name none."""


@dataclass(frozen=True)
class Answer:
    """Answer of an engine."""

    value: float
    """Value of the answer, larger is better; NaN without an answer."""
    complete: bool
    """Whether the engine claims that nothing is better, or missing."""
    bound: float = np.nan
    """Bound that no answer exceeds, as far as the engine proved it; NaN where it bounds nothing."""
    facts: Any = None
    """Facts that two complete answers must share, such as the points of a front."""


NONE = Answer(np.nan, complete=False)

Engine = Callable[[Any, Budget], Answer]


@dataclass(frozen=True)
class Instance:
    """A question with a name; `make` takes the folder of real data."""

    name: str
    make: Callable[[Path], Any]


@dataclass(frozen=True)
class Kind:
    """Questions of one kind; a new engine is one more entry of `engines`."""

    name: str
    instances: tuple[Instance, ...]
    engines: Mapping[str, Engine]
    tiny: Callable[[np.random.Generator], Any]
    """Makes a small question, on which the engines are compared in tests, and whose kernels are then loaded."""


def solvers() -> tuple[str, ...]:
    """Return the installed solvers, by their names in options."""
    packages = {
        "highs": "highspy",
        "cpsat": "ortools",
        "scip": "ortools",
        "gurobi": "gurobipy",
        "cplex": "cplex",
    }
    return tuple(name for name, package in packages.items() if importlib.util.find_spec(package))


@contextlib.contextmanager
def processor_time() -> Iterator[None]:
    """Let every budget that is made in here count processor seconds, which a busy machine lengthens less.

    Solvers count seconds of the clock: they get as many as this process needed so far for what is left.
    """
    make: Any = Budget.__init__
    usual = make.__defaults__
    start, worked = time.perf_counter(), processor_seconds()

    def clock_seconds(budget: Budget) -> float:
        pace = (time.perf_counter() - start) / max(LEAST_SECONDS, processor_seconds() - worked)
        return max(LEAST_SECONDS, (budget.deadline - budget.clock()) * max(1.0, pace))

    make.__defaults__ = tuple(processor_seconds if one is seconds_now else one for one in usual)
    with mock.patch.object(Budget, "left", property(clock_seconds)):
        try:
            yield
        finally:
            make.__defaults__ = usual


def share_of_box(points: np.ndarray, ideal: np.ndarray, nadir: np.ndarray) -> float:
    """Return the part of the box from the worst to the best values that minimised points dominate."""
    from shortlist.pareto import hypervolume

    if not len(points):
        return 0.0
    width = np.where(nadir > ideal, nadir - ideal, 1.0)
    return float(hypervolume((points - ideal) / width, np.full(points.shape[1], 1.0001)))
