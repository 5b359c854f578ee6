"""Customers of a feature model, beside all of its products."""

import itertools
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.products.attributes import Attribute
from shortlist.products.configuration.customers import serve_products
from shortlist.products.configuration.question import FeatureObjective, parse_objectives
from shortlist.results.customers import Customer
from shortlist.results.objective import Limit, read_limit
from shortlist.runs import Cancellation
from tests.products.configuration.test_relaxations import random_asked
from tests.products.small_lines import COST, PHONE, left


def meets(limit: Limit, value: Decimal) -> bool:
    return {"<=": value <= limit.value, "<": value < limit.value, ">=": value >= limit.value, ">": value > limit.value,
            "==": value == limit.value}[limit.operator]  # fmt: skip


def value_of(name: str, product: Sequence[bool], attributes: dict[str, Attribute]) -> Decimal:
    chosen = np.array(product)
    if name == "selected":
        return Decimal(int(chosen.sum()))
    if name == "deselected":
        return Decimal(int((~chosen).sum()))
    return Decimal(int(attributes[name].values[chosen].sum())) / attributes[name].scale


def broken(customer: Customer, product: Sequence[bool], attributes: dict[str, Attribute]) -> list[bool]:
    return [product[abs(one) - 1] != (one > 0) for one in customer.features] + [
        not meets(limit, value_of(limit.name, product, attributes)) for limit in customer.limits
    ]


def ranges_of(goals: Sequence[FeatureObjective], products: Sequence[Sequence[bool]]) -> list[tuple[int, int]]:
    points = np.column_stack([goal.points(np.array(products)) for goal in goals]).tolist()
    n = len(goals)
    best = [min(points, key=lambda one: [one[i], *(one[j] for j in range(n) if j != i)]) for i in range(n)]
    ranges = []
    for i in range(n):
        low, high = best[i][i], max(one[i] for one in best)
        high = max(one[i] for one in points) if low == high else high
        ranges.append((low, high - low))
    return ranges


def loss(
    customer: Customer, goals: Sequence[FeatureObjective], ranges: Sequence[tuple[int, int]],
    product: Sequence[bool], attributes: dict[str, Attribute],
) -> float:  # fmt: skip
    names = [goal.objective.name for goal in goals]
    weights = customer.weights or dict.fromkeys(names, Decimal(1))
    total = 0.0
    for goal, (low, width) in zip(goals, ranges, strict=True):
        off = (int(goal.points(np.array([product]))[0]) - low) / (width or 1)
        total += float(weights.get(goal.objective.name, 0)) / float(sum(weights.values())) * off
    for limit in customer.limits:
        value = value_of(limit.name, product, attributes)
        if not meets(limit, value):
            scale, width = 1, len(product)  # of selected and deselected
            if limit.name in names:
                scale = goals[names.index(limit.name)].objective.scale or 1
                width = ranges[names.index(limit.name)][1]
            end = limit.value * scale
            last = (
                int(end) - (limit.operator == "<" and end == int(end))
                if limit.operator[0] == "<"
                else int(end)
            )
            last += (limit.operator == ">" and end == int(end)) or (
                limit.operator[0] == ">" and end > int(end)
            )
            total += abs(float(value * scale) - last) / width if width else 0.0
    return total


def test_each_gets_the_best_product_and_gives_up_the_fewest_wishes() -> None:
    rng = np.random.default_rng(5)
    n_short = n_met = 0
    for _ in range(40):
        asked = random_asked(rng)
        products = left(asked.model, [], [])
        if not products:
            continue
        attributes = dict(asked.attributes)
        goals = parse_objectives("min cost, max worth", asked.model, attributes)
        ranges = ranges_of(goals, products)
        weights = {"cost": Decimal(2), "worth": Decimal("0.5")} if rng.random() < 0.5 else {}
        limits = tuple(read_limit(text) for text in asked.limits)
        customer = Customer("Ann", asked.literals, limits, weights)
        service = serve_products(asked.model, "min cost, max worth", [customer], attributes=attributes)
        (one,) = service.served
        product = service.decisions[one.product].astype(bool).tolist()
        assert tuple(product) in products
        fewest = min(sum(broken(customer, each, attributes)) for each in products)
        assert one.proved
        assert one.fewest == fewest == len(one.given_up) == sum(broken(customer, product, attributes))
        assert fewest == smallest_set(customer, products, attributes)
        within = [each for each in products if sum(broken(customer, each, attributes)) == fewest]
        least = min(loss(customer, goals, ranges, each, attributes) for each in within)
        assert loss(customer, goals, ranges, product, attributes) == pytest.approx(least, abs=2e-6)
        assert one.loss == pytest.approx(least, abs=2e-6)
        values = [float(value_of(name, product, attributes)) for name in ("cost", "worth")]
        assert service.values[one.product].tolist() == pytest.approx(values)
        n_short, n_met = n_short + bool(fewest), n_met + (not fewest)
    assert min(n_short, n_met) > 8


