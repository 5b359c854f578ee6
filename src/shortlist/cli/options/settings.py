"""Options as fields of dataclasses; the options of a method are typed ``--set NAME=VALUE``.

A field is a setting if its annotation has a sentence for the help, and perhaps the name to type. The default
name to type is the field's name with hyphens, without a leading ``n_`` and without the unit ``_s`` at the
end: ``solve_limit_s`` is typed ``solve-limit``.
"""

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import typer

from shortlist._options import Flag, Needs, Of, marks_of
from shortlist._words import all_of, any_of, did_you_mean
from shortlist.errors import BadInputError

SETTINGS = "settings"
"""Name of a command's parameter that receives the values of ``--set``."""

GIVEN = "settings that were given"
"""Key under which a context keeps the names of the fields that were given by ``--set``."""

Run = TypeVar("Run", bound=Callable[..., None])
Kind = TypeVar("Kind")

Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Option of a method, out of those listed below; may be repeated."
    ),
]


class Fills:
    """Mark of an option that fills arguments of the library that have other names.

    An argument whose name is the option's name with ``n_`` in front, or ``_s`` at the end, needs no mark.
    `parts`: for each of several arguments, its part of the option's value, such as ``size`` of ``--limit
    'size<=7'``.
    """

    def __init__(self, *arguments: str, **parts: str) -> None:
        self.arguments = dict.fromkeys(arguments, "") | parts


def typed(field: str) -> str:
    """Return the name under which a user types a field.

    >>> typed("n_points"), typed("solve_limit_s")
    ('points', 'solve-limit')
    """
    return field.removeprefix("n_").removesuffix("_s").replace("_", "-")


@dataclasses.dataclass(frozen=True)
class Setting:
    """Field that is typed as NAME=VALUE: its type, its sentence for the help, and the name."""

    hint: Any
    told: str
    name: str


def hints_of(kind: type) -> dict[str, Any]:
    """Return the annotated types of a dataclass, as the command reads them.

    The type of a field that is marked as an option is the type of the typed text. A dataclass may have
    further marks for inherited fields (``MARKS``), or the words of fields that are typed with ``--set``
    (``AS_SETTINGS``).
    """
    hints = get_type_hints(kind, include_extras=True)
    for name, marks in getattr(kind, "MARKS", {}).items():
        hints[name] = Annotated[hints[name], *marks]
    for name, words in getattr(kind, "AS_SETTINGS", {}).items():
        hints[name] = Annotated[hints[name].__origin__, words]
    for name, hint in hints.items():
        marks = marks_of(hint)
        if any(isinstance(mark, Flag) for mark in marks):
            told = next(mark for mark in marks if isinstance(mark, str))
            option = typer.Option(f"--{typed(name)}", help=told)
            others = [mark for mark in marks if not isinstance(mark, str | Flag)]
            hints[name] = Annotated[_as_typed(hint.__origin__), option, *others]
    return hints


def _as_typed(hint: Any) -> Any:
    """Return the type of the text that a user types for a hint; str if a value may be text."""
    return str if str in get_args(hint) else hint


def option_fields(kind: type) -> list[dataclasses.Field[Any]]:
    """Return the fields of a dataclass that are options of the command: the fields with a help."""
    hints = hints_of(kind)
    return [
        one
        for one in dataclasses.fields(kind)
        if any(isinstance(mark, str) or hasattr(mark, "help") for mark in marks_of(hints[one.name]))
    ]


def setting_fields(kind: type) -> dict[str, Setting]:
    """Return the settings of a dataclass, by the name of the field."""
    found = {}
    for field, hint in hints_of(kind).items():
        told = [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, str)]
        if told:
            found[field] = Setting(hint.__origin__, told[0], told[1] if told[1:] else typed(field))
    return found


def as_settings(title: str, kinds: Sequence[type], *, but: Container[str] = ()) -> type:
    """Return a dataclass with the fields of several dataclasses, each typed with ``--set``.

    The default values are the defaults of `kinds`; :func:`of_settings` reads the values back. `but`: names of
    fields to leave out.
    """
    made = {}
    for kind in kinds:
        hints = hints_of(kind)
        for one in option_fields(kind):
            told = [getattr(mark, "help", mark) for mark in marks_of(hints[one.name])]
            words = sorted(told, key=lambda each: not isinstance(each, str))  # marks come last
            if one.name not in but:
                made[one.name] = (one.name, Annotated[hints[one.name].__origin__, *words], one.default)
    return dataclasses.make_dataclass(title, made.values(), frozen=True)


