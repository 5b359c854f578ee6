"""Claims of :cite:t:`Gagne2007`, as far as its text is known, and their judges."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shortlist._words import counted
from shortlist_papers.claims import (
    ClaimFinding,
    Need,
    PaperClaim,
    Part,
    above,
    facts,
    needed,
    sets_and_folds,
    shown_mean,
)
from shortlist_papers.comparison import FOLD, TEN_FOLDS, complete, margin, rank_methods

if TYPE_CHECKING:
    import pandas as pd

NOISY_PAIRS = (("offline", "offline-noise"), ("adaboost-stumps", "adaboost-noise"))
"""Pairs of a method's name without noise and its name with noise."""

COMPARED = ("offline", "single", "adaboost-stumps", "least-squares", "online")
"""Methods that are ranked together."""

FOLDS = Need(10, "folds of each set", "fold", each="dataset")
NOISY = (
    *(
        Need(10, "folds of each set with noise", "fold", {"method": noisy}, each="dataset")
        for _, noisy in NOISY_PAIRS
    ),
    Need(4, "sets with noise", "dataset", {"method": "offline-noise"}),
)
"""Extent of a comparison with noise in the classes."""
SETS = Need(6, "sets", "dataset")
BRED = (
    Need(500, "individuals in a population", "population", largest=True),
    Need(200, "generations", "generations", largest=True),
)
EVOLVED = (FOLDS, SETS, *BRED)
"""Extent of a comparison of evolved ensembles."""
BOOSTED = (*EVOLVED, Need(200, "stumps", "stumps", largest=True))
"""Extent of a comparison with boosting."""


def _runs(rows: "pd.DataFrame", *methods: str) -> "pd.DataFrame":
    needed("method" in rows)
    return needed(complete(rows, methods))


def _by(rows: "pd.DataFrame", index: "str | list[str]", value: str) -> "pd.DataFrame":
    return rows.pivot_table(index=index, columns="method", values=value, sort=False)


def _outperforms(rows: "pd.DataFrame", other: str) -> ClaimFinding:
    """Judge whether Off-EEL has the smaller error, paired by set."""
    runs = _runs(rows, *COMPARED)
    needed(runs["dataset"].nunique() > 1)
    ranks = rank_methods(runs).mean_ranks
    errors = 100 * (1 - _by(runs, "dataset", "accuracy"))
    gained = (errors[other] - errors["offline"]).round(9)
    return ClaimFinding(
        f"errors {errors['offline'].mean():.1f} and {errors[other].mean():.1f} %, "
        f"ranks {ranks['offline']:.2f} and {ranks[other]:.2f}",
        (above(gained),),
        f"{sets_and_folds(runs)}; ahead on {int((gained > 0).sum())} sets, by {shown_mean(gained, 'points')}",
        _overfits(runs),
    )


def _overfits(runs: "pd.DataFrame") -> str:
    """Return a sentence that Off-EEL gains more on training rows than on new rows; empty if it does not."""
    if "training_error" not in runs:
        return ""
    errors = _by(runs, "dataset", "training_error")
    if not {"offline", "single"} <= set(errors.columns):
        return ""
    on_training = 100 * (errors["single"] - errors["offline"])
    accuracy = _by(runs, "dataset", "accuracy")
    on_test = 100 * (accuracy["offline"] - accuracy["single"])
    lost = on_training - on_test
    if len(lost) < 2 or not lost.mean() > margin(lost):
        return ""
    return (
        f"Selection fits the training rows: beside the best individual Off-EEL gains "
        f"{on_training.mean():.1f} points there and {on_test.mean():.1f} on new rows (difference "
        f"{lost.mean():.1f} ± {margin(lost):.1f}, {counted(len(lost), 'set')})."
    )


