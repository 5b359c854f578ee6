"""Walks that a study keeps: stopped as often as one likes, they end in the front of an undisturbed walk."""

import itertools
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.multistage.search.enumeration import EnumerationResult, enumerate_front
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.results.proof import ProofKind
from shortlist.runs import Cancellation, Study, open_study
from shortlist.runs.budget import Budget
from shortlist.runs.progress import Progress
from shortlist.runs.studies import study as study_module
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of


def stopped_after(n_events: int, problem: StageProblem, study: Study, **how: Any) -> EnumerationResult:
    """Walk until so many progress events have come."""
    cancellation, events = Cancellation(), itertools.count(1)

    def report(_: Progress) -> None:
        if next(events) == n_events:
            cancellation.cancel()

    return enumerate_front(
        problem, budget=Budget(report=report, cancellation=cancellation, study=study), **how
    )


def answer(result: EnumerationResult) -> list[Any]:
    return [result.assignments.tolist(), result.measures.tolist(), result.n_tied.tolist()]


@pytest.mark.parametrize(("table_rows", "workers"), [(2000, 1), (2000, 2), (0, 1), (0, 2)])
@settings(max_examples=15)
@given(known=facts(), k=st.integers(1, 4), every=st.integers(2, 9))
def test_a_walk_that_is_stopped_again_and_again_ends_in_the_same_front(
    table_rows: int, workers: int, known: oracles.Facts, k: int, every: int
) -> None:
    problem = problem_of(known, min(k, known.n_features))
    whole = enumerate_front(problem, table_rows=table_rows)
    with tempfile.TemporaryDirectory() as folder, open_study(Path(folder, "s.db")) as study:
        for _ in range(200):
            result = stopped_after(every, problem, study, table_rows=table_rows, workers=workers)
            if result.proof.kind is ProofKind.COMPLETE:
                break
    assert (
        answer(result) == answer(whole) == answer(enumerate_front(problem, workers=2, table_rows=table_rows))
    )
    if workers == 1:
        assert result.n_looked == whole.n_looked


def test_states_of_threads_whose_tasks_others_did_since_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_module, "KEEP_EVERY_S", 0.0)
    monkeypatch.setattr(study_module, "KEEP_SHARE", 1.0)
    everyone = {
        frozenset(i for i in range(3) if m >> i & 1): ((m > 3, m > 3), (m & 1 == 1, False))
        for m in range(1, 8)
    }
    problem = problem_of(oracles.Facts(3, (0, 1), everyone, (1, 2, 3)), 2)
    with open_study(tmp_path / "s.db") as study:
        part = study.part("at most 2 stages")
        stopped_after(4, problem, study)
        first = part.kept("walker 0")
        part.keep("walker 1", lambda: first, now=True)  # as if a second thread had done the same tasks
        assert answer(enumerate_front(problem, budget=Budget(study=study))) == answer(
            enumerate_front(problem)
        )
        assert list(part.results()) == ["walk"]
        assert (part.kept("walker 0"), part.kept("walker 1")) == (None, first)
