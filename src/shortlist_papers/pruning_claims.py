"""Every claim of :cite:t:`Bastos2022`, with what rows of its methods say about it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from shortlist._words import all_of, counted
from shortlist.results.told import wilson_interval
from shortlist_papers.claims import Claim, Finding, unmeasured
from shortlist_papers.comparison import FOLD, complete, margin, rank_methods
from shortlist_papers.pruning_tables import (
    ACCURACY_METHODS,
    BALANCED_METHODS,
    BENCHMARKS,
    SETS,
    by_repeat,
    mean_ranks,
    rank_of_variant,
)

if TYPE_CHECKING:
    import pandas as pd

EXACT = ("F1", "F2", "F3")
CLIMBERS = ("HC-CON", "HC-UWA")
NOTABLE = 0.01
"""A difference of gaps that is notable: the paper calls 4.3 against 6.1 % so, and none below half a point."""
NEGLIGIBLE = 0.005
"""A decrease of the accuracy on pruning rows that is negligible."""


def _runs(rows: "pd.DataFrame", methods: Sequence[str]) -> "pd.DataFrame | None":
    """Return the runs of folds in which all these methods were measured, or None without any."""
    if "kind" not in rows or "method" not in rows:
        return None
    runs = complete(rows[rows["kind"] == "run"], methods, units=(*FOLD, "classifiers"))
    return runs.astype({"classifiers": int}) if len(runs) else None


def _by_set(runs: "pd.DataFrame", metric: str) -> "pd.DataFrame":
    """Return the mean of every method in each case, a set with a number of classifiers."""
    return by_repeat(runs, metric).groupby(level=["dataset", "classifiers"], sort=False).mean().round(12)


def _friedman(runs: "pd.DataFrame", metric: str) -> str:
    """Return Friedman's test with the largest pools, over sets."""
    largest = runs[runs["classifiers"] == runs["classifiers"].max()]
    n_sets = largest["dataset"].nunique()
    folds = counted(int(largest.groupby("dataset")["fold"].nunique().max()), "fold")
    if n_sets < 2:
        return f"one set, {folds}"
    test = rank_methods(largest, metric=metric)
    return (
        f"{n_sets} sets of {folds}; Friedman's p = {test.chi_square_p:.2g}, critical difference "
        f"{test.critical_difference:.1f} ranks"
    )


def overfitting(runs: "pd.DataFrame", one: str, other: str) -> str:
    """Say that a method loses more from pruning rows to new rows than another one; empty if it does not.

    Lost points are paired by fold, and must differ by more than their 95 % margin.
    """
    lost = (
        runs.assign(lost=100 * (runs["validation_accuracy"] - runs["accuracy"]))
        .pivot_table(index=[*FOLD, "classifiers"], columns="method", values="lost")
        .dropna(subset=[one, other])
    )
    more = lost[one] - lost[other]
    if len(more) < 2 or not more.mean() > margin(more):
        return ""
    return (
        f"{one} fits the pruning rows more closely: it loses {lost[one].mean():.1f} points on new rows, "
        f"{other} {lost[other].mean():.1f} (difference {more.mean():.1f} ± {margin(more):.1f}, "
        f"{counted(len(more), 'pair')})."
    )


def other_stop(rows: "pd.DataFrame", metric: str) -> str:
    """Say that hill climbing ranks better if it stops by accuracy; empty where it does not."""
    told = []
    for climber in CLIMBERS:
        ranks = rank_of_variant(rows, climber, metric)
        if ranks is not None and ranks[1] < ranks[0]:
            told.append(f"{climber} has rank {ranks[1]:.2f} instead of {ranks[0]:.2f}")
    if not told:
        return ""
    return (
        f"If hill climbing keeps the most accurate prefix instead of the fittest, {all_of(told)}: a sign "
        "that the paper stopped it so."
    )


def _ranks(
    rows: "pd.DataFrame",
    metric: str,
    ahead: Sequence[str],
    behind: Sequence[str],
    why: Callable[["pd.DataFrame"], str] = lambda _rows: "",
) -> Finding | None:
    """Judge whether each of some methods has a smaller mean rank than each of the others."""
    methods = ACCURACY_METHODS if metric == "accuracy" else BALANCED_METHODS
    runs = _runs(rows, methods)
    if runs is None:
        return None
    ranks = mean_ranks(runs, metric).mean()
    parts = tuple(bool(ranks[one] < ranks[list(behind)].min()) for one in ahead)
    shown = ", ".join(f"{one} {ranks[one]:.2f}" for one in (*ahead, *behind))
    return Finding(shown, parts, _friedman(runs, metric), "" if all(parts) else why(rows))


