"""`shortlist report`: a saved result as one page for any browser."""

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.options.shared import Json, Trust
from shortlist.cli.text.output import print_json, run_facts

ResultFile = Annotated[
    Path, typer.Argument(help="Model (.joblib), front or comparison (.parquet), or study (.db).")
]


def report(
    context: typer.Context,
    file: ResultFile,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: an HTML page, for any browser.")],
    model: Annotated[
        Path | None,
        typer.Option(help="The feature model: adds the product of the pick as a tree."),
    ] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Write a saved result as one HTML page, which opens anywhere, loads nothing and sends nothing."""
    from shortlist.cli.files import PAGE_FILE, check_files
    from shortlist.runs.clock import seconds_now

    check_files(inputs={"FILE": file, "--model": model}, outputs={"--out": out}, endings={"--out": PAGE_FILE})
    from shortlist.cli.result_pages import result_page
    from shortlist.cli.text.delivery import save
    from shortlist.report.page import write_page

    start = seconds_now()
    line = None
    if model is not None:
        from shortlist.products.formats import read_model

        line = read_model(model)
    text = result_page(file, model=line, trust=trust)
    out = save(out, lambda path: write_page(path, text))
    if json:
        facts = {
            "command": "report",
            "method": "page",
            "status": "optimal",
            "seconds": seconds_now() - start,
            "bytes": len(text.encode()),
            "out": str(out),
            "notes": [],
        }
        print_json(facts | run_facts(context))
        return
    print(f"Page in {out} ({len(text.encode()) / 1e6:.2f} MB); it opens in any browser, without a network.")
