"""Why a feature has its value, against all products."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.products.configuration.product_objectives import FeatureObjective
from shortlist.products.decisions.deciding import decide_feature, start
from shortlist.products.decisions.reasons import why
from shortlist.products.feature_models.model import Constraint, FeatureModel
from tests.examples import examples
from tests.products.configuration.test_contradictions import possible, smaller
from tests.products.decisions.lines import COST, PHONE, left, lines

Line = tuple[FeatureModel, tuple[FeatureObjective, ...], list[Constraint]]


@given(line=lines(), data=st.data())
@examples(20)
def test_reasons_force_the_value_and_none_can_be_left_out(line: Line, data: st.DataObject) -> None:
    model, _, limits = line
    feature = data.draw(st.integers(0, model.n_features - 1))
    if not left(model, limits, [feature + 1]):
        return
    state = decide_feature(start(model, limits=limits), feature, selected=True)
    for literal in state.forced:
        found, sentences = why(state, abs(literal) - 1)
        if abs(literal) == feature + 1:
            assert found is None
            continue
        assert found is not None
        assert found.irreducible
        assert sentences
        assert not possible(model, found, limits, [-literal])
        assert all(possible(model, less, limits, [-literal]) for less in smaller(found))


def test_reasons_are_told_in_words() -> None:
    state = decide_feature(start(PHONE, attributes=COST, limits=["cost<=16"]), 4, selected=True, by="Anna")
    assert why(state, 4) == (None, ("GPS is selected (by Anna)",))
    found, sentences = why(state, 5)
    assert found is not None
    assert found.smallest
    assert sentences[:2] == (
        "GPS is selected (by Anna); without it, cost can be 15 EUR",
        "limit cost<=16: the others leave at least 17 EUR, and all that is asked at least 19 EUR",
    )
    assert why(start(PHONE), 1)[1] == ("every product has Phone", "Screen is mandatory below Phone")
    with pytest.raises(BadInputError, match="GPS is open: nothing that is known decides it"):
        why(start(PHONE), 4)
