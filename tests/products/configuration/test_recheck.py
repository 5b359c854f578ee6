"""Fronts of products that are as they claim, and fronts that somebody has changed."""

import dataclasses
import os

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.products.attributes import Attribute
from shortlist.products.configuration.product_front import configure
from shortlist.products.configuration.question import ProductQuestion, make_question, parse_question
from shortlist.products.configuration.recheck import recheck_products
from shortlist.products.model import FeatureModel, make_group, make_model
from shortlist.products.rules import are_valid
from shortlist.results.front import Front

N_FORGED = int(os.environ.get("SHORTLIST_FORGED", "60"))
"""Changed fronts that are checked; 500 with SHORTLIST_FORGED=500."""

COSTS = {
    "cost": Attribute("cost", np.array([0, 125, 50, 300, 75, 225]), 10),
    "risk": Attribute("risk", np.array([0, 4, 1, 0, 3, 2]), 1),
}


def _phone() -> FeatureModel:
    names = ["Phone", "GPS", "Screen", "Colour", "Basic", "MP3"]
    groups = [
        make_group(0, [1], "optional"), make_group(0, [2], "mandatory"), make_group(2, [3, 4], "alternative"),
        make_group(0, [5], "optional"),
    ]  # fmt: skip
    return make_model(names, root=0, groups=groups)


def _asked(
    objectives: str, limits: tuple[str, ...] = (), method: str = "auto"
) -> tuple[ProductQuestion, Front]:
    model = _phone()
    answer = configure(model, objectives, attributes=COSTS, limits=limits, method=method)
    goals, bounds = parse_question(model, objectives, limits, COSTS)
    return make_question(model, goals, bounds)[0], answer.front


@pytest.mark.parametrize("method", ["diagram", "exact"])
@pytest.mark.parametrize(
    ("objectives", "limits"),
    [
        ("min cost, min risk, min deselected", ()),
        ("min cost, max selected", ("risk<=4",)),
        ("min cost", ()),
        ("max cost, min risk", ("cost<=50", "risk>=1")),
    ],
)
def test_fronts_as_they_were_found_stand_the_check(
    objectives: str, limits: tuple[str, ...], method: str
) -> None:
    question, front = _asked(objectives, limits, method)
    found = recheck_products(question, front)
    assert (found.status, found.failures) == ("rechecked", ())
    assert found.found_by == ("" if method == "diagram" else "highs")


def _random(rng: np.random.Generator) -> tuple[ProductQuestion, Front]:
    """Return a question about a random tree of eight features, and its front of two points or more."""
    n = 8
    while True:
        below: dict[int, list[int]] = {}
        for feature in range(1, n):
            below.setdefault(int(rng.integers(feature)), []).append(feature)
        groups = [
            make_group(parent, children, str(rng.choice(["optional", "optional", "or", "alternative"])))
            for parent, children in below.items()
        ]
        model = make_model([f"F{i}" for i in range(n)], root=0, groups=groups)
        costs = {
            name: Attribute(name, rng.integers(-5, 20, n), int(rng.choice([1, 10])))
            for name in ("cost", "risk")
        }
        objectives = "min cost, max risk, min deselected"
        front = configure(model, objectives, attributes=costs).front
        if len(front) > 1:
            goals, bounds = parse_question(model, objectives, (), costs)
            return make_question(model, goals, bounds)[0], front


def _forged(question: ProductQuestion, front: Front, rng: np.random.Generator) -> list[Front]:
    """Return the front without a point, with a value off by one unit, another product, and a point too many."""
    number, place = int(rng.integers(len(front))), int(rng.integers(len(front.objectives)))
    kept = np.arange(len(front)) != number
    factors = np.array([one.sign * (one.scale or 1) for one in front.objectives])
    values, decisions = front.values.copy(), front.decisions.copy()
    values[number, place] = (round(values[number, place] * factors[place]) + rng.choice([-1, 1])) / factors[
        place
    ]
    decisions[number, int(rng.integers(1, decisions.shape[1]))] ^= 1  # one feature more or less is deselected
    some = (rng.random((200, decisions.shape[1])) < 0.5).astype(np.uint8)
    some[:, 0] = 1
    some = some[are_valid(question.model, some)]
    others = question.points(some) / factors
    known = {tuple(row) for row in front.values.tolist()}
    fresh = [i for i, row in enumerate(others.tolist()) if tuple(row) not in known][:1] or [0]
    return [
        dataclasses.replace(front, values=front.values[kept], decisions=front.decisions[kept]),
        dataclasses.replace(front, values=values),
        dataclasses.replace(front, decisions=decisions),
        dataclasses.replace(
            front,
            values=np.vstack([front.values, others[fresh]]),
            decisions=np.vstack([front.decisions, some[fresh]]),
        ),
    ]


def test_every_changed_front_is_found_out() -> None:
    rng = np.random.default_rng(8)
    n_forged = 0
    while n_forged < N_FORGED:
        question, front = _random(rng)
        assert recheck_products(question, front).status == "rechecked"
        for forged in _forged(question, front, rng):
            assert recheck_products(question, forged).status == "invalid", forged.to_frame(decisions=True)
            n_forged += 1


def test_a_point_too_many_is_found_with_what_dominates_it() -> None:
    question, front = _asked("min cost, min risk")
    full = np.array([[1, 1, 1, 0, 1, 1]])
    points = question.points(full)
    factors = np.array([one.sign * (one.scale or 1) for one in front.objectives])
    more = dataclasses.replace(
        front,
        values=np.vstack([front.values, points / factors]),
        decisions=np.vstack([front.decisions, full]),
    )
    assert "is dominated by point" in recheck_products(question, more).failures[0]
    twice = dataclasses.replace(
        front,
        values=front.values[[0, *range(len(front))]],
        decisions=front.decisions[[0, *range(len(front))]],
    )
    assert recheck_products(question, twice).failures == ("point 1 is the same as point 0",)


def test_a_front_of_another_model_is_refused() -> None:
    question, front = _asked("min cost, min risk")
    other = dataclasses.replace(front, candidates=tuple(f"no {name}" for name in front.candidates))
    with pytest.raises(BadInputError, match="must be of this model"):
        recheck_products(question, other)
