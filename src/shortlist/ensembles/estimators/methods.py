"""The pruners by the names that commands and comparisons give them."""

from collections.abc import Sequence
from typing import Any

from shortlist._words import any_of, did_you_mean
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.greedy_pruner import GreedyMeansPruner
from shortlist.ensembles.estimators.rule_pruners import BackfittingPruner, MarginPruner, OrderedPruner
from shortlist.ensembles.rules.orderings import RULES
from shortlist.errors import BadInputError


def pruning_methods(names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return unfitted pruners by name; all of them by default.

    The names are ``exact``, ``margin``, ``backfitting``, ``greedy-means`` and those of
    :data:`shortlist.ensembles.rules.orderings.RULES`.

    Raises
    ------
    BadInputError
        If a name is unknown.
    """
    known = {
        "exact": ExactPruner(),
        "margin": MarginPruner(),
        "backfitting": BackfittingPruner(),
        "greedy-means": GreedyMeansPruner(),
        **{rule: OrderedPruner(rule=rule) for rule in RULES},
    }
    wanted = list(known) if names is None else list(names)
    for name in wanted:
        if name not in known:
            raise BadInputError(
                "method", f"must be one of {any_of(sorted(known))}", repr(name), did_you_mean(name, known)
            )
    return {name: known[name] for name in wanted}
