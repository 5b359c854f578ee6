"""Reading of a command line: the command that is named, and errors for unknown words."""

import contextlib
import dataclasses
import functools
import importlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import typer
import typer.core

from shortlist._words import all_of, did_you_mean
from shortlist.cli.options.settings import setting_fields, setting_forms, settings_of, typed_value
from shortlist.errors import BadInputError, MissingDependencyError

UsageError: Any = typer.BadParameter.__base__
"""Exception of typer for a command line that typer cannot read; typer exports no other name for it."""

FORMS = ("details", "json")
"""Names of the parameters that decide the form of an answer.

The user types the form before or after the name of a command. A command has a form if its function has the
parameter.
"""

FOR_EVERY = (*FORMS, "debug", "help")

COMMANDS = {
    "prune": "prune:prune",
    "evolve": "evolve:evolve",
    "panel": "panel:panel",
    "stage": "stage:stage",
    "stage use": "stage_use:use",
    "configure": "configure:configure",
    "solve": "solve:solve",
    "predict": "predict:predict",
    "measure": "measure:measure",
    "verify": "verify:verify",
    "report": "report:report",
    "export": "export:export_policy",
    "compare": "",
    "reproduce": "",
    "model info": "model:info",
    "model analyse": "model:analyse",
    "model diff": "model:diff",
    "model sample": "sample:sample",
    "model convert": "convert:convert",
    "model check": "check:check",
    "model slice": "convert:slice_",
    "front show": "front:show",
    "front pick": "front:pick",
    "front export": "front:export",
    "front diff": "front:diff",
    "front plot": "front:plot",
    "study show": "study:show",
    "study resume": "study:resume",
    "example": "example:example",
    "datasets list": "datasets:list_sets",
    "datasets fetch": "datasets:fetch",
    "datasets show": "datasets:show",
}
"""Every command by its words: its module in :mod:`shortlist.cli.commands`, and its function.

A command with an empty module belongs to the package of the papers.
"""

FORMER = {"panel compare": "measure"}
"""Former names of commands, which version 0.4 does not accept any more, and the present names."""

GROUPS = {
    "model": "Analyse, compare, sample and convert feature models.",
    "front": "Show, pick, compare, draw or export points of a front.",
    "study": "Show and resume studies.",
    "datasets": "List, describe and fetch data sets.",
}
"""First words that are no commands by themselves, and the purpose of their subcommands."""

AS_TYPED: dict[str, Any] = {
    "rich_markup_mode": None,  # rich takes longer to import than --help should take
    "context_settings": {"help_option_names": ["-h", "--help"]},
}

GONE = {
    "--report": "Write the page with --out PAGE.html.",
    "reproduce --report": "The folder of --out has the page in it.",
    "--anyway": "Leave it out: a model without a promise allows every point.",
    "--max-price": "Write --limit 'price<=NUMBER'.",
    **{
        f"--{role}": f"Write --columns {role}=NAME."
        for role in ("case", "judge", "answer", "price", "latency", "confidence", "score")
    },
}
"""Options up to version 0.3 that were removed, and advice on what to type instead."""

LEFT = {
    **{
        f"evolve --set {name}": "Leave it out: margins choose the members."
        for name in ("selection", "exact-every", "exact-time-limit")
    },
    **{
        f"prune --set probabilities={source}": "Leave it out: auto calibrates the scores."
        for source in ("calibrated-mean", "calibrated-shares", "cross-validated")
    },
    "prune --objectives min price-paid": "Write min cost: each point has the price paid with early exit.",
    "prune --objectives min time": "Write min size, or min cost with a price for each member.",
    "prune --objectives min bytes": "Write min size, or min cost with a price for each member.",
    "prune --set max-copies": "Write --method greedy-means, which takes members several times.",
    "stage --set accuracy-risk": "Write --answer-accuracy 0.9 for a promise, or a larger --confidence.",
    "stage --feature-model": "Name needed things in the column needs of --costs.",
    "stage --subclassifier pruned": "Write --subclassifier forest; Python takes any classifier.",
    "stage --subclassifier evolved": "Write --subclassifier forest; Python takes any classifier.",
    "verify --certificate .drat": "Leave it out: verify itself looks for missing points of a front.",
}
"""Advice in place of options, settings, values and endings of files of version 0.3, by command and option."""


