"""Single products as files."""

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

from shortlist._words import any_of
from shortlist.errors import BadInputError
from shortlist.files import write_text
from shortlist.products.feature_models.model import FeatureModel
from shortlist.products.formats.uvl_writer import product_text
from shortlist.tables.spreadsheets import guarded

CONFIGURATION_ENDINGS = (".uvl", ".csv", ".config")
"""Endings of the files that :func:`write_configuration` can write."""


def write_configuration(path: str | Path, model: FeatureModel, selection: ArrayLike) -> None:
    """Write one configuration, in the form that the ending of `path` names.

    ``.uvl``: a model in which exactly the selected features are left, all mandatory. ``.csv``: a row
    ``feature,selected`` per feature, 1 or 0; a name that a spreadsheet would take for a formula has ``'``
    before it. ``.config``: XML as FeatureIDE writes it, with ``manual="selected"`` or ``"unselected"`` for
    every feature; what follows from what (``automatic``) FeatureIDE works out itself when it opens the file.
    The last two can be read back as requirements. Raises BadInputError if the ending is unknown or the shape
    does not fit the model.
    """
    chosen = np.asarray(selection).astype(bool)
    if chosen.shape != (model.n_features,):
        raise BadInputError("selection", f"must have shape ({model.n_features},)", chosen.shape)
    ending = Path(path).suffix.lower()
    if ending not in CONFIGURATION_ENDINGS:
        raise BadInputError(
            f"a product must be written to a file ending in {any_of(CONFIGURATION_ENDINGS)}, "
            f"got {str(path)!r}."
        )
    writers = {".uvl": product_text, ".csv": _csv_text, ".config": _config_text}
    write_text(path, writers[ending](model, chosen.tolist()))


def _csv_text(model: FeatureModel, selected: Sequence[bool]) -> str:
    rows = (f"{_cell(guarded(label))},{int(s)}" for label, s in zip(model.labels, selected, strict=True))
    return "\n".join(["feature,selected", *rows]) + "\n"


def _config_text(model: FeatureModel, selected: Sequence[bool]) -> str:
    states = ("selected" if chosen else "unselected" for chosen in selected)
    rows = [
        f'    <feature manual="{state}" name={quoteattr(label)}/>'
        for label, state in zip(model.labels, states, strict=True)
    ]
    head = '<?xml version="1.0" encoding="UTF-8" standalone="no"?>'
    return "\n".join([head, "<configuration>", *rows, "</configuration>"]) + "\n"


def _cell(text: str) -> str:
    if any(sign in text for sign in ',"\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text
