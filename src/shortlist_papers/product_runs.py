"""Runs on product lines of :cite:t:`Xue2018`, as rows for the paper's tables."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from shortlist.arrays import Points
from shortlist.methods.integer.bound_sweep import sweep_order
from shortlist.methods.integer.bounded_solves import LimitReachedError
from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.methods.solrep.reference_points import WALK
from shortlist.milp.backends import open_solver
from shortlist.milp.program import Program
from shortlist.milp.solution import Limits
from shortlist.pareto import nondominated_unique
from shortlist.products.clauses import to_clauses
from shortlist.products.configuration.front_search import find_front, program_of
from shortlist.products.configuration.question import ProductQuestion, search_options
from shortlist.results.front import Front
from shortlist.results.proof import ProofKind
from shortlist.runs import Budget
from shortlist.runs.budget import Progress, processor_seconds
from shortlist.runs.records import KeptState
from shortlist.runs.study import NO_STUDY, Checkpoint
from shortlist_papers.paper import Rows
from shortlist_papers.product_lines import (
    complete_points,
    evolve_once,
    prepared_question,
    seed_products,
    stored_points,
)

Point: TypeAlias = tuple[int, ...]
"""Objectives of a solution, scaled to integers, minimised."""

Minimise: TypeAlias = Callable[[Sequence[float], Sequence[float]], Point | None]
"""Function ``bintpro`` from a weight and an upper bound of each objective to the objectives of a best
solution.

A best solution has the least weighted sum; the result is None without a solution.
"""


@dataclass
class Printed:
    """Progress of an algorithm as printed."""

    points: set[Point] = field(default_factory=set)
    """Distinct answers, including dominated answers, as neither algorithm drops any answer."""
    n_programs: int = 0
    """Number of calls of ``bintpro``."""
    bound: int | None = None
    """Next bound of the outermost loop of Algorithm 2; None before the first bound."""


def epsilon_constraint_as_printed(
    minimise: Minimise, outermost: Iterable[int], largest: Sequence[int], found: Printed
) -> None:
    """Run Algorithm 1 for any number of objectives; `found` grows during the run.

    The bounds of all objectives but the last run through their ranges in nested loops, by steps of 1, and the
    last objective is minimised. No loop depends on another, so parts of the outermost loop may run
    separately.

    `outermost`: bounds of the first objective: from 0 to its theoretic upper bound, or a part of this range.
    `largest`: theoretic upper bounds of the other bounded objectives.
    """
    weights = [0.0] * (len(largest) + 1) + [1.0]
    for bounds in itertools.product(outermost, *(range(high + 1) for high in largest)):
        point = minimise(weights, [*bounds, math.inf])
        found.n_programs += 1
        if point is not None:
            found.points.add(point)


def cwmoip_as_printed(
    minimise: Minimise, n_objectives: int, found: Printed, *, reached: Callable[[], None] = lambda: None
) -> None:
    """Run Algorithm 2; `found` grows during the run, and `reached` is called after each outermost loop.

    The algorithm finds the true bounds of each objective but the first, then runs the recursion of lines 6 to
    15 with the weights ``w_k = 1 / ((r_2 + 1) ... (r_k + 1))`` of the ranges r. The text at hand has lost the
    digits of line 5; these are the weights of Özlen and Azizoğlu (2009), the method's authors.
    """
    free = [math.inf] * n_objectives
    high, weights = [0] * n_objectives, [1.0] * n_objectives
    for k in range(1, n_objectives):
        unit = [float(j == k) for j in range(n_objectives)]
        least, most = minimise(unit, free), minimise([-one for one in unit], free)
        if least is None or most is None:
            found.n_programs = 2
            return
        high[k] = most[k]
        weights[k] = weights[k - 1] / (most[k] - least[k] + 1)
    found.n_programs = max(found.n_programs, 2 * (n_objectives - 1))

    def level(k: int, bounds: list[float]) -> set[Point]:
        if k == 0:
            found.n_programs += 1
            point = minimise(weights, bounds)
            return set() if point is None else {point}
        inside: set[Point] = set()
        bound = high[k]
        while met := level(k - 1, [*bounds[:k], bound, *bounds[k + 1 :]]):
            inside |= met
            bound = max(point[k] for point in met) - 1
        return inside

    last = n_objectives - 1
    bound = high[last] if found.bound is None else found.bound
    while met := level(last - 1, [*free[:last], bound]):
        bound = max(point[last] for point in met) - 1
        found.points, found.bound = found.points | met, bound
        reached()


class BintPro:
    """``bintpro`` by HiGHS, on one program that stays open while costs and bounds of objectives change.

    Each program is solved once, without a limit, and the solver's answer is not checked.
    """

    def __init__(self, program: Program, budget: Budget) -> None:
        integers, n = integer_objectives(program), len(program.objectives)
        self._integers, self._budget = integers, budget
        self._costs = integers.costs.astype(np.float64) * integers.steps[:, None]
        self._rows = program.n_rows + np.arange(n)
        free = np.full(n, math.inf)
        self._session = open_solver("highs").open(program.with_rows(self._costs, -free, free))
        self._n_programs = 0

    def minimise(self, weights: Sequence[float], upper: Sequence[float]) -> Point | None:
        """Solve one program, as in :data:`Minimise`.

        Raises LimitReachedError if the budget is spent.
        """
        if self._budget.stopped:
            raise LimitReachedError(self._budget.limit_text)
        self._budget.report(Progress("programs", self._n_programs))
        self._n_programs += 1
        self._session.set_costs(np.asarray(weights) @ self._costs)
        self._session.set_row_bounds(self._rows, -math.inf, np.asarray(upper) - self._integers.offsets)
        solution = self._session.solve(
            Limits(self._budget.left, clock=self._budget.clock), cancellation=self._budget.cancellation
        )
        if self._budget.stopped:
            raise LimitReachedError(self._budget.limit_text)
        if solution.values is None:
            return None
        point = self._integers.vector(solution.values) * self._integers.steps + self._integers.offsets
        return tuple(point.tolist())


System: TypeAlias = tuple[str, int]
"""Product line and the number of its set of attributes, from 0."""

LINUX = "compact-linux"
LINUX_LIMIT_S, SHORT_LIMIT_S = 10.0, 0.1
"""Time limits in seconds of each program of SolRep in the paper: on Linux, and elsewhere."""
SHORT = "solrep within 0.1 s"
MINIMISED = {"solrep": "defects", "solrep by the text": "cost", SHORT: "defects"}
"""Objective that SolRep's programs minimise, by the kind of row.

