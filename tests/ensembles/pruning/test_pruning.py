import pytest

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.pruning.pruning import parse_objective, prune_for
from shortlist.errors import BadInputError
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget
from tests.ensembles.strategies import hard_votes


def test_auto_is_accuracy() -> None:
    votes = hard_votes(60, 8)
    first, second = (
        prune_for(votes, name, selection_limits(8), Budget(nodes=5)) for name in ("auto", "accuracy")
    )

    assert first.objective.name == "accuracy"
    assert (first.mask == second.mask).all()


def test_without_a_feasible_selection_every_objective_says_so() -> None:
    votes = hard_votes(30, 4)
    for objective in ("accuracy", "auto"):
        result = prune_for(votes, objective, selection_limits(4, min_size=4, max_size=2))
        assert result.status is Status.INFEASIBLE
        assert "at least 4 members are wanted" in result.reason
        assert not result.mask.any()


@pytest.mark.parametrize(
    "objective", ["acuracy", "accuracy+margin", "accuracy+slope-4", "accuracy+auto", "margin"]
)
def test_unknown_objectives_are_refused(objective: str) -> None:
    with pytest.raises(BadInputError, match="objective must"):
        parse_objective(objective)


def test_weights_stay_as_they_are() -> None:
    assert parse_objective({"tp": 1, "fp": -2}) == {"tp": 1, "fp": -2}
    result = prune_for(hard_votes(30, 4), {"tp": 1, "fp": -2}, selection_limits(4))
    assert result.status is Status.OPTIMAL
