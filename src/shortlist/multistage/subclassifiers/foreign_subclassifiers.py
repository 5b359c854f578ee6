"""Scikit-learn classifiers of feature subsets: one for each subset, or one for all subsets.

A classifier for all subsets takes the features outside a subset as gaps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._threads import limited_threads
from shortlist._validation import as_choice, as_count
from shortlist.arrays import Floats, Mask
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.exact import as_fraction
from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.multistage.subclassifiers.subclassifiers import (
    STOPPED,
    FoldPart,
    StageRows,
    Subclassifiers,
    SubsetPlaces,
    bits_of_answers,
    validation_answers,
)
from shortlist.pickles import saved_from
from shortlist.runs import Budget, Progress, Unit, Work, run_units
from shortlist.runs.budget import of_a_part, seconds_now
from shortlist.runs.workers import Where


def counts_members(estimator: Any) -> bool:
    """Return whether a classifier is an ensemble that counts the members it asks."""
    return hasattr(type(estimator), "asked_") and hasattr(type(estimator), "most_asked")


def member_costs(estimator: Any) -> Sequence[float] | None:
    """Return the price of asking each member of an ensemble; None if all cost alike, or for no ensemble.

    Raises BadInputError if the prices are no list of costs.
    """
    given = getattr(estimator, "member_costs", None) if counts_members(estimator) else None
    if given is None:
        return None
    listed = np.iterable(given) and not isinstance(given, str | bytes | Mapping)
    costs = list(given) if listed else []
    exact = [as_fraction(cost) for cost in costs]
    wrong = [cost for cost, number in zip(costs, exact, strict=True) if number is None or number < 0]
    if not costs or wrong:
        raise BadInputError(
            "`member_costs` of the subclassifier must be a list of finite numbers of at least 0, "
            f"one for each classifier of its pool, got {(wrong or [given])[0]!r}. Mend it, or "
            "leave it out."
        )
    return costs


def most_asked(estimator: Any) -> int:
    """Return the largest number of members asked per call.

    1 unless the classifier is an ensemble that counts them.
    """
    return int(estimator.most_asked) if counts_members(estimator) else 1


def asked_by_price(estimator: Any, n_prices: int) -> NDArray[np.int64]:
    """Return the number of members of each price that a call of a fitted classifier asks, ``(n_prices,)``.

    If members have their own prices, there is one entry per member; if all members cost alike, there is one
    entry.
    """
    if not counts_members(estimator):
        return np.ones(1, dtype=np.int64)
    asked = estimator.asked_
    if n_prices == 1:
        return np.array([len(asked)], dtype=np.int64)
    return np.bincount(asked, minlength=n_prices).astype(np.int64)


WORKERS_AFTER_S = 5.0
"""Seconds of fits in this process before other processes start; starting the processes takes about as long.
"""


class ForeignSubclassifiers(Subclassifiers):
    """A classifier with ``predict_proba``, cloned and fitted per subset on its encoded columns.

    Every fitted clone is kept. The clone that predicts is fitted on all rows that fit. Out of fold, another
    clone for each fold validates. Seeds that the classifier leaves open get the seed of the budget.

    Processes of this machine are started only after `workers_after_s` seconds of fits in this one; a given
    cluster gets all fits. The place of a fit does not change its result.
    """

    fits_are_quick = False

    def __init__(
        self,
        rows: StageRows,
        estimator: Any,
        *,
        n_jobs: Where = 1,
        workers_after_s: float = WORKERS_AFTER_S,
        capacity: int = 200_000,
        dense: bool | None = None,
        budget: Budget | None = None,
    ) -> None:
        if not hasattr(estimator, "predict_proba"):
            raise BadInputError(
                "subclassifier",
                "must have predict_proba",
                type(estimator).__name__,
                "Wrap it in CalibratedClassifierCV.",
            )
        self.rows = rows
        self.n_jobs = n_jobs
        self.workers_after_s = workers_after_s
        self.seconds_here = 0.0
        self.budget = budget or Budget()
        self.estimator = seeded(estimator, self.budget.seed)
        self.most_asked = most_asked(self.estimator)
        self.member_costs = member_costs(self.estimator)
        self.places = SubsetPlaces(rows.n_features, capacity, dense=dense)
        self.n_fits = 0
        self._models: dict[int, tuple[ForeignModel, ...]] = {}

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slot of each subset, ``(n_subsets,)``; missing subsets are fitted."""
        before = self.places.epoch
        slots, new = self.places.place(subsets)
        if self.places.epoch != before:
            self._models.clear()
        columns = [np.flatnonzero(self.rows.encoding.columns(subsets[i])) for i in new]
        units = [
            Unit(str(slots[i]), fit_clones, (self.estimator, self.rows, own))
            for i, own in zip(new, columns, strict=True)
        ]
        done = 0
        try:
            if not self.budget.stopped:
                # one small fit after the other: threads within a fit would wait for each other
                with limited_threads(1):
                    for key, models in self._fitted(units):
                        if int(key) != slots[new[done]]:  # a cancellation left out one before it
                            break
                        self._models[int(key)] = models
                        done += 1
                        if self.budget.expired:
                            break
        finally:
            self.n_fits += sum(len(self._models[slot]) for slot in slots[new[:done]].tolist())
            if done < len(new):
                self.places.forget(slots[new[done:]])
        if done < len(new):
            raise FitsStoppedError(STOPPED)
        return slots

    def _fitted(self, units: Sequence[Unit]) -> Iterator[tuple[str, tuple["ForeignModel", ...]]]:
        """Yield key and models in order, from fits in this process first, then in other processes."""
        n_here = 0
        if not isinstance(self.n_jobs, str) and not self._workers_pay(len(units)):
            before = seconds_now()
            for fitted in self._run(units, 1):
                yield fitted
                n_here += 1
                self.seconds_here, before = self.seconds_here + seconds_now() - before, seconds_now()
                if self._workers_pay(len(units) - n_here):
                    break
            else:
                return
        yield from self._run(units, self.n_jobs, after=n_here)

    def _workers_pay(self, n_left: int) -> bool:
        return self.n_jobs != 1 and n_left > 1 and self.seconds_here >= self.workers_after_s

    def _run(self, units: Sequence[Unit], where: Where, *, after: int = 0) -> Iterator[tuple[str, Any]]:
        def tell(progress: Progress) -> None:
            self.budget.report(replace(progress, done=progress.done + after, total=len(units)))

        work = Work(where, report=of_a_part(tell), cancellation=self.budget.cancellation)
        return run_units(units[after:], work, stage="fitting subclassifiers")

    def write_bits(self, slots: NDArray[np.int64], rule: RejectRule, bits: NDArray[np.uint64]) -> None:
        """Write into ``bits[slot]`` the masks of the confident rows and of the confident and right rows."""
        for slot in slots.tolist():
            answers = validation_answers(self.rows, self.validating(slot))
            bits[slot] = bits_of_answers(answers, self.rows, rule)

    def asked(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of members of each price that a call asks, ``(n_slots, n_prices)``."""
        n_prices = 1 if self.member_costs is None else len(self.member_costs)
        found = [asked_by_price(self._models[slot][0].estimator, n_prices) for slot in slots.tolist()]
        return np.array(found, dtype=np.int64).reshape(len(slots), n_prices)

    def model(self, subset: Mask) -> "ForeignModel":
        """Return the model that predicts for one subset."""
        return self._models[int(self.slots(subset[None, :])[0])][0]

    def validating(self, slot: int) -> Sequence["ForeignModel"]:
        """Return the models that validate for one slot, one for each part of the rows."""
        models = self._models[slot]
        return models if self.rows.fold_of is None else models[1:]


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class ForeignModel:
    """Fitted scikit-learn classifier and its columns; it may know fewer classes than the table has."""

    estimator: Any
    columns: NDArray[np.int64]
    n_classes: int
    class_weights: tuple[float, ...] | None = None
    """Factors of the probabilities of the classes; None: 1 each."""

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities of encoded rows, ``(n_rows, n_classes)``."""
        known = self.estimator.predict_proba(rows[:, self.columns])
        probabilities = np.zeros((len(rows), self.n_classes))
        probabilities[:, self.estimator.classes_] = known
        if self.class_weights is not None:
            probabilities *= self.class_weights
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities


def seeded(estimator: Any, seed: int) -> Any:
    """Return a clone in which every open seed is `seed`, so that another run fits the same."""
    from sklearn.base import clone

    found = clone(estimator)
    open_seeds = {
        name: seed
        for name, value in found.get_params().items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    return found.set_params(**open_seeds)


def fit_clones(estimator: Any, rows: StageRows, columns: NDArray[np.int64]) -> tuple[ForeignModel, ...]:
    """Return clones fitted on some columns: one on all rows and, out of fold, one without each fold."""
    from sklearn.base import clone

    fitted = [(rows.fit_rows, rows.fit_labels)]
    if rows.fold_of is not None:
        fitted += [(part.rows, part.labels) for part in rows.parts]
    return tuple(
        ForeignModel(
            clone(estimator).fit(given[:, columns], labels), columns, rows.n_classes, rows.class_weights
        )
        for given, labels in fitted
    )


STAGE_ENSEMBLE_SIZE = 50
"""Default number of trees of a forest, or rounds of boosting."""

FITTED_ROWS = 20_000
"""Least number of copied rows with gaps to fit on; :data:`MOST_COPIES` takes precedence."""

FEWEST_COPIES, MOST_COPIES = 4, 16
"""Least and largest number of copies of each row; every copy has other gaps."""

ROWS_PER_CALL = 100_000
"""Number of rows per call of the classifier."""


class SharedSubclassifiers(Subclassifiers):
    """One clone of a classifier that takes gaps, in place of one for each feature subset.

    Out of fold there is one clone for each fold. A clone is fitted on copies of the rows: in each copy of a
    row a random number of random features is known, and the other features are gaps. For a subset all
    features outside the subset are gaps. A classifier of the subset alone gives different answers, so a front
    found with shared clones is measured anew with `own`.

    `own`: classifiers of single subsets, with their rows, estimator and budget.
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
        self.most_asked, self.member_costs = own.most_asked, own.member_costs
        self._seed = seed
        self._subsets = np.zeros((self.places.capacity, self.rows.n_features), dtype=bool)
        self._parts = self.rows.parts
        self._models: list[ForeignModel] = []

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slot of each subset, ``(n_subsets,)``; the first call fits the shared classifier."""
        while len(self._models) < len(self._parts):
            if self.budget.stopped:
                raise FitsStoppedError(STOPPED)
            self._models.append(self._fitted(self._parts[self.n_fits]))
            self.n_fits += 1
        slots, new = self.places.place(subsets)
        self._subsets[slots[new]] = subsets[new]
        return slots

    def write_bits(self, slots: NDArray[np.int64], rule: RejectRule, bits: NDArray[np.uint64]) -> None:
        """Write into ``bits[slot]`` the masks of the confident rows and of the confident and right rows."""
        together = max(1, ROWS_PER_CALL // max(1, len(self.rows.validation_labels)))
        for start in range(0, len(slots), together):
            piece = slots[start : start + together]
            subsets = self._subsets[piece]
            found = [self._validated(place, subsets) for place in range(len(self._parts))]
            probabilities = np.concatenate(found, axis=1)
            for slot, of_rows in zip(piece.tolist(), probabilities, strict=True):
                bits[slot] = bits_of_answers(of_rows, self.rows, rule)

    def asked(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of members of each price per call, ``(n_slots, n_prices)``.

        The number is the same for all slots, as all slots share one classifier.
        """
        n_prices = 1 if self.member_costs is None else len(self.member_costs)
        return np.tile(asked_by_price(self._models[0].estimator, n_prices), (len(slots), 1))

    def model(self, subset: Mask) -> ForeignModel:
        """Return the model that predicts for one subset: a classifier of the subset alone."""
        return self.own.model(subset)

    def validation_probabilities(self, subset: Mask) -> Floats:
        """Return the class probabilities of the validation rows, by classifiers of the subset alone."""
        return self.own.validation_probabilities(subset)

    def _fitted(self, part: FoldPart) -> ForeignModel:
        """Return the classifier of a part, fitted on copies of the part's rows with gaps."""
        from sklearn.base import clone

        rng = np.random.default_rng(self._seed)
        n_rows, n = len(part.rows), self.rows.n_features
        copies = min(MOST_COPIES, max(FEWEST_COPIES, -(-FITTED_ROWS // n_rows)))
        sizes = rng.integers(1, n + 1, (copies * n_rows, 1))
        known = rng.random((copies * n_rows, n)).argsort(axis=1).argsort(axis=1) < sizes
        seen = with_gaps(np.tile(part.rows, (copies, 1)), self.rows.encoding.columns(known))
        fitted = clone(self.own.estimator).fit(seen, np.tile(part.labels, copies))
        columns = np.arange(part.rows.shape[1])
        return ForeignModel(fitted, columns, self.rows.n_classes, self.rows.class_weights)

    def _validated(self, place: int, subsets: Mask) -> Floats:
        rows = self.rows.validation_rows[self._parts[place].validates]
        return self._probabilities(self._models[place], subsets, rows)

    def _probabilities(self, model: ForeignModel, subsets: Mask, rows: Floats) -> Floats:
        """Return the class probabilities for each subset, ``(n_subsets, n_rows, n_classes)``."""
        known = np.repeat(self.rows.encoding.columns(subsets), len(rows), axis=0)
        found = model.probabilities(with_gaps(np.tile(rows, (len(subsets), 1)), known))
        return found.reshape(len(subsets), len(rows), -1)


def takes_gaps(estimator: Any) -> bool:
    """Return whether a classifier declares that it takes missing values.

    A classifier that calibrates another classifier takes missing values if the calibrated classifier does.
    """
    from sklearn.utils import get_tags

    inner = getattr(estimator, "estimator", None)
    return bool(get_tags(estimator).input_tags.allow_nan) or (inner is not None and takes_gaps(inner))


def with_gaps(rows: Floats, known: Mask) -> Floats:
    """Return encoded rows, ``(n_rows, n_columns)``, with NaN where a column is not known."""
    return np.where(known, rows, np.nan)


STAGE_KINDS = ("logistic", "forest", "boosting")
"""Names of the classifiers of stages.

In order: logistic regression, which stages fit themselves and which has no size; a random forest; histogram
gradient boosting.
"""


def stage_classifier(kind: str, size: int | None = None) -> Any:
    """Return an unfitted classifier of a name in :data:`STAGE_KINDS`; None for ``"logistic"``.

    `size`: number of trees or rounds. Raises BadInputError if the kind is unknown, or a size is given for
    ``"logistic"``, or the size is no whole number of at least 1.

    >>> stage_classifier("forest", 10)
    RandomForestClassifier(n_estimators=10)
    """
    as_choice(kind, "subclassifier", STAGE_KINDS)
    if kind == "logistic":
        if size is not None:
            raise BadInputError(
                "ensemble_size", "belongs to an ensemble", f"{size} for {kind}", "Leave it out."
            )
        return None
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    n = STAGE_ENSEMBLE_SIZE if size is None else as_count(size, "ensemble_size")
    return RandomForestClassifier(n) if kind == "forest" else HistGradientBoostingClassifier(max_iter=n)
