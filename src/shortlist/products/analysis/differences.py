"""How two feature models differ: which products one has and the other has not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver, SearchStoppedError
from shortlist.pickles import saved_from
from shortlist.products.encodings.clauses import traced_clauses
from shortlist.products.feature_models.model import FeatureModel
from shortlist.runs.budget import Budget


@saved_from("shortlist.products")
class Edit(StrEnum):
    """What an edit does to the products."""

    REFACTORING = "refactoring"
    SPECIALISATION = "specialisation"
    GENERALISATION = "generalisation"
    ARBITRARY = "arbitrary edit"


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class ModelDifference:
    """How a second model differs from a first one."""

    names: tuple[str, ...]
    """The features of both: those of the first, then those that only the second has."""
    removed: tuple[str, ...]
    added: tuple[str, ...]
    """Features that only the first has, and only the second."""
    lost: Mask | None
    gained: Mask | None
    """A product that only the first has, and one that only the second has, ``(n_names,)``; None if there is
    none, or a limit ended the search for it.
    """
    unsure: tuple[str, ...] = ()
    """Which of ``lost`` and ``gained`` a limit left open."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What the step from the first to the second may do to the products; one edit where all is known."""
        losses = (False, True) if "lost" in self.unsure else (self.lost is not None,)
        gains = (False, True) if "gained" in self.unsure else (self.gained is not None,)
        return tuple(_EDITS[loses, wins] for loses in losses for wins in gains)

    @property
    def edit(self) -> Edit | None:
        """What the step from the first to the second does to the products; None where that is not known."""
        return self.edits[0] if len(self.edits) == 1 else None


_EDITS = {
    (False, False): Edit.REFACTORING,
    (False, True): Edit.GENERALISATION,
    (True, False): Edit.SPECIALISATION,
    (True, True): Edit.ARBITRARY,
}
"""What an edit is called that loses products or not, and gains some or not."""


def difference(first: FeatureModel, second: FeatureModel, *, budget: Budget | None = None) -> ModelDifference:
    """Compare the products of two models, whose features are matched by name.

    A feature that one of them does not have counts as not selected there, as in the reasoning about edits of
    :cite:t:`Thum2009`. A product is looked for that one model allows and a rule of the other forbids, clause
    by clause. A budget that ends leaves open what it had not found; half of it is for what was lost.

    Raises
    ------
    BadInputError
        If a linear constraint needs too many clauses.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_group, make_model
    >>> names = ["Shop", "Card", "Cash"]
    >>> either = make_model(names, root=0, groups=[make_group(0, [1, 2], "or")])
    >>> one = make_model(names, root=0, groups=[make_group(0, [1, 2], "alternative")])
    >>> found = difference(either, one)
    >>> found.edit.value, found.lost.tolist()
    ('specialisation', [True, True, True])
    """
    budget = budget or Budget()
    before, after = set(first.labels), set(second.labels)
    removed = tuple(name for name in first.labels if name not in after)
    added = tuple(name for name in second.labels if name not in before)
    names = (*first.labels, *added)
    found: dict[str, Mask | None] = {"lost": None, "gained": None}
    unsure = []
    for kind, one, other, part in (("lost", first, second, 0.5), ("gained", second, first, 1.0)):
        try:
            found[kind] = _only_in(one, other, names, budget.share(part))
        except SearchStoppedError:
            unsure.append(kind)
    return ModelDifference(names, removed, added, found["lost"], found["gained"], tuple(unsure))


def _only_in(one: FeatureModel, other: FeatureModel, names: tuple[str, ...], budget: Budget) -> Mask | None:
    """Return a product of one model, over all names, that the other does not have."""
    traced = traced_clauses(other)
    mine = _placed(traced_clauses(one).clauses, one, names, len(names))
    theirs = _placed(traced.clauses, other, names, mine.n_variables)
    definitions = [clause for clause, rule in zip(theirs, traced.rules.tolist(), strict=True) if rule < 0]
    rules = [clause for clause, rule in zip(theirs, traced.rules.tolist(), strict=True) if rule >= 0]
    absent = [(-v,) for v in _absent(one, names)]
    model = first_breach(
        joined(theirs.n_variables, mine, absent, definitions),
        [*rules, *((-v,) for v in _absent(other, names))],
        budget=budget,
    )
    return None if model is None else model[: len(names)].copy()


def _absent(model: FeatureModel, names: tuple[str, ...]) -> list[int]:
    own = set(model.labels)
    return [place for place, name in enumerate(names, 1) if name not in own]


def _placed(clauses: Clauses, model: FeatureModel, names: tuple[str, ...], n_taken: int) -> Clauses:
    """Return clauses with features numbered as in `names`, and auxiliary variables behind `n_taken`."""
    places = {name: place for place, name in enumerate(names, 1)}
    n_auxiliary = clauses.n_variables - model.n_features
    numbers = np.zeros(clauses.n_variables + 1, dtype=np.int64)
    numbers[1 : model.n_features + 1] = [places[name] for name in model.labels]
    numbers[model.n_features + 1 :] = n_taken + 1 + np.arange(n_auxiliary)
    return renumbered(clauses, numbers, n_taken + n_auxiliary)


def first_breach(
    clauses: Clauses, claims: Iterable[Sequence[int]], *, known: Clauses | None = None, budget: Budget | None
) -> Mask | None:
    """Return a model of clauses that breaks one of the claims, or None where they imply all of them.

    `claims`: clauses over the same variables. `known`: claims among these are passed over, as they are among
    `clauses`. Default: `clauses`. `budget`: ends the search by
    :class:`~shortlist.logic.sat.SearchStoppedError`.

    >>> chain = Clauses.from_clauses(3, [(-1, 2), (-2, 3)])
    >>> first_breach(chain, [(-1, 3)], budget=None) is None
    True
    >>> first_breach(chain, [(1, 2, -3)], budget=None).tolist()
    [False, False, True]
    """
    given = set(map(frozenset, clauses if known is None else known))
    solver = SatSolver(clauses, budget)
    for claim in claims:
        if frozenset(claim) in given:
            continue
        model = solver.solve([-literal for literal in dict.fromkeys(claim)]).model
        if model is not None:
            return model
    return None


def renumbered(clauses: Clauses, numbers: NDArray[np.int64], n_variables: int) -> Clauses:
    """Return clauses in which variable v is called ``numbers[v]``, of `n_variables`; entry 0 is not used."""
    literals = np.sign(clauses.literals) * numbers[np.abs(clauses.literals)]
    return Clauses(n_variables, literals.astype(np.int32), clauses.offsets)


def joined(n_variables: int, *parts: Iterable[Sequence[int]]) -> Clauses:
    """Return all clauses of several parts, over `n_variables`."""
    return Clauses.from_clauses(n_variables, (clause for part in parts for clause in part))
