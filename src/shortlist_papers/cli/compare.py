"""`shortlist compare`: methods side by side on one table or one product line."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.product_questions import QuestionOptions, read_question
from shortlist.cli.options.settings import (
    Fills,
    grouped,
    having,
    read_names,
    refuse_unmet,
    refuse_unused,
    setting_fields,
)
from shortlist.cli.options.shared import (
    SECONDS_HELP,
    Details,
    Json,
    Seed,
    StudyOptions,
    TableOptions,
    WorkersOrAddress,
    check_shared,
    output,
)
from shortlist.cli.text.output import print_json, print_notes, run_facts, save

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class ComparedTable(TableOptions):
    """Reading of the table, and prices."""

    costs: Annotated[
        Path | None,
        typer.Option(help="CSV file with the prices of judges, as for prune, or of features, as for stage."),
        Fills("member_costs", "feature_costs"),
    ] = None


@dataclass(frozen=True)
class SeedOptions:
    """Number of runs."""

    seeds: Annotated[
        int | None,
        "Number of runs of each evolutionary method, by default 30, or of splits of the table for stages, by "
        "default 10, with seeds from --seed on.",
    ] = None


@dataclass(frozen=True)
class AskedOfBoth:
    """Options that a table shares with a model."""

    objectives: str | None = None
    limit: list[str] | None = None


USUAL_METHODS = ["solrep", "ibed", "ibea", "satibea"]
"""Methods on a product line by default."""


def _settings() -> dict[str, type]:
    from shortlist_papers.cli.compare_pruned import PRUNING, PruneSettings
    from shortlist_papers.cli.compare_staged import STAGES, StageSettings
    from shortlist_papers.product_methods import OPTIONS

    return dict(OPTIONS) | {PRUNING: PruneSettings, STAGES: StageSettings}


KINDS: dict[str, tuple[type, ...]] = {
    "a feature model": (QuestionOptions,),
    "a table": (ComparedTable, AskedOfBoth),
}
"""Subjects of a comparison, with the dataclasses of their options."""

TABLE_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".xls", ".ods", ".data")


def _is_table(name: str) -> bool:
    ending = Path(name.lower().removesuffix(".gz").removesuffix(".zip")).suffix
    return name == "-" or name.startswith("example:") or ending in TABLE_ENDINGS


@having(_settings)
@grouped
def compare(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="TABLE|MODEL", help="Table to learn from, or feature model.")
    ],
    *,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Methods to compare: on a table all of pruning or of stages, or names of one kind, such as "
            "exact,uwa,uwa:fitness or emsco,cstc,single; on a model solrep, ibed, ibea and satibea by "
            "default, or any of these, smtibea, nsga2, diagram, exact, cwmoip and epsilon-constraint."
        ),
        Fills("method"),
    ] = None,
    table: ComparedTable,
    question: QuestionOptions,
    repeated: SeedOptions,
    settings: dict[str, Any],
    time_limit: Annotated[
        float | None, typer.Option(help=f"{SECONDS_HELP}, for each run; by default there is none.")
    ] = None,
    kept: StudyOptions,
    seed: Seed = 0,
    workers: WorkersOrAddress = 1,
    out: Annotated[
        list[Path] | None,
        output(
            "the front of all methods, as .parquet, .csv or .xlsx, on a table every measurement, as "
            ".parquet, or a page with pictures, as .html; may be repeated."
        ),
    ] = None,
    details: Details = False,
    json: Json = False,
) -> None:
    """Compare methods on one table or one product line.

    On a table, pruning methods are ranked over the folds of a cross-validation, and multi-stage classifiers
    are measured on the splits of several seeds; --set takes the options of prune and stage. On a feature
    model evolution runs once per seed, and the fronts are compared. Ctrl-C stops the work, and the finished
    runs are compared.
    """
    from shortlist.cli.files import (
        FRONT_FILE,
        PAGE_FILE,
        RESULTS_FILE,
        STUDY_FILE,
        check_files,
        files_by_kind,
    )
    from shortlist.runs.budget import seconds_now

    study, is_table = kept.study, _is_table(source)
    check_files(
        inputs=({"TABLE": source} if is_table else question.inputs(Path(source))) | {"--costs": table.costs},
        outputs={"--out": out, "--study": study},
        endings={"--out": (RESULTS_FILE if is_table else FRONT_FILE) + PAGE_FILE, "--study": STUDY_FILE},
    )
    kinds = {"table": RESULTS_FILE} if is_table else {"front": FRONT_FILE}
    rows_file, page_file = files_by_kind(out, **kinds, page=PAGE_FILE)
    refuse_unused(context, KINDS, "a table" if is_table else "a feature model")
    check_shared(context.params)
    if is_table:
        _compare_on_table(
            context, (source, table, kept), methods, settings,
            objectives=question.objectives, limit=question.limit or [],
            time_limit=time_limit, seeds=repeated.seeds,
            seed=seed, workers=workers, out=rows_file, report=page_file, details=details, json=json,
        )  # fmt: skip
        return
    path, seeds = Path(source), repeated.seeds
    from shortlist._validation import as_count, as_seed
    from shortlist.cli.work import long_work
    from shortlist.errors import BadInputError, ShortlistError
    from shortlist.products.configuration.question import EVOLUTIONARY_METHODS
    from shortlist.runs import Work
    from shortlist_papers.cli.compared_products import (
        print_product_comparison,
        product_comparison_facts,
        write_report,
    )
    from shortlist_papers.product_comparison import check_methods, compare_products

    started = seconds_now()
    chosen = USUAL_METHODS if methods is None else read_names(methods)
    check_methods(chosen, settings)  # before files are read
    if seeds is not None and not set(chosen) & set(EVOLUTIONARY_METHODS):
        raise BadInputError(
            "--set seeds belongs to evolutionary methods, which run once per seed. Leave it out, or compare "
            "ibed, ibea, satibea, smtibea or nsga2."
        )
    n_seeds = 30 if seeds is None else as_count(seeds, "--set seeds")
    as_seed(seed, "--seed")
    asked = read_question(path, question)
    print_notes(asked.notes)  # now, while there is time to stop
    with kept.opened(context) as opened, long_work(study) as (cancellation, tell):
        comparison = compare_products(
            asked.line, asked.objectives, chosen, attributes=asked.attributes, limits=asked.limits,
            requirements=asked.requirements, seeds=range(seed, seed + n_seeds), time_limit_s=time_limit,
            work=Work(workers, opened, tell, cancellation), **settings,
        )  # fmt: skip
        if not comparison.runs and not comparison.conflict:
            raise ShortlistError("the comparison was stopped before a run had ended.")
        found = comparison.tables is not None and len(comparison.tables.joint) > 0
        if found and rows_file is not None and comparison.tables is not None:
            rows_file = save(rows_file, comparison.tables.joint.save)
        if found and page_file is not None:
            page_file = save(page_file, lambda page: write_report(page, path, comparison, asked))
    paths = {"out": rows_file if found else None, "report": page_file if found else None, "study": study}
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
        print_product_comparison(path, comparison, asked, paths, details=details)


def _compare_on_table(
    context: typer.Context,
    place: tuple[str, ComparedTable, StudyOptions],
    methods: str | None,
    settings: Mapping[str, Any],
    **asked: Any,
) -> None:
    """Compare the methods of one kind on a table; `place`: its file, reading options and study."""
    from shortlist._validation import as_count
    from shortlist._words import any_of
    from shortlist.errors import BadInputError
    from shortlist.tables.fingerprints import table_fingerprint
    from shortlist_papers.cli.compare_pruned import OF_SOME_PRUNERS, PruneSettings, compare_pruning
    from shortlist_papers.cli.compare_staged import OF_SOME_STAGES, STAGES, StageSettings, compare_stages
    from shortlist_papers.cli.compared import TableQuestion

    source, table, kept = place
    kind, names = _methods_of_one_kind(methods)
    stages = kind == STAGES
    own, of_some, compare = (
        (StageSettings, OF_SOME_STAGES, compare_stages)
        if stages
        else (PruneSettings, OF_SOME_PRUNERS, compare_pruning)
    )
    given = _own_settings(kind, own, settings)
    usual = {one.name: one.default for one in fields(own)}
    absent = dict.fromkeys(("pool", "recall"))
    asked_too = {"costs": table.costs, "objectives": asked["objectives"], "method": "emsco"}
    refuse_unmet(own, given, absent | usual | given | asked_too)
    for few, fields_of_few in of_some:
        vain = sorted(fields_of_few & given.keys())
        if vain and names is not None and not set(names) & set(few):
            raise BadInputError(
                f"`{vain[0]}` belongs to {any_of(few)}. Leave it out, or compare one of them."
            )
    _refuse_others(kind, asked)
    if asked["seeds"] is not None:
        as_count(asked["seeds"], "--set seeds")
    notes: list[str] = []
    learning = table.read(source, notes)
    about = run_facts(context) | {"data": table_fingerprint(learning.X, learning.y).as_dict()}
    question = TableQuestion(
        file=Path(source).name, learning=learning, dropped=(*(table.drop or ()), *learning.ids),
        costs=table.costs, notes=notes, about=about, **asked,
    )  # fmt: skip
    with kept.opened(context) as study:
        compare(question, names, given, study)


def _methods_of_one_kind(methods: str | None) -> tuple[str, list[str] | None]:
    """Return the kind of the methods, pruning or stages, and their names; None for all of the kind."""
    from shortlist._validation import as_choice
    from shortlist.errors import BadInputError
    from shortlist_papers.cli.compare_pruned import PRUNING
    from shortlist_papers.cli.compare_staged import STAGES, stage_names
    from shortlist_papers.rules.rule_pruners import FITTEST, pruning_methods

    if methods is None:
        raise BadInputError(
            "--methods must say what is compared on a table: pruning, stages, or names of methods of one of "
            "the two, such as exact,margin,uwa."
        )
    if methods in (PRUNING, STAGES):
        return methods, None
    names, stages = read_names(methods), stage_names()
    known = [PRUNING, STAGES, *pruning_methods(), *FITTEST, *stages]
    for name in names:
        as_choice(name, "--methods", known)
    if len(set(names)) < len(names):
        raise BadInputError("--methods must name each method once, got one twice. Leave one out.")
    of_stages = {name in stages for name in names}
    if len(of_stages) == 2 or set(names) & {PRUNING, STAGES}:
        raise BadInputError(
            "--methods must be pruning, stages, or names of methods of one of the two, got "
            f"{methods}. Compare them one after the other."
        )
    return (STAGES if of_stages.pop() else PRUNING), names


def _own_settings(kind: str, own: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings by the names of the fields; raise BadInputError for settings of other methods."""
    from shortlist.errors import BadInputError

    known = setting_fields(own)
    given = {name.removeprefix(f"{kind}."): value for name, value in settings.items()}
    for name in given:
        if name not in known:
            raise BadInputError(f"`{name}` is an option of none of the methods compared. Leave it out.")
    return given


def _refuse_others(kind: str, asked: Mapping[str, Any]) -> None:
    from shortlist.errors import BadInputError

    of_stages = kind == "stages"
    if of_stages and asked["report"] is not None:
        raise BadInputError(f"a page belongs to pruning methods. Leave out --out {asked['report']}.")
    for name in () if of_stages else ("seeds", "objectives", "limit"):
        if asked[name]:
            raise BadInputError(f"`{name}` belongs to methods with stages. Leave it out.")
