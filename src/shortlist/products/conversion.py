"""Comparison of two feature models; conversion to another format, with a proof of equal products."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist.arrays import Mask
from shortlist.files import Source
from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver, SearchStoppedError
from shortlist.pickles import saved_from
from shortlist.products.clauses import traced_clauses
from shortlist.products.formats import format_of, parse_model, written_model
from shortlist.products.model import FeatureModel
from shortlist.runs.budget import Budget


@saved_from("shortlist.products")
class Edit(StrEnum):
    """Effect of an edit on the set of products."""

    REFACTORING = "refactoring"
    SPECIALISATION = "specialisation"
    GENERALISATION = "generalisation"
    ARBITRARY = "arbitrary edit"


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class ModelDifference:
    """Difference of a second model from a first one."""

    names: tuple[str, ...]
    """Features of both models: all features of the first, then the features that only the second has."""
    removed: tuple[str, ...]
    added: tuple[str, ...]
    """Features that only the first model has; features that only the second has."""
    lost: Mask | None
    gained: Mask | None
    """Product that only the first model allows, and product that only the second model allows, as masks
    ``(n_names,)``. A mask is None if there is no such product, or a limit ended the search.
    """
    unsure: tuple[str, ...] = ()
    """Names of the fields, ``lost`` or ``gained``, that a limit left open."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Possible effects on the products of the step from first to second; just one if all is known."""
        losses = (False, True) if "lost" in self.unsure else (self.lost is not None,)
        gains = (False, True) if "gained" in self.unsure else (self.gained is not None,)
        return tuple(_EDITS[loses, wins] for loses in losses for wins in gains)

    @property
    def edit(self) -> Edit | None:
        """Effect on the products of the step from first to second; None if it is not known."""
        return self.edits[0] if len(self.edits) == 1 else None


_EDITS = {
    (False, False): Edit.REFACTORING,
    (False, True): Edit.GENERALISATION,
    (True, False): Edit.SPECIALISATION,
    (True, True): Edit.ARBITRARY,
}
"""Effect of an edit, by whether it loses products and whether it gains some."""


def difference(first: FeatureModel, second: FeatureModel, *, budget: Budget | None = None) -> ModelDifference:
    """Compare the products of two models; features are matched by name.

    A feature that only one model has counts as not selected in the other, as in the reasoning about edits of
    :cite:t:`Thum2009`. For each clause of one model, a product of the other model that breaks the clause is
    sought. The first half of the budget is for lost products, the rest for gained ones. A search ended by the
    budget leaves its question open.

    Raises
    ------
    BadInputError
        If a linear constraint needs too many clauses.

    Examples
    --------
    >>> from shortlist.products.model import make_group, make_model
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
    """Return a product of one model, over all names, that the other does not allow."""
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
    """Return clauses with features numbered as in `names`, and auxiliary variables after `n_taken`."""
    places = {name: place for place, name in enumerate(names, 1)}
    n_auxiliary = clauses.n_variables - model.n_features
    numbers = np.zeros(clauses.n_variables + 1, dtype=np.int64)
    numbers[1 : model.n_features + 1] = [places[name] for name in model.labels]
    numbers[model.n_features + 1 :] = n_taken + 1 + np.arange(n_auxiliary)
    return renumbered(clauses, numbers, n_taken + n_auxiliary)


def first_breach(
    clauses: Clauses, claims: Iterable[Sequence[int]], *, known: Clauses | None = None, budget: Budget | None
) -> Mask | None:
    """Return a model of clauses that breaks one of the claims; None if the clauses imply all claims.

    `claims`: clauses over the same variables. `known`: clauses that need no check when they are among the
    claims. Default: `clauses`. `budget`: ends the search by
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
    """Return the clauses with variable v renamed to ``numbers[v]``, of `n_variables`; entry 0 is not used."""
    literals = np.sign(clauses.literals) * numbers[np.abs(clauses.literals)]
    return Clauses(n_variables, literals.astype(np.int32), clauses.offsets)


