"""Which cases of a log choose panels, measure and calibrate, and what they cost in whole steps."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted
from shortlist.errors import BadInputError
from shortlist.exact import LARGEST_INTEGER, decimal_steps
from shortlist.panels.answer_log import AnswerLog, can_agree, n_different
from shortlist.panels.candidates import ALL_SETS_UP_TO
from shortlist.panels.decisions import BY_CONFIDENCE, ConfidenceScale, JudgeVotes, confidence_scale, heard
from shortlist.panels.learning import AGREEMENT, DAWID_SKENE, LOGISTIC, VOTES, VOTING, OutOfFold, folds_of
from shortlist.panels.objectives import right_or_wrong
from shortlist.panels.panel_options import (
    AUTO,
    FEWEST_CASES,
    USUAL_SHARE,
    PanelOptions,
)
from shortlist.panels.recipes import Cases
from shortlist.panels.scores import UNASKED

LEAST_ASKED = 0.95
"""Judges that were asked about a smaller share of the cases are named."""
FINEST_SHARE = 20
"""The share of the cases that measures is rounded to a fraction of no more parts than these."""
FINEST_STEPS = 10**9
"""Prices that are no decimals are rounded to this part of the largest one."""
LEAST_PRICE = 1e-290
"""Prices below it are 0."""


def fully_asked(log: AnswerLog) -> tuple[AnswerLog, list[str]]:
    """Return the cases that every judge was asked about, and what is to be said about the others.

    What a judge would have said where it was not asked is unknown: it is neither silence nor a mistake. Where
    too few cases have all judges, all cases stay, and who was not asked is silent there and is not paid.
    """
    asked = log.answers != UNASKED
    if asked.all():
        return log, []
    shares = zip(log.judges, asked.mean(axis=0).tolist(), strict=True)
    rare = [f"{judge!r} {100 * share:.0f} %" for judge, share in shares if share < LEAST_ASKED]
    told = f" Of all cases were asked: {all_of(rare, most=8)}." if rare else ""
    full = log.at(asked.all(axis=1))
    if n_different(full) < FEWEST_CASES or len(np.unique(full.truth)) < 2:
        return log, [
            (
                f"Not every judge was asked about every case, and too few cases have all judges. A judge "
                f"that was not queried counts as a missing answer and costs nothing, so judges that were "
                f"asked less often look worse and cheaper than they are.{told}"
            )
        ]
    return full, [
        (
            f"Only the {len(full.truth):,} of {counted(len(log.truth), 'case')} that every judge was asked "
            f"about count.{told} Leave out judges that were asked less often to use more cases."
        )
    ]


def split_cases(log: AnswerLog, options: PanelOptions) -> tuple[AnswerLog, AnswerLog, AnswerLog | None]:
    """Return the cases that choose, those that measure, and those that calibrate.

    Under a promise half of the cases calibrate, and the same ones measure.
    """
    if options.demand is not None:
        half = folds_of(log, 2, options.seed)
        calibration = _one_of_each_group(log.at(half == 0), options.seed)
        return log.at(half == 1), calibration, calibration
    asked = USUAL_SHARE if options.test_share is None else options.test_share
    share = Fraction(asked).limit_denominator(FINEST_SHARE)
    parts, n = folds_of(log, share.denominator, options.seed), share.numerator
    return log.at(parts >= n), log.at(parts < n), None


def _one_of_each_group(log: AnswerLog, seed: int) -> AnswerLog:
    """Return one row of each group, drawn whatever it says."""
    if log.groups is None:
        return log
    drawn = np.random.default_rng(seed).permutation(len(log.groups))
    _, first = np.unique(log.groups[drawn], return_index=True)
    return log.at(np.sort(drawn[first]))


def cases_of(log: AnswerLog, scale: ConfidenceScale, options: PanelOptions) -> tuple[Cases, int]:
    """Return the cases that choose in whole steps, and how many steps of price one unit has."""
    answers = heard(log, scale)
    prices, steps = _in_steps(log.paid, options.final.price)
    learners = dict.fromkeys((VOTES, options.decide))
    if options.decide == AUTO:
        few = len(log.judges) <= ALL_SETS_UP_TO
        learned = LOGISTIC if few or scale.told.any() else DAWID_SKENE
        learners = dict.fromkeys((AGREEMENT, *VOTING) if log.is_open else (AGREEMENT, *VOTING, learned))
        if log.is_open and not can_agree(log):
            learners = dict.fromkeys((VOTES, BY_CONFIDENCE) if scale.told.any() else (VOTES,))
    folds = folds_of(log, options.n_folds, options.seed)
    without = [  # as they are where a fold has no say in what confidence is worth
        heard(log, confidence_scale(log.at(folds != fold))) if scale.told.any() else answers
        for fold in np.unique(folds)
    ]
    votes = JudgeVotes((), (), options.votes, options.missing, options.ties)
    decisions = {
        name: OutOfFold(answers, log.truth, folds, name, without, counting=votes) for name in learners
    }
    latency = np.full(prices.shape, np.nan) if log.latency is None else log.latency
    cases = Cases(
        answers, log.truth, prices, latency, _losses(log, options), options.final,
        round(options.final.price * steps), decisions,
        positive=len(log.classes) - 1 if options.positive is None else log.classes.index(options.positive),
        is_open=log.is_open, right=log.right, folds=folds,
    )  # fmt: skip
    return cases, steps


def _in_steps(prices: NDArray[np.float64], final: float) -> tuple[NDArray[np.int64], int]:
    """Return prices as integers, and how many steps one unit has; sums of all stay below 2^53."""
    flat, times = np.append(prices.ravel(), final), np.ones(prices.size + 1)
    times[-1] = len(prices)  # a person may be asked about every case
    with np.errstate(over="ignore"):
        total = float(flat @ times)
    if total >= LARGEST_INTEGER:
        raise BadInputError(
            "prices", "must add up to less than 2^53 over all cases", f"{total:.3g}",
            "Tell all of them in a larger unit, as dollars for cents.",
        )  # fmt: skip
    scaled, scales, decimal = decimal_steps(flat, np.array([0, len(flat)]))
    if decimal[0] and scaled @ times < LARGEST_INTEGER:
        return scaled[:-1].reshape(prices.shape), int(scales[0])
    steps = 10 ** max(0, int(math.log10(FINEST_STEPS / max(float(flat.max()), LEAST_PRICE))))
    while total * steps >= LARGEST_INTEGER:
        steps //= 10
    return np.rint(prices * steps).astype(np.int64), steps


def _losses(log: AnswerLog, options: PanelOptions) -> NDArray[np.int64]:
    losses = right_or_wrong(len(log.classes))
    for (said, true), cost in options.error_costs.items():
        for label, known in ((said, (*log.classes, "")), (true, log.classes)):
            if label not in known:
                raise BadInputError(
                    "error_costs", f"must name classes, {', '.join(log.classes)}", repr(label)
                )
        row = len(log.classes) if not said else log.classes.index(said)
        losses[row, log.classes.index(true)] = cost
    for place, true in enumerate(log.classes):
        if ("", true) not in options.error_costs:  # no answer is then as bad as the worst one
            losses[-1, place] = losses[:-1, place].max()
    return losses
