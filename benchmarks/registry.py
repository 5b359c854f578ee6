"""The cases to time: each is one file in `cases/` that registers itself."""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Case:
    """Something to time: `build(size)` prepares, and returns the call that is timed."""

    name: str
    build: Callable[[int], Callable[[], Any]]
    sizes: Sequence[int]


CASES: dict[str, Case] = {}


def register(case: Case) -> None:
    """Add a case; names are unique."""
    assert case.name not in CASES, case.name
    CASES[case.name] = case


def load_cases() -> dict[str, Case]:
    """Import every file in `cases/` and return what they registered."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent / "cases")]):
        importlib.import_module(f"benchmarks.cases.{module.name}")
    return CASES
