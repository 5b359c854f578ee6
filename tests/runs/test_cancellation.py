"""Stopping with what has been found."""

import os
import signal
import threading

import pytest

from shortlist.runs import cancel_on_interrupt


def test_the_first_interrupt_cancels_and_the_second_raises() -> None:
    before = signal.getsignal(signal.SIGINT)
    with cancel_on_interrupt() as cancellation:
        assert not cancellation.cancelled
        os.kill(os.getpid(), signal.SIGINT)
        assert cancellation.cancelled
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    seen = []

    def work() -> None:
        with cancel_on_interrupt() as cancellation:
            seen.append(cancellation.cancelled)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]
