"""`shortlist prune --methods`: pruning methods side by side on one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.cli.options.prune_options import ALL, method_names
from shortlist.cli.text.delivery import save
from shortlist.cli.text.output import print_json

if TYPE_CHECKING:
    import pandas as pd

    from shortlist.ensembles.estimators.exact_pruner import ExactPruner

MEANING = (
    "mean rank over the folds of one table, 1 is best, ties share ranks; folds share rows, so ranks over "
    "them show no significant difference: that takes several tables"
)


def compare(
    name: str,
    X: "pd.DataFrame",
    y: Any,
    methods: str,
    *,
    exact: "ExactPruner",
    stop: str,
    folds: int,
    repeats: int,
    classifiers: int,
    seed: int,
    jobs: int,
    store: Path | None,
    out: Path | None,
    about: dict[str, Any],
    json: bool,
) -> None:
    """Measure the methods in every fold, rank them, and print the table."""
    import time

    from joblib import parallel_config

    from shortlist.cli.work import long_work
    from shortlist.ensembles.pools.members import calm_fits
    from shortlist.ensembles.studies.holdout import check_pruner
    from shortlist.ensembles.studies.method_comparison import compare_methods, write_results
    from shortlist.ensembles.studies.ranks import rank_folds
    from shortlist.errors import ShortlistError

    chosen = _chosen(methods, exact, stop)
    for pruner in chosen.values():
        check_pruner(pruner, y, classifiers)
    start = time.monotonic()
    # threads: Ctrl-C in a terminal would kill worker processes, and each of those would import everything
    # anew
    threads = parallel_config(backend="threading")
    with calm_fits(), threads, long_work(store) as (cancellation, report):
        results = compare_methods(
            {name: (X, y)}, chosen, n_folds=folds, n_repeats=repeats, n_classifiers=classifiers,
            random_state=seed,
            n_jobs=jobs, store=store, report=report, cancellation=cancellation,
        )  # fmt: skip
        seconds = time.monotonic() - start
        if results.empty:
            raise ShortlistError("the comparison was stopped before a fold was finished.")
        if out is not None:
            out = save(out, lambda path: write_results(results, path))
    ranked = rank_folds(results)
    total = folds * repeats
    done = int(ranked["n_folds"].iloc[0])
    if json:
        print_json(
            {
                "command": "prune",
                "method": "comparison",
                "status": "feasible",
                "seconds": seconds,
                "limit": "interrupted" if done < total else "",
                "table": name,
                "n_folds": done,
                "n_folds_wanted": total,
                "ranks": MEANING,
                "methods": _records(ranked),
                "folds": _records(results),
                "out": None if out is None else str(out),
                "store": None if store is None else str(store),
            }
            | about
        )
        return
    if done < total:
        print(f"Stopped after {done} of {total} folds.")
    print(
        f"{name}: {done} folds, pools of {classifiers} classifiers; the same pool for every method of a fold."
    )
    print()
    print(f"{'method':<20}{'rank':>6}{'accuracy':>10}{'±':>8}{'balanced':>10}{'size':>7}{'seconds':>9}")
    for row in ranked.fillna(0.0).itertuples():
        print(
            f"{row.method:<20}{row.rank:>6.2f}{row.accuracy:>10.4f}{row.accuracy_deviation:>8.4f}"
            f"{row.balanced_accuracy:>10.4f}{row.size:>7.1f}{row.seconds:>9.3f}"
        )
    print()
    print(f"Rank: {MEANING}.")
    print("±: standard deviation over the folds. Seconds: choosing alone, without the pool.")
    if out is not None:
        print(f"Every fold in {out}.")


def _chosen(methods: str, exact: "ExactPruner", stop: str) -> dict[str, Any]:
    """Return the unfitted methods."""
    from shortlist.ensembles.estimators.rule_estimators import OrderedPruner
    from shortlist.ensembles.rules.orderings import RULES_WITH_FITNESS
    from shortlist.ensembles.studies.method_comparison import pruning_methods

    names = None if methods == ALL else method_names(methods)
    chosen = pruning_methods(names)
    if "exact" in chosen:
        # folds are the units of parallel work, so each proof has one thread
        chosen["exact"] = exact.set_params(n_jobs=None)
    for method in chosen.values():
        if isinstance(method, OrderedPruner) and (stop != "fitness" or method.rule in RULES_WITH_FITNESS):
            method.set_params(stop=stop)
    return chosen


def _records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return rows for JSON, which has no NaN."""
    return [
        # only NaN differs from itself
        {name: None if value != value else value for name, value in row.items()}  # noqa: PLR0124
        for row in frame.to_dict("records")
    ]
