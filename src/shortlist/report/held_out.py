"""Rows that were held out, on pages of ensembles, and the page of an evolved one: errors by generation."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted
from shortlist.arrays import Labels
from shortlist.ensembles.estimators.evolved_ensemble import evolution_facts
from shortlist.ensembles.measured import NO_ANSWER, measured_facts
from shortlist.report.page import Chart, Facts, Heading, Parts, Table, Text, line_data
from shortlist.results.intervals import with_interval

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
    from shortlist.ensembles.measured import Advice, Measured

SHOWN = ("pruned", "evolved", "best_single", "backfitting", "full")
"""Order of the rules in a table."""

NOT_TESTED = (
    "Figures on the rows that measured are not in a model file: the page that the command writes when it "
    "makes the model shows them."
)

ALONE = ", the most accurate individual of the last generation"
"""Words for an individual that answers alone."""


def held_out_table(
    test: Mapping[str, Any],
    names: Mapping[str, str],
    rows: Mapping[str, int],
    exits: Mapping[str, Any] | None = None,
) -> Table:
    """Return figures of rules, for a screen and for a page: whom to ask, how good, at what cost.

    `test`: as :func:`shortlist.ensembles.measured.measured_facts` tells it. `names`: what the rules are
    called. `rows`: how many rows measure (``test``), and in how many parts, by repeated choice.
    `exits`: what asking the first one member by member takes, as ``early_exit`` of
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


def _cost(told: Mapping[str, Any]) -> str:
    return with_interval(told["error_cost"], tuple(told["error_cost_interval"]), ".4f", ".3f")


def measured_parts(
    test: "Mapping[str, Measured]",
    names: Mapping[str, str] | None = None,
    exits: Mapping[str, Any] | None = None,
    *,
    n_parts: int | None = None,
) -> Parts:
    """Return figures of rules on rows that measure: a table, and the confusion of each.

    `n_parts`: parts of repeated choice. `names`: what the rules are called, by default as `test` has them.
    `exits`: as of :func:`held_out_table`.
    """
    called = {name: name.replace("_", " ") for name in test} | dict(names or {})
    rows = {"test": next(iter(test.values())).n_rows}
    rows |= {} if n_parts is None else {"parts": n_parts}
    where = "by repeated choice" if n_parts else "on the test rows"
    charts = [
        confusion_chart(f"Confusion {where}: {called[name]}", measured.confusions, measured.classes)
        for name, measured in test.items()
    ]
    return [held_out_table(measured_facts(test), called, rows, exits), *charts]


def decisions_heading(n_parts: int | None) -> Heading:
    """Return the heading of the confusions; `n_parts`: parts of repeated choice, where that measured."""
    return Heading(f"Decisions {'by repeated choice' if n_parts else 'on the test rows'}")


def confusion_chart(title: str, decisions: NDArray[np.integer[Any]], classes: Labels) -> Chart:
    """Return a picture of rows by true class and decision.

    `decisions`, ``(n_classes, n_classes + 1)``: the last column has the rows without an answer, and is shown
    where there are any.
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
    """Return the parts of a page that show an evolved ensemble.

    `test`: what the ensemble and others do on rows that measure, by name; the ensemble first. `advice`: which
    of them to take. `n_parts`: parts of repeated choice. `note`: what the rows can tell and cannot.
    """
    told = evolution_facts(classifier)
    stopped = f", stopped: {told['limit']}" if told["limit"] else ""
    proved = "evolution proves nothing"
    if told["selection"]["error_bound"] is not None:
        among = "among the choices from the candidates of the last step"
        proved = f"{among}: {told['proof']['sentence']}; of other candidates nothing is proved"
    facts = Facts(
        (
            ("members", f"{told['size']:,}{ALONE if classifier.is_alone_ else ''}"),
            ("error", f"{classifier.result_.error:.4f} on the rows that it was evolved on"),
            ("search", f"{told['method']}, {told['space']}"),
            ("generations", f"{told['generations']:,} of {classifier.n_generations:,}{stopped}"),
            ("proof", proved),
        )
    )
    generations: list[Any] = [Heading("Generations"), *_history(classifier)]
    if not test or advice is None:
        return [Heading("The ensemble"), facts, Text(NOT_TESTED, note=True), *generations]
    table, *confusions = measured_parts(test, advice.names, n_parts=n_parts)
    compared = [Text(told) for told in (advice.compared(), note) if told]
    first = [Heading("What to do"), Text(advice.sentence), table, *compared]
    decisions = [decisions_heading(n_parts), *confusions]
    return [*first, Heading("The ensemble"), facts, *decisions, *generations]


def _history(classifier: "EvolutionaryEnsembleClassifier") -> Parts:
    history = classifier.result_.history
    if not history:
        return [Text("No generation has ended.")]
    errors = [
        {"name": name, "points": [[one.number, getattr(one, field)] for one in history]}
        for name, field in (
            ("best individual", "best_error"),
            ("mean of individuals", "mean_error"),
            ("ensemble", "ensemble_error"),
        )
    ]
    sizes = [{"name": "members", "points": [[one.number, one.ensemble_size] for one in history]}]
    first, last = history[0], history[-1]
    numbers = Table(
        "By generation",
        ("generation", "best error", "mean error", "ensemble error", "members"),
        tuple(
            (
                str(one.number),
                f"{one.best_error:.4f}",
                f"{one.mean_error:.4f}",
                f"{one.ensemble_error:.4f}",
                f"{one.ensemble_size:,}",
            )
            for one in history
        ),
    )
    return [
        Chart(
            "Errors by generation",
            f"The ensemble's error on its own rows goes from {first.ensemble_error:.4f} to "
            f"{last.ensemble_error:.4f}, that of the best individual from {first.best_error:.4f} to "
            f"{last.best_error:.4f}.",
            line_data("generation", "error", errors, whole=True),
            numbers,
        ),
        Chart(
            "Members by generation",
            f"The ensemble has {counted(first.ensemble_size, 'member')} after the first generation and "
            f"{last.ensemble_size:,} after the last.",
            line_data("generation", "members", sizes, whole=True),
        ),
    ]