def _means(rows: "pd.DataFrame", metric: str, ahead: Sequence[str], behind: Sequence[str]) -> Finding | None:
    """Judge whether each of some methods has a larger mean than each of the others, over all cases."""
    methods = ACCURACY_METHODS if metric == "accuracy" else BALANCED_METHODS
    runs = _runs(rows, methods)
    if runs is None:
        return None
    cases = _by_set(runs, metric)
    means = cases.mean()
    best = max(behind, key=lambda name: means[name])
    differences = 100 * (cases[ahead[0]] - cases[best])
    return Finding(
        ", ".join(f"{one} {means[one]:.4f}" for one in (*ahead, *behind)),
        tuple(bool(means[one] > means[list(behind)].max()) for one in ahead),
        f"{len(cases)} cases; {ahead[0]} less {best}: {differences.mean():.2f} ± {margin(differences):.2f} "
        "points",
    )


def _competitive(rows: "pd.DataFrame") -> Finding | None:
    runs = _runs(rows, ACCURACY_METHODS)
    if runs is None or runs["dataset"].nunique() < 2:
        return None
    ranks = mean_ranks(runs, "accuracy").mean()
    rivals = [one for one in BENCHMARKS if one != "FE"]
    largest = runs[runs["classifiers"] == runs["classifiers"].max()]
    difference = rank_methods(largest).critical_difference
    behind = float(ranks["F1"] - ranks[rivals].min())
    return Finding(
        f"F1 {ranks['F1']:.2f}, best benchmark {ranks[rivals].min():.2f}",
        (behind < difference, bool(ranks["F1"] < ranks["FE"])),
        _friedman(runs, "accuracy"),
    )


def _spread(rows: "pd.DataFrame") -> Finding | None:
    runs = _runs(rows, ACCURACY_METHODS)
    if runs is None:
        return None
    means, ranks = 100 * _by_set(runs, "accuracy").mean(), mean_ranks(runs, "accuracy").mean()
    points, places = float(means["HC-CON"] - means["BFT"]), float(ranks["BFT"] - ranks["HC-CON"])
    parts = (0 < points < 0.66, 0 < places < 0.9)
    return Finding(
        f"{points:.2f} points, {places:.2f} ranks",
        parts,
        f"{counted(len(_by_set(runs, 'accuracy')), 'case')}; holds up to twice the paper's figures",
        "" if all(parts) else other_stop(rows, "accuracy"),
    )


def _cases_ahead(rows: "pd.DataFrame", metric: str, method: str, printed: tuple[int, int]) -> Finding | None:
    """Judge a count of cases by Wilson's interval of ours, and by three quarters of the printed share."""
    runs = _runs(rows, ACCURACY_METHODS if metric == "accuracy" else BALANCED_METHODS)
    if runs is None:
        return None
    cases = _by_set(runs, metric)
    n = int((cases[method] > cases[list(BENCHMARKS)].max(axis=1)).sum())
    low, high = wilson_interval(n, len(cases))
    share = printed[0] / printed[1]
    parts = (low <= share <= high, n / len(cases) >= 0.75 * share)
    why = "" if all(parts) or metric != "accuracy" else overfitting(runs, method, "BFT")
    return Finding(
        f"{n} of {len(cases)}",
        parts,
        f"{len(cases)} cases; 95 % interval {100 * low:.0f} to {100 * high:.0f} %",
        why,
    )


def _behind_on(rows: "pd.DataFrame") -> Finding | None:
    runs = _runs(rows, BALANCED_METHODS)
    if runs is None:
        return None
    means = _by_set(runs, "balanced_accuracy").groupby(level="dataset", sort=False).mean()
    named = [one for one in ("MSK", "DRD") if one in means.index]
    if not named:
        return None
    behind = means["F1-theta"] < means[["BFT", "HC-CON", "HC-UWA"]].min(axis=1)
    shown = all_of([one for one in means.index if behind[one]]) if behind.any() else "none"
    folds = int(runs.groupby("dataset")["fold"].nunique().max())
    return Finding(
        f"behind all three on {shown}", tuple(bool(behind[one]) for one in named),
        f"{counted(len(means), 'set')} of {counted(folds, 'fold')}; no test of one set",
    )  # fmt: skip


def _dispersion(rows: "pd.DataFrame", metric: str, low: Sequence[str], high: Sequence[str]) -> Finding | None:
    """Judge mean deviations over repeats; None with one repeat."""
    runs = _runs(rows, ACCURACY_METHODS if metric == "accuracy" else BALANCED_METHODS)
    if runs is None or runs["repeat"].nunique() < 2:
        return None
    spread = 100 * by_repeat(runs, metric).groupby(level=["dataset", "classifiers"], sort=False).std().mean()
    return Finding(
        ", ".join(f"{one} {spread[one]:.2f}" for one in (*low, *high)),
        tuple(bool(spread[one] < spread[list(high)].min()) for one in low),
        f"{runs['repeat'].nunique()} repeats",
    )


