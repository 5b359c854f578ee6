"""Comparison of methods by repeated stratified cross-validation over several tables."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import has_fit_parameter

from shortlist._validation import as_count, as_seed
from shortlist._words import counted
from shortlist.arrays import Labels
from shortlist.ensembles.estimators.base import PoolPruner
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.rows import rows_to_fit_and_prune
from shortlist.ensembles.pools.answers import class_probabilities
from shortlist.ensembles.pools.encoder import as_frame
from shortlist.ensembles.pools.fitting import make_pool, refit_members
from shortlist.ensembles.pools.members import with_copies
from shortlist.ensembles.pools.pool import Pool, asking_cost
from shortlist.errors import BadInputError, ShortlistError
from shortlist.runs import Budget, Cancellation, Finished, Unit, Work, run_units
from shortlist.runs.budget import seconds_now
from shortlist.runs.records import digest_of_arrays
from shortlist.runs.units import Unfinished, UnitGivenUp, WatchedCancellation
from shortlist.tables.fingerprints import table_fingerprint
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import Cases, cases_of_rows, classes_of_cases, shuffled_folds
from shortlist_papers.comparison import described
from shortlist_papers.rules.rule_pruners import pruning_methods

if TYPE_CHECKING:
    import pandas as pd


COMPARISON_COLUMNS = (
    "dataset",
    "repeat",
    "fold",
    "method",
    "accuracy",
    "balanced_accuracy",
    "size",
    "seconds",
)
"""Columns of a result.

