"""Options that belong together are the fields of a frozen dataclass, and a command takes several of these."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_type_hints

from shortlist.cli.options.settings import GIVEN, SETTINGS, Settings, read_settings, setting_fields


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has every field of its dataclass parameters as an option of its own.

    Such a parameter must be keyword-only, and the dataclass needs nothing but its fields. The command line
    shows the options in the order of the fields, with their annotations and defaults. A field that two
    have in common is one option, which both get. Fields that are settings
    (:mod:`shortlist.cli.options.settings`) are typed as ``--set NAME=VALUE``. A
    command whose methods have settings too takes these, as read, by a parameter called ``settings``.

    Examples
    --------
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

    @functools.wraps(command)
    def run(**given: Any) -> None:
        usual = {name: _default(one) for kind in titled.values() for name, one in _settings(kind).items()}
        if titled or own:
            found = read_settings(given.pop(SETTINGS), run.settings())  # type: ignore[attr-defined]
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
    """Return the fields of a dataclass that are options as parameters of a function."""
    hints = get_type_hints(kind, include_extras=True)
    settings = setting_fields(kind)
    return [
        inspect.Parameter(
            one.name, inspect.Parameter.KEYWORD_ONLY, default=_default(one), annotation=hints[one.name]
        )
        for one in fields(kind)
        if one.name not in settings
    ]


def _settings(kind: Any) -> "dict[str, Field[Any]]":
    return {one.name: one for one in fields(kind) if one.name in setting_fields(kind)}


def _title(kind: Any) -> str:
    """Return what a dataclass holds, as its first line says."""
    first = str(kind.__doc__).partition("\n")[0].rstrip(".")
    return first[:1].lower() + first[1:]


def _default(one: "Field[Any]") -> Any:
    return inspect.Parameter.empty if one.default is MISSING else one.default
