"""Time that goes into compiling is counted once."""

from shortlist._compiling import CompilingClock


def test_time_that_goes_into_compiling_is_counted_once_while_and_after_it() -> None:
    now = [10.0]
    compiling = CompilingClock(lambda: now[0])
    assert compiling.seconds == 0
    with compiling:
        now[0] = 13.0
        assert compiling.seconds == 3
        with compiling:
            now[0] = 14.0
        now[0] = 15.0
    now[0] = 100.0
    assert compiling.seconds == 5
