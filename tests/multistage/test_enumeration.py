from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.front import ProofKind
from shortlist.multistage import walkers
from shortlist.multistage.enumeration import EnumerationResult, enumerate_front, tied_assignments
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
    ("coverage", "conclusive_accuracy", "acquisition_cost", "stages"),
    ("conclusive_accuracy", "false_positive_rate", "acquisition_cost"),
    ("coverage", "worst_case_cost", "conclusive_accuracy"),
    ("evaluation_cost", "coverage", "conclusive_accuracy"),
]


@pytest.mark.parametrize("objectives", OBJECTIVE_SETS, ids="+".join)
@pytest.mark.parametrize("removal", [False, True], ids=["all features", "removal"])
@settings(max_examples=25)
@given(
    known=facts(max_features=3),
    k=st.integers(1, 3),
    bounds=st.booleans(),
    prices=st.tuples(st.sampled_from([0.0, 0.25, 1.0]), st.sampled_from([0.0, 0.5])),
)
def test_any_objectives_and_removal_equal_brute_force(
    *,
    objectives: tuple[str, ...],
    removal: bool,
    known: oracles.Facts,
    k: int,
    bounds: bool,
    prices: tuple[float, float],
) -> None:
    k = min(k, known.n_features)
    problem = problem_of(
        known,
        k,
        objectives=objectives,
        removal=removal,
        penalties={0: prices[0]},
        call_cost_per_feature=prices[1],
    )
    result = enumerate_front(problem, bounds=bounds)
    low = -1 if removal else 0
    space = [
        q
        for q in np.ndindex(*[k - low] * known.n_features)
        if set(np.array(q) + low) - {-1} == set(range(max(q) + low + 1)) and max(q) + low >= 0
    ]
    assignments = np.array(space, dtype=np.int8) + low
    values = problem.values(problem.measures(assignments)) * [o.sign for o in problem.objectives]
    counts = Counter(map(tuple, values.tolist()))
    wanted = {
        a: n
        for a, n in counts.items()
        if not any(all(x <= y for x, y in zip(b, a, strict=True)) and b != a for b in counts)
    }
    found = problem.values(result.measures) * [o.sign for o in problem.objectives]

    assert dict(zip(map(tuple, found.tolist()), result.n_tied.tolist(), strict=True)) == wanted
    again = problem.values(problem.measures(result.assignments)) * [o.sign for o in problem.objectives]
    assert again.tolist() == found.tolist()


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
