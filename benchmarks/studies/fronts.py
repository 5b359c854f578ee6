"""Published benchmark programs against their known fronts, and how long feature models take to read.

python -m benchmarks moip moip-long reading --data FOLDER
"""

import functools
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data.moip import read_known_front, read_moip
from shortlist.logic.compilation import compile_diagram
from shortlist.methods.diagram.diagram_front import diagram_front
from shortlist.methods.integer.search_zones import search_zones
from shortlist.products import chosen_attributes, read_attributes, read_model
from shortlist.products.clauses import to_clauses
from shortlist.products.configuration.question import parse_objectives
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


def moip(folder: Path) -> Iterator[dict[str, Any]]:
    """Time the default integer method, by the processor, on published programs with known fronts."""
    return _published(folder, PUBLISHED)


def moip_long(folder: Path) -> Iterator[dict[str, Any]]:
    """Do the same for the larger ones, which take from half an hour to hours."""
    return _published(folder, LONG)


def _published(folder: Path, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    place = folder / "feature-models" / "moip-benchmarks" / "kirlik-sayin-selected"
    for name in names:
        program = read_moip(_either(place, f"{name}_ins-1.lp"))
        known = read_known_front(_either(place, f"{name}_ins-1.lp.sol"))
        begin = time.process_time()
        front = search_zones(program)
        seconds = time.process_time() - begin
        same = sorted(map(tuple, front.points.tolist())) == sorted(map(tuple, known.points.tolist()))
        assert same, f"{name}: our front differs from the published one"
        n_programs = front.extras["n_programs"]
        yield _row(
            "moip", name, "search-zones", seconds, front,
            programs_per_point=n_programs / len(front), published_per_point=known.n_programs / len(known.points),
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
