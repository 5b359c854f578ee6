"""A scikit-learn estimator of greedy selection with replacement; a thin shell around a function."""

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import AUTO, as_count
from shortlist.arrays import Labels
from shortlist.ensembles.estimators.base import SOFT
from shortlist.ensembles.estimators.rule_pruners import RulePruner
from shortlist.ensembles.pools.answers import class_shares, gives_probabilities
from shortlist.ensembles.pools.copies import with_copies
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.pools.refit import whole_pool
from shortlist.ensembles.rules.greedy_means import greedy_means
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from


@saved_from("shortlist")
class GreedyMeansPruner(RulePruner):
    """The members whose mean probability a greedy search with replacement finds good, in bags.

    The ensemble selection of :cite:t:`Caruana2004`, for the log loss. Whoever makes the mean better joins,
    perhaps again, which weighs it. Each bag searches among half of the pool, and the members of all bags are
    taken together. A classifier that is in several times is asked once.

    Parameters
    ----------
    pool : Pool, list of fitted classifiers, fitted voting or bagging ensemble, or None, default=None
        What to choose from; each needs ``predict_proba``. It should not have been fitted on the rows given to
        :meth:`fit`. None: :meth:`fit` splits its rows, stratified, fits
        :func:`shortlist.ensembles.make_pool` on 70 % and prunes on 30 %.
    n_steps : int, default=30
        Steps of each bag; the best of all steps is kept.
    n_bags : int, default=20
        Bags; 0: one search among all classifiers.
    probabilities : str, default="auto"
        Where ``predict_proba`` comes from. ``"mean"``: the mean of the members' probabilities.
        ``"calibrated-mean"``: that, times a factor of each class that is fitted on the rows that prune, which
        then decides too. ``"shares"``: the shares of the members' votes, of which every class has one
        more. ``"calibrated-shares"``: a power of these that is fitted there, too. ``"cross-validated"``:
        whichever of the four has the least log loss in five folds of these rows. ``"auto"``: the calibrated
        mean.
    n_classifiers : int, default=100
        Size of the pool when `pool` is None.
    n_jobs : int or None, default=None
        Workers that fit the pool.
    random_state : int, RandomState or None, default=None
        Seed of the pool, the split and the bags.

    Attributes
    ----------
    copies_ : ndarray of int64, shape (n_classifiers,)
        How often each classifier is taken, of which its weight in the mean follows.
    members_ : ndarray of int
        Who is taken at least once, most often taken first, equals in the order of the pool.
    selection_ : ndarray of bool, shape (n_classifiers,)
        The same as a mask over the pool.
    accuracy_ : float
        Share of the rows that chose which the members decide right.
    pool_ : Pool
        The members only, each as often as it is taken.
    voting_, gains_, validation_, classes_
        As of :class:`shortlist.ensembles.OrderedPruner`; members answer by their mean.

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

    CHECKS = RulePruner.CHECKS | {"n_steps": as_count, "n_bags": partial(as_count, at_least=0)}

    def __init__(
        self,
        pool: Any = None,
        *,
        n_steps: int = 30,
        n_bags: int = 20,
        probabilities: str = AUTO,
        n_classifiers: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            pool,
            voting=SOFT,
            probabilities=probabilities,
            n_classifiers=n_classifiers,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.n_steps = n_steps
        self.n_bags = n_bags

    def check_options(self, y: Labels) -> None:
        """Refuse classes and options that cannot be used, before any long work."""
        super().check_options(y)
        if self.pool is not None and not gives_probabilities(whole_pool(self.pool)):
            raise BadInputError(
                "greedy selection of means needs probabilities of every classifier or judge, got some that "
                "give classes alone. Leave them out of the pool, or take a rule that goes by votes."
            )

    def _instead_of_means(self) -> str:
        """Return what to do where somebody gives no probabilities."""
        return "take a rule that goes by votes"

    def _take(self, pool: Pool, X: Any, truth: NDArray[np.intp], seed: int) -> None:
        """Choose members by the mean of their probabilities."""
        votes = SoftVotes(class_shares(pool, X), truth.astype(np.uint8))
        self.copies_ = greedy_means(votes, n_steps=self.n_steps, n_bags=self.n_bags, seed=seed)
        self.selection_ = self.copies_ > 0
        often = np.argsort(-self.copies_, kind="stable")
        self.members_ = often[: np.count_nonzero(self.selection_)]
        self.voting_ = SOFT

    def _members_of(self, pool: Pool) -> Pool:
        return with_copies(pool, self.copies_)

    def _weights(self) -> NDArray[np.int64]:
        return self.copies_[self.selection_]
