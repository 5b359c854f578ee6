"""Options of the choice of committees: one list for estimators, records of saved models, and the command.

A field without a help is an option in Python alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from shortlist._options import FLAG, count
from shortlist._validation import AUTO, as_positive_seconds, as_workers
from shortlist._words import any_of
from shortlist.solvers import SOLVERS


@dataclass(kw_only=True, eq=False)
class PoolSettings:
    """Options on the pool, common to all pruners."""

    pool: Any = field(default=None, kw_only=False)
    n_classifiers: Annotated[int, count()] = 100
    n_jobs: Annotated[int | None, as_workers] = None


@dataclass(kw_only=True, eq=False)
class SizeSettings:
    """Limits on the committees that may be chosen."""

    positive: Annotated[Any, "Class that counts as positive; by default the last one, sorted."] = None
    min_size: Annotated[int, "Fewest members."] = 1
    max_size: Annotated[int | None, "Most members."] = None
    member_costs: Sequence[float] | None = None
    """Price of each classifier of the pool."""


@dataclass(kw_only=True, eq=False)
class TimeSettings:
    """Option on the time for search and proof."""

    time_limit_s: Annotated[
        float | None, "Time limit in seconds, for search and proof.", FLAG, as_positive_seconds
    ] = 60.0


@dataclass(kw_only=True, eq=False)
class LimitSettings(SizeSettings):
    """Limits on the members together, and the solver of their proof."""

    diversity: Annotated[
        str | Mapping[str, Any],
        "Limits on diversity: none, average, each, or numbers such as each=0.2,mean=0.4 or "
        "double-fault:mean=0.1.",
    ] = "none"
    max_cost: Annotated[float | None, "Most that the members may cost together."] = None
    solver: Annotated[
        str, f"Solver of the proof: auto; or {any_of(SOLVERS)}, which then solves the integer program alone."
    ] = AUTO


@dataclass(kw_only=True, eq=False)
class AnswerSettings:
    """Options on the answers of the committee."""

    voting: Annotated[
        str,
        "How members answer: auto, hard (by votes), averaged (by the mean probability), or soft (the mean "
        "also selects the members; only with exact and greedy-means).",
    ] = AUTO
    probabilities: Annotated[
        str, "Scores of predict: auto (calibrated votes or means, whichever decide), mean or shares."
    ] = AUTO


@dataclass(kw_only=True, eq=False)
class ExactSettings(LimitSettings, TimeSettings, AnswerSettings):
    """Options of exact pruning, as explained in :class:`shortlist.ExactPruner`."""

    objective: Annotated[
        str | Mapping[str, float],
        "Objective: auto, accuracy, balanced-accuracy, theta-weighted, recall or specificity; or weights, "
        "such as tp=1,tn=1,fp=-5,fn=0 or one for each class. With voting=soft also log-loss, brier, or a "
        "metric with +auto: recall+auto chooses members as auto does, and decides for recall.",
        FLAG,
    ] = AUTO
    refit: Annotated[
        bool,
        "Whether the selected members are fitted again on all training rows; in a comparison only if it is "
        "set to yes.",
    ] = True
    node_limit: int | None = None
    pruning_rows: str = AUTO