def smallest_set(
    customer: Customer, products: Sequence[Sequence[bool]], attributes: dict[str, Attribute]
) -> int:
    """Return the size of the smallest set of wishes without which a product meets the rest."""
    table = [broken(customer, each, attributes) for each in products]
    every = range(len(customer.wishes))
    return next(
        size
        for size in range(len(every) + 1)
        for out in itertools.combinations(every, size)
        if any(not any(row[at] for at in every if at not in out) for row in table)
    )


def test_limits_of_all_hold_for_each_and_equal_customers_get_the_same() -> None:
    ann, bob = Customer("Ann", (5, 6)), Customer("Bob", (5, 6))
    service = serve_products(PHONE, "min cost", [ann, bob], attributes=COST, limits=["cost<=16"])
    assert [one.product for one in service.served] == [0, 0]
    assert service.values.tolist() == [[15.0]]
    assert [len(one.given_up) for one in service.served] == [1, 1]


def test_what_no_product_meets_for_all_is_refused() -> None:
    with pytest.raises(BadInputError, match="no product meets what is asked of all"):
        serve_products(PHONE, "min cost", [Customer("Ann")], attributes=COST, limits=["cost<=1"])
    with pytest.raises(BadInputError, match="at least one"):
        serve_products(PHONE, "min cost", [], attributes=COST)


def test_customers_beyond_the_time_get_nothing_and_are_counted() -> None:
    cancellation = Cancellation()
    seen: list[float] = []

    def stop(progress: object) -> None:
        seen.append(getattr(progress, "done", 0.0))
        cancellation.cancel()

    customers = [Customer("Ann", (5,)), Customer("Bob", (6,))]
    service = serve_products(
        PHONE, "min cost", customers, attributes=COST, report=stop, cancellation=cancellation
    )
    assert [one.product >= 0 for one in service.served] == [True, False]
    assert len(seen) == 2


@pytest.mark.parametrize("size", [10**3, 10**9, 10**15, 9 * 10**16])
def test_limits_that_no_product_comes_near_are_missed_by_the_least_and_it_is_proved(size: int) -> None:
    products = left(PHONE, [], [])
    goals = parse_objectives("min cost", PHONE, COST)
    ranges = ranges_of(goals, products)
    texts = [f"cost>={size}", f"cost<=-{size}", f"cost=={size}", f"selected>={size}", f"cost<={size}"]
    customers = [Customer(text, (5, -6), (read_limit(text),)) for text in texts]
    service = serve_products(PHONE, "min cost", customers, attributes=COST)
    for one in service.served:
        assert one.proved
        product = service.decisions[one.product].astype(bool).tolist()
        fewest = min(sum(broken(one.customer, each, COST)) for each in products)
        assert len(one.given_up) == one.fewest == fewest == sum(broken(one.customer, product, COST))
        within = [each for each in products if sum(broken(one.customer, each, COST)) == fewest]
        least = min(loss(one.customer, goals, ranges, each, COST) for each in within)
        assert one.loss == pytest.approx(least, rel=1e-12, abs=2e-6)
    assert [one.fewest for one in service.served] == [1, 1, 1, 1, 0]


@pytest.mark.parametrize("text", ["cost>=9e16", "cost>=1e18", "cost<=-9e18", "selected==9e16"])
def test_a_limit_of_all_that_no_product_comes_near_leaves_none(text: str) -> None:
    with pytest.raises(BadInputError, match="no product meets what is asked of all"):
        serve_products(PHONE, "min cost", [Customer("Ann")], attributes=COST, limits=[text])
    far = ["cost<=9e18", "selected>=-9e18"]
    service = serve_products(PHONE, "min cost", [Customer("Ann")], attributes=COST, limits=far)
    assert service.served[0].proved
