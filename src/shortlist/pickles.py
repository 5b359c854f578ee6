"""Names of saved classes by the exporting package, so that moved modules break no file.

A class keeps the module of its source, since :mod:`inspect`, doctests and documentation read it. Only its
pickles name it by package, for instance ``shortlist.ensembles.Pool``. Subclasses made elsewhere are pickled
as any other class.
"""

import copyreg
import importlib
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, TypeVar

from shortlist.papers import ABSENT, GROUP, MOVED, PACKAGE, absent, papers_part

Kind = TypeVar("Kind", bound=type)


def saved_from(package: str, name: str = "") -> Callable[[Kind], Kind]:
    """Return a class decorator: instances are pickled as those of a class in `package`.

    The stub of that package must import the class: with ``as`` if the class is public, without ``as`` if only
    saved models need it. A class with an older `name` in saved models is imported ``as`` this older name.
    """

    def register(kind: Kind) -> Kind:
        copyreg.pickle(kind, partial(_parts, f"{package}.{name or kind.__name__}"))
        return kind

    return register


def saved_class(path: str) -> Any:
    """Return the class of a public path such as ``shortlist.ensembles.Pool``, whatever its module is."""
    package, _, name = path.rpartition(".")
    if name in ABSENT:
        raise absent(package, name)
    moved = package in {PACKAGE, GROUP} or name in MOVED.get(package, ())
    return getattr(papers_part("names") if moved else importlib.import_module(package), name)


def saved_path(kind: Any) -> str:
    """Return the public path of a class or function; else its module and name."""
    register = copyreg.dispatch_table.get(kind)
    if isinstance(register, partial) and register.func is _parts:
        return str(register.args[0])
    return f"{kind.__module__}.{kind.__qualname__}"


def restore(path: str, *arguments: Any) -> Any:
    """Return a new instance of the class of a public path, for the unpickler to fill.

    Saved models name this function, so it must not move.
    """
    kind = saved_class(path)
    return kind(*arguments) if issubclass(kind, Enum) else kind.__new__(kind, *arguments)


def _parts(path: str, thing: Any) -> tuple[Any, ...]:
    if isinstance(thing, Enum):
        return restore, (path, thing.value)
    _, (_, *arguments), *state = thing.__reduce_ex__(4)
    return restore, (path, *arguments), *state
