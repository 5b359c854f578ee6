"""Few cases all choose; what measures is nested cross-validation, done here anew by hand."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from shortlist.guarantees.guarantee import Demand
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import N_PARTS, choose_panels, told_notes
from shortlist.panels.facts import panel_report, ways_of
from shortlist.panels.figures import Rechosen, figures, possible_prices
from shortlist.panels.learning import folds_of
from shortlist.panels.panel_choice import PanelChoice, best_single, single_panel
from shortlist.panels.panel_options import FEW_CASES, PanelOptions, all_choose
from shortlist.panels.verdict import chosen_alike, measured_panel, out_of_fold, rechosen, verdict
from shortlist.results.intervals import interval_of_mean, interval_over_folds, wilson_interval
from shortlist.results.objective import read_limit
from shortlist.runs.budget import Budget
from tests.panels.made import priced_log
from tests.stored import Stored

FEW = PanelOptions(decide="votes", test_share=None)


@cache
def few() -> PanelChoice:
    return choose_panels(priced_log(), FEW)


def test_all_cases_choose_and_each_is_measured_by_what_the_others_chose() -> None:
    choice, log = few(), priced_log()
    assert sorted(choice.chosen.cases.tolist()) == sorted(choice.test.cases.tolist()) == list(range(240))
    assert len(choice.parts) == N_PARTS
    measured = [part.test.cases.tolist() for part in choice.parts]
    assert [case for cases in measured for case in cases] == choice.test.cases.tolist()
    for number, part in enumerate(choice.parts):
        assert sorted(measured[number]) == np.flatnonzero(folds_of(log, N_PARTS, 0) == number).tolist()
        assert sorted([*part.chosen.cases.tolist(), *measured[number]]) == list(range(240))


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_figures_are_of_the_panels_chosen_for_at_most_the_same_price(share: float) -> None:
    choice = few()
    point = round(share * (len(choice.found) - 1))
    price = choice.front.values[point, 1]
    right, single = list[bool](), list[bool]()
    for part in choice.parts:
        within = np.flatnonzero(part.front.values[:, 1] <= price * (1 + 1e-9))
        best = within[np.argmax(part.front.values[within, 0])] if len(within) else np.argmin(
            part.front.values[:, 1]
        )  # fmt: skip
        outcome = part.panel(int(best)).run(part.test)
        right += (outcome.codes == part.test.truth).tolist()
        judge = best_single(part)
        single += (part.test.answers[:, judge] == part.test.truth).tolist()
    told = verdict(choice, measured_panel(choice, point))
    assert told.panel_figures.n_right == sum(right)
    low, high = wilson_interval(sum(right), 240)
    own = round(240 * choice.front.extras["on_training_cases"][point])  # out of fold
    assert told.panel_figures.accuracy_interval == (low, max(high, wilson_interval(own, 240)[1]))
    assert told.panel_figures.price == pytest.approx(price)
    assert (told.rechosen_figures or told.single_figures).n_right == sum(single)
    assert told.single == choice.chosen.judges[best_single(choice)]
    assert told.difference == pytest.approx((sum(right) - sum(single)) / 240)


def test_the_panel_that_is_written_is_the_one_of_all_cases() -> None:
    choice = few()
    plain = choose_panels(choice.chosen, replace(FEW, test_share=0.05))
    cheapest = len(choice.found) - 2  # that asks somebody
    report = panel_report(choice, cheapest)
    assert report.panel.plain() == choice.panel(cheapest).plain()
    assert report.ways == ways_of(report.panel, choice.chosen)
    assert len(plain.chosen.truth) < len(choice.chosen.truth) == 240
    told = report.facts
    assert (told["n_parts"], told["measured_on"]) == (
        N_PARTS, "240 cases, by nested cross-validation, with the price of this panel",
    )  # fmt: skip
    assert "nested cross-validation: on each of 5 parts" in told_notes(choice.chosen, choice)[-1]


def alike(seed: int) -> AnswerLog:
    """Six judges of about the same accuracy, each with other prices, that differ from case to case."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["no", "yes"], 150)
    said = np.where(rng.random((150, 6)) < 0.75, truth[:, None], rng.choice(["no", "yes"], (150, 6)))
    prices = np.array([0.1, 0.3, 1.0, 3.0, 9.0, 27.0]) * rng.uniform(0.9, 1.1, (150, 6)).round(2)
    names = [f"j{place}" for place in range(6)]
    return make_log(names, np.arange(150), said, truth, measures=Measures(prices=prices))


