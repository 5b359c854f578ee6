"""Cuts from rows that are requested one by one, until no vote with weights is right on all of them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask, stray_flags_ignored
from shortlist.ensembles.proofs.certificate import Cut, make_cut, proves
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.milp.backends.highs_linear import LinearProgram, LinearSolution
from shortlist.runs.budget import Budget


@dataclass(frozen=True, kw_only=True)
class CutSettings:
    """Settings of the search for cuts; decision 8 has the measurements.

    A round solves the master program, whose solution t says how much of every row the cuts so far allow,
    and looks for cuts that t violates. The search by price comes first, and the search row by row where the
    first one finds hardly anything.
    """

    least_violation: float = 1e-3
    """A cut is taken up only if t violates it by more than this; rows that t calls right cost as much in the
    search by price.
    """
    few: int = 3
    """Number of new cuts by price: with fewer, the round goes on row by row, or ends where only quick rounds
    are wanted.
    """
    idle_rounds: int = 10
    """Rounds in a row without a new cut after which there is nothing more to look for."""
    row_round_cost: int = 5
    """Number of further rounds that a search row by row counts as, where rounds are limited."""
    most_recalled: int = 500
    """Largest number of known cuts and conflicts that a round takes up, the most violated first."""
    slack: float = 0.05
    """A cut is slack in a round if t stays below it by more than this."""
    patience: int = 12
    """Rounds in which a cut may be slack before the master program does without it."""
    unlikely: float = 0.2
    """Rows of which t allows no more than this are left out where rows have to be drawn: they make no
    violated cuts.
    """
    price_starts: int = 4
    """Number of vectors of costs from which the search by price begins in every round."""
    price_reweightings: int = 3
    """Number of times that each of these searches goes on with costs divided by the multipliers just found.
    """
    price_floor: float = 0.03
    """Floor added to multipliers, in parts of their mean, before costs are divided by them, so that 0 divides
    nothing.
    """
    price_spread: float = 0.5
    """Standard deviation of the logarithm of the factors by which costs are multiplied at random."""
    price_avoidance: float = 0.2
    """Surcharge on a row for every search of the round that used it."""
    priced_rows: int = 500
    priced_votes: int = 200_000
    """Most forms in the search by price, and most votes in these: beyond, rows are drawn."""
    asked_votes: int = 2_000_000
    """Most votes in the search row by row: beyond, rows are drawn."""
    asked_tries: int = 40
    """Number of times that a search row by row begins anew; each try takes about ten linear programs."""
    asked_sure: float = 1 - 1e-6
    """Rows of which t allows at least this count as right at no cost."""
    asked_least_excess: float = 1e-3
    """Least shortfall of the requested rows together, less than 1 by this, so that t violates the cut
    clearly.
    """
    asked_shortfall: float = 1e-4
    """A row is missed if it lacks more votes than this; shortfalls are in single precision."""
    asked_at_once: int = 30
    """Number of missed rows that count as right and are requested at once."""
    asked_noise: float = 0.7
    """Standard deviation of the logarithm of the factors by which prices of rows are multiplied at random."""
    asked_floor: float = 0.3
    """Floor added to shortfalls before prices are divided by them, so that tiny ones do not decide."""


SMALL = 60
"""Multipliers are first tried as whole numbers with the least one scaled to at most this."""

PRECISE = 2**20
"""Largest multiplier where that proves nothing; the others are rounded."""


class Alternative:
    """The system whose solutions are the multipliers of cuts: it has none where all rows can be right.

    Its unknowns are a multiplier y_f >= 0 for every form f. The sum of the forms by these multipliers reads
    ``c @ x + l · L >= P``, as in :func:`shortlist.ensembles.proofs.certificate.proves`: x are the members, L
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


