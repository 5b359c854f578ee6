"""`shortlist prune --methods`: pruning methods side by side on one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.cli.text.comparisons.pruning_comparison import (
    PruningComparison,
    limit_notes,
    print_pruning_comparison,
    pruning_comparison_facts,
)
from shortlist.cli.text.delivery import save
from shortlist.cli.text.output import print_json, print_notes

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.arrays import Labels
    from shortlist.report.parts import Parts
    from shortlist.runs import Study
    from shortlist.tables.splits import Cases


class Files(NamedTuple):
    """Files to write: every fold as a table, and the page."""

    out: Path | None
    report: Path | None


class Folds(NamedTuple):
    """How methods are measured: in which folds, with which classifiers, and with how many workers."""

    folds: int
    repeats: int
    classifiers: int
    refit: bool
    seed: int
    workers: int | str | None


def compare_pruning(
    name: str,
    table: "tuple[pd.DataFrame, Labels, Cases | None]",
    methods: dict[str, Any],
    how: Folds,
    *,
    study: "Study",
    files: Files,
    about: dict[str, Any],
    json: bool,
) -> None:
    """Measure the methods in every fold, rank them, and print the table."""
    from shortlist.cli.text.result_page import page_path, save_page, tell_page
    from shortlist.cli.work import long_work
    from shortlist.ensembles.pools.fitting import calm_fits
    from shortlist.ensembles.protocol.holdout import check_pruner
    from shortlist.errors import ShortlistError
    from shortlist.papers.pruning_comparison import compare_methods, write_results
    from shortlist.papers.ranks import rank_folds
    from shortlist.runs import Work
    from shortlist.runs.clock import seconds_now

    for pruner in methods.values():
        check_pruner(pruner, table[1], how.classifiers)
    start = seconds_now()
    with calm_fits(), long_work(study.path) as (cancellation, tell):
        results = compare_methods(
            {name: table}, methods, n_folds=how.folds, n_repeats=how.repeats, n_classifiers=how.classifiers,
            refit=how.refit, random_state=how.seed, work=Work(how.workers, study, tell, cancellation),
        )  # fmt: skip
        seconds = seconds_now() - start
        if results.empty:
            raise ShortlistError("the comparison was stopped before a fold was finished.")
        limit = getattr(methods.get("exact"), "max_cost", None)
        if limit is not None and "cost" in results:  # which is rounded as exact costs are
            results = results.assign(within_limit=results["cost"].round(9) <= limit)
        out = files.out
        if out is not None:
            out = save(out, lambda path: write_results(results, path))
        report = save_page(files.report, f"Pruning methods: {name}", lambda: _parts(results))
    judges = [len(method.pool) for method in methods.values() if method.pool is not None]
    found = PruningComparison(
        name, results, rank_folds(results), n_wanted=how.folds * how.repeats,
        n_classifiers=how.classifiers, n_judges=max(judges, default=0), seconds=seconds,
    )  # fmt: skip
    notes = limit_notes(results)
    print_notes(notes)
    about = about | {"notes": [*about["notes"], *notes]}
    if json:
        print_json(pruning_comparison_facts(found, out, study.path) | page_path(report) | about)
    else:
        print_pruning_comparison(found, out)
        tell_page(report)


def _parts(results: "pd.DataFrame") -> "Parts":
    from shortlist.papers.comparison_pages import pruning_comparison_parts

    return pruning_comparison_parts(results)
