"""Candidates that every log has: one answer to every case, and a judge with another one where it is silent."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shortlist.export import reader
from shortlist.export.protocol_text import picture
from shortlist.panels import load_panel
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import choose_panels
from shortlist.panels.facts import panel_report
from shortlist.panels.panel_choice import PanelChoice
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.protocol import panel_protocol
from shortlist.panels.recipes import Candidate, candidate_of


def silent_log(n_cases: int = 300) -> AnswerLog:
    """A good judge that is silent in a tenth of the cases, a poor one, and a dear one."""
    rng = np.random.default_rng(4)
    truth = rng.choice(["ham", "spam"], n_cases, p=[0.6, 0.4])
    other = np.where(truth == "ham", "spam", "ham")
    said = np.where(rng.random((n_cases, 3)) < [0.95, 0.7, 0.9], truth[:, None], other[:, None]).astype(
        object
    )
    said[rng.random(n_cases) < 0.1, 0] = ""
    measures = Measures(prices=[1.0, 0.2, 9.0])
    return make_log(["good", "poor", "dear"], np.arange(n_cases), said, truth, measures=measures)


def skewed_log(n_cases: int = 400) -> AnswerLog:
    """Two judges that are right less often than the answer ham to every case."""
    rng = np.random.default_rng(1)
    truth = rng.choice(["ham", "spam"], n_cases, p=[0.92, 0.08])
    other = np.where(truth == "ham", "spam", "ham")
    said = np.where(rng.random((n_cases, 2)) < [0.7, 0.8], truth[:, None], other[:, None])
    return make_log(["a", "b"], np.arange(n_cases), said, truth, measures=Measures(prices=[1.0, 2.0]))


def of_constant(choice: PanelChoice) -> int:
    return next(place for place, one in enumerate(choice.found) if one.recipe.alone is not None)


def test_one_answer_to_every_case_is_the_cheapest_point_and_right_as_often_as_its_class() -> None:
    log = skewed_log()
    choice = choose_panels(log, PanelOptions(test_share=None))
    one = choice.found[of_constant(choice)]
    assert one.price == min(found.price for found in choice.found) == 0
    assert one.loss == int((log.truth != log.classes.index("ham")).sum())
    again = candidate_of(choice.cases, one.recipe, choice.front.names)
    assert again[:3] == one[:3] or np.isnan(one.seconds)


def test_where_nothing_is_better_than_one_answer_the_first_line_names_it() -> None:
    choice = choose_panels(skewed_log(), PanelOptions(test_share=None))
    told = panel_report(choice, None).facts
    assert told["advice"].startswith("Answer 'ham' to every case, without asking: accuracy 0.9")
    constant = panel_report(choice, of_constant(choice)).facts
    assert not (constant["advice"] or "").startswith("Answer")
    assert constant["in_words"] == [
        "Answer 'ham' to every case, without any call: that answers 100 % of the cases."
    ]
    assert constant["front"][of_constant(choice)]["stages"] == "'ham' to every case, no judge"


def test_one_answer_to_every_case_is_saved_answered_and_drawn(tmp_path: Path) -> None:
    log = skewed_log()
    choice = choose_panels(log, PanelOptions(test_share=None))
    panel = choice.panel(of_constant(choice))
    panel.save(tmp_path / "panel.json")
    policy = json.loads((tmp_path / "panel.json").read_text())
    reader.check(policy)
    loaded = load_panel(tmp_path / "panel.json")
    assert loaded.plain() == panel.plain()
    assert loaded.run(log).codes.tolist() == [log.classes.index("ham")] * len(log.truth)
    assert reader.next_step(policy, {})["decision"]["label"] == "ham"
    assert "ham" in picture(panel_protocol(panel))


def test_a_class_that_costs_least_is_the_one_answer() -> None:
    options = PanelOptions(test_share=None, error_costs={("ham", "spam"): 50, ("spam", "ham"): 1})
    choice = choose_panels(skewed_log(), options, objectives=("error-cost", "price"))
    one = choice.found[of_constant(choice)].recipe
    assert one.alone is not None
    assert choice.chosen.classes[one.alone.code] == "spam"


def fallback_of(choice: PanelChoice) -> Candidate:
    return next(
        one for one in choice.found if one.recipe.sets == ((0,), (0, 1)) and one.recipe.thresholds == (0, 0)
    )


@pytest.mark.parametrize("is_open", [False, True], ids=["classes", "free text"])
def test_a_judge_with_another_one_where_it_is_silent_is_a_candidate_and_told_by_name(is_open: bool) -> None:
    log = silent_log()
    if is_open:
        texts = np.array(
            [f"{place % 60} {log.classes[one]}" for place, one in enumerate(log.truth)], dtype=object
        )
        said = np.array(
            [
                [f"{place % 60} {log.classes[one]}" if one >= 0 else "" for one in row]
                for place, row in enumerate(log.answers)
            ],
            dtype=object,
        )
        log = make_log(
            log.judges,
            np.arange(len(texts)),
            said,
            texts,
            measures=Measures(prices=[1.0, 0.2, 9.0]),
            classes=(),
        )
    choice = choose_panels(log, PanelOptions(decide="votes", test_share=None, max_stages=2))
    found = fallback_of(choice)
    first = log.answers[:, 0] >= 0
    right = np.where(first, log.is_right[:, 0], log.is_right[:, 1])
    assert found.loss == int((~right).sum())
    assert found.price == choice.steps * len(log.truth) + round(0.2 * choice.steps) * int((~first).sum())
    told = panel_report(choice, choice.found.index(found)).facts["in_words"]
    assert told[0].startswith("Ask good (1 a case)")
    assert told[1].startswith("Where good gives no answer, ask poor (0.2 a case)")


def test_no_fallback_is_tried_in_one_stage() -> None:
    options = PanelOptions(decide="votes", test_share=None)
    log = silent_log()
    fallback_of(choose_panels(log, options))
    with pytest.raises(StopIteration):
        fallback_of(choose_panels(log, replace(options, max_stages=1)))
