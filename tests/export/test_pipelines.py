"""Classifiers of one's own after transformers, over a table of words and gaps, as plain numbers and graphs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError
from shortlist.ensembles.estimators.rule_pruners import BaselinePruner
from shortlist.ensembles.pools.members import as_pool
from shortlist.export import reader
from shortlist.export.onnx_graph import check_onnx, onnx_of
from shortlist.export.policies import check_policy, not_exportable, policy_of
from shortlist.saved_models import SavedModel
from shortlist_papers import OrderedPruner

pytestmark = pytest.mark.filterwarnings("ignore")

NUMBERS, WORDS = ["age", "income", "visits"], ["ward", "plan"]


def table(n_classes: int) -> tuple[pd.DataFrame, Any]:
    """Return rows with numbers, words and gaps, and their classes."""
    rng, n = np.random.default_rng(n_classes), 240
    rows = pd.DataFrame({
        "age": rng.normal(50, 15, n).round(),
        "income": np.exp(rng.normal(8, 1, n)).round(2),
        "visits": rng.integers(0, 9, n),
        "ward": rng.choice(["north", "south", "east", "west"], n).astype(object),
        "plan": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]).astype(object),
    })  # fmt: skip
    score = (rows.age - 50) / 15 + np.log(rows.income) - 8 + (rows.ward == "north") - (rows.plan == "c")
    score += rng.normal(0, 0.7, n)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    rows.loc[rng.random(n) < 0.1, "age"] = np.nan
    rows.loc[rng.random(n) < 0.1, "ward"] = np.nan
    return rows, y


def usual() -> ColumnTransformer:
    """Return what most pipelines begin with."""
    return ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), NUMBERS),
        ("words", make_pipeline(
            SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")), WORDS),
    ], sparse_threshold=0)  # fmt: skip


def codes() -> ColumnTransformer:
    """Return codes for words, and all else as it is."""
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    return ColumnTransformer([("words", encoder, WORDS)], remainder="passthrough")


def gaps() -> ColumnTransformer:
    """Return a column for each word, and gaps as they are."""
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return ColumnTransformer([("words", one_hot, WORDS)], remainder="passthrough")


def positive() -> ColumnTransformer:
    """Return numbers from 0 to 1."""
    return ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(), MinMaxScaler(clip=True)), NUMBERS),
        ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), WORDS),
    ])  # fmt: skip


def xgboost(**options: Any) -> Any:
    found = pytest.importorskip("xgboost", reason="XGBoost is not installed.")
    return found.XGBClassifier(n_jobs=1, random_state=0, **options)


OWN: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "logistic regression": (usual, lambda: LogisticRegression(max_iter=1000)),
    "its penalty cross-validated": (usual, lambda: LogisticRegressionCV(max_iter=1000, cv=3)),
    "ridge": (usual, RidgeClassifier),
    "hinge": (usual, lambda: SGDClassifier(random_state=0)),
    "log loss": (usual, lambda: SGDClassifier(loss="log_loss", random_state=0)),
    "linear machine": (usual, lambda: LinearSVC(random_state=0)),
    "kernel machine": (usual, SVC),
    "calibrated machine": (usual, lambda: CalibratedClassifierCV(LinearSVC(random_state=0), cv=3)),
    "linear discriminant": (usual, LinearDiscriminantAnalysis),
    "quadratic discriminant": (usual, lambda: QuadraticDiscriminantAnalysis(reg_param=0.1)),
    "naive Bayes": (usual, GaussianNB),
    "naive Bayes of bits": (usual, BernoulliNB),
    "naive Bayes of counts": (positive, MultinomialNB),
    "neighbours": (usual, lambda: KNeighborsClassifier(7)),
    "tree": (codes, lambda: DecisionTreeClassifier(max_depth=5, random_state=0)),
    "forest": (codes, lambda: RandomForestClassifier(20, random_state=0)),
    "extra trees": (usual, lambda: ExtraTreesClassifier(20, random_state=0)),
    "gradient boosting": (usual, lambda: GradientBoostingClassifier(n_estimators=20, random_state=0)),
    "histogram boosting": (gaps, lambda: HistGradientBoostingClassifier(max_iter=20, random_state=0)),
    "adaptive boosting": (usual, lambda: AdaBoostClassifier(n_estimators=10, random_state=0)),
    "bagging": (usual, lambda: BaggingClassifier(n_estimators=5, random_state=0)),
    "network": (usual, lambda: MLPClassifier((8,), max_iter=100, random_state=0)),
    "LightGBM": (gaps, lambda: LGBMClassifier(n_estimators=20, verbose=-1, n_jobs=1, random_state=0)),
    "XGBoost": (gaps, lambda: xgboost(n_estimators=20)),
    "stack": (usual, lambda: StackingClassifier(
        [("a", LinearSVC(random_state=0)), ("b", GaussianNB()), ("c", RandomForestClassifier(5, random_state=0))],
        cv=3)),
}  # fmt: skip
"""Twenty-five usual classifiers, each after a ColumnTransformer."""

MORE: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "polynomial machine": (usual, lambda: SVC(kernel="poly")),
    "sigmoid machine": (usual, lambda: SVC(kernel="sigmoid", gamma=0.1)),
    "machine with a linear kernel": (usual, lambda: SVC(kernel="linear")),
    "Huber": (usual, lambda: SGDClassifier(loss="modified_huber", random_state=0)),
    "vote": (usual, lambda: VotingClassifier([("a", LogisticRegression()), ("b", GaussianNB())], voting="soft")),
    "hard vote": (usual, lambda: VotingClassifier(
        [("a", LogisticRegression()), ("b", GaussianNB()), ("c", LinearSVC(random_state=0))], weights=[1, 1, 1.5])),
    "search": (usual, lambda: GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=3)),
    "one against the rest": (usual, lambda: OneVsRestClassifier(LogisticRegression())),
    "isotonic": (usual, lambda: CalibratedClassifierCV(
        RandomForestClassifier(5, random_state=0), method="isotonic", cv=3)),
    "calibrated boosting": (usual, lambda: CalibratedClassifierCV(
        HistGradientBoostingClassifier(max_iter=5, random_state=0), cv=3)),
    "complement": (positive, ComplementNB),
    "stack over all": (usual, lambda: StackingClassifier(
        [("a", LogisticRegression())], make_pipeline(StandardScaler(), LogisticRegression()), passthrough=True, cv=3)),
    "categories of boosting": (codes, lambda: HistGradientBoostingClassifier(
        max_iter=20, categorical_features=[0, 1], random_state=0)),
    "categories of LightGBM": (codes, lambda: LGBMClassifier(
        n_estimators=20, categorical_feature=[0, 1], min_child_samples=5, min_data_per_group=5, verbose=-1, n_jobs=1)),
    "forest of gaps": (gaps, lambda: RandomForestClassifier(10, random_state=0)),
    "many trees of XGBoost": (gaps, lambda: xgboost(n_estimators=150, max_depth=4)),
    "parallel trees of XGBoost": (gaps, lambda: xgboost(n_estimators=5, num_parallel_tree=3, subsample=0.5)),
}  # fmt: skip


def fitted(before: Any, classifier: Any, n_classes: int) -> tuple[Any, SavedModel, pd.DataFrame]:
    rows, y = table(n_classes)
    member = make_pipeline(before, classifier).fit(rows[:140], y[:140])
    pruner = OrderedPruner([member], random_state=0).fit(rows[140:], y[140:])
    return member, SavedModel(pruner, tuple(rows.columns), "class"), rows


def answers_alike(model: SavedModel, rows: pd.DataFrame) -> dict[str, Any]:
    """Return the policy, which answers some rows as the model does, as its graph answers all of them."""
    policy = policy_of(model)
    assert check_policy(policy, model, rows[100:180]) == 80
    assert check_onnx(onnx_of(policy), model, rows, policy) == len(rows)
    return policy


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", OWN | MORE)
def test_a_pipeline_answers_as_plain_numbers_and_as_a_graph_do(kind: str, n_classes: int) -> None:
    before, classifier = (OWN | MORE)[kind]
    _, model, rows = fitted(before(), classifier(), n_classes)

    policy = answers_alike(model, rows)

    assert all(
        feature["may_be_missing"] for feature in policy["features"] if feature["name"] in {"age", "ward"}
    )


def on(*numbers: Any, words: Any = None) -> ColumnTransformer:
    """Return these steps for numbers, and one-hot codes for words."""
    words = words or make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    return ColumnTransformer(
        [("n", make_pipeline(*numbers), NUMBERS), ("w", words, WORDS)], sparse_threshold=0
    )


BEFORE: dict[str, Callable[[], Any]] = {
    "robust": lambda: on(SimpleImputer(), RobustScaler()),
    "largest": lambda: on(SimpleImputer(), MaxAbsScaler()),
    "least to largest": lambda: on(MinMaxScaler((-1, 2)), SimpleImputer(strategy="constant", fill_value=0.5)),
    "moved alone": lambda: on(SimpleImputer(), StandardScaler(with_std=False)),
    "logarithm": lambda: on(FunctionTransformer(np.log1p), SimpleImputer()),
    "roots and squares": lambda: on(
        SimpleImputer(), FunctionTransformer(np.sqrt), FunctionTransformer(np.square), FunctionTransformer()),
    "thresholds": lambda: on(SimpleImputer(), Binarizer(threshold=40)),
    "bins": lambda: on(SimpleImputer(), KBinsDiscretizer(4, encode="onehot-dense", quantile_method="linear")),
    "ordered bins": lambda: on(SimpleImputer(), KBinsDiscretizer(4, encode="ordinal", strategy="uniform")),
    "powers": lambda: on(PowerTransformer(), SimpleImputer()),
    "positive powers": lambda: on(
        SimpleImputer(), MinMaxScaler((1, 2)),
        PowerTransformer("box-cox", standardize=False)),
    "quantiles": lambda: on(SimpleImputer(), QuantileTransformer(n_quantiles=20)),
    "marks of gaps": lambda: on(SimpleImputer(add_indicator=True)),
    "principal axes": lambda: on(SimpleImputer(), StandardScaler(), PCA(2), StandardScaler()),
    "whitened axes": lambda: on(SimpleImputer(), StandardScaler(), PCA(2, whiten=True)),
    "products": lambda: on(SimpleImputer(), StandardScaler(), PolynomialFeatures(2)),
    "interactions": lambda: on(
        SimpleImputer(), StandardScaler(), PolynomialFeatures(2, interaction_only=True, include_bias=False)),
    "lengths": lambda: on(SimpleImputer(), StandardScaler(), Normalizer()),
    "landmarks": lambda: on(SimpleImputer(), StandardScaler(), Nystroem(gamma=0.2, n_components=9, random_state=0)),
    "selected": lambda: make_pipeline(on(SimpleImputer()), VarianceThreshold(), SelectKBest(k=4), TruncatedSVD(3)),
    "union": lambda: on(FeatureUnion(
        [("a", SimpleImputer()), ("b", MissingIndicator()), ("c", "drop")], transformer_weights={"a": 0.5})),
    "nested": lambda: ColumnTransformer([
        ("all", Pipeline([("again", usual()), ("same", "passthrough")]), [*WORDS, *NUMBERS]),
        ("left out", "drop", ["age"]), ("as it is", "passthrough", ["visits"])], transformer_weights={"all": 2.0}),
    "by type": lambda: ColumnTransformer([
        ("n", SimpleImputer(), make_column_selector(dtype_include="number")),
        ("w", OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number"))],
        sparse_threshold=0),
    "by place": lambda: ColumnTransformer(
        [("w", OneHotEncoder(handle_unknown="ignore"), [3, 4])], remainder=SimpleImputer(), sparse_threshold=0),
    "gaps are a word": lambda: on(SimpleImputer(), words=OneHotEncoder(handle_unknown="ignore", drop="first")),
    "a word for gaps": lambda: on(SimpleImputer(), words=make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder(handle_unknown="ignore"))),
    "rare words": lambda: on(SimpleImputer(), words=make_pipeline(
        SimpleImputer(strategy="most_frequent"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=30))),
    "two words": lambda: on(SimpleImputer(), words=OneHotEncoder(drop="if_binary")),
    "ordered words": lambda: on(SimpleImputer(), words=make_pipeline(
        SimpleImputer(strategy="most_frequent"), OrdinalEncoder(categories=[["west", "east", "south", "north"], ["c", "b", "a"]]))),
    "ordered rare words": lambda: on(SimpleImputer(), words=OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2, max_categories=3)),
    "means of classes": lambda: on(SimpleImputer(), words=TargetEncoder(random_state=0)),
    "bins of codes": lambda: make_pipeline(
        codes(), SimpleImputer(), KBinsDiscretizer(3, encode="onehot-dense", quantile_method="linear")),
    "words of numbers": lambda: ColumnTransformer([
        ("n", SimpleImputer(), ["age", "income"]), ("w", OneHotEncoder(handle_unknown="ignore"), ["visits", "ward"])],
        sparse_threshold=0),
}  # fmt: skip


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("before", BEFORE)
def test_what_transformers_make_of_rows_is_made_again(before: str, n_classes: int) -> None:
    final = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    _, model, rows = fitted(BEFORE[before](), final, n_classes)

    answers_alike(model, rows)


def test_cells_and_rows_have_the_numbers_of_each_transformer() -> None:
    """The slow twin: what a transformer makes of each row, number by number, and not just what it changes."""
    rows, y = table(2)
    for name, before in BEFORE.items():
        made = np.asarray(before().fit(rows[:140], y[:140]).transform(rows), dtype=float)
        last = FrozenEstimator(_Given().fit(made, y))
        member = Pipeline([("before", before().fit(rows[:140], y[:140])), ("last", last)])
        policy = policy_of_member(member, rows)
        columns = [reader._columns(policy, row, {*range(len(policy["features"]))}) for row in records(rows)]
        found = [
            reader._prepared(
                policy["members"][0]["model"], [one[i] for i in policy["members"][0]["columns"]]
            )[1]
            for one in columns
        ]
        np.testing.assert_allclose(found, made, rtol=1e-12, atol=1e-12, err_msg=name)


def policy_of_member(member: Any, rows: pd.DataFrame) -> Any:
    from shortlist.export import plain_numbers, policies

    pool = as_pool([member])
    written = policies._PoolNumbers(pool, list(rows.columns))
    assert not written.foreign, written.foreign
    features, columns = plain_numbers.read_features(written.rows, written.columns)
    return {"features": features, "columns": columns, "members": written.members}


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {name: None if pd.isna(value) else value for name, value in row.items()}
        for row in rows.astype(object).to_dict("records")
    ]


class _Given(GaussianNB):
    """A classifier of rows as they are."""


_Given.__module__, _Given.__name__ = "sklearn.naive_bayes", "GaussianNB"


@pytest.mark.parametrize(
    "before",
    [
        on(KNNImputer()),
        on(SimpleImputer(), FunctionTransformer(lambda x: x * 2)),
        on(SimpleImputer(), QuantileTransformer(n_quantiles=10, output_distribution="normal")),
        on(SimpleImputer(), Nystroem(kernel="laplacian", gamma=0.1, n_components=5)),
    ],
    ids=["KNNImputer", "FunctionTransformer", "QuantileTransformer", "Nystroem"],
)
def test_a_part_that_cannot_be_written_is_named(before: Any, request: pytest.FixtureRequest) -> None:
    member, model, _ = fitted(before, LogisticRegression(), 2)

    part = request.node.callspec.id
    assert f"(LogisticRegression after ColumnTransformer: its {part}" in not_exportable(as_pool([member]))[0]
    with pytest.raises(BadInputError, match=f"its {part}.*Use the model file: shortlist predict"):
        policy_of(model)


def test_a_model_with_other_numbers_inside_is_refused_and_does_not_stop_the_others() -> None:
    rows, y = table(2)
    own = {
        name: make_pipeline(usual(), HistGradientBoostingClassifier(max_iter=3)).fit(rows, y)
        for name in ("older", "usual")
    }
    own["older"][-1]._predictors = [[object()]]

    assert not_exportable(as_pool(own)) == {
        0: "older (HistGradientBoostingClassifier after ColumnTransformer: AttributeError when reading its numbers)"
    }


def test_subclasses_are_not_written_as_what_they_are_of() -> None:
    class Upside(LogisticRegression):
        def predict_proba(self, X: Any) -> Any:
            return super().predict_proba(X)[:, ::-1]

    class Shifted(StandardScaler):
        def transform(self, X: Any) -> Any:
            return super().transform(X) + 1

    rows, y = table(2)
    for before, last in ((usual(), Upside()), (on(SimpleImputer(), Shifted()), LogisticRegression())):
        member = make_pipeline(before, last).fit(rows, y)
        assert not_exportable(as_pool([member]))


def test_a_committee_of_all_of_them_shares_columns() -> None:
    rows, y = table(2)
    own = {
        kind: make_pipeline(before(), classifier()).fit(rows[:140], y[:140])
        for kind, (before, classifier) in OWN.items()
        if kind != "XGBoost"
    }
    pruner = BaselinePruner(own).fit(rows[140:], y[140:])
    model = SavedModel(pruner, tuple(rows.columns), "class")
    policy = answers_alike(model, rows)
    assert len(policy["columns"]) < 40


def test_words_that_were_not_fitted_are_answered_as_by_the_model() -> None:
    rows, y = table(2)
    member = make_pipeline(usual(), LogisticRegression()).fit(rows[rows.plan != "c"], y[rows.plan != "c"])
    pruner = OrderedPruner([member], random_state=0).fit(rows, y)
    model = SavedModel(pruner, tuple(rows.columns), "class")
    assert check_policy(policy_of(model), model, rows) == len(rows)


def test_a_gap_or_word_that_the_model_refuses_is_refused() -> None:
    before = ColumnTransformer([("n", "passthrough", ["income", "visits"]), ("w", OneHotEncoder(), ["plan"])])
    _, model, rows = fitted(before, LogisticRegression(), 2)
    policy = answers_alike(model, rows)
    given = records(rows)[0]
    needed = {feature["name"]: feature["may_be_missing"] for feature in policy["features"]}

    assert needed == {"income": False, "visits": False, "plan": False}
    for changed in ({"plan": None}, {"plan": "z"}, {"income": None}):
        with pytest.raises(reader.ReaderError):
            reader.answer(policy, given | changed)


def test_numbers_that_an_encoder_does_not_know_are_refused() -> None:
    before = ColumnTransformer([("w", OneHotEncoder(), ["visits"])], remainder="drop")
    _, model, rows = fitted(before, LogisticRegression(), 2)
    policy = answers_alike(model, rows)

    with pytest.raises(reader.ReaderError, match="a value must be one of"):
        reader.answer(policy, {"visits": 77})
    assert not answered_by_graph(policy, rows[:2].assign(visits=77)).any()


def answered_by_graph(policy: Any, rows: pd.DataFrame) -> Any:
    import onnxruntime

    session = onnxruntime.InferenceSession(onnx_of(policy))
    given = {one.name: rows[one.name].to_numpy(dtype=float)[:, None] for one in session.get_inputs()}
    return session.run(["answered"], given)[0]


def test_a_column_read_as_words_and_as_numbers_is_named() -> None:
    rows, y = table(2)
    rows["floor"] = np.where(rows["visits"] > 3, "1", "2")
    words = ColumnTransformer([("w", OneHotEncoder(), ["floor"])])
    numbers = ColumnTransformer([("n", FunctionTransformer(np.asarray), ["floor"])])
    own = [make_pipeline(one, DecisionTreeClassifier(max_depth=2)).fit(rows, y) for one in (words, numbers)]
    pruner = BaselinePruner(own).fit(rows, y)
    with pytest.raises(BadInputError, match="got members that read 'floor' as both"):
        policy_of(SavedModel(pruner, tuple(rows.columns), "class"))


def test_a_whole_ensemble_with_its_transformers_is_a_pool() -> None:
    rows, y = table(3)
    forest = make_pipeline(usual(), RandomForestClassifier(5, random_state=0)).fit(rows[:140], y[:140])
    for source in (forest, forest[-1]):
        seen = rows if source is forest else pd.DataFrame(forest[:-1].transform(rows)).add_prefix("x")
        pruner = OrderedPruner(source, random_state=0).fit(seen[140:], y[140:])
        model = SavedModel(pruner, tuple(seen.columns), "class")
        assert check_policy(policy_of(model), model, seen[100:150]) == 50


def test_columns_may_come_in_another_order_than_they_were_fitted() -> None:
    rows, y = table(2)
    mixed = rows[rows.columns[::-1]]
    own = [make_pipeline(codes(), DecisionTreeClassifier(max_depth=depth)).fit(given[:140], y[:140])
           for depth, given in ((2, rows), (3, mixed))]  # fmt: skip
    pruner = BaselinePruner(own).fit(rows[140:], y[140:])
    model = SavedModel(pruner, tuple(rows.columns), "class")
    assert check_policy(policy_of(model), model, mixed[100:150]) == 50
