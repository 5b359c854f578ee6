"""Fronts of means of probabilities against every subset, and what is claimed where a limit ends the walk."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.fronts import committee_front as fronts
from shortlist.ensembles.fronts.committee_front import FEW_MEANS, committee_front
from shortlist.ensembles.fronts.committee_problem import mean_front_problem
from shortlist.ensembles.fronts.front_claims import mean_selection
from shortlist.ensembles.fronts.objectives import MOST_ROWS_OF_LOSSES
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.pruning.mean_problem import mean_goal
from shortlist.ensembles.pruning.mean_pruning import prune_means
from shortlist.ensembles.pruning.pruning import COMMITTEE_WALK, WITHIN_LIMITS
from shortlist.ensembles.votes.soft_votes import WHOLE, SoftVotes, soft_votes
from shortlist.errors import BadInputError
from shortlist.results.front import Front
from shortlist.results.proof import ProofKind
from shortlist.runs import open_study
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from shortlist.runs.study import KeepSettings
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


@pytest.mark.parametrize("price", ["min size", "min cost", None])
def test_two_losses_beyond_few_committees_claim_no_more_than_every_subset_says(price: str | None) -> None:
    n = FEW_MEANS.bit_length()
    votes = mean_oracles.random_pool(12, n, 2)
    costs = np.random.default_rng(0).integers(1, 9, n)
    names = ["min log-loss", "min brier", *([price] if price else [])]

    front = committee_front(mean_front_problem(votes, names, costs={"cost": costs}))

    masks = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1
    right = votes.shares[np.arange(12), :, votes.labels].T / WHOLE
    means = masks @ right / masks.sum(axis=1, keepdims=True)
    prices = {"min size": masks.sum(axis=1), "min cost": masks @ costs}
    every = np.column_stack([-np.log(means).mean(axis=1), ((1 - means) ** 2).mean(axis=1)])
    every = np.column_stack([every, *([prices[price]] if price else [])])
    assert front.proof.missing is not None
    covered = minimised(front) - np.array(front.proof.missing) - 2e-9
    assert all((covered <= vector).all(axis=1).any() for vector in every)
    assert str(front.proof.kind) == "approximate"
    assert max(front.proof.missing[:2]) < 0.02


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("names", [["min log-loss", "min cost", "min size"], ["min brier", "min cost"]])
def test_limits_on_cost_and_size_prove_every_point(n_classes: int, names: list[str]) -> None:
    votes = mean_oracles.random_pool(30, 10, n_classes)
    costs = np.random.default_rng(0).integers(1, 9, 10).tolist()

    front = committee_front(mean_front_problem(votes, names, costs={"cost": costs}))

    check(votes, names, costs, front, (1, 10))
    assert str(front.proof.kind) == "complete"
    assert all(front.extras["proved"])


def test_a_size_whose_best_has_fewer_members_is_not_the_last_that_matters() -> None:
    """The best pair is worse than the best alone; three are better than either, and five are best."""
    rows, sure = np.arange(60)[:, None], 0.999
    alone = np.full((60, 1), 0.7)
    thirds = np.where(rows % 3 == np.arange(3), 1 - sure, sure)
    fifths = np.where(rows % 5 == np.arange(5), 1e-4, 0.9)
    right = np.hstack([alone, thirds, fifths])
    votes = soft_votes(np.stack([right, 1 - right], axis=2), [0] * 60)
    names = ["min log-loss", "min size"]

    front = committee_front(mean_front_problem(votes, names))

    check(votes, names, [1.0] * 9, front, (1, 9))
    assert front.values[:, 1].tolist() == [5.0, 4.0, 3.0, 1.0]


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


@pytest.mark.parametrize("price", ["min size", "min cost"])
@pytest.mark.parametrize("max_nodes", [1, 2, 4])
def test_a_limit_leaves_proved_points_and_a_bound_on_what_is_missing(price: str, max_nodes: int) -> None:
    votes, names = mean_oracles.random_pool(30, 10, 2), ["min log-loss", price]
    problem = mean_front_problem(votes, names, costs={"cost": [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]})
    whole = committee_front(problem)

    cut = committee_front(problem, Budget(nodes=1), max_nodes=max_nodes)

    assert str(cut.proof.kind) != "complete"
    proved = minimised(cut)[np.array(cut.extras["proved"])].tolist()
    assert all(point in minimised(whole).tolist() for point in proved)
    final = cut.extras["final_to"].get(names[1][4:], 0)
    assert all(point in proved for point in minimised(whole).tolist() if point[1] <= final)
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


def test_time_that_ends_in_a_proof_ends_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    now, asked = [0.0], list[float]()
    problem = mean_front_problem(mean_oracles.random_pool(30, 6, 2), ["min log-loss", "min size"])

    def slow(*given: Any) -> Any:
        asked.append(now[0])
        now[0] = 100.0
        return prune_means(*given)

    monkeypatch.setattr(fronts, "prune_means", slow)
    front = committee_front(problem, Budget(10.0, clock=lambda: now[0]))

    assert asked == [0.0]
    assert front.proof.limit == "10 s"
    assert str(front.proof.kind) != "complete"


@pytest.mark.parametrize("price", ["min size", "min cost"])
def test_a_front_that_is_killed_goes_on_from_its_study_and_proves_no_limit_twice(
    price: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = {"cost": [3, 1, 4, 1, 5, 9, 2, 6, 5]}
    problem = mean_front_problem(mean_oracles.random_pool(30, 9, 2), ["min log-loss", price], costs=costs)
    asked = list[SelectionLimits]()

    def counted(*given: Any) -> Any:
        asked.append(given[2])
        return prune_means(*given)

    monkeypatch.setattr(fronts, "prune_means", counted)
    whole, n_all, n_told = committee_front(problem, Budget(nodes=500)), len(asked), 0

    def kill(news: Any) -> None:
        nonlocal n_told
        n_told += news.stage == "searching"
        if n_told == 2:
            raise KeyboardInterrupt

    with open_study(tmp_path / "s.db", keeping=KeepSettings(0.0, 1.0)) as study:
        with pytest.raises(KeyboardInterrupt):
            committee_front(problem, Budget(nodes=500, study=study, report=kill))
        assert study.kept("limits") is not None

        resumed = committee_front(problem, Budget(nodes=500, study=study))

        assert study.kept("limits") is None
    assert len(asked) == 2 * n_all
    assert resumed.points.tolist() == whole.points.tolist()
    assert resumed.decisions.tolist() == whole.decisions.tolist()
    assert resumed.extras == whole.extras
    stages = {stage["stage"]: stage for stage in summary(tmp_path / "s.db")["stages"]}
    walk = stages["searching committees"]
    assert (walk["total"], walk["done"]) == (1, 1)


def test_whoever_stops_the_loop_gets_a_committee_and_no_claim() -> None:
    problem = mean_front_problem(mean_oracles.random_pool(30, 9, 2), ["min log-loss", "min size"])
    cancellation = Cancellation()
    cancellation.cancel()

    front = committee_front(problem, Budget(cancellation=cancellation))

    assert len(front)
    assert (str(front.proof.kind), front.proof.limit) == ("approximate", "interrupted")


def test_objectives_that_count_votes_and_sums_that_are_too_large_are_refused() -> None:
    votes = mean_oracles.random_pool(12, 3, 2)
    with pytest.raises(BadInputError, match="log-loss goes with objectives of members only"):
        mean_front_problem(votes, ["min log-loss", "max recall"])
    with pytest.raises(BadInputError, match="limits of a front must be on the size"):
        mean_front_problem(votes, ["min log-loss", "min size"], limits=selection_limits(3, min_size=0))
    many = SoftVotes(np.repeat(votes.shares, 5_000, axis=0), np.repeat(votes.labels, 5_000))
    with pytest.raises(BadInputError, match=r"must have at most 47,662 pruning rows, .* 60,000"):
        mean_front_problem(many, ["min log-loss", "min size"])
    assert MOST_ROWS_OF_LOSSES == 47_662


def test_two_losses_have_the_best_of_each_within_each_size_and_name_no_limit() -> None:
    rng = np.random.default_rng(2)
    labels = [0, 1] * 12
    right = np.clip(np.array(labels)[:, None] * 0.4 + 0.3 + rng.normal(0, 0.25, (24, 14)), 0.01, 0.99)
    votes = soft_votes(np.stack([1 - right, right], axis=2), labels)
    names = ["min log-loss", "min brier", "min size"]
    front = committee_front(mean_front_problem(votes, names), Budget(1e6))
    assert front.proof.limit == ""
    points = minimised(front)
    for size in range(1, 4):
        committees = [one for one in oracles.subsets(14) if 1 <= len(one) <= size]
        for value in range(2):
            least = min(worth(votes, names[value], one, []) for one in committees)
            assert points[points[:, 2] <= size, value].min() == pytest.approx(least, abs=2e-9)


def test_a_front_of_one_loss_says_that_it_was_proved_within_limits() -> None:
    votes = soft_votes([[[0.9, 0.1], [0.6, 0.4]], [[0.2, 0.8], [0.4, 0.6]]], [0, 1])
    front = committee_front(mean_front_problem(votes, ["min log-loss", "min size"]))
    chosen = mean_selection(mean_front_problem(votes, ["min log-loss", "min size"]), front, 0)
    assert front.extras["bounds"][0]["proved_by"] != COMMITTEE_WALK
    assert chosen.proved_by == WITHIN_LIMITS


def test_a_front_of_two_losses_that_bounds_complete_names_no_full_search() -> None:
    votes = soft_votes([[[0.9, 0.1]] * 14, [[0.2, 0.8]] * 14], [0, 1])
    problem = mean_front_problem(votes, ["min log-loss", "min brier", "min size"])
    assert problem.n_committees > FEW_MEANS
    front = committee_front(problem)
    assert front.proof.kind is ProofKind.COMPLETE
    assert front.values[:, 2].tolist() == [1]
    assert all(one["proved_by"] != COMMITTEE_WALK for one in front.extras["bounds"])
    assert mean_selection(problem, front, 0).proved_by == WITHIN_LIMITS
