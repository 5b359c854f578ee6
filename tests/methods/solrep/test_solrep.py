"""SolRep: every point on the complete front, whatever happens to the run."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from shortlist.errors import BadInputError, SolverError
from shortlist.logic.clauses import Clauses
from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.methods.integer.reduced_program import reduce_program
from shortlist.methods.integer.relaxed_zones import RelaxedZones
from shortlist.methods.integer.search_zones import search_zones
from shortlist.methods.solrep.limited_solves import LimitedSolves
from shortlist.methods.solrep.reference_points import STAGE, WALK
from shortlist.methods.solrep.solrep import SolRepSettings, _reference_points, solrep
from shortlist.methods.solrep.unexplored_boxes import UnexploredBoxes, inner_corner
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.pareto import hypervolume, scaled
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import ProofKind
from shortlist.runs import Budget, Cancellation, Progress, open_study
from tests.examples import examples
from tests.methods import oracles
from tests.methods.strategies import multiobjective_programs

PAPER = "feature-models/paper-instances"
RULES = ["hit-and-run", "adaptive"]


def knapsack(n: int = 12, n_objectives: int = 3, seed: int = 1) -> Program:
    """Values to maximise under one weight limit."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 20, n).astype(float)
    goals = [
        LinearObjective(Objective(f"value {i}", Sense.MAX), rng.integers(1, 20, n).astype(float))
        for i in range(n_objectives)
    ]
    return make_program(
        [weights],
        row_lower=0,
        row_upper=weights.sum() // 2,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=goals,
    )


def as_tuples(points: Any) -> set[tuple[int, ...]]:
    return set(map(tuple, points.tolist()))


@given(
    program=multiobjective_programs(),
    rule=st.sampled_from(RULES),
    seed=st.integers(0, 3),
    n_points=st.integers(1, 12),
)
@examples(25)
def test_every_point_is_on_the_front_of_brute_force(
    program: Program, rule: str, seed: int, n_points: int
) -> None:
    complete = oracles.front(program)
    front = solrep(program, SolRepSettings(n_points, rule=rule), budget=Budget(seed=seed))
    found = oracles.as_set(front)

    assert found <= complete
    assert bool(found) == bool(complete)
    assert front.proof.kind in {ProofKind.NONDOMINATED, ProofKind.COMPLETE}
    if front.proof.kind is ProofKind.COMPLETE:
        assert found == complete
    for values, decision in zip(front.values.tolist(), front.decisions.tolist(), strict=True):
        assert oracles.is_feasible(program, tuple(decision))
        assert oracles.value(program, tuple(decision)) == tuple(map(oracles.decimal, values))
    if front.proof.missing is not None:
        signs = [linear.objective.sign for linear in program.objectives]
        for point in complete:
            assert any(
                all(
                    s * (float(a) - float(b)) <= lack + 1e-9
                    for s, a, b, lack in zip(signs, near, point, front.proof.missing, strict=True)
                )
                for near in found
            )


@given(program=multiobjective_programs(max_columns=4, max_objectives=3))
@examples(15)
def test_the_adaptive_rule_ends_with_the_complete_front(program: Program) -> None:
    front = solrep(program, SolRepSettings(500, rule="adaptive"))

    assert oracles.as_set(front) == oracles.front(program)
    assert front.proof.kind is ProofKind.COMPLETE
    assert not any(front.proof.missing or ())


def test_anchors_are_in_the_answer_and_the_counts_add_up() -> None:
    program = knapsack()
    front = solrep(program, SolRepSettings(30))
    extras = front.extras

    assert as_tuples(np.array(extras["anchors"])) <= as_tuples(front.points)
    assert front.points.min(axis=0).tolist() == search_zones(program).points.min(axis=0).tolist()
    assert extras["n_reference_points"] == 30
    assert extras["n_programs"] == 6 + 30 - extras["n_without_program"]
    assert extras["plane_dimension"] == 2
    assert extras["gaps"] == [0.0] * len(front)


