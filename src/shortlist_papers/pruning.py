"""Ensemble pruning by integer programming: the experiments of :cite:t:`Bastos2022`."""

import dataclasses
import functools
import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.arrays import Labels
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.rule_pruners import BackfittingPruner
from shortlist.ensembles.goals.diversity import CREDIT_UNITS, DiversityLimits, diversity_limits
from shortlist.ensembles.pools.answers import class_answers
from shortlist.ensembles.pools.families import FAMILIES
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.rules import sizes_to_try
from shortlist.ensembles.votes.hard_votes import class_votes
from shortlist.errors import BadInputError
from shortlist.runs import Budget, Cancellation, Unit
from shortlist.runs.budget import processor_seconds
from shortlist_papers.paper import Extent, Paper, PaperPlan, Rows, fingerprints, sets_of
from shortlist_papers.pruning_claims import CLAIMS
from shortlist_papers.pruning_comparison import Fold, fit_method, fold_pool, stratified_folds
from shortlist_papers.pruning_tables import (
    CONTENTS,
    NEEDED,
    STOPPED_BY_ACCURACY,
    WITH_FLOOR,
    pruning_tables,
)
from shortlist_papers.rules.rule_pruners import OrderedPruner

if TYPE_CHECKING:
    import pandas as pd

SETS = {
    "parkinsons": "PRK", "wdbc": "BCW", "musk-v1": "MSK", "qsar-biodegradation": "QSR",
    "diabetic-retinopathy-debrecen": "DRD", "spambase": "SPA", "default-credit-card-clients": "DEF",
    "bank-additional-full": "BMK",
}  # fmt: skip
"""Name of each set in the paper. The paper's ninth set, APS, is not among the public sets here."""

POSITIVE = {"qsar-biodegradation": "NRB"}
"""Positive class by set, if it is not 1."""

MOST_ROWS_OF_THEOREMS = 10_000
"""Number of rows above which theorems are not counted on a set."""

N_FOLDS = 10
"""Number of folds of each split; a scale runs some of them."""


@dataclass(frozen=True)
class PruningSize:
    """Extent of the measurement."""

    sets: tuple[str, ...]
    """Names of public sets."""
    n_run: int
    n_repeats: int
    """Numbers of folds run, of ten, and of repeats with other folds."""
    pools: tuple[int, ...]
    """Numbers of classifiers in a pool; a smaller pool holds the first classifiers of each kind of a larger
    pool.
    """
    time_limit_s: float | None
    node_limit: int | None = None
    """Limit on the nodes of each exact method. The field before is the time limit in seconds."""
    repeated: Mapping[str, int] = field(default_factory=dict)
    """Number of repeats by set, for the sets whose smallest pool is measured in more repeats; dispersion is
    over repeats.
    """
    limits: Mapping[int, float] = field(default_factory=dict)
    """Time limit in seconds by number of classifiers, for numbers with a special limit."""
    fewer: Mapping[int, int] = field(default_factory=dict)
    """Number of folds to run by number of classifiers, for numbers with fewer folds."""

    def repeats_of(self, name: str, n_classifiers: int) -> int:
        """Return the number of repeats of a set with a number of classifiers."""
        most = self.repeated.get(name, 0) if n_classifiers == min(self.pools) else 0
        return max(self.n_repeats, most)

    def limit_of(self, n_classifiers: int) -> float | None:
        """Return the time limit of each program with a number of classifiers, in seconds."""
        return self.limits.get(n_classifiers, self.time_limit_s)

    def folds_of(self, n_classifiers: int) -> int:
        """Return the number of folds of each set with a number of classifiers that are run."""
        return min(self.n_run, self.fewer.get(n_classifiers, N_FOLDS))


SIZES = {
    "small": PruningSize(
        ("parkinsons", "wdbc", "qsar-biodegradation", "diabetic-retinopathy-debrecen"), 2, 1, (40,), 3.0
    ),
    "medium": PruningSize(
        tuple(SETS),
        10,
        1,
        (40, 100),
        5.0,
        limits={40: 1.0},
        fewer={100: 3},
        repeated={"parkinsons": 10, "wdbc": 10},
    ),
    "paper": PruningSize(tuple(SETS), 10, 10, (40, 60, 80, 100), 300.0),
}
"""Extent of each scale."""


