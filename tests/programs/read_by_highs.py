"""What HiGHS reads of a file, to compare."""

from pathlib import Path

import highspy
import numpy as np

from shortlist.programs.named_program import NamedProgram


def agrees_with_highs(named: NamedProgram, path: Path) -> None:
    """Compare a program of one objective with HiGHS's reading, column by column and row by row."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) != highspy.HighsStatus.kError
    theirs, program = solver.getLp(), named.program
    order = [list(theirs.col_names_).index(name) for name in named.columns]
    rows = [list(theirs.row_names_).index(name) for name in named.rows]
    matrix = np.zeros((theirs.num_row_, theirs.num_col_))
    starts, index, value = theirs.a_matrix_.start_, theirs.a_matrix_.index_, theirs.a_matrix_.value_
    by_column = theirs.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    for major in range(len(starts) - 1):
        for place in range(starts[major], starts[major + 1]):
            cell = (index[place], major) if by_column else (major, index[place])
            matrix[cell] = value[place]
    np.testing.assert_array_equal(program.rows.toarray(), matrix[np.ix_(rows, order)])
    for ours, other in (
        (program.column_lower, np.array(theirs.col_lower_)[order]),
        (program.column_upper, np.array(theirs.col_upper_)[order]),
        (program.row_lower, np.array(theirs.row_lower_)[rows]),
        (program.row_upper, np.array(theirs.row_upper_)[rows]),
        (program.objectives[0].costs, np.array(theirs.col_cost_)[order]),
    ):
        np.testing.assert_array_equal(ours, other)
    assert program.objectives[0].offset == theirs.offset_
    integrality = list(theirs.integrality_) or [highspy.HighsVarType.kContinuous] * theirs.num_col_
    assert program.integer.tolist() == [integrality[i] == highspy.HighsVarType.kInteger for i in order]
