"""`shortlist measure`: figures of a saved model on new rows beside those reported when it was made."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.shared import (
    Decimals,
    Details,
    Gaps,
    Json,
    SavedModelFile,
    TableFile,
    Trust,
    cell_rules,
)
from shortlist.cli.text.output import print_json, print_lines, print_notes, run_facts

if TYPE_CHECKING:
    from shortlist.results.measured_again import MeasuredAgain, NewRows


def measure(
    context: typer.Context,
    model: SavedModelFile,
    table: TableFile,
    *,
    target: Annotated[
        str | None,
        typer.Option(help="Column that holds the class; by default the one that the model predicts."),
    ] = None,
    gaps: Gaps = None,
    decimal: Decimals = None,
    trust: Trust = False,
    details: Details = False,
    json: Json = False,
) -> None:
    """Measure a saved model on new rows whose classes are known.

    Accuracy, recall by class, price and the share answered stand beside the figures reported when the model
    was made, with intervals at 95 %. The first line says whether these hold, whether a promise is kept, and
    whether to choose anew. Panels are measured by shortlist panel compare.
    """
    from shortlist.cli.files import check_files

    check_files(inputs={"MODEL": model, "TABLE": table}, outputs={})
    from shortlist.results.measured_again import MeasuredAgain, figures_of
    from shortlist.saved_models import load_model
    from shortlist.tables.learning import labelled_rows, read_table

    notes: list[str] = []
    saved = load_model(model, trust=trust)
    estimator = saved.estimator
    read = read_table(table, notes, rules=cell_rules(gaps, decimal))
    X, truth = labelled_rows(read, _columns(saved), target or saved.target, estimator.classes_)
    print_notes(notes)
    rows = _answered(estimator, X, truth)
    promise = getattr(getattr(estimator, "committee", estimator), "promise", None)
    promise = getattr(estimator, "guarantee_", None) if promise is None else promise
    promised = promise.accuracy if promise is not None and promise.promised else None
    found = MeasuredAgain(figures_of(rows), getattr(saved, "reported", {}), len(truth), promised)
    if json:
        print_json({"command": "measure", **found.as_dict(), "notes": notes} | run_facts(context))
        return
    _print(found, details=details)


def _columns(saved: Any) -> tuple[str, ...]:
    """Return the columns that a model reads: of judges those of the members alone."""
    committee = getattr(saved.estimator, "committee", None)
    judged = () if committee is None else committee.judged_columns
    return tuple(judged) or tuple(saved.features)


def _answered(estimator: Any, X: Any, truth: Any) -> "NewRows":
    """Ask a model about rows, members one after the other where there are several."""
    import numpy as np

    from shortlist.guarantees.cells import places_of
    from shortlist.results.measured_again import NewRows

    classes = estimator.classes_
    codes = np.searchsorted(classes, truth)
    if hasattr(estimator, "decisions"):
        found = estimator.decisions(X)
        return NewRows(found.labels, codes, classes, prices=np.asarray(found.costs, dtype=np.float64))
    if hasattr(estimator, "committee"):
        early = estimator.predict_early(X)
        decided = np.where(early.answered, places_of(early.labels, classes), -1)
        return NewRows(decided, codes, classes, np.asarray(early.calls, dtype=np.float64), early.costs)
    return NewRows(places_of(estimator.predict(X), classes), codes, classes)


MOST_RECALLS = 8
"""Classes whose recall is printed; --details prints those of all."""


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
