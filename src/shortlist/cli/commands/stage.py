"""`shortlist stage`: which features to buy at which stage, with proof."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.stage_options import (
    USES,
    as_label,
    check_numbers,
    evolution_options,
    objective_names,
    output_files,
    read_confidence,
    read_penalties,
    read_prices,
    stage_method,
)
from shortlist.cli.options.unused import is_given, refuse_unused, typed_name
from shortlist.cli.text.delivery import save
from shortlist.cli.text.output import print_json, print_notes, run_facts
from shortlist.cli.text.stage_report import (
    front_part,
    no_point,
    print_front,
    print_recall,
    print_stage,
    stage_facts,
)

if TYPE_CHECKING:
    from shortlist.errors import BadInputError
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.multistage.holdout import StagedTable
    from shortlist.multistage.search.emsco import EmscoOptions
    from shortlist.multistage.search.recall import Recall


def stage(
    context: typer.Context,
    table: Annotated[
        str, typer.Argument(help="CSV, Parquet or Excel file, - for stdin, or example:breast-cancer.")
    ],
    *,
    target: Annotated[str, typer.Option(help="Column that holds the class.")] = "target",
    costs: Annotated[
        Path | None,
        typer.Option(
            help="CSV with columns feature,cost; with discount_cost,group as well, the first feature of a "
            "group costs its full price. Default: 1 each."
        ),
    ] = None,
    costs_dataset: Annotated[
        str | None, typer.Option(help="Use only the rows of --costs whose column dataset says so.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="heart, pima or credit: the paper's costs, confidence and evolution for that table; "
            "explicit options come first."
        ),
    ] = None,
    scaling: Annotated[
        str | None,
        typer.Option(help="Cost of class T in a preset: 10T, 10^T or 100T; default: the preset's."),
    ] = None,
    confidence: Annotated[
        str | None,
        typer.Option(
            help="Least probability of an answer, in (0, 1], or per class: ill=0.9,well=0.7. Default: 0.75."
        ),
    ] = None,
    max_stages: Annotated[
        int | None, typer.Option(help="Most stages; default: 4, or fewer features.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="enumerate (complete front, proved), emsco (evolution), or auto by --budget.")
    ] = "auto",
    budget: Annotated[int, typer.Option(help="Most stage assignments that auto enumerates.")] = 300_000_000,
    objectives: Annotated[
        str,
        typer.Option(
            help="What matters: coverage, conclusive_accuracy, acquisition_cost, false_positive_rate, "
            "stages, worst_case_cost, evaluation_cost."
        ),
    ] = "coverage,conclusive_accuracy,acquisition_cost",
    pick: Annotated[
        str,
        typer.Option(
            help="Point that predicts: one-se (the cheapest of those with about the most right answers), "
            "norm (the paper's), ideal, knee, weights, lexicographic, or its number."
        ),
    ] = "one-se",
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="Pick within it, such as 'acquisition_cost<=30' or 'coverage>=0.9'; with <=, <, >=, > or "
            "==; may be repeated."
        ),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Class that false positives are called; default the last, sorted.")
    ] = None,
    penalty: Annotated[
        list[str] | None,
        typer.Option(help="CLASS=NUMBER in [0, 1]: what an error about such a row takes from the accuracy."),
    ] = None,
    call_cost: Annotated[
        float, typer.Option(help="Cost of one call of a stage's classifier, for evaluation_cost.")
    ] = 1.0,
    call_cost_per_feature: Annotated[
        float, typer.Option(help="What such a call costs more per feature that it reads.")
    ] = 0.0,
    removal: Annotated[bool, typer.Option("--removal", help="Allow features that are in no stage.")] = False,
    accuracy_risk: Annotated[
        float | None,
        typer.Option(
            help="Raise each classifier's threshold until Hoeffding's bound with this risk, shared among "
            "the stages, supports it on the rows it was fitted on: careful, but no guarantee for new rows."
        ),
    ] = None,
    population: Annotated[int | None, typer.Option(help="Size of a generation of emsco.")] = None,
    generations: Annotated[int | None, typer.Option(help="Most generations of emsco.")] = None,
    elites: Annotated[
        str | None,
        typer.Option(help="What emsco keeps one of: vector (of objectives) or chromosome (the paper)."),
    ] = None,
    recall: Annotated[
        int | None,
        typer.Option(
            help="Enumerate, run emsco once per seed, so many, and report how much of the front it finds."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out, such as an id; may be repeated.")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for the search; default: none.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the split and of the evolution.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for every core.")] = -1,
    rows: Annotated[int, typer.Option(help="Most points to print; 0 for all.")] = 20,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write: the front if it ends in .parquet or .csv, the model if in .joblib."
        ),
    ] = None,
    model_out: Annotated[
        Path | None,
        typer.Option(help="Model file to write, for shortlist predict; goes with --out FRONT.parquet."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Find out which features to buy at which stage: coverage, accuracy and cost, with proof.

    Splits the rows 50 : 25 : 25, fits classifiers on the first part, judges stage assignments on the second,
    and measures the chosen one on the third. --out front.parquet writes the front (shortlist front show),
    --model-out stages.joblib the classifier (shortlist predict stages.joblib NEW.csv --explain), which
    shortlist stage use changes to another point of its front. Ctrl-C stops the search and keeps what was
    found.
    """
    import time

    from shortlist.cli.files import FRONT_FILE, MODEL_FILE, check_files

    check_files(
        inputs={"TABLE": table, "--costs": costs},
        outputs={"--out": out, "--model-out": model_out},
        endings={"--out": FRONT_FILE + MODEL_FILE, "--model-out": MODEL_FILE},
    )
    from shortlist.cli.options.limits import read_limits
    from shortlist.cli.work import long_work
    from shortlist.errors import BadInputError
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.multistage.presets import preset as named_preset
    from shortlist.tables.fingerprints import table_fingerprint
    from shortlist.tables.learning import read_table, split_target

    front_file, model_file = output_files(out, model_out)
    method = stage_method(method, recall)
    check_numbers(context.params)
    refuse_unused(context, USES)
    paper = named_preset(preset) if preset else None
    options = evolution_options(paper, population=population, generations=generations, elites=elites)
    wanted = objective_names(objectives)
    limits = read_limits(limit or (), wanted)
    notes: list[str] = []
    X, y = split_target(read_table(table, notes), target, drop=drop or (), notes=notes)
    labels, names = y.to_numpy(), [str(name) for name in X.columns]
    classifier = MultiStageClassifier(
        feature_costs=read_prices(
            names, costs, costs_dataset, paper, scaling, dropped=drop or (), notes=notes
        ),
        confidence=read_confidence(confidence, paper, labels),
        max_stages=max_stages,
        method=method,
        objectives=wanted,
        pick=int(pick) if pick.isdecimal() else pick,
        limits=limits,
        reject_label=None if labels.dtype.kind == "O" else "REJECT",
        positive=None if positive is None else as_label(positive, labels),
        penalties=read_penalties(penalty or (), labels),
        call_cost=call_cost,
        call_cost_per_feature=call_cost_per_feature,
        removal=removal,
        accuracy_risk=accuracy_risk,
        enumeration_budget=budget,
        emsco_options=options,
        time_limit_s=time_limit,
        n_jobs=jobs,
        random_state=seed,
    )
    print_notes(notes)  # now, while there is time to stop
    about = run_facts(context) | {"data": table_fingerprint(X, y).as_dict()}
    found = None
    start = time.perf_counter()
    with long_work() as (cancellation, report):
        staged, unmet = _staged(X, labels, classifier, seed, report=report, cancellation=cancellation)
        seconds = time.perf_counter() - start
        front_file, model_file = _save(classifier, names, target, front_file, model_file)
        if recall is not None and staged is not None:
            try:
                found = _recall(staged, options, recall, report=report, cancellation=cancellation)
            except BadInputError as error:
                unmet = error
    reason = no_point(classifier.front_, limits)
    print_notes(later := _notes(context, classifier, staged))
    if json:
        facts = front_part(classifier, seconds) if staged is None else stage_facts(staged, seconds, found)
        facts |= {"reason": reason} | ({"status": "infeasible"} if reason else {})
        files = {"out": front_file and str(front_file), "model": model_file and str(model_file)}
        print_json(facts | files | {"notes": notes + later} | about)
    else:
        _print(classifier, staged, seconds, rows, found)
    kept = _kept(front_file, model_file, picked=staged is not None)
    if unmet is not None and not reason:
        raise type(unmet)(f"{unmet}{kept}")
    if not json:
        print(f"\nStatus infeasible: {reason}{kept}\n" if reason else _saved(front_file, model_file), end="")


