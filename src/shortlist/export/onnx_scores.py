"""Nodes of an ONNX graph for each kind of model in a policy."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.export.onnx_cells import distances, interpolated, prepared_rows
from shortlist.export.onnx_nodes import Graph, summed, summed_columns, taken, truth_as_number, with_axis
from shortlist.export.reader import STEPS


def scored_by(graph: Graph, model: dict[str, Any], x: str) -> str:
    """Return the class probabilities of one model, ``(n_rows, n_classes)``."""
    model, x = _prepared(graph, model, x)
    return _SCORES[model["kind"]](graph, model, x)


def _prepared(graph: Graph, model: dict[str, Any], x: str) -> tuple[dict[str, Any], str]:
    """Return the last model behind steps such as scalers and kernels, and the rows after these steps."""
    while model["kind"] in STEPS:
        if model["kind"] == "stacked":
            x = _stacked(graph, model, x)
        elif model["kind"] == "extended":
            more = prepared_rows(graph, model["by"], taken(graph, x, model["columns"], 1))
            x = graph.add("Concat", x, more, axis=1)
        else:
            x = prepared_rows(graph, model, x)
        model = model["then"]
    return model, x


def _stacked(graph: Graph, model: dict[str, Any], x: str) -> str:
    parts = []
    for part in model["parts"]:
        seen = taken(graph, x, part["columns"], 1)
        told = (_raw if part["raw"] else scored_by)(graph, part["model"], seen)
        parts.append(taken(graph, told, part["keep"], 1))
    passed = [taken(graph, x, model["passed"], 1)] if model["passed"] else []
    return graph.add("Concat", *parts, *passed, axis=1)


def _raw(graph: Graph, model: dict[str, Any], x: str) -> str:
    """Return the scores of a linear model, or of boosted trees, before their link function."""
    model, x = _prepared(graph, model, x)
    if model["kind"] == "boosting":
        return _boosted(graph, model, x)
    return _layer(graph, model["weights"], model["intercepts"], x)


def _linear(graph: Graph, model: dict[str, Any], x: str) -> str:
    return _linked(graph, _raw(graph, model, x), len(model["intercepts"]))


def _highest(graph: Graph, model: dict[str, Any], x: str) -> str:
    """Return 1 for the class of the highest score of a linear model, and 0 for all other classes.

    Of equal scores the first class counts.
    """
    of, x = _prepared(graph, model["of"], x)
    scores = _layer(graph, of["weights"], of["intercepts"], x)
    if len(of["intercepts"]) == 1:
        scores = graph.add("Concat", graph.add("Mul", scores, 0.0), scores, axis=1)
    return _voted(graph, scores, max(2, len(of["intercepts"])))


def _largest(graph: Graph, model: dict[str, Any], x: str) -> str:
    return _voted(graph, scored_by(graph, model["of"], x), classes_of(model["of"]))


def classes_of(model: dict[str, Any]) -> int:
    """Return the number of classes of a mean of models, or of pairs of classes."""
    while "then" in model:
        model = model["then"]
    return int(model["n_classes"])


def _given(_graph: Graph, _model: dict[str, Any], x: str) -> str:
    return x


def _pairs(graph: Graph, model: dict[str, Any], x: str) -> str:
    """Return, for each class, its share of won pairs of classes, ``(n_rows, n_classes)``."""
    pairs, n = list(itertools.combinations(range(model["n_classes"]), 2)), model["n_classes"]
    won = truth_as_number(graph, graph.add("Greater", graph.add("Add", x, [model["intercepts"]]), 0.0))
    firsts, seconds = (np.eye(n)[[pair[k] for pair in pairs]] for k in (0, 1))
    lost = graph.add("Sub", 1.0, won)
    total = graph.add("Add", graph.add("MatMul", won, firsts), graph.add("MatMul", lost, seconds))
    return graph.add("Div", total, float(len(pairs)))


def _voted(graph: Graph, scores: str, n_classes: int) -> str:
    places = graph.add("ArgMax", scores, axis=1, keepdims=0)
    return graph.add("Gather", np.eye(n_classes), places, axis=0)


def _mean(graph: Graph, model: dict[str, Any], x: str) -> str:
    """Return the weighted mean of parts or of their votes; if the model has a sharpness, its softmax."""
    total, n_classes = "", model["n_classes"]
    for part in model["parts"]:
        shares = scored_by(graph, part["model"], taken(graph, x, part["columns"], 1))
        if model["votes"]:
            shares = _voted(graph, shares, len(part["classes"]))
        spread = part["weight"] * np.eye(n_classes)[part["classes"]]
        shares = graph.add("MatMul", shares, spread)
        total = graph.add("Add", total, shares) if total else shares
    mean = graph.add("Div", total, float(sum(part["weight"] for part in model["parts"])))
    if not model["sharpness"]:
        return mean
    return graph.add("Softmax", graph.add("Mul", mean, model["sharpness"]), axis=1)


def _calibrated(graph: Graph, model: dict[str, Any], x: str) -> str:
    """Return a sigmoid or a curve of each score or probability of another model, normalised to sum 1."""
    of, curves = model["of"], model.get("curves")
    n_scores = len(model["slopes"] if curves is None else curves)
    if model.get("raw", of["kind"] == "linear"):
        scores = _raw(graph, of, x)
    else:
        scores = scored_by(graph, of, x)
        scores = taken(graph, scores, [1], 1) if n_scores == 1 else scores
    if curves is None:
        scores = graph.add("Mul", scores, -np.array(model["slopes"]))
        found = graph.add("Sigmoid", graph.add("Sub", scores, model["shifts"]))
    else:
        each = [
            interpolated(graph, curve, taken(graph, scores, [place], 1)) for place, curve in enumerate(curves)
        ]
        found = graph.add("Concat", *each, axis=1) if n_scores > 1 else each[0]
    if n_scores == 1:
        return graph.add("Concat", graph.add("Sub", 1.0, found), found, axis=1)
    total = summed_columns(graph, found)
    nothing = graph.add("Equal", total, 0.0)
    return graph.add("Where", nothing, 1.0 / n_scores, graph.add("Div", found, total))


def _network(graph: Graph, model: dict[str, Any], x: str) -> str:
    last = len(model["weights"]) - 1
    for place, (weights, shifts) in enumerate(zip(model["weights"], model["intercepts"], strict=True)):
        x = _layer(graph, weights, shifts, x)
        if place < last:
            x = graph.add("Tanh", x) if model["activation"] == "tanh" else graph.add(
                "Max", x, 0.0
            )  # fmt: skip
    return _linked(graph, x, len(model["intercepts"][-1]))


def _normal(graph: Graph, model: dict[str, Any], x: str) -> str:
    scores = []
    for one in model["classes"]:
        away = graph.add("Sub", x, one["mean"])
        if "axes" in one:
            away = graph.add("MatMul", away, np.asarray(one["axes"]).T)
        squares = graph.add("Mul", graph.add("Mul", away, away), one["weights"])
        total = graph.add("ReduceSum", squares, graph.constant([1], np.int64), keepdims=1)
        half = graph.add("Mul", total, 0.5)
        scores.append(graph.add("Sub", one["constant"], half))
    return graph.add("Softmax", graph.add("Concat", *scores, axis=1), axis=1)


def _constant(graph: Graph, model: dict[str, Any], x: str) -> str:
    zero = graph.add("Mul", x, 0.0)
    none = graph.add("ReduceSum", zero, graph.constant([1], np.int64), keepdims=1)
    return graph.add("Add", none, [model["probabilities"]])


def _neighbours(graph: Graph, model: dict[str, Any], x: str) -> str:
    import onnx

    away = distances(graph, model["rows"], x, model["power"])

    nearest, places = graph.name(), graph.name()
    graph.nodes.append(
        onnx.helper.make_node(
            "TopK",
            [away, graph.constant([model["n"]], np.int64)],
            [nearest, places],
            axis=1,
            largest=0,
            sorted=1,
        )
    )
    classes = graph.constant(np.eye(model["n_classes"])[model["labels"]])
    votes = graph.add("Gather", classes, places)
    if model["by_distance"]:
        far = _root(graph, nearest, model["power"])
        same = graph.add("Equal", far, 0.0)
        safe = graph.add("Where", same, 1.0, far)
        first = taken(graph, far, [0], 1)
        none = graph.add("Equal", first, 0.0)
        weights = graph.add("Where", none, truth_as_number(graph, same), graph.add("Div", first, safe))
        votes = graph.add("Mul", votes, with_axis(graph, weights, 2))
    total = summed(graph, votes, 1)
    return graph.add("Div", total, graph.add("ReduceSum", total, graph.constant([1], np.int64), keepdims=1))


def _forest(graph: Graph, model: dict[str, Any], x: str) -> str:
    import onnx

    single = graph.add("Cast", x, to=onnx.TensorProto.FLOAT)
    n_classes = len(model["trees"][0]["value"][0])
    found = graph.add(
        "TreeEnsembleRegressor", single, domain="ai.onnx.ml", n_targets=n_classes, aggregate_function="SUM",
        post_transform="NONE", **_nodes(model["trees"], np.float32),
    )  # fmt: skip
    double = graph.add("Cast", found, to=onnx.TensorProto.DOUBLE)
    return graph.add("Div", double, float(len(model["trees"])))


def _boosting(graph: Graph, model: dict[str, Any], x: str) -> str:
    return _linked(graph, _boosted(graph, model, x), len(model["start"]))


def _boosted(graph: Graph, model: dict[str, Any], x: str) -> str:
    import onnx

    n_scores = len(model["start"])
    trees = [
        tree | {"value": [[value if k == score else 0.0 for k in range(n_scores)] for value in tree["value"]]}
        for trees in model["rounds"]
        for score, tree in enumerate(trees)
    ]
    if model.get("single"):
        x = graph.add("Cast", graph.add("Cast", x, to=onnx.TensorProto.FLOAT), to=onnx.TensorProto.DOUBLE)
    found = graph.add(
        "TreeEnsembleRegressor", x, domain="ai.onnx.ml", n_targets=n_scores, aggregate_function="SUM",
        post_transform="NONE", **_nodes(trees, np.float64),
    )  # fmt: skip
    double = graph.add("Cast", found, to=onnx.TensorProto.DOUBLE)
    return graph.add("Add", double, model["start"])


def _nodes(trees: Sequence[dict[str, Any]], precision: Any) -> dict[str, Any]:
    import onnx

    found: dict[str, list[Any]] = {
        name: []
        for name in (
            "nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_truenodeids",
            "nodes_falsenodeids", "nodes_missing_value_tracks_true", "target_treeids", "target_nodeids",
            "target_ids",
        )
    }  # fmt: skip
    values: list[float] = []
    weights: list[float] = []

    def add(
        number: int, node: int, mode: str, value: float, about: tuple[int, int, int], *, gap: bool
    ) -> None:
        for name, one in (
            ("nodes_treeids", number), ("nodes_nodeids", node), ("nodes_modes", mode),
            ("nodes_featureids", about[0]), ("nodes_truenodeids", about[1]), ("nodes_falsenodeids", about[2]),
            ("nodes_missing_value_tracks_true", int(gap)),
        ):  # fmt: skip
            found[name].append(one)
        values.append(value)

    for number, tree in enumerate(trees):
        for mode, node, value, about, gap in _branches(tree, float(np.finfo(precision).max)):
            add(number, node, mode, value, about, gap=gap)
        for node, left in enumerate(tree["left"]):
            for target, weight in enumerate(tree["value"][node] if left < 0 else []):
                found["target_treeids"].append(number)
                found["target_nodeids"].append(node)
                found["target_ids"].append(target)
                weights.append(weight)
    if precision is np.float32:
        # x <= t for single x holds exactly where x <= the largest single number not above t
        return {**found, "nodes_values": _not_above(values).tolist(), "target_weights": weights}
    tensors = {"nodes_values_as_tensor": values, "target_weights_as_tensor": weights}
    return {**found} | {
        name: onnx.numpy_helper.from_array(np.asarray(numbers, dtype=np.float64), name)
        for name, numbers in tensors.items()
    }


def _branches(
    tree: dict[str, Any], most: float
) -> Iterator[tuple[str, int, float, tuple[int, int, int], bool]]:
    """Yield the nodes of a tree: mode, index, threshold, column with both next nodes, and the way of gaps.

    The last entry is true if gaps go to the first of the next nodes.
    """
    parents, n_nodes = Counter(tree["right"]), len(tree["left"])
    for node, left in enumerate(tree["left"]):
        right, column = tree["right"][node], tree["feature"][node]
        gap = bool(tree["gaps"][node]) if "gaps" in tree else False
        known = tree["sets"][node] if "sets" in tree else None
        if left < 0:
            yield "LEAF", node, 0.0, (0, 0, 0), False
        elif known:  # one node for each that goes left
            places = [node, *range(n_nodes, n_nodes + len(known) - 1), right]
            n_nodes += len(known) - 1
            for place, then, value in zip(places, places[1:], known, strict=False):
                yield "BRANCH_EQ", place, float(value), (column, left, then), gap
        else:
            threshold = tree["threshold"][node] if known is None else -most
            # onnxruntime shares nodes among parents by the true branch alone
            if parents[right] > 1:
                yield "BRANCH_GT", node, threshold, (column, right, left), not gap
            else:
                yield "BRANCH_LEQ", node, threshold, (column, left, right), gap


def _not_above(values: Sequence[float]) -> NDArray[np.float32]:
    """Return the largest number of single precision that does not exceed each value."""
    exact = np.asarray(values, dtype=np.float64)
    single = exact.astype(np.float32)
    return np.where(single.astype(np.float64) > exact, np.nextafter(single, np.float32(-np.inf)), single)


def _layer(graph: Graph, weights: Any, shifts: Any, x: str) -> str:
    product = graph.add("MatMul", x, np.asarray(weights, dtype=float).T)
    return graph.add("Add", product, shifts)


def _linked(graph: Graph, scores: str, n_scores: int) -> str:
    if n_scores > 1:
        return graph.add("Softmax", scores, axis=1)
    positive = graph.add("Sigmoid", scores)
    return graph.add("Concat", graph.add("Sub", 1.0, positive), positive, axis=1)


def _root(graph: Graph, sums: str, power: float) -> str:
    if power == 1:
        return sums
    return graph.add("Sqrt", sums) if power == 2 else graph.add("Pow", sums, 1 / power)


_SCORES: dict[str, Callable[[Graph, dict[str, Any], str], str]] = {
    "linear": _linear,
    "highest": _highest,
    "network": _network,
    "normal": _normal,
    "constant": _constant,
    "neighbours": _neighbours,
    "forest": _forest,
    "boosting": _boosting,
    "mean": _mean,
    "calibrated": _calibrated,
    "given": _given,
    "largest": _largest,
    "pairs": _pairs,
}