def options_of_methods(kind: type, methods: Iterable[str]) -> dict[str, type]:
    """Return a dataclass for each method: the fields of an estimator's dataclass that the method uses."""
    words = setting_fields(kind)
    fields = [one for one in dataclasses.fields(kind) if one.name in words]
    return {
        method: dataclasses.make_dataclass(
            method,
            [
                (one.name, one.type, one.default)
                for one in fields
                if all(method in mark for mark in marks_of(one.type) if isinstance(mark, Of))
            ],
            frozen=True,
        )
        for method in methods
    }


def of_settings(kind: type[Kind], settings: Mapping[str, Any], **others: Any) -> Kind:
    """Return a dataclass filled with the settings that are its fields, and with fields given by name."""
    names = {one.name for one in dataclasses.fields(kind)}  # type: ignore[arg-type]  # a dataclass
    return kind(**{name: value for name, value in settings.items() if name in names}, **others)


def read_settings(
    texts: Sequence[str] | None, kinds: Mapping[str, type], command: Any = None
) -> dict[str, Any]:
    """Read every ``--set`` of a command, by the names of the fields.

    Of several values for a name the last counts, but pairs add up: ``default=cost=0`` and
    ``default=defects=1``. Raises BadInputError if no method has the option, or the value has another type.
    With `command`, the message names an option of the command that takes the typed text.

    `kinds`: the dataclass of each method. A name may begin with a method, as in ``solrep.rule``, and keeps
    the method.
    """
    found: dict[str, Any] = {}
    for name, text in read_pairs(texts or (), "set"):
        method, dot, own = name.rpartition(".")
        if method and method not in kinds:
            raise BadInputError("--set", f"must name a method, {any_of(kinds)}", repr(method))
        fields = {
            field: setting
            for each, kind in kinds.items()
            if each == method or not method
            for field, setting in setting_fields(kind).items()
        }
        known = {setting.name: field for field, setting in fields.items()}
        field = known.get(own.replace("_", "-")) or (own if own in fields else "")
        if not field:
            hint = _own_option(own, command) or did_you_mean(own, known)
            raise BadInputError("--set", f"must name one of {any_of(sorted(known))}", repr(own), hint)
        key, value = method + dot + field, _value(text, fields[field].hint, name)
        if isinstance(value, dict):
            value = found.get(key, {}) | value
        elif isinstance(value, str) and "=" in value and key in found:
            value = f"{found[key]},{value}"
        found[key] = value
    return found


def _own_option(name: str, command: Any) -> str:
    """Return a sentence on the command's option that takes a text typed as a setting; else ""."""
    options = {} if command is None else options_of(command)
    own, option = f"--{name.replace('_', '-')}", options.get(name.replace("-", "_"), "")
    if own in options.values():
        option = own
    if option == own:
        return f" Write {option} VALUE."
    return f" Write {option}=NAME." if option == f"--columns {name}" else ""


def _value(text: str, hint: Any, name: str) -> Any:
    kinds = [each for each in get_args(hint) or (hint,) if each is not type(None)]
    if get_origin(hint) is not None and issubclass(get_origin(hint) or object, Mapping):
        return read_numbers(text, f"set {name}")
    if bool in kinds and text in ("yes", "no"):
        return text == "yes"
    for kind, words in ((int, "a whole number"), (float, "a number")):
        if kind in kinds and float not in kinds[kinds.index(kind) + 1 :]:
            try:
                return kind(text)
            except ValueError:
                if str not in kinds:
                    raise BadInputError(f"--set {name}", f"must be {words}", repr(text)) from None
    if bool in kinds:
        raise BadInputError(f"--set {name}", "must be yes or no", repr(text))
    return text


def options_of(command: Any) -> dict[str, str]:
    """Return the typed names of a command's parameters and settings, by their names in Python."""
    kinds = settings_of(command)
    settings = {
        field: f"--set {one.name}" for kind in kinds.values() for field, one in setting_fields(kind).items()
    }
    named = settings | {one.name: one.opts[0] for one in command.params if one.opts[0].startswith("--")}
    hints: dict[str, Any] = {}
    for kind in kinds.values():
        hints |= hints_of(kind)
    hints |= getattr(command.callback, "__annotations__", {})
    filled: dict[str, str] = {}
    for name, option in named.items():
        marks = [one for one in getattr(hints.get(name), "__metadata__", ()) if isinstance(one, Fills)]
        filled |= {f"n_{name}": option, f"{name}_s": option}
        for mark in marks:
            filled |= {each: f"{option} {part}".rstrip() for each, part in mark.arguments.items()}
    return filled | named


def having(settings: Callable[[], Mapping[str, type[Any]]]) -> Callable[[Run], Run]:
    """Return a decorator that notes the dataclasses of a command's methods."""

    def mark(command: Run) -> Run:
        own = getattr(command, "settings", dict)
        command.settings = lambda: {**settings(), **own()}  # type: ignore[attr-defined]  # takes any
        return command

    return mark


