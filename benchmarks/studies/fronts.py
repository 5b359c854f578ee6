"""Complete fronts of product lines and of published benchmark programs: every method, compared before it is timed.

python -m benchmarks fronts knapsacks moip moip-long reading --data FOLDER
"""

import functools
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data.moip import read_known_front, read_moip
from shortlist.logic.compilation import compile_diagram
from shortlist.methods.diagram.diagram_front import diagram_front
from shortlist.methods.integer.bound_sweep import cwmoip, epsilon_constraint
from shortlist.methods.integer.search_zones import search_zones
from shortlist.products import chosen_attributes, read_attributes, read_model
from shortlist.products.configuration.product_objectives import parse_objectives
from shortlist.products.encodings.clauses import to_clauses
from shortlist.products.encodings.inequalities import to_program
from shortlist.results.front import Front

FOUR = "min deselected, min cost, min defects, min not_used_before"
THREE = "min deselected, min defects, min not_used_before"
TWO = "min deselected, min cost"
MODELS = {
    "jcs": ("splot/jcs.sxfm.xml", "ChatSystem", ("PREDEFINE_ONE", "RAND2", "RAND3", "RAND4")),
    "web-portal": ("splot/web-portal.sxfm.xml", "WebPortal", ("RAND1", "RAND2", "RAND3", "RAND4")),
    "e-shop": ("splot/e-shop-paper-2013.sxfm.xml", "EShop", ("RAND1", "RAND2")),
    "uclinux": ("lvat/uClinux.dimacs", "UCLinux", ("RAND1",)),
}
RENAMES = {"Enrcyption": "Encryption"}
"""A feature that the published JCS attribute files misspell."""
PUBLISHED = ("KP_p-3_n-10", "KP_p-4_n-10", "KP_p-5_n-10", "AP_p-3_n-10", "KP_p-5_n-20")
LONG = ("KP_p-4_n-40", "AP_p-3_n-30", "KP_p-3_n-100")


def fronts(folder: Path) -> Iterator[dict[str, Any]]:
    """Time the complete fronts of the product lines."""
    for name in ("jcs", "web-portal"):
        for number in range(4):
            yield from _compared(folder, name, number)
    for number in (0, 1):
        yield _diagram(folder, "e-shop", number, THREE)
    yield _diagram(folder, "e-shop", 0, FOUR, witnesses=False)
    yield _diagram(folder, "e-shop", 0, FOUR, witnesses=False, tolerance=[3, 30.0, 13, 2])
    for objectives in (TWO, THREE):
        yield _diagram(folder, "uclinux", 0, objectives)


def moip(folder: Path) -> Iterator[dict[str, Any]]:
    """Time the default integer method on published programs with known fronts."""
    return _published(folder, PUBLISHED)


def moip_long(folder: Path) -> Iterator[dict[str, Any]]:
    """Do the same for the larger ones, which take from half an hour to hours."""
    return _published(folder, LONG)


