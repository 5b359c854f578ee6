"""`shortlist configure`: the front of a product line, with proof."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.output import finite, print_json
from shortlist.cli.pairs import read_numbers, read_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shortlist.products.attributes import Attribute
    from shortlist.products.model import FeatureModel
    from shortlist.products.product_front import Configured


def configure(
    model: Annotated[Path, typer.Argument(help="Feature model: SXFM, UVL, FeatureIDE XML or DIMACS.")],
    *,
    objectives: Annotated[
        str, typer.Option(help="What matters, such as 'min deselected, min cost, max quality'.")
    ],
    attributes: Annotated[
        list[Path] | None,
        typer.Option(help="CSV with a column feature, or .augment file; may be repeated."),
    ] = None,
    random_attributes: Annotated[
        int | None, typer.Option(help="Seed: draw cost, defects and not_used_before at random.")
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(help="OLD=NEW: a name in the attributes, and in the model.")
    ] = None,
    default: Annotated[
        list[str] | None, typer.Option(help="ATTRIBUTE=VALUE for features without a value.")
    ] = None,
    decimals: Annotated[int | None, typer.Option(help="Round attributes to so many decimals.")] = None,
    limit: Annotated[list[str] | None, typer.Option(help="Such as 'cost<=120'; may be repeated.")] = None,
    select: Annotated[list[str] | None, typer.Option(help="Feature that must be in.")] = None,
    deselect: Annotated[list[str] | None, typer.Option(help="Feature that must be out.")] = None,
    fixed: Annotated[
        list[Path] | None, typer.Option(help="File with a partial configuration; may be repeated.")
    ] = None,
    method: Annotated[str, typer.Option(help="auto, diagram, exact, cwmoip or epsilon-constraint.")] = "auto",
    tolerance: Annotated[
        str | None, typer.Option(help="Such as cost=5,defects=1: what a missing point may be better by.")
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for the search.")] = 60.0,
    max_nodes: Annotated[int, typer.Option(help="Budget of the diagram, in nodes.")] = 500_000,
    max_memory: Annotated[float, typer.Option(help="Gigabytes for the diagram's sets of points.")] = 2.0,
    solver: Annotated[str, typer.Option(help="highs, cpsat or scip.")] = "highs",
    seed: Annotated[int, typer.Option(help="Seed of variable orders and of the solver.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Parquet file to write the front to.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Find every non-dominated product of a feature model, with proof.

    Ctrl-C stops the search and keeps what was found.
    """
    from shortlist.cli.progress import live_progress
    from shortlist.errors import BadInputError
    from shortlist.files import check_writable
    from shortlist.products.formats import read_model
    from shortlist.products.product_front import configure as find_front
    from shortlist.products.requirements import make_requirements
    from shortlist.runs import cancel_on_interrupt

    if out is not None:
        check_writable(out)
    if not 0 < max_memory < float("inf"):
        raise BadInputError(f"--max-memory must be gigabytes above 0, got {max_memory}.")
    line = read_model(model)
    wanted = make_requirements(line, select=select or (), deselect=deselect or (), fixed=fixed or ())
    numbers = _attributes(
        line,
        objectives,
        limit or (),
        files=attributes or (),
        seed=random_attributes,
        renames=dict(read_pairs(rename or (), "rename")),
        defaults=dict(read_pairs(default or (), "default")),
        decimals=decimals,
    )
    tolerances = read_numbers(tolerance, "tolerance") if tolerance else None
    with cancel_on_interrupt() as cancellation, live_progress() as report:
        answer = find_front(
            line, objectives, attributes=numbers, limits=limit or (), requirements=wanted, method=method,
            tolerance=tolerances, time_limit_s=time_limit, max_nodes=max_nodes, max_bytes=round(max_memory * 1e9),
            solver=solver, seed=seed, report=report, cancellation=cancellation,
        )  # fmt: skip
    saved = None
    if out is not None and len(answer.front):
        answer.front.save(out)
        saved = out
    if json:
        print_json(_facts(answer, line, saved))
    else:
        _print(answer, line, saved)


def _attributes(
    model: "FeatureModel",
    objectives: str,
    limits: "Sequence[str]",
    *,
    files: "Sequence[Path]",
    seed: int | None,
    renames: dict[str, str],
    defaults: dict[str, str],
    decimals: int | None,
) -> "dict[str, Attribute]":
    """Return the attributes that objectives and limits name: drawn, from the files, or from the model."""
    import numpy as np

    from shortlist._validation import as_count
    from shortlist.errors import BadInputError
    from shortlist.products.attribute_draws import random_attributes
    from shortlist.products.attribute_files import read_attributes
    from shortlist.products.attributes import chosen_attributes, model_attributes
    from shortlist.products.objectives import limit_name, objective_names

    drawn = {}
    if seed is not None:
        rng = np.random.default_rng(as_count(seed, "--random-attributes", at_least=0))
        drawn = random_attributes(model, rng=rng)
    if decimals is not None:
        as_count(decimals, "--decimals", at_least=0, at_most=9)
    tables = [read_attributes(path, model, renames=renames) for path in files]
    names = [name for _, name in objective_names(objectives)] + [limit_name(text) for text in limits]
    tables.append(model_attributes(model))
    given = {name.casefold() for table in tables for name in table.columns}
    drawn = {name: values for name, values in drawn.items() if name.casefold() not in given}
    for name in defaults:
        if name not in names:
            raise BadInputError(f"--default must name an attribute that is asked for, {names}, got {name!r}.")
    others = [name for name in names if name not in drawn]
    return drawn | chosen_attributes(others, tables, model, defaults=defaults, decimals=decimals)


def _facts(answer: "Configured", model: "FeatureModel", saved: Path | None) -> dict[str, Any]:
    """Return the contract of every command, and what only product lines have."""
    from shortlist.cli.fronts import front_facts

    front = answer.front
    return {
        "command": "configure",
        "method": front.method,
        "status": str(answer.status),
        "seconds": front.seconds,
        **front_facts(front),
        "reason": answer.reason,
        "conflict": list(answer.conflict),
        "n_features": model.n_features,
        "implied": {
            "selected": [model.labels[i] for i in answer.implied.select],
            "deselected": [model.labels[i] for i in answer.implied.deselect],
        },
        "work": {
            name: finite(value) if isinstance(value, float) else value for name, value in front.extras.items()
        },
        "out": None if saved is None else str(saved),
    }


def _print(answer: "Configured", model: "FeatureModel", saved: Path | None) -> None:
    """Print the answer for people."""
    from shortlist.cli.fronts import proof_text, range_lines, some

    front, implied = answer.front, answer.implied
    for features, what in ((implied.select, "in"), (implied.deselect, "out")):
        if features:
            print(f"Required features imply {len(features)} more {what}: {some(model.labels, features)}.")
    if not len(front):
        print(f"Status {answer.status}: {answer.reason}.")
        for sentence in answer.conflict:
            print(f"  {sentence}")
        return
    points = "point" if len(front) == 1 else "points"
    print(
        f"{len(front):,} {points}, {proof_text(front)} ({front.method}: {answer.reason}; {front.seconds:.2f} s)."
    )
    for line in range_lines(front):
        print(line)
    if saved is not None:
        print(f"Saved to {saved}; look at it with: shortlist front show {saved} --pick knee")
