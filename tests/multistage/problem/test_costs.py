from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.multistage.problem.costs import FeatureCosts, feature_costs
from shortlist.multistage.search.emsco import EmscoOptions, emsco
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.runs.budget import Budget
from tests.examples import examples
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of

NAMES = ["a", "b", "c"]


@given(
    st.lists(st.integers(0, 30), min_size=3, max_size=3),
    st.lists(st.sampled_from(["", "x", "y"]), min_size=3, max_size=3),
)
def test_the_price_table_equals_one_sum_per_subset(prices: list[int], groups: list[str]) -> None:
    of_group = {name: group for name, group in zip(NAMES, groups, strict=True) if group}
    costs = feature_costs([p / 10 for p in prices], NAMES, groups=of_group, first_prices={"x": 2.1, "y": 0.5})
    table = costs.table()
    for mask in range(8):
        inside = [i for i in range(3) if mask >> i & 1]
        opened = {groups[i] for i in inside} - {""}
        wanted = sum(prices[i] / 10 for i in inside) + sum({"x": 2.1, "y": 0.5}[g] for g in opened)
        assert table[mask] / costs.scale == pytest.approx(wanted)
        subset = np.array([i in inside for i in range(3)])
        assert costs.price(subset) == table[mask]
    assert costs.total == table[7]


