"""The one clock that everything reads, so that seconds of different places can be compared."""

import time

from shortlist._jit import COMPILING


def seconds_now() -> float:
    """Return seconds from some moment on; they never go back, and mean nothing but by their differences.

    The clock stands still while kernels are compiled, which happens once per installation, so that a limit in
    seconds is for the work that was asked for.

    Examples
    --------
    >>> start = seconds_now()
    >>> seconds_now() >= start
    True
    """
    return time.perf_counter() - COMPILING.seconds


def processor_seconds() -> float:
    """Return the seconds that processors worked for this process, which a busy machine lengthens less."""
    return time.process_time()
