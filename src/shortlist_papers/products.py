"""Units that measure the tables and figures of :cite:t:`Xue2018` on product lines."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from shortlist._words import all_of
from shortlist.methods.solrep.solrep import DEVIATIONS as SOLREP_DEVIATIONS
from shortlist.runs import Unit
from shortlist_papers.paper import Extent, Paper, PaperPlan, Rows, file_fingerprints
from shortlist_papers.product_claims import CLAIMS
from shortlist_papers.product_evolution.evolved_front import REPAIR_SHARE, REPAIRED
from shortlist_papers.product_fronts import beside_whole, measure_whole
from shortlist_papers.product_lemmas import measure_lemmas
from shortlist_papers.product_lines import SYSTEMS, data_files, has_stored, is_there
from shortlist_papers.product_rows import SPLOT
from shortlist_papers.product_runs import (
    BY_RANGE,
    BY_TEXT,
    CWMOIP,
    EPSILON,
    LINUX,
    LINUX_LIMIT_S,
    NAMES,
    REPEATED_S,
    SHORT,
    SHORT_LIMIT_S,
    PrintedRun,
    System,
    measure_complete,
    measure_evolved,
    measure_model,
    measure_printed,
    measure_solrep,
    measure_stored,
)
from shortlist_papers.product_tables import CONTENTS, product_tables

COMPLETE = ("diagram", "exact", CWMOIP, EPSILON)
JCS = tuple(("jcs", number) for number in range(4))
PORTAL = tuple(("web-portal", number) for number in range(4))
SHOP = (("e-shop", 0), ("e-shop", 1))
ECOS = (("ecos", 0), ("ecos", 1), ("ecos", 2))
UCLINUX = (("uclinux", 0), ("uclinux", 1))
BOTH_LINUX = ((LINUX, 0), (LINUX, 1))
REPAIRED_ON = (ECOS[0], UCLINUX[0])
"""Systems for evolution with constraint solving."""
BY_THE_TEXT = (*SHOP, ECOS[0], UCLINUX[0])
"""Systems on which SolRep also runs as in the text, which minimises the cost."""
TABLE_5: tuple[System, ...] = (*JCS[:2], *PORTAL[:2], *SHOP, *ECOS, *UCLINUX, *BOTH_LINUX)
"""Systems of the twelve rows of Table 5, and a third set of attributes of eCos."""


@dataclass(frozen=True)
class ProductsSize:
    """Extent of a scale.

    `systems`: product lines measured by default; Table 2 has all product lines. `complete`: complete fronts
    by this library's methods. `printed`: complete fronts by the paper's algorithms as printed. `solrep`: runs
    of SolRep. `n_seeds`, `n_linux_seeds`, `n_repaired_seeds`: numbers of runs of IBED and IBEA on every
    system, on Linux, and of evolution with constraint solving. `n_evaluations`: number of products that an
    evolutionary run evaluates; None for the study's number. `shop_limit_s`: seconds of Algorithm 2 on E-Shop,
    where the paper stopped it after hours. `text_order`: systems for Algorithm 2 also with the cost
    outermost, as in the text. `whole`: larger systems whose complete front is computed, for a comparison with
    every set.
    """

    systems: tuple[str, ...]
    complete: tuple[tuple[System, tuple[str, ...]], ...]
    printed: tuple[tuple[System, int, tuple[str, ...]], ...]
    solrep: tuple[tuple[System, tuple[int, ...]], ...]
    n_seeds: int
    n_linux_seeds: int
    n_repaired_seeds: int
    n_evaluations: int | None = None
    shop_limit_s: float = 600.0
    text_order: tuple[System, ...] = JCS[:2]
    whole: tuple[System, ...] = ()


def _each(systems: Sequence[System], *rest: Any) -> tuple[Any, ...]:
    return tuple((system, *rest) for system in systems)


BOTH = (EPSILON, CWMOIP)
_FEW_OBJECTIVES = (*_each((JCS[0], PORTAL[0]), 2, BOTH), *_each((JCS[0], PORTAL[0]), 3, BOTH))
_SMALL_FRONTS = _each((*JCS[:2], *PORTAL[:2]), (1000,))
SMALL_SIZE = ProductsSize(
    systems=tuple(name for name in SYSTEMS if name != LINUX),
    complete=(*_each((*JCS, PORTAL[0]), ("diagram", CWMOIP, EPSILON)), *_each(PORTAL[1:], ("diagram",))),
    printed=(*_each(JCS[:2], 4, BOTH), *_FEW_OBJECTIVES),
    solrep=(
        *_each((*JCS[:2], *PORTAL[:2]), (20,)), (SHOP[0], (5, 10, 20)), (SHOP[1], (10,)),
        *_each((*ECOS, *UCLINUX[1:], *BOTH_LINUX), (5,)), (UCLINUX[0], (5, 50)),
    ),
    n_seeds=2, n_linux_seeds=1, n_repaired_seeds=1, n_evaluations=2_000,
)  # fmt: skip
MEDIUM_SIZE = ProductsSize(
    systems=tuple(SYSTEMS),
    complete=_each((*JCS, *PORTAL), COMPLETE),
    printed=(
        *_each((*JCS, PORTAL[0]), 4, BOTH), (PORTAL[1], 4, (EPSILON,)), *_FEW_OBJECTIVES,
        (SHOP[0], 2, (EPSILON,)), (SHOP[0], 4, (CWMOIP,)),
    ),
    solrep=(
        *_SMALL_FRONTS, *_each(SHOP, (1000, 1500)), (ECOS[0], (50, 500, 1500)), *_each(ECOS[1:], (1500,)),
        (UCLINUX[0], (50, 500, 1500)),
        (UCLINUX[1], (1500,)), (BOTH_LINUX[0], (10, 25, 50)), (BOTH_LINUX[1], (50,)),
    ),
    n_seeds=30, n_linux_seeds=3, n_repaired_seeds=3, text_order=(*JCS, PORTAL[0]),
    whole=(*SHOP, *UCLINUX),
)  # fmt: skip
PAPER_SIZE = dataclasses.replace(
    MEDIUM_SIZE,
    printed=(*_each((*JCS, *PORTAL), 4, BOTH), *_FEW_OBJECTIVES, *MEDIUM_SIZE.printed[-2:]),
    solrep=(
        *MEDIUM_SIZE.solrep[:-2], (BOTH_LINUX[0], (50, 250, 500, 1000, 1500)), (BOTH_LINUX[1], (50, 1500)),
    ),
    n_linux_seeds=30, n_repaired_seeds=30, shop_limit_s=4 * 3600.0,
)  # fmt: skip
SIZES = {"small": SMALL_SIZE, "medium": MEDIUM_SIZE, "paper": PAPER_SIZE}
"""Extent of each scale."""


PRINTED_SECONDS = {
    ("jcs", EPSILON, 4): 9.0, ("jcs", CWMOIP, 4): 0.5, ("web-portal", EPSILON, 4): 18.0,
    ("web-portal", CWMOIP, 4): 3000.0, ("web-portal", CWMOIP, 3): 6.0, ("web-portal", EPSILON, 3): 5.0,
    ("e-shop", EPSILON, 2): 6.0, ("e-shop", CWMOIP, 4): 600.0,
}  # fmt: skip
SOLREP_SECONDS = {
    "jcs": 0.002, "web-portal": 0.007, "e-shop": 0.04, "ecos": 0.1, "uclinux": 0.014, LINUX: 3.0,
}  # fmt: skip
SETUP_SECONDS = {"jcs": 0.1, "web-portal": 0.2, LINUX: 5.0}
EVOLVED_SECONDS = {
    ("jcs", "ibed"): 0.3, ("web-portal", "ibed"): 0.3, ("e-shop", "ibed"): 0.4, ("ecos", "ibed"): 3.0,
    ("uclinux", "ibed"): 1.3, (LINUX, "ibed"): 50.0, ("ecos", "smtibea"): 550.0, ("uclinux", "smtibea"): 25.0,
}  # fmt: skip
WHOLE_SECONDS = {"e-shop": 40.0, "uclinux": 150.0}
"""Approximate seconds of an algorithm as printed, or a part of it, of a reference point, and of a run.