def _gaps(rows: "pd.DataFrame") -> "pd.DataFrame | None":
    """Return mean gaps with the largest pools: a row for each set, a column for F1 and F3."""
    runs = _runs(rows, ("F1", "F3"))
    if runs is None:
        return None
    largest = runs[runs["classifiers"] == runs["classifiers"].max()]
    gaps = largest.astype({"gap": float}).pivot_table(
        index="dataset", columns="method", values="gap", sort=False
    )
    known = gaps.reindex(columns=["F1", "F3"]).dropna()
    return known if len(known) else None


def _hardest(rows: "pd.DataFrame") -> Finding | None:
    gaps = _gaps(rows)
    if gaps is None or "DEF" not in gaps.index:
        return None
    worst = str(gaps["F1"].idxmax())
    return Finding(
        f"{worst} {100 * gaps['F1'][worst]:.1f} % and {100 * gaps['F3'][worst]:.1f} %",
        (worst == "DEF",),
        counted(len(gaps), "set"),
    )


def _close(rows: "pd.DataFrame") -> Finding | None:
    gaps = _gaps(rows)
    if gaps is None:
        return None
    parts = tuple(bool(gap <= 0.069) for gap in gaps.max(axis=1))
    runs = _runs(rows, ("F1", "F3"))
    most = 300.0 if runs is None else float(runs["seconds"].median())
    return Finding(
        f"{100 * gaps.min().min():.1f} to {100 * gaps.max().max():.1f} %",
        parts,
        f"{counted(len(gaps), 'set')}; up to the paper's largest, 6.9 %",
        ""
        if all(parts) or most >= 300
        else f"Half of our programs had at most {most:.0f} s on one core, the paper's 300 s on eight.",
    )


def _diversity_gap(rows: "pd.DataFrame") -> Finding | None:
    gaps = _gaps(rows)
    if gaps is None or "DRD" not in gaps.index:
        return None
    more = gaps["F3"] - gaps["F1"]
    notable = [str(one) for one in more.index if more[one] >= NOTABLE]
    return Finding(
        f"DRD {100 * more['DRD']:.1f} points; most others "
        f"{100 * more.drop('DRD').max():.1f}" if len(more) > 1 else f"DRD {100 * more['DRD']:.1f} points",
        ("DRD" in notable, set(notable) <= {"DRD"}),
        f"{counted(len(gaps), 'set')}; notable from {100 * NOTABLE:g} point on",
    )  # fmt: skip


def _negligible(rows: "pd.DataFrame") -> Finding | None:
    runs = _runs(rows, EXACT)
    if runs is None:
        return None
    fitted = runs.pivot_table(index=[*FOLD, "classifiers"], columns="method", values="validation_accuracy")
    less = {one: fitted["F1"] - fitted[one] for one in ("F2", "F3")}
    return Finding(
        ", ".join(f"{one} {100 * part.mean():.2f} points less than F1" for one, part in less.items()),
        tuple(bool(part.mean() < NEGLIGIBLE) for part in less.values()),
        f"{counted(len(fitted), 'fold')}; negligible below {100 * NEGLIGIBLE:g} points",
    )


def _large(rows: "pd.DataFrame") -> Finding | None:
    gaps = _gaps(rows)
    if gaps is None:
        return None
    largest = max(map(str, gaps.index), key=lambda label: SETS[label][2])
    n_rows = int(SETS[largest][2])
    return Finding(
        f"{largest}, {n_rows:,} rows: gap {100 * gaps['F1'][largest]:.1f} %",
        (n_rows >= 60_000, bool(gaps["F1"][largest] <= 0.069)),
        "the largest set that is measured",
        "" if n_rows >= 60_000 else "The set of 60,000 rows, APS, is not at hand.",
    )


def _bounds(rows: "pd.DataFrame") -> Finding | None:
    if "gap" not in rows or "method" not in rows:
        return None
    exact = rows[rows["method"].isin((*EXACT, "F1-theta"))]
    if exact.empty:
        return None
    known = exact["gap"].astype(float).notna()
    return Finding(f"{int(known.sum())} of {len(known)} programs", (bool(known.all()),), "every exact run")


_theta = partial(_ranks, metric="balanced_accuracy")
_HC = partial(other_stop, metric="accuracy")
_HC_BALANCED = partial(other_stop, metric="balanced_accuracy")


def _f1_overfits(rows: "pd.DataFrame") -> str:
    runs = _runs(rows, ("F1", "BFT"))
    return "" if runs is None else overfitting(runs, "F1", "BFT")