The columns are data set, fold and method; shares of the test rows; number of members, if known; seconds of
fitting without the pool. With prices the column ``cost`` follows: the price of asking all members. With a
single member the column ``only_member`` follows: the member's name.
"""

RowsAndClasses: TypeAlias = tuple[Any, Labels] | tuple[Any, Labels, Cases | None]
"""Rows and their classes, possibly with the case of each row."""

SLICE_S = 120.0
"""Seconds after which a unit begins no further method. The unit keeps its results, and another unit measures
the remaining methods.
"""

Result: TypeAlias = dict[str, Any]
"""Result of one method in one fold."""


def compare_methods(
    tables: Mapping[str, RowsAndClasses],
    methods: Mapping[str, Any] | Sequence[str],
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    n_classifiers: int = 100,
    refit: bool = False,
    random_state: int = 0,
    work: Work | None = None,
    slice_s: float = SLICE_S,
) -> "pd.DataFrame":
    """Measure methods on the test folds of repeated stratified cross-validation.

    In every fold one pool is fitted on 70 % of the training rows, and every pruner (an estimator whose
    ``pool`` is None) prunes that pool on the other 30 %: with ten folds the 63 : 27 : 10 of Section 5.1 of
    :cite:t:`Bastos2022`. Other estimators are fitted on all training rows. An estimator with a
    ``random_state`` receives the fold's seed.

    Parameters
    ----------
    tables : mapping of str to (X, y) or (X, y, cases)
        Tables by name: frames or arrays, and classes; with the number of each row's case, no case is in two
        folds.
    methods : mapping of str to estimator, or sequence of str
        Unfitted classifiers by name, or names of :func:`pruning_methods`.
    n_folds, n_repeats : int, default=10 and 1
        Number of folds, each with a row of every class; number of repeats with other folds.
    n_classifiers : int, default=100
        Size of the pools.
    refit : bool, default=False
        Whether chosen members are fitted again on all training rows before the test rows measure them. Then
        the pool is fitted twice in every fold.
    random_state : int, default=0
        Seed of folds, pools and methods.
    work : Work, optional
        Workers, one fold at a time each; the study that keeps every method of a fold when the fold is
        finished, where methods may be added later; progress, one event per fold; and a way to stop with the
        folds finished so far.
    slice_s : float, default=120
        Seconds after which no further method of a fold begins before the finished ones are kept.

    Returns
    -------
    results : DataFrame
        One row per table, repeat, fold and method, with the columns of
        :data:`~shortlist_papers.pruning_comparison.COMPARISON_COLUMNS`, in that order, and ``cost``
        where a pool has prices, ``only_member`` where a committee has one member.

    Raises
    ------
    BadInputError
        If a number is out of range, a class has fewer rows than there are folds, a method cannot be used, or
        the study belongs to other settings.
    """
    chosen = dict(methods) if isinstance(methods, Mapping) else pruning_methods(methods)
    folds, repeats = as_count(n_folds, "n_folds", at_least=2), as_count(n_repeats, "n_repeats")
    size, seed = as_count(n_classifiers, "n_classifiers"), as_seed(random_state, "random_state")
    work = Work() if work is None else work
    work.study.bind({"n_folds": folds, "n_classifiers": size, "random_state": seed})
    again = {name: "fitted again, " if refit and _prunes(method) else "" for name, method in chosen.items()}
    work.study.bind({f"the method {name}": again[name] + described(one) for name, one in chosen.items()})
    folds_by_key: dict[str, tuple[str, Fold]] = {}
    for table, (X, y, *given) in tables.items():
        labels = np.asarray(y)
        cases = given[0] if given else None
        as_frame(X)
        if work.study.keeps:
            work.study.bind({f"the table {table}": table_fingerprint(X, labels).digest})
            if cases is not None:
                work.study.bind({f"the cases of {table}": digest_of_arrays([cases])})
        for fold in stratified_folds(
            table, X, labels, n_folds=folds, n_repeats=repeats, n_classifiers=size, seed=seed, cases=cases
        ):
            _check_fold(table, fold, chosen)
            folds_by_key[f"{table}/{fold.repeat}/{fold.number}"] = table, fold
    found = work.study.results()
    known = {
        key: {name: found[_key(key, name)] for name in chosen if _key(key, name) in found}
        for key in folds_by_key
    }
    measured, begun = {key: dict(rows) for key, rows in known.items()}, False
    while True:
        left = {
            key: {name: method for name, method in chosen.items() if name not in rows}
            for key, rows in measured.items()
        }
        done: dict[str, list[Result]] = {key: [] for key, methods in left.items() if not methods}
        if begun and (work.cancellation.cancelled or len(done) == len(left)):
            break
        units = [
            Unit(
                key, _finished_of_fold, (fold, left[key], refit, slice_s), kind=table,
                size=len(fold.y) * len(left[key]), whole=True,
            )
            for key, (table, fold) in folds_by_key.items()
        ]  # fmt: skip
        for key, rows in run_units(units, work, stage="comparing", parts=_parts, known=done):
            measured[key] |= {row["method"]: row for row in rows or []}
        begun = True
    results = [
        {"dataset": table, "repeat": fold.repeat, "fold": fold.number, **row}
        for key, (table, fold) in folds_by_key.items()
        for row in (measured[key] if key in done else known[key]).values()
    ]
    return _frame(results, [*tables, *chosen])


def _key(fold: str, method: str) -> str:
    return f"{fold}/{method}"


def _parts(key: str, measured: Sequence[Result]) -> list[Finished]:
    """Return the records of a fold in a study: one unit for each method."""
    return [Finished(_key(key, row["method"]), row, row["seconds"]) for row in measured]


def _check_fold(table: str, fold: "Fold", methods: Mapping[str, Any]) -> None:
    """Raise BadInputError, before any pool is fitted, if a fold leaves a pruner too few rows.

    Two classes, for exact pruning all, must have two training rows.
    """
    pruners = [method for method in methods.values() if _prunes(method)]
    if not pruners:
        return
    classes, counts = np.unique(fold.y[fold.train], return_counts=True)
    wanted = len(classes) if any(isinstance(each, ExactPruner) for each in pruners) else 2
    if (counts >= 2).sum() < wanted:
        raise BadInputError(
            f"{table}: a fold must leave 2 rows of a class to fit and to prune on, got {counts.min()} of "
            f"{str(classes[counts.argmin()])!r}. Use more folds, or add rows."
        )


def measure_fold(
    fold: "Fold",
    methods: Mapping[str, Any],
    refit: bool = False,  # a unit's arguments have no names
    *,
    budget: Budget | None = None,
    slice_s: float = math.inf,
) -> list[Result]:
    """Return the results of every method on one fold, until the budget's cancellation stops a method.

    After `slice_s` seconds, no further method begins.
    """
    stop = Cancellation() if budget is None else budget.cancellation
    measured: list[Result] = []
    try:
        # also what comes before a raise
        measured.extend(_measured_methods(fold, methods, refit, stop, slice_s))
    except (ShortlistError, UnitGivenUp):
        if not stop.cancelled:
            raise
    return measured


def _finished_of_fold(
    fold: "Fold", methods: Mapping[str, Any], refit: bool, slice_s: float, *, budget: Budget
) -> list[Result] | Unfinished:
    measured = measure_fold(fold, methods, refit, budget=budget, slice_s=slice_s)
    return measured if len(measured) == len(methods) else Unfinished(measured)


def _measured_methods(
    fold: "Fold", methods: Mapping[str, Any], refit: bool, stop: Cancellation, slice_s: float
) -> Iterator[Result]:
    """Yield the results of every method on one fold, until a cancellation or the end of the slice."""
    pool, again, validation = None, None, fold.train
    if any(map(_prunes, methods.values())):
        fitted, validation = _fitted_pool(fold, stop)
        pool = _remembered(fold, fitted, np.concatenate([validation, fold.test]))
        again = _refitted(fold, fitted) if refit else None
    begun = seconds_now()
    for place, (name, method) in enumerate(methods.items()):
        if stop.cancelled or (place and seconds_now() - begun > slice_s):
            return
        start, own = seconds_now(), WatchedCancellation(stop)
        answer = fit_method(fold, method, pool, validation, own)
        seconds = seconds_now() - start
        if own.seen:
            return
        if again is not None and answer.prunes:
            _let_answer(answer.estimator, again)
        committee = getattr(answer.estimator, "pool_", None)
        cost = asking_cost(committee) if isinstance(committee, Pool) else None
        only = committee.names[0] if isinstance(committee, Pool) and len(committee) == 1 else None
        yield (
            {
                "method": name,
                **answer.accuracies(fold),
                "size": _n_members(answer.estimator),
                "seconds": seconds,
            }
            | ({} if cost is None else {"cost": cost})
            | ({} if only is None else {"only_member": only})
        )


def fold_pool(fold: "Fold", cancellation: Cancellation | None = None) -> tuple[Pool, NDArray[np.intp]]:
    """Return the pool of a fold, fitted, with its answers in memory, and the training rows that prune it.

    The rows are indices.
    """
    pool, validation = _fitted_pool(fold, cancellation)
    return _remembered(fold, pool, np.concatenate([validation, fold.test])), validation


def _fitted_pool(fold: "Fold", cancellation: Cancellation | None) -> tuple[Pool, NDArray[np.intp]]:
    fitted, pruned = rows_to_fit_and_prune(
        fold.y[fold.train], fold.seed, cases_of_rows(fold.cases, fold.train)
    )
    fit_rows = fold.train[fitted]
    pool = make_pool(
        take_rows(fold.X, fit_rows),
        fold.y[fit_rows],
        n_classifiers=fold.n_classifiers,
        plain=(),
        random_state=fold.seed,
        cancellation=cancellation,
    )
    return pool, fold.train[pruned]


def _refitted(fold: "Fold", pool: Pool) -> Pool:
    """Return the pool of a fold, fitted again on all training rows.

    It has its answers to the test rows in memory.
    """
    again = refit_members(pool, take_rows(fold.X, fold.train), fold.y[fold.train], seed=fold.seed)
    return _remembered(fold, again, fold.test)


def _remembered(fold: "Fold", pool: Pool, asked: NDArray[np.intp]) -> Pool:
    return remembered_pool(pool, class_probabilities(pool, take_rows(fold.X, asked)), asked, len(fold.y))


def _let_answer(pruner: PoolPruner, pool: Pool) -> None:
    """Replace the members of a pruner by the members of another fit, each with its number of copies."""
    pruner.committee_ = pruner.committee_.with_members(with_copies(pool, pruner.chosen_.copies))


@dataclass(frozen=True, eq=False)
class FittedMethod:
    """Fitted method, which answers rows of its table by their indices."""

    estimator: Any
    prunes: bool
    X: Any

    def __call__(self, rows: NDArray[np.intp]) -> Labels:
        """Return the predicted classes of the rows with these indices."""
        asked = rows[:, None] if self.prunes else take_rows(self.X, rows)
        return np.asarray(self.estimator.predict(asked))

    def accuracies(self, fold: "Fold") -> dict[str, float]:
        """Return the share of right test rows, and the mean of this share over classes."""
        truth = fold.y[fold.test]
        right = self(fold.test) == truth
        recalls = [float(right[truth == label].mean()) for label in np.unique(truth)]
        return {"accuracy": float(right.mean()), "balanced_accuracy": float(np.mean(recalls))}


def fit_method(
    fold: "Fold",
    method: Any,
    pool: Pool | None,
    validation: NDArray[np.intp],
    cancellation: Cancellation | None = None,
    *,
    clock: Callable[[], float] = seconds_now,
) -> FittedMethod:
    """Return one method fitted on a fold: a pruner on `validation`, the rows that prune `pool`.

    Other methods are fitted on all training rows. Time limits of exact methods use `clock`.
    """
    estimator = clone(method)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=fold.seed)
    told = {"cancellation": cancellation, "clock": clock}
    stop = {name: value for name, value in told.items() if has_fit_parameter(estimator, name)}
    if _prunes(method):
        estimator.set_params(pool=pool).fit(validation[:, None], fold.y[validation], **stop)
        reason = getattr(getattr(estimator, "result_", None), "reason", "")
        if reason and not (cancellation is not None and cancellation.cancelled):
            raise BadInputError(
                f"exact pruning found no selection in fold {fold.number + 1} of repeat {fold.repeat + 1}: "
                f"{reason}. Relax the limits, or compare without it."
            )
    else:
        estimator.fit(take_rows(fold.X, fold.train), fold.y[fold.train], **stop)
    return FittedMethod(estimator, _prunes(method), fold.X)


@dataclass(frozen=True, eq=False)
class Fold:
    """Split of one table into training and test rows."""

    X: Any
    y: Labels
    """Rows and classes of the table."""
    repeat: int
    number: int
    """Index of the repeat, and index of the fold within it, both from 0."""
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    """Indices of the training rows, and of the test rows."""
    n_classifiers: int
    seed: int
    """Number of classifiers in a pool, and the seed of the pool and of the methods."""
    cases: Cases | None = None
    """Case of each row, ``(n_samples,)``."""


class RememberedClassifier(ClassifierMixin, BaseEstimator):
    """Classifier of row indices, which returns stored answers of another classifier."""

    def __init__(self, probabilities: Any, places: Any, classes_: Any) -> None:
        self.probabilities = probabilities
        self.places = places
        self.classes_ = classes_

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of the rows with these indices."""
        return np.asarray(self.probabilities[self.places[np.asarray(X)[:, 0]]])

    def predict(self, X: Any) -> Labels:
        """Return the most probable class of each row index; of equally probable classes the first."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def remembered_pool(pool: Pool, answers: NDArray[np.float64], rows: NDArray[np.intp], n_rows: int) -> Pool:
    """Return a pool for row indices, so that all methods prune the same answers, computed once."""
    places = np.zeros(n_rows, dtype=np.intp)
    places[rows] = np.arange(len(rows))
    each = np.ascontiguousarray(answers.transpose(1, 0, 2))
    members = tuple(RememberedClassifier(one, places, pool.classes) for one in each)
    return Pool(members, pool.classes, pool.names, pool.families, costs=pool.costs)


def best_singles(results: "pd.DataFrame") -> dict[str, int]:
    """Return the number of folds of each choice of ``best-single``, the most frequent first."""
    if "only_member" not in results:
        return {}
    names = Counter(results.loc[results["method"] == "best-single", "only_member"].dropna())
    return dict(names.most_common())


def best_singles_text(results: "pd.DataFrame") -> str:
    """Return a sentence on the choices of ``best-single``; empty if it was not compared."""
    told = [f"{name} in {counted(n, 'fold')}" for name, n in best_singles(results).items()]
    return f"best-single: {', '.join(told)}." if told else ""


def _prunes(method: Any) -> bool:
    """Return whether a method prunes and has no pool yet."""
    parameters = method.get_params()
    return "pool" in parameters and parameters["pool"] is None


def _n_members(estimator: Any) -> float:
    """Return the number of different classifiers that a fitted method asks; NaN if it is unknown."""
    if hasattr(estimator, "copies_"):
        return int(np.count_nonzero(estimator.copies_))
    for name in ("pool_", "members_", "estimators_"):
        if hasattr(estimator, name):
            return len(getattr(estimator, name))
    return float("nan")


def stratified_folds(
    table: str,
    X: Any,
    y: Labels,
    *,
    n_folds: int,
    n_repeats: int,
    n_classifiers: int,
    seed: int,
    cases: Cases | None = None,
) -> list[Fold]:
    """Return stratified splits of a table, different in every repeat; cases stay whole.

    Raises BadInputError if there is only one class, or a class has fewer rows (with cases, fewer cases) than
    there are folds.
    """
    classes, counts = np.unique(classes_of_cases(y, cases), return_counts=True)
    if len(classes) < 2 or counts.min() < n_folds:
        what = "rows" if cases is None else "cases"
        raise BadInputError(
            table,
            f"must hold two classes or more with at least {n_folds} {what} each, one per fold",
            f"{counts.min()} of {str(classes[np.argmin(counts)])!r} and {len(classes)} classes",
            "Use fewer folds.",
        )
    folds = []
    for repeat in range(n_repeats):
        for number, (train, test) in enumerate(shuffled_folds(y, n_folds, _word(seed, repeat), cases)):
            fold_seed = _word(seed, repeat, number)
            folds.append(Fold(X, y, repeat, number, train, test, n_classifiers, fold_seed, cases))
    return folds


def _word(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1)[0] % 2**31)


def _frame(finished: Sequence[Result], order: Sequence[str]) -> "pd.DataFrame":
    import pandas as pd

    places = {name: place for place, name in enumerate(order)}
    more = [name for name in ("cost", "only_member") if any(name in row for row in finished)]
    frame = pd.DataFrame(finished, columns=[*COMPARISON_COLUMNS, *more])
    named = ("dataset", "method")
    return frame.sort_values(
        list(COMPARISON_COLUMNS[:4]),
        key=lambda column: column.map(places) if column.name in named else column,
    ).reset_index(drop=True)
