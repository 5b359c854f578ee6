"""What the estimators of ensembles share: one vote a member, and a pool with the rows that prune it."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shortlist._validation import AUTO, as_choice, as_count, as_workers
from shortlist._words import all_of
from shortlist.arrays import Floats, Labels, Mask
from shortlist.ensembles.committees.asking import EarlyAnswers
from shortlist.ensembles.committees.ballots import Ballot, Mean, Plurality, Threshold
from shortlist.ensembles.committees.chosen import Chosen, RecordedRows, member_answers
from shortlist.ensembles.committees.committee import (
    CALIBRATED_MEAN,
    CALIBRATED_SHARES,
    CROSS_VALIDATED,
    MEAN,
    MEANS,
    PROBABILITY_SOURCES,
    SHARES,
    Committee,
)
from shortlist.ensembles.pools.answers import check_probabilities, gives_probabilities
from shortlist.ensembles.pools.fitting import make_pool
from shortlist.ensembles.pools.members import as_pool, whole_pool
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool, out_of_fold
from shortlist.ensembles.pools.refit import cross_fit
from shortlist.ensembles.votes.soft_votes import Calibration, fitted_factors, fitted_power, times_factors
from shortlist.errors import BadInputError
from shortlist.guarantees.cells import reject_label_for
from shortlist.runs import Cancellation, Report
from shortlist.tables.fit_inputs import TableClassifier, checked_rows, take_rows
from shortlist.tables.splits import (
    IN_NO_FOLD,
    Cases,
    RowNumbers,
    classes_of_cases,
    deal_classes,
    hold_out,
    split_cases,
)

VALIDATION_SHARE = 0.3
"""Without a pool, this share of the rows prunes and the rest fits it: the paper's 27 : 63."""


