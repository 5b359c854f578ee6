"""Options for choosing panels, and the split of cases into training, hold-out and calibration cases."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import AUTO
from shortlist._words import all_of, any_of, counted
from shortlist.errors import BadInputError
from shortlist.exact import LARGEST_INTEGER, decimal_steps
from shortlist.guarantees.guarantee import Demand
from shortlist.panels.answer_log import AnswerLog, can_agree, n_different
from shortlist.panels.candidates import ALL_SETS_UP_TO
from shortlist.panels.decisions import (
    BY_CONFIDENCE,
    UNANSWERED,
    ConfidenceScale,
    JudgeVotes,
    confidence_scale,
    heard,
)
from shortlist.panels.learning import (
    AGREEMENT,
    DAWID_SKENE,
    LOGISTIC,
    POOLED,
    PRUNED,
    VOTES,
    VOTING,
    WEIGHTED,
    OutOfFold,
    folds_of,
)
from shortlist.panels.log_checks import UNASKED
from shortlist.panels.objectives import (
    ACCURACY,
    BALANCED,
    ERROR_COST,
    LATENCY,
    LEADING,
    PRICE,
    RECALL,
    leading,
    measure_of,
)
from shortlist.panels.policy import Final
from shortlist.panels.recipes import Cases
from shortlist.panels.settings import PanelSettings
from shortlist.results.error_costs import ErrorCosts, losses_of
from shortlist.tables.splits import CASE_SHARE

FEWEST_CASES = 20
"""Least number of cases of known truth for a choice."""
FEW_CASES = 20_000
"""Largest number of cases at which all cases choose panels and no case is held out."""
NOISY_CASES = 500
"""Number of cases below which the loss of a cheaper panel stays open (decision 91)."""


@dataclass(frozen=True, kw_only=True)
class PanelOptions(PanelSettings):
    """Options for choosing panels, and for the panels themselves."""

    test_share: float | None = CASE_SHARE
    """Share of the cases in the hold-out set. None: a quarter, or no hold-out set if cases are few."""
    final: Final = field(default_factory=Final)
    """Action for a case of which the last stage is not sure enough."""
    error_costs: ErrorCosts = field(default_factory=dict)
    """Cost of a mistake by a pair of classes: the answered class and the right class; 1 by default. An empty
    first class stands for no answer, which by default costs as much as the worst answer.
    """
    demand: Demand | None = None
    """Promise to make; if given, half of the cases calibrate the promise and measure the panels."""
    n_folds: int = 5
    seed: int = 0
    router: tuple[str, ...] = ()
    """Features of the log that may choose among panels before the first call, or answer alone; features cost
    nothing.
    """


def check_panel_options(log: AnswerLog, options: PanelOptions, objectives: Sequence[str]) -> None:
    """Raise BadInputError for too few cases, or for options or objectives that do not fit.

    The options and the objectives must fit the log and each other.
    """
    _check_cases(log)
    options.check()
    if options.demand is not None and options.test_share not in {None, CASE_SHARE}:
        why = "as half of the cases calibrate and measure then"
        raise BadInputError("test_share", f"must come without a promise, {why}", f"{options.test_share:g}")
    check_objectives(log, options, objectives)
    if log.is_open:
        _check_open(options, objectives)
    for name in options.router:
        if name not in log.features.columns or name in log.judges:
            raise BadInputError("router", "must name features of the log that are no judges", repr(name))


def _check_cases(log: AnswerLog) -> None:
    rows = log.truth >= 0
    known, n_cases = log.truth[rows], n_different(log.at(rows)) if rows.any() else 0
    if n_cases < FEWEST_CASES:
        named = "Name the column of right answers with `target`, or a file of them with `truth`."
        likely = next((note for note in log.notes if "pass `target=" in note), "")
        told = likely.partition(": ")[2]
        named = told[:1].upper() + told[1:] or named
        got = f"{n_cases:,}" + (f" in {len(known):,} rows" if len(known) > n_cases else "")
        read = next((note.rstrip(".") for note in log.notes if ": read as " in note), "")
        got += f" ({read})" if read and not n_cases else ""
        advice = "Add cases." if n_cases else named
        what = f"must have at least {FEWEST_CASES} different cases of known truth"
        raise BadInputError("log", what, got, advice)
    if not (log.answers[rows] >= 0).any():
        raise BadInputError(
            "log",
            "must have answers that are classes of the truth",
            "none",
            "Name the column of answers with `answer`.",
        )
    if len(np.unique(known)) < 2:
        label = log.classes[known[0]]
        raise BadInputError("log", "must have at least two classes as truth", f"{label!r} in every case")


def all_choose(n_cases: int, options: PanelOptions, objectives: Sequence[str]) -> bool:
    """Return whether no cases are held out, so that nested cross-validation measures.

    No case is held out if there are at most 20,000 cases, no hold-out share is requested and nothing is
    promised. For recall and specificity the limit is 5,000 cases, as nine pairs of weights are searched then.
    """
    most = FEW_CASES // 4 if RECALL in objectives else FEW_CASES
    return options.test_share is None and options.demand is None and n_cases <= most


def _check_open(options: PanelOptions, objectives: Sequence[str]) -> None:
    """Raise BadInputError for options that need classes, if answers are open: only their equality counts."""
    why = "where answers are free text, as many truths occur only once"
    if options.decide not in {AUTO, VOTES, WEIGHTED, AGREEMENT}:
        raise BadInputError(
            "decide", f"must be {VOTES}, {WEIGHTED} or {AGREEMENT} {why}", repr(options.decide)
        )
    if options.ties != UNANSWERED:
        raise BadInputError("ties", f"must be {UNANSWERED} {why}", repr(options.ties))
    if ACCURACY not in objectives:
        raise BadInputError("objectives", f"must begin with accuracy {why}", all_of(objectives))


def check_objectives(log: AnswerLog, options: PanelOptions, objectives: Sequence[str]) -> None:
    """Raise BadInputError for objectives that do not fit each other, the log or the options.

    The objectives must begin with an entry of `LEADING` and include the price. The log must have the values
    of all objectives.
    """
    lead = leading(objectives)
    if lead not in LEADING or tuple(objectives[: len(lead)]) != lead or PRICE not in objectives:
        raise BadInputError(
            "objectives",
            "must be accuracy, error-cost, or recall and specificity, then price, and perhaps latency",
            all_of(objectives),
        )
    if options.positive is not None and RECALL not in objectives:
        raise BadInputError("positive", "must come with recall and specificity", "other objectives")
    if measure_of(objectives) == BALANCED:
        _check_two_classes(log, options, objectives)
    if options.error_costs and ERROR_COST not in objectives:
        raise BadInputError(
            "error_costs", "must come with the objective min error-cost", "other objectives", "Name it first."
        )
    if LATENCY in objectives and (log.latency is None or np.isnan(log.latency).any()):
        gaps = 0 if log.latency is None else int(np.isnan(log.latency).sum())
        got = "none" if log.latency is None else f"none for {counted(gaps, 'call')}"
        advice = "Name the column of latencies, or leave min latency out of the objectives."
        raise BadInputError("latency", "must be known for every call to be an objective", got, advice)


def _check_two_classes(log: AnswerLog, options: PanelOptions, objectives: Sequence[str]) -> None:
    if len(log.classes) != 2:
        raise BadInputError(
            "objectives",
            "can be recall and specificity with two classes alone",
            f"{len(log.classes):,}: {all_of(log.classes, most=5)}",
            "Take accuracy, or min error-cost with the cost of each mistake.",
        )
    if options.positive is not None and options.positive not in log.classes:
        raise BadInputError("positive", f"must be a class, {any_of(log.classes)}", repr(options.positive))
    if LATENCY in objectives:
        raise BadInputError("objectives", "cannot be latency besides recall and specificity", "all of them")
    if options.router:
        raise BadInputError("router", "must come with accuracy or error-cost", "recall and specificity")


def check_classes_of_parts(chosen: AnswerLog, test: AnswerLog, objectives: Sequence[str]) -> None:
    """Raise BadInputError for recall and specificity if a class lacks training or hold-out cases.

    A class needs two training cases, and one hold-out case.
    """
    if measure_of(objectives) != BALANCED:
        return
    for code, label in enumerate(chosen.classes):
        n_train, n_test = int((chosen.truth == code).sum()), int((test.truth == code).sum())
        if n_train < 2 or n_test < 1:
            raise BadInputError(
                "objectives",
                "can be recall and specificity with at least 2 training cases and 1 hold-out case of each "
                "class",
                f"{n_train} and {n_test} of {label!r}",
                "Add cases of that class, or take another seed.",
            )


LEAST_ASKED = 0.95
"""Share of the cases; if a judge was asked about a smaller share, this share is reported."""
FINEST_SHARE = 20
"""Largest denominator of the share of measuring cases."""
FINEST_STEPS = 10**9
"""Number of steps of the largest price; prices that are no decimals are rounded to such steps."""
LEAST_PRICE = 1e-290
"""Price below which prices count as 0."""


def fully_asked(log: AnswerLog) -> tuple[AnswerLog, list[str]]:
    """Return the cases that every judge was asked about, and notes on all other cases.

    The answer of a judge that was not asked is unknown: neither silence nor a mistake. If too few cases were
    put to every judge, all cases stay; a judge that was not asked is then silent, and not paid.
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
    """Return the training cases, the measuring cases, and the calibration cases of a promise if any.

    With a promise, half of the cases are both calibration and measuring cases.
    """
    if options.demand is not None:
        half = folds_of(log, 2, options.seed)
        calibration = _one_of_each_group(log.at(half == 0), options.seed)
        return log.at(half == 1), calibration, calibration
    asked = CASE_SHARE if options.test_share is None else options.test_share
    share = Fraction(asked).limit_denominator(FINEST_SHARE)
    parts, n = folds_of(log, share.denominator, options.seed), share.numerator
    return log.at(parts >= n), log.at(parts < n), None