def size_of(extent: Extent) -> PruningSize:
    """Return the size of an extent."""
    size = SIZES[extent.scale]
    names = {label: name for name, label in SETS.items()}
    return dataclasses.replace(
        size,
        sets=tuple(names[label] for label in extent.of([SETS[name] for name in size.sets])),
        pools=_in_equal_numbers(extent.classifiers) or size.pools,
        n_run=extent.folds_of(N_FOLDS) or size.n_run,
        n_repeats=extent.seeds or size.n_repeats,
        repeated={} if extent.seeds else size.repeated,
        fewer={} if extent.folds else size.fewer,
        limits={} if extent.time_limit_s else size.limits,
        time_limit_s=extent.time_limit_s or size.time_limit_s,
    )


def _in_equal_numbers(pools: tuple[int, ...]) -> tuple[int, ...]:
    """Return the numbers of classifiers; raise BadInputError unless each has equally many of every kind."""
    for pool in pools:
        if pool % len(FAMILIES):
            raise BadInputError(
                "classifiers",
                f"must be multiples of {len(FAMILIES)}, as many of each kind as the paper says",
                pool,
            )
    return pools


def paper_methods(
    time_limit_s: float | None, node_limit: int | None = None, *, n_classifiers: int = 100
) -> dict[str, Any]:
    """Return the paper's configurations and benchmarks by its names, and three variants.

    Hill climbing keeps the ensemble with the best fitness, as in Section 5.2; ``OrderedPruner`` by default
    keeps the most accurate ensemble. F1 is also measured with the least size of backfitting: 20 % of K.
    """
    limits: dict[str, Any] = {"time_limit_s": time_limit_s, "node_limit": node_limit}
    return {
        "F1": ExactPruner(objective="accuracy", **limits),
        "F2": ExactPruner(objective="accuracy", diversity="average", **limits),
        "F3": ExactPruner(objective="accuracy", diversity="each", **limits),
        "F1-theta": ExactPruner(objective="theta-weighted", **limits),
        WITH_FLOOR: ExactPruner(objective="accuracy", min_size=min(sizes_to_try(n_classifiers)), **limits),
        "BFT": BackfittingPruner(),
        "HC-CON": OrderedPruner(rule="concurrency", stop="fitness"),
        "HC-UWA": OrderedPruner(rule="uwa", stop="fitness"),
        "FE": OrderedPruner(rule="full"),
        "Kappa": OrderedPruner(rule="kappa"),
        "HC-ACC": OrderedPruner(rule="reduced-error", stop="fitness"),
        "HC-COM": OrderedPruner(rule="complementariness", stop="fitness"),
        STOPPED_BY_ACCURACY["HC-CON"]: OrderedPruner(rule="concurrency"),
        STOPPED_BY_ACCURACY["HC-UWA"]: OrderedPruner(rule="uwa"),
    }


def binary_table(name: str, table: "pd.DataFrame") -> tuple["pd.DataFrame", Labels]:
    """Return rows and classes of a public set of two classes; the positive class is 1."""
    positive = table["target"] == POSITIVE.get(name.replace("_", "-"), 1)
    return table.drop(columns="target"), positive.to_numpy().astype(np.int64)


def plan_pruning(folder: Path | None, size: PruningSize, tables: tuple[str, ...] = ()) -> PaperPlan:
    """Return units for every set that exists.

    One unit counts the rows of a set. Each other unit measures one exact method, or all benchmarks together,
    on one fold with one number of classifiers.
    """
    found, missing = sets_of(size.sets, folder)
    every = not tables or "claims" in tables
    wanted = {method for table in (CONTENTS if every else tables) for method in NEEDED[table]}
    prints = fingerprints(found)
    units = []
    for name, table in found.items():
        X, y = binary_table(name, table)
        units.append(Unit(f"{name}/rows", count_rows, (name, X, y), size=0.0))
        if every and len(y) <= MOST_ROWS_OF_THEOREMS:
            (fold, *_) = stratified_folds(
                name, X, y, n_folds=N_FOLDS, n_repeats=1, n_classifiers=len(FAMILIES), seed=0
            )
            units.append(Unit(f"{name}/theorems", count_theorems, (name, fold), f"{name}, theorems", 1.0))
        for n_classifiers in size.pools:
            limit_s = size.limit_of(n_classifiers)
            methods = paper_methods(limit_s, size.node_limit, n_classifiers=n_classifiers)
            groups = {
                one: {one: method} for one, method in methods.items() if isinstance(method, ExactPruner)
            }
            groups["benchmarks"] = {one: method for one, method in methods.items() if one not in groups}
            folds = stratified_folds(
                name, X, y, n_folds=N_FOLDS, n_repeats=size.repeats_of(name, n_classifiers),
                n_classifiers=n_classifiers, seed=0,
            )  # fmt: skip
            for fold in folds:
                key = f"{name}/{fold.repeat}/{fold.number}/{n_classifiers}"
                which = f"{key}/{prints[f'the set {name}']}"
                asked = {group: one for group, one in groups.items() if not wanted.isdisjoint(one)}
                units += [
                    Unit(
                        f"{key}/{group}",
                        measure_methods,
                        (name, which, fold, members),
                        kind=f"{name}, {group}",
                        size=_seconds(group, len(y), n_classifiers, limit_s, fits=not place),
                    )
                    for place, (group, members) in enumerate(asked.items())
                    if fold.number < size.folds_of(n_classifiers)
                ]
    limits: dict[str, Any] = {"time_limit_s": size.time_limit_s, "node_limit": size.node_limit}
    limits |= {f"time limit with {n} classifiers": limit for n, limit in size.limits.items()}
    return PaperPlan(tuple(units), limits | prints, missing)


