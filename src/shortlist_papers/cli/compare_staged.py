"""Command `shortlist compare` on a table for multi-stage classifiers and their opponents."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from shortlist.cli.options.settings import as_settings, of_settings
from shortlist.cli.options.stage_options import (
    USUAL_OBJECTIVES,
    GoalOptions,
    PriceOptions,
    StageClassifierOptions,
    StageSearchOptions,
    read_confidence,
    read_prices,
    stage_objective_names,
)
from shortlist.cli.text.output import print_json, print_notes, save
from shortlist_papers.cli.compared import Column, TableComparison, TableQuestion, Told

if TYPE_CHECKING:
    from shortlist.runs import Study

SUM = "coverage + accuracy + 1 - cost / price of all features, as in Figure 12 of the paper"

STAGES = "stages"
"""Word that names all methods with stages."""

StageSettings = as_settings(
    "multi-stage classifiers",
    [PriceOptions, GoalOptions, StageClassifierOptions, StageSearchOptions],
    but={"costs", "objectives", "limit", "pick", "time_limit_s", "recall", "enumeration_budget"},
)
"""Settings of methods with stages."""

OF_SOME_STAGES = (
    (("emsco",), {"population", "generations", "rules"}),
    (
        ("emsco", "enumerate", "windows"),
        {
            one.name
            for kind in (GoalOptions, StageClassifierOptions, StageSearchOptions)
            for one in fields(kind)
        },
    ),
)
"""Names of some methods, paired with the settings that only these methods have."""

MARGINS = (
    "95 % margins over the splits, which share rows: they tell how much the split matters on this table, "
    "and not what another table would show"
)

STAGES_TOLD = Told(
    "seed", "splits", " 50 : 25 : 25; the same for every method", f"{'on the test rows':<18}",
    (
        Column("aggregate", "sum", 7, ".3f"), Column("aggregate_margin", "±", 7, ".3f"),
        Column("coverage", "coverage", 10, ".4f"), Column("accuracy", "accuracy", 10, ".4f"),
        Column("cost", "cost", 11, ".4g"), Column("cost_margin", "±", 9, ".2f"),
        Column("seconds", "seconds", 9, ".3f"),
    ),
    (),
    (f"Sum: {SUM}.", f"±: {MARGINS}.", "Seconds: of the processor, for fitting and choosing."),
    "coverage + accuracy + 1 - cost / full price",
    "± is the 95 % margin over the splits, which share rows: it is not of another table.",
    {"sum": SUM, "margins": MARGINS},
)  # fmt: skip
"""Report of methods with stages."""


def stage_names() -> list[str]:
    """Return the names of the methods with stages."""
    from shortlist_papers.stage_comparison import OPPONENTS, SEARCHES

    return [*SEARCHES, *OPPONENTS]


def compare_stages(
    asked: "TableQuestion", methods: list[str] | None, settings: Mapping[str, Any], study: "Study"
) -> None:
    """Measure the methods on the splits of several seeds, and print the table."""
    from shortlist.cli.options.points import read_limits
    from shortlist.cli.options.shared import no_class
    from shortlist.cli.work import long_work
    from shortlist.errors import ShortlistError
    from shortlist.runs import Work
    from shortlist.runs.budget import seconds_now
    from shortlist_papers.comparison import write_results
    from shortlist_papers.stage_comparison import SEARCHES, compare_stage_methods, stage_methods, with_margins

    learning, labels = asked.learning, asked.learning.y.to_numpy()
    prices = of_settings(PriceOptions, settings, costs=asked.costs)
    goals = of_settings(GoalOptions, settings, objectives=asked.objectives or USUAL_OBJECTIVES)
    search = of_settings(StageSearchOptions, settings, time_limit_s=asked.time_limit)
    objectives = stage_objective_names(goals.objectives)
    paper = prices.paper()
    chosen = stage_methods(
        methods,
        feature_costs=read_prices(
            prices, list(learning.features), objectives=objectives, dropped=asked.dropped, notes=asked.notes
        ),
        reject_label=no_class(labels),
        random_state=asked.seed,
        confidence=read_confidence(prices.confidence, paper, labels),
    )
    searched = goals.arguments(labels) | of_settings(StageClassifierOptions, settings).arguments()
    searched |= search.arguments("emsco", paper) | {"limits": read_limits(asked.limit, objectives)}
    for name in chosen.keys() & set(SEARCHES):
        chosen[name].set_params(**searched | {"method": name})
    print_notes(asked.notes)
    for method in chosen.values():
        method.check_options(labels)
    start, out = seconds_now(), asked.out
    with long_work(study.path) as (cancellation, report):
        results = compare_stage_methods(
            learning.X, labels, chosen, n_seeds=asked.seeds or 10, random_state=asked.seed,
            cases=learning.cases, work=Work(asked.workers, study, report, cancellation),
        )  # fmt: skip
        if results.empty:
            raise ShortlistError("the comparison was stopped before a split was finished.")
        if out is not None:
            out = save(out, lambda path: write_results(results, path))
    found = TableComparison(
        asked.file, results, with_margins(results), asked.seeds or 10, seconds_now() - start, STAGES_TOLD
    )
    if asked.json:
        print_json(found.facts(out, study.path) | {"notes": asked.notes} | asked.about)
    else:
        found.print(out, details=asked.details)
