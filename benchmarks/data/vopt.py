"""Set partitioning with two objectives, and assignment with several, as their publishers write them."""

import ast
import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.objective import Objective


def read_set_partitioning(path: Path) -> Program:
    """Read rows and columns, then for each column two costs, how many rows it covers, and these, from 1."""
    numbers = np.array(gzip.decompress(path.read_bytes()).split(), dtype=np.int64)
    n_rows, n_columns = numbers[:2].tolist()
    rows: list[int] = []
    columns: list[int] = []
    costs = np.zeros((2, n_columns))
    at = 2
    for column in range(n_columns):
        costs[:, column] = numbers[at : at + 2]
        covered = numbers[at + 3 : at + 3 + numbers[at + 2]]
        rows += (covered - 1).tolist()
        columns += [column] * len(covered)
        at += 3 + len(covered)
    matrix = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_rows, n_columns))
    return _one_of_each(matrix, costs)


def read_published_front(path: Path) -> tuple[float, NDArray[np.float64]]:
    """Return the publisher's seconds and the points, in lexicographic order."""
    words = path.read_text().split()
    points = np.array(words[2:], dtype=np.float64).reshape(-1, 2)
    return float(words[0]), points[np.lexsort(points.T[::-1])]


def read_assignment(path: Path) -> Program:
    """Read the number of objectives, the size n, and a matrix of n times n costs for each objective."""
    first, second, rest = gzip.decompress(path.read_bytes()).decode().split("\n", 2)
    n_objectives, n = int(first), int(second)
    costs = np.array(ast.literal_eval(rest.strip()), dtype=np.float64).reshape(n_objectives, n * n)
    once, each = np.ones((1, n)), np.eye(n)
    matrix = sparse.csr_array(np.vstack([np.kron(each, once), np.kron(once, each)]))
    return _one_of_each(matrix, costs)


def _one_of_each(matrix: sparse.csr_array, costs: NDArray[np.float64]) -> Program:
    """Return the program that chooses exactly one of the columns of each row."""
    return make_program(
        matrix,
        row_lower=1,
        row_upper=1,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[
            LinearObjective(Objective(f"f{number}", scale=1), row)
            for number, row in enumerate(costs, start=1)
        ],
    )
