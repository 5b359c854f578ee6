"""Fronts of committees against every subset and threshold; what is claimed where a limit ends the walk."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.ensembles.fronts import committee_front as committee_fronts
from shortlist.ensembles.fronts.committee_front import committee_front
from shortlist.ensembles.fronts.committee_problem import CommitteeProblem, committee_problem
from shortlist.ensembles.fronts.front_claims import LookedAt, ProvedBounds
from shortlist.ensembles.fronts.objectives import MEMBER_OBJECTIVES, VALUE_OBJECTIVES
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.votes.hard_votes import merge_rows
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import open_study
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from shortlist.runs.study_file import summary
from tests.ensembles import mean_oracles, oracles, strategies
from tests.ensembles.oracles import Rows
from tests.ensembles.plurality_oracles import Pool, as_votes, class_pools
from tests.examples import examples

prices = st.sampled_from(["0", "0.1", "0.25", "1", "2", "3.75"])


def exact(front: Front) -> set[tuple[Fraction, ...]]:
    """The points as fractions, from the integers behind them."""
    scales = [objective.sign * (objective.scale or 1) for objective in front.objectives]
    return {
        tuple(Fraction(value, scale) for value, scale in zip(point, scales, strict=True))
        for point in front.points.tolist()
    }


def added(name: str, members: tuple[int, ...], costs: list[str]) -> Fraction:
    return (
        Fraction(len(members)) if name == "size" else sum((Fraction(costs[k]) for k in members), Fraction(0))
    )


def directed(names: list[str]) -> list[str]:
    return [f"{'min' if name in MEMBER_OBJECTIVES else 'max'} {name}" for name in names]


@given(
    rows=strategies.labelled_votes(max_classifiers=6, max_rows=12),
    names=st.lists(st.sampled_from([*VALUE_OBJECTIVES, "cost", "size"]), min_size=2, max_size=3, unique=True),
    data=st.data(),
)
@examples(60)
def test_the_front_of_two_classes_is_that_of_all_subsets_and_thresholds(
    rows: Rows, names: list[str], data: st.DataObject
) -> None:
    k = len(rows[0][0])
    costs = data.draw(st.lists(prices, min_size=k, max_size=k))
    least = data.draw(st.integers(1, k))
    most = data.draw(st.integers(least, k))
    max_cost = data.draw(st.sampled_from([None, 2.5])) if "cost" in names else None
    votes = merge_rows(*oracles.as_arrays(rows))
    limits = selection_limits(k, min_size=least, max_size=most)

    front = committee_front(
        committee_problem(
            votes,
            directed(names),
            costs={"cost": [float(cost) for cost in costs]},
            limits=limits,
            max_cost=max_cost,
        )
    )

    allowed = [
        members
        for members in oracles.subsets(k)
        if least <= len(members) <= most
        and (max_cost is None or added("cost", members, costs) <= Fraction("2.5"))
    ]
    points = [
        tuple(worth[name] if name in worth else added(name, members, costs) for name in names)
        for members in allowed
        for worth, _ in mean_oracles.committees(rows, members)
    ]
    assert exact(front) == mean_oracles.best_points(
        points, [1 if name in MEMBER_OBJECTIVES else -1 for name in names]
    )
    assert front.proof.kind is ProofKind.COMPLETE
    assert all(front.extras["proved"])


@given(
    pool=class_pools(max_classifiers=6, max_rows=12),
    data=st.data(),
)
@examples(40)
def test_the_front_of_several_classes_is_that_of_all_subsets(pool: Pool, data: st.DataObject) -> None:
    _, k, n_classes = pool
    known = ["accuracy", "cost", "size", *(f"recall:{label}" for label in range(n_classes))]
    if n_classes == 2:
        known = known[:3]
    names = data.draw(st.lists(st.sampled_from(known), min_size=2, max_size=3, unique=True))
    costs = data.draw(st.lists(prices, min_size=k, max_size=k))

    problem = committee_problem(
        as_votes(pool), directed(names), costs={"cost": [float(cost) for cost in costs]}
    )
    front = committee_front(problem)

    points = []
    for members in oracles.subsets(k):
        if members:
            worth = mean_oracles.plural(pool, members)
            points.append(
                tuple(worth[name] if name in worth else added(name, members, costs) for name in names)
            )
    assert exact(front) == mean_oracles.best_points(
        points, [1 if name in MEMBER_OBJECTIVES else -1 for name in names]
    )
    assert front.proof.kind is ProofKind.COMPLETE
    assert front.extras["thresholds"] is None


def hard(
    n_classifiers: int = 24, objectives: tuple[str, ...] = ("max accuracy", "min size")
) -> CommitteeProblem:
    votes = strategies.hard_votes(n_rows=80, n_classifiers=n_classifiers)
    costs = np.random.default_rng(0).integers(1, 50, n_classifiers) / 4
    return committee_problem(votes, objectives, costs={"cost": costs})


@pytest.mark.parametrize(
    "objectives",
    [("max accuracy", "min cost", "min size"), ("max true-positives", "max true-negatives", "min cost")],
)
def test_a_walk_that_a_limit_ends_has_points_that_the_whole_one_has_too_and_says_which(
    objectives: tuple[str, ...],
) -> None:
    problem = hard(12, objectives)
    whole = committee_front(problem)

    cut = committee_front(problem, Budget(nodes=1), max_nodes=200)

    known = exact(whole)
    assert whole.proof.kind is ProofKind.COMPLETE
    assert cut.proof.kind is not ProofKind.COMPLETE
    proved = [point for point, sure in zip(cut.points.tolist(), cut.extras["proved"], strict=True) if sure]
    assert proved
    assert {tuple(point) for point in proved} <= {tuple(point) for point in whole.points.tolist()}
    assert known


@pytest.mark.parametrize("max_nodes", [30, 300, 1_000])
def test_the_walk_by_price_goes_on_where_that_by_size_ended_and_loses_no_point(max_nodes: int) -> None:
    problem = hard(12, ("max accuracy", "min cost", "min size"))
    whole = committee_front(problem)

    cut = committee_front(problem, Budget(nodes=1), max_nodes=max_nodes)

    size, cost = cut.extras["final_to"]["size"], cut.extras["final_to"]["cost"]
    assert 1 <= size < 12
    final = (cut.values[:, 2] <= size) | (cut.values[:, 1] <= cost)
    assert final.tolist() == cut.extras["proved"]
    proved = {tuple(point) for point in cut.values[final].tolist()}
    assert proved == {tuple(point) for point in whole.values.tolist() if point[2] <= size or point[1] <= cost}


def test_what_a_cut_walk_says_may_be_missing_is_enough_for_every_point_of_the_whole_front() -> None:
    problem = hard(12, ("max accuracy", "min cost", "min size"))
    whole = committee_front(problem)

    cut = committee_front(problem, Budget(nodes=1), max_nodes=400)

    assert cut.proof.missing is not None
    missing = np.array(cut.proof.missing) * [objective.scale or 1 for objective in cut.objectives]
    for point in whole.points:
        assert (cut.points <= point + np.rint(missing)).all(axis=1).any()


def test_whoever_stops_the_work_gets_the_points_so_far() -> None:
    cancellation = Cancellation()
    cancellation.cancel()

    front = committee_front(hard(), Budget(cancellation=cancellation))

    assert front.proof.kind is not ProofKind.COMPLETE
    assert front.proof.limit == "interrupted"


def test_a_front_that_begins_late_in_a_time_limit_has_the_time_that_is_left() -> None:
    late = Budget(100, clock=lambda: 0.0, start=-95.0, begin=0.95)

    front = committee_front(hard(12), late)

    assert front.proof.kind is ProofKind.COMPLETE


def test_every_point_is_counted_from_the_votes() -> None:
    problem = hard(10, ("max true-positives", "max true-negatives", "min size"))

    front = committee_front(problem)

    for point, chosen, threshold in zip(
        front.points, front.decisions, front.extras["thresholds"], strict=True
    ):
        assert problem.point(chosen.astype(bool), threshold)[problem.asked].tolist() == point.tolist()


def told(events: list[Any]) -> set[str]:
    return {event.stage for event in events}


def test_progress_is_told() -> None:
    events: list[Any] = []

    committee_front(hard(8), Budget(report=events.append))

    assert told(events) >= {"bounding", "full search"}


def test_a_front_goes_on_from_a_study_and_proves_no_bound_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 60)
    votes = merge_rows(labels[:, None] ^ (rng.random((60, 17)) < 0.3), labels)
    costs = {"cost": rng.integers(1, 9, 17).tolist()}
    asked = committee_problem(votes, ["max accuracy", "min cost", "min size"], costs=costs)
    whole = committee_front(asked, Budget(nodes=20))
    with open_study(tmp_path / "s.db") as study:
        budget = Budget(nodes=20, study=study)
        cut = committee_front(asked, budget, max_nodes=whole.extras["n_nodes"] // 2)
        monkeypatch.setattr(committee_fronts, "prune_exactly", None)

        resumed = committee_front(asked, budget)

        assert study.kept("bounds") is None  # nothing is left to go on from
    stages = {stage["stage"]: stage for stage in summary(tmp_path / "s.db")["stages"]}
    walk = stages["searching committees"]
    assert str(cut.proof.kind) != "complete"
    assert str(resumed.proof.kind) == str(whole.proof.kind) == "complete"
    assert exact(resumed) == exact(whole)
    assert (walk["total"], walk["done"]) == (1, 1)


AHEAD = np.array([3, 6], dtype=np.int64)
"""Rows by which a committee that was not looked at may be ahead in each value."""


def problem_of(*objectives: str) -> CommitteeProblem:
    votes = strategies.hard_votes(n_rows=60, n_classifiers=4)
    return committee_problem(votes, objectives, costs={"cost": [0.25, 1.0, 2.5, 4.0]})


THREE = problem_of("min cost", "max accuracy", "max true-negatives")


def time_left() -> Budget:
    return Budget(60, clock=lambda: 0.0)


def time_is_up() -> Budget:
    return Budget(60, clock=lambda: 0.0, start=-60.0)


def proof_of(
    budget: Budget,
    missing: NDArray[np.int64] | None = None,
    *,
    problem: CommitteeProblem = THREE,
    complete: bool = False,
    proved: bool = False,
) -> Proof:
    looked = LookedAt(problem, ProvedBounds(problem), {}, complete, is_cut=not complete, nodes=0)
    return looked._proof(missing, budget, complete=complete, proved=proved)


def test_what_may_be_missing_is_in_the_order_and_the_units_that_were_asked_for() -> None:
    """Nothing is missing in what members add up to: the point that is compared with comes to no more there."""
    assert proof_of(Budget(), AHEAD).missing == (0.0, 3 / 60, 6.0)
    assert proof_of(Budget()).missing is None


@pytest.mark.parametrize(("proved", "kind"), [(True, ProofKind.NONDOMINATED), (False, ProofKind.APPROXIMATE)])
def test_a_walk_that_gave_its_time_to_the_search_names_the_limit_before_it_has_passed(
    proved: bool, kind: ProofKind
) -> None:
    proof = proof_of(time_left(), AHEAD, proved=proved)
    assert proof == Proof(kind, missing=(0.0, 3 / 60, 6.0), limit="60 s")


def test_without_a_time_limit_none_is_named() -> None:
    assert proof_of(Budget(), AHEAD).limit == ""
    assert proof_of(Budget(nodes=100), AHEAD).limit == ""


def test_who_stops_the_work_is_named_before_the_clock() -> None:
    stopped = Cancellation()
    stopped.cancel()
    assert proof_of(Budget(60, clock=lambda: 0.0, start=-60.0, cancellation=stopped)).limit == "interrupted"


def test_a_complete_front_lacks_nothing_and_names_no_limit_that_has_passed_since() -> None:
    proof = proof_of(time_is_up(), AHEAD, complete=True, proved=True)
    assert proof == Proof(ProofKind.COMPLETE, missing=(0.0, 0.0, 0.0))


def test_a_budget_that_no_committee_keeps_gives_an_empty_front_of_many_classifiers_too() -> None:
    rng = np.random.default_rng(0)
    votes = merge_rows(rng.integers(0, 2, (20, 17)), [0, 1] * 10)
    problem = committee_problem(votes, ["max accuracy", "min cost"], costs={"cost": [5.0] * 17}, max_cost=1.0)
    front = committee_front(problem)
    assert len(front) == 0
    assert front.proof.kind is ProofKind.COMPLETE
