"""`shortlist stage`: which features to buy at which stage, with proof."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from shortlist.cli.options.settings import grouped, refuse_unused
from shortlist.cli.options.shared import (
    Details,
    Json,
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
from shortlist.cli.text.output import (
    page_path,
    print_json,
    print_notes,
    run_facts,
    save,
    save_page,
    tell_page,
)
from shortlist.cli.text.stage_report import (
    front_part,
    kept_text,
    print_staged,
    saved_text,
    stage_facts,
    stage_notes,
    unreachable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shortlist.errors import BadInputError
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.multistage.holdout import StagedTable
    from shortlist.multistage.recall import Recall
    from shortlist.multistage.search.emsco import EmscoOptions
    from shortlist.report.page import Parts
    from shortlist.results.measuring import Measuring
    from shortlist.runs import Budget, Study
    from shortlist.saved_models import SavedModel
    from shortlist.tables.splits import Cases


@grouped
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
    json: Json = False,
) -> None:
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
    from shortlist.cli.files import FRONT_FILE, MODEL_FILE, PAGE_FILE, STUDY_FILE, check_files, files_by_kind

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
    front_file, model_file, report = files_by_kind(out, front=FRONT_FILE, model=MODEL_FILE, page=PAGE_FILE)
    from shortlist.cli.options.points import read_limits
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.results.measuring import Measuring, TableRows
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
    about = run_facts(context) | {"data": table_fingerprint(X, y).as_dict()}
    searched = (
        search.arguments(method, paper) | goals.arguments(labels) | asked.arguments() | {"limits": limits}
    )
    classifier = MultiStageClassifier(
        n_jobs=own_or_address(run.workers), answer_accuracy=promised.answer_accuracy,
        confidence_level=promised.confidence_level, **common, **searched,
    )  # fmt: skip
    print_notes(notes)  # now, while there is time to stop
    wanted = Outputs(
        front_file,
        model_file,
        read.target,
        learning.ids,
        read.group or "",
        learning.cases,
        promised.anyway,
        details,
        json,
        report,
        f"Stages: {Path(table).name}",
    )
    with kept.opened(context) as study:
        _find_front(
            X, labels, classifier, recall=search.recall, wanted=wanted, notes=notes, about=about,
            study=study, measuring=measuring,
        )  # fmt: skip


class Outputs(NamedTuple):
    """Outputs of a run: files of front and model, the class to predict, and the names and format of rows."""

    front: Path | None
    model: Path | None
    target: str
    ids: tuple[str, ...]
    group: str
    cases: "Cases | None"
    anyway: bool
    details: bool
    json: bool
    report: Path | None
    title: str


def _find_front(
    X: Any,
    labels: Any,
    classifier: "MultiStageClassifier",
    *,
    recall: int | None,
    wanted: Outputs,
    notes: list[str],
    about: dict[str, Any],
    study: "Study",
    measuring: "Measuring",
) -> None:
    from shortlist.cli.text.front_text import no_point
    from shortlist.cli.work import long_work
    from shortlist.errors import BadInputError
    from shortlist.multistage.holdout import reported_figures
    from shortlist.runs import Budget
    from shortlist.runs.budget import seconds_now
    from shortlist.saved_models import SavedModel

    found = None
    json, start = wanted.json, seconds_now()
    seed, options = int(classifier.random_state), classifier.emsco_options
    limited = _limits_in_reach(classifier.method, notes, about, json=json)
    with limited, long_work(study.path) as (cancellation, tell):
        staged, unmet = _staged(
            X,
            labels,
            classifier,
            seed,
            cases=wanted.cases,
            anyway=wanted.anyway,
            measuring=measuring,
            budget=Budget(report=tell, cancellation=cancellation, study=study),
        )
        seconds = seconds_now() - start
        features = tuple(map(str, X.columns))
        model = SavedModel(
            classifier, features, wanted.target, ids=wanted.ids, group=wanted.group,
            reported={} if staged is None else reported_figures(classifier),
        )  # fmt: skip
        none_promised = staged is None and not any(classifier.front_.extras.get("promised", [True]))
        unwritten = none_promised and not wanted.anyway
        front_file, model_file = _save(model, wanted.front, None if unwritten else wanted.model)
        report = save_page(wanted.report, wanted.title, lambda: _parts(classifier, staged))
        if recall is not None and options is not None and staged is not None:
            try:
                budget = Budget(report=tell, cancellation=cancellation, study=study)
                found = _recall(staged, options, recall, budget)
            except BadInputError as error:
                unmet = error
    limits: Any = classifier.limits
    reason = no_point(classifier.front_, limits) if staged is None else ""
    if unwritten and wanted.model is not None:
        reason += " No model was written; with --set anyway=yes one is that answers no row."
    print_notes(later := stage_notes(classifier, staged))
    if json:
        facts = front_part(classifier, seconds) if staged is None else stage_facts(staged, seconds, found)
        facts |= {"reason": reason} | ({"status": "infeasible"} if reason else {})
        files = {"out": front_file and str(front_file), "model": model_file and str(model_file)}
        print_json(facts | files | page_path(report) | {"notes": notes + later} | about)
    else:
        written = saved_text(front_file, model_file, details=wanted.details)
        follow = written.count("\n") + (report is not None)
        print_staged(classifier, staged, seconds, found, details=wanted.details, follow=follow)
    kept = kept_text(front_file, model_file, picked=staged is not None)
    if unmet is not None and not reason:
        raise type(unmet)(f"{unmet}{kept}")
    if not json:
        print(f"\nStatus infeasible: {reason}{kept}\n" if reason else written, end="")
        tell_page(report)


def _parts(classifier: "MultiStageClassifier", staged: "StagedTable | None") -> "Parts":
    from shortlist.report.stages import staged_parts

    return staged_parts(classifier, staged)


@contextlib.contextmanager
def _limits_in_reach(method: str, notes: list[str], about: dict[str, Any], *, json: bool) -> "Iterator[None]":
    """End the command with its answer where a limit is out of reach, so that nothing is fitted."""
    from shortlist.errors import OutOfReachError
    from shortlist.runs.budget import seconds_now

    start = seconds_now()
    try:
        yield
    except OutOfReachError as error:
        facts = unreachable(str(error), method, seconds_now() - start)
        if json:
            print_json(facts | {"notes": notes} | about)
        else:
            print(f"Status infeasible: {facts['reason']}")
        raise typer.Exit from None


def _staged(
    X: Any, labels: Any, classifier: "MultiStageClassifier", seed: int, **run: Any
) -> "tuple[StagedTable | None, BadInputError | None]":
    """Do the work.

    Where the front has no point as it was requested, return why, and the classifier has its front.
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


def _save(
    model: "SavedModel", front_file: Path | None, model_file: Path | None
) -> tuple[Path | None, Path | None]:
    from shortlist.saved_models import save_model

    if model_file is not None:
        model_file = save(model_file, lambda path: save_model(model, path))
    if front_file is not None:
        front_file = save(front_file, model.estimator.front_.save)
    return front_file, model_file


def _recall(staged: "StagedTable", options: "EmscoOptions", n_seeds: int, budget: "Budget") -> "Recall":
    """Run evolution on the enumerated problem, convergence test off, once per seed."""
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
