"""Recall and specificity as objectives: searches with several weights of the two kinds of mistakes.

For one weight the front of loss and price is searched as for any cost of mistakes, complete or not. The
policies of all weights are then compared by missed positives, false alarms and price. So what is found is the
best at some weight and price; a point that no weight makes the best is not looked for.
"""

from dataclasses import replace

import numpy as np

from shortlist._words import counted
from shortlist.panels.recipes import Candidate, Cases, Recipe, followed, undominated
from shortlist.panels.search import find_policies
from shortlist.runs.budget import Budget

DOUBLINGS = 4
"""A share of missed positives counts from a 16th of as many false alarms to 16 times as much."""
FINEST_WEIGHT = 4
"""The smaller of two weights; the other one is rounded to a whole number."""


def weights_of(n_positive: int, n_negative: int) -> list[tuple[int, int]]:
    """Return what a missed positive and a false alarm cost, from the balanced weights to both sides.

    >>> weights_of(50, 100)[:3]
    [(8, 4), (4, 4), (16, 4)]
    """
    doublings = sorted(range(-DOUBLINGS, DOUBLINGS + 1), key=abs)
    ratios = [n_negative / n_positive * 2.0**one for one in doublings]
    return list(
        dict.fromkeys(
            (round(FINEST_WEIGHT * ratio), FINEST_WEIGHT)
            if ratio >= 1
            else (FINEST_WEIGHT, round(FINEST_WEIGHT / ratio))
            for ratio in ratios
        )
    )


def find_by_two_errors(cases: Cases, *, max_stages: int, budget: Budget) -> tuple[list[Candidate], list[str]]:
    """Search policies by missed positives, false alarms and price.

    `cases`: of two classes. `found`, which it returns: with both kinds of errors; their loss is that of
    `cases`.
    """
    n_positive = int((cases.truth == cases.positive).sum())
    weights = weights_of(n_positive, len(cases.truth) - n_positive)
    found: dict[Recipe, Candidate] = {}
    claims: list[str] = []
    n_done = 0
    for missed, alarm in weights:
        losses = cases.losses * np.where(np.arange(2) == cases.positive, missed, alarm)
        searched = find_policies(replace(cases, losses=losses), max_stages=max_stages, budget=budget)
        for one in searched.found:
            if one.recipe not in found:
                found[one.recipe] = with_errors(cases, one)
        claims = claims or searched.claims
        if budget.stopped:
            break
        n_done += 1
    told = (
        f"For recall and specificity, all this is searched with {counted(n_done, 'weight')} of a missed "
        f"positive against a false alarm, from 1:{2**DOUBLINGS} to {2**DOUBLINGS}:1 in shares. Points that "
        "are best with none of these weights are not searched."
    )
    return undominated(list(found.values())), [*claims, told]


def with_errors(cases: Cases, found: Candidate) -> Candidate:
    """Return a policy with its missed positives and false alarms; a case without an answer is missed.

    A person makes no error.
    """
    told = followed(cases, found.recipe)
    wrong = cases.scored(told.codes) != cases.truth
    wrong &= ~told.handed_over
    is_positive = cases.truth == cases.positive
    errors = int((wrong & is_positive).sum()), int((wrong & ~is_positive).sum())
    return found._replace(loss=int(cases.loss_of(told).sum()), errors=errors)
