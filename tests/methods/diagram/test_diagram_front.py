"""Complete fronts from decision diagrams against trying every assignment."""

import csv
import itertools
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.compilation import compile_diagram
from shortlist.logic.diagram import Diagram
from shortlist.methods.diagram.diagram_front import configurations, diagram_front
from shortlist.methods.diagram.sweep import SweepSettings
from shortlist.products.attribute_files import read_attributes
from shortlist.products.attributes import exact_attribute
from shortlist.products.clauses import to_clauses
from shortlist.products.configuration.question import parse_objectives
from shortlist.products.formats import read_model
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import ProofKind
from shortlist.runs import Cancellation, Progress
from shortlist.runs.budget import Budget
from tests.logic.oracles import clause_sets, models

Costs: TypeAlias = NDArray[np.int64]


@st.composite
def problems(draw: st.DrawFn) -> tuple[Clauses, Costs, NDArray[np.int64]]:
    """Clauses with small integer costs of either sign, so that ties are common; now and then large ones."""
    clauses = draw(clause_sets(most_clauses=14))
    n_objectives = draw(st.integers(1, 5))
    largest = draw(st.sampled_from([1, 2, 5, 100_000]))
    cost = st.integers(-largest, largest)
    row = st.lists(cost, min_size=clauses.n_variables, max_size=clauses.n_variables)
    costs = draw(st.lists(row, min_size=n_objectives, max_size=n_objectives))
    offsets = draw(st.lists(st.integers(-3, 3), min_size=n_objectives, max_size=n_objectives))
    return clauses, np.array(costs), np.array(offsets)


def points_of(clauses: Clauses, costs: Costs, offsets: NDArray[np.int64]) -> list[tuple[int, ...]]:
    """Objective vectors of all models, one per model."""
    return [tuple((costs @ np.array(model) + offsets).tolist()) for model in models(clauses)]


def front_by_hand(points: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    distinct = set(points)
    return sorted(
        p
        for p in distinct
        if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in distinct)
    )


def compiled(clauses: Clauses, seed: int = 0) -> Diagram:
    diagram = compile_diagram(clauses, rng=np.random.default_rng(seed))
    assert diagram is not None
    return diagram


def objectives(n: int) -> list[Objective]:
    return [
        Objective(f"objective {i}", sense=[Sense.MIN, Sense.MAX][i % 2], scale=1 + 9 * (i == 1))
        for i in range(n)
    ]


def names(clauses: Clauses) -> list[str]:
    return [f"x{i}" for i in range(1, clauses.n_variables + 1)]


def found_front(clauses: Clauses, costs: Costs, offsets: NDArray[np.int64], **options: object) -> Front:
    return diagram_front(
        compiled(clauses),
        costs,
        objectives(len(costs)),
        names(clauses),
        offsets=offsets,
        **options,  # type: ignore[arg-type]  # each test passes options of the right types
    )


def as_tuples(front: Front) -> list[tuple[int, ...]]:
    return sorted(tuple(point) for point in front.points.tolist())


@given(problem=problems())
def test_the_front_equals_brute_force_and_every_witness_satisfies_the_clauses(
    problem: tuple[Clauses, Costs, NDArray[np.int64]],
) -> None:
    clauses, costs, offsets = problem
    front = found_front(clauses, costs, offsets)

    assert front.proof.kind is ProofKind.COMPLETE
    assert as_tuples(front) == front_by_hand(points_of(clauses, costs, offsets))
    assert clauses.satisfied(front.decisions).all()
    assert (front.decisions @ costs.T + offsets == front.points).all()


@given(problem=problems())
def test_sets_in_rows_give_the_same_front_as_packed_sets(
    problem: tuple[Clauses, Costs, NDArray[np.int64]],
) -> None:
    clauses, costs, offsets = problem
    packed = found_front(clauses, costs, offsets)
    rows = found_front(clauses, costs, offsets, settings=SweepSettings(packed_bits=-1))

    assert as_tuples(rows) == as_tuples(packed)


