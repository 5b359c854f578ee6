"""Rechecking what turns a committee's scores into probabilities: fitted again on the rows that pruned."""

from typing import Any

import numpy as np

from shortlist.arrays import Labels
from shortlist.ensembles.committees.probability_sources import MEAN, SHARES
from shortlist.ensembles.estimators.base import PoolPruner

MOST_APART = 1e-3
"""By how much power and factors may differ: another machine may round members' probabilities otherwise."""


def other_calibration(model: Any, rows: Any, classes: Labels) -> list[str]:
    """Fit the calibration of a pruner again; say where the model has another one.

    Parameters
    ----------
    model : PoolPruner or another ensemble
        Fitted; others are not calibrated.
    rows : DataFrame or array of shape (n_recorded, n_features)
        The rows that pruned, in the order of the record.
    classes : ndarray of shape (n_recorded,)
        Their classes.
    """
    if not isinstance(model, PoolPruner) or model.probabilities_ in {"", MEAN, SHARES}:
        return []  # a model from before there was a calibration does not name its source
    again = model.calibrate(rows, np.searchsorted(model.classes_, classes), source=model.probabilities_)
    kept, found = model.calibration_, again.calibration
    if (
        kept is not None
        and found is not None
        and np.allclose(
            [kept.power, *kept.factors], [found.power, *found.factors], rtol=MOST_APART, atol=MOST_APART
        )
    ):
        return []
    return ["the rows that pruned calibrate the probabilities otherwise than the model does"]
