"""The paper's protocol on one table: split, fit, choose, and measure on rows that nothing has seen."""

import dataclasses
import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.arrays import Labels
from shortlist.ensembles.committees.asking import EarlyAnswers
from shortlist.ensembles.committees.ballots import Mean, Threshold
from shortlist.ensembles.committees.chosen import Chosen, RecordedRows, member_answers
from shortlist.ensembles.committees.committee import Committee
from shortlist.ensembles.estimators.base import PruningRows, pruning_rows_of
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.goals.weights import worth_of_right
from shortlist.ensembles.measured import (
    TEST_SHARE,
    Advice,
    Measured,
    Reached,
    advise,
    only_answer,
    what_was_reached,
)
from shortlist.ensembles.pools.answers import class_answers, class_shares
from shortlist.ensembles.pools.fitting import make_pool
from shortlist.ensembles.pools.judges import abstentions
from shortlist.ensembles.pools.members import whole_pool
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.pools.refit import cross_fit
from shortlist.ensembles.pruning.mean_problem import soft_metric
from shortlist.ensembles.votes.hard_votes import ClassCodes
from shortlist.errors import BadInputError
from shortlist.guarantees.cells import places_of
from shortlist.guarantees.selective_classifier import SelectiveClassifier
from shortlist.runs import NO_STUDY, Cancellation, Report, Study, Work, silent
from shortlist.runs.budget import seconds_now
from shortlist.tables.fingerprints import table_fingerprint
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.splits import (
    N_FOLDS,
    Cases,
    RowNumbers,
    cases_of_rows,
    classes_of_cases,
    deal_folds,
    hold_out,
    keep_rows_apart,
    one_row_a_case,
    split_cases,
)

if TYPE_CHECKING:  # their kernels take seconds to load, which exact pruning need not wait for
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
    from shortlist.ensembles.estimators.rule_pruners import RulePruner

PRUNING_SHARE = 0.27
"""Share of all rows that selects members (Section 5.1 of the paper); the remaining 63 % fit classifiers."""

Ask = Callable[[Any], NDArray[Any]]
"""Gives the index of the class that a rule decides for every row, or :data:`NO_CLASS`."""

NO_CLASS = -1
"""Stands for the class of a row without an answer."""


@dataclass(frozen=True)
class PrunedTable:
    """A fitted pruner, and what it, the full ensemble and the best single classifier do on the test rows."""

    pruner: "ExactPruner | RulePruner"
    pool: Pool
    n_rows: dict[str, int]
    seconds: float
    test: dict[str, Measured] = field(default_factory=dict)
    reached: Reached | None = None
    only_answer: str | None = None  # what the selection gives every validation row, if it is one class only
    selective: SelectiveClassifier | None = None  # where something is promised: the pruner with its threshold
    answered: tuple[int, int] | None = None  # then, of the test rows, those answered, and rightly
    right_where_chosen: dict[str, int] = field(default_factory=dict)  # selection rows that each gets right
    best_single: str = ""  # who that is
    chosen: Chosen | None = None  # what is saved, shown and told; None where no selection keeps the limits
    early: EarlyAnswers | None = None  # of the test rows, where there are several members
    advice: Advice | None = None  # which rule to take by the test rows


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