def refuse_left(name: str, words: Sequence[str]) -> None:
    """Refuse options and values of version 0.3 that were removed, with advice on what to type instead.

    >>> refuse_left("stage", ["t.csv", "--subclassifier=pruned"])
    Traceback (most recent call last):
    ...
    shortlist.errors.BadInputError: --subclassifier pruned has left. Write --subclassifier forest; ...
    """
    for word, after in itertools.zip_longest(words, words[1:], fillvalue=""):
        option, equals, value = word.partition("=")
        value = value if equals else after
        setting = value.partition("=")[0]
        parts = [" ".join(part.split()).replace("_", "-") for part in value.split(",")]
        for typed in (
            option,
            *(f"{option} {part}" for part in [value, setting, PurePath(value).suffix, *parts]),
        ):
            if f"{name} {typed}" in LEFT:
                raise BadInputError(f"{typed} has left. {LEFT[f'{name} {typed}']}")


def asked(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the name of the command in a line, "" if there is none, and the words for the command.

    >>> asked(["--json", "panel", "compare", "p.json"])
    ('measure', ['--json', 'p.json'])
    """
    forms, names, rest = [], "", list(words)
    while rest:
        longer = f"{names} {rest[0]}".lstrip()
        if longer in COMMANDS or longer in GROUPS or longer in FORMER:
            names = FORMER.get(longer, longer)
        elif names in COMMANDS or rest[0] not in [f"--{form}" for form in FORMS]:
            break
        else:
            forms.append(rest[0])
        del rest[0]
    return names, [*forms, *rest]


@functools.cache
def command_named(name: str) -> Any:
    """Return a command by its name; the command's module is imported by the call.

    Raises MissingDependencyError if the command belongs to the package of the papers, and the package is not
    installed.
    """
    module, _, function = COMMANDS[name].partition(":")
    if module:
        callback = getattr(importlib.import_module(f"shortlist.cli.commands.{module}"), function)
    else:
        from shortlist.papers import papers_part

        callback = papers_part(name)
    single = typer.Typer(add_completion=False, **AS_TYPED)
    single.command(name, cls=Command)(callback)
    return typer.main.get_command(single)


class Loaded(Mapping[str, Any]):
    """Mapping of the commands behind a first word; a command is imported when it is requested.

    Without a first word the mapping holds the groups as well.
    """

    def __init__(self, first: str) -> None:
        begin = f"{first} " if first else ""
        behind = {name.removeprefix(begin): name for name in COMMANDS if name.startswith(begin)}
        own = {short: name for short, name in behind.items() if first or short.split()[0] not in GROUPS}
        self.names = own if first else own | dict.fromkeys(GROUPS, "")

    def __getitem__(self, short: str) -> Any:
        name = self.names[short]
        if not name:
            return Commands(name=short, help=GROUPS[short], no_args_is_help=True, **AS_TYPED)
        try:
            return command_named(name)
        except MissingDependencyError as error:
            return Command(name, help=str(error))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class Commands(typer.core.TyperGroup):
    """Group of commands; a name of two words may begin with a word that is itself a command."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        self.commands: Any = Loaded(self.name if self.name in GROUPS else "")

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command with the longest matching name, as a shell's completion needs it."""
        both = " ".join(args[:2])
        if len(args) > 1 and both in self.commands:
            return both, self.commands[both], args[2:]
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of the group, the options that every command has, and the commands."""
        params = self.get_params(ctx)
        _write(formatter, "Options", ctx, [one for one in params if one.name not in FOR_EVERY])
        if ctx.parent is None:
            _write(formatter, "For every command", ctx, [one for one in params if one.name in FOR_EVERY])
        self.format_commands(ctx, formatter)


class Command(typer.core.TyperCommand):
    """Command whose help lists its own options, and the options of each of its methods."""

    def __init__(self, name: str | None, **named: Any) -> None:
        super().__init__(name, **named)
        self.forms = [one for one in self.params if one.name in FORMS]
        self.params = [one for one in self.params if one.name not in FORMS]

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's own options and the forms of its answer."""
        return [*super().get_params(ctx), *self.forms]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the command's own arguments and options."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            _write(formatter, title, ctx, [one for one in self.params if one.param_type_name == kind])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the options of the methods, equal ones as a group, and the options of every command."""
        together: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for method, kind in settings_of(self).items():
            usual = {one.name: one.default for one in dataclasses.fields(kind)}
            rows = tuple(
                (setting.name, f"{setting.told}{_usual(usual[field])}")
                for field, setting in setting_fields(kind).items()
            )
            together.setdefault(rows, []).append(method)
        for rows, methods in together.items():
            with formatter.section(f"--set ({', '.join(methods)})"):
                formatter.write_dl(rows)
        forms = [one.name for one in self.forms]
        every = [f"--{name}" for name in FOR_EVERY if name not in FORMS or name in forms]
        formatter.write_paragraph()
        formatter.write_text(f"As for every command: {all_of(every)}; see shortlist --help.")
        super().format_epilog(ctx, formatter)


def _write(formatter: Any, title: str, ctx: Any, params: Iterable[Any]) -> None:
    rows = [row for one in params if (row := one.get_help_record(ctx)) is not None]
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)


