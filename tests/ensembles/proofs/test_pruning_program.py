"""The integer program of plurality votes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import (
    CLASS_OBJECTIVES,
    class_weights,
)
from shortlist.ensembles.proofs.conflicts import find_conflicts
from shortlist.ensembles.proofs.pruning_program import tight_program
from shortlist.ensembles.proofs.row_forms import class_rows
from shortlist.runs.budget import Budget
from tests.ensembles.plurality_oracles import Pool, as_votes, class_pools, members_of, value_of


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
