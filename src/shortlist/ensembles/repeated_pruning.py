"""Repeated choice for pruning: committee, best single classifier and rules, chosen without each part."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shortlist.arrays import Floats, Labels, Mask
from shortlist.ensembles.committees.ballots import Ballot, Mean, Threshold
from shortlist.ensembles.committees.chosen import Chosen, member_answers
from shortlist.ensembles.committees.committee import SHARES
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.rows import PruningRows
from shortlist.ensembles.goals.weights import worth_of_right
from shortlist.ensembles.measured import ERROR_COST
from shortlist.ensembles.pools.answers import class_answers, class_shares, gives_probabilities
from shortlist.ensembles.pools.judges import asks_elsewhere
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.pools.recorded import answering_all_but, recorded_pool, rows_on_record
from shortlist.ensembles.pruning.mean_problem import soft_metric
from shortlist.ensembles.rules import backfit
from shortlist.ensembles.votes.hard_votes import ClassCodes, class_votes, merge_class_rows
from shortlist.ensembles.votes.soft_votes import Shares
from shortlist.results.repeated_choice import Parts, choose_again
from shortlist.tables.fingerprints import NO_TABLE, RowsOfTable
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import RowNumbers

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.front_pruner import FrontPruner
    from shortlist.ensembles.estimators.rule_pruners import RulePruner

NO_CLASS = -1
"""Index that stands for the class of a row without an answer."""


class PoolAnswers(NamedTuple):
    """Answers of the whole pool on the selection rows."""

    codes: ClassCodes
    """Index of the class that each classifier answers, ``(n_rows, n_classifiers)``."""
    shares: Shares | None
    """Probabilities in parts of 2^15 - 1, ``(n_rows, n_classifiers, n_classes)``; None unless means
    decide.
    """
    truth: NDArray[np.integer[Any]]
    """Index of the true class of every row, ``(n_rows,)``."""

    @property
    def right(self) -> Mask:
        """Mask of the right answers, ``(n_rows, n_classifiers)``."""
        return np.asarray(self.codes == self.truth[:, None])


def pool_answers(chosen: Chosen, rows: PruningRows) -> PoolAnswers:
    """Return the answers of the pool from the record of a choice.

    Answers that are not recorded are asked for.
    """
    pool, record = rows.pool, chosen.record
    truth = np.searchsorted(pool.classes, rows.y)
    shares = record.shares
    if shares is None and chosen.committee.ballot.by_mean:
        shares = rows.answers(class_shares)
    everybody = np.ones(len(pool), dtype=bool)
    codes = member_answers(record, everybody, chosen.positive_place).codes
    if codes is None and shares is not None and not asks_elsewhere(pool):
        codes = shares.argmax(axis=2).astype(np.uint8)
    return PoolAnswers(rows.answers(class_answers) if codes is None else codes, shares, truth)


def best_alone(chosen: Chosen, answers: PoolAnswers, costs: Floats | None) -> int:
    """Return the index of the classifier with the best value of the objective, the first of equals.

    Only classifiers within the committee's limit on cost are compared, unless no classifier is within it.

    `answers`: answers on the rows to choose by. `costs`: prices of the classifiers.
    """
    values = np.round(objective_of(chosen, answers.truth)[1] @ answers.right, 9)
    most = chosen.terms.max_cost
    within = np.ones(len(values), dtype=bool) if costs is None or most is None else costs <= most
    return int(np.where(within | ~within.any(), values, -np.inf).argmax())


def objective_of(chosen: Chosen, truth: NDArray[np.integer[Any]]) -> tuple[str, Floats]:
    """Return the objective that compares rules, and the gain of a right answer on each row, ``(n_rows,)``.

    If errors have costs, the gain of a right answer is the cost of a wrong answer on the row. For a front
    with recall and specificity as objectives, rules are compared by the mean of recall and specificity.
    """
    goal, front = soft_metric(chosen.terms.goal), chosen.front
    if front is not None and {"recall", "specificity"} <= {*front.names}:
        goal = "balanced-accuracy"
    name, worth = worth_of_right(goal, truth, len(chosen.classes_), chosen.positive_place)
    return (name if chosen.error_costs_ is None else ERROR_COST), worth


def ballot_of(chosen: Chosen, n_members: int) -> Ballot:
    """Return a ballot for `n_members` classifiers by the rule of the committee, without calibration."""
    ballot = chosen.committee.ballot
    if ballot.threshold is not None:
        return Threshold(n_members // 2, n_members, chosen.positive_place or 0)
    return Mean(chosen.gains) if ballot.by_mean else ballot


def decided_by(ballot: Ballot, answers: PoolAnswers, members: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the index of the class that some classifiers decide, ``(n_rows,)``; -1 without an answer."""
    own = answers.codes[:, members]
    heard = (own < ballot.n_classes).any(axis=1)
    shares = answers.shares if ballot.by_mean else None
    return np.where(heard, ballot.decided(own if shares is None else shares[:, members]), NO_CLASS)