def _usual(default: Any) -> str:
    return "" if default in (None, "", dataclasses.MISSING) else f"  [default: {typed_value(default)}]"


def misread(error: Any, words: Sequence[str]) -> str:
    """Return the message on a command line that cannot be read; for an empty command line, the help."""
    message = str(error.format_message())
    context, parameter = error.ctx, getattr(error, "param", None)
    if context is None or "\n" in message:
        return message
    option = getattr(error, "option_name", None)
    if option is not None and type(error).__name__ == "NoSuchOption":
        form = option.removeprefix("--") in FORMS
        none = f"{context.command_path.partition(' ')[2]} has no {option}. Leave it out."
        message = none if form else f"no such option: {option}.{_meant(option, context)}"
    elif parameter is not None and type(error) is typer.BadParameter:
        message = _wrong_kind(parameter, words) or message
    end = "" if message.endswith((".", "?")) else "."
    return f"{message[:1].lower()}{message[1:]}{end} See: {context.command_path} --help"


def _meant(option: str, context: Any) -> str:
    """Return advice on an unknown option: the option to type instead, or the commands that have it."""
    word, words = option.removeprefix("--"), context.command_path.partition(" ")[2]
    if word in setting_forms(context.command):
        return f" Write --set {word}={setting_forms(context.command)[word]}."
    gone = GONE.get(f"{words} {option}", GONE.get(option))
    if gone and {word for word in gone.split() if word.startswith("--")} <= _options(context.command):
        return f" {gone}"
    near = did_you_mean(option, [name for one in context.command.get_params(context) for name in one.opts])
    others = [name for name, command in all_commands() if option in _options(command)]
    return near or (f" It belongs to {all_of(others, most=4)}." if others else "")


def all_commands() -> Iterable[tuple[str, Any]]:
    """Return every installed command, with its words, such as ``front show``."""
    for name in COMMANDS:
        with contextlib.suppress(MissingDependencyError):
            yield name, command_named(name)


def _options(command: Any) -> set[str]:
    return {name for one in command.params for name in one.opts}


def _wrong_kind(parameter: Any, words: Sequence[str]) -> str:
    """Return a sentence on a text that is no number, with the kind of number that the option takes."""
    annotation = str(parameter.type_descriptor.annotation)
    kind = next((text for name, text in _KINDS.items() if name in annotation), None)
    option = parameter.opts[-1]
    if kind is None or not option.startswith("--"):
        return ""
    given = [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]
    given += [after for word, after in itertools.pairwise(words) if word == option]
    return f"{option} must be {kind}" + (f", got {given[-1]!r}." if given else ".")


_KINDS = {"int": "a whole number", "float": "a number"}
