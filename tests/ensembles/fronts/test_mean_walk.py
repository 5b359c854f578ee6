"""The walk over means itself: what it is final to, and how it goes on."""

from pathlib import Path

import numpy as np
import pytest

from shortlist.ensembles.fronts.front_walk import WalkedFront
from shortlist.ensembles.fronts.mean_front_problem import MeanFrontProblem, mean_front_problem
from shortlist.ensembles.fronts.mean_walk import walk_means
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.runs import open_study
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from shortlist.runs.studies.checkpoints import Checkpoint
from tests.ensembles import mean_oracles


def problem(min_size: int = 1, max_size: int | None = None) -> MeanFrontProblem:
    costs = np.random.default_rng(1).integers(1, 9, 9).tolist()
    return mean_front_problem(
        mean_oracles.random_pool(25, 9, 2),
        ["min brier", "max accuracy", "min cost"],
        costs={"cost": costs},
        limits=selection_limits(9, min_size=min_size, max_size=max_size),
    )


def found(walked: WalkedFront) -> list[tuple[list[int], list[bool]]]:
    return sorted((one.point.tolist(), one.mask.tolist()) for one in walked.found)


def test_a_walk_goes_on_where_it_was_kept_and_looks_at_nothing_twice(tmp_path: Path) -> None:
    whole = walk_means(problem(), Budget())
    with open_study(tmp_path / "s.db") as study:
        checkpoint = Checkpoint("walk", study)
        for stop in range(0, whole.nodes, 41):
            cut = walk_means(problem(), Budget(), max_nodes=stop, checkpoint=checkpoint)
            assert stop - 9 < cut.nodes <= stop
            assert not cut.complete
            undisturbed = walk_means(problem(), Budget(), max_nodes=stop)
            assert (cut.nodes, found(cut)) == (undisturbed.nodes, found(undisturbed))

        resumed = walk_means(problem(), Budget(), checkpoint=checkpoint)
        again = walk_means(problem(), Budget(), checkpoint=checkpoint)

    assert found(again) == found(resumed) == found(whole)
    assert again.nodes == resumed.nodes == whole.nodes
    assert again.complete
    assert resumed.final_to == whole.final_to == 9


def test_a_walk_that_is_stopped_before_it_goes_on_keeps_where_it_was(tmp_path: Path) -> None:
    whole, cancelled = walk_means(problem(), Budget()), Cancellation()
    cancelled.cancel()
    with open_study(tmp_path / "s.db") as study:
        checkpoint = Checkpoint("walk", study)
        cut = walk_means(problem(), Budget(), max_nodes=whole.nodes // 2, checkpoint=checkpoint)

        stopped = walk_means(problem(), Budget(cancellation=cancelled), checkpoint=checkpoint)

        assert (stopped.nodes, found(stopped)) == (cut.nodes, found(cut))
        assert walk_means(problem(), Budget(), checkpoint=checkpoint).nodes == whole.nodes


@pytest.mark.parametrize("size", [1, 4, 9])
def test_a_walk_of_one_size_is_final_to_it(size: int) -> None:
    walked = walk_means(problem(size, size), Budget())

    assert (walked.complete, walked.final_to) == (True, size)
    assert {int(one.mask.sum()) for one in walked.found} == {size}
