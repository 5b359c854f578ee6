"""Pools of classifiers, fitted here or elsewhere."""

import functools
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from shortlist.ensembles.pools.answers import class_answers, class_probabilities, positive_votes
from shortlist.ensembles.pools.encoder import fit_table
from shortlist.ensembles.pools.families import FAMILIES
from shortlist.ensembles.pools.fitting import fit_all, fit_member, load_pool, make_pool
from shortlist.ensembles.pools.members import as_pool
from shortlist.ensembles.pools.plain import USUAL
from shortlist.ensembles.pools.pool import Pool
from shortlist.errors import BadFileError, BadInputError, ShortlistError, UntrustedFileError
from shortlist.files import dump_object
from shortlist.runs import Cancellation, Finished, Progress, Unit, Work, open_study
from tests.examples import examples

CANCER_X, CANCER_Y = load_breast_cancer(return_X_y=True)
FLOWERS, KINDS = load_iris(return_X_y=True)
TRAIN, TEST = slice(0, 350), slice(350, None)
WORDS = np.array(["benign", "malignant"])[1 - CANCER_Y]


@pytest.fixture(scope="module")
def cancer_pool() -> Pool:
    return make_pool(CANCER_X[TRAIN], WORDS[TRAIN], n_classifiers=20)


def positive_probabilities(pool: Pool, X: Any, label: Any) -> Any:
    """Probability of a class by each classifier on each row."""
    return class_probabilities(pool, X)[:, :, pool.classes.tolist().index(label)]


