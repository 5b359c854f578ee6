"""Pruning rules that order a pool: the size is the number of classifiers, on 16 rows each."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.registry import Case, register
from shortlist.ensembles.rules import backfit
from shortlist.ensembles.votes.hard_votes import ClassVotes, class_votes
from shortlist_papers.rules.orderings import RULES, order_classifiers


def made_votes(n_classifiers: int, n_rows: int) -> ClassVotes:
    """Make votes of two classes that are right on hard rows less often than on easy ones."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n_rows)
    ease = rng.beta(4, 1.5, (n_rows, 1)).astype(np.float32)
    right = rng.random((n_rows, n_classifiers), dtype=np.float32) < ease
    codes = np.where(right, labels[:, None], 1 - labels[:, None]).astype(np.uint8)
    votes = class_votes(codes, labels.astype(np.uint8))
    _ = votes.columns
    return votes


def rules() -> dict[str, Callable[[ClassVotes], Any]]:
    """Return every rule by name, as a call on votes."""
    ordered = {rule: partial(order_classifiers, rule=rule) for rule in RULES}
    return {**ordered, "backfitting": backfit}


def build(size: int, rule: str) -> Callable[[], Any]:
    """Make votes, and return the call that orders them."""
    return partial(rules()[rule], made_votes(size, 16 * size))


for name in ("reduced-error", "uwa", "kappa", "margin"):
    register(Case(f"ordering-{name}", partial(build, rule=name), sizes=(20, 1000)))
