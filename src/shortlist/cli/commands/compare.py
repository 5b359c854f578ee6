"""`shortlist compare`: methods side by side on one product line."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli.options.unused import Use, refuse_unused
from shortlist.cli.text.delivery import save
from shortlist.cli.text.output import print_json, print_notes, run_facts

if TYPE_CHECKING:
    from shortlist.cli.options.product_questions import AskedQuestion
    from shortlist.products.comparison.product_comparison import Comparison
    from shortlist.report.page import Table


EVOLUTIONARY_METHODS = ("ibea", "satibea", "ibed", "nsga2")
"""Named here so that help needs no library."""

USES = (
    Use(
        ("seeds",),
        lambda given: any(name.strip() in EVOLUTIONARY_METHODS for name in given["methods"].split(",")),
        "evolutionary methods, which run once per seed",
        "compare ibed, ibea, satibea or nsga2",
    ),
)
"""When each option is used; those of single methods are checked by the library."""


def compare(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="Feature model: SXFM, UVL, FeatureIDE XML or DIMACS.")],
    *,
    methods: Annotated[
        str,
        typer.Option(
            help="Out of solrep, ibed, ibea, satibea, nsga2, diagram, exact, cwmoip, epsilon-constraint."
        ),
    ] = "solrep,ibed,ibea,satibea",
    seeds: Annotated[int, typer.Option(help="Runs of each evolutionary method.")] = 30,
    seed: Annotated[int, typer.Option(help="The first seed, and that of the other methods.")] = 0,
    points: Annotated[
        int | None, typer.Option(help="solrep: reference points; default 1000; 0 for the ends only.")
    ] = None,
    rule: Annotated[
        str | None, typer.Option(help="solrep: hit-and-run (default) or adaptive reference points.")
    ] = None,
    solve_limit: Annotated[
        float | None, typer.Option(help="solrep: seconds for each program; default none, each is proved.")
    ] = None,
    evaluations: Annotated[
        int | None, typer.Option(help="Evolution: configurations to try in each run; default 100000.")
    ] = None,
    starts: Annotated[
        int | None, typer.Option(help="Evolution: products found by satisfiability to start with; default 0.")
    ] = None,
    solver: Annotated[
        str | None, typer.Option(help="Integer programs: highs (default), cpsat or scip.")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for each run; default none.")] = None,
    jobs: Annotated[int, typer.Option(help="Runs at a time; -1 for every core.")] = 1,
    study: Annotated[
        Path | None, typer.Option(help="File that a stopped or killed comparison goes on from.")
    ] = None,
    objectives: Annotated[
        str | None,
        typer.Option(help="Such as 'min cost, max quality'; default: min deselected and every attribute."),
    ] = None,
    attributes: Annotated[
        list[Path] | None,
        typer.Option(
            help="CSV with a column feature, or .augment file; may be repeated. Default: MODEL.augment."
        ),
    ] = None,
    random_attributes: Annotated[
        int | None, typer.Option(help="Seed: draw cost, defects and not_used_before at random.")
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(help="OLD=NEW: a name in the attributes, and in the model.")
    ] = None,
    default: Annotated[
        list[str] | None, typer.Option(help="ATTRIBUTE=VALUE for features without a value.")
    ] = None,
    decimals: Annotated[int | None, typer.Option(help="Round attributes to so many decimals.")] = None,
    limit: Annotated[
        list[str] | None, typer.Option(help="Such as 'cost<=120', also <, >=, > and ==; may be repeated.")
    ] = None,
    select: Annotated[list[str] | None, typer.Option(help="Feature that must be in.")] = None,
    deselect: Annotated[list[str] | None, typer.Option(help="Feature that must be out.")] = None,
    fixed: Annotated[
        list[Path] | None, typer.Option(help="File with a partial configuration; may be repeated.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="HTML page to write, with tables and charts, for any browser.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write the joint front to: .parquet, or .csv as a table.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Run methods on one product line, evolution once per seed, and compare their fronts.

    Ctrl-C stops and compares the runs that have ended.
    """
    import time

    from shortlist.cli.files import FRONT_FILE, JOURNAL_FILE, PAGE_FILE, check_files
    from shortlist.products.attributes.attribute_files import attributes_beside

    check_files(
        inputs={
            "MODEL": model,
            "--attributes": attributes,
            "--fixed": fixed,
            "the file with its attributes": attributes_beside(model),
        },
        outputs={"--out": out, "--report": report, "--study": study},
        endings={"--out": FRONT_FILE, "--report": PAGE_FILE, "--study": JOURNAL_FILE},
    )
    from joblib import parallel_config

    from shortlist._validation import as_count, as_positive_seconds, as_seed
    from shortlist.cli.options.product_questions import read_question
    from shortlist.cli.work import long_work
    from shortlist.errors import BadInputError, ShortlistError
    from shortlist.products.comparison.product_comparison import check_methods, compare_products

    started = time.perf_counter()
    chosen = [part.strip() for part in methods.split(",")]
    options = {
        "n_points": points,
        "rule": rule,
        "solve_limit_s": solve_limit,
        "n_evaluations": evaluations,
        "n_starts": starts,
        "solver": solver,
    }
    check_methods(chosen, options)  # before files are read
    refuse_unused(context, USES)
    as_seed(seed, "--seed")
    as_count(seeds, "--seeds")
    as_positive_seconds(time_limit, "--time-limit")
    if jobs == 0:
        raise BadInputError("--jobs must be a number of workers, or -1 for every core, got 0.")
    asked = read_question(
        model, objectives=objectives, attributes=attributes or (), random_attributes=random_attributes,
        rename=rename or (), default=default or (), decimals=decimals, limit=limit or (), select=select or (),
        deselect=deselect or (), fixed=fixed or (),
    )  # fmt: skip
    print_notes(asked.notes)  # now, while there is time to stop
    # threads: Ctrl-C in a terminal would kill worker processes; kernels and solvers run outside Python's lock
    threads = parallel_config(backend="threading")
    with threads, long_work(study) as (cancellation, tell):
        comparison = compare_products(
            asked.line, asked.objectives, chosen, attributes=asked.attributes, limits=asked.limits,
            requirements=asked.requirements, n_seeds=seeds, first_seed=seed, time_limit_s=time_limit,
            study=study, n_jobs=jobs, report=tell, cancellation=cancellation, **options,
        )  # fmt: skip
        if not comparison.runs and not comparison.conflict:
            raise ShortlistError("the comparison was stopped before a run had ended.")
        found = comparison.tables is not None and len(comparison.tables.joint) > 0
        if found and out is not None and comparison.tables is not None:
            out = save(out, comparison.tables.joint.save)
        if found and report is not None:
            report = save(report, lambda path: _write_report(path, model, comparison, asked))
    paths = {"out": out if found else None, "report": report if found else None, "study": study}
    if json:
        from shortlist.cli.text.product_comparison import comparison_facts

        facts = {
            "command": "compare",
            "method": "comparison",
            **comparison_facts(comparison, asked),
            "seconds": time.perf_counter() - started,
            **{name: None if path is None else str(path) for name, path in paths.items()},
        }
        print_json(facts | run_facts(context))
    else:
        _print(model, comparison, asked, paths)


