"""The regret table: every engine on every instance, and how much worse the default is than the best of them.

python -m benchmarks regret --data FOLDER [--kinds 'votes;stages'] [--seconds 10]

Rows are written to `results/regret.csv` as they come. A row that is there for the same sources is not measured again,
so that a run that was stopped goes on, and a new engine is measured alone. Limits are in processor seconds; solvers
count seconds of the clock, of which they get more on a busy machine.
"""

import csv
import math
import statistics
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.regret.engines import DEFAULT, NONE, Answer, Engine, Kind, processor_time
from benchmarks.regret.fronts import MORE_OBJECTIVES, PRODUCTS, TWO_OBJECTIVES
from benchmarks.regret.panels import PANELS
from benchmarks.regret.pruning import MEANS, VOTES
from benchmarks.regret.stages import STAGES
from benchmarks.rows import RESULTS, row_facts
from shortlist._jit import COMPILING
from shortlist.errors import ShortlistError
from shortlist.runs.budget import Budget, processor_seconds

KINDS = (VOTES, MEANS, TWO_OBJECTIVES, MORE_OBJECTIVES, PRODUCTS, STAGES, PANELS)
LIMIT_S = 10.0
"""Processor seconds for each engine."""
LEAST_S = 0.1
"""Seconds below which no difference is felt."""
LEAST_GAP = 0.001
"""A gap below which no difference is felt, as a part of the value."""
MOST_REGRET, MEDIAN_REGRET = 1.5, 1.1
"""Goals of the largest and the median regret."""
ROOT = Path(__file__).parents[2]

Row = dict[str, Any]


def regret(
    folder: Path,
    *,
    kinds: Sequence[Kind] = KINDS,
    limit_s: float = LIMIT_S,
    file: Path = RESULTS / "regret.csv",
) -> list[Row]:
    """Measure what is missing, check that complete answers agree, print the table, and return all rows."""
    version = sources_version()
    rows = read_rows(file)
    known = {_key(row) for row in rows if row["version"] == version}
    with processor_time():
        for kind in kinds:
            for row in missing_rows(kind, folder, known, version, limit_s):
                rows = [old for old in rows if _key(old) != _key(row)] + [row]
                write_rows_of(file, rows, [one.name for known_kind in KINDS for one in known_kind.instances])
                print(
                    *(
                        f"{name}={row[name]}"
                        for name in ("kind", "instance", "engine", "seconds", "value", "complete")
                    ),
                    flush=True,
                )
    told = list(regrets(rows))
    for one in told:
        print(f"{one['kind']:<22} {one['instance']:<45} {one['regret']:>8.2f}  {one['how']}: {one['why']}")
    numbers = [one["regret"] for one in told]
    if numbers:
        worst = sum(number > MOST_REGRET for number in numbers)
        print(
            f"median {statistics.median(numbers):.2f}, to be at most {MEDIAN_REGRET}; {worst} of {len(numbers)} above {MOST_REGRET}"
        )
    return rows


def missing_rows(
    kind: Kind, folder: Path, known: set[tuple[str, ...]], version: str, limit_s: float
) -> Iterator[Row]:
    """Measure every engine that has no row yet on every instance of a kind."""
    warm = kind.tiny(np.random.default_rng(0))
    for engine in kind.engines.values():  # kernels and packages are loaded before the clock starts
        measured(engine, warm, 2.0)
    for instance in kind.instances:
        wanted = [name for name in kind.engines if (kind.name, instance.name, name) not in known]
        question = instance.make(folder) if wanted else None
        for name in wanted:
            answer, seconds, note = measured(kind.engines[name], question, limit_s)
            yield {
                "case": "regret", "kind": kind.name, "instance": instance.name, "engine": name,
                "seconds": round(seconds, 3), "limit_s": limit_s, "value": answer.value, "bound": answer.bound,
                "complete": answer.complete, "facts": digest(answer.facts), "note": note, "version": version, **row_facts(),
            }  # fmt: skip


