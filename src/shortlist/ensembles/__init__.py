"""Which classifiers vote: pools, exact pruning, and estimators that ask only the members."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist.ensembles.diversity import failure_credit, failure_patterns, pairwise_failure_crediting
    from shortlist.ensembles.estimators import ExactPruner
    from shortlist.ensembles.exact import EnsembleSelection, prune_exactly
    from shortlist.ensembles.pool import Pool, as_pool, load_pool, make_pool, positive_probabilities
    from shortlist.ensembles.votes import Confusion, Votes, merge_rows, round_votes

_MODULES = {
    "diversity": ["failure_credit", "failure_patterns", "pairwise_failure_crediting"],
    "estimators": ["ExactPruner"],
    "exact": ["EnsembleSelection", "prune_exactly"],
    "pool": ["Pool", "as_pool", "load_pool", "make_pool", "positive_probabilities"],
    "votes": ["Confusion", "Votes", "merge_rows", "round_votes"],
}

__all__ = [
    "Confusion",
    "EnsembleSelection",
    "ExactPruner",
    "Pool",
    "Votes",
    "as_pool",
    "failure_credit",
    "failure_patterns",
    "load_pool",
    "make_pool",
    "merge_rows",
    "pairwise_failure_crediting",
    "positive_probabilities",
    "prune_exactly",
    "round_votes",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"shortlist.ensembles.{module}"), name)
    raise AttributeError(f"module 'shortlist.ensembles' has no attribute {name!r}")
