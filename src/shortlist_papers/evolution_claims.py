"""Every claim of :cite:t:`Gagne2007` that is known, with what rows of its methods say about it."""

from functools import partial
from typing import TYPE_CHECKING

from shortlist._words import counted
from shortlist_papers.claims import Claim, Finding, signs
from shortlist_papers.comparison import FOLD, complete, margin, rank_methods

if TYPE_CHECKING:
    import pandas as pd

COMPARED = ("offline", "single", "adaboost-stumps", "least-squares", "online")
"""The methods that are ranked together."""


def _runs(rows: "pd.DataFrame", *methods: str) -> "pd.DataFrame | None":
    if "method" not in rows:
        return None
    whole = complete(rows, methods)
    return whole if len(whole) else None


def _sets_and_folds(rows: "pd.DataFrame") -> str:
    folds = int(rows.groupby("dataset")["fold"].nunique().max())
    return f"{counted(rows['dataset'].nunique(), 'set')} of {counted(folds, 'fold')}"


def _outperforms(rows: "pd.DataFrame", other: str) -> Finding | None:
    """Judge whether Off-EEL has the smaller mean error, the better rank, and is ahead on most sets."""
    runs = _runs(rows, *COMPARED)
    if runs is None or runs["dataset"].nunique() < 2:
        return None
    ranked = rank_methods(runs)
    errors = 100 * (1 - runs.pivot_table(index="dataset", columns="method", values="accuracy", sort=False))
    gained = (errors[other] - errors["offline"]).round(9)
    ranks = ranked.mean_ranks
    return Finding(
        f"ranks {ranks['offline']:.2f} and {ranks[other]:.2f}; errors {errors['offline'].mean():.1f} and "
        f"{errors[other].mean():.1f} %",
        (
            bool(ranks["offline"] < ranks[other]),
            bool(gained.mean() > 0),
            2 * int((gained > 0).sum()) > len(gained),
        ),
        f"{_sets_and_folds(runs)}; Off-EEL ahead on {signs(gained.tolist())}; Friedman's p = "
        f"{ranked.chi_square_p:.2g}; difference {gained.mean():.1f} ± {margin(gained):.1f} points",
        _overfits(runs),
    )


def _overfits(runs: "pd.DataFrame") -> str:
    """Say that Off-EEL gains more on training rows than on new ones; empty if it does not."""
    if "training_error" not in runs:
        return ""
    errors = runs.pivot_table(index=list(FOLD), columns="method", values="training_error")
    if not {"offline", "single"} <= set(errors.columns):
        return ""
    on_training = 100 * (errors["single"] - errors["offline"])
    accuracy = runs.pivot_table(index=list(FOLD), columns="method", values="accuracy")
    on_test = 100 * (accuracy["offline"] - accuracy["single"])
    lost = on_training - on_test
    if len(lost) < 2 or not lost.mean() > margin(lost):
        return ""
    return (
        f"Selection fits the training rows: beside the best individual Off-EEL gains "
        f"{on_training.mean():.1f} points there and {on_test.mean():.1f} on new rows (difference "
        f"{lost.mean():.1f} ± {margin(lost):.1f}, {counted(len(lost), 'fold')})."
    )


def _smaller(rows: "pd.DataFrame") -> Finding | None:
    runs = _runs(rows, "offline", "online")
    if runs is None:
        return None
    sizes = runs.pivot_table(index="dataset", columns="method", values="size", sort=False)
    most = _n_stumps(rows)
    parts = tuple(bool(value < most) for value in sizes["offline"])
    return Finding(
        f"{sizes['offline'].min():.0f} to {sizes['offline'].max():.0f} members, AdaBoost {most} stumps",
        parts,
        f"{_sets_and_folds(runs)}; the number of stumps is ours, so it proves little",
    )


def _n_stumps(rows: "pd.DataFrame") -> int:
    boosted = rows.loc[rows["method"] == "adaboost-stumps", "size"].dropna()
    return int(boosted.max()) if len(boosted) else 200


