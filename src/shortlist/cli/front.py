"""`shortlist front`: look at a saved front, and take one point of it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.output import print_json, save
from shortlist.cli.pairs import read_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from shortlist.front import Front, Pick

app = typer.Typer(help="Look at a saved front, and take one point of it.", no_args_is_help=True)


@app.command()
def show(
    front: Annotated[Path, typer.Argument(help="Front written with --out.")],
    *,
    pick: Annotated[str | None, typer.Option(help="Also the point by a rule: ideal or knee.")] = None,
    limit: Annotated[
        list[str] | None, typer.Option(help="Only points such as 'cost<=120'; may be repeated.")
    ] = None,
    rows: Annotated[int, typer.Option(help="Most points to print; 0 for all.")] = 20,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Print the points of a front, what is proved about them, and their ranges."""
    from shortlist.cli.files import check_files

    check_files(inputs={"FRONT": front}, outputs={})
    from shortlist._validation import as_count
    from shortlist.cli.fronts import front_facts, proof_text, range_lines
    from shortlist.front import Front

    as_count(rows, "--rows", at_least=0)
    loaded = Front.load(front)
    limits = _limits(loaded, limit or ())
    kept = _within(loaded, limits)
    picked = None if pick is None else loaded.pick(pick, limits=limits)
    if json:
        facts: dict[str, Any] = {
            "command": "front show",
            "method": loaded.method,
            "status": _status(loaded),
            "seconds": loaded.seconds,
            **front_facts(loaded),
            "points": loaded.values[kept][: rows or None].tolist(),
            "n_within_limits": int(kept.sum()),
            "pick": None if picked is None else _pick_facts(loaded, picked),
        }
        print_json(facts)
        return
    points = "point" if len(loaded) == 1 else "points"
    print(f"{len(loaded):,} {points}, {proof_text(loaded)} ({loaded.method}, {loaded.seconds:.2f} s).")
    if len(loaded):
        print("\n".join(range_lines(loaded)))
    _print_table(loaded, kept, rows)
    if picked is not None:
        _print_pick(loaded, picked)


