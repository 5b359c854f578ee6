"""Cuts from rows that are required one by one, until no weighted vote is right on all of them."""

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

    A round solves the master program. The solution t of the master program is the degree to which each row
    may be right under the known cuts. The round then searches for cuts that t violates, first by price, then
    row by row if the search by price finds hardly any.
    """

    least_violation: float = 1e-3
    """Least violation by t of a cut that is added. In the search by price, it is also the cost of a row whose
    degree t is 1.
    """
    few: int = 3
    """Least number of new cuts by price in a round. With fewer new cuts the round continues row by row, or
    ends if only quick rounds are requested.
    """
    idle_rounds: int = 10
    """Number of successive rounds without a new cut after which the search ends."""
    row_round_cost: int = 5
    """Number of rounds that a search row by row counts as, where rounds are limited."""
    most_recalled: int = 500
    """Largest number of known cuts and conflicts that a round uses again, the most violated first."""
    slack: float = 0.05
    """Distance of t from a cut above which the cut is slack in a round."""
    patience: int = 12
    """Number of rounds that a cut may be slack before it is removed from the master program."""
    unlikely: float = 0.2
    """Degree t up to which a row is left out of a draw, as rows with a small t are in no violated cut."""
    price_starts: int = 4
    """Number of cost vectors from which the search by price starts in every round."""
    price_reweightings: int = 3
    """Number of repetitions of each search by price, with costs divided by the multipliers just found."""
    price_floor: float = 0.03
    """Number added to multipliers before costs are divided by them, as a share of their mean; it avoids a
    division by 0.
    """
    price_spread: float = 0.5
    """Standard deviation of the logarithm of the random factors by which costs are multiplied."""
    price_avoidance: float = 0.2
    """Surcharge on the cost of a row, for every search of the round that has used the row."""
    priced_rows: int = 500
    priced_votes: int = 200_000
    """Largest number of forms, and largest number of votes of these forms, in the search by price; with more,
    rows are drawn.
    """
    asked_votes: int = 2_000_000
    """Largest number of votes in the search row by row; with more votes, rows are drawn."""
    asked_tries: int = 40
    """Number of restarts of a search row by row; each takes about ten linear programs."""
    asked_sure: float = 1 - 1e-6
    """Degree t from which on a row counts as right, and is required at no cost."""
    asked_least_excess: float = 1e-3
    """Least difference of 1 and the total shortfall of the required rows, so that t clearly violates the cut.
    """
    asked_shortfall: float = 1e-4
    """Least number of votes that a row must lack to count as missed; shortfalls are in single precision."""
    asked_at_once: int = 30
    """Number of missed rows that are required at once."""
    asked_noise: float = 0.7
    """Standard deviation of the logarithm of the random factors of row prices."""
    asked_floor: float = 0.3
    """Number added to shortfalls before prices are divided by them, so that tiny shortfalls do not decide."""


SMALL = 60
"""Largest integer tried for the least multiplier, when multipliers are first scaled to small integers."""

PRECISE = 2**20
"""Integer that the largest multiplier is scaled to if small integers prove nothing; the others are rounded.
"""


class Alternative:
    """Linear system whose solutions are the multipliers of cuts; it has none if all rows can be right.

    Its unknowns are a multiplier y_f >= 0 for every form f. The sum of the forms with these multipliers is
    ``c @ x + l · L >= P``, as in :func:`shortlist.ensembles.proofs.certificate.proves`. There x are the
    members, L is the threshold, and c, l and P are sums of y times the numbers of the forms. A cut is proved
    if no selection reaches P. Linear programming duality bounds the largest left side, with further unknowns:
    u_k >= 0 for every classifier k, s >= 0 for the largest size, r >= 0 for the least size, and w >= max(0,
    l) for the threshold. The system requires that this bound is at least 1 below P, which is no restriction,
    as every y may be scaled.

    A vertex of the system has few rows. With costs 1 − t, the minimum of ``costs @ y`` prefers rows that the
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
        """Return the multipliers of least cost, ``(n_forms,)``; None if none exist or the time is over."""
        self._program.set_costs(np.concatenate([costs[self.used], self._padding]))
        solution = self._program.solve(budget)
        if not solution.optimal:
            return None
        y = np.zeros(self.rows.n_forms)
        y[self.used] = np.maximum(0.0, solution.values[: len(self.used)])
        return y if y.any() else None


def whole_cut(rows: RightRows, y: Floats) -> Cut | None:
    """Return a cut with the multipliers y as integers, small integers if these prove the cut.

    Returns None if no integers tried prove the cut.
    """
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
    """Return increasing indices of all rows, or of drawn rows if all rows have more than `most` forms.

    The draw leaves out rows whose degree t, from the master program, is at most `unlikely`.
    """
    if rows.n_forms <= most:
        return np.arange(rows.n_rows)
    drawn = rng.permutation(np.flatnonzero(t > unlikely))
    n_forms = np.cumsum(np.bincount(rows.row_of, minlength=rows.n_rows)[drawn])
    return np.sort(drawn[: max(1, int(np.searchsorted(n_forms, most, side="right")))])


def forms_of(rows: RightRows, used: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices of the forms of some rows, increasing."""
    is_used = np.zeros(rows.n_rows, dtype=bool)
    is_used[used] = True
    return np.flatnonzero(is_used[rows.row_of])


class AskedRows:
    """Linear program of a weighted vote that is right on all the required rows.

    Its unknowns are a weight x_k from 0 to 1 for every classifier k, with a sum within the limits on size,
    and a threshold L. If the program has no solution, no selection is right on all required rows. By Farkas'
    lemma the solver then returns a dual ray with the multipliers of
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
        """Require the rows that `wanted` marks among the `used` rows, and no other rows.

        `wanted`: mask, ``(n_used,)``.
        """
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
        """Return a solution, or the dual ray that proves that there is none."""
        return self._program.solve(budget)

    def shortfall(self, values: Floats) -> Floats:
        """Return the shortfall of each of the `used` rows, ``(n_used,)``.

        The shortfall of a row is the largest shortfall of its forms.
        """
        lacks = np.full(len(self.used), -math.inf)
        with stray_flags_ignored():
            reached = self._left @ values.astype(np.float32)
        np.maximum.at(lacks, self._place_of, self._right - reached)
        return lacks

    def multipliers(self, ray: Floats) -> Floats:
        """Return the multipliers in a ray, ``(n_forms,)``; 0 for forms of rows that are not required."""
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

    The shortfall of row i is 1 − t_i. A cut says that at least one of its rows is wrong. So t violates the
    cut if and only if the shortfalls of its rows add up to less than 1. Rows without a shortfall are
    therefore required at no cost. Further rows are drawn among the rows that the present solution misses, as
    long as the total shortfall is less than 1. When the program has no solution, the rows of the dual ray are
    a cut that t violates.

    :class:`~shortlist.ensembles.proofs.row_by_row.Alternative` minimises a sum of multipliers, as a
    substitute for the number of rows. The search row by row limits the rows themselves, and still finds cuts
    when the search by price finds none.

    `program`: program of the same rows, kept between calls for its basis. `t`: degree to which the known cuts
    allow each row to be right, ``(n_rows,)``. `settings`: number of restarts, and preferences of the draws.
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
