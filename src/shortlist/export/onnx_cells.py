"""Steps that prepare cells and rows as nodes of an ONNX graph."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from shortlist.export.onnx_nodes import Graph, summed_columns, taken, truth_as_number

GAP = math.nan


def stepped_cell(graph: Graph, steps: list[dict[str, Any]], x: str, *, is_word: bool = False) -> str:
    """Return a column of numbers after steps, ``(n_rows, 1)``; NaN for a gap.

    `x`: numbers with NaN for a gap, or words with an empty text for a gap. If a step refuses a value, the row
    is marked in `graph.refused`.
    """
    for step in steps:
        kind = step["step"]
        if kind == "lookup":
            x, is_word = _looked_up(graph, step, x, is_word=is_word), False
        elif kind == "is gap":
            x, is_word = truth_as_number(graph, _gap(graph, x, is_word=is_word)), False
        elif kind == "fill":
            filling = graph.constant([[step["with"]]], str if is_word else np.float64)
            x = graph.add("Where", _gap(graph, x, is_word=is_word), filling, x)
        else:
            x = _stepped(graph, step, x)
    return x


def _gap(graph: Graph, x: str, *, is_word: bool) -> str:
    return graph.add("Equal", x, graph.constant([[""]], str)) if is_word else graph.add("IsNaN", x)


def _looked_up(graph: Graph, step: dict[str, Any], x: str, *, is_word: bool) -> str:
    gap = _gap(graph, x, is_word=is_word)
    otherwise = _number(step.get("otherwise"))
    found: str | float = otherwise
    if step["values"]:
        same = graph.add("Equal", x, graph.constant([step["values"]], str if is_word else np.float64))
        hits = truth_as_number(graph, same)
        known = graph.add("Greater", summed_columns(graph, hits), 0.5)
        numbers = [[_number(one)] for one in step["numbers"]]
        column = graph.add("MatMul", hits, np.nan_to_num(numbers, nan=0.0))
        if np.isnan(numbers).any():
            is_gap = graph.add("MatMul", hits, np.isnan(numbers).astype(float))
            column = graph.add("Where", graph.add("Greater", is_gap, 0.5), GAP, column)
        found = graph.add("Where", known, column, otherwise)
        if "otherwise" not in step:
            graph.refused.append(graph.add("Not", graph.add("Or", known, gap)))
    return graph.add("Where", gap, _number(step["gap"]), found)


def _number(given: float | None) -> float:
    return GAP if given is None else float(given)


def _stepped(graph: Graph, step: dict[str, Any], x: str) -> str:
    kind = step["step"]
    if kind in _ARITHMETIC:
        return graph.add(_ARITHMETIC[kind], x, step["by"])
    if kind == "function":
        return _function(graph, step["name"], x)
    found = _bent(graph, step, x)
    return graph.add("Where", graph.add("IsNaN", x), x, found)


_ARITHMETIC = {"add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div"}


def _function(graph: Graph, name: str, x: str) -> str:
    if name in {"log1p", "expm1"}:
        return (
            graph.add("Log", graph.add("Add", x, 1.0))
            if name == "log1p"
            else graph.add("Sub", graph.add("Exp", x), 1.0)
        )
    if name in {"log2", "log10"}:
        return graph.add("Div", graph.add("Log", x), math.log(2 if name == "log2" else 10))
    if name == "square":
        return graph.add("Mul", x, x)
    return graph.add({"log": "Log", "sqrt": "Sqrt", "exp": "Exp", "abs": "Abs", "negative": "Neg"}[name], x)


def _bent(graph: Graph, step: dict[str, Any], x: str) -> str:
    """Return a number after a step with corners, such as clipping; NaN stays NaN."""
    kind = step["step"]
    if kind == "clip":
        return graph.add("Min", graph.add("Max", x, step["least"]), step["most"])
    if kind == "bins":
        if not step["edges"]:
            return graph.add("Mul", x, 0.0)
        over = graph.add("GreaterOrEqual", x, graph.constant([step["edges"]]))
        return summed_columns(graph, truth_as_number(graph, over))
    if kind == "interpolate":
        return interpolated(graph, step, x)
    power = step["power"]
    if kind == "box-cox":
        return _power(graph, x, power)
    above = _power(graph, graph.add("Add", graph.add("Max", x, 0.0), 1.0), power)
    below = _power(graph, graph.add("Sub", 1.0, graph.add("Min", x, 0.0)), 2 - power)
    return graph.add("Where", graph.add("Less", x, 0.0), graph.add("Neg", below), above)


def _power(graph: Graph, x: str, power: float) -> str:
    """Return (x^power - 1) / power; for power 0 the logarithm."""
    if power == 0:
        return graph.add("Log", x)
    return graph.add("Div", graph.add("Sub", graph.add("Pow", x, power), 1.0), power)


def interpolated(graph: Graph, curve: dict[str, Any], x: str) -> str:
    """Return values on straight lines between knots, ``(n_rows, 1)``; at a jump the middle."""
    knots, values = np.asarray(curve["knots"], dtype=float), np.asarray(curve["values"], dtype=float)
    widths, heights = np.diff(knots), np.diff(values)
    found = graph.add("Add", graph.add("Mul", x, 0.0), values[0])
    if (slopes := widths > 0).any():
        away = graph.add("Sub", x, [knots[:-1][slopes]])
        cut = graph.add("Max", graph.add("Min", away, [widths[slopes]]), 0.0)
        found = graph.add("Add", found, graph.add("MatMul", cut, (heights[slopes] / widths[slopes])[:, None]))
    if (jumps := widths == 0).any():
        at = graph.constant([knots[:-1][jumps]])
        reached = truth_as_number(graph, graph.add("GreaterOrEqual", x, at))
        passed = truth_as_number(graph, graph.add("Greater", x, at))
        # half of a jump at its knot, but all or nothing at the ends
        first, last = (np.where(knots[:-1][jumps] == knots[end], 1.0, 0.0) for end in (0, -1))
        both = graph.add("Mul", reached, [1 - first + last])
        both = graph.add("Add", both, graph.add("Mul", passed, [1 + first - last]))
        found = graph.add("Add", found, graph.add("MatMul", both, heights[jumps][:, None] / 2))
    return found


def prepared_rows(graph: Graph, model: dict[str, Any], x: str) -> str:
    """Return rows after one step of a model, except a stack of models, ``(n_rows, n_columns)``."""
    return _STEPS[model["kind"]](graph, model, x)


def _scaled(graph: Graph, model: dict[str, Any], x: str) -> str:
    return graph.add("Div", graph.add("Sub", x, model["mean"]), model["scale"])


def _picked(graph: Graph, model: dict[str, Any], x: str) -> str:
    return taken(graph, x, model["columns"], 1)


def _turned(graph: Graph, model: dict[str, Any], x: str) -> str:
    return graph.add("MatMul", graph.add("Sub", x, model["mean"]), np.asarray(model["axes"]).T)


def _each(graph: Graph, model: dict[str, Any], x: str) -> str:
    columns = [taken(graph, x, [place], 1) for place in range(len(model["steps"]))]
    cells = [
        stepped_cell(graph, steps, column) for steps, column in zip(model["steps"], columns, strict=True)
    ]
    return graph.add("Concat", *cells, axis=1)


def _products(graph: Graph, model: dict[str, Any], x: str) -> str:
    return graph.add("Concat", *(_product(graph, powers, x) for powers in model["powers"]), axis=1)


def _product(graph: Graph, powers: list[int], x: str) -> str:
    found = ""
    for place, times in enumerate(powers):
        for _ in range(times):
            column = taken(graph, x, [place], 1)
            found = graph.add("Mul", found, column) if found else column
    return found or graph.add("Add", graph.add("Mul", taken(graph, x, [0], 1), 0.0), 1.0)


def _normalised(graph: Graph, model: dict[str, Any], x: str) -> str:
    norm, sizes = model["norm"], graph.add("Abs", x)
    if norm == "max":
        size = graph.add("ReduceMax", sizes, graph.constant([1], np.int64), keepdims=1)
    elif norm == "l1":
        size = summed_columns(graph, sizes)
    else:
        size = graph.add("Sqrt", summed_columns(graph, graph.add("Mul", x, x)))
    return graph.add("Div", x, graph.add("Where", graph.add("Equal", size, 0.0), 1.0, size))


def _kernel(graph: Graph, model: dict[str, Any], x: str) -> str:
    kind = model.get("function", "rbf")
    if kind == "rbf":
        squares = distances(graph, model["rows"], x, 2)
        near = graph.add("Exp", graph.add("Mul", squares, -model["gamma"]))
    else:
        near = graph.add("MatMul", x, np.asarray(model["rows"], dtype=float).T)
        if kind != "linear":
            near = graph.add("Add", graph.add("Mul", near, model["gamma"]), model["shift"])
            near = graph.add("Pow", near, model["power"]) if kind == "poly" else graph.add("Tanh", near)
    return graph.add("MatMul", near, np.asarray(model["mixing"]).T)


def distances(graph: Graph, rows: Any, x: str, power: float) -> str:
    """Return for each row the sums of powered differences to other rows, ``(n_rows, n_others)``."""
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


_STEPS: dict[str, Callable[[Graph, dict[str, Any], str], str]] = {
    "scaled": _scaled,
    "kernel": _kernel,
    "picked": _picked,
    "turned": _turned,
    "each": _each,
    "products": _products,
    "normalised": _normalised,
}
