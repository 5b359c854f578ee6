"""A panel beside the best cascade of at most two judges for its price."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from shortlist.panels.budgets import budgets_title
from shortlist.panels.choice import choose_panels
from shortlist.panels.envelope import best_of_two
from shortlist.panels.facts import panel_facts, panel_report
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.policy import Final
from shortlist.panels.search import find_policies
from shortlist.results.objective import read_limit
from shortlist.runs.budget import Budget
from tests.panels.oracles import undominated
from tests.panels.test_facts import made
from tests.panels.test_routing import routed
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


def test_the_best_of_two_is_the_one_that_loses_least_for_the_price() -> None:
    found = find_policies(cases_of(1, 4, Final(), sure=True), max_stages=2, budget=Budget()).of_two
    for price in range(0, max(one.price for one in found) + 20, 7):
        within = [one.loss for one in found if one.price <= price]
        best = best_of_two(found, price)
        assert (None if best is None else best.loss) == min(within, default=None)


def test_the_difference_is_paired_on_the_cases_that_were_held_out() -> None:
    for choice in (made()[0], routed()):
        others = 0
        for point in range(len(choice.found)):
            report = panel_report(choice, point)
            told = panel_facts(report)["two_judges"]
            if told is None:
                continue
            two = best_of_two(choice.of_two, choice.found[point].price)
            assert two is not None
            assert told["is_itself"] == (two.loss <= choice.found[point].loss)
            one = choice.of_recipe(two.recipe).run(choice.test).right(choice.test)
            own = report.panel.run(choice.test).right(choice.test)
            assert told["accuracy"] == pytest.approx(one.mean())
            assert told["difference"] == pytest.approx(own.mean() - one.mean())
            gained, lost = int((own & ~one).sum()), int((one & ~own).sum())
            p = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
            assert told["p_value"] == pytest.approx(p)
            is_such = report.panel.router is None and len(report.panel.judges) <= 2
            said = [one for one in panel_facts(report)["verdict"] if "cascade of at most two judges" in one]
            assert [told["asks"] in one for one in said] == [True] * (not is_such)
            others += not told["is_itself"]
        assert others


def test_where_latency_is_an_objective_what_a_panel_is_compared_with_is_no_slower() -> None:
    log = made()[0].chosen
    assert log.latency is not None
    log = replace(log, latency=log.latency[:, ::-1].copy())
    choice = choose_panels(log, objectives=("accuracy", "price", "latency"))
    limit, slower = read_limit("latency<=1.2"), 0
    for point, found in enumerate(choice.found):
        two = best_of_two(choice.of_two, found.price, found.seconds)
        slower += two != best_of_two(choice.of_two, found.price)
        report = panel_report(choice, point, limits=[limit])
        told, within = panel_facts(report), max(found.seconds, 1.2)
        assert (told["two_judges"] is None) == (two is None)
        assert two is None or two.seconds <= found.seconds
        for row in told["budgets"]:
            assert row["latency"] <= 1.2
            assert row["two_judges"] is None or row["two_judges"]["latency"] <= within
        for sentence in told["verdict"]:
            assert not re.search(r"two judges for no more (?!and no slower)", sentence)
            assert "would be cheaper" not in sentence or "of no worse accuracy or latency" in sentence
    assert slower
    assert budgets_title(report) == "What you get for a mean price a case, with latency<=1.2"
    assert budgets_title(panel_report(choice, 0)) == "What you get for a mean price a case"


def test_each_budget_tells_what_two_judges_reach_for_it() -> None:
    choice = choose_panels(made()[0].chosen, PanelOptions())
    told = panel_facts(panel_report(choice, 0))
    for row in told["budgets"]:
        reached = [one["accuracy"] for one in told["cascades_of_two"] if one["price"] <= row["budget"]]
        assert row["two_judges"]["accuracy"] == max(reached)
        assert row["two_judges"]["accuracy"] <= row["accuracy"] + 1e-12
    assert np.isfinite([one["price"] for one in told["cascades_of_two"]]).all()


def test_under_a_promise_cascades_of_which_nothing_is_promised_are_not_told() -> None:
    for promise in (False, True):
        told = panel_facts(made(promise=promise)[1])
        assert bool(told["cascades_of_two"]) != promise
        assert all((row["two_judges"] is None) == promise for row in told["budgets"])
        assert not promise or told["two_judges"] is None
