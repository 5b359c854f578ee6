"""Pair cuts: conditions on the members from two rows that are right together, and the bound they prove.

If a form of each of two rows holds, the sum of the two forms holds too: ``w @ x >= P``, in which the
threshold cancels. For the rows p and q, τ = t_p + t_q − 1 is 1 if both are right. Every set of kept
classifiers gives an inequality (:class:`shortlist.ensembles.proofs.certificate.CutTerms`):

    Σ_C w x + Σ_D |w| (1 − x) >= (P − Σ_{w > 0, not in C} w + Σ_D |w|) τ

Of all C and D, the most violated at a fractional point are C = {x < τ} and D = {x > 1 − τ}. So one pass over
the pairs finds the most violated inequality of each pair.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Floats, Longs, ShortTable
from shortlist.ensembles.proofs.certificate import (
    Cut,
    CutBound,
    CutTerms,
    cut_terms,
    denominator_for,
    dual_bound,
)
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.milp.backends.highs_linear import LinearProgram
from shortlist.runs.budget import Budget

SignTable: TypeAlias = Annotated[NDArray[np.int8], "int8[:, ::1]"]
"""Table of −1, 0 or 1 for every form and classifier."""


class PairForms(NamedTuple):
    """Forms whose pairs are compared, with the fractional point that cuts should violate."""

    signs: SignTable
    """Signs of the used classifiers, which have a degree of membership above 0, ``(n_forms, n_used)``."""
    least: Longs
    """Least sum of signs and threshold that fulfils each form, ``(n_forms,)``."""
    row_of: Longs
    """Index of the row of each form, ``(n_forms,)``."""
    right: Floats
    """Degree to which the row of each form is right, from 0 to 1, ``(n_forms,)``."""
    used: Floats
    """Degree to which each used classifier is a member, above 0, at most 1, ``(n_used,)``."""


@kernel("float64(PairForms, int64, int64)")
def pair_violation(forms: PairForms, p: np.int64, q: np.int64) -> float:
    """Return the violation of the most violated inequality of forms p and q; 0 or less if none is violated.

    With τ = t_p + t_q − 1 and w the sum of the two forms, the violation is τ · least − Σ_{w>0} w min(x, τ) +
    Σ_{w<0} |w| max(0, x − 1 + τ).
    """
    together = forms.right[p] + forms.right[q] - 1.0
    if together <= 0.0:
        return 0.0
    violation = together * (forms.least[p] + forms.least[q])
    for k in range(forms.used.shape[0]):
        w = np.int64(forms.signs[p, k]) + np.int64(forms.signs[q, k])
        if w > 0:
            violation -= w * min(forms.used[k], together)
        elif w < 0:
            violation -= w * max(0.0, forms.used[k] - 1.0 + together)
    return float(violation)


@kernel("int64(PairForms, int64[::1], int64[::1], boolean, float64, int32[:, ::1], float64[::1])")
def list_violated(  # noqa: C901, PLR0917
    forms: PairForms,
    firsts: Longs,
    seconds: Longs,
    each_once: bool,
    least: float,
    pairs: ShortTable,
    violations: Floats,
) -> int:
    """Keep in a heap the most violated pairs of `firsts` and `seconds`, if violated by more than `least`.

    `each_once`: whether the two lists have the same forms; a pair is then compared only once, and only if its
    rows differ. Returns the number of kept pairs, at most the size of the heap, whose top is the least
    violated pair.
    """
    n, room = 0, len(violations)
    for i in range(len(firsts)):
        p = firsts[i]
        for j in range(i + 1 if each_once else 0, len(seconds)):
            q = seconds[j]
            if forms.row_of[p] == forms.row_of[q]:
                continue
            violation = pair_violation(forms, p, q)
            if violation <= least or (n == room and violation <= violations[0]):
                continue
            if n < room:
                place = n
                n += 1
                while place and violations[(place - 1) // 2] > violation:
                    above = (place - 1) // 2
                    violations[place] = violations[above]
                    pairs[place, 0], pairs[place, 1] = pairs[above, 0], pairs[above, 1]
                    place = above
            else:
                place = 0
                while True:
                    below = 2 * place + 1
                    if below >= room:
                        break
                    if below + 1 < room and violations[below + 1] < violations[below]:
                        below += 1
                    if violations[below] >= violation:
                        break
                    violations[place] = violations[below]
                    pairs[place, 0], pairs[place, 1] = pairs[below, 0], pairs[below, 1]
                    place = below
            violations[place] = violation
            pairs[place, 0] = p
            pairs[place, 1] = q
    return n


@dataclass(frozen=True, kw_only=True)
class PairSettings:
    """Settings of the search for pair cuts; decision 81 has the measurements."""

    at_once: int = 225
    """Number of cuts added in a round, the most violated first."""
    least_violation: float = 1e-4
    """Least violation of a cut that is added."""
    sweep: int = 3
    """Number of rounds between two removals of slack cuts."""
    idle_rounds: int = 12
    least_gain: float = 0.02
    """Least decrease of the bound in `sweep` rounds, as a multiple of the gain of a usual row; if the
    decrease is less, the search ends.
    """
    tight: float = 1e-6
    """Tolerance within which a cut counts as tight."""


@dataclass(eq=False)
class _Relaxation:
    rows: RightRows
    settings: PairSettings
    cuts: list[Cut]
    terms: list[CutTerms]

    def __post_init__(self) -> None:
        rows = self.rows
        self.unit = float(rows.gains.max())
        costs = np.concatenate([np.zeros(rows.n_classifiers), -rows.gains / self.unit])
        most = np.concatenate([rows.affordable, np.ones(rows.n_rows)]).astype(np.float64)
        self.program = LinearProgram(costs, np.zeros(len(costs)), most)
        everybody = (np.arange(rows.n_classifiers, dtype=np.int32), np.ones(rows.n_classifiers))
        self.program.add_rows(
            [everybody], np.array([rows.least_members * 1.0]), np.array([rows.most_members * 1.0])
        )
        self.members, self.right = np.zeros(rows.n_classifiers), np.ones(rows.n_rows)
        self.duals: Floats = np.zeros(0)

    def solve(self, budget: Budget) -> float | None:
        """Find the next fractional point, and return its gain; None if the time is over."""
        solution = self.program.solve(budget)
        if not solution.optimal:
            return None
        point = np.clip(solution.values, 0.0, 1.0)
        point[point < self.settings.tight] = 0.0
        self.members, self.right = point[: self.rows.n_classifiers], point[self.rows.n_classifiers :]
        self.duals = np.maximum(0.0, solution.duals[1:]) * self.unit
        return float(self.rows.gains @ solution.values[self.rows.n_classifiers :])

    def add(self, cuts: Sequence[Cut]) -> None:
        terms = [cut_terms(self.rows, cut) for cut in cuts]
        n = self.rows.n_classifiers
        made = []
        for cut, one in zip(cuts, terms, strict=True):
            used = np.flatnonzero(one.coefficients)
            columns = np.concatenate([used, [n + row for row in cut.rows]]).astype(np.int32)
            reach = np.full(len(cut.rows), -one.reach)
            made.append((columns, np.concatenate([one.coefficients[used], reach]).astype(np.float64)))
        least = [-float(one.against + one.reach) for one in terms]
        self.program.add_rows(made, np.array(least), np.full(len(made), math.inf))
        self.cuts += cuts
        self.terms += terms

    def tight(self) -> NDArray[np.bool_]:
        slack = [
            one.coefficients @ self.members - one.reach * (self.right[list(cut.rows)].sum() - 1) + one.against
            for cut, one in zip(self.cuts, self.terms, strict=True)
        ]
        return np.array(slack) <= self.settings.tight

    def drop_slack(self) -> None:
        kept = self.tight()
        self.program.delete_rows(np.flatnonzero(~kept) + 1)
        self.cuts = [cut for cut, stays in zip(self.cuts, kept, strict=True) if stays]
        self.terms = [one for one, stays in zip(self.terms, kept, strict=True) if stays]
        self.duals = self.duals[kept]

    def proved(self) -> CutBound:
        """Return the bound proved by the multipliers of the last point, in integers, and the tight cuts."""
        denominator = denominator_for(self.rows)
        whole = np.floor(self.duals * denominator + 0.5).astype(np.int64)
        used = np.flatnonzero(whole)
        cuts, terms = tuple(self.cuts[i] for i in used), [self.terms[i] for i in used]
        supports = [np.array(cut.rows) for cut in cuts]
        bound = dual_bound(self.rows, supports, whole[used], denominator, terms)
        pool = tuple(cut for cut, stays in zip(self.cuts, self.tight(), strict=True) if stays)
        return CutBound(bound, cuts, whole[used], denominator, pool)


def bound_by_pairs(
    rows: RightRows,
    budget: Budget,
    *,
    target: int | None = None,
    on_bound: Callable[[int], None] | None = None,
    settings: PairSettings | None = None,
) -> CutBound:
    """Return a bound on the gain that pair cuts prove, with the tight cuts as its pool.

    A linear program chooses members x and rows t from 0 to 1. The cuts that its solution violates most are
    added, until its gain hardly decreases from round to round.

    `target`: stop as soon as the bound is at most this number, in units of ``rows.step``. `on_bound`:
    receives each newly proved bound.

    The result is reproducible, unless the budget ends the search. The bound is computed in integers, whatever
    the linear programs return.
    """
    settings = settings or PairSettings()
    best = CutBound(rows.total_gain, (), np.zeros(0, dtype=np.int64), 1)
    if not rows.n_rows:
        return best
    relaxation = _Relaxation(rows, settings, [], [])
    usual, gains = float(np.median(rows.gains)), [math.inf]
    while not budget.stopped:
        gain = relaxation.solve(budget)
        if gain is None:
            break
        gains.append(gain)
        idle = len(gains) > settings.idle_rounds and (
            gains[-1 - settings.idle_rounds] - gain < settings.least_gain * usual
        )
        sweeps = len(gains) % settings.sweep == 0
        found = [] if idle else violated_pairs(rows, relaxation.members, relaxation.right, settings)
        reached = target is not None and gain < target + 1
        if sweeps or reached or not found:
            proved = relaxation.proved()
            best = proved if proved.bound <= best.bound else best
            if on_bound is not None:
                on_bound(best.bound)
        if not found or (target is not None and best.bound <= target):
            break
        if sweeps:
            relaxation.drop_slack()
        relaxation.add(found)
    return best


def violated_pairs(rows: RightRows, members: Floats, right: Floats, settings: PairSettings) -> list[Cut]:
    """Return the pair cuts that a fractional point violates most, at most one for each pair of forms.

    With a threshold, a pair is of a positive row and a negative row; otherwise of any two different rows.

    `members`: degree x of membership, from 0 to 1, ``(n_classifiers,)``. `right`: degree t of being right,
    from 0 to 1, ``(n_rows,)``.

    Takes O(pairs of forms · classifiers with x > 0) time at most; pairs with τ <= 0 are skipped.
    """
    used = np.flatnonzero(members > 0)
    forms = PairForms(
        np.ascontiguousarray(rows.signs[:, used]),
        rows.least,
        rows.row_of,
        np.ascontiguousarray(right[rows.row_of]),
        np.ascontiguousarray(members[used]),
    )
    every = np.arange(rows.n_forms)
    firsts, seconds = every, every
    if rows.has_threshold:
        firsts, seconds = np.flatnonzero(rows.levels < 0), np.flatnonzero(rows.levels > 0)
    pairs = np.empty((settings.at_once, 2), dtype=np.int32)
    violations = np.empty(settings.at_once)
    found = list_violated(
        forms, firsts, seconds, not rows.has_threshold, settings.least_violation, pairs, violations
    )
    order = np.lexsort((*pairs[:found].T, -violations[:found]))
    return [most_violated(rows, members, right, *sorted(pairs[i].tolist())) for i in order.tolist()]


def most_violated(rows: RightRows, members: Floats, right: Floats, p: int, q: int) -> Cut:
    """Return the cut of two forms, p before q, that is most violated at a fractional point."""
    together = right[rows.row_of[p]] + right[rows.row_of[q]] - 1
    w = rows.signs[p].astype(np.int64) + rows.signs[q]
    kept = (w != 0) & rows.affordable & np.where(w > 0, members < together, members > 1 - together)
    pair = (int(rows.row_of[p]), int(rows.row_of[q]))
    return Cut(pair, (p, q), (1, 1), tuple(np.flatnonzero(kept).tolist()))
