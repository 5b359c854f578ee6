"""A feature model as plain data: features and their names, their tree, and the constraints across it."""

import dataclasses
import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

from shortlist._validation import as_choice, as_count
from shortlist._words import counted, html_table
from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.pickles import saved_from
from shortlist.products.formulas import Formula, variables_of

Value: TypeAlias = Decimal | str | bool
"""Attribute value of a feature as read from its file; numbers keep all their digits."""


class GroupKind(StrEnum):
    """Kind of a group: the number of its children that the parent requires."""

    MANDATORY = "mandatory"
    OPTIONAL = "optional"
    OR = "or"
    ALTERNATIVE = "alternative"
    CARDINALITY = "cardinality"


@saved_from("shortlist.products")
@dataclass(frozen=True, slots=True)
class Group:
    """Group of children of one parent.

    Each child requires the parent. If the parent is selected, `lower` to `upper` of the children are, both
    included.

    A mandatory or optional feature is a group of its own, with bounds 1..1 or 0..1; an or-group has bounds
    1..n, an alternative 1..1. Features are numbered from 0.
    """

    parent: int
    children: tuple[int, ...]
    kind: GroupKind
    lower: int
    upper: int


@saved_from("shortlist.products")
@dataclass(frozen=True, slots=True)
class Constraint:
    """Constraint: a formula that every product satisfies."""

    formula: Formula
    """Formula that must hold."""
    name: str = ""
    """Name in messages; empty if the constraint has none."""
    line: int = 0
    """Line in the file, from 1; 0 if unknown."""


