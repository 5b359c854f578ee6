"""Inequalities of :cite:t:`Xue2018` for the relations of features, compared with the relations' formulas."""

import itertools
from collections.abc import Callable

from shortlist.runs import Budget
from shortlist_papers.paper import Rows

RELATIONS = ("optional", "mandatory", "or", "alternative", "requires", "excludes")
"""Relations of Lemmas 3.1 to 3.4 and of the last lemma; "requires" belongs to Lemma 3.1."""


def lemma_holds(relation: str, n_children: int) -> bool:
    """Return whether the inequalities of a relation have the same selections as its formula, by trying all.

    Lemma 3.4 limits a sum to at most 1; with the sum of the or relation it equals the parent itself.
    """
    formulas: dict[str, Callable[[bool, tuple[bool, ...]], bool]] = {
        "optional": lambda parent, own: all(not one or parent for one in own),
        "mandatory": lambda parent, own: all(one == parent for one in own),
        "or": lambda parent, own: any(own) == parent,
        "alternative": lambda parent, own: (sum(own) == 1) == parent and (parent or not any(own)),
        "requires": lambda parent, own: all(not one or parent for one in own),
        "excludes": lambda parent, own: all(not (one and parent) for one in own),
    }
    inequalities: dict[str, Callable[[int, tuple[int, ...]], bool]] = {
        "optional": lambda parent, own: all(parent - one >= 0 for one in own),
        "mandatory": lambda parent, own: all(parent - one == 0 for one in own),
        "or": lambda parent, own: all(one <= parent for one in own) and sum(own) >= parent,
        "alternative": lambda parent, own: all(one <= parent for one in own) and sum(own) == parent,
        "requires": lambda parent, own: all(parent - one >= 0 for one in own),
        "excludes": lambda parent, own: all(parent + one <= 1 for one in own),
    }
    return all(
        formulas[relation](bool(parent), tuple(map(bool, own))) == inequalities[relation](parent, own)
        for parent, *rest in itertools.product((0, 1), repeat=n_children + 1)
        for own in [tuple(rest)]
    )


def measure_lemmas(most_children: int, *, budget: Budget) -> Rows:
    """Return a row for each relation, from all selections of a parent with up to `most_children` children."""
    del budget
    return [
        {
            "kind": "lemma", "method": relation, "level": most_children,
            "same": all(lemma_holds(relation, n) for n in range(1, most_children + 1)),
        }
        for relation in RELATIONS
    ]  # fmt: skip
