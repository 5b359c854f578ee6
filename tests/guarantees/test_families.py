"""Promises about several points at once: against a plain loop, and how often all of them hold."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.studies.front_promises import broken_promises, made_points, staged_points
from shortlist.guarantees.families import Trial, most_that_holds, promise_each
from shortlist.guarantees.tails import Demand
from shortlist.guarantees.thresholds import AnswerCounts, chances_to_pass
from tests.examples import examples
from tests.guarantees import oracles

N_DRAWS = 150
MOST_BROKEN = 17
"""Of 150 draws, each broken with 5 %, so many or fewer are with a probability of 0.999."""


def _trials(data: st.DataObject) -> list[Trial]:
    def counts() -> AnswerCounts:
        steps = data.draw(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), min_size=4, max_size=4))
        right, wrong = np.cumsum(steps, axis=0).T
        return AnswerCounts(150, right + wrong, right)

    thresholds = np.array([0.9, 0.8, 0.7, 0.0])
    return [Trial(thresholds, counts(), counts()) for _ in range(data.draw(st.integers(1, 4)))]


@given(data=st.data())
def test_what_is_promised_equals_a_plain_loop(data: st.DataObject) -> None:
    trials = _trials(data)
    demand = Demand(0.8, 0.9)
    pairs = []
    for point, trial in enumerate(trials):
        chances = chances_to_pass(trial.chosen, 150, demand)
        pairs += [(-chances[place] * trial.chosen.right[place] / 150, point, place) for place in range(4)]
    expected: dict[int, int] = {}
    for _, point, place in sorted(pairs):
        n, right = (int(counts[place]) for counts in trials[point].calibration[1:])
        if not n or oracles.tail_by_counting(n, n - right, Fraction("0.2")) > Fraction("0.1"):
            break
        expected[point] = max(place, expected.get(point, -1))
    guarantees, thresholds = promise_each(trials, demand)
    for point, (trial, found) in enumerate(zip(trials, guarantees, strict=True)):
        assert found.promised == (point in expected)
        if found.promised:
            place = expected[point]
            assert found.threshold == thresholds[point] == trial.thresholds[place]
            assert (found.n_answered, found.n_right) == tuple(c[place] for c in trial.calibration[1:])
            assert found.n_rows == 150
        else:
            best = min(pair for pair in pairs if pair[1] == point)
            assert thresholds[point] == trial.thresholds[best[2]]


@examples(25)
@given(data=st.data())
def test_what_could_be_promised_instead_is_the_most_that_some_point_keeps(data: st.DataObject) -> None:
    trials = _trials(data)
    found = most_that_holds(trials, Demand(0.9, 0.9))
    kept = [
        per_cent
        for per_cent in range(50, 90)
        if any(one.promised for one in promise_each(trials, Demand(per_cent / 100, 0.9))[0])
    ]
    assert (found is None) == (not kept)
    if found is not None:
        assert round(100 * found.accuracy) == max(kept)
        best = promise_each(trials, Demand(max(kept) / 100, 0.9))[0]
        assert found.n_right == max(one.n_right for one in best if one.promised)


@pytest.mark.parametrize("name", ["just too bad", "a front of stages"])
def test_all_promises_hold_together_as_often_as_is_said_whatever_is_picked(name: str) -> None:
    """Rows that choose and rows that calibrate are drawn, and the truth is counted on all that there are.

    Of points that are each tested alone one passes by luck, and that is the one which looks best.
    """
    population = staged_points() if name == "a front of stages" else made_points(name)
    found = broken_promises(population, Demand(0.9, 0.95), range(N_DRAWS))
    broken = found.groupby("order")[["any", "one-se", "best looking"]].sum()
    together, alone = broken.loc["all thresholds, most expected first"], broken.loc["each point alone"]
    assert (together <= MOST_BROKEN).all()
    if name == "just too bad":
        assert alone["best looking"] > MOST_BROKEN
