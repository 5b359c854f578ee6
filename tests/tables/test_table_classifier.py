"""What every classifier of ours does alike."""

from typing import Any

import numpy as np
import pytest

from shortlist import (
    BackfittingPruner,
    BadInputError,
    EvolutionaryEnsembleClassifier,
    ExactPruner,
    GreedyMeansPruner,
    MarginPruner,
    MultiStageClassifier,
    OrderedPruner,
)
from shortlist.tables.table_classifier import TableClassifier

CLASSIFIERS: list[type[TableClassifier]] = [
    ExactPruner,
    OrderedPruner,
    MarginPruner,
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
