"""`shortlist predict`: answers for new rows from a saved model."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.output import print_json


def predict(
    model: Annotated[Path, typer.Argument(help="Model file written with --out.")],
    table: Annotated[str, typer.Argument(help="CSV or Parquet file with the rows to answer.")],
    *,
    out: Annotated[Path | None, typer.Option(help="CSV file to write; default: stdout.")] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Load the model although loading runs the code in it.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on stdout; needs --out.")
    ] = False,
) -> None:
    """Answer new rows with a saved model: one line per row, in order."""
    import time

    import pandas as pd

    from shortlist.datasets.tables import read_table, select_columns
    from shortlist.errors import BadInputError
    from shortlist.files import check_writable, whole_file
    from shortlist.saved_models import load_model

    if json and out is None:
        raise BadInputError("--json prints facts on stdout, so the answers need a file. Pass --out.")
    if out is not None:
        check_writable(out)
    start = time.monotonic()
    saved = load_model(model, trust=trust)
    rows = select_columns(read_table(table), saved.features)
    estimator = saved.estimator
    probabilities = estimator.predict_proba(rows)
    answers = pd.DataFrame({saved.target: estimator.predict(rows)})
    for column, label in enumerate(estimator.classes_):
        answers[f"vote_share_{label}"] = probabilities[:, column].round(6)
    if out is None:
        answers.to_csv(sys.stdout, index=False)
        return
    with whole_file(out) as temporary:
        answers.to_csv(temporary, index=False)
    if json:
        print_json(
            {
                "command": "predict",
                "method": type(estimator).__name__,
                "status": "feasible",
                "seconds": time.monotonic() - start,
                "n_rows": len(answers),
                "out": str(out),
            }
        )
    else:
        print(f"Answered {len(answers)} rows in {out}.")
