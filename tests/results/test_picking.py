"""Rules that name a point."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import BadInputError, Front, Objective, Proof
from shortlist.results.objective import Sense, read_limit
from shortlist.results.proof import ProofKind

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


def _minimised(*values: tuple[float, ...]) -> Front:
    goals = [Objective(name) for name in "abcd"[: len(values[0])]]
    decisions = np.zeros((len(values), 1), dtype=int)
    return Front.from_values(goals, np.array(values), decisions, ["x"], Proof(ProofKind.COMPLETE))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # without the ends left out the first would be named: its scaled sum is 1, the others' are more
        pytest.param(
            [(10, 0, 0), (6, 5, 5), (5, 5, 8), (0, 10, 10)], (6, 5, 5), id="the best of two objectives is an end"
        ),
        pytest.param([(0, 4), (2, 3), (3, 2), (4, 0)], (2, 3), id="a curve that bends away has its inner points"),
        pytest.param([(0, 1), (1, 0)], (0, 1), id="two points are both ends"),
        pytest.param([(0, 4, 1), (2, 2, 2), (4, 0, 1)], (2, 2, 2), id="a third objective of two values has no ends"),
        # no point is inside; (1, 1, 2) has a best value and no worst one, the others have both
        pytest.param(
            [(0, 3, 3), (1, 1, 2), (3, 0, 4), (4, 4, 0), (2, 5, 1)], (1, 1, 2), id="a best value is better than a worst"
        ),
    ],
)  # fmt: skip
def test_the_knee_is_no_end_of_the_front(
    values: list[tuple[float, ...]], expected: tuple[float, ...]
) -> None:
    assert tuple(_minimised(*values).pick("knee").values.values()) == expected


@given(
    costs=st.lists(st.integers(0, 40), min_size=1, unique=True).map(sorted),
    steps=st.lists(st.integers(1, 9), min_size=40, max_size=40),
)
def test_an_objective_said_twice_changes_no_knee(costs: list[int], steps: list[int]) -> None:
    risks = [sum(steps[i:]) for i in range(len(costs))]
    once = _minimised(*[(float(c), float(r)) for c, r in zip(costs, risks, strict=True)])
    twice = _minimised(*[(float(c), float(r), 2.0 * r) for c, r in zip(costs, risks, strict=True)])
    knee, again = once.pick("knee").index, twice.pick("knee").index

    scaled = (once.values - once.values.min(axis=0)) / np.maximum(np.ptp(once.values, axis=0), 1)
    assert scaled[again].sum() == pytest.approx(scaled[knee].sum())  # the same, or as far from the line


def test_the_knee_within_limits_is_between_the_ends_of_the_whole_front() -> None:
    front = _minimised((0, 10), (1, 6), (2, 5), (5, 2), (7, 1), (10, 0))

    assert front.pick("knee", limits={"b": 2}).index == 3
    assert front.pick("knee", limits={"b": 0}).index == 5  # there is no other


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
        pytest.param({"rule": "best"}, "rule must be ideal, knee, weights or lexicographic, got 'best'", id="unknown rule"),
        pytest.param({"rule": "weights", "weights": {"price": 1}}, "objective 'price'", id="unknown objective"),
        pytest.param({"rule": "kne"}, "Did you mean 'knee'", id="nearly a rule"),
        pytest.param({"limits": {"costs": 3}}, "Did you mean 'cost'", id="nearly an objective"),
        pytest.param({"rule": "weights", "weights": {"cost": -1}}, "at least 0, and not all 0", id="negative weight"),
        pytest.param({"rule": "weights", "weights": {"cost": 0}}, "not all 0", id="no weight"),
        pytest.param({"limits": {"quality": 11}}, "the best is 10", id="a limit that nothing keeps"),
        pytest.param({"limits": {"quality": 10, "cost": 5}}, "No point is within all limits", id="limits that contradict"),
    ],
)  # fmt: skip
def test_rules_that_name_nothing_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        CURVE.pick(**options)  # type: ignore[arg-type]  # bad on purpose


@pytest.mark.parametrize(
    "options",
    [{"rule": "weights"}, {"rule": "weights", "weights": {"a": 1e-9, "b": 1e-9}}, {"rule": "knee"}],
    ids=str,
)
def test_points_on_one_line_are_equal_and_the_first_of_them_is_named(options: dict[str, Any]) -> None:
    for n in range(3, 60):  # in tenths and sevenths, whose sums round one way or the other
        for unit in (10, 7, 3):
            front = _minimised(*[(place / unit, (n - place) / unit) for place in range(n + 1)])
            expected = 1 if options["rule"] == "knee" else 0  # a knee is no end
            assert front.pick(**options).index == expected


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("2", {"rule": 2}),
        ("lexicographic:quality", {"rule": "lexicographic", "order": ["quality"]}),
        ("weights:cost=2,quality=1", {"rule": "weights", "weights": {"cost": 2, "quality": 1}}),
    ],
)
def test_a_rule_may_be_written_as_it_is_typed(typed: str, asked: dict[str, Any]) -> None:
    written, given = CURVE.pick(typed), CURVE.pick(**asked)
    assert (written.index, written.rule, written.values) == (given.index, given.rule, given.values)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("4", "there is no point 4"),
        (-1, "rule must be at least 0, got -1"),
        ("knee:cost", "rule takes objectives with weights, ideal or lexicographic"),
        ("weights:cost", "rule must say the weights, such as weights:cost=2,defects=1"),
        ("weights:age=1", "age"),
        ("nee", "Did you mean 'knee'"),
    ],
)
def test_a_number_or_rule_that_names_no_point_is_refused(rule: int | str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        CURVE.pick(rule)


def test_a_number_is_taken_within_the_limits_alone() -> None:
    assert CURVE.pick(1, limits={"cost": 5}).values == {"cost": 2, "quality": 7}
    with pytest.raises(BadInputError, match="point 3 is outside the limits"):
        CURVE.pick("3", limits={"cost": 5})
