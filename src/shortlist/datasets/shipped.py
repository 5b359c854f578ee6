"""Tables that scikit-learn ships or that are made here, so that they are always there."""

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
    "synthetic30": "Thirty features and three classes, made as for EMSCO",
    "judges": "Answers of thirty judges on 600 messages, made",
}
"""Names, as in ``example:NAME``, and what each table is."""

PRICES = {"judges-prices": "judges", "judges-needs": "judges"}
"""Tables of prices, as in ``example:judges-prices``, and whose they are."""


def shipped_table(name: str) -> "pd.DataFrame":
    """Load a table of scikit-learn, or make one, with names of classes in its last column, ``target``.

    A table of prices has the columns ``name`` and ``cost``, and ``needs`` where judges need something. Raises
    BadInputError if there is none of that name.
    """
    import sklearn.datasets

    from shortlist.datasets.judges import judged_messages, needs_of_judges, prices_of_judges

    if name in PRICES:
        return prices_of_judges() if name == "judges-prices" else needs_of_judges()
    if name == "judges":
        return judged_messages()
    if name == "synthetic30":
        return synthetic30()
    if name not in SHIPPED:
        raise BadInputError(
            f"a shipped table must be one of {any_of(SHIPPED)}, got {name!r}.{did_you_mean(name, SHIPPED)}"
        )
    bunch = getattr(sklearn.datasets, f"load_{name.replace('-', '_')}")(as_frame=True)
    return bunch.data.assign(target=bunch.target_names[bunch.target])


def synthetic30(seed: int = 0) -> "pd.DataFrame":
    """Make Synthetic30, 30 features of which 25 are informative (Sec. 4.1.3 of :cite:t:`Hamilton2022`).

    Returns
    -------
    table : DataFrame
        1,000 rows, with the columns ``f0`` to ``f29`` and ``target``, whose three labels have equal parts.

    Notes
    -----
    The paper does not name the seed.
    """
    import pandas as pd
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_samples=1000, n_features=30, n_informative=25, n_redundant=0, n_classes=3, random_state=seed
    )
    return pd.DataFrame(X, columns=[f"f{i}" for i in range(30)]).assign(target=y)
