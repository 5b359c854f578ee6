"""How a command line is read: what every command takes, and what is said of words that none takes."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import typer
import typer.core

from shortlist._words import all_of, did_you_mean
from shortlist.cli.options.settings import setting_fields, setting_names, settings_of, typed_value

UsageError: Any = typer.BadParameter.__base__
"""What typer raises of a command line that it cannot read; it exports no other name for it."""

FORMS = ("details", "json")
"""Forms of an answer, by the names of the parameters.

They are said before or after the name of the command, which has a form if its function has the parameter.
"""

FOR_EVERY = (*FORMS, "debug", "help")

GONE = {
    "--report": "Write the page with --out PAGE.html.",
    "reproduce --report": "The folder of --out has the page in it.",
    "--anyway": "Leave it out: of a model that promises nothing every point may be taken.",
    "--max-price": "Write --limit 'price<=NUMBER'.",
    **{
        f"--{role}": f"Write --columns {role}=NAME."
        for role in ("case", "judge", "answer", "price", "latency", "confidence", "score")
    },
}
"""Options and settings that there were until version 0.3, and what is typed in their place."""


class Commands(typer.core.TyperGroup):
    """A group of commands; the name of one may be two words, the first of which is a command of its own."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the group's own options and those of every command."""
        return _with_forms(ctx, super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words before the name of the command."""
        rest = super().parse_args(ctx, args)
        _take_forms(ctx)
        return rest

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command by the longest name."""
        both = " ".join(args[:2])
        if both in self.commands and len(args) > 1:
            return both, self.commands[both], args[2:]
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of the group, those of every command by themselves, and the commands."""
        params = super().get_params(ctx)
        _write(formatter, "Options", ctx, [one for one in params if one.name not in FOR_EVERY])
        if ctx.parent is None:
            _write(formatter, "For every command", ctx, [one for one in params if one.name in FOR_EVERY])
        self.format_commands(ctx, formatter)


class Command(typer.core.TyperCommand):
    """A command whose help lists its own options, and those of each of its methods."""

    def __init__(self, name: str | None, **named: Any) -> None:
        super().__init__(name, **named)
        self.forms = [one.name for one in self.params if one.name in FORMS]
        self.params = [one for one in self.params if one.name not in FORMS]

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's own options and those of every command."""
        return _with_forms(ctx, super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words after the name, and refuse forms of an answer that the command does not have."""
        rest = super().parse_args(ctx, args)
        asked = _take_forms(ctx)
        for name in asked:
            if name not in self.forms and not ctx.resilient_parsing:
                ctx.fail(f"{ctx.command_path.partition(' ')[2]} has no --{name}. Leave it out.")
        ctx.params |= {name: name in asked for name in self.forms}
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the command's own arguments and options."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            _write(formatter, title, ctx, [one for one in self.params if one.param_type_name == kind])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the options of the methods, those with the same ones together, and what every command has."""
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
        every = [f"--{name}" for name in FOR_EVERY if name not in FORMS or name in self.forms]
        formatter.write_paragraph()
        formatter.write_text(f"As for every command: {all_of(every)}; see shortlist --help.")
        super().format_epilog(ctx, formatter)


class CommandGroup(typer.Typer):
    """A group to which functions are added as commands."""

    def __init__(self, **named: Any) -> None:
        super().__init__(cls=Commands, no_args_is_help=True, **named)

    def command(self, name: str | None = None, **named: Any) -> Callable[[Any], Any]:
        """Return what adds a function as a command."""
        return super().command(name, cls=Command, **named)


def _forms_of(ctx: Any) -> list[Any]:
    return [one for one in ctx.find_root().command.params if one.name in FORMS]


def _with_forms(ctx: Any, params: list[Any]) -> list[Any]:
    return params if ctx.parent is None else [*params, *_forms_of(ctx)]


def _take_forms(ctx: Any) -> list[str]:
    """Return the forms asked for so far, those in this context's words among them."""
    asked = {name for name in FORMS if ctx.params.pop(name, False)}
    ctx.meta[FORMS] = asked | ctx.meta.get(FORMS, set())
    return sorted(ctx.meta[FORMS])


def _write(formatter: Any, title: str, ctx: Any, params: Iterable[Any]) -> None:
    rows = [row for one in params if (row := one.get_help_record(ctx)) is not None]
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)


def _usual(default: Any) -> str:
    return "" if default in (None, "", dataclasses.MISSING) else f"  [default: {typed_value(default)}]"


def misread(error: Any, words: Sequence[str]) -> str:
    """Return what to say of a command line that cannot be read, or the help where nothing was asked."""
    message = str(error.format_message())
    context, parameter = error.ctx, getattr(error, "param", None)
    if context is None or "\n" in message:
        return message
    option = getattr(error, "option_name", None)
    if option is not None and type(error).__name__ == "NoSuchOption":
        message = f"no such option: {option}.{_meant(option, context)}"
    elif parameter is not None and type(error) is typer.BadParameter:
        message = _wrong_kind(parameter, words) or message
    end = "" if message.endswith((".", "?")) else "."
    return f"{message[:1].lower()}{message[1:]}{end} See: {context.command_path} --help"


def _meant(option: str, context: Any) -> str:
    """Say what is typed in place of an option that there is not, or which commands have it."""
    if option.removeprefix("--") in setting_names(context.command):
        return f" Write --set {option.removeprefix('--')}=VALUE."
    gone = GONE.get(f"{context.info_name} {option}", GONE.get(option))
    if gone and {word for word in gone.split() if word.startswith("--")} <= _options(context.command):
        return f" {gone}"
    near = did_you_mean(option, [name for one in context.command.get_params(context) for name in one.opts])
    others = [words for words, command in walked(context.find_root().command) if option in _options(command)]
    return near or (f" It belongs to {all_of(others, most=4)}." if others else "")


def walked(command: Any, words: tuple[str, ...] = ()) -> Iterable[tuple[str, Any]]:
    """Return every command of a group by its words, such as ``front show``."""
    if not hasattr(command, "commands"):
        return [(" ".join(words), command)]
    found = [walked(inner, (*words, word)) for word, inner in command.commands.items()]
    return itertools.chain.from_iterable(found)


def _options(command: Any) -> set[str]:
    return {name for one in command.params for name in one.opts}


def _wrong_kind(parameter: Any, words: Sequence[str]) -> str:
    """Say which kind of number an option takes, and what came."""
    annotation = str(parameter.type_descriptor.annotation)
    kind = next((text for name, text in _KINDS.items() if name in annotation), None)
    option = parameter.opts[-1]
    if kind is None or not option.startswith("--"):
        return ""
    given = [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]
    given += [after for word, after in itertools.pairwise(words) if word == option]
    return f"{option} must be {kind}" + (f", got {given[-1]!r}." if given else ".")


_KINDS = {"int": "a whole number", "float": "a number"}
