"""Scikit-learn estimator of the front of a pool's committees; one committee of the front predicts."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist._options import plain_signature
from shortlist._validation import AUTO, as_choice, as_count
from shortlist._words import all_of
from shortlist.arrays import Floats, Labels, Mask
from shortlist.ensembles.committees.chosen import member_answers, record_rows
from shortlist.ensembles.committees.committee import Committee
from shortlist.ensembles.committees.facts import HELD_OUT, exit_report
from shortlist.ensembles.estimators.as_good import (
    IsRight,
    RecordedAnswers,
    beside_single,
    best_within,
    check_saved_on,
    points_right,
    quick_front,
    votes_on_record,
)
from shortlist.ensembles.estimators.base import HARD, SOFT, PoolPruner
from shortlist.ensembles.estimators.exact_options import positive_class, price_settings
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.rows import PruningRows, rows_to_fit_and_prune
from shortlist.ensembles.fronts.committee_front import committee_front
from shortlist.ensembles.fronts.committee_problem import (
    CommitteeProblem,
    MeanFrontProblem,
    committee_problem,
    mean_front_problem,
)
from shortlist.ensembles.fronts.front_claims import mean_selection, vote_selection
from shortlist.ensembles.fronts.objectives import (
    BY_CLASS,
    MEMBER_OBJECTIVES,
    check_rows_of_losses,
    read_objectives,
)
from shortlist.ensembles.goals.selection_limits import SelectionLimits, exact_costs, selection_limits
from shortlist.ensembles.goals.weights import worth_of_right
from shortlist.ensembles.pools.answers import check_probabilities
from shortlist.ensembles.pools.judges import pass_costs
from shortlist.ensembles.pools.members import whole_pool
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.pruning.mean_problem import MEAN_LOSSES, soft_metric
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError, UnmetChoiceError
from shortlist.pickles import saved_from
from shortlist.results.intervals import MARGIN, Kind, difference_of
from shortlist.results.picking import AS_GOOD, PICK_RULES
from shortlist.runs.budget import Budget
from shortlist.tables.fingerprints import NO_TABLE, RowsOfTable
from shortlist.tables.splits import Cases, cases_of_rows

SMALLEST = "smallest"
"""Name of the rule that takes the smallest committee whose loss against the best one may be chance."""

COMMITTEE_PICKS = (*(rule for rule in PICK_RULES if rule != "weights"), SMALLEST, AS_GOOD)
"""Names of the rules that pick the committee that predicts."""


@saved_from("shortlist")
@plain_signature
@dataclass(kw_only=True, eq=False, repr=False)
class FrontPruner(ExactPruner):
    """Find all non-dominated committees of a pool, with proof, and pick one of them, which predicts.

    :class:`ExactPruner` maximises one objective. A front shows the price of each objective in the others: the
    best accuracy of a committee of three, the cost of the last percent of accuracy, or the false alarms that
    a higher recall brings. The proof is described at
    :func:`shortlist.ensembles.fronts.committee_front.committee_front`.

    Parameters
    ----------
    pool : Pool, list or dict of fitted classifiers, fitted voting or bagging ensemble, or None, default=None
        Classifiers to choose from, as for :class:`ExactPruner`.
    objectives : str or sequence of str, default=("max accuracy", "min size")
        At least two. ``max`` with ``accuracy``, ``balanced-accuracy``, ``true-positives``,
        ``true-negatives``, ``recall``, ``specificity`` or ``recall:CLASS``; ``min`` with ``cost`` (prices of
        `member_costs`, or prices in the pool) or ``size``. With the objectives ``min log-loss`` or ``min
        brier``, committees answer by the mean of their probabilities. These losses can be combined with
        ``cost`` and ``size`` only, on at most 47,662 pruning rows.
    positive : label or None, default=None
        The positive class; None: the last of the sorted classes.
    pick : str or int, default="ideal"
        Rule that picks the committee that predicts: ``ideal``, ``knee`` or ``lexicographic`` (see
        :meth:`shortlist.results.front.Front.pick`), ``smallest``, ``as-good``, or the number of a point, from
        0. ``smallest``: the committee with the fewest members whose loss against the best committee may be
        chance, on the selection rows. ``as-good``: the cheapest committee, or the smallest without prices,
        that by repeated choice is at most `margin` worse than the best single classifier.
    margin : float, default=0.01
        Largest loss that still counts as equal for ``as-good``, in the unit of the objective of answers.
    min_size, max_size : int, default=1 and None
        Smallest and largest number of members.
    member_costs : sequence of float, default=None
        Cost of each classifier; by default the cost in the pool.
    time_limit_s : float or None, default=60
        Wall-clock limit of the search in seconds; fitting a pool, and its answers, are not counted.
    n_classifiers : int, default=100
        Size of the pool when `pool` is None.
    n_jobs : int or None, default=None
        Workers that fit the pool, and threads of solvers.
    random_state : int, RandomState or None, default=None
        Seed of the pool, the split and the search.

    Attributes
    ----------
    front_ : Front
        The committees: ``decisions`` has their members, and ``extras["thresholds"]`` their thresholds.
        ``extras["calls"]`` is the mean number of calls by :meth:`predict_early` about a pruning row.
        ``extras["price_paid"]`` is the mean price of these calls; None without prices.
    point_ : int
        The point that predicts.
    prices_ : dict of str to list of float
        Price of each classifier, by the name ``cost``; empty unless ``cost`` is an objective.
    selection_, threshold_, pool_, result_, status_, objective_value_, bound_, validation_
        As in :class:`ExactPruner`, for the committee that predicts. The value is that of the first objective
        of answers, or accuracy without such an objective. No committee of any size exceeds the bound. If the
        front is complete, the bound may be limited to committees that are no larger and cost no more than the
        one that predicts.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> fitted = FrontPruner(n_classifiers=10, random_state=0).fit(X[:400], y[:400])
    >>> str(fitted.front_.proof.kind), fitted.front_.names
    ('complete', ['accuracy', 'size'])
    """

    VOTING: ClassVar[tuple[str, ...]] = (HARD,)

    objectives: str | Sequence[str] = ("max accuracy", "min size")
    pick: str | int = "ideal"
    margin: float = MARGIN
    voting: str = field(default=HARD, init=False)
    probabilities: str = field(default=AUTO, init=False)
    diversity: str | Mapping[str, Any] = field(default="none", init=False)
    node_limit: int | None = field(default=None, init=False)
    max_cost: float | None = field(default=None, init=False)
    solver: str = field(default=AUTO, init=False)
    pruning_rows: str = field(default=HELD_OUT, init=False)
    refit: bool = field(default=False, init=False)
    cases: Cases | None = field(default=None, init=False)
    """Case of each row, ``(n_samples,)``; None if each row is a case of its own."""
    repeats: "FrontPruner | None" = field(default=None, init=False)
    """Pruner whose choice this one repeats on some of its rows, within few nodes; None if it repeats no
    choice.
    """

    def _valued_by(self) -> str | Mapping[Any, float]:
        """Return the objective that values the committee: the first objective of answers, or accuracy."""
        for text in self._texts():
            name = " ".join(text.split()).removeprefix("max ").replace("_", "-")
            if name.removeprefix("min ") in MEAN_LOSSES:
                return name.removeprefix("min ")
            if name.startswith(BY_CLASS):
                return {name.removeprefix(BY_CLASS): 1}
            if not name.startswith("min ") and name not in MEMBER_OBJECTIVES:
                name = {"true-positives": "recall", "true-negatives": "specificity"}.get(name, name)
                if name in {"recall", "specificity"} and getattr(self, "positive_", "") is None:
                    # judges abstain, and a plurality decides
                    return {self.classes_[int(name == "recall")]: 1}
                return name
        return "accuracy"

    objective: Any = field(default=property(_valued_by), init=False)  # follows from the objectives here

    @property
    def meant_voting(self) -> str:
        """Way in which committees answer: by the mean of probabilities where an objective is a loss."""
        return SOFT if self._losses() else HARD

    def _texts(self) -> list[str]:
        given = self.objectives
        return given.split(",") if isinstance(given, str) else list(given)

    def _losses(self) -> list[str]:
        names = [" ".join(text.split()).removeprefix("min ").replace("_", "-") for text in self._texts()]
        return [name for name in names if name in MEAN_LOSSES]

    def _instead_of_means(self) -> str:
        return f"leave {all_of(self._losses())} out of the objectives"

    def check_options(self, y: Labels) -> None:
        """Refuse classes and options that cannot be used, before any long work.

        Raises
        ------
        BadInputError
            If `y` holds one class only, or an option has a bad value.
        """
        PoolPruner.check_options(self, y)
        classes = np.unique(y)
        names = read_objectives(self._texts(), self._labels(classes))
        if self.meant_voting == SOFT:
            check_rows_of_losses(len(y if self.pool is not None else rows_to_fit_and_prune(y, 0)[1]))
            if self.pool is not None:
                check_probabilities(whole_pool(self.pool), self._instead_of_means())
        if isinstance(self.pick, str):
            as_choice(self.pick, "pick", COMMITTEE_PICKS)
        else:
            as_count(self.pick, "pick", at_least=0)
        if self.pick == AS_GOOD:
            check_saved_on(names)
        if as_count(self.min_size, "min_size", at_least=0) < 1:
            raise BadInputError(
                "min_size", "must be at least 1 for a front", "0", "An empty committee has no cost."
            )
        selection_limits(1, min_size=self.min_size, max_size=self.max_size)
        self._check_prices(names)

    def _check_prices(self, names: Sequence[str]) -> None:
        given: Any = self.member_costs
        if given is None and self.pool is not None:
            given = whole_pool(self.pool).costs
        priced = "cost" in names
        if priced and given is None:
            raise BadInputError(f"min cost needs the cost of every member, got none. {pass_costs(self.pool)}")
        if not priced and self.member_costs is not None:
            raise BadInputError("`member_costs` belong to the objective min cost. Add it, or leave them out.")
        if priced:
            members = () if self.pool is None else whole_pool(self.pool).names
            exact_costs("costs" if self.member_costs is None else "member_costs", given, members)

    def _labels(self, classes: Labels) -> list[str]:
        positive = positive_class(self.positive, classes)
        if positive is None:
            return [str(label) for label in classes]
        return [str(label) for label in classes if label != positive] + [str(positive)]

    @property
    def decisions_are_proved(self) -> bool:
        """Whether the values of the points count decisions by the uncalibrated mean; true if means decide."""
        return self.voting_ == SOFT

    def _prune(self, rows: PruningRows, budget: Budget) -> dict[str, NDArray[Any]]:
        """Search for the front, and pick the point that predicts; return the answers of the whole pool.

        The time limit of the budget begins when all classifiers have answered.
        """
        self.gains_ = np.ones(len(self.classes_), dtype=np.int64)
        pool, labels = rows.pool, self._labels(self.classes_)
        names = read_objectives(self._texts(), labels)
        self.voting_ = self.meant_voting
        votes: Votes | ClassVotes | SoftVotes
        if self.voting_ == SOFT:
            votes, record = self._shares_on(rows)
        else:
            votes, record = self._votes_on(rows)
        if budget.study.keeps:
            budget.study.bind(self._question(votes, budget.seed))
        self.prices_ = {"cost": self._costs(pool)} if "cost" in names else {}
        budget.study.bind(price_settings(self.prices_))
        limits = selection_limits(len(pool), min_size=self.min_size, max_size=self.max_size)
        problem = self.problem_of(votes, limits)
        find = committee_front if self.repeats is None else quick_front
        front = find(problem, budget.begun(), names=pool.names)
        prices = {name: np.asarray(own).tolist() for name, own in self.prices_.items()}
        self.front_ = dataclasses.replace(front, extras={**front.extras, "prices": prices})
        if self.pick == AS_GOOD and self.repeats is None and len(front):
            more = self._beside_single(rows, record, limits, budget.seed)
            self.front_ = dataclasses.replace(self.front_, extras={**self.front_.extras, **more})
        self.point_ = self._chosen_point(rows, record)
        if isinstance(problem, MeanFrontProblem):
            result = mean_selection(problem, self.front_, self.point_)
        else:
            result = vote_selection(problem.votes, self.goal, self.front_, self.point_)
        self._take(result, limits)
        return record

    def _beside_single(
        self, rows: PruningRows, record: Mapping[str, NDArray[Any]], limits: SelectionLimits, seed: int
    ) -> dict[str, Any]:
        """Return the comparison with the best single classifier, by which ``as-good`` picks, as an extra."""
        is_right, truth, worth = self.rights(rows, record)
        names, place = rows.pool.names, self._positive_place()
        answers = RecordedAnswers(
            names, truth, worth, is_right,
            lambda kept: votes_on_record(
                record, truth, kept, len(names), n_classes=len(self.classes_), positive=place
            ),
            lambda votes: self.problem_of(votes, limits),
            self.averages,
        )  # fmt: skip
        cases = cases_of_rows(self.cases, np.arange(len(truth)) if rows.places is None else rows.places)
        return beside_single(answers, self.front_, cases=cases, seed=seed, margin=self.margin)

    def _costs(self, pool: Pool) -> NDArray[np.float64]:
        return np.asarray(pool.costs if self.member_costs is None else self.member_costs)

    def _after_choice(self, rows: PruningRows) -> None:
        super()._after_choice(rows)
        found = [exit_report(self._at(index, rows.pool)) for index in range(len(self.front_))]
        told = [one for one in found if one is not None]
        paid = [one.mean_cost for one in told if one.mean_cost is not None]
        more = {"calls": [one.mean_calls for one in told], "price_paid": paid or None}
        self.front_ = dataclasses.replace(self.front_, extras={**self.front_.extras, **more})

    def _at(self, index: int, pool: Pool) -> Committee:
        chosen = self.front_.decisions[index].astype(bool)
        thresholds = self.front_.extras["thresholds"]
        members, weights = pool.subset(np.flatnonzero(chosen)), np.ones(chosen.sum(), dtype=np.int64)
        costs = members.costs if self.member_costs is None else np.asarray(self.member_costs)[chosen]
        return Committee(
            members,
            weights,
            self._ballot(len(members), None if thresholds is None else thresholds[index]),
            prices=None if costs is None else np.asarray(costs, dtype=np.float64),
            record=member_answers(self.validation_, chosen, self._positive_place()),
        )

    def _how_chosen(self) -> dict[str, Any]:
        pick = self.front_.point(self.point_, str(self.pick))
        return super()._how_chosen() | {"front": self.front_, "pick": pick}

    def problem_of(
        self, votes: Votes | ClassVotes | SoftVotes, limits: SelectionLimits
    ) -> CommitteeProblem | MeanFrontProblem:
        """Return the objectives of committees on these votes, with the prices of the classifiers."""
        given: dict[str, Any] = {
            "costs": self.prices_, "classes": self._labels(self.classes_), "limits": limits,
        }  # fmt: skip
        if isinstance(votes, SoftVotes):
            return mean_front_problem(votes, self._texts(), **given)
        return committee_problem(votes, self._texts(), **given)

    def _chosen_point(self, rows: PruningRows, record: Mapping[str, NDArray[Any]]) -> int:
        if not len(self.front_):
            raise UnmetChoiceError(f"no committee has {self.min_size} members or more. Lower `min_size`.")
        if self.pick == SMALLEST:
            return self._smallest(rows, record)
        if self.repeats is not None and (self.pick == AS_GOOD or not isinstance(self.pick, str)):
            return best_within(self.front_, self.repeats.front_, self.repeats.point_)
        if isinstance(self.pick, str):
            return self.front_.pick(self.pick).index
        if self.pick >= len(self.front_):
            raise UnmetChoiceError(
                f"pick is point {self.pick}, but the front has {len(self.front_):,}, numbered from 0. "
                "Pick one of them, or a rule."
            )
        return self.pick

    def _smallest(self, rows: PruningRows, record: Mapping[str, NDArray[Any]]) -> int:
        """Return the point of the smallest committee whose loss against the best one may be chance.

        Losses are measured on the selection rows. The best committee is that of the first objective of
        answers; of committees with equal sizes the better one is taken.
        """
        front, (is_right, _, worth) = self.front_, self.rights(rows, record)
        sizes = front.decisions.astype(bool).sum(axis=1)
        values = [place for place, one in enumerate(front.objectives) if one.name not in MEMBER_OBJECTIVES]
        best_first = np.argsort(front.points[:, values[0]] if values else sizes, kind="stable")
        best = points_right(front, is_right, int(best_first[0]))
        by_size: list[int] = best_first[np.argsort(sizes[best_first], kind="stable")].tolist()
        return next(
            point
            for point in by_size
            if difference_of(points_right(front, is_right, point), best, worth).kind(cheaper=False)
            is not Kind.WORSE
        )

    def rights(
        self, rows: PruningRows, record: Mapping[str, NDArray[Any]]
    ) -> tuple[IsRight, NDArray[np.integer[Any]], Floats]:
        """Return the function from members to their right rows, and the class and worth of every row.

        The function uses recorded answers. Classes are indices, ``(n_rows,)``; the worth is the gain of a
        right decision on the row, ``(n_rows,)``.
        """
        truth = np.searchsorted(self.classes_, rows.y)
        nowhere = RowsOfTable(NO_TABLE, np.arange(len(truth)))
        answers = record_rows(rows.X, rows.y, None, truth, within=nowhere, **record)
        positive = self._positive_place()
        worth = worth_of_right(soft_metric(self.goal), truth, len(self.classes_), positive)[1]

        def is_right(mask: Mask, threshold: int | None) -> Mask:
            ballot = self._ballot(int(mask.sum()), threshold)
            return np.asarray(member_answers(answers, mask, positive).decided(ballot) == truth)

        return is_right, truth, worth
