"""The order of the engines: everybody gets a share, and the search gets its own before anything is bounded."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import Weights, best_threshold, class_weights, named_weights
from shortlist.ensembles.proofs.conflicts import find_conflicts
from shortlist.ensembles.pruning import engines
from shortlist.ensembles.pruning import vote_steps as proving
from shortlist.ensembles.pruning.engines import VOTES, EngineSettings
from shortlist.ensembles.pruning.problems import PluralityProblem, ThresholdProblem, problem_of
from shortlist.ensembles.pruning.search_starts import rule_starts, rules_for
from shortlist.ensembles.pruning.vote_steps import prove
from shortlist.ensembles.votes.hard_votes import Votes
from shortlist.runs.budget import Budget
from tests.ensembles.plurality_oracles import made_votes
from tests.ensembles.strategies import hard_votes
from tests.examples import examples

PROJECT = Path(__file__).parents[3]


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def limits_of(votes: Votes, setting: str) -> SelectionLimits:
    return selection_limits(votes.n_classifiers, diversity=diversity_limits(setting, votes))


def best_rule(votes: Votes, weights: Weights, limits: SelectionLimits) -> float:
    """Return what the best rule is worth that takes little time, or the best classifier alone."""
    starts = [mask for _, mask in rule_starts(votes, weights, limits, Budget())]
    return max(weights.value(best_threshold(votes, weights, mask)[1]) for mask in starts)


def test_who_uses_up_a_share_leaves_the_others_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, left = Clock(), []

    def greedy(_steps: proving.VoteSteps, budget: Budget) -> None:
        left.append(10 - clock.now)
        clock.now = budget.deadline

    for name in ("_bound", "_try_rules", "_search"):
        monkeypatch.setattr(proving.VoteSteps, name, greedy)
    votes = hard_votes(160, 30)
    problem = ThresholdProblem(votes, named_weights("accuracy", votes), selection_limits(30))
    turns = tuple(
        dataclasses.replace(turn, share=0.5)
        for name in (engines.CONFLICTS, engines.RULES, engines.SEARCH)
        for turn in VOTES
        if turn.engine == name
    )

    prove(problem, Budget(10, clock=clock), settings=EngineSettings(turns=turns))

    assert left == [10, 5, 2.5]


@pytest.mark.parametrize("seconds", [1, 3, 10])
@pytest.mark.parametrize("setting", ["none", "average", "each"])
@pytest.mark.parametrize("objective", ["accuracy", "balanced-accuracy"])
def test_a_bound_that_takes_all_the_time_costs_no_search(
    monkeypatch: pytest.MonkeyPatch, objective: str, setting: str, seconds: int
) -> None:
    votes, clock, searched = hard_votes(400, 40), Clock(), []
    weights, limits = named_weights(objective, votes), limits_of(votes, setting)
    search = ThresholdProblem.search

    def listed(*args: Any, **options: Any) -> None:
        searched.append(1)
        search(*args, **options)

    def slow(*_: Any) -> Any:
        clock.now = 1000.0
        return find_conflicts(*_)

    monkeypatch.setattr(proving, "find_conflicts", slow)
    monkeypatch.setattr(ThresholdProblem, "search", listed)

    result = prove(ThresholdProblem(votes, weights, limits), Budget(seconds, clock=clock))

    assert searched
    assert result.proof.limit == f"{seconds} s"
    assert result.value >= best_rule(votes, weights, limits)


@examples(15)
@given(
    seed=st.integers(0, 99),
    n_classifiers=st.integers(17, 40),
    objective=st.sampled_from(["accuracy", "balanced-accuracy", {"tp": 1, "fp": -3, "tn": 1}]),
    setting=st.sampled_from(["none", "average", "each"]),
)
def test_more_time_never_makes_the_answer_worse_and_rules_are_no_better(
    seed: int, n_classifiers: int, objective: Any, setting: str
) -> None:
    votes = hard_votes(60, n_classifiers, seed=seed)
    weights, limits = named_weights(objective, votes), limits_of(votes, setting)
    problem = ThresholdProblem(votes, weights, limits)
    solvers = {engines.SCIP, engines.CP_SAT, engines.SHORT_CP_SAT}
    quick = EngineSettings(turns=tuple(turn for turn in VOTES if turn.engine not in solvers))

    # a clock that moves by a unit whenever somebody looks at it
    values = [
        prove(problem, Budget(limit, clock=itertools.count().__next__), settings=quick).value
        for limit in (100, 300, 1000)
    ]

    assert values == sorted(values)
    assert values[0] >= best_rule(votes, weights, limits)


def test_with_several_classes_too_no_rule_is_better() -> None:
    votes = made_votes(80, 20, 4, seed=6, skill=0.2)
    weights, limits = class_weights("balanced-accuracy", votes), selection_limits(20)
    problem = problem_of(votes, weights, limits)
    assert isinstance(problem, PluralityProblem)

    result = prove(problem, Budget(100, clock=itertools.count().__next__))

    starts = [mask for _, mask in rule_starts(votes, weights, limits, Budget())]
    assert result.value >= max(weights.value(weights.total(votes, mask)) for mask in starts)


def test_rules_depend_on_the_size_alone() -> None:
    votes = hard_votes(60, 8)

    assert rules_for(votes) == rules_for(dataclasses.replace(votes, labels=1 - votes.labels))
    assert {"full", "reduced-error", "backfitting"} <= set(rules_for(votes))


def test_every_turn_names_what_measured_it() -> None:
    for turn in VOTES:
        assert 0 < turn.share <= 1
        if turn.measured.startswith("decision "):
            number = int(turn.measured.removeprefix("decision "))
            assert list((PROJECT / "docs" / "decisions").glob(f"{number:04}-*.md"))
        else:
            assert (PROJECT / "benchmarks" / "results" / turn.measured).exists()


def test_the_search_comes_before_all_bounds() -> None:
    order = [turn.engine for turn in VOTES]

    bounds = {engines.CONFLICTS, engines.QUICK_CUTS, engines.CUTS, engines.CP_SAT, engines.SHORT_CP_SAT}
    assert order.index(engines.SEARCH) < min(order.index(one) for one in bounds)
