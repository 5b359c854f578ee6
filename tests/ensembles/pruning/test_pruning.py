import dataclasses
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.proofs.conflicts import find_conflicts
from shortlist.ensembles.proofs.pruning_program import tight_program
from shortlist.ensembles.proofs.row_forms import normalise
from shortlist.ensembles.pruning import engines
from shortlist.ensembles.pruning import vote_steps as proving
from shortlist.ensembles.pruning.engines import EngineSettings
from shortlist.ensembles.pruning.mean_problem import few_members
from shortlist.ensembles.pruning.mean_pruning import prune_soft
from shortlist.ensembles.pruning.problems import ThresholdProblem
from shortlist.ensembles.pruning.pruning import (
    parse_objective,
    prune_exactly,
    prune_for,
)
from shortlist.ensembles.pruning.vote_steps import conflict_cuts, prove
from shortlist.ensembles.verification.recheck_vote_certificate import check_certificate
from shortlist.ensembles.votes.hard_votes import merge_rows
from shortlist.ensembles.votes.soft_votes import soft_votes
from shortlist.errors import BadInputError
from shortlist.milp import open_solver
from shortlist.milp.backends.cpsat import CpSat
from shortlist.results.proof import ProofKind, Status
from shortlist.runs import Cancellation, Progress, open_study
from shortlist.runs.budget import Budget
from shortlist.runs.study_file import summary
from tests.ensembles import oracles
from tests.ensembles.strategies import hard_votes


def test_auto_is_accuracy() -> None:
    votes = hard_votes(60, 8)
    first, second = (
        prune_for(votes, name, selection_limits(8), Budget(nodes=5)) for name in ("auto", "accuracy")
    )

    assert first.objective.name == "accuracy"
    assert (first.mask == second.mask).all()


def test_without_a_feasible_selection_every_objective_says_so() -> None:
    votes = hard_votes(30, 4)
    for objective in ("accuracy", "auto"):
        result = prune_for(votes, objective, selection_limits(4, min_size=4, max_size=2))
        assert result.status is Status.INFEASIBLE
        assert "at least 4 members must vote" in result.reason
        assert not result.mask.any()


@pytest.mark.parametrize(
    "objective", ["acuracy", "accuracy+margin", "accuracy+slope-4", "accuracy+auto", "margin"]
)
def test_unknown_objectives_are_refused(objective: str) -> None:
    with pytest.raises(BadInputError, match="objective must"):
        parse_objective(objective)


def test_weights_stay_as_they_are() -> None:
    assert parse_objective({"tp": 1, "fp": -2}) == {"tp": 1, "fp": -2}
    result = prune_for(hard_votes(30, 4), {"tp": 1, "fp": -2}, selection_limits(4))
    assert result.status is Status.OPTIMAL


def only(*names: str) -> EngineSettings:
    """Return settings with the turns of some engines alone."""
    return EngineSettings(turns=tuple(turn for turn in engines.VOTES if turn.engine in names))


@pytest.mark.slow
def test_the_history_gets_better_and_ends_with_the_answer() -> None:
    votes = hard_votes(60, 18)
    result = prune_exactly(votes, named_weights("accuracy", votes), selection_limits(18))

    seconds, values, bounds = zip(*result.history, strict=True)
    assert list(seconds) == sorted(seconds)
    known = [value for value in values if value is not None]
    assert known == sorted(known)
    assert list(bounds) == sorted(bounds, reverse=True)
    assert (values[-1], bounds[-1]) == (result.value, result.bound)
    assert len(result.history) > 2


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_time_limit_ends_the_steps_and_is_said() -> None:
    votes, clock = hard_votes(60, 12), Clock()
    problem = ThresholdProblem(votes, named_weights("accuracy", votes), selection_limits(12))

    def stop_the_clock(event: Progress) -> None:
        if event.stage == "searching":
            clock.now = 61.0

    budget = Budget(60, report=stop_the_clock, clock=clock)
    result = prove(problem, budget, settings=EngineSettings(few_selections=0))

    assert result.status is Status.FEASIBLE
    assert result.proof.limit == "60 s"
    assert result.value < result.bound <= 1