The kinds are, in order: as in the authors' programs; as in the text; with the paper's limit on each program.
"""
EPSILON, CWMOIP = "epsilon-constraint", "cwmoip"
BY_RANGE, BY_TEXT = "widest range minimised", "cost outermost"
"""Names of two orders of the objectives in Algorithm 2: our order, and the order of the text."""

REPEATED_S = 10.0
"""Seconds above which runs are timed once only, as a cold start is then a small part of the time."""

Found = TypeVar("Found")


def timed(run: Callable[[Budget], tuple[Found, float]], budget: Budget) -> tuple[Found, dict[str, Any]]:
    """Return the result of a run, and its seconds: the median of three runs after a first untimed run.

    A run longer than :data:`REPEATED_S`, or a stopped run, is made once. `run` returns its result and its
    seconds. The runs after the first one get no study, as they would take their results from it.
    """
    found, seconds = run(budget)
    if budget.stopped or seconds > REPEATED_S:
        return found, {"seconds": seconds, "timings": 1}
    again = [run(dataclasses.replace(budget, study=NO_STUDY).begun())[1] for _ in range(3)]
    return found, {"seconds": float(np.median(again)), "timings": len(again)}


def measure_model(folder: Path, system: System, *, budget: Budget) -> Rows:
    """Return the features and clauses of a system, and the features of two products, as a row.

    The products are the smallest and the largest.

    The smallest product is also that of the clauses alone, without the features that the authors' lists fix.
    For JCS the row has the clauses in words.
    """
    question, _ = prepared_question(folder, *system, fixed=True)
    clauses, labels = to_clauses(question.model), question.model.labels
    sizes: dict[str, int] = {}
    if system[0] != LINUX:  # its programs take long, and its lists fix features that every product has
        free = prepared_question(folder, *system, fixed=False)[0]
        sizes["smallest"], sizes["largest"] = _product_sizes(question, budget)
        sizes["smallest_free"] = _product_sizes(free, budget)[0]
    said = [
        " or ".join(f"{'' if literal > 0 else 'not '}{labels[abs(literal) - 1]}" for literal in clause)
        for clause in (clauses if system[0] == "jcs" else ())
    ]
    facts = {
        "kind": "model", "features": question.model.n_features, "clauses": clauses.n_clauses,
        "inequalities": program_of(question).n_rows, "said": said,
    }  # fmt: skip
    return [system_row(system, "model", 0.0, []) | facts | sizes]


def _product_sizes(question: ProductQuestion, budget: Budget) -> tuple[int, int]:
    """Return the numbers of features of the smallest and of the largest product."""
    minimise = BintPro(program_of(_with_objectives(question, 2)), budget).minimise
    most, least = (minimise([weight, 0.0], [math.inf] * 2) for weight in (-1.0, 1.0))
    assert most is not None, "each product line of the study has a product"
    assert least is not None, "each product line of the study has a product"
    return question.model.n_features - most[0], question.model.n_features - least[0]


def measure_complete(
    folder: Path, system: System, method: str, limit_s: float | None = None, *, budget: Budget
) -> Rows:
    """Return a complete front as a row, with whether the front equals that of enumeration."""
    question, _ = prepared_question(folder, *system, fixed=True)

    def run(own: Budget) -> tuple[Front, float]:
        front = find_front(question, method, search_options(method), begun(own, limit_s))[0]
        return front, front.seconds

    front, times = timed(run, budget)
    facts = {
        "kind": "complete", "ended": front.proof.kind is ProofKind.COMPLETE,
        "same": _same(folder, system, front.points), "programs": front.extras.get("n_programs"),
    }  # fmt: skip
    return [system_row(system, method, front.seconds, front.points.tolist()) | facts | times]


@dataclass(frozen=True)
class PrintedRun:
    """Algorithm as printed: Algorithm 1 is the ε-constraint method, Algorithm 2 is CWMOIP."""

    method: str
    """Name of the method."""
    n_objectives: int
    """Number of objectives: the first ones, with the cost as the last."""
    part: int | None = None
    """The only bound in the outermost loop of Algorithm 1, which can be cut into parts; None for all bounds.
    """
    order: str = BY_RANGE
    """Order of the objectives in Algorithm 2; Algorithm 1 has the order of the text."""


def measure_printed(
    folder: Path, system: System, run: PrintedRun, limit_s: float | None = None, *, budget: Budget
) -> Rows:
    """Run Algorithm 1 or 2 as printed, and return its rows.

    The paper does not print which objective Algorithm 2 minimises, and which it bounds in which loop. The
    example in the text has the cost outermost; :func:`sweep_order` chooses by the ranges.
    """
    method, n_objectives, part = run.method, run.n_objectives, run.part
    question = _with_objectives(prepared_question(folder, *system, fixed=True)[0], n_objectives)
    largest, order = largest_values(question), list(range(n_objectives))
    if method == CWMOIP and run.order == BY_RANGE:
        order = sweep_order(integer_objectives(program_of(question)), None)
        goals = tuple(question.objectives[number] for number in order)
        question = dataclasses.replace(question, objectives=goals)
    program = program_of(question)

    def once(own: Budget) -> tuple[tuple[Printed, bool], float]:
        return _run_printed(run, program, largest, begun(own, limit_s))

    (found, ended), times = timed(once, budget)
    points = np.array(sorted(found.points), dtype=np.int64).reshape(-1, n_objectives)[:, np.argsort(order)]
    points = points[np.lexsort(points.T[::-1])]
    front = points[nondominated_unique(points)]
    facts = {
        "kind": "printed", "objectives": n_objectives, "part": part, "ended": ended,
        "parts": 1 if part is None else largest[0] + 1, "programs": found.n_programs,
        "loops": math.prod(high + 1 for high in largest[:-1]), "dominated": len(points) - len(front),
        "order": run.order if method == CWMOIP else None,
    }  # fmt: skip
    return [system_row(system, method, 0.0, front.tolist()) | facts | times]


def _run_printed(
    run: PrintedRun, program: Program, largest: Sequence[int], budget: Budget
) -> tuple[tuple[Printed, bool], float]:
    """Return the progress of an algorithm as printed, whether it ended, and its seconds.

    The seconds include earlier runs.
    """
    checkpoint = Checkpoint("programs", budget.study)
    found, before = _reached(checkpoint)
    solver, ended = BintPro(program, budget), True
    try:
        if run.method == EPSILON:
            outermost = range(largest[0] + 1) if run.part is None else (run.part,)
            epsilon_constraint_as_printed(solver.minimise, outermost, largest[1:-1], found)
        else:
            cwmoip_as_printed(
                solver.minimise, run.n_objectives, found,
                reached=lambda: checkpoint.keep(lambda: _kept(found, before + budget.elapsed)),
            )  # fmt: skip
    except LimitReachedError:
        ended = False
    return (found, ended), before + budget.elapsed


def largest_values(question: ProductQuestion) -> list[int]:
    """Return the theoretical upper bound of each objective, without the rules of the model."""
    return [
        int(np.maximum(goal.minimised, 0).sum()) + max(0, goal.offset * goal.objective.sign)
        for goal in question.objectives
    ]


def _with_objectives(question: ProductQuestion, n_objectives: int) -> ProductQuestion:
    """Return the question with the first objectives and the cost."""
    goals = question.objectives
    return dataclasses.replace(question, objectives=(*goals[: n_objectives - 1], goals[-1]))


def _reached(checkpoint: Checkpoint) -> tuple[Printed, float]:
    """Return the progress of an earlier run of Algorithm 2, and its seconds."""
    state = checkpoint.last()
    if state is None:
        return Printed(), 0.0
    points = {tuple(point) for point in state.arrays["points"].tolist()}
    return Printed(points, state.facts["n_programs"], state.facts["bound"]), state.facts["seconds"]


def _kept(found: Printed, seconds: float) -> KeptState:
    facts = {"n_programs": found.n_programs, "bound": found.bound, "seconds": seconds}
    return KeptState({"points": np.array(sorted(found.points), dtype=np.int64)}, facts)


def measure_solrep(
    folder: Path, system: System, n_points: int, limit_s: float | None = None, kind: str = "solrep", *,
    budget: Budget,
) -> Rows:  # fmt: skip
    """Run SolRep, and return its rows.

    On Linux, and for the kind :data:`SHORT`, each program has the paper's limit.
    """
    question, _ = prepared_question(folder, *system, fixed=True)
    own_s = SHORT_LIMIT_S if kind == SHORT else LINUX_LIMIT_S if system[0] == LINUX else None
    each = limit_s or own_s
    planes: list[float] = []

    def run(own: Budget) -> tuple[Front, float]:
        began = begun(own)
        checkpoint = Checkpoint("seconds", own.study)
        state = checkpoint.last()
        before = KeptState({}, {"seconds": 0.0, "plane_s": None}) if state is None else state

        def seconds() -> float:
            return float(before.facts["seconds"]) + began.elapsed

        plane = [before.facts["plane_s"]]

        def tell(progress: Progress) -> None:
            own.report(progress)
            if plane[0] is None and progress.stage == WALK:
                plane[0] = seconds()
            checkpoint.keep(lambda: KeptState({}, {"seconds": seconds(), "plane_s": plane[0]}))

        options = search_options(
            "solrep", n_points=n_points, solve_limit_s=each, study=own.study, objective=MINIMISED[kind]
        )
        front = find_front(question, "solrep", options, dataclasses.replace(began, report=tell))[0]
        planes.append(math.nan if plane[0] is None else plane[0])
        return front, seconds()

    front, times = timed(run, budget)
    plane_s = float(np.median(planes[-int(times["timings"]) :]))
    facts = {
        "kind": kind, "reference_points": n_points, "solve_limit_s": each,
        "programs": front.extras["n_programs"], "unproved": front.extras["n_unproved"],
        "plane_s": None if math.isnan(plane_s) else plane_s,
    }  # fmt: skip
    return [system_row(system, "solrep", front.seconds, front.points.tolist()) | facts | times]


def measure_stored(folder: Path, system: System, *, budget: Budget) -> Rows:
    """Return the points of the authors' own run of SolRep."""
    del budget
    return [system_row(system, "stored", 0.0, stored_points(folder, *system).tolist()) | {"kind": "stored"}]


