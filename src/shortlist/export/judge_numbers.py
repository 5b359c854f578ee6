"""A committee of judges as plain numbers: whose answers are where, what they cost, and whom to ask first."""

from typing import Any

from shortlist.ensembles.exits.early_exit import asking_order, prices_of_members


def judge_numbers(committee: Any) -> dict[str, Any]:
    """Return the judges of a fitted committee, and the order in which they are asked, by place."""
    pool, prices = committee.pool_, prices_of_members(committee)
    judges = [
        {
            "name": name,
            "columns": list(judge.columns),
            "may_abstain": judge.may_abstain,
            "price": None if prices is None else float(prices[place]),
        }
        for place, (name, judge) in enumerate(zip(pool.names, pool.classifiers, strict=True))
    ]
    return {"judges": judges, "order": asking_order(committee).members.tolist()}
