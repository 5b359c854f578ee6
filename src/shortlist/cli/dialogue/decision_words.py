"""What the dialogue of `shortlist configure --interactive` says."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from shortlist._words import counted

if TYPE_CHECKING:
    from shortlist.errors import ContradictionError
    from shortlist.products.configuration.contradictions import Contradiction
    from shortlist.products.decisions.choices import FeatureChoice, Side, ValuesLeft
    from shortlist.products.decisions.decision_state import DecisionState
    from shortlist.products.feature_models.model import FeatureModel

MOST_NAMES = 40
"""Features that one line names."""


def names_of(model: "FeatureModel", literals: Iterable[int]) -> str:
    """Return features in, then features out."""
    from shortlist.cli.text.front_text import some

    listed = list(literals)
    parts = []
    for word, features in (
        ("in", [v - 1 for v in listed if v > 0]),
        ("out", [-v - 1 for v in listed if v < 0]),
    ):
        if features:
            parts.append(f"{word}: {some(model.labels, features, most=MOST_NAMES)}")
    return "; ".join(parts)


def what_follows(state: "DecisionState") -> str:
    """Say what the last step brought; empty if nothing."""
    if not state.follows:
        return ""
    n = len(state.follows)
    verb = "follows" if n == 1 else "follow"
    return f"{counted(n, 'feature')} {verb}: {names_of(state.problem.model, state.follows)}"


def what_is_left(state: "DecisionState") -> str:
    """Say how much is open."""
    model, n_open = state.problem.model, len(state.open)
    known = "" if state.complete else ", or fewer: not all that follows was found in time"
    text = (
        f"{n_open:,} of {counted(model.n_features, 'feature')} {'is' if n_open == 1 else 'are'} open{known}"
    )
    if state.n_products is None:
        return f"{text}; products are not counted: {state.problem.uncounted}."
    return f"{text}; {_count(state.n_products)}."


def _count(n_products: int) -> str:
    from shortlist._words import count_text
    from shortlist.exact import digits_of

    return f"{count_text(digits_of(n_products))} {'product is' if n_products == 1 else 'products are'} left"


def value_lines(values: "Iterable[ValuesLeft]") -> list[str]:
    """Return a line for each objective: what is left of it, from the ideal to the worst."""
    return [
        f"  {one.objective.objective.sense} {one.objective.objective.name}: {one.text()}" for one in values
    ]


def refusal_lines(error: "ContradictionError") -> list[str]:
    """Return why a decision is refused, a line for each part of the contradiction."""
    head = str(error).partition(": ")[0]
    if error.contradiction is None:
        return [str(error)]
    lines = [f"{head}, as these contradict it ({proof_word(error.contradiction)}):"]
    lines += [f"  {sentence}" for sentence in error.sentences[:MOST_NAMES]]
    if len(error.sentences) > MOST_NAMES:
        lines.append(f"  and {len(error.sentences) - MOST_NAMES} more")
    return lines


def proof_word(found: "Contradiction") -> str:
    """Say how small a contradiction is known to be."""
    return (
        "the fewest"
        if found.smallest
        else "none can be left out"
        if found.irreducible
        else "perhaps too many"
    )


def choice_lines(model: "FeatureModel", choice: "FeatureChoice") -> list[str]:
    """Return what is left now, and with either choice of a feature."""
    name = model.labels[choice.feature]
    lines: list[str] = []
    for head, side in (
        ("now", choice.now),
        (f"{name} selected", choice.selected),
        (f"{name} deselected", choice.deselected),
    ):
        lines += _side_lines(head, side)
    return lines


def _side_lines(head: str, side: "Side | None") -> list[str]:
    if side is None:
        return [f"{head}: cannot be had"]
    count = "" if side.n_products is None else f", {_count(side.n_products)}"
    return [f"{head}{count}", *value_lines(side.values)]


def typed_decisions(state: "DecisionState") -> list[str]:
    """Return the decisions as lines that can be typed again."""
    model = state.problem.model
    return [
        f"{'select' if one.selected else 'deselect'} {model.labels[one.feature]}" for one in state.decisions
    ]


def state_facts(state: "DecisionState") -> dict[str, Any]:
    """Return what the JSON says of the end of a dialogue."""
    from shortlist.exact import digits_of
    from shortlist.products.decisions.choices import values_left
    from shortlist.products.decisions.decision_files import decision_facts

    model = state.problem.model
    return {
        "decisions": decision_facts(model, state.decisions),
        "selected": [model.labels[v - 1] for v in state.forced if v > 0],
        "deselected": [model.labels[-v - 1] for v in state.forced if v < 0],
        "open": [model.labels[feature] for feature in state.open],
        "complete": state.complete,
        "n_products": None if state.n_products is None else digits_of(state.n_products),
        "uncounted": state.problem.uncounted,
        "values_left": [_value_facts(one) for one in values_left(state) or ()],
    }


def _value_facts(values: "ValuesLeft") -> dict[str, Any]:
    goal = values.objective.objective
    facts: dict[str, Any] = {"name": goal.name, "sense": str(goal.sense)}
    for word, end in (("ideal", values.ideal), ("worst", values.worst)):
        for name, number in ((word, end.value), (f"{word}_bound", end.bound)):
            facts[name] = None if number is None else number * goal.sign / (goal.scale or 1)
    return facts
