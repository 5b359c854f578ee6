"""Rechecking what turns a committee's scores into probabilities: fitted again on the rows that pruned."""

from typing import Any

import numpy as np

from shortlist.arrays import Labels
from shortlist.ensembles.committees.chosen import Chosen
from shortlist.ensembles.committees.committee import MEAN, SHARES
from shortlist.ensembles.committees.probability_sources import fit_probabilities

MOST_APART = 1e-3
"""By how much power and factors may differ: another machine may round members' probabilities otherwise."""


def other_calibration(chosen: Chosen, rows: Any, classes: Labels) -> list[str]:
    """Fit the calibration of a committee again; say where the model has another one.

    Parameters
    ----------
    chosen : Chosen
    rows : DataFrame or array of shape (n_recorded, n_features)
        The rows that chose, in the order of the record.
    classes : ndarray of shape (n_recorded,)
        Their classes.
    """
    kept, source = chosen.committee.calibration, chosen.committee.probabilities
    if kept is None and source in {MEAN, SHARES}:
        return []
    truth = np.searchsorted(chosen.classes_, classes)
    found = fit_probabilities(chosen.committee, chosen.as_chosen, rows, truth, source=source).calibration
    if (
        kept is not None
        and found is not None
        and np.allclose(
            [kept.power, *kept.factors], [found.power, *found.factors], rtol=MOST_APART, atol=MOST_APART
        )
    ):
        return []
    return ["the rows that pruned calibrate the probabilities otherwise than the model does"]
