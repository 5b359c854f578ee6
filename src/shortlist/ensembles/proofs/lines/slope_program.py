"""The integer program of a sum of sigmoids of margins: weighted thresholds, several per row."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Mask
from shortlist.ensembles.proofs.incumbent import Incumbent
from shortlist.ensembles.proofs.lines.line_bounds import LineBounds, TreePart
from shortlist.ensembles.proofs.lines.slope_rows import SlopeRows, first_bounds
from shortlist.ensembles.proofs.lines.slope_settings import SlopeSettings
from shortlist.ensembles.proofs.programs.pruning_program import (
    diversity_rows,
    limit_rows,
    member_pairs,
)
from shortlist.ensembles.proofs.programs.repeated_solves import limit_of, solutions_until_kept
from shortlist.errors import SolverError
from shortlist.milp import LinearObjective, Program, Session, Solver, make_program
from shortlist.results.objective import Objective
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget


@dataclass(frozen=True, eq=False)
class SlopeProgram:
    """A program to minimise for one size.

    The cost of a solution plus `offset` is minus what the selection is worth.

    The columns are x_k (is classifier k a member), L (the threshold), one binary per row and distance that
    says whether the row's distance is at least that, and with diversity limits one y per pair (are both
    members).
    """

    program: Program
    offset: int
    n_classifiers: int

    def members(self, values: NDArray[np.float64]) -> Mask:
        """Read the selection from a solution."""
        return np.asarray(values[: self.n_classifiers] > 0.5)


def slope_program(rows: SlopeRows, size: int) -> SlopeProgram:
    """Build the program for selections of one size, for which margins are whole numbers of votes.

    A row whose distance lies between a and b has binaries t_{a+1} >= ... >= t_b with ``Σ t <= distance − a``
    for the distance of each of its forms; the weight of t_d is ``table[d] − table[d − 1]``, so that the row
    is worth ``table[a] + Σ weight · t``,
    with equality at an optimum.

    Parameters
    ----------
    rows : SlopeRows
        The problem, with all its limits.
    size : int
        Number of members, within the limits.

    Notes
    -----
    Up to ``size + 1`` binaries per row.
    """
    n, forms = rows.n_classifiers, rows.forms
    table, middle = rows.table[size], rows.n_classifiers + 2
    limits = dataclasses.replace(rows.limits, min_size=size, max_size=size)
    everyone = TreePart(size, 0, size if rows.has_threshold else 0, np.zeros(n, dtype=np.uint8))
    low, high = LineBounds(rows).distances(everyone)
    n_steps = high - low
    of_row = np.repeat(np.arange(forms.n_rows), n_steps)
    starts = np.concatenate([[0], np.cumsum(n_steps)]).astype(np.int64)
    distance = np.arange(starts[-1]) - starts[of_row] + low[of_row] + 1
    weights = rows.worth[of_row] * (table[middle + distance] - table[middle + distance - 1])
    pairs = member_pairs(n) if limits.diversity is not None else np.empty((0, 2), dtype=np.int64)
    first = n + 1
    n_columns = first + len(of_row) + len(pairs)

    # of every form: Σ t − distance <= −low
    counted = sparse.csr_array(
        (np.ones(len(of_row)), (of_row, np.arange(len(of_row)))), shape=(forms.n_rows, len(of_row))
    )
    reached = sparse.hstack(
        [
            sparse.csr_array(-forms.signs.astype(np.float64)),
            sparse.csr_array(-forms.levels[:, None].astype(np.float64)),
            counted[forms.row_of],
            sparse.csr_array((forms.n_forms, len(pairs))),
        ]
    )
    # t_d − t_{d−1} <= 0
    later = np.flatnonzero(distance > low[of_row] + 1)
    chain = sparse.csr_array(
        (
            np.concatenate([np.ones(len(later)), -np.ones(len(later))]),
            (np.tile(np.arange(len(later)), 2), np.concatenate([first + later, first + later - 1])),
        ),
        shape=(len(later), n_columns),
    )
    blocks = [
        (sparse.csr_array(reached), np.full(forms.n_forms, -np.inf), 1.0 - forms.least - low[forms.row_of]),
        (chain, np.full(len(later), -np.inf), np.zeros(len(later))),
        limit_rows(limits, n, n_columns),
    ]
    if limits.diversity is not None:
        blocks.append(diversity_rows(limits.diversity, pairs, size, n_columns))
    matrices, lower, upper = (list(part) for part in zip(*blocks, strict=True))
    costs = np.zeros(n_columns)
    costs[first : first + len(weights)] = -weights
    column_upper = np.ones(n_columns)
    column_upper[n] = everyone.last
    return SlopeProgram(
        make_program(
            sparse.vstack(matrices),
            row_lower=np.concatenate(lower),
            row_upper=np.concatenate(upper),
            column_lower=0,
            column_upper=column_upper,
            integer=True,
            objectives=[LinearObjective(Objective("minus worth of margins"), costs)],
        ),
        offset=-rows.constant - int((rows.worth * table[middle + low]).sum()),
        n_classifiers=n,
    )


def solve_slope_programs(
    rows: SlopeRows,
    best: Incumbent,
    solver: Solver,
    budget: Budget,
    *,
    solver_name: str = "",
    on_news: Callable[[], None] | None = None,
    settings: SlopeSettings | None = None,
) -> str:
    """Solve the program of every size that may hold the best selection, the most promising first.

    Parameters
    ----------
    rows, best, on_news
        As of :func:`shortlist.ensembles.proofs.lines.slope_proof.prove_slope`. Members are the solver's
        proposal and counted anew; its bounds are its word, up to the precision of the settings.
    solver : Solver
        A backend.
    budget : Budget
        Seed and threads are the solver's; the limit in nodes is each program's, in the solver's unit.
    solver_name : str
        Whose the bound is.
    settings : SlopeSettings, optional
        How large a program may become, and what solvers are trusted to see.

    Returns
    -------
    limit : str
        What ended the proof before its end; else empty.

    Raises
    ------
    SolverError
        If the solver's bound is below the worth of a selection that keeps the limits.
    """
    bounds = first_bounds(rows)
    run = _Sizes(
        rows, best, bounds, solver, solver_name or solver.name, budget, on_news, settings or SlopeSettings()
    )
    sizes = range(rows.limits.min_size, rows.limits.max_size + 1)
    for size in sorted(sizes, key=lambda size: -int(bounds[size])):
        if budget.stopped:
            break
        if bounds[size] > run.worst:
            run.solve(size)
    return run.end()


@dataclass(eq=False)
class _Sizes:
    """A bound for every size."""

    rows: SlopeRows
    best: Incumbent
    bounds: NDArray[np.int64]
    solver: Solver
    solver_name: str
    budget: Budget
    on_news: Callable[[], None] | None
    settings: SlopeSettings
    limit: str = ""

    @property
    def worst(self) -> int:
        """What a selection must be worth more than to be of interest."""
        return -1 if self.best.mask is None else self.best.total

    @property
    def most(self) -> int:
        """No selection is worth more."""
        limits = self.rows.limits
        return max(self.worst, int(self.bounds[limits.min_size : limits.max_size + 1].max(initial=0)))

    @property
    def precision(self) -> int:
        """The difference that solvers are trusted to see."""
        return int(self.settings.precision * float(self.rows.table[-1, -1]) * float(self.rows.worth.sum()))

    def end(self) -> str:
        """Take the bound of all sizes; what solvers cannot tell from the best is not told from it here."""
        best, most = self.best, self.most
        if best.mask is not None and most - best.total <= self.precision:
            most = best.total
        best.lower_bound_to(most, self.solver_name)
        return (self.budget.limit_text or self.limit) if most > self.worst else ""

    def solve(self, size: int) -> None:
        """Solve the program of one size, again without a solution that does not keep a limit."""
        most, budget, best = self.settings.most_binaries, self.budget, self.best
        if len(self.rows.worth) * (size + 1) > most:
            self.limit = f"{most:,} binaries in an integer program"
            return
        built = slope_program(self.rows, size)

        def opened(program: Program) -> Session:
            session = self.solver.open(program, seed=budget.seed, threads=budget.threads)
            session.set_cutoff(None if best.mask is None else float(-best.total - built.offset))
            return session

        def on_bound(_: float, cost: float) -> None:
            self._bound_by(size, built, cost)

        for solution in solutions_until_kept(
            built.program, built.n_classifiers, opened, budget, absolute_gap=self.precision, on_bound=on_bound
        ):
            if solution.status is Status.INFEASIBLE:
                self.bounds[size] = min(int(self.bounds[size]), self.worst)
                return
            self.limit = limit_of(solution, budget) or self.limit
            self._bound_by(size, built, solution.bound)
            if solution.values is not None:
                total = best.offer(built.members(solution.values))
                if total is not None:
                    self._check(size, total)
                    self._tell()
                    return

    def _check(self, size: int, total: int) -> None:
        """Refuse a bound that a selection contradicts."""
        if total > self.bounds[size] + self.precision:
            raise SolverError(
                "the solver's bound is below the worth of a selection that keeps every limit. Try another "
                "solver."
            )

    def _bound_by(self, size: int, built: SlopeProgram, cost: float) -> None:
        """Take the solver's bound on the cost of a size's program."""
        if not math.isfinite(cost):
            return
        bound = math.ceil(-cost) - built.offset
        if bound < self.bounds[size]:
            self.bounds[size] = bound
            self._tell()

    def _tell(self) -> None:
        """Note the bound, as far as solvers are trusted to see, and report."""
        self.best.lower_bound_to(self.most + self.precision, self.solver_name)
        if self.on_news is not None:
            self.on_news()
