"""Stages that are judged by answers out of fold, on all rows, and fitted on all of them."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError
from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.holdout import (
    measure_validation_rows,
    split_three,
    stage_table,
    validation_decisions,
)
from shortlist.multistage.problem.stages import acquired
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.results.measuring import PAPER, Measuring
from shortlist.runs import Cancellation, Progress, open_study
from shortlist.tables.splits import deal_folds

pytestmark = [
    pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning"),
    pytest.mark.filterwarnings("ignore::shortlist.errors.RoughSearchWarning"),
]

X, Y = make_classification(120, 4, n_informative=3, n_redundant=0, flip_y=0.1, class_sep=0.8, random_state=3)
COSTS = [5, 1, 2, 3]
FEW = EmscoOptions(population=20, generations=6)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


def stages(**options: Any) -> MultiStageClassifier:
    given: dict[str, Any] = {"feature_costs": COSTS, "max_stages": 3, "emsco_options": FEW, "random_state": 0}
    return MultiStageClassifier(**given | options)


def plain_stages(assignment: NDArray[Any], kind: Any, confidence: float) -> list[float]:
    """Return coverage, accuracy and cost of stages whose classifiers are fitted by hand without every fold."""
    fold_of = deal_folds(Y, 5, 0)
    answered = right = paid = 0
    for fold in range(5):
        waiting = np.flatnonzero(fold_of == fold)
        spent = 0
        for subset in acquired(assignment[None, :], int(assignment.max()) + 1)[0]:
            model = kind().fit(X[fold_of != fold][:, subset], Y[fold_of != fold])
            price = int(np.array(COSTS)[subset].sum())
            paid += len(waiting) * (price - spent)
            spent = price
            if not len(waiting):
                break
            found = model.predict_proba(X[waiting][:, subset])
            sure = found.max(axis=1) >= confidence
            answered += int(sure.sum())
            right += int((sure & (found.argmax(axis=1) == Y[waiting])).sum())
            waiting = waiting[~sure]
    return [answered / len(Y), right / max(1, answered), paid / len(Y)]


def logistic() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=1000))


def tree() -> Any:
    return DecisionTreeClassifier(max_depth=3, random_state=0)


@pytest.mark.parametrize(("method", "subclassifier", "shared"), [
    ("enumerate", None, False), ("windows", None, False), ("emsco", None, False), ("enumerate", TREE, False),
    ("enumerate", TREE, True),
])  # fmt: skip
def test_every_point_is_measured_by_what_was_fitted_without_the_row_and_answers_with_what_all_rows_fitted(
    method: str, subclassifier: Any, shared: bool
) -> None:
    kind = logistic if subclassifier is None else tree
    classifier = stages(method=method, subclassifier=subclassifier, share_fits=shared, confidence=0.75)
    classifier.fit(X, Y)
    assert classifier.problem_.n_rows == len(Y)
    assert len(classifier.front_)

    for point in range(0, len(classifier.front_), 3):
        assignment = classifier.front_.decisions[point].astype(np.int8)
        expected = plain_stages(assignment, kind, 0.75)
        assert classifier.front_.values[point].tolist() == pytest.approx(expected)
        told = measure_validation_rows(classifier.use(point))
        assert [told.coverage, told.accuracy, told.cost] == pytest.approx(expected)
        for stage in classifier.model_.stages:
            whole = kind().fit(X[:, stage.subset], Y).predict_proba(X[:, stage.subset])
            assert np.abs(stage.model.probabilities(X) - whole).max() < 1e-6


def test_the_points_of_a_search_with_some_rows_are_measured_on_all() -> None:
    classifier = stages(sample_rows=60, confidence=0.75).fit(X, Y)
    assert "of 120 rows that fit; measured on all rows" in classifier.notes_[0]
    for assignment, values in zip(classifier.front_.decisions, classifier.front_.values, strict=True):
        expected = plain_stages(assignment.astype(np.int8), logistic, 0.75)
        assert values.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("options", [
    {}, {"subclassifier": TREE, "method": "windows"},
])  # fmt: skip
def test_the_number_of_workers_changes_nothing(options: dict[str, Any]) -> None:
    one, two = (stages(n_jobs=n_jobs, **options).fit(X, Y) for n_jobs in (1, 2))
    assert one.front_.values.tolist() == two.front_.values.tolist()
    assert one.front_.decisions.tolist() == two.front_.decisions.tolist()
    assert one.stage_probabilities(X).tolist() == two.stage_probabilities(X).tolist()


@pytest.mark.parametrize(("options", "n_rows", "expected"), [
    ({}, 2000, True), ({}, 2001, False), ({"validation_share": "out-of-fold"}, 10**6, True),
    ({"validation_share": 0.3}, 100, False), ({"emsco_options": EmscoOptions(rules="paper")}, 100, False),
    ({"emsco_options": EmscoOptions(rules="paper"), "validation_share": "out-of-fold"}, 100, True),
])  # fmt: skip
def test_rows_judge_out_of_fold_where_they_are_few(
    options: dict[str, Any], n_rows: int, expected: bool
) -> None:
    assert MultiStageClassifier(**options).validates_out_of_fold(n_rows) is expected


def test_the_rules_as_printed_and_rows_that_are_held_out_keep_the_papers_protocol() -> None:
    fit, judge, test = split_three(Y, seed=4)
    by_hand = stages(random_state=4).fit(X[fit], Y[fit], validation=(X[judge], Y[judge]))
    printed = EmscoOptions(population=20, generations=6, rules="paper")
    for way in ({"validation_share": 1 / 3}, {"emsco_options": printed}):
        table = stage_table(X, Y, stages(random_state=4, **way), seed=4)
        assert table.n_rows == {"train": 60, "validation": 30, "test": 30}
        assert table.classifier.front_.values.tolist() == by_hand.front_.values.tolist()
        assert table.classifier.predict(X[test]).tolist() == by_hand.predict(X[test]).tolist()
        assert table.judged == measure_validation_rows(by_hand)
    folded = stage_table(X, Y, stages(random_state=4), seed=4, measuring=Measuring(PAPER))
    assert folded.n_rows == {"train": 90, "validation": 90, "test": 30, "folds": 5}
    assert folded.test.n_rows == 30
    assert folded.judged.coverage == pytest.approx(
        folded.classifier.front_.values[folded.classifier.point_][0]
    )


def test_all_rows_of_a_case_are_in_one_fold_or_part() -> None:
    cases = np.repeat([f"patient {number}" for number in range(40)], 3)
    for options in ({}, {"validation_share": 0.4}):
        classifier = stages(**options).fit(X, Y, cases=cases)
        rows = classifier.problem_.decisions.subclassifiers.rows
        of_case = {tuple(row): case for row, case in zip(X.tolist(), cases.tolist(), strict=True)}
        for part in rows.parts:
            fitted = {of_case[tuple(row)] for row in part.rows.tolist()}
            judged = {of_case[tuple(row)] for row in rows.validation_rows[part.validates].tolist()}
            assert judged
            assert not fitted & judged
    with pytest.raises(BadInputError, match="cases must have one entry per row, got 119 and 120 rows"):
        stages().fit(X, Y, cases=cases[:-1])
    numbers = np.unique(cases, return_inverse=True)[1]
    found = stage_table(X, Y, stages(), cases=numbers).classifier.problem_.decisions.subclassifiers.rows
    assert found.fold_of is not None
    kept = np.array([of_case[tuple(row)] for row in found.fit_rows.tolist()])
    assert all(len(set(found.fold_of[kept == case].tolist())) == 1 for case in kept)


@pytest.mark.parametrize("subclassifier", [None, TREE], ids=["logistic", "tree"])
def test_a_search_that_was_stopped_goes_on_to_the_same_front(tmp_path: Path, subclassifier: Any) -> None:
    options = {"method": "emsco", "subclassifier": subclassifier}
    whole = stages(**options).fit(X, Y)
    cancellation = Cancellation()

    def stop(progress: Progress) -> None:
        if progress.stage.startswith("generation") or progress.done >= 3:
            cancellation.cancel()

    path = tmp_path / "stages.db"
    with open_study(path) as study:
        stages(**options).fit(X, Y, study=study, report=stop, cancellation=cancellation)
    with open_study(path) as study:
        again = stages(**options).fit(X, Y, study=study)
        assert again.front_.values.tolist() == whole.front_.values.tolist()
        assert again.predict(X).tolist() == whole.predict(X).tolist()
    with open_study(path) as study, pytest.raises(BadInputError):
        stages(**options | {"validation_share": 0.3}).fit(X, Y, study=study)


def test_a_model_keeps_what_all_rows_fitted_for_its_front_alone() -> None:
    classifier = stages(subclassifier=TREE).fit(X, Y)
    saved = pickle.loads(pickle.dumps(classifier))
    used = {
        subset.tobytes()
        for assignment in classifier.front_.decisions.astype(np.int8)
        for subset in acquired(assignment[None, :], int(assignment.max()) + 1)[0]
    }
    assert set(saved._models) == used
    assert not hasattr(saved, "problem_")
    for point in range(len(classifier.front_)):
        assert saved.use(point).predict(X).tolist() == classifier.use(point).predict(X).tolist()


def test_a_class_with_one_row_fits_and_judges_nothing() -> None:
    labels = Y.copy()
    labels[7] = 2
    classifier = stages().fit(X, labels)
    assert classifier.problem_.n_rows == len(Y) - 1
    assert 2 not in classifier.problem_.labels
    assert all(2 in part.labels for part in classifier.problem_.decisions.subclassifiers.rows.parts)
    assert len(validation_decisions(classifier).labels) == len(Y) - 1
    with pytest.raises(BadInputError, match="a class needs at least 2 rows to fit and to choose by"):
        stages().fit(X[:4], np.arange(4))
