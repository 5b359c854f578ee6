"""Pruned ensembles as parts of a page: size, value and bound over time, confusion, votes, agreement."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.committees.chosen import Chosen, member_answers
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.committees.facts import chosen_facts
from shortlist.ensembles.fronts.front_claims import paid_columns
from shortlist.ensembles.pools.members import AGAIN, counted_names
from shortlist.ensembles.votes.hard_votes import (
    ClassCodes,
    class_tally,
    class_votes,
    merge_class_rows,
    n_right,
    plurality,
)
from shortlist.ensembles.votes.soft_votes import decided_by_mean
from shortlist.report.fronts import frequency_chart, front_parts
from shortlist.report.held_out import NOT_TESTED, confusion_chart, decisions_heading, measured_parts
from shortlist.report.page import Chart, Facts, Heading, Parts, Table, Text, guarantee_parts, line_data
from shortlist.results.front import Front
from shortlist.results.picking import Pick
from shortlist.results.proof import stopped_by

if TYPE_CHECKING:
    from shortlist.ensembles.committees.asking import EarlyAnswers
    from shortlist.ensembles.measured import Advice, Measured

MOST_MEMBERS = 24
"""Largest number of members in a picture of their agreement."""


def pruned_parts(
    chosen: Chosen,
    test: "Mapping[str, Measured] | None" = None,
    *,
    advice: "Advice | None" = None,
    n_parts: int | None = None,
    held_out: "EarlyAnswers | None" = None,
    answered: "tuple[int, int, int] | None" = None,
    positive: Any = None,
) -> Parts:
    """Return the parts of a page about a pruned ensemble.

    `chosen`: the committee, and its choice. `test`: figures of the ensemble and of other rules on hold-out
    rows, by name; the ensemble first. `advice`: recommendation among the rules. `n_parts`: number of parts of
    repeated choice, if repeated choice measured. `held_out`: result of early exit on the hold-out rows.
    `answered`: under a promise, the numbers of all, of answered and of rightly answered hold-out rows.
    `positive`: the named positive class.
    """
    facts, promise = chosen_facts(chosen, held_out), chosen.committee.promise
    names = None if advice is None else advice.names
    if test and advice is not None and advice.is_alone:
        test = {name: one for name, one in test.items() if name != "best_single"}
    take = "" if advice is None else advice.take
    measured: Parts = [Text(NOT_TESTED, note=True)]
    others: Parts = []
    if test:
        exits = facts["early_exit"]
        measured, others = measured_parts(test, names, exits, take=take, positive=positive, n_parts=n_parts)
    parts: list[Any] = [
        Heading("What to do"),
        *([] if advice is None or promise is not None else [Text(advice.sentence)]),
        *([] if promise is None else [Text(promise.sentence())]),
        *([] if answered is None else [Text(_kept_on(*answered))]),
        *measured,
        *([] if advice is None or advice.is_alone else [Text(advice.compared())]),
        _asking(chosen, facts["early_exit"]),
        *([] if promise is None else guarantee_parts(promise)),
        Heading("How it was chosen"),
        _facts(chosen, facts),
    ]
    is_front = chosen.front is not None and chosen.pick is not None
    parts += [] if is_front or chosen.result is None else _history(chosen.result)
    parts += [decisions_heading(n_parts), *others] if others else []
    codes = _answers(chosen)
    if chosen.front is not None and chosen.pick is not None:
        parts += _front(chosen.front, chosen.pick)
    if codes is None:
        if chosen.order_right is not None:
            parts += [Heading("Size"), *_size_of_order(chosen, chosen.order_right)]
        parts.append(
            Text(
                "Confusion, votes and agreement on the selection rows are missing: a rule keeps no votes.",
                note=True,
            )
        )
        return parts
    truth = _truth(chosen)
    parts += [Heading("On the selection rows"), *_sizes(chosen, codes, truth)]
    parts += _before_and_after(chosen, codes, truth)
    if chosen.committee.ballot.threshold is not None:
        parts += _votes(chosen, chosen.committee.ballot.threshold)
    return [*parts, *_agreement(chosen, codes)]


def failed_parts(result: PrunedSelection) -> Parts:
    """Return the parts of a page if no selection keeps the limits."""
    facts = Facts((("status", f"{result.status}: {result.reason}"),))
    return [Heading("The ensemble"), facts, *_history(result)]


def _front(front: Front, pick: Pick) -> Parts:
    """Return the non-dominated committees, the committee that predicts, and bounds for all others."""
    picks = [("committees", pick, f"The committee that predicts, taken by {pick.rule}.")]
    facts = [
        (
            f"{'most' if 'at_most' in bound else 'least'} {bound['name']}",
            f"{bound.get('at_most', bound.get('at_least')):g}, by {bound['proved_by']}",
        )
        for bound in front.extras["bounds"]
    ]
    facts += [
        (f"every {name} looked at", f"up to {final:g}") for name, final in front.extras["final_to"].items()
    ]
    proved = sum(front.extras["proved"])
    heading = "The front, on the selection rows"
    parts: list[Any] = [*front_parts({"committees": front}, picks=picks, heading=heading)]
    if paid := paid_columns(front):
        rows = zip(front.values.tolist(), *paid.values(), strict=True)
        parts.append(
            Table(
                "What is paid with early exit, for a selection row",
                ("point", *front.names, *paid),
                tuple(
                    (str(point), *(f"{value:.6g}" for value in (*values, *told)))
                    for point, (values, *told) in enumerate(rows)
                ),
            )
        )
    chart = frequency_chart(front, noun="classifier")
    more: list[Any] = [Facts((("points proved", f"{proved:,} of {len(front):,}"), *facts))]
    return [*parts, *more, *([chart] if chart else [])]


def _facts(chosen: Chosen, told: Mapping[str, Any]) -> Facts:
    costs = chosen.error_costs_
    facts = [("members", f"{told['size']:,} of {told['n_classifiers']:,} classifiers")]
    if chosen.result is not None:
        facts += _proof_facts(chosen, chosen.result)
    else:
        facts += [
            ("chosen by", chosen.method),
            ("accuracy", f"{chosen.accuracy:.4f} on the selection rows"),
            *(
                []
                if costs is None
                else [("mean cost of errors", f"{chosen.evidence.value:.4g} on these rows")]
            ),
            ("proof", "a rule proves nothing"),
        ]
    return Facts(tuple(facts))


def _kept_on(n_rows: int, n_answered: int, n_right: int) -> str:
    return (
        f"With the promise {n_answered:,} of the {n_rows:,} test rows are answered, {n_right:,} of them "
        "rightly. The other figures are about all test rows, answered without a promise."
    )


def _asking(chosen: Chosen, exits: Mapping[str, Any] | None) -> Facts:
    members = chosen.committee.members.names
    who = counted_names(members)
    if len(who) <= 1 or exits is None:
        return Facts((("members", ", ".join(who) or "no member"),))
    copies = dict(zip((name for name in members if AGAIN not in name), who, strict=True))
    order = [copies[name] for name in exits["order"]]
    if exits["prices"] is not None:
        order = [f"{name} for {price:g}" for name, price in zip(order, exits["prices"], strict=True)]
    facts = [
        ("members, in the order to ask them", ", ".join(order)),
        ("asking all", _paid(len(order), exits["cost"])),
    ]
    if exits["test"] is not None:
        facts.append(
            ("with early exit, test rows", _paid(exits["test"]["mean_calls"], exits["test"]["mean_cost"]))
        )
    facts.append(("with early exit, selection rows", _paid(exits["mean_calls"], exits["mean_cost"])))
    return Facts((*facts, ("when to stop", exits["rule"])))


def _paid(calls: float, cost: float | None) -> str:
    return f"{calls:.4g} calls a row" + ("" if cost is None else f", for {cost:.4g}")


def _proof_facts(chosen: Chosen, result: PrunedSelection) -> list[tuple[str, str]]:
    limit = f", {stopped_by(result.proof.limit)}" if result.proof.limit else ""
    return [
        ("decision", chosen.committee.ballot.in_words(chosen.classes_)),
        (result.objective.name, f"{result.value:.6g} on the {chosen.evidence.rows}")
        if chosen.error_costs_ is None
        else ("mean cost of errors", f"{chosen.error_cost_:.6g} on the {chosen.evidence.rows}"),
        ("proof", f"{chosen.evidence.claim()}{limit}"),
        ("bound by", result.proved_by or "nothing"),
        ("time", f"{result.seconds:.2f} s"),
    ]


def _history(result: PrunedSelection) -> Parts:
    if not result.history:
        return []
    end = max(result.seconds, result.history[-1][0])
    values = [[seconds, value] for seconds, value, _ in result.history if value is not None]
    bounds = [[seconds, bound] for seconds, _, bound in result.history if np.isfinite(bound)]
    series = [
        {"name": name, "step": True, "points": [*points, [end, points[-1][1]]]}
        for name, points in (("value", values), ("bound", bounds))
        if points
    ]
    last = result.history[-1]
    return [
        Heading("The proof"),
        Chart(
            "Value and bound over time",
            f"After {end:.2f} s the value is {result.value:.6g} and the bound {last[2]:.6g}; where they meet "
            "the value is proved best.",
            line_data("seconds", result.objective.name, series),
            Table(
                "Value and bound over time",
                ("seconds", "value", "bound"),
                tuple(
                    (f"{seconds:.3f}", "none" if value is None else f"{value:.8g}", f"{bound:.8g}")
                    for seconds, value, bound in result.history
                ),
            ),
        ),
    ]


def _answers(chosen: Chosen) -> ClassCodes | None:
    """Return each classifier's answers on the selection rows, as class indices; None if not kept."""
    everybody = np.ones(len(chosen.copies), dtype=bool)
    record = chosen.record
    if chosen.committee.ballot.by_mean and chosen.result is not None and record.shares is not None:
        codes = np.asarray(record.shares.argmax(axis=2), dtype=np.uint8)
        silent = member_answers(record, everybody, chosen.positive_place).silent
        codes[np.zeros(codes.shape, dtype=bool) if silent is None else silent] = len(chosen.classes_)
        return codes
    return member_answers(record, everybody, chosen.positive_place).codes


