"""`shortlist measure`: figures of a saved model or panel on new rows, beside the reported figures."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import PANEL_FILE, check_files
from shortlist.cli.options.panel_options import (
    ComparedPolicy,
    LogOptions,
    front_of_log,
    limits_asked,
    picked_beside,
    rule_asked,
)
from shortlist.cli.options.settings import grouped, refuse_unused
from shortlist.cli.options.shared import (
    Decimals,
    Details,
    Gaps,
    Seed,
    Trust,
    cell_rules,
    check_shared,
)
from shortlist.cli.text.output import print_lines, print_notes
from shortlist.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shortlist.results.measured_again import MeasuredAgain, NewRows


@dataclass(frozen=True)
class RowOptions:
    """Rows."""

    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "--target-field",
            help="Column that holds the class, or the truth; by default the one that the model predicts, or "
            "that of the log.",
        ),
    ] = None
    gaps: Gaps = None
    decimal: Decimals = None
    trust: Trust = False


@dataclass(frozen=True)
class Seeded:
    """Searches for a new panel."""

    seed: Seed = 0


OF_MODELS, OF_PANELS = "models of prune, evolve and stage", "panels"


@grouped
@answers
def measure(
    context: typer.Context,
    model: Annotated[
        Path, typer.Argument(help="Model file of shortlist prune, evolve or stage, or JSON file of a panel.")
    ],
    table: Annotated[
        list[str],
        typer.Argument(
            help="CSV, Parquet or Excel file, - for standard input, or a set such as example:digits; of a "
            "panel one log of answers or more."
        ),
    ],
    *,
    rows: RowOptions,
    log: LogOptions,
    policy: ComparedPolicy,
    searched: Seeded,
    details: Details = False,
) -> CommandAnswer:
    """Measure a saved model or panel on new rows.

    The classes of the rows are known. Accuracy, recall by class, price and the share answered stand beside
    the figures reported when the model was made, with intervals at 95 %. The first line says whether these
    hold, whether a promise is kept, and whether to choose anew.

    Panels are measured on new answers or prices. A new search looks for the best panel of at most the saved
    one's mean price, and no slower where latency is an objective. It keeps the question and the promise of
    the saved one unless options say otherwise. The first line says which of both to use, or which single
    judge, as shortlist panel would with the same limits.
    """
    check_files(inputs={"MODEL": model, "TABLE": table, "--costs": log.costs}, outputs={})
    check_shared(context.params)
    is_panel = model.suffix.lower() in PANEL_FILE
    used = {OF_MODELS: (RowOptions,), OF_PANELS: (LogOptions, ComparedPolicy, Seeded)}
    refuse_unused(context, used, OF_PANELS if is_panel else OF_MODELS)
    if is_panel:
        return _measure_panel(model, table, log, policy, searched.seed, details=details)
    if len(table) > 1:
        raise BadInputError("TABLE", "must be one file, except for a panel", str(len(table)), "Name one.")
    return _measure_model(model, table[0], rows, details=details)


def _measure_panel(
    model: Path, logs: "Sequence[str]", log: LogOptions, policy: ComparedPolicy, seed: int, *, details: bool
) -> CommandAnswer:
    """Measure a saved panel on new answers, beside a new panel and a single judge."""
    from shortlist.cli.text.front_text import contract
    from shortlist.cli.text.panels import new_options, print_compared
    from shortlist.panels import load_panel
    from shortlist.panels.choice import told_notes
    from shortlist.panels.router import columns_of
    from shortlist.panels.standing import compared_facts

    old = load_panel(model)
    if old.router is not None and policy.router is None:
        policy = replace(policy, router=",".join(columns_of(old.router)))
    policy, error_costs, said = policy.with_question(old)
    options = replace(policy.like(old, seed), error_costs=error_costs)
    limits_asked(policy)
    rule_asked(policy)  # which are refused before any work
    read = log.read_for(old, logs, policy.router)
    old.run(read.at([0]))  # refuses other judges and classes before a search
    choice = front_of_log(read, options, policy)
    print_notes([*([said] if said else []), *told_notes(read, choice)])
    beside = picked_beside(choice, policy, old)
    facts = contract(choice.front)
    facts |= compared_facts(choice, old, read.at(read.truth >= 0), beside, margin=policy.margin)
    facts |= {"new_options": new_options(choice, old, beside[2], seed)}
    return CommandAnswer(facts, partial(print_compared, facts, details=details))


def _measure_model(model: Path, table: str, asked: RowOptions, *, details: bool) -> CommandAnswer:
    from shortlist.results.measured_again import MeasuredAgain, figures_of
    from shortlist.saved_models import load_model
    from shortlist.tables.learning import labelled_rows, read_table

    notes: list[str] = []
    saved = load_model(model, trust=asked.trust)
    estimator = saved.estimator
    read = read_table(table, notes, rules=cell_rules(asked.gaps, asked.decimal))
    X, truth = labelled_rows(read, _columns(saved), asked.target or saved.target, estimator.classes_)
    print_notes(notes)
    rows = _answered(estimator, X, truth)
    promise = getattr(getattr(estimator, "committee", estimator), "promise", None)
    promise = getattr(estimator, "guarantee_", None) if promise is None else promise
    promised = promise.accuracy if promise is not None and promise.promised else None
    found = MeasuredAgain(figures_of(rows), getattr(saved, "reported", {}), len(truth), promised)
    return CommandAnswer(found.as_dict(), partial(_print, found, details=details))


def _columns(saved: Any) -> tuple[str, ...]:
    """Return the columns that a model reads; for a committee of judges, the columns of its members."""
    committee = getattr(saved.estimator, "committee", None)
    judged = () if committee is None else committee.judged_columns
    return tuple(judged) or tuple(saved.features)


def _answered(estimator: Any, X: Any, truth: Any) -> "NewRows":
    """Return a model's answers about rows; several members are asked one after the other."""
    import numpy as np

    from shortlist.guarantees.cells import places_of
    from shortlist.results.measured_again import NewRows

    classes = estimator.classes_
    codes = np.searchsorted(classes, truth)
    if hasattr(estimator, "decisions"):
        found = estimator.decisions(X)
        priced = getattr(estimator, "errors_", None)
        errors = None if priced is None else priced.of_rows(found.labels, codes)
        paid = np.asarray(found.costs, dtype=np.float64)
        return NewRows(found.labels, codes, classes, prices=paid, errors=errors)
    by_class = getattr(estimator, "error_costs_", None)
    prices = None if by_class is None else np.asarray(by_class, dtype=np.float64)[codes]
    if hasattr(estimator, "committee"):
        early = estimator.predict_early(X)
        decided = np.where(early.answered, places_of(early.labels, classes), -1)
        errors = None if prices is None else prices * (decided != codes)
        calls = np.asarray(early.calls, dtype=np.float64)
        return NewRows(decided, codes, classes, calls, early.costs, errors)
    decided = places_of(estimator.predict(X), classes)
    return NewRows(decided, codes, classes, errors=None if prices is None else prices * (decided != codes))


