"""What the estimators of ensembles share: one vote a member, and a pool with the rows that prune it."""

import copy
import functools
from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shortlist._validation import as_choice, as_count, as_workers
from shortlist._words import all_of
from shortlist.arrays import Labels, Mask
from shortlist.ensembles.estimators.probability_sources import (
    CALIBRATED_MEAN,
    CALIBRATED_SHARES,
    MEAN,
    MEANS,
    PROBABILITY_SOURCES,
    SHARES,
    FittedSource,
    fitted_source,
)
from shortlist.ensembles.estimators.row_split import rows_to_fit_and_prune
from shortlist.ensembles.exits.early_exit import EarlyAnswers, answer_early
from shortlist.ensembles.pools.class_probabilities import (
    check_probabilities,
    class_probabilities,
    gives_probabilities,
)
from shortlist.ensembles.pools.encoder import TableEncoder
from shortlist.ensembles.pools.judges import asks_judges, hear, who_may_abstain
from shortlist.ensembles.pools.pool import Pool, as_pool, make_pool, matched_columns
from shortlist.ensembles.pools.refit import CrossFittedPool, cross_fit, out_of_fold, whole_pool
from shortlist.ensembles.pruning.evidence import AUTO
from shortlist.ensembles.votes.calibration import Calibration, times_factors
from shortlist.ensembles.votes.soft_votes import decided_by_mean, whole_shares
from shortlist.ensembles.votes.vote_probabilities import smoothed_shares
from shortlist.errors import BadInputError
from shortlist.guarantees.cells import ANSWERED, UNASKED, empty_rows
from shortlist.guarantees.reject_labels import labels_of, places_of, reject_label_for
from shortlist.runs import Cancellation, Report
from shortlist.tables.fit_inputs import checked_rows, take_rows
from shortlist.tables.splits import IN_NO_FOLD
from shortlist.tables.table_classifier import TableClassifier

HARD, AVERAGED, SOFT = "hard", "averaged", "soft"
"""How a committee is chosen and answers: by votes; chosen by votes, answers by the mean of its members'
probabilities; both by the mean.
"""


class EnsembleClassifier(TableClassifier):
    """A classifier whose members vote, and which tells at most as many classes apart as a byte can number."""

    MOST_CLASSES = 256

    @property
    @abstractmethod
    def asked_(self) -> NDArray[np.intp]:
        """Whom an answer asks, by place in the pool; who is a member several times is asked once."""

    @property
    @abstractmethod
    def most_asked(self) -> int:
        """How many members an answer asks at most, whatever the rows that it is fitted on."""

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return how far the members vote for each class, ``(n_samples, n_classes)``."""

    def unknown_words(self, X: Any) -> Mask:
        """Mark the cells of checked rows with a word that was not fitted on, ``(n_rows, n_features)``."""
        pool = getattr(self, "pool_", None)
        encoder = getattr(self, "encoder_", None) if pool is None else pool.preprocessor
        if not isinstance(encoder, TableEncoder):
            return np.zeros((len(X), 1), dtype=bool)
        return encoder.unknown_words(X if pool is None else matched_columns(pool, X))

    @property
    def reject_label_(self) -> Any:
        """What :meth:`predict` gives a row on which nobody has answered: -1, or ``"REJECT"`` for words."""
        check_is_fitted(self, "classes_")
        return reject_label_for(None, self.classes_)

    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``, the first of the most probable ones.

        A row without a single value has none, nor has one with a word that was not fitted on: they get
        ``reject_label_``.
        """
        codes = self.predict_proba(X).argmax(axis=1)
        cannot = empty_rows(X) | self.unknown_words(checked_rows(self, X)).any(axis=1)
        return labels_of(np.where(cannot, -1, codes), self.classes_, self.reject_label_)


class Heard(NamedTuple):
    """What rows say before a committee is asked about them.

    Attributes
    ----------
    committee : PoolPruner
        The same, whose judges may leave out what they were not asked.
    rows : DataFrame or array
        The rows; cells that are no answer are empty.
    states : ndarray of int8, shape (n_rows, n_members), or None
        Whether each judge has answered, as :mod:`shortlist.guarantees.cells` has it; None for classifiers.
    cannot : ndarray of bool, shape (n_rows,)
        Rows of features without a single value, or with a word that was not fitted on.
    """

    committee: "PoolPruner"
    rows: Any
    states: NDArray[np.int8] | None
    cannot: Mask


