"""Ten different model families with randomised parameters, from which a pool is made.

Their rows are standardised (see :mod:`shortlist.ensembles.pools.encoder`), so that absolute penalties mean
the same for every table. The imports of scikit-learn are lazy: listing the families costs no time.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from shortlist._jit import kernel
from shortlist._words import counted
from shortlist.arrays import Floats, FloatTable, LongTable, Mask
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from
from shortlist.tables.fit_inputs import refuse_fit_options

ROWS_AT_ONCE = 1024
"""Number of rows answered at a time; Ctrl-C takes effect between two such blocks."""


@kernel("void(float64[:, ::1], float64[:, ::1], int64, float64[::1], int64[:, ::1], float64[:, ::1])")
def find_nearest(  # noqa: PLR0917  # kernels take no keywords
    asked: FloatTable, columns: FloatTable, p: int, away: Floats, places: LongTable, nearest: FloatTable
) -> None:
    """Find the nearest rows of each row of `asked`, in order of distance, the first of equals first.

    `columns`: the rows to compare with, transposed. `away`: buffer for the distance of each row: a sum of
    absolute differences (`p` 1) or of squares (`p` 2), added up column by column. `places`, ``(n_asked,
    n_nearest)``: receives the indices of the nearest rows; there must be at least `n_nearest` rows.
    `nearest`, in the same shape: receives the distances of the nearest rows.
    """
    n_nearest = places.shape[1]
    for q in range(len(asked)):
        away[:] = 0.0
        for j in range(len(columns)):
            own = asked[q, j]
            column = columns[j]
            if p == 1:
                for i in range(len(away)):
                    away[i] += abs(own - column[i])
            else:
                for i in range(len(away)):
                    apart = own - column[i]
                    away[i] += apart * apart
        found = 0
        for i in range(len(away)):
            if found == n_nearest and away[i] >= nearest[q, n_nearest - 1]:
                continue
            place = min(found, n_nearest - 1)
            while place > 0 and nearest[q, place - 1] > away[i]:
                nearest[q, place] = nearest[q, place - 1]
                places[q, place] = places[q, place - 1]
                place -= 1
            nearest[q, place] = away[i]
            places[q, place] = i
            found = min(found + 1, n_nearest)


@saved_from("shortlist.ensembles")
class NearestRows(ClassifierMixin, BaseEstimator):
    """Classifier by the classes of the nearest rows; of equally near rows the first rows vote.

    A distance is a sum of absolute differences, or of squared differences, added up from the first column to
    the last in double precision. So every program that adds in this order finds the same rows. Scikit-learn's
    classifier leaves the order of equally near rows open, and its distances depend on the way in which
    matrices are multiplied.

    `n_neighbors`: number of rows that vote. `weights`: ``"uniform"`` for equal votes, or ``"distance"`` for
    votes of one over the distance; rows at distance 0, if any, vote alone. `p`: 1 for Manhattan distance, 2
    for Euclidean distance. `classes_`, ``(n_classes,)``: the classes, sorted. `rows_`, ``(n_rows,
    n_columns)``: the rows that vote. `codes_`, ``(n_rows,)``: their classes, as indices into `classes_`.

    >>> X, y = np.array([[0.0], [2.0], [4.0]]), np.array([0, 1, 1])
    >>> NearestRows(1, weights="uniform", p=2).fit(X, y).predict(np.array([[1.0], [3.0]])).tolist()
    [0, 1]
    """

    def __init__(self, n_neighbors: int = 5, *, weights: str = "uniform", p: int = 2) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.p = p

    def fit(self, X: NDArray[np.float64], y: NDArray[np.intp], **unsupported: Any) -> Self:
        """Store the rows, at least `n_neighbors`, and their classes; raise an error for weights of rows."""
        refuse_fit_options(self, unsupported)
        self.classes_, self.codes_ = np.unique(y, return_inverse=True)
        self.rows_ = np.array(X, dtype=np.float64)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every row, the first of equals, ``(n_samples,)``."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of every class among the nearest rows, ``(n_samples, n_classes)``.

        Raises BadInputError if fewer rows than `n_neighbors` were fitted.

        Takes O(n_samples · n_rows · n_columns) time.
        """
        if not 1 <= self.n_neighbors <= len(self.rows_):
            raise BadInputError(
                "n_neighbors",
                f"must be from 1 to the {counted(len(self.rows_), 'row')} that were fitted",
                self.n_neighbors,
            )
        asked = np.ascontiguousarray(X, dtype=np.float64)
        columns, away = np.ascontiguousarray(self.rows_.T), np.empty(len(self.rows_))
        found = np.zeros((len(asked), len(self.classes_)))
        for start in range(0, len(asked), ROWS_AT_ONCE):
            shares = found[start : start + ROWS_AT_ONCE]
            places = np.empty((len(shares), self.n_neighbors), dtype=np.int64)
            nearest = np.empty(places.shape)
            find_nearest(asked[start : start + ROWS_AT_ONCE], columns, self.p, away, places, nearest)
            weights, every = self._weights(nearest), np.arange(len(shares))
            for codes, weight in zip(self.codes_[places].T, weights.T, strict=True):
                shares[every, codes] += weight
        totals = np.add.accumulate(found, axis=1)[:, -1:]
        return np.asarray(found / totals)

    def _weights(self, away: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of the votes of the nearest rows, in the shape of `away`.

        `away`: sums of absolute or squared differences between each row and its nearest rows.
        """
        if self.weights == "uniform":
            return np.ones_like(away)
        away = np.sqrt(away) if self.p == 2 else away
        same: Mask = away == 0
        nearest = away[:, :1]
        return np.where(nearest == 0, same, nearest / np.where(same, 1.0, away))


class Family(NamedTuple):
    """Recipe for the classifiers of one family: a builder, and the shares of rows and columns."""

    build: Callable[[np.random.Generator, int, int], Any]
    """Function ``build(rng, n_rows, n_columns)``, which draws parameters and returns an unfitted scikit-learn
    classifier for a table of this size.
    """
    description: str
    """Description of the family in one line."""
    replace: bool
    """Whether rows are drawn with replacement (a bootstrap)."""
    rows: tuple[float, float]
    """Least and largest share of the rows that are drawn, from 0 to 1; the share itself is drawn
    uniformly.
    """
    columns: tuple[float, float]
    """Least and largest share of the columns that are drawn, from 0 to 1, without replacement."""
    most_rows: int
    """Largest number of drawn rows, which bounds the time on large tables."""
    whole: bool = False
    """Whether columns that are constant in the drawn rows are kept."""


@saved_from("shortlist.ensembles")
class RidgeCovariance(BaseEstimator):
    """The covariance (1 − r)·S + r·I of :cite:t:`Friedman1989`, never singular for r > 0."""

    def __init__(self, r: float) -> None:
        self.r = r

    def fit(self, X: NDArray[np.float64]) -> "RidgeCovariance":
        """Set ``covariance_`` from rows of standardised columns; return the object itself."""
        centred = X - X.mean(axis=0)
        self.covariance_ = (1 - self.r) * (centred.T @ centred) / len(X) + self.r * np.eye(X.shape[1])
        return self


def logistic_regression(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return an unfitted linear classifier with a ridge penalty."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(
        C=_log_uniform(rng, 1e-3, 1e2), class_weight=_class_weight(rng), tol=1e-3, max_iter=200
    )


def linear_discriminant(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return an unfitted Fisher discriminant with a shrunken common covariance."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=float(rng.uniform(0.01, 0.9)))


def quadratic_discriminant(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return an unfitted discriminant with a normal distribution per class.

    The covariance of each class has a ridge.
    """
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    ridge = RidgeCovariance(_log_uniform(rng, 1e-2, 0.9))
    return QuadraticDiscriminantAnalysis(solver="eigen", covariance_estimator=ridge)


def naive_bayes(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return an unfitted classifier with independent normal columns per class."""
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB(var_smoothing=_log_uniform(rng, 1e-6, 1e-1))


def nearest_neighbours(rng: np.random.Generator, n_rows: int, _n_columns: int) -> Any:
    """Return an unfitted vote of the nearest rows, in Manhattan or Euclidean distance."""
    neighbours = int(rng.integers(1, 26))
    return NearestRows(
        min(neighbours, n_rows), weights=str(rng.choice(["uniform", "distance"])), p=int(rng.integers(1, 3))
    )


def decision_tree(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return one unfitted tree that sees some of the columns at each split."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(
        criterion=str(rng.choice(["gini", "entropy"])),
        max_depth=int(rng.integers(2, 16)),
        min_samples_leaf=int(rng.integers(1, 21)),
        max_features=float(rng.uniform(0.3, 1)),
        class_weight=_class_weight(rng),
        random_state=_seed(rng),
    )


def random_forest(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return a small unfitted forest of deep trees."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        n_estimators=int(rng.integers(10, 41)),
        max_features=float(rng.uniform(0.1, 0.6)),
        min_samples_leaf=int(rng.integers(1, 6)),
        class_weight=_class_weight(rng),
        random_state=_seed(rng),
        n_jobs=1,
    )


def gradient_boosting(rng: np.random.Generator, _n_rows: int, _n_columns: int) -> Any:
    """Return unfitted boosted trees on binned columns."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        learning_rate=_log_uniform(rng, 0.03, 0.3),
        max_iter=int(rng.integers(20, 61)),
        max_leaf_nodes=int(rng.integers(3, 25)),
        min_samples_leaf=int(rng.integers(5, 31)),
        l2_regularization=_log_uniform(rng, 1e-3, 10),
        max_features=float(rng.uniform(0.3, 1)),
        max_bins=64,
        early_stopping=False,
        random_state=_seed(rng),
    )


def neural_network(rng: np.random.Generator, n_rows: int, _n_columns: int) -> Any:
    """Return an unfitted perceptron with one or two hidden layers."""
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(
        hidden_layer_sizes=tuple(int(size) for size in rng.integers(8, 49, size=rng.integers(1, 3))),
        activation=str(rng.choice(["relu", "tanh"])),
        alpha=_log_uniform(rng, 1e-5, 1),
        learning_rate_init=_log_uniform(rng, 1e-3, 1e-2),
        batch_size=min(n_rows, int(rng.integers(32, 257))),
        max_iter=int(rng.integers(15, 61)),
        random_state=_seed(rng),
    )


def kernel_machine(rng: np.random.Generator, n_rows: int, n_columns: int) -> Any:
    """Return unfitted logistic regression on a Nyström approximation of the Gaussian kernel."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    gamma = _log_uniform(rng, 0.1, 3) / n_columns
    landmarks = min(n_rows, int(rng.integers(30, 151)))
    return make_pipeline(
        Nystroem(gamma=gamma, n_components=landmarks, random_state=_seed(rng)),
        LogisticRegression(
            C=_log_uniform(rng, 1e-1, 1e2), class_weight=_class_weight(rng), tol=1e-3, max_iter=200
        ),
    )


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "logistic-regression": Family(
            logistic_regression, "linear, ridge penalty", True, (1.0, 1.0), (0.5, 1.0), 20_000
        ),
        "decision-tree": Family(decision_tree, "one pruned tree", True, (1.0, 1.0), (0.5, 1.0), 50_000),
        "naive-bayes": Family(
            naive_bayes, "independent normal columns per class", False, (0.3, 0.9), (0.2, 0.8), 50_000
        ),
        "nearest-neighbours": Family(
            nearest_neighbours, "vote of the nearest rows", False, (0.5, 0.9), (0.3, 1.0), 4_000
        ),
        "random-forest": Family(
            random_forest, "a small forest of deep trees", False, (0.4, 0.9), (0.5, 1.0), 10_000
        ),
        "linear-discriminant": Family(
            linear_discriminant, "common covariance, shrunken", True, (0.5, 1.0), (0.4, 1.0), 50_000
        ),
        "gradient-boosting": Family(
            gradient_boosting, "boosted small trees", False, (0.5, 0.9), (0.5, 1.0), 20_000
        ),
        "neural-network": Family(
            neural_network, "perceptron with one or two hidden layers", True, (1.0, 1.0), (0.5, 1.0), 10_000
        ),
        "quadratic-discriminant": Family(
            quadratic_discriminant,
            "one covariance per class, with a ridge",
            True,
            (0.5, 1.0),
            (0.3, 0.8),
            50_000,
        ),
        "kernel-machine": Family(
            kernel_machine,
            "Gaussian kernel, approximated, with a logistic link",
            True,
            (1.0, 1.0),
            (0.5, 1.0),
            20_000,
        ),
    }
)
"""Families by name, in the order in which the classifiers of a pool are taken from them."""


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))


def _class_weight(rng: np.random.Generator) -> str | None:
    """Return "balanced" with probability 1/4, otherwise None.

    So if one class is rare, some classifiers of the pool favour it.
    """
    return "balanced" if rng.random() < 0.25 else None