def measured(engine: Engine, question: Any, limit_s: float) -> tuple[Answer, float, str]:
    """Return an answer, its processor seconds, and why there is none, as where a licence refuses the size."""
    while True:
        start, compiled, note = processor_seconds(), COMPILING.seconds, ""
        try:
            answer = engine(question, Budget(limit_s, clock=processor_seconds))
        except ShortlistError as error:
            answer, note = NONE, str(error)
        seconds = processor_seconds() - start
        if COMPILING.seconds == compiled:  # else once more: kernels are compiled once for each installation
            return answer, seconds, note


def digest(facts: Any) -> str:
    """Return a short name of what two complete answers must have in common."""
    import hashlib

    return "" if facts is None else hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def regrets(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield for each instance how much worse the default is, and by which measure.

    Raises AssertionError if two engines claim to be complete and differ.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["kind"], row["instance"]), []).append(row)
    for (kind, instance), group in groups.items():
        complete = [row for row in group if row["complete"]]
        differ = {row["facts"]: row["engine"] for row in complete}
        assert len(differ) < 2, (
            f"{kind}, {instance}: {' and '.join(differ.values())} claim other complete answers"
        )
        default = next((row for row in group if row["engine"] == DEFAULT), None)
        others = [row for row in group if not math.isnan(row["value"])]
        if default is None or not others:
            continue
        number, how, best = _regret(default, others)
        why = best["engine"] if best is not default else "the default is best"
        yield {"kind": kind, "instance": instance, "regret": number, "how": how, "why": why}


def _regret(default: Row, rows: list[Row]) -> tuple[float, str, Row]:
    """Compare seconds where an engine was complete, else gaps where all have bounds, else values."""
    complete = [row for row in rows if row["complete"]]
    if complete:
        best = min(complete, key=lambda row: (row["seconds"], row is not default))
        own = default["seconds"] if default["complete"] else math.inf
        how = "seconds" if default["complete"] else "did not end"
        if own <= LEAST_S or default is best:
            best = default
        return max(own, LEAST_S) / max(best["seconds"], LEAST_S), how, best
    best = max(rows, key=lambda row: (row["value"], row is default))
    bounded = [row for row in rows if not math.isnan(row["bound"])]
    if default in bounded:
        nearest = min(bounded, key=lambda row: (_gap(row), row is not default))
        by_gap = (_gap(default) + LEAST_GAP) / (_gap(nearest) + LEAST_GAP)
        if by_gap > _by_value(default, best):
            return by_gap, "gap", nearest
    return _by_value(default, best), "value", best


def _by_value(default: Row, best: Row) -> float:
    """Return the ratio of two values; where they are negative they are losses."""
    own, other = default["value"], best["value"]
    if math.isnan(own):
        return math.inf
    if own == other:
        return 1.0
    return own / other if other < 0 else other / own if own > 0 else math.inf


def _gap(row: Row) -> float:
    value, bound = float(row["value"]), float(row["bound"])
    return abs(bound - value) / max(1e-12, abs(value))


def _key(row: Row) -> tuple[str, ...]:
    return row["kind"], row["instance"], row["engine"]


def sources_version() -> str:
    """Return the version of the package and the last commit that changed its sources."""
    import shortlist

    told = subprocess.run(
        ["git", "log", "-1", "--format=%h", "--", "src/shortlist"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return f"shortlist {shortlist.__version__} ({told.stdout.strip()})"


def read_rows(file: Path) -> list[Row]:
    """Read the rows of earlier runs."""
    if not file.exists():
        return []
    with file.open(newline="") as opened:
        rows: list[Row] = [dict(row) for row in csv.DictReader(opened)]
    for row in rows:
        row["complete"] = row["complete"] == "True"
        for name in {"seconds", "limit_s", "value", "bound", "simple", "simple_s"} & row.keys():
            row[name] = float(row[name])
    return rows


def write_rows_of(file: Path, rows: list[Row], instances: Sequence[str]) -> None:
    """Write all rows in the order of the instances, so that a row changes in its place."""
    places = {instance: place for place, instance in enumerate(instances)}
    order = sorted(rows, key=lambda row: places.get(row["instance"], len(places)))
    part = file.with_suffix(".part")
    with part.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]))
        writer.writeheader()
        writer.writerows(order)
    part.replace(file)