MOST_RECALLS = 8
"""Number of classes whose recall is printed; --details prints the recall of every class."""


def _print(found: "MeasuredAgain", *, details: bool) -> None:
    from shortlist.report.page import Table
    from shortlist.results.intervals import with_interval

    recalls = [name for name in found.now if name.startswith("recall of ")]
    left_out = set() if details else set(recalls[MOST_RECALLS:])
    rows = [
        (
            name,
            with_interval(value[0], value[1:], ".4f", ".3f"),
            with_interval(told[0], told[1:], ".4f", ".3f") if (told := found.reported.get(name)) else "",
            "" if told is None else "changed" if name in found.broken else "holds",
        )
        for name, value in found.now.items()
        if name not in left_out
    ]
    head = (f"{found.n_rows:,} new rows", "measured (95 % interval)", "reported", "")
    lines = [found.sentence(), "", *Table("", head, tuple(rows)).lines([True] * 4)]
    if left_out:
        lines.append(f"{len(left_out)} more classes with --details.")
    if found.promised is not None:
        kept = "may hold on these rows" if found.keeps_promise else "is broken"
        lines.append(f"Promise: {found.promised:.1%} of the answers are right; it {kept}.")
    if found.is_worse:
        lines.append("Next: add these rows to the table, and make the model again with the same command.")
    else:
        lines.append("Next: keep the model, and measure it again on later rows.")
    print_lines(lines)
