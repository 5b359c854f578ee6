import functools
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist.errors import BadInputError
from shortlist.multistage.problem.costs import feature_costs
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.problem.stages import compress, has_gaps
from shortlist.multistage.recall import recall
from shortlist.multistage.search._variation import Mutation, mutate_row, normalized_stage
from shortlist.multistage.search.emsco import (
    RULES,
    EmscoGeneration,
    EmscoOptions,
    Scores,
    beta_binomial,
    elite,
    emsco,
    initial_population,
    recombine,
    roulette,
    score,
)
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.multistage.search.stage_objectives import stage_problem
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.foreign_subclassifiers import ForeignSubclassifiers
from shortlist.multistage.subclassifiers.logistic_fits import LogisticSubclassifiers
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits, StageRows
from shortlist.results.proof import ProofKind
from shortlist.runs import Cancellation, Finished, open_study
from shortlist.runs.budget import Budget
from tests.examples import examples
from tests.multistage import oracles
from tests.multistage.strategies import facts, problem_of

OPTIONS = EmscoOptions(population=12, generations=8, patience=None)


def test_recombination_follows_figure_5() -> None:
    parent = np.array([0, 2, 1, 2, 1], dtype=np.int8)

    assert recombine(parent, parent, 2, np.zeros(5)).tolist() == [0, 1, 0, 1, 0]
    other = np.array([1, 0, 0, 1, 0], dtype=np.int8)
    picks = np.array([0.0, 0.9, 0.9, 0.0, 0.9])
    assert recombine(parent, other, 2, picks).tolist() == [0, 0, 0, 1, 0]


@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_a_stage_keeps_its_relative_place(own: int, child: int, data: st.DataObject) -> None:
    stage = data.draw(st.integers(0, own - 1))
    exact = (stage + 1) / own * child

    assert normalized_stage(stage, own, child) == max(0, math.floor(exact + 0.5) - 1)
    assert 0 <= normalized_stage(stage, own, child) < child


@pytest.mark.parametrize("m", range(6))
@pytest.mark.parametrize("beta", [1.0, 2.0, 2.5, 7.0])
def test_the_beta_binomial_has_the_papers_mass_and_mean(m: int, beta: float) -> None:
    mass = np.diff(beta_binomial(m + 1, beta)[m], prepend=0.0)
    gamma = math.gamma
    for j in range(m + 1):
        beta_of = gamma(j + 1) * gamma(m - j + beta) / gamma(m + 1 + beta)
        assert mass[j] == pytest.approx(math.comb(m, j) * beta_of * gamma(1 + beta) / gamma(beta))
    assert mass @ np.arange(m + 1) == pytest.approx(m / (beta + 1))
    assert mass.sum() == pytest.approx(1)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=8),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([0.0, 0.4]),
)
def test_mutation_equals_algorithm_1(stages: list[int], seed: int, rate: float, removal: float) -> None:
    before = compress(stages)
    k = max(3, int(before.max()) + 1)
    rng = np.random.default_rng(seed)
    gates, draws = rng.random(len(before)), rng.random(len(before))
    after = before.copy()
    cumulative = beta_binomial(k, 2.0)
    mutate_row(after, Mutation(k, rate, cumulative, removal), gates, draws)

    plain = before.tolist()
    for i in range(len(plain)):
        if gates[i] <= rate and (plain[i] < 0 or plain.count(plain[i]) > 1):
            last = min(max(plain) + 1, k - 1)
            if draws[i] < removal:
                plain[i] = -1
            else:
                draw = (draws[i] - removal) / (1 - removal)
                plain[i] = sum(draw >= c for c in cumulative[last, :last])
    assert after.tolist() == plain
    assert not has_gaps(after)
    assert after.max() < k


def test_a_new_stage_can_appear_and_the_limit_holds() -> None:
    rows = initial_population(
        6, 3, EmscoOptions(population=200, mutation=0.5, beta=1.0), np.random.default_rng(0)
    )

    assert {int(row.max()) for row in rows} == {0, 1, 2}
    assert not any(has_gaps(row) for row in rows)


