"""`shortlist report`: a saved result as one page for any browser."""

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import PAGE_FILE, PROTOCOL_FILE, check_files
from shortlist.cli.options.settings import excludes, refuse_unused
from shortlist.cli.options.shared import Trust
from shortlist.cli.text.output import save

ResultFile = Annotated[
    Path,
    typer.Argument(
        help="Model (.joblib), or front or comparison (.parquet); with --protocol stages "
        "(.joblib) or a panel (.json)."
    ),
]


@answers
def report(
    context: typer.Context,
    file: ResultFile,
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="File to write: an HTML page for any browser; with --protocol also .md or .svg.",
        ),
    ],
    model: Annotated[
        Path | None,
        typer.Option(help="Feature model; the picked product is shown as its tree."),
        excludes("protocol"),
    ] = None,
    protocol: Annotated[
        bool,
        typer.Option("--protocol", help="Write a protocol to print, which people follow step by step."),
    ] = False,
    trust: Trust = False,
) -> CommandAnswer:
    """Write a saved result as one HTML page.

    The page opens in any browser, loads nothing and sends nothing.
    """
    check_files(
        inputs={"FILE": file, "--model": model},
        outputs={"--out": out},
        endings={"--out": PROTOCOL_FILE if protocol else PAGE_FILE},
    )
    refuse_unused(context)
    from shortlist.cli.result_pages import result_page, result_protocol
    from shortlist.export.protocol_text import in_form
    from shortlist.report.page import write_page
    from shortlist.runs.budget import seconds_now

    start = seconds_now()
    line = None
    if model is not None:
        from shortlist.products.formats import read_model

        line = read_model(model)
    if protocol:
        text = in_form(result_protocol(file, trust=trust), out.suffix.casefold())
    else:
        text = result_page(file, model=line, trust=trust)
    out = save(out, lambda path: write_page(path, text))
    n_bytes = len(text.encode())
    page = f"Page in {out} ({n_bytes / 1e6:.2f} MB); it opens in any browser, without a network."
    facts = {
        "method": "protocol" if protocol else "page",
        "status": "optimal",
        "seconds": seconds_now() - start,
        "bytes": n_bytes,
        "out": out,
    }
    return CommandAnswer(facts, last=[f"Protocol in {out}." if protocol else page])
