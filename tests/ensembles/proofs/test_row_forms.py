"""Rows with forms, against the votes that they stand for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import (
    CLASS_OBJECTIVES,
    Weights,
    class_weights,
)
from shortlist.ensembles.proofs.conflicts import find_conflicts
from shortlist.ensembles.proofs.pruning_program import tight_program
from shortlist.ensembles.proofs.row_forms import RightRows, class_rows
from shortlist.ensembles.votes.hard_votes import Votes, confusion, n_right
from shortlist.runs.budget import Budget
from tests.ensembles.plurality_oracles import (
    Pool,
    as_votes,
    class_pools,
    decision_rows,
    members_of,
    sizes,
    subsets,
    value_of,
)
from tests.ensembles.strategies import gain_of, problems


@given(problem=problems(), data=st.data())
def test_right_rows_are_worth_what_the_samples_are(
    problem: tuple[Votes, Weights, RightRows], data: st.DataObject
) -> None:
    votes, weights, rows = problem
    k = votes.n_classifiers
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=k, max_size=k)))
    threshold = data.draw(st.integers(0, int(mask.sum())))

    assert rows.weighted_sum(gain_of(rows, mask, threshold)) == weights.total(
        confusion(votes, mask, threshold)
    )
    assert (rows.gains > 0).all()
    assert len(np.unique(rows.votes, axis=0)) == rows.n_rows


@given(pool=class_pools(max_classifiers=6), sizes=sizes)
def test_a_row_is_right_where_all_its_forms_hold(pool: Pool, sizes: tuple[int, int]) -> None:
    votes = as_votes(pool, merged=True)
    limits = selection_limits(pool[1], min_size=sizes[0], max_size=sizes[1])

    rows = class_rows(votes, class_weights("accuracy", votes), limits)

    for members in subsets(pool, *sizes):
        x = np.isin(np.arange(pool[1]), members)
        assert (rows.right(x) == decision_rows(votes, members)[rows.places]).all()
        assert rows.weighted_sum(gain_of(rows, x)) == n_right(votes, list(members))


@given(pool=class_pools(), objective=st.sampled_from(sorted(CLASS_OBJECTIVES)), data=st.data())
def test_an_encoded_selection_satisfies_the_program_at_its_value(
    pool: Pool, objective: str, data: st.DataObject
) -> None:
    votes = as_votes(pool, merged=True)
    weights = class_weights(objective, votes)
    limits = selection_limits(pool[1], min_size=0)
    rows = class_rows(votes, weights, limits)
    conflicts = find_conflicts(rows, Budget())
    built = tight_program(rows, [conflicts.cut(rows, i) for i in range(len(conflicts.pairs))])
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=pool[1], max_size=pool[1])))

    values = built.encode(mask)

    program = built.program
    activity = program.rows @ values
    assert (activity >= program.row_lower).all()
    assert (activity <= program.row_upper).all()
    cost = program.minimised_costs()[0] @ values
    assert weights.value(rows.weighted_sum(-round(cost))) == float(
        value_of(pool, members_of(mask), objective)
    )
