"""What each line of the dialogue of `shortlist configure --interactive` does."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from shortlist._words import any_of, did_you_mean
from shortlist.cli.dialogue.decision_words import (
    MOST_NAMES,
    choice_lines,
    proof_word,
    typed_decisions,
    value_lines,
    what_follows,
    what_is_left,
)
from shortlist.errors import BadInputError

if TYPE_CHECKING:
    from shortlist.cli.files import Named
    from shortlist.products.attributes.attribute import Attribute
    from shortlist.products.decisions.decision_state import Decision, DecisionState
    from shortlist.products.feature_models.names import FeatureNames


@dataclass(frozen=True, eq=False)
class Deciding:
    """Where a dialogue is.

    Attributes
    ----------
    state : DecisionState
        What was decided, and what follows.
    names : FeatureNames
        How features may be called.
    attributes : mapping of str to Attribute
        What ``finish by`` may name.
    inputs : mapping of str to file
        Files that ``save`` must not overwrite.
    stage, by : str
        Of the decisions that come next.
    saved : tuple of Decision
        What the last file written holds.
    ended : bool
        Whether the user has had enough.
    """

    state: "DecisionState"
    names: "FeatureNames"
    attributes: "Mapping[str, Attribute]"
    inputs: "Mapping[str, Named]" = field(default_factory=dict)
    stage: str = ""
    by: str = ""
    saved: "tuple[Decision, ...]" = ()
    ended: bool = False

    @property
    def unsaved(self) -> bool:
        """Whether there are decisions that no file has."""
        return self.state.decisions != self.saved

    def feature(self, name: str) -> int:
        """Return the feature of that name."""
        if not name:
            raise BadInputError("name a feature, such as: select GPS. Type open for those that are left.")
        return self.names.find_all([name], "the line")[0]


def act(deciding: Deciding, line: str) -> Deciding:
    """Do what a line says, print the answer, and return where the dialogue is then.

    Raises
    ------
    BadInputError
        If the line cannot be followed; then nothing has changed.
    """
    word, _, argument = line.strip().partition(" ")
    if not word or word.startswith("#"):
        return deciding
    known = _COMMANDS.get(word.casefold())
    if known is None:
        hint = did_you_mean(word, _COMMANDS) or " Type help for a list."
        raise BadInputError(f"a line must begin with {any_of(_COMMANDS)}, got {word[:40]!r}.{hint}")
    return known.act(deciding, argument.strip())


def _select(deciding: Deciding, name: str) -> Deciding:
    return _decided(deciding, name, selected=True)


def _deselect(deciding: Deciding, name: str) -> Deciding:
    return _decided(deciding, name, selected=False)


def _decided(deciding: Deciding, name: str, *, selected: bool) -> Deciding:
    from shortlist.products.decisions.deciding import decide_feature
    from shortlist.products.decisions.decision_state import decision_text

    feature = deciding.feature(name)
    state = decide_feature(deciding.state, feature, selected=selected, stage=deciding.stage, by=deciding.by)
    print(f"{decision_text(state.problem.model, state.decisions[-1])}.")
    return _moved(deciding, state)


def _moved(deciding: Deciding, state: "DecisionState") -> Deciding:
    """Print what follows from a step, and what is left."""
    follows = what_follows(state)
    if follows:
        print(follows)
    print(what_is_left(state))
    if state.problem.diagram is not None:  # else it takes a program or two for each objective: ask for it
        _left(dataclasses.replace(deciding, state=state), "")
    return dataclasses.replace(deciding, state=state)


def _why(deciding: Deciding, name: str) -> Deciding:
    from shortlist.products.decisions.deciding import why

    feature = deciding.feature(name)
    found, sentences = why(deciding.state, feature)
    if found is not None:
        is_in = feature + 1 in deciding.state.forced
        label = deciding.state.problem.model.labels[feature]
        print(
            f"{label} is {'in' if is_in else 'out'}, as the opposite contradicts these ({proof_word(found)}):"
        )
    for sentence in sentences:
        print(f"  {sentence}")
    return deciding


def _open(deciding: Deciding, part: str) -> Deciding:
    labels = [deciding.state.problem.model.labels[feature] for feature in deciding.state.open]
    found = [label for label in labels if part.casefold() in label.casefold()]
    more = (
        f" and {len(found) - MOST_NAMES:,} more; open WORD names those with a word"
        if len(found) > MOST_NAMES
        else ""
    )
    print(", ".join(found[:MOST_NAMES]) + more if found else "none")
    return deciding


def _decided_so_far(deciding: Deciding, _: str) -> Deciding:
    from shortlist.products.decisions.decision_state import decision_text

    for decision in deciding.state.decisions:
        print(decision_text(deciding.state.problem.model, decision))
    if not deciding.state.decisions:
        print("nothing")
    return deciding


def _cost(deciding: Deciding, name: str) -> Deciding:
    from shortlist.products.decisions.choices import cost_of

    for line in choice_lines(deciding.state.problem.model, cost_of(deciding.state, deciding.feature(name))):
        print(line)
    return deciding


def _left(deciding: Deciding, _: str) -> Deciding:
    from shortlist.products.decisions.choices import values_left

    for line in value_lines(values_left(deciding.state) or ()):
        print(line)
    return deciding


def _undo(deciding: Deciding, steps: str) -> Deciding:
    from shortlist.products.decisions.deciding import undo

    if steps and not (steps.isdecimal() and len(steps) < 10):
        raise BadInputError(f"undo takes a number of steps, such as: undo 2; got {steps[:40]!r}.")
    state = undo(deciding.state, int(steps or 1))
    print(what_is_left(state))
    return dataclasses.replace(deciding, state=state)


def _stage(deciding: Deciding, name: str) -> Deciding:
    from shortlist.products.decisions.decision_state import refuse_other_than_a_line

    refuse_other_than_a_line("a stage", name)
    print(
        f"Decisions from now on belong to stage {name}." if name else "Decisions from now on have no stage."
    )
    return dataclasses.replace(deciding, stage=name)


def _by(deciding: Deciding, name: str) -> Deciding:
    from shortlist.products.decisions.decision_state import refuse_other_than_a_line

    refuse_other_than_a_line("a name", name)
    print(f"Decisions from now on are made by {name}." if name else "From now on decisions carry no name.")
    return dataclasses.replace(deciding, by=name)


def _save(deciding: Deciding, name: str) -> Deciding:
    """Write the decisions, or the product where nothing is open and the ending is one of products."""
    import numpy as np

    from shortlist.cli.files import check_files
    from shortlist.products.decisions.decision_files import DECISION_ENDINGS, write_decisions
    from shortlist.products.formats.configurations import write_configuration

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
    return deciding


def _load(deciding: Deciding, name: str) -> Deciding:
    from shortlist.products.decisions.deciding import decide_all
    from shortlist.products.decisions.decision_files import read_decisions

    if not name:
        raise BadInputError("name a file, such as: load decisions.json.")
    state = decide_all(deciding.state, read_decisions(Path(name), deciding.state.problem.model))
    if state is deciding.state:
        print("The file decides nothing new.")
        return deciding
    return _moved(deciding, state)


def _finish(deciding: Deciding, argument: str) -> Deciding:
    from shortlist.products.configuration.product_objectives import parse_objectives
    from shortlist.products.decisions.choices import finish
    from shortlist.results.proof import Status

    word, _, text = argument.partition(" ")
    text = text.strip().strip("\"'")
    if word != "by" or not text:
        raise BadInputError("say by what to finish, such as: finish by min cost.")
    goals = parse_objectives(text, deciding.state.problem.model, deciding.attributes)
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
    """What the first word of a line asks for, what comes behind it, and what it is for."""

    act: Callable[[Deciding, str], Deciding]
    usage: str
    purpose: str


_COMMANDS = {
    "select": _Command(_select, "FEATURE", "put a feature in, and see what follows"),
    "deselect": _Command(_deselect, "FEATURE", "leave a feature out"),
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


def last_words(deciding: Deciding) -> list[str]:
    """Return what is said at the end: decisions that no file has, as lines that can be typed again."""
    if not deciding.unsaved or not deciding.state.decisions:
        return []
    return ["Decided and not saved:", *(f"  {line}" for line in typed_decisions(deciding.state))]
