"""Customers of a front, beside every set of wishes that could be given up and every choice of few points."""

import itertools
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.methods.customers import _few, _Table, serve
from shortlist.results.customers import Customer, Service, Wish
from shortlist.results.front import Front
from shortlist.results.objective import Limit, Objective, Sense, read_limit
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Cancellation

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
        assert sum_of(found) == pytest.approx(found.total)


def sum_of(found: Service) -> float:
    """Return the sum that is told by what each customer gets: wishes more, and regrets above 0."""
    more = sum(len(one.given_up) - one.fewest for one in found.served)
    return 1.001 * more + sum(round(one.regret, 3) for one in found.served if one.regret > 0)


def costs_of(front: Front, customer: Customer) -> list[int]:
    broken = [sum(not meets(front, p, wish) for wish in customer.wishes) for p in range(len(front))]
    losses = [loss(front, p, customer) for p in range(len(front))]
    best = min(own for own, number in zip(losses, broken, strict=True) if number == min(broken))
    return [
        1001 * (number - min(broken)) + (int(np.rint(1000 * float(own - best))) if own > best else 0)
        for own, number in zip(losses, broken, strict=True)
    ]


def test_a_wish_more_costs_a_whole_range_however_much_less_is_lost() -> None:
    ann = Customer("Ann", (2,), (read_limit("cost<=10"),), {"cost": Decimal(1)})
    found = serve(phones(), [ann], 1)
    assert (found.served[0].given_up, found.served[0].fewest) == (("cost<=10 (has 140)",), 1)
    assert (found.total, sum_of(found)) == (0, 0)
    cheap = serve(phones(), [ann], 1, limits=[read_limit("cost<=90")])
    assert cheap.served[0].fewest == 2
    both = serve(phones(), [ann, *(Customer(name, (-2,)) for name in "BCD")], 1)
    assert both.served[0].regret < -1
    assert both.total == sum_of(both) == 1.001


def test_limits_far_off_are_counted_exactly() -> None:
    wide = Front.from_points(
        [Objective("a"), Objective("b"), Objective("c")],
        np.array([[0, 2**27 + 1, 5], [2**27, 3, 2**27 - 1], [2**26, 2**26, 0]]),
        np.eye(3, dtype=int), ["A", "B", "C"], Proof(ProofKind.COMPLETE),
    )  # fmt: skip
    for text in ("a<=-50000000000", "b>=1e18", "c==9999999999999999999", "a<-9999999999999999999"):
        customers = [Customer("Ann", (), (read_limit(text),)), Customer("Bob", (2,), (read_limit(text),))]
        for one in serve(wide, customers).served:
            exact = {p: loss(wide, p, one.customer) for p in range(3)}
            allowed = [p for p in range(3) if not one.customer.features or wide.decisions[p, 1]]
            point = min(allowed, key=exact.__getitem__)
            assert one.loss == pytest.approx(float(exact[point]), rel=1e-12)
            assert one.loss > 0
        assert serve(wide, customers, 1).total >= 0
    real = Front.from_values(
        [Objective("a", scale=None), Objective("b", scale=None)],
        np.array([[0.5, 2.5], [1.25, 1.5]]), np.eye(2, dtype=int), ["A", "B"], Proof(ProofKind.COMPLETE),
    )  # fmt: skip
    (one,) = serve(real, [Customer("Ann", (), (read_limit("a<=-9e18"),), {"b": Decimal(1)})]).served
    assert one.loss == pytest.approx(9e18 / 0.75)


def test_too_many_costs_are_refused_and_equal_customers_count_once() -> None:
    table = _Table(phones(), np.arange(3), None)

    def few(customers: Sequence[Customer]) -> list[int]:
        best = [table.best(customer) for customer in customers]
        return _few(table, customers, best, 1, Cancellation(), most_costs=6)[0]

    assert few([Customer(f"c{place}", (1,)) for place in range(9)]) == [1] * 9
    with pytest.raises(BadInputError, match="3 customers of 3 points need more than 6 costs"):
        few([Customer("Ann", (1,)), Customer("Bob", (2,)), Customer("Eve", (-1,))])


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
