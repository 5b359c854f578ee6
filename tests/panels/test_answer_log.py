"""Logs of answers: labels, gaps, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from shortlist.errors import BadInputError
from shortlist.guarantees.cells import NOT_ASKED
from shortlist.panels.answer_log import Measures, make_log
from shortlist.panels.log_checks import SILENT, UNASKED
from tests.stored import Stored

SAID = [["1", 1.0, NOT_ASKED], [True, "2 ", None], ["Error 429", "", float("nan")], [2, "1.0", "1"]]
TRUTH = [1, 2, "2", None]


def test_labels_are_compared_as_text_without_what_surrounds_them(stored: Stored) -> None:
    log = make_log(["a", "b", "c"], [1, 2, 3, 4], np.array(SAID, dtype=object), TRUTH)

    assert log.classes == ("1", "2")
    assert log.answers.tolist() == [
        [0, 0, UNASKED],
        [SILENT, 1, SILENT],
        [SILENT, SILENT, SILENT],
        [1, 0, 0],
    ]
    assert log.truth.tolist() == [0, 1, 1, SILENT]
    assert dict(log.unknown_words) == {"True": 1, "Error 429": 1}
    stored(*log.notes)


def test_classes_that_are_named_are_the_only_answers() -> None:
    log = make_log(["a"], [1, 2], [["x"], ["y"]], [None, "x"], classes=["x", "y", "z"])

    assert log.classes == ("x", "y", "z")
    assert log.answers.tolist() == [[0], [1]]


def test_open_answers_that_no_truth_holds_are_wrong_and_not_silent() -> None:
    said = [[str(number + (number % 3 == 0))] for number in range(40, 52)]
    log = make_log(["a"], list(range(12)), said, [str(number) for number in range(40, 52)])

    assert not log.unknown_words
    assert (log.answers[:, 0] != log.truth).tolist() == [number % 3 == 0 for number in range(40, 52)]


def test_without_truth_the_answers_are_the_classes() -> None:
    log = make_log(["a", "b"], [1, 2], [["x", "y"], ["y", None]])

    assert log.classes == ("x", "y")
    assert log.truth.tolist() == [SILENT, SILENT]


def test_cases_of_one_name_are_one_group() -> None:
    log = make_log(["a"], ["p", "q", "p"], [["x"], ["y"], ["x"]], ["x", "y", "x"])

    assert log.groups is not None
    assert log.groups.tolist() == [0, 1, 0]
    assert make_log(["a"], ["p", "q"], [["x"], ["y"]]).groups is None


def test_a_judge_who_is_always_right_is_pointed_at() -> None:
    truth = ["x", "y"] * 10
    log = make_log(["a", "b"], range(20), [[label, "x"] for label in truth], truth)
    assert "Always right, as a copy of the truth would be: 'a'." in log.notes

    few = make_log(["a", "b"], range(19), [[label, "x"] for label in truth[:19]], truth[:19])
    assert not any("copy" in note for note in few.notes)


def test_judges_that_are_never_right_are_pointed_at() -> None:
    said, note = [["x"], ["y"]] * 10, "No judge is ever right. Check which column holds the truth."
    assert note in make_log(["a"], range(20), said, ["y", "x"] * 10).notes
    assert note not in make_log(["a"], range(20), said, ["y"] * 20, classes=["x", "y"]).notes


def test_some_cases_keep_all_that_is_told_of_them() -> None:
    log = make_log(
        ["a", "b"], ["p", "q", "p"], [["x", "y"]] * 3, ["x", "y", "x"],
        measures=Measures(prices=[1.0, 2.0], latency=np.arange(6.0).reshape(3, 2)),
        features=pd.DataFrame({"length": [3, 4, 5]}),
    )  # fmt: skip
    part = log.at(np.array([False, True, True]))

    assert part.cases.tolist() == ["q", "p"]
    assert part.prices.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert part.features["length"].tolist() == [4, 5]
    assert part.latency is not None
    assert part.latency.tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert part.truth.tolist() == [1, 0]
    assert part.confidence is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"judges": ["a", "a"]}, "judges must come once each, got 'a' twice", id="judge twice"),
        pytest.param({"judges": []}, "judges must be at least one name", id="no judge"),
        pytest.param({"cases": []}, "cases must name at least one case", id="no case"),
        pytest.param({"said": [["x"], ["y"]]}, r"answers must have shape \(2, 2\)", id="shape"),
        pytest.param({"said": [[{}, {}], [{}, {}]]}, "answers must be labels", id="mapping as label"),
        pytest.param({"classes": ["z"]}, "classes must hold every label of the truth", id="other classes"),
        pytest.param(
            {"measures": Measures(prices=[1.0, -2.0])},
            "prices must be numbers of at least 0, got -2 for 'b'",
            id="negative price",
        ),
        pytest.param({"measures": Measures(prices=[np.nan, 1.0])}, "at least 0, got nan for 'a'", id="price is NaN"),
        pytest.param({"measures": Measures(latency=[[1, 1], [1, -1]])}, "latency must be numbers", id="negative latency"),
        pytest.param({"measures": Measures(confidence=np.array([[1, 1], [1, np.inf]]))}, "got inf", id="infinite confidence"),
        pytest.param({"measures": Measures(probabilities=np.full((2, 2, 2), 0.9))}, "sum of 1.8", id="not one"),
        pytest.param({"features": pd.DataFrame({"a": [1]})}, "features must have a row", id="rows"),
        pytest.param({"cases": ["p", "p"], "groups": [0, 1]}, "groups must be equal", id="groups"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_log_is_refused_in_a_sentence(changes: dict[str, object], message: str) -> None:
    given = {"judges": ["a", "b"], "cases": [1, 2], "said": [["x", "y"]] * 2, "truth": ["x", "y"], **changes}
    with pytest.raises(BadInputError, match=message):
        make_log(**given)  # type: ignore[arg-type]
