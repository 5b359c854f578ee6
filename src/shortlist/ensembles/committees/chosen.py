"""Result of a pruner: the committee, its members before a second fit, and the record of the choice."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Labels, Mask
from shortlist.ensembles.committees.asking import EarlyAnswers
from shortlist.ensembles.committees.committee import Committee, MemberAnswers
from shortlist.ensembles.committees.evidence import Evidence, PrunedSelection
from shortlist.ensembles.committees.options import LimitSettings
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool, out_of_fold
from shortlist.pickles import saved_from
from shortlist.tables.fingerprints import Fingerprint, RowsOfTable, table_fingerprint

if TYPE_CHECKING:
    from shortlist.guarantees.guarantee import Guarantee
    from shortlist.results.front import Front
    from shortlist.results.picking import Pick


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class RecordedRows:
    """Rows on which an ensemble was pruned or evolved, with the votes of the whole pool."""

    rows: NDArray[np.intp]
    """Indices of the rows among those given to ``fit``, or in the table that a command read,
    ``(n_recorded,)``.
    """
    labels: NDArray[np.uint8]
    """Class of each row, ``(n_recorded,)``: its index among the sorted classes. If one of two classes is
    positive: 1 for the positive class, 0 for the other class.
    """
    table: Fingerprint
    """Fingerprint of the whole table that `rows` are indices of."""
    packed_votes: NDArray[np.uint8] | None = None
    """Votes for the positive class, packed by ``numpy.packbits``, ``(n_recorded, ceil(n_classifiers / 8))``;
    None where a plurality decides.
    """
    codes: NDArray[np.uint8] | None = None
    """Index of the class that each classifier answers, ``(n_recorded, n_classifiers)``; None unless a
    plurality decides.
    """
    shares: NDArray[np.int16] | None = None
    """Probability of each class by each classifier in parts of 2^15 - 1, ``(n_recorded, n_classifiers,
    n_classes)``; None unless probabilities are averaged.
    """
    silent: NDArray[np.uint8] | None = None
    """Mask of the judges that abstained, packed by ``numpy.packbits``, ``(n_recorded, ceil(n_classifiers /
    8))``; None without abstentions.
    """


def rows_counted_on(record: RecordedRows, *, out_of_fold: bool) -> str:
    """Return the name of the rows that a value is counted on, to follow "on the" in a sentence."""
    return f"out-of-fold answers of {len(record.rows):,} rows" if out_of_fold else "selection rows"


def record_rows(
    X: Any,
    y: Any,
    rows: NDArray[np.intp] | None,
    labels: NDArray[Any],
    *,
    within: RowsOfTable | None = None,
    packed_votes: NDArray[np.uint8] | None = None,
    codes: NDArray[np.uint8] | None = None,
    shares: NDArray[np.int16] | None = None,
    silent: NDArray[np.uint8] | None = None,
) -> RecordedRows:
    """Return the record of some rows of a table `X` and of the classes `y` of all its rows.

    `rows`: indices of the recorded rows in `X`; None: all rows. `within`: larger table that holds the rows of
    `X`, with their indices in it; None: `X` is the whole table.
    """
    table, places = (table_fingerprint(X, y), np.arange(len(y))) if within is None else within
    places = places if rows is None else places[rows]
    truth = np.asarray(labels, dtype=np.uint8)
    return RecordedRows(places, truth, table, packed_votes, codes, shares, silent)


@saved_from("shortlist.ensembles")
@dataclass(kw_only=True)
class Terms(LimitSettings):
    """Goal that a committee was chosen for, and its limits, as ``ExactPruner`` takes them."""

    goal: Any = "accuracy"
    """Objective of the choice. Weights are named by the index of a class, or by ``tp`` and ``tn``, and not by
    label.
    """
    why_sizes: str = ""
    """Reason for the sizes, where they were not requested; otherwise empty."""
    probabilities: str | None = None
    """Requested source of probabilities, as pruners take it; None where a file does not name it."""
    reject_label: Any = None
    """Label requested for a row without an answer, where a promise is made."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class FittedRows:
    """Rows on which the classifiers were fitted, by index, with the seed and the versions of packages."""

    pool: NDArray[np.intp]
    """Indices of the rows on which the pool was fitted, in the given order, ``(n_rows,)``."""
    again: NDArray[np.intp] | None
    """Indices of the rows on which the members were fitted again; None without such a fit."""
    seed: int
    """Seed of the pool, and of the members that were fitted again."""
    versions: Mapping[str, str]
    """Versions of the packages that fitted the classifiers, by name of the package."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False, kw_only=True)
class Chosen:
    """Committee with the record of its choice, as a saved model holds it.

    Attributes
    ----------
    committee : Committee
        The committee that answers new rows; its members may have been fitted again on the selection rows.
    as_chosen : Pool or CrossFittedPool
        The members before they were fitted again. In a cross-fitted pool, each selection row is answered by
        classifiers fitted without its fold.
    names : tuple of str
        All classifiers of the pool.
    copies : ndarray of int64, shape (n_classifiers,)
        Number of times that each classifier is taken.
    record : RecordedRows
        The selection rows.
    terms : Terms
    evidence : Evidence
        Evidence for the value of the committee.
    method : str
        The class of the pruner.
    accuracy : float
        Share of the selection rows that the members of a rule get right, from 0 to 1; NaN for another goal.
    gains : ndarray of int64, shape (n_classes,)
        Gain of a right answer about each class if means decide, before any calibration.
    result : PrunedSelection or None
        Members, value, bound and certificate of exact pruning; None for a rule.
    refitted : bool
        Whether the members were fitted again on the selection rows.
    voting : str
        Way in which the members were chosen and in which they answer: ``"hard"``, ``"averaged"`` or
        ``"soft"``.
    order_right : ndarray of int or None
        The number of rows on which each prefix of a rule's order is right.
    front : Front or None
        All committees of the front from which this one was picked.
    pick : Pick or None
        The point of the front, and the rule that picked it.
    promised_instead : Guarantee or None
        Largest promise that was possible, if the requested one was not.
    calibrated_on : ndarray of int or None
        Indices of the calibration rows, in the same table as the rows of `record`; None without a promise.
    fitted : FittedRows or None
        Rows on which the members were fitted; None for a pool given by the caller, or where a file does not
        name them.
    seed : int or None
        Seed of the folds that chose the source of probabilities, and of members that were cross-fitted and
        fitted again; None where a file does not name it.
    """

    committee: Committee
    as_chosen: Pool | CrossFittedPool
    names: tuple[str, ...]
    copies: NDArray[np.int64]
    record: RecordedRows
    terms: Terms
    evidence: Evidence
    method: str
    gains: NDArray[np.int64]
    accuracy: float = math.nan
    result: PrunedSelection | None = None
    refitted: bool = False
    voting: str = "hard"
    order_right: NDArray[np.integer] | None = None
    front: "Front | None" = None
    pick: "Pick | None" = None
    promised_instead: "Guarantee | None" = None
    calibrated_on: NDArray[np.intp] | None = None
    fitted: FittedRows | None = None
    seed: int | None = None

    @property
    def selection(self) -> Mask:
        """Mask of the members, ``(n_classifiers,)``."""
        return self.copies > 0

    @property
    def positive_place(self) -> int | None:
        """Index of the positive class; None without one."""
        positive = self.terms.positive
        return None if positive is None else self.classes_.tolist().index(positive)

    @property
    def error_costs_(self) -> tuple[float, ...] | None:
        """Cost of a wrong answer about each class, by which the members were chosen.

        None if errors are counted.

        Where the goal weighs right answers alone, the cost is the weight of a right answer.
        """
        goal, positive, n = self.terms.goal, self.positive_place, len(self.classes_)
        if not isinstance(goal, Mapping) or {"fp", "fn"} & {*goal}:
            return None
        names = range(n) if positive is None else ["tp" if place == positive else "tn" for place in range(n)]
        costs = tuple(float(goal.get(name, 0)) for name in names)
        return costs if min(costs) > 0 else None

    @property
    def error_cost_(self) -> float:
        """Mean cost of errors per selection row, where :attr:`error_costs_` are known; lower is better."""
        assert self.error_costs_ is not None, "errors have costs"
        if self.result is None:  # of a rule, which has no value in weights
            return self.evidence.value
        labels, positive = self.record.labels, self.positive_place
        truth = labels if positive is None else np.where(labels == 1, positive, 1 - positive)
        worst = math.fsum(np.array(self.error_costs_)[truth])
        return (worst - self.evidence.value) / len(truth)

    @property
    def classes_(self) -> Labels:
        """The classes, sorted, ``(n_classes,)``."""
        return self.committee.classes

    @property
    def reject_label_(self) -> Any:
        """The label of a row without an answer."""
        return self.committee.reject_label_

    @property
    def chosen_(self) -> "Chosen":
        """Return this object itself, as a fitted pruner returns its choice."""
        return self

    @property
    def out_of_fold(self) -> bool:
        """Whether each selection row was answered by classifiers that were fitted without its fold."""
        return isinstance(self.as_chosen, CrossFittedPool)

    def predict(self, X: Any) -> Labels:
        """Return the class that the committee gives every row, ``(n_samples,)``."""
        return self.committee.predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the committee's probability of every class, ``(n_samples, n_classes)``."""
        return self.committee.predict_proba(X)

    def predict_early(self, X: Any) -> EarlyAnswers:
        """Return the answers of the committee, whose members are asked one after the other."""
        return self.committee.predict_early(X)

    def predict_as_chosen(self, X: Any) -> tuple[Labels, NDArray[np.float64]]:
        """Return classes and probabilities on the selection rows, by the members before a second fit.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_recorded, n_features)
            The rows of `record`, in that order.

        Returns
        -------
        classes : ndarray of shape (n_recorded,)
        probabilities : ndarray of float, shape (n_recorded, n_classes)
        """

        def ask(method: Callable[[Committee, Any], NDArray[Any]]) -> NDArray[Any]:
            return out_of_fold(
                self.as_chosen, X, lambda members, rows: method(self.committee.with_members(members), rows)
            )

        return ask(Committee.predict), ask(Committee.predict_proba)


def member_answers(record: RecordedRows, selection: Mask, positive: int | None) -> MemberAnswers:
    """Return the members' recorded answers on the selection rows.

    `selection`, ``(n_classifiers,)``: mask of the members. `positive`: index of the class that packed votes
    are for.
    """
    codes, shares, silent = record.codes, record.shares, record.silent
    if record.packed_votes is not None:
        votes = np.unpackbits(record.packed_votes, axis=1, count=len(selection))
        codes = votes if positive else 1 - votes
    return MemberAnswers(
        None if codes is None else codes[:, selection],
        None if shares is None else shares[:, selection],
        None
        if silent is None
        else np.unpackbits(silent, axis=1, count=len(selection))[:, selection].astype(bool),
    )
