"""LightGBM with prices of features, as an opponent; rows pay for the features on their paths."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice, as_count, as_not_negative, as_positive
from shortlist.arrays import Labels, Longs, Mask
from shortlist.errors import MissingDependencyError
from shortlist.pickles import saved_from
from shortlist_papers.opponents.budgeted_classifier import (
    AskedOpponent,
    BudgetedClassifier,
    Candidates,
    tried,
)
from shortlist_papers.opponents.greedy_miser import feature_of_columns

CHARGES = {"feature": "cegb_penalty_feature_coupled", "row": "cegb_penalty_feature_lazy"}
"""Names of LightGBM's penalties by the payer of a feature: the model, once, or each row that needs the
feature.
"""


@saved_from("shortlist_papers")
@dataclass(frozen=True, eq=False)
class PricedBooster:
    """First rounds of a LightGBM booster, with the features above each leaf of its trees."""

    booster: Any
    """Fitted booster with all trees."""
    n_rounds: int
    """Number of boosting rounds that answer; a round has one tree, or one tree per class."""
    paths: tuple[Mask, ...]
    """Mask of the features above each leaf, ``(n_leaves, n_features)``; one array per tree."""
    n_features: int
    """Number of features."""

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities, ``(n_rows, n_classes)``."""
        found = np.asarray(self.booster.predict(rows, num_iteration=self.n_rounds, num_threads=1))
        return found if found.ndim == 2 else np.column_stack([1.0 - found, found])

    def bought(self, rows: NDArray[np.float64]) -> Mask:
        """Return the mask of the features on each row's paths over all trees, ``(n_rows, n_features)``."""
        leaves = self.booster.predict(rows, num_iteration=self.n_rounds, pred_leaf=True, num_threads=1)
        bought = np.zeros((len(rows), self.n_features), dtype=bool)
        for above, reached in zip(self.paths, np.asarray(leaves).T, strict=False):
            bought |= above[reached.astype(np.int64)]
        return bought


def leaf_paths(booster: Any, feature_of: Longs, n_features: int) -> tuple[Mask, ...]:
    """Return the mask of the features above each leaf of each tree, from the booster's own dump."""
    paths = []
    for tree in booster.dump_model()["tree_info"]:
        above = np.zeros((max(1, tree["num_leaves"]), n_features), dtype=bool)
        waiting: list[tuple[dict[str, Any], frozenset[int]]] = [(tree["tree_structure"], frozenset())]
        while waiting:
            node, known = waiting.pop()
            if "split_feature" in node:
                known |= {int(feature_of[node["split_feature"]])}
                waiting += [(node["left_child"], known), (node["right_child"], known)]
            else:
                above[node.get("leaf_index", 0), sorted(known)] = True
        paths.append(above)
    return tuple(paths)


@saved_from("shortlist_papers")
@dataclass(eq=False, repr=False, kw_only=True)
class CostAwareLightGBM(BudgetedClassifier):
    """LightGBM with a price for every feature, paid once or by each row, and a terminal reject.

    Gradient boosting with LightGBM's penalties for features (after :cite:t:`Peter2017`), a common choice
    today. While trees grow, `charge` decides who pays for a feature: the model at its first split by the
    feature (``cegb_penalty_feature_coupled``), or every row that needs the feature
    (``cegb_penalty_feature_lazy``). The penalty is the price of the feature alone, relative to the price of
    all features, times `trade_off`, times the number of paying rows; if the model pays, all rows count. To be
    answered, a row pays once for each feature on its paths over all trees. Needs the extra ``lightgbm``.

    `feature_costs`, `confidence`, `validation_share`, `reject_label`, `answer_rejected`, `random_state`: as
    in every opponent, see :class:`BudgetedClassifier`. `trade_off`: factor of prices, at least 0; several are
    tuned. `charge`: payer while the trees grow: ``"feature"``, the first split by a feature, for all rows;
    ``"row"``, every row that reaches such a split for the first time. `n_trees`: number of rounds; several
    are tuned. `learning_rate`: above 0. `n_leaves`: largest number of leaves of a tree, at least 2.

    Raises MissingDependencyError if LightGBM is not installed; when fitting.
    """

    CHECKS = BudgetedClassifier.CHECKS | {
        "charge": partial(as_choice, choices=tuple(CHARGES)),
        "learning_rate": as_positive,
        "n_leaves": partial(as_count, at_least=2),
        "trade_off": partial(tried, check=as_not_negative),
        "n_trees": partial(tried, check=as_count),
    }

    trade_off: float | Sequence[float] = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.0)
    n_trees: int | Sequence[int] = (10, 25, 50, 100)
    learning_rate: float = 0.1
    n_leaves: int = 8
    charge: str = "feature"

    def check_options(self, y: Labels) -> None:
        """Raise an error for unusable options or a missing package, before any long work."""
        super().check_options(y)
        needed_lightgbm()

    def _candidates(self, asked: AskedOpponent) -> Candidates:
        """Yield every trade-off with every number of rounds; one booster is fitted for all numbers."""
        rows, costs = asked.rows, asked.costs
        lightgbm = needed_lightgbm()
        rounds = sorted(tried(self.n_trees, "n_trees", as_count))
        feature_of = feature_of_columns(rows)
        alone = costs.price(np.eye(rows.n_features, dtype=bool)) / max(1, costs.total)
        several = rows.n_classes > 2
        for trade_off in sorted(tried(self.trade_off, "trade_off", as_not_negative), reverse=True):
            price = trade_off * alone[feature_of]
            if self.charge == "feature":
                price = price * len(rows.fit_rows)
            settings = {
                "objective": "multiclass" if several else "binary",
                **({"num_class": rows.n_classes} if several else {}),
                "cegb_tradeoff": 1.0,
                CHARGES[self.charge]: price.tolist(),
                "learning_rate": self.learning_rate,
                "num_leaves": self.n_leaves,
                "verbosity": -1,
                "num_threads": 1,
                "deterministic": True,
                "force_row_wise": True,
                "seed": asked.seed % 2**31,
            }
            data = lightgbm.Dataset(rows.fit_rows, rows.fit_labels, params=settings, free_raw_data=False)
            booster = lightgbm.train(settings, data, rounds[-1])
            paths = leaf_paths(booster, feature_of, rows.n_features)
            for n_trees in rounds:
                model = PricedBooster(booster, n_trees, paths, rows.n_features)
                yield {"trade_off": trade_off, "n_trees": n_trees}, model


def needed_lightgbm() -> Any:
    """Return the package LightGBM; raise MissingDependencyError if it is not installed."""
    try:
        import lightgbm
    except ImportError:
        raise MissingDependencyError(
            "the method lightgbm needs the lightgbm package. Install it: pip install 'shortlist[lightgbm]'."
        ) from None
    return lightgbm
