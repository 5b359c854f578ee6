"""What each kind of model in a policy is as nodes of an ONNX graph."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Graph:
    """Nodes and constants of a graph, each result under a fresh name."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._count = 0

    def name(self) -> str:
        """Return a name that nothing has yet."""
        self._count += 1
        return f"x{self._count}"

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add a constant."""
        import onnx

        name = self.name()
        text = dtype is str
        array = np.asarray(value, dtype=object if text else dtype)
        self.constants.append(onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, kind: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Add a node with one result, and return its name; numbers among the inputs become constants."""
        import onnx

        name, given = self.name(), [one if isinstance(one, str) else self.constant(one) for one in inputs]
        self.nodes.append(onnx.helper.make_node(kind, given, [name], domain=domain, **attributes))
        return name


def scored_by(graph: Graph, model: dict[str, Any], x: str) -> str:
    """Return the class probabilities of one model, ``(n_rows, n_classes)``."""
    return _SCORES[model["kind"]](graph, model, x)


def _linear(graph: Graph, model: dict[str, Any], x: str) -> str:
    return _linked(graph, _layer(graph, model["weights"], model["intercepts"], x), len(model["intercepts"]))


def _highest(graph: Graph, model: dict[str, Any], x: str) -> str:
    """Return 1 for the class of the highest score of a linear model, the first of equals."""
    of = model["of"]
    while of["kind"] in {"scaled", "kernel"}:
        x, of = _prepared(graph, of, x), of["then"]
    scores = _layer(graph, of["weights"], of["intercepts"], x)
    if len(of["intercepts"]) == 1:
        scores = graph.add("Concat", graph.add("Mul", scores, 0.0), scores, axis=1)
    return _voted(graph, scores, max(2, len(of["intercepts"])))


def _prepared(graph: Graph, model: dict[str, Any], x: str) -> str:
    """Return what a scaler, or a kernel by landmarks, makes of rows."""
    if model["kind"] == "scaled":
        away = graph.add("Sub", x, model["mean"])
        return graph.add("Div", away, model["scale"])
    squares = _distances(graph, model["rows"], x, 2)
    near = graph.add("Exp", graph.add("Mul", squares, -model["gamma"]))
    return graph.add("MatMul", near, np.asarray(model["mixing"]).T)


def _then(graph: Graph, model: dict[str, Any], x: str) -> str:
    return scored_by(graph, model["then"], _prepared(graph, model, x))


def _voted(graph: Graph, scores: str, n_classes: int) -> str:
    places = graph.add("ArgMax", scores, axis=1, keepdims=0)
    return graph.add("Gather", np.eye(n_classes), places, axis=0)


def _mean(graph: Graph, model: dict[str, Any], x: str) -> str:
    """Return the weighted mean of parts, or of their votes; with a sharpness the softmax of that."""
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
    """Return a sigmoid of each score, or probability, of another model, to the sum of 1."""
    of, n_scores = model["of"], len(model["slopes"])
    if of["kind"] == "linear":
        scores = _layer(graph, of["weights"], of["intercepts"], x)
    else:
        scores = scored_by(graph, of, x)
        scores = taken(graph, scores, [1], 1) if n_scores == 1 else scores
    scores = graph.add("Mul", scores, -np.array(model["slopes"]))
    found = graph.add("Sigmoid", graph.add("Sub", scores, model["shifts"]))
    if n_scores == 1:
        return graph.add("Concat", graph.add("Sub", 1.0, found), found, axis=1)
    return graph.add("Div", found, graph.add("ReduceSum", found, graph.constant([1], np.int64), keepdims=1))


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

    away = _distances(graph, model["rows"], x, model["power"])

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
    return _linked(graph, graph.add("Add", double, model["start"]), n_scores)


def _nodes(trees: Sequence[dict[str, Any]], precision: Any) -> dict[str, Any]:
    import onnx

    found: dict[str, list[Any]] = {
        name: []
        for name in (
            "nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_truenodeids",
            "nodes_falsenodeids", "target_treeids", "target_nodeids", "target_ids",
        )
    }  # fmt: skip
    values: list[float] = []
    weights: list[float] = []
    for number, tree in enumerate(trees):
        parents = Counter(tree["right"])
        for node, left in enumerate(tree["left"]):
            inner = left >= 0
            # onnxruntime shares nodes among parents by the true branch alone
            shared = inner and parents[tree["right"][node]] > 1
            then, otherwise = (tree["right"][node], left) if shared else (left, tree["right"][node])
            found["nodes_treeids"].append(number)
            found["nodes_nodeids"].append(node)
            found["nodes_featureids"].append(tree["feature"][node] if inner else 0)
            found["nodes_modes"].append("LEAF" if not inner else "BRANCH_GT" if shared else "BRANCH_LEQ")
            found["nodes_truenodeids"].append(then if inner else 0)
            found["nodes_falsenodeids"].append(otherwise if inner else 0)
            values.append(tree["threshold"][node] if inner else 0.0)
            for target, weight in enumerate([] if inner else tree["value"][node]):
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


def _not_above(values: Sequence[float]) -> NDArray[np.float32]:
    """Return the largest number of single precision that is not above each value."""
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


def _distances(graph: Graph, rows: Any, x: str, power: float) -> str:
    """Return the sums of powered differences to rows, ``(n_rows, n_others)``, added up column by column."""
    total = ""
    for place, column in enumerate(zip(*rows, strict=True)):
        away = graph.add("Sub", taken(graph, x, [place], 1), [column])
        if power == 2:
            away = graph.add("Mul", away, away)
        else:
            away = graph.add("Abs", away)
            away = away if power == 1 else graph.add("Pow", away, power)
        total = graph.add("Add", total, away) if total else away
    return total


def _root(graph: Graph, sums: str, power: float) -> str:
    if power == 1:
        return sums
    return graph.add("Sqrt", sums) if power == 2 else graph.add("Pow", sums, 1 / power)


def truth_as_number(graph: Graph, truth: str) -> str:
    """Return 1 for true and 0 for false, in double precision."""
    import onnx

    return graph.add("Cast", truth, to=onnx.TensorProto.DOUBLE)


def taken(graph: Graph, x: str, places: Sequence[int], axis: int) -> str:
    """Return some places along an axis."""
    return graph.add("Gather", x, graph.constant(list(places), np.int64), axis=axis)


def with_axis(graph: Graph, x: str, axis: int) -> str:
    """Return a result with one more axis."""
    return graph.add("Unsqueeze", x, graph.constant([axis], np.int64))


def summed(graph: Graph, x: str, axis: int) -> str:
    """Return sums along an axis."""
    return graph.add("ReduceSum", x, graph.constant([axis], np.int64), keepdims=0)


_SCORES: dict[str, Callable[[Graph, dict[str, Any], str], str]] = {
    "linear": _linear,
    "highest": _highest,
    "network": _network,
    "normal": _normal,
    "constant": _constant,
    "kernel": _then,
    "neighbours": _neighbours,
    "forest": _forest,
    "boosting": _boosting,
    "scaled": _then,
    "mean": _mean,
    "calibrated": _calibrated,
}
