"""`shortlist report`: a saved result as one page for any browser."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli.options.groups import excludes, refuse_unused
from shortlist.cli.options.shared import Json, Trust
from shortlist.cli.text.output import print_json, run_facts

ResultFile = Annotated[
    Path,
    typer.Argument(
        help="Model (.joblib), front or comparison (.parquet), or study (.db); with --protocol stages "
        "(.joblib) or a panel (.json)."
    ),
]


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
        typer.Option(help="Write instructions for people to print, of stages or of a panel."),
    ] = False,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Write a saved result as one HTML page.

    The page opens in any browser, loads nothing and sends nothing.
    """
    from shortlist.cli.files import PAGE_FILE, PROTOCOL_FILE, check_files
    from shortlist.runs.budget import seconds_now

    check_files(
        inputs={"FILE": file, "--model": model},
        outputs={"--out": out},
        endings={"--out": PROTOCOL_FILE if protocol else PAGE_FILE},
    )
    refuse_unused(context)
    from shortlist.cli.result_pages import result_page, result_protocol
    from shortlist.cli.text.output import save
    from shortlist.export.protocol_text import in_form
    from shortlist.report.page import write_page

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
    if json:
        facts: dict[str, Any] = {
            "command": "report",
            "method": "protocol" if protocol else "page",
            "status": "optimal",
            "seconds": seconds_now() - start,
            "bytes": len(text.encode()),
            "out": str(out),
            "notes": [],
        }
        print_json(facts | run_facts(context))
        return
    if protocol:
        print(f"Protocol in {out}.")
        return
    print(f"Page in {out} ({len(text.encode()) / 1e6:.2f} MB); it opens in any browser, without a network.")


def open_result(
    file: Annotated[
        Path, typer.Argument(help="Study (.db), model (.joblib), or front or comparison (.parquet).")
    ],
    *,
    browser: Annotated[bool, typer.Option(help="Open it in the browser of this machine.")] = True,
    trust: Trust = False,
) -> None:
    """Show a result or a running study in the browser.

    A running study is followed until Ctrl-C. The page is read-only, and served to this machine only, at an
    address that cannot be guessed.
    """
    from shortlist.cli.files import check_files

    check_files(inputs={"FILE": file}, outputs={})
    import webbrowser

    from shortlist.cli.result_pages import result_page
    from shortlist.cli.text.output import complain
    from shortlist.report.server import PageServer, state_of

    result_page(file, trust=trust, following=state_of(file))  # what cannot be shown is told at once
    with PageServer(file, lambda state: result_page(file, trust=trust, following=state)) as server:
        complain(f"{file} is at {server.address} on this machine only. Ctrl-C ends it.")
        if browser:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            complain("No longer served.")
