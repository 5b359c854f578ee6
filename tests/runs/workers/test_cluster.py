"""Workers of a Dask cluster."""

import functools
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from distributed import Client
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.evolved_table import evolve_table
from shortlist.ensembles.pools import fitting
from shortlist.ensembles.pruned_table import prune_table
from shortlist.errors import BadInputError, WorkerError
from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.recall import recall
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.panels.choice import choose_panels
from shortlist.panels.panel_options import PanelOptions
from shortlist.runs import Budget, Cancellation, Progress, Unit, Work, run_units
from shortlist.runs.cluster import check_workers, compared_versions, refusal
from shortlist.runs.units import open_workers
from tests.panels.test_choice import label_log
from tests.runs.workers import made

ROOT = Path(__file__).parents[3]
SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"
WORKER = "from distributed.cli.dask_worker import main; main()"
WAIT_S = 120
"""Most that starting a process may take on a busy machine; nothing waits for it to pass."""


@contextmanager
def running(program: str, *arguments: str, until: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a process, and yield it with the first line that says `until`."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, text=True, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )  # fmt: skip
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if until in line:
                break
        else:
            pytest.fail("the process ended before it was ready")
        yield process, line
    finally:
        process.kill()
        process.wait(WAIT_S)
        if process.stderr is not None:
            process.stderr.close()


@contextmanager
def scheduler() -> Iterator[tuple[subprocess.Popen[str], str]]:
    own = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    with running(SCHEDULER, *own, until="Scheduler at:") as (process, line):
        yield process, line.split("Scheduler at:")[1].strip()


def worker(address: str, folder: Path, *, before: str = "", nanny: bool = False) -> ExitStack:
    """Start a worker and let it connect."""
    own = ["--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
    stack = ExitStack()
    stack.enter_context(
        running(before + WORKER, address, *own, *([] if nanny else ["--no-nanny"]), until="Registered to:")
    )
    return stack


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with scheduler() as (_, at), ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(worker(at, tmp_path_factory.mktemp("worker")))
        with Client(at, set_as_default=False) as client:  # type: ignore[no-untyped-call]  # Dask
            client.wait_for_workers(2, timeout=WAIT_S)
        yield at


@pytest.mark.slow
def test_results_are_the_same_wherever_units_run(address: str) -> None:
    units = made.totals()
    here = list(run_units(units, Work(1)))
    assert list(run_units(units, Work(2))) == here
    assert list(run_units(units, Work(address))) == here


@pytest.mark.slow
def test_an_array_is_sent_once_to_each_worker(address: str) -> None:
    units = [Unit(str(i), made.place_in_memory, (made.ROWS, i)) for i in range(8)]
    with open_workers(address) as workers:
        assert workers.n_workers == 2
        places = {one.result for one in workers.completed(units, Cancellation())}
    assert len(places) == len({process for process, _ in places}) <= 2


@pytest.mark.slow
def test_an_error_is_raised_in_its_turn_with_the_key_of_its_unit(address: str) -> None:
    results = run_units([*made.totals(2), Unit("bad", made.fail, ("no such thing",))], Work(address))
    assert [key for key, _ in (next(results), next(results))] == ["total 0", "total 1"]
    with pytest.raises(ValueError, match="no such thing") as raised:
        next(results)
    assert raised.value.__notes__ == ["in unit bad"]


@pytest.mark.slow
def test_what_a_dead_worker_had_is_run_elsewhere(tmp_path: Path) -> None:
    units = [*made.totals(4), Unit("frail", made.die_once, (tmp_path / "died",)), *made.totals(8)[4:]]
    with scheduler() as (_, at), worker(at, tmp_path / "a"), worker(at, tmp_path / "b"):
        found = dict(run_units(units, Work(at)))
    assert found.pop("frail") == "alive"
    assert found == dict(run_units(made.totals(8)))


@pytest.mark.slow
@pytest.mark.parametrize("subclassifier", [None, DecisionTreeClassifier(max_depth=2, random_state=0)])
def test_stages_and_recall_are_those_of_this_process(address: str, subclassifier: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    here, there = (
        MultiStageClassifier(
            max_stages=2, method="enumerate", subclassifier=subclassifier, random_state=0, n_jobs=where
        ).fit(X[:, :5], y)
        for where in (None, address)
    )
    assert there.front_.values.tolist() == here.front_.values.tolist()
    assert there.front_.decisions.tolist() == here.front_.decisions.tolist()
    assert there.result_.n_tied.tolist() == here.result_.n_tied.tolist()
    options = EmscoOptions(population=20, generations=5, patience=None)
    found = [
        recall(one.result_, options, seeds=(3, 4), workers=at) for one, at in ((here, 1), (there, address))
    ]
    assert found[0].points.tolist() == found[1].points.tolist()
    assert found[0].assignments.tolist() == found[1].assignments.tolist()


@pytest.mark.slow
def test_a_panel_is_the_same_though_a_worker_is_killed_half_way(tmp_path: Path) -> None:
    log, options = label_log(4, 150), PanelOptions(test_share=None)
    here = choose_panels(log, options)
    with scheduler() as (_, at), worker(at, tmp_path / "a") as frail, worker(at, tmp_path / "b"):
        seen = list[float]()

        def kill_one(progress: Progress) -> None:
            seen.append(progress.done)
            if progress.done >= 2:
                frail.close()

        there = choose_panels(log, options, budget=Budget(report=kill_one), workers=at)
    assert seen[-1] == 6
    assert there.front.values.tolist() == here.front.values.tolist()
    assert [one.recipe for one in there.found] == [one.recipe for one in here.found]
    assert [len(part.found) for part in there.parts] == [len(part.found) for part in here.parts]


@pytest.mark.slow
def test_a_pool_in_folds_is_the_same_though_a_worker_is_killed_half_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "fit_all", functools.partial(fitting.fit_all, long_s=0.0))
    X, y = load_breast_cancer(return_X_y=True)
    here = prune_table(X, y, ExactPruner(max_size=3), n_classifiers=24)
    with scheduler() as (_, at), worker(at, tmp_path / "a") as frail, worker(at, tmp_path / "b"):
        seen = list[str]()

        def kill_one(progress: Progress) -> None:
            seen.append(progress.stage)
            if progress.stage == "fitting fold 2 of 5" and progress.done >= 12:
                frail.close()

        there = prune_table(X, y, ExactPruner(max_size=3), n_classifiers=24, work=Work(at, report=kill_one))
    assert "fitting fold 5 of 5" in seen
    assert here.chosen is not None
    assert there.chosen is not None
    assert there.chosen.names == here.chosen.names
    assert there.chosen.copies.tolist() == here.chosen.copies.tolist()
    assert there.test["pruned"].right.tolist() == here.test["pruned"].right.tolist()
    assert there.test["full"].right.tolist() == here.test["full"].right.tolist()
    assert there.advice == here.advice


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["offline", "online"])
def test_an_evolution_is_measured_alike_though_a_worker_is_killed_half_way(mode: str, tmp_path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    search = EvolutionaryEnsembleClassifier(mode, population_size=20, n_generations=8, random_state=1)
    here = evolve_table(X, y, clone(search))
    with scheduler() as (_, at), worker(at, tmp_path / "a") as frail, worker(at, tmp_path / "b"):
        done = list[float]()

        def kill_one(progress: Progress) -> None:
            if progress.stage == "evolving again":
                done.append(progress.done)
                if progress.done >= 4:
                    frail.close()

        there = evolve_table(X, y, clone(search), work=Work(at, report=kill_one), long_s=0.0)
    assert done[-1] == 10
    assert there.test["evolved"].right.tolist() == here.test["evolved"].right.tolist()
    assert there.test["best_single"].right.tolist() == here.test["best_single"].right.tolist()
    assert there.advice == here.advice
    assert (there.saved.members_ == here.saved.members_).all()


@pytest.mark.slow
def test_a_scheduler_that_is_lost_is_told(tmp_path: Path) -> None:
    with scheduler() as (process, at), worker(at, tmp_path), open_workers(at) as workers:
        found = workers.completed(made.totals(500), Cancellation())
        next(found)
        process.kill()
        with pytest.raises(WorkerError, match=f"the scheduler at {at} was lost during the run"):
            list(found)


@pytest.mark.slow
def test_a_worker_of_another_version_is_refused_by_name(tmp_path: Path) -> None:
    other = "import shortlist; shortlist.__version__ = '0.0.9'; "
    with (
        scheduler() as (_, at), worker(at, tmp_path, before=other),
        pytest.raises(WorkerError, match=r"worker tcp://127.0.0.1:\d+ has shortlist 0.0.9, this is"),
        open_workers(at),
    ):  # fmt: skip
        pytest.fail("it was taken")


@pytest.mark.slow
def test_a_worker_without_the_package_is_refused_by_name(tmp_path: Path) -> None:
    lacking = "import sys; sys.modules['shortlist'] = None; "
    with (
        scheduler() as (_, at), worker(at, tmp_path, before=lacking),
        pytest.raises(WorkerError, match=r"worker tcp://127.0.0.1:\d+ cannot run this version of Shortlist"),
        open_workers(at),
    ):  # fmt: skip
        pytest.fail("it was taken")


def test_a_scheduler_that_is_not_there_is_named() -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        at = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(WorkerError, match=f"no Dask scheduler answers at {at}"), open_workers(at):
            pytest.fail("it was taken")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        pytest.param(0, "workers must be a number of workers", id="none"),
        pytest.param("localhost", "such as tcp://host:8786, got 'localhost'", id="no scheme"),
        pytest.param("carrier://pigeon:1", "such as tcp://host:8786, got 'carrier", id="no such scheme"),
        pytest.param("http://host:80", "such as tcp://host:8786, got 'http", id="a page"),
        pytest.param("tcp://127.0.0.1", "such as tcp://host:8786, got 'tcp", id="no port"),
        pytest.param("tcp://127.0.0.1:8786x", "such as tcp://host:8786, got 'tcp", id="no number of a port"),
        pytest.param(-2, "workers must be a number of workers, -1 for every core", id="below -1"),
    ],
)
def test_what_is_no_place_for_work_is_refused(where: int | str, message: str) -> None:
    with pytest.raises(BadInputError, match=message), open_workers(where):
        pytest.fail("it was taken")


def test_what_a_worker_raises_when_it_is_asked_is_told() -> None:
    with pytest.raises(WorkerError, match="worker tcp://a:1 cannot run this version of Shortlist: no module"):
        check_workers({"tcp://a:1": ModuleNotFoundError("no module")}, {})
    with pytest.raises(WorkerError, match="worker tcp://a:1 cannot be used: out of order"):
        check_workers({"tcp://a:1": RuntimeError("out of order")}, {})


def test_every_version_that_differs_is_named() -> None:
    ours = compared_versions()
    assert {"shortlist", "python", "numpy", "pandas", "scikit-learn"} <= set(ours)
    assert refusal("w", ours, ours) == ""
    told = refusal("worker a", ours | {"numpy": "1.0", "python": "2.7.1"}, ours)
    assert told.startswith(f"worker a has python 2.7.1, this is {ours['python']}, numpy 1.0, this is")
    assert "scipy none, this is" in refusal("w", {n: v for n, v in ours.items() if n != "scipy"}, ours)
