"""Calibration of a committee's probabilities on the selection rows."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.ensembles.committees.committee import (
    CALIBRATED_MEAN,
    CALIBRATED_SHARES,
    MEAN,
    SHARES,
    Committee,
)
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool, out_of_fold
from shortlist.ensembles.votes.soft_votes import Calibration, fitted_factors, fitted_power

Fit = Callable[[Floats, NDArray[np.integer]], Calibration]

_FITS: Mapping[str, tuple[str, Fit]] = {
    CALIBRATED_MEAN: (MEAN, fitted_factors),
    CALIBRATED_SHARES: (SHARES, fitted_power),
}
"""Scores behind each calibrated source of probabilities, and the function that fits its calibration."""


def fit_probabilities(
    committee: Committee,
    as_chosen: Pool | CrossFittedPool,
    X: Any,
    truth: NDArray[np.integer],
    *,
    source: str,
) -> Calibration | None:
    """Return the calibration of a source of probabilities, fitted on the selection rows.

    None for a source without a calibration.

    Raises BadInputError if means are requested and a member gives no probabilities.

    `as_chosen`: the members before they were fitted again; they answer these rows. `X`: the selection rows,
    ``(n_recorded, n_features)``. `truth`: indices of their classes, ``(n_recorded,)``. `source`: any source
    of probabilities but ``auto``.
    """
    if source not in _FITS:
        return None
    of, fit = _FITS[source]
    scores = out_of_fold(as_chosen, X, lambda members, rows: committee.with_members(members).scores(rows, of))
    return fit(scores, truth)
