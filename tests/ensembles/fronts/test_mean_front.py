"""Fronts of means of probabilities against every subset, and what is claimed where a limit ends the walk."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.fronts import committee_front as fronts
from shortlist.ensembles.fronts.committee_front import committee_front
from shortlist.ensembles.fronts.committee_problem import MeanFrontProblem, mean_front_problem
from shortlist.ensembles.fronts.front_walk import WalkedFront
from shortlist.ensembles.fronts.mean_walk import walk_means
from shortlist.ensembles.fronts.objectives import MOST_ROWS_OF_LOSSES
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.pruning import _tangent_kernels as averaging
from shortlist.ensembles.pruning.mean_problem import mean_goal
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError
from shortlist.results.front import Front
from shortlist.runs import open_study
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from shortlist.runs.study import Checkpoint, KeepSettings
from shortlist.runs.study_file import summary
from tests.ensembles import mean_oracles, oracles
from tests.examples import examples

NAMES = ("min log-loss", "min brier", "min cost", "min size")


def worth(votes: SoftVotes, name: str, members: tuple[int, ...], costs: list[float]) -> float:
    """One objective by its definition, minimised."""
    if name == "min size":
        return len(members)
    if name == "min cost":
        return sum(costs[k] for k in members)
    return mean_oracles.worth(votes, mean_goal(name[4:], votes), list(members))


def minimised(front: Front) -> np.ndarray:
    return front.values * [-1 if objective.sense == "max" else 1 for objective in front.objectives]


def check(
    votes: SoftVotes, names: list[str], costs: list[float], front: Front, sizes: tuple[int, int]
) -> None:
    """Every committee has a point that is no worse, and every point is that of its committee."""
    every = [members for members in oracles.subsets(len(costs)) if sizes[0] <= len(members) <= sizes[1]]
    points = minimised(front)
    for members in every:
        vector = np.array([worth(votes, name, members, costs) for name in names])
        assert (points <= vector + 2e-9).all(axis=1).any()
    for point, mask in zip(points, front.decisions, strict=True):
        members = tuple(np.flatnonzero(mask).tolist())
        assert point == pytest.approx([worth(votes, name, members, costs) for name in names], abs=2e-9)
    beaten = (points[:, None] >= points[None]).all(axis=2) & (points[:, None] > points[None]).any(axis=2)
    assert not beaten.any()


@given(
    votes=mean_oracles.soft_pools(),
    names=st.lists(st.sampled_from(NAMES), min_size=2, max_size=3, unique=True),
    data=st.data(),
)
@examples(25)
def test_the_front_is_that_of_all_subsets(votes: SoftVotes, names: list[str], data: st.DataObject) -> None:
    k = votes.n_classifiers
    costs = data.draw(st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.0]), min_size=k, max_size=k))
    least = data.draw(st.integers(1, k))
    most = data.draw(st.integers(least, k))
    limits = selection_limits(k, min_size=least, max_size=most)

    front = committee_front(mean_front_problem(votes, names, costs={"cost": costs}, limits=limits))

    assert str(front.proof.kind) == "complete"
    assert [objective.name for objective in front.objectives] == [name[4:] for name in names]
    check(votes, names, costs, front, (least, most))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_tangents_save_most_committees_and_no_point(n_classes: int) -> None:
    votes, names = mean_oracles.random_pool(30, 10, n_classes), ["min log-loss", "min cost", "min size"]
    costs = np.random.default_rng(0).integers(1, 9, 10).tolist()

    front = committee_front(mean_front_problem(votes, names, costs={"cost": costs}))

    check(votes, names, costs, front, (1, 10))
    assert front.extras["n_nodes"] < 2**10
    assert str(front.proof.kind) == "complete"


@pytest.mark.parametrize("name", ["min log-loss", "min brier"])
@pytest.mark.parametrize("least", [1, 3])
def test_one_loss_and_the_size_are_proved_size_by_size(name: str, least: int) -> None:
    votes, names = mean_oracles.random_pool(30, 10, 2), [name, "min size"]
    problem = mean_front_problem(votes, names, limits=selection_limits(10, min_size=least, max_size=8))

    front, cut = committee_front(problem), committee_front(problem, Budget(nodes=1), max_nodes=2)

    assert (str(front.proof.kind), front.extras["final_to"]) == ("complete", {"size": 8.0})
    check(votes, names, [1.0] * 10, front, (least, 8))
    proved = minimised(cut)[np.array(cut.extras["proved"], dtype=bool)].tolist()
    assert str(cut.proof.kind) != "complete"
    assert all(point in minimised(front).tolist() for point in proved)


def test_a_limit_leaves_final_sizes_and_a_bound_on_what_is_missing() -> None:
    votes, names = mean_oracles.random_pool(30, 10, 2), ["min brier", "min log-loss", "min size"]
    whole = committee_front(mean_front_problem(votes, names))

    cut = committee_front(mean_front_problem(votes, names), Budget(nodes=1), max_nodes=60)

    final = cut.extras["final_to"]["size"]
    assert 1 <= final < 10
    assert str(cut.proof.kind) != "complete"
    small = [point for point in minimised(whole).tolist() if point[-1] <= final]
    proved = minimised(cut)[np.array(cut.extras["proved"])].tolist()
    assert np.array(sorted(proved)) == pytest.approx(np.array(sorted(small)))
    assert cut.proof.missing is not None
    for point in minimised(whole):
        ahead = minimised(cut) - point
        assert (ahead <= np.array(cut.proof.missing) + 1e-9).all(axis=1).any()
    (bound, *_) = cut.extras["bounds"]
    assert bound["at_least"] <= min(point[0] for point in minimised(whole)) + 1e-9


def test_committees_may_have_more_members_than_calls_may_be_nested() -> None:
    votes = mean_oracles.random_pool(4, 1_010, 2)
    names, classes = np.array([f"m{k}" for k in range(1_010)]), np.array(["no", "yes"])
    limits = selection_limits(1_010, min_size=1_000)
    problem = mean_front_problem(votes, ["min log-loss", "min size"], classes=classes, limits=limits)

    front = committee_front(problem, Budget(nodes=1), names=names.tolist(), max_nodes=20_000)

    assert front.candidates == tuple(names)
    assert front.decisions.sum(axis=1).min() == 1_000


def test_time_that_ends_while_tangents_are_looked_for_ends_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    now, looks = [0.0], list[float]()
    problem = mean_front_problem(
        mean_oracles.random_pool(30, 6, 2), ["min log-loss", "min brier", "min size"]
    )
    look = averaging.better_tangents

    def slow(*given: Any) -> float:
        looks.append(now[0])
        now[0] = 100.0
        return look(*given)

    monkeypatch.setattr("shortlist.ensembles.fronts.mean_walk.better_tangents", slow)
    front = committee_front(problem, Budget(10.0, clock=lambda: now[0]))

    assert looks == [0.0]
    assert front.extras["n_nodes"] == 0
    assert front.proof.limit == "10 s"


@pytest.mark.parametrize("stop", [1, 8])
def test_a_front_that_is_killed_goes_on_from_its_study_and_proves_no_bound_twice(
    stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = mean_front_problem(
        mean_oracles.random_pool(30, 9, 2), ["min log-loss", "min brier", "min size"]
    )
    whole = committee_front(problem, Budget(nodes=5))
    n_told = 0

    def kill(news: Any) -> None:
        nonlocal n_told
        n_told += news.stage == "full search"
        if n_told == stop:
            raise KeyboardInterrupt

    with open_study(tmp_path / "s.db", keeping=KeepSettings(0.0, 1.0)) as study:
        with pytest.raises(KeyboardInterrupt):
            committee_front(problem, Budget(nodes=5, study=study, report=kill))
        assert study.kept(fronts.MEAN_WALK) is not None
        monkeypatch.setattr(fronts, "prune_means", None)

        resumed = committee_front(problem, Budget(nodes=5, study=study))

        assert study.kept("bounds") is study.kept(fronts.MEAN_WALK) is None
    assert resumed.points.tolist() == whole.points.tolist()
    assert resumed.decisions.tolist() == whole.decisions.tolist()
    assert resumed.extras == whole.extras
    stages = {stage["stage"]: stage for stage in summary(tmp_path / "s.db")["stages"]}
    walk = stages["searching committees"]
    assert (walk["total"], walk["done"]) == (1, 1)


def problem(min_size: int = 1, max_size: int | None = None) -> MeanFrontProblem:
    costs = np.random.default_rng(1).integers(1, 9, 9).tolist()
    return mean_front_problem(
        mean_oracles.random_pool(25, 9, 2),
        ["min brier", "min log-loss", "min cost"],
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


def test_objectives_that_count_votes_and_sums_that_are_too_large_are_refused() -> None:
    votes = mean_oracles.random_pool(12, 3, 2)
    with pytest.raises(BadInputError, match="log-loss goes with objectives of members only"):
        mean_front_problem(votes, ["min log-loss", "max recall"])
    with pytest.raises(BadInputError, match="limits of a front must be on the size"):
        mean_front_problem(votes, ["min log-loss", "min size"], limits=selection_limits(3, min_size=0))
    many = SoftVotes(np.repeat(votes.shares, 5_000, axis=0), np.repeat(votes.labels, 5_000))
    with pytest.raises(BadInputError, match=r"must have at most 47,662 rows that prune, .* 60,000"):
        mean_front_problem(many, ["min log-loss", "min size"])
    assert MOST_ROWS_OF_LOSSES == 47_662