def _print(
    classifier: "MultiStageClassifier",
    staged: "StagedTable | None",
    seconds: float,
    rows: int,
    found: "Recall | None",
) -> None:
    """Print for people what there is."""
    if staged is None:
        print_front(classifier, seconds, rows)
        return
    print_stage(staged, seconds, rows)
    if found is not None:
        print_recall(found)


def _staged(
    X: Any, labels: Any, classifier: "MultiStageClassifier", seed: int, **run: Any
) -> "tuple[StagedTable | None, BadInputError | None]":
    """Do the work.

    Where the front has no point as it was asked for, return why, and the classifier has its front.
    """
    import warnings

    from shortlist.errors import LowCoverageWarning, UnmetChoiceError
    from shortlist.multistage.holdout import stage_table

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowCoverageWarning)  # it is among the notes
        try:
            return stage_table(X, labels, classifier, seed=seed, **run), None
        except UnmetChoiceError as error:
            return None, error


def _save(
    classifier: "MultiStageClassifier",
    features: list[str],
    target: str,
    front_file: Path | None,
    model_file: Path | None,
) -> tuple[Path | None, Path | None]:
    """Write what was asked for, and return where it is."""
    from shortlist.saved_models import SavedModel, save_model

    if model_file is not None:
        fitted = SavedModel(classifier, tuple(features), target)
        model_file = save(model_file, lambda path: save_model(fitted, path))
    if front_file is not None:
        front_file = save(front_file, classifier.front_.save)
    return front_file, model_file


