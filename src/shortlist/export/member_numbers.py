"""Fitted classifiers of scikit-learn as plain numbers: the families of a pool, and similar classifiers."""

import json
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist.export.preparation import CannotWriteError, Cell, ReadRows, prepared

FARTHEST = float(np.finfo(np.float64).max)

Numbers = dict[str, Any]
"""Numbers, as JSON has them, by which the reader answers like a classifier."""


class WrittenMember(NamedTuple):
    """Classifier as plain numbers, and the prepared cells that it reads."""

    cells: list[Cell]
    model: Numbers


def numbers_of(estimator: Any) -> Numbers | None:
    """Return a fitted classifier of numeric rows as plain numbers; otherwise None."""
    n = getattr(estimator, "n_features_in_", None)
    rows = ReadRows()
    features = [Cell(place, may_be_gap=False) for place in range(n or 0)]
    try:
        written = written_by(estimator, features, rows)
    except CannotWriteError:
        return None
    return None if rows.words else laid_out(written, rows, features)[1]


def written_by(estimator: Any, cells: list[Cell], rows: ReadRows) -> WrittenMember:
    """Return a fitted classifier as plain numbers, with the cells of prepared rows that it reads.

    Raises CannotWriteError if the classifier cannot be written. Types must match exactly, as a subclass may
    answer differently.
    """
    name = f"{type(estimator).__module__.split('.')[0]}.{type(estimator).__name__}"
    if name in _NESTED:
        return _NESTED[name](estimator, cells, rows)
    write = _WRITERS.get(name)
    model = None if write is None else write(estimator)
    if model is None:
        raise CannotWriteError(type(estimator).__name__)
    return _of_cells(estimator, cells, rows, model)


def _of_cells(estimator: Any, cells: list[Cell], rows: ReadRows, model: Numbers) -> WrittenMember:
    """Return a classifier that reads `cells`; if it takes no gaps, the cells must have values."""
    takes_gaps = _takes_gaps(estimator)
    if not takes_gaps:
        rows.require(cells)
    rows.read_numbers(cells)
    has_gaps = takes_gaps and any(cell.may_be_gap for cell in cells)
    for tree in model.get("trees", []) + [tree for trees in model.get("rounds", []) for tree in trees]:
        if "gaps" in tree and not (has_gaps and any(tree["gaps"])):
            del tree["gaps"]
    return WrittenMember(cells, model)


def _takes_gaps(estimator: Any) -> bool:
    from sklearn.utils import get_tags

    return bool(get_tags(estimator).input_tags.allow_nan)


def laid_out(
    written: WrittenMember, rows: ReadRows, given: Sequence[Cell] | None = None
) -> tuple[list[Cell], Numbers]:
    """Return cells of features, and a classifier over these cells as plain numbers, with remaining steps.

    `given`: cells to start from; None: the cells that the classifier reads.
    """
    layout = _Layout(rows, given if given is not None else _of_features(written.cells, rows))
    wanted = layout.places(written.cells)
    model = written.model
    if wanted != [*range(layout.width)]:
        model = {"kind": "picked", "columns": wanted, "then": model}
    for columns, by in reversed(layout.steps):
        model = {"kind": "extended", "columns": columns, "by": by, "then": model}
    return layout.given, model


def _of_features(cells: Sequence[Cell], rows: ReadRows) -> list[Cell]:
    """Return the cells that depend on one feature each, out of `cells` and all cells behind `cells`."""
    found: dict[str, Cell] = {}
    for cell in cells:
        of = (
            [cell]
            if isinstance(cell.source, int)
            else _of_features(rows.operations[cell.source[0]].inputs, rows)
        )
        found |= {column_key(one): one for one in of if column_key(one) not in found}
    return list(found.values())


def column_key(cell: Cell) -> str:
    """Return the key of a prepared cell, equal for equal cells."""
    return json.dumps([cell.source, cell.steps])


