"""Which methods do better: mean ranks over tables or folds, and Friedman's test (:cite:t:`Demsar2006`)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shortlist.errors import BadInputError
from shortlist.pickles import saved_from

if TYPE_CHECKING:
    import pandas as pd


@saved_from("shortlist.papers")
@dataclass(frozen=True)
class RankTest:
    """Whether methods differ over tables (:cite:t:`Demsar2006`).

    Attributes
    ----------
    mean_ranks : dict of str to float
        Mean rank of every method, best first; 1 is best, ties share their mean rank.
    n_tables : int
        Tables that rank.
    chi_square, chi_square_p : float
        Friedman's statistic without correction for ties, and how probable one as large is if the methods are
        equal.
    f, f_p : float
        The same for Iman and Davenport's less conservative statistic.
    alpha : float
        Level of the critical difference.
    critical_difference : float
        Methods whose mean ranks differ by at least this much differ (Nemenyi).
    """

    mean_ranks: dict[str, float]
    n_tables: int
    chi_square: float
    chi_square_p: float
    f: float
    f_p: float
    alpha: float
    critical_difference: float


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
    ranks = means.round(12).rank(axis=1, ascending=False).mean().sort_values(kind="stable")
    chi_square = 12 * n / (k * (k + 1)) * (float((ranks**2).sum()) - k * (k + 1) ** 2 / 4)
    rest = n * (k - 1) - chi_square
    f = (n - 1) * chi_square / rest if rest > 1e-9 else np.inf
    studentised = float(stats.studentized_range.ppf(1 - alpha, k, np.inf))
    return RankTest(
        {str(name): float(rank) for name, rank in ranks.items()},
        n,
        chi_square,
        float(stats.chi2.sf(chi_square, k - 1)),
        float(f),
        float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
        alpha,
        studentised / np.sqrt(2) * float(np.sqrt(k * (k + 1) / (6 * n))),
    )


def rank_folds(results: "pd.DataFrame", *, metric: str = "accuracy") -> "pd.DataFrame":
    """Return each method's means over the folds, and its mean rank in them, best first.

    Within a fold 1 is the best rank, and ties share their mean rank. Folds that lack a method are left out of
    everything. Folds of one table share rows, so these ranks describe and test nothing; over several tables
    use :func:`rank_methods`.

    Parameters
    ----------
    results : DataFrame
        From :func:`compare_methods`. Where it has a column ``within_limit``, methods that it says False of in
        some fold have no rank, and come last.
    metric : str, default="accuracy"
        A column where more is better.

    Returns
    -------
    DataFrame
        One row per method with the columns ``rank``, ``accuracy``, ``accuracy_deviation`` (over the folds, n
        − 1 below; missing for one fold), ``balanced_accuracy``, ``size``, ``seconds``, where there are prices
        ``cost``, and ``n_folds``.

    Raises
    ------
    BadInputError
        If no fold holds every method.
    """
    names = list(dict.fromkeys(results["method"]))
    by_fold = results.pivot_table(index=["dataset", "repeat", "fold"], columns="method", values=metric)
    complete = by_fold.reindex(columns=names).dropna()
    if complete.empty:
        raise BadInputError(
            "ranks need a fold in which every method was measured. Finish the comparison first."
        )
    kept = results.set_index(["dataset", "repeat", "fold"]).loc[complete.index].groupby("method", sort=False)
    priced = [column for column in ("cost",) if column in results]
    means = kept[["accuracy", "balanced_accuracy", "size", "seconds", *priced]].mean()
    allowed = complete.drop(columns=over_limit(results))
    means.insert(0, "rank", allowed.round(12).rank(axis=1, ascending=False).mean())
    means.insert(2, "accuracy_deviation", kept["accuracy"].std())
    means["n_folds"] = len(complete)
    return means.sort_values("rank", kind="stable").reset_index()


def over_limit(results: "pd.DataFrame") -> list[str]:
    """Return the methods that a column ``within_limit`` says False of in some fold, in their order."""
    if "within_limit" not in results:
        return []
    over = results.loc[~results["within_limit"].astype(bool), "method"]
    return list(dict.fromkeys(over))