@given(facts(), st.integers(1, 3))
def test_selection_prefers_rank_then_norm(known: oracles.Facts, k: int) -> None:
    k = min(k, known.n_features)
    problem = problem_of(known, k)
    assignments = np.array(list(oracles.all_assignments(known.n_features, k)), dtype=np.int8)
    scores = score(problem, problem.measures(assignments))
    chance = np.diff(roulette(scores), prepend=0.0)

    for a in range(len(chance)):
        for b in range(len(chance)):
            if scores.norms[a] == 0 or scores.norms[b] == 0:
                continue
            # Property 2, on logarithms: the probabilities themselves may underflow
            higher = scores.ranks[a] > scores.ranks[b]
            same = scores.ranks[a] == scores.ranks[b]
            if higher or (same and scores.norms[a] > scores.norms[b] * (1 + 1e-12)):
                assert scores.log_fitness[a] > scores.log_fitness[b]
                assert chance[a] >= chance[b] * (1 - 1e-9)
    assert chance.sum() == pytest.approx(1)


@examples(30)
@given(facts(), st.integers(1, 4), st.integers(0, 99), st.sampled_from(["distinct", "paper"]))
def test_what_is_globally_non_dominated_is_never_lost(
    known: oracles.Facts, k: int, seed: int, rules: str
) -> None:
    k = min(k, known.n_features)
    problem = problem_of(known, k)
    truth = {row.tobytes() for row in problem.vectors(enumerate_front(problem).measures)}
    seen: set[bytes] = set()
    chromosomes: set[bytes] = set()
    generations: list[EmscoGeneration] = []

    def note(generation: EmscoGeneration) -> None:
        generations.append(generation)
        now = {row.tobytes() for row in generation.vectors} & truth
        assert seen <= now
        seen.update(now)
        if rules == "paper":  # Property 1: of the chromosomes on the front none is lost either
            rows = zip(generation.assignments, generation.vectors, strict=True)
            held = {row.tobytes() for row, vector in rows if vector.tobytes() in truth}
            assert chromosomes <= held
            chromosomes.update(held)

    result = emsco(
        problem,
        EmscoOptions(population=12, generations=6, patience=None, rules=rules),
        observe=note,
        budget=Budget(seed=seed),
    )
    assert seen <= {row.tobytes() for row in problem.vectors(result.measures)}
    for generation in generations:
        assert len(generation.assignments) == 12
        assert not any(has_gaps(row) for row in generation.assignments)
        assert generation.assignments.max() < k


@examples(30)
@given(facts(), st.integers(1, 3), st.integers(0, 99))
def test_the_fittest_is_non_dominated_and_returned_first(known: oracles.Facts, k: int, seed: int) -> None:
    k = min(k, known.n_features)
    generations: list[EmscoGeneration] = []
    result = emsco(problem_of(known, k), OPTIONS, observe=generations.append, budget=Budget(seed=seed))
    outcomes = [known.outcome(tuple(q.tolist())) for q in result.assignments]

    assert not any(oracles.dominates(b, a) for a in outcomes for b in outcomes)
    assert len({q.tobytes() for q in result.assignments}) == len(outcomes)
    last = generations[-1]  # fitness is relative to its generation (Eq. 5)
    norm_of = {
        row.tobytes(): norm
        for row, norm in zip(last.assignments, score(result.problem, last.measures).norms, strict=True)
    }
    assert (np.diff([norm_of[row.tobytes()] for row in result.assignments]) <= 1e-12).all()
    assert result.front().proof.kind is ProofKind.APPROXIMATE


@given(facts(), st.integers(1, 3), st.sampled_from(["distinct", "paper"]))
def test_the_elite_is_as_large_as_the_paper_says(known: oracles.Facts, k: int, rules: str) -> None:
    k = min(k, known.n_features)
    problem = problem_of(known, k)
    options = EmscoOptions(population=20, generations=0, elitism=0.3, rules=rules)
    seen: list[EmscoGeneration] = []
    emsco(problem, options, observe=seen.append)
    generation = seen[0]
    rows = generation.assignments if rules == "paper" else generation.vectors
    top = generation.scores.ranks == generation.scores.ranks.max()
    unique = len({row.tobytes() for row in rows})
    unique_top = len({row.tobytes() for row in rows[top]})
    chosen = elite(generation, options)

    assert len(chosen) == max(math.ceil(0.3 * unique), unique_top)
    assert len({rows[i].tobytes() for i in chosen}) == len(chosen)


def test_the_number_of_elites_is_that_of_the_decimal_share() -> None:
    vectors = np.arange(100)[:, None]
    scores = Scores(np.zeros(100, dtype=np.int64), np.ones(100), np.zeros(100))
    scores.ranks[0] = 1
    generation = EmscoGeneration(
        0, np.zeros((100, 6), np.int8), np.zeros((100, 7), np.int64), vectors, scores
    )
    assert math.ceil(0.07 * 100) == 8
    assert len(elite(generation, EmscoOptions(elitism=0.07))) == 7


