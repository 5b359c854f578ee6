"""Fronts of what rules of purchase allow, against a measure of every stage assignment."""

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from shortlist import BadInputError, MultiStageClassifier
from shortlist.multistage.problem.purchase_rules import PurchaseRules
from shortlist.multistage.problem.stages import has_gaps
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.multistage.search.valid_chains import ChainLimits, n_valid_chains, walk_valid_chains
from shortlist.runs import Budget, Cancellation
from tests.examples import examples
from tests.multistage.problem.test_purchase_rules import is_valid_assignment, rules, valid_by_looking

X, Y = make_classification(160, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
PANELS = PurchaseRules(("0", "1", "2", "3"), 4, ((-1, 2), (1, -2), (-3, -4), (-4, 1)))
"""The first two together, the third or the fourth but not both, the fourth after the first."""


def assignments(valid: set[tuple[bool, ...]], max_stages: int, *, removal: bool) -> list[tuple[int, ...]]:
    """Every valid stage assignment of four columns."""
    return [
        one
        for one in itertools.product(range(-1, max_stages), repeat=4)
        if max(one) >= 0 and not has_gaps(one) and is_valid_assignment(one, valid, removal=removal)
    ]


@given(rules=rules(), max_stages=st.integers(1, 4), wish=st.booleans())
def test_chains_are_counted_as_a_look_at_every_assignment_counts_them(
    rules: PurchaseRules, max_stages: int, wish: bool
) -> None:
    removal = wish or not rules.allow_everything
    expected = assignments(valid_by_looking(rules), max_stages, removal=removal)
    assert n_valid_chains(rules, max_stages, removal=removal) == len(expected)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of points that answer few rows
@examples(15)
@given(rules=rules(), max_stages=st.integers(1, 3), wish=st.booleans(), batch=st.sampled_from([1, 7, 1000]))
def test_the_front_is_that_of_every_valid_assignment(
    rules: PurchaseRules, max_stages: int, wish: bool, batch: int
) -> None:
    names = dict(zip("abcd", "0123", strict=True))
    own = PurchaseRules(tuple(names[name] for name in rules.columns), rules.n_variables, rules.clauses)
    stages = MultiStageClassifier(
        purchase_rules=own, max_stages=max_stages, removal=wish, confidence=0.55, method="enumerate",
        feature_costs=[1, 2, 5, 5], random_state=0,
    ).fit(X, Y)  # fmt: skip
    problem = stages.problem_
    every = np.array(assignments(valid_by_looking(rules), max_stages, removal=problem.removal), dtype=np.int8)
    values = problem.values(problem.measures(every)) * [1, 1, -1]
    best = [v for v in values if not ((values >= v).all(axis=1) & (values > v).any(axis=1)).any()]
    expected = Counter(tuple((v * [1, 1, -1]).tolist()) for v in best)
    found = dict(zip(map(tuple, stages.front_.values.tolist()), stages.front_.extras["n_tied"], strict=True))
    assert found == expected
    assert stages.result_.n_looked == len(every)
    assert str(stages.front_.proof.kind) == "complete"
    (_, measures, ties), looked, complete = walk_valid_chains(
        problem, own, Budget(), ChainLimits(batch=batch)
    )
    assert complete
    assert looked == len(every)
    again = dict(zip(map(tuple, problem.values(measures).tolist()), ties.tolist(), strict=True))
    assert again == expected


@pytest.mark.parametrize("rules", ["distinct", "paper"])
def test_evolution_stays_within_the_rules_and_finds_the_front(rules: str) -> None:
    options: dict[str, Any] = {
        "purchase_rules": PANELS,
        "max_stages": 3,
        "confidence": 0.6,
        "random_state": 1,
        "validation_share": 1 / 3,
    }
    exact = MultiStageClassifier(method="enumerate", **options).fit(X, Y)
    evolved = MultiStageClassifier(
        method="emsco", emsco_options=EmscoOptions(population=60, generations=30, rules=rules), **options
    ).fit(X, Y)
    valid = valid_by_looking(PANELS)
    for assignment in [*exact.front_.decisions, *evolved.front_.decisions]:
        assert is_valid_assignment(assignment, valid, removal=True)
    assert {tuple(v) for v in evolved.front_.values.tolist()} == {
        tuple(v) for v in exact.front_.values.tolist()
    }


def test_auto_enumerates_where_few_assignments_are_valid() -> None:
    wide, y = make_classification(200, 24, n_informative=4, random_state=0)
    chain = PurchaseRules(tuple(map(str, range(24))), 24, tuple((-(v + 1), v) for v in range(1, 24)))
    stages = MultiStageClassifier(
        purchase_rules=chain, max_stages=2, confidence=0.6, removal=False, random_state=0
    ).fit(wide, y)
    assert stages.front_.method == "enumerate"
    assert stages.result_.n_looked == 1 + 23  # all at once, or one cut of the chain


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (ChainLimits(most_sets=3), "got more than 3 valid sets"),
        (ChainLimits(most_chains=3), r"valid stage assignments. Use `method='windows'`"),
    ],
)
def test_more_than_can_be_looked_at_is_refused(limits: ChainLimits, message: str) -> None:
    stages = MultiStageClassifier(purchase_rules=PANELS, max_stages=3, confidence=0.55, random_state=0).fit(
        X, Y
    )
    with pytest.raises(BadInputError, match=message):
        walk_valid_chains(stages.problem_, PANELS, Budget(), limits)


