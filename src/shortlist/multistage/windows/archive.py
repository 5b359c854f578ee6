"""The stage assignments that nothing found so far dominates, and how good they are by weights."""

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Values, products_in_order
from shortlist.multistage.search._evaluation import nondominated_rows
from shortlist.multistage.search.stage_objectives import StageProblem


class StageArchive:
    """The non-dominated assignments so far, one for each objective vector, the earliest.

    Attributes
    ----------
    assignments : ndarray of int8, shape (n_points, n_features)
    measures : ndarray of int64, shape (n_points, n_measures)
    """

    def __init__(self, problem: StageProblem) -> None:
        self.problem = problem
        self.assignments = np.empty((0, problem.n_features), dtype=np.int8)
        self.measures = np.empty((0, problem.n_measures), dtype=np.int64)

    def add(self, assignments: NDArray[np.int8], measures: NDArray[np.int64]) -> int:
        """Add measured assignments; return how many stay."""
        before = len(self.measures)
        together = np.concatenate([self.measures, measures])
        _, first = np.unique(self.problem.vectors(together), axis=0, return_index=True)
        first.sort()
        best = first[nondominated_rows(*self.problem.comparable(together[first]))]
        self.assignments = np.concatenate([self.assignments, assignments])[best]
        self.measures = together[best]
        return int((best >= before).sum())

    def restore(self, assignments: NDArray[np.int8], measures: NDArray[np.int64]) -> None:
        """Go on with what an archive of the same problem held."""
        self.assignments, self.measures = assignments, measures

    def best(self, weights: Values) -> tuple[float, int]:
        """Return the greatest weighted sum of merits, and the place of the first assignment that has it."""
        sums = worths(self.problem, self.measures, weights)
        place = int(np.argmax(sums))
        return float(sums[place]), place


def worths(problem: StageProblem, measures: NDArray[np.int64], weights: Values) -> Values:
    """Return the weighted sums of merits, ``(n_assignments,)``, each the same whatever else was measured."""
    return products_in_order(fixed_merits(problem, measures), weights)


def fixed_merits(problem: StageProblem, measures: NDArray[np.int64]) -> Values:
    """Return each objective as a number in [0, 1] to maximise, whatever else was measured.

    Coverage and accuracy as they are, a rate r as 1 - r, and a cost c as 1 - c / the most it can be. For the
    usual objectives the sum of a row is the paper's sum.
    """
    most = {
        "stages": problem.max_stages,
        "acquisition_cost": problem.costs.total / problem.costs.scale,
        "worst_case_cost": problem.costs.total / problem.costs.scale,
        "evaluation_cost": problem.max_stages * problem.most_call_price / problem.call_scale,
        "false_positive_rate": 1.0,
        **{one.name: problem.most_taken(one) / one.scale for one in problem.attributes},
    }
    columns = [
        1.0 - value / (most[name] or 1.0) if name in most else value
        for name, value in zip(problem.names, problem.values(measures).T, strict=True)
    ]
    return np.column_stack(columns)
