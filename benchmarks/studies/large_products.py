"""Product lines of industrial size: SolRep's time and quality, evolution beside it, and the authors' stored results.

    python -m benchmarks solrep opponents solrep-quality solrep-adaptive solrep-linux --data FOLDER

A front is found once and kept for the studies after it: in the folder that SHORTLIST_FRONTS names, where a later call
finds it too, else for as long as the process runs. Its seconds and its load are those of the time when it was found.
"""

import dataclasses
import functools
import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import parallel_config
from numpy.typing import NDArray

from shortlist.arrays import Points
from shortlist.pareto import hypervolume, nondominated_unique, scaled, spread
from shortlist.products import read_requirements
from shortlist.products.configuration.front_search import find_front
from shortlist.products.configuration.question import ProductQuestion, search_options
from shortlist.results.front import Front
from shortlist.runs import Progress, Unit, Work, run_units
from shortlist.runs.budget import Budget
from shortlist_papers.front_quality import box_of, quality_of
from shortlist_papers.product_lines import (
    SYSTEMS,
    evolve_once,
    prepared_question,
    stored_points,
)

JOBS = 2
SEEDS = 30
PUBLISHED = {
    ("jcs", 0): ("rstCompSummary", "CPLEX VS jcaht1 30 runs"),
    ("jcs", 1): ("rstCompSummary", "CPLEX VS jcaht2 30 runs"),
    ("web-portal", 0): ("rstCompSummary", "CPLEX VS webportal1 30 runs"),
    ("web-portal", 1): ("rstCompSummary", "CPLEX VS webportal2 30 runs"),
    ("e-shop", 0): ("rstComp_NCGOP", "NCGOP vs IBED 30 runs on eshop1"),
    ("ecos", 1): ("rstComp", "IBED (30-run union)"),
}
"""Tables of the study with the 30 runs of IBED, which they call B."""
REFERENCES = {
    ("jcs", 0): "ChatSystem_PREDEFINE_ONE", ("jcs", 1): "ChatSystem_RAND2",
    ("web-portal", 0): "WebPortal_RAND1", ("web-portal", 1): "WebPortal_RAND2",
}  # fmt: skip
QUALITY: dict[tuple[str, int], tuple[tuple[str, int | None], ...]] = {
    ("uclinux", 0): (("hit-and-run", 1500), ("adaptive", None)),
    ("e-shop", 0): (("hit-and-run", 1000), ("hit-and-run", 1500), ("adaptive", None)),
    ("e-shop", 1): (("hit-and-run", 1000), ("hit-and-run", 1500), ("adaptive", None)),
    ("ecos", 0): (("hit-and-run", 1000), ("adaptive", None)),
    ("ecos", 1): (("hit-and-run", 1000),),
}
"""Rules and reference points to compare, per system; None: as many solves as the stored result has points."""
AS_THE_STUDY = (("e-shop", 0),)
"""Systems for unions of IBED with the study's handling of violated clauses too."""
MINIMISED = "defects"
"""Objective of the programs of reference points, as in the program that the stored results come from."""
LONGEST_S = 900.0
"""Limit of a run for quality; a row says if it was hit."""
ANCHOR_PROGRAMS = 8
"""Two per objective."""


def printed(study: Callable[..., Iterator[dict[str, Any]]]) -> Callable[..., Iterator[dict[str, Any]]]:
    """Let a study print its rows as they come."""

    @functools.wraps(study)
    def rows(*arguments: Any, **options: Any) -> Iterator[dict[str, Any]]:
        for row in study(*arguments, **options):
            print(row, flush=True)
            yield row

    return rows


@printed
def solrep_times(folder: Path) -> Iterator[dict[str, Any]]:
    """Time the paper's runs of SolRep: E-Shop with its limit per program and without one, uClinux and eCos proved.

    eCos once more, with fewer points, without the study's list of features that its clauses do not imply.
    """
    for name, n_points, solve_limit_s, fixed in (
        ("e-shop", 1000, 0.1, True),
        ("e-shop", 1000, None, True),
        ("uclinux", 1500, None, True),
        ("ecos", 1500, None, True),
        ("ecos", 150, None, False),
    ):
        front = by_solrep(folder, name, 0, n_points, fixed=fixed, solve_limit_s=solve_limit_s, workers=1)
        yield _solrep_row("solrep", name, front) | {"solve_limit_s": solve_limit_s, "fixed_list": fixed}


