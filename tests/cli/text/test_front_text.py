"""Texts on a front."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from shortlist.cli.text.differences import MEANINGS, print_differences
from shortlist.cli.text.front_text import (
    contract,
    empty_notes,
    headline,
    no_point,
    pick_facts,
    print_frame,
    range_lines,
)
from shortlist.results.front import COMMITTEES, PROGRAM, Front
from shortlist.results.front_differences import front_differences
from shortlist.results.objective import Objective, read_limit
from shortlist.results.proof import Proof, ProofKind
from tests.stored import Stored


def _front(kind: ProofKind, method: str = "diagram") -> Front:
    return Front(
        objectives=(Objective("cost"), Objective("defects")),
        candidates=("A", "B"),
        values=np.array([[1.0, 5.0], [3.0, 2.0]]),
        decisions=np.array([[0, 1], [1, 1]]),
        proof=Proof(kind),
        method=method,
        seconds=1.5,
    )


def test_the_headline_says_how_many_points_what_is_proved_and_by_what(stored: Stored) -> None:
    front = _front(ProofKind.COMPLETE)
    stored(headline(front), headline(front, seconds=2.0, why="few features", behind="3 ties"))


def test_only_a_complete_front_tells_the_best_there_is(stored: Stored) -> None:
    cut = dataclasses.replace(_front(ProofKind.NONDOMINATED), extras={"ideal": [1.0, 0.5]})
    half = dataclasses.replace(cut, extras={"ideal": [None, 0.5]})
    stored(*(line for front in (_front(ProofKind.COMPLETE), cut, half) for line in range_lines(front)))


def test_whole_numbers_are_told_in_full(stored: Stored) -> None:
    values = np.array([[123456789012.0, 0.1 + 0.2], [123456789013.0, 0.1]])
    stored(*range_lines(dataclasses.replace(_front(ProofKind.COMPLETE), values=values)))


def test_a_point_stands_beside_the_simplest_one_and_the_ends_of_the_front(stored: Stored) -> None:
    front = _front(ProofKind.COMPLETE)
    stored(*range_lines(front, front.point(1)), *range_lines(front, front.point(0)))


def test_every_command_that_reads_a_front_says_the_same_of_it() -> None:
    assert contract(_front(ProofKind.COMPLETE)) == {
        "method": "diagram",
        "status": "optimal",
        "seconds": 1.5,
        "n_points": 2,
        "proof": "complete",
    }


@pytest.mark.parametrize(("kind", "more"), [(ProofKind.COMPLETE, False), (ProofKind.NONDOMINATED, True)])
def test_a_front_that_is_not_complete_may_lack_the_point_within_the_limits(
    kind: ProofKind, more: bool
) -> None:
    front = _front(kind)
    assert no_point(front, (read_limit("cost<=2"),)) == ""
    reason = no_point(front, (read_limit("cost<=0"),))
    assert reason
    assert reason.endswith("points that it does not list.") == more


def test_a_point_of_stages_is_told_by_stage_and_a_product_by_what_is_in_it() -> None:
    product = _front(ProofKind.COMPLETE)
    assert pick_facts(product, product.pick("lexicographic", order=["cost"]))["selection"] == ["B"]
    stages = _front(ProofKind.COMPLETE, "enumerate")
    chosen = pick_facts(stages, stages.pick("lexicographic", order=["cost"]))["selection"]
    assert chosen == {"stage 1": ["A"], "stage 2": ["B"]}


def test_only_so_many_rows_are_printed_as_were_asked_for(
    capsys: pytest.CaptureFixture[str], stored: Stored
) -> None:
    for rows in (2, 0):
        print_frame(pd.DataFrame({"cost": range(5)}), rows)
    stored(capsys.readouterr().out)


@pytest.mark.parametrize("order", [1, -1], ids=["dearer before", "dearer now"])
def test_a_choice_that_may_have_tied_is_neither_called_new_nor_gone(
    order: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of A and B at 5 each a front lists B alone; then A costs 4."""
    goal = Objective("cost")
    before, now = [
        Front.from_values([goal], np.array([[cost]]), np.array([chosen]), "AB", Proof(ProofKind.COMPLETE))
        for cost, chosen in ((5.0, [0, 1]), (4.0, [1, 0]))
    ][::order]
    print_differences(before, now, front_differences(before, now))
    told = capsys.readouterr().out
    assert not {"new", "gone"} & set(told.replace(".", " ").split())
    assert "one that is not listed may be among them" in told