def _seconds(group: str, n_rows: int, n_classifiers: int, limit_s: float | None, *, fits: bool) -> float:
    """Return the approximate seconds of a unit; the first unit of a fold also fits the pool."""
    votes = n_rows * n_classifiers
    own = 0.05 + 3e-7 * votes if group == "benchmarks" else (limit_s or 10.0) * min(1.0, n_rows / 1000)
    return own + (0.5 + 1e-5 * votes if fits else 0.0)


def count_rows(
    name: str,
    X: "pd.DataFrame",
    y: Labels,
    *,
    budget: Budget,  # noqa: ARG001  # all units take one
) -> Rows:
    """Return the numbers of features and rows of a set, as a row."""
    positive = int(y.sum())
    counts = {"features": X.shape[1], "rows": len(y), "negative": len(y) - positive, "positive": positive}
    return [{"kind": "set", "dataset": SETS[name], **counts}]


def count_theorems(name: str, fold: Fold, *, budget: Budget) -> Rows:
    """Return the number of selections of a small pool for which Sections 3 and 4 hold, by definition.

    All selections of eight classifiers with all thresholds are counted. The selections with the largest sum
    weighted by θ must be those with the largest balanced accuracy. The mean PFC of the members must be the
    mean FC of the pairs.
    """
    pool, validation = fold_pool(fold, budget.cancellation)
    votes = class_answers(pool, validation[:, None])[:, :8].astype(np.int64)
    truth = np.searchsorted(pool.classes, fold.y[validation])
    n, n_1 = len(truth), int(truth.sum())
    theta = Fraction(n_1, n)
    right = votes == truth[:, None]
    failures, places = (~right).sum(axis=0), range(votes.shape[1])
    credit = {
        (a, b): Fraction(int((right[:, a] != right[:, b]).sum()), max(1, int(failures[a] + failures[b])))
        for a, b in itertools.permutations(places, 2)
    }
    weighted: dict[tuple[tuple[int, ...], int], Fraction] = {}
    balanced: dict[tuple[tuple[int, ...], int], Fraction] = {}
    n_pairs, n_same = 0, 0
    for size in range(1, votes.shape[1] + 1):
        for members in itertools.combinations(places, size):
            tally = votes[:, list(members)].sum(axis=1)
            for threshold in range(size + 1):
                answer = tally > threshold
                true = int(answer[truth == 1].sum()), int((~answer[truth == 0]).sum())
                weighted[members, threshold] = (1 - theta) * true[0] + theta * true[1]
                balanced[members, threshold] = (Fraction(true[0], n_1) + Fraction(true[1], n - n_1)) / 2
            if size > 1:
                each = [sum(credit[a, b] for b in members if b != a) / Fraction(size - 1) for a in members]
                pairs = [credit[pair] for pair in itertools.combinations(members, 2)]
                n_pairs += 1
                n_same += sum(each) / Fraction(size) == sum(pairs) / Fraction(len(pairs))
    best = [
        {one for one, value in values.items() if value == max(values.values())}
        for values in (weighted, balanced)
    ]
    return [
        {
            "kind": "theorem", "dataset": SETS[name], "selections": len(weighted),
            "same_best": best[0] == best[1],
            "pairs": n_pairs, "same_diversity": n_same,
            **count_redundant(votes, truth),
        }
    ]  # fmt: skip


