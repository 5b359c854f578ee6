"""Advice on what no product meets: every change that is told to be enough is made, beside all of them."""

import itertools
import pickle
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.products.attributes import Attribute
from shortlist.products.configuration import relaxations as module
from shortlist.products.configuration.explanation import Least
from shortlist.products.configuration.product_front import configure
from shortlist.products.configuration.question import parse_limit
from shortlist.products.configuration.relaxations import Relaxation, find_relaxations
from shortlist.products.configuration.requirements import from_literals
from shortlist.products.formulas import Literal, Or
from shortlist.products.model import Constraint, FeatureModel, make_group, make_model
from shortlist.results.objective import read_limit
from shortlist.results.proof import Status
from tests.products.small_lines import left

PHONE = make_model(["Phone", "GPS", "MP3", "Radio"], root=0, groups=[make_group(0, [1, 2, 3], "optional")])
ATTRIBUTES = {
    "cost": Attribute("cost", np.array([50, 60, 30, 0]), 10, "EUR"),
    "worth": Attribute("worth", np.array([0, 3, 1, 1])),
}


@dataclass(frozen=True)
class Asked:
    model: FeatureModel
    attributes: dict[str, Attribute]
    limits: tuple[str, ...]
    literals: tuple[int, ...]

    def products(self, limits: Sequence[str], literals: Sequence[int]) -> list[tuple[bool, ...]]:
        bounds = [parse_limit(text, self.model, self.attributes) for text in limits]
        return left(self.model, bounds, literals)

    def without(self, items: Sequence[int]) -> bool:
        """Whether there are products once some limits and requirements, by their places, are left out."""
        n = len(self.limits)
        limits = [text for place, text in enumerate(self.limits) if place not in items]
        literals = [one for place, one in enumerate(self.literals) if place + n not in items]
        return bool(self.products(limits, literals))

    def place(self, change: Relaxation) -> int:
        return change.place if change.literal == 0 else len(self.limits) + self.literals.index(change.literal)

    def changed(self, changes: Sequence[Relaxation]) -> tuple[list[str], list[int]]:
        """Return limits and requirements after changes."""
        limits: list[str] = []
        for place, text in enumerate(self.limits):
            own = [change.limit for change in changes if change.place == place]
            limits += own or [text]
        dropped = [change.literal for change in changes]
        return limits, [one for one in self.literals if one not in dropped]


def random_asked(rng: np.random.Generator) -> Asked:
    """Return a small product line of which much is asked."""
    n = int(rng.integers(3, 7))
    groups = []
    features = list(range(1, n))
    while features:
        size = min(len(features), int(rng.integers(1, 4)))
        kind = str(rng.choice(["optional", "optional", "mandatory", "or", "alternative"]))
        groups.append(make_group(int(rng.integers(features[0])), features[:size], kind))
        features = features[size:]
    constraints = [
        Or(tuple(Literal(int(v)) for v in rng.choice([-1, 1], 2) * (1 + rng.choice(n, 2, replace=False))))
        for _ in range(int(rng.integers(0, 3)))
    ]
    model = make_model([f"F{i}" for i in range(n)], root=0, groups=groups, constraints=constraints)
    attributes = {
        "cost": Attribute("cost", rng.integers(0, 100, n), 10),
        "worth": Attribute("worth", rng.integers(-2, 4, n)),
    }
    texts = [
        f"cost<={rng.integers(0, 200) / 10}", f"cost>{rng.integers(0, 200) / 10}",
        f"cost=={rng.integers(0, 200) / 10}", f"worth>={rng.integers(-2, 8)}", f"worth<{rng.integers(-2, 8)}",
        f"selected<={rng.integers(0, n)}", f"deselected<={rng.integers(0, n)}", f"selected=={rng.integers(0, n)}",
    ]  # fmt: skip
    limits = rng.choice(len(texts), int(rng.integers(0, 4)), replace=False)
    chosen = 1 + rng.choice(n, int(rng.integers(0, 4)), replace=False)
    literals = tuple(int(v) for v in chosen * rng.choice([1, 1, -1], len(chosen)))
    return Asked(model, attributes, tuple(texts[i] for i in limits), literals)


def contradictions(seed: int, count: int) -> list[Asked]:
    """Return questions that no product answers."""
    rng = np.random.default_rng(seed)
    asked = (random_asked(rng) for _ in itertools.count())
    return list(itertools.islice((one for one in asked if not one.products(one.limits, one.literals)), count))


