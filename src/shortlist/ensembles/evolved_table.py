"""Evolution on all rows of one table, with measurement by further evolutions, or on held-out rows."""

import dataclasses
import functools
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shortlist._threads import limited_threads
from shortlist._validation import AUTO, as_choice
from shortlist.arrays import Labels
from shortlist.ensembles.estimators.rows import split_rows
from shortlist.ensembles.measured import (
    ERROR_COST,
    NO_CLASS,
    Measured,
    MeasuredTable,
    advise,
    held_out_in_words,
    measure,
    measured_of,
    only_answer,
    time_of_answers,
    with_costs,
)
from shortlist.ensembles.pools.fitting import LONG_FITS_S
from shortlist.errors import UnknownWordWarning
from shortlist.guarantees.cells import empty_rows, places_of
from shortlist.results.measuring import PAPER, PROTOCOLS, Measuring, TableRows
from shortlist.results.repeated_choice import (
    Parts,
    choices_again,
    deal_parts,
    joined,
    measured_rows,
)
from shortlist.runs import Budget, Unit, Work, run_units
from shortlist.runs.budget import of_a_part, seconds_now
from shortlist.runs.records import digest_of_arrays
from shortlist.tables.fingerprints import NO_TABLE, RowsOfTable, table_fingerprint
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import IN_NO_FOLD, TEST_SHARE, Cases, RowNumbers, cases_of_rows

if TYPE_CHECKING:  # its kernels take seconds to load, which exact pruning need not wait for
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier

ENSEMBLE, BEST_SINGLE = "evolved", "best_single"
"""Names of the rules that are measured: the ensemble, and the best individual of the last generation."""

OUTER_PARTS, MOST_DEALS = 5, 2
"""Number of parts in a partition, and largest number of partitions; evolution starts again without each part.
Evolution, which learns again, needs more rows than a new choice among fitted classifiers (decision 150).
"""

MOST_ANSWERS = 2_000_000_000
"""Largest number of answers (of one individual to one row) in all evolutions that measure. A second of
processor time gives 6 to 60 million answers, depending on the search space.
"""


@dataclass(frozen=True, kw_only=True)
class EvolvedTable(MeasuredTable):
    """Ensemble evolved on a table, with the figures of the ensemble and of the best individual."""

    classifier: "EvolutionaryEnsembleClassifier" = field(kw_only=False)
    saved: "EvolutionaryEnsembleClassifier"
    """Model of the rule that the advice recommends."""
    rule_saved: str = ENSEMBLE
    is_held_out: bool = False
    """Whether rows of the table were held out for measurement."""
    is_alone: bool = False
    """Whether the ensemble consists of the best individual alone."""

    @property
    def names(self) -> dict[str, str]:
        """Names of the rules for sentences; an ensemble of the best individual alone has its name."""
        size = len(self.classifier.members_)
        ensemble = "its best individual alone" if self.is_alone else f"the ensemble of {size}"
        return {ENSEMBLE: ensemble, BEST_SINGLE: "its best individual alone"}

    @property
    def limits_of_measuring(self) -> str:
        """Sentence on the differences that held-out rows can show; empty if no rows were held out."""
        if self.advice is None or not self.is_held_out:
            return ""
        return held_out_in_words(self.advice.difference, self.n_rows["test"])


