"""Why something cannot be: fewest rules of a model that contradict it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver, SearchStoppedError, irreducible
from shortlist.milp.backends import open_solver
from shortlist.milp.program import LinearObjective, make_program
from shortlist.milp.solution import Limits
from shortlist.pickles import saved_from
from shortlist.products.encodings.clauses import TracedClauses
from shortlist.results.objective import Objective
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget

MOST_ROUNDS = 500
"""Rounds after which an explanation is returned that may not be the smallest."""


@saved_from("shortlist.products")
@dataclass(frozen=True)
class Explanation:
    """Rules that contradict something."""

    rules: tuple[int, ...]
    """Their numbers, rising; see :func:`~shortlist.products.feature_models.model.rule_text`."""
    smallest: bool
    """Whether it is proved that no fewer rules contradict it."""
    irreducible: bool = True
    """Whether it is proved that with any one of them left out there is no contradiction."""


class SwitchedRules:
    """The clauses of a model, of whose rules any may be left out.

    `traced`: clauses and the rule behind each; those that define auxiliary variables always hold. `budget`:
    looked at by the search, which raises :class:`~shortlist.logic.sat.SearchStoppedError` at its end.
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
        """Return rules among `rules` that contradict the literals, or None if both can hold.

        They are often not the fewest.
        """
        answer = self._solver.solve([*literals, *(self._switches[rule] for rule in rules)])
        if answer.satisfiable:
            return None
        return tuple(sorted(self._rules[v] for v in answer.conflict if v in self._rules))

    def allowed(self, rules: Sequence[int], literals: Sequence[int]) -> tuple[int, ...] | None:
        """Return rules that can hold with the literals, `rules` among them; None if these cannot.

        They are as many as one search finds that prefers rules to hold.
        """
        self._solver.prefer(self._switches.values())
        model = self._solver.solve([*literals, *(self._switches[rule] for rule in rules)]).model
        if model is None:
            return None
        return tuple(rule for rule, switch in self._switches.items() if model[switch - 1])


def fewest_rules(
    switched: SwitchedRules, literals: Sequence[int], *, max_rounds: int = MOST_ROUNDS
) -> Explanation | None:
    """Find the fewest rules that contradict literals; None if all rules allow them.

    Every set of rules whose absence makes room for the literals has to be hit by an explanation. An integer
    program chooses the fewest rules that hit all sets known so far; either they contradict the literals, or
    they grow until they nearly do, and what is left out then is one more set :cite:p:`Ignatiev2015`. Before
    that, rules are dropped one by one from a first contradiction, so that there is an answer when the
    rounds or the budget end.

    `literals`: what cannot be: ``[f]`` for a dead feature, ``[-f]`` for one that every product has, nothing
    for a model without products. `max_rounds`: most sets to look at.
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
    """Add rules as long as the literals can hold; return those that could not be added."""
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
    """Return the fewest rules that have one in common with every set; None if the solver cannot tell.

    Coefficients and costs are 1, so the solver's tolerance hides no unit of a row, and its answer is checked.
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