def repeat_pruning(
    pruner: "ExactPruner | RulePruner",
    rows: PruningRows,
    answers: PoolAnswers,
    parts: Parts,
    *,
    costs: Floats | None,
) -> dict[str, NDArray[Any]]:
    """Return the decisions and calls of every rule on each part of the rows, chosen on the other rows.

    `pruner`: fitted on all rows; for each part it is fitted again on the rows outside the part, by recorded
    answers, without proof. `parts`: part of each row, ``(n_rows,)`` for each partition. `costs`: prices of
    the classifiers. Returns, for each rule, the index of the decided class of each measured row,
    ``(n_measured,)``; -1 without an answer. If members are asked one after the other, the key ``calls`` has
    the number of members asked about each row, and ``spent`` the price of asking them.
    """
    judged = asks_elsewhere(rows.pool)
    pool = rows.pool if judged else recorded_pool(rows.pool, answers.codes, answers.shares)
    X = rows.X if judged else rows_on_record(len(rows.y))
    everybody = np.arange(len(pool))

    def answer(kept: RowNumbers, held: RowNumbers) -> Mapping[str, NDArray[Any]]:
        again = _fitted_again(pruner, pool, X, rows.y, kept)
        part, own = again.chosen_, _some(answers, held)
        chose = _some(answers, kept)
        alone = best_alone(part, chose, costs)
        early = again.predict_early(take_rows(X, held)) if again.selection_.sum() > 1 else None
        calls = np.ones(len(held)) if early is None else early.calls
        price = 0.0 if costs is None else math.fsum(costs[again.selection_])
        spent = np.full(len(held), price) if early is None or early.costs is None else early.costs
        found = {
            "pruned": part.committee.decided(take_rows(X, held)),
            "best_single": decided_by(ballot_of(part, 1), own, everybody[[alone]]),
            "full": decided_by(ballot_of(part, len(pool)), own, everybody),
            "calls": np.asarray(calls, dtype=np.float64),
            "spent": np.asarray(spent, dtype=np.float64),
        }
        members = backfitted(chose, len(pool.classes))
        if members is not None:
            votes = ballot_of(part, len(members))
            found["backfitting"] = decided_by(votes, own, members)
        return found

    return choose_again(parts, answer)


def _some(answers: PoolAnswers, rows: RowNumbers) -> PoolAnswers:
    shares = None if answers.shares is None else answers.shares[rows]
    return PoolAnswers(answers.codes[rows], shares, answers.truth[rows])


NODES = 20
"""Number of nodes of branch and bound in each part; in nearly all parts this many find the best mean
(decision 134).
"""

MOST_BACKFITTED = 10_000_000
"""Largest product of rows and classifiers for which backfitting is repeated; above it, backfitting takes
longer than the committee.
"""


def is_front(pruner: Any) -> "TypeGuard[FrontPruner]":
    """Whether a pruner is a FrontPruner, found without importing its module, which takes long to load."""
    return hasattr(pruner, "cases")


def _fitted_again(pruner: Any, pool: Pool, X: Any, y: Labels, kept: RowNumbers) -> Any:
    """Return the pruner fitted on the kept rows, by search alone.

    If the kept rows lack a class of the pool, a row of this class is added; it is in no fold and chooses no
    member.
    """
    lacking = np.setdiff1d(pool.classes, y[kept])
    given = take_rows(X, np.concatenate([kept, np.zeros(len(lacking), dtype=np.intp)]))
    again = clone(pruner)
    again.set_params(pool=answering_all_but(pool, len(kept), len(lacking)), n_jobs=None)
    if "probabilities" in again.get_params() and not gives_probabilities(pool):
        again.set_params(probabilities=SHARES)  # scores, which decide nothing where votes do
    if is_front(pruner):
        again.repeats = pruner
    elif isinstance(again, ExactPruner):
        again.set_params(node_limit=min(NODES, again.node_limit or NODES), refit=False)
        again.is_repeated = True
    nowhere = RowsOfTable(NO_TABLE, np.arange(len(given)))
    return again.fit(given, np.concatenate([y[kept], lacking]), within=nowhere)


def backfitted(answers: PoolAnswers, n_classes: int) -> NDArray[np.intp] | None:
    """Return the indices of the members that backfitting chooses.

    None if backfitting would take too long, or if there are fewer than three classifiers.
    """
    if answers.codes.size > MOST_BACKFITTED or answers.codes.shape[1] < 3:
        return None
    votes = class_votes(answers.codes, answers.truth, n_classes=n_classes)
    return np.asarray(backfit(merge_class_rows(votes)).members, dtype=np.intp)
