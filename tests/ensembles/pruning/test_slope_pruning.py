"""What ends a proof on slopes, and what is said then."""

import numpy as np
import pytest

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.proofs.lines import slope_program
from shortlist.ensembles.proofs.lines.slope_program import solve_slope_programs
from shortlist.ensembles.pruning import slope_pruning
from shortlist.ensembles.pruning.pruning import prune_for
from shortlist.ensembles.votes.binary_votes import merge_rows
from shortlist.milp import open_solver
from shortlist.results.proof import Status
from tests.ensembles.slope_oracles import small_problem
from tests.ensembles.strategies import hard_votes


@pytest.mark.slow
def test_a_time_limit_is_named_where_a_single_step_is_long() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(40_000) % 2
    votes = merge_rows((rng.random((40_000, 400)) < 0.3 + 0.4 * labels[:, None]).astype(np.uint8), labels)
    result, _ = prune_for(votes, "accuracy+slope-8", selection_limits(400), time_limit_s=4)

    assert result.status is Status.FEASIBLE
    assert result.proof.limit == "4 s"
    assert 0 < result.value < result.bound <= 1


def test_under_a_limit_in_nodes_no_share_of_the_time_ends_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = hard_votes(200, 40)
    usual, hasty = (
        (
            monkeypatch.setattr(slope_pruning, "SEARCH_SHARE", share),
            prune_for(votes, "accuracy+slope-8", selection_limits(40), node_limit=3, time_limit_s=6_000)[0],
        )[1]
        for share in (slope_pruning.SEARCH_SHARE, 1e-9)
    )

    assert (usual.value, usual.bound, usual.mask.tolist()) == (hasty.value, hasty.bound, hasty.mask.tolist())


def test_what_was_not_solved_is_not_called_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, rows, bounds = small_problem()
    monkeypatch.setattr(slope_program, "MOST_BINARIES", 0)
    monkeypatch.setattr(slope_program, "PRECISION", 10.0)  # every bound is within it of nothing at all
    answer = solve_slope_programs(rows, bounds, open_solver("highs"))
    assert (answer.mask, answer.bound) == (None, bounds.max())
    assert answer.limit == "0 binaries in an integer program"
