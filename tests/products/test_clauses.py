"""Clauses and inequalities: the same products as the model, and each of them once."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.milp.program import LinearObjective, Program
from shortlist.products import FeatureModel, clauses, cnf
from shortlist.products.clauses import to_clauses, traced_clauses
from shortlist.products.formulas import And, Formula, Iff, Implies, Linear, Literal, Or
from shortlist.products.inequalities import to_program
from shortlist.products.model import make_group, make_model
from shortlist.products.rules import are_valid
from shortlist.results.objective import Objective
from tests.examples import examples
from tests.products import oracles, strategies


@pytest.fixture(scope="class", params=[1, 256], ids=["definitions everywhere", "distribution"])
def limits(request: pytest.FixtureRequest) -> cnf.ClauseLimits:
    return cnf.ClauseLimits(distribution=request.param)


def n_extensions(clauses: Clauses, selected: tuple[bool, ...]) -> int:
    """Count the solutions that agree with `selected` on the features, by plain backtracking."""
    start = [list(clause) for clause in clauses]
    fixed = [i if s else -i for i, s in enumerate(selected, start=1)]

    def count(rest: list[list[int]], literals: list[int], free: set[int]) -> int:
        literals = list(literals)
        done: set[int] = set()
        while literals:
            literal = literals.pop()
            if -literal in done:
                return 0
            done.add(literal)
            rest = [[v for v in clause if v != -literal] for clause in rest if literal not in clause]
            free = free - {abs(literal)}
            if [] in rest:
                return 0
            literals += [clause[0] for clause in rest if len(clause) == 1]
        if not rest:
            return int(2 ** len(free))
        branch = abs(rest[0][0])
        return count(rest, [branch], free) + count(rest, [-branch], free)

    return count(start, fixed, set(range(1, clauses.n_variables + 1)))


@given(model=strategies.models(max_features=6))
@examples(25)
def test_every_product_is_one_solution_and_nothing_else_is(
    limits: cnf.ClauseLimits, model: FeatureModel
) -> None:
    clauses = to_clauses(model, limits)
    for selected in oracles.configurations(model.n_features):
        assert n_extensions(clauses, selected) == oracles.is_product(model, selected)


@given(model=strategies.models(max_features=9, linear=False, trees_only=True))
@examples(25)
def test_trees_and_simple_constraints_need_no_auxiliary_variables(model: FeatureModel) -> None:
    clauses = to_clauses(model)
    assert clauses.n_variables == model.n_features
    configurations = np.array(oracles.configurations(model.n_features))
    expected = [oracles.is_product(model, tuple(c)) for c in configurations.tolist()]
    assert clauses.satisfied(configurations).tolist() == expected


@given(model=strategies.models(max_features=5))
@examples(25)
def test_a_broken_clause_names_a_broken_rule(model: FeatureModel) -> None:
    traced = traced_clauses(model)
    assert len(traced.rules) == traced.clauses.n_clauses
    assert (np.diff(traced.rules[traced.rules >= 0]) >= 0).all()
    for rule in set(traced.rules[traced.rules >= 0].tolist()):
        kept = [c for c, r in zip(traced.clauses, traced.rules.tolist(), strict=True) if r in {-1, rule}]
        alone = Clauses.from_clauses(traced.clauses.n_variables, kept)
        only = make_one_rule(model, rule)
        for selected in oracles.configurations(model.n_features):
            assert (n_extensions(alone, selected) > 0) == oracles.is_product(only, selected)


def make_one_rule(model: FeatureModel, rule: int) -> FeatureModel:
    """Return a model with one of the rules only; a group stays a formula without its tree."""
    names = model.names
    if model.root is not None:
        if rule == 0:
            return make_model(names, constraints=[Literal(model.root + 1)])
        rule -= 1
    if rule < len(model.groups):
        group = model.groups[rule]
        ones = (1,) * len(group.children)
        members = tuple(child + 1 for child in group.children)
        counts = And(
            (
                Linear(ones, members, group.upper),
                Linear(tuple(-c for c in ones), members, -group.lower),
            )
        )
        none = Linear(ones, members, 0)
        parent = Literal(group.parent + 1)
        return make_model(names, constraints=[Implies(parent, counts), Or((parent, none))])
    rule -= len(model.groups)
    if rule < len(model.constraints):
        return make_model(names, constraints=[model.constraints[rule]])
    assert model.clauses is not None
    clause = list(model.clauses)[rule - len(model.constraints)]
    return make_model(names, clauses=Clauses.from_clauses(len(names), [clause]))


@given(comparison=strategies.comparisons(4))
def test_a_comparison_becomes_a_literal_that_is_true_where_it_holds(comparison: Linear) -> None:
    definitions = cnf.Definitions(4)
    literal = clauses.linear_literal(comparison, definitions)
    for selected in oracles.configurations(4):
        truth = oracles.truth(comparison, selected)
        if isinstance(literal, bool):
            assert truth is literal
        else:
            with_truth = [*definitions.clauses, (literal if truth else -literal,)]
            against = [*definitions.clauses, (-literal if truth else literal,)]
            assert n_extensions(Clauses.from_clauses(definitions.n_variables, with_truth), selected) == 1
            assert n_extensions(Clauses.from_clauses(definitions.n_variables, against), selected) == 0


def test_equal_coefficients_share_their_nodes() -> None:
    definitions = cnf.Definitions(100)
    clauses.linear_literal(Linear((1,) * 100, tuple(range(1, 101)), 10), definitions)
    assert len(definitions.clauses) < 100 * 11 * 4


def test_a_comparison_that_is_too_hard_says_so() -> None:
    factors = tuple(2**i + 1 for i in range(12))
    model = make_model([f"F{i}" for i in range(12)], constraints=[Linear(factors, tuple(range(1, 13)), 2000)])
    with pytest.raises(BadInputError, match="more than 5 auxiliary variables"):
        to_clauses(model, cnf.ClauseLimits(diagram_nodes=5))


def test_nested_equivalences_do_not_explode() -> None:
    formula: Formula = Literal(1)
    for variable in range(2, 31):
        formula = Iff(formula, Literal(variable))
    clauses = to_clauses(make_model([f"F{i}" for i in range(30)], constraints=[formula]))
    assert clauses.n_clauses < 400
    rng = np.random.default_rng(0)
    for _ in range(5):
        selected = tuple(bool(x) for x in rng.integers(0, 2, 30))
        assert n_extensions(clauses, selected) == oracles.truth(formula, selected)


def _points(program: Program, n_features: int) -> set[tuple[bool, ...]]:
    """Return the integer points, cut to the features, by trying all."""
    n_auxiliary = program.n_columns - n_features
    found: set[tuple[bool, ...]] = set()
    selections = np.array(oracles.configurations(n_features), dtype=np.float64)
    for extra in itertools.product((0.0, 1.0), repeat=n_auxiliary):
        points = np.hstack([selections, np.tile(extra, (len(selections), 1))])
        activity = points @ program.rows.toarray().T
        inside = (activity >= program.row_lower).all(axis=1) & (activity <= program.row_upper).all(axis=1)
        inside &= ((points >= program.column_lower) & (points <= program.column_upper)).all(axis=1)
        new = {tuple(bool(x) for x in s) for s in selections[inside]}
        assert not new & found, "a product is one point"
        found |= new
    return found


@given(model=strategies.models(max_features=14, linear=False, trees_only=True))
@examples(25)
def test_the_integer_points_of_trees_and_constraints_are_exactly_the_products(model: FeatureModel) -> None:
    program = to_program(model)
    assert program.n_columns == model.n_features
    selections = np.array(oracles.configurations(model.n_features), dtype=np.float64)
    activity = selections @ program.rows.toarray().T
    inside = (activity >= program.row_lower).all(axis=1) & (activity <= program.row_upper).all(axis=1)
    inside &= ((selections >= program.column_lower) & (selections <= program.column_upper)).all(axis=1)
    sample = np.random.default_rng(0).permutation(len(selections))[:500]
    expected = [oracles.is_product(model, tuple(bool(x) for x in selections[i])) for i in sample]
    assert inside[sample].tolist() == expected
    np.testing.assert_array_equal(inside, are_valid(model, selections))


@given(model=strategies.models(max_features=6))
@examples(25)
def test_the_integer_points_of_any_model_are_exactly_the_products(
    limits: cnf.ClauseLimits, model: FeatureModel
) -> None:
    program = to_program(model, limits=limits)
    assume(program.n_columns <= model.n_features + 7)
    assert _points(program, model.n_features) == set(oracles.products(model))


@given(model=strategies.models(max_features=5), data=st.data())
@examples(25)
def test_fixed_features_keep_exactly_the_products_that_agree(
    model: FeatureModel, data: st.DataObject
) -> None:
    signs = data.draw(
        st.lists(st.sampled_from([-1, 0, 1]), min_size=model.n_features, max_size=model.n_features)
    )
    fixed = [sign * (i + 1) for i, sign in enumerate(signs) if sign]
    program = to_program(model, fixed=fixed)
    assume(program.n_columns <= model.n_features + 6)
    agreeing = {p for p in oracles.products(model) if all(p[abs(v) - 1] == (v > 0) for v in fixed)}
    assert _points(program, model.n_features) == agreeing


def test_the_lemmas_give_these_rows() -> None:
    model = make_model(
        list("ABCDEFGH"),
        root=0,
        groups=[
            make_group(0, [1], "mandatory"),
            make_group(0, [2], "optional"),
            make_group(1, [3, 4], "or"),
            make_group(2, [5, 6, 7], "alternative"),
        ],
        constraints=[
            Implies(Literal(4), Literal(6)),
            Iff(Literal(5), Literal(7)),
            Or((Literal(-4), Literal(-8))),
        ],
    )
    program = to_program(model)
    rows = {
        (tuple(row), low, high)
        for row, low, high in zip(
            program.rows.toarray().astype(int).tolist(), program.row_lower, program.row_upper, strict=True
        )
    }
    inf = np.inf
    assert rows == {
        ((-1, 1, 0, 0, 0, 0, 0, 0), 0, 0),  # Lemma 3.2
        ((1, 0, -1, 0, 0, 0, 0, 0), 0, inf),  # Lemma 3.1
        ((0, 1, 0, -1, 0, 0, 0, 0), 0, inf),  # Lemma 3.3
        ((0, 1, 0, 0, -1, 0, 0, 0), 0, inf),
        ((0, -1, 0, 1, 1, 0, 0, 0), 0, inf),
        ((0, 0, -1, 0, 0, 1, 1, 1), 0, 0),  # Lemma 3.4
        ((0, 0, 0, -1, 0, 1, 0, 0), 0, inf),  # requires
        ((0, 0, 0, 0, 1, 0, -1, 0), 0, 0),  # iff
        ((0, 0, 0, -1, 0, 0, 0, -1), -1, inf),  # Lemma 3.6
    }
    assert program.column_lower.tolist() == [1, 0, 0, 0, 0, 0, 0, 0]


@given(model=strategies.models(max_features=14, linear=False, trees_only=True))
@examples(25)
def test_the_tree_takes_a_number_of_coefficients_linear_in_its_size(model: FeatureModel) -> None:
    tree = make_model(model.names, root=model.root, groups=model.groups)
    program = to_program(tree)
    assert program.rows.nnz <= 5 * model.n_features
    assert program.n_rows <= 3 * model.n_features


def test_objectives_cover_auxiliary_columns_at_no_cost() -> None:
    nested = Or((Literal(1), Linear((1, 1), (1, 2), 1)))
    model = make_model(["A", "B"], constraints=[nested])
    cost = LinearObjective(Objective("cost"), np.array([3.0, 4.0]))
    program = to_program(model, objectives=[cost])
    assert program.objectives[0].costs.tolist() == [3.0, 4.0, 0.0]


@pytest.mark.parametrize(
    ("fixed", "message"),
    [
        pytest.param([3], "variables 1 to 2, got 3", id="no such feature"),
        pytest.param([1, -1], "'A' is fixed to selected and deselected", id="both"),
    ],
)
def test_fixed_features_that_make_no_sense_are_refused(fixed: list[int], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        to_program(make_model(["A", "B"]), fixed=fixed)
