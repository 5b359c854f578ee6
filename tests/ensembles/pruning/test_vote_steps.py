"""Exact pruning against brute force, for every solver."""

import dataclasses
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from shortlist.ensembles.audit.class_cut_check import check_class_certificate
from shortlist.ensembles.audit.cut_check import check_certificate
from shortlist.ensembles.committees.evidence import EnsembleSelection
from shortlist.ensembles.goals.selection_limits import DiversityLimits, diversity_limits, selection_limits
from shortlist.ensembles.goals.weights import (
    CLASS_OBJECTIVES,
    PRUNING_OBJECTIVES,
    Weights,
    best_threshold,
    class_weights,
    named_weights,
)
from shortlist.ensembles.proofs.incumbent import without_idle_members
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.ensembles.pruning import engines
from shortlist.ensembles.pruning.engines import EngineSettings, Turn
from shortlist.ensembles.pruning.evidence import evidence_of
from shortlist.ensembles.pruning.problems import ThresholdProblem, problem_of
from shortlist.ensembles.pruning.pruning import prove, prune_exactly
from shortlist.ensembles.votes.binary_votes import Votes, merge_rows
from shortlist.errors import SolverError
from shortlist.milp import Limits, Program, Session, Solution, open_solver
from shortlist.milp.watch import OnBound
from shortlist.results.proof import ProofKind, Status
from shortlist.runs import Cancellation, Progress
from shortlist.runs.budget import Budget
from tests.ensembles import bound_oracles, oracles, strategies
from tests.ensembles.class_pools import Pool, as_votes, class_pools
from tests.ensembles.strategies import hard_votes, problems
from tests.examples import examples
from tests.milp.solvers import installed_solvers

SOLVERS = list(installed_solvers())


EXAMPLES = examples(40)


def _weights_of(numbers: tuple[int, int, int, int], votes: Votes) -> Weights:
    return named_weights(dict(zip(("tp", "fn", "tn", "fp"), numbers, strict=True)), votes)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [*SOLVERS, "auto"])
@EXAMPLES
@given(
    rows=strategies.labelled_votes(max_classifiers=10, max_rows=16),
    name=st.sampled_from(sorted(PRUNING_OBJECTIVES)),
)
def test_named_objectives_equal_brute_force(solver: str, rows: oracles.Rows, name: str) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = named_weights(name, votes)

    result = prune_exactly(votes, weights, selection_limits(votes.n_classifiers), solver=solver)

    allowed = [members for members in oracles.subsets(votes.n_classifiers) if members]
    expected = oracles.best_value(
        rows, votes.n_classifiers, (weights.tp, weights.fn, weights.tn, weights.fp), allowed
    )
    assert result.status is Status.OPTIMAL
    assert expected is not None
    assert result.value == result.bound == weights.value(expected)
    members = tuple(np.flatnonzero(result.mask).tolist())
    assert dataclasses.astuple(result.confusion) == oracles.confusion(rows, members, result.threshold)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [*SOLVERS, "auto"])