def mixed_frame(n_rows: int = 60, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Every usual kind of column, with gaps, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(["no", "yes"], n_rows // 2))
    yes = y == "yes"
    age = rng.normal(40, 5, n_rows) + 10 * yes
    colour = np.where(yes, "red", rng.choice(["blue", "green"], n_rows)).astype(object)
    gap: Any = rng.random(n_rows) < 0.2
    filled = ~gap
    frame = pd.DataFrame(
        {
            "age": pd.Series(age).where(filled),
            "visits": pd.Series(rng.integers(0, 5, n_rows), dtype="Int64").where(filled),
            "smoker": rng.random(n_rows) < 0.5,
            "asked": pd.Series(yes, dtype="boolean").where(filled),
            "colour": pd.Series(colour, dtype="str").where(filled),
            "town": pd.Series(
                [pd.NA if absent else word for absent, word in zip(gap, colour, strict=True)], dtype=object
            ),
            "grade": pd.Categorical(np.where(yes, "a", "b")),
            "loose": pd.Series([None if absent else 1.5 for absent in gap], dtype=object),
            "constant": 7,
            "empty": np.nan,
        }
    )
    return frame, y


class WithoutProbabilities:
    """A foreign classifier with nothing but `predict`."""

    classes_ = np.array(["benign", "malignant"])

    def predict(self, X: Any) -> Any:
        return np.where(X[:, 0] > 15, "malignant", "benign")


class Answering:
    """A foreign classifier that says the same of every row."""

    classes_ = np.array([0, 1])

    def __init__(self, answer: float) -> None:
        self.answer = answer

    def predict(self, X: Any) -> Any:
        return np.full(len(X), round(self.answer))

    def predict_proba(self, X: Any) -> Any:
        return np.tile([1 - self.answer, self.answer], (len(X), 1))


class TestMakePool:
    def test_families_take_turns_and_every_fifth_is_plain_until_there_is_one_of_each(
        self, cancer_pool: Pool
    ) -> None:
        assert cancer_pool.families[4::5] == USUAL
        drawn = [family for family in cancer_pool.families if family not in USUAL]
        assert drawn == [*FAMILIES, *FAMILIES][:16]
        assert cancer_pool.names[:2] == ("logistic-regression-1", "decision-tree-1")
        assert cancer_pool.names[4] == "plain-boosting"
        assert cancer_pool.names[12] == "logistic-regression-2"
        assert len(set(cancer_pool.names)) == len(cancer_pool) == 20
        assert cancer_pool.classes.tolist() == ["benign", "malignant"]
        assert cancer_pool.n_features_in == 30
        assert cancer_pool.feature_names_in is None

    def test_classifiers_are_good_and_disagree(self, cancer_pool: Pool) -> None:
        votes = positive_probabilities(cancer_pool, CANCER_X[TEST], "malignant") > 0.5
        right = votes == (WORDS[TEST] == "malignant")[:, None]

        assert right.mean(axis=0).min() > 0.8
        assert right.mean() > 0.9
        assert len({column.tobytes() for column in votes.T}) >= 15

    def test_a_smaller_pool_is_the_beginning_of_a_larger_one(self, cancer_pool: Pool) -> None:
        smaller = make_pool(CANCER_X[TRAIN], WORDS[TRAIN], n_classifiers=11)

        assert smaller.names == cancer_pool.names[:11]
        assert np.array_equal(
            positive_probabilities(smaller, CANCER_X[TEST], "benign"),
            positive_probabilities(cancer_pool, CANCER_X[TEST], "benign")[:, :11],
        )

    def test_the_papers_pool_has_the_drawn_classifiers_alone_which_are_the_same(
        self, cancer_pool: Pool
    ) -> None:
        papers = make_pool(CANCER_X[TRAIN], WORDS[TRAIN], n_classifiers=16, plain=())

        is_drawn = [family in FAMILIES for family in cancer_pool.families]
        assert papers.families == (*FAMILIES, *list(FAMILIES)[:6])
        assert papers.names == tuple(np.array(cancer_pool.names)[is_drawn])
        assert np.array_equal(
            positive_probabilities(papers, CANCER_X[TEST], "benign"),
            positive_probabilities(cancer_pool, CANCER_X[TEST], "benign")[:, is_drawn],
        )

    def test_another_seed_gives_another_pool(self) -> None:
        first, second = (make_pool(CANCER_X, CANCER_Y, n_classifiers=5, random_state=seed) for seed in (1, 2))

        answers = [positive_probabilities(pool, CANCER_X, 1) for pool in (first, second)]
        assert (answers[0] != answers[1]).any(axis=0).all()

    def test_two_threads_give_the_same_pool_without_warnings(self, cancer_pool: Pool) -> None:
        threaded = make_pool(CANCER_X[TRAIN], WORDS[TRAIN], n_classifiers=20, n_jobs=2)

        assert np.array_equal(
            positive_probabilities(threaded, CANCER_X, "benign"),
            positive_probabilities(cancer_pool, CANCER_X, "benign"),
        )

    def test_two_processes_fit_the_same_members(self) -> None:
        families = [*FAMILIES, *FAMILIES, *FAMILIES]
        table = CANCER_X, CANCER_Y.astype(np.intp), np.array(["benign", "malign"])
        units = [
            Unit(f"{name}-{k}", fit_member, (name, *table, np.random.SeedSequence(k)))
            for k, name in enumerate(families)
        ]

        one, two = (fit_all(units, Work(n), stage="fitting", long_s=0) for n in (1, 2))

        for alone, shared in zip(one, two, strict=True):
            assert np.array_equal(alone.predict_proba(CANCER_X), shared.predict_proba(CANCER_X))

    def test_arguments_stay_as_they_were(self) -> None:
        X, y = CANCER_X[:60].copy(), CANCER_Y[:60].copy()
        X.flags.writeable = y.flags.writeable = False

        pool = make_pool(X, y, n_classifiers=10)

        assert positive_probabilities(pool, X, 1).shape == (60, 10)

    def test_labels_may_be_a_series_of_text_or_a_column(self) -> None:
        X, column = CANCER_X[:80], WORDS[:80]
        series = make_pool(X, pd.Series(column, index=range(80, 160)), n_classifiers=2)
        single = make_pool(X, column[:, None], n_classifiers=2)

        assert series.classes.tolist() == single.classes.tolist() == ["benign", "malignant"]

    @pytest.mark.slow
    @examples(8)
    @given(
        n_features=st.integers(1, 3),
        per_class=st.lists(st.integers(1, 3), min_size=2, max_size=3),
        seed=st.integers(0, 100),
    )
    def test_a_handful_of_rows_is_enough(self, n_features: int, per_class: list[int], seed: int) -> None:
        y = np.repeat(np.arange(len(per_class)), per_class)
        X = np.random.default_rng(seed).integers(0, 3, size=(len(y), n_features))
        pool = make_pool(X, y, n_classifiers=10, random_state=seed)

        answers = positive_probabilities(pool, X, 0)
        assert ((answers >= 0) & (answers <= 1)).all()

    def test_progress_counts_classifiers(self) -> None:
        events: list[Progress] = []
        make_pool(CANCER_X[:80], CANCER_Y[:80], n_classifiers=3, report=events.append)

        assert [(event.stage, event.done, event.total) for event in events] == [
            ("fitting classifiers", done, 3) for done in range(4)
        ]

    def test_cancelling_says_how_far_it_came(self) -> None:
        cancellation = Cancellation()

        def cancel_after_two(progress: Progress) -> None:
            if progress.done == 2:
                cancellation.cancel()

        with pytest.raises(ShortlistError, match=r"fitting was stopped after \d+ of 30 classifiers"):
            make_pool(
                CANCER_X, CANCER_Y, n_classifiers=30, report=cancel_after_two, cancellation=cancellation
            )

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_classifiers": 0}, "n_classifiers must be at least 1, got 0"),
            ({"n_classifiers": 2.5}, "n_classifiers must be a whole number"),
            ({"random_state": -1}, "random_state must be at least 0"),
            ({"plain": ("forest",)}, r"plain must hold different names of \['plain-boosting', .*'forest'"),
            ({"plain": ("plain-forest", "plain-forest")}, "plain must hold different names"),
            ({"y": np.zeros(80)}, "y must hold two classes or more, got one class only: 0.0"),
            ({"y": CANCER_Y[:79]}, "one entry per row, got 80 and 79 rows"),
            ({"y": np.linspace(0, 1, 80)}, "Unknown label type"),
            ({"y": CANCER_Y[:80].astype(object)}, "Unknown label type"),
            ({"y": np.where(CANCER_Y[:80], 1.0, np.nan)}, "y must not hold missing labels"),
            ({"y": np.array(["yes", "no", None, "no"] * 20, dtype=object)}, "y must not hold missing labels"),
            ({"y": CANCER_X[:80]}, r"y must have shape \(n_samples,\), got \(80, 30\)"),
            ({"y": []}, "y must hold two classes or more, got none"),
            ({"X": CANCER_X[:0]}, "0 sample"),
            ({"X": CANCER_X[:80, :0]}, "0 feature"),
            ({"X": pd.DataFrame(CANCER_X[:80]).iloc[:, :0]}, "0 feature"),
            ({"X": CANCER_X[:80, 0]}, "Expected 2D array"),
            ({"X": csr_array(CANCER_X[:80])}, "Sparse data was passed for X, but dense data is required"),
            ({"X": np.where(CANCER_X[:80] > 500, np.inf, 1)}, "infinity"),
            ({"X": CANCER_X[:80] + 1j}, "Complex data not supported"),
            ({"X": pd.DataFrame({"z": CANCER_X[:80, 0] + 1j})}, "Complex data not supported"),
            (
                {"X": pd.DataFrame({"day": pd.date_range("2020", periods=80)})},
                "column 'day' of X must hold numbers or text, got datetime64",
            ),
            ({"X": np.full((80, 1), "2020", dtype="datetime64[D]")}, "X must hold numbers or text"),
        ],
    )
    def test_bad_input_is_named(self, options: dict[str, Any], message: str) -> None:
        arguments = {"X": CANCER_X[:80], "y": CANCER_Y[:80], "n_classifiers": 2} | options
        with pytest.raises(BadInputError, match=message):
            make_pool(arguments.pop("X"), arguments.pop("y"), **arguments)