class _Layout:
    """Indices of cells in a row that grows step by step."""

    def __init__(self, rows: ReadRows, given: Sequence[Cell]) -> None:
        self.rows, self.given = rows, list(given)
        self.steps: list[tuple[list[int], Numbers]] = []
        self.place_of = {column_key(cell): place for place, cell in enumerate(given)}
        self.width = len(self.given)

    def places(self, cells: Sequence[Cell]) -> list[int]:
        """Return the indices of these cells, after adding their missing steps."""
        for cell in cells:
            if isinstance(cell.source, tuple):
                self._operate(cell.source[0])
        lacking = {column_key(one): one for one in cells if column_key(one) not in self.place_of}
        if lacking:
            sources = self.places([Cell(one.source) for one in lacking.values()])
            self._add(
                sources, {"kind": "each", "steps": [[*one.steps] for one in lacking.values()]}, list(lacking)
            )
        return [self.place_of[column_key(cell)] for cell in cells]

    def _operate(self, number: int) -> None:
        operation = self.rows.operations[number]
        results = [column_key(Cell((number, place))) for place in range(operation.n_results)]
        if results[0] not in self.place_of:
            self._add(self.places(operation.inputs), operation.by, results)

    def _add(self, columns: list[int], by: Numbers, results: list[str]) -> None:
        self.steps.append((columns, by))
        self.place_of |= {key: self.width + place for place, key in enumerate(results)}
        self.width += len(results)


def _linear(estimator: Any) -> Numbers:
    weights = np.atleast_2d(np.asarray(estimator.coef_, dtype=float))
    intercepts = np.broadcast_to(np.asarray(estimator.intercept_, dtype=float), len(weights))
    return {"kind": "linear", "weights": weights.tolist(), "intercepts": intercepts.tolist()}


def _most_likely(estimator: Any) -> Numbers | None:
    """Return a linear classifier.

    The answer is the class with the highest score. With log loss and two classes the probability decides.
    """
    if hasattr(estimator, "predict_proba"):
        return _by_curves(estimator)
    return {"kind": "highest", "single": False, "of": _linear(estimator)}


def _by_curves(estimator: Any) -> Numbers | None:
    """Return a linear classifier by stochastic gradients.

    A curve that belongs to the loss converts the score of each class to a probability.
    """
    n_scores, of = len(np.atleast_2d(estimator.coef_)), _linear(estimator)
    if estimator.loss == "log_loss":
        if n_scores == 1:
            return of
        return {"kind": "calibrated", "of": of, "slopes": [-1.0] * n_scores, "shifts": [0.0] * n_scores}
    curve = {"knots": [-1.0, 1.0], "values": [0.0, 1.0]}
    return {"kind": "calibrated", "of": of, "curves": [curve] * n_scores}


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
        "threshold": np.clip(tree.threshold, -FARTHEST, FARTHEST).tolist(),  # beyond are gaps alone
        "value": (values / values.sum(axis=1, keepdims=True)).tolist(),
        "gaps": np.where(tree.children_left < 0, 0, tree.missing_go_to_left).astype(int).tolist(),
    }


def _one_tree(estimator: Any) -> Numbers:
    return {"kind": "forest", "trees": [_tree(estimator.tree_)]}


def _forest(estimator: Any) -> Numbers:
    return {"kind": "forest", "trees": [_tree(one.tree_) for one in estimator.estimators_]}


def _rounds(estimator: Any, write: Callable[[Any], Numbers]) -> Numbers:
    predictors: Any = estimator._predictors  # noqa: SLF001  # nothing public has them
    start = np.ravel(estimator._baseline_prediction).tolist()  # noqa: SLF001  # likewise
    rounds = [[write(tree) for tree in trees] for trees in predictors]
    return {"kind": "boosting", "start": start, "rounds": rounds}


def _plain_boosting(estimator: Any) -> Numbers:
    """Return boosted trees over words and gaps as trees that compare encoded columns."""
    trees, folded = estimator.trees_, estimator.folded
    if trees.is_categorical_ is None and not folded.gaps:
        return _rounds(trees, _boosted_tree)
    columns = _ColumnsOfTrees(
        folded.numbers(estimator.n_features_in_).tolist(), dict(folded.gaps), _columns_of_codes(estimator)
    )
    known: Any = np.empty((0, 8), dtype=np.uint32)
    if folded.words:
        known, _ = trees._bin_mapper.make_known_categories_bitsets()  # noqa: SLF001  # likewise
    return _rounds(trees, lambda tree: _encoded_tree(tree, columns, known))


