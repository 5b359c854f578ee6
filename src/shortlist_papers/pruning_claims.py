"""Claims of :cite:t:`Bastos2022`, and their judges."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shortlist._words import all_of, counted
from shortlist.results.intervals import CHANCE, MARGIN, wilson_interval
from shortlist_papers.claims import (
    ClaimFinding,
    Need,
    PaperClaim,
    Part,
    above,
    below,
    beside,
    facts,
    figure,
    needed,
    sets_and_folds,
    share_figure,
    shown_mean,
    unmeasured,
)
from shortlist_papers.comparison import TEN_FOLDS, ranks
from shortlist_papers.pruning_reasons import behind_backfitting, hardly_binds, other_stop, overfitting
from shortlist_papers.pruning_tables import (
    BENCHMARKS,
    CLIMBERS,
    OTHER_BENCHMARKS,
    RANKED,
    SETS,
    by_fold,
    by_repeat,
    runs_with,
    whole_pools,
)

if TYPE_CHECKING:
    import pandas as pd

EXACT = ("F1", "F2", "F3")
LARGEST_GAP = 0.069
"""Largest gap in the paper, which calls it small."""
NOTABLE = 0.8
"""Half of the distance between the two largest gaps of the paper, in points: 1.8 for DRD, 0.2 for the next
set.
"""
UNITS = {"rank": "ranks", "mean": "points"}

RUNS = {"kind": "run"}
FORTY = RUNS | {"classifiers": 40}
HUNDRED = RUNS | {"classifiers": 100}
FOLDS = Need(10, "folds of each set, by pools of 40", "fold", FORTY, each="dataset")
"""Need of ten folds, which test each row of a set once. Pools with fewer folds are not compared."""
SETS_THERE = Need(8, "sets", "dataset", RUNS)
POOLS = Need(100, "classifiers in a pool", "classifiers", RUNS, largest=True)
LIMIT = Need(300, "seconds a program", "limit_s", HUNDRED, largest=True)
"""Need of the paper's time limit on each program."""
REPEATS = Need(10, "repeats of a set", "repeat", RUNS)
COMPARED = (FOLDS, SETS_THERE)
"""Extent of a comparison of methods."""
SOLVED = (SETS_THERE, POOLS)
"""Extent of a claim about the programs of Table 3."""
GAPS = (*SOLVED, LIMIT)
"""Extent of a claim about gaps."""


def _compared(rows: "pd.DataFrame", methods: Sequence[str]) -> "pd.DataFrame":
    """Return the runs with all these methods, by the numbers of classifiers with all folds."""
    return needed(whole_pools(runs_with(rows, methods)))


def _cases(runs: "pd.DataFrame", metric: str) -> "pd.DataFrame":
    """Return the mean of every method in each case, which is a set with a number of classifiers."""
    return by_repeat(runs, metric).groupby(level=["dataset", "classifiers"], sort=False).mean().round(12)


def _scores(runs: "pd.DataFrame", metric: str, measure: str) -> "pd.DataFrame":
    """Return a score per set and method, where more is better: per cent, or ranks with opposite signs."""
    values = by_repeat(runs, metric)
    scores = -ranks(values) if measure == "rank" else 100 * values
    cases = scores.groupby(level=["dataset", "classifiers"], sort=False).mean()
    return cases.groupby(level="dataset", sort=False).mean()


def _of(runs: "pd.DataFrame") -> str:
    return "; ".join(
        f"pools of {size}, {sets_and_folds(part)}" for size, part in runs.groupby("classifiers", sort=True)
    )


