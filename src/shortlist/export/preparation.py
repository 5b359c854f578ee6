"""Rows prepared by fitted transformers of scikit-learn, cell by cell, as plain numbers."""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shortlist._words import all_of
from shortlist.ensembles.pools.members import to_array

Step = dict[str, Any]
"""Step from a cell to a cell, or from rows to rows, as JSON has it."""

FUNCTIONS = {
    np.log1p: "log1p", np.log: "log", np.log2: "log2", np.log10: "log10", np.sqrt: "sqrt", np.exp: "exp",
    np.expm1: "expm1", np.abs: "abs", np.square: "square", np.negative: "negative",
}  # fmt: skip
"""Functions of a FunctionTransformer that the reader knows, with the reader's name for each."""

SAME = (np.asarray, np.array, np.asanyarray, to_array, float, np.float64, np.float32)
"""Functions that leave numbers unchanged."""


class CannotWriteError(Exception):
    """Error for a part of a model that cannot be written; its text names the part."""


@dataclass(frozen=True)
class Cell:
    """Number or word of a prepared row: its source, and the steps from there."""

    source: "int | tuple[int, int]"
    """Index of a feature; or the index of an operation on several cells, and the index of its result."""
    steps: tuple[Step, ...] = ()
    may_be_gap: bool = True
    """Whether a gap in the feature makes this cell a gap."""

    def after(self, *steps: Step, may_be_gap: bool | None = None) -> "Cell":
        """Return the cell after more steps."""
        gap = self.may_be_gap if may_be_gap is None else may_be_gap
        return replace(self, steps=(*self.steps, *steps), may_be_gap=gap)


@dataclass
class Operation:
    """Operation on several cells together."""

    inputs: list[Cell]
    by: Step
    n_results: int


@dataclass
class ReadRows:
    """Features of rows that models read, collected while models are written."""

    names: Sequence[str] | None = None
    """Names of the features, which a transformer may use to select columns."""
    needed: set[int] = field(default_factory=set)
    """Indices of the features that must have a value."""
    words: set[int] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    """Indices of features: in `words` the features compared as words, in `numbers` the features read as
    numbers.
    """
    known: dict[int, list[str]] = field(default_factory=dict)
    """Accepted words by feature, for the features that refuse other words."""
    operations: list[Operation] = field(default_factory=list)

    def require(self, cells: Sequence[Cell]) -> None:
        """Record that these cells may not be gaps."""
        self.needed |= {cell.source for cell in cells if cell.may_be_gap and isinstance(cell.source, int)}

    def read_numbers(self, cells: Sequence[Cell]) -> None:
        """Record that these cells are used as numbers, before or after other steps."""
        for cell in cells:
            if isinstance(cell.source, int) and not any(one["step"] == "lookup" for one in cell.steps):
                self.numbers.add(cell.source)

    def together(self, cells: Sequence[Cell], by: Step, n_results: int) -> list[Cell]:
        """Return the results of an operation on several cells, none of which may be a gap."""
        self.require(cells)
        self.read_numbers(cells)
        self.operations.append(Operation(list(cells), by, n_results))
        place = len(self.operations) - 1
        return [Cell((place, number), (), may_be_gap=False) for number in range(n_results)]


Prepare = Callable[[Any, list[Cell], ReadRows], list[Cell]]


