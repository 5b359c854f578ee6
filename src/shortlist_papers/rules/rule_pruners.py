"""Scikit-learn estimators of the compared pruning rules."""

from collections.abc import Sequence
from typing import Any

from shortlist._validation import AUTO, as_choice
from shortlist.arrays import Labels
from shortlist.ensembles.estimators import rule_pruners
from shortlist.ensembles.estimators.base import HARD
from shortlist.ensembles.estimators.rule_pruners import PluralityPruner
from shortlist.ensembles.votes.hard_votes import ClassVotes, Members
from shortlist.pickles import saved_from
from shortlist_papers.rules.orderings import RULES, RULES_WITH_FITNESS, check_rule, order_classifiers


@saved_from("shortlist_papers")
class OrderedPruner(PluralityPruner):
    """Best prefix of a pool in the order of a rule.

    :data:`shortlist_papers.rules.orderings.RULES` names the sources of the rules; several are the hill
    climbers of Section 5.2 of :cite:t:`Bastos2022`.

    Parameters
    ----------
    pool, voting, probabilities, n_classifiers, n_jobs
        As in :class:`~shortlist.ensembles.estimators.rule_pruners.BaselinePruner`. rule : str,
        default="reduced-error" A name in :data:`shortlist_papers.rules.orderings.RULES`.
    stop : {"accuracy", "fitness"}, default="accuracy"
        Measure of the best prefix; see :func:`shortlist_papers.rules.orderings.order_classifiers`.
    p, rho : float, default=0.075 and 0.25
        Parameters of the rules ``margin-distance`` and ``drep``.
    random_state : int, RandomState or None, default=None
        Seed of the pool, the split and the rule ``random``.

    Attributes
    ----------
    members_ : ndarray of int
        The members in the order in which they joined.
    selection_ : ndarray of bool, shape (n_classifiers,)
        The same as a mask over the pool.
    ordering_ : Ordering
        The whole order, with the number of correct decisions of every prefix; for ``margin`` the order of
        distinct classifiers.
    accuracy_, voting_, validation_, pool_, classes_
        As of :class:`~shortlist.ensembles.estimators.rule_pruners.BaselinePruner`.

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
        voting: str = HARD,
        probabilities: str = AUTO,
        n_classifiers: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            pool,
            voting=voting,
            probabilities=probabilities,
            n_classifiers=n_classifiers,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.rule = rule
        self.stop = stop
        self.p = p
        self.rho = rho

    def check_options(self, y: Labels) -> None:
        """Raise an error for unusable classes and options, before any long work."""
        super().check_options(y)
        check_rule(self.rule, self.stop, p=self.p, rho=self.rho)

    def _choose(self, votes: ClassVotes, seed: int) -> Members:
        self.ordering_ = order_classifiers(
            votes, self.rule, stop=self.stop, p=self.p, rho=self.rho, seed=seed
        )
        return self.ordering_.members


FITTEST = {f"{rule}:fitness": rule for rule in RULES_WITH_FITNESS}
"""Rules with a fitness, by the names of their variants that stop by it, as in Section 5.2 of the paper."""


def pruning_methods(names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return unfitted pruners by name; by default all but those of :data:`FITTEST`.

    The names are those of the library, those of :data:`shortlist_papers.rules.orderings.RULES`, and those of
    :data:`FITTEST`, such as ``uwa:fitness``, which keep the fittest prefix instead of the most accurate one.
    Raises BadInputError if a name is unknown.
    """
    rules: dict[str, Any] = {rule: OrderedPruner(rule=rule) for rule in RULES}
    usual = {"exact": None} | rules | rule_pruners.pruning_methods()
    if names is None:
        return usual
    known = usual | {name: OrderedPruner(rule=rule, stop="fitness") for name, rule in FITTEST.items()}
    for name in names:
        as_choice(name, "method", sorted(known))
    return {name: known[name] for name in names}
