"""Actions for the lines that a user types in `shortlist configure --interactive`."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shortlist._words import any_of, count_text, counted, did_you_mean
from shortlist.cli.files import Named, check_files
from shortlist.cli.text.front_text import some
from shortlist.errors import BadInputError, ContradictionError
from shortlist.exact import digits_of
from shortlist.products.attributes import Attribute
from shortlist.products.choices import FeatureChoice, ValuesLeft, cost_of, finish, values_left
from shortlist.products.configuration.contradictions import Contradiction
from shortlist.products.configuration.question import parse_objectives
from shortlist.products.decision_files import (
    DECISION_ENDINGS,
    decision_facts,
    read_decisions,
    write_decisions,
)
from shortlist.products.decisions import (
    Decision,
    DecisionState,
    decide_all,
    decide_feature,
    decision_text,
    refuse_other_than_a_line,
    undo,
    why,
)
from shortlist.products.formats.uvl_writer import write_configuration
from shortlist.products.model import FeatureModel, FeatureNames
from shortlist.results.proof import Status


@dataclass(frozen=True, eq=False)
class Deciding:
    """State of a dialogue about a product line."""

    state: DecisionState
    """Decisions with their consequences."""
    names: FeatureNames
    """Names by which a user may call features."""
    attributes: Mapping[str, Attribute]
    """Attributes that ``finish by`` may name."""
    inputs: Mapping[str, Named] = field(default_factory=dict)
    """Files that ``save`` must not overwrite."""
    stage: str = ""
    by: str = ""
    """Author of the decisions that come next."""
    saved: tuple[Decision, ...] = ()
    """Decisions in the file that was written last."""
    ended: bool = False
    """Whether the user has ended the dialogue."""

    @property
    def unsaved(self) -> bool:
        """Whether some decisions were not written to a file yet."""
        return self.state.decisions != self.saved

    @property
    def model(self) -> FeatureModel:
        """Feature model that is configured."""
        return self.state.problem.model

    def feature(self, name: str) -> int:
        """Return the feature of that name."""
        if not name:
            raise BadInputError("name a feature, such as: select GPS. Type open for those that are left.")
        return self.names.find_all([name], "the line")[0]


def act(deciding: Deciding, line: str) -> Deciding:
    """Follow a typed line, print the answer, and return the new state of the dialogue.

    Raises BadInputError if the line cannot be followed; the state has not changed then.
    """
    word, _, argument = line.strip().partition(" ")
    if not word or word.startswith("#"):
        return deciding
    known = _COMMANDS.get(word.casefold())
    if known is None:
        hint = did_you_mean(word, _COMMANDS) or " Type help for a list."
        raise BadInputError(f"a line must begin with {any_of(_COMMANDS)}, got {word[:40]!r}.{hint}")
    return known.act(deciding, argument.strip())


def _decided(deciding: Deciding, name: str, *, selected: bool) -> Deciding:
    feature = deciding.feature(name)
    state = decide_feature(deciding.state, feature, selected=selected, stage=deciding.stage, by=deciding.by)
    print(f"{decision_text(state.problem.model, state.decisions[-1])}.")
    return _moved(deciding, state)


def _moved(deciding: Deciding, state: DecisionState) -> Deciding:
    """Print the consequences of a step, and the remaining choices; return the new state."""
    follows = what_follows(state)
    if follows:
        print(follows)
    print(what_is_left(state))
    if state.problem.diagram is not None:  # else it takes a program or two for each objective: ask for it
        _left(dataclasses.replace(deciding, state=state), "")
    return dataclasses.replace(deciding, state=state)


def _why(deciding: Deciding, name: str) -> Deciding:
    feature = deciding.feature(name)
    found, sentences = why(deciding.state, feature)
    if found is not None:
        is_in = feature + 1 in deciding.state.forced
        label = deciding.model.labels[feature]
        print(
            f"{label} is {'in' if is_in else 'out'}, as the opposite contradicts these ({proof_word(found)}):"
        )
    for sentence in sentences:
        print(f"  {sentence}")
    return deciding


def _open(deciding: Deciding, part: str) -> Deciding:
    labels = [deciding.model.labels[feature] for feature in deciding.state.open]
    found = [label for label in labels if part.casefold() in label.casefold()]
    more = (
        f" and {len(found) - MOST_NAMES:,} more; open WORD names those with a word"
        if len(found) > MOST_NAMES
        else ""
    )
    print(", ".join(found[:MOST_NAMES]) + more if found else "none")
    return deciding


def _decided_so_far(deciding: Deciding, _: str) -> Deciding:
    for decision in deciding.state.decisions:
        print(decision_text(deciding.model, decision))
    if not deciding.state.decisions:
        print("nothing")
    return deciding


def _cost(deciding: Deciding, name: str) -> Deciding:
    for line in choice_lines(deciding.model, cost_of(deciding.state, deciding.feature(name))):
        print(line)
    return deciding


def _left(deciding: Deciding, _: str) -> Deciding:
    for line in value_lines(values_left(deciding.state) or ()):
        print(line)
    return deciding


def _undo(deciding: Deciding, steps: str) -> Deciding:
    if steps and not (steps.isdecimal() and len(steps) < 10):
        raise BadInputError(f"undo takes a number of steps, such as: undo 2; got {steps[:40]!r}.")
    state = undo(deciding.state, int(steps or 1))
    print(what_is_left(state))
    return dataclasses.replace(deciding, state=state)


def _stage(deciding: Deciding, name: str) -> Deciding:
    refuse_other_than_a_line("a stage", name)
    print(
        f"Decisions from now on belong to stage {name}." if name else "Decisions from now on have no stage."
    )
    return dataclasses.replace(deciding, stage=name)


def _by(deciding: Deciding, name: str) -> Deciding:
    refuse_other_than_a_line("a name", name)
    print(f"Decisions from now on are made by {name}." if name else "From now on decisions carry no name.")
    return dataclasses.replace(deciding, by=name)


def _save(deciding: Deciding, name: str) -> Deciding:
    """Write the decisions; if no feature is open and the ending is one of products, write the product."""
    if not name:
        raise BadInputError("name a file, such as: save decisions.json.")
    products = (".uvl", ".config")
    check_files(
        inputs=deciding.inputs,
        outputs={"the file": name},
        endings={"the file": (*DECISION_ENDINGS, *products)},
    )
    state = deciding.state
    if not name.casefold().endswith(products):
        write_decisions(name, state.problem.model, state.decisions)
        print(f"Saved to {name}.")
        return dataclasses.replace(deciding, saved=state.decisions)
    if state.open:
        raise BadInputError(
            f"a product has no open features, got {len(state.open):,}. Decide them, or type: finish by min "
            "cost."
        )
    selected = np.zeros(state.problem.model.n_features, dtype=bool)
    selected[[literal - 1 for literal in state.forced if literal > 0]] = True
    write_configuration(name, state.problem.model, selected)
    print(f"The product is saved to {name}.")
    return dataclasses.replace(deciding, saved=state.decisions)


def _load(deciding: Deciding, name: str) -> Deciding:
    if not name:
        raise BadInputError("name a file, such as: load decisions.json.")
    state = decide_all(deciding.state, read_decisions(Path(name), deciding.model))
    if state is deciding.state:
        print("The file decides nothing new.")
        return deciding
    return _moved(deciding, state)


def _finish(deciding: Deciding, argument: str) -> Deciding:
    word, _, text = argument.partition(" ")
    text = text.strip().strip("\"'")
    if word != "by" or not text:
        raise BadInputError("say by what to finish, such as: finish by min cost.")
    goals = parse_objectives(text, deciding.model, deciding.attributes)
    if len(goals) > 1:
        raise BadInputError("finish takes one objective, such as: finish by min cost. Leave the others out.")
    finished = finish(deciding.state, goals[0], stage=deciding.stage, by=f"shortlist, {text}")
    if finished.state is deciding.state:
        raise BadInputError(f"{finished.answer.reason}. Nothing was decided; raise --time-limit.")
    proof = "proved" if finished.answer.status is Status.OPTIMAL else "not proved to be the best"
    value = goals[0].value_text(int(finished.answer.front.points[0, 0]))
    print(f"{text}: {value}, {proof}.")
    return _moved(deciding, finished.state)


def _help(deciding: Deciding, _: str) -> Deciding:
    width = max(len(f"{name} {one.usage}") for name, one in _COMMANDS.items())
    for name, one in _COMMANDS.items():
        print(f"{f'{name} {one.usage}':<{width}}  {one.purpose}")
    return deciding


def _quit(deciding: Deciding, _: str) -> Deciding:
    return dataclasses.replace(deciding, ended=True)


@dataclass(frozen=True)
class _Command:
    """Command that a user can type in the dialogue: its action, its usage, and its purpose."""

    act: Callable[[Deciding, str], Deciding]
    usage: str
    purpose: str


_COMMANDS = {
    "select": _Command(partial(_decided, selected=True), "FEATURE", "put a feature in, and see what follows"),
    "deselect": _Command(partial(_decided, selected=False), "FEATURE", "leave a feature out"),
    "why": _Command(_why, "FEATURE", "what forces the value that a feature has"),
    "open": _Command(_open, "[WORD]", "features that are not decided yet"),
    "decided": _Command(_decided_so_far, "", "the decisions so far"),
    "cost": _Command(_cost, "FEATURE", "what either choice leaves of every objective"),
    "left": _Command(_left, "", "ideal and worst value that are left of every objective"),
    "undo": _Command(_undo, "[STEPS]", "take back the last step, or several"),
    "stage": _Command(_stage, "NAME", "name the stage of the decisions that come"),
    "by": _Command(_by, "NAME", "say who decides from now on"),
    "save": _Command(_save, "FILE", "write the decisions (.json, .csv), or the product (.uvl, .config)"),
    "load": _Command(_load, "FILE", "make the decisions of a file, in one step"),
    "finish": _Command(_finish, "by OBJECTIVE", "decide all that is open, an objective at its best"),
    "help": _Command(_help, "", "this list"),
    "quit": _Command(_quit, "", "end the dialogue"),
}  # fmt: skip


def last_words(deciding: Deciding) -> str:
    """Return the last lines of a dialogue: unsaved decisions, as lines that can be typed again."""
    made = deciding.state.decisions
    if not deciding.unsaved or not made:
        return ""
    sides = {True: "select", False: "deselect"}
    typed = (f"  {sides[one.selected]} {deciding.model.labels[one.feature]}" for one in made)
    return "\n".join(["Decided and not saved:", *typed, ""])


MOST_NAMES = 40
"""Largest number of features that one line names."""


def names_of(model: FeatureModel, literals: Iterable[int]) -> str:
    """Return selected features, then deselected features, in words."""
    listed = list(literals)
    sides = (("in", [v - 1 for v in listed if v > 0]), ("out", [-v - 1 for v in listed if v < 0]))
    return "; ".join(
        f"{word}: {some(model.labels, features, most=MOST_NAMES)}" for word, features in sides if features
    )


def what_follows(state: DecisionState) -> str:
    """Return the consequences of the last step in words; empty if there are none."""
    if not state.follows:
        return ""
    n = len(state.follows)
    verb = "follows" if n == 1 else "follow"
    return f"{counted(n, 'feature')} {verb}: {names_of(state.problem.model, state.follows)}"


def what_is_left(state: DecisionState) -> str:
    """Return the numbers of open features and of remaining products in words."""
    model, n_open = state.problem.model, len(state.open)
    known = "" if state.complete else ", or fewer: not all that follows was found in time"
    text = (
        f"{n_open:,} of {counted(model.n_features, 'feature')} {'is' if n_open == 1 else 'are'} open{known}"
    )
    if state.n_products is None:
        return f"{text}; products are not counted: {state.problem.uncounted}."
    return f"{text}; {_count(state.n_products)}."


def _count(n_products: int) -> str:
    return f"{count_text(digits_of(n_products))} {'product is' if n_products == 1 else 'products are'} left"


def value_lines(values: Iterable[ValuesLeft]) -> list[str]:
    """Return a line for each objective: the remaining values, from the ideal to the worst."""
    return [
        f"  {one.objective.objective.sense} {one.objective.objective.name}: {one.text()}" for one in values
    ]


def refusal_lines(error: ContradictionError) -> list[str]:
    """Return the reason for refusing a decision, one line for each part of the contradiction."""
    head = str(error).partition(": ")[0]
    if error.contradiction is None:
        return [str(error)]
    lines = [f"{head}, as these contradict it ({proof_word(error.contradiction)}):"]
    lines += [f"  {sentence}" for sentence in error.sentences[:MOST_NAMES]]
    if len(error.sentences) > MOST_NAMES:
        lines.append(f"  and {len(error.sentences) - MOST_NAMES} more")
    return lines


def proof_word(found: Contradiction) -> str:
    """Return the known size of a contradiction in words."""
    if found.smallest:
        return "the fewest"
    return "none can be left out" if found.irreducible else "perhaps too many"


def choice_lines(model: FeatureModel, choice: FeatureChoice) -> list[str]:
    """Return the values possible now, and the values possible with either choice of a feature."""
    name = model.labels[choice.feature]
    heads = ("now", f"{name} selected", f"{name} deselected")
    lines: list[str] = []
    for head, side in zip(heads, (choice.now, choice.selected, choice.deselected), strict=True):
        if side is None:
            lines.append(f"{head}: cannot be had")
        else:
            count = "" if side.n_products is None else f", {_count(side.n_products)}"
            lines += [f"{head}{count}", *value_lines(side.values)]
    return lines


def state_facts(state: DecisionState) -> dict[str, Any]:
    """Return the facts for JSON on the end of a dialogue."""
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


def _value_facts(values: ValuesLeft) -> dict[str, Any]:
    goal = values.objective.objective
    facts: dict[str, Any] = {"name": goal.name, "sense": str(goal.sense)}
    for word, end in (("ideal", values.ideal), ("worst", values.worst)):
        for name, number in ((word, end.value), (f"{word}_bound", end.bound)):
            facts[name] = None if number is None else number * goal.sign / (goal.scale or 1)
    return facts