def _order(
    rows: "pd.DataFrame",
    *,
    metric: str,
    ahead: Sequence[str],
    behind: Sequence[str],
    measure: str = "rank",
    among: Sequence[str] = (),
    why: Callable[["pd.DataFrame", Sequence[str]], str] = lambda _rows, _lacking: "",
) -> ClaimFinding:
    """Judge whether each method of `ahead` is ahead of the best method of `behind`, paired by set.

    `among`: the methods that are ranked together; by default the methods of the paper's table. `why`: returns
    the reason, given the rows of the compared pools and the methods that are not surely ahead.
    """
    runs = _compared(rows, among or RANKED[metric])
    scores = _scores(runs, metric, measure)
    best = scores[list(behind)].mean().idxmax()
    more = {(one, str(best)): scores[one] - scores[best] for one in ahead}
    parts = tuple(above(values) for values in more.values())
    means = scores.mean().abs()
    least = min(more, key=lambda pair: more[pair].mean())
    lacking = [pair[0] for pair, part in zip(more, parts, strict=True) if not (part.same and part.sure)]
    same_pools = rows[rows["classifiers"].isin(runs["classifiers"])]
    return ClaimFinding(
        ", ".join(f"{one} {means[one]:.2f}" for one in (*ahead, *behind))
        + (" %" if measure == "mean" else ""),
        parts,
        f"{_of(runs)}; {least[0]} is {beside(more[least], UNITS[measure])} {least[1]}",
        "" if all(part.same for part in parts) else why(same_pools, lacking),
    )


def _competitive(rows: "pd.DataFrame") -> ClaimFinding:
    runs = _compared(rows, RANKED["accuracy"])
    own = -_scores(runs, "accuracy", "rank")["F1"]
    middle = (len(RANKED["accuracy"]) + 1) / 2
    return ClaimFinding(
        f"F1 {own.mean():.2f}", (below(own, middle),),
        f"{_of(runs)}; {beside(middle - own, 'ranks')} the middle, {middle:g}",
    )  # fmt: skip


def _spread(rows: "pd.DataFrame") -> ClaimFinding:
    runs = _compared(rows, RANKED["accuracy"])
    more = {
        UNITS[measure]: (scores := _scores(runs, "accuracy", measure))["HC-CON"] - scores["BFT"]
        for measure in ("mean", "rank")
    }
    parts = (figure(more["points"], 0.33, 0), figure(more["ranks"], 0.45, 0))
    return ClaimFinding(
        ", ".join(shown_mean(values, unit, 2) for unit, values in more.items()),
        parts,
        f"{_of(runs)}; HC-CON less BFT",
        ""
        if all(part.same for part in parts)
        else other_stop(rows[rows["classifiers"].isin(runs["classifiers"])], "accuracy", ("HC-CON",)),
    )


def _cases_ahead(rows: "pd.DataFrame", metric: str, method: str, printed: tuple[int, int]) -> ClaimFinding:
    """Judge a printed number of cases in which a method beats all benchmarks; by chance it is 1 of 5.

    Cases of one set share its rows, so the interval is computed as if there were one case per set.
    """
    runs = _compared(rows, RANKED[metric])
    cases = _cases(runs, metric)
    n = int((cases[method] > cases[list(BENCHMARKS)].max(axis=1)).sum())
    n_sets = cases.index.unique("dataset").size
    of_sets = n * n_sets / len(cases)
    part = share_figure(of_sets, n_sets, printed[0] / printed[1], 1 / (1 + len(BENCHMARKS)))
    low, high = wilson_interval(of_sets, n_sets)
    return ClaimFinding(
        f"{n} of {len(cases)}", (part,),
        f"95 % interval of {counted(n_sets, 'set')}: {100 * low:.0f} to {100 * high:.0f} %; chance 20 %",
        "" if part.same or metric != "accuracy" else overfitting(runs, method, "BFT"),
    )  # fmt: skip


def _behind_on(rows: "pd.DataFrame") -> ClaimFinding:
    runs = _compared(rows, RANKED["balanced_accuracy"])
    folds = by_fold(runs, "balanced_accuracy")
    less = folds[["BFT", *CLIMBERS]].mean(axis=1) - folds["F1-theta"]
    named = needed([one for one in ("MSK", "DRD") if one in less.index.unique("dataset")])
    return ClaimFinding(
        ", ".join(f"{one} {shown_mean(less[one], 'points', overlap=TEN_FOLDS)} behind" for one in named),
        tuple(above(less[one], overlap=TEN_FOLDS) for one in named),
        f"{_of(runs)}; mean of BFT, HC-CON and HC-UWA, by fold",
    )  # fmt: skip


