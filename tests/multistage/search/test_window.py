import functools
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist.arrays import Mask, Values
from shortlist.errors import FitsStoppedError
from shortlist.multistage.problem.costs import feature_costs
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.problem.stages import REMOVED, compress, has_gaps
from shortlist.multistage.search.stage_objectives import (
    DEFAULT_OBJECTIVES,
    StageProblem,
    stage_problem,
    worths,
)
from shortlist.multistage.search.window import (
    Promise,
    Window,
    gains_of_features,
    interleaved,
    is_late,
    kicked,
    mended,
    single_moves,
    walk_window,
    window_items,
)
from shortlist.multistage.search.window_search import StageArchive, WindowClimber, WindowOptions
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.foreign_subclassifiers import ForeignSubclassifiers
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits, StageRows
from shortlist.runs import Budget, Cancellation
from tests.examples import examples
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of


def nothing(problem: StageProblem) -> NDArray[np.int64]:
    """Return the measures of no assignment."""
    return np.empty((0, problem.n_measures), dtype=np.int64)


def in_window(window: Window) -> Iterator[list[int]]:
    """Yield every assignment of the items; what is in no item comes last, or never with removal."""
    problem = window.problem
    least = -1 if problem.removal else 0
    for stages in itertools.product(range(least, problem.max_stages), repeat=len(window.items)):
        if max(stages) >= 0 and not has_gaps(stages):
            rest = -1 if problem.removal else max(stages)
            whole = [rest] * problem.n_features
            for stage, members in zip(stages, window.items, strict=True):
                for feature in np.flatnonzero(members):
                    whole[feature] = stage
            yield whole


def best_vectors(problem: StageProblem, assignments: list[list[int]]) -> set[tuple[int, ...]]:
    """Return the objective vectors that no other of some assignments dominates."""
    archive = StageArchive(problem)
    if assignments:
        rows = np.array(assignments, dtype=np.int8)
        archive.add(rows, problem.measures(rows))
    return {tuple(row) for row in problem.vectors(archive.measures).tolist()}


@st.composite
def items_of(draw: st.DrawFn, n_features: int) -> Mask:
    """Draw disjoint items; some features may be in none."""
    owner = np.array(draw(st.lists(st.integers(-1, 2), min_size=n_features, max_size=n_features)))
    items = np.array([owner == item for item in range(3) if (owner == item).any()], dtype=bool)
    return items if len(items) else np.eye(n_features, dtype=bool)[:1]


@pytest.mark.parametrize(
    "objectives",
    [
        pytest.param(DEFAULT_OBJECTIVES, id="the usual objectives"),
        pytest.param(("coverage", "false_positive_rate", "worst_case_cost", "stages"), id="others"),
        pytest.param(("conclusive_accuracy", "evaluation_cost"), id="calls"),
        pytest.param(("coverage", "conclusive_accuracy", "hours"), id="hours"),
    ],
)
@examples(25)
@given(known=facts(ensembles=True), k=st.integers(1, 4), removal=st.booleans(), data=st.data())
def test_a_window_holds_the_front_of_all_its_assignments(
    objectives: tuple[str, ...], known: oracles.Facts, k: int, removal: bool, data: st.DataObject
) -> None:
    problem = problem_of(known, min(k, known.n_features), objectives=objectives, removal=removal)
    window = Window(problem, data.draw(items_of(known.n_features)))

    found, whole = walk_window(window, nothing(problem), Budget())
    assert whole

    everything = list(in_window(window))
    assert best_vectors(problem, found.tolist()) == best_vectors(problem, everything)
    assert {tuple(row) for row in found.tolist()} <= {tuple(row) for row in everything}


@examples(25)
@given(known=facts(), k=st.integers(1, 4), data=st.data())
def test_what_is_known_may_be_left_out_and_nothing_else(
    known: oracles.Facts, k: int, data: st.DataObject
) -> None:
    problem = problem_of(known, min(k, known.n_features))
    window = Window(problem, data.draw(items_of(known.n_features)))
    before = [list(row) for row in oracles.all_assignments(known.n_features, problem.max_stages)]
    before = before[:: data.draw(st.integers(2, 9))]
    archive = StageArchive(problem)
    archive.add(np.array(before, dtype=np.int8), problem.measures(np.array(before, dtype=np.int8)))

    found, _ = walk_window(window, archive.measures, Budget())

    together = best_vectors(problem, before + found.tolist())
    assert together == best_vectors(problem, before + list(in_window(window)))


def test_a_large_window_that_is_stopped_says_so() -> None:
    problem = tree_problem(9)
    problem.decisions.every_subset()
    cancellation = Cancellation()
    cancellation.cancel()

    with pytest.raises(FitsStoppedError, match="stopped"):
        walk_window(
            Window(problem, np.eye(9, dtype=bool)), nothing(problem), Budget(cancellation=cancellation)
        )


@pytest.mark.parametrize("seconds", [3, 9, 20])
def test_a_window_that_has_not_all_classifiers_holds_the_front_of_those_it_has(seconds: int) -> None:
    problem = tree_problem(5)
    problem.measures(np.zeros((1, 5), dtype=np.int8))
    now = itertools.count()  # each look at the clock takes a second
    problem.decisions.subclassifiers.budget = budget = Budget(seconds, clock=functools.partial(next, now))
    window = Window(problem, np.eye(5, dtype=bool))

    found, whole = walk_window(window, nothing(problem), budget)

    assert not whole
    fitted = problem.fitted(np.array(list(in_window(window)), dtype=np.int8)).tolist()
    assert 0 < len(fitted) < len(list(in_window(window)))
    assert best_vectors(problem, found.tolist()) == best_vectors(problem, fitted)
    assert problem.decisions.subclassifiers.n_fits <= seconds + 1


