import itertools
import pickle
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage import MultiStageClassifier, engines
from shortlist.multistage.engines import PLANS, StagePlan, StageShape, joined
from shortlist.multistage.problem.costs import feature_costs
from shortlist.multistage.question import n_subsets, sampled_rows
from shortlist.multistage.search.emsco import EmscoOptions, emsco
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.multistage.search.stage_objectives import StageProblem, StageResult
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.subclassifiers import StageRows, bytes_of_every_subset
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Budget, open_study
from tests.examples import examples
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of


def test_an_enumeration_that_does_not_fit_into_memory_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(150, 4, n_informative=3, n_redundant=0, random_state=0)
    many = make_classification(1000, 4, n_informative=3, n_redundant=0, random_state=1)
    clf = MultiStageClassifier(random_state=0)
    clf.fit(X, y, validation=many)
    assert clf.front_.method == "enumerate"
    enough = bytes_of_every_subset(clf.problem_.decisions.subclassifiers.rows)
    for module in ("subclassifiers.subclassifiers", "engines"):
        monkeypatch.setattr(f"shortlist.multistage.{module}.MOST_BYTES", enough - 1)

    assert clf.fit(X, y, validation=many).front_.method == "windows"
    with pytest.raises(BadInputError, match="4 features and 1000 rows to validate on"):
        clf.set_params(method="enumerate").fit(X, y, validation=many)


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
def test_an_enumeration_without_time_for_its_fits_keeps_what_the_search_has() -> None:
    X, y = make_classification(150, 5, n_informative=4, n_redundant=0, random_state=1)

    enumerated = MultiStageClassifier(random_state=0).fit(X, y)
    searched = MultiStageClassifier(random_state=0, time_limit_s=1e-9).fit(X, y)
    with (
        patch.object(engines, "enumerate_front", side_effect=FitsStoppedError("no time")),
        patch.object(engines, "search_windows", one_stage),
        pytest.warns(UserWarning, match="could not be enumerated: not all subsets .* of 100 s"),
    ):
        unfitted = MultiStageClassifier(random_state=0, time_limit_s=100, method="enumerate").fit(X, y)

    assert (enumerated.front_.method, enumerated.notes_) == ("enumerate", ())
    assert "all subsets can be fitted" in enumerated.front_.extras["why"]
    assert (searched.front_.method, searched.front_.proof.kind) == ("windows", ProofKind.APPROXIMATE)
    assert searched.predict(X).tolist() == pickle.loads(pickle.dumps(searched)).predict(X).tolist()
    assert (unfitted.front_.method, len(unfitted.front_)) == ("windows", 1)


def one_stage(problem: StageProblem, *_: Any, **__: Any) -> StageResult:
    """Return what takes no search: one stage with everything."""
    everything = np.zeros((1, problem.n_features), dtype=np.int8)
    return StageResult(
        problem, everything, problem.measures(everything), "windows", Proof(ProofKind.APPROXIMATE), 0.0, {}
    )


SHAPE = StageShape(
    all_fit=True, is_counted=True, is_short=False, has_time=True, n_features=16, fits_are_quick=True, is_timed=True
)  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "engines"),
    [
        pytest.param(SHAPE, ("windows", "enumerate", "emsco"), id="a search before a long proof"),
        pytest.param(replace(SHAPE, is_short=True), ("enumerate", "windows", "emsco"), id="a short proof first"),
        pytest.param(replace(SHAPE, is_counted=False), ("windows", "emsco"), id="too many assignments"),
        pytest.param(replace(SHAPE, has_time=False), ("windows", "emsco"), id="no time for all fits"),
        pytest.param(replace(SHAPE, is_counted=False, all_fit=False), ("windows",), id="too many features"),
        pytest.param(replace(SHAPE, fits_are_quick=False), ("windows",), id="fits take long"),
        pytest.param(replace(SHAPE, fits_are_quick=False, n_features=8), ("enumerate",), id="few such fits"),
    ],
)  # fmt: skip
def test_the_shape_of_a_question_decides_which_engines_are_asked(
    shape: StageShape, engines: tuple[str, ...]
) -> None:
    plan = next(plan for plan in PLANS if plan.fits(shape))

    assert plan.engines == engines


