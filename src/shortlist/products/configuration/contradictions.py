"""Smallest contradictory sets of limits, choices and rules of a model."""

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from shortlist.errors import BadInputError, SolverError
from shortlist.logic.sat import SearchStoppedError
from shortlist.pickles import saved_from
from shortlist.products.clauses import traced_clauses
from shortlist.products.configuration.explanation import (
    Explanation,
    Least,
    ProgramRules,
    SwitchedRules,
    fewest_rules,
    irreducible_rules,
    least_value,
    only_rules,
)
from shortlist.products.configuration.feasibility import required_text
from shortlist.products.configuration.question import FeatureObjective, QuantityLimit
from shortlist.products.formulas import And, Linear, Literal, formula_text
from shortlist.products.model import Constraint, FeatureModel, with_constraints
from shortlist.products.rules import rule_text
from shortlist.results.objective import Objective, Sense
from shortlist.runs.budget import Budget

CLAUSES_SHARE = 0.5
"""Share of the remaining time for the search by clauses, and then for each of two steps by integer
programs.
"""

MOST_SECONDS = 30.0
"""Most seconds for the search by clauses, and for each of the two steps by integer programs."""

MOST_RULES = 100
"""Most rules in the list of a contradiction that could not be shortened in time; if there are more, the model
is named as a whole.
"""


@saved_from("shortlist.products")
@dataclass(frozen=True)
class Contradiction:
    """Rules, limits and choices that cannot all hold."""

    rules: tuple[int, ...]
    """Rules of the model, by number; see :func:`~shortlist.products.rules.rule_text`."""
    limits: tuple[int, ...]
    """Indices of the contradictory limits among the given limits."""
    literals: tuple[int, ...]
    """Choices: i + 1 for feature i selected, -(i + 1) for deselected."""
    smallest: bool = False
    """Whether it is proved that every contradiction has at least as many parts."""
    irreducible: bool = False
    """Whether it is proved that the parts can hold together once any one of them is left out."""
    whole_model: bool = False
    """Whether the model as a whole takes part, as the time did not suffice to find the contradictory rules;
    `rules` is then empty.
    """