class TestTables:
    def test_every_kind_of_column_with_gaps_can_be_learnt_from(self) -> None:
        X, y = mixed_frame()
        before = X.copy()
        pool = make_pool(X.iloc[:40], y[:40], n_classifiers=10)

        votes = positive_probabilities(pool, X.iloc[40:], "yes") > 0.5

        assert (votes == (y[40:] == "yes")[:, None]).mean() > 0.8
        assert pool.feature_names_in == tuple(X.columns)
        pd.testing.assert_frame_equal(X, before)

    def test_columns_in_another_order_give_the_same_answers(self) -> None:
        X, y = mixed_frame()
        pool = make_pool(X, y, n_classifiers=10)

        expected = positive_probabilities(pool, X, "yes")
        assert np.array_equal(positive_probabilities(pool, X[X.columns[::-1]], "yes"), expected)

    def test_other_column_names_are_refused(self) -> None:
        X, y = mixed_frame()
        pool = make_pool(X, y, n_classifiers=1)

        with pytest.raises(BadInputError, match=r"Missing: age; not seen at fit: years"):
            positive_probabilities(pool, X.rename(columns={"age": "years"}), "yes")
        with pytest.raises(BadInputError, match="feature names should match"):
            positive_probabilities(pool, X.drop(columns="age"), "yes")

    def test_another_number_of_columns_is_refused(self, cancer_pool: Pool) -> None:
        with pytest.raises(BadInputError, match="X has 2 features, but the pool is expecting 30 features"):
            positive_probabilities(cancer_pool, CANCER_X[:, :2], "benign")
        with pytest.raises(BadInputError, match="X has 2 features, but the pool is expecting 30 features"):
            positive_probabilities(cancer_pool, CANCER_X[:, :2].tolist(), "benign")

    def test_numbers_become_standardised_with_the_median_for_gaps_and_a_column_that_says_so(self) -> None:
        encoded = fit_table(np.array([[1.0], [np.nan], [3.0], [8.0]])).transform([[3.0], [np.nan]])

        filled = np.array([1, 3, 3, 8])
        value = (3 - filled.mean()) / filled.std()
        gaps = np.array([0, 1, 0, 0])
        absent = (np.array([0, 1]) - gaps.mean()) / gaps.std()
        assert encoded == pytest.approx(np.column_stack([[value, value], absent]))

    def test_words_become_one_column_each_and_unknown_words_are_missing(self) -> None:
        frame = pd.DataFrame({"colour": ["red", "blue", None, "red"]})
        encoded = fit_table(frame).transform(pd.DataFrame({"colour": ["blue", None, "red", "mauve"]}))

        assert encoded.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]

    def test_rare_words_share_a_column_with_unknown_ones(self) -> None:
        frame = pd.DataFrame({"code": [f"{number:02}" for number in [*range(50), *range(29)]]})
        encoder = fit_table(frame)
        encoded = encoder.transform(pd.DataFrame({"code": ["00", "49", "new"]}))

        assert encoded.shape == (3, 30)
        assert encoded[1].tolist() == encoded[2].tolist() != encoded[0].tolist()

    @pytest.mark.parametrize(
        "array",
        [
            np.array([[1, 2.5], [None, 3]], dtype=object),
            np.array([["1", "2.5"], ["nan", "3"]]),
            np.array([["1", "2.5"], [np.nan, "3"]], dtype=object),
            [[1, 2.5], [None, 3]],
        ],
        ids=["objects", "text", "text among objects", "lists"],
    )
    def test_arrays_that_read_as_numbers_are_numbers(self, array: Any) -> None:
        expected = fit_table(np.array([[1, 2.5], [np.nan, 3]])).transform([[1, 2.5], [np.nan, 3]])

        assert np.array_equal(fit_table(array).transform(array), expected)

    def test_words_in_an_array_stay_words_where_a_batch_reads_as_numbers(self) -> None:
        encoder = fit_table(np.array([["1", "5"], ["2", "6"], ["a", "7"]]))

        assert encoder.words.tolist() == [True, False]
        # one number, then a column each for "1", "2" and "a"
        assert encoder.transform(np.array([["2", "6"]])).tolist() == [[0, 0, 1, 0]]

    def test_text_in_a_frame_is_words_even_if_it_reads_as_numbers(self) -> None:
        assert fit_table(pd.DataFrame({"postcode": ["01234", "99999"]})).words.tolist() == [True]

    def test_huge_numbers_and_far_rows_stay_finite(self) -> None:
        encoder = fit_table(np.array([[1e308], [-1e308], [0.0]]))

        assert np.isfinite(encoder.transform([[1e308]])).all()
        assert fit_table([[0.0], [1.0]]).transform([[1e300]]).tolist() == [[1000.0]]

    def test_words_where_numbers_were_are_refused(self) -> None:
        encoder = fit_table(pd.DataFrame({"age": [1, 2]}))

        with pytest.raises(
            BadInputError, match="column 'age' held numbers when its classifiers were fitted, and holds '"
        ):
            encoder.transform(pd.DataFrame({"age": ["old", "young"]}))

    @pytest.mark.parametrize("others", [["a", "b"], [1, 2]], ids=["among words", "among numbers"])
    def test_a_cell_that_is_neither_number_nor_word_is_refused(self, others: list[Any]) -> None:
        array = np.array([[others[0]], [others[1]], [{"foo": "bar"}]], dtype=object)

        with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
            fit_table(array)