def test_a_mapping_is_read_by_name() -> None:
    costs = feature_costs({"c": 3, "a": 1, "b": 2}, NAMES)

    assert costs.prices.tolist() == [1, 2, 3]
    assert feature_costs(costs, ["b", "c", "a"]).prices.tolist() == [2, 3, 1]
    assert feature_costs(None, NAMES).prices.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        ({"a": 1}, "feature_costs must price every feature, got none for 'b' and 'c'. Add each price, or 0."),
        ({"a": 1, "b": 1e-10, "c": 3}, "the cost of 'b' must keep its first 9 digits .*, got 1e-10"),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, "feature_costs must name columns of the table, got 'd'"),
        ({"a": 1, "aa": 2, "c": 3}, r"table, got 'aa'\. The columns are a, b and c\."),
        ({"a": 1, "b": -2, "c": 3}, "the cost of 'b' must be a number of at least 0, got -2"),
        ({"a": 1, "b": float("nan"), "c": 3}, "the cost of 'b' must be a number"),
        ({"a": 1, "b": "dear", "c": 3}, "the cost of 'b' must be a number"),
        ([1, 2], "feature_costs must have one cost per feature, 3, got 2"),
    ],
)
def test_bad_prices_are_refused(costs: object, sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        feature_costs(costs, NAMES)  # type: ignore[arg-type]  # bad on purpose


def test_prices_that_were_computed_are_kept_as_what_was_meant() -> None:
    costs = feature_costs([0.1 + 0.2, 1 / 3, 1e-9], NAMES)
    assert [int(price) * 10**9 // costs.scale for price in costs.prices] == [3 * 10**8, 333333333, 1]


def test_bad_groups_are_refused() -> None:
    with pytest.raises(BadInputError, match="first_prices must hold every group, got none for 'x'"):
        feature_costs(None, NAMES, groups={"a": "x"})
    with pytest.raises(BadInputError, match="groups must name columns"):
        feature_costs(None, NAMES, groups={"z": "x"}, first_prices={"x": 1})


@pytest.mark.parametrize(
    ("hours", "sentence"),
    [
        ({"a": 1}, "the attribute 'hours' must have a number for every feature, got none for 'b'"),
        ({"a": 1, "b": 1, "c": 1}, "the attribute 'hours' must name columns of the table, got 'c'"),
        ({"a": 1, "b": -1}, "hours of 'b' must be a number of at least 0, got -1"),
    ],
)
def test_bad_attributes_are_refused(hours: dict[str, float], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        feature_costs([1, 2], "ab", attributes={"hours": hours})


def test_a_group_that_is_called_like_a_feature_takes_nothing_itself() -> None:
    costs = feature_costs(
        [1, 2], "ab", groups={"b": "a"}, first_prices={"a": 4}, attributes={"hours": {"a": 9, "b": 1}}
    )
    assert costs.taken(np.array([[False, True], [True, True]]), costs.attributes).tolist() == [[1], [9]]


THINGS = {"s": 3, "t": 5}
GROUP = {"g": 2}
HOURS = {"s": 1, "t": 3, "g": 2}
"""Hours of things and of the group; those of a feature are its price."""


@dataclass(frozen=True)
class Prices:
    """Prices, a group, and who needs whom, in plain words."""

    own: dict[str, int]
    in_group: tuple[str, ...]
    needs: dict[str, list[str]]

    def costs(self) -> FeatureCosts:
        return feature_costs(
            self.own, list(self.own), groups=dict.fromkeys(self.in_group, "g"), first_prices=THINGS | GROUP,
            needs=self.needs, attributes={"hours": self.own | HOURS},
        )  # fmt: skip

    def of(self, features: frozenset[str]) -> int:
        """Pay for every thing once."""
        return sum((self.own | THINGS | GROUP)[name] for name in self.bought(features))

    def bought(self, features: frozenset[str]) -> set[str]:
        """Buy what is needed until nothing is missing."""
        bought: set[str] = set(features)
        while True:
            more = {one for name in bought for one in self.needs.get(name, ())}
            more |= {"g" for name in bought if name in self.in_group}
            if more <= bought:
                return bought
            bought |= more


@st.composite
def prices(draw: st.DrawFn, n: int = 4) -> Prices:
    names = [str(place) for place in range(n)]
    anything = st.lists(st.sampled_from([*names, *THINGS]), max_size=2)
    needs = {name: draw(anything) for name in draw(st.sets(st.sampled_from([*names, *THINGS])))}
    own = {name: draw(st.integers(0, 4)) for name in names}
    return Prices(own, tuple(draw(st.sets(st.sampled_from(names)))), needs)


@given(given_prices=prices())
def test_the_price_of_every_set_is_that_of_all_it_needs_each_once(given_prices: Prices) -> None:
    costs, names = given_prices.costs(), list(given_prices.own)
    table = costs.table()
    for mask in range(1 << len(names)):
        inside = np.array([bool(mask >> place & 1) for place in range(len(names))])
        wanted = given_prices.of(
            frozenset(name for name, chosen in zip(names, inside, strict=True) if chosen)
        )
        assert table[mask] == costs.price(inside) == wanted * costs.scale


@given(given_prices=prices(), stages=st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_a_stage_takes_the_longest_of_all_that_was_not_bought_before(
    given_prices: Prices, stages: list[int]
) -> None:
    costs, names = given_prices.costs(), list(given_prices.own)
    chain = np.array([[stage <= last for stage in stages] for last in range(3)])
    hours: dict[str, int] = given_prices.own | HOURS
    before: set[str] = set()
    expected = []
    for known in chain:
        after = given_prices.bought(frozenset(name for name, one in zip(names, known, strict=True) if one))
        # what others need is a thing like any other, wherever it is read
        expected.append(max((hours[name] for name in after - before), default=0))
        before = after
    (one,) = costs.attributes
    assert (costs.taken(chain, costs.attributes)[:, 0] / one.scale).tolist() == expected


@dataclass(frozen=True)
class NeedyFacts(oracles.Facts):
    """Facts whose features need something."""

    needy: Any = None

    def price(self, features: frozenset[int]) -> int:
        return int(self.needy.of(frozenset(map(str, features))))


@examples(12)
@given(data=st.data(), k=st.integers(1, 3))
def test_the_front_of_stages_equals_brute_force_and_evolution_pays_as_much(
    data: st.DataObject, k: int
) -> None:
    told = data.draw(facts(max_features=4, max_rows=5))
    needy = data.draw(prices(told.n_features))
    known = NeedyFacts(**{**vars(told), "groups": (), "first_prices": ()}, needy=needy)
    k = min(k, known.n_features)
    problem = replace(problem_of(known, k), costs=needy.costs())
    found = enumerate_front(problem)
    n = problem.n_rows
    front = {
        (Fraction(int(m[0]), n), Fraction(int(m[1]), max(1, int(m[0]))), Fraction(int(m[2]), n)): int(ties)
        for m, ties in zip(found.measures, found.n_tied, strict=True)
    }

    counts = Counter(known.outcome(q) for q in oracles.all_assignments(known.n_features, k))
    best = {a: c for a, c in counts.items() if not any(oracles.dominates(b, a) for b in counts)}
    assert front == best
    evolved = emsco(problem, EmscoOptions(population=8, generations=2), budget=Budget(seed=1)).front()
    for values, decisions in zip(evolved.values, evolved.decisions.tolist(), strict=True):
        assert values.tolist() == pytest.approx([float(value) for value in known.outcome(decisions)])


def test_a_feature_that_others_need_is_paid_with_the_first_of_them() -> None:
    costs = feature_costs([7, 1, 2], "abc", needs={"b": ["a"], "c": ["a"]})
    paid = costs.price(np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1], [1, 1, 1]], dtype=bool))
    assert (paid / costs.scale).tolist() == [7, 8, 10, 10]


def test_settings_of_a_study_tell_needs_from_none() -> None:
    plain = feature_costs([1, 2], "ab", groups={"a": "g"}, first_prices={"g": 3})
    assert plain.as_settings()["needs"] is None
    assert feature_costs([1, 2], "ab", needs={"a": ["b"]}).as_settings()["needs"] is not None


@pytest.mark.parametrize(
    ("needs", "message"),
    [
        ({"a": ["bb"]}, "needs must name columns of the table, or what has a price of its own, got 'bb'"),
        ({"x": ["a"]}, "got 'x'"),
        ({"a": ["b"]}, "got 'b', which is both"),
    ],
)
def test_what_nobody_knows_is_refused(needs: dict[str, list[str]], message: str) -> None:
    first = {"b": 2} if "both" in message else {}
    with pytest.raises(BadInputError, match=message):
        feature_costs([1, 2], "ab", first_prices=first, needs=needs)


def test_a_string_is_one_name() -> None:
    first = {"blood": 5.0}
    one, several = (
        feature_costs([1, 2], "ab", first_prices=first, needs={"a": told}) for told in ("blood", ["blood"])
    )
    assert one.table().tolist() == several.table().tolist() == [0, 6, 2, 8]
