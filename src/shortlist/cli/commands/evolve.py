"""`shortlist evolve`: breed classifiers, and choose the ensemble from them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.unused import Use, refuse_unused
from shortlist.cli.text.delivery import save
from shortlist.cli.text.measured_table import measured_facts, one_answer_notes, print_measured
from shortlist.cli.text.output import print_json, print_notes, run_facts

if TYPE_CHECKING:
    from shortlist.ensembles.studies.holdout import EvolvedTable

USES = (
    Use(
        ("gamma", "criterion", "max_members"),
        lambda given: given["mode"] != "single",
        "--mode offline and --mode online",
        "choose one of these",
    ),
    Use(("elites",), lambda given: given["survivors"] != "best", "--survivors children"),
    Use(
        ("tournament", "crossover", "survivors", "elites", "patience", "gamma"),
        lambda given: given["generations"] != 1,
        "evolution of more than one generation",
        "raise --generations",
    ),
)
"""When each option of evolve is used."""

MANY_MEMBERS = 100
"""From here on the number of members is worth a note."""


def evolve(
    context: typer.Context,
    table: Annotated[
        str, typer.Argument(help="CSV, Parquet or Excel file, - for stdin, or example:breast-cancer.")
    ],
    *,
    target: Annotated[str, typer.Option(help="Column that holds the class.")] = "target",
    mode: Annotated[
        str,
        typer.Option(
            help="offline (choose from the last generation), online (grow in every generation), "
            "or single (a plain genetic algorithm)."
        ),
    ] = "offline",
    space: Annotated[
        str, typer.Option(help="What evolves: linear, networks, rules or genetic-programs.")
    ] = "linear",
    generations: Annotated[int, typer.Option(help="Generations in all; the first is random.")] = 200,
    population: Annotated[int, typer.Option(help="Individuals.")] = 500,
    gamma: Annotated[float, typer.Option(help="Exponent of the rows' hardness; 0 makes them equal.")] = 1.0,
    tournament: Annotated[int, typer.Option(help="Individuals that compete for being a parent.")] = 2,
    crossover: Annotated[float, typer.Option(help="Share of the children with two parents.")] = 0.9,
    survivors: Annotated[
        str, typer.Option(help="children (replace all but the elites), or best (of parents and children).")
    ] = "children",
    elites: Annotated[int, typer.Option(help="Of --survivors children: fittest parents that stay.")] = 1,
    patience: Annotated[
        int | None,
        typer.Option(help="Stop after this many generations in which the ensemble's error did not fall."),
    ] = None,
    criterion: Annotated[
        str, typer.Option(help="histogram (Figure 1 of the paper), or minimum (the least margin alone).")
    ] = "histogram",
    max_members: Annotated[
        int | None,
        typer.Option(
            help="Most members; online shares the room out over the generations. Default: no limit."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out, such as an id; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the split and of evolution.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads of the matrix products; -1 for every core.")] = -1,
    out: Annotated[Path | None, typer.Option(help="Model file to write, for shortlist predict.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Breed classifiers that are right where others are wrong, and choose an ensemble of them by margins.

    Splits the rows 90 : 10, evolves on the first part, and reports on the second. Any number of classes; text
    columns and missing values are fine. Ctrl-C stops evolution and keeps the ensemble of the generations so
    far.
    """
    from shortlist.cli.files import MODEL_FILE, check_files

    check_files(inputs={"TABLE": table}, outputs={"--out": out}, endings={"--out": MODEL_FILE})
    from joblib import effective_n_jobs
    from threadpoolctl import threadpool_limits

    from shortlist._validation import as_seed
    from shortlist.cli.work import long_work
    from shortlist.ensembles.estimators.rule_estimators import EvolutionaryEnsembleClassifier
    from shortlist.ensembles.studies.holdout import evolve_table
    from shortlist.errors import BadInputError
    from shortlist.saved_models import SavedModel, save_model
    from shortlist.tables.fingerprints import table_fingerprint
    from shortlist.tables.learning import read_table, split_target

    refuse_unused(context, USES)
    as_seed(seed, "--seed")
    if jobs == 0:
        raise BadInputError("--jobs must be a number of threads, or -1 for every core, got 0.")
    notes: list[str] = []
    X, y = split_target(read_table(table, notes), target, drop=drop or (), notes=notes)
    classifier = EvolutionaryEnsembleClassifier(
        mode,
        space=space,
        population_size=population,
        n_generations=generations,
        gamma=gamma,
        tournament=tournament,
        crossover_rate=crossover,
        survivors=survivors,
        n_elites=elites,
        patience=patience,
        criterion=criterion,
        max_members=max_members,
        random_state=seed,
    )
    labels = y.to_numpy()
    classifier.check_options(labels)
    if mode == "online" and max_members is None:
        notes.append(
            "an online ensemble grows in every generation and may come to thousands of members. "
            "--max-members bounds it."
        )
    print_notes(notes)  # now, while there is time to stop
    with (
        threadpool_limits(limits=effective_n_jobs(jobs)),
        long_work() as (cancellation, report),
    ):
        evolved = evolve_table(X, labels, classifier, seed=seed, report=report, cancellation=cancellation)
        if out is not None:
            model = SavedModel(classifier, tuple(str(column) for column in X.columns), target)
            out = save(out, lambda path: save_model(model, path))
    found = _notes(evolved)
    print_notes(found)
    if json:
        about = run_facts(context) | {"data": table_fingerprint(X, y).as_dict()}
        print_json(_facts(evolved, out) | {"notes": notes + found} | about)
    else:
        _print(evolved, out)


