"""Customers of a front, beside every set of wishes that could be given up and every choice of few points."""

import itertools
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.methods.customers import serve
from shortlist.results.customers import Customer, Wish
from shortlist.results.front import Front
from shortlist.results.objective import Limit, Objective, Sense, read_limit
from shortlist.results.proof import Proof, ProofKind

FEATURES = ["GPS", "MP3", "Camera", "Radio"]


def random_front(rng: np.random.Generator, *, scale: int = 10) -> Front:
    n = int(rng.integers(1, 13))
    goals = [Objective("cost", scale=scale), Objective("hours", Sense.MAX), Objective("grams")]
    points = rng.integers(0, 8, (n, 3))
    decisions = rng.integers(0, 2, (n, len(FEATURES)))
    return Front.from_points(goals, points, decisions, FEATURES, Proof(ProofKind.COMPLETE))


def random_customer(rng: np.random.Generator, name: str) -> Customer:
    chosen = 1 + rng.choice(len(FEATURES), int(rng.integers(0, 4)), replace=False)
    features = tuple(int(one) for one in chosen * rng.choice([-1, 1], len(chosen)))
    texts = [f"cost<={rng.integers(0, 9)}e-1", f"hours>={rng.integers(0, 9)}", f"grams<{rng.integers(0, 9)}",
             f"hours=={rng.integers(0, 9)}", f"cost>{rng.integers(0, 30)}e-2"]  # fmt: skip
    limits = tuple(read_limit(texts[at]) for at in rng.choice(5, int(rng.integers(0, 4)), replace=False))
    weights = (
        {"cost": Decimal("1.5"), "grams": Decimal(int(rng.integers(0, 3)))} if rng.random() < 0.5 else {}
    )
    return Customer(name, features, limits, weights)


def meets(front: Front, point: int, wish: Wish) -> bool:
    """Say by decimals, as people would, whether a point meets a wish."""
    if isinstance(wish, int):
        return bool(front.decisions[point, abs(wish) - 1]) == (wish > 0)
    value = exact_value(front, point, wish.name)
    limit = Fraction(wish.value)
    return {
        "<=": value <= limit,
        "<": value < limit,
        ">=": value >= limit,
        ">": value > limit,
        "==": value == limit,
    }[wish.operator]


def exact_value(front: Front, point: int, name: str) -> Fraction:
    column = front.names.index(name)
    scale = front.objectives[column].scale or 1
    return Fraction(round(front.values[point, column] * scale), scale)


def loss(front: Front, point: int, customer: Customer) -> Fraction:
    weights = {
        name: Fraction(one)
        for name, one in (customer.weights or dict.fromkeys(front.names, Decimal(1))).items()
    }
    total = Fraction(0)
    for name, goal in zip(front.names, front.objectives, strict=True):
        every = [exact_value(front, one, name) for one in range(len(front))]
        width = max(every) - min(every)
        if not width:
            continue
        best = min(every) if goal.sense is Sense.MIN else max(every)
        total += weights.get(name, Fraction(0)) * abs(every[point] - best) / width / sum(weights.values())
        for limit in customer.limits:
            if limit.name == name and not meets(front, point, limit):
                total += missed(limit, every[point], goal.scale or 1) / width
    return total


def missed(limit: Limit, value: Fraction, scale: int) -> Fraction:
    """Return how far a value is from the last one that may be beside a limit."""
    steps = Fraction(limit.value) * scale
    end = steps.__floor__() if limit.operator in {"<=", "<", "=="} else steps.__ceil__()
    return abs(value - Fraction(end, scale))


def fewest_given_up(front: Front, customer: Customer) -> int:
    """Return the size of the smallest set of wishes without which a point meets the rest."""
    for size in range(len(customer.wishes) + 1):
        for out in itertools.combinations(range(len(customer.wishes)), size):
            kept = [wish for place, wish in enumerate(customer.wishes) if place not in out]
            if any(all(meets(front, point, wish) for wish in kept) for point in range(len(front))):
                return size
    raise AssertionError("without wishes every point will do")


