"""Product lines of :cite:t:`Xue2018`: their files, and the study's questions about them."""

import dataclasses
import functools
import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Points
from shortlist.products import chosen_attributes, read_attributes, read_model
from shortlist.products.clauses import to_clauses
from shortlist.products.configuration.front_search import checked_front, find_front
from shortlist.products.configuration.question import (
    ProductQuestion,
    make_question,
    parse_objectives,
    search_options,
)
from shortlist.products.configuration.requirements import make_requirements
from shortlist.results.front import Front
from shortlist.runs.budget import Budget, seconds_now
from shortlist_papers.product_evolution.evolved_front import evolved_products
from shortlist_papers.product_evolution.variation import Evolution

OBJECTIVES = "min deselected, min not_used_before, min defects, min cost"
"""Objectives in the order by which the study sorts points."""
RENAMES = {"Enrcyption": "Encryption"}
"""Correct name of a feature, by the misspelt name in the published JCS attribute files."""


@dataclass(frozen=True)
class ProductSystem:
    """Product line of the study."""

    model: str
    """File of the model, in ``feature-models``."""
    n_features: int
    """Number of features, as in Table 2."""
    attributes: tuple[str, ...]
    """Files with sets of attributes."""
    fixed: str
    """Name of the file with lists of fixed features."""
    n_evaluations: int
    """Number of products that one evolutionary run of the study evaluates."""
    stored: tuple[str, ...] = ()
    """Names of the authors' stored results of SolRep, for the first sets of attributes."""


SYSTEMS = {
    "jcs": ProductSystem(
        "splot/jcs.sxfm.xml", 12,
        ("ChatSystem_PREDEFINE_ONE.csv", *(f"ChatSystem_RAND{i}.csv" for i in (2, 3, 4))),
        "ChatSystem", 25_000,
    ),
    "web-portal": ProductSystem(
        "splot/web-portal.sxfm.xml", 43,
        tuple(f"WebPortal_RAND{i}.csv" for i in (1, 2, 3, 4)), "WebPortal", 25_000
    ),
    "e-shop": ProductSystem(
        "splot/e-shop-paper-2013.sxfm.xml", 290,
        ("EShop_RAND1.csv", "EShop_RAND2.csv"), "EShop", 25_000, ("eshop1", "eshop2"),
    ),
    "ecos": ProductSystem(
        "lvat/ecos-icse11.dimacs", 1244, tuple(f"ECos_RAND{i}.csv" for i in (1, 2, 3)), "ECos", 100_000,
        ("ecos1", "ecos2"),
    ),
    "uclinux": ProductSystem(
        "lvat/uClinux.dimacs", 1850, ("UCLinux_RAND1.csv", "UCLinux_RAND2.csv"), "uCLinux",
        100_000, ("uclinux1",)
    ),
    "compact-linux": ProductSystem(
        "lvat/2.6.28.6-compact.dimacs.gz", 6888,
        ("LinuxX86_RAND1.csv.gz", "LinuxX86_RAND2.csv.gz"), "LinuxX86",
        100_000, ("linuxx861",),
    ),
}  # fmt: skip
SEEDS = ("Seed_LinuxX86", "Seed_LinuxX86_IBDE", "Seed_LinuxX86_IBEA")
"""Names of the products of Linux from which the study's evolution starts."""


def evolve_once(
    question: ProductQuestion,
    method: str,
    seed: int,
    *,
    n_evaluations: int,
    valid_first: bool = True,
    starts: NDArray[np.bool_] | None = None,
    budget: Budget | None = None,
) -> Front:
    """Return the front of one evolutionary run, every product checked.

    `question`: see :func:`prepared_question`. `method`: ``ibea``, ``ibed``, ``satibea`` or ``smtibea``.
    `n_evaluations`: number of products to evaluate. `valid_first`: whether validity comes before all
    objectives; in the study, violated clauses are one objective among the others. `starts`: first products,
    ``(n_products, n_features)``. `budget`: time limit, progress, and the study that keeps the generations.
    """
    clauses = to_clauses(question.model).with_units(question.requirements.literals)
    evolved = functools.partial(evolved_products, question, clauses, method, starts=starts)
    compiled = Evolution(n_evaluations=200, valid_first=valid_first)
    evolved(compiled, budget=Budget(seed=seed))  # outside the clock
    load = os.getloadavg()[0]
    settings = dataclasses.replace(compiled, n_evaluations=n_evaluations)
    own = dataclasses.replace(Budget() if budget is None else budget.begun(), seed=seed)
    found = evolved(settings, budget=own)
    front = checked_front(question, found, method)
    return dataclasses.replace(front, seconds=found.seconds, extras={**front.extras, "load": load})


