"""Options of exact pruning: their combined meaning, and the combinations that are refused."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import AUTO, as_choice, as_count
from shortlist._words import any_of, did_you_mean
from shortlist.arrays import Labels
from shortlist.ensembles.committees.committee import MEANS
from shortlist.ensembles.committees.facts import HELD_OUT, OUT_OF_FOLD
from shortlist.ensembles.committees.options import ExactSettings
from shortlist.ensembles.estimators.base import (
    AVERAGED,
    HARD,
    SOFT,
    PoolPruner,
)
from shortlist.ensembles.goals.diversity import DiversityLimits, diversity_limits
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import for_classes, weights_of
from shortlist.ensembles.pools.answers import (
    check_probabilities,
    gives_probabilities,
)
from shortlist.ensembles.pools.judges import pass_costs
from shortlist.ensembles.pools.members import whole_pool
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool
from shortlist.ensembles.pruning.mean_problem import (
    MEAN_LOSSES,
    asks_for_choice,
    decision_gains,
    mean_goal,
    soft_metric,
)
from shortlist.ensembles.pruning.pruning import parse_objective
from shortlist.ensembles.votes.hard_votes import class_votes, merge_rows
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError
from shortlist.runs.records import digest_of_arrays
from shortlist.tables.splits import MOST_ROWS_IN_FOLDS

NO_QUESTION = {
    "pool", "pruning_rows", "refit", "probabilities", "n_classifiers", "time_limit_s", "n_jobs",
    "random_state",
}  # fmt: skip
"""Parameters that a study is not bound to. The study knows the pool by its votes, and the seed as a number.
"""


PRUNING_ROWS = (AUTO, OUT_OF_FOLD, HELD_OUT)


class ExactOptions(PoolPruner, ExactSettings):
    """Options of :class:`~shortlist.ensembles.estimators.exact_pruner.ExactPruner`."""

    VOTING: ClassVar[tuple[str, ...]] = (AUTO, HARD, AVERAGED, SOFT)

    result_: Any

    def check_options(self, y: Labels) -> None:
        """Refuse classes and options that cannot be used, before any long work.

        Raises
        ------
        BadInputError
            If `y` holds one class only, or an option has a bad value.
        MissingDependencyError
            If the solver is not installed.
        """
        super().check_options(y)
        classes = np.unique(y)
        wanted = for_classes(self.objective, classes, positive_class(self.positive, classes))
        voting = self.meant_voting
        if voting != SOFT:
            if wanted in tuple(MEAN_LOSSES):
                raise BadInputError(
                    "objective",
                    f"must count votes with `voting={voting!r}`",
                    f"{wanted!r}, which needs mean probabilities",
                    "Pass `voting='soft'`.",
                )
            two_rows, codes = merge_rows([[0], [1]], [0, 1]), np.arange(len(classes))
            goal = parse_objective(wanted, n_classes=len(classes))
            weights_of(goal, two_rows if len(classes) == 2 else class_votes(codes[:, None], codes))
            diversity_limits(self.diversity, two_rows)
        if voting != HARD:
            self._check_averaging(wanted, len(classes), voting)
        selection_limits(1, min_size=self.min_size, max_size=self.max_size)
        given = None if self.pool is None else whole_pool(self.pool)
        costs_are_given = self.member_costs is not None or (given is not None and given.costs is not None)
        if self.max_cost is not None and not costs_are_given:
            raise BadInputError(f"`max_cost` needs the cost of every member. {pass_costs(self.pool)}")
        if self.solver != AUTO:
            from shortlist.milp import open_solver

            open_solver(self.solver)
        as_choice(self.pruning_rows, "pruning_rows", PRUNING_ROWS)
        if self.pruning_rows == OUT_OF_FOLD and given is not None and not self._knows_folds:
            raise BadInputError(
                "pruning_rows",
                "must be 'auto' or 'held-out' with a pool of your own",
                "'out-of-fold'",
                "Its classifiers cannot be fitted without a fold; leave pool out, or cross-fit it.",
            )

    @property
    def most_asked(self) -> int:
        """Upper bound on the members asked per row: the whole pool, or `max_size`."""
        pool = super().most_asked
        return pool if self.max_size is None else min(pool, as_count(self.max_size, "max_size"))

    @property
    def _knows_folds(self) -> bool:
        return isinstance(self.pool, CrossFittedPool)

    def prunes_out_of_fold(self, n_rows: int) -> bool:
        """Whether the rows fit the pool and also select members by out-of-fold answers, for `n_rows` rows."""
        if self.pruning_rows != AUTO:
            return self.pruning_rows == OUT_OF_FOLD
        return self.meant_voting == SOFT and n_rows <= MOST_ROWS_IN_FOLDS

    @property
    def meant_voting(self) -> str:
        """Way in which the members are chosen and answer; ``"auto"`` is replaced by its meaning."""
        if self.voting != AUTO:
            return self.voting
        name = self.objective.replace("_", "-") if isinstance(self.objective, str) else ""
        if name in MEAN_LOSSES:
            return SOFT
        of_votes = self.diversity != "none" or self.solver != AUTO or self.min_size == 0
        asked = self.pool is None or gives_probabilities(whole_pool(self.pool))
        return SOFT if asks_for_choice(name) and asked and not of_votes else HARD

    def _instead_of_means(self) -> str:
        if self.meant_voting != SOFT:
            return super()._instead_of_means()
        shares = ", `probabilities='auto'`" if self.probabilities in MEANS else ""
        return f"pass `voting='hard'`{shares} and an objective of votes, such as `objective='accuracy'`"

    def _check_averaging(self, wanted: str | Mapping[Any, float], n_classes: int, voting: str) -> None:
        even = np.zeros((n_classes, 1, n_classes), dtype=np.int16)
        each = SoftVotes(even, np.arange(n_classes, dtype=np.uint8))  # a row of each class
        if self.pool is not None:
            check_probabilities(whole_pool(self.pool), self._instead_of_means())
        decision_gains(soft_metric(wanted), each) if voting == AVERAGED else mean_goal(wanted, each)
        if self.min_size == 0:
            raise BadInputError(
                "min_size",
                "must be at least 1 where probabilities are averaged",
                "0",
                "An empty committee has no mean.",
            )
        if voting == SOFT and self.diversity != "none":
            raise BadInputError(
                "diversity", "must be 'none' with soft voting", repr(self.diversity), "It is of votes."
            )
        if voting == SOFT and self.solver != AUTO:
            raise BadInputError("solver", "must be 'auto' with soft voting", repr(self.solver))

    def limits_of(
        self, pool: Pool | None, n_classifiers: int, diversity: DiversityLimits | None = None
    ) -> SelectionLimits:
        """Return the limits of a selection from `n_classifiers`, with costs of `pool` where they apply."""
        return selection_limits(
            n_classifiers,
            min_size=self.min_size,
            max_size=self.max_size,
            member_costs=self.own_costs(pool).get("cost", self.member_costs),
            max_cost=self.max_cost,
            diversity=diversity,
            costs_are="costs" if self.member_costs is None else "member_costs",
            names=() if pool is None else pool.names,
        )

    def own_costs(self, pool: Pool | None) -> dict[str, NDArray[np.float64]]:
        """Return the costs of the pool by name ``cost``; empty if the user gave costs or no limit on them."""
        if self.member_costs is not None or self.max_cost is None or pool is None or pool.costs is None:
            return {}
        return {"cost": pool.costs}


def price_settings(prices: Mapping[str, Sequence[float] | NDArray[np.float64]]) -> dict[str, str]:
    """Return the digests of prices of members, by which a study is bound to them."""
    return {
        f"the {name} of members": digest_of_arrays([np.asarray(each, dtype=np.float64)])
        for name, each in prices.items()
    }


def positive_class(positive: Any, classes: Labels) -> Any:
    """Return the positive one of two classes, by default the last; None for more than two classes.

    The class may be given as text. Raises BadInputError if `positive` is none of the classes, or is given for
    more than two classes, which vote by plurality.
    """
    if len(classes) > 2:
        if positive is not None:
            raise BadInputError(
                "positive",
                f"must be left out with {len(classes)} classes",
                repr(positive),
                "Their members vote by plurality.",
            )
        return None
    if positive is None:
        return classes[1]
    for label in classes:
        if label == positive or str(label) == str(positive):
            return label
    raise BadInputError(
        "positive",
        f"must be one of the classes {any_of(classes)}",
        repr(str(positive)),
        did_you_mean(positive, classes),
    )
