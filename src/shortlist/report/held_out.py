"""Hold-out rows on pages of ensembles, and the page of an evolved ensemble with errors by generation."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted
from shortlist.arrays import Labels
from shortlist.ensembles.measured import NO_ANSWER, measured_facts
from shortlist.report.page import Chart, Facts, Heading, Parts, Table, Text, line_data
from shortlist.results.intervals import with_interval

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
    from shortlist.ensembles.measured import Advice, Measured

SHOWN = ("pruned", "evolved", "best_single", "backfitting", "full")
"""Order of the rules in a table."""

MOST_OF_LABEL = 12
"""Largest number of letters of a class in the header of a column."""

MOST_OF_RULE = 28
"""Largest number of letters of a rule's name beside recall and specificity, so that a row fits on a screen.
"""

NOT_TESTED = (
    "A model file does not hold the figures on the measuring rows: they are on the page that the command "
    "writes together with the model."
)

ALONE = ", the most accurate individual of the last generation"
"""Words for an ensemble that is a single individual."""


def held_out_table(
    test: Mapping[str, Any],
    names: Mapping[str, str],
    rows: Mapping[str, int],
    exits: Mapping[str, Any] | None = None,
) -> Table:
    """Return the figures of rules for a screen and a page: the rule, its quality, and its price.

    `test`: facts of :func:`shortlist.ensembles.measured.measured_facts`. `names`: names of the rules in
    words. `rows`: number of rows that measure (``test``), and of parts by repeated choice. `exits`: result of
    early exit of the first rule, the ``early_exit`` of
    :func:`shortlist.ensembles.committees.facts.chosen_facts`.
    """
    priced = all(one["price"] is not None for one in test.values())
    costed = all("error_cost" in one for one in test.values())
    asked = {name: f"{one['size']:,}" for name, one in test.items()}
    costs = {name: f"{one['price']:.4g}" for name, one in test.items()} if priced else {}
    if exits is not None and exits["test"] is not None and "pruned" in test:
        asked["pruned"] = f"{exits['test']['mean_calls']:.2f} of {asked['pruned']}"
        if priced:
            costs["pruned"] = f"{exits['test']['mean_cost']:.4g}"
    lines = [
        (
            names[name],
            with_interval(test[name]["accuracy"], test[name]["accuracy_interval"], ".4f", ".3f"),
            _cost(test[name]) if costed else f"{test[name]['balanced_accuracy']:.4f}",
            asked[name],
            *([costs[name]] if priced else []),
        )
        for name in sorted(test, key=list(SHOWN).index)
    ]
    repeated = "parts" in rows
    return Table(
        "By repeated choice: each row is measured by choices made without it"
        if repeated
        else "On test rows, on which nothing was fitted or chosen",
        (f"{rows['test']:,} {'rows' if repeated else 'test rows'}",
         "accuracy (95 % interval)", "cost of errors" if costed else "balanced", "asked a row",
         *(["cost a row"] if priced else [])),
        tuple(lines),
        ("In brackets intervals at 95 %." + ("" if costed else " Balanced: the mean over the classes."),),
    )  # fmt: skip


def class_table(test: Mapping[str, Any], names: Mapping[str, str], shown: str | None) -> Table | None:
    """Return recall, specificity and the share of missing answers of each rule; None if `shown` is None.

    `test`, `names`: as in :func:`held_out_table`. `shown`: class whose recall is shown.
    """
    if shown is None or any(len(one["by_class"]) != 2 for one in test.values()):
        return None
    (other,) = {one["label"] for one in next(iter(test.values()))["by_class"]} - {shown}
    own, also = (one if len(one) <= MOST_OF_LABEL else f"{one[:MOST_OF_LABEL]}…" for one in (shown, other))
    lines = []
    for name in sorted(test, key=list(SHOWN).index):
        found = {one["label"]: one for one in test[name]["by_class"]}
        right = (
            with_interval(found[label]["right"], found[label]["right_interval"], ".4f", ".3f")
            for label in (shown, other)
        )
        called = names[name] if len(names[name]) <= MOST_OF_RULE else f"{names[name][:MOST_OF_RULE]}…"
        lines.append((called, *right, f"{found[shown]['wrong']:.4f}"))
    columns = ("", f"recall of {own}", f"specificity ({also})", f"{own} missed")
    return Table(f"Whom they miss: rows of {own}", columns, tuple(lines))


def error_costs_in_words(costs: Mapping[str, float]) -> str:
    """Return a sentence on the costs of errors; `costs`: cost of a wrong answer by class.

    >>> error_costs_in_words({"healthy": 1, "ill": 10})
    'A wrong answer costs: healthy 1, ill 10, by the true class.'
    """
    return f"A wrong answer costs: {', '.join(f'{k} {v:g}' for k, v in costs.items())}, by the true class."


def _cost(told: Mapping[str, Any]) -> str:
    return with_interval(told["error_cost"], tuple(told["error_cost_interval"]), ".4f", ".3f")


def measured_parts(
    test: "Mapping[str, Measured]",
    names: Mapping[str, str] | None = None,
    exits: Mapping[str, Any] | None = None,
    *,
    take: str = "",
    positive: Any = None,
    n_parts: int | None = None,
) -> tuple[Parts, Parts]:
    """Return the figures of rules with one confusion, and then the confusions of the other rules.

    The figures are of the rows that measure. `take`: name of the recommended rule. `positive`: the named
    positive class. `n_parts`: number of parts of repeated choice. `names`: names of the rules in words, by
    default the keys of `test`. `exits`: as in :func:`held_out_table`.
    """
    called = {name: name.replace("_", " ") for name in test} | dict(names or {})
    rows = {"test": next(iter(test.values())).n_rows}
    rows |= {} if n_parts is None else {"parts": n_parts}
    where = "by repeated choice" if n_parts else "on the test rows"
    charts = [
        confusion_chart(f"Confusion {where}: {called[name]}", measured.confusions, measured.classes)
        for name, measured in sorted(test.items(), key=lambda one: one[0] != take)
    ]
    facts, first = measured_facts(test), next(iter(test.values()))
    classes = class_table(facts, called, first.shown_class(positive))
    costs = first.costs
    told = (
        None
        if costs is None
        else error_costs_in_words(dict(zip(map(str, first.classes), costs[-1], strict=True)))
    )
    return [
        held_out_table(facts, called, rows, exits), charts[0],
        *([] if told is None else [Text(told, note=True)]), *([] if classes is None else [classes]),
    ], charts[1:]  # fmt: skip


def decisions_heading(n_parts: int | None) -> Heading:
    """Return the heading of the confusions of other rules; `n_parts`: number of parts of repeated choice."""
    return Heading(f"Decisions of others {'by repeated choice' if n_parts else 'on the test rows'}")


def confusion_chart(title: str, decisions: NDArray[np.integer[Any]], classes: Labels) -> Chart:
    """Return a picture of the numbers of rows by true class and decision.

    `decisions`, ``(n_classes, n_classes + 1)``: the last column counts rows without an answer, and is shown
    if there are such rows.
    """
    names = [str(label) for label in classes]
    counts = np.asarray(decisions)
    left = bool(counts[:, len(names) :].any())
    counts = counts[:, : len(names) + left]
    columns = [*names, NO_ANSWER] if left else names
    right, total = int(np.trace(counts)), int(counts.sum())
    return Chart(
        title,
        f"{right:,} of {total:,} rows are right, those on the diagonal; rows are the true class, "
        "columns the decision.",
        {
            "kind": "counts",
            "rows": names,
            "columns": columns,
            "values": counts.tolist(),
            "diagonal": True,
            "x": {"label": "decision"},
            "y": {"label": "true class"},
        },
        Table(
            title,
            ("true class", *columns),
            tuple((name, *(f"{n:,}" for n in row)) for name, row in zip(names, counts.tolist(), strict=True)),
        ),
    )


def evolved_parts(
    classifier: "EvolutionaryEnsembleClassifier",
    test: "Mapping[str, Measured] | None" = None,
    advice: "Advice | None" = None,
    *,
    n_parts: int | None = None,
    note: str = "",
) -> Parts:
    """Return the parts of a page about an evolved ensemble.

    `test`: figures of the ensemble and of other rules on the rows that measure, by name; the ensemble first.
    `advice`: recommendation among the rules. `n_parts`: number of parts of repeated choice. `note`: sentence
    on the evidence of the rows.
    """
    from shortlist.ensembles.estimators.evolved_ensemble import evolution_facts

    told = evolution_facts(classifier)
    stopped = f", stopped: {told['limit']}" if told["limit"] else ""
    proved, what = "evolution proves nothing", "error"
    if told["error_costs"] is not None:
        what = "mean cost of errors"
    facts = Facts(
        (
            ("members", f"{told['size']:,}{ALONE if classifier.is_alone_ else ''}"),
            (what, f"{classifier.result_.error:.4f} on the rows that it was evolved on"),
            ("search", f"{told['method']}, {told['space']}"),
            ("generations", f"{told['generations']:,} of {classifier.n_generations:,}{stopped}"),
            ("proof", proved),
        )
    )
    generations: list[Any] = [Heading("Generations"), *_history(classifier)]
    if not test or advice is None:
        return [Heading("The ensemble"), facts, Text(NOT_TESTED, note=True), *generations]
    measured, others = measured_parts(test, advice.names, take=advice.take, n_parts=n_parts)
    compared = [Text(told) for told in (advice.compared(), note) if told]
    first = [Heading("What to do"), Text(advice.sentence), *measured, *compared]
    decisions = [decisions_heading(n_parts), *others] if others else []
    return [*first, Heading("The ensemble"), facts, *decisions, *generations]


def _history(classifier: "EvolutionaryEnsembleClassifier") -> Parts:
    history, grows = classifier.result_.history, classifier.mode == "online"
    what = "error" if classifier.error_costs is None else "mean cost of errors"
    if not history:
        return [Text("No generation has ended.")]
    curves = [("best individual", "best_error"), ("mean of individuals", "mean_error")]
    curves += [("ensemble", "ensemble_error")] if grows else []  # else chosen after the last generation
    errors = [
        {"name": name, "points": [[one.number, getattr(one, field)] for one in history]}
        for name, field in curves
    ]
    first, last = history[0], history[-1]
    told = (
        f"The {what} of the best individual on its own rows goes from {first.best_error:.4f} to "
        f"{last.best_error:.4f}"
    )
    ensemble = f"that of the ensemble from {first.ensemble_error:.4f} to {last.ensemble_error:.4f}"
    chosen = f"the ensemble is chosen after that, with {classifier.result_.error:.4f}"
    error, size = (["ensemble error"], ["members"]) if grows else ([], [])
    numbers = Table(
        "By generation",
        ("generation", "best error", "mean error", *error, *size),
        tuple(
            (
                str(one.number),
                f"{one.best_error:.4f}",
                f"{one.mean_error:.4f}",
                *(f"{one.ensemble_error:.4f}" for _ in error),
                *(f"{one.ensemble_size:,}" for _ in size),
            )
            for one in history
        ),
    )
    errors_chart = Chart(
        "Errors by generation",
        f"{told}; {ensemble if grows else chosen}." if classifier.mode != "single" else f"{told}.",
        line_data("generation", what, errors, whole=True),
        numbers,
    )
    if not grows:
        return [errors_chart]
    sizes = [{"name": "members", "points": [[one.number, one.ensemble_size] for one in history]}]
    return [
        errors_chart,
        Chart(
            "Members by generation",
            f"The ensemble has {counted(first.ensemble_size, 'member')} after the first generation and "
            f"{last.ensemble_size:,} after the last.",
            line_data("generation", "members", sizes, whole=True),
        ),
    ]
