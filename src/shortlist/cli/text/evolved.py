"""What `shortlist evolve` tells of its answer, as JSON and for people."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.text.measured_table import measured_facts, one_answer_notes, print_measured

if TYPE_CHECKING:
    from shortlist.ensembles.holdout import EvolvedTable

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
    from shortlist.report.evolved import evolution_facts

    return {
        "command": "evolve",
        "seconds": evolved.seconds,
        **evolution_facts(evolved.classifier),
        "rows": evolved.n_rows,
        "only_answer": {"train": evolved.only_answer, "test": evolved.test["evolved"].only_answer},
        "test": {
            name: facts | {"error": 1 - facts["accuracy"]}
            for name, facts in measured_facts(evolved.test).items()
        },
        "model": None if saved is None else str(saved),
    }


def print_evolved(evolved: "EvolvedTable", saved: Path | None) -> None:
    """Print the answer for people."""
    from shortlist.report.evolved import evolution_facts

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
        print(f"{BOUNDED}: {evolution_facts(classifier)['proof']['sentence']}.")
    print()
    print_measured(evolved.test)
    if saved is not None:
        print()
        print(f"Saved to {saved}; use it with: shortlist predict {saved} NEW.csv --out ANSWERS.csv")
