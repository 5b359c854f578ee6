"""Limits on the members of a selection."""

import numpy as np
import pytest

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.errors import BadInputError


@pytest.mark.parametrize("max_cost", [6.5, 1e18, 1e300])
def test_a_budget_above_all_costs_is_no_limit(max_cost: float) -> None:
    limits = selection_limits(3, member_costs=[1, 2, 3], max_cost=max_cost)

    assert limits.conflict() == ""
    assert limits.satisfied_by(np.ones(3, dtype=bool))


@pytest.mark.parametrize("costs_are", ["member_costs", "costs"])
@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.float64(-1), " must be finite and at least 0, got -1.0. "),
        (np.float64("inf"), " must be finite and at least 0, got inf. "),
        (
            np.float64(1e-10),
            " must keep their first six digits when they are rounded to 9 decimals, got 1e-10. ",
        ),
        (np.float64(1e16), " must have fewer digits to stay exact. "),
    ],
)
def test_a_cost_that_cannot_be_is_named_as_the_user_does(
    cost: np.float64, message: str, costs_are: str
) -> None:
    with pytest.raises(BadInputError, match=f"^`?{costs_are}`?{message}"):
        selection_limits(2, member_costs=[1.0, cost], max_cost=3.0, costs_are=costs_are)


def test_a_cost_with_many_decimals_is_rounded_with_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"^costs were rounded to 9 decimals, to be exact\.$"):
        limits = selection_limits(2, member_costs=[0.012345678901, 0.02], max_cost=0.03, costs_are="costs")
    assert limits.satisfied_by(np.array([True, False]))
    assert not limits.satisfied_by(np.array([True, True]))
