"""The least value that products leave to a sum over their features, by an integer program."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.milp.program import LinearObjective
from shortlist.milp.session import open_solver
from shortlist.milp.solution import Limits
from shortlist.products.encodings.inequalities import to_program
from shortlist.products.feature_models.evaluation import are_valid
from shortlist.products.feature_models.model import FeatureModel
from shortlist.results.objective import Objective
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget

SECONDS_PER_VALUE = 10.0
"""Limit of each program that looks for a least value."""


@dataclass(frozen=True)
class Least:
    """What is known of the least value of a sum of integers.

    Attributes
    ----------
    value : int or None
        Of the best product found; None if none was.
    bound : int or None
        No product has less; None if nothing is known, or if there is no product.
    possible : bool
        False where it is proved that there is no product.
    """

    value: int | None = None
    bound: int | None = None
    possible: bool = True

    @property
    def proved(self) -> bool:
        """Whether the value is the least there is, or there is no product."""
        return not self.possible or (self.value is not None and self.value == self.bound)


IMPOSSIBLE = Least(possible=False)


def least_value(
    model: FeatureModel,
    coefficients: NDArray[np.int64],
    literals: Iterable[int] = (),
    *,
    budget: Budget | None = None,
) -> Least:
    """Find the least sum of coefficients of selected features over the products in which literals hold.

    Parameters
    ----------
    model : FeatureModel
        What the products are of, limits included.
    coefficients : ndarray of int64, shape (n_features,)
        What every selected feature adds; their sizes sum to less than 2^53.
    literals : iterable of int
        i + 1 for feature i selected, -(i + 1) for deselected.
    budget : Budget, optional
        How long the program may take, and at most :data:`SECONDS_PER_VALUE`.

    Returns
    -------
    Least
        Its value is added up from a product that was checked against the rules of the model. Its bound is
        the solver's, as far as the rule of sizes believes it (:mod:`shortlist.milp.whole_rows`).

    Raises
    ------
    SolverError
        If the solver fails.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")])
    >>> costs = np.array([0, 5, 3])
    >>> least_value(shop, costs), least_value(shop, -costs, [1]).value, least_value(shop, costs, [-1])
    (Least(value=3, bound=3, possible=True), -8, Least(value=None, bound=None, possible=False))
    """
    return best_product(model, coefficients, literals, budget=budget)[0]


def best_product(
    model: FeatureModel,
    coefficients: NDArray[np.int64],
    literals: Iterable[int] = (),
    *,
    budget: Budget | None = None,
) -> tuple[Least, Mask | None]:
    """Return what is known of the least sum, and the best product that was found; see :func:`least_value`."""
    asked = set(literals)
    if any(-literal in asked for literal in asked):
        return IMPOSSIBLE, None
    budget = budget or Budget()
    goal = LinearObjective(Objective("sum"), coefficients.astype(np.float64))
    program = to_program(model, objectives=[goal], fixed=asked)
    limits = Limits(SECONDS_PER_VALUE).within(budget)
    answer = open_solver().open(program).solve(limits, cancellation=budget.cancellation)
    if answer.status is Status.INFEASIBLE and answer.bound == math.inf:
        return IMPOSSIBLE, None
    bound = math.ceil(answer.bound) if math.isfinite(answer.bound) else None
    if answer.values is None:
        return Least(None, bound), None
    selected = answer.values[: model.n_features] > 0.5
    meets = all(selected[abs(v) - 1] == (v > 0) for v in asked)
    if not meets or not are_valid(model, selected[None, :].astype(np.uint8)).all():
        return Least(None, bound), None
    return Least(int(coefficients[selected].sum()), bound), selected
