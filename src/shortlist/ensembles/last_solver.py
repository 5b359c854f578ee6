"""The solver that ends a proof: CP-SAT on a program whose cuts are clauses to it."""

from shortlist.milp import Program
from shortlist.milp.session import Session


def open_last(program: Program, *, threads: int, node_limit: int | None, seed: int) -> Session:
    """Load a program; one thread where the answer must not depend on the clock, else a second one for selections.

    CP-SAT's best-first tree on the objective's bound, measured on the paper's sets (docs/decisions/0008): it proves sooner than
    its usual strategies side by side, and lowers the bound where they do not.
    """
    from shortlist.milp.backends.cpsat import CpSat

    several = threads > 1 and node_limit is None
    return CpSat(bound_tree=True).open(program, seed=seed, threads=2 if several else 1)