class PruningRows(NamedTuple):
    """A pool, and the rows that choose its members.

    Attributes
    ----------
    pool : Pool
        The pool that was given, or one fitted on the other rows.
    X, y : array-like
        The rows that prune, and their classes.
    places : ndarray of int, or None
        Where those are among all rows; None: they are all rows.
    crossed : CrossFittedPool or None
        Where the rows that prune fitted the pool too, its classifiers without each fold of these rows.
    """

    pool: Pool
    X: Any
    y: Labels
    places: NDArray[np.intp] | None
    crossed: CrossFittedPool | None = None

    def answers(self, ask: Callable[[Pool, Any], NDArray[Any]]) -> NDArray[Any]:
        """Return what the classifiers answer on the rows that prune, out of fold where they are in folds."""
        return out_of_fold(self.pool if self.crossed is None else self.crossed, self.X, ask)


class PoolPruner(EnsembleClassifier):
    """What chooses members of a pool, which it fits itself on a part of the rows where none is given."""

    VOTING: ClassVar[tuple[str, ...]] = (HARD, AVERAGED)
    """How committees of this kind may answer."""

    CHECKS = TableClassifier.CHECKS | {"n_classifiers": as_count, "n_jobs": as_workers}

    voting: str
    voting_: str = HARD
    pool_: Pool
    gains_: NDArray[np.int64]
    probabilities: str = AUTO
    probabilities_: str = ""
    calibration_: Calibration | None = None
    probability_losses_: Mapping[str, float] = MappingProxyType({})

    def __init__(
        self,
        pool: Any = None,
        *,
        voting: str = HARD,
        probabilities: str = AUTO,
        n_classifiers: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.pool = pool
        self.voting = voting
        self.probabilities = probabilities
        self.n_classifiers = n_classifiers
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_options(self, y: Labels) -> None:
        """Refuse classes and options that cannot be used, before any long work."""
        super().check_options(y)
        as_choice(self.voting, "voting", self.VOTING)
        as_choice(self.probabilities, "probabilities", PROBABILITY_SOURCES)
        if (self.voting == AVERAGED or self.probabilities in MEANS) and self.pool is not None:
            check_probabilities(whole_pool(self.pool), self._instead_of_means())

    def _instead_of_means(self) -> str:
        """Return what to do where somebody gives no probabilities."""
        asked = {
            "`voting='hard'`": self.voting == AVERAGED,
            f"`probabilities={CALIBRATED_SHARES!r}`": self.probabilities in MEANS,
        }
        return f"pass {all_of(option for option, matters in asked.items() if matters)}"

    def prunes_out_of_fold(self, _n_rows: int) -> bool:
        """Whether the rows that fit a pool prune it too, by answers out of fold."""
        return False

    @property
    def asked_(self) -> NDArray[np.intp]:
        """Whom an answer asks, by place in the pool; who is a member several times is asked once."""
        check_is_fitted(self, "selection_")
        return np.flatnonzero(self.selection_)

    @property
    def most_asked(self) -> int:
        """How many members an answer asks at most: the whole pool."""
        if self.pool is None:
            return as_count(self.n_classifiers, "n_classifiers")
        return len(as_pool(whole_pool(self.pool)))

    @property
    def averages(self) -> bool:
        """Whether the fitted committee answers with the mean of its members' probabilities."""
        return self.voting_ != HARD

    @property
    def gives_means(self) -> bool:
        """Whether probabilities come from means of the members' own, and not from shares of their votes."""
        return self.probabilities_ in MEANS

    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``.

        By votes the class with the largest score, the first of equals. By the mean of probabilities the
        class of the largest mean, in parts of 2^15 - 1 and times what being right on it gains, the first of
        equals.

        A row gets ``reject_label_`` where no member has answered, or too few for a threshold; where a judge
        who matters was not asked yet, or said a word that is no class; and where it has not a single value.
        :func:`~shortlist.ensembles.estimators.unanswered.unanswered_rows` tells these apart.
        """
        return labels_of(self._decided(X), self.classes_, self.reject_label_)

    def _decided(self, X: Any) -> NDArray[np.int64]:
        """Return the place of the class of every row, -1 where there is none."""
        committee, rows, states, cannot = self.heard(X)
        if committee.averages:
            shares = whole_shares(committee._asked(rows))  # noqa: SLF001  # a copy of this one
            codes, open_ = decided_by_mean(shares, committee.decision_gains), cannot
        else:
            scores = committee._vote_scores(rows)  # noqa: SLF001  # likewise
            codes = scores.argmax(axis=1)
            by_threshold = getattr(committee, "threshold_", None) is not None
            open_ = cannot | (by_threshold & (scores[:, 0] == 0.5))  # which no number of votes is
        found = np.where(open_, -1, codes.astype(np.int64))
        if states is None:
            return found
        found[~(states == ANSWERED).any(axis=1)] = -1
        waiting = np.flatnonzero((states >= UNASKED).any(axis=1))
        if len(waiting):  # whoever is missing does not matter to a row that is settled
            early = answer_early(self, take_rows(X, waiting))
            found[waiting] = places_of(early.labels, self.classes_)
        return found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return how probable every class is, ``(n_samples, n_classes)``; the columns follow ``classes_``.

        The mean of the members' probabilities, or :func:`smoothed_shares` of their votes, calibrated on the
        rows that pruned as ``probabilities_`` says. Only members are called. Where `probabilities` takes the
        other than what decides, the most probable class need not be the one that :meth:`predict` answers.
        """
        scores = self.scores_by(X, MEAN if self.gives_means else SHARES)
        return scores if self.calibration_ is None else self.calibration_.of(scores)

    def calibrate(
        self, X: Any, truth: NDArray[np.integer], *, source: str = "", seed: int = 0
    ) -> FittedSource:
        """Return where probabilities come from, and what calibrates them, fitted on the rows that pruned.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_recorded, n_features)
            The rows of ``validation_``, in that order. The members answer as they were chosen.
        truth : ndarray of int, shape (n_recorded,)
            Places of their classes among ``classes_``.
        source : str, optional
            What `probabilities` may be; by default what it is.
        seed : int
            Of the folds where cross-validation chooses.

        Returns
        -------
        FittedSource
            Which of the four it is, the calibration or None, and the losses in folds, if these chose.

        Raises
        ------
        BadInputError
            If means are asked for and a member gives no probabilities.
        """
        wanted = source or self.probabilities
        if wanted == AUTO:
            wanted = self._usual_probabilities
        return fitted_source(
            wanted,
            functools.partial(self._scores_as_chosen, X),
            truth,
            averages=gives_probabilities(self.pool_),
            seed=seed,
        )

    @property
    def _usual_probabilities(self) -> str:
        """Where probabilities come from unless the user says so."""
        if not self.averages:
            return CALIBRATED_SHARES
        return MEAN if self.decisions_are_proved else CALIBRATED_MEAN

    @property
    def decisions_are_proved(self) -> bool:
        """Whether values are of decisions by the mean as it is, so that nothing may shift these."""
        return False

    @property
    def _members_as_chosen(self) -> Pool | CrossFittedPool:
        """Return the members that answered the rows that pruned."""
        return self.pool_

    def _scores_as_chosen(self, X: Any, source: str) -> NDArray[np.float64]:
        """Return scores of the classes on rows that pruned, by the members as they were chosen."""

        def ask(members: Pool, rows: Any) -> NDArray[np.float64]:
            twin = copy.copy(self)
            twin.pool_ = members
            return twin.scores_by(rows, source)

        return np.asarray(out_of_fold(self._members_as_chosen, X, ask))

    @property
    def decision_gains(self) -> NDArray[np.int64]:
        """What means are multiplied by before the largest decides, ``(n_classes,)``.

        What being right on each class gains, times the factors of a calibrated mean, where these may decide.
        """
        is_free = self.averages and not self.decisions_are_proved
        if not is_free or self.probabilities_ != CALIBRATED_MEAN or self.calibration_ is None:
            return self.gains_
        return times_factors(self.gains_, self.calibration_.factors)

    def _take_calibration(self, rows: PruningRows, seed: int) -> None:
        """Fit what turns scores into probabilities, on the rows that pruned; nobody's are not calibrated."""
        found = FittedSource(SHARES, None, {})
        if len(self.pool_):
            found = self.calibrate(rows.X, np.searchsorted(self.classes_, rows.y), seed=seed)
        self.probabilities_, self.calibration_, self.probability_losses_ = found

    def scores_by(self, X: Any, source: str) -> NDArray[np.float64]:
        """Return what probabilities are made of, ``(n_samples, n_classes)``: ``"mean"`` or ``"shares"``."""
        committee, rows, states, _ = self.heard(X)
        if source == MEAN:
            return np.asarray(committee._asked(rows).mean(axis=1))  # noqa: SLF001  # a copy of this one
        n_votes: int | NDArray[np.int64] = len(self.pool_)
        if states is not None and getattr(self, "threshold_", None) is None:
            n_votes = np.count_nonzero(states == ANSWERED, axis=1)
        return smoothed_shares(committee._vote_scores(rows), n_votes)  # noqa: SLF001  # likewise

    def predict_early(self, X: Any, *, least: float | None = None) -> EarlyAnswers:
        """Return the classes that :meth:`predict` gives, asking one member after the other.

        A row asks no further as soon as no answer that is missing could change its class. The order is the
        one that costs least on the rows that pruned, by the prices of the members or their number: the best
        of all orders up to 12 members, a good one beyond.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        least : float, optional
            Answer those rows alone to whose class :meth:`predict_proba` gives at least this. A row then asks
            no further when neither its class nor whether it is answered could change, or when it cannot be
            answered any more. The order is the same.

        Returns
        -------
        EarlyAnswers
            The classes, how many members each row asked, what that cost, and the order.

        Notes
        -----
        Finding the order takes O(2^n_members · n_rows · n_classes) time for few members, on at most 2,000 of
        the rows.
        """
        check_is_fitted(self, "selection_")
        return answer_early(self, X, least=least)

    @abstractmethod
    def _vote_scores(self, X: Any) -> NDArray[np.float64]:
        """Return what the members' votes say for each class, ``(n_samples, n_classes)``."""

    def _asked(self, X: Any) -> NDArray[np.float64]:
        """Return how probable each member finds each class, ``(n_samples, n_members, n_classes)``."""
        return class_probabilities(self.pool_, X)

    def heard(self, X: Any) -> Heard:
        """Return rows as the members can be asked about them, and which of them cannot be answered.

        Of judges the columns of the members are enough; one whose column is absent was not asked yet.
        """
        check_is_fitted(self, "selection_")
        if not asks_judges(self):
            rows = checked_rows(self, X)
            return Heard(self, rows, None, empty_rows(rows) | self.unknown_words(rows).any(axis=1))
        rows, states = hear(self.pool_.classifiers, X)
        committee = copy.copy(self)
        committee.pool_ = who_may_abstain(self.pool_)
        return Heard(committee, rows, states, np.zeros(len(rows), dtype=bool))

    def _pool_and_rows(
        self, X: Any, y: Labels, seed: int, report: Report, cancellation: Cancellation | None
    ) -> PruningRows:
        """Return the pool and the rows that prune it.

        All rows prune a given pool, and, out of fold, one that they fit. Otherwise 30 % prune the pool that
        the others fit.
        """
        if self.pool is not None:
            return pruning_rows_of(self.pool, X, y)
        if self.prunes_out_of_fold(len(y)):
            pool = make_pool(
                X, y, n_classifiers=self.n_classifiers, random_state=seed,
                n_jobs=self.n_jobs or 1, report=report, cancellation=cancellation,
            )  # fmt: skip
            crossed = cross_fit(
                pool, X, y, random_state=seed, n_jobs=self.n_jobs or 1, report=report,
                cancellation=cancellation,
            )  # fmt: skip
            return pruning_rows_of(crossed, X, y)
        fitted, pruning = rows_to_fit_and_prune(y, seed)
        pool = make_pool(
            take_rows(X, fitted), y[fitted], n_classifiers=self.n_classifiers, random_state=seed,
            n_jobs=self.n_jobs or 1, report=report, cancellation=cancellation,
        )  # fmt: skip
        return PruningRows(pool, take_rows(X, pruning), y[pruning], pruning)


def pruning_rows_of(pool: Any, X: Any, y: Labels) -> PruningRows:
    """Return the rows that prune a pool: all, but those in no fold of one that is cross-fitted.

    Raises
    ------
    BadInputError
        If it was cross-fitted on another number of rows.
    """
    if not isinstance(pool, CrossFittedPool):
        return PruningRows(as_pool(pool), X, y, None)
    if len(pool.fold_of) != len(y):
        raise BadInputError(
            f"a cross-fitted pool is pruned on the {len(pool.fold_of):,} rows that it was fitted on, got "
            f"{len(y):,} rows. Pass those, or a pool fitted on others."
        )
    places = np.flatnonzero(pool.fold_of != IN_NO_FOLD)
    if len(places) == len(y):
        return PruningRows(pool.pool, X, y, None, pool)
    return PruningRows(pool.pool, take_rows(X, places), y[places], places, pool.of_rows(places))


def check_pool_classes(pool: Pool, classes: Labels, *, may_lack: bool) -> None:
    """Refuse a pool of other classes than those of the rows, which may lack some where `may_lack` says so."""
    known, asked = pool.classes.tolist(), classes.tolist()
    if not (set(asked) <= set(known) if may_lack else asked == known):
        raise BadInputError(
            f"the pool tells {all_of(pool.classes)} apart, but the target holds {all_of(classes)}. "
            "Use a pool fitted on these classes."
        )


def mean_rule(gains: NDArray[np.int64], classes: Labels) -> str:
    """Say how a committee that averages decides, for people.

    Examples
    --------
    >>> mean_rule(np.array([1, 1]), np.array(["no", "yes"]))
    'the class with the largest mean probability wins'
    >>> mean_rule(np.array([1, 3]), np.array(["no", "yes"]))
    'yes wins where its mean probability is above 0.25'
    """
    if len(set(gains.tolist())) == 1:
        return "the class with the largest mean probability wins"
    if len(classes) > 2:
        return "the class with the largest mean probability, times its factor, wins"
    return f"{classes[1]} wins where its mean probability is above {gains[0] / gains.sum():.3g}"
