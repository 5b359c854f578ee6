"""Nodes and constants of an ONNX graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np


class Graph:
    """Nodes and constants of a graph, with a new name for each result."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.refused: list[str] = []
        """Marks of rows with a value that no member accepts, ``(n_rows, 1)`` each."""
        self._count = 0

    def name(self) -> str:
        """Return an unused name."""
        self._count += 1
        return f"x{self._count}"

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add a constant, and return its name."""
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


def truth_as_number(graph: Graph, truth: str) -> str:
    """Return 1 for true and 0 for false, in double precision."""
    import onnx

    return graph.add("Cast", truth, to=onnx.TensorProto.DOUBLE)


def taken(graph: Graph, x: str, places: Sequence[int], axis: int) -> str:
    """Return the entries at some indices along an axis."""
    return graph.add("Gather", x, graph.constant(list(places), np.int64), axis=axis)


def with_axis(graph: Graph, x: str, axis: int) -> str:
    """Return a result with one more axis."""
    return graph.add("Unsqueeze", x, graph.constant([axis], np.int64))


def summed(graph: Graph, x: str, axis: int) -> str:
    """Return sums along an axis."""
    return graph.add("ReduceSum", x, graph.constant([axis], np.int64), keepdims=0)


def summed_columns(graph: Graph, x: str) -> str:
    """Return the sum of each row, ``(n_rows, 1)``."""
    return graph.add("ReduceSum", x, graph.constant([1], np.int64), keepdims=1)
