"""Explanations of contradictions: the fewest rules, and least values of sums over features."""

import dataclasses
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver, SearchStoppedError, irreducible
from shortlist.milp.backends import open_solver
from shortlist.milp.program import LinearObjective, make_program
from shortlist.milp.solution import Limits
from shortlist.pickles import saved_from
from shortlist.products.clauses import TracedClauses
from shortlist.products.inequalities import to_program
from shortlist.products.model import FeatureModel
from shortlist.products.rules import are_valid
from shortlist.results.objective import Objective
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget

MOST_ROUNDS = 500
"""Most rounds of the search; an explanation found by their end may not be the smallest."""


@saved_from("shortlist.products")
@dataclass(frozen=True)
class Explanation:
    """Rules that together exclude the explained literals."""

    rules: tuple[int, ...]
    """Rule numbers, rising; see :func:`~shortlist.products.rules.rule_text`."""
    smallest: bool
    """Whether it is proved that at least as many rules are needed to exclude the literals."""
    irreducible: bool = True
    """Whether it is proved that every rule is needed for the contradiction."""


class SwitchedRules:
    """Clauses of a model in which any rules can be switched off.

    `traced`: clauses, each with its rule; the clauses that define auxiliary variables always hold.
    `budget`: limit of each search, which raises :class:`~shortlist.logic.sat.SearchStoppedError` at its
    end.
    """

    def __init__(self, traced: TracedClauses, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        n = traced.clauses.n_variables
        self.rules = sorted({rule for rule in traced.rules.tolist() if rule >= 0})
        self._switches = {rule: n + 1 + place for place, rule in enumerate(self.rules)}
        self._rules = {switch: rule for rule, switch in self._switches.items()}
        switched = [
            (*clause, -self._switches[rule]) if rule >= 0 else clause
            for clause, rule in zip(traced.clauses, traced.rules.tolist(), strict=True)
        ]
        self._solver = SatSolver(Clauses.from_clauses(n + len(self.rules), switched), budget)

    def contradiction(self, rules: Sequence[int], literals: Sequence[int]) -> tuple[int, ...] | None:
        """Return some of the `rules` that contradict the literals; None if all can hold together.

        The rules returned are often not the fewest.
        """
        answer = self._solver.solve([*literals, *(self._switches[rule] for rule in rules)])
        if answer.satisfiable:
            return None
        return tuple(sorted(self._rules[v] for v in answer.conflict if v in self._rules))

    def allowed(self, rules: Sequence[int], literals: Sequence[int]) -> tuple[int, ...] | None:
        """Return `rules` and further rules that can hold with the literals; None if `rules` cannot.

        A single search that prefers rules to hold finds the further rules.
        """
        self._solver.prefer(self._switches.values())
        model = self._solver.solve([*literals, *(self._switches[rule] for rule in rules)]).model
        if model is None:
            return None
        return tuple(rule for rule, switch in self._switches.items() if model[switch - 1])


def fewest_rules(
    switched: SwitchedRules, literals: Sequence[int], *, max_rounds: int = MOST_ROUNDS
) -> Explanation | None:
    """Find the fewest rules that contradict literals; None if all rules allow the literals.

    If the literals are possible without some set of rules, an explanation must contain a rule of this set. An
    integer program chooses the fewest rules that hit all sets known so far. If the chosen rules do not
    contradict the literals, rules are added as long as the literals stay possible. The rules not added are a
    further set :cite:p:`Ignatiev2015`. Before that, rules are dropped one by one from a first contradiction.
    So there is an answer if the rounds or the budget end early.

    `literals`: literals to exclude: ``[f]`` for a dead feature, ``[-f]`` for a core feature, none for a
    model without products. `max_rounds`: largest number of sets.
    """
    found = switched.contradiction(switched.rules, literals)
    if found is None:
        return None
    try:
        found = irreducible(lambda rules: switched.contradiction(rules, literals), found)
    except SearchStoppedError:
        return Explanation(found, smallest=len(found) < 2, irreducible=len(found) < 2)
    missing: list[tuple[int, ...]] = []
    try:
        for _ in range(max_rounds):
            chosen = _fewest_hitting(missing, switched.budget)
            if chosen is None:
                break
            if len(chosen) >= len(found):
                return Explanation(found, smallest=True)
            core = switched.contradiction(chosen, literals)
            if core is not None:
                fewest = irreducible(lambda rules: switched.contradiction(rules, literals), core)
                return Explanation(fewest, smallest=True)
            missing.append(_left_out(switched, chosen, literals))
    except SearchStoppedError:
        pass
    return Explanation(found, smallest=len(found) < 2)


def _left_out(switched: SwitchedRules, rules: Sequence[int], literals: Sequence[int]) -> tuple[int, ...]:
    """Add rules as long as the literals can hold; return the rejected rules."""
    kept, out = {*(switched.allowed(rules, literals) or rules)}, []
    for rule in switched.rules:
        if rule in kept:
            continue
        more = switched.allowed([*sorted(kept), rule], literals)
        if more is None:
            out.append(rule)
        else:
            kept.update(more)
    return tuple(out)


def _fewest_hitting(sets: Sequence[tuple[int, ...]], budget: Budget) -> tuple[int, ...] | None:
    """Return the fewest rules that hit every set; None if the solver finds no proved answer.

    All coefficients and costs are 1, so tolerances of the solver hide no unit of a row. The answer is
    checked.
    """
    rules = sorted({rule for each in sets for rule in each})
    if not rules:
        return ()
    rows = np.array([[rule in each for rule in rules] for each in sets], dtype=np.float64)
    program = make_program(
        rows,
        row_lower=1,
        row_upper=np.inf,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[LinearObjective(Objective("rules"), np.ones(len(rules)))],
    )
    limits = Limits(seconds=60).within(budget)
    answer = open_solver("highs").open(program).solve(limits, cancellation=budget.cancellation)
    if answer.status is not Status.OPTIMAL or answer.values is None:
        return None
    return tuple(rule for rule, value in zip(rules, answer.values, strict=True) if value > 0.5)


SECONDS_PER_VALUE = 10.0
"""Most seconds for a program that looks for a least value."""


@dataclass(frozen=True)
class Least:
    """Bounds on the least value of a sum of integers, and whether there is a product at all."""

    value: int | None = None
    """Value of the best product found; None if none was found."""
    bound: int | None = None
    """Lower bound over all products; None if the bound is unknown, or there is no product."""
    possible: bool = True
    """Whether there may be a product; False if there is proved to be none."""

    @property
    def proved(self) -> bool:
        """Whether the value is proved to be the least, or there is proved to be no product."""
        return not self.possible or (self.value is not None and self.value == self.bound)


IMPOSSIBLE = Least(possible=False)


def least_value(
    model: FeatureModel,
    coefficients: NDArray[np.int64],
    literals: Iterable[int] = (),
    *,
    budget: Budget | None = None,
) -> Least:
    """Find the least sum of coefficients of selected features over the products with the literals.

    Raises SolverError if the solver fails.

    `model`: model of the products, limits included. `coefficients`: summand of each feature if selected,
    ``(n_features,)``; their absolute values sum to less than 2^53. `literals`: i + 1 for feature i
    selected, -(i + 1) for deselected. `budget`: time for the program, at most :data:`SECONDS_PER_VALUE`.

    The value is summed over a product that was checked against the rules of the model. The bound is the
    solver's bound, if its numbers are small enough for that solver (:mod:`shortlist.milp.whole_rows`).

    >>> from shortlist.products.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")])
    >>> costs = np.array([0, 5, 3])
    >>> least_value(shop, costs), least_value(shop, -costs, [1]).value, least_value(shop, costs, [-1])
    (Least(value=3, bound=3, possible=True), -8, Least(value=None, bound=None, possible=False))
    """
    return best_product(model, coefficients, literals, budget=budget)[0]


def best_product(
    model: FeatureModel,
    coefficients: NDArray[np.int64],
    literals: Iterable[int] = (),
    *,
    budget: Budget | None = None,
) -> tuple[Least, Mask | None]:
    """Return bounds on the least sum, and the best product found; see :func:`least_value`."""
    asked = set(literals)
    if any(-literal in asked for literal in asked):
        return IMPOSSIBLE, None
    budget = budget or Budget()
    goal = LinearObjective(Objective("sum"), coefficients.astype(np.float64))
    program = to_program(model, objectives=[goal], fixed=asked)
    limits = Limits(SECONDS_PER_VALUE).within(budget)
    answer = open_solver().open(program).solve(limits, cancellation=budget.cancellation)
    if answer.status is Status.INFEASIBLE and answer.bound == math.inf:
        return IMPOSSIBLE, None
    bound = math.ceil(answer.bound) if math.isfinite(answer.bound) else None
    if answer.values is None:
        return Least(None, bound), None
    selected = answer.values[: model.n_features] > 0.5
    meets = all(selected[abs(v) - 1] == (v > 0) for v in asked)
    if not meets or not are_valid(model, selected[None, :].astype(np.uint8)).all():
        return Least(None, bound), None
    return Least(int(coefficients[selected].sum()), bound), selected


class ProgramRules:
    """Rules of a model of which any can be left out, checked by integer programs.

    `model`: model with limits and choices among its constraints. `literals`: literals that always hold.
    `budget`: limit of all checks; a check after its end proves no contradiction.
    """

    def __init__(
        self, model: FeatureModel, literals: Sequence[int] = (), budget: Budget | None = None
    ) -> None:
        self.model = model
        self.literals = tuple(literals)
        self.budget = budget or Budget()
        self.sure = True
        """Whether every check so far had a proved answer; a check without proof keeps its rules."""

    def contradict(self, rules: Sequence[int]) -> bool:
        """Whether an integer program proves that rules and literals contradict each other."""
        if self.budget.stopped:
            self.sure = False
            return False
        nothing = np.zeros(self.model.n_features, dtype=np.int64)
        found: Least = least_value(only_rules(self.model, rules), nothing, self.literals, budget=self.budget)
        self.sure &= found.value is not None or not found.possible
        return not found.possible


def irreducible_rules(
    known: ProgramRules, candidates: Sequence[int], background: Sequence[int] = ()
) -> tuple[int, ...]:
    """Return a minimal set of candidates that contradicts the background.

    Candidates are halved as in QuickXplain :cite:p:`Junker2004`: about k log(n / k) programs for k rules
    out of n.

    `known`: checks sets of rules for contradiction. `candidates`: rules that together with `background` are
    known to contradict each other. `background`: rules that always stay.

    >>> from shortlist.products.formulas import Literal
    >>> from shortlist.products.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "alternative")],
    ...     constraints=[Literal(2), Literal(1), Literal(3)])
    >>> irreducible_rules(ProgramRules(shop), range(5))
    (1, 2, 4)
    """

    def needed(background: list[int], candidates: list[int], *, grown: bool) -> list[int]:
        if grown and known.contradict(background):
            return []
        if len(candidates) < 2:
            return candidates
        half = len(candidates) // 2
        left, right = candidates[:half], candidates[half:]
        from_right = needed(background + left, right, grown=True)
        from_left = needed(background + from_right, left, grown=bool(from_right))
        return from_left + from_right

    if known.contradict(background):
        return ()
    return tuple(sorted(needed(list(background), list(candidates), grown=False)))


def only_rules(model: FeatureModel, rules: Sequence[int]) -> FeatureModel:
    """Return a model with only the rules of these numbers; the groups left need not be a tree."""
    kept = set(rules)
    numbers = itertools.count()
    root = model.root if model.root is not None and next(numbers) in kept else None
    groups = tuple([group for group in model.groups if next(numbers) in kept])
    constraints = tuple([one for one in model.constraints if next(numbers) in kept])
    clauses = model.clauses
    if clauses is not None:
        clauses = Clauses.from_clauses(
            clauses.n_variables, [clause for clause in clauses if next(numbers) in kept]
        )
    return dataclasses.replace(model, root=root, groups=groups, constraints=constraints, clauses=clauses)
