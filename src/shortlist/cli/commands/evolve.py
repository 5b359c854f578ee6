"""`shortlist evolve`: evolve classifiers, and choose the ensemble from them."""

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist._words import counted
from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import MODEL_FILE, PAGE_FILE, STUDY_FILE, check_files, files_by_kind
from shortlist.cli.options.error_costs import ErrorCostsText, costs_of_labels
from shortlist.cli.options.settings import (
    grouped,
    having,
    note_settings,
    options_of_methods,
    refuse_unmet,
)
from shortlist.cli.options.shared import (
    PROTOCOL,
    Details,
    MeasureOptions,
    ModelAndPageOut,
    RunOptions,
    StudyOptions,
    TableFile,
    TableOptions,
    check_shared,
    own_or_address,
)
from shortlist.cli.text.measured_table import one_answer_notes, print_measured
from shortlist.cli.text.output import print_lines, print_notes, save, save_page

if TYPE_CHECKING:
    from shortlist.cli.text.pruned import WrittenFiles
    from shortlist.ensembles.evolved_table import EvolvedTable
    from shortlist.report.page import Parts
    from shortlist.results.measured_again import Figure


def _methods() -> dict[str, type]:
    from shortlist.ensembles.evolution.settings import MODES, EvolutionSettings

    return options_of_methods(EvolutionSettings, MODES)


def evolution(mode: str, given: dict[str, Any]) -> Any:
    """Return the options of a method.

    `given`: option values by name. Raises BadInputError if there is no such method, the method lacks an
    option, or an option has no effect beside another.
    """
    from shortlist._validation import as_choice, as_options

    methods = _methods()
    as_choice(mode, "mode", list(methods))
    options: Any = as_options(methods[mode], given, f"`mode={mode!r}`")
    refuse_unmet(methods[mode], given, vars(options))
    return options


SAVED = {"evolved": "ensemble", "best_single": "best-single"}
"""Names of ``--pick`` by rule, for the rules whose model can be written."""


@dataclass(frozen=True)
class EvolvedMeasure(MeasureOptions):
    """Options of measuring, and of the model to write."""

    protocol: Annotated[
        str, f"{PROTOCOL}: auto (all, measured by evolving again on parts of them) or paper (90 : 10)."
    ] = "auto"
    pick: Annotated[
        str | None,
        typer.Option(
            help="Model to write: ensemble or best-single.", show_default="the one that the first line names"
        ),
    ] = None

    def rule_to_save(self) -> str:
        """Return the rule whose model is written; refuse an unknown name."""
        from shortlist._validation import AUTO, as_choice

        picks = {name: rule for rule, name in SAVED.items()}
        return AUTO if self.pick is None else picks[as_choice(self.pick, "--pick", list(picks))]


AS_EVOLUTIONS_DIFFER = (
    "Intervals of accuracy and p-values include the variance between evolutions on different rows."
)

MANY_MEMBERS = 100
"""Number of members from which a note mentions it."""


def evolved_notes(evolved: "EvolvedTable") -> list[str]:
    """Return notes on properties of the ensemble other than its accuracy."""
    tested = evolved.test["evolved"].only_answer if evolved.test else None
    notes = one_answer_notes(evolved.only_answer, tested, who="the ensemble", rows="training")
    size = len(evolved.classifier.members_)
    if size >= MANY_MEMBERS:
        notes.append(
            f"the ensemble has {size:,} members, and each is asked about every row. --set max-members=N "
            "keeps fewer."
        )
    return notes


def evolved_facts(evolved: "EvolvedTable", saved: Path | None) -> dict[str, Any]:
    """Return the facts that every command has, and the facts of evolution."""
    from shortlist.ensembles.estimators.evolved_ensemble import evolution_facts
    from shortlist.ensembles.measured import measured_facts

    tested = evolved.test["evolved"].only_answer if evolved.test else None
    return {
        "seconds": evolved.seconds,
        **evolution_facts(evolved.classifier),
        "rows": evolved.n_rows,
        "only_answer": {"train": evolved.only_answer, "test": tested},
        "test": {
            name: facts | {"error": 1 - facts["accuracy"]}
            for name, facts in measured_facts(evolved.test).items()
        },
        "shown_class": evolved.test["evolved"].shown_class() if evolved.test else None,
        "advice": None if evolved.advice is None else evolved.advice.as_dict(),
        "held_out": evolved.limits_of_measuring or None,
        "model": None if saved is None else str(saved),
    }


