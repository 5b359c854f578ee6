"""Exact pruning against brute force, for every solver."""

import dataclasses
import functools
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import (
    ClassWeights,
    Weights,
    best_threshold,
    named_weights,
    weights_of,
)
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.ensembles.pruning import engines
from shortlist.ensembles.pruning.engines import EngineSettings, Turn
from shortlist.ensembles.pruning.problems import PruningProblem, problem_of
from shortlist.ensembles.pruning.pruning import evidence_of, prune_exactly
from shortlist.ensembles.pruning.vote_steps import prove
from shortlist.ensembles.verification.recheck_vote_certificate import CertificateVerdict, check_certificate
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes, class_votes, merge_class_rows, merge_rows
from shortlist.errors import SolverError
from shortlist.milp import Limits, Program, Session, Solution, open_solver
from shortlist.milp.solution import OnBound
from shortlist.results.proof import ProofKind, Status
from shortlist.runs import Cancellation, Progress
from shortlist.runs.budget import Budget
from tests.ensembles import bound_oracles, oracles, rule_oracles, strategies
from tests.ensembles.plurality_oracles import Pool
from tests.ensembles.strategies import class_questions, hard_votes, problems
from tests.examples import examples
from tests.milp.oracles import installed_solvers

SOLVERS = list(installed_solvers())

EXAMPLES = examples(40)


@EXAMPLES
@given(rows=strategies.labelled_votes(), seed=st.integers(0, 99))
def test_permuting_classifiers_keeps_the_value(rows: oracles.Rows, seed: int) -> None:
    votes, labels = oracles.as_arrays(rows)
    order = np.random.default_rng(seed).permutation(votes.shape[1])
    values = []
    for matrix in (votes, votes[:, order]):
        merged = merge_rows(matrix, labels)
        values.append(
            prune_exactly(merged, named_weights("accuracy", merged), selection_limits(len(order))).value
        )
    assert values[0] == values[1]


class _Liar:
    """A solver that answers what it is told to on the first program, and honestly on further ones."""

    name = "liar"
    handles_continuous = True
    tolerance = 0.0

    def __init__(self, answer: Solution, times: float = math.inf) -> None:
        self.answer, self.times, self.asked = answer, times, list[int]()

    def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> Session:
        self.asked.append(program.n_rows)
        if len(self.asked) > self.times:
            return open_solver("highs").open(program, seed=seed, threads=threads)
        return _Lie(self.answer, program)


class _Lie:
    def __init__(self, answer: Solution, program: Program) -> None:
        self.answer, self.program = answer, program

    def set_costs(self, costs: ArrayLike) -> None: ...
    def set_column_bounds(self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None: ...
    def set_row_bounds(self, rows: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None: ...
    def set_cutoff(self, cutoff: float | None) -> None: ...
    def set_start(self, values: ArrayLike | None) -> None: ...
    def solve(
        self,
        limits: Limits = Limits(),  # noqa: B008, ARG002  # the protocol
        *,
        on_bound: OnBound | None = None,  # noqa: ARG002  # the protocol
        cancellation: Cancellation | None = None,  # noqa: ARG002  # the protocol
    ) -> Solution:
        values = self.answer.values
        padded = None if values is None else np.resize(values, self.program.n_columns)
        return dataclasses.replace(self.answer, values=padded)


def _told(objective: float, bound: float, members: list[int]) -> Solution:
    return Solution(Status.OPTIMAL, np.array([*members, *[1] * 5], float), objective, bound, 0.0)


def _nothing(limit: str = "") -> Solution:
    status = Status.UNKNOWN if limit else Status.INFEASIBLE
    return Solution(status, None, math.nan, -3.4 if limit else math.inf, 0.0, limit=limit)


TWO = merge_rows([[1, 0], [0, 1], [1, 1], [0, 0]], [1, 1, 0, 0])
SEVERAL = merge_class_rows(class_votes([[1, 0, 2], [2, 1, 2], [0, 2, 1], [0, 0, 2]], [1, 1, 2, 0]))


def _ask(votes: Any, liar: _Liar, **limits: Any) -> Any:
    weights = weights_of("accuracy", votes)
    return prune_exactly(votes, weights, selection_limits(votes.n_classifiers, **limits), solver=liar)


@pytest.mark.parametrize("votes", [TWO, SEVERAL], ids=["two classes", "several"])
def test_what_the_votes_do_not_bear_out_is_not_believed(votes: Any) -> None:
    result = _ask(votes, _Liar(_told(-4.0, -4.0, [1, 1])))
    assert result.value == 0.75  # counted from the votes: no selection reaches 1
    assert result.status is Status.FEASIBLE
    assert result.bound == 1.0
    with pytest.raises(SolverError, match="is below the value"):
        _ask(votes, _Liar(_told(-1.0, 0.0, [1, 1])))
    with pytest.raises(SolverError, match="infeasible"):
        _ask(votes, _Liar(_nothing()))


@pytest.mark.parametrize("votes", [TWO, SEVERAL], ids=["two classes", "several"])
def test_a_selection_that_breaks_a_limit_is_not_believed(votes: Any) -> None:
    liar = _Liar(Solution(Status.OPTIMAL, np.ones(8), -4.0, -4.0, 0.0), times=1)
    result = _ask(votes, liar, max_size=1)

    assert liar.asked[1] == liar.asked[0] + 1  # the broken selection is cut off and the program solved again
    assert result.mask.sum() == 1
    assert result.value == result.bound == {TWO: 0.5, SEVERAL: 0.75}[votes]


def test_a_limit_too_short_for_any_selection_is_unknown_with_a_bound() -> None:
    votes = merge_rows([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]], [1, 1, 0, 0])

    budget = Budget(0.01, clock=lambda: 0.0)  # what a slow machine does not reach is not tested here
    result = prune_exactly(votes, named_weights("accuracy", votes), selection_limits(3, min_size=2, max_size=2), budget, solver=_Liar(_nothing("seconds")))  # fmt: skip

    assert result.status is Status.UNKNOWN
    assert result.reason == "no selection was found before the limit (0.01 s)"
    assert result.bound == 0.75
    assert not result.mask.any()


@pytest.mark.parametrize("solver", [*SOLVERS, "auto"])
def test_a_short_limit_lowers_the_claim_and_not_the_truth(solver: str) -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 400)
    matrix = (rng.random((400, 40)) < np.where(labels == 1, 0.6, 0.4)[:, None]).astype(np.uint8)
    votes = merge_rows(matrix, labels)
    weights = named_weights("balanced-accuracy", votes)

    result = prune_exactly(votes, weights, selection_limits(40), Budget(0.3), solver=solver)

    assert result.status is Status.FEASIBLE
    assert result.proof.kind is ProofKind.APPROXIMATE
    assert result.proof.limit == "0.3 s"
    assert result.value == pytest.approx(result.confusion.balanced_accuracy)
    assert result.value < result.bound <= 1
    assert result.proof.missing == pytest.approx((result.bound - result.value,))


