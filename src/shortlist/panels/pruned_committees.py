"""Vote committees of many judges, chosen by exact pruning on all cases and again without each fold.

The best of very many committees looks better on the cases that choose it than on new cases. So the loss on a
case is counted with a committee that was chosen in the same way without the fold of the case.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.panels.candidates import promising_judges
from shortlist.panels.decisions import COUNTED, FIRST, MAJORITY, JudgeVotes
from shortlist.panels.learning import PRUNED, OutOfFold
from shortlist.panels.recipes import Cases, Judges
from shortlist.runs.budget import Budget

if TYPE_CHECKING:
    from shortlist.ensembles.votes.hard_votes import ClassVotes

PRUNED_SIZES = (3, 5, 7, 9)
"""Sizes of committees; larger committees, and the best committee at half of the price, gained nothing."""
MOST_POOL, MOST_CHOOSING = 60, 4000
"""Largest number of judges to choose among (the most promising), and of cases to choose on (taken evenly)."""
SEARCH_STEPS = 200
"""Number of moves of the search if there are too many committees for a full search; no clock ends the search.
"""


def pruned_committees(cases: Cases) -> list[Judges]:
    """Return the different committees that exact pruning chooses for the sizes.

    After the call, the pruned votes of these committees in `cases.decisions` are out of fold. Raises
    LimitPassedError at a limit.

    Takes the time of one choice for all cases and each fold.
    """
    decision = cases.decisions[PRUNED]
    assert isinstance(decision, OutOfFold)
    every = np.arange(len(cases.truth))
    rests = [every, *(np.setdiff1d(every, rows) for rows in decision.parts)]
    counting, mean = decision.of(()).decision, cases.prices.mean(axis=0)
    assert isinstance(counting, JudgeVotes)
    whole, *without = [_chosen(cases, rows, counting, decision) for rows in rests]
    for own, *others in zip(whole, *without, strict=True):
        decision.chosen_again(own, others)
    for own, *others in zip(whole, *without, strict=True):  # a committee that is a majority of one stays
        decision.chosen_again(majority_first(mean, own), [majority_first(mean, one) for one in others])
    return list(dict.fromkeys(whole))


def majority_first(prices: Floats, judges: Judges) -> Judges:
    """Return the cheapest judges of a committee that outvote all its other judges if they agree.

    >>> majority_first(np.array([3.0, 1.0, 2.0]), (0, 1, 2))
    (1, 2)
    """
    cheapest = sorted(judges, key=lambda judge: (prices[judge], judge))
    return tuple(sorted(cheapest[: len(judges) // 2 + 1]))


def _chosen(cases: Cases, rows: NDArray[np.intp], counting: JudgeVotes, decision: OutOfFold) -> list[Judges]:
    """Return the committee of each size, chosen on some cases; with few judges, of the largest odd size."""
    from shortlist.ensembles.goals.selection_limits import SelectionLimits
    from shortlist.ensembles.goals.weights import weights_of
    from shortlist.ensembles.pruning.engines import SEARCH_ALONE, VOTES, WALK, EngineSettings, SearchEffort
    from shortlist.ensembles.pruning.problems import problem_of
    from shortlist.ensembles.pruning.vote_steps import prove

    if len(rows) > MOST_CHOOSING:
        rows = rows[np.linspace(0, len(rows) - 1, MOST_CHOOSING).astype(np.intp)]
    own = cases.at(rows)
    pool = promising_judges(own, MOST_POOL)
    votes = right_votes(own, pool, counting)
    walk = next(turn for turn in VOTES if turn.engine == WALK)
    settings = EngineSettings(turns=(walk, *SEARCH_ALONE), effort=SearchEffort(first_steps=SEARCH_STEPS))
    found = list[Judges]()
    for size in PRUNED_SIZES:
        decision.check_limit()
        exactly = min(size, len(pool) - 1 + len(pool) % 2)
        problem = problem_of(votes, weights_of("accuracy", votes), SelectionLimits(exactly, exactly))
        mask = prove(problem, Budget(), settings=settings).mask
        found.append(tuple(pool[place] for place in np.flatnonzero(mask).tolist()))
    return found


def right_votes(cases: Cases, judges: Judges, counting: JudgeVotes) -> "ClassVotes":
    """Return votes for the right answer, class 1, or against it, weighted by the cost of mistakes.

    A committee is right if more than half of the votes cast are right; silent votes, and ties for the first
    class, count as in `counting`. These votes are exact for two classes, and for the rule of the majority
    with several classes.
    """
    from shortlist.ensembles.votes.hard_votes import class_votes, merge_class_rows

    places = list(judges)
    silent = cases.answers.words[:, places] == cases.answers.n_classes
    right, every = cases.is_right[:, places], np.arange(len(cases.truth))
    wins_ties = (cases.truth == 0) & (counting.ties == FIRST) & (counting.rule != MAJORITY)
    codes = np.where(right, 1, 0) ^ wins_ties[:, None]
    if counting.rule != MAJORITY or counting.missing != COUNTED:
        codes = np.where(silent, 2, codes)
    mistakes = cases.losses[:-1, cases.truth].max(axis=0) - cases.losses[cases.truth, cases.truth]
    counted = every[mistakes > 0] if (mistakes > 0).any() else every
    return merge_class_rows(
        class_votes(
            codes[counted],
            1 - wins_ties[counted].astype(np.int64),
            np.maximum(1, mistakes[counted]),
            n_classes=2,
        )
    )