def _truth(chosen: Chosen) -> ClassCodes:
    """Return the index of each selection row's true class, in the sorted classes."""
    labels, positive = chosen.record.labels, chosen.positive_place
    return labels if positive is None else np.where(labels == 1, positive, 1 - positive).astype(np.uint8)


def _decided(chosen: Chosen, codes: ClassCodes) -> NDArray[np.int64]:
    """Return the class index that the members decide for each row, -1 without an answer."""
    members, ballot = np.repeat(np.arange(len(chosen.copies)), chosen.copies), chosen.committee.ballot
    if not ballot.by_mean:
        return ballot.decided(codes[:, members])
    assert chosen.record.shares is not None, "means are of what is on record"
    decided = ballot.decided(chosen.record.shares[:, members])
    return np.where((codes[:, members] < len(chosen.classes_)).any(axis=1), decided, -1)


def _sizes(chosen: Chosen, codes: ClassCodes, truth: ClassCodes) -> Parts:
    from shortlist.ensembles.rules import reduced_error  # its kernels take time to load

    votes = merge_class_rows(class_votes(codes, truth, n_classes=len(chosen.classes_)))
    n_rows = len(truth)
    alone = (codes == truth[:, None]).sum(axis=0)
    by_accuracy = np.argsort(-alone, kind="stable")
    greedy = reduced_error(votes)
    right = [n_right(votes, by_accuracy[: k + 1]) for k in range(len(by_accuracy))]
    size = int(chosen.selection.sum())
    own = float((_decided(chosen, codes) == truth).mean())
    selection = [[size, own, f"the selection: {size} members, accuracy {own:.4f}"]]
    series: list[dict[str, Any]] = [
        {"name": "one by one, most right next", "points": _curve(greedy.right, n_rows)},
        {"name": "most accurate alone first", "points": _curve(right, n_rows)},
        {"name": "the selection", "points": selection, "line": False},
    ]
    return [
        _size_chart(
            series, f"The selection has {size} members and is right on {100 * own:.2f} % of {n_rows:,} rows."
        )
    ]


