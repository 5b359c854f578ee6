"""Stepwise configuration: decide a feature, list consequences and remaining values, undo decisions."""

import dataclasses
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shortlist._validation import as_count, as_positive_seconds
from shortlist._words import counted
from shortlist.errors import BadInputError, ContradictionError, OutOfReachError
from shortlist.logic.diagram import Diagram, n_models_with
from shortlist.logic.sat import SearchStoppedError
from shortlist.pickles import saved_from
from shortlist.products.attributes import Attribute
from shortlist.products.configuration.contradictions import Contradiction, told_contradiction
from shortlist.products.configuration.feasibility import (
    Forced,
    LimitedModel,
    counting_diagram,
    forced_features,
    limited_model,
)
from shortlist.products.configuration.question import FeatureObjective, parse_question
from shortlist.products.model import Constraint, FeatureModel, feature_index
from shortlist.runs.budget import Budget


@saved_from("shortlist.products")
@dataclass(frozen=True)
class Decision:
    """Decision of a person or tool to select or deselect a feature.

    Attributes
    ----------
    feature : int
        Index of the feature, from 0.
    selected : bool
        Whether the feature is selected, or else deselected.
    stage : str
        The stage of the configuration to which the decision belongs; empty if not named.
    by : str
        Person or tool that decided; empty if unknown.

    Raises
    ------
    BadInputError
        If `stage` or `by` is not one line of text: see :func:`refuse_other_than_a_line`.
    """

    feature: int
    selected: bool
    stage: str = ""
    by: str = ""

    def __post_init__(self) -> None:
        refuse_other_than_a_line("stage", self.stage)
        refuse_other_than_a_line("by", self.by)

    @property
    def literal(self) -> int:
        """The decision as a literal: i + 1 for feature i selected, -(i + 1) for deselected."""
        return self.feature + 1 if self.selected else -self.feature - 1


def decision_text(model: FeatureModel, decision: Decision) -> str:
    """Return a sentence with the decision, its stage, and its author.

    >>> from shortlist.products.model import make_model
    >>> decision_text(make_model(["Shop", "Card"]), Decision(1, False, "design", "Anna"))
    'Card is deselected (stage design, by Anna)'
    """
    parts = [f"stage {decision.stage}"] * bool(decision.stage) + [f"by {decision.by}"] * bool(decision.by)
    behind = f" ({', '.join(parts)})" if parts else ""
    return f"{model.labels[decision.feature]} is {side_word(selected=decision.selected)}{behind}"


def refuse_other_than_a_line(name: str, text: str) -> None:
    """Raise an error if a text has line breaks, control characters or unpaired surrogates.

    Such characters would fake lines in the output, or make printing fail.
    """
    if any(unicodedata.category(one) in {"Cc", "Cs", "Zl", "Zp"} for one in text):
        raise BadInputError(
            name, "must be one line of text without control characters", repr(text[:40]), "Write it anew."
        )


def side_word(*, selected: bool) -> str:
    """Return the word for selected or deselected in files and messages."""
    return "selected" if selected else "deselected"


USUAL_SECONDS = 10.0
"""Seconds for one question about a state."""


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class DecisionProblem:
    """Data shared by all states of one configuration."""

    model: FeatureModel
    """Model as read."""
    objectives: tuple[FeatureObjective, ...]
    """Objectives; may be empty."""
    limits: tuple[Constraint, ...]
    """Limits that every product has to meet."""
    limited: LimitedModel
    """Model together with the limits."""
    diagram: Diagram | None
    """Diagram of all products within the limits; None if it does not fit."""
    uncounted: str
    """Reason why there is no diagram; empty if there is one."""
    time_limit_s: float
    """Seconds for each question about a state."""

    def budget(self) -> Budget:
        """Return a new budget for one question."""
        return Budget(self.time_limit_s)


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class DecisionState:
    """Decisions and their consequences; made by :func:`start`, :func:`decide_feature` and :func:`undo`."""

    problem: DecisionProblem
    """Product line with its objectives and limits."""
    decisions: tuple[Decision, ...]
    """Decisions in their order."""
    forced: tuple[int, ...]
    """Literals of the features with a single value in all remaining products, sorted by feature. The value is
    decided, implied by decisions and limits, or fixed by the model.
    """
    complete: bool
    """Whether `forced` is complete; False if the time ended first."""
    n_products: int | None
    """Number of products that remain; None if the diagram did not fit."""
    previous: "DecisionState | None" = None
    """The state before the last step; None at the start."""

    @property
    def literals(self) -> tuple[int, ...]:
        """The decisions as literals, in their order."""
        return tuple(decision.literal for decision in self.decisions)

    @property
    def open(self) -> tuple[int, ...]:
        """Features without a known value."""
        known = {abs(literal) - 1 for literal in self.forced}
        return tuple(feature for feature in range(self.problem.model.n_features) if feature not in known)

    @property
    def follows(self) -> tuple[int, ...]:
        """Literals that the last step implied, without its decisions."""
        before = set() if self.previous is None else {*self.previous.forced}
        return tuple(v for v in self.forced if v not in before and v not in self.literals)


def what_is_forced(problem: DecisionProblem, literals: Sequence[int]) -> Forced | None:
    """Return the forced literals; None if no product is left.

    Raises OutOfReachError if the time ends before that is known.
    """
    try:
        return forced_features(problem.limited, literals, budget=problem.budget())
    except SearchStoppedError:
        raise OutOfReachError(
            f"whether a product is left was not known after {problem.time_limit_s:g} s. Raise `time_limit_s`."
        ) from None


