"""Comparison of multi-stage classifiers and their opponents, on the same splits of one table."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice, as_count, as_seed
from shortlist.arrays import Labels
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.holdout import measure_on, split_three
from shortlist.runs import Budget, Unit, Work, run_units
from shortlist.runs.budget import processor_seconds
from shortlist.runs.records import digest_of_arrays
from shortlist.tables.fingerprints import table_fingerprint
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import Cases
from shortlist_papers.comparison import described, side_by_side
from shortlist_papers.opponents.budgeted_classifier import BudgetedClassifier, CostOrderedStages, SingleStage
from shortlist_papers.opponents.cost_sensitive_tree import CSTC
from shortlist_papers.opponents.greedy_miser import GreedyMiser
from shortlist_papers.opponents.lasso import CactLasso, L1Path
from shortlist_papers.opponents.lightgbm_trees import CostAwareLightGBM
from shortlist_papers.opponents.submodular_tree import ASTC

if TYPE_CHECKING:
    import pandas as pd

OPPONENTS: dict[str, type[BudgetedClassifier]] = {
    "greedy-miser": GreedyMiser,
    "cstc": CSTC,
    "astc": ASTC,
    "co-t": CostOrderedStages,
    "cact-lasso": CactLasso,
    "single": SingleStage,
    "lightgbm": CostAwareLightGBM,
    "l1-path": L1Path,
}
"""Opponents by name: the opponents of the paper, then common methods of today."""
SEARCHES = ("emsco", "enumerate", "windows")
"""Names of the methods that search stage assignments, compared with the opponents."""
COLUMNS = ("seed", "method", "coverage", "accuracy", "cost", "aggregate", "seconds")
"""Columns of a result: the split, the method, its measures on the test rows, and processor seconds of
fitting.
"""


def stage_methods(names: Sequence[str] | None = None, **options: Any) -> dict[str, Any]:
    """Return unfitted classifiers by name; by default evolution and all opponents.

    Raises BadInputError if a name is unknown.

    `names`: names in :data:`SEARCHES` and :data:`OPPONENTS`. `**options`: parameters that all classifiers
    have, such as ``feature_costs`` and ``confidence``.
    """
    known = (*SEARCHES, *OPPONENTS)
    wanted = ["emsco", *OPPONENTS] if names is None else list(names)
    return {
        name: MultiStageClassifier(method=name, **{"removal": False} | options)
        if name in SEARCHES
        else OPPONENTS[name](**options)
        for name in (as_choice(each, "method", known) for each in wanted)
    }


def compare_stage_methods(
    X: Any,
    y: Labels,
    methods: Mapping[str, Any],
    *,
    n_seeds: int = 10,
    random_state: int = 0,
    cases: Cases | None = None,
    work: Work | None = None,
) -> "pd.DataFrame":
    """Fit and measure every method on the splits of several seeds.

    A seed splits the rows 50 : 25 : 25 by class (Sec. 4.3.1 of :cite:t:`Hamilton2022`) and is the seed of
    every method: the first part fits, the second chooses settings or points, the third measures. Raises
    BadInputError if a class has too few rows to be in every part, a number is out of range, or the study
    belongs to another table or other settings.

    `results`, which it returns: one row per seed and method, with the columns of :data:`COLUMNS`; only
    complete seeds. `methods`: unfitted, such as the result of :func:`stage_methods`. `n_seeds`: at least 1.
    `random_state`: the first seed; each further seed is one more. `cases`: case of each row,
    ``(n_samples,)``. All rows of a case are in one part. `work`: workers, with one seed of a method at a time
    each; the study that keeps finished results, to which seeds and methods may be added later; progress; and
    a way to stop with the finished seeds.
    """
    import pandas as pd

    y = np.asarray(y)
    first = as_seed(random_state, "random_state")
    seeds = range(first, first + as_count(n_seeds, "n_seeds"))
    as_seed(seeds[-1], "the last seed")
    split_three(y, seed=first, cases=cases)
    work = Work() if work is None else work
    if work.study.keeps:
        work.study.bind({"the table": table_fingerprint(X, y).digest})
        if cases is not None:
            work.study.bind({"the cases": digest_of_arrays([cases])})
        work.study.bind({f"the method {name}": described(method) for name, method in methods.items()})
    units = [
        Unit(
            f"{seed}/{name}",
            partial(measure_split, cases=cases),
            (X, y, name, method, seed),
            kind=name,
            whole=True,
        )
        for seed in seeds
        for name, method in methods.items()
    ]
    found = {key: row for key, row in run_units(units, work, stage="comparing") if row is not None}
    whole = [seed for seed in seeds if all(f"{seed}/{name}" in found for name in methods)]
    return pd.DataFrame(
        [found[f"{seed}/{name}"] for seed in whole for name in methods], columns=list(COLUMNS)
    )


def measure_split(
    X: Any, y: Labels, name: str, method: Any, seed: int, *, budget: Budget, cases: Cases | None = None
) -> dict[str, Any]:
    """Fit a method on the split of one seed, and measure it on the test rows of the split."""
    start = processor_seconds()
    fitted, test = fit_on_split(X, y, method, seed, budget=budget, cases=cases)
    seconds = processor_seconds() - start
    return {"seed": seed, "method": name, **measures_of(fitted, X, y, test), "seconds": seconds}


def fit_on_split(
    X: Any, y: Labels, method: Any, seed: int, *, budget: Budget, cases: Cases | None = None
) -> tuple[Any, NDArray[np.int64]]:
    """Return a method fitted on the split of one seed, and the indices of its test rows."""
    from sklearn.base import clone

    fit, held, test = split_three(y, seed=seed, cases=cases)
    classifier = clone(method).set_params(random_state=seed)
    validation = (take_rows(X, held), y[held])
    fitted = fit_quietly(classifier, take_rows(X, fit), y[fit], validation, cancellation=budget.cancellation)
    return fitted, test


def measures_of(fitted: Any, X: Any, y: Labels, test: NDArray[np.int64]) -> dict[str, float]:
    """Return coverage, accuracy, cost and their sum on the test rows."""
    found = measure_on(fitted, take_rows(X, test), y[test])
    return {
        "coverage": found.coverage, "accuracy": found.accuracy, "cost": found.cost,
        "aggregate": found.aggregate,
    }  # fmt: skip


def fit_quietly(classifier: Any, X: Any, y: Labels, validation: tuple[Any, Labels], **run: Any) -> Any:
    """Fit a classifier without the warning about few answered rows, as a comparison reports their share."""
    import warnings

    from shortlist.errors import LowCoverageWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowCoverageWarning)
        return classifier.fit(X, y, validation=validation, **run)


def with_margins(results: "pd.DataFrame") -> "pd.DataFrame":
    """Return the mean of every method over the seeds, best sum first, with 95 % margins.

    Seeds share rows, so a margin measures the effect of splits on this table only.

    A row per method: ``method``, ``n_seeds``, the mean of every measure under its name, and
    ``coverage_margin``, ``accuracy_margin``, ``cost_margin`` and ``aggregate_margin``.
    """
    *measures, seconds = COLUMNS[2:]
    shown = [name for measure in measures for name in (measure, f"{measure}_margin")]
    means = side_by_side(results, COLUMNS[2:]).rename(columns={"n_units": "n_seeds"})
    best_first = means.sort_values("aggregate", ascending=False, kind="stable").reset_index()
    return best_first[["method", "n_seeds", *shown, seconds]]
