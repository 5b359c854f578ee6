"""Options that belong together are the fields of a frozen dataclass, and a command takes several of these."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Any, get_type_hints

import typer

from shortlist.cli.options.settings import GIVEN, SETTINGS, Settings, read_settings, setting_fields


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has every field of its dataclass parameters as an option of its own.

    Such a parameter must be keyword-only, and the dataclass needs nothing but its fields. The command line
    shows the options in the order of the fields, with their annotations and defaults. A field that two
    have in common is one option, which both get. Fields that are settings
    (:mod:`shortlist.cli.options.settings`) are typed as ``--set NAME=VALUE``. A
    command whose methods have settings too takes these, as read, by a parameter called ``settings``.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     rows: int = 20
    ...     columns: int = 3
    >>> @grouped
    ... def show(*, size: Size, title: str = "") -> None:
    ...     print(size, title)
    >>> list(inspect.signature(show).parameters)
    ['rows', 'columns', 'title']
    >>> show(rows=1, columns=2, title="small")
    Size(rows=1, columns=2) small
    """
    kinds: dict[str, Any] = {}
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if is_dataclass(parameter.annotation):
            kinds[parameter.name] = parameter.annotation
            known = {one.name for one in flat}
            flat += [one for one in _parameters(parameter.annotation) if one.name not in known]
        else:
            flat.append(parameter)
    titled = {_title(kind): kind for kind in kinds.values() if setting_fields(kind)}
    own = any(one.name == SETTINGS for one in flat)
    if titled and not own:
        place = len(flat) - (flat[-1].name == "json")
        flat.insert(place, inspect.Parameter(SETTINGS, inspect.Parameter.KEYWORD_ONLY))
    flat = [one.replace(default=None, annotation=Settings) if one.name == SETTINGS else one for one in flat]
    usual = {
        one.name: _default(one)
        for kind in titled.values()
        for one in fields(kind)
        if one.name in setting_fields(kind)
    }

    @functools.wraps(command)
    def run(**given: Any) -> None:
        if titled or own:
            kinds_of_settings = run.settings()  # type: ignore[attr-defined]  # below
            found = read_settings(given.pop(SETTINGS), kinds_of_settings, given["context"].command)
            settled = usual | {name: value for name, value in found.items() if name in usual}
            given |= settled
            given["context"].params |= settled
            given["context"].meta[GIVEN] = set(found)
            if own:
                given[SETTINGS] = {name: value for name, value in found.items() if name not in usual}
        made = {
            name: kind(**{one.name: given[one.name] for one in fields(kind)}) for name, kind in kinds.items()
        }
        grouped = {one.name for kind in kinds.values() for one in fields(kind)}
        command(**{name: value for name, value in given.items() if name not in grouped}, **made)

    run.settings = lambda: titled  # type: ignore[attr-defined]  # a function takes any
    run.groups = tuple(kinds.values())  # type: ignore[attr-defined]  # likewise
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]  # a function takes any
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run


def _parameters(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    settings = setting_fields(kind)
    return [
        inspect.Parameter(
            one.name, inspect.Parameter.KEYWORD_ONLY, default=_default(one), annotation=hints[one.name]
        )
        for one in fields(kind)
        if one.name not in settings
    ]


def _title(kind: Any) -> str:
    """Return what a dataclass holds, as its first line says."""
    first = str(kind.__doc__).partition("\n")[0].rstrip(".")
    return first[:1].lower() + first[1:]


def _default(one: "Field[Any]") -> Any:
    return inspect.Parameter.empty if one.default is MISSING else one.default


@dataclass(frozen=True)
class Needs:
    """Marks a field whose option is used only together with something else."""

    what: str
    """What it belongs to, other parameters between backticks, which become what the user types."""
    met: Callable[[Mapping[str, Any]], bool]
    """Takes the values of all parameters by name, and says whether that is there."""
    instead: str = ""
    """What to do for the option to be used, such as ``"add `answers=True`"``; empty where there is nothing.
    """


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

    Raises BadInputError for the first such field.
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

    Raises BadInputError if an option was given in vain; the sentence names all that belong to the same.

    `context`: of the running command, with the values of its parameters and where each came from. `kinds`:
    what the command can do, as the user calls it, and the dataclasses whose fields are used then. A field of
    another one is refused. Options that are in none of them are always used.
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
