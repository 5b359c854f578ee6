"""The loop over policies, beside a loop over single cases."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.policies import Said, follow, paid


def one_by_one(codes: Any, ends: Any, has: Any) -> tuple[int, int, bool, bool]:
    """Class, stages reached, whether it waits, and whether it is left, of a case, in plain words."""
    for stage in range(len(codes)):
        if not has[stage]:
            return -1, stage, True, False
        if ends[stage]:
            return codes[stage], stage + 1, False, False
    return -1, len(codes), False, True


@given(st.integers(0, 5), st.integers(0, 4), st.integers(0, 2**32 - 1), st.booleans())
def test_every_case_goes_as_it_would_alone(n_cases: int, n_stages: int, seed: int, may_wait: bool) -> None:
    rng = np.random.default_rng(seed)
    codes, prices = rng.integers(-1, 3, (n_cases, n_stages)), rng.integers(0, 9, n_stages)
    ends, has = rng.random((2, n_cases, n_stages)) < 0.5
    has |= not may_wait
    calls = list[int]()

    def ask(stage: int, cases: Any) -> Any:
        calls.append(len(has[cases]))
        return has[cases, stage]

    found = follow(
        n_cases, n_stages, lambda k, rows: Said(codes[rows, k], ends[rows, k]), ask if may_wait else None
    )
    left = np.isin(np.arange(n_cases), found.left)
    told = list(zip(found.codes.tolist(), found.reached.tolist(), found.waits.tolist(), left, strict=True))
    assert told == [one_by_one(*case) for case in zip(codes, ends, has, strict=True)]
    assert 0 not in calls
    assert paid(prices, found.reached).tolist() == [prices[:n].sum() for n in found.reached]


def test_how_sure_a_stage_is_stays_where_no_later_one_is_reached() -> None:
    sure = np.array([[0.9, 0.5], [0.4, 0.8], [0.3, 0.2]])
    found = follow(
        3, 2, lambda k, rows: Said(np.zeros(3, dtype=np.int64)[rows], sure[rows, k] > 0.6, sure[rows, k])
    )
    assert found.sure.tolist() == [0.9, 0.8, 0.2]
