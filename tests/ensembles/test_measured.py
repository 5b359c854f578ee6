"""What rules do on test rows, compared row by row."""

import numpy as np
import pytest

from shortlist.ensembles.goals.weights import worth_of_right
from shortlist.ensembles.measured import NO_CLASS, Measured, advise, only_answer
from shortlist.results.intervals import Kind


def test_rules_are_compared_row_by_row() -> None:
    def measured(right: list[bool]) -> Measured:
        return Measured(np.eye(2, dtype=np.int64), np.array(["a", "b"]), 1, 1, 0.0, np.array(right))

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
    return Measured(np.diag([n_right, 200 - n_right]), np.array(["a", "b"]), 1, size, 0.0, right, price)


@pytest.mark.parametrize(
    ("n_committee", "n_single", "n_full", "kind", "take", "sentence"),
    [
        (190, 188, 188, Kind.UNDECIDED, "best_single", "Use SVC alone: the committee of 3 is not better beyond chance."),
        (188, 188, 188, Kind.NO_BETTER, "best_single", "Use SVC alone: the committee of 3 is not better."),
        (190, 170, 190, Kind.BETTER, "pruned", "Use the committee of 3: it is better than SVC alone, beyond chance."),
        (150, 190, 190, Kind.WORSE, "best_single", "Use SVC alone: the committee of 3 is worse, beyond chance."),
        (150, 150, 190, Kind.NO_BETTER, "full", "Use all 9: better than SVC alone, beyond chance."),
        (170, 150, 195, Kind.BETTER, "full", "Use all 9: better than the committee of 3, beyond chance."),
    ],
)  # fmt: skip
def test_the_cheapest_that_none_beats_is_recommended(
    *, n_committee: int, n_single: int, n_full: int, kind: Kind, take: str, sentence: str
) -> None:
    test = {
        "pruned": measured(n_committee, 3),
        "full": measured(n_full, 9),
        "best_single": measured(n_single, 1),
    }
    told = advise(test, NAMES)
    assert (told.kind, told.take, told.sentence) == (kind, take, sentence)
    assert told.as_dict()["compared"].startswith("The committee of 3 minus SVC alone: ")
    assert ("more rows, a tenth of them for the test, would decide" in told.compared()) == (
        kind is Kind.UNDECIDED
    )


def test_where_interval_and_test_disagree_it_is_said_that_the_test_decides() -> None:
    """Five rows differ, all for the committee: p is 1/16, and the normal interval leaves out zero."""
    told = advise({"pruned": measured(105, 3), "best_single": measured(100, 1)}, NAMES)
    assert told.difference.interval[0] > 0
    assert told.difference.within_chance
    assert "p = 0.062). McNemar's exact test decides, not the interval." in told.compared()


def test_a_cheaper_committee_is_taken_where_it_is_not_worse() -> None:
    single = measured(180, 1, 5.0)
    for n_right, spent, take in (
        (180, 1.0, "pruned"),
        (183, 1.0, "pruned"),
        (175, 1.0, "best_single"),
        (183, 6.0, "best_single"),
    ):
        told = advise({"pruned": measured(n_right, 3, 6.0), "best_single": single}, NAMES, spent=spent)
        assert told.take == take, told.sentence


def test_where_no_member_is_as_good_none_is_taken() -> None:
    names = NAMES | {"pruned": "no classifier"}
    told = advise({"pruned": measured(150, 0), "best_single": measured(150, 1)}, names)
    assert told.take == "pruned"
    assert told.sentence == "Use no classifier: SVC alone is not better than the same answer to every row."


def test_who_exceeds_the_limit_on_cost_is_no_alternative() -> None:
    test = {
        "pruned": measured(150, 3, 4.0),
        "full": measured(199, 9, 20.0),
        "best_single": measured(190, 1, 8.0),
    }
    told = advise(test, NAMES, most=5.0, verb="Ask")
    assert (told.kind, told.take) == (Kind.UNRIVALLED, "pruned")
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
        return worths.get(str(objective), float(found - 5.0 * (n_negative - left)))

    assert ((1.0 * one - other) * worth).mean() == pytest.approx(value(one) - value(other))


def test_one_member_is_not_compared_with_itself() -> None:
    told = advise({"evolved": measured(180, 1), "best_single": measured(180, 1)}, NAMES | {"evolved": "it"})
    assert (told.kind, told.compared()) == (Kind.JUDGE, "")
    assert told.sentence == "Use it: no other member was chosen."
