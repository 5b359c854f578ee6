"""Access to the package of the papers through entry points; the library never imports it.

That package holds experiments of the papers, competing methods, and comparisons. For names that moved to that
package, the error is one sentence with the new place.
"""

from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Any

from shortlist.errors import BadInputError, MissingDependencyError

GROUP = "shortlist.papers"
"""Group of the entry points."""

PACKAGE = "shortlist_papers"

MISSING = (
    f"This needs the package {PACKAGE}, which is not installed. It comes with shortlist: pip install "
    "--force-reinstall shortlist."
)


def papers_part(name: str) -> Any:
    """Return the object behind the entry point `name`.

    Raises MissingDependencyError if the package is not installed.
    """
    for entry in entry_points(group=GROUP, name=name):
        try:
            return entry.load()
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != PACKAGE:
                raise
    raise MissingDependencyError(MISSING)


def refuse_opponent(method: str, argument: str, opponents: Sequence[str]) -> None:
    """Refuse a competing method, and name the command that runs it.

    Raises BadInputError for such a method.
    """
    if method in opponents:
        raise BadInputError(
            argument,
            "must be a method of the library",
            repr(method),
            f"It is an opponent in {PACKAGE}: shortlist compare asks it.",
        )


_RULES = ("MarginPruner", "OrderedPruner")
ABSENT = {"MarginPruner": 'OrderedPruner(rule="margin")'}
"""Removed public names, with their replacements."""

MOVED = {
    GROUP: (
        "rank_methods", "compare_methods", "CostOrderedStages", "SingleStage", "GreedyMiser", "CactLasso",
        "L1Path", "CostAwareLightGBM", "ASTC", "CSTC",
    ),
    "shortlist": _RULES,
    "shortlist.ensembles": _RULES,
}  # fmt: skip
"""Public names that moved from the library, by the package that had them."""


def absent(package: str, name: str) -> Exception:
    """Return the error for a name that a package does not have, with its new place if it moved."""
    if name in MOVED.get(package, ()):
        return ImportError(
            f"{package}.{name} is {PACKAGE}.{ABSENT.get(name, name)} now. Import it from there."
        )
    return AttributeError(f"module {package!r} has no attribute {name!r}")


def __getattr__(name: str) -> Any:
    raise absent(GROUP, name)
