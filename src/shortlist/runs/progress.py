"""Progress events."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

SECONDS = "s"
"""Unit of stages whose progress is the time that they have used up."""


@dataclass(frozen=True)
class Progress:
    """How far a long method has come."""

    stage: str
    """What is being done, for people."""
    done: float
    """How much is finished, in units of work or, for a time limit, in seconds."""
    total: float | None = None
    """How much there is in all, in the same unit; None when nobody can know."""
    value: float | None = None
    bound: float | None = None
    """Best value and bound so far, in the user's sign, where the method has them."""
    unit: str = ""
    """``"s"`` where `done` and `total` are seconds, and the stage may end long before `total`."""
    outer: bool = False
    """Whether other stages report between the steps of this one, as the parts of a run do."""
    left_s: float | None = None
    """Seconds that the rest is expected to take, where that is known better than by what share is done."""


Report: TypeAlias = Callable[[Progress], None]
"""What receives progress events; called from the thread that runs the method."""


def silent(progress: Progress) -> None:
    """Ignore a progress event."""
