"""IBEA and SATIBEA: kernels against plain twins, and the rules of every run."""

import dataclasses
import functools
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver
from shortlist.products import read_attributes, read_model
from shortlist.products.attributes import exact_attribute
from shortlist.products.clauses import to_clauses
from shortlist.products.configuration.question import parse_objectives
from shortlist.results.objective import Objective
from shortlist.results.proof import ProofKind
from shortlist.runs.budget import Budget, Progress
from shortlist.runs.cancellation import Cancellation
from shortlist_papers.product_evolution import _kernels as kernels
from shortlist_papers.product_evolution.ibea import Ibea, Ibed, Improvement
from shortlist_papers.product_evolution.variation import Evolution, EvolvedProblem, evolve, repaired
from tests.examples import examples
from tests.shortlist_papers.product_evolution import evolution_oracles as oracles

ibea, ibed = functools.partial(evolve, Ibea), functools.partial(evolve, Ibed)
N = 6
literal = st.integers(1, N).flatmap(lambda v: st.sampled_from([v, -v]))
clause_lists = st.lists(st.lists(literal, min_size=1, max_size=4), max_size=8)
selections = st.lists(st.integers(0, 1), min_size=N, max_size=N)
points = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n), min_size=2, max_size=12)
)
COSTS = [[-1, -1, -1, -1, -1, -1], [3, 1, 4, 1, 5, 9]]
GOALS = [Objective("left out"), Objective("price")]
NAMES = "abcdef"
SHOP = Clauses.from_clauses(N, [(1,), (-2, 3), (-4, -5), (2, 4, 6)])


def bits(values: list[list[int]]) -> np.ndarray:
    return np.array(values, dtype=np.uint8).reshape(len(values), -1)


@given(listed=clause_lists, rows=st.lists(selections, min_size=1, max_size=5))
def test_evaluation_agrees_with_its_twin(listed: list[list[int]], rows: list[list[int]]) -> None:
    clauses = Clauses.from_clauses(N, listed)
    found = np.ones((len(rows), 3), dtype=np.int64)

    kernels.evaluate_selections(
        bits(rows),
        kernels.ClauseLists(clauses.literals, clauses.offsets),
        np.ascontiguousarray(np.array(COSTS).T),
        found,
    )

    assert found.tolist() == [oracles.point(row, listed, COSTS) for row in rows]


@given(
    listed=clause_lists, row=selections, seed=st.integers(0, 2**32), error_rate=st.sampled_from([0, 0.5, 1])
)
def test_feedback_directed_mutation_agrees_with_its_twin(
    listed: list[list[int]], row: list[int], seed: int, error_rate: float
) -> None:
    clauses = Clauses.from_clauses(N, listed)
    mutated, marks = bits([row])[0], np.zeros(N, dtype=np.uint8)

    kernels.mutate_with_feedback(
        mutated,
        kernels.ClauseLists(clauses.literals, clauses.offsets),
        marks,
        error_rate,
        0.25,
        np.array([seed], dtype=np.uint64),
    )

    assert mutated.tolist() == oracles.mutated(row, listed, error_rate, 0.25, oracles.uniforms(seed))
    assert not marks.any()


@given(listed=clause_lists, row=selections)
def test_a_product_is_never_changed_without_other_mutation(listed: list[list[int]], row: list[int]) -> None:
    clauses = Clauses.from_clauses(N, listed)
    if oracles.violated(row, listed):
        return
    mutated, marks = bits([row])[0], np.zeros(N, dtype=np.uint8)
    kernels.mutate_with_feedback(
        mutated,
        kernels.ClauseLists(clauses.literals, clauses.offsets),
        marks,
        1.0,
        0.0,
        np.array([1], dtype=np.uint64),
    )

    assert mutated.tolist() == row


@pytest.mark.parametrize("seed", range(8))
def test_equal_points_have_the_same_fitness_to_the_last_bit_and_the_last_of_them_goes_first(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 50, (40, 3))[rng.integers(0, 40, 90)]
    _, number = np.unique(rows, axis=0, return_inverse=True)
    for n_kept in (90, 60, 30):
        kept, fitness = np.empty(n_kept, dtype=np.int64), np.empty(90)
        kernels.select_by_indicator(rows, 0.05, n_kept, kept, fitness)
        for one in range(number.max() + 1):
            alike = np.flatnonzero(number == one)
            stayed = np.isin(alike, kept)
            assert len(set(fitness[alike][stayed].tolist())) <= 1
            assert (np.diff(stayed.astype(int)) <= 0).all()