class AskedRows:
    """Linear program of a weighted vote that is right on all the requested rows.

    Its unknowns are a weight x_k from 0 to 1 for every classifier k, with a sum within the limits on size,
    and a threshold L. Where it has no solution, no selection is right on all these rows. By Farkas' lemma
    the solver then has a dual ray, which holds the multipliers of
    :func:`shortlist.ensembles.proofs.certificate.proves`.
    """

    def __init__(self, rows: RightRows, used: NDArray[np.int64]) -> None:
        self.used, self._forms = used, forms_of(rows, used)
        self._n_forms = rows.n_forms
        self._place_of = np.searchsorted(used, rows.row_of[self._forms])  # place in `used` of each form
        k = rows.n_classifiers
        self._left = np.empty((len(self._forms), k + 1), dtype=np.float32)  # left @ (x, L) >= right
        self._left[:, :k] = rows.signs[self._forms]
        self._left[:, k] = rows.levels[self._forms]
        self._right = rows.least[self._forms].astype(np.float64)
        upper = np.append(rows.affordable.astype(np.float64), float(k))
        self._program = LinearProgram(np.zeros(k + 1), np.zeros(k + 1), upper)
        columns = np.arange(k + 1, dtype=np.int32)
        usable = np.flatnonzero(rows.affordable).astype(np.int32)
        self._program.add_rows(
            [(columns, np.append(np.ones(k), -1.0)), (usable, np.ones(len(usable)))],
            np.array([0.0, float(rows.least_members)]),
            np.array([math.inf, float(rows.most_members)]),
        )
        self._columns = columns
        self._row_of = np.full(len(self._forms), -1, dtype=np.int64)  # of the linear program
        self._asked: Mask = np.zeros(len(self._forms), dtype=bool)

    def ask(self, wanted: Mask) -> None:
        """Ask for these of the `used` rows and no others."""
        forms = wanted[self._place_of]
        new = np.flatnonzero(forms & (self._row_of < 0))
        self._row_of[new] = self._program.n_rows + np.arange(len(new))
        self._program.add_rows(
            [(self._columns, self._left[form].astype(np.float64)) for form in new],
            self._right[new],
            np.full(len(new), math.inf),
        )
        self._asked[new] = True
        changed = np.flatnonzero(forms != self._asked)
        self._program.set_row_bounds(
            self._row_of[changed],
            np.where(forms[changed], self._right[changed], -math.inf),
            np.full(len(changed), math.inf),
        )
        self._asked = forms.copy()

    def solve(self, budget: Budget) -> LinearSolution:
        """Return a solution, or the ray that shows that there is none."""
        return self._program.solve(budget)

    def shortfall(self, values: Floats) -> Floats:
        """Return the shortfall of each of the `used` rows to be right, in the form that lacks most."""
        lacks = np.full(len(self.used), -math.inf)
        with stray_flags_ignored():
            reached = self._left @ values.astype(np.float32)
        np.maximum.at(lacks, self._place_of, self._right - reached)
        return lacks

    def multipliers(self, ray: Floats) -> Floats:
        """Return the part of a ray that belongs to asked rows, one number for each form of the problem."""
        y = np.zeros(self._n_forms)
        asked = np.flatnonzero(self._asked)
        y[self._forms[asked]] = np.abs(ray[self._row_of[asked]])
        return y


def row_by_row(
    rows: RightRows,
    program: AskedRows,
    t: Floats,
    *,
    rng: np.random.Generator,
    budget: Budget,
    settings: CutSettings,
) -> Iterator[Floats]:
    """Yield multipliers of cuts that the master program's solution t violates.

    What row i lacks is 1 − t_i. A cut says that of its rows one at least is wrong, so that t violates it
    exactly where its rows lack less than 1 in all. Rows that lack nothing are therefore asked for at no
    cost. Others are drawn among those that the present solution misses, as long as all together lack less
    than 1. Whenever there is no solution, the rows of the dual ray are a cut that t violates.

    :class:`~shortlist.ensembles.proofs.row_by_row.Alternative` minimises a sum of
    multipliers, which stands for the rows that carry them. This search bounds the rows themselves, and
    still finds cuts where the other one does not.

    `program`: the program of the same rows, which is kept between calls for its basis. `t`: what the cuts so
    far allow, ``(n_rows,)``. `settings`: how often to begin anew, and what the draws prefer.
    """
    lacking = 1 - t[program.used]
    given = sure = t[program.used] >= settings.asked_sure
    first = np.zeros(len(lacking), dtype=bool)  # of the sure ones those that ever mattered
    for _ in range(settings.asked_tries):
        wanted, left = first.copy(), 1 - settings.asked_least_excess
        while True:
            program.ask(wanted)
            solution = program.solve(budget)
            if solution.ray is not None:
                y = program.multipliers(solution.ray)
                if y.any():
                    yield y
                if not (wanted & ~sure).any():  # else every further try would end here
                    carried = np.isin(program.used, rows.row_of[y > 0])
                    sure = sure & ~carried
                    first &= sure
                break
            if not solution.optimal:
                return
            shortfall = program.shortfall(solution.values)
            missed = sure & ~wanted & (shortfall > settings.asked_shortfall)
            if missed.any():
                places = np.flatnonzero(missed)
                worst = places[np.argsort(-shortfall[places], kind="stable")[: settings.asked_at_once]]
                wanted[worst] = first[worst] = True
                continue
            places = np.flatnonzero(
                ~given & ~wanted & (lacking < left) & (shortfall > settings.asked_shortfall)
            )
            if not len(places):
                break
            price = lacking[places] * np.exp(settings.asked_noise * rng.standard_normal(len(places)))
            best = places[np.argmin(price / (shortfall[places] + settings.asked_floor))]
            wanted[best] = True
            left -= lacking[best]
