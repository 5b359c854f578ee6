"""A page that is open in a browser."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Opened:
    """An open page, what it logged, and what it asked for beside its own file."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Open = Callable[..., Opened]