def _columns_of_codes(estimator: Any) -> list[list[int]]:
    """Return, for each column of words, the index of the encoded column of every code in the trees."""
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
    """Index of each encoded column of numbers, after the words."""
    marks: dict[int, int]
    """Column that marks the gaps, by column of numbers."""
    codes: list[list[int]]
    """Column of each code, for each feature of words; the column is 1 for the word with the code."""


def _encoded_tree(tree: Any, columns: _ColumnsOfTrees, known: Any) -> Numbers:
    """Return a tree over encoded columns.

    A set of words becomes a chain of nodes, and the test for a gap becomes a node before the chain.
    """
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


def _boosted_tree(tree: Any, n_codes: Sequence[int] = ()) -> Numbers:
    """Return a tree of histogram boosting; `n_codes`: number of codes of each column of words."""
    nodes = tree.nodes
    leaf = nodes["is_leaf"].astype(bool)
    found: Numbers = {
        "left": np.where(leaf, -1, nodes["left"].astype(np.int64)).tolist(),
        "right": np.where(leaf, -1, nodes["right"].astype(np.int64)).tolist(),
        "feature": nodes["feature_idx"].tolist(),
        "threshold": np.clip(
            np.where(leaf | nodes["is_categorical"], 0.0, nodes["num_threshold"]), -FARTHEST, FARTHEST
        ).tolist(),
        "value": nodes["value"].tolist(),
        "gaps": nodes["missing_go_to_left"].astype(int).tolist(),
    }
    if nodes["is_categorical"].any():
        bits = tree.raw_left_cat_bitsets
        found["sets"] = [
            [code for code in range(n_codes[node["feature_idx"]]) if _is_in(bits[node["bitset_idx"]], code)]
            if node["is_categorical"] and not node["is_leaf"]
            else None
            for node in nodes
        ]
    return found


def _older_boosting(estimator: Any) -> Numbers:
    """Return boosted trees that compare in single precision."""
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
    """Return boosted trees of LightGBM from its dump, in which the first round includes the start."""
    dumped = estimator.booster_.dump_model()
    n_scores, trees = dumped["num_tree_per_iteration"], []
    if estimator.objective_ not in {"binary", "multiclass"} or dumped["average_output"]:
        return None
    if estimator.booster_.pandas_categorical:
        return None
    for info in dumped["tree_info"]:
        tree: Numbers = {
            name: [] for name in ("left", "right", "feature", "threshold", "value", "gaps", "sets")
        }
        if not _dumped_nodes(info["tree_structure"], tree):
            return None
        if not any(tree["sets"]):
            del tree["sets"]
        trees.append(tree)
    rounds = [trees[first : first + n_scores] for first in range(0, len(trees), n_scores)]
    return {"kind": "boosting", "start": [0.0] * n_scores, "rounds": rounds}


def _dumped_nodes(node: Any, tree: Numbers) -> bool:
    """Add a node and all nodes below; return false if zeros count as gaps, or a comparison is unknown."""
    place, inner = len(tree["left"]), "split_feature" in node
    is_set, how = node.get("decision_type") == "==", node.get("missing_type", "None")
    threshold = 0.0 if is_set else node.get("threshold", 0.0)
    gap_goes_left = not is_set and (node.get("default_left") if how == "NaN" else threshold >= 0)
    for name, value in (
        ("left", place + 1 if inner else -1), ("right", -1), ("feature", node.get("split_feature", 0)),
        ("threshold", threshold), ("value", node.get("leaf_value", 0.0)),
        ("gaps", int(inner and bool(gap_goes_left))),
        ("sets", [*map(int, node["threshold"].split("||"))] if is_set else None),
    ):  # fmt: skip
        tree[name].append(value)
    if not inner:
        return True
    if node["decision_type"] not in {"<=", "=="} or how == "Zero":
        return False
    if not _dumped_nodes(node["left_child"], tree):
        return False
    tree["right"][place] = len(tree["left"])
    return _dumped_nodes(node["right_child"], tree)


