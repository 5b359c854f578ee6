"""Everything that is told of a chosen committee, once: a dict that JSON, text and page read."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.committees.asking import Asking, ask_in_order, ask_record
from shortlist.ensembles.committees.ballots import Ballot
from shortlist.ensembles.committees.chosen import Chosen
from shortlist.ensembles.committees.committee import Committee
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.committees.orders import order_by_record
from shortlist.ensembles.pools.judges import votes_may_be_missing
from shortlist.policies.follow import paid


@dataclass(frozen=True)
class ExitReport:
    """What asking one after the other saves on the selection rows."""

    order: tuple[str, ...]
    """The members as they are asked, each once."""
    prices: tuple[float, ...] | None
    """What asking each costs, in that order; None without prices."""
    is_best_order: bool
    """Whether no other order costs less on these rows, for the class alone."""
    n_rows: int
    """How many rows that is counted on."""
    mean_calls: float
    """Members that are asked for a row."""
    mean_cost: float | None
    cost: float | None
    """What they cost for a row, and what all members do; None without prices."""


def stopping_rule(*, promises: bool) -> str:
    """Say when no further member is asked; where something is promised, answers need a least probability."""
    outcome = "its class, or whether it is answered" if promises else "its class"
    return f"A row is finished as soon as no missing answer can change {outcome}."


def exit_report(committee: Committee, *, least: float | None = None) -> ExitReport | None:
    """Return what asking one after the other saves; None without members, or a record of answers.

    With `least`, or a promise, rows are answered alone that reach this probability.
    """
    least = committee.least if least is None else least
    added = committee.added_on_record() if len(committee.members) else None
    scored = None if added is None or least is None else committee.scored_on_record()
    if added is None or (least is not None and scored is None):
        return None
    asking, order, prices = committee.asking(least), committee.order, committee.prices
    calls = ask_in_order(asking, len(added), ask_record(added, scored)).calls
    spent = None if prices is None else paid(prices[order.members], calls)
    return ExitReport(
        tuple(committee.names[place] for place in order.members),
        None if prices is None else tuple(prices[order.members].tolist()),
        order.is_best,
        len(calls),
        float(calls.mean()),
        None if spent is None else float(spent.mean()),
        None if prices is None else float(prices.sum()),
    )


def price_paid(
    ballot: Ballot,
    added: NDArray[np.int64],
    prices: NDArray[np.int64],
    counts: NDArray[np.int64] | None = None,
) -> int:
    """Return what members cost over all rows, asked in their order until each row is settled.

    `added`, ``(n_rows, n_members, n_classes)``: what they add. `prices`, ``(n_members,)``: what asking each
    costs. `counts`, ``(n_rows,)``: how many samples each row stands for, where votes are counted; by default
    one.
    """
    order = order_by_record(ballot, added, prices, counts=counts).members
    asking = Asking(ballot, order, np.ones(len(order), dtype=np.int64))
    calls = ask_in_order(asking, len(added), ask_record(added)).calls
    spent = paid(prices[order], calls)
    return int(spent.sum() if counts is None else spent @ counts)


HELD_OUT, OUT_OF_FOLD = "held-out", "out-of-fold"
"""Which rows prune a pool that is fitted here: a part that fits nothing, or all, each answered by classifiers
that were fitted on the other folds.
"""


def chosen_facts(chosen: Chosen) -> dict[str, Any]:
    """Return what is told of a committee: members, how they decide, what is proved, and whom to ask first.

    Plain values that JSON takes. ``early_exit`` is None where members are asked all at once, or nothing
    is on record.
    """
    committee = chosen.committee
    columns = committee.judged_columns
    prices = None if committee.prices is None else math.fsum(committee.prices)
    return {
        **(rule_facts(chosen) if chosen.result is None else result_facts(chosen.result)),
        "proof": chosen.evidence.as_dict(),
        "voting": chosen.voting,
        **({} if chosen.result is None else _exact_facts(chosen)),
        "selection": [name for name, n in zip(chosen.names, chosen.copies, strict=True) if n],
        "n_classifiers": len(chosen.copies),
        **({"ask": {"columns": list(columns), "cost": prices}} if columns else {}),
        "size": int(chosen.selection.sum()),
        "n_copies": len(committee.members),
        "decision": committee.ballot.in_words(chosen.classes_),
        "probabilities": committee.probabilities,
        "probability_losses": {name: finite(loss) for name, loss in chosen.losses.items()},
        "copies": [int(n) for n in chosen.copies if n],
        "early_exit": _exit_facts(chosen),
    }


def result_facts(result: PrunedSelection) -> dict[str, Any]:
    """Return what exact pruning found and proved, or why it found nothing."""
    return {
        "status": str(result.status),
        "seconds": result.seconds,
        "objective": result.objective.name,
        "value": finite(result.value),
        "bound": finite(result.bound),
        "gap": finite(result.gap),
        "certified_bound": result.certified_bound,
        "limit": result.proof.limit,
        "reason": result.reason,
        "found_by": result.found_by,
        "proved_by": result.proved_by,
        "why": result.why,
        "history": [[seconds, value, bound] for seconds, value, bound in result.history],
    }


def rule_facts(chosen: Chosen) -> dict[str, Any]:
    """Return what a rule found; it proves nothing."""
    committee = chosen.committee
    # of two classes too the one with most votes wins where votes may be missing
    binary = len(chosen.classes_) == 2 and not votes_may_be_missing(committee.members.classifiers)
    return {
        "status": "feasible",
        "objective": "accuracy",
        "value": chosen.accuracy,
        "bound": None,
        "gap": None,
        "certified_bound": None,
        "limit": "",
        "reason": "",
        "positive": str(chosen.classes_[1]) if binary else None,
        "threshold": len(committee.weights) // 2 if binary and not committee.ballot.by_mean else None,
    }


def _exact_facts(chosen: Chosen) -> dict[str, Any]:
    positive = chosen.terms.positive
    return {
        "positive": None if positive is None else str(positive),
        "threshold": chosen.committee.ballot.threshold,
        "pruning_rows": OUT_OF_FOLD if chosen.out_of_fold else HELD_OUT,
        "refit": chosen.refitted,
        "sizes": {
            "min": chosen.terms.min_size,
            "max": chosen.terms.max_size,
            "reason": chosen.terms.why_sizes,
        },
    }


def _exit_facts(chosen: Chosen) -> dict[str, Any] | None:
    """Return in which order members are asked, when that stops, and what it takes on the selection rows.

    Where nothing can be promised no member is asked.
    """
    least = chosen.committee.least
    saves = exit_report(chosen.committee) if least != math.inf else None
    if saves is None:
        return None
    return dataclasses.asdict(saves) | {"rule": stopping_rule(promises=least is not None)}


def finite(number: float) -> float | None:
    """Return a number that JSON takes; None for what is infinite or unknown."""
    return number if math.isfinite(number) else None