@dataclass(frozen=True, eq=False)
class _Joined:
    """A model with limits and choices as further constraints."""

    model: FeatureModel
    """Model with the further constraints."""
    own: tuple[int, ...]
    """Numbers, in the joined model, of the rules of the original model, in their order."""
    limits: tuple[int, ...]
    literals: tuple[int, ...]
    """Numbers, in the joined model, of the rules made from limits and from choices."""

    def parted(self, rules: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Split rules into rule numbers of the original model, indices of limits, and indices of choices."""
        kept = set(rules)
        return tuple(  # type: ignore[return-value]  # one tuple for each of three
            tuple(place for place, rule in enumerate(part) if rule in kept)
            for part in (self.own, self.limits, self.literals)
        )


def find_contradiction(
    model: FeatureModel,
    limits: Sequence[Constraint] = (),
    literals: Sequence[int] = (),
    *,
    assumed: Sequence[int] = (),
    budget: Budget | None = None,
) -> Contradiction | None:
    """Find contradictory rules, limits and choices; None if all of them can hold together.

    If the clauses are few enough, the contradiction is a smallest one
    (:func:`~shortlist.products.configuration.explanation.fewest_rules`). Otherwise integer programs decide.
    They drop limits and choices first, then rules of the model, as long as the rest stays contradictory; in
    the end no part can be dropped. Raises SearchStoppedError if the budget ends before it is known whether
    there is a contradiction.

    `limits`: limits as :func:`~shortlist.products.configuration.question.parse_limit` returns them, or
    other constraints. `literals`: choices. `assumed`: literals to explain, which hold and are no part of
    the answer. `budget`: ends the search; a contradiction found by then may have superfluous parts, and its
    fields say so.

    >>> import numpy as np
    >>> from shortlist.products.attributes import Attribute
    >>> from shortlist.products.configuration.question import parse_limit
    >>> from shortlist.products.model import make_group, make_model
    >>> phone = make_model(["Phone", "GPS", "MP3"], root=0, groups=[make_group(0, [1, 2], "optional")])
    >>> cost = {"cost": Attribute("cost", np.array([5, 6, 3]))}
    >>> found = find_contradiction(phone, [parse_limit("cost<=10", phone, cost)], [2, 3])
    >>> found.rules, found.limits, found.literals, found.smallest
    ((0,), (0,), (2,), True)
    """
    budget = budget or Budget()
    joined = _joined(model, limits, literals)
    found, told_apart = _explained(joined, assumed, budget)
    if found is None:
        return None
    rules, limited, places = joined.parted(found.rules)
    given = tuple(literals[place] for place in places)
    listed = told_apart and (found.irreducible or len(rules) <= MOST_RULES)
    return Contradiction(
        rules if listed else (), limited, given, found.smallest, found.irreducible, whole_model=not listed
    )


def _joined(model: FeatureModel, limits: Sequence[Constraint], literals: Sequence[int]) -> _Joined:
    n_before = (model.root is not None) + len(model.groups) + len(model.constraints)
    n_more = len(limits) + len(literals)
    own = (*range(n_before), *range(n_before + n_more, model.n_rules + n_more))
    joined = with_constraints(model, [*limits, *(Constraint(Literal(literal)) for literal in literals)])
    first = n_before + len(limits)
    return _Joined(joined, own, tuple(range(n_before, first)), tuple(range(first, first + len(literals))))


def _explained(joined: _Joined, assumed: Sequence[int], budget: Budget) -> tuple[Explanation | None, bool]:
    """Return contradictory rules, and whether the time sufficed to separate the model's own.

    Satisfiability finds the fewest rules. With too many clauses, or too little time, integer programs drop
    limits and choices first, then rules of the model, as long as the rest stays contradictory.
    """
    try:
        return fewest_rules(SwitchedRules(traced_clauses(joined.model), _part(budget)), assumed), True
    except (BadInputError, SearchStoppedError):
        known = ProgramRules(joined.model, assumed, _part(budget))
    if not known.contradict(range(joined.model.n_rules)):
        if not known.sure:
            raise SearchStoppedError
        return None, True
    kept = irreducible_rules(known, [*joined.limits, *joined.literals], joined.own)
    of_model = ProgramRules(joined.model, assumed, _part(budget))
    rules = tuple(sorted((*kept, *irreducible_rules(of_model, joined.own, kept))))
    sure = known.sure and of_model.sure
    return Explanation(rules, smallest=sure and len(rules) < 2, irreducible=sure), of_model.sure


def _part(budget: Budget) -> Budget:
    seconds = 0.0 if budget.stopped else min(MOST_SECONDS, CLAUSES_SHARE * budget.left)
    return Budget(seconds, cancellation=budget.cancellation)


MOST_NUMBERED = 12
"""Most choices, and most limits, of a contradiction whose sentences state a least value; each value takes one
or two integer programs.
"""

WHOLE_MODEL = "the rules of the model"


def contradiction_sentences(
    found: Contradiction,
    model: FeatureModel,
    limits: Sequence[Constraint] = (),
    literals: Sequence[int] = (),
    *,
    assumed: Sequence[int] = (),
    chosen: Callable[[int], str] | None = None,
    budget: Budget | None = None,
) -> tuple[str, ...]:
    """Describe a contradiction: one sentence for each choice, limit and rule, in this order.

    A single limit that contradicts the model alone gets one sentence, with the best possible value.

    `found`: contradiction from :func:`~shortlist.products.configuration.contradictions.find_contradiction`
    for the same model, limits, choices and assumed literals. `chosen`: function that returns the sentence of
    a choice. Default: "GPS is required". `budget`: time for the numbers in the sentences. A sentence says if
    its number is unproved, and leaves out an unknown number.

    >>> from shortlist.products.attributes import Attribute
    >>> from shortlist.products.configuration.contradictions import find_contradiction
    >>> from shortlist.products.configuration.question import parse_limit
    >>> from shortlist.products.model import make_group, make_model
    >>> phone = make_model(["Phone", "GPS", "MP3"], root=0, groups=[make_group(0, [1, 2], "optional")])
    >>> limits = [parse_limit("cost<=10", phone, {"cost": Attribute("cost", np.array([5, 6, 3]))})]
    >>> found = find_contradiction(phone, limits, [2, 3])
    >>> for sentence in contradiction_sentences(found, phone, limits, [2, 3]):
    ...     print(sentence)
    GPS is required; without it, cost can be 8
    limit cost<=10: the others leave at least 11, and all that is asked at least 14
    every product has Phone
    """
    numbers = _Numbers(model, found, limits, literals, assumed, budget or Budget())
    if beyond := _beyond_every_product(numbers):
        return (beyond,)
    said = chosen or partial(required_text, model)
    told: list[str] = []
    alone = found.limits[0] if len(found.limits) == 1 else None
    for number, literal in enumerate(found.literals):
        spared = _without(numbers, alone, literal) if alone is not None and number < MOST_NUMBERED else ""
        told.append(said(literal) + spared)
    for number, place in enumerate(found.limits):
        name = limits[place].name or formula_text(limits[place].formula, model.labels)
        told.append(name + (_left_to(numbers, place) if number < MOST_NUMBERED else ""))
    rules = [WHOLE_MODEL] if found.whole_model else [rule_text(model, rule) for rule in found.rules]
    return (*told, *rules)


def told_contradiction(
    model: FeatureModel,
    limits: Sequence[Constraint],
    literals: Sequence[int],
    *,
    assumed: Sequence[int] = (),
    chosen: Callable[[int], str] | None = None,
    budget: Budget,
) -> tuple[Contradiction, tuple[str, ...]]:
    """Return a contradiction that is known to exist, and a sentence for each part.

    The contradiction is not shortened if the time does not suffice. Raises SolverError if there is no
    contradiction: then one of two solvers was wrong. The arguments are those of
    :func:`contradiction_sentences`.
    """
    found: Contradiction | None = Contradiction(
        (), tuple(range(len(limits))), tuple(literals), whole_model=True
    )
    with contextlib.suppress(SearchStoppedError):
        found = find_contradiction(model, limits, literals, assumed=assumed, budget=budget)
    if found is None:
        raise SolverError("two solvers disagree whether there is a product. Please report this.")
    return found, contradiction_sentences(
        found, model, limits, literals, assumed=assumed, chosen=chosen, budget=budget
    )


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Least values left to a limit by the other parts of a contradiction, or by all requirements."""

    model: FeatureModel
    found: Contradiction
    limits: Sequence[Constraint]
    literals: Sequence[int]
    assumed: Sequence[int]
    budget: Budget

    def left_by_others(self, goal: FeatureObjective, limit: int, more: Sequence[Constraint]) -> Least:
        """Return the least value under the contradiction's other parts alone."""
        limits = [*(self.limits[place] for place in self.found.limits if place != limit), *more]
        literals = [*self.assumed, *self.found.literals]
        model = self.model if self.found.whole_model else only_rules(self.model, self.found.rules)
        return least_value(with_constraints(model, limits), goal.minimised, literals, budget=self.budget)

    def left_by_all(
        self, goal: FeatureObjective, limit: int, *, more: Sequence[Constraint] = (), without: int = 0
    ) -> Least:
        """Return the least value under the model, all other limits, and all choices but `without`."""
        limits = [*(one for place, one in enumerate(self.limits) if place != limit), *more]
        literals = [*self.assumed, *(literal for literal in self.literals if literal != without)]
        whole = with_constraints(self.model, limits)
        return least_value(whole, goal.minimised, literals, budget=self.budget)


def _beyond_every_product(numbers: _Numbers) -> str:
    """Return a sentence with the best possible value if a single limit contradicts the model, else ""."""
    found, assumed = numbers.found, numbers.assumed
    if len(found.limits) != 1 or found.literals or assumed:
        return ""
    (place,) = found.limits
    limit = numbers.limits[place]
    sums = limit_sums(limit, numbers.model)
    if len(sums) != 1 or not limit.name or not isinstance(limit, QuantityLimit):
        return ""
    goal, _ = sums[0]
    best = numbers.left_by_all(goal, place)
    if best.value is None or not best.proved:
        return ""
    extreme, beyond = ("least", "below") if goal.objective.sign > 0 else ("greatest", "above")
    rest = "with all else that is asked, " if len(numbers.limits) > 1 or numbers.literals else ""
    value = goal.value_text(best.value + _constant(goal))
    return (
        f"{limit.name}: {rest}the {extreme} {goal.objective.name} of a product is {value}, so no limit "
        f"{beyond} that can be met"
    )


def _without(numbers: _Numbers, place: int, literal: int) -> str:
    sums = limit_sums(numbers.limits[place], numbers.model)
    if len(sums) != 1:
        return ""
    goal, _ = sums[0]
    least = numbers.left_by_all(goal, place, without=literal)
    if least.value is None:
        return ""
    return f"; without it, {goal.objective.name} can be {goal.value_text(least.value + _constant(goal))}"


def _left_to(numbers: _Numbers, place: int) -> str:
    of_others, of_all = [], []
    for goal, other in limit_sums(numbers.limits[place], numbers.model):
        more = [Constraint(other)] if other else []
        least = _end(goal, numbers.left_by_others(goal, place, more))
        if least:
            of_others.append(least)
            of_all.append(_end(goal, numbers.left_by_all(goal, place, more=more)))
    if not of_others:
        return ""
    whole = f", and all that is asked {' or '.join(of_all)}" if all(of_all) and of_all != of_others else ""
    return f": the others leave {' or '.join(of_others)}{whole}"


def _end(goal: FeatureObjective, least: Least) -> str:
    """Return the bound on the remaining values in words; empty if it is unknown."""
    if least.bound is None:
        return ""
    end = "at least" if goal.objective.sign > 0 else "at most"
    proved = "" if least.proved else " (as far as was proved)"
    return f"{end} {goal.value_text(least.bound + _constant(goal))}{proved}"


def _constant(goal: FeatureObjective) -> int:
    return goal.offset * goal.objective.sign


def limit_sums(limit: Constraint, model: FeatureModel) -> list[tuple[FeatureObjective, Linear | None]]:
    """Return the sums to minimise that a limit bounds, each with None.

    A limit with ``==`` gives two sums, each with the inequality that bounds the other sum.
    """
    formula = limit.formula
    parts = formula.parts if isinstance(formula, And) else (formula,)
    linear = [part for part in parts if isinstance(part, Linear)]
    if len(linear) < len(parts) or len(parts) > 2:
        return []
    others: list[Linear | None] = [None] if len(linear) == 1 else list(reversed(linear))
    return [(_goal(limit, part, model), other) for part, other in zip(linear, others, strict=True)]


def _goal(limit: Constraint, part: Linear, model: FeatureModel) -> FeatureObjective:
    """Return the sum of a linear comparison as an objective to minimise, in the user's sign and unit."""
    sums = np.zeros(model.n_features, dtype=np.int64)
    sums[np.array(part.variables, dtype=np.int64) - 1] = part.coefficients
    quantity = limit.quantity if isinstance(limit, QuantityLimit) else None
    if quantity is None:
        return FeatureObjective(Objective("the sum"), sums)
    sense = Sense.MIN if np.array_equal(sums, quantity.coefficients) else Sense.MAX
    objective = dataclasses.replace(quantity.objective, sense=sense)
    return FeatureObjective(objective, quantity.coefficients, quantity.offset)
