"""Other people's tools on the same questions: flamapy's Z3 optimisation, in a Python that has it.

    FLAMAPY_PYTHON=path/to/python python -m benchmarks peers --data FOLDER

That Python needs ``pip install flamapy==2.6.0 flamapy-z3==2.6.0`` (GPL-3: an opponent here, no dependency).
"""

import functools
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.studies.fronts import FOUR, by_diagram, problem, timed
from shortlist.results.front import Front

LIMIT_S = 120.0

SCRIPT = """
import json, sys, time
from flamapy.metamodels.fm_metamodel.transformations import UVLReader
from flamapy.metamodels.z3_metamodel.transformations import FmToZ3
from flamapy.metamodels.z3_metamodel.operations import Z3AttributeOptimization
from flamapy.metamodels.z3_metamodel.operations.interfaces import OptimizationGoal
model = FmToZ3(UVLReader(sys.argv[1]).transform()).transform()
start = time.perf_counter()
search = Z3AttributeOptimization()
search.set_attributes({"Sel": OptimizationGoal.MAXIMIZE, "Cost": OptimizationGoal.MINIMIZE,
                       "Defects": OptimizationGoal.MINIMIZE, "NotUsed": OptimizationGoal.MINIMIZE})
found = search.execute(model).get_result()
seconds = time.perf_counter() - start
points = sorted({tuple(float(v[k]) for k in ("Sel", "Cost", "Defects", "NotUsed")) for _, v in found})
print(json.dumps({"seconds": seconds, "points": points}))
"""


def peers(folder: Path) -> Iterator[dict[str, Any]]:
    """Ask flamapy for the complete fronts, within a limit, and compare them with the diagram's."""
    python = os.environ.get("FLAMAPY_PYTHON")
    if python is None:
        print("peers left out: set FLAMAPY_PYTHON to a Python that has flamapy-z3")
        return
    for name, stem, sets in (("jcs", "jcs", 4), ("web-portal", "web-portal", 1)):
        for number in range(sets):
            model, goals = problem(folder, name, number, FOUR)
            by_diagram(model, goals)  # compile and import outside the clock
            ours, seconds = timed(functools.partial(by_diagram, model, goals), repeats=9)
            file = folder / "feature-models" / "formats" / "attributed-uvl" / f"{stem}-attr{number + 1}.uvl"
            theirs = _flamapy(python, file)
            row: dict[str, Any] = {"case": "peers", "data": f"{name} {number + 1}", "size": len(ours),
                                   "method": "diagram", "seconds": seconds}  # fmt: skip
            if theirs is None:
                row |= {"flamapy": f"not finished in {LIMIT_S:g} s", "ratio_at_least": LIMIT_S / seconds}
            else:
                same = _as_theirs(ours, model.n_features) == sorted(
                    tuple(point) for point in theirs["points"]
                )
                row |= {
                    "flamapy": theirs["seconds"],
                    "same_front": same,
                    "ratio": theirs["seconds"] / seconds,
                }
            print(row, flush=True)
            yield row


def _as_theirs(front: Front, n_features: int) -> list[tuple[float, ...]]:
    """Return points as (selected, cost, defects, not used), sorted."""
    return sorted((n_features - d, round(c, 2), e, r) for d, c, e, r in front.values.tolist())


def _flamapy(python: str, file: Path) -> dict[str, Any] | None:
    """Run flamapy on one file; None when it did not finish."""
    try:
        run = subprocess.run(
            [python, "-c", SCRIPT, str(file)],
            capture_output=True,
            text=True,
            check=True,
            timeout=LIMIT_S + 10,
        )
    except subprocess.TimeoutExpired:
        return None
    answer: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return answer