def prepared(transformer: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    """Return the cells that a fitted transformer computes from other cells.

    Raises CannotWriteError if the transformer cannot be written. Types must match exactly, as a subclass may
    answer differently.
    """
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return cells
    module, name = type(transformer).__module__.split(".")[0], type(transformer).__name__
    if module == "sklearn" and hasattr(transformer, "get_support") and hasattr(transformer, "transform"):
        return [cells[place] for place in transformer.get_support(indices=True)]
    prepare = _TRANSFORMERS.get(name) if module == "sklearn" else None
    if prepare is None:
        raise CannotWriteError(name)
    return prepare(transformer, cells, rows)


def _pipeline(pipeline: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    for _, step in pipeline.steps:
        cells = prepared(step, cells, rows)
    return cells


def _union(union: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    weights = union.transformer_weights or {}
    found = []
    for name, one in union.transformer_list:
        if not (isinstance(one, str) and one == "drop"):
            found += _weighted(prepared(one, cells, rows), weights.get(name))
    return found


def _columns(transformer: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    """Join the results of transformers, each of some columns; columns are found by name if named."""
    seen = getattr(transformer, "feature_names_in_", None)
    if seen is not None and rows.names is not None and _are_features(cells):
        by_name = dict(zip(rows.names, cells, strict=True))
        cells = [by_name.get(name, Cell(-1)) for name in seen]
    indices = transformer._transformer_to_input_indices  # noqa: SLF001  # nothing public has them
    weights = transformer.transformer_weights or {}
    found: list[Cell] = []
    for name, one, _ in transformer.transformers_:
        if isinstance(one, str) and one == "drop":
            continue
        given = [cells[place] for place in indices[name]]
        if any(cell.source == -1 for cell in given):
            raise CannotWriteError("ColumnTransformer of other columns")
        found += _weighted(prepared(one, given, rows) if given else [], weights.get(name))
    return found


def _are_features(cells: Sequence[Cell]) -> bool:
    return [cell.source for cell in cells] == [*range(len(cells))] and not any(cell.steps for cell in cells)


def _weighted(cells: list[Cell], weight: float | None) -> list[Cell]:
    return cells if weight is None else [cell.after(_by("multiply", weight)) for cell in cells]


def _function(transformer: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    func = transformer.func
    if isinstance(func, functools.partial):
        func = func.func
    named = f"{getattr(func, '__module__', '')}.{getattr(func, '__name__', '')}"
    if func is None or func in SAME or named == "sklearn.utils.validation.check_array":
        return cells
    if func not in FUNCTIONS or transformer.kw_args:
        known = all_of(["np.log1p", "np.log", "np.sqrt", "np.exp", "np.abs", "np.square"])
        raise CannotWriteError(
            f"FunctionTransformer of {getattr(func, '__name__', 'a function')}, not of {known} or the like"
        )
    rows.read_numbers(cells)
    return [cell.after({"step": "function", "name": FUNCTIONS[func]}) for cell in cells]


def _imputer(imputer: Any, cells: list[Cell], _rows: ReadRows) -> list[Cell]:
    if not _is_gap(imputer.missing_values):
        raise CannotWriteError(f"SimpleImputer of missing_values={imputer.missing_values!r}")
    found = []
    for cell, fill in zip(cells, imputer.statistics_.tolist(), strict=True):
        if not _is_gap(fill):
            found.append(_filled(cell, fill))
        elif imputer.keep_empty_features:
            found.append(_filled(cell, 0.0))
    return found + ([] if imputer.indicator_ is None else _marks(imputer.indicator_, cells, _rows))


def _filled(cell: Cell, fill: Any) -> Cell:
    return cell.after({"step": "fill", "with": fill}, may_be_gap=False) if cell.may_be_gap else cell


def _marks(indicator: Any, cells: list[Cell], _rows: ReadRows) -> list[Cell]:
    if not _is_gap(indicator.missing_values):
        raise CannotWriteError(f"MissingIndicator of missing_values={indicator.missing_values!r}")
    return [
        cells[place].after({"step": "is gap"}, may_be_gap=False) for place in indicator.features_.tolist()
    ]


def _one_hot(encoder: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    found = []
    refuses = encoder.handle_unknown == "error"
    rares = getattr(encoder, "infrequent_categories_", [None] * len(cells))
    drops = [None] * len(cells) if encoder.drop_idx_ is None else encoder.drop_idx_
    for cell, values, rare, drop in zip(cells, encoder.categories_, rares, drops, strict=True):
        known = [_plain(value) for value in values]
        few = [] if rare is None else [_plain(value) for value in rare]
        groups = [[value] for value in known if not _is_among(value, few)] + ([few] if few else [])
        if drop is not None:
            groups = [group for group in groups if not _is_among(known[int(drop)], group)]
        for group in groups:
            otherwise = float(bool(few) and group is groups[-1] and encoder.handle_unknown != "ignore")
            numbers = [float(_is_among(value, group)) for value in known]
            found.append(_looked_up(cell, known, numbers, rows, None if refuses else otherwise, short=True))
        if not groups:
            _looked_up(cell, known, [0.0] * len(known), rows, None if refuses else 0.0)
    return found


def _ordinal(encoder: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    found = []
    refuses = encoder.handle_unknown == "error"
    groups = getattr(encoder, "_default_to_infrequent_mappings", None)
    for place, (cell, values) in enumerate(zip(cells, encoder.categories_, strict=True)):
        known, mapping = [_plain(value) for value in values], groups[place] if groups else None
        numbers = [
            float(encoder.encoded_missing_value)
            if _is_gap(value)
            else float(code if mapping is None else mapping[code])
            for code, value in enumerate(known)
        ]
        otherwise = None if refuses else float(encoder.unknown_value)
        found.append(_looked_up(cell, known, numbers, rows, otherwise))
    return found


def _by_target(encoder: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    n = len(encoder.classes_) if encoder.target_type_ == "multiclass" else 1
    means = np.ravel(encoder.target_mean_).tolist()
    found = []
    for place, encoding in enumerate(encoder.encodings_):
        known = [_plain(value) for value in encoder.categories_[place // n]]
        found.append(_looked_up(cells[place // n], known, encoding.tolist(), rows, float(means[place % n])))
    return found


def _looked_up(
    cell: Cell,
    known: list[Any],
    numbers: list[float],
    rows: ReadRows,
    otherwise: float | None,
    *,
    short: bool = False,
) -> Cell:
    """Return a cell with the number that belongs to its value.

    `otherwise`: number for all other values; None to refuse other values.

    `short`: write only values whose number differs from `otherwise`.
    """
    pairs = [(value, number) for value, number in zip(known, numbers, strict=True) if not _is_gap(value)]
    gap = next((number for value, number in zip(known, numbers, strict=True) if _is_gap(value)), otherwise)
    may_be_gap, before = cell.may_be_gap, [step["step"] for step in cell.steps]
    if not isinstance(cell.source, int) or before not in ([], ["fill"]):
        return _looked_up_later(cell, dict(pairs), gap, otherwise)
    if cell.steps:  # a gap is another value then, perhaps of another type
        fill, may_be_gap = _plain(cell.steps[0]["with"]), False
        gap = next((number for value, number in pairs if value == fill), otherwise)
        if gap is None:
            raise CannotWriteError(f"encoder that does not know {fill!r}, which fills its gaps")
    elif may_be_gap and gap is None:
        rows.require([cell])
    otherwise = _compared(cell.source, [value for value, _ in pairs], rows, otherwise)
    if short and otherwise is not None:
        pairs = [(value, number) for value, number in pairs if number != otherwise]
    step = {
        "step": "lookup",
        "values": [value for value, _ in pairs],
        "numbers": [_or_gap(number) for _, number in pairs],
        "gap": _or_gap(gap),
    }
    if otherwise is not None:
        step["otherwise"] = _or_gap(otherwise)
    makes_gaps = any(number is not None and math.isnan(number) for number in (gap, otherwise, *numbers))
    return Cell(cell.source, (step,), may_be_gap=makes_gaps or (may_be_gap and gap is None))


def _looked_up_later(
    cell: Cell, numbers: dict[Any, float], gap: float | None, otherwise: float | None
) -> Cell:
    """Return a cell with the number that belongs to a computed or looked-up number."""
    if otherwise is None:
        raise CannotWriteError("encoder of computed values that refuses unknown ones")
    if any(isinstance(value, str) for value in numbers):
        raise CannotWriteError("encoder of words and numbers in one column")
    gap = otherwise if gap is None else gap
    makes_gaps = any(math.isnan(number) for number in (gap, otherwise, *numbers.values()))
    *steps, last = cell.steps or ({"step": ""},)
    if last["step"] == "lookup":  # then the two are one

        def after(number: float | None) -> float | None:
            return _or_gap(gap if number is None else numbers.get(number, otherwise))

        step = last | {"numbers": [after(number) for number in last["numbers"]], "gap": after(last["gap"])}
        step |= {"otherwise": after(last["otherwise"])} if "otherwise" in last else {}
        return Cell(cell.source, (*steps, step), may_be_gap=makes_gaps)
    step = {
        "step": "lookup",
        "values": list(numbers),
        "numbers": [_or_gap(number) for number in numbers.values()],
        "gap": _or_gap(gap),
        "otherwise": _or_gap(otherwise),
    }
    return cell.after(step, may_be_gap=makes_gaps)


def _compared(source: int, values: list[Any], rows: ReadRows, otherwise: float | None) -> float | None:
    """Record the values that a feature is compared with.

    Return the number for all other values; None to refuse other values.
    """
    if not any(isinstance(value, str) for value in values):
        rows.numbers.add(source)
        return otherwise
    if not all(isinstance(value, str) for value in values):
        raise CannotWriteError("encoder of words and numbers in one column")
    rows.words.add(source)
    if otherwise is None:  # the feature then takes no other word
        already = rows.known.get(source)
        rows.known[source] = values if already is None else [one for one in already if one in values]
    return 0.0 if otherwise is None else otherwise


def _or_gap(number: float | None) -> float | None:
    return None if number is None or math.isnan(number) else float(number)


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return float(value) if isinstance(value, bool) else value


def _is_gap(value: Any) -> bool:
    import pandas as pd

    return bool(pd.isna(value))


def _is_among(value: Any, values: Sequence[Any]) -> bool:
    return any(value == one or (_is_gap(value) and _is_gap(one)) for one in values)


def _by(kind: str, number: float) -> Step:
    return {"step": kind, "by": float(number)}


def _each(cells: list[Cell], rows: ReadRows, steps: Callable[[int], Sequence[Step]]) -> list[Cell]:
    """Return numeric cells, each after steps of its own."""
    rows.read_numbers(cells)
    return [cell.after(*steps(place)) for place, cell in enumerate(cells)]


def _standard(scaler: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    means, scales = scaler.with_mean, scaler.with_std
    return _each(cells, rows, lambda i: [
        *([_by("subtract", scaler.mean_[i])] if means else []),
        *([_by("divide", scaler.scale_[i])] if scales else []),
    ])  # fmt: skip


def _robust(scaler: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    return _each(cells, rows, lambda i: [
        *([_by("subtract", scaler.center_[i])] if scaler.with_centering else []),
        *([_by("divide", scaler.scale_[i])] if scaler.with_scaling else []),
    ])  # fmt: skip


def _min_max(scaler: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    least, most = scaler.feature_range
    clip = [{"step": "clip", "least": float(least), "most": float(most)}] if scaler.clip else []
    return _each(
        cells, rows, lambda i: [_by("multiply", scaler.scale_[i]), _by("add", scaler.min_[i]), *clip]
    )


def _max_abs(scaler: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    clip = [{"step": "clip", "least": -1.0, "most": 1.0}] if getattr(scaler, "clip", False) else []
    return _each(cells, rows, lambda i: [_by("divide", scaler.scale_[i]), *clip])


def _binarizer(binarizer: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    rows.require(cells)
    edge = math.nextafter(float(binarizer.threshold), math.inf)  # 1 above it, and not at it
    return _each(cells, rows, lambda _: [{"step": "bins", "edges": [edge]}])


def _bins(binner: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    rows.require(cells)
    inner = [edges[1:-1].tolist() for edges in binner.bin_edges_]
    found = _each(cells, rows, lambda i: [{"step": "bins", "edges": inner[i]}])
    if binner.encode == "ordinal":
        return found
    one_hot = [range(int(n)) for n in binner.n_bins_]
    return [
        cell.after(
            {"step": "lookup", "values": [float(bin_)], "numbers": [1.0], "gap": 0.0, "otherwise": 0.0}
        )
        for cell, bins in zip(found, one_hot, strict=True)
        for bin_ in bins
    ]


def _power(transformer: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    found = _each(
        cells, rows,
        lambda i: [{"step": transformer.method, "power": float(transformer.lambdas_[i])}],
    )  # fmt: skip
    if not transformer.standardize:
        return found
    return _standard(transformer._scaler, found, rows)  # noqa: SLF001  # nothing public has it


def _quantiles(transformer: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    if transformer.output_distribution != "uniform":
        raise CannotWriteError("QuantileTransformer to a normal distribution")
    shares = transformer.references_.tolist()
    return _each(cells, rows, lambda i: [
        {"step": "interpolate", "knots": transformer.quantiles_[:, i].tolist(), "values": shares}
    ])  # fmt: skip


def _normaliser(normaliser: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    return rows.together(cells, {"kind": "normalised", "norm": normaliser.norm}, len(cells))


def _polynomial(transformer: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    powers = transformer.powers_.tolist()
    return rows.together(cells, {"kind": "products", "powers": powers}, len(powers))


def _principal(transformer: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    axes = np.asarray(transformer.components_, dtype=float)
    mean = getattr(transformer, "mean_", None)
    mean = np.zeros(axes.shape[1]) if mean is None else np.asarray(mean, dtype=float)
    if getattr(transformer, "whiten", False):
        scale = np.sqrt(transformer.explained_variance_)
        axes = axes / np.maximum(scale, np.finfo(scale.dtype).eps)[:, None]
    return rows.together(cells, {"kind": "turned", "mean": mean.tolist(), "axes": axes.tolist()}, len(axes))


def _landmarks(transformer: Any, cells: list[Cell], rows: ReadRows) -> list[Cell]:
    if transformer.kernel != "rbf" or transformer.gamma is None:
        raise CannotWriteError(f"Nystroem of kernel={transformer.kernel!r} and gamma={transformer.gamma!r}")
    by = {
        "kind": "kernel",
        "gamma": float(transformer.gamma),
        "rows": transformer.components_.tolist(),
        "mixing": transformer.normalization_.tolist(),
    }
    return rows.together(cells, by, len(by["mixing"]))


_TRANSFORMERS: dict[str, Prepare] = {
    "Pipeline": _pipeline,
    "FeatureUnion": _union,
    "ColumnTransformer": _columns,
    "FunctionTransformer": _function,
    "SimpleImputer": _imputer,
    "MissingIndicator": _marks,
    "OneHotEncoder": _one_hot,
    "OrdinalEncoder": _ordinal,
    "TargetEncoder": _by_target,
    "StandardScaler": _standard,
    "RobustScaler": _robust,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
    "Binarizer": _binarizer,
    "KBinsDiscretizer": _bins,
    "PowerTransformer": _power,
    "QuantileTransformer": _quantiles,
    "Normalizer": _normaliser,
    "PolynomialFeatures": _polynomial,
    "PCA": _principal,
    "TruncatedSVD": _principal,
    "Nystroem": _landmarks,
}
