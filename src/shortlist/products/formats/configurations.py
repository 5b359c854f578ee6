"""Single products as files."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from shortlist.errors import BadInputError
from shortlist.files import write_text
from shortlist.products.formats.uvl_writer import product_text
from shortlist.products.model import FeatureModel

ENDINGS = (".uvl", ".csv", ".config")
"""Endings of the files that :func:`write_configuration` can write."""


def write_configuration(path: str | Path, model: FeatureModel, selection: ArrayLike) -> None:
    """Write one configuration, in the form that the ending of `path` names.

    ``.uvl``: a model in which exactly the selected features are left, all mandatory. ``.csv``: a row
    ``feature,selected`` per feature, 1 or 0. ``.config``: names as comments ``c 12 NAME``, then a line ``v`` with a
    signed variable number per feature and a final 0, as SAT solvers write their models. The last two can be read back
    as requirements.

    Parameters
    ----------
    path : str or Path
        Where to write, whole or not at all.
    model : FeatureModel
        Whose configuration.
    selection : array-like of bool or 0/1, shape (n_features,)
        What is selected.

    Raises
    ------
    BadInputError
        If the ending is unknown or the shape does not fit the model.
    """
    chosen = np.asarray(selection).astype(bool)
    if chosen.shape != (model.n_features,):
        raise BadInputError(f"selection must have shape ({model.n_features},), got {chosen.shape}.")
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise BadInputError(
            f"a product must be written to a file ending in {', '.join(ENDINGS)}, got {str(path)!r}."
        )
    writers = {".uvl": product_text, ".csv": _csv_text, ".config": _config_text}
    write_text(path, writers[ending](model, chosen.tolist()))


def _csv_text(model: FeatureModel, selected: Sequence[bool]) -> str:
    rows = (f"{_cell(label)},{int(s)}" for label, s in zip(model.labels, selected, strict=True))
    return "\n".join(["feature,selected", *rows]) + "\n"


def _config_text(model: FeatureModel, selected: Sequence[bool]) -> str:
    names = [f"c {i} {' '.join(label.split())}" for i, label in enumerate(model.labels, start=1)]
    literals = [str(i if s else -i) for i, s in enumerate(selected, start=1)]
    return "\n".join([*names, " ".join(["v", *literals, "0"])]) + "\n"


def _cell(text: str) -> str:
    """Return a CSV cell, quoted where needed."""
    if any(sign in text for sign in ',"\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text
