from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.multistage.problem.costs import feature_costs
from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.multistage.search.emsco import score
from shortlist.multistage.search.stage_objectives import ERROR_COST, OBJECTIVES, merits, stage_problem
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of


@given(facts(), st.integers(1, 4), st.booleans())
def test_objectives_equal_the_plain_twin(known: oracles.Facts, k: int, unused: bool) -> None:
    k = min(k, known.n_features)
    problem = problem_of(known, k)
    assignments = list(oracles.all_assignments(known.n_features, k))
    measures = problem.measures(np.array(assignments, dtype=np.int8))
    values = problem.values(measures)

    for assignment, measure, value in zip(assignments, measures, values, strict=True):
        g1, g2, g3 = known.outcome(assignment)
        assert Fraction(int(measure[0]), problem.n_rows) == g1
        assert Fraction(int(measure[1]), max(1, int(measure[0]))) == g2
        assert Fraction(int(measure[2]), problem.n_rows) == g3
        assert value.tolist() == pytest.approx([float(g1), float(g2), float(g3)])
    del unused


@given(facts(), st.integers(1, 4))
def test_further_measures_equal_the_plain_twin(known: oracles.Facts, k: int) -> None:
    k = min(k, known.n_features)
    counted = tuple(name for name in OBJECTIVES if name != ERROR_COST)
    problem = problem_of(known, k, objectives=(*counted, "hours"))
    for assignment in oracles.all_assignments(known.n_features, k):
        values = problem.values(problem.measures(np.array([assignment], dtype=np.int8)))[0]
        named = dict(zip(problem.names, values.tolist(), strict=True))
        rows = [known.row(assignment, r) for r in range(len(known.labels))]
        wrongly_positive = sum(
            conclusive and not right and label == 0
            for (conclusive, right, *_), label in zip(rows, known.labels, strict=True)
        )
        assert named["false_positive_rate"] == pytest.approx(wrongly_positive / max(1, known.labels.count(0)))
        assert named["stages"] == max(assignment) + 1
        assert named["worst_case_cost"] == max(paid for *_, paid, _ in rows)
        assert named["evaluation_cost"] == pytest.approx(np.mean([stages for *_, stages in rows]))
        assert named["hours"] == np.mean([known.taken(assignment, stages) for *_, stages in rows])


@given(facts())
def test_penalties_take_credit_from_wrong_answers_only(known: oracles.Facts) -> None:
    decisions = DecisionBits(oracles.Told(known), RejectRule((0.75, 0.75)))
    problem = stage_problem(
        decisions, oracles.whole_costs(known.prices), max_stages=1, penalties={0: 0.25, 1: 0.5}
    )
    assignment = (0,) * known.n_features
    measures = problem.measures(np.array([assignment], dtype=np.int8))
    credit = Fraction(0)
    for r, label in enumerate(known.labels):
        conclusive, right, *_ = known.row(assignment, r)
        if conclusive:
            credit += 1 if right else 1 - (Fraction(1, 4), Fraction(1, 2))[label]

    assert Fraction(int(measures[0, 1]), problem.unit) == credit


@given(facts(), st.integers(1, 3), st.sampled_from([0.01, 0.5]))
def test_ranks_and_fitness_equal_the_plain_twin(known: oracles.Facts, k: int, epsilon: float) -> None:
    k = min(k, known.n_features)
    problem = problem_of(known, k)
    assignments = list(oracles.all_assignments(known.n_features, k))
    outcomes = [known.outcome(assignment) for assignment in assignments]
    scores = score(problem, problem.measures(np.array(assignments, dtype=np.int8)), epsilon=epsilon)

    assert scores.ranks.tolist() == oracles.levels(outcomes)
    if (scores.norms > 0).all():
        assert np.exp(scores.log_fitness) == pytest.approx(oracles.fitness(outcomes, epsilon))


def test_nothing_conclusive_has_accuracy_zero_and_still_pays() -> None:
    known = oracles.Facts(1, (0, 1), {frozenset({0}): ((False, False),) * 2}, (7,))
    problem = problem_of(known, 1)

    assert problem.values(problem.measures(np.zeros((1, 1), dtype=np.int8))).tolist() == [[0.0, 0.0, 7.0]]


