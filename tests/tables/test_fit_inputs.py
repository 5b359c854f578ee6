"""Checks of rows by every estimator, tried on all estimators of the package."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_classification

from shortlist import (
    BackfittingPruner,
    BadInputError,
    EvolutionaryEnsembleClassifier,
    ExactPruner,
    GreedyMeansPruner,
    MultiStageClassifier,
)
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.tables.fit_inputs import TableClassifier
from shortlist_papers import OrderedPruner

ESTIMATORS: dict[str, Callable[[], Any]] = {
    "ExactPruner": lambda: ExactPruner(n_classifiers=6, random_state=0),
    "OrderedPruner": lambda: OrderedPruner(n_classifiers=6, random_state=0),
    "BackfittingPruner": lambda: BackfittingPruner(n_classifiers=6, random_state=0),
    "GreedyMeansPruner": lambda: GreedyMeansPruner(n_classifiers=6, n_bags=2, random_state=0),
    "EvolutionaryEnsembleClassifier": lambda: EvolutionaryEnsembleClassifier(
        population_size=10, n_generations=3, random_state=0
    ),
    "MultiStageClassifier": lambda: MultiStageClassifier(
        feature_costs={"a": 5, "b": 1, "c": 1.5, "d": 2}, answer_rejected=True, random_state=0
    ),
    "MultiStageClassifier by evolution": lambda: MultiStageClassifier(
        confidence=0.6,
        method="emsco",
        emsco_options=EmscoOptions(population=10, generations=3),
        random_state=0,
    ),
}

INDICES: dict[str, "Callable[[int], pd.Index[Any]]"] = {
    "shuffled": lambda n: pd.Index(np.random.default_rng(1).permutation(n)),
    "duplicated strings": lambda n: pd.Index([f"row {i % 50}" for i in range(n)]),
}


def table(n_rows: int = 160) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Rows with numbers, gaps and text."""
    X, y = make_classification(n_rows, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["c"] = np.where(frame["c"] > 0.5, "high", np.where(frame["c"] > -0.5, "mid", "low"))
    frame.loc[::7, "b"] = np.nan
    return frame, np.where(y == 1, "ill", "well")


def every_output(fitted: Any, X: pd.DataFrame) -> dict[str, Any]:
    """Return all that an estimator tells of itself and of rows, without the index."""
    outputs = {
        name: getattr(fitted, name)(X).tolist()
        for name in ("predict", "predict_proba")
        if hasattr(fitted, name)
    }
    for name in ("selection_", "assignment_"):
        if hasattr(fitted, name):
            outputs[name] = getattr(fitted, name).tolist()
    for name in ("threshold_", "objective_value_", "bound_", "point_"):
        outputs[name] = getattr(fitted, name, None)
    if getattr(fitted, "validation_", None) is not None:
        outputs["validation_"] = (fitted.validation_.rows.tolist(), fitted.validation_.labels.tolist())
    if hasattr(fitted, "decision_report"):
        outputs["front_"] = fitted.front_.values.tolist()
        outputs["stage_probabilities"] = fitted.stage_probabilities(X).tolist()
        report = fitted.decision_report(X)
        outputs["decision_report"] = report.to_numpy().tolist()
        answer = fitted.predict_on_demand(lambda rows, names: X[list(names)].iloc[rows], len(X))
        outputs["predict_on_demand"] = (answer.labels.tolist(), answer.decisions.costs.tolist())
    return outputs


@cache
def plain_outputs(name: str) -> dict[str, Any]:
    X, y = table()
    return every_output(ESTIMATORS[name]().fit(X, y), X)


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_index_of_rows_and_labels_changes_nothing(name: str, index: str) -> None:
    X, y = table()
    indexed = X.set_axis(INDICES[index](len(X)), axis=0)
    labels = pd.Series(y, index=INDICES[index](len(X))[::-1])
    fitted = ESTIMATORS[name]().fit(indexed, labels)

    assert every_output(fitted, indexed) == plain_outputs(name)
    if hasattr(fitted, "decision_report"):
        assert fitted.decision_report(indexed).index.equals(indexed.index)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_weights_are_refused_by_the_class_that_was_called(name: str) -> None:
    X, y = table(40)
    estimator = ESTIMATORS[name]()
    with pytest.raises(BadInputError, match=f"{type(estimator).__name__}.fit takes no sample_weight"):
        estimator.fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
        estimator.fit(X, y, weight=np.ones(len(y)))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_target_of_numbers_with_fractions_is_refused_in_one_sentence(name: str) -> None:
    X, y = table()
    with pytest.raises(BadInputError, match=r"got 0\.5\. Unknown label type: .*number to predict,") as caught:
        ESTIMATORS[name]().fit(X, np.where(y == "ill", 0.5, 1.0))
    assert "\n" not in str(caught.value)


CLASSIFIERS: list[type[TableClassifier]] = [
    ExactPruner,
    OrderedPruner,
    BackfittingPruner,
    GreedyMeansPruner,
    EvolutionaryEnsembleClassifier,
    MultiStageClassifier,
]
BAD: dict[str, Any] = {
    "C": 0,
    "criterion": "none",
    "enumeration_budget": -1,
    "method": "none",
    "n_bags": -1,
    "n_classifiers": 0,
    "n_jobs": 0,
    "n_steps": 0,
    "random_state": -1,
    "space": "none",
    "time_limit_s": 0,
    "validation_share": 2,
}
"""A bad value of every option that is checked alone."""


@pytest.mark.parametrize(
    ("kind", "option"), [(kind, option) for kind in CLASSIFIERS for option in sorted(kind.CHECKS)]
)
def test_every_option_that_is_checked_alone_is_named_when_refused(
    kind: type[TableClassifier], option: str
) -> None:
    classifier = kind().set_params(**{option: BAD[option]})
    with pytest.raises(BadInputError, match=f"^{option} must be"):
        classifier.check_options(np.array([0, 1]))
    with pytest.raises(BadInputError, match=f"^{option} must be"):
        classifier.fit(np.arange(8).reshape(-1, 1), np.array([0, 1] * 4))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_one_class_is_refused_in_the_same_sentence(kind: type[TableClassifier]) -> None:
    with pytest.raises(BadInputError, match=r"^the target must hold .*, got one class only: 'a'\. Add rows"):
        kind().fit(np.arange(4).reshape(-1, 1), np.array(["a"] * 4))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_text_and_gaps_are_welcome(kind: type[TableClassifier]) -> None:
    tags = kind().__sklearn_tags__().input_tags
    assert tags.allow_nan
    assert tags.string
    assert tags.categorical
