"""Policy as an ONNX graph of the same plain numbers, for runtimes in many languages."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.export.onnx_cells import stepped_cell
from shortlist.export.onnx_nodes import Graph, summed, taken, truth_as_number, with_axis
from shortlist.export.onnx_scores import scored_by
from shortlist.export.policies import is_gap, model_answers, open_ties, what_differs
from shortlist.files import whole_file
from shortlist.saved_models import SavedModel

if TYPE_CHECKING:
    import pandas as pd


OPSET, TREE_OPSET = 19, 3
"""Opsets of ONNX: from 19 on text is compared, and from tree opset 3 on trees compare in double precision."""


OUTPUTS = ("label", "answered", "probabilities", "stage", "cost")
"""Outputs of a graph in their order; only policies of stages have the last two outputs."""


def onnx_of(policy: dict[str, Any]) -> bytes:
    """Return a policy as an ONNX model.

    Its inputs are the features by name, ``(n_rows, 1)``: numbers in double precision with NaN for a gap, and
    words with an empty text for a gap. Its outputs are ``label``, ``answered`` and ``probabilities``, for
    stages also ``stage`` and ``cost``. All stages are computed for every row. Raises BadInputError if a
    feature holds neither numbers nor words, judges decide, or members were evolved. Raises
    MissingDependencyError if onnx is not installed.
    """
    if policy["probabilities" if policy["kind"] == "committee" else "kind"] == "votes":
        raise BadInputError(
            "an ONNX file is made of members of a pool or of stages, got an evolved ensemble. Write a "
            "policy, ending in .json."
        )
    if policy["kind"] == "judges":
        raise BadInputError(
            "an ONNX file is made of classifiers, got a committee of judges, asked elsewhere. Write "
            "a policy, ending in .json."
        )
    try:
        import onnx
    except ImportError:
        raise MissingDependencyError(
            "an ONNX file needs the onnx package. Install it: pip install 'shortlist[onnx]'."
        ) from None
    kinds = onnx.TensorProto
    graph = Graph()
    inputs = []
    for feature in policy["features"]:
        if feature["kind"] == "values":
            raise BadInputError(
                f"an ONNX file is made of numbers and words, got feature {feature['name']!r} of other "
                "values. Turn it into words before fitting."
            )
        kind = kinds.STRING if feature["kind"] == "words" else kinds.DOUBLE
        inputs.append(onnx.helper.make_tensor_value_info(feature["name"], kind, ["rows", 1]))
    features = [feature | {"column": _known_words(graph, feature)} for feature in policy["features"]]
    policy = policy | {"features": features}
    rows = graph.add("Concat", *(_column(graph, policy, one) for one in policy["columns"]), axis=1)
    found = _staged(graph, policy, rows) if policy["kind"] == "stages" else _committee(graph, policy, rows)
    numbers = all(isinstance(label, int) for label in [*policy["classes"], policy["reject_label"] or 0])
    labels = [str(label) for label in (*policy["classes"], policy["reject_label"])]
    if numbers:
        table = graph.constant([*policy["classes"], policy["reject_label"] or 0], np.int64)
    else:
        table = graph.constant(labels, str)
    place = graph.add(
        "Where", found["answered"], found.pop("place"), graph.constant(len(labels) - 1, np.int64)
    )
    found["label"] = graph.add("Gather", table, place)
    types = {"label": kinds.INT64 if numbers else kinds.STRING, "answered": kinds.BOOL, "stage": kinds.INT64}
    outputs = []
    for name in (one for one in OUTPUTS if one in found):
        graph.nodes.append(onnx.helper.make_node("Identity", [found[name]], [name]))
        shape: list[str | int | None] = ["rows"]
        if name == "probabilities":
            shape.append(len(policy["classes"]))
        outputs.append(onnx.helper.make_tensor_value_info(name, types.get(name, kinds.DOUBLE), shape))
    model = onnx.helper.make_model(
        onnx.helper.make_graph(graph.nodes, policy["format"], inputs, outputs, graph.constants),
        opset_imports=[
            onnx.helper.make_opsetid("", OPSET),
            onnx.helper.make_opsetid("ai.onnx.ml", TREE_OPSET),
        ],
        producer_name=policy["made_by"],
        ir_version=9,
    )
    about = {"target": policy["target"], "guarantee": json.dumps(policy["guarantee"])}
    onnx.helper.set_model_props(model, about)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _known_words(graph: Graph, feature: dict[str, Any]) -> str:
    """Return the values of a feature, ``(n_rows, 1)``; a word that no fitted row had becomes a gap."""
    name: str = feature["name"]
    if feature["kind"] != "words" or not feature["known"]:
        return name
    known = [graph.add("Equal", name, graph.constant([[word]], str)) for word in feature["known"]]
    return graph.add("Where", _any(graph, known), name, graph.constant([[""]], str))


def _gap(graph: Graph, feature: dict[str, Any]) -> str:
    """Return whether a feature is a gap, for each row, ``(n_rows, 1)``."""
    if feature["kind"] == "words":
        return graph.add("Equal", feature["column"], graph.constant([[""]], str))
    return graph.add("IsNaN", feature["column"])


def _any(graph: Graph, marks: list[str]) -> str:
    """Return whether any of several marks holds, for each row, ``(n_rows, 1)``."""
    found = marks[0]
    for mark in marks[1:]:
        found = graph.add("Or", found, mark)
    return found


def _lacking(graph: Graph, feature: dict[str, Any]) -> list[str]:
    """Return marks of the rows with a gap in a feature that had no gap when the model was fitted."""
    return [] if feature["may_be_missing"] else [_gap(graph, feature)]


def _has_value(graph: Graph, features: list[dict[str, Any]]) -> str:
    """Return whether any of these features has a value, for each row, ``(n_rows, 1)``."""
    return _any(graph, [graph.add("Not", _gap(graph, feature)) for feature in features])


def _column(graph: Graph, policy: dict[str, Any], one: dict[str, Any]) -> str:
    """Return one encoded column, ``(n_rows, 1)``."""
    feature = policy["features"][one["feature"]]
    name = feature["column"]
    gap = _gap(graph, feature)
    if one["kind"] == "cell":
        column = stepped_cell(graph, one["steps"], name, is_word=feature["kind"] == "words")
    elif one["kind"] == "number":
        column = graph.add("Where", gap, one["fill"], name)
    elif one["kind"] == "missing":
        column = truth_as_number(graph, gap)
    else:
        known = one.get("missing_word")
        word = name if known is None else graph.add("Where", gap, graph.constant([[known]], str), name)
        inside = graph.constant([[False]], np.bool_)
        for value in one["values"]:
            inside = graph.add("Or", inside, graph.add("Equal", word, graph.constant([[value]], str)))
        if one["kind"] == "none_of":
            inside = graph.add("Not", inside)
        column = truth_as_number(graph, inside)
        if one["kind"] == "one_of" and not one["values"]:
            column = graph.add("Mul", truth_as_number(graph, gap), 0.0)
    for divide, subtract in one["scaling"]:
        column = graph.add("Sub", graph.add("Div", column, divide), subtract)
    if one["clip"]:
        column = graph.add("Clip", column, -one["clip"], one["clip"])
    return column


def _committee(graph: Graph, policy: dict[str, Any], rows: str) -> dict[str, str]:
    n_classes = len(policy["classes"])
    each = [_member(graph, member, rows, n_classes) for member in policy["members"]]
    asked = graph.add("Concat", *(with_axis(graph, one, 1) for one in each), axis=1)
    decision = policy["decision"]
    by_mean = decision["rule"] == "mean"
    if by_mean and policy["probabilities"] == "mean":
        scores = shares = ""
    else:
        scores = shares = _vote_shares(graph, decision, asked, n_classes, len(each))
    if by_mean:
        parts = graph.add("Round", graph.add("Mul", asked, float(decision["whole"])))
        if n_classes == 2:
            half = graph.add("Equal", taken(graph, asked, [1], 2), 0.5)
            second = graph.add("Sub", taken(graph, parts, [1], 2), truth_as_number(graph, half))
            first = graph.add("Sub", float(decision["whole"]), second)
            parts = graph.add("Concat", first, second, axis=2)
        gains = np.asarray(decision["gains"], dtype=float)
        if len(set(decision["gains"])) > 1:
            parts = graph.add("Round", graph.add("Mul", parts, gains / gains.max()))
        scores = summed(graph, parts, 1)
    if policy["probabilities"] == "mean":
        probabilities = graph.add("Div", summed(graph, asked, 1), float(len(each)))
    else:
        votes = graph.add("Mul", shares, float(len(each)))
        smooth = graph.constant(float(len(each) + n_classes))
        probabilities = graph.add("Div", graph.add("Add", votes, 1.0), smooth)
    if policy["calibration"] is not None:
        raised = graph.add("Pow", probabilities, policy["calibration"]["power"])
        raised = graph.add("Mul", raised, [policy["calibration"]["factors"]])
        total = graph.add("ReduceSum", raised, graph.constant([1], np.int64), keepdims=1)
        probabilities = graph.add("Div", raised, total)
    place = graph.add("ArgMax", scores, axis=1, keepdims=0)
    own = graph.add("GatherElements", probabilities, with_axis(graph, place, 1), axis=1)
    enough = graph.add("GreaterOrEqual", own, policy["answer_from"])
    enough = graph.add("And", enough, _has_value(graph, policy["features"]))
    lacking = [mark for feature in policy["features"] for mark in _lacking(graph, feature)]
    for mark in (*lacking, *graph.refused):
        enough = graph.add("And", enough, graph.add("Not", mark))
    answered = graph.add("Squeeze", enough, graph.constant([1], np.int64))
    return {"place": place, "answered": answered, "probabilities": probabilities}


def _vote_shares(graph: Graph, decision: dict[str, Any], asked: str, n_classes: int, n_members: int) -> str:
    """Return the shares of votes, ``(n_rows, n_classes)``, stretched if a threshold decides."""
    if decision["rule"] == "threshold":
        k, limit = decision["positive"], decision["threshold"]
        votes = truth_as_number(graph, graph.add("Greater", taken(graph, asked, [k], 2), 0.5))
        count, middle = summed(graph, votes, 1), limit + 0.5
        below = graph.add("Div", count, 2 * middle)
        over = graph.add("Sub", count, middle)
        above = graph.add(
            "Add",
            graph.add("Div", over, 2 * max(0.5, n_members - middle)),
            0.5,
        )
        few = graph.add("LessOrEqual", count, float(limit))
        share = graph.add("Where", few, below, above)
        rest = graph.add("Sub", 1.0, share)
        return graph.add("Concat", *((rest, share) if k else (share, rest)), axis=1)
    if n_classes == 2:
        second = truth_as_number(graph, graph.add("Greater", taken(graph, asked, [1], 2), 0.5))
        votes = graph.add("Concat", graph.add("Sub", 1.0, second), second, axis=2)
    else:
        chosen = graph.add("ArgMax", asked, axis=2, keepdims=0)
        votes = graph.add("Gather", np.eye(n_classes), chosen)
    return graph.add("Div", summed(graph, votes, 1), float(n_members))


def _member(graph: Graph, member: dict[str, Any], rows: str, n_classes: int) -> str:
    """Return the class probabilities of a member, ``(n_rows, n_classes)``."""
    found = scored_by(graph, member["model"], taken(graph, rows, member["columns"], 1))
    places = np.zeros((len(member["classes"]), n_classes))
    places[np.arange(len(places)), member["classes"]] = 1.0
    spread = graph.add("MatMul", found, places)
    cut = graph.add("Clip", spread, 0.0, 1.0)
    total = graph.add("ReduceSum", cut, graph.constant([1], np.int64), keepdims=1)
    return graph.add("Div", cut, total)


def _staged(graph: Graph, policy: dict[str, Any], rows: str) -> dict[str, str]:
    """Return the answer of the first confident stage, or a rejection by the last stage reached.

    A row that lacks a feature of a stage waits before this stage.
    """
    found: dict[str, str] = {}
    waits, one_axis = "", graph.constant([1], np.int64)
    thresholds = graph.constant(policy["thresholds"])
    for stage in reversed(policy["stages"]):
        probabilities = scored_by(graph, stage["model"], taken(graph, rows, stage["columns"], 1))
        place = graph.add("ArgMax", probabilities, axis=1, keepdims=0)
        best = graph.add("ReduceMax", probabilities, graph.constant([1], np.int64), keepdims=0)
        least = graph.constant(2.0 if stage["least"] is None else stage["least"])
        sure = graph.add(
            "And",
            graph.add("GreaterOrEqual", best, graph.add("Gather", thresholds, place)),
            graph.add("GreaterOrEqual", best, least),
        )
        known = [policy["features"][place] for place in stage["known"]]
        sure = graph.add("And", sure, graph.add("Squeeze", _has_value(graph, known), one_axis))
        zeros = graph.add("Mul", best, 0.0)
        paid = graph.add("Add", zeros, stage["cost"])
        number = graph.add("Add", graph.add("Mul", place, graph.constant(0, np.int64)),
                           graph.constant(stage["number"], np.int64))  # fmt: skip
        mine = {
            "place": place,
            "answered": sure,
            "probabilities": probabilities,
            "stage": number,
            "cost": paid,
        }
        if found:
            ends = graph.add("Or", sure, waits) if waits else sure
            mine = _either(graph, ends, mine, found)
        found = mine
        bought = [policy["features"][place] for place in stage["buys"]]
        marks = [mark for feature in bought for mark in _lacking(graph, feature)]
        waits = graph.add("Squeeze", _any(graph, marks), one_axis) if marks else ""
    if not waits:
        return found
    zeros = graph.add("Mul", found["place"], graph.constant(0, np.int64))
    nothing = {
        "place": zeros,
        "answered": graph.add("Less", zeros, zeros),
        "probabilities": graph.add("Where", with_axis(graph, waits, 1), np.nan, found["probabilities"]),
        "stage": zeros,
        "cost": graph.add("Where", waits, 0.0, found["cost"]),
    }
    return _either(graph, waits, nothing, found)


def _either(graph: Graph, where: str, one: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    chosen = {}
    for name, result in one.items():
        if name == "answered":  # of truth values there is no choice
            mine = graph.add("And", where, result)
            chosen[name] = graph.add("Or", mine, graph.add("And", graph.add("Not", where), other[name]))
        else:
            wide = with_axis(graph, where, 1) if name == "probabilities" else where
            chosen[name] = graph.add("Where", wide, result, other[name])
    return chosen


NEAR = 1e-5
"""Largest difference of probabilities between graph and model, as trees are summed in single precision."""


def write_onnx(content: bytes, path: str | Path) -> None:
    """Write an ONNX file completely or not at all."""
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


def check_onnx(content: bytes, saved: SavedModel, rows: "pd.DataFrame", policy: dict[str, Any]) -> int:
    """Compare an ONNX model with the saved model on rows; return the number of rows.

    Raises BadInputError if there is no row, or an answer differs: then the file must not be used. Raises
    MissingDependencyError if onnxruntime is not installed.
    """
    try:
        import onnxruntime
    except ImportError:
        raise MissingDependencyError(
            "an ONNX file is checked by the onnxruntime package. Install it: pip install 'shortlist[onnx]'."
        ) from None
    if not len(rows):
        raise BadInputError("an ONNX file is checked on rows, got none. Name a table with rows.")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    used = {one.name for one in session.get_inputs()}
    given = {
        feature["name"]: _cells(rows[feature["name"]], words=feature["kind"] == "words")
        for feature in policy["features"]
        if feature["name"] in used
    }
    names = [one.name for one in session.get_outputs()]
    told = dict(zip(names, session.run(None, given), strict=True))
    wanted, probabilities = model_answers(saved.estimator, rows)
    apart = np.abs(told["probabilities"] - probabilities)
    apart[np.isnan(told["probabilities"]) & np.isnan(probabilities)] = 0.0  # of rows that wait for a stage
    off = apart.max(axis=1)
    other = [str(a) != str(b) for a, b in zip(told["label"].tolist(), wanted.tolist(), strict=True)]
    wrong = np.flatnonzero(np.array(other) | ~(off <= NEAR))
    if len(wrong):
        place = int(wrong[0])
        raise BadInputError(
            f"row {place + 1} of the table must be answered by the ONNX file as by the model, got "
            f"{what_differs(told['label'][place], wanted[place], float(off[place]))}. "
            "The file is not written; write a policy, ending in .json, or use the model file."
            f"{open_ties(saved)}"
        )
    return len(rows)


def _cells(column: "pd.Series[Any]", *, words: bool) -> NDArray[Any]:
    """Return a column in the form of a graph's input, ``(n_rows, 1)``."""
    if words:
        cells = ["" if is_gap(value) else str(value) for value in column.tolist()]
        return np.array(cells, dtype=object)[:, None]
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan)[:, None])
