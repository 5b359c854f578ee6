"""How `shortlist configure` and `shortlist compare` look for the front of a product line."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from shortlist.cli.options.pairs import read_numbers
from shortlist.cli.options.shared import NODES, SOLVER


@dataclass(frozen=True)
class ProductSearchOptions:
    """Options of one method or another; None leaves it as the method has it."""

    points: Annotated[
        int | None, typer.Option(help="solrep: reference points; default 1000; 0 for the ends only.")
    ] = None
    rule: Annotated[
        str | None, typer.Option(help="solrep: hit-and-run (default) or adaptive reference points.")
    ] = None
    solve_limit: Annotated[
        float | None, typer.Option(help="solrep: seconds for each program; default none, each is proved.")
    ] = None
    evaluations: Annotated[
        int | None,
        typer.Option(
            help="Evolution: configurations to try in a run; default 25000, side by side with other methods "
            "100000."
        ),
    ] = None
    starts: Annotated[
        int | None, typer.Option(help="Evolution: products found by satisfiability to start with; default 0.")
    ] = None
    solver: Annotated[str | None, typer.Option(help=f"{SOLVER}: highs (default), cpsat or scip.")] = None

    def arguments(self) -> dict[str, Any]:
        """Return the options by the names that the library has for them."""
        return {
            "n_points": self.points,
            "rule": self.rule,
            "solve_limit_s": self.solve_limit,
            "n_evaluations": self.evaluations,
            "n_starts": self.starts,
            "solver": self.solver,
        }


@dataclass(frozen=True)
class DiagramOptions:
    """Options of the front on a decision diagram; None leaves it as the method has it."""

    tolerance: Annotated[
        str | None,
        typer.Option(help="Diagram: such as cost=5,defects=1, what a missing point may be better by."),
    ] = None
    max_nodes: Annotated[int | None, typer.Option(help=f"{NODES}; default 500000.")] = None
    max_memory: Annotated[
        float | None, typer.Option(help="Gigabytes for the diagram's sets of points; default 2.")
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the options by the names that the library has for them."""
        from shortlist.errors import BadInputError

        memory = self.max_memory
        if memory is not None and not 0 < memory < float("inf"):
            raise BadInputError(f"--max-memory must be gigabytes above 0, got {memory}.")
        return {
            "tolerance": read_numbers(self.tolerance, "tolerance") if self.tolerance else None,
            "max_nodes": self.max_nodes,
            "max_bytes": None if memory is None else round(memory * 1e9),
        }
