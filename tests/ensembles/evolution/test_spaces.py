"""Search spaces: the protocol, and each against its own definition."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from shortlist.ensembles.evolution.evolution import evolve
from shortlist.ensembles.evolution.scored_spaces import (
    CONSTANT,
    END,
    FUNCTIONS,
    GeneticPrograms,
    LinearClassifiers,
    NeuralNetworks,
    subtree_end,
    weighted_sums,
)
from shortlist.ensembles.evolution.settings import EvolutionSettings
from shortlist.ensembles.evolution.spaces import SPACES, RuleSystems, SearchSpace, open_space
from shortlist.export import reader
from tests.layouts import check_rows_stand_alone

ROWS = np.random.default_rng(0).normal(size=(25, 4))


@pytest.fixture(params=sorted(SPACES))
def name(request: Any) -> str:
    return str(request.param)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_operation_returns_new_genomes_of_the_same_kind(name: str, n_classes: int) -> None:
    space, rng = open_space(name, 4, n_classes), np.random.default_rng(1)
    first, second = space.sample(9, rng), space.sample(9, rng)
    first.setflags(write=False)
    second.setflags(write=False)
    before = first.copy(), second.copy()

    for made in (space.mutate(first, rng), space.recombine(first, second, rng)):
        assert made.shape == first.shape
        assert made.dtype == first.dtype
        assert not np.shares_memory(made, first)
        assert not np.array_equal(made, first)
    codes = space.predict(first, ROWS)

    assert codes.shape == (25, 9)
    assert codes.dtype == np.uint8
    assert codes.max() < n_classes
    assert np.array_equal(first, before[0])
    assert np.array_equal(second, before[1])


def test_populations_are_cut_and_joined_like_arrays(name: str) -> None:
    space, rng = open_space(name, 4, 3), np.random.default_rng(2)
    first, second = space.sample(5, rng), space.sample(4, rng)
    codes = space.predict(np.concatenate([first[[3, 1]], second]), ROWS)
    assert np.array_equal(codes[:, :2], space.predict(first, ROWS)[:, [3, 1]])
    assert np.array_equal(codes[:, 2:], space.predict(second, ROWS))


def test_the_same_seed_gives_the_same_genomes(name: str) -> None:
    space = open_space(name, 4, 2)

    def one_step(seed: int) -> Any:
        rng = np.random.default_rng(seed)
        population = space.sample(6, rng)
        return space.mutate(space.recombine(population, population[::-1], rng), rng)

    assert np.array_equal(one_step(3), one_step(3))
    assert not np.array_equal(one_step(3), one_step(4))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_evolution_learns_in_every_space(name: str, n_classes: int) -> None:
    X, y = make_classification(
        150, 4, n_informative=3, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=4
    )
    evolved = evolve(
        open_space(name, 4, n_classes),
        X,
        y,
        EvolutionSettings(mode="single", population_size=40, n_generations=15),
        n_classes=n_classes,
    )
    errors = [generation.best_error for generation in evolved.history]
    assert errors[-1] < errors[0]
    assert evolved.error < 0.75 * (1 - np.bincount(y).max() / len(y))


def test_each_space_keeps_the_protocol(name: str) -> None:
    assert isinstance(open_space(name, 3, 2), SearchSpace)


def test_a_linear_classifier_is_a_sign_or_an_argmax() -> None:
    rng = np.random.default_rng(5)
    one, many = LinearClassifiers(4, 2), LinearClassifiers(4, 3)
    weights = one.sample(3, rng)
    scores = np.array([[w[0, :4] @ row + w[0, 4] for w in weights] for row in ROWS])
    assert np.array_equal(one.predict(weights, ROWS), scores > 0)
    weights = many.sample(3, rng)
    scores = np.array([[w[:, :4] @ row + w[:, 4] for w in weights] for row in ROWS])
    assert np.array_equal(many.predict(weights, ROWS), scores.argmax(axis=2))


def test_blend_crossover_stays_in_the_widened_interval() -> None:
    space, rng = LinearClassifiers(4, 2, blend=0.5), np.random.default_rng(6)
    first, second = space.sample(200, rng), space.sample(200, rng)
    child = space.recombine(first, second, rng)
    low, high = np.minimum(first, second), np.maximum(first, second)
    margin = 0.5 * (high - low) + 1e-5
    assert ((child >= low - margin) & (child <= high + margin)).all()
    assert ((child < low) | (child > high)).any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_network_is_tanh_units_and_their_weighted_sum(n_classes: int) -> None:
    space = NeuralNetworks(4, n_classes, n_hidden=2)
    population = space.sample(3, np.random.default_rng(7))
    n_scores = 1 if n_classes == 2 else 3
    expected = np.empty((25, 3))
    for column, genome in enumerate(population.astype(float)):
        hidden, output = genome[:10].reshape(2, 5), genome[10:].reshape(n_scores, 3)
        for index, row in enumerate(ROWS):
            units = np.tanh(hidden[:, :4] @ row + hidden[:, 4])
            scores = output[:, :2] @ units + output[:, 2]
            expected[index, column] = scores[0] > 0 if n_classes == 2 else scores.argmax()
    assert np.array_equal(space.predict(population, ROWS), expected)


def test_a_childs_hidden_unit_comes_whole_from_one_parent() -> None:
    space, rng = NeuralNetworks(4, 2, n_hidden=3), np.random.default_rng(8)
    first, second = space.sample(50, rng), space.sample(50, rng)
    child = space.recombine(first, second, rng)
    sources = set()
    for unit in range(3):
        genes = [*range(5 * unit, 5 * unit + 5), 15 + unit]
        from_first = (child[:, genes] == first[:, genes]).all(axis=1)
        from_second = (child[:, genes] == second[:, genes]).all(axis=1)
        assert (from_first | from_second).all()
        sources |= {bool(source) for source in from_first}
    assert sources == {True, False}


def test_the_first_rule_that_holds_decides() -> None:
    space = RuleSystems(4, 3)
    systems = space.sample(12, np.random.default_rng(9))
    expected = np.empty((25, 12))
    for column, system in enumerate(systems):
        for index, row in enumerate(ROWS):
            verdict = system["verdict"][-1]
            for rule in range(space.n_rules):
                conditions = zip(
                    system["column"][rule], system["number"][rule], system["sense"][rule], strict=True
                )
                if all(s == 0 or (row[c] > n if s == 1 else row[c] <= n) for c, n, s in conditions):
                    verdict = system["verdict"][rule]
                    break
            expected[index, column] = verdict
    assert np.array_equal(space.predict(systems, ROWS), expected)


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 3))
def test_programs_stay_well_formed_through_any_change(seed: int, n_classes: int) -> None:
    space, rng = GeneticPrograms(4, n_classes, max_length=15), np.random.default_rng(seed)
    population = space.sample(6, rng)
    for _ in range(4):
        population = space.mutate(space.recombine(population, population[::-1], rng), rng)
    for symbols in population["symbols"].reshape(-1, 15).tolist():
        length = symbols.index(END) if END in symbols else 15
        assert subtree_end(symbols, 0) == length
        assert set(symbols[length:]) <= {END}
        assert max(symbols) <= CONSTANT + 4


def test_a_programs_text_evaluates_to_its_answer() -> None:
    space = GeneticPrograms(4, 2, depth=2)
    population = space.sample(80, np.random.default_rng(10))
    codes = space.predict(population, ROWS)
    plain = 0
    for column, program in enumerate(population):
        (text,) = space.shown(program)
        if any(word in text for word in ("/", "min", "max")):
            continue  # Python has no such operators between its arguments
        plain += "(" in text
        for index, row in enumerate(ROWS):
            value = eval(text, {f"x{j}": row[j] for j in range(4)})
            assert abs(value) < 0.01 or codes[index, column] == (value > 0)  # constants are shown rounded
    assert plain > 5


def test_protected_functions_never_warn_or_answer_nan() -> None:
    space = GeneticPrograms(1, 2, max_length=63, depth=5)
    population = space.sample(50, np.random.default_rng(11))
    assert len(FUNCTIONS) == CONSTANT
    codes = space.predict(population, np.array([[0.0], [1e300], [-1e300], [1e-300]]))
    assert set(np.unique(codes)) <= {0, 1}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_class_of_a_row_depends_on_no_other_row_and_no_other_individual(
    name: str, n_classes: int
) -> None:
    # scores that are 0 but for rounding: every column has a twin, and every weight its opposite
    rng = np.random.default_rng(11)
    X = np.tile(rng.normal(size=(40, 6)), 2)
    space = open_space(name, 12, n_classes)
    population = space.sample(30, rng)
    if isinstance(space, LinearClassifiers):
        population[..., 6:12] = -population[..., :6]
        population[..., 12] = 0
    elif isinstance(space, NeuralNetworks):
        hidden, output = space.layers(population)
        hidden[..., 6:12] = -hidden[..., :6]
        hidden[..., 12] = 0
        output[..., -1] = 0
    check_rows_stand_alone(lambda batch: space.predict(population, batch), X)
    codes = space.predict(population, X)
    for start, size in itertools.product(range(30), (1, 2, 3, 5)):
        some = slice(start, start + size)
        assert np.array_equal(space.predict(population[some], X), codes[:, some])


def test_weighted_sums_are_those_of_a_policy() -> None:
    rng = np.random.default_rng(12)
    X, weights = rng.normal(size=(30, 9)), rng.normal(size=(5, 10)).astype(np.float32)
    model = {"kind": "linear", "weights": weights[:, :-1].tolist(), "intercepts": weights[:, -1].tolist()}
    expected = [reader._raw(model, reader._in_single(row)) for row in X.tolist()]
    assert weighted_sums(X, weights).tolist() == expected
