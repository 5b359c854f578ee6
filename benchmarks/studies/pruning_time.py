"""Values of pruning after 1, 3 and 10 s beside backfitting, and of a walk against CP-SAT with few
classifiers.

python -m benchmarks pruning-anytime pruning-few --data FOLDER
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data.uci import read_uci, validation_votes
from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import best_threshold, named_weights
from shortlist.ensembles.pools.answers import positive_votes
from shortlist.ensembles.proofs.subset_walk import walk_subsets
from shortlist.ensembles.pruning import engines
from shortlist.ensembles.pruning.engines import EngineSettings
from shortlist.ensembles.pruning.problems import ThresholdProblem
from shortlist.ensembles.pruning.search_starts import BACKFITTING, rule_starts
from shortlist.ensembles.pruning.tabu_search import search_selection
from shortlist.ensembles.pruning.vote_steps import VoteSteps, prove
from shortlist.ensembles.votes.hard_votes import Votes, merge_rows
from shortlist.runs.budget import Budget, processor_seconds
from shortlist_papers.pruning import N_FOLDS
from shortlist_papers.pruning_comparison import fold_pool, stratified_folds

DIVERSITY = {"F1": "none", "F2": "average", "F3": "each"}
FOLDS = {"default_credit_card_clients": (0, 1, 2), "bank_additional_full": (0,)}
FEW = (
    ("australian_credit", 30),
    ("pima_diabetes", 30),
    *((name, n) for name in ("diabetic_retinopathy_debrecen", "qsar_biodegradation", "spambase", "musk_v1") for n in (30, 36)),
)  # fmt: skip
"""Tables and classifiers: a pool of 30, or every third or so of a pool of 100."""


def anytime(folder: Path, limits_s: tuple[float, ...] = (1.0, 3.0, 10.0)) -> Iterator[dict[str, Any]]:
    """Prune pools as `reproduce pruning` makes them, and Default's hold-out, with one thread under each limit."""
    for name, folds in FOLDS.items():
        for fold in folds:
            yield from over_time({"data": name, "fold": fold}, fold_votes(folder, name, fold), limits_s)
    name = "default_credit_card_clients"
    votes = validation_votes(*read_uci(folder, name), n_jobs=1)
    yield from over_time({"data": name, "fold": "holdout"}, votes, limits_s)


def fold_votes(folder: Path, name: str, number: int) -> Votes:
    """Return the votes of 100 classifiers on the pruning rows of a fold."""
    X, y = read_uci(folder, name)
    folds = stratified_folds(name, X, y, n_folds=N_FOLDS, n_repeats=1, n_classifiers=100, seed=0)
    fold = next(one for one in folds if one.number == number)
    pool, rows = fold_pool(fold)
    return merge_rows(positive_votes(pool, rows[:, None], 1), y[rows])


def over_time(facts: dict[str, Any], votes: Votes, limits_s: tuple[float, ...]) -> Iterator[dict[str, Any]]:
    """Yield a row for each objective, setting and limit; `rule` is the best that backfitting has within the limits."""
    for objective in ("accuracy", "balanced-accuracy"):
        for setting, diversity in DIVERSITY.items():
            weights, limits = named_weights(objective, votes), _limits(votes, diversity)
            starts = rule_starts(votes, weights, limits, Budget(), rules=[BACKFITTING])
            worths = [weights.value(best_threshold(votes, weights, mask)[1]) for _, mask in starts]
            for limit_s in limits_s:
                begun = processor_seconds()
                result = prove(ThresholdProblem(votes, weights, limits), Budget(limit_s))
                yield {
                    "case": "pruning-anytime", **facts, "classifiers": votes.n_classifiers, "objective": objective,
                    "setting": setting, "limit_s": limit_s, "value": result.value, "bound": result.bound,
                    "members": int(result.mask.sum()), "found_by": result.found_by, "why": result.why,
                    "processor_s": round(processor_seconds() - begun, 2), "backfitting": max(worths, default=None),
                }  # fmt: skip


def few(folder: Path, most_nodes: int = 30_000_000) -> Iterator[dict[str, Any]]:
    """Time a walk over all selections and CP-SAT in processor seconds, each from what 20,000 moves find."""
    for name, n in FEW:
        pool = validation_votes(*read_uci(folder, name), n_classifiers=30 if n == 30 and name in dict(FEW[:2]) else 100, n_jobs=1)  # fmt: skip
        chosen = np.arange(n) * pool.n_classifiers // n
        votes = merge_rows(
            np.repeat(pool.votes[:, chosen], pool.counts, axis=0), np.repeat(pool.labels, pool.counts)
        )
        for objective, diversity in (
            ("accuracy", "none"),
            ("balanced-accuracy", "none"),
            ("accuracy", "each"),
        ):
            yield {
                "case": "pruning-few", "data": name, "pool": pool.n_classifiers, "classifiers": n,
                "objective": objective, "diversity": diversity, **_raced(votes, objective, diversity, most_nodes),
            }  # fmt: skip


def _raced(votes: Votes, objective: str, diversity: str, most_nodes: int) -> dict[str, Any]:
    weights, limits = named_weights(objective, votes), _limits(votes, diversity)
    problem = ThresholdProblem(votes, weights, limits)
    found = search_selection(votes, weights, limits, max_steps=20_000)
    assert found is not None, "the best alone keeps these limits"
    rows, begun = problem.rows, processor_seconds()
    walked = walk_subsets(
        rows, Budget(), above=(found.total - rows.offset) // rows.step, max_nodes=most_nodes
    )
    row: dict[str, Any] = {
        "rows": rows.n_rows, "walk_s": round(processor_seconds() - begun, 2), "walk_nodes": walked.nodes,
        "walk_ended": walked.complete,
    }  # fmt: skip
    for nodes in (500, 2000):
        turns = tuple(
            turn for turn in engines.VOTES if turn.engine in {engines.CONFLICTS, engines.SHORT_CP_SAT}
        )
        settings = EngineSettings(turns=turns, short_nodes=nodes)
        steps, begun = VoteSteps(problem, Budget(), settings), processor_seconds()
        steps.best.offer(found.mask)
        steps.run_all()
        row |= {
            f"cpsat_{nodes}_s": round(processor_seconds() - begun, 2),
            f"cpsat_{nodes}_proved": steps.best.proved,
        }
    return row


def _limits(votes: Votes, diversity: str) -> SelectionLimits:
    return selection_limits(votes.n_classifiers, diversity=diversity_limits(diversity, votes))
