"""The state of a configuration that is decided step by step, as plain data."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from shortlist.errors import BadInputError, OutOfReachError
from shortlist.logic.diagram import Diagram
from shortlist.logic.sat import SearchStoppedError
from shortlist.pickles import saved_from
from shortlist.products.configuration.question import FeatureObjective
from shortlist.products.decisions.forced_features import Forced, LimitedModel, forced_features
from shortlist.products.feature_models.model import Constraint, FeatureModel
from shortlist.runs.budget import Budget


@saved_from("shortlist.products")
@dataclass(frozen=True)
class Decision:
    """A feature that somebody selected or deselected.

    Attributes
    ----------
    feature : int
        Which, from 0.
    selected : bool
        True: it is in. False: it is out.
    stage : str
        The stage of the configuration to which the decision belongs; empty if not named.
    by : str
        Who or what decided; empty if unknown.

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
    """Say what was decided, at which stage, and by whom.

    >>> from shortlist.products.feature_models.model import make_model
    >>> decision_text(make_model(["Shop", "Card"]), Decision(1, False, "design", "Anna"))
    'Card is deselected (stage design, by Anna)'
    """
    parts = [f"stage {decision.stage}"] * bool(decision.stage) + [f"by {decision.by}"] * bool(decision.by)
    behind = f" ({', '.join(parts)})" if parts else ""
    return f"{model.labels[decision.feature]} is {side_word(selected=decision.selected)}{behind}"


def refuse_other_than_a_line(name: str, text: str) -> None:
    """Raise where a text has line breaks, control characters or halves of characters.

    Printed they would fake lines, or could not be printed at all.
    """
    if any(unicodedata.category(one) in {"Cc", "Cs", "Zl", "Zp"} for one in text):
        raise BadInputError(
            name, "must be one line of text without control characters", repr(text[:40]), "Write it anew."
        )


def side_word(*, selected: bool) -> str:
    """Return what files and messages call a side of a decision."""
    return "selected" if selected else "deselected"


USUAL_SECONDS = 10.0
"""How long one question about a state may take."""


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class DecisionProblem:
    """What all states of one configuration share."""

    model: FeatureModel
    """As read."""
    objectives: tuple[FeatureObjective, ...]
    """What matters; may be empty."""
    limits: tuple[Constraint, ...]
    """Limits that every product has to meet."""
    limited: LimitedModel
    """Model and limits together."""
    diagram: Diagram | None
    """All products within the limits, where it fits."""
    uncounted: str
    """Why there is no diagram; empty where there is one."""
    time_limit_s: float
    """How long each question may take."""

    def budget(self) -> Budget:
        """Return the budget of one question."""
        return Budget(self.time_limit_s)


@saved_from("shortlist.products")
@dataclass(frozen=True, eq=False)
class DecisionState:
    """What was decided, and what follows; made by :func:`start`, :func:`decide_feature` and :func:`undo`."""

    problem: DecisionProblem
    """What is configured."""
    decisions: tuple[Decision, ...]
    """In their order."""
    forced: tuple[int, ...]
    """Literals of the features that have one value in all products that are left, by feature: those decided,
    those that follow from decisions and limits, and those that the model never leaves open.
    """
    complete: bool
    """Whether these are all; otherwise the time was over."""
    n_products: int | None
    """How many products are left; None where the diagram did not fit."""
    previous: "DecisionState | None" = None
    """The state before the last step; None at the start."""

    @property
    def literals(self) -> tuple[int, ...]:
        """The decisions as literals, in their order."""
        return tuple(decision.literal for decision in self.decisions)

    @property
    def open(self) -> tuple[int, ...]:
        """Features that have no value yet, as far as is known."""
        known = {abs(literal) - 1 for literal in self.forced}
        return tuple(feature for feature in range(self.problem.model.n_features) if feature not in known)

    @property
    def follows(self) -> tuple[int, ...]:
        """Literals that the last step brought, without the decisions themselves."""
        before = set() if self.previous is None else {*self.previous.forced}
        return tuple(v for v in self.forced if v not in before and v not in self.literals)


def what_is_forced(problem: DecisionProblem, literals: Sequence[int]) -> Forced | None:
    """Return what is forced; OutOfReachError where the time does not tell whether anything is left."""
    try:
        return forced_features(problem.limited, literals, budget=problem.budget())
    except SearchStoppedError:
        raise OutOfReachError(
            f"whether a product is left was not known after {problem.time_limit_s:g} s. Raise `time_limit_s`."
        ) from None
