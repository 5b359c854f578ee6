"""Rules that name a point."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import BadInputError, Front, Objective, Proof, ProofKind, Sense
from shortlist.limits import read_limit

OBJECTIVES = [Objective("cost"), Objective("quality", Sense.MAX)]


def _front(values: Sequence[tuple[float, float]]) -> Front:
    decisions = np.zeros((len(values), 1), dtype=int)
    return Front.from_values(OBJECTIVES, np.array(values), decisions, ["x"], Proof(ProofKind.COMPLETE))


CURVE = _front([(0, 0), (2, 7), (5, 9), (10, 10)])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # scaled: (0, 1), (.2, .3), (.5, .1), (1, 0)
        pytest.param({"rule": "ideal"}, (2, 7), id="nearest to the ideal point: 0.36 against 0.51"),
        pytest.param(
            {"rule": "ideal", "weights": {"cost": 1, "quality": 4}}, (5, 9), id="quality weighs more"
        ),
        pytest.param({"rule": "knee"}, (2, 7), id="farthest below the line of the anchors"),
        pytest.param({"rule": "weights", "weights": {"cost": 1, "quality": 2}}, (5, 9), id="weighted sum"),
        pytest.param({"rule": "weights", "weights": {"cost": 1}}, (0, 0), id="one weight, the rest counts 0"),
        pytest.param({"rule": "lexicographic"}, (0, 0), id="lexicographic in the front's order"),
        pytest.param(
            {"rule": "lexicographic", "order": ["quality"]}, (10, 10), id="lexicographic, quality first"
        ),
        pytest.param(
            {"rule": "lexicographic", "order": ["quality"], "limits": {"cost": 5}},
            (5, 9),
            id="a limit from above",
        ),
        pytest.param(
            {"rule": "lexicographic", "limits": {"quality": 8}},
            (5, 9),
            id="a limit from below when maximised",
        ),
        pytest.param(
            {"rule": "lexicographic", "limits": [read_limit("quality==9"), read_limit("cost > 2")]},
            (5, 9),
            id="limits as people write them",
        ),
        pytest.param(
            {"rule": "ideal", "limits": [read_limit("cost<2")]},
            (0, 0),
            id="a strict limit leaves its end out",
        ),
    ],
)
def test_rules_name_the_expected_point(options: dict[str, object], expected: tuple[float, float]) -> None:
    picked = CURVE.pick(**options)  # type: ignore[arg-type]  # a table of options
    assert tuple(picked.values.values()) == expected
    assert tuple(CURVE.values[picked.index]) == expected


def test_a_front_of_one_point_has_one_pick() -> None:
    for rule in ("ideal", "knee", "weights", "lexicographic"):
        assert _front([(3, 3)]).pick(rule).index == 0


@given(
    values=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1),
    rule=st.sampled_from(["ideal", "knee"]),
)
def test_scaling_an_objective_changes_no_pick(values: list[tuple[int, int]], rule: str) -> None:
    scaled = [(1024.0 * cost, quality) for cost, quality in values]
    assert _front([(float(c), q) for c, q in values]).pick(rule).index == _front(scaled).pick(rule).index


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"rule": "best"}, "rule must be one of", id="unknown rule"),
        pytest.param(
            {"rule": "weights", "weights": {"price": 1}}, "objective 'price'", id="unknown objective"
        ),
        pytest.param({"rule": "weights", "weights": {"cost": -1}}, "non-negative", id="negative weight"),
        pytest.param({"rule": "weights", "weights": {"cost": 0}}, "not all 0", id="no weight"),
        pytest.param({"limits": {"quality": 11}}, "the best is 10", id="a limit that nothing keeps"),
        pytest.param({"limits": {"quality": 10, "cost": 5}}, "all limits", id="limits that contradict"),
    ],
)
def test_rules_that_name_nothing_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        CURVE.pick(**options)  # type: ignore[arg-type]  # bad on purpose
