"""Scikit-learn estimators of the pruning rules; thin shells around functions."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shortlist._options import count, one_of, plain_signature
from shortlist._validation import AUTO
from shortlist.arrays import Labels
from shortlist.ensembles.committees.chosen import Terms, record_rows
from shortlist.ensembles.committees.evidence import evidence_of_rule
from shortlist.ensembles.estimators.base import HARD, SOFT, PoolPruner
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.rows import PruningRows, check_pool_classes
from shortlist.ensembles.pools.answers import class_answers, class_shares, gives_probabilities
from shortlist.ensembles.pools.judges import abstentions
from shortlist.ensembles.pools.members import whole_pool, with_copies
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.rules import backfit, greedy_means, keep_all, keep_best
from shortlist.ensembles.votes.hard_votes import (
    ClassVotes,
    Members,
    class_tally,
    class_votes,
    merge_class_rows,
    plurality,
)
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from
from shortlist.runs import Cancellation, Report, silent
from shortlist.tables.fingerprints import RowsOfTable

BASELINES = ("full", "best-single")
"""Names of the baselines: the whole pool, and its most accurate classifier."""


class RulePruner(PoolPruner):
    """Base of the pruners by rule: members are chosen by their answers on rows, and nothing is proved.

    These rows must not have fitted the pool, unless it is cross-fitted and answers out of fold.
    """

    @abstractmethod
    def _take(self, rows: PruningRows, truth: NDArray[np.intp], seed: int) -> None:
        """Choose members on these rows, and set the fitted attributes; `truth` has indices of classes."""

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        report: Report = silent,
        cancellation: Cancellation | None = None,
        within: RowsOfTable | None = None,
        **unsupported: Any,
    ) -> Self:
        """Choose the members on these rows.

        Raises BadInputError if the input or a parameter cannot be used; the message says how to fix it.

        `X`, ``(n_samples, n_features)``: rows; missing values and text columns are allowed if the pool takes
        them. `y`, ``(n_samples,)``: classes of the rows, two or more, of any type. `within`: table that the
        rows are a part of, for the record; by default the rows are the whole table. `unsupported`: must be
        empty, as weights of rows (``sample_weight``) are refused.
        """
        X, y, seed = self._begin_fit(X, y, unsupported)
        rows = self._pool_and_rows(X, y, seed, report, cancellation)
        if self.pool is not None:
            check_pool_classes(rows.pool, self.classes_, may_lack=True)
            self.classes_ = rows.pool.classes
        truth = np.searchsorted(self.classes_, rows.y)
        self.validation_ = record_rows(X, y, rows.places, truth, within=within)
        self.gains_ = np.ones(len(self.classes_), dtype=np.int64)
        self._take(rows, truth, seed)
        self._form_committee(rows, self._members_of, self._weights(), seed)
        if self.averages:
            own = rows if rows.crossed is None else rows._replace(crossed=self.cross_fitted_)
            shares = own._replace(pool=self.pool_).answers(class_shares)
            answered = abstentions(self.pool_.classifiers, rows.X) < len(self.pool_)
            self.accuracy_ = float(np.mean(answered & (self.committee_.ballot.decided(shares) == truth)))
        return self

    def _how_chosen(self) -> dict[str, Any]:
        counted_from = "probabilities" if self.averages else "votes"
        ordering = getattr(self, "ordering_", None)
        return {
            "terms": Terms(probabilities=self.probabilities),
            "evidence": evidence_of_rule(self.accuracy_, counted_from=counted_from),
            "accuracy": self.accuracy_,
            "order_right": None if ordering is None else ordering.right,
        }

    def _members_of(self, pool: Pool) -> Pool:
        return pool.subset(self.members_)

    def _weights(self) -> NDArray[np.int64]:
        return np.ones(len(self.members_), dtype=np.int64)


@plain_signature
@dataclass(kw_only=True, eq=False, repr=False)
class PluralityPruner(RulePruner):
    """Base of the pruners that choose members by their votes."""

    voting: str = HARD
    probabilities: str = AUTO

    @abstractmethod
    def _choose(self, votes: ClassVotes, seed: int) -> Members:
        """Return the members that the rule keeps."""

    def _take(self, rows: PruningRows, truth: NDArray[np.intp], seed: int) -> None:
        codes = rows.answers(class_answers)
        votes = merge_class_rows(class_votes(codes, truth, n_classes=len(self.classes_)))
        self.members_ = np.asarray(self._choose(votes, seed), dtype=np.intp)
        self._copies = np.isin(np.arange(len(rows.pool)), self.members_).astype(np.int64)
        tally = class_tally(codes[:, self.members_], len(self.classes_))
        self.accuracy_ = float(np.mean(tally.any(axis=1) & (plurality(tally) == truth)))
        self.voting_ = self.voting


@plain_signature
@dataclass(kw_only=True, eq=False, repr=False)
class BaselinePruner(PluralityPruner):
    """Take the whole pool, or its most accurate classifier, as a baseline for committees.

    Parameters
    ----------
    pool : Pool, list or dict of fitted classifiers, fitted voting or bagging ensemble, or None, default=None
        Classifiers to choose from. The pool should not have been fitted on the rows given to :meth:`fit`.
        None: :meth:`fit` splits its rows, stratified, fits :func:`shortlist.ensembles.make_pool` on 70 % and
        prunes on 30 %.
    rule : {"full", "best-single"}, default="full"
        Name of the baseline: the whole pool, or its most accurate classifier.
    voting : {"hard", "averaged"}, default="hard"
        Way in which the members answer: by votes, where the lowest class wins a tie, or by the mean of their
        probabilities. In both cases the rule chooses the members by their votes.
    probabilities : str, default="auto"
        As in :class:`ExactPruner`. ``"auto"``: calibrated shares if votes decide, otherwise the calibrated
        mean.
    n_classifiers : int, default=100
        Size of the pool when `pool` is None.
    n_jobs : int or None, default=None
        Workers that fit the pool.
    random_state : int, RandomState or None, default=None
        Seed of the pool and the split.

    Attributes
    ----------
    members_ : ndarray of int
        The members, the most accurate first.
    selection_ : ndarray of bool, shape (n_classifiers,)
        Mask of the members.
    ordering_ : Ordering
        The whole order, with the number of correct decisions of every prefix.
    accuracy_ : float
        Share of the pruning rows that the members decide correctly.
    voting_ : str
        Way in which the members answer.
    validation_ : RecordedRows
        The pruning rows: their indices among the rows given to :meth:`fit`, and a fingerprint of all rows
        given, for ``shortlist verify``.
    pool_ : Pool
        The members only.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted: those of a given pool, otherwise those of the rows.
    """

    rule: Annotated[str, one_of(*BASELINES)] = "full"

    def _choose(self, votes: ClassVotes, _seed: int) -> Members:
        self.ordering_ = keep_all(votes) if self.rule == "full" else keep_best(votes)
        return self.ordering_.members


@saved_from("shortlist")
class BackfittingPruner(PluralityPruner):
    """Reduced-error pruning with backfitting; the best committee of 20 % to 80 % of the pool is taken.

    Section 5.2 of :cite:t:`Bastos2022`, after :cite:t:`Margineantu1997`.

    Parameters
    ----------
    pool, voting, probabilities, n_classifiers, n_jobs, random_state
        As of :class:`BaselinePruner`.

    Attributes
    ----------
    backfitted_ : Backfitted
        Members of the committee of every size, and number of rows that they decide right.
    members_, selection_, accuracy_, validation_, pool_, classes_
        As of :class:`BaselinePruner`.
    """

    def _choose(self, votes: ClassVotes, _seed: int) -> Members:
        self.backfitted_ = backfit(votes)
        return self.backfitted_.members


@saved_from("shortlist")
@plain_signature
@dataclass(kw_only=True, eq=False, repr=False)
class GreedyMeansPruner(RulePruner):
    """Greedy search with replacement, repeated in bags, for the members with the best mean probability.

    This is the ensemble selection of :cite:t:`Caruana2004`, for the log loss. In each step the classifier
    that improves the mean most joins; a classifier that joins again has more weight. Each bag searches half
    of the pool, and the members of all bags are taken together. A classifier that was taken several times is
    asked once.

    Parameters
    ----------
    pool : Pool, list or dict of fitted classifiers, fitted voting or bagging ensemble, or None, default=None
        Classifiers to choose from; each needs ``predict_proba``. The pool should not have been fitted on the
        rows given to :meth:`fit`. None: :meth:`fit` splits its rows, stratified, fits
        :func:`shortlist.ensembles.make_pool` on 70 % and prunes on 30 %.
    n_steps : int, default=30
        Number of steps of each bag; the members after the best step are kept.
    n_bags : int, default=20
        Number of bags; 0 means one search among all classifiers.
    probabilities : str, default="auto"
        As in :class:`ExactPruner`. ``"auto"``: the calibrated mean, which also decides the class.
    n_classifiers : int, default=100
        Size of the pool when `pool` is None.
    n_jobs : int or None, default=None
        Workers that fit the pool.
    random_state : int, RandomState or None, default=None
        Seed of the pool, the split and the bags.

    Attributes
    ----------
    copies_ : ndarray of int64, shape (n_classifiers,)
        Number of times that each classifier is taken, which is its weight in the mean.
    members_ : ndarray of int
        Indices of the classifiers that are taken at least once; those taken most often come first, then by
        index.
    selection_ : ndarray of bool, shape (n_classifiers,)
        Mask of the members.
    accuracy_ : float
        Share of the pruning rows that the members decide correctly.
    pool_ : Pool
        Pool of the members, with one copy for each time that a classifier is taken.
    voting_, gains_, validation_, classes_
        As in :class:`BaselinePruner`; members answer by their mean.

    Notes
    -----
    Takes O(n_bags · n_steps · n_rows · n_classifiers) time beside the pool. Nothing is proved.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> pruned = GreedyMeansPruner(n_classifiers=10, n_bags=3, random_state=0).fit(X, y)
    >>> bool(pruned.copies_.sum() > pruned.selection_.sum())
    True
    """

    VOTING: ClassVar[tuple[str, ...]] = (SOFT,)

    voting: str = field(default=SOFT, init=False)
    probabilities: str = AUTO
    n_steps: Annotated[int, count()] = 30
    n_bags: Annotated[int, count(at_least=0)] = 20

    def check_options(self, y: Labels) -> None:
        """Refuse classes and options that cannot be used, before any long work."""
        super().check_options(y)
        if self.pool is not None and not gives_probabilities(whole_pool(self.pool)):
            raise BadInputError(
                "greedy selection of means needs probabilities of every classifier or judge, got some that "
                "give classes alone. Leave them out of the pool, or take a rule that goes by votes."
            )

    def _instead_of_means(self) -> str:
        return "take a rule that goes by votes"

    def _take(self, rows: PruningRows, truth: NDArray[np.intp], seed: int) -> None:
        votes = SoftVotes(rows.answers(class_shares), truth.astype(np.uint8))
        self._copies = greedy_means(votes, n_steps=self.n_steps, n_bags=self.n_bags, seed=seed)
        often = np.argsort(-self.copies_, kind="stable")
        self.members_ = often[: np.count_nonzero(self.selection_)]
        self.voting_ = SOFT

    def _members_of(self, pool: Pool) -> Pool:
        return with_copies(pool, self.copies_)

    def _weights(self) -> NDArray[np.int64]:
        return self.copies_[self.selection_]


def pruning_methods() -> dict[str, Any]:
    """Return the unfitted pruners, by name of the method."""
    return {
        "exact": ExactPruner(),
        "backfitting": BackfittingPruner(),
        "greedy-means": GreedyMeansPruner(),
        **{rule: BaselinePruner(rule=rule) for rule in BASELINES},
    }
