import math
import threading
import time

import pytest

from shortlist.milp.engine import Patience, run_watched
from shortlist.milp.solution import Post
from shortlist.runs import Cancellation


def test_the_result_comes_back_from_another_thread() -> None:
    worker = run_watched(lambda _post: threading.current_thread(), lambda: None)
    assert worker is not threading.current_thread()


def test_an_error_comes_back() -> None:
    with pytest.raises(ZeroDivisionError):
        run_watched(lambda _post: 1 / 0, lambda: None)


def test_only_better_news_are_passed_on() -> None:
    heard: list[tuple[float, float]] = []
    all_heard = threading.Event()

    def run(post: Post) -> None:
        for news in [(math.inf, -math.inf), (9, 1), (10, 0), (math.nan, 2), (8, math.nan), (8, 2)]:
            post(*news)
        assert all_heard.wait(600)

    def listen(*news: float) -> None:
        heard.append((news[0], news[1]))
        if len(heard) == 3:
            all_heard.set()

    run_watched(run, lambda: None, on_bound=listen)
    assert heard == [(9, 1), (9, 2), (8, 2)]


def test_stop_is_called_until_the_run_ends() -> None:
    cancellation = Cancellation()
    calls: list[int] = []

    def run(_post: Post) -> int:
        cancellation.cancel()
        while len(calls) < 3:
            time.sleep(0.01)
        return len(calls)

    assert run_watched(run, lambda: calls.append(1), cancellation=cancellation) >= 3


def test_an_error_of_the_listener_stops_the_run_and_comes_out() -> None:
    stopped = threading.Event()

    def run(post: Post) -> None:
        post(1, 0)
        assert stopped.wait(600)

    def listen(_objective: float, _bound: float) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        run_watched(run, stopped.set, on_bound=listen)
    assert stopped.is_set()


def test_a_limit_on_another_clock_stops_the_run() -> None:
    ticks = iter(range(1_000_000))
    stopped = threading.Event()

    def run(_post: Post) -> bool:
        return stopped.wait(600)

    patience = Patience(late_s=0.0, told_s=600.0)
    assert run_watched(run, stopped.set, seconds=5, clock=lambda: next(ticks), patience=patience)
