"""The integer program of pruning on normalised rows, with every known cut as a row of its own."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.proofs.cuts.cuts import Cut
from shortlist.ensembles.proofs.programs.pruning_program import PruningProgram, pruning_program
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.ensembles.votes.binary_votes import Votes
from shortlist.milp import Program
from shortlist.results.objective import Objective, Sense

UNIT = Weights(Objective("gain", Sense.MAX, scale=None), tp=1, fn=0, tn=1, fp=0, denominator=1)
"""Gains are counts already."""


def as_votes(rows: RightRows) -> Votes:
    """Return normalised rows as votes of which every right decision counts its gain."""
    return Votes(rows.votes, rows.is_positive.astype(np.uint8), rows.gains)


def tight_program(rows: RightRows, cuts: Sequence[Cut]) -> PruningProgram:
    """Return the program whose cost plus `offset` is minus the gain, with ``Σ t <= |R| − 1`` for each cut R.

    Cuts follow from the program's integers but not from its linear relaxation. Each is a clause to CP-SAT,
    and a row that HiGHS may branch less for.

    Parameters
    ----------
    rows : RightRows
        At the root: nothing fixed but members that are too dear.
    cuts : sequence of Cut
        Rows that no selection is right on together.
    """
    built = pruning_program(as_votes(rows), UNIT, rows.limits)
    assert len(built.decided_rows) == rows.n_rows, "normalised rows have votes and a gain"
    if not cuts:
        return built
    first = built.n_classifiers + 1  # the column of the first row
    sizes = np.array([len(cut.rows) for cut in cuts])
    columns = np.concatenate([np.asarray(cut.rows, dtype=np.int64) for cut in cuts]) + first
    matrix = sparse.csr_array(
        (np.ones(len(columns)), columns, np.concatenate([[0], np.cumsum(sizes)])),
        shape=(len(cuts), built.program.n_columns),
    )
    program: Program = built.program.with_rows(matrix, -np.inf, sizes - 1.0)
    return PruningProgram(program, built.offset, built.n_classifiers, built.decided_rows, built.pairs)
