"""A feature model as text of another format, read back and compared with what it was made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shortlist._words import all_of, counted
from shortlist.arrays import Mask
from shortlist.logic.sat import SearchStoppedError
from shortlist.pickles import saved_from
from shortlist.products.analysis.differences import first_breach, joined, renumbered
from shortlist.products.encodings.clauses import traced_clauses
from shortlist.products.feature_models.model import FeatureModel
from shortlist.products.formats import format_of, parse_model, written_model
from shortlist.runs.budget import Budget
from shortlist.source import Source

_MOST_NAMED = 4


@saved_from("shortlist.products")
@dataclass(frozen=True)
class Conversion:
    """A feature model in another format."""

    text: str
    """The file."""
    kind: str
    """Its format: ``uvl``, ``featureide``, ``sxfm`` or ``dimacs``."""
    proved: bool
    """Whether it is proved that the products are the same; False if the budget ended first."""
    notes: tuple[str, ...]
    """What the format says in another way or not at all, a sentence each."""


def convert_model(model: FeatureModel, kind: str, *, budget: Budget | None = None) -> Conversion:
    """Write a model in a format, read the text back, and prove that the products are the same.

    Every product of the model belongs to exactly one of the text, cut to the features, and the reverse. The
    proof is of the text as a reader understands it, so it covers writer and reader
    (:func:`~shortlist.products.conversion.first_difference`).

    Parameters
    ----------
    model : FeatureModel
        What to write.
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
    >>> from shortlist.products.feature_models.model import make_group, make_model
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
    """Say what of a model besides its rules was not read back."""
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
    """Return features that only one of two models allows, or None if their products are the same.

    `other`: the other one. It has all features of the first, and may have auxiliary ones and a new root.
    `variables`: for each feature of `other` what it stands for: a variable of
    :func:`~shortlist.products.encodings.clauses.to_clauses` of `model`, or 0 for a feature that every product
    of `other` must have. All features of `model` must be there. `budget`: ends the search by
    :class:`~shortlist.logic.sat.SearchStoppedError`.

    Each clause of one model is looked at under all clauses of the other, as a question about satisfiability.
    Auxiliary variables are no obstacle: the clauses that define them give them exactly one value for all
    features, and those that both models have are compared as if they were features.

    What is found, a mask over the features of `model`, is a product of one model that is no product of the
    other, or that has another number of them. None proves that every product of `model` belongs to exactly
    one product of `other`, and the reverse.

    >>> from shortlist.products.feature_models.model import make_group, make_model
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
    hidden = 1 + np.flatnonzero(numbers[1:] == 0)  # auxiliary variables that the other one does not have
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
