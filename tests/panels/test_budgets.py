"""What one gets for each budget: of all panels, of at most two judges, and of one alone."""

from dataclasses import replace

import numpy as np
import pytest

from shortlist.panels.choice import choose_panels
from shortlist.panels.facts import panel_report
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.policy import Final
from shortlist.panels.search import find_policies
from shortlist.panels.words import budget_table
from shortlist.results.objective import read_limit
from shortlist.runs.budget import Budget
from tests.panels.oracles import undominated
from tests.panels.test_facts import made
from tests.panels.test_search import cases_of, tried_in


@pytest.mark.parametrize("seed", range(3))
def test_policies_of_at_most_two_judges_are_the_front_of_all_that_were_tried(seed: int) -> None:
    cases = cases_of(seed, 4, Final(), sure=True)
    whole = find_policies(cases, max_stages=2, budget=Budget())
    points = [(one.loss, one.price) for one in whole.of_two]
    assert all(len(one.recipe.judges) <= 2 for one in whole.of_two)
    every = [
        (one.loss, one.price)
        for one in tried_in(cases, 2)
        if len({judge for judges in one.recipe.sets for judge in judges}) <= 2
    ]
    assert sorted(points) == undominated(every)


def test_where_latency_is_an_objective_what_a_budget_buys_keeps_its_limit() -> None:
    log = made()[0].chosen
    assert log.latency is not None
    log = replace(log, latency=log.latency[:, ::-1].copy())
    choice = choose_panels(log, objectives=("accuracy", "price", "latency"))
    for point in range(0, len(choice.found), len(choice.found) // 5):
        told = panel_report(choice, point, limits=[read_limit("latency<=1.2")]).facts
        for row in told["budgets"]:
            assert row["latency"] <= 1.2
            assert row["two_judges"] is None or row["two_judges"]["latency"] <= 1.2
        for sentence in told["verdict"]:
            assert "is cheaper then" not in sentence or "no worse in accuracy or latency" in sentence
        title, (header, *rows) = budget_table(told)
        assert title == "The best panel found at each mean price of a case, with latency<=1.2"
        assert header[:4] == ("at most", "accuracy", "price", "seconds")
        assert [row[-1] for row in rows] == [f"{row['number']}: {row['stages']}" for row in told["budgets"]]


def test_each_budget_tells_what_two_judges_reach_for_it() -> None:
    choice = choose_panels(made()[0].chosen, PanelOptions())
    told = panel_report(choice, 0).facts
    for row in told["budgets"]:
        reached = [one["accuracy"] for one in told["cascades_of_two"] if one["price"] <= row["budget"]]
        assert row["two_judges"]["accuracy"] == max(reached)
        assert row["two_judges"]["accuracy"] <= row["accuracy"] + 1e-12
    assert np.isfinite([one["price"] for one in told["cascades_of_two"]]).all()


def test_under_a_promise_cascades_of_which_nothing_is_promised_are_not_told() -> None:
    for promise in (False, True):
        told = made(promise=promise)[1].facts
        assert bool(told["cascades_of_two"]) != promise
        assert all((row["two_judges"] is None) == promise for row in told["budgets"])
        [title, *_] = budget_table(told)[1]
        assert title[1] == ("right of all cases" if promise else "accuracy")
