"""Labels that differ in spelling alone, in logs, saved panels and the reader."""

from dataclasses import replace

import pytest

from shortlist.export import reader
from shortlist.panels.answer_log import make_log
from shortlist.panels.choice import choose_panels
from shortlist.panels.log_checks import folded, spelling_notes
from shortlist.panels.saved_panels import load_panel


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
