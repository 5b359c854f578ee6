"""ONNX files: written, and asked about rows before anybody relies on them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.export.policies import is_gap, model_answers, open_ties, what_differs
from shortlist.files import whole_file
from shortlist.saved_models import SavedModel

if TYPE_CHECKING:
    import pandas as pd

NEAR = 1e-5
"""How far probabilities may be from the model's: trees are added up in single precision."""


def write_onnx(content: bytes, path: str | Path) -> None:
    """Write an ONNX file, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


def check_onnx(content: bytes, saved: SavedModel, rows: "pd.DataFrame", policy: dict[str, Any]) -> int:
    """Ask an ONNX model about rows, and compare it with the model; return how many were compared.

    Raises
    ------
    BadInputError
        If there is no row, or one is answered otherwise: then the file must not be used.
    MissingDependencyError
        If onnxruntime is not installed.
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
    """Return a column as the graph takes it, ``(n_rows, 1)``."""
    if words:
        cells = ["" if is_gap(value) else str(value) for value in column.tolist()]
        return np.array(cells, dtype=object)[:, None]
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan)[:, None])