CLAIMS = (
    Claim("The approach is competitive: no benchmark's rank is significantly better", "abstract, 5.4",
          "F1 3.84, best 3.61", _competitive),
    Claim("Pruned ensembles predict as well as the full one, or better", "abstract, Table 4", "FE 5.38, last",
          partial(_ranks, metric="accuracy", ahead=ACCURACY_METHODS[:-1], behind=("FE",), why=_HC)),
    Claim("Good solutions within minutes for up to 60,000 data points", "abstract, 5.3", "gap of APS 0.1 %",
          _large),
    Claim("All programs end optimal or with small gaps", "5.3, Table 3", "0 to 6.9 %", _close),
    Claim("DEF is the hardest set", "5.3, Table 3", "6.7 and 6.9 %", _hardest),
    Claim("DRD is the only set whose gap with diversity is notably larger", "5.3, Table 3",
          "1.8 points; most others 0.2", _diversity_gap),
    Claim("APS has gaps of 0.1 % in both cases", "5.3, Table 3", "0.1 and 0.1 %", unmeasured,
          "The set APS is not at hand."),
    Claim("Diversity constraints hardly make solutions worse", "4", "negligible", _negligible),
    Claim("HC-CON and HC-UWA are slightly ahead of F1, F2 and F3 by rank", "5.4, Table 4",
          "3.61, 3.61 against 3.84, 3.74, 3.75",
          partial(_ranks, metric="accuracy", ahead=CLIMBERS, behind=EXACT, why=_HC)),
    Claim("HC-CON and HC-UWA are ahead in mean accuracy too", "5.4", "",
          partial(_means, metric="accuracy", ahead=CLIMBERS, behind=EXACT)),
    Claim("But for FE, BFT is last and HC-CON first, and they are close", "5.4", ".33 points, .45 ranks",
          _spread),
    Claim("Diversity raises the mean accuracy", "5.4", "",
          partial(_means, metric="accuracy", ahead=("F2", "F3"), behind=("F1",))),
    Claim("Diversity lowers the mean rank", "5.4, Table 4", "3.74, 3.75 against 3.84",
          partial(_ranks, metric="accuracy", ahead=("F2", "F3"), behind=("F1",))),
    Claim("F2 outperforms all benchmarks in 11 of 36 cases", "5.4", "11 of 36",
          partial(_cases_ahead, metric="accuracy", method="F2", printed=(11, 36))),
    Claim("HC-CON and HC-UWA have a higher dispersion than F1, F2, F3", "5.4", "",
          partial(_dispersion, metric="accuracy", low=EXACT, high=CLIMBERS),
          "One repeat has no dispersion over repeats."),
    Claim("Diversity lowers the dispersion", "5.4", "",
          partial(_dispersion, metric="accuracy", low=("F2", "F3"), high=("F1",)),
          "One repeat has no dispersion over repeats."),
    Claim("F1 outperforms all benchmarks in balanced accuracy", "5.5, Table 6", "2.94, best benchmark 3.27",
          partial(_theta, ahead=("F1",), behind=BENCHMARKS, why=_f1_overfits)),
    Claim("θ-weighted F1 outperforms all benchmarks in balanced accuracy", "5.5, Table 6",
          "2.40, best benchmark 3.27", partial(_theta, ahead=("F1-theta",), behind=BENCHMARKS)),
    Claim("θ-weighted F1 has a better rank than F1", "5.5, Table 6", "2.40 against 2.94",
          partial(_theta, ahead=("F1-theta",), behind=("F1",))),
    Claim("θ-weighted F1 has the highest mean balanced accuracy", "5.5, Table 5", ".8665, next .8433",
          partial(_means, metric="balanced_accuracy", ahead=("F1-theta",), behind=("F1", *BENCHMARKS))),
    Claim("θ-weighted F1 outperforms all benchmarks in 22 of 36 cases", "5.5", "22 of 36",
          partial(_cases_ahead, metric="balanced_accuracy", method="F1-theta", printed=(22, 36))),
    Claim("θ-weighted F1 is behind the benchmarks on MSK and DRD", "5.5", "MSK, DRD", _behind_on),
    Claim("θ-weighted F1 has the lower dispersion", "5.5, Table 5", ".0063 against .0080",
          partial(_dispersion, metric="balanced_accuracy", low=("F1-theta",), high=("F1", *BENCHMARKS)),
          "One repeat has no dispersion over repeats."),
    Claim("HC-CON and HC-UWA are ahead of BFT in balanced accuracy", "Table 6", "3.27, 3.39 against 3.97",
          partial(_theta, ahead=CLIMBERS, behind=("BFT",), why=_HC_BALANCED)),
    Claim("The approach gives bounds on optimal values", "6", "", _bounds),
)  # fmt: skip
"""The claims of the abstract, the sections, the captions and the conclusions, in the paper's order."""