@printed
def adaptive(folder: Path, n_points: int = 100) -> Iterator[dict[str, Any]]:
    """Compare the rules at equal numbers of programs: hypervolume in the anchors' box, and what may be missing."""
    for name in ("e-shop", "uclinux", "ecos"):
        walk = by_solrep(folder, name, 0, n_points)
        equal = walk.extras["n_programs"] - ANCHOR_PROGRAMS
        for front in (walk, by_solrep(folder, name, 0, equal, rule="adaptive")):
            corners = np.array(front.extras["anchors"])
            inside = scaled(front.points, corners.min(axis=0), corners.max(axis=0))
            yield _solrep_row("solrep-adaptive", name, front) | {
                "hypervolume": hypervolume(inside, np.ones(len(corners[0]))),
                "missing": _words(front.proof.missing),
                "missing_share": _words(_shares(front, np.ptp(corners, axis=0))),
            }


@printed
def opponents(folder: Path) -> Iterator[dict[str, Any]]:
    """Time evolution on eCos, and compare IBED with the study's: correctness, and the share of complete fronts found.

    The study counts violated clauses as one objective among the others; ours judges products first unless told not to.
    """
    for method in ("ibea", "ibed", "satibea", "smtibea"):
        for valid_first in (True, False):
            runs = evolved(folder, "ecos", 0, method, 3, valid_first=valid_first, n_jobs=1)
            yield _evolution_row("opponents", "ecos", 0, method, runs) | {"valid_first": valid_first}
    for name, number in (*REFERENCES, ("e-shop", 0), ("ecos", 1)):
        for valid_first in (True, False):
            n_seeds = 3 if name == "ecos" else SEEDS
            runs = evolved(folder, name, number, "ibed", n_seeds, valid_first=valid_first, n_jobs=1)
            row = _evolution_row("opponents", name, number, "ibed", runs) | {"valid_first": valid_first}
            if (name, number) in REFERENCES:
                row |= _found(folder, name, number, runs)
            yield row | _published(folder, name, number)


@printed
def quality(
    folder: Path, runs: Mapping[tuple[str, int], Sequence[tuple[str, int | None]]] | None = None
) -> Iterator[dict[str, Any]]:
    """Compare SolRep with unions of IBED and with the stored results, under one box per system: the joint front's.

    "as many solves as stored" is a run with no more programs than the stored result has points, each of which took its
    authors one at least.
    """
    for (name, number), wanted in (runs or QUALITY).items():
        stored = stored_points(folder, name, number)
        found: dict[str, Front] = {}
        for rule, n_points in wanted:
            size = len(stored) - ANCHOR_PROGRAMS if n_points is None else n_points
            label = "as many solves as stored" if n_points is None else f"{n_points} points"
            found[f"solrep {rule}, {label}"] = by_solrep(
                folder, name, number, size, rule=rule, time_limit_s=LONGEST_S
            )
        kinds = {"ibed": True} if number == 0 else {}
        kinds |= {"ibed as the study": False} if (name, number) in AS_THE_STUDY else {}
        evolutions = {
            kind: evolved(folder, name, number, "ibed", SEEDS, valid_first=valid_first)
            for kind, valid_first in kinds.items()
        }
        yield from _quality_rows("solrep-quality", f"{name} {number + 1}", found, evolutions, stored)


@printed
def linux(folder: Path, n_seeds: int = 3) -> Iterator[dict[str, Any]]:
    """Prove 50 reference points of compact Linux, and compare them with what is stored and with a few runs of IBED."""
    name = "compact-linux"
    front = by_solrep(folder, name, 0, 50, workers=1)
    yield _solrep_row("solrep-linux", name, front)
    runs = {"ibed, from a product": evolved(folder, name, 0, "ibed", n_seeds, starts=True)} if n_seeds else {}
    stored = stored_points(folder, name, 0)
    yield from _quality_rows("solrep-linux", name, {"solrep 50 points": front}, runs, stored)


def by_solrep(
    folder: Path,
    name: str,
    number: int,
    n_points: int,
    *,
    fixed: bool = True,
    rule: str = "hit-and-run",
    solve_limit_s: float | None = None,
    time_limit_s: float | None = None,
    workers: int = JOBS,
) -> Front:
    """Return SolRep's front; `extras` also tell the seconds of the anchors, of preparation, of processors, and the load."""

    def find() -> Front:
        question, prepare_s = prepared_question(folder, name, number, fixed=fixed)
        first: list[float] = []

        def report(event: Progress) -> None:
            if event.total is not None and not first:  # the anchors' programs have no total
                first.append(time.perf_counter() - start)

        load, cpu, start = os.getloadavg()[0], time.process_time(), time.perf_counter()
        budget = Budget(math.inf if time_limit_s is None else time_limit_s, report=report)
        with parallel_config(backend="threading"):
            front = find_front(question, "solrep", options, budget)[0]
        facts: dict[str, Any] = {"anchors_s": first[0] if first else None, "prepare_s": prepare_s}
        facts |= {"cpu_s": time.process_time() - cpu, "load": load}
        return dataclasses.replace(front, extras={**front.extras, **facts})

    n_jobs = workers if rule == "hit-and-run" else 1
    options = search_options(
        "solrep",
        n_points=n_points,
        rule=rule,
        objective=MINIMISED,
        solve_limit_s=solve_limit_s,
        workers=n_jobs,
    )
    limit = "" if solve_limit_s is None else f"-{solve_limit_s:g}s"
    return kept(f"{name}-{number}-{rule}-{n_points}{limit}{'' if fixed else '-free'}", find)


