"""Which method searches for stages: an enumeration where it is within reach, windows beyond, or evolution."""

from typing import Any, NamedTuple

from shortlist.errors import FitsStoppedError
from shortlist.multistage.problem.stages import space_size
from shortlist.multistage.search.emsco import EmscoOptions, emsco
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.multistage.search.valid_chains import USUAL_LIMITS, n_valid_chains
from shortlist.multistage.subclassifiers.decision_bits import bytes_of_every_subset
from shortlist.multistage.subclassifiers.subclassifiers import DENSE_FEATURES, MOST_BYTES
from shortlist.multistage.windows.climbing import WindowOptions
from shortlist.multistage.windows.window_search import search_windows
from shortlist.results.proof import ProofKind
from shortlist.runs import Budget
from shortlist.runs.workers import Where

STAGE_METHODS = ("auto", "emsco", "enumerate", "windows")

COUNTING_SHARE = 0.1
"""Part of the time in which ``auto`` counts what rules allow; windows are searched where it takes longer."""

FEW_FEATURES = 8
"""Up to so many ``auto`` enumerates where a fit takes long: 255 subsets."""

FEW_FITS = WindowOptions(width=5, n_new=3, n_weightings=4, tries=1, kicks=0)
"""How ``auto`` searches windows where a fit takes long.

On made tables of 10, 12 and 20 features that took 74, 101 and 437 fits in place of 844, 2,309 and 7,309. The
best sum was the same twice, and .022 lower once.
"""

UNFITTED = "not all subsets of the features could be fitted in"
INSTEAD = (
    "so that windows were searched instead of an enumeration, and nothing is proved. Allow more time, or use "
    "fewer features."
)


class FoundStages(NamedTuple):
    """What a method found, and what to know of how it was found, in sentences."""

    result: Any
    """An EnumerationResult, a WindowResult or an EmscoResult, by the method."""
    doubts: tuple[str, ...]


def search_stages(
    problem: StageProblem,
    method: str,
    *,
    emsco_options: EmscoOptions | None,
    enumeration_budget: int,
    workers: Where,
    budget: Budget,
) -> FoundStages:
    """Search by a method.

    Parameters
    ----------
    problem : StageProblem
    method : str
        One of :data:`STAGE_METHODS`. ``"auto"`` enumerates where that is within reach, and searches windows
        otherwise. An enumeration without time for its fits gives way to windows. Where every subset needs a
        fit that takes long, ``"auto"`` enumerates up to :data:`FEW_FEATURES` features, and otherwise searches
        windows by :data:`FEW_FITS`.
    emsco_options : EmscoOptions or None
        Of the evolution.
    enumeration_budget : int
        Most stage assignments that ``"auto"`` enumerates.
    workers : int, str or None
        Threads that enumerate, or the address of a Dask scheduler.
    budget : Budget
        For all of it.

    Raises
    ------
    FitsStoppedError
        If the search was cancelled before there was an answer.
    """
    quick = problem.decisions.subclassifiers.fits_are_quick
    options = FEW_FITS if method == "auto" and not quick else None
    if method == "enumerate" or (method == "auto" and _is_small(problem, enumeration_budget, budget)):
        try:
            return FoundStages(enumerate_front(problem, workers=workers or 1, budget=budget), ())
        except FitsStoppedError:
            if budget.cancellation.cancelled:
                raise
            windows = search_windows(problem, options, budget=budget)
            complete = windows.proof.kind is ProofKind.COMPLETE
            doubt = f"{UNFITTED} half of the {budget.time_text}, {INSTEAD}"
            return FoundStages(windows, () if complete else (doubt,))
    if method == "emsco":
        return FoundStages(emsco(problem, emsco_options, budget=budget), ())
    return FoundStages(search_windows(problem, options, budget=budget), ())


def _is_small(problem: StageProblem, enumeration_budget: int, budget: Budget) -> bool:
    """Whether the complete front is within reach; where counting takes long, it is not."""
    n, k = problem.n_features, problem.max_stages
    if n > FEW_FEATURES and not problem.decisions.subclassifiers.fits_are_quick:
        return False
    if problem.rules is not None:
        chains = n_valid_chains(
            problem.rules, k, removal=problem.removal, budget=budget.share(COUNTING_SHARE)
        )
        return chains is not None and chains <= min(enumeration_budget, USUAL_LIMITS.most_chains)
    searched = problem.decisions.subclassifiers.rows
    fits = n <= DENSE_FEATURES and bytes_of_every_subset(searched) <= MOST_BYTES
    return fits and space_size(n + problem.removal, k + problem.removal) <= enumeration_budget
