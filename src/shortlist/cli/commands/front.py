"""`shortlist front`: look at a saved front, take one point of it, and write it for a spreadsheet."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.options.pairs import read_numbers
from shortlist.cli.options.unused import Use, refuse_unused
from shortlist.cli.text.delivery import save
from shortlist.cli.text.output import print_json, print_notes, run_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from shortlist.results.front import Front
    from shortlist.results.picking import Pick

app = typer.Typer(
    help="Look at a saved front, take one point of it, or write it as CSV.", no_args_is_help=True
)

PICK_USES = (
    Use(
        ("weights",),
        lambda given: given["rule"] in {"ideal", "weights"} or not (given["rule"] or given["minimise"]),
        "--rule weights and --rule ideal",
    ),
    Use(
        ("minimise",),
        lambda given: given["rule"] in {None, "lexicographic"},
        "--rule lexicographic",
        "take that rule",
    ),
    Use(("model",), lambda given: given["out"] is not None, "--out, which is written from it", "pass --out"),
)
"""When each option of ``front pick`` is used; those of the other commands always are."""


@app.command()
def show(
    context: typer.Context,
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
    from shortlist._validation import as_choice, as_count
    from shortlist.cli.options.limits import read_limits
    from shortlist.cli.text.front_text import front_facts, front_status, proof_text, range_lines
    from shortlist.results.front import Front
    from shortlist.results.picking import RULES, mark_within, why_none

    as_count(rows, "--rows", at_least=0)
    if pick is not None:
        as_choice(pick, "--pick", RULES)
    loaded = Front.load(front)
    limits = read_limits(limit or (), loaded.names)
    kept = mark_within(loaded, limits)
    picked = loaded.pick(pick, limits=limits) if pick is not None and kept.any() else None
    notes = [] if kept.any() else [why_none(loaded, limits)]
    print_notes(notes)
    if json:
        facts: dict[str, Any] = {
            "command": "front show",
            "method": loaded.method,
            "status": front_status(loaded),
            "seconds": loaded.seconds,
            **front_facts(loaded),
            "points": loaded.values[kept][: rows or None].tolist(),
            "n_within_limits": int(kept.sum()),
            "pick": None if picked is None else _pick_facts(loaded, picked),
            "notes": notes,
            **run_facts(context),
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
    context: typer.Context,
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
    out: Annotated[
        Path | None, typer.Option(help="Product to write: .uvl, .csv or .config; stages: .csv.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Take one point of a front by a rule, and write what to choose for it."""
    from shortlist.cli.files import PRODUCT_FILE, check_files

    check_files(
        inputs={"FRONT": front, "--model": model}, outputs={"--out": out}, endings={"--out": PRODUCT_FILE}
    )
    from shortlist._validation import as_choice
    from shortlist.cli.options.limits import read_limits
    from shortlist.cli.text.front_text import front_status
    from shortlist.results.front import Front
    from shortlist.results.picking import RULES, mark_within, why_none

    if rule is not None:
        as_choice(rule, "--rule", RULES)
    refuse_unused(context, PICK_USES)
    factors = read_numbers(weights, "weights") if weights else None
    loaded = Front.load(front)
    order = _order(loaded, minimise or ())
    limits = read_limits(limit or (), loaded.names)
    facts = {
        "command": "front pick",
        "method": loaded.method,
        "status": "infeasible",
        "seconds": loaded.seconds,
        "n_points": len(loaded),
        "proof": str(loaded.proof.kind),
        **run_facts(context),
    }
    if not mark_within(loaded, limits).any():
        _tell_none(loaded, why_none(loaded, limits), facts, json=json)
        return
    chosen_rule = rule or ("lexicographic" if order else "weights" if weights else "ideal")
    picked = loaded.pick(chosen_rule, weights=factors, order=order, limits=limits)
    notes = []
    if out is not None:
        out = save(out, lambda path: _write(loaded, picked, model, path))
        if model is None and out.suffix == ".uvl":
            notes.append("The product is not checked and has no tree: pass --model FILE for both.")
    print_notes(notes)
    if json:
        facts |= {"status": front_status(loaded), "reason": "", **_pick_facts(loaded, picked)}
        print_json(facts | {"out": None if out is None else str(out), "notes": notes})
        return
    _print_pick(loaded, picked)
    if out is not None:
        print(f"Saved to {out}.")