@saved_from("shortlist")
@dataclass(frozen=True, eq=False)
class FeatureModel:
    """Feature model: features, their tree and rules; build it with ``make_model``.

    Attributes
    ----------
    name : str
        Name of the model, possibly empty.
    names : tuple of str
        Feature names as written, in the order of the file; some formats allow repeated names.
    ids : tuple of str
        Unique identifiers, in the same order; the names if the file has no identifiers.
    root : int or None
        The feature that every product has; None for a model without a tree.
    groups : tuple of Group
        The tree, in the order of the file.
    constraints : tuple of Constraint
        Cross-tree constraints.
    clauses : Clauses or None
        Further constraints, as clauses over the features, which are variables 1 to n.
    abstract : frozenset of int
        Features that only structure the tree.
    generated : frozenset of int
        Variables that a translation introduced; the literature still counts them as features.
    attributes : mapping of str to mapping of int to value
        Values by attribute and feature; a feature may lack one.
    notes : tuple of str
        Sentences about corrections that the reader of the file made.
    lines : tuple of int
        Line of each feature in the file; empty if not known.
    """

    names: tuple[str, ...]
    ids: tuple[str, ...]
    root: int | None = None
    groups: tuple[Group, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    clauses: Clauses | None = None
    name: str = ""
    abstract: frozenset[int] = frozenset()
    generated: frozenset[int] = frozenset()
    attributes: Mapping[str, Mapping[int, Value]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()

    def __repr__(self) -> str:
        facts = ", ".join(counted(count, what) for what, count in self._counts())
        return f"FeatureModel({self.name!r}: {facts})"

    def _repr_html_(self) -> str:
        counts = [(f"{what}s", f"{count:,}") for what, count in self._counts()]
        return html_table(f"Feature model {self.name}".rstrip(), [], counts, n_rows=len(counts))

    def _counts(self) -> list[tuple[str, int]]:
        n_clauses = self.clauses.n_clauses if self.clauses else 0
        counts = [
            ("feature", self.n_features),
            ("group", len(self.groups)),
            ("constraint", len(self.constraints)),
            ("clause", n_clauses),
            ("attribute", len(self.attributes)),
        ]
        return counts[:1] + [(what, count) for what, count in counts[1:] if count]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.names)

    @property
    def n_rules(self) -> int:
        """Number of rules: the root, each group, each constraint, each clause, in this order."""
        n_clauses = self.clauses.n_clauses if self.clauses else 0
        return (self.root is not None) + len(self.groups) + len(self.constraints) + n_clauses

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Unique names: the k-th repetition of a name, in order, ends with ``_k``."""
        taken, counts, labels = set(self.names), dict.fromkeys(self.names, -1), []
        for name in self.names:
            counts[name] += 1
            label = name
            if counts[name]:
                while (label := f"{name}_{counts[name]}") in taken:
                    counts[name] += 1
            taken.add(label)
            labels.append(label)
        return tuple(labels)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Parent of each feature, -1 if it has none."""
        parents = [-1] * self.n_features
        for group in self.groups:
            for child in group.children:
                parents[child] = group.parent
        return tuple(parents)


def make_group(parent: int, children: Iterable[int], kind: str, lower: int = 0, upper: int = 0) -> Group:
    """Make a group of children with its bounds.

    Raises BadInputError if the kind is unknown.

    `parent`: index of the parent feature, from 0. `kind`: ``"mandatory"`` for all children, ``"optional"``
    for any number, ``"or"`` for one or more, ``"alternative"`` for exactly one, ``"cardinality"`` for `lower`
    to `upper` children. `lower`, `upper`: the bounds of ``cardinality``; the other kinds imply theirs.
    """
    as_choice(kind, "kind", [str(one) for one in GroupKind])
    members = tuple(children)
    bounds = {
        GroupKind.MANDATORY: (len(members), len(members)),
        GroupKind.OPTIONAL: (0, len(members)),
        GroupKind.OR: (1, len(members)),
        GroupKind.ALTERNATIVE: (1, 1),
        GroupKind.CARDINALITY: (lower, upper),
    }
    return Group(parent, members, GroupKind(kind), *bounds[GroupKind(kind)])


def make_model(
    names: Sequence[str],
    *,
    ids: Sequence[str] | None = None,
    root: int | None = None,
    groups: Iterable[Group] = (),
    constraints: Iterable[Constraint | Formula] = (),
    clauses: Clauses | None = None,
    name: str = "",
) -> FeatureModel:
    """Check the parts of a feature model and put them together.

    Raises BadInputError if there are no features, identifiers repeat, an index names no feature, bounds
    contradict each other, or the groups do not form a tree below the root.

    >>> chat = make_model(
    ...     ["Chat", "Output", "GUI", "CMD"],
    ...     root=0,
    ...     groups=[make_group(0, [1], "mandatory"), make_group(1, [2, 3], "alternative")],
    ... )
    >>> chat.n_features, chat.parents
    (4, (-1, 0, 1, 1))
    """
    model = FeatureModel(
        names=tuple(names),
        ids=tuple(names if ids is None else ids),
        root=root,
        groups=tuple(groups),
        constraints=tuple(c if isinstance(c, Constraint) else Constraint(c) for c in constraints),
        clauses=clauses,
        name=name,
    )
    _check_features(model)
    _check_tree(model)
    _check_constraints(model)
    return model


def with_details(
    model: FeatureModel,
    *,
    abstract: Iterable[int] = (),
    generated: Iterable[int] = (),
    attributes: Mapping[str, Mapping[int, Value]] | None = None,
    notes: Iterable[str] = (),
    lines: Iterable[int] = (),
) -> FeatureModel:
    """Return the model with the given details, such as attributes, in place of its own; no rule changes."""
    return dataclasses.replace(
        model,
        abstract=frozenset(abstract),
        generated=frozenset(generated),
        attributes=dict(attributes or {}),
        notes=tuple(notes),
        lines=tuple(lines),
    )


def with_constraints(model: FeatureModel, constraints: Iterable[Constraint]) -> FeatureModel:
    """Return the model with further constraints, which follow its own constraints."""
    more = dataclasses.replace(model, constraints=(*model.constraints, *constraints))
    _check_constraints(more)
    return more


def _check_features(model: FeatureModel) -> None:
    if not model.names:
        raise BadInputError("a feature model must have at least one feature, got none.")
    if len(model.ids) != model.n_features:
        raise BadInputError("ids", f"must be {model.n_features}, one per feature", len(model.ids))
    if len(set(model.ids)) < model.n_features:
        twice = Counter(model.ids).most_common(1)[0][0]
        raise BadInputError(f"feature {twice!r} is defined twice. Rename one or give unique ids.")
    if model.clauses and model.clauses.n_variables != model.n_features:
        raise BadInputError(
            "clauses", f"must have {model.n_features} variables, one per feature", model.clauses.n_variables
        )


def _check_tree(model: FeatureModel) -> None:
    numbers = [n for group in model.groups for n in (group.parent, *group.children)]
    if model.root is None:
        if model.groups:
            raise BadInputError("groups need a root. Name the feature that every product has.")
        return
    if not all(0 <= number < model.n_features for number in (*numbers, model.root)):
        raise BadInputError(f"groups and root must name features 0 to {model.n_features - 1}.")
    below: dict[int, list[int]] = {}
    placed = [False] * model.n_features
    placed[model.root] = True
    for group in model.groups:
        if not 0 <= group.lower <= group.upper or not group.children:
            raise BadInputError(
                f"the group below {model.names[group.parent]!r} must have children and bounds lower <= "
                f"upper, got {len(group.children)} children and {group.lower}..{group.upper}."
            )
        for child in group.children:
            if placed[child]:
                raise BadInputError(
                    f"feature {model.ids[child]!r} has two places in the tree, or stands below itself. Keep "
                    "one."
                )
            placed[child] = True
        below.setdefault(group.parent, []).extend(group.children)
    reached, stack = 0, [model.root]
    while stack:
        reached += 1
        stack.extend(below.get(stack.pop(), ()))
    if reached < model.n_features:
        raise BadInputError(
            f"the tree must reach all {model.n_features} features from {model.names[model.root]!r}, got "
            f"{reached}: the others have no parent, or their parents run in a circle."
        )


def _check_constraints(model: FeatureModel) -> None:
    for constraint in model.constraints:
        named = variables_of(constraint.formula)
        if named and not (min(named) >= 1 and max(named) <= model.n_features):
            raise BadInputError("constraints", f"must name variables 1 to {model.n_features}", max(named))


def plain(name: str) -> str:
    """Return a name without case, spaces and signs, as two files often spell the same feature differently."""
    return _unsigned(name).casefold()


def _unsigned(name: str) -> str:
    return re.sub(r"[\W_]+", "", name) or name


@dataclass(frozen=True, eq=False)
class FeatureNames:
    """Index of all names of a model's features; build it with :func:`feature_names`."""

    model: FeatureModel
    exact: Mapping[str, int]
    loose: Mapping[str, int]
    repeated: frozenset[str]

    def find(self, name: str, *, repeats: bool = False) -> int | None:
        """Return the feature called `name`; None if there is none.

        Names as written come first, then identifiers. Then follow names that differ in spaces and signs only,
        and last names that differ in case too, if exactly one feature fits. A name of several features is an
        error; with `repeats` it means the first of them.
        """
        if name in self.repeated and not repeats:
            same = [i for i, other in enumerate(self.model.names) if other == name]
            ids = ", ".join(self.model.ids[i] for i in same)
            raise BadInputError(f"{len(same)} features are called {name!r}. Use one of their ids: {ids}.")
        found = self.exact.get(name)
        if found is None:
            found = self.loose.get(_unsigned(name), self.loose.get(plain(name)))
        return found

    def close_to(self, name: str) -> str:
        """Return a sentence with the names most similar to `name`, or with the number of features."""
        return suggestion(name, self.exact, f"The model has {self.model.n_features} features.")

    def find_all(self, names: Iterable[str], argument: str) -> list[int]:
        """Return the features called `names`; an unknown name is an error that suggests similar names."""
        found = []
        for name in names:
            feature = self.find(name)
            if feature is None:
                raise BadInputError(f"{argument} names no feature: {name!r}. {self.close_to(name)}")
            found.append(feature)
        return found


def feature_names(model: FeatureModel) -> FeatureNames:
    """Index the names of a model; takes time linear in its size.

    >>> from shortlist.products.model import make_model
    >>> names = feature_names(make_model(["Web Server", "Pop-ups"], root=None))
    >>> names.find("webserver"), names.find("popups"), names.find("Flash")
    (0, 1, None)
    """
    exact = {identifier: i for i, identifier in enumerate(model.ids)}
    exact.update((label, i) for i, label in enumerate(model.labels))
    loose: dict[str, int] = {}
    for form in (plain, _unsigned):  # the stricter form takes precedence
        counts = Counter(map(form, model.labels))
        loose |= {form(label): i for i, label in enumerate(model.labels) if counts[form(label)] == 1}
    repeated = frozenset(name for name, count in Counter(model.names).items() if count > 1)
    return FeatureNames(model, exact, loose, repeated)


def feature_index(model: FeatureModel, feature: int | str) -> int:
    """Return the index of a feature that is given by index, from 0, or by name.

    Raises BadInputError if there is no such feature, or several have the name.

    >>> from shortlist.products.model import make_model
    >>> shop = make_model(["Shop", "Card"], root=None)
    >>> feature_index(shop, "Card"), feature_index(shop, 1)
    (1, 1)
    """
    if isinstance(feature, str):
        return feature_names(model).find_all([feature], "feature")[0]
    return as_count(feature, "feature", at_least=0, at_most=model.n_features - 1)


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return ``Did you mean ...?`` with up to three of `known` that resemble `name`, else `otherwise`."""
    by_plain = {plain(other): other for other in known}
    close = difflib.get_close_matches(plain(name), by_plain, n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(repr(by_plain[c]) for c in close)}?" if close else otherwise
