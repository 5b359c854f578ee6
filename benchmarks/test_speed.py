"""Time every case; under `make test` each runs once, at its smallest size."""

from typing import Any

import pytest

from benchmarks.registry import Case, load_cases


@pytest.mark.slow
@pytest.mark.parametrize("case", load_cases().values(), ids=lambda case: case.name)
def test_speed(case: Case, benchmark: Any) -> None:
    size = min(case.sizes) if benchmark.disabled else max(case.sizes)
    call = case.build(size)
    if not benchmark.disabled:
        call()  # compile outside the clock
    assert benchmark(call) is not None