def _size_of_order(chosen: Chosen, right: NDArray[np.integer[Any]]) -> Parts:
    size = int(chosen.selection.sum())
    series: list[dict[str, Any]] = [
        {"name": "in the rule's order", "points": _curve(right, len(chosen.record.labels))},
        {"name": "the selection", "points": [[size, chosen.accuracy]], "line": False},
    ]
    told = f"The selection has {size} members, accuracy {chosen.accuracy:.4f}."
    return [_size_chart(series, f"{told} The rest of the curve is as the run reported it.")]


def _curve(right: Sequence[int] | NDArray[np.integer[Any]], n_rows: int) -> list[list[float]]:
    return [[k + 1, round(int(n) / n_rows, 6)] for k, n in enumerate(right)]


def _size_chart(series: list[dict[str, Any]], text: str) -> Chart:
    rows = [(one["name"], f"{point[0]:,}", f"{point[1]:.4f}") for one in series for point in one["points"]]
    return Chart(
        "Accuracy against size",
        text,
        line_data("members", "accuracy on the selection rows", series, whole=True),
        Table("Accuracy against size", ("order", "members", "accuracy"), tuple(rows)),
        ("Curves are majority votes of the first classifiers in each order.",),
    )


def _before_and_after(chosen: Chosen, codes: ClassCodes, truth: ClassCodes) -> Parts:
    n, shares = len(chosen.classes_), chosen.record.shares
    tally = class_tally(codes, n)
    whole: NDArray[Any] = np.where(tally.any(axis=1), plurality(tally).astype(np.int64), -1)
    if chosen.committee.ballot.by_mean and shares is not None:
        whole = np.where(tally.any(axis=1), decided_by_mean(shares, chosen.gains).astype(np.int64), -1)
    parts: list[Any] = []
    for title, decided in (
        ("before: the whole pool", whole),
        ("after: the selection", _decided(chosen, codes)),
    ):
        answered = decided >= 0
        counts = np.zeros((n, n), dtype=np.int64)
        np.add.at(counts, (truth[answered], decided[answered]), 1)
        parts.append(confusion_chart(f"Confusion {title}", counts, chosen.classes_))
        if not answered.all():
            parts.append(Text(f"Rows that no member answers are left out: {(~answered).sum():,}.", note=True))
    return parts