def evolve_table(
    X: Any,
    y: Labels,
    classifier: "EvolutionaryEnsembleClassifier",
    *,
    seed: int = 0,
    cases: Cases | None = None,
    measuring: Measuring | None = None,
    work: Work | None = None,
    most_answers: int = MOST_ANSWERS,
    long_s: float = LONG_FITS_S,
) -> EvolvedTable:
    """Evolve an ensemble on all rows, and measure it beside its best individual.

    Test rows measure the ensemble if they are given. Without test rows, there is repeated choice
    (:mod:`shortlist.results.repeated_choice`) if five more evolutions give at most `most_answers` answers:
    evolution starts again without each of five parts of the rows, and answers this part, for one or two
    partitions. Otherwise, or by the paper's protocol, a tenth of the rows, stratified, is held out and
    measures an ensemble that evolves on the other rows; this ensemble is saved. Raises BadInputError if a
    class has too few rows to be in both parts, or an option cannot be used.

    `y`: classes of the rows, two or more, ``(n_samples,)``. `classifier`: unfitted. `seed`: seed of the
    parts. `cases`: case of each row, ``(n_samples,)``; all rows of a case are in one part. `measuring`: rows
    to test, the margin of equivalence, and the rule whose model is saved. `work`: workers for further
    evolutions, progress, cancellation, and the study that keeps the state of evolution and the measured
    parts. If evolution is stopped, the result has the ensemble so far, without figures of repeated choice.
    `most_answers`: largest number of answers of individuals to rows in all evolutions that measure. `long_s`:
    seconds of evolution from which on workers run the further ones, since workers take time to start.
    """
    from shortlist.ensembles.estimators.evolved_ensemble import best_alone

    classifier.check_options(y)
    how, work, table = measuring or Measuring(), work or Work(), TableRows(X, y)
    as_choice(how.protocol, "protocol", PROTOCOLS)
    n_deals = _n_deals(classifier, len(y), most_answers) if how.protocol != PAPER else 0
    repeats = how.test is None and n_deals > 0
    train, tested = np.arange(len(y)), how.test
    if tested is None and not repeats:
        train, held = split_rows(train, y, TEST_SHARE, seed, cases)
        tested = table.some(held)
    rows, start = table.some(train), seconds_now()
    with limited_threads(1):  # so that the same seed rounds alike, whatever the number of workers
        classifier.fit(
            *rows, report=of_a_part(work.report) if repeats else work.report, cancellation=work.cancellation,
            study=work.study, within=RowsOfTable(table_fingerprint(X, y), train),
        )  # fmt: skip
    rules = {ENSEMBLE: classifier, BEST_SINGLE: best_alone(classifier, *rows)}
    found = EvolvedTable(
        classifier, n_rows={"train": len(train)}, seconds=0.0, saved=classifier,
        is_held_out=how.test is None and not repeats,
        is_alone=np.array_equal(classifier.members_, rules[BEST_SINGLE].members_),
        only_answer=only_answer(_places(classifier, rows.X), classifier.classes_),
    )  # fmt: skip
    measured: dict[str, Measured] = {}
    counts, truth = {}, np.empty(0, dtype=np.intp)
    if tested is not None:
        truth = np.searchsorted(classifier.classes_, tested.y)
        measured = {name: _tested(one, tested, work) for name, one in rules.items()}
    elif not work.cancellation.cancelled:
        is_long = OUTER_PARTS * n_deals * (seconds_now() - start) > long_s
        parts = _parts(table, n_deals, seed, cases)
        measured, truth = _repeated(rules, table, parts, work, is_long=is_long)
        counts = {"parts": OUTER_PARTS, "partitions": n_deals} if measured else {}
    seconds = seconds_now() - start
    if found.is_alone and measured:  # in the parts others may have joined
        measured[BEST_SINGLE] = measured[ENSEMBLE]
    if not measured:
        return dataclasses.replace(found, seconds=seconds)
    costs, worth = classifier.error_costs_, None
    if costs is not None:
        measured, worth = with_costs(measured, costs), np.array(costs, dtype=np.float64)[truth]
    advice = advise(
        measured, found.names, objective="accuracy" if costs is None else ERROR_COST, worth=worth,
        margin=how.margin, leans=True,
    )  # fmt: skip
    take = advice.take if how.take == AUTO else how.take
    n_rows = found.n_rows | {"test": measured[ENSEMBLE].n_rows} | counts
    return dataclasses.replace(
        found,
        n_rows=n_rows,
        seconds=seconds,
        saved=rules[take],
        rule_saved=take,
        test=measured,
        advice=advice,
    )