def measure_evolved(
    folder: Path, system: System, method: str, seed: int, n_evaluations: int, *, budget: Budget
) -> Rows:
    """Run evolution once, with violated clauses as one objective.

    On Linux the run starts from the study's three products.
    """
    question, _ = prepared_question(folder, *system, fixed=True)
    starts = seed_products(folder, question) if system[0] == LINUX else None
    front = evolve_once(
        question, method, seed, n_evaluations=n_evaluations, valid_first=False, starts=starts,
        budget=begun(budget),
    )  # fmt: skip
    correctness = float(front.extras["correctness"])
    facts = {"kind": "evolved", "seed": seed, "correctness": correctness, "timings": 1}
    return [system_row(system, method, front.seconds, front.points.tolist()) | facts]


def begun(budget: Budget, limit_s: float | None = None) -> Budget:
    """Return a budget of processor seconds that begins now.

    With `limit_s`, the budget ends after this time, or with the given budget if earlier. On a busy machine,
    wall-clock seconds may be many times the processor seconds.
    """
    left = math.inf if math.isinf(budget.seconds) else budget.left
    limit = left if limit_s is None else min(left, limit_s)
    return dataclasses.replace(budget, seconds=limit, clock=processor_seconds).begun()


def _same(folder: Path, system: System, points: Points) -> bool:
    """Return whether points equal those by enumeration of all products."""
    return np.array_equal(points[np.lexsort(points.T[::-1])], complete_points(folder, *system))


