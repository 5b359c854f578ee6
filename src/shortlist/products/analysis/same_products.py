"""Whether two models whose features correspond have the same products."""

from collections.abc import Sequence

import numpy as np

from shortlist.arrays import Mask
from shortlist.products.analysis.implication import first_breach, joined, renumbered
from shortlist.products.encodings.clauses import traced_clauses
from shortlist.products.feature_models.model import FeatureModel
from shortlist.runs.budget import Budget


def first_difference(
    model: FeatureModel, other: FeatureModel, variables: Sequence[int], *, budget: Budget | None = None
) -> Mask | None:
    """Return features that only one of two models allows, or None if their products are the same.

    Parameters
    ----------
    model : FeatureModel
        One of them.
    other : FeatureModel
        The other one. It has all features of the first, and may have auxiliary ones and a new root.
    variables : sequence of int
        For each feature of `other` what it stands for: a variable of
        :func:`~shortlist.products.encodings.clauses.to_clauses` of `model`, or 0 for a feature that every
        product of `other` must have. All features of `model` must be there.
    budget : Budget, optional
        Ends the search by :class:`~shortlist.logic.sat.SearchStoppedError`.

    Returns
    -------
    ndarray of bool, shape (n_features of `model`,), or None
        A product of one model that is no product of the other, or that has another number of them. None
        proves that every product of `model` belongs to exactly one product of `other`, and the reverse.

    Notes
    -----
    Each clause of one model is looked at under all clauses of the other, as a question about
    satisfiability. Auxiliary variables are no obstacle: the clauses that define them give them exactly one
    value for all features, and those that both models have are compared as if they were features.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card"], root=0, groups=[make_group(0, [1], "optional")])
    >>> turned = make_model(["Card", "Shop"], root=1, groups=[make_group(1, [0], "mandatory")])
    >>> first_difference(shop, turned, [2, 1]).tolist()
    [True, False]
    """
    mine, theirs = traced_clauses(model), traced_clauses(other)
    n_known = theirs.clauses.n_variables
    numbers = np.zeros(mine.clauses.n_variables + 1, dtype=np.int64)
    for place, variable in enumerate(variables, start=1):
        numbers[variable] = place if variable else 0
    hidden = 1 + np.flatnonzero(numbers[1:] == 0)  # auxiliary variables that the other one does not have
    assert (hidden > model.n_features).all(), "every feature has its place in the other model"
    numbers[hidden] = n_known + 1 + np.arange(len(hidden))
    n = n_known + len(hidden)
    own = renumbered(mine.clauses, numbers, n)
    core = [(place,) for place, variable in enumerate(variables, start=1) if not variable]
    is_hidden = np.zeros(n + 1, dtype=bool)
    is_hidden[n_known + 1 :] = True

    claims: list[tuple[int, ...]] = []
    definitions: list[tuple[int, ...]] = []
    for clause, rule in zip(own, mine.rules.tolist(), strict=True):
        defines = rule < 0 and any(is_hidden[abs(literal)] for literal in clause)
        (definitions if defines else claims).append(clause)
    rules = [c for c, rule in zip(theirs.clauses, theirs.rules.tolist(), strict=True) if rule >= 0]
    meant = [c for c, rule in zip(theirs.clauses, theirs.rules.tolist(), strict=True) if rule < 0]
    found = first_breach(joined(n, own, core, meant), rules, budget=budget)
    if found is None:
        found = first_breach(
            joined(n, theirs.clauses, definitions), [*claims, *core], known=theirs.clauses, budget=budget
        )
    return None if found is None else found[numbers[1 : model.n_features + 1] - 1].copy()
