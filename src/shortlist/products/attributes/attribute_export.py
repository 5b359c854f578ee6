"""The attributes of a model as a table, which can be read again."""

from collections.abc import Iterator
from pathlib import Path

from shortlist.products.feature_models.model import FeatureModel
from shortlist.tables.spreadsheets import Cell, save_rows


def save_attributes(path: str | Path, model: FeatureModel) -> None:
    """Write the attributes of a model's features as CSV, or as a workbook for ``.xlsx``.

    The table has a row for every feature, a column ``feature`` with its name and one column per attribute;
    :func:`~shortlist.products.read_attributes` reads it again.

    Parameters
    ----------
    path : str or Path
        File to write, whole or not at all; it ends in ``.csv`` or ``.xlsx``.
    model : FeatureModel
        Whose attributes.

    Raises
    ------
    BadInputError
        If the ending is another one, or the table is larger than a sheet of Excel.
    """
    save_rows(path, ["feature", *model.attributes], _rows(model))


def _rows(model: FeatureModel) -> Iterator[list[Cell]]:
    for feature, label in enumerate(model.labels):
        yield [label, *(column.get(feature) for column in model.attributes.values())]
