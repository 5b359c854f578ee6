"""`shortlist export`: a saved model as plain numbers or as ONNX, for programs without Shortlist."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.options.shared import Json, SavedModelFile, TableFile, Trust, output
from shortlist.cli.text.delivery import save
from shortlist.cli.text.output import print_json, print_notes, run_facts


def export_policy(
    context: typer.Context,
    model: SavedModelFile,
    table: TableFile,
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="File to write: the policy, ending in .json, or ONNX, ending in .onnx."
        ),
    ],
    reader: Annotated[
        Path | None, output("what answers by the policy, ending in .py: Python without anything installed.")
    ] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Write a saved model of prune, evolve or stage as a policy: plain numbers that any language reads.

    The policy is asked about every row of the table, and written only if it answers them all as the model
    does.
    """
    from shortlist.cli.files import CODE_FILE, POLICY_FILE, check_files
    from shortlist.runs.clock import seconds_now

    check_files(
        inputs={"MODEL": model, "TABLE": table},
        outputs={"--reader": reader, "--out": out},
        endings={"--out": POLICY_FILE, "--reader": CODE_FILE},
    )
    from shortlist.cli.text.progress import working
    from shortlist.errors import BadInputError
    from shortlist.export.policies import (
        asked_columns,
        check_policy,
        keeps_rows,
        policy_of,
        readable,
        write_policy,
        write_reader,
    )
    from shortlist.saved_models import load_model
    from shortlist.tables.learning import read_table, select_columns

    as_onnx = out.suffix.casefold() == ".onnx"
    if as_onnx and reader is not None:
        raise BadInputError("--reader belongs to a policy. Leave it out, or let --out end in .json.")
    start = seconds_now()
    saved = load_model(model, trust=trust)
    notes: list[str] = []
    rows = select_columns(read_table(table, notes), asked_columns(saved))
    policy = policy_of(saved)
    if keeping := keeps_rows(policy):
        notes.append(
            f"the policy holds rows that the model was fitted on; members that compare with them: {keeping}."
        )
    print_notes(notes)
    with working("checking"):
        if as_onnx:
            from shortlist.export.onnx_files import check_onnx, write_onnx
            from shortlist.export.onnx_graph import onnx_of

            content = onnx_of(policy)
            n_rows = check_onnx(content, saved, rows, policy)
        else:
            n_rows = check_policy(policy, saved, rows)
    out = save(out, lambda path: write_onnx(content, path) if as_onnx else write_policy(policy, path))
    if reader is not None:
        reader = save(reader, write_reader)
    if json:
        facts = {
            "command": "export",
            "method": "onnx" if as_onnx else "policy",
            "status": "optimal",
            "seconds": seconds_now() - start,
            "kind": policy["kind"],
            "n_rows": n_rows,
            "guarantee": policy["guarantee"],
            "out": str(out),
            "reader": None if reader is None else str(reader),
            "notes": notes,
        }
        print_json(facts | run_facts(context))
        return
    print(
        f"{'ONNX' if as_onnx else 'Policy'} in {out}: it answers all {n_rows:,} rows of the table as the "
        "model does."
    )
    if reader is not None:
        rows_file = table if readable(policy, table) else "NEW.csv"
        print(f"Reader in {reader}; use it with: {shlex.join(['python', str(reader), str(out), rows_file])}")
