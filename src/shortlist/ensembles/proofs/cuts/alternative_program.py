"""Looking for rows that cannot all be right: the alternative linear program."""

import math

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.proofs.cuts.cuts import Cut, make_cut, proves
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.milp.backends.highs_linear import LinearProgram
from shortlist.runs import Cancellation

Values = NDArray[np.float64]

_UNLIKELY = 0.2
_SMALL = 60
_PRECISE = 2**20


class Alternative:
    """The alternative system of all rows being right, whose solutions are the multipliers of cuts.

    With multipliers y >= 0 of the forms and c, l and P as in
    :func:`shortlist.ensembles.proofs.cuts.cuts.proves`, the largest value of a selection is bounded by linear
    programming duality: u >= 0 per classifier, s and r for the largest and the least size, and w >= max(0, l)
    for the threshold. The system asks that the bound stay 1 below P; any y that does not can be scaled. A
    vertex has few rows, and minimising ``costs @ y`` with costs 1 − t* prefers rows that the solution t*
    calls right: :cite:t:`Codato2006`, Section 3.
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

    def multipliers(
        self, costs: Values, *, deadline: float, cancellation: Cancellation | None
    ) -> Values | None:
        """Return the y of least cost, one for each form of the problem, as costs are.

        None if there is none, or none in time.
        """
        self._program.set_costs(np.concatenate([costs[self.used], self._padding]))
        solution = self._program.solve(deadline=deadline, cancellation=cancellation)
        if not solution.optimal:
            return None
        y = np.zeros(self.rows.n_forms)
        y[self.used] = np.maximum(0.0, solution.values[: len(self.used)])
        return y if y.any() else None


def whole_cut(rows: RightRows, y: Values) -> Cut | None:
    """Turn floats into integers that prove a cut, small ones where they do; None if none prove it."""
    support = np.flatnonzero(y > 1e-7 * y.max())
    relative = y[support] / y[support].min()
    for scale in range(1, _SMALL + 1):
        whole = np.rint(relative * scale)
        if whole.max() > 1000 * _SMALL:
            break
        if np.abs(relative * scale - whole).max() < 1e-4 * scale:
            cut = _cut(rows, support, whole.astype(np.int64))
            if proves(rows, cut):
                return cut
    cut = _cut(rows, support, np.rint(y[support] / y.max() * _PRECISE).astype(np.int64))
    return cut if proves(rows, cut) else None


def _cut(rows: RightRows, support: NDArray[np.int64], whole: NDArray[np.int64]) -> Cut:
    """Return the cut without forms of multiplier 0."""
    kept = whole > 0
    divisor = int(np.gcd.reduce(whole[kept]))
    return make_cut(rows, support[kept].tolist(), (whole[kept] // divisor).tolist())


def draw_rows(rows: RightRows, t: Values, rng: np.random.Generator, *, most: int) -> NDArray[np.int64]:
    """Return the rows to look at, increasing: all, or some that are drawn and have `most` forms in all.

    Rows that t calls wrong make no violated cut and are left out first.
    """
    if rows.n_forms <= most:
        return np.arange(rows.n_rows)
    drawn = rng.permutation(np.flatnonzero(t > _UNLIKELY))
    n_forms = np.cumsum(np.bincount(rows.row_of, minlength=rows.n_rows)[drawn])
    return np.sort(drawn[: max(1, int(np.searchsorted(n_forms, most, side="right")))])


def forms_of(rows: RightRows, used: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the forms of some rows, increasing."""
    is_used = np.zeros(rows.n_rows, dtype=bool)
    is_used[used] = True
    return np.flatnonzero(is_used[rows.row_of])
