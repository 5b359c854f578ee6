"""What points do on rows that were held out, with intervals, for people."""

from collections.abc import Mapping
from typing import Any

INTERVALS = "Intervals at 95 %: Wilson's for shares, normal for the mean cost."


def print_held_out(measured: Mapping[str, Mapping[str, Any]]) -> None:
    """Print figures as :meth:`Figures.as_dict` returns them, a line for each name of what was measured."""
    n_rows = next(iter(measured.values()))["n_rows"]
    print(f"Held out: {n_rows:,} test rows, on which nothing was fitted and nothing chosen.")
    print(f"{'':<14}{'answered':<25}{'right of these':<25}mean cost")
    for name, one in measured.items():
        answered, right = (
            _with_interval(one, share, ".4f", ".3f") if one[f"{share}_interval"] else "none"
            for share in ("coverage", "accuracy")
        )
        print(f"{name:<14}{answered:<25}{right:<25}{_with_interval(one, 'cost', '.4g', '.4g')}")
    print(INTERVALS)


def print_after_looking(n_rows: int) -> None:
    """Warn of taking the best of several points by what the test rows say."""
    print(f"If several points are looked at, the best of them on these {n_rows:,} rows is flattered by them.")


def _with_interval(one: Mapping[str, Any], name: str, digits: str, of_ends: str) -> str:
    low, high = one[f"{name}_interval"]
    return f"{one[name]:{digits}} ({low:{of_ends}} to {high:{of_ends}})"
