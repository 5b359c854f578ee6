"""Fronts of integer programs and of product lines: the engines for each, and what they are asked."""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data.moip import read_moip
from benchmarks.data.vopt import read_assignment, read_set_partitioning
from benchmarks.regret.engines import DEFAULT, NONE, Answer, Engine, Instance, Kind, share_of_box, solvers
from benchmarks.studies.fronts import FOUR, THREE, TWO, problem
from shortlist.methods.integer.engines import PARTS, PHASES, WHOLE
from shortlist.methods.integer.search_zones import search_zones
from shortlist.methods.program_methods import EXACT_METHODS
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import exact_program
from shortlist.products.configuration.product_front import configure
from shortlist.programs.integer_form import leaves_nothing
from shortlist.programs.named_program import NamedProgram, with_steps
from shortlist.programs.solve import solve_program
from shortlist.results.front import Front
from shortlist.results.objective import Sense
from shortlist.results.proof import ProofKind
from shortlist.runs.budget import Budget
from tests.programs.made_programs import random_program, steps_of

MOIP = Path("feature-models") / "moip-benchmarks"
OTHER_SOLVERS = tuple(solver for solver in solvers() if solver != "highs")


def front_answer(front: Front, program: Program | None = None) -> Answer:
    """Return a front as an answer.

    It is worth the part that it dominates of the box in which the columns of its program keep the objectives, or
    without a program its number of points.
    """
    complete = front.proof.kind is ProofKind.COMPLETE
    facts = sorted(map(tuple, np.round(front.values, 6).tolist())) if complete else None
    value = float(len(front)) if program is None else part_of_box(front, program)
    return Answer(value, complete, facts=facts)


def part_of_box(front: Front, program: Program) -> float:
    """Return the part that a front dominates of the box in which the columns keep the objectives."""
    signs = np.array([-1 if one.sense is Sense.MAX else 1 for one in front.objectives])
    ends = []
    for linear, sign in zip(program.objectives, signs.tolist(), strict=True):
        both = sign * np.stack([linear.costs * program.column_lower, linear.costs * program.column_upper])
        ends.append(sign * linear.offset + np.array([both.min(axis=0).sum(), both.max(axis=0).sum()]))
    ideal, nadir = np.array(ends).T
    return share_of_box(front.values * signs, ideal, nadir)


def named(program: Program) -> NamedProgram:
    """Return a program with names."""
    columns = tuple(f"x{column}" for column in range(program.n_columns))
    return NamedProgram(program, columns, tuple(f"r{row}" for row in range(program.n_rows)))


def solved(question: NamedProgram, budget: Budget, *, method: str = "auto", **options: Any) -> Answer:
    """Solve as users do."""
    steps = steps_of(question)
    front = solve_program(question, method=method, tolerance=steps, time_limit_s=budget.seconds, **options)
    return front_answer(front, question.program)


def by_zones(question: NamedProgram, budget: Budget, *, engine: str) -> Answer:
    """Search zones by an engine that the default may not take for the shape."""
    program = exact_program(with_steps(question, steps_of(question)).program)
    if leaves_nothing(program) or (engine == PHASES and len(program.objectives) != 2):
        return NONE
    return front_answer(search_zones(program, budget=budget, engine=engine), program)


def _knapsack(folder: Path, name: str) -> NamedProgram:
    return named(read_moip(folder / MOIP / "tamby-mokp" / f"MOKP_{name}.dat"))


def _published(folder: Path, name: str) -> NamedProgram:
    place = folder / MOIP / "kirlik-sayin-selected"
    plain = place / f"{name}_ins-1.lp"
    return named(read_moip(plain if plain.exists() else place / f"{name}_ins-1.lp.gz"))


def _partitioning(folder: Path, name: str) -> NamedProgram:
    return named(read_set_partitioning(folder / "programs" / f"biospp{name}.txt.gz"))


def _assignment(folder: Path, name: str) -> NamedProgram:
    return named(read_assignment(folder / "programs" / f"MOAP_{name}.dat.gz"))