def rows_to_fit_and_prune(y: Labels, seed: int, cases: Cases | None = None) -> tuple[RowNumbers, RowNumbers]:
    """Split rows, or cases, 70 : 30, stratified; a class with one of them is fitted and does not prune.

    Raises BadInputError if no class has two rows.
    """
    if np.unique(classes_of_cases(y, cases), return_counts=True)[1].max(initial=0) < 2:
        raise BadInputError("a class needs at least 2 rows to fit and to prune on, got 1 of each. Add rows.")
    fitted, validation = split_cases(
        y, cases, lambda labels: hold_out(labels, VALIDATION_SHARE, seed, rounded=math.ceil)
    )
    return np.sort(fitted), np.sort(validation)


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
        """Upper bound on the members asked per row, whatever the rows that it is fitted on."""

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return how far the members vote for each class, ``(n_samples, n_classes)``."""

    @property
    def reject_label_(self) -> Any:
        """What :meth:`predict` gives a row without an answer: -1, or ``"REJECT"`` for words."""
        check_is_fitted(self, "classes_")
        return reject_label_for(None, self.classes_)


class PruningRows(NamedTuple):
    """A pool, and the rows that choose its members."""

    pool: Pool
    """The pool that was given, or one fitted on the other rows."""
    X: Any
    y: Labels
    """The rows that prune, and their classes."""
    places: NDArray[np.intp] | None
    """Where those are among all rows; None: they are all rows."""
    crossed: CrossFittedPool | None = None
    """Where the rows that prune fitted the pool too, its classifiers without each fold of these rows."""

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
    member_costs: Sequence[float] | None = None
    committee_: Committee
    positive_: Any = None
    _copies: NDArray[np.int64]
    gains_: NDArray[np.int64]
    validation_: RecordedRows
    probabilities: str = AUTO
    probability_losses_: Mapping[str, float] = MappingProxyType({})
    chosen_pool_: Pool
    _names: tuple[str, ...]
    cross_fitted_: CrossFittedPool | None = None

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
        asked = {
            "`voting='hard'`": self.voting == AVERAGED,
            f"`probabilities={CALIBRATED_SHARES!r}`": self.probabilities in MEANS,
        }
        return f"pass {all_of(option for option, matters in asked.items() if matters)}"

    def prunes_out_of_fold(self, _n_rows: int) -> bool:
        """Whether the rows that fit a pool prune it too, by answers out of fold."""
        return False

    @property
    def copies_(self) -> NDArray[np.int64]:
        """How often each classifier of the pool is a member, ``(n_classifiers,)``; read-only."""
        return _read_only(self._copies)

    @property
    def selection_(self) -> Mask:
        """Which classifiers of the pool are members, ``(n_classifiers,)``; read-only."""
        return _read_only(self.copies_ > 0)

    @property
    def asked_(self) -> NDArray[np.intp]:
        """Whom an answer asks, by place in the pool; who is a member several times is asked once."""
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
        """The members only, which answer."""
        return self._answering().members

    @property
    def threshold_(self) -> int | None:
        """Above how many votes the positive class wins; None where no threshold decides."""
        return self._answering().ballot.threshold

    @property
    def probabilities_(self) -> str:
        """Where ``predict_proba`` comes from."""
        return self._answering().probabilities

    @property
    def calibration_(self) -> Calibration | None:
        """What turns scores into probabilities."""
        return self._answering().calibration

    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``, as the committee answers them.

        A row without an answer gets ``reject_label_``;
        :func:`~shortlist.ensembles.committees.facts.unanswered_rows` says why.
        """
        return self._answering().predict(self._checked(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return how probable every class is, ``(n_samples, n_classes)``; the columns follow ``classes_``.

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
        """The committee with all that is known of how it was chosen, which is what a saved model holds."""
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
            losses=dict(self.probability_losses_),
            **self._how_chosen(),
        )

    @abstractmethod
    def _how_chosen(self) -> dict[str, Any]:
        """Return the fields of :class:`Chosen` that differ from pruner to pruner."""

    def _answering(self) -> Committee:
        check_is_fitted(self, "committee_")
        return self.committee_

    def _checked(self, X: Any) -> Any:
        """Check rows of features; of judges the columns of the members are enough."""
        return X if self.committee_.judged_columns else checked_rows(self, X)

    @property
    def decisions_are_proved(self) -> bool:
        """Whether values are of decisions by the mean as it is, so that nothing may shift these."""
        return False

    def _ballot(self, n_members: int, threshold: int | None) -> Ballot:
        """Return how a number of members decides; a threshold is that of two classes, where there is one."""
        if self.averages:
            return Mean(self.gains_)
        positive = self._positive_place()
        if threshold is None or positive is None:
            return Plurality(len(self.classes_))
        return Threshold(threshold, n_members, positive)

    def _positive_place(self) -> int | None:
        """Return the place of the class that votes on record are for; None where they are classes."""
        return None if self.positive_ is None else self.classes_.tolist().index(self.positive_)

    def _form_committee(
        self,
        rows: PruningRows,
        taken: Callable[[Pool], Pool],
        weights: NDArray[np.int64],
        seed: int,
        threshold: int | None = None,
    ) -> None:
        self._names, self.chosen_pool_ = rows.pool.names, taken(rows.pool)
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
            found = fit_probabilities(
                committee, self.chosen_pool_ if self.cross_fitted_ is None else self.cross_fitted_, rows.X,
                np.searchsorted(self.classes_, rows.y),
                source=usual if self.probabilities == AUTO else self.probabilities, seed=seed,
            )  # fmt: skip
            self.probability_losses_ = found.losses
            committee = replace(committee, probabilities=found.source, calibration=found.calibration)
            shifts = self.averages and not self.decisions_are_proved and found.source == CALIBRATED_MEAN
            if shifts and found.calibration is not None:
                gains = times_factors(self.gains_, found.calibration.factors)
                committee = replace(committee, ballot=Mean(gains))
        self.committee_ = committee
        self._after_choice(rows)

    def _after_choice(self, rows: PruningRows) -> None:
        """Do what is left once there is a committee."""

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


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be changed: what was chosen is on record once."""
    view = array.view()
    view.flags.writeable = False
    return view


def pruning_rows_of(pool: Any, X: Any, y: Labels) -> PruningRows:
    """Return the rows that prune a pool: all, but those in no fold of one that is cross-fitted.

    Raises BadInputError if it was cross-fitted on another number of rows.
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


CHOOSING_FOLDS = 5

Fit = Callable[[Floats, NDArray[np.integer]], Calibration]

_SCORED_BY: Mapping[str, tuple[str, Fit | None]] = {
    MEAN: (MEAN, None),
    CALIBRATED_MEAN: (MEAN, fitted_factors),
    CALIBRATED_SHARES: (SHARES, fitted_power),
    SHARES: (SHARES, None),
}
"""What each source makes probabilities of, and how it is fitted."""


class FittedSource(NamedTuple):
    """A source, what was fitted for it, and the log loss of each source in folds, where folds chose it."""

    source: str
    calibration: Calibration | None
    losses: Mapping[str, float]


def fitted_source(
    wanted: str, score: Callable[[str], Floats], labels: NDArray[np.integer], *, averages: bool, seed: int
) -> FittedSource:
    """Fit where probabilities come from, on rows that fitted no member.

    `wanted`: one of :data:`shortlist.ensembles.committees.committee.PROBABILITY_SOURCES` but ``auto``.
    `score`: returns the scores of the classes on the rows, ``(n_rows, n_classes)``, for :data:`MEAN` or
    :data:`SHARES`. `labels`: index of the true class, ``(n_rows,)``. `averages`: whether every member gives
    probabilities, so that means can be compared too. `seed`: deals the rows to folds.
    """
    if wanted != CROSS_VALIDATED:
        scored_by, fit = _SCORED_BY[wanted]
        return FittedSource(wanted, None if fit is None else fit(score(scored_by), labels), {})
    sources = [name for name, (scored_by, _) in _SCORED_BY.items() if averages or scored_by == SHARES]
    scores = {
        scored_by: score(scored_by) for scored_by in dict.fromkeys(_SCORED_BY[name][0] for name in sources)
    }
    losses = {name: loss_in_folds(name, scores[_SCORED_BY[name][0]], labels, seed) for name in sources}
    best = min(losses, key=losses.__getitem__)  # the first of equals
    scored_by, fit = _SCORED_BY[best]
    return FittedSource(best, None if fit is None else fit(scores[scored_by], labels), losses)


def loss_in_folds(source: str, scores: Floats, labels: NDArray[np.integer], seed: int) -> float:
    """Return the mean log loss of a source on rows that are left out in turn when it is fitted.

    Fewer rows than folds fit nothing: infinite, where something has to be fitted.
    """
    from sklearn.metrics import log_loss

    _, fit = _SCORED_BY[source]
    found = scores
    if fit is not None:
        if len(labels) < CHOOSING_FOLDS:
            return math.inf
        found = np.empty_like(scores)
        fold_of = deal_classes(labels, CHOOSING_FOLDS, np.random.default_rng(seed))
        for fold in range(CHOOSING_FOLDS):
            held = fold_of == fold
            found[held] = fit(scores[~held], labels[~held]).of(scores[held])
    return float(log_loss(labels, found, labels=np.arange(scores.shape[1])))


def fit_probabilities(
    committee: Committee,
    as_chosen: Pool | CrossFittedPool,
    X: Any,
    truth: NDArray[np.integer],
    *,
    source: str,
    seed: int = 0,
) -> FittedSource:
    """Return where probabilities come from, and what calibrates them, fitted on the selection rows.

    Raises BadInputError if means are asked for and a member gives no probabilities.

    `as_chosen`: its members as they were chosen, who answer these rows. `X`: the selection rows,
    ``(n_recorded, n_features)``. `truth`: places of their classes, ``(n_recorded,)``. `source`: what
    probabilities may be, but ``auto``. `seed`: of the folds where cross-validation chooses.
    """

    def score(of: str) -> NDArray[np.float64]:
        return out_of_fold(
            as_chosen, X, lambda members, rows: committee.with_members(members).scores(rows, of)
        )

    return fitted_source(source, score, truth, averages=gives_probabilities(committee.members), seed=seed)