def print_evolved(
    evolved: "EvolvedTable", facts: dict[str, Any], written: "WrittenFiles", *, details: bool = False
) -> None:
    """Print advice with its evidence: the choice, its quality and proof, the files, the next step."""
    from shortlist.cli.text.pruned import other_lines, proof_line, saved_lines, use_lines
    from shortlist.ensembles.evolution.evolution import PATIENCE
    from shortlist.results.proof import stopped_by

    lines = [*_what_to_do(evolved, facts), "", proof_line(facts["proof"])]
    if stopped := evolved.classifier.result_.stopped:
        why = "no lower error within --set patience" if stopped == PATIENCE else stopped_by(stopped)
        done, wanted = len(evolved.classifier.result_.history), evolved.classifier.n_generations
        lines.append(f"Stopped after {done:,} of {wanted:,} generations: {why}.")
    lines += saved_lines(evolved.names, evolved.rule_saved, written)
    lines += use_lines(written, details=details)
    print_lines([*lines, *other_lines(evolved.names, evolved.rule_saved, SAVED)])
    if details:
        print()
        _print_details(evolved)


def _what_to_do(evolved: "EvolvedTable", facts: dict[str, Any]) -> list[str]:
    """Return lines that recommend a choice, with the figures, or say that nothing was measured."""
    from shortlist.cli.text.pruned import MEASURED_BY_CHOICE
    from shortlist.report.held_out import class_table, error_costs_in_words, held_out_table

    advice = evolved.advice
    if advice is None:
        return ["Interrupted: the ensemble was not measured."]
    test = {name: one for name, one in facts["test"].items() if not evolved.is_alone or name == "evolved"}
    table = held_out_table(test, advice.names, evolved.n_rows)
    how = MEASURED_BY_CHOICE if "parts" in evolved.n_rows else evolved.limits_of_measuring
    lines = table.lines()
    if (classes := class_table(test, advice.names, facts["shown_class"])) is not None:
        lines += classes.lines()
    if (costs := evolved.classifier.error_costs_) is not None:
        lines.append(
            error_costs_in_words(dict(zip(map(str, evolved.classifier.classes_), costs, strict=True)))
        )
    return [advice.sentence, "", *lines, *(told for told in (advice.compared(), how) if told)]


def _print_details(evolved: "EvolvedTable") -> None:
    classifier, result, rows = evolved.classifier, evolved.classifier.result_, evolved.n_rows
    stopped = f", stopped: {result.stopped}" if result.stopped else ""
    print_lines(
        [
            f"{_rows_in_words(rows)}; {len(classifier.classes_)} classes.",
            (
                f"{classifier.mode}, {classifier.space}: {len(result.history)} of {classifier.n_generations} "
                f"generations of {classifier.population_size} ({evolved.seconds:.1f} s{stopped})."
            ),
            (
                f"The ensemble has {counted(len(result.members), 'member')}; error {result.error:.4f} on "
                "the rows it was evolved on."
            ),
        ]
    )
    if evolved.test:
        print()
        print_measured(evolved.test)
        if "parts" in rows:
            print_lines([AS_EVOLUTIONS_DIFFER])


def _rows_in_words(rows: dict[str, int]) -> str:
    """Return the numbers of rows by their use in this run, in words.

    >>> _rows_in_words({"train": 90, "test": 10})
    '90 rows to evolve on, 10 to test'
    >>> _rows_in_words({"train": 90, "test": 90, "parts": 5, "partitions": 1})
    '90 rows to evolve on, and in 5 parts to measure'
    """
    parts = f"{rows['train']:,} rows to evolve on"
    if "parts" in rows:
        dealt = f", dealt {counted(rows['partitions'], 'time')}," if rows["partitions"] > 1 else ""
        return f"{parts}, and in {rows['parts']} parts{dealt} to measure"
    return f"{parts}, {rows['test']:,} to test" if "test" in rows else parts


