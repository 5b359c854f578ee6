"""Kernels that ask classifiers of pools."""

from shortlist._jit import kernel
from shortlist.arrays import Floats, FloatTable, LongTable


@kernel("void(float64[:, ::1], float64[:, ::1], int64, float64[::1], int64[:, ::1], float64[:, ::1])")
def find_nearest(
    asked: FloatTable, columns: FloatTable, p: int, away: Floats, places: LongTable, nearest: FloatTable
) -> None:
    """Find the nearest rows of each row that is asked about, in order, the first of equals first.

    `columns` are the rows that are compared with, transposed; `away` is room for their sums of absolute
    differences (`p` 1) or of squares (`p` 2), added up column by column. As many as `places` has columns are
    found, and there are at least as many rows; `nearest` gets their sums.
    """
    n_nearest = places.shape[1]
    for q in range(len(asked)):
        away[:] = 0.0
        for j in range(len(columns)):
            own = asked[q, j]
            column = columns[j]
            if p == 1:
                for i in range(len(away)):
                    away[i] += abs(own - column[i])
            else:
                for i in range(len(away)):
                    apart = own - column[i]
                    away[i] += apart * apart
        found = 0
        for i in range(len(away)):
            if found == n_nearest and away[i] >= nearest[q, n_nearest - 1]:
                continue
            place = min(found, n_nearest - 1)
            while place > 0 and nearest[q, place - 1] > away[i]:
                nearest[q, place] = nearest[q, place - 1]
                places[q, place] = places[q, place - 1]
                place -= 1
            nearest[q, place] = away[i]
            places[q, place] = i
            found = min(found + 1, n_nearest)
