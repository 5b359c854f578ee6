"""Rows that choose, the text on the front, and its promises."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.guarantees.guarantee import Demand, as_demand
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import N_PARTS, choose_panels, told_notes, with_promises
from shortlist.panels.decisions import confidence_scale
from shortlist.panels.log_checks import UNASKED
from shortlist.panels.panel_choice import PanelChoice
from shortlist.panels.panel_options import PanelOptions, _losses, cases_of, split_cases
from shortlist.panels.policy import HAND_OVER, REJECT, Final
from shortlist.panels.promises import candidates_of, ways_to_ask
from shortlist.panels.recipes import Recipe
from shortlist.results.proof import ProofKind
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from tests.panels.made import priced_log


def label_log(seed: int, n_cases: int, accuracies: tuple[float, ...] = (0.7, 0.8, 0.9)) -> AnswerLog:
    """Judges of labels alone, each as often right as said."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["no", "yes"], n_cases)
    is_right = rng.random((n_cases, len(accuracies))) < accuracies
    said = np.where(is_right, truth[:, None], np.where(truth == "no", "yes", "no")[:, None])
    names = [f"j{one}" for one in range(len(accuracies))]
    return make_log(
        names, np.arange(n_cases), said, truth, measures=Measures(prices=[1.0, 2.0, 5.0][: len(names)])
    )


@pytest.mark.parametrize("demand", [None, Demand(0.8, 0.9)])
def test_cases_of_one_group_choose_or_measure_or_calibrate_together(demand: Demand | None) -> None:
    groups = np.random.default_rng(0).integers(0, 60, 240)
    log = replace(priced_log(), groups=groups)
    choice = choose_panels(log, PanelOptions(decide="votes", demand=demand))
    parts = [choice.chosen, choice.test]
    assert choice.calibration is (None if demand is None else choice.test)
    assert np.isin(groups, np.concatenate([part.groups for part in parts if part.groups is not None])).all()
    if demand is None:
        assert sum(len(part.truth) for part in parts) == 240
    for one, other in itertools.combinations(parts, 2):
        assert one.groups is not None
        assert other.groups is not None
        assert not set(one.groups) & set(other.groups)


def test_a_case_that_is_there_ten_times_calibrates_once() -> None:
    log = label_log(0, 120)
    repeated = log.at(np.repeat(np.arange(120), 10))
    repeated = replace(repeated, groups=np.repeat(np.arange(120), 10))
    options = PanelOptions(decide="votes", demand=Demand(0.8, 0.9))
    choice, once = choose_panels(repeated, options), choose_panels(log, options)
    assert choice.calibration is not None
    assert once.calibration is not None
    assert choice.calibration.groups is not None
    assert len(np.unique(choice.calibration.groups)) == len(choice.calibration.truth)
    assert len(choice.calibration.truth) == len(once.calibration.truth) == 60
    assert {one.n_rows for one in choice.guarantees} == {60}
    assert "one row of each case that is there several times." in told_notes(repeated, choice)[-1]


def test_cases_of_unknown_truth_are_in_no_part() -> None:
    log = priced_log()
    truth = np.where(np.arange(240) % 3 == 0, -1, log.truth)
    choice = choose_panels(replace(log, truth=truth), PanelOptions(decide="votes"))
    assert len(choice.chosen.truth) + len(choice.test.truth) == (truth >= 0).sum()


@pytest.mark.parametrize("decide", ["votes", "dawid-skene"])
@pytest.mark.parametrize(
    "final", [Final(), Final(HAND_OVER, 9.5), Final(REJECT)], ids=lambda final: final.kind
)
def test_each_point_costs_what_its_panel_pays_on_the_cases_that_choose(decide: str, final: Final) -> None:
    choice = choose_panels(label_log(0, 200), PanelOptions(decide=decide, final=final))
    prices = choice.front.values[:, choice.front.names.index("price")]
    paid = [choice.panel(point).run(choice.chosen).price.mean() for point in range(len(prices))]
    assert prices.tolist() == pytest.approx(paid)


def test_prices_that_are_no_decimals_are_rounded_finely() -> None:
    log = label_log(1, 120)
    odd = replace(log, prices=log.prices * np.pi)
    prices = [choose_panels(one, PanelOptions(decide="votes")).front.values[:, 1] for one in (log, odd)]
    assert prices[1] == pytest.approx(prices[0] * np.pi, rel=1e-6)


