"""Policies as recipes, and the cases that choose among them: what each costs there, out of fold."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.panels.decisions import IGNORED, PLURALITY, Heard, Votes
from shortlist.panels.learning import VOTES, OutOfFold
from shortlist.panels.policy import Final, Stage

Judges = tuple[int, ...]
"""Judges who are asked side by side, or all who have been asked so far."""


@dataclass(frozen=True)
class Recipe:
    """How a policy is made: sets of judges asked one after the other, and what each is sure enough from.

    Attributes
    ----------
    sets : tuple of tuple of int
        The judges asked so far, after each stage.
    thresholds : tuple of tuple of float
        For each stage the least that ends a case, by class; empty where the last stage answers all.
    learner : str
        Who decides: a key of the decisions out of fold, or ``"votes"``.
    settled : bool, default=False
        With votes: judges are asked one after the other until the class is settled.
    rule, missing : str
        With votes: as :class:`shortlist.panels.decisions.Votes` has them.
    """

    sets: tuple[Judges, ...]
    thresholds: tuple[tuple[float, ...], ...]
    learner: str
    settled: bool = False
    rule: str = PLURALITY
    missing: str = IGNORED


class Found(NamedTuple):
    """A policy with its loss and its price, summed over the cases that choose.

    Attributes
    ----------
    loss, price : int
        In steps.
    seconds : float
        Mean latency; NaN where not known.
    recipe : Recipe
    """

    loss: int
    price: int
    seconds: float
    recipe: Recipe


@dataclass(frozen=True, eq=False)
class Cases:
    """The cases that choose: answers, the truth, and what answers and mistakes cost, in whole steps.

    Attributes
    ----------
    answers : Heard
    truth : ndarray of int64, shape (n_cases,)
        All known.
    prices : ndarray of int64, shape (n_cases, n_judges)
    latency : ndarray of float, shape (n_cases, n_judges)
        In seconds; NaN where not known.
    losses : ndarray of int64, shape (n_classes + 1, n_classes)
        Of deciding a class, or nothing, the last row, where the second is the truth.
    final : Final
    final_price : int
        What a person costs, in steps.
    decisions : mapping of str to OutOfFold
        By the name of the learner.
    rule, missing : str
        How votes decide.
    """

    answers: Heard
    truth: NDArray[np.int64]
    prices: NDArray[np.int64]
    latency: Floats
    losses: NDArray[np.int64]
    final: Final
    final_price: int
    decisions: Mapping[str, OutOfFold] = field(default_factory=dict)
    rule: str = PLURALITY
    missing: str = IGNORED

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return int(self.prices.shape[1])

    def losses_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what deciding these classes loses on each case."""
        return np.asarray(self.losses[codes, self.truth])

    def price_of(self, judges: Judges) -> NDArray[np.int64]:
        """Return what asking some judges about each case costs."""
        return np.asarray(self.prices[:, list(judges)].sum(axis=1))

    def seconds_of(self, judges: Judges) -> Floats:
        """Return how long judges who are asked side by side take about each case."""
        return np.asarray(self.latency[:, list(judges)].max(axis=1))


def right_or_wrong(n_classes: int) -> NDArray[np.int64]:
    """Return losses of 1 for every decision that is not right; nothing decided is not right."""
    return np.vstack([1 - np.eye(n_classes, dtype=np.int64), np.ones((1, n_classes), dtype=np.int64)])


def stages_of(
    recipe: Recipe,
    decisions: Mapping[str, OutOfFold],
    n_classes: int,
    places: dict[int, int] | None = None,
) -> tuple[Stage, ...]:
    """Return the stages of a recipe, its decisions fitted on all cases.

    Parameters
    ----------
    recipe : Recipe
    decisions : mapping of str to OutOfFold
    n_classes : int
    places : mapping of int to int, optional
        New places of the judges, in the same order.
    """
    moved = places or {judge: judge for one in recipe.sets for judge in one}
    every = recipe.sets[-1]
    stages: list[Stage] = []
    asked: set[int] = set()
    for judges, thresholds in zip(recipe.sets, recipe.thresholds, strict=True):
        asks = tuple(moved[judge] for judge in judges if judge not in asked)
        asked.update(judges)
        if recipe.learner == VOTES:
            known = tuple(moved[judge] for judge in judges)
            votes = (1,) * (len(every) if recipe.settled else len(judges))
            decision: Any = Votes(known, votes, recipe.rule, recipe.missing)
        else:
            fitted = decisions[recipe.learner].of(judges).decision
            renamed = tuple(moved[judge] for judge in sorted(judges))
            decision = replace(fitted, judges=renamed)  # type: ignore[type-var]  # all are dataclasses
        least = thresholds or (0.0,) * n_classes
        stages.append(Stage(asks, decision, tuple(least), settled=recipe.settled))
    return tuple(stages)
