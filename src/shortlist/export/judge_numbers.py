"""A committee of judges as plain numbers: whose answers are where, what they cost, and whom to ask first."""

from typing import Any

import numpy as np

from shortlist.ensembles.committees.asked_members import asking_order, prices_of_members


def judge_numbers(committee: Any) -> dict[str, Any]:
    """Return the judges of a fitted committee, and the order in which they are asked, by place.

    Whoever is taken several times comes as often, one after the other and under one name.
    """
    pool, prices = committee.pool_, prices_of_members(committee)
    copies = getattr(committee, "copies_", np.ones(len(pool), dtype=np.int64))
    each = np.split(np.arange(len(pool)), np.cumsum(copies[copies > 0])[:-1])
    judges = [
        {
            "name": judge.name,
            "columns": list(judge.columns),
            "may_abstain": judge.may_abstain,
            "price": None if prices is None else float(prices[place]),
        }
        for place, judge in enumerate(pool.classifiers)
    ]
    order = [int(place) for member in asking_order(committee).members for place in each[member]]
    return {"judges": judges, "order": order}