def tied_problem() -> oracles.Facts:
    """One feature alone decides every row rightly, so that all assignments that start with it tie."""
    answers = {}
    for mask in range(1, 64):
        inside = frozenset(i for i in range(6) if mask >> i & 1)
        answers[inside] = ((0 in inside, 0 in inside),) * 3
    return oracles.Facts(6, (0, 1, 1), answers, (0, 1, 1, 1, 1, 1))


def test_the_papers_elite_fills_the_population_where_assignments_tie_and_vectors_do_not() -> None:
    problem = problem_of(tied_problem(), 4)
    options = EmscoOptions(population=10, generations=300, patience=None, mutation=0.3, rules="paper")
    literal = emsco(problem, options, budget=Budget(seed=1))
    vector = emsco(problem, EmscoOptions(population=10, generations=50, patience=None), budget=Budget(seed=1))

    assert literal.facts["stopped"] == "elite fills the population"
    assert literal.front().proof.limit == "elite fills the population"
    assert vector.facts["stopped"] == "generations"
    assert vector.facts["n_generations"] == 50


@pytest.mark.parametrize("rules", RULES)
def test_children_that_were_measured_before_are_mutated_again_but_for_the_papers_rules(rules: str) -> None:
    generations: list[EmscoGeneration] = []
    options = EmscoOptions(population=12, generations=15, patience=None, mutation=0.3, rules=rules)

    emsco(problem_of(tied_problem(), 3), options, observe=generations.append, budget=Budget(seed=3))

    before: set[bytes] = set()
    repeats = 0
    for generation in generations:
        rows = [row.tobytes() for row in generation.assignments]
        repeats += sum(row in before for row in rows)
        before.update(rows)
    n_distinct = len(before)
    if rules == "distinct":
        assert n_distinct > 0.7 * 12 * 15
    else:
        assert n_distinct < 0.7 * 12 * 15
    assert repeats > 0  # the elite goes on unchanged


def test_patience_stops_when_the_fittest_stays() -> None:
    result = emsco(
        problem_of(tied_problem(), 2),
        EmscoOptions(population=30, generations=500, patience=5),
        budget=Budget(seed=0),
    )

    assert result.facts["stopped"] == "patience"
    assert result.facts["n_generations"] < 500


def test_the_same_seed_gives_the_same_answer() -> None:
    problem = problem_of(tied_problem(), 3)
    first, second = (emsco(problem, OPTIONS, budget=Budget(seed=7)) for _ in range(2))

    assert first.assignments.tolist() == second.assignments.tolist()


@pytest.mark.parametrize(
    "options", [OPTIONS, EmscoOptions(population=12, generations=30, patience=4, rules="paper")]
)
def test_a_run_that_is_stopped_again_and_again_ends_where_it_would_have(
    options: EmscoOptions, tmp_path: Path
) -> None:
    problem = problem_of(tied_problem(), 3)
    whole = emsco(problem, options, budget=Budget(seed=7))
    stops: list[str] = []
    with open_study(tmp_path / "s.db") as study:
        while not stops or stops[-1] == "interrupted":
            cancellation, generations = Cancellation(), itertools.count(1)

            def stop(_: EmscoGeneration, ends: Cancellation = cancellation, seen: Any = generations) -> None:
                if next(seen) == 3:
                    ends.cancel()

            budget = Budget(seed=7, cancellation=cancellation, study=study)
            result = emsco(problem, options, observe=stop, budget=budget)
            stops.append(result.facts["stopped"])
    assert len(stops) > 2
    assert (result.assignments.tolist(), result.facts["n_evaluations"]) == (
        whole.assignments.tolist(),
        whole.facts["n_evaluations"],
    )
    assert (result.facts["stopped"], result.facts["n_generations"]) == (
        whole.facts["stopped"],
        whole.facts["n_generations"],
    )


