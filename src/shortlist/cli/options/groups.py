"""Options that belong together are the fields of a frozen dataclass, and a command takes several of these."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has every field of its dataclass parameters as an option of its own.

    Such a parameter must be keyword-only, and the dataclass needs nothing but its fields. The command line
    shows the options in the order of the fields, with their annotations and defaults.

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
            flat += _parameters(parameter.annotation)
        else:
            flat.append(parameter)

    @functools.wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: kind(**{one.name: given.pop(one.name) for one in fields(kind)})
            for name, kind in kinds.items()
        }
        command(**given, **made)

    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]  # a function takes any
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run


def _parameters(kind: Any) -> list[inspect.Parameter]:
    """Return the fields of a dataclass as parameters of a function."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            one.name, inspect.Parameter.KEYWORD_ONLY, default=_default(one), annotation=hints[one.name]
        )
        for one in fields(kind)
    ]


def _default(one: "Field[Any]") -> Any:
    return inspect.Parameter.empty if one.default is MISSING else one.default