def published_product(folder: Path, question: ProductQuestion) -> NDArray[np.bool_]:
    """Return the rich product of Linux that SATIBEA's data come with, to start from."""
    path = folder / "feature-models" / "lvat" / "2.6.28.6-icse11.dimacs.richseed"
    product = np.zeros((1, question.model.n_features), dtype=bool)
    product[0, list(read_requirements(path, question.model).select)] = True
    return product


def evolved(
    folder: Path,
    name: str,
    number: int,
    method: str,
    n_seeds: int,
    *,
    valid_first: bool = True,
    starts: bool = False,
    n_jobs: int = JOBS,
) -> list[Front]:
    """Return the fronts of evolutionary runs, every product checked, with the study's lists of fixed features."""
    question, _ = prepared_question(folder, name, number, fixed=True)
    seeds = published_product(folder, question) if starts else None
    kind = f"{name}-{number}-{method}{'' if valid_first else '-as-study'}{'-started' if starts else ''}"

    def run(seed: int) -> Front:
        return kept(
            f"{kind}-{seed}",
            lambda: evolve_once(
                question,
                method,
                seed,
                n_evaluations=SYSTEMS[name].n_evaluations,
                valid_first=valid_first,
                starts=seeds,
            ),
        )

    with parallel_config(backend="threading"):
        units = [Unit(str(seed), run, (seed,)) for seed in range(n_seeds)]
        return [front for _, front in run_units(units, Work(n_jobs))]


def kept(key: str, find: Callable[[], Front]) -> Front:
    """Return the front that is kept under this key, finding it first if there is none."""
    path = _fronts_folder() / f"{key}.parquet"
    if not path.exists():
        find().save(path)
        print(f"found {key}", flush=True)
    return Front.load(path)


@functools.cache
def _fronts_folder() -> Path:
    named = os.environ.get("SHORTLIST_FRONTS")
    if named is None:
        return Path(tempfile.mkdtemp(prefix="shortlist-fronts-"))
    Path(named).mkdir(parents=True, exist_ok=True)
    return Path(named)


def _published(folder: Path, name: str, number: int) -> dict[str, Any]:
    """Return the figures of the study's tables for the 30 runs of IBED, if there are any."""
    if (name, number) not in PUBLISHED:
        return {}
    table, start = PUBLISHED[name, number]
    place = folder / "feature-models" / "paper-instances" / "results" / f"{table}.csv"
    lines = [line.rstrip(",") for line in place.read_text().splitlines()]
    names = lines[0].split(",")
    line = next(line for line in lines if line.startswith(start))
    cells = line.split(",")[1 - len(names) :]  # a name may hold a comma
    said = dict(zip(names[1:], map(float, cells), strict=True))
    row = {
        "published_correctness": said["m_correctnessB"] / 100, "published_seconds": said["m_timeB"],
        "published_hypervolume": said["m_hyperVolumnB"], "published_spread": said["m_spreadB"],
    }  # fmt: skip
    return row | ({"published_share": said["intersect"] / said["A"]} if (name, number) in REFERENCES else {})


def _found(folder: Path, name: str, number: int, runs: Sequence[Front]) -> dict[str, Any]:
    """Return the share of the complete front that the union has, and the runs' mean indicators in that front's range."""
    place = folder / "feature-models" / "paper-instances" / "reference-fronts"
    table = np.loadtxt(place / f"{REFERENCES[name, number]}.csv", delimiter=",", skiprows=1, ndmin=2)
    scales = [objective.scale or 1 for objective in runs[0].objectives]
    complete = np.rint(table[:, [0, 3, 2, 1]] * scales).astype(np.int64)
    low, high = complete.min(axis=0), complete.max(axis=0)
    whole, union = _vectors(complete), _vectors(_union(runs))
    each = [scaled(run.points, low, high) for run in runs]
    return {
        "complete": len(whole),
        "found": len(union & whole),
        "share": len(union & whole) / len(whole),
        "hypervolume": statistics.mean(hypervolume(points, np.ones(4)) for points in each),
        "spread": statistics.mean(spread(points) for points in each),
    }