def _write_report(path: Path, model: Path, comparison: "Comparison", asked: "AskedQuestion") -> None:
    """Write the page with tables and charts."""
    from shortlist.cli.text.product_comparison import comparison_tables, summary
    from shortlist.report.page import front_page, write_page

    notes = [*asked.notes, *summary(model, comparison, asked)]
    tables = comparison_tables(comparison)
    write_page(path, front_page(f"Methods on {model.name}", comparison.fronts, tables=tables, notes=notes))


def _print(
    model: Path, comparison: "Comparison", asked: "AskedQuestion", paths: dict[str, Path | None]
) -> None:
    """Print the comparison for people."""
    from shortlist.cli.text.front_text import look_at
    from shortlist.cli.text.product_comparison import comparison_tables, summary

    for line in summary(model, comparison, asked):
        print(line)
    tables: list[Table] = [] if comparison.conflict else comparison_tables(comparison)
    for table in tables:
        print()
        print(table.title)
        for line in (*table.lines(), *table.notes):
            print(line)
    if any(paths.values()):
        print()
    if paths["study"] is not None and len(comparison.runs) < comparison.n_wanted:
        print(f"The runs that have ended are in {paths['study']}; the same command goes on from there.")
    if paths["report"] is not None:
        print(f"Charts in {paths['report']}.")
    if paths["out"] is not None:
        print(f"Joint front in {paths['out']}{look_at(paths['out'])}")
