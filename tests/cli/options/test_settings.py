"""Options of methods, typed as NAME=VALUE, and options in groups, as a command has them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from shortlist.cli.options.settings import (
    excludes,
    grouped,
    needs,
    read_numbers,
    read_pairs,
    read_settings,
    refuse_unused,
    setting_fields,
    settings_of,
)
from shortlist.errors import BadInputError
from tests.cli.command_lines import commands

COMMANDS = commands()


@dataclass(frozen=True)
class Walk:
    n_steps: Annotated[int, "How many steps."] = 3
    pace_limit_s: Annotated[float | None, "Seconds for a step."] = None
    brisk: Annotated[bool, "Whether it is brisk."] = False
    stop: Annotated[int | str, "Where it ends: a number or a name."] = "home"
    slack: Annotated[Mapping[str, float], "By place."] = field(default_factory=dict)
    colour: Annotated[str, "Of the shoes.", "shoes"] = "red"
    seed: int = 0


@dataclass(frozen=True)
class Ride:
    n_steps: Annotated[int, "How many steps."] = 3


KINDS: dict[str, type] = {"walk": Walk, "ride": Ride}


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (None, {}),
        (["steps=5"], {"n_steps": 5}),
        (["steps=5", "steps=6"], {"n_steps": 6}),
        (["slack=park=1", "slack=road=2"], {"slack": {"park": 1.0, "road": 2.0}}),
        (["shoes=left=red", "shoes=right=blue"], {"colour": "left=red,right=blue"}),
        (["n_steps=5", "pace-limit=1.5"], {"n_steps": 5, "pace_limit_s": 1.5}),
        (["walk.steps=5", "ride.steps=6"], {"walk.n_steps": 5, "ride.n_steps": 6}),
        (["shoes=blue"], {"colour": "blue"}),
        (["brisk=yes", "stop=7"], {"brisk": True, "stop": 7}),
        (["stop=corner", "slack=here=1,there=2"], {"stop": "corner", "slack": {"here": 1.0, "there": 2.0}}),
    ],
)
def test_values_have_the_types_of_the_fields(texts: list[str] | None, found: dict[str, Any]) -> None:
    assert read_settings(texts, KINDS) == found


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (["steps"], "--set must read NAME=VALUE, got 'steps'"),
        (["steps=few"], "--set steps must be a whole number, got 'few'"),
        (["brisk=1"], "--set brisk must be yes or no, got '1'"),
        (["pace-limit=long"], "--set pace-limit must be a number, got 'long'"),
        (["step=2"], "--set must name one of .*, got 'step'. Did you mean 'steps'"),
        (["seed=2"], "--set must name one of .*, got 'seed'"),
        (["ride.brisk=yes"], "--set must name one of steps, got 'brisk'"),
        (["swim.steps=2"], "--set must name a method, walk or ride, got 'swim'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(texts: list[str], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        read_settings(texts, KINDS)


WITH_SETTINGS = [words for words, command in COMMANDS.items() if settings_of(command)]


@pytest.mark.parametrize("words", WITH_SETTINGS)
def test_the_help_lists_every_setting_of_every_method(words: str) -> None:
    command = COMMANDS[words]
    shown = command.get_help(command.context_class(command, info_name=words))
    for method, kind in settings_of(command).items():
        assert method in shown
        for setting in setting_fields(kind).values():
            assert f"  {setting.name} " in shown
            assert setting.told.endswith(".")


def test_no_summary_of_a_command_is_cut_off_in_a_list() -> None:
    longest = 58  # characters beside the longest name, on a line of 80
    assert {words: one.get_short_help_str(longest) for words, one in COMMANDS.items()} == {
        words: one.get_short_help_str(1000) for words, one in COMMANDS.items()
    }


def test_commands_with_settings_say_where_they_are() -> None:
    assert {
        words for words, one in COMMANDS.items() if any(each.name == "settings" for each in one.params)
    } == set(WITH_SETTINGS)


def test_pairs_and_numbers_are_read_with_spaces_around_them() -> None:
    assert read_pairs(["a = b", "c=d=e"], "rename") == [("a", "b"), ("c", "d=e")]
    assert read_numbers("cost=2, defects = 1e-3", "weights") == {"cost": 2.0, "defects": 0.001}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cost", "--weights must read NAME=VALUE, got 'cost'"),
        ("=3", "--weights must read NAME=VALUE"),
        ("cost=dear", "--weights must read NAME=NUMBER, got 'dear' for 'cost'"),
        ("cost=0,5", "--weights must have numbers with a decimal point, got 'cost=0,5'. Write cost=0.5."),
        ("risk=2,cost=1.202,34", "got 'cost=1.202,34'. Write cost=1202.34."),
        ("cost=1,cost=2", "--weights must give each name once, got 'cost' twice"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        read_numbers(text, "weights")


@dataclass(frozen=True)
class Size:
    rows: Annotated[int, typer.Option(help="How many rows.")]
    columns: Annotated[int, typer.Option(help="How many columns.")] = 3
    depth: int = 1  # without a help no option


def test_fields_are_options_where_the_group_stands_and_come_back_as_the_group() -> None:
    seen = []

    @grouped
    def command(table: str, *, first: int = 0, size: Size, last: bool = False) -> None:
        seen.append((table, first, size, last))

    app = typer.Typer()
    app.command()(command)
    click = typer.main.get_command(app)
    assert [one.name for one in click.params][:5] == ["table", "first", "rows", "columns", "last"]
    assert click.params[2].required
    click.main(["t.csv", "--rows", "7", "--last"], standalone_mode=False)
    assert seen == [("t.csv", 0, Size(7, 3), True)]


def test_no_command_has_two_options_of_one_name() -> None:
    for words, command in COMMANDS.items():
        names = [one.name for one in command.params]
        assert len(names) == len(set(names)), words


ALL = needs("methods", "all")


@dataclass(frozen=True)
class One:
    folds: Annotated[int, typer.Option(), ALL] = 10
    repeats: Annotated[int, typer.Option("--repeats", "-r"), ALL] = 1
    trust: Annotated[bool, typer.Option("--trust"), excludes("methods")] = False


@dataclass(frozen=True)
class Front:
    pick: Annotated[str, typer.Option()] = "ideal"


BY_KIND: dict[str, tuple[type, ...]] = {"one": (One,), "--objectives": (Front,)}


@grouped
def command(context: typer.Context, *, methods: str | None = None, one: One, front: Front) -> None:
    refuse_unused(context, BY_KIND, "one")
    print("ran", methods, one, front)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--folds", "5"], "--folds belongs to `methods`. Leave it out, or add `methods='all'`."),
        (["--folds", "10"], "--folds belongs to `methods`. Leave it out, or add `methods='all'`."),
        (["-r", "2", "--folds", "5"], "--folds and --repeats belong to `methods`. Leave them out, or add `methods='all'`."),
        (["--methods", "all", "--trust"], "--trust cannot be used with `methods`. Leave it out."),
        (["--methods", "all", "--folds", "10"], None),
        (["--trust"], None),
        (["--pick", "knee"], "--pick belongs to --objectives. Leave it out."),
        ([], None),
    ],
)  # fmt: skip
def test_given_options_that_nothing_uses_are_refused_also_when_they_equal_the_default(
    arguments: list[str], message: str | None
) -> None:
    app = typer.Typer()
    app.command()(command)
    ran = CliRunner().invoke(app, arguments)
    if message is None:
        assert ran.stdout.startswith("ran")
    else:
        assert isinstance(ran.exception, BadInputError)
        assert str(ran.exception) == message
