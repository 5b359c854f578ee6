"""Comparison of methods on one product line, independent of the number of workers."""

import dataclasses
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist._validation import as_choice, as_count, as_positive_seconds, as_seed
from shortlist._words import all_of
from shortlist.errors import BadFileError, BadInputError
from shortlist.methods.integer.recorded_solves import program_fingerprint
from shortlist.methods.program_methods import SearchOptions, SolRepOptions
from shortlist.products.attributes import Attribute
from shortlist.products.configuration.feasibility import NO_REQUIREMENTS
from shortlist.products.configuration.front_search import checked_front, products_front, program_of
from shortlist.products.configuration.question import (
    EVOLUTIONARY_METHODS,
    FeatureObjective,
    ProductQuestion,
    make_question,
    parse_question,
)
from shortlist.products.configuration.requirements import Requirements
from shortlist.products.model import Constraint, FeatureModel
from shortlist.results.front import Front
from shortlist.results.proof import Proof
from shortlist.runs import Budget, Report, Study, Unit, Work, run_units, silent
from shortlist.runs.workers import as_where
from shortlist_papers.comparison import side_by_side
from shortlist_papers.front_quality import FrontTables, Quality, compare_fronts, joint_front, quality_of
from shortlist_papers.product_evolution.evolved_front import find_front
from shortlist_papers.product_methods import METHODS, OPTIONS, KeptEvolutionOptions, method_options, takes

QUALITY = tuple(field.name for field in dataclasses.fields(Quality))
"""Names of the counts and measures of a run's front."""

OWN_OPTIONS = ("seed", "study", "workers", "tolerance")
"""Options that a comparison sets itself, or that would make fronts incomparable."""


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """Run of one method with its front and its seed."""

    method: str
    seed: int
    front: Front

    @property
    def valid_share(self) -> float:
        """Share of products in the final population; 1 for methods whose results are products only."""
        return float(self.front.extras.get("correctness", 1.0))


@dataclass(frozen=True)
class MethodRow:
    """Row of one method in the table of all methods."""

    method: str
    """Name of the method."""
    n_runs: int
    """Number of finished runs: several seeds for an evolutionary method, one run for other methods."""
    union: Quality
    """Quality of the non-dominated points of all runs of the method."""
    unique: int
    """Number of points of the joint front that only this method found."""
    share: float | None
    """Share of the complete front; None if no method proved one."""
    valid_share: float
    """Share of products in the final population, averaged over the runs."""
    seconds: float
    """Seconds of all runs together."""
    middle: Quality
    """Medians over the runs of each count and measure, in the same box; counts are rounded down."""
    middle_valid_share: float
    middle_seconds: float
    """Medians over the runs: share of products in the final population, and seconds."""
    mean_hypervolume: float
    """Hypervolume, averaged over the runs."""
    hypervolume_margin: float | None
    """95 % margin of `mean_hypervolume`; None for one run."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of :func:`compare_products`."""

    runs: tuple[ComparedRun, ...]
    """Finished runs, in the order of the methods, then by seed."""
    n_wanted: int
    """Number of requested runs."""
    conflict: tuple[str, ...]
    """Sentences that contradict each other, if no product meets the requirements; then there are no runs."""
    rows: tuple[MethodRow, ...]
    """Rows of the methods with a finished run."""
    tables: FrontTables | None
    """Comparison of the methods' united fronts; None without a finished run."""
    measured: tuple[dict[str, Any], ...] = ()
    """Measurements of every run: method, seed, seconds, proof, and quality."""

    @property
    def fronts(self) -> dict[str, Front]:
        """United front of each method's runs, by name."""
        return unions(self.runs)