def test_a_cancellation_keeps_the_best_with_its_bound() -> None:
    votes = hard_votes(400, 60)
    cancellation = Cancellation()

    def stop_while_proving(event: Progress) -> None:
        if event.stage == "proving":
            cancellation.cancel()

    result = prune_exactly(votes, named_weights("accuracy", votes), selection_limits(60), Budget(6_000, report=stop_while_proving, cancellation=cancellation))  # fmt: skip

    assert result.proof.limit == "interrupted"
    assert result.proof.kind is ProofKind.APPROXIMATE
    assert result.confusion.accuracy == pytest.approx(result.value)
    assert result.value < result.bound


@pytest.mark.slow
def test_under_limits_in_nodes_the_same_seed_gives_the_same_answer() -> None:
    votes = hard_votes(60, 20)
    first, second = (
        prune_exactly(
            votes,
            named_weights("accuracy", votes),
            selection_limits(30),
            Budget(nodes=20, seed=3, threads=threads),
        )
        for threads in (1, 2)
    )

    assert (first.mask == second.mask).all()
    assert (first.value, first.bound, first.threshold) == (second.value, second.bound, second.threshold)


@pytest.mark.parametrize("objective", ["accuracy", "balanced-accuracy", {"tp": 1, "fp": -2}])
def test_the_certificate_proves_a_bound_that_the_claim_does_not_exceed(objective: Any) -> None:
    votes = hard_votes()
    weights = named_weights(objective, votes)
    result = prune_exactly(votes, weights, selection_limits(40), Budget(0.8))

    assert result.certificate is not None
    samples = np.repeat(votes.votes, votes.counts, axis=0), np.repeat(votes.labels, votes.counts)
    verdict = check_certificate(result.certificate, *samples)

    assert verdict.valid, verdict.failures
    assert verdict.value is not None
    assert verdict.bound is not None
    assert weights.value(verdict.value) == result.value
    assert result.bound <= weights.value(verdict.bound) < math.inf


def test_cuts_are_rows_of_the_program_that_no_selection_breaks() -> None:
    votes = merge_rows(*oracles.as_arrays([((1, 0), 1), ((1, 1), 0), ((0, 1), 1), ((0, 0), 0)]))
    rows = normalise(votes, named_weights("accuracy", votes), selection_limits(2))
    plain = tight_program(rows, [])
    cut = tight_program(rows, conflict_cuts(rows, find_conflicts(rows, Budget()), 10))

    assert cut.program.n_rows > plain.program.n_rows
    for name in ("highs", "cpsat"):
        solutions = [open_solver(name).open(built.program).solve() for built in (plain, cut)]
        assert solutions[0].objective == solutions[1].objective


def test_few_selections_are_walked_first_and_written_down_as_the_proof() -> None:
    votes = hard_votes(80, 8)
    weights = named_weights("accuracy", votes)

    result = prune_exactly(votes, weights, selection_limits(8))

    assert result.status is Status.OPTIMAL
    assert result.proved_by == engines.WALK
    assert result.certificate is not None
    assert result.certificate["selections"] == 2**8 - 1
    assert result.certified_bound == result.value


def test_the_engine_names_the_step_that_proves_and_never_itself() -> None:
    votes = hard_votes(40, 18)
    weights = named_weights("accuracy", votes)
    names = {
        prove(
            ThresholdProblem(votes, weights, selection_limits(18)),
            Budget(nodes=2000),
            settings=EngineSettings(few_selections=0, walk_nodes=nodes, cut_rounds=rounds),
        ).proved_by
        for nodes, rounds in ((10**7, 1), (0, 1), (0, 60))
    } | {prune_exactly(votes, weights, selection_limits(18)).proved_by}

    assert names <= {engines.CUTS, engines.PAIRS, engines.WALK, engines.CP_SAT}


