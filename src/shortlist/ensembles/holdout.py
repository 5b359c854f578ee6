"""The paper's protocol on one table: split, fit, choose, and measure on rows that nothing has seen."""

import dataclasses
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from shortlist._fit_inputs import take_rows
from shortlist.arrays import Labels
from shortlist.ensembles.answers import class_answers
from shortlist.ensembles.estimators import ExactPruner, checked_options
from shortlist.ensembles.fit_inputs import several_classes
from shortlist.ensembles.objectives import parse_objective
from shortlist.ensembles.plurality import ClassCodes, class_tally, plurality
from shortlist.ensembles.pool import Pool, make_pool, positive_probabilities
from shortlist.ensembles.recorded_rows import RecordedRows
from shortlist.ensembles.votes import Confusion, Votes, confusion, merge_rows, round_votes
from shortlist.ensembles.weights import named_weights
from shortlist.errors import BadInputError
from shortlist.fingerprints import table_fingerprint
from shortlist.runs import Cancellation, Report, silent

if TYPE_CHECKING:  # their kernels take seconds to load, which exact pruning need not wait for
    from shortlist.ensembles.rule_estimators import EvolutionaryEnsembleClassifier, PluralityPruner

TEST_SHARE = 0.10
VALIDATION_SHARE = 0.27
"""Shares of all rows (Section 5.1 of the paper); the remaining 63 % fit the classifiers."""

Ask = Callable[[Any], ClassCodes]
"""Gives the index of the class that a rule decides for every row."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What a rule does on the test rows.

    Attributes
    ----------
    decisions : ndarray of int, shape (n_classes, n_classes)
        Rows of each true class (first axis) by the class decided.
    classes : ndarray of shape (n_classes,)
        The classes, sorted.
    positive : int
        Index of the positive class; means something with two classes only.
    size : int
        Number of members.
    ms_per_1000_rows : float
        Wall-clock time of 1,000 answers.
    """

    decisions: NDArray[np.int64]
    classes: Labels
    positive: int
    size: int
    ms_per_1000_rows: float

    @property
    def accuracy(self) -> float:
        """Share of the rows that are right."""
        return float(np.trace(self.decisions) / self.decisions.sum())

    @property
    def balanced_accuracy(self) -> float:
        """Mean over the classes of the share of their rows that are right."""
        rows = self.decisions.sum(axis=1)
        return float(np.mean(np.diag(self.decisions)[rows > 0] / rows[rows > 0]))

    @property
    def confusion(self) -> Confusion | None:
        """The four kinds of decision; None with more than two classes."""
        if len(self.classes) > 2:
            return None
        one, other = self.positive, 1 - self.positive
        cases = ((one, one), (one, other), (other, other), (other, one))
        return Confusion(*(int(self.decisions[case]) for case in cases))

    def as_dict(self) -> dict[str, Any]:
        """Return the metrics for JSON; with more than two classes the decisions by true and decided class."""
        counts = self.confusion
        names = [str(label) for label in self.classes]
        by_case: dict[str, Any] = {
            name: dict(zip(names, row, strict=True))
            for name, row in zip(names, self.decisions.tolist(), strict=True)
        }
        if counts is not None:
            by_case = {
                "true_positive": counts.true_positive,
                "false_negative": counts.false_negative,
                "true_negative": counts.true_negative,
                "false_positive": counts.false_positive,
            }
        return {
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced_accuracy,
            "confusion": by_case,
            "size": self.size,
            "ms_per_1000_predictions": self.ms_per_1000_rows,
        }


@dataclass(frozen=True)
class PrunedTable:
    """A fitted pruner, and what it, the full ensemble and the best single classifier do on the test rows."""

    pruner: "ExactPruner | PluralityPruner"
    pool: Pool
    n_rows: dict[str, int]
    test: dict[str, Measured]
    seconds: float


@dataclass(frozen=True)
class EvolvedTable:
    """A fitted ensemble, and what it and the best individual of the last generation do on the test rows."""

    classifier: "EvolutionaryEnsembleClassifier"
    n_rows: dict[str, int]
    test: dict[str, Measured]
    seconds: float


