"""Evolved ensembles as parts of a page: errors and size by generation."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shortlist.ensembles.pruning.evidence import evidence_of_step
from shortlist.report.ensembles import NOT_TESTED, measured_parts
from shortlist.report.parts import Chart, Facts, Heading, Parts, Table, Text

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
    from shortlist.ensembles.evolution.evolution import Evolved
    from shortlist.ensembles.protocol.measured import Measured


def evolved_parts(
    classifier: "EvolutionaryEnsembleClassifier", test: "Mapping[str, Measured] | None" = None
) -> Parts:
    """Return the parts of a page that show an evolved ensemble.

    Parameters
    ----------
    classifier : EvolutionaryEnsembleClassifier
        Fitted.
    test : mapping of str to Measured, optional
        What the ensemble and others do on rows that were held out, by name; the ensemble first.
    """
    result = classifier.result_
    stopped = f", stopped: {result.stopped}" if result.stopped else ""
    facts = Facts(
        (
            ("members", f"{len(result.members):,}"),
            ("error", f"{result.error:.4f} on the rows that it was evolved on"),
            ("search", f"{classifier.mode}, {classifier.space}"),
            ("generations", f"{len(result.history):,} of {classifier.n_generations:,}{stopped}"),
            ("proof", _proved(result)),
        )
    )
    tested: list[Any] = (
        [Heading("Held-out rows"), *measured_parts(test)] if test else [Text(NOT_TESTED, note=True)]
    )
    return [Heading("The ensemble"), facts, *tested, Heading("Generations"), *_history(classifier)]


def _proved(result: "Evolved") -> str:
    if result.error_bound is None:
        return "evolution proves nothing"
    step = result.exact_step
    known = evidence_of_step(None if step is None else step.result, result.error, result.error_bound)
    return (
        f"among the choices from the candidates of the last step: {known.sentence()}; of other candidates "
        "nothing is proved"
    )


def _history(classifier: "EvolutionaryEnsembleClassifier") -> Parts:
    history = classifier.result_.history
    if not history:
        return [Text("No generation has ended.")]
    errors = [
        {"name": name, "points": [[one.number, getattr(one, field)] for one in history]}
        for name, field in (
            ("best individual", "best_error"),
            ("mean of individuals", "mean_error"),
            ("ensemble", "ensemble_error"),
        )
    ]
    sizes = [{"name": "members", "points": [[one.number, one.ensemble_size] for one in history]}]
    first, last = history[0], history[-1]
    numbers = Table(
        "By generation",
        ("generation", "best error", "mean error", "ensemble error", "members"),
        tuple(
            (
                str(one.number),
                f"{one.best_error:.4f}",
                f"{one.mean_error:.4f}",
                f"{one.ensemble_error:.4f}",
                f"{one.ensemble_size:,}",
            )
            for one in history
        ),
    )
    across = {"label": "generation", "whole": True}
    return [
        Chart(
            "Errors by generation",
            f"The ensemble's error on its own rows goes from {first.ensemble_error:.4f} to "
            f"{last.ensemble_error:.4f}, that of the best individual from {first.best_error:.4f} to "
            f"{last.best_error:.4f}.",
            {"kind": "line", "x": across, "y": {"label": "error"}, "series": errors},
            numbers,
        ),
        Chart(
            "Members by generation",
            f"The ensemble has {first.ensemble_size:,} members after the first generation and "
            f"{last.ensemble_size:,} after the last.",
            {"kind": "line", "x": across, "y": {"label": "members"}, "series": sizes},
        ),
    ]
