"""Value and bound over time: what the default has after 1, 3, 10 and 30 s, beside what takes less than a second.

python -m benchmarks anytime --data FOLDER [--seconds 30]

Twelve questions of the regret table. Limits are in processor seconds, each from a fresh start; rows that are there for
the same sources are not measured again. A row says in `fault`
where an answer is worse than the best rule, single judge or single stage, or than the answer with less time, and the
run then ends with an error. `beyond_s` is what a run takes beyond its limit.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.regret.engines import DEFAULT, Answer, Engine, Kind, processor_time
from benchmarks.regret.fronts import MORE_OBJECTIVES, PRODUCTS, TWO_OBJECTIVES
from benchmarks.regret.panels import PANELS, best_judge, seen
from benchmarks.regret.pruning import MEANS, VOTES, by_mean_rules, by_rules
from benchmarks.regret.run import Row, measured, read_rows, sources_version, write_rows_of
from benchmarks.regret.stages import STAGES, one_stage
from benchmarks.rows import RESULTS, row_facts

LIMITS_S = (1.0, 3.0, 10.0, 30.0)
ROUNDING = 1e-9
"""Values that differ by no more are equal: sums of floating-point numbers in another order."""


class Watched(NamedTuple):
    """An instance, the engine that answers, and what takes less than a second."""

    kind: Kind
    instance: str
    engine: Engine
    simple: Engine | None


WATCHED = (
    *(Watched(VOTES, name, VOTES.engines[DEFAULT], by_rules) for name in ("made, 8,100 rows, 100", "qsar_biodegradation, 100", "debrecen, 60")),
    *(Watched(MEANS, name, MEANS.engines[DEFAULT], by_mean_rules) for name in ("wdbc, 30 classifiers, log-loss", "parkinsons, 60, log-loss")),
    *(Watched(STAGES, name, STAGES.engines[DEFAULT], one_stage) for name in ("debrecen, 18, 3", "spambase, 57, 5")),
    *(Watched(PANELS, name, seen, best_judge) for name in ("rafdb", "llmbar, 22 judges")),
    Watched(TWO_OBJECTIVES, "knapsack 2-200-9", TWO_OBJECTIVES.engines[DEFAULT], None),
    Watched(MORE_OBJECTIVES, "knapsack 3-100-1", MORE_OBJECTIVES.engines[DEFAULT], None),
    Watched(PRODUCTS, "uclinux 1, two objectives", PRODUCTS.engines[DEFAULT], None),
)  # fmt: skip


def anytime(
    folder: Path,
    *,
    limit_s: float = LIMITS_S[-1],
    watched: Sequence[Watched] = WATCHED,
    file: Path = RESULTS / "anytime.csv",
) -> list[Row]:
    """Measure what is missing, up to the limit, and return all rows.

    Raises AssertionError at the end if an answer was worse than a simple one, or with more time.
    """
    limits = [limit for limit in LIMITS_S if limit <= limit_s]
    version, rows = sources_version(), read_rows(file)
    with processor_time():
        for one in watched:
            own = [row for row in rows if row["instance"] == one.instance]
            if {row["limit_s"] for row in own if row["version"] == version} >= set(limits):
                continue
            question = next(each for each in one.kind.instances if each.name == one.instance).make(folder)
            for engine in (one.engine, one.simple):
                if engine is not None:
                    measured(engine, one.kind.tiny(np.random.default_rng(0)), 2.0)
            rows = [row for row in rows if row["instance"] != one.instance]
            for row in over_time(one, question, limits):
                print(row, flush=True)
                rows.append(row | {"version": version, **row_facts()})
            write_rows_of(file, rows, [each.instance for each in WATCHED])
    faults = [f"{row['instance']}, {row['limit_s']:g} s: {row['fault']}" for row in rows if row["fault"]]
    assert not faults, "\n".join(faults)
    return rows


def over_time(watched: Watched, question: Any, limits: Sequence[float] = LIMITS_S) -> Iterator[Row]:
    """Yield a row for each limit."""
    simple, simple_s = Answer(-math.inf, complete=False), 0.0
    if watched.simple is not None:
        simple, simple_s, _ = measured(watched.simple, question, limits[-1])
    before = -math.inf
    for limit in limits:
        answer, seconds, _ = measured(watched.engine, question, limit)
        yield {
            "case": "anytime", "kind": watched.kind.name, "instance": watched.instance, "limit_s": limit,
            "seconds": round(seconds, 2), "beyond_s": round(max(0.0, seconds - limit), 2), "value": answer.value,
            "bound": answer.bound, "complete": answer.complete, "simple": simple.value, "simple_s": round(simple_s, 3),
            "fault": fault(answer, before, simple.value if simple_s < 1 else -math.inf),
        }  # fmt: skip
        before = max(before, answer.value)


def fault(answer: Answer, before: float, simple: float) -> str:
    """Say the fault of an answer, if there is one."""
    if math.isnan(answer.value):
        return "no answer" if max(before, simple) > -math.inf else ""
    if answer.value < before - ROUNDING:
        return f"{answer.value:.6g} is worse than {before:.6g} with less time"
    return (
        f"{answer.value:.6g} is worse than {simple:.6g} of what takes less than a second"
        if answer.value < simple - ROUNDING
        else ""
    )
