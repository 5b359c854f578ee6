"""What is proved about a front, in words."""

import math
from typing import TYPE_CHECKING

from shortlist._words import counted
from shortlist.results.proof import ProofKind

if TYPE_CHECKING:
    from shortlist.results.front import Front


def stopped_by(limit: str) -> str:
    """Say what ended a search.

    Examples
    --------
    >>> stopped_by("60 s"), stopped_by("interrupted")
    ('stopped by the limit of 60 s', 'interrupted')
    """
    return limit if limit == "interrupted" else f"stopped by the limit of {limit}"


def proof_text(front: "Front") -> str:
    """Say in words what is proved."""
    proof = front.proof
    limit = f", {stopped_by(proof.limit)}" if proof.limit else ""
    if (before := front.extras.get("without_promise")) is not None:
        complete = "complete " if before["proof"] == ProofKind.COMPLETE else ""
        among = counted(before["n_points"], "point")
        n_promised = sum(front.extras["promised"])
        kept = "none is promised" if n_promised == 0 else f"{n_promised:,} promised, the others answer no row"
        told = "" if n_promised == len(front) else f"; {kept}"
        return f"the best with the promise among the {among} of the {complete}front without it{limit}{told}"
    if proof.kind is ProofKind.COMPLETE:
        return "complete: no other is non-dominated"
    if proof.kind is ProofKind.NONDOMINATED:
        return f"each proved non-dominated, some may be missing{limit}"
    if proof.missing is None or not all(math.isfinite(value) for value in proof.missing):
        return f"approximate, nothing proved{limit}"
    gaps = ", ".join(f"{name} {gap:g}" for name, gap in zip(front.names, proof.missing, strict=True) if gap)
    worse = f"worse by at most {gaps}" if gaps else "no worse"
    return f"approximate: to everything that is possible there is a point here that is {worse}{limit}"