def test_every_advice_on_200_contradictions_works_and_no_fewer_changes_do() -> None:
    sizes = []
    for asked in contradictions(seed=11, count=200):
        requirements = from_literals(asked.model, asked.literals)
        answer = configure(
            asked.model, "min cost, max worth", limits=asked.limits, requirements=requirements,
            attributes=asked.attributes,
        )  # fmt: skip
        assert answer.status is Status.INFEASIBLE
        found = answer.relaxations
        assert found is not None
        every = range(len(asked.limits) + len(asked.literals))
        assert found.empty == (not asked.without(every))
        if found.empty:
            assert (found.enough, found.useless) == ((), ())
            continue
        fewest = next(
            size
            for size in itertools.count(1)
            if any(asked.without(items) for items in itertools.combinations(every, size))
        )
        sizes.append(fewest)
        assert found.fewest
        assert {len(changes) for changes in found.enough} == {fewest}
        if fewest == 1:
            alone = {item for item in every if asked.without([item])}
            assert {asked.place(change) for (change,) in found.enough} == alone
            assert {asked.place(change) for change in found.useless} <= set(every) - alone
        for changes in found.enough:
            limits, literals = asked.changed(changes)
            again = configure(
                asked.model, "min cost, max worth", limits=limits,
                requirements=from_literals(asked.model, literals), attributes=asked.attributes,
            )  # fmt: skip
            assert again.status is Status.OPTIMAL
            check_nearest(asked, changes)
    assert min(sizes.count(1), sizes.count(2) + sizes.count(3)) > 20


def check_nearest(asked: Asked, changes: Sequence[Relaxation]) -> None:
    """Check that no changed limit could be nearer, given those before it."""
    for number, change in enumerate(changes):
        if change.literal:
            continue
        after = {one.place for one in changes[number + 1 :]}
        limits, literals = asked.changed(changes)
        kept = [text for place, text in enumerate(limits) if place not in after | {change.place}]
        old, new = read_limit(asked.limits[change.place]), read_limit(change.limit)
        attribute = parse_limit(change.limit, asked.model, asked.attributes).quantity
        assert attribute is not None
        values = [
            int(attribute.points(np.array([product]))[0]) / (attribute.objective.scale or 1)
            for product in asked.products(kept, literals)
        ]
        assert min(abs(value - float(old.value)) for value in values) == pytest.approx(
            abs(float(new.value - old.value))
        )
        assert new.operator == {"<": "<=", ">": ">="}.get(old.operator, old.operator)


@pytest.mark.parametrize(
    ("limits", "literals", "enough", "useless"),
    [
        (["cost<=10"], [2, 3, 4], [["limit cost<=14 in place of cost<=10"], ["GPS is no longer required"]],
         ["MP3 is no longer required", "Radio is no longer required"]),
        (["cost<=3"], [], [["limit cost<=5 in place of cost<=3"]], []),
        (["worth==2"], [-3], [["limit worth==3 in place of worth==2"], ["MP3 is no longer required to be left out"]], []),
        (["cost<=4", "worth>=6"], [2, -4],
         [["limit cost<=11 in place of cost<=4", "limit worth>=3 in place of worth>=6"]], []),
    ],
)  # fmt: skip
def test_advice_in_words(
    limits: list[str], literals: list[int], enough: list[list[str]], useless: list[str]
) -> None:
    bounds = [parse_limit(limit, PHONE, ATTRIBUTES) for limit in limits]
    found = find_relaxations(PHONE, bounds, literals)
    assert [[change.text for change in changes] for changes in found.enough] == enough
    assert [change.text for change in found.useless] == useless


def test_what_is_left_out_and_does_not_help_is_told() -> None:
    bounds = [parse_limit(text, PHONE, ATTRIBUTES) for text in ("cost<=9", "cost<=10")]
    found = find_relaxations(PHONE, bounds, [2])
    assert [change.text for (change,) in found.enough] == ["GPS is no longer required"]
    assert [change.text for change in found.useless] == ["without limit cost<=9", "without limit cost<=10"]


def test_an_answer_with_advice_can_be_saved() -> None:
    answer = configure(PHONE, "min cost", limits=["cost<=3"], attributes=ATTRIBUTES)
    assert pickle.loads(pickle.dumps(answer)).relaxations == answer.relaxations


def test_other_constraints_as_limits_are_left_out_as_a_whole() -> None:
    found = find_relaxations(PHONE, [Constraint(Or((Literal(3), Literal(4))))], [-3, -4])
    told = [change.text for (change,) in found.enough]
    assert told[0] == "without limit MP3 | Radio"
    assert len(told) == 3


def test_without_an_answer_of_the_solver_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "best_product", lambda *_, **__: (Least(), None))
    assert find_relaxations(PHONE, [parse_limit("cost<=3", PHONE, ATTRIBUTES)]) == module.Relaxations()


def test_numbers_that_no_solver_tells_apart_are_no_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "best_product", _refused)
    assert find_relaxations(PHONE, [parse_limit("cost<=3", PHONE, ATTRIBUTES)]) == module.Relaxations()


def _refused(*_: object, **__: object) -> None:
    raise BadInputError("sums are too large.")


@pytest.mark.parametrize("text", ["cost>=9e16", "cost>=1e18", "cost<=-9e17"])
def test_a_limit_that_no_product_comes_near_has_advice_too(text: str) -> None:
    found = find_relaxations(PHONE, [parse_limit(text, PHONE, ATTRIBUTES)], [])
    nearest = "cost<=5" if "<" in text else "cost>=14"
    assert [[change.limit for change in changes] for changes in found.enough] == [[nearest]]