def prune_table(
    X: Any,
    y: Labels,
    pruner: "ExactPruner | PluralityPruner",
    *,
    n_classifiers: int = 100,
    seed: int = 0,
    n_jobs: int = 1,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> PrunedTable:
    """Split the rows 63 : 27 : 10, stratified; fit a pool, prune it, and measure on the last part.

    With a pool of the pruner's own the first part is not needed: then 90 % of the rows prune.

    Parameters
    ----------
    X : DataFrame or array of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Two classes, or more where the pruner goes by plurality.
    pruner : ExactPruner or PluralityPruner
        Unfitted, with all options but the pool.
    n_classifiers, seed, n_jobs : int
        Of the pool and the split.
    report, cancellation : optional
        Progress events, and a way to stop the proof with the best selection found.

    Raises
    ------
    BadInputError
        If a class has too few rows to be in every part.
    """
    if isinstance(pruner, ExactPruner):
        checked_options(pruner, y)
    else:
        pruner.check_options(y)
    rest, test = _split(np.arange(len(y)), y, TEST_SHARE, seed)
    n_rows = {"test": len(test)}
    if pruner.pool is None:
        train, validation = _split(rest, y[rest], VALIDATION_SHARE / (1 - TEST_SHARE), seed)
        n_rows |= {"train": len(train), "validation": len(validation)}
        pool = make_pool(
            take_rows(X, train), y[train], n_classifiers=n_classifiers, random_state=seed, n_jobs=n_jobs,
            report=report, cancellation=cancellation,
        )  # fmt: skip
        pruner = pruner.set_params(pool=pool)
    else:
        validation = rest
        n_rows |= {"train": 0, "validation": len(rest)}
    start = time.perf_counter()
    pruner.fit(take_rows(X, validation), y[validation], report=report, cancellation=cancellation)
    seconds = time.perf_counter() - start
    pruner.validation_ = _in_table(pruner.validation_, validation, X, y)
    pool = pruner.pool
    measured: dict[str, Measured] = {}
    if not isinstance(pruner, ExactPruner) or not pruner.result_.reason:
        rules = _rules(pruner, pool, take_rows(X, validation), y[validation])
        chosen = getattr(pruner, "positive_", None)
        positive = 1 if chosen is None else list(pruner.classes_).index(chosen)
        for name, (size, ask) in rules.items():
            measured[name] = _measure(
                ask, size, take_rows(X, test), y[test], classes=pruner.classes_, positive=positive
            )
    return PrunedTable(pruner, pool, n_rows, measured, seconds)


def evolve_table(
    X: Any,
    y: Labels,
    classifier: "EvolutionaryEnsembleClassifier",
    *,
    seed: int = 0,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> EvolvedTable:
    """Split the rows 90 : 10, stratified; evolve an ensemble on the first part, and measure on the second.

    Parameters
    ----------
    X : DataFrame or array of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Two classes or more.
    classifier : EvolutionaryEnsembleClassifier
        Unfitted.
    seed : int
        Of the split.
    report, cancellation : optional
        Progress events, and a way to stop with the ensemble of the generations so far.

    Raises
    ------
    BadInputError
        If a class has too few rows to be in both parts, or an option cannot be used.
    """
    several_classes(y)
    train, test = _split(np.arange(len(y)), y, TEST_SHARE, seed)
    X_train = take_rows(X, train)
    start = time.perf_counter()
    classifier.fit(X_train, y[train], report=report, cancellation=cancellation)
    seconds = time.perf_counter() - start
    classifier.training_ = _in_table(classifier.training_, train, X, y)
    population = classifier.result_.population
    codes = classifier.space_.predict(population, classifier.encoder_.transform(X_train))
    truth = np.searchsorted(classifier.classes_, y[train])
    best = population[[int(np.count_nonzero(codes == truth[:, None], axis=0).argmax())]]

    def ask_best(rows: Any) -> ClassCodes:
        return classifier.space_.predict(best, classifier.encoder_.transform(rows))[:, 0]

    def ask_ensemble(rows: Any) -> ClassCodes:
        return np.searchsorted(classifier.classes_, classifier.predict(rows)).astype(np.uint8)

    rules = {"evolved": (len(classifier.members_), ask_ensemble), "best_single": (1, ask_best)}
    measured = {
        name: _measure(ask, size, take_rows(X, test), y[test], classes=classifier.classes_, positive=1)
        for name, (size, ask) in rules.items()
    }
    return EvolvedTable(classifier, {"train": len(train), "test": len(test)}, measured, seconds)


def _in_table(record: RecordedRows, rows: NDArray[np.intp], X: Any, y: Labels) -> RecordedRows:
    """Let a record speak of the whole table, of which the estimator knew some rows only."""
    return dataclasses.replace(record, rows=rows, table=table_fingerprint(X, y))


def _rules(pruner: Any, pool: Pool, X: Any, y: Labels) -> dict[str, tuple[int, Ask]]:
    """Return size and decision of the pruned, the full and the best single rule."""
    if not isinstance(pruner, ExactPruner) or pruner.threshold_ is None:
        truth = np.searchsorted(pool.classes, y)
        alone = np.count_nonzero(class_answers(pool, X) == truth[:, None], axis=0)
        return {
            "pruned": (len(pruner.pool_), _by_plurality(pruner.pool_)),
            "full": (len(pool), _by_plurality(pool)),
            "best_single": (1, _by_plurality(pool.subset([int(alone.argmax())]))),
        }
    votes = merge_rows(
        round_votes(positive_probabilities(pool, X, pruner.positive_)),
        np.asarray(y == pruner.positive_).astype(np.uint8),
    )
    single = pool.subset([_best_single(votes, pruner.objective)])
    return {
        "pruned": (len(pruner.pool_), _by_threshold(pruner.pool_, pruner.threshold_, pruner.positive_)),
        "full": (len(pool), _by_threshold(pool, len(pool) // 2, pruner.positive_)),
        "best_single": (1, _by_threshold(single, 0, pruner.positive_)),
    }


def _by_plurality(members: Pool) -> Ask:
    """Let the members vote, ties to the lowest class."""
    return lambda X: plurality(class_tally(class_answers(members, X), len(members.classes)))


def _by_threshold(members: Pool, threshold: int, positive: Any) -> Ask:
    """Let the members vote on the positive class against a threshold."""
    index = list(members.classes).index(positive)

    def ask(X: Any) -> ClassCodes:
        votes = round_votes(positive_probabilities(members, X, positive))
        decided = votes.sum(axis=1, dtype=np.int64) > threshold
        return np.where(decided, index, 1 - index).astype(np.uint8)

    return ask


def _best_single(votes: Votes, objective: str | Mapping[str, float]) -> int:
    """Return the classifier worth most on the validation rows; the first of equals."""
    weights = named_weights(parse_objective(objective)[0], votes)
    members = np.eye(votes.n_classifiers, dtype=bool)
    return int(np.argmax([weights.total(confusion(votes, mask, 0)) for mask in members]))


def _measure(ask: Ask, size: int, X: Any, y: Labels, *, classes: Labels, positive: int) -> Measured:
    """Count the decisions on the test rows; time them on at least 1,000 rows."""
    decisions = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(decisions, (np.searchsorted(classes, y), ask(X)), 1)
    many = take_rows(X, np.arange(max(1000, len(y))) % len(y))
    times = []
    for _ in range(3):
        start = time.perf_counter()
        ask(many)
        times.append(time.perf_counter() - start)
    return Measured(decisions, classes, positive, size, statistics.median(times) * 1e6 / len(many))


def _split(
    rows: NDArray[np.int64], y: Labels, share: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split row numbers in two, stratified, the second part with this share."""
    classes, counts = np.unique(y, return_counts=True)
    size = max(len(classes), round(share * len(rows)))
    if counts.min() < 2 or len(rows) - size < len(classes):
        fewest = classes[np.argmin(counts)]
        raise BadInputError(
            f"every class needs rows in each part of the split, got {counts.min()} of {fewest!r}. Add rows."
        )
    first, second = train_test_split(rows, test_size=size, stratify=y, random_state=seed)
    return first, second