def test_every_figure_lies_in_its_interval_and_a_named_judge_is_measured_itself() -> None:
    n_others, limits = 0, [read_limit("price<=3.5")]
    choices = [choose_panels(alike(seed), FEW) for seed in range(4)]
    for choice, point in [(one, point) for one in choices for point in range(0, len(one.found), 3)]:
        report = panel_report(choice, point, limits=limits)
        told, log = report.verdict, choice.test
        for one in filter(None, (told.panel_figures, told.single_figures, told.rechosen_figures)):
            for name in ("value", "accuracy", "price"):
                low, high = getattr(one, f"{name}_interval")
                assert low - 1e-12 <= getattr(one, name) <= high + 1e-12
        judge = log.judges.index(told.single)
        assert told.single_figures.n_right == (log.answers[:, judge] == log.truth).sum()
        assert told.single_figures.price == pytest.approx(log.prices[:, judge].mean())
        others = {best_single(part, limits) for part in choice.parts} - {judge}
        assert (told.rechosen_figures is None) == (not others)
        n_others += bool(others)
        gain = (told.rechosen_figures or told.single_figures).accuracy
        assert told.difference == pytest.approx(told.panel_figures.accuracy - gain)
        assert told.rule.takes_first or f"ask {told.single} alone" in report.facts["advice"]
    assert n_others > 0


def test_the_price_is_told_with_the_wider_interval_of_cases_and_of_folds() -> None:
    choice = choose_panels(priced_log(3), PanelOptions(decide="logistic", test_share=None))
    wider = {"cases": 0, "folds": 0}
    for point, found in enumerate(choice.found):
        panel = measured_panel(choice, point)
        assert isinstance(panel, Rechosen)
        told, price = figures(panel, choice.test), out_of_fold(choice, found.recipe).price
        least, most = possible_prices(panel, choice.test)
        of_cases = interval_of_mean(price, least, most)
        assert choice.cases.folds is not None
        low, high = interval_over_folds(price, choice.cases.folds)
        low, high = max(low, least[0]), min(high, most[0])
        assert told.price == pytest.approx(price.mean())
        assert told.price_interval == pytest.approx((min(low, of_cases[0]), max(high, of_cases[1])))
        wider["folds" if high - low > of_cases[1] - of_cases[0] else "cases"] += 1
    assert min(wider.values()) > 0


def test_a_judge_that_is_the_best_in_every_part_is_no_different_from_itself() -> None:
    choice = few()
    alone = rechosen(choice, single_panel(choice, 2), lambda part: single_panel(part, best_single(part)))
    assert {best_single(part) for part in (choice, *choice.parts)} == {2}
    told = verdict(choice, alone)
    assert told.single_figures == told.panel_figures
    assert told.difference_interval == (0.0, 0.0)
    assert told.sentence() == "The best is a single judge: 'large' alone, for 8 a case."


def test_no_judge_better_than_one_answer_to_every_case_is_told(stored: Stored) -> None:
    rng = np.random.default_rng(0)
    truth, said = rng.choice(["no", "yes"], (2, 100))
    one = make_log(["j0"], np.arange(100), said[:, None], truth)
    choice = choose_panels(one, FEW)
    assert panel_report(choice, 0).panel.judges == ()  # as nothing has a price, it beats the judge
    told = panel_report(choice, None).facts
    most, share = max((float((truth == label).mean()), label) for label in ("no", "yes"))
    assert f"than the answer {share!r} to every case: accuracy {most:.4g}." in told["verdict"][1]
    stored(*told["verdict"], *told["notes"])
    assert told["n_more_cases"] is None
    good = make_log(["j0"], np.arange(100), truth[:, None].copy(), truth)
    assert "without asking" not in " ".join(panel_report(choose_panels(good, FEW), 0).facts["verdict"])