@pytest.mark.parametrize("shape", list(itertools.product([False, True], repeat=6)))
@pytest.mark.parametrize("n_features", [8, 18, 19])
def test_every_shape_has_a_plan_that_can_answer(shape: tuple[bool, ...], n_features: int) -> None:
    names = ("all_fit", "is_counted", "is_short", "has_time", "fits_are_quick", "is_timed")
    facts = dict(zip(names, shape, strict=True))
    facts["is_counted"] &= facts["all_fit"]
    plan = next(plan for plan in PLANS if plan.fits(StageShape(n_features=n_features, **facts)))

    assert facts["is_counted"] or "enumerate" not in plan.engines
    assert plan.engines[0] != "emsco"  # it goes on from a front


@pytest.mark.parametrize("plan", PLANS, ids=range(len(PLANS)))
def test_every_plan_names_what_measured_it(plan: StagePlan) -> None:
    decision = re.fullmatch(r"decision (\d+)", plan.measured)
    found = f"docs/decisions/{int(decision[1]):04}-*" if decision else f"benchmarks/results/{plan.measured}"

    assert list(Path(__file__).parents[2].glob(found)), plan.measured


@examples(40)
@given(known=facts(), k=st.integers(1, 4), removal=st.booleans())
def test_engines_in_turn_find_the_front_that_brute_force_has(
    known: oracles.Facts, k: int, removal: bool
) -> None:
    k = min(k, known.n_features)
    problem = problem_of(known, k, removal=removal)
    fronts = []
    for plan in PLANS:
        if "enumerate" in plan.engines:
            with (
                patch.object(engines, "plan_for", lambda *_, plan=plan: plan),
                patch.object(engines, "search_windows", one_stage),
            ):
                found = engines.search_stages(
                    problem, "auto", emsco_options=None, enumeration_budget=1, workers=1, budget=Budget()
                ).result
            assert found.proof.kind is ProofKind.COMPLETE
            fronts.append((problem.vectors(found.measures).tolist(), found.facts["n_tied"]))

    truth = enumerate_front(problem)
    assert fronts == [(problem.vectors(truth.measures).tolist(), truth.facts["n_tied"])] * len(fronts)


def test_evolution_ends_by_itself_before_a_far_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(150, 5, n_informative=4, n_redundant=0, random_state=1)
    asked: list[int] = []

    def few(problem: StageProblem, options: EmscoOptions, **rest: Any) -> StageResult:
        asked.append(options.generations)
        return emsco(problem, replace(options, generations=3), **rest)

    monkeypatch.setattr(engines, "emsco", few)
    monkeypatch.setattr(engines, "search_windows", one_stage)

    found = MultiStageClassifier(enumeration_budget=1, random_state=0, time_limit_s=1e6).fit(X, y)

    assert found.front_.method == "emsco"
    assert asked == [engines.GENERATIONS]
    assert found.front_.extras["stopped"] == "generations"
    assert not found.front_.proof.limit


@examples(40)
@given(known=facts(), k=st.integers(1, 3), seed=st.integers(0, 9))
def test_evolution_and_joined_fronts_lose_no_point_that_was_known(
    known: oracles.Facts, k: int, seed: int
) -> None:
    problem = problem_of(known, min(k, known.n_features))
    truth = enumerate_front(problem)
    options = EmscoOptions(population=len(truth.measures) + 2, generations=2, patience=None)
    evolved = emsco(problem, options, start=truth.assignments, budget=Budget(seed=seed))
    half = emsco(problem, EmscoOptions(population=3, generations=0), budget=Budget(seed=seed))

    wanted = {tuple(vector) for vector in problem.vectors(truth.measures).tolist()}
    for found in (evolved, joined(truth, half), joined(half, truth)):
        assert {tuple(vector) for vector in problem.vectors(found.measures).tolist()} == wanted
        again = problem.vectors(problem.measures(found.assignments))
        assert again.tolist() == problem.vectors(found.measures).tolist()


