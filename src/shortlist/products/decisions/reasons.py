"""Why a feature has its value, and why a decision is refused."""

import contextlib
from collections.abc import Sequence

from shortlist._validation import as_count
from shortlist.errors import BadInputError, SolverError
from shortlist.logic.sat import SearchStoppedError
from shortlist.products.configuration.contradiction_words import contradiction_sentences
from shortlist.products.configuration.contradictions import Contradiction, all_of_it, find_contradiction
from shortlist.products.decisions.decision import Decision, decision_text
from shortlist.products.decisions.decision_state import DecisionProblem, DecisionState


def why(state: DecisionState, feature: int) -> tuple[Contradiction | None, tuple[str, ...]]:
    """Explain why a feature has its value: what contradicts the opposite, and a sentence for each part.

    Returns
    -------
    contradiction : Contradiction or None
        The fewest decisions, limits and rules that force the value, as far as proved; None for a feature that
        was decided.
    sentences : tuple of str
        In words and numbers.

    Raises
    ------
    BadInputError
        If the feature is open, or there is none such.
    """
    model = state.problem.model
    as_count(feature, "feature", at_least=0, at_most=model.n_features - 1)
    for decision in state.decisions:
        if decision.feature == feature:
            return None, (decision_text(model, decision),)
    literal = next((v for v in state.forced if abs(v) == feature + 1), None)
    if literal is None:
        raise BadInputError(f"{model.labels[feature]} is open: nothing that is known decides it.")
    return in_the_way(state.problem, state.decisions, [-literal])


def in_the_way(
    problem: DecisionProblem, decisions: Sequence[Decision], assumed: Sequence[int]
) -> tuple[Contradiction, tuple[str, ...]]:
    """Return what contradicts literals that are known to be impossible, and a sentence for each part.

    Raises
    ------
    SolverError
        If they turn out to be possible: then one of two solvers was wrong.
    """
    budget = problem.budget()
    texts = {one.literal: decision_text(problem.model, one) for one in decisions}
    literals = tuple(texts)
    found: Contradiction | None = all_of_it(problem.limits, literals)
    with contextlib.suppress(SearchStoppedError):
        found = find_contradiction(problem.model, problem.limits, literals, assumed=assumed, budget=budget)
    if found is None:
        raise SolverError("two solvers disagree whether there is a product. Please report this.")
    sentences = contradiction_sentences(
        found, problem.model, problem.limits, literals,
        assumed=assumed, chosen=texts.__getitem__, budget=budget,
    )  # fmt: skip
    return found, sentences
