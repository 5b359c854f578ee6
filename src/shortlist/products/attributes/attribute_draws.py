"""The random attributes of the study of Xue & Li (2018), by seed."""

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice
from shortlist.products.attributes.attribute import Attribute
from shortlist.products.feature_models.model import FeatureModel

VARIANTS = ("paper", "program")
"""What the paper says, and what its authors' program does."""


def random_attributes(
    model: FeatureModel, *, rng: np.random.Generator, variant: str = "paper"
) -> dict[str, Attribute]:
    """Draw cost, defects and not_used_before for every feature.

    ``paper`` (Sec. 5.1.5 of :cite:t:`Xue2018`): cost normal within [5, 15], defects an integer normal within
    [0, 10]. The paper states neither mean nor deviation: the middle of the range and a sixth of its width are
    our choice, values outside are drawn again. ``program``: cost uniform in [5, 15], defects binomial with 10
    trials and probability 0.5. In both the cost has two decimals and not_used_before is 0 or 1 with equal
    probability.

    Parameters
    ----------
    model : FeatureModel
        Whose features; one draw for each, in order.
    rng : Generator
        Source of randomness: the same seed gives the same attributes.
    variant : {"paper", "program"}, default="paper"
        Which of the two.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_model
    >>> drawn = random_attributes(make_model(["A", "B"]), rng=np.random.default_rng(1))
    >>> sorted(drawn), drawn["cost"].scale
    (['cost', 'defects', 'not_used_before'], 100)
    """
    as_choice(variant, "variant", VARIANTS)
    n = model.n_features
    if variant == "paper":
        cost = _normal_within(500, 1500, n, rng)
        defects = _normal_within(0, 10, n, rng)
    else:
        cost = rng.integers(500, 1500, size=n, endpoint=True)
        defects = rng.binomial(10, 0.5, size=n).astype(np.int64)
    fresh = rng.integers(0, 2, size=n)
    return {
        "cost": Attribute("cost", cost, 100),
        "defects": Attribute("defects", defects),
        "not_used_before": Attribute("not_used_before", fresh),
    }


def _normal_within(low: int, high: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `n` rounded normal numbers within bounds."""
    drawn: NDArray[np.float64] = np.full(n, low - 1.0)
    while (outside := (drawn < low) | (drawn > high)).any():
        drawn[outside] = rng.normal((low + high) / 2, (high - low) / 6, size=int(outside.sum()))
    return np.rint(drawn).astype(np.int64)