def test_progress_carries_value_and_bound() -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 200)
    matrix = (rng.random((200, 20)) < np.where(labels == 1, 0.7, 0.4)[:, None]).astype(np.uint8)
    votes = merge_rows(matrix, labels)
    events: list[Progress] = []

    result = prune_exactly(votes, named_weights("accuracy", votes), selection_limits(20), Budget(1, report=events.append), solver="highs")  # fmt: skip

    assert events
    for event in events:
        assert event.total == 1
        assert event.value is not None
        assert event.bound is not None
        assert event.value <= result.value <= event.bound


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["highs", "cpsat", "auto"])
def test_breast_cancer_with_diversity_has_one_optimum(solver: str) -> None:
    """CP-SAT 9.15 proves 151 of 154 here when its presolve is left as it comes (google/or-tools#5293)."""
    votes = strategies.breast_cancer_votes()
    weights = named_weights("accuracy", votes)
    limits = selection_limits(votes.n_classifiers, diversity=diversity_limits("each", votes))

    result = prune_exactly(votes, weights, limits, solver=solver)

    assert result.status is Status.OPTIMAL
    assert result.value * 154 == pytest.approx(153)


ALONE = EngineSettings(
    turns=tuple(
        Turn(engine, lambda _: True, 1.0, "a test asks it alone", "decision 81")
        for engine in (engines.PAIRS, engines.SCIP)
    )
)


def _only(*names: str, **more: Any) -> EngineSettings:
    return EngineSettings(turns=tuple(turn for turn in engines.VOTES if turn.engine in names), **more)


Prover = Callable[[PruningProblem], Any]

HOW: dict[str, Prover] = {
    "engine": lambda problem: prove(problem, Budget()),
    "engine without a walk": lambda problem: prove(problem, Budget(), settings=EngineSettings(walk_nodes=0)),
    "walk": lambda problem: prove(problem, Budget(nodes=1), settings=_only(engines.CONFLICTS, engines.WALK)),
    # no search, no walk and no cuts: the program with conflicts as rows must do it alone
    "CP-SAT and conflicts": lambda problem: prove(
        problem, Budget(nodes=10_000), settings=_only(engines.CUTS, engines.CP_SAT, cut_rounds=0)
    ),
    **{
        name: functools.partial(
            lambda problem, solver: prune_exactly(
                problem.votes, problem.weights, problem.limits, solver=solver
            ),
            solver=name,
        )
        for name in SOLVERS
    },
}


def _proved_alone(problem: PruningProblem) -> Any:
    return prove(problem, Budget(), settings=ALONE)


def _check_certificate(result: Any, verdict: CertificateVerdict) -> None:
    assert verdict.failures == ()
    assert verdict.value is not None
    assert verdict.bound is not None
    assert verdict.value <= verdict.bound
    assert result.bound <= result.certified_bound


def _check_nothing(result: Any) -> None:
    assert result.status is Status.INFEASIBLE
    assert result.reason
    assert not result.mask.any()
    assert math.isnan(result.value)


