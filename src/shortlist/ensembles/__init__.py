"""Which classifiers vote: pools, exact pruning, rules, evolution, and estimators that ask only the members."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist.ensembles.answers import class_answers
    from shortlist.ensembles.backfitting import Backfitted, backfit
    from shortlist.ensembles.comparison import compare_methods, pruning_methods, write_results
    from shortlist.ensembles.diversity import failure_credit, failure_patterns, pairwise_failure_crediting
    from shortlist.ensembles.estimators import ExactPruner
    from shortlist.ensembles.evolution import Evolved, Generation, evolve, row_weights
    from shortlist.ensembles.exact import prune_exactly
    from shortlist.ensembles.incumbent import EnsembleSelection
    from shortlist.ensembles.margins import (
        compare_histograms,
        grow_by_margins,
        select_by_margins,
        vote_margins,
    )
    from shortlist.ensembles.objectives import prune_for
    from shortlist.ensembles.orderings import RULES, Ordering, order_classifiers
    from shortlist.ensembles.plurality import ClassVotes, class_votes, merge_class_rows
    from shortlist.ensembles.pool import Pool, as_pool, load_pool, make_pool, positive_probabilities
    from shortlist.ensembles.ranks import RankTest, rank_folds, rank_methods, results_table
    from shortlist.ensembles.rule_estimators import (
        BackfittingPruner,
        EvolutionaryEnsembleClassifier,
        MarginPruner,
        OrderedPruner,
    )
    from shortlist.ensembles.spaces import SPACES, SearchSpace
    from shortlist.ensembles.verification import Verification, verify
    from shortlist.ensembles.votes import Confusion, Votes, merge_rows, round_votes

_MODULES = {
    "answers": ["class_answers"],
    "backfitting": ["Backfitted", "backfit"],
    "comparison": [
        "compare_methods", "pruning_methods", "write_results",
    ],
    "diversity": ["failure_credit", "failure_patterns", "pairwise_failure_crediting"],
    "estimators": ["ExactPruner"],
    "evolution": ["Evolved", "Generation", "evolve", "row_weights"],
    "exact": ["prune_exactly"],
    "incumbent": ["EnsembleSelection"],
    "margins": ["compare_histograms", "grow_by_margins", "select_by_margins", "vote_margins"],
    "objectives": ["prune_for"],
    "orderings": ["RULES", "Ordering", "order_classifiers"],
    "plurality": ["ClassVotes", "class_votes", "merge_class_rows"],
    "pool": ["Pool", "as_pool", "load_pool", "make_pool", "positive_probabilities"],
    "ranks": ["RankTest", "rank_folds", "rank_methods", "results_table"],
    "rule_estimators": [
        "BackfittingPruner", "EvolutionaryEnsembleClassifier", "MarginPruner", "OrderedPruner",
    ],
    "spaces": ["SPACES", "SearchSpace"],
    "verification": ["Verification", "verify"],
    "votes": ["Confusion", "Votes", "merge_rows", "round_votes"],
}  # fmt: skip

__all__ = [
    "RULES",
    "SPACES",
    "Backfitted",
    "BackfittingPruner",
    "ClassVotes",
    "Confusion",
    "EnsembleSelection",
    "EvolutionaryEnsembleClassifier",
    "Evolved",
    "ExactPruner",
    "Generation",
    "MarginPruner",
    "OrderedPruner",
    "Ordering",
    "Pool",
    "RankTest",
    "SearchSpace",
    "Verification",
    "Votes",
    "as_pool",
    "backfit",
    "class_answers",
    "class_votes",
    "compare_histograms",
    "compare_methods",
    "evolve",
    "failure_credit",
    "failure_patterns",
    "grow_by_margins",
    "load_pool",
    "make_pool",
    "merge_class_rows",
    "merge_rows",
    "order_classifiers",
    "pairwise_failure_crediting",
    "positive_probabilities",
    "prune_exactly",
    "prune_for",
    "pruning_methods",
    "rank_folds",
    "rank_methods",
    "results_table",
    "round_votes",
    "row_weights",
    "select_by_margins",
    "verify",
    "vote_margins",
    "write_results",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"shortlist.ensembles.{module}"), name)
    raise AttributeError(f"module 'shortlist.ensembles' has no attribute {name!r}")
