"""From a saved result to its page, whatever kind of result it is."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.ensembles.committees.chosen import Chosen
from shortlist.errors import BadFileError, BadInputError
from shortlist.files import parquet_frame, read_parquet
from shortlist.papers import papers_part
from shortlist.report.page import page
from shortlist.report.parts import Chart, Facts, Heading, Parts, Table
from shortlist.results.front import COMMITTEES, PROGRAM, STAGED_METHODS, Front
from shortlist.results.picking import mark_takeable
from shortlist.runs.studies.summary import summary

if TYPE_CHECKING:
    from shortlist.export.protocols import Protocol
    from shortlist.products.feature_models.model import FeatureModel

KINDS = (
    "a model (.joblib), a front or a comparison (.parquet), or a study (.db); or, with --protocol, a panel"
)


def result_page(
    path: str | Path, *, model: "FeatureModel | None" = None, trust: bool = False, following: str = ""
) -> str:
    """Return the page of a saved result.

    Raises BadFileError if the file is none of these, or cannot be read. Raises UntrustedFileError if a model
    is not the user's own and `trust` is False.

    `path`: a model, a front, the results of a comparison of pruning methods, or a study. `model`: for a front
    of products: what they are configurations of. `trust`: load a model that this user did not write, which
    runs the code in it. `following`: see :func:`shortlist.report.page.page`.
    """
    path = Path(path)
    ending = path.suffix.casefold()
    if ending == ".joblib":
        title, parts = _model_parts(path, trust=trust)
    elif ending == ".parquet":
        title, parts = _table_parts(path, model)
    elif ending in {".db", ".sqlite"}:
        title, parts = "Study", study_parts(path)
    else:
        raise BadFileError(f"{path} must be {KINDS}. Name such a file.")
    if model is not None and not title.startswith("Products"):
        raise BadInputError(
            f"a feature model goes with a front of products, and {path} is none. Leave it out."
        )
    return page(f"{title}: {path.name}", parts, following=following)


def result_protocol(path: str | Path, *, trust: bool = False) -> "Protocol":
    """Return saved stages, or a panel, as a protocol to print.

    Raises BadInputError if the file is neither. Raises UntrustedFileError if a model is not the user's own
    and `trust` is False.
    """
    if Path(path).suffix.casefold() == ".json":
        from shortlist.panels import load_panel
        from shortlist.panels.protocol import panel_protocol

        return panel_protocol(load_panel(path))
    from shortlist.export.protocols import protocol_of
    from shortlist.saved_models import load_model

    return protocol_of(load_model(path, trust=trust))


def estimator_parts(estimator: Any) -> tuple[str, Parts]:
    """Return what a fitted estimator is, and the parts of its page.

    Raises BadInputError if it is none of Shortlist's, or is not fitted.
    """
    chosen = estimator if isinstance(estimator, Chosen) else getattr(estimator, "chosen_", None)
    if chosen is not None:
        from shortlist.report.ensembles import pruned_parts

        return "Pruned ensemble", pruned_parts(chosen)
    if hasattr(estimator, "guarantee_") and hasattr(estimator, "classifier_"):
        from shortlist.report.parts import guarantee_parts

        title, parts = estimator_parts(estimator.classifier_)
        return title, [*guarantee_parts(estimator.guarantee_), *parts]
    if hasattr(estimator, "costs_") and hasattr(estimator, "front_"):
        from shortlist.report.stages import staged_parts

        return "Stages", staged_parts(estimator)
    if hasattr(estimator, "training_"):
        from shortlist.report.evolved import evolved_parts

        return "Evolved ensemble", evolved_parts(estimator)
    raise BadInputError(
        "a page needs a fitted estimator of Shortlist, got a "
        f"{type(estimator).__name__} without a result. Fit it first."
    )


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
            picks.append((front.method, usual, "It is what is taken of a front of stages by default."))
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


def study_parts(path: Path) -> Parts:
    """Return the parts of a page that show how far a study is.

    Raises BadFileError if the file is not a study, or is damaged.
    """
    found = summary(path)
    facts = [
        ("command", str(found.asked.get("command", "unknown"))),
        ("state", f"in work, by {found.driver}" if found.driver else "not in work"),
        ("units done", f"{found.n_done:,} in {found.seconds:,.1f} s"),
        ("units failed", f"{found.n_failed:,}"),
        ("size", f"{found.size / 1e6:.2f} MB"),
    ]
    parts: list[Any] = [Heading("The study"), Facts(tuple(facts))]
    if not found.stages:
        return parts
    names = [" ".join(filter(None, (one.part, one.name))) for one in found.stages]
    left = [one.left_s for one in found.stages]
    series = [
        {"name": "done", "values": [one.done for one in found.stages]},
        {"name": "to do", "values": [max(0, one.total - one.done) for one in found.stages]},
    ]
    rows = tuple(
        (
            name, f"{one.done:,} of {one.total:,}", f"{one.running:,}", f"{one.seconds:.1f}",
            "unknown" if seconds is None else f"{seconds:.1f}", one.best or "none",
        )
        for name, one, seconds in zip(names, found.stages, left, strict=True)
    )  # fmt: skip
    parts += [
        Chart(
            "How far the study is",
            f"{sum(one.done for one in found.stages):,} of {sum(one.total for one in found.stages):,} units "
            "are done.",
            {"kind": "bar", "names": names, "series": series, "x": {"label": "units"}},
        ),
        Table("Parts", ("part", "done", "running", "seconds", "seconds left", "best so far"), rows),
    ]
    if found.failures:
        failed = tuple((str(i), text) for i, text in enumerate(found.failures, start=1))
        parts.append(Table("Why the latest units failed", ("number", "reason"), failed))
    return parts