The last numbers are for the complete front of a larger system.
"""


Candidate: TypeAlias = tuple[System, tuple[str, ...], Unit]
"""System, the tables and figures of a unit, and the unit."""


def plan_products(folder: Path | None, extent: Extent) -> PaperPlan:
    """Return the units of an extent on the systems that exist."""
    size = SIZES[extent.scale]
    names, all_names = extent.of(size.systems), extent.of(tuple(SYSTEMS))
    units, missing, files = [], [], []
    for system, tables, unit in _candidates(folder, size, extent):
        if system[0] not in (all_names if "table-2" in tables else names) or not extent.wants(*tables):
            continue
        if folder is not None and is_there(folder, *system):
            units.append(unit)
            files += data_files(folder, *system)
        else:
            missing.append(
                f"{system[0]} {system[1] + 1} is missing: the feature models of the study go into a folder, "
                "which `folder='FOLDER'` names, as feature-models/."
            )
    settings = {"n_evaluations": size.n_evaluations, "time_limit_s": extent.time_limit_s}
    return PaperPlan(tuple(units), settings | file_fingerprints(dict.fromkeys(files)), tuple(missing[:1]))


def _candidates(folder: Path | None, size: ProductsSize, extent: Extent) -> Iterator[Candidate]:
    """Yield each unit of a size, with its system and the tables and figures that use the unit."""
    for name in SYSTEMS:
        tables = _named({"table-1": name == "jcs", "table-2": True})
        yield (name, 0), tables, Unit(f"{name}/model", measure_model, (folder, (name, 0)), size=0.0)
    yield JCS[0], ("table-1",), Unit("lemmas", measure_lemmas, (6,), size=0.0)
    yield from _complete_units(folder, size, extent.time_limit_s)
    found = (
        *_solrep_units(folder, size, extent.time_limit_s),
        *_evolved_units(folder, size, extent.seeds),
    )
    for system in size.whole:
        yield (
            system,
            ("whole",),
            _unit(system, "whole front", measure_whole, (folder, system), size=WHOLE_SECONDS[system[0]]),
        )
    for system, tables, unit in found:
        if system in size.whole:
            beside = dataclasses.replace(unit, call=beside_whole, arguments=(unit.call, *unit.arguments))
            yield system, (*tables, "whole"), beside
        else:
            yield system, (*tables, *(("whole",) if system[0] in SPLOT else ())), unit


def _complete_units(folder: Path | None, size: ProductsSize, limit_s: float | None) -> Iterator[Candidate]:
    """Yield the units of complete fronts: by our methods, and by the algorithms as printed."""
    for system, methods in size.complete:
        for method in methods:
            tables = _named(
                {
                    "table-3": True, "table-4": method in {CWMOIP, "diagram"}, "rq-2": True,
                    "whole": method == "diagram",
                }
            )  # fmt: skip
            given = (folder, system, method, limit_s)
            seconds = 0.02 if method == "diagram" else 0.2 if system[0] == "jcs" else 8.0
            yield system, tables, _unit(system, method, measure_complete, given, size=_repeated(seconds))
    for system, n_objectives, methods in size.printed:
        tables = _named({"table-3": n_objectives == 4, "rq-2": True})
        for method in methods:
            parted = method == EPSILON and n_objectives == 4 and system[0] != "jcs"
            for part in range(SYSTEMS[system[0]].n_features + 1) if parted else (None,):
                run = PrintedRun(method, n_objectives, part)
                yield system, tables, _printed_unit(folder, system, run, size, limit_s)
            if method == CWMOIP and n_objectives == 4 and system in size.text_order:
                run = PrintedRun(method, n_objectives, order=BY_TEXT)
                yield system, tables, _printed_unit(folder, system, run, size, limit_s)


def _printed_unit(
    folder: Path | None, system: System, run: PrintedRun, size: ProductsSize, limit_s: float | None
) -> Unit:
    """Return the unit of an algorithm as printed, or of a part of it."""
    kind = f"{run.method} as printed, {run.n_objectives} objectives"
    what = kind + (f", {run.order}" if run.method == CWMOIP else "")
    what += "" if run.part is None else f", deselected <= {run.part}"
    endless = system == SHOP[0] and run.n_objectives == 4
    own_s = limit_s or (size.shop_limit_s if endless else None)
    what += f", {own_s:g} s" if endless else ""
    seconds = PRINTED_SECONDS.get((system[0], run.method, run.n_objectives), 0.5)
    if run.order != BY_RANGE:
        kind, seconds = f"{kind}, {run.order}", 0.6 if system[0] == "jcs" else 600.0
    given = (folder, system, run, own_s)
    return _unit(system, what, measure_printed, given, kind=kind, size=_repeated(seconds))


def _repeated(seconds: float) -> float:
    """Return the approximate seconds of a unit, given those of one run; short runs are repeated."""
    return seconds if seconds > REPEATED_S else 4 * seconds


def _solrep_units(folder: Path | None, size: ProductsSize, limit_s: float | None) -> Iterator[Candidate]:
    """Yield the units of SolRep, and the units that read the authors' stored results."""
    for system, numbers in size.solrep:
        for n_points in numbers:
            is_front = n_points == max(numbers) or n_points >= 1000
            tables = _named(
                {
                    "table-5": is_front, "table-6": is_front and system in ECOS,
                    "figure-4": len(numbers) > 1, "figure-4-points": len(numbers) > 1,
                    "rq-5": n_points == 50, "solrep": True,
                    "constraint-solving": is_front and system in REPAIRED_ON,
                }
            )  # fmt: skip
            given = (folder, system, n_points, limit_s)
            seconds = SETUP_SECONDS.get(system[0], 1.0) + n_points * SOLREP_SECONDS[system[0]]
            seconds = _repeated(seconds)
            unit = _unit(system, f"solrep {n_points}", measure_solrep, given, kind="solrep", size=seconds)
            yield system, tables, unit
            kinds = ("solrep by the text",) if system in BY_THE_TEXT and n_points >= 1000 else ()
            for kind in (*kinds, SHORT) if kinds and system in SHOP else kinds:
                unit = _unit(
                    system, f"{kind} {n_points}", measure_solrep, (*given, kind), kind=kind, size=seconds
                )
                yield system, ("solrep",), unit
        if has_stored(*system):
            yield system, ("solrep",), _unit(system, "stored", measure_stored, (folder, system), size=0.0)


