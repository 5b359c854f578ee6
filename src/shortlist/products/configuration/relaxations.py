"""Fewest changes of unmeetable limits and requirements that make a product possible."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.pickles import saved_from
from shortlist.products.configuration.contradictions import limit_sums
from shortlist.products.configuration.explanation import best_product
from shortlist.products.configuration.question import QuantityLimit
from shortlist.products.formulas import And, Formula, Linear, Literal, Or, formula_text, holds
from shortlist.products.inequalities import within_reach
from shortlist.products.model import Constraint, FeatureModel, with_constraints
from shortlist.results.objective import read_limit
from shortlist.runs.budget import Budget

MOST_SECONDS = 20.0
"""Most seconds for the search, which starts after the contradiction is known."""

MOST_TRIED = 20
"""Most limits and requirements that are relaxed one at a time; each takes an integer program or two."""


@saved_from("shortlist.products")
@dataclass(frozen=True)
class Relaxation:
    """Change that leaves out a requirement or a limit, or replaces a limit by another."""

    text: str
    """Description, such as ``limit cost<=14 in place of cost<=10``, or ``GPS is no longer required``."""
    literal: int = 0
    """Literal of the requirement: i + 1 for feature i selected, -(i + 1) for deselected; 0 for a limit."""
    place: int = -1
    """Index of the limit among the given limits; -1 for a requirement."""
    limit: str = ""
    """New limit, such as ``cost<=14``; empty if the limit is left out."""


@saved_from("shortlist.products")
@dataclass(frozen=True)
class Relaxations:
    """Changes that were tried, and the sets of changes that make a product possible."""

    enough: tuple[tuple[Relaxation, ...], ...] = ()
    """Sets of changes that are enough; for each set a product was found. There are several sets only if one
    change is enough.
    """
    useless: tuple[Relaxation, ...] = ()
    """Changes proved not to be enough alone; each leaves out a requirement or limit."""
    fewest: bool = False
    """Whether it is proved that no smaller set of changes is enough."""
    empty: bool = False
    """Whether the model has no product even without limits and requirements."""


@dataclass(frozen=True, eq=False)
class _Asked:
    """Model with the limits and requirements of a question."""

    model: FeatureModel
    limits: tuple[Constraint, ...]
    literals: tuple[int, ...]
    budget: Budget

    def without(self, literals: Iterable[int], places: Iterable[int]) -> "_Asked":
        """Return the question without some limits and requirements.

        A limit left out becomes an empty formula.
        """
        dropped = set(literals)
        limits = list(self.limits)
        for place in places:
            limits[place] = Constraint(And(()))
        kept = tuple(literal for literal in self.literals if literal not in dropped)
        return dataclasses.replace(self, limits=tuple(limits), literals=kept)

    def broken(self, product: Mask) -> tuple[list[int], list[int]]:
        """Return the requirements, and the indices of the limits, that a product does not meet."""
        literals = [one for one in self.literals if product[abs(one) - 1] != (one > 0)]
        places = [
            place for place, limit in enumerate(self.limits) if not holds(limit.formula, product[:, None])[0]
        ]
        return literals, places

    def product(self) -> tuple[Mask | None, bool]:
        """Return a product that meets the question or None, and whether there is proved to be none."""
        nothing = np.zeros(self.model.n_features, dtype=np.int64)
        whole = with_constraints(self.model, self.limits)
        least, found = best_product(whole, nothing, self.literals, budget=self.budget)
        return found, not least.possible


def find_relaxations(
    model: FeatureModel,
    limits: Sequence[Constraint] = (),
    literals: Sequence[int] = (),
    *,
    among: Sequence[int] | None = None,
    places: Sequence[int] | None = None,
    budget: Budget | None = None,
) -> Relaxations:
    """Find the fewest limits and requirements whose change makes a product possible.

    One integer program has a switch for each limit and requirement, and turns on as few switches as possible.
    If one switch is enough, each limit and requirement is tried alone. A limit is replaced by the nearest
    limit that can be met. Of several limits, the first one is kept as near as possible, then the second.

    `limits`, `literals`: limits and requirements that no product meets. `among`, `places`: requirements, and
    indices of limits, of a contradiction; a single change can be enough only if it changes a part of the
    contradiction. Default: all. `budget`: ends the search, at the latest after :data:`MOST_SECONDS`.

    >>> from shortlist.products.attributes import Attribute
    >>> from shortlist.products.configuration.question import parse_limit
    >>> from shortlist.products.model import make_group, make_model
    >>> phone = make_model(["Phone", "GPS", "MP3"], root=0, groups=[make_group(0, [1, 2], "optional")])
    >>> limits = [parse_limit("cost<=10", phone, {"cost": Attribute("cost", np.array([5, 6, 3]))})]
    >>> for (change,) in find_relaxations(phone, limits, [2, 3]).enough:
    ...     print(change.text)
    limit cost<=14 in place of cost<=10
    GPS is no longer required
    """
    budget = budget or Budget()
    own = Budget(0.0 if budget.stopped else min(MOST_SECONDS, budget.left), cancellation=budget.cancellation)
    asked = _Asked(model, tuple(limits), tuple(dict.fromkeys(literals)), own)
    try:
        return _found(
            asked,
            asked.literals if among is None else among,
            range(len(limits)) if places is None else places,
        )
    except BadInputError:  # sums that solvers cannot distinguish
        return Relaxations()


def _found(asked: _Asked, among: Sequence[int], places: Sequence[int]) -> Relaxations:
    wider, costs = _switched(asked)
    least, product = best_product(wider, costs, budget=asked.budget)
    if not least.possible:
        return Relaxations(empty=True)
    if product is None:
        return Relaxations()
    literals, limits = asked.broken(product[: asked.model.n_features])
    first = _changes(asked, literals, limits, product[: asked.model.n_features])
    if len(first) != 1:
        return Relaxations((first,), fewest=least.proved)
    return _alone(asked, among, places, first[0])


def _alone(asked: _Asked, among: Sequence[int], places: Sequence[int], known: Relaxation) -> Relaxations:
    """Relax every limit and every requirement, one at a time, and return the results."""
    enough: list[tuple[Decimal, Relaxation]] = []
    useless: list[Relaxation] = []
    each: list[tuple[list[int], list[int]]] = [([], [place]) for place in places]
    each += [([literal], []) for literal in among]
    for literals, limits in each[:MOST_TRIED]:
        product, none = asked.without(literals, limits).product()
        if product is not None:
            (change,) = _changes(asked, literals, limits, product)
            enough.append((_size(asked, change), change))
        elif none:
            useless += [_left_out(asked, literal=one) for one in literals]
            useless += [_left_out(asked, place=one) for one in limits]
    if not enough:  # the time ended first
        enough = [(Decimal(0), known)]
    ordered = sorted(enough, key=lambda one: one[0])
    return Relaxations(tuple((change,) for _, change in ordered), tuple(useless), fewest=True)


def _switched(asked: _Asked) -> tuple[FeatureModel, np.ndarray]:
    """Return the model with a switch feature for each limit and requirement, and the switches' costs.

    A switch that is selected permits a violation. Costs prefer few switches, then switches of limits.
    """
    model, n = asked.model, asked.model.n_features
    n_more = len(asked.limits) + len(asked.literals)
    names = tuple(f"{number} may be broken" for number in range(n_more))
    ids = (*(f"{number}" for number in range(n)), *names)
    clauses = model.clauses
    if clauses is not None:
        clauses = Clauses.from_clauses(n + n_more, list(clauses))
    wider = dataclasses.replace(model, names=(*model.names, *names), ids=ids, clauses=clauses)
    rules = [Constraint(_unless(limit.formula, n + 1 + place)) for place, limit in enumerate(asked.limits)]
    first = n + 1 + len(asked.limits)
    rules += [
        Constraint(Or((Literal(literal), Literal(first + place))))
        for place, literal in enumerate(asked.literals)
    ]
    costs = np.zeros(n + n_more, dtype=np.int64)
    costs[n : first - 1], costs[first - 1 :] = n_more + 1, n_more + 2
    return with_constraints(wider, rules), costs


def _unless(formula: Formula, switch: int) -> Formula:
    """Return a formula that holds if `formula` holds or the switch is on."""
    if isinstance(formula, And):
        return And(tuple(_unless(part, switch) for part in formula.parts))
    if not isinstance(formula, Linear):
        return Or((formula, Literal(switch)))
    near = within_reach(formula)
    beyond = sum(factor for factor in near.coefficients if factor > 0) - near.upper
    return Linear((*near.coefficients, -max(0, beyond)), (*near.variables, switch), near.upper)


def _changes(
    asked: _Asked, literals: Sequence[int], places: Sequence[int], product: Mask
) -> tuple[Relaxation, ...]:
    """Return the changes after which `product` meets the question.

    `literals`, `places`: requirements and indices of limits that `product` breaks; it meets all other
    requirements and limits.
    """
    left = asked.without(literals, places)
    texts: dict[int, str] = {}
    for place in places:
        text, product = _nearest(asked.limits[place], left, product)
        if text is not None:
            texts[place], kept = text[0], list(left.limits)
            kept[place] = text[1]
            left = dataclasses.replace(left, limits=tuple(kept))
    changed = [
        _left_out(asked, place=place) if place not in texts else _replaced(asked, place, texts[place])
        for place in places
    ]
    return (*changed, *(_left_out(asked, literal=literal) for literal in literals))


def _nearest(limit: Constraint, left: _Asked, product: Mask) -> tuple[tuple[str, Constraint] | None, Mask]:
    """Return the nearest limit to `limit` that can be met, and a product that meets the new limit.

    The limit returned is None if `limit` is no comparison of a named sum. `product`: product that meets all
    other requirements.
    """
    sums = limit_sums(limit, left.model)
    if not sums or not isinstance(limit, QuantityLimit) or limit.quantity is None:
        return None, product
    quantity, is_equal = limit.quantity, len(sums) > 1
    found: list[tuple[int, Mask]] = []
    for goal, other in sums:
        more = [] if other is None else [Constraint(other)]
        whole = with_constraints(left.model, [*left.limits, *more])
        _, best = best_product(whole, goal.minimised, left.literals, budget=left.budget)
        if best is not None:
            found.append((_off(limit, best), best))
    _, nearest = min([*found, (_off(limit, product), product)], key=lambda one: one[0])
    total = int(nearest.astype(np.int64) @ quantity.coefficients)
    value = Decimal(total + quantity.offset) / (quantity.objective.scale or 1)
    at_most = goal.objective.sign > 0
    sign = "==" if is_equal else "<=" if at_most else ">="
    parts = limit.formula.parts if isinstance(limit.formula, And) else (limit.formula,)
    bound = [
        Linear(part.coefficients, part.variables, _sum(part, nearest))
        for part in parts
        if isinstance(part, Linear)
    ]
    text = f"{quantity.objective.name}{sign}{value:f}"
    return (text, Constraint(And(tuple(bound)))), nearest


def _sum(part: Linear, product: Mask) -> int:
    return sum(
        factor
        for factor, variable in zip(part.coefficients, part.variables, strict=True)
        if product[variable - 1]
    )


def _off(limit: Constraint, product: Mask) -> int:
    """Return the amount by which a product misses a limit, in scaled units."""
    formula = limit.formula
    parts = formula.parts if isinstance(formula, And) else (formula,)
    return max(max(0, _sum(part, product) - part.upper) for part in parts if isinstance(part, Linear))


def _left_out(asked: _Asked, *, literal: int = 0, place: int = -1) -> Relaxation:
    if literal:
        told = f"{asked.model.labels[abs(literal) - 1]} is no longer required"
        return Relaxation(told + ("" if literal > 0 else " to be left out"), literal=literal)
    return Relaxation(f"without {_name(asked, place)}", place=place)


def _replaced(asked: _Asked, place: int, text: str) -> Relaxation:
    before = _name(asked, place).removeprefix("limit ")
    return Relaxation(f"limit {text} in place of {before}", place=place, limit=text)


def _name(asked: _Asked, place: int) -> str:
    limit = asked.limits[place]
    return limit.name or f"limit {formula_text(limit.formula, asked.model.labels)}"


def _size(asked: _Asked, change: Relaxation) -> Decimal:
    """Return the change of a limit as a share of its number; infinity for other changes."""
    if not change.limit:
        return Decimal("Infinity")
    names = _name(asked, change.place).removeprefix("limit "), change.limit
    before, after = (read_limit(text).value for text in names)
    return abs(after - before) / (abs(before) or Decimal(1))