def compare_products(
    model: FeatureModel,
    objectives: str | Sequence[FeatureObjective],
    methods: Sequence[str],
    *,
    attributes: Mapping[str, Attribute] | None = None,
    limits: Sequence[str | Constraint] = (),
    requirements: Requirements = NO_REQUIREMENTS,
    seeds: Sequence[int] = range(30),
    time_limit_s: float | None = None,
    work: Work | None = None,
    **options: Any,
) -> Comparison:
    """Run methods on a product line, evolution once per seed, and compare their fronts.

    Raises BadInputError if a method is unknown, an option is for none of the methods, or the study belongs to
    another question.

    `model`, `objectives`, `attributes`, `limits`, `requirements`: as in
    :func:`shortlist.products.configuration.product_front.configure`. `methods`: names in
    :data:`~shortlist_papers.product_methods.METHODS`; with a complete method, such as ``diagram``, each other
    method gets its share of the complete front. `seeds`: evolutionary methods run once with each seed; other
    methods run once, with the first seed. `time_limit_s`: limit of each run, and of the search before the
    runs for a product and for common features. `work`: number of runs at a time; the result does not depend
    on this number, unless a limit in seconds ends a run. The study of `work` keeps finished runs, and a part
    of the study keeps the programs of ``solrep``. The study depends on the question and the options; methods
    and seeds may be added later. A stopped run is left out. `**options`: options in
    :mod:`~shortlist_papers.product_methods` except :data:`OWN_OPTIONS`, each for the methods that have the
    option, or as ``solrep.rule`` for one method.

    Every product is checked against the rules of the original model.
    """
    by_method = check_methods(methods, options)
    chosen = list(by_method)
    seeds = [as_seed(seed, "seeds") for seed in seeds]
    as_count(len(seeds), "the number of seeds")
    as_positive_seconds(time_limit_s, "time_limit_s")
    work = Work() if work is None else work
    as_where(work.workers, "workers")
    goals, bounds = parse_question(model, objectives, limits, attributes)
    budget = Budget(as_positive_seconds(time_limit_s, "time_limit_s"), cancellation=work.cancellation)
    question, feasibility = make_question(model, goals, bounds, requirements, budget=budget)
    wanted = [
        (method, seed)
        for method in chosen
        for seed in (seeds if method in EVOLUTIONARY_METHODS else seeds[:1])
    ]
    if feasibility.conflict:
        return Comparison((), len(wanted), feasibility.conflict, (), None)
    study = work.study
    study.bind({"the question": _digest(question), "time_limit_s": time_limit_s, **_described(options)})
    tell = work.report if work.workers == 1 else silent
    units = []
    by_key = {f"{method} {seed}": (method, seed) for method, seed in wanted}
    for key, (method, seed) in by_key.items():
        own = dataclasses.replace(by_method[method], seed=seed)
        if isinstance(own, SolRepOptions | KeptEvolutionOptions):
            own = dataclasses.replace(own, study=study.part(key))
        task = _Task(method, seed, own, time_limit_s)
        units.append(Unit(key, _run, (question, task, tell), kind=method, whole=True))
    runs = tuple(
        ComparedRun(*by_key[key], _from_record(question, by_key[key][0], record, study))
        for key, record in run_units(units, work, stage="runs")
        if record is not None
    )
    return tabulated(runs, len(wanted))


def check_methods(methods: Sequence[str], options: Mapping[str, Any]) -> dict[str, SearchOptions]:
    """Return the options of each method, with defaults for None.

    An option ``solrep.rule`` is for one method, and ``rule`` for all methods that have the option. Raises
    BadInputError if a method is unknown, or an option is wrong or for none of the methods.
    """
    chosen = list(dict.fromkeys(methods))
    for method in chosen or [""]:
        as_choice(method, "method", METHODS)
    own: dict[str, dict[str, Any]] = {method: {} for method in chosen}
    for name, value in sorted(options.items(), key=lambda each: "." in each[0]):
        if value is None:
            continue
        owner, _, option = name.rpartition(".")
        if owner and owner not in own:
            raise BadInputError(
                f"{name} is an option of a method that is not compared: {all_of(chosen)} are."
            )
        having = [owner] if owner else [method for method in chosen if takes(method, option)]
        if option in OWN_OPTIONS or not having:
            raise BadInputError(
                f"`{option}` is an option of none of the methods {all_of(chosen)}. Leave it out."
            )
        for method in having:
            own[method][option] = value
    return {method: method_options(method, **own[method]) for method in chosen}


def tabulated(runs: Sequence[ComparedRun], n_wanted: int) -> Comparison:
    """Return the tables of finished runs."""
    import pandas as pd

    if not runs:
        return Comparison((), n_wanted, (), (), None)
    tables = compare_fronts(unions(runs))
    measured = tuple(_measured(run, tables) for run in runs)
    numbers = [*QUALITY, "valid_share", "seconds"]
    frame = pd.DataFrame(measured)
    seconds = frame.groupby("method")["seconds"].sum()
    middles = side_by_side(frame, numbers).to_dict("index")
    rows = tuple(_row(name, middles[name], float(seconds[name]), tables) for name in tables.qualities)
    return Comparison(tuple(runs), n_wanted, (), rows, tables, measured)


def _measured(run: ComparedRun, tables: FrontTables) -> dict[str, Any]:
    """Return the facts on one run for JSON and pages, with its quality against the joint front."""
    return {
        "method": run.method,
        "seed": run.seed,
        "seconds": run.front.seconds,
        "proof": str(run.front.proof.kind),
        "limit": run.front.proof.limit,
        "valid_share": run.valid_share,
        **dataclasses.asdict(quality_of(run.front.points, tables.joint.points, tables.box)),
    }