def tree_problem(n: int) -> StageProblem:
    """Return a problem whose classifiers are fitted when they are requested."""
    X, y = make_classification(60, n, n_informative=n - 1, n_redundant=0, random_state=0)
    names = [f"f{i}" for i in range(n)]
    rows = StageRows(learn_encoding(X, names), X[:40], y[:40], X[40:], y[40:], 2)
    trees = ForeignSubclassifiers(rows, DecisionTreeClassifier(max_depth=2, random_state=0))
    decisions = DecisionBits(trees, reject_rule(0.8, rows.fit_labels))
    return stage_problem(decisions, feature_costs(None, names), max_stages=3)


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


WEIGHTS = np.array([1.0, 2.0, 3.0])


@given(
    stages=st.lists(st.integers(0, 3), min_size=1, max_size=8), n_changed=st.integers(1, 9),
    seed=st.integers(0, 9), removal=st.booleans(),
)  # fmt: skip
def test_a_kick_changes_few_features_and_something_is_bought(
    stages: list[int], n_changed: int, seed: int, removal: bool
) -> None:
    before = compress(stages)
    after, again = (
        kicked(before, n_changed, 4, np.random.default_rng(seed), removal=removal) for _ in range(2)
    )

    assert after.tolist() == again.tolist()
    assert after.max() >= 0
    assert after.max() < 4
    assert not has_gaps(after)
    assert removal or (after != REMOVED).all()
    # who was not drawn keeps its place among the others that were not
    drawn = np.random.default_rng(seed).choice(len(before), size=min(n_changed, len(before)), replace=False)
    kept = np.setdiff1d(np.arange(len(before)), drawn)
    order_before, order_after = (np.sign(np.subtract.outer(q[kept], q[kept])) for q in (before, after))
    assert (order_before == order_after).all()


@examples(25)
@given(known=facts(max_features=4), k=st.integers(2, 4), removal=st.booleans(), seed=st.integers(0, 5))
def test_no_move_of_one_feature_betters_what_is_mended(
    known: oracles.Facts, k: int, removal: bool, seed: int
) -> None:
    problem = problem_of(known, min(k, known.n_features), removal=removal)

    def rate(assignments: NDArray[np.int8]) -> tuple[NDArray[np.int8], Values]:
        return assignments, worths(problem, problem.measures(assignments), WEIGHTS)

    start = np.zeros(known.n_features, dtype=np.int8)
    found, worth = mended(start, rate, problem.max_stages, np.random.default_rng(seed), removal=removal)

    assert worth == rate(found[None, :])[1][0] >= rate(start[None, :])[1][0]
    moves, _ = single_moves(found, problem.max_stages, removal=removal)
    assert not len(moves) or rate(moves)[1].max() <= worth


@examples(25)
@given(known=facts(max_features=4), removal=st.booleans(), seed=st.integers(0, 9))
def test_a_kick_never_loses_the_best_and_tells_of_gains(
    known: oracles.Facts, removal: bool, seed: int
) -> None:
    problem = problem_of(known, min(3, known.n_features), removal=removal)
    climber = WindowClimber(problem, WindowOptions(), Budget())
    climber.measure(np.zeros((1, known.n_features), dtype=np.int8))
    before, _ = climber.archive.best(WEIGHTS)

    here, gained = climber.kick(WEIGHTS, climber.top(WEIGHTS), np.random.default_rng(seed))

    after, _ = climber.archive.best(WEIGHTS)
    assert gained == (after > before)
    worth = float((worths(problem, problem.measures(here[None, :]), WEIGHTS))[0])
    assert before - 0.001 * WEIGHTS.sum() <= worth <= after
    assert worth == after or not gained


def test_kicks_get_out_of_a_local_optimum() -> None:
    # only features 0 and 1 together tell anything: no move of one feature gains, a kick of two does
    everything: dict[frozenset[int], tuple[Any, Any]] = {
        frozenset(i for i in range(4) if m >> i & 1): ((m & 3 == 3, m & 3 == 3),) * 2 for m in range(1, 16)
    }
    problem = problem_of(oracles.Facts(4, (0, 1), everything, (1, 1, 9, 9)), 2)
    climber = WindowClimber(problem, WindowOptions(changed=2), Budget())
    _, (start,) = climber.measure(np.zeros((1, 4), dtype=np.int8))
    moves, _ = single_moves(np.zeros(4, dtype=np.int8), 2, removal=False)
    weights = np.ones(3)
    best = float(worths(problem, start[None, :], weights)[0])
    assert (worths(problem, problem.measures(moves), weights)).max() <= best + 9 / 20

    here, rng = np.zeros(4, dtype=np.int8), np.random.default_rng(0)
    for _ in range(30):
        here, _ = climber.kick(weights, here, rng)

    assert [0, 0, 1, 1] in climber.archive.assignments.tolist()


def test_whoever_is_stopped_kicks_no_more() -> None:
    answers = {frozenset(s): ((True, True), (False, False)) for s in ((0,), (1,), (0, 1))}
    problem = problem_of(oracles.Facts(2, (1, 0), answers, (1, 2)), 2)
    stop = Cancellation()
    climber = WindowClimber(problem, WindowOptions(), Budget(cancellation=stop))
    climber.measure(np.zeros((1, 2), dtype=np.int8))
    stop.cancel()

    with pytest.raises(FitsStoppedError):
        climber.kick(np.ones(3), np.zeros(2, dtype=np.int8), np.random.default_rng(0))