def settings_of(command: Any) -> Mapping[str, type]:
    """Return the dataclass of each method of a command; the dataclasses are loaded by this call."""
    load = getattr(command.callback, "settings", None)
    return load() if load is not None else {}


def setting_forms(command: Any) -> dict[str, str]:
    """Return the names that a user may type in ``--set NAME=VALUE``, each with the form of its value."""
    found = [one for kind in settings_of(command).values() for one in setting_fields(kind).values()]
    kinds = {one.name: {*(get_args(one.hint) or (one.hint,))} - {type(None)} for one in found}
    return {
        name: "yes" if kind == {bool} else "NUMBER" if kind <= {int, float} else "VALUE"
        for name, kind in kinds.items()
    }


def note_settings(context: typer.Context, options: object) -> None:
    """Add the options of a run's method to its facts, including options that were not typed."""
    context.params |= {field: getattr(options, field) for field in setting_fields(type(options))}


def typed_value(default: Any) -> str:
    """Return a value in the form in which a user types it."""
    return {True: "yes", False: "no"}[default] if isinstance(default, bool) else str(default)


def read_names(text: str) -> list[str]:
    """Read ``NAME,NAME``.

    >>> read_names("uwa, drep")
    ['uwa', 'drep']
    """
    return [part.strip() for part in text.split(",")]


