"""Looking for rows that cannot all be right: the alternative linear program."""

import math

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.cuts import Cut, proves
from shortlist.ensembles.right_rows import RightRows
from shortlist.milp.backends.highs_linear import LinearProgram
from shortlist.runs import Cancellation

Values = NDArray[np.float64]

_UNLIKELY = 0.2
_SMALL = 60
_PRECISE = 2**20


class Alternative:
    """The alternative system of all rows being right, whose solutions are the multipliers of cuts.

    With multipliers y >= 0 of the rows and c as in :func:`shortlist.ensembles.cuts.proves`, the largest value of a
    completion is bounded by linear programming duality: u >= 0 per free classifier, s and r for the largest and the
    least size, and w >= max(0, N − P) for the threshold. The system asks that the bound stay 1 below P; any y that does
    not can be scaled. A vertex has few rows, and minimising ``costs @ y`` with costs 1 − t* prefers rows that the
    solution t* calls right: :cite:t:`Codato2006`, Section 3.
    """

    def __init__(self, rows: RightRows, used: NDArray[np.int64]) -> None:
        self.rows, self.used = rows, used
        votes = rows.votes[self.used]
        sign = np.where(rows.is_positive[self.used], 1.0, -1.0)
        n, free = len(self.used), np.flatnonzero(rows.free)
        w, s, r = n + len(free), n + len(free) + 1, n + len(free) + 2
        self._program = LinearProgram(
            np.zeros(r + 1), np.zeros(r + 1), np.full(r + 1, math.inf), costs_change=True
        )
        blocks = []
        for place, k in enumerate(free):
            voters = np.flatnonzero(votes[:, k])
            blocks.append(
                (np.append(voters, [n + place, w, s, r]), np.append(-sign[voters], [1.0, -1.0, 1.0, -1.0]))
            )
        blocks.append((np.append(np.arange(n), w), np.append(sign, 1.0)))
        base = votes[:, rows.included].sum(axis=1, dtype=np.int64)
        value = np.where(sign > 0, 1.0, 0.0) - sign * base
        ones = n + np.arange(len(free))
        blocks.append(
            (
                np.concatenate([np.arange(n), ones, [w, s, r]]),
                np.concatenate(
                    [
                        value,
                        -np.ones(len(free)),
                        [-float(rows.included.sum()), -float(rows.room), float(rows.need)],
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
        self._padding = np.zeros(len(free) + 3)

    def multipliers(
        self, costs: Values, *, deadline: float, cancellation: Cancellation | None
    ) -> Values | None:
        """Return y of least cost, per row of the problem; None if there is none, or none in time."""
        self._program.set_costs(np.concatenate([costs[self.used], self._padding]))
        solution = self._program.solve(deadline=deadline, cancellation=cancellation)
        if not solution.optimal:
            return None
        y = np.zeros(self.rows.n_rows)
        y[self.used] = np.maximum(0.0, solution.values[: len(self.used)])
        return y if y.any() else None


def make_cut(rows: RightRows, y: Values) -> Cut | None:
    """Turn floats into integers that prove a cut, small ones where they do; None if none prove it."""
    support = np.flatnonzero(y > 1e-7 * y.max())
    relative = y[support] / y[support].min()
    for scale in range(1, _SMALL + 1):
        whole = np.rint(relative * scale)
        if whole.max() > 1000 * _SMALL:
            break
        if np.abs(relative * scale - whole).max() < 1e-4 * scale:
            cut = _cut(support, whole.astype(np.int64))
            if proves(rows, cut):
                return cut
    cut = _cut(support, np.rint(y[support] / y.max() * _PRECISE).astype(np.int64))
    return cut if proves(rows, cut) else None


def _cut(support: NDArray[np.int64], whole: NDArray[np.int64]) -> Cut:
    """Return the cut without rows of multiplier 0."""
    kept = whole > 0
    divisor = int(np.gcd.reduce(whole[kept]))
    return Cut(tuple(support[kept].tolist()), tuple((whole[kept] // divisor).tolist()))


def draw_rows(rows: RightRows, t: Values, rng: np.random.Generator, *, most: int) -> NDArray[np.int64]:
    """Return the rows to look at: all, or `most` of them drawn.

    Rows that t calls wrong make no violated cut and are left out first.
    """
    if rows.n_rows <= most:
        return np.arange(rows.n_rows)
    likely = np.flatnonzero(t > _UNLIKELY)
    return np.sort(rng.permutation(likely)[:most])
