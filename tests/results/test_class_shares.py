"""Shares of classes are those of a count by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.results.class_shares import class_shares, confusion_of, whole_rows
from shortlist.results.intervals import wilson_interval

ROWS = st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)), min_size=1, max_size=40)


@given(rows=ROWS, times=st.integers(1, 3))
def test_a_confusion_and_its_shares_equal_a_count_by_hand(rows: list[tuple[int, int]], times: int) -> None:
    truth, said = (np.array(column) for column in zip(*rows, strict=True))
    found = confusion_of(truth, said, 3, times=times)
    assert found == tuple(
        tuple(sum(row == (true, answer) for row in rows) / times for answer in (0, 1, 2, -1))
        for true in range(3)
    )
    shares = {one.label: one for one in class_shares(found, ["a", "b", "c"])}
    for true, label in enumerate("abc"):
        own = [answer for truly, answer in rows if truly == true]
        assert (label in shares) == bool(own)
        if own:
            n, told = len(own) / times, shares[label]
            right, none = own.count(true) / times, own.count(-1) / times
            assert told.n_rows == pytest.approx(n)  # a mean over deals
            for figure, count in (
                (told.right, right),
                (told.wrong, n - right - none),
                (told.unanswered, none),
            ):
                np.testing.assert_allclose(
                    figure, (count / n, *wilson_interval(count, n)), rtol=0, atol=1e-12
                )


def test_whole_rows_keep_the_rows_of_every_class() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        times, n_classes = int(rng.integers(1, 9)), int(rng.integers(2, 5))
        n_rows = rng.integers(0, 40, n_classes)
        shares = np.full(n_classes + 1, 1 / (n_classes + 1))
        means = rng.multinomial(n_rows, shares, size=(times, n_classes)).mean(axis=0)
        whole = whole_rows(means)
        assert whole.sum(axis=1).tolist() == n_rows.tolist()
        assert np.abs(whole - means).max() < 1
