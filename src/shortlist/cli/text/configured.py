"""What `shortlist configure` tells of its answer, as JSON and for people."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.text.output import finite

if TYPE_CHECKING:
    from shortlist.cli.options.product_questions import AskedQuestion
    from shortlist.products.configuration.product_front import Configured
    from shortlist.results.front import Front


MOST_LINES = 20
"""Of what contradicts each other."""


def configured_facts(
    answer: "Configured", asked: "AskedQuestion", saved: Path | None, study: Path | None
) -> dict[str, Any]:
    """Return the contract of every command, and what only product lines have."""
    from shortlist.cli.text.front_text import front_facts

    front, labels = answer.front, asked.line.labels
    return {
        "command": "configure",
        "method": front.method,
        "status": str(answer.status),
        "seconds": front.seconds,
        **front_facts(front),
        "reason": answer.reason,
        "conflict": list(answer.conflict),
        **asked.facts,
        "implied": {
            "selected": [labels[i] for i in answer.implied.select],
            "deselected": [labels[i] for i in answer.implied.deselect],
        },
        "work": plain(dict(front.extras)),
        "out": None if saved is None else str(saved),
        "study": None if study is None else str(study),
    }


def plain(value: Any) -> Any:
    """Return what JSON can say: None for infinity and NaN."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return finite(value) if isinstance(value, float) else value


def print_configured(
    answer: "Configured", asked: "AskedQuestion", saved: Path | None, study: Path | None
) -> None:
    """Print the answer for people."""
    from shortlist.cli.text.front_text import some

    front, implied = answer.front, answer.implied
    for features, what in ((implied.select, "in"), (implied.deselect, "out")):
        if features:
            print(
                f"Required features imply {len(features)} more {what}: {some(asked.line.labels, features)}."
            )
    conflict = [f"  {sentence}" for sentence in answer.conflict[:MOST_LINES]]
    if len(answer.conflict) > MOST_LINES:
        conflict.append(f"  and {len(answer.conflict) - MOST_LINES} more; --json has all")
    none = [f"Status {answer.status}: {answer.reason}.", *conflict]
    print_found(front, none, saved, study, why=answer.reason)


def print_found(
    front: "Front", none: Sequence[str], saved: Path | None, study: Path | None, *, why: str = ""
) -> None:
    """Print a front with what was done for it, or else the lines `none`, and where it is kept."""
    from shortlist.cli.text.front_text import headline, look_at, range_lines

    if len(front):
        none = [headline(front, why=why), *work_lines(front), *range_lines(front), *next_lines(front)]
    for line in none:
        print(line)
    if study is not None and front.proof.limit:
        print(f"What has been finished is in {study}; the same command goes on from there.")
    if saved is not None:
        print(f"Saved to {saved}{look_at(saved)}")


NARROW = ", or narrow the question with --limit, --select and --deselect"
"""What else to do where no program ended, of products."""

SPREAD_POINTS = 60
"""Reference points that are advised where a complete front takes too long."""


def next_lines(front: "Front") -> list[str]:
    """Say what to do next after a limit ended a complete method, and about how long it takes."""
    from shortlist.products.configuration.search_options import EVOLUTIONARY_METHODS
    from shortlist.results.front import PROGRAM

    n_programs = front.extras.get("n_programs")
    if not front.proof.limit or "n_reference_points" in front.extras or front.method in EVOLUTIONARY_METHODS:
        return []
    if not n_programs:
        narrow = "" if PROGRAM in front.extras else NARROW
        return [f"The front is not complete, and nothing bounds its ends. Raise --time-limit{narrow}."]
    # a program for each point and one that checks it
    seconds = 2 * SPREAD_POINTS * front.seconds / n_programs
    advice = (
        "The front is not complete. For points spread over all of it, each proved: --method solrep "
        f"--set points={SPREAD_POINTS}, about {max(1, round(seconds)):,} s at the pace of these programs."
    )
    return [advice]


def work_lines(front: "Front") -> list[str]:
    """Say what the methods did that find a part of the front."""
    from shortlist.results.front import PROGRAM

    extras, lines = front.extras, []
    if "n_reference_points" in extras:
        left = front.proof.n_unresolved
        lines.append(
            f"{extras['n_reference_points']:,} reference points: "
            + (f"{left:,} without an answer, " if left else "")
            + f"{extras['n_infeasible']:,} without any {'solution' if PROGRAM in extras else 'product'}, "
            f"{extras['n_without_program']:,} answered by another one; {extras['n_unproved']:,} points not "
            "proved."
        )
    if extras.get("n_checked"):
        lines.append(
            f"{extras['n_checked']:,} answers are proved in integers, or a second program found nothing "
            "better."
        )
    if "correctness" in extras:
        lines.append(
            f"{extras['n_evaluations']:,} configurations tried; {100 * extras['correctness']:.1f} % of the "
            "last population are products."
        )
    return lines
