"""CP-SAT of OR-Tools: integers and clauses."""

from functools import partial

from shortlist._validation import as_count
from shortlist.milp.backends.cpsat_engine import check_integer, exact_engine
from shortlist.milp.engine import CheckedSession
from shortlist.milp.program import Program


class CpSat:
    """CP-SAT: integer columns only; `nodes` are thousandths of deterministic time.

    Coefficients, costs and limits are scaled to integers by a power of ten, row by row. With fewer than eight
    threads its kinds of search take turns in small batches, which is deterministic; alone, the first of them
    often has no useful bound.
    """

    name = "cpsat"
    handles_continuous = False
    tolerance = 0.0

    def __init__(self, *, bound_tree: bool = False, short_programs: bool = False) -> None:
        """Solve; with `bound_tree`, prove by a best-first tree on the objective's bound.

        A second thread at most looks for solutions then. With `short_programs`, the first kind of search has
        the thread for itself: on some hundred columns it is through before the others have begun.
        """
        self._bound_tree, self._takes_turns = bound_tree, not short_programs

    def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> CheckedSession:
        """Load `program`; its first objective, if any, gives the costs.

        Raises BadInputError if a column is continuous or without bounds, or a coefficient is not a decimal of
        up to nine places.
        """
        seed = as_count(seed, "seed", at_least=0) % 2**31  # what solvers take
        as_count(threads, "threads")
        check_integer(program)
        return CheckedSession(
            program,
            partial(
                exact_engine, seed=seed, threads=threads, bound_tree=self._bound_tree,
                takes_turns=self._takes_turns,
            ),
            tolerance=self.tolerance, seed=seed, threads=threads,
        )  # fmt: skip
