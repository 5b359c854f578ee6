"""Table of the engines for complete fronts of programs and product lines, each with its measurement."""

from collections.abc import Callable
from dataclasses import dataclass

DIAGRAM, PHASES, PARTS, WHOLE = "diagram", "two phases", "zones by parts", "whole programs"
"""Names of the engines."""

FEW_COLUMNS = 300
"""Most columns for which zones are searched by parts, whatever the rows. A point of Web Portal (43 columns)
took half the time of whole programs, of E-Shop (290) a quarter with four objectives.
"""
TINY = 30
"""Number of columns; smaller programs of three objectives are solved without a reduction first. With sums too
large for HiGHS, parts took a tenth of the processor time (18 columns, values near 10^10), as integers decide
the parts.
"""
BY_PARTS = 1.5
"""Number of columns per row; from this ratio on, zones are searched by parts as well. On uClinux, 1,850
columns and 2,468 rows, a point took 14 times the time of whole programs, because most parts are not decided
in integers.
"""


@dataclass(frozen=True, kw_only=True)
class ProgramShape:
    """Sizes and properties of a question that decide on the engine."""

    n_objectives: int
    n_columns: int
    n_rows: int
    solver: str = "highs"
    """Name of the requested solver."""
    large_sums: bool = False
    """Whether objectives may be too large for HiGHS, so that CP-SAT solves whole programs in its place."""
    has_diagram: bool = False
    """Whether the question is about products, and a decision diagram holds all of them."""


@dataclass(frozen=True)
class Engine:
    """Engine, and the shapes of questions that it suits."""

    name: str
    fits: Callable[[ProgramShape], bool]
    why: str
    """Reason for the engine, to go after "as"."""
    measured: str
    """File of benchmarks/results with the measurement behind it."""

    @property
    def reason(self) -> str:
        """Return engine and reason in one line."""
        return f"{self.name}, as {self.why}"


ENGINES = (
    Engine(DIAGRAM, lambda q: q.has_diagram, "all products fit into a diagram", "regret.csv"),
    Engine(PHASES, lambda q: q.n_objectives == 2, "there are two objectives", "program-engines.csv"),
    Engine(
        WHOLE, lambda q: q.n_objectives == 3 and q.n_columns < TINY and not q.large_sums,
        f"there are three objectives and fewer than {TINY} columns", "moip.csv",
    ),
    Engine(
        PARTS, lambda q: q.solver == "highs" and q.n_columns <= FEW_COLUMNS,
        f"there are at most {FEW_COLUMNS} columns", "program-engines.csv",
    ),
    Engine(
        PARTS, lambda q: q.solver == "highs" and q.n_columns >= BY_PARTS * q.n_rows,
        "there are more columns than rows", "program-engines.csv",
    ),
    Engine(
        WHOLE, lambda q: q.solver == "highs", "there are many columns, and hardly more of them than rows",
        "program-engines.csv",
    ),
    Engine(WHOLE, lambda _: True, "only HiGHS is helped by a search in integers", "program-engines.csv"),
)  # fmt: skip
"""Engines in order of preference; the first one that suits is taken."""


def engine_for(shape: ProgramShape) -> Engine:
    """Return the engine for a shape.

    >>> engine_for(ProgramShape(n_objectives=3, n_columns=2500, n_rows=100)).reason
    'zones by parts, as there are more columns than rows'
    """
    return next(engine for engine in ENGINES if engine.fits(shape))
