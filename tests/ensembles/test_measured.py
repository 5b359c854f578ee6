"""Results of rules on test rows, compared row by row."""

from typing import Any

import numpy as np
import pytest

from shortlist.ensembles.goals.weights import worth_of_right
from shortlist.ensembles.measured import NO_CLASS, Measured, advise, measured_of, only_answer
from shortlist.ensembles.votes.hard_votes import Confusion
from shortlist.report.held_out import confusion_chart
from shortlist.results.verdicts import Word
from tests.stored import Stored


def test_rules_are_compared_row_by_row() -> None:
    def measured(right: list[bool]) -> Measured:
        return Measured(np.eye(2, 3, dtype=np.int64), np.array(["a", "b"]), 1, 1, 0.0, np.array(right))

    difference = measured([True, True, False, True]).against(measured([True, False, False, False]))
    assert (difference.only_first, difference.only_second) == (2, 0)


def test_one_answer_only_is_the_class_that_all_rows_get() -> None:
    classes = np.array([3, 5, 8])
    assert only_answer(np.array([1, 1, NO_CLASS]), classes) == "5"
    assert only_answer(np.array([0, 1, 1]), classes) is None
    assert only_answer(np.array([NO_CLASS]), classes) is None


NAMES = {"pruned": "the committee of 3", "full": "all 9", "best_single": "SVC alone"}

ROWS = np.arange(200)


def measured(n_right: int, size: int, price: float | None = None, *, first: int = 0) -> Measured:
    right = (first <= ROWS) & (first + n_right > ROWS)
    return Measured(
        np.diag([n_right, 200 - n_right, 0])[:2], np.array(["a", "b"]), 1, size, 0.0, right, price
    )


def test_rows_without_an_answer_have_a_column_of_their_own() -> None:
    decided, truth = np.array([0, NO_CLASS, 1, NO_CLASS, 0, 0]), np.array([0, 0, 1, 1, 1, 0])
    classes = np.array(["ill", "well"])
    told = measured_of(decided, truth, size=3, classes=classes, positive=0, ms=1.0)

    assert told.decisions.tolist() == [[2, 0, 1], [1, 1, 1]]
    assert told.confusion == Confusion(2, 0, 1, 1)
    assert (told.accuracy, told.balanced_accuracy) == (0.5, (2 / 3 + 1 / 3) / 2)
    assert told.as_dict()["confusion"]["unanswered"] == told.unanswered == 2
    chart: Any = confusion_chart("Confusion", told.confusions, classes)
    assert chart.data["columns"] == ["ill", "well", "no answer"]
    several = measured_of(decided, truth, size=3, classes=np.array(["a", "b", "c"]), positive=0, ms=1.0)
    assert several.as_dict()["confusion"]["a"] == {"a": 2, "b": 0, "c": 0, "no answer": 1}
    everything = measured_of(truth, truth, size=3, classes=classes, positive=0, ms=1.0)
    chart = confusion_chart("Confusion", everything.confusions, classes)
    assert chart.data["columns"] == ["ill", "well"]
    assert "unanswered" not in everything.as_dict()["confusion"]


@pytest.mark.parametrize(
    ("n_committee", "n_single", "n_full", "word", "take"),
    [
        (190, 188, 188, "as-good", "pruned"), (188, 188, 188, "undecided", "best_single"),
        (187, 188, 188, "as-good", "best_single"), (190, 170, 190, "better", "pruned"),
        (150, 190, 190, "better", "best_single"), (150, 150, 190, "better", "full"), (170, 150, 195, "better", "full"),
    ],
)  # fmt: skip
def test_the_first_line_is_a_decision(
    *, n_committee: int, n_single: int, n_full: int, word: str, take: str, stored: Stored
) -> None:
    sizes = {"pruned": (n_committee, 3), "full": (n_full, 9), "best_single": (n_single, 1)}
    told = advise({name: measured(*size) for name, size in sizes.items()}, NAMES)
    assert (told.verdict.word.value, told.take) == (word, take)
    stored(told.sentence)
    assert told.as_dict()["compared"].startswith("The committee of 3 minus SVC alone: ")
    assert "more rows would decide" not in told.compared()


def test_an_undecided_committee_of_a_pool_is_taken_where_nothing_has_a_price(stored: Stored) -> None:
    behind = {"pruned": measured(188, 3), "best_single": measured(188, 1)}
    told = advise(behind, NAMES, leans=True)
    assert (told.verdict.word, told.take) == (Word.UNDECIDED, "pruned")
    stored(told.sentence)
    priced = {"pruned": measured(175, 3, 6.0), "best_single": measured(180, 1, 5.0)}
    assert advise(priced, NAMES, leans=True).take == "best_single"
    lone = {"pruned": measured(188, 1), "best_single": measured(188, 1)}
    assert advise(lone, NAMES, leans=True).verdict == advise(lone, NAMES).verdict
    costs = np.full(200, 10.0)
    behind_in_costs = advise({"pruned": measured(186, 3), "best_single": measured(188, 1)}, NAMES,
                             leans=True, objective="error_cost", worth=costs)  # fmt: skip
    assert (behind_in_costs.verdict.word, behind_in_costs.take) == (Word.UNDECIDED, "best_single")
    decided = {"pruned": measured(150, 3), "best_single": measured(190, 1)}
    assert advise(decided, NAMES, leans=True).take == "best_single"


