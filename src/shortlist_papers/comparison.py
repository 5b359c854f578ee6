"""Comparison for all experiments: methods on units, with means, intervals, ranks and tests.

Results are a table with a row for each method on each unit, and a column ``method``. A unit is a fold, a
split or a run, identified by other columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.errors import BadInputError
from shortlist.pickles import saved_from, saved_path
from shortlist.runs.records import as_settings

if TYPE_CHECKING:
    import pandas as pd

FOLD = ("dataset", "repeat", "fold")
"""Columns that identify a fold of a cross-validation over several tables."""

TEN_FOLDS = 1 / 9
"""Number of test rows over the number of training rows in one of ten folds: the overlap of :func:`margin`."""


def complete(
    results: "pd.DataFrame", methods: Sequence[str] | None = None, *, units: Sequence[str] = FOLD
) -> "pd.DataFrame":
    """Return the rows of some methods, by default all, on units in which each of these was measured."""
    names = set(results["method"] if methods is None else methods)
    part = results[results["method"].isin(names)]
    return part[part.groupby(list(units))["method"].transform("nunique") == len(names)]


def side_by_side(results: "pd.DataFrame", measures: Sequence[str]) -> "pd.DataFrame":
    """Return a row for each method, with summaries of its measures over the units.

    Methods are in the order of their first rows. The columns are ``n_units``, and for each measure its mean
    under its own name, ``_deviation`` (n - 1 in the denominator; missing for one unit), ``_margin`` (see
    :func:`margin`) and ``_median``.
    """
    found = results.groupby("method", sort=False).size().to_frame("n_units")
    for measure in measures:
        values = results[measure].astype(float).groupby(results["method"], sort=False)
        found[measure], found[f"{measure}_median"] = values.mean(), values.median()
        found[f"{measure}_deviation"], found[f"{measure}_margin"] = values.std(), values.agg(margin)
    return found


def margin(values: Any, overlap: float = 0.0) -> float:
    """Return the 95 % margin of a mean: Student's quantile times the standard error; NaN for one value.

    `overlap`: for values on splits that share rows, the ratio of the number of test rows to the number of
    other rows. The ratio is added to 1/n in the variance of the mean (:cite:t:`Nadeau2003`); 1 gives the
    margin of one further value.

    >>> round(margin(np.array([1.0, 2.0, 3.0])), 3), round(margin(np.array([1.0, 2.0, 3.0]), 1 / 3), 3)
    (2.484, 3.513)
    """
    from scipy.stats import t

    n = len(values)
    if n < 2:
        return float("nan")
    return float(t.ppf(0.975, n - 1) * np.std(np.asarray(values), ddof=1) * np.sqrt(1 / n + overlap))


def with_margin(values: Any, digits: int = 1, overlap: float = 0.0) -> str:
    """Return a mean as text, with its 95 % margin if there are several values."""
    mean = f"{float(values.mean()):.{digits}f}"
    return mean if len(values) < 2 else f"{mean} ± {margin(values, overlap):.{digits}f}"


def shown_p(p: float) -> str:
    """Return a p-value to three digits in words that follow "p is".

    >>> shown_p(0.2914), shown_p(0.0004)
    ('0.291', 'below 0.001')
    """
    return f"{p:.3f}" if p >= 0.001 else "below 0.001"


def ranks(values: "pd.DataFrame") -> "pd.DataFrame":
    """Return ranks of the methods, which are columns, in every row.

    The largest value has rank 1, and ties share their mean rank.

    Values that differ only in the thirteenth decimal are equal.
    """
    return values.round(12).rank(axis=1, ascending=False)


def rank_folds(results: "pd.DataFrame") -> "pd.DataFrame":
    """Return each method's means over the folds, and its mean rank by accuracy, best first.

    Folds that lack a method are left out of all figures. Folds of one table share rows, so these ranks are
    descriptive and no test; over several tables use :func:`rank_methods`. Raises BadInputError if no fold
    holds every method.

    `results`: result of :func:`compare_methods`. If it has a column ``within_limit``, a method with false in
    some fold has no rank, and comes last.

    One row per method with the columns ``rank``, ``accuracy``, ``accuracy_deviation``, ``balanced_accuracy``,
    ``size``, ``seconds``, with prices ``cost``, and ``n_folds``.
    """
    whole = complete(results.dropna(subset=["accuracy"]), list(results["method"]))
    if whole.empty:
        raise BadInputError(
            "ranks need a fold in which every method was measured. Finish the comparison first."
        )
    shown = ["balanced_accuracy", "size", "seconds", *(["cost"] if "cost" in results else [])]
    means = side_by_side(whole, ["accuracy", *shown]).rename(columns={"n_units": "n_folds"})
    ranked = whole[~whole["method"].isin(over_limit(results))]
    means["rank"] = ranks(ranked.pivot_table(index=list(FOLD), columns="method", values="accuracy")).mean()
    columns = ["method", "rank", "accuracy", "accuracy_deviation", *shown, "n_folds"]
    return means.sort_values("rank", kind="stable").reset_index()[columns]


def over_limit(results: "pd.DataFrame") -> list[str]:
    """Return the methods with false in the column ``within_limit`` of some fold, in their order."""
    if "within_limit" not in results:
        return []
    return list(dict.fromkeys(results.loc[~results["within_limit"].astype(bool), "method"]))


@saved_from("shortlist_papers")
@dataclass(frozen=True)
class RankTest:
    """Test of differences between methods over tables (:cite:t:`Demsar2006`)."""

    mean_ranks: dict[str, float]
    """Mean rank of every method, best first; rank 1 is best, and tied methods share their mean rank."""
    n_tables: int
    """Number of ranked tables."""
    chi_square: float
    chi_square_p: float
    """p-value of Friedman's statistic without correction for ties."""
    f: float
    f_p: float
    """p-value of Iman and Davenport's less conservative statistic."""
    alpha: float
    """Level of the critical difference."""
    critical_difference: float
    """Least difference of mean ranks at which two methods differ (Nemenyi)."""


