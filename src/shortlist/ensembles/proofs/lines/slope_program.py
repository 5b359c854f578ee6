"""The integer program of a sum of sigmoids of margins: weighted thresholds, several per row."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Mask
from shortlist.ensembles.proofs.lines.slope_proof import SlopeAnswer
from shortlist.ensembles.proofs.lines.slope_rows import SlopeRows
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

    A row whose distance lies between a and b has binaries t_{a+1} >= ... >= t_b with ``Σ t <= distance − a``;
    the weight of t_d is ``table[d] − table[d − 1]``, so that the row is worth ``table[a] + Σ weight · t``,
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
    n, (n_rows, _) = rows.n_classifiers, rows.votes.shape
    table, middle = rows.table[size], rows.n_classifiers + 2
    limits = dataclasses.replace(rows.limits, min_size=size, max_size=size)
    voters = rows.votes.sum(axis=1, dtype=np.int64)
    most, least = np.minimum(voters, size), np.maximum(0, size - (n - voters))
    positive = rows.side > 0
    low, high = np.where(positive, least - size, 1 - most), np.where(positive, most, 1 - least + size)
    n_steps = high - low
    of_row = np.repeat(np.arange(n_rows), n_steps)
    starts = np.concatenate([[0], np.cumsum(n_steps)])
    distance = np.arange(starts[-1]) - starts[of_row] + low[of_row] + 1
    weights = rows.worth[of_row] * (table[middle + distance] - table[middle + distance - 1])
    pairs = member_pairs(n) if limits.diversity is not None else np.empty((0, 2), dtype=np.int64)
    first = n + 1
    n_columns = first + len(of_row) + len(pairs)

    # Σ t − distance <= −low
    signed = rows.votes.astype(np.int8) * -rows.side[:, None].astype(np.int8)
    counted = sparse.csr_array(
        (np.ones(len(of_row)), (of_row, np.arange(len(of_row)))), shape=(n_rows, len(of_row))
    )
    reached = sparse.hstack(
        [sparse.csr_array(signed, dtype=np.float64), sparse.csr_array(rows.side[:, None].astype(np.float64)),
        counted,
         sparse.csr_array((n_rows, len(pairs)))]
    )  # fmt: skip
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
        (sparse.csr_array(reached), np.full(n_rows, -np.inf), (1.0 - positive) - low),
        (chain, np.full(len(later), -np.inf), np.zeros(len(later))),
        limit_rows(limits, n, n_columns),
    ]
    if limits.diversity is not None:
        blocks.append(diversity_rows(limits.diversity, pairs, size, n_columns))
    matrices, lower, upper = (list(part) for part in zip(*blocks, strict=True))
    costs = np.zeros(n_columns)
    costs[first : first + len(weights)] = -weights
    column_upper = np.ones(n_columns)
    column_upper[n] = size
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
    first_bounds: NDArray[np.int64],
    solver: Solver,
    budget: Budget,
    *,
    start: tuple[Mask, int, int] | None = None,
    on_news: Callable[[int | None, int], None] | None = None,
    settings: SlopeSettings | None = None,
) -> SlopeAnswer:
    """Solve the program of every size that may hold the best selection, the most promising first.

    Parameters
    ----------
    rows, first_bounds, start, on_news
        As of :func:`shortlist.ensembles.proofs.lines.slope_proof.prove_slope`.
    solver : Solver
        A backend.
    budget : Budget
        Seed and threads are the solver's; the limit in nodes is each program's, in the solver's unit.
    settings : SlopeSettings, optional
        How large a program may become, and what solvers are trusted to see.

    Returns
    -------
    SlopeAnswer
        Members are the solver's proposal and counted anew; its bounds are its word, up to the precision of
        the settings. `nodes` counts programs.

    Raises
    ------
    SolverError
        If the solver's bound is below the worth of a selection that keeps the limits.
    """
    run = _Run(rows, first_bounds.copy(), solver, budget, on_news, settings or SlopeSettings())
    if start is not None:
        run.mask, run.threshold, run.total = start
    sizes = range(rows.limits.min_size, rows.limits.max_size + 1)
    for size in sorted(sizes, key=lambda size: -int(first_bounds[size])):
        if budget.stopped:
            break
        if run.bounds[size] > run.worst:
            run.solve(size)
    return SlopeAnswer(
        run.mask,
        run.threshold,
        run.total,
        run.bound,
        run.n_solved,
        (budget.limit_text or run.limit) if run.bound > run.worst else "",
    )


@dataclass(eq=False)
class _Run:
    """The best selection so far, and a bound for every size."""

    rows: SlopeRows
    bounds: NDArray[np.int64]
    solver: Solver
    budget: Budget
    on_news: Callable[[int | None, int], None] | None
    settings: SlopeSettings
    mask: Mask | None = None
    threshold: int = 0
    total: int = 0
    n_solved: int = 0
    limit: str = ""

    @property
    def worst(self) -> int:
        """What a selection must be worth more than to be of interest."""
        return -1 if self.mask is None else self.total

    @property
    def bound(self) -> int:
        """No selection is worth more; what solvers cannot tell from the best is not told from it here."""
        limits = self.rows.limits
        most = int(self.bounds[limits.min_size : limits.max_size + 1].max(initial=0))
        if self.mask is None:
            return most
        return max(self.total, most) if most - self.total > self.precision else self.total

    @property
    def precision(self) -> int:
        """The difference that solvers are trusted to see."""
        return int(self.settings.precision * float(self.rows.table[-1, -1]) * float(self.rows.worth.sum()))

    def solve(self, size: int) -> None:
        """Solve the program of one size, again without a solution that does not keep a limit."""
        most, budget = self.settings.most_binaries, self.budget
        if len(self.rows.worth) * (size + 1) > most:
            self.limit = f"{most:,} binaries in an integer program"
            return
        built = slope_program(self.rows, size)

        def opened(program: Program) -> Session:
            session = self.solver.open(program, seed=budget.seed, threads=budget.threads)
            session.set_cutoff(None if self.mask is None else float(-self.total - built.offset))
            return session

        def on_bound(_: float, cost: float) -> None:
            self._bound_by(size, built, cost)

        for solution in solutions_until_kept(
            built.program, built.n_classifiers, opened, budget, absolute_gap=self.precision, on_bound=on_bound
        ):
            self.n_solved += 1
            if solution.status is Status.INFEASIBLE:
                self.bounds[size] = min(int(self.bounds[size]), self.worst)
                return
            self.limit = limit_of(solution, budget) or self.limit
            self._bound_by(size, built, solution.bound)
            if solution.values is not None:
                mask = built.members(solution.values)
                if self.rows.limits.satisfied_by(mask):
                    self._offer(mask)
                    return

    def _offer(self, mask: Mask) -> None:
        """Keep a selection if it is better, counted from the votes."""
        threshold, total = self.rows.best_threshold(mask)
        if total > self.bounds[int(mask.sum())] + self.precision:
            raise SolverError(
                "the solver's bound is below the worth of a selection that keeps every limit. Try another "
                "solver."
            )
        if self.mask is None or total > self.total:
            self.mask, self.threshold, self.total = mask, threshold, total
            self._tell()

    def _bound_by(self, size: int, built: SlopeProgram, cost: float) -> None:
        """Take the solver's bound on the cost of a size's program."""
        if not math.isfinite(cost):
            return
        bound = math.ceil(-cost) - built.offset
        if bound < self.bounds[size]:
            self.bounds[size] = bound
            self._tell()

    def _tell(self) -> None:
        """Report the best total and the bound."""
        if self.on_news is not None:
            self.on_news(None if self.mask is None else self.total, self.bound)