def test_error_costs_make_another_front_than_accuracy() -> None:
    log = label_log(2, 400)
    costs: dict[tuple[str | None, str], int] = {("no", "yes"): 20, ("yes", "no"): 1, ("", "yes"): 20}
    choice = choose_panels(log, PanelOptions(error_costs=costs), objectives=("error-cost", "price"))
    for point in range(len(choice.found)):
        if choice.found[point].recipe.learner == "votes":
            codes = choice.panel(point).run(choice.chosen).codes
            lost = np.array([[0, 20], [1, 0], [1, 20]])[codes, choice.chosen.truth]
            assert choice.front.values[point, 0] == pytest.approx(lost.mean())
    cheap = choice.panel(0).run(choice.chosen)
    plain = choose_panels(log).panel(0).run(choice.chosen)
    missed = [((one.codes == 0) & (choice.chosen.truth == 1)).sum() for one in (cheap, plain)]
    assert missed[0] < missed[1]


def test_no_answer_costs_what_the_worst_answer_costs_unless_it_is_told() -> None:
    costs: dict[tuple[str | None, str], int] = {("no", "yes"): 50, ("yes", "no"): 3}
    log = label_log(2, 40)
    for given, nothing in ((costs, [3, 50]), (costs | {("", "no"): 0}, [0, 50]), ({}, [1, 1])):
        assert _losses(log, PanelOptions(error_costs=given))[-1].tolist() == nothing


@pytest.mark.parametrize("share", [0.05, 0.2, 0.25, 0.4, 0.5])
def test_as_many_cases_measure_as_were_asked_for(share: float) -> None:
    chosen, test, _ = split_cases(label_log(0, 200), PanelOptions(test_share=share))
    assert (len(chosen.truth), len(test.truth)) == (200 - round(200 * share), round(200 * share))


def test_with_a_promise_half_of_the_cases_calibrate_and_measure() -> None:
    chosen, test, calibration = split_cases(label_log(0, 200), PanelOptions(demand=Demand(0.8, 0.9)))
    assert calibration is test
    assert (len(chosen.truth), len(test.truth)) == (100, 100)
    with pytest.raises(BadInputError, match="test_share must come without a promise"):
        choose_panels(label_log(0, 200), PanelOptions(test_share=0.4, demand=Demand(0.8, 0.9)))


def with_gaps(log: AnswerLog, asked: Any) -> AnswerLog:
    return replace(log, answers=np.where(asked, log.answers, UNASKED))


def test_a_judge_is_measured_on_the_cases_that_all_were_asked_about() -> None:
    whole = label_log(0, 400, (0.7, 0.6, 1.0))
    half = np.arange(400) % 2 == 0
    choice = choose_panels(
        with_gaps(whole, half[:, None] | [True, True, False]), PanelOptions(decide="votes")
    )
    assert len(choice.chosen.truth) + len(choice.test.truth) == 200
    assert choice.front.values[0].tolist() == [1.0, 5.0]
    assert any("200 of 400 cases" in claim and "'j2' 50 %" in claim for claim in choice.claims)
    assert "every judge was asked" not in " ".join(choose_panels(whole, PanelOptions(decide="votes")).claims)


def test_a_call_that_never_happened_is_not_paid_and_is_told_where_no_case_has_all_judges() -> None:
    asked = np.arange(3) != np.arange(120)[:, None] % 3
    choice = choose_panels(with_gaps(label_log(0, 120), asked), PanelOptions(decide="votes"))
    paid = np.where(choice.chosen.answers == UNASKED, 0.0, choice.chosen.prices)
    assert choice.cases.prices.tolist() == (paid * choice.steps).tolist()
    alone = choice.of_recipe(Recipe(((2,),), (0.0,), "votes")).run(choice.chosen)
    assert alone.price.tolist() == paid[:, 2].tolist()
    assert "'j0' 67 %, 'j1' 67 % and 'j2' 67 %" in choice.claims[-1]


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1 / 3, 1e9 / 3, 2**53 / (8 * 120) * 0.99])
def test_prices_of_any_size_keep_their_order_in_steps_that_stay_exact(factor: float) -> None:
    log = label_log(0, 120)
    cases, steps = cases_of(
        replace(log, prices=log.prices * factor), confidence_scale(log), PanelOptions(decide="votes")
    )
    assert steps >= 1
    assert cases.prices.sum() < 2**53
    if factor > 1e-290:
        ratio = cases.prices / cases.prices.max()
        assert ratio == pytest.approx(log.prices / log.prices.max(), abs=1e-8)


