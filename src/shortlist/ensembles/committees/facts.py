"""Facts about a chosen committee as one dict, which JSON, text and page read."""

import dataclasses
import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from shortlist._words import all_of, counted
from shortlist.arrays import Mask
from shortlist.ensembles.committees.asking import EarlyAnswers, ask_in_order, ask_record
from shortlist.ensembles.committees.chosen import Chosen
from shortlist.ensembles.committees.committee import Committee
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.pools.judges import votes_may_be_missing
from shortlist.guarantees.cells import ANSWERED, UNKNOWN, empty_rows, words_in
from shortlist.policies import paid


@dataclass(frozen=True)
class ExitReport:
    """Savings on the selection rows if members are asked one after the other."""

    order: tuple[str, ...]
    """Names of the members in the order of asking, each once."""
    prices: tuple[float, ...] | None
    """Price of asking each member, in the order of asking; None without prices."""
    is_best_order: bool
    """Whether no other order costs less on these rows, as long as only the class matters."""
    n_rows: int
    """Number of rows behind the figures."""
    mean_calls: float
    """Mean number of members asked about a row."""
    mean_cost: float | None
    cost: float | None
    """Mean price of the members asked about a row, and price of all members; None without prices."""


def exit_report(committee: Committee, *, least: float | None = None) -> ExitReport | None:
    """Return the savings of asking members one after the other; None without members or recorded answers.

    With `least`, or a promise, only rows whose answer reaches this probability are answered.
    """
    least = committee.least if least is None else least
    added = committee.added_on_record() if len(committee.members) else None
    scored = None if added is None or least is None else committee.scored_on_record()
    if added is None or (least is not None and scored is None):
        return None
    asking, order, prices = committee.asking(least), committee.order, committee.prices
    states = committee.states_on_record()
    calls = ask_in_order(asking, len(added), ask_record(added, scored), states).calls
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


HELD_OUT, OUT_OF_FOLD = "held-out", "out-of-fold"
"""Names of the pruning rows of a pool fitted here.

They are a part held out, or all rows, each answered by classifiers of the other folds.
"""


def chosen_facts(chosen: Chosen, held_out: EarlyAnswers | None = None) -> dict[str, Any]:
    """Return the facts about a committee: members, ballot, proof, and the order of asking.

    The values are plain ones that JSON takes. ``early_exit`` is None where members are asked all at once, or
    without recorded answers. `held_out`: answers and calls on test rows when members are asked one after the
    other.
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
        "copies": [int(n) for n in chosen.copies if n],
        "early_exit": _exit_facts(chosen, held_out),
    }


def result_facts(result: PrunedSelection) -> dict[str, Any]:
    """Return the result and the proof of exact pruning as a dict, or the reason for having none."""
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
    """Return the facts about the choice of a rule as a dict; a rule proves nothing."""
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


def _exit_facts(chosen: Chosen, held_out: EarlyAnswers | None) -> dict[str, Any] | None:
    least = chosen.committee.least
    saves = exit_report(chosen.committee) if least != math.inf else None
    if saves is None:
        return None
    test = None
    if held_out is not None:
        test = {
            "n_rows": len(held_out.calls),
            "mean_calls": float(held_out.calls.mean()),
            "mean_cost": None if held_out.costs is None else float(held_out.costs.mean()),
        }
    outcome = "its class" if least is None else "its class, or whether it is answered"
    rule = f"A row is finished as soon as no missing answer can change {outcome}."
    return dataclasses.asdict(saves) | {"rule": rule, "test": test}


def finite(number: float) -> float | None:
    """Return the number if it is finite, since JSON takes no other; otherwise None."""
    return number if math.isfinite(number) else None


class Unanswered(NamedTuple):
    """Rows that a committee cannot answer, whatever it promises about its answers."""

    rows: Mask
    """Mask of all rows that cannot be answered, ``(n_rows,)``."""
    silent: Mask
    too_few: Mask
    unknown: Mask
    """Masks of the rows, ``(n_rows,)`` each: without any answer or value; with too few answers for a
    threshold; with a word that is no class.
    """
    needs: tuple[str, ...]
    """Name of the judge that each row waits for, ``n_rows`` of them; empty for a row that waits for none."""
    words: str
    """The unknown words, and the judges that gave them."""

    def sentences(self) -> list[str]:
        """Return sentences on the unanswered rows: their number and the reasons.

        An empty list without such rows.
        """
        if not self.rows.any():
            return []
        waiting = sum(map(bool, self.needs))
        kinds = [
            (int(self.silent.sum()), "without any answer or value"),
            (int(self.too_few.sum()), "with too few answers for the rule"),
            (waiting, f"waiting for {all_of(sorted({one for one in self.needs if one}), most=5)}"),
            (int(self.unknown.sum()), f"with unknown words, {self.words}"),
        ]
        named = all_of([f"{n:,} {why}" for n, why in kinds if n])
        return [f"{counted(int(self.rows.sum()), 'row')} of {len(self.rows):,} cannot be answered: {named}."]


def unanswered_rows(committee: Committee, X: Any) -> Unanswered:
    """Return the rows that a committee cannot answer, whatever it promises, with the reasons.

    Under a promise, a row waits for a judge until it is certain whether the row is answered.
    """
    heard = committee.heard(X)
    if heard.states is None:
        return empty_cells(heard.rows, committee.unknown_words(heard.rows))
    free, least = replace(committee, promise=None), committee.least
    rows = free.decided(X) < 0
    early = free.predict_early(X, least=least)
    waits = np.array([bool(one) for one in early.needs])
    if least is not None:  # open until it is known whether they are answered, and no longer
        settled = np.array([not one for one in free.predict_early(X).needs])
        rows = np.asarray((rows & settled) | waits)
    unknown = rows & ~waits & (heard.states == UNKNOWN).any(axis=1)
    silent = rows & ~waits & ~unknown & ~(heard.states == ANSWERED).any(axis=1)
    pairs = {
        (str(X[judge.columns[0]].iloc[row]), judge.name)
        for place, judge in enumerate(committee.members.classifiers)
        for row in np.flatnonzero(unknown & (heard.states[:, place] == UNKNOWN))
    }
    words_said = words_in([name for _, name in sorted(pairs)], [word for word, _ in sorted(pairs)])
    needs = tuple(one if wait else "" for one, wait in zip(early.needs, waits, strict=True))
    return Unanswered(rows, silent, rows & ~waits & ~unknown & ~silent, unknown, needs, words_said)


def empty_cells(table: Any, unknown: Mask) -> Unanswered:
    """Return the rows of features that cannot be answered, as they have no value at all.

    `table`: the rows, ``(n_rows, n_features)``. `unknown`: mask of the cells with a word that no fitted row
    has, ``(n_rows, n_features)``; such a word counts as no value.
    """
    silent = empty_rows(table, unknown)
    none = np.zeros(len(silent), dtype=bool)
    return Unanswered(silent, silent, none, none, ("",) * len(silent), "")
