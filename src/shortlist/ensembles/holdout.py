"""The paper's protocol on one table: split, fit, choose, and measure on rows that nothing has seen."""

import dataclasses
import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.arrays import Labels, Mask
from shortlist.ensembles.committees.asking import EarlyAnswers
from shortlist.ensembles.committees.ballots import Mean, Threshold
from shortlist.ensembles.committees.chosen import Chosen, RecordedRows, member_answers
from shortlist.ensembles.committees.committee import Committee
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.rows import (
    PruningRows,
    own_pool,
    pruning_rows_of,
    refuse_lonely_class,
    split_rows,
)
from shortlist.ensembles.goals.weights import worth_of_right
from shortlist.ensembles.measured import (
    NO_CLASS,
    TEST_SHARE,
    Advice,
    Measured,
    advise,
    measure,
    only_answer,
    reached_facts,
)
from shortlist.ensembles.pools.answers import class_answers, class_shares
from shortlist.ensembles.pools.judges import abstentions
from shortlist.ensembles.pools.members import whole_pool
from shortlist.ensembles.pools.pool import Pool
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
    deal_folds,
    keep_rows_apart,
    one_row_a_case,
    split_cases,
)

if TYPE_CHECKING:  # their kernels take seconds to load, which exact pruning need not wait for
    from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
    from shortlist.ensembles.estimators.rule_pruners import RulePruner

PRUNING_SHARE = 0.27
"""Share of all rows that selects members (Section 5.1 of the paper); the remaining 63 % fit classifiers."""


@dataclass(frozen=True)
class PrunedTable:
    """A fitted pruner, and what it, the full ensemble and the best single classifier do on the test rows."""

    pruner: "ExactPruner | RulePruner"
    pool: Pool
    n_rows: dict[str, int]
    seconds: float
    test: dict[str, Measured] = field(default_factory=dict)
    reached: dict[str, Any] = field(default_factory=lambda: {"cost": None, "diversity": None})
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
    rest, test = split_rows(np.arange(len(y)), y, TEST_SHARE, seed, cases)
    n_rows = {"test": len(test)}
    calibration = rest[:0]
    if selective is not None:
        rest, calibration = _calibrating(rest, y, selective.calibration_share, seed, cases)
        n_rows["calibration"] = len(calibration)
    fits_pool = pruner.pool is None
    fitted, validation = rest[:0], rest
    if fits_pool:
        own = cases_of_rows(cases, rest)
        is_folded = pruner.prunes_out_of_fold(len(rest))
        if is_folded:
            refuse_lonely_class(y[rest], own)
            fitted, n_rows["folds"] = rest, N_FOLDS
        else:
            fitted, validation = split_rows(rest, y[rest], PRUNING_SHARE / (1 - TEST_SHARE), seed, own)
        pool = own_pool(
            *((take_rows(X, rest), y[rest], None) if is_folded else (X, y, fitted)),
            n_classifiers=n_classifiers, seed=seed, work=work,
            folds=N_FOLDS if own is None else deal_folds(y[rest], N_FOLDS, seed, own),
        )  # fmt: skip
        pruner = pruner.set_params(pool=pool)
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
    """Measure the committee, the whole pool and the best single classifier, and what the members have."""
    chosen: Chosen = pruner.chosen_
    pool, positive, everybody = rows.pool, chosen.positive_place, np.arange(len(rows.pool))
    costs = pool.costs if getattr(pruner, "member_costs", None) is None else pruner.member_costs
    answers, truth = _pool_answers(chosen, rows), np.searchsorted(pool.classes, rows.y)
    right = answers == truth[:, None]
    alone = _best_single(chosen, right, truth, costs)
    lone = int(chosen.copies.argmax()) if np.count_nonzero(chosen.copies) == 1 else None
    is_alone = lone is not None and (lone == alone or (chosen.result is not None and chosen.front is None))
    if is_alone and lone is not None:  # it is never compared with itself as it was before it was fitted again
        alone = lone
    places = {
        "pruned": np.repeat(everybody, chosen.copies),
        "full": everybody,
        "best_single": everybody[[alone]],
    }
    rules = {
        "pruned": chosen.committee,
        "full": _votes_of(chosen, pool),
        "best_single": chosen.committee if is_alone else _votes_of(chosen, pool.subset([alone])),
    }
    if is_alone:
        places["best_single"] = places["pruned"]
    shares = chosen.record.shares if chosen.committee.ballot.by_mean else None
    if chosen.committee.ballot.by_mean and shares is None:
        shares = rows.answers(class_shares)
    test, where_chosen = dict[str, Measured](), dict[str, int]()
    for name, rule in rules.items():
        where, own = places[name], answers[:, places[name]]
        heard = (own < len(chosen.classes_)).any(axis=1) | (not len(where))
        decided = rule.ballot.decided(own if shares is None else shares[:, where])
        where_chosen[name] = int((heard & (decided == truth)).sum())  # a missing answer is wrong
        measured = measure(
            functools.partial(_decided, rule),
            len(set(map(id, rule.members.classifiers))),
            X,
            y,
            classes=pruner.classes_,
            positive=1 if positive is None else positive,  # of several nothing asks for it
            cancellation=cancellation,
        )
        price = None if costs is None else math.fsum(np.asarray(costs)[np.unique(where)])
        test[name] = dataclasses.replace(measured, price=price)
    return {
        "test": test,
        "reached": reached_facts(
            right,
            chosen.selection,
            [name for name, n in zip(chosen.names, chosen.copies, strict=True) if n],
            costs=costs,
            max_cost=chosen.terms.max_cost,
            diversity=chosen.terms.diversity,
        ),
        "only_answer": only_answer(_decided(rules["pruned"], rows.X), pruner.classes_),
        "right_where_chosen": where_chosen,
        "best_single": pool.names[alone],
    }


