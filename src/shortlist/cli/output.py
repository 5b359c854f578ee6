"""What commands print alike."""

import json
import math
import sys
from collections.abc import Sequence
from typing import Any


def print_json(facts: dict[str, Any]) -> None:
    """Print one JSON object on stdout; infinity and NaN do not exist in JSON and must be None by now."""
    print(json.dumps(facts, indent=2, allow_nan=False))


def print_notes(notes: Sequence[str]) -> None:
    """Print what a user should know beside the answer, a line each on stderr.

    A command's JSON has the same sentences under ``notes``.
    """
    for note in notes:
        print(f"shortlist: note: {note}", file=sys.stderr)


def finite(number: float) -> float | None:
    """Return the number, or None for what JSON cannot say."""
    return number if math.isfinite(number) else None


def stopped_by(limit: str) -> str:
    """Say what ended a search.

    Examples
    --------
    >>> stopped_by("60 s"), stopped_by("interrupted")
    ('stopped by the limit of 60 s', 'interrupted')
    """
    return limit if limit == "interrupted" else f"stopped by the limit of {limit}"


def as_gap(gap: float) -> str:
    """Show a relative gap as percent."""
    return "an unknown share" if math.isnan(gap) else f"{100 * gap:.3g} %"