@pytest.mark.parametrize("foreign", [True, False])
def test_of_the_first_generation_those_are_measured_whose_fits_there_was_time_for(foreign: bool) -> None:
    X, y = make_classification(60, 7, n_informative=5, n_redundant=0, random_state=0)
    names = [f"f{i}" for i in range(7)]
    rows = StageRows(learn_encoding(X, names), X[:40], y[:40], X[40:], y[40:], 2)
    fresh: Any = functools.partial(LogisticSubclassifiers, rows, dense=False, work_of_a_unit=1)
    if foreign:
        tree = DecisionTreeClassifier(max_depth=2, random_state=0)
        fresh = functools.partial(ForeignSubclassifiers, rows, tree, dense=False)
    measured = []
    for seconds in (0, 8, 20):
        fits = fresh()
        problem = stage_problem(
            DecisionBits(fits, reject_rule(0.8, rows.fit_labels)), feature_costs(None, names), max_stages=3
        )
        now = itertools.count()  # each look at the clock takes a second
        budget = Budget(seconds, seed=0, clock=functools.partial(next, now))
        result = emsco(problem, EmscoOptions(population=40, generations=5, mutation=1.0), budget=budget)
        assert result.facts["stopped"] == f"{seconds} s"
        assert result.facts["n_generations"] == 0
        measured.append(result.facts["n_evaluations"])
        assert result.measures.tolist() == problem.measures(result.assignments).tolist()
        assert fits.n_fits <= seconds + 3  # a look after every fit; the first assignment has up to 3 subsets
    assert 0 < measured[0] < measured[1] < measured[2] < 40


def test_removal_finds_assignments_without_some_feature() -> None:
    answers = {
        frozenset(i for i in range(3) if m >> i & 1): ((m & 1 == 1, m & 1 == 1), (False, False))
        for m in range(1, 8)
    }
    known = oracles.Facts(3, (0, 1), answers, (1, 5, 5))
    result = emsco(
        problem_of(known, 2, removal=True),
        EmscoOptions(population=20, generations=40, mutation=0.3),
        budget=Budget(seed=0),
    )

    assert result.assignments.tolist() == [[0, -1, -1]]


def test_recall_compares_with_the_complete_front() -> None:
    truth = enumerate_front(problem_of(tied_problem(), 3))
    measured = recall(truth, EmscoOptions(population=30, generations=20, patience=None), seeds=[0, 1])

    assert measured.points.shape == (2, 21)
    assert (np.diff(measured.points, axis=1) >= 0).all()
    assert measured.points[:, -1].tolist() == [1.0, 1.0]
    assert (measured.assignments[:, -1] <= 1).all()


def test_no_curve_of_the_papers_rules_falls_and_those_of_the_other_rules_do() -> None:
    X, y = make_classification(120, 6, n_informative=4, n_redundant=0, random_state=2)
    names = [f"f{i}" for i in range(6)]
    X = np.round(X / 2)  # so that chromosomes tie
    rows = StageRows(learn_encoding(X, names), X[:80], y[:80], X[80:], y[80:], 2)
    rule = reject_rule(0.6, rows.fit_labels)
    problem = stage_problem(
        DecisionBits(LogisticSubclassifiers(rows), rule), feature_costs(None, names), max_stages=3
    )
    truth = enumerate_front(problem)
    falls = {}
    for rules in RULES:
        options = EmscoOptions(population=40, generations=40, patience=None, rules=rules)
        curves = recall(truth, options, seeds=range(8)).assignments
        falls[rules] = int((np.diff(curves, axis=1) < 0).any(axis=1).sum())
        assert curves[:, -1].max() > 0
    assert falls["paper"] == 0
    assert falls["distinct"] > 0


def test_seeds_that_a_study_has_are_not_run_again(tmp_path: Path) -> None:
    truth = enumerate_front(problem_of(tied_problem(), 3))
    options = EmscoOptions(population=30, generations=20, patience=None)
    with open_study(tmp_path / "s.db") as study:
        first = recall(truth, options, seeds=[0], budget=Budget(study=study))
        study.part("recall").record(Finished("1", [[0.0] * 21, [0.5] * 21]))
        both = recall(truth, options, seeds=[0, 1], budget=Budget(study=study))
    assert both.points[0].tolist() == first.points[0].tolist()
    assert (both.points[1].max(), both.assignments[1].min()) == (0.0, 0.5)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"population": 1}, "population must be at least 2"),
        ({"elitism": 1.0}, r"elitism must be in \(0, 1\)"),
        ({"mutation": 1.5}, r"mutation must be in \[0, 1\]"),
        ({"beta": 0.5}, "beta must be at least 1"),
        ({"epsilon": 0.0}, "epsilon must be above 0"),
        ({"rules": "all"}, "rules must be one of"),
        ({"patience": 0}, "patience must be at least 1"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        EmscoOptions(**options)  # type: ignore[arg-type]  # bad on purpose
