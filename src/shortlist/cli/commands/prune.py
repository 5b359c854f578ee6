"""`shortlist prune`: choose the classifiers that vote, with proof or by a rule."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli.options.groups import grouped
from shortlist.cli.options.prune_options import (
    EXACT,
    PRUNE_USES,
    MethodOptions,
    PoolOptions,
    SelectionOptions,
    check_prune_numbers,
)
from shortlist.cli.options.shared import (
    Json,
    PromiseOptions,
    ReportOut,
    RunOptions,
    TableFile,
    TableOptions,
    output,
    own_workers,
)
from shortlist.cli.options.study_options import StudyOptions
from shortlist.cli.options.unused import refuse_unused
from shortlist.cli.text.measured_table import one_answer_notes
from shortlist.cli.text.output import print_json, print_notes, run_facts

if TYPE_CHECKING:
    from shortlist.ensembles.studies.holdout import PrunedTable
    from shortlist.report.parts import Parts


@grouped
def prune(
    context: typer.Context,
    table: TableFile,
    *,
    rows: TableOptions,
    how: MethodOptions,
    wanted: SelectionOptions,
    pool: PoolOptions,
    promised: PromiseOptions,
    run: RunOptions,
    kept: StudyOptions,
    out: Annotated[
        Path | None, output("the model, ending in .joblib; with --methods every fold, as .parquet.")
    ] = None,
    report: ReportOut = None,
    json: Json = False,
) -> None:
    """Choose the classifiers that vote, with proof or by a rule.

    Splits the rows 63 : 27 : 10, fits a pool of classifiers on the first part, chooses members and threshold
    on the second, and reports on the third. Ctrl-C stops the proof and keeps the best selection found. With
    --methods it does so in every fold of a cross-validation, and ranks the methods. With --answers the table
    holds what judges have answered: nothing is fitted, nine rows of ten choose whom to ask. With
    --answer-accuracy a quarter of the rows that are not for the test calibrates the threshold from which on a
    row is answered.
    """
    from shortlist.cli.files import MODEL_FILE, PAGE_FILE, RESULTS_FILE, STUDY_FILE, check_files

    notes: list[str] = []
    study = how.resumed(kept.study, notes)
    check_files(
        inputs={
            "TABLE": table,
            "--pool": pool.pool,
            "--member-costs": wanted.member_costs,
            "--costs": pool.costs,
        },
        outputs={"--out": out, "--report": report, "--study": study},
        endings={
            "--out": MODEL_FILE if how.methods is None else RESULTS_FILE,
            "--report": PAGE_FILE,
            "--study": STUDY_FILE,
        },
    )
    from shortlist.cli.studies import digest_of
    from shortlist.cli.text.delivery import save
    from shortlist.cli.text.pruned import print_pruned, pruned_facts
    from shortlist.cli.text.result_page import page_path, save_page, tell_page
    from shortlist.cli.work import check_found, long_work
    from shortlist.ensembles.studies.holdout import prune_table
    from shortlist.tables.fingerprints import table_fingerprint

    check_prune_numbers(context.params)
    refuse_unused(context, PRUNE_USES)
    X, y = rows.read(table, notes)
    given = pool.given(X, y)
    n_threads = 1 if how.methods is not None else own_workers(run.workers, "prune without --methods")
    exact = wanted.exact_pruner(given, run.seed, n_threads, notes).set_params(voting=how.voting)
    notes += how.voting_notes()
    print_notes(notes)  # now, while there is time to stop
    about = run_facts(context) | {"data": table_fingerprint(X, y).as_dict()}
    data = about["data"]["sha256"] + digest_of([pool.pool, wanted.member_costs, pool.costs])
    place = kept.place(context, data, former=study)
    if how.methods is not None:
        from shortlist.cli.commands.prune_methods import Files, Folds, compare_pruning

        folds = Folds(how.folds, how.repeats, pool.classifiers, run.seed, run.workers)
        name = Path(table).name.split(".")[0]
        about |= {"notes": notes}
        with place.opened(context) as opened:
            compare_pruning(
                name, X, y.to_numpy(), how.chosen(exact), folds,
                study=opened, files=Files(out, report), about=about, json=json,
            )  # fmt: skip
        return
    pruner = exact if how.method == EXACT else how.rule_pruner(given, run.seed, n_threads)
    asked = promised.selective(pruner, run.seed, y)
    with place.opened(context) as opened, long_work(place.path) as (cancellation, tell):
        pruned = prune_table(
            X, y.to_numpy(), asked, n_classifiers=pool.classifiers, seed=run.seed, n_jobs=n_threads,
            report=tell, cancellation=cancellation, study=opened,
        )  # fmt: skip
        check_found(bool(pruned.test), cancellation)
        saved = None
        if out is not None and pruned.test:
            names = [str(column) for column in X.columns]
            saved = save(out, lambda path: _save(pruned, names, rows.target, path))
        report = save_page(report, f"Pruned ensemble: {table}", lambda: _parts(pruned))
    facts = pruned_facts(pruned, how, wanted.solver, saved)
    if pruned.test:
        found = one_answer_notes(
            pruned.only_answer, pruned.test["pruned"].only_answer, who="the selection", rows="validation"
        )
        print_notes(found)
        notes += found
    if json:
        print_json(facts | page_path(report) | {"notes": notes} | about)
    else:
        print_pruned(pruned, facts, saved)
        tell_page(report)


def _parts(pruned: "PrunedTable") -> "Parts":
    """Return what the page shows."""
    from shortlist.report.ensembles import pruned_parts
    from shortlist.report.promises import promised_parts

    return [*promised_parts(pruned.selective), *pruned_parts(pruned.pruner, pruned.test)]


def _save(pruned: "PrunedTable", features: list[str], target: str, out: Path) -> None:
    """Write the members, without the pool that they were chosen from."""
    from shortlist.ensembles.estimators.exact_pruner import ExactPruner
    from shortlist.ensembles.pools.pool import as_pool
    from shortlist.saved_models import SavedModel, save_model

    pruner = pruned.pruner
    if isinstance(pruner, ExactPruner) and pruner.max_cost is not None and pruner.member_costs is None:
        costs = as_pool(pruner.pool).costs
        pruner.member_costs = None if costs is None else costs.tolist()  # `verify` needs them
    pruner.pool = None
    save_model(SavedModel(pruned.selective or pruner, tuple(features), target), out)
