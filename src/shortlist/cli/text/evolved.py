"""What `shortlist evolve` tells of its answer, as JSON and for people."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist._words import counted
from shortlist.cli.text.measured_table import one_answer_notes, print_measured
from shortlist.cli.text.pruned import WrittenFiles, proof_line
from shortlist.cli.text.screen import print_lines
from shortlist.ensembles.evolution.evolution import PATIENCE
from shortlist.results.proof import stopped_by

if TYPE_CHECKING:
    from shortlist.ensembles.holdout import EvolvedTable

BOUNDED = "among the choices from the candidates of the last step"
"""Range of what an exact step proves; nothing is proved of other candidates."""

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
    from shortlist.ensembles.measured import measured_facts
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
        "advice": evolved.advice.as_dict(),
        "model": None if saved is None else str(saved),
    }


def print_evolved(
    evolved: "EvolvedTable", facts: dict[str, Any], written: WrittenFiles, *, details: bool = False
) -> None:
    """Print what to do, how good that is, what is proved, what was written, and what to do next."""
    from shortlist.report.ensembles import held_out_table

    advice = evolved.advice
    table = held_out_table(facts["test"], advice.names, evolved.n_rows["test"])
    among = f"{BOUNDED}: " if facts["selection"]["error_bound"] is not None else ""
    proof = proof_line(facts["proof"], among=among)
    compared = [told for told in (advice.compared(),) if told]
    lines = [advice.sentence, "", *table.lines(), *compared, "", proof]
    if stopped := evolved.classifier.result_.stopped:
        why = "no lower error within --set patience" if stopped == PATIENCE else stopped_by(stopped)
        done, wanted = len(evolved.classifier.result_.history), evolved.classifier.n_generations
        lines.append(f"Stopped after {done:,} of {wanted:,} generations: {why}.")
    if written.model is not None:
        lines.append(f"Saved {advice.names['evolved']} to {written.model}.")
    if written.report is not None:
        lines.append(f"Report in {written.report}.")
    if written.model is not None:
        lines.append(f"Next: shortlist predict {written.model} NEW.csv --out ANSWERS.csv")
    else:
        lines.append("Next: --out FILE.joblib keeps it; --details shows how it was found.")
    print_lines(lines)
    if details:
        print()
        _print_details(evolved)


def _print_details(evolved: "EvolvedTable") -> None:
    classifier, result, rows = evolved.classifier, evolved.classifier.result_, evolved.n_rows
    stopped = f", stopped: {result.stopped}" if result.stopped else ""
    print_lines(
        [
            f"{rows['train']} rows to evolve on, {rows['test']} to test; {len(classifier.classes_)} classes.",
            (
                f"{classifier.mode}, {classifier.space}: {len(result.history)} of {classifier.n_generations} "
                f"generations of {classifier.population_size} ({evolved.seconds:.1f} s{stopped})."
            ),
            (
                f"The ensemble has {counted(len(result.members), 'member')}; error {result.error:.4f} on "
                f"the rows it was evolved on, {1 - evolved.test['evolved'].accuracy:.4f} on the test rows."
            ),
        ]
    )
    print()
    print_measured(evolved.test)
