"""Evolution of products that is killed after a number of kept states, and gone on with."""

import dataclasses
import functools
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.runs import NO_STUDY, Budget, Cancellation, Progress, Study, open_study
from shortlist.runs.study import KeepSettings
from shortlist_papers.product_evolution.ibea import Ibea, Ibed
from shortlist_papers.product_evolution.variation import Evolution, evolve

EVERY_STATE = KeepSettings(every_s=0.0, share=np.inf)
"""Keeps the state of every generation, whatever the clock says."""
N = 30
DRAW = np.random.default_rng(1)
CLAUSES = Clauses.from_clauses(
    N, [(DRAW.permutation(N)[:3] + 1) * DRAW.choice([-1, 1], size=3) for _ in range(45)]
)
COSTS = np.vstack([-np.ones(N, dtype=np.int64), DRAW.integers(0, 50, size=N)])
GOALS = [Objective("left out"), Objective("price")]
NAMES = [f"F{i}" for i in range(N)]
FEW = Evolution(n_evaluations=407, population_size=20, mutation=0.02)
REPAIRING = Evolution(n_evaluations=407, population_size=20, mutation=0.02, repair=0.3)
RUNS = {
    "ibea": (Ibea, FEW),
    "satibea": (Ibea, REPAIRING),
    "smtibea": (Ibea, dataclasses.replace(REPAIRING, improve=True)),
    "ibed": (Ibed, FEW),
}


class _KilledError(Exception):
    """Stands for a kill."""


def _run(name: str, study: Study = NO_STUDY, budget: Budget | None = None) -> Front:
    method, settings = RUNS[name]
    own = dataclasses.replace(budget or Budget(seed=3), study=study)
    return evolve(method, CLAUSES, COSTS, GOALS, NAMES, settings=settings, budget=own)


def _killed_after(n_states: int, go_on: Callable[[], Front]) -> None:
    keep, calls = Study.keep, itertools.count(1)

    def counted(self: Study, *arguments: object, **named: object) -> None:
        keep(self, *arguments, **named)  # type: ignore[arg-type]  # as they came
        if next(calls) == n_states:
            raise _KilledError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Study, "keep", counted)
        with pytest.raises(_KilledError):
            go_on()


def _same(one: Front, other: Front) -> bool:
    arrays = zip((one.points, one.decisions), (other.points, other.decisions), strict=True)
    return all(np.array_equal(*pair) for pair in arrays) and one.extras == other.extras


@pytest.mark.parametrize("name", RUNS)
def test_a_killed_run_ends_like_one_that_nobody_disturbed(name: str, tmp_path: Path) -> None:
    whole = _run(name)
    assert len(whole) > 1
    n_states = 10 if name == "ibed" else 20  # the first population takes the place of one generation
    for kills in ([1], [n_states // 2], [n_states], [2, 1, 4]):
        with open_study(tmp_path / f"{kills}.db", keeping=EVERY_STATE) as study:
            for n_kept in kills:
                _killed_after(n_kept, functools.partial(_run, name, study))
                assert study.kept("generations") is not None
            assert _same(_run(name, study), whole)
            assert (study.n_finished, study.kept("generations")) == (1, None)
            assert _same(_run(name, study), whole)  # from the state of its end


def test_what_repairs_have_taught_the_solver_is_there_again(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db", keeping=EVERY_STATE) as study:
        _killed_after(10, lambda: _run("satibea", study))
        state = study.kept("generations")
        front = _run("satibea", study)
    with open_study(tmp_path / "t.db", keeping=EVERY_STATE) as study:
        _killed_after(10, lambda: _run("satibea", study))
        assert study.kept("generations") == state  # nothing in it depends on the clock
    assert _same(front, _run("satibea"))


@pytest.mark.parametrize("name", RUNS)
def test_an_interrupted_run_keeps_its_last_state(name: str, tmp_path: Path) -> None:
    stop = Cancellation()

    def report(event: Progress) -> None:
        if event.done >= 200:
            stop.cancel()

    with open_study(tmp_path / "s.db", keeping=KeepSettings(every_s=1e9)) as study:
        part = _run(name, study, Budget(seed=3, report=report, cancellation=stop))
        assert (part.proof.limit, study.n_finished) == ("interrupted", 0)
        events = list[Progress]()
        whole = _run(name, study, Budget(seed=3, report=events.append))
        assert events[0].done == part.extras["n_evaluations"] >= 200
    assert _same(whole, _run(name))


def test_another_run_is_refused(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db", keeping=EVERY_STATE) as study:
        _run("ibea", study)
        with pytest.raises(BadInputError, match="seed was 3 there and is 4 now"):
            _run("ibea", study, Budget(seed=4))
        with pytest.raises(BadInputError, match="method was ibea there and is ibed now"):
            _run("ibed", study)
        with pytest.raises(BadInputError, match="the question was"):
            evolve(Ibea, CLAUSES, COSTS * 2, GOALS, NAMES, settings=FEW, budget=Budget(seed=3, study=study))