def test_where_one_window_is_looked_through_in_time_the_front_is_complete_and_nothing_is_doubted() -> None:
    X, y = make_classification(150, 5, n_informative=4, n_redundant=0, random_state=1)

    with patch.object(engines, "enumerate_front", side_effect=FitsStoppedError("no time")):
        found = MultiStageClassifier(random_state=0, time_limit_s=1e6).fit(X, y)

    assert (found.front_.method, found.front_.proof.kind) == ("windows", ProofKind.COMPLETE)
    assert not any("nothing is proved" in note for note in found.notes_)


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
@pytest.mark.parametrize(
    ("n", "shared", "method"), [(4, False, "enumerate"), (9, False, "windows"), (9, True, "enumerate")]
)
def test_auto_fits_few_classifiers_where_every_subset_needs_one(n: int, shared: bool, method: str) -> None:
    X, y = make_classification(120, n, n_informative=n - 1, n_redundant=0, random_state=1)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)

    found = MultiStageClassifier(subclassifier=tree, share_fits=shared, max_stages=2, random_state=0).fit(
        X, y
    )

    n_fits = found.problem_.decisions.subclassifiers.n_fits
    assert found.front_.method == method
    if shared:  # those of five folds for the search, and as many and one for every set that a point uses
        assert n_fits == 5 + 6 * n_subsets(found.result_.assignments)
    else:
        assert n_fits == 6 * (2**n - 1) if method == "enumerate" else n_fits < 2 * 2**n


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
@pytest.mark.parametrize("removal", [False, True])
def test_every_method_finds_the_front_with_hours_that_brute_force_has(removal: bool) -> None:
    X, y = make_classification(150, 4, n_informative=3, n_redundant=0, random_state=3)
    costs = feature_costs(
        [1, 1, 2, 3], "0123", groups={"1": "blood", "2": "blood"}, first_prices={"blood": 2},
        attributes={"hours": {"0": 2, "1": 24, "2": 5, "3": 9, "blood": 6}},
    )  # fmt: skip
    names = ("coverage", "conclusive_accuracy", "hours")
    fronts = {}
    for method in ("enumerate", "windows", "emsco"):
        clf = MultiStageClassifier(
            feature_costs=costs, objectives=names, method=method, max_stages=3, removal=removal,
            confidence=0.8, limits={"hours": 12}, validation_share=1 / 3, random_state=0,
        ).fit(X, y)  # fmt: skip
        assert clf.front_.values[clf.point_, 2] <= 12
        fronts[method] = {tuple(values) for values in clf.front_.values.tolist()}

    expected = oracles.facts_of(clf.problem_).front(
        3, names, removal=removal, penalties={}, call_cost=Fraction(1), call_cost_per_feature=Fraction(0)
    )
    wanted = {(-float(a), -float(b), float(c)) for a, b, c in expected}
    assert fronts == dict.fromkeys(fronts, wanted)


pytestmark = pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")

X, Y = make_classification(300, 5, n_informative=4, n_redundant=0, flip_y=0.05, random_state=2)
TREE = DecisionTreeClassifier(max_depth=4, random_state=0)


@pytest.mark.parametrize("method", ["enumerate", "emsco"])
def test_points_are_what_their_own_classifiers_reach(method: str) -> None:
    judging = slice(200, 300)
    classifier = MultiStageClassifier(
        method=method, subclassifier=TREE, share_fits=True, max_stages=3, confidence=0.8, random_state=0,
        emsco_options=EmscoOptions(population=30, generations=8),
    ).fit(X[:200], Y[:200], validation=(X[judging], Y[judging]))  # fmt: skip
    each = MultiStageClassifier(
        method=method, subclassifier=TREE, max_stages=3, confidence=0.8, random_state=0,
        emsco_options=EmscoOptions(population=30, generations=8),
    ).fit(X[:200], Y[:200], validation=(X[judging], Y[judging]))  # fmt: skip

    front = classifier.front_
    assert (front.proof.kind, front.method) == (ProofKind.APPROXIMATE, method)
    assert front.extras["n_searched_points"] >= len(front)
    assert classifier.problem_.decisions.subclassifiers.n_fits < each.problem_.decisions.subclassifiers.n_fits
    for point in range(len(front)):
        report = classifier.use(point).decision_report(X[judging])
        answered = ~report["rejected"]
        accuracy = (report["label"][answered] == Y[judging][answered]).mean() if answered.any() else 0.0
        expected = [answered.mean(), accuracy, report["cost"].mean()]
        assert front.values[point].tolist() == pytest.approx(expected)
    values = front.values * [1, 1, -1]
    for one in values:
        assert not ((values >= one).all(axis=1) & (values > one).any(axis=1)).any()
    assert len(np.unique(front.values, axis=0)) == len(front)


