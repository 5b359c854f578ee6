"""`shortlist prune`: choose the classifiers that vote, with proof."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist.cli.output import as_gap, finite, print_json

if TYPE_CHECKING:
    from shortlist.ensembles.estimators import ExactPruner
    from shortlist.ensembles.holdout import PrunedTable


def prune(
    table: Annotated[str, typer.Argument(help="CSV or Parquet file, or example:breast-cancer.")],
    *,
    target: Annotated[str, typer.Option(help="Column that holds the class.")] = "target",
    objective: Annotated[
        str,
        typer.Option(
            help="accuracy, balanced-accuracy, theta-weighted, recall, specificity, precision-cost, "
            "or weights such as tp=1,tn=1,fp=-5,fn=0."
        ),
    ] = "accuracy",
    positive: Annotated[
        str | None, typer.Option(help="Class that counts as positive; default the last, sorted.")
    ] = None,
    pool: Annotated[
        Path | None, typer.Option(help="joblib file with fitted classifiers; default: fit a pool.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Load the pool file although loading runs the code in it.")
    ] = False,
    classifiers: Annotated[int, typer.Option(help="Size of the pool to fit.")] = 100,
    diversity: Annotated[
        str,
        typer.Option(
            help="none, average, each (F1, F2, F3 of the paper), or limits such as each=0.2,mean=0.4."
        ),
    ] = "none",
    min_size: Annotated[int, typer.Option(help="Least number of members.")] = 1,
    max_size: Annotated[int | None, typer.Option(help="Most members.")] = None,
    member_costs: Annotated[
        Path | None, typer.Option(help="CSV with columns name,cost: one row per classifier.")
    ] = None,
    max_cost: Annotated[float | None, typer.Option(help="Most that the members may cost together.")] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out, such as an id; may be repeated.")
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for the proof.")] = 60.0,
    solver: Annotated[str, typer.Option(help="highs, cpsat or scip.")] = "highs",
    seed: Annotated[int, typer.Option(help="Seed of the split, the pool and the solver.")] = 0,
    jobs: Annotated[int, typer.Option(help="Workers and solver threads; -1 for every core.")] = -1,
    out: Annotated[Path | None, typer.Option(help="Model file to write, for shortlist predict.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Choose the classifiers that vote, with proof.

    Splits the rows 63 : 27 : 10, fits a pool of classifiers on the first part, chooses members and threshold on the
    second, and reports on the third. Ctrl-C stops the proof and keeps the best selection found.
    """
    from shortlist.cli.progress import live_progress
    from shortlist.datasets.tables import read_table, split_target
    from shortlist.ensembles.estimators import ExactPruner
    from shortlist.ensembles.holdout import prune_table
    from shortlist.ensembles.pool import load_pool
    from shortlist.files import check_writable
    from shortlist.runs import cancel_on_interrupt

    if out is not None:
        check_writable(out)
    X, y = split_target(read_table(table), target, drop=drop or ())
    given = load_pool(pool, trust=trust) if pool else None
    costs = None if member_costs is None else _member_costs(member_costs, given.names if given else None)
    pruner = ExactPruner(
        given,
        objective=_numbers_or_name(objective, "objective"),
        positive=positive,
        diversity=_numbers_or_name(diversity, "diversity"),
        min_size=min_size,
        max_size=max_size,
        member_costs=costs,
        max_cost=max_cost,
        time_limit_s=time_limit,
        solver=solver,
        n_jobs=jobs,
        random_state=seed,
    )
    with cancel_on_interrupt() as cancellation, live_progress() as report:
        pruned = prune_table(
            X, y.to_numpy(), pruner,
            n_classifiers=classifiers, seed=seed, n_jobs=jobs, report=report, cancellation=cancellation,
        )  # fmt: skip
    saved = None
    if out is not None and pruned.test:
        _save(pruned.pruner, [str(column) for column in X.columns], target, out)
        saved = out
    if json:
        print_json(_facts(pruned, solver, saved))
    else:
        _print(pruned, saved)


