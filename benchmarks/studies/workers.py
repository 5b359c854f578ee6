"""Speedup of two Dask workers over one on real work, the effect of a killed worker, and the cost of a unit.

python -m benchmarks workers --data FOLDER --seeds 3

Starts a scheduler with one worker and a scheduler with two on the loopback, one thread each, and lets every worker
load its packages and kernels. Then each round runs the same work on one and on two, in turn, so that what else the
machine does meets both. `speed_up` is a ratio of wall-clock times, which need two cores that are otherwise idle.
`speed_up_cpu` is that of processor times, one worker's over that of the busier of two: what two free cores would give,
were it not for waiting. At the end one of two workers is killed halfway. Every answer is compared as JSON.
"""

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from shortlist.products.configuration.front_search import find_front
from shortlist.products.configuration.question import search_options
from shortlist.runs import Cancellation, Progress, Report, Unit, Work, silent
from shortlist.runs.budget import Budget
from shortlist.runs.units import open_workers
from shortlist.runs.workers import Where
from shortlist_papers.paper import PaperPlan, reproduce
from shortlist_papers.papers import PAPERS
from shortlist_papers.product_lines import prepared_question
from shortlist_papers.pruning import PruningSize, plan_pruning

ROOT = Path(__file__).parents[2]
FOLDS = PruningSize(("parkinsons", "wdbc"), 5, 1, (40,), None, 100)
"""Ten folds of the paper's methods, limited in nodes, so that answers do not depend on the clock."""
SYSTEM, N_POINTS = "uclinux", 250
"""A product line, and reference points in chunks of 25."""
EMPTY_UNITS = 1000
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"
WORKER = "from distributed.cli.dask_worker import main; main()"
LOOPBACK = ("--host", "127.0.0.1", "--no-dashboard")

Job = Callable[[Where, Report], str]
"""Runs work somewhere, and returns its answer as JSON."""


