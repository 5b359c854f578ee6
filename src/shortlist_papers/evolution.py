"""Evolutionary ensemble learning by :cite:t:`Gagne2007`: six sets in ten folds.

Parts of the paper's text are not known to us.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Labels
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.evolution.settings import CRITERIA
from shortlist.ensembles.evolution.training_rows import distinct_classifiers
from shortlist.runs import Budget, Unit
from shortlist.runs.budget import seconds_now
from shortlist.tables.fit_inputs import take_rows
from shortlist_papers.comparison import complete, rank_methods, shown_p, side_by_side
from shortlist_papers.evolution_claims import CLAIMS
from shortlist_papers.paper import (
    Extent,
    Paper,
    PaperLine,
    PaperPicture,
    PaperPlan,
    ResultTable,
    Rows,
    dots,
    fingerprints,
    sets_of,
)
from shortlist_papers.pruning_comparison import Fold, fit_method, stratified_folds

if TYPE_CHECKING:
    import pandas as pd

SETS = {
    "bcw": "breast-cancer-wisconsin-original",
    "bld": "bupa-liver-disorders",
    "bos": "boston-housing",
    "cmc": "contraceptive-method-choice",
    "pid": "pima-diabetes",
    "spa": "spambase",
}
"""Name of each set in the library, by its name in the paper."""

N_PRICES = 3
"""Number of equally large classes of price in `bos`."""

N_FOLDS = 10
"""Number of folds of each set; a scale runs some of them."""

NAMES = {
    "offline": "Off-EEL",
    "online": "On-EEL, as printed",
    "online-smoothed": "On-EEL, smoothed",
    "single": "best of one population",
    "least-squares": "least squares",
    "adaboost-stumps": "AdaBoost, stumps",
    "offline-noise": "Off-EEL, noise",
    "adaboost-noise": "AdaBoost, noise",
}
"""Names of the methods in tables. With noise, a fifth of the training rows have a wrong class."""

NOISY = {"offline-noise": "offline", "adaboost-noise": "adaboost-stumps"}
"""Method without noise, by the name of the method with noise in the training rows."""

NOISE = 0.2
"""Share of the training rows that get another class."""

SECONDS = {
    "offline": (1.0, 6.0), "online": (20.0, 25.0), "online-smoothed": (20.0, 20.0), "single": (0.5, 5.0),
    "least-squares": (0.04, 0.0), "adaboost-stumps": (1.0, 1.0), "offline-noise": (1.0, 6.0),
    "adaboost-noise": (1.0, 1.0),
}  # fmt: skip
"""Approximate seconds of each method: a constant, and the seconds for each thousand rows."""

RANKED = tuple(name for name in NAMES if name != "online-smoothed" and name not in NOISY)
"""Ranked methods: all methods without noise, except our own variant."""


@dataclass(frozen=True)
class EvolutionSize:
    """Extent of the measurement."""

    sets: tuple[str, ...]
    """The paper's names of sets."""
    n_run: int
    n_repeats: int
    """Numbers of folds run, of the ten folds of each set, and of repeats with other folds."""
    population: int
    generations: int
    stumps: int = 200
    """Number of stumps of evolution, and of boosting."""


SIZES = {
    "small": EvolutionSize(("bcw", "bld", "pid", "cmc"), 2, 1, 200, 40, 50),
    "medium": EvolutionSize(tuple(SETS), 10, 1, 500, 200),
    "paper": EvolutionSize(tuple(SETS), 10, 1, 500, 200),
}
"""Extent of each scale."""


def size_of(extent: Extent) -> EvolutionSize:
    """Return the size of an extent."""
    size = SIZES[extent.scale]
    return dataclasses.replace(
        size,
        sets=extent.of(size.sets),
        n_run=extent.folds_of(N_FOLDS) or size.n_run,
        n_repeats=extent.seeds or size.n_repeats,
    )


