"""Scikit-learn estimators for the pruning rules and for evolved ensembles; thin shells around functions."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from shortlist._validation import as_choice, as_count, as_seed
from shortlist._words import all_of
from shortlist.arrays import Labels
from shortlist.ensembles.estimators.fit_inputs import rows_to_fit_and_prune, several_classes
from shortlist.ensembles.estimators.recorded_rows import RecordedRows, record_rows
from shortlist.ensembles.evolution.evolution import Evolved, check_evolution, evolve
from shortlist.ensembles.evolution.spaces import SPACES, SpaceFactory, open_space
from shortlist.ensembles.pools.class_answers import class_answers
from shortlist.ensembles.pools.encoder import fit_table
from shortlist.ensembles.pools.pool import Pool, as_pool, make_pool
from shortlist.ensembles.rules.backfitting import backfit
from shortlist.ensembles.rules.margin_selection import CRITERIA, select_by_margins
from shortlist.ensembles.rules.orderings import check_rule, order_classifiers
from shortlist.ensembles.votes.class_votes import (
    ClassVotes,
    Members,
    class_tally,
    class_votes,
    merge_class_rows,
    n_right,
)
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from
from shortlist.runs import Cancellation, Report, silent
from shortlist.tables.fit_inputs import checked_fit, checked_rows, integer_seed, refuse_fit_options, take_rows


class PluralityPruner(ClassifierMixin, BaseEstimator, ABC):
    """What the pruners by rule share: members of a pool, each with one vote, ties to the lowest class."""

    def __init__(
        self,
        pool: Any = None,
        *,
        n_classifiers: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.pool = pool
        self.n_classifiers = n_classifiers
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_options(self, y: Labels) -> None:
        """Refuse classes and options that cannot be used, before any long work."""
        several_classes(y)
        as_count(self.n_classifiers, "n_classifiers")

    @abstractmethod
    def _choose(self, votes: ClassVotes, seed: int) -> Members:
        """Return the members that the rule keeps."""

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        report: Report = silent,
        cancellation: Cancellation | None = None,
        **unsupported: Any,
    ) -> Self:
        """Choose the members on these rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows; missing values and text columns as far as the pool takes them.
        y : array-like of shape (n_samples,)
            Their classes: two or more, of any type.
        report, cancellation : optional
            Progress events while a pool is fitted, and a way to stop that.
        **unsupported
            Nothing: weights of rows (``sample_weight``) are refused.

        Returns
        -------
        self

        Raises
        ------
        BadInputError
            If the input or a parameter cannot be used; the sentence says how to mend it.
        """
        refuse_fit_options(self, unsupported)
        X, y = checked_fit(self, X, y)
        self.check_options(y)
        self.classes_ = several_classes(y)
        seed = integer_seed(self.random_state)
        if self.pool is None:
            fitted, validation = rows_to_fit_and_prune(y, seed)
            pool = make_pool(
                take_rows(X, fitted), y[fitted], n_classifiers=self.n_classifiers, random_state=seed,
                n_jobs=self.n_jobs or 1, report=report, cancellation=cancellation,
            )  # fmt: skip
            X_validation, y_validation, rows = take_rows(X, validation), y[validation], validation
        else:
            pool, X_validation, y_validation, rows = as_pool(self.pool), X, y, None
            self.classes_ = _pool_classes(pool, self.classes_)
        truth = np.searchsorted(self.classes_, y_validation)
        votes = merge_class_rows(
            class_votes(class_answers(pool, X_validation), truth, n_classes=len(self.classes_))
        )
        self.validation_: RecordedRows = record_rows(X, y, rows, truth)
        self.members_ = np.asarray(self._choose(votes, seed), dtype=np.intp)
        self.selection_ = np.isin(np.arange(len(pool)), self.members_)
        self.accuracy_ = n_right(votes, self.members_) / votes.n_samples
        self.pool_ = pool.subset(self.members_)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of members that vote for each class, ``(n_samples, n_classes)``.

        Only members are called.
        """
        check_is_fitted(self, "members_")
        X = checked_rows(self, X)
        return _vote_shares(class_answers(self.pool_, X), len(self.classes_))

    def predict(self, X: Any) -> Labels:
        """Return the class with most votes for every row, the first of equals, ``(n_samples,)``."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def __sklearn_tags__(self) -> Any:
        return _any_table(super().__sklearn_tags__())


@saved_from("shortlist")
class OrderedPruner(PluralityPruner):
    """The best prefix of a pool that a rule has put in order.

    Parameters
    ----------
    pool : Pool, list of fitted classifiers, fitted voting or bagging ensemble, or None, default=None
        What to choose from. It should not have been fitted on the rows given to :meth:`fit`. None:
        :meth:`fit` splits its rows, stratified, fits :func:`shortlist.ensembles.make_pool` on 70 % and prunes
        on 30 %.
    rule : str, default="reduced-error"
        A name in :data:`shortlist.ensembles.rules.orderings.RULES`.
    stop : {"accuracy", "fitness"}, default="accuracy"
        What makes a prefix best; see :func:`shortlist.ensembles.rules.orderings.order_classifiers`.
    p, rho : float, default=0.075 and 0.25
        Of the rules ``margin-distance`` and ``drep``.
    n_classifiers : int, default=100
        Size of the pool when `pool` is None.
    n_jobs : int or None, default=None
        Workers that fit the pool.
    random_state : int, RandomState or None, default=None
        Seed of the pool, the split and the rule ``random``.

    Attributes
    ----------
    members_ : ndarray of int
        The members in the order in which they joined.
    selection_ : ndarray of bool, shape (n_classifiers,)
        The same as a mask over the pool.
    ordering_ : Ordering
        The whole order, with what every prefix decides right.
    accuracy_ : float
        Share of the rows given to the rule that the members decide right.
    validation_ : RecordedRows
        Which of the rows given to :meth:`fit` these are, with a fingerprint of all, for ``shortlist verify``.
    pool_ : Pool
        The members only.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted: those of a given pool, otherwise those of the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> OrderedPruner(rule="uwa", n_classifiers=10, random_state=0).fit(X, y).accuracy_ > 0.9
    True
    """

    def __init__(
        self,
        pool: Any = None,
        *,
        rule: str = "reduced-error",
        stop: str = "accuracy",
        p: float = 0.075,
        rho: float = 0.25,
        n_classifiers: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(pool, n_classifiers=n_classifiers, n_jobs=n_jobs, random_state=random_state)
        self.rule = rule
        self.stop = stop
        self.p = p
        self.rho = rho

    def check_options(self, y: Labels) -> None:
        """Refuse classes and options that cannot be used, before any long work."""
        super().check_options(y)
        check_rule(self.rule, self.stop, p=self.p, rho=self.rho)

    def _choose(self, votes: ClassVotes, seed: int) -> Members:
        self.ordering_ = order_classifiers(
            votes, self.rule, stop=self.stop, p=self.p, rho=self.rho, seed=seed
        )
        return self.ordering_.members


@saved_from("shortlist")
class MarginPruner(PluralityPruner):
    """The ensemble with the best margin histograms (Figure 1 of :cite:t:`Gagne2007`).

    Parameters
    ----------
    pool, n_classifiers, n_jobs, random_state
        As of :class:`OrderedPruner`.
    criterion : {"histogram", "minimum"}, default="histogram"
        What candidates are compared by; see
        :func:`shortlist.ensembles.rules.margin_selection.grow_by_margins`.

    Attributes
    ----------
    ordering_ : Ordering
        The whole order of distinct classifiers, with what every prefix decides right.
    members_, selection_, accuracy_, validation_, pool_, classes_
        As of :class:`OrderedPruner`.
    """

    def __init__(
        self,
        pool: Any = None,
        *,
        criterion: str = "histogram",
        n_classifiers: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(pool, n_classifiers=n_classifiers, n_jobs=n_jobs, random_state=random_state)
        self.criterion = criterion

    def check_options(self, y: Labels) -> None:
        """Refuse classes and options that cannot be used, before any long work."""
        super().check_options(y)
        as_choice(self.criterion, "criterion", CRITERIA)

    def _choose(self, votes: ClassVotes, _seed: int) -> Members:
        self.ordering_ = select_by_margins(votes, criterion=self.criterion)
        return self.ordering_.members


@saved_from("shortlist")
class BackfittingPruner(PluralityPruner):
    """Reduced-error pruning with backfitting, the best of all sizes from 20 % to 80 % of the pool.

    Parameters
    ----------
    pool, n_classifiers, n_jobs, random_state
        As of :class:`OrderedPruner`.

    Attributes
    ----------
    backfitted_ : Backfitted
        The members of every size, and what they decide right.
    members_, selection_, accuracy_, validation_, pool_, classes_
        As of :class:`OrderedPruner`.
    """

    def _choose(self, votes: ClassVotes, _seed: int) -> Members:
        self.backfitted_ = backfit(votes)
        return self.backfitted_.members


@saved_from("shortlist")
class EvolutionaryEnsembleClassifier(ClassifierMixin, BaseEstimator):
    """An ensemble of evolved classifiers (Off-EEL and On-EEL of :cite:t:`Gagne2007`).

    Columns are encoded and standardised by :func:`shortlist.ensembles.pools.encoder.fit_table`, so text and
    missing values may be in them. Every member has one vote; ties go to the lowest class.

    Parameters
    ----------
    mode : {"offline", "online", "single"}, default="offline"
        Off-EEL, On-EEL, or a plain genetic algorithm.
    space : str or callable, default="linear"
        A name in :data:`shortlist.ensembles.evolution.spaces.SPACES`, or what takes the numbers of columns
        and classes and returns a :class:`shortlist.ensembles.evolution.spaces.SearchSpace`, such as a class.
    population_size, n_generations : int, default=500 and 200
        Individuals, and generations in all.
    gamma : float, default=1.0
        Exponent of the rows' hardness.
    tournament, crossover_rate, survivors, n_elites, patience, criterion, max_members
        See :func:`shortlist.ensembles.evolution.evolution.evolve`.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    result_ : Evolved
        Members, last population and history.
    members_ : ndarray
        Genomes of the members, in the order in which they joined.
    space_ : SearchSpace
        What asks them.
    encoder_ : TableEncoder
        What the rows pass through first.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    training_ : RecordedRows
        A fingerprint of the rows that it was evolved on and their classes, for ``shortlist verify``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> evolved = EvolutionaryEnsembleClassifier(population_size=50, n_generations=20, random_state=0)
    >>> evolved = evolved.fit(X, y)
    >>> evolved.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        mode: str = "offline",
        *,
        space: str | SpaceFactory = "linear",
        population_size: int = 500,
        n_generations: int = 200,
        gamma: float = 1.0,
        tournament: int = 2,
        crossover_rate: float = 0.9,
        survivors: str = "children",
        n_elites: int = 1,
        patience: int | None = None,
        criterion: str = "histogram",
        max_members: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.mode = mode
        self.space = space
        self.population_size = population_size
        self.n_generations = n_generations
        self.gamma = gamma
        self.tournament = tournament
        self.crossover_rate = crossover_rate
        self.survivors = survivors
        self.n_elites = n_elites
        self.patience = patience
        self.criterion = criterion
        self.max_members = max_members
        self.random_state = random_state

    def check_options(self, y: Labels) -> None:
        """Refuse classes and options that cannot be used, before any long work."""
        several_classes(y)
        check_evolution(**self._parameters())
        if isinstance(self.space, str):
            as_choice(self.space, "space", list(SPACES))
        if isinstance(self.random_state, int):
            as_seed(self.random_state, "random_state")

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of :func:`shortlist.ensembles.evolution.evolution.evolve`."""
        own = self.get_params(deep=False)
        return {name: value for name, value in own.items() if name not in ("space", "random_state")}

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        callback: Any = None,
        report: Report = silent,
        cancellation: Cancellation | None = None,
        **unsupported: Any,
    ) -> Self:
        """Evolve on these rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows; missing values and text columns are encoded.
        y : array-like of shape (n_samples,)
            Their classes: two or more, of any type.
        callback : callable, optional
            Receives a :class:`shortlist.ensembles.evolution.evolution.Generation` after each.
        report, cancellation : optional
            Progress events, and a way to stop with the ensemble of the generations so far.
        **unsupported
            Nothing: weights of rows (``sample_weight``) are refused.

        Returns
        -------
        self

        Raises
        ------
        BadInputError
            If the input or a parameter cannot be used; the sentence says how to mend it.
        """
        refuse_fit_options(self, unsupported)
        X, y = checked_fit(self, X, y)
        self.check_options(y)
        self.classes_ = several_classes(y)
        self.encoder_ = fit_table(X)
        encoded = self.encoder_.transform(X)
        self.space_ = open_space(self.space, encoded.shape[1], len(self.classes_))
        self.result_: Evolved = evolve(
            self.space_,
            encoded,
            np.searchsorted(self.classes_, y),
            n_classes=len(self.classes_),
            **self._parameters(),
            rng=np.random.default_rng(integer_seed(self.random_state)),
            callback=callback,
            report=report,
            cancellation=cancellation,
        )
        self.members_ = self.result_.members
        self.training_: RecordedRows = record_rows(X, y, None, np.searchsorted(self.classes_, y))
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of members that vote for each class, ``(n_samples, n_classes)``."""
        check_is_fitted(self, "members_")
        encoded = self.encoder_.transform(checked_rows(self, X))
        shares = np.empty((len(encoded), len(self.classes_)))
        for start in range(0, len(encoded), 1024):  # by blocks: an ensemble may have thousands of members
            codes = self.space_.predict(self.members_, encoded[start : start + 1024])
            shares[start : start + 1024] = _vote_shares(codes, len(self.classes_))
        return shares

    def predict(self, X: Any) -> Labels:
        """Return the class with most votes for every row, the first of equals, ``(n_samples,)``."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def __sklearn_tags__(self) -> Any:
        return _any_table(super().__sklearn_tags__())


def _pool_classes(pool: Pool, classes: Labels) -> Labels:
    """Return the classes of a given pool; rows to prune on may lack some of them."""
    if not set(classes.tolist()) <= set(pool.classes.tolist()):
        raise BadInputError(
            f"the pool tells {all_of(pool.classes)} apart, but the target holds {all_of(classes)}. "
            "Use a pool fitted on these classes."
        )
    return pool.classes


def _vote_shares(codes: NDArray[np.uint8], n_classes: int) -> NDArray[np.float64]:
    return np.asarray(class_tally(codes, n_classes) / codes.shape[1])


def _any_table(tags: Any) -> Any:
    """Say that text, categories and missing values are welcome."""
    tags.input_tags.allow_nan = True
    tags.input_tags.string = True
    tags.input_tags.categorical = True
    return tags
