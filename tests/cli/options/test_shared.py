"""One flag has one type, one beginning of its help and one meaning in every command."""

import re
from collections import defaultdict
from typing import Any

import pytest

from shortlist.cli.options.shared import check_shared
from shortlist.errors import BadInputError
from tests.cli.command_lines import called, commands

MEANINGS = {
    "MODEL": {
        "export": "a saved model",
        "predict": "a saved model",
        "measure": "a saved model",
        "verify": "a saved model",
        "stage use": "a saved model",
    },
    "FIRST": {"front diff": "a front; elsewhere a feature model"},
    "SECOND": {"front diff": "a front; elsewhere a feature model"},
    "--out": {
        "reproduce": "a folder of tables; elsewhere a file",
        "prune": "a front, a model and a page; elsewhere a file",
        "evolve": "a model and a page",
        "stage": "a front, a model and a page",
        "configure": "a front and a page",
        "solve": "a front and a page",
        "compare": "a front or a table, and a page",
        "panel": "a panel, its front and a page",
        "export": "a policy, and what answers by it",
        "model convert": "a model, and its attributes",
        "front pick": "a product or points, and a page",
    },
    "FILE": {"report": "any result"},
    "TABLE": {"measure": "likewise, or logs of a panel"},
    "--costs": {
        "prune": "prices of classifiers; elsewhere of features",
        "compare": "prices of judges or of features",
        "panel": "prices of judges",
        "measure": "prices of judges",
    },
    "--test": {"panel": "a log of cases; elsewhere a table of rows"},
    "--pick": {"evolve": "the model to write; elsewhere a point"},
    "--target": {
        "panel": "a column or field of a log, which is mostly found",
    },
}
"""Commands in which a flag means something else than elsewhere, with what it means."""

MODEL_COMMANDS = ("info", "analyse", "diff", "convert", "slice", "sample")

DEFAULTS = {
    "--target": {"measure": "the column that the model predicts"},
    "--out": {
        "export": "must be given",
        "front export": "must be given",
        "front plot": "must be given",
        "report": "must be given",
    },
    "--method": {"prune": "exact", "stage": "auto", "configure": "auto", "evolve": "offline"},
    "--objectives": {
        "stage": "three of seven; a product line has its own attributes",
        "panel": "accuracy and price",
    },
    "--time-limit": dict.fromkeys(
        ("prune", *(f"model {name}" for name in MODEL_COMMANDS)),
        "60 s for a proof; elsewhere by the method, or none",
    ),
    "--seed": {
        "configure": "0 by the method, which refuses a seed that it does not use",
        "solve": "likewise",
    },
    "--workers": {
        "panel": "1, as most searches end before processes have started",
        "configure": "1 by the method, which refuses workers that it does not use",
        "solve": "likewise",
        "compare": "1, as runs side by side are timed",
        "reproduce": "1, as runs side by side are timed",
    },
    "--pick": {
        "panel": "by the limit on the price",
        "prune": "the rule that the verdict names, or ideal of a front; stages have a rule of their own",
        "evolve": "the rule that the verdict names",
        "front show": "none unless it is asked for",
        "front pick": "by the front, and by the options beside it",
    },
}
"""Commands in which a flag has another default than elsewhere, with the reason."""


def _uses() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for words, command in commands().items():
        for one in command.params:
            found[called(one)][words] = one
    return {flag: uses for flag, uses in found.items() if len(uses) > 1}


USES = _uses()


def _others(flag: str, exceptions: dict[str, dict[str, str]]) -> list[Any]:
    return [one for words, one in USES[flag].items() if words not in exceptions.get(flag, {})]


@pytest.mark.parametrize("flag", USES)
def test_the_same_flag_has_the_same_type(flag: str) -> None:
    assert len({str(one.type_descriptor.annotation) for one in _others(flag, MEANINGS)}) <= 1


@pytest.mark.parametrize("flag", USES)
def test_the_help_of_the_same_flag_begins_alike(flag: str) -> None:
    beginnings = {re.split(r"[:;,.](?:\s|$)", one.help)[0] for one in _others(flag, MEANINGS)}
    assert len(beginnings) <= 1


@pytest.mark.parametrize("flag", USES)
def test_the_same_flag_has_the_same_default_unless_there_is_a_reason(flag: str) -> None:
    defaults = {
        str(one.default)
        for words, one in USES[flag].items()
        if words not in {**MEANINGS.get(flag, {}), **DEFAULTS.get(flag, {})}
    }
    assert len(defaults) <= 1


def test_every_exception_is_of_a_flag_and_a_command_that_there_are() -> None:
    for exceptions in (MEANINGS, DEFAULTS):
        for flag, words in exceptions.items():
            assert set(words) <= set(USES[flag]), flag


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": -1}, "--seed must be at least 0"),
        ({"workers": 0}, "--workers must be a number of workers"),
        ({"time_limit": 0.0}, "--time-limit must be"),
        ({"rows": -1}, "--rows must be at least 0"),
    ],
)
def test_what_cannot_be_is_refused_by_its_flag(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        check_shared(given)


def test_what_a_command_does_not_have_is_passed_over() -> None:
    check_shared({"seed": None, "workers": -1})