def test_a_named_solver_stays_alone() -> None:
    votes = hard_votes(40, 8)
    result = prune_exactly(votes, named_weights("accuracy", votes), selection_limits(8), solver="highs")

    assert result.status is Status.OPTIMAL
    assert result.certificate is None
    assert result.value == prune_exactly(votes, named_weights("accuracy", votes), selection_limits(8)).value


@pytest.mark.parametrize("cells", [0, 10**9])
def test_limits_that_the_cuts_leave_out_are_the_solvers_at_any_size(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    open_session = CpSat.open

    def counted(*args: Any, **options: Any) -> Any:
        opened.append(1)
        return open_session(*args, **options)

    monkeypatch.setattr(CpSat, "open", counted)
    settings = EngineSettings(far_cells=cells, walk_nodes=0)
    votes = hard_votes(60, 8)
    weights, clock = named_weights("accuracy", votes), Clock()
    limits = selection_limits(8, min_size=2, diversity=diversity_limits({"each": 0.0, "mean": 0.99}, votes))
    nothing = prove(ThresholdProblem(votes, weights, limits), Budget(20, clock=clock), settings=settings)

    assert nothing.status is Status.INFEASIBLE
    assert nothing.proof.limit == ""
    assert len(opened) == 1  # the first proof that there is nothing ends the run

    # only two may join: cuts know sizes and not this budget, so the gap stays large until the solver comes
    limits = selection_limits(8, member_costs=[3.0] * 8, max_cost=6.0)
    solved = prove(ThresholdProblem(votes, weights, limits), Budget(20, clock=clock), settings=settings)
    assert solved.status is Status.OPTIMAL


@pytest.mark.parametrize(
    ("cells", "near", "exhausted", "expected"),
    [
        pytest.param(0, 0, False, ["quick cuts", "cuts", "cuts", "solver"], id="far and large"),
        pytest.param(0, 0, True, ["quick cuts", "cuts", "solver"], id="far and large, no more cuts found"),
        pytest.param(10**9, 0, False, ["quick cuts", "cuts", "solver"], id="far and small"),
        pytest.param(
            0, 10**9, False, ["quick cuts", "solver", "cuts", "solver", "cuts", "solver"], id="near and large"
        ),
    ],
)
def test_cuts_and_solver_take_turns_by_size_and_gap(
    monkeypatch: pytest.MonkeyPatch, cells: int, near: int, exhausted: bool, expected: list[str]
) -> None:
    steps: list[str] = []

    def cut(run: proving.VoteSteps, _budget: object, *, quick: bool = False) -> None:
        steps.append("quick cuts" if quick else "cuts")
        assert run.cut_bound is not None
        run.cut_bound = dataclasses.replace(run.cut_bound, exhausted=exhausted)

    monkeypatch.setattr(proving.VoteSteps, "_tighten", cut)
    monkeypatch.setattr(proving.VoteSteps, "_prove_rest", lambda *_: steps.append("solver"))
    votes = hard_votes(160, 30)
    problem = ThresholdProblem(votes, named_weights("accuracy", votes), selection_limits(30))

    prove(
        problem, Budget(2, clock=Clock()), settings=EngineSettings(far_cells=cells, near=near, walk_nodes=0)
    )

    assert steps == expected


def test_under_a_limit_in_nodes_no_share_of_the_time_ends_a_step() -> None:
    votes = hard_votes(80, 40)
    problem = ThresholdProblem(votes, named_weights("accuracy", votes), selection_limits(40))
    no_time = EngineSettings(turns=tuple(dataclasses.replace(turn, share=1e-9) for turn in engines.VOTES))
    usual, hasty = (
        prove(problem, Budget(60, nodes=3), settings=settings) for settings in (EngineSettings(), no_time)
    )

    assert (usual.value, usual.bound, usual.mask.tolist()) == (hasty.value, hasty.bound, hasty.mask.tolist())


def test_who_proves_that_nothing_is_within_the_limits_is_said() -> None:
    votes = hard_votes(60, 8)
    weights = named_weights("accuracy", votes)
    limits = selection_limits(8, min_size=2, diversity=diversity_limits({"each": 0.0, "mean": 0.99}, votes))

    walked = prove(ThresholdProblem(votes, weights, limits), Budget())
    solved = prove(ThresholdProblem(votes, weights, limits), Budget(), settings=EngineSettings(walk_nodes=0))
    named = prune_exactly(votes, weights, limits, solver="highs")

    common = "no selection keeps all the limits together"
    assert [one.status for one in (walked, solved, named)] == [Status.INFEASIBLE] * 3
    assert (walked.reason, solved.reason, named.reason) == (
        common,
        f"{common}, says CP-SAT",
        f"{common}, says HiGHS",
    )


def test_cp_sat_is_not_asked_under_a_limit_of_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(CpSat, "open", refused)
    monkeypatch.setattr(proving.VoteSteps, "_tighten", lambda *_args, **_more: None)
    votes, clock = hard_votes(60, 12), Clock()
    problem = ThresholdProblem(votes, named_weights("accuracy", votes), selection_limits(12))

    result = prove(problem, Budget(0.05, clock=clock), settings=EngineSettings(walk_nodes=0))

    assert result.status is Status.FEASIBLE
    assert result.proof.limit == "0.05 s"


def test_the_best_of_an_earlier_run_counts_only_where_the_clock_ended_this_one(tmp_path: Path) -> None:
    votes = hard_votes(60, 12)
    problem = ThresholdProblem(votes, named_weights("accuracy", votes), selection_limits(12))
    bare = dataclasses.replace(only(engines.CUTS), cut_rounds=0)
    best = prove(problem, Budget())
    ended, few = Budget(0.001, clock=itertools.count().__next__), Budget(nodes=1)
    alone = [prove(problem, budget, settings=bare).value for budget in (ended, few)]
    with open_study(tmp_path / "s.db") as study:
        study.keep("proof", lambda: np.flatnonzero(best.mask).tolist())
        again = [
            prove(problem, dataclasses.replace(budget, study=study), settings=bare).value
            for budget in (ended, few)
        ]
        assert study.kept("proof") is not None
        prove(problem, Budget(study=study))  # to its end, and so nothing is left to go on from
        assert study.kept("proof") is None
    (proof,) = summary(tmp_path / "s.db")["stages"]
    assert (proof["total"], proof["done"], proof["running"]) == (1, 1, 0)
    assert best.value > max(alone)
    assert again == [best.value, alone[1]]


TABLE = np.random.default_rng(0).dirichlet(np.ones(3), (12, 8))
LABELS = [0, 1, 2, 0, 0, 0] * 2


def test_auto_takes_few_members_and_says_so() -> None:
    result, goal, limits = prune_soft(soft_votes(TABLE, LABELS), "auto", selection_limits(8))

    assert (limits.min_size, limits.max_size) == (4, 4)
    assert goal.objective.name == "log-loss"
    assert int(result.mask.sum()) == 4


@pytest.mark.parametrize(
    ("n", "given", "expected"),
    [
        (100, {}, (10, 10)),
        (1000, {}, (100, 100)),
        (30, {}, (5, 5)),
        (3, {}, (2, 2)),
        (100, {"max_size": 4}, (4, 4)),
        (100, {"min_size": 20}, (20, 20)),
        (100, {"min_size": 20, "max_size": 3}, (20, 3)),
        (100, {"member_costs": [1] * 100, "max_cost": 8}, (4, 10)),
        (100, {"member_costs": [1] * 100, "max_cost": 1}, (1, 10)),
        (100, {"member_costs": [1] * 100, "max_cost": 500}, (10, 10)),
        (100, {"member_costs": [1] * 100, "max_cost": 8, "min_size": 6}, (6, 10)),
    ],
)
def test_few_members_are_a_tenth_within_the_limits(
    n: int, given: dict[str, Any], expected: tuple[int, int]
) -> None:
    few = few_members(selection_limits(n, **given), n)

    assert (few.min_size, few.max_size) == expected
