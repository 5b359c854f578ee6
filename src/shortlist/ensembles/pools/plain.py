"""Plain classifiers: classifiers that a user would try first, with fixed settings; a pool has one of each."""

import importlib.util
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from shortlist._validation import as_seed
from shortlist.ensembles.pools.encoder import NO_FOLDED_COLUMNS, FoldedColumns
from shortlist.ensembles.pools.families import Family
from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.pickles import saved_from
from shortlist.tables.fit_inputs import refuse_fit_options

EVERY = 5
"""Interval of plain classifiers in a pool: every fifth classifier is plain, until each plain kind is in the
pool.
"""

LEAST_ROWS_PER_CLASS = 10
"""Least number of rows per class to hold out a tenth of the rows, which decides when boosting stops."""


@saved_from("shortlist.ensembles")
class PlainBoosting(ClassifierMixin, BaseEstimator):
    """Histogram boosting that treats words as categories and gaps as gaps, and stops early.

    Rows are those encoded by :class:`shortlist.ensembles.pools.encoder.TableEncoder`, with all columns. Words
    and gaps are restored from the encoded columns, as trees need no column for each word. A tenth of the rows
    is held out; boosting ends when the loss on held-out rows has not fallen for ten rounds. With fewer than
    ten rows for each class, all rows are used to fit a hundred rounds.

    `folded`: groups of encoded columns that belong together. `learning_rate`: None means 0.05, or 0.1 with
    more than two classes. `max_leaf_nodes`, `min_samples_leaf`, `l2_regularization`, `max_features`: as in
    scikit-learn's ``HistGradientBoostingClassifier``. `random_state`: seed of the held-out rows. `classes_`,
    ``(n_classes,)``: the classes, sorted. `trees_`: the fitted classifier of scikit-learn; its first columns
    are the words.

    >>> X, y = np.arange(200.0)[:, None], np.repeat([0, 1], 100)
    >>> PlainBoosting().fit(X, y).predict(X[[0, 199]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        folded: FoldedColumns = NO_FOLDED_COLUMNS,
        *,
        learning_rate: float | None = None,
        max_leaf_nodes: int = 31,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        random_state: int = 0,
    ) -> None:
        self.folded = folded
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.random_state = random_state

    def fit(self, X: NDArray[np.float64], y: NDArray[np.intp], **unsupported: Any) -> Self:
        """Fit the trees; raise an error for weights of rows."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        refuse_fit_options(self, unsupported)
        seed = as_seed(self.random_state, "random_state")
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        unfolded = self.folded.unfold(np.asarray(X, dtype=np.float64))
        is_word = np.arange(unfolded.shape[1]) < len(self.folded.words)
        stops = len(y) >= LEAST_ROWS_PER_CLASS * len(self.classes_)
        usual = 0.05 if len(self.classes_) == 2 else 0.1  # decision 141
        self.trees_ = HistGradientBoostingClassifier(
            learning_rate=usual if self.learning_rate is None else self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            l2_regularization=self.l2_regularization,
            max_features=self.max_features,
            max_iter=500 if stops else 100,
            early_stopping=stops,
            categorical_features=is_word if is_word.any() else None,
            random_state=seed,
        ).fit(unfolded, y)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class, ``(n_samples, n_classes)``."""
        return np.asarray(self.trees_.predict_proba(self.folded.unfold(np.asarray(X, dtype=np.float64))))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every row, the first of equals, ``(n_samples,)``."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def plain_boosting(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return unfitted histogram boosting with early stopping."""
    return PlainBoosting(random_state=_seed(rng))


def table_boosting(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return unfitted histogram boosting with early stopping and drawn settings."""
    return PlainBoosting(
        learning_rate=float(np.exp(rng.uniform(np.log(0.06), np.log(0.15)))),
        max_leaf_nodes=int(rng.integers(4, 48)),
        min_samples_leaf=int(rng.integers(5, 60)),
        l2_regularization=float(np.exp(rng.uniform(np.log(1e-3), np.log(10)))),
        max_features=float(rng.uniform(0.3, 1)),
        random_state=_seed(rng),
    )


def plain_extra_trees(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return a hundred unfitted trees with random thresholds."""
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(random_state=_seed(rng), n_jobs=1)


def plain_forest(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return a hundred unfitted deep trees."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=_seed(rng), n_jobs=1)


def plain_logistic(_rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return an unfitted linear classifier with a ridge penalty of 1."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def lightgbm(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return LightGBM's boosted trees, unfitted."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=_seed(rng), n_jobs=1, verbosity=-1)


def xgboost(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return XGBoost's boosted trees, unfitted."""
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=_seed(rng), n_jobs=1, verbosity=0)


def _plain(build: Any, description: str, most_rows: int) -> Family:
    return Family(build, description, False, (1.0, 1.0), (1.0, 1.0), most_rows, whole=True)


PLAIN: Mapping[str, Family] = MappingProxyType(
    {
        "plain-boosting": _plain(
            plain_boosting, "histogram boosting with early stopping, words as categories", 10_000_000
        ),
        "plain-extra-trees": _plain(plain_extra_trees, "a hundred trees with random thresholds", 50_000),
        "plain-forest": _plain(plain_forest, "a hundred deep trees", 50_000),
        "plain-logistic": _plain(plain_logistic, "linear, ridge penalty of 1", 50_000),
        "lightgbm": _plain(lightgbm, "boosted trees of LightGBM", 10_000_000),
        "xgboost": _plain(xgboost, "boosted trees of XGBoost", 10_000_000),
    }
)
"""Plain classifiers by name; plain classifiers of other packages are used only on request."""

OF_TABLES: Mapping[str, Family] = MappingProxyType(
    {
        "table-boosting": _plain(
            table_boosting, "histogram boosting with early stopping and drawn settings", 50_000
        )
    }
)
"""Families for pools on large tables: boosting on all rows and columns, with words as categories."""

USUAL = ("plain-boosting", "plain-extra-trees", "plain-forest", "plain-logistic")
"""Names of the plain classifiers that a pool has by default, in their order."""


def check_plain(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of plain classifiers, checked.

    Raises an error if a name is unknown or listed twice, or if its package is not installed.
    """
    for name in names:
        if name not in PLAIN or list(names).count(name) > 1:
            raise BadInputError("plain", f"must hold different names of {list(PLAIN)}", list(names))
        if name not in USUAL and importlib.util.find_spec(name) is None:
            raise MissingDependencyError(
                f"the classifier {name} needs the {name} package. Install it: pip install {name}."
            )
    return tuple(names)


def with_plain(drawn: Sequence[str], plain: Sequence[str], n: int) -> list[str]:
    """Return the families of `n` classifiers: the families in `drawn` in turn, every fifth one from `plain`.

    >>> with_plain(["a", "b"], ["p"], 7)
    ['a', 'b', 'a', 'b', 'p', 'a', 'b']
    """
    found: list[str] = []
    for place in range(1, n + 1):
        turn, is_turn = divmod(place, EVERY)
        n_before = min((place - 1) // EVERY, len(plain))
        is_plain = not is_turn and turn <= len(plain)
        found.append(plain[turn - 1] if is_plain else drawn[(place - 1 - n_before) % len(drawn)])
    return found


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))
