import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.multistage.problem.stages import compress, has_gaps
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.subclassifiers import StageRows
from shortlist.multistage.windows.candidates import (
    Promise,
    gains_of_features,
    interleaved,
    is_late,
    single_moves,
    window_items,
)

stages = st.lists(st.integers(-1, 3), min_size=1, max_size=6).filter(lambda q: max(q) >= 0)


def plain_moves(assignment: list[int], k: int, *, removal: bool) -> set[tuple[tuple[int, ...], int]]:
    """Return all other assignments that some move of one feature makes, with the feature."""
    n_stages = max(assignment) + 1
    found = set()
    for feature, own in enumerate(assignment):
        others = [float(stage) for stage in range(n_stages) if stage != own]
        if n_stages < k:
            others += [stage - 0.5 for stage in range(n_stages)]
        if removal and own != -1:
            others.append(-1)
        for stage in others:
            moved = [float(stage) if i == feature else float(q) for i, q in enumerate(assignment)]
            levels = sorted({q for q in moved if q != -1})
            if levels:
                renumbered = tuple(-1 if q == -1 else levels.index(q) for q in moved)
                found.add((renumbered, feature))
    return found


@given(stages, st.integers(1, 5), st.booleans())
def test_moves_are_all_those_of_one_feature(given_stages: list[int], k: int, removal: bool) -> None:
    if not removal:
        given_stages = [max(0, stage) for stage in given_stages]
    before = compress(given_stages)
    k = max(k, int(before.max()) + 1)

    moves, moved = single_moves(before, k, removal=removal)

    assert {(tuple(m), int(f)) for m, f in zip(moves.tolist(), moved, strict=True)} == plain_moves(
        before.tolist(), k, removal=removal
    )
    assert not any(has_gaps(move) for move in moves)


def test_the_gain_of_a_feature_is_that_of_its_best_move() -> None:
    gains = gains_of_features(np.array([1.0, 3.0, 2.0]), np.array([0, 0, 2]), 3)

    assert gains.tolist() == [3.0, -np.inf, 2.0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_promise_is_the_pull_on_what_least_squares_leave(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, n_classes, 60)
    X[:, 3] = y + 0.01 * X[:, 3]
    rows = StageRows(learn_encoding(X, list("abcd")), X, y, X, y, n_classes)
    bought = np.array([True, False, False, False])

    found = Promise(rows).beyond(bought)

    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = np.zeros(4)
    for label in range(n_classes):
        target = (y == label) - (y == label).mean()
        left = target - Z[:, 0] * (Z[:, 0] @ target) / (Z[:, 0] @ Z[:, 0])
        expected[1:] += (Z[:, 1:].T @ left) ** 2
    assert found == pytest.approx(expected / expected[3], abs=1e-9)
    assert found[3] == 1


def test_features_that_tell_the_same_promise_the_same() -> None:
    rng = np.random.default_rng(0)
    for n_copies in range(2, 12):
        X, y = rng.normal(size=(61, 3)), rng.integers(0, 2, 61)
        X = np.column_stack([X, X[:, [1]] * rng.choice([-3.0, 0.1, 7.0], n_copies)])  # in other units
        names = [str(column) for column in range(X.shape[1])]
        rows = StageRows(learn_encoding(X, names), X, y, X, y, 2)

        found = Promise(rows).beyond(np.arange(X.shape[1]) == 0)

        assert len({found[1], *found[3:].tolist()}) == 1


def test_orders_are_interleaved() -> None:
    assert interleaved(np.array([0.0, 5.0, 3.0]), np.array([1.0, 5.0, 0.0])).tolist() == [1, 2, 0]


@given(stages, st.data())
def test_items_are_disjoint_and_leave_late_features_out_but_the_new_ones(
    given_stages: list[int], data: st.DataObject
) -> None:
    removal = data.draw(st.booleans())
    if not removal:
        given_stages = [max(0, stage) for stage in given_stages]
    assignment = compress(given_stages)
    width = data.draw(st.integers(2, 5))
    n_new = data.draw(st.integers(1, width - 1))
    order = np.array(data.draw(st.permutations(range(len(assignment)))))

    items = window_items(assignment, order, n_new=n_new, width=width, removal=removal)

    late = is_late(assignment, removal=removal)
    assert len(items) <= width
    assert (items.sum(axis=1) >= 1).all()
    assert (items.sum(axis=0) <= 1).all()
    held = items.sum(axis=0)
    assert held[~late].all()
    assert held[late].sum() == min(n_new, late.sum())
    if len(items) < width:  # nothing is tied together without need, except within a stage
        together = items[items.sum(axis=1) > 1]
        assert all(len(set(assignment[members].tolist())) == 1 for members in together)