def read_pairs(texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    """Read ``NAME=VALUE`` of a repeatable option."""
    pairs = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise BadInputError(f"--{option} must read NAME=VALUE, got {text!r}.")
        pairs.append((name.strip(), value.strip()))
    return pairs


def read_pair_list(text: str, option: str) -> list[tuple[str, str]]:
    """Read ``NAME=VALUE,NAME=VALUE``; refuse a number with a decimal comma, with a message that says so."""
    parts = text.split(",")
    for before, part in pairwise(parts):
        if re.fullmatch(r".*=\s*[-+]?[\d.]+\s*", before) and re.fullmatch(r"\s*\d+\s*", part):
            raise BadInputError(
                f"--{option} must have numbers with a decimal point, got {f'{before},{part}'!r}. Write "
                f"{before.replace('.', '')}.{part.strip()}."
            )
    return read_pairs(parts, option)


def read_numbers(text: str, option: str) -> dict[str, float]:
    """Read ``NAME=NUMBER,NAME=NUMBER``."""
    numbers: dict[str, float] = {}
    for name, value in read_pair_list(text, option):
        if name in numbers:
            raise BadInputError(f"--{option} must give each name once, got {name!r} twice.")
        try:
            numbers[name] = float(value)
        except ValueError:
            raise BadInputError(f"--{option} must read NAME=NUMBER, got {value!r} for {name!r}.") from None
    return numbers


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with one option for each field with a help of its dataclass parameters.

    A dataclass parameter must be keyword-only, and its dataclass is made from its fields alone. The command
    line shows the options in the order of the fields, with the fields' annotations and defaults. A field that
    two dataclasses share is one option, whose value both get. Fields that are settings are typed as ``--set
    NAME=VALUE``. A command whose methods have settings receives the read settings in a parameter named
    ``settings``.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     rows: Annotated[int, typer.Option(help="Rows.")] = 20
    ...     columns: Annotated[int, typer.Option(help="Columns.")] = 3
    ...     seed: int = 0
    >>> @grouped
    ... def show(*, size: Size, title: str = "") -> None:
    ...     print(size, title)
    >>> list(inspect.signature(show).parameters)
    ['rows', 'columns', 'title']
    >>> show(rows=1, columns=2, title="small")
    Size(rows=1, columns=2, seed=0) small
    """
    taken = inspect.signature(command).parameters
    annotated = {name: one.annotation for name, one in taken.items()}
    kinds: dict[str, Any] = {name: one for name, one in annotated.items() if dataclasses.is_dataclass(one)}
    flat: dict[str, inspect.Parameter] = {}
    titled: dict[str, type] = {}
    usual: dict[str, Any] = {}
    for name, parameter in taken.items():
        if name not in kinds:
            flat[name] = parameter
            continue
        kind, settings = kinds[name], setting_fields(kinds[name])
        hints = hints_of(kind)
        for one in option_fields(kind):
            default = parameter.empty if one.default is dataclasses.MISSING else one.default
            if one.name in settings:
                usual[one.name] = default
            else:
                own = parameter.replace(name=one.name, default=default, annotation=hints[one.name])
                flat.setdefault(one.name, own)
        if settings:
            first = str(kind.__doc__).partition("\n")[0].rstrip(".")
            titled[first[:1].lower() + first[1:]] = kind
    own_settings = SETTINGS in flat
    if titled or own_settings:
        json = flat.pop("json", None)  # which comes last
        flat[SETTINGS] = inspect.Parameter(
            SETTINGS, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Settings
        )
        flat |= {"json": json} if json is not None else {}
    fields = {name: [one.name for one in option_fields(kind)] for name, kind in kinds.items()}

    @functools.wraps(command)
    def run(**given: Any) -> None:
        if SETTINGS in flat:
            context = given["context"]
            found = read_settings(given.pop(SETTINGS), settings_of(context.command), context.command)
            settled = usual | {name: value for name, value in found.items() if name in usual}
            given |= settled
            context.params |= settled
            context.meta[GIVEN] = set(found)
            if own_settings:
                given[SETTINGS] = {name: value for name, value in found.items() if name not in usual}
        made = {name: kind(**{one: given[one] for one in fields[name]}) for name, kind in kinds.items()}
        command(**{name: value for name, value in given.items() if name in taken} | made)

    run.settings = lambda: titled  # type: ignore[attr-defined]  # a function takes any
    run.groups = tuple(kinds.values())  # type: ignore[attr-defined]  # likewise
    run.__signature__ = inspect.Signature([*flat.values()])  # type: ignore[attr-defined]  # likewise
    run.__annotations__ = {name: one.annotation for name, one in flat.items()}
    return run


NONE: Mapping[str, tuple[type, ...]] = {}


def needs(name: str, value: str = "") -> Needs:
    """Return the mark of an option that has an effect only if another parameter is given."""
    example = f"{name}={value!r}" if value else f"{name}=True"
    return Needs(f"`{name}`", lambda given: bool(given[name]), f"add `{example}`")


def excludes(name: str) -> Needs:
    """Return the mark of an option that has no effect if another parameter is given."""
    return Needs(f"`{name}`", lambda given: not given[name], verb="cannot be used with")


def unmet(hints: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[tuple[str, Needs]]:
    """Yield each parameter whose option has an unmet need, with the need."""
    for name, hint in hints.items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, Needs) and not mark.met(values):
                yield name, mark


def refuse_unmet(kind: type, given: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Refuse given fields of a dataclass whose needs `values` do not meet.

    Raises BadInputError for the first such field.
    """
    for name, mark in unmet(hints_of(kind), values):
        if name in given:
            raise _in_vain([f"`{name}`"], mark)


def refuse_unused(
    context: typer.Context, kinds: Mapping[str, tuple[type, ...]] = NONE, chosen: str = ""
) -> None:
    """Refuse options that the user gave and the command would not use, even with the default value.

    Raises BadInputError for such an option; the message names all given options of the same kind.

    `context`: context of the running command, with the value and the source of each parameter. `kinds`: kinds
    of run in words, each with the dataclasses whose fields it uses. `chosen`: kind of this run; a field of
    another kind's dataclass is refused. Options in none of the dataclasses are always used.
    """
    used = {one.name for kind in kinds.get(chosen, ()) for one in dataclasses.fields(kind)}
    owners: dict[str, dict[str, None]] = {}
    for what, classes in kinds.items():
        for name in (one.name for kind in classes for one in dataclasses.fields(kind)):
            if name not in used:
                owners.setdefault(name, {})[what] = None
    vain: dict[tuple[str, str], tuple[Needs, list[str]]] = {}
    for name in (one for one in owners if is_given(context, one)):
        mark = Needs(" and ".join(owners[name]), lambda _: False)
        vain.setdefault((mark.verb, mark.what), (mark, []))[1].append(name)
    callback: Any = context.command.callback
    hints = dict(callback.__annotations__)
    for kind in getattr(callback, "groups", ()):
        hints |= hints_of(kind)
    for name, mark in unmet(hints, context.params):
        if is_given(context, name):
            vain.setdefault((mark.verb, mark.what), (mark, []))[1].append(name)
    for mark, names in vain.values():
        named = options_of(context.command)
        typed_names = [named.get(name, name) for name in names]
        raise _in_vain(sorted(typed_names, key=lambda each: each.startswith("--set ")), mark)


def _in_vain(options: Sequence[str], mark: Needs) -> BadInputError:
    verb, them = (mark.verb.replace("belongs", "belong"), "them") if len(options) > 1 else (mark.verb, "it")
    way_out = f", or {mark.instead}" if mark.instead else ""
    return BadInputError(f"{all_of(options)} {verb} {mark.what}. Leave {them} out{way_out}.")


def is_given(context: typer.Context, option: str) -> bool:
    """Return whether the user gave a parameter, possibly with the default value."""
    if option in context.meta.get(GIVEN, ()):
        return True
    source = context.get_parameter_source(option)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")
