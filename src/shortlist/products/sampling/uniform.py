"""Products drawn so that each has the same probability."""

import numpy as np

from shortlist._validation import as_count
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.products.encodings.clauses import to_clauses
from shortlist.products.feature_models.model import FeatureModel
from shortlist.runs.budget import Budget

DRAWN_NODES = 2_000_000
"""Nodes of a diagram that is made to draw from."""


def uniform_sample(
    model: FeatureModel,
    n: int,
    *,
    rng: np.random.Generator | None = None,
    max_nodes: int = DRAWN_NODES,
    budget: Budget | None = None,
) -> Mask:
    """Draw products of a model, each with the same probability, with replacement.

    Parameters
    ----------
    model : FeatureModel
        What the products are of.
    n : int
        How many to draw.
    rng : numpy.random.Generator, optional
        Source of the draws; default: a fixed one.
    max_nodes : int, default=2_000_000
        Budget of the decision diagram from which they are drawn.
    budget : Budget, optional
        How long the diagram may take.

    Returns
    -------
    ndarray of bool, shape (n, n_features)

    Raises
    ------
    BadInputError
        If the model has no product, or its diagram does not fit: then nothing uniform can be drawn.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "alternative")])
    >>> sorted(set(map(tuple, uniform_sample(shop, 20).tolist())))
    [(True, False, True), (True, True, False)]
    """
    from shortlist.logic.compilation import compile_diagram

    n = as_count(n, "n", at_least=0)
    diagram = compile_diagram(to_clauses(model), max_nodes=max_nodes, budget=budget)
    if diagram is None:
        raise BadInputError(
            f"uniform products need a diagram, which did not fit into {max_nodes:,} nodes or the time limit. "
            "Raise them."
        )
    if not diagram.n_models:
        raise BadInputError("the model must have a product to draw samples from. Remove a contradiction.")
    drawn = diagram.sample(n, rng=np.random.default_rng(0) if rng is None else rng)
    return drawn[:, : model.n_features]
