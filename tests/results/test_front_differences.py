"""Differences between two points and between two fronts, against a plain comparison in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.results.front import Front
from shortlist.results.front_differences import (
    Fate,
    PointFate,
    choice_changes,
    front_differences,
    point_changes,
)
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind

Chosen = frozenset[str]


def drawn(seed: int, names: str, scales: tuple[int, int], *, turned: bool = False) -> Front:
    """Return a front with values of these scales, no two choices alike; `turned` swaps the objectives."""
    rng = np.random.default_rng(seed)
    goals = [Objective("cost", scale=scales[0]), Objective("quality", Sense.MAX, scale=scales[1])]
    masks = np.unique(rng.integers(0, 2, (12, len(names))), axis=0)
    # in halves, which every scale of these tests has, or in all that the scale has
    steps = [2, 2] if rng.integers(2) else scales
    values = np.column_stack([rng.integers(0, 3 * step, len(masks)) / step for step in steps])
    if turned:
        goals, values = goals[::-1], values[:, ::-1]
    return Front.from_values(goals, values, masks, list(names), Proof(ProofKind.COMPLETE))


def read(front: Front) -> list[tuple[Chosen, tuple[Fraction, Fraction]]]:
    """Return what each point chooses, and its values to minimise, cost first, as fractions."""
    points = []
    for values, decision in zip(front.values.tolist(), front.decisions.tolist(), strict=True):
        exact = {
            goal.name: goal.sign * Fraction(round(value * (goal.scale or 1)), goal.scale or 1)
            for goal, value in zip(front.objectives, values, strict=True)
        }
        chosen = frozenset(name for name, bit in zip(front.candidates, decision, strict=True) if bit)
        points.append((chosen, (exact["cost"], exact["quality"])))
    return points


def plainly(before: Front, now: Front) -> list[tuple[Fate, int | None, int | None]]:
    """Tell the fates as their definition says them."""
    old, new = read(before), read(now)
    told: list[tuple[Fate, int | None, int | None]] = []
    for one, (chosen, values) in enumerate(old):
        alike = [other for other, (also, _) in enumerate(new) if also == chosen]
        equal = [other for other, (_, also) in enumerate(new) if also == values]
        better = [
            other for other, (_, also) in enumerate(new) if also[0] <= values[0] and also[1] <= values[1]
        ]
        if alike:
            told.append((Fate.SAME if new[alike[0]][1] == values else Fate.CHANGED, one, alike[0]))
        elif equal:
            told.append((Fate.REPLACED, one, equal[0]))
        elif better:
            told.append((Fate.DOMINATED, one, better[0]))
        else:
            told.append((Fate.GONE, one, None))
    for other, (chosen, values) in enumerate(new):
        if all(chosen != also and values != same for also, same in old):
            told.append((Fate.NEW, None, other))
    return told


def test_fates_are_those_of_the_definition_whatever_scales_names_and_order() -> None:
    seen = set()
    for seed in range(120):
        before, now = drawn(seed, "abcd", (10, 4)), drawn(seed + 200, "cbae", (4, 6), turned=seed % 2 == 1)
        found = front_differences(before, now)
        assert [(one.fate, one.before, one.now) for one in found] == plainly(before, now)
        seen |= {one.fate for one in found}
        old, new = read(before), read(now)
        for one in found:
            if one.before is None or one.now is None:
                assert one.changes == {}
            else:
                more = [
                    float(is_now - was)
                    for was, is_now in zip(old[one.before][1], new[one.now][1], strict=True)
                ]
                assert one.changes == {"cost": more[0], "quality": -more[1] + 0.0}
    assert seen == set(Fate)


def test_prices_in_another_unit_of_money_are_the_same_and_differences_are_exact() -> None:
    proof = Proof(ProofKind.COMPLETE)
    cents = Front.from_points([Objective("cost", scale=100)], np.array([[30]]), np.array([[1]]), ["a"], proof)
    tenths = Front.from_points([Objective("cost", scale=10)], np.array([[3]]), np.array([[1]]), ["a"], proof)
    dearer = Front.from_points([Objective("cost", scale=10)], np.array([[1]]), np.array([[1]]), ["a"], proof)

    assert front_differences(cents, tenths) == [PointFate(Fate.SAME, 0, 0, {"cost": 0.0})]
    assert 0.3 - 0.1 != 0.2
    assert front_differences(dearer, tenths) == [PointFate(Fate.CHANGED, 0, 0, {"cost": 0.2})]


def test_the_same_members_under_another_threshold_are_another_choice() -> None:
    goals = [Objective("recall", Sense.MAX, scale=10), Objective("specificity", Sense.MAX, scale=10)]
    fronts = [
        Front.from_points(
            goals, np.array(points), np.ones((2, 3), dtype=int), list("abc"), Proof(ProofKind.COMPLETE),
            method="committees", extras={"thresholds": [0, 1]},
        )
        for points in ([[-9, -5], [-7, -8]], [[-9, -4], [-7, -8]])
    ]  # fmt: skip
    assert [one.fate for one in front_differences(*fronts)] == [Fate.CHANGED, Fate.SAME]
    assert choice_changes(fronts[0], 0, 1) == {"votes above": (0, 1)}
    assert point_changes(fronts[0], 0, 1) == {"recall": -0.2, "specificity": 0.3}


def test_a_test_that_moves_to_another_stage_is_another_choice() -> None:
    goals = [Objective("cost"), Objective("coverage", Sense.MAX, scale=None)]
    staged = Front.from_values(
        goals, np.array([[1, 0.25], [3, 0.75]]), np.array([[0, -1], [1, 0]]), ["age", "scan"],
        Proof(ProofKind.COMPLETE), method="emsco",
    )  # fmt: skip
    later = Front.from_values(
        goals, np.array([[1, 0.25], [2, 0.75]]), np.array([[1, -1], [1, 0]]), ["age", "scan"],
        Proof(ProofKind.COMPLETE), method="emsco",
    )  # fmt: skip
    found = front_differences(staged, later)
    assert [one.fate for one in found] == [Fate.REPLACED, Fate.CHANGED]
    assert choice_changes(staged, 0, 1) == {"age": (0, 1), "scan": (-1, 0)}
    with pytest.raises(BadInputError, match="only one of them is of stages"):
        front_differences(
            staged, Front.from_values(goals, np.ones((1, 2)), np.array([[0]]), "a", staged.proof)
        )


def test_fronts_of_nothing_and_fronts_that_cannot_be_compared() -> None:
    front = drawn(0, "ab", (1, 1))
    proof = Proof(ProofKind.COMPLETE)
    empty = Front.from_values(
        front.objectives, np.empty((0, 2)), np.empty((0, 2), dtype=int), list("ab"), proof
    )
    assert [one.fate for one in front_differences(front, empty)] == [Fate.GONE] * len(front)
    assert [one.fate for one in front_differences(empty, front)] == [Fate.NEW] * len(front)
    assert front_differences(empty, empty) == []
    for other, words in (
        ([Objective("cost")], "got min cost and max quality, and then min cost"),
        ([Objective("cost"), Objective("quality")], "and then min cost and min quality"),
    ):
        with pytest.raises(BadInputError, match=words):
            front_differences(
                front, Front.from_values(other, np.zeros((1, len(other))), np.array([[1]]), "a", proof)
            )
    priced = [[Objective("cost", unit=unit)] for unit in ("EUR", "USD")]
    euros, dollars = (
        Front.from_values(goals, np.ones((1, 1)), np.array([[1]]), "a", proof) for goals in priced
    )
    with pytest.raises(BadInputError, match="cost is in EUR, and then in USD"):
        front_differences(euros, dollars)


def test_infinite_values_are_equal_to_themselves() -> None:
    goals = [Objective("loss", scale=None), Objective("size")]
    front = Front.from_values(
        goals,
        np.array([[1.5, 2], [np.inf, 1]]),
        np.array([[1, 1], [1, 0]]),
        list("ab"),
        Proof(ProofKind.COMPLETE),
    )
    same = {"loss": 0.0, "size": 0.0}
    assert front_differences(front, front) == [PointFate(Fate.SAME, one, one, same) for one in (0, 1)]
