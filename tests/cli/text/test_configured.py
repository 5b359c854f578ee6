"""Text of `shortlist configure` on its work."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shortlist.cli.text.configured import next_lines, print_found, work_lines
from shortlist.report.fronts import front_parts
from shortlist.report.page import Table
from shortlist.results.front import PROGRAM, Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind


def test_reference_points_that_time_left_without_an_answer_are_counted() -> None:
    front = Front.from_points(
        [Objective("cost")], np.array([[3]]), np.array([[1]]), ["phone"],
        Proof(ProofKind.NONDOMINATED, n_unresolved=4, limit="1 s"),
        extras={"n_reference_points": 6, "n_infeasible": 1, "n_without_program": 0, "n_unproved": 0},
    )  # fmt: skip

    assert work_lines(front) == [
        "Searched from 6 reference points: 4 have no answer, 1 has no product, the others have a product; every point is proved."
    ]
    of_program = replace(front, extras={**front.extras, PROGRAM: {"columns": 1}})
    assert "1 has no solution, the others have a solution;" in work_lines(of_program)[0]


@pytest.mark.parametrize(
    ("n", "n_infeasible", "repeated", "unproved", "said"),
    [
        (5, 0, 1, 0, "5 reference points: all have a product, 1 of them a product already found; every point is proved."),
        (1, 0, 0, 2, "1 reference point: it has a product; 2 points are not proved."),
        (3, 3, 2, 0, "3 reference points: 3 have no product, 2 answered by an earlier program; every point is proved."),
        (0, 0, 0, 1, "0 reference points; 1 point is not proved."),
    ],
)  # fmt: skip
def test_what_is_known_below_the_reference_points_is_one_sentence(
    n: int, n_infeasible: int, repeated: int, unproved: int, said: str
) -> None:
    extras: dict[str, object] = {
        "n_reference_points": n, "n_infeasible": n_infeasible, "n_without_program": repeated, "n_unproved": unproved,
        "n_checked": n,
    }  # fmt: skip
    first, *checked = work_lines(cut(extras))
    assert first == f"Searched from {said}"
    ways = "in whole numbers or by a second program that found nothing better."
    begin = {0: [], 1: ["1 answer was checked,"]}.get(n, [f"{n} answers were checked, each"])
    assert checked == [f"{one} {ways}" for one in begin]


def cut(extras: dict[str, object], method: str = "exact") -> Front:
    proof = Proof(ProofKind.NONDOMINATED, limit="1 s")
    front = Front.from_points(
        [Objective("cost"), Objective("value", sense=Sense.MAX)], np.array([[3, -4]]), np.array([[1]]), ["phone"], proof,
        extras=extras,
    )  # fmt: skip
    return replace(front, method=method)


def test_a_front_that_was_cut_short_says_what_to_do_next_and_at_what_pace() -> None:
    (advice,) = next_lines(replace(cut({"n_programs": 10}), seconds=2.0))
    assert advice.endswith("--method solrep --set points=60, about 24 s at the pace of these programs.")
    (advice,) = next_lines(cut({}, "auto"))
    assert advice.startswith("The front is not complete, and nothing bounds its ends. Raise --time-limit")
    assert "--select" in advice
    assert next_lines(cut({PROGRAM: {"columns": 1}}))[0].endswith("Raise --time-limit.")
    assert next_lines(cut({"n_reference_points": 6})) == []


def test_a_front_of_one_point_says_how_to_keep_it_and_how_to_write_what_it_chooses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    front = cut({})
    for saved, said in (
        (None, "Next: --out FRONT.parquet keeps the point and its proof, --out PAGE.html shows it."),
        (Path("f.parquet"), "Next: shortlist front pick f.parquet --out FILE writes what it chooses."),
    ):
        print_found(front, [], [], saved, None)
        assert capsys.readouterr().out.splitlines()[-1] == said


def test_the_page_has_the_bounds_of_a_front_that_was_cut_short() -> None:
    table = next(
        part for part in front_parts({"front": cut({"ideal": [3.0, 7.5]})}) if isinstance(part, Table)
    )
    assert [row[-1] for row in table.rows] == ["the same", "7.5"]
    table = next(part for part in front_parts({"front": cut({})}) if isinstance(part, Table))
    assert table.columns[-1] == "worst here"
