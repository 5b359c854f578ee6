import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.multistage import MultiStageClassifier, feature_costs
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.multistage.search.stage_objectives import DEFAULT_OBJECTIVES, StageResult
from shortlist.multistage.search.walkers import WalkSettings
from shortlist.results.proof import ProofKind
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget
from tests.examples import examples
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of

Outcome = tuple[Fraction, Fraction, Fraction]


def plain_front(known: oracles.Facts, k: int) -> Counter[Outcome]:
    """Return the non-dominated outcomes of S(n, k) with how many assignments share each."""
    counts = Counter(known.outcome(q) for q in oracles.all_assignments(known.n_features, k))
    return Counter(
        {a: count for a, count in counts.items() if not any(oracles.dominates(b, a) for b in counts)}
    )


def found_front(result: StageResult) -> dict[Outcome, int]:
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
    result = enumerate_front(problem_of(known, k), bounds=bounds, workers=jobs)

    assert found_front(result) == plain_front(known, k)
    assert result.proof.kind is ProofKind.COMPLETE
    for assignment, measure in zip(result.assignments, result.measures, strict=True):
        assert result.problem.measures(assignment[None, :])[0, :3].tolist() == measure[:3].tolist()


@examples(10)
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
    result = enumerate_front(problem_of(known, k), bounds=bounds, walk=WalkSettings(table_rows=0))

    assert found_front(result) == plain_front(known, k)


OBJECTIVE_SETS = [
    DEFAULT_OBJECTIVES,
    ("coverage", "conclusive_accuracy", "acquisition_cost", "stages"),
    ("conclusive_accuracy", "false_positive_rate", "acquisition_cost"),
    ("coverage", "worst_case_cost", "conclusive_accuracy"),
    ("evaluation_cost", "coverage", "conclusive_accuracy"),
]
WITH_HOURS = [
    ("coverage", "hours"),
    ("coverage", "conclusive_accuracy", "acquisition_cost", "hours"),
    ("hours", "stages", "conclusive_accuracy"),
]


def exact_values(result: StageResult) -> dict[tuple[Fraction, ...], int]:
    """Return the exact objective vectors of a result, minimised, with their ties."""
    problem = result.problem
    found = {}
    for measures, ties in zip(result.measures.tolist(), result.n_tied.tolist(), strict=True):
        vector = []
        for objective in problem.objectives:
            whole = measures[problem.places[objective.name]]
            scale = problem.unit * max(1, measures[0]) if objective.scale is None else objective.scale
            vector.append(Fraction(whole, scale) * objective.sign)
        found[tuple(vector)] = ties
    return found


PENALTIES = st.sampled_from([0.0, 0.25, 0.5, 0.51, 1.0])


@pytest.mark.parametrize("objectives", [*OBJECTIVE_SETS, *WITH_HOURS], ids="+".join)
@pytest.mark.parametrize("removal", [False, True], ids=["all features", "removal"])
@examples(12)
@given(
    known=facts(max_features=3, ensembles=True),
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


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
@pytest.mark.parametrize("seed", range(8))
def test_fitted_classifiers_with_every_option_equal_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 2
    X = rng.normal(size=(70, 3)).round(1)
    y = (X @ rng.normal(size=(3, n_classes)) + rng.gumbel(size=(70, n_classes))).argmax(axis=1)
    X, y = np.concatenate([X, X[:30]]), np.concatenate([y, y[:30]])  # rows to judge that were fitted too
    groups = feature_costs(
        {"0": 2, "1": 1, "2": 3}, "012", groups={"0": "blood", "2": "blood"}, first_prices={"blood": 4}
    )
    penalties = [{0: 0.5, 1: 0.5}, {0: 0.25}, dict.fromkeys(range(n_classes), 0.1), None][seed % 4]
    objectives = OBJECTIVE_SETS[0] if n_classes > 2 else OBJECTIVE_SETS[seed // 2 % len(OBJECTIVE_SETS)]
    clf = MultiStageClassifier(
        feature_costs=groups, confidence={0: 0.6, 1: 0.5, 2: 0.7} if n_classes > 2 else {0: 0.5, 1: 0.65},
        max_stages=3, objectives=objectives, penalties=penalties, removal=seed % 3 == 0,
        accuracy_risk=[None, 0.9, 0.7][seed % 3],
    ).fit(X[:70], y[:70], validation=(X[50:], y[50:]))  # fmt: skip
    known = oracles.facts_of(clf.problem_)
    given_penalties = {label: Fraction(str(value)) for label, value in (penalties or {}).items()}

    assert exact_values(clf.result_) == known.front(
        3, objectives, removal=seed % 3 == 0, penalties=given_penalties, call_cost=Fraction(1),
        call_cost_per_feature=Fraction(0),
    )  # fmt: skip


@examples(10)
@given(known=facts(max_features=6), k=st.integers(2, 5), removal=st.booleans())
def test_bounds_of_hours_change_nothing_for_more_features(
    known: oracles.Facts, k: int, removal: bool
) -> None:
    names = ("coverage", "conclusive_accuracy", "hours")
    problem = problem_of(known, min(k, known.n_features), objectives=names, removal=removal)
    with_bounds, without = (enumerate_front(problem, bounds=bounds) for bounds in (True, False))

    assert exact_values(with_bounds) == exact_values(without)


def test_what_is_done_at_the_same_time_takes_as_long_as_the_longest() -> None:
    subsets = [frozenset(s) for size in (1, 2) for s in itertools.combinations(range(2), size)]
    answers = {features: ((features == {0, 1},) * 2,) * 4 for features in subsets}
    known = oracles.Facts(2, (0, 1, 0, 1), answers, (1, 1), hours=(5, 24))

    result = enumerate_front(problem_of(known, 2, objectives=("coverage", "hours")))

    assert result.front().values.tolist() == [[1.0, 24.0]]  # one after the other they take 29 hours


def test_a_cancelled_walk_claims_nothing() -> None:
    known = oracles.Facts(
        2, (0, 1), {frozenset(s): ((True, True), (False, False)) for s in ({0}, {1}, {0, 1})}, (1, 2)
    )
    cancellation = Cancellation()
    cancellation.cancel()
    result = enumerate_front(problem_of(known, 2), budget=Budget(cancellation=cancellation))

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


def test_a_later_stage_may_ask_fewer_members_than_an_earlier_one() -> None:
    names = ("coverage", "evaluation_cost")
    subsets = [frozenset(s) for size in (1, 2, 3) for s in itertools.combinations(range(3), size)]
    answers: dict[frozenset[int], tuple[tuple[bool, bool], ...]] = dict.fromkeys(
        subsets, ((False, False),) * 2
    )
    asked = dict.fromkeys(subsets, tuple(range(9)))
    for features, rows, n_members in (({0}, (0, 1), 4), ({1}, (0,), 3), ({1, 2}, (1,), 1)):
        answers[frozenset(features)] = tuple((row in rows, row in rows) for row in range(2))
        asked[frozenset(features)] = tuple(range(n_members))
    known = oracles.Facts(3, (0, 1), answers, (1, 1, 1), asked=asked)

    result = enumerate_front(problem_of(known, 2, objectives=names, removal=True))

    # both rows ask three members for feature 1, then one row asks one for features 1 and 2
    assert (Fraction(-1), Fraction(7, 2)) in exact_values(result)
    assert exact_values(result) == known.front(
        2, names, removal=True, penalties={}, call_cost=Fraction(1), call_cost_per_feature=Fraction(0)
    )