def _xgboost(estimator: Any) -> Numbers | None:
    """Return boosted trees of XGBoost from its JSON, to be compared and summed in single precision."""
    booster = estimator.get_booster()
    learner = json.loads(bytes(booster.save_raw("json")).decode())["learner"]
    objective, grown = learner["objective"]["name"], learner["gradient_booster"]
    if objective not in {"binary:logistic", "multi:softprob"} or grown.get("name") != "gbtree":
        return None
    n_classes = len(estimator.classes_)
    n_scores = 1 if n_classes == 2 and objective == "binary:logistic" else n_classes
    starts = np.ravel(json.loads(learner["learner_model_param"]["base_score"])).astype(float)
    if objective == "binary:logistic":
        starts = np.log(starts) - np.log1p(-starts)
    held = grown["model"]
    n_used = len(held["trees"])
    if (best := getattr(estimator, "early_stopping_rounds", None)) and best:
        n_used = held["iteration_indptr"][estimator.best_iteration + 1]
    of_score: list[list[Numbers]] = [[] for _ in range(n_scores)]
    for tree, score in zip(held["trees"][:n_used], held["tree_info"], strict=False):
        if any(tree.get("split_type", [])) or len(tree["base_weights"]) != len(tree["left_children"]):
            return None
        of_score[score].append(_saved_tree(tree))
    start = np.broadcast_to(starts, n_scores).astype(np.float32).tolist()
    rounds = [list(trees) for trees in zip(*of_score, strict=True)]
    return {"kind": "boosting", "single": True, "sums": "single", "start": start, "rounds": rounds}


def _saved_tree(tree: Any) -> Numbers:
    left, numbers = np.array(tree["left_children"]), np.array(tree["split_conditions"], dtype=np.float32)
    leaf = left < 0
    below = np.nextafter(numbers, np.float32(-np.inf)).astype(float)  # it asks for less, and not for at most
    return {
        "left": left.tolist(),
        "right": tree["right_children"],
        "feature": tree["split_indices"],
        "threshold": np.where(leaf, 0.0, below).tolist(),
        "value": np.where(leaf, numbers, 0).astype(float).tolist(),
        "gaps": np.where(leaf, 0, tree["default_left"]).astype(int).tolist(),
    }


def _mean(
    parts: Sequence[tuple[Numbers, WrittenMember]], cells: list[Cell], n_classes: int, **rule: Any
) -> WrittenMember:
    """Return the mean of several classifiers; each has a weight and the classes that it knows."""
    cells, places = _side_by_side([part for _, part in parts], cells)
    listed = [
        {"columns": columns} | about | {"model": part.model}
        for columns, (about, part) in zip(places, parts, strict=True)
    ]
    usual = {"kind": "mean", "n_classes": n_classes, "votes": False, "sharpness": 0.0, "parts": listed}
    return WrittenMember(cells, usual | rule)


def _side_by_side(parts: Sequence[WrittenMember], cells: list[Cell]) -> tuple[list[Cell], list[list[int]]]:
    """Return the different cells of several parts, and for each part the indices of its cells among them."""
    keys = [[column_key(cell) for cell in part.cells] for part in parts]
    found = {column_key(cell): cell for cell in cells}
    if len(found) < len(cells) or not all(key in found for each in keys for key in each):
        found = {}
        for each, part in zip(keys, parts, strict=True):
            found |= {key: cell for key, cell in zip(each, part.cells, strict=True) if key not in found}
    place_of = {key: place for place, key in enumerate(found)}
    return list(found.values()), [[place_of[key] for key in each] for each in keys]


def _bagging(estimator: Any, cells: list[Cell], rows: ReadRows) -> WrittenMember:
    parts = [
        (
            {"classes": one.classes_.astype(int).tolist(), "weight": 1.0},
            written_by(one, [cells[place] for place in columns], rows),
        )
        for one, columns in zip(estimator.estimators_, estimator.estimators_features_, strict=True)
    ]
    return _mean(parts, cells, len(estimator.classes_))


def _adaptive_boosting(estimator: Any, cells: list[Cell], rows: ReadRows) -> WrittenMember:
    """Return the weighted votes of members, with the softmax of the margin of these votes."""
    n_classes = len(estimator.classes_)
    rows.require(cells)
    parts = [
        (
            {
                "classes": np.searchsorted(estimator.classes_, one.classes_).tolist(),
                "weight": float(weight),
            },
            written_by(one, cells, rows),
        )
        for one, weight in zip(estimator.estimators_, estimator.estimator_weights_, strict=False)
        if weight > 0
    ]
    return _mean(parts, cells, n_classes, votes=True, sharpness=n_classes / (n_classes - 1) ** 2)


