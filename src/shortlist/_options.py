"""Options written once, as annotated fields: type, help, typed name, check and use together.

An estimator is a dataclass of such fields, so its signature is the list of its options. The command reads
help and typed names from the same annotation (:mod:`shortlist.cli.options.settings`).
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Annotated, Any, Self, TypeVar, get_args, get_origin

from shortlist._validation import as_choice, as_count
from shortlist.errors import BadInputError

Check = Callable[[Any, str], object]
"""Function that refuses a bad value of the named option, with one sentence."""

Kind = TypeVar("Kind", bound=type)


@dataclasses.dataclass(frozen=True)
class Needs:
    """Mark of a field whose option has a condition on other options."""

    what: str
    """Condition in words, with other parameters between backticks, which become the typed names."""
    met: Callable[[Mapping[str, Any]], bool]
    """Function of the values of all parameters by name that returns whether the condition is met."""
    instead: str = ""
    """Advice on meeting the condition, such as ``"add `answers=True`"``; empty without advice."""
    verb: str = "belongs to"
    """Verb between the option and the condition."""


class Of(frozenset[str]):
    """Mark of a field that only some methods have."""

    def __new__(cls, *methods: str) -> Self:
        """Return the mark of some methods, by name."""
        return super().__new__(cls, methods)


class Flag:
    """Mark of a field that is an option of its own for the command, and no setting of a method."""


FLAG = Flag()


def one_of(*choices: str) -> Check:
    """Return the check for one of several names."""
    return functools.partial(as_choice, choices=choices)


def count(at_least: int = 1, at_most: int | None = None) -> Check:
    """Return the check for an integer in a range."""
    return functools.partial(as_count, at_least=at_least, at_most=at_most)


def at_least_0(value: Any, name: str) -> None:
    """Refuse all but finite numbers of at least 0; NumPy's numbers are allowed."""
    if not (_is_number(value) and 0 <= value < math.inf):
        raise BadInputError(name, "must be a number of at least 0", repr(value))


def share(value: Any, name: str) -> None:
    """Refuse all but numbers from 0 to 1; NumPy's numbers are allowed."""
    if not (_is_number(value) and 0 <= value <= 1):
        raise BadInputError(name, "must be between 0 and 1", repr(value))


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_fields(options: object) -> None:
    """Apply the checks of a dataclass's annotated fields, in their order; None passes if its hint has it.

    Raises BadInputError for the first option that has a bad value.
    """
    for one in dataclasses.fields(options):  # type: ignore[arg-type]  # a dataclass
        for check in filter(callable, marks_of(one.type)):
            value = getattr(options, one.name)
            if value is not None or not allows_none(one.type):
                check(value, one.name)


def allows_none(hint: Any) -> bool:
    """Return whether an annotation has None among its types, or Any.

    >>> allows_none(Annotated[int | None, "Number of rows."]), allows_none(Annotated[int, "Number of rows."])
    (True, False)
    """
    plain = hint.__origin__ if get_origin(hint) is Annotated else hint
    return plain is Any or type(None) in get_args(plain)


def marks_of(hint: Any) -> tuple[Any, ...]:
    """Return the marks of an annotation."""
    return getattr(hint, "__metadata__", ())


def plain_signature(kind: Kind) -> Kind:
    """Return a dataclass whose signature shows plain types, for readers and scikit-learn.

    >>> @plain_signature
    ... @dataclasses.dataclass
    ... class Size:
    ...     rows: Annotated[int, "Number of rows.", count()] = 20
    >>> import inspect
    >>> print(inspect.signature(Size))
    (rows: int = 20) -> None
    """
    hints = kind.__init__.__annotations__  # type: ignore[misc]  # made by dataclass
    for name, hint in hints.items():
        if get_origin(hint) is Annotated:
            hints[name] = hint.__origin__
    return kind