def prune_table(
    X: Any,
    y: Labels,
    pruner: "ExactPruner | RulePruner | SelectiveClassifier",
    *,
    n_classifiers: int = 100,
    seed: int = 0,
    cases: Cases | None = None,
    work: Work | None = None,
) -> PrunedTable:
    """Split the rows 63 : 27 : 10, stratified; fit a pool, prune it, and measure on the last part.

    Where exact pruning goes by answers out of fold, the first two parts are one, which fits and prunes. With
    a pool of the pruner's own the first part is not needed: then 90 % of the rows prune. Where the pool is
    fitted here, exact pruning fits the members again on the first two parts, if its `refit` says so. Where
    something is to be promised, the classifier's calibration share of what is not tested is drawn before,
    without regard to classes. Raises BadInputError if a class has too few rows to be in every part, an option
    cannot be used, or limits contradict each other.

    `y`: two classes, or more where the pruner goes by plurality, ``(n_samples,)``. `pruner`: unfitted, with
    all options but the pool. `n_classifiers`, `seed`: of the pool and the split. `cases`: of which case each
    row is, ``(n_samples,)``. All rows of a case are in one part and in one fold, and one row of each case
    calibrates, since a promise counts on rows that know nothing of each other. `work`: workers that fit the
    pool; progress; a way to stop the proof with the best selection found; and the study that keeps the pool,
    and what exact pruning has done, to go on from there.
    """
    selective = pruner if isinstance(pruner, SelectiveClassifier) else None
    if isinstance(pruner, SelectiveClassifier):
        pruner.check_options(y)
        pruner = pruner.classifier
    check_pruner(pruner, y, n_classifiers)
    work = work or Work()
    rest, test = _split(np.arange(len(y)), y, TEST_SHARE, seed, cases)
    n_rows = {"test": len(test)}
    calibration = rest[:0]
    if selective is not None:
        rest, calibration = _calibrating(rest, y, selective.calibration_share, seed, cases)
        n_rows["calibration"] = len(calibration)
    fits_pool = pruner.pool is None
    fitted, validation = rest[:0], rest
    how: dict[str, Any] = {"n_jobs": work.workers, "report": work.report, "cancellation": work.cancellation}
    if fits_pool:
        fitted, validation = _fitting_and_pruning(rest, y, pruner, seed, cases)
        pool = make_pool(
            take_rows(X, fitted), y[fitted], n_classifiers=n_classifiers, random_state=seed,
            study=work.study.part("pool"), **how,
        )  # fmt: skip
        pruner = pruner.set_params(pool=pool)
        if fitted is validation:
            n_rows["folds"] = N_FOLDS
            crossed = cross_fit(
                pool, take_rows(X, rest), y[rest], folds=_folds(y[rest], seed, cases_of_rows(cases, rest)),
                random_state=seed, study=work.study.part("folds"), **how,
            )  # fmt: skip
            pruner = pruner.set_params(pool=crossed)
    n_rows |= {"train": len(fitted), "validation": len(validation)}
    start = seconds_now()
    run: dict[str, Any] = {"report": work.report, "cancellation": work.cancellation}
    if isinstance(pruner, ExactPruner):
        run["study"] = work.study.part("proof")
    pruner.fit(take_rows(X, validation), y[validation], **run)
    held_out = fits_pool and fitted is not validation
    if isinstance(pruner, ExactPruner) and pruner.refit and held_out and not pruner.result_.reason:
        pruner.fit_again(take_rows(X, rest), y[rest], seed=seed, report=work.report)
    seconds = seconds_now() - start
    rows = pruning_rows_of(pruner.pool, take_rows(X, validation), y[validation])
    pruner.validation_ = _in_table(pruner.validation_, validation[pruner.validation_.rows], X, y)
    if isinstance(pruner, ExactPruner) and pruner.result_.reason:
        return PrunedTable(pruner, rows.pool, n_rows, seconds)
    if selective is not None:
        selective.set_params(classifier=pruner)
        selective.calibrate(take_rows(X, calibration), y[calibration], chose=(rows.X, rows.y))
    tested = take_rows(X, test), y[test]
    found = PrunedTable(
        pruner, rows.pool, n_rows, seconds, **_compared(pruner, rows, *tested, work.cancellation),
        **_early_and_answered(pruner, selective, *tested), selective=selective,
        chosen=(selective or pruner).chosen_,
    )  # fmt: skip
    return dataclasses.replace(found, advice=_advice(found, y[test]))


def _compared(
    pruner: Any, rows: PruningRows, X: Any, y: Labels, cancellation: Cancellation | None
) -> dict[str, Any]:
    chosen: Chosen = pruner.chosen_
    asked, pool = _ask_pool(chosen, rows), rows.pool
    costs = pool.costs if getattr(pruner, "member_costs", None) is None else pruner.member_costs
    alone = _best_single(chosen, asked, costs)
    rules = _rules(chosen, pool, alone)
    decided = _n_decided(_decisions(rules["pruned"])(rows.X), pruner.classes_)
    terms, positive = chosen.terms, chosen.positive_place
    members = {"pruned": pruner.asked_, "full": slice(None), "best_single": [alone]}
    return {
        "test": {
            name: dataclasses.replace(
                _measure(
                    _decisions(rule),
                    len(set(map(id, rule.members.classifiers))),
                    X,
                    y,
                    classes=pruner.classes_,
                    positive=1 if positive is None else positive,  # of several nothing asks for it
                    cancellation=cancellation,
                ),
                price=None if costs is None else math.fsum(np.asarray(costs)[members[name]]),
            )
            for name, rule in rules.items()
        },
        "reached": what_was_reached(
            asked.answers == asked.truth[:, None],
            chosen.selection,
            costs=costs,
            max_cost=terms.max_cost,
            diversity=terms.diversity,
        ),
        "only_answer": only_answer(decided, pruner.classes_),
        "right_where_chosen": _right_where_chosen(chosen, rows, asked, rules, alone),
        "best_single": pool.names[alone],
    }