@dataclass
class Cluster:
    """A scheduler's address, and the processes of its workers."""

    address: str
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def on_each(self, call: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """Call a function once in every worker."""
        with Client(self.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]  # no types
            found: dict[str, Any] = client.run(call, *arguments)
        return found


@contextlib.contextmanager
def cluster(n_workers: int) -> Iterator[Cluster]:
    """Start a scheduler and workers on the loopback, and end them."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        _, line = stack.enter_context(
            _running(SCHEDULER, "--port", "0", "--idle-timeout", "1800", until="Scheduler at:")
        )
        found = Cluster(line.split("Scheduler at:")[1].strip())
        own = (
            found.address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--death-timeout",
            "60",
            "--local-directory",
            folder,
        )
        for _ in range(n_workers):
            found.processes.append(stack.enter_context(_running(WORKER, *own, until="Registered to:"))[0])
        yield found


@contextlib.contextmanager
def _running(program: str, *arguments: str, until: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a process; yield it, and the line that says `until`."""
    with tempfile.TemporaryFile("w+") as told:  # a pipe that is not emptied would stop the process
        process = subprocess.Popen(
            [sys.executable, "-c", program, *LOOPBACK, *arguments], cwd=ROOT, text=True, stderr=told,
            stdout=subprocess.DEVNULL, env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        try:
            while process.poll() is None:
                told.seek(0)
                ready = [line for line in told if until in line]
                if ready:
                    break
                time.sleep(0.2)
            else:
                raise ChildProcessError("a process of Dask ended before it was ready")
            yield process, ready[0]
        finally:
            process.kill()
            process.wait()


def workers(folder: Path, *, seeds: int = 3) -> Iterator[dict[str, Any]]:
    """Yield a row per round of each kind of work, one per killed worker, and what a unit costs."""
    jobs: dict[str, Job] = {
        f"pruning, {len(FOLDS.sets) * FOLDS.n_run} folds": _pruning(folder),
        f"solrep, {N_POINTS} points": _solrep(folder),
    }
    with cluster(1) as one, cluster(2) as two:
        for each in (one, two):
            each.on_each(_warm, folder)
        for name, job in jobs.items():
            for number in range(seeds):
                alone, together = _timed(one, job), _timed(two, job)
                yield {"case": name, "round": number, **_ratios(alone, together)}
        for number in range(seeds):
            yield from _costs(number, two)
    for name, job in jobs.items():
        yield {
            "case": f"{name}, one of two workers killed halfway",
            **_killed(folder, job, alone=job(1, silent)),
        }


def _pruning(folder: Path) -> Job:
    """Return the pruning reproduction, at a size of minutes."""
    whole = plan_pruning(folder, FOLDS)
    # the sets in turn, so that long folds are not all at the end
    units = tuple(sorted(whole.units, key=lambda unit: unit.key.split("/")[1:]))
    plan = dataclasses.replace(whole, units=units)

    def run(where: Where, report: Report, plan: PaperPlan = plan) -> str:
        found = reproduce(PAPERS["pruning"], plan, Work(where, report=report))
        assert found.n_done == found.n_wanted
        return json.dumps(found.rows.drop(columns="seconds").to_dict("records"))

    return run


def _solrep(folder: Path) -> Job:
    """Return a run of SolRep on a product line; the anchors, which come first, run in this process."""
    question, _ = prepared_question(folder, SYSTEM, 0, fixed=True)

    def run(where: Where, report: Report) -> str:
        options = search_options("solrep", n_points=N_POINTS, workers=where)
        front = find_front(question, "solrep", options, Budget(report=report))[0]
        facts = [front.values.tolist(), np.flatnonzero(front.decisions).tolist(), str(front.proof)]
        return json.dumps([*facts, front.extras["gaps"], front.extras["n_programs"]])

    return run


def _warm(folder: Path) -> None:
    """Load packages and kernels in a worker: one fold, and a few programs."""
    small = dataclasses.replace(FOLDS, sets=FOLDS.sets[:1], n_run=1)
    reproduce(PAPERS["pruning"], plan_pruning(folder, small))
    question, _ = prepared_question(folder, "jcs", 0, fixed=True)
    find_front(question, "solrep", search_options("solrep", n_points=5), Budget())


@dataclass(frozen=True)
class _Timing:
    answer: str
    seconds: float
    worker_cpu_s: tuple[float, ...]
    own_cpu_s: float
    load: float


def _timed(place: Cluster, job: Job) -> _Timing:
    """Run work on a cluster; return what it took, the processor time of each worker among it."""
    before = place.on_each(time.process_time)
    start, own, load = time.perf_counter(), time.process_time(), os.getloadavg()[0]
    answer = job(place.address, silent)
    seconds, own = time.perf_counter() - start, time.process_time() - own
    after = place.on_each(time.process_time)
    return _Timing(answer, seconds, tuple(sorted(after[name] - before[name] for name in after)), own, load)


def _ratios(one: _Timing, two: _Timing) -> Mapping[str, Any]:
    return {
        "one_s": round(one.seconds, 2), "two_s": round(two.seconds, 2),
        "speed_up": round(one.seconds / two.seconds, 3),
        "one_cpu_s": round(one.worker_cpu_s[0], 2), "two_cpu_s": " ".join(f"{s:.2f}" for s in two.worker_cpu_s),
        "own_cpu_s": round(two.own_cpu_s, 2),
        "speed_up_cpu": round((one.worker_cpu_s[0] + one.own_cpu_s) / (two.worker_cpu_s[-1] + two.own_cpu_s), 3),
        "same": one.answer == two.answer, "load": round(max(one.load, two.load), 1),
    }  # fmt: skip


def _killed(folder: Path, job: Job, *, alone: str) -> Mapping[str, Any]:
    """Kill one of two workers when half of the work is done; compare with the answer of this process."""
    with cluster(2) as place:
        place.on_each(_warm, folder)
        victim = place.processes[0]

        def kill_halfway(progress: Progress) -> None:
            if progress.total and 2 * progress.done >= progress.total:
                victim.kill()

        answer = job(place.address, kill_halfway)
        assert victim.wait() != 0
        return {"killed": True, "same": answer == alone}


def _costs(number: int, two: Cluster) -> Iterator[dict[str, Any]]:
    """Yield the cost of a unit that does nothing, in this process, in two processes and on two Dask workers."""
    rows = np.arange(1e6)
    units = [Unit(str(i), _nothing, (rows,)) for i in range(EMPTY_UNITS)]
    for name, where in (("this process", 1), ("two processes", 2), ("two Dask workers", two.address)):
        with open_workers(where) as there:
            list(there.completed(units[:16], Cancellation()))
            start = time.perf_counter()
            assert len(list(there.completed(units, Cancellation()))) == EMPTY_UNITS
            milliseconds = (time.perf_counter() - start) / EMPTY_UNITS * 1000
        load = round(os.getloadavg()[0], 1)
        yield {
            "case": f"a unit in {name}",
            "round": number,
            "milliseconds": round(milliseconds, 3),
            "load": load,
        }


def _nothing(_rows: NDArray[np.float64]) -> None:
    return None