@given(problem=problems(), data=st.data())
def test_the_front_depends_on_no_order(
    problem: tuple[Clauses, Costs, NDArray[np.int64]], data: st.DataObject
) -> None:
    clauses, costs, offsets = problem
    n = clauses.n_variables
    variables = data.draw(st.permutations(range(n)))  # variable i becomes variables[i]
    order = data.draw(st.permutations(range(len(costs))))
    moved = Clauses.from_clauses(
        n,
        [[(variables[abs(x) - 1] + 1) * (1 if x > 0 else -1) for x in clause] for clause in clauses],
    )
    again = np.empty_like(costs)
    again[:, variables] = costs
    front = found_front(moved, again[order], offsets[order])

    back = np.argsort(order)
    assert sorted(tuple(point) for point in front.points[:, back].tolist()) == as_tuples(
        found_front(clauses, costs, offsets)
    )


@given(problem=problems(), data=st.data())
def test_configurations_of_a_point_are_all_models_that_have_it(
    problem: tuple[Clauses, Costs, NDArray[np.int64]], data: st.DataObject
) -> None:
    clauses, costs, offsets = problem
    every = points_of(clauses, costs, offsets)
    if not every:
        return
    point = data.draw(st.sampled_from(front_by_hand(every)))
    found = configurations(compiled(clauses), costs, np.array(point), offsets=offsets)

    assert sorted(tuple(model.tolist()) for model in found) == [
        model for model, p in zip(models(clauses), every, strict=True) if p == point
    ]


@given(problem=problems(), data=st.data())
def test_what_a_trimmed_front_lacks_is_within_its_proof(
    problem: tuple[Clauses, Costs, NDArray[np.int64]], data: st.DataObject
) -> None:
    clauses, costs, offsets = problem
    kinds = objectives(len(costs))
    largest = int(np.abs(costs).max()) * 3
    units = [data.draw(st.integers(0, largest)) for _ in kinds]
    tolerance = [unit / (kind.scale or 1) for unit, kind in zip(units, kinds, strict=True)]
    eager = SweepSettings(worth_trimming=1)
    front = found_front(clauses, costs, offsets, tolerance=tolerance, settings=eager)

    assert_covered(front, points_of(clauses, costs, offsets))
    assert front.proof.missing is not None
    assert all(a <= b for a, b in zip(front.proof.missing, tolerance, strict=True))
    assert clauses.satisfied(front.decisions).all()


@given(problem=problems(), max_bytes=st.sampled_from([1, 100, 400]), packed=st.booleans())
def test_a_memory_limit_lowers_the_claim_and_not_the_truth(
    problem: tuple[Clauses, Costs, NDArray[np.int64]], max_bytes: int, packed: bool
) -> None:
    clauses, costs, offsets = problem
    every = points_of(clauses, costs, offsets)
    settings = SweepSettings(max_bytes, packed_bits=62 if packed else -1, few=3)
    front = found_front(clauses, costs, offsets, settings=settings)

    assert_covered(front, every)
    assert clauses.satisfied(front.decisions).all()
    if front.proof.kind is ProofKind.COMPLETE:
        assert as_tuples(front) == front_by_hand(every)
    else:
        assert "GB" in front.proof.limit


def assert_covered(front: Front, every: list[tuple[int, ...]]) -> None:
    """Every model's vector has a true vector in the front that is worse by at most what the proof says."""
    assert front.proof.missing is not None
    scales = [objective.scale or 1 for objective in front.objectives]
    allowed = [round(gap * scale) for gap, scale in zip(front.proof.missing, scales, strict=True)]
    points = as_tuples(front)
    assert set(points) <= set(every)
    for vector in every:
        assert any(
            all(a <= b + gap for a, b, gap in zip(point, vector, allowed, strict=True)) for point in points
        )


def large_problem() -> tuple[Clauses, Costs]:
    """Forty free variables: enough for sets of thousands of vectors."""
    rng = np.random.default_rng(5)
    return Clauses.from_clauses(40, []), np.stack(
        [-np.ones(40, np.int64), rng.integers(1, 100, 40), rng.integers(0, 10, 40)]
    )


