"""Any scikit-learn classifier with probabilities as the classifier of every feature subset."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from shortlist.arrays import Mask
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage.problem.reject_rules import RejectRule
from shortlist.multistage.subclassifiers.stage_calls import asked_by_price, member_costs, most_asked
from shortlist.multistage.subclassifiers.subclassifiers import (
    STOPPED,
    StageRows,
    SubsetPlaces,
    bits_of_answers,
    judging_answers,
    judging_thresholds,
)
from shortlist.pickles import saved_from
from shortlist.runs import Budget, Progress, Unit, Work, run_units
from shortlist.runs.clock import seconds_now
from shortlist.runs.workers import Where

WORKERS_AFTER_S = 5.0
"""Seconds of fits in this process before other processes are started, which takes about as long."""


class ForeignSubclassifiers:
    """A classifier with ``predict_proba``, cloned and fitted per subset on its encoded columns.

    Every fitted clone is kept: that which predicts is fitted on all rows that fit, and out of fold there is
    another one for each fold, which judges. Seeds that the classifier leaves open are that of the budget.

    Processes of this machine are started only after `workers_after_s` seconds of fits in this one; a cluster
    that is named gets all of them. Who fits decides nothing of what is fitted.
    """

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
        self.fits_are_quick = False
        self._models: dict[int, tuple[ForeignModel, ...]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy in another process has: it fits for itself, and tells nobody."""
        return {**vars(self), "n_jobs": 1, "budget": Budget()}

    def slots(self, subsets: Mask) -> NDArray[np.int64]:
        """Return the slot of each subset, ``(n_subsets,)``, fitting what is missing."""
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
                with threadpool_limits(limits=1):
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
        """Yield key and models in order: fits in this process, and those of others once these pay."""
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
        """Whether so many fits are better left to workers."""
        return self.n_jobs != 1 and n_left > 1 and self.seconds_here >= self.workers_after_s

    def _run(self, units: Sequence[Unit], where: Where, *, after: int = 0) -> Iterator[tuple[str, Any]]:
        """Run the units after some that are fitted, and tell how many of all are."""

        def tell(progress: Progress) -> None:
            self.budget.report(replace(progress, done=progress.done + after, total=len(units)))

        work = Work(where, report=tell, cancellation=self.budget.cancellation)
        return run_units(units[after:], work, stage="fitting subclassifiers")

    def write_bits(self, slots: NDArray[np.int64], rule: RejectRule, bits: NDArray[np.uint64]) -> None:
        """Write into ``bits[slot]`` who is confident and who is confident and right."""
        for slot in slots.tolist():
            judges = self._judges(slot)
            least = judging_thresholds(self.rows, judges, rule)
            bits[slot] = bits_of_answers(judging_answers(self.rows, judges), self.rows, rule, least)

    def asked(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many classifiers of each price a call asks, ``(n_slots, n_prices)``."""
        n_prices = 1 if self.member_costs is None else len(self.member_costs)
        found = [asked_by_price(self._models[slot][0].estimator, n_prices) for slot in slots.tolist()]
        return np.array(found, dtype=np.int64).reshape(len(slots), n_prices)

    def model(self, subset: Mask) -> "ForeignModel":
        """Return what predicts for one subset."""
        return self._models[int(self.slots(subset[None, :])[0])][0]

    def judging_probabilities(self, subset: Mask) -> NDArray[np.float64]:
        """Return the class probabilities of the rows that judge, ``(n_validation_rows, n_classes)``."""
        return judging_answers(self.rows, self._judges(int(self.slots(subset[None, :])[0])))

    def judging_least(self, subset: Mask, rule: RejectRule) -> NDArray[np.float64]:
        """Return the threshold that the rule raised for each row that judges, ``(n_validation_rows,)``."""
        return judging_thresholds(self.rows, self._judges(int(self.slots(subset[None, :])[0])), rule)

    def _judges(self, slot: int) -> Sequence["ForeignModel"]:
        """Return the models that judge for one slot, one for each part of the rows."""
        models = self._models[slot]
        return models if self.rows.fold_of is None else models[1:]


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class ForeignModel:
    """A fitted scikit-learn classifier and the columns it uses; it may know fewer classes than the table."""

    estimator: Any
    columns: NDArray[np.int64]
    n_classes: int

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities of encoded rows, ``(n_rows, n_classes)``."""
        known = self.estimator.predict_proba(rows[:, self.columns])
        probabilities = np.zeros((len(rows), self.n_classes))
        probabilities[:, self.estimator.classes_] = known
        return probabilities


def seeded(estimator: Any, seed: int) -> Any:
    """Return a clone whose seeds are this one wherever they are None, so that another run fits the same."""
    from sklearn.base import clone

    found = clone(estimator)
    open_seeds = {
        name: seed
        for name, value in found.get_params().items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    return found.set_params(**open_seeds)


def fit_clones(estimator: Any, rows: StageRows, columns: NDArray[np.int64]) -> tuple[ForeignModel, ...]:
    """Fit clones of a classifier on some columns: of all rows, and out of fold without each fold."""
    from sklearn.base import clone

    fitted = [(rows.fit_rows, rows.fit_labels)]
    if rows.fold_of is not None:
        fitted += [(part.rows, part.labels) for part in rows.parts]
    return tuple(
        ForeignModel(clone(estimator).fit(given[:, columns], labels), columns, rows.n_classes)
        for given, labels in fitted
    )
