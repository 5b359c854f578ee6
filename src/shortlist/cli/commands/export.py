"""`shortlist export`: a saved model for programs without Shortlist, and stages as a protocol for people."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import CODE_FILE, POLICY_FILE, PROTOCOL_FILE, check_files, files_by_kind
from shortlist.cli.options.shared import SavedModelFile, Trust
from shortlist.cli.text.output import print_notes, save

if TYPE_CHECKING:
    from shortlist.saved_models import SavedModel


@answers
def export_policy(
    model: SavedModelFile,
    table: Annotated[
        str | None,
        typer.Argument(
            help="CSV, Parquet or Excel file, - for standard input, or a set such as example:digits; its "
            "rows check the policy, and only a protocol needs none."
        ),
    ] = None,
    *,
    files_out: Annotated[
        list[Path],
        typer.Option(
            "--out",
            "-o",
            help="File to write: the policy, as .json, and with a second --out its reader in plain Python, "
            "as .py; or ONNX, as .onnx; or a protocol of stages to print, as .html, .md or .svg.",
        ),
    ],
    trust: Trust = False,
) -> CommandAnswer:
    """Write a saved model as a policy, ONNX or a protocol.

    A policy holds plain numbers, which any language can read. Before it is written, it answers every row of
    the table; it is written only if all answers are those of the model. Stages can also be written as a
    protocol, which people follow step by step on paper.
    """
    check_files(
        inputs={"MODEL": model, "TABLE": table},
        outputs={"--out": files_out},
        endings={"--out": POLICY_FILE + PROTOCOL_FILE + CODE_FILE},
    )
    from shortlist.cli.work import working
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
    from shortlist.runs.budget import seconds_now
    from shortlist.saved_models import load_model
    from shortlist.tables.learning import read_table, select_columns

    out, reader = _named(files_out)
    ending = out.suffix.casefold()
    as_onnx, as_protocol = ending == ".onnx", ending in PROTOCOL_FILE
    if reader is not None and (as_onnx or as_protocol):
        raise BadInputError(f"--out {reader} answers by a policy. Leave it out, or also name a .json file.")
    if table is None and not as_protocol:
        raise BadInputError(f"TABLE must be named to check {out} on, got none. Name a file with rows.")
    start = seconds_now()
    saved = load_model(model, trust=trust)
    notes: list[str] = []
    read = None if table is None else read_table(table, notes)
    rows = None if read is None else select_columns(read, asked_columns(saved))
    if as_protocol:
        print_notes(notes)
        facts = _write_protocol(saved, rows, out) | {"seconds": seconds_now() - start}
        return CommandAnswer(facts, [f"Protocol in {facts['out']}. {facts['checked']}"])
    assert table is not None
    assert rows is not None
    policy = policy_of(saved)
    if keeping := keeps_rows(policy):
        notes.append(
            f"the policy holds rows that the model was fitted on; members that compare with them: {keeping}."
        )
    print_notes(notes)
    with working("checking"):
        if as_onnx:
            from shortlist.export.onnx_graph import check_onnx, onnx_of, write_onnx

            content = onnx_of(policy)
            n_rows = check_onnx(content, saved, rows, policy)
        else:
            n_rows = check_policy(policy, saved, rows)
    out = save(out, lambda path: write_onnx(content, path) if as_onnx else write_policy(policy, path))
    reader = save(reader, write_reader)
    facts = {
        "method": "onnx" if as_onnx else "policy",
        "status": "optimal",
        "seconds": seconds_now() - start,
        "kind": policy["kind"],
        "n_rows": n_rows,
        "guarantee": policy["guarantee"],
        "out": out,
        "reader": reader,
    }
    what = "ONNX" if as_onnx else "Policy"
    rows_file = table if readable(policy, table) else "NEW.csv"
    use = shlex.join(["python", str(reader), str(out), rows_file])
    return CommandAnswer(
        facts,
        [f"{what} in {out}: it answers all {n_rows:,} rows of the table as the model does."],
        last=[] if reader is None else [f"Reader in {reader}; use it with: {use}"],
    )


def _write_protocol(saved: "SavedModel", rows: Any, out: Path) -> dict[str, Any]:
    from shortlist.export.protocol_text import in_form
    from shortlist.export.protocols import protocol_of
    from shortlist.files import write_text

    protocol = protocol_of(saved, rows)
    text = in_form(protocol, out.suffix.casefold())
    out = save(out, lambda path: write_text(path, text))
    guarantee = saved.estimator.guarantee_
    return {
        "method": "protocol",
        "status": "optimal",
        "kind": "stages",
        "n_steps": len(protocol.steps),
        "n_digits": protocol.digits,
        "n_rows": protocol.n_rows,
        "n_changed": protocol.n_changed,
        "checked": protocol.checked,
        "guarantee": None if guarantee is None else guarantee.as_dict(),
        "out": out,
    }


def _named(files: list[Path]) -> tuple[Path, Path | None]:
    from shortlist.errors import BadInputError

    kinds = {"reader": CODE_FILE, "policy or protocol": POLICY_FILE + PROTOCOL_FILE}
    reader, policy = files_by_kind(files, **kinds)
    if policy is None:
        raise BadInputError(
            "--out", "must name a file for the policy", str(reader), "Also name a .json file."
        )
    return policy, reader
