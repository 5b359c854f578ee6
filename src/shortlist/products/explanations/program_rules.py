"""Rules that contradict each other, by integer programs: for models with sums that need too many clauses."""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from shortlist.logic.clauses import Clauses
from shortlist.products.explanations.least_values import Least, least_value
from shortlist.products.feature_models.model import FeatureModel
from shortlist.runs.budget import Budget


class ProgramRules:
    """The rules of a model, of which any may be left out.

    Parameters
    ----------
    model : FeatureModel
        Limits and choices are constraints of it.
    literals : sequence of int
        What holds beside the rules, and cannot be left out.
    budget : Budget, optional
        Once it has ended, nothing is known to be a contradiction.
    """

    def __init__(
        self, model: FeatureModel, literals: Sequence[int] = (), budget: Budget | None = None
    ) -> None:
        self.model = model
        self.literals = tuple(literals)
        self.budget = budget or Budget()
        self.sure = True
        """Whether every question so far was answered; one that was not keeps its rules in."""

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
    """Return candidates that contradict the background, none of which can be left out.

    By halving, as in QuickXplain :cite:p:`Junker2004`: for k rules out of n about k log(n / k) programs.

    Parameters
    ----------
    known : ProgramRules
        Answers what contradicts what.
    candidates : sequence of int
        Rules that together with `background` are known to contradict each other.
    background : sequence of int
        Rules that stay in.

    Examples
    --------
    >>> from shortlist.products.feature_models.formulas import Literal
    >>> from shortlist.products.feature_models.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "alternative")],
    ...     constraints=[Literal(2), Literal(1), Literal(3)])
    >>> irreducible_rules(ProgramRules(shop), range(5))
    (1, 2, 4)
    """

    def needed(background: list[int], candidates: list[int], *, grown: bool) -> list[int]:
        """Return the candidates that are needed beside the background."""
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
    """Return a model in which only these rules hold, by their numbers; its groups need not be a tree."""
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