@given(rows=points, data=st.data())
def test_fitness_and_selection_agree_with_their_twin(rows: list[list[int]], data: st.DataObject) -> None:
    n_kept = data.draw(st.integers(1, len(rows)))
    kept, fitness = np.empty(n_kept, dtype=np.int64), np.empty(len(rows))

    kernels.select_by_indicator(np.array(rows), 0.05, n_kept, kept, fitness)

    loss, members = oracles.losses(rows, 0.05), frozenset(kept.tolist())
    expected = oracles.fitness_among(members, loss)
    assert members in oracles.selections(rows, 0.05, n_kept)
    for i in members:
        assert fitness[i] == pytest.approx(expected[i], rel=1e-9, abs=2 * oracles.rounding(loss, len(rows)))
    assert (np.flatnonzero(fitness > -np.inf) == kept).all()


def test_fitness_of_two_points_is_the_closed_form() -> None:
    kept, fitness = np.empty(2, dtype=np.int64), np.empty(2)
    kernels.select_by_indicator(np.array([[0, 2], [4, 0]]), 0.05, 2, kept, fitness)

    assert fitness == pytest.approx([-np.exp(-1 / 0.05)] * 2)


@pytest.mark.parametrize(
    ("repair", "improve"), [(0.0, False), (0.5, False), (0.5, True)], ids=["IBEA", "SATIBEA", "SMTIBEA"]
)
@pytest.mark.parametrize("valid_first", [False, True], ids=["as the study", "valid first"])
def test_a_small_model_is_solved_and_every_member_of_the_front_is_a_product(
    repair: float, *, improve: bool, valid_first: bool
) -> None:
    few = Evolution(n_evaluations=3000, population_size=30, mutation=0.05, valid_first=valid_first)
    own = dataclasses.replace(few, repair=repair, improve=improve)
    front = ibea(SHOP, COSTS, GOALS, NAMES, offsets=[N, 0], settings=own)
    products = [row for row in itertools.product([0, 1], repeat=N) if not oracles.violated(row, list(SHOP))]
    vectors = {tuple(oracles.point(row, [], COSTS)[1:]) for row in products}
    best = {
        (a + N, b) for a, b in vectors if not any((c, d) != (a, b) and c <= a and d <= b for c, d in vectors)
    }

    assert set(map(tuple, front.points.tolist())) == best
    assert SHOP.satisfied(front.decisions.astype(bool)).all()
    assert front.proof.kind is ProofKind.APPROXIMATE
    assert front.extras["n_evaluations"] == 3000
    assert 0 < front.extras["correctness"] <= 1


def test_the_same_seed_gives_the_same_front_and_another_may_not() -> None:
    few = Evolution(n_evaluations=300, population_size=10)
    runs = [
        ibea(
            SHOP, COSTS, GOALS, NAMES, settings=dataclasses.replace(few, repair=0.2), budget=Budget(seed=seed)
        )
        for seed in (4, 4)
    ]

    assert np.array_equal(runs[0].decisions, runs[1].decisions)


def test_seeds_are_in_the_first_population() -> None:
    problem = EvolvedProblem(SHOP, np.array(COSTS))
    seed = np.array([[1, 1, 1, 0, 1, 0]], dtype=bool)
    population = problem.first_population(5, seed, np.random.default_rng(0))

    assert problem.presolved.restore(population.astype(bool))[0].tolist() == seed[0].tolist()


@given(listed=clause_lists, row=selections)
def test_repair_gives_a_product_and_leaves_a_product_alone(listed: list[list[int]], row: list[int]) -> None:
    clauses = Clauses.from_clauses(N, listed)
    if not SatSolver(clauses).solve().satisfiable:
        return
    result = repaired(SatSolver(clauses), np.array(row, dtype=np.uint8))

    assert not oracles.violated(result.tolist(), listed)
    if not oracles.violated(row, listed):
        assert result.tolist() == row


@examples(40)
@given(listed=clause_lists, row=selections)
def test_an_improvement_is_a_product_that_is_no_worse_wherever_there_is_one(
    listed: list[list[int]], row: list[int]
) -> None:
    clauses = Clauses.from_clauses(N, listed)
    if not SatSolver(clauses).solve().satisfiable:
        return
    problem = EvolvedProblem(clauses, np.array(COSTS))
    if not problem.n_variables:
        return
    start = np.array(row[: problem.n_variables], dtype=np.uint8)
    found = Improvement(problem, Budget())(start)
    small, costs = problem.presolved.clauses, problem.own_costs
    every = np.array(list(itertools.product([0, 1], repeat=problem.n_variables)), dtype=np.uint8)
    products = every[small.satisfied(every.astype(bool))].astype(int)
    most = start.astype(int) @ costs

    assert small.satisfied(found[None].astype(bool)).all()
    if (products @ costs <= most).all(axis=1).any():
        assert (found.astype(int) @ costs <= most).all()


def test_progress_has_a_total_and_cancelling_keeps_what_there_is() -> None:
    cancellation, events = Cancellation(), list[Progress]()

    def report(event: Progress) -> None:
        events.append(event)
        if event.done >= 200:
            cancellation.cancel()

    few = Evolution(n_evaluations=5000, population_size=50)
    front = ibea(
        SHOP, COSTS, GOALS, NAMES, settings=few, budget=Budget(report=report, cancellation=cancellation)
    )

    assert front.proof.limit == "interrupted"
    assert front.extras["n_evaluations"] == 200
    assert {event.total for event in events} == {5000}