def test_sets_thrown_away_for_memory_are_made_again_for_witnesses() -> None:
    clauses, costs = large_problem()
    offsets = np.zeros(3, np.int64)
    plenty = found_front(clauses, costs, offsets)
    little = SweepSettings(8 * (plenty.extras["n_vectors"] // 3))
    tight = found_front(clauses, costs, offsets, settings=little)

    assert tight.proof.kind is ProofKind.COMPLETE
    assert (tight.points == plenty.points).all()
    assert (tight.decisions == plenty.decisions).all()
    assert (tight.decisions @ costs.T == tight.points).all()


def test_a_cancelled_run_answers_with_true_points_and_a_bound() -> None:
    clauses, costs = large_problem()
    cancellation = Cancellation()
    seen: list[Progress] = []

    def report(progress: Progress) -> None:
        seen.append(progress)
        if progress.done > 25:
            cancellation.cancel()

    front = found_front(
        clauses, costs, np.zeros(3, np.int64), budget=Budget(report=report, cancellation=cancellation)
    )
    exact = found_front(clauses, costs, np.zeros(3, np.int64))

    assert front.proof.kind is ProofKind.APPROXIMATE
    assert front.proof.limit == "interrupted"
    assert 0 < len(front) < len(exact)
    assert_covered_by(front, exact)
    assert (front.decisions @ costs.T == front.points).all()
    assert seen[0].total == exact.extras["n_joins"]


def assert_covered_by(front: Front, exact: Front) -> None:
    """Every exact point has one in `front` that is worse by at most what the proof says."""
    assert front.proof.missing is not None
    scales = np.array([objective.scale or 1 for objective in front.objectives])
    allowed = np.rint(np.array(front.proof.missing) * scales).astype(np.int64)
    for point in exact.points:
        assert (front.points <= point + allowed).all(axis=1).any()


def test_a_time_limit_is_named_in_the_proof() -> None:
    clauses, costs = large_problem()
    times = itertools.chain([0.0] * 20, itertools.repeat(50.0))
    whole = Budget(60, clock=lambda: next(times), start=0.0)
    front = found_front(clauses, costs, np.zeros(3, np.int64), budget=whole.until(0.5))

    assert front.proof.limit == "60 s"
    assert front.proof.kind is ProofKind.APPROXIMATE


def test_without_witnesses_the_points_are_the_same() -> None:
    clauses, costs = large_problem()
    front = found_front(clauses, costs, np.zeros(3, np.int64), witnesses=False)

    assert front.candidates == ()
    assert (front.points == found_front(clauses, costs, np.zeros(3, np.int64)).points).all()


def test_contradictory_clauses_have_an_empty_complete_front() -> None:
    front = found_front(Clauses.from_clauses(1, [(1,), (-1,)]), np.array([[1], [2]]), np.zeros(2, np.int64))

    assert len(front) == 0
    assert front.proof.kind is ProofKind.COMPLETE


@pytest.mark.parametrize(
    ("costs", "offsets", "tolerance", "message"),
    [
        pytest.param([[1, 2, 3]], None, None, r"costs must have shape \(n_objectives, 2\)", id="too many variables"),
        pytest.param([[0.5, 1]], None, None, "costs must be integers, got float64", id="real costs"),
        pytest.param([[2**52, 2**52]], None, None, "less than 2\\^53", id="too large"),
        pytest.param([[1, 2]], [1, 2], None, "offsets must be 1 integers", id="too many offsets"),
        pytest.param([[1, 2]], None, [-1.0], "tolerance must be 1 numbers of at least 0", id="negative tolerance"),
        pytest.param([[1, 2], [1, 2]], None, [0.0], "tolerance must be 2 numbers", id="too few tolerances"),
    ],
)  # fmt: skip
def test_input_that_does_not_fit_is_refused(
    costs: list[list[float]], offsets: list[int] | None, tolerance: list[float] | None, message: str
) -> None:
    diagram = compiled(Clauses.from_clauses(2, [(1, 2)]))
    array = np.array(costs)
    with pytest.raises(BadInputError, match=message):
        diagram_front(
            diagram,
            array,
            objectives(len(array)),
            ["a", "b"],
            offsets=None if offsets is None else np.array(offsets),
            tolerance=tolerance,
        )


def test_objectives_and_names_must_fit_too() -> None:
    diagram = compiled(Clauses.from_clauses(2, [(1, 2)]))
    costs = np.array([[1, 2]])
    with pytest.raises(BadInputError, match="objectives must be 1"):
        diagram_front(diagram, costs, objectives(2), ["a", "b"])
    with pytest.raises(BadInputError, match="names must be 2"):
        diagram_front(diagram, costs, objectives(1), ["a"])
    with pytest.raises(BadInputError, match="integer scale"):
        diagram_front(diagram, costs, [Objective("real", scale=None)], ["a", "b"])


def test_a_dominated_point_has_no_configurations() -> None:
    diagram = compiled(Clauses.from_clauses(2, [(1, 2)]))
    with pytest.raises(BadInputError, match="non-dominated vector"):
        next(configurations(diagram, np.array([[1, 2]]), np.array([3])))
    with pytest.raises(BadInputError, match="non-dominated vector"):
        next(configurations(diagram, np.array([[1, 2]]), np.array([-1])))
    with pytest.raises(BadInputError, match="point must have 1 values"):
        next(configurations(diagram, np.array([[1, 2]]), np.array([1, 1])))


def real_front(data_folder: Path, model_name: str, attributes: str, text: str) -> tuple[Front, Clauses]:
    """The complete front of a product line of the ICSE 2018 study."""
    folder = data_folder / "feature-models"
    model = read_model(folder / "splot" / f"{model_name}.sxfm.xml")
    path = folder / "paper-instances" / "attributes" / f"{attributes}.csv"
    table = read_attributes(path, model, renames={"Enrcyption": "Encryption"})
    exact = {name: exact_attribute(table, name, model) for name in ("cost", "defects", "not_used_before")}
    chosen = parse_objectives(text, model, exact)
    clauses = to_clauses(model)
    costs = np.zeros((len(chosen), clauses.n_variables), np.int64)
    costs[:, : model.n_features] = [objective.minimised for objective in chosen]
    offsets = np.array([objective.offset * objective.objective.sign for objective in chosen])
    kinds = [objective.objective for objective in chosen]
    return diagram_front(compiled(clauses), costs, kinds, names(clauses), offsets=offsets), clauses


@pytest.mark.parametrize(
    ("model_name", "attributes"),
    [
        *[("jcs", f"ChatSystem_{kind}") for kind in ("PREDEFINE_ONE", "RAND2", "RAND3", "RAND4")],
        *[("web-portal", f"WebPortal_RAND{i}") for i in range(1, 5)],
    ],
)
def test_reference_fronts_of_real_product_lines_are_found(
    data_folder: Path, model_name: str, attributes: str
) -> None:
    text = "min deselected, min cost, min defects, min not_used_before"
    front, clauses = real_front(data_folder, model_name, attributes, text)
    columns = ("deselected_features", "cost", "defects", "not_used_before")
    reference = data_folder / "feature-models" / "paper-instances" / "reference-fronts" / f"{attributes}.csv"
    with reference.open() as file:
        expected = [
            tuple(
                round(float(row[name]) * (objective.scale or 1))
                for name, objective in zip(columns, front.objectives, strict=True)
            )
            for row in csv.DictReader(file)
        ]

    assert as_tuples(front) == sorted(expected)
    assert clauses.satisfied(front.decisions).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "n_points"),
    [pytest.param(1, 4790, id="attribute set 1"), pytest.param(2, 6091, id="attribute set 2")],
)
def test_three_objectives_of_e_shop_are_complete(data_folder: Path, number: int, n_points: int) -> None:
    text = "min deselected, min defects, min not_used_before"
    front, clauses = real_front(data_folder, "e-shop-paper-2013", f"EShop_RAND{number}", text)

    assert len(front) == n_points
    assert clauses.satisfied(front.decisions).all()
