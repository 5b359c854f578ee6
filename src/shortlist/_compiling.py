"""How long compiling has taken; kept apart from the kernels, so that reading a clock loads nothing heavy."""

import time
from collections.abc import Callable


class CompilingClock:
    """How many seconds of this process have gone into compiling kernels, or into loading compiled ones.

    Kernels that need each other are compiled within each other; the time is counted once.

    Parameters
    ----------
    clock : callable, default=time.perf_counter
        Tells the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._spent = 0.0
        self._depth = 0
        self._start = 0.0

    def __enter__(self) -> None:
        if self._depth == 0:
            self._start = self._clock()
        self._depth += 1

    def __exit__(self, *_error: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._spent += self._clock() - self._start

    @property
    def seconds(self) -> float:
        """Seconds until now, those of a kernel that is being compiled included."""
        running = self._clock() - self._start if self._depth else 0.0
        return self._spent + running


COMPILING = CompilingClock()
"""Of this process."""
