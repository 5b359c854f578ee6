"""Everything that is told of a chosen committee, once: a dict that JSON, text and page read."""

import dataclasses
import math
from typing import Any

from shortlist.ensembles.committees.chosen import Chosen
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.committees.savings import exit_report, stopping_rule
from shortlist.ensembles.pools.judges import votes_may_be_missing

HELD_OUT, OUT_OF_FOLD = "held-out", "out-of-fold"
"""Which rows prune a pool that is fitted here: a part that fits nothing, or all, each answered by classifiers
that were fitted on the other folds.
"""


def chosen_facts(chosen: Chosen) -> dict[str, Any]:
    """Return what is told of a committee: members, how they decide, what is proved, and whom to ask first.

    Returns
    -------
    dict
        Plain values that JSON takes. ``early_exit`` is None where nobody is asked one after the other, or
        nothing is on record.
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
    """Return in which order members are asked, when that stops, and what it takes on the rows that chose.

    Where nothing can be promised nobody is asked.
    """
    least = chosen.committee.least
    saves = exit_report(chosen.committee) if least != math.inf else None
    if saves is None:
        return None
    return dataclasses.asdict(saves) | {"rule": stopping_rule(promises=least is not None)}


def finite(number: float) -> float | None:
    """Return a number that JSON takes; None for what is infinite or unknown."""
    return number if math.isfinite(number) else None