def _evolved_units(folder: Path | None, size: ProductsSize, seeds: int | None) -> Iterator[Candidate]:
    small = (*JCS, *PORTAL)
    runs = []
    for system in dict.fromkeys((*small, *TABLE_5)):
        tables = _named(
            {"table-4": system in small, "table-5": system in TABLE_5, "rq-5": system not in small}
        )
        runs.append((system, "ibed", tables, size.n_linux_seeds if system[0] == LINUX else size.n_seeds))
    for system in dict.fromkeys((*ECOS, *REPAIRED_ON)):
        tables = _named({"table-6": system in ECOS, "constraint-solving": system in REPAIRED_ON})
        runs.append((system, "ibea", tables, size.n_seeds))
    for system in REPAIRED_ON:
        tables = ("constraint-solving",)
        runs += [(system, method, tables, size.n_repaired_seeds) for method in REPAIRED]
    for system, method, tables, n_seeds in runs:
        n_evaluations = size.n_evaluations or SYSTEMS[system[0]].n_evaluations
        for seed in range(seeds or n_seeds):
            given = (folder, system, method, seed, n_evaluations)
            whole = EVOLVED_SECONDS.get((system[0], method), EVOLVED_SECONDS[system[0], "ibed"])
            seconds = 0.1 + whole * n_evaluations / SYSTEMS[system[0]].n_evaluations
            unit = _unit(system, f"{method} {seed}", measure_evolved, given, kind=method, size=seconds)
            yield system, tables, unit