def _votes(chosen: Chosen, threshold: int) -> Parts:
    """Return the distribution of votes for the positive class, by true class, with the threshold."""
    record, selection, positive = chosen.record, chosen.selection, chosen.terms.positive
    assert record.packed_votes is not None, "votes for one class are on record"
    votes = np.unpackbits(record.packed_votes, axis=1, count=len(selection))[:, selection]
    tally = votes.sum(axis=1, dtype=np.int64)
    size = int(selection.sum())
    names = {1: str(positive), 0: f"not {positive}"}
    counts = {label: np.bincount(tally[record.labels == label], minlength=size + 1) for label in (0, 1)}
    series = [
        {"name": names[label], "points": [[k, int(n)] for k, n in enumerate(counts[label])]}
        for label in (0, 1)
    ]
    marks = [{"at": threshold + 0.5, "text": f"more than {threshold}"}]
    return [
        Chart(
            "Votes and threshold",
            f"Rows by the number of members that vote {positive}; more than {threshold} votes decide so.",
            line_data(f"votes for {positive}", "rows", series, whole=True, marks=marks),
            Table(
                "Votes",
                ("votes", names[0], names[1]),
                tuple((str(k), f"{counts[0][k]:,}", f"{counts[1][k]:,}") for k in range(size + 1)),
            ),
        )
    ]


def _agreement(chosen: Chosen, codes: ClassCodes) -> Parts:
    answers = codes[:, chosen.selection][:, :MOST_MEMBERS]
    names = list(chosen.committee.names)[:MOST_MEMBERS]
    if len(names) < 2:
        return []
    alike = np.array([(answers == column[:, None]).mean(axis=0) for column in answers.T])
    pairs = alike[np.triu_indices(len(names), 1)]
    size = int(chosen.selection.sum())
    more = f" The first {len(names)} of {size:,} members are shown." if size > len(names) else ""
    percent = (100 * alike).round(1)
    return [
        Chart(
            "How members agree",
            f"Two members answer alike on {100 * pairs.min():.1f} % to {100 * pairs.max():.1f} % of the "
            f"rows, {100 * pairs.mean():.1f} % on average.{more}",
            {
                "kind": "counts",
                "rows": names,
                "columns": names,
                "values": percent.tolist(),
                "most": 100,
                "x": {"label": "% of the rows answered alike"},
            },
            Table(
                "Share of the rows answered alike, in %",
                ("member", *map(str, range(1, len(names) + 1))),
                tuple(
                    (f"{number}: {name}", *map(str, row))
                    for number, (name, row) in enumerate(zip(names, percent.tolist(), strict=True), start=1)
                ),
            ),
        )
    ]
