"""What no panel exceeds that answers as one of its judges does: an oracle asks the cheapest that is right."""

import numpy as np

from shortlist.panels.policy import HAND_OVER
from shortlist.panels.recipes import Cases


def bound_at(cases: Cases, budget: float) -> float:
    """Return an upper bound on the share of right cases of a panel that answers what a judge it asks says.

    Such a panel asks somebody about every case, and is right only where it paid for a judge that is right,
    or for a person. An oracle that asks the cheapest judge about every case, and in its place the cheapest
    that is right wherever that costs least more, is right at least as often for the same price.

    Parameters
    ----------
    cases : Cases
    budget : The mean price of a case, in the steps of `cases`.

    Returns
    -------
    share : 0 where no judge can be asked about every case for that price.

    Notes
    -----
    A decision that is learned may say what none of its judges says; the bound does not hold for it then.
    """
    least = cases.prices.min(axis=1)
    is_right = cases.answers.words == cases.truth[:, None]
    more = np.where(is_right, cases.prices - least[:, None], np.inf).min(axis=1)
    if cases.final.kind == HAND_OVER:
        more = np.minimum(more, cases.final_price)
    left = budget * len(cases.truth) * (1 + 1e-12) - least.sum()
    return float((np.cumsum(np.sort(more)) <= left).sum() / len(more)) if left >= 0 else 0.0