def _notes(
    context: typer.Context, classifier: "MultiStageClassifier", staged: "StagedTable | None"
) -> list[str]:
    """Return what a user should know beside the answer."""
    from shortlist._words import all_of
    from shortlist.cli.text.measured_table import one_answer_notes

    notes = []
    if classifier.front_.method == "enumerate" and context.params["recall"] is None:
        evolution = [
            typed_name(context, name)
            for name in ("population", "generations", "elites")
            if is_given(context, name)
        ]
        if evolution:
            notes.append(
                f"the front was enumerated, so {all_of(evolution)} did nothing. --method emsco evolves it "
                "instead."
            )
    if staged is None:
        return notes
    notes += classifier.notes_
    return notes + one_answer_notes(
        staged.judged.only_answer,
        staged.test.only_answer,
        who="the chosen point",
        rows="judging",
    )


def _kept(front_file: Path | None, model_file: Path | None, *, picked: bool) -> str:
    """Say what was kept of work whose last step could not be done."""
    kept = ""
    if front_file is not None:
        kept += f" The front is in {front_file}."
    if model_file is not None:
        kept += f" The model is in {model_file}"
        kept += (
            "."
            if picked
            else f"; take a point: shortlist stage use {model_file} --pick NUMBER --out NEW.joblib."
        )
    return kept


def _saved(front_file: Path | None, model_file: Path | None) -> str:
    """Say what was written, and how to use it, a line each."""
    lines = ""
    if front_file is not None:
        lines += f"Front saved to {front_file}; look at it with: shortlist front show {front_file}\n"
    if model_file is not None:
        lines += (
            f"Model saved to {model_file}; use it with: shortlist predict {model_file} NEW.csv --explain\n"
        )
    return lines


def _recall(
    staged: "StagedTable", options: "EmscoOptions", n_seeds: int, *, report: Any, cancellation: Any
) -> "Recall":
    """Run evolution on the enumerated problem, convergence test off, once per seed."""
    from dataclasses import replace

    from shortlist.errors import BadInputError
    from shortlist.multistage.search.recall import recall
    from shortlist.results.proof import ProofKind

    truth = staged.classifier.result_
    if truth.proof.kind is not ProofKind.COMPLETE:
        raise BadInputError(
            f"--recall needs the complete front, but the enumeration was stopped: {truth.proof.limit}. "
            "Allow more time."
        )
    return recall(
        truth, replace(options, patience=None), seeds=range(n_seeds), report=report, cancellation=cancellation
    )