class TestAsPool:
    def test_a_pool_stays_itself(self, cancer_pool: Pool) -> None:
        assert as_pool(cancer_pool) is cancer_pool

    @pytest.mark.parametrize("forest_class", [RandomForestClassifier, ExtraTreesClassifier])
    def test_a_forest_is_the_pool_of_its_trees(self, forest_class: Any) -> None:
        forest = forest_class(7, max_depth=3, random_state=0).fit(CANCER_X, WORDS)
        pool = as_pool(forest)
        answers = positive_probabilities(pool, CANCER_X, "malignant")

        assert len(pool) == 7
        assert pool.classes.tolist() == ["benign", "malignant"]
        assert set(pool.families) == {forest.estimators_[0].__class__.__name__}
        assert answers.mean(axis=1) == pytest.approx(forest.predict_proba(CANCER_X)[:, 1])
        for tree, column in zip(forest.estimators_, answers.T, strict=True):
            assert np.array_equal(column > 0.5, tree.predict(CANCER_X.astype(np.float32)) == 1)

    def test_a_forest_fitted_on_a_frame_matches_columns_by_name(self) -> None:
        X = load_breast_cancer(as_frame=True).data
        forest = RandomForestClassifier(3, random_state=0).fit(X, CANCER_Y)
        answers = positive_probabilities(as_pool(forest), X[X.columns[::-1]], 1)

        assert answers.mean(axis=1) == pytest.approx(forest.predict_proba(X)[:, 1])

    @pytest.mark.parametrize("as_frame", [False, True])
    def test_bagging_members_see_their_own_columns(self, as_frame: bool) -> None:
        X = load_breast_cancer(as_frame=as_frame, return_X_y=True)[0]
        bagging = BaggingClassifier(
            DecisionTreeClassifier(max_depth=2), n_estimators=6, max_features=0.3, random_state=0
        ).fit(X, WORDS)
        answers = positive_probabilities(as_pool(bagging), X, "malignant")

        assert answers.mean(axis=1) == pytest.approx(bagging.predict_proba(X)[:, 1])

    def test_bagging_members_that_missed_a_class_give_it_no_probability(self) -> None:
        X, y = np.arange(24.0)[:, None], np.array([0] * 11 + [1] * 11 + [2] * 2)
        bagging = BaggingClassifier(
            KNeighborsClassifier(2), n_estimators=20, max_samples=8, random_state=0
        ).fit(X, np.array(["x", "y", "z"])[y])
        missed = [len(member.classes_) < 3 for member in bagging.estimators_]
        answers = positive_probabilities(as_pool(bagging), X, "z")

        assert any(missed)
        assert answers.mean(axis=1) == pytest.approx(bagging.predict_proba(X)[:, 2])

    def test_a_voting_classifier_keeps_names_and_text_labels(self) -> None:
        voting = VotingClassifier(
            [
                ("bayes", GaussianNB()),
                ("left out", "drop"),
                ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
                ("line", Perceptron(random_state=0)),
            ]
        ).fit(CANCER_X, WORDS)
        pool = as_pool(voting)
        votes = positive_votes(pool, CANCER_X, "malignant")

        assert pool.names == ("bayes", "tree", "line")
        assert pool.families == ("GaussianNB", "DecisionTreeClassifier", "Perceptron")
        assert np.array_equal(votes.sum(axis=1) >= 2, voting.predict(CANCER_X) == "malignant")

    def test_members_of_a_voting_classifier_may_take_frames(self) -> None:
        X, y = mixed_frame()
        encode = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
        voting = VotingClassifier([("words", encode)], voting="soft").fit(X[["grade"]], y)

        answers = positive_probabilities(as_pool(voting), X[["grade"]], "yes")
        assert answers[:, 0] == pytest.approx(voting.predict_proba(X[["grade"]])[:, 1])

    def test_a_pipeline_that_ends_in_an_ensemble_transforms_once(self) -> None:
        forest = RandomForestClassifier(4, random_state=0)
        pipeline = make_pipeline(StandardScaler(), forest).fit(CANCER_X, WORDS)
        alone = make_pipeline(forest)
        answers = positive_probabilities(as_pool(pipeline), CANCER_X, "malignant")

        assert answers.mean(axis=1) == pytest.approx(pipeline.predict_proba(CANCER_X)[:, 1])
        assert len(as_pool(alone)) == 4

    def test_a_pipeline_may_hand_sparse_rows_to_its_ensemble(self) -> None:
        X, y = mixed_frame()
        for last in (
            RandomForestClassifier(3, random_state=0),
            BaggingClassifier(GaussianNBOnDense(), n_estimators=3, max_features=0.7, random_state=0),
        ):
            pipeline = make_pipeline(OneHotEncoder(), last).fit(X[["grade", "smoker"]], y)
            answers = positive_probabilities(as_pool(pipeline), X[["grade", "smoker"]], "yes")

            assert answers.mean(axis=1) == pytest.approx(pipeline.predict_proba(X[["grade", "smoker"]])[:, 1])

    @pytest.mark.parametrize("kind", [dict, list, tuple])
    def test_named_classifiers_keep_their_names(self, kind: Any) -> None:
        trees = [DecisionTreeClassifier(max_depth=d).fit(CANCER_X, WORDS) for d in (1, 2)]
        pool = as_pool(kind([("stump", trees[0]), ("tree", trees[1])]))
        assert (pool.names, pool.families) == (("stump", "tree"), ("DecisionTreeClassifier",) * 2)
        with pytest.raises(BadInputError, match="pool must name each classifier by a text, got 3"):
            as_pool(kind([("stump", trees[0]), (3, trees[1])]))
        with pytest.raises(BadInputError, match="'stump' more than once"):
            as_pool([("stump", trees[0]), ("stump", trees[1])])

    def test_a_list_may_hold_classifiers_without_probabilities_and_pipelines(self) -> None:
        pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(CANCER_X, WORDS)
        pool = as_pool([pipeline, WithoutProbabilities(), WithoutProbabilities()])
        answers = positive_votes(pool, CANCER_X, "malignant")

        assert pool.names == (
            "LogisticRegression after StandardScaler",
            "WithoutProbabilities-1",
            "WithoutProbabilities-2",
        )
        assert np.array_equal(answers[:, 1], CANCER_X[:, 0] > 15)
        assert np.array_equal(answers[:, 0], pipeline.predict(CANCER_X) == "malignant")
        assert pool.n_features_in == 30

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ([], "at least one fitted classifier, got an empty list"),
            ("forest", "pool must be a Pool, a list .* got 'forest'"),
            (None, "got None"),
            (LogisticRegression(), "got a LogisticRegression. Put a single classifier into a list"),
            (RandomForestRegressor(), "got a RandomForestRegressor"),
            (RandomForestClassifier(), "pool is a RandomForestClassifier that is not fitted"),
            (VotingClassifier([("bayes", GaussianNB())]), "pool is a VotingClassifier that is not fitted"),
            (make_pipeline(StandardScaler(), GaussianNB()), "a Pipeline that ends in a GaussianNB"),
            ([GaussianNB()], r"pool\[0\] is a GaussianNB that is not fitted. Call its fit first"),
            ([WithoutProbabilities(), GaussianNB()], r"pool\[1\] is a GaussianNB that is not fitted"),
            ([make_pipeline(GaussianNB())], r"pool\[0\] is a Pipeline that is not fitted"),
            ([LinearRegression().fit([[0], [1]], [0, 1])], r"pool\[0\] must be a fitted classifier, got a LinearRegression"),
            ([KMeans(1)], r"pool\[0\] must be a fitted classifier, got a KMeans"),
            ({"tree": GaussianNB()}, r"pool\['tree'\] is a GaussianNB that is not fitted"),
            (["tree"], r"pool\[0\] must be a fitted classifier, got 'tree'"),
            ([GaussianNB], "got the class GaussianNB instead of an object of it"),
            (
                [Answering(1), WithoutProbabilities()],
                r"pool\[0\] has 0 and 1 and pool\[1\], a WithoutProbabilities, has benign and malignant",
            ),
            (RandomForestClassifier(2).fit([[0], [1]], [[0, 1], [1, 0]]), "RandomForestClassifier with several outputs"),
        ],
    )  # fmt: skip
    def test_what_is_no_pool_is_named(self, source: Any, message: str) -> None:
        with pytest.raises(BadInputError, match=message):
            as_pool(source)