def test_all_members_are_taken_with_what_they_cost() -> None:
    test = {
        "pruned": measured(170, 3, 1.5), "full": measured(195, 9, 40.0), "best_single": measured(150, 1, 1.0),
    }  # fmt: skip
    told = advise(test, NAMES, spent=1.25)
    assert (told.take, told.verdict.word) == ("full", Word.BETTER)
    assert told.sentence.endswith(" beside the committee of 3, which costs 1.25 in place of 40.")


def test_a_cheaper_committee_is_taken_where_it_is_not_worse_by_the_margin() -> None:
    single = measured(180, 1, 5.0)
    for n_right, spent, margin, word, take in (
        (180, 1.0, 0.01, "undecided", "pruned"),
        (180, 1.0, 0.02, "as-good", "pruned"),
        (183, 1.0, 0.01, "as-good", "pruned"),
        (175, 1.0, 0.01, "undecided", "best_single"),
        (175, 1.0, 0.06, "as-good", "pruned"),
        (183, 6.0, 0.01, "undecided", "pruned"),
        (183, 6.0, 0.04, "as-good", "best_single"),
    ):
        test = {"pruned": measured(n_right, 3, 6.0), "best_single": single}
        told = advise(test, NAMES, spent=spent, margin=margin)
        assert (told.verdict.word.value, told.take) == (word, take), (n_right, told.sentence)


def test_a_difference_that_few_rows_make_is_no_decision() -> None:
    """Five rows differ, all for the committee: p is 1/16, and the normal interval leaves out zero."""
    told = advise({"pruned": measured(105, 3), "best_single": measured(100, 1)}, NAMES)
    assert told.difference.interval[0] > 0
    assert told.verdict.word is Word.AS_GOOD
    assert told.take == "pruned"


def test_where_no_member_is_as_good_none_is_taken() -> None:
    names = NAMES | {"pruned": "no classifier"}
    told = advise({"pruned": measured(150, 0), "best_single": measured(150, 1)}, names)
    assert told.take == "pruned"
    assert told.sentence == "Use no classifier: SVC alone is not better than one answer to every row."


def test_who_exceeds_the_limit_on_cost_is_no_alternative() -> None:
    test = {
        "pruned": measured(150, 3, 4.0),
        "full": measured(199, 9, 20.0),
        "best_single": measured(190, 1, 8.0),
    }
    told = advise(test, NAMES, most=5.0, verb="Ask")
    assert (told.verdict.word, told.take) == (Word.UNRIVALLED, "pruned")
    assert told.sentence == "Ask the committee of 3: no single one keeps the limit on cost."


def test_the_objective_decides_and_not_accuracy() -> None:
    """Fewer rows are right, but those of the rare class, which recall counts alone."""
    truth = (ROWS >= 160).astype(np.int64)
    committee, single = measured(140, 3, first=60), measured(160, 1)
    test = {"pruned": committee, "best_single": single}
    assert advise(test, NAMES).take == "best_single"
    objective, worth = worth_of_right("recall", truth, 2, 1)
    told = advise(test, NAMES, objective=objective, worth=worth)
    assert (told.take, told.objective) == ("pruned", "recall")
    assert told.difference.gain == pytest.approx(1.0)


def test_the_weights_of_the_paper_are_compared_by_balanced_accuracy() -> None:
    truth = (ROWS >= 160).astype(np.int64)
    objective, worth = worth_of_right("theta_weighted", truth, 2, 1)
    assert objective == "balanced-accuracy"
    assert worth.tolist() == worth_of_right("balanced-accuracy", truth, 2, 1)[1].tolist()


def test_a_weighted_sum_is_told_in_the_unit_of_its_weights_for_a_row() -> None:
    truth = (ROWS >= 160).astype(np.int64)
    objective, worth = worth_of_right({"tp": 1, "tn": 1, "fp": -5}, truth, 2, 1)
    test = {"pruned": measured(150, 3), "best_single": measured(130, 1)}
    told = advise(test, NAMES, objective=objective, worth=worth).sentence
    assert told.startswith("Better: use the committee of 3, +0.6 a row in the weights given (")


@pytest.mark.parametrize(
    "objective", ["accuracy", "balanced-accuracy", "recall", "specificity", {"tp": 1, "fp": -5}]
)
def test_worth_of_right_rows_adds_up_to_differences_of_the_objective(
    objective: str | dict[str, float],
) -> None:
    rng = np.random.default_rng(0)
    truth = (rng.random(60) < 0.3).astype(np.int64)
    one, other = rng.random((2, 60)) < 0.7
    _, worth = worth_of_right(objective, truth, 2, 1)

    def value(right: np.ndarray) -> float:
        found, n_positive = right[truth == 1].sum(), (truth == 1).sum()
        left, n_negative = right[truth == 0].sum(), (truth == 0).sum()
        worths: dict[str, float] = {
            "accuracy": (found + left) / 60,
            "balanced-accuracy": (found / n_positive + left / n_negative) / 2,
            "recall": found / n_positive,
            "specificity": left / n_negative,
        }
        return worths.get(str(objective), float(found - 5.0 * (n_negative - left)) / 60)  # a row

    assert ((1.0 * one - other) * worth).mean() == pytest.approx(value(one) - value(other))


def test_one_member_is_not_compared_with_itself() -> None:
    told = advise({"evolved": measured(180, 1), "best_single": measured(180, 1)}, NAMES | {"evolved": "it"})
    assert (told.verdict.word, told.compared()) == (Word.ALONE, "")
    assert told.sentence == "Use it: no other member was chosen."
