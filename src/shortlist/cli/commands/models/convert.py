"""`shortlist model convert`: a feature model in another format."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli.options.shared import SECONDS_HELP, FeatureModelFile, Json, check_shared, output
from shortlist.cli.text.output import print_json, print_notes, run_facts


def convert(
    context: typer.Context,
    model: FeatureModelFile,
    *,
    out: Annotated[
        list[Path],
        output(
            "the model, in the format of its ending, and the attributes too, as .csv or .xlsx, if it is "
            "given twice."
        ),
    ],
    time_limit: Annotated[float | None, typer.Option(help=f"{SECONDS_HELP}; default 60.")] = None,
    json: Json = False,
) -> None:
    """Write a feature model in another format, and prove that its products are the same.

    What the format says in another way or not at all is told. The file is read back, and every rule of one is
    proved to follow from the other. Ctrl-C ends the proof, and the file is written without one.
    """
    from shortlist.cli.files import FEATURE_MODEL_FILE, SPREADSHEET_FILE, check_files

    check_files(
        inputs={"MODEL": model},
        outputs={"--out": out},
        endings={"--out": FEATURE_MODEL_FILE + SPREADSHEET_FILE},
    )
    from shortlist.cli.options.points import parted_files
    from shortlist.cli.text.delivery import save
    from shortlist.cli.text.models.written import print_written, written_facts
    from shortlist.cli.work import last_resort, long_work
    from shortlist.errors import BadInputError
    from shortlist.files import write_text
    from shortlist.products.attributes.attribute_files import save_attributes
    from shortlist.products.conversion import convert_model
    from shortlist.products.formats import format_of, read_model
    from shortlist.runs.budget import Budget
    from shortlist.runs.clock import seconds_now

    check_shared(context.params)
    attributes_file, model_file = parted_files(out, SPREADSHEET_FILE, ("table", "model"))
    if model_file is None:
        raise BadInputError("--out", "must name a file for the model", str(attributes_file))
    kind = format_of(model_file)
    started = seconds_now()
    line = read_model(model)
    print_notes(line.notes)
    limit_s = 60 if time_limit is None else time_limit
    with long_work() as (cancellation, tell), last_resort(limit_s):
        budget = Budget(limit_s, cancellation=cancellation, report=tell)
        made = convert_model(line, kind, budget=budget)
        saved = save(model_file, lambda path: write_text(path, made.text))
        table = None
        if attributes_file is not None:
            table = save(attributes_file, lambda path: save_attributes(path, line))
    facts: dict[str, Any] = {
        "command": "model convert",
        **written_facts(made, line, saved),
        "attributes_out": None if table is None else str(table),
        "limit": budget.limit_text,
        "seconds": seconds_now() - started,
        **run_facts(context),
    }
    if json:
        print_json(facts)
    else:
        print_written(facts)
