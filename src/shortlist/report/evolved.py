"""Evolved ensembles as parts of a page: errors and size by generation."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shortlist._words import counted
from shortlist.ensembles.pruning.evidence import evidence_of_step
from shortlist.report.ensembles import NOT_TESTED, measured_parts
from shortlist.report.page import Chart, Facts, Heading, Parts, Table, Text, line_data
from shortlist.results.proof import relative_gap

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
    from shortlist.ensembles.measured import Advice, Measured


def evolved_parts(
    classifier: "EvolutionaryEnsembleClassifier",
    test: "Mapping[str, Measured] | None" = None,
    advice: "Advice | None" = None,
) -> Parts:
    """Return the parts of a page that show an evolved ensemble.

    `test`: what the ensemble and others do on rows that were held out, by name; the ensemble first. `advice`:
    which of them to take.
    """
    told = evolution_facts(classifier)
    stopped = f", stopped: {told['limit']}" if told["limit"] else ""
    proved = "evolution proves nothing"
    if told["selection"]["error_bound"] is not None:
        among = "among the choices from the candidates of the last step"
        proved = f"{among}: {told['proof']['sentence']}; of other candidates nothing is proved"
    facts = Facts(
        (
            ("members", f"{told['size']:,}"),
            ("error", f"{classifier.result_.error:.4f} on the rows that it was evolved on"),
            ("search", f"{told['method']}, {told['space']}"),
            ("generations", f"{told['generations']:,} of {classifier.n_generations:,}{stopped}"),
            ("proof", proved),
        )
    )
    generations: list[Any] = [Heading("Generations"), *_history(classifier)]
    if not test or advice is None:
        return [Heading("The ensemble"), facts, Text(NOT_TESTED, note=True), *generations]
    table, *confusions = measured_parts(test, advice.names)
    compared = [Text(told) for told in (advice.compared(),) if told]
    first = [Heading("What to do"), Text(advice.sentence), table, *compared]
    return [*first, Heading("The ensemble"), facts, Heading("Held-out rows"), *confusions, *generations]


def evolution_facts(classifier: "EvolutionaryEnsembleClassifier") -> dict[str, Any]:
    """Return what is told of an evolved ensemble, whatever the rows that it was tested on."""
    result, step = classifier.result_, classifier.result_.exact_step
    bound = None if result.error_bound is None else 1 - result.error_bound
    known = evidence_of_step(None if step is None else step.result, result.error, result.error_bound)
    return {
        "method": classifier.mode,
        "status": "optimal" if result.error == result.error_bound else "feasible",
        "objective": "accuracy",
        "value": 1 - result.error,
        "bound": bound,
        "gap": None if bound is None else relative_gap(1 - result.error, bound),
        "certified_bound": known.certified_bound,
        "proof": known.as_dict(),
        "limit": result.stopped,
        "space": classifier.space,
        "classes": [str(label) for label in classifier.classes_],
        "size": len(result.members),
        "generations": len(result.history),
        "max_members": classifier.max_members,
        "selection": {"method": classifier.selection, "error_bound": result.error_bound},
        "history": [
            {
                "generation": generation.number,
                "best_error": generation.best_error,
                "mean_error": generation.mean_error,
                "ensemble_error": generation.ensemble_error,
                "ensemble_size": generation.ensemble_size,
            }
            for generation in result.history
        ],
    }


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
    return [
        Chart(
            "Errors by generation",
            f"The ensemble's error on its own rows goes from {first.ensemble_error:.4f} to "
            f"{last.ensemble_error:.4f}, that of the best individual from {first.best_error:.4f} to "
            f"{last.best_error:.4f}.",
            line_data("generation", "error", errors, whole=True),
            numbers,
        ),
        Chart(
            "Members by generation",
            f"The ensemble has {counted(first.ensemble_size, 'member')} after the first generation and "
            f"{last.ensemble_size:,} after the last.",
            line_data("generation", "members", sizes, whole=True),
        ),
    ]
