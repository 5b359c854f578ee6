"""Products drawn so that each has the same probability."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_count
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.products.encodings.clauses import to_clauses
from shortlist.products.feature_models.model import FeatureModel
from shortlist.runs.budget import Budget


def diverse_products(products: ArrayLike, n: int) -> NDArray[np.intp]:
    """Choose products of which every two differ in many features.

    The first two are far apart; each further one is the product whose nearest chosen one is farthest. The
    smallest distance between chosen products is then at least half of what any choice of `n` could reach
    (:cite:t:`Gonzalez1985`).

    Parameters
    ----------
    products : array-like of bool or 0/1, shape (n_products, n_features)
        What to choose from, such as the decisions of a front.
    n : int
        How many to choose.

    Returns
    -------
    ndarray of int, shape (min(n, n_products),)
        Numbers of the chosen products, in the order of choice; ties go to the first. Takes
        O(n · n_products · n_features) time.

    Raises
    ------
    BadInputError
        If `products` is no table.

    Examples
    --------
    >>> diverse_products([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 0, 0]], 3).tolist()
    [0, 2, 1]
    """
    table = np.asarray(products).astype(bool)
    if table.ndim != 2:
        raise BadInputError("products", "must be a table, one product a row", f"shape {table.shape}")
    n = min(as_count(n, "n", at_least=0), len(table))
    chosen: list[int] = []
    nearest = np.full(len(table), table.shape[1] + 1)
    for _ in range(n):
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, (table != table[chosen[-1]]).sum(axis=1))
        nearest[chosen] = -1
    return np.array(chosen, dtype=np.intp)


def smallest_distance(products: NDArray[np.bool_]) -> int:
    """Return in how many features the two most similar products differ; 0 if there are fewer than two."""
    distances = [
        int((products[place + 1 :] != row).sum(axis=1).min()) for place, row in enumerate(products[:-1])
    ]
    return min(distances, default=0)


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
