"""A few points of large fronts, for all customers and for those of a table, in seconds of processor time.

python -m benchmarks assortments
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np

from shortlist.methods.customers import serve
from shortlist.methods.few_points import few_points
from shortlist.results.customers import Customer
from shortlist.results.front import Front
from shortlist.results.objective import Limit, Objective
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import processor_seconds

POINTS = 11_379
"""Points of the front of a product manager whose job was tried."""

FEW = 5
N_FEATURES = 40


def round_front(n_points: int, n_objectives: int, seed: int) -> Front:
    """Return points on a sphere, each the best for somebody, with features that come with high values."""
    rng = np.random.default_rng(seed)
    directions = np.abs(rng.normal(size=(n_points, n_objectives)))
    points = np.rint(10**6 * (1 - directions / np.linalg.norm(directions, axis=1, keepdims=True)))
    goals = [Objective(f"price {place}") for place in range(n_objectives)]
    lean = rng.normal(size=(n_objectives, N_FEATURES))
    chosen = points / 10**6 @ lean + 0.3 * rng.normal(size=(n_points, N_FEATURES)) > 0
    names = [f"feature {place}" for place in range(N_FEATURES)]
    return Front.from_points(
        goals, points.astype(np.int64), chosen.astype(np.int64), names, Proof(ProofKind.COMPLETE)
    )


def made_customers(n_customers: int, front: Front, seed: int) -> list[Customer]:
    """Return customers with one to four features, often a limit, and often weights of their own."""
    rng = np.random.default_rng(seed)
    customers = []
    for number in range(n_customers):
        features = 1 + rng.choice(N_FEATURES, int(rng.integers(1, 5)), replace=False)
        signs = np.where(rng.random(len(features)) < 0.75, 1, -1)
        most = Decimal(int(rng.integers(200_000, 900_000)))
        limits = (Limit(front.names[0], "<=", most),) if rng.random() < 0.6 else ()
        own = {name: Decimal(int(rng.integers(1, 6))) for name in front.names} if rng.random() < 0.5 else {}
        customers.append(Customer(f"customer {number}", tuple((features * signs).tolist()), limits, own))
    return customers


def assortments(*, n_points: int = POINTS, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the regret, its bound and the seconds of each question."""
    for n_objectives in (2, 3):
        front = round_front(n_points, n_objectives, seed)
        size = {"points": len(front), "objectives": n_objectives, "few": FEW, "seed": seed}
        start = processor_seconds()
        found = few_points(front, FEW)
        seconds = processor_seconds() - start
        told = {"value": found.regret, "bound": found.bound, "processor_s": seconds}
        yield {"case": "regret of any customer", **size, "customers": "", **told, "met": ""}
        for n_customers in (40, 1000):
            customers = made_customers(n_customers, front, seed)
            for few, case in ((None, "the best for each customer"), (FEW, "p-median of customers")):
                start = processor_seconds()
                service = serve(front, customers, few)
                told = {"value": service.total, "bound": service.bound}
                told["processor_s"] = processor_seconds() - start
                yield {
                    "case": case,
                    **size,
                    "customers": n_customers,
                    **told,
                    "met": sum(s.is_met for s in service.served),
                }