def test_equal_ratios_of_different_counts_are_one_vector_without_coverage() -> None:
    answers = {
        frozenset({0}): ((True, True), (True, False), (False, False), (False, False)),
        frozenset({1}): ((True, True), (True, True), (True, False), (True, False)),
        frozenset({0, 1}): ((False, False),) * 4,
    }
    problem = problem_of(
        oracles.Facts(2, (0, 1, 0, 1), answers, (1, 1)), 2, objectives=("conclusive_accuracy",)
    )
    vectors = problem.vectors(problem.measures(np.array([[0, 1], [1, 0]], dtype=np.int8)))

    assert vectors[0].tolist() == vectors[1].tolist() == [1, 2]


CALLS: dict[str, Any] = {"objectives": ("coverage", "evaluation_cost")}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"objectives": ("coverage", "sped")}, "objectives must be names out of .* got 'sped'"),
        ({"objectives": ()}, "objectives must name at least one"),
        ({"penalties": {0: 1.5}}, "penalties must be at least 0 and at most 1, got 1.5"),
        ({"call_cost": -1}, "call_cost must be at least 0, got -1"),
        (CALLS | {"call_cost": 1e16}, r"call_cost must have fewer digits to stay exact, got 1e\+16. Round"),
        (CALLS | {"call_cost": 1e30}, r"call_cost must have fewer digits to stay exact, got 1e\+30. Round"),
        (CALLS | {"call_cost_per_feature": 1e16}, r"call_cost_per_feature must have fewer .* got 1e\+16. R"),
        ({"max_stages": 2}, "max_stages must be at most the number of features, 1, got 2"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], sentence: str) -> None:
    known = oracles.Facts(1, (0, 1), {frozenset({0}): ((False, False),) * 2}, (7,))
    decisions = DecisionBits(oracles.Told(known), RejectRule((0.75, 0.75)))

    with pytest.raises(BadInputError, match=sentence):
        stage_problem(decisions, oracles.whole_costs(known.prices), **{"max_stages": 1, **options})  # type: ignore[arg-type]  # any option


def test_an_attribute_that_is_called_like_an_objective_is_refused() -> None:
    known = oracles.Facts(1, (0, 1), {frozenset({0}): ((False, False),) * 2}, (7,))
    costs = feature_costs([7], "0", attributes={"stages": {"0": 1}})
    decisions = DecisionBits(oracles.Told(known), RejectRule((0.75, 0.75)))

    with pytest.raises(BadInputError, match="must not be called like an objective, got 'stages'"):
        stage_problem(decisions, costs, max_stages=1)


@pytest.mark.parametrize("member_costs", [None, (1.0, 1e30)])
def test_digits_of_what_calls_cost_are_looked_at_only_where_they_are_an_objective(member_costs: Any) -> None:
    known = oracles.Facts(1, (0, 1), {frozenset({0}): ((False, False),) * 2}, (7,))
    told: Any = oracles.Told(known)
    told.member_costs = member_costs
    decisions = DecisionBits(told, RejectRule((0.75, 0.75)))
    call_cost = 1e30 if member_costs is None else 1.0

    problem = stage_problem(decisions, oracles.whole_costs(known.prices), max_stages=1, call_cost=call_cost)
    assert problem.most_call_price == 0
    name = "call_cost" if member_costs is None else "member_costs"
    with pytest.raises(BadInputError, match=rf"^{name} must have fewer digits to stay exact, got 1e\+30\."):
        stage_problem(
            decisions, oracles.whole_costs(known.prices), max_stages=1, call_cost=call_cost, **CALLS
        )


def test_a_point_that_costs_nothing_does_not_decide_alone() -> None:
    names = ("coverage", "conclusive_accuracy", "acquisition_cost")
    values = np.array([[0.05, 0.8, 0.0], [0.9, 0.9, 2.0], [1.0, 0.9, 10.0]])

    assert merits(names, values)[:, 2].tolist() == [1.0, 0.8, 0.0]
    assert np.linalg.norm(merits(names, values), axis=1).argmax() == 1
    assert merits(names, values[1:])[:, 2].tolist() == [1.0, 0.2]
    assert merits(names, values[:1])[:, 2].tolist() == [1.0]
