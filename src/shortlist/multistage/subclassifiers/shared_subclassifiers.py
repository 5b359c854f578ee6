"""One classifier for all feature subsets: features that are not bought are gaps."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage.problem.reject_rules import RejectRule, raised_threshold
from shortlist.multistage.subclassifiers.foreign_subclassifiers import ForeignModel, ForeignSubclassifiers
from shortlist.multistage.subclassifiers.stage_calls import asked_by_price
from shortlist.multistage.subclassifiers.subclassifiers import (
    STOPPED,
    Part,
    SubsetPlaces,
    bits_of_answers,
)
from shortlist.runs import Budget

FITTED_ROWS = 20_000
"""Rows with gaps that the classifier is fitted on at least, unless that takes too many copies of each row."""

FEWEST_COPIES, MOST_COPIES = 4, 16
"""Copies of each row, each with gaps of its own."""

ROWS_PER_CALL = 100_000
"""Rows that it is asked about in one call."""


class SharedSubclassifiers:
    """One clone of a classifier that takes gaps, in place of one for each feature subset.

    Out of fold there is one for each fold. It is fitted on copies of the rows; in each copy of a row a random
    number of random features is known, and the others are gaps. Asked about a subset it sees gaps in all
    other features. That is not what a classifier of the subset alone would say, so a front that was found
    with it is measured anew with those of its own subsets, `own`.

    Parameters
    ----------
    own : ForeignSubclassifiers
        What fits the classifiers of single subsets; its rows, its estimator and its budget are used.
    seed : int, default=0
        Of the gaps.
    """

    def __init__(self, own: ForeignSubclassifiers, *, seed: int = 0) -> None:
        if not takes_gaps(own.estimator):
            raise BadInputError(
                "share_fits",
                "needs a subclassifier that takes missing values, such as HistGradientBoostingClassifier",
                type(own.estimator).__name__,
                "Leave out `share_fits`.",
            )
        self.own, self.rows, self.budget = own, own.rows, own.budget
        self.places = SubsetPlaces(self.rows.n_features, own.places.capacity)
        self.n_fits = 0
        self.fits_are_quick = True  # one for all
        self.most_asked, self.member_costs = own.most_asked, own.member_costs
        self._seed = seed
        self._subsets = np.zeros((self.places.capacity, self.rows.n_features), dtype=bool)
        self._parts = self.rows.parts
        self._models: list[ForeignModel] = []

    def __getstate__(self) -> dict[str, object]:
        """Return what a copy in another process has."""
        return {**vars(self), "budget": Budget()}

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slot of each subset, ``(n_subsets,)``; the first call fits what is asked."""
        while len(self._models) < len(self._parts):
            if self.budget.stopped:
                raise FitsStoppedError(STOPPED)
            self._models.append(self._fitted(self._parts[self.n_fits]))
            self.n_fits += 1
        slots, new = self.places.place(subsets)
        self._subsets[slots[new]] = subsets[new]
        return slots

    def write_bits(self, slots: NDArray[np.int64], rule: RejectRule, bits: NDArray[np.uint64]) -> None:
        """Write into ``bits[slot]`` who is confident and who is confident and right."""
        together = max(1, ROWS_PER_CALL // max(1, len(self.rows.validation_labels)))
        for start in range(0, len(slots), together):
            piece = slots[start : start + together]
            subsets = self._subsets[piece]
            found = [self._judged(place, subsets) for place in range(len(self._parts))]
            probabilities = np.concatenate(found, axis=1)
            for slot, subset, of_rows in zip(piece.tolist(), subsets, probabilities, strict=True):
                bits[slot] = bits_of_answers(of_rows, self.rows, rule, self._least(subset, rule))

    def asked(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many classifiers of each price a call of the one asks, ``(n_slots, n_prices)``."""
        n_prices = 1 if self.member_costs is None else len(self.member_costs)
        return np.tile(asked_by_price(self._models[0].estimator, n_prices), (len(slots), 1))

    def model(self, subset: Mask) -> ForeignModel:
        """Return what predicts for one subset: a classifier of its own."""
        return self.own.model(subset)

    def judging_probabilities(self, subset: Mask) -> Floats:
        """Return the class probabilities of the rows that judge, by classifiers of the subset's own."""
        return self.own.judging_probabilities(subset)

    def judging_least(self, subset: Mask, rule: RejectRule) -> Floats:
        """Return the threshold that the rule raised for each row that judges, by the same classifiers."""
        return self.own.judging_least(subset, rule)

    def _fitted(self, part: Part) -> ForeignModel:
        """Fit the classifier of a part on its rows with gaps."""
        from sklearn.base import clone

        rng = np.random.default_rng(self._seed)
        n_rows, n = len(part.rows), self.rows.n_features
        copies = min(MOST_COPIES, max(FEWEST_COPIES, -(-FITTED_ROWS // n_rows)))
        sizes = rng.integers(1, n + 1, (copies * n_rows, 1))
        known = rng.random((copies * n_rows, n)).argsort(axis=1).argsort(axis=1) < sizes
        seen = with_gaps(np.tile(part.rows, (copies, 1)), self.rows.encoding.columns(known))
        fitted = clone(self.own.estimator).fit(seen, np.tile(part.labels, copies))
        return ForeignModel(fitted, np.arange(part.rows.shape[1]), self.rows.n_classes)

    def _judged(self, place: int, subsets: Mask) -> Floats:
        """Return the probabilities of the rows that a part judges, ``(n_subsets, n_rows, n_classes)``."""
        rows = self.rows.validation_rows[self._parts[place].judges]
        return self._probabilities(self._models[place], subsets, rows)

    def _least(self, subset: Mask, rule: RejectRule) -> Floats:
        """Return for each row that judges the threshold that keeps accuracy on the fitted rows."""
        least = np.zeros(len(self.rows.validation_labels))
        if rule.risk is not None:
            for model, part in zip(self._models, self._parts, strict=True):
                found = self._probabilities(model, subset[None, :], part.rows)[0]
                least[part.judges] = raised_threshold(found, part.labels, rule)
        return least

    def _probabilities(self, model: ForeignModel, subsets: Mask, rows: Floats) -> Floats:
        """Return the probabilities for each subset, ``(n_subsets, n_rows, n_classes)``."""
        known = np.repeat(self.rows.encoding.columns(subsets), len(rows), axis=0)
        found = model.probabilities(with_gaps(np.tile(rows, (len(subsets), 1)), known))
        return found.reshape(len(subsets), len(rows), -1)


def takes_gaps(estimator: Any) -> bool:
    """Whether a classifier, or the one that it wraps to calibrate it, says that it takes missing values."""
    from sklearn.utils import get_tags

    inner = getattr(estimator, "estimator", None)
    return bool(get_tags(estimator).input_tags.allow_nan) or (inner is not None and takes_gaps(inner))


def with_gaps(rows: Floats, known: Mask) -> Floats:
    """Return encoded rows, ``(n_rows, n_columns)``, with NaN where a column is not known."""
    return np.where(known, rows, np.nan)