def _n_deals(classifier: "EvolutionaryEnsembleClassifier", n_rows: int, most_answers: int) -> int:
    """Return the number of partitions for further evolutions.

    The number follows from the number of answers and not from a clock, so that it is reproducible.
    """
    n_answers = n_rows * classifier.population_size * classifier.n_generations
    return min(MOST_DEALS, most_answers // (OUTER_PARTS * n_answers))


def _places(classifier: "EvolutionaryEnsembleClassifier", rows: Any) -> NDArray[np.int64]:
    return places_of(classifier.predict(rows), classifier.classes_)


def _parts(table: TableRows, n_deals: int, seed: int, cases: Cases | None) -> Parts:
    """Return the part of each row, partition by partition.

    Rows without any value are in no part, as nothing is evolved on them.
    """
    valued = np.flatnonzero(~empty_rows(table.X))
    dealt = deal_parts(table.y[valued], seed, cases_of_rows(cases, valued), n_parts=OUTER_PARTS, most=n_deals)
    parts = np.full((len(dealt), len(table.y)), IN_NO_FOLD, dtype=np.int8)
    parts[:, valued] = dealt
    return parts


def _tested(classifier: "EvolutionaryEnsembleClassifier", tested: TableRows, work: Work) -> Measured:
    return measure(
        functools.partial(_places, classifier), len(classifier.members_), *tested,
        classes=classifier.classes_, positive=1, cancellation=work.cancellation,
    )  # fmt: skip


def _repeated(
    rules: "Mapping[str, EvolutionaryEnsembleClassifier]", table: TableRows, parts: Parts, work: Work, *,
    is_long: bool,
) -> tuple[dict[str, Measured], NDArray[np.intp]]:  # fmt: skip
    """Return the figures of both rules, by evolving again without each part; empty if the work was stopped.

    The second value is the index of the true class of each row, once for every partition. `is_long`: whether
    workers evolve; otherwise this process does.
    """
    classes, again = rules[ENSEMBLE].classes_, choices_again(parts)
    study = work.study.part("parts")
    study.bind({"the parts": digest_of_arrays([parts])})
    given = (clone(rules[ENSEMBLE]), *table)
    units = [
        Unit(f"part {place + 1} of {len(again)}", evolve_part, (*given, one.kept, one.held), whole=True)
        for place, one in enumerate(again)
    ]
    own = dataclasses.replace(work, study=study, workers=work.workers if is_long else 1)
    found = [one for _, one in run_units(units, own, stage="evolving again")]
    if len(found) < len(units) or None in found:
        return {}, np.empty(0, dtype=np.intp)
    decided = joined(again, [{name: np.array(one[name]) for name in rules} for one in found])
    dealt, n = measured_rows(parts), len(parts)
    counted = np.union1d(dealt, np.flatnonzero(empty_rows(table.X)))  # which are not answered, and wrong
    measured, truth = {}, np.tile(np.searchsorted(classes, table.y[counted]), n)
    for name, one in rules.items():
        whole = np.full((n, len(table.y)), NO_CLASS)
        whole[:, dealt] = decided[name].reshape(n, -1)
        measured[name] = measured_of(
            whole[:, counted].ravel(), truth,
            size=len(one.members_), classes=classes, positive=1, times=n, parts=parts[:, counted].ravel(),
            ms=time_of_answers(functools.partial(_places, one), table.X, cancellation=work.cancellation),
        )  # fmt: skip
    return measured, truth


def evolve_part(  # units pass arguments by place
    classifier: "EvolutionaryEnsembleClassifier", X: Any, y: Labels, kept: RowNumbers, held: RowNumbers, *,
    budget: Budget,
) -> dict[str, list[int]]:  # fmt: skip
    """Return the class indices that the ensemble and the best individual give the held-out rows, by rule.

    `kept`: indices of the rows that the ensemble evolves on. `held`: indices of the held-out rows.

    Words that only held-out rows have count as missing values, as in new rows.
    """
    from shortlist.ensembles.estimators.evolved_ensemble import best_alone

    own, classes, asked = TableRows(X, y).some(kept), np.unique(y), take_rows(X, held)
    again = clone(classifier)
    with limited_threads(1), warnings.catch_warnings(category=UnknownWordWarning, action="ignore"):
        nowhere = RowsOfTable(NO_TABLE, np.arange(len(kept)))
        again.fit(*own, cancellation=budget.cancellation, within=nowhere)
        rules = {ENSEMBLE: again, BEST_SINGLE: best_alone(again, *own)}
        return {name: places_of(one.predict(asked), classes).tolist() for name, one in rules.items()}
