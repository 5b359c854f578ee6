"""Configuring step by step: decide a feature, see what follows and what is left, and take decisions back."""

import dataclasses
from collections.abc import Mapping, Sequence

from shortlist._validation import as_count, as_positive_seconds
from shortlist._words import counted
from shortlist.errors import BadInputError, ContradictionError
from shortlist.logic.diagram import n_models_with
from shortlist.products.attributes.attribute import Attribute
from shortlist.products.configuration.contradictions import Contradiction, told_contradiction
from shortlist.products.configuration.feasibility import counting_diagram
from shortlist.products.configuration.question import FeatureObjective, parse_question
from shortlist.products.decisions.decision_state import (
    USUAL_SECONDS,
    Decision,
    DecisionProblem,
    DecisionState,
    decision_text,
    limited_model,
    side_word,
    what_is_forced,
)
from shortlist.products.feature_models.model import Constraint, FeatureModel

MOST_TOLD = 12
"""Parts of a contradiction that a message names; the error has all of them."""


def start(
    model: FeatureModel,
    objectives: str | Sequence[FeatureObjective] = (),
    *,
    attributes: Mapping[str, Attribute] | None = None,
    limits: Sequence[str | Constraint] = (),
    max_nodes: int | None = None,
    time_limit_s: float = USUAL_SECONDS,
) -> DecisionState:
    """Begin a configuration: nothing is decided, and what holds in every product is known.

    Parameters
    ----------
    model : FeatureModel
        What is configured.
    objectives : str or sequence of FeatureObjective, default=()
        What matters, for instance ``"min cost, max quality"``: :func:`values_left
        <shortlist.products.decisions.choices.values_left>` tells what is left of each.
    attributes : mapping of str to Attribute, optional
        For objectives and limits given as text. Default: those that came with the model.
    limits : sequence of str or Constraint
        Limits such as ``"cost<=120"``; products beyond them are left out.
    max_nodes : int, optional
        Budget of the diagram that counts products and tells values; 0 for none. Default: 100,000, or none
        where more than 2,000 features are open.
    time_limit_s : float, default=10
        Seconds that each question may take, from this one on. A limit lowers claims and never makes them
        wrong.

    Raises
    ------
    ContradictionError
        If no product is within the limits.
    OutOfReachError
        If the time was over before that was known.
    BadInputError
        If an objective or limit is unknown.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")])
    >>> state = start(shop)
    >>> state.n_products, state.open
    (3, (1, 2))
    >>> state = decide_feature(state, 1, selected=False)
    >>> state.follows, state.n_products, undo(state).n_products
    ((3,), 1, 3)
    """
    seconds = as_positive_seconds(time_limit_s, "time_limit_s")
    if max_nodes:
        as_count(max_nodes, "max_nodes", at_least=16)
    asked = objectives or "max selected"  # a question needs one; it is dropped again
    goals, bounds = parse_question(model, asked, limits, attributes)
    limited = limited_model(model, bounds)
    problem = DecisionProblem(
        model, goals if objectives else (), bounds, limited, None, "no diagram was tried", seconds
    )
    forced = what_is_forced(problem, ())
    if forced is None:
        raise _refused(problem, (), (), "no product is left")
    diagram, uncounted = None, "a limit or a constraint needs too many clauses"
    if limited.whole and limited.clauses is not None:
        clauses = limited.clauses.with_units(forced.literals)
        n_open = model.n_features - len(forced.literals)
        diagram, uncounted = counting_diagram(clauses, n_open, max_nodes, problem.budget())
    problem = dataclasses.replace(problem, diagram=diagram, uncounted=uncounted)
    n_products = None if diagram is None else diagram.n_models
    return DecisionState(problem, (), forced.literals, forced.complete, n_products)