@examples(10)
@given(listed=clause_lists, seed=st.integers(0, 3))
def test_any_clauses_are_evolved_or_refused(listed: list[list[int]], seed: int) -> None:
    clauses = Clauses.from_clauses(N, listed)
    few = Evolution(n_evaluations=60, population_size=10)
    if not SatSolver(clauses).solve().satisfiable:
        with pytest.raises(BadInputError, match="must have a model"):
            ibea(clauses, COSTS, GOALS, NAMES, settings=few)
        return
    front = ibea(
        clauses, COSTS, GOALS, NAMES, settings=dataclasses.replace(few, repair=1.0), budget=Budget(seed=seed)
    )

    assert front.extras["correctness"] > 0
    assert clauses.satisfied(front.decisions.astype(bool)).all()


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(BadInputError, match="costs must be integers of shape"):
        ibea(SHOP, [[1, 2]], GOALS, NAMES)
    with pytest.raises(BadInputError, match="objectives must be 2"):
        ibea(SHOP, COSTS, GOALS[:1], NAMES)
    with pytest.raises(BadInputError, match="seeds must be products"):
        ibea(SHOP, COSTS, GOALS, NAMES, seeds=[[0] * N])
    with pytest.raises(BadInputError, match="repair must be a share"):
        Evolution(repair=2)
    with pytest.raises(BadInputError, match="improve needs a share of offspring to repair, got `repair=0`"):
        Evolution(improve=True)
    with pytest.raises(BadInputError, match="kappa must be above 0"):
        Evolution(kappa=0)
    with pytest.raises(BadInputError, match="crossover must be a probability"):
        Evolution(crossover=1.5)


PAPER = "feature-models/paper-instances"
IBED_SHOP = Clauses.from_clauses(6, [(1,), (-2, 3), (-4, -5), (2, 4, 6)])


def test_the_same_seed_gives_the_same_products() -> None:
    few = Evolution(n_evaluations=410, population_size=20)
    runs = [ibed(IBED_SHOP, COSTS, GOALS, "abcdef", settings=few, budget=Budget(seed=7)) for _ in range(2)]

    assert np.array_equal(runs[0].decisions, runs[1].decisions)
    assert runs[0].proof.kind is ProofKind.APPROXIMATE
    assert runs[0].extras["n_evaluations"] == 410
    assert IBED_SHOP.satisfied(runs[0].decisions.astype(bool)).all()
    assert len(runs[0]) > 0


def test_points_are_the_costs_of_the_products() -> None:
    few = Evolution(n_evaluations=600, population_size=20)
    front = ibed(IBED_SHOP, COSTS, GOALS, "abcdef", offsets=[6, 0], settings=few)

    assert np.array_equal(front.points, front.decisions.astype(int) @ np.array(COSTS).T + [6, 0])


def test_wrong_rates_are_named() -> None:
    with pytest.raises(BadInputError, match="differential_weight must be a probability"):
        Evolution(differential_weight=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model_name", "attributes", "least_share"),
    [("jcs", "ChatSystem_PREDEFINE_ONE", 0.7), ("web-portal", "WebPortal_RAND1", 0.04)],
)
def test_real_product_lines_are_evolved_to_products_and_much_of_the_front(
    data_folder: Path, model_name: str, attributes: str, least_share: float
) -> None:
    model = read_model(data_folder / "feature-models" / "splot" / f"{model_name}.sxfm.xml")
    table = read_attributes(
        data_folder / PAPER / "attributes" / f"{attributes}.csv", model, renames={"Enrcyption": "Encryption"}
    )
    exact = {name: exact_attribute(table, name, model) for name in ("cost", "defects", "not_used_before")}
    goals = parse_objectives("min deselected, min not_used_before, min defects, min cost", model, exact)
    path = data_folder / PAPER / "reference-fronts" / f"{attributes}.csv"
    rows = np.genfromtxt(path, delimiter=",", names=True)
    columns = ("deselected_features", "not_used_before", "defects", "cost")
    scales = [goal.objective.scale or 1 for goal in goals]
    complete = {
        tuple(np.rint(np.array([row[name] for name in columns]) * scales).astype(int).tolist())
        for row in rows
    }
    front = ibed(
        to_clauses(model),
        np.array([goal.minimised for goal in goals]),
        [goal.objective for goal in goals],
        model.labels,
        offsets=[goal.offset * goal.objective.sign for goal in goals],
        settings=Evolution(n_evaluations=25_000),
        budget=Budget(seed=1),
    )

    assert front.extras["correctness"] >= 0.98
    assert len(complete & set(map(tuple, front.points.tolist()))) >= least_share * len(complete)