def test_many_cases_a_share_or_a_promise_hold_cases_out() -> None:
    two, three = ("accuracy", "price"), ("recall", "specificity", "price")
    assert all_choose(FEW_CASES, FEW, two)
    assert not all_choose(FEW_CASES + 1, FEW, two)
    assert all_choose(FEW_CASES // 4, FEW, three)
    assert not all_choose(FEW_CASES // 4 + 1, FEW, three)
    assert not all_choose(100, replace(FEW, test_share=0.25), two)
    assert not all_choose(100, replace(FEW, demand=Demand(0.8, 0.9)), two)
    log = priced_log()
    repeated = log.at(np.repeat(np.arange(240), 3))
    repeated = replace(repeated, groups=np.repeat(np.arange(240), 3))
    choice = choose_panels(repeated, FEW)  # 720 rows of 240 cases
    for part in choice.parts:
        assert not {*part.chosen.cases.tolist()} & {*part.test.cases.tolist()}
    told = panel_report(choice, 0).facts
    assert told["measured_on"].startswith("240 cases in 720 rows, by nested cross-validation")
    assert (told["held_out"]["n_cases"], told["held_out"]["n_different"]) == (720, 240)
    assert told_notes(repeated, choice)[-1].startswith("All 240 cases in 720 rows are training cases, as")
    share = choose_panels(repeated, replace(FEW, test_share=0.25))
    assert told_notes(repeated, share)[-1] == "180 training cases in 540 rows, 60 hold-out cases in 180 rows."
    held_out = choose_panels(priced_log(n_cases=FEW_CASES + 4), FEW)
    assert (len(held_out.parts), len(held_out.test.truth)) == (0, FEW_CASES // 4 + 1)


def test_a_limit_leaves_figures_of_what_was_found_and_says_so() -> None:
    ticks = iter(range(10**6))
    choice = choose_panels(priced_log(), FEW, budget=Budget(12, clock=lambda: float(next(ticks))))
    assert choice.claims[-1].startswith("A limit ended the cross-validation early")
    assert verdict(choice, measured_panel(choice, 0)).panel_figures.n_cases == 240


@pytest.mark.parametrize(
    "objectives",
    [("recall", "specificity", "price"), ("accuracy", "price", "latency")],
    ids=lambda one: one[0],
)
def test_all_objectives_of_few_cases_are_measured_by_choosing_again(objectives: tuple[str, ...]) -> None:
    rng = np.random.default_rng(3)
    truth = rng.choice(["no", "yes"], 160)
    other = np.where(truth == "no", "yes", "no")
    said = np.where(rng.random((160, 4)) < [0.6, 0.7, 0.8, 0.85], truth[:, None], other[:, None])
    seconds = np.broadcast_to([0.5, 1.0, 1.5, 2.0], said.shape)
    measures = Measures(prices=[1.0, 2.0, 4.0, 8.0], latency=seconds)
    log = make_log(list("abcd"), np.arange(160), said, truth, measures=measures)
    choice = choose_panels(log, FEW, objectives=objectives)
    assert len(choice.parts) == N_PARTS
    point = len(choice.found) // 2
    told = panel_report(choice, point).facts
    assert told["n_parts"] == N_PARTS
    outcome = measured_panel(choice, point).run(log)
    for part in choice.parts:
        alike = part.found[chosen_alike(choice, point, part)]
        cheapest = min(one.price for one in part.found)
        own = choice.found[point]
        mean = alike.price / len(part.chosen.truth) / part.steps
        assert mean <= own.price / len(log.truth) / choice.steps * (1 + 1e-9) or alike.price == cheapest
        assert (
            alike.seconds <= own.seconds * (1 + 1e-9)
            or "latency" not in objectives
            or alike.price == cheapest
        )
    assert len(outcome.codes) == len(log.truth)