def _quality_rows(
    case: str,
    data: str,
    found: Mapping[str, Front],
    evolutions: Mapping[str, Sequence[Front]],
    stored: Points,
) -> Iterator[dict[str, Any]]:
    """Compare sets under the joint front's box; of evolutionary runs, their union and the medians."""
    sets: dict[str, Points] = {name: front.points for name, front in found.items()}
    for name, runs in evolutions.items():
        sets[f"{name}, union of {len(runs)}"] = _union(runs)
    sets["stored, of the authors"] = stored
    together = np.vstack(list(sets.values()))
    joint = together[nondominated_unique(together)]
    box = box_of(joint)
    assert box is not None
    facts = {
        "case": case,
        "data": data,
        "joint": len(joint),
        "box_low": _words(box.low),
        "box_high": _words(box.high),
    }
    seconds = {
        f"{name}, union of {len(runs)}": sum(run.seconds for run in runs) for name, runs in evolutions.items()
    }
    for name, points in sets.items():
        rivals = [other for key, other in sets.items() if _kind(key) != _kind(name)]
        row = facts | {"method": name} | dataclasses.asdict(quality_of(points, joint, box))
        row["unique"] = len((_vectors(points) & _vectors(joint)).difference(*map(_vectors, rivals)))
        yield row | (_solrep_facts(found[name]) if name in found else {"seconds": seconds.get(name)})
    for name, runs in evolutions.items():
        each = [dataclasses.asdict(quality_of(run.points, joint, box)) for run in runs]
        middle = {key: statistics.median(run[key] for run in each) for key in each[0]}
        middle["seconds"] = statistics.median(run.seconds for run in runs)
        yield facts | {"method": f"{name}, median run"} | middle


def _kind(name: str) -> str:
    """Return the method of a set: sets of one method are no rivals."""
    return name.split(" ", maxsplit=1)[0].strip(",")


def _union(runs: Sequence[Front]) -> Points:
    """Return the non-dominated points of several runs."""
    points = np.vstack([run.points for run in runs])
    return points[nondominated_unique(points)]


def _vectors(points: Points) -> set[tuple[int, ...]]:
    return {tuple(point) for point in points.tolist()}


def _solrep_row(case: str, name: str, front: Front) -> dict[str, Any]:
    return {"case": case, "data": name} | _solrep_facts(front)


def _solrep_facts(front: Front) -> dict[str, Any]:
    """Return the facts of a row on a run of SolRep; the gap is the median over the points without proof."""
    said = front.extras
    gaps = [gap for gap in said["gaps"] if gap > 0]
    return {
        "rule": said["rule"], "reference_points": said["n_reference_points"], "points": len(front),
        "seconds": round(front.seconds, 2), "cpu_s": round(said["cpu_s"], 2), "anchors_s": said["anchors_s"],
        "prepare_s": round(said["prepare_s"], 2), "load": said["load"], "programs": said["n_programs"],
        "proved": len(front) - said["n_unproved"], "checked": said["n_checked"], "n_unproved": said["n_unproved"],
        "infeasible": said["n_infeasible"], "unresolved": front.proof.n_unresolved,
        "without_program": said["n_without_program"], "median_gap": statistics.median(gaps) if gaps else 0.0,
        "proof": str(front.proof.kind), "limit": front.proof.limit,
    }  # fmt: skip


def _evolution_row(case: str, name: str, number: int, method: str, runs: Sequence[Front]) -> dict[str, Any]:
    """Return the row on several runs: median seconds, mean correctness of the last population."""
    return {
        "case": case, "data": f"{name} {number + 1}", "method": method, "seeds": len(runs),
        "evaluations": SYSTEMS[name].n_evaluations, "seconds": statistics.median(run.seconds for run in runs),
        "load": max(run.extras["load"] for run in runs),
        "correctness": statistics.mean(run.extras["correctness"] for run in runs),
        "points": statistics.median(len(run) for run in runs),
    }  # fmt: skip


def _shares(front: Front, widths: Points) -> list[float] | None:
    """Return the bound on the missing part as shares of the anchors' range."""
    if front.proof.missing is None:
        return None
    scales = [objective.scale or 1 for objective in front.objectives]
    return [
        lack * scale / max(1, width)
        for lack, scale, width in zip(front.proof.missing, scales, widths.tolist(), strict=True)
    ]


def _words(numbers: Sequence[float] | None) -> str:
    return "" if numbers is None else " ".join(f"{number:.6g}" for number in numbers)
