"""`shortlist prune`: choose the classifiers that vote, with proof or by a rule."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shortlist._words import all_of
from shortlist.cli.options.prune_options import (
    EXACT,
    USES,
    check_numbers,
    numbers_or_name,
    read_member_costs,
    rule_pruner,
)
from shortlist.cli.options.unused import refuse_unused
from shortlist.cli.text.measured_table import measured_facts, one_answer_notes, print_measured
from shortlist.cli.text.output import finite, print_json, print_notes, run_facts, stopped_by

if TYPE_CHECKING:
    from shortlist.ensembles.estimators.exact_pruner import ExactPruner
    from shortlist.ensembles.estimators.rule_estimators import PluralityPruner
    from shortlist.ensembles.pruning.objective_choice import Choice
    from shortlist.ensembles.studies.holdout import PrunedTable
    from shortlist.ensembles.studies.reached import Reached


def prune(
    context: typer.Context,
    table: Annotated[
        str, typer.Argument(help="CSV, Parquet or Excel file, - for stdin, or example:breast-cancer.")
    ],
    *,
    target: Annotated[str, typer.Option(help="Column that holds the class.")] = "target",
    method: Annotated[
        str,
        typer.Option(
            help="exact, or a rule: full, best-single, random, margin, kappa, kappa-pairs, backfitting, "
            "reduced-error, complementariness, concurrency, uwa, orientation, margin-distance, drep."
        ),
    ] = EXACT,
    methods: Annotated[
        str | None,
        typer.Option(help="Compare several by cross-validation: all, or names such as exact,margin,uwa."),
    ] = None,
    stop: Annotated[
        str, typer.Option(help="Which prefix a rule's order keeps: best by accuracy, or by its own fitness.")
    ] = "accuracy",
    objective: Annotated[
        str,
        typer.Option(
            help="accuracy, balanced-accuracy, theta-weighted, recall, specificity, precision-cost, perhaps "
            "with +margin, +slope-8 or +auto; auto; or weights such as tp=1,tn=1,fp=-5,fn=0."
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
    solver: Annotated[
        str,
        typer.Option(
            help="auto, or highs, cpsat, scip: that one alone, on the paper's program, or a slope's for "
            "every size."
        ),
    ] = "auto",
    seed: Annotated[int, typer.Option(help="Seed of the split, the pool and the solver.")] = 0,
    jobs: Annotated[int, typer.Option(help="Workers and solver threads; -1 for every core.")] = -1,
    folds: Annotated[int, typer.Option(help="Of --methods: folds.")] = 10,
    repeats: Annotated[int, typer.Option(help="Of --methods: repeats, each with other folds.")] = 1,
    store: Annotated[
        Path | None, typer.Option(help="Of --methods: JSON-lines file to resume from; every fold is added.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Model file to write, for shortlist predict; with --methods a Parquet table."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Choose the classifiers that vote, with proof or by a rule.

    Splits the rows 63 : 27 : 10, fits a pool of classifiers on the first part, chooses members and threshold
    on the second, and reports on the third. Ctrl-C stops the proof and keeps the best selection found. With
    --methods it does so in every fold of a cross-validation, and ranks the methods.
    """
    from shortlist.cli.files import JOURNAL_FILE, MODEL_FILE, RESULTS_FILE, check_files

    check_files(
        inputs={"TABLE": table, "--pool": pool, "--member-costs": member_costs},
        outputs={"--out": out, "--store": store},
        endings={"--out": MODEL_FILE if methods is None else RESULTS_FILE, "--store": JOURNAL_FILE},
    )
    from shortlist.cli.text.delivery import save
    from shortlist.cli.work import check_found, long_work
    from shortlist.ensembles.estimators.exact_pruner import ExactPruner
    from shortlist.ensembles.pools.pool import load_pool
    from shortlist.ensembles.studies.holdout import prune_table
    from shortlist.tables.fingerprints import table_fingerprint
    from shortlist.tables.learning import read_table, split_target

    check_numbers(context.params)
    refuse_unused(context, USES)
    notes: list[str] = []
    X, y = split_target(read_table(table, notes), target, drop=drop or (), notes=notes)
    given = load_pool(pool, trust=trust) if pool else None
    costs: list[float] | None = None
    if member_costs is not None and given is not None:
        costs, unknown = read_member_costs(member_costs, given.names)
        if unknown:
            notes.append(
                f"{member_costs} also prices {all_of(unknown, most=8)}, not in the pool: passed over."
            )
    exact = ExactPruner(
        given,
        objective=numbers_or_name(objective, "--objective"),
        positive=positive,
        diversity=numbers_or_name(diversity, "--diversity"),
        min_size=min_size,
        max_size=max_size,
        member_costs=costs,
        max_cost=max_cost,
        time_limit_s=time_limit,
        solver=solver,
        n_jobs=jobs,
        random_state=seed,
    )
    print_notes(notes)  # now, while there is time to stop
    about = run_facts(context) | {"data": table_fingerprint(X, y).as_dict()}
    if methods is not None:
        from shortlist.cli.commands.prune_methods import compare

        compare(
            Path(table).name.split(".")[0], X, y.to_numpy(), methods, exact=exact, stop=stop,
            folds=folds, repeats=repeats, classifiers=classifiers, seed=seed, jobs=jobs, store=store, out=out,
            about=about | {"notes": notes}, json=json,
        )  # fmt: skip
        return
    pruner = exact if method == EXACT else rule_pruner(method, stop, given, seed, jobs)
    with long_work() as (cancellation, report):
        pruned = prune_table(
            X, y.to_numpy(), pruner,
            n_classifiers=classifiers, seed=seed, n_jobs=jobs, report=report, cancellation=cancellation,
        )  # fmt: skip
        check_found(bool(pruned.test), cancellation)
        saved = None
        if out is not None and pruned.test:
            names = [str(column) for column in X.columns]
            saved = save(out, lambda path: _save(pruned.pruner, names, target, path))
    facts = (
        _exact_facts(pruned.pruner, solver)
        if isinstance(pruned.pruner, ExactPruner)
        else _rule_facts(pruned, method, stop)
    )
    if pruned.test:
        found = one_answer_notes(
            pruned.only_answer, pruned.test["pruned"].only_answer, who="the selection", rows="validation"
        )
        print_notes(found)
        notes += found
    if json:
        print_json({"command": "prune"} | facts | _shared_facts(pruned, saved) | {"notes": notes} | about)
    else:
        _print(pruned, facts, saved)


