"""`shortlist model`: what is in a feature model."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.arguments import as_typed
from shortlist.cli.options.shared import NODES, FeatureModelFile, Json
from shortlist.cli.text.output import print_json, print_notes, run_facts

if TYPE_CHECKING:
    from shortlist.products.feature_models.model import FeatureModel

app = typer.Typer(help="What is in a feature model.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Show what is in a feature model."""


@app.command()
def info(
    context: typer.Context,
    model: FeatureModelFile,
    *,
    max_nodes: Annotated[
        int | None,
        typer.Option(help=f"{NODES}; 0 counts no products. Default: by the size."),
    ] = None,
    json: Json = False,
) -> None:
    """Print features, constraints, core and dead features, and the number of products."""
    from shortlist.cli.files import check_files
    from shortlist.runs.clock import seconds_now

    check_files(inputs={"MODEL": model}, outputs={})
    from shortlist._validation import as_count
    from shortlist.products.configuration.model_summary import summarise
    from shortlist.products.formats import read_model

    if max_nodes is not None and max_nodes != 0:
        as_count(max_nodes, "--max-nodes", at_least=16)
    started = seconds_now()
    line = read_model(model)
    read_s = seconds_now() - started
    summary = summarise(line, max_nodes=max_nodes)
    facts: dict[str, Any] = {
        "command": "model info",
        "method": "diagram" if summary.n_products is not None else "satisfiability",
        "status": "feasible" if summary.satisfiable else "infeasible",
        "seconds": seconds_now() - started,
        "seconds_reading": read_s,
        "name": line.name,
        "n_features": line.n_features,
        "n_constraints": len(line.constraints) + (line.clauses.n_clauses if line.clauses else 0),
        "n_groups": len(line.groups),
        "core": [line.labels[i] for i in summary.core],
        "dead": [line.labels[i] for i in summary.dead],
        "n_products": None if summary.n_products is None else str(summary.n_products),
        "uncounted": as_typed(summary.uncounted),
        "conflict": list(summary.conflict),
        "attributes": sorted(line.attributes),
        "notes": list(line.notes),
        **run_facts(context),
    }
    print_notes(facts["notes"])
    if json:
        print_json(facts)
    else:
        _print(facts, line)


def _print(facts: dict[str, Any], line: "FeatureModel") -> None:
    """Print the facts for people."""
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
    for kind in ("core", "dead"):
        names = facts[kind]
        print(f"{kind:<14}{len(names):,}" + (f": {some(names, range(len(names)))}" if names else ""))
    print(f"products      {_count_text(facts['n_products'], facts['uncounted'])}")


def _count_text(count: str | None, uncounted: str) -> str:
    """Show a number of products that may have hundreds of digits."""
    if count is None:
        return f"not counted: {uncounted}"
    if len(count) <= 15:
        return f"{int(count):,}"
    return (
        f"{count[0]}.{count[1:4]}e{len(count) - 1} ({count})"
        if len(count) <= 60
        else f"{count[0]}.{count[1:4]}e{len(count) - 1}"
    )
