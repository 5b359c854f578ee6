"""The label of an answer that is none."""

from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.guarantees.cells import labels_of, reject_label_for


@pytest.mark.parametrize(
    ("classes", "label"),
    [([0, 1], -1), ([-1, 1], -2), (["a", "b"], "REJECT"), (["REJECT", "b"], "REJECTED"), ([0.5, 1.5], -1)],
)
def test_the_label_is_no_class(classes: list[Any], label: Any) -> None:
    assert reject_label_for(None, np.array(classes)) == label


def test_a_class_cannot_stand_for_no_answer() -> None:
    with pytest.raises(BadInputError, match="reject_label must not be one of the classes, a or b, got 'a'"):
        reject_label_for("a", np.array(["a", "b"]))


def test_numbers_below_0_become_the_label() -> None:
    assert labels_of(np.array([1, -1, 0]), np.array(["a", "b"]), "none").tolist() == ["b", "none", "a"]
    assert labels_of(np.array([1, 0]), np.array([4, 5]), -1).dtype == np.array([4, 5]).dtype
