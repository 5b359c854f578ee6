"""Fitted classifiers of scikit-learn as plain numbers: the families of a pool, and what is like them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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
    """Linear classifiers: the class of the highest score, or with two classes the probability of log loss."""
    if hasattr(estimator, "predict_proba"):
        is_logistic = getattr(estimator, "loss", "") == "log_loss" and len(estimator.classes_) == 2
        return _linear(estimator) if is_logistic else None
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
    return _rounds(estimator, lambda tree: _boosted_tree(tree.nodes))


def _rounds(estimator: Any, write: Callable[[Any], Numbers]) -> Numbers:
    predictors: Any = estimator._predictors  # noqa: SLF001  # nothing public has them
    start = np.ravel(estimator._baseline_prediction).tolist()  # noqa: SLF001  # likewise
    rounds = [[write(tree) for tree in trees] for trees in predictors]
    return {"kind": "boosting", "start": start, "rounds": rounds}


def _plain_boosting(estimator: Any) -> Numbers:
    """Boosted trees over words and gaps, which compare the columns that these are encoded as."""
    trees, folded = estimator.trees_, estimator.folded
    if trees.is_categorical_ is None and not folded.gaps:
        return _rounds(trees, lambda tree: _boosted_tree(tree.nodes))
    columns = _ColumnsOfTrees(
        folded.numbers(estimator.n_features_in_).tolist(), dict(folded.gaps), _columns_of_codes(estimator)
    )
    known: Any = np.empty((0, 8), dtype=np.uint32)
    if folded.words:
        known, _ = trees._bin_mapper.make_known_categories_bitsets()  # noqa: SLF001  # likewise
    return _rounds(trees, lambda tree: _encoded_tree(tree, columns, known))


def _columns_of_codes(estimator: Any) -> list[list[int]]:
    """Return for each column of words the encoded column of every code in its trees."""
    if not estimator.folded.words:
        return []
    ordinal = estimator.trees_._preprocessor.named_transformers_["encoder"]  # noqa: SLF001  # likewise
    return [
        [start + int(code) for code in codes if not np.isnan(code)]
        for (start, _), codes in zip(estimator.folded.words, ordinal.categories_, strict=True)
    ]


class _ColumnsOfTrees(NamedTuple):
    """Encoded columns that trees over words and gaps compare."""

    numbers: list[int]
    """Of each feature that holds numbers, after the words."""
    marks: dict[int, int]
    """Column that marks the gaps of a column of numbers."""
    codes: list[list[int]]
    """Of each feature that holds words: for every code the column that is 1 where it is the word."""


def _encoded_tree(tree: Any, columns: _ColumnsOfTrees, known: Any) -> Numbers:
    """Return a tree over encoded columns: each set of words is a chain of nodes, each gap a node before."""
    found: Numbers = {name: [] for name in ("left", "right", "feature", "threshold", "value")}

    def add(feature: int = 0, threshold: float = 0.0, value: float = 0.0) -> int:
        for name, one in (
            ("left", -1), ("right", -1), ("feature", feature), ("threshold", threshold), ("value", value)
        ):  # fmt: skip
            found[name].append(one)
        return len(found["left"]) - 1

    def join(place: int, left: int, right: int) -> None:
        found["left"][place], found["right"][place] = left, right

    def write(number: int) -> int:
        node = tree.nodes[number]
        if node["is_leaf"]:
            return add(value=float(node["value"]))
        left, right = int(node["left"]), int(node["right"])
        usual, other = (left, right) if node["missing_go_to_left"] else (right, left)
        feature = int(node["feature_idx"])
        if node["is_categorical"]:
            bits = tree.raw_left_cat_bitsets[node["bitset_idx"]]
            apart = [
                add(column, 0.5)
                for code, column in enumerate(columns.codes[feature])
                if _is_in(known[feature], code) and (left if _is_in(bits, code) else right) == other
            ]
            if not apart:
                return write(usual)
            ends = write(usual), write(other)
            for place, then in zip(apart, [*apart[1:], ends[0]], strict=True):
                join(place, then, ends[1])
            return apart[0]
        column = columns.numbers[feature - len(columns.codes)]
        mark = columns.marks.get(column)
        gap = None if mark is None else add(mark, 0.0)
        place = add(column, float(node["num_threshold"]))
        join(place, write(left), write(right))
        if gap is None:
            return place
        join(gap, place, found["left"][place] if usual == left else found["right"][place])
        return gap

    write(0)
    return found


def _is_in(bits: Any, code: int) -> bool:
    return bool(int(bits[code // 32]) >> (code % 32) & 1)


def _boosted_tree(nodes: NDArray[Any]) -> Numbers:
    leaf = nodes["is_leaf"].astype(bool)
    return {
        "left": np.where(leaf, -1, nodes["left"].astype(np.int64)).tolist(),
        "right": np.where(leaf, -1, nodes["right"].astype(np.int64)).tolist(),
        "feature": nodes["feature_idx"].tolist(),
        "threshold": np.where(leaf, 0.0, nodes["num_threshold"]).tolist(),
        "value": nodes["value"].tolist(),
    }


def _older_boosting(estimator: Any) -> Numbers:
    """Boosted trees that compare in single precision."""
    width = np.zeros((1, estimator.n_features_in_))
    start = np.ravel(estimator._raw_predict_init(width)).tolist()  # noqa: SLF001  # likewise
    rounds = [
        [
            _tree(one.tree_) | {"value": (estimator.learning_rate * one.tree_.value[:, 0, 0]).tolist()}
            for one in trees
        ]
        for trees in estimator.estimators_
    ]
    return {"kind": "boosting", "single": True, "start": start, "rounds": rounds}


def _lightgbm(estimator: Any) -> Numbers | None:
    """Boosted trees of LightGBM, as it dumps them; it folds the start into the first round."""
    dumped = estimator.booster_.dump_model()
    n_scores, trees = dumped["num_tree_per_iteration"], []
    if estimator.objective_ not in {"binary", "multiclass"} or dumped["average_output"]:
        return None
    for info in dumped["tree_info"]:
        tree: Numbers = {name: [] for name in ("left", "right", "feature", "threshold", "value")}
        if not _dumped_nodes(info["tree_structure"], tree):
            return None
        trees.append(tree)
    rounds = [trees[first : first + n_scores] for first in range(0, len(trees), n_scores)]
    return {"kind": "boosting", "start": [0.0] * n_scores, "rounds": rounds}


def _dumped_nodes(node: Any, tree: Numbers) -> bool:
    """Add a node and all below it; False where one compares otherwise than by ``<=``."""
    place, inner = len(tree["left"]), "split_feature" in node
    for name, value in (
        ("left", place + 1 if inner else -1), ("right", -1), ("feature", node.get("split_feature", 0)),
        ("threshold", node.get("threshold", 0.0)), ("value", node.get("leaf_value", 0.0)),
    ):  # fmt: skip
        tree[name].append(value)
    if not inner:
        return True
    if node["decision_type"] != "<=" or not _dumped_nodes(node["left_child"], tree):
        return False
    tree["right"][place] = len(tree["left"])
    return _dumped_nodes(node["right_child"], tree)


def _mean(parts: Sequence[tuple[Any, Numbers | None]], n_classes: int, **rule: Any) -> Numbers | None:
    """Return the mean of parts, each with its columns, weight and classes; None if one cannot be written."""
    if any(model is None for _, model in parts):
        return None
    listed = [about | {"model": model} for about, model in parts]
    return {"kind": "mean", "n_classes": n_classes, "votes": False, "sharpness": 0.0, "parts": listed} | rule


def _bagging(estimator: Any) -> Numbers | None:
    n_classes = len(estimator.classes_)
    parts = [
        (
            {"columns": columns.tolist(), "classes": one.classes_.astype(int).tolist(), "weight": 1.0},
            numbers_of(one),
        )
        for one, columns in zip(estimator.estimators_, estimator.estimators_features_, strict=True)
    ]
    return _mean(parts, n_classes)


def _adaptive_boosting(estimator: Any) -> Numbers | None:
    """Write weighted votes, and the softmax of their lead."""
    n_classes, every = len(estimator.classes_), list(range(estimator.n_features_in_))
    parts = [
        (
            {
                "columns": every,
                "classes": np.searchsorted(estimator.classes_, one.classes_).tolist(),
                "weight": float(weight),
            },
            numbers_of(one),
        )
        for one, weight in zip(estimator.estimators_, estimator.estimator_weights_, strict=False)
        if weight > 0
    ]
    return _mean(parts, n_classes, votes=True, sharpness=n_classes / (n_classes - 1) ** 2)


def _calibrated(estimator: Any) -> Numbers | None:
    """Write the mean of classifiers, each with a sigmoid for every score."""
    if estimator.method != "sigmoid":
        return None
    n_classes, every = len(estimator.classes_), list(range(estimator.n_features_in_))
    parts = []
    for one in estimator.calibrated_classifiers_:
        of = numbers_of(one.estimator)
        if of is not None and of["kind"] == "highest":
            of = of["of"]
        if of is None or (of["kind"] != "linear" and hasattr(one.estimator, "decision_function")):
            return None
        if len(one.estimator.classes_) != n_classes:
            return None
        slopes = [float(each.a_) for each in one.calibrators]
        model = {
            "kind": "calibrated",
            "of": of,
            "slopes": slopes,
            "shifts": [float(each.b_) for each in one.calibrators],
        }
        parts.append(({"columns": every, "classes": list(range(n_classes)), "weight": 1.0}, model))
    return _mean(parts, n_classes)


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


def _of_standard_scores(scaler: Any, then: Numbers) -> Numbers:
    if then["kind"] == "highest":
        return then | {"of": _of_standard_scores(scaler, then["of"])}
    if then["kind"] != "linear":
        mean = scaler.mean_ if scaler.with_mean else np.zeros(scaler.n_features_in_)
        scale = scaler.scale_ if scaler.with_std else np.ones(scaler.n_features_in_)
        return {"kind": "scaled", "mean": mean.tolist(), "scale": scale.tolist(), "then": then}
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


def _machine(estimator: Any) -> Numbers | None:
    """Write a kernel machine of two classes without probabilities."""
    if estimator.kernel != "rbf" or len(estimator.classes_) > 2 or hasattr(estimator, "predict_proba"):
        return None
    of = {
        "kind": "kernel",
        "gamma": float(estimator._gamma),  # noqa: SLF001  # nothing public has it
        "rows": np.asarray(estimator.support_vectors_).tolist(),
        "mixing": np.asarray(estimator.dual_coef_).tolist(),
        "then": {
            "kind": "linear",
            "weights": [[1.0]],
            "intercepts": np.asarray(estimator.intercept_).tolist(),
        },
    }
    return {"kind": "highest", "single": False, "of": of}


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
    "sklearn.SVC": _machine,
    "sklearn.QuadraticDiscriminantAnalysis": _quadratic,
    "sklearn.GaussianNB": _naive,
    "sklearn.DecisionTreeClassifier": _one_tree,
    "sklearn.ExtraTreeClassifier": _one_tree,
    "sklearn.RandomForestClassifier": _forest,
    "sklearn.ExtraTreesClassifier": _forest,
    "sklearn.HistGradientBoostingClassifier": _boosting,
    "sklearn.GradientBoostingClassifier": _older_boosting,
    "sklearn.AdaBoostClassifier": _adaptive_boosting,
    "sklearn.BaggingClassifier": _bagging,
    "sklearn.CalibratedClassifierCV": _calibrated,
    "lightgbm.LGBMClassifier": _lightgbm,
    "sklearn.MLPClassifier": _network,
    "sklearn.KNeighborsClassifier": _neighbours,
    "shortlist.NearestRows": _nearest_rows,
    "shortlist.PlainBoosting": _plain_boosting,
    "sklearn.Pipeline": _pipeline,
    "sklearn.DummyClassifier": _constant,
}
