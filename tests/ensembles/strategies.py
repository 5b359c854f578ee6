"""Small pools with ties and duplicates."""

from hypothesis import strategies as st

from tests.ensembles.oracles import Rows


@st.composite
def labelled_votes(draw: st.DrawFn, max_classifiers: int = 6, max_rows: int = 10) -> Rows:
    """Rows of both classes, many of them equal."""
    n_classifiers = draw(st.integers(1, max_classifiers))
    row = st.tuples(*[st.integers(0, 1)] * n_classifiers)
    rows = draw(st.lists(st.tuples(row, st.integers(0, 1)), min_size=0, max_size=max_rows))
    return [*rows, (draw(row), 0), (draw(row), 1)]


weight_sets = st.tuples(*[st.integers(-3, 3)] * 4)
"""Weights of both signs in the order tp, fn, tn, fp."""
