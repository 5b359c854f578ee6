"""One call that depends on no other, as workers run it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Unit:
    """One call that depends on no other unit.

    Parameters
    ----------
    key : str
        Names it in studies and messages.
    call : callable
        What is called; with `whole` it takes a keyword `budget` besides.
    arguments : tuple
        By position.
    kind : str
        Units of one kind take as long as their sizes say; one of each kind is run first, so that the time
        left is known early.
    size : float, default=1
        Expected work, in any measure that is the same for all units, such as rows times classifiers. A unit
        of size 0 takes next to no time, and says nothing of others.
    whole : bool, default=False
        Whether a result counts only if the unit was not stopped: see :mod:`shortlist.runs.whole_units`.
        Such units end some seconds after a cancellation.
    """

    key: str
    call: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    kind: str = ""
    size: float = 1.0
    whole: bool = False
