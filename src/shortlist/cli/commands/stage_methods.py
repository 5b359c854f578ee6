"""`shortlist stage --method NAME` and `--methods`: opponents alone, and methods side by side on one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.cli.text.comparisons.stage_methods_text import (
    StageComparison,
    compared_facts,
    opponent_facts,
    print_compared,
    print_opponent,
)
from shortlist.cli.text.delivery import save
from shortlist.cli.text.output import print_json

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.papers.opponents.budgeted_classifier import BudgetedClassifier
    from shortlist.runs import Study
    from shortlist.tables.learning import LearningTable
    from shortlist.tables.splits import Cases


class ModelFile(NamedTuple):
    """What a model file holds beside the model, and where it is written; nowhere if None."""

    learning: "LearningTable"
    target: str
    out: Path | None


class Splits(NamedTuple):
    """On which splits methods are measured, and with how many workers."""

    table: str
    seeds: int
    first: int
    workers: int | str | None


def fit_opponent(
    labels: Any,
    name: str,
    opponent: "BudgetedClassifier",
    *,
    kept: ModelFile,
    about: dict[str, Any],
    json: bool,
) -> None:
    """Fit one opponent on the paper's split, measure it on the test rows, and write its model."""
    from shortlist.cli.work import long_work
    from shortlist.multistage.holdout import measure_on, split_three
    from shortlist.runs.clock import seconds_now
    from shortlist.saved_models import SavedModel, save_model
    from shortlist.tables.fit_inputs import take_rows

    opponent.check_options(labels)
    X = kept.learning.X
    fit, judge, test = split_three(labels, seed=int(opponent.random_state), cases=kept.learning.cases)
    start = seconds_now()
    with long_work() as (cancellation, report):
        opponent.fit(
            take_rows(X, fit), labels[fit], validation=(take_rows(X, judge), labels[judge]),
            report=report, cancellation=cancellation,
        )  # fmt: skip
        seconds = seconds_now() - start
        measured = measure_on(opponent, take_rows(X, test), labels[test])
        out = kept.out
        if out is not None:
            fitted = SavedModel(opponent, kept.learning.features, kept.target, ids=kept.learning.ids)
            out = save(out, lambda path: save_model(fitted, path))
    counts = {"train": len(fit), "validation": len(judge), "test": len(test)}
    facts = opponent_facts(name, opponent, measured, counts, seconds) | {"model": out and str(out)}
    if json:
        print_json(facts | about)
    else:
        print_opponent(facts, out)


def compare_on_splits(
    X: "pd.DataFrame",
    labels: Any,
    cases: "Cases | None",
    methods: dict[str, Any],
    how: Splits,
    *,
    study: "Study",
    out: Path | None,
    about: dict[str, Any],
    json: bool,
) -> None:
    """Measure the methods on the splits of several seeds, and print the table."""
    from shortlist.cli.work import long_work
    from shortlist.errors import ShortlistError
    from shortlist.papers.stage_comparison import (
        compare_stage_methods,
        with_margins,
        write_stage_results,
    )
    from shortlist.runs import Work
    from shortlist.runs.clock import seconds_now

    for method in methods.values():
        method.check_options(labels)
    start = seconds_now()
    with long_work(study.path) as (cancellation, report):
        results = compare_stage_methods(
            X, labels, methods, n_seeds=how.seeds, random_state=how.first, cases=cases,
            work=Work(how.workers, study, report, cancellation),
        )  # fmt: skip
        if results.empty:
            raise ShortlistError("the comparison was stopped before a split was finished.")
        if out is not None:
            out = save(out, lambda path: write_stage_results(results, path))
    seconds = seconds_now() - start
    found = StageComparison(how.table, results, with_margins(results), how.seeds, seconds)
    if json:
        print_json(compared_facts(found, out, study.path) | about)
    else:
        print_compared(found, out)
