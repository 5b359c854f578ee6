"""Command `shortlist compare` on a table for pruning methods."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

from shortlist._words import all_of
from shortlist.cli.options.prune_options import (
    EXACT,
    GREEDY,
    ExactMethodOptions,
    PoolOptions,
    check_method,
    rules_voting,
)
from shortlist.cli.options.settings import as_settings, of_settings
from shortlist.cli.text.output import print_json, print_notes, save
from shortlist_papers.cli.compared import Column, TableComparison, TableQuestion, Told

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.runs import Study


PRUNING = "pruning"
"""Word that names all pruning methods."""


@dataclass(frozen=True)
class FoldOptions:
    """Folds in which pruning methods are measured."""

    folds: Annotated[int, "Number of cross-validation folds."] = 10
    repeats: Annotated[int, "Repeats of the cross-validation, each with other folds."] = 1


PruneSettings = as_settings(
    "pruning methods",
    [FoldOptions, PoolOptions, ExactMethodOptions],
    but={"costs", "pool", "trust", "time_limit_s", "probabilities"},
)
"""Settings of pruning methods."""

OF_SOME_PRUNERS = (((EXACT,), {one.name for one in fields(ExactMethodOptions)} - {"voting", "refit"}),)
"""Names of some methods, paired with the settings that only these methods have."""


def compare_pruning(
    asked: "TableQuestion", methods: list[str] | None, settings: Mapping[str, Any], study: "Study"
) -> None:
    """Measure the methods in every fold, rank them, and print the table."""
    from shortlist._validation import as_count
    from shortlist.cli.text.output import save_page
    from shortlist.cli.work import long_work
    from shortlist.ensembles.pools.fitting import calm_fits
    from shortlist.ensembles.pruned_table import check_pruner
    from shortlist.errors import ShortlistError
    from shortlist.runs import Work
    from shortlist.runs.budget import seconds_now
    from shortlist_papers.comparison import rank_folds, write_results
    from shortlist_papers.comparison_pages import pruning_comparison_parts
    from shortlist_papers.pruning_comparison import compare_methods

    how = of_settings(FoldOptions, settings)
    as_count(how.folds, "n_folds", at_least=2)
    as_count(how.repeats, "n_repeats")
    pool = of_settings(PoolOptions, settings, costs=asked.costs)
    as_count(pool.classifiers, "n_classifiers")
    learning, labels = asked.learning, asked.learning.y.to_numpy()
    chosen = chosen_methods(asked, methods, settings, pool)
    print_notes(asked.notes)
    for pruner in chosen.values():
        check_pruner(pruner, labels, pool.classifiers)
    start = seconds_now()
    with calm_fits(), long_work(study.path) as (cancellation, tell):
        results = compare_methods(
            {asked.file: (learning.X, labels, learning.cases)}, chosen, n_folds=how.folds,
            n_repeats=how.repeats, n_classifiers=pool.classifiers, refit=settings.get("refit", False),
            random_state=asked.seed, work=Work(asked.workers, study, tell, cancellation),
        )  # fmt: skip
        seconds = seconds_now() - start
        if results.empty:
            raise ShortlistError("the comparison was stopped before a fold was finished.")
        limit = settings.get("max_cost")
        if limit is not None and "cost" in results:  # which is rounded as exact costs are
            results = results.assign(within_limit=results["cost"].round(9) <= limit)
        out = asked.out
        if out is not None:
            out = save(out, lambda path: write_results(results, path))
        report = save_page(
            asked.report, f"Pruning methods: {asked.file}", lambda: pruning_comparison_parts(results)
        )
    judges = [len(method.pool) for method in chosen.values() if method.pool is not None]
    told = pruners_told(results, pool.classifiers, max(judges, default=0))
    found = TableComparison(asked.file, results, rank_folds(results), how.folds * how.repeats, seconds, told)
    later = limit_notes(results)
    print_notes(later)
    if asked.json:
        facts = found.facts(out, study.path) | {"report": report}
        print_json(facts | {"notes": asked.notes + later} | asked.about)
    else:
        found.print(out, report, details=asked.details)


def chosen_methods(
    asked: "TableQuestion", methods: list[str] | None, settings: Mapping[str, Any], options: PoolOptions
) -> dict[str, Any]:
    """Return the unfitted methods by name, and note facts about them for the user."""
    from shortlist.ensembles.pools.answers import gives_probabilities
    from shortlist_papers.rules.rule_pruners import pruning_methods

    wanted = of_settings(ExactMethodOptions, settings)
    if asked.time_limit is not None:
        wanted = replace(wanted, time_limit_s=asked.time_limit)
    check_method(EXACT, wanted)
    pool = options.given(asked.learning.X, asked.learning.y, asked.dropped, asked.notes)
    chosen: dict[str, Any] = pruning_methods(methods)
    if methods is None and pool is not None and not gives_probabilities(pool):
        asked.notes.append(
            f"{GREEDY} is left out: it needs probabilities of every judge, and some give classes alone."
        )
        del chosen[GREEDY]
    elif wanted.voting == "soft":
        asked.notes.append(
            "--set voting=soft is of exact and greedy-means. Rules choose by votes, and answer by the mean."
        )
    if EXACT in chosen:  # folds are the units of parallel work, so each proof has one thread
        exact = chosen[EXACT] = wanted.exact_pruner(pool, None, asked.seed, None)
        exact.set_params(probabilities="auto")
    for name, method in chosen.items():
        method.set_params(pool=_affordable(pool, wanted.max_cost) if name == "best-single" else pool)
        if name not in (EXACT, GREEDY):
            method.set_params(voting=rules_voting(wanted.voting))
    return chosen


def _affordable(pool: Any, most: float | None) -> Any:
    """Return the members of the pool within the cost limit; all members if none is within the limit."""
    if pool is None or most is None or pool.costs is None:
        return pool
    within = pool.costs.round(9) <= most
    return pool.subset(within) if within.any() else pool


MEANING = (
    "mean rank over the folds of one table, 1 is best, ties share ranks; folds share rows, so ranks over "
    "them show no significant difference: that takes several tables"
)


def pruners_told(results: "pd.DataFrame", n_classifiers: int, n_judges: int) -> Told:
    """Return the report of pruning methods, for pools of classifiers or of judges."""
    from shortlist_papers.comparison_pages import CAUTION
    from shortlist_papers.pruning_comparison import best_singles, best_singles_text

    how = f", pools of {n_classifiers} classifiers; the same pool for every method of a fold"
    if n_judges:
        how = f", {n_judges} judges; the same rows choose for every method of a fold"
    columns = (
        Column("rank", "rank", 6, ".2f", "-"), Column("accuracy", "accuracy", 10, ".4f"),
        Column("accuracy_deviation", "±", 8, ".4f", "0.0000"),
        Column("balanced_accuracy", "balanced", 10, ".4f"), Column("size", "size", 7, ".1f", "0.0"),
        *([Column("cost", "cost", 10, ".4g")] if "cost" in results else []),
        Column("seconds", "seconds", 9, ".3f"),
    )  # fmt: skip
    details = (
        f"Rank: {MEANING}.",
        "±: standard deviation over the folds. Seconds: choosing alone, without the pool.",
    )
    width = max(20, *(len(name) + 1 for name in results["method"]))
    singles = best_singles_text(results)
    return Told(
        "fold", "folds", how, f"{'method':<{width}}", columns, (singles,) if singles else (), details,
        "mean rank", CAUTION, {"ranks": MEANING}, {"best_single": best_singles(results)},
    )  # fmt: skip


def limit_notes(results: "pd.DataFrame") -> list[str]:
    """Return a note on methods without a rank, as their committees cost too much; empty if there are none."""
    from shortlist_papers.comparison import over_limit

    told = (
        f"{all_of(over_limit(results))} cost more than `max_cost` in some fold: they have no rank, and stand "
        "last. best-single is the best of those within the limit."
    )
    return [told] if over_limit(results) else []