def test_each_gets_the_best_point_and_gives_up_the_fewest_wishes() -> None:
    rng = np.random.default_rng(7)
    n_short = 0
    for _ in range(60):
        front = random_front(rng, scale=int(rng.choice([1, 10])))
        customers = [random_customer(rng, f"c{place}") for place in range(4)]
        found = serve(front, customers)
        for one in found.served:
            point = found.numbers[one.product]
            assert found.values[one.product].tolist() == front.values[point].tolist()
            broken = [[not meets(front, p, wish) for wish in one.customer.wishes] for p in range(len(front))]
            assert (
                len(one.given_up) == one.fewest == sum(broken[point]) == fewest_given_up(front, one.customer)
            )
            losses = {
                p: loss(front, p, one.customer) for p in range(len(front)) if sum(broken[p]) == one.fewest
            }
            assert losses[point] == min(losses.values())
            assert one.loss == pytest.approx(float(losses[point]))
            assert one.regret == 0
            n_short += bool(one.given_up)
    assert n_short > 40


def test_the_few_have_the_least_sum_of_all_choices() -> None:
    rng = np.random.default_rng(3)
    for _ in range(25):
        front = random_front(rng)
        customers = [random_customer(rng, f"c{place}") for place in range(6)]
        n_points = int(rng.integers(1, 4))
        found = serve(front, customers, n_points)
        costs = [costs_of(front, customer) for customer in customers]
        every = itertools.combinations(range(len(front)), min(n_points, len(front)))
        sums = [sum(min(own[p] for p in chosen) for own in costs) for chosen in every]
        assert found.total == found.bound == min(sums) / 1000
        assert len(found.numbers) <= n_points
        taken = [own[found.numbers[one.product]] for own, one in zip(costs, found.served, strict=True)]
        assert sum(taken) == min(sums)


def costs_of(front: Front, customer: Customer) -> list[int]:
    broken = [sum(not meets(front, p, wish) for wish in customer.wishes) for p in range(len(front))]
    losses = [loss(front, p, customer) for p in range(len(front))]
    best = min(own for own, number in zip(losses, broken, strict=True) if number == min(broken))
    return [
        max(0, 1001 * (number - min(broken)) + int(np.rint(1000 * float(own - best))))
        for own, number in zip(losses, broken, strict=True)
    ]


def phones() -> Front:
    goals = [Objective("cost"), Objective("hours", Sense.MAX)]
    points, has = (
        np.array([[60, -10], [90, -19], [140, -22]]),
        np.array([[0, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]]),
    )
    return Front.from_points(goals, points, has, FEATURES, Proof(ProofKind.COMPLETE))


def test_a_limit_that_is_given_up_is_missed_by_as_little_as_can_be() -> None:
    (ann,) = serve(phones(), [Customer("Ann", (3,), (read_limit("cost<=70"),))]).served
    assert ann.given_up in {("Camera",), ("cost<=70 (has 90)",)}
    bob = serve(phones(), [Customer("Bob", (3, 1), (read_limit("cost<=70"),))])
    assert bob.served[0].given_up == ("cost<=70 (has 90)",)


def test_weights_of_all_and_of_one_decide_and_sizes_of_numbers_do_not() -> None:
    ann, bob = Customer("Ann"), Customer("Bob", weights={"hours": Decimal(1)})
    by_cost = serve(phones(), [ann, bob], weights={"cost": 1.0})
    assert [by_cost.numbers[one.product] for one in by_cost.served] == [0, 2]
    huge = Front.from_points(
        [Objective("a"), Objective("b"), Objective("c"), Objective("d")],
        np.array([[0, 2**50 + 1, 3, 2**49 - 1], [2**50 - 1, 0, 2**48 + 7, 5], [7, 7, 2**50 - 3, 2**50 - 9]]),
        np.eye(3, dtype=int), ["A", "B", "C"], Proof(ProofKind.COMPLETE),
    )  # fmt: skip
    every = [loss(huge, point, ann) for point in range(3)]
    best = min(range(3), key=every.__getitem__)
    assert serve(huge, [ann]).numbers == (best,)


@pytest.mark.parametrize(
    ("customers", "words"),
    [
        ([], "at least one"),
        ([Customer("Ann", limits=(read_limit("price<=3"),))], "customers have the limit price<=3"),
        ([Customer("Ann", weights={"price": Decimal(1)})], "must name cost and hours"),
        ([Customer("Ann", weights={"cost": Decimal(0)})], "not all 0"),
    ],
)
def test_what_fits_no_front_is_refused(customers: Sequence[Customer], words: str) -> None:
    with pytest.raises(BadInputError, match=words):
        serve(phones(), customers)
