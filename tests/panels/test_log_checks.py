"""Right answers by the log's own scores, and labels that differ in spelling alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.export import reader
from shortlist.panels.answer_log import AnswerLog, by_agreement, make_log
from shortlist.panels.choice import choose_panels
from shortlist.panels.figures import figures
from shortlist.panels.log_checks import SILENT, answers_right, folded, scored_codes, spelling_notes
from shortlist.panels.panel_choice import single_panel
from shortlist.panels.saved_panels import load_panel
from tests.panels.made import log_of


def slow_codes(
    codes: list[int], answers: list[list[int]], truth: list[int], right: list[list[bool]]
) -> list[int]:
    told = []
    for code, said, true, is_right in zip(codes, answers, truth, right, strict=True):
        scores = [score for answer, score in zip(said, is_right, strict=True) if answer == code]
        if code < 0 or not scores:
            told.append(code)
        elif any(scores):
            told.append(true)
        else:
            told.append(SILENT if code == true else code)
    return told


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4))
def test_a_decision_counts_as_the_scores_of_equal_answers_say(seed: int, n_cases: int, n_judges: int) -> None:
    rng = np.random.default_rng(seed)
    answers = rng.integers(-2, 3, (n_cases, n_judges))
    codes, truth = rng.integers(-1, 3, n_cases), rng.integers(0, 3, n_cases)
    right = rng.random((n_cases, n_judges)) < 0.5
    told = scored_codes(codes, answers, truth, right).tolist()
    assert told == slow_codes(codes.tolist(), answers.tolist(), truth.tolist(), right.tolist())
    assert scored_codes(codes, answers, truth, None) is codes
    assert (answers_right(answers, truth, None) == (answers == truth[:, None])).all()


def rescored(log: AnswerLog, seed: int) -> AnswerLog:
    """Score the answers by chance, those of one text and case alike."""
    drawn = np.random.default_rng(seed).random((len(log.truth), len(log.classes))) < 0.6
    right = (log.answers >= 0) & drawn[np.arange(len(log.truth))[:, None], log.answers]
    return replace(log, right=right)


@pytest.mark.parametrize("is_open", [False, True])
def test_every_figure_goes_by_the_scores_and_not_by_the_truth(is_open: bool) -> None:
    log = rescored(replace(log_of(np.random.default_rng(1), 3, 600), is_open=is_open, unknown_words={}), 3)
    choice = choose_panels(log)
    for judge, name in enumerate(choice.chosen.judges):
        alone = single_panel(choice, judge)
        assert figures(alone, choice.test).accuracy == choice.test.is_right[:, judge].mean(), name
    for point in range(len(choice.found)):
        panel = choice.panel(point)
        codes = panel.run(choice.test).codes.tolist()
        right = [
            any(said[place] == code and score[place] for place in range(len(said)))
            or (code == true and code not in said and code >= 0)
            for code, said, score, true in zip(
                codes, choice.test.answers.tolist(), choice.test.is_right.tolist(), choice.test.truth.tolist(),
                strict=True,
            )
        ]  # fmt: skip
        assert figures(panel, choice.test).n_right == sum(right)


def test_by_agreement_the_truth_is_what_the_first_right_judge_says() -> None:
    log = make_log(["a", "b"], [1, 2, 3], [["x", "y"], ["x", "x"], ["y", "x"]], ["x"] * 3, classes=["x", "y"])
    scored = replace(log, right=np.array([[False, True], [True, True], [False, False]]))
    assert by_agreement(scored).truth.tolist() == [1, 0, 2]
    assert by_agreement(log).truth.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("label", "alike"),
    [
        pytest.param('"Refund."', "Refund", id="quotes and a full stop"),
        pytest.param("  two  words ", "two words", id="blanks"),
        pytest.param("**B**", "B", id="bold"),
        pytest.param("?", "?", id="nothing else"),
        pytest.param("-5", "-5", id="a sign is no punctuation"),
        pytest.param("3.5", "3.5", id="a point inside"),
    ],
)
def test_punctuation_around_a_label_is_folded(label: str, alike: str) -> None:
    assert folded(label, ["punctuation"]) == alike
    assert folded(label.upper(), ["punctuation", "case"]) == alike.casefold()


def test_labels_that_spelling_tells_apart_are_counted_with_the_option_that_folds_them() -> None:
    (note,), odd = spelling_notes({"refund": 5, "refund.": 312, "Refund": 2, "other": 9}, ["refund", "other"])
    assert note.startswith(
        "314 answers differ from others in spelling alone: 'refund.' (312 times, like 'refund')"
    )
    assert note.endswith(
        "Pass `fold='punctuation,case'` to take them as the same; until then those that are no class count as "
        "missing."
    )
    assert odd == {"refund.", "Refund"}
    assert "`fold='case'`" in spelling_notes({"a": 5, "A": 1}, [])[0][0]
    assert spelling_notes({"a": 5, "b": 1}, []) == ([], set())


def test_a_saved_panel_folds_what_its_log_folded(tmp_path: object) -> None:
    said = [["ham"], ["spam"]] * 20
    log = replace(make_log(["a"], range(40), said, ["ham", "spam"] * 20), folds_punctuation=True)
    panel = choose_panels(log).panel(0)
    path = f"{tmp_path}/panel.json"
    panel.save(path)
    assert load_panel(path).folds_punctuation
    assert reader.answer(panel.plain(), {"a": '"spam."'})["label"] == "spam"
    assert reader.answer(panel.plain() | {"fold_punctuation": False}, {"a": "spam."})["unknown"] == {
        "a": "spam."
    }
    assert panel.next({"a": "SPAM."})["decision"]["unknown"] == {"a": "SPAM."}
