"""What `shortlist prune --objectives` tells of its answer, as JSON and for people."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.text.front_text import (
    front_facts,
    front_status,
    headline,
    look_at,
    print_frame,
    print_pick,
    range_lines,
)
from shortlist.cli.text.measured_table import print_measured
from shortlist.cli.text.pruned import print_asking, rows_in_words, rows_that_chose

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.front_pruner import FrontPruner
    from shortlist.ensembles.protocol.holdout import PrunedTable

MOST_POINTS = 20
"""So many points are printed."""

MEASURED = "Time was measured on the pruning rows, and depends on this machine and on what else it does."


def committee_facts(pruner: "FrontPruner", saved: Path | None) -> dict[str, Any]:
    """Return what only a front of committees has; it stands in the place of what one selection says."""
    from shortlist.ensembles.fronts.front_claims import looked_at

    front = pruner.front_
    return {
        "method": front.method,
        "status": front_status(front),
        "seconds": front.seconds,
        **front_facts(front),
        "points": front.values.tolist(),
        "proved": front.extras["proved"],
        "final_to": front.extras["final_to"],
        "bounds": front.extras["bounds"],
        "looked_at": looked_at(front),
        "calls": front.extras["calls"],
        "price_paid": front.extras["price_paid"],
        "prices": {name: list(map(float, prices)) for name, prices in pruner.prices_.items()},
        "pick": {
            "rule": str(pruner.pick),
            "index": pruner.point_,
            "values": dict(zip(front.names, front.values[pruner.point_].tolist(), strict=True)),
        },
        "out": None if saved is None else str(saved),
    }


def print_committees(
    pruned: "PrunedTable", facts: dict[str, Any], front_file: Path | None, saved: Path | None
) -> None:
    """Print the answer for people."""
    from shortlist.ensembles.fronts.front_claims import looked_at, paid_columns

    pruner: Any = pruned.pruner
    front = pruner.front_
    print(f"{rows_in_words(pruned.n_rows)}.")
    print(headline(front))
    if limited := looked_at(front):
        print(limited)
    proved = sum(front.extras["proved"])
    if 0 < proved < len(front):
        print(f"Of these points {proved:,} are proved: nothing beats them.")
    print("\n".join(range_lines(front)))
    if "time" in front.names:
        print(MEASURED)
    frame = front.to_frame().round(4)
    for name, paid in paid_columns(front).items():
        frame[name] = [round(value, 4) for value in paid]
    if front.extras["thresholds"] is not None:
        frame["votes above"] = front.extras["thresholds"]
    if 0 < proved < len(front):
        frame["proved"] = front.extras["proved"]
    print()
    print_frame(frame, MOST_POINTS)
    print_pick(front, front.point(pruner.point_, str(pruner.pick)))
    print()
    if pruned.test:
        print_measured(pruned.test, rows_that_chose(pruned))
        print()
        print_asking(facts)
    print()
    if front_file is not None:
        print(f"Saved the front to {front_file}{look_at(front_file)}")
    if saved is not None:
        print(f"Saved to {saved}; use it with: shortlist predict {saved} NEW.csv --out ANSWERS.csv")
