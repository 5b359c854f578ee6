"""What all our classifiers do alike: take tables as they come, check rows, classes and options."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from shortlist.arrays import Labels
from shortlist.tables.fit_inputs import (
    as_random_state,
    checked_fit,
    classes_of,
    integer_seed,
    refuse_fit_options,
)

Check: TypeAlias = Callable[[Any, str], object]
"""Refuses a bad value of the option that it is told, with one sentence."""


class TableClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier of rows with text, categories and gaps, which counts every row once."""

    CHECKS: ClassVar[dict[str, Check]] = {"random_state": as_random_state}
    """How each option is checked that can be checked alone, in this order."""

    MOST_CLASSES: ClassVar[int | None] = None
    """How many classes can be told apart at most; None is any number."""

    @abstractmethod
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from these rows."""

    @abstractmethod
    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``."""

    def check_options(self, y: Labels) -> None:
        """Refuse classes and options that cannot be used, before any long work."""
        classes_of(y, name="the target", most=self.MOST_CLASSES)
        for option, check in self.CHECKS.items():
            check(getattr(self, option), option)

    def _begin_fit(self, X: Any, y: Any, unsupported: Mapping[str, Any]) -> tuple[Any, Labels, int]:
        """Check what ``fit`` was given, set ``classes_``, and return the rows, their classes and the seed."""
        refuse_fit_options(self, unsupported)
        X, y = checked_fit(self, X, y)
        self.check_options(y)
        self.classes_ = np.unique(y)
        return X, y, integer_seed(self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