def joined(n_variables: int, *parts: Iterable[Sequence[int]]) -> Clauses:
    """Return all clauses of several parts, over `n_variables`."""
    return Clauses.from_clauses(n_variables, (clause for part in parts for clause in part))


_MOST_NAMED = 4


@saved_from("shortlist.products")
@dataclass(frozen=True)
class Conversion:
    """A feature model in another format."""

    text: str
    """Content of the file."""
    kind: str
    """Format of the text: ``uvl``, ``featureide``, ``sxfm`` or ``dimacs``."""
    proved: bool
    """Whether equal products are proved; False if the budget ended first."""
    notes: tuple[str, ...]
    """Sentences about each part that the format writes in another way or not at all."""


def convert_model(model: FeatureModel, kind: str, *, budget: Budget | None = None) -> Conversion:
    """Write a model in a format, read the text back, and prove that the products are the same.

    Each product of the model belongs to exactly one product of the text, cut to the features, and the
    reverse. The proof is about the text as the reader understands it. So it covers the writer and the reader
    (:func:`~shortlist.products.conversion.first_difference`).

    Parameters
    ----------
    model : FeatureModel
        Model to write.
    kind : {"uvl", "featureide", "sxfm", "dimacs"}
        The format.
    budget : Budget, optional
        Ends the proof.

    Raises
    ------
    BadInputError
        If the format cannot hold the names, or a linear constraint needs too many clauses.
    RuntimeError
        If the products are not the same, which would be a defect of Shortlist.

    Examples
    --------
    >>> from shortlist.products.model import make_group, make_model
    >>> some = make_model(list("ABC"), root=0, groups=[make_group(0, [1, 2], "cardinality", 0, 1)])
    >>> made = convert_model(some, "featureide")
    >>> made.proved, made.notes
    (True, ('1 group written as optional features with constraints',))
    """
    chosen = format_of("", kind)
    written = written_model(model, chosen)
    again = parse_model(Source(f"the model as {chosen}", written.text))
    variables = [written.variables[identifier] for identifier in again.ids]
    try:
        witness = first_difference(model, again, variables, budget=budget)
    except SearchStoppedError:
        proved = False
    else:
        proved = True
        if witness is not None:
            names = [label for label, has in zip(model.labels, witness.tolist(), strict=True) if has]
            raise RuntimeError(
                f"the model as {chosen} does not have the same products, a defect of Shortlist; they differ "
                f"in {all_of(names)}. Nothing was written."
            )
    notes = (*written.notes, *_lost(model, again, variables))
    return Conversion(written.text, str(chosen), proved, notes)


def _lost(model: FeatureModel, again: FeatureModel, variables: Sequence[int]) -> list[str]:
    """Name the parts of a model, other than rules, that were lost when the text was read back."""
    places = {variable - 1: place for place, variable in enumerate(variables) if variable}
    notes = []
    renamed = [
        f"{label!r} as {again.labels[places[i]]!r}"
        for i, label in enumerate(model.labels)
        if again.labels[places[i]] != label
    ]
    if renamed:
        notes.append(f"{counted(len(renamed), 'feature')} renamed: {all_of(renamed, most=_MOST_NAMED)}")
    notes += _changed_attributes(model, again, places)
    for kind, mine, theirs in (
        ("abstract", model.abstract, again.abstract),
        ("generated", model.generated, again.generated),
    ):
        lost = {i for i in mine if places[i] not in theirs}
        if lost:
            notes.append(f"{counted(len(lost), 'feature')} no longer marked as {kind}")
    named = sum(bool(constraint.name) for constraint in model.constraints)
    if named > sum(bool(constraint.name) for constraint in again.constraints):
        notes.append(f"{counted(named, 'name')} of constraints left out")
    return notes


