"""The search by price for rows that cannot all be right: a linear program whose solutions are multipliers."""

import math

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.ensembles.proofs.cuts.cuts import Cut, make_cut, proves
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.milp.backends.highs_linear import LinearProgram
from shortlist.runs.budget import Budget

SMALL = 60
"""Multipliers are first tried as whole numbers with the least one scaled to at most this."""

PRECISE = 2**20
"""Where that proves nothing, the largest multiplier becomes this, and the others are rounded."""


class Alternative:
    """The system whose solutions are the multipliers of cuts: it has none where all rows can be right.

    Its unknowns are a multiplier y_f >= 0 for every form f. The sum of the forms by these multipliers reads
    ``c @ x + l · L >= P``, as in :func:`shortlist.ensembles.proofs.cuts.cuts.proves`: x are the members, L
    is the threshold, and c, l and P are sums of y by the numbers of the forms. A cut is proved where no
    selection reaches P. What selections reach is bounded by linear programming duality, with further
    unknowns: u_k >= 0 for every classifier k, s >= 0 for the largest size, r >= 0 for the least size, and w
    >= max(0, l) for the threshold. The system asks that this bound stay 1 below P, which is no restriction,
    as every y may be scaled.

    A vertex of the system has few rows. Minimising ``costs @ y`` with costs 1 − t prefers rows that the
    solution t of the master program calls right: :cite:t:`Codato2006`, Section 3.
    """

    def __init__(self, rows: RightRows, used: NDArray[np.int64]) -> None:
        self.rows, self.used = rows, used
        signs, levels = rows.signs[used].astype(np.float64), rows.levels[used].astype(np.float64)
        n, usable = len(used), np.flatnonzero(rows.affordable)
        w, s, r = n + len(usable), n + len(usable) + 1, n + len(usable) + 2
        self._program = LinearProgram(
            np.zeros(r + 1), np.zeros(r + 1), np.full(r + 1, math.inf), costs_change=True
        )
        blocks = []
        for place, k in enumerate(usable):
            voters = np.flatnonzero(signs[:, k])
            blocks.append(
                (
                    np.append(voters, [n + place, w, s, r]),
                    np.append(-signs[voters, k], [1.0, -1.0, 1.0, -1.0]),
                )
            )
        blocks.append((np.append(np.arange(n), w), np.append(-levels, 1.0)))
        ones = n + np.arange(len(usable))
        blocks.append(
            (
                np.concatenate([np.arange(n), ones, [s, r]]),
                np.concatenate(
                    [
                        rows.least[used].astype(np.float64),
                        -np.ones(len(usable)),
                        [-float(rows.most_members), float(rows.least_members)],
                    ]
                ),
            )
        )
        lower = np.zeros(len(blocks))
        upper = np.full(len(blocks), math.inf)
        lower[-1] = upper[-1] = 1.0
        self._program.add_rows(
            [(columns.astype(np.int32), numbers) for columns, numbers in blocks], lower, upper
        )
        self._padding = np.zeros(len(usable) + 3)

    def multipliers(self, costs: Floats, budget: Budget) -> Floats | None:
        """Return the multipliers of least cost, one per form; None if there are none, or none in time."""
        self._program.set_costs(np.concatenate([costs[self.used], self._padding]))
        solution = self._program.solve(budget)
        if not solution.optimal:
            return None
        y = np.zeros(self.rows.n_forms)
        y[self.used] = np.maximum(0.0, solution.values[: len(self.used)])
        return y if y.any() else None


def whole_cut(rows: RightRows, y: Floats) -> Cut | None:
    """Turn multipliers y into integers that prove a cut, small ones where those do; None if none do."""
    support = np.flatnonzero(y > 1e-7 * y.max())
    relative = y[support] / y[support].min()
    for scale in range(1, SMALL + 1):
        whole = np.rint(relative * scale)
        if whole.max() > 1000 * SMALL:
            break
        if np.abs(relative * scale - whole).max() < 1e-4 * scale:
            cut = _cut(rows, support, whole.astype(np.int64))
            if proves(rows, cut):
                return cut
    cut = _cut(rows, support, np.rint(y[support] / y.max() * PRECISE).astype(np.int64))
    return cut if proves(rows, cut) else None


def _cut(rows: RightRows, support: NDArray[np.int64], whole: NDArray[np.int64]) -> Cut:
    """Return the cut without forms of multiplier 0."""
    kept = whole > 0
    divisor = int(np.gcd.reduce(whole[kept]))
    return make_cut(rows, support[kept].tolist(), (whole[kept] // divisor).tolist())


def draw_rows(
    rows: RightRows, t: Floats, rng: np.random.Generator, *, most: int, unlikely: float
) -> NDArray[np.int64]:
    """Return the rows to look at, increasing: all, or some that are drawn and have `most` forms in all.

    The draw leaves out rows of which the master program's solution t allows no more than `unlikely`.
    """
    if rows.n_forms <= most:
        return np.arange(rows.n_rows)
    drawn = rng.permutation(np.flatnonzero(t > unlikely))
    n_forms = np.cumsum(np.bincount(rows.row_of, minlength=rows.n_rows)[drawn])
    return np.sort(drawn[: max(1, int(np.searchsorted(n_forms, most, side="right")))])


def forms_of(rows: RightRows, used: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the forms of some rows, increasing."""
    is_used = np.zeros(rows.n_rows, dtype=bool)
    is_used[used] = True
    return np.flatnonzero(is_used[rows.row_of])