@pytest.mark.parametrize("factor", [2e14, 1e200, 1e307])
def test_prices_that_do_not_add_up_exactly_are_refused(factor: float) -> None:
    log = label_log(0, 120)
    told = "prices must add up to less than 2\\^53 over all cases, got .* Give all of them in a larger unit"
    with pytest.raises(BadInputError, match=told):
        choose_panels(replace(log, prices=log.prices * factor), PanelOptions(decide="votes"))
    dear = PanelOptions(decide="votes", final=Final("hand-over", factor))
    with pytest.raises(BadInputError, match=told):
        choose_panels(log, dear)


def test_latency_is_a_third_objective_whose_points_none_dominates() -> None:
    choice = choose_panels(priced_log(), objectives=("accuracy", "price", "latency"))
    values = choice.front.values * [-1, 1, 1]
    for one, other in itertools.permutations(values, 2):
        assert not (one <= other).all()
    assert choice.front.proof.kind == ProofKind.APPROXIMATE
    two = choose_panels(priced_log(), PanelOptions(max_stages=2))
    assert two.front.proof.kind == ProofKind.COMPLETE


def test_a_third_stage_finds_nothing_where_two_judges_are_asked() -> None:
    log = label_log(1, 520)
    log = replace(log, judges=log.judges[:2], answers=log.answers[:, :2], prices=log.prices[:, :2])
    two, three = (choose_panels(log, PanelOptions(max_stages=n)) for n in (2, 3))
    assert two.front.proof.kind == three.front.proof.kind == ProofKind.COMPLETE
    assert np.array_equal(two.front.values, three.front.values)


@pytest.mark.parametrize(
    ("change", "objectives", "message"),
    [
        ({"max_stages": 4}, ("accuracy", "price"), "max_stages must be 1, 2 or 3, got 4"),
        ({}, ("accuracy",), "objectives must be accuracy, error-cost, or recall and specificity, then price"),
        ({}, ("price", "accuracy"), "objectives must be accuracy, error-cost, or recall and specificity, then price"),
        ({}, ("accuracy", "price", "latency"), "latency must be known for every call"),
        ({"error_costs": {("no", "yes"): 2}}, ("accuracy", "price"), "error_costs must come with the objective"),
        ({"error_costs": {("no", "maybe"): 2}}, ("error-cost", "price"), "error_costs must name classes, no, yes"),
        ({"error_costs": {("no", ""): 2}}, ("error-cost", "price"), "error_costs must name classes, no, yes, got ''"),
        ({"test_share": 0.6}, ("accuracy", "price"), "test_share must be from 0.05 to 0.5, got 0.6"),
        ({"test_share": 0.5, "demand": Demand(0.8, 0.9)}, ("accuracy", "price"), "test_share must come without a promise, "),
    ],
)  # fmt: skip
def test_bad_options_are_refused(
    change: dict[str, object], objectives: tuple[str, ...], message: str
) -> None:
    options = replace(PanelOptions(), **change)  # type: ignore[arg-type]
    with pytest.raises(BadInputError, match=message):
        choose_panels(label_log(0, 40), options, objectives=objectives)


def test_too_few_cases_and_one_class_are_refused() -> None:
    with pytest.raises(BadInputError, match="at least 20 different cases of known truth, got 19"):
        choose_panels(label_log(0, 19))
    log = label_log(0, 60)
    with pytest.raises(BadInputError, match="at least two classes as truth, got 'yes' in every case"):
        choose_panels(log.at(log.truth == 1))


def test_a_promise_is_what_the_panel_does_on_the_calibration_cases() -> None:
    choice = choose_panels(label_log(3, 600), PanelOptions(demand=as_demand(0.8, 0.9)))
    assert choice.calibration is not None
    assert any(one.promised for one in choice.guarantees)
    for point, promise in enumerate(choice.guarantees):
        outcome = choice.panel(point).run(choice.calibration)
        answered = outcome.codes >= 0
        if promise.promised:
            assert promise.n_answered == answered.sum()
            assert promise.n_right == (outcome.codes == choice.calibration.truth).sum()
        else:
            assert not answered.any()


