"""What is said of a contradiction, with its numbers against all products."""

import re
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given

from shortlist.products.attributes.attribute import Attribute
from shortlist.products.configuration.contradiction_words import contradiction_sentences
from shortlist.products.configuration.contradictions import find_contradiction
from shortlist.products.configuration.product_objectives import QuantityLimit, parse_limit
from shortlist.products.explanations.program_rules import only_rules
from shortlist.products.feature_models.formulas import Linear
from shortlist.products.feature_models.model import Constraint, FeatureModel, make_group, make_model
from tests.examples import examples
from tests.products import oracles
from tests.products.configuration.test_contradictions import questions

PHONE = make_model(["Phone", "GPS", "MP3", "Radio"], root=0, groups=[make_group(0, [1, 2, 3], "optional")])
ATTRIBUTES = {
    "cost": Attribute("cost", np.array([50, 60, 30, 0]), 10, "EUR"),
    "worth": Attribute("worth", np.array([0, 3, 1, 1])),
}


def said(limits: Sequence[str], literals: Sequence[int], model: FeatureModel = PHONE) -> list[str]:
    bounds = [parse_limit(limit, model, ATTRIBUTES) for limit in limits]
    found = find_contradiction(model, bounds, literals)
    assert found is not None
    return list(contradiction_sentences(found, model, bounds, literals))


@pytest.mark.parametrize(
    ("limits", "literals", "expected"),
    [
        pytest.param(
            ["cost<=10"],
            [2, 3, 4],
            [
                "GPS is required; without it, cost can be 8 EUR",
                "limit cost<=10: the others leave at least 11 EUR, and all that is asked at least 14 EUR",
                "every product has Phone",
            ],
            id="a limit and a choice, with what it costs",
        ),
        pytest.param(
            ["worth>=5", "cost<13.5", "cost>2"],
            [],
            [
                "limit worth>=5: the others leave at most 4",
                "limit cost<13.5: the others leave at least 14 EUR",
                "every product has Phone",
            ],
            id="two limits, each with what the other leaves",
        ),
        pytest.param(
            ["worth==2", "cost>10"],
            [],
            [
                "limit worth==2: the others leave at least 3",
                "limit cost>10: the others leave at most 8 EUR",
            ],
            id="an equality from one side",
        ),
        pytest.param(
            ["worth==2"],
            [-3],
            [
                "MP3 is required to be left out",
                "limit worth==2: the others leave at least 3 or at most 1",
            ],
            id="an equality from both sides",
        ),
        pytest.param(
            ["cost<=9007"], [2, -1], ["Phone is required to be left out", "every product has Phone"],
            id="no limit takes part",
        ),
    ],
)  # fmt: skip
def test_sentences_have_the_numbers_of_the_products(
    limits: list[str], literals: list[int], expected: list[str]
) -> None:
    assert said(limits, literals) == expected


@given(question=questions())
@examples(20)
def test_what_the_others_leave_is_the_least_or_most_of_all_products(
    question: tuple[FeatureModel, list[Constraint], list[int]],
) -> None:
    model, limits, literals = question
    found = find_contradiction(model, limits, literals)
    if found is None:
        return
    sentences = contradiction_sentences(found, model, limits, literals)
    assert len(sentences) == len(found.rules) + len(found.literals) + len(found.limits)
    for place, sentence in zip(found.limits, sentences[len(found.literals) :], strict=False):
        limit = limits[place]
        assert isinstance(limit, QuantityLimit)
        assert limit.quantity is not None
        assert sentence.startswith(limit.name)
        values = [
            int(limit.quantity.points(np.array([selected]))[0])
            for selected in oracles.products(only_rules(model, found.rules))
            if all(oracles.truth(limits[other].formula, selected) for other in found.limits if other != place)
            and all(selected[abs(v) - 1] == (v > 0) for v in found.literals)
        ]
        others = sentence.removeprefix(limit.name).partition(", and all")[0]
        ends = re.findall(r"at (least|most) (-?[\d.]+)", others)
        assert ends
        for end, number in ends:
            scaled = int(Decimal(number) * (limit.quantity.objective.scale or 1))
            if "==" in limit.name:
                assert scaled in values
            else:
                assert scaled == (min(values) if end == "least" else max(values))


def test_a_limit_without_a_name_or_quantity_is_told_by_its_formula() -> None:
    limit = Constraint(Linear((2, 3), (2, 3), 1))
    found = find_contradiction(PHONE, [limit], [2])
    assert found is not None
    assert contradiction_sentences(found, PHONE, [limit], [2], chosen=lambda _: "a choice") == (
        "a choice; without it, the sum can be 0",
        "2 * GPS + 3 * MP3 <= 1: the others leave at least 2",
    )
