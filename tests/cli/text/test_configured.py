"""What `shortlist configure` says of its work."""

import numpy as np

from shortlist.cli.text.configured import work_lines
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind


def test_reference_points_that_time_left_without_an_answer_are_counted() -> None:
    front = Front.from_points(
        [Objective("cost")], np.array([[3]]), np.array([[1]]), ["phone"],
        Proof(ProofKind.NONDOMINATED, n_unresolved=4, limit="1 s"),
        extras={"n_reference_points": 6, "n_infeasible": 1, "n_without_program": 0, "n_unproved": 0},
    )  # fmt: skip

    assert work_lines(front) == [
        "6 reference points: 4 without an answer, 1 without any product, 0 answered by another one; 0 points not proved."
    ]
