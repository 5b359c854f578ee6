from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.front import ProofKind
from shortlist.multistage import walkers
from shortlist.multistage.enumeration import EnumerationResult, enumerate_front, tied_assignments
from shortlist.multistage.objectives import DEFAULT_OBJECTIVES, OBJECTIVES
from shortlist.runs import Cancellation
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of

Outcome = tuple[Fraction, Fraction, Fraction]


def plain_front(known: oracles.Facts, k: int) -> Counter[Outcome]:
    """Return the non-dominated outcomes of S(n, k) with how many assignments share each."""
    counts = Counter(known.outcome(q) for q in oracles.all_assignments(known.n_features, k))
    return Counter(
        {a: count for a, count in counts.items() if not any(oracles.dominates(b, a) for b in counts)}
    )


def found_front(result: EnumerationResult) -> dict[Outcome, int]:
    n = result.problem.n_rows
    return {
        (
            Fraction(int(m[0]), n),
            Fraction(int(m[1]), max(1, int(m[0]))),
            Fraction(int(m[2]), n),
        ): int(count)
        for m, count in zip(result.measures, result.n_tied, strict=True)
    }


@pytest.mark.parametrize("bounds", [True, False])
@given(known=facts(), k=st.integers(1, 4), jobs=st.sampled_from([1, 2]))
def test_the_front_and_its_ties_equal_the_plain_twin(
    bounds: bool, known: oracles.Facts, k: int, jobs: int
) -> None:
    k = min(k, known.n_features)
    result = enumerate_front(problem_of(known, k), bounds=bounds, n_jobs=jobs)

    assert found_front(result) == plain_front(known, k)
    assert result.proof.kind is ProofKind.COMPLETE
    for assignment, measure in zip(result.assignments, result.measures, strict=True):
        assert result.problem.measures(assignment[None, :])[0, :3].tolist() == measure[:3].tolist()


@settings(max_examples=10)
@given(known=facts(max_features=6, max_price=1), k=st.integers(2, 5))
def test_bounds_change_nothing_for_more_features(known: oracles.Facts, k: int) -> None:
    k = min(k, known.n_features)
    problem = problem_of(known, k)
    with_bounds, without = (enumerate_front(problem, bounds=bounds) for bounds in (True, False))

    assert found_front(with_bounds) == found_front(without)
    assert with_bounds.assignments.tolist() == without.assignments.tolist()


@given(known=facts(), k=st.integers(1, 4), bounds=st.booleans())
def test_the_archive_for_many_rows_gives_the_same(known: oracles.Facts, k: int, bounds: bool) -> None:
    k = min(k, known.n_features)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walkers, "TABLE_ROWS", 0)
        result = enumerate_front(problem_of(known, k), bounds=bounds)
        listed = [sorted(q.tolist() for q in tied_assignments(result, p)) for p in range(len(result.n_tied))]

    assert found_front(result) == plain_front(known, k)
    check_ties(known, k, result, listed)


@given(known=facts(), k=st.integers(1, 4))
def test_every_tied_assignment_can_be_listed(known: oracles.Facts, k: int) -> None:
    k = min(k, known.n_features)
    result = enumerate_front(problem_of(known, k))
    listed = [sorted(q.tolist() for q in tied_assignments(result, p)) for p in range(len(result.n_tied))]

    check_ties(known, k, result, listed)


def check_ties(
    known: oracles.Facts, k: int, result: EnumerationResult, listed: list[list[list[int]]]
) -> None:
    outcomes = {q: known.outcome(q) for q in oracles.all_assignments(known.n_features, k)}
    for point, (assignment, found) in enumerate(zip(result.assignments, listed, strict=True)):
        wanted = outcomes[tuple(assignment.tolist())]
        assert found == sorted(list(q) for q, outcome in outcomes.items() if outcome == wanted)
        assert len(found) == result.n_tied[point]


OBJECTIVE_SETS = [
    DEFAULT_OBJECTIVES,
    ("coverage", "conclusive_accuracy", "acquisition_cost", "stages"),
    ("conclusive_accuracy", "false_positive_rate", "acquisition_cost"),
    ("coverage", "worst_case_cost", "conclusive_accuracy"),
    ("evaluation_cost", "coverage", "conclusive_accuracy"),
]


def exact_values(result: EnumerationResult) -> dict[tuple[Fraction, ...], int]:
    """Return the exact objective vectors of a result, minimised, with their ties."""
    problem = result.problem
    found = {}
    for measures, ties in zip(result.measures.tolist(), result.n_tied.tolist(), strict=True):
        vector = []
        for objective in problem.objectives:
            whole = measures[OBJECTIVES[objective.name]]
            scale = problem.unit * max(1, measures[0]) if objective.scale is None else objective.scale
            vector.append(Fraction(whole, scale) * objective.sign)
        found[tuple(vector)] = ties
    return found


PENALTIES = st.sampled_from([0.0, 0.25, 0.5, 0.51, 1.0])


@pytest.mark.parametrize("objectives", OBJECTIVE_SETS, ids="+".join)
@pytest.mark.parametrize("removal", [False, True], ids=["all features", "removal"])
@settings(max_examples=25)
@given(
    known=facts(max_features=3),
    k=st.integers(1, 3),
    bounds=st.booleans(),
    penalties=st.one_of(PENALTIES.map(lambda p: (p, p)), st.tuples(PENALTIES, PENALTIES)),
    call_cost_per_feature=st.sampled_from([0.0, 0.5]),
)
def test_any_objectives_penalties_and_removal_equal_brute_force(
    *,
    objectives: tuple[str, ...],
    removal: bool,
    known: oracles.Facts,
    k: int,
    bounds: bool,
    penalties: tuple[float, float],
    call_cost_per_feature: float,
) -> None:
    k = min(k, known.n_features)
    problem = problem_of(
        known,
        k,
        objectives=objectives,
        removal=removal,
        penalties=dict(enumerate(penalties)),
        call_cost_per_feature=call_cost_per_feature,
    )
    result = enumerate_front(problem, bounds=bounds)

    assert exact_values(result) == known.front(
        k,
        objectives,
        removal=removal,
        penalties={label: Fraction(str(penalty)) for label, penalty in enumerate(penalties)},
        call_cost=Fraction(1),
        call_cost_per_feature=Fraction(str(call_cost_per_feature)),
    )
    again = problem.values(problem.measures(result.assignments))
    assert again.tolist() == problem.values(result.measures).tolist()


def test_a_cancelled_walk_claims_nothing() -> None:
    known = oracles.Facts(
        2, (0, 1), {frozenset(s): ((True, True), (False, False)) for s in ({0}, {1}, {0, 1})}, (1, 2)
    )
    cancellation = Cancellation()
    cancellation.cancel()
    result = enumerate_front(problem_of(known, 2), cancellation=cancellation)

    assert result.proof.kind is ProofKind.APPROXIMATE
    assert result.proof.limit == "interrupted"
    assert result.proof.n_unresolved > 0


def test_the_front_reports_ties_and_proof() -> None:
    known = oracles.Facts(
        2, (0, 1), {frozenset(s): ((True, True), (True, False)) for s in ({0}, {1}, {0, 1})}, (1, 1)
    )
    front = enumerate_front(problem_of(known, 2)).front()

    assert front.values.tolist() == [[1.0, 0.5, 1.0]]
    assert front.extras["n_tied"] == [2]
    assert front.proof.kind is ProofKind.COMPLETE