def eel_methods(size: EvolutionSize) -> dict[str, Any]:
    """Return evolved ensembles, least squares, a genetic algorithm and boosted stumps, by name."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    stumps = DecisionTreeClassifier(max_depth=1)
    boosting = AdaBoostClassifier(stumps, n_estimators=size.stumps, random_state=0)
    bred: dict[str, Any] = {"population_size": size.population, "n_generations": size.generations}
    return {
        "offline": EvolutionaryEnsembleClassifier("offline", **bred),
        "online": EvolutionaryEnsembleClassifier("online", smoothing=0, **bred),
        "online-smoothed": EvolutionaryEnsembleClassifier("online", **bred),
        "single": EvolutionaryEnsembleClassifier("single", **bred),
        "least-squares": make_pipeline(StandardScaler(), RidgeClassifier(alpha=1e-6)),
        "adaboost-stumps": boosting,
        "offline-noise": EvolutionaryEnsembleClassifier("offline", **bred),
        "adaboost-noise": boosting,
    }


def eel_table(name: str, table: "pd.DataFrame") -> tuple["pd.DataFrame", Labels]:
    """Return rows and classes of one of the paper's sets.

    ``bcw`` keeps its complete rows. ``bos`` has three classes of price of equal size, as the paper's own
    limits are unknown. ``bld`` has the class field of older papers.
    """
    import pandas as pd

    whole = table.dropna() if name == "bcw" else table
    target = whole["target"]
    y = pd.qcut(target, N_PRICES, labels=False) if name == "bos" else target
    return whole.drop(columns="target"), np.asarray(y)


def plan_evolution(folder: Path | None, size: EvolutionSize) -> PaperPlan:
    """Return a unit for every method on every fold of every set that exists."""
    names = {SETS[name]: name for name in size.sets}
    tables, missing = sets_of(list(names), folder)
    methods = eel_methods(size)
    bred = {"population": size.population, "generations": size.generations, "stumps": size.stumps}
    units = []
    for full_name, table in tables.items():
        name = names[full_name]
        X, y = eel_table(name, table)
        folds = stratified_folds(
            name, X, y, n_folds=N_FOLDS, n_repeats=size.n_repeats, n_classifiers=1, seed=0
        )
        units += [
            Unit(
                f"{name}/{fold.repeat}/{fold.number}/{method}",
                measure_evolution,
                (name, fold, method, one, bred),
                kind=f"{name}, {method}",
                size=_seconds(method, len(y), size),
            )
            for fold in folds
            if fold.number < size.n_run
            for method, one in methods.items()
        ]
    return PaperPlan(tuple(units), bred | fingerprints(tables), missing)


def _seconds(method: str, n_rows: int, size: EvolutionSize) -> float:
    """Return the approximate seconds of a unit; ties are counted only for Off-EEL."""
    fixed, each = SECONDS[method]
    seconds = fixed + each * n_rows / 1000
    if method in {"least-squares", "adaboost-stumps", "adaboost-noise"}:
        return seconds * size.stumps / 200
    ties = 6.0 * (size.population / 500) ** 2 if method == "offline" else 0.0
    return seconds * size.population * size.generations / 100_000 + ties


def measure_evolution(  # what is measured, and by what
    name: str, fold: Fold, method: str, unfitted: Any, size: Mapping[str, int], *, budget: Budget
) -> Rows:
    """Measure a method on one fold; for evolution also its selection on the training rows."""
    learned = dataclasses.replace(fold, y=noisy_classes(fold)) if method in NOISY else fold
    begun = seconds_now()
    answer = fit_method(learned, unfitted, None, fold.train, budget.cancellation)
    row: dict[str, Any] = {
        "dataset": name, "repeat": fold.repeat, "fold": fold.number, "method": method,
        "seconds": seconds_now() - begun, **answer.accuracies(fold), "size": None, **size,
        "test_rows": len(fold.test), "noise": NOISE if method in NOISY else 0.0,
    }  # fmt: skip
    evolved = answer.estimator
    if hasattr(evolved, "staged_predict"):
        row["fitted"] = len(evolved.estimators_)
        row["size"], row["training_error"] = fewest_stumps(evolved, learned)
        if method in NOISY:
            weights = boosted_weights(evolved, learned)
            row["largest_weight_half"] = float(weights[len(weights) // 2 - 1])
            row["largest_weight"] = float(weights[-1])
    if not isinstance(evolved, EvolutionaryEnsembleClassifier):
        return [row]
    row["size"], row["training_error"] = len(evolved.members_), evolved.result_.error
    if method in {"offline", "single"}:
        X = evolved.encoder_.transform(take_rows(fold.X, fold.test))
        row["disagreement"] = mean_disagreement(evolved.space_.predict(evolved.result_.population, X))
    if method == "offline-noise":
        X = evolved.encoder_.transform(take_rows(fold.X, fold.train))
        labels = np.searchsorted(evolved.classes_, learned.y[fold.train])
        row["largest_weight"] = bred_weight(evolved.space_.predict(evolved.result_.population, X), labels)
    if method == "offline":
        X = evolved.encoder_.transform(take_rows(fold.X, fold.train))
        labels = np.searchsorted(evolved.classes_, fold.y[fold.train])
        codes = evolved.space_.predict(evolved.result_.population, X)
        for criterion in CRITERIA:
            row[f"ties_{criterion}"] = tied_steps(codes, labels, len(evolved.classes_), criterion)
    return [row]


def noisy_classes(fold: Fold) -> Labels:
    """Return the classes of a table, with another class, drawn evenly, on a share of the training rows."""
    rng = np.random.default_rng(fold.seed)
    y = np.array(fold.y)
    classes, codes = np.unique(y, return_inverse=True)
    changed = rng.permutation(fold.train)[: round(NOISE * len(fold.train))]
    y[changed] = classes[(codes[changed] + rng.integers(1, len(classes), len(changed))) % len(classes)]
    return y


def fewest_stumps(boosted: Any, fold: Fold) -> tuple[int, float]:
    """Return the size and the training error of a prefix of boosting.

    The prefix is the smallest one with the least training error. Figure 1 chooses the size of Off-EEL in the
    same way.
    """
    y = fold.y[fold.train]
    sums = boosted.staged_decision_function(take_rows(fold.X, fold.train))  # staged_predict warns of names
    places = ((one > 0).astype(int) if one.ndim == 1 else one.argmax(axis=1) for one in sums)
    errors = [float((boosted.classes_[one] != y).mean()) for one in places]
    least = int(np.argmin(errors))
    return least + 1, errors[least]


def boosted_weights(boosted: Any, fold: Fold) -> NDArray[np.float64]:
    """Return the largest weight of a training row after each stump, as a multiple of the mean weight.

    Boosting's rule: a row that a stump gets wrong has its weight multiplied by the exponential of the stump's
    weight.
    """
    X, y = np.asarray(take_rows(fold.X, fold.train), dtype=float), fold.y[fold.train]
    logs = np.zeros(len(y))
    largest = []
    for stump, weight in zip(boosted.estimators_, boosted.estimator_weights_, strict=False):
        logs += weight * (stump.predict(X) != y)
        largest.append(1 / np.exp(logs - logs.max()).mean())
    return np.array(largest)


def bred_weight(codes: NDArray[np.uint8], labels: Labels) -> float:
    """Return the largest weight of a training row in Off-EEL, as a multiple of the mean weight.

    The weight of a row is the share of the population that gets the row wrong, at most 1 in every generation.

    >>> bred_weight(np.array([[0, 1], [0, 0], [1, 1]], dtype=np.uint8), np.array([0, 0, 0]))
    2.0
    """
    weights = (codes != labels[:, None]).mean(axis=1)
    return float(weights.max() / weights.mean()) if weights.any() else 1.0


def mean_disagreement(codes: NDArray[np.uint8]) -> float:
    """Return the share of rows on which a pair of classifiers disagrees, averaged over pairs.

    `codes`: class indices, ``(n_rows, n_classifiers)``.

    >>> round(mean_disagreement(np.array([[0, 0, 1], [0, 0, 0]], dtype=np.uint8)), 12)  # a third of six
    0.333333333333
    """
    n = codes.shape[1]
    alike = sum(((codes == one).sum(axis=1) ** 2).sum() for one in range(int(codes.max()) + 1))
    return float(1 - (alike / len(codes) - n) / (n * (n - 1)))


def tied_steps(codes: NDArray[np.uint8], labels: Labels, n_classes: int, criterion: str) -> float:
    """Return the share of steps of Figure 1 in which several different candidates are best.

    Takes O(n_candidates² · n_rows) time; the selection itself is faster, as it counts no ties.
    """
    rows = np.arange(len(labels))
    right = codes == labels[:, None]
    left = distinct_classifiers(codes)
    first = int(right.sum(axis=0).argmax())
    tally = np.zeros((len(labels), n_classes), dtype=np.int64)
    tally[rows, codes[:, first]] += 1
    left, n_tied = left[left != first], 0
    n_steps = len(left)
    while len(left) > 1:
        others = tally.copy()
        others[rows, labels] = -1
        strongest = others.max(axis=1)
        harmed = np.take_along_axis(others, codes[:, left], axis=1) == strongest[:, None]
        margins = (tally[rows, labels] - strongest)[:, None] + right[:, left] - (harmed & ~right[:, left])
        best = np.flatnonzero(margins.min(axis=0) == margins.min(axis=0).max())
        if criterion == "histogram" and len(best) > 1:
            ordered = np.sort(margins[:, best], axis=0)
            for level in range(len(labels)):
                kept = ordered[level] == ordered[level].max()
                best, ordered = best[kept], ordered[:, kept]
                if len(best) == 1:
                    break
        n_tied += len(best) > 1
        tally[rows, codes[:, left[best[0]]]] += 1
        left = np.delete(left, best[0])
    return n_tied / max(1, n_steps - 1)


def evolution_tables(rows: "pd.DataFrame") -> list[ResultTable]:
    """Return the test errors, and the mean ranks over sets."""
    found: Rows = []
    measures = ["accuracy", "balanced_accuracy", "size", "seconds"]
    for name, of_set in rows.groupby("dataset", sort=False):
        sides = side_by_side(of_set, measures)
        found += [
            {
                "set": name, "method": NAMES[method], "folds": int(row["n_units"]),
                "error %": round(100 * (1 - row["accuracy"]), 2),
                "deviation %": round(100 * row["accuracy_deviation"], 2),
                "balanced error %": round(100 * (1 - row["balanced_accuracy"]), 2),
                "members": None if np.isnan(row["size"]) else round(row["size"], 1),
                "folds with one member": int((of_set.loc[of_set["method"] == method, "size"] == 1).sum()),
                "seconds": round(row["seconds"], 2),
            }
            for method, row in sides.to_dict("index").items()
        ]  # fmt: skip
    note = "The deviation is over the folds. The paper's own table is not at hand."
    errors = 100 * (1 - rows.pivot_table(index="dataset", columns="method", values="accuracy", sort=False))
    picture = None
    if "offline" in errors and len(errors.columns) > 1:
        far = float(errors.max().max())
        others = [one for one in NAMES if one in errors and one != "offline"]
        picture = PaperPicture(
            "Mean test error of each method on each set, against that of Off-EEL: above the line "
            "Off-EEL is better.",
            "error of Off-EEL, %",
            "error, %",
            (
                *(dots(NAMES[one], errors["offline"], errors[one]) for one in others),
                PaperLine("equal", ((0.0, 0.0), (far, far))),
            ),
        )
    tables = [ResultTable("errors", "Test errors", found, note, picture=picture)]
    whole = complete(rows, RANKED)
    n_tables = whole["dataset"].nunique()
    if n_tables > 1:
        ranked = rank_methods(whole)
        ranks = [
            {"method": NAMES[method], "mean rank": round(rank, 2)}
            for method, rank in ranked.mean_ranks.items()
        ]
        note = (
            f"Friedman's p is {shown_p(ranked.chi_square_p)}; mean ranks differ from "
            f"{ranked.critical_difference:.2f} on (Nemenyi, 5 %)."
        )
        tables.append(ResultTable("ranks", f"Mean ranks of the accuracy, {n_tables} sets", ranks, note))
    return tables


def _scales() -> str:
    told = [
        f"{scale} has {len(size.sets)} sets, {size.n_run} of {N_FOLDS} folds, population {size.population}, "
        f"{size.generations} generations and {size.stumps} stumps"
        for scale, size in SIZES.items()
        if scale == "small"
    ]
    whole = SIZES["paper"]
    return (
        f"The scales medium and paper have all six sets with all folds, population {whole.population}, "
        f"{whole.generations} generations and {whole.stumps} stumps: {'; '.join(told)}."
    )


EVOLUTION = Paper(
    "evolution",
    "Gagné, Sebag, Schoenauer and Tomassini (2007): ensembles from evolution, for free",
    lambda folder, extent: plan_evolution(folder, size_of(extent)),
    evolution_tables,
    {"errors": "test errors", "ranks": "mean ranks of the accuracy"},
    tuple(SETS),
    frozenset({"folds", "seeds"}),
    (
        (
            "Only Sections 3.2 to 3.4 of the paper were at hand, without abstract and results, so that none "
            "of its figures stands beside ours."
        ),
        (
            "The sets, ten folds, linear classifiers and the methods beside Off-EEL and On-EEL are those "
            "that are usual for this paper; its own text on them was not at hand."
        ),
        (
            "The text at hand does not give the formula of the fitness (here, over the rows that an "
            "individual gets right, the sum of the shares of the reference set that get them wrong), how "
            "parents are chosen and recombined, nor the population and the generations: these are ours."
        ),
        (
            "It leaves open what duplicates are (here individuals that answer every training row alike; one "
            "that answers like a member does not join either), ties of a vote (here to the lowest class) and "
            "ties between candidates (here to the first)."
        ),
        (
            "On-EEL as printed takes the best ensemble of Figure 1, so that with one member the rows count 0 "
            "or 1 and nothing may ever join. The smoothed variant, which is ours and not ranked, adds 1 to "
            "the members that get a row wrong."
        ),
        (
            "The price classes of bos have limits that make them equal in size. The class of bld is the "
            "field that older papers took for it, and bcw keeps its complete rows."
        ),
        _scales(),
    ),
    CLAIMS,
)
