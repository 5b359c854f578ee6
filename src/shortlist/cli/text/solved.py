"""What `shortlist solve` tells of its answer, as JSON and for people."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shortlist.programs.named_program import NamedProgram
    from shortlist.results.front import Front


def solved_facts(
    named: "NamedProgram", front: "Front", notes: "Sequence[str]", saved: Path | None, study: Path | None
) -> dict[str, Any]:
    """Return the contract of every command, and what only programs have."""
    from shortlist.cli.text.configured import plain
    from shortlist.cli.text.front_text import front_facts, front_status

    return {
        "command": "solve",
        "method": front.method,
        "status": front_status(front),
        "seconds": front.seconds,
        **front_facts(front),
        "n_columns": named.program.n_columns,
        "n_rows": named.program.n_rows,
        "work": plain(dict(front.extras)),
        "out": None if saved is None else str(saved),
        "study": None if study is None else str(study),
        "notes": list(notes),
    }


def print_solved(front: "Front", saved: Path | None, study: Path | None) -> None:
    """Print the answer for people."""
    from shortlist.cli.text.configured import print_found
    from shortlist.cli.text.front_text import front_status

    limit = front.proof.limit
    reason = f"no point was found within {limit}" if limit else "nothing satisfies the program"
    print_found(front, [f"Status {front_status(front)}: {reason}."], saved, study)