def _smaller(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge sizes chosen alike: of the ensemble, or the prefix of boosting, with least training error."""
    needed("size" in rows)
    runs = _runs(rows.dropna(subset=["size"]), "offline", "adaboost-stumps")
    sizes = _by(runs, "dataset", "size")
    fewer = sizes["adaboost-stumps"] - sizes["offline"]
    boosted = runs[runs["method"] == "adaboost-stumps"]
    at_end = int((boosted["size"] >= boosted["stumps"]).sum()) if "stumps" in runs else 0
    return ClaimFinding(
        f"{sizes['offline'].min():.0f} to {sizes['offline'].max():.0f} members, AdaBoost "
        f"{sizes['adaboost-stumps'].min():.0f} to {sizes['adaboost-stumps'].max():.0f} stumps",
        (above(fewer),),
        f"{sets_and_folds(runs)}; {shown_mean(fewer, 'fewer', 0)}; of each the smallest size of least "
        f"training error, which boosting reaches with its last stump in {counted(at_end, 'fold')}",
    )


def _diverse(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge, for each set, the disagreement of pairs in the last population.

    The disagreement must be larger than with accuracy as fitness.
    """
    needed("disagreement" in rows)
    runs = _runs(rows.dropna(subset=["disagreement"]), "offline", "single")
    folds = 100 * _by(runs, list(FOLD), "disagreement")
    pairs = folds.groupby(level="dataset", sort=False).mean()
    times = pairs["offline"] / pairs["single"]
    return ClaimFinding(
        f"pairs disagree on {pairs['offline'].mean():.1f} % of new rows, with accuracy as fitness on "
        f"{pairs['single'].mean():.1f} %",
        _on_each_set(folds["offline"] - folds["single"]),
        f"last populations of {sets_and_folds(runs)}, each set a part; {times.min():.1f} to "
        f"{times.max():.1f} times",
    )


def _noise(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge, for each set, whether noise in the classes costs boosting more accuracy than Off-EEL."""
    runs = _runs(rows, "offline", "offline-noise", "adaboost-stumps", "adaboost-noise")
    folds = 100 * _by(runs, list(FOLD), "accuracy")
    lost = {one: folds[one] - folds[with_noise] for one, with_noise in NOISY_PAIRS}
    more = lost["adaboost-stumps"] - lost["offline"]
    of_sets = ", ".join(
        f"{name} {shown_mean(part, 'points', overlap=TEN_FOLDS)}"
        for name, part in more.groupby(level="dataset", sort=False)
    )
    return ClaimFinding(
        f"a fifth of the training rows with another class costs AdaBoost "
        f"{lost['adaboost-stumps'].mean():.1f} points, Off-EEL {lost['offline'].mean():.1f}",
        _on_each_set(more), f"{sets_and_folds(runs)}, each set a part; AdaBoost loses more by {of_sets}",
    )  # fmt: skip


def _weights(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge on each set whether boosting's largest weight grows to the last stump, and beyond Off-EEL's."""
    needed({"largest_weight", "largest_weight_half"} <= set(rows.columns))
    runs = _runs(rows.dropna(subset=["largest_weight"]), "offline-noise", "adaboost-noise")
    folds = np.log2(_by(runs, list(FOLD), "largest_weight"))
    half = np.log2(_by(runs, list(FOLD), "largest_weight_half")["adaboost-noise"])
    grown, beyond = folds["adaboost-noise"] - half, folds["adaboost-noise"] - folds["offline-noise"]
    at_half, boosted, bred = (
        2 ** values.groupby(level="dataset", sort=False).mean()
        for values in (half, folds["adaboost-noise"], folds["offline-noise"])
    )
    return ClaimFinding(
        f"the heaviest row weighs {at_half.min():.0f} to {at_half.max():.0f} times the mean after half of "
        f"the stumps and {boosted.min():.0f} to {boosted.max():.0f} after all, "
        f"in Off-EEL {bred.min():.1f} to {bred.max():.1f}",
        (*_on_each_set(grown), *_on_each_set(beyond)),
        f"a fifth of the training rows with another class; {sets_and_folds(runs)}, geometric means; on each "
        "set whether boosting's weight grows in the second half, and is above that of Off-EEL",
    )


def _on_each_set(folds: "pd.Series[float]") -> tuple[Part, ...]:
    """Judge, for each set, whether a difference is above 0.

    The folds of a set test each row once.
    """
    return tuple(above(part, overlap=TEN_FOLDS) for _, part in folds.groupby(level="dataset", sort=False))


def _ties(rows: "pd.DataFrame", *, finer: bool) -> ClaimFinding:
    needed({"ties_minimum", "ties_histogram"} <= set(rows.columns))
    counted_ties = needed(rows.dropna(subset=["ties_minimum"]))
    shares = 100 * counted_ties.set_index("dataset")[["ties_minimum", "ties_histogram"]].astype(float)
    of_sets = shares.groupby(level="dataset", sort=False).mean()
    minimum, histogram = of_sets["ties_minimum"], of_sets["ties_histogram"]
    fewer = minimum - histogram
    return ClaimFinding(
        f"{shares['ties_minimum'].mean():.0f} % of the steps by the minimum, "
        f"{shares['ties_histogram'].mean():.1f} % by the histogram",
        (above(fewer) if finer else above(minimum, 50.0),),
        f"selections of {sets_and_folds(counted_ties)}; minimum, by set: {minimum.min():.0f} to "
        f"{minimum.max():.0f} %" + ("" if finer else "; many: more than half"),
    )


def _grows(rows: "pd.DataFrame") -> ClaimFinding:
    """Judge whether On-EEL as printed accepts any further members."""
    runs = _runs(rows, "online")
    alone = (runs["size"] == 1).groupby(runs["dataset"], sort=False).sum()
    n_alone = int(alone.sum())
    where = ", ".join(f"{name} {n}" for name, n in alone.items() if n)
    why = ""
    smoothed = complete(rows, ("online", "online-smoothed"))
    if n_alone and len(smoothed):
        both = smoothed.pivot_table(index=list(FOLD), columns="method", values=["size", "accuracy"])
        still = int((both["size"]["online-smoothed"] == 1).sum())
        gained = 100 * (both["accuracy"]["online-smoothed"] - both["accuracy"]["online"])
        stuck = gained[both["size"]["online"] == 1].groupby(level="dataset").mean()
        if still < n_alone:
            why = (
                "With one member, rows count 0 or 1, and nothing that is bred for them improves the vote. "
                f"With 1 added to the members that get a row wrong {counted(still, 'fold')} stay at one "
                f"member, and the accuracy of those that did changes by "
                f"{shown_mean(stuck, 'points')}, the mean of {counted(len(stuck), 'set')}."
            )
    return ClaimFinding(
        f"one member in {n_alone} of {counted(len(runs), 'fold')}" + (f" ({where})" if where else ""),
        facts(alone == 0), f"{sets_and_folds(runs)}, each counted", why,
    )  # fmt: skip


def _trade_off(rows: "pd.DataFrame") -> ClaimFinding:
    runs = _runs(rows, "offline", "online")
    needed("training_error" in runs)
    sizes, trained = _by(runs, "dataset", "size"), 100 * _by(runs, "dataset", "training_error")
    times = np.log(sizes["online"] / sizes["offline"])
    error = trained["offline"] - trained["online"]
    return ClaimFinding(
        f"Off-EEL {sizes['offline'].mean():.0f} members and {trained['offline'].mean():.1f} % training "
        f"error, On-EEL {sizes['online'].mean():.0f} and {trained['online'].mean():.1f} %",
        (_differs(times), _differs(error)),
        f"{sets_and_folds(runs)}; On-EEL has {np.exp(times.mean()):.1f} times the members "
        "(geometric mean) and "
        f"{shown_mean(error, 'points')} less error on training rows",
    )


def _differs(values: "pd.Series[float]") -> Part:
    """Judge whether a mean differs from 0 in either direction."""
    return above(values if values.mean() > 0 else -values)


_ABSTRACT = "abstract (not at hand, as it is known)"
CLAIMS = (
    PaperClaim("Off-EEL outperforms single-hypothesis evolution", _ABSTRACT, "", partial(_outperforms,
              other="single"), needs=EVOLVED),
    PaperClaim("Off-EEL outperforms boosting", _ABSTRACT, "", partial(_outperforms, other="adaboost-stumps"),
               needs=BOOSTED),
    PaperClaim("Off-EEL has smaller ensembles than boosting", _ABSTRACT, "", _smaller,
               needs=BOOSTED),
    PaperClaim("The new fitness makes classifiers diverse", _ABSTRACT, "", _diverse,
               needs=(FOLDS, Need(40, "populations with their diversity", "disagreement"), *BRED)),
    PaperClaim("The minimum margin alone leads to many ties", "3.2", "many", partial(_ties, finer=False),
               needs=EVOLVED),
    PaperClaim("The margin histogram is a finer criterion",
               "3.2, Equation 5", "", partial(_ties, finer=True),
               needs=EVOLVED),
    PaperClaim("Boosting weighs hard rows more and more, Off-EEL within a bound", "3.3", "exponentially",
               _weights, needs=(*NOISY, *BRED)),
    PaperClaim("Bounded weights avoid the instability that noise gives to boosting", "3.3", "", _noise,
               needs=(*NOISY, *BRED)),
    PaperClaim("On-EEL's ensemble is updated in every generation", "3.4", "", _grows,
               needs=EVOLVED),
    PaperClaim("Off-EEL and On-EEL differ in their trade-off", "3.4", "", _trade_off,
               needs=EVOLVED),
)  # fmt: skip
"""Claims of the abstract and of Sections 3.2 to 3.4."""