@app.command()
def export(
    context: typer.Context,
    front: Annotated[Path, typer.Argument(help="Front written with --out.")],
    *,
    out: Annotated[Path, typer.Option(help="CSV file to write: a row per point, a column per feature.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Write a front as CSV: a row per point, with its objectives and with every feature by name."""
    from shortlist.cli.files import TABLE_FILE, check_files

    check_files(inputs={"FRONT": front}, outputs={"--out": out}, endings={"--out": TABLE_FILE})
    from shortlist.cli.text.front_text import front_status
    from shortlist.results.front import Front

    loaded = Front.load(front)
    out = save(out, loaded.save)
    if json:
        facts = {
            "command": "front export",
            "method": loaded.method,
            "status": front_status(loaded),
            "seconds": loaded.seconds,
            "n_points": len(loaded),
            "proof": str(loaded.proof.kind),
            "out": str(out),
            "notes": [],
        }
        print_json(facts | run_facts(context))
        return
    print(
        f"{len(loaded):,} points with {len(loaded.objectives)} objectives and {len(loaded.candidates):,} "
        f"features in {out}."
    )


def _tell_none(front: "Front", reason: str, facts: dict[str, Any], *, json: bool) -> None:
    """Answer that no point of a front is within the limits."""
    from shortlist.cli.text.front_text import unless_complete

    reason += unless_complete(front)
    if json:
        nothing: dict[str, Any] = {
            "reason": reason,
            "rule": None,
            "index": None,
            "values": {},
            "selection": [],
            "out": None,
        }
        print_json(facts | nothing | {"notes": []})
    else:
        print(f"Status infeasible: {reason}")


def _order(front: "Front", names: "Sequence[str]") -> list[str]:
    """Return the objectives to decide by; an objective that is maximised cannot be minimised."""
    from shortlist.errors import BadInputError

    for objective in front.objectives:
        if objective.name in names and objective.sign < 0:
            raise BadInputError(
                f"--minimise names {objective.name!r}, which the front maximises. Use --rule lexicographic "
                "or --weights."
            )
    return list(names)


def _selected(front: "Front", picked: "Pick") -> list[str]:
    return [name for name, value in zip(front.candidates, picked.decision.tolist(), strict=True) if value]


def _is_staged(front: "Front") -> bool:
    """Whether the decisions are stages of features."""
    from shortlist.results.front_csv import STAGED_METHODS

    return front.method in STAGED_METHODS


def _stages(front: "Front", picked: "Pick") -> dict[str, list[str]]:
    """Return the features bought at each stage."""
    stages = sorted(set(picked.decision.tolist()) - {-1})
    names = list(zip(front.candidates, picked.decision.tolist(), strict=True))
    return {f"stage {stage + 1}": [name for name, at in names if at == stage] for stage in stages}


def _pick_facts(front: "Front", picked: "Pick") -> dict[str, Any]:
    chosen = _stages(front, picked) if _is_staged(front) else _selected(front, picked)
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
    if _is_staged(front):
        for stage, features in _stages(front, picked).items():
            print(f"{stage}: {', '.join(features)}")
        return
    chosen = _selected(front, picked)
    print(f"Selected {len(chosen)} of {len(front.candidates)}: {', '.join(chosen)}")


def _write(front: "Front", picked: "Pick", model: Path | None, out: Path) -> None:
    """Write the product of a point, checked against its model if that is given."""
    from shortlist.errors import BadInputError
    from shortlist.products.feature_models.evaluation import evaluate
    from shortlist.products.feature_models.model import make_model
    from shortlist.products.formats import read_model
    from shortlist.products.formats.configurations import write_configuration

    if _is_staged(front):
        _write_stages(front, picked, model, out)
        return
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


def _write_stages(front: "Front", picked: "Pick", model: Path | None, out: Path) -> None:
    """Write the stage of each feature as CSV."""
    import csv
    import io

    from shortlist.errors import BadInputError
    from shortlist.files import write_text
    from shortlist.tables.csv_cells import guarded

    if model is not None or out.suffix.casefold() != ".csv":
        raise BadInputError("stages are written to a file ending in .csv, without --model. Name such a file.")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["feature", "stage"])
    for name, stage in zip(front.candidates, picked.decision.tolist(), strict=True):
        writer.writerow([guarded(name), "" if stage < 0 else stage + 1])
    write_text(out, text.getvalue())
