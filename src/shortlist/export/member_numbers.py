"""Fitted classifiers of scikit-learn as plain numbers: the families of a pool, and what is like them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = dict[str, Any]
"""What the reader needs to answer as a classifier does, as JSON has it."""


def numbers_of(estimator: Any) -> Numbers | None:
    """Return a fitted classifier as plain numbers, or None where there is no way to write it.

    The types must be these very ones: a subclass may answer otherwise.
    """
    write = _WRITERS.get(f"{type(estimator).__module__.split('.')[0]}.{type(estimator).__name__}")
    return None if write is None else write(estimator)


def _linear(estimator: Any) -> Numbers:
    weights = np.atleast_2d(np.asarray(estimator.coef_, dtype=float))
    intercepts = np.broadcast_to(np.asarray(estimator.intercept_, dtype=float), len(weights))
    return {"kind": "linear", "weights": weights.tolist(), "intercepts": intercepts.tolist()}


def _most_likely(estimator: Any) -> Numbers | None:
    """Linear classifiers without probabilities: the class of the highest score."""
    if hasattr(estimator, "predict_proba"):
        return None
    return {"kind": "highest", "single": False, "of": _linear(estimator)}


def _quadratic(estimator: Any) -> Numbers:
    classes = []
    for mean, turn, spread, prior in zip(
        estimator.means_, estimator.rotations_, estimator.scalings_, estimator.priors_, strict=True
    ):
        classes.append(
            {
                "constant": float(np.log(prior) - 0.5 * np.log(spread).sum()),
                "mean": mean.tolist(),
                "axes": turn.T.tolist(),
                "weights": (1 / spread).tolist(),
            }
        )
    return {"kind": "normal", "classes": classes}


def _naive(estimator: Any) -> Numbers:
    classes = [
        {
            "constant": float(np.log(prior) - 0.5 * np.log(2 * np.pi * variance).sum()),
            "mean": mean.tolist(),
            "weights": (1 / variance).tolist(),
        }
        for mean, variance, prior in zip(
            estimator.theta_, estimator.var_, estimator.class_prior_, strict=True
        )
    ]
    return {"kind": "normal", "classes": classes}


def _tree(tree: Any) -> Numbers:
    values = tree.value[:, 0, :]
    return {
        "left": tree.children_left.tolist(),
        "right": tree.children_right.tolist(),
        "feature": tree.feature.tolist(),
        "threshold": tree.threshold.tolist(),
        "value": (values / values.sum(axis=1, keepdims=True)).tolist(),
    }


def _one_tree(estimator: Any) -> Numbers:
    return {"kind": "forest", "trees": [_tree(estimator.tree_)]}


def _forest(estimator: Any) -> Numbers:
    return {"kind": "forest", "trees": [_tree(one.tree_) for one in estimator.estimators_]}


def _boosting(estimator: Any) -> Numbers | None:
    """Boosted trees, which a private part of scikit-learn holds; the check row by row is on guard."""
    if estimator.is_categorical_ is not None:
        return None
    predictors: Any = estimator._predictors  # noqa: SLF001  # nothing public has them
    start = np.ravel(estimator._baseline_prediction).tolist()  # noqa: SLF001  # likewise
    rounds = [[_boosted_tree(tree.nodes) for tree in trees] for trees in predictors]
    return {"kind": "boosting", "start": start, "rounds": rounds}


def _boosted_tree(nodes: NDArray[Any]) -> Numbers:
    leaf = nodes["is_leaf"].astype(bool)
    return {
        "left": np.where(leaf, -1, nodes["left"].astype(np.int64)).tolist(),
        "right": np.where(leaf, -1, nodes["right"].astype(np.int64)).tolist(),
        "feature": nodes["feature_idx"].tolist(),
        "threshold": np.where(leaf, 0.0, nodes["num_threshold"]).tolist(),
        "value": nodes["value"].tolist(),
    }


def _network(estimator: Any) -> Numbers | None:
    if estimator.activation not in {"relu", "tanh"}:
        return None
    return {
        "kind": "network",
        "activation": estimator.activation,
        "weights": [layer.T.tolist() for layer in estimator.coefs_],
        "intercepts": [shifts.tolist() for shifts in estimator.intercepts_],
    }


def _neighbours(estimator: Any) -> Numbers | None:
    """Write the rows that the classifier was fitted on, which the policy then holds."""
    if estimator.weights not in {"uniform", "distance"} or estimator.effective_metric_ not in {
        "manhattan", "euclidean", "minkowski",
    }:  # fmt: skip
        return None
    power = {"manhattan": 1, "euclidean": 2}.get(estimator.effective_metric_, estimator.p)
    return {
        "kind": "neighbours",
        "n": int(estimator.n_neighbors),
        "power": float(power),
        "by_distance": estimator.weights == "distance",
        "n_classes": len(estimator.classes_),
        "rows": np.asarray(estimator._fit_X, dtype=float).tolist(),  # noqa: SLF001  # likewise
        "labels": np.asarray(estimator._y).ravel().tolist(),  # noqa: SLF001  # likewise
    }


def _nearest_rows(estimator: Any) -> Numbers:
    """Write our own nearest neighbours, which settle every tie as the reader does."""
    return {
        "kind": "neighbours",
        "n": int(estimator.n_neighbors),
        "power": float(estimator.p),
        "by_distance": estimator.weights == "distance",
        "n_classes": len(estimator.classes_),
        "rows": estimator.rows_.tolist(),
        "labels": estimator.codes_.tolist(),
    }


def _pipeline(estimator: Any) -> Numbers | None:
    steps = [step for _, step in estimator.steps]
    then = numbers_of(steps[1]) if len(steps) == 2 else None
    if then is None:
        return None
    first = type(steps[0]).__name__
    if first == "StandardScaler":
        return _of_standard_scores(steps[0], then)
    return _kernel(steps[0], then) if first == "Nystroem" else None


def _of_standard_scores(scaler: Any, then: Numbers) -> Numbers | None:
    if then["kind"] == "highest":
        of = _of_standard_scores(scaler, then["of"])
        return None if of is None else then | {"of": of}
    if then["kind"] != "linear":
        return None
    weights = np.asarray(then["weights"]) / (scaler.scale_ if scaler.with_std else 1.0)
    shifts = weights @ scaler.mean_ if scaler.with_mean else np.zeros(len(weights))
    return then | {"weights": weights.tolist(), "intercepts": (then["intercepts"] - shifts).tolist()}


def _kernel(landmarks: Any, then: Numbers) -> Numbers | None:
    """Write a kernel by landmarks, then a classifier, as the family of kernel machines has it."""
    if landmarks.kernel != "rbf" or landmarks.gamma is None:
        return None
    return {
        "kind": "kernel",
        "gamma": float(landmarks.gamma),
        "rows": landmarks.components_.tolist(),
        "mixing": landmarks.normalization_.tolist(),
        "then": then,
    }


def _constant(estimator: Any) -> Numbers | None:
    if estimator.strategy != "prior":
        return None
    return {"kind": "constant", "probabilities": np.asarray(estimator.class_prior_).tolist()}


_WRITERS: dict[str, Callable[[Any], Numbers | None]] = {
    "sklearn.LogisticRegression": _linear,
    "sklearn.LinearDiscriminantAnalysis": _linear,
    "sklearn.RidgeClassifier": _most_likely,
    "sklearn.RidgeClassifierCV": _most_likely,
    "sklearn.SGDClassifier": _most_likely,
    "sklearn.Perceptron": _most_likely,
    "sklearn.LinearSVC": _most_likely,
    "sklearn.QuadraticDiscriminantAnalysis": _quadratic,
    "sklearn.GaussianNB": _naive,
    "sklearn.DecisionTreeClassifier": _one_tree,
    "sklearn.ExtraTreeClassifier": _one_tree,
    "sklearn.RandomForestClassifier": _forest,
    "sklearn.ExtraTreesClassifier": _forest,
    "sklearn.HistGradientBoostingClassifier": _boosting,
    "sklearn.MLPClassifier": _network,
    "sklearn.KNeighborsClassifier": _neighbours,
    "shortlist.NearestRows": _nearest_rows,
    "sklearn.Pipeline": _pipeline,
    "sklearn.DummyClassifier": _constant,
}
