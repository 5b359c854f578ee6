"""Pages of saved results of any kind."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.ensembles.committees.chosen import Chosen
from shortlist.errors import BadFileError, BadInputError
from shortlist.files import parquet_frame, read_parquet
from shortlist.papers import papers_part
from shortlist.report.page import Parts, page
from shortlist.results.front import COMMITTEES, PROGRAM, STAGED_METHODS, Front
from shortlist.results.picking import mark_takeable

if TYPE_CHECKING:
    from shortlist.export.protocols import Protocol
    from shortlist.products.model import FeatureModel
    from shortlist.results.picking import Pick

KINDS = "a model (.joblib), or a front or a comparison (.parquet); or, with --protocol, a panel"


def result_page(path: str | Path, *, model: "FeatureModel | None" = None, trust: bool = False) -> str:
    """Return the page of a saved result.

    Raises BadFileError if the file is no such result, or cannot be read. Raises UntrustedFileError if a model
    is not the user's own and `trust` is False.

    `path`: a model, a front, or the results of a comparison of pruning methods. `model`: feature model, for a
    front of products. `trust`: load a model that this user did not write, which runs the code in the file.
    """
    path = Path(path)
    ending = path.suffix.casefold()
    if ending == ".joblib":
        title, parts = _model_parts(path, trust=trust)
    elif ending == ".parquet":
        title, parts = _table_parts(path, model)
    else:
        raise BadFileError(f"{path} must be {KINDS}. Name such a file.")
    if model is not None and not title.startswith("Products"):
        raise BadInputError(
            f"a feature model goes with a front of products, and {path} is none. Leave it out."
        )
    return page(f"{title}: {path.name}", parts)


def result_protocol(path: str | Path, *, trust: bool = False) -> "Protocol":
    """Return the protocol of saved stages, or of a saved panel, for printing.

    Raises BadInputError if the file holds neither stages nor a panel. Raises UntrustedFileError if a model is
    not the user's own and `trust` is False.
    """
    if Path(path).suffix.casefold() == ".json":
        from shortlist.panels import load_panel
        from shortlist.panels.protocol import panel_protocol

        return panel_protocol(load_panel(path))
    from shortlist.export.protocols import protocol_of
    from shortlist.saved_models import load_model

    return protocol_of(load_model(path, trust=trust))


def estimator_parts(estimator: Any) -> tuple[str, Parts]:
    """Return the name of a fitted estimator's kind, and the parts of its page.

    Raises BadInputError if the estimator is not of Shortlist, or is not fitted.
    """
    chosen = estimator if isinstance(estimator, Chosen) else getattr(estimator, "chosen_", None)
    if chosen is not None:
        from shortlist.report.ensembles import pruned_parts

        return "Pruned ensemble", pruned_parts(chosen)
    if hasattr(estimator, "guarantee_") and hasattr(estimator, "classifier_"):
        from shortlist.report.page import guarantee_parts

        title, parts = estimator_parts(estimator.classifier_)
        return title, [*guarantee_parts(estimator.guarantee_), *parts]
    if hasattr(estimator, "costs_") and hasattr(estimator, "front_"):
        from shortlist.report.stages import staged_parts

        return "Stages", staged_parts(estimator)
    if hasattr(estimator, "training_"):
        from shortlist.report.held_out import evolved_parts

        return "Evolved ensemble", evolved_parts(estimator)
    raise BadInputError(
        "a page needs a fitted estimator of Shortlist, got a "
        f"{type(estimator).__name__} without a result. Fit it first."
    )


def picked_parts(front: Front, picked: "Pick", model: Path | None) -> Parts:
    """Return the parts of a page about one point; with a model, also the tree of the point's product."""
    if PROGRAM in front.extras:
        from shortlist.report.fronts import program_parts

        return program_parts(front, pick=picked)
    if front.method in STAGED_METHODS or front.method == COMMITTEES:
        from shortlist.report.fronts import front_page_parts, pick_parts

        return [*pick_parts(front, picked), *front_page_parts(front, pick=picked)]
    from shortlist.products.formats import read_model
    from shortlist.report.products import product_parts

    return product_parts(front, None if model is None else read_model(model), pick=picked)


def _model_parts(path: Path, *, trust: bool) -> tuple[str, Parts]:
    from shortlist.saved_models import load_model

    return estimator_parts(load_model(path, trust=trust).estimator)


def _table_parts(path: Path, model: "FeatureModel | None") -> tuple[str, Parts]:
    table = read_parquet(path)
    if {"dataset", "method", "fold"} <= set(table.column_names):
        return "Pruning methods", papers_part("pruning-page")(parquet_frame(str(path), table))
    front = Front.load(path)
    if front.method in STAGED_METHODS:
        from shortlist.multistage.predict.point_choice import USUAL, choose_point
        from shortlist.report.fronts import front_parts
        from shortlist.report.stages import bought_when

        picks = []
        if mark_takeable(front, None).any():
            usual = front.point(choose_point(front, USUAL), USUAL)
            picks.append((front.method, usual, "It is the default point of a front of stages."))
        chart = bought_when(front)
        return "Stages", [*front_parts({front.method: front}, picks=picks), *([chart] if chart else [])]
    if front.method == COMMITTEES:
        from shortlist.report.fronts import front_page_parts

        return "Committees", front_page_parts(front)
    if PROGRAM in front.extras:
        from shortlist.report.fronts import program_parts

        return "Program", program_parts(front)
    from shortlist.report.products import product_parts

    return ("Products" if front.candidates else "Front"), product_parts(front, model)
