"""Cuts: rows that cannot all be right, with the integers that prove it, and the bounds that they give."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.errors import SolverError


@dataclass(frozen=True, kw_only=True)
class CutSettings:
    """How cuts are looked for; decision 8 has the measurements.

    A round solves the master program, whose solution t says how much of every row the cuts so far allow,
    and looks for cuts that t violates. The search by price comes first, and the search row by row where the
    first one finds hardly anything.
    """

    least_violation: float = 1e-3
    """A cut is taken up only if t violates it by more than this; rows that t calls right cost as much in the
    search by price.
    """
    few: int = 3
    """With fewer new cuts than this by price, the round goes on row by row, or ends where only quick rounds
    are wanted.
    """
    idle_rounds: int = 10
    """Rounds in a row without a new cut after which there is nothing more to look for."""
    row_round_cost: int = 5
    """How many further rounds a search row by row counts as, where rounds are limited."""
    most_recalled: int = 500
    """How many known cuts and conflicts a round takes up at most, the most violated first."""
    slack: float = 0.05
    """A cut is slack in a round if t stays below it by more than this."""
    patience: int = 12
    """Rounds in which a cut may be slack before the master program does without it."""
    unlikely: float = 0.2
    """Rows of which t allows no more than this are left out where rows have to be drawn: they make no
    violated cuts.
    """
    price_starts: int = 4
    """From how many vectors of costs the search by price begins in every round."""
    price_reweightings: int = 3
    """How often each of these searches goes on with costs divided by the multipliers just found."""
    price_floor: float = 0.03
    """What is added to multipliers, in parts of their mean, before costs are divided by them, so that 0
    divides nothing.
    """
    price_spread: float = 0.5
    """Standard deviation of the logarithm of the factors by which costs are multiplied at random."""
    price_avoidance: float = 0.2
    """What a row costs more for every search of the round that used it."""
    priced_rows: int = 500
    priced_votes: int = 200_000
    """Most forms in the search by price, and most votes in these: beyond, rows are drawn."""
    asked_votes: int = 2_000_000
    """Most votes in the search row by row: beyond, rows are drawn."""
    asked_tries: int = 40
    """How often a search row by row begins anew; each try takes about ten linear programs."""
    asked_sure: float = 1 - 1e-6
    """Rows of which t allows at least this count as right at no cost."""
    asked_least_excess: float = 1e-3
    """What rows that are asked for must lack together, less than 1 by this, so that t violates the cut
    clearly.
    """
    asked_shortfall: float = 1e-4
    """A row is missed if it lacks more votes than this; shortfalls are in single precision."""
    asked_at_once: int = 30
    """How many missed rows that count as right are asked for at once."""
    asked_noise: float = 0.7
    """Standard deviation of the logarithm of the factors by which prices of rows are multiplied at random."""
    asked_floor: float = 0.3
    """What is added to shortfalls before prices are divided by them, so that tiny ones do not decide."""


_EXACT = 2**62


@dataclass(frozen=True)
class Cut:
    """What rows that are right together ask of the members; mostly more than any selection has.

    Positive integers y, one for each form, add the forms up: with the largest that the threshold can add,
    ``w @ x >= P`` where all rows R are right. Without `kept` no selection has as much, so that one row is
    wrong: ``Σ_R t <= |R| − 1``. With `kept` it is an inequality in x and t, :class:`CutTerms`.
    :func:`proves` checks either.
    """

    rows: tuple[int, ...]
    """Rows of :class:`RightRows`, increasing."""
    forms: tuple[int, ...]
    """Forms of these rows that cannot all hold, increasing, at least one for each row."""
    multipliers: tuple[int, ...]
    """y, one for each of `forms`."""
    kept: tuple[int, ...] | None = None
    """Classifiers whose membership counts, increasing."""


@dataclass(frozen=True, eq=False)
class CutTerms:
    """A cut with kept classifiers as ``c @ x + against >= reach · τ``, where τ = Σ_R t − |R| + 1.

    Let C be the kept classifiers with w > 0 and D those with w < 0. If all rows are right, τ is 1 and
    ``w @ x >= P``; what is not kept adds at most its positive w, so that ``Σ_C w x + Σ_D |w| (1 − x)`` is at
    least ``P − Σ_{w > 0, not in C} w + Σ_D |w|``, which is `reach`. If a row is wrong, τ is at most 0, and
    the left side is never below 0. A coefficient above `reach` does as much as `reach`.
    """

    coefficients: NDArray[np.int64]
    """c: above 0 in C, below 0 in D, 0 elsewhere, ``(n_classifiers,)``."""
    reach: int
    """Below 1 the cut says nothing."""
    against: int
    """What the coefficients of D add to, its sign changed."""


@dataclass(frozen=True, eq=False)
class CutBound:
    """A bound on the gain of the right rows, proved by cuts."""

    bound: int
    """No selection within the limits gains more, in units of ``rows.step``."""
    cuts: tuple[Cut, ...]
    """The cuts that it takes."""
    multipliers: NDArray[np.int64]
    """λ, ``(n_cuts,)``: how much of each, over `denominator`."""
    denominator: int
    pool: tuple[Cut, ...] = ()
    """Cuts of more than two rows, used or not, for the steps that go on from here."""
    exhausted: bool = False
    """Whether looking for more cuts found none at the end."""


def make_cut(rows: RightRows, forms: Sequence[int], multipliers: Sequence[int]) -> Cut:
    """Return the cut of these forms, with the rows that they belong to.

    Whether it is true is for :func:`proves` to say.
    """
    return Cut(tuple(np.unique(rows.row_of[list(forms)]).tolist()), tuple(forms), tuple(multipliers))


def proves(rows: RightRows, cut: Cut) -> bool:
    """Whether the multipliers show that the rows of a cut cannot all be right, decided in integers.

    If they were, ``signs @ x + level · L >= least`` would hold in all the forms, and so would the sum of
    these by the multipliers y, which reads ``c @ x + l · L >= P``. Since L is from 0 to the number of
    members, the left side is at most the largest ``(c + max(0, l)) @ x`` over the selections within the
    sizes; below P, the forms cannot all hold. This is Farkas' lemma, the alternative system of
    :cite:t:`Gleeson1990`, with the largest value taken over selections and not over all x.

    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.proofs.row_forms import normalise
    >>> from shortlist.ensembles.votes.hard_votes import merge_rows
    >>> from shortlist.ensembles.goals.weights import named_weights
    >>> merged = merge_rows([[1, 0], [0, 1], [1, 1]], [1, 0, 0])
    >>> rows = normalise(merged, named_weights("accuracy", merged), selection_limits(2))
    >>> rows.votes.tolist()
    [[0, 1], [1, 0], [1, 1]]
    >>> proves(rows, make_cut(rows, (1, 2), (1, 1))), proves(rows, make_cut(rows, (0, 1), (1, 1)))
    (True, False)
    """
    forms = np.array(cut.forms, dtype=np.int64)
    if not len(forms) or min(cut.multipliers) < 1 or sum(cut.multipliers) >= 2**31:
        return False
    if tuple(np.unique(rows.row_of[forms]).tolist()) != cut.rows:
        return False
    if cut.kept is not None:
        return cut_terms(rows, cut).reach >= 1
    w, wanted = _added_up(rows, cut)
    return rows.largest(w) < wanted


def cut_terms(rows: RightRows, cut: Cut) -> CutTerms:
    """Return a cut with kept classifiers as an inequality."""
    w, wanted = _added_up(rows, cut)
    w[~rows.affordable] = 0
    kept = np.zeros(len(w), dtype=bool)
    kept[list(cut.kept or ())] = True
    reach = wanted - int(w[(w > 0) & ~kept].sum()) - int(w[(w < 0) & kept].sum())
    coefficients = np.where(kept, np.clip(w, -max(0, reach), max(0, reach)), 0)
    return CutTerms(coefficients, reach, -int(coefficients[coefficients < 0].sum()))


def _added_up(rows: RightRows, cut: Cut) -> tuple[NDArray[np.int64], int]:
    """Return w and P: the forms by their multipliers, the threshold replaced by the most that it adds."""
    forms, y = list(cut.forms), np.array(cut.multipliers, dtype=np.int64)
    level = max(0, int(y @ rows.levels[forms].astype(np.int64)))
    return y @ rows.signs[forms].astype(np.int64) + level, int(y @ rows.least[forms])


def certified_bound(
    rows: RightRows, cuts: Sequence[Cut], multipliers: NDArray[np.int64], denominator: int
) -> int:
    """Return the bound that cuts and multipliers λ >= 0 prove, recomputed in integers.

    Any λ gives a bound by weak duality: Σ λ_c (|R_c| − 1) + Σ_i max(0, gain_i − Σ_{c∋i} λ_c), rounded down.
    With kept classifiers λ counts `reach` times, their `against` is added, and so is the largest
    ``Σ λ_c coefficients_c @ x`` of a selection within the sizes.
    Raises SolverError if a cut is not proved by its multipliers, or a λ is negative.

    Takes O(entries of the cuts · n_classifiers) time.
    """
    for cut in cuts:
        if not proves(rows, cut):
            raise SolverError(f"the cut on rows {all_of(cut.rows)} is not proved by its multipliers.")
    if denominator < 1 or (len(multipliers) and int(multipliers.min()) < 0):
        raise SolverError("multipliers of cuts must be at least 0, over a denominator of at least 1.")
    supports = [np.array(cut.rows) for cut in cuts]
    return dual_bound(rows, supports, multipliers, denominator, terms_of(rows, cuts))


def terms_of(rows: RightRows, cuts: Sequence[Cut]) -> "list[CutTerms] | None":
    """Return all cuts as inequalities; None if no cut has kept classifiers."""
    if all(cut.kept is None for cut in cuts):
        return None
    none = CutTerms(np.zeros(rows.n_classifiers, dtype=np.int64), 1, 0)
    return [none if cut.kept is None else cut_terms(rows, cut) for cut in cuts]


def dual_bound(
    rows: RightRows,
    supports: Sequence[NDArray[np.int64]],
    multipliers: NDArray[np.int64],
    denominator: int,
    terms: Sequence[CutTerms] | None = None,
) -> int:
    """Return the same bound for the rows of cuts that are proved, as inequalities with `terms`."""
    sizes = np.array([len(support) for support in supports], dtype=np.int64)
    reach = np.ones_like(sizes) if terms is None else np.array([one.reach for one in terms], dtype=np.int64)
    coefficients = np.zeros((len(sizes), 0), dtype=np.int64)
    if terms:
        coefficients = np.array([one.coefficients for one in terms])
    against = np.maximum(0, -coefficients).sum(axis=1)
    weights = np.abs(coefficients).sum(axis=1) + sizes * reach
    entries = float(multipliers.astype(np.float64) @ weights) + float(denominator) * rows.total_gain
    # Python integers where 64 bits may not do
    whole = np.int64 if entries < _EXACT else object
    used = np.zeros(rows.n_rows, dtype=whole)
    exact = multipliers.astype(whole)
    if len(supports):
        np.add.at(used, np.concatenate(supports), np.repeat(exact * reach, sizes))
    left = rows.gains.astype(whole) * denominator - used
    spent = (exact * ((sizes - 1) * reach + against)).sum() if len(supports) else 0
    members = rows.largest(exact @ coefficients) if terms else 0
    return int(int(spent) + members + int(left[left > 0].sum())) // denominator


def denominator_for(rows: RightRows) -> int:
    """Return a denominator that keeps sums of multipliers small integers, a power of two."""
    bits = 50 - math.frexp(float(max(1, rows.total_gain)))[1]
    return 1 << min(24, max(0, bits))
