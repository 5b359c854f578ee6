"""The walk itself: what it is final to, what bounds save, and what it is given."""

from pathlib import Path

import numpy as np
import pytest

from shortlist.ensembles.fronts import front_walk
from shortlist.ensembles.fronts.committee_problem import CommitteeProblem, committee_problem
from shortlist.ensembles.fronts.front_walk import walk_front
from shortlist.ensembles.votes.hard_votes import merge_rows
from shortlist.errors import SolverError
from shortlist.runs import open_study
from shortlist.runs.budget import Budget
from shortlist.runs.study import Checkpoint
from tests.ensembles import strategies

OBJECTIVES = ("max true-positives", "max true-negatives", "min cost", "min size")


def problem(objectives: tuple[str, ...] = OBJECTIVES, n_classifiers: int = 11) -> CommitteeProblem:
    votes = strategies.hard_votes(n_rows=70, n_classifiers=n_classifiers)
    costs = np.random.default_rng(1).integers(1, 9, n_classifiers) / 4
    return committee_problem(votes, objectives, costs={"cost": costs})


def points(found: front_walk.WalkedFront) -> set[tuple[int, ...]]:
    return {tuple(committee.point.tolist()) for committee in found.found}


@pytest.mark.parametrize("by", [None, 0, 1])
def test_what_a_walk_goes_by_changes_nothing_in_what_it_finds(by: int | None) -> None:
    walked = walk_front(problem(), Budget(), by=by)

    assert walked.complete
    assert points(walked) == points(walk_front(problem(), Budget()))


@pytest.mark.parametrize("by", [0, 1])
def test_a_walk_that_is_cut_is_final_up_to_what_it_says(by: int) -> None:
    whole, price = points(walk_front(problem(), Budget())), 2 + by

    cut = walk_front(problem(), Budget(), by=by, max_nodes=300)

    assert 0 <= cut.final_to < max(point[price] for point in whole)
    assert {one for one in points(cut) if one[price] <= cut.final_to} == {
        one for one in whole if one[price] <= cut.final_to
    }


@pytest.mark.parametrize("by", [None, 0, 1])
def test_a_walk_goes_on_where_it_was_kept_and_looks_at_nothing_twice(by: int | None, tmp_path: Path) -> None:
    whole = walk_front(problem(), Budget(), by=by)
    with open_study(tmp_path / "s.db") as study:
        checkpoint = Checkpoint("walk", study)
        for stop in (200, 201, whole.nodes - 1):
            cut = walk_front(problem(), Budget(), by=by, max_nodes=stop, checkpoint=checkpoint)
            assert (cut.nodes, cut.complete) == (stop, False)

        resumed = walk_front(problem(), Budget(), by=by, checkpoint=checkpoint)

        assert resumed.nodes == whole.nodes
        assert points(resumed) == points(whole)
        assert (resumed.complete, resumed.final_to) == (True, whole.final_to)
        again = walk_front(problem(), Budget(), by=by, checkpoint=checkpoint)
        assert (again.nodes, points(again)) == (whole.nodes, points(whole))


@pytest.mark.parametrize(
    "objectives",
    [
        ("max accuracy", "min cost", "min size"),
        ("max balanced-accuracy", "min cost"),
        ("max accuracy", "max recall", "max specificity", "min size"),
        ("max true-positives", "max true-negatives"),
        ("min cost", "min size"),
    ],
)
def test_the_walk_finds_what_every_committee_and_threshold_says(objectives: tuple[str, ...]) -> None:
    asked = problem(objectives, 9)
    every = []
    for number in range(1, 2**9):
        mask = np.array([number >> k & 1 for k in range(9)], dtype=bool)
        every += [asked.point(mask, threshold).tolist() for threshold in range(int(mask.sum()) + 1)]
    vectors = np.unique(np.array(every), axis=0)
    no_better = np.all(vectors[:, None] >= vectors[None], axis=2).sum(axis=1) > 1  # than another one

    walked = walk_front(asked, Budget())

    assert points(walked) == {tuple(vector) for vector in vectors[~no_better].tolist()}
    for one in walked.found:
        assert one.point.tolist() == asked.point(one.mask, one.threshold).tolist()


def test_of_thresholds_that_are_as_good_the_one_nearest_to_the_middle_is_kept() -> None:
    asked = problem(("max accuracy", "min size"))

    walked = walk_front(asked, Budget())

    for one in walked.found:
        size = int(one.mask.sum())
        points = [asked.point(one.mask, threshold).tolist() for threshold in range(size + 1)]
        as_good = [threshold for threshold, point in enumerate(points) if point == one.point.tolist()]
        assert one.threshold == min(as_good, key=lambda threshold: abs(2 * threshold - size))


def test_a_proved_sum_of_two_values_saves_nodes_and_loses_no_point() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 60)
    votes = merge_rows(labels[:, None] ^ (rng.random((60, 13)) < 0.3), labels)
    asked = committee_problem(votes, ["max true-positives", "max true-negatives", "min size"])
    free = walk_front(asked, Budget())
    best = max(-point[0] - point[1] for point in points(free))
    caps = asked.highest()
    caps[2] = best

    bounded = walk_front(asked, Budget(), caps=caps)

    assert points(bounded) == points(free)
    assert bounded.nodes < free.nodes


def test_what_is_known_at_the_start_is_kept_and_saves_nodes() -> None:
    free = walk_front(problem(), Budget())

    again = walk_front(problem(), Budget(), starts=free.found)

    assert points(again) == points(free)
    assert again.nodes <= free.nodes


def test_an_archive_that_is_full_gets_more_room() -> None:
    little = walk_front(problem(), Budget(), room=4)

    assert points(little) == points(walk_front(problem(), Budget()))
    assert len(little.found) > 32


def test_a_cap_that_a_committee_exceeds_is_an_error() -> None:
    asked = problem(("max accuracy", "min size"))

    with pytest.raises(SolverError, match="worth more than was proved possible"):
        walk_front(asked, Budget(), caps=asked.highest() // 2)
