"""Facts about a panel and about each budget: numbers as counted by hand, and plain values."""

import functools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shortlist.guarantees.guarantee import Demand
from shortlist.panels.answer_log import Measures, make_log
from shortlist.panels.choice import choose_panels, told_notes
from shortlist.panels.facts import PanelReport, panel_report, round_budgets
from shortlist.panels.panel_choice import PanelChoice
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.policy import Final, Panel
from shortlist.panels.search import find_policies
from shortlist.panels.verdict import difference_in_words
from shortlist.panels.words import break_even_sentence, budget_table, in_words, measured_in_words, told_stages
from shortlist.results.objective import read_limit
from shortlist.runs.budget import Budget
from tests.panels.made import JUDGES, priced_log
from tests.panels.oracles import undominated
from tests.panels.test_search import cases_of, tried_in
from tests.stored import Stored

FINALS = {"answer": Final(), "hand-over": Final("hand-over", 20.0), "reject": Final("reject")}


@functools.cache
def made(
    final: str = "answer", *, promise: bool = False, latency: bool = True
) -> tuple[PanelChoice, PanelReport]:
    demand = Demand(0.7, 0.8) if promise else None
    options = PanelOptions(final=FINALS[final], demand=demand)
    choice = choose_panels(priced_log(latency=latency), options)
    return choice, panel_report(choice, len(choice.found) // 2, ["A note."])


@pytest.mark.parametrize("final", FINALS)
def test_shares_of_stages_are_those_of_the_cases_that_were_held_out(final: str) -> None:
    choice, report = made(final)
    told, outcome = report.facts, report.panel.run(choice.test)
    left = np.ones(len(outcome.codes), dtype=bool)
    for number, stage in enumerate(told["stages"]):
        assert stage["reached"] == pytest.approx(left.mean())
        here = outcome.stage == number
        assert stage["answered"] == pytest.approx((here & (outcome.codes >= 0)).mean())
        assert stage["asks"] == [report.panel.judges[judge] for judge in report.panel.stages[number].asks]
        left &= ~here
    assert told["final"]["share"] == pytest.approx((outcome.codes < 0).mean())
    right = (outcome.codes == choice.test.truth) | outcome.handed_over
    assert told["held_out"]["accuracy"] == pytest.approx(right.mean())
    assert told["held_out"]["price"] == pytest.approx(outcome.price.mean())


@pytest.mark.parametrize("final", FINALS)
@pytest.mark.parametrize("promise", [False, True])
def test_all_that_is_told_is_json_without_infinite_numbers(final: str, *, promise: bool) -> None:
    told = made(final, promise=promise)[1].facts
    text = json.dumps(told, allow_nan=False)
    assert json.dumps(json.loads(text)) == text
    assert (told["guarantee"] is not None) == promise
    assert told["notes"][-1] == "A note."


def test_a_latency_that_nobody_knows_is_none() -> None:
    told = made(latency=False)[1].facts
    assert {stage["seconds"] for stage in told["stages"]} == {None}
    assert {row["latency"] for row in told["front"]} == {None}


def test_a_latency_that_is_known_is_told_beside_the_price() -> None:
    told = made()[1].facts["held_out"]
    assert measured_in_words(told).endswith(f" a case, latency {told['latency']:.3g} s")
    assert "latency" not in measured_in_words(made(latency=False)[1].facts["held_out"])


def test_judges_are_told_by_name_with_their_own_accuracy_and_price() -> None:
    choice, report = made()
    log = choice.chosen
    for judge, row in enumerate(report.facts["judges"]):
        assert row["name"] == JUDGES[judge]
        assert row["accuracy"] == pytest.approx((log.answers[:, judge] == log.truth).mean())
        assert row["price"] == [0.25, 1.0, 8.0][judge]


@pytest.mark.parametrize("final", FINALS)
def test_for_each_budget_one_gets_the_best_panel_and_the_best_judge_that_it_pays_for(final: str) -> None:
    told = made(final)[1].facts
    assert 2 <= len(told["budgets"]) <= 11
    points = [row["number"] for row in told["budgets"]]
    assert len(points) == len(set(points))
    for row in told["budgets"]:
        within = [one for one in told["front"] if one["price"] <= row["budget"]]
        assert row["accuracy"] == max(one["accuracy"] for one in within)
        assert row["price"] <= row["budget"]
        judges = [one for one in told["judges"] if one["price"] <= row["budget"]]
        best: Any = max((one["accuracy"] for one in judges), default=None)
        assert (None if row["single"] is None else row["single"]["accuracy"]) == best
    assert told["budgets"][-1]["accuracy"] == max(row["accuracy"] for row in told["front"])


def test_budgets_lie_about_the_price_of_the_panel_and_the_last_pays_for_the_dearest() -> None:
    choice, report = made()
    dearest = max(row["price"] for row in report.facts["front"])
    for point in range(len(choice.found)):
        own = report.facts["front"][point]["price"]
        if not own:  # one answer to every case
            continue
        *near, last = [row["budget"] for row in panel_report(choice, point).facts["budgets"]]
        assert last >= dearest
        assert all(budget < 2 * own * 1.26 for budget in near)
    free = choose_panels(replace(choice.chosen, prices=0 * choice.chosen.prices))
    assert panel_report(free, 0).facts["budgets"] == []


@pytest.mark.parametrize("most", [1e-7, 0.03, 0.1, 0.99, 1, 3, 7, 10, 11, 17, 99, 101, 12345.678])
def test_budgets_are_round_rise_evenly_and_reach_the_dearest_panel(most: float) -> None:
    budgets = round_budgets([most / 3, most])
    steps = np.diff([0, *budgets])
    assert steps == pytest.approx(steps[0])
    assert f"{steps[0]:.6e}"[0] in "125"
    assert 4 <= len(budgets) <= 10
    assert budgets[-2] < most * (1 + 1e-9) <= budgets[-1] * (1 + 1e-8)


def test_sentences_name_judges_shares_and_prices() -> None:
    told = made("hand-over")[1].facts
    for stage, sentence in zip(told["stages"], told["in_words"], strict=False):
        assert all(name in sentence for name in stage["asks"])
        assert f"{100 * stage['answered']:.3g} % of the cases" in sentence
    share = told["final"]["share"]
    others = f"the other {100 * share:.3g} %" if share else "cases without an answer"
    assert told["in_words"][-1] == f"A person decides about {others}, for 20 each, and counts as right."
    assert told["verdict"][0] == made("hand-over")[1].verdict.sentence()
    assert f"{told['single']['name']} alone" in told["verdict"][0]
    [flips] = [sentence for sentence in told["verdict"] if sentence.startswith("This choice changes")]
    for name, one in told["break_even"].items():
        assert (f"{name} " in flips) == bool(one.get("up_to") or one.get("below"))


def test_the_prices_that_have_to_change_least_are_told_first(stored: Stored) -> None:
    prices: dict[str, dict[str, Any]] = {f"j{k}": {"now": 1.0, "up_to": 2.0 + k} for k in range(8)} | {
        "never": {"now": 1.0, "up_to": None},
        "far": {"now": 1.0, "below": 0.01},
        "near": {"now": 3.0, "below": 2.9},
    }
    stored(break_even_sentence(prices, "accuracy"))
    assert break_even_sentence({"never": {"now": 1.0, "up_to": None}}, "accuracy") == ""


def test_a_judge_beyond_the_limits_that_is_better_than_all_within_is_told_besides() -> None:
    choice = choose_panels(priced_log(), PanelOptions(decide="votes"))
    limits = [read_limit("price<=2")]
    told = panel_report(choice, len(choice.found) - 1, limits=limits).facts
    dear = told["best_of_all"]
    assert (told["single"]["name"], dear["name"]) == (JUDGES[1], JUDGES[2])
    assert told["single"]["price"] <= 2 < dear["price"]
    assert dear["difference"] == pytest.approx(told["held_out"]["accuracy"] - dear["accuracy"])
    [sentence] = [one for one in told["verdict"] if one.startswith("The best of all judges")]
    assert f"accuracy {dear['accuracy']:.4g} for 8 a case" in sentence
    assert panel_report(choice, 0).facts["best_of_all"] is None


def test_how_answers_are_combined_is_told_where_several_are() -> None:
    choice, _ = made()
    told = [panel_report(choice, point).facts for point in range(len(choice.found))]
    for one in told:
        several = len({name for stage in one["stages"] for name in stage["asks"]}) > 1
        assert any("combines all answers" in sentence for sentence in one["in_words"]) == several
    assert "Each stage combines all answers so far by logistic regression." in told[0]["in_words"]


def test_a_p_value_is_told_where_the_interval_says_otherwise() -> None:
    verdict = made()[1].verdict
    told = replace(verdict, difference=0.06, difference_interval=(0.001, 0.119), p_value=0.064)
    assert difference_in_words(told) == "+6.0 points of accuracy (+0.1 to +11.9, p = 0.064)"
    assert "p =" not in difference_in_words(replace(told, p_value=0.04))
    assert "p =" not in difference_in_words(replace(told, difference_interval=(-0.001, 0.119)))


def test_who_rejects_is_told_that_no_answer_counts_as_wrong() -> None:
    for final, told in (("answer", False), ("reject", True)):
        choice, _ = made(final)
        assert any("counts as wrong" in note for note in told_notes(choice.chosen, choice)) == told
    choice, _ = made("reject", promise=True)
    assert not any("counts as wrong" in note for note in told_notes(choice.chosen, choice))


def test_a_limit_that_holds_on_the_training_cases_alone_is_pointed_at() -> None:
    choice, _ = made()
    told = 0
    for point in range(len(choice.found)):
        report = panel_report(choice, point, limits=[read_limit("price<=0.3"), read_limit("accuracy>=0.99")])
        own = report.verdict.panel_figures
        verdict = report.facts["verdict"]
        said = [one for one in verdict if "holds on the training cases" in one]
        assert verdict[: len(said)] == said
        assert any("price<=0.3" in one for one in said) == (own.price_interval[0] > 0.3)
        assert any("accuracy>=0.99" in one for one in said) == (own.accuracy_interval[1] < 0.99)
        told += len(said)
    assert told


def test_limits_on_both_kinds_of_errors_are_held_against_the_cases_that_measure_too() -> None:
    truth = np.repeat(["ill", "well"], 200)
    other = np.where(truth == "ill", "well", "ill")
    said = np.column_stack([truth, np.where(np.arange(400) % 4 == 0, other, truth)])
    log = make_log(["good", "poor"], range(400), said, truth, measures=Measures(prices=[2.0, 1.0]))
    choice = choose_panels(log, PanelOptions(), objectives=("recall", "specificity", "price"))
    poor = next(place for place, one in enumerate(choice.found) if one.recipe.judges == (1,))
    for limit, is_broken in (("recall>=0.95", True), ("specificity>=0.95", True), ("recall>=0.5", False)):
        told = panel_report(choice, poor, limits=[read_limit(limit)]).facts["verdict"]
        assert told[0].startswith(f"The limit {limit} holds on the training cases, but") == is_broken


def test_a_price_that_is_the_limit_keeps_it_however_doubles_round() -> None:
    log = make_log(
        ["a", "b"], range(40), [["x", "y"]] * 40, ["x", "y"] * 20, measures=Measures(prices=[0.1, 0.2])
    )
    choice = choose_panels(log, PanelOptions(max_stages=1, test_share=0.25))
    for point, one in enumerate(choice.found):
        limit = read_limit(f"price<={0.1 * len(one.recipe.judges):.1f}")
        report = panel_report(choice, point, limits=[limit])
        assert not any("on the hold-out cases: price" in one for one in report.facts["verdict"])


def test_why_cases_have_no_answer_is_told_where_the_last_stage_always_answers(stored: Stored) -> None:
    panel = made()[0].panel(0)
    majority: list[dict[str, Any]] = [{
        "decides": "majority", "asks": (), "answered": 0.5, "votes": None, "answers": "x", "number": 1, "reached": 1.0,
        "price": 1.0, "seconds": None,
    }]  # fmt: skip

    def told(panel: Panel, stages: list[dict[str, Any]]) -> str:
        return in_words(stages, None, panel, 0.042)[-1].removeprefix("The other 4.2 % get no answer")

    opened, rejecting = replace(panel, classes=()), replace(panel, final=Final("reject"))
    stored(told(panel, []), told(panel, majority), told(opened, []), told(rejecting, []))


@pytest.mark.parametrize(("n_branches", "n_sentences"), [(2, 4), (6, 8), (112, 8)])
def test_a_router_is_told_by_the_branches_that_most_cases_take(n_branches: int, n_sentences: int) -> None:
    stage = {
        "asks": ["small"], "answers": None, "decides": "plurality", "answered": 0.1, "votes": None, "reached": 0.1,
        "price": 1.0, "seconds": None,
    }  # fmt: skip
    branches = [
        {"when": f"length is {place} and topic is " + "a very long topic or " * 9, "share": place / 7000,
         "stages": [{**stage, "number": 1}]}
        for place in range(1, n_branches + 1)
    ]  # fmt: skip
    router = {"columns": ["length", "topic"], "branches": branches, "unrouted": 0.25}
    said = [one for one in in_words([], router, made()[0].panel(0), 0.0) if "re-weigh" not in one]
    assert said[0] == "Before the first call, a case is routed by length and topic:"
    assert len(said) == n_sentences
    assert max(map(len, said)) <= 200
    share = f"{100 * n_branches / 7000:.3g} % of the cases"
    assert said[1].startswith(f"{share}: ask")
    assert f". These are where length is {n_branches} and" in said[1]
    assert said[-1] == "25 % of the cases, where a value is missing or unknown:"
    if n_branches > 6:
        rest = sum(range(1, n_branches - 4)) / 70
        assert said[-2] == f"{rest:.3g} % of the cases: 107 more branches, which the protocol lists."


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


def test_stages_that_answer_no_case_are_told_with_the_next_one() -> None:
    def stage(number: int, asks: list[str], reached: float, answered: float) -> dict[str, Any]:
        return {"number": number, "asks": asks, "reached": reached, "answered": answered, "price": 1.0,
                "seconds": 2.0, "votes": None, "answers": None, "decides": "logistic", "answer_from": 0.5}  # fmt: skip

    idle, ends = stage(1, ["a"], 1.0, 0.0), stage(2, ["b", "c"], 1.0, 0.7)
    last, never = stage(3, ["d"], 0.3, 0.3), stage(3, ["d"], 0.0, 0.0)
    (one,) = told_stages([idle, ends, never])
    assert (one["groups"], one["price"], one["seconds"], one["number"]) == ([["a"], ["b", "c"]], 2.0, 4.0, 1)
    assert [each["groups"] for each in told_stages([ends, last])] == [[["b", "c"]], [["d"]]]
    paid = stage(3, ["d"], 0.3, 0.0)
    assert [each["number"] for each in told_stages([ends, paid])] == [1, 2]
    panel = made()[0].panel(0)
    said = in_words([idle, ends, never], None, panel, 0.3)
    assert said[0] == "Ask a, then b and c at once (2 a case, 4 s): that answers 70 % of the cases."
    router = {"columns": ["x"], "unrouted": 0.0, "branches": [
        {"when": "x is 1", "share": 1.0, "stages": [idle, ends, never]},
        {"when": "x is 2", "share": 0.0, "stages": [never]},
    ]}  # fmt: skip
    said = in_words([stage(1, ["a"], 0.0, 0.0)], router, panel, 0.3)
    assert said[1] == "100 % of the cases: ask a, then ask b and c. These are where x is 1."
    assert not any("x is 2" in sentence or "missing or unknown" in sentence for sentence in said)
