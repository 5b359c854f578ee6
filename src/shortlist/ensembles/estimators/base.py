"""Base of the estimators of ensembles: members that vote, and a pool with the rows that prune it."""

import copy
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shortlist._validation import AUTO, as_choice, as_count
from shortlist._words import all_of
from shortlist.arrays import Labels, Mask
from shortlist.ensembles.committees.asking import EarlyAnswers
from shortlist.ensembles.committees.ballots import Ballot, Mean, Plurality, Threshold
from shortlist.ensembles.committees.chosen import Chosen, RecordedRows, member_answers
from shortlist.ensembles.committees.committee import (
    CALIBRATED_MEAN,
    CALIBRATED_SHARES,
    MEAN,
    MEANS,
    PROBABILITY_SOURCES,
    Committee,
)
from shortlist.ensembles.committees.options import PoolSettings
from shortlist.ensembles.committees.probabilities import fit_probabilities
from shortlist.ensembles.estimators.rows import (
    PruningRows,
    own_pool,
    pruning_rows_of,
    rows_to_fit_and_prune,
    with_values,
)
from shortlist.ensembles.estimators.shared_fits import (
    restore_sharing,
    share_fits,
    shared_fit,
    sharing_of,
)
from shortlist.ensembles.pools.answers import check_probabilities
from shortlist.ensembles.pools.fitting import refit_members
from shortlist.ensembles.pools.members import as_pool, whole_pool
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool
from shortlist.ensembles.votes.soft_votes import Calibration, times_factors
from shortlist.guarantees.cells import reject_label_for
from shortlist.runs import Cancellation, Report, Work, silent
from shortlist.tables.fit_inputs import TableClassifier, checked_rows, take_rows

HARD, AVERAGED, SOFT = "hard", "averaged", "soft"
"""Ways to choose and to answer. ``hard``: members are chosen by votes, and vote. ``averaged``: they are
chosen by votes, and answer by the mean of their probabilities. ``soft``: they are chosen by this mean, and
answer by it.
"""


class EnsembleClassifier(TableClassifier):
    """Classifier whose members vote, for at most 256 classes."""

    MOST_CLASSES = 256

    @property
    @abstractmethod
    def asked_(self) -> NDArray[np.intp]:
        """Indices in the pool of the members asked for an answer; one with several votes is asked once."""

    @property
    @abstractmethod
    def most_asked(self) -> int:
        """Upper bound on the members asked per row, for any rows given to ``fit``."""

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of the members' votes for each class, ``(n_samples, n_classes)``."""

    @property
    def reject_label_(self) -> Any:
        """Label that :meth:`predict` gives a row without an answer: -1, or ``"REJECT"`` for words."""
        check_is_fitted(self, "classes_")
        return reject_label_for(None, self.classes_)