def decide_feature(
    state: DecisionState, feature: int, *, selected: bool, stage: str = "", by: str = ""
) -> DecisionState:
    """Return the state after one more decision, with everything that follows from it.

    Parameters
    ----------
    state : DecisionState
        Not changed.
    feature : int
        Which, from 0.
    selected : bool
        True: it is to be in. False: it is to be out.
    stage, by : str
        The stage to which the decision belongs, and who decides; for files and messages.

    Raises
    ------
    ContradictionError
        If no product that is left has the feature so; says with what it is in contradiction.
    OutOfReachError
        If the time was over before that was known.
    BadInputError
        If there is no such feature, or the same was decided before.
    """
    decision = Decision(feature, selected, stage, by)
    model = state.problem.model
    as_count(feature, "feature", at_least=0, at_most=model.n_features - 1)
    if decision.literal in state.literals:
        place = state.literals.index(decision.literal)
        raise BadInputError(f"{decision_text(model, state.decisions[place])} already. Decide another one.")
    return decide_all(state, [decision])


def decide_all(state: DecisionState, decisions: Sequence[Decision]) -> DecisionState:
    """Return the state after several decisions in one step; those made before are passed over.

    Raises ContradictionError for the first decision that contradicts those before it. Raises OutOfReachError
    if the time was over before it was known whether one does.
    """
    problem = state.problem
    made = {*state.literals}
    first: dict[int, Decision] = {}
    for one in decisions:
        first.setdefault(one.literal, one)
    new = [one for literal, one in first.items() if literal not in made]
    if not new:
        return state
    forced = what_is_forced(problem, [*state.literals, *(one.literal for one in new)])
    if forced is None:
        raise _first_refused(state, new)
    n_products = None if problem.diagram is None else n_models_with(problem.diagram, forced.literals)
    return DecisionState(
        problem, (*state.decisions, *new), forced.literals, forced.complete, n_products, state
    )


def undo(state: DecisionState, steps: int = 1) -> DecisionState:
    """Return the state before the last steps.

    Raises
    ------
    BadInputError
        If fewer steps were taken.
    """
    as_count(steps, "steps")
    before: DecisionState | None = state
    for taken in range(steps):
        before = None if before is None else before.previous
        if before is None:
            verb = "is" if taken == 1 else "are"
            raise BadInputError(
                f"there {verb} {counted(taken, 'step')} to take back, got {steps}. Take back fewer."
            )
    assert before is not None, "there were steps enough"
    return before


def _first_refused(state: DecisionState, decisions: Sequence[Decision]) -> ContradictionError:
    """Return the error for the first decision that contradicts those before it."""
    problem, low, high = state.problem, 0, len(decisions)
    while high - low > 1:  # the first `low` can be made, the first `high` cannot
        middle = (low + high) // 2
        some = [*state.literals, *(one.literal for one in decisions[:middle])]
        low, high = (low, middle) if what_is_forced(problem, some) is None else (middle, high)
    refused = decisions[low]
    before = (*state.decisions, *decisions[:low])
    what = f"{problem.model.labels[refused.feature]} cannot be {side_word(selected=refused.selected)}"
    return _refused(problem, before, [refused.literal], what)


def _refused(
    problem: DecisionProblem, decisions: Sequence[Decision], assumed: Sequence[int], what: str
) -> ContradictionError:
    found, sentences = in_the_way(problem, decisions, assumed)
    against = "contradicts this" if len(sentences) == 1 else "contradict this"
    told = sentences[:MOST_TOLD]
    if len(sentences) > MOST_TOLD:
        told = (*told, f"{len(sentences) - MOST_TOLD} more")
    return ContradictionError(f"{what}: {'; '.join(told)} {against}.", found, sentences)


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

    Raises SolverError if they turn out to be possible: then one of two solvers was wrong.
    """
    texts = {one.literal: decision_text(problem.model, one) for one in decisions}
    return told_contradiction(
        problem.model, problem.limits, tuple(texts),
        assumed=assumed, chosen=texts.__getitem__, budget=problem.budget(),
    )  # fmt: skip
