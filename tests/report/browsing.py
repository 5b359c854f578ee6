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
"""Shows HTML in a window of its own."""


def watched(context: Any) -> Opened:
    """Return a new page of a browser that remembers what it complains about and asks for."""
    context.set_default_timeout(120_000)
    opened = Opened(context.new_page())
    opened.page.on("console", lambda message: opened.complaints.append(message.text))
    opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.page.on("request", lambda request: opened.requests.append(request.url))
    return opened