def _advice(pruned: PrunedTable, y: Labels) -> Advice:
    chosen: Any = pruned.chosen
    members, n = chosen.committee.names, len(pruned.pool)
    is_judged = bool(chosen.committee.judged_columns)
    objective, worth = _objective(chosen, np.searchsorted(chosen.classes_, y))
    costs = None if pruned.early is None else pruned.early.costs
    return advise(
        pruned.test,
        {
            "pruned": _called(members),
            "full": f"all {n}",
            "best_single": f"{pruned.best_single} alone",
        },
        objective=objective,
        worth=worth,
        spent=None if costs is None else float(costs.mean()),
        most=chosen.terms.max_cost,
        verb="Ask" if is_judged else "Use",
    )


def _called(members: tuple[str, ...]) -> str:
    if not members:
        return "no classifier"
    return f"{members[0]} alone" if len(members) == 1 else f"the committee of {len(members)}"


def _objective(chosen: Chosen, truth: NDArray[np.integer]) -> tuple[str, NDArray[np.float64]]:
    """Return by what rules are compared; where recall and specificity are objectives, by their mean."""
    goal, front = soft_metric(chosen.terms.goal), chosen.front
    if front is not None and {"recall", "specificity"} <= {*front.names}:
        goal = "balanced-accuracy"
    return worth_of_right(goal, truth, len(chosen.classes_), chosen.positive_place)


def _early_and_answered(
    pruner: Any, selective: SelectiveClassifier | None, X: Any, y: Labels
) -> dict[str, Any]:
    """Say what asking one after the other takes on the test rows, and what a promise answers of them."""
    least = None if selective is None else selective.guarantee_.threshold
    several = pruner.selection_.sum() > 1 and least != math.inf
    return {
        "early": pruner.predict_early(X, least=least) if several else None,
        "answered": None if selective is None else _answered(selective, X, y),
    }


def evolve_table(
    X: Any,
    y: Labels,
    classifier: "EvolutionaryEnsembleClassifier",
    *,
    seed: int = 0,
    cases: Cases | None = None,
    report: Report = silent,
    cancellation: Cancellation | None = None,
    study: Study = NO_STUDY,
) -> EvolvedTable:
    """Split the rows 90 : 10, stratified; evolve an ensemble on the first part, and measure on the second.

    Raises BadInputError if a class has too few rows to be in both parts, or an option cannot be used.

    `y`: two classes or more, ``(n_samples,)``. `cases`: of which case each row is, ``(n_samples,)``. All rows
    of a case are in one part. `study`: keeps the state of evolution, to go on from there.
    """
    classifier.check_options(y)
    train, test = _split(np.arange(len(y)), y, TEST_SHARE, seed, cases)
    X_train = take_rows(X, train)
    start = seconds_now()
    classifier.fit(X_train, y[train], report=report, cancellation=cancellation, study=study)
    seconds = seconds_now() - start
    classifier.training_ = _in_table(classifier.training_, train, X, y)
    population = classifier.result_.population
    codes = classifier.space_.predict(population, classifier.encoder_.transform(X_train))
    truth = np.searchsorted(classifier.classes_, y[train])
    best = population[[int(np.count_nonzero(codes == truth[:, None], axis=0).argmax())]]

    def ask_best(rows: Any) -> ClassCodes:
        return classifier.space_.predict(best, classifier.encoder_.transform(rows))[:, 0]

    def ask_ensemble(rows: Any) -> NDArray[np.int64]:
        return places_of(classifier.predict(rows), classifier.classes_)

    rules: dict[str, tuple[int, Ask]] = {
        "evolved": (len(classifier.members_), ask_ensemble),
        "best_single": (1, ask_best),
    }
    measured = {
        name: _measure(
            ask,
            size,
            take_rows(X, test),
            y[test],
            classes=classifier.classes_,
            positive=1,
            cancellation=cancellation,
        )
        for name, (size, ask) in rules.items()
    }
    decided = _n_decided(ask_ensemble(X_train), classifier.classes_)
    only = only_answer(decided, classifier.classes_)
    n_rows = {"train": len(train), "test": len(test)}
    names = {
        "evolved": f"the ensemble of {len(classifier.members_)}",
        "best_single": "its best individual alone",
    }
    return EvolvedTable(classifier, n_rows, measured, seconds, only, advise(measured, names))