def _published(folder: Path, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    place = folder / "feature-models" / "moip-benchmarks" / "kirlik-sayin-selected"
    for name in names:
        program = read_moip(_either(place, f"{name}_ins-1.lp"))
        known = read_known_front(_either(place, f"{name}_ins-1.lp.sol"))
        front, seconds = timed(functools.partial(search_zones, program), repeats=1)
        same = sorted(map(tuple, front.points.tolist())) == sorted(map(tuple, known.points.tolist()))
        assert same, f"{name}: our front differs from the published one"
        n_programs = front.extras["n_programs"]
        yield _row(
            "moip", name, "search-zones", seconds, front,
            programs_per_point=n_programs / len(front), published_per_point=known.n_programs / len(known.points),
        )  # fmt: skip


def knapsacks(folder: Path) -> Iterator[dict[str, Any]]:
    """Time it on two-objective knapsacks of Tamby and Vanderpooten, beside published runs of their method with HiGHS."""
    place = folder / "feature-models" / "moip-benchmarks" / "tamby-mokp"
    published = pd.read_csv(place / "published-results-moa.csv")
    theirs = published[(published["algorithm"] == "TambyVanderpooten") & (published["solver"] == "HiGHS")]
    for run in theirs[(theirs["objectives"] == 2) & (theirs["instance"] <= 2)].itertuples():
        name = f"MOKP_p-{run.objectives}_n-{run.items}_{run.instance}"
        front, seconds = timed(functools.partial(search_zones, read_moip(place / f"{name}.dat")), repeats=1)
        assert len(front) == run.nondominated, f"{name}: {len(front)} points, published {run.nondominated}"
        yield _row(
            "knapsacks", name, "search-zones", seconds, front,
            published_programs=run.subproblems, published_seconds=run.seconds,
        )  # fmt: skip


def reading(folder: Path) -> Iterator[dict[str, Any]]:
    """Time reading feature models."""
    place = folder / "feature-models"
    for name in ("formats/linux-2.6.33.3.uvl.gz", "formats/automotive01.uvl.gz", "formats/linux-2.6.33.3.featureide.xml.gz",
                 "lvat/2.6.28.6-compact.dimacs.gz"):  # fmt: skip
        model, seconds = timed(functools.partial(read_model, place / name), repeats=3)
        row = {
            "case": "reading",
            "data": name,
            "size": model.n_features,
            "method": "read_model",
            "seconds": seconds,
        }
        print(row, flush=True)
        yield row


def _compared(folder: Path, name: str, number: int) -> Iterator[dict[str, Any]]:
    """Run every method on one small system; all must agree with the enumerated front before a row is written."""
    model, objectives = problem(folder, name, number, FOUR)
    program = to_program(model, objectives=[goal.linear() for goal in objectives])
    methods: dict[str, Callable[[], Front]] = {
        "diagram": lambda: by_diagram(model, objectives),
        "exact": lambda: search_zones(program),
        "cwmoip": lambda: cwmoip(program),
    }
    if name == "jcs":
        methods["epsilon-constraint"] = lambda: epsilon_constraint(program)
    reference = _reference(folder, name, number)
    for method, call in methods.items():
        call()  # compile and import outside the clock
        front, seconds = timed(call, repeats=9 if method == "diagram" else 1)
        assert _in_cents(front.values) == reference, (name, number, method)
        yield _row("fronts", f"{name} {number + 1}", method, seconds, front)


def _diagram(folder: Path, name: str, number: int, objectives: str, **options: Any) -> dict[str, Any]:
    model, goals = problem(folder, name, number, objectives)
    front, seconds = timed(lambda: by_diagram(model, goals, **options), repeats=1)
    label = "diagram" + (" with tolerance" if "tolerance" in options else "")
    return _row(
        "fronts", f"{name} {number + 1}: {objectives}", label, seconds, front, proof=str(front.proof.kind)
    )


def by_diagram(model: Any, goals: Any, **options: Any) -> Front:
    diagram = compile_diagram(to_clauses(model))
    assert diagram is not None
    costs = np.zeros((len(goals), diagram.n_variables), dtype=np.int64)
    for row, goal in zip(costs, goals, strict=True):
        row[: model.n_features] = goal.minimised
    offsets = np.array([goal.objective.sign * goal.offset for goal in goals], dtype=np.int64)
    names = [f"variable {i}" for i in range(diagram.n_variables)]
    return diagram_front(
        diagram, costs, [goal.objective for goal in goals], names, offsets=offsets, **options
    )


def problem(folder: Path, name: str, number: int, objectives: str) -> tuple[Any, Any]:
    path, stem, sets = MODELS[name]
    place = folder / "feature-models"
    model = read_model(place / path)
    table = read_attributes(
        place / "paper-instances" / "attributes" / f"{stem}_{sets[number]}.csv", model,
        renames=RENAMES if name == "jcs" else {},
    )  # fmt: skip
    attributes = chosen_attributes(["cost", "defects", "not_used_before"], [table], model)
    return model, parse_objectives(objectives, model, attributes)


def _reference(folder: Path, name: str, number: int) -> list[tuple[int, ...]]:
    """Read the enumerated front, costs in cents."""
    place = folder / "feature-models" / "paper-instances" / "reference-fronts"
    _, stem, sets = MODELS[name]
    values = np.loadtxt(place / f"{stem}_{sets[number]}.csv", delimiter=",", skiprows=1, ndmin=2)
    return _in_cents(values)


def _in_cents(values: np.ndarray) -> list[tuple[int, ...]]:
    """Return points with costs in cents, sorted."""
    return sorted(map(tuple, np.rint(values * np.array([1, 100, 1, 1])).astype(np.int64).tolist()))


def _either(place: Path, name: str) -> Path:
    plain = place / name
    return plain if plain.exists() else place / f"{name}.gz"


def timed(call: Callable[[], Any], *, repeats: int) -> tuple[Any, float]:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = call()
        times.append(time.perf_counter() - start)
    return answer, statistics.median(times)


def _row(case: str, data: str, method: str, seconds: float, front: Front, **more: Any) -> dict[str, Any]:
    row = {
        "case": case,
        "data": data,
        "size": len(front),
        "method": method,
        "seconds": round(seconds, 4),
    } | more
    if "n_programs" in front.extras:
        row["n_programs"] = front.extras["n_programs"]
    print(row, flush=True)
    return row
