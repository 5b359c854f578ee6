"""What `shortlist evolve` tells of its answer, as JSON and for people."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.text.measured_table import measured_facts, one_answer_notes, print_measured
from shortlist.results.proof import relative_gap

if TYPE_CHECKING:
    from shortlist.ensembles.committees.evidence import Evidence
    from shortlist.ensembles.protocol.holdout import EvolvedTable

BOUNDED = "Among the choices from the candidates of the last step"
"""Range of what an exact step proves; nothing is known of other candidates."""

MANY_MEMBERS = 100
"""From here on the number of members is worth a note."""


def evolved_notes(evolved: "EvolvedTable") -> list[str]:
    """Return notes on the ensemble besides its accuracy."""
    notes = one_answer_notes(
        evolved.only_answer, evolved.test["evolved"].only_answer, who="the ensemble", rows="training"
    )
    size = len(evolved.classifier.members_)
    if size >= MANY_MEMBERS:
        notes.append(
            f"the ensemble has {size:,} members, and each is asked about every row. --set max-members=N "
            "keeps fewer."
        )
    return notes


def evolved_facts(evolved: "EvolvedTable", saved: Path | None) -> dict[str, Any]:
    """Return the contract of every command, and what only evolution has."""
    classifier, result = evolved.classifier, evolved.classifier.result_
    known, bound = _evidence(evolved), None if result.error_bound is None else 1 - result.error_bound
    return {
        "command": "evolve",
        "method": classifier.mode,
        "status": "optimal" if result.error == result.error_bound else "feasible",
        "seconds": evolved.seconds,
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
        "rows": evolved.n_rows,
        "max_members": classifier.max_members,
        "selection": {"method": classifier.selection, "error_bound": result.error_bound},
        "only_answer": {"train": evolved.only_answer, "test": evolved.test["evolved"].only_answer},
        "test": {
            name: facts | {"error": 1 - facts["accuracy"]}
            for name, facts in measured_facts(evolved.test).items()
        },
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
        "model": None if saved is None else str(saved),
    }


def _evidence(evolved: "EvolvedTable") -> "Evidence":
    from shortlist.ensembles.pruning.evidence import evidence_of_step

    result = evolved.classifier.result_
    step = result.exact_step
    return evidence_of_step(None if step is None else step.result, result.error, result.error_bound)


def print_evolved(evolved: "EvolvedTable", saved: Path | None) -> None:
    """Print the answer for people."""
    classifier, result, rows = evolved.classifier, evolved.classifier.result_, evolved.n_rows
    print(f"{rows['train']} rows to evolve on, {rows['test']} to test; {len(classifier.classes_)} classes.")
    stopped = f", stopped: {result.stopped}" if result.stopped else ""
    print(
        f"{classifier.mode}, {classifier.space}: {len(result.history)} of {classifier.n_generations} "
        f"generations of {classifier.population_size} ({evolved.seconds:.1f} s{stopped})."
    )
    print(
        f"The ensemble has {len(result.members)} members; error {result.error:.4f} on the rows it was "
        f"evolved on, {1 - evolved.test['evolved'].accuracy:.4f} on the test rows."
    )
    if result.error_bound is not None:
        print(f"{BOUNDED}: {_evidence(evolved).sentence()}.")
    print()
    print_measured(evolved.test)
    if saved is not None:
        print()
        print(f"Saved to {saved}; use it with: shortlist predict {saved} NEW.csv --out ANSWERS.csv")
