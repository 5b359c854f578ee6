"""Random small feature models."""

from hypothesis import strategies as st

from shortlist.logic.clauses import Clauses
from shortlist.products.formulas import And, Formula, Iff, Implies, Linear, Literal, Not, Or
from shortlist.products.model import FeatureModel, Group, make_group, make_model


def formulas(n_variables: int, *, linear: bool = True) -> st.SearchStrategy[Formula]:
    literals: st.SearchStrategy[Formula] = st.builds(
        lambda variable, positive: Literal(variable if positive else -variable),
        st.integers(1, n_variables),
        st.booleans(),
    )
    atoms = literals | comparisons(n_variables) if linear else literals
    return st.recursive(
        atoms,
        lambda parts: st.one_of(
            st.builds(Not, parts),
            st.builds(And, st.lists(parts, max_size=3).map(tuple)),
            st.builds(Or, st.lists(parts, max_size=3).map(tuple)),
            st.builds(Implies, parts, parts),
            st.builds(Iff, parts, parts),
        ),
        max_leaves=7,
    )


@st.composite
def comparisons(draw: st.DrawFn, n_variables: int) -> Linear:
    variables = draw(st.lists(st.integers(1, n_variables), unique=True, max_size=4))
    factors = draw(st.lists(st.integers(-3, 3), min_size=len(variables), max_size=len(variables)))
    return Linear(tuple(factors), tuple(variables), draw(st.integers(-4, 6)))


@st.composite
def trees(draw: st.DrawFn, n_features: int) -> list[Group]:
    groups = []
    below: dict[int, list[int]] = {}
    for feature in range(1, n_features):
        below.setdefault(draw(st.integers(0, feature - 1)), []).append(feature)
    for parent, children in below.items():
        rest = list(children)
        while rest:
            size = draw(st.integers(1, len(rest)))
            members, rest = rest[:size], rest[size:]
            kind = draw(st.sampled_from(["mandatory", "optional", "or", "alternative", "cardinality"]))
            lower = draw(st.integers(0, size + 1))
            upper = draw(st.integers(lower, size + 1))
            groups.append(make_group(parent, members, kind, lower, upper))
    return groups


@st.composite
def models(
    draw: st.DrawFn, *, max_features: int = 8, linear: bool = True, trees_only: bool = False
) -> FeatureModel:
    n = draw(st.integers(1, max_features))
    names = [f"F{i}" for i in range(n)]
    constraints = draw(st.lists(formulas(n, linear=linear), max_size=3))
    if trees_only or draw(st.booleans()):
        return make_model(names, root=0, groups=draw(trees(n)), constraints=constraints)
    literal = st.integers(1, n).flatmap(lambda v: st.sampled_from([v, -v]))
    listed = draw(st.lists(st.lists(literal, max_size=3), max_size=6))
    return make_model(names, clauses=Clauses.from_clauses(n, listed), constraints=constraints)
