"""Fronts side by side: counts against their definitions, indicators against a worked example."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError, SolverError
from shortlist.pareto import hypervolume
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind
from shortlist_papers.front_quality import (
    Box,
    box_of,
    compare_fronts,
    grid_hypervolume,
    in_box,
    joint_front,
    quality_of,
)

GOALS = (Objective("cost"), Objective("worth", Sense.MAX, scale=10))


def front_of(points: list[tuple[int, ...]], kind: str = "approximate", **claims: object) -> Front:
    """A front of two objectives; each point's decision is the point itself."""
    array = np.array(points, dtype=np.int64).reshape(-1, 2)
    proof = Proof(ProofKind(kind), **claims)  # type: ignore[arg-type]  # claims of any kind
    return Front.from_points(GOALS, array, array, ("first", "second"), proof, method="m", seconds=1.0)


def beats(p: tuple[int, ...], q: tuple[int, ...]) -> bool:
    return p != q and all(a <= b for a, b in zip(p, q, strict=True))


point = st.tuples(st.integers(0, 4), st.integers(0, 4))
sets = st.lists(point, max_size=6).map(set)


def test_a_worked_example_has_the_counts_and_indicators_computed_by_hand() -> None:
    tables = compare_fronts(
        {
            "A": front_of([(0, 4), (2, 2)]),
            "B": front_of([(2, 2), (4, 0), (3, 4)]),
            "C": front_of([]),
        }
    )
    assert tables.joint.points.tolist() == [[0, 4], [2, 2], [4, 0]]
    assert tables.joint.decisions.tolist() == [[0, 4], [2, 2], [4, 0]]
    assert tables.joint.extras["found_by"] == [["A"], ["A", "B"], ["B"]]
    assert tables.box == Box((0, 0), (4, 4))
    assert tables.unique == {"A": 1, "B": 1, "C": 0}
    assert tables.shares is None

    first, second, none = (tables.qualities[name] for name in "ABC")
    # scaled to [0, 1]: A is (0, 1), (.5, .5): the first adds nothing below (1, 1), the second .25
    assert (first.n_points, first.n_joint, first.n_dominated) == (2, 2, 0)
    assert first.hypervolume == pytest.approx(0.25)
    assert first.spread == 0  # one distance only
    # (1, 0) is missing: nearest by what is lacking is (.5, .5), worse by .5 in the second
    assert first.epsilon == pytest.approx(0.5)
    assert first.igd_plus == pytest.approx(0.5 / 3)
    assert (second.n_points, second.n_joint, second.n_dominated) == (3, 2, 1)
    # sorted (.5, .5), (.75, 1), (1, 0): distances √.3125 and √1.0625
    near, far = 0.3125**0.5, 1.0625**0.5
    assert second.spread == pytest.approx((far - near) / (far + near))
    assert (none.n_points, none.hypervolume, none.igd_plus, none.epsilon) == (0, 0.0, None, None)

    pair = tables.pairs[0]
    assert (pair.first, pair.second) == ("A", "B")
    assert (pair.n_first, pair.n_second, pair.n_common, pair.n_joint) == (2, 3, 1, 3)
    assert (pair.unique_first, pair.unique_second) == (1, 1)
    assert (pair.dominated_first, pair.dominated_second) == (0, 1)
    assert [(p.first, p.second) for p in tables.pairs] == [("A", "B"), ("A", "C"), ("B", "C")]


@given(first=sets, second=sets, third=sets)
def test_counts_follow_their_definitions(
    first: set[tuple[int, ...]], second: set[tuple[int, ...]], third: set[tuple[int, ...]]
) -> None:
    named = {"A": first, "B": second, "C": third}
    tables = compare_fronts({name: front_of(sorted(points)) for name, points in named.items()})
    every = first | second | third
    joint = {p for p in every if not any(beats(q, p) for q in every)}

    assert set(map(tuple, tables.joint.points.tolist())) == joint
    for name, points in named.items():
        others = set().union(*(named[other] for other in named if other != name))
        assert tables.qualities[name].n_joint == len(points & joint)
        assert tables.qualities[name].n_dominated == len(points) - len(points & joint)
        assert tables.unique[name] == len((points & joint) - others)
    for pair in tables.pairs:
        a, b = named[pair.first], named[pair.second]
        best = {p for p in a | b if not any(beats(q, p) for q in a | b)}
        assert (pair.n_common, pair.n_joint) == (len(a & b), len(best))
        assert (pair.unique_first, pair.unique_second) == (len(best - b), len(best - a))
        assert (pair.dominated_first, pair.dominated_second) == (len(a - best), len(b - best))


