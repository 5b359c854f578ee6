"""The front of committees that answer by a mean of probabilities: log loss, Brier score, right rows.

The best value that each loss can have is proved first. Then committees are walked, size after size, and
a size that has been walked is final where the size matters.
"""

from collections.abc import Callable, Iterator, Sequence

from shortlist.arrays import Mask
from shortlist.ensembles.averaging.mean_problem import MeanProblem
from shortlist.ensembles.averaging.mean_pruning import prune_means
from shortlist.ensembles.averaging.mean_search import MeanEffort, search_means
from shortlist.ensembles.averaging.mean_terms import scale_of
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.fronts.front_claims import LookedAt, ValueBounds, best_at_its_price
from shortlist.ensembles.fronts.front_walk import Committee
from shortlist.ensembles.fronts.kept_front import BOUND_UNIT, kept_bounds, note_end, only_best
from shortlist.ensembles.fronts.mean_front_problem import MeanFrontProblem
from shortlist.ensembles.fronts.mean_walk import walk_means
from shortlist.ensembles.fronts.paid_walk import paid_front
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.pruning.evidence import CHEAPER_WALK, bound_of_front
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.runs.budget import Budget
from shortlist.runs.studies.checkpoints import Checkpoint

BOUNDS_END, WALK_ENDS = 0.2, 0.85
"""Parts of the time limit at which proofs of the best values end, and the walk."""

SIZES_SEARCHED = (2, 3, 5, 8, 13, 21)
"""Largest sizes of the committees that are searched where the walk does not get there."""

MEAN_WALK = "walk over means"
"""What a study calls the walk."""


def mean_front(
    problem: MeanFrontProblem,
    budget: Budget | None = None,
    *,
    names: Sequence[str] | None = None,
    max_nodes: int | None = None,
) -> Front:
    """Return the committees that no other dominates, and what is proved of them.

    Parameters
    ----------
    problem : MeanFrontProblem
        What matters.
    budget : Budget, optional
        For all of it; default no limit. Its limit in nodes is that of the proofs of the best values.
    names : sequence of str, optional
        What the classifiers are called; default their numbers.
    max_nodes : int, optional
        Nodes of the walk, which do not depend on the clock.

    Returns
    -------
    Front
        As of :func:`shortlist.ensembles.fronts.committee_front.committee_front`. Losses are compared in
        parts of 2^32 a row, as this machine computes logarithms.

    Notes
    -----
    There are up to 2^K committees of K classifiers; each that is not left out takes O(n_rows) time.
    """
    budget = budget or Budget()
    if problem.paid is not None:
        return paid_front(
            problem, budget, names, lambda other, part: mean_front(other, part, max_nodes=max_nodes)
        )
    budget.tell("bounding")
    bounds = kept_bounds(
        budget, problem.n_classifiers, lambda mask, _: problem.point(mask),
        lambda: _bounds(problem, budget.until(BOUNDS_END)),
    )  # fmt: skip
    walked = walk_means(
        problem, budget.until(WALK_ENDS), starts=bounds.found, max_nodes=max_nodes,
        on_nodes=lambda _, n_points: budget.tell("walking", value=n_points),
        checkpoint=Checkpoint(MEAN_WALK, budget.study),
    )  # fmt: skip
    note_end(walked, [BOUND_UNIT, MEAN_WALK], budget.study)
    known, final = walked.found, dict[int, int]()
    if walked.final_to >= problem.limits.min_size:
        by_size = [price for price in range(len(problem.prices)) if problem.is_size(price)]
        final = dict.fromkeys(by_size, walked.final_to)
    if not walked.complete:
        searched = [Committee(mask, 0, problem.point(mask)) for mask in _searched(problem, budget)]
        known = only_best([*known, *searched])
    looked = LookedAt(problem, bounds, final, walked.complete, walked.nodes)
    numbers = [str(number) for number in range(problem.n_classifiers)]
    return looked.front(known, budget, numbers if names is None else list(names))


def mean_selection(problem: MeanFrontProblem, front: Front, index: int) -> PrunedSelection:
    """Return a committee of a front as a selection, with its first value and what none can exceed."""
    value, mask = problem.values[0], front.decisions[index].astype(bool)
    total, known = value.rate(value.tally(mask), int(mask.sum()))[0], front.extras["bounds"][0]
    shown = value.value(total)
    bound = float(known.get("at_most", known.get("at_least")))
    near, by = max(value.tolerance, 1e-9), bound_of_front(known["proved_by"])
    optimal, at_its_price = abs(bound - shown) <= near, best_at_its_price(front, index)
    if not optimal and at_its_price is not None and abs(bound - at_its_price[0]) > near:
        (bound, optimal), by = at_its_price, CHEAPER_WALK
    bound = shown if optimal else bound
    return value.result(mask, 0)(
        objective=value.objective,
        value=shown,
        bound=bound,
        status=Status.OPTIMAL if optimal else Status.FEASIBLE,
        proof=Proof(
            ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
            tolerances=(value.tolerance,) if value.tolerance else (),
            missing=(abs(bound - shown),),
            limit="" if optimal else front.proof.limit,
        ),
        seconds=front.seconds,
        proved_by=by,
    )


def _bounds(problem: MeanFrontProblem, budget: Budget) -> ValueBounds:
    """Prove how good each value can be by itself."""
    highest, proved_by, found = problem.highest(), [], list[Committee]()
    for place, value in enumerate(problem.values):
        part = budget.until((place + 1) / problem.n_values)
        result = prune_means(value.votes, value.goal, problem.limits, part)
        proved_by.append(result.proved_by)
        if result.reason:
            continue
        unit = scale_of(value.terms) * value.goal.denominator
        sign = -1 if value.objective.sense == "min" else 1
        highest[place] = min(highest[place], round(sign * result.bound * unit) + value.slack)
        found.append(Committee(result.mask, 0, problem.point(result.mask)))
    highest[-1] = highest[:-1].sum()
    return ValueBounds(highest, tuple(proved_by), found)


def _searched(problem: MeanFrontProblem, budget: Budget) -> Iterator[Mask]:
    """Look for good committees of some sizes, which proves nothing."""
    for most in SIZES_SEARCHED:
        for value in problem.values:
            if budget.stopped or not problem.limits.min_size <= most <= problem.limits.max_size:
                continue
            budget.tell("searching")
            offered: list[Mask] = []
            limited = MeanProblem(
                value.votes, value.goal, selection_limits(problem.n_classifiers, min_size=1, max_size=most)
            )
            search_means(limited, _keeper(limited, offered), budget, MeanEffort(kicks=0))
            yield from (mask for mask in offered if mask.sum() >= problem.limits.min_size)


def _keeper(problem: MeanProblem, offered: list[Mask]) -> Callable[[Mask], int | None]:
    def offer(mask: Mask) -> int | None:
        if not problem.limits.satisfied_by(mask):
            return None
        offered.append(mask)
        return problem.rate(problem.tally(mask), int(mask.sum()))[0]

    return offer
