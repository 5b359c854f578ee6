"""Decision diagrams: compiling, counting, drawing, listing."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.compilation import compile_diagram
from shortlist.logic.diagram import Diagram, least_sums, n_models_with
from shortlist.products.clauses import to_clauses
from shortlist.products.formats import read_model
from tests.examples import examples
from tests.logic.oracles import all_assignments, clause_sets, models


def compiled(clauses: Clauses) -> Diagram:
    diagram = compile_diagram(clauses)
    assert diagram is not None
    return diagram


@given(clauses=clause_sets())
def test_a_diagram_has_the_models_of_its_clauses(clauses: Clauses) -> None:
    diagram = compiled(clauses)
    everything = models(clauses)
    assignments = all_assignments(clauses.n_variables)

    assert diagram.n_models == len(everything)
    assert sorted(tuple(model.tolist()) for model in diagram.models()) == everything
    assert diagram.evaluate(assignments).tolist() == clauses.satisfied(assignments).tolist()
    assert diagram.commonality() == [
        sum(model[v] for model in everything) for v in range(clauses.n_variables)
    ]


@given(clauses=clause_sets())
def test_nodes_are_numbered_from_the_bottom_and_none_is_redundant(clauses: Clauses) -> None:
    diagram = compiled(clauses)
    inner = np.arange(2, diagram.n_nodes)
    low, high = diagram.low[inner], diagram.high[inner]

    assert (low < inner).all()
    assert (high < inner).all()
    assert (low != high).all()
    assert (diagram.levels[low] > diagram.levels[inner]).all()
    assert (diagram.levels[high] > diagram.levels[inner]).all()
    assert len(set(zip(diagram.levels[inner], low, high, strict=True))) == len(inner)


@given(clauses=clause_sets(), seed=st.integers(0, 3))
def test_drawn_models_are_models_and_repeat_with_the_seed(clauses: Clauses, seed: int) -> None:
    diagram = compiled(clauses)
    if not diagram.n_models:
        with pytest.raises(BadInputError, match="contradictory clauses"):
            diagram.sample(1, rng=np.random.default_rng(seed))
        return
    drawn = diagram.sample(20, rng=np.random.default_rng(seed))

    assert clauses.satisfied(drawn).all()
    assert (drawn == diagram.sample(20, rng=np.random.default_rng(seed))).all()


def test_every_model_is_drawn_about_equally_often() -> None:
    diagram = compiled(Clauses.from_clauses(4, [(-1, 2), (2, 3, 4)]))
    drawn = diagram.sample(5000, rng=np.random.default_rng(0))
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    expected = 5000 / diagram.n_models

    assert len(counts) == diagram.n_models
    # chi-square with 10 degrees of freedom exceeds 29.6 once in a thousand
    assert ((counts - expected) ** 2 / expected).sum() < 29.6


def test_variables_in_no_clause_double_the_count() -> None:
    assert compiled(Clauses.from_clauses(102, [(1, 2)])).n_models == 3 * 2**100


def test_a_model_number_out_of_range_is_refused() -> None:
    with pytest.raises(BadInputError, match="below the number of models, 3, got 3"):
        compiled(Clauses.from_clauses(2, [(1, 2)])).model(3)


def test_a_diagram_beyond_the_budget_is_none() -> None:
    rng = np.random.default_rng(0)
    rows = [(rng.choice(60, 3, replace=False) + 1) * rng.choice([-1, 1], 3) for _ in range(120)]
    hard = Clauses.from_clauses(60, [row.tolist() for row in rows])

    assert compile_diagram(hard, max_nodes=200, n_starts=2) is None


@pytest.mark.parametrize(
    ("name", "n_products"),
    [pytest.param("jcs", 96, id="JCS"), pytest.param("web-portal", 2_120_800, id="Web Portal")],
)
def test_products_of_real_models_are_counted(data_folder: Path, name: str, n_products: int) -> None:
    model = read_model(data_folder / "feature-models" / "splot" / f"{name}.sxfm.xml")

    assert compiled(to_clauses(model)).n_models == n_products


@st.composite
def questions(draw: st.DrawFn) -> tuple[Clauses, list[int], list[list[int]]]:
    n = draw(st.integers(1, 6))
    literal = st.integers(1, n).flatmap(lambda v: st.sampled_from([v, -v]))
    listed = draw(st.lists(st.lists(literal, min_size=1, max_size=3), max_size=7))
    literals = draw(st.lists(literal, max_size=3))
    costs = draw(st.lists(st.lists(st.integers(-9, 9), min_size=n, max_size=n), max_size=2))
    return Clauses.from_clauses(n, listed), literals, costs


@given(question=questions())
@examples(80)
def test_counts_and_sums_are_those_of_all_models_with_the_literals(
    question: tuple[Clauses, list[int], list[list[int]]],
) -> None:
    clauses, literals, costs = question
    every = np.array(list(product((False, True), repeat=clauses.n_variables)))
    kept = every[clauses.satisfied(every)]
    for literal in literals:
        kept = kept[kept[:, abs(literal) - 1] == (literal > 0)]
    diagram = compile_diagram(clauses)
    assert diagram is not None
    assert n_models_with(diagram, literals) == len(kept)
    rows = np.array(costs, dtype=np.int64).reshape(-1, clauses.n_variables)
    expected = tuple((kept @ rows.T).min(axis=0).tolist()) if len(kept) else None
    assert least_sums(diagram, rows, literals) == expected


def test_numbers_near_two_to_the_53_stay_exact() -> None:
    diagram = compile_diagram(Clauses.from_clauses(3, [(1, 2)]))
    assert diagram is not None
    large = 2**52 - 5
    assert least_sums(diagram, np.array([[large, large + 1, -3], [-large, 1, 3]]), [1]) == (large - 3, -large)


def test_bad_arguments_are_told() -> None:
    diagram = compile_diagram(Clauses.from_clauses(2, [(1, 2)]))
    assert diagram is not None
    with pytest.raises(BadInputError, match="literals must name variables 1 to 2, got 3"):
        n_models_with(diagram, [3])
    with pytest.raises(BadInputError, match=r"costs must have shape \(n_rows, 2\), got \(1, 3\)"):
        least_sums(diagram, np.zeros((1, 3), dtype=np.int64))
