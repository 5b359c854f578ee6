"""A committee of judges as plain numbers: whose answers are where, what they cost, and whom to ask first."""

from typing import Any

import numpy as np

from shortlist.ensembles.committees.committee import Committee


def judge_numbers(committee: Committee) -> dict[str, Any]:
    """Return the judges of a committee, and the order in which they are asked, by place.

    Whoever is taken several times comes as often, one after the other and under one name.
    """
    weights, prices = committee.weights, committee.prices
    each = np.split(np.arange(len(committee.members)), np.cumsum(weights)[:-1])
    judges = [
        {
            "name": judge.name,
            "columns": list(judge.columns),
            "may_abstain": judge.may_abstain,
            "price": None if prices is None else float(prices[member]) * (place == places[0]),
        }
        for member, places in enumerate(each)
        for place, judge in ((place, committee.members.classifiers[place]) for place in places)
    ]
    order = [int(place) for member in committee.order.members for place in each[member]]
    return {"judges": judges, "order": order}