def _changed_attributes(model: FeatureModel, again: FeatureModel, places: Mapping[int, int]) -> list[str]:
    missing: list[str] = []
    changed: list[str] = []
    shown: list[str] = []
    mine = {place: i for i, place in places.items()}
    notes: list[str] = []
    theirs_of = {
        name: {mine.get(place, -1): value for place, value in column.items()}
        for name, column in again.attributes.items()
    }
    added = [name for name in theirs_of if name not in model.attributes]
    for name, column in model.attributes.items():
        kept = theirs_of.get(name)
        if (kept or {}) == dict(column):
            continue
        if kept is not None:
            changed.append(name)
        elif other := next((one for one in added if theirs_of[one] == dict(column)), None):
            added.remove(other)
            shown.append(f"{name!r} as {other!r}")
        else:
            missing.append(name)
    if shown:
        notes.append(f"{counted(len(shown), 'attribute')} renamed: {all_of(shown, most=_MOST_NAMED)}")
    for names, what in ((missing, "left out"), (changed, "changed: some values, such as empty texts")):
        if names:
            notes.append(f"{counted(len(names), 'attribute')} {what}: {all_of(names, most=_MOST_NAMED)}")
    return notes


def first_difference(
    model: FeatureModel, other: FeatureModel, variables: Sequence[int], *, budget: Budget | None = None
) -> Mask | None:
    """Return a selection that only one of two models allows; None if their products are the same.

    `other`: the second model. It has all features of the first model, and may have auxiliary features and a
    new root. `variables`: for each feature of `other` its variable in
    :func:`~shortlist.products.clauses.to_clauses` of `model`, or 0 if every product of `other` must have the
    feature. All features of `model` must occur. `budget`: ends the search by
    :class:`~shortlist.logic.sat.SearchStoppedError`.

    A satisfiability solver checks each clause of one model under all clauses of the other. Auxiliary
    variables are no obstacle: their clauses give them exactly one value for all features. Auxiliary
    variables of both models are compared like features.

    The selection is a mask over the features of `model`. It is a product of one model alone, or it belongs to
    different numbers of products in the two models. None proves that every product of `model` belongs to
    exactly one product of `other`, and the reverse.

    >>> from shortlist.products.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card"], root=0, groups=[make_group(0, [1], "optional")])
    >>> turned = make_model(["Card", "Shop"], root=1, groups=[make_group(1, [0], "mandatory")])
    >>> first_difference(shop, turned, [2, 1]).tolist()
    [True, False]
    """
    mine, theirs = traced_clauses(model), traced_clauses(other)
    n_known = theirs.clauses.n_variables
    numbers = np.zeros(mine.clauses.n_variables + 1, dtype=np.int64)
    for place, variable in enumerate(variables, start=1):
        numbers[variable] = place if variable else 0
    hidden = 1 + np.flatnonzero(numbers[1:] == 0)  # auxiliary variables that the second model does not have
    assert (hidden > model.n_features).all(), "every feature has its place in the other model"
    numbers[hidden] = n_known + 1 + np.arange(len(hidden))
    n = n_known + len(hidden)
    own = renumbered(mine.clauses, numbers, n)
    core = [(place,) for place, variable in enumerate(variables, start=1) if not variable]
    is_hidden = np.zeros(n + 1, dtype=bool)
    is_hidden[n_known + 1 :] = True

    claims: list[tuple[int, ...]] = []
    definitions: list[tuple[int, ...]] = []
    for clause, rule in zip(own, mine.rules.tolist(), strict=True):
        defines = rule < 0 and any(is_hidden[abs(literal)] for literal in clause)
        (definitions if defines else claims).append(clause)
    rules = [c for c, rule in zip(theirs.clauses, theirs.rules.tolist(), strict=True) if rule >= 0]
    meant = [c for c, rule in zip(theirs.clauses, theirs.rules.tolist(), strict=True) if rule < 0]
    found = first_breach(joined(n, own, core, meant), rules, budget=budget)
    if found is None:
        found = first_breach(
            joined(n, theirs.clauses, definitions), [*claims, *core], known=theirs.clauses, budget=budget
        )
    return None if found is None else found[numbers[1 : model.n_features + 1] - 1].copy()