def count_redundant(votes: NDArray[np.int64], truth: NDArray[np.int64]) -> dict[str, int | bool]:
    """Count for how many selections with thresholds Constraints (3) and (6) may be left out, by definition.

    Each row's variable t may be 0 or 1. The values that all constraints allow must equal the best of the
    values that (2) and (5) alone allow. With accuracy (3) and (6) are left out, with recall only (3).
    Constraint (6) has K + 1 in place of K, as the text requires; ``forbidden`` counts the cases that (6)
    forbids as printed.
    """
    n = votes.shape[1]
    found = {"programs": 0, "redundant_accuracy": 0, "redundant_recall": 0, "forbidden": 0}
    with_all, without = 0, 0
    for members in itertools.product((0, 1), repeat=n):
        rows = Counter(zip(truth.tolist(), (votes @ np.array(members)).tolist(), strict=True))
        for threshold in range(n + 1):
            allowed = {row: _allowed(row[0] == 1, row[1], threshold, n) for row in rows}
            best = {row: {max(free)} for row, (_, free) in allowed.items()}
            alike = {row for row, (kept, _) in allowed.items() if kept == best[row]}
            found["programs"] += 1
            found["forbidden"] += any(
                positive == 0 and threshold + 1 - n_votes > n for positive, n_votes in rows
            )
            found["redundant_accuracy"] += len(alike) == len(rows)
            found["redundant_recall"] += all(row in alike for row in rows if row[0] == 1)
            with_all = max(with_all, sum(count * max(allowed[row][0]) for row, count in rows.items()))
            without = max(without, sum(count * max(best[row]) for row, count in rows.items()))
    return found | {"same_value": with_all == without}


def _allowed(positive: bool, n_votes: int, threshold: int, n: int) -> tuple[set[int], set[int]]:
    """Return the values that a row's variable t may have with all constraints, and without (3) and (6)."""
    away, over = threshold + 1 - n_votes, n_votes - threshold
    if positive:
        free = {t for t in (0, 1) if away <= (n + 1) * (1 - t)}  # (2)
        return {t for t in free if over <= (n + 1) * t}, free  # (3)
    free = {t for t in (0, 1) if over <= n * (1 - t)}  # (5)
    return {t for t in free if away <= (n + 1) * t}, free  # (6)


def measure_methods(name: str, which: str, fold: Fold, methods: Mapping[str, Any], *, budget: Budget) -> Rows:
    """Fit the pool of a fold, and measure methods on it."""
    _compile()
    pool, validation = _pool_of(which, fold, budget.cancellation)
    rows = measure_pool(name, fold, pool, validation, methods, budget.cancellation)
    return [{"kind": "run", **row, "dataset": SETS[name]} for row in rows]


_LAST: dict[str, tuple[Pool, NDArray[np.intp]]] = {}


def _pool_of(which: str, fold: Fold, stop: Cancellation | None) -> tuple[Pool, NDArray[np.intp]]:
    """Return the fitted pool of a fold; the pool of the unit before is kept if the fold is the same."""
    found = _LAST.get(which)
    if found is None:
        found = fold_pool(fold, stop)
        _LAST.clear()
        _LAST[which] = found
    return found


@functools.cache
def _compile() -> None:
    """Compile every kernel once, before any limit or measured time."""
    from sklearn.datasets import make_classification

    X, y = make_classification(200, random_state=0)
    fold = stratified_folds("made", X, y, n_folds=N_FOLDS, n_repeats=1, n_classifiers=10, seed=0)[0]
    measure_pool("made", fold, *fold_pool(fold), paper_methods(None, node_limit=100, n_classifiers=10))


