"""Engines of integer programs and product lines, each asked for the same fronts: which is quickest for which shape.

python -m benchmarks program-engines program-times cwmoip knapsacks --data FOLDER
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from benchmarks.data.moip import read_moip
from benchmarks.data.vopt import read_assignment, read_set_partitioning
from benchmarks.regret.engines import processor_time
from benchmarks.studies.fronts import FOUR, THREE, TWO, problem
from shortlist.methods.integer.bound_sweep import cwmoip, epsilon_constraint
from shortlist.methods.integer.engines import PARTS, PHASES, WHOLE, ProgramShape, engine_for
from shortlist.methods.integer.search_zones import search_zones
from shortlist.milp.program import Program
from shortlist.pareto import hypervolume
from shortlist.products.inequalities import to_program
from shortlist.results.proof import ProofKind
from shortlist.runs.budget import Budget

MOST_SOLVES = 250
"""Programs of each engine, where a front is not complete before; a limit in seconds would tell of other work."""
TIMES = 1.0, 3.0, 10.0, 30.0
"""Limits in processor seconds."""

Make: TypeAlias = Callable[[Path], Program]


def default_engine(program: Program) -> str:
    """Return the engine that ``exact`` takes for a program."""
    shape = ProgramShape(
        n_objectives=len(program.objectives), n_columns=program.n_columns, n_rows=program.n_rows
    )
    return engine_for(shape).name


def _knapsack(name: str) -> Make:
    place = Path("feature-models", "moip-benchmarks", "tamby-mokp")
    return lambda folder: read_moip(folder / place / f"MOKP_{name}.dat")


def _kirlik(name: str) -> Make:
    place = Path("feature-models", "moip-benchmarks", "kirlik-sayin-selected")
    return lambda folder: read_moip(folder / place / f"{name}_ins-1.lp")


def _partitioning(name: str) -> Make:
    return lambda folder: read_set_partitioning(folder / "programs" / f"biospp{name}.txt.gz")


def _assignment(name: str) -> Make:
    return lambda folder: read_assignment(folder / "programs" / f"MOAP_{name}.dat.gz")


def _line(name: str, number: int, objectives: str) -> Make:
    def make(folder: Path) -> Program:
        model, goals = problem(folder, name, number, objectives)
        return to_program(model, objectives=[goal.linear() for goal in goals])

    return make


PROGRAMS: dict[str, Make] = {
    **{f"knapsack 2-200-{number}": _knapsack(f"p-2_n-200_{number}") for number in (1, 5, 9)},
    **{f"set partitioning {name}": _partitioning(name) for name in ("nw10", "nw20", "nw21", "nw27", "nw40")},
    "assignment 2-100": _assignment("p-2_n-100_1"),
    "assignment 3-10": _kirlik("AP_p-3_n-10"),
    "assignment 3-50": _assignment("p-3_n-50_1"),
    "assignment 4-20": _assignment("p-4_n-20_1"),
    "knapsack 4-10": _kirlik("KP_p-4_n-10"),
    "knapsack 5-20": _kirlik("KP_p-5_n-20"),
    "E-Shop 1, 2 objectives": _line("e-shop", 0, TWO),
    "E-Shop 1, 3 objectives": _line("e-shop", 0, THREE),
    "E-Shop 1, 4 objectives": _line("e-shop", 0, FOUR),
    "Web Portal 1, 2 objectives": _line("web-portal", 0, TWO),
    "Web Portal 1, 3 objectives": _line("web-portal", 0, THREE),
    "Web Portal 2, 4 objectives": _line("web-portal", 1, FOUR),
    "uClinux 1, 2 objectives": _line("uclinux", 0, TWO),
    "uClinux 1, 3 objectives": _line("uclinux", 0, THREE),
}
"""Instances by name."""


def program_engines(folder: Path) -> Iterator[dict[str, Any]]:
    """Time each engine of ``exact`` by the processor, up to a number of programs; complete fronts must agree."""
    search_zones(_kirlik("KP_p-5_n-20")(folder), max_solves=60)  # compile outside the clock
    for name, make in PROGRAMS.items():
        program = make(folder)
        engines = (PHASES, PARTS) if len(program.objectives) == 2 else (PARTS, WHOLE)
        complete = []
        for engine in engines:
            begin = time.process_time()
            front = search_zones(program, engine=engine, max_solves=MOST_SOLVES)
            seconds = time.process_time() - begin
            if front.proof.kind is ProofKind.COMPLETE:
                complete.append(front.values)
            row = {
                "case": "program-engines", "data": name, "columns": program.n_columns, "rows": program.n_rows,
                "engine": engine, "default": engine == default_engine(program), "points": len(front),
                "proof": str(front.proof.kind), "programs": front.extras["n_programs"],
                "in_integers": front.extras.get("n_searched", 0), "processor_s": round(seconds, 3),
                "ms_per_point": round(1000 * seconds / max(1, len(front)), 2),
            }  # fmt: skip
            print(row, flush=True)
            yield row
        assert all(np.array_equal(complete[0], other) for other in complete), f"{name}: fronts differ"


def program_times(folder: Path) -> Iterator[dict[str, Any]]:
    """Tell points and hypervolume of the default after 1, 3, 10 and 30 processor seconds, each a run of its own."""
    for name in ("knapsack 2-200-9", "assignment 2-100", "assignment 4-20", "E-Shop 1, 4 objectives"):
        program = PROGRAMS[name](folder)
        with processor_time():
            fronts = [search_zones(program, budget=Budget(limit)) for limit in TIMES]
        corner = np.vstack([front.points for front in fronts if len(front)]).max(axis=0) + 1
        for limit, front in zip(TIMES, fronts, strict=True):
            row = {
                "case": "program-times", "data": name, "limit_s": limit, "points": len(front),
                "hypervolume": hypervolume(front.points, corner), "proof": str(front.proof.kind),
            }  # fmt: skip
            print(row, flush=True)
            yield row
        volumes = [hypervolume(front.points, corner) for front in fronts]
        assert volumes == sorted(volumes), f"{name}: more time gave a worse front"


def sweeps(folder: Path) -> Iterator[dict[str, Any]]:
    """Time CWMOIP beside the ε-constraint method on Web Portal, in turns."""
    for number in range(4):
        program = _line("web-portal", number, FOUR)(folder)
        for name, method in (("epsilon-constraint", epsilon_constraint), ("cwmoip", cwmoip)):
            begin = time.process_time()
            front = method(program)
            row = {
                "case": "cwmoip", "data": f"Web Portal {number + 1}", "method": name, "points": len(front),
                "programs": front.extras["n_programs"], "skipped": front.extras["n_skipped"],
                "processor_s": round(time.process_time() - begin, 3),
            }  # fmt: skip
            print(row, flush=True)
            yield row


def knapsacks(folder: Path) -> Iterator[dict[str, Any]]:
    """Time the ten knapsacks of Tamby and Vanderpooten with two objectives by the processor.

    Beside them stand published runs of their method with HiGHS, whose numbers of points ours must have.
    """
    place = folder / "feature-models" / "moip-benchmarks" / "tamby-mokp"
    published = pd.read_csv(place / "published-results-moa.csv")
    theirs = published[(published["algorithm"] == "TambyVanderpooten") & (published["solver"] == "HiGHS")]
    search_zones(_knapsack("p-2_n-200_1")(folder), max_solves=60)  # compile outside the clock
    for run in theirs[theirs["objectives"] == 2].itertuples():
        begin = time.process_time()
        front = search_zones(_knapsack(f"p-2_n-200_{run.instance}")(folder))
        row = {
            "case": "knapsacks", "data": f"2-200-{run.instance}", "points": len(front),
            "published_points": run.nondominated, "proof": str(front.proof.kind),
            "programs": front.extras["n_programs"], "in_integers": front.extras.get("n_searched", 0),
            "processor_s": round(time.process_time() - begin, 3), "published_s": run.seconds,
        }  # fmt: skip
        assert len(front) == run.nondominated, row
        print(row, flush=True)
        yield row
