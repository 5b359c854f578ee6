"""Evolution on one table: evolve, and measure on rows that were held out or are of another file."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Labels
from shortlist.ensembles.estimators.rows import split_rows
from shortlist.ensembles.measured import NO_CLASS, TEST_SHARE, Advice, Measured, advise, measure, only_answer
from shortlist.guarantees.cells import empty_rows, places_of
from shortlist.results.measuring import Measuring, TableRows
from shortlist.runs import Budget
from shortlist.runs.budget import seconds_now
from shortlist.tables.fingerprints import RowsOfTable, table_fingerprint
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import Cases

if TYPE_CHECKING:  # its kernels take seconds to load, which exact pruning need not wait for
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier


@dataclass(frozen=True)
class EvolvedTable:
    """A fitted ensemble, and what it and the best individual of the last generation do on the test rows."""

    classifier: "EvolutionaryEnsembleClassifier"
    n_rows: dict[str, int]
    test: dict[str, Measured]
    seconds: float
    # the class that the ensemble gives every row that it was evolved on, if there is one only
    only_answer: str | None
    advice: Advice


def evolve_table(
    X: Any,
    y: Labels,
    classifier: "EvolutionaryEnsembleClassifier",
    *,
    seed: int = 0,
    cases: Cases | None = None,
    measuring: Measuring | None = None,
    budget: Budget | None = None,
) -> EvolvedTable:
    """Split the rows 90 : 10, stratified; evolve an ensemble on the first part, and measure on the second.

    With rows to test all of the table evolves. Raises BadInputError if a class has too few rows to be in both
    parts, or an option cannot be used.

    `y`: two classes or more, ``(n_samples,)``. `cases`: of which case each row is, ``(n_samples,)``. All rows
    of a case are in one part. `measuring`: rows to test, and how much worse still is as good. `budget`:
    receives progress, stops evolution, and keeps its state.
    """
    classifier.check_options(y)
    how, work = measuring or Measuring(), budget or Budget()
    train, tested = np.arange(len(y)), how.test
    if tested is None:
        train, test = split_rows(train, y, TEST_SHARE, seed, cases)
        tested = TableRows(take_rows(X, test), y[test])
    X_train = take_rows(X, train)
    start = seconds_now()
    within = RowsOfTable(table_fingerprint(X, y), train)
    classifier.fit(
        X_train, y[train], report=work.report, cancellation=work.cancellation, study=work.study, within=within
    )
    seconds = seconds_now() - start
    population, classes = classifier.result_.population, classifier.classes_
    kept = np.flatnonzero(~empty_rows(X_train))  # no other rows are answered, or have evolved anything
    codes = classifier.space_.predict(population, classifier.encoder_.transform(take_rows(X_train, kept)))
    truth = np.searchsorted(classes, y[train][kept])
    best = population[[int(np.count_nonzero(codes == truth[:, None], axis=0).argmax())]]

    def ask_best(rows: Any) -> NDArray[np.int64]:
        codes = classifier.space_.predict(best, classifier.encoder_.transform(rows))[:, 0]
        nothing = empty_rows(rows, classifier.unknown_words(rows))
        return np.where(nothing, NO_CLASS, codes.astype(np.int64))  # codes have no sign

    def ask_ensemble(rows: Any) -> NDArray[np.int64]:
        return places_of(classifier.predict(rows), classes)

    size = len(classifier.members_)
    about: dict[str, Any] = {"classes": classes, "positive": 1, "cancellation": work.cancellation}
    measured = {
        "evolved": measure(ask_ensemble, size, *tested, **about),
        "best_single": measure(ask_best, 1, *tested, **about),
    }
    n_rows = {"train": len(train), "test": len(tested.y)}
    names = {"evolved": f"the ensemble of {size}", "best_single": "its best individual alone"}
    only = only_answer(ask_ensemble(X_train), classes)
    return EvolvedTable(
        classifier, n_rows, measured, seconds, only, advise(measured, names, margin=how.margin)
    )