def _pool_answers(chosen: Chosen, rows: PruningRows) -> ClassCodes:
    """Return the place of the class that each classifier answers on the selection rows."""
    if chosen.committee.ballot.threshold is None:
        return rows.answers(class_answers)
    codes = member_answers(chosen.record, np.ones(len(rows.pool), dtype=bool), chosen.positive_place).codes
    assert codes is not None, "votes for one class are on record"
    return codes


def _best_single(chosen: Chosen, right: Mask, truth: NDArray[np.integer], costs: Any) -> int:
    """Return the classifier worth most on the selection rows; the first of equals.

    It costs no more than the committee may, unless every one does.
    """
    _, worth = _objective(chosen, truth)
    values, most = np.round(worth @ right, 9), chosen.terms.max_cost
    within = np.ones(len(values), dtype=bool) if costs is None or most is None else np.asarray(costs) <= most
    return int(np.where(within | ~within.any(), values, -np.inf).argmax())


def _votes_of(chosen: Chosen, members: Pool) -> Committee:
    """Return some classifiers that decide as the committee does, each counted once."""
    n, ballot = len(members), chosen.committee.ballot
    if ballot.threshold is not None:
        ballot = Threshold(n // 2, n, chosen.positive_place or 0)
    elif ballot.by_mean:
        ballot = Mean(chosen.gains)
    return Committee(members, np.ones(n, dtype=np.int64), ballot)


def _decided(rule: Committee, X: Any) -> NDArray[np.int64]:
    """Return the class that all answers decide on every row; a row on which all abstain gets none."""
    members, ballot = rule.members, rule.ballot
    if not ballot.by_mean:
        return ballot.decided(ballot.codes_of(members, X))
    heard = abstentions(members.classifiers, X) < len(members)
    return np.where(heard, ballot.decided(class_shares(members, X)), NO_CLASS)


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
    answered = None
    if selective is not None:
        decided, found = selective.predict(X), selective.answers(X)
        answered = int(found.sum()), int((found & (decided == y)).sum())
    return {"early": pruner.predict_early(X, least=least) if several else None, "answered": answered}


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
    train, test = split_rows(np.arange(len(y)), y, TEST_SHARE, seed, cases)
    X_train = take_rows(X, train)
    start = seconds_now()
    classifier.fit(X_train, y[train], report=report, cancellation=cancellation, study=study)
    seconds = seconds_now() - start
    classifier.training_ = _in_table(classifier.training_, train, X, y)
    population, classes = classifier.result_.population, classifier.classes_
    codes = classifier.space_.predict(population, classifier.encoder_.transform(X_train))
    truth = np.searchsorted(classes, y[train])
    best = population[[int(np.count_nonzero(codes == truth[:, None], axis=0).argmax())]]

    def ask_best(rows: Any) -> ClassCodes:
        return classifier.space_.predict(best, classifier.encoder_.transform(rows))[:, 0]

    def ask_ensemble(rows: Any) -> NDArray[np.int64]:
        return places_of(classifier.predict(rows), classes)

    size, tested = len(classifier.members_), (take_rows(X, test), y[test])
    how: dict[str, Any] = {"classes": classes, "positive": 1, "cancellation": cancellation}
    measured = {
        "evolved": measure(ask_ensemble, size, *tested, **how),
        "best_single": measure(ask_best, 1, *tested, **how),
    }
    n_rows = {"train": len(train), "test": len(test)}
    names = {"evolved": f"the ensemble of {size}", "best_single": "its best individual alone"}
    only = only_answer(ask_ensemble(X_train), classes)
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


def _calibrating(
    rows: RowNumbers, y: Labels, share: float, seed: int, cases: Cases | None
) -> tuple[RowNumbers, RowNumbers]:
    """Draw row numbers that calibrate, one of each case; return what fits and chooses, and these."""
    kept, held = split_cases(
        y[rows], cases_of_rows(cases, rows), lambda labels: keep_rows_apart(len(labels), share, seed)
    )
    return rows[kept], one_row_a_case(rows[held], cases, seed)
