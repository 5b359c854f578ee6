"""Pruning by votes and by mean probabilities: the engines for each, and what they are asked."""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.data.uci import read_uci, validation_votes
from benchmarks.regret.engines import DEFAULT, NONE, Answer, Engine, Instance, Kind, solvers
from shortlist.arrays import Mask
from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import Weights, best_threshold, named_weights
from shortlist.ensembles.pools.answers import class_probabilities
from shortlist.ensembles.pools.fitting import make_pool
from shortlist.ensembles.proofs.incumbent import Incumbent
from shortlist.ensembles.pruning.mean_problem import MeanGoal, MeanProblem, mean_goal
from shortlist.ensembles.pruning.mean_pruning import first_selections, prune_means
from shortlist.ensembles.pruning.pruning import prune_exactly
from shortlist.ensembles.pruning.search_starts import rule_starts
from shortlist.ensembles.pruning.tabu_search import search_selection
from shortlist.ensembles.votes.hard_votes import Votes, merge_rows
from shortlist.ensembles.votes.soft_votes import SoftVotes, soft_votes
from shortlist.milp import SOLVERS
from shortlist.results.objective import Sense
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget


class VoteQuestion(NamedTuple):
    """Task: find the classifiers that vote best."""

    votes: Votes
    weights: Weights
    limits: SelectionLimits


class MeanQuestion(NamedTuple):
    """Task: find the classifiers that have the best mean."""

    votes: SoftVotes
    goal: MeanGoal
    limits: SelectionLimits


def vote_question(votes: Votes, setting: str = "none", **sizes: Any) -> VoteQuestion:
    """Ask for accuracy with a setting of the diversity limits."""
    limits = selection_limits(votes.n_classifiers, diversity=diversity_limits(setting, votes), **sizes)
    return VoteQuestion(votes, named_weights("accuracy", votes), limits)


def _real(folder: Path, name: str, n_classifiers: int, setting: str) -> VoteQuestion:
    votes = validation_votes(*read_uci(folder, name), n_classifiers=n_classifiers, n_jobs=1)
    return vote_question(votes, setting)


