"""Real tables that cannot be shipped, from the folder that the caller names."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from shortlist.ensembles.pools.answers import positive_votes
from shortlist.ensembles.pools.fitting import make_pool
from shortlist.ensembles.votes.hard_votes import Votes, merge_rows
from shortlist.tables.files import read_set
from shortlist_papers.paper import how_to_get
from shortlist_papers.pruning import binary_table


def read_uci(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Read features and 0/1 target of one of the public sets; identifiers are left out."""
    table = read_set(name, folder)
    assert table is not None, how_to_get(name)
    return binary_table(name, table)


def validation_votes(
    X: pd.DataFrame, y: np.ndarray, *, n_classifiers: int = 100, seed: int = 0, n_jobs: int = 2
) -> Votes:
    """Split 63 : 27 : 10 as the paper does, fit a pool on the first part, and return its votes on the second."""
    rows = np.arange(len(y))
    rest, _ = train_test_split(rows, test_size=0.10, stratify=y, random_state=seed)
    train, validation = train_test_split(rest, test_size=0.3, stratify=y[rest], random_state=seed)
    pool = make_pool(X.iloc[train], y[train], n_classifiers=n_classifiers, random_state=seed, n_jobs=n_jobs)
    return merge_rows(positive_votes(pool, X.iloc[validation], 1), y[validation])
