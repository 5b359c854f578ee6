"""`shortlist compare`: methods side by side on one product line."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from shortlist.cli.options.groups import grouped
from shortlist.cli.options.pairs import read_names
from shortlist.cli.options.product_questions import QuestionOptions, read_question
from shortlist.cli.options.settings import having
from shortlist.cli.options.shared import (
    SECONDS_HELP,
    FeatureModelFile,
    FrontOut,
    Json,
    ReportOut,
    Seed,
    WorkersOrAddress,
    check_shared,
)
from shortlist.cli.options.study_options import StudyOptions
from shortlist.cli.options.unused import Use, refuse_unused
from shortlist.cli.text.delivery import save
from shortlist.cli.text.output import print_json, print_notes, run_facts


def _any_is_evolutionary(given: Mapping[str, Any]) -> bool:
    """Whether a method is among those to compare that runs once per seed."""
    from shortlist.products.configuration.search_options import EVOLUTIONARY_METHODS

    return any(name in EVOLUTIONARY_METHODS for name in read_names(given["methods"]))


COMPARE_USES = (
    Use(
        ("seeds",),
        _any_is_evolutionary,
        "evolutionary methods, which run once per seed",
        "compare ibed, ibea, satibea, smtibea or nsga2",
    ),
)
"""When each option is used; those of single methods are checked by the library."""


def _settings() -> dict[str, type]:
    from shortlist.products.configuration.search_options import OPTIONS

    return {method: kind for method, kind in OPTIONS.items() if method != "auto"}


@having(_settings)
@grouped
def compare(
    context: typer.Context,
    model: FeatureModelFile,
    *,
    question: QuestionOptions,
    methods: Annotated[
        str,
        typer.Option(
            help="Methods to compare: solrep, ibed, ibea, satibea, smtibea, nsga2, diagram, exact, "
            "cwmoip, epsilon-constraint."
        ),
    ] = "solrep,ibed,ibea,satibea",
    seeds: Annotated[
        int, typer.Option(help="Runs of each evolutionary method, with seeds from --seed on.")
    ] = 30,
    points: Annotated[
        int | None,
        typer.Option(
            help="Reference points of solrep, 0 for the ends of the front only.", show_default="1000"
        ),
    ] = None,
    settings: dict[str, Any],
    time_limit: Annotated[
        float | None, typer.Option(help=f"{SECONDS_HELP}, in each run; default: none.")
    ] = None,
    kept: StudyOptions,
    seed: Seed = 0,
    workers: WorkersOrAddress = 1,
    report: ReportOut = None,
    out: FrontOut = None,
    json: Json = False,
) -> None:
    """Run methods on one product line, evolution once per seed, and compare their fronts.

    Writes the front of all methods together. Ctrl-C stops and compares the runs that have ended.
    """
    from shortlist.cli.files import FRONT_FILE, PAGE_FILE, STUDY_FILE, check_files
    from shortlist.runs.clock import seconds_now

    study = kept.file
    check_files(
        inputs=question.inputs(model),
        outputs={"--out": out, "--report": report, "--study": study},
        endings={"--out": FRONT_FILE, "--report": PAGE_FILE, "--study": STUDY_FILE},
    )
    from shortlist._validation import as_count, as_seed
    from shortlist.cli.studies import digest_of
    from shortlist.cli.text.comparisons.product_comparison import (
        print_product_comparison,
        product_comparison_facts,
        write_report,
    )
    from shortlist.cli.work import long_work
    from shortlist.errors import ShortlistError
    from shortlist.papers.product_comparison import check_methods, compare_products
    from shortlist.runs import Work

    started = seconds_now()
    chosen = read_names(methods)
    options = settings | {"n_points": points}
    check_methods(chosen, options)  # before files are read
    refuse_unused(context, COMPARE_USES)
    check_shared(context.params)
    as_count(seeds, "--seeds")
    as_seed(seed, "--seed")
    asked = read_question(model, question)
    print_notes(asked.notes)  # now, while there is time to stop
    place = kept.place(context, digest_of(question.inputs(model).values()))
    with place.opened(context) as opened, long_work(place.path) as (cancellation, tell):
        comparison = compare_products(
            asked.line, asked.objectives, chosen, attributes=asked.attributes, limits=asked.limits,
            requirements=asked.requirements, seeds=range(seed, seed + seeds), time_limit_s=time_limit,
            work=Work(workers, opened, tell, cancellation), **options,
        )  # fmt: skip
        if not comparison.runs and not comparison.conflict:
            raise ShortlistError("the comparison was stopped before a run had ended.")
        found = comparison.tables is not None and len(comparison.tables.joint) > 0
        if found and out is not None and comparison.tables is not None:
            out = save(out, comparison.tables.joint.save)
        if found and report is not None:
            report = save(report, lambda path: write_report(path, model, comparison, asked))
    paths = {"out": out if found else None, "report": report if found else None, "study": study}
    if json:
        facts = {
            "command": "compare",
            "method": "comparison",
            **product_comparison_facts(comparison, asked),
            "seconds": seconds_now() - started,
            **{name: None if path is None else str(path) for name, path in paths.items()},
        }
        print_json(facts | run_facts(context))
    else:
        print_product_comparison(model, comparison, asked, paths)
