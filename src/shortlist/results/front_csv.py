"""A front as CSV, for spreadsheets and for eyes."""

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shortlist.results.front import Front

COMMITTEES = "committees"
"""The method whose decisions are members of a committee."""

STAGED_METHODS = ("emsco", "enumerate")
"""Methods whose decisions are the stage of each feature, from 0; -1 is a feature that is never bought."""


def csv_text(front: "Front") -> str:
    """Return a front as CSV, with a row per point and a column per objective and per candidate.

    The header reads ``objective: min cost`` and, for products, ``feature: GPS`` with 1 for selected and 0 for
    deselected; for stages ``stage of: age`` with the stage from 1 on, and nothing for a feature that is never
    bought. Values are written so that reading them back gives the same numbers. As every heading begins with
    a word of ours and every other cell is a number, no name can become a formula in a spreadsheet.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.results.front import Front
    >>> from shortlist.results.objective import Objective
    >>> from shortlist.results.proof import Proof, ProofKind
    >>> front = Front.from_points(
    ...     [Objective("cost", scale=10)], np.array([[25]]), np.array([[1, 0]]), ["GPS", "=1+1"],
    ...     Proof(ProofKind.COMPLETE)
    ... )
    >>> print(csv_text(front), end="")
    objective: min cost,feature: GPS,feature: =1+1
    2.5,1,0
    """
    staged = front.method in STAGED_METHODS
    what = "stage of" if staged else "feature"
    header = [f"objective: {objective.sense} {objective.name}" for objective in front.objectives]
    header += [f"{what}: {name}" for name in front.candidates]
    whole = [objective.scale == 1 for objective in front.objectives]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for values, decision in zip(front.values.tolist(), front.decisions.tolist(), strict=True):
        numbers = [int(value) if is_whole else value for value, is_whole in zip(values, whole, strict=True)]
        choices = [("" if stage < 0 else stage + 1) for stage in decision] if staged else decision
        writer.writerow([*numbers, *choices])
    return text.getvalue()
