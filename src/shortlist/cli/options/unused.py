"""Options that a command would ignore are refused, by what the fields of its dataclasses say themselves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

import typer


@dataclass(frozen=True)
class Needs:
    """Marks a field whose option is used only together with something else.

    Attributes
    ----------
    what : str
        What it belongs to, other parameters between backticks, which become what the user types.
    met : callable
        Takes the values of all parameters by name, and says whether that is there.
    instead : str
        What to do for the option to be used, such as ``"add `answers=True`"``; empty where there is nothing.
    """

    what: str
    met: Callable[[Mapping[str, Any]], bool]
    instead: str = ""


NONE: Mapping[str, tuple[type, ...]] = {}


def needs(name: str, value: str = "") -> Needs:
    """Return the mark of what belongs to another parameter, which has to be given."""
    example = f"{name}={value!r}" if value else f"{name}=True"
    return Needs(f"`{name}`", lambda given: bool(given[name]), f"add `{example}`")


def excludes(name: str) -> Needs:
    """Return the mark of what a run with another parameter has no use for."""
    return Needs(f"a run without `{name}`", lambda given: not given[name])


def refuse_unmet(kind: type, given: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Refuse fields of a dataclass that were given, where what they need is not among the values.

    Raises
    ------
    BadInputError
        For the first such field.
    """
    from shortlist.errors import BadInputError

    for name, hint in get_type_hints(kind, include_extras=True).items():
        for mark in hint.__metadata__:
            if name in given and isinstance(mark, Needs) and not mark.met(values):
                way_out = f", or {mark.instead}" if mark.instead else ""
                raise BadInputError(f"`{name}` belongs to {mark.what}. Leave it out{way_out}.")


def refuse_unused(
    context: typer.Context, kinds: Mapping[str, tuple[type, ...]] = NONE, chosen: str = ""
) -> None:
    """Refuse options that the user gave and the command would not use, also where the value is the default.

    Parameters
    ----------
    context : typer.Context
        Of the running command, with the values of its parameters and where each came from.
    kinds : mapping of str to tuple of type
        What the command can do, as the user calls it, and the dataclasses whose fields are used then. A field
        of another one is refused. Options that are in none of them are always used.
    chosen : str
        What it does.

    Raises
    ------
    BadInputError
        If an option was given in vain; the sentence names all that belong to the same.
    """
    fields_of = {
        what: {one.name: None for each in classes for one in fields(each)} for what, classes in kinds.items()
    }
    owners: dict[str, list[str]] = {}
    for what, names in fields_of.items():
        for name in names:
            if name not in fields_of[chosen]:
                owners.setdefault(name, []).append(what)
    vain: dict[tuple[str, str], list[str]] = {}
    for option in (one for one in owners if is_given(context, one)):
        vain.setdefault((" and ".join(owners[option]), ""), []).append(option)
    callback: Any = context.command.callback
    hints = dict(callback.__annotations__)
    for kind in getattr(callback, "groups", ()):
        hints |= get_type_hints(kind, include_extras=True)
    for name, hint in hints.items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, Needs) and not mark.met(context.params) and is_given(context, name):
                vain.setdefault((mark.what, mark.instead), []).append(name)
    for (what, instead), options in vain.items():
        _refuse(context, options, what, instead)


def _refuse(context: typer.Context, options: list[str], what: str, instead: str) -> None:
    from shortlist._words import all_of
    from shortlist.errors import BadInputError

    several = len(options) > 1
    named = all_of([typed_name(context, option) for option in options])
    way_out = f", or {instead}" if instead else ""
    raise BadInputError(
        f"{named} {'belong' if several else 'belongs'} to {what}. "
        f"Leave {'them' if several else 'it'} out{way_out}."
    )


def is_given(context: typer.Context, option: str) -> bool:
    """Whether the user gave a parameter, be it with the value that is the default."""
    from shortlist.cli.options.settings import GIVEN

    if option in context.meta.get(GIVEN, ()):
        return True
    source = context.get_parameter_source(option)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")


def typed_name(context: typer.Context, option: str) -> str:
    """Return what a parameter is called on the command line, such as ``--max-size``."""
    from shortlist.cli.options.settings import options_of

    typed = [each.opts for each in context.command.params if each.name == option]
    return max(typed[0], key=len) if typed else options_of(context.command).get(option, option)
