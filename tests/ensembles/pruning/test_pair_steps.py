"""Pairs of rows bound every selection, and SCIP proves with them what brute force finds."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.audit.class_cut_check import check_class_certificate
from shortlist.ensembles.audit.cut_check import check_certificate
from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import (
    CLASS_OBJECTIVES,
    Weights,
    best_threshold,
    class_weights,
    named_weights,
)
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.ensembles.pruning import engines
from shortlist.ensembles.pruning.engines import Turn
from shortlist.ensembles.pruning.evidence import evidence_of
from shortlist.ensembles.pruning.problems import problem_of
from shortlist.ensembles.pruning.pruning import prove
from shortlist.ensembles.pruning.run import EngineSettings
from shortlist.ensembles.votes.binary_votes import Votes
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget
from tests.ensembles import bound_oracles
from tests.ensembles.class_pools import Pool, as_votes, class_pools
from tests.ensembles.strategies import hard_votes, problems
from tests.examples import examples

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
