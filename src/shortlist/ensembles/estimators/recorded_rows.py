"""The rows that a model was made from, kept so that its value can be counted again."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.pickles import saved_from
from shortlist.tables.fingerprints import Fingerprint, table_fingerprint


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class RecordedRows:
    """Rows that pruned or evolved an ensemble, and how the whole pool voted on them.

    Attributes
    ----------
    rows : ndarray of int, shape (n_recorded,)
        Places among the rows given to ``fit``, or in the table that a command read.
    labels : ndarray of uint8, shape (n_recorded,)
        With two classes of which one is positive, 1 for the positive class; otherwise the place of the class
        among the sorted ones.
    table : Fingerprint
        Of the whole table that `rows` counts in.
    packed_votes : ndarray of uint8, shape (n_recorded, ceil(n_classifiers / 8)), or None
        Votes for the positive class as ``numpy.packbits`` packs them; None where a plurality decides.
    codes : ndarray of uint8, shape (n_recorded, n_classifiers), or None
        Where a plurality decides, the place of the class that each classifier answers; None otherwise.
    shares : ndarray of int16, shape (n_recorded, n_classifiers, n_classes), or None
        Where probabilities are averaged, how probable each classifier finds each class, in parts of 2^15 - 1.
    """

    rows: NDArray[np.intp]
    labels: NDArray[np.uint8]
    table: Fingerprint
    packed_votes: NDArray[np.uint8] | None = None
    codes: NDArray[np.uint8] | None = None
    shares: NDArray[np.int16] | None = None


def record_rows(
    X: Any,
    y: Any,
    rows: NDArray[np.intp] | None,
    labels: NDArray[Any],
    *,
    packed_votes: NDArray[np.uint8] | None = None,
    codes: NDArray[np.uint8] | None = None,
    shares: NDArray[np.int16] | None = None,
) -> RecordedRows:
    """Record some rows of a table of features and classes; None: all of them."""
    places = np.arange(len(y)) if rows is None else rows
    return RecordedRows(
        places, np.asarray(labels, dtype=np.uint8), table_fingerprint(X, y), packed_votes, codes, shares
    )