def _one_of_each_group(log: AnswerLog, seed: int) -> AnswerLog:
    """Return one row of each group, drawn at random."""
    if log.groups is None:
        return log
    drawn = np.random.default_rng(seed).permutation(len(log.groups))
    _, first = np.unique(log.groups[drawn], return_index=True)
    return log.at(np.sort(drawn[first]))


def cases_of(log: AnswerLog, scale: ConfidenceScale, options: PanelOptions) -> tuple[Cases, int]:
    """Return the training cases in whole steps, and the number of steps of price per unit."""
    answers = heard(log, scale)
    prices, steps = _in_steps(log.paid, options.final.price)
    learners = dict.fromkeys((VOTES, options.decide))
    if options.decide == AUTO:
        few = len(log.judges) <= ALL_SETS_UP_TO
        learned = LOGISTIC if few or scale.told.any() else DAWID_SKENE
        learners = dict.fromkeys((AGREEMENT, *VOTING) if log.is_open else (AGREEMENT, *POOLED, learned))
        if log.is_open and not can_agree(log):
            learners = dict.fromkeys((VOTES, BY_CONFIDENCE) if scale.told.any() else (VOTES,))
    by_votes = options.decide == VOTES or (options.decide == AUTO and log.is_open and can_agree(log))
    if by_votes and len(log.judges) > ALL_SETS_UP_TO:
        learners[PRUNED] = None
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
    """Return prices in whole steps, and the number of steps per unit; the sum of all prices is below 2^53."""
    flat, times = np.append(prices.ravel(), final), np.ones(prices.size + 1)
    times[-1] = len(prices)  # a person may be asked about every case
    with np.errstate(over="ignore"):
        total = float(flat @ times)
    if total >= LARGEST_INTEGER:
        raise BadInputError(
            "prices", "must add up to less than 2^53 over all cases", f"{total:.3g}",
            "Give all of them in a larger unit, such as dollars for cents.",
        )  # fmt: skip
    scaled, scales, decimal = decimal_steps(flat, np.array([0, len(flat)]))
    if decimal[0] and scaled @ times < LARGEST_INTEGER:
        return scaled[:-1].reshape(prices.shape), int(scales[0])
    steps = 10 ** max(0, int(math.log10(FINEST_STEPS / max(float(flat.max()), LEAST_PRICE))))
    while total * steps >= LARGEST_INTEGER:
        steps //= 10
    return np.rint(prices * steps).astype(np.int64), steps


def _losses(log: AnswerLog, options: PanelOptions) -> NDArray[np.int64]:
    return losses_of(options.error_costs, log.classes)