def _in_table(record: RecordedRows, rows: NDArray[np.intp], X: Any, y: Labels) -> RecordedRows:
    return dataclasses.replace(record, rows=rows, table=table_fingerprint(X, y))


def check_pruner(pruner: "ExactPruner | RulePruner", y: Labels, n_classifiers: int) -> None:
    """Refuse whatever can be known to be of no use before a pool is fitted, or a given one is asked.

    Raises BadInputError if an option or the classes cannot be used, the pool tells other classes apart, or no
    selection keeps the limits on size and cost.

    `y`, ``(n_samples,)``: the classes of all rows. `n_classifiers`: size of the pool that is to be fitted
    where the pruner has none.
    """
    pruner.check_options(y)
    if not isinstance(pruner, ExactPruner):
        return
    pool = None if pruner.pool is None else whole_pool(pruner.pool)
    n = as_count(n_classifiers, "n_classifiers") if pool is None else len(pool)
    if conflict := pruner.limits_of(pool, n).conflict():
        raise BadInputError(f"no selection can keep the limits: {conflict}. Relax them.")


@dataclass(frozen=True, eq=False)
class _Asked:
    """What the pool answers on the selection rows: places of classes, one column for each classifier."""

    answers: ClassCodes
    truth: NDArray[np.integer]


def _ask_pool(chosen: Chosen, rows: PruningRows) -> _Asked:
    truth = np.searchsorted(rows.pool.classes, rows.y)
    if chosen.committee.ballot.threshold is None:
        return _Asked(rows.answers(class_answers), truth)
    everybody = np.ones(len(rows.pool), dtype=bool)
    codes = member_answers(chosen.record, everybody, chosen.positive_place).codes
    assert codes is not None, "votes for one class are on record"
    return _Asked(codes, truth)