PROCESSOR = "processor"
"""Name of the clock of processor seconds; rows without a name have wall-clock seconds."""


def system_row(system: System, method: str, seconds: float, points: list[Any]) -> dict[str, Any]:
    """Return the columns that all rows of a method on a system have."""
    name, number = system
    return {
        "system": name, "number": number, "method": method, "seconds": float(seconds), "clock": PROCESSOR,
        "points": points,
    }  # fmt: skip


NAMES = {
    "jcs": "JCS", "web-portal": "Web Portal", "e-shop": "E-Shop", "ecos": "eCos", "uclinux": "uClinux",
    "compact-linux": "Linux X86",
}  # fmt: skip
PAPER_SIZES: dict[str, tuple[int, int | None]] = {
    "jcs": (12, None), "web-portal": (43, None), "e-shop": (290, None), "ecos": (1244, 3146),
    "uclinux": (1850, 2468), "compact-linux": (6888, 343_944),
}  # fmt: skip
"""Table 2: numbers of features, and of constraints if the digits are known."""


def _equal_sets(n: int, seconds: tuple[float, float], indicators: tuple[float, float]) -> dict[str, Any]:
    """Return a row of Table 3, in which both methods find the same points."""
    volume, unevenness = indicators
    return {
        "A corr %": 100.0, "B corr %": 100.0, "A s": seconds[0], "B s": seconds[1], "A HV": volume,
        "B HV": volume, "A SP": unevenness, "B SP": unevenness, "|A|": n, "|B|": n, "|A ∩ B|": n,
        "|N_A ∪ N_B|": n, "N_U(A)": 0, "N_U(B)": 0,
    }  # fmt: skip


