"""`shortlist stage`: features to buy at each stage, with proof."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.answers import CommandAnswer, answers, written_page
from shortlist.cli.files import FRONT_FILE, MODEL_FILE, PAGE_FILE, STUDY_FILE, check_files, files_by_kind
from shortlist.cli.options.settings import grouped, refuse_unused
from shortlist.cli.options.shared import (
    Details,
    MeasureOptions,
    PromiseOptions,
    RunOptions,
    StudyOptions,
    TableFile,
    TableOptions,
    no_class,
    output,
    own_or_address,
)
from shortlist.cli.options.stage_options import (
    GoalOptions,
    PriceOptions,
    StageClassifierOptions,
    StageSearchOptions,
    check_stage,
    check_stage_method,
    read_confidence,
    read_prices,
    stage_objective_names,
    with_limited,
)
from shortlist.cli.text.output import print_notes, save, save_page
from shortlist.cli.text.stage_report import (
    front_part,
    kept_text,
    print_staged,
    saved_lines,
    stage_facts,
    stage_notes,
    unreachable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shortlist.errors import BadInputError
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.multistage.holdout import StagedTable
    from shortlist.multistage.recall import Recall
    from shortlist.multistage.search.emsco import EmscoOptions
    from shortlist.report.page import Parts
    from shortlist.results.measuring import Measuring
    from shortlist.runs import Budget, Study
    from shortlist.tables.learning import LearningTable


@grouped
@answers
def stage(
    context: typer.Context,
    table: TableFile,
    *,
    read: TableOptions,
    method: Annotated[
        str,
        typer.Option(
            help="Method: enumerate (complete front, proved), windows (for wide tables, exact within "
            "windows of features), emsco (evolution), or auto (these in turn, as it suits the table)."
        ),
    ] = "auto",
    prices: PriceOptions,
    goals: GoalOptions,
    search: StageSearchOptions,
    asked: StageClassifierOptions,
    promised: PromiseOptions,
    figures: MeasureOptions,
    run: RunOptions,
    kept: StudyOptions,
    out: Annotated[
        list[Path] | None,
        output(
            "the front, as .parquet or .csv, the model, as .joblib, or a page with pictures, as .html; may "
            "be repeated."
        ),
    ] = None,
    details: Details = False,
) -> CommandAnswer:
    """Find out which features to buy at which stage.

    The front of coverage, accuracy and cost is proved to be complete where that is in reach. Up to 2,000
    rows fit, choose and measure: each is answered by classifiers that were fitted without it, at a point
    that was chosen on half of the rows without it. Of more rows, and with --answer-accuracy, a quarter is
    the test set; --test FILE measures in its place. --out front.parquet writes the front (shortlist front
    show), --out stages.joblib the classifier (shortlist predict stages.joblib NEW.csv --explain), which
    shortlist stage use changes to another point of its front. Ctrl-C stops the search and keeps what was
    found. With --answer-accuracy a quarter of the rows is set aside first as the calibration set of all
    thresholds, and a point that keeps the promise is taken. shortlist compare measures it beside its
    opponents.
    """
    check_stage_method(method)
    check_files(
        inputs={
            "TABLE": table,
            "--costs": prices.costs,
            "--test": figures.test,
        },
        outputs={"--out": out, "--study": kept.study},
        endings={"--out": FRONT_FILE + MODEL_FILE + PAGE_FILE, "--study": STUDY_FILE},
    )
    files = files_by_kind(out, front=FRONT_FILE, model=MODEL_FILE, page=PAGE_FILE)
    from shortlist.cli.options.points import read_limits
    from shortlist.errors import OutOfReachError
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.results.measuring import Measuring, TableRows
    from shortlist.runs.budget import seconds_now
    from shortlist.tables.fingerprints import table_fingerprint

    check_stage(context.params)
    refuse_unused(context)
    paper = prices.paper()
    objectives = stage_objective_names(goals.objectives)
    objectives = with_limited(objectives, goals.limit or ())
    limits = read_limits(goals.limit or (), objectives)
    notes: list[str] = []
    learning = read.read(table, notes)
    X, y = learning.X, learning.y
    labels, names = y.to_numpy(), list(learning.features)
    tested = figures.test_rows(read, learning, notes)
    measuring = Measuring(test=None if tested is None else TableRows(*tested), margin=figures.margin)
    common: dict[str, Any] = {
        "feature_costs": read_prices(
            prices, names, objectives=objectives, dropped=(*(read.drop or ()), *learning.ids), notes=notes
        ),
        "reject_label": no_class(labels),
        "random_state": run.seed,
        "confidence": None
        if prices.confidence is None and paper is None
        else read_confidence(prices.confidence, paper, labels),
    }
    data = table_fingerprint(X, y).as_dict()
    searched = (
        search.arguments(method, paper) | goals.arguments(labels) | asked.arguments() | {"limits": limits}
    )
    classifier = MultiStageClassifier(
        n_jobs=own_or_address(run.workers), answer_accuracy=promised.answer_accuracy,
        confidence_level=promised.confidence_level, **common, **searched,
    )  # fmt: skip
    print_notes(notes)  # now, while there is time to stop
    start = seconds_now()
    try:
        with kept.opened(context) as study:
            return _find_front(
                learning, classifier, read, files, title=f"Stages: {Path(table).name}",
                anyway=promised.anyway, recall=search.recall, study=study, measuring=measuring,
                details=details, data=data,
            )  # fmt: skip
    except OutOfReachError as error:  # so that nothing was fitted
        facts = unreachable(str(error), classifier.method, seconds_now() - start)
        return CommandAnswer(facts | {"data": data}, last=[f"Status infeasible: {facts['reason']}"])


def _find_front(
    learning: "LearningTable",
    classifier: "MultiStageClassifier",
    read: TableOptions,
    files: "Sequence[Path | None]",
    *,
    title: str,
    anyway: bool,
    recall: int | None,
    study: "Study",
    measuring: "Measuring",
    details: bool,
    data: dict[str, Any],
) -> CommandAnswer:
    """Find the front; write the front, its classifier and its page; return the answer."""
    from shortlist.cli.text.front_text import no_point
    from shortlist.cli.work import long_work
    from shortlist.errors import BadInputError
    from shortlist.multistage.holdout import reported_figures
    from shortlist.runs import Budget
    from shortlist.runs.budget import seconds_now
    from shortlist.saved_models import SavedModel, save_model

    found, start = None, seconds_now()
    X, labels, options = learning.X, learning.y.to_numpy(), classifier.emsco_options
    front_file, model_file, report = files
    with long_work(study.path) as (cancellation, tell):
        staged, unmet = _staged(
            X, labels, classifier, int(classifier.random_state), cases=learning.cases, anyway=anyway,
            measuring=measuring, budget=Budget(report=tell, cancellation=cancellation, study=study),
        )  # fmt: skip
        seconds = seconds_now() - start
        model = SavedModel(
            classifier, tuple(map(str, X.columns)), read.target, ids=learning.ids, group=read.group or "",
            reported={} if staged is None else reported_figures(classifier),
        )  # fmt: skip
        none_promised = staged is None and not any(classifier.front_.extras.get("promised", [True]))
        is_silent = none_promised and not anyway
        saved = save(None if is_silent else model_file, lambda path: save_model(model, path))
        front_file = save(front_file, classifier.front_.save)
        report = save_page(report, title, lambda: _parts(classifier, staged))
        if recall is not None and options is not None and staged is not None:
            try:
                budget = Budget(report=tell, cancellation=cancellation, study=study)
                found = _recall(staged, options, recall, budget)
            except BadInputError as error:
                unmet = error
    limits: Any = classifier.limits
    reason = no_point(classifier.front_, limits) if staged is None else ""
    if is_silent and model_file is not None:
        reason += " No model was written; with --set anyway=yes one is that answers no row."
    print_notes(stage_notes(classifier, staged))
    facts = front_part(classifier, seconds) if staged is None else stage_facts(staged, seconds, found)
    facts |= {"reason": reason} | ({"status": "infeasible"} if reason else {})
    facts |= {"out": front_file, "model": saved, "report": report, "data": data}
    lines = saved_lines(front_file, saved, details=details)
    follow = len(lines) + (report is not None)
    show = partial(print_staged, classifier, staged, seconds, found, details=details, follow=follow)
    kept = kept_text(front_file, saved, picked=staged is not None)
    if unmet is not None and not reason:
        return CommandAnswer(facts, show, error=type(unmet)(f"{unmet}{kept}"))
    if reason:
        lines = ["", f"Status infeasible: {reason}{kept}"]
    return CommandAnswer(facts, show, last=[*lines, *written_page(report)])


def _parts(classifier: "MultiStageClassifier", staged: "StagedTable | None") -> "Parts":
    from shortlist.report.stages import staged_parts

    return staged_parts(classifier, staged)


def _staged(
    X: Any, labels: Any, classifier: "MultiStageClassifier", seed: int, **run: Any
) -> "tuple[StagedTable | None, BadInputError | None]":
    """Fit the classifier and measure it.

    If no point of the front meets the request, the error is returned, and the classifier has its front.
    """
    import warnings

    from shortlist.errors import LowCoverageWarning, RoughSearchWarning, UnmetChoiceError
    from shortlist.multistage.holdout import stage_table

    with warnings.catch_warnings():
        for among_the_notes in (LowCoverageWarning, RoughSearchWarning):
            warnings.simplefilter("ignore", among_the_notes)
        try:
            return stage_table(X, labels, classifier, seed=seed, **run), None
        except UnmetChoiceError as error:
            return None, error


def _recall(staged: "StagedTable", options: "EmscoOptions", n_seeds: int, budget: "Budget") -> "Recall":
    """Run evolution on the enumerated problem once per seed, without the second convergence test."""
    from dataclasses import replace

    from shortlist.errors import BadInputError
    from shortlist.multistage.recall import recall
    from shortlist.results.proof import ProofKind

    truth = staged.classifier.result_
    if truth.proof.kind is not ProofKind.COMPLETE:
        raise BadInputError(
            f"--set recall needs the complete front, but the enumeration was stopped: {truth.proof.limit}. "
            "Allow more time."
        )
    return recall(
        truth,
        replace(options, patience=None),
        seeds=range(n_seeds),
        budget=budget,
        workers=where if isinstance(where := staged.classifier.n_jobs, str) else 1,
    )