def test_the_bound_on_what_is_missing_falls_and_the_adaptive_rule_has_more_volume() -> None:
    program = knapsack(n=20)
    complete = search_zones(program).points
    low, high = complete.min(axis=0), complete.max(axis=0)

    def volume(points: Any) -> float:
        return hypervolume(scaled(points, low, high), [1.0] * 3)

    fronts = [solrep(program, SolRepSettings(n, rule="adaptive")) for n in (5, 40)]
    plain = solrep(program, SolRepSettings(40))
    few, many = (np.array(front.proof.missing) for front in fronts)

    assert (many <= few).all()
    assert (many < few).any()
    assert volume(fronts[1].points) > volume(plain.points)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_answer_does_not_depend_on_the_number_of_workers(workers: int) -> None:
    program = knapsack()
    front = solrep(program, SolRepSettings(20, chunk_size=7), workers=workers, budget=Budget(seed=3))
    again = solrep(program, SolRepSettings(20, chunk_size=7), budget=Budget(seed=3))

    assert np.array_equal(front.decisions, again.decisions)
    assert {**front.extras} == {**again.extras}


class StopHereError(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_done", [0, 3, 6, 11])
def test_a_run_that_stops_loses_no_finished_program_and_ends_as_if_undisturbed(
    rule: str, n_done: int, tmp_path: Path
) -> None:
    program, asked = knapsack(n=20), SolRepSettings(15, rule=rule)
    whole = solrep(program, asked)

    def stop(event: Progress) -> None:
        if event.stage == STAGE and event.done >= n_done:
            raise StopHereError

    with open_study(tmp_path / "run.db") as study:
        with pytest.raises(StopHereError):
            solrep(program, asked, study=study, budget=Budget(report=stop))
        before = study.results()
        assert len(before) == 6 + n_done  # the anchors, the points

        front = solrep(program, asked, study=study)
        assert np.array_equal(front.points, whole.points)
        assert np.array_equal(front.decisions, whole.decisions)
        assert (front.extras, front.proof) == (whole.extras, whole.proof)
        assert before.items() <= study.results().items()
        with pytest.raises(BadInputError, match="another question: n_points was 15 there and is 16 now"):
            solrep(program, SolRepSettings(16, rule=rule), study=study)


@pytest.mark.parametrize("n_done", [1, 7, 14])
def test_a_walk_that_is_stopped_keeps_the_anchors_and_is_walked_again(n_done: int, tmp_path: Path) -> None:
    program, asked = knapsack(n=20), SolRepSettings(15)
    whole = solrep(program, asked)
    cancellation = Cancellation()

    def stop(event: Progress) -> None:
        if event.stage == WALK and event.done >= n_done:
            cancellation.cancel()

    with open_study(tmp_path / "run.db") as study:
        front = solrep(program, asked, study=study, budget=Budget(report=stop, cancellation=cancellation))
        assert as_tuples(front.points) == as_tuples(np.array(whole.extras["anchors"]))
        assert (front.proof.limit, front.proof.n_unresolved) == ("interrupted", 15)
        assert len(study.results()) == 6
        again = solrep(program, asked, study=study)
    assert np.array_equal(again.decisions, whole.decisions)
    assert (again.extras, again.proof) == (whole.extras, whole.proof)


def test_a_time_limit_ends_the_walk() -> None:
    now = [0.0]

    def tick(event: Progress) -> None:
        now[0] = 10.0 * event.done if event.stage == WALK else now[0]

    budget = Budget(50, clock=lambda: now[0], start=0.0, report=tick)
    front = solrep(knapsack(), SolRepSettings(15), budget=budget)
    assert (front.proof.limit, front.proof.n_unresolved) == ("50 s", 15)
    assert front.proof.kind is ProofKind.NONDOMINATED


def test_a_study_of_another_walk_does_not_fit(tmp_path: Path) -> None:
    with open_study(tmp_path / "run.db") as study:
        study.bind({"thinning": 10})
        with pytest.raises(BadInputError, match="thinning was 10 there and is 1 now"):
            solrep(knapsack(), SolRepSettings(3), study=study)
        solrep(knapsack(), SolRepSettings(3, rule="adaptive"), study=study)


def options_program(rows: list[list[int]]) -> Program:
    """Exactly one of some options; column by column what each adds to the objectives."""
    vectors = np.array(rows, dtype=float)
    n = len(vectors)
    return make_program(
        np.ones((1, n)),
        row_lower=1,
        row_upper=1,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[LinearObjective(Objective(f"f{i}"), costs) for i, costs in enumerate(vectors.T)],
    )


@pytest.mark.parametrize(
    ("rows", "anchors"),
    [
        pytest.param(
            [[0, 9, 9], [9, 0, 0], [5, 0, 4], [7, 3, 1]],
            [[0, 9, 9], [5, 0, 4], [9, 0, 0]],
            id="the first of two has another optimum",
        ),
        pytest.param(
            [[0, 9, 9], [9, 0, 0], [5, 5, 0], [7, 1, 3]],
            [[0, 9, 9], [9, 0, 0], [5, 5, 0]],
            id="the second of two has another optimum",
        ),
        pytest.param(
            [[0, 9, 9], [9, 0, 0], [5, 5, 0], [6, 0, 5]],
            [[0, 9, 9], [6, 0, 5], [9, 0, 0]],
            id="both have another optimum",
        ),
        pytest.param(
            [[0, 9, 9], [9, 0, 0], [5, 1, 2]], [[0, 9, 9], [9, 0, 0], [9, 0, 0]], id="neither has another"
        ),
        pytest.param(
            [[0, 8, 8], [8, 0, 0], [9, 0, 0]], [[0, 8, 8], [8, 0, 0], [8, 0, 0]], id="the other is dominated"
        ),
        pytest.param(
            [[0, 8, 8, 8], [8, 0, 0, 8], [8, 8, 8, 0], [4, 0, 4, 6]],
            [[0, 8, 8, 8], [4, 0, 4, 6], [8, 0, 0, 8], [8, 8, 8, 0]],
            id="the plane gets its dimension back",
        ),
    ],
)
def test_an_anchor_that_repeats_another_gives_way_to_another_optimum(
    rows: list[list[int]], anchors: list[list[int]]
) -> None:
    program = options_program(rows)
    front = solrep(program, SolRepSettings(6))

    assert front.extras["anchors"] == anchors
    assert front.extras["plane_dimension"] == np.linalg.matrix_rank(np.array(anchors) - anchors[0])
    assert as_tuples(np.array(anchors)) <= as_tuples(front.points) <= as_tuples(search_zones(program).points)


@given(rows=st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=6))
@examples(25)
def test_anchors_are_optima_of_their_objectives_and_repeat_only_where_no_other_adds_a_dimension(
    rows: list[list[int]],
) -> None:
    program = options_program(rows)
    complete = search_zones(program).points
    front = solrep(program, SolRepSettings(2))
    anchors = np.array(front.extras["anchors"])

    assert as_tuples(anchors) <= as_tuples(complete)
    assert (np.diag(anchors) == complete.min(axis=0)).all()
    dimension = front.extras["plane_dimension"]
    assert dimension == np.linalg.matrix_rank(anchors - anchors[0])
    for index, anchor in enumerate(anchors):
        if (anchors == anchor).all(axis=1).sum() > 1:
            others = complete[complete[:, index] == anchor[index]]
            best = {tuple(others[np.lexsort((others.sum(axis=1), others[:, j]))[0]]) for j in range(4)}
            for other in best:
                replaced = anchors.copy()
                replaced[index] = other
                assert np.linalg.matrix_rank(replaced - replaced[0]) <= dimension


