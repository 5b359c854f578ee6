"""What commands print alike."""

import json
import math
from typing import Any


def print_json(facts: dict[str, Any]) -> None:
    """Print one JSON object on stdout; infinity and NaN do not exist in JSON and must be None by now."""
    print(json.dumps(facts, indent=2, allow_nan=False))


def finite(number: float) -> float | None:
    """Return the number, or None for what JSON cannot say."""
    return number if math.isfinite(number) else None


def as_gap(gap: float) -> str:
    """Show a relative gap as percent."""
    return "an unknown share" if math.isnan(gap) else f"{100 * gap:.3g} %"
