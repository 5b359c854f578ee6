"""What ends a proof on slopes, and what is said then."""

import numpy as np
import pytest

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.proofs.incumbent import Incumbent
from shortlist.ensembles.proofs.lines.slope_program import solve_slope_programs
from shortlist.ensembles.proofs.lines.slope_settings import SlopeSettings
from shortlist.ensembles.pruning.engine import prove
from shortlist.ensembles.pruning.engine_settings import EngineSettings
from shortlist.ensembles.pruning.pruning import prune_for
from shortlist.ensembles.votes.binary_votes import merge_rows
from shortlist.milp import open_solver
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget
from tests.ensembles.slope_oracles import sigmoid, slope_problem, small_problem
from tests.ensembles.strategies import hard_votes


@pytest.mark.slow
def test_a_time_limit_is_named_where_a_single_step_is_long() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(40_000) % 2
    votes = merge_rows((rng.random((40_000, 400)) < 0.3 + 0.4 * labels[:, None]).astype(np.uint8), labels)
    result, _ = prune_for(votes, "accuracy+slope-8", selection_limits(400), Budget(4))

    assert result.status is Status.FEASIBLE
    assert result.proof.limit == "4 s"
    assert 0 < result.value < result.bound <= 1


def test_under_a_limit_in_nodes_no_share_of_the_time_ends_a_step() -> None:
    votes = hard_votes(200, 40)
    problem = slope_problem(votes, named_weights("accuracy", votes), sigmoid(8.0), selection_limits(40))
    usual, hasty = (
        prove(problem, Budget(6_000, 3), settings=EngineSettings(slopes=settings))
        for settings in (SlopeSettings(), SlopeSettings(search_share=1e-9))
    )

    assert (usual.value, usual.bound, usual.mask.tolist()) == (hasty.value, hasty.bound, hasty.mask.tolist())


def test_what_was_not_solved_is_not_called_infeasible() -> None:
    problem = small_problem()
    trusting = SlopeSettings(most_binaries=0, precision=10.0)  # every bound is within it of nothing at all
    best = Incumbent(problem)
    limit = solve_slope_programs(problem.rows, best, open_solver("highs"), Budget(), settings=trusting)
    assert (best.mask, best.bound) == (None, problem.first_bound)
    assert limit == "0 binaries in an integer program"