def _save(pruner: "ExactPruner | PluralityPruner", features: list[str], target: str, out: Path) -> None:
    """Write the members, without the pool that they were chosen from."""
    from shortlist.ensembles.estimators.exact_pruner import ExactPruner
    from shortlist.ensembles.pools.pool import as_pool
    from shortlist.saved_models import SavedModel, save_model

    if isinstance(pruner, ExactPruner) and pruner.max_cost is not None and pruner.member_costs is None:
        costs = as_pool(pruner.pool).costs
        pruner.member_costs = None if costs is None else costs.tolist()  # `verify` needs them
    pruner.pool = None
    save_model(SavedModel(pruner, tuple(features), target), out)


def _exact_facts(pruner: "ExactPruner", solver: str) -> dict[str, Any]:
    """Return what exact pruning found and proved."""
    from shortlist.ensembles.pruning.evidence import evidence_of

    result = pruner.result_
    return {
        "method": f"exact-{solver}",
        "status": str(result.status),
        "seconds": result.seconds,
        "objective": result.objective.name,
        "value": finite(result.value),
        "bound": finite(result.bound),
        "gap": finite(result.gap),
        "certified_bound": getattr(result, "certified_bound", None),
        "proof": None if result.reason else evidence_of(result, solver).as_dict(),
        "limit": result.proof.limit,
        "reason": result.reason,
        "history": [[seconds, value, bound] for seconds, value, bound in result.history],
        "choice": None if pruner.choice_ is None else _choice_facts(pruner.choice_),
        "positive": None if pruner.positive_ is None else str(pruner.positive_),
        "threshold": pruner.threshold_,
    }


def _choice_facts(choice: "Choice") -> dict[str, Any]:
    """Return what an objective was chosen by."""
    return {
        "setting": dataclasses.asdict(choice.setting),
        "reason": choice.reason,
        "tried": [
            dataclasses.asdict(one.setting) | {"score": one.score, "error": finite(one.error)}
            for one in choice.tried
        ],
    }


