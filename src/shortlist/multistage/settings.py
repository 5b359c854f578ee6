"""Options of stages: one list that the estimator and the command share."""

from dataclasses import dataclass
from typing import Annotated, Any

from shortlist._options import FLAG, count
from shortlist._validation import as_positive_seconds


@dataclass(kw_only=True, eq=False)
class GoalSettings:
    """Objectives, and the point that predicts."""

    pick: Annotated[
        str | int,
        "Point of the front, by the rule one-se (the cheapest with about the most right answers), norm (the "
        "paper's), ideal, knee, weights or lexicographic, or by its number; it predicts.",
        FLAG,
    ] = "one-se"
    positive: Annotated[
        Any, "Class that counts as positive, whose recall is shown; by default the last one, sorted."
    ] = None
    call_cost: Annotated[
        float, "Cost of one call of a classifier, or of each member that it asks, for evaluation_cost."
    ] = 1.0
    call_cost_per_feature: Annotated[float, "Additional cost of a call for each feature that it reads."] = 0.0


@dataclass(kw_only=True, eq=False)
class SearchSettings:
    """Search for stage assignments."""

    max_stages: Annotated[int | None, "Most stages; by default 4, or the number of features."] = None
    removal: Annotated[
        bool, "Whether features may be left out of all stages; with no, the last stage buys all others."
    ] = True
    enumeration_budget: Annotated[
        int, "Most stage assignments that auto enumerates.", "budget", count(at_least=0)
    ] = 10_000_000_000
    time_limit_s: Annotated[
        float | None,
        "Time limit in seconds; by default 60 with the method auto, else none (inf).",
        FLAG,
        as_positive_seconds,
    ] = None
    sample_rows: Annotated[
        int | None, "Search with at most this many rows; by default with all.", count(at_least=10)
    ] = None
    share_fits: Annotated[bool, "Whether one classifier serves all sets of features during the search."] = (
        False
    )