def unions(runs: Sequence[ComparedRun]) -> dict[str, Front]:
    """Return the non-dominated points of all runs of each method.

    The front of a single run stays unchanged.
    """
    found: dict[str, Front] = {}
    for name in dict.fromkeys(run.method for run in runs):
        own = {f"{name} {run.seed}": run.front for run in runs if run.method == name}
        joined = next(iter(own.values())) if len(own) == 1 else joint_front(own)
        found[name] = dataclasses.replace(joined, method=name)
    return found


def _row(method: str, middle: Mapping[str, Any], seconds: float, tables: FrontTables) -> MethodRow:
    known: dict[str, Any] = {
        name: None if math.isnan(middle[f"{name}_median"]) else middle[f"{name}_median"] for name in QUALITY
    }
    counts = {name: int(known[name] or 0) for name in QUALITY if name.startswith("n_")}
    return MethodRow(
        method,
        middle["n_units"],
        tables.qualities[method],
        tables.unique[method],
        None if tables.shares is None else tables.shares[method],
        middle["valid_share"],
        seconds,
        Quality(**{**known, **counts}),
        middle["valid_share_median"],
        middle["seconds_median"],
        middle["hypervolume"],
        None if math.isnan(middle["hypervolume_margin"]) else middle["hypervolume_margin"],
    )


@dataclass(frozen=True, eq=False)
class _Task:
    """Settings of one run, without the question; a task is pickled."""

    method: str
    seed: int
    options: SearchOptions
    time_limit_s: float | None


def _run(question: ProductQuestion, task: _Task, report: Report, *, budget: Budget) -> dict[str, Any]:
    own = Budget(
        as_positive_seconds(task.time_limit_s, "time_limit_s"),
        seed=task.seed,
        report=lambda event: report(
            dataclasses.replace(event, stage=f"{task.method} {task.seed}, {event.stage}")
        ),
        cancellation=budget.cancellation,
    )
    return _as_record(find_front(question, task.method, task.options, own))


def _described(given: Mapping[str, Any]) -> dict[str, Any]:
    usual = {
        one.name: getattr(kind(), one.name) for kind in OPTIONS.values() for one in dataclasses.fields(kind)
    }
    wanted = {name: value for name, value in given.items() if value is not None}
    whole = usual | wanted
    return {name: value for name, value in whole.items() if name not in OWN_OPTIONS}


def _digest(question: ProductQuestion) -> str:
    """Return a digest of a question.

    Features that were found to be implied within a time limit are left out.
    """
    question = dataclasses.replace(question, fixed=question.requirements.literals)
    names = "\n".join(question.model.labels).encode()
    own = [goal.linear() for goal in question.objectives]
    return hashlib.sha256(program_fingerprint(program_of(question, own)).encode() + names).hexdigest()


def _as_record(front: Front) -> dict[str, Any]:
    """Return a front as plain data for JSON; four features of a product take one character."""
    packed = np.packbits(front.decisions.astype(np.uint8), axis=1)
    return {
        "points": front.points.tolist(),
        "products": [row.tobytes().hex() for row in packed],
        "proof": dataclasses.asdict(front.proof),
        "seconds": front.seconds,
        "extras": dict(front.extras),
    }


def _from_record(question: ProductQuestion, method: str, record: Mapping[str, Any], study: Study) -> Front:
    """Return the front of :func:`_as_record`, with every product checked again."""
    try:
        n = question.model.n_features
        packed = [np.frombuffer(bytes.fromhex(row), dtype=np.uint8) for row in record["products"]]
        width = -(-n // 8)
        bits = np.unpackbits(np.array(packed, dtype=np.uint8).reshape(-1, width), axis=1, count=n)
        points = np.array(record["points"], dtype=np.int64).reshape(-1, len(question.objectives))
        proof = record["proof"]
        missing = None if proof["missing"] is None else tuple(proof["missing"])
        claim = Proof(**{**proof, "tolerances": tuple(proof["tolerances"]), "missing": missing})
        front = products_front(
            question, points, bits, claim, method=method, seconds=record["seconds"], extras=record["extras"]
        )
    except (KeyError, TypeError, ValueError):
        raise BadFileError(
            f"the study {study.path} holds a run of {method} that cannot be read. "
            "Name another file, or delete it."
        ) from None
    return dataclasses.replace(checked_front(question, front, method), seconds=front.seconds)