def _notes(evolved: "EvolvedTable") -> list[str]:
    """Say what a user should know of the ensemble beside how right it is."""
    notes = one_answer_notes(
        evolved.only_answer, evolved.test["evolved"].only_answer, who="the ensemble", rows="training"
    )
    size = len(evolved.classifier.members_)
    if size >= MANY_MEMBERS:
        notes.append(
            f"the ensemble has {size:,} members, and each is asked about every row. --max-members keeps "
            "fewer."
        )
    return notes


def _facts(evolved: "EvolvedTable", saved: Path | None) -> dict[str, Any]:
    """Return the contract of every command, and what only evolution has."""
    classifier, result = evolved.classifier, evolved.classifier.result_
    return {
        "command": "evolve",
        "method": classifier.mode,
        "status": "feasible",
        "seconds": evolved.seconds,
        "objective": "accuracy",
        "value": 1 - result.error,
        "bound": None,
        "gap": None,
        "limit": result.stopped,
        "space": classifier.space,
        "classes": [str(label) for label in classifier.classes_],
        "size": len(result.members),
        "generations": len(result.history),
        "rows": evolved.n_rows,
        "max_members": classifier.max_members,
        "only_answer": {"train": evolved.only_answer, "test": evolved.test["evolved"].only_answer},
        "test": {
            name: facts | {"error": 1 - facts["accuracy"]}
            for name, facts in measured_facts(evolved.test).items()
        },
        "history": [
            {
                "generation": generation.number,
                "best_error": generation.best_error,
                "mean_error": generation.mean_error,
                "ensemble_error": generation.ensemble_error,
                "ensemble_size": generation.ensemble_size,
            }
            for generation in result.history
        ],
        "model": None if saved is None else str(saved),
    }


def _print(evolved: "EvolvedTable", saved: Path | None) -> None:
    """Print the answer for people."""
    classifier, result, rows = evolved.classifier, evolved.classifier.result_, evolved.n_rows
    print(f"{rows['train']} rows to evolve on, {rows['test']} to test; {len(classifier.classes_)} classes.")
    stopped = f", stopped: {result.stopped}" if result.stopped else ""
    print(
        f"{classifier.mode}, {classifier.space}: {len(result.history)} of {classifier.n_generations} "
        f"generations of {classifier.population_size} ({evolved.seconds:.1f} s{stopped})."
    )
    print(
        f"The ensemble has {len(result.members)} members; error {result.error:.4f} on the rows it was "
        f"evolved on, {1 - evolved.test['evolved'].accuracy:.4f} on the test rows."
    )
    print()
    print_measured(evolved.test)
    if saved is not None:
        print()
        print(f"Saved to {saved}; use it with: shortlist predict {saved} NEW.csv --out ANSWERS.csv")
