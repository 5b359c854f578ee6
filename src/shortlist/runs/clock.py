"""The one clock that everything reads, so that seconds of different places can be compared."""

import time


def seconds_now() -> float:
    """Return seconds from some moment on; they never go back, and mean nothing but by their differences.

    Examples
    --------
    >>> start = seconds_now()
    >>> seconds_now() >= start
    True
    """
    return time.perf_counter()


def processor_seconds() -> float:
    """Return the seconds that processors worked for this process, which a busy machine lengthens less."""
    return time.process_time()