def measure_pool(  # noqa: PLR0917  # what is measured, and by what
    name: str,
    fold: Fold,
    pool: Pool,
    validation: NDArray[np.intp],
    methods: Mapping[str, Any],
    stop: Cancellation | None = None,
) -> Rows:
    """Measure methods on one fold, on the pruning rows and on the test rows.

    Seconds and time limits are processor time, as far as the processor works for this process. ``value`` is
    the value that an exact method maximised, ``selection`` the indices of the members, ``pfc`` the members'
    mean diversity and ``gamma`` the least diversity that F2 allows.
    """
    rows: Rows = []
    truth = np.searchsorted(pool.classes, fold.y[validation])
    limits = diversity_limits("average", class_votes(class_answers(pool, validation[:, None]), truth))
    for method, unfitted in methods.items():
        if stop is not None and stop.cancelled:
            return rows
        begun = processor_seconds()
        answer = fit_method(fold, unfitted, pool, validation, stop, clock=processor_seconds)
        took = processor_seconds() - begun
        gap = getattr(answer.estimator, "gap_", None)
        chosen = np.flatnonzero(answer.estimator.selection_)
        rows.append(
            {
                "dataset": name, "repeat": fold.repeat, "fold": fold.number, "classifiers": len(pool),
                "method": method, "seconds": took, "members": len(answer.estimator.pool_),
                "gap": None if gap is None else float(gap),
                "value": getattr(answer.estimator, "objective_value_", None), "selection": chosen.tolist(),
                "pfc": _mean_diversity(limits, chosen),
                "gamma": None if limits is None else limits.mean / CREDIT_UNITS,
                "limit_s": getattr(unfitted, "time_limit_s", None), "pruning_rows": len(validation),
                "test_rows": len(fold.test),
                "validation_accuracy": float((answer(validation) == fold.y[validation]).mean()),
                **answer.accuracies(fold),
            }
        )  # fmt: skip
    return rows


def _mean_diversity(limits: DiversityLimits | None, members: NDArray[np.intp]) -> float | None:
    """Return the mean failure credit over the pairs of members; None for one member."""
    if limits is None or len(members) < 2:
        return None
    n = len(members)
    return float(limits.credit[np.ix_(members, members)].sum() / (CREDIT_UNITS * n * (n - 1)))


def _scales() -> str:
    told = []
    for scale in ("small", "medium"):
        size = SIZES[scale]
        limits = [f"{size.limit_of(n):g} s with {n}" for n in size.pools]
        few = [f"{n} folds with {one}" for one, n in size.fewer.items()]
        more = [f"{n} repeats of {SETS[name]} with {min(size.pools)}" for name, n in size.repeated.items()]
        told.append(
            f"{scale} has {len(size.sets)} sets, {size.n_repeats} repeat, {size.n_run} of {N_FOLDS} folds, "
            f"{' and '.join(map(str, size.pools))} classifiers and for each program {' and '.join(limits)}"
            + (f" (but {all_of([*few, *more])})" if few or more else "")
        )
    return f"Only the scale paper has ten repeats, all folds and 300 s: {'; '.join(told)}."


PRUNING = Paper(
    "pruning",
    "Bastos, Brandão and Valle (2022): ensemble pruning by integer programming",
    lambda folder, extent: plan_pruning(folder, size_of(extent), extent.tables),
    pruning_tables,
    CONTENTS,
    tuple(SETS.values()),
    frozenset({"classifiers", "folds", "seeds", "time_limit_s"}),
    (
        (
            "The pools are ours: ten kinds of classifiers in equal numbers, which the paper asks for and "
            "does not name. A pool of 40 holds the first four of each kind of the pool of 100."
        ),
        "The set APS is left out: no copy of all its 60,000 rows with a known hash was at hand.",
        (
            "Nor is the supplementary material, so that Kappa pruning, hill climbing by accuracy and by "
            "complementariness, and the full tables of accuracies have no published figures beside ours."
        ),
        (
            "Exact methods end with CP-SAT and cuts of our own on one core, where the paper had CPLEX 12.8 "
            "on 8 cores. They choose at least one member, where the paper's program may choose none."
        ),
        (
            "Constants of the constraints are as small as each row allows, where the paper has K + 1 and K "
            "for all. Its Equation 6, as printed, forbids a threshold of K unless every negative row has a "
            "positive vote."
        ),
        (
            "Failure credit is kept in billionths; of two classifiers that never fail it is 0/0 as printed, "
            "and 0 here."
        ),
        (
            "The paper leaves open which of several equally good selections is taken, and how its "
            "benchmarks break ties. Of equal classifiers we take the one that is more accurate alone, of "
            "equal ensembles the smallest; a tied vote is negative. BFT replaces the first member that a "
            "better classifier can replace, by the best one."
        ),
        (
            "HC-CON and HC-UWA keep at least two members, since a single classifier has no fitness there; "
            "their weights are those of the papers that they come from, as far as these are known."
        ),
        "The benchmarks have no time limit, where the paper gave them five minutes.",
        (
            "Every set is ranked once for each of its repeats, by means over the folds: the printed digits "
            "cannot be means over nine sets, which would be multiples of 1/18."
        ),
        (
            "With pools of 40 and 100 the mean rank of the paper is that of its rows of 40 and 100, as far "
            "as it prints them."
        ),
        _scales(),
    ),
    CLAIMS,
)
