"""`shortlist model`: size and consequences of a feature model, and its difference from another model."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.answers import CommandAnswer, answers
from shortlist.cli.files import check_files
from shortlist.cli.options.shared import NODES, Details, FeatureModelFile, ModelSeconds
from shortlist.cli.text.output import as_typed, first_screen

if TYPE_CHECKING:
    from shortlist.products.model import FeatureModel


@answers
def info(
    model: FeatureModelFile,
    *,
    max_nodes: Annotated[
        int | None, typer.Option(help=f"{NODES}; 0 counts none, and by default it depends on the size.")
    ] = None,
    time_limit: ModelSeconds = 60.0,
    details: Details = False,
) -> CommandAnswer:
    """Print the size of a feature model, and count its products.

    The sizes are the numbers of features, constraints, core and dead features.
    """
    check_files(inputs={"MODEL": model}, outputs={})
    from shortlist._validation import as_count, as_positive_seconds
    from shortlist.cli.work import within
    from shortlist.exact import digits_of
    from shortlist.products.configuration.feasibility import summarise
    from shortlist.products.formats import read_model
    from shortlist.runs.budget import seconds_now

    if max_nodes is not None and max_nodes != 0:
        as_count(max_nodes, "--max-nodes", at_least=16)
    as_positive_seconds(time_limit, "--time-limit")
    started = seconds_now()
    line = read_model(model)
    read_s = seconds_now() - started
    with within(time_limit) as budget:
        summary = summarise(line, max_nodes=max_nodes, budget=budget)
    statuses = {True: "feasible", False: "infeasible", None: "unknown"}
    facts: dict[str, Any] = {
        "method": "diagram" if summary.n_products is not None else "satisfiability",
        "status": statuses[summary.satisfiable],
        "limit": budget.limit_text,
        "seconds": seconds_now() - started,
        "seconds_reading": read_s,
        "name": line.name,
        "n_features": line.n_features,
        "n_constraints": len(line.constraints) + (line.clauses.n_clauses if line.clauses else 0),
        "n_groups": len(line.groups),
        "core": [line.labels[i] for i in summary.core],
        "dead": [line.labels[i] for i in summary.dead],
        "n_products": None if summary.n_products is None else digits_of(summary.n_products),
        "uncounted": as_typed(summary.uncounted),
        "conflict": list(summary.conflict),
        "attributes": sorted(line.attributes),
    }
    return CommandAnswer(facts, first_screen(details=details)(partial(_print, facts, line)), line.notes)


@answers
def analyse(
    model: FeatureModelFile,
    *,
    explained: Annotated[int, typer.Option(help="Number of findings of each kind to explain.")] = 10,
    max_nodes: Annotated[
        int | None, typer.Option(help=f"{NODES}; 0 counts none, and by default it depends on the size.")
    ] = None,
    time_limit: ModelSeconds = 60.0,
    details: Details = False,
) -> CommandAnswer:
    """Print what follows from a feature model, and why.

    Findings are dead and core features, false-optional features, redundant constraints, atomic sets
    (features always selected together), and how many products have each feature. Ctrl-C ends the analysis
    with what was found.
    """
    check_files(inputs={"MODEL": model}, outputs={})
    from shortlist._validation import as_count, as_positive_seconds
    from shortlist.cli.text.model_analysis import analysis_facts, print_analysis
    from shortlist.cli.work import within
    from shortlist.products.analysis import analyse as find
    from shortlist.products.formats import read_model
    from shortlist.runs.budget import seconds_now

    as_count(explained, "--explained", at_least=0)
    if max_nodes is not None and max_nodes != 0:
        as_count(max_nodes, "--max-nodes", at_least=16)
    as_positive_seconds(time_limit, "--time-limit")
    started = seconds_now()
    line = read_model(model)
    with within(time_limit) as budget:
        found = find(line, n_explained=explained, max_nodes=max_nodes, budget=budget)
    facts = analysis_facts(line, found)
    facts |= {"limit": budget.limit_text, "seconds": seconds_now() - started}
    return CommandAnswer(facts, first_screen(details=details)(partial(print_analysis, facts)), line.notes)


@answers
def diff(
    first: Annotated[Path, typer.Argument(help="Feature model before the edit.")],
    second: Annotated[Path, typer.Argument(help="Feature model after the edit.")],
    *,
    time_limit: ModelSeconds = 60.0,
    details: Details = False,
) -> CommandAnswer:
    """Say the effect of an edit on the products.

    An example is a product that only one of the models has. Features are matched by name; one that a model
    does not have counts as not selected there. Ctrl-C ends the search, and the command says what is known.
    """
    check_files(inputs={"FIRST": first, "SECOND": second}, outputs={})
    from shortlist._validation import as_positive_seconds
    from shortlist.cli.text.model_analysis import difference_facts, print_difference
    from shortlist.cli.work import within
    from shortlist.products.conversion import difference
    from shortlist.products.formats import read_model
    from shortlist.runs.budget import seconds_now

    as_positive_seconds(time_limit, "--time-limit")
    started = seconds_now()
    before, after = read_model(first), read_model(second)
    with within(time_limit) as budget:
        found = difference(before, after, budget=budget)
    limit = budget.limit_text or (budget.time_text if found.unsure else "")  # of its two halves one ended
    facts = difference_facts(found) | {"limit": limit, "seconds": seconds_now() - started}
    return CommandAnswer(
        facts, first_screen(details=details)(partial(print_difference, facts, first, second))
    )


def _print(facts: dict[str, Any], line: "FeatureModel") -> None:
    from shortlist._words import count_text
    from shortlist.cli.text.front_text import some

    generated = f", {len(line.generated)} of them generated" if line.generated else ""
    print(f"features      {line.n_features:,}{generated}")
    print(f"groups        {facts['n_groups']:,}")
    print(f"constraints   {facts['n_constraints']:,}")
    if facts["attributes"]:
        print(f"attributes    {', '.join(facts['attributes'])}")
    if facts["status"] == "infeasible":
        print("products      none: these contradict each other")
        for sentence in facts["conflict"]:
            print(f"  {sentence}")
        return
    for kind in () if facts["status"] == "unknown" else ("core", "dead"):
        names = facts[kind]
        print(f"{kind:<14}{len(names):,}" + (f": {some(names, range(len(names)))}" if names else ""))
    count = facts["n_products"]
    products = f"not counted: {facts['uncounted']}" if count is None else count_text(count)
    print(f"products      {products}")