def check_two_classes(problem: tuple[Votes, Weights, RightRows], how: Prover) -> None:
    votes, weights, rows = problem
    result = how(problem_of(votes, weights, rows.limits))

    masks = list(bound_oracles.selections(rows))
    if not masks:
        return _check_nothing(result)
    best = max(best_threshold(votes, weights, mask)[1] for mask in masks)
    assert result.status is Status.OPTIMAL
    assert result.value == result.bound == weights.value(best)
    assert rows.limits.satisfied_by(result.mask)
    matrix, labels = (np.repeat(part, votes.counts, axis=0) for part in (votes.votes, votes.labels))
    samples = [(tuple(row), label) for row, label in zip(matrix.tolist(), labels.tolist(), strict=True)]
    members = tuple(np.flatnonzero(result.mask).tolist())
    assert dataclasses.astuple(result.confusion) == oracles.confusion(samples, members, result.threshold)
    if result.certificate is not None:
        certificate = json.loads(json.dumps(result.certificate))
        _check_certificate(result, check_certificate(certificate, matrix, labels))
    return None


def check_classes(question: tuple[Pool, ClassVotes, ClassWeights, SelectionLimits], how: Prover) -> None:
    (samples, _, n_classes), votes, weights, limits = question
    problem = problem_of(votes, weights, limits)
    result = how(problem)

    masks = list(bound_oracles.selections(problem.rows))
    if not masks:
        return _check_nothing(result)
    best = weights.value(max(weights.total(votes, mask) for mask in masks))
    assert result.status is Status.OPTIMAL
    assert result.value == result.bound == pytest.approx(best, abs=weights.tolerance)
    assert limits.satisfied_by(result.mask)
    members = np.flatnonzero(result.mask).tolist()
    assert result.right.sum() == rule_oracles.n_right(samples, members, n_classes)
    if result.certificate is not None:
        codes, labels = [list(one) for one, _ in samples], [label for _, label in samples]
        certificate = json.loads(json.dumps(result.certificate))
        _check_certificate(result, check_certificate(certificate, codes, labels, n_classes))
        for place, gain in enumerate(certificate["gains"]):
            other = certificate | {
                "gains": [*certificate["gains"][:place], gain + 1, *certificate["gains"][place + 1 :]]
            }
            assert not (check_certificate(other, codes, labels, n_classes).valid and result.right[place])
    return None


@pytest.mark.slow
@examples(600)
@given(problem=problems(max_classifiers=5))
def test_pairs_and_scip_equal_brute_force(problem: tuple[Votes, Weights, RightRows]) -> None:
    check_two_classes(problem, _proved_alone)


@pytest.mark.slow
@examples(400)
@given(question=class_questions())
def test_pairs_and_scip_of_several_classes_equal_brute_force(question: Any) -> None:
    check_classes(question, _proved_alone)


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
@examples(100)
@given(problem=problems(max_classifiers=6))
def test_every_weight_and_limit_equals_brute_force(
    how: str, problem: tuple[Votes, Weights, RightRows]
) -> None:
    check_two_classes(problem, HOW[how])


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
@examples(60)
@given(question=class_questions(max_classifiers=6))
def test_of_several_classes_too(how: str, question: Any) -> None:
    check_classes(question, HOW[how])


def test_who_proves_is_said_and_the_certificate_is_that_of_the_pairs() -> None:
    votes = hard_votes(80, 20)
    weights = named_weights("accuracy", votes)
    result = prove(problem_of(votes, weights, selection_limits(25)), Budget(), settings=ALONE)

    assert result.status is Status.OPTIMAL
    assert result.proved_by == engines.SCIP
    assert result.certificate is not None
    assert any("kept" in cut for cut in result.certificate["cuts"])
    assert result.certified_bound is not None
    assert result.value < result.certified_bound < 1


def test_pairs_are_named_where_they_bound_last() -> None:
    votes = hard_votes(80, 20)
    pairs = EngineSettings(turns=ALONE.turns[:1])
    result = prove(
        problem_of(votes, named_weights("accuracy", votes), selection_limits(25)), Budget(), settings=pairs
    )
    assert (result.proved_by, result.why) == (engines.PAIRS, ALONE.turns[0].why)


def test_where_no_engine_bounds_the_count_of_rows_does_and_no_cut_is_told_of() -> None:
    votes = hard_votes(80, 20)
    none = EngineSettings(turns=())
    problem = problem_of(votes, named_weights("accuracy", votes), selection_limits(25))
    result = prove(problem, Budget(), settings=none)
    assert (result.proved_by, result.why) == (engines.COUNT, engines.NOTHING_LOWER)
    assert evidence_of(result, "auto").claim().endswith("(no more rows can be right)")


def test_the_same_nodes_give_the_same_answer() -> None:
    votes = hard_votes(150, 40)
    problem = problem_of(votes, named_weights("accuracy", votes), selection_limits(40))
    first, second = (prove(problem, Budget(nodes=100), settings=ALONE) for _ in range(2))

    assert first.bound == second.bound
    assert (first.mask == second.mask).all()
    assert first.status is Status.FEASIBLE
    assert first.proof.limit == "nodes"