def _named(tables: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(name for name, is_for in tables.items() if is_for)


def _unit(
    system: System,
    what: str,
    call: Callable[..., Rows],
    given: tuple[Any, ...],
    *,
    kind: str = "",
    size: float = 1.0,
) -> Unit:
    return Unit(
        f"{system[0]} {system[1] + 1}/{what}", call, given, kind=f"{system[0]} {kind or what}", size=size
    )


def _deviations() -> tuple[str, ...]:
    """Return the deviations from the paper, with numbers taken from the settings."""
    medium = dict(MEDIUM_SIZE.solrep)
    return (
        (
            "The digits of the paper's tables are lost in the text at hand. Its figures here are those that "
            "its text, its data and the tables that its authors stored confirm."
        ),
        (
            "Programs are solved by HiGHS where the paper had CPLEX, those of SolRep with up to 2,000 columns"
            " by our own branch and bound. By default they have no limit, so that points are proved, but "
            f"each has the paper's {LINUX_LIMIT_S:g} s on Linux; elsewhere the paper stops each after "
            f"{SHORT_LIMIT_S:g} s. So does one kind of run on E-Shop, whose rows are not stored."
        ),
        (
            "SolRep minimises the defects at each reference point, as the authors' programs do; the text has "
            "the cost, which is measured beside them on four sets."
        ),
        (
            "Our ε-constraint method and CWMOIP order the objectives by their ranges, leave out programs "
            "whose answer is known, and check answers in integers; CWMOIP has whole weights. Algorithms 1 "
            "and 2 as printed are timed beside them, without the limit of 0.1 s."
        ),
        (
            "The weights of Algorithm 2 are those of Özlen and Azizoğlu (2009), since line 5 has lost its "
            "digits. Its example has the cost outermost; so it is run at scale medium on "
            f"{_systems(MEDIUM_SIZE.text_order)}. The other order, the {BY_RANGE} and the others bounded "
            "from the widest inside to the narrowest outside, takes 1,956 programs on Web Portal 1 for "
            "166,881 (decision 52); runs with the cost outermost are stored of JCS alone. Each claim on its "
            "time names the order."
        ),
        (
            "Where the diagram completes the front, sets are counted beside it, not beside each other: on "
            f"{_systems((*JCS, *PORTAL, *MEDIUM_SIZE.whole))}. Tables as printed stay as the paper counts."
        ),
        (
            f"Seconds are the median of three runs after one that is left out; runs above {REPEATED_S:g} s "
            "and seeds of evolution are timed once, after a warm-up."
        ),
        (
            f"As printed, at scale medium, Algorithm 1 is run on {_names(MEDIUM_SIZE, EPSILON)} and "
            f"Algorithm 2 on {_names(MEDIUM_SIZE, CWMOIP)}; all eight sets are at scale paper."
        ),
        (
            "IBED and IBEA count violated clauses as one objective among the others, as in the paper. The "
            "rules by which our IBED exchanges and replaces products are ours, since the paper of the method "
            "says little about them; with them it finds more than the paper's."
        ),
        (
            "Features that the authors' lists name are fixed, which the text does not say. On eCos 29 of "
            "them do not follow from its clauses."
        ),
        (
            "Our IBEA keeps its population as its archive, and its preprocessing joins equivalent features "
            "besides fixing core and dead ones."
        ),
        (
            "Evolution starts from random selections of features, on Linux with three products that the "
            f"authors published among them; there it runs with {MEDIUM_SIZE.n_linux_seeds} seeds at scale "
            f"medium, elsewhere with {MEDIUM_SIZE.n_seeds}."
        ),
        (
            f"At scale medium SolRep has at most {max(medium[LINUX, 0])} reference points on Linux, where "
            f"the paper has {max(dict(PAPER_SIZE.solrep)[LINUX, 0]):,}; scale small only checks that "
            f"everything runs, with {SMALL_SIZE.n_evaluations:,} evaluations and few points."
        ),
        (
            "Indicators are scaled by the joint front of the two methods of a row. The paper's hypervolume "
            "of IBED on JCS 1 is above the complete front's, so it was scaled otherwise. Indicators of "
            "evolution are means of the runs, as in the authors' tables, where the text says medians."
        ),
        "Linux is the compact form of its clauses; they are very likely equivalent, which is not proved.",
        (
            "The paper drew ten sets of attributes for each model and shows two or four. The seventeen that "
            "its authors stored are measured, among them a third one of eCos that no table of the paper has."
        ),
        (
            "SATIBEA and SMTIBEA are not in the paper, which names them as its next step. Ours replace "
            f"{REPAIR_SHARE:.0%} of the children by repaired products, where SATIBEA has two operators, and "
            "use an integer program where SMTIBEA has Z3 (decision 52)."
        ),
        *(f"SolRep, {sentence[0].lower()}{sentence[1:]}" for sentence in SOLREP_DEVIATIONS),
    )


def _names(size: ProductsSize, method: str) -> str:
    """Return the names of the systems on which an algorithm as printed runs with four objectives."""
    systems = [one for one, n_objectives, methods in size.printed if n_objectives == 4 and method in methods]
    return _systems(systems)


def _systems(systems: Sequence[System]) -> str:
    """Return the names of systems, with the numbers of their sets of attributes."""
    found: dict[str, list[str]] = {}
    for name, number in systems:
        found.setdefault(NAMES[name], []).append(str(number + 1))
    return "; ".join(f"{name} {all_of(numbers)}" for name, numbers in found.items())


PRODUCTS = Paper(
    "products",
    "Xue and Li (2018): optimal products of software product lines, by integer programming",
    plan_products,
    product_tables,
    CONTENTS,
    tuple(SYSTEMS),
    frozenset({"seeds", "time_limit_s"}),
    _deviations(),
    CLAIMS,
)