def _rule_facts(pruned: "PrunedTable", method: str, stop: str) -> dict[str, Any]:
    """Return what a rule found; it proves nothing."""
    from shortlist.ensembles.pruning.evidence import evidence_of_rule

    pruner: Any = pruned.pruner
    binary = len(pruner.classes_) == 2
    return {
        "method": method,
        "status": "feasible",
        "seconds": pruned.seconds,
        "objective": "accuracy",
        "value": pruner.accuracy_,
        "bound": None,
        "gap": None,
        "certified_bound": None,
        "proof": evidence_of_rule(pruner.accuracy_).as_dict(),
        "limit": "",
        "reason": "",
        "positive": str(pruner.classes_[1]) if binary else None,
        "threshold": len(pruner.members_) // 2 if binary else None,
        "stop": stop,
    }


def _shared_facts(pruned: "PrunedTable", saved: Path | None) -> dict[str, Any]:
    """Return what every method of pruning reports."""
    members = [
        name for name, chosen in zip(pruned.pool.names, pruned.pruner.selection_, strict=True) if chosen
    ]
    return {
        "selection": members,
        "n_classifiers": len(pruned.pool),
        "size": len(members),
        "rows": pruned.n_rows,
        "only_answer": {
            "validation": pruned.only_answer,
            "test": pruned.test["pruned"].only_answer if pruned.test else None,
        },
        **(pruned.reached.as_dict(tuple(members)) if pruned.reached else {"cost": None, "diversity": None}),
        "test": measured_facts(pruned.test),
        "model": None if saved is None else str(saved),
    }


def _choice_text(choice: dict[str, Any]) -> str:
    """Say what objective was chosen, and why."""
    setting = choice["setting"]
    what = f"objective {setting['second'] or 'alone'}, at most {setting['max_size']} members"
    if not choice["tried"]:
        return f"Taken without a comparison: {what}; {choice['reason']}."
    best = choice["tried"][0]["score"]
    own = next(one["score"] for one in choice["tried"] if _same(one, setting))
    return (
        f"Chosen by cross-validation among {len(choice['tried'])} settings: {what} ({own:.4f}; best "
        f"{best:.4f})."
    )


def _same(tried: dict[str, Any], setting: dict[str, Any]) -> bool:
    return all(tried[name] == value for name, value in setting.items())


def _print(pruned: "PrunedTable", facts: dict[str, Any], saved: Path | None) -> None:
    """Print the answer for people."""
    rows = pruned.n_rows
    about = f"positive class {facts['positive']}" if facts["positive"] is not None else "plurality decides"
    print(f"{rows['train']} rows to fit, {rows['validation']} to prune, {rows['test']} to test; {about}.")
    if not pruned.test:
        print(f"Status {facts['status']}: {facts['reason']}. No model was written.")
        return
    decision = (
        "the class with most votes wins"
        if facts["threshold"] is None
        else f"positive when more than {facts['threshold']} of them vote so"
    )
    print(f"Chosen: {len(pruned.pruner.pool_)} of {len(pruned.pool)} classifiers; {decision}.")
    if choice := facts.get("choice"):
        print(_choice_text(choice))
    limit = f", {stopped_by(facts['limit'])}" if facts["limit"] else ""
    print(f"{facts['proof']['sentence']} ({facts['seconds']:.2f} s{limit}).")
    if pruned.reached is not None:
        _print_reached(pruned.reached)
    print()
    print_measured(pruned.test)
    print()
    print("Members: " + ", ".join(pruned.pruner.pool_.names))
    if saved is not None:
        print(f"Saved to {saved}; use it with: shortlist predict {saved} NEW.csv --out ANSWERS.csv")


def _print_reached(reached: "Reached") -> None:
    """Print what the members cost, and how differently they fail."""
    if reached.cost is not None:
        budget = "" if reached.max_cost is None else f", of at most {reached.max_cost:g}"
        print(f"The members cost {reached.cost:g} together{budget}.")
    if reached.mean_pfc is not None:
        mean, each = (
            "" if least is None else f" (at least {least:.4f} wanted)"
            for least in (reached.least_mean, reached.least_each)
        )
        lowest = float(reached.each_pfc.min())
        print(f"Diversity: mean PFC {reached.mean_pfc:.4f}{mean}, lowest of a member {lowest:.4f}{each}.")