def test_a_walk_that_is_stopped_says_so() -> None:
    problem = MultiStageClassifier(purchase_rules=PANELS, max_stages=3, confidence=0.55, random_state=0).fit(
        X, Y
    )
    cancellation = Cancellation()

    def stop(event: Any) -> None:
        if event.stage == "walking stage assignments" and event.done >= 2:
            cancellation.cancel()

    budget = Budget(report=stop, cancellation=cancellation)
    (assignments, _, _), looked, complete = walk_valid_chains(
        problem.problem_, PANELS, budget, ChainLimits(batch=1)
    )
    assert not complete
    assert 2 <= looked <= 3
    assert len(assignments)


def counted_seconds(seconds: float) -> Budget:
    """Return a budget whose clock goes on by a second with every look."""
    looks = itertools.count()
    return Budget(seconds, clock=lambda: float(next(looks)))


def test_a_count_ends_with_its_time() -> None:
    sets = PANELS.valid_sets(100)
    assert sets is not None
    for seconds in range(1, len(sets)):
        assert PANELS.valid_sets(100, counted_seconds(seconds)) is None
    within = [
        n_valid_chains(PANELS, 3, removal=True, budget=counted_seconds(seconds)) for seconds in range(1, 60)
    ]
    assert within[len(sets) + 2] is None  # the sets are listed by then, but their chains are not counted
    assert set(within) == {None, n_valid_chains(PANELS, 3, removal=True)}
    assert within[-1] is not None


def test_a_walk_without_time_to_count_has_nothing_and_says_so() -> None:
    problem = MultiStageClassifier(purchase_rules=PANELS, max_stages=3, confidence=0.55, random_state=0).fit(
        X, Y
    )
    (assignments, measures, ties), looked, complete = walk_valid_chains(
        problem.problem_, PANELS, counted_seconds(2)
    )
    assert (len(assignments), len(measures), len(ties), looked, complete) == (0, 0, 0, 0, False)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of points that answer few rows
def test_chains_are_counted_for_auto_alone_and_in_a_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def never_sure(*_: Any, budget: Budget, **__: Any) -> None:
        asked.append(budget.part)

    monkeypatch.setattr("shortlist.multistage.engines.n_valid_chains", never_sure)
    few = EmscoOptions(population=10, generations=2)
    found = {}
    for method in ("windows", "emsco", "enumerate", "auto"):
        stages = MultiStageClassifier(
            purchase_rules=PANELS, method=method, max_stages=2, confidence=0.55, emsco_options=few,
            time_limit_s=1e6, random_state=0,
        ).fit(X, Y)  # fmt: skip
        found[method] = (stages.front_.method, len(asked))
    assert found == {
        "windows": ("windows", 0), "emsco": ("emsco", 0), "enumerate": ("enumerate", 0), "auto": ("windows", 1)
    }  # fmt: skip
    assert asked == [pytest.approx(0.1, abs=0.01)]