def test_reference_points_lie_within_the_relaxation_and_not_only_in_the_hull_of_the_anchors() -> None:
    program = knapsack(n=20)
    integers = integer_objectives(program)
    anchors = (
        np.array(solrep(program, SolRepSettings(0)).extras["anchors"]) - integers.offsets
    ) // integers.steps
    points = _reference_points(program, anchors, 60, Budget(seed=1))

    shares = np.linalg.solve(anchors.T.astype(float), points.T.astype(float)).T
    assert (shares < -0.05).any()
    costs = integers.costs.astype(float)
    for point in points:  # rounded down by less than a step in each objective
        found = linprog(
            np.zeros(program.n_columns),
            A_ub=np.vstack([program.rows.toarray(), costs, -costs]),
            b_ub=np.concatenate([program.row_upper, point + 1, -point]),
            bounds=(0, 1),
        )
        assert found.success


def test_the_objective_of_the_widest_range_is_minimised_unless_another_one_is_named() -> None:
    program = knapsack(n=20)

    def found(objective: str | None) -> Any:
        return solrep(program, SolRepSettings(15, objective=objective))

    plain = found(None)
    names = [linear.objective.name for linear in program.objectives]
    widest = int(np.argmax(np.ptp(np.array(plain.extras["anchors"]), axis=0)))
    fronts = {name: found(name).points for name in names}
    assert np.array_equal(plain.points, fronts[names[widest]])
    assert len({tuple(map(tuple, points.tolist())) for points in fronts.values()}) == len(names)
    with pytest.raises(BadInputError, match="objective must be one of"):
        found("weight")