def _voting(estimator: Any, cells: list[Cell], rows: ReadRows) -> WrittenMember:
    n_classes = len(estimator.classes_)
    weights = estimator._weights_not_none or [1.0] * len(estimator.estimators_)  # noqa: SLF001  # likewise
    parts = [
        (
            {"classes": one.classes_.astype(int).tolist(), "weight": float(weight)},
            written_by(one, cells, rows),
        )
        for one, weight in zip(estimator.estimators_, weights, strict=True)
    ]
    written = _mean(parts, cells, n_classes, votes=estimator.voting == "hard")
    if estimator.voting == "hard":
        return written._replace(model={"kind": "largest", "of": written.model})
    return written


def _stacking(estimator: Any, cells: list[Cell], rows: ReadRows) -> WrittenMember:
    """Return a classifier of the answers of other classifiers."""
    n_classes, parts, about = len(estimator.classes_), [], []
    fitted = [one for one in estimator.estimators_ if not isinstance(one, str)]
    for one, method in zip(fitted, estimator.stack_method_, strict=True):
        written = written_by(one, cells, rows)
        if method == "predict" or len(one.classes_) != n_classes:
            raise CannotWriteError(f"StackingClassifier of labels, those of {type(one).__name__}")
        is_raw, model = (False, written.model) if method == "predict_proba" else _scores_of(one, written)
        keep = [1] if n_classes == 2 and not is_raw else [*range(1 if n_classes == 2 else n_classes)]
        parts.append(written._replace(model=model))
        about.append({"raw": is_raw, "keep": keep, "n_classes": n_classes})
    then = numbers_of(estimator.final_estimator_)
    if then is None:
        raise CannotWriteError(type(estimator.final_estimator_).__name__)
    return _stacked(parts, about, cells, then, passed=cells if estimator.passthrough else [])


def _stacked(
    parts: list[WrittenMember], about: list[Numbers], cells: list[Cell], then: Numbers, passed: list[Cell]
) -> WrittenMember:
    together, places = _side_by_side([*parts, WrittenMember(passed, {})], cells)
    listed = [
        {"columns": columns, "model": part.model} | told
        for columns, part, told in zip(places[:-1], parts, about, strict=True)
    ]
    return WrittenMember(together, {"kind": "stacked", "parts": listed, "passed": places[-1], "then": then})


def _one_against_rest(estimator: Any, cells: list[Cell], rows: ReadRows) -> WrittenMember:
    """Return a classifier that normalises the shares of several classifiers, each for one class."""
    parts = [written_by(one, cells, rows) for one in estimator.estimators_]
    if not hasattr(estimator, "predict_proba") or any(
        len(one.classes_) != 2 for one in estimator.estimators_
    ):
        raise CannotWriteError(f"OneVsRestClassifier of {type(estimator.estimators_[0]).__name__}")
    if len(parts) == 1:
        return parts[0]
    then = {"kind": "normalised", "norm": "l1", "then": {"kind": "given"}}
    return _stacked(parts, [{"raw": False, "keep": [1], "n_classes": 2}] * len(parts), cells, then, passed=[])


def _scores_of(estimator: Any, written: WrittenMember) -> tuple[bool, Numbers]:
    """Return whether a classifier has scores of its own, and the model of the scores or probabilities."""
    model = written.model
    if not hasattr(estimator, "decision_function"):
        return False, model
    if model["kind"] == "highest" and not model["single"]:
        model = model["of"]
    behind = model
    while "then" in behind:
        behind = behind["then"]
    if behind["kind"] not in {"linear", "boosting"}:
        raise CannotWriteError(f"scores of {type(estimator).__name__}")
    return True, model


