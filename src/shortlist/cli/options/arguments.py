"""What the library's arguments are called on the command line.

Messages of the library speak of its arguments, as Python has them; the command translates. An argument that
has the name of an option needs no entry: ``max_stages`` is ``--max-stages`` where the command has that
option.
"""

import contextlib
import functools
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar

OPTIONS = {
    "call_cost_per_feature": "--call-cost-per-feature",
    "checkpoint": "--study",
    "crossover_rate": "--crossover",
    "defaults": "--default",
    "emsco_options": "the options of emsco",
    "enumeration_budget": "--budget",
    "exact_time_limit_s": "--exact-time-limit",
    "feature_costs": "--costs",
    "limits": "--limit",
    "max_bytes": "--max-memory",
    "may_abstain": "--no-abstentions",
    "member_costs": "--member-costs",
    "n_classifiers": "--classifiers",
    "n_elites": "--elites",
    "n_evaluations": "--evaluations",
    "n_folds": "--folds",
    "n_generations": "--generations",
    "n_jobs": "--workers",
    "n_points": "--points",
    "n_repeats": "--repeats",
    "n_seeds": "--seeds",
    "n_starts": "--starts",
    "penalties": "--penalty",
    "population_size": "--population",
    "purchase_rules": "--feature-model",
    "random_state": "--seed",
    "reject_label": "the label REJECT",
    "solve_limit_s": "--solve-limit",
    "time_limit_s": "--time-limit",
}
"""Arguments that have another name here, the same in every command that passes them on."""

OWN: dict[str, dict[str, str]] = {
    "compare": {"method": "--methods"},
    "prune": {"rule": "--method"},
    "stage": {
        "dataset": "--costs-dataset",
        "first_prices": "--costs",
        "groups": "--costs",
        "needs": "--costs",
        "seeds": "--recall",
        "n_seeds": "--recall",
    },
    "datasets fetch": {"folder": "--data"},
    "reproduce": {"folder": "--data"},
    "front pick": {"order": "--best", "rule": "--pick"},
    "model convert": {"kind": "--to"},
    "model slice": {"kind": "--to"},
    "front show": {"rule": "--pick"},
}
"""Arguments that are called otherwise in one command."""

NEVER_ENGLISH = ("checkpoint",)
"""Arguments of one word that no sentence for people uses for anything else."""

VALUE = r"'[^']*'|\"[^\"]*\"|[\w.+-]*\w"
PAIR = r"\{('[^']*'|\"[^\"]*\"): ([\w.+-]+)\}"


def in_options(sentence: str, command: str = "", options: Mapping[str, str] | None = None) -> str:
    """Call arguments by the names of the command's options, and leave out values that cannot be typed.

    Parameters
    ----------
    sentence : str
        Of the library.
    command : str
        The words of the command, such as ``front pick``.
    options : mapping of str to str, optional
        What the command's own parameters are called, such as ``max_stages``: ``--max-stages``.

    Examples
    --------
    >>> in_options("n_folds must be at least 2, got 1.")
    '--folds must be at least 2, got 1.'
    >>> options = {"method": "--method", "max_stages": "--max-stages"}
    >>> in_options("Use method='windows', or a lower max_stages.", "stage", options)
    'Use --method windows, or a lower --max-stages.'
    >>> in_options("method must be one of exact or uwa. This method is slow.", "prune", options)
    '--method must be one of exact or uwa. This method is slow.'
    >>> in_options("Pass defaults={'Cost (EUR)': 0}.")
    "Pass --default 'Cost (EUR)=0'."
    """
    own = dict(options or {})
    shared = {
        argument: option
        for argument, option in OPTIONS.items()
        if not own or not option.startswith("--") or option in own.values()
    }
    names = shared | own | OWN.get(command, {})
    for argument in sorted(names, key=len, reverse=True):
        option = names[argument]
        word = rf"(?<![\w'\"/.-]){re.escape(argument)}"
        if option.startswith("--"):
            sentence = re.sub(rf"{word}={PAIR}", functools.partial(_typed_pair, option), sentence)
            sentence = re.sub(rf"{word}=({VALUE})", functools.partial(_typed, option), sentence)
        if "_" in argument or argument in NEVER_ENGLISH:
            sentence = re.sub(rf"{word}(?![\w'\"=./-]*[\w'\"=/])", option, sentence)
        else:  # a word of plain English: only where a sentence begins with it
            sentence = re.sub(rf"^{word}(?= (?:must|names|needs|has|belongs to) )", option, sentence)
    return sentence.replace(" or None,", ",")


def _typed(option: str, found: re.Match[str]) -> str:
    """Show an option with its value as one types it."""
    plain = found[1].strip("'\"")
    return option if plain in {"True", "None"} else f"{option} {shlex.quote(plain)}"


def _typed_pair(option: str, found: re.Match[str]) -> str:
    """Show an option of ``NAME=VALUE`` as one types it."""
    return f"{option} {shlex.quote(f'{found[1][1:-1]}={found[2]}')}"


_translate: ContextVar[Callable[[str], str]] = ContextVar("translate")
"""What calls arguments by the options of the command that runs."""


@contextlib.contextmanager
def speaking(translate: Callable[[str], str]) -> Iterator[None]:
    """Let :func:`as_typed` use this translation while a command runs."""
    token = _translate.set(translate)
    try:
        yield
    finally:
        _translate.reset(token)


def as_typed(sentence: str) -> str:
    """Call arguments by the options of the running command; see :func:`in_options`."""
    translate = _translate.get(None)
    return sentence if translate is None else translate(sentence)
