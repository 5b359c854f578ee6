"""One classifier for all feature subsets."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shortlist import EvolutionaryEnsembleClassifier
from shortlist._bits import pack
from shortlist.ensembles import ExactPruner, GreedyMeansPruner
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.export.policies import policy_of
from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.holdout import validation_decisions
from shortlist.multistage.problem.reject_rules import RejectRule, reject_rule
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.multistage.subclassifiers import foreign_subclassifiers
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.foreign_subclassifiers import (
    ForeignSubclassifiers,
    SharedSubclassifiers,
    asked_by_price,
    counts_members,
    member_costs,
    most_asked,
    seeded,
    stage_classifier,
)
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits, StageRows, subset_masks
from shortlist.runs import Budget, Cancellation, Progress, Unit, Work, open_study, run_units
from shortlist.runs.study import KeepSettings
from shortlist.saved_models import SavedModel, load_model, save_model
from shortlist_papers import OrderedPruner

X, Y = make_classification(240, 4, n_informative=3, n_redundant=0, flip_y=0.05, random_state=2)
ROWS = StageRows(learn_encoding(X, list("abcd")), X[:160], Y[:160], X[160:], Y[160:], 2)
TREE = DecisionTreeClassifier(max_depth=6, random_state=0)


def shared(**options: object) -> SharedSubclassifiers:
    return SharedSubclassifiers(ForeignSubclassifiers(ROWS, TREE), **options)  # type: ignore[arg-type]  # a seed


def test_bits_are_those_of_the_one_classifier_with_gaps_elsewhere() -> None:
    ours = shared()
    rule = reject_rule(0.8, np.array([0, 1]))
    bits = DecisionBits(ours, rule).every_subset()

    assert ours.n_fits == 1
    for number, subset in enumerate(subset_masks(4), start=1):
        gaps = X.copy()
        gaps[:, ~subset] = np.nan
        found = ours._models[0].estimator.predict_proba(gaps[160:])
        sure = found.max(axis=1) >= 0.8
        assert bits[number, 0].tolist() == pack(sure, ROWS.n_words).tolist()
        right = sure & (found.argmax(axis=1) == Y[160:])
        assert bits[number, 1].tolist() == pack(right, ROWS.n_words).tolist()


def test_a_seed_gives_the_same_gaps_and_a_subset_has_a_classifier_of_its_own() -> None:
    rule = reject_rule(0.8, np.array([0, 1]))
    first, same, other = (DecisionBits(shared(seed=seed), rule).every_subset() for seed in (1, 1, 2))
    subset = np.array([True, False, True, False])

    assert first.tolist() == same.tolist() != other.tolist()
    alone = DecisionTreeClassifier(max_depth=6, random_state=0).fit(X[:160][:, subset], Y[:160])
    found = shared().model(subset).probabilities(X[160:])
    assert found.tolist() == alone.predict_proba(X[160:][:, subset]).tolist()


def test_it_knows_the_rows_better_the_more_it_sees() -> None:
    found = DecisionBits(shared(), reject_rule(0.5, np.array([0, 1]))).every_subset()
    right = [sum(int(word).bit_count() for word in found[number, 1]) for number in range(1, 16)]
    sizes = [number.bit_count() for number in range(1, 16)]

    assert np.corrcoef(right, sizes)[0, 1] > 0.5
    assert right[14] > 60  # of 80


@pytest.mark.parametrize(("estimator", "takes"), [
    (HistGradientBoostingClassifier(max_iter=3), True),
    (CalibratedClassifierCV(HistGradientBoostingClassifier(max_iter=3)), True),
    (GaussianNB(), False),
])  # fmt: skip
def test_a_classifier_must_take_gaps(estimator: object, takes: bool) -> None:
    own = ForeignSubclassifiers(ROWS, estimator)
    if takes:
        ours = SharedSubclassifiers(own)
        ours.slots(subset_masks(4))
        assert ours.n_fits == 1
        return
    with pytest.raises(BadInputError, match=r"takes missing values, such as .*, got GaussianNB. Leave out"):
        SharedSubclassifiers(own)


def test_nothing_is_fitted_after_a_cancellation() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    own = ForeignSubclassifiers(ROWS, TREE, budget=Budget(cancellation=cancellation))
    with pytest.raises(FitsStoppedError):
        SharedSubclassifiers(own).slots(subset_masks(4))


pytestmark = pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")

IRIS_X, IRIS_Y = load_iris(return_X_y=True, as_frame=True)
IRIS_X = IRIS_X.iloc[:, [0, 2, 3]]
ENSEMBLES = {
    "pruned with proof": ExactPruner(
        objective="accuracy", n_classifiers=3, max_size=2, pruning_rows="held-out", refit=False
    ),
    "pruned by a rule": OrderedPruner(n_classifiers=3, voting="averaged"),
    "evolved": EvolutionaryEnsembleClassifier(population_size=20, n_generations=3),
}


def staged(ensemble: Any, n_features: int = 3, **options: Any) -> MultiStageClassifier:
    return MultiStageClassifier(
        subclassifier=ensemble,
        feature_costs=[1, 3, 3][:n_features],
        confidence=0.7,
        max_stages=2,
        random_state=0,
        **options,
    )


@pytest.mark.parametrize("kind", ENSEMBLES)
def test_an_ensemble_answers_at_every_stage_and_is_saved_with_it(kind: str, tmp_path: Path) -> None:
    rows = IRIS_X.iloc[:, :2]
    clf = staged(ENSEMBLES[kind], 2).fit(rows, IRIS_Y)
    assert clf.front_.proof.kind.value == "complete"
    found = clf.decision_report(rows)
    for number, stage in enumerate(clf.model_.stages, start=1):
        here = (found["stage"] == number).to_numpy()
        member = stage.model.estimator
        assert type(member) is type(ENSEMBLES[kind])
        if here.any():
            asked = member.predict_proba(rows.to_numpy()[here][:, stage.subset])
            answered = ~found["rejected"].to_numpy()[here]
            assert found["confidence"].to_numpy()[here] == pytest.approx(asked.max(axis=1))
            assert (found["label"].to_numpy()[here] == asked.argmax(axis=1))[answered].all()
    save_model(SavedModel(clf, tuple(rows.columns), "kind"), tmp_path / "model.joblib")
    again = load_model(tmp_path / "model.joblib").estimator
    assert (again.predict(rows) == clf.predict(rows)).all()
    assert (
        staged(ENSEMBLES[kind], 2).fit(rows, IRIS_Y).predict(rows) == clf.predict(rows)
    ).all()  # without a seed of its own
    with pytest.raises(BadInputError, match=f"got a {type(member).__name__} at stage 1. Fit the stages with"):
        policy_of(SavedModel(clf, tuple(rows.columns), "kind"))


def test_a_search_with_ensembles_that_was_stopped_goes_on_to_the_same_front(tmp_path: Path) -> None:
    def search(**run: Any) -> MultiStageClassifier:
        options = EmscoOptions(population=4, generations=4, patience=None)
        return staged(ENSEMBLES["evolved"], method="emsco", emsco_options=options).fit(IRIS_X, IRIS_Y, **run)

    stop = Cancellation()

    def after_two(progress: Progress) -> None:
        if progress.stage == "generations" and progress.done == 2:
            stop.cancel()

    with open_study(tmp_path / "s.db", keeping=KeepSettings(every_s=0.0, share=np.inf)) as study:
        stopped = search(study=study, cancellation=stop, report=after_two)
        again = search(study=study)
    whole = search()
    assert (
        stopped.result_.facts["n_generations"]
        < whole.result_.facts["n_generations"]
        == again.result_.facts["n_generations"]
    )
    assert np.array_equal(again.front_.values, whole.front_.values)
    assert (again.predict(IRIS_X) == whole.predict(IRIS_X)).all()


def test_open_seeds_are_set_wherever_they_are_and_others_kept() -> None:
    inner = seeded(CalibratedClassifierCV(ExtraTreesClassifier()), 7)
    assert inner.estimator.random_state == 7
    assert seeded(ExtraTreesClassifier(random_state=3), 7).random_state == 3
    assert ENSEMBLES["evolved"].random_state is None  # those of the user stay as they are


def every_subset() -> np.ndarray:
    return np.array([[bool(number >> place & 1) for place in range(3)] for number in range(1, 8)])


@pytest.mark.parametrize(
    ("after_s", "asked"),
    [(np.inf, [(1, 6), (1, 1)]), (0.0, [(2, 6), (1, 1)]), (1e-9, [(1, 6), (2, 5), (1, 1)])],
    ids=["never", "at once", "after the first"],
)
def test_workers_fit_only_after_seconds_of_fits_here_and_fit_the_same(
    monkeypatch: pytest.MonkeyPatch, after_s: float, asked: list[tuple[int, int]]
) -> None:
    rows = StageRows(
        learn_encoding(IRIS_X.to_numpy(), list("abc")), IRIS_X[::2].to_numpy(), IRIS_Y[::2].to_numpy(), IRIS_X[1::2].to_numpy(),
        IRIS_Y[1::2].to_numpy(), 3,
    )  # fmt: skip
    seen, told = [], []

    def here(units: list[Unit], work: Work, **how: Any) -> Any:
        seen.append((work.workers, len(units)))
        return run_units(units, Work(1, report=work.report, cancellation=work.cancellation), **how)

    def bits(n_jobs: int, **options: Any) -> Any:
        fits = ForeignSubclassifiers(rows, DecisionTreeClassifier(max_depth=2), n_jobs=n_jobs, **options)
        slots = np.r_[fits.slots(every_subset()[:-1]), fits.slots(every_subset()[-1:])]
        found = np.zeros((fits.places.capacity, 2, rows.n_words), dtype=np.uint64)
        fits.write_bits(slots, RejectRule((0.9, 0.9, 0.9)), found)
        return found[slots]

    plain = bits(1, capacity=8)
    monkeypatch.setattr(foreign_subclassifiers, "run_units", here)
    budget = Budget(report=lambda progress: told.append((progress.done, progress.total)))
    other = bits(2, capacity=8, workers_after_s=after_s, budget=budget)
    assert np.array_equal(plain, other)
    assert plain.any()
    assert seen == asked
    of_six, of_one = told[:-2], told[-2:]
    assert {total for _, total in of_six} == {6}
    assert [done for done, _ in of_six] == sorted(done for done, _ in of_six)
    assert (of_six[-1], of_one) == ((6, 6), [(0, 1), (1, 1)])


def test_a_cancelled_fit_here_does_not_go_on_with_workers() -> None:
    stop = Cancellation()
    rows = StageRows(
        learn_encoding(IRIS_X.to_numpy(), list("abc")),
        IRIS_X.to_numpy(),
        IRIS_Y.to_numpy(),
        IRIS_X.to_numpy(),
        IRIS_Y.to_numpy(),
        3,
    )

    def after_two(progress: Progress) -> None:
        if progress.done == 2:
            stop.cancel()

    fits = ForeignSubclassifiers(
        rows, DecisionTreeClassifier(max_depth=2), n_jobs=2, workers_after_s=np.inf,
        budget=Budget(report=after_two, cancellation=stop),
    )  # fmt: skip
    with pytest.raises(FitsStoppedError):
        fits.slots(every_subset())
    assert fits.n_fits == 2


CALLS_X, CALLS_Y = make_classification(
    160, 2, n_informative=2, n_redundant=0, class_sep=0.8, flip_y=0.2, random_state=0
)
PRUNED = ExactPruner(
    objective="log-loss", n_classifiers=4, max_size=3, pruning_rows="held-out", refit=False, random_state=0
)


def test_members_that_are_taken_twice_are_asked_once() -> None:
    twice = GreedyMeansPruner(n_classifiers=3, n_bags=4, random_state=0).fit(CALLS_X, CALLS_Y)

    assert len(twice.pool_) >= 5
    assert asked_by_price(twice, 1).tolist() == [3]
    assert asked_by_price(twice, 3).tolist() == [1, 1, 1]
    assert (most_asked(twice), member_costs(twice)) == (3, None)


def test_how_many_are_asked_at_most_is_known_before_anything_is_fitted() -> None:
    evolved = EvolutionaryEnsembleClassifier(population_size=20, n_generations=3, random_state=0)

    assert most_asked(PRUNED) == 3
    assert most_asked(OrderedPruner(n_classifiers=7)) == 7
    assert most_asked(evolved) == 20
    assert most_asked(evolved.set_params(mode="online")) == 60
    assert most_asked(evolved.set_params(max_members=4)) == 4
    assert most_asked(evolved.set_params(mode="single", max_members=None)) == 1
    assert len(evolved.set_params(mode="offline", max_members=6).fit(CALLS_X, CALLS_Y).asked_) <= 6


def test_a_classifier_that_says_nothing_of_members_is_asked_itself() -> None:
    tree = DecisionTreeClassifier()

    assert not counts_members(tree)
    assert (asked_by_price(tree, 1).tolist(), most_asked(tree), member_costs(tree)) == ([1], 1, None)


@pytest.mark.parametrize(
    ("given", "got"),
    [
        (3.0, "3.0"), ("12", "'12'"), ({0: 1.0}, "{0: 1.0}"), ([], "[]"), ([1, "cheap", 2], "'cheap'"),
        ([1, None], "None"), ([1, -2], "-2"), ([1, np.inf], "inf"), (np.array(2.0), "array(2.)"),
    ],
)  # fmt: skip
def test_costs_of_members_that_are_no_list_of_numbers_are_refused_before_any_fit(
    given: Any, got: str
) -> None:
    sentence = (
        f"must be a list of finite numbers of at least 0, one for each classifier of its pool, got {got}. "
    )
    priced = clone(PRUNED).set_params(member_costs=given, max_cost=9)
    with pytest.raises(BadInputError, match=re.escape(sentence)):
        MultiStageClassifier(subclassifier=priced, random_state=0).fit(CALLS_X, CALLS_Y)


@pytest.mark.parametrize(
    ("method", "prices"), [("enumerate", [0.5, 0.1, 2.0, 0.25]), ("emsco", None)], ids=["priced", "alike"]
)
def test_what_calls_cost_is_added_up_member_by_member_and_row_by_row(method: str, prices: Any) -> None:
    clf = MultiStageClassifier(
        subclassifier=ExactPruner(**PRUNED.get_params() | {"member_costs": prices, "max_cost": prices and 9}),
        confidence=0.7,
        objectives=("coverage", "conclusive_accuracy", "evaluation_cost"), call_cost=0.3, method=method,
        call_cost_per_feature=0.1, max_stages=2, random_state=0,
    ).fit(CALLS_X, CALLS_Y)  # fmt: skip

    for point, (*_, told) in enumerate(clf.front_.values):
        clf.use(point)
        reached = validation_decisions(clf).stages
        paid = Fraction(0)
        for number, stage in enumerate(clf.model_.stages, start=1):
            members = np.flatnonzero(stage.model.estimator.selection_)
            own = [Fraction(3, 10) if prices is None else Fraction(str(prices[member])) for member in members]
            call = sum(price + Fraction(1, 10) * int(stage.subset.sum()) for price in own)
            paid += call * int((reached >= number).sum())
        assert told == float(paid / len(reached))
    assert len(clf.front_) > 1


def test_a_limit_on_calls_is_in_reach_as_far_as_members_may_be_asked() -> None:
    clf = MultiStageClassifier(
        subclassifier=PRUNED, objectives=("coverage", "evaluation_cost"), max_stages=2, random_state=0,
        limits={"evaluation_cost": 5.0},
    ).fit(CALLS_X, CALLS_Y)  # fmt: skip

    assert clf.front_.values[clf.point_, 1] <= 5.0
    assert clf.problem_.most_call_price == 3


def test_one_ensemble_for_all_subsets_asks_its_members_while_it_searches() -> None:
    clf = MultiStageClassifier(
        subclassifier=clone(PRUNED).set_params(min_size=2), share_fits=True,
        objectives=("coverage", "evaluation_cost"), max_stages=2, random_state=0,
    ).fit(CALLS_X, CALLS_Y)  # fmt: skip

    shared: Any = clf.result_.problem.decisions.subclassifiers
    n_members = len(shared._models[0].estimator.asked_)
    assert shared.asked(np.arange(2)).tolist() == [[n_members]] * 2
    assert n_members in {2, 3}


def test_a_study_from_before_members_were_counted_is_of_another_question(tmp_path: Path) -> None:
    made = MultiStageClassifier(
        subclassifier=PRUNED, objectives=("coverage", "evaluation_cost"), max_stages=1, random_state=0
    )
    with open_study(tmp_path / "s.db") as study:
        study.bind({"objectives": ["coverage", "evaluation_cost"]})  # as it was noted then
        with pytest.raises(BadInputError, match=r"objectives was .* there and is .* of members"):
            made.fit(CALLS_X, CALLS_Y, study=study)


def test_a_stage_takes_a_classifier_by_its_name_and_size() -> None:
    forest, boosting = stage_classifier("forest", 4), stage_classifier("boosting", 3)
    assert len(forest.set_params(random_state=0).fit(X, Y).estimators_) == 4
    assert boosting.set_params(random_state=0).fit(X, Y).n_iter_ == 3
    assert stage_classifier("forest").n_estimators == stage_classifier("boosting").max_iter == 50
    assert stage_classifier("logistic") is None


@pytest.mark.parametrize(
    ("kind", "size", "sentence"),
    [
        ("prune", None, "subclassifier must be one of .*, got 'prune'"),
        ("forest", 0, "ensemble_size must be at least 1, got 0"),
        ("logistic", 3, "ensemble_size belongs to an ensemble, got 3 for logistic"),
    ],
)
def test_bad_names_and_sizes_of_classifiers_are_refused(kind: str, size: int | None, sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        stage_classifier(kind, size)
