"""Thresholds that the fitted rows support, by exact tails."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.multistage.problem.reject_rules import RejectRule, confident_answers, raised_threshold
from tests.guarantees.oracles import tail_by_counting


def _raised_by_counting(best: list[float], right: list[bool], wanted: Fraction, error: Fraction) -> float:
    """The least probability that some row has and from which on the tail supports the accuracy."""
    found = [2.0]
    for threshold in set(best):
        answers = [right[i] for i, p in enumerate(best) if p >= threshold]
        if tail_by_counting(len(answers), answers.count(False), 1 - wanted) <= error:
            found.append(threshold)
    return min(found)


@given(data=st.data())
def test_the_raised_threshold_equals_a_plain_loop(data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.integers(32, 64), min_size=1, max_size=40))
    best = [part / 64 for part in parts]
    right = data.draw(
        st.lists(st.sampled_from([True, True, True, False]), min_size=len(best), max_size=len(best))
    )
    rule = RejectRule((0.75, 0.75), risk=0.25, max_stages=2)
    probabilities = np.column_stack([best, 1 - np.array(best)])
    found = raised_threshold(probabilities, np.where(right, 0, 1), rule)
    confident = [i for i, p in enumerate(best) if p >= 0.75]
    expected = _raised_by_counting(
        [best[i] for i in confident], [right[i] for i in confident], Fraction(3, 4), Fraction(1, 8)
    )
    assert found == expected
    answered = confident_answers(probabilities, rule, found)[1]
    assert answered.tolist() == [p >= max(0.75, found) for p in best]  # the row at the threshold is answered