class PoolPruner(EnsembleClassifier, PoolSettings):
    """Base of estimators that choose members of a pool; without a pool they fit one on their rows."""

    VOTING: ClassVar[tuple[str, ...]] = (HARD, AVERAGED)
    """Values of `voting` that this class of pruners takes."""

    voting: str
    voting_: str = HARD
    member_costs: Sequence[float] | None = None
    committee_: Committee
    positive_: Any = None
    _copies: NDArray[np.int64]
    gains_: NDArray[np.int64]
    validation_: RecordedRows
    probabilities: str = AUTO
    chosen_pool_: Pool
    _names: tuple[str, ...]
    _seed: int
    cross_fitted_: CrossFittedPool | None = None

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy with the same pool, whose classifiers stay fitted.

        Without a pool, clones share the pools that they fit on the same rows.
        """
        bare = copy.copy(self)
        bare.pool = None
        twin = super(PoolPruner, bare).__sklearn_clone__()
        twin.pool = self.pool
        share_fits(twin, self)
        return cast("Self", twin)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to be pickled, with the name that clones share, also in other processes."""
        state, sharing = super().__getstate__(), sharing_of(self)
        return cast("dict[str, Any]", state if sharing is None else state | {"_sharing": sharing})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the pickled state."""
        kept = dict(state)
        sharing = kept.pop("_sharing", None)
        super().__setstate__(kept)
        if sharing is not None:
            restore_sharing(self, tuple(sharing))

    def _begin_fit(self, X: Any, y: Any, unsupported: Mapping[str, Any]) -> tuple[Any, Labels, int]:
        X, y, seed = super()._begin_fit(X, y, unsupported)
        sharing = sharing_of(self) if self.random_state is None else None
        return X, y, seed if sharing is None else sharing[1]

    def check_options(self, y: Labels) -> None:
        """Refuse classes and options that cannot be used, before any long work."""
        super().check_options(y)
        as_choice(self.voting, "voting", self.VOTING)
        as_choice(self.probabilities, "probabilities", PROBABILITY_SOURCES)
        if (self.voting == AVERAGED or self.probabilities in MEANS) and self.pool is not None:
            check_probabilities(whole_pool(self.pool), self._instead_of_means())

    def _instead_of_means(self) -> str:
        asked = {
            "`voting='hard'`": self.voting == AVERAGED,
            f"`probabilities={AUTO!r}`": self.probabilities in MEANS,
        }
        return f"pass {all_of(option for option, matters in asked.items() if matters)}"

    def prunes_out_of_fold(self, _n_rows: int) -> bool:
        """Whether all rows fit the pool and also prune it, by answers out of fold."""
        return False

    @property
    def copies_(self) -> NDArray[np.int64]:
        """Number of times that each classifier is a member, ``(n_classifiers,)``; read-only."""
        return _read_only(self._copies)

    @property
    def selection_(self) -> Mask:
        """Mask of the classifiers that are members, ``(n_classifiers,)``; read-only."""
        return _read_only(self.copies_ > 0)

    @property
    def asked_(self) -> NDArray[np.intp]:
        """Indices in the pool of the members asked for an answer; one with several votes is asked once."""
        check_is_fitted(self, "selection_")
        return np.flatnonzero(self.selection_)

    @property
    def most_asked(self) -> int:
        """Upper bound on the members asked per row: the whole pool."""
        if self.pool is None:
            return as_count(self.n_classifiers, "n_classifiers")
        return len(as_pool(whole_pool(self.pool)))

    @property
    def averages(self) -> bool:
        """Whether the fitted committee answers with the mean of its members' probabilities."""
        return self.voting_ != HARD

    @property
    def pool_(self) -> Pool:
        """Pool of the members alone, which answers."""
        return self._answering().members

    @property
    def threshold_(self) -> int | None:
        """Number of votes above which the positive class wins; None where no threshold decides."""
        return self._answering().ballot.threshold

    @property
    def probabilities_(self) -> str:
        """Source of ``predict_proba``."""
        return self._answering().probabilities

    @property
    def calibration_(self) -> Calibration | None:
        """Calibration that turns scores into probabilities."""
        return self._answering().calibration

    def predict(self, X: Any) -> Labels:
        """Return the class that the committee gives every row, ``(n_samples,)``.

        A row without an answer gets ``reject_label_``;
        :func:`~shortlist.ensembles.committees.facts.unanswered_rows` gives the reasons.
        """
        return self._answering().predict(self._checked(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class, ``(n_samples, n_classes)``; the columns follow ``classes_``.

        See :meth:`shortlist.ensembles.committees.committee.Committee.predict_proba`.
        """
        return self._answering().predict_proba(self._checked(X))

    def predict_early(self, X: Any, *, least: float | None = None) -> EarlyAnswers:
        """Return the classes that :meth:`predict` gives, asking one member after the other.

        See :meth:`shortlist.ensembles.committees.committee.Committee.predict_early`.
        """
        return self._answering().predict_early(self._checked(X), least=least)

    @property
    def chosen_(self) -> Chosen:
        """Committee with the record of its choice, as a saved model holds it."""
        committee = self._answering()
        return Chosen(
            committee=committee,
            as_chosen=self.chosen_pool_ if self.cross_fitted_ is None else self.cross_fitted_,
            names=self._names,
            copies=self.copies_,
            record=self.validation_,
            method=type(self).__name__,
            gains=self.gains_,
            refitted=committee.members is not self.chosen_pool_,
            voting=self.voting_,
            seed=self._seed,
            **self._how_chosen(),
        )

    @abstractmethod
    def _how_chosen(self) -> dict[str, Any]:
        """Return the fields of :class:`Chosen` whose values depend on the class of the pruner."""

    def _answering(self) -> Committee:
        check_is_fitted(self, "committee_")
        return self.committee_

    def _checked(self, X: Any) -> Any:
        """Check rows of features; of a table of judges only the columns of the members are needed."""
        return X if self.committee_.judged_columns else checked_rows(self, X)

    def fit_again(
        self,
        X: Any,
        y: Labels,
        *,
        seed: int = 0,
        report: Report = silent,
        encoded: NDArray[np.float64] | None = None,
    ) -> None:
        """Fit the chosen members again on these rows, and let the newly fitted members answer.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The rows that fitted the pool, together with the pruning rows.
        y : ndarray of shape (n_samples,)
            Classes of the rows.
        seed : int, default=0
            Seed, as in :func:`shortlist.ensembles.pools.fitting.refit_members`.
        report : optional
            Progress events, one per member.
        encoded : ndarray of float, shape (n_samples, n_columns), optional
            The rows as prepared by the pool, if known.
        """
        if len(self.chosen_pool_):
            members = refit_members(
                self.chosen_pool_, X, y, seed=seed, n_jobs=self.n_jobs, report=report, encoded=encoded
            )
            self.committee_ = self.committee_.with_members(members)

    @property
    def decisions_are_proved(self) -> bool:
        """Whether the proof is about decisions by the uncalibrated mean, which no calibration may change."""
        return False

    def _ballot(self, n_members: int, threshold: int | None) -> Ballot:
        """Return the ballot of `n_members` members; `threshold` is used for two classes only."""
        if self.averages:
            return Mean(self.gains_)
        positive = self._positive_place()
        if threshold is None or positive is None:
            return Plurality(len(self.classes_))
        return Threshold(threshold, n_members, positive)

    def _positive_place(self) -> int | None:
        """Return the index of the positive class, which recorded votes are for; None without one."""
        return None if self.positive_ is None else self.classes_.tolist().index(self.positive_)

    def _form_committee(
        self,
        rows: PruningRows,
        taken: Callable[[Pool], Pool],
        weights: NDArray[np.int64],
        seed: int,
        threshold: int | None = None,
    ) -> None:
        self._names, self.chosen_pool_, self._seed = rows.pool.names, taken(rows.pool), seed
        self.cross_fitted_ = None if rows.crossed is None else rows.crossed.of_members(taken)
        prices = self.chosen_pool_.costs
        if self.member_costs is not None:
            prices = np.asarray(self.member_costs, dtype=np.float64)[self.selection_]
        elif prices is not None:
            prices = np.asarray(prices, dtype=np.float64)[np.cumsum(weights) - weights]
        committee = Committee(
            self.chosen_pool_,
            weights,
            self._ballot(int(weights.sum()), threshold),
            prices=prices,
            record=member_answers(self.validation_, self.selection_, self._positive_place()),
        )
        if len(self.chosen_pool_):
            usual = CALIBRATED_SHARES
            if self.averages:
                usual = MEAN if self.decisions_are_proved else CALIBRATED_MEAN
            as_chosen: Any = self.chosen_pool_
            asked = rows.X
            if self.cross_fitted_ is not None:
                as_chosen, asked = self.cross_fitted_.prepared(asked)
            source = usual if self.probabilities == AUTO else self.probabilities
            truth = np.searchsorted(self.classes_, rows.y)
            calibration = fit_probabilities(committee, as_chosen, asked, truth, source=source)
            committee = replace(committee, probabilities=source, calibration=calibration)
            if self.averages and calibration is not None:
                gains = times_factors(self.gains_, calibration.factors)
                committee = replace(committee, ballot=Mean(gains))
        self.committee_ = committee
        self._after_choice(rows)

    def _after_choice(self, rows: PruningRows) -> None:
        """Do further work after the choice; nothing here, subclasses override it."""

    def _pool_and_rows(
        self, X: Any, y: Labels, seed: int, report: Report, cancellation: Cancellation | None
    ) -> PruningRows:
        """Return the pool with the rows that prune it.

        A given pool is pruned on all rows. Without a given pool: out of fold, all rows fit the pool and prune
        it; otherwise 70 % of the rows fit the pool, and 30 % prune it.
        """
        if self.pool is not None:
            return pruning_rows_of(self.pool, X, y)
        work = Work(self.n_jobs or 1, report=report, cancellation=cancellation or Cancellation())
        fitted, pruning = None, None
        if not self.prunes_out_of_fold(len(y)):
            fitted, pruning = rows_to_fit_and_prune(y, seed)
        how = (self.n_classifiers, seed, fitted is None)

        def fit() -> Pool | CrossFittedPool:
            return own_pool(X, y, fitted, n_classifiers=self.n_classifiers, seed=seed, work=work)

        pool = shared_fit(self, (X, y), how, fit)
        if pruning is None or isinstance(pool, CrossFittedPool):
            return pruning_rows_of(pool, X, y)
        return with_values(PruningRows(pool, take_rows(X, pruning), y[pruning], pruning))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of an array, so that the recorded choice cannot be changed."""
    view = array.view()
    view.flags.writeable = False
    return view
