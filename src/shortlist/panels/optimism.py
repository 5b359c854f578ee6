"""Optimism of the points of a front: how much better points look on the training cases than on new cases."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from shortlist.arrays import Floats
from shortlist.panels.objectives import ACCURACY, ERROR_COST, sign_of
from shortlist.panels.panel_choice import PanelChoice
from shortlist.panels.recipes import Candidate

LEAST_NEIGHBOURS = 2
"""Least number of neighbours by price, on each side of a point, over which optimism is averaged; a quarter of
all points if this is more.
"""


def without_optimism(choice: PanelChoice) -> PanelChoice:
    """Return a choice whose front has the first objective without the optimism of its selection.

    The values on the training cases are kept in the extras of the front as ``on_training_cases``. Fronts of
    more than two objectives stay unchanged, as their points have no neighbours by price. Fronts of promises
    stay unchanged too, as promises have passed a test.

    Takes as long as running every measured point once: the points of the front, or of the fronts found
    without each part.
    """
    name = choice.front.names[0]
    is_plain = name in {ACCURACY, ERROR_COST} and len(choice.front.names) == 2
    if not is_plain or choice.guarantees or not len(choice.found):
        return choice
    values = choice.front.values.copy()
    told = values[:, 0].copy()
    price = values[:, choice.front.names.index("price")]
    values[:, 0] = corrected(told, _optimism(choice, _points), price, sign_of(name))
    extras = {**choice.front.extras, "on_training_cases": told.tolist()}
    of_two = ()
    if choice.of_two:
        each = [choice.values_of(one) for one in choice.of_two]
        own, paid = (np.array([one[which] for one in each]) for which in (name, "price"))
        of_two = tuple(corrected(own, _optimism(choice, _of_two), paid, sign_of(name)).tolist())
    return replace(choice, front=replace(choice.front, values=values, extras=extras), of_two_values=of_two)


def corrected(told: Floats, optimism: Floats, price: Floats, sign: int) -> Floats:
    """Return values minus their optimism, averaged over neighbours by price.

    No point becomes better than its value on the training cases. No point becomes worse than a cheaper point,
    as the same budget could buy the cheaper point.

    `told`, `optimism`, `price`, ``(n_points,)``. `sign`: 1 where more is better.

    >>> corrected(np.array([0.8, 0.9, 0.9]), np.full(3, 0.01), np.array([1.0, 2.0, 3.0]), 1).round(3).tolist()
    [0.79, 0.89, 0.89]
    """
    order = np.argsort(price, kind="stable")
    reach = max(LEAST_NEIGHBOURS, len(told) // 4)
    taken = np.empty(len(told))
    for place, point in enumerate(order):
        near = order[max(0, place - reach) : place + reach + 1]
        taken[point] = max(0.0, float(optimism[near].mean()))
    values = sign * told - taken
    values[order] = np.maximum.accumulate(values[order])
    return np.asarray(sign * values)


Found = Callable[[PanelChoice], tuple[Candidate, ...]]
"""Function from a choice to policies; no policy dominates another."""


def _points(choice: PanelChoice) -> tuple[Candidate, ...]:
    return choice.found


def _of_two(choice: PanelChoice) -> tuple[Candidate, ...]:
    return choice.of_two


def _optimism(choice: PanelChoice, found_in: Found) -> Floats:
    """Return the optimism of policies, ``(n_policies,)``.

    The optimism comes from hold-out cases, or from choices without each part.
    """
    if not choice.parts:
        return _told_less_true(choice, found_in(choice))
    found = np.zeros(len(found_in(choice)))
    for part in choice.parts:
        others = found_in(part)
        own, price = _told_less_true(part, others), np.array([one.price for one in others])
        loss = np.array([one.loss for one in others])
        for point, one in enumerate(found_in(choice)):
            # the point that is chosen in the same way: the best for at most the mean price of this one
            most = one.price / (len(choice.chosen.truth) * choice.steps) * (1 + 1e-9)
            within = price <= most * len(part.chosen.truth) * part.steps
            same = int(np.where(within, loss, np.inf).argmin()) if within.any() else int(price.argmin())
            found[point] += own[same] * len(part.test.truth)
    return found / sum(len(part.test.truth) for part in choice.parts)


def _told_less_true(choice: PanelChoice, found: tuple[Candidate, ...]) -> Floats:
    """Return for each policy its value on the training cases minus its value on the measuring cases."""
    scoring, sign = choice.scoring(choice.test), sign_of(choice.front.names[0])
    panels = [choice.of_recipe(one.recipe) for one in found]
    true = [scoring.value(float(scoring.of(one.run(choice.test), choice.test).mean())) for one in panels]
    told = [choice.values_of(one)[choice.front.names[0]] for one in found]
    return np.asarray(sign * (np.array(told) - np.array(true)))