@functools.cache
def prepared_question(folder: Path, name: str, number: int, *, fixed: bool) -> tuple[ProductQuestion, float]:
    """Return a question of the study, and the seconds of reading it, feasibility included."""
    if name != "jcs":  # import and compile outside the clock
        small = prepared_question(folder, "jcs", 0, fixed=True)[0]
        find_front(small, "solrep", search_options("solrep", n_points=5), Budget())
    start = seconds_now()
    system, place = SYSTEMS[name], folder / "feature-models" / "paper-instances"
    model = read_model(folder / "feature-models" / system.model)
    renames = RENAMES if name == "jcs" else {}
    table = read_attributes(place / "attributes" / system.attributes[number], model, renames=renames)
    attributes = chosen_attributes(["cost", "defects", "not_used_before"], [table], model)
    lists = [place / "fixed-features" / f"{side}_{system.fixed}.txt" for side in ("Yes", "No")]
    wanted = make_requirements(model, fixed=lists if fixed else [])
    question, feasibility = make_question(model, parse_objectives(OBJECTIVES, model, attributes), (), wanted)
    assert not feasibility.conflict
    return question, seconds_now() - start


def seed_products(folder: Path, question: ProductQuestion) -> NDArray[np.bool_]:
    """Return the three products of Linux from which the study's evolution starts, ``(3, n_features)``.

    A feature is selected if its line reads ``NAME -> true``.
    """
    places = {name: place for place, name in enumerate(question.model.labels)}
    products = np.zeros((len(SEEDS), question.model.n_features), dtype=bool)
    for row, stem in enumerate(SEEDS):
        path = folder / "feature-models" / "paper-instances" / "fixed-features" / f"{stem}.txt.gz"
        for line in gzip.decompress(path.read_bytes()).decode().strip().splitlines():
            name, _, value = line.strip().rpartition(" -> ")
            products[row, places[name]] = value == "true"
    return products


def has_stored(name: str, number: int) -> bool:
    """Return whether the authors stored a run of SolRep on a product line and a set of attributes."""
    return number < len(SYSTEMS[name].stored)


def stored_points(folder: Path, name: str, number: int) -> Points:
    """Return the points of the authors' own run, in our order: deselected, not used before, defects, cost."""
    place = folder / "feature-models" / "paper-instances" / "results"
    path = place / f"solrep_python_parameter_{SYSTEMS[name].stored[number]}.txt.gz"
    rows = gzip.decompress(path.read_bytes()).decode().strip().strip(";").split(";")
    values = np.array([[float(cell) for cell in row.strip().strip("()").split(",")] for row in rows])
    cost, minus_selected, unused, defects = values.T
    question, _ = prepared_question(folder, name, number, fixed=True)
    scales = [goal.objective.scale or 1 for goal in question.objectives]
    ours = np.column_stack([question.model.n_features + minus_selected, unused, defects, cost])
    return np.asarray(np.rint(ours * scales), dtype=np.int64)


def complete_points(folder: Path, name: str, number: int) -> Points:
    """Return every non-dominated point by enumeration of all products, in our order of objectives, sorted."""
    stem = SYSTEMS[name].attributes[number].partition(".")[0]
    place = folder / "feature-models" / "paper-instances" / "reference-fronts"
    table = np.loadtxt(place / f"{stem}.csv", delimiter=",", skiprows=1, ndmin=2)
    question, _ = prepared_question(folder, name, number, fixed=True)
    scales = [goal.objective.scale or 1 for goal in question.objectives]
    points = np.rint(table[:, [0, 3, 2, 1]] * scales).astype(np.int64)
    return np.asarray(points[np.lexsort(points.T[::-1])])


def data_files(folder: Path, name: str, number: int) -> list[Path]:
    """Return all files on a product line and a set of attributes."""
    system, models = SYSTEMS[name], folder / "feature-models"
    place, attributes = models / "paper-instances", system.attributes[number]
    seeds = SEEDS if name == "compact-linux" else ()
    paths = (
        models / system.model,
        place / "attributes" / attributes,
        place / "reference-fronts" / f"{attributes.partition('.')[0]}.csv",
        *(place / "fixed-features" / f"{side}_{system.fixed}.txt" for side in ("Yes", "No")),
        *(place / "fixed-features" / f"{seed}.txt.gz" for seed in seeds),
        *(
            place / "results" / f"solrep_python_parameter_{one}.txt.gz"
            for one in system.stored[number : number + 1]
        ),
    )
    return [path for path in paths if path.is_file()]


def is_there(folder: Path | None, name: str, number: int) -> bool:
    """Return whether a folder has the model of a product line, and the numbered set of attributes."""
    if folder is None:
        return False
    place, system = folder / "feature-models", SYSTEMS[name]
    attributes = place / "paper-instances" / "attributes" / system.attributes[number]
    return (place / system.model).is_file() and attributes.is_file()