def test_a_finished_run_solves_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_study(tmp_path / "run.db") as study:
        front = solrep(knapsack(), SolRepSettings(15), study=study)
        monkeypatch.setattr(LimitedSolves, "attempt", None)
        again = solrep(knapsack(), SolRepSettings(15), study=study)
    assert np.array_equal(again.decisions, front.decisions)


def test_one_best_solution_is_a_complete_front() -> None:
    goals = [LinearObjective(Objective(name), np.array([1.0, 2.0])) for name in ("a", "b")]
    program = make_program(
        [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True, objectives=goals
    )
    front = solrep(program, SolRepSettings(10))

    assert front.values.tolist() == [[1, 1]]
    assert front.proof.kind is ProofKind.COMPLETE
    assert front.extras["plane_dimension"] == 0


@pytest.mark.parametrize("rule", RULES)
def test_an_infeasible_program_has_a_complete_front_without_points(rule: str) -> None:
    program = knapsack().with_rows(np.ones((1, 12)), 13, 20)
    front = solrep(program, SolRepSettings(4, rule=rule))

    assert len(front) == 0
    assert front.proof.kind is ProofKind.COMPLETE


def test_limits_lower_the_claim() -> None:
    front = solrep(knapsack(n=40), SolRepSettings(3, solve_limit_nodes=0))
    assert front.proof.kind in {ProofKind.APPROXIMATE, ProofKind.NONDOMINATED}
    if front.extras["n_unproved"]:
        assert front.proof.kind is ProofKind.APPROXIMATE
        assert max(front.extras["gaps"]) > 0
    cancellation = Cancellation()
    cancellation.cancel()
    nothing = solrep(knapsack(), SolRepSettings(3), budget=Budget(cancellation=cancellation))
    assert len(nothing) == 0
    assert nothing.proof.limit == "interrupted"
    assert nothing.proof.n_unresolved == 3
    assert nothing.proof.kind is not ProofKind.COMPLETE


@pytest.mark.parametrize("rule", RULES)
def test_a_limit_of_a_part_of_the_time_is_told_as_the_users(rule: str) -> None:
    now = [0.0]

    def tick(progress: Progress) -> None:
        now[0] = 10.0 * progress.done if progress.stage == STAGE else 0.0

    whole = Budget(200, clock=lambda: now[0], start=0.0, report=tick)
    front = solrep(knapsack(n=20), SolRepSettings(15, rule=rule), budget=whole.until(0.2))

    assert front.proof.limit == "200 s"
    assert 1 <= front.proof.n_unresolved < 15


literal = st.integers(1, 5).flatmap(lambda v: st.sampled_from([v, -v]))


@given(
    listed=st.lists(st.lists(literal, min_size=1, max_size=3), max_size=8),
    costs=st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=2, max_size=3),
)
@examples(25)
def test_clauses_make_the_program_smaller_and_change_no_front(
    listed: list[list[int]], costs: list[list[int]]
) -> None:
    clauses = Clauses.from_clauses(5, listed)
    rows = np.zeros((len(listed), 5))
    for row, clause in zip(rows, listed, strict=True):
        for value in set(clause):
            row[abs(value) - 1] += np.sign(value)
    least = [1 - sum(v < 0 for v in set(clause)) for clause in listed]
    program = make_program(
        rows,
        row_lower=least,
        row_upper=np.inf,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[
            LinearObjective(Objective(f"f{i}", scale=10), np.array(row) / 10, 0.3)
            for i, row in enumerate(costs)
        ],
    )
    reduced = reduce_program(program, clauses)
    assert reduced.program.n_columns <= 5
    assert reduced.program.n_rows <= max(1, len(listed))
    front = solrep(program, SolRepSettings(200, rule="adaptive"), clauses=clauses)
    assert oracles.as_set(front) == oracles.front(program)

    # the same with an auxiliary variable 6 that stands for the third one, and one that is free
    replaced = [[np.sign(v) * 6 if abs(v) == 3 else v for v in clause] for clause in listed]
    auxiliary = Clauses.from_clauses(7, [*replaced, (-6, 3), (6, -3), (1, 7)])
    assert reduce_program(program, auxiliary).program.n_columns <= 5
    again = solrep(program, SolRepSettings(200, rule="adaptive"), clauses=auxiliary)
    assert oracles.as_set(again) == oracles.front(program)