def _ties(rows: "pd.DataFrame", *, finer: bool) -> Finding | None:
    if not {"ties_minimum", "ties_histogram"} <= set(rows.columns):
        return None
    counted_ties = rows.dropna(subset=["ties_minimum"])
    if counted_ties.empty:
        return None
    minimum, histogram = (100 * counted_ties[f"ties_{one}"].astype(float) for one in ("minimum", "histogram"))
    least = counted_ties.assign(share=minimum).groupby("dataset")["share"].mean()
    told = f"{minimum.mean():.0f} % of the steps by the minimum, {histogram.mean():.1f} % by the histogram"
    range_of_sets = f"{least.min():.0f} to {least.max():.0f} %"
    sure = f"selections of {_sets_and_folds(counted_ties)}; minimum, by set: {range_of_sets}"
    if finer:
        return Finding(told, (bool((histogram < minimum).all()),), sure)
    return Finding(told, tuple(bool(value > 50) for value in least), f"{sure}; many from 50 % on")


def _grows(rows: "pd.DataFrame") -> Finding | None:
    """Judge whether On-EEL as printed takes members in at all."""
    runs = _runs(rows, "online")
    if runs is None:
        return None
    alone = (runs["size"] == 1).groupby(runs["dataset"], sort=False).sum()
    n_alone = int(alone.sum())
    where = ", ".join(f"{name} {n}" for name, n in alone.items() if n)
    why = ""
    smoothed = _runs(rows, "online", "online-smoothed")
    if n_alone and smoothed is not None:
        both = smoothed.pivot_table(index=list(FOLD), columns="method", values=["size", "accuracy"])
        still = int((both["size"]["online-smoothed"] == 1).sum())
        gained = 100 * (both["accuracy"]["online-smoothed"] - both["accuracy"]["online"])
        stuck = gained[both["size"]["online"] == 1]
        if still < n_alone:
            why = (
                "With one member, rows count 0 or 1, and nothing that is bred for them improves the vote. "
                f"With 1 added to the members that get a row wrong {counted(still, 'fold')} stay at one "
                f"member, and the accuracy of those that did rises by {stuck.mean():.1f} points."
            )
    return Finding(
        f"one member in {n_alone} of {counted(len(runs), 'fold')}" + (f" ({where})" if where else ""),
        tuple(bool(n == 0) for n in alone), _sets_and_folds(runs), why,
    )  # fmt: skip


def _trade_off(rows: "pd.DataFrame") -> Finding | None:
    runs = _runs(rows, "offline", "online")
    if runs is None or "training_error" not in runs:
        return None
    members = runs.pivot_table(index="dataset", columns="method", values="size", sort=False)
    trained = 100 * runs.pivot_table(index="dataset", columns="method", values="training_error", sort=False)
    return Finding(
        f"Off-EEL {members['offline'].mean():.0f} members and {trained['offline'].mean():.1f} % training "
        f"error, On-EEL {members['online'].mean():.0f} and {trained['online'].mean():.1f} %",
        (bool((members["online"] != members["offline"]).all()),),
        _sets_and_folds(runs),
    )


CLAIMS = (
    Claim("Off-EEL outperforms single-hypothesis evolution", "abstract (not at hand, as it is known)", "",
          partial(_outperforms, other="single")),
    Claim("Off-EEL outperforms boosting", "abstract (not at hand, as it is known)", "",
          partial(_outperforms, other="adaboost-stumps")),
    Claim("Off-EEL has smaller ensembles", "abstract (not at hand, as it is known)", "", _smaller),
    Claim("The minimum margin alone leads to many ties", "3.2", "many", partial(_ties, finer=False)),
    Claim("The margin histogram is a finer criterion", "3.2, Equation 5", "", partial(_ties, finer=True)),
    Claim("On-EEL's ensemble is updated in every generation", "3.4", "", _grows),
    Claim("Off-EEL and On-EEL differ in their trade-off", "3.4", "", _trade_off),
)  # fmt: skip
"""The claims of the abstract and of Sections 3.2 to 3.4."""
