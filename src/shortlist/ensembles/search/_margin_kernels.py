"""Kernels of the search by margins of a plurality vote: what every flip of one classifier would come to.

A flip of a classifier changes one count on a row, that of the class which it votes for. So a row looks at
each class once, with a vote more and with a vote less, and every classifier reads off what its class says.
"""

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Bytes, Longs, Shorts

TOTAL, WORTH = range(2)
"""Rows of `changes`: gains of right rows, and worth of margins."""


@kernel("int64(int32[:, ::1], int64, int64)")
def lead_of(tally: Shorts, i: int, label: np.int64) -> np.int64:
    """Return the lead of a row over its strongest rival; a rival that comes first counts one vote more."""
    lead = np.int64(2**31)
    for c in range(tally.shape[1]):
        if c != label:
            slack = np.int64(tally[i, label]) - tally[i, c]
            if c < label:
                slack -= 1
            lead = min(lead, slack)
    return lead


@kernel(
    "void(uint8[:, ::1], uint8[::1], int64[::1], uint8[::1], int32[:, ::1], int64[:, ::1], int64[:, :, ::1], "
    "int64[:, ::1])"
)
def rate_margins(
    codes: Bytes,
    labels: Bytes,
    gains: Longs,
    member: Bytes,
    tally: Shorts,
    tables: Longs,
    effects: Longs,
    changes: Longs,
) -> None:
    """Set total and worth after the flip of each classifier.

    `tables` has the worth by distance with one member more, and with one less; `effects` is room for what a
    vote more, or less, for each class does on a row.
    """
    n_classes = tally.shape[1]
    middle = tables.shape[1] // 2
    changes[:] = 0
    for i in range(len(labels)):
        label = np.int64(labels[i])
        for leaves in range(2):
            for c in range(n_classes):
                tally[i, c] += 1 - 2 * leaves
                lead = lead_of(tally, i, label)
                tally[i, c] -= 1 - 2 * leaves
                effects[TOTAL, leaves, c] = gains[i] if lead >= 0 else 0
                # a vote less for a class without any is asked by no flip, but is rated here
                place = min(max(middle + lead + 1, 0), tables.shape[1] - 1)
                effects[WORTH, leaves, c] = gains[i] * tables[leaves, place]
        for k in range(len(member)):
            changes[TOTAL, k] += effects[TOTAL, member[k], codes[i, k]]
            changes[WORTH, k] += effects[WORTH, member[k], codes[i, k]]
