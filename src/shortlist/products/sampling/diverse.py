"""A few of many products, as far apart as can be."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_count
from shortlist.errors import BadInputError


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