class TestPool:
    def test_a_subset_by_mask_or_indices_answers_like_the_columns_chosen(self, cancer_pool: Pool) -> None:
        priced = replace(cancer_pool, costs=np.arange(20.0))
        mask = np.arange(20) % 7 == 3
        answers = positive_probabilities(priced, CANCER_X, "benign")

        chosen = priced.subset(mask)
        assert chosen.costs is not None
        assert chosen.costs.tolist() == [3, 10, 17]
        assert chosen.names == tuple(cancer_pool.names[index] for index in (3, 10, 17))
        assert np.array_equal(positive_probabilities(chosen, CANCER_X, "benign"), answers[:, mask])
        assert priced.subset([17, 3]).families == (cancer_pool.families[17], cancer_pool.families[3])
        assert len(priced.subset([])) == len(priced.subset(np.zeros(20, dtype=bool))) == 0

    @pytest.mark.parametrize(
        ("chosen", "message"),
        [
            (np.ones(3, dtype=bool), r"shape \(20,\), got \(3,\)"),
            ([20], "indices from 0 to 19, got"),
            ([-1], "indices from 0 to 19, got"),
            ([0.5], "must be a mask or indices"),
        ],
    )
    def test_a_choice_outside_the_pool_is_refused(self, cancer_pool: Pool, chosen: Any, message: str) -> None:
        with pytest.raises(BadInputError, match=message):
            cancer_pool.subset(chosen)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"costs": np.ones(3)}, "costs must have one entry per classifier, 20, got 3"),
            ({"costs": np.full(20, -1.0)}, "costs must be numbers of at least 0"),
            ({"costs": np.full(20, np.nan)}, r"costs must be numbers of at least 0, got NaN for '"),
            ({"names": ("same",) * 20}, "the names of a pool's classifiers must all differ, got 'same' more than once"),
            ({"families": ()}, "families must have one entry per classifier"),
        ],
    )  # fmt: skip
    def test_a_pool_that_does_not_fit_together_is_refused(
        self, cancer_pool: Pool, changes: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(BadInputError, match=message):
            replace(cancer_pool, **changes)


class TestLoadPool:
    def test_a_pool_comes_back_from_its_file(self, cancer_pool: Pool, tmp_path: Path) -> None:
        dump_object(cancer_pool, tmp_path / "pool.joblib")
        loaded = load_pool(tmp_path / "pool.joblib")

        assert loaded.names == cancer_pool.names
        assert np.array_equal(
            positive_probabilities(loaded, CANCER_X, "benign"),
            positive_probabilities(cancer_pool, CANCER_X, "benign"),
        )

    def test_a_foreign_file_needs_trust(self, tmp_path: Path) -> None:
        path = tmp_path / "forest.joblib"
        joblib.dump(RandomForestClassifier(2, random_state=0).fit(CANCER_X, WORDS), path)

        with pytest.raises(UntrustedFileError, match="trust"):
            load_pool(path)
        assert len(load_pool(path, trust=True)) == 2

    def test_a_file_without_a_pool_is_named(self, tmp_path: Path) -> None:
        dump_object("no pool", tmp_path / "words.joblib")

        with pytest.raises(BadInputError, match=r"words\.joblib does not hold a pool: .* got 'no pool'"):
            load_pool(tmp_path / "words.joblib")
        with pytest.raises(BadFileError, match="cannot be read"):
            load_pool(tmp_path / "absent.joblib")


class GaussianNBOnDense(GaussianNB):
    """Naive Bayes that takes sparse rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(X.toarray(), y, sample_weight)

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X.toarray())


class Failing:
    """A foreign classifier whose answers are whatever a function makes of the rows."""

    def __init__(self, n_classes: int, answer: Any) -> None:
        self.classes_ = np.arange(n_classes)
        self.predict_proba = self.predict = answer


def _raise(_: Any) -> Any:
    raise KeyError(220)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param(_raise, r"Failing fails on these rows \(KeyError: 220\)", id="it raises"),
        pytest.param(lambda _: np.ones((1, 2)), r"shape \(5, .\), got \(1, 2\)", id="too few rows"),
        pytest.param(lambda X: np.ones(len(X)), r"shape \(5, .\), got \(5,\)", id="no column per class"),
        pytest.param(lambda X: np.ones((len(X), 1)), r"shape \(5, .\), got \(5, 1\)", id="one column"),
    ],
)
def test_a_foreign_classifier_that_fails_is_named(n_classes: int, answer: Any, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        class_answers(as_pool([Failing(n_classes, answer)]), np.zeros((5, 2)))


def test_classifiers_that_a_study_has_are_not_fitted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = load_iris(return_X_y=True)
    with open_study(tmp_path / "s.db") as study:
        first = make_pool(X, y, n_classifiers=3, plain=(), study=study)
        made: list[str] = []

        def fit_and_note(family: str, *rest: Any) -> Any:
            made.append(family)
            return fit_member(family, *rest)

        monkeypatch.setattr("shortlist.ensembles.pools.fitting.fit_member", fit_and_note)
        study.record(Finished("random-forest-1", pickle.dumps("of a stranger")))
        more = make_pool(X, y, n_classifiers=5, plain=(), study=study)
        assert made == ["nearest-neighbours", "random-forest"]
        for one, same in zip(first.classifiers, more.classifiers, strict=False):
            assert (one.predict_proba(X) == same.predict_proba(X)).all()
        with pytest.raises(BadInputError, match="random_state was 0 there and is 1 now"):
            make_pool(X, y, n_classifiers=3, random_state=1, study=study)


def test_every_classifier_is_asked_for_every_class() -> None:
    pool = make_pool(FLOWERS, KINDS, n_classifiers=10)

    table = class_probabilities(pool, FLOWERS[::10])

    assert table.shape == (15, 10, 3)
    assert np.allclose(table.sum(axis=2), 1)
    rows = pool.preprocessor.transform(FLOWERS[::10])  # type: ignore[union-attr]
    assert np.allclose(table[:, 4], pool.classifiers[4].predict_proba(rows))


def _always(row: tuple[float, ...]) -> Failing:
    return Failing(2, lambda X: np.tile(row, (len(X), 1)))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ((0.5, 0.7), "must add up to 1 on every row, got 1.2"),
        ((0.5, np.nan), "answers NaN on 150 of 150 rows"),
        ((-0.5, 1.5), "must answer probabilities from 0 to 1, got"),
        ((0.0, np.inf), "must answer probabilities from 0 to 1"),
        ((0.5, 0.3, 0.2), "must answer with shape"),
    ],
)
def test_what_are_no_probabilities_is_refused_by_name(row: tuple[float, ...], why: str) -> None:
    pool = as_pool([_always((1.0, 0.0)), _always(row)])

    for asked in (class_probabilities, functools.partial(positive_votes, positive=1)):
        if asked is class_probabilities or "add up" not in why:
            with pytest.raises(BadInputError, match=f"classifier Failing-2 {why}"):
                asked(pool, FLOWERS)


def test_small_errors_of_rounding_are_scaled_away() -> None:
    pool = as_pool([_always((0.50001, 0.5)), _always((1 + 1e-9, -1e-9))])
    table = class_probabilities(pool, FLOWERS[:3])

    assert np.allclose(table.sum(axis=2), 1, atol=1e-12)
    assert table[:, 1].tolist() == [[1, 0]] * 3


def test_an_unknown_class_and_classifiers_without_probabilities_are_named(cancer_pool: Pool) -> None:
    with pytest.raises(BadInputError, match=r"positive must be one of the classes .*benign.*, got 1"):
        positive_votes(cancer_pool, CANCER_X, 1)
    voting = as_pool([GaussianNB().fit(CANCER_X, WORDS), WithoutProbabilities()])
    with pytest.raises(BadInputError, match="got none of WithoutProbabilities"):
        class_probabilities(voting, CANCER_X)
