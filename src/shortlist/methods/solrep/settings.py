"""Options of reference points: one list for :mod:`shortlist.methods.solrep.solrep` and its callers."""

from dataclasses import dataclass
from typing import Annotated

from shortlist._options import check_fields, count, one_of
from shortlist._validation import as_positive_seconds

REFERENCE_RULES = ("hit-and-run", "adaptive")
"""Rules for reference points, named here so that a wrong name is reported before anything is loaded."""


@dataclass(frozen=True)
class ReferenceSettings:
    """Rule for reference points, and the limit on solving their programs.

    Points of ``hit-and-run`` are chosen beforehand: they lie on a random walk in the plane through the
    anchors, within the linear relaxation. A point of ``adaptive`` lies inside the largest box that may still
    hold points (:mod:`shortlist.methods.solrep.unexplored_boxes`), two thirds of the way up from its least
    values, with weights that balance the objectives. A box whose lower part is empty is solved as a whole the
    next time. Lower ends of boxes come from linear relaxations, which are not counted as programs. Adaptive
    points depend on each other, so they take one worker.
    """

    n_points: Annotated[
        int, "Number of reference points; 0 finds only the ends of the front.", count(at_least=0)
    ] = 1000
    """Each point takes one program at most; the anchors take two more programs per objective."""
    rule: Annotated[
        str, "Where the reference points lie: hit-and-run or adaptive.", one_of(*REFERENCE_RULES)
    ] = "hit-and-run"
    objective: Annotated[
        str | None, "Objective that each program minimises; by default that of the widest range."
    ] = None
    """Only for ``hit-and-run``, whose programs bound all other objectives. A range is that of the anchors, in
    steps.
    """
    solve_limit_s: Annotated[
        float | None,
        "Time limit of each program in seconds; by default there is none.",
        as_positive_seconds,
    ] = None

    def __post_init__(self) -> None:
        check_fields(self)
