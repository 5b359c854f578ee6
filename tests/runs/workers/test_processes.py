"""Processes of this machine."""

import operator
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from joblib import parallel_config

from shortlist.errors import WorkerError
from shortlist.runs import Cancellation, Unit
from shortlist.runs.units import open_workers
from shortlist.runs.workers import Completed
from tests.runs.workers import made

pytestmark = pytest.mark.slow


def completed(
    units: list[Unit], n_workers: int = 2, cancellation: Cancellation | None = None
) -> dict[str, Completed]:
    with open_workers(n_workers) as workers:
        assert workers.n_workers == n_workers
        found = list(workers.completed(units, cancellation or Cancellation()))
    assert len({one.index for one in found}) == len(found)
    return {units[one.index].key: one for one in found}


def test_results_are_those_of_one_process() -> None:
    units = made.totals()
    alone, together = completed(units, 1), completed(units)
    assert {key: one.result for key, one in together.items()} == {
        key: one.result for key, one in alone.items()
    }
    assert all(one.seconds >= 0 and one.machine for one in together.values())


def test_an_array_is_mapped_once_in_each_process() -> None:
    units = [Unit(str(i), made.place_in_memory, (made.ROWS, i)) for i in range(8)]
    places = {one.result for one in completed(units).values()}
    assert len(places) == len({process for process, _ in places}) <= 2


def test_what_a_dead_worker_had_is_run_again(tmp_path: Path) -> None:
    units = [*made.totals(5), Unit("frail", made.die_once, (tmp_path / "died",)), *made.totals(6)[5:]]
    found = completed(units)
    assert found["frail"].result == "alive"
    assert {key: one.result for key, one in found.items() if key != "frail"} == {
        unit.key: unit.call(*unit.arguments) for unit in made.totals(6)
    }


def test_a_unit_that_always_ends_its_worker_is_named_and_the_others_are_run() -> None:
    units = [*made.totals(3), Unit("deadly", os._exit, (3,))]
    found = completed(units)
    assert isinstance(found["deadly"].error, WorkerError)
    assert str(found["deadly"].error).startswith("unit deadly ended its worker each time")
    assert sum(one.error is None for one in found.values()) == 3


def test_a_process_that_grows_so_much_that_joblib_replaces_it_loses_no_unit() -> None:
    sizes = (1, 1, 400_000_000, 400_000_000, 2, 2)
    units = [Unit(f"{i}", made.grow_to, (size,)) for i, size in enumerate(sizes)]
    found = completed(units)
    assert [found[f"{i}"].error for i in range(6)] == [None] * 6


def test_an_error_comes_back_with_its_unit() -> None:
    found = completed([Unit("a", operator.neg, (1,)), Unit("b", made.fail, ("no such thing",))])
    assert (found["a"].result, found["a"].error) == (-1, None)
    assert isinstance(found["b"].error, ValueError)
    assert str(found["b"].error) == "no such thing"


def test_a_cancellation_reaches_what_runs_and_nothing_more_is_begun(tmp_path: Path) -> None:
    stop = Cancellation()
    units = [Unit(str(i), made.until_cancelled, (stop, tmp_path / str(i))) for i in range(20)]
    begun = [tmp_path / "0", tmp_path / "1"]

    def cancel() -> None:
        while not all(mark.exists() for mark in begun):
            pass
        stop.cancel()

    threading.Thread(target=cancel, daemon=True).start()
    found = completed(units, cancellation=stop)
    assert {one.result for one in found.values()} == {"cancelled"}
    assert 2 <= len(found) <= 4


def test_the_enclosing_context_decides_what_workers_are() -> None:
    with parallel_config(backend="threading"):
        found = completed([Unit(str(i), os.getpid) for i in range(4)])
    assert {one.result for one in found.values()} == {os.getpid()}


def test_a_unit_that_does_not_pickle_is_named() -> None:
    units = [*made.totals(3), Unit("held", made.total, (threading.Lock(), 1))]
    with pytest.raises(WorkerError, match=r"unit held cannot be sent to a worker: .*lock.*\. Use one worker"):
        completed(units)


class Changing:
    """An object in which another thread caches a value while it is pickled for the first time."""

    times = 0

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        self.times += 1
        if self.times == 1:
            raise RuntimeError("dictionary changed size during iteration")
        return int, (7,)


def test_a_unit_that_changes_while_it_is_pickled_is_sent_again() -> None:
    changing = Changing()
    found = completed([*made.totals(3), Unit("changing", operator.neg, (changing,))])
    assert found["changing"].result == -7
    assert {key: one.result for key, one in found.items() if key != "changing"} == {
        unit.key: unit.call(*unit.arguments) for unit in made.totals(3)
    }
    assert changing.times == 3  # by joblib, by the search for what does not pickle, and by joblib again


def test_an_error_that_does_not_pickle_comes_back_in_words() -> None:
    found = completed([Unit("a", made.fail_with_lock), Unit("b", made.result_with_lock)])
    assert str(found["a"].error) == "OSError: held"
    assert "lock" in str(found["b"].error)


def test_a_large_array_within_an_argument_is_mapped_and_may_be_written() -> None:
    units = [Unit(str(i), made.written_within, ({"rows": made.ROWS}, i)) for i in range(4)]
    assert {one.result for one in completed(units).values()} == {float(i) for i in range(4)}
    assert made.ROWS[0] == 0


LEAVES_A_FILE = """
import os
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.backend import resource_tracker
from shortlist.runs import Cancellation, Unit
from shortlist.runs.units import open_workers

with open_workers(2) as workers:
    list(workers.completed([Unit(str(i), abs, (-i,)) for i in range(2)], Cancellation()))
get_reusable_executor().shutdown(kill_workers=True)  # they hold the same stderr
resource_tracker.register("{nowhere}", "file")
os._exit(0)
"""


def test_the_tracker_of_processes_does_not_write_between_the_sentences_of_the_command(
    tmp_path: Path,
) -> None:
    program = LEAVES_A_FILE.replace("{nowhere}", str(tmp_path / "nowhere"))
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
