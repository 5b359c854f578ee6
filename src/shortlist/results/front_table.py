"""A front as a table, for spreadsheets and for eyes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shortlist.results.front import Front
    from shortlist.tables.spreadsheets import Cell

POINT = "point"
"""The heading of the numbers of points."""

COMMITTEES = "committees"
"""The method whose decisions are members of a committee."""

PROGRAM = "program"
"""The fact of a front that its candidates are the columns of a program."""

STAGED_METHODS = ("emsco", "enumerate", "windows")
"""Methods whose decisions are the stage of each feature, from 0; -1 is a feature that is never bought."""

HELD_OUT = ("coverage", "accuracy", "cost", "n_rows")
"""What a table tells of each point of stages on rows that were held out."""


def front_header(front: "Front") -> list[str]:
    """Return the headings of a front's table: the number of the point, each objective, and each candidate.

    Numbers are those of the front as saved, from 0, so that a point has the same one everywhere. A heading
    reads ``objective: min cost``; for products ``feature: GPS``, with 1 for selected and 0 for deselected;
    for stages ``stage of: age``, with the stage from 1 on and nothing for a feature that is never bought.
    Where something is promised about points, ``promised`` is 1 for those that keep it and 0 for the others,
    and what points do on rows that were held out is in columns such as ``held out: coverage``.
    As every heading begins with a word of ours and every other cell is a number, no name can become a formula
    in a spreadsheet.

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
    >>> front_header(front), list(front_rows(front))
    (['point', 'objective: min cost', 'feature: GPS', 'feature: =1+1'], [[0, 2.5, 1, 0]])
    """
    what = "column" if PROGRAM in front.extras else "feature"
    what = "stage of" if front.method in STAGED_METHODS else what
    header = [POINT, *(f"objective: {objective.sense} {objective.name}" for objective in front.objectives)]
    header += ["promised"] if "promised" in front.extras else []
    header += [f"held out: {name}" for name in HELD_OUT] if "held_out" in front.extras else []
    return header + [f"{what}: {name}" for name in front.candidates]


def chosen_at(front: "Front", decision: "NDArray[np.integer[Any]]") -> list[str]:
    """Return what a point chooses: names, with the number where it is not 1.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.results.front import Front
    >>> from shortlist.results.objective import Objective
    >>> from shortlist.results.proof import Proof, ProofKind
    >>> front = Front.from_points(
    ...     [Objective("cost")], np.array([[7]]), np.array([[1, 0, 3]]), ["x", "y", "z"],
    ...     Proof(ProofKind.COMPLETE)
    ... )
    >>> chosen_at(front, front.decisions[0])
    ['x', 'z = 3']
    """
    return [
        name if value == 1 else f"{name} = {value}"
        for name, value in zip(front.candidates, decision.tolist(), strict=True)
        if value
    ]


def front_rows(front: "Front") -> "Iterator[list[Cell]]":
    """Yield a row per point; values are written so that reading them back gives the same numbers."""
    staged = front.method in STAGED_METHODS
    whole = [objective.scale == 1 for objective in front.objectives]
    for point, (values, decision) in enumerate(
        zip(front.values.tolist(), front.decisions.tolist(), strict=True)
    ):
        numbers = [int(value) if is_whole else value for value, is_whole in zip(values, whole, strict=True)]
        if "promised" in front.extras:
            numbers.append(int(front.extras["promised"][point]))
        if "held_out" in front.extras:
            numbers += [front.extras["held_out"][point][name] for name in HELD_OUT]
        choices = [(None if stage < 0 else stage + 1) for stage in decision] if staged else decision
        yield [point, *numbers, *choices]