def test_arguments_that_do_not_fit_are_refused() -> None:
    program = make_program(
        [[1, 1]],
        row_lower=1,
        row_upper=1,
        column_lower=0,
        column_upper=2,
        integer=True,
        objectives=[
            LinearObjective(Objective("a"), np.array([1.0, 0.0])),
            LinearObjective(Objective("b"), np.array([0.0, 1.0])),
        ],
    )
    with pytest.raises(BadInputError, match=r"within 0\.\.1"):
        solrep(program, SolRepSettings(2), clauses=Clauses.from_clauses(2, []))
    with pytest.raises(BadInputError, match="workers must be 1"):
        solrep(program, SolRepSettings(2, rule="adaptive"), workers=2)
    with pytest.raises(BadInputError, match="rule must be one of"):
        solrep(program, SolRepSettings(2, rule="grid"))


def test_a_solver_that_proves_a_dominated_point_is_caught() -> None:
    from shortlist.methods.solrep.limited_solves import ProgramOutcome, Record, answers_front
    from shortlist.results.proof import Proof, Status

    program = knapsack(n=2, n_objectives=2)
    reduced = reduce_program(program)
    costs = program.minimised_costs()
    records = {}
    for number, columns in enumerate(([0, 0], [1, 0])):
        vector = (costs @ columns).astype(np.int64)
        outcome = ProgramOutcome(Status.OPTIMAL, vector, 0, np.array(columns, dtype=np.int64))
        records[f"point {number}"] = Record(f"point {number}", outcome, 1)
    with pytest.raises(SolverError, match="another one dominates"):
        answers_front(
            program, reduced, records, Proof(ProofKind.NONDOMINATED), candidates=None, seconds=0.0, extras={}
        )


@given(
    vectors=st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=6),
    weights=st.lists(st.integers(1, 3), min_size=3, max_size=3),
    n_known=st.integers(1, 4),
    ceiling=st.lists(st.integers(1, 8), min_size=3, max_size=3),
    data=st.data(),
)
def test_boxes_cover_every_feasible_vector_that_is_not_known(
    vectors: list[list[int]], weights: list[int], n_known: int, ceiling: list[int], data: st.DataObject
) -> None:
    boxes = UnexploredBoxes(np.zeros(3, dtype=np.int64), np.full(3, 6), np.array(ceiling))
    feasible = np.array(vectors)
    for vector in feasible[:n_known]:
        corner = np.minimum(vector + 2, 6)
        inside = feasible[(feasible < corner).all(axis=1)]
        boxes.add_bound(corner, np.array(weights), int((inside @ weights).min()))
        boxes.add_vector(vector)
        index = data.draw(st.integers(0, len(boxes.upper) - 1))
        held = feasible[((boxes.lower[index] <= feasible) & (feasible < boxes.upper[index])).all(axis=1)]
        if len(held):
            boxes.raise_lower(index, held.min(axis=0))
        else:
            boxes.close(index)
    known, lack = feasible[:n_known], boxes.missing()
    for vector in feasible:
        covered = (known <= vector).all(axis=1).any()
        in_box = ((boxes.lower <= vector) & (vector < boxes.upper)).all(axis=1) & boxes.open
        assert covered or in_box.any()
        assert (known - vector <= lack).all(axis=1).any()


