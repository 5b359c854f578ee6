"""`shortlist prune`: choose the classifiers that vote, with proof or by a rule."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import FRONT_FILE, MODEL_FILE, PAGE_FILE, STUDY_FILE, check_files, files_by_kind
from shortlist.cli.options.prune_options import (
    EXACT,
    AnswerOptions,
    ErrorCostOptions,
    ExactMethodOptions,
    FrontOptions,
    PickOptions,
    PoolOptions,
    check_method,
)
from shortlist.cli.options.settings import Fills, excludes, grouped, refuse_unused
from shortlist.cli.options.shared import (
    Details,
    PromiseOptions,
    RunOptions,
    StudyOptions,
    TableFile,
    TableOptions,
    check_shared,
    output,
    own_or_address,
)
from shortlist.cli.text.measured_table import one_answer_notes
from shortlist.cli.text.output import print_notes, save, save_page

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.exact_pruner import ExactPruner
    from shortlist.ensembles.estimators.front_pruner import FrontPruner
    from shortlist.ensembles.estimators.rule_pruners import RulePruner
    from shortlist.ensembles.pruned_table import PrunedTable
    from shortlist.report.page import Parts
    from shortlist.results.measured_again import Figure
    from shortlist.tables.learning import LearningTable


KINDS: dict[str, tuple[type, ...]] = {
    "the method exact": (ExactMethodOptions, PromiseOptions, ErrorCostOptions),
    "rules": (AnswerOptions, PromiseOptions),
    "--objectives": (FrontOptions,),
}
"""Kinds of run of prune, with the dataclasses whose options each kind uses."""


def _kind(method: str, front: FrontOptions) -> str:
    if front.objectives is not None:
        return "--objectives"
    return "the method exact" if method == EXACT else "rules"


@grouped
@answers
def prune(
    context: typer.Context,
    table: TableFile,
    *,
    rows: TableOptions,
    method: Annotated[
        str,
        typer.Option(help="Method: exact, or a rule: full, best-single, backfitting or greedy-means."),
        excludes("objectives"),
        Fills("rule"),
    ] = EXACT,
    exact: ExactMethodOptions,
    errors: ErrorCostOptions,
    rule: AnswerOptions,
    front: FrontOptions,
    pool: PoolOptions,
    figures: PickOptions,
    promised: PromiseOptions,
    run: RunOptions,
    kept: StudyOptions,
    out: Annotated[
        list[Path] | None,
        output(
            "the model, as .joblib, or a page with pictures, as .html; with --objectives the front, as "
            ".parquet or .csv; may be repeated."
        ),
    ] = None,
    details: Details = False,
) -> CommandAnswer:
    """Choose the classifiers that vote, with proof or by a rule.

    A pool of classifiers is fitted on all rows, and again without each of five folds. The members are chosen
    by the answers out of fold, and measured by repeated choice: each row by members chosen on a half of the
    rows without it. Of more than 50,000 rows, and with a promise (--answer-accuracy), which takes a
    quarter of the others to calibrate its threshold, a tenth is held out for the test; --test FILE measures
    in its place. Ctrl-C stops the proof and keeps the best selection found. With --objectives the answer is a
    front of committees, one of which predicts. With --answers the table holds the answers of judges, and
    nothing is fitted. The model written is the one that the first line names. To compare methods, use
    shortlist compare.
    """
    notes: list[str] = []
    front = front.asked(figures.pick, priced=pool.costs is not None)
    check_files(
        inputs={"TABLE": table, "--pool": pool.pool, "--costs": pool.costs, "--test": figures.test},
        outputs={"--out": out, "--study": kept.study},
        endings={
            "--out": (*(FRONT_FILE if front.objectives is not None else ()), *MODEL_FILE, *PAGE_FILE),
            "--study": STUDY_FILE,
        },
    )
    front_file, model_file, page_file = files_by_kind(out, front=FRONT_FILE, model=MODEL_FILE, page=PAGE_FILE)
    from shortlist.cli.text.pruned import WrittenFiles, committee_facts, print_pruned, pruned_facts
    from shortlist.cli.work import check_found, long_work
    from shortlist.ensembles.pruned_table import prune_table
    from shortlist.results.measuring import Measuring, TableRows
    from shortlist.runs import Work

    check_shared(context.params)
    check_method(method, rule)
    refuse_unused(context, KINDS, _kind(method, front))
    learning = rows.read(table, notes)
    X, y = learning.X, learning.y
    given = pool.given(X, y, (*(rows.drop or ()), *learning.ids), notes)
    costs, by_class = pool.costs_of(given, notes), errors.by_class(y)
    tested, saves = figures.test_rows(rows, learning, notes), figures.rule_to_save(front.objectives)
    where = own_or_address(run.workers)
    n_threads = -1 if isinstance(where, str) else where
    print_notes(notes)  # now, while there is time to stop
    pruner: ExactPruner | RulePruner
    if front.objectives is not None:
        pruner = front.front_pruner(figures.pick, given, costs, run.seed, n_threads)
        pruner.set_params(margin=figures.margin)
    elif method == EXACT:
        pruner = exact.exact_pruner(given, costs, run.seed, n_threads)
        if by_class:
            pruner.set_params(objective=by_class)
    else:
        pruner = rule.rule_pruner(method, given, run.seed, n_threads)
    asked = promised.selective(pruner, run.seed, y)
    with kept.opened(context) as opened, long_work(kept.study) as (cancellation, tell):
        pruned = prune_table(
            X, y.to_numpy(), asked, n_classifiers=pool.classifiers, seed=run.seed, cases=learning.cases,
            work=Work(where, opened, tell, cancellation),
            measuring=Measuring(
                figures.protocol, None if tested is None else TableRows(*tested), figures.margin, saves
            ),
        )  # fmt: skip
        check_found(bool(pruned.test), cancellation)
        silent = pruned.selective is not None and not pruned.selective.guarantee_.promised
        writes = model_file is not None and bool(pruned.test) and (promised.anyway or not silent)
        written = WrittenFiles(
            front_file and save(front_file, _front_of(pruned).front_.save),
            model_file and save(model_file, lambda path: _save(pruned, learning, rows.target, path))
            if writes
            else None,
            save_page(page_file, f"Pruned ensemble: {Path(table).name}", lambda: _parts(pruned)),
            saves,
        )
    facts = pruned_facts(pruned, method, exact.solver, written.model)
    if hasattr(pruned.pruner, "front_"):
        facts |= committee_facts(_front_of(pruned), written.front)
    facts |= {"report": written.report, "data": pruned.pruner.validation_.table.as_dict()}
    later = [NOT_WRITTEN] * (model_file is not None and bool(pruned.test) and not writes)
    if pruned.test:
        later += one_answer_notes(
            pruned.only_answer, pruned.test["pruned"].only_answer, who="the selection", rows="selection"
        )
    return CommandAnswer(facts, partial(print_pruned, pruned, facts, written, details=details), later)


NOT_WRITTEN = "No model was written, since it would answer no row; --set anyway=yes writes it."


def _front_of(pruned: "PrunedTable") -> "FrontPruner":
    pruner: Any = pruned.pruner
    return cast("FrontPruner", pruner)


def _parts(pruned: "PrunedTable") -> "Parts":
    from shortlist.report.ensembles import failed_parts, pruned_parts

    if pruned.chosen is None:
        return failed_parts(pruned.pruner.result_)
    return pruned_parts(
        pruned.chosen, pruned.test, advice=pruned.advice, n_parts=pruned.n_rows.get("parts"),
        held_out=pruned.early,
        answered=None if pruned.answered is None else (pruned.n_rows["test"], *pruned.answered),
        positive=getattr(pruned.pruner, "positive", None),
    )  # fmt: skip


def _save(pruned: "PrunedTable", learning: "LearningTable", target: str, out: Path) -> None:
    """Write the recommended model, without the pool that it was chosen from."""
    from shortlist.saved_models import SavedModel, save_model

    model = SavedModel(pruned.saved, learning.features, target, ids=learning.ids, reported=_reported(pruned))
    save_model(model, out)


def _reported(pruned: "PrunedTable") -> "dict[str, Figure]":
    """Return the figures of the saved model that are compared when new rows are measured."""
    from shortlist.ensembles.measured import reported_figures
    from shortlist.results.measured_again import (
        ACCURACY,
        ANSWERED,
        CALLS,
        PRICE,
        RIGHT_OF_ANSWERS,
        mean,
        share,
    )

    n, rule = pruned.n_rows["test"], pruned.rule_saved
    if pruned.answered is not None:
        n_answered, n_right = pruned.answered
        return {
            ACCURACY: share(n_right, n), ANSWERED: share(n_answered, n),
            RIGHT_OF_ANSWERS: share(n_right, n_answered),
        }  # fmt: skip
    measured = pruned.test[rule]
    found = reported_figures(measured)
    if rule == "pruned" and pruned.early is not None:
        found[CALLS] = mean(pruned.early.calls.astype(float))
        found |= {} if pruned.early.costs is None else {PRICE: mean(pruned.early.costs)}
    return found
