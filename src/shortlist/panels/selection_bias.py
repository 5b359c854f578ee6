"""Selection bias: how much the best policy of a family gains in looks by being chosen among many."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.panels.candidates import near_front, trade_offs
from shortlist.panels.recipes import Candidate, Cases, followed, measured_cases

MOST_MEASURED, MOST_TRADE_OFFS = 100, 20
"""Largest number of a family's policies measured case by case, and of trade-offs for the best policy."""


def without_selection_bias(cases: Cases, families: Mapping[object, Sequence[Candidate]]) -> list[Candidate]:
    """Return the policies near the front of each family, with the family's selection bias in their losses.

    The loss of a policy is out of fold, by decisions learned without the fold of each case. The selection
    bias of the policy's family is added. The bias is the loss of the policies best on the other folds, minus
    the loss of the policy best on all folds, averaged over trade-offs of loss and price. So a family of one
    policy has no bias, and a family with hundreds of thresholds has a large bias.

    Takes as long as measuring :data:`MOST_MEASURED` policies of each family case by case.

    `families`: all policies of each family, dominated or not.
    """
    assert cases.folds is not None
    held_out = measured_cases(cases)
    found = list[Candidate]()
    for every in families.values():
        near = near_front(every, MOST_MEASURED)
        outcomes = [followed(held_out, one.recipe) for one in near]
        loss = np.column_stack([held_out.loss_of(one) for one in outcomes]).astype(np.float64)
        price = np.column_stack([one.price for one in outcomes]).astype(np.float64)
        bias = selection_bias(loss, price, cases.folds)
        told = np.maximum(loss.sum(axis=0), [one.loss for one in near]) + bias
        found += [
            one._replace(loss=math.ceil(lost - 1e-9)) for one, lost in zip(near, told.tolist(), strict=True)
        ]
    return found


def selection_bias(loss: Floats, price: Floats, folds: NDArray[np.int64]) -> float:
    """Return the loss of the policies best on the other folds, minus the loss of the policy best on all.

    `loss`, `price`, ``(n_cases, n_policies)``. `folds`, ``(n_cases,)``.

    >>> loss = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    >>> selection_bias(loss, np.zeros((3, 2)), np.arange(3))
    1.0
    """
    if loss.shape[1] == 1:
        return 0.0
    slopes = trade_offs(np.column_stack([loss.sum(axis=0), price.sum(axis=0)]), MOST_TRADE_OFFS)
    sums = [(loss[folds == fold].sum(axis=0), price[folds == fold].sum(axis=0)) for fold in np.unique(folds)]
    whole = np.add.reduce(sums)
    biases = []
    for slope in (0.0, *slopes):
        costs = whole[0] + slope * whole[1]
        paid = 0.0
        for lost, cost in sums:
            own = lost + slope * cost
            paid += float(own[(costs - own).argmin()])
        biases.append(paid - float(costs.min()))
    return float(np.mean(biases))
