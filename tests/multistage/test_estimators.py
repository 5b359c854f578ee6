import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_iris, make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shortlist.errors import BadInputError, FitsStoppedError, LowCoverageWarning, UnmetChoiceError
from shortlist.multistage import AcquisitionError, MultiStageClassifier, engines, feature_costs
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.multistage.search.window_search import WindowOptions, search_windows
from shortlist.results.objective import read_limit
from shortlist.results.proof import ProofKind
from shortlist.runs import Cancellation, Progress
from tests.contract import keeps_contract
from tests.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")


@keeps_contract(MultiStageClassifier())
def test_scikit_learns_contract_is_kept(estimator: Any, check: Any) -> None:
    check(estimator)


@keeps_contract(
    MultiStageClassifier(answer_rejected=True),
    MultiStageClassifier(confidence=0.3, answer_rejected=True),
    tables=False,
)
def test_it_is_kept_where_rejected_rows_are_answered(estimator: Any, check: Any) -> None:
    check(estimator)


def mixed(n_rows: int = 150, seed: int = 0) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Rows with numbers, gaps and text."""
    X, y = make_classification(n_rows, 4, n_informative=3, n_redundant=0, random_state=seed)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["c"] = np.where(frame["c"] > 0.5, "high", np.where(frame["c"] > -0.5, "mid", "low"))
    frame.loc[::7, "b"] = np.nan
    return frame, np.where(y == 1, "ill", "well")


def staged(**options: Any) -> tuple[MultiStageClassifier, pd.DataFrame]:
    X, y = mixed()
    defaults: dict[str, Any] = {
        "feature_costs": {"a": 5, "b": 1, "c": 1.5, "d": 2},
        "confidence": 0.75,  # several points, and rejected rows
        "max_stages": 3,
        "validation_share": 1 / 3,
        "random_state": 0,
    }
    clf = MultiStageClassifier(**{**defaults, **options})
    return clf.fit(X, y), mixed(60, seed=1)[0]


class Market:
    """Sells features of rows and remembers every sale."""

    def __init__(self, X: pd.DataFrame, as_frame: bool = False) -> None:
        self.X = X
        self.as_frame = as_frame
        self.sold: list[tuple[int, str]] = []

    def __call__(self, rows: NDArray[np.int64], features: tuple[str, ...]) -> Any:
        self.sold += [(int(row), feature) for row in rows for feature in features]
        part = self.X.iloc[rows][list(features)]
        return part if self.as_frame else part.to_numpy(dtype=object)


@examples(25)
@given(data=st.data())
def test_on_demand_equals_predict_and_buys_exactly_what_is_charged(data: st.DataObject) -> None:
    clf = shared(data.draw(st.sampled_from(sorted(SHARED))))
    clf.use(data.draw(st.integers(0, len(clf.front_) - 1)))
    X = mixed(40, seed=data.draw(st.integers(1, 50)))[0]
    market = Market(X, as_frame=data.draw(st.booleans()))
    answer = clf.predict_on_demand(market, len(X))
    report = clf.decision_report(X)

    assert answer.labels.tolist() == clf.predict(X).tolist() == report["label"].tolist()
    assert len(set(market.sold)) == len(market.sold)
    charged = {
        (row, name) for row, bought in enumerate(report["features"]) for name in bought.split(", ") if name
    }
    assert set(market.sold) == charged
    prices = {"a": 5, "b": 1, "c": 1.5, "d": 2}
    for row in range(len(X)):
        paid = sum(prices[name] for r, name in market.sold if r == row)
        assert report["cost"].iloc[row] == pytest.approx(paid)
        assert answer.decisions.costs[row] == report["cost"].iloc[row]
    rejected = report["rejected"].to_numpy()
    threshold = np.where(rejected, 1.0, report["confidence"])
    assert (threshold >= 0.75).all()
    assert (report["confidence"][rejected] < 0.75).all()


SHARED: dict[str, dict[str, Any]] = {
    "enumerate": {"method": "enumerate"},
    "emsco": {"method": "emsco", "emsco_options": EmscoOptions(population=20, generations=10)},
    "windows": {"method": "windows"},
    "removal": {"removal": True},
    "foreign": {"subclassifier": GaussianNB()},
    "answering": {"answer_rejected": True},
}


@functools.cache
def shared(kind: str) -> MultiStageClassifier:
    return staged(**SHARED[kind])[0]


GROUPED = feature_costs(
    {"a": 5, "b": 1, "c": 1.5, "d": 2},
    ["a", "b", "c", "d"],
    groups={"a": "blood", "c": "blood", "d": "walk"},
    first_prices={"blood": 7, "walk": 0.5},
)


def test_on_demand_charges_the_first_price_of_a_group_once() -> None:
    clf, X = staged(feature_costs=GROUPED)
    for point in range(len(clf.front_)):
        market = Market(X)
        answer = clf.use(point).predict_on_demand(market, len(X))
        bought = np.zeros((len(X), 4), dtype=bool)
        for row, feature in market.sold:
            bought[row, "abcd".index(feature)] = True

        assert (GROUPED.price(bought) / GROUPED.scale == answer.decisions.costs).all()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"feature_costs": GROUPED},
        {"confidence": {"ill": 0.9, "well": 0.6}},
        {"removal": True},
        {"subclassifier": GaussianNB()},
    ],
    ids=["plain", "groups", "a threshold per class", "removal", "foreign"],
)
def test_validation_measures_are_what_predict_does_on_those_rows(options: dict[str, Any]) -> None:
    X, y = mixed()
    V, labels = mixed(77, seed=3)
    plain: dict[str, Any] = {"feature_costs": [5, 1, 1.5, 2], "confidence": 0.6, "max_stages": 3}
    clf = MultiStageClassifier(**(plain | options))
    clf.fit(X, y, validation=(V, labels))
    for point, (coverage, accuracy, cost) in enumerate(clf.front_.values):
        report = clf.use(point).decision_report(V)
        accepted = ~report["rejected"].to_numpy()
        right = (report["label"].to_numpy() == labels) & accepted
        assert accepted.mean() == pytest.approx(coverage)
        assert right.sum() / max(1, accepted.sum()) == pytest.approx(accuracy)
        assert report["cost"].mean() == pytest.approx(cost)


def test_the_front_is_proved_complete_when_it_is_enumerated() -> None:
    clf, _ = staged()
    assert clf.front_.proof.kind is ProofKind.COMPLETE
    assert clf.front_.names == ["coverage", "conclusive_accuracy", "acquisition_cost"]
    evolved, _ = staged(method="emsco", emsco_options=EmscoOptions(population=10, generations=3))
    assert evolved.front_.proof.kind is ProofKind.APPROXIMATE


def test_auto_searches_in_windows_beyond_the_budget_of_an_enumeration() -> None:
    searched, _ = staged(enumeration_budget=10)
    enumerated, _ = staged()

    assert searched.front_.method == "windows"
    assert (
        searched.front_.values.tolist() == enumerated.front_.values.tolist()
    )  # one window has four features


@pytest.mark.filterwarnings("ignore::UserWarning")  # of points that answer few rows
@pytest.mark.parametrize(
    "options",
    [
        {"feature_costs": [0, *[1] * 10]},
        {"removal": True},
        {"objectives": ["coverage", "stages", "worst_case_cost"]},
        {"subclassifier": GaussianNB()},
        {"subclassifier": DecisionTreeClassifier(max_depth=2, random_state=0), "share_fits": True},
        {"sample_rows": 60},
        {"n_jobs": 2, "confidence": 0.9},
    ],
    ids=["a free feature", "removal", "objectives", "foreign", "shared fits", "sampled rows", "threads"],
)
def test_windows_find_a_front_of_what_they_measured(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = WindowOptions(width=3, n_new=1, n_weightings=2, tries=1, kicks=1)
    monkeypatch.setattr(
        engines,
        "search_windows",
        lambda problem, _, budget: search_windows(problem, few, budget=budget),
    )
    X, y = make_classification(240, 11, n_informative=5, n_redundant=2, n_classes=3, random_state=2)
    common: dict[str, Any] = {"method": "windows", "max_stages": 3, "random_state": 0}
    clf = MultiStageClassifier(**common | options).fit(X, y)

    assert clf.front_.method == "windows"
    assert clf.front_.proof.kind is ProofKind.APPROXIMATE
    assert clf.result_.facts["n_windows"] > 0
    decisions = clf.front_.decisions.astype(np.int8)
    assert clf.problem_.values(clf.problem_.measures(decisions)).tolist() == clf.front_.values.tolist()
    assert set(clf.predict(X)) <= {0, 1, 2, -1}


@pytest.mark.filterwarnings("ignore:the search saw:UserWarning")
@pytest.mark.parametrize("how", ["share_fits", "sample_rows"])
def test_what_was_found_before_an_interruption_is_fitted_and_answers(how: str) -> None:
    X, y = make_classification(120, 20, n_informative=4, random_state=1)
    cancellation = Cancellation()

    def stop(progress: Progress) -> None:
        if progress.stage.startswith("looking through windows") and progress.done >= 1:
            cancellation.cancel()

    given = {"share_fits": True} if how == "share_fits" else {"sample_rows": 60}
    clf = MultiStageClassifier(
        subclassifier=DecisionTreeClassifier(max_depth=2, random_state=0),
        max_stages=2,
        random_state=0,
        **given,
    )
    clf.fit(X, y, report=stop, cancellation=cancellation)

    assert clf.front_.proof.limit == "interrupted"
    assert len(clf.predict(X)) == 120


@pytest.mark.parametrize("subclassifier", [None, GaussianNB()])
def test_a_cancellation_before_the_first_fit_leaves_no_answer(subclassifier: Any) -> None:
    X, y = make_classification(150, 5, n_informative=4, n_redundant=0, random_state=1)
    cancellation = Cancellation()
    cancellation.cancel()

    with pytest.raises(FitsStoppedError, match="there is no answer"):
        MultiStageClassifier(subclassifier=subclassifier).fit(X, y, cancellation=cancellation)


@pytest.mark.parametrize("subclassifier", [None, GaussianNB()])
def test_evolution_without_time_has_its_first_generation(subclassifier: Any) -> None:
    X, y = make_classification(150, 5, n_informative=4, n_redundant=0, random_state=1)
    classifier = MultiStageClassifier(
        method="emsco", subclassifier=subclassifier, time_limit_s=1e-9, random_state=0,
        emsco_options=EmscoOptions(population=10),
    ).fit(X, y)  # fmt: skip

    assert (classifier.result_.facts["n_generations"], classifier.result_.facts["stopped"]) == (0, "1e-09 s")
    assert classifier.front_.proof.limit == "1e-09 s"


def test_calls_cost_what_the_user_says() -> None:
    names = ("coverage", "conclusive_accuracy", "evaluation_cost")
    plain, _ = staged(objectives=names)
    dear, _ = staged(objectives=names, call_cost=0.5, call_cost_per_feature=0.25)
    prices: list[Callable[[int], float]] = [lambda _n: 1.0, lambda n: 0.5 + 0.25 * n]

    for clf, price in zip((plain, dear), prices, strict=True):
        for point, (*_, charged) in enumerate(clf.front_.values):
            sizes = [int(stage.subset.sum()) for stage in clf.use(point).model_.stages]
            assert price(sizes[0]) <= charged <= sum(price(size) for size in sizes)
    with pytest.raises(BadInputError, match="call_cost must be at least 0"):
        staged(call_cost=-1)


def test_probabilities_agree_with_labels_where_a_row_is_accepted() -> None:
    clf, X = staged()
    labels = clf.predict(X)
    accepted = labels != clf.reject_label_
    best = clf.classes_[clf.stage_probabilities(X).argmax(axis=1)]

    assert (best[accepted] == labels[accepted]).all()
    assert clf.stage_probabilities(X).sum(axis=1) == pytest.approx(np.ones(len(X)))


def test_probabilities_contradict_no_answer() -> None:
    clf, X = staged()
    assert clf.reject_label_ in clf.predict(X)
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'"):
        clf.predict_proba(X)

    answering, _ = staged(answer_rejected=True)
    probabilities = answering.predict_proba(X)
    labels = answering.predict(X)
    assert (labels == answering.classes_[probabilities.argmax(axis=1)]).all()
    report = answering.decision_report(X)
    assert report["rejected"].any()
    assert report["label"].tolist() == labels.tolist()
    assert (labels == clf.predict(X))[~report["rejected"]].all()


def test_the_pick_keeps_the_users_limits() -> None:
    free, _ = staged()
    costs = free.front_.values[:, 2]
    assert len(set(costs)) > 2
    for limit in np.quantile(costs, [0.1, 0.5, 0.9]):
        for rule in ("norm", "ideal"):
            clf, _ = staged(pick=rule, limits={"acquisition_cost": limit})
            assert clf.front_.values[clf.point_, 2] <= limit
    dearest = int(costs.argmax())
    with pytest.raises(BadInputError, match=f"point {dearest} is outside the limits"):
        staged(pick=dearest, limits={"acquisition_cost": costs.min()})
    with pytest.raises(BadInputError, match=r"the best is .* Relax a limit"):
        staged(limits={"acquisition_cost": 0})


def test_the_usual_pick_is_the_cheapest_with_about_the_most_right_answers() -> None:
    clf, _ = staged(confidence=0.6)
    n_rows = clf.problem_.n_rows
    right = clf.front_.values[:, 0] * clf.front_.values[:, 1]
    best = right.max()
    enough = right >= best - math.sqrt(best * (1 - best) / n_rows)
    costs = clf.front_.values[:, 2]

    assert clf.pick == "one-se"
    assert enough[clf.point_]
    assert costs[clf.point_] == costs[enough].min() < costs[right.argmax()]
    few, _ = staged(confidence=0.6, objectives=("coverage", "acquisition_cost"))
    assert few.point_ == few.front_.pick("ideal").index


def test_the_papers_pick_may_answer_nearly_nothing_and_says_so() -> None:
    with pytest.warns(LowCoverageWarning, match=r"answers 6 % of the selection rows"):
        norm, _ = staged(pick="norm", removal=True, confidence=0.9)
    usual, _ = staged(removal=True, confidence=0.9)
    assert usual.front_.values[usual.point_, 0] > 3 * norm.front_.values[norm.point_, 0]


def test_a_choice_that_cannot_be_met_keeps_the_front() -> None:
    X, y = mixed()
    clf = MultiStageClassifier(pick=10_000, random_state=0)
    with pytest.raises(UnmetChoiceError, match="there is no point 10000"):
        clf.fit(X, y)
    with pytest.raises(UnmetChoiceError, match=r"Take one with use\(0\) to use\([0-9]+\)"):
        clf.predict(X)
    usual = MultiStageClassifier(random_state=0).fit(X, y)
    assert clf.use(usual.point_).predict(X).tolist() == usual.predict(X).tolist()
    with pytest.raises(UnmetChoiceError):
        clf.fit(X, y)
    assert not hasattr(clf, "point_")


def test_several_classes_and_a_chosen_reject_label() -> None:
    X, y = load_iris(return_X_y=True)
    clf = MultiStageClassifier(
        feature_costs=[1, 1, 5, 5], confidence=0.97, reject_label=99, random_state=0
    ).fit(X, y)

    assert set(clf.predict(X)) <= {0, 1, 2, 99}
    assert 99 in clf.predict(X)
    assert clf.predict(X).dtype.kind == "i"


@pytest.mark.parametrize("options", [{}, {"answer_accuracy": 0.7}])
def test_it_does_not_matter_where_the_split_puts_a_gap(options: dict[str, Any]) -> None:
    X, y = make_classification(160, 4, n_informative=3, n_redundant=0, random_state=1)
    for row in range(0, 40, 5):
        gaps = X.copy()
        gaps[row, 2] = np.nan
        classifier = MultiStageClassifier(**options, random_state=0).fit(gaps, y)
        assert len(classifier.predict(gaps)) == 160


@examples(20)
@given(seed=st.integers(0, 10**6), point=st.integers(0, 10**6))
def test_a_row_goes_on_as_far_as_its_features_reach(seed: int, point: int) -> None:
    classifier, X = shared("enumerate"), mixed(60, seed=1)[0]
    classifier.use(point % len(classifier.front_))
    unknown = np.random.default_rng(seed).random(X.shape) < 0.3
    unknown[:, 1] = False  # a gap in b is a value, as it was when fitting
    whole, partly = classifier.decision_report(X), classifier.decision_report(X.mask(unknown))

    stages = classifier.model_.stages
    prices = [0.0, *(stage.price / classifier.costs_.scale for stage in stages)]
    for row in range(len(X)):
        lacking = [n for n, stage in enumerate(stages, start=1) if unknown[row, stage.bought].any()]
        stops = min(lacking, default=len(stages) + 1)
        if stops > whole["stage"][row]:
            assert partly.iloc[row].tolist() == whole.iloc[row].tolist()
            continue
        bought = stages[stops - 1].bought
        needs = [str(X.columns[i]) for i in bought if unknown[row, i]]
        assert partly[["label", "rejected", "stage", "cost", "needs"]].iloc[row].tolist() == [
            classifier.reject_label_, False, stops - 1, prices[stops - 1], ", ".join(needs),
        ]  # fmt: skip
    assert classifier.predict(X.mask(unknown)).tolist() == partly["label"].tolist()


def test_a_column_that_is_not_there_is_not_bought_yet() -> None:
    X, y = make_classification(200, 4, n_informative=3, n_redundant=0, random_state=1)
    frame = pd.DataFrame(X, columns=list("abcd"))
    classifier = MultiStageClassifier(confidence=0.9, random_state=0).fit(frame, y)
    last = max(range(4), key=lambda i: classifier.assignment_[i])
    report = classifier.decision_report(frame.drop(columns="abcd"[last]))

    gaps = frame.copy()
    gaps["abcd"[last]] = np.nan
    pd.testing.assert_frame_equal(report, classifier.decision_report(gaps))
    assert set(report["needs"]) == {"", "abcd"[last]}
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(frame.rename(columns={"a": "z"}))


def test_rows_without_the_first_stage_have_no_probabilities() -> None:
    X, y = make_classification(200, 4, n_informative=3, n_redundant=0, random_state=1)
    classifier = MultiStageClassifier(confidence=0.9, answer_rejected=True, random_state=0).fit(X, y)
    first, last = (
        next(i for i in range(4) if classifier.assignment_[i] == stage)
        for stage in (0, classifier.assignment_.max())
    )
    assert first != last
    waiting, nothing = X.copy(), X.copy()
    waiting[:, last] = nothing[:, first] = np.nan

    probabilities = classifier.predict_proba(waiting)
    assert classifier.classes_[probabilities.argmax(axis=1)].tolist() == classifier.predict(waiting).tolist()
    assert (classifier.predict(nothing) == classifier.reject_label_).all()
    assert np.isnan(classifier.stage_probabilities(nothing)).all()
    with pytest.raises(BadInputError, match=r"the features of the first stage, .*, got a gap in row 0"):
        classifier.predict_proba(nothing)


@pytest.mark.parametrize("in_unit", [1e-12, 1e155, -60.0], ids=str)
def test_the_unit_of_a_column_makes_no_difference(in_unit: float) -> None:
    X, y = load_iris(return_X_y=True)
    other = X.copy()
    other[:, [0, 2]] *= in_unit
    one, same = (
        MultiStageClassifier(confidence=0.85, max_stages=2, random_state=0).fit(rows, y)
        for rows in (X, other)
    )
    assert one.front_.values.tolist() == same.front_.values.tolist()
    assert one.predict(X).tolist() == same.predict(other).tolist()


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        pytest.param(lambda rows, _features: np.zeros((len(rows), 9)), "must return values of shape", id="shape"),
        pytest.param(lambda rows, features: np.full((len(rows), len(features)), np.inf), "finite", id="infinite"),
        pytest.param(lambda rows, features: np.full((len(rows), len(features)), np.nan), "got NaN", id="not a number"),
        pytest.param(lambda rows, features: np.full((len(rows), len(features)), "dear"), "must hold numbers", id="text"),
        pytest.param(lambda rows, _features: [[1.0]] * (len(rows) - 1) + [[1.0, 2.0]], "cannot be read", id="ragged"),
        pytest.param(lambda _rows, _features: None, "must return values of shape", id="nothing"),
        pytest.param(lambda _rows, _features: 1 / 0, "it raised ZeroDivisionError", id="raises"),
    ],
)  # fmt: skip
def test_a_failed_purchase_keeps_what_was_decided(bad: Any, sentence: str) -> None:
    clf, X = staged(confidence=0.8, feature_costs={"a": 1, "b": 1, "c": 1, "d": 1})
    several = [p for p, q in enumerate(clf.front_.decisions) if q.max() == 2]
    clf.use(several[0])
    whole = clf.decision_report(X)
    assert (whole["stage"] > 1).any()
    market = Market(X)
    calls = []

    def acquire(rows: NDArray[np.int64], features: tuple[str, ...]) -> Any:
        calls.append(features)
        return market(rows, features) if len(calls) == 1 else bad(rows, features)

    with pytest.raises(AcquisitionError, match=sentence) as caught:
        clf.predict_on_demand(acquire, len(X))
    partial = caught.value.partial
    decided = (whole["stage"] == 1).to_numpy()
    assert partial.decisions.finished.tolist() == decided.tolist()
    assert partial.labels[decided].tolist() == whole["label"][decided].tolist()
    assert (partial.decisions.costs[decided] == whole["cost"][decided]).all()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"confidence": 0}, r"confidence must be in \(0, 1\], got 0"),
        ({"max_stages": 5}, "max_stages must be at most the number of features, 4, got 5"),
        ({"max_stages": 0}, "max_stages must be at least 1"),
        ({"feature_costs": {"a": 1}}, "feature_costs must price every feature"),
        ({"method": "magic"}, "method must be one of"),
        ({"reject_label": "ill"}, "reject_label must not be one of the classes"),
        ({"penalties": {"dead": 1}}, "penalties must name a class, ill or well"),
        ({"positive": "dead"}, "positive must name a class, ill or well"),
        ({"C": 0}, "C must be a number above 0"),
        ({"validation_share": 1}, r"validation_share must be in \(0, 1\)"),
        ({"validation_share": "half"}, r"must be in \(0, 1\), 'auto' or 'out-of-fold', got 'half'"),
        ({"feature_costs": 5}, "feature_costs must be a mapping"),
        ({"penalties": {"ill": "high"}}, "penalties must be at least 0 and at most 1"),
        ({"enumeration_budget": "much"}, "enumeration_budget must be a whole number"),
        ({"pick": "best"}, "pick must be one of"),
        ({"pick": 10_000}, "there is no point 10000: the front has [0-9]+, numbered from 0"),
        ({"pick": -1}, "pick must be at least 0, got -1"),
        ({"limits": {"price": 3}}, "`limits` names 'price', but the objectives are coverage, conclusive_accuracy or"),
        ({"limits": [read_limit("coverage>1")]}, "no stage assignment can have coverage > 1: it is between 0 and 1"),
    ],
)  # fmt: skip
def test_bad_parameters_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        staged(**options)


def test_bad_tables_are_refused() -> None:
    X, y = mixed()
    clf = MultiStageClassifier()
    with pytest.raises(BadInputError, match="the target must hold two classes or more, got one class only"):
        clf.fit(X, ["ill"] * len(X))
    with pytest.raises(BadInputError, match="validation must hold the classes of y"):
        clf.fit(X, y, validation=(X, np.where(y == "ill", "ill", "new")))
    with pytest.raises(BadInputError, match=r"validation must hold at least two classes to.*got 'ill' only"):
        clf.fit(X, y, validation=(X, ["ill"] * len(X)))
    with pytest.raises(BadInputError, match="X and y must have one entry per row"):
        clf.fit(X, y[:-1])
    fitted, rows = staged()
    rows.loc[0, "a"] = np.inf
    with pytest.raises(BadInputError, match="feature 'a' must be finite, got infinity"):
        fitted.predict(rows)