MOST_TOLD = 12
"""Most parts of a contradiction that a message names; the error itself has all parts."""


def start(
    model: FeatureModel,
    objectives: str | Sequence[FeatureObjective] = (),
    *,
    attributes: Mapping[str, Attribute] | None = None,
    limits: Sequence[str | Constraint] = (),
    max_nodes: int | None = None,
    time_limit_s: float = USUAL_SECONDS,
) -> DecisionState:
    """Begin a configuration without decisions; the features fixed by the model are known.

    Parameters
    ----------
    model : FeatureModel
        Model to configure.
    objectives : str or sequence of FeatureObjective, default=()
        Objectives, such as ``"min cost, max quality"``: :func:`values_left
        <shortlist.products.choices.values_left>` returns their remaining ranges.
    attributes : mapping of str to Attribute, optional
        Attributes for objectives and limits given as text. Default: those of the model.
    limits : sequence of str or Constraint
        Limits such as ``"cost<=120"``; products beyond them are left out.
    max_nodes : int, optional
        Most nodes of the diagram that counts products; 0 for no diagram. Default: 100,000, or 0 if more than
        2,000 features are open.
    time_limit_s : float, default=10
        Seconds for each question, the start included. A short limit weakens answers and never makes them
        wrong.

    Raises
    ------
    ContradictionError
        If no product is within the limits.
    OutOfReachError
        If the time ended before that was known.
    BadInputError
        If an objective or limit is unknown.

    Examples
    --------
    >>> from shortlist.products.model import make_group, make_model
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
    asked = objectives or "max selected"  # the parser needs an objective; it is dropped again
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
    state: DecisionState, feature: int | str, *, selected: bool, stage: str = "", by: str = ""
) -> DecisionState:
    """Return the state after one more decision, with its consequences.

    Parameters
    ----------
    state : DecisionState
        State before the decision; it is not changed.
    feature : int or str
        Index of the feature, from 0, or its name.
    selected : bool
        Whether the feature is selected, or else deselected.
    stage, by : str
        Stage and author of the decision; for files and messages.

    Raises
    ------
    ContradictionError
        If no remaining product meets the decision; names the decisions and rules that it contradicts.
    OutOfReachError
        If the time ended before that was known.
    BadInputError
        If there is no such feature, or it has this decision already.
    """
    model = state.problem.model
    decision = Decision(feature_index(model, feature), selected, stage, by)
    if decision.literal in state.literals:
        place = state.literals.index(decision.literal)
        raise BadInputError(f"{decision_text(model, state.decisions[place])} already. Decide another one.")
    return decide_all(state, [decision])


def decide_all(state: DecisionState, decisions: Sequence[Decision]) -> DecisionState:
    """Return the state after several decisions in one step; repeated decisions are passed over.

    Raises ContradictionError for the first decision that contradicts earlier ones. Raises OutOfReachError
    if the time ends before this is known.
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
    """Return the state before the last `steps` steps.

    Raises
    ------
    BadInputError
        If fewer than `steps` steps were made.
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
    """Return the error for the first decision that contradicts earlier decisions."""
    problem, low, high = state.problem, 0, len(decisions)
    while high - low > 1:  # the first `low` decisions are possible together, the first `high` are not
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
    against = " contradicts this" if len(sentences) == 1 else " contradict this"
    if len(sentences) == 1 and found.limits:
        against = ""  # otherwise the sentence is that no product meets the limit
    told = sentences[:MOST_TOLD]
    if len(sentences) > MOST_TOLD:
        told = (*told, f"{len(sentences) - MOST_TOLD} more")
    return ContradictionError(f"{what}: {'; '.join(told)}{against}.", found, sentences)


def why(state: DecisionState, feature: int | str) -> tuple[Contradiction | None, tuple[str, ...]]:
    """Explain the value of a feature, by index or name, by the parts that exclude the opposite value.

    Returns
    -------
    contradiction : Contradiction or None
        Fewest decisions, limits and rules that force the value, as far as proved; None if the feature
        was decided.
    sentences : tuple of str
        Explanation in words and numbers.

    Raises
    ------
    BadInputError
        If the feature is open, or does not exist.
    """
    model = state.problem.model
    number = feature_index(model, feature)
    for decision in state.decisions:
        if decision.feature == number:
            return None, (decision_text(model, decision),)
    literal = next((v for v in state.forced if abs(v) == number + 1), None)
    if literal is None:
        raise BadInputError(f"{model.labels[number]} is open: nothing that is known decides it.")
    return in_the_way(state.problem, state.decisions, [-literal])


def in_the_way(
    problem: DecisionProblem, decisions: Sequence[Decision], assumed: Sequence[int]
) -> tuple[Contradiction, tuple[str, ...]]:
    """Return the contradiction behind impossible literals, and a sentence for each part.

    Raises SolverError if the literals turn out to be possible: then one of two solvers was wrong.
    """
    texts = {one.literal: decision_text(problem.model, one) for one in decisions}
    return told_contradiction(
        problem.model, problem.limits, tuple(texts),
        assumed=assumed, chosen=texts.__getitem__, budget=problem.budget(),
    )  # fmt: skip
