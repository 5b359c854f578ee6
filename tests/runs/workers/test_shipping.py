"""Calls as bytes."""

import operator
import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.errors import WorkerError
from shortlist.runs import Cancellation, Unit
from shortlist.runs.workers.shipping import LARGE, Shelf, parcels, restored, unpack_call

ROWS = np.arange(LARGE // 8, dtype=np.float64)


def arrived(units: list[Unit], shelf: Shelf, stop: Cancellation) -> list[tuple[Any, tuple[Any, ...]]]:
    packed = list(parcels(units, shelf))
    values = {digest: restored(value, stop) for digest, value in shelf.values.items()}
    return [unpack_call(parcel, values, stop) for parcel in packed]


def test_what_arrives_is_what_was_sent() -> None:
    table = pd.DataFrame({"x": ROWS, "word": "a"})
    units = [
        Unit(str(i), operator.getitem, ({"table": table, "rows": ROWS, "i": i}, "rows")) for i in range(3)
    ]
    for i, (call, (given, name)) in enumerate(arrived(units, Shelf(), Cancellation())):
        assert (call, name, given["i"]) == (operator.getitem, "rows", i)
        np.testing.assert_array_equal(given["rows"], ROWS)
        pd.testing.assert_frame_equal(given["table"], table)


def test_an_array_that_calls_have_in_common_is_no_part_of_them() -> None:
    units = [Unit(str(i), operator.add, ([ROWS], i)) for i in range(5)]
    shelf = Shelf()
    sent = list(parcels(units, shelf))
    assert [value.nbytes for value in shelf.values.values()] == [ROWS.nbytes]
    assert max(parcel.n_bytes for parcel in sent) < 1000
    assert {*shelf.values} == set().union(*(parcel.digests for parcel in sent))


def test_equal_arrays_are_shipped_once_and_other_ones_not_instead() -> None:
    other = ROWS.reshape(2, -1)
    units = [Unit(str(i), operator.add, (part, i)) for part in (ROWS, ROWS.copy(), other) for i in range(2)]
    shelf = Shelf()
    list(parcels(units, shelf))
    assert sorted(value.shape for value in shelf.values.values()) == [(2, LARGE // 16), (LARGE // 8,)]


def test_an_array_of_one_call_goes_with_it() -> None:
    shelf = Shelf()
    sent = list(parcels([Unit(str(i), operator.neg, (ROWS + i,)) for i in range(3)], shelf))
    assert shelf.values == {}
    assert min(parcel.n_bytes for parcel in sent) > ROWS.nbytes


def test_an_argument_that_calls_have_in_common_is_shipped_once() -> None:
    words = [f"word {i}" for i in range(LARGE)]
    shelf = Shelf()
    sent = list(parcels([Unit(str(i), operator.getitem, (words, i)) for i in range(3)], shelf))
    assert len(shelf.values) == 1
    assert max(parcel.n_bytes for parcel in sent) < 1000


def test_every_cancellation_of_a_call_becomes_that_of_the_worker() -> None:
    here, there = Cancellation(), Cancellation()
    (_, (inside, alone)), *_ = arrived([Unit("a", print, ([here], here)), Unit("b", print)], Shelf(), there)
    assert inside[0] is there
    assert alone is there


def test_a_call_that_does_not_pickle_says_so() -> None:
    with pytest.raises(WorkerError, match=r"unit a cannot be sent to a worker: .*lock"):
        list(parcels([Unit("a", print, (threading.Lock(),))], Shelf()))