@pytest.mark.parametrize("n_each", [1, 3])
def test_a_point_is_shown_under_each_heading_on_one_screen(
    n_each: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of each fate `n_each` points: the objectives are along a line, and choices are numbered columns."""
    n, names = 4 * n_each, [f"x{number}" for number in range(9 * n_each)]
    old = np.array([[10.0 * number, 1000.0 - 10 * number] for number in range(n)])
    now = old.copy()
    now[:n_each, 0] += 1  # changed: the same choice
    now[2 * n_each : 3 * n_each] -= 1  # dominated, by another choice
    now[3 * n_each :] = [[900.0 + number, 500.0 - number] for number in range(n_each)]  # gone, and new
    choices = np.eye(9 * n_each, dtype=np.int64)
    chosen = np.vstack([choices[:n_each], choices[n : n + 3 * n_each]])  # from the second fate on others
    goals = [Objective("cost"), Objective("defects")]
    before, later = (
        Front.from_values(goals, values, decisions, names, Proof(ProofKind.COMPLETE))
        for values, decisions in ((old, choices[:n]), (now, chosen))
    )
    print_differences(before, later, front_differences(before, later))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    headings = [
        place for place, line in enumerate(lines) if line.split(":")[0] in set(map(_capital, MEANINGS))
    ]
    assert len(headings) == 5
    for place in headings:
        assert lines[place + 1].split()[:2] == ["before", "now"]
        assert any(map(str.isdigit, lines[place + 2]))
    assert lines[-1] == "One point of each is shown; all with --out or --json."  # two or more are new


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def test_the_product_without_features_is_told_of_fronts_of_products_alone() -> None:
    product = _front(ProofKind.COMPLETE)
    empty = dataclasses.replace(product, decisions=np.zeros_like(product.decisions))
    assert [note.split(",")[0] for note in empty_notes(empty)] == [
        f"Point {number} is the product without any feature" for number in range(len(empty))
    ]
    assert empty_notes(dataclasses.replace(empty, extras={PROGRAM: {}})) == []
    assert empty_notes(dataclasses.replace(empty, method=COMMITTEES)) == []
    assert empty_notes(dataclasses.replace(empty, method="emsco")) == []


@pytest.mark.parametrize(
    ("values", "decisions"),
    [
        ([[5, 3]], [[1, 1]]), ([[6, 3]], [[1, 1]]), ([[5, 3]], [[1, 0]]), ([[4, 3]], [[1, 0]]), ([[6, 2]], [[1, 0]]),
        ([[0, 9], [2, 2], [5, 1]], [[0, 0], [1, 0], [1, 1]]),
    ],
    ids=["the same", "changed", "replaced", "dominated", "gone", "moved"],
)  # fmt: skip
def test_a_difference_begins_with_what_became_of_the_point_to_take(
    values: list[list[float]], decisions: list[list[int]], capsys: pytest.CaptureFixture[str], stored: Stored
) -> None:
    before, now = (
        dataclasses.replace(
            _front(ProofKind.COMPLETE), values=np.array(own, dtype=float), decisions=np.array(chosen)
        )
        for own, chosen in (([[5, 3]], [[1, 1]]), (values, decisions))
    )
    print_differences(before, now, front_differences(before, now))
    stored(capsys.readouterr().out)
