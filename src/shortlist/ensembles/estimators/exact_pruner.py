"""Scikit-learn estimator of exactly pruned ensembles: a thin shell around functions."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shortlist._options import plain_signature
from shortlist._validation import as_positive_seconds
from shortlist.ensembles.committees.ballots import Mean
from shortlist.ensembles.committees.chosen import Terms, member_answers, record_rows, rows_counted_on
from shortlist.ensembles.committees.committee import Committee
from shortlist.ensembles.estimators.base import (
    AVERAGED,
    HARD,
    SOFT,
)
from shortlist.ensembles.estimators.exact_options import (
    NO_QUESTION,
    ExactOptions,
    positive_class,
    price_settings,
)
from shortlist.ensembles.estimators.rows import PruningRows, check_pool_classes
from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import for_classes
from shortlist.ensembles.pools.answers import (
    class_answers,
    class_shares,
    positive_votes,
)
from shortlist.ensembles.pools.judges import abstain_somewhere, silences
from shortlist.ensembles.pools.members import whole_pool, with_copies
from shortlist.ensembles.pruning.mean_problem import WHY_FEW, asks_for_choice, decision_gains, soft_metric
from shortlist.ensembles.pruning.mean_pruning import prune_soft
from shortlist.ensembles.pruning.pruning import (
    evidence_of,
    prune_for,
    selections_meant,
)
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes, class_votes, merge_class_rows, merge_rows
from shortlist.ensembles.votes.soft_votes import SoftVotes, mean_decisions
from shortlist.errors import BadInputError, ShortlistError
from shortlist.pickles import saved_from
from shortlist.results.proof import Status
from shortlist.runs import NO_STUDY, Cancellation, Progress, Report, Study, silent
from shortlist.runs.budget import Budget, seconds_now
from shortlist.runs.records import as_settings, digest_of_arrays
from shortlist.tables.fingerprints import RowsOfTable


@saved_from("shortlist")
@plain_signature
@dataclass(kw_only=True, eq=False, repr=False)
class ExactPruner(ExactOptions):
    """Choose the best members of a pool and the best threshold, by integer programming, with proof.

    Solves Eqs. 1 to 20 of :cite:t:`Bastos2022` on the rows given to :meth:`fit`. A row is positive when more
    than ``threshold_`` members give the positive class a probability above 0.5 (0.5 itself is a negative
    vote). With more than two classes, or where judges abstain, the class with most votes wins, the first
    of equals.

    Parameters
    ----------
    pool : Pool, list or dict of fitted classifiers, fitted voting or bagging ensemble, or None, default=None
        Classifiers to choose from. The pool should not have been fitted on the rows given to :meth:`fit`,
        unless it is a :class:`shortlist.ensembles.pools.fitting.CrossFittedPool`, which answers them out of
        fold. Clones of the pruner, as in ``cross_val_score``, share the pool, so that its classifiers stay
        fitted. None: :meth:`fit` fits a pool by :func:`shortlist.ensembles.make_pool` on its rows, see
        `pruning_rows`.
    objective : str or mapping, default="auto"
        Hard or averaged voting: a name in :data:`shortlist.ensembles.goals.weights.PRUNING_OBJECTIVES`, or
        weights of decisions such as ``{"tp": 1, "fp": -5}``, or the gain of a right decision by class, such
        as ``{"setosa": 1, "virginica": 5}``. With more than two classes the names are ``accuracy`` and
        ``balanced-accuracy``. ``"auto"`` is accuracy. See
        :func:`shortlist.ensembles.pruning.pruning.prune_for`. Soft voting: ``"log-loss"``, ``"brier"``, or
        ``"auto"``, which is the log loss with a tenth of the pool as members. A name of a value followed by
        ``+auto`` selects by the log loss and then decides by the gains of this value. See
        :func:`shortlist.ensembles.pruning.mean_pruning.prune_soft`.
    voting : {"auto", "hard", "averaged", "soft"}, default="auto"
        ``"hard"``: members are chosen by their votes, and vote. ``"averaged"``: members are chosen by their
        votes, and answer with the mean of their probabilities. ``"soft"``: members are chosen by a loss of
        the mean of their probabilities, and answer with this mean. ``"auto"``: soft for the losses
        ``"log-loss"`` and ``"brier"``; also soft for ``"auto"``, if every classifier has ``predict_proba``
        and no option asks for votes; otherwise hard. A mean decides for the class with the largest product of
        mean and gain of a right decision. Averaged and soft voting need ``predict_proba`` of every
        classifier, and at least one member. Soft voting takes no `diversity` and no named `solver`.
    probabilities : {"auto", "mean", "shares"}, default="auto"
        Source of ``predict_proba``. ``"mean"``: the mean of the members' probabilities. ``"shares"``: the
        shares of the members' votes, with one more vote for every class. ``"auto"``: a power of these shares
        if votes decide; the mean times a factor for each class if the mean decides. The power and the factors
        are fitted on the pruning rows; the factors also change decisions.
    positive : label or None, default=None
        The positive class; None: the last of the sorted classes.
    diversity : str or mapping, default="none"
        Limits on failure credit: ``"none"``, ``"average"``, ``"each"`` (F1, F2, F3 of the paper), or
        ``{"each": τ, "mean": γ}``. Limits on another measure: a name such as ``"disagreement-average"`` or
        ``"double-fault-each"``, or ``{"measure": "double-fault", "mean": 0.1}``. See
        :func:`shortlist.ensembles.goals.diversity.diversity_limits`.
    min_size, max_size : int, default=1 and None
        Smallest and largest number of members.
    member_costs, max_cost : sequence of float and float, default=None
        Cost of each classifier (by default the cost in the pool), and limit on the total cost of the members.
    time_limit_s : float or None, default=60
        Wall-clock limit of the solve in seconds; fitting a pool, and its answers, are not counted.
    node_limit : int or None, default=None
        Limit in steps of the solver; with a limit in steps alone, the answer is the same on every machine.
    solver : {"auto", "highs", "cpsat", "scip", "gurobi", "cplex"}, default="auto"
        ``"auto"``: the engine of :mod:`shortlist.ensembles.pruning.pruning`. A name: this solver alone, on
        the program of the paper.
    pruning_rows : {"auto", "out-of-fold", "held-out"}, default="auto"
        Rows that select members if `pool` is None. ``"held-out"``: 30 % of the rows, stratified; the other 70
        % fit the pool. ``"out-of-fold"``: all rows. The pool is fitted on all rows, and again without each of
        five folds (:func:`shortlist.ensembles.pools.fitting.cross_fit`), which takes about five times as
        long. A row is answered by the classifiers that were fitted without its fold, and value, bound and
        certificate are about these answers. ``"auto"``: out of fold with soft voting on up to 2,000 rows,
        otherwise held out.
    refit : bool, default=True
        Whether the chosen members are fitted again on all rows given to :meth:`fit`, if `pool` is None.
        Value, bound and certificate are about the members before they were fitted again. Members of a given
        `pool` are never fitted again.
    n_classifiers : int, default=100
        Size of the pool when `pool` is None.
    n_jobs : int or None, default=None
        Workers that fit the pool, and threads of the solver (None is one); with more than one thread, runs
        may return different ones of several equally good selections.
    random_state : int, RandomState or None, default=None
        Seed of the pool, the split and the solver.

    Attributes
    ----------
    selection_ : ndarray of bool, shape (n_classifiers,)
        Mask of the classifiers that are members.
    voting_ : str
        Way in which the members were chosen and answer: ``"hard"``, ``"averaged"`` or ``"soft"``.
    threshold_ : int or None
        Number of votes for the positive class above which a row is positive. None if probabilities are
        averaged or a plurality decides, as with more than two classes.
    gains_ : ndarray of int64, shape (n_classes,)
        Gain of a right decision on each class, if probabilities are averaged. Means are multiplied by the
        gains, and by the factors of a calibrated mean, before the largest product decides. For ``accuracy``
        all gains are equal.
    probabilities_ : str
        Source of ``predict_proba``: ``"mean"``, ``"shares"``, ``"calibrated-mean"`` or
        ``"calibrated-shares"``.
    calibration_ : Calibration or None
        The power and the factors that were fitted for these probabilities.
    objective_value_, bound_, gap_ : float
        Value on the pruning rows, the bound that no selection can exceed, and their relative gap (0 if
        proved).
    status_ : Status
        ``optimal``, ``feasible``, ``infeasible`` or ``unknown``.
    result_ : EnsembleSelection or ClassSelection
        The whole result, with the proof, the history of value and bound, the certificate, the confusion
        counts and the seconds.
    sizes_ : tuple of int
        Smallest and largest number of members, as given or as chosen by ``auto``.
    why_sizes_ : str
        Reason why ``auto`` chose these sizes; empty if the sizes were given.
    validation_ : RecordedRows
        The pruning rows: their indices among the rows given to :meth:`fit`, their classes, the recorded
        answers of the whole pool, and a fingerprint of all rows given to :meth:`fit`. ``shortlist verify``
        rechecks value and bound from this record.
    copies_ : ndarray of int64, shape (n_classifiers,)
        Number of times that each classifier is taken.
    pool_ : Pool
        Pool of the members, which answer; it holds a classifier twice that is taken twice.
    chosen_pool_ : Pool
        The members before they were fitted again; the same as ``pool_`` if they were not.
    cross_fitted_ : CrossFittedPool or None
        Members fitted without each fold, for ``shortlist verify``; None unless members were chosen out of
        fold.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    positive_ : label or None
        The positive class; None with more than two classes.

    Notes
    -----
    A fit without a given pool takes about as long as fitting the classifiers of the pool, out of
    fold six times as long. Choosing among 100 classifiers takes about a second. Clones of a pruner, such as
    those of ``GridSearchCV``, share the pools that they fit on the same rows with the same `n_classifiers`,
    `random_state` and way of pruning; If `random_state` is None, all clones use one seed. A process keeps up
    to 12 such pools, of at most 20,000 rows, while the original pruner lives.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> pruned = ExactPruner(n_classifiers=5, random_state=0).fit(X[:400], y[:400])
    >>> str(pruned.status_), pruned.gap_
    ('optimal', 0.0)
    """

    is_repeated = False
    """Whether this fit repeats a choice that is proved elsewhere; it then searches without a proof."""

    @property
    def objective_value_(self) -> float:
        """Value on the pruning rows, from ``result_``."""
        return float(self.result_.value)

    @property
    def bound_(self) -> float:
        """Bound that no selection can exceed, from ``result_``."""
        return float(self.result_.bound)

    @property
    def gap_(self) -> float:
        """Relative gap of value and bound, from ``result_``; 0 if the value is proved best."""
        return float(self.result_.gap)

    @property
    def status_(self) -> Status:
        """Status of the selection, from ``result_``."""
        return Status(self.result_.status)

    @property
    def goal(self) -> str | Mapping[Any, float]:
        """Objective, with labels in its weights replaced by indices, or by ``tp`` and ``tn``."""
        return for_classes(self.objective, self.classes_, self.positive_)

    @property
    def counted_on(self) -> str:
        """Name of the rows on which the value is counted, to follow "on the" in a sentence."""
        return rows_counted_on(self.validation_, out_of_fold=self.cross_fitted_ is not None)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        report: Report = silent,
        cancellation: Cancellation | None = None,
        study: Study = NO_STUDY,
        clock: Callable[[], float] = seconds_now,
        within: RowsOfTable | None = None,
        **unsupported: Any,
    ) -> Self:
        """Choose the members on these rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows; missing values and text columns are allowed if the pool takes them.
        y : array-like of shape (n_samples,)
            Classes of the rows: two or more, of any type.
        report, cancellation : optional
            Progress events, and a way to stop with the best selection found.
        study : Study, optional
            Keeps the fitted folds and the best selection so far. The same fit later continues from the kept
            state, with a new time limit.
        clock : callable, default=seconds_now
            Clock of the time limit; pass :func:`~shortlist.runs.budget.processor_seconds` on a busy machine.
        within : RowsOfTable, optional
            Table that the rows are a part of, for the record; by default the rows are the whole table.
        **unsupported
            Refused, since weights of rows (``sample_weight``) are not supported.

        Returns
        -------
        self

        Raises
        ------
        BadInputError
            If the input or a parameter cannot be used, or the study belongs to another question; the message
            says how to fix it.
        """
        X, y, seed = self._begin_fit(X, y, unsupported)
        self.positive_ = positive_class(self.positive, self.classes_)
        if self.positive_ is not None and self.pool is None and np.unique(y, return_counts=True)[1].min() < 2:
            raise BadInputError(
                "each class needs at least 2 rows to fit and to prune on, got a class with 1. Add rows."
            )
        rows = self._pool_and_rows(X, y, seed, report, cancellation)
        check_pool_classes(rows.pool, self.classes_, may_lack=False)
        budget = Budget(
            as_positive_seconds(self.time_limit_s, "time_limit_s"),
            self.node_limit,
            seed=seed % 2**31,
            threads=1 if self.n_jobs is None else int(effective_n_jobs(self.n_jobs)),
            report=report,
            cancellation=cancellation or Cancellation(),
            study=study,
            clock=clock,
        )
        if self.meant_voting == HARD:
            self._leave_abstentions_to_plurality(rows)
        report(Progress("asking the classifiers", 0))
        record = self._prune(rows, budget)
        truth: NDArray[Any] = np.searchsorted(self.classes_, rows.y)
        if self.positive_ is not None:
            truth = (rows.y == self.positive_).astype(np.uint8)
        self.validation_ = record_rows(X, y, rows.places, truth, within=within, **record)
        taken = functools.partial(with_copies, copies=self.copies_)
        threshold = getattr(self.result_, "threshold", None)
        self._form_committee(rows, taken, self.copies_[self.selection_], seed, threshold)
        if (self.pool is None or self._knows_folds) and self.refit:
            encoded = getattr(self.pool, "encoded", None)  # of a pool that was fitted on these rows
            self.fit_again(X, y, seed=seed, report=report, encoded=encoded)
        return self

    def _how_chosen(self) -> dict[str, Any]:
        least, most = self.sizes_
        pool = None if self.pool is None else whole_pool(self.pool)
        costs = self.member_costs if self.member_costs is not None or pool is None else pool.costs
        terms = Terms(
            goal=self.goal,
            positive=self.positive_,
            diversity=self.diversity,
            min_size=least,
            max_size=most,
            why_sizes=self.why_sizes_,
            member_costs=None if costs is None else tuple(map(float, costs)),
            max_cost=self.max_cost,
            solver=self.solver,
            probabilities=self.probabilities,
        )
        among = selections_meant(terms, self.result_, len(self.copies_), getattr(self, "front_", None))
        evidence = evidence_of(self.result_, self.solver, among, self.counted_on)
        return {"terms": terms, "evidence": evidence, "result": self.result_}

    def _answering(self) -> Committee:
        """Return the committee; raise an error if no selection keeps the limits."""
        check_is_fitted(self, "result_")
        if self.result_.reason:
            raise ShortlistError(
                f"there is nothing to predict with: {self.result_.reason}. Relax the limits and fit again."
            )
        return self.committee_

    def _prune(self, rows: PruningRows, budget: Budget) -> dict[str, NDArray[Any]]:
        """Choose the members, and with two classes the threshold; return the answers of the whole pool.

        The time limit of the budget begins when all classifiers have answered.
        """
        self.voting_ = self.meant_voting
        self.gains_ = np.ones(len(self.classes_), dtype=np.int64)
        if self.voting_ == HARD:
            return self._prune_votes(rows, budget)
        soft, record = self._shares_on(rows)
        positive = self._positive_place()
        if self.voting_ == AVERAGED:
            self.gains_ = decision_gains(soft_metric(self.goal), soft, positive=positive)
            return record | self._prune_votes(rows, budget)
        if budget.study.keeps:
            budget.study.bind(self._question(soft, budget.seed) | price_settings(self.own_costs(rows.pool)))
        limits = self.limits_of(rows.pool, len(rows.pool))
        result, goal, kept = prune_soft(soft, self.goal, limits, budget.begun(), positive=positive)
        self.gains_ = goal.gains
        why = WHY_FEW if asks_for_choice(self.goal) and self.max_size is None else ""
        self._take(result, kept, why_sizes=why)
        return record

    def _prune_votes(self, rows: PruningRows, budget: Budget) -> dict[str, NDArray[Any]]:
        votes, record = self._votes_on(rows)
        if budget.study.keeps:
            budget.study.bind(self._question(votes, budget.seed) | price_settings(self.own_costs(rows.pool)))
        limits = self.limits_of(rows.pool, len(rows.pool), diversity_limits(self.diversity, votes))
        found = prune_for(
            votes, self.goal, limits, budget.begun(), solver=self.solver, proves=not self.is_repeated
        )
        self._take(found, limits)
        return record

    def _shares_on(self, rows: PruningRows) -> tuple[SoftVotes, dict[str, NDArray[Any]]]:
        """Ask the pool; return its probabilities, and the arrays of them to be recorded."""
        truth = np.searchsorted(self.classes_, rows.y).astype(np.uint8)
        shares = rows.answers(class_shares)
        record: dict[str, NDArray[Any]] = {"shares": shares}
        silent = rows.answers(lambda pool, X: silences(pool.classifiers, X))
        if not silent.any():
            return SoftVotes(shares, truth), record
        return SoftVotes(shares, truth, silent), record | {"silent": np.packbits(silent, axis=1)}

    def _leave_abstentions_to_plurality(self, rows: PruningRows) -> None:
        """Unset the positive class where judges abstain; refuse a requested one, or an empty selection."""
        if self.positive_ is None and self.min_size:
            return
        if abstain_somewhere(rows.pool.classifiers, rows.X):
            if self.positive is not None:
                raise BadInputError(
                    "positive",
                    "must be left out where judges abstain",
                    repr(self.positive),
                    "Plurality decides where judges abstain.",
                )
            if not self.min_size:
                raise BadInputError(
                    "min_size",
                    "must be at least 1 where judges abstain",
                    "0",
                    "Without members no row would be answered.",
                )
            self.positive_ = None

    def _votes_on(self, rows: PruningRows) -> tuple[Votes | ClassVotes, dict[str, NDArray[Any]]]:
        """Ask the pool; return its votes in merged rows, and the arrays of all its answers to be recorded."""
        self._leave_abstentions_to_plurality(rows)
        if self.positive_ is not None:
            answers = rows.answers(functools.partial(positive_votes, positive=self.positive_))
            record = {"packed_votes": np.packbits(answers, axis=1)}
            return merge_rows(answers, (rows.y == self.positive_).astype(np.uint8)), record
        codes = rows.answers(class_answers)
        votes = class_votes(codes, np.searchsorted(self.classes_, rows.y), n_classes=len(self.classes_))
        return merge_class_rows(votes), {"codes": codes}

    def _after_choice(self, rows: PruningRows) -> None:
        ballot = self.committee_.ballot
        if self.voting_ == SOFT and isinstance(ballot, Mean) and ballot.gains is not self.gains_:
            everyone = np.ones(len(rows.pool), dtype=bool)
            answers = member_answers(self.validation_, everyone, self._positive_place())
            assert answers.shares is not None, "means were chosen"
            truth = np.searchsorted(self.classes_, rows.y).astype(np.uint8)
            votes = SoftVotes(answers.shares, truth, answers.silent)
            decisions = mean_decisions(votes, self.result_.mask, ballot.gains)
            self.result_ = dataclasses.replace(self.result_, decisions=decisions)

    def _take(self, result: Any, limits: SelectionLimits, *, why_sizes: str = "") -> None:
        self.sizes_ = (limits.min_size, limits.max_size)
        self.why_sizes_ = why_sizes
        self.result_ = result
        self._copies = result.mask.astype(np.int64)

    def _question(self, votes: Votes | ClassVotes | SoftVotes, seed: int) -> dict[str, Any]:
        given = {
            name: value for name, value in self.get_params(deep=False).items() if name not in NO_QUESTION
        }
        if isinstance(votes, SoftVotes):
            answers: list[NDArray[Any]] = [votes.shares, votes.labels]
        else:
            answers = [votes.votes if isinstance(votes, Votes) else votes.codes, votes.labels, votes.counts]
        digest = digest_of_arrays(answers)
        return as_settings(given | {"random_state": seed}) | {"the votes": digest}
