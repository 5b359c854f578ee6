"""The integer program of ensemble pruning (Eqs. 1 to 20 of Bastos, Brandão and Valle, 2022)."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Mask
from shortlist.ensembles.goals.diversity import CREDIT_SLACK, CREDIT_UNITS, DiversityLimits
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.proofs.certificate import Cut, CutTerms, cut_terms
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.ensembles.votes.hard_votes import Votes
from shortlist.milp import LinearObjective, Program, make_program
from shortlist.results.objective import Objective, Sense


@dataclass(frozen=True, eq=False)
class PruningProgram:
    """Integer program to minimise, with the positions of its parts and the meaning of its costs.

    The columns are, in this order: x_k for each classifier (1 if classifier k is a member); with two classes
    L, the threshold; t for each row whose decision matters (1 if the row is right); with diversity limits y
    for each pair (1 if both classifiers are members).
    """

    program: Program
    n_classifiers: int
    decided_rows: NDArray[np.int64]
    """Indices of the rows that have a column, ``(n_decided,)``."""
    right: Callable[[Mask, int], Mask]
    """Function from members and a threshold to the mask of the rows in `decided_rows` that are decided right,
    ``(n_decided,)``.
    """
    has_threshold: bool
    pairs: NDArray[np.int64]
    offset: int = 0
    """Number to add to a cost to get the negated gain."""
    base: int = 0
    step: int = 1
    """Weighted sum at a gain of 0, and increase of the weighted sum for a gain of 1."""
    absolute_gap: float = 1 - 1e-6
    """Difference up to which two costs count as equal."""

    def members(self, values: NDArray[np.float64]) -> Mask:
        """Return the selection of a solution as a mask, ``(n_classifiers,)``."""
        return np.asarray(values[: self.n_classifiers] > 0.5)

    def encode(self, mask: Mask, threshold: int = 0) -> NDArray[np.float64]:
        """Return the solution that encodes a selection and a threshold, as a start, ``(n_columns,)``."""
        both = mask[self.pairs[:, 0]] & mask[self.pairs[:, 1]]
        level = [threshold] if self.has_threshold else []
        return np.concatenate([mask, level, self.right(mask, threshold), both]).astype(np.float64)

    def total_of(self, cost: float) -> float:
        """Return the weighted sum that corresponds to a cost, or to a bound on it; fractions are kept."""
        return self.base - self.step * (cost + self.offset)

    def total_bound(self, bound: float, otherwise: int) -> int:
        """Return the bound on the weighted sum for a bound on the cost.

        `otherwise`: returned for an infinite bound.
        """
        return otherwise if math.isinf(bound) else math.floor(self.total_of(bound) + 1e-6)


def pruning_program(votes: Votes, weights: Weights, limits: SelectionLimits) -> PruningProgram:
    """Return the program of Eqs. 1 to 12, with 14 to 18 and 20 where there are diversity limits.

    The program differs from the paper as follows, with the same answer. f is 1 − t. Of Eqs. 2 and 3, and of
    Eqs. 5 and 6, only the equation for the sign of the row's gain is kept; rows without gain have no column.
    0 ≤ L ≤ S is a constraint of its own. So the constants K + 1 and K shrink in each constraint to the
    largest value of its left side (Eq. 6 with K instead of K + 1 would be wrong for L = K). Rows without a
    positive vote are decided beforehand.

    `votes`: merged rows; identical rows share one column t with their total gain. `weights`: gains of right
    decisions, of any sign.
    """
    n_classifiers = votes.n_classifiers
    most = limits.max_size
    gains = np.where(votes.labels == 1, weights.gain_positive, weights.gain_negative) * votes.counts
    voters = votes.votes.sum(axis=1, dtype=np.int64)
    silent = voters == 0  # never positive, since L >= 0
    decided = np.flatnonzero((gains != 0) & ~silent)
    fixed_gain = int(gains[silent & (votes.labels == 0)].sum())
    pairs = member_pairs(limits, n_classifiers)
    n_columns = n_classifiers + 1 + len(decided) + len(pairs)
    rows = [
        _decision_rows(votes, gains, voters, decided, most=most, n_columns=n_columns),
        limit_rows(limits, n_classifiers, n_columns, has_threshold=True),
    ]

    def right(mask: Mask, threshold: int) -> Mask:
        positive = votes.votes[decided][:, mask].sum(axis=1) > threshold
        return np.asarray(positive == (votes.labels[decided] == 1))

    return PruningProgram(
        _as_program(rows, gains[decided], limits, pairs, has_threshold=True),
        n_classifiers,
        decided,
        right,
        has_threshold=True,
        pairs=pairs,
        offset=-weights.floor(votes) - fixed_gain,
        absolute_gap=weights.step * (1 - 1e-6),
    )


_Rows = tuple[sparse.csr_array, NDArray[np.float64], NDArray[np.float64]]


def _decision_rows(
    votes: Votes,
    gains: NDArray[np.int64],
    voters: NDArray[np.int64],
    decided: NDArray[np.int64],
    *,
    most: int,
    n_columns: int,
) -> _Rows:
    """Return Eqs. 2, 3, 5 and 6 as ``±(votes·x − L) + M·t <= limit``, one row per decided row."""
    truth = votes.labels[decided] == 1
    rewarded = gains[decided] > 0
    # t = 1 must imply "positive" for a rewarded positive or, by t = 0, for a punished negative
    wants_positive = truth == rewarded
    v = np.minimum(voters[decided], most)
    rest = np.minimum(votes.n_classifiers - voters[decided], most)
    # L + 1 − votes·x <= rest + 1 since L <= S;  votes·x − L <= v
    largest = np.where(wants_positive, rest + 1, v)
    sign = np.where(wants_positive, -1.0, 1.0)
    x = sparse.csr_array(votes.votes[decided].astype(np.float64) * sign[:, None])
    threshold = sparse.csr_array(-sign[:, None])
    right = sparse.diags_array(np.where(rewarded, largest, -largest).astype(np.float64), format="csr")
    pairs = sparse.csr_array((len(decided), n_columns - votes.n_classifiers - 1 - len(decided)))
    upper = np.where(rewarded, largest, 0) - wants_positive
    return (
        sparse.csr_array(sparse.hstack([x, threshold, right, pairs])),
        np.full(len(decided), -np.inf),
        upper.astype(np.float64),
    )


def _as_program(
    blocks: "list[_Rows]",
    gains: NDArray[np.int64],
    limits: SelectionLimits,
    pairs: NDArray[np.int64],
    *,
    has_threshold: bool,
) -> Program:
    """Return the program of these constraints together with the constraints on diversity.

    The costs are the negated gains of right rows.
    """
    n_columns = blocks[0][0].shape[1]
    first = n_columns - len(pairs) - len(gains)
    if limits.diversity is not None:
        blocks = [*blocks, diversity_rows(limits.diversity, pairs, limits.max_size, n_columns)]
    rows, lower, upper = (list(part) for part in zip(*blocks, strict=True))
    costs, column_upper = np.zeros(n_columns), np.ones(n_columns)
    costs[first : first + len(gains)] = -gains
    if has_threshold:
        column_upper[first - 1] = limits.max_size
    return make_program(
        sparse.vstack(rows),
        row_lower=np.concatenate(lower),
        row_upper=np.concatenate(upper),
        column_lower=0,
        column_upper=column_upper,
        # y too, which Eq. 17 leaves free: CP-SAT knows integers only, and HiGHS presolves them right
        integer=True,
        objectives=[LinearObjective(Objective("minus gain"), costs)],
    )


def limit_rows(limits: SelectionLimits, n_classifiers: int, n_columns: int, *, has_threshold: bool) -> _Rows:
    """Return the constraints min_size ≤ S ≤ max_size, with two classes L ≤ S, and the limit on cost."""
    members = np.zeros((1, n_columns))
    members[0, :n_classifiers] = 1
    rows, lower, upper = [members], [float(limits.min_size)], [float(limits.max_size)]
    if has_threshold:
        below = members.copy()
        below[0, n_classifiers] = -1
        rows, lower, upper = [*rows, below], [*lower, 0.0], [*upper, np.inf]
    if limits.costs is not None:
        price = np.zeros((1, n_columns))
        price[0, :n_classifiers] = limits.costs
        rows, lower, upper = [*rows, price], [*lower, -np.inf], [*upper, limits.budget]
    return (
        sparse.csr_array(np.vstack(rows)),
        np.array(lower, dtype=np.float64),
        np.array(upper, dtype=np.float64),
    )


def diversity_rows(limits: DiversityLimits, pairs: NDArray[np.int64], most: int, n_columns: int) -> _Rows:
    """Return the constraints of Eqs. 14 to 16, 18 and 20, without those of Eqs. 14 to 16 that are not needed.

    Of Eqs. 14 to 16, the sign of a pair's credit decides which are needed. The last columns are the y of
    `pairs`. `most`: largest number of members.
    """
    n_classifiers = len(limits.credit)
    k, m = pairs.T
    y = n_columns - len(pairs) + np.arange(len(pairs))
    credit = limits.credit[k, m]
    # a pair above γ only helps, so nothing pushes its y below 1; a pair below γ helps through τ alone
    helps = (credit > limits.mean) | ((limits.each > 0) & (credit > 0))
    hurts = credit < limits.mean
    blocks = [
        _triples([(y[helps], 1.0), (k[helps], -1.0)], n_columns),
        _triples([(y[helps], 1.0), (m[helps], -1.0)], n_columns),
        _triples([(k[hurts], 1.0), (m[hurts], 1.0), (y[hurts], -1.0)], n_columns),
    ]
    upper = [np.zeros(2 * int(helps.sum())), np.ones(int(hurts.sum()))]
    blocks.append(_mean_row(credit - limits.mean, y, n_columns))
    upper.append(np.array([CREDIT_SLACK / CREDIT_UNITS]))
    if limits.each > 0:
        largest = min(n_classifiers - 1, most)  # members beside an outsider
        blocks.append(_each_rows(limits, pairs, y, largest, n_columns))
        upper.append(np.full(n_classifiers, (limits.each * largest + CREDIT_SLACK) / CREDIT_UNITS))
    rows = sparse.csr_array(sparse.vstack(blocks))
    return rows, np.full(rows.shape[0], -np.inf), np.concatenate(upper)


def _mean_row(surplus: NDArray[np.int64], y: NDArray[np.int64], n_columns: int) -> sparse.csr_array:
    """Return the row of Eq. 20: −Σ (FC − γ)·y <= 0."""
    return sparse.csr_array(
        (-surplus / CREDIT_UNITS, (np.zeros(len(y), dtype=np.int64), y)), shape=(1, n_columns)
    )


def _each_rows(
    limits: DiversityLimits, pairs: NDArray[np.int64], y: NDArray[np.int64], largest: int, n_columns: int
) -> sparse.csr_array:
    """Return the rows of Eq. 18 for every k: τ·S − Σ FC·y + τ·(largest − 1)·x_k <= τ·largest."""
    n_classifiers = len(limits.credit)
    k, m = pairs.T
    gains = -limits.credit[k, m] / CREDIT_UNITS
    chosen = sparse.csr_array(
        (np.concatenate([gains, gains]), (np.concatenate([k, m]), np.concatenate([y, y]))),
        shape=(n_classifiers, n_columns),
    )
    tau = limits.each / CREDIT_UNITS
    size = np.zeros((n_classifiers, n_columns))
    size[:, :n_classifiers] = tau
    size[np.arange(n_classifiers), np.arange(n_classifiers)] += tau * (largest - 1)
    return sparse.csr_array(chosen + sparse.csr_array(size))


def _triples(terms: list[tuple[NDArray[np.int64], float]], n_columns: int) -> sparse.csr_array:
    n_rows = len(terms[0][0])
    columns = np.concatenate([column for column, _ in terms])
    data = np.concatenate([np.full(n_rows, coefficient) for _, coefficient in terms])
    return sparse.csr_array(
        (data, (np.tile(np.arange(n_rows), len(terms)), columns)), shape=(n_rows, n_columns)
    )


def member_pairs(limits: SelectionLimits, n_classifiers: int) -> NDArray[np.int64]:
    """Return every pair k < l of classifiers, ``(n_pairs, 2)``; no pairs without diversity limits."""
    n = 0 if limits.diversity is None else n_classifiers
    return np.column_stack(np.triu_indices(n, 1)).astype(np.int64)


def without_selection(program: Program, mask: Mask) -> Program:
    """Return the program with a constraint that excludes one selection; the first columns are members."""
    row = np.zeros((1, program.n_columns))
    row[0, : len(mask)] = np.where(mask, 1.0, -1.0)
    return program.with_rows(row, -np.inf, mask.sum() - 1.0)


def _right_rows(rows: RightRows, n_columns: int) -> _Rows:
    """Return the constraint ``signs·x − (least − lowest)·t >= lowest`` for each form.

    With t = 1 the constraint requires the form; with t = 0 it always holds.
    """
    limits, n_classifiers = rows.limits, rows.n_classifiers
    own, rival = ((rows.signs == sign).sum(axis=1, dtype=np.int64) for sign in (1, -1))
    lowest = np.maximum(0, limits.min_size - n_classifiers + own) - np.minimum(rival, limits.max_size)
    signs = sparse.csr_array(rows.signs.astype(np.float64))
    right = sparse.csr_array(
        ((lowest - rows.least).astype(np.float64), (np.arange(rows.n_forms), rows.row_of)),
        shape=(rows.n_forms, n_columns - n_classifiers),
    )
    return (
        sparse.csr_array(sparse.hstack([signs, right])),
        lowest.astype(np.float64),
        np.full(rows.n_forms, np.inf),
    )


def _cut_rows(rows: RightRows, cuts: Sequence[Cut], first: int, n_columns: int) -> _Rows:
    """Return the constraint ``reach · Σ t − coefficients @ x <= against + reach (|R| − 1)`` for each cut R.

    `first`: index of the column t of the first row.
    """
    plain = CutTerms(np.zeros(0, dtype=np.int64), 1, 0)
    columns, numbers, most, starts = [], [], [], [0]
    for cut in cuts:
        terms = plain if cut.kept is None else cut_terms(rows, cut)
        used = np.flatnonzero(terms.coefficients)
        columns += [np.array(cut.rows) + first, used]
        numbers += [np.full(len(cut.rows), terms.reach), -terms.coefficients[used]]
        most.append(terms.against + terms.reach * (len(cut.rows) - 1.0))
        starts.append(starts[-1] + len(cut.rows) + len(used))
    entries = np.concatenate(numbers).astype(np.float64), np.concatenate(columns), np.array(starts)
    matrix = sparse.csr_array(entries, shape=(len(cuts), n_columns))
    return matrix, np.full(len(cuts), -np.inf), np.array(most)


UNIT = Weights(Objective("gain", Sense.MAX, scale=None), tp=1, fn=0, tn=1, fp=0, denominator=1)
"""Weights for a problem in terms of gains: a gain of 1 for each right decision."""


def tight_program(rows: RightRows, cuts: Sequence[Cut] = (), *, slack: int = 0) -> PruningProgram:
    """Return the program of the rows that matter within all limits, with the cuts as constraints.

    A cut R without kept classifiers is the constraint ``Σ t <= |R| − 1``. Cuts hold for all integer
    solutions, but not for all solutions of the linear relaxation. For CP-SAT each cut is a clause.

    `rows`: rows of the problem; only classifiers that exceed the budget alone are fixed. `cuts`: sets of rows
    that cannot all be right. `slack`: difference up to which two weighted sums count as equal.
    """
    limits, n = rows.limits, rows.n_classifiers
    if rows.has_threshold:
        # as votes of which every right decision counts its gain
        votes = Votes(rows.votes, rows.is_positive.astype(np.uint8), rows.gains)
        built = pruning_program(votes, UNIT, limits)
        assert len(built.decided_rows) == rows.n_rows, "normalised rows have votes and a gain"
        program = built.program
        if cuts:
            program = program.with_rows(*_cut_rows(rows, cuts, n + 1, program.n_columns))
        return dataclasses.replace(
            built, program=program, right=rows.right, base=rows.offset, step=rows.step, absolute_gap=1 - 1e-6
        )
    pairs = member_pairs(limits, n)
    n_columns = n + rows.n_rows + len(pairs)
    blocks = [_right_rows(rows, n_columns), limit_rows(limits, n, n_columns, has_threshold=False)]
    if cuts:
        blocks.append(_cut_rows(rows, cuts, n, n_columns))
    return PruningProgram(
        _as_program(blocks, rows.gains, limits, pairs, has_threshold=False),
        n,
        np.arange(rows.n_rows),
        rows.right,
        has_threshold=False,
        pairs=pairs,
        base=rows.offset,
        step=rows.step,
        absolute_gap=max(slack / rows.step, 1 - 1e-6),
    )
