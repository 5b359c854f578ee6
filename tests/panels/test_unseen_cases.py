"""Cases of another log measure, whatever the order of its judges, and choose nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.guarantees.guarantee import Demand
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import choose_panels, measured_on_unseen, told_notes
from shortlist.panels.facts import panel_report
from shortlist.panels.figures import figures
from shortlist.panels.panel_choice import single_panel
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.unseen_cases import unseen_cases
from shortlist.panels.verdict import beside_single
from tests.panels.made import JUDGES, priced_log
from tests.panels.test_choice import label_log

ALL = PanelOptions(test_share=None)


def in_order(log: AnswerLog, order: list[int]) -> AnswerLog:
    """The same log with its judges in another order."""
    columns = {name: getattr(log, name) for name in ("answers", "prices", "confidence", "latency")}
    moved: dict[str, Any] = {name: one[:, order] for name, one in columns.items() if one is not None}
    return replace(log, judges=tuple(log.judges[place] for place in order), **moved)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_all_cases_choose_and_the_others_measure_in_any_order_of_judges(order: list[int]) -> None:
    log, test = priced_log(0), priced_log(1, 500)
    choice = choose_panels(log, ALL, test=in_order(test, order))
    others = choose_panels(log, ALL, test=priced_log(2, 50))
    assert [one.recipe for one in choice.found] == [one.recipe for one in others.found]
    assert (len(choice.chosen.truth), choice.parts, choice.is_tested) == (240, (), True)
    told = panel_report(choice, len(choice.found) - 1)
    panel = choice.panel(len(choice.found) - 1)
    assert told.verdict.panel_figures == figures(panel, test, choice.scoring(test))
    judge = JUDGES.index(told.verdict.single)
    assert told.verdict.single_figures == figures(single_panel(choice, judge), test, choice.scoring(test))
    assert told.facts["held_out"]["accuracy"] == panel.run(test).right(test).mean()
    assert (told.facts["n_test"], told.facts["n_parts"], told.facts["is_tested"]) == (500, 0, True)
    assert told.facts["measured_on"] == "500 test cases"
    assert told_notes(log, choice)[-1] == "240 training cases, 500 test cases."


def test_points_lose_the_optimism_that_other_cases_show() -> None:
    chance = (0.5, 0.5, 0.5)
    choice = choose_panels(label_log(0, 60, chance), ALL, test=label_log(1, 4000, chance))
    told = np.array(choice.front.extras["on_training_cases"])
    true = [choice.panel(point).run(choice.test).right(choice.test).mean() for point in range(len(told))]
    assert (choice.front.values[:, 0] <= told).all()
    assert abs(np.mean(choice.front.values[:, 0] - true)) < abs(np.mean(told - true))


def test_under_a_promise_half_of_the_log_calibrates_and_other_cases_measure_the_promise() -> None:
    log, test = label_log(0, 600), label_log(1, 900)
    choice = choose_panels(log, replace(ALL, demand=Demand(0.85, 0.9)), test=test)
    assert choice.calibration is not None
    assert (len(choice.chosen.truth), len(choice.calibration.truth), len(choice.test.truth)) == (
        300,
        300,
        900,
    )
    point = next(place for place, one in enumerate(choice.guarantees) if one.promised)
    own = panel_report(choice, point).verdict.panel_figures
    assert own.of_answers
    assert own == figures(choice.panel(point), test, choice.scoring(test), promised=0.0)
    held = choose_panels(log, replace(ALL, demand=Demand(0.85, 0.9)))
    assert held.calibration is held.test
    assert [one.threshold for one in held.guarantees] == [one.threshold for one in choice.guarantees]


def test_what_picks_by_figures_is_picked_without_the_cases_that_measure() -> None:
    log, tests = label_log(0, 200), [label_log(seed, 300) for seed in (1, 2)]
    chosen = beside_single(choose_panels(log, ALL))
    both = [measured_on_unseen(chosen, log, test) for test in tests]
    assert both[0].front.pick("as-good").index == both[1].front.pick("as-good").index
    told = [panel_report(choice, 0).verdict.panel_figures.n_right for choice in both]
    assert told == [int(chosen.panel(0).run(test).right(test).sum()) for test in tests]


def test_free_text_is_measured_by_agreement() -> None:
    rng = np.random.default_rng(0)

    def log(n_cases: int, more: int) -> AnswerLog:
        truth = np.arange(n_cases) + more
        said = np.where(rng.random((n_cases, 3)) < 0.7, truth[:, None], truth[:, None] + 100_000)
        measures = Measures(prices=[1.0, 1.0, 1.0])
        return make_log(["a", "b", "c"], np.arange(n_cases), said, truth, measures=measures, classes=())

    test = log(90, 1000)
    choice = choose_panels(log(60, 0), ALL, test=test)
    assert choice.test.is_open
    panel = choice.panel(len(choice.found) - 1)
    told = panel_report(choice, len(choice.found) - 1).verdict.panel_figures
    assert (told.n_cases, told.n_right) == (90, int(panel.run(test).right(test).sum()))


def test_a_log_that_cannot_measure_is_refused() -> None:
    log = priced_log(0)
    with pytest.raises(BadInputError, match="test must have every judge of the log, got no large"):
        unseen_cases(in_order(log, [0, 1]), log)
    with pytest.raises(BadInputError, match="test must have cases of known truth, got none"):
        unseen_cases(replace(log, truth=np.full(240, -1)), log)
    with pytest.raises(BadInputError, match="test must have truths as the log has them"):
        choose_panels(label_log(0, 100), ALL, test=other_classes())


def other_classes() -> AnswerLog:
    """The judges of :func:`label_log`, about cases of another truth."""
    return make_log(["j0", "j1", "j2"], np.arange(4), [["no"] * 3] * 4, ["no", "yes", "no", "maybe"])