def made_votes(_folder: Path, n_rows: int = 8100, n_classifiers: int = 100) -> VoteQuestion:
    """Ask about a large table: linear classifiers near the truth in four dimensions, one label in ten turned."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    labels = ((X[:, 0] > 0) ^ (rng.random(n_rows) < 0.1)).astype(np.uint8)
    directions = np.eye(4)[:, [0]] + 0.7 * rng.normal(size=(4, n_classifiers))
    votes = (X @ directions > 0.5 * rng.normal(size=n_classifiers)).astype(np.uint8)
    return vote_question(merge_rows(votes, labels))


def tiny_votes(rng: np.random.Generator) -> VoteQuestion:
    """Ask about a dozen rows and up to seven classifiers."""
    n = int(rng.integers(2, 8))
    votes = merge_rows(rng.integers(0, 2, (12, n)).astype(np.uint8), rng.integers(0, 2, 12).astype(np.uint8))
    return vote_question(votes)


def by_engine(question: VoteQuestion, budget: Budget, *, solver: str = "auto") -> Answer:
    """Prune as users do, or by one solver on the plain program."""
    found = prune_exactly(*question, budget, solver=solver)
    if found.value is None or found.bound is None:
        return NONE
    complete = found.status is Status.OPTIMAL
    return Answer(found.value, complete, found.bound, round(found.value, 9) if complete else None)


def by_rules(question: VoteQuestion, budget: Budget) -> Answer:
    """Take the best ensemble on the way of the rules that take about a second."""
    votes, weights, limits = question
    found = [_worth(question, mask) for _, mask in rule_starts(votes, weights, limits, budget)]
    return Answer(max(found), complete=False) if found else NONE


def by_tabu(question: VoteQuestion, budget: Budget) -> Answer:
    """Search without bounds, from the rules on, for half of the time."""
    votes, weights, limits = question
    found = search_selection(votes, weights, limits, budget.until(0.5))
    return NONE if found is None else Answer(_worth(question, found.mask), complete=False)


def _worth(question: VoteQuestion, mask: Mask) -> float:
    return question.weights.value(best_threshold(question.votes, question.weights, mask)[1])


VOTE_ENGINES: dict[str, Engine] = {
    DEFAULT: by_engine,
    "rules": by_rules,
    "tabu search": by_tabu,
    **{solver: partial(by_engine, solver=solver) for solver in solvers() if solver in SOLVERS},
}

VOTES = Kind(
    "votes",
    (
        Instance("australian_credit, 30 classifiers", partial(_real, name="australian_credit", n_classifiers=30, setting="none")),
        Instance("pima_diabetes, 30 classifiers", partial(_real, name="pima_diabetes", n_classifiers=30, setting="none")),
        Instance("wdbc, 100 classifiers", partial(_real, name="wdbc", n_classifiers=100, setting="none")),
        Instance("parkinsons, 100, average diversity", partial(_real, name="parkinsons", n_classifiers=100, setting="average")),
        Instance("qsar_biodegradation, 100", partial(_real, name="qsar_biodegradation", n_classifiers=100, setting="none")),
        Instance("debrecen, 60", partial(_real, name="diabetic_retinopathy_debrecen", n_classifiers=60, setting="none")),
        Instance("made, 8,100 rows, 100", made_votes),
    ),
    VOTE_ENGINES,
    tiny_votes,
)  # fmt: skip


def mean_question(probabilities: np.ndarray, labels: np.ndarray, objective: str) -> MeanQuestion:
    """Ask for an objective of mean probabilities."""
    votes = soft_votes(probabilities, labels)
    return MeanQuestion(votes, mean_goal(objective, votes), selection_limits(votes.n_classifiers))


def _real_means(folder: Path, name: str, n_classifiers: int, objective: str) -> MeanQuestion:
    X, y = read_uci(folder, name)
    fit, held = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)
    pool = make_pool(X.iloc[fit], y[fit], n_classifiers=n_classifiers, random_state=0, n_jobs=1)
    positive = class_probabilities(pool, X.iloc[held])[:, :, 1]
    return mean_question(np.stack([1 - positive, positive], axis=2), y[held], objective)


def tiny_means(rng: np.random.Generator) -> MeanQuestion:
    """Ask about ten rows and up to six classifiers."""
    positive = rng.integers(0, 9, (10, int(rng.integers(2, 7)))) / 8
    labels, objective = rng.integers(0, 2, 10), str(rng.choice(["log-loss", "brier"]))
    return mean_question(np.stack([1 - positive, positive], axis=2), labels, objective)


def by_mean_engine(question: MeanQuestion, budget: Budget) -> Answer:
    """Branch and bound."""
    found = prune_means(*question, budget)
    if found.value is None or found.bound is None:
        return NONE
    sign = 1 if question.goal.objective.sense is Sense.MAX else -1
    complete = found.status is Status.OPTIMAL
    return Answer(
        sign * found.value, complete, sign * found.bound, round(found.value, 6) if complete else None
    )


def by_mean_rules(question: MeanQuestion, _budget: Budget) -> Answer:
    """Take the best of the best classifier alone, the full ensemble, and the best prefix by joining one by one."""
    problem = MeanProblem(*question)
    best = Incumbent(problem)
    for mask in first_selections(problem):
        best.offer(mask)
    mask = np.zeros(problem.n_classifiers, dtype=bool)
    for _ in range(problem.limits.max_size):
        rated = [(best.offer(joined), place) for place, joined in _each_joined(mask)]
        _, place = max((total, place) for total, place in rated if total is not None)
        mask[place] = True
        if mask.all():
            break
    sign = 1 if question.goal.objective.sense is Sense.MAX else -1
    return Answer(sign * best.selection(limit="", seconds=0.0).value, complete=False)


def _each_joined(mask: np.ndarray) -> list[tuple[int, np.ndarray]]:
    everybody = np.eye(len(mask), dtype=bool)
    return [(int(place), mask | everybody[place]) for place in np.flatnonzero(~mask)]


MEANS = Kind(
    "means",
    (
        Instance("wdbc, 30 classifiers, log-loss", partial(_real_means, name="wdbc", n_classifiers=30, objective="log-loss")),
        Instance("pima_diabetes, 20, brier", partial(_real_means, name="pima_diabetes", n_classifiers=20, objective="brier")),
        Instance("parkinsons, 60, log-loss", partial(_real_means, name="parkinsons", n_classifiers=60, objective="log-loss")),
    ),
    {DEFAULT: by_mean_engine, "rules": by_mean_rules},
    tiny_means,
)  # fmt: skip