def test_the_largest_box_is_below_the_ceiling_while_there_is_one_and_what_was_tried_counts_less() -> None:
    boxes = UnexploredBoxes(np.array([0, 0]), np.array([90, 90]), np.array([9, 9]))
    first = boxes.largest()
    assert first is not None
    assert boxes.upper[first].tolist() == [9, 9]
    assert boxes.volumes()[first] == pytest.approx(1.0)
    assert inner_corner(boxes.lower[first], boxes.upper[first]).tolist() == [6, 6]
    boxes.tried[first] = True
    assert boxes.volumes()[first] == pytest.approx(1 - 36 / 81)
    boxes.add_vector(np.array([3, 6]))
    left = boxes.largest()
    assert left is not None
    assert (boxes.lower[left].tolist(), boxes.upper[left].tolist()) == ([0, 0], [9, 6])
    for index in range(len(boxes.upper)):
        if (boxes.upper[index] <= 9).all():
            boxes.given_up[index] = True
    beyond = boxes.largest()
    assert beyond is not None
    assert (boxes.lower[beyond] >= 9).any()


@given(program=multiobjective_programs(max_columns=4), data=st.data())
def test_relaxed_bounds_hold_for_every_feasible_vector(program: Program, data: st.DataObject) -> None:
    integers = integer_objectives(program)
    ranges = [
        range(int(low), int(high) + 1)
        for low, high in zip(program.column_lower, program.column_upper, strict=True)
    ]
    solutions = [x for x in itertools.product(*ranges) if oracles.is_feasible(program, x)]
    vectors = np.array([integers.vector(np.array(x, dtype=np.float64)) for x in solutions], dtype=np.int64)
    vectors = vectors.reshape(-1, len(integers))
    lower = integers.lower + data.draw(st.integers(0, 2))
    upper = integers.upper - data.draw(st.integers(0, 3))
    least = RelaxedZones(program, integers, Budget()).least(lower, upper)
    held = vectors[((lower <= vectors) & (vectors <= upper)).all(axis=1)]

    if least is None:
        assert not len(held)
    else:
        assert (held >= least).all()
        assert (least >= lower).all()


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("name", "reference", "n"), [("js1", "ChatSystem_PREDEFINE_ONE", 40), ("wp1", "WebPortal_RAND1", 60)]
)
def test_real_product_lines_have_every_point_on_the_published_front(
    data_folder: Path, rule: str, name: str, reference: str, n: int
) -> None:
    program = oracles.paper_program(data_folder / PAPER / f"moip/parameter_{name}.txt")
    complete = oracles.paper_front(
        data_folder / PAPER / f"reference-fronts/{reference}.csv", program.n_columns
    )
    front = solrep(program, SolRepSettings(n, rule=rule))
    published = {tuple(map(oracles.decimal, row)) for row in complete.tolist()}

    assert oracles.as_set(front) <= published
    assert len(front) > 5
    assert front.proof.kind is ProofKind.NONDOMINATED


@pytest.mark.slow
def test_the_adaptive_rule_has_more_volume_at_equal_programs_on_a_real_product_line(
    data_folder: Path,
) -> None:
    program = oracles.paper_program(data_folder / PAPER / "moip/parameter_wp1.txt")
    plain = solrep(program, SolRepSettings(40))
    n_points = plain.extras["n_programs"] - 8  # two for each of the four anchors
    adaptive = solrep(program, SolRepSettings(n_points, rule="adaptive"))
    assert adaptive.extras["n_programs"] == plain.extras["n_programs"]

    corners = np.array(plain.extras["anchors"])
    low, high = corners.min(axis=0), corners.max(axis=0)
    shares = [hypervolume(scaled(front.points, low, high), [1.0] * 4) for front in (plain, adaptive)]
    assert shares[1] > 1.05 * shares[0]


def test_relaxations_of_numbers_too_large_for_a_tolerance_bound_what_integers_prove() -> None:
    def relaxed(base: float) -> RelaxedZones:
        objectives = [
            LinearObjective(Objective(name), np.array(costs))
            for name, costs in (("a", [base, base + 1]), ("b", [4.0, 1.0]))
        ]
        program = make_program(
            [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True, objectives=objectives
        )  # fmt: skip
        return RelaxedZones(program, integer_objectives(program), Budget())

    lower, upper = np.array([0, 0]), np.array([10**13, 2])
    assert relaxed(3.0).least(lower, upper) is not None
    least = relaxed(1e9).least(lower, upper)
    assert least is not None
    assert least.tolist() == [10**9 + 1, 0]  # of a: b leaves a third of the first column at most
