"""Answers that nobody knows in advance: panels decide by which of them are equal, also about words never seen."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.export import reader
from shortlist.export.protocol_text import markdown
from shortlist.panels.answer_log import AnswerLog, Measures, by_agreement, make_log
from shortlist.panels.choice import choose_panels, told_notes
from shortlist.panels.decisions import ConfidenceScale, JudgeVotes
from shortlist.panels.facts import panel_report
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.policy import Final, Panel, Stage
from shortlist.panels.protocol import panel_protocol
from shortlist.panels.recipes import Recipe
from tests.panels.test_saved_panels import SCHEMA, fits

JUDGES = ("a", "b", "c")


def open_log(seed: int = 0, n_cases: int = 160) -> AnswerLog:
    """Each case has an answer of its own; judges are silent at times, and agree on wrong answers at times."""
    rng = np.random.default_rng(seed)
    truth = np.array([f"answer {case}" for case in range(n_cases)])
    wrong = np.array([f"{rng.integers(0, 2)} no {case}" for case in range(n_cases)])
    said = np.where(rng.random((n_cases, 3)) < [0.6, 0.7, 0.8], truth[:, None], wrong[:, None]).astype(object)
    said[rng.random(said.shape) < 0.05] = ""
    return make_log(JUDGES, np.arange(n_cases), said, truth, measures=Measures(prices=[1.0, 2.0, 5.0]))


@pytest.mark.parametrize("final", [Final(), Final("hand-over", 9.0), Final("reject")])
def test_every_panel_of_the_front_is_measured_as_it_answers(final: Final) -> None:
    log = open_log()
    choice = choose_panels(log, PanelOptions(final=final))
    for point in range(len(choice.found)):
        panel = choice.panel(point)
        assert panel.plain()["classes"] == []
        own = panel.run(choice.test)
        assert panel_report(choice, point).facts["held_out"]["accuracy"] == own.right(choice.test).mean()


def test_words_that_were_never_seen_win_by_agreement() -> None:
    choice = choose_panels(open_log())
    panel = choice.of_recipe(Recipe(((0, 1, 2),), (0.0,), "votes"))
    told = panel.next({"a": "Novi Sad", "b": " Novi Sad", "c": "Subotica"})
    assert told["ask"] == []
    assert told["decision"]["label"] == "Novi Sad"
    assert told["decision"]["unknown"] == {}
    folding = replace(panel, folds_case=True)
    assert folding.next({"a": "Novi sad", "b": "novi Sad", "c": "x"})["decision"]["label"] == "Novi sad"
    assert "Answers are the same if all letters are" in markdown(panel_protocol(panel))


def test_letters_that_were_folded_in_the_log_are_folded_in_the_policy() -> None:
    log = replace(
        make_log(["a"], range(40), [[one] for one in ["ham", "spam"] * 20], ["ham", "spam"] * 20),
        folds_case=True,
    )
    policy = choose_panels(log).panel(0).plain()
    assert fits(policy, SCHEMA)
    assert reader.answer(policy, {"a": " SPAM "})["label"] == "spam"
    assert reader.answer(policy | {"fold_case": False}, {"a": "SPAM"})["unknown"] == {"a": "SPAM"}


def test_a_log_is_open_where_most_truths_come_once_or_many_do() -> None:
    some = [f"{place}" for place in range(40)]
    truths = {
        "each its own": (some, True),
        "a third once": ([*some[:20], *["0", "1"] * 20], True),
        "few once": ([*some[:9], *["0", "1"] * 40], False),
        "two classes": (["0", "1"] * 20, False),
    }
    for truth, is_open in truths.values():
        log = make_log(["a"], range(len(truth)), [[one] for one in truth], truth)
        assert log.is_open == is_open
        again = by_agreement(by_agreement(log))
        assert (again.answers == by_agreement(log).answers).all()
    assert any("answers are free text" in one for one in told_notes(open_log(), choose_panels(open_log())))


@pytest.mark.parametrize(
    ("options", "objectives", "sentence"),
    [
        (PanelOptions(decide="logistic"), ("accuracy", "price"), "decide must be votes, weighted-votes or agreement"),
        (PanelOptions(ties="first"), ("accuracy", "price"), "ties must be unanswered where answers are free text"),
        (PanelOptions(), ("error-cost", "price"), "objectives must begin with accuracy"),
    ],
)  # fmt: skip
def test_what_needs_classes_is_refused(
    options: PanelOptions, objectives: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(BadInputError, match=sentence):
        choose_panels(open_log(), options, objectives=objectives)


def test_a_damaged_policy_of_open_answers_is_refused() -> None:
    policy = choose_panels(open_log()).panel(0).plain()
    del policy["digest"]
    stage = policy["stages"][0]
    for changed in ({"ties": "first"}, {"rule": "logistic"}):
        damaged = policy | {"stages": [stage | {"decision": stage["decision"] | changed}]}
        with pytest.raises(reader.ReaderError, match="of a decision"):
            reader.check(damaged)


def by_all_votes() -> Panel:
    everybody = Stage((0, 1, 2), JudgeVotes((0, 1, 2), (1, 1, 1)), 0.0)
    return Panel(JUDGES, (), (everybody,), (1.0, 2.0, 5.0), ConfidenceScale((None,) * 3), (math.nan,) * 3)


def test_cases_that_were_asked_again_do_not_make_answers_classes() -> None:
    log = open_log()
    said = np.array([*log.classes, ""], dtype=object)[log.answers]
    twice = make_log(
        JUDGES, np.tile(log.cases, 2), np.tile(said, (2, 1)), np.tile(np.array(log.classes)[log.truth], 2)
    )
    assert twice.is_open
    assert not twice.unknown_words


def test_the_schema_takes_no_single_class() -> None:
    policy = by_all_votes().plain()
    assert fits(policy, SCHEMA)
    assert not fits(policy | {"classes": ["one"]}, SCHEMA)


def test_classes_may_be_an_array() -> None:
    classes: Any = np.array(["y", "x"])
    log = make_log(("a", "b"), range(2), [["x", "y"], ["y", "x"]], ["x", "y"], classes=classes)
    assert log.classes == ("x", "y")
    assert not log.is_open


def test_numbers_are_equal_however_they_are_written() -> None:
    words = [["12.50", "12.5", "13"], ["007", "7.0", "1e3"], ["1000", "1E3", "-0"], ["0", "-0.0", "12a"]]
    log = make_log(JUDGES, range(4), words, ["12.5", "7", "1000", "0"], classes=())
    assert log.answers[:, 0].tolist() == log.answers[:, 1].tolist() == log.truth.tolist()
    assert (log.answers[:, 2] != log.truth).all()
    for row in words:
        told = reader.answer(by_all_votes().plain(), dict(zip(JUDGES, row, strict=True)))
        assert told["label"] == row[0]


def test_a_panel_of_free_text_refuses_a_log_whose_other_words_are_lost() -> None:
    panel = by_all_votes()
    closed = make_log(JUDGES, range(3), [["x", "x", "foo"]] * 3, ["x", "y", "x"])
    with pytest.raises(
        BadInputError, match=r"free text, as the panel knows no classes.*Read it with `classes=\(\)`"
    ):
        panel.run(closed)
    read = make_log(JUDGES, range(3), [["x", "x", "foo"]] * 3, ["x", "y", "x"], classes=())
    assert panel.run(read).right(read).tolist() == [True, False, True]


def test_the_note_says_whether_capitals_count() -> None:
    log = open_log()
    choice = choose_panels(log, PanelOptions(final=Final("reject")))
    assert any("letter by letter" in one for one in told_notes(log, choice))
    assert not any("error-cost" in one for one in told_notes(log, choice))
    folded = replace(log, folds_case=True)
    assert any("but for capitals" in one for one in told_notes(folded, choose_panels(folded)))