@EXAMPLES
@given(
    rows=strategies.labelled_votes(),
    numbers=strategies.weight_sets,
    sizes=st.tuples(*[st.integers(0, 6)] * 2),
)
def test_weights_of_both_signs_and_sizes_equal_brute_force(
    solver: str, rows: oracles.Rows, numbers: tuple[int, int, int, int], sizes: tuple[int, int]
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = _weights_of(numbers, votes)
    least, most = sizes

    result = prune_exactly(
        votes, weights, selection_limits(votes.n_classifiers, min_size=least, max_size=most), solver=solver
    )

    allowed = [members for members in oracles.subsets(votes.n_classifiers) if least <= len(members) <= most]
    expected = oracles.best_value(rows, votes.n_classifiers, numbers, allowed)
    if expected is None:
        assert result.status is Status.INFEASIBLE
        assert result.reason
        assert not result.mask.any()
        assert math.isnan(result.value)
    else:
        assert result.status is Status.OPTIMAL
        assert result.value == result.bound == weights.value(expected)
        assert least <= result.mask.sum() <= most


@pytest.mark.slow
@pytest.mark.parametrize("solver", [*SOLVERS, "auto"])
@EXAMPLES
@given(
    rows=strategies.labelled_votes(max_classifiers=5),
    numbers=strategies.weight_sets,
    limits=st.tuples(*[st.integers(0, 10)] * 2),
    least=st.integers(0, 3),
)
def test_diversity_limits_equal_brute_force(
    solver: str, rows: oracles.Rows, numbers: tuple[int, int, int, int], limits: tuple[int, int], least: int
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = _weights_of(numbers, votes)
    each, mean = (Fraction(limit, 10) for limit in limits)

    diversity = diversity_limits({"each": float(each), "mean": float(mean)}, votes)
    result = prune_exactly(
        votes,
        weights,
        selection_limits(votes.n_classifiers, min_size=least, diversity=diversity),
        solver=solver,
    )

    allowed = [
        members
        for members in oracles.subsets(votes.n_classifiers)
        if len(members) >= least and oracles.diverse(rows, members, each, mean, slack=Fraction(1, 10**6))
    ]
    expected = oracles.best_value(rows, votes.n_classifiers, numbers, allowed)
    if expected is None:
        assert result.status is Status.INFEASIBLE
    else:
        assert result.status is Status.OPTIMAL
        assert result.value == weights.value(expected)


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["none", "average", "each"])
@EXAMPLES
@given(rows=strategies.labelled_votes(), numbers=strategies.weight_sets)
def test_the_papers_settings_equal_brute_force(
    setting: str, rows: oracles.Rows, numbers: tuple[int, int, int, int]
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = _weights_of(numbers, votes)
    n_classifiers = votes.n_classifiers
    full = tuple(range(n_classifiers))
    shares = oracles.pfc(rows, full)
    lowest, average = min(shares), sum(shares, Fraction(0)) / n_classifiers
    each = lowest if setting == "each" else Fraction(0)
    mean = (lowest + average) / 2 if setting != "none" else Fraction(0)

    limits = selection_limits(n_classifiers, diversity=diversity_limits(setting, votes))
    result = prune_exactly(votes, weights, limits)

    allowed = [
        members
        for members in oracles.subsets(n_classifiers)
        if members and oracles.diverse(rows, members, each, mean, slack=Fraction(1, 10**6))
    ]
    expected = oracles.best_value(rows, n_classifiers, numbers, allowed)
    assert expected is not None
    assert result.value == weights.value(expected)


@pytest.mark.slow
@EXAMPLES
@given(
    rows=strategies.labelled_votes(max_classifiers=5),
    costs=st.lists(st.integers(0, 30), min_size=5, max_size=5),
    budget=st.integers(0, 90),
)
def test_a_budget_equals_brute_force(rows: oracles.Rows, costs: list[int], budget: int) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = named_weights("accuracy", votes)
    prices = costs[: votes.n_classifiers]

    limits = selection_limits(
        votes.n_classifiers, member_costs=[c / 10 for c in prices], max_cost=budget / 10
    )
    result = prune_exactly(votes, weights, limits)

    allowed = [
        members
        for members in oracles.subsets(votes.n_classifiers)
        if members and sum(prices[k] for k in members) <= budget
    ]
    expected = oracles.best_value(rows, votes.n_classifiers, (1, 0, 1, 0), allowed)
    if expected is None:
        assert result.status is Status.INFEASIBLE
        assert "max_cost" in result.reason
    else:
        assert result.value == weights.value(expected)


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
    """A solver that answers what it is told to."""

    name = "liar"
    handles_continuous = True
    tolerance = 0.0

    def __init__(self, answer: Solution) -> None:
        self.answer = answer

    def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> Session:  # noqa: ARG002  # the protocol
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


_XOR_VOTES = [[1, 0], [0, 1], [1, 1], [0, 0]]


_XOR_LABELS = [1, 1, 0, 0]


def _ask_liar(
    objective: float, bound: float, mask: tuple[int, int], limits: DiversityLimits | None = None
) -> EnsembleSelection:
    votes = merge_rows(_XOR_VOTES, _XOR_LABELS)
    answer = Solution(Status.OPTIMAL, np.array([*mask, 0, 1, 1, 1, 1, 1], float), objective, bound, 0.0)
    result: EnsembleSelection = prune_exactly(
        votes, named_weights("accuracy", votes), selection_limits(2, diversity=limits), solver=_Liar(answer)
    )
    return result


def test_a_value_that_the_votes_do_not_bear_out_is_not_believed() -> None:
    result = _ask_liar(objective=-4.0, bound=-4.0, mask=(1, 1))

    assert result.value == 0.75  # counted from the votes: no selection reaches 1
    assert result.status is Status.FEASIBLE
    assert result.bound == 1.0


def test_a_bound_below_a_value_that_is_there_is_caught() -> None:
    with pytest.raises(SolverError, match=r"bound 0\.25 is below the value"):
        _ask_liar(objective=-1.0, bound=0.0, mask=(1, 1))


def test_a_selection_that_breaks_a_limit_is_not_believed() -> None:
    votes = merge_rows(_XOR_VOTES, _XOR_LABELS)
    answer = Solution(Status.OPTIMAL, np.ones(8), -3.0, -3.0, 0.0)
    calls = []

    class Once(_Liar):
        def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> Session:
            calls.append(program.n_rows)
            return (_Liar(answer) if len(calls) == 1 else open_solver("highs")).open(
                program, seed=seed, threads=threads
            )

    limits = selection_limits(2, max_size=1)
    result = prune_exactly(votes, named_weights("accuracy", votes), limits, solver=Once(answer))

    assert calls[1] == calls[0] + 1  # the broken selection is cut off and the program solved again
    assert result.mask.sum() == 1
    assert result.value == result.bound == 0.5


def test_an_infeasible_verdict_against_a_feasible_selection_is_caught() -> None:
    votes = merge_rows(_XOR_VOTES, _XOR_LABELS)
    answer = Solution(Status.INFEASIBLE, None, math.nan, math.inf, 0.0)
    with pytest.raises(SolverError, match="infeasible"):
        prune_exactly(votes, named_weights("accuracy", votes), selection_limits(2), solver=_Liar(answer))


def test_a_limit_too_short_for_any_selection_is_unknown_with_a_bound() -> None:
    votes = merge_rows([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]], [1, 1, 0, 0])
    stopped = Solution(Status.UNKNOWN, None, math.nan, -3.4, 0.0, limit="seconds")

    budget = Budget(0.01, clock=lambda: 0.0)  # what a slow machine does not reach is not tested here
    result = prune_exactly(votes, named_weights("accuracy", votes), selection_limits(3, min_size=2, max_size=2), budget, solver=_Liar(stopped))  # fmt: skip

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
    golden = json.loads((Path(__file__).parents[2] / "golden" / "breast_cancer_votes.json").read_text())
    votes = Votes(
        np.array([[int(c) for c in row] for row in golden["votes"]], dtype=np.uint8),
        np.array(golden["labels"], dtype=np.uint8),
        np.array(golden["counts"], dtype=np.int64),
    )
    weights = named_weights("accuracy", votes)
    limits = selection_limits(votes.n_classifiers, diversity=diversity_limits("each", votes))

    result = prune_exactly(votes, weights, limits, solver=solver)

    assert result.status is Status.OPTIMAL
    assert result.value * 154 == pytest.approx(153)


@given(rows=strategies.labelled_votes(), numbers=strategies.weight_sets, least=st.integers(0, 3))
def test_no_member_of_the_answer_can_be_dropped_without_loss(
    rows: oracles.Rows, numbers: tuple[int, int, int, int], least: int
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = _weights_of(numbers, votes)
    limits = selection_limits(votes.n_classifiers, min_size=min(least, votes.n_classifiers))
    full = np.ones(votes.n_classifiers, dtype=bool)

    kept = without_idle_members(ThresholdProblem(votes, weights, limits), full)

    worth = best_threshold(votes, weights, kept)[1]
    assert worth >= best_threshold(votes, weights, full)[1]
    assert limits.satisfied_by(kept)
    for k in np.flatnonzero(kept):
        fewer = kept & (np.arange(len(kept)) != k)
        assert not limits.satisfied_by(fewer) or best_threshold(votes, weights, fewer)[1] < worth


ALONE = EngineSettings(
    turns=tuple(
        Turn(engine, lambda _: True, 1.0, "a test asks it alone", "decision 81")
        for engine in (engines.PAIRS, engines.SCIP)
    )
)


@pytest.mark.slow
@examples(600)
@given(problem=problems(max_classifiers=5))
def test_two_classes_with_every_limit_and_weight_equal_brute_force(
    problem: tuple[Votes, Weights, RightRows],
) -> None:
    votes, weights, rows = problem
    result = prove(problem_of(votes, weights, rows.limits), Budget(), settings=ALONE)

    masks = list(bound_oracles.selections(rows))
    if not masks:
        assert result.status is Status.INFEASIBLE
        return
    assert result.status is Status.OPTIMAL
    assert result.value == weights.value(max(best_threshold(votes, weights, mask)[1] for mask in masks))
    matrix, labels = (np.repeat(part, votes.counts, axis=0) for part in (votes.votes, votes.labels))
    verdict = check_certificate(json.loads(json.dumps(result.certificate)), matrix, labels)
    assert verdict.failures == ()
    assert verdict.value is not None
    assert verdict.bound is not None
    assert verdict.value <= verdict.bound


@pytest.mark.slow
@examples(400)
@given(
    pool=class_pools(max_classifiers=5),
    sizes=st.tuples(st.integers(0, 3), st.integers(0, 5)),
    objective=st.sampled_from(sorted(CLASS_OBJECTIVES)),
    diverse=st.sampled_from(["none", "average", "each"]),
)
def test_several_classes_equal_brute_force(
    pool: Pool, sizes: tuple[int, int], objective: str, diverse: str
) -> None:
    samples, k, n_classes = pool
    votes = as_votes(pool, merged=True)
    limits = selection_limits(
        k, min_size=sizes[0], max_size=sizes[1], diversity=diversity_limits(diverse, votes)
    )
    weights = class_weights(objective, votes)
    problem = problem_of(votes, weights, limits)
    result = prove(problem, Budget(), settings=ALONE)

    masks = list(bound_oracles.selections(problem.rows))
    if not masks:
        assert result.status is Status.INFEASIBLE
        return
    assert result.status is Status.OPTIMAL
    assert result.value == pytest.approx(
        weights.value(max(weights.total(votes, mask) for mask in masks)), abs=weights.tolerance
    )
    codes, labels = [list(one) for one, _ in samples], [label for _, label in samples]
    verdict = check_class_certificate(json.loads(json.dumps(result.certificate)), codes, labels, n_classes)
    assert verdict.failures == ()
    assert verdict.value is not None
    assert verdict.bound is not None
    assert verdict.value <= verdict.bound


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
