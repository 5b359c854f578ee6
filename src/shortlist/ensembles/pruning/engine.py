"""The engine of exact pruning: one loop over steps that find selections and bounds, until the two meet.

For weighted sums these are, in order, the minimum cut of conflicts, rules and tabu search, a walk over all
selections, combinatorial Benders cuts, and CP-SAT (:mod:`shortlist.ensembles.pruning.vote_steps`). One
incumbent keeps value and bound, and every step ends with the one budget.
"""

from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.proofs.incumbent import NONE_FEASIBLE, Incumbent
from shortlist.ensembles.pruning.engine_settings import EngineSettings
from shortlist.ensembles.pruning.problems import PruningProblem
from shortlist.ensembles.pruning.run import Run
from shortlist.ensembles.pruning.vote_steps import VoteSteps
from shortlist.errors import SolverError
from shortlist.milp import Solver
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget


def prove(
    problem: PruningProblem,
    budget: Budget,
    *,
    solver: Solver | None = None,
    solver_name: str = "",
    settings: EngineSettings | None = None,
) -> PrunedSelection:
    """Look for the best selection and bound what any can be worth, until the two meet or a limit is hit.

    Parameters
    ----------
    problem : PruningProblem
        Of two or of several classes.
    budget : Budget
        With more than one thread CP-SAT looks for selections beside its proof. A limit in nodes is in
        thousandths of CP-SAT's deterministic time; unless the time limit ends a step first, the answer then
        does not depend on the clock, nor on the threads.
    solver : Solver, optional
        A backend: that one alone, on the plain program, in place of the engine. A limit in nodes is then in
        its unit.
    solver_name : str
        What that backend is called.
    settings : EngineSettings, optional
        How the steps share the time.

    Returns
    -------
    PrunedSelection
        OPTIMAL, FEASIBLE, INFEASIBLE or UNKNOWN, with the history of value and bound. OPTIMAL where both are
        the same integer.

    Raises
    ------
    SolverError
        If a solver contradicts a selection or a bound that is proved.
    """
    best = Incumbent(problem)
    if conflict := problem.limits.conflict():
        return best.no_selection(Status.INFEASIBLE, limit="", seconds=budget.elapsed, reason=conflict)
    run = Run(best, budget, settings or EngineSettings(), solver, solver_name)
    best.offer_simple_selections()
    steps = VoteSteps(run, problem)
    for step, part in steps:
        if run.goes_on(part):
            step(part)
    run.take_kept()
    run.note_end()
    limit = "" if best.proved or run.infeasible else budget.limit_text or run.last_limit or steps.no_limit
    if best.mask is not None:
        if run.infeasible:
            raise SolverError("the solver calls the program infeasible, but a selection keeps every limit.")
        result = best.selection(limit=limit, seconds=budget.elapsed)
        return result if solver is not None else steps.certified(result)
    status = Status.INFEASIBLE if run.infeasible else Status.UNKNOWN
    reason = f"{NONE_FEASIBLE}, says {run.infeasible_by}" if run.infeasible and run.infeasible_by else ""
    return best.no_selection(status, limit=limit, seconds=budget.elapsed, reason=reason)