def _partly_found(n: int, seconds: tuple[float, float], found: tuple[Any, ...]) -> dict[str, Any]:
    """Return a row of Table 4: a complete front against 30 runs of IBED."""
    correct, volume, unevenness, n_found, n_common = found
    return {
        "A corr %": 100.0, "B corr %": correct, "A s": seconds[0], "B s": 30 * seconds[1], "B HV": volume,
        "B SP": unevenness, "|A|": n, "|B|": n_found, "|A ∩ B|": n_common, "|N_A ∪ N_B|": n,
        "N_U(A)": n - n_common, "N_U(B)": 0, "share %": 100 * n_common / n,
    }  # fmt: skip


INDICATORS: dict[System, tuple[float, float]] = {
    ("jcs", 0): (0.288548753, 0.691011983),
    ("jcs", 1): (0.271350908, 0.391230072),
    ("web-portal", 0): (0.339694844, 0.865438498),
    ("web-portal", 1): (0.308935982, 0.984833093),
}
"""Hypervolume and spread of complete fronts, from the authors' stored tables."""

Published: TypeAlias = Mapping[System, Mapping[str, Any]]
"""Rows of a table as published, by system, with only the columns whose digits are known."""

PAPER_3: Published = {
    ("jcs", 0): _equal_sets(39, (5.291, 5.738), INDICATORS["jcs", 0]),
    ("jcs", 1): _equal_sets(9, (7.463, 0.727), INDICATORS["jcs", 1]),
    ("jcs", 2): {"|A|": 22, "|B|": 22},
    ("jcs", 3): {"|A|": 31, "|B|": 31},
    ("web-portal", 0): _equal_sets(451, (586.173, 219.551), INDICATORS["web-portal", 0]),
    ("web-portal", 1): _equal_sets(768, (703.007, 260.088), INDICATORS["web-portal", 1]),
    ("web-portal", 2): {"|A|": 859, "|B|": 859},
    ("web-portal", 3): {"|A|": 713, "|B|": 713},
}
PAPER_4: Published = {
    ("jcs", 0): _partly_found(39, (5.738, 5.0219), (92.367, 0.301288, 1.591045, 19, 19)),
    ("jcs", 1): _partly_found(9, (0.727, 4.3729), (91.719, 0.259050, 1.779910, 9, 9)),
    ("web-portal", 0): _partly_found(451, (219.551, 5.4266), (98.0, 0.308676, 1.214039, 232, 97)),
    ("web-portal", 1): _partly_found(768, (260.088, 5.5555), (98.733, 0.280737, 1.258185, 277, 116)),
}
PAPER_5: Mapping[tuple[System, int], Mapping[str, Any]] = {
    (("e-shop", 0), 1000): {"B corr %": 99.061, "B s": 30 * 6.7747, "|B|": 1491},
    (("e-shop", 1), 1000): {"|A|": 742, "|A ∩ B|": 0, "N_U(A)": 742},
    (("e-shop", 1), 1500): {"A s": 123, "B s": 201, "|A|": 1099, "|A ∩ B|": 0, "N_U(A)": 1099},
    (("ecos", 1), 1500): {"B corr %": 88.785, "B s": 30 * 47.8795, "|B|": 1337},
}
"""Figures in the text, and figures of IBED in the authors' stored tables."""
PAPER_RQ_2 = {
    ("jcs", "epsilon-constraint"): 5.0, ("web-portal", "epsilon-constraint"): 613.0,
    ("web-portal", "cwmoip"): 218.0,
}  # fmt: skip
"""Mean seconds over four sets of attributes, where the text has kept the digits."""
PAPER_RQ_5: Published = {
    ("ecos", 0): {"A s": 11, "B s": 48, "|A|": 48, "|N_B|": 42},
    ("uclinux", 0): {"A s": 6, "B s": 43},
    ("compact-linux", 0): {"A s": 2150, "B s": 2534},
}
PLANE_SECONDS = 550.0
"""Seconds of the utopia plane of Linux."""
PAPER_SECONDS: Mapping[tuple[str, int], float] = {
    ("e-shop", 1000): 72, ("e-shop", 1500): 123, ("uclinux", 1500): 131, ("ecos", 1500): 310,
    ("compact-linux", 1500): PLANE_SECONDS + 49_864, ("ecos", 50): 11,
    ("uclinux", 50): 6, ("compact-linux", 50): 2150,
}  # fmt: skip
"""Seconds of SolRep by system and number of reference points; of several sets the longest. Linux includes its
anchors.
"""