def _imbalanced(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge whether θ gains most on the sets of Table 2 with less than a quarter of one class."""
    runs = _compared(rows, RANKED["balanced_accuracy"])
    folds = by_fold(runs, "balanced_accuracy")
    gained = folds["F1-theta"] - folds["F1"]
    few = [one for one in gained.index.unique("dataset") if min(SETS[one][3:5]) < SETS[one][2] / 4]
    others = gained[~gained.index.isin(few, level="dataset")]
    few = [one for one in few if SETS[one][2] >= 30_000]
    needed(few)
    needed(others)
    rest = float(others.mean())
    return ClaimFinding(
        ", ".join(f"{one} {shown_mean(gained[one], 'points', overlap=TEN_FOLDS)}" for one in few)
        + f", others {rest:.1f}",
        tuple(above(gained[one], rest, overlap=TEN_FOLDS) for one in few),
        f"{_of(runs)}; F1-theta less F1, by fold",
    )  # fmt: skip


def _dispersion(rows: "pd.DataFrame", metric: str, low: Sequence[str], high: Sequence[str]) -> ClaimFinding:
    """Judge deviations of `low` over repeats against the least deviation of `high`.

    Only cases with several repeats are judged. Sets without repeats add a part without a direction.
    """
    runs = runs_with(rows, RANKED[metric])
    repeated = 100 * by_repeat(runs, metric).unstack("repeat").dropna().stack("repeat", future_stack=True)
    needed(repeated)
    cases = [part for _, part in repeated.groupby(level=["dataset", "classifiers"], sort=False)]
    spread = repeated.groupby(level=["dataset", "classifiers"], sort=False).std()
    n = repeated.index.unique("repeat").size
    sets = sorted({str(one) for one in spread.index.unique("dataset")})
    alone = len(sets) < runs["dataset"].nunique()
    return ClaimFinding(
        ", ".join(f"{one} {spread[one].mean():.2f}" for one in (*low, *high)),
        (
            *(
                less_dispersed(part[one], part[part[list(high)].std().idxmin()])
                for part in cases
                for one in low
            ),
            *([Part(False, False, True)] if alone else []),
        ),
        f"{counted(n, 'repeat')} of {all_of(sets)}{' alone' if alone else ''}, "
        "each method and set a part (Pitman and Morgan's test)",
    )


def less_dispersed(one: "pd.Series[float]", other: "pd.Series[float]") -> Part:
    """Judge whether one deviation is less than another, by Pitman and Morgan's paired test.

    >>> import pandas as pd
    >>> wide = pd.Series([0.0, 9.0, 1.0, 8.0, 2.0, 10.0])
    >>> less_dispersed(wide / 9, wide), less_dispersed(wide, wide)
    (Part(same=True, sure=True, chance=False), Part(same=False, sure=False, chance=True))
    """
    from scipy.stats import pearsonr

    total, less = one + other, other - one
    same = bool(other.std() > one.std() + 1e-9)
    if min(np.ptp(total), np.ptp(less)) < 1e-9:
        return Part(same, False, True)
    beyond = bool(pearsonr(total, less).pvalue < CHANCE)
    return Part(same, same and beyond, not beyond)


def _gaps(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return gaps of the largest pools in per cent: a row for each set and fold, columns F1 and F3."""
    runs = runs_with(rows, ("F1", "F3"))
    gaps = by_fold(runs[runs["classifiers"] == runs["classifiers"].max()].astype({"gap": float}), "gap")
    known = gaps.reindex(columns=["F1", "F3"]).dropna()
    return needed(known)


def _limit_of(rows: "pd.DataFrame") -> str:
    """Return words on the limit of our programs, to follow the evidence of a finding on gaps."""
    limits = rows.loc[rows["method"] == "F1", "limit_s"].dropna() if "limit_s" in rows else ()
    return f"; {max(limits):g} s of one processor for each program, the paper 300 s" if len(limits) else ""


def _above_others(values: "pd.Series[float]", name: str) -> "tuple[str, pd.Series[float]]":
    """Return the other set with the largest mean, and the excess of the named set over it, by fold."""
    means = values.drop(name, level="dataset").groupby(level="dataset").mean()
    worst = str(means.idxmax())
    return worst, (values[name] - values[worst]).dropna()


def _hardest(rows: "pd.DataFrame") -> ClaimFinding:
    gaps = _gaps(rows)
    needed({"DEF"} < set(gaps.index.unique("dataset")))
    worst, more = _above_others(gaps["F1"], "DEF")
    return ClaimFinding(
        ", ".join(
            f"{one} {gaps['F1'][one].mean():.1f} % and {gaps['F3'][one].mean():.1f} %"
            for one in ("DEF", worst)
        ),
        (above(more, overlap=TEN_FOLDS),),
        f"{counted(gaps.index.unique('dataset').size, 'set')}; DEF less {worst}: "
        f"{shown_mean(more, 'points', overlap=TEN_FOLDS)}{_limit_of(rows)}",
    )


def _close(rows: "pd.DataFrame") -> ClaimFinding:
    gaps = _gaps(rows)
    worst = gaps.groupby(level="dataset", sort=False).mean().max(axis=1)
    return ClaimFinding(
        f"{worst.min():.1f} to {worst.max():.1f} %", facts(worst <= 100 * LARGEST_GAP),
        f"{counted(len(worst), 'set')}; small: up to the paper's largest, {100 * LARGEST_GAP:g} %"
        f"{_limit_of(rows)}",
    )  # fmt: skip


def _diversity_gap(rows: "pd.DataFrame") -> ClaimFinding:
    gaps = _gaps(rows)
    needed({"DRD"} < set(gaps.index.unique("dataset")))
    more = gaps["F3"] - gaps["F1"]
    worst, further = _above_others(more, "DRD")
    return ClaimFinding(
        f"DRD {more['DRD'].mean():.2f} points, {worst} {more[worst].mean():.2f}",
        (above(further, NOTABLE, TEN_FOLDS),),
        f"{counted(more.index.unique('dataset').size, 'set')}; DRD less {worst} "
        f"{shown_mean(further, 'points', 2, TEN_FOLDS)}; notable: at least {NOTABLE:g} points more, half of "
        f"the paper's distance{_limit_of(rows)}",
    )  # fmt: skip


def _negligible(rows: "pd.DataFrame") -> ClaimFinding:
    runs = runs_with(rows, EXACT)
    fitted = by_fold(runs, "validation_accuracy").groupby(level="dataset").mean()
    less = {one: fitted["F1"] - fitted[one] for one in ("F2", "F3")}
    return ClaimFinding(
        ", ".join(f"{one} {shown_mean(part, 'points', 2)} less than F1" for one, part in less.items()),
        tuple(below(part, 100 * MARGIN) for part in less.values()),
        f"{_of(runs)}; negligible: below one point",
    )


def _heuristic(rows: "pd.DataFrame") -> ClaimFinding:
    runs = runs_with(rows, RANKED["accuracy"])
    fitted = runs.pivot_table(
        index=["dataset", "repeat", "fold", "classifiers"],
        columns="method",
        values="validation_accuracy",
        sort=False,
    ).round(12)
    best = (fitted["F1"] >= fitted[list(BENCHMARKS)].max(axis=1)).groupby(level="dataset", sort=False).all()
    behind = [str(one) for one in best.index if not best[one]]
    return ClaimFinding(
        f"on {int(best.sum())} of {counted(len(best), 'set')}"
        + (f"; not on {all_of(behind)}" if behind else ""),
        facts(best),
        f"{counted(len(fitted), 'program')}; on the pruning rows no benchmark is better",
    )


def _large(rows: "pd.DataFrame") -> ClaimFinding:
    gaps = _gaps(rows)
    largest = max(map(str, gaps.index.unique("dataset")), key=lambda label: SETS[label][2])
    n_rows, gap = int(SETS[largest][2]), float(gaps["F1"][largest].mean())
    return ClaimFinding(
        f"{largest}, {n_rows:,} rows: gap {gap:.1f} %", (Part(gap <= 100 * LARGEST_GAP, n_rows >= 60_000),),
        f"the largest set that is measured; good: a gap up to {100 * LARGEST_GAP:g} %{_limit_of(rows)}",
        "" if n_rows >= 60_000 else "The set of 60,000 rows, APS, is not at hand.",
    )  # fmt: skip


def _bounds(rows: "pd.DataFrame") -> ClaimFinding:
    needed({"gap", "method"} <= set(rows.columns))
    exact = needed(rows[rows["method"].isin((*EXACT, "F1-theta"))])
    known = exact["gap"].astype(float).notna()
    return ClaimFinding(
        f"{int(known.sum())} of {len(known)} programs", facts([known.all()]), "every exact run"
    )


def _theorem(rows: "pd.DataFrame", *, diversity: bool) -> ClaimFinding:
    """Judge Theorem 1, or the mean of PFC, on every counted selection of eight classifiers."""
    needed({"kind", "same_best"} <= set(rows.columns))
    counts = needed(rows[rows["kind"] == "theorem"])
    if diversity:
        same, every = int(counts["same_diversity"].sum()), int(counts["pairs"].sum())
        return ClaimFinding(
            f"{same:,} of {every:,} selections", facts(counts["same_diversity"] == counts["pairs"]),
            f"{counted(len(counts), 'set')}; all selections of eight classifiers, in fractions",
        )  # fmt: skip
    return ClaimFinding(
        f"the same best ones on {int(counts['same_best'].sum())} of {counted(len(counts), 'set')}",
        facts(counts["same_best"]),
        f"{int(counts['selections'].sum()):,} selections of eight classifiers with thresholds, in fractions",
    )


def _redundant(rows: "pd.DataFrame", goal: str) -> ClaimFinding:
    """Judge whether rows are classified the same without (3) and (6), or without (3), on every selection."""
    column = f"redundant_{goal}"
    needed({"kind", column} <= set(rows.columns))
    counts = needed(rows[rows["kind"] == "theorem"].dropna(subset=[column]))
    n, every = int(counts[column].sum()), int(counts["programs"].sum())
    same, told = counts[column] == counts["programs"], f"{n:,} of {every:,} selections with thresholds"
    if goal == "accuracy":
        same_value = counts["same_value"].astype(bool)
        same, told = (
            same & same_value,
            f"{told}; the same best value on {same_value.sum()} of {len(counts)} sets",
        )
    return ClaimFinding(
        told,
        facts(same),
        f"{counted(len(counts), 'set')}; all selections of eight classifiers, (6) with K + 1: as printed it "
        f"forbids {int(counts['forbidden'].sum()):,} of them",
    )


def _most_balanced(rows: "pd.DataFrame") -> ClaimFinding:
    needed({"kind", "positive"} <= set(rows.columns))
    sets = needed(rows[rows["kind"] == "set"]).set_index("dataset")
    away = (sets["positive"] / sets["rows"] - 0.5).abs().sort_values()
    first = [str(one) for one in away.index[:2]]
    return ClaimFinding(
        ", ".join(f"{one} {sets['positive'][one] / sets['rows'][one]:.2f}" for one in first),
        facts(one in first for one in ("MSK", "DRD")),
        f"shares of the positive rows; next {away.index[2]}"
        if len(away) > 2
        else "shares of the positive rows",
    )


_accuracy = partial(_order, metric="accuracy")
_balanced = partial(_order, metric="balanced_accuracy")


def _other_stop(rows: "pd.DataFrame", lacking: Sequence[str], metric: str = "accuracy") -> str:
    return other_stop(rows, metric, lacking)


_other_stop_balanced = partial(_other_stop, metric="balanced_accuracy")

CLAIMS = (
    PaperClaim("Maximising the θ-weighted function is equivalent to maximising balanced accuracy",
               "3.1, Theorem 1", "", partial(_theorem, diversity=False)),
    PaperClaim("Constraints (3) and (6) are redundant where accuracy is maximised", "3.1", "",
               partial(_redundant, goal="accuracy")),
    PaperClaim("Constraints (3) are redundant where recall is maximised", "3.1", "",
               partial(_redundant, goal="recall")),
    PaperClaim("The mean PFC of the members is the mean FC of their pairs", "4", "",
               partial(_theorem, diversity=True)),
    PaperClaim("The approach is competitive: F1 ranks better than the middle of all methods",
               "abstract, 5.4, 6",
          "F1 3.84 of 7", _competitive,
          needs=COMPARED),
    PaperClaim("Pruned ensembles predict as well as the full one, or better",
               "abstract, Table 4", "FE 5.38, last",
          partial(_accuracy, ahead=RANKED["accuracy"][:-1], behind=("FE",), why=_other_stop),
          needs=COMPARED),
    PaperClaim("BFT, HC-CON, HC-UWA and FE are the best four of seven benchmarks on new rows", "5.2", "",
          partial(_accuracy, ahead=BENCHMARKS, behind=OTHER_BENCHMARKS,
                  among=(*BENCHMARKS, *OTHER_BENCHMARKS), why=_other_stop),
          needs=COMPARED),
    PaperClaim("Good solutions within minutes for up to 60,000 data points", "abstract, 5.3, 6",
              "gap of APS 0.1 %",
          _large,
          needs=SOLVED),
    PaperClaim("All programs end optimal or with small gaps", "5.3, Table 3", "0 to 6.9 %", _close,
          needs=GAPS, scale="paper"),
    PaperClaim("DEF is the hardest set", "5.3, Table 3", "6.7 and 6.9 %", _hardest,
          needs=GAPS, scale="paper"),
    PaperClaim("DRD is the only set whose gap with diversity is notably larger", "5.3, Table 3",
          "1.8 points; most others 0.2", _diversity_gap,
          needs=GAPS, scale="paper"),
    PaperClaim("APS has gaps of 0.1 % in both cases", "5.3, Table 3", "0.1 and 0.1 %", unmeasured,
          "The set APS is not at hand."),
    PaperClaim("Diversity constraints hardly make solutions worse", "4, 5.3", "negligible", _negligible,
          needs=COMPARED),
    PaperClaim("HC-CON and HC-UWA are slightly ahead of F1, F2 and F3 by rank", "5.4, Table 4",
          "3.61, 3.61 against 3.84, 3.74, 3.75",
          partial(_accuracy, ahead=CLIMBERS, behind=EXACT, why=_other_stop),
          needs=COMPARED),
    PaperClaim("HC-CON and HC-UWA are ahead in mean accuracy too", "5.4", "",
          partial(_accuracy, measure="mean", ahead=CLIMBERS, behind=EXACT),
          needs=COMPARED),
    PaperClaim("But for FE, BFT is last and HC-CON first, and they are close", "5.4", ".33 points, .45 ranks",
          _spread,
          needs=COMPARED),
    PaperClaim("Diversity raises the mean accuracy", "5.4", "",
          partial(_accuracy, measure="mean", ahead=("F2", "F3"), behind=("F1",), why=hardly_binds),
          needs=COMPARED),
    PaperClaim("Diversity lowers the mean rank", "5.4, Table 4", "3.74, 3.75 against 3.84",
          partial(_accuracy, ahead=("F2", "F3"), behind=("F1",), why=hardly_binds),
          needs=COMPARED),
    PaperClaim("F2 outperforms all benchmarks in 11 of 36 cases", "5.4", "11 of 36",
          partial(_cases_ahead, metric="accuracy", method="F2", printed=(11, 36)),
          needs=COMPARED),
    PaperClaim("HC-CON and HC-UWA have a higher dispersion than F1, F2, F3", "5.4", "",
          partial(_dispersion, metric="accuracy", low=EXACT, high=CLIMBERS),
          needs=(FOLDS, REPEATS)),
    PaperClaim("Diversity lowers the dispersion", "5.4", "",
          partial(_dispersion, metric="accuracy", low=("F2", "F3"), high=("F1",)),
          needs=(FOLDS, REPEATS)),
    PaperClaim("F1 outperforms all benchmarks in balanced accuracy, by rank", "5.5, Table 6",
          "2.94, best benchmark 3.27",
          partial(_balanced, ahead=("F1",), behind=BENCHMARKS, why=behind_backfitting),
          needs=COMPARED),
    PaperClaim("F1 outperforms all benchmarks in mean balanced accuracy", "5.5, Table 5",
          ".8433, best benchmark .8397",
          partial(_balanced, measure="mean", ahead=("F1",), behind=BENCHMARKS, why=behind_backfitting),
          needs=COMPARED),
    PaperClaim("θ-weighted F1 outperforms all benchmarks in balanced accuracy, by rank", "5.5, Table 6",
          "2.40, best benchmark 3.27", partial(_balanced, ahead=("F1-theta",), behind=BENCHMARKS),
          needs=COMPARED),
    PaperClaim("θ-weighted F1 has a better rank than F1", "5.5, Table 6", "2.40 against 2.94",
          partial(_balanced, ahead=("F1-theta",), behind=("F1",)),
          needs=COMPARED),
    PaperClaim("θ-weighted F1 has the highest mean balanced accuracy", "5.5, Table 5", ".8665, next .8433",
          partial(_balanced, measure="mean", ahead=("F1-theta",), behind=("F1", *BENCHMARKS)),
          needs=COMPARED),
    PaperClaim("θ-weighted F1 gains most on the larger, more imbalanced sets", "5.5", "DEF, BMK, APS",
              _imbalanced,
          needs=COMPARED),
    PaperClaim("θ-weighted F1 outperforms all benchmarks in 22 of 36 cases", "5.5", "22 of 36",
          partial(_cases_ahead, metric="balanced_accuracy", method="F1-theta", printed=(22, 36)),
          needs=COMPARED),
    PaperClaim("θ-weighted F1 is behind the benchmarks on MSK and DRD", "5.5", "MSK, DRD", _behind_on,
          needs=COMPARED),
    PaperClaim("MSK and DRD are the most balanced sets", "5.5, Table 2", ".44 and .53", _most_balanced,
          needs=(Need(8, "sets", "dataset", {"kind": "set"}),)),
    PaperClaim("θ-weighted F1 has the lower dispersion", "5.5, Table 5", ".0063 against .0080",
          partial(_dispersion, metric="balanced_accuracy", low=("F1-theta",), high=("F1", *BENCHMARKS)),
          needs=(FOLDS, REPEATS)),
    PaperClaim("HC-CON and HC-UWA are ahead of BFT in balanced accuracy",
               "Table 6", "3.27, 3.39 against 3.97",
          partial(_balanced, ahead=CLIMBERS, behind=("BFT",), why=_other_stop_balanced),
          needs=COMPARED),
    PaperClaim("The approach gives bounds on optimal values", "6", "", _bounds),
    PaperClaim("It serves as a heuristic under short time limits", "6", "", _heuristic),
)  # fmt: skip
"""Claims of the abstract, the sections, the captions and the conclusions, in the paper's order."""
