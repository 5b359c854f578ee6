"""`shortlist stage`: which features to buy at which stage, with proof."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.output import print_json, save
from shortlist.cli.pairs import read_numbers, read_pairs
from shortlist.cli.stage_report import print_recall, print_stage, stage_facts

if TYPE_CHECKING:
    from shortlist.multistage.costs import FeatureCosts
    from shortlist.multistage.emsco import EmscoOptions
    from shortlist.multistage.holdout import StagedTable
    from shortlist.multistage.presets import Preset
    from shortlist.multistage.recall import Recall

MAXIMISED = ("coverage", "conclusive_accuracy")
USUAL_CONFIDENCE = 0.75


def stage(
    table: Annotated[str, typer.Argument(help="CSV or Parquet file, or example:breast-cancer.")],
    *,
    target: Annotated[str, typer.Option(help="Column that holds the class.")] = "target",
    costs: Annotated[
        Path | None,
        typer.Option(
            help="CSV with columns feature,cost; with discount_cost,group as well, the first feature of a group "
            "costs its full price. Default: 1 each."
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
            help="What matters: coverage, conclusive_accuracy, acquisition_cost, false_positive_rate, stages, "
            "worst_case_cost, evaluation_cost."
        ),
    ] = "coverage,conclusive_accuracy,acquisition_cost",
    pick: Annotated[
        str,
        typer.Option(help="Point that predicts: norm, ideal, knee, weights, lexicographic, or its number."),
    ] = "norm",
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="Pick within it, such as 'acquisition_cost<=30' or 'coverage>=0.9'; may be repeated."
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
            help="Raise each classifier's threshold until Hoeffding's bound with this risk, shared among the stages, "
            "supports it on the rows it was fitted on: careful, but no guarantee for new rows."
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

    Splits the rows 50 : 25 : 25, fits classifiers on the first part, judges stage assignments on the second, and measures the
    chosen one on the third. --out front.parquet writes the front (shortlist front show), --model-out stages.joblib the
    classifier (shortlist predict stages.joblib NEW.csv --explain). Ctrl-C stops the search and keeps what was found.
    """
    import time

    from shortlist.cli.files import FRONT_FILE, MODEL_FILE, check_files

    check_files(
        inputs={"TABLE": table, "--costs": costs},
        outputs={"--out": out, "--model-out": model_out},
        endings={"--out": FRONT_FILE + MODEL_FILE, "--model-out": MODEL_FILE},
    )
    from shortlist._validation import as_count, as_seed
    from shortlist.cli.work import long_work
    from shortlist.datasets.tables import read_table, split_target
    from shortlist.errors import BadInputError
    from shortlist.multistage.estimators import MultiStageClassifier
    from shortlist.multistage.holdout import stage_table
    from shortlist.multistage.presets import preset as named_preset
    from shortlist.saved_models import SavedModel, save_model

    front_file, model_file = _files(out, model_out)
    as_count(rows, "--rows", at_least=0)
    as_seed(seed, "--seed")
    if jobs == 0:
        raise BadInputError("--jobs must be a number of threads, or -1 for every core, got 0.")
    method = _method(method, recall)
    paper = named_preset(preset) if preset else None
    if scaling is not None and paper is None:
        raise BadInputError("--scaling says how a preset's cost classes become costs. Pass --preset as well.")
    wanted = [name.strip().replace("-", "_") for name in objectives.split(",")]
    limits = _limits(limit or (), wanted)
    X, y = split_target(read_table(table), target, drop=drop or ())
    labels = y.to_numpy()
    options = _emsco_options(paper, population=population, generations=generations, elites=elites)
    classifier = MultiStageClassifier(
        feature_costs=_costs([str(name) for name in X.columns], costs, costs_dataset, paper, scaling),
        confidence=_confidence(confidence, paper, labels),
        max_stages=max_stages,
        method=method,
        objectives=wanted,
        pick=int(pick) if pick.isdecimal() else pick,
        limits=limits,
        reject_label=None if labels.dtype.kind == "O" else "REJECT",
        positive=None if positive is None else _label(positive, labels),
        penalties=_penalties(penalty or (), labels),
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
    start = time.perf_counter()
    with long_work() as (cancellation, report):
        staged = stage_table(X, labels, classifier, seed=seed, report=report, cancellation=cancellation)
        seconds = time.perf_counter() - start
        found = None
        if recall is not None:
            found = _recall(staged, options, recall, report=report, cancellation=cancellation)
        if model_file is not None:
            fitted = SavedModel(classifier, tuple(str(name) for name in X.columns), target)
            model_file = save(model_file, lambda path: save_model(fitted, path))
        if front_file is not None:
            front_file = save(front_file, classifier.front_.save)
    if json:
        files = {
            name: None if path is None else str(path)
            for name, path in (("out", front_file), ("model", model_file))
        }
        print_json(stage_facts(staged, seconds, found) | files)
        return
    print_stage(staged, seconds, rows)
    if found is not None:
        print_recall(found)
    _print_files(front_file, model_file)


def _print_files(front_file: Path | None, model_file: Path | None) -> None:
    """Say what was written, and how to use it."""
    if front_file is not None:
        way = f"; look at it with: shortlist front show {front_file}" if front_file.suffix != ".csv" else "."
        print(f"Front saved to {front_file}{way}")
    if model_file is not None:
        print(f"Model saved to {model_file}; use it with: shortlist predict {model_file} NEW.csv --explain")


def _method(method: str, recall: int | None) -> str:
    """Return the method; recall needs the complete front."""
    from shortlist._validation import as_count
    from shortlist.errors import BadInputError

    if recall is None:
        return method
    as_count(recall, "--recall")
    if method == "emsco":
        raise BadInputError("--recall compares with the complete front. Leave out --method emsco.")
    return "enumerate"


def _files(out: Path | None, model_out: Path | None) -> tuple[Path | None, Path | None]:
    """Return the files for the front and for the model."""
    from shortlist.cli.files import FRONT_FILE
    from shortlist.errors import BadInputError

    front_file = model_file = None
    if out is not None:
        front_file, model_file = (out, None) if out.suffix.casefold() in FRONT_FILE else (None, out)
    if model_out is not None:
        if model_file is not None:
            raise BadInputError("--out and --model-out both name a model file. Let --out end in .parquet.")
        model_file = model_out
    return front_file, model_file


def _costs(
    names: Sequence[str], path: Path | None, dataset: str | None, paper: "Preset | None", scaling: str | None
) -> "FeatureCosts":
    """Return prices from the file, else from the preset, else 1 each."""
    from shortlist.errors import BadInputError
    from shortlist.multistage.costs import feature_costs, read_costs

    if path is not None:
        return read_costs(path, names, dataset=dataset)
    if dataset is not None:
        raise BadInputError("--costs-dataset chooses rows of a file of costs. Pass --costs as well.")
    return feature_costs(None if paper is None else paper.costs(scaling), names)


def _confidence(text: str | None, paper: "Preset | None", labels: Any) -> float | dict[Any, float]:
    """Read p̂, one number or one per class."""
    from shortlist.errors import BadInputError

    if text is None:
        return USUAL_CONFIDENCE if paper is None else paper.confidence
    if "=" in text:
        return {_label(name, labels): value for name, value in read_numbers(text, "confidence").items()}
    try:
        return float(text)
    except ValueError:
        raise BadInputError(
            f"--confidence must be a number in (0, 1], or CLASS=NUMBER,..., got {text!r}."
        ) from None


def _label(text: str, labels: Any) -> Any:
    """Return the class that is written so; an unknown one stays text and is refused later, with the classes."""
    import numpy as np

    return {str(label): label for label in np.unique(labels).tolist()}.get(text, text)


def _penalties(texts: Sequence[str], labels: Any) -> dict[Any, float] | None:
    """Read what errors take from the accuracy, per class."""
    numbers: dict[Any, float] = {}
    for name, value in read_pairs(texts, "penalty"):
        numbers[_label(name, labels)] = read_numbers(f"{name}={value}", "penalty")[name]
    return numbers or None


def _limits(texts: Sequence[str], objectives: Sequence[str]) -> dict[str, float]:
    """Read limits on objectives, each in its better direction."""
    from shortlist.errors import BadInputError

    limits = {}
    for text in texts:
        found = re.fullmatch(r"\s*([\w-]+)\s*(<=|>=)\s*(\d+(?:\.\d*)?|\.\d+)\s*", text)
        name = found[1].replace("-", "_") if found else ""
        wanted = ">=" if name in MAXIMISED else "<="
        if found is None or name not in objectives or found[2] != wanted:
            ways = ", ".join(f"{each}{'>=' if each in MAXIMISED else '<='}NUMBER" for each in objectives)
            raise BadInputError(f"--limit must read like one of {ways}, got {text!r}.")
        limits[name] = float(found[3])
    return limits


def _emsco_options(paper: "Preset | None", **given: Any) -> "EmscoOptions":
    """Return the preset's parameters of the evolution, with those that were given."""
    from dataclasses import replace

    from shortlist.multistage.emsco import EmscoOptions

    start = EmscoOptions() if paper is None else paper.options
    return replace(start, **{name: value for name, value in given.items() if value is not None})


def _recall(
    staged: "StagedTable", options: "EmscoOptions", n_seeds: int, *, report: Any, cancellation: Any
) -> "Recall":
    """Run evolution on the enumerated problem, convergence test off, once per seed."""
    from dataclasses import replace

    from shortlist.errors import BadInputError
    from shortlist.front import ProofKind
    from shortlist.multistage.recall import recall

    truth = staged.classifier.result_
    if truth.proof.kind is not ProofKind.COMPLETE:
        raise BadInputError(
            f"--recall needs the complete front, but the enumeration was stopped: {truth.proof.limit}. Allow more time."
        )
    return recall(
        truth, replace(options, patience=None), seeds=range(n_seeds), report=report, cancellation=cancellation
    )
