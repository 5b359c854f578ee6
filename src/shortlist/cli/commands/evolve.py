"""`shortlist evolve`: breed classifiers, and choose the ensemble from them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.evolve_options import MODES, evolution
from shortlist.cli.options.groups import grouped
from shortlist.cli.options.settings import having, note_settings
from shortlist.cli.options.shared import (
    Json,
    ModelOut,
    OwnRunOptions,
    ReportOut,
    TableFile,
    TableOptions,
    check_shared,
    own_workers,
)
from shortlist.cli.options.study_options import StudyOptions
from shortlist.cli.text.delivery import save
from shortlist.cli.text.output import print_json, print_notes, run_facts

if TYPE_CHECKING:
    from shortlist.ensembles.protocol.holdout import EvolvedTable
    from shortlist.report.parts import Parts


@having(lambda: MODES)
@grouped
def evolve(
    context: typer.Context,
    table: TableFile,
    *,
    rows: TableOptions,
    mode: Annotated[
        str,
        typer.Option(
            "--method",
            help="Method: offline (choose from the last generation), online (grow in every generation), or "
            "single (a plain genetic algorithm).",
        ),
    ] = "offline",
    settings: dict[str, Any],
    kept: StudyOptions,
    run: OwnRunOptions,
    out: ModelOut = None,
    report: ReportOut = None,
    json: Json = False,
) -> None:
    """Breed classifiers that are right where others are wrong, and choose an ensemble of them by margins.

    Splits the rows 90 : 10, evolves on the first part, and reports on the second. Any number of classes;
    text columns and missing values are fine. Ctrl-C stops evolution and keeps the ensemble so far. With
    --study the same command goes on from there.
    """
    from shortlist.cli.files import MODEL_FILE, PAGE_FILE, STUDY_FILE, check_files

    check_files(
        inputs={"TABLE": table},
        outputs={"--out": out, "--report": report, "--study": kept.file},
        endings={"--out": MODEL_FILE, "--report": PAGE_FILE, "--study": STUDY_FILE},
    )
    from joblib import effective_n_jobs
    from threadpoolctl import threadpool_limits

    from shortlist.cli.text.evolved import evolved_facts, evolved_notes, print_evolved
    from shortlist.cli.text.result_page import page_path, save_page, tell_page
    from shortlist.cli.work import long_work
    from shortlist.ensembles.protocol.holdout import evolve_table
    from shortlist.saved_models import SavedModel, save_model
    from shortlist.tables.fingerprints import table_fingerprint

    breeding = evolution(mode, settings)
    note_settings(context, breeding)
    check_shared(context.params)
    n_threads = own_workers(run.workers, "evolve")
    notes: list[str] = []
    learning = rows.read(table, notes)
    X, y = learning.X, learning.y
    classifier = breeding.classifier(mode, run.seed)
    labels = y.to_numpy()
    classifier.check_options(labels)
    if classifier.mode == "online" and classifier.max_members is None:
        notes.append(
            "an online ensemble grows in every generation and may come to thousands of members. "
            "--set max-members=N bounds it."
        )
    print_notes(notes)  # now, while there is time to stop
    fingerprint = table_fingerprint(X, y)
    place = kept.place(context, fingerprint.digest)
    with (
        threadpool_limits(limits=effective_n_jobs(n_threads)),
        place.opened(context) as study,
        long_work(place.path) as (cancellation, tell),
    ):
        evolved = evolve_table(
            X,
            labels,
            classifier,
            seed=run.seed,
            cases=learning.cases,
            report=tell,
            cancellation=cancellation,
            study=study,
        )
        if out is not None:
            model = SavedModel(classifier, learning.features, rows.target, ids=learning.ids)
            out = save(out, lambda path: save_model(model, path))
        report = save_page(report, f"Evolved ensemble: {table}", lambda: _parts(evolved))
    found = evolved_notes(evolved)
    print_notes(found)
    if json:
        about = run_facts(context) | {"data": fingerprint.as_dict()}
        print_json(evolved_facts(evolved, out) | page_path(report) | {"notes": notes + found} | about)
    else:
        print_evolved(evolved, out)
        tell_page(report)


def _parts(evolved: "EvolvedTable") -> "Parts":
    from shortlist.report.evolved import evolved_parts

    return evolved_parts(evolved.classifier, evolved.test)