def _numbers_or_name(text: str, option: str) -> Any:
    """Read ``a=1,b=2`` as a dict of numbers; anything else is a name."""
    from shortlist.errors import BadInputError

    if "=" not in text:
        return text
    numbers: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        try:
            numbers[name.strip()] = float(number)
        except ValueError:
            raise BadInputError(
                f"--{option} must be a name or name=number,..., got {part.strip()!r}."
            ) from None
    return numbers


def _member_costs(path: Path, names: tuple[str, ...] | None) -> list[float]:
    """Read the cost of every classifier of a given pool."""
    from shortlist.datasets.tables import read_table, select_columns, shown
    from shortlist.errors import BadInputError

    if names is None:
        raise BadInputError("--member-costs prices the classifiers of a given pool. Pass --pool as well.")
    table = select_columns(read_table(path), ["name", "cost"])
    costs = dict(zip(table["name"].astype(str), table["cost"], strict=True))
    missing = [name for name in names if name not in costs]
    if missing:
        raise BadInputError(f"{path} must price every classifier of the pool; missing: {shown(missing)}.")
    return [costs[name] for name in names]


def _save(pruner: "ExactPruner", features: list[str], target: str, out: Path) -> None:
    """Write the members, without the pool that they were chosen from."""
    from shortlist.saved_models import SavedModel, save_model

    pruner.pool = None
    save_model(SavedModel(pruner, tuple(features), target), out)


def _facts(pruned: "PrunedTable", solver: str, saved: Path | None) -> dict[str, Any]:
    """Return the contract of every command, and what only pruning has."""
    pruner, result = pruned.pruner, pruned.pruner.result_
    members = [name for name, chosen in zip(pruned.pool.names, result.mask, strict=True) if chosen]
    return {
        "command": "prune",
        "method": f"exact-{solver}",
        "status": str(result.status),
        "seconds": result.seconds,
        "objective": result.objective.name,
        "value": finite(result.value),
        "bound": finite(result.bound),
        "gap": finite(result.gap),
        "limit": result.proof.limit,
        "reason": result.reason,
        "positive": str(pruner.positive_),
        "selection": members,
        "n_classifiers": len(pruned.pool),
        "threshold": result.threshold,
        "size": len(members),
        "rows": pruned.n_rows,
        "test": {name: measured.as_dict() for name, measured in pruned.test.items()},
        "model": None if saved is None else str(saved),
    }


def _print(pruned: "PrunedTable", saved: Path | None) -> None:
    """Print the answer for people."""
    result, pruner = pruned.pruner.result_, pruned.pruner
    rows = pruned.n_rows
    print(
        f"{rows['train']} rows to fit, {rows['validation']} to prune, {rows['test']} to test; positive class {pruner.positive_}."
    )
    if not pruned.test:
        print(f"Status {result.status}: {result.reason}.")
        return
    proof = "proved optimal" if result.gap == 0 else f"at most {as_gap(result.gap)} below the best there is"
    print(
        f"Chosen: {int(result.mask.sum())} of {len(pruned.pool)} classifiers; "
        f"positive when more than {result.threshold} of them vote so."
    )
    limit = f", stopped by the limit of {result.proof.limit}" if result.proof.limit else ""
    print(f"{result.objective.name} {result.value:.6g} on the validation rows, bound {result.bound:.6g}: {proof} "
          f"({result.seconds:.2f} s{limit}).")  # fmt: skip
    print()
    print(
        f"{'on the test rows':<18}{'size':>5}{'accuracy':>10}{'balanced':>10}{'TP':>7}{'FN':>7}{'TN':>7}{'FP':>7}{'ms/1000':>9}"
    )
    for name, measured in pruned.test.items():
        counts = measured.confusion
        print(
            f"{name.replace('_', ' '):<18}{measured.size:>5}{counts.accuracy:>10.4f}{counts.balanced_accuracy:>10.4f}"
            f"{counts.true_positive:>7}{counts.false_negative:>7}{counts.true_negative:>7}{counts.false_positive:>7}"
            f"{measured.ms_per_1000_rows:>9.1f}"
        )
    print()
    print("Members: " + ", ".join(pruner.pool_.names))
    if saved is not None:
        print(f"Saved to {saved}; use it with: shortlist predict {saved} NEW.csv --out ANSWERS.csv")