@given(first=sets.filter(bool), second=sets.filter(bool))
def test_what_covers_the_joint_front_has_no_distance_to_it_and_the_largest_volume(
    first: set[tuple[int, ...]], second: set[tuple[int, ...]]
) -> None:
    tables = compare_fronts(
        {
            "A": front_of(sorted(first)),
            "B": front_of(sorted(second)),
            "both": front_of(sorted(first | second)),
        }
    )
    whole = tables.qualities["both"]
    assert whole.epsilon == 0
    assert whole.igd_plus == 0
    for name in ("A", "B"):
        part = tables.qualities[name]
        assert part.hypervolume <= whole.hypervolume + 1e-12
        covers = part.n_joint == len(tables.joint)
        assert (part.epsilon == 0) is covers
        assert (part.igd_plus == 0) is covers


def test_an_objective_without_range_still_tells_a_worse_set() -> None:
    joint = np.array([[0, 3]])
    box = box_of(joint)
    good, bad = (quality_of(np.array(points), joint, box) for points in ([[0, 3]], [[0, 5], [7, 3]]))
    assert (good.hypervolume, good.epsilon) == (1.0, 0.0)
    assert bad.hypervolume == 0.0
    assert bad.epsilon == 2.0


def test_a_complete_front_gives_shares_and_its_proof() -> None:
    tables = compare_fronts(
        {
            "all": front_of([(0, 4), (2, 2), (4, 0)], "complete", missing=(0.0, 0.0)),
            "some": front_of([(2, 2)], "nondominated", n_unresolved=3),
            "guess": front_of([(2, 2), (4, 1)]),
        }
    )
    assert tables.shares == {"all": 1.0, "some": pytest.approx(1 / 3), "guess": pytest.approx(1 / 3)}
    assert tables.joint.proof.kind is ProofKind.COMPLETE
    assert tables.joint.extras["n_proved"] == 3


def test_the_joint_proof_is_no_stronger_than_its_parts() -> None:
    proved = front_of([(0, 4)], "nondominated", n_unresolved=2, limit="5 s", missing=(1.0, 0.5))
    other = front_of([(4, 0)], "nondominated", n_unresolved=1)
    guess = front_of([(2, 2)])
    both = joint_front({"a": proved, "b": other}).proof
    assert (both.kind, both.n_unresolved, both.limit) == (ProofKind.NONDOMINATED, 3, "5 s")
    assert both.missing == (1.0, 0.5)
    mixed = joint_front({"a": proved, "b": guess})
    assert (mixed.proof.kind, mixed.extras["n_proved"]) == (ProofKind.APPROXIMATE, 1)
    assert joint_front({"a": front_of([], "nondominated")}).proof.kind is ProofKind.APPROXIMATE
    assert joint_front({"a": front_of([], "complete")}).proof.kind is ProofKind.COMPLETE


@pytest.mark.parametrize("kind", ["nondominated", "complete"])
def test_proofs_that_contradict_what_was_found_are_an_error(kind: str) -> None:
    fronts = {"proved": front_of([(2, 2)], kind), "better": front_of([(1, 1)])}
    with pytest.raises(SolverError, match="'proved' proved impossible"):
        compare_fronts(fronts)
    beside = {"proved": front_of([(2, 2)], kind), "beside": front_of([(0, 9)])}
    if kind == "complete":
        with pytest.raises(SolverError, match="proved impossible"):
            compare_fronts(beside)
    else:
        assert len(compare_fronts(beside).joint) == 2


def test_order_of_fronts_changes_no_count() -> None:
    fronts = {"A": front_of([(0, 4), (3, 3)]), "B": front_of([(2, 2)]), "C": front_of([(0, 4), (4, 0)])}
    expected = compare_fronts(fronts)
    for names in itertools.permutations(fronts):
        tables = compare_fronts({name: fronts[name] for name in names})
        assert tables.qualities == {name: expected.qualities[name] for name in names}
        assert tables.unique == expected.unique


def test_fronts_that_cannot_be_compared_are_named() -> None:
    with pytest.raises(BadInputError, match="at least one"):
        compare_fronts({})
    one = GOALS[:1], np.array([[1]]), np.zeros((1, 2), np.uint8), ("first", "second")
    odd = Front.from_points(*one, Proof(ProofKind.APPROXIMATE))
    with pytest.raises(BadInputError, match="'odd' differs"):
        compare_fronts({"A": front_of([(1, 1)]), "odd": odd})


@given(points=st.lists(st.tuples(*[st.integers(0, 5)] * 4), min_size=1, max_size=9), data=st.data())
def test_the_volume_by_a_sweep_over_integers_is_the_exact_one(
    points: list[tuple[int, ...]], data: st.DataObject
) -> None:
    n = data.draw(st.integers(2, 4))
    own = np.array(points)[:, :n]
    box = data.draw(st.sampled_from([box_of(own), Box((1,) * n, (4,) * n), Box((0,) * n, (3,) * n)]))
    assert box is not None
    inside = np.maximum(in_box(own, box), 0)
    assert grid_hypervolume(own, box) == pytest.approx(hypervolume(inside, np.ones(n)), abs=1e-12)