def _calibrated(estimator: Any, cells: list[Cell], rows: ReadRows) -> WrittenMember:
    """Return the mean of classifiers, each with a calibration curve for every score."""
    n_classes, parts = len(estimator.classes_), []
    if estimator.method not in {"sigmoid", "isotonic"}:
        raise CannotWriteError(f"CalibratedClassifierCV of method={estimator.method!r}")
    for one in estimator.calibrated_classifiers_:
        written = written_by(one.estimator, cells, rows)
        is_raw, of = _scores_of(one.estimator, written)
        if len(one.estimator.classes_) != n_classes:
            raise CannotWriteError("CalibratedClassifierCV of fewer classes")
        model: Numbers = {"kind": "calibrated", "of": of}
        if is_raw != (of["kind"] == "linear"):
            model["raw"] = is_raw
        if estimator.method == "sigmoid":
            model["slopes"] = [float(each.a_) for each in one.calibrators]
            model["shifts"] = [float(each.b_) for each in one.calibrators]
        else:
            model["curves"] = [
                {"knots": each.X_thresholds_.tolist(), "values": each.y_thresholds_.tolist()}
                for each in one.calibrators
            ]
        about = {"classes": list(range(n_classes)), "weight": 1.0}
        parts.append((about, written._replace(model=model)))
    return _mean(parts, cells, n_classes)


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
    """Return nearest neighbours; the policy then contains the fitted rows."""
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
    """Return Shortlist's own nearest neighbours, which settle every tie as the reader does."""
    return {
        "kind": "neighbours",
        "n": int(estimator.n_neighbors),
        "power": float(estimator.p),
        "by_distance": estimator.weights == "distance",
        "n_classes": len(estimator.classes_),
        "rows": estimator.rows_.tolist(),
        "labels": estimator.codes_.tolist(),
    }


def _pipeline(estimator: Any, cells: list[Cell], rows: ReadRows) -> WrittenMember:
    """Return a classifier after transformers; a scaler of raw numbers becomes part of the classifier."""
    steps = [step for _, step in estimator.steps if step is not None and step != "passthrough"]
    if len(steps) == 2 and not any(cell.steps for cell in cells) and not _takes_gaps(steps[1]):
        then, first = numbers_of(steps[1]), type(steps[0]).__name__
        model = None
        if then is not None and first == "StandardScaler":
            model = _of_standard_scores(steps[0], then)
        elif then is not None and first == "Nystroem":
            model = _kernel(steps[0], then)
        if model is not None:
            rows.require(cells)
            rows.read_numbers(cells)
            return WrittenMember(cells, model)
    for step in steps[:-1]:
        cells = prepared(step, cells, rows)
    return written_by(steps[-1], cells, rows)


def _inner(attribute: str) -> Callable[[Any, list[Cell], ReadRows], WrittenMember]:
    """Return the writer of an inner classifier, by the attribute that holds it."""

    def write(estimator: Any, cells: list[Cell], rows: ReadRows) -> WrittenMember:
        return written_by(getattr(estimator, attribute), cells, rows)

    return write


def _thresholded(estimator: Any, cells: list[Cell], rows: ReadRows) -> WrittenMember:
    """Return the classifier behind a threshold, which has no effect on probabilities."""
    if not hasattr(estimator, "predict_proba"):
        raise CannotWriteError(f"{type(estimator).__name__} of scores")
    return written_by(estimator.estimator_, cells, rows)


def _categorical_boosting(estimator: Any, cells: list[Cell], rows: ReadRows) -> WrittenMember:
    """Return boosted trees, read from a private part of scikit-learn; a check of all answers guards this."""
    if estimator.is_categorical_ is None:
        return _of_cells(estimator, cells, rows, _rounds(estimator, _boosted_tree))
    cells = prepared(estimator._preprocessor, cells, rows)  # noqa: SLF001  # likewise
    n_codes = [0] * len(cells)
    for place in range(int(np.sum(estimator.is_categorical_))):
        values = estimator._preprocessor.named_transformers_["encoder"].categories_[place]  # noqa: SLF001
        n_codes[place] = len(values)
    return _of_cells(estimator, cells, rows, _rounds(estimator, lambda tree: _boosted_tree(tree, n_codes)))


def _yes_no(estimator: Any, cells: list[Cell], rows: ReadRows) -> WrittenMember:
    """Return naive Bayes of columns that are 0 or 1, perhaps after a threshold, as linear scores."""
    rows.require(cells)
    rows.read_numbers(cells)
    if estimator.binarize is not None:
        edge = math.nextafter(float(estimator.binarize), math.inf)
        cells = [cell.after({"step": "bins", "edges": [edge]}) for cell in cells]
    absent = np.log(1 - np.exp(estimator.feature_log_prob_))
    return WrittenMember(cells, {
        "kind": "linear",
        "weights": (estimator.feature_log_prob_ - absent).tolist(),
        "intercepts": (estimator.class_log_prior_ + absent.sum(axis=1)).tolist(),
    })  # fmt: skip