@pytest.mark.parametrize("subclassifier", [None, TREE])
def test_a_search_with_some_rows_is_measured_on_all(subclassifier: object) -> None:
    with pytest.warns(UserWarning, match="the search saw 39 of 200 rows that fit; measured on all rows"):
        classifier = MultiStageClassifier(
            subclassifier=subclassifier, sample_rows=40, max_stages=3, confidence=0.8, random_state=0
        ).fit(X[:200], Y[:200], validation=(X[200:], Y[200:]))

    rows = classifier.problem_.decisions.subclassifiers.rows
    assert (len(rows.fit_labels), len(rows.validation_labels)) == (200, 100)
    assert classifier.front_.proof.kind is ProofKind.APPROXIMATE
    for point in range(len(classifier.front_)):
        report = classifier.use(point).decision_report(X[200:])
        assert classifier.front_.values[point][[0, 2]].tolist() == pytest.approx(
            [(~report["rejected"]).mean(), report["cost"].mean()]
        )
    assert set(classifier.front_.extras["largest_change"]) == set(classifier.front_.names)
    same = MultiStageClassifier(sample_rows=300, max_stages=3, random_state=0).fit(X, Y)
    assert same.front_.proof.kind is ProofKind.COMPLETE


@pytest.mark.parametrize("option", [{"share_fits": True}, {"sample_rows": 120}], ids=["shared", "sampled"])
@pytest.mark.filterwarnings("ignore::UserWarning")  # of what the measures changed
def test_seeds_that_the_subclassifier_leaves_open_follow_from_that_of_the_search(
    option: dict[str, Any],
) -> None:
    fronts = []
    for tree in (None, 7, 0):
        classifier = MultiStageClassifier(
            subclassifier=DecisionTreeClassifier(max_depth=3, max_features=1, random_state=tree),
            max_stages=2, confidence=0.7, random_state=7, **option,
        ).fit(X, Y)  # fmt: skip
        fronts.append([*classifier.front_.values.tolist(), classifier.predict(X).tolist()])
    assert fronts[0] == fronts[1]
    assert fronts[0] != fronts[2]


def test_a_sample_has_its_share_of_each_class() -> None:
    rows = StageRows(
        learn_encoding(X, list("abcde")), X[:200], Y[:200], X[200:], np.r_[np.zeros(97, int), [1, 1, 1]], 2
    )
    some = sampled_rows(rows, 50, 0)

    shares = np.bincount(rows.fit_labels) / 200
    assert np.abs(np.bincount(some.fit_labels) - 50 * shares).max() <= 1
    assert np.bincount(some.validation_labels).tolist() == [48, 1]
    places = [rows.fit_rows.tolist().index(row) for row in some.fit_rows.tolist()]
    assert len(set(places)) == len(places)
    assert some.fit_labels.tolist() == rows.fit_labels[places].tolist()
    assert sampled_rows(rows, 200, 0) is rows


def test_shared_fits_need_a_classifier() -> None:
    with pytest.raises(BadInputError, match="share_fits needs a subclassifier, got none"):
        MultiStageClassifier(share_fits=True).fit(X, Y)


@pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")
@pytest.mark.parametrize("method", ["emsco", "windows", "enumerate", "auto"])
def test_a_study_is_compared_by_the_parameters_that_the_method_uses(method: str, tmp_path: Path) -> None:
    X, y = make_classification(120, 4, random_state=0)
    others: dict[str, Any] = {
        "enumeration_budget": 10**6, "emsco_options": EmscoOptions(population=20), "call_cost": 2.0,
    }  # fmt: skip
    used = {"emsco": {"emsco_options"}, "auto": {"enumeration_budget"}}.get(method, set())
    with open_study(tmp_path / "s.db") as study:
        first = MultiStageClassifier(method=method, max_stages=2, random_state=0).fit(X, y, study=study)
        for name, value in others.items():
            own = MultiStageClassifier(method=method, max_stages=2, random_state=0).set_params(
                **{name: value}
            )
            if name in used:
                with pytest.raises(BadInputError, match=f"another question: {name} was"):
                    own.fit(X, y, study=study)
            else:
                assert (own.fit(X, y, study=study).front_.values == first.front_.values).all()
