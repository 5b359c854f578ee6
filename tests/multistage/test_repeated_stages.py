"""Stages by repeated choice: points chosen on half of the rows, counted by hand on the other half."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_classification

from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.holdout import REACHED, REPEATED, TESTED_APART, stage_table
from shortlist.multistage.problem.stages import acquired
from shortlist.multistage.recheck import recheck_stages
from shortlist.multistage.repeated_stages import front_on, repeat_stages
from shortlist.multistage.search.replayed import decided
from shortlist.results.measuring import Measuring, TableRows
from shortlist.results.repeated_choice import deal_parts
from shortlist.results.verdicts import Word

pytestmark = pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")

COSTS = [5, 1, 2, 3]
X, Y = make_classification(150, 4, n_informative=3, n_redundant=0, flip_y=0.1, class_sep=0.8, random_state=3)
Path = list[tuple[bool, bool, int]]


def stages(**options: Any) -> MultiStageClassifier:
    given: dict[str, Any] = {"feature_costs": COSTS, "max_stages": 3, "random_state": 0, "confidence": 0.8}
    return MultiStageClassifier(**given | options)


def by_hand(classifier: MultiStageClassifier, assignment: NDArray[Any]) -> Path:
    """Return of each row whether it is answered, whether rightly, and what it pays, by the probabilities."""
    subclassifiers = classifier.problem_.decisions.subclassifiers
    told = []
    for subset in acquired(assignment[None, :], int(assignment.max()) + 1)[0]:
        shares = subclassifiers.validation_probabilities(subset)
        told.append((shares.max(axis=1) >= 0.8, shares.argmax(axis=1), sum(np.array(COSTS)[subset].tolist())))
    found = []
    for row, label in enumerate(classifier.problem_.labels.tolist()):
        sure = next((stage for stage in told if stage[0][row]), None)
        last = told[-1] if sure is None else sure
        found.append((sure is not None, sure is not None and int(sure[1][row]) == label, last[2]))
    return found


def one_se(paths: list[Path], kept: list[int], n_rows: int) -> int:
    """Return the cheapest of the points that are not dominated and right about as often as the best."""

    def told(path: Path) -> tuple[Fraction, Fraction, Fraction]:
        n, n_right = sum(path[i][0] for i in kept), sum(path[i][1] for i in kept)
        paid = Fraction(sum(path[i][2] for i in kept), len(kept))
        return Fraction(n, len(kept)), Fraction(n_right, max(1, n)), paid

    values = [told(path) for path in paths]
    best = [
        place for place, (n, right, paid) in enumerate(values)
        if not any(
            (other[0] >= n and other[1] >= right and other[2] <= paid and other != (n, right, paid))
            or (other == (n, right, paid) and at < place)
            for at, other in enumerate(values)
        )
    ]  # fmt: skip
    shares = {place: float(values[place][0] * values[place][1]) for place in best}
    most = max(shares.values())
    slack = math.sqrt(most * (1 - most) / n_rows)
    enough = [place for place in best if shares[place] >= most - slack - 1e-12]
    return min(enough, key=lambda place: (values[place][2], -shares[place], place))


def test_every_row_is_measured_by_a_point_that_was_chosen_without_it() -> None:
    classifier = stages().fit(X, Y)
    found = repeat_stages(classifier, 7)
    paths = [by_hand(classifier, one) for one in classifier.front_.decisions.astype(np.int8)]
    everything = classifier.problem_.decisions.subclassifiers.validation_probabilities(np.ones(4, dtype=bool))
    labels, expected = classifier.problem_.labels, list[tuple[bool, bool, int]]()
    parts = deal_parts(labels, 7, n_candidates=len(paths))
    assert found.times == len(parts) == 10
    for part_of in parts:
        chosen = {
            part: one_se(paths, np.flatnonzero(part_of != part).tolist(), len(labels)) for part in (0, 1)
        }
        expected += [paths[chosen[part]][row] for row, part in enumerate(part_of.tolist())]
    assert (found.said >= 0).tolist() == [one[0] for one in expected]
    assert (found.said == found.truth).tolist() == [one[1] for one in expected]
    assert found.costs.tolist() == [one[2] for one in expected]
    all_right = (found.all_said == found.truth).tolist()
    assert all_right == 10 * (everything.argmax(axis=1) == labels).tolist()
    assert found.truth.tolist() == 10 * labels.tolist()

    told = stage_table(X, Y, stages(), seed=7)
    n = 10 * len(Y)
    assert told.n_rows == {"train": 150, "validation": 150, "test": 150, "folds": 5, "parts": 2}
    assert told.test.coverage == pytest.approx(sum(one[0] for one in expected) / n)
    assert told.test.n_right == pytest.approx(sum(one[1] for one in expected) / 10)
    assert told.test.cost == pytest.approx(sum(one[2] for one in expected) / n)
    assert (told.single_stage.coverage, told.single_stage.cost) == (1, 11)
    others = sum(one[0] and right for one, right in zip(expected, all_right, strict=True))
    assert told.difference.gain == pytest.approx(told.test.n_right / 150 - others / n)
    extras = told.classifier.front_.extras
    assert "held_out" not in extras
    assert extras[REPEATED] == {"point": told.classifier.point_} | told.test.as_dict()
    assert extras[REACHED] == {"point": told.classifier.point_, "shares": told.reached}
    labels = 10 * labels.tolist()
    counts = [
        [sum(one == true and path[:2] == what for one, path in zip(labels, expected, strict=True)) / 10
         for what in ((True, True), (True, False), (False, False))]
        for true in (0, 1)
    ]  # fmt: skip
    (right, wrong, none), (right_1, wrong_1, none_1) = counts
    assert told.test.confusion == ((right, wrong, none), (wrong_1, right_1, none_1))


def test_some_rows_count_as_a_problem_of_these_rows_would() -> None:
    classifier = stages(
        objectives=("coverage", "conclusive_accuracy", "false_positive_rate", "worst_case_cost")
    ).fit(X, Y)
    problem, whole = classifier.problem_, classifier.front_
    rows = np.arange(0, 150, 3)
    half = problem.counting(rows)
    assert (half.n_rows, half.labels.tolist()) == (50, problem.labels[rows].tolist())
    for assignment in whole.decisions.astype(np.int8):
        said, paid = decided(problem, assignment)
        answered, right, paid = said[rows] >= 0, (said == problem.labels)[rows], paid[rows]
        false = (answered & ~right & (problem.labels[rows] != 1)).sum() / (problem.labels[rows] != 1).sum()
        told = half.values(half.measures(assignment[None, :]))[0].tolist()
        accuracy = right.sum() / max(1, answered.sum())
        assert told == pytest.approx([answered.mean(), accuracy, false, paid.max()])
    assert front_on(half, whole).objectives == whole.objectives


@pytest.mark.parametrize("options", [{"pick": 3}, {"limits": {"coverage": 0.5}}, {"pick": "norm"}])
def test_any_way_to_pick_is_repeated(options: dict[str, Any]) -> None:
    told = stage_table(X, Y, stages(**options), seed=1)
    assert 0 < told.test.coverage <= 1
    assert told.test.n_rows == 150


def test_cases_stay_in_one_part() -> None:
    cases = np.repeat(np.arange(50), 3)
    again = stage_table(X, Y, stages(), seed=1, cases=cases)
    fold_of = again.classifier.problem_.decisions.subclassifiers.rows.fold_of
    assert fold_of is not None
    order = np.argsort(fold_of, kind="stable")
    found = repeat_stages(again.classifier, 1, cases=cases)
    parts = deal_parts(Y[order], 1, cases[order], n_candidates=len(again.classifier.front_))
    assert all(len(set(part[cases[order] == case].tolist())) == 1 for part in parts for case in range(50))
    assert (found.said == found.truth).sum() / 10 == pytest.approx(again.test.n_right)


def test_rows_of_a_file_measure_and_all_of_the_table_chooses() -> None:
    new, truth = X[:40] + 0.1, Y[:40]
    told = stage_table(X, Y, stages(), seed=1, measuring=Measuring(test=TableRows(new, truth)))
    report = told.classifier.decision_report(new)
    answered = ~report["rejected"].to_numpy()
    assert (told.n_rows["train"], told.n_rows["test"]) == (150, 40)
    assert told.test.coverage == pytest.approx(answered.mean())
    assert told.test.cost == pytest.approx(report["cost"].mean())
    extras = told.classifier.front_.extras
    assert extras[TESTED_APART]
    assert extras["held_out"][told.classifier.point_]["n_answered"] == int(answered.sum())
    again = recheck_stages(told.classifier, X, Y, n_sampled=5)
    assert (again.failures, again.is_tested_apart) == ((), True)


def test_the_margin_decides_whether_a_cheaper_choice_is_as_good() -> None:
    told = stage_table(X, Y, stages(confidence=0.5), seed=1, measuring=Measuring(margin=0.2))
    assert told.verdict.word is Word.AS_GOOD
    assert told.sentence == (
        "As good: use these stages, no worse than all features at once by more than 20 points, and cheaper."
    )
    strict = stage_table(X, Y, stages(confidence=0.5), seed=1, measuring=Measuring(margin=0.0))
    assert strict.verdict.word is not Word.AS_GOOD
