"""Files with what one point of a front chooses: a product, or stages of features."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shortlist.results.front import Front
    from shortlist.results.picking import Pick


def write_picked(front: "Front", picked: "Pick", model: Path | None, out: Path) -> None:
    """Write the product of a point, checked against its model if that is given."""
    from shortlist.cli.text.front_text import is_staged
    from shortlist.errors import BadInputError
    from shortlist.products.feature_models.evaluation import evaluate
    from shortlist.products.feature_models.model import make_model
    from shortlist.products.formats import read_model
    from shortlist.products.formats.configurations import write_configuration

    if is_staged(front):
        _write_stages(front, picked, model, out)
        return
    if not set(picked.decision.tolist()) <= {0, 1} or not front.candidates:
        raise BadInputError("a product can be written from a front of products, got another kind of front.")
    if model is None:
        write_configuration(out, make_model(front.candidates), picked.decision)
        return
    line = read_model(model)
    if line.labels != front.candidates:
        raise BadInputError(f"{model} must be the model that the front was made from: its features differ.")
    broken = evaluate(line, picked.decision)
    if broken:
        raise BadInputError(
            f"the point's product breaks a rule of {model}: {broken[0]}. Is it the right model?"
        )
    write_configuration(out, line, picked.decision)


def _write_stages(front: "Front", picked: "Pick", model: Path | None, out: Path) -> None:
    """Write the stage of each feature as CSV."""
    from shortlist.errors import BadInputError
    from shortlist.tables.spreadsheets import save_rows

    if model is not None or out.suffix.casefold() != ".csv":
        raise BadInputError("stages are written to a file ending in .csv, without --model. Name such a file.")
    decided = zip(front.candidates, picked.decision.tolist(), strict=True)
    save_rows(
        out, ["feature", "stage"], ([name, None if stage < 0 else stage + 1] for name, stage in decided)
    )