PROGRAM_ENGINES: dict[str, Engine] = {
    DEFAULT: solved,
    **{method: partial(solved, method=method) for method in EXACT_METHODS},
    **{engine: partial(by_zones, engine=engine) for engine in (PHASES, PARTS, WHOLE)},
    **{f"exact, {solver}": partial(solved, method="exact", solver=solver) for solver in OTHER_SOLVERS},
}


def tiny_program(rng: np.random.Generator, *, two: bool) -> NamedProgram:
    """Make a program with two objectives, or with more."""
    while True:
        made = random_program(rng)
        if (len(made.program.objectives) == 2) == two:
            return made


TWO_OBJECTIVES = Kind(
    "programs, 2",
    (
        *(Instance(f"knapsack 2-200-{n}", partial(_knapsack, name=f"p-2_n-200_{n}")) for n in (1, 9, 10)),
        *(Instance(f"set partitioning {name}", partial(_partitioning, name=name)) for name in ("nw10", "nw27", "nw40")),
        Instance("assignment 2-100-1", partial(_assignment, name="p-2_n-100_1")),
    ),
    PROGRAM_ENGINES,
    partial(tiny_program, two=True),
)  # fmt: skip
MORE_OBJECTIVES = Kind(
    "programs, 3 and more",
    (
        *(
            Instance(name, partial(_published, name=name))
            for name in ("KP_p-3_n-10", "KP_p-4_n-10", "KP_p-5_n-10", "AP_p-3_n-10", "KP_p-5_n-20")
        ),
        Instance("knapsack 3-100-1", partial(_knapsack, name="p-3_n-100_1")),
        Instance("assignment 4-20-1", partial(_assignment, name="p-4_n-20_1")),
    ),
    PROGRAM_ENGINES,
    partial(tiny_program, two=False),
)  # fmt: skip


class ProductQuestion(NamedTuple):
    """Task: find the non-dominated products."""

    model: Any
    objectives: Any


def configured(question: ProductQuestion, budget: Budget, *, method: str = "auto", **options: Any) -> Answer:
    """Configure as users do."""
    return front_answer(configure(*question, method=method, time_limit_s=budget.seconds, **options).front)


def _line(folder: Path, name: str, number: int, objectives: str) -> ProductQuestion:
    return ProductQuestion(*problem(folder, name, number, objectives))


def tiny_line(rng: np.random.Generator) -> ProductQuestion:
    """Make a line of optional and alternative features with random prices."""
    from shortlist.products.attributes import Attribute
    from shortlist.products.configuration.question import parse_objectives
    from shortlist.products.model import make_group, make_model

    names = ["line", *"abcdef"]
    groups = [
        make_group(0, [1], "optional"),
        make_group(0, [2], "mandatory"),
        make_group(2, [3, 4, 5], "or"),
        make_group(1, [6], "optional"),
    ]
    model = make_model(names, root=0, groups=groups)
    attributes = {name: Attribute(name, rng.integers(0, 9, len(names)), 1) for name in ("cost", "weight")}
    return ProductQuestion(model, parse_objectives("min cost, min weight, max selected", model, attributes))


PRODUCTS = Kind(
    "products",
    (
        Instance("jcs 1, four objectives", partial(_line, name="jcs", number=0, objectives=FOUR)),
        Instance("jcs 3, four objectives", partial(_line, name="jcs", number=2, objectives=FOUR)),
        Instance(
            "web-portal 1, four objectives", partial(_line, name="web-portal", number=0, objectives=FOUR)
        ),
        Instance("web-portal 2, two objectives", partial(_line, name="web-portal", number=1, objectives=TWO)),
        Instance("e-shop 1, two objectives", partial(_line, name="e-shop", number=0, objectives=TWO)),
        Instance("e-shop 1, three objectives", partial(_line, name="e-shop", number=0, objectives=THREE)),
        Instance("uclinux 1, two objectives", partial(_line, name="uclinux", number=0, objectives=TWO)),
    ),
    {
        DEFAULT: configured,
        "diagram": partial(configured, method="diagram"),
        **{method: partial(configured, method=method) for method in EXACT_METHODS},
        **{
            f"exact, {solver}": partial(configured, method="exact", solver=solver) for solver in OTHER_SOLVERS
        },
    },
    tiny_line,
)