@pytest.mark.parametrize("decide", ["votes", "logistic"])
@pytest.mark.parametrize(
    "final", [Final(), Final(HAND_OVER, 20.0), Final(REJECT)], ids=lambda final: final.kind
)
def test_the_front_under_a_promise_is_that_of_the_panels_that_are_written(decide: str, final: Final) -> None:
    log = label_log(5, 800, (0.86, 0.88, 0.9))
    choice = choose_panels(log, PanelOptions(decide=decide, final=final, demand=as_demand(0.93, 0.9)))
    assert all(one.promised for one in choice.guarantees)
    for point, (accuracy, price) in enumerate(choice.front.values):
        outcome = choice.panel(point).run(choice.chosen)
        assert price == pytest.approx(outcome.price.mean(), rel=1e-9 if decide == "votes" else 0.02)
        right = outcome.right(choice.chosen).mean()
        assert accuracy == pytest.approx(right, abs=0 if decide == "votes" else 0.01)
    for one, other in itertools.permutations(choice.front.values * [-1, 1], 2):
        assert not (one <= other).all()
    assert choice.front.proof.kind == ProofKind.APPROXIMATE


def promised_draw(choice: PanelChoice, calibration: AnswerLog, demand: Demand) -> PanelChoice:
    """The choice with other calibration cases."""
    again = replace(choice, calibration=calibration)
    ways = list(ways_to_ask(choice.cases, 2))
    return with_promises(again, demand, candidates_of(again, ways, Budget()))


def test_promises_are_kept_with_the_confidence_that_is_stated() -> None:
    population = label_log(4, 20_000, (0.86, 0.86, 0.88))
    demand = Demand(0.88, 0.9)
    choice = choose_panels(population.at(slice(0, 300)), PanelOptions(decide="votes", demand=demand))
    rng = np.random.default_rng(0)
    broken = given = 0
    for _ in range(100):
        drawn = population.at(np.sort(rng.integers(300, 20_000, 150)))
        told = promised_draw(choice, drawn, demand)
        failed = False
        for point, promise in enumerate(told.guarantees):
            if promise.promised:
                given += 1
                outcome = told.panel(point).run(population)
                answered = outcome.codes >= 0
                failed |= (outcome.codes == population.truth)[answered].mean() < demand.accuracy
        broken += failed
    assert given > 20
    assert broken <= 16  # of 100 at 10 %: more have a chance of 2 %


@pytest.mark.parametrize("price", [0.0, 5.0, 50.0])
def test_no_judge_is_paid_whose_answer_never_decides(price: float) -> None:
    choice = choose_panels(label_log(5, 600), PanelOptions(final=Final("hand-over", price)))
    assert choice.found
    for point in range(len(choice.found)):
        told = choice.panel(point).run(choice.chosen)
        assert (told.codes >= 0).any()
        assert all(one.answer_from < float("inf") for one in choice.panel(point).stages[-1:])


def test_parts_that_processes_search_are_those_of_this_process() -> None:
    log, options = label_log(3, 90), PanelOptions(test_share=None, decide="logistic")
    here, there = (choose_panels(log, options, workers=workers) for workers in (1, 2))
    assert there.front.values.tolist() == here.front.values.tolist()
    assert [one.recipe for one in there.found] == [one.recipe for one in here.found]
    for one, other in zip(there.parts, here.parts, strict=True):
        assert [found.recipe for found in one.found] == [found.recipe for found in other.found]
        assert one.panel(0).plain() == other.panel(0).plain()
    assert there.claims == here.claims


def test_parts_that_an_interruption_leaves_out_have_single_judges() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    budget = Budget(cancellation=cancellation)
    choice = choose_panels(label_log(3, 90), PanelOptions(test_share=None), budget=budget, workers=2)
    assert len(choice.parts) == N_PARTS
    for one in (choice, *choice.parts):
        assert {found.recipe.sets for found in one.found} <= {((),), *(((judge,),) for judge in range(3))}
        assert len(one.found) > 1
    assert choice.front.proof.limit == "interrupted"