def _counts(estimator: Any) -> Numbers:
    """Return naive Bayes of counts as linear scores."""
    weights = np.asarray(estimator.feature_log_prob_)
    is_complement = type(estimator).__name__ == "ComplementNB"
    intercepts = np.zeros(len(weights)) if is_complement else estimator.class_log_prior_
    return {"kind": "linear", "weights": weights.tolist(), "intercepts": np.asarray(intercepts).tolist()}


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
    """Return a kernel by landmarks, then a classifier, as in the family of kernel machines."""
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
    """Return a kernel machine without probabilities; with several classes, every pair has one score."""
    kernels = {"rbf", "linear", "poly", "sigmoid"}
    if estimator.kernel not in kernels or hasattr(estimator, "predict_proba") or estimator.break_ties:
        return None
    n_classes, coefficients = len(estimator.classes_), np.asarray(estimator.dual_coef_)
    intercepts = np.asarray(estimator.intercept_).tolist()
    kernel: Numbers = {"kind": "kernel", "gamma": float(estimator._gamma)}  # noqa: SLF001  # likewise
    if estimator.kernel != "rbf":
        kernel["function"] = estimator.kernel
        kernel |= {"shift": float(estimator.coef0), "power": float(estimator.degree)}
    kernel["rows"] = np.asarray(estimator.support_vectors_).tolist()
    if n_classes == 2:
        then = {"kind": "linear", "weights": [[1.0]], "intercepts": intercepts}
        of = kernel | {"mixing": coefficients.tolist(), "then": then}
        return {"kind": "highest", "single": False, "of": of}
    class_of = np.repeat(np.arange(n_classes), estimator.n_support_)
    mixing = [
        np.where(class_of == i, coefficients[j - 1], np.where(class_of == j, coefficients[i], 0.0)).tolist()
        for i in range(n_classes)
        for j in range(i + 1, n_classes)
    ]
    then = {"kind": "pairs", "n_classes": n_classes, "intercepts": intercepts}
    return {"kind": "largest", "of": kernel | {"mixing": mixing, "then": then}}


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
    "sklearn.GradientBoostingClassifier": _older_boosting,
    "sklearn.LogisticRegressionCV": _linear,
    "sklearn.PassiveAggressiveClassifier": _most_likely,
    "sklearn.MultinomialNB": _counts,
    "sklearn.ComplementNB": _counts,
    "lightgbm.LGBMClassifier": _lightgbm,
    "xgboost.XGBClassifier": _xgboost,
    "sklearn.MLPClassifier": _network,
    "sklearn.KNeighborsClassifier": _neighbours,
    "shortlist.NearestRows": _nearest_rows,
    "shortlist.PlainBoosting": _plain_boosting,
    "sklearn.DummyClassifier": _constant,
}

_NESTED: dict[str, Callable[[Any, list[Cell], ReadRows], WrittenMember]] = {
    "sklearn.Pipeline": _pipeline,
    "sklearn.HistGradientBoostingClassifier": _categorical_boosting,
    "sklearn.BernoulliNB": _yes_no,
    "sklearn.AdaBoostClassifier": _adaptive_boosting,
    "sklearn.BaggingClassifier": _bagging,
    "sklearn.CalibratedClassifierCV": _calibrated,
    "sklearn.VotingClassifier": _voting,
    "sklearn.StackingClassifier": _stacking,
    "sklearn.OneVsRestClassifier": _one_against_rest,
    "sklearn.FrozenEstimator": _inner("estimator"),
    "sklearn.GridSearchCV": _inner("best_estimator_"),
    "sklearn.RandomizedSearchCV": _inner("best_estimator_"),
    "sklearn.HalvingGridSearchCV": _inner("best_estimator_"),
    "sklearn.HalvingRandomSearchCV": _inner("best_estimator_"),
    "sklearn.FixedThresholdClassifier": _thresholded,
    "sklearn.TunedThresholdClassifierCV": _thresholded,
}
"""Writers for classifiers that contain other classifiers, or that prepare cells by steps of their own."""
