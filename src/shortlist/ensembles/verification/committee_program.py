"""A program over the committees of a pool, with the objectives of a front, for solvers."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.committees.chosen import Chosen
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import ClassWeights
from shortlist.ensembles.proofs.pruning_program import UNIT, plurality_program, pruning_program
from shortlist.ensembles.proofs.row_forms import RightRows, class_rows
from shortlist.ensembles.votes.binary_votes import merge_rows
from shortlist.ensembles.votes.class_votes import class_votes, merge_class_rows
from shortlist.milp.program import LinearObjective, Program
from shortlist.results.objective import Objective


def committee_program(
    chosen: Chosen,
    objectives: Sequence[Objective],
    gains: Mapping[str, Sequence[int]],
    prices: Mapping[str, Sequence[int]],
    limits: SelectionLimits,
) -> Program:
    """Return the program of exact pruning with one objective for each of a front, in whole units, minimised.

    Its columns are who is a member, the threshold of two classes, and which distinct rows are right.

    Parameters
    ----------
    chosen : With the answers of all candidates on record.
    objectives : Those of the front.
    gains, prices : By objective, what a right row of each class, or each member, adds, times its scale.
    limits : Sizes.
    """
    program, columns, worth, always = _with_votes(chosen, limits)
    linears = []
    for one in objectives:
        costs, offset = np.zeros(program.n_columns), 0.0
        if one.name in prices:
            costs[: len(chosen.names)] = prices[one.name]
        else:
            own = -np.array(gains[one.name])
            costs[columns], offset = worth @ own, float(always @ own)
        linears.append(LinearObjective(Objective(one.name), costs, offset))
    return dataclasses.replace(program, objectives=tuple(linears))


Parts: TypeAlias = tuple[Program, slice, NDArray[np.int64], NDArray[np.int64]]
"""A program, its columns of right rows, how many rows of each class these stand for, ``(n_columns,
n_classes)``, and how many of each class every committee is right on.
"""


def _with_votes(chosen: Chosen, limits: SelectionLimits) -> Parts:
    record, n = chosen.record, len(chosen.names)
    if record.packed_votes is not None:
        votes = merge_rows(np.unpackbits(record.packed_votes, axis=1, count=n), record.labels)
        made = pruning_program(votes, UNIT, limits)
        worth = np.eye(2, dtype=np.int64)[votes.labels] * votes.counts[:, None]
        silent = ~votes.votes.any(axis=1)  # never positive, whatever the threshold
        always = worth[silent & (votes.labels == 0)].sum(axis=0)
        return made.program, slice(n + 1, n + 1 + len(made.decided_rows)), worth[made.decided_rows], always
    assert record.codes is not None, "answers are on record"
    n_classes = len(chosen.classes_)
    answered = merge_class_rows(class_votes(record.codes, record.labels, n_classes=n_classes))

    def rows_of(gains: NDArray[np.int64]) -> RightRows:
        return class_rows(answered, ClassWeights(UNIT.objective, gains, 1), limits)

    unit = np.eye(n_classes, dtype=np.int64)
    rows = rows_of(np.ones(n_classes, dtype=np.int64))
    places = rows.places
    worth = unit[answered.labels[places]] * answered.counts[places, None]
    always = np.array([rows_of(own).offset for own in unit])
    return plurality_program(rows).program, slice(n, n + rows.n_rows), worth, always
