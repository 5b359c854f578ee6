"""What rules do on test rows, compared row by row."""

import numpy as np

from shortlist.ensembles.measured import Measured, only_answer


def test_rules_are_compared_row_by_row() -> None:
    def measured(right: list[bool]) -> Measured:
        return Measured(np.eye(2, dtype=np.int64), np.array(["a", "b"]), 1, 1, 0.0, np.array(right))

    difference = measured([True, True, False, True]).against(measured([True, False, False, False]))
    assert (difference.only_first, difference.only_second) == (2, 0)


def test_one_answer_only_is_the_class_that_all_rows_get() -> None:
    classes = np.array([3, 5, 8])
    assert only_answer(np.array([0, 4, 0]), classes) == "5"
    assert only_answer(np.array([1, 4, 0]), classes) is None
    assert only_answer(np.array([0, 0, 0]), classes) is None