def rank_methods(results: "pd.DataFrame", *, metric: str = "accuracy", alpha: float = 0.05) -> RankTest:
    """Rank methods by their mean over folds on every table, and test whether they differ.

    Parameters
    ----------
    results : DataFrame
        From :func:`compare_methods`, complete.
    metric : str, default="accuracy"
        A column where more is better.
    alpha : float, default=0.05
        Level of the critical difference, in (0, 1).

    Raises
    ------
    BadInputError
        If there are fewer than two methods or tables, a method was not measured on a table, or `alpha` is out
        of range.

    Notes
    -----
    With k methods and N tables χ² = 12N/(k(k+1)) · (Σ R_j² − k(k+1)²/4), F = (N−1)χ² / (N(k−1) − χ²), and the
    critical difference is q_α √(k(k+1)/6N), q_α the studentised range over √2.
    """
    from scipy import stats

    if not 0 < alpha < 1:
        raise BadInputError("alpha", "must be between 0 and 1", repr(alpha))
    means = results.pivot_table(index="dataset", columns="method", values=metric, aggfunc="mean", sort=False)
    n, k = means.shape
    if n < 2 or k < 2:
        raise BadInputError(f"ranks need at least two tables and two methods, got {n} and {k}.")
    if means.isna().to_numpy().any():
        raise BadInputError("every method must be measured on every table. Finish the comparison first.")
    of_tables = ranks(means).mean().sort_values(kind="stable")
    chi_square = 12 * n / (k * (k + 1)) * (float((of_tables**2).sum()) - k * (k + 1) ** 2 / 4)
    rest = n * (k - 1) - chi_square
    f = (n - 1) * chi_square / rest if rest > 1e-9 else np.inf
    studentised = float(stats.studentized_range.ppf(1 - alpha, k, np.inf))
    return RankTest(
        {str(name): float(rank) for name, rank in of_tables.items()},
        n,
        chi_square,
        float(stats.chi2.sf(chi_square, k - 1)),
        float(f),
        float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
        alpha,
        studentised / np.sqrt(2) * float(np.sqrt(k * (k + 1) / (6 * n))),
    )


def write_results(results: "pd.DataFrame", path: str | Path) -> None:
    """Write results as Parquet, completely or not at all; raise NotWrittenError if that fails."""
    import pyarrow as pa

    from shortlist.files import write_parquet

    write_parquet(pa.Table.from_pandas(results, preserve_index=False, nthreads=1), path)


def described(method: Any) -> str:
    """Return an estimator's class and parameters as text, the same in every process and for every seed."""
    given = {
        name: saved_path(value) if hasattr(value, "__qualname__") else value
        for name, value in sorted(method.get_params().items())
        if name != "random_state"
    }
    shown = ", ".join(f"{name}={value!r}" for name, value in as_settings(given).items())
    return f"{type(method).__name__}({shown})"
