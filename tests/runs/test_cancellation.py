"""Stopping with what has been found."""

import os
import pickle
import signal
import tempfile
import threading
from pathlib import Path

import pytest

from shortlist.runs import Cancellation, cancel_on_interrupt
from shortlist.runs.cancellation import STOPPING, cancel_copies, undisturbed

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.mark.parametrize("first", SIGNALS)
@pytest.mark.parametrize("second", SIGNALS)
def test_the_first_signal_cancels_and_says_so_at_once_and_the_second_raises(
    first: signal.Signals, second: signal.Signals
) -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    said: list[str] = []
    with cancel_on_interrupt(said.append) as cancellation:
        assert not cancellation.cancelled
        os.kill(os.getpid(), first)
        assert cancellation.cancelled
        assert said == [STOPPING]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), second)
    assert said == [STOPPING]
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_a_signal_right_behind_the_sentence_counts() -> None:
    said = []

    def press_again(sentence: str) -> None:
        said.append(sentence)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), cancel_on_interrupt(press_again) as cancellation:
        signal.raise_signal(signal.SIGINT)
    assert cancellation.cancelled
    assert said == [STOPPING]


def test_the_sentence_is_a_line_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    with cancel_on_interrupt():
        os.kill(os.getpid(), signal.SIGTERM)
    assert capfd.readouterr().err == f"shortlist: {STOPPING}\n"


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    seen = []

    def work() -> None:
        with cancel_on_interrupt() as cancellation:
            seen.append(cancellation.cancelled)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]


def test_copies_in_other_processes_are_set_along_with_it() -> None:
    flag = Cancellation()
    early, of_a_copy = (
        pickle.loads(pickle.dumps(flag)),
        pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(flag)))),
    )
    assert not early.cancelled
    flag.cancel()
    late = pickle.loads(pickle.dumps(flag))
    assert early.cancelled
    assert of_a_copy.cancelled
    assert late.cancelled
    assert not Cancellation().cancelled


def test_the_file_that_sets_copies_goes_with_the_cancellation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    flag = Cancellation()
    copy = pickle.loads(pickle.dumps(flag))
    assert list(tmp_path.iterdir()) == []
    flag.cancel()
    flag.cancel()
    assert copy.cancelled
    assert len(list(tmp_path.iterdir())) == 1
    del flag
    assert list(tmp_path.iterdir()) == []


def test_copies_on_another_machine_are_set_by_name_those_too_that_come_later() -> None:
    flag, told = Cancellation(), list[str]()
    pickled = pickle.dumps(flag)
    copy, other = pickle.loads(pickled), pickle.loads(pickle.dumps(Cancellation()))
    with copy.telling(lambda: told.append("copy")):
        cancel_copies(flag.name)
    assert told == ["copy"]
    assert copy.cancelled
    assert pickle.loads(pickled).cancelled
    assert not other.cancelled
    assert not flag.cancelled


def test_signals_within_an_undisturbed_block_are_answered_at_its_end() -> None:
    done = []
    with cancel_on_interrupt(lambda _: None) as cancellation:

        def work() -> None:
            with undisturbed():
                for number in SIGNALS:
                    signal.raise_signal(number)
                done.append(cancellation.cancelled)
            done.append(True)

        with pytest.raises(KeyboardInterrupt):
            work()
    assert done == [False]
    assert cancellation.cancelled