@app.command()
def pick(
    front: Annotated[Path, typer.Argument(help="Front written with --out.")],
    *,
    rule: Annotated[
        str | None, typer.Option(help="ideal, knee, weights or lexicographic; default: by the options.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help="Such as cost=2,defects=1.")] = None,
    minimise: Annotated[
        list[str] | None, typer.Option(help="Best in this objective; repeat it for what decides ties.")
    ] = None,
    limit: Annotated[
        list[str] | None, typer.Option(help="Only points such as 'cost<=120'; may be repeated.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="The feature model: checks the product, and writes it at its places.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Product to write: .uvl, .csv or .config.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Take one point of a front by a rule, and write what to choose for it."""
    from shortlist.cli.files import PRODUCT_FILE, check_files

    check_files(
        inputs={"FRONT": front, "--model": model}, outputs={"--out": out}, endings={"--out": PRODUCT_FILE}
    )
    from shortlist.errors import BadInputError
    from shortlist.front import Front

    if model is not None and out is None:
        raise BadInputError("--model is what --out is written from. Pass --out as well.")
    loaded = Front.load(front)
    order = _order(loaded, minimise or ())
    chosen_rule = rule or ("lexicographic" if order else "weights" if weights else "ideal")
    if order and chosen_rule != "lexicographic":
        raise BadInputError(
            f"--minimise orders the objectives, so --rule must be lexicographic, got {rule!r}."
        )
    factors = read_numbers(weights, "weights") if weights else None
    picked = loaded.pick(chosen_rule, weights=factors, order=order, limits=_limits(loaded, limit or ()))
    if out is not None:
        out = save(out, lambda path: _write(loaded, picked, model, path))
    if json:
        print_json(
            {
                "command": "front pick",
                "method": loaded.method,
                "status": _status(loaded),
                "seconds": loaded.seconds,
                "n_points": len(loaded),
                "proof": str(loaded.proof.kind),
                **_pick_facts(loaded, picked),
                "out": None if out is None else str(out),
            }
        )
        return
    _print_pick(loaded, picked)
    if out is not None:
        print(f"Saved to {out}.")
        if model is None and out.suffix == ".uvl":
            print("It is not checked and has no tree: pass --model FILE for both.", file=sys.stderr)


def _order(front: "Front", names: "Sequence[str]") -> list[str]:
    """Return the objectives to decide by; an objective that is maximised cannot be minimised."""
    from shortlist.errors import BadInputError

    for objective in front.objectives:
        if objective.name in names and objective.sign < 0:
            raise BadInputError(
                f"--minimise names {objective.name!r}, which the front maximises. Use --rule lexicographic or --weights."
            )
    return list(names)


def _limits(front: "Front", texts: "Sequence[str]") -> dict[str, float]:
    """Read limits on the objectives of a front, each in the objective's better direction."""
    import re

    from shortlist.errors import BadInputError

    kinds = {objective.name: objective for objective in front.objectives}
    limits: dict[str, float] = {}
    for text in texts:
        found = re.fullmatch(r"\s*([^<>=]*[^<>=\s])\s*(<=|>=)\s*([-+]?\d+(?:\.\d*)?|[-+]?\.\d+)\s*", text)
        if found is None:
            raise BadInputError(f"--limit must read like 'cost<=120', with <= or >=, got {text!r}.")
        name, sign, number = found[1], found[2], float(found[3])
        if name not in kinds:
            raise BadInputError(f"--limit names the objective {name!r}, but the front has {front.names}.")
        wanted = "<=" if kinds[name].sign > 0 else ">="
        if sign != wanted:
            raise BadInputError(
                f"--limit on {name!r} must read {name}{wanted}NUMBER, as {name} is to {kinds[name].sense}imise, got {text!r}."
            )
        better = min if wanted == "<=" else max
        limits[name] = better(number, limits.get(name, number))
    return limits


def _within(front: "Front", limits: dict[str, float]) -> "NDArray[np.bool_]":
    """Mark the points within limits; there may be none."""
    import numpy as np

    inside = np.ones(len(front), dtype=bool)
    for name, number in limits.items():
        column = front.names.index(name)
        sign = front.objectives[column].sign
        inside &= front.values[:, column] * sign <= number * sign
    return inside


def _status(front: "Front") -> str:
    """Return the status that goes with a proof."""
    from shortlist.front import ProofKind, Status

    complete = front.proof.kind is ProofKind.COMPLETE
    if not len(front):
        return str(Status.INFEASIBLE if complete else Status.UNKNOWN)
    return str(Status.OPTIMAL if complete else Status.FEASIBLE)


def _selected(front: "Front", picked: "Pick") -> list[str]:
    return [name for name, value in zip(front.candidates, picked.decision.tolist(), strict=True) if value]


STAGED_METHODS = ("emsco", "enumerate")
"""Methods whose decisions are the stage of each feature, from 0; -1 is a feature that is never bought."""


def _stages(front: "Front", picked: "Pick") -> dict[str, list[str]]:
    """Return the features bought at each stage."""
    stages = sorted(set(picked.decision.tolist()) - {-1})
    names = list(zip(front.candidates, picked.decision.tolist(), strict=True))
    return {f"stage {stage + 1}": [name for name, at in names if at == stage] for stage in stages}


def _pick_facts(front: "Front", picked: "Pick") -> dict[str, Any]:
    chosen = _stages(front, picked) if front.method in STAGED_METHODS else _selected(front, picked)
    return {"rule": picked.rule, "index": picked.index, "values": picked.values, "selection": chosen}


def _print_table(front: "Front", kept: "NDArray[np.bool_]", rows: int) -> None:
    """Print the points within the limits."""
    frame = front.to_frame()[kept]
    if not len(frame):
        return
    print()
    print(frame.head(rows or len(frame)).to_string())
    if rows and len(frame) > rows:
        print(f"... and {len(frame) - rows:,} more; all with --rows 0.")


def _print_pick(front: "Front", picked: "Pick") -> None:
    """Print one point and what is chosen for it."""
    values = ", ".join(f"{name} {value:g}" for name, value in picked.values.items())
    print()
    print(f"Point {picked.index} by {picked.rule}: {values}.")
    if front.method in STAGED_METHODS:
        for stage, features in _stages(front, picked).items():
            print(f"{stage}: {', '.join(features)}")
        return
    chosen = _selected(front, picked)
    print(f"Selected {len(chosen)} of {len(front.candidates)}: {', '.join(chosen)}")


def _write(front: "Front", picked: "Pick", model: Path | None, out: Path) -> None:
    """Write the product of a point, checked against its model if that is given."""
    from shortlist.errors import BadInputError
    from shortlist.products.evaluation import evaluate
    from shortlist.products.formats import read_model
    from shortlist.products.formats.configurations import write_configuration
    from shortlist.products.model import make_model

    if not set(picked.decision.tolist()) <= {0, 1} or not front.candidates:
        raise BadInputError("a product can be written from a front of products, got another kind of front.")
    if model is None:
        write_configuration(out, make_model(front.candidates), picked.decision)
        return
    line = read_model(model)
    if line.labels != front.candidates:
        raise BadInputError(f"{model} must be the model that the front was made from: its features differ.")
    broken = evaluate(line, picked.decision)
    if broken:
        raise BadInputError(
            f"the point's product breaks a rule of {model}: {broken[0]}. Is it the right model?"
        )
    write_configuration(out, line, picked.decision)
