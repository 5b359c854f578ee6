"""Public sets that are made, in a folder, with the columns and rows of the real ones."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from shortlist.datasets.registry import public_set


def write_made_set(folder: Path, name: str, seed: int = 0) -> None:
    """Write a table whose columns and numbers of rows are those of a public set; its first features tell the class."""
    data_set = public_set(name)
    rng = np.random.default_rng(seed)
    words: list[int | str] = [int(word) if word.isdigit() else word for word in data_set.classes]
    codes = np.arange(data_set.rows) % max(2, len(words))
    table = pd.DataFrame(
        {
            column: (codes * (place < 3) + rng.normal(size=data_set.rows)).round(3)
            for place, column in enumerate(data_set.columns[:-1])
        }
    )
    target = rng.normal(size=data_set.rows).round(3) if not words else np.array(words)[codes]
    table.assign(target=target).to_csv(folder / f"{data_set.stem}.csv", index=False)


def write_wdbc(folder: Path) -> None:
    """Write the real set of that name, which scikit-learn ships."""
    X, y = load_breast_cancer(return_X_y=True)
    data_set = public_set("wdbc")
    features = pd.DataFrame(X, columns=list(data_set.features))
    table = features.assign(id_number=np.arange(len(y)), target=1 - y)
    table[list(data_set.columns)].to_csv(folder / "wdbc.csv", index=False)
