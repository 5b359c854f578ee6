"""Exact searches that are stopped and go on with the answers in a study."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.methods.integer.bound_sweep import cwmoip, epsilon_constraint
from shortlist.methods.integer.bounded_solves import BoundedSolves
from shortlist.methods.integer.relaxed_zones import RelaxedZones
from shortlist.methods.integer.search_zones import search_zones
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import ProofKind
from shortlist.runs import NO_STUDY, Finished, Study, open_study
from shortlist.runs.budget import Budget
from shortlist.runs.study import KeepSettings
from tests.methods import oracles


def knapsack(n_objectives: int, n_columns: int = 9) -> Program:
    """Return a program of which every subset up to half of the weight counts."""
    rng = np.random.default_rng(n_objectives)
    weights = rng.integers(1, 20, n_columns)
    return make_program(
        [weights.tolist()], row_lower=0, row_upper=int(weights.sum()) // 2, column_lower=0, column_upper=1,
        integer=True,
        objectives=[
            LinearObjective(Objective(f"value {j}", Sense.MAX), rng.integers(-20, 21, n_columns).astype(float))
            for j in range(n_objectives)
        ],
    )  # fmt: skip


def called(method: Callable[..., Front], program: Program, study: Study, **options: Any) -> Front:
    return method(program, budget=Budget(study=study), **options)


SEARCHES: dict[str, tuple[Callable[..., Front], int, dict[str, Any]]] = {
    "two phases": (search_zones, 2, {}),
    "zones by parts": (search_zones, 3, {"engine": "zones by parts"}),
    "whole programs": (search_zones, 3, {"engine": "whole programs"}),
    "CP-SAT": (search_zones, 3, {"solver": "cpsat"}),
    "CWMOIP": (cwmoip, 3, {}),
    "ε-constraint": (epsilon_constraint, 2, {}),
}

SEARCHED = {"zones by parts", "CWMOIP"}
"""Methods with programs enough here to search in integers after the first ones."""


@pytest.fixture
def no_solver(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("asked a solver")

    def forbid() -> None:
        monkeypatch.setattr(BoundedSolves, "_limited", refuse)
        monkeypatch.setattr(RelaxedZones, "best_within", refuse)

    return forbid


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_was_stopped_goes_on_to_the_answer_of_an_undisturbed_one(
    name: str,
    tmp_path: Path,
    no_solver: Callable[[], None],
) -> None:
    method, n_objectives, options = SEARCHES[name]
    program = knapsack(n_objectives)
    with open_study(tmp_path / "whole.db") as study:
        undisturbed = called(method, program, study, **options)
    assert oracles.as_set(undisturbed) == oracles.front(program)
    assert ("n_searched" in undisturbed.extras) == (name in SEARCHED)

    for limit in (2, undisturbed.extras["n_programs"] // 2 + 1):
        with open_study(tmp_path / "s.db") as study:
            stopped = called(method, program, study, max_solves=limit, **options)
        assert stopped.proof.limit == f"{limit} solves"
    with open_study(tmp_path / "s.db") as study:
        before = study.results()
        assert before
        resumed = called(method, program, study, **options)
        assert before.items() <= study.results().items()
        assert study.n_finished > len(before)
    assert resumed.proof.kind is ProofKind.COMPLETE
    assert resumed.values.tolist() == undisturbed.values.tolist()
    assert resumed.decisions.tolist() == undisturbed.decisions.tolist()
    assert resumed.extras == undisturbed.extras

    no_solver()
    with open_study(tmp_path / "s.db") as study:
        again = called(method, program, study, **options)
    assert again.values.tolist() == undisturbed.values.tolist()
    assert again.extras == undisturbed.extras


def test_a_study_changes_no_point_and_is_written_in_few_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, written = knapsack(3), []
    record = Study.record

    def noted(self: Study, *units: Finished) -> Any:
        written.append(len(units))
        return record(self, *units)

    monkeypatch.setattr(Study, "record", noted)
    with open_study(tmp_path / "s.db", keeping=KeepSettings(every_s=np.inf)) as study:
        kept = called(search_zones, program, study)
        assert written == [study.n_finished]
    assert kept.values.tolist() == called(search_zones, program, NO_STUDY).values.tolist()


def test_another_program_or_seed_is_refused_in_a_sentence(tmp_path: Path) -> None:
    program = knapsack(2)
    with open_study(tmp_path / "s.db") as study:
        called(search_zones, program, study)
        for other, asked in (
            (dataclasses.replace(program, row_upper=program.row_upper - 1), "the program was "),
            (knapsack(3), "the program was "),
        ):
            with pytest.raises(BadInputError, match=f"belongs to another question: {asked}"):
                called(search_zones, other, study)
        with pytest.raises(BadInputError, match="seed was 0 there and is 1 now"):
            search_zones(program, budget=Budget(study=study, seed=1))
        with pytest.raises(BadInputError, match="the search was search zones there and is CWMOIP now"):
            called(cwmoip, program, study)


@pytest.mark.parametrize(
    "answer",
    ["no list", [1, 0, True], [1, 0, True, [9, "ff80"]], [1, 0, True, [8, "ff"]], [1, 0, True, [0.5] * 9]],
)
def test_an_answer_that_is_none_of_the_program_is_refused(answer: Any, tmp_path: Path) -> None:
    program, path = knapsack(3), tmp_path / "s.db"
    with open_study(path) as study:
        called(search_zones, program, study)
        known = study.results()
    path.unlink()
    with open_study(path) as study:
        study.record(*[Finished(key, answer) for key in known])
        with pytest.raises(BadFileError, match="holds a solution that the program does not have"):
            called(search_zones, program, study)


def test_continuous_columns_are_kept(tmp_path: Path) -> None:
    program = make_program(
        [[2, 3, 1.5], [1, 1, -1]], row_lower=[-np.inf, 0], row_upper=[4.25, 2], column_lower=0,
        column_upper=2, integer=[True, True, False],
        objectives=[
            LinearObjective(Objective("value", Sense.MAX), np.array([1.0, 2.0, 0.0])),
            LinearObjective(Objective("cost"), np.array([2.0, 3.0, 0.0])),
        ],
    )  # fmt: skip
    with open_study(tmp_path / "s.db") as study:
        first, again = (called(search_zones, program, study) for _ in range(2))
    assert first.values.tolist() == again.values.tolist() == search_zones(program).values.tolist()
