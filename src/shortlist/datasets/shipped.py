"""Tables that scikit-learn ships, so that they are always there."""

from typing import TYPE_CHECKING

from shortlist._words import any_of, did_you_mean
from shortlist.errors import BadInputError

if TYPE_CHECKING:
    import pandas as pd

SHIPPED = {
    "breast-cancer": "Breast cancer Wisconsin (diagnostic): malignant or benign",
    "digits": "Written digits, 8 x 8 points each",
    "iris": "Three kinds of iris, by their leaves",
    "wine": "Three growers of wine, by what is in it",
}
"""Names, as in ``example:NAME``, and what each table is."""


def shipped_table(name: str) -> "pd.DataFrame":
    """Load a table of scikit-learn, with names of classes in its last column, ``target``.

    Raises
    ------
    BadInputError
        If there is none of that name.
    """
    import sklearn.datasets

    if name not in SHIPPED:
        raise BadInputError(
            f"a shipped table must be one of {any_of(SHIPPED)}, got {name!r}.{did_you_mean(name, SHIPPED)}"
        )
    bunch = getattr(sklearn.datasets, f"load_{name.replace('-', '_')}")(as_frame=True)
    return bunch.data.assign(target=bunch.target_names[bunch.target])
