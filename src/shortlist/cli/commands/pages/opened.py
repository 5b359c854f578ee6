"""`shortlist open`: a result in the browser, which follows its file."""

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.options.shared import Trust


def open_result(
    file: Annotated[
        Path, typer.Argument(help="Study (.db), model (.joblib), or front or comparison (.parquet).")
    ],
    *,
    browser: Annotated[bool, typer.Option(help="Open it in the browser of this machine.")] = True,
    trust: Trust = False,
) -> None:
    """Show a result or a running study in the browser of this machine, and follow it; Ctrl-C ends it.

    The page is served to this machine only, under an address that nobody can guess, and nothing can be
    written.
    """
    from shortlist.cli.files import check_files

    check_files(inputs={"FILE": file}, outputs={})
    import webbrowser

    from shortlist.cli.result_pages import result_page
    from shortlist.cli.text.delivery import complain
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