@having(_methods)
@grouped
@answers
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
    error_costs: ErrorCostsText = None,
    figures: EvolvedMeasure,
    kept: StudyOptions,
    run: RunOptions,
    out: ModelAndPageOut = None,
    details: Details = False,
) -> CommandAnswer:
    """Evolve classifiers that correct each other's errors.

    The ensemble is chosen by margins, or exactly. All rows evolve it. It is measured by repeated choice:
    evolution starts again outside each of five parts of the rows, and answers the part. Where that takes too
    long (rows times individuals times generations above
    400 million), a tenth is held out for the test; --test FILE measures in place of both. There may be any
    number of classes, text columns and missing values. Ctrl-C stops evolution and keeps the ensemble so far;
    with --study the same command continues from there. The model written is the one that the first line
    names.
    """
    check_files(
        inputs={"TABLE": table, "--test": figures.test},
        outputs={"--out": out, "--study": kept.study},
        endings={"--out": MODEL_FILE + PAGE_FILE, "--study": STUDY_FILE},
    )
    model_file, page_file = files_by_kind(out, model=MODEL_FILE, page=PAGE_FILE)
    from shortlist.cli.text.pruned import WrittenFiles
    from shortlist.cli.work import long_work
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
    from shortlist.ensembles.evolved_table import evolve_table
    from shortlist.results.measuring import Measuring, TableRows
    from shortlist.runs import Work
    from shortlist.saved_models import SavedModel, save_model

    breeding = evolution(mode, settings)
    note_settings(context, breeding)
    check_shared(context.params)
    saves = figures.rule_to_save()
    notes: list[str] = []
    learning = rows.read(table, notes)
    X, y = learning.X, learning.y
    classifier = EvolutionaryEnsembleClassifier(mode, random_state=run.seed, **asdict(breeding))
    labels = y.to_numpy()
    tested = figures.test_rows(rows, learning, notes)
    classifier.set_params(error_costs=costs_of_labels(error_costs, labels) or None)
    classifier.check_options(labels)
    if classifier.mode == "online" and classifier.max_members is None:
        notes.append(
            "an online ensemble grows in every generation and may have thousands of members. "
            "--set max-members=N bounds it."
        )
    print_notes(notes)  # now, while there is time to stop
    with kept.opened(context) as study, long_work(kept.study) as (cancellation, tell):
        evolved = evolve_table(
            X, labels, classifier, seed=run.seed, cases=learning.cases,
            measuring=Measuring(
                figures.protocol, None if tested is None else TableRows(*tested), figures.margin, saves
            ),
            work=Work(own_or_address(run.workers), study, tell, cancellation),
        )  # fmt: skip
        if model_file is not None:
            model = SavedModel(
                evolved.saved, learning.features, rows.target, ids=learning.ids, reported=_reported(evolved)
            )
            model_file = save(model_file, lambda path: save_model(model, path))
        page_file = save_page(page_file, f"Evolved ensemble: {Path(table).name}", lambda: _parts(evolved))
    files = WrittenFiles(model=model_file, report=page_file)
    facts = evolved_facts(evolved, model_file)
    facts |= {"report": page_file, "data": classifier.training_.table.as_dict()}
    return CommandAnswer(
        facts, partial(print_evolved, evolved, facts, files, details=details), evolved_notes(evolved)
    )


def _reported(evolved: "EvolvedTable") -> "dict[str, Figure]":
    """Return the figures of the saved model that are compared when new rows are measured."""
    from shortlist.ensembles.measured import reported_figures

    measured = evolved.test.get(evolved.rule_saved)
    return {} if measured is None else reported_figures(measured)


def _parts(evolved: "EvolvedTable") -> "Parts":
    from shortlist.report.held_out import evolved_parts

    test = {name: one for name, one in evolved.test.items() if not evolved.is_alone or name == "evolved"}
    return evolved_parts(
        evolved.classifier, test, evolved.advice, n_parts=evolved.n_rows.get("parts"),
        note=evolved.limits_of_measuring,
    )  # fmt: skip