def _rules(chosen: Chosen, pool: Pool, alone: int) -> dict[str, Committee]:
    kept = chosen.committee

    def of(members: Pool) -> Committee:
        n, ballot = len(members), kept.ballot
        if ballot.threshold is not None:
            ballot = Threshold(n // 2, n, chosen.positive_place or 0)
        elif ballot.by_mean:
            ballot = Mean(chosen.gains)
        return Committee(members, np.ones(n, dtype=np.int64), ballot)

    return {"pruned": kept, "full": of(pool), "best_single": of(pool.subset([alone]))}


def _decisions(committee: Committee) -> Ask:
    """Return how a committee decides rows by all answers; a row on which all abstain gets no class."""

    def ask(X: Any) -> NDArray[np.int64]:
        members, ballot = committee.members, committee.ballot
        if not ballot.by_mean:
            return ballot.decided(ballot.codes_of(members, X))
        heard = abstentions(members.classifiers, X) < len(members)
        return np.where(heard, ballot.decided(class_shares(members, X)), NO_CLASS)

    return ask


def _right_where_chosen(
    chosen: Chosen, rows: PruningRows, asked: _Asked, rules: Mapping[str, Committee], alone: int
) -> dict[str, int]:
    """Count the selection rows that each rule gets right; a missing answer is wrong."""
    shares = None
    if chosen.committee.ballot.by_mean:
        shares = chosen.record.shares
        shares = rows.answers(class_shares) if shares is None else shares
    all_of_them, found = np.arange(len(rows.pool)), {}
    members = np.repeat(all_of_them, chosen.copies)
    of_rule = {"pruned": members, "full": all_of_them, "best_single": all_of_them[[alone]]}
    for name, places in of_rule.items():
        answers = asked.answers[:, places]
        heard = (answers < len(chosen.classes_)).any(axis=1) | (not len(places))
        decided = rules[name].ballot.decided(answers if shares is None else shares[:, places])
        found[name] = int((heard & (decided == asked.truth)).sum())
    return found


def _answered(selective: SelectiveClassifier, X: Any, y: Labels) -> tuple[int, int]:
    decided, found = selective.predict(X), selective.answers(X)
    return int(found.sum()), int((found & (decided == y)).sum())


def _best_single(chosen: Chosen, asked: _Asked, costs: Any) -> int:
    """Return the classifier worth most on the selection rows; the first of equals.

    It costs no more than the committee may, unless every one does.
    """
    _, worth = _objective(chosen, asked.truth)
    values, most = np.round(worth @ (asked.answers == asked.truth[:, None]), 9), chosen.terms.max_cost
    within = np.ones(len(values), dtype=bool) if costs is None or most is None else np.asarray(costs) <= most
    return int(np.where(within | ~within.any(), values, -np.inf).argmax())


def _n_decided(codes: NDArray[Any], classes: Labels) -> NDArray[np.int64]:
    return np.bincount(codes[codes != NO_CLASS], minlength=len(classes))


ENOUGH_S = 1.0
"""Seconds of asking from which on it is timed no further."""


def _measure(
    ask: Ask,
    size: int,
    X: Any,
    y: Labels,
    *,
    classes: Labels,
    positive: int,
    cancellation: Cancellation | None,
) -> Measured:
    """Count the decisions on the test rows; a row without an answer is wrong.

    Time them on at least 1,000 rows unless somebody waits for the end, three times or for a second.
    """
    start = seconds_now()
    truth = np.searchsorted(classes, y)
    decided = np.asarray(ask(X), dtype=np.int64)
    decided = np.where(decided == NO_CLASS, (truth + 1) % len(classes), decided)
    times = [(seconds_now() - start) / len(y)]
    decisions = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(decisions, (truth, decided), 1)
    if cancellation is None or not cancellation.cancelled:
        many = take_rows(X, np.arange(max(1000, len(y))) % len(y))
        times = []
        while len(times) < 3 and sum(times) * len(many) < ENOUGH_S:
            start = seconds_now()
            ask(many)
            times.append((seconds_now() - start) / len(many))
    return Measured(decisions, classes, positive, size, statistics.median(times) * 1e6, truth == decided)


def _split(
    rows: RowNumbers, y: Labels, share: float, seed: int, cases: Cases | None = None
) -> tuple[RowNumbers, RowNumbers]:
    """Split row numbers in two, stratified, the second part with this share of the rows, or of the cases."""
    _refuse_lonely_class(y, cases)
    kept, held = split_cases(y, cases, lambda labels: hold_out(labels, share, seed))
    return rows[kept], rows[held]


def _calibrating(
    rows: RowNumbers, y: Labels, share: float, seed: int, cases: Cases | None
) -> tuple[RowNumbers, RowNumbers]:
    """Draw row numbers that calibrate, one of each case; return what fits and chooses, and these."""
    kept, held = split_cases(
        y[rows], cases_of_rows(cases, rows), lambda labels: keep_rows_apart(len(labels), share, seed)
    )
    return rows[kept], one_row_a_case(rows[held], cases, seed)


def _folds(y: Labels, seed: int, cases: Cases | None) -> int | NDArray[np.int8]:
    return N_FOLDS if cases is None else deal_folds(y, N_FOLDS, seed, cases)


def _fitting_and_pruning(
    rows: RowNumbers, y: Labels, pruner: Any, seed: int, cases: Cases | None
) -> tuple[RowNumbers, RowNumbers]:
    """Return which rows fit a pool and which prune it; out of fold all do both."""
    if not pruner.prunes_out_of_fold(len(rows)):
        return _split(rows, y[rows], PRUNING_SHARE / (1 - TEST_SHARE), seed, cases_of_rows(cases, rows))
    _refuse_lonely_class(y[rows], cases_of_rows(cases, rows))
    return rows, rows


def _refuse_lonely_class(y: Labels, cases: Cases | None) -> None:
    classes, counts = np.unique(classes_of_cases(y, cases), return_counts=True)
    if counts.min() < 2:
        what = "rows" if cases is None else "cases"
        raise BadInputError(
            f"every class needs {what} in each part of the split, got {counts.min()} of "
            f"{str(classes[np.argmin(counts)])!r}. Add {what}."
        )
