"""Classifier that leaves rows unanswered so that, with confidence, enough of its answers are right."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from shortlist._options import plain_signature
from shortlist.arrays import Labels, Mask
from shortlist.errors import BadInputError
from shortlist.guarantees.cells import labels_of, places_of, reject_label_for
from shortlist.guarantees.guarantee import Demand, Guarantee, as_demand
from shortlist.guarantees.promise import (
    Trial,
    count_answers,
    most_that_holds,
    possible_thresholds,
    promise,
    promise_each,
)
from shortlist.guarantees.settings import PromiseSettings
from shortlist.pickles import saved_from
from shortlist.tables.fit_inputs import TableClassifier, checked_fit, checked_rows, integer_seed, take_rows
from shortlist.tables.splits import THRESHOLD_SHARE, keep_rows_apart

NO_ANSWER = -1.0
"""Score of a row without an answer, in place of the probability of its class."""


def _asks_one_after_the_other(selective: "SelectiveClassifier") -> bool:
    """Return whether ``predict_early`` exists."""
    return hasattr(getattr(selective, "classifier_", selective.classifier), "predict_early")


@saved_from("shortlist")
@plain_signature
@dataclass(kw_only=True, eq=False, repr=False)
class SelectiveClassifier(TableClassifier, PromiseSettings):
    """Classifier that answers a row only with enough confidence for a promise about its answers.

    Selective classification (:cite:t:`ElYaniv2010`) with the threshold found by
    :func:`shortlist.guarantees.promise.promise`: with probability at least `confidence_level` over the draw
    of the calibration rows, at least `answer_accuracy` of the answers to new rows are right. The confidence
    of an answer is its probability by ``predict_proba``, which need not be calibrated.

    The promise needs calibration rows that neither fitted nor chose anything, and new rows drawn like the
    calibration rows. The promise is about all answers together, not about each class or group.

    Parameters
    ----------
    classifier : estimator
        With ``predict`` and ``predict_proba``, such as a pruner. :meth:`fit` fits a clone.
    answer_accuracy : float, default=0.9
        Smallest share of right answers among the answered rows, in (0, 1).
    confidence_level : float, default=0.95
        Least probability that the promise holds, in (0, 1).
    calibration_share : float, default=0.25
        Share of the rows given to :meth:`fit` that calibrates, drawn without regard to classes.
    reject_label : label or None, default=None
        Answer for rows that are not answered; None: -1 for numeric classes (one less than the smallest class
        if -1 is a class), ``"REJECT"`` otherwise.
    random_state : int, RandomState or None, default=None
        Seed of the split.

    Attributes
    ----------
    classifier_ : estimator
        The fitted classifier, which answers every row. A row that is not answered has no class, so there is
        no ``predict_proba`` here; the classifier has one.
    guarantee_ : Guarantee
        The promise. If no promise holds, no row is answered.
    promised_instead_ : Guarantee or None
        The largest whole per cent of right answers, from 50 on, that could have been promised if the
        requested share cannot.
    classes_ : ndarray of shape (n_classes,)
        Classes of the classifier.
    reject_label_ : label
        Answer for rows that are not answered.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selective = SelectiveClassifier(GaussianNB(), answer_accuracy=0.9, random_state=0).fit(X, y)
    >>> selective.guarantee_.promised, bool(selective.answers(X).mean() > 0.9)
    (True, True)
    """

    classifier: Any = field(kw_only=False)
    answer_accuracy: float = 0.9

    def check_options(self, y: Labels) -> None:
        """Raise an error for unusable classes and options, before any long work."""
        super().check_options(y)
        self._demand()
        if not isinstance(self.calibration_share, int | float) or not 0 < self.calibration_share < 1:
            raise BadInputError("calibration_share", "must be in (0, 1)", repr(self.calibration_share))

    def fit(self, X: Any, y: Any, **unsupported: Any) -> Self:
        """Fit a clone of the classifier on a part of the rows, and calibrate the threshold on all other rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows, as the classifier takes them.
        y : array-like of shape (n_samples,)
            Classes of the rows, two or more.
        **unsupported
            Refused, since weights of rows (``sample_weight``) are not supported.

        Raises
        ------
        BadInputError
            If the input or a parameter cannot be used; the message says how to fix it.
        """
        X, y, seed = self._begin_fit(X, y, unsupported)
        rest, calibration = keep_rows_apart(len(y), self.calibration_share, seed)
        if not len(calibration) or len(np.unique(y[rest])) < 2:
            raise BadInputError(
                f"there must be rows to calibrate, and rows of two classes to fit, got {len(y)} rows. "
                "Add rows."
            )
        X_rest = take_rows(X, rest)
        fitted = clone(self.classifier).fit(X_rest, y[rest])
        record = getattr(fitted, "validation_", None)
        chose = None if record is None else (take_rows(X_rest, record.rows), y[rest][record.rows])
        return self._calibrate(fitted, (take_rows(X, calibration), y[calibration]), chose)

    def calibrate(self, X: Any, y: Any, *, chose: tuple[Any, Any] | None = None) -> Self:
        """Calibrate the threshold of a classifier that is fitted already.

        Parameters
        ----------
        X, y : array-like
            Calibration rows and their classes. No such row may have fitted the classifier or chosen anything.
        chose : tuple of X and y, optional
            Selection rows, such as pruning rows, which also choose the thresholds to test. Without selection
            rows, a quarter of the calibration rows chooses the thresholds, and takes no part in the tests.

        Raises
        ------
        BadInputError
            If there are no rows, or a parameter cannot be used.
        """
        self._demand()
        X, y = checked_fit(self, X, y)
        return self._calibrate(self.classifier, (X, y), chose)

    def answers(self, X: Any) -> Mask:
        """Return the mask of the answered rows, ``(n_samples,)``."""
        return self._decided(X)[1]

    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``, or ``reject_label_`` without an answer."""
        codes, answered = self._decided(X)
        return labels_of(np.where(answered, codes, -1), self.classes_, self.reject_label_)

    @property
    def committee_(self) -> Any:
        """Committee of a pruner with the promise and the reject label, in place of pruner and promise."""
        return replace(
            self.classifier_.chosen_.committee, promise=self.guarantee_, reject_label=self.reject_label_
        )

    @property
    def chosen_(self) -> Any:
        """Choice of a pruner, with its promise."""
        chosen = self.classifier_.chosen_
        return replace(
            chosen, committee=self.committee_, promised_instead=self.promised_instead_,
            terms=replace(chosen.terms, reject_label=self.reject_label),
        )  # fmt: skip

    @available_if(_asks_one_after_the_other)
    def predict_early(self, X: Any) -> Any:
        """Return the answers of :meth:`predict`, asking one member of a committee after the other.

        Exists if the classifier has ``predict_early``, as pruned committees have. The members of a row stop
        when further answers could change neither its class nor whether it is answered. So the answers are the
        same as by all members together, and the promise holds unchanged.

        Returns
        -------
        EarlyAnswers
            Answers like the classifier's, but with ``reject_label_`` for rows without an answer.
        """
        check_is_fitted(self, "guarantee_")
        check_is_fitted(self, "guarantee_")
        return self.committee_.predict_early(X)

    def _demand(self) -> Demand:
        return as_demand(self.answer_accuracy, self.confidence_level)

    def _calibrate(self, fitted: Any, calibration: tuple[Any, Any], chose: tuple[Any, Any] | None) -> Self:
        self.classifier_ = fitted
        self.classes_ = fitted.classes_
        self.reject_label_ = reject_label_for(self.reject_label, self.classes_)
        self.guarantee_: Guarantee
        self.guarantee_, self.promised_instead_ = promised_by(
            fitted, calibration, chose, self._demand(), seed=self.random_state
        )
        return self

    def _decided(self, X: Any) -> tuple[NDArray[np.int64], Mask]:
        """Return the class index of every row, and the mask of the answered rows."""
        check_is_fitted(self, "guarantee_")
        if hasattr(self.classifier_, "chosen_"):
            has_columns = hasattr(self.classifier_, "n_features_in_") and not self.committee_.judged_columns
            codes = self.committee_.decided(checked_rows(self.classifier_, X) if has_columns else X)
            return codes, codes >= 0
        codes, scores = _scored(self.classifier_, X)  # which checks the rows
        return codes, np.asarray((scores >= self.guarantee_.threshold) & (codes >= 0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # a row that is not answered counts as wrong in `score`
        return tags


def promised_by(
    fitted: Any,
    calibration: tuple[Any, Any],
    chose: tuple[Any, Any] | None,
    demand: Demand,
    *,
    seed: Any = None,
) -> tuple[Guarantee, Guarantee | None]:
    """Return the promise of a classifier; if it fails, also the largest share that could be promised.

    `calibration`: rows and classes on which the threshold is tested. `chose`: rows and classes that choose
    the thresholds to test; None: a part of the calibration rows, drawn with `seed`, outside the tests.
    """
    X, y = calibration
    codes, scores = _scored(fitted, X)
    right = fitted.classes_[codes] == np.asarray(y)
    if chose is None:
        tested, planning = keep_rows_apart(len(right), THRESHOLD_SHARE, integer_seed(seed))
        chose_scores, chose_right = scores[planning], right[planning]
        scores, right = scores[tested], right[tested]
    else:
        codes, chose_scores = _scored_as_chosen(fitted, chose[0])
        chose_right = fitted.classes_[codes] == np.asarray(chose[1])
    thresholds = possible_thresholds(chose_scores[chose_scores >= 0])
    trial = Trial(
        thresholds,
        count_answers([chose_scores], [chose_right], thresholds),
        count_answers([scores], [right], thresholds),
    )
    found = promise(*trial, demand)
    if found.promised:
        return found, None
    return found, most_that_holds(lambda one: promise_each([trial], one)[0], demand)


def _scored_as_chosen(fitted: Any, X: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return class indices and probabilities by the members before they were fitted again."""
    if not hasattr(fitted, "chosen_"):
        return _scored(fitted, X)
    return _of_answers(fitted.classes_, *fitted.chosen_.predict_as_chosen(X))


def _scored(classifier: Any, X: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the class index of each row's answer, and its probability."""
    return _of_answers(classifier.classes_, classifier.predict(X), classifier.predict_proba(X))


def _of_answers(
    classes: Labels, predicted: Labels, probabilities: Any
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the class index of each row's answer, and its probability, both ``(n_rows,)``.

    A row without an answer has -1, and a probability below any threshold.
    """
    codes = places_of(predicted, classes)
    given = np.asarray(probabilities)[np.arange(len(codes)), codes]
    return codes, np.where(codes < 0, NO_ANSWER, np.asarray(given, dtype=np.float64))
