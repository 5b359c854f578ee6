"""Small problems with ties and duplicates."""

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.multistage.search.stage_objectives import DEFAULT_OBJECTIVES, StageProblem, stage_problem
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits
from tests.multistage.oracles import Facts, Told, whole_costs


@st.composite
def facts(
    draw: st.DrawFn, max_features: int = 4, max_rows: int = 6, max_price: int = 3, *, ensembles: bool = False
) -> Facts:
    """Draw decisions for every feature set; many rows are never confident, and prices tie.

    With `ensembles` a call asks one to three members, who may have prices of their own.
    """
    n = draw(st.integers(1, max_features))
    n_rows = draw(st.one_of(st.integers(1, max_rows), st.just(70)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.0, 0.2, 0.5, 0.9]))
    answers = {}
    for size in range(1, n + 1):
        for features in itertools.combinations(range(n), size):
            confident = rng.random(n_rows) < share
            right = confident & (rng.random(n_rows) < 0.7)
            answers[frozenset(features)] = tuple(zip(confident.tolist(), right.tolist(), strict=True))
    prices = tuple(draw(st.lists(st.integers(0, max_price), min_size=n, max_size=n)))
    groups: tuple[int, ...] = ()
    if draw(st.booleans()):
        groups = tuple(draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n, max_size=n)))
    member_costs = draw(st.sampled_from([(), (0.5, 0.0, 2.0)])) if ensembles else ()
    asked = {
        known: tuple(np.flatnonzero([rng.random() < 0.5, rng.random() < 0.5, True]).tolist())
        for known in (answers if ensembles else ())
    }
    return Facts(
        n,
        tuple(rng.integers(0, 2, n_rows).tolist()),
        answers,
        prices,
        groups,
        (max_price, 1) if groups else (),
        asked,
        member_costs,
        tuple(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))),
        (draw(st.integers(0, 3)), 2) if groups else (),
    )


def problem_of(
    given: Facts, max_stages: int, *, objectives: tuple[str, ...] = DEFAULT_OBJECTIVES, **further: Any
) -> StageProblem:
    """State the problem whose decisions are told."""
    decisions = DecisionBits(Told(given), RejectRule((0.75, 0.75)))
    return stage_problem(
        decisions,
        whole_costs(given.prices, given.groups, given.first_prices, [*given.hours, *given.first_hours]),
        max_stages=max_stages,
        objectives=objectives,
        **further,
    )
