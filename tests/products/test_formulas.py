"""None"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadFileError
from shortlist.products.formats.uvl_expressions import ExpressionReader
from shortlist.products.formulas import (
    And,
    Formula,
    Linear,
    Literal,
    Not,
    Or,
    formula_text,
    holds,
    variables_of,
)
from tests.products import oracles, strategies

N = 4

CONFIGURATIONS = oracles.configurations(N)

COLUMNS = np.array(CONFIGURATIONS).T


def _fail(sentence: str, place: int) -> BadFileError:
    return BadFileError(f"{place}: {sentence}")


@given(formula=strategies.formulas(N))
def test_all_configurations_at_once_get_the_truth_of_the_textbook(formula: Formula) -> None:
    assert holds(formula, COLUMNS).tolist() == [oracles.truth(formula, c) for c in CONFIGURATIONS]


@given(formula=strategies.formulas(N, linear=False))
def test_the_text_of_a_formula_reads_back_as_the_same_function(formula: Formula) -> None:
    names = [f"f{i}" for i in range(N)]
    reader = ExpressionReader({name: i for i, name in enumerate(names)}, {}, _fail)
    again = reader.read(formula_text(formula, names))
    assert holds(again, COLUMNS).tolist() == holds(formula, COLUMNS).tolist()


@given(comparison=strategies.comparisons(N))
def test_a_negated_comparison_holds_exactly_where_the_comparison_does_not(
    comparison: Linear,
) -> None:
    assert (holds(comparison, COLUMNS) ^ holds(comparison.negated(), COLUMNS)).all()


@given(formula=strategies.formulas(N))
def test_a_variable_that_is_not_named_does_not_matter(formula: Formula) -> None:
    for variable in set(range(1, N + 1)) - variables_of(formula):
        flipped = COLUMNS.copy()
        flipped[variable - 1] ^= True
        assert holds(formula, flipped).tolist() == holds(formula, COLUMNS).tolist()


@given(depth=st.sampled_from([3_000, 3_001]))
def test_depth_is_limited_by_memory_only(depth: int) -> None:
    formula: Formula = Literal(1)
    for _ in range(depth):
        formula = Not(And((formula, Or((Literal(2), Literal(-2))))))
    truth = holds(formula, np.array([[True, False], [True, True]]))
    assert truth.tolist() == ([True, False] if depth % 2 == 0 else [False, True])
    assert len(formula_text(formula, ["A", "B"])) > depth
